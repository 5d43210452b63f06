# Each wrong use has its reason, and nothing is left behind.
. "$cli/check.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 3 --spots 10 --seed 5 --quiet
try() { expect "$1"; shift; "$airy" "$@"; echo "-> $?"; }
try 'peaks needs an output' peaks s.h5
try 'peaks writes HDF5 files' peaks s.h5 -o p.npy
try 'peaks does not write over its input' peaks s.h5 -o s.h5 --force
try 'peaks needs one dimension' peaks s.h5 -o p.h5 --bins 100x36
try 'peaks needs an error model' peaks s.h5 -o p.h5 --error-model none
try 'a clip and none exclude each other' peaks s.h5 -o p.h5 --clip 3 --no-clip
try 'a patch is odd' peaks s.h5 -o p.h5 --patch 4
try 'a patch is at most 31 pixels wide' peaks s.h5 -o p.h5 --patch 33
try 'connected pixels lie in the patch' peaks s.h5 -o p.h5 --connected 10
try 'a cutoff is above 0' peaks s.h5 -o p.h5 --cutoff-pick 0
try 'a noise is not negative' peaks s.h5 -o p.h5 --noise -1
try 'frames beyond the stack are refused' peaks s.h5 -o p.h5 --frames 2:9
try 'a list is at most as long as a frame' peaks s.h5 -o p.h5 --max-pixels 200000
try 'a frame with too many peaks ends the run' peaks s.h5 -o p.h5 --max-pixels 5 --quiet
try 'a frame with too many peaks is left out where that was asked for' peaks s.h5 -o p.h5 --max-pixels 5 --on-error skip --quiet
try 'a frame without a background ends densify' densify p.h5 -o d.h5 --quiet
try 'a frame without a background is left out where that was asked for' densify p.h5 -o d.h5 --on-error skip --quiet
try 'frames that are not sparse are refused' densify s.h5 -o e.h5
try 'densify needs an output' densify p.h5
try 'densify writes HDF5 files' densify p.h5 -o d.npy
try 'densify does not replace its output' densify p.h5 -o d.h5
try 'densify does not write over its input' densify p.h5 -o p.h5 --force
try 'a seed needs a noise' densify p.h5 -o e.h5 --seed 3
try 'an unknown noise has a list of those that are known' densify p.h5 -o e.h5 --noise white
try 'a frame beyond the sparse stack is refused' densify p.h5 -o e.h5 --frames 7
try 'a sparse stack that is not there is named' densify nothing.h5 -o e.h5
expect 'no other file is left'
ls
