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

/* Build option: 1: labels are those of an image's pixels, 0: of the runs of words. */
#ifndef IMAGE
#define IMAGE 0
#endif

/*
 * Images lie side by side in what a launch works on, an image for each item of the second dimension.
 * So many nodes, words of `bits` and what follows them, turns, and parts of the answer has one.
 */
AIRY_INLINE uint image_of(const airy_label_geom *g)
{
    return g->image + (uint)get_global_id(1);
}

AIRY_INLINE size_t nodes_of(const airy_label_geom *g)
{
    return (size_t)g->total << g->shift;
}

AIRY_INLINE size_t words_of(const airy_label_geom *g)
{
    return 2u * (size_t)g->total + g->chunks + AIRY_LABEL_STATES;
}

AIRY_INLINE size_t turns_of(const airy_label_geom *g)
{
    return (size_t)4u * g->tiles_x * g->tiles_y;
}

AIRY_INLINE size_t answers_of(const airy_label_geom *g)
{
    return (size_t)(g->told + 1u) * (AIRY_LABEL_LINE / sizeof(airy_label_answer));
}

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

/* What the table of rows says of an image, by one item before measure_labels. */
AIRY_INLINE void airy_label_head(__global airy_label_row *rows, uint count)
{
    rows[0].count = count;
    rows[0].least_at[0] = rows[0].least_at[1] = 0ul;
}

/*
 * The end of a kernel, by the group of an image that is done last: what the table says of the image,
 * and what all its groups have written is there. ended: groups that are done, 0 before. All of a
 * group call.
 */
AIRY_INLINE void tell_end(__global airy_label_answer *answer, __global uint *ended,
                          __global airy_label_row *rows, uint turn)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) != 0u)
        return;
    AIRY_FENCE();
    if (atomic_inc(ended) + 1u != get_num_groups(0))
        return;
    AIRY_FENCE();
    answer->count = AIRY_LOOK((__global uint *)&rows[0].count);
    answer->left = AIRY_LOOK((__global uint *)&rows[0].least_at[0]);
    AIRY_TELL(&answer->turn, turn);
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
        atomic_max(&p->first[2], ~x);
        atomic_max(&p->last[2], x_last);
        if (nan != 0u)
            atomic_or(&p->nan, 1u);
    }
    const ulong least =
        join_min_64(t, numbers ? airy_label_key(as_ulong(e->least + 0.0)) : ULONG_MAX, ULONG_MAX);
    const ulong most = join_max_64(t, numbers ? airy_label_key(as_ulong(e->most + 0.0)) : 0ul, 0ul);
    if (t->adds && least <= most) {
        atom_max(&p->least, ~least);
        atom_max(&p->most, most);
    }
    const uint y = join_min(t, at->y, UINT_MAX), y_last = join_max(t, at->y, 0u);
    const ulong sum_x = join_sum_64(t, e->place, 0ul),
                sum_y = join_sum_64(t, (ulong)at->y * e->count, 0ul);
    if (t->adds) {
        atomic_max(&p->first[1], ~y);
        atomic_max(&p->last[1], y_last);
        add_64(&p->place[2], sum_x);
        add_64(&p->place[1], sum_y);
    }
    if (depth == 1u)
        return;
    const uint z = join_min(t, at->z, UINT_MAX), z_last = join_max(t, at->z, 0u);
    const ulong sum_z = join_sum_64(t, (ulong)at->z * e->count, 0ul);
    if (t->adds) {
        atomic_max(&p->first[0], ~z);
        atomic_max(&p->last[0], z_last);
        add_64(&p->place[0], sum_z);
    }
}

#ifdef AIRY_WARP
/* The sum of the places of bits. */
AIRY_INLINE uint sum_of_places(uint bits)
{
    return popcount(bits & 0xaaaaaaaau) + 2u * popcount(bits & 0xccccccccu) +
           4u * popcount(bits & 0xf0f0f0f0u) + 8u * popcount(bits & 0xff00ff00u) +
           16u * popcount(bits & 0xffff0000u);
}

/* Adds the pixels `mask` of a word that begins at `at`; least, most: keys of their extremes. */
AIRY_INLINE void add_mask(__global airy_label_part *p, uint depth, uint mask, uint nan, ulong least,
                          ulong most, const struct place *at)
{
    const uint count = popcount(mask);
    atomic_add(&p->count, count);
    atomic_max(&p->first[2], ~(at->x + lowest(mask)));
    atomic_max(&p->last[2], at->x + 31u - clz(mask));
    atomic_max(&p->first[1], ~at->y);
    atomic_max(&p->last[1], at->y);
    add_64(&p->place[2], (ulong)count * at->x + sum_of_places(mask));
    add_64(&p->place[1], (ulong)count * at->y);
    if (least <= most) {
        atom_max(&p->least, ~least);
        atom_max(&p->most, most);
    }
    if (nan != 0u)
        atomic_or(&p->nan, 1u);
    if (depth == 1u)
        return;
    atomic_max(&p->first[0], ~at->z);
    atomic_max(&p->last[0], at->z);
    add_64(&p->place[0], (ulong)count * at->z);
}

/*
 * Counts, boxes, places and extremes of a word, by 32 items that have a pixel each: its label, 0 for
 * none, and its value. Those with the label of the first one add up, as long as that saves anything.
 * All of a warp call.
 */
AIRY_INLINE void add_word(__global airy_label_part *parts, const airy_label_geom *g, uint label,
                          double v, const struct place *at)
{
    const uint lane = get_local_id(0) % 32u, nan = AIRY_BALLOT(isnan(v));
    const ulong key = airy_label_key(as_ulong(v + 0.0)); /* -0 as 0 */
    for (uint left = AIRY_BALLOT(label != 0u); left != 0u;) {
        const uint first = lowest(left), common = AIRY_SHUFFLE(label, first);
        const uint same = AIRY_BALLOT(label == common);
        if (popcount(same) <= 2)
            break;
        const bool counts = label == common && !isnan(v);
        ulong least = counts ? key : ULONG_MAX, most = counts ? key : 0ul;
        for (uint m = 1u; m < 32u; m *= 2u) {
            least = min(least, SHUFFLE_64(least, m));
            most = max(most, SHUFFLE_64(most, m));
        }
        if (lane == first)
            add_mask(parts + label, g->depth, same, nan & same, least, most, at);
        left &= ~same;
        label = label == common ? 0u : label;
    }
    if (label != 0u)
        add_mask(parts + label, g->depth, 1u << lane, nan & 1u << lane, isnan(v) ? ULONG_MAX : key,
                 isnan(v) ? 0ul : key, at);
}

/* Words of a warp, whose values are loaded in one go. */
#define SOME 4u
struct some_words {
    uint at[SOME], label[SOME]; /* which of 32, 32: none; of the item's pixel */
};

AIRY_INLINE void take_words(struct some_words *w, uint *left)
{
#pragma unroll
    for (uint k = 0u; k < SOME; k++) {
        w->at[k] = *left != 0u ? lowest(*left) : 32u;
        *left &= *left - 1u;
    }
}

/* base: the first word of the warp. All of a warp call. */
AIRY_INLINE void add_words(__global airy_label_part *parts, const airy_label_geom *g,
                           __global const T *src, uint base, const struct some_words *w)
{
    const uint lane = get_local_id(0) % 32u;
    T v[SOME];
#pragma unroll
    for (uint k = 0u; k < SOME; k++) {
        const struct place at = place_of(base + w->at[k], g);
        v[k] = (T)0;
        /* In an image's word that has any label, values do not wait for labels. */
        if (IMAGE ? w->at[k] < 32u && at.x + lane < g->width : w->label[k] != 0u)
            v[k] = src[element_of(&g->src, &at) + lane];
    }
#pragma unroll
    for (uint k = 0u; k < SOME; k++)
        if (w->at[k] < 32u) {
            const struct place at = place_of(base + w->at[k], g);
            add_word(parts, g, w->label[k], (double)v[k], &at);
        }
}
#endif

/*
 * The label of a word's pixel c. heads: the first bits of runs, of which `rank` came before; labels:
 * of these, or of the word's pixels; before: the label of the pixel that came last.
 */
AIRY_INLINE uint next_label(__global const uint *labels, uint heads, uint c, uint *rank,
                            uint before)
{
    if (IMAGE)
        return labels[c];
    return (heads >> c & 1u) != 0u ? labels[(*rank)++] : before;
}

/*
 * Counts, boxes, places and extremes of a word's pixels. heads, labels: as next_label has them. All
 * of a group call; bits 0: nothing.
 */
AIRY_INLINE void walk_extents(__global airy_label_part *parts, const airy_label_geom *g,
                              __global const T *from, uint bits, uint heads, struct place at,
                              __global const uint *labels, uint count)
{
    struct extent e = no_extent();
    uint rank = 0u, label = 0u;
    for (uint left = bits; left != 0u; left &= left - 1u) {
        const uint c = lowest(left);
        label = next_label(labels, heads, c, &rank, label);
        label = label - 1u < count ? label : 0u;
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
