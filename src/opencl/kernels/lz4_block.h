/*
 * One LZ4 block decoded by LANES work-items, and the bit transpose of bitshuffle in registers.
 *
 * Build options: LANES 1, 32 or 64: work-items that share a block; BLOCK_SPACE __local or
 * __global: where the decoded block lies; BLOCK_BYTES: the largest one.
 *
 * With LANES 32 on NVIDIA the items are one warp: all of them parse the same bytes and meet by
 * warp barriers, so that a work-group may hold several blocks (BLOCKS). Elsewhere, and with
 * -DPORTABLE, they are the whole work-group: the first one parses, and there are two barriers a
 * sequence that all items pass whatever they do in between. LANES 1 needs neither.
 */
#ifndef AIRY_KERNELS_LZ4_BLOCK_H
#define AIRY_KERNELS_LZ4_BLOCK_H

#include "shared/block_layout.h"

#ifndef LANES
#define LANES 32
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef BLOCK_SPACE
#define BLOCK_SPACE __local
#define BLOCK_IS_LOCAL
#endif
#ifndef BLOCK_BYTES
#define BLOCK_BYTES 8192
#endif

#if LANES == 1
#define LANES_SYNC()
#elif defined(AIRY_WARP) && LANES == 32 && !defined(PORTABLE)
#define LANES_ARE_A_WARP
#define LANES_SYNC() AIRY_WARP_SYNC()
#elif defined(AS_WARP) /* for tests: a warp's code where there are none */
#define LANES_SYNC() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define LANES_ARE_A_GROUP
#define LANES_SYNC() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#if BLOCKS != 1
#error "several blocks in a work-group need lanes that meet without it"
#endif
#endif

/*
 * Most loops here run once or not at all. Unrolled they are only more instructions, for which a
 * GPU's caches are small.
 */
#define ROLLED _Pragma("unroll 1")

/* Words of local memory that the lanes of a block use among themselves. */
#define STEP_WORDS (AIRY_STEP_BYTES / 4u)

/* Bytes of local memory for a block of up to BLOCK_BYTES. */
#define BLOCK_STORE (BLOCK_BYTES + AIRY_STAGE_MARGIN)

#if defined(BLOCK_IS_LOCAL) && !defined(LANES_ARE_A_GROUP) && LANES == 32
#define LANES_STAGE
#define STAGE_BYTES (BLOCK_STORE - AIRY_STAGE_BEHIND) /* compressed bytes may take the last */
#endif

/* From this many bytes on, copies go by words. */
#define WORDS_FROM 64u

/*
 * A length that goes on behind the token. False: the bytes end inside it. Saturates, so no run of
 * 255 can wrap it around.
 */
AIRY_INLINE bool read_length(uint *length, __global const uchar *in, uint *at, uint n, uint lane)
{
    uint c;
    (void)lane;
    ROLLED
    do {
        if (*at >= n)
            return false;
        c = in[*at];
        *at += 1u;
        *length = add_sat(*length, c);
#ifdef LANES_ARE_A_WARP
        ROLLED
        while (c == 255u) {
            const uint mine = n - *at > lane ? in[*at + lane] : 0u;
            const uint stop = AIRY_BALLOT(mine != 255u);
            if (stop != 0u) {
                const uint run = 31u - clz(stop & (0u - stop));
                *length = add_sat(*length, run * 255u);
                *at += run;
                break;
            }
            *length = add_sat(*length, 32u * 255u);
            *at += 32u;
        }
#endif
    } while (c == 255u);
    return true;
}

/*
 * out[to ...] = the `count` bytes from bytes[from] on. Reads whole words: up to 7 bytes behind the
 * last one.
 */
AIRY_INLINE void copy_literals(BLOCK_SPACE uchar *out, uint to, __global const uchar *bytes,
                               ulong from, uint count, uint lane)
{
    if (count < WORDS_FROM) {
        ROLLED
        for (uint i = lane; i < count; i += LANES)
            out[to + i] = bytes[from + i];
        return;
    }
    const uint head = (0u - to) & 3u, words = (count - head) >> 2;
    ROLLED
    for (uint i = lane; i < head; i += LANES)
        out[to + i] = bytes[from + i];
    const uint shift = (uint)((from + head) & 3u) * 8u;
    __global const uint *src = (__global const uint *)bytes + ((from + head) >> 2);
    BLOCK_SPACE uint *dst = (BLOCK_SPACE uint *)(out + to + head);
    ROLLED
    for (uint i = lane; i < words; i += LANES)
        dst[i] = (uint)(((ulong)src[i + 1u] << 32 | src[i]) >> shift);
    ROLLED
    for (uint i = head + words * 4u + lane; i < count; i += LANES)
        out[to + i] = bytes[from + i];
}

/* The same within the block, from a place at least `count` bytes before. */
AIRY_INLINE void copy_within(BLOCK_SPACE uchar *out, uint to, uint from, uint count, uint lane)
{
    if (count < WORDS_FROM) {
        ROLLED
        for (uint i = lane; i < count; i += LANES)
            out[to + i] = out[from + i];
        return;
    }
    const uint head = (0u - to) & 3u, words = (count - head) >> 2;
    ROLLED
    for (uint i = lane; i < head; i += LANES)
        out[to + i] = out[from + i];
    const uint shift = ((from + head) & 3u) * 8u;
    BLOCK_SPACE const uint *src = (BLOCK_SPACE const uint *)(out + ((from + head) & ~3u));
    BLOCK_SPACE uint *dst = (BLOCK_SPACE uint *)(out + to + head);
    /*
     * src[i + 1] ends at most 7 bytes behind the source, which is inside the destination: never
     * outside the block.
     */
    ROLLED
    for (uint i = lane; i < words; i += LANES)
        dst[i] = (uint)(((ulong)src[i + 1u] << 32 | src[i]) >> shift);
    ROLLED
    for (uint i = head + words * 4u + lane; i < count; i += LANES)
        out[to + i] = out[from + i];
}

AIRY_INLINE void fill_bytes(BLOCK_SPACE uchar *out, uint to, uint count, uint value, uint lane)
{
    uint head = count, quads = 0u;
    if (count >= WORDS_FROM) {
        head = (0u - to) & 15u;
        quads = (count - head) >> 4;
    }
    ROLLED
    for (uint i = lane; i < head; i += LANES)
        out[to + i] = (uchar)value;
    BLOCK_SPACE uint4 *dst = (BLOCK_SPACE uint4 *)(out + to + head);
    const uint4 four = (uint4)(value * 0x01010101u);
    ROLLED
    for (uint i = lane; i < quads; i += LANES)
        dst[i] = four;
    ROLLED
    for (uint i = head + quads * 16u + lane; i < count; i += LANES)
        out[to + i] = (uchar)value;
}

/* A match that overlaps itself: count bytes of period offset. */
AIRY_INLINE void repeat_bytes(BLOCK_SPACE uchar *out, uint to, uint offset, uint count, uint lane)
{
    const uint step = LANES % offset;
    uint phase = lane % offset;
    ROLLED
    for (uint i = lane; i < count; i += LANES) {
        out[to + i] = out[to - offset + phase];
        phase += step;
        phase -= phase >= offset ? offset : 0u;
    }
}

#ifdef LANES_ARE_A_GROUP
AIRY_INLINE void copy_match(BLOCK_SPACE uchar *out, uint to, uint offset, uint count, uint lane)
{
    if (offset >= count)
        copy_within(out, to, to - offset, count, lane);
    else if (offset == 1u)
        fill_bytes(out, to, count, out[to - 1u], lane);
    else
        repeat_bytes(out, to, offset, count, lane);
}

/* What the first lane reads of a sequence, for the others. */
#define STEP_FROM     0 /* of the literals, within the compressed bytes */
#define STEP_LITERALS 1 /* how many */
#define STEP_OFFSET   2
#define STEP_MATCH    3 /* its length */
#define STEP_NEXT     4 /* where the next sequence begins */
#define STEP_REASON   5 /* MORE, or the end */
#define MORE          8u

AIRY_INLINE uint read_sequence(__local uint *step, __global const uchar *in, uint n, uint room,
                               uint before)
{
    uint at = step[STEP_NEXT];
    step[STEP_LITERALS] = 0u;
    if (at >= n)
        return AIRY_REASON_TOKEN;
    const uint token = in[at];
    at += 1u;
    uint count = token >> 4;
    if (count == 15u && !read_length(&count, in, &at, n, 0u))
        return AIRY_REASON_TOKEN;
    if (count > n - at || count > room)
        return AIRY_REASON_LITERAL;
    step[STEP_FROM] = at;
    step[STEP_LITERALS] = count;
    at += count;
    if (count == room)
        return at == n ? AIRY_STATUS_GOOD : AIRY_REASON_LONG;
    if (at == n)
        return AIRY_REASON_SHORT;
    if (n - at < 2u)
        return AIRY_REASON_TOKEN;
    const uint offset = in[at] | (uint)in[at + 1u] << 8;
    at += 2u;
    if (offset == 0u || offset > before + count)
        return AIRY_REASON_OFFSET;
    room -= count;
    count = token & 15u;
    if (count == 15u && !read_length(&count, in, &at, n, 0u))
        return AIRY_REASON_TOKEN;
    count = add_sat(count, 4u);
    if (count > room)
        return AIRY_REASON_MATCH;
    step[STEP_OFFSET] = offset;
    step[STEP_MATCH] = count;
    step[STEP_NEXT] = at;
    return MORE;
}
#else
/*
 * A long match that overlaps itself goes on by words as soon as four periods, which are a whole
 * number of words, stand before an aligned place.
 */
AIRY_INLINE void repeat_words(BLOCK_SPACE uchar *out, uint to, uint offset, uint count, uint lane)
{
    const uint first = ((to + 4u * offset + 3u) & ~3u) - to;
    if (first >= count) {
        repeat_bytes(out, to, offset, count, lane);
        return;
    }
    repeat_bytes(out, to, offset, first, lane);
    LANES_SYNC();
    const uint words = (count - first) >> 2, step = LANES % offset;
    BLOCK_SPACE uint *dst = (BLOCK_SPACE uint *)(out + to + first);
    uint phase = lane % offset;
    ROLLED
    for (uint i = lane; i < words; i += LANES) {
        dst[i] = (dst - offset)[phase];
        phase += step;
        phase -= phase >= offset ? offset : 0u;
    }
    ROLLED
    for (uint i = first + words * 4u + lane; i < count; i += LANES)
        out[to + i] = out[to - offset + i % offset];
}

/* True for all lanes if it is for one. */
AIRY_INLINE bool lanes_any(bool mine, uint lane, __local uint *step)
{
    (void)lane;
    (void)step;
#if LANES == 1
    return mine;
#elif defined(LANES_ARE_A_WARP)
    return AIRY_BALLOT(mine) != 0u;
#else
    LANES_SYNC();
    if (lane == 0u)
        step[0] = 0u;
    LANES_SYNC();
    if (mine)
        atomic_or(&step[0], 1u);
    LANES_SYNC();
    return step[0] != 0u;
#endif
}

AIRY_INLINE void copy_match(BLOCK_SPACE uchar *out, uint to, uint offset, uint count, uint lane,
                            __local uint *step)
{
    if (offset >= count) {
        copy_within(out, to, to - offset, count, lane);
        return;
    }
    if (offset == 1u) {
        fill_bytes(out, to, count, out[to - 1u], lane);
        return;
    }
    if (count < 2u * WORDS_FROM) {
        repeat_bytes(out, to, offset, count, lane);
        return;
    }
    /* The one long match of most blocks is the empty upper planes, at any distance. */
    uint seen = 0u;
    ROLLED
    for (uint i = lane; i < offset; i += LANES)
        seen |= out[to - offset + i];
    if (!lanes_any(seen != 0u, lane, step))
        fill_bytes(out, to, count, 0u, lane);
    else
        repeat_words(out, to, offset, count, lane);
}
#endif

#ifdef LANES_STAGE
/*
 * The way of a warp. The compressed bytes are copied to the end of the block's own memory, and
 * everything is a move inside it from then on: a sequence of at most 32 bytes is one move of a byte
 * a lane, literals and match together. Places count from `out`.
 */

/*
 * What a length of 15 goes on with; at: a place of which a byte can be read. When the bytes end
 * inside it, `at` is behind them. No sum wraps around: there are at most BLOCK_STORE bytes.
 */
AIRY_INLINE uint staged_length(__local const uchar *in, uint *at, uint stop, uint lane)
{
    uint c = in[*at], sum = c;
    (void)lane;
    *at += 1u;
    ROLLED
    while (c == 255u && *at < stop) {
#ifdef LANES_ARE_A_WARP
        const uint mine = *at + lane < stop ? in[*at + lane] : 0u;
        const uint ends = AIRY_BALLOT(mine != 255u);
        const uint run = ends != 0u ? 31u - clz(ends & (0u - ends)) : 31u;
        sum += run * 255u;
        *at += run;
#endif
        c = in[*at];
        sum += c;
        *at += 1u;
    }
    return sum;
}

/*
 * Bytes to another place in `out`, by words: 32 lanes read 256 bytes before any of them writes, so
 * that a lower place may be as near as it likes. Up to 3 bytes behind the last are written, too,
 * where nothing stands yet that is needed. Around the source, up to 3 bytes before and 7 behind are
 * read.
 */
AIRY_INLINE void move_words(__local uchar *out, uint to, uint from, uint count, uint lane)
{
    const uint head = to & 3u, words = (head + count + 3u) >> 2;
    const uint start = from - head, shift = (start & 3u) * 8u;
    __local const uint *src = (__local const uint *)(out + (start & ~3u)) + lane;
    __local uint *dst = (__local uint *)(out + (to - head));
    /* The bytes of the first word that stand there already. */
    const uint before = dst[0];
    uint stays = lane == 0u ? (1u << (8u * head)) - 1u : 0u;
    dst += lane;
    ROLLED
    for (uint base = 0u; base < words; base += 64u) {
        const int rest = (int)(words - base - lane);
        uint x = 0u, y = 0u;
        if (rest > 0)
            x = (uint)(((ulong)src[base + 1u] << 32 | src[base]) >> shift);
        if (rest > 32)
            y = (uint)(((ulong)src[base + 33u] << 32 | src[base + 32u]) >> shift);
        LANES_SYNC();
        if (rest > 0)
            dst[base] = (before & stays) | (x & ~stays);
        if (rest > 32)
            dst[base + 32u] = y;
        stays = 0u;
    }
}

/* Divisors of small numbers: i / n is i * small_inverse[n] / 2^16 for i < 95. */
__constant uint small_inverse[32] = {0u,    65536u, 32768u, 21846u, 16384u, 13108u, 10923u, 9363u,
                                     8192u, 7282u,  6554u,  5958u,  5462u,  5042u,  4682u,  4370u,
                                     4096u, 3856u,  3641u,  3450u,  3277u,  3121u,  2979u,  2850u,
                                     2731u, 2622u,  2521u,  2428u,  2341u,  2260u,  2185u,  2115u};

AIRY_INLINE uint small_mod(uint i, uint n)
{
    return i - n * (i * small_inverse[n] >> 16);
}

/*
 * `count` bytes of what stands before them with a period of whole quads, of which 32 lanes either
 * hold a whole number or do not meet themselves: 16, 32 ... 512, or more.
 */
AIRY_INLINE void repeat_quads(__local uchar *out, uint to, uint period, uint count, uint lane)
{
    const uint head = min((0u - to) & 15u, count), quads = (count - head) >> 4;
    const uint tail = head + quads * 16u, distance = period >> 4;
    if (lane < head)
        out[to + lane] = out[to - period + lane];
    LANES_SYNC();
    __local uint4 *dst = (__local uint4 *)(out + to + head);
    uint4 v = (dst - distance)[distance < 32u ? lane & (distance - 1u) : lane];
    if (distance <= 32u) {
        ROLLED
        for (uint i = lane; i < quads; i += 128u) {
            const uint rest = quads - i;
            dst[i] = v;
#pragma unroll
            for (uint k = 1u; k < 4u; k++)
                if (rest > 32u * k)
                    dst[i + 32u * k] = v;
        }
    } else {
        ROLLED
        for (uint base = 0u; base < quads; base += 32u) {
            if (base + lane < quads)
                dst[base + lane] = v;
            LANES_SYNC();
            if (base + 32u + lane < quads)
                v = (dst - distance)[base + 32u + lane];
        }
    }
    LANES_SYNC();
    if (lane < count - tail)
        out[to + tail + lane] = out[to + tail - period + lane];
}

/*
 * Bytes that stand before their destination: at least `count` before it, or else with a period of
 * a power of two. mask: period - 1, or all ones.
 */
AIRY_INLINE void move_masked(__local uchar *out, uint to, uint offset, uint count, uint mask,
                             uint lane)
{
    __local const uchar *src = out + (to - offset);
    ROLLED
    for (uint base = 0u; base < count; base += 128u) {
        const uint i = base + lane;
        const int rest = (int)(count - i);
        __local uchar *dst = out + (to + i);
        uint c[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            c[k] = rest > 32 * k ? src[i + 32u * (uint)k & mask] : 0u;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (rest > 32 * k)
                dst[32 * k] = (uchar)c[k];
    }
}

/* A match that overlaps itself, with any period. */
AIRY_INLINE void repeat_match(__local uchar *out, uint to, uint offset, uint count, uint lane)
{
    uint period = offset;
    if (offset < 32u) {
        period <<= clz(offset) - 26u; /* whole periods: 32 to 63 bytes */
        const uint first = min(period, count);
        const uint c = out[to - offset + small_mod(lane, offset)];
        const uint more = out[to - offset + small_mod(32u + lane, offset)];
        if (lane < first)
            out[to + lane] = (uchar)c;
        if (lane + 32u < first)
            out[to + 32u + lane] = (uchar)more;
        to += first;
        count -= first;
        LANES_SYNC();
    }
    ROLLED
    while (count > period) {
        if ((period & 15u) == 0u && (period >= 512u || (period & (period - 1u)) == 0u)) {
            repeat_quads(out, to, period, count, lane);
            return;
        }
        move_masked(out, to, period, period, ~0u, lane);
        LANES_SYNC();
        to += period;
        count -= period;
        period += period;
    }
    move_masked(out, to, period, count, ~0u, lane);
}

/*
 * A sequence of which both lengths are in the token, so that it makes at most 32 bytes: a byte a
 * lane. Places count from the literals' end, in the bytes (low) and in the output (place). The
 * match may begin in these literals, which are read where they come from: what is written ends
 * before. Lanes that have no byte do not step aside: what they write behind is below
 * AIRY_STAGE_DISTANCE and stands for nothing yet.
 */
AIRY_INLINE void move_short(__local uchar *out, uint place, __local const uchar *low, uint literals,
                            uint offset, uint match, uint lane)
{
    int i = (int)(lane - literals);
    if (offset < match && i >= 0)
        i = (int)small_mod((uint)i, offset);
    if (lane >= literals)
        i -= (int)offset;
    __local const uchar *src = i + (int)literals < 0 ? out + place : low;
    out[place - literals + lane] = src[i];
}

/* Any sequence. from: place of its literals in out. */
AIRY_INLINE void move_long(__local uchar *out, uint place, uint from, uint literals, uint offset,
                           uint match, uint lane)
{
    if (literals != 0u) {
        move_words(out, place - literals, from, literals, lane);
        LANES_SYNC();
    }
    if (offset >= match && place - offset >= 3u)
        move_words(out, place, place - offset, match, lane);
    else if (offset >= match)
        move_masked(out, place, offset, match, ~0u, lane);
    else if ((offset & (offset - 1u)) == 0u && match <= 512u)
        move_masked(out, place, offset, match, offset - 1u, lane);
    else
        repeat_match(out, place, offset, match, lane);
}

/* The n bytes at `bytes` to the end of the first `room` of out. Returns their place. */
AIRY_INLINE uint stage_bytes(__local uchar *out, uint room, __global const uchar *bytes, uint n,
                             uint lane)
{
    const uint skew = (uint)(ulong)bytes & 15u, quads = (skew + n + 15u) >> 4;
    const uint first = room / 16u - quads;
    __global const uint4 *src = (__global const uint4 *)(bytes - skew);
    __local uint4 *stage = (__local uint4 *)out + first;
    ROLLED
    for (uint i = lane; i < quads; i += 32u)
        AIRY_FETCH16(stage + i, src + i);
    AIRY_FETCHED();
    LANES_SYNC();
    return first * 16u + skew;
}

/*
 * The sequence at which a walk over a block's ended: none of those before it. Places of compressed
 * bytes count from AIRY_STAGE_DISTANCE on, so that no output may end above them.
 */
struct sequence {
    uint from, literals, to; /* its literals' place, their number, where they go */
    uint offset, match;
    uint at, stop; /* what is behind it, and behind the last */
};

/* The bytes end, as behind the last literals, or the sequence is not a sound block's. */
AIRY_INLINE bool is_end(const struct sequence *s, uint place, uint next)
{
    return (s->at >= s->stop) | (s->offset - 1u >= place) | (next > s->at);
}

/* n: as many as there is room for. */
AIRY_INLINE struct sequence walk_staged(__local uchar *out, uint room, __global const uchar *bytes,
                                        uint n, uint lane)
{
    __local const uchar *in = out + AIRY_STAGE_DISTANCE;
    struct sequence s;
    s.at = stage_bytes(out, room, bytes, n, lane) - AIRY_STAGE_DISTANCE;
    s.stop = s.at + n;
    s.to = 0u;
    uint token = in[s.at], next;
    ROLLED
    for (;;) {
        /* Here at < stop, and AIRY_STAGE_BEHIND is as much as the first way reads behind stop. */
        s.match = (token & 15u) + 4u;
        s.literals = token >> 4;
        s.from = s.at + 1u;
        if ((s.literals < 14u) & (s.match != 19u)) {
            __local const uchar *low = in + (s.from + s.literals);
            const uint place = s.to + s.literals;
            s.offset = low[0] | (uint)low[1] << 8;
            s.at = s.from + s.literals + 2u;
            token = low[2];
            next = place + s.match;
            if (is_end(&s, place, next))
                break;
            move_short(out, place, low, s.literals, s.offset, s.match, lane);
        } else {
            if (s.literals == 15u)
                s.literals += staged_length(in, &s.from, s.stop, lane);
            /* Where literals leave the bytes, anything will do. */
            __local const uchar *low = in + min(s.from + s.literals, s.stop);
            const uint place = s.to + s.literals;
            s.offset = low[0] | (uint)low[1] << 8;
            s.at = s.from + s.literals + 2u;
            if ((s.match == 19u) & (s.at < s.stop))
                s.match += staged_length(in, &s.at, s.stop, lane);
            next = place + s.match;
            if (is_end(&s, place, next))
                break;
            token = in[s.at];
            move_long(out, place, s.from + AIRY_STAGE_DISTANCE, s.literals, s.offset, s.match,
                      lane);
        }
        s.to = next;
        LANES_SYNC();
    }
    return s;
}

/* The largest n for a room. No sound block has more, and up to 15 bytes are lost to alignment. */
AIRY_INLINE uint most_staged(uint room)
{
    return room - 15u - AIRY_STAGE_DISTANCE;
}

/* True: the block stands there. False: it must be decoded the general way, from its bytes. */
AIRY_INLINE bool decode_staged(__local uchar *out, uint size, __global const uchar *bytes, uint n,
                               uint lane)
{
    if (n > most_staged(STAGE_BYTES))
        return false;
    const struct sequence s = walk_staged(out, STAGE_BYTES, bytes, n, lane);
    /* The last sequence has literals only, and ends both. Anything else is for the general way. */
    if (s.from + s.literals != s.stop || s.to + s.literals != size)
        return false;
    move_words(out, s.to, s.from + AIRY_STAGE_DISTANCE, s.literals, lane);
    LANES_SYNC();
    return true;
}

/*
 * A block of rows that are alike from one on, or a few of which take turns, as bit planes above the
 * largest count are: a last match repeats them, and 5 or more literals follow. The first `low` bytes
 * of out, which has room for AIRY_STAGE_MARGIN more, become those of the block; the last row of these
 * tells of all behind: it has any bit that one of them has. False: the block is another.
 */
AIRY_INLINE bool decode_low(__local uchar *out, uint low, uint row, uint size,
                            __global const uchar *bytes, uint n, uint lane, __local uint *step)
{
    const uint room = (low + AIRY_STAGE_MARGIN - AIRY_STAGE_BEHIND) & ~15u;
    if (n > most_staged(room))
        return false;
    const struct sequence s = walk_staged(out, room, bytes, n, lane);
    const uint place = s.to + s.literals;
    /* What is moved below stays below s.at. */
    if ((s.at >= s.stop) | (s.offset - 1u >= place) | (place > low - row) |
        (s.at + AIRY_STAGE_DISTANCE < low + 4u))
        return false;
    __local const uchar *in = out + AIRY_STAGE_DISTANCE;
    uint from = s.at + 1u, rest = in[s.at] >> 4;
    if (rest == 15u)
        rest += staged_length(in, &from, s.stop, lane);
    if ((from + rest != s.stop) | (place + s.match + rest != size) | (rest > row))
        return false;
    if (s.literals != 0u) {
        move_words(out, s.to, s.from + AIRY_STAGE_DISTANCE, s.literals, lane);
        LANES_SYNC();
    }
    uint seen = 0u;
    ROLLED
    for (uint i = lane; i < s.offset; i += 32u)
        seen |= out[place - s.offset + i];
    /* Rows that take turns: each comes before and behind the last of `low`. */
    const bool turns = s.offset % row == 0u, fit = s.offset + max(place, row + 1u) <= low;
    if (!lanes_any(seen != 0u, lane, step)) {
        fill_bytes(out, place, low - place, 0u, lane);
    } else if (turns ? fit : row % s.offset == 0u) {
        move_long(out, place, 0u, 0u, s.offset, low - place, lane);
        LANES_SYNC();
        ROLLED
        for (uint before = row; before < s.offset && turns; before += row)
            for (uint i = lane; i < row; i += 32u)
                out[low - row + i] |= out[low - row + i - before];
    } else {
        return false;
    }
    LANES_SYNC();
    ROLLED
    for (uint i = lane; i < rest; i += 32u)
        out[low - rest + i] |= in[from + i];
    LANES_SYNC();
    return true;
}
#endif

/*
 * The n bytes from bytes[from] on to exactly size bytes at out[begin ...]; out is 16-byte aligned,
 * and has BLOCK_STORE bytes where it is local.
 * The bytes may be anything: every length is checked before it is used. At least 15 readable bytes
 * stand before them (a batch's table, a chunk's head) and 15 behind. step: STEP_WORDS words of
 * these lanes. AIRY_STATUS_GOOD or an AIRY_REASON_*, the same for all lanes, which have met when it
 * is good.
 */
AIRY_INLINE uint decode_lz4(BLOCK_SPACE uchar *out, uint begin, uint size,
                            __global const uchar *bytes, ulong from, uint n, uint lane,
                            __local uint *step)
{
    __global const uchar *in = bytes + from;
    uint to = begin;
#ifdef LANES_STAGE
    if (begin == 0u && decode_staged(out, size, in, n, lane))
        return AIRY_STATUS_GOOD;
    LANES_SYNC();
#endif
#ifdef LANES_ARE_A_GROUP
    if (lane == 0u)
        step[STEP_NEXT] = 0u;
    ROLLED
    for (;;) {
        if (lane == 0u)
            step[STEP_REASON] = read_sequence(step, in, n, begin + size - to, to - begin);
        LANES_SYNC();
        const uint reason = step[STEP_REASON], literals = step[STEP_LITERALS],
                   offset = step[STEP_OFFSET];
        const uint match = step[STEP_MATCH];
        copy_literals(out, to, bytes, from + step[STEP_FROM], literals, lane);
        LANES_SYNC();
        if (reason != MORE)
            return reason;
        to += literals;
        copy_match(out, to, offset, match, lane);
        to += match;
    }
#else
    const uint end = begin + size;
    uint at = 0u;
    ROLLED
    for (;;) {
        if (at >= n)
            return AIRY_REASON_TOKEN;
        const uint token = in[at];
        at += 1u;
        uint count = token >> 4;
        if (count == 15u && !read_length(&count, in, &at, n, lane))
            return AIRY_REASON_TOKEN;
        if (count > n - at || count > end - to)
            return AIRY_REASON_LITERAL;
        copy_literals(out, to, bytes, from + at, count, lane);
        at += count;
        to += count;
        LANES_SYNC();
        if (to == end)
            return at == n ? AIRY_STATUS_GOOD : AIRY_REASON_LONG;
        if (at == n)
            return AIRY_REASON_SHORT;
        if (n - at < 2u)
            return AIRY_REASON_TOKEN;
        const uint offset = in[at] | (uint)in[at + 1u] << 8;
        at += 2u;
        if (offset == 0u || offset > to - begin)
            return AIRY_REASON_OFFSET;
        count = token & 15u;
        if (count == 15u && !read_length(&count, in, &at, n, lane))
            return AIRY_REASON_TOKEN;
        count = add_sat(count, 4u);
        if (count > end - to)
            return AIRY_REASON_MATCH;
        copy_match(out, to, offset, count, lane, step);
        to += count;
    }
#endif
}

/* 8 bytes as 8 x 8 bits across the diagonal, by halves. */
AIRY_INLINE ulong transpose_8x8(ulong m)
{
    ulong t = (m ^ m >> 28) & 0x00000000f0f0f0f0UL;
    m ^= t ^ t << 28;
    t = (m ^ m >> 14) & 0x0000cccc0000ccccUL;
    m ^= t ^ t << 14;
    t = (m ^ m >> 7) & 0x00aa00aa00aa00aaUL;
    return m ^ t ^ t << 7;
}

/* One step of the transpose: swap the blocks of `step` x `step` bits beside the diagonal. */
#define TRANSPOSE_STEP(x, count, step, mask)                                                       \
    _Pragma("unroll") for (uint i_ = 0u; i_ < (count); i_++)                                       \
    {                                                                                              \
        if ((i_ & (step)) == 0u) {                                                                 \
            const uint a_ = (x)[i_], c_ = (x)[i_ + (step)];                                        \
            (x)[i_] = AIRY_BITS(c_ << (step), a_, (uint)(mask));                                   \
            (x)[i_ + (step)] = AIRY_BITS(c_, a_ >> (step), (uint)(mask));                          \
        }                                                                                          \
    }

/* The same for steps of 16 and 8: whole bytes, which NVIDIA moves in one instruction. */
#ifdef AIRY_BYTES
#define TRANSPOSE_BYTES(x, count, step, first, second)                                             \
    _Pragma("unroll") for (uint i_ = 0u; i_ < (count); i_++)                                       \
    {                                                                                              \
        if ((i_ & (step)) == 0u) {                                                                 \
            const uint a_ = (x)[i_], c_ = (x)[i_ + (step)];                                        \
            (x)[i_] = AIRY_BYTES(a_, c_, first);                                                   \
            (x)[i_ + (step)] = AIRY_BYTES(a_, c_, second);                                         \
        }                                                                                          \
    }
#define TRANSPOSE_HALVES(x, count)   TRANSPOSE_BYTES(x, count, 16u, 0x5410u, 0x7632u)
#define TRANSPOSE_QUARTERS(x, count) TRANSPOSE_BYTES(x, count, 8u, 0x6240u, 0x7351u)
#else
#define TRANSPOSE_HALVES(x, count)   TRANSPOSE_STEP(x, count, 16u, 0x0000ffffu)
#define TRANSPOSE_QUARTERS(x, count) TRANSPOSE_STEP(x, count, 8u, 0x00ff00ffu)
#endif

/* 32 planes of 32 pixels to 32 pixels of 32 bits, and back. */
#define TRANSPOSE_32(x)                                                                            \
    {                                                                                              \
        TRANSPOSE_HALVES(x, 32u)                                                                   \
        TRANSPOSE_QUARTERS(x, 32u)                                                                 \
        TRANSPOSE_STEP(x, 32u, 4u, 0x0f0f0f0fu)                                                    \
        TRANSPOSE_STEP(x, 32u, 2u, 0x33333333u)                                                    \
        TRANSPOSE_STEP(x, 32u, 1u, 0x55555555u)                                                    \
    }

/* 16 planes: afterwards x[i] holds pixel i in its lower and pixel 16 + i in its upper half. */
#define TRANSPOSE_16(x)                                                                            \
    {                                                                                              \
        TRANSPOSE_QUARTERS(x, 16u)                                                                 \
        TRANSPOSE_STEP(x, 16u, 4u, 0x0f0f0f0fu)                                                    \
        TRANSPOSE_STEP(x, 16u, 2u, 0x33333333u)                                                    \
        TRANSPOSE_STEP(x, 16u, 1u, 0x55555555u)                                                    \
    }

/* 8 planes: afterwards byte q of x[i] is pixel 8 q + i. */
#define TRANSPOSE_8(x)                                                                             \
    {                                                                                              \
        TRANSPOSE_STEP(x, 8u, 4u, 0x0f0f0f0fu)                                                     \
        TRANSPOSE_STEP(x, 8u, 2u, 0x33333333u)                                                     \
        TRANSPOSE_STEP(x, 8u, 1u, 0x55555555u)                                                     \
    }

/*
 * Word w of a plane of plane_bytes bytes, in a block of bit planes; bytes behind the plane's end
 * come out as 0. Planes that are no whole number of words occur in the last block of a frame only.
 */
AIRY_INLINE uint plane_word(__local const uchar *block, uint plane, uint plane_bytes, uint w)
{
    const uint at = plane * plane_bytes + w * 4u;
    if ((plane_bytes & 3u) == 0u)
        return *(__local const uint *)(block + at);
    const uint count = min(4u, plane_bytes - w * 4u);
    uint v = 0u;
    for (uint i = 0u; i < count; i++)
        v |= (uint)block[at + i] << (8u * i);
    return v;
}

#endif
