# A file that a bench would not read is refused, whatever bench it is: what is timed is what was named.
. "$cli/check.sh"
# The benches as the help text lists them.
benches=$("$airy" bench --help | sed -n '/^Benches/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
refused() {
    for bench in $benches; do
        "$airy" bench "$bench" nosuch.fits --seconds 0.01 >rows 2>err
        code=$?
        [ -s rows ] && echo "$bench printed rows"
        case $code-$(cat err) in
        "2-airy bench: bench $bench makes its own data and does not read 'nosuch.fits'"*) echo "$bench does not read it" ;;
        1-*nosuch.fits*) echo "$bench reads it" ;;
        *) echo "$bench: exit code $code: $(cat err)" ;;
        esac
    done
}
expect 'each bench reads the file or refuses it' refused
expect 'one bench of several that does not read the file is enough' "$airy" bench decode stats "$small" --seconds 0.01
