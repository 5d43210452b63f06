# nothing of a table that does not fit is left, and the one that was there stays
$airy simulate sky a.npy --height 256 --width 256 --quiet
echo old >b.csv
(trap '' XFSZ; ulimit -f 8; $airy label a.npy --above 0 --table a.csv --quiet; echo $?; $airy label a.npy --above 0 --table b.csv --force --quiet; echo $?)
ls
cat b.csv
