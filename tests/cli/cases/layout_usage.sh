# what does not go together is said
says() {
    want=$1
    shift
    $airy integrate $small "$@" -o y.h5 2>said
    [ $? = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -q -e "$want" said && [ ! -e y.h5 ] || { echo "$*" >&2; cat said >&2; exit 1; }
}
says '--processes 3 goes with --layout processes' --processes 3
says '--processes 3 goes with --layout processes' --processes 3 --layout threads
says '--processes 65: expected a whole number from 1 to 64' --processes 65 --layout processes
says '--layout device does not fit the CPU' --layout device
says '--batch 4: --layout serial does one frame at a time' --layout serial --batch 4
$airy integrate $small --layout processes --error-model poisson -o y.xye 2>said
[ $? = 2 ] && grep -q 'text files are written one after another' said || exit 2
$airy integrate-part --part=7:8:0 $small -o y.h5 2>said
[ $? = 2 ] && grep -q 'not for use by hand' said || exit 3
$airy integrate $small --layout serial --frames 0:2 -o y.xy --quiet && [ -e y_000000.xy ] || exit 4
