# nothing to resume: from the beginning, so that scripts can always say so
$airy integrate $small --bins 30 -o a.h5 --quiet && $airy integrate $small --bins 30 -o y.h5 --resume 2>said || exit 1
grep -q 'there is no y.h5.partial, so it starts from the beginning' said && $airy diff a.h5 y.h5 >/dev/null
