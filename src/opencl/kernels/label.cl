/*
 * Connected components: rows become one bit a pixel, 32 to a word; runs of bits inside a word are
 * nodes, known by their first pixel. Tiles of 32 x 32 pixels unite their own in local memory, words
 * then those across tiles. The smaller pixel always wins, so the root of a component is its first
 * pixel. Roots are flagged and counted in raster order.
 *
 * Build options: BYTES, KIND (0 unsigned, 1 signed, 2 floating): of the elements; ABOVE: 1:
 * foreground is what lies in a range of keys, 0: what is not 0. No
 * floating-point arithmetic.
 */
#include "opencl/kernels/label_part.h"

#ifndef BYTES
#define BYTES 4
#endif
#ifndef KIND
#define KIND 2
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
#else
typedef uint wide;
#define TOP (1u << 31)
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
    return (wide)(x << 1) != 0u;
#else
    return x != 0;
#endif
}

AIRY_INLINE uint lowest(uint bits)
{
    return 31u - clz(bits & (0u - bits));
}

/* The first bit of the run that holds bit i. */
AIRY_INLINE uint run_start(uint bits, uint i)
{
    const uint gaps = ~bits & ((1u << i) - 1u);
    return gaps != 0u ? 32u - clz(gaps) : 0u;
}

/* Bits of a run that starts at bit i. */
AIRY_INLINE uint run_length(uint bits, uint i)
{
    const uint gaps = ~(bits >> i);
    return gaps != 0u ? min(lowest(gaps), 32u - i) : 32u;
}

/*
 * Exchange among the 32 items of a tile; all of a work-group call. TILE_ANY: whether it is true of
 * any item of the tile (without warps: of the group).
 */
#ifdef AIRY_WARP
#define TILE_SYNC()    AIRY_WARP_SYNC()
#define TILE_XOR(v, m) AIRY_SHUFFLE_XOR((v), (m))
#define TILE_BEFORE(v) AIRY_SHUFFLE_UP((v), 1u)
#define TILE_ANY(v)    (AIRY_BALLOT(v) != 0u)
#else
#define TILE_SYNC()    barrier(CLK_LOCAL_MEM_FENCE)
#define TILE_XOR(v, m) exchange(room, (v), get_local_id(0) ^ (m))
#define TILE_BEFORE(v) exchange(room, (v), max(get_local_id(0), (size_t)1) - 1u)
#define TILE_ANY(v)    any_of(room, (v))

AIRY_INLINE uint exchange(__local uint *room, uint v, size_t from)
{
    room[get_local_id(0)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = room[from];
    barrier(CLK_LOCAL_MEM_FENCE);
    return other;
}

AIRY_INLINE bool any_of(__local uint *room, bool v)
{
    if (get_local_id(0) == 0u)
        room[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v)
        (void)atomic_or(&room[0], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool any = room[0] != 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    return any;
}
#endif

AIRY_INLINE uint find_local(__local volatile uint *node, uint i)
{
    for (uint up = node[i]; up != i; up = node[i])
        i = up;
    return i;
}

AIRY_INLINE void unite_local(__local volatile uint *node, uint a, uint b)
{
    for (;;) {
        a = find_local(node, a);
        b = find_local(node, b);
        if (a == b)
            return;
        const uint high = max(a, b), low = min(a, b);
        const uint old = atomic_min(&node[high], low);
        if (old == high)
            return;
        /* Somebody was there before: what it points to, and ours, are one. */
        a = old;
        b = low;
    }
}

AIRY_INLINE uint find_root(__global volatile uint *parent, uint i)
{
    for (uint up = parent[i]; up != i; up = parent[i])
        i = up;
    return i;
}

AIRY_INLINE void unite(__global volatile uint *parent, uint a, uint b)
{
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b)
            return;
        const uint high = max(a, b), low = min(a, b);
        const uint old = atomic_min(&parent[high], low);
        if (old == high)
            return;
        a = old;
        b = low;
    }
}

/*
 * The root, when all unions are done: values that a cache kept from before others shortened a path
 * lead there, too.
 */
AIRY_INLINE uint settled_root(__global const uint *parent, uint i)
{
    for (uint up = parent[i]; up != i; up = parent[i])
        i = up;
    return i;
}

/* The stride of a tile's rows in local memory: all items at one column use different banks. */
#define NODE_ROW 33u

#define TILES AIRY_LABEL_TILES

/*
 * Mapping: AIRY_LABEL_TILES tiles a work-group, 32 items a tile; an item reads a column, then owns a row. sizes: cleared at nodes, if
 * components are to be counted. Local memory: 4.2 KiB a tile. Barriers (without warps): 17.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_TILE * TILES, 1, 1))) void
label_tiles(__global const element *src, __global uint *parent, __global uint *bits,
            __global uint *sizes, __global airy_label_part *parts, const airy_label_geom g)
{
    __local uint nodes[TILES][AIRY_LABEL_TILE * NODE_ROW];
#ifndef AIRY_WARP
    __local uint room[AIRY_LABEL_TILE * TILES];
#endif
    const uint lane = get_local_id(0) % AIRY_LABEL_TILE, team = get_local_id(0) / AIRY_LABEL_TILE;
    const uint wanted = get_group_id(0) * TILES + team, tile = min(wanted, g.tiles - 1u);
    const uint tx = tile % g.words, band = tile / g.words;
    const uint z = band / g.tiles_y, y = band % g.tiles_y * AIRY_LABEL_TILE;
    const uint x = tx * AIRY_LABEL_TILE + lane;
    const uint rows = min(AIRY_LABEL_TILE, g.height - y);
    if (wanted == 0u && lane == 0u)
        parts[0].nan = 0u;
    /* Places outside of the image read the nearest inside, and count as background. */
    __global const element *from = src + g.src.offset + z * g.src.step_z + y * g.src.step_y +
                                   min(x, g.width - 1u);
    element v[AIRY_LABEL_TILE];
#pragma unroll
    for (uint k = 0u; k < AIRY_LABEL_TILE; k++)
        v[k] = from[min(k, rows - 1u) * g.src.step_y];
    uint mine = 0u;
#pragma unroll
    for (uint k = 0u; k < AIRY_LABEL_TILE; k++)
        mine |= is_foreground(v[k], &g) ? 1u << k : 0u;
    mine = x < g.width && wanted < g.tiles ? mine & (0xffffffffu >> (32u - rows)) : 0u;

    const uint row = z * g.height + y + lane;
    const bool owns = lane < rows && wanted < g.tiles;
    if (!TILE_ANY(mine != 0u)) {
        if (owns)
            bits[(size_t)row * g.words + tx] = 0u;
        return;
    }
    /* The transpose of 32 x 32 bits: blocks change places, of half the size each time. */
    for (uint step = 16u, low = 0xffffu; step != 0u; step /= 2u, low ^= low << step) {
        const uint other = TILE_XOR(mine, step);
        mine = (lane & step) != 0u ? (mine & ~low) | (other >> step & low)
                                   : (mine & low) | (other & low) << step;
    }
    if (owns)
        bits[(size_t)row * g.words + tx] = mine;

    __local volatile uint *node = nodes[team];
    const uint heads = mine & ~(mine << 1), at = lane * NODE_ROW;
    uint up = TILE_BEFORE(mine);
    up = lane == 0u ? 0u : up;
    for (uint left = heads; left != 0u; left &= left - 1u)
        node[at + lowest(left)] = at + lowest(left);
    TILE_SYNC();
    const uint both = mine & up;
    for (uint left = both & ~(both << 1); left != 0u; left &= left - 1u) {
        const uint c = lowest(left);
        unite_local(node, at + run_start(mine, c), at - NODE_ROW + run_start(up, c));
    }
    if (g.edge != 0u) {
        for (uint left = mine & up << 1 & ~up & ~(mine << 1); left != 0u; left &= left - 1u) {
            const uint c = lowest(left);
            unite_local(node, at + c, at - NODE_ROW + run_start(up, c - 1u));
        }
        for (uint left = mine & up >> 1 & ~up & ~(mine >> 1); left != 0u; left &= left - 1u) {
            const uint c = lowest(left);
            unite_local(node, at + run_start(mine, c), at - NODE_ROW + c + 1u);
        }
    }
    TILE_SYNC();
    const uint corner = (z * g.height + y) * g.width + tx * AIRY_LABEL_TILE;
    for (uint left = heads; left != 0u; left &= left - 1u) {
        const uint c = lowest(left), root = find_local(node, at + c);
        const uint pixel = corner + lane * g.width + c;
        parent[pixel] = corner + root / NODE_ROW * g.width + root % NODE_ROW;
        if (g.sized != 0u)
            sizes[pixel] = 0u;
    }
}

/* A word between its neighbours in a row. */
struct trio {
    uint before, here, after;
};

AIRY_INLINE struct trio load_trio(__global const uint *bits, size_t word, uint k, uint words)
{
    struct trio t;
    t.here = bits[word];
    t.before = k > 0u ? bits[word - 1u] : 0u;
    t.after = k + 1u < words ? bits[word + 1u] : 0u;
    return t;
}

/* A word: its number, its place in the row, its bits, its first pixel. */
struct word {
    size_t at;
    uint k;
    struct trio bits;
    uint pixel;
};

/*
 * Unite a word with the one that is `back` words and `pixels` pixels before it. widen: corners
 * touch. inside: both lie in one tile, which leaves corners across its sides.
 */
AIRY_INLINE void unite_words(__global volatile uint *parent, struct word w, struct trio u,
                             uint pixels, bool widen, bool inside)
{
    const struct trio m = w.bits;
    const uint pixel = w.pixel, other = pixel - pixels;
    if (!inside) {
        const uint both = m.here & u.here, begun = (m.before & u.before) >> 31;
        for (uint left = both & ~(both << 1 | begun); left != 0u; left &= left - 1u) {
            const uint c = lowest(left);
            unite(parent, pixel + run_start(m.here, c), other + run_start(u.here, c));
        }
    }
    if (!widen)
        return;
    uint back_corner = m.here & (u.here << 1 | u.before >> 31) & ~u.here &
                       ~(m.here << 1 | m.before >> 31),
         next_corner = m.here & (u.here >> 1 | u.after << 31) & ~u.here &
                       ~(m.here >> 1 | m.after << 31);
    back_corner &= inside ? 1u : ~0u;
    next_corner &= inside ? 1u << 31 : ~0u;
    for (; back_corner != 0u; back_corner &= back_corner - 1u) {
        const uint c = lowest(back_corner);
        unite(parent, pixel + c,
              c > 0u ? other + run_start(u.here, c - 1u) : other - 32u + run_start(u.before, 31u));
    }
    for (; next_corner != 0u; next_corner &= next_corner - 1u) {
        const uint c = lowest(next_corner);
        unite(parent, pixel + run_start(m.here, c), other + c + 1u);
    }
}

/* Mapping: an item a word; groups of AIRY_LABEL_GROUP. No local memory. */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
label_merge(__global uint *parent, __global const uint *bits, const airy_label_geom g)
{
    struct word w;
    w.at = get_global_id(0);
    if (w.at >= g.total || bits[w.at] == 0u)
        return;
    const uint row = (uint)(w.at / g.words), z = row / g.height, y = row % g.height;
    w.k = (uint)(w.at % g.words);
    w.pixel = row * g.width + w.k * 32u;
    w.bits = load_trio(bits, w.at, w.k, g.words);
    if ((w.bits.here & 1u) != 0u && w.bits.before >> 31 != 0u)
        unite(parent, w.pixel, w.pixel - 32u + run_start(w.bits.before, 31u));
    const bool inside = y % AIRY_LABEL_TILE != 0u, edge = g.edge != 0u, corner = g.corner != 0u;
    if (y > 0u && (!inside || edge))
        unite_words(parent, w, load_trio(bits, w.at - g.words, w.k, g.words), g.width, edge,
                    inside);
    if (z == 0u)
        return;
    const size_t plane = w.at - (size_t)g.height * g.words; /* the word in the plane before */
    const uint voxels = g.height * g.width;
    unite_words(parent, w, load_trio(bits, plane, w.k, g.words), voxels, edge, false);
    if (edge && y > 0u)
        unite_words(parent, w, load_trio(bits, plane - g.words, w.k, g.words), voxels + g.width,
                    corner, false);
    if (edge && y + 1u < g.height)
        unite_words(parent, w, load_trio(bits, plane + g.words, w.k, g.words), voxels - g.width,
                    corner, false);
}

/* Pixels of components, at their roots. Mapping: an item a word; groups of AIRY_LABEL_GROUP. */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
label_sizes(__global uint *parent, __global const uint *bits, __global uint *sizes,
            const airy_label_geom g)
{
    const size_t word = get_global_id(0);
    const uint m = word < g.total ? bits[word] : 0u;
    if (m == 0u)
        return;
    const uint pixel = (uint)(word / g.words) * g.width + (uint)(word % g.words) * 32u;
    for (uint left = m & ~(m << 1); left != 0u; left &= left - 1u) {
        const uint c = lowest(left), root = settled_root(parent, pixel + c);
        parent[pixel + c] = root;
        atomic_add(&sizes[root], run_length(m, c));
    }
}

/* Sum of v over the items up to this one. All items call it. */
AIRY_INLINE uint sum_upto(uint v, __local uint *room)
{
    const uint i = get_local_id(0);
    room[i] = v;
    for (uint step = 1u; step < AIRY_LABEL_GROUP; step *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint before = i >= step ? room[i - step] : 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        room[i] += before;
    }
    const uint sum = room[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

/*
 * Every node points to its root. Behind the bits of all words there are written flags, bits of
 * roots that become labels; before, their number in the group before a word; and chunks, those of
 * all groups before, which the group that finishes last sums up.
 *
 * Mapping: an item a word; groups of AIRY_LABEL_GROUP. Local memory: 1 KiB. Barriers: 18, and 19 for
 * each AIRY_LABEL_GROUP groups in the last one.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
label_roots(__global uint *parent, __global uint *words, __global const uint *sizes,
            __global airy_label_part *parts, const airy_label_geom g)
{
    __global uint *flags = words + g.total, *before = flags + g.total;
    __global volatile uint *chunks = before + g.total;
    __local uint room[AIRY_LABEL_GROUP], finished[1], carry[1];
    const size_t word = get_global_id(0);
    const uint item = get_local_id(0), m = word < g.total ? words[word] : 0u;
    const uint pixel = (uint)(word / g.words) * g.width + (uint)(word % g.words) * 32u;
    uint flag = 0u;
    for (uint left = m & ~(m << 1); left != 0u; left &= left - 1u) {
        const uint c = lowest(left), root = settled_root(parent, pixel + c);
        if (root != pixel + c)
            parent[pixel + c] = root;
        else if (g.sized == 0u || (sizes[root] >= g.min_count && sizes[root] <= g.max_count))
            flag |= 1u << c;
    }
    const uint upto = sum_upto(popcount(flag), room);
    if (word < g.total) {
        flags[word] = flag;
        before[word] = upto - popcount(flag);
    }
    if (item == AIRY_LABEL_GROUP - 1u) {
        (void)atomic_xchg(&chunks[get_group_id(0)], upto);
        AIRY_FENCE();
        finished[0] = atomic_inc(&parts[0].nan);
        AIRY_FENCE();
        carry[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (finished[0] != g.chunks - 1u)
        return;
    for (uint first = 0u; first < g.chunks; first += AIRY_LABEL_GROUP) {
        const uint i = first + item, n = i < g.chunks ? chunks[i] : 0u;
        const uint sum = sum_upto(n, room), start = carry[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < g.chunks)
            chunks[i] = start + sum - n;
        if (item == AIRY_LABEL_GROUP - 1u)
            carry[0] = start + sum;
    }
    if (item == AIRY_LABEL_GROUP - 1u)
        parts[0].count = carry[0];
}

/*
 * Labels of all pixels, and a cleared table of parts where one is wanted.
 * Mapping: 32 items take AIRY_LABEL_WRITE_EACH words; groups of AIRY_LABEL_GROUP. No local memory.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
label_write(__global const uint *parent, __global const uint *bits, __global uint *labels,
            __global airy_label_part *parts, const airy_label_geom g)
{
    __global const uint *flags = bits + g.total, *before = flags + g.total,
                        *chunks = before + g.total;
    const uint lane = get_local_id(0) % 32u, teams = AIRY_LABEL_GROUP / 32u;
    const size_t start = (size_t)get_group_id(0) * (teams * AIRY_LABEL_WRITE_EACH);
    const uint count = min(parts[0].count, g.capacity);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        airy_label_clear(&parts[i + 1u], g.depth);
    for (uint k = 0u; k < AIRY_LABEL_WRITE_EACH; k++) {
        const size_t word = start + k * teams + get_local_id(0) / 32u;
        const uint row = (uint)(word / g.words), x = (uint)(word % g.words) * 32u + lane;
        if (word >= g.total || x >= g.width)
            continue;
        const uint m = bits[word];
        uint label = 0u;
        if ((m >> lane & 1u) != 0u) {
            const uint root = parent[row * g.width + x - lane + run_start(m, lane)];
            const uint bit = root % g.width % 32u;
            const size_t at = (size_t)(root / g.width) * g.words + root % g.width / 32u;
            const uint flag = flags[at];
            if ((flag >> bit & 1u) != 0u)
                label = 1u + chunks[at / AIRY_LABEL_GROUP] + before[at] +
                        popcount(flag & ((1u << bit) - 1u));
        }
        const uint z = row / g.height, y = row % g.height;
        labels[g.labels.offset + z * g.labels.step_z + y * g.labels.step_y + x] = label;
    }
}
