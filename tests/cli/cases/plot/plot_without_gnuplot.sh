$airy integrate $small -o r.h5 --quiet
PATH=/nowhere $airy plot r.h5 -o p.png
