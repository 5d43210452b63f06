# Rows of several frames, and inputs that are too much to be hashed: one with another time may be another file.
cp "$small" in.h5 && cp -p in.h5 bad.h5 && "$helper" damage bad.h5 /entry/data/data 7 flip || exit 1
inputs=$(i=0; while [ $i -lt 255 ]; do printf 'in.h5 '; i=$((i + 1)); done)
run() {
    # shellcheck disable=SC2086
    "$airy" integrate $inputs bad.h5 --poni "${small%.h5}.poni" --bins 50 --average 8 -o out.h5 --quiet "$@" 2>err
    echo "exit $?"
}
run
run --resume
touch -d '2001-02-03 04:05:06' in.h5
run --resume --on-error skip
grep -o 'a file has another time than when out.h5.partial was started, and rows of several frames cannot be compared' err
ls out*
