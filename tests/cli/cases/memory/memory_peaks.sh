# what a command on a stack holds is below --memory-limit and what the libraries take (a matrix that is being built may take more)
grep -q -e __asan_init -e __tsan_init "$airy" && { echo 'a sanitizer keeps what was freed' >&2; exit 77; }
$airy simulate diffraction s.h5 --frames 200 --detector pilatus_100k --same-frame --quiet || exit 1
poni="--poni ${small%.h5}.poni --threads 2 --quiet --force"
# What is freed goes back at once: else glibc keeps of it as much as the order of the threads makes it (12 MB once).
MALLOC_MMAP_THRESHOLD_=131072
export MALLOC_MMAP_THRESHOLD_
# 20 MB: libhdf5's pages and metadata, stacks of threads, pieces of the matrix beside it. Two dimensions in 32 MB hold 55 MB.
least=$(($($helper peak "$airy" --version | sed -n '$s/ .*//p') + 20000000))
for limit in 16 32; do
    while read -r command; do
        # shellcheck disable=SC2086
        $helper peak "$airy" $command --memory-limit ${limit}M >said 2>err
        [ $? -le 1 ] || { echo "$command: $(cat err)" >&2; exit 2; }
        held=$(sed -n '$s/ .*//p' said)
        [ "$held" -lt $((least + limit * 1048576)) ] || { echo "$command: $held bytes, limit $limit MB, libraries $least" >&2; exit 3; }
    done <<END
integrate s.h5 $poni -o out.h5
integrate s.h5 $poni --bins 100x90 -o out.h5
integrate s.h5 $poni --clip 3 -o out.h5
peaks s.h5 $poni -o peaks.h5
reduce s.h5 --threads 2 --quiet --force -o mean.npy
reduce s.h5 --by median --threads 2 --quiet --force -o median.npy
END
done
