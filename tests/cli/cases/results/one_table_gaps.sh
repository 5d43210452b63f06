# a table for programs that refine has no word among its numbers: bins that a pattern lacks are left out, and a line says how many
frame() { # OCTAL COUNT OCTAL: so many pixels of that, the other one behind them
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (195, 487)}"
    head -c $2 /dev/zero | tr '\0' "\\$1"
    head -c $((94965 - $2)) /dev/zero | tr '\0' "\\$3"
}
frame 5 94965 5 >whole.npy
frame 310 90000 6 >part.npy
frame 310 0 310 >none.npy
run() {
    $airy integrate whole.npy part.npy none.npy --poni ${small%.h5}.poni --bins 12 --unit 2th_deg --saturation 100 --mask-saturated --one-table "$@" 2>&1 | grep -v ' frames in '
}
for name in t.xy t.xye t.dat; do
    run -o $name --error-model poisson
    grep -v '^#' $name | awk '{ print NF }' | sort | uniq -c | tr -s ' '
    grep -c nan $name
    grep -o ' I_.*' $name
done
