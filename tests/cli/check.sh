# shellcheck shell=sh
# For cases that assert several things: each is counted by itself and reported by its name.
# expect SENTENCE [COMMAND...]: what is printed from here to the next expect belongs to the assertion SENTENCE: the line "== SENTENCE" on
# standard output and standard error begins it, in NAME.stdout.exact and NAME.stderr.glob, too. A COMMAND that fails has its exit code
# printed, so that it must be expected, and the case goes on. Redirections of expect are those of COMMAND alone.
exec 3>&1 4>&2
expect() {
    case $1 in
    '' | *[][#*?\\]* | *'
'*) echo "expect '$1': a sentence is one line without # * ? [ ] and \\" >&4 && exit 99 ;;
    esac
    echo "== $1" >&3
    echo "== $1" >&4
    shift
    "$@" || echo "exit code $?" >&3
}
