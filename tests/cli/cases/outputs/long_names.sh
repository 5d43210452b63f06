# a name as long as the file system takes is written, by all ways that there are, and one that is longer is refused before the work
long=$(printf '%0251d' 0)
$airy simulate sky in.fits --height 30 --width 40 --seed 1 --quiet || exit 1
for out in .npy .fits 0.h5 .edf .csv .reg json; do
    out=$(echo "$long$out" | tail -c 256)
    case $out in
    *json) $airy stats in.fits --profile="$out" --quiet >/dev/null ;;
    *.csv) $airy label in.fits --above 1 --table "$out" --quiet >/dev/null ;;
    *.reg) $airy sources in.fits --regions "$out" --quiet >/dev/null ;;
    *) $airy convert in.fits -o "$out" --quiet && $airy diff "$out" in.fits >/dev/null ;;
    esac || exit 2
    [ "${#out}" = 255 ] && [ -s "$out" ] || exit 3
    rm "$out"
done
for out in .npy .fits .h5; do
    $airy convert in.fits -o "0000$long$out" --quiet 2>&1
done | sed 's/0000*/NAME/'
[ "$(echo *)" = in.fits ]
