#!/bin/sh
# usage: manual.sh BUILD SOURCE CC
# Every command that airy(1) names has a page; man and mandoc, those of the two that are here, read the pages without a complaint;
# the completion offers commands, options and values.
set -eu
build=$1
pages=$build/tools/manual/man1
[ -d "$pages" ] || { echo "no pages: airy cannot run where it is built"; exit 77; }
sed -n 's/^\.BR \(airy[-a-z]*\) (1).*/\1/p' "$pages/airy.1" | while read -r page; do
    [ -s "$pages/$page.1" ] || { echo "no $page.1"; exit 1; }
done
[ "$(find "$pages" -name '*.1' | wc -l)" = $(($(grep -c '^\.BR airy-' "$pages/airy.1") + 1)) ]
for page in "$pages"/*.1; do
    if command -v mandoc >/dev/null 2>&1; then
        mandoc -T lint "$page"
    fi
    if command -v man >/dev/null 2>&1; then
        complaints=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$complaints" ] || { echo "$page: $complaints"; exit 1; }
    fi
done
# pages that descriptions name are installed where the manual says
grep -q 'docs/live.md are in the folder' "$pages/airy-integrate.1" || { echo "airy-integrate.1 names no folder of docs"; exit 1; }
command -v bash >/dev/null 2>&1 || { echo "no bash"; exit 0; }
bash -eu -c '
    . "$1"
    offers() { # WANTED WORD... : the last is being typed
        local wanted=$1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _airy airy "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        [[ " ${COMPREPLY[*]-} " == *" $wanted "* ]] || { echo "$*: no $wanted in ${COMPREPLY[*]-}"; exit 1; }
    }
    offers integrate airy int
    offers simulate airy sim
    offers diffraction airy simulate ""
    offers calibrate airy oct cal
    offers --plan airy oct --pl
    offers --error-model airy integrate run.h5 --err
    offers poisson airy integrate run.h5 --error-model po
    offers poisson airy integrate run.h5 --error-model = po
    offers poisson airy integrate run.h5 --error-model =
    offers 2th_deg airy integrate --unit 2
    offers skip airy integrate --on-error ""
    offers median airy filter me
    offers --seed airy simulate sky --se
    offers Pilatus_300k airy integrate --detector Pil
    offers LaB6 airy calibrate --calibrant L
    offers cpu airy stats --device ""
    for line in "simulate" "oct"; do # each word once
        COMP_WORDS=(airy $line "") COMP_CWORD=2
        _airy airy "" "$line"
        [ -z "$(printf "%s\n" "${COMPREPLY[@]}" | sort | uniq -d)" ] || { echo "airy $line: ${COMPREPLY[*]}"; exit 1; }
    done
' bash "$build/tools/manual/airy"
