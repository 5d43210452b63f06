m=$golden/astro/ccl_torture.h5
$airy label $m::/onepix__mask --connectivity 6; echo $?
$airy label $m::/onepix__mask --above 1 --sigma 2; echo $?
$airy label $m::/full__mask --sigma 2; echo $?
echo keep >t.csv; $airy label $m::/onepix__mask --table t.csv; echo $?; cat t.csv
$airy label $m::/onepix__mask --table no/t.csv; echo $?
$airy label $m::/onepix__mask --table t.txt; echo $?
$airy label $m::/onepix__mask --each --connectivity 6; echo $?
$airy label $m::/onepix__mask --min-area 5 --max-area 3; echo $?
