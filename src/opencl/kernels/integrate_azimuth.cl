/*
 * Variances of the azimuthal error model: second moments around the bins' means, which integrate.cl
 * has found. gather_tile.h has the build options; FRAMES is 1 or 2.
 */
#include "opencl/kernels/gather_tile.h"

/* What an entry adds to signal and normalization. */
static inline double entry_signal(double weight, double raw, double dark)
{
    return weight * (DARK ? raw - dark : raw);
}

/* Pixels of a tile that an item brings. */
#define PIXELS (AIRY_GATHER_TILE_WIDTH * AIRY_GATHER_TILE_HEIGHT / GROUP)

/*
 * Moments of a unit of the matrix, sum (weight (raw - dark) - mean coef norm)^2, for FRAMES frames.
 * Mapping: as gather_tiles. Local memory: at most PLACES * (FRAMES * sizeof(VALUE) + 9) + GROUP *
 *          (FRAMES * 8 + 2) bytes, 46 KB. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
azimuth_tiles(__global const airy_gather_unit *units, __global const ushort *places,
              __global const float *weight, __global const airy_gather_segment *segments,
              __global const float *coef, __global const float *norm, __global const float *dark,
              __global const T *frames, __global const double *sums, __global double *scratch,
              const airy_gather_geom g)
{
    __local double part[FRAMES * GROUP];
    __local VALUE tile[FRAMES * PLACES];
    __local float norm_of[PLACES];
    __local float dark_of[DARK ? PLACES : 1u];
    __local ushort owner[GROUP];   /* the segment of an item's piece */
    __local uchar invalid[PLACES]; /* bit f: in frame f */
    const uint item = get_local_id(0), steps = (g.frames + FRAMES - 1u) / FRAMES;
    const uint first = get_group_id(0) % steps * FRAMES;
    const airy_gather_unit unit = units[get_group_id(0) / steps];
#pragma unroll
    for (uint i = 0u; i < PIXELS; i++) {
        const uint place = place_of(item + i * GROUP), p = pixel_of(place, unit, g.width);
        const bool inside = is_inside(item + i * GROUP, unit, g);
        const uint at = inside ? p : 0u;
        AIRY_FETCH4(norm_of, place, norm + at, inside);
        if (DARK)
            AIRY_FETCH4(dark_of, place, dark + at, inside);
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            __global const T *from = frames + frame_start(first + f, g) + at;
#ifdef T_IS_4_BYTES
            AIRY_FETCH4(tile, f * PLACES + place, from, inside);
#else
            tile[f * PLACES + place] = inside ? (VALUE)*from : (VALUE)0;
#endif
        }
    }
    AIRY_FETCHED();
#pragma unroll
    for (uint i = 0u; i < PIXELS; i++) {
        const uint place = place_of(item + i * GROUP);
        uint bits = 0u;
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            const bool out = is_invalid((T)tile[f * PLACES + place], g);
            if (out)
                tile[f * PLACES + place] = 0;
            bits |= out ? 1u << f : 0u;
        }
        invalid[place] = (uchar)bits;
    }
    owner[item] = 0;
    if (item == 0u) {
        for (uint f = 0u; f < FRAMES; f++)
            tile[f * PLACES + NOWHERE] = 0;
        invalid[NOWHERE] = 0;
        norm_of[NOWHERE] = 0.0f;
        if (DARK)
            dark_of[NOWHERE] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = item; s < unit.segments; s += GROUP) {
        const airy_gather_segment segment = segments[unit.first_segment + s];
        for (uint i = segment.first; i < (uint)segment.first + segment.count; i++)
            owner[i] = (ushort)s;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    double sum[FRAMES], mean[FRAMES];
    const uint bin = unit.segments > 0u ? segments[unit.first_segment + owner[item]].bin : 0u;
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        __global const double *of = sums + g.sums_offset +
                                    (ulong)min(first + f, g.frames - 1u) * PLANES * g.bins + bin;
        const double whole = of[NORMALIZATION * g.bins];
        mean[f] = whole != 0.0 ? of[SIGNAL * g.bins] / whole : 0.0;
        sum[f] = 0.0;
    }
    for (uint k = 0u; k < unit.depth; k++) {
        const ulong e = unit.first_entry + k * GROUP + item;
        const uint place = places[e], bits = invalid[place];
        const double w = weight[e],
                     cn = (double)(UNWEIGHTED ? coef[e] : weight[e]) * (double)norm_of[place];
        const double below = DARK ? dark_of[place] : 0.0f;
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            const double d = entry_signal(w, to_double(tile[f * PLACES + place]), below) -
                             mean[f] * cn;
            sum[f] = (bits >> f & 1u) != 0u ? sum[f] : fma(d, d, sum[f]);
        }
    }
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++)
        part[f * GROUP + item] = sum[f];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = item; t < unit.segments * FRAMES; t += GROUP) {
        const uint f = t % FRAMES;
        const airy_gather_segment s = segments[unit.first_segment + t / FRAMES];
        double all = 0.0;
        for (uint i = s.first; i < (uint)s.first + s.count; i++)
            all += part[f * GROUP + i];
        if (first + f < g.frames)
            scratch[g.variance + (ulong)(first + f) * g.slots + s.slot] = all;
    }
}

/* Mapping: in x bins, in y frames; any work-group. No local memory, no barrier. */
__kernel void azimuth_finish(__global const uint *row, __global const double *scratch,
                             __global double *sums, const airy_gather_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    double sum = 0.0;
    for (uint slot = row[bin]; slot < row[bin + 1u]; slot++)
        sum += scratch[g.variance + (ulong)frame * g.slots + slot];
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    /* A bin without pixels, or a bad frame, stays 0. */
    out[VARIANCE * g.bins] = out[NORMALIZATION2 * g.bins] != 0.0 ? sum : 0.0;
}

/*
 * The recurrence that established packages use: V += w^2 (x - mean before)(x - mean after), pixel
 * by pixel in ascending order; the first pixel of a bin adds nothing. pixel, weight and coef are by
 * bin here, row [bins + 1] says where each begins.
 * Source: J. Kieffer et al., J. Synchrotron Rad. 27 (2020) 558; E. Schubert and M. Gertz, SSDBM
 *         2018, doi:10.1145/3221269.3223036.
 * Mapping: in x bins, in y frames, an item each; any work-group. No local memory, no barrier.
 */
__kernel void azimuth_recurrence(__global const uint *pixel, __global const float *weight,
                                 __global const float *coef, __global const uint *row,
                                 __global const float *norm, __global const float *dark,
                                 __global const T *frames, __global double *sums,
                                 const airy_gather_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    __global const T *image = frames + frame_start(frame, g);
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    double signal = 0.0, whole = 0.0, moment = 0.0;
    for (uint e = row[bin]; e < row[bin + 1u]; e++) {
        const uint p = pixel[e];
        const T raw = image[p];
        if (is_invalid(raw, g))
            continue;
        const double s = entry_signal(weight[e], (double)raw, DARK ? dark[p] : 0.0f);
        const double w = (double)(UNWEIGHTED ? coef[e] : weight[e]) * (double)norm[p];
        if (w == 0.0)
            continue;
        const double x = s / w, before = signal / whole;
        signal += s;
        if (whole != 0.0)
            moment += w * w * (x - before) * (x - signal / (whole + w));
        whole += w;
    }
    out[VARIANCE * g.bins] = out[NORMALIZATION2 * g.bins] != 0.0 ? moment : 0.0;
}
