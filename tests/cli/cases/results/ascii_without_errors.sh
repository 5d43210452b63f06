$airy integrate $small --frames 0:1 -o one.xye
