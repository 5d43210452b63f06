/*
 * Measures of the labels of an image: one walk for counts, boxes, places and extremes, then sums,
 * which are scaled by what the first one found. Labels with small boxes are summed one by one, in a
 * fixed order; for others there is a second walk, in which all that items add to each other is whole
 * numbers, so that no order changes a bit.
 *
 * labels: with IMAGE those of all pixels, else of the runs of all words, 2^shift for each, from word
 * runs_at on. bits: of all words, which pixels have a label.
 *
 * Build options: T: type of the values; IMAGE; QUADS: rows of labels begin and end at multiples of 16
 * bytes. Mapping of the walks: an item a word of 32 pixels; groups of AIRY_LABEL_GROUP. No local
 * memory, but for measure_image.
 */
#ifndef T
#define T float
#endif
#ifndef IMAGE
#define IMAGE 1
#endif
#include "opencl/kernels/label_part.h"

#ifndef QUADS
#define QUADS 1
#endif

#define GROUP AIRY_LABEL_GROUP

#if defined(AIRY_FP64) && defined(AIRY_INT64_ATOMICS)

/* By constant places, as arguments that are looked up by others are copied by some compilers. */
AIRY_INLINE uint count_of(const airy_label_geom *g, uint image)
{
    uint count = 0u;
#pragma unroll
    for (uint i = 0u; i < AIRY_LABEL_IMAGES; i++)
        count = i == image ? g->counts[i] : count;
    return count;
}

#if IMAGE
#ifdef AIRY_WARP
/* A word's place among the labels, and above it its width. Arrays have fewer than 2^56 elements. */
AIRY_INLINE ulong pack_place(ulong element, uint width)
{
    return element | (ulong)width << 56;
}

AIRY_INLINE uint load_label(__global const uint *labels, ulong place, uint count)
{
    const uint lane = get_local_id(0) % 32u;
    const uint label = lane < (uint)(place >> 56) ? labels[(place & (ULONG_MAX >> 8)) + lane] : 0u;
    return label - 1u < count ? label : 0u;
}

/* Which of a warp's words are not all 0, by loads that are all on their way at once. */
AIRY_INLINE uint find_words(__global const uint *labels, __local const ulong *place)
{
    uint words = 0u;
#if QUADS
    const uint lane = get_local_id(0) % 32u;
    uint4 some[8];
#pragma unroll
    for (uint k = 0u; k < 8u; k++) { /* four words, by eight items each */
        const ulong at = place[4u * k + lane / 8u];
        const uint x = lane % 8u * 4u;
        some[k] = (uint4)(0u);
        if (x < (uint)(at >> 56))
            some[k] = *(__global const uint4 *)(labels + (at & (ULONG_MAX >> 8)) + x);
    }
#pragma unroll
    for (uint k = 0u; k < 8u; k++) {
        const uint any = AIRY_BALLOT(some[k].x | some[k].y | some[k].z | some[k].w);
        words |= ((any & 0xffu) != 0u ? 1u : 0u) << 4u * k |
                 ((any & 0xff00u) != 0u ? 2u : 0u) << 4u * k |
                 ((any & 0xff0000u) != 0u ? 4u : 0u) << 4u * k |
                 ((any & 0xff000000u) != 0u ? 8u : 0u) << 4u * k;
    }
#else
    uint label[32];
#pragma unroll
    for (uint k = 0u; k < 32u; k++)
        label[k] = load_label(labels, place[k], UINT_MAX);
#pragma unroll
    for (uint k = 0u; k < 32u; k++)
        words |= (AIRY_BALLOT(label[k]) != 0u ? 1u : 0u) << k;
#endif
    return words;
}

/* The bits of the item's word, and the first walk, by a warp for its 32 words. */
AIRY_INLINE uint walk_group(__global const T *src, __global const uint *labels,
                            __local const ulong *place, const airy_label_geom *g, uint count,
                            __global airy_label_part *parts)
{
    const uint lane = get_local_id(0) % 32u, base = (uint)get_global_id(0) - lane;
    uint bits = 0u;
    place += get_local_id(0) - lane;
    for (uint left = find_words(labels, place); left != 0u;) {
        struct some_words w;
        take_words(&w, &left);
#pragma unroll
        for (uint k = 0u; k < SOME; k++)
            w.label[k] = w.at[k] < 32u ? load_label(labels, place[w.at[k]], count) : 0u;
        add_words(parts, g, src, base, &w);
#pragma unroll
        for (uint k = 0u; k < SOME; k++) {
            const uint here = AIRY_BALLOT(w.label[k] != 0u);
            bits = lane == w.at[k] ? here : bits;
        }
    }
    return bits;
}
#endif

/* Bits of a label image, and the first walk. Local memory: 2 KiB. Barriers: 1. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_image(__global const T *src, __global const uint *labels, __global uint *bits,
              __global airy_label_part *parts, __global airy_label_row *rows,
              const airy_label_geom g)
{
    const uint word = (uint)get_global_id(0), image = image_of(&g), count = count_of(&g, image);
    const bool there = word < g.total;
    src += image * g.src_step;
    labels += image * g.labels_step;
    bits += image * words_of(&g);
    parts += image * (size_t)g.stride;
    if (word == 0u)
        airy_label_head(rows + image * (size_t)g.stride, count);
    const struct place at = place_of(there ? word : 0u, &g);
    const uint width = there ? min(32u, g.width - at.x) : 0u;
#ifdef AIRY_WARP
    __local ulong place[GROUP];
    place[get_local_id(0)] = pack_place(element_of(&g.labels, &at), width);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint here = walk_group(src, labels, place, &g, count, parts);
#else
    uint here = 0u;
    labels += element_of(&g.labels, &at);
    for (uint c = 0u; c < width; c++) /* negative ones are above all */
        here |= labels[c] - 1u < count ? 1u << c : 0u;
    walk_extents(parts, &g, src + element_of(&g.src, &at), here, 0u, at, labels, count);
#endif
    if (there)
        bits[word] = here;
}
#endif

/* From an image's labels to the next one's. */
AIRY_INLINE size_t labels_step(const airy_label_geom *g)
{
    return IMAGE ? (size_t)g->labels_step : 2u * nodes_of(g);
}

/* The labels of a word: of its pixels, or of its runs. */
AIRY_INLINE __global const uint *labels_of(__global const uint *labels, const airy_label_geom *g,
                                           uint word, const struct place *at)
{
    return labels + (IMAGE ? element_of(&g->labels, at) : ((ulong)g->runs_at + word) << g->shift);
}

#if !IMAGE
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_extents(__global const T *src, __global const uint *labels, __global const uint *bits,
                __global airy_label_part *parts, __global airy_label_row *rows,
                const airy_label_geom g)
{
    const uint word = (uint)get_global_id(0), image = image_of(&g), count = count_of(&g, image);
    src += image * g.src_step;
    labels += image * labels_step(&g);
    bits += image * words_of(&g);
    parts += image * (size_t)g.stride;
    const uint here = word < g.total ? bits[word] : 0u;
    if (word == 0u)
        airy_label_head(rows + image * (size_t)g.stride, count);
    const struct place at = place_of(here != 0u ? word : 0u, &g);
    walk_extents(parts, &g, src + element_of(&g.src, &at), here, heads_of(here), at,
                 labels_of(labels, &g, word, &at), count);
}
#endif

/* The smallest k with 2^k >= n, n >= 1. */
AIRY_INLINE int log2_above(uint n)
{
    return 32 - (int)clz(n - 1u);
}

/* k: -1022 to 1023. */
AIRY_INLINE double power_of_two(int k)
{
    return as_double((ulong)(1023 + k) << 52);
}

/* How a label's values and places are scaled, and its sums over a word's pixels. */
struct sums {
    double by, by_x, least, most; /* by: 0 where some value is not finite */
    uint label, first, least_at, most_at;
    double sum, x, xx;
};

AIRY_INLINE struct sums no_sums(void)
{
    const struct sums s = {0.0, 0.0, NAN, NAN, 0u, 0u, UINT_MAX, UINT_MAX, 0.0, 0.0, 0.0};
    return s;
}

/* What the first walk has found. */
struct entry {
    ulong least, most; /* most 0: NaN only */
    ulong place[3];
    uint count, nan, first[3], last[3];
};

AIRY_INLINE struct entry load_entry(__global const airy_label_part *p, uint depth)
{
    struct entry e;
    e.least = ~p->least;
    e.most = p->most;
    e.count = p->count;
    e.nan = p->nan;
    for (int i = 0; i < 3; i++) {
        e.place[i] = p->place[i];
        e.first[i] = ~p->first[i];
        e.last[i] = p->last[i];
    }
    e.first[0] = depth == 1u ? 0u : e.first[0];
    return e;
}

/* The power of two at or above the box's length along an axis. */
AIRY_INLINE int log2_length(const struct entry *e, int axis)
{
    return log2_above(e->last[axis] - e->first[axis] + 1u);
}

AIRY_INLINE struct sums start_sums(const struct entry *p, uint label)
{
    struct sums s = no_sums();
    if (p->most != 0ul) {
        s.least = as_double(airy_label_unkey(p->least));
        s.most = as_double(airy_label_unkey(p->most));
        const uint e = airy_label_exponent(p->least, p->most);
        /* 2^(1022 - e); of the two largest exponents that is below the normal numbers. */
        if (e < 2047u && p->nan == 0u)
            s.by = e < 2045u ? power_of_two(1022 - (int)e) : as_double(1ul << (2096u - e));
    }
    s.label = label;
    s.first = p->first[2];
    s.by_x = power_of_two(-log2_length(p, 2));
    return s;
}

/* v, in units that all items share, added in two words. */
AIRY_INLINE void add_wide(__global ulong *wide, double v, double unit, const struct team *t)
{
    const double scaled = v * unit, high = floor(scaled * 0x1p-32);
    const ulong a = join_sum_64(t, (ulong)(long)high, 0ul),
                b = join_sum_64(t, (ulong)rint(scaled - high * 0x1p32), 0ul);
    if (t->adds && (a | b) != 0ul) {
        add_64(&wide[0], a);
        add_64(&wide[1], b);
    }
}

AIRY_INLINE void add_sums(__global airy_label_part *parts, const struct sums *s,
                          const struct place *at, uint depth, const struct team *t)
{
    __global airy_label_part *p = parts + s->label;
    const uint least_at = join_min(t, s->least_at, UINT_MAX),
               most_at = join_min(t, s->most_at, UINT_MAX);
    if (t->adds && least_at != UINT_MAX)
        atomic_max(&p->least_at, ~least_at);
    if (t->adds && most_at != UINT_MAX)
        atomic_max(&p->most_at, ~most_at);
    double unit = 0.0, v = 0.0, w = 0.0; /* places in the box, y and z */
    if (s->by != 0.0) {
        const struct entry e = load_entry(p, depth);
        unit = power_of_two((int)airy_label_bits(e.count));
        v = (double)(at->y - e.first[1]) * power_of_two(-log2_length(&e, 1));
        w = (double)(at->z - e.first[0]) * power_of_two(-log2_length(&e, 0));
    }
    add_wide(p->wide[AIRY_LABEL_SUM], s->sum, unit, t);
    add_wide(p->wide[AIRY_LABEL_X], s->x, unit, t);
    add_wide(p->wide[AIRY_LABEL_Y], s->sum * v, unit, t);
    add_wide(p->wide[AIRY_LABEL_XX], s->xx, unit, t);
    add_wide(p->wide[AIRY_LABEL_YY], s->sum * v * v, unit, t);
    add_wide(p->wide[AIRY_LABEL_XY], s->x * v, unit, t);
    if (depth > 1u)
        add_wide(p->wide[AIRY_LABEL_Z], s->sum * w, unit, t);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_sums(__global const T *src, __global const uint *labels, __global const uint *bits,
             __global airy_label_part *parts, __global airy_label_row *rows,
             const airy_label_geom g)
{
    const uint image = image_of(&g);
    src += image * g.src_step;
    labels += image * labels_step(&g);
    bits += image * words_of(&g);
    parts += image * (size_t)g.stride;
    rows += image * (size_t)g.stride;
    const uint word = (uint)get_global_id(0), count = min((uint)rows[0].count, g.capacity),
               here = word < g.total ? bits[word] : 0u, heads = heads_of(here);
    uint rank = 0u, before = 0u, label = 0u;
    const struct place at = place_of(here != 0u ? word : 0u, &g);
    __global const T *from = src + element_of(&g.src, &at);
    labels = labels_of(labels, &g, word, &at);
    struct sums s = no_sums();
    for (uint left = here; left != 0u; left &= left - 1u) {
        const uint c = lowest(left), x = at.x + c, pixel = at.row * g.width + x;
        const uint next = next_label(labels, heads, c, &rank, before);
        if (next != before)
            label = next - 1u < count && parts[next].count > 0u ? next : 0u; /* else done */
        before = next;
        if (label == 0u)
            continue;
        if (label != s.label) {
            const struct team alone = no_team(s.label);
            if (s.label != 0u)
                add_sums(parts, &s, &at, g.depth, &alone);
            const struct entry e = load_entry(parts + label, g.depth);
            s = start_sums(&e, label);
        }
        const double v = (double)from[c];
        s.least_at = v == s.least ? min(s.least_at, pixel) : s.least_at;
        s.most_at = v == s.most ? min(s.most_at, pixel) : s.most_at;
        if (s.by != 0.0) {
            const double t = v * s.by, u = (double)(x - s.first) * s.by_x;
            s.sum += t;
            s.x += t * u;
            s.xx += t * u * u;
        }
    }
    const struct team t = find_team(s.label);
    add_sums(parts, &s, &at, g.depth, &t);
}

/* A sum of two words. */
AIRY_INLINE double wide_value(__global const ulong *wide)
{
    return (double)(long)(wide[0] + (wide[1] >> 32)) * 0x1p32 + (double)(wide[1] & UINT_MAX);
}

AIRY_INLINE void set_place(__global ulong *at, uint pixel, const airy_label_geom *g)
{
    const bool there = pixel != UINT_MAX; /* not of NaN only */
    at[0] = there ? pixel / g->width / g->height : 0ul;
    at[1] = there ? pixel / g->width % g->height : 0ul;
    at[2] = there ? pixel % g->width : 0ul;
}

/* v 2^k, |k| up to 2044. */
AIRY_INLINE double scale_by(double v, int k)
{
    return v * power_of_two(k >> 1) * power_of_two(k - (k >> 1));
}

/* Second moments and the ellipse of them, as airy_region_finish makes them. */
AIRY_INLINE void set_shape(__global airy_label_row *r, const double *s, double sum, const double *u,
                           const double *length)
{
    const double by = 1.0 / sum;
    const double mxx = length[2] * length[2] * (s[AIRY_LABEL_XX] * by - u[2] * u[2]),
                 myy = length[1] * length[1] * (s[AIRY_LABEL_YY] * by - u[1] * u[1]),
                 mxy = length[2] * length[1] * (s[AIRY_LABEL_XY] * by - u[2] * u[1]),
                 middle = 0.5 * (mxx + myy), reach = hypot(0.5 * (mxx - myy), mxy),
                 box = (double)(max(r->last[1] - r->first[1], r->last[2] - r->first[2]) + 1ul);
    const bool none = !(middle - reach >= -AIRY_LABEL_SLACK * box * box);
    r->mxx = as_ulong(mxx);
    r->myy = as_ulong(myy);
    r->mxy = as_ulong(mxy);
    r->a = as_ulong(none ? (double)NAN : sqrt(fmax(middle + reach, 0.0)));
    r->b = as_ulong(none ? (double)NAN : sqrt(fmax(middle - reach, 0.0)));
    r->theta = as_ulong(none ? (double)NAN : 0.5 * atan2(2.0 * mxy, mxx - myy));
}

/*
 * A label's row, so that the host has nothing to do but to copy it: what airy_region_finish does.
 * hypot and atan2 are within 4 and 6 ulp here. s: the sums, scaled by 2^(1022 - e).
 */
AIRY_INLINE void set_row(__global airy_label_row *r, const struct entry *p, const double *s,
                         uint least_at, uint most_at, const airy_label_geom *g)
{
    const uint n = p->count;
    const bool there = n > 0u, numbers = p->most != 0ul;
    const double least = numbers ? as_double(airy_label_unkey(p->least)) : (double)NAN,
                 most = numbers ? as_double(airy_label_unkey(p->most)) : (double)NAN;
    const bool sums = numbers && p->nan == 0u && isfinite(least) && isfinite(most);
    const int moments[3] = {AIRY_LABEL_Z, AIRY_LABEL_Y, AIRY_LABEL_X};
    const int exponent = sums ? (int)airy_label_exponent(p->least, p->most) - 1022 : 0;
    const double sum = sums                 ? s[AIRY_LABEL_SUM]
                       : !there             ? 0.0
                       : numbers && !p->nan ? least + most
                                            : (double)NAN;
    double u[3], length[3];
    r->count = n;
    r->sum = as_ulong(there ? scale_by(sum, exponent) : (double)NAN);
    r->mean = as_ulong(scale_by(sum / (double)n, exponent));
    r->least = as_ulong(least);
    r->most = as_ulong(most);
    set_place(r->least_at, numbers ? least_at : UINT_MAX, g);
    set_place(r->most_at, numbers ? most_at : UINT_MAX, g);
    for (int i = 0; i < 3; i++) {
        const uint first = there ? p->first[i] : 0u, last = there ? p->last[i] : 0u;
        length[i] = there ? power_of_two(log2_length(p, i)) : 1.0;
        u[i] = sums && sum != 0.0 ? s[moments[i]] / sum : (double)NAN;
        r->first[i] = first;
        r->last[i] = last;
        r->center[i] = as_ulong((double)first + length[i] * u[i]);
        r->centroid[i] = as_ulong((double)p->place[i] / (double)n);
    }
    if (sums) {
        set_shape(r, s, sum, u, length);
    } else {
        const ulong none = as_ulong((double)NAN);
        r->mxx = r->myy = r->mxy = r->a = r->b = r->theta = none;
    }
}

/* An entry becomes an empty one, by `items` items. */
AIRY_INLINE void empty_part(__global airy_label_part *part, uint item, uint items)
{
    __global ulong *words = (__global ulong *)part;
    for (uint i = item; i < sizeof(*part) / sizeof(ulong); i += items)
        words[i] = 0ul;
}

/* Rows of the sums in the table, which becomes empty. Mapping: an item a row. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_finish(__global airy_label_part *parts, __global airy_label_row *rows,
               const airy_label_geom g)
{
    parts += image_of(&g) * (size_t)g.stride;
    rows += image_of(&g) * (size_t)g.stride;
    const uint label = (uint)get_global_id(0), count = (uint)rows[0].count;
    if (label == 0u || label > count ||
        (parts[label].count == 0u && rows[0].least_at[0] != count)) /* done, unless all are left */
        return;
    __global airy_label_part *p = parts + label;
    const struct entry e = load_entry(p, g.depth);
    const double unit = power_of_two(-(int)airy_label_bits(e.count));
    double s[AIRY_LABEL_SUMS];
    for (int i = 0; i < AIRY_LABEL_SUMS; i++)
        s[i] = wide_value(p->wide[i]) * unit;
    set_row(rows + label, &e, s, ~p->least_at, ~p->most_at, &g);
    empty_part(p, 0u, 1u);
}

/*
 * Which pixels of a word may have the label: those of its runs that have it, or all from column
 * `first` to `last`.
 */
AIRY_INLINE uint bits_of_label(__global const uint *labels, __global const uint *bits, uint label,
                               uint word, uint first, uint last)
{
    if (IMAGE)
        return 0xffffffffu << first & 0xffffffffu >> (31u - last);
    const uint here = bits[word];
    uint heads = heads_of(here), mask = 0u;
    for (uint rank = 0u; heads != 0u; heads &= heads - 1u) {
        const uint rest = heads & (heads - 1u);
        if (labels[rank++] == label) /* up to the next one, or to the end */
            mask |= here & ((rest & (0u - rest)) - (heads & (0u - heads)));
    }
    return mask;
}

#define EACH 8u /* pixels that are loaded in one go */

/*
 * Sums of a label over the pixels of a word, and the first places of its extremes. mask: which
 * pixels; of these with IMAGE only those that have the label.
 */
AIRY_INLINE void sum_word(double *sums, struct sums *s, __global const T *from,
                          __global const uint *labels, uint mask, uint x, uint pixel, double v,
                          double w)
{
    s->sum = s->x = s->xx = 0.0;
    while (mask != 0u) {
        uint at[EACH], label[EACH];
        T value[EACH];
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            at[k] = mask != 0u ? lowest(mask) : 32u;
            mask &= mask - 1u;
        }
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            label[k] = at[k] == 32u ? 0u : IMAGE ? labels[at[k]] : s->label;
            value[k] = at[k] < 32u ? from[at[k]] : (T)0;
        }
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            const double i = (double)value[k], t = i * s->by,
                         u = (double)(x + at[k] - s->first) * s->by_x;
            if (label[k] != s->label)
                continue;
            s->least_at = i == s->least ? min(s->least_at, pixel + at[k]) : s->least_at;
            s->most_at = i == s->most ? min(s->most_at, pixel + at[k]) : s->most_at;
            s->sum += t;
            s->x += t * u;
            s->xx += t * u * u;
        }
    }
    sums[AIRY_LABEL_SUM] += s->sum;
    sums[AIRY_LABEL_Z] += s->sum * w;
    sums[AIRY_LABEL_Y] += s->sum * v;
    sums[AIRY_LABEL_X] += s->x;
    sums[AIRY_LABEL_XX] += s->xx;
    sums[AIRY_LABEL_YY] += s->sum * v * v;
    sums[AIRY_LABEL_XY] += s->x * v;
}

#ifdef AIRY_WARP
#define LANES 32u
#else
#define LANES 1u
#endif

/* A row to its place in the answer, by LANES items side by side. */
AIRY_INLINE void tell_row(__global airy_label_answer *answer, __global const airy_label_row *rows,
                          uint label, uint lane)
{
    __global const ulong *from = (__global const ulong *)(rows + label);
    __global ulong *to = (__global ulong *)answer + label * (AIRY_LABEL_LINE / sizeof(ulong));
    for (uint i = lane; i < sizeof(*rows) / sizeof(ulong); i += LANES)
        to[i] = from[i];
}

/*
 * Sums and rows of labels with a box of few words, whose pixels are looked up in the box: LANES items
 * a label take words in turn and add up in a fixed order; the label's entry becomes empty. Row 0
 * counts the other labels, which are left to measure_sums and measure_finish: all, if there are many.
 * The first rows are told to the host, too.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_labels(__global const T *src, __global const uint *labels, __global const uint *bits,
               __global airy_label_part *parts, __global airy_label_row *rows,
               __global airy_label_answer *answer, const airy_label_geom g)
{
    const uint image = image_of(&g);
    src += image * g.src_step;
    labels += image * labels_step(&g);
    bits += image * words_of(&g);
    parts += image * (size_t)g.stride;
    rows += image * (size_t)g.stride;
    answer += image * answers_of(&g);
    __global uint *left = (__global uint *)&rows[0].least_at[0],
                  *ended = (__global uint *)&rows[0].least_at[1];
    const uint count = (uint)rows[0].count,
               last = count <= min(g.capacity, AIRY_LABEL_MANY) ? count : 0u,
               lane = get_local_id(0) % LANES, teams = (uint)get_global_size(0) / LANES;
    for (uint label = (uint)get_global_id(0) / LANES + 1u; label <= g.capacity; label += teams) {
        const struct entry e = load_entry(parts + label, g.depth); /* on its way with the count */
        if (label > last)
            break;
        const uint k0 = e.first[2] / 32u, across = e.last[2] / 32u - k0 + 1u,
                   down = e.last[1] - e.first[1] + 1u, deep = e.last[0] - e.first[0] + 1u;
        const uint words = e.count > 0u ? across * down * deep : 0u;
        if (words > AIRY_LABEL_FEW || words / 4u > 4u + e.count) {
            if (lane == 0u)
                atomic_inc(left);
            continue;
        }
        struct sums s = no_sums();
        double sums[AIRY_LABEL_SUMS] = {0.0}, by_y = 0.0, by_z = 0.0;
        if (words > 0u) {
            s = start_sums(&e, label);
            by_y = power_of_two(-log2_length(&e, 1));
            by_z = power_of_two(-log2_length(&e, 0));
        }
        for (uint i = lane; i < words; i += LANES) {
            const uint k = i % across, row = i / across, y = row % down, z = row / down;
            struct place at = {0u, e.first[0] + z, e.first[1] + y, (k0 + k) * 32u};
            at.row = at.z * g.height + at.y;
            const uint word = at.row * g.words + k0 + k;
            __global const uint *own = labels_of(labels, &g, word, &at);
            const uint mask = bits_of_label(own, bits, label, word, max(e.first[2], at.x) - at.x,
                                            min(e.last[2] - at.x, 31u));
            sum_word(sums, &s, src + element_of(&g.src, &at), own, mask, at.x,
                     at.row * g.width + at.x, (double)y * by_y, (double)z * by_z);
        }
#ifdef AIRY_WARP
        for (uint m = 1u; m < 32u; m *= 2u) {
#pragma unroll
            for (int i = 0; i < AIRY_LABEL_SUMS; i++)
                sums[i] += as_double(SHUFFLE_64(as_ulong(sums[i]), m));
            s.least_at = min(s.least_at, AIRY_SHUFFLE_XOR(s.least_at, m));
            s.most_at = min(s.most_at, AIRY_SHUFFLE_XOR(s.most_at, m));
        }
#endif
        if (lane == 0u)
            set_row(rows + label, &e, sums, s.least_at, s.most_at, &g);
#ifdef AIRY_WARP
        AIRY_WARP_SYNC(); /* the row is made of the entry, and then told by all */
#endif
        empty_part(parts + label, lane, LANES);
        if (label <= g.told)
            tell_row(answer, rows, label, lane);
    }
    if (last == 0u && get_global_id(0) == 0u)
        (void)atomic_xchg(left, count);
    tell_end(answer, ended, rows, g.turn);
}

#endif
