# NXazint files as GSAS-II goes over them: the last NXdata by name, degrees, no text of one axis of frames; and whose they are
opts="--poni ${small%.h5}.poni --quiet --format nxazint --unit 2th_deg --bins 50"
"$airy" integrate "$small" $opts -o one.h5 --source 'MAX IV Laboratory' --instrument DanMAX || exit 1
"$airy" integrate "$small" $opts -o two.h5 --bins 50x12 --unit q_nm^-1 --source 'my cellar' || exit 2
"$airy" integrate "$small" $opts -o map.h5 --grid 4x2 --roi 1,2 || exit 3
for name in one two map; do $helper nxdata $name.h5 8 || exit 4; done
for word in 'Synchrotron X-ray Source' 'MAX IV Laboratory' DanMAX; do
    grep -c "$word" one.h5 >/dev/null && echo "$word"
done
grep -c 'Synchrotron' two.h5
for source in 'European XFEL' ESRF-EBS 'PETRA III, DESY' SLSX; do
    "$airy" integrate "$small" $opts -o s.h5 --source "$source" --force || exit 5
    grep -aoE 'Synchrotron X-ray Source|Free-Electron Laser' s.h5 | head -n 1 | sed "s|^|$source: |"
done
# a run that is gone on with, with a bad frame
cp "$small" bad.h5 && $helper damage bad.h5 /entry/data/data 2 flip || exit 6
"$airy" integrate bad.h5 $opts -o bad_out.h5 --on-error skip 2>/dev/null
[ $? = 3 ] && $helper nxdata bad_out.h5 8 && "$airy" diff bad_out.h5 bad_out.h5 >/dev/null && echo bad
"$airy" integrate "$small" --poni "${small%.h5}.poni" -o x.h5 --source here 2>&1
echo $?
