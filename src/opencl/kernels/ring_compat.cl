/*
 * Sigma clipping as established packages do it: entries are added up one after another in ascending
 * order of pixels, spreads by recurrence, and a pixel that one bin rejects is gone for those after
 * it. ring_entry.h has the build options.
 * Source: J. Kieffer et al., J. Synchrotron Rad. 27 (2020) 558; E. Schubert and M. Gertz, SSDBM
 *         2018, doi:10.1145/3221269.3223036.
 */
#define ALONE 1
#include "opencl/kernels/ring_entry.h"

/* The entries [0, count) of a bin that are not gone; the spread to R_SQUARES. */
AIRY_INLINE void recur(struct ring_sums *sums, __global const T *image, __global const uchar *gone,
                       const struct ring_table t, uint first, uint count, const airy_gather_geom g)
{
    clear_sums(sums);
    double spread = 0.0;
    for (uint e = first; e < first + count; e++) {
        const uint p = t.pixel[e];
        const VALUE v = (VALUE)image[p];
        if (is_invalid((T)v, g) || gone[p] != 0)
            continue;
        const struct ring_entry entry = load_entry(t, e, v);
        const double x = entry.s / entry.omega, before = sums->v[R_SIGNAL] / sums->v[R_OMEGA];
        const bool begins = sums->v[R_OMEGA] == 0.0;
        add_entry(sums, entry, expected_variance(t, e, v), 0.0);
        if (!begins)
            spread += entry.omega * entry.omega * (x - before) *
                      (x - sums->v[R_SIGNAL] / sums->v[R_OMEGA]);
    }
    sums->v[R_SQUARES] = spread;
}

/* Leave out what is too far from the mean; how many entries that are. */
AIRY_INLINE uint reject(__global const T *image, __global uchar *gone, const struct ring_table t,
                        uint first, uint count, double mean, double limit, const airy_gather_geom g)
{
    uint rejected = 0u;
    for (uint e = first; e < first + count; e++) {
        const uint p = t.pixel[e];
        const VALUE v = (VALUE)image[p];
        if (is_invalid((T)v, g) || gone[p] != 0)
            continue;
        const struct ring_entry entry = load_entry(t, e, v);
        if (fabs(entry.s / entry.omega - mean) > limit) {
            gone[p] = 1;
            rejected++;
        }
    }
    return rejected;
}

/*
 * bins: in ascending order, entry k of one being number first + k. scratch: [frames][pixels], 0.
 * Mapping: an item takes all bins of a frame; any work-group. No local memory, no barrier.
 */
__kernel void ring_clip_compat(RING_ARGUMENTS(uchar))
{
    const uint frame = get_global_id(0);
    if (frame >= g.gather.frames)
        return;
    const bool good = frame_is_good(status, frame, g.gather);
    const struct ring_table t = RING_TABLE;
    __global const T *image = frames + frame_start(frame, g.gather);
    __global uchar *gone = scratch + frame * g.pixels;
    for (uint b = 0u; b < g.gather.bins; b++) {
        const airy_ring_bin bin = bins[b];
        const uint count = good ? bin.count : 0u;
        struct ring_sums kept;
        recur(&kept, image, gone, t, bin.first, count, g.gather);
        for (uint cycle = 0u; cycle < g.rule.cycles && kept.v[R_OMEGA] != 0.0; cycle++) {
            const double mean = kept.v[R_SIGNAL] / kept.v[R_OMEGA],
                         squares = CLIPS_BY == 3 ? kept.v[R_SQUARES] : kept.v[R_EXPECTED];
            const double limit =
                airy_ring_limit(g.rule, mean, sqrt(squares / kept.v[R_OMEGA2]), kept.v[R_COUNT]);
            if (!(limit < INFINITY) ||
                reject(image, gone, t, bin.first, count, mean, limit, g.gather) == 0u)
                break;
            recur(&kept, image, gone, t, bin.first, count, g.gather);
        }
        write_planes(sums, &kept, LEAVES == 3 ? kept.v[R_SQUARES] : kept.v[R_EXPECTED], frame,
                     bin.bin, g.gather);
    }
}
