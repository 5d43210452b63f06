# each with its reason; nothing is left behind
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 3 --spots 10 --seed 5 --quiet
try() { "$airy" "$@"; echo "-> $?"; }
try peaks s.h5
try peaks s.h5 -o p.npy
try peaks s.h5 -o s.h5 --force
try peaks s.h5 -o p.h5 --bins 100x36
try peaks s.h5 -o p.h5 --error-model none
try peaks s.h5 -o p.h5 --clip 3 --no-clip
try peaks s.h5 -o p.h5 --patch 4
try peaks s.h5 -o p.h5 --patch 33
try peaks s.h5 -o p.h5 --connected 10
try peaks s.h5 -o p.h5 --cutoff-pick 0
try peaks s.h5 -o p.h5 --noise -1
try peaks s.h5 -o p.h5 --frames 2:9
try peaks s.h5 -o p.h5 --max-pixels 200000
try peaks s.h5 -o p.h5 --max-pixels 5 --quiet
try peaks s.h5 -o p.h5 --max-pixels 5 --on-error skip --quiet
try densify p.h5 -o d.h5 --quiet
try densify p.h5 -o d.h5 --on-error skip --quiet
try densify s.h5 -o e.h5
try densify p.h5
try densify p.h5 -o d.npy
try densify p.h5 -o d.h5
try densify p.h5 -o p.h5 --force
try densify p.h5 -o e.h5 --seed 3
try densify p.h5 -o e.h5 --noise white
try densify p.h5 -o e.h5 --frames 7
try densify nothing.h5 -o e.h5
ls
