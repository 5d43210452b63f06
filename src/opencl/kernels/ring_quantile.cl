/*
 * The quantile filter of bins: which entries cover the part of a bin's weight that is kept.
 *
 * Entries are in the order of x and then of their numbers k. The two that the ends of the part fall
 * on are looked for by histograms of weights over ever smaller ranges, until what is in range fits a
 * list; in it, places are counted out. Weights are integers, so that neither order nor timing
 * matters. What lies between the ranges is kept in any case. ring_entry.h has the build options.
 */
#include "opencl/kernels/ring_entry.h"

/* x as a number whose order as an integer is the same. */
AIRY_INLINE long key_of(double x)
{
    const long b = as_long(x);
    return b ^ (b >> 63 & LONG_MAX);
}

AIRY_INLINE double of_key(long key)
{
    return as_double(key ^ (key >> 63 & LONG_MAX));
}

#define NO_KEY LONG_MAX

/*
 * Infinite x would make ranges without length, and tiny ones ranges whose length divides nothing;
 * -0 is 0.
 */
AIRY_INLINE double tame(double x)
{
    const double bound = clamp(x, -DBL_MAX, DBL_MAX);
    return fabs(bound) < 0x1p-900 ? 0.0 : bound;
}

AIRY_INLINE ulong weight_of(double omega, double scale)
{
    return (ulong)rint(fabs(omega) * scale);
}

/* Bring the item's entry number k; its key, NO_KEY where it is left out. */
AIRY_INLINE long bring_key(struct ring_entry *entry, __global const T *image,
                           const struct ring_table t, uint e, const airy_gather_geom g)
{
    const VALUE v = (VALUE)image[t.pixel[e]];
    *entry = load_entry(t, e, v);
    return is_invalid((T)v, g) ? NO_KEY : key_of(tame(entry->s / entry->omega));
}

/* An entry that is kept. */
AIRY_INLINE void keep_entry(struct ring_sums *sums, __global const T *image,
                            const struct ring_table t, uint e)
{
    const VALUE v = (VALUE)image[t.pixel[e]];
    const struct ring_entry entry = load_entry(t, e, v);
    add_entry(sums, entry, expected_variance(t, e, v), entry.s);
}

/* (s - omega mean)^2 of an entry that is kept. */
AIRY_INLINE double square_of(__global const T *image, const struct ring_table t, uint e,
                             double mean)
{
    const struct ring_entry entry = load_entry(t, e, (VALUE)image[t.pixel[e]]);
    const double d = fma(-mean, entry.omega, entry.s);
    return d * d;
}

#if ALONE

/* Where the entry k begins in the bin's weight: that of all entries before it. */
AIRY_INLINE ulong weight_before(__global const long *keys, const struct ring_table t,
                                const struct ring_own own, double scale, uint k)
{
    const long key = keys[own.first + k * RING_GROUP];
    ulong before = 0ul;
    for (uint j = 0u; j < own.count; j++) {
        const uint e = own.first + j * RING_GROUP;
        const long other = keys[e];
        const bool earlier = other < key || (other == key && j < k);
        before += earlier ? weight_of(omega_of(t, e), scale) : 0ul;
    }
    return before;
}

/* What is kept, or met, of a bin; with squares, those about the mean instead. */
AIRY_INLINE void sum_passing(struct ring_sums *kept, double *squares, __global const long *keys,
                             __global const T *image, const struct ring_table t,
                             const struct ring_own own, double scale, double lower, double upper,
                             bool met, double mean)
{
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const double a = (double)weight_before(keys, t, own, scale, k),
                     b = a + (double)weight_of(omega_of(t, e), scale);
        if (keys[e] == NO_KEY ||
            !(met ? airy_ring_meets(a, b, lower, upper) : airy_ring_keeps(a, b, lower, upper)))
            continue;
        if (squares)
            *squares += square_of(image, t, e, mean);
        else
            keep_entry(kept, image, t, e);
    }
}

/*
 * Mapping: work-groups of RING_GROUP items, a bin of a frame each; groups of the same bins follow
 *          each other. No local memory, no barrier.
 */
__kernel __attribute__((reqd_work_group_size(RING_GROUP, 1, 1))) void
ring_quantile(RING_ARGUMENTS(long))
{
    const uint frame = get_group_id(0) % g.gather.frames;
    const airy_ring_bin bin =
        bins[get_group_id(0) / g.gather.frames * RING_GROUP + get_local_id(0)];
    const struct ring_own own = own_entries(bin, frame_is_good(status, frame, g.gather));
    const struct ring_table t = RING_TABLE;
    __global const T *image = frames + frame_start(frame, g.gather);
    __global long *keys = scratch + frame * g.entries;
    struct ring_sums kept;
    ulong whole = 0ul;
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        struct ring_entry entry;
        keys[e] = bring_key(&entry, image, t, e, g.gather);
        whole += keys[e] != NO_KEY ? weight_of(entry.omega, bin.scale) : 0ul;
    }
    const double lower = g.rule.quantile[0] * (double)whole,
                 upper = g.rule.quantile[1] * (double)whole;
    double spread = 0.0;
    clear_sums(&kept);
    sum_passing(&kept, 0, keys, image, t, own, bin.scale, lower, upper, false, 0.0);
    const bool met = kept.entries == 0u && g.rule.compat == 0u;
    if (met)
        sum_passing(&kept, 0, keys, image, t, own, bin.scale, lower, upper, true, 0.0);
    if (LEAVES == 3 && kept.entries != 0u)
        sum_passing(&kept, &spread, keys, image, t, own, bin.scale, lower, upper, met,
                    kept.v[R_SIGNAL] / kept.v[R_OMEGA]);
    if (is_writer(bin))
        write_planes(sums, &kept, LEAVES == 3 ? spread : kept.v[R_EXPECTED], frame, bin.bin,
                     g.gather);
}

#elif defined(AIRY_INT64_ATOMICS)

#define BUCKETS RING_GROUP
#define ROWS    16u
#define COLUMNS (BUCKETS / ROWS)
#define LIST    RING_GROUP /* entries that a list takes */

/*
 * A sum of 64 bits in two words: words are what local atomics are fast on. It is whole when all
 * items have added theirs.
 */
AIRY_INLINE void add_words(__local uint *low, __local uint *high, ulong v)
{
    const uint before = atomic_add(low, (uint)v);
    const uint carry = before + (uint)v < before ? 1u : 0u, rest = (uint)(v >> 32) + carry;
    if (rest != 0u)
        atomic_add(high, rest);
}

/* What is looked for: 0 where the part that is kept begins, 1 where it ends. */
struct ring_finder {
    long lo[2], hi[2]; /* of the keys in range */
    ulong weight[2][LIST], row[2][ROWS], below[2];
    uint low[2][BUCKETS], high[2][BUCKETS]; /* weights by bucket, in words */
    uint whole_low, whole_high;             /* the weight of all */
    long key[2][LIST];
    uint number[2][LIST], sorted[2][LIST];
    uchar passes[2][LIST];  /* of those sorted: KEPT, MET */
    uint first[2], last[2]; /* of the numbers in range */
    uint members[2], listed[2], bucket[2];
};

/* Entries in range, and of these those in a bucket; the weight of all entries before. */
struct range {
    long lo, hi;
    uint first, last;
    double origin, scale; /* of buckets; scale 0: bucket 0 has all */
    bool by_number;       /* all keys are alike */
    uint bucket, members;
    ulong below;
    bool found; /* what is in range is listed */
};

AIRY_INLINE bool in_range(const struct range *r, long key, uint number)
{
    return key >= r->lo && key <= r->hi && number >= r->first && number <= r->last && key != NO_KEY;
}

/* Ascending in the order of entries, whatever is rounded. */
AIRY_INLINE uint bucket_of(const struct range *r, long key, uint number)
{
    const double at = r->by_number ? (double)number : 0.5 * of_key(key);
    return min((uint)((at - r->origin) * r->scale), BUCKETS - 1u);
}

/* What an item, or a warp of them, saw of a range. */
struct seen {
    long lo, hi;
    uint first, last, members;
};

#define NOTHING_SEEN                                                                               \
    {                                                                                              \
        LONG_MAX, LONG_MIN, ~0u, 0u, 0u                                                            \
    }

AIRY_INLINE void see(struct seen *seen, long key, uint number)
{
    seen->lo = min(seen->lo, key);
    seen->hi = max(seen->hi, key);
    seen->first = min(seen->first, number);
    seen->last = max(seen->last, number);
    seen->members++;
}

#ifdef AIRY_WARP
AIRY_INLINE long shuffle_long(long v, uint m)
{
    return as_long(shuffle_double(as_double(v), m));
}

AIRY_INLINE void see_lanes(struct seen *seen)
{
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
        seen->lo = min(seen->lo, shuffle_long(seen->lo, m));
        seen->hi = max(seen->hi, shuffle_long(seen->hi, m));
        seen->first = min(seen->first, AIRY_SHUFFLE_XOR(seen->first, m));
        seen->last = max(seen->last, AIRY_SHUFFLE_XOR(seen->last, m));
        seen->members += AIRY_SHUFFLE_XOR(seen->members, m);
    }
    if (get_local_id(0) % AIRY_WARP != 0u)
        seen->members = 0u; /* said once */
}
#else
AIRY_INLINE void see_lanes(struct seen *seen)
{
    (void)seen;
}
#endif

AIRY_INLINE void share_seen(__local struct ring_finder *f, uint side, struct seen *seen)
{
    see_lanes(seen);
    if (seen->members == 0u)
        return;
    atom_min(&f->lo[side], seen->lo);
    atom_max(&f->hi[side], seen->hi);
    atomic_min(&f->first[side], seen->first);
    atomic_max(&f->last[side], seen->last);
    atomic_add(&f->members[side], seen->members);
}

/* Forget what was seen of a side; items 0 and 1. */
AIRY_INLINE void clear_side(__local struct ring_finder *f, uint side)
{
    f->lo[side] = LONG_MAX;
    f->hi[side] = LONG_MIN;
    f->first[side] = ~0u;
    f->last[side] = f->members[side] = f->listed[side] = 0u;
}

AIRY_INLINE void list_entry(__local struct ring_finder *f, uint side, long key, uint number,
                            ulong weight)
{
    const uint at = atomic_inc(&f->listed[side]);
    if (at >= LIST)
        return;
    f->key[side][at] = key;
    f->number[side][at] = number;
    f->weight[side][at] = weight;
}

/* What is seen of a side becomes its range. */
AIRY_INLINE void narrow(struct range *r, __local const struct ring_finder *f, uint side,
                        bool listing)
{
    r->members = f->members[side];
    r->found = listing && r->members <= LIST;
    r->lo = f->lo[side];
    r->hi = f->hi[side];
    r->first = f->first[side];
    r->last = f->last[side];
    r->bucket = 0u;
    r->by_number = r->lo == r->hi;
    const double first = r->by_number ? (double)r->first : 0.5 * of_key(r->lo),
                 last = r->by_number ? (double)r->last : 0.5 * of_key(r->hi);
    r->origin = first;
    r->scale = r->members > LIST ? (double)BUCKETS / (last - first) : 0.0;
}

AIRY_INLINE ulong in_bucket(__local const struct ring_finder *f, uint side, uint bucket)
{
    return (ulong)f->high[side][bucket] << 32 | f->low[side][bucket];
}

/*
 * The bucket that an end of the part falls into: the first up to which there is so much weight; at
 * the upper end more, or the last one. from: whose histogram it is.
 */
AIRY_INLINE void choose(__local struct ring_finder *f, uint side, uint from, ulong below,
                        double end)
{
    const uint item = get_local_id(0);
    ulong before = below;
    for (uint row = 0u; row < item / COLUMNS; row++)
        before += f->row[from][row];
    for (uint i = item / COLUMNS * COLUMNS; i < item; i++)
        before += in_bucket(f, from, i);
    const double start = (double)before, stop = (double)(before + in_bucket(f, from, item));
    const bool first = item == 0u, last = item == BUCKETS - 1u;
    const bool here = side == 0u ? stop >= end && (first || start < end)
                                 : (stop > end && (first || start <= end)) || (last && stop <= end);
    if (!here)
        return;
    f->bucket[side] = item;
    f->below[side] = before;
}

#define KEPT 1u
#define MET  2u

/* The item's entry of a list to its place in their order, and whether it passes. */
AIRY_INLINE void sort_listed(__local struct ring_finder *f, uint side, const struct range *r,
                             double lower, double upper)
{
    const uint item = get_local_id(0);
    if (item >= r->members)
        return;
    const long key = f->key[side][item];
    const uint number = f->number[side][item];
    uint rank = 0u;
    ulong before = r->below;
    for (uint j = 0u; j < r->members; j++) {
        const long other = f->key[side][j];
        const bool earlier = other < key || (other == key && f->number[side][j] < number);
        rank += earlier ? 1u : 0u;
        before += earlier ? f->weight[side][j] : 0ul;
    }
    const double a = (double)before, b = (double)(before + f->weight[side][item]);
    f->sorted[side][rank] = number;
    f->passes[side][rank] = (uchar)((airy_ring_keeps(a, b, lower, upper) ? KEPT : 0u) |
                                    (airy_ring_meets(a, b, lower, upper) ? MET : 0u));
}

/* Behind all that is in range of one end, and before all in range of the other. */
AIRY_INLINE bool is_between(const struct range *r, long key, uint number)
{
    return key != NO_KEY && (key > r[0].hi || (key == r[0].hi && number > r[0].last)) &&
           (key < r[1].lo || (key == r[1].lo && number < r[1].first));
}

/* The item's entry of the sorted list of a side, if it passes; else ~0. */
AIRY_INLINE uint passing(__local const struct ring_finder *f, uint side, const struct range *r,
                         uint flag)
{
    const uint item = get_local_id(0);
    if (item >= r->members || (f->passes[side][item] & flag) == 0u)
        return ~0u;
    return f->sorted[side][item];
}

/* What a group walks: the entries of a bin of a frame, RING_GROUP side by side. */
struct ring_walk {
    struct ring_own own;
    struct ring_table t;
    __global const T *image;
    __global long *keys;
    double scale; /* of weights, as whole numbers */
};

#define EACH_ENTRY(w, walked)                                                                      \
    for (uint k = 0u, e = (w)->own.first, number = get_local_id(0);                                \
         k < (w)->own.count && (walked); k++, e += RING_GROUP, number += RING_GROUP)

/* Keys of all entries; the weight of the item's own. */
AIRY_INLINE ulong bring_keys(struct seen *seen, const struct ring_walk *w,
                             const airy_gather_geom gather)
{
    ulong weights = 0ul;
    AIRY_UNROLL(4)
    EACH_ENTRY(w, true)
    {
        struct ring_entry entry;
        const long key = bring_key(&entry, w->image, w->t, e, gather);
        w->keys[e] = key;
        if (key != NO_KEY) {
            see(seen, key, number);
            weights += weight_of(entry.omega, w->scale);
        }
    }
    return weights;
}

/* Weights by bucket, of the sides where more is in range than a list takes. */
AIRY_INLINE void weigh_buckets(__local struct ring_finder *f, const struct ring_walk *w,
                               const struct range *range, bool same)
{
    const uint item = get_local_id(0);
    for (uint side = 0u; side < 2u; side++)
        f->low[side][item] = f->high[side][item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool dense[2] = {range[0].members > LIST, !same && range[1].members > LIST};
    EACH_ENTRY(w, dense[0] || dense[1])
    {
        const long key = w->keys[e];
#pragma unroll
        for (uint side = 0u; side < 2u; side++)
            if (dense[side] && in_range(&range[side], key, number)) {
                const uint bucket = bucket_of(&range[side], key, number);
                add_words(&f->low[side][bucket], &f->high[side][bucket],
                          weight_of(omega_of(w->t, e), w->scale));
            }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 2u * ROWS) {
        ulong row = 0ul;
        for (uint i = 0u; i < COLUMNS; i++)
            row += in_bucket(f, item / ROWS, item % ROWS * COLUMNS + i);
        f->row[item / ROWS][item % ROWS] = row;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The bucket of each end, where there was a choice; whether they are still the same. */
AIRY_INLINE bool choose_buckets(__local struct ring_finder *f, struct range *range, bool same,
                                double lower, double upper)
{
    if (range[0].members > LIST)
        choose(f, 0u, 0u, range[0].below, lower);
    if (range[1].members > LIST)
        choose(f, 1u, same ? 0u : 1u, range[1].below, upper);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint side = 0u; side < 2u; side++)
        if (range[side].members > LIST) {
            range[side].bucket = f->bucket[side];
            range[side].below = f->below[side];
        }
    return same && range[0].bucket == range[1].bucket;
}

/* What is in the buckets of the sides that are not found yet becomes their range, and a list. */
AIRY_INLINE void list_buckets(__local struct ring_finder *f, const struct ring_walk *w,
                              struct range *range, bool same)
{
    const uint item = get_local_id(0);
    const struct seen nothing = NOTHING_SEEN;
    struct seen seen[2] = {nothing, nothing};
    if (item == 0u && !range[0].found)
        clear_side(f, 0u);
    if (item == 0u && !range[1].found)
        clear_side(f, 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool wanted[2] = {!range[0].found, !same && !range[1].found};
    EACH_ENTRY(w, true)
    {
        const long key = w->keys[e];
#pragma unroll
        for (uint side = 0u; side < 2u; side++)
            if (wanted[side] && in_range(&range[side], key, number) &&
                bucket_of(&range[side], key, number) == range[side].bucket) {
                see(&seen[side], key, number);
                list_entry(f, side, key, number, weight_of(omega_of(w->t, e), w->scale));
            }
    }
    share_seen(f, 0u, &seen[0]);
    share_seen(f, 1u, &seen[1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted[0])
        narrow(&range[0], f, 0u, true);
    if (wanted[1])
        narrow(&range[1], f, 1u, true);
    if (same)
        range[1] = range[0];
}

/* The item's share of what is kept, and of what an end meets. */
AIRY_INLINE void keep_entries(struct ring_sums *kept, struct ring_sums *met,
                              __local const struct ring_finder *f, const struct ring_walk *w,
                              const struct range *range, uint first, bool same)
{
    clear_sums(kept);
    clear_sums(met);
    EACH_ENTRY(w, !same)
    {
        if (is_between(range, w->keys[e], number))
            keep_entry(kept, w->image, w->t, e);
    }
#pragma unroll
    for (uint side = 0u; side < 2u; side++) {
        const uint kept_number = passing(f, side, &range[side], KEPT),
                   met_number = passing(f, side, &range[side], MET);
        if (kept_number != ~0u)
            keep_entry(kept, w->image, w->t, first + kept_number);
        if (met_number != ~0u)
            keep_entry(met, w->image, w->t, first + met_number);
    }
}

/* Its share of the squares about the mean, of those kept (flag KEPT) or met. */
AIRY_INLINE double spread_of(__local const struct ring_finder *f, const struct ring_walk *w,
                             const struct range *range, uint first, bool same, uint flag,
                             double mean)
{
    double spread = 0.0;
    EACH_ENTRY(w, !same && flag == KEPT)
    {
        if (is_between(range, w->keys[e], number))
            spread += square_of(w->image, w->t, e, mean);
    }
#pragma unroll
    for (uint side = 0u; side < 2u; side++) {
        const uint number = passing(f, side, &range[side], flag);
        if (number != ~0u)
            spread += square_of(w->image, w->t, first + number, mean);
    }
    return spread;
}

/*
 * Mapping: work-groups of RING_GROUP items; a group takes a bin of a frame, groups of one bin follow
 *          each other. Local memory: 18 KiB, elsewhere than on NVIDIA 16 KiB more. Barriers: of the
 *          work-group.
 */
__kernel __attribute__((reqd_work_group_size(RING_GROUP, 1, 1))) void
ring_quantile(RING_ARGUMENTS(long))
{
    __local struct ring_room room;
    __local struct ring_finder f;
    const uint item = get_local_id(0), frame = get_group_id(0) % g.gather.frames;
    const airy_ring_bin bin = bins[get_group_id(0) / g.gather.frames];
    const struct ring_walk w = {own_entries(bin, frame_is_good(status, frame, g.gather)),
                                RING_TABLE,
                                frames + frame_start(frame, g.gather),
                                scratch + frame * g.entries,
                                bin.scale};
    const struct seen nothing = NOTHING_SEEN;
    struct seen seen = nothing;
    struct range range[2];
    bool same = true; /* both ends are in one range: that of side 0 */
    if (item < 2u)
        clear_side(&f, item);
    if (item == 0u)
        f.whole_low = f.whole_high = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong weights = bring_keys(&seen, &w, g.gather);
    share_seen(&f, 0u, &seen);
    add_words(&f.whole_low, &f.whole_high, weights);
    barrier(CLK_LOCAL_MEM_FENCE);
    const double whole = (double)((ulong)f.whole_high << 32 | f.whole_low),
                 lower = g.rule.quantile[0] * whole, upper = g.rule.quantile[1] * whole;
    narrow(&range[0], &f, 0u, false);
    range[0].below = 0ul;
    range[1] = range[0];
    while (!(range[0].found && range[1].found)) {
        weigh_buckets(&f, &w, range, same);
        same = choose_buckets(&f, range, same, lower, upper);
        list_buckets(&f, &w, range, same);
    }
    if (same)
        range[1].members = 0u; /* they are in the list of side 0 */
    sort_listed(&f, 0u, &range[0], lower, upper);
    sort_listed(&f, 1u, &range[1], lower, upper);
    barrier(CLK_LOCAL_MEM_FENCE);
    struct ring_sums kept, met;
    keep_entries(&kept, &met, &f, &w, range, bin.first, same);
    group_ring_sums(&kept, &room);
    group_ring_sums(&met, &room);
    const bool none = kept.entries == 0u && g.rule.compat == 0u;
    if (none)
        kept = met;
    double spread = kept.v[R_EXPECTED];
    if (LEAVES == 3) {
        const double mean = kept.v[R_SIGNAL] / kept.v[R_OMEGA];
        spread = spread_of(&f, &w, range, bin.first, same, none ? MET : KEPT, mean);
        spread = group_ring_sum(spread, &room);
    }
    if (is_writer(bin))
        write_planes(sums, &kept, spread, frame, bin.bin, g.gather);
}

#endif
