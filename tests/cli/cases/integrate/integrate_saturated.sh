run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --quiet "$@"; }
run -o a.h5 --saturation 50 --mask-saturated && "$airy" stats a.h5::/entry/integrate/frame/max --json --quiet | grep '"max"'
run -o b.h5 --saturation 50 --mask-saturated --dummy 7
run -o b.h5 --saturation high
[ $? = 2 ] && [ ! -e b.h5 ] && [ ! -e b.h5.partial ] && exit 2
