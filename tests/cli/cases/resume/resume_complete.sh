# a finished run says so; the advice after a bad frame works; info and plot say what is done
cp $small bad.h5 && $helper damage bad.h5 /entry/data/data 5 flip || exit 1
$airy integrate bad.h5 --bins 50 -o y.h5 --batch 1 --threads 1 2>said; echo $?
grep -c -e '--on-error skip and --resume go on without such frames' said
$airy info y.h5.partial | sed -n '2s/[0-9]* of 8/N of 8/p'
$airy plot y.h5.partial -o p.svg 2>&1 | grep -c -e 'not complete: [0-9]* of 8 frames'
$airy integrate bad.h5 --bins 50 -o y.h5 --batch 1 --threads 1 --on-error skip --resume --quiet; echo $?
$airy info y.h5 | sed -n '2s/[0-9]* of 8/N of 8/p'
$airy info y.h5 --json | tr -d ' \n' | grep -o '"done":8,"bad":1,"bad_rows":\[5\]'
$airy integrate bad.h5 --bins 50 -o y.h5 --resume --on-error skip; echo $?
$airy integrate $small --bins 50 -o g.h5 --resume --quiet; echo $?
$airy integrate $small --bins 50 -o g.h5 --resume; echo $?
$airy integrate $small --bins 50 -o g.h5 --resume --json 2>/dev/null | tr -d ' \n'; echo
$airy integrate $small --bins 60 -o g.h5 --resume; echo $?
echo other >h.h5 && $airy integrate $small -o h.h5 --resume; echo $?
$airy integrate $small --bins 50 -o g.h5; echo $?
