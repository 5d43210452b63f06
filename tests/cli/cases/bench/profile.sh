$airy integrate $small -o a.h5 --profile=profile.json --quiet && grep -q '"median_ms"' profile.json || exit 1
$airy integrate $small -o b.h5 --profile --quiet 2>table && [ -s table ]
