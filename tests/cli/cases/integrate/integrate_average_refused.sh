run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 "$@"; }
run -o a.h5 --average 0
run -o a.h5 --sum many
run -o a.h5 --sum 2 --average 2
run -o a.xy --average 2 --plot a.png
