echo precious >a.npy
$airy convert $small -o a.npy
