/*
 * What is particular to the OpenCL kernels of codec and integrate: every way to share out blocks
 * (the default of a device is one of them), odd places in memory, damaged chunks anywhere in a
 * batch. What they compute is checked for all devices in check_codec.c and check_integrate.c.
 */
#include <stdlib.h>
#include <string.h>

#include "check_eiger.h"
#include "codec/chunks.h"
#include "core/objects.h"
#include "opencl/cl_decode.h"
#include "ref_codec.h"

struct kernel_way {
    const char *name;
    struct airy_cl_lanes lanes;
    bool large;
    bool rare; /* for the first shapes only: PoCL takes half a second a program */
};

enum { ALL_WAYS = 2 }; /* shapes that are decoded all ways */

/*
 * PoCL 3.1 loses the bounds of loops that the items of a group leave at different times, if it
 * optimises them: where several lanes meet by barriers it is told not to.
 */
static const struct kernel_way ways[] = {
    {"default", {.lanes = 0}, .large = false}, /* what the device has: a warp and four blocks on
                                                  NVIDIA */
    {"large_default", {.lanes = 0}, .large = true},
    {"lane", {.lanes = 1, .blocks = 1}, .large = false},
    {"lanes4", {.lanes = 1, .blocks = 4}, .rare = true},
    {"group32", {.lanes = 32, .blocks = 1, .portable = true, .unoptimised = true}, .large = false},
    {"group64", {.lanes = 64, .blocks = 1, .portable = true, .unoptimised = true}, .rare = true},
    {"warp",
     {.lanes = 32, .blocks = 1, .portable = true, .as_warp = true, .unoptimised = true},
     .large = false},
    {"large_lane", {.lanes = 1, .blocks = 1}, .large = true},
    {"large_group32",
     {.lanes = 32, .blocks = 1, .portable = true, .unoptimised = true},
     .large = true},
    {"large_warp",
     {.lanes = 32, .blocks = 1, .portable = true, .as_warp = true, .unoptimised = true},
     .large = true},
};

static struct airy_cl_lanes lanes_of(const struct check *c, const struct kernel_way *way)
{
    return way->lanes.lanes ? way->lanes : airy_cl_lanes_of(c->device);
}

struct frames_case {
    airy_codec codec;
    airy_dtype dtype;
    uint32_t elem_size, block_bytes; /* 0: the dtype's, the default */
    size_t height, width, frames;
};

static const struct frames_case shapes[] = {
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 0, 97, 103, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 0, 97, 103, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U8, 0, 0, 147, 203, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_F64, 0, 0, 61, 83, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_I32, 0, 0, 64, 64, 2},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 32, 5, 7, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 4096, 64, 65, 2},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 1264, 31, 37, 4},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 65536, 128, 190, 2},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U8, 3, 0, 33, 99, 2},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 2048, 65, 77, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U8, 0, 1024, 65, 77, 3},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 0, 1, 5, 2},
    {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 0, 1, 9, 2},
    {AIRY_CODEC_LZ4, AIRY_DTYPE_U16, 0, 0, 67, 71, 3},
    {AIRY_CODEC_LZ4, AIRY_DTYPE_U8, 0, 1000, 33, 35, 3},
    {AIRY_CODEC_BSHUF, AIRY_DTYPE_U32, 0, 0, 97, 103, 2},
    {AIRY_CODEC_BSHUF, AIRY_DTYPE_U8, 5, 0, 30, 35, 2},
    {AIRY_CODEC_NONE, AIRY_DTYPE_U16, 0, 0, 31, 33, 2},
};

/*
 * Counts, gaps of 2^n - 1, zeros, and noise, of 8 bits in frame 1 and of 16 in frame 2: short and
 * long literals, short and long matches of all kinds.
 */
static void fill_frame(struct check *c, uint8_t *frame, size_t size, size_t elem, size_t number)
{
    for (size_t i = 0; i < size; i++)
        frame[i] = 0;
    for (size_t i = 0; i < size / elem; i++) {
        const size_t region = i / 700 % 5;
        const uint64_t r = check_rand_u64(c);
        const uint64_t noise = number == 1 ? r & 0xff : number == 2 ? r & 0xffff : r;
        if (region == 0)
            memcpy(frame + i * elem, &noise, elem < 8 ? elem : 8);
        else if (region == 1)
            memset(frame + i * elem, 0xff, elem);
        else if (region == 2)
            frame[i * elem] = (uint8_t)(r % (3 + number));
        else if (region == 3)
            frame[i * elem] = (uint8_t)(i % 13);
    }
}

static airy_codec_params codec_of(const struct frames_case *f)
{
    return (airy_codec_params){.codec = f->codec,
                               .elem_size = f->elem_size ? f->elem_size
                                                         : (uint32_t)airy_dtype_size(f->dtype),
                               .block_bytes = f->block_bytes};
}

struct chunk_set {
    uint8_t *pixels; /* [frames][frame_bytes] */
    uint8_t *chunk[8];
    size_t size[8], frame_bytes;
};

static struct chunk_set make_chunks(struct check *c, const struct frames_case *f)
{
    const airy_codec_params codec = codec_of(f);
    struct chunk_set set = {.frame_bytes = f->height * f->width * airy_dtype_size(f->dtype)};
    set.pixels = check_alloc(c, f->frames * set.frame_bytes);
    for (size_t i = 0; i < f->frames; i++) {
        uint8_t *frame = set.pixels + i * set.frame_bytes;
        fill_frame(c, frame, set.frame_bytes, airy_dtype_size(f->dtype), i);
        set.size[i] = airy_encode_bound(set.frame_bytes, &codec);
        set.chunk[i] = check_alloc(c, set.size[i]);
        CHECK_OK(c, airy_encode(set.chunk[i], &set.size[i], frame, set.frame_bytes, &codec));
    }
    return set;
}

static airy_batch *make_batch(struct check *c, airy_device *device, const struct frames_case *f,
                              const struct chunk_set *set)
{
    airy_batch *batch = NULL;
    const airy_batch_params params = {.dtype = f->dtype,
                                      .height = f->height,
                                      .width = f->width,
                                      .codec = codec_of(f),
                                      .frames = f->frames};
    if (!CHECK_OK(c, airy_batch_create(&batch, device, &params)))
        return NULL;
    for (size_t i = 0; i < f->frames; i++)
        CHECK_OK(c, airy_batch_add(batch, set->chunk[i], set->size[i]));
    return batch;
}

/* Decodes a batch one way into guarded arrays. */
static bool decode_way(struct check *c, airy_batch *batch, const struct frames_case *f,
                       const struct kernel_way *way, airy_array **frames, airy_array **status)
{
    *frames = check_output(c, f->dtype, 3, (const size_t[]){f->frames, f->height, f->width});
    *status = check_output(c, AIRY_DTYPE_U32, 1, &f->frames);
    if (!*frames || !*status)
        return false;
    struct airy_decode_plan plan = {.frames = *frames, .status = *status};
    const struct airy_cl_lanes lanes = lanes_of(c, way);
    return CHECK_OK(c, airy_batch_upload(c->queue, batch, &plan.chunks)) &&
           CHECK_OK(c, airy_cl_decode(c->queue, &plan, &lanes, way->large)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static bool way_fits(struct check *c, const struct kernel_way *way)
{
    airy_device_info info;
    if (!CHECK_OK(c, airy_device_get_info(c->device, &info)))
        return false;
    const struct airy_cl_lanes lanes = lanes_of(c, way);
    if (info.max_group < lanes.lanes * lanes.blocks) {
        check_skip(c, "work-groups of at most %u items here", info.max_group);
        return false;
    }
    return true;
}

static void check_decode_way(struct check *c, const struct frames_case *f,
                             const struct kernel_way *way)
{
    if (!check_case(c, "opencl_decode_%s_%s_e%u_b%u_%zux%zux%zu_%s", airy_codec_name(f->codec),
                    airy_dtype_name(f->dtype), codec_of(f).elem_size, f->block_bytes, f->frames,
                    f->height, f->width, way->name) ||
        !way_fits(c, way))
        return;
    const struct chunk_set set = make_chunks(c, f);
    airy_batch *batch = make_batch(c, c->device, f, &set);
    airy_array *frames, *status;
    if (batch && decode_way(c, batch, f, way, &frames, &status)) {
        uint32_t good[8];
        memset(good, 0xff, sizeof(good));
        check_array(c, status, good, NULL);
        check_array(c, frames, set.pixels, NULL);
    }
    airy_batch_destroy(&batch);
}

/* Damage inside the blocks, the framing left alone. Frame 1 of 4 stays as it is. */
static void damage(struct check *c, struct chunk_set *set, const struct frames_case *f)
{
    airy_block_layout layout;
    const airy_codec_params codec = codec_of(f);
    CHECK_OK(c, airy_block_layout_make(&layout, set->frame_bytes, &codec));
    airy_block *table = check_alloc(c, layout.blocks * sizeof(*table));
    for (size_t i = 0; i < f->frames; i++) {
        if (i == 1 || !CHECK_OK(c, airy_chunk_walk(table, &layout, set->chunk[i], set->size[i], 0)))
            continue;
        for (int hit = 0; hit < 3; hit++) {
            const airy_block place = table[check_rand_u64(c) % layout.blocks];
            const uint32_t size = place.size & ~AIRY_BLOCK_STORED;
            uint8_t *bytes = set->chunk[i] + place.offset;
            const uint64_t r = check_rand_u64(c);
            /* 0xff: tokens and lengths at their largest */
            bytes[r % size] = (uint8_t)(r >> 32 & 1 ? 0xff : r >> 40);
            if (r >> 33 & 1)
                memset(bytes + size / 2, 0xff, size - size / 2);
        }
    }
}

static void check_damaged_way(struct check *c, const struct frames_case *f,
                              const struct kernel_way *way, int round)
{
    if (!check_case(c, "opencl_decode_damaged_%s_e%u_b%u_%d_%s", airy_codec_name(f->codec),
                    codec_of(f).elem_size, f->block_bytes, round, way->name) ||
        !way_fits(c, way))
        return;
    struct chunk_set set = make_chunks(c, f);
    damage(c, &set, f);
    /* The host's decoder says what is wrong where. */
    airy_device *cpu = NULL;
    airy_queue *queue = NULL;
    airy_batch *batch = NULL, *host_batch = NULL;
    airy_array *frames = NULL, *status = NULL, *host_frames = NULL, *host_status = NULL;
    uint32_t want[8] = {0}, got[8] = {0};
    uint8_t *pixels = check_alloc(c, f->frames * set.frame_bytes),
            *mine = check_alloc(c, f->frames * set.frame_bytes);
    const airy_device_params one = {.threads = 1};
    if (!CHECK_OK(c, airy_device_create(&cpu, "cpu", &one)) ||
        !CHECK_OK(c, airy_queue_create(&queue, cpu)))
        goto out;
    CHECK_OK(c, airy_array_create(&host_frames, cpu, f->dtype, 3,
                                  (const size_t[]){f->frames, f->height, f->width}));
    CHECK_OK(c, airy_array_create(&host_status, cpu, AIRY_DTYPE_U32, 1, &f->frames));
    host_batch = make_batch(c, cpu, f, &set);
    batch = make_batch(c, c->device, f, &set);
    if (!host_batch || !batch ||
        !CHECK_OK(c, airy_decode_batch(queue, host_frames, host_status, host_batch)) ||
        !CHECK_OK(c, airy_array_pull(queue, want, f->frames * 4, host_status)) ||
        !CHECK_OK(c, airy_array_pull(queue, pixels, f->frames * set.frame_bytes, host_frames)) ||
        !decode_way(c, batch, f, way, &frames, &status) ||
        !CHECK_OK(c, airy_array_pull(c->queue, got, f->frames * 4, status)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, mine, f->frames * set.frame_bytes, frames)))
        goto out;
    check_values(c, "status", AIRY_DTYPE_U32, got, want, f->frames, NULL);
    CHECK(c, got[1] == AIRY_FRAME_GOOD);
    for (size_t i = 0; i < f->frames; i++)
        if (want[i] == AIRY_FRAME_GOOD)
            check_values(c, "pixels of a good frame", AIRY_DTYPE_U8, mine + i * set.frame_bytes,
                         pixels + i * set.frame_bytes, set.frame_bytes, NULL);
out:
    airy_batch_destroy(&batch);
    airy_batch_destroy(&host_batch);
    airy_array_destroy(&host_frames);
    airy_array_destroy(&host_status);
    airy_queue_destroy(&queue);
    airy_device_destroy(&cpu);
}

static void put_length(uint8_t **at, size_t rest)
{
    for (; rest >= 255; rest -= 255)
        *(*at)++ = 255;
    *(*at)++ = (uint8_t)rest;
}

/* A sequence whose literals are random; match 0: the last one. */
static void put_sequence(struct check *c, uint8_t **at, size_t literals, size_t match,
                         size_t offset)
{
    uint8_t *token = (*at)++;
    *token = (uint8_t)((literals < 15 ? literals : 15) << 4);
    if (literals >= 15)
        put_length(at, literals - 15);
    for (size_t i = 0; i < literals; i++)
        *(*at)++ = (uint8_t)check_rand_u64(c);
    if (match == 0)
        return;
    *(*at)++ = (uint8_t)offset;
    *(*at)++ = (uint8_t)(offset >> 8);
    *token |= (uint8_t)(match - 4 < 15 ? match - 4 : 15);
    if (match - 4 >= 15)
        put_length(at, match - 4 - 15);
}

/*
 * A block of LZ4 as no encoder writes it, of `size` decoded bytes: lengths on both sides of every
 * step, offsets that repeat bytes, words and planes. Returns its end.
 */
static uint8_t *put_block(struct check *c, uint8_t *at, size_t size)
{
    static const size_t longest[] = {1, 1, 4, 20, 40, 300, 1000},
                        matches[] = {8, 20, 40, 140, 300, 600, 5000},
                        offsets[] = {1, 2, 3, 4, 16, 31, 32, 33, 48, 64, 128, 256, 512, 1024, 1040};
    size_t to = 0;
    while (size - to > 20 && check_rand_u64(c) % 200 != 0) {
        const uint64_t r = check_rand_u64(c), u = check_rand_u64(c);
        size_t literals = (r >> 8) % longest[r % 7];
        literals += to + literals == 0;
        if (literals > size - to - 5)
            literals = size - to - 5;
        to += literals;
        size_t match = 4 + (r >> 40) % matches[(r >> 32) % 7];
        if (match > size - to)
            match = size - to;
        size_t offset = u & 1 ? offsets[(u >> 8) % 15] : 1 + (u >> 8) % (u & 2 ? 70 : to);
        if (offset > to)
            offset = to;
        put_sequence(c, &at, literals, match, offset);
        to += match;
    }
    put_sequence(c, &at, size - to, 0, 0);
    return at;
}

static void put_big_endian(uint8_t *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
}

static struct chunk_set make_sequences(struct check *c, const struct frames_case *f)
{
    struct chunk_set set = {.frame_bytes = f->height * f->width * airy_dtype_size(f->dtype)};
    airy_block_layout layout;
    const airy_codec_params codec = codec_of(f);
    CHECK_OK(c, airy_block_layout_make(&layout, set.frame_bytes, &codec));
    set.pixels = check_alloc(c, f->frames * set.frame_bytes);
    for (size_t i = 0; i < f->frames; i++) {
        uint8_t *at = set.chunk[i] = check_alloc(c, 2 * set.frame_bytes + 1000);
        put_big_endian(at, set.frame_bytes, 8);
        put_big_endian(at + 8, layout.block_bytes, 4);
        at += 12;
        for (uint32_t b = 0; b < layout.blocks; b++) {
            const size_t size = airy_block_decoded_bytes(layout, b);
            if (airy_block_is_coded(layout, b)) {
                uint8_t *end = put_block(c, at + 4, size);
                put_big_endian(at, (uint64_t)(end - at - 4), 4);
                at = end;
            } else {
                at += size;
            }
        }
        set.size[i] = (size_t)(at - set.chunk[i]);
    }
    return set;
}

/* Any sequences, in odd rounds with damage. */
static void check_sequences_way(struct check *c, const struct frames_case *f,
                                const struct kernel_way *way, int round)
{
    if (!check_case(c, "opencl_decode_sequences_e%u_b%u_%d_%s", codec_of(f).elem_size,
                    f->block_bytes, round, way->name) ||
        !way_fits(c, way))
        return;
    struct chunk_set set = make_sequences(c, f);
    if (round % 2 != 0)
        damage(c, &set, f);
    uint32_t want[8], got[8] = {0};
    for (size_t i = 0; i < f->frames; i++)
        if (ref_decode_chunk(set.pixels + i * set.frame_bytes, set.frame_bytes, set.chunk[i],
                             set.size[i], true, codec_of(f).elem_size, &want[i]))
            want[i] = AIRY_FRAME_GOOD;
    airy_batch *batch = make_batch(c, c->device, f, &set);
    airy_array *frames, *status;
    uint8_t *mine = check_alloc(c, f->frames * set.frame_bytes);
    if (batch && decode_way(c, batch, f, way, &frames, &status) &&
        CHECK_OK(c, airy_array_pull(c->queue, got, f->frames * 4, status)) &&
        CHECK_OK(c, airy_array_pull(c->queue, mine, f->frames * set.frame_bytes, frames))) {
        check_values(c, "status", AIRY_DTYPE_U32, got, want, f->frames, NULL);
        for (size_t i = 0; i < f->frames; i++)
            if (want[i] == AIRY_FRAME_GOOD)
                check_values(c, "pixels of a good frame", AIRY_DTYPE_U8, mine + i * set.frame_bytes,
                             set.pixels + i * set.frame_bytes, set.frame_bytes, NULL);
    }
    airy_batch_destroy(&batch);
}

/* Devices with less local memory: fewer blocks a work-group, then the general kernels. */
static void check_small_local(struct check *c, uint64_t local_mem)
{
    if (!check_case(c, "opencl_decode_local_%u", (unsigned)local_mem))
        return;
    const struct frames_case f = {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 0, 97, 103, 3};
    const struct chunk_set set = make_chunks(c, &f);
    airy_batch *batch = make_batch(c, c->device, &f, &set);
    const uint64_t whole = c->device->info.local_mem;
    airy_array *frames, *status;
    c->device->info.local_mem = local_mem < whole ? local_mem : whole;
    if (batch && decode_way(c, batch, &f, &ways[0], &frames, &status))
        check_array(c, frames, set.pixels, NULL);
    c->device->info.local_mem = whole;
    airy_batch_destroy(&batch);
}

static void check_absent(struct check *c)
{
    if (!check_case(c, "opencl_decode_absent_and_stored"))
        return;
    const struct frames_case f = {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 0, 97, 103, 3};
    const struct chunk_set set = make_chunks(c, &f);
    airy_batch *batch = NULL;
    const airy_batch_params params = {.dtype = f.dtype,
                                      .height = f.height,
                                      .width = f.width,
                                      .codec = codec_of(&f),
                                      .frames = f.frames};
    const size_t sizes[] = {set.size[0], set.frame_bytes, set.size[2]};
    airy_array *frames, *status;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)) ||
        !CHECK_OK(c, airy_batch_reserve(batch, 3, sizes)))
        goto out;
    memcpy(airy_batch_place(batch, 0), set.chunk[0], set.size[0]);
    memcpy(airy_batch_place(batch, 1), set.pixels + set.frame_bytes, set.frame_bytes);
    CHECK_OK(c, airy_batch_index(batch, 0, set.size[0]));
    airy_batch_index_stored(batch, 1);
    airy_batch_index_absent(batch, 2);
    if (decode_way(c, batch, &f, &ways[0], &frames, &status)) {
        const uint32_t want[3] = {AIRY_FRAME_GOOD, AIRY_FRAME_GOOD, AIRY_REASON_ABSENT};
        uint8_t *mine = check_alloc(c, 3 * set.frame_bytes);
        check_array(c, status, want, NULL);
        CHECK_OK(c, airy_array_pull(c->queue, mine, 3 * set.frame_bytes, frames));
        check_values(c, "pixels", AIRY_DTYPE_U8, mine, set.pixels, 2 * set.frame_bytes, NULL);
    }
out:
    airy_batch_destroy(&batch);
}

static void check_decode_bench(struct check *c, airy_dtype dtype, size_t frames)
{
    if (!c->bench || !check_case(c, "decode_u%zu_4M_batch%zu", 8 * airy_dtype_size(dtype), frames))
        return;
    airy_batch *batch = check_eiger_batch(c, dtype, frames);
    airy_array *out = NULL, *status = NULL;
    struct airy_decode_plan plan;
    const struct airy_cl_lanes lanes = airy_cl_lanes_of(c->device);
    if (batch &&
        CHECK_OK(c, airy_array_create(&out, c->device, dtype, 3,
                                      (const size_t[]){frames, EIGER_HEIGHT, EIGER_WIDTH})) &&
        CHECK_OK(c, airy_array_create(&status, c->device, AIRY_DTYPE_U32, 1, &frames)) &&
        CHECK_OK(c, airy_batch_upload(c->queue, batch, &plan.chunks))) {
        plan.frames = out;
        plan.status = status;
        CHECK_OK(c, airy_cl_decode(c->queue, &plan, &lanes, false));
        CHECK_BENCH(c, (double)airy_array_size(out), 0,
                    airy_cl_decode(c->queue, &plan, &lanes, false));
    }
    airy_array_destroy(&out);
    airy_array_destroy(&status);
    airy_batch_destroy(&batch);
}

void check_opencl_kernels(struct check *c)
{
    if (c->is_cpu)
        return;
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
            if (s < ALL_WAYS || !ways[w].rare)
                check_decode_way(c, &shapes[s], &ways[w]);
    static const struct frames_case damaged[] = {
        {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 0, 97, 103, 8},
        {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U8, 0, 2048, 61, 83, 8},
        {AIRY_CODEC_LZ4, AIRY_DTYPE_U16, 0, 3000, 61, 83, 8},
    };
    for (size_t s = 0; s < sizeof(damaged) / sizeof(damaged[0]); s++)
        for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
            for (int round = 0; round < 4; round++)
                check_damaged_way(c, &damaged[s], &ways[w], round);
    static const struct frames_case sequences[] = {
        {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U32, 0, 0, 97, 203, 8},
        {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U8, 0, 0, 211, 203, 8},
        {AIRY_CODEC_BSLZ4, AIRY_DTYPE_U16, 0, 2048, 61, 83, 8},
    };
    for (size_t s = 0; s < sizeof(sequences) / sizeof(sequences[0]); s++)
        for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
            for (int round = 0; round < (ways[w].rare ? 1 : 4); round++)
                check_sequences_way(c, &sequences[s], &ways[w], round);
    check_absent(c);
    check_small_local(c, 20000);
    check_small_local(c, 4096);
    check_decode_bench(c, AIRY_DTYPE_U32, 32);
    check_decode_bench(c, AIRY_DTYPE_U32, 1);
    check_decode_bench(c, AIRY_DTYPE_U16, 32);
}
