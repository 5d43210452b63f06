/*
 * Compressed frames to radial sums, up to 32 frames together: blocks are decoded in local memory
 * and leave the lowest bit planes, as many as hold their counts, in global memory; there a lane
 * takes the same pixels of each frame, so that all lanes read the same entry of the pixel table,
 * change bins together and add to neighbouring words. Of few frames, SHARES lanes divide the pixels
 * of each between them, so that none is idle. What does not fit this is left to a kernel of its own,
 * and goes to the frame's sums pixel by pixel: short and stored blocks, large counts, values that
 * are left out. All sums are integers, so their order does not matter.
 *
 * Build options: of fused_block.h, but SPAN; FRACTION_BITS: of weights; SHARES: 1, 2, 4 or 8 lanes a
 * frame.
 */
#define SPAN 0
#include "opencl/kernels/fused_block.h"

#ifndef FRACTION_BITS
#define FRACTION_BITS 22
#endif

#ifndef SHARES
#define SHARES 1
#endif

#define KEPT        (ELEM_SIZE == 1 ? 8u : 16u) /* planes */
#define KEPT_QUADS  (KEPT / 4u)
#define ROW_QUADS   (ROW_WORDS / 4u)
#define SEATS       (AIRY_FUSED_LANES / SHARES)        /* frames in a row of lanes */
#define BLOCK_QUADS (KEPT_QUADS * ROW_WORDS * SEATS)   /* of a block of all frames */
#define PACKED_MASK (ELEM_SIZE == 1 ? 0xffu : 0xffffu) /* the lowest of a word's packed pixels */
#define PART_ROWS   (AIRY_FUSED_PART / 32u)
#define PARTS       (ROW_WORDS / PART_ROWS)
#define SHARE_ROWS  (PART_ROWS / SHARES)
#define LEFT        0x80u /* in place of a number of quads: the block is for integrate_planes_rest */

/*
 * A warp needs memory for the planes that are kept, and for one that tells of all above, which are
 * alike in nearly any block: more warps share a unit's memory.
 */
#if defined(LANES_STAGE) && ELEM_SIZE == 4
#define LOW_PLANES (KEPT + 1u)
#define LOW_BYTES  (LOW_PLANES * ROW_WORDS * 4u)
#define LOW_STORE  (LOW_BYTES + AIRY_STAGE_MARGIN)
#else
#define LOW_PLANES PLANES
#define LOW_STORE  BLOCK_STORE
#endif

/* What any lane has set, for all of them. */
AIRY_INLINE uint lanes_or(uint mine, uint lane, __local uint *step)
{
    (void)lane;
    (void)step;
#if LANES == 1
    return mine;
#elif defined(LANES_ARE_A_WARP)
#pragma unroll
    for (uint m = 16u; m > 0u; m >>= 1)
        mine |= AIRY_SHUFFLE_XOR(mine, m);
    return mine;
#else
    LANES_SYNC();
    if (lane == 0u)
        step[0] = 0u;
    LANES_SYNC();
    if (mine != 0u)
        atomic_or(&step[0], mine);
    LANES_SYNC();
    const uint all = step[0];
    LANES_SYNC(); /* what follows may write there */
    return all;
#endif
}

AIRY_INLINE uint any_bit(uint4 x)
{
    return x.x | x.y | x.z | x.w;
}

/*
 * How many quads of planes hold the values of all pixels that count: 0 to KEPT_QUADS, or
 * KEPT_QUADS + 1: they do not. count: of the planes of a full block, from the lowest on.
 */
AIRY_INLINE uint count_quads(const struct block *b, uint count, __global const uint *valid_words,
                             uint lane, __local uint *step)
{
    __local const uint4 *words = (__local const uint4 *)b->bytes;
    __global const uint4 *valid =
        (__global const uint4 *)(valid_words +
                                 b->first / AIRY_FUSED_TILE * (AIRY_FUSED_TILE / 32u));
    uint bits[KEPT_QUADS + 1u], seen = 0u; /* of each quad, and of all planes above */
#pragma unroll
    for (uint k = 0u; k <= KEPT_QUADS; k++)
        bits[k] = 0u;
#pragma unroll
    for (uint i = lane; i < 4u * ROW_QUADS; i += LANES) {
        const uint4 counts = valid[i % ROW_QUADS];
        uint4 above = (uint4)(0u);
#pragma unroll
        for (uint k = 0u; k < KEPT_QUADS; k++)
            bits[k] |= any_bit(words[k * 4u * ROW_QUADS + i] & counts);
#pragma unroll
        for (uint k = KEPT_QUADS; k < (count + 3u) / 4u; k++)
            if (k * 4u * ROW_QUADS + i < count * ROW_QUADS)
                above |= words[k * 4u * ROW_QUADS + i];
        bits[KEPT_QUADS] |= any_bit(above & counts);
    }
#pragma unroll
    for (uint k = 0u; k <= KEPT_QUADS; k++)
        seen |= bits[k] != 0u ? 1u << k : 0u;
    return 32u - clz(lanes_or(seen, lane, step));
}

/* Word w of quad k of a block: place in its frames' planes. Two words fill 32 bytes. */
AIRY_INLINE uint quad_place(uint k, uint w, uint frame)
{
    return ((k * (ROW_WORDS / 2u) + w / 2u) * SEATS + frame) * 2u + (w & 1u);
}

/* Pixels that do not count become 0. */
AIRY_INLINE void keep_planes(__global uint4 *planes, const struct block *b, uint quads, uint frame,
                             __global const uint *valid_words, uint lane)
{
    __local const uint *words = (__local const uint *)b->bytes;
    for (uint w = lane; w < ROW_WORDS; w += LANES) {
        const uint valid = valid_words[(b->first >> 5) + w];
        __global uint4 *to = planes + quad_place(0u, w, frame);
#pragma unroll
        for (uint k = 0u; k < KEPT_QUADS; k++) {
            if (k >= quads)
                break;
            __local const uint *x = words + k * 4u * ROW_WORDS + w;
            to[quad_place(k, 0u, 0u)] =
                valid & (uint4)(x[0], x[ROW_WORDS], x[2u * ROW_WORDS], x[3u * ROW_WORDS]);
        }
    }
}

/* Kept values are not negative, and the sums tell only how large they are. */
AIRY_INLINE void note_kept(__global uint *stat, const struct block *b,
                           __global const uint *valid_words, uint lane)
{
    uint valid = 0u;
    for (uint w = lane; w * 32u < b->pixels; w += LANES) {
        const uint count = min(32u, b->pixels - w * 32u);
        valid |= valid_words[(b->first >> 5) + w] & (0xffffffffu >> (32u - count));
    }
    if (valid != 0u && stat[2] < rank_of(0u)) {
        atomic_max(stat + 2, rank_of(0u));
        atomic_or(stat + 7, 1u);
    }
}

AIRY_INLINE struct group group_of(__global ulong *sums, uint frame, __global const float *norm,
                                  __global const float *dark, const airy_fused_geom *g)
{
    struct group to;
    to.low = to.high = to.stat = 0;
    to.sums = sums + (ulong)frame * AIRY_FUSED_PLANES * g->span;
    to.words = (__global uint *)sums + g->words +
               (ulong)frame * (AIRY_FUSED_WORD_PLANES * g->span + AIRY_FUSED_STAT_WORDS);
    to.norm = norm;
    to.dark = dark;
    return to;
}

/* What the lanes of a block work on. */
struct job {
    __global const uchar *bytes;
    __global const uint *table, *valid_words, *extra_start;
    __global const airy_fused_extra *extra;
    __global uint4 *planes;
    struct group to; /* of the frame */
    uint frame, lane;
    __local uint *step;
};

/* An airy_block at once: its size is looked at first, and would be waited for twice. */
AIRY_INLINE airy_block place_of(__global const uchar *bytes, uint frame, uint index,
                                const airy_fused_geom *g)
{
    __global const uint2 *places = (__global const uint2 *)(bytes + g->bytes_offset);
    const uint2 entry = places[(ulong)(g->first_frame + frame) * g->layout.blocks + index];
    const airy_block place = {entry.x, entry.y};
    return place;
}

/* A short block's planes to where a full one's are, from the last on; pixels behind it are 0. */
AIRY_INLINE void spread_planes(struct block *b, uint lane)
{
    __local uint *words = (__local uint *)b->bytes;
    ROLLED
    for (uint p = LOW_PLANES; p-- > 0u;) {
        ROLLED
        for (uint base = (ROW_WORDS - 1u) / LANES * LANES + LANES; base > 0u;) {
            base -= LANES;
            const uint w = base + lane;
            const uint x = w * 4u < b->row ? plane_word(b->bytes, p, b->row, w) : 0u;
            LANES_SYNC();
            if (w < ROW_WORDS)
                words[p * ROW_WORDS + w] = x;
            LANES_SYNC();
        }
    }
    b->row = 4u * ROW_WORDS;
}

/* The frame has a tail, and it comes next. */
AIRY_INLINE bool before_tail(uint index, const airy_fused_geom *g)
{
    return g->layout.tail_bytes != 0u && index + 2u == g->layout.blocks;
}

/* The tail's pixels to the planes of the short block before it. False: it is not as it should be. */
AIRY_INLINE bool join_tail(struct block *b, airy_block place, __global const uchar *bytes,
                           uint lane, const airy_fused_geom *g)
{
    __local uint *words = (__local uint *)b->bytes;
    __global const uchar *from = bytes + (g->bytes_offset + place.offset);
    const uint pixels = g->layout.tail_bytes / ELEM_SIZE;
    if (place.size != (g->layout.tail_bytes | AIRY_BLOCK_STORED))
        return false;
    ROLLED
    for (uint i = 0u; i < pixels; i++) {
        uint v = 0u;
        for (uint k = 0u; k < ELEM_SIZE; k++)
            v |= (uint)from[i * ELEM_SIZE + k] << (8u * k);
        const uint at = b->pixels + i;
        for (uint p = lane; p < LOW_PLANES; p += LANES) {
            const uint above = LOW_PLANES < PLANES && p == KEPT ? v >> KEPT : v >> p & 1u;
            words[p * ROW_WORDS + at / 32u] |= (above != 0u ? 1u : 0u) << (at & 31u);
        }
    }
    b->pixels += pixels;
    LANES_SYNC();
    return true;
}

/* The LOW_PLANES of block `index` of a frame, a short one's with its tail. False: not for here. */
AIRY_INLINE bool load_planes(struct block *b, uint index, const struct job *job,
                             const airy_fused_geom *g)
{
    const airy_block place = place_of(job->bytes, job->frame, index, g);
    const ulong from = g->bytes_offset + place.offset;
    const uint size = b->pixels * ELEM_SIZE;
    if ((place.size & AIRY_BLOCK_STORED) != 0u) /* or absent */
        return false;
#ifdef LOW_BYTES
    if (!decode_low(b->bytes, LOW_PLANES * b->row, b->row, size, job->bytes + from, place.size,
                    job->lane, job->step))
        return false;
#else
    if (decode_lz4(b->bytes, 0u, size, job->bytes, from, place.size, job->lane, job->step) !=
        AIRY_STATUS_GOOD)
        return false;
#endif
    if (b->full)
        return true;
    spread_planes(b, job->lane);
    return !before_tail(index, g) ||
           join_tail(b, place_of(job->bytes, job->frame, index + 1u, g), job->bytes, job->lane, g);
}

/* The planes of a block whose extra entries are done with. */
AIRY_INLINE void keep_block(const struct block *b, uint quads, uint row, const struct job *job,
                            const airy_fused_geom *g)
{
    keep_planes(job->planes + (ulong)row * BLOCK_QUADS, b, quads, job->frame, job->valid_words,
                job->lane);
    if (SIGNED)
        note_kept(job->to.words + AIRY_FUSED_WORD_PLANES * g->span, b, job->valid_words, job->lane);
}

/*
 * Blocks to planes. quads: [range_blocks][AIRY_FUSED_LANES], how many of planes there are, or LEFT.
 * Mapping: groups of LANES * BLOCKS items, which is exact, take BLOCKS frames (0) of a block (1).
 * Local memory: BLOCKS * (LOW_STORE + 32) bytes. Barriers: of a block's lanes.
 */
__kernel __attribute__((reqd_work_group_size(LANES * BLOCKS, 1, 1))) void
integrate_planes(__global const uchar *bytes, __global const uint *table,
                 __global const uint *valid_words, __global const uint *extra_start,
                 __global const airy_fused_extra *extra, __global const float *norm,
                 __global const float *dark, __global ulong *sums, __global uchar *quads,
                 __global uint4 *planes, const airy_fused_geom g)
{
    __local uint4 store[BLOCKS][LOW_STORE / 16];
    __local uint steps[BLOCKS][STEP_WORDS];
    const uint slot = get_local_id(0) / LANES, lane = get_local_id(0) % LANES;
    const uint frame = (uint)get_group_id(0) * BLOCKS + slot, row = (uint)get_group_id(1),
               index = g.first_block + row;
    if (frame >= g.frames)
        return;
    const struct job job = {bytes,
                            table,
                            valid_words,
                            extra_start,
                            extra,
                            planes,
                            group_of(sums, frame, norm, dark, &g),
                            frame,
                            lane,
                            steps[slot]};
    struct block b = block_at(index, store[slot], &g);
    uint2 range = extra_range(&b, extra_start);
    uint kept = LEFT;
    if (index > 0u && before_tail(index - 1u, &g) && g.layout.last_bytes != 0u) {
        kept = 0u;
    } else if (load_planes(&b, index, &job, &g)) {
        const uint need = count_quads(&b, LOW_PLANES, valid_words, lane, job.step);
        if (!b.full)
            range = extra_range(&b, extra_start);
        if (need <= g.quads) {
            kept = need;
            b.planes = 4u * need;
            add_extra(&b, lane, range, extra, &job.to, &g);
            keep_block(&b, kept, row, &job, &g);
        }
    }
    if (lane == 0u)
        quads[row * AIRY_FUSED_LANES + frame] = (uchar)kept;
}

/* A block that has no planes to the sums, pixel by pixel, but for its extra entries. */
AIRY_INLINE void add_pixels(const struct block *b, const struct job *job, const airy_fused_geom *g)
{
    __global uint *stat = job->to.words + AIRY_FUSED_WORD_PLANES * g->span;
    struct tally t;
    t.total = 0UL;
    t.rank = t.seen = t.invalid = t.saturated = 0u;
    t.carry.at = t.carry.low = t.carry.high = t.carry.old = 0u;
    add_block(b, &t, job->lane, job->table, job->valid_words, &job->to, g);
    if (t.total != 0UL)
        add_global((__global ulong *)stat, stat + 6, t.total);
    atomic_max(stat + 2, t.rank);
    if (t.seen != 0u)
        atomic_or(stat + 7, 1u);
    if (t.invalid != 0u)
        atomic_add(stat + 3, t.invalid);
    if (t.saturated != 0u)
        atomic_add(stat + 4, t.saturated);
}

/*
 * A block that was LEFT. Returns the number of its quads. Its lanes meet whatever the block is: some
 * compilers make two programs of what follows a meeting that depends on it.
 */
AIRY_INLINE uint add_left(uint index, __local uint4 *store, const struct job *job,
                          const airy_fused_geom *g)
{
    struct block b = block_at(index, store, g);
    const uint2 range = extra_range(&b, job->extra_start);
    const airy_block place = place_of(job->bytes, job->frame, index, g);
    const uint reason = load_block(&b, place, job->bytes, job->lane, job->step, g);
    LANES_SYNC();
    /* Of a block that is not full it means nothing. */
    const uint need = count_quads(&b, PLANES, job->valid_words, job->lane, job->step);
    const bool good = reason == AIRY_STATUS_GOOD, keep = b.full && !b.native && need <= g->quads;
    if (good)
        add_extra(&b, job->lane, range, job->extra, &job->to, g);
    LANES_SYNC();
    /* The lowest status word wins: the highest complement, so that 0 is good. */
    if (!good && job->lane == 0u)
        atomic_max(job->to.words + AIRY_FUSED_WORD_PLANES * g->span + 5, ~(index << 3 | reason));
    if (good && keep)
        keep_block(&b, need, index - g->first_block, job, g);
    else if (good)
        add_pixels(&b, job, g);
    return good && keep ? need : 0u;
}

/* The first of quads from `at` on that is LEFT, in steps of range_blocks; or the end. */
AIRY_INLINE uint next_left(__global const uchar *quads, uint at, const airy_fused_geom *g)
{
    while (at < AIRY_FUSED_LANES * g->range_blocks &&
           (at % AIRY_FUSED_LANES >= g->frames || quads[at] != LEFT))
        at += g->range_blocks;
    return at;
}

/*
 * What was LEFT to planes if the whole block allows it, or else to sums: blocks of another kind,
 * large counts, values that are left out. It is dealt out so that the frames of a block, which are
 * often LEFT together, go to different groups.
 * Mapping: range_blocks groups of LANES items. Local memory: BLOCK_STORE + 32 bytes. Barriers: of a
 *          block's lanes.
 */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
integrate_planes_rest(__global const uchar *bytes, __global const uint *table,
                      __global const uint *valid_words, __global const uint *extra_start,
                      __global const airy_fused_extra *extra, __global const float *norm,
                      __global const float *dark, __global ulong *sums, __global uchar *quads,
                      __global uint4 *planes, const airy_fused_geom g)
{
    __local uint4 store[BLOCK_STORE / 16];
    __local uint step[STEP_WORDS];
    const uint lane = get_local_id(0), group = (uint)get_group_id(0);
    uint seen = 0u;
    for (uint k = lane; k < AIRY_FUSED_LANES; k += LANES) {
        const uint at = k * g.range_blocks + group;
        if (at % AIRY_FUSED_LANES < g.frames)
            seen |= quads[at];
    }
    const uint end = AIRY_FUSED_LANES * g.range_blocks;
    uint at = (lanes_or(seen, lane, step) & LEFT) != 0u ? next_left(quads, group, &g) : end;
    ROLLED
    while (at < end) {
        const uint frame = at % AIRY_FUSED_LANES, index = g.first_block + at / AIRY_FUSED_LANES;
        const struct job job = {bytes,
                                table,
                                valid_words,
                                extra_start,
                                extra,
                                planes,
                                group_of(sums, frame, norm, dark, &g),
                                frame,
                                lane,
                                step};
        /* A tail goes with the short block before it. */
        const uint last = g.layout.last_bytes != 0u && before_tail(index, &g) ? index + 1u : index;
        uint kept = 0u;
        ROLLED
        for (uint i = index; i <= last; i++) {
            kept |= add_left(i, store, &job, &g);
            LANES_SYNC();
        }
        if (lane == 0u)
            quads[at] = (uchar)kept;
        at = next_left(quads, at + g.range_blocks, &g);
    }
}

/* Sums of 64 bits that cannot overflow: fused_geom.h. */
AIRY_INLINE void add_lane(__global ulong *sum, ulong v)
{
#if defined(AIRY_ADD_64)
    AIRY_ADD_64(sum, v);
#elif defined(AIRY_INT64_ATOMICS)
    (void)atom_add(sum, v);
#else
    __global uint *half_word = (__global uint *)sum; /* little-endian */
    const uint lo = (uint)v, old = atomic_add(half_word, lo);
    const uint hi = (uint)(v >> 32) + (old + lo < old ? 1u : 0u);
    if (hi != 0u)
        atomic_add(half_word + 1, hi);
#endif
}

/*
 * Running sums of a part, which are never set back, so that most pixels take few instructions:
 * counts, and counts times the far bin's weight. At the i-th change of bins the near one is left
 * with (counts - far)[i] - (counts - far)[i - 1] in units of 2^F, and what it got as the far one
 * before, far[i - 1] - far[i - 2]: a difference of (counts - far)[i] + far[i - 1], kept as done. A
 * part has 256 pixels below 2^16, weights are up to 2^22: all stay below 2^47.
 */
struct lane_run {
    __global ulong *near; /* sum of the near bin */
    int step;             /* from there to the far one's */
    uint counts, largest;
    ulong far, far_before, done;
    /* poisson: sums of squared weights times max(1, count) - 1 */
    ulong squares_near, squares_far, squares_before, squares_done;
};

AIRY_INLINE void set_pair(struct lane_run *r, __global ulong *sums, uint near, uint up)
{
    r->near = sums + near * AIRY_FUSED_LANES;
    r->step = up != 0u ? (int)AIRY_FUSED_LANES : -(int)AIRY_FUSED_LANES;
}

/* The near bin is done with; the far one takes its place. */
AIRY_INLINE void leave_near(struct lane_run *r, const airy_fused_geom *g)
{
    const ulong done = ((ulong)r->counts << FRACTION_BITS) + (r->far_before - r->far);
    add_lane(r->near, done - r->done);
    r->done = done;
    r->far_before = r->far;
    if (POISSON) {
        const ulong squares = r->squares_near + r->squares_before;
        add_lane(r->near + g->span * AIRY_FUSED_LANES, squares - r->squares_done);
        r->squares_done = squares;
        r->squares_before = r->squares_far;
    }
    r->near += r->step;
}

/* After leave_near: the other bin is done with too. */
AIRY_INLINE void leave_far(struct lane_run *r, const airy_fused_geom *g)
{
    const ulong done = (ulong)r->counts << FRACTION_BITS;
    add_lane(r->near, done - r->done);
    r->done = done;
    if (POISSON) {
        const ulong squares = r->squares_near + r->squares_far;
        add_lane(r->near + g->span * AIRY_FUSED_LANES, squares - r->squares_done);
        r->squares_done = squares;
    }
}

AIRY_INLINE void add_lane_pixel(struct lane_run *r, uint weight, uint v)
{
    r->counts += v;
    r->far += (ulong)v * weight;
    r->largest = max(r->largest, v);
    if (POISSON) {
        /* (2^F - w)^2 is 2^F - 2 w and w^2 in the unit of weights. */
        const uint above = max(v, 1u) - 1u, square = (uint)airy_fused_square(weight, FRACTION_BITS);
        r->squares_near += (ulong)above * ((1u << FRACTION_BITS) - 2u * weight + square);
        r->squares_far += (ulong)above * square;
    }
}

/* Word w of a lane's planes of a block. */
AIRY_INLINE void load_quads(uint4 *x, __global const uint4 *planes, uint w, uint quads)
{
    __global const uint4 *at = planes + quad_place(0u, w, 0u);
#pragma unroll
    for (uint k = 0u; k < KEPT_QUADS; k++)
        x[k] = k < quads ? at[quad_place(k, 0u, 0u)] : (uint4)(0u);
}

/*
 * Planes to sums of bins.
 * Mapping: a work-group is a row of AIRY_FUSED_LANES items, SHARES lanes a frame, and takes a part,
 *          each lane its share. With SHARES 1 all but the counts is the same for its items, which
 *          the compiler can tell.
 * Local memory: AIRY_PART_WORDS words. Barriers: one.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_FUSED_LANES, 1, 1))) void
integrate_planes_sum(__global const uint *table, __global const uint *parts,
                     __global const uchar *quads, __global const uint4 *planes,
                     __global ulong *sums, const airy_fused_geom g)
{
    __local uint4 store[AIRY_PART_WORDS / 4u];
    __local const uint *head = (__local const uint *)store;
    const uint row = (uint)get_group_id(0) / PARTS, part = (uint)get_group_id(0) % PARTS,
               lane = (uint)get_local_id(0), frame = lane % SEATS;
    const uint first = ((g.first_block + row) * PARTS + part) * AIRY_FUSED_PART;
    __global const uint4 *from = (__global const uint4 *)parts +
                                 (ulong)(first / AIRY_FUSED_PART) * (AIRY_PART_WORDS / 4u);
    const bool there = first < g.layout.frame_bytes / ELEM_SIZE; /* or all is behind the frame */
    for (uint i = lane; there && i < AIRY_PART_WORDS / 4u; i += AIRY_FUSED_LANES)
        AIRY_FETCH16(store + i, from + i);
    const uint kept = there ? quads[row * AIRY_FUSED_LANES + frame] : 0u;
    const uint begin = SHARES == 1 ? 0u : lane / SEATS * SHARE_ROWS;
    __global const uint4 *mine = planes + (ulong)row * BLOCK_QUADS + 2u * frame;
    uint4 quad[KEPT_QUADS]; /* of the next word */
    load_quads(quad, mine, part * PART_ROWS + begin, frame < g.frames ? kept : 0u);
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (frame >= g.frames || kept == 0u)
        return;
    __global ulong *lane_sums = sums + g.lane_sums + frame;
    struct lane_run r;
    r.counts = r.largest = 0u;
    r.far = r.far_before = r.done = 0UL;
    r.squares_near = r.squares_far = r.squares_before = r.squares_done = 0UL;
    const uint start = head[AIRY_PART_NEAR + begin];
    set_pair(&r, lane_sums, start & ~(1u << AIRY_PART_UP), start >> AIRY_PART_UP);
    uint known = 1u; /* the pair of this word's first pixel is set */
    for (uint w = begin; w < begin + SHARE_ROWS; w++) {
        uint x[KEPT];
#pragma unroll
        for (uint k = 0u; k < KEPT_QUADS; k++) {
            x[4u * k] = quad[k].x;
            x[4u * k + 1u] = quad[k].y;
            x[4u * k + 2u] = quad[k].z;
            x[4u * k + 3u] = quad[k].w;
        }
        load_quads(quad, mine, part * PART_ROWS + min(w + 1u, begin + SHARE_ROWS - 1u), kept);
        TRANSPOSE_8(x)
#if ELEM_SIZE != 1
        if (kept > 2u)
            TRANSPOSE_8((x + 8))
        TRANSPOSE_QUARTERS(x, 16u)
#endif
        /* PACKED pixels at a time: so much code stays in the nearest cache. */
#pragma unroll 1
        for (uint half_word = 0u; half_word < 32u; half_word += PACKED) {
            const uint changes = (head[AIRY_PART_CHANGES + w] & ~known) >> half_word,
                       jumps = head[AIRY_PART_JUMPS + w] >> half_word;
            const uint at = w * 32u + half_word, ups = head[AIRY_PART_UPS + w] >> half_word;
            __global const uint *entries = table + airy_fused_place(first + at);
            __local const uint4 *weights = store + (AIRY_PART_HEAD + at) / 4u;
            uint4 f = weights[0], ahead = f;
#pragma unroll
            for (uint i = 0u; i < PACKED; i++) {
                if (i % 4u == 0u) {
                    f = ahead;
                    ahead = weights[min(i / 4u + 1u, PACKED / 4u - 1u)];
                }
                if ((changes & 1u << i) != 0u) {
                    leave_near(&r, &g);
                    if ((jumps & 1u << i) != 0u) {
                        const uint entry = entries[airy_fused_place(i)], up = ups >> i & 1u;
                        leave_far(&r, &g);
                        set_pair(&r, lane_sums, (entry >> FRACTION_BITS) + 1u - up, up);
                    }
                }
                const uint weight = i % 4u == 0u   ? f.x
                                    : i % 4u == 1u ? f.y
                                    : i % 4u == 2u ? f.z
                                                   : f.w;
                add_lane_pixel(&r, weight, x[i] & PACKED_MASK);
            }
#pragma unroll
            for (uint i = 0u; i < PACKED; i++)
                x[i] >>= PACKED;
        }
        known = 0u;
    }
    leave_near(&r, &g);
    leave_far(&r, &g);
    __global ulong *totals = lane_sums + SUMS * g.span * AIRY_FUSED_LANES;
    __global uint *tops = (__global uint *)(totals - frame + AIRY_FUSED_SLOTS * AIRY_FUSED_LANES) +
                          frame;
    const uint slot = (uint)get_group_id(0) % AIRY_FUSED_SLOTS * AIRY_FUSED_LANES;
    if (r.counts != 0u) {
        add_lane(totals + slot, r.counts);
        atomic_max(tops + slot, r.largest);
    }
}
