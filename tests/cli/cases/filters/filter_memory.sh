# threads that have no room for lines of their own leave the work to the others: the same result from little memory
$airy simulate sky sky.fits --seed 3 --quiet --width 300 --height 200 || exit 1
for f in 'opening --size 5' 'tophat --footprint ball=3' 'median --size 9' 'hampel --size 5 --kappa 2' 'box --size 9'; do
    $airy filter $f sky.fits -o whole.npy --threads 1 --quiet --force
    for threads in 1 64; do
        $airy filter $f sky.fits -o tiles.npy --threads $threads --memory-limit 100k --quiet --force && $airy diff whole.npy tiles.npy
    done
done
