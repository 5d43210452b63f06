# a channel of the stack is timed, in this process and in those that it starts
"$helper" channels in.h5 || exit 1
geometry='--dist 0.1 --poni1 0 --poni2 0 --wavelength 1e-10 --pixel 1e-4,1e-4'
for channel in low high 2; do
    $airy bench write in.h5 --channel $channel --seconds 0.01 --quiet # the last image was never written
done
$airy bench start in.h5 --channel high $geometry --seconds 0.01 --quiet
$airy bench write in.h5 --channel none
$airy bench write --channel high
$airy bench oct --channel high
