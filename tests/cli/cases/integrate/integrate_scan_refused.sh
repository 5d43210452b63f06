run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 "$@"; }
run -o a.h5 --roi 5,2
run -o a.h5 --roi 5
run -o a.h5 --roi 1,2,0,90
run -o a.h5 --roi 1000,2000
run -o a.h5 --grid 2
run -o a.h5 --grid 0x3
run -o a.h5 --grid 2x3
run -o a.h5 --zigzag
run -o a.xy --grid 2x4
run -o a.xy --roi 1,2
run -o a.h5 --carry none --carry /entry/data/data
run -o a.h5 --carry /entry/no/such
run -o a.h5 --carry /entry/data/data
