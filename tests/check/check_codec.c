/* Bit transpose, LZ4 blocks, chunks on the host. */
#include "check_codec.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "codec/chunks.h"
#include "ref_codec.h"

uint8_t *check_codec_pixels(struct check *c, size_t count, size_t elem_size)
{
    uint8_t *pixels = check_alloc(c, count * elem_size);
    bool zeros = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t r = check_rand_u64(c);
        if (r % 64 == 0)
            zeros = !zeros;
        if (!zeros)
            pixels[i * elem_size] = (uint8_t)((r >> 8 & 7) * (r >> 16 & 3));
        if (r >> 32 & 1 && r % 97 == 0)
            memset(pixels + i * elem_size, 255, elem_size);
    }
    return pixels;
}

uint8_t *check_codec_encode(struct check *c, const void *pixels, size_t size,
                            const airy_codec_params *params, size_t *chunk_size)
{
    *chunk_size = airy_encode_bound(size, params);
    uint8_t *bound = check_alloc(c, *chunk_size);
    CHECK_OK(c, airy_encode(bound, chunk_size, pixels, size, params));
    uint8_t *chunk = check_alloc(c, *chunk_size);
    memcpy(chunk, bound, *chunk_size);
    return chunk;
}

/*
 * The machine's functions against the definition; buffers of exactly the size show what leaves
 * them to a sanitizer.
 */
static void check_transpose_one(struct check *c, size_t elem_size)
{
    if (!check_case(c, "bitshuffle_%s_e%zu", airy_block_fns()->name, elem_size))
        return;
    static const size_t counts[] = {8,   16,  64,  120, 128,  136,  248,  256,  264,  504,  512,
                                    520, 760, 800, 960, 1024, 1032, 1528, 2040, 2048, 2056, 4096};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const size_t size = counts[i] * elem_size;
        uint8_t *src = check_alloc(c, size), *want = check_alloc(c, size),
                *got = check_alloc(c, size);
        check_rand(c, src, AIRY_DTYPE_U8, size, 0, 255);
        ref_bitshuffle(want, src, counts[i], elem_size);
        airy_block_fns()->shuffle(got, src, counts[i], elem_size);
        if (!check_values(c, "shuffled", AIRY_DTYPE_U8, got, want, size, NULL))
            return;
        memset(got, 0x5a, size);
        airy_block_fns()->unshuffle(got, want, counts[i], elem_size);
        if (!check_values(c, "unshuffled", AIRY_DTYPE_U8, got, src, size, NULL))
            return;
    }
}

struct writer {
    uint8_t *bytes;
    size_t at;
};

static void put_length(struct writer *w, size_t length)
{
    for (; length >= 255; length -= 255)
        w->bytes[w->at++] = 255;
    w->bytes[w->at++] = (uint8_t)length;
}

/* One sequence; match 0: the last one. */
static void put_sequence(struct writer *w, const uint8_t *literals, size_t count, size_t offset,
                         size_t match)
{
    const size_t code = match ? match - 4 : 0;
    w->bytes[w->at++] = (uint8_t)((count < 15 ? count : 15) << 4 | (code < 15 ? code : 15));
    if (count >= 15)
        put_length(w, count - 15);
    memcpy(w->bytes + w->at, literals, count);
    w->at += count;
    if (match == 0)
        return;
    w->bytes[w->at++] = (uint8_t)offset;
    w->bytes[w->at++] = (uint8_t)(offset >> 8);
    if (code >= 15)
        put_length(w, code - 15);
}

static size_t pick(struct check *c, size_t limit, size_t small, size_t large)
{
    const uint64_t r = check_rand_u64(c);
    const size_t v = r % 8 == 0 ? (size_t)(r >> 8) % large : (size_t)(r >> 8) % small;
    return v < limit ? v : limit;
}

/* A sound block of sequences at random, right up to both ends; the bytes written. */
static size_t write_block(struct check *c, uint8_t *out, size_t dst_size)
{
    struct writer w = {.bytes = out};
    uint8_t literals[4096];
    check_rand(c, literals, AIRY_DTYPE_U8, sizeof(literals), 0, 3);
    size_t done = 0;
    while (dst_size - done >= 16) {
        size_t count = pick(c, dst_size - done - 5, 20, 700);
        if (done + count == 0)
            count = 1;
        done += count;
        const size_t offset = 1 + pick(c, done - 1, 40, done);
        const size_t match = 4 + pick(c, dst_size - done - 4, 40, 3000);
        put_sequence(&w, literals + pick(c, sizeof(literals) - count, 64, 4096), count, offset,
                     match);
        done += match;
    }
    put_sequence(&w, literals, dst_size - done, 0, 0);
    return w.at;
}

/* The decoder that leaves out zeros at the end: the same verdict, and the same bytes with them. */
static bool check_lz4_front(struct check *c, const uint8_t *src, size_t src_size,
                            const uint8_t *want, size_t dst_size, uint32_t reason)
{
    uint8_t *got = malloc(dst_size ? dst_size : 1);
    size_t filled = 0;
    memset(got, 0xee, dst_size);
    const uint32_t result = airy_block_fns()->lz4_front(got, dst_size, src, src_size, &filled);
    bool good = CHECK(c, result == reason);
    if (good && reason == AIRY_STATUS_GOOD && (good = CHECK(c, filled <= dst_size))) {
        memset(got + filled, 0, dst_size - filled);
        good = check_values(c, "front", AIRY_DTYPE_U8, got, want, dst_size, NULL);
    }
    free(got);
    return good;
}

/* Same verdict as the definition, and the same bytes where it is good. */
static bool check_lz4_same(struct check *c, const uint8_t *src, size_t src_size, size_t dst_size,
                           bool sound)
{
    uint8_t *exact = malloc(src_size ? src_size : 1), *got = malloc(dst_size ? dst_size : 1),
            *want = malloc(dst_size ? dst_size : 1);
    memcpy(exact, src, src_size);
    const enum ref_reason reason = ref_lz4_block(want, dst_size, exact, src_size);
    const uint32_t result = airy_block_fns()->lz4(got, dst_size, exact, src_size);
    bool good = result == (reason == REF_GOOD ? AIRY_STATUS_GOOD : (uint32_t)reason) &&
                (!sound || reason == REF_GOOD);
    if (!good)
        check_failed(c, __FILE__, __LINE__, "block of %zu from %zu bytes: got %u, want %d",
                     dst_size, src_size, result, (int)reason);
    else if (reason == REF_GOOD)
        good = check_values(c, "block", AIRY_DTYPE_U8, got, want, dst_size, NULL);
    good = good && check_lz4_front(c, exact, src_size, want, dst_size, result);
    free(exact);
    free(got);
    free(want);
    return good;
}

static void check_lz4_random(struct check *c)
{
    if (!check_case(c, "lz4_%s_random", airy_block_fns()->name))
        return;
    for (size_t i = 0; i < 400; i++) {
        const size_t dst_size = 1 + pick(c, 8192, i < 200 ? 300 : 8192, 8192);
        uint8_t *src = check_alloc(c, 2 * dst_size + 64);
        const size_t size = write_block(c, src, dst_size);
        if (!check_lz4_same(c, src, size, dst_size, true))
            return;
        for (int k = 0; k < 8; k++) {
            const uint64_t r = check_rand_u64(c);
            const size_t at = (size_t)(r >> 16) % size;
            const uint8_t old = src[at];
            src[at] = (uint8_t)(k & 1 ? r : old ^ (uint64_t)1 << (r & 7));
            if (!check_lz4_same(c, src, size, dst_size, false) ||
                !check_lz4_same(c, src, at, dst_size, false))
                return;
            src[at] = old;
        }
        if (!check_lz4_same(c, src, size, dst_size - 1, false) ||
            !check_lz4_same(c, src, size, dst_size + 1, false))
            return;
    }
}

/*
 * Every offset below 80 with lengths around the widths of the copies, ending at every distance up
 * to 80 from the block's end.
 */
static void check_lz4_matches(struct check *c)
{
    if (!check_case(c, "lz4_%s_matches", airy_block_fns()->name))
        return;
    static const size_t lengths[] = {4,  7,  8,  12, 16, 17, 18, 19, 20,  31, 32,
                                     33, 48, 63, 64, 65, 95, 96, 97, 128, 300};
    uint8_t literals[96], src[1024];
    for (size_t zero = 0; zero < 2; zero++) {
        for (size_t i = 0; i < sizeof(literals); i++)
            literals[i] = zero ? 0 : (uint8_t)(i + 1);
        for (size_t offset = 1; offset < 80; offset++)
            for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
                for (size_t behind = 0; behind < 80; behind += 1 + behind / 8) {
                    struct writer w = {.bytes = src};
                    put_sequence(&w, literals, offset, offset, lengths[l]);
                    put_sequence(&w, literals, behind, 0, 0);
                    if (!check_lz4_same(c, src, w.at, offset + lengths[l] + behind, true))
                        return;
                }
    }
}

/* Blocks that end in zeros, as encoders write them and otherwise: how much is left out. */
static void check_lz4_ends(struct check *c)
{
    if (!check_case(c, "lz4_%s_ends", airy_block_fns()->name))
        return;
    static const uint8_t none[96];
    uint8_t literals[96], src[256];
    for (size_t i = 0; i < sizeof(literals); i++)
        literals[i] = (uint8_t)(i + 1);
    literals[95] = 0;
    for (size_t length = 90; length < 1200; length += 1 + length / 3)
        for (size_t behind = 4; behind < 7; behind++)
            for (size_t value = 0; value < 2; value++) {
                struct writer w = {.bytes = src};
                put_sequence(&w, literals + value * 5, 96 - value * 5, 1, length);
                put_sequence(&w, value ? literals : none, behind, 0, 0);
                const size_t size = 96 - value * 5 + length + behind;
                if (!check_lz4_same(c, src, w.at, size, true))
                    return;
                uint8_t *got = check_alloc(c, size);
                size_t filled = 0;
                CHECK(c, airy_block_fns()->lz4_front(got, size, src, w.at, &filled) ==
                             AIRY_STATUS_GOOD);
                CHECK(c, filled == (length >= 96 && behind == 5 && !value ? 96 : size));
            }
}

static void check_lz4_reasons(struct check *c)
{
    if (!check_case(c, "lz4_%s_reasons", airy_block_fns()->name))
        return;
    static const struct {
        uint32_t want;
        size_t dst_size, src_size;
        uint8_t src[12];
    } rows[] = {
        {AIRY_STATUS_GOOD, 0, 1, {0x00}},
        {AIRY_STATUS_GOOD, 1, 2, {0x10, 7}},
        {AIRY_STATUS_GOOD, 9, 9, {0x10, 7, 1, 0, 0x40, 1, 2, 3, 4}},
        {AIRY_STATUS_GOOD, 5, 5, {0x10, 7, 1, 0, 0x00}},
        {AIRY_REASON_TOKEN, 1, 0, {0}},
        {AIRY_REASON_TOKEN, 20, 1, {0xf0}},
        {AIRY_REASON_TOKEN, 600, 3, {0xf0, 255, 255}},
        {AIRY_REASON_TOKEN, 20, 3, {0x10, 7, 1}},
        {AIRY_REASON_TOKEN, 40, 4, {0x1f, 7, 1, 0}},
        {AIRY_REASON_TOKEN, 5, 4, {0x10, 7, 1, 0}},
        {AIRY_REASON_LITERAL, 20, 3, {0x30, 1, 2}},
        {AIRY_REASON_LITERAL, 2, 4, {0x30, 1, 2, 3}},
        {AIRY_REASON_OFFSET, 20, 5, {0x10, 7, 0, 0, 0}},
        {AIRY_REASON_OFFSET, 20, 5, {0x10, 7, 2, 0, 0}},
        {AIRY_REASON_MATCH, 4, 5, {0x10, 7, 1, 0, 0}},
        {AIRY_REASON_SHORT, 3, 3, {0x20, 1, 2}},
        {AIRY_REASON_LONG, 2, 4, {0x20, 1, 2, 0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *src = check_alloc(c, rows[i].src_size), *dst = check_alloc(c, rows[i].dst_size);
        memcpy(src, rows[i].src, rows[i].src_size);
        const uint32_t got = airy_block_fns()->lz4(dst, rows[i].dst_size, src, rows[i].src_size);
        if (got != rows[i].want)
            check_failed(c, __FILE__, __LINE__, "row %zu: got %u, want %u", i, got, rows[i].want);
    }
}

static void check_round_trip_one(struct check *c, airy_codec codec, size_t elem_size)
{
    if (!check_case(c, "round_trip_%s_e%zu", airy_codec_name(codec), elem_size))
        return;
    static const size_t counts[] = {0,   1,   7,   8,    9,    15,   63,   64,   65,   127,  128,
                                    129, 500, 511, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4100};
    static const uint32_t blocks[] = {0, 8, 64, 1024};
    const bool shuffled = codec == AIRY_CODEC_BSLZ4, framed = shuffled || codec == AIRY_CODEC_LZ4;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (size_t k = 0; k < sizeof(blocks) / sizeof(blocks[0]); k++) {
            airy_codec_params params = {.codec = codec,
                                        .elem_size = (uint32_t)elem_size,
                                        .block_bytes = blocks[k] * (uint32_t)elem_size};
            const size_t size = counts[i] * elem_size;
            const uint8_t *pixels = check_codec_pixels(c, counts[i], elem_size);
            size_t chunk_size, other_size;
            const uint8_t *chunk = check_codec_encode(c, pixels, size, &params, &chunk_size);
            params.threads = 3;
            const uint8_t *other = check_codec_encode(c, pixels, size, &params, &other_size);
            if (!CHECK(c, other_size == chunk_size) ||
                !check_values(c, "bytes by 3 threads", AIRY_DTYPE_U8, other, chunk, chunk_size,
                              NULL))
                return;
            if (framed)
                params.block_bytes = 0; /* the chunk knows */
            uint8_t *got = check_alloc(c, size);
            CHECK_OK(c, airy_decode(got, size, chunk, chunk_size, &params));
            if (!check_values(c, "decoded", AIRY_DTYPE_U8, got, pixels, size, NULL))
                return;
            uint32_t bad;
            uint8_t *want = check_alloc(c, size);
            if (framed && (!CHECK(c, ref_decode_chunk(want, size, chunk, chunk_size, shuffled,
                                                      elem_size, &bad)) ||
                           !check_values(c, "decoded by the reference", AIRY_DTYPE_U8, want, pixels,
                                         size, NULL)))
                return;
        }
}

/* What does not shrink: LZ4 stores it, bitshuffle-LZ4 grows; both stay within the bound. */
static void check_incompressible(struct check *c)
{
    if (!check_case(c, "round_trip_random_bytes"))
        return;
    const size_t size = 100003 * 4;
    uint8_t *pixels = check_alloc(c, size), *got = check_alloc(c, size);
    check_rand(c, pixels, AIRY_DTYPE_U8, size, 0, 255);
    for (int codec = 0; codec <= AIRY_CODEC_BSHUF; codec++)
        for (uint32_t threads = 0; threads < 3; threads++) {
            const airy_codec_params params = {.codec = (airy_codec)codec,
                                              .elem_size = 4,
                                              .block_bytes = 4096,
                                              .threads = threads};
            size_t chunk_size;
            const uint8_t *chunk = check_codec_encode(c, pixels, size, &params, &chunk_size);
            CHECK(c, codec == AIRY_CODEC_BSLZ4 || chunk_size <= size + 12 + 4 * (size / 4096 + 1));
            CHECK_OK(c, airy_decode(got, size, chunk, chunk_size, &params));
            check_values(c, "decoded", AIRY_DTYPE_U8, got, pixels, size, NULL);
        }
}

/* Blocks of zeros, and blocks that begin like them: all but one byte, wherever it is. */
static void check_zeros(struct check *c)
{
    if (!check_case(c, "round_trip_zeros"))
        return;
    for (size_t count = 1; count < 4200; count += 1 + count / 16) {
        const size_t size = count * 2;
        for (size_t at = 0; at <= size; at += 1 + size / 7) {
            uint8_t *pixels = check_alloc(c, size), *got = check_alloc(c, size);
            if (at < size)
                pixels[at] = 1;
            memset(got, 0x77, size);
            const airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 2};
            size_t chunk_size;
            const uint8_t *chunk = check_codec_encode(c, pixels, size, &p, &chunk_size);
            CHECK_OK(c, airy_decode(got, size, chunk, chunk_size, &p));
            if (!check_values(c, "decoded", AIRY_DTYPE_U8, got, pixels, size, NULL))
                return;
        }
    }
    /* The block of 8192 zeros, one byte of it changed: the reference says what that is. */
    uint8_t zeros[8192] = {0}, *got = check_alloc(c, sizeof(zeros)),
            *want = check_alloc(c, sizeof(zeros));
    const airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4};
    size_t n;
    uint8_t *chunk = check_codec_encode(c, zeros, sizeof(zeros), &p, &n);
    CHECK(c, n == 12 + 4 + 43);
    for (size_t at = 16; at < n; at++) {
        uint32_t bad;
        chunk[at] ^= 1;
        const bool good = ref_decode_chunk(want, sizeof(zeros), chunk, n, true, 4, &bad);
        CHECK(c, (airy_decode(got, sizeof(zeros), chunk, n, &p) == AIRY_OK) == good);
        if (good)
            check_values(c, "changed", AIRY_DTYPE_U8, got, want, sizeof(zeros), NULL);
        chunk[at] ^= 1;
    }
}

static void check_names(struct check *c)
{
    if (!check_case(c, "names"))
        return;
    for (int i = 0; i < AIRY_CODEC_COUNT; i++) {
        airy_codec codec = AIRY_CODEC_COUNT;
        CHECK_OK(c, airy_codec_parse(&codec, airy_codec_name((airy_codec)i)));
        CHECK(c, codec == (airy_codec)i);
    }
    airy_codec codec;
    CHECK(c, strcmp(airy_codec_name((airy_codec)99), "unknown") == 0);
    CHECK_FAILS(c, airy_codec_parse(&codec, "gzip"), AIRY_ERR_PARAM,
                "codec 'gzip' is unknown; there are none, bslz4");
    CHECK_FAILS(c, airy_codec_parse(&codec, NULL), AIRY_ERR_PARAM, "codec name = NULL");
    CHECK(c, strcmp(airy_frame_error(AIRY_FRAME_GOOD), "good") == 0);
    CHECK(c, strcmp(airy_frame_error(8 * 17 + 3),
                    "block 17: match offset is 0 or before the start of the block") == 0);
    CHECK(c, strstr(airy_frame_error(0), "not read"));
    for (uint32_t reason = 1; reason < 8; reason++)
        CHECK(c, strlen(airy_frame_error(8 * 0x1ffffffeu + reason)) > 20);
}

static void check_layouts(struct check *c)
{
    if (!check_case(c, "layouts"))
        return;
    airy_block_layout l;
    airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 2};
    /* 743 x 647 u16: 117 blocks of 8192 bytes, one of 2976, one element left over. */
    CHECK_OK(c, airy_block_layout_make(&l, 961442, &p));
    CHECK(c, l.block_bytes == 8192 && l.full_blocks == 117 && l.last_bytes == 2976 &&
                 l.tail_bytes == 2);
    CHECK(c, l.blocks == 119 && airy_block_start(l, 118) == 961440 &&
                 airy_block_decoded_bytes(l, 118) == 2);
    CHECK(c, airy_block_is_coded(l, 117) && !airy_block_is_coded(l, 118));
    /* at least 128 elements */
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 100};
    CHECK_OK(c, airy_block_layout_make(&l, 100 * 1000, &p));
    CHECK(c, l.block_bytes == 12800 && l.full_blocks == 7 && l.last_bytes == 10400 &&
                 l.tail_bytes == 0);
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 4};
    CHECK_OK(c, airy_block_layout_make(&l, 28, &p));
    CHECK(c,
          l.blocks == 1 && l.tail_bytes == 28 && l.full_blocks == 0 && airy_block_start(l, 0) == 0);
    CHECK_OK(c, airy_block_layout_make(&l, 100, &p)); /* a block larger than the frame is the
                                                         frame */
    CHECK(c, l.blocks == 2 && l.block_bytes == 96 && l.full_blocks == 1 && l.tail_bytes == 4);
    p = (airy_codec_params){.codec = AIRY_CODEC_LZ4};
    CHECK_OK(c, airy_block_layout_make(&l, 5000001, &p));
    CHECK(c, l.blocks == 1 && l.block_bytes == 5000001 && l.tail_bytes == 0);

    p = (airy_codec_params){.codec = (airy_codec)7};
    CHECK_FAILS(c, airy_block_layout_make(&l, 8, &p), AIRY_ERR_PARAM, "codec = 7");
    CHECK(c, airy_encode_bound(8, &p) == 0);
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 65537};
    CHECK_FAILS(c, airy_block_layout_make(&l, 8, &p), AIRY_ERR_PARAM,
                "element size = 65537 bytes, expected at most");
    p = (airy_codec_params){.codec = AIRY_CODEC_BSHUF, .elem_size = 4};
    CHECK_FAILS(c, airy_block_layout_make(&l, 10, &p), AIRY_ERR_PARAM,
                "size = 10 bytes, expected a multiple");
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .block_bytes = 100};
    CHECK_FAILS(c, airy_block_layout_make(&l, 8, &p), AIRY_ERR_PARAM,
                "block size = 100 bytes, expected a multiple of 32");
    p = (airy_codec_params){.codec = AIRY_CODEC_LZ4, .block_bytes = 0x80000000u};
    CHECK_FAILS(c, airy_block_layout_make(&l, (size_t)1 << 33, &p), AIRY_ERR_PARAM,
                "expected at most 2113929216");
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 1, .block_bytes = 8};
    CHECK_FAILS(c, airy_block_layout_make(&l, (size_t)1 << 33, &p), AIRY_ERR_PARAM,
                "expected fewer than");
}

static void check_host_errors(struct check *c)
{
    if (!check_case(c, "host_errors"))
        return;
    airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .block_bytes = 256};
    const size_t size = 1000 * 4 + 12;
    uint8_t *pixels = check_codec_pixels(c, size / 4, 4), *got = check_alloc(c, size);
    size_t n, capacity = airy_encode_bound(size, &p);
    uint8_t *dst = check_alloc(c, capacity);
    n = capacity - 1;
    CHECK_FAILS(c, airy_encode(dst, &n, pixels, size, &p), AIRY_ERR_PARAM, "capacity of dst");
    n = capacity;
    CHECK_FAILS(c, airy_encode(NULL, &n, pixels, size, &p), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_encode(dst, NULL, pixels, size, &p), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_encode(dst, &n, NULL, size, &p), AIRY_ERR_PARAM, "src = NULL");
    p.threads = 2000;
    CHECK_FAILS(c, airy_encode(dst, &n, pixels, size, &p), AIRY_ERR_PARAM,
                "threads = 2000, expected at most 1024");
    p.threads = 0;
    CHECK(c, n == capacity);

    uint8_t *chunk = check_codec_encode(c, pixels, size, &p, &n);
    CHECK_FAILS(c, airy_decode(NULL, size, chunk, n, &p), AIRY_ERR_PARAM, "dst = NULL");
    CHECK_FAILS(c, airy_decode(got, size, NULL, n, &p), AIRY_ERR_PARAM, "chunk = NULL");
    CHECK_FAILS(c, airy_decode(got, size - 4, chunk, n, &p), AIRY_ERR_CORRUPT,
                "4012 bytes decoded, expected 4008");
    CHECK_FAILS(c, airy_decode(got, size, chunk, n - 1, &p), AIRY_ERR_CORRUPT,
                "block 16 of 17: 11 bytes left");
    CHECK_FAILS(c, airy_decode(got, size, chunk, 11, &p), AIRY_ERR_CORRUPT,
                "chunk has 11 bytes, fewer than the 12");
    CHECK_FAILS(c, airy_decode(got, size, chunk, 14, &p), AIRY_ERR_CORRUPT,
                "block 0 of 17: the chunk ends inside its length");
    uint8_t *longer = check_alloc(c, n + 2);
    memcpy(longer, chunk, n);
    CHECK_FAILS(c, airy_decode(got, size, longer, n + 2, &p), AIRY_ERR_CORRUPT,
                "2 bytes left behind the last block 16");
    chunk[11] = 1;
    CHECK_FAILS(c, airy_decode(got, size, chunk, n, &p), AIRY_ERR_CORRUPT,
                "block size = 257 bytes");
    chunk[11] = 0;
    chunk[12] = 1;
    CHECK_FAILS(c, airy_decode(got, size, chunk, n, &p), AIRY_ERR_CORRUPT,
                "block 0 of 17: compressed size = ");
    chunk[12] = 0;
    chunk[16] = 0x0f; /* no literals: the match has nothing to point at */
    CHECK_FAILS(c, airy_decode(got, size, chunk, n, &p), AIRY_ERR_CORRUPT, "block 0: match offset");

    p.codec = AIRY_CODEC_BSHUF;
    CHECK_FAILS(c, airy_decode(got, size, chunk, size - 1, &p), AIRY_ERR_CORRUPT,
                "chunk has 4011 bytes, expected 4012");
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 3};
    CHECK_FAILS(c, airy_decode(got, size, chunk, n, &p), AIRY_ERR_PARAM,
                "size = 4012 bytes, expected a multiple");
    /* 2^40 bytes in blocks of 8 make more blocks than a status word can name: the chunk's fault. */
    static const uint8_t absurd[12] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 8};
    p = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 1};
    CHECK_FAILS(c, airy_decode(got, (size_t)1 << 40, absurd, sizeof(absurd), &p), AIRY_ERR_CORRUPT,
                "chunk header: a frame of");
    /* No parameters: plain bytes. */
    n = size;
    CHECK_OK(c, airy_encode(got, &n, pixels, size, NULL));
    CHECK(c, n == size && airy_encode_bound(size, NULL) == size && memcmp(got, pixels, size) == 0);
    CHECK_OK(c, airy_decode(got, size, pixels, size, NULL));
    static const uint8_t empty[13] = {[10] = 32};
    CHECK_OK(c, airy_decode(NULL, 0, empty, 12, &p));
    CHECK_FAILS(c, airy_decode(NULL, 0, empty, 13, &p), AIRY_ERR_CORRUPT,
                "1 bytes left behind the header");
}

/*
 * A chunk of 16 elements of 4 bytes in one block: its header, the length of the frame, the frame.
 * Frames are written by hand (RFC 8878): magic, 0x20 (one segment, its size in the next byte), the
 * size, then blocks of 3 bytes of head (last block: bit 0, kind: bits 1 and 2, size: the others).
 */
enum { ZSTD_BYTES = 64, ZSTD_CHUNK = 128 };
static size_t put_zstd(uint8_t *chunk, const uint8_t *frame, size_t size)
{
    static const uint8_t head[12] = {[7] = ZSTD_BYTES, [11] = ZSTD_BYTES};
    memset(chunk, 0, ZSTD_CHUNK);
    memcpy(chunk, head, 12);
    chunk[15] = (uint8_t)size;
    memcpy(chunk + 16, frame, size);
    return 16 + size;
}

#define ZSTD_MAGIC 0x28, 0xb5, 0x2f, 0xfd

static void check_zstd(struct check *c)
{
    if (!check_case(c, "zstd_frames"))
        return;
    const airy_codec_params p = {.codec = AIRY_CODEC_BSZSTD, .elem_size = 4};
    uint8_t chunk[ZSTD_CHUNK], got[ZSTD_BYTES], want[ZSTD_BYTES], raw[9 + ZSTD_BYTES];
    static const uint8_t raw_head[9] = {
        ZSTD_MAGIC, 0x20, ZSTD_BYTES, (ZSTD_BYTES << 3 & 0xff) | 1, ZSTD_BYTES >> 5, 0};
    memcpy(raw, raw_head, 9);
    for (size_t i = 0; i < ZSTD_BYTES; i++)
        raw[9 + i] = (uint8_t)(37 * i + 11);
    size_t n = put_zstd(chunk, raw, sizeof(raw));
    if (!AIRY_HAVE_ZSTD) {
        CHECK_FAILS(c, airy_decode(got, ZSTD_BYTES, chunk, n, &p), AIRY_ERR_UNSUPPORTED,
                    "lacks libzstd");
        return;
    }
    ref_bitunshuffle(want, raw + 9, ZSTD_BYTES / 4, 4);
    CHECK_OK(c, airy_decode(got, ZSTD_BYTES, chunk, n, &p));
    CHECK(c, memcmp(got, want, ZSTD_BYTES) == 0);
    /* one byte 64 times: all bits of all rows */
    static const uint8_t run[] = {ZSTD_MAGIC, 0x20, ZSTD_BYTES, 0x03, 0x02, 0x00, 0xff};
    n = put_zstd(chunk, run, sizeof(run));
    CHECK_OK(c, airy_decode(got, ZSTD_BYTES, chunk, n, &p));
    memset(want, 0xff, ZSTD_BYTES);
    CHECK(c, memcmp(got, want, ZSTD_BYTES) == 0);

    static const struct {
        const char *words;
        size_t size;
        uint8_t frame[16];
    } bad[] = {
        {"block 0: no Zstandard frame", 10, {0x29, 0xb5, 0x2f, 0xfd, 0x20, 64, 0x03, 0x02, 0, 1}},
        {"block 0: a Zstandard frame of 200 bytes, expected at most 64",
         10,
         {ZSTD_MAGIC, 0x20, 200, 0x43, 0x06, 0, 1}},
        {"block 0: 32 bytes of Zstandard, expected 64",
         10,
         {ZSTD_MAGIC, 0x20, 32, 0x03, 0x01, 0, 1}},
        {"block 0: Zstandard: ", 10, {ZSTD_MAGIC, 0x20, 64, 0x03, 0x01, 0, 1}},
        {"block 0: Zstandard: ", 9, {ZSTD_MAGIC, 0x20, 64, 0x03, 0x02, 0}},
        /* its size is not said (0x00, a window of 1 KiB): 96 bytes do not fit */
        {"block 0: Zstandard: ", 10, {ZSTD_MAGIC, 0x00, 0, 0x03, 0x03, 0, 1}},
        /* 128 MiB in 10 bytes */
        {"block 0: a Zstandard frame of 134217728 bytes",
         13,
         {ZSTD_MAGIC, 0xa0, 0, 0, 0, 8, 0x03, 0x02, 0, 1}},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        n = put_zstd(chunk, bad[i].frame, bad[i].size);
        CHECK_FAILS(c, airy_decode(got, ZSTD_BYTES, chunk, n, &p), AIRY_ERR_CORRUPT, bad[i].words);
    }
    n = ZSTD_CHUNK;
    CHECK_FAILS(c, airy_encode(chunk, &n, want, ZSTD_BYTES, &p), AIRY_ERR_UNSUPPORTED,
                "codec = bszstd, which is decoded only");
}

static void check_walk(struct check *c)
{
    if (!check_case(c, "chunk_walk"))
        return;
    airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 2, .block_bytes = 128};
    const size_t size = 1003 * 2;
    size_t n;
    const uint8_t *chunk = check_codec_encode(c, check_codec_pixels(c, 1003, 2), size, &p, &n);
    airy_block_layout l;
    CHECK_OK(c, airy_block_layout_make(&l, size, &p));
    airy_block *table = check_alloc(c, l.blocks * sizeof(*table));
    CHECK_OK(c, airy_chunk_walk(table, &l, chunk, n, 1000));
    size_t at = 1000 + 12;
    for (uint32_t b = 0; b + 1 < l.blocks; b++) {
        CHECK(c, table[b].offset == at + 4 && table[b].size < 200);
        at += 4 + table[b].size;
    }
    CHECK(c,
          table[l.blocks - 1].offset == at && table[l.blocks - 1].size == (6 | AIRY_BLOCK_STORED));
    CHECK_FAILS(c, airy_chunk_walk(table, &l, chunk, n, UINT32_MAX - 10), AIRY_ERR_PARAM,
                "does not end below 4 GiB");
    p.block_bytes = 256;
    CHECK_OK(c, airy_block_layout_make(&l, size, &p));
    CHECK_FAILS(c, airy_chunk_walk(table, &l, chunk, n, 0), AIRY_ERR_UNSUPPORTED,
                "blocks of 128 bytes, the batch into 256");
    CHECK_FAILS(c, airy_chunk_walk(table, &l, chunk, n - 7, 0), AIRY_ERR_CORRUPT, "block");
}

/*
 * Poisson counts around 100/(1 + q^2), q = 0 to 14 in the corners: what the budgets of the decoder
 * are set for.
 */
static uint32_t *make_frame(struct check *c, size_t height, size_t width)
{
    uint32_t *pixels = check_alloc(c, height * width * 4);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const double dy = ((double)y + 0.5) / (double)height - 0.5,
                         dx = ((double)x + 0.5) / (double)width - 0.5;
            const double q = 14 * sqrt(2 * (dx * dx + dy * dy));
            pixels[y * width + x] = (uint32_t)airy_random_poisson(100 / (1 + q * q), c->seed, y, x);
        }
    return pixels;
}

struct frame {
    airy_block_layout layout;
    airy_block *table;
    uint8_t *chunk, *pixels;
    size_t size, chunk_size;
    uint8_t block[3][8192 + 192];
};

static void lz4_all(struct frame *f)
{
    for (uint32_t b = 0; b < f->layout.full_blocks; b++)
        airy_block_fns()->lz4(f->block[0], 8192, f->chunk + f->table[b].offset, f->table[b].size);
}

static void liblz4_all(struct frame *f)
{
    for (uint32_t b = 0; b < f->layout.full_blocks; b++)
        LZ4_decompress_safe((const char *)f->chunk + f->table[b].offset, (char *)f->block[0],
                            (int)f->table[b].size, 8192);
}

static void unshuffle_all(struct frame *f)
{
    for (uint32_t b = 0; b < f->layout.full_blocks; b++)
        airy_block_fns()->unshuffle(f->block[1], f->block[0], 8192 / f->layout.elem_size,
                                    f->layout.elem_size);
}

static void shuffle_all(struct frame *f)
{
    for (uint32_t b = 0; b < f->layout.full_blocks; b++)
        airy_block_fns()->shuffle(f->block[1], f->block[0], 8192 / f->layout.elem_size,
                                  f->layout.elem_size);
}

/* One Eiger 4M frame, one thread; without --bench an eighth of it. Rates count decoded bytes. */
static void check_speed(struct check *c)
{
    struct frame f = {0};
    if (!check_case(c, "decode_u32_eiger4m"))
        return;
    const size_t height = c->bench ? 2167 : 271, width = 2070;
    f.size = height * width * 4;
    f.pixels = (uint8_t *)make_frame(c, height, width);
    const airy_codec_params p = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4};
    f.chunk = check_codec_encode(c, f.pixels, f.size, &p, &f.chunk_size);
    CHECK_OK(c, airy_block_layout_make(&f.layout, f.size, &p));
    f.table = check_alloc(c, f.layout.blocks * sizeof(*f.table));
    CHECK_OK(c, airy_chunk_walk(f.table, &f.layout, f.chunk, f.chunk_size, 0));
    uint8_t *got = check_alloc(c, f.size);
    CHECK_OK(c, airy_decode(got, f.size, f.chunk, f.chunk_size, &p));
    check_values(c, "frame", AIRY_DTYPE_U32, got, f.pixels, f.size / 4, NULL);
    CHECK_BENCH(c, (double)f.size, 0, airy_decode(got, f.size, f.chunk, f.chunk_size, &p));
    if (!c->bench)
        return;
    const double coded = 8192.0 * f.layout.full_blocks;
    struct {
        const char *name;
        void (*run)(struct frame *f);
    } parts[] = {{"lz4", lz4_all},
                 {"lz4_by_liblz4", liblz4_all},
                 {"unshuffle", unshuffle_all},
                 {"shuffle", shuffle_all}};
    struct frame kept = f; /* the case ends and frees: each part has its own copy */
    uint8_t *chunk = malloc(f.chunk_size), *pixels = malloc(f.size);
    airy_block *table = malloc(f.layout.blocks * sizeof(*table));
    memcpy(chunk, f.chunk, f.chunk_size);
    memcpy(pixels, f.pixels, f.size);
    memcpy(table, f.table, f.layout.blocks * sizeof(*table));
    kept.chunk = chunk;
    kept.pixels = pixels;
    kept.table = table;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (check_case(c, "%s_u32_eiger4m_%s", parts[i].name, airy_block_fns()->name))
            CHECK_BENCH(c, coded, 0, parts[i].run(&kept));
    for (uint32_t threads = 1; threads <= 4; threads *= 4)
        if (check_case(c, "encode_u32_eiger4m_t%u", threads)) {
            const airy_codec_params e = {
                .codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .threads = threads};
            const size_t bound = airy_encode_bound(f.size, &e);
            uint8_t *dst = check_alloc(c, bound);
            size_t n = bound;
            CHECK_BENCH(c, (double)kept.size, 0,
                        (n = bound, airy_encode(dst, &n, kept.pixels, kept.size, &e)));
        }
    free(chunk);
    free(pixels);
    free(table);
}

void check_codec(struct check *c)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 10, 16};
    if (c->is_cpu) { /* the host's part does not depend on the device */
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            check_transpose_one(c, sizes[i]);
        check_lz4_random(c);
        check_lz4_matches(c);
        check_lz4_ends(c);
        check_lz4_reasons(c);
        for (int codec = 0; codec <= AIRY_CODEC_BSHUF; codec++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                check_round_trip_one(c, (airy_codec)codec, sizes[i]);
        check_incompressible(c);
        check_zeros(c);
        check_names(c);
        check_layouts(c);
        check_walk(c);
        check_host_errors(c);
        check_zstd(c);
        check_speed(c);
    }
    check_codec_corpus(c);
    check_codec_batch(c);
}
