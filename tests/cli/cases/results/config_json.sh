# A run repeated from its result, and from JSON.
"$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40x8 --unit 2th_deg --polarization 0.9 --dummy=-1 --frames 1:5 --quiet -o a.h5 || exit
"$airy" info a.h5 --json >a.json
"$airy" integrate "$small" --config a.h5 -o b.h5 --quiet && "$airy" diff a.h5 b.h5 >/dev/null && echo result
"$airy" integrate "$small" --config a.json -o c.h5 --quiet && "$airy" diff a.h5 c.h5 >/dev/null && echo json
{ printf '\357\273\277' && cat a.json; } >mark.json
"$airy" integrate "$small" --config mark.json -o e.h5 --quiet && "$airy" diff a.h5 e.h5 >/dev/null && echo mark
# parameters that a person writes: one number is a number
echo '{"bins": 50, "frames": 3, "unit": "2th_deg", "radial-range": [1, 9]}' >hand.json
"$airy" integrate "$small" --config hand.json -o h.h5 --json 2>/dev/null >answer && ! grep configuration answer && \
    "$airy" integrate "$small" --bins 50 --frames 3 --unit 2th_deg --radial-range 1,9 -o i.h5 --quiet && \
    "$airy" diff h.h5 i.h5 >/dev/null && echo hand
echo '{"no": 1}' >bad.json
echo 'text' >text.json
for file in bad.json text.json none.json; do
    "$airy" integrate "$small" --config $file -o d.h5 2>&1
done
echo '{"result": {"configuration": "x"}}' >text.json
"$airy" integrate "$small" --config text.json -o d.h5 2>&1
# options that no result stores, as anybody could write them into a file
for option in --force --plot=p.png --output=d.h5 --publish=tcp://127.0.0.1:1 --bins --dist=1 -- text; do
    sed "s|\"options\": \[|&\"$option\", |" a.json >other.json
    "$airy" integrate "$small" --config other.json -o d.h5 2>&1
done
! ls d.h5 p.png 2>/dev/null
