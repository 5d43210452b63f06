# OUT.partial that somebody put there: a link, a pipe, or another user's file is not written, removed or read on from.
poni="--poni ${small%.h5}.poni --quiet --bins 50"
cp "$small" bad.h5 && "$helper" damage bad.h5 /entry/data/data 7 flip || exit 1
$airy integrate bad.h5 $poni -o y.h5 2>/dev/null
cp y.h5.partial kept && mv y.h5.partial other && ln -s other y.h5.partial || exit 2
$airy integrate bad.h5 $poni -o y.h5 --on-error skip --resume; echo $?
$airy integrate bad.h5 $poni -o y.h5 --on-error skip --force; echo $?
ls y.h5* && cmp kept other
rm y.h5.partial && ln -s new y.h5.partial
$airy integrate "$small" $poni -o y.h5; echo $?
[ ! -e new ] || echo 'a link to no file was followed'
rm y.h5.partial && mkfifo y.h5.partial
$airy integrate "$small" $poni -o y.h5 --force; echo $?
[ -p y.h5.partial ] || echo 'the pipe is gone'
rm -f y.h5.partial && cp kept y.h5.partial
if chown 65534 y.h5.partial 2>/dev/null; then
    $airy integrate bad.h5 $poni -o y.h5 --on-error skip --resume 2>err && echo 'another file was resumed'
    grep -q 'belongs to another user (65534)' err || cat err
    cmp kept y.h5.partial
fi
chown "$(id -u)" y.h5.partial
$airy integrate bad.h5 $poni -o y.h5 --on-error skip --resume; echo $?
