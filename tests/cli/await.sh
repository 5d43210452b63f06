# For the cases whose processes run side by side: they wait for what must happen, however slow the machine is, and never for a time.
# await COMMAND...: until it succeeds; a minute is for what never comes.
await() {
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.05
    done
}
# rows OUT [NUMBER]: a result that is being written has so many rows (1)
rows() {
    done=$("$airy" watch "$1" --count 1 --json | sed -n 's/.*"done":\([0-9]*\),.*/\1/p')
    [ "${done:-0}" -ge "${2:-1}" ]
}
# catches PID: Ctrl-C no longer gets lost, as it does for processes that a script starts with &. Asked of SIGTERM, which is caught after
# it: a shell that has not become the command yet may catch SIGINT itself.
catches() {
    case $(sed -n 's/^SigCgt:.*\(.\)...$/\1/p' "/proc/$1/status") in
    [4567cdef]) ;;
    *) return 1 ;;
    esac
}
# ended PID: it is gone, or nobody has collected it
ended() {
    ! grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status"
}
