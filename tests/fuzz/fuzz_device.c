/*
 * Chunks from a fuzzer, through the decoder of an OpenCL device against the host's byte-by-byte
 * reference: same frames good, same bytes. Device code is not instrumented where PoCL compiles it,
 * so each output lies between guards, and each batch is decoded twice over different bytes: what is
 * not written, or depends on what lay there, shows.
 *
 * Input: 6 bytes of parameters, then frames: each a byte for how it is made, a byte for its damage,
 * and what it takes of the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "airy/airy.h"
#include "core/objects.h"
#include "fuzz.h"
#include "opencl/cl_decode.h"
#include "ref_codec.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
enum { FRAMES = 6, GUARD = 256, MOST = 4096 /* elements of a frame */ };

/* The compiler in PoCL does not release all that it makes. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libstdc++";
}

static const struct way {
    struct airy_cl_lanes lanes; /* 0 lanes: the device's */
    bool large;
} ways[] = {
    {{.lanes = 0}, .large = false},
    {{.lanes = 0}, .large = true},
    /* Lanes that meet by barriers: PoCL 3.1 loses bounds of their loops if it optimises. */
    {{.lanes = 32, .blocks = 1, .portable = true, .unoptimised = true}, .large = false},
    {{.lanes = 32, .blocks = 1, .portable = true, .as_warp = true, .unoptimised = true},
     .large = true},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static airy_device *device;
static airy_queue *queue;

static struct frames {
    airy_dtype dtype;
    airy_codec_params codec;
    size_t count, elements, bytes; /* bytes: of a frame, decoded */
    uint8_t *chunk[FRAMES];
    size_t size[FRAMES];
    bool good[FRAMES];
    uint8_t want[FRAMES][MOST * 8];
} job;

/* The first OpenCL device; 77: there is none, which is no failure. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (airy_device_create(&device, "opencl:0:0", NULL) != AIRY_OK ||
        airy_queue_create(&queue, device) != AIRY_OK)
        _Exit(77);
    return 0;
}

/* Pixels of runs, ramps and noise as the bytes say, encoded. */
static size_t encode_pixels(uint8_t *chunk, size_t room, const uint8_t *data, size_t size)
{
    static uint8_t pixels[MOST * 8];
    size_t at = 0;
    for (size_t i = 0; i < size && at < job.bytes; i += 2) {
        const size_t run = 1 + (i + 1 < size ? data[i + 1] : 0) * (data[i] & 1 ? 16u : 1u);
        for (size_t k = 0; k < run && at < job.bytes; k++)
            pixels[at++] = data[i] & 2 ? (uint8_t)(data[i] * (k + 1) * 37u) : data[i];
    }
    memset(pixels + at, 0, job.bytes - at);
    require(airy_encode(chunk, &room, pixels, job.bytes, &job.codec) == AIRY_OK);
    return room;
}

/* A header that fits in front of bytes of the fuzzer, so that what follows is reached. */
static size_t frame_bytes(uint8_t *chunk, const uint8_t *data, size_t size)
{
    memcpy(chunk, data, size);
    if (size < 12)
        return size;
    const uint32_t block = job.codec.block_bytes
                               ? job.codec.block_bytes
                               : 8192 / job.codec.elem_size / 8 * 8 * job.codec.elem_size;
    for (size_t i = 0; i < 8; i++)
        chunk[i] = (uint8_t)((uint64_t)job.bytes >> (8 * (7 - i)));
    for (size_t i = 0; i < 4; i++)
        chunk[8 + i] = (uint8_t)(block >> (8 * (3 - i)));
    return size;
}

static void add_frame(const uint8_t *data, size_t size, unsigned how, unsigned damage)
{
    const size_t bound = airy_encode_bound(job.bytes, &job.codec), room = bound + size + 16;
    uint8_t *chunk = malloc(room);
    require(chunk != NULL);
    size_t used = how & 3 ? encode_pixels(chunk, bound, data, size)
                          : frame_bytes(chunk, data, size);
    for (unsigned k = 0; (how & 3) == 3 && k <= damage % 4 && used > 12; k++)
        chunk[12 + (damage * 7919u + k * 331u + (k < size ? data[k] * 257u : 0)) % (used - 12)] ^=
            (uint8_t)(k < size ? 1u << (data[size - 1 - k] & 7) : 0xff);
    if ((how & 3) == 2)
        used -= damage < used ? damage : used;
    const size_t n = job.count;
    uint32_t bad;
    if (job.codec.codec == AIRY_CODEC_BSLZ4 || job.codec.codec == AIRY_CODEC_LZ4)
        job.good[n] = ref_decode_chunk(job.want[n], job.bytes, chunk, used,
                                       job.codec.codec == AIRY_CODEC_BSLZ4, job.codec.elem_size,
                                       &bad);
    else
        job.good[n] = airy_decode(job.want[n], job.bytes, chunk, used, &job.codec) == AIRY_OK;
    job.chunk[n] = chunk;
    job.size[n] = used;
    job.count++;
}

/* What the framing already refuses is not added. */
static airy_batch *make_batch(void)
{
    airy_batch *batch = NULL;
    const airy_batch_params params = {.dtype = job.dtype,
                                      .height = 1,
                                      .width = job.elements,
                                      .codec = job.codec,
                                      .frames = FRAMES,
                                      .bytes = 1 << 20};
    require(airy_batch_create(&batch, device, &params) == AIRY_OK);
    for (size_t i = 0; i < job.count;) {
        const airy_status added = airy_batch_add(batch, job.chunk[i], job.size[i]);
        require(added == AIRY_OK || (added == AIRY_ERR_CORRUPT && !job.good[i]));
        if (added == AIRY_OK) {
            i++;
            continue;
        }
        free(job.chunk[i]);
        job.count--;
        for (size_t k = i; k < job.count; k++) {
            job.chunk[k] = job.chunk[k + 1];
            job.size[k] = job.size[k + 1];
            job.good[k] = job.good[k + 1];
            memcpy(job.want[k], job.want[k + 1], job.bytes);
        }
    }
    return batch;
}

struct guarded {
    airy_array *raw, *array;
    size_t size;
};

static struct guarded make_guarded(airy_dtype dtype, int ndim, const size_t *shape, uint8_t byte)
{
    struct guarded g = {.size = airy_dtype_size(dtype)};
    for (int axis = 0; axis < ndim; axis++)
        g.size *= shape[axis];
    const size_t all = g.size + 2 * GUARD;
    require(airy_array_create(&g.raw, device, AIRY_DTYPE_U8, 1, &all) == AIRY_OK);
    require(airy_array_fill(queue, g.raw, byte) == AIRY_OK);
    require(airy_array_view_as(&g.array, g.raw, GUARD, dtype, ndim, shape) == AIRY_OK);
    return g;
}

/* Out: the bytes between the guards, malloc'ed. */
static uint8_t *take_guarded(struct guarded *g, uint8_t byte)
{
    const size_t all = g->size + 2 * GUARD;
    uint8_t *bytes = malloc(all);
    require(bytes && airy_array_pull(queue, bytes, all, g->raw) == AIRY_OK);
    for (size_t i = 0; i < GUARD; i++)
        require(bytes[i] == byte && bytes[all - 1 - i] == byte);
    memmove(bytes, bytes + GUARD, g->size);
    airy_array_destroy(&g->array);
    airy_array_destroy(&g->raw);
    return bytes;
}

static void decode_once(airy_batch *batch, const struct way *way, uint8_t byte)
{
    const size_t shape[3] = {job.count, 1, job.elements};
    struct guarded frames = make_guarded(job.dtype, 3, shape, byte),
                   status = make_guarded(AIRY_DTYPE_U32, 1, shape, byte);
    struct airy_decode_plan plan = {.frames = frames.array, .status = status.array};
    const struct airy_cl_lanes lanes = way->lanes.lanes ? way->lanes : airy_cl_lanes_of(device);
    require(airy_batch_upload(queue, batch, &plan.chunks) == AIRY_OK);
    require(airy_cl_decode(queue, &plan, &lanes, way->large) == AIRY_OK);
    uint8_t *got = take_guarded(&frames, byte), *words = take_guarded(&status, byte);
    for (size_t i = 0; i < job.count; i++) {
        uint32_t word;
        memcpy(&word, words + 4 * i, 4);
        require((word == AIRY_FRAME_GOOD) == job.good[i]);
        require(!job.good[i] || memcmp(got + i * job.bytes, job.want[i], job.bytes) == 0);
    }
    free(got);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const airy_dtype dtypes[3] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_U32};
    if (size < 6)
        return 0;
    job.dtype = dtypes[data[1] % 3];
    job.elements = 1 + (data[2] | (size_t)data[3] << 8) % MOST;
    job.bytes = job.elements * airy_dtype_size(job.dtype);
    job.codec = (airy_codec_params){.codec = (airy_codec)(data[0] & 3),
                                    .elem_size = (uint32_t)airy_dtype_size(job.dtype)};
    job.codec.block_bytes = data[4] & 3 ? 8 * job.codec.elem_size << (data[4] & 15) : 0;
    job.count = 0;
    const struct way *way = &ways[data[5] % WAYS];
    const size_t share = (size - 6) / FRAMES;
    for (size_t i = 0; i < FRAMES && share >= 2; i++) {
        const uint8_t *part = data + 6 + i * share;
        add_frame(part + 2, share - 2, part[0], part[1]);
    }
    airy_batch *batch = make_batch();
    if (job.count > 0) {
        decode_once(batch, way, 0x5a);
        decode_once(batch, way, 0xc3);
    }
    airy_batch_destroy(&batch);
    for (size_t i = 0; i < job.count; i++)
        free(job.chunk[i]);
    return 0;
}
