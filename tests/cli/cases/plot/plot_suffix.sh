$airy integrate $small -o r.h5 --quiet
$airy plot r.h5 -o p.gif
