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

/* What an item saw while it brought its pixels. */
struct tally {
    TOTAL total[FRAMES];
    TOP top[FRAMES];
    uint counts[FRAMES]; /* invalid, and saturated times 2^16 */
};

/* Rows of a tile that the group brings at a time, and how often it does so. */
#define ROWS   (GROUP / AIRY_GATHER_TILE_WIDTH)
#define ROUNDS (AIRY_GATHER_TILE_HEIGHT / ROWS)
/* Words of a tile's pixels that count. */
#define VALID_WORDS AIRY_GATHER_VALID_WORDS

AIRY_INLINE void count_pixel(struct tally *tally, uint f, VALUE v, bool invalid, bool saturated)
{
    tally->counts[f] += (invalid ? 1u : 0u) + (saturated ? 1u << 16 : 0u);
    tally->total[f] += invalid ? (TOTAL)0 : (TOTAL)v;
    tally->top[f] = MAX_TOP(tally->top[f], invalid ? NO_TOP : (TOP)v);
}

/*
 * Bring the tile, and which of its pixels count; what is outside the image is 0. All of it is on
 * its way before any is looked at.
 */
AIRY_INLINE void bring_tile(__local VALUE *tile, __local uint *valid_words,
                            __global const T *frames, __global const uint *valid, uint first,
                            const airy_gather_unit unit, const airy_gather_geom g)
{
    const uint number = tile_number(unit, g);
    const uint item = get_local_id(0), x = item % AIRY_GATHER_TILE_WIDTH;
    const uint top = item / AIRY_GATHER_TILE_WIDTH;
    const bool in_x = unit.x + x < g.width;
    __local VALUE *own = tile + top * AIRY_GATHER_PITCH + x;
    if (item < VALID_WORDS)
        AIRY_FETCH4(valid_words, item, valid + (ulong)number * VALID_WORDS + item, true);
#pragma unroll 1
    for (uint f = 0u; f < FRAMES; f++) {
        __global const T *from = frames + frame_start(first + f, g);
#pragma unroll
        for (uint r = 0u; r < ROUNDS; r++) {
            const uint y = unit.y + top + r * ROWS;
            const bool inside = in_x && y < g.height;
            const uint p = inside ? y * g.width + unit.x + x : 0u;
#ifdef T_IS_4_BYTES
            AIRY_FETCH4(own, f * PLACES + r * ROWS * AIRY_GATHER_PITCH, from + p, inside);
#else
            own[f * PLACES + r * ROWS * AIRY_GATHER_PITCH] = inside ? (VALUE)from[p] : (VALUE)0;
#endif
        }
        if (item == 0u)
            tile[f * PLACES + NOWHERE] = 0;
    }
}

/* Look at the pixels that the item has brought; invalid ones become 0. */
AIRY_INLINE void look_at_tile(__local VALUE *tile, __local const uint *valid_words,
                              struct tally *tally, const airy_gather_geom g)
{
    const uint item = get_local_id(0), x = item % AIRY_GATHER_TILE_WIDTH;
    const uint top = item / AIRY_GATHER_TILE_WIDTH;
    __local VALUE *own = tile + top * AIRY_GATHER_PITCH + x;
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        tally->total[f] = 0;
        tally->top[f] = NO_TOP;
        tally->counts[f] = 0u;
    }
    /* Not unrolled: the code is long enough to wait for. */
#pragma unroll 1
    for (uint r = 0u; r < ROUNDS; r++) {
        const uint word = valid_words[((top + r * ROWS) * AIRY_GATHER_TILE_WIDTH + x) / 32u];
        const bool valid = (word >> item % 32u & 1u) != 0u;
        VALUE v[FRAMES];
        bool odd = false;
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            v[f] = own[f * PLACES];
            odd = odd || is_odd((T)v[f], g);
        }
        if (odd) {
#pragma unroll
            for (uint f = 0u; f < FRAMES; f++) {
                const bool invalid = is_invalid((T)v[f], g);
                if (invalid)
                    own[f * PLACES] = 0;
                if (valid)
                    count_pixel(tally, f, v[f], invalid, is_saturated((T)v[f], g));
            }
        } else if (valid) {
#pragma unroll
            for (uint f = 0u; f < FRAMES; f++)
                count_pixel(tally, f, v[f], false, false);
        }
        own += ROWS * AIRY_GATHER_PITCH;
    }
}

/* Entries that are on their way while those before are added up. */
#define AHEAD 4u

struct entries {
    ushort place[AHEAD];
    float weight[AHEAD];
};

/* Entries k ... k + AHEAD - 1 of the item; behind the last there is nothing to add. */
AIRY_INLINE void load_entries(struct entries *entries, __global const ushort *places,
                              __global const float *weight, uint k, uint depth)
{
#pragma unroll
    for (uint i = 0u; i < AHEAD; i++) {
        const bool there = k + i < depth;
        entries->place[i] = there ? places[(k + i) * GROUP] : (ushort)NOWHERE;
        entries->weight[i] = there ? weight[(k + i) * GROUP] : 0.0f;
    }
}

/* Sums of the item's entries, of which the first are loaded; the next ones are. */
AIRY_INLINE void add_entries(double *sums, __local const VALUE *tile, struct entries *entries,
                             __global const ushort *places, __global const float *weight,
                             uint depth)
{
#pragma unroll
    for (uint f = 0u; f < SUMS * FRAMES; f++)
        sums[f] = 0.0;
    for (uint k = 0u; k < depth; k += AHEAD) {
        const struct entries now = *entries;
        load_entries(entries, places, weight, k + AHEAD, depth);
#pragma unroll
        for (uint i = 0u; i < AHEAD; i++) {
            const double w = now.weight[i];
            __local const VALUE *place = tile + now.place[i];
#pragma unroll
            for (uint f = 0u; f < FRAMES; f++) {
                const VALUE v = place[f * PLACES];
                sums[f] = fma(w, to_double(v), sums[f]);
                if (MODEL == 1)
                    sums[FRAMES + f] = fma(w * w, above_one(v), sums[FRAMES + f]);
            }
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
#define TILE_BYTES  (FRAMES * PLACES * sizeof(VALUE))
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
 *          + 260 bytes, at most 39 KB. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
gather_tiles(__global const airy_gather_unit *units, __global const ushort *places,
             __global const float *weight, __global const airy_gather_segment *segments,
             __global const uint *valid, __global const float *coef, __global const float *norm,
             __global const float *dark, __global const float *variance, __global const T *frames,
             __global double *scratch, __global uint *words, const airy_gather_geom g)
{
    __local uint4 area[AREA];
    __local uint valid_words[VALID_WORDS];
    __local uint dirty_frames;
    __local VALUE *tile = (__local VALUE *)area;
    const uint item = get_local_id(0), steps = (g.frames + FRAMES - 1u) / FRAMES;
    const uint first = get_group_id(0) % steps * FRAMES;
    const airy_gather_unit unit = units[get_group_id(0) / steps];
    struct tally tally;
    struct entries entries;
    double sums[SUMS * FRAMES];
    __global const ushort *own_places = places + unit.first_entry + item;
    __global const float *own_weight = weight + unit.first_entry + item;
    if (item == 0u)
        dirty_frames = 0u;
    bring_tile(tile, valid_words, frames, valid, first, unit, g);
    load_entries(&entries, own_places, own_weight, 0u, unit.depth);
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
    look_at_tile(tile, valid_words, &tally, g);
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++)
        if ((tally.counts[f] & 0xffffu) != 0u)
            atomic_or(&dirty_frames, 1u << f);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint dirty = dirty_frames;
    add_entries(sums, tile, &entries, own_places, own_weight, unit.depth);
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

/* Work-group of gather_finish; its items that share a bin are an option. */
#define FINISH 256u
#ifndef BIN_ITEMS
#define BIN_ITEMS 32u
#endif

/* Sums of items that share a bin, or of all: local memory of gather_finish. */
struct columns {
    __local double *first, *second; /* [FINISH] */
    __local uint *count;            /* [FINISH] */
};

/*
 * The first item of each `items` gets their sums, in a fixed order. All items of the group call it.
 */
static inline void add_columns(const struct columns c, uint items, double first, double second,
                               uint count)
{
    const uint item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); /* what was there may still be read */
    c.first[item] = first;
    c.second[item] = second;
    c.count[item] = count;
    for (uint half_size = items / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % items < half_size) {
            c.first[item] += c.first[item + half_size];
            c.second[item] += c.second[item + half_size];
            c.count[item] += c.count[item + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Tiles that an item of finish_stats takes at a time. */
#define STAT_ROUNDS 4u

/* The tiles of a frame to struct airy_frame_stats, as doubles. */
static inline void finish_stats(const struct columns c, __global const double *scratch,
                                __global const uint *words, __global double *stats, uint frame,
                                uint word, const airy_gather_geom g)
{
    const uint item = get_local_id(0), tiles = word == AIRY_STATUS_GOOD ? g.tiles : 0u;
    double total = 0.0, top = -INFINITY;
    uint invalid = 0u, saturated = 0u;
    for (uint tile = item; tile < tiles; tile += STAT_ROUNDS * FINISH) {
#pragma unroll
        for (uint r = 0u; r < STAT_ROUNDS; r++) {
            const uint t = tile + r * FINISH;
            const ulong at = ((ulong)frame * tiles + (t < tiles ? t : tile)) * 2u;
            const double sum = scratch[g.stats + at], most = scratch[g.stats + at + 1u];
            const uint bad = words[g.counts + at], over = words[g.counts + at + 1u];
            total += t < tiles ? sum : 0.0;
            top = fmax(top, most);
            invalid += t < tiles ? bad : 0u;
            saturated += t < tiles ? over : 0u;
        }
    }
    add_columns(c, FINISH, total, (double)saturated, invalid); /* counts are below 2^32: exact */
    const double all = c.first[0], all_saturated = c.second[0];
    const uint all_invalid = c.count[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    c.first[item] = top;
    for (uint half_size = FINISH / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            c.first[item] = fmax(c.first[item], c.first[item + half_size]);
    }
    if (item != 0u)
        return;
    __global double *out = stats + g.stats_offset + (ulong)frame * 4u;
    out[0] = all;
    out[1] = c.first[0] == -INFINITY ? 0.0 : c.first[0];
    __global uint *tail = (__global uint *)(out + 2);
    tail[0] = all_invalid;
    tail[1] = (uint)all_saturated;
    tail[2] = word;
    tail[3] = 0u;
}

/*
 * The slots of each bin, in order, to the five planes, and the tiles to the statistics. base:
 * [5][bins] normalization, normalization2, count, dark, variance of a frame without invalid pixels;
 * slot_base: [slots][5] the slots' part in them; row: [bins + 1], the bins' slots. Azimuthal models
 * leave the variance to integrate_azimuth.cl.
 * Mapping: work-groups of FINISH items, BIN_ITEMS a bin; in x the bins and a group for the
 *          statistics, in y a frame. Local memory: FINISH * 20 + 4 bytes. Barriers: of the
 *          work-group.
 */
__kernel __attribute__((reqd_work_group_size(FINISH, 1, 1))) void
gather_finish(__global const uint *row, __global const double *base,
              __global const double *slot_base, __global const uint *base_entries,
              __global const double *scratch, __global const uint *words,
              __global const uint *status, __global double *sums, __global double *stats,
              const airy_gather_geom g)
{
    __local double first_column[FINISH], second_column[FINISH];
    __local uint counts[FINISH], any_gone;
    const struct columns c = {first_column, second_column, counts};
    const uint item = get_local_id(0), lane = item % BIN_ITEMS, frame = get_global_id(1);
    const uint word = g.has_status != 0u ? status[g.status_offset + frame] : AIRY_STATUS_GOOD;
    const uint bin = get_group_id(0) * (FINISH / BIN_ITEMS) + item / BIN_ITEMS;
    if (get_group_id(0) == get_num_groups(0) - 1u) {
        finish_stats(c, scratch, words, stats, frame, word, g);
        return;
    }
    const bool there = bin < g.bins;
    const uint begin = there ? row[bin] : 0u, end = there ? row[bin + 1u] : 0u;
    const ulong first = (ulong)frame * g.slots;
    double signal = 0.0, variance = 0.0;
    uint gone = 0u;
    for (uint slot = begin + lane; slot < end; slot += BIN_ITEMS) {
        signal += scratch[first + slot];
        if (MODEL == 1)
            variance += scratch[g.variance + first + slot];
        gone += words[g.gone + first + slot];
    }
    if (item == 0u)
        any_gone = 0u;
    add_columns(c, BIN_ITEMS, signal, variance, gone);
    signal = c.first[item - lane];
    variance = c.second[item - lane];
    gone = c.count[item - lane];
    if (gone != 0u)
        any_gone = 1u;
    barrier(CLK_LOCAL_MEM_FENCE);
    double fixed[6];
    for (uint k = 0u; k < 5u; k++)
        fixed[k] = there ? base[k * g.bins + bin] : 0.0;
    if (any_gone != 0u) {
        for (uint k = 0u; k < 6u; k += 2u) {
            double one = 0.0, other = 0.0;
            for (uint slot = begin + lane; slot < end && gone != 0u; slot += BIN_ITEMS) {
                const bool whole = words[g.gone + first + slot] == 0u;
                __global const double *from = whole ? slot_base + (ulong)slot * 5u
                                                    : scratch + g.kept + (first + slot) * 5u;
                one += from[k];
                other += k + 1u < 5u ? from[k + 1u] : 0.0;
            }
            add_columns(c, BIN_ITEMS, one, other, 0u);
            if (gone != 0u) {
                fixed[k] = c.first[item - lane];
                fixed[k + 1u] = c.second[item - lane];
            }
        }
    }
    if (!there || lane != 0u)
        return;
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    const bool empty = word != AIRY_STATUS_GOOD || gone == base_entries[bin];
    out[SIGNAL * g.bins] = empty ? 0.0 : signal - fixed[3];
    out[VARIANCE * g.bins] = empty ? 0.0 : fixed[4] + variance;
    out[NORMALIZATION * g.bins] = empty ? 0.0 : fixed[0];
    out[NORMALIZATION2 * g.bins] = empty ? 0.0 : fixed[1];
    out[COUNT * g.bins] = empty ? 0.0 : fixed[2];
}
