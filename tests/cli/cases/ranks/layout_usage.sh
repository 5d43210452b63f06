# what does not go together is said
says() {
    want=$1
    shift
    $airy integrate $small "$@" -o y.h5 2>said
    [ $? = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -q -e "$want" said && [ ! -e y.h5 ] || { echo "$*" >&2; cat said >&2; exit 1; }
}
says '--layout device does not fit the CPU' --layout device
says '--batch 4: --layout=serial does one frame at a time' --layout serial --batch 4
# text files by either layout are the same
$airy integrate $small --layout threads --error-model poisson -o threads.dat --quiet || exit 2
$airy integrate $small --layout serial --error-model poisson -o serial.dat --quiet || exit 3
for i in 0 1 2 3 4 5 6 7; do
    grep -v '^#' threads_00000$i.dat >threads
    grep -v '^#' serial_00000$i.dat >serial
    [ -s serial ] && cmp threads serial || exit 4
done
