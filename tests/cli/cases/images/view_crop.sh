$airy view $small -o v.png --crop 0:900,0:10
