# shellcheck shell=sh
# For the cases that count what --profile counts: for every command that has the option, how often each kernel or loop ran. The work is
# known, so that the numbers are: of stacks 4 frames in batches of 1, of OCT 6 frames in batches of 1, else one image.
# shellcheck source=tests/cli/check.sh
. "$cli/check.sh"
work() {
    "$airy" simulate sky a.npy --height 64 --width 48 --seed 1 --quiet || exit 1
    "$airy" simulate diffraction s.h5 --detector pilatus_100k --frames 4 --seed 1 --quiet || exit 1
    "$airy" simulate kernel k.npy --size 3 --quiet || exit 1
    "$airy" simulate oct m.raw --lines 4 --frames 6 --reflectors 800:-20:10 --quiet || exit 1
    printf '{"samples": 2048, "lines": 4, "dtype": "u16"}' >plan.json
}
# launches COMMAND ...: run the command, and print the rows of its profile that are no copies between host and device.
launches() {
    "$airy" "$@" --profile=profile.json --force --quiet --threads 2 >/dev/null || echo "exit code $?"
    tr -d ' \n' <profile.json | grep -oE '"name":"[^"]*","transfer":false,"count":[0-9]*' |
        sed 's/"name":"\([^"]*\)".*:/\1 /' | sort
    rm profile.json
    echo "$1" >>counted
}
# On the device of the case, which is in $AIRY_DEVICE.
count_launches() {
    expect 'each kernel of integrate runs once for a batch' launches integrate s.h5 -o o.h5 --bins 50 --batch 1
    expect 'a serial layout launches as often' launches integrate s.h5 -o o.h5 --bins 50 --batch 1 --layout serial
    expect 'each kernel of peaks runs once for a batch' launches peaks s.h5 -o p.h5 --bins 50 --batch 1
    expect 'densify makes, encodes and writes each frame once' launches densify p.h5 -o g.h5
    expect 'compress reads, encodes and writes each frame once' launches compress s.h5 z.h5
    expect 'decompress reads and writes each frame once' launches decompress s.h5 d.h5
    expect 'convert reads and writes each of several frames once' launches convert s.h5 -o v.h5
    expect 'oct transforms each batch once' launches oct m.raw --plan plan.json -o m.npy --batch 1
    expect 'reduce decodes and projects the frames, and adds them up' launches reduce s.h5 -o r.npy
    expect 'stats is one pass' launches stats a.npy
    expect 'clip is one pass' launches clip a.npy
    expect 'threshold is one pass' launches threshold a.npy -o t.npy --above 100
    expect 'label goes step by step once' launches label a.npy --above 100
    expect 'sources goes step by step once' launches sources a.npy --catalog c.csv
    expect 'the simple method of sources goes step by step once' launches sources a.npy --catalog c.csv --method simple
    expect 'convolve is one pass' launches convolve a.npy --kernel k.npy -o f.npy
    expect 'blur is one pass' launches blur a.npy --sigma 1 -o f.npy
    expect 'filter is one pass' launches filter median a.npy -o f.npy
    expect 'no command that has the option is left out'
    # Benches repeat for a time, so that their numbers are nobody's.
    "$airy" --help | awk -F '  +' '/^Commands/ { on = 1; next } !NF { on = 0 } on { print $2 }' | sort | while read -r command; do
        # shellcheck disable=SC2086
        "$airy" $command --help | grep -q -e '--profile' && [ "$command" != bench ] && echo "$command"
    done >commands
    sort -u counted | diff commands -
}
