/*
 * Connected components: rows become one bit a pixel, 32 to a word; runs of bits inside a word are
 * nodes, known by their word and their place in it, which is the raster order. Tiles of 128 x 64
 * pixels unite their own in local memory; what lies across tiles the later one of two unites, in
 * volumes label_merge. The smaller node always wins, so the root of a component is its first run.
 * Roots are flagged and numbered in raster order.
 *
 * Build options: BYTES, KIND (0 unsigned, 1 signed, 2 floating): of the elements; ABOVE: 1:
 * foreground is what lies in a range of keys, 0: what is not 0; MEASURES: 1: counts, boxes and
 * extremes are found as well, of values of type T. Without it no floating-point arithmetic.
 */
#ifndef T
#define T float
#endif
#include "opencl/kernels/label_part.h"

#ifndef BYTES
#define BYTES 4
#endif
#ifndef KIND
#define KIND 2
#endif
#ifndef MEASURES
#define MEASURES 0
#endif
#ifndef ABOVE
#define ABOVE 1
#endif

#if BYTES == 1
typedef uchar element;
typedef char signed_element;
#elif BYTES == 2
typedef ushort element;
typedef short signed_element;
#elif BYTES == 4
typedef uint element;
typedef int signed_element;
#else
typedef ulong element;
typedef long signed_element;
#endif
#if BYTES == 8
typedef ulong wide;
#define TOP (1ul << 63)
#define INFINITE (0x7fful << 52)
#else
typedef uint wide;
#define TOP (1u << 31)
#define INFINITE (0xffu << 23)
#endif

AIRY_INLINE bool is_foreground(element x, const airy_label_geom *g)
{
#if ABOVE
#if KIND == 0
    const wide key = (wide)x;
#elif KIND == 1
    const wide key = (wide)(signed_element)x;
#else
    /* In the order of the values, -0 as 0, NaN outside of the infinities. */
    const wide key = x >= TOP ? TOP - x : x;
#endif
    return (wide)(key - (wide)g->first) <= (wide)g->span && g->none == 0u;
#elif KIND == 2
    return (wide)((wide)(x << 1) - 1u) < (wide)INFINITE << 1; /* neither 0, -0 nor NaN */
#else
    return x != 0;
#endif
}

/* Bits of a run, by its first one. */
AIRY_INLINE uint run_of(uint bits, uint head)
{
    return bits & (bits ^ (bits + head));
}

/* A word between its neighbours in a row. */
struct trio {
    uint before, here, after;
};

/* What a run touches in a row above: the last run of the word before, runs, the first one after. */
struct touch {
    uint over;
    bool before, after;
};

AIRY_INLINE struct touch find_touch(uint run, const struct trio *up, bool widen)
{
    struct touch t;
    t.over = up->here & (widen ? run | run << 1 | run >> 1 : run);
    t.before = widen && (run & 1u) != 0u && up->before >> 31 != 0u;
    t.after = widen && run >> 31 != 0u && (up->after & 1u) != 0u;
    return t;
}

/* The next of them: in which word, from -1 to 1, and the how-manieth run there. */
AIRY_INLINE bool next_touch(struct touch *t, const struct trio *up, int *word, uint *rank)
{
    if (t->before) {
        t->before = false;
        *word = -1;
        *rank = popcount(heads_of(up->before)) - 1u;
        return true;
    }
    if (t->over != 0u) {
        const uint upto = heads_of(up->here) & ((2u << lowest(t->over)) - 1u);
        t->over &= ~run_of(up->here, 1u << (31u - clz(upto)));
        *word = 0;
        *rank = popcount(upto) - 1u;
        return true;
    }
    const bool after = t->after;
    t->after = false;
    *word = 1;
    *rank = 0u;
    return after;
}

/* A parent that another group may have written in this launch; NVIDIA's volatile loads see it. */
#ifdef AIRY_WARP
#define PARENT_OF_ANY(p) (*(p))
#else
#define PARENT_OF_ANY(p) AIRY_LOOK(p)
#endif
#define PARENT_OF_GROUP(p) (*(p))

/*
 * Union-find in one address space, read by LOOK. A path is halved on the way: the store may come
 * after an atomic minimum of somebody else on the same node, which then goes on with what it has
 * replaced, so nothing is lost.
 */
#define DEFINE_UNION(SPACE, LOOK, find, unite)                                                     \
    AIRY_INLINE uint find(SPACE volatile uint *parent, uint i)                                     \
    {                                                                                              \
        uint up = LOOK(&parent[i]);                                                                \
        while (up != i) {                                                                          \
            const uint over = LOOK(&parent[up]);                                                   \
            if (over != up)                                                                        \
                parent[i] = over;                                                                  \
            i = up;                                                                                \
            up = over;                                                                             \
        }                                                                                          \
        return i;                                                                                  \
    }                                                                                              \
    AIRY_INLINE void unite(SPACE volatile uint *parent, uint a, uint b)                            \
    {                                                                                              \
        if (LOOK(&parent[a]) == LOOK(&parent[b]))                                                  \
            return;                                                                                \
        for (;;) {                                                                                 \
            a = find(parent, a);                                                                   \
            b = find(parent, b);                                                                   \
            if (a == b)                                                                            \
                return;                                                                            \
            const uint high = max(a, b), low = min(a, b);                                          \
            const uint old = atomic_min(&parent[high], low);                                       \
            if (old == high)                                                                       \
                return;                                                                            \
            /* Somebody was there before: what it points to, and ours, are one. */                 \
            a = old;                                                                               \
            b = low;                                                                               \
        }                                                                                          \
    }
DEFINE_UNION(__local, PARENT_OF_GROUP, find_local, unite_local)
DEFINE_UNION(__global, PARENT_OF_ANY, find_global, unite)

/*
 * The root, when all unions are done: values that a cache kept from before others shortened a path
 * lead there, too.
 */
AIRY_INLINE uint settled_root(__global uint *parent, uint i)
{
    const uint first = parent[i];
    uint root = first;
    for (uint up = parent[root]; up != root; up = parent[root])
        root = up;
    if (root != first)
        parent[i] = root;
    return root;
}

#ifndef AIRY_WARP
AIRY_INLINE uint exchange(__local uint *room, uint v, uint from)
{
    room[get_local_id(0)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = room[from];
    barrier(CLK_LOCAL_MEM_FENCE);
    return other;
}
#endif

#define GROUP      AIRY_LABEL_GROUP
#define TILE_WORDS AIRY_LABEL_TILE_WORDS
#define TILE_ROWS  AIRY_LABEL_TILE_ROWS

/* Nodes of a word in local memory: one more than it can have, so that rows use different banks. */
#define NODES 17u

/* The words around that of an item in the row above, inside a tile. */
AIRY_INLINE struct trio load_above(__local const uint *words, uint item)
{
    const uint tx = item % TILE_WORDS;
    struct trio up = {0u, 0u, 0u};
    if (item >= TILE_WORDS) {
        up.here = words[item - TILE_WORDS];
        up.before = tx > 0u ? words[item - TILE_WORDS - 1u] : 0u;
        up.after = tx + 1u < TILE_WORDS ? words[item - TILE_WORDS + 1u] : 0u;
    }
    return up;
}

/* Unite the runs of a tile; each points to one that it touches at once. All of a group call. */
AIRY_INLINE void unite_tile(__local uint *node, __local const uint *words, bool widen)
{
    const uint item = get_local_id(0), bits = words[item], at = item * NODES;
    const uint left = item % TILE_WORDS != 0u ? words[item - 1u] : 0u;
    const struct trio up = load_above(words, item);
    int word;
    uint rank, k = 0u;
    for (uint some = heads_of(bits); some != 0u; some &= some - 1u, k++) {
        struct touch t = find_touch(run_of(bits, some & (0u - some)), &up, widen);
        uint first = at + k;
        if ((some & 1u) != 0u && left >> 31 != 0u)
            first = at - NODES + popcount(heads_of(left)) - 1u;
        else if (next_touch(&t, &up, &word, &rank))
            first = (uint)((int)(at - TILE_WORDS * NODES) + word * (int)NODES) + rank;
        node[at + k] = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    k = 0u;
    for (uint some = heads_of(bits); some != 0u; some &= some - 1u, k++) {
        struct touch t = find_touch(run_of(bits, some & (0u - some)), &up, widen);
        if ((some & 1u) == 0u || left >> 31 == 0u)
            (void)next_touch(&t, &up, &word, &rank);
        while (next_touch(&t, &up, &word, &rank))
            unite_local(node, at + k,
                        (uint)((int)(at - TILE_WORDS * NODES) + word * (int)NODES) + rank);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

AIRY_INLINE struct trio load_trio(__global uint *bits, size_t word, uint k, uint words)
{
    struct trio t;
    t.here = AIRY_LOOK(bits + word);
    t.before = k > 0u ? AIRY_LOOK(bits + word - 1u) : 0u;
    t.after = k + 1u < words ? AIRY_LOOK(bits + word + 1u) : 0u;
    return t;
}

/*
 * Unite runs of a word that begin at `heads` with those above them, in a row that is `back` words
 * before. sides: only what lies in the word before (1), here (4), or after (2). between: pixels whose
 * neighbours are united with them anyway: what touches one that the run touches is left out.
 */
AIRY_INLINE void unite_word(__global uint *parent, __global uint *bits, const airy_label_geom *g,
                            uint word, uint heads, uint back, bool widen, uint sides, uint between)
{
    const uint here = AIRY_LOOK(bits + word), k = word % g->words, other = word - back;
    struct trio up = load_trio(bits, other, k, g->words);
    if ((sides & 1u) == 0u)
        up.before = 0u;
    if ((sides & 2u) == 0u)
        up.after = 0u;
    int at;
    uint rank;
    for (; heads != 0u; heads &= heads - 1u) {
        const uint head = heads & (0u - heads), run = run_of(here, head);
        const uint known = (run | run << 1 | run >> 1) & between;
        struct touch t = find_touch(run, &up, widen);
        t.over &= (sides & 4u) == 0u ? 0u : ~(known | known << 1 | known >> 1);
        while (next_touch(&t, &up, &at, &rank))
            unite(parent, (word << g->shift) + rank_of(heads_of(here), lowest(head)),
                  ((uint)((int)other + at) << g->shift) + rank);
    }
}

/*
 * Of two tiles that touch, the one that is done later unites across their border: what the first
 * one, of the two, wrote is seen then. turns: of a tile and each of the four neighbours after it, 0
 * in between. Items 0 to 7 have a neighbour each: before it above left, above, above right, left;
 * after it right, below left, below, below right.
 */
AIRY_INLINE bool comes_second(__global uint *turns, uint tx, uint ty, uint item,
                              const airy_label_geom *g)
{
    const uint k = item < 4u ? item : item + 1u, dx = k % 3u, dy = k / 3u; /* from -1, as 0 */
    if (g->depth > 1u || (g->edge == 0u && dx != 1u && dy != 1u) || tx + dx == 0u ||
        ty + dy == 0u || tx + dx > g->tiles_x || ty + dy > g->tiles_y)
        return false;
    const uint x = item < 4u ? tx + dx - 1u : tx, y = item < 4u ? ty + dy - 1u : ty,
               pair = item < 4u ? 3u - item : item - 4u;
    __global uint *turn = turns + 4u * (y * g->tiles_x + x) + pair;
    if (atomic_inc(turn) == 0u)
        return false;
    (void)atomic_xchg(turn, 0u);
    return true;
}

/* The last run of a word. */
AIRY_INLINE uint last_node(uint word, uint bits, const airy_label_geom *g)
{
    return (word << g->shift) + popcount(heads_of(bits)) - 1u;
}

/*
 * Unite the runs that begin a word with what touches them across its left border: in the same row,
 * and with `edge` from the row above to this one, both ways; not where the row is a tile's first.
 */
AIRY_INLINE void unite_beside(__global uint *parent, __global uint *bits, uint word, bool edge,
                              const airy_label_geom *g)
{
    const uint here = AIRY_LOOK(bits + word), before = AIRY_LOOK(bits + word - 1u);
    if ((here & 1u) != 0u && before >> 31 != 0u)
        unite(parent, word << g->shift, last_node(word - 1u, before, g));
    if (!edge)
        return;
    const uint up = word - g->words, over = AIRY_LOOK(bits + up), aside = AIRY_LOOK(bits + up - 1u);
    if ((here & 1u) != 0u && aside >> 31 != 0u)
        unite(parent, word << g->shift, last_node(up - 1u, aside, g));
    if (before >> 31 != 0u && (over & 1u) != 0u)
        unite(parent, last_node(word - 1u, before, g), up << g->shift);
}

/*
 * Which words of the row above a word is united with, as unite_word has it. at: the word's place in
 * its row, from the one left of the tile on; under: the row is the one below the tile. left, middle,
 * right: whether this group unites with the tiles there. Words beside the tile reach into it over a
 * corner only.
 */
AIRY_INLINE uint find_sides(uint at, bool under, bool left, bool middle, bool right)
{
    if (at == 0u)
        return under && left ? 2u : 0u;
    if (at == TILE_WORDS + 1u)
        return under && right ? 1u : 0u;
    return (middle ? 4u : 0u) | ((at > 1u ? middle : !under && left) ? 1u : 0u) |
           ((at < TILE_WORDS ? middle : !under && right) ? 2u : 0u);
}

/*
 * Unite across the borders of a tile, with the neighbours in `mask`. Mapping: an item a row at the
 * left and at the right border, then AIRY_LABEL_MERGERS a word of the first row and the one below.
 */
AIRY_INLINE void unite_borders(__global uint *parent, __global uint *bits, uint mask, uint tx,
                               uint top, const airy_label_geom *g)
{
    const uint item = get_local_id(0), left = tx * TILE_WORDS;
    const bool edge = g->edge != 0u;
    if (item < 2u * TILE_ROWS) {
        const bool behind = item >= TILE_ROWS;
        const uint row = top + item % TILE_ROWS, k = behind ? left + TILE_WORDS : left;
        if ((mask >> (behind ? 4u : 3u) & 1u) != 0u && row < g->height)
            unite_beside(parent, bits, row * g->words + k, edge && row > top, g);
        return;
    }
    const uint each = 32u / AIRY_LABEL_MERGERS, many = (TILE_WORDS + 2u) * AIRY_LABEL_MERGERS,
               i = item - 2u * TILE_ROWS;
    const bool under = i >= many;
    const uint at = i % many / AIRY_LABEL_MERGERS, part = i % AIRY_LABEL_MERGERS,
               row = under ? top + TILE_ROWS : top, k = left + at - 1u,
               own = under ? mask >> 5 : mask;
    const uint sides = find_sides(at, under, (own & 1u) != 0u, (own & 2u) != 0u, (own & 4u) != 0u);
    if (i >= 2u * many || row >= g->height || k >= g->words || sides == 0u)
        return;
    const uint word = row * g->words + k, heads = heads_of(AIRY_LOOK(bits + word)) &
                                                  (0xffffffffu >> (32u - each)) << part * each;
    unite_word(parent, bits, g, word, heads, g->words, edge, sides, 0u);
}

/*
 * Mapping: a work-group a tile; 32 items read 32 rows of a word's columns, then an item owns a word.
 * states: cleared; sizes: cleared at nodes, if components are to be counted; labels: 0, if they
 * are wanted. Local memory: 19 KiB. Barriers: 5, and without warps 12.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
label_tiles(__global const element *src, __global uint *parent, __global uint *bits,
            __global uint *sizes, __global uint *labels, __global uint *turns,
            const airy_label_geom g)
{
    __local uint node[GROUP * NODES], words[GROUP], second[8];
    const uint item = get_local_id(0), lane = item % 32u, team = item / 32u, image = image_of(&g);
    src += image * g.src_step;
    labels += image * g.labels_step;
    parent += image * nodes_of(&g) * (1u + MEASURES);
    sizes += image * nodes_of(&g);
    bits += image * words_of(&g);
    turns += image * turns_of(&g);
    const uint tx = get_group_id(0) % g.tiles_x, band = get_group_id(0) / g.tiles_x;
    const uint z = band / g.tiles_y, top = band % g.tiles_y * TILE_ROWS;
    const uint k = tx * TILE_WORDS + team % TILE_WORDS, x = k * 32u + lane,
               y = top + team / TILE_WORDS * 32u;
    const uint rows = y < g.height ? min(32u, g.height - y) : 0u;
    __global uint *states = bits + 2u * (size_t)g.total;
    for (size_t i = get_global_id(0); i < g.chunks + AIRY_LABEL_STATES; i += get_global_size(0))
        states[i] = 0u;
    /* Places outside of the image read the nearest inside, and count as background. */
    __global const element *from = src + g.src.offset + z * g.src.step_z + min(x, g.width - 1u);
    __global uint *to = labels + g.labels.offset + z * g.labels.step_z + x;
    const uint blank = g.writes != 0u && x < g.width ? rows : 0u;
    uint mine = 0u;
#pragma unroll 1
    for (uint first = 0u; first < 32u; first += 16u) {
        element v[16];
#pragma unroll
        for (uint i = 0u; i < 16u; i++)
            v[i] = from[min(y + first + i, g.height - 1u) * g.src.step_y];
        AIRY_UNROLL(4)
        for (uint i = first; i < min(first + 16u, blank); i++) /* while these are on their way */
            to[(y + i) * g.labels.step_y] = 0u;
        uint part = 0u;
#pragma unroll
        for (uint i = 0u; i < 16u; i++)
            part |= is_foreground(v[i], &g) ? 1u << i : 0u;
        mine |= part << first;
    }
    mine = x < g.width && rows != 0u ? mine & (0xffffffffu >> (32u - rows)) : 0u;
    /* The transpose of 32 x 32 bits: blocks change places, of half the size each time. */
#ifdef AIRY_WARP
    if (AIRY_BALLOT(mine != 0u) != 0u)
#endif
        for (uint step = 16u, low = 0xffffu; step != 0u; step /= 2u, low ^= low << step) {
#ifdef AIRY_WARP
            const uint other = AIRY_SHUFFLE_XOR(mine, step);
#else
        const uint other = exchange(words, mine, item ^ step);
#endif
            mine = (lane & step) != 0u ? (mine & ~low) | (other >> step & low)
                                       : (mine & low) | (other & low) << step;
        }
    words[(team / TILE_WORDS * 32u + lane) * TILE_WORDS + team % TILE_WORDS] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    unite_tile(node, words, g.edge != 0u);
    const uint row = top + item / TILE_WORDS, first_row = z * g.height + top,
               column = tx * TILE_WORDS + item % TILE_WORDS;
    const size_t word = (size_t)(z * g.height + row) * g.words + column;
    const bool there = row < g.height && column < g.words;
    const uint count = there ? popcount(heads_of(words[item])) : 0u;
    if (there)
        bits[word] = words[item];
    for (uint i = 0u; i < count; i++) {
        const uint root = find_local(node, item * NODES + i), owner = root / NODES;
        parent[(word << g.shift) + i] =
            (((first_row + owner / TILE_WORDS) * g.words + tx * TILE_WORDS + owner % TILE_WORDS)
             << g.shift) +
            root % NODES;
        if (g.sized != 0u)
            sizes[(word << g.shift) + i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (item < 8u) {
        AIRY_FENCE();
        second[item] = comes_second(turns, tx, band, item, &g) ? 1u << item : 0u;
        AIRY_FENCE();
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint mask = 0u;
    for (uint i = 0u; i < 8u; i++)
        mask |= second[i];
    if (mask != 0u)
        unite_borders(parent, bits, mask, tx, top, &g);
}

/*
 * What lies across tiles of a volume. Mapping: AIRY_LABEL_MERGERS items a word, each with the runs
 * that begin in its part of it.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
label_merge(__global uint *parent, __global uint *bits, const airy_label_geom g)
{
    const uint word = (uint)(get_global_id(0) / AIRY_LABEL_MERGERS),
               part = get_global_id(0) % AIRY_LABEL_MERGERS, each = 32u / AIRY_LABEL_MERGERS,
               image = image_of(&g);
    parent += image * nodes_of(&g) * (1u + MEASURES);
    bits += image * words_of(&g);
    const uint here = word < g.total ? bits[word] : 0u;
    const uint heads = heads_of(here) & (0xffffffffu >> (32u - each)) << part * each;
    if (heads == 0u)
        return;
    const struct place p = place_of(word, &g);
    const uint k = p.x / 32u, before = k > 0u ? bits[word - 1u] : 0u;
    const bool starts = k % TILE_WORDS == 0u, ends = k % TILE_WORDS == TILE_WORDS - 1u;
    if (starts && (heads & 1u) != 0u && before >> 31 != 0u)
        unite(parent, word << g.shift, ((word - 1u) << g.shift) + popcount(heads_of(before)) - 1u);
    const bool edge = g.edge != 0u, corner = g.corner != 0u, top = p.y % TILE_ROWS == 0u;
    const uint sides = top ? 7u : (starts ? 1u : 0u) | (ends ? 2u : 0u);
    if (p.y > 0u && (top || (edge && sides != 0u)))
        unite_word(parent, bits, &g, word, heads, g.words, edge, sides, 0u);
    if (p.z == 0u)
        return;
    const uint plane = g.height * g.words; /* words back to the plane before */
    unite_word(parent, bits, &g, word, heads, plane, edge, 7u, 0u);
    /* Across an edge or a corner: by way of the row below the one, or beside the other. */
    const uint below = bits[word - plane];
    if (edge && p.y > 0u)
        unite_word(parent, bits, &g, word, heads, plane + g.words, corner, 7u,
                   below | bits[word - g.words]);
    if (edge && p.y + 1u < g.height)
        unite_word(parent, bits, &g, word, heads, plane - g.words, corner, 7u,
                   below | bits[word + g.words]);
}

/* Pixels of components, at their roots. Mapping: an item a word. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
label_sizes(__global uint *parent, __global const uint *bits, __global uint *sizes,
            const airy_label_geom g)
{
    const size_t word = get_global_id(0);
    const uint image = image_of(&g);
    parent += image * nodes_of(&g) * (1u + MEASURES);
    bits += image * words_of(&g);
    sizes += image * nodes_of(&g);
    const uint here = word < g.total ? bits[word] : 0u;
    uint i = 0u;
    for (uint heads = heads_of(here); heads != 0u; heads &= heads - 1u, i++)
        atomic_add(&sizes[settled_root(parent, (uint)(word << g.shift) + i)],
                   popcount(run_of(here, heads & (0u - heads))));
}

/* Sum of v over the items up to this one, and over all. All of a group call. */
AIRY_INLINE uint sum_upto(uint v, __local uint *room, uint *total)
{
    const uint i = get_local_id(0);
#ifdef AIRY_WARP
    uint sum = v;
    for (uint step = 1u; step < 32u; step *= 2u) {
        const uint before = AIRY_SHUFFLE_UP(sum, step);
        sum += i % 32u >= step ? before : 0u;
    }
    if (i % 32u == 31u)
        room[i / 32u] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = 0u;
    for (uint k = 0u; k < GROUP / 32u; k++) {
        sum += k < i / 32u ? room[k] : 0u;
        *total += room[k];
    }
    return sum;
#else
    room[i] = v;
    for (uint step = 1u; step < GROUP; step *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint before = i >= step ? room[i - step] : 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        room[i] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = room[GROUP - 1u];
    return room[i];
#endif
}

/*
 * What a chunk says of itself: 0: nothing yet; its roots + 1; or with the top bit the roots up to
 * its end.
 *
 * Groups wait for others here and in label_of, and only for those that took their chunk before, by
 * one counter: these have started, and the first one waits for nobody. OpenCL 1.2 does not promise
 * that a group that has started goes on while others look. It does where a group keeps its place on
 * a compute unit until it ends and the unit's time is shared by all that it holds, as on GPUs; and
 * where a thread takes groups one after the other, as on CPUs. Not to wait takes another launch,
 * between the counts and their use.
 */
#define UPTO   0x80000000u
#define WINDOW 4u /* chunks that an item looks at in one go */

/* Roots before a chunk. The first 32 items of a group call (without warps: one), and get it all. */
AIRY_INLINE uint roots_before(__global uint *states, uint chunk)
{
    uint sum = 0u;
#ifdef AIRY_WARP
    const uint lane = get_local_id(0) % 32u;
    for (uint end = chunk; end > 0u;) {
        uint seen[WINDOW];
#pragma unroll
        for (uint k = 0u; k < WINDOW; k++)
            seen[k] = lane + 32u * k < end ? AIRY_LOOK(&states[end - 1u - lane - 32u * k]) : UPTO;
#pragma unroll
        for (uint k = 0u; k < WINDOW; k++) {
            while (seen[k] == 0u)
                seen[k] = AIRY_LOOK(&states[end - 1u - lane - 32u * k]);
            const uint known = AIRY_BALLOT((seen[k] & UPTO) != 0u);
            const uint last = known != 0u ? lowest(known) : 31u;
            uint part = lane < last || known == 0u ? seen[k] - 1u
                        : lane == last             ? seen[k] & ~UPTO
                                                   : 0u;
            for (uint m = 1u; m < 32u; m *= 2u)
                part += AIRY_SHUFFLE_XOR(part, m);
            sum += part;
            if (known != 0u)
                return sum;
        }
        end -= 32u * WINDOW;
    }
#else
    for (uint end = chunk; end > 0u; end--) {
        uint seen = AIRY_LOOK(&states[end - 1u]);
        while (seen == 0u)
            seen = AIRY_LOOK(&states[end - 1u]);
        if ((seen & UPTO) != 0u)
            return sum + (seen & ~UPTO);
        sum += seen - 1u;
    }
#endif
    return sum;
}

/*
 * The label of a root, 0 if it is none. facts: of each word, bits of its roots, and below them how
 * many roots the chunk has from this word on. own, upto: the group's chunk and its state.
 */
AIRY_INLINE uint label_of(uint root, __global uint *facts, __global uint *states, uint own,
                          uint upto, uint shift)
{
    const uint word = root >> shift, i = root & ((1u << shift) - 1u), chunk = word / GROUP;
    uint seen = chunk == own ? upto : 0u;
    while ((seen & UPTO) == 0u)
        seen = AIRY_LOOK(&states[chunk]);
    const uint fact = AIRY_LOOK(&facts[word]), roots = fact >> 16;
    return (roots >> i & 1u) == 0u
               ? 0u
               : (seen & ~UPTO) - (fact & 0xffffu) + popcount(roots & ((1u << i) - 1u)) + 1u;
}

/* Labels of the words that have a bit, by 32 items for each. */
AIRY_INLINE void write_labels(__global uint *labels, __local const ulong *place,
                              __local const uint *words, __local const uint *node)
{
    const uint lane = get_local_id(0) % 32u, first = get_local_id(0) - lane;
#ifdef AIRY_WARP
    uint left = AIRY_BALLOT(words[first + lane]);
#else
    uint left = 0xffffffffu;
#endif
    for (; left != 0u; left &= left - 1u) {
        const uint i = first + lowest(left), here = words[i], width = (uint)(place[i] >> 56);
        if (here != 0u && lane < width)
            labels[(place[i] & (ULONG_MAX >> 8)) + lane] =
                (here >> lane & 1u) != 0u ? node[i * NODES + rank_of(heads_of(here), lane)] : 0u;
    }
}

#if MEASURES && defined(AIRY_WARP)
/* Counts, boxes, places and extremes of the words of a group, by 32 items each. */
AIRY_INLINE void walk_group(__global const T *src, __global airy_label_part *parts,
                            const airy_label_geom *g, uint base, __local const uint *words,
                            __local const uint *node)
{
    const uint lane = get_local_id(0) % 32u, first = get_local_id(0) - lane;
    for (uint left = AIRY_BALLOT(words[first + lane] != 0u); left != 0u;) {
        struct some_words w;
        take_words(&w, &left);
#pragma unroll
        for (uint k = 0u; k < SOME; k++) {
            const uint word = first + min(w.at[k], 31u);
            const uint here = w.at[k] < 32u ? words[word] : 0u;
            const uint label =
                (here >> lane & 1u) != 0u ? node[word * NODES + rank_of(heads_of(here), lane)] : 0u;
            w.label[k] = label - 1u < g->capacity ? label : 0u;
        }
        add_words(parts, g, src, base + first, &w);
    }
}
#endif

/*
 * Numbers of the roots, in one walk: a group flags those of its chunk of words, says how many they
 * are, adds up what the chunks before have said, and takes the labels of its runs from its own roots
 * and theirs. It writes labels of all pixels where they are wanted, and with MEASURES labels of runs
 * behind the parents, and counts, boxes and extremes. Without, it tells the host how many there
 * are.
 *
 * Mapping: an item a word, then 32 items a word. Local memory: 22 KiB. Barriers: 6, and 18 without
 * warps.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
label_number(__global const T *src, __global uint *parent, __global uint *bits,
             __global const uint *sizes, __global uint *labels, __global airy_label_part *parts,
             __global airy_label_row *rows, __global airy_label_answer *answer,
             const airy_label_geom g)
{
    __local uint node[GROUP * NODES], words[GROUP], room[GROUP], shared[2];
    __local ulong place[GROUP];
    const uint item = get_local_id(0), image = image_of(&g);
    src += image * g.src_step;
    labels += image * g.labels_step;
    parent += image * nodes_of(&g) * (1u + MEASURES);
    sizes += image * nodes_of(&g);
    bits += image * words_of(&g);
    rows += image * (size_t)g.stride;
    __global uint *facts = bits + g.total, *states = facts + g.total + 1u;
    (void)src, (void)parts, (void)answer; /* with MEASURES, and without */
    if (item == 0u)
        shared[0] = atomic_inc(states - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint chunk = shared[0], word = chunk * GROUP + item;
    const bool there = word < g.total;
    const uint here = there ? bits[word] : 0u, heads = heads_of(here), count = popcount(heads);
    const struct place at = place_of(there ? word : 0u, &g);
    words[item] = here;
    /* Where its labels go, and how many there are. Arrays have fewer than 2^56 elements. */
    place[item] = element_of(&g.labels, &at) | (ulong)(there ? min(32u, g.width - at.x) : 0u) << 56;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint roots = 0u;
    for (uint i = 0u; i < count; i++) {
        const uint self = (word << g.shift) + i, root = settled_root(parent, self);
        node[item * NODES + i] = root;
        if (root == self &&
            (g.sized == 0u || (sizes[root] >= g.min_count && sizes[root] <= g.max_count)))
            roots |= 1u << i;
    }
    uint total;
    const uint from_here = sum_upto(popcount(roots), room, &total);
    if (there)
        facts[word] = roots << 16 | (total - from_here + popcount(roots));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifdef AIRY_WARP
    if (item < 32u) {
#else
    if (item == 0u) {
#endif
        AIRY_FENCE();
        if (item == 0u)
            (void)atomic_xchg(&states[chunk], total + 1u);
        shared[1] = roots_before(states, chunk);
        AIRY_FENCE();
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint first = shared[1];
    if (item == 0u) {
        AIRY_FENCE();
        (void)atomic_xchg(&states[chunk], UPTO | (first + total));
        if (chunk == g.chunks - 1u)
            airy_label_head(rows, first + total);
    }
    for (uint i = 0u; i < count; i++) {
        const uint label =
            label_of(node[item * NODES + i], facts, states, chunk, UPTO | (first + total), g.shift);
        node[item * NODES + i] = label;
#if MEASURES
        parent[(((size_t)g.runs_at + word) << g.shift) + i] = label;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (g.writes != 0u)
        write_labels(labels, place, words, node);
#if MEASURES
    parts += image * (size_t)g.stride;
#ifdef AIRY_WARP
    walk_group(src, parts, &g, chunk * GROUP, words, node);
#else
    walk_extents(parts, &g, src + element_of(&g.src, &at), here, heads, at,
                 parent + (((size_t)g.runs_at + word) << g.shift), g.capacity);
#endif
#else
    tell_end(answer + image * answers_of(&g), states + g.chunks, rows, g.turn);
#endif
}
