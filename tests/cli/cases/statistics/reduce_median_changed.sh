# a median is read in strips, which are all of the same frames: frames that are written meanwhile stay out, and one that is gone ends it
"$airy" simulate diffraction all.h5 --detector pilatus_100k --frames 8 --seed 1 --quiet
$helper begun five.h5 all.h5 5
$helper begun two.h5 all.h5 2
cp five.h5 source.h5
$helper virtual within.h5 source.h5 /entry/data/data 1
$helper virtual series.h5 within.h5 /entry/data/data 1 # what lies two deep is looked up for each frame anew
"$airy" reduce series.h5 --by median -o five.npy --quiet
# the source is another one when the first strip was read
swapped() { # FILE
    cp five.h5 new.h5 && mv new.h5 source.h5
    cp "$1" new.h5
    : >err
    "$airy" reduce series.h5 --by median -o out.npy --force --memory-limit 2100k --threads 1 --verbose 2>err &
    while kill -0 $! 2>/dev/null && ! grep -q 'pass 2 of' err; do sleep 0.01; done
    mv new.h5 source.h5
    wait $!
}
swapped all.h5
echo "more frames: exit code $?"
cmp out.npy five.npy && echo the same
for try in 1 2 3 4 5; do # it may have been faster
    swapped two.h5
    code=$?
    [ $code = 3 ] || break
done
echo "fewer frames: exit code $code"
sed -n '$s/frame [0-9]*:/frame N:/p' err
