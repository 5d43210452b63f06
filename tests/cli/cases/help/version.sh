$airy --version
$airy --version --verbose | grep -c '^airy 0.1.0'
# in any order, as JSON
for words in '--version --json' '--json --version' 'stats --version --json'; do
    $airy $words | tr -d ' \n'
    echo
done
$airy --version --json --verbose | grep -c '"build": "airy 0.1.0'
# a terminal that moves no cursor gets lines, no escapes
command -v script >/dev/null || exit 0
for kind in xterm dumb; do
    TERM=$kind script -qec "$airy compress $small $kind.h5" /dev/null >$kind.out 2>&1
    [ -e $kind.h5 ] || exit 2
done
grep -q "$(printf "\\033")" dumb.out && echo "an escape was sent to a dumb terminal"
exit 0
