poni=${small%.h5}.poni
sed 's/^Distance:.*/Distance: 0.2/' "$poni" >own.poni
$airy integrate $small --poni own.poni --bins 123 --unit 2th_deg --error-model poisson --polarization 0.9 --radial-range 1,9 --dummy=-10 --frames 2:7:2 \
    -o a.h5 --quiet || exit 1
rm own.poni
$airy integrate $small --config a.h5 -o b.h5 --quiet && $airy diff a.h5 b.h5 >/dev/null || exit 2
# what is given now holds
$airy integrate $small --config a.h5 --bins 50 -o c.h5 --quiet && ! $airy diff a.h5 c.h5 >/dev/null || exit 3
# monitor and mask come along, the layout does not
cp $small m.h5
$helper monitor m.h5 /entry/monitor 8
$helper image mask.h5 195 487 0
$airy integrate m.h5 --monitor /entry/monitor --mask mask.h5 --bins 77 --unit 2th_deg --dummy=-10 -o d.h5 --quiet || exit 4
$airy integrate m.h5 --config d.h5 --layout serial -o e.h5 --quiet && $airy diff d.h5 e.h5 >/dev/null || exit 5
$airy integrate m.h5 --config e.h5 --explain 2>/dev/null | grep -q '^layout  *threads$'
