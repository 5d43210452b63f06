# what does not go together is said
says() {
    want=$1
    shift
    $airy integrate $small "$@" -o y.h5 2>said
    [ $? = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -q -e "$want" said && [ ! -e y.h5 ] || { echo "$*" >&2; cat said >&2; exit 1; }
}
says '--layout device does not fit the CPU' --layout device
says '--batch 4: --layout serial does one frame at a time' --layout serial --batch 4
$airy integrate $small --layout threads --error-model poisson -o y.xye 2>said
[ $? = 2 ] && grep -q 'text files are written one after another' said || exit 2
$airy integrate $small --layout serial --frames 0:2 -o y.xy --quiet && [ -e y_000000.xy ] || exit 3
