case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# an image that comes twice with different pixels: no result, and the row is made anew from the stream played again
poni=${small%.h5}.poni
for skip in '' '--on-error skip'; do
    timeout 120 $helper push ipc://a start,1,195,487,3 image,1,0 other,1,1 image,1,1 image,1,2 end,1 &
    timeout 120 $airy integrate ipc://a --poni $poni -o o.h5 --bins 10 --quiet --force --json $skip >report 2>said
    echo "exit code $?"
    cat said
    grep -E '"(integrated|bad|lost)"' report
    wait
done
echo o.h5*
timeout 120 $helper push ipc://b start,1,195,487,3 image,1,0 image,1,1 image,1,2 end,1 &
timeout 120 $airy integrate ipc://b --poni $poni -o o.h5 --bins 10 --quiet --resume --on-error skip --json | grep -E '"(integrated|resumed)"'
wait
echo o.h5*
