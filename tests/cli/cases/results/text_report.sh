# with text files "output" names what exists, and bad frames are in the summary
cp $small bad.h5 && $helper damage bad.h5 /entry/data/data 0 flip || exit 1
$airy integrate bad.h5 -o t.xy --on-error skip --json 2>/dev/null | grep -e output -e '"bad"'
$airy integrate bad.h5 -o s.xy --frames 0:2 --on-error skip 2>&1 | sed '/output .s.xy. is in/d; s/ in .*//; s/first: .*/first/' | grep -v 'frame 0 was left out: bad.h5'
$airy integrate bad.h5 -o u.xy 2>&1 | grep -o -e '--on-error.*' | tr = ' '
ls
