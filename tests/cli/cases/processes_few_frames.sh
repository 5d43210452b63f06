# fewer frames than processes, in any way
for part in 0:8 2:3 1:8:3; do
    $airy integrate $small --frames $part -o a$part.h5 --quiet || exit 1
    for n in 1 2 3 15; do
        $airy integrate $small --frames $part --layout processes --processes $n -o b.h5 --force --quiet || exit 2
        $airy diff a$part.h5 b.h5 >/dev/null || exit 3
    done
done
$airy integrate $small --frames 2:3 --layout processes --processes 3 --explain 2>/dev/null | grep -q '^layout   processes: 1 of the 3 wanted .*there is 1 frame$' || exit 4
# nothing to do for some, or for all that are left
$airy integrate $small --layout processes --processes 2 --resume -o c.h5 --json --quiet | grep -q '"processes": 2' || exit 5
