# what differs is said; what does not change the rows does not count
cp $small a.h5
$helper damage a.h5 /entry/data/data 6 flip
$airy integrate a.h5 --batch 1 --threads 1 --bins 50 --polarization 0.9 --frames 0:8 -o y.h5 --quiet 2>/dev/null
[ -e y.h5.partial ] || exit 1
$airy integrate a.h5 --bins 60 --polarization 0.8 --unit q_A^-1 -o y.h5 --resume 2>said
[ $? = 1 ] || exit 2
grep -q 'bins: was 50, is 60; unit: was "q_nm^-1", is "q_A^-1"; --polarization: was 0.9' said || { cat said; exit 3; }
cp a.h5 b.h5
$airy integrate b.h5 --split full --bins 50 --polarization 0.90 --frames : --on-error skip --batch 3 -o y.h5 --resume --quiet 2>said
[ $? = 3 ] && [ -e y.h5 ] && [ ! -e y.h5.partial ] || { cat said; exit 4; }
