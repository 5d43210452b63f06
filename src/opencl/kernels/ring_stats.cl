/* What is known of a frame beside its pattern. gather_tile.h has the build options. */
#include "opencl/kernels/gather_tile.h"
#include "shared/ring_pass_geom.h"

#define STAT_GROUP AIRY_RING_GROUP
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
ring_stats(__global const float *norm, __global const T *frames, __global double *parts,
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
    AIRY_UNROLL(4)
    for (uint p = get_global_id(0); p < pixels; p += AIRY_RING_STAT_GROUPS * STAT_GROUP) {
        const T raw = image[p];
        const bool counts = norm[p] != 0.0f, out = is_invalid(raw, g.gather);
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
 * Mapping: an item a frame; any work-group. No local memory, no barrier.
 */
__kernel void ring_stats_finish(__global const double *parts, __global const uint *status,
                                __global double *stats, const airy_ring_pass g)
{
    const uint frame = get_global_id(0);
    if (frame >= g.gather.frames)
        return;
    const uint word = g.gather.has_status != 0u ? status[g.gather.status_offset + frame]
                                                : AIRY_STATUS_GOOD;
    double total = 0.0, top = -INFINITY, invalid = 0.0, saturated = 0.0;
    const uint groups = word == AIRY_STATUS_GOOD ? AIRY_RING_STAT_GROUPS : 0u;
    for (uint i = 0u; i < groups; i++) {
        __global const double *part = parts +
                                      ((ulong)frame * AIRY_RING_STAT_GROUPS + i) * STAT_PARTS;
        total += part[0];
        top = fmax(top, part[1]);
        invalid += part[2];
        saturated += part[3];
    }
    __global double *out = stats + g.gather.stats_offset + (ulong)frame * 4u;
    out[0] = total;
    out[1] = top == -INFINITY ? 0.0 : top;
    __global uint *tail = (__global uint *)(out + 2);
    tail[0] = (uint)invalid;
    tail[1] = (uint)saturated;
    tail[2] = word;
    tail[3] = 0u;
}
