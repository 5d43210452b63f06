/*
 * Backgrounds: statistics of meshes, and maps of splines through them.
 *
 * Build options of background_mesh: T: type of the pixels; HAS_MASK; ITEMS: items of a work-group,
 * a power of two from 32 to 256; EACH: pixels that an item keeps, 0: they are read again each time;
 * KEPT: the type it keeps them in, which holds them exactly.
 * Of background_map: TD, TS, TN: types of dst, src, noise; HAS_DST, HAS_SRC, HAS_NOISE; REAL: type
 * of the arithmetic with pixels; REAL4: four of them.
 */
#include "shared/background_geom.h"

#ifndef T
#define T float
#endif
#ifndef HAS_MASK
#define HAS_MASK 0
#endif
#ifndef ITEMS
#define ITEMS 256
#endif
#ifndef EACH
#define EACH 16
#endif
#ifndef KEPT
#define KEPT float
#endif
#ifndef TD
#define TD        float
#define TS        float
#define TN        float
#define HAS_DST   1
#define HAS_SRC   1
#define HAS_NOISE 1
#define REAL      float
#define REAL4     float4
#endif

#ifdef AIRY_FP64

#define LEVELS AIRY_BACKGROUND_LEVELS
/* Bins of an item; a word more for each of them, so that items meet in no bank of local memory. */
#define BINS        (LEVELS / ITEMS)
#define WORD(i)     ((uint)(i) + (uint)(i) / BINS)
#define COUNT_WORDS (LEVELS + ITEMS)

/* A mesh, and an item's place in it. */
typedef struct mesh {
    uint y, x, height, width, count;
} mesh;

typedef struct walk {
    uint y, x, down, right;
} walk;

AIRY_INLINE walk walk_begin(const mesh *m)
{
    const uint i = get_local_id(0);
    const walk w = {i / m->width, i % m->width, ITEMS / m->width, ITEMS % m->width};
    return w;
}

AIRY_INLINE void walk_on(walk *w, const mesh *m)
{
    w->x += w->right;
    w->y += w->down;
    if (w->x >= m->width) {
        w->x -= m->width;
        w->y++;
    }
}

/* NaN: the pixel is left out. */
AIRY_INLINE double pixel(__global const T *src, __global const uchar *mask,
                         const airy_background_geom *g, const mesh *m, const walk *w)
{
    (void)mask;
    if (w->y >= m->height)
        return NAN;
    const ulong y = m->y + w->y, x = m->x + w->x;
#if HAS_MASK
    if (mask[g->mask_offset + y * g->mask_pitch + x] != 0)
        return NAN;
#endif
    double v = (double)src[g->src_offset + y * g->src_pitch + x];
    if (g->compat != 0u)
        v = (double)(float)v;
    return fabs(v) <= AIRY_BACKGROUND_LARGEST ? v : NAN;
}

/* All pixels of an item, one after the other, as x. */
#if EACH
#define FOR_PIXELS(x)                                                                              \
    _Pragma("unroll") for (uint k = 0u; k < EACH; k++)                                             \
    {                                                                                              \
        const double x = (double)kept[k];
#define END_PIXELS }
#else
#define FOR_PIXELS(x)                                                                              \
    for (walk w = walk_begin(&m); w.y < m.height; walk_on(&w, &m)) {                               \
        const double x = pixel(src, mask, &g, &m, &w);
#define END_PIXELS }
#endif

typedef struct moments {
    double sum, squares, min, max, count;
} moments;

AIRY_INLINE void add_pixel(moments *s, double x, double pivot, double lo, double hi)
{
    const bool in = x >= lo && x <= hi;
    const double d = in ? x - pivot : 0.0;
    s->sum += d;
    s->squares += d * d;
    s->count += in ? 1.0 : 0.0;
    s->min = in ? fmin(s->min, x) : s->min;
    s->max = in ? fmax(s->max, x) : s->max;
}

/* Over the group, in a fixed order; room: 5 x ITEMS. */
AIRY_INLINE void sum_moments(moments *s, __local double *room)
{
    const uint i = get_local_id(0);
    room[i] = s->sum;
    room[ITEMS + i] = s->squares;
    room[2 * ITEMS + i] = s->min;
    room[3 * ITEMS + i] = s->max;
    room[4 * ITEMS + i] = s->count;
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step) {
            room[i] += room[i + step];
            room[ITEMS + i] += room[ITEMS + i + step];
            room[2 * ITEMS + i] = fmin(room[2 * ITEMS + i], room[2 * ITEMS + i + step]);
            room[3 * ITEMS + i] = fmax(room[3 * ITEMS + i], room[3 * ITEMS + i + step]);
            room[4 * ITEMS + i] += room[4 * ITEMS + i + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    s->sum = room[0];
    s->squares = room[ITEMS];
    s->min = room[2 * ITEMS];
    s->max = room[3 * ITEMS];
    s->count = room[4 * ITEMS];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The first of the items' values that is one; NaN: there is none. */
AIRY_INLINE double first_of(double v, __local double *room)
{
    const uint i = get_local_id(0);
    room[i] = v;
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step && isnan(room[i]))
            room[i] = room[i + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double first = room[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return first;
}

AIRY_INLINE double deviation(const moments *s)
{
    const double mean = s->sum / s->count, variance = s->squares / s->count - mean * mean;
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

/* Sums before an item's bins. */
typedef struct before {
    ulong first, second; /* of i and i^2 */
} before;

/* Counts become running counts, and `sums` the sums of i and i^2 before each item's bins. */
AIRY_INLINE void sum_bins(__local uint *counts, __local ulong *sums, __local uint *all)
{
    const uint i = get_local_id(0), at = i * BINS;
    ulong first = 0ul, second = 0ul;
    uint plain = 0u;
    for (uint k = 0u; k < BINS; k++) {
        const ulong c = counts[WORD(at + k)], bin = at + k;
        plain += (uint)c;
        first += c * bin;
        second += c * bin * bin;
    }
    const uint own = plain;
    const ulong own_first = first, own_second = second;
    for (uint step = 1u; step < ITEMS; step *= 2u) { /* inclusive sums over the items */
        all[i] = plain;
        sums[i] = first;
        sums[ITEMS + 1 + i] = second;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i >= step) {
            plain += all[i - step];
            first += sums[i - step];
            second += sums[ITEMS + 1 + i - step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sums[i] = first - own_first;
    sums[ITEMS + 1 + i] = second - own_second;
    if (i == ITEMS - 1) {
        sums[ITEMS] = first;
        sums[2 * ITEMS + 1] = second;
    }
    uint upto = plain - own;
    for (uint k = 0u; k < BINS; k++) {
        upto += counts[WORD(at + k)];
        counts[WORD(at + k)] = upto;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Pixels in bins below i. */
AIRY_INLINE uint count_below(__local const uint *upto, int i)
{
    return i > 0 ? upto[WORD(i - 1)] : 0u;
}

AIRY_INLINE before sum_below(__local const uint *upto, __local const ulong *sums, int i)
{
    const int group = i / BINS;
    before b = {sums[group], sums[ITEMS + 1 + group]};
    uint last = count_below(upto, group * BINS);
    for (int k = group * BINS; k < i; k++) {
        const uint next = upto[WORD(k)];
        b.first += (ulong)(next - last) * (ulong)k;
        b.second += (ulong)(next - last) * (ulong)k * (ulong)k;
        last = next;
    }
    return b;
}

AIRY_INLINE airy_background_pass look(__local const uint *upto, __local const ulong *sums, int lo,
                                      int hi)
{
    const uint start = count_below(upto, lo), all = count_below(upto, hi + 1) - start;
    int k = lo, end = hi;
    while (k < end) { /* the first k that airy_background_meet asks for */
        const int mid = k + (end - k) / 2;
        const ulong below = count_below(upto, mid) - start,
                    past = count_below(upto, mid + 2) - start;
        if (below + past >= all)
            end = mid;
        else
            k = mid + 1;
    }
    const int split = airy_background_meet(k, count_below(upto, k) - start,
                                           count_below(upto, k + 1) - start, all);
    const before low = sum_below(upto, sums, lo), high = sum_below(upto, sums, hi + 1);
    const uint through = count_below(upto, split + 1);
    airy_background_pass p = {
        high.first - low.first, high.second - low.second, all, through - start, 0u, 0u, split, 0u};
    p.at = split >= 0 ? through - count_below(upto, split) : 0u;
    p.next = split + 2 <= LEVELS ? count_below(upto, split + 2) - through : 0u;
    return p;
}

/*
 * Mapping: a work-group a mesh, in raster order; out: level, then noise of each, NaN of a bad one.
 * Local memory: 17 KiB of counts, the room for sums at the same place before, and 5 KiB.
 */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
background_mesh(__global const T *src, __global const uchar *mask, __global double *out,
                const airy_background_geom g)
{
    __local double room[(COUNT_WORDS + 1) / 2];
    __local ulong sums[2 * (ITEMS + 1)];
    __local uint all[ITEMS];
    __local airy_background_clip next; /* what item 0 has found */
    __local int next_crowd;
    __local uint *counts = (__local uint *)room;
    const uint index = get_group_id(0), nodes = g.nodes_y * g.nodes_x;
    mesh m = {index / g.nodes_x * g.mesh_y, index % g.nodes_x * g.mesh_x, 0u, 0u, 0u};
    m.height = min(g.mesh_y, g.height - m.y);
    m.width = min(g.mesh_x, g.width - m.x);
    double first = NAN;
#if EACH
    KEPT kept[EACH];
    walk place = walk_begin(&m);
    _Pragma("unroll") for (uint k = 0u; k < EACH; k++)
    {
        kept[k] = (KEPT)pixel(src, mask, &g, &m, &place);
        walk_on(&place, &m);
    }
#endif
    FOR_PIXELS(x)
    first = isnan(first) ? x : first;
    END_PIXELS
    const double pivot = first_of(first, room);
    moments s = {0.0, 0.0, INFINITY, -INFINITY, 0.0};
    FOR_PIXELS(x)
    add_pixel(&s, x, pivot, -AIRY_BACKGROUND_LARGEST, AIRY_BACKGROUND_LARGEST);
    END_PIXELS
    sum_moments(&s, room);
    /* From here on `good`, and then b.levels, say what there is: all items meet at all barriers. */
    const bool good = 2.0 * s.count >= (double)(m.height * m.width), alike = !(s.min < s.max);
    double middle = pivot + s.sum / s.count, mean = middle;
    double lo = -AIRY_BACKGROUND_LARGEST, hi = AIRY_BACKGROUND_LARGEST;
    if (good && !alike)
        airy_background_cuts(&lo, &hi, middle, deviation(&s), g.compat);
    const moments none = {0.0, 0.0, INFINITY, -INFINITY, 0.0};
    airy_background_bins b = {0.0, 1.0, 1.0, NAN, 0u, 0u};
    airy_background_clip clip = airy_background_clip_begin(0u);
    double before = INFINITY;
    int crowd = -1;
    for (uint round = 0u; round < AIRY_BACKGROUND_ROUNDS; round++) {
        uint sums_left = AIRY_BACKGROUND_SUMS;
        do {
            middle = mean;
            s = none;
            FOR_PIXELS(x)
            add_pixel(&s, x, middle, lo, hi);
            END_PIXELS
            sum_moments(&s, room);
            mean = middle + s.sum / s.count;
            sums_left--;
        } while (good && sums_left > 0u &&
                 airy_background_sums_again(middle, mean, deviation(&s), s.min, s.max));
        if (s.count == 0.0 || s.count >= before) /* what was found before stays */
            break;
        before = s.count;
        if (good)
            b = airy_background_plan((uint)s.count, mean, deviation(&s), s.min, s.max, g.compat);
        for (uint i = get_local_id(0); i < COUNT_WORDS; i += ITEMS)
            counts[i] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        const float shift = airy_background_shift(b);
        FOR_PIXELS(x)
        const int bin = g.compat != 0u ? airy_background_bin_compat(x, b, shift)
                                       : airy_background_bin(x, b);
        if (bin >= 0)
            atomic_inc(&counts[WORD(bin)]);
        END_PIXELS
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_bins(counts, sums, all);
        if (get_local_id(0) == 0u) {
            clip = airy_background_clip_begin(b.levels);
            next_crowd = -1;
            while (b.levels != 0u && airy_background_clip_goes_on(clip)) {
                const airy_background_pass pass = look(counts, sums, clip.lo, clip.hi);
                next_crowd = clip.pass == 0 ? airy_background_crowd(pass) : next_crowd;
                clip = airy_background_clip_pass(clip, pass, b.levels);
            }
            next = clip;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        clip = next;
        crowd = next_crowd;
        if (b.levels == 0u || g.compat != 0u || !airy_background_narrow(&lo, &hi, clip, b))
            break;
        mean = airy_background_level(clip, b, g.estimate);
    }
    double level = b.levels != 0u ? airy_background_level(clip, b, g.estimate) : b.alike,
           noise = b.levels != 0u ? clip.std * b.scale
                   : good         ? 0.0
                                  : NAN;
    /*
     * Few different values: airy_background_coarse_start. The first pass finds the value of the
     * crowd, the second the step to the nearest other one, the others measure. One loop for all
     * passes: a compiler that inlines them one by one takes three times as long for this kernel.
     */
    const bool coarse = good && !alike && g.compat == 0u && (b.levels == 0u || crowd >= 0);
    uint passes = coarse ? 2u + AIRY_BACKGROUND_COARSE_ROUNDS : 0u;
    double value = b.levels == 0u ? b.alike : 0.0, step = INFINITY, last = 0.0;
    for (uint pass = b.levels == 0u ? 1u : 0u; pass < passes; pass++) {
        const double from = pass < 2u ? -INFINITY : lo, to = pass < 2u ? INFINITY : hi;
        s = none;
        FOR_PIXELS(x)
        const double far = x != value ? fabs(x - value) : NAN,
                     crowded = airy_background_bin(x, b) == crowd ? x : NAN;
        add_pixel(&s, pass == 0u ? crowded : pass == 1u ? far : x, value, from, to);
        END_PIXELS
        sum_moments(&s, room);
        const bool ends = pass == 0u   ? false
                          : pass == 1u ? s.count == 0.0
                                       : s.count == 0.0 || s.count == last;
        passes = ends ? 0u : passes;
        if (pass == 0u)
            value = s.min;
        if (pass == 1u && !ends) {
            step = s.min;
            airy_background_coarse_start(&lo, &hi, clip, b, value, step);
        }
        if (pass > 1u && !ends) {
            last = s.count;
            mean = value + s.sum / s.count;
            noise = deviation(&s);
            level = g.estimate == 1u ? value : mean;
            airy_background_coarse_next(&lo, &hi, mean, noise, step);
        }
    }
    if (get_local_id(0) == 0u) {
        out[index] = level;
        out[nodes + index] = noise;
    }
}

/* The cubic of a piece of a row of pixels, from the planes of a spline. */
AIRY_INLINE airy_background_cubic piece_of(__global const double *planes,
                                           const airy_background_map_geom *g, airy_background_row r,
                                           uint piece)
{
    const uint plane = g->nodes_y * g->nodes_x, next = g->nodes_x > 1u ? 1u : 0u;
    double value[2], bend[2];
    for (uint k = 0u; k < 2u; k++) {
        const uint low = r.lo * g->nodes_x + piece + k * next,
                   high = r.hi * g->nodes_x + piece + k * next;
        value[k] = airy_background_along(r, planes[low], planes[high], planes[plane + low],
                                         planes[plane + high]);
        bend[k] = airy_background_along(r, planes[2u * plane + low], planes[2u * plane + high],
                                        planes[3u * plane + low], planes[3u * plane + high]);
    }
    return airy_background_cubic_of(value[0], value[1], bend[0], bend[1]);
}

AIRY_INLINE REAL4 narrow(airy_background_cubic c)
{
    return (REAL4)((REAL)c.a, (REAL)c.b, (REAL)c.c, (REAL)c.d);
}

/*
 * Mapping: a work-group of up to 256 items takes as many pixels of g.rows rows: global id 0: x, 1:
 * the rows' number. cubics: local memory, (level and noise that are wanted) x g.rows x pieces that a
 * group may touch.
 */
__kernel void background_map(__global TD *dst, __global const TS *src, __global TN *noise,
                             __global const double *splines, __local REAL4 *cubics,
                             const airy_background_map_geom g)
{
    const uint items = get_local_size(0), start = get_group_id(0) * items;
    const uint x = get_global_id(0), end = min(start + items, g.width) - 1u;
    const uint first = airy_background_piece(start, g.mesh_x, g.nodes_x);
    const uint pieces = airy_background_piece(end, g.mesh_x, g.nodes_x) - first + 1u;
    const uint y0 = get_global_id(1) * g.rows, rows = min(g.rows, g.height - y0);
    __local REAL4 *noises = cubics + HAS_DST * g.rows * pieces;
    for (uint i = get_local_id(0); i < rows * pieces; i += items) {
        const airy_background_row r =
            airy_background_row_of(y0 + i / pieces, g.mesh_y, g.nodes_y, g.compat);
#if HAS_DST
        cubics[i] = narrow(piece_of(splines, &g, r, first + i % pieces));
#endif
#if HAS_NOISE
        noises[i] =
            narrow(piece_of(splines + 4u * g.nodes_y * g.nodes_x, &g, r, first + i % pieces));
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= g.width)
        return;
    const uint piece = airy_background_piece(x, g.mesh_x, g.nodes_x);
    const REAL t = (REAL)airy_background_place(x, g.mesh_x, piece);
    for (uint j = 0u; j < rows; j++) {
        const ulong y = y0 + j;
#if HAS_DST
        const REAL4 c = cubics[j * pieces + piece - first];
        const REAL cubic = c.x + t * (c.y + t * (c.z + t * c.w));
#if HAS_SRC
        dst[g.dst_offset + y * g.dst_pitch + x] =
            (TD)(((REAL)src[g.src_offset + y * g.src_pitch + x] - (REAL)g.base) - cubic);
#else
        dst[g.dst_offset + y * g.dst_pitch + x] = (TD)((REAL)g.base + cubic);
#endif
#endif
#if HAS_NOISE
        const REAL4 n = noises[j * pieces + piece - first];
        noise[g.noise_offset + y * g.noise_pitch + x] =
            (TN)fmax(n.x + t * (n.y + t * (n.z + t * n.w)), (REAL)g.floor);
#endif
    }
}

#endif
