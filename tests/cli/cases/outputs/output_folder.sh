# of several outputs none may fail at the end for its folder: that is looked at first
$airy integrate $small --poni "${small%.h5}.poni" -o r.h5 --plot no/such/r.png --quiet 2>err && exit 1
grep -q "^airy integrate: 'no/such/r.png': there is no folder 'no/such/'; make it first$" err || exit 2
[ ! -e r.h5 ] && [ ! -e r.h5.partial ] || exit 3
mkdir shut && chmod 555 shut
[ -w shut ] && exit 0 # root writes anywhere
$airy integrate $small --poni "${small%.h5}.poni" -o r.h5 --plot shut/r.png --quiet 2>err && exit 4
grep -q "nothing can be written into 'shut/'" err || exit 5
[ ! -e r.h5 ]
