# every row has a figure, resident and host to host ones a limit; the CPU says how it transforms
$airy bench oct --device cpu --seconds 0.01 --quiet >a || exit 1
[ $(grep -c '"name"' a) = 31 ] || exit 2
[ $(grep -c '"limit_name": "[a-z]' a) = 23 ] || exit 3
grep -q '"value": null' a && exit 4
grep -q '"note": "radix 4' a || exit 5
grep -q '"p99": [0-9]' a || exit 6
exit 0
