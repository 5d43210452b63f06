$airy integrate x.h5 --split half -o y.h5 2>err
code=$?
grep -q -e '--split half: .*; see' err || cat err
[ $code = 2 ] && printf 'airy integrate: --split: not "half"\n' >&2
exit $code
