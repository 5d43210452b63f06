/*
 * LZ4 blocks from a fuzzer, through the device's decoder as compiled for the host: each of a warp's
 * lanes is a thread, and what they exchange in a block's memory is ordered by barriers alone. So a
 * step outside that memory meets the sanitizers and a missing barrier makes other bytes, neither of
 * which a device need show. Same verdict, reason and bytes as the byte-by-byte reference; of a block
 * whose lowest rows are decoded only, these bytes where it is taken.
 *
 * Input: 2 bytes of parameters, then the block's bytes or what to make them of.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ref_codec.h"

enum {
    MOST = 24000, /* bytes of a block */
    FEWEST = 16,  /* before it */
    ROWS = 32,    /* of a block of which the lowest are decoded: bit planes of 32 */
    KEPT = 16     /* of these, and one that tells of all behind */
};

/* OpenCL's words for C. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint uint4 __attribute__((ext_vector_type(4)));
#define __local
#define __global
#define __constant               static const
#define AIRY_INLINE              static inline
#define __OPENCL_VERSION__       120
#define CLK_LOCAL_MEM_FENCE      1
#define CLK_GLOBAL_MEM_FENCE     2
#define barrier(fence)           pthread_barrier_wait(&lanes_meet)
#define min(a, b)                ((a) < (b) ? (a) : (b))
#define max(a, b)                ((a) > (b) ? (a) : (b))
#define clz(a)                   ((a) ? (uint)__builtin_clz(a) : 32u)
#define add_sat(a, b)            ((a) + (b) < (a) ? UINT32_MAX : (a) + (b))
#define bitselect(a, b, c)       (((a) & ~(c)) | ((b) & (c)))
#define atomic_or(address, bits) __atomic_fetch_or((address), (bits), __ATOMIC_SEQ_CST)
#define AIRY_FETCH16(to, from)   (*(to) = *(from))
#define AIRY_FETCHED()

static pthread_barrier_t lanes_meet, all_meet;

#define LANES  32
#define BLOCKS 1
#define PORTABLE
#define AS_WARP
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include "opencl/kernels/lz4_block.h"
#pragma clang diagnostic pop

static struct {
    uint8_t *out, *bytes;
    uint from, count, size, step[STEP_WORDS], reason[LANES];
    uint row; /* bytes of one; 0: the whole block */
} task;

static uint decode(uint lane)
{
    if (!task.row)
        return decode_lz4(task.out, 0u, task.size, task.bytes, task.from, task.count, lane,
                          task.step);
    const bool taken = decode_low(task.out, (KEPT + 1) * task.row, task.row, task.size,
                                  task.bytes + task.from, task.count, lane, task.step);
    return taken ? AIRY_STATUS_GOOD : AIRY_REASON_TOKEN;
}

static void *run_lane(void *number)
{
    const uint lane = (uint)(uintptr_t)number;
    for (;;) {
        pthread_barrier_wait(&all_meet);
        task.reason[lane] = decode(lane);
        pthread_barrier_wait(&all_meet);
    }
    return NULL;
}

static void start_lanes(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    require(pthread_barrier_init(&lanes_meet, NULL, LANES) == 0);
    require(pthread_barrier_init(&all_meet, NULL, LANES + 1) == 0);
    for (uintptr_t lane = 0; lane < LANES; lane++) {
        pthread_t thread;
        require(pthread_create(&thread, NULL, run_lane, (void *)lane) == 0);
        pthread_detach(thread);
    }
}

static size_t put_length(uint8_t *at, size_t rest)
{
    size_t count = 0;
    for (; rest >= 255; rest -= 255)
        at[count++] = 255;
    at[count++] = (uint8_t)rest;
    return count;
}

/* Returns its length. */
static size_t put_sequence(uint8_t *block, size_t literals, size_t match, size_t offset,
                           uint8_t seed)
{
    size_t at = 0;
    block[at++] = (uint8_t)(min(literals, 15u) << 4 | min(match - 4, 15u));
    if (literals >= 15)
        at += put_length(block + at, literals - 15);
    for (size_t i = 0; i < literals; i++)
        block[at++] = (uint8_t)(seed + i * 31u);
    block[at++] = (uint8_t)offset;
    block[at++] = (uint8_t)(offset >> 8);
    if (match >= 19)
        at += put_length(block + at, match - 19);
    return at;
}

/*
 * A sound block of `size` bytes from 4 bytes a sequence: literals, match and offset, each on a
 * scale that reaches both short and long ones. period: not 0: such a match from the middle to near
 * the end. Returns its length.
 */
static size_t make_block(uint8_t *block, size_t size, size_t period, const uint8_t *data,
                         size_t data_size)
{
    const size_t end = period ? size / 2 : size;
    size_t to = 0, at = 0;
    for (size_t d = 0; d + 4 <= data_size && end > to + 20 && at < MOST / 2; d += 4) {
        const uint8_t *b = data + d;
        size_t literals = b[0] < 128 ? b[0] % 4u : b[0] < 224 ? b[0] - 128u : (b[0] - 224u) * 30u;
        literals += to + literals == 0;
        literals = min(literals, end - to - 5);
        size_t match = 4 + (b[1] < 200 ? b[1] % 40u : (b[1] - 200u) * 100u);
        match = min(match, end - to - literals);
        size_t offset = b[2] | (b[3] & 3u) << 8 | (b[3] & 4u ? 0 : (size_t)b[3] >> 3 << 8);
        offset = b[3] & 8u ? offset & ~(size_t)15 : offset;
        offset = min(offset ? offset : 1, to + literals);
        at += put_sequence(block + at, literals, match, offset, b[2]);
        to += literals + match;
    }
    if (period && size > to + 20) {
        const size_t literals = to == 0 ? 1 : data_size % 4u, most = size - to - literals - 5,
                     less = data_size % 9u;
        at += put_sequence(block + at, literals, most - less, min(period, to + literals), 0);
        to += literals + most - less;
    }
    const size_t rest = size - to;
    block[at++] = (uint8_t)(min(rest, 15u) << 4);
    if (rest >= 15)
        at += put_length(block + at, rest - 15);
    memset(block + at, 0x5a, rest);
    return at + rest;
}

/* The rows kept, and one that has what any behind them has. */
static bool has_low(const uint8_t *out, const uint8_t *want, size_t row)
{
    if (memcmp(out, want, KEPT * row) != 0)
        return false;
    for (size_t i = 0; i < row; i++) {
        unsigned any = 0;
        for (size_t k = KEPT; k < ROWS; k++)
            any |= want[k * row + i];
        if (out[KEPT * row + i] != any)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t block[MOST];
    if (size < 2)
        return 0;
    start_lanes();
    const bool made = data[0] & 1, damaged = data[0] & 2;
    const size_t row = data[0] & 8 ? 1u + data[1] : 0;
    const size_t decoded = row           ? ROWS * row
                           : data[0] & 4 ? BLOCK_BYTES
                                         : 8u * (1u + data[1] * 4u),
                 skew = data[1] % 16,
                 period = data[0] & 4 ? row * (1u + data[size - 1] % 3u) : row & data[size - 1];
    size_t count = min(size - 2, (size_t)MOST);
    if (made) {
        count = make_block(block, decoded, period, data + 2, count);
        if (damaged)
            block[(data[1] * 977u + size * 31u) % count] ^= (uint8_t)(1u + data[0] / 8u);
    } else {
        memcpy(block, data + 2, count);
    }

    /* Quads are read: to the next multiple of 16 bytes, as the slack of a batch allows. */
    const size_t room = (skew + FEWEST + count + 31) / 16 * 16;
    uint8_t *bytes = aligned_alloc(16, room), *want = malloc(decoded);
    const size_t low = (KEPT + 1) * row + AIRY_STAGE_MARGIN;
    task.out = aligned_alloc(16, row ? (low + 15) / 16 * 16 : BLOCK_STORE);
    require(bytes && want && task.out);
    memset(bytes, 0xee, room);
    memcpy(bytes + skew + FEWEST, block, count);
    task.bytes = bytes;
    task.from = (uint)skew + FEWEST;
    task.size = (uint)decoded;
    task.row = (uint)row;
    task.count = (uint)count;
    pthread_barrier_wait(&all_meet);
    pthread_barrier_wait(&all_meet);

    const enum ref_reason reason = ref_lz4_block(want, decoded, block, count);
    const bool taken = row && task.reason[0] == AIRY_STATUS_GOOD;
    const uint verdict = reason == REF_GOOD ? AIRY_STATUS_GOOD : (uint)reason;
    for (uint lane = 0; lane < LANES; lane++)
        require(task.reason[lane] == (row ? task.reason[0] : verdict));
    require(!taken || (reason == REF_GOOD && has_low(task.out, want, row)));
    require(row || reason != REF_GOOD || memcmp(task.out, want, decoded) == 0);
    require(!made || damaged || reason == REF_GOOD);
    free(task.out);
    free(want);
    free(bytes);
    return 0;
}
