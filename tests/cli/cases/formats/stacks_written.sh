# compress, decompress, densify and convert choose frames, leave bad ones out, keep to a limit of memory, print a profile and stop alike
. "$cli/check.sh"
. "$cli/await.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 12 --seed 1 --quiet && $airy decompress s.h5 plain.h5 --quiet || exit 1
# bad frames: a file of the series is cut; peaks of a frame that is bad have no background
$airy compress s.h5 run_master.h5 --frames-per-file 3 --quiet && mkdir cut && cp run_*.h5 cut && rm cut/run_data_000002.h5 || exit 2
$airy peaks s.h5 -o s_peaks.h5 --quiet || exit 3
$airy peaks cut/run_master.h5 -o cut_peaks.h5 --on-error skip --quiet 2>said
[ $? = 3 ] || { cat said; exit 4; } >&2
$airy densify s_peaks.h5 -o all.h5 --quiet || exit 5
# COMMAND INPUT BAD WHOLE: what makes WHOLE of INPUT; BAD has the frames 3, 4 and 5 missing
input_of() {
    case $1 in
    compress) input=plain.h5 bad=cut/run_master.h5 whole=s.h5 out=o.h5 ;;
    decompress) input=s.h5 bad=cut/run_master.h5 whole=s.h5 out=o.h5 ;;
    densify) input=s_peaks.h5 bad=cut_peaks.h5 whole=all.h5 out='-o o.h5' ;;
    convert) input=s.h5 bad=cut/run_master.h5 whole=s.h5 out='-o o.h5' ;;
    esac
}
same_frame() { # OF_OUT FRAME_OF_WHOLE
    $airy convert o.h5 --frames $1 -o one.npy --force --quiet && $airy convert $whole --frames $2 -o two.npy --force --quiet && cmp one.npy two.npy
}
# shellcheck disable=SC2086
for command in compress decompress densify convert; do
    input_of $command
    rm -f o.h5
    expect "$command --frames chooses frames"
    $airy $command $input $out --frames 2:9:3 --json --quiet >said && tr -d ' \n' <said | grep -q '"shape":\[3,' && grep -q '"bad": 0' said &&
        same_frame 0 2 && same_frame 1 5 && same_frame 2 8 || exit 10
    rm o.h5
    $airy $command $input $out --frames 7 --quiet && same_frame 0 7 || exit 11
    expect "$command --frames refuses frames that are not there"
    $airy $command $input $out --frames 2:13 --force --quiet 2>said
    [ $? = 1 ] && grep -q -- '--frames 2:13: .* has 12 frames, numbered from 0' said || { cat said; exit 12; } >&2
    rm o.h5
    expect "$command stops at a bad frame and names the way on"
    $airy $command $bad $out --frames 0:12 --quiet 2>said
    [ $? = 1 ] && grep -q -- '--on-error skip' said && [ ! -e o.h5 ] || { cat said; exit 13; } >&2
    expect "$command --on-error skip never writes bad frames and ends with 3"
    $airy $command $bad $out --on-error skip --json --threads 3 >said 2>errors
    [ $? = 3 ] && grep -q '"bad": 3' said && grep -q "airy $command: 3 of 12 frames are left out; the first: " errors || { cat said errors; exit 14; } >&2
    $airy info o.h5 | grep -q '3 frames were never written' && same_frame 2 2 && same_frame 6 6 && same_frame 11 11 || exit 15
    ! $airy convert o.h5 --frames 4 -o none.npy --quiet 2>said && grep -q 'was never written' said || exit 16
    expect "$command --verbose prints each frame that was left out"
    $airy $command $bad $out --on-error skip --force --verbose 2>errors
    [ $? = 3 ] && [ "$(grep -c 'frame [345] was left out: ' errors)" = 3 ] || { cat errors; exit 17; } >&2
    expect "$command takes --frames and --on-error together"
    $airy $command $bad $out --frames 5:8 --on-error skip --force --quiet
    [ $? = 3 ] && same_frame 1 6 && $airy info o.h5 | grep -q '1 frame was never written' || exit 18
    rm o.h5
    expect "$command --memory-limit is an error where no frame fits"
    $airy $command $input $out --frames 0:12 --memory-limit 300K --quiet 2>said
    [ $? = 1 ] && grep -q 'a frame in flight needs [0-9]* bytes, the limit is 307200; raise --memory-limit' said && [ ! -e o.h5 ] || { cat said; exit 19; } >&2
    expect "$command --memory-limit of one frame gives the same stack"
    $airy $command $input $out --frames 0:12 --memory-limit 1600K --threads 8 --quiet && $airy diff $whole o.h5 >/dev/null || exit 20
    expect "$command --profile counts the steps of each frame"
    $airy $command $input $out --force --profile=p.json --quiet || exit 21
    steps='read_frame encode_frame write_frame'
    case $command in decompress | convert) steps='read_frame write_frame' ;; densify) steps='make_frame encode_frame write_frame' ;; esac
    for step in $steps; do
        grep -A 2 "\"$step\"" p.json | grep -q '"count": 12' || { cat p.json; exit 22; } >&2
    done
    $airy $command $input $out --force --profile --quiet 2>said && grep -q write_frame said || exit 23
    rm -f p.json o.h5
done
# runs of seconds: the same frames again and again
mkdir many
for i in $(seq 100 399); do ln s.h5 many/s_$i.h5; done
$airy peaks 'many/s_10*.h5' 'many/s_11*.h5' 'many/s_12*.h5' -o many_peaks.h5 --quiet || exit 30
begun() { ls o.h5.*.partial >listed; }
# shellcheck disable=SC2086
for command in compress decompress densify convert; do
    expect "a signal ends $command and nothing stays"
    case $command in
    convert) set -- 'many/s_#.h5' --frames 0:3600 -o o.h5 ;;
    densify) set -- many_peaks.h5 -o o.h5 --noise poisson ;;
    *) set -- 'many/s_#.h5' o.h5 ;;
    esac
    $airy $command "$@" --threads 1 2>said &
    process=$!
    await begun || exit 31
    kill -TERM $process
    wait $process
    code=$?
    [ $code = 0 ] && { echo 'the run was too short to stop' >&2; exit 77; }
    [ $code = 1 ] && grep -q 'o.h5: cancelled after .* frames, nothing was kept; start again' said && ! ls o.h5* 2>/dev/null || { cat said; exit 32; } >&2
done
expect 'a frame that is missing needs a place where it can be missing'
$airy convert cut/run_master.h5 -o o.npy --on-error skip --quiet
[ $? = 2 ] || exit 40
expect 'convert --frames writes geometry, mask and dataset as convert alone does'
$airy convert s.h5 --frames 0:12 -o some.h5::/entry/other --quiet && $airy convert s.h5 -o whole.h5::/entry/other --quiet && $airy diff some.h5::/entry/other whole.h5::/entry/other >/dev/null || exit 41
$airy simulate diffraction g.h5 --detector pilatus_100k --frames 3 --gaps --seed 1 --quiet && $airy convert g.h5 --frames 0:3 -o some.h5::/entry/third --force --quiet 2>said
[ $? = 1 ] && grep -q 'also holds' said || { cat said; exit 42; } >&2
$airy convert g.h5 --frames 0:3 -o some.h5::/entry/other --force --quiet || exit 46
$airy convert g.h5 --frames 0:3 -o some_g.h5 --quiet && $airy convert g.h5 -o whole_g.h5 --quiet || exit 43
for name in some whole; do $airy integrate ${name}_g.h5 -o $name.result.h5 --quiet || exit 44; done
$airy diff some.result.h5 whole.result.h5 >/dev/null || exit 45
