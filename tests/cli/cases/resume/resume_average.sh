# Rows of several frames are integrated again: a file of the same size and time that was replaced is noticed, whatever its size.
# Of 256 inputs only names and sizes are compared, as of one above 64 MB.
"$airy" decompress "$small" in.h5 --quiet && cp in.h5 other.h5 && "$helper" turned other.h5 || exit 1
"$helper" begun lacks.h5 "$small" 8 3 || exit 1
cp "$small" bad.h5 && "$helper" damage bad.h5 /entry/data/data 7 flip || exit 1
cp in.h5 good.h5
touch -r in.h5 other.h5 good.h5
many=$(i=0; while [ $i -lt 255 ]; do printf 'in.h5 '; i=$((i + 1)); done)
run() {
    # shellcheck disable=SC2086
    "$airy" integrate $inputs bad.h5 --poni "${small%.h5}.poni" --bins 50 -o out.h5 --quiet "$@" 2>err
    echo "exit $?"
}
# lacks.h5: a frame that was never written is no part of its row, and none of what is compared.
inputs="lacks.h5 $many"
for merge in --average=8 --sum=12; do
    run $merge
    cp other.h5 in.h5 && touch -r good.h5 in.h5
    run $merge --resume --on-error skip
    grep -o "the group of frames that begins with frame [0-9]* of '.*' is another one than when its row was made: the file was replaced" err | sed "s|$PWD/||"
    cp good.h5 in.h5
    touch -d '2001-02-03 04:05:06' in.h5 # another time alone says nothing
    run $merge --resume --on-error skip
    ls out*
    rm -f out*
done
# A frame that can be read no more.
run --average 8
"$helper" damage lacks.h5 /entry/data/data 6 flip
run --average 8 --resume --on-error skip
grep -o "frame 0 of '.*' is another one than when its row was made: .* was never written" err | sed "s|$PWD/||"
# Another time of one file that is too large to be hashed.
inputs=$(echo "$many" | cut -d ' ' -f 1-200)
rm -f out*
run --average 8
touch -d '2001-02-03 04:05:06' in.h5
cp other.h5 in.h5 && touch -d '2002-02-03 04:05:06' in.h5
run --average 8 --resume --on-error skip
grep -o "the group of frames that begins with frame [0-9]* of '.*' is another one" err | sed "s|$PWD/||"
