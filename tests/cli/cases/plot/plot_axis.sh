command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
"$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --roi 2,5 --grid 2x4 -o s.h5 --quiet || exit 1
"$airy" plot s.h5 -o a.png --axis total --quiet && "$airy" plot s.h5 -o b.png --map roi_0 --quiet && ls *.png
"$airy" plot s.h5 -o c.png --axis status
"$airy" plot s.h5 -o c.png --axis nothing
"$airy" plot s.h5 -o c.png --map nothing
"$airy" plot s.h5 -o c.png --axis total --frame 1
"$airy" plot s.h5 -o c.png --axis total --map total
