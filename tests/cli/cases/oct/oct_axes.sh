# frames of more axes, in either order of NPY
export LC_ALL=C
echo '{"lines": 6}' >plan.json
$airy simulate oct m.npy --samples 64 --lines 6 --frames 4 --quiet && $airy oct m.npy --plan plan.json -o want.npy --quiet >/dev/null || exit 2
same() { $airy oct "$1" --plan plan.json -o "made_$1" --quiet >/dev/null && $airy diff "made_$1" want.npy --quiet >/dev/null && echo "$1: same"; }
sed '1s/(4, 6, 64), }   /(2, 2, 6, 64), }/' m.npy >four.npy
same four.npy
sed '1s/(4, 6, 64), } /(24, 64), }   /' m.npy >lines.npy
same lines.npy
# the same in Fortran order: sample by sample
tail -c 3072 m.npy | od -An -v -tx1 -w128 | awk '{ for (i = 1; i <= NF; i++) byte[NR, i] = $i; n = NF }
    END { for (i = 1; i <= n; i += 2) for (r = 1; r <= NR; r++) printf "\\x%s\\x%s", byte[r, i], byte[r, i + 1] }' >hex
{ head -c 128 lines.npy | sed '1s/False, \(.*\)}/True, \1} /'; env printf "$(cat hex)"; } >fortran.npy
same fortran.npy
sed '1s/(4, 6, 64), }  /(1536,), }     /' m.npy >one.npy
! $airy oct one.npy --plan plan.json -o one.h5 --quiet
