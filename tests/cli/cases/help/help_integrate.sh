$airy integrate --help | head -n 1
