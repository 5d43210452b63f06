# a data file is lost and nobody knows how many frames it had: --on-error skip cannot help, and what does is named
poni=${small%.h5}.poni
$helper series run $small 5 && rm run_2.h5 || exit 3
$airy integrate run.h5 --poni $poni -o run_patterns.h5 --on-error skip --quiet
echo $?
rm run_1.h5
$airy integrate run.h5 --poni $poni -o run_patterns.h5 --on-error skip --quiet
echo $?
$airy simulate diffraction all_master.h5 --detector pilatus_100k --frames 4 --frames-per-file 2 --quiet && rm all_data*.h5
$airy integrate all_master.h5 -o all.h5 --on-error skip --quiet
echo $?
