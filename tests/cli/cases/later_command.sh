$airy stream x.h5 --to tcp://host
