# every list has a JSON form, and that of filters says what each takes
$airy filter --list --json >f.json && head -c 1 f.json && grep -c '"name"' f.json
$airy filter --list | wc -l
tr -d ' \n' <f.json | grep -o '"name":"hampel"[^]]*]'
for list in 'calibrate --list' 'info --detectors' 'devices'; do
    $airy $list --json | head -n 1
done
