# A packed file is unpacked only as far as its headers account for: here 100 MB of zeros follow an image of at most 1 MB.
"$airy" simulate sky a.fits --height 400 --width 500 --quiet || exit 9
for kind in npy edf cbf; do
    "$airy" convert "$small" --frames 0 -o a.$kind --quiet || exit 9
done
head -c 100000000 /dev/zero | gzip -1 >zeros.gz
for kind in fits npy edf cbf; do
    gzip -c a.$kind >b.$kind.gz && cat zeros.gz >>b.$kind.gz
    "$airy" info b.$kind.gz 2>err >/dev/null
    echo "$kind $?"
    grep -o -e 'gzip: it unpacks to more than.*fewer' -e 'it does not start with' err
done
