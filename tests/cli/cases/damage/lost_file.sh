# a data file that is lost: how many frames it had, and then what failed and what to do, without saying it twice
$airy simulate diffraction run_master.h5 --detector pilatus_100k --frames 8 --frames-per-file 3 --quiet || exit 1
rm run_data_000002.h5
for command in stats "convert -o o.npy" "decompress -o o.h5" "integrate -o r.h5"; do
    $airy $command run_master.h5 --quiet
done
$airy integrate run_master.h5 -o r.h5 --on-error skip --force 2>&1 >/dev/null | head -n 1 >&2
# cut, whose cause is said; and the first of all, without which there is no frame
head -c 700 run_data_000003.h5 >run_data_000002.h5
$airy stats run_master.h5
mkdir else && cp run_master.h5 else
$airy stats else/run_master.h5
