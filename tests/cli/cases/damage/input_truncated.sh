size=$(wc -c <$small)
head -c $((size / 2)) $small >cut.h5
$airy integrate cut.h5 -o y.h5
