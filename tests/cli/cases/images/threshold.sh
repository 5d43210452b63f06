$airy convert $golden/astro/ks_cases.h5::/even_median -o a.npy --quiet && $airy threshold a.npy --above 4 -o m.npy && $airy stats m.npy &&
    $airy stats a.npy --mask m.npy | grep -o '"masked": [0-9]*'
$airy threshold a.npy --above 4 -o j.npy --json 2>/dev/null | tr -d ' \n'
