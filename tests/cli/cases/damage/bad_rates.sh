# frames that could not be decoded are not in the bytes and rates of a run
cp $small bad.h5
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 6 truncate
# told COMMAND...: good frames by their bytes, and by the rate
told() {
    $airy "$@" --on-error skip --quiet --force --json >json 2>err
    [ $? = 3 ] || cat err
    sed -n 's/^ *"\([a-z_]*\)": *\([0-9.e+-]*\),*$/\1 \2/p' json | awk -v what="$*" '
        { value[$1] = $2 }
        END {
            printf "%s: %d frames, %d bad, decoded %g, ", what, value["frames"], value["bad"], value["decoded_bytes"] / (195 * 487 * 4)
            printf "%.3f in all seconds, %s stored\n", value["frames_per_second"] * value["seconds"], value["stored_bytes"] ? "some" : "none"
        }'
}
told integrate bad.h5 -o o.h5 --layout serial
told integrate bad.h5 -o o.h5 --layout threads
told integrate bad.h5 -o o.h5 --average 4
told integrate bad.h5 -o o.xy
told integrate bad.h5 -o o.h5 --follow --frames 0:8
told peaks bad.h5 -o o.h5
told integrate bad.h5 -o o.h5 --frames 2
