# images of few counts: the noise of both methods is the root of the mean, and a strong source does not change that
# Poisson numbers by inversion, of a generator that every awk computes exactly (16807 modulo 2^31 - 1); 128 x 128, a source of 3 x 3 in the middle
counts() { # MEAN
    awk -v mean="$1" 'BEGIN {
        s = 4711
        for (i = 0; i < 128 * 128; i++) {
            s = 16807 * s % 2147483647
            k = 0; p = exp(-mean); c = p
            while (s / 2147483647 > c && k < 7) { k++; p *= mean / k; c += p }
            y = int(i / 128); x = i % 128
            printf "%s", (y > 62 && y < 66 && x > 62 && x < 66 ? "\\144" : "\\" k)
        }
    }'
}
for mean in 0.01 0.03 0.1 0.3 1; do
    { printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (128, 128)}" && printf "$(counts $mean)"; } >image.npy
    for method in simple full; do
        $airy sources image.npy --method $method --sigma 12 --json --quiet >json || exit 1
        # 5 standard errors: of the mean sqrt(mean / N), of the deviation sqrt((1 / mean + 2) / (4 N)) of it; 4 percent of what is cut off at 3 deviations
        sed -n 's/^ *"\(sources\|background\|noise\)": *\([0-9.e-]*\),*$/\1 \2/p' json | awk -v mean=$mean -v method=$method '
            { v[$1] = $2 }
            END {
                n = 128 * 128; d = v["background"] - mean; e = v["noise"] / sqrt(mean) - 1
                good = d * d < 25 * mean / n + 0.0016 * mean * mean && e * e < 25 * (1 / mean + 2) / (4 * n) + 0.0016 && v["sources"] >= 1
                print mean, method, good ? "as counted" : "background " v["background"] " noise " v["noise"] " sources " v["sources"]
            }'
    done
done
