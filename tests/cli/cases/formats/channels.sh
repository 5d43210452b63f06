# every command that reads frames takes one channel of a detector; info shows them, and what was never written
"$helper" channels c.h5 || exit 1
"$airy" info c.h5 2>/dev/null | sed -n '/frame/p' | grep -v 'fit\|  frames$\|host\|device'
"$airy" info c.h5 --channel high --json | grep -A3 -E '"(unwritten_frames|channels|channel)"'
stat() { "$airy" stats "$@" 2>&1 | sed -n 's/  "\(count\|min\|max\)": \(.*\),/\1 \2/p' | paste -sd' '; }
# of the two frames that there are
"$airy" convert c.h5 --channel high --frames 0:2 -o high.npy --quiet && stat high.npy || exit 2
"$airy" convert c.h5 --channel 1 --frames 1 -o low.npy --quiet && stat low.npy || exit 3
"$airy" stats c.h5 --channel high --each --frames 0:2 | grep -c '"max": 11*\.0'
"$airy" view c.h5 --channel high --frame 1 -o high.png --json | grep -A1 '"limits"\|"shape"' | head -2
"$airy" label c.h5 --channel high --above 50 --each --frames 0:2 -o l.npy --quiet >/dev/null && stat l.npy || exit 4
"$airy" reduce c.h5 --channel high --by max -o max.npy --quiet # 3: a frame was never written
[ $? = 3 ] && stat max.npy || exit 5
# a name that is none ends the run, whatever the command
for command in "stats c.h5" "view c.h5 -o v.png" "convert c.h5 -o v.npy" "filter median c.h5 -o v.npy" "compress c.h5 v.h5" "threshold c.h5 --above 1 -o v.npy" \
    "label c.h5 --above 1" "info c.h5" "convert high.npy -o v.npy"; do
    # shellcheck disable=SC2086
    "$airy" $command --channel none 2>said
    code=$?
    [ $code = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q "channel" said || { echo "$command: $code" >&2; cat said >&2; exit 6; }
done
[ ! -e v.npy ] && [ ! -e v.h5 ] && [ ! -e v.png ] || exit 7
# frames that were never written are no part of a whole
"$airy" stats c.h5 --channel high >/dev/null 2>said && exit 8
grep -q 'never written' said
# a name with the words between two names in it is one name
"$helper" channels d.h5 'low, 4 keV' && "$airy" info d.h5 --channel 'low, 4 keV' --json | grep -A3 '"channels"'
