# what an interrupted run left is not overwritten unasked; what is none of that stays with --force, too
poni="--poni ${small%.h5}.poni --quiet"
$airy integrate $small $poni -o y.h5 || exit 2
mv y.h5 y.h5.partial
$airy integrate $small $poni -o y.h5; echo $?
$airy integrate $small $poni -o y.h5 --force || exit 3
[ -s y.h5 ] && [ ! -e y.h5.partial ] || exit 4
echo x >z.h5.partial
: >e.h5.partial
cp $small s.h5.partial
for name in z e s; do
    for force in '' --force; do $airy integrate $small $poni -o $name.h5 $force; echo $?; done
done
[ "$(cat z.h5.partial)" = x ] && [ -e e.h5.partial ] && cmp $small s.h5.partial
$airy integrate $small $poni -o part.h5 && mv part.h5 part.h5.partial || exit 5
for command in info 'view -o v.png' 'integrate -o n.h5' stats; do $airy $command part.h5; echo $?; done
$airy info part.h5.partial >about && grep -q '8 of 8 frames done (not complete)' about || exit 6
