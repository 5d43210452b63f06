/* Datasets of so many frames that their places are read as they are asked for. */
#include "check_stack.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "io/stack/source.h"

/* More than are looked at when a dataset is opened: of those 32 in each 160. */
enum { FRAMES = 5200, PERIOD = 160, SEEN = 32, SIDE = 4, PIXELS = SIDE * SIDE, THREADS = 4 };

static const char *folder_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = check_alloc(c, size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Frame i has the value i + base; one that is `missing` is never written. */
static const char *make_long(struct check *c, const char *name, bool latest, uint16_t base,
                             size_t missing)
{
    const char *path = folder_path(c, name);
    const hsize_t shape[3] = {FRAMES, SIDE, SIDE}, most[3] = {H5S_UNLIMITED, SIDE, SIDE},
                  box[3] = {1, SIDE, SIDE};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (latest)
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_chunk(creation, 3, box);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(3, shape, most);
    const hid_t dataset =
        H5Dcreate2(file, "data", H5T_NATIVE_UINT16, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool written = dataset >= 0;
    for (size_t i = 0; written && i < FRAMES; i++) {
        uint16_t pixels[PIXELS];
        for (size_t k = 0; k < PIXELS; k++)
            pixels[k] = (uint16_t)(base + i);
        written = i == missing || H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[3]){i, 0, 0},
                                                 sizeof(pixels), pixels) >= 0;
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(creation);
    H5Pclose(access);
    return CHECK(c, written) ? path : NULL;
}

/* All frames from one of them on, in steps that go round all. */
struct reader {
    const airy_stack *stack;
    size_t from, wrong;
};

static void *read_all(void *arg)
{
    struct reader *reader = arg;
    for (size_t k = 0; k < FRAMES; k++) {
        const size_t frame = (reader->from + k * 1237) % FRAMES; /* 1237 is prime */
        uint16_t pixels[PIXELS] = {0};
        struct airy_frame_source source;
        airy_stack_source(reader->stack, frame, &source);
        if (source.kind != AIRY_SOURCE_STORED || source.size != sizeof(pixels) ||
            airy_stack_read(reader->stack, frame, pixels, sizeof(pixels)) != AIRY_OK ||
            pixels[0] != frame || pixels[PIXELS - 1] != frame)
            reader->wrong++;
    }
    return NULL;
}

static void check_all_frames(struct check *c)
{
    static const char *const names[] = {"btree", "extensible"};
    for (size_t latest = 0; latest < 2; latest++) {
        if (!check_case(c, "stack_table_%s", names[latest]))
            continue;
        const char *path = make_long(c, "long.h5", latest, 0, FRAMES);
        airy_stack *stack = NULL;
        airy_stack_info info;
        if (!path || !CHECK_OK(c, stack_open(&stack, path)) ||
            !CHECK_OK(c, airy_stack_get_info(stack, &info)))
            return;
        const size_t bytes = PIXELS * sizeof(uint16_t);
        CHECK(c, info.frames == FRAMES && info.path == AIRY_STACK_DIRECT &&
                     info.max_chunk == bytes && info.stored_bytes == FRAMES * bytes);
        struct reader readers[THREADS];
        pthread_t threads[THREADS];
        size_t started = 0;
        for (; started < THREADS; started++) {
            readers[started] =
                (struct reader){.stack = stack, .from = started * (FRAMES / THREADS)};
            if (!CHECK(c,
                       pthread_create(&threads[started], NULL, read_all, &readers[started]) == 0))
                break;
        }
        for (size_t t = 0; t < started; t++) {
            pthread_join(threads[t], NULL);
            CHECK(c, readers[t].wrong == 0);
        }
        airy_stack_destroy(&stack);
    }
}

/* A frame that no sample shows was never written, which its read says, as in a short stack. */
static void check_missing(struct check *c)
{
    if (!check_case(c, "stack_table_missing"))
        return;
    const size_t missing = 3 * PERIOD + SEEN + 20;
    const char *path = make_long(c, "missing.h5", false, 1, missing);
    airy_stack *stack = NULL;
    if (!path || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    for (size_t i = missing - 2; i < missing + 3; i++) {
        uint16_t pixels[PIXELS];
        if (i == missing)
            CHECK_FAILS(c, airy_stack_read(stack, i, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN,
                        "never written");
        else if (CHECK_OK(c, airy_stack_read(stack, i, pixels, sizeof(pixels))))
            CHECK(c, pixels[0] == i + 1);
    }
    airy_stack_destroy(&stack);
}

/* A file that is moved, and another one of its name: places are still of the one that was opened. */
static void check_moved(struct check *c)
{
    if (!check_case(c, "stack_table_moved"))
        return;
    const char *path = make_long(c, "moved.h5", false, 0, FRAMES),
               *other = make_long(c, "other.h5", false, 7, FRAMES);
    airy_stack *stack = NULL;
    uint16_t pixels[PIXELS];
    if (!path || !other || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK(c, rename(other, path) == 0);
    CHECK_OK(c, airy_stack_read(stack, SEEN + 3, pixels, sizeof(pixels)));
    CHECK(c, pixels[0] == SEEN + 3);
    airy_stack_destroy(&stack);
}

/* The same where more datasets are open than libhdf5 keeps: never frames of the other file. */
static void check_replaced(struct check *c)
{
    enum { OTHERS = 8 };
    if (!check_case(c, "stack_table_replaced"))
        return;
    const char *path = make_long(c, "first.h5", false, 0, FRAMES),
               *other = make_long(c, "second.h5", false, 7, FRAMES),
               *many = make_long(c, "many.h5", false, 0, FRAMES), *paths[OTHERS + 1];
    airy_stack *stack = NULL;
    uint16_t pixels[PIXELS];
    for (size_t i = 0; i < OTHERS; i++)
        paths[i] = many;
    paths[OTHERS] = path;
    if (!path || !other || !many || !CHECK_OK(c, airy_stack_create(&stack, paths, OTHERS + 1)))
        return;
    const size_t first = (size_t)OTHERS * FRAMES;
    CHECK(c, rename(other, path) == 0);
    CHECK_OK(c, airy_stack_read(stack, first + 1, pixels, sizeof(pixels)));
    CHECK(c, pixels[0] == 1);
    CHECK_FAILS(c, airy_stack_read(stack, first + SEEN + 3, pixels, sizeof(pixels)), AIRY_ERR_IO,
                "replaced by another file");
    airy_stack_destroy(&stack);
}

/* Write frames that share a chunk of deflate, so that libhdf5 unpacks them. */
static const char *make_packed(struct check *c, const char *name, uint16_t value)
{
    const char *path = folder_path(c, name);
    const hsize_t shape[3] = {2, SIDE, SIDE};
    uint16_t pixels[2 * PIXELS];
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE),
                file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Screate_simple(3, shape, NULL);
    for (size_t i = 0; i < 2 * PIXELS; i++)
        pixels[i] = value;
    H5Pset_chunk(creation, 3, shape);
    H5Pset_deflate(creation, 1);
    const hid_t dataset =
        H5Dcreate2(file, "data", H5T_NATIVE_UINT16, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const bool written =
        H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels) >= 0;
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(creation);
    return CHECK(c, written) ? path : NULL;
}

/* Frames that libhdf5 reads are refused as well where another file has the name by now. */
static void check_replaced_packed(struct check *c)
{
    if (!check_case(c, "stack_library_replaced"))
        return;
    const char *path = make_packed(c, "packed.h5", 1), *other = make_packed(c, "packed2.h5", 2);
    airy_stack *stack = NULL;
    uint16_t pixels[PIXELS];
    if (!path || !other || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK(c, rename(other, path) == 0);
    CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_IO,
                "replaced by another file");
    airy_stack_destroy(&stack);
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)));
    CHECK(c, pixels[0] == 2);
    airy_stack_destroy(&stack);
}

/*
 * A leaf of the index of which no frame is among those looked at, or NULL; *first: its first frame.
 * HDF5 file format, III.A.1: "TREE", type 1, level 0, entries (2 bytes), two siblings (8 each), then
 * the first key: size, filter mask (4 each), offsets (8 each).
 */
static uint8_t *find_leaf(uint8_t *bytes, size_t size, size_t *first, size_t *entries)
{
    for (size_t at = 0; at + 40 <= size; at++) {
        uint8_t *node = bytes + at;
        if (memcmp(node, "TREE\1\0", 6) != 0)
            continue;
        uint64_t frame;
        memcpy(&frame, node + 32, sizeof(frame));
        *first = (size_t)frame;
        *entries = (size_t)node[6] | (size_t)node[7] << 8;
        if (frame < FRAMES && frame % PERIOD >= SEEN && frame % PERIOD + *entries <= PERIOD)
            return node;
    }
    return NULL;
}

/* Damage that the samples do not show is that of its frames. */
static void check_damaged(struct check *c)
{
    if (!check_case(c, "stack_table_damaged"))
        return;
    const char *path = make_long(c, "damaged.h5", false, 0, FRAMES);
    size_t size, first = 0, entries = 0;
    uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    uint8_t *leaf = bytes ? find_leaf(bytes, size, &first, &entries) : NULL;
    airy_stack *stack = NULL;
    uint16_t pixels[PIXELS];
    if (!CHECK(c, leaf != NULL))
        return;
    leaf[0] = 'X';
    path = stack_spill(c, "damaged2.h5", bytes, size);
    if (!path || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    size_t failed = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        const airy_status status = airy_stack_read(stack, i, pixels, sizeof(pixels));
        const bool inside = i >= first && i < first + entries;
        CHECK(c, inside ? status == AIRY_ERR_CORRUPT : status == AIRY_OK && pixels[0] == i);
        failed += status != AIRY_OK;
    }
    CHECK(c, failed == entries);
    airy_stack_destroy(&stack);
}

void check_stack_table(struct check *c)
{
    check_all_frames(c);
    check_missing(c);
    check_moved(c);
    check_replaced(c);
    check_replaced_packed(c);
    check_damaged(c);
}
