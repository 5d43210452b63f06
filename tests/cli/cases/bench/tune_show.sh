# what can be tuned, as JSON and as a table; without a cache folder too
$airy tune --show >text || exit 1
for key in device driver table sizes name kernel unit smallest largest default current work_group source; do
    grep -q "\"$key\": " text || exit 2
done
grep -q '"table": null' text || exit 3
$airy tune --show --table | grep -q '^pipeline.readers  *1  *256 .* default ' || exit 4
