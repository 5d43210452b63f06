run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --frames 0:2 --quiet "$@"; }
run -o a.h5 --bins 40 && run -o b.h5 --bins 41 && run -o c.h5 --bins 40 --unit 2th_deg && run -o d.h5 --bins 40 --polarization 0.9 || exit 9
"$airy" merge a.h5
"$airy" merge a.h5 -o a.h5
"$airy" merge a.h5 -o x.png
"$airy" merge a.h5 -o x.h5 --sum --average
"$airy" merge a.h5 -o x.h5 --rebin 0
"$airy" merge a.h5 -o x.h5 --rebin 41
"$airy" merge a.h5 b.h5 -o x.h5
"$airy" merge a.h5 c.h5 -o x.h5
"$airy" merge a.h5 d.h5 -o x.h5
"$airy" merge nowhere.h5 -o x.h5
"$airy" merge "$small" -o x.h5
