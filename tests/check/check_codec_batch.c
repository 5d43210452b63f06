/* The corpus of chunks, and batches of chunks on every device. */
#include "check_codec.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "codec/chunks.h"
#include "codec/codec_fns.h"
#include "core/backend.h"
#include "ref_codec.h"

static bool can_decode(const struct check *c)
{
    const struct airy_codec_fns *fns = airy_queue_backend(c->queue)->codec;
    return fns && fns->decode;
}

/* All frames of the batch to tight host memory; false where the call failed. */
static bool pull_batch(struct check *c, airy_batch *batch, airy_dtype dtype, size_t height,
                       size_t width, void *pixels, uint32_t *status)
{
    const size_t n = airy_batch_frames(batch), shape[3] = {n, height, width};
    airy_array *frames = check_output(c, dtype, 3, shape),
               *words = check_output(c, AIRY_DTYPE_U32, 1, shape);
    return CHECK_OK(c, airy_decode_batch(c->queue, frames, words, batch)) &&
           CHECK_OK(c, airy_array_pull(c->queue, pixels, airy_array_size(frames), frames)) &&
           CHECK_OK(c, airy_array_pull(c->queue, status, n * sizeof(*status), words)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

struct corpus_case {
    const char *id, *expect;
    uint8_t *chunk; /* of exactly its size, as is everything here */
    size_t chunk_size, size, elem_size;
    uint32_t block_elements, crc32;
    bool want_good; /* the reference decodes it */
    uint32_t want_bad;
    uint8_t *want;
};

static airy_dtype unsigned_of(size_t elem_size)
{
    return elem_size == 1   ? AIRY_DTYPE_U8
           : elem_size == 2 ? AIRY_DTYPE_U16
           : elem_size == 4 ? AIRY_DTYPE_U32
                            : AIRY_DTYPE_U64;
}

/* A decoder may refuse what the reference takes in no case here, nor the reverse. */
static void check_corpus_host(struct check *c, const struct corpus_case *k)
{
    const airy_codec_params params = {.codec = AIRY_CODEC_BSLZ4,
                                      .elem_size = (uint32_t)k->elem_size};
    uint8_t *got = check_alloc(c, k->size);
    const airy_status status = airy_decode(got, k->size, k->chunk, k->chunk_size, &params);
    if (!CHECK(c, status == (k->want_good ? AIRY_OK : AIRY_ERR_CORRUPT)))
        return;
    if (status == AIRY_OK)
        check_values(c, "pixels", AIRY_DTYPE_U8, got, k->want, k->size, NULL);
    if (strcmp(k->expect, "ok") == 0)
        CHECK(c, status == AIRY_OK && ref_crc32(got, k->size) == k->crc32);
    if (strcmp(k->expect, "error") == 0)
        CHECK(c, status == AIRY_ERR_CORRUPT);
}

/*
 * block_elements 0: the batch's blocks may differ from the chunk's, which is then decoded on the
 * host.
 */
static void check_corpus_device(struct check *c, const struct corpus_case *k,
                                uint32_t block_elements)
{
    const airy_dtype dtype = unsigned_of(k->elem_size);
    const size_t width = k->size / k->elem_size;
    airy_batch_params params = {
        .dtype = dtype, .height = 1, .width = width, .frames = 1, .bytes = 2 * k->size + 8192};
    params.codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4,
                                       .block_bytes = block_elements * (uint32_t)k->elem_size};
    airy_batch *batch = NULL;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return;
    const airy_status added = airy_batch_add(batch, k->chunk, k->chunk_size);
    if (added == AIRY_OK) {
        uint8_t *got = check_alloc(c, k->size);
        uint32_t status = 0;
        if (pull_batch(c, batch, dtype, 1, width, got, &status)) {
            if (status != (k->want_good ? AIRY_FRAME_GOOD : k->want_bad))
                check_failed(c, __FILE__, __LINE__, "status: got %s, want %u",
                             airy_frame_error(status), k->want_bad);
            else if (k->want_good)
                check_values(c, "pixels", AIRY_DTYPE_U8, got, k->want, k->size, NULL);
        }
    } else {
        CHECK(c, added == AIRY_ERR_CORRUPT && !k->want_good && airy_batch_frames(batch) == 0);
    }
    airy_batch_destroy(&batch);
}

static bool read_case(struct check *c, struct corpus_case *k, const json_t *entry,
                      const uint8_t *bin, size_t bin_size)
{
    const json_t *place = json_object_get(entry, "chunk");
    const size_t at = (size_t)json_integer_value(json_array_get(place, 0));
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    k->chunk_size = (size_t)json_integer_value(json_array_get(place, 1));
    k->size = (size_t)json_integer_value(json_object_get(entry, "nbytes"));
    k->block_elements = (uint32_t)json_integer_value(json_object_get(entry, "nelem_block"));
    k->crc32 = (uint32_t)json_integer_value(json_object_get(entry, "crc32"));
    if (!CHECK(c, dtype && strlen(dtype) == 3 && k->expect && at <= bin_size &&
                      k->chunk_size <= bin_size - at))
        return false;
    k->elem_size = (size_t)(dtype[2] - '0');
    k->chunk = check_alloc(c, k->chunk_size);
    memcpy(k->chunk, bin + at, k->chunk_size);
    k->want = check_alloc(c, k->size);
    k->want_good = ref_decode_chunk(k->want, k->size, k->chunk, k->chunk_size, true, k->elem_size,
                                    &k->want_bad);
    return true;
}

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size ? *size : 1);
    if (data && fread(data, 1, *size, file) != *size)
        *size = 0;
    fclose(file);
    return data;
}

void check_codec_corpus(struct check *c)
{
    (void)check_case(c, "corpus"); /* the chunks have names of their own to choose by */
    const char *json_path = check_golden(c, "diffraction/codec.json");
    json_t *root = json_path ? json_load_file(json_path, 0, NULL) : NULL;
    const char *bin_path = check_golden(c, "diffraction/codec.bin");
    size_t bin_size = 0;
    uint8_t *bin = bin_path ? read_file(bin_path, &bin_size) : NULL;
    const json_t *cases = json_object_get(root, "cases");
    if (bin)
        CHECK(c, json_array_size(cases) == 178);
    for (size_t i = 0; bin && i < json_array_size(cases); i++) {
        const json_t *entry = json_array_get(cases, i);
        struct corpus_case k = {.id = json_string_value(json_object_get(entry, "id")),
                                .expect = json_string_value(json_object_get(entry, "expect"))};
        if (!k.id || !check_case(c, "corpus_%s", k.id) || !read_case(c, &k, entry, bin, bin_size))
            continue;
        if (c->is_cpu)
            check_corpus_host(c, &k);
        if (!can_decode(c)) {
            check_skip(c, "the back end does not decode yet");
            continue;
        }
        check_corpus_device(c, &k, k.block_elements);
        if (k.block_elements)
            check_corpus_device(c, &k, 0);
    }
    free(bin);
    json_decref(root);
}

enum { FRAMES = 5, HEIGHT = 61, WIDTH = 67 };

struct sample {
    uint32_t *pixels;
    uint8_t *chunk;
    size_t size;
};

static const airy_batch_params sample_params = {.dtype = AIRY_DTYPE_U32,
                                                .height = HEIGHT,
                                                .width = WIDTH,
                                                .frames = FRAMES,
                                                .codec = {.codec = AIRY_CODEC_BSLZ4}};

static void make_samples(struct check *c, struct sample samples[FRAMES],
                         const airy_codec_params *codec)
{
    airy_codec_params p = *codec;
    p.elem_size = 4;
    for (size_t i = 0; i < FRAMES; i++) {
        samples[i].pixels = (uint32_t *)(void *)check_codec_pixels(c, HEIGHT * WIDTH, 4);
        samples[i].chunk =
            check_codec_encode(c, samples[i].pixels, HEIGHT * WIDTH * 4, &p, &samples[i].size);
    }
}

/* Every codec and several block sizes, two rounds through the same batch. */
static void check_batch_codecs(struct check *c)
{
    static const struct {
        const char *name;
        airy_codec_params codec;
    } rows[] = {{"none", {.codec = AIRY_CODEC_NONE}},
                {"bshuf", {.codec = AIRY_CODEC_BSHUF}},
                {"bshuf_b512", {.codec = AIRY_CODEC_BSHUF, .block_bytes = 512}},
                {"bslz4", {.codec = AIRY_CODEC_BSLZ4}},
                {"bslz4_b32", {.codec = AIRY_CODEC_BSLZ4, .block_bytes = 32}},
                {"bslz4_b2048", {.codec = AIRY_CODEC_BSLZ4, .block_bytes = 2048}},
                {"bslz4_b65536", {.codec = AIRY_CODEC_BSLZ4, .block_bytes = 65536}},
                {"lz4", {.codec = AIRY_CODEC_LZ4}},
                {"lz4_b1000", {.codec = AIRY_CODEC_LZ4, .block_bytes = 1000}}};
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        if (!check_case(c, "batch_%s", rows[r].name))
            continue;
        if (!can_decode(c)) {
            check_skip(c, "the back end does not decode yet");
            continue;
        }
        airy_batch_params params = sample_params;
        params.codec = rows[r].codec;
        airy_batch *batch = NULL;
        if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
            continue;
        const size_t count = (size_t)HEIGHT * WIDTH;
        uint32_t *got = check_alloc(c, FRAMES * count * 4), status[FRAMES];
        for (size_t n = FRAMES; n >= 3; n -= 2) {
            struct sample samples[FRAMES];
            make_samples(c, samples, &rows[r].codec);
            airy_batch_clear(batch);
            for (size_t i = 0; i < n; i++)
                CHECK_OK(c, airy_batch_add(batch, samples[i].chunk, samples[i].size));
            if (!CHECK(c, airy_batch_frames(batch) == n) ||
                !pull_batch(c, batch, AIRY_DTYPE_U32, HEIGHT, WIDTH, got, status))
                break;
            for (size_t i = 0; i < n; i++) {
                CHECK(c, status[i] == AIRY_FRAME_GOOD);
                check_values(c, "pixels", AIRY_DTYPE_U32, got + i * count, samples[i].pixels, count,
                             NULL);
            }
        }
        airy_batch_destroy(&batch);
    }
}

/*
 * A bad block in any frame leaves the other frames alone, and the lowest bad block is the one
 * reported.
 */
static void check_batch_corrupt(struct check *c)
{
    if (!check_case(c, "batch_corrupt_positions"))
        return;
    if (!can_decode(c)) {
        check_skip(c, "the back end does not decode yet");
        return;
    }
    airy_batch *batch = NULL;
    airy_batch_params params = sample_params;
    params.codec.block_bytes = 1024;
    struct sample samples[FRAMES];
    make_samples(c, samples, &params.codec);
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return;
    const size_t count = (size_t)HEIGHT * WIDTH;
    uint32_t *got = check_alloc(c, FRAMES * count * 4), status[FRAMES];
    for (size_t bad = 0; bad < FRAMES; bad++) {
        uint8_t *chunk = check_alloc(c, samples[bad].size);
        memcpy(chunk, samples[bad].chunk, samples[bad].size);
        airy_block_layout layout;
        airy_codec_params codec = params.codec;
        codec.elem_size = 4;
        CHECK_OK(c, airy_block_layout_make(&layout, count * 4, &codec));
        airy_block *table = check_alloc(c, layout.blocks * sizeof(*table));
        CHECK_OK(c, airy_chunk_walk(table, &layout, chunk, samples[bad].size, 0));
        /*
         * A match without anything before it: block 9 in one frame, the last in the next, ...;
         * block 12 in all.
         */
        const uint32_t block = bad % 2 ? layout.blocks - 2 : 9;
        chunk[table[block].offset] = 0x00;
        chunk[table[12].offset] = 0x00;
        airy_batch_clear(batch);
        for (size_t i = 0; i < FRAMES; i++)
            CHECK_OK(c,
                     airy_batch_add(batch, i == bad ? chunk : samples[i].chunk, samples[i].size));
        if (!pull_batch(c, batch, AIRY_DTYPE_U32, HEIGHT, WIDTH, got, status))
            break;
        uint32_t want;
        uint8_t *scratch = check_alloc(c, count * 4);
        CHECK(c, !ref_decode_chunk(scratch, count * 4, chunk, samples[bad].size, true, 4, &want));
        CHECK(c, want >> 3 == (block < 12 ? block : 12));
        for (size_t i = 0; i < FRAMES; i++) {
            if (status[i] != (i == bad ? want : AIRY_FRAME_GOOD))
                check_failed(c, __FILE__, __LINE__, "frame %zu of bad %zu: %s, want %u", i, bad,
                             airy_frame_error(status[i]), want);
            if (i != bad)
                check_values(c, "pixels", AIRY_DTYPE_U32, got + i * count, samples[i].pixels, count,
                             NULL);
        }
    }
    airy_batch_destroy(&batch);
}

/*
 * Filled in place, as readers do: compressed, in other blocks, as pixels, absent, corrupt, and one
 * that nobody indexed.
 */
static void check_batch_in_place(struct check *c)
{
    if (!check_case(c, "batch_in_place"))
        return;
    if (!can_decode(c)) {
        check_skip(c, "the back end does not decode yet");
        return;
    }
    enum { N = 6 };
    const size_t count = (size_t)HEIGHT * WIDTH, size = count * 4;
    airy_batch *batch = NULL;
    airy_batch_params params = sample_params;
    params.frames = N;
    struct sample samples[FRAMES], other[FRAMES];
    make_samples(c, samples, &params.codec);
    make_samples(c, other, &(airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .block_bytes = 320});
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return;
    const size_t sizes[N] = {samples[0].size, other[1].size,  size, 100,
                             samples[4].size, samples[0].size};
    CHECK_OK(c, airy_batch_reserve(batch, N, sizes));
    memcpy(airy_batch_place(batch, 0), samples[0].chunk, sizes[0]);
    memcpy(airy_batch_place(batch, 1), other[1].chunk, sizes[1]);
    memcpy(airy_batch_place(batch, 2), samples[2].pixels, size);
    memcpy(airy_batch_place(batch, 4), samples[4].chunk, sizes[4]);
    ((uint8_t *)airy_batch_place(batch, 4))[4] ^= 1; /* decoded bytes */
    CHECK_OK(c, airy_batch_index(batch, 0, sizes[0]));
    CHECK_OK(c, airy_batch_index(batch, 1, sizes[1]));
    airy_batch_index_stored(batch, 2);
    airy_batch_index_absent(batch, 3);
    CHECK_FAILS(c, airy_batch_index(batch, 4, sizes[4]), AIRY_ERR_CORRUPT,
                "bytes decoded, expected");
    uint32_t *got = check_alloc(c, N * size), status[N];
    if (pull_batch(c, batch, AIRY_DTYPE_U32, HEIGHT, WIDTH, got, status)) {
        const uint32_t *want[3] = {samples[0].pixels, other[1].pixels, samples[2].pixels};
        for (size_t i = 0; i < N; i++) {
            CHECK(c, status[i] == (i < 3 ? AIRY_FRAME_GOOD : AIRY_REASON_ABSENT));
            if (i < 3)
                check_values(c, "pixels", AIRY_DTYPE_U32, got + i * count, want[i], count, NULL);
        }
    }
    /* Two frames only: the table is shorter, nothing of the frames before is left. */
    CHECK_OK(c, airy_batch_reserve(batch, 2, &sizes[1]));
    memcpy(airy_batch_place(batch, 0), other[1].chunk, sizes[1]);
    CHECK_OK(c, airy_batch_index(batch, 0, sizes[1]));
    if (pull_batch(c, batch, AIRY_DTYPE_U32, HEIGHT, WIDTH, got, status)) {
        CHECK(c, status[0] == AIRY_FRAME_GOOD && status[1] == AIRY_REASON_ABSENT);
        check_values(c, "pixels", AIRY_DTYPE_U32, got, other[1].pixels, count, NULL);
    }
    airy_batch_destroy(&batch);
}

struct fill_job {
    airy_batch *batch;
    const struct sample *samples; /* [FRAMES], over and over */
    atomic_int failed;
};

static void fill_one(void *arg, size_t i, unsigned worker)
{
    struct fill_job *job = arg;
    const struct sample *s = &job->samples[i % FRAMES];
    (void)worker;
    memcpy(airy_batch_place(job->batch, i), s->chunk, s->size);
    if (airy_batch_index(job->batch, i, s->size) != AIRY_OK)
        atomic_fetch_add(&job->failed, 1);
}

/*
 * Several threads fill one batch; a third of the chunks is cut into other blocks, so they also
 * share what is left of the buffer.
 */
static void check_batch_threads(struct check *c)
{
    if (!check_case(c, "batch_in_place_threads"))
        return;
    if (!can_decode(c)) {
        check_skip(c, "the back end does not decode yet");
        return;
    }
    enum { N = 60 };
    const size_t count = (size_t)HEIGHT * WIDTH;
    airy_batch *batch = NULL;
    airy_pool *pool = NULL;
    airy_batch_params params = sample_params;
    params.frames = N;
    struct sample samples[FRAMES], other[FRAMES];
    make_samples(c, samples, &params.codec);
    make_samples(c, other, &(airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .block_bytes = 320});
    samples[1] = other[1];
    samples[3] = other[3];
    size_t sizes[N];
    for (size_t i = 0; i < N; i++)
        sizes[i] = samples[i % FRAMES].size;
    if (!CHECK_OK(c, airy_pool_create(&pool, 4)) ||
        !CHECK_OK(c, airy_batch_create(&batch, c->device, &params))) {
        airy_pool_destroy(&pool);
        return;
    }
    CHECK_OK(c, airy_batch_reserve(batch, N, sizes));
    struct fill_job job = {.batch = batch, .samples = samples};
    airy_pool_run(pool, N, fill_one, &job);
    CHECK(c, atomic_load(&job.failed) == 0);
    uint32_t *got = check_alloc(c, N * count * 4), status[N];
    if (pull_batch(c, batch, AIRY_DTYPE_U32, HEIGHT, WIDTH, got, status))
        for (size_t i = 0; i < N; i++) {
            CHECK(c, status[i] == AIRY_FRAME_GOOD);
            check_values(c, "pixels", AIRY_DTYPE_U32, got + i * count, samples[i % FRAMES].pixels,
                         count, NULL);
        }
    airy_batch_destroy(&batch);
    airy_pool_destroy(&pool);
}

static void check_batch_create_errors(struct check *c)
{
    if (!check_case(c, "batch_create_errors"))
        return;
    airy_batch *batch = NULL;
    airy_batch_params p = sample_params;
    CHECK_FAILS(c, airy_batch_create(NULL, c->device, &p), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_batch_create(&batch, NULL, &p), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, NULL), AIRY_ERR_PARAM, "NULL");
    p.dtype = (airy_dtype)99;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_DTYPE, "dtype = 99");
    p = sample_params;
    p.frames = 0;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM, "frames = 0");
    p = sample_params;
    p.width = 0;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM,
                "frame of 61 x 0 pixels");
    p.width = SIZE_MAX / 4;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM, "frame of 61 x");
    p = sample_params;
    p.codec.block_bytes = 12;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM,
                "block size = 12 bytes");
    p = sample_params;
    p.frames = (size_t)1 << 40;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM,
                "does not fit into 4 GiB");
    p = sample_params;
    p.bytes = UINT32_MAX;
    CHECK_FAILS(c, airy_batch_create(&batch, c->device, &p), AIRY_ERR_PARAM,
                "bytes = 4294967295, expected at most");
    CHECK(c, batch == NULL);
}

static void check_batch_fill_errors(struct check *c)
{
    if (!check_case(c, "batch_fill_errors"))
        return;
    airy_batch *batch = NULL;
    struct sample samples[FRAMES];
    make_samples(c, samples, &sample_params.codec);
    airy_batch_params p = sample_params;
    p.frames = 2;
    p.bytes = samples[0].size + 64;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &p)))
        return;
    CHECK_FAILS(c, airy_batch_add(NULL, samples[0].chunk, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_batch_add(batch, NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_batch_add(batch, samples[0].chunk, samples[0].size - 1), AIRY_ERR_CORRUPT,
                "bytes left");
    CHECK(c, airy_batch_frames(batch) == 0);
    CHECK_OK(c, airy_batch_add(batch, samples[0].chunk, samples[0].size));
    CHECK_FAILS(c, airy_batch_add(batch, samples[1].chunk, samples[1].size), AIRY_ERR_MEMORY,
                "batch is full: ");
    CHECK(c, airy_batch_frames(batch) == 1);
    const size_t sizes[3] = {10, 10, 10}, large[1] = {(size_t)1 << 40};
    CHECK_FAILS(c, airy_batch_reserve(batch, 3, sizes), AIRY_ERR_MEMORY,
                "batch has room for 2 frames, 3 wanted");
    CHECK_FAILS(c, airy_batch_reserve(batch, 1, large), AIRY_ERR_MEMORY,
                "batch is full: 1099511627776 bytes wanted");
    airy_batch_destroy(&batch);

    p.bytes = 0;
    p.frames = 1;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &p)))
        return;
    CHECK_OK(c, airy_batch_add(batch, samples[0].chunk, samples[0].size));
    CHECK_FAILS(c, airy_batch_add(batch, samples[1].chunk, samples[1].size), AIRY_ERR_MEMORY,
                "it has its 1 frames");
    airy_batch_destroy(&batch);
    airy_batch_destroy(&batch);
    airy_batch_destroy(NULL);
}

static void check_batch_decode_errors(struct check *c)
{
    if (!check_case(c, "batch_decode_errors"))
        return;
    airy_batch *batch = NULL;
    struct sample samples[FRAMES];
    make_samples(c, samples, &sample_params.codec);
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &sample_params)))
        return;
    const size_t shape[3] = {2, HEIGHT, WIDTH}, wide[3] = {2, HEIGHT, WIDTH + 1},
                 start[3] = {0, 0, 0};
    airy_array *frames = check_output(c, AIRY_DTYPE_U32, 3, shape),
               *status = check_output(c, AIRY_DTYPE_U32, 1, shape);
    airy_array *i32 = check_output(c, AIRY_DTYPE_I32, 3, shape),
               *larger = check_output(c, AIRY_DTYPE_U32, 3, wide);
    airy_array *i32_status = check_output(c, AIRY_DTYPE_I32, 1, shape), *gaps = NULL;
    airy_queue *q = c->queue;
    CHECK_OK(c, airy_array_view(&gaps, larger, start, shape));
    CHECK_FAILS(c, airy_decode_batch(NULL, frames, status, batch), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_decode_batch(q, NULL, status, batch), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_decode_batch(q, frames, NULL, batch), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_decode_batch(q, frames, status, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_decode_batch(q, frames, status, batch), AIRY_ERR_SHAPE,
                "expected [0, 61, 67]");
    CHECK_OK(c, airy_batch_add(batch, samples[0].chunk, samples[0].size));
    CHECK_FAILS(c, airy_decode_batch(q, frames, status, batch), AIRY_ERR_SHAPE,
                "expected [1, 61, 67]");
    CHECK_OK(c, airy_batch_add(batch, samples[1].chunk, samples[1].size));
    CHECK_FAILS(c, airy_decode_batch(q, i32, status, batch), AIRY_ERR_DTYPE, "the batch has u");
    CHECK_FAILS(c, airy_decode_batch(q, frames, i32_status, batch), AIRY_ERR_DTYPE, "expected u32");
    CHECK_FAILS(c, airy_decode_batch(q, larger, status, batch), AIRY_ERR_SHAPE,
                "expected [2, 61, 67]");
    CHECK_FAILS(c, airy_decode_batch(q, gaps, status, batch), AIRY_ERR_SHAPE, "without gaps");
    CHECK_FAILS(c, airy_decode_batch(q, frames, frames, batch), AIRY_ERR_SHAPE,
                "expected [2] without gaps");

    airy_device *other_device = NULL;
    airy_queue *other = NULL;
    struct airy_chunks chunks;
    CHECK_OK(c, airy_device_create(&other_device, "cpu", &(airy_device_params){.threads = 1}));
    CHECK_OK(c, airy_queue_create(&other, other_device));
    CHECK_FAILS(c, airy_decode_batch(other, frames, status, batch), AIRY_ERR_PARAM,
                "frames is an array of device");
    CHECK_FAILS(c, airy_batch_upload(other, batch, &chunks), AIRY_ERR_PARAM, "batch is of device");
    airy_batch_clear(batch);
    CHECK_FAILS(c, airy_batch_upload(q, batch, &chunks), AIRY_ERR_PARAM, "batch has no frames");
    airy_queue_destroy(&other);
    airy_device_destroy(&other_device);
    airy_array_destroy(&gaps);
    airy_batch_destroy(&batch);
}

/* A batch of frames of an Eiger 4M's shape, upload included. */
static void check_batch_speed(struct check *c)
{
    if (!c->bench || !can_decode(c) || !check_case(c, "decode_batch_u32_eiger4m_x8"))
        return;
    enum { N = 8 };
    const airy_batch_params params = {.dtype = AIRY_DTYPE_U32,
                                      .height = 2167,
                                      .width = 2070,
                                      .frames = N,
                                      .codec = {.codec = AIRY_CODEC_BSLZ4}};
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .threads = 4};
    const size_t count = params.height * params.width, shape[3] = {N, params.height, params.width};
    airy_batch *batch = NULL;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return;
    size_t size;
    const uint8_t *chunk =
        check_codec_encode(c, check_codec_pixels(c, count, 4), count * 4, &codec, &size);
    for (size_t i = 0; i < N; i++)
        CHECK_OK(c, airy_batch_add(batch, chunk, size));
    airy_array *frames = check_output(c, AIRY_DTYPE_U32, 3, shape),
               *status = check_output(c, AIRY_DTYPE_U32, 1, shape);
    CHECK_BENCH(c, 4.0 * N * (double)count, 0,
                (airy_decode_batch(c->queue, frames, status, batch), airy_queue_finish(c->queue)));
    airy_batch_destroy(&batch);
}

void check_codec_batch(struct check *c)
{
    check_batch_codecs(c);
    check_batch_corrupt(c);
    check_batch_in_place(c);
    check_batch_threads(c);
    check_batch_create_errors(c);
    check_batch_fill_errors(c);
    check_batch_decode_errors(c);
    check_batch_speed(c);
}
