/*
 * Radial sums of frames in memory. Tiles of frames are brought to local memory once, in the order
 * in which they lie in memory; there the matrix is walked bin by bin, entries of a tile being side
 * by side. All sums of pixel values are in double precision and in one order, whatever the batch.
 * gather_tile.h has the build options.
 */
#include "opencl/kernels/gather_tile.h"

/* Sums of an entry: signal, and poisson variance less its constant part. */
#if MODEL == 1
#define SUMS 2u
#else
#define SUMS 1u
#endif

/* Largest values are kept so that nothing found differs from any value found. */
#ifdef T_FLOAT
#define TOTAL   double
#define TOP     double
#define NO_TOP  (-INFINITY)
#define MAX_TOP fmax
#elif defined T_SIGNED
#define TOTAL   long
#define TOP     long
#define NO_TOP  LONG_MIN
#define MAX_TOP max
#else
#define TOTAL   long
#define TOP     uint
#define NO_TOP  0u /* what is reported where nothing is found */
#define MAX_TOP max
#endif

static inline double top_to_double(TOP top)
{
#ifdef T_SIGNED
    return top == LONG_MIN ? -INFINITY : (double)top;
#else
    return (double)top;
#endif
}

/* A place's values in all frames of the group, and back. */
static inline VALUES pack(const VALUE *v)
{
#if FRAMES == 1
    return v[0];
#elif FRAMES == 2
    return (VALUES)(v[0], v[1]);
#else
    return (VALUES)(v[0], v[1], v[2], v[3]);
#endif
}

AIRY_INLINE void unpack(VALUE *v, VALUES packed)
{
#if FRAMES == 1
    v[0] = packed;
#elif FRAMES == 2
    v[0] = packed.x;
    v[1] = packed.y;
#else
    v[0] = packed.x;
    v[1] = packed.y;
    v[2] = packed.z;
    v[3] = packed.w;
#endif
}

/* What an item saw while it brought its pixels. */
struct tally {
    TOTAL total[FRAMES];
    TOP top[FRAMES];
    uint counts[FRAMES]; /* invalid, and saturated times 2^16 */
};

/*
 * Bring the tile: invalid values and what is outside the image are 0. Two pixels of all frames are
 * on their way at a time.
 */
AIRY_INLINE void bring_tile(__local VALUES *tile, struct tally *tally, __global const uchar *valid,
                            __global const T *frames, uint first, const airy_gather_unit unit,
                            const airy_gather_geom g)
{
    const uint item = get_local_id(0);
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        tally->total[f] = 0;
        tally->top[f] = NO_TOP;
        tally->counts[f] = 0u;
    }
#ifdef AIRY_WARP
#pragma unroll 2
#endif
    for (uint i = item; i < AIRY_GATHER_TILE_WIDTH * AIRY_GATHER_TILE_HEIGHT; i += GROUP) {
        const uint place = place_of(i), p = pixel_of(place, unit, g.width);
        const bool inside = is_inside(i, unit, g), counts = inside && valid[inside ? p : 0u] != 0;
        VALUE v[FRAMES];
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            const T raw = inside ? frames[frame_start(first + f, g) + p] : (T)0;
            const bool invalid = is_invalid(raw, g);
            v[f] = invalid ? (VALUE)0 : (VALUE)raw;
            if (!counts)
                continue;
            tally->counts[f] += (invalid ? 1u : 0u) + (is_saturated(raw, g) ? 1u << 16 : 0u);
            if (!invalid) {
                tally->total[f] += (TOTAL)v[f];
                tally->top[f] = MAX_TOP(tally->top[f], (TOP)v[f]);
            }
        }
        tile[place] = pack(v);
    }
    if (item == 0u) {
        const VALUE zero[FRAMES] = {0};
        tile[NOWHERE] = pack(zero);
    }
}

/* Sums of the item's entries. */
AIRY_INLINE void add_entries(double *sums, __local const VALUES *tile,
                             __global const ushort *places, __global const float *weight,
                             const airy_gather_unit unit)
{
#pragma unroll
    for (uint f = 0u; f < SUMS * FRAMES; f++)
        sums[f] = 0.0;
    places += unit.first_entry + get_local_id(0);
    weight += unit.first_entry + get_local_id(0);
#ifdef AIRY_WARP
#pragma unroll 4
#endif
    for (uint k = 0u; k < unit.depth; k++) {
        VALUE v[FRAMES];
        const double w = weight[k * GROUP];
        unpack(v, tile[places[k * GROUP]]);
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            sums[f] = fma(w, to_double(v[f]), sums[f]);
            if (MODEL == 1)
                sums[FRAMES + f] = fma(w * w, above_one(v[f]), sums[FRAMES + f]);
        }
    }
}

/* Parts of the work-group's local memory once the tile is done with. */
struct parts {
    __local double *sums;  /* [SUMS * FRAMES][GROUP] */
    __local TOTAL *totals; /* [FRAMES][GROUP] */
    __local TOP *tops;     /* [FRAMES][GROUP] */
    __local uint *counts;  /* [FRAMES][GROUP] */
};

#define PARTS_BYTES (FRAMES * GROUP * (8u * SUMS + 8u + sizeof(TOP) + 4u))
#define KEPT_BYTES  (GROUP * 44u)
#define TILE_BYTES  (PLACES * sizeof(VALUES))
#define MOST(a, b)  ((a) > (b) ? (a) : (b))
/* in units of 16 bytes */
#define AREA ((MOST(MOST(PARTS_BYTES, KEPT_BYTES), TILE_BYTES) + 15u) / 16u)

static inline struct parts lay_out_parts(__local uint4 *area)
{
    struct parts parts;
    parts.sums = (__local double *)area;
    parts.totals = (__local TOTAL *)(parts.sums + SUMS * FRAMES * GROUP);
    parts.tops = (__local TOP *)(parts.totals + FRAMES * GROUP);
    parts.counts = (__local uint *)(parts.tops + FRAMES * GROUP);
    return parts;
}

/* Pieces of the segments to scratch, an item a segment and frame. */
AIRY_INLINE void write_segments(__global double *scratch, __global uint *words,
                                __global const airy_gather_segment *segments,
                                const struct parts parts, uint first, uint dirty,
                                const airy_gather_unit unit, const airy_gather_geom g)
{
    for (uint t = get_local_id(0); t < unit.segments * FRAMES; t += GROUP) {
        const uint f = t % FRAMES, frame = first + f;
        const airy_gather_segment s = segments[unit.first_segment + t / FRAMES];
        if (frame >= g.frames)
            continue;
        const ulong at = (ulong)frame * g.slots + s.slot;
        for (uint k = 0u; k < SUMS; k++) {
            __local const double *column = parts.sums + (k * FRAMES + f) * GROUP;
            double sum = 0.0;
            for (uint i = s.first; i < (uint)s.first + s.count; i++)
                sum += column[i];
            scratch[(k == 0u ? 0ul : g.variance) + at] = sum;
        }
        if ((dirty >> f & 1u) == 0u)
            words[g.gone + at] = 0u;
    }
}

/* Of frame f, the statistics of items j, j + step ... below end to place j. */
AIRY_INLINE void add_stats(const struct parts parts, uint f, uint j, uint end, uint step)
{
    if (f >= FRAMES)
        return;
    TOTAL total = 0;
    TOP top = NO_TOP;
    uint count = 0u;
    for (uint i = f * GROUP + j; i < f * GROUP + end; i += step) {
        total += parts.totals[i];
        top = MAX_TOP(top, parts.tops[i]);
        count += parts.counts[i];
    }
    parts.totals[f * GROUP + j] = total;
    parts.tops[f * GROUP + j] = top;
    parts.counts[f * GROUP + j] = count;
}

/*
 * Statistics of the tile: 16 items a frame, then one. tile ~0: not to be written. All items of the
 * group call it.
 */
#define STAT_ITEMS 16u

AIRY_INLINE void write_stats(__global double *scratch, __global uint *words,
                             const struct parts parts, uint first, uint tile,
                             const airy_gather_geom g)
{
    const uint item = get_local_id(0);
    add_stats(parts, item / STAT_ITEMS, item % STAT_ITEMS, GROUP, STAT_ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_stats(parts, item, 0u, STAT_ITEMS, 1u);
    if (item < FRAMES && first + item < g.frames && tile != ~0u) {
        const ulong at = ((ulong)(first + item) * g.tiles + tile) * 2u;
        const uint count = parts.counts[item * GROUP];
        scratch[g.stats + at] = (double)parts.totals[item * GROUP];
        scratch[g.stats + at + 1u] = top_to_double(parts.tops[item * GROUP]);
        words[g.counts + at] = count & 0xffffu;
        words[g.counts + at + 1u] = count >> 16;
    }
}

/* What does not depend on the frame, for entries that are left out in some. */
struct fixed {
    __global const float *coef, *norm, *dark, *variance;
};

/*
 * What the entries left of a frame with invalid pixels contribute to the sums that are the same
 * for all frames where none is, each sum by itself: nothing is taken away from a larger one. All
 * items of the group call it.
 */
static inline void write_kept(__global double *scratch, __global uint *words, __local uint4 *area,
                              __global const ushort *places, __global const float *weight,
                              __global const airy_gather_segment *segments,
                              const struct fixed fixed, __global const T *image, uint frame,
                              const airy_gather_unit unit, const airy_gather_geom g)
{
    __local double *columns = (__local double *)area;
    __local uint *gone_of = (__local uint *)(columns + 5u * GROUP);
    const uint item = get_local_id(0);
    double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    uint gone = 0u;
    for (uint k = 0u; k < unit.depth; k++) {
        const ulong e = unit.first_entry + k * GROUP + item;
        if (places[e] == NOWHERE)
            continue;
        const uint p = pixel_of(places[e], unit, g.width);
        if (is_invalid(image[p], g)) {
            gone++;
            continue;
        }
        const double w = weight[e], c = UNWEIGHTED ? fixed.coef[e] : weight[e];
        const double cn = c * (double)fixed.norm[p];
        sum[0] += cn;
        sum[1] = fma(cn, cn, sum[1]);
        sum[2] += c;
        if (DARK)
            sum[3] = fma(w, (double)fixed.dark[p], sum[3]);
        if (MODEL == 1)
            sum[4] = fma(w, w, sum[4]);
        if (MODEL == 3)
            sum[4] = fma(w * w, (double)fixed.variance[p], sum[4]);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the area may still be read */
    for (uint k = 0u; k < 5u; k++)
        columns[k * GROUP + item] = sum[k];
    gone_of[item] = gone;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = item; t < unit.segments; t += GROUP) {
        const airy_gather_segment s = segments[unit.first_segment + t];
        const ulong at = (ulong)frame * g.slots + s.slot;
        double all[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
        uint all_gone = 0u;
        for (uint i = s.first; i < (uint)s.first + s.count; i++) {
            for (uint k = 0u; k < 5u; k++)
                all[k] += columns[k * GROUP + i];
            all_gone += gone_of[i];
        }
        for (uint k = 0u; k < 5u; k++)
            scratch[g.kept + at * 5u + k] = all[k];
        words[g.gone + at] = all_gone;
    }
}

/*
 * A unit of the matrix for FRAMES frames.
 * Mapping: work-groups of GROUP items; a group takes FRAMES frames of a unit, groups of one unit
 *          follow each other, so that they find its entries in the cache. Local memory: AREA * 16
 *          + 4 bytes, at most 37 KB. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
gather_tiles(__global const airy_gather_unit *units, __global const ushort *places,
             __global const float *weight, __global const airy_gather_segment *segments,
             __global const uchar *valid, __global const float *coef, __global const float *norm,
             __global const float *dark, __global const float *variance, __global const T *frames,
             __global double *scratch, __global uint *words, const airy_gather_geom g)
{
    __local uint4 area[AREA];
    __local uint dirty_frames;
    __local VALUES *tile = (__local VALUES *)area;
    const uint item = get_local_id(0), steps = (g.frames + FRAMES - 1u) / FRAMES;
    const uint first = get_group_id(0) % steps * FRAMES;
    const airy_gather_unit unit = units[get_group_id(0) / steps];
    struct tally tally;
    double sums[SUMS * FRAMES];
    if (item == 0u)
        dirty_frames = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    bring_tile(tile, &tally, valid, frames, first, unit, g);
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++)
        if ((tally.counts[f] & 0xffffu) != 0u)
            atomic_or(&dirty_frames, 1u << f);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint dirty = dirty_frames;
    add_entries(sums, tile, places, weight, unit);
    barrier(CLK_LOCAL_MEM_FENCE);
    const struct parts parts = lay_out_parts(area);
#pragma unroll
    for (uint f = 0u; f < SUMS * FRAMES; f++)
        parts.sums[f * GROUP + item] = sums[f];
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        parts.totals[f * GROUP + item] = tally.total[f];
        parts.tops[f * GROUP + item] = tally.top[f];
        parts.counts[f * GROUP + item] = tally.counts[f];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    write_segments(scratch, words, segments, parts, first, dirty, unit, g);
    write_stats(scratch, words, parts, first, unit.tile, g);
    const struct fixed fixed = {coef, norm, dark, variance};
#pragma unroll 1
    for (uint f = 0u; f < FRAMES && first + f < g.frames; f++)
        if ((dirty >> f & 1u) != 0u)
            write_kept(scratch, words, area, places, weight, segments, fixed,
                       frames + frame_start(first + f, g), first + f, unit, g);
}

/* Items of a bin in gather_finish. */
#define FINISH 64u

/* columns[FINISH] become their sum in columns[0], in a fixed order. All items call it. */
static inline double add_columns(__local double *columns, double v)
{
    const uint item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    columns[item] = v;
    for (uint half_size = FINISH / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            columns[item] += columns[item + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return columns[0];
}

/* The tiles of a frame to struct airy_frame_stats, as doubles. */
static inline void finish_stats(__local double *columns, __global const double *scratch,
                                __global const uint *words, __global double *stats, uint frame,
                                uint word, const airy_gather_geom g)
{
    const uint item = get_local_id(0);
    double total = 0.0, top = -INFINITY;
    uint invalid = 0u, saturated = 0u;
    for (uint tile = item; tile < g.tiles && word == AIRY_STATUS_GOOD; tile += FINISH) {
        const ulong at = ((ulong)frame * g.tiles + tile) * 2u;
        total += scratch[g.stats + at];
        top = fmax(top, scratch[g.stats + at + 1u]);
        invalid += words[g.counts + at];
        saturated += words[g.counts + at + 1u];
    }
    total = add_columns(columns, total);
    /* Counts are below 2^32: exact. */
    const double all_invalid = add_columns(columns, (double)invalid);
    const double all_saturated = add_columns(columns, (double)saturated);
    barrier(CLK_LOCAL_MEM_FENCE);
    columns[item] = top;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item != 0u)
        return;
    for (uint i = 1u; i < FINISH; i++)
        top = fmax(top, columns[i]);
    __global double *out = stats + g.stats_offset + (ulong)frame * 4u;
    out[0] = total;
    out[1] = top == -INFINITY ? 0.0 : top;
    __global uint *tail = (__global uint *)(out + 2);
    tail[0] = (uint)all_invalid;
    tail[1] = (uint)all_saturated;
    tail[2] = word;
    tail[3] = 0u;
}

/*
 * The slots of each bin, in order, to the five planes, and the tiles to the statistics. base:
 * [5][bins] normalization, normalization2, count, dark, variance of a frame without invalid pixels;
 * slot_base: [slots][5] the slots' part in them; row: [bins + 1], the bins' slots. Azimuthal models
 * leave the variance to integrate_azimuth.cl.
 * Mapping: work-groups of FINISH items, in x a bin each and the statistics last, in y a frame.
 *          Local memory: FINISH * 8 bytes. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(FINISH, 1, 1))) void
gather_finish(__global const uint *row, __global const double *base,
              __global const double *slot_base, __global const uint *base_entries,
              __global const double *scratch, __global const uint *words,
              __global const uint *status, __global double *sums, __global double *stats,
              const airy_gather_geom g)
{
    __local double columns[FINISH];
    const uint item = get_local_id(0), bin = get_group_id(0), frame = get_group_id(1);
    const uint word = g.has_status != 0u ? status[g.status_offset + frame] : AIRY_STATUS_GOOD;
    if (bin == g.bins) {
        finish_stats(columns, scratch, words, stats, frame, word, g);
        return;
    }
    const ulong first = (ulong)frame * g.slots;
    double signal = 0.0, variance = 0.0;
    uint gone = 0u;
    for (uint slot = row[bin] + item; slot < row[bin + 1u]; slot += FINISH) {
        signal += scratch[first + slot];
        if (MODEL == 1)
            variance += scratch[g.variance + first + slot];
        gone += words[g.gone + first + slot];
    }
    signal = add_columns(columns, signal);
    if (MODEL == 1)
        variance = add_columns(columns, variance);
    const uint all_gone = (uint)add_columns(columns, (double)gone);
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    if (word != AIRY_STATUS_GOOD || all_gone == base_entries[bin]) {
        if (item < PLANES)
            out[(ulong)item * g.bins] = 0.0;
        return;
    }
    double fixed[5];
    for (uint k = 0u; k < 5u; k++) {
        if (all_gone == 0u) {
            fixed[k] = base[k * g.bins + bin];
            continue;
        }
        double sum = 0.0;
        for (uint slot = row[bin] + item; slot < row[bin + 1u]; slot += FINISH)
            sum += words[g.gone + first + slot] == 0u ? slot_base[(ulong)slot * 5u + k]
                                                      : scratch[g.kept + (first + slot) * 5u + k];
        fixed[k] = add_columns(columns, sum);
    }
    if (item != 0u)
        return;
    out[SIGNAL * g.bins] = signal - fixed[3];
    out[VARIANCE * g.bins] = fixed[4] + variance;
    out[NORMALIZATION * g.bins] = fixed[0];
    out[NORMALIZATION2 * g.bins] = fixed[1];
    out[COUNT * g.bins] = fixed[2];
}
