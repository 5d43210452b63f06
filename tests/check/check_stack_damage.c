/* Damaged copies of the reference files, and real data where it is there. */
#include "check_stack.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/stack/internal.h"

enum { FRAMES = 6, FRAME_BYTES = 37 * 44 * 4 };

static const uint32_t good_crc[FRAMES] = {678781668u,  860699482u,  1897255417u,
                                          3633318367u, 2572395466u, 1694678316u};

/*
 * Files cut at many places: each frame is right or an error, and what lies before the cut is right.
 */
static void check_cut(struct check *c, const char *name)
{
    if (!check_case(c, "damage_cut_%s", name))
        return;
    char golden[128];
    snprintf(golden, sizeof(golden), "diffraction/hdf5/%s.h5", name);
    const char *path = check_golden(c, golden);
    size_t size = 0;
    const uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    uint8_t *pixels = check_alloc(c, FRAME_BYTES);
    if (!bytes)
        return;
    const char *copy = stack_spill(c, "cut.h5", bytes, size);
    size_t opened = 0, right = 0, refused = 0;
    for (size_t cut = size; cut > 0 && copy; cut = cut > 61 ? cut - 61 : 0) {
        airy_stack *stack = NULL;
        if (!CHECK(c, truncate(copy, (off_t)cut) == 0))
            return;
        if (stack_open(&stack, copy) != AIRY_OK) {
            refused++;
            continue;
        }
        opened++;
        for (size_t i = 0; i < FRAMES; i++) {
            const airy_status status = airy_stack_read(stack, i, pixels, FRAME_BYTES);
            if (status != AIRY_OK)
                CHECK(c, status == AIRY_ERR_IO || status == AIRY_ERR_CORRUPT);
            else if (stack_crc32(pixels, FRAME_BYTES) != good_crc[i])
                check_failed(c, __FILE__, __LINE__, "cut at %zu: frame %zu is wrong", cut, i);
            else
                right++;
        }
        airy_stack_destroy(&stack);
    }
    printf("# %s: %zu copies opened with %zu frames, %zu refused\n", name, opened, right, refused);
    CHECK(c, refused > 0);
}

/* What is counted of a cut file are the frames that it still has; the others are lost. */
static void check_stored_bytes(struct check *c, const char *name)
{
    if (!check_case(c, "damage_stored_%s", name))
        return;
    char golden[128];
    snprintf(golden, sizeof(golden), "diffraction/hdf5/%s.h5", name);
    const char *path = check_golden(c, golden);
    size_t size = 0;
    const uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!bytes || !CHECK_OK(c, stack_open(&stack, path)) ||
        !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    const uint64_t all = info.stored_bytes, frame = info.max_chunk;
    airy_stack_destroy(&stack);
    CHECK(c, all > 0 && all < size && info.lost == 0);
    uint64_t before = all;
    for (size_t cut = size; cut > size / 4; cut -= size / 40) {
        if (stack_open(&stack, stack_spill(c, "x.h5", bytes, cut)) != AIRY_OK)
            continue;
        CHECK_OK(c, airy_stack_get_info(stack, &info));
        CHECK(c, info.stored_bytes <= before && info.stored_bytes < cut &&
                     info.stored_bytes + (size - cut) + frame >= all);
        CHECK(c, (info.lost == 0) == (info.stored_bytes == all) && info.lost <= info.frames &&
                     info.stored_bytes + info.lost * frame >= all);
        before = info.stored_bytes;
        airy_stack_destroy(&stack);
    }
}

/* One chunk's bytes changed in the file; the other frames stay right. */
static void check_flipped(struct check *c)
{
    if (!check_case(c, "damage_flipped"))
        return;
    const char *path = check_golden(c, "diffraction/hdf5/frame_chunk.h5");
    size_t size = 0;
    uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    uint8_t *pixels = check_alloc(c, FRAME_BYTES);
    airy_stack *stack = NULL;
    if (!bytes || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    const struct airy_place place = stack->segments[0].places[3];
    airy_stack_destroy(&stack);
    size_t corrupt = 0;
    for (size_t at = 0; at < place.size; at += 3) {
        bytes[place.offset + at] ^= (uint8_t)(1u << at % 8);
        const char *copy = stack_spill(c, "flip.h5", bytes, size);
        bytes[place.offset + at] ^= (uint8_t)(1u << at % 8);
        if (!copy || !CHECK_OK(c, stack_open(&stack, copy)))
            return;
        const airy_status status =
            airy_stack_read(stack, 3, pixels, FRAME_BYTES); /* LZ4 has no checksum: it may decode */
        CHECK(c, status == AIRY_OK || status == AIRY_ERR_CORRUPT);
        if (status == AIRY_ERR_CORRUPT) {
            corrupt++;
            CHECK(c, strstr(airy_last_error(), "flip.h5::/data frame 3: ") != NULL);
        }
        CHECK_OK(c, airy_stack_read(stack, 4, pixels, FRAME_BYTES));
        CHECK(c, stack_crc32(pixels, FRAME_BYTES) == good_crc[4]);
        airy_stack_destroy(&stack);
    }
    CHECK(c, corrupt > 20);
    /* Headers that promise too much. */
    memset(bytes + place.offset, 0xff, 12);
    CHECK_OK(c, stack_open(&stack, stack_spill(c, "header.h5", bytes, size)));
    CHECK_FAILS(c, airy_stack_read(stack, 3, pixels, FRAME_BYTES), AIRY_ERR_CORRUPT,
                "chunk header");
    airy_stack_destroy(&stack);
}

/* The same through libhdf5: a filter that fails says why. */
static void check_library_error(struct check *c)
{
    if (!check_case(c, "damage_library"))
        return;
    const char *path = check_golden(c, "diffraction/hdf5/multi_frame_chunk.h5");
    size_t size = 0, at = 0;
    uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    uint8_t *pixels = check_alloc(c, FRAME_BYTES);
    if (!bytes)
        return;
    /* The first chunk's header: 3 * 6512 bytes decoded, blocks of 8192. */
    static const uint8_t header[12] = {0, 0, 0, 0, 0, 0, 0x4c, 0x50, 0, 0, 0x20, 0};
    while (at + 12 < size && memcmp(bytes + at, header, 12) != 0)
        at++;
    if (!CHECK(c, at + 12 < size))
        return;
    bytes[at + 12] = 0x7f; /* the first block's length */
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, stack_open(&stack, stack_spill(c, "x.h5", bytes, size))))
        return;
    CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, FRAME_BYTES), AIRY_ERR_CORRUPT,
                "block 0 of 4");
    CHECK_OK(c, airy_stack_read(stack, 3, pixels, FRAME_BYTES));
    CHECK(c, stack_crc32(pixels, FRAME_BYTES) == good_crc[3]);
    airy_stack_destroy(&stack);
    /* A chunk that says it is smaller than it must be: libhdf5 would copy from behind it. */
    bytes[at + 7] = 0x48;
    if (!CHECK_OK(c, stack_open(&stack, stack_spill(c, "y.h5", bytes, size))))
        return;
    CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, FRAME_BYTES), AIRY_ERR_CORRUPT,
                "19528 bytes decoded, expected 19536");
    airy_stack_destroy(&stack);
}

static void check_real_file(struct check *c, const json_t *entry)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    const json_t *crc = json_object_get(entry, "crc32_pixels");
    if (!check_case(c, "realdata_%s", file) || json_is_string(crc))
        return;
    char name[256];
    snprintf(name, sizeof(name), "diffraction/%s", file);
    const char *path = check_realdata(c, name);
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!path || !CHECK_OK(c, stack_open(&stack, path)) ||
        !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *pixels = check_alloc(c, size);
    CHECK(c, info.frames == (json_is_array(crc) ? json_array_size(crc) : 1));
    for (size_t i = 0; i < info.frames; i++) {
        const json_t *want = json_is_array(crc) ? json_array_get(crc, i) : crc;
        CHECK_OK(c, airy_stack_read(stack, i, pixels, size));
        CHECK(c, stack_crc32(pixels, size) == (uint32_t)json_integer_value(want));
    }
    airy_stack_destroy(&stack);
}

static void check_realdata_files(struct check *c)
{
    if (!check_case(c, "realdata"))
        return;
    const char *path = check_realdata(c, "diffraction/manifest.json");
    json_t *all = path ? json_load_file(path, 0, NULL) : NULL;
    for (size_t i = 0; all && i < json_array_size(all); i++)
        check_real_file(c, json_array_get(all, i));
    json_decref(all);
}

/* The first place of a text in bytes; 0: it is not there. */
static size_t find_text(const uint8_t *bytes, size_t size, const char *text)
{
    const uint8_t *at = memmem(bytes, size, text, strlen(text));
    return at ? (size_t)(at - bytes) : 0;
}

/* An image of 9 x 10 pixels that airy_image_write has written; its bytes. */
static uint8_t *write_sums(struct check *c, const char *name, size_t *size)
{
    int32_t pixels[90];
    char path[1024];
    for (int i = 0; i < 90; i++)
        pixels[i] = 7 * i;
    const airy_image image = {.dtype = AIRY_DTYPE_I32, .ndim = 2, .shape = {9, 10}, .data = pixels};
    snprintf(path, sizeof(path), "%s/%s", check_tmp(c), name);
    return CHECK_OK(c, airy_image_write(&image, path, true)) ? stack_slurp(c, path, size) : NULL;
}

/* The file reads, or fails so, as an image and as a stack; without verification it always reads. */
static void expect_sums(struct check *c, const char *path, const char *words)
{
    int32_t pixels[90];
    airy_image image = {0};
    airy_stack *stack = NULL;
    airy_status status = airy_image_read(&image, path);
    if (words)
        CHECK_FAILS(c, status, AIRY_ERR_CORRUPT, words);
    else
        CHECK_OK(c, status);
    airy_image_free(&image);
    status = stack_open(&stack, path); /* FITS fails here, CBF with its frame */
    if (status == AIRY_OK)
        status = airy_stack_read(stack, 0, pixels, sizeof(pixels));
    if (words)
        CHECK_FAILS(c, status, AIRY_ERR_CORRUPT, words);
    else
        CHECK_OK(c, status);
    airy_stack_destroy(&stack);
    const airy_stack_params params = {.unverified = true};
    if (CHECK_OK(c, airy_stack_create_with(&stack, &path, 1, &params)))
        CHECK_OK(c, airy_stack_read(stack, 0, pixels, sizeof(pixels)));
    airy_stack_destroy(&stack);
}

static void check_sums_cbf(struct check *c)
{
    if (!check_case(c, "damage_sums_cbf"))
        return;
    size_t size = 0;
    uint8_t *bytes = write_sums(c, "a.cbf", &size);
    const size_t at = bytes ? find_text(bytes, size, "\x0c\x1a\x04\xd5") : 0,
                 sum = bytes ? find_text(bytes, size, "Content-MD5: ") : 0;
    if (!CHECK(c, at && sum))
        return;
    expect_sums(c, stack_spill(c, "good.cbf", bytes, size), NULL);
    memcpy(bytes + sum, "cOnTeNt-mD5:", 12); /* in any case of letters */
    expect_sums(c, stack_spill(c, "case.cbf", bytes, size), NULL);
    bytes[at + 4 + 20] ^= 1;
    expect_sums(c, stack_spill(c, "flip.cbf", bytes, size), "Content-MD5");
    memcpy(bytes + sum, "x", 1); /* without a sum nobody knows */
    expect_sums(c, stack_spill(c, "none.cbf", bytes, size), NULL);
}

static void check_sums_fits(struct check *c)
{
    if (!AIRY_HAVE_FITS || !check_case(c, "damage_sums_fits"))
        return;
    size_t size = 0;
    uint8_t *bytes = write_sums(c, "a.fits", &size);
    const size_t sum = bytes ? find_text(bytes, size, "DATASUM =") : 0,
                 all = bytes ? find_text(bytes, size, "CHECKSUM=") : 0;
    if (!CHECK(c, sum && all && size == 2 * 2880))
        return;
    /* 7 * (0 + 1 + ... + 89) as the sum of the words */
    CHECK(c, memcmp(bytes + sum, "DATASUM = '28035     '", 22) == 0);
    expect_sums(c, stack_spill(c, "good.fits", bytes, size), NULL);
    bytes[2880 + 101] ^= 16;
    expect_sums(c, stack_spill(c, "flip.fits", bytes, size), "DATASUM is 28035");
    memcpy(bytes + sum, "DATASUX", 7); /* the whole HDU is what is left to look at */
    expect_sums(c, stack_spill(c, "all.fits", bytes, size), "CHECKSUM");
    memcpy(bytes + all, "CHECKSUX", 8);
    expect_sums(c, stack_spill(c, "none.fits", bytes, size), NULL);
}

/* A master whose data file is absent. */
static void check_real_master(struct check *c)
{
    if (!check_case(c, "realdata_master"))
        return;
    const char *path = check_realdata(c, "diffraction/dectris_eiger_master.h5");
    if (!path)
        return;
    airy_stack *stack = NULL;
    CHECK_FAILS(c, stack_open(&stack, path), AIRY_ERR_NOT_FOUND, "dectris_eiger_data_000001.h5");
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    bool broken = false;
    CHECK_OK(c, airy_hdf5_list(&entries, &count, path));
    for (size_t i = 0; i < count; i++)
        broken = broken || (strcmp(entries[i].path, "/entry/data/data_000001") == 0 &&
                            entries[i].ndim == -1 &&
                            strstr(entries[i].filters, "dectris_eiger_data_000001.h5"));
    CHECK(c, count > 50 && broken);
    airy_hdf5_list_free(entries);
}

void check_stack_damage(struct check *c)
{
    check_cut(c, "frame_chunk");
    check_cut(c, "frame_chunk_latest");
    check_cut(c, "multi_frame_chunk");
    check_cut(c, "contiguous");
    check_stored_bytes(c, "frame_chunk_latest");
    check_stored_bytes(c, "contiguous");
    check_flipped(c);
    check_library_error(c);
    check_realdata_files(c);
    check_real_master(c);
    check_sums_cbf(c);
    check_sums_fits(c);
}
