# A mask for integrate: the pixels that are off, and nothing else.
printf '0 100\n20 100\n' >flat.txt
"$airy" simulate diffraction d.h5 --detector pilatus_100k --frames 4 --curve flat.txt --seed 2 --write-poni d.poni --quiet || exit 1
"$airy" reduce d.h5 --hot 5 -o hot.npy --json | grep -v '"output"\|"median"\|"sigma"\|"low"\|"high"\|above\|below' || exit 2
"$airy" stats hot.npy --json --quiet | grep '"max"\|"count"'
"$airy" integrate d.h5 --poni d.poni --mask hot.npy --bins 10 -o x.h5 --quiet && echo integrated
"$airy" reduce d.h5 --hot -1 -o no.npy
"$airy" reduce d.h5 --hot lots -o no.npy
