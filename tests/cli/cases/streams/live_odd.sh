case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/check.sh"
poni=${small%.h5}.poni
# a service goes on after each of these, and tells who subscribes
esc=$(printf '\033')
line=$(printf '\n\r')
expect 'a service goes on after a series that it cannot take'
timeout 120 $helper subscribe ipc://p seen 3 >ends &
subscriber=$!
timeout 120 $helper push ipc://a "start,1,195,487,0,Eiger$esc[31m${line}airy: done" until,seen end,1 start,2,60000,60000,3 end,2 \
    start,18446744073709551615,195,487,2 image,18446744073709551615,0 image,18446744073709551615,1 end,18446744073709551615 &
detector=$!
timeout 120 $airy integrate ipc://a --poni $poni -o 'run_{series}.h5' --bins 10 --publish ipc://p --series 3 --memory-limit 1G --json >report 2>said
echo "exit code $?"
wait $subscriber $detector
expect 'a control character of a detector'\''s name is escaped'
grep -c "$esc" said
expect 'a detector'\''s name is one line'
grep -o 'Eiger.*' said
expect 'an image larger than the limit of memory is refused'
sed -n 's/^airy integrate: \(series 2: the.*\)/\1/p' said
expect 'a subscriber gets the end of each series'
cat ends
expect 'the report has each series'
grep -E '"(series|complete|output)"' report
expect 'each image is in one of the counts'
timeout 120 $helper push ipc://b start,1,195,487,5 image,1,0 broken,1,3 image,1,2 end,1 &
timeout 120 $airy integrate ipc://b --poni $poni -o counts.h5 --bins 10 --on-error skip --json 2>/dev/null | grep -E '"(expected|received|integrated|bad|lost|dropped|broken|output)"'
wait
expect 'each image is in one of the counts of a detector that is too fast'
timeout 120 $airy stream $small --to ipc://g --loop 20 --quiet --patience 60 &
timeout 120 $airy integrate ipc://g -o drop.h5 --bins 1000 --drop --batch 1 --on-error skip --json --quiet |
    awk '/"(integrated|resumed|bad|lost|dropped|left_out)"/ { sum += $2 } END { print sum " in one count each" }'
wait
# one that failed at its start: as many as it has, or as came where the number is not said
for images in 5 0; do
    expect "a series that failed at its start has counts, of $images images"
    timeout 120 $helper push ipc://h$images start,1,195,487,$images image,1,0 image,1,2 end,1 &
    timeout 120 $airy integrate ipc://h$images --poni $poni -o refused.h5 --bins 10 --channel none --json 2>/dev/null | grep -E '"(complete|expected|received|integrated|lost)"'
    wait
done
expect 'a series that is not complete says how to go on'
timeout 120 $helper push ipc://c start,1,195,487,3 image,1,0 image,1,2 end,1 &
timeout 120 $airy integrate ipc://c --poni $poni -o part.h5 --bins 10 2>&1 | sed -n 's/ in [^,]* s, / /; s/; [^;]*frames.s.*//; s/^airy integrate: \([sp][ea]r.*\)/\1/p'
wait
expect 'images whose start message was before are left out'
timeout 120 $helper push ipc://d image,6,5 image,6,6 start,7,195,487,1 image,7,0 end,7 2>/dev/null &
timeout 120 $airy integrate ipc://d --poni $poni -o late.h5 --bins 10 2>&1 | grep -o 'images of series 6.*'
wait
# the number of images is not said: one number that is far off costs nothing
expect 'a number that is far off costs no memory'
timeout 120 $helper push ipc://e start,1,195,487,0 image,1,0 image,1,1 image,1,900000 image,1,2 end,1 &
timeout 120 $airy integrate ipc://e --poni $poni -o few.h5 --bins 10 --on-error skip --json 2>/dev/null | grep -E '"(integrated|lost|beyond)"'
wait
expect 'sizes that no memory has and a series without images are reported'
timeout 120 $helper push ipc://f start,1,1000000,1000000,3 end,1 start,2,195,487,3 end,2 &
timeout 120 $airy integrate ipc://f --poni $poni -o 'none_{series}.h5' --bins 10 --series 2 2>&1 | sed -n 's/^airy integrate: \(series .: [tn]\)/\1/p' | sed 's/and .* are/and MEMORY are/'
wait
expect 'a series without images leaves no file'
echo none*
expect 'a result does not replace a file that each series needs'
cp $poni pose_1.h5
timeout 120 $helper push ipc://i start,1,195,487,1 image,1,0 end,1 &
timeout 120 $airy integrate ipc://i --poni pose_1.h5 -o 'pose_{series}.h5' --bins 10 --force 2>&1 | grep -o "output 'pose_1.h5' is the same file as the input"
cmp $poni pose_1.h5
wait
