# A file a rank and a master: every reader sees one stack. One frame has a saturated pixel, so that normalizations differ.
. "$cli/mpi.sh"
. "$cli/check.sh"
expect 'a file a rank and a master are written'
"$airy" integrate "$small" --error-model poisson --saturation 40 --mask-saturated --roi 2,4 -o alone.h5 --quiet
ranks 3 "$airy" integrate "$small" --error-model poisson --saturation 40 --mask-saturated --roi 2,4 -o parts.h5 --per-rank --quiet --threads 1
echo "exit $?"
ls
expect 'the master has the numbers of one process'
"$airy" diff alone.h5 parts.h5 | grep -vc equal
expect 'a file of a rank has its frames alone'
"$airy" diff parts_0001.h5 parts.h5 | grep -c 'shapes differ'
expect 'a master whose files moved along is merged'
mkdir elsewhere
mv parts*.h5 elsewhere
"$airy" merge alone.h5 --rebin 2 -o merged1.h5 --quiet
"$airy" merge elsewhere/parts.h5 --rebin 2 -o merged2.h5 --quiet || echo "not merged"
"$airy" diff merged1.h5 merged2.h5 | grep -vc equal
expect 'a master is a configuration'
"$airy" integrate "$small" --config elsewhere/parts.h5 -o again.h5 --quiet
"$airy" diff alone.h5 again.h5 | grep -vc equal
expect 'a master is read by info and plot'
"$airy" info elsewhere/parts.h5 >/dev/null && echo read
! command -v gnuplot >/dev/null || "$airy" plot elsewhere/parts.h5 -o parts.png --quiet || echo "not drawn"
# Groups of frames, and more ranks than there are rows for.
expect 'groups of frames have the numbers of one process'
"$airy" integrate "$small" --average 3 -o alone3.h5 --quiet
ranks 4 "$airy" integrate "$small" --average 3 -o parts3.h5 --per-rank --quiet --threads 1
"$airy" diff alone3.h5 parts3.h5 | grep -vc equal
expect 'ranks without a row have no file'
ls parts3*
# A name that libhdf5 would take for a format.
expect 'a name with per cent signs is a name'
ranks 3 "$airy" integrate "$small" --error-model poisson --saturation 40 --mask-saturated --roi 2,4 -o '50%%b%d.h5' --per-rank --quiet --threads 1
"$airy" diff alone.h5 '50%%b%d.h5' >/dev/null && echo same
expect 'a file that is gone is named by stats'
rm elsewhere/parts_0002.h5
"$airy" stats elsewhere/parts.h5::/entry/integrate/frame/total 2>&1 >/dev/null | grep -c "parts_0002.h5.*is not there"
expect 'a file that is gone is named before a run goes on'
"$airy" integrate "$small" --error-model poisson --saturation 40 --mask-saturated --roi 2,4 -o elsewhere/parts.h5 --resume 2>&1 | grep -c 'is there already and cannot be read: .*parts_0002.h5.* is not there'
expect 'files that only the earlier result showed are removed, and no others'
mkdir fewer && cd fewer || exit 1
ranks 4 "$airy" integrate "$small" -o run.h5 --per-rank --quiet --threads 1
echo mine >run_0004.h5 && echo mine >run_0003.h5.partial && cp run_0000.h5 run_00000.h5
ranks 2 "$airy" integrate "$small" -o run.h5 --per-rank --force --threads 1 2>&1 | grep -o "2 files that only the earlier result showed were removed, 'run_0002.h5' and on"
ls
expect 'a file of a rank is no configuration of its own master'
"$airy" integrate "$small" --config run_0001.h5 -o run.h5 --force 2>&1 | grep -c "run_0001.h5.* is the same file as the input"
expect 'one process replaces the files of ranks'
"$airy" integrate "$small" -o run.h5 --force --quiet && ls
expect 'a dark image is no file of a rank'
"$airy" convert "$small" -o dark.npy --frames 0 --quiet && "$airy" convert dark.npy -o dark_0001.h5 --quiet || exit 1
ranks 2 "$airy" integrate "$small" --dark dark_0001.h5 -o dark.h5 --per-rank --force --quiet --threads 1 2>&1 |
    grep -o "output 'dark_0001.h5' is the same file as the input 'dark_0001.h5', which would be lost"
ls dark*
# also where the earlier one was interrupted
expect 'an interrupted run has partial files'
rm run* && cp "$small" bad.h5 && "$helper" damage bad.h5 /entry/data/data 7 flip
ranks 4 "$airy" integrate bad.h5 -o run.h5 --per-rank --quiet --threads 1 2>/dev/null
ls run*
expect 'files of an interrupted run are removed'
ranks 2 "$airy" integrate "$small" -o run.h5 --per-rank --force --quiet --threads 1
ls run*
# a complete file of an earlier run stands where a part of this run was begun
expect 'a complete file of an earlier run is no part of this run'
ranks 2 "$airy" integrate bad.h5 -o run.h5 --per-rank --force --quiet --threads 1 2>/dev/null
rm run_0000.h5.partial
ranks 2 "$airy" integrate bad.h5 -o run.h5 --per-rank --resume --force --on-error skip --quiet --threads 1 2>&1 |
    grep -o "'run_0000.h5' is there already and is no part of this run"
expect 'what is no part of this run stays'
ls run*
