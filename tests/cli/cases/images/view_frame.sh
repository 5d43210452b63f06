$airy view $small -o v.png --frame 8
