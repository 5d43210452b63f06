/* What is known of a frame beside its pattern. gather_tile.h has the build options. */
#include "opencl/kernels/gather_tile.h"
#include "shared/ring_pass_geom.h"

#define STAT_GROUP AIRY_RING_STAT_ITEMS
#define STAT_PARTS AIRY_RING_STAT_PARTS

#ifdef T_FLOAT
#define STAT_TOTAL double
#else
#define STAT_TOTAL long
#endif

/*
 * Total, maximum, invalid and saturated pixels of a group's share of a frame, as doubles; counts
 * are below 2^32.
 * Mapping: in x AIRY_RING_STAT_GROUPS work-groups of STAT_GROUP items, in y frames. Local memory:
 *          8 KiB. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(STAT_GROUP, 1, 1))) void
ring_stats(__global const uint *valid, __global const T *frames, __global double *parts,
           const airy_ring_pass g)
{
    __local STAT_TOTAL totals[STAT_GROUP];
    __local double tops[STAT_GROUP];
    __local uint invalids[STAT_GROUP], saturateds[STAT_GROUP];
    const uint item = get_local_id(0), frame = get_global_id(1);
    const uint pixels = (uint)g.pixels;
    __global const T *image = frames + frame_start(frame, g.gather);
    STAT_TOTAL total = 0;
    double top = -INFINITY;
    uint invalid = 0u, saturated = 0u;
    AIRY_UNROLL(8)
    for (uint p = get_global_id(0); p < pixels; p += AIRY_RING_STAT_GROUPS * STAT_GROUP) {
        const T raw = image[p];
        const bool counts = (valid[p / 32u] >> p % 32u & 1u) != 0u, out = is_invalid(raw, g.gather);
        total += counts && !out ? (STAT_TOTAL)raw : (STAT_TOTAL)0;
        top = counts && !out ? fmax(top, to_double((VALUE)raw)) : top;
        invalid += counts && out ? 1u : 0u;
        saturated += counts && is_saturated(raw, g.gather) ? 1u : 0u;
    }
    totals[item] = total;
    tops[item] = top;
    invalids[item] = invalid;
    saturateds[item] = saturated;
    for (uint half_size = STAT_GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            totals[item] += totals[item + half_size];
            tops[item] = fmax(tops[item], tops[item + half_size]);
            invalids[item] += invalids[item + half_size];
            saturateds[item] += saturateds[item + half_size];
        }
    }
    if (item != 0u)
        return;
    __global double *out = parts +
                           ((ulong)frame * AIRY_RING_STAT_GROUPS + get_group_id(0)) * STAT_PARTS;
    out[0] = (double)totals[0];
    out[1] = tops[0];
    out[2] = (double)invalids[0];
    out[3] = (double)saturateds[0];
}

/*
 * The groups' parts to struct airy_frame_stats. Integers below 2^53 in sum are exact.
 * Mapping: in y frames, a work-group of STAT_GROUP items each. Local memory: 8 KiB. Barriers: of the
 *          work-group.
 */
__kernel __attribute__((reqd_work_group_size(STAT_GROUP, 1, 1))) void
ring_stats_finish(__global const double *parts, __global const uint *status, __global double *stats,
                  const airy_ring_pass g)
{
    __local double column[STAT_PARTS][STAT_GROUP];
    const uint item = get_local_id(0), frame = get_global_id(1);
    const uint word = g.gather.has_status != 0u ? status[g.gather.status_offset + frame]
                                                : AIRY_STATUS_GOOD;
    const uint groups = word == AIRY_STATUS_GOOD ? AIRY_RING_STAT_GROUPS : 0u;
    double total = 0.0, top = -INFINITY, invalid = 0.0, saturated = 0.0;
    for (uint i = item; i < groups; i += STAT_GROUP) {
        __global const double *part = parts +
                                      ((ulong)frame * AIRY_RING_STAT_GROUPS + i) * STAT_PARTS;
        total += part[0];
        top = fmax(top, part[1]);
        invalid += part[2];
        saturated += part[3];
    }
    column[0][item] = total;
    column[1][item] = top;
    column[2][item] = invalid;
    column[3][item] = saturated;
    for (uint half_size = STAT_GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            column[0][item] += column[0][item + half_size];
            column[1][item] = fmax(column[1][item], column[1][item + half_size]);
            column[2][item] += column[2][item + half_size];
            column[3][item] += column[3][item + half_size];
        }
    }
    if (item != 0u)
        return;
    __global double *out = stats + g.gather.stats_offset + (ulong)frame * 4u;
    out[0] = column[0][0];
    out[1] = column[1][0] == -INFINITY ? 0.0 : column[1][0];
    __global uint *tail = (__global uint *)(out + 2);
    tail[0] = (uint)column[2][0];
    tail[1] = (uint)column[3][0];
    tail[2] = word;
    tail[3] = 0u;
}
