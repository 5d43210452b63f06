$airy integrat x.h5
