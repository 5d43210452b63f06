pixels() { tail -c +129 "$1" | sha256sum | cut -d' ' -f1; }
want() { sed -n 's/.*"sha256_f32le": "\(.*\)".*/\1/p' "$golden/astro/$1.params.json"; }
$airy simulate sky a.npy --height 512 --width 512 --seed 20240001 --sources 40 --source none --quiet
$airy simulate sky b.npy --height 480 --width 640 --seed 20240002 --sources 45 --source none --blank 1.55 --quiet
$airy simulate sky c.npy --quiet
[ "$(pixels a.npy)" = "$(want sky512)" ] && echo sky512
[ "$(pixels b.npy)" = "$(want skynan480x640)" ] && echo skynan480x640
[ "$(pixels c.npy)" = "$(want sky2048)" ] && echo sky2048
$airy simulate sky d.fits --height 512 --width 512 --seed 20240001 --sources 40 --source none --quiet
$airy simulate sky e.h5 --height 512 --width 512 --seed 20240001 --sources 40 --source none --quiet
$airy convert e.h5 -o f.npy --quiet && cmp a.npy f.npy
case $($airy --version --verbose) in *"fits: cfitsio"*) $airy convert d.fits -o g.npy --quiet && cmp a.npy g.npy ;; esac
$airy simulate sky a.npy; echo $?
$airy simulate sky x.npy --source 1,2,3; echo $?
$airy simulate sky x.npy --amplitude 0,1; echo $?
$airy simulate diracs d.npy --size 40 --quiet && $airy stats d.npy | grep sum
$airy simulate kernel k.npy --quiet && $airy stats k.npy | grep -e count -e max
