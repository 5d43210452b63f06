case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# no text of a message chooses a path, is run, or makes a line of its own
poni=${small%.h5}.poni
mkdir run
echo kept >kept.h5
echo kept >run/kept
cd run
printf '{"htype":"dheader-1.0","series":"../../escape","filename":"../kept.h5","header_detail":"all"}' >../v1
escape=$(printf 'a\nairy integrate: \033]0;b\007\r')
timeout 120 $helper push ipc://../s start,1,195,487,1 image,1,0 end,1 "named,2,../kept.h5" "named,3,$PWD/kept" "named,4,$escape" \
    'named,5,`touch escape`;$(touch escape)' "named,6,run_{series}.h5" "named,7,run_2.h5" "named,8,/dev/full" file,../v1 named,18446744073709551615,.. 2>&1 &
timeout 120 $airy integrate ipc://../s --poni $poni -o 'run_{series}.h5' --bins 10 --series 9 --json >../report 2>../said
echo "exit code $?"
wait
ls -A
cat kept ../kept.h5
cat ../said | LC_ALL=C tr -c '[:print:]\n' '#' | sed "s,$PWD,DIR,"
grep -c integrated ../report
cd ..
ls -A
# what is there stays, and its series is refused
timeout 120 $helper push ipc://s start,2,195,487,1 named,2,x 2>&1 &
timeout 120 $airy integrate ipc://s --poni $poni -o 'run/run_{series}.h5' --bins 10 --series 1 2>&1 | grep -v listening
wait
