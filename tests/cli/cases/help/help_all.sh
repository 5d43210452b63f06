# every command has a help text with its options, and says so without a library or device
for command in devices info 'simulate diffraction' 'simulate oct' oct 'oct calibrate' convert compress decompress integrate calibrate plot view diff stream watch bench tune; do
    $airy $command --help >text || exit 1
    grep -q '^usage: airy ' text && grep -q -e '--json' text && grep -q '^Examples' text || exit 1
    $airy --help | grep -q "^  $command" || exit 1
done
