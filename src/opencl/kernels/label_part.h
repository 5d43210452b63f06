/*
 * What label.cl and measure.cl share: bits of words, the table of measures, and the walk over a
 * word for all that a label is but its sums.
 *
 * A walk's item takes a word of 32 pixels. What it adds to a label are whole numbers, so no order
 * changes a bit, and items of a warp that end in the same label add up first.
 */
#ifndef AIRY_KERNELS_LABEL_PART_H
#define AIRY_KERNELS_LABEL_PART_H

#include "shared/label_geom.h"

AIRY_INLINE uint lowest(uint bits)
{
    return 31u - clz(bits & (0u - bits));
}

/* The first bits of the runs of a word. */
AIRY_INLINE uint heads_of(uint bits)
{
    return bits & ~(bits << 1);
}

/* Which run holds bit i. */
AIRY_INLINE uint rank_of(uint heads, uint i)
{
    return popcount(heads & ((2u << i) - 1u)) - 1u;
}

/* A word's place: row z * height + y, its first pixel's x. */
struct place {
    uint row, z, y, x;
};

AIRY_INLINE struct place place_of(uint word, const airy_label_geom *g)
{
    struct place p;
    p.row = word / g->words;
    p.x = (word - p.row * g->words) * 32u;
    p.z = g->depth > 1u ? p.row / g->height : 0u;
    p.y = p.row - p.z * g->height;
    return p;
}

AIRY_INLINE ulong element_of(const airy_label_rows *rows, const struct place *p)
{
    return rows->offset + p->z * rows->step_z + p->y * rows->step_y + p->x;
}

/* Word i of an empty entry: extremes, counts and sums, boxes, places of extremes. */
AIRY_INLINE ulong empty_word(uint i, uint depth)
{
    switch (i) {
    case 0u:  /* least */
    case 20u: /* first: y, x */
        return ULONG_MAX;
    case 19u: /* count, first: z */
        return depth == 1u ? 0ul : (ulong)UINT_MAX << 32;
    case 22u: /* last: x, least_at */
        return (ulong)UINT_MAX << 32;
    case 23u: /* most_at, nan */
        return UINT_MAX;
    default:
        return 0ul;
    }
}

/* Empty entries, by `items` items that take their words in turn. */
AIRY_INLINE void airy_label_clear(__global airy_label_part *parts, uint count, uint depth,
                                  size_t item, size_t items)
{
    const uint words = sizeof(airy_label_part) / sizeof(ulong);
    __global ulong *to = (__global ulong *)parts;
    for (size_t i = item; i < (size_t)count * words; i += items)
        to[i] = empty_word((uint)(i % words), depth);
}

#if defined(AIRY_FP64) && defined(AIRY_INT64_ATOMICS)

AIRY_INLINE void add_64(__global ulong *sum, ulong v)
{
#ifdef AIRY_ADD_64
    AIRY_ADD_64(sum, v);
#else
    atom_add(sum, v);
#endif
}

/*
 * How an item adds to the entry of its label: by itself, with what others of its warp have for the
 * same label, or not at all.
 */
struct team {
    bool together, member; /* together: of the warp, some add up first */
    bool alone, adds;
};

AIRY_INLINE struct team no_team(uint label)
{
    const struct team t = {false, false, label != 0u, label != 0u};
    return t;
}

/* The items that have the label of the first one with any add up. All of a group call. */
AIRY_INLINE struct team find_team(uint label)
{
    struct team t = no_team(label);
#ifdef AIRY_WARP
    const uint some = AIRY_BALLOT(label != 0u), first = some != 0u ? lowest(some) : 0u;
    const uint common = AIRY_SHUFFLE(label, first);
    const bool same = label != 0u && label == common;
    t.together = popcount(AIRY_BALLOT(same)) > 2;
    t.member = t.together && same;
    t.alone = label != 0u && !t.member;
    t.adds = t.alone || (t.member && get_local_id(0) % 32u == first);
#endif
    return t;
}

/* v, or what it comes to for the members of a team; none: what changes nothing. */
#ifdef AIRY_WARP
#define SHUFFLE_64(v, m)                                                                           \
    ((ulong)AIRY_SHUFFLE_XOR((uint)((v) >> 32), (m)) << 32 | AIRY_SHUFFLE_XOR((uint)(v), (m)))
#define DEFINE_JOIN(name, type, SHUFFLE, JOIN)                                                     \
    AIRY_INLINE type name(const struct team *t, type v, type none)                                 \
    {                                                                                              \
        type all = t->member ? v : none;                                                           \
        if (t->together)                                                                           \
            for (uint m = 1u; m < 32u; m *= 2u) {                                                  \
                const type other = SHUFFLE(all, m);                                                \
                all = JOIN(all, other);                                                            \
            }                                                                                      \
        return t->member ? all : v;                                                                \
    }
#else
#define DEFINE_JOIN(name, type, SHUFFLE, JOIN)                                                     \
    AIRY_INLINE type name(const struct team *t, type v, type none)                                 \
    {                                                                                              \
        (void)t;                                                                                   \
        (void)none;                                                                                \
        return v;                                                                                  \
    }
#endif
#define PLUS(a, b) ((a) + (b))
#define OR(a, b)   ((a) | (b))
DEFINE_JOIN(join_sum, uint, AIRY_SHUFFLE_XOR, PLUS)
DEFINE_JOIN(join_or, uint, AIRY_SHUFFLE_XOR, OR)
DEFINE_JOIN(join_min, uint, AIRY_SHUFFLE_XOR, min)
DEFINE_JOIN(join_max, uint, AIRY_SHUFFLE_XOR, max)
DEFINE_JOIN(join_sum_64, ulong, SHUFFLE_64, PLUS)
DEFINE_JOIN(join_min_64, ulong, SHUFFLE_64, min)
DEFINE_JOIN(join_max_64, ulong, SHUFFLE_64, max)

/* What is found of a label in a word. */
struct extent {
    uint label, count, first, last, nan;
    ulong place; /* sum of x */
    double least, most;
};

AIRY_INLINE struct extent no_extent(void)
{
    const struct extent e = {0u, 0u, UINT_MAX, 0u, 0u, 0ul, INFINITY, -INFINITY};
    return e;
}

AIRY_INLINE void add_extent(__global airy_label_part *parts, uint depth, const struct extent *e,
                            const struct place *at, const struct team *t)
{
    __global airy_label_part *p = parts + e->label;
    const bool numbers = e->least <= e->most; /* -0 as 0 */
    const uint count = join_sum(t, e->count, 0u), nan = join_or(t, e->nan, 0u);
    const uint x = join_min(t, e->first, UINT_MAX), x_last = join_max(t, e->last, 0u);
    if (t->adds) {
        atomic_add(&p->count, count);
        atomic_min(&p->first[2], x);
        atomic_max(&p->last[2], x_last);
        if (nan != 0u)
            atomic_or(&p->nan, 1u);
    }
    const ulong least =
        join_min_64(t, numbers ? airy_label_key(as_ulong(e->least + 0.0)) : ULONG_MAX, ULONG_MAX);
    const ulong most = join_max_64(t, numbers ? airy_label_key(as_ulong(e->most + 0.0)) : 0ul, 0ul);
    if (t->adds && least <= most) {
        atom_min(&p->least, least);
        atom_max(&p->most, most);
    }
    const uint y = join_min(t, at->y, UINT_MAX), y_last = join_max(t, at->y, 0u);
    const ulong sum_x = join_sum_64(t, e->place, 0ul),
                sum_y = join_sum_64(t, (ulong)at->y * e->count, 0ul);
    if (t->adds) {
        atomic_min(&p->first[1], y);
        atomic_max(&p->last[1], y_last);
        add_64(&p->place[2], sum_x);
        add_64(&p->place[1], sum_y);
    }
    if (depth == 1u)
        return;
    const uint z = join_min(t, at->z, UINT_MAX), z_last = join_max(t, at->z, 0u);
    const ulong sum_z = join_sum_64(t, (ulong)at->z * e->count, 0ul);
    if (t->adds) {
        atomic_min(&p->first[0], z);
        atomic_max(&p->last[0], z_last);
        add_64(&p->place[0], sum_z);
    }
}

/*
 * Counts, boxes, places and extremes of a word's pixels. labels: of its runs; heads: their first
 * bits. All of a group call; bits 0: nothing.
 */
AIRY_INLINE void walk_extents(__global airy_label_part *parts, const airy_label_geom *g,
                              __global const T *from, uint bits, uint heads, struct place at,
                              __global const uint *labels, uint count)
{
    struct extent e = no_extent();
    uint rank = 0u, label = 0u;
    for (uint left = bits; left != 0u; left &= left - 1u) {
        const uint c = lowest(left);
        if ((heads >> c & 1u) != 0u) {
            label = labels[rank++];
            label = label - 1u < count ? label : 0u;
        }
        if (label == 0u)
            continue;
        if (label != e.label) {
            const struct team alone = no_team(e.label);
            add_extent(parts, g->depth, &e, &at, &alone);
            e = no_extent();
            e.label = label;
        }
        const double v = (double)from[c];
        e.count++;
        e.first = min(e.first, at.x + c);
        e.last = at.x + c;
        e.place += at.x + c;
        e.least = v < e.least ? v : e.least;
        e.most = v > e.most ? v : e.most;
        e.nan |= isnan(v) ? 1u : 0u;
    }
    const struct team t = find_team(e.label);
    add_extent(parts, g->depth, &e, &at, &t);
}

#endif

#endif
