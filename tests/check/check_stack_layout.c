/* Stacks in layouts that the reference files do not have, made here with libhdf5. */
#include "airy/file.h"
#include "check_stack.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/chunks.h"
#include "io/hdf5/chunk_address.h"
#include "io/stack/internal.h"

enum { HEIGHT = 5, WIDTH = 7, PIXELS = HEIGHT * WIDTH };

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* Pixel p of frame i of file or dataset number k. */
static uint16_t pixel(size_t k, size_t i, size_t p)
{
    return (uint16_t)(1000 * k + 100 * i + p);
}

static hid_t put_dataset(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *shape,
                         hid_t creation)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(ndim, shape, NULL);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
    H5Pclose(links);
    H5Sclose(space);
    return dataset;
}

/* u16 frames of pixel(k, i, p), chunk = frame, or contiguous with creation = H5P_DEFAULT. */
static void put_frames(hid_t file, const char *name, size_t frames, size_t k, hid_t creation)
{
    const hsize_t shape[3] = {frames, HEIGHT, WIDTH};
    const hid_t dataset = put_dataset(file, name, H5T_STD_U16LE, 3, shape, creation);
    uint16_t *values = malloc(frames * PIXELS * sizeof(*values));
    for (size_t i = 0; i < frames; i++)
        for (size_t p = 0; p < PIXELS; p++)
            values[i * PIXELS + p] = pixel(k, i, p);
    H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    free(values);
    H5Dclose(dataset);
}

/*
 * One chunk a frame, with filter 32008 or 32004 (ours, registered by the first stack), or none (0).
 */
static hid_t chunk_of_frame(unsigned filter)
{
    const hsize_t chunk[3] = {1, HEIGHT, WIDTH};
    const unsigned values[2] = {0, 2}; /* bitshuffle: default block, LZ4; lz4: default block */
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, chunk);
    if (filter)
        H5Pset_filter(creation, (H5Z_filter_t)filter, H5Z_FLAG_MANDATORY, filter == 32008 ? 2 : 1,
                      values);
    return creation;
}

static const char *make_file(struct check *c, const char *name, size_t frames, size_t k,
                             unsigned filter)
{
    const char *path = tmp_path(c, name);
    if (airy_hdf5_lock() == AIRY_OK) /* registers the filters */
        airy_hdf5_unlock();
    const hid_t creation = chunk_of_frame(filter);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_frames(file, "/entry/data/data", frames, k, creation);
    H5Pclose(creation);
    H5Fclose(file);
    return path;
}

static bool same_frame(const airy_stack *stack, size_t frame, size_t k, size_t i)
{
    uint16_t pixels[PIXELS];
    bool same = airy_stack_read(stack, frame, pixels, sizeof(pixels)) == AIRY_OK;
    for (size_t p = 0; p < PIXELS; p++)
        same = same && pixels[p] == pixel(k, i, p);
    return same;
}

static enum airy_source_kind kind_of(const airy_stack *stack, size_t frame)
{
    struct airy_frame_source source;
    airy_stack_source(stack, frame, &source);
    return source.kind;
}

/* A block in front of the HDF5 part moves all addresses. */
static void check_user_block(struct check *c)
{
    if (!check_case(c, "layout_user_block"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hid_t create = H5Pcreate(H5P_FILE_CREATE), chunked = chunk_of_frame(0);
    H5Pset_userblock(create, 2048);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, H5P_DEFAULT);
    put_frames(file, "/a", 3, 1, chunked);
    put_frames(file, "/b", 3, 2, H5P_DEFAULT);
    H5Fclose(file);
    H5Pclose(create);
    H5Pclose(chunked);
    for (size_t k = 1; k <= 2; k++) {
        char name[1024];
        snprintf(name, sizeof(name), "%s::%s", path, k == 1 ? "a" : "/b");
        airy_stack *stack = NULL;
        if (!CHECK_OK(c, stack_open(&stack, name)))
            return;
        CHECK(c, kind_of(stack, 1) == AIRY_SOURCE_STORED);
        for (size_t i = 0; i < 3; i++)
            CHECK(c, same_frame(stack, i, k, i));
        airy_stack_destroy(&stack);
    }
}

static void check_unwritten(struct check *c)
{
    if (!check_case(c, "layout_unwritten"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t shape[4] = {2, 3, HEIGHT, WIDTH};
    const short fill = -5;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, H5T_NATIVE_SHORT, &fill);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    /* late allocation: nothing is there */
    H5Dclose(put_dataset(file, "/data", H5T_STD_I16LE, 4, shape, creation));
    H5Fclose(file);
    H5Pclose(creation);
    airy_stack *stack = NULL;
    airy_stack_info info;
    int16_t pixels[PIXELS] = {0};
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.frames == 6 && info.stored_bytes == 0 && kind_of(stack, 5) == AIRY_SOURCE_FILL);
    CHECK_FAILS(c, airy_stack_fetch(stack, 5, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN, "5: ");
    CHECK_FAILS(c, airy_stack_read(stack, 6, pixels, sizeof(pixels)), AIRY_ERR_PARAM, "frame = 6");
    CHECK_FAILS(c, airy_stack_read(stack, 0, pixels, 1), AIRY_ERR_PARAM, "size = 1");
    CHECK_FAILS(c, airy_stack_fetch(stack, 0, pixels, 1), AIRY_ERR_PARAM, "size = 1");
    airy_stack_destroy(&stack);
}

/* Compact data, data in another file, enumerations, half floats: through libhdf5. */
static void check_odd_storage(struct check *c)
{
    if (!check_case(c, "layout_odd_storage"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t shape[3] = {2, HEIGHT, WIDTH};
    const hid_t compact = H5Pcreate(H5P_DATASET_CREATE), external = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(compact, H5D_COMPACT);
    const char *raw = tmp_path(c, "raw.bin");
    H5Pset_external(external, raw, 0, 2 * PIXELS * 2);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_frames(file, "/a", 2, 1, compact);
    put_frames(file, "/b", 2, 2, external);
    const hid_t truth = H5Tenum_create(H5T_STD_I8LE);
    signed char value = 0, booleans[2 * PIXELS];
    H5Tenum_insert(truth, "FALSE", &value);
    value = 1;
    H5Tenum_insert(truth, "TRUE", &value);
    const hid_t flags = put_dataset(file, "/c", truth, 3, shape, H5P_DEFAULT);
    for (int i = 0; i < 2 * PIXELS; i++)
        booleans[i] = i % 3 == 0;
    H5Dwrite(flags, truth, H5S_ALL, H5S_ALL, H5P_DEFAULT, booleans);
    H5Dclose(flags);
    H5Tclose(truth);
    H5Fclose(file);
    H5Pclose(compact);
    H5Pclose(external);
    airy_stack *stack = NULL;
    airy_stack_info info;
    char name[1024];
    snprintf(name, sizeof(name), "%.*s", (int)(strrchr(raw, '/') - raw), raw);
    CHECK_OK(c, airy_external_folder_allow(name));
    for (size_t k = 1; k <= 2; k++) {
        snprintf(name, sizeof(name), "%s::/%c", path, k == 1 ? 'a' : 'b');
        if (!CHECK_OK(c, stack_open(&stack, name)) ||
            !CHECK_OK(c, airy_stack_get_info(stack, &info)))
            return;
        CHECK(c, info.path == AIRY_STACK_LIBRARY && kind_of(stack, 0) == AIRY_SOURCE_LIBRARY);
        CHECK(c, same_frame(stack, 0, k, 0) && same_frame(stack, 1, k, 1));
        airy_stack_destroy(&stack);
    }
    snprintf(name, sizeof(name), "%s::/c", path);
    int8_t pixels[PIXELS];
    if (!CHECK_OK(c, stack_open(&stack, name)))
        return;
    CHECK_OK(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)));
    CHECK(c, memcmp(pixels, booleans + PIXELS, sizeof(pixels)) == 0);
    airy_stack_destroy(&stack);
}

static void check_several_files(struct check *c)
{
    if (!check_case(c, "layout_several_files"))
        return;
    const char *paths[4] = {make_file(c, "a.h5", 3, 1, 32008), make_file(c, "b.h5", 2, 2, 32004),
                            make_file(c, "c.h5", 4, 3, 0), NULL};
    paths[3] = paths[0];
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!CHECK_OK(c, airy_stack_create(&stack, paths, 4)) ||
        !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.frames == 12 && info.files == 3 && info.codec.codec == AIRY_CODEC_BSLZ4);
    static const size_t k[12] = {1, 1, 1, 2, 2, 3, 3, 3, 3, 1, 1, 1},
                        i[12] = {0, 1, 2, 0, 1, 0, 1, 2, 3, 0, 1, 2};
    static const enum airy_source_kind kinds[4] = {AIRY_SOURCE_CHUNK, AIRY_SOURCE_CHUNK,
                                                   AIRY_SOURCE_LIBRARY, AIRY_SOURCE_STORED};
    for (size_t frame = 0; frame < 12; frame++) {
        CHECK(c, same_frame(stack, frame, k[frame], i[frame]));
        CHECK(c, kind_of(stack, frame) == kinds[k[frame]]);
        airy_stack_place place;
        CHECK_OK(c, airy_stack_get_place(stack, frame, &place));
        CHECK(c, (place.path != NULL) == (k[frame] != 2) && place.encoded == (k[frame] == 1));
        CHECK(c, !place.path || (strcmp(place.path, paths[k[frame] - 1]) == 0 && place.size > 0));
    }
    airy_stack_place none;
    CHECK_FAILS(c, airy_stack_get_place(stack, 12, &none), AIRY_ERR_PARAM, "frame = 12");
    char where[1024];
    CHECK_OK(c, airy_stack_where(stack, 4, where, sizeof(where)));
    CHECK(c, strstr(where, "b.h5::/entry/data/data frame 1 (4 of the stack)") != NULL);
    airy_stack_destroy(&stack);

    const char *other = tmp_path(c, "d.h5");
    const hid_t file = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t shape[2] = {HEIGHT, WIDTH + 1}, same[2] = {HEIGHT, WIDTH};
    H5Dclose(put_dataset(file, "/wide", H5T_STD_U16LE, 2, shape, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/float", H5T_IEEE_F32LE, 2, same, H5P_DEFAULT));
    H5Fclose(file);
    char name[1024];
    const char *pair[2] = {paths[0], name};
    snprintf(name, sizeof(name), "%s::wide", other);
    CHECK_FAILS(c, airy_stack_create(&stack, pair, 2), AIRY_ERR_SHAPE,
                "frames of 5 x 8 pixels, expected 5 x 7");
    snprintf(name, sizeof(name), "%s::float", other);
    CHECK_FAILS(c, airy_stack_create(&stack, pair, 2), AIRY_ERR_SHAPE,
                "pixels are float32, expected uint16");
    CHECK_FAILS(c, airy_stack_create(&stack, pair, 0), AIRY_ERR_PARAM, "0 paths");
}

/* More files than are kept open. */
static void check_many_files(struct check *c)
{
    if (!check_case(c, "layout_many_files"))
        return;
    enum { FILES = AIRY_STACK_OPEN_FILES + 9 };
    const char *paths[FILES];
    for (size_t i = 0; i < FILES; i++)
        paths[i] = make_file(c, "x.h5", 1, i % 50, i % 2 ? 32008 : 0);
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, airy_stack_create(&stack, paths, FILES)))
        return;
    for (size_t i = 0; i < FILES; i++)
        CHECK(c, same_frame(stack, i, i % 50, 0));
    uint16_t pixels[PIXELS];
    unlink(paths[FILES - 1]);
    CHECK_FAILS(c, airy_stack_read(stack, FILES - 1, pixels, sizeof(pixels)), AIRY_ERR_IO, "again");
    airy_stack_destroy(&stack);
}

static void refuse(struct check *c, const char *path, const char *dataset, airy_status status,
                   const char *part)
{
    char name[1024];
    snprintf(name, sizeof(name), "%s%s%s", path, dataset ? "::" : "", dataset ? dataset : "");
    airy_stack *stack = NULL;
    CHECK_FAILS(c, stack_open(&stack, name), status, part);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "layout_refused"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t shape[3] = {2, HEIGHT, WIDTH}, none[3] = {0, HEIGHT, WIDTH},
                  huge[4] = {1ull << 40, 1ull << 40, 1024, 1024};
    const hsize_t chunk[3] = {1, HEIGHT, WIDTH}, growing[3] = {H5S_UNLIMITED, HEIGHT, WIDTH};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tset_size(text, 10);
    H5Tinsert(pair, "re", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(pair, "im", 4, H5T_NATIVE_FLOAT);
    refuse(c, path, NULL, AIRY_ERR_FORMAT, "x.h5"); /* the file is being written: no superblock
                                                       yet, or no dataset */
    H5Dclose(put_dataset(file, "/text", text, 3, shape, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/pair", pair, 3, shape, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/line", H5T_NATIVE_INT, 1, shape, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/group/frames", H5T_NATIVE_INT, 3, none, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/huge", H5T_NATIVE_INT, 4, huge, H5P_DEFAULT));
    H5Dclose(put_dataset(file, "/long", H5T_NATIVE_LDOUBLE, 3, shape, H5P_DEFAULT));
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), optional = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_chunk(optional, 3, chunk);
    H5Pset_filter(optional, 32015, H5Z_FLAG_OPTIONAL, 0, NULL);
    H5Dclose(put_dataset(file, "/zstd", H5T_NATIVE_INT, 3, shape, optional));
    H5Lcreate_external("gone.h5", "/entry/data", file, "/away", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("pipe.h5", "/entry/data", file, "/pipe", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, none, growing);
    H5Dclose(H5Dcreate2(file, "/empty", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(optional);
    H5Tclose(text);
    H5Tclose(pair);
    H5Fclose(file);
    refuse(c, path, "text", AIRY_ERR_FORMAT, "class 'string'");
    refuse(c, path, "pair", AIRY_ERR_FORMAT, "class 'compound'");
    refuse(c, path, "line", AIRY_ERR_FORMAT, "1 dimension,");
    refuse(c, path, "group/frames", AIRY_ERR_SHAPE, "0 frames");
    refuse(c, path, "empty", AIRY_ERR_SHAPE, "0 frames");
    refuse(c, path, "group", AIRY_ERR_NOT_FOUND, "cannot be opened as a dataset");
    refuse(c, path, "huge", AIRY_ERR_SHAPE, "more bytes than");
    refuse(c, path, "long", AIRY_ERR_UNSUPPORTED, "16 bytes");
    refuse(c, path, "zstd", AIRY_ERR_UNSUPPORTED, "filter 32015 (zstd)");
    refuse(c, path, "none", AIRY_ERR_NOT_FOUND, "none");
    refuse(c, path, "away", AIRY_ERR_NOT_FOUND, "gone.h5");
    const char *pipe = tmp_path(c, "pipe.h5"); /* that nobody writes */
    if (CHECK(c, mkfifo(pipe, 0600) == 0)) {
        refuse(c, path, "pipe", AIRY_ERR_NOT_FOUND, "'pipe.h5' is missing or cut");
        refuse(c, pipe, NULL, AIRY_ERR_IO, "is a pipe, not a regular file");
    }
    refuse(c, "/dev/null", NULL, AIRY_ERR_IO, "is a device, not a regular file");
    refuse(c, path, NULL, AIRY_ERR_FORMAT, "choose one");
    refuse(c, path, "", AIRY_ERR_PARAM, "expected FILE or FILE::DATASET");
    refuse(c, "/proc/none/x.h5", NULL, AIRY_ERR_NOT_FOUND, "No such file");
    refuse(c, "/", NULL, AIRY_ERR_IO, "is a folder, not a regular file");
    refuse(c, stack_spill(c, "junk.h5", "not HDF5", 8), NULL, AIRY_ERR_FORMAT, "no HDF5 file");
    refuse(c, stack_spill(c, "empty.h5", "", 0), NULL, AIRY_ERR_FORMAT, "no HDF5 file");
    refuse(c, stack_spill(c, "short.h5", "\211HDF\r\n\032\n", 8), NULL, AIRY_ERR_FORMAT,
           "shorter than its index states");
}

static void check_found(struct check *c)
{
    if (!check_case(c, "layout_found"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t shape[3] = {2, HEIGHT, WIDTH};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    airy_stack *stack = NULL;
    airy_stack_info info;
    H5Dclose(put_dataset(file, "/some/flat", H5T_NATIVE_FLOAT, 2, shape + 1, H5P_DEFAULT));
    H5Fclose(file);
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, strstr(info.dataset, "x.h5::/some/flat") && info.frames == 1);
    airy_stack_destroy(&stack);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    put_frames(file, "/deep/down/frames", 2, 4, H5P_DEFAULT);
    H5Lcreate_soft("/deep/down/frames", file, "/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/deep", file, "/again", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/deep", file, "/deep/cycle", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK(c, same_frame(stack, 1, 4, 1)); /* one dataset, however many names */
    airy_stack_destroy(&stack);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    put_frames(file, "/entry/data/data", 2, 5, H5P_DEFAULT);
    put_frames(file, "/entry/data/data_000010", 2, 7, H5P_DEFAULT);
    put_frames(file, "/entry/data/data_000002", 3, 6, H5P_DEFAULT);
    put_frames(file, "/entry/data/data_x", 3, 9, H5P_DEFAULT);
    H5Fclose(file);
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.frames == 5 && same_frame(stack, 0, 6, 0) && same_frame(stack, 4, 7, 1));
    airy_stack_destroy(&stack);
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    CHECK_OK(c, airy_hdf5_list(&entries, &count, path));
    CHECK(c, count == 6);
    if (count == 6) {
        CHECK(c, strcmp(entries[5].path, "/some/flat") == 0 && entries[5].ndim == 2 &&
                     strcmp(entries[5].dtype, "float32") == 0);
        CHECK(c, entries[5].shape[1] == WIDTH && strcmp(entries[5].filters, "none") == 0 &&
                     entries[5].chunk[0] == 0);
    }
    airy_hdf5_list_free(entries);
}

struct virtual_part {
    const char *file, *dataset;
    hsize_t start, stride, count, from, from_stride, source_frames;
};

static void put_virtual(hid_t file, const char *name, size_t frames,
                        const struct virtual_part *parts, size_t count)
{
    const hsize_t shape[3] = {frames, HEIGHT, WIDTH};
    const uint16_t fill = 77;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_fill_value(creation, H5T_NATIVE_UINT16, &fill);
    for (size_t k = 0; k < count; k++) {
        const struct virtual_part *p = &parts[k];
        const hsize_t source_shape[3] = {p->source_frames, HEIGHT, WIDTH},
                      block[3] = {1, HEIGHT, WIDTH};
        const hsize_t start[3] = {p->start, 0, 0}, from[3] = {p->from, 0, 0},
                      pieces[3] = {p->count, 1, 1};
        const hsize_t stride[3] = {p->stride, HEIGHT, WIDTH},
                      from_stride[3] = {p->from_stride, HEIGHT, WIDTH};
        const hid_t source = H5Screate_simple(3, source_shape, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, pieces, block);
        H5Sselect_hyperslab(source, H5S_SELECT_SET, from, from_stride, pieces, block);
        H5Pset_virtual(creation, space, p->file, p->dataset, source);
        H5Sclose(source);
    }
    H5Dclose(put_dataset(file, name, H5T_STD_U16LE, 3, shape, creation));
    H5Sclose(space);
    H5Pclose(creation);
}

static void check_virtual(struct check *c)
{
    if (!check_case(c, "layout_virtual"))
        return;
    const char *a = make_file(c, "a.h5", 6, 1, 32008), *b = make_file(c, "b.h5", 4, 2, 32008);
    const char *path = tmp_path(c, "v.h5");
    const struct virtual_part parts[] = {
        {a, "/entry/data/data", 1, 2, 3, 0, 2, 6}, /* 1 3 5 <- 0 2 4 of a */
        {b, "/entry/data/data", 4, 1, 1, 3, 1, 4}, /* 4 <- 3 of b */
        {".", "/own", 0, 6, 2, 1, 1, 3},           /* 0 6 <- 1 2 of this file */
        {"gone.h5", "/x", 7, 1, 1, 0, 1, 1},       /* 7: not there */
    };                                             /* 2: nothing */
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_frames(file, "/own", 3, 3, H5P_DEFAULT);
    put_virtual(file, "/entry/data/data", 8, parts, 4);
    put_virtual(file, "/nested", 8,
                (struct virtual_part[]){{".", "/entry/data/data", 0, 1, 7, 0, 1, 8},
                                        {".", "/own", 7, 1, 1, 0, 1, 3}},
                2);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.frames == 8 && info.path == AIRY_STACK_DIRECT &&
                 info.codec.codec == AIRY_CODEC_BSLZ4);
    static const size_t k[8] = {3, 1, 0, 1, 2, 1, 3, 0}, i[8] = {1, 0, 0, 2, 3, 4, 2, 0};
    uint16_t pixels[PIXELS];
    for (size_t frame = 0; frame < 8; frame++)
        if (k[frame])
            CHECK(c, same_frame(stack, frame, k[frame], i[frame]));
    CHECK(c, kind_of(stack, 1) == AIRY_SOURCE_CHUNK && kind_of(stack, 0) == AIRY_SOURCE_STORED);
    CHECK_FAILS(c, airy_stack_read(stack, 2, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN, "never");
    CHECK(c, kind_of(stack, 2) == AIRY_SOURCE_FILL);
    CHECK_FAILS(c, airy_stack_read(stack, 7, pixels, sizeof(pixels)), AIRY_ERR_NOT_FOUND,
                "gone.h5");
    airy_stack_destroy(&stack);
    char name[1024];
    snprintf(name, sizeof(name), "%s::/nested", path);
    if (!CHECK_OK(c, stack_open(&stack, name)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.path == AIRY_STACK_LIBRARY && same_frame(stack, 1, 1, 0) &&
                 same_frame(stack, 7, 3, 0));
    airy_stack_destroy(&stack);
}

/*
 * A virtual dataset of the upper rows of each frame: libhdf5 reads it, and its source counts as a
 * file of the stack.
 */
static void check_virtual_part(struct check *c)
{
    if (!check_case(c, "layout_virtual_part"))
        return;
    const char *a = make_file(c, "a.h5", 2, 1, 32008), *path = tmp_path(c, "v.h5");
    const hsize_t shape[3] = {2, HEIGHT - 1, WIDTH}, whole[3] = {2, HEIGHT, WIDTH},
                  start[3] = {0, 0, 0};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL),
                source = H5Screate_simple(3, whole, NULL);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, start, NULL, shape, NULL);
    H5Pset_virtual(creation, space, a, "/entry/data/data", source);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(put_dataset(file, "/entry/data/data", H5T_STD_U16LE, 3, shape, creation));
    H5Fclose(file);
    H5Sclose(source);
    H5Sclose(space);
    H5Pclose(creation);
    airy_stack *stack = NULL;
    uint16_t pixels[PIXELS];
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_read(stack, 1, pixels, (HEIGHT - 1) * WIDTH * sizeof(*pixels)));
    CHECK(c, pixels[0] == pixel(1, 1, 0) &&
                 pixels[(HEIGHT - 1) * WIDTH - 1] == pixel(1, 1, (HEIGHT - 1) * WIDTH - 1));
    CHECK(c, airy_stack_uses(stack, a) && airy_stack_uses(stack, path) &&
                 !airy_stack_uses(stack, "gone.h5"));
    airy_stack_destroy(&stack);
}

/*
 * Files that links and virtual datasets name lie beside the file that names them, not in the
 * working directory.
 */
static void check_sources_missing(struct check *c)
{
    if (!check_case(c, "layout_sources_missing"))
        return;
    /* another run's: in the working directory */
    const char *other = make_file(c, "other.h5", 4, 9, 32008);
    const int length = (int)(strrchr(other, '/') - other);
    char folder[1024], path[1100], linked[1100], beside[1100];
    snprintf(folder, sizeof(folder), "%.*s/apart", length, other);
    snprintf(path, sizeof(path), "%s/v.h5", folder);
    snprintf(beside, sizeof(beside), "%s/other.h5", folder);
    snprintf(linked, sizeof(linked), "%.*s/linked.h5", length, other);
    CHECK(c, mkdir(folder, 0700) == 0);
    snprintf(folder, sizeof(folder), "%.*s", length, other);
    const struct virtual_part parts[] = {{"other.h5", "/entry/data/data", 0, 1, 2, 0, 1, 4}};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_virtual(file, "/v", 4, parts, 1);
    put_virtual(file, "/nested", 4, (struct virtual_part[]){{".", "/v", 1, 1, 3, 1, 1, 4}}, 1);
    H5Lcreate_external("other.h5", "/entry/data/data", file, "/away", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    char *old = getcwd(NULL, 0);
    char name[1200];
    airy_stack *stack = NULL;
    airy_image image;
    uint16_t pixels[PIXELS];
    if (!CHECK(c, old && chdir(folder) == 0)) {
        free(old);
        return;
    }
    CHECK_FAILS(c, stack_open(&stack, "apart/v.h5::away"), AIRY_ERR_NOT_FOUND, "other.h5");
    if (CHECK_OK(c, stack_open(&stack, "apart/v.h5::v"))) {
        CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_NOT_FOUND,
                    "other.h5");
        CHECK_FAILS(c, airy_stack_read(stack, 3, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN, "");
        airy_stack_destroy(&stack);
    }
    if (CHECK_OK(c, stack_open(&stack, "apart/v.h5::nested"))) {
        CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_NOT_FOUND,
                    "other.h5");
        CHECK_FAILS(c, airy_stack_read(stack, 0, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN,
                    "nothing is mapped to the frame");
        airy_stack_destroy(&stack);
    }
    CHECK_FAILS(c, airy_image_read(&image, "apart/v.h5::v"), AIRY_ERR_NOT_FOUND, "other.h5");
    CHECK_FAILS(c, airy_image_read(&image, "apart/v.h5::nested"), AIRY_ERR_NOT_FOUND, "other.h5");
    const hid_t raw = H5Pcreate(H5P_DATASET_CREATE),
                odd = H5Fcreate("apart/r.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Pset_external(raw, "raw.bin", 0, 2 * PIXELS * 2);
    put_frames(odd, "/data", 2, 8, raw);
    H5Pclose(raw);
    H5Fclose(odd);
    if (CHECK_OK(c, stack_open(&stack, "apart/r.h5"))) {
        CHECK(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)) != AIRY_OK);
        CHECK(c, airy_image_read(&image, "apart/r.h5") != AIRY_OK &&
                     rename("raw.bin", "apart/raw.bin") == 0);
        CHECK(c, same_frame(stack, 1, 8, 1));
        airy_stack_destroy(&stack);
    }
    CHECK(c, chdir(old) == 0);
    free(old);
    /* A source that is cut, wherever: its frames fail, the others do not. */
    const char *sound = make_file(c, "s.h5", 1, 3, 32008),
               *cut = make_file(c, "s.h5", 2000, 4, 32008);
    const char *both = tmp_path(c, "both.h5");
    const hid_t joined = H5Fcreate(both, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_virtual(joined, "/data", 3,
                (struct virtual_part[]){{cut, "/entry/data/data", 0, 1, 2, 0, 1, 2000},
                                        {sound, "/entry/data/data", 2, 1, 1, 0, 1, 1}},
                2);
    H5Fclose(joined);
    for (off_t bytes = 1 << 15; bytes > 0; bytes -= 331) {
        if (!CHECK(c, truncate(cut, bytes) == 0) || !CHECK_OK(c, stack_open(&stack, both)))
            return;
        CHECK(c, same_frame(stack, 2, 3, 0));
        CHECK(c, airy_stack_read(stack, 0, pixels, sizeof(pixels)) != AIRY_OK ||
                     same_frame(stack, 0, 4, 0));
        airy_stack_destroy(&stack);
    }
    /* Beside what a symbolic link leads to: beside the link's own folder nothing is there. */
    CHECK(c, rename(other, beside) == 0 && symlink(path, linked) == 0);
    static const char *const datasets[] = {"away", "v"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s::%s", linked, datasets[i]);
        if (!CHECK_OK(c, stack_open(&stack, name)))
            return;
        CHECK(c, same_frame(stack, 1, 9, 1));
        airy_stack_destroy(&stack);
    }
    snprintf(name, sizeof(name), "%s::v", path); /* nothing is mapped to frames 2 and 3 */
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_UNWRITTEN, "nothing is mapped to some");
}

/*
 * A master with links to files of 4, 4 and 2 frames; 10 images are promised with `total`, and
 * their numbers said with `numbers`.
 */
static const char *make_series(struct check *c, bool total, bool numbers, char folder[1024])
{
    const char *path = tmp_path(c, "x_master.h5");
    snprintf(folder, 1024, "%.*s", (int)(strrchr(path, '/') - path), path);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = chunk_of_frame(0);
    for (unsigned k = 0; k < 3; k++) {
        char name[64], full[1100], link[64];
        snprintf(name, sizeof(name), "x_data_%06u.h5", k + 1);
        snprintf(full, sizeof(full), "%s/%s", folder, name);
        snprintf(link, sizeof(link), "/entry/data/data_%06u", k + 1);
        const hid_t data = H5Fcreate(full, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        put_frames(data, "/entry/data/data", k == 2 ? 2 : 4, k + 1, creation);
        const hid_t dataset = H5Dopen2(data, "/entry/data/data", H5P_DEFAULT),
                    scalar = H5Screate(H5S_SCALAR);
        const uint64_t low = 4 * k + 1, high = k == 2 ? 10 : low + 3;
        for (int end = 0; end < 2 && numbers; end++) {
            const hid_t attribute = H5Acreate2(dataset, end ? "image_nr_high" : "image_nr_low",
                                               H5T_NATIVE_UINT64, scalar, H5P_DEFAULT, H5P_DEFAULT);
            H5Awrite(attribute, H5T_NATIVE_UINT64, end ? &high : &low);
            H5Aclose(attribute);
        }
        H5Sclose(scalar);
        H5Dclose(dataset);
        H5Fclose(data);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        H5Lcreate_external(name, "/entry/data/data", file, link, links, H5P_DEFAULT);
        H5Pclose(links);
    }
    if (total) {
        const hsize_t one = 1;
        const int images = 5, triggers = 2;
        static const char group[] = "/entry/instrument/detector/detectorSpecific";
        char name[100];
        snprintf(name, sizeof(name), "%s/nimages", group);
        hid_t dataset = put_dataset(file, name, H5T_NATIVE_INT, 1, &one, H5P_DEFAULT);
        H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &images);
        H5Dclose(dataset);
        snprintf(name, sizeof(name), "%s/ntrigger", group);
        dataset = put_dataset(file, name, H5T_NATIVE_INT, 1, &one, H5P_DEFAULT);
        H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &triggers);
        H5Dclose(dataset);
    }
    H5Pclose(creation);
    H5Fclose(file);
    return path;
}

/*
 * Data files that are missing, or cut in front of their dataset: their frames fail, the others
 * stay where they are.
 */
static void check_series_missing(struct check *c)
{
    if (!check_case(c, "layout_series_missing"))
        return;
    static const struct {
        bool total, numbers;
        unsigned gone; /* 1 << file */
        bool opens;
    } cases[] = {{false, false, 1, true},  {false, false, 2, true}, {false, false, 4, false},
                 {true, false, 4, true},   {true, false, 7, false}, {true, false, 3, true},
                 {false, false, 3, false}, {false, true, 1, true},  {true, true, 6, true},
                 {false, true, 5, false},  {false, false, 0, true}};
    uint16_t pixels[PIXELS];
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const bool cut = i % 2;
        const unsigned gone = cases[i / 2].gone;
        char folder[1024], name[1100];
        const char *path = make_series(c, cases[i / 2].total, cases[i / 2].numbers, folder);
        for (unsigned k = 0; k < 3; k++) {
            snprintf(name, sizeof(name), "%s/x_data_%06u.h5", folder, k + 1);
            if (gone >> k & 1)
                CHECK(c, cut ? truncate(name, 700) == 0 : unlink(name) == 0);
        }
        airy_stack *stack = NULL;
        airy_stack_info info;
        if (!cases[i / 2].opens) {
            CHECK_FAILS(c, stack_open(&stack, path), AIRY_ERR_NOT_FOUND, ".h5' is missing or cut");
            continue;
        }
        if (!CHECK_OK(c, stack_open(&stack, path)) ||
            !CHECK_OK(c, airy_stack_get_info(stack, &info)))
            return;
        CHECK(c, info.frames == 10);
        for (size_t frame = 0; frame < info.frames; frame++) {
            const unsigned k = (unsigned)(frame / 4);
            snprintf(name, sizeof(name), "data file 'x_data_%06u.h5' is missing or cut", k + 1);
            if (gone >> k & 1)
                CHECK_FAILS(c, airy_stack_read(stack, frame, pixels, sizeof(pixels)),
                            AIRY_ERR_NOT_FOUND, name);
            else
                CHECK(c, same_frame(stack, frame, k + 1, frame % 4));
        }
        airy_stack_destroy(&stack);
    }
}

/* A detector's group of another name, in the master of a series or behind a link of it. */
static void check_series_detector(struct check *c)
{
    if (!check_case(c, "layout_series_detector"))
        return;
    const hsize_t shape[2] = {HEIGHT, WIDTH};
    for (int linked = 0; linked < 2; linked++) {
        char folder[1024], name[1100];
        const char *path = make_series(c, false, false, folder);
        snprintf(name, sizeof(name), "%s/about.h5", folder);
        const hid_t master = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                    file = linked ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                                  : master;
        H5Dclose(put_dataset(file, "/entry/instrument/eiger/pixel_mask", H5T_NATIVE_UINT, 2, shape,
                             H5P_DEFAULT));
        if (linked) {
            H5Lcreate_external("about.h5", "/entry/instrument", master, "/entry/instrument",
                               H5P_DEFAULT, H5P_DEFAULT);
            H5Fclose(file);
        }
        H5Fclose(master);
        airy_stack *stack = NULL;
        airy_stack_meta meta;
        uint8_t mask[PIXELS];
        if (!CHECK_OK(c, stack_open(&stack, path)) ||
            !CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
            return;
        CHECK(c, meta.has_mask);
        CHECK_OK(c, airy_stack_mask(stack, mask));
        airy_stack_destroy(&stack);
    }
}

/*
 * A file that another program writes for readers at this moment (SWMR): what is there when it is
 * opened.
 */
static void check_growing(struct check *c)
{
    if (!check_case(c, "layout_growing"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t none[3] = {0, HEIGHT, WIDTH}, growing[3] = {H5S_UNLIMITED, HEIGHT, WIDTH};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = chunk_of_frame(0);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(3, none, growing);
    const hid_t dataset =
        H5Dcreate2(file, "/data", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    CHECK(c, H5Fstart_swmr_write(file) >= 0);
    airy_stack *stack = NULL;
    for (hsize_t n = 1; n <= 5; n++) {
        const hsize_t shape[3] = {n, HEIGHT, WIDTH}, offset[3] = {n - 1, 0, 0};
        uint16_t pixels[PIXELS];
        for (size_t p = 0; p < PIXELS; p++)
            pixels[p] = pixel(6, n - 1, p);
        H5Dset_extent(dataset, shape);
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, sizeof(pixels), pixels);
        H5Dflush(dataset);
        airy_stack_info info;
        if (!CHECK_OK(c, stack_open(&stack, path)) ||
            !CHECK_OK(c, airy_stack_get_info(stack, &info)))
            return;
        CHECK(c, info.frames == n && info.path == AIRY_STACK_DIRECT &&
                     same_frame(stack, n - 1, 6, n - 1));
        airy_stack_destroy(&stack);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(access);
    H5Fclose(file);
}

/*
 * Chunks whose size or header is another than the dataset's: read where they are sound, refused
 * where they cannot be.
 */
static void check_odd_chunks(struct check *c)
{
    if (!check_case(c, "layout_odd_chunks"))
        return;
    const char *path = make_file(c, "x.h5", 1, 0, 32008); /* registers the filter */
    const hsize_t shape[3] = {5, HEIGHT, WIDTH};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), creation = chunk_of_frame(32008);
    const hid_t dataset = put_dataset(file, "/odd", H5T_STD_U16LE, 3, shape, creation);
    uint16_t pixels[PIXELS];
    uint8_t *junk = check_alloc(c, 60000), chunk[1024];
    for (hsize_t i = 0; i < 5; i++) {
        const hsize_t offset[3] = {i, 0, 0};
        for (size_t p = 0; p < PIXELS; p++)
            pixels[p] = pixel(8, i, p);
        airy_codec_params codec = {
            .codec = AIRY_CODEC_BSLZ4, .elem_size = 2, .block_bytes = i == 1 ? 32 : 0};
        size_t size = sizeof(chunk);
        CHECK_OK(c, airy_encode(chunk, &size, pixels, sizeof(pixels), &codec));
        if (i == 2) /* far too large */
            H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, 60000, junk);
        else if (i == 3) /* stored, but not a frame */
            H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, offset, sizeof(pixels) - 2, pixels);
        else
            H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, size, chunk);
    }
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Fclose(file);
    char name[1024];
    snprintf(name, sizeof(name), "%s::/odd", path);
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!CHECK_OK(c, stack_open(&stack, name)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c,
          same_frame(stack, 0, 8, 0) && same_frame(stack, 1, 8, 1) && same_frame(stack, 4, 8, 4));
    for (size_t i = 2; i < 4; i++) {
        CHECK(c, kind_of(stack, i) == AIRY_SOURCE_LIBRARY);
        CHECK_FAILS(c, airy_stack_read(stack, i, pixels, sizeof(pixels)), AIRY_ERR_CORRUPT,
                    "no sound entry");
    }
    /*
     * The pipeline hears of other blocks from the walk and decodes such a frame by airy_stack_read.
     */
    struct airy_frame_source source;
    airy_block_layout layout;
    airy_stack_source(stack, 1, &source);
    CHECK_OK(c, airy_block_layout_make(&layout, sizeof(pixels), &info.codec));
    airy_block *table = check_alloc(c, 64 * sizeof(*table));
    if (CHECK(c, layout.blocks <= 64 && source.size <= sizeof(chunk)) &&
        CHECK_OK(c, airy_stack_fetch(stack, 1, chunk, source.size)))
        CHECK_FAILS(c, airy_chunk_walk(table, &layout, chunk, source.size, 0), AIRY_ERR_UNSUPPORTED,
                    "block");
    airy_stack_destroy(&stack);
}

struct reader {
    const airy_stack *stack;
    size_t start;
    bool good;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    r->good = true;
    for (size_t n = 0; n < 200 && r->good; n++) {
        const size_t frame = (r->start + 7 * n) % 12;
        r->good = same_frame(r->stack, frame, frame < 6 ? 1 : 2, frame % 6);
    }
    return NULL;
}

/* Direct frames and frames through libhdf5 from several threads. */
static void check_threads(struct check *c)
{
    if (!check_case(c, "layout_threads"))
        return;
    const char *path = tmp_path(c, "x.h5");
    const hsize_t chunk[3] = {4, 3, 4};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_shuffle(creation);
    H5Pset_fletcher32(creation);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_frames(file, "/data", 6, 2, creation);
    H5Fclose(file);
    H5Pclose(creation);
    const char *paths[2] = {make_file(c, "a.h5", 6, 1, 32008), path};
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, airy_stack_create(&stack, paths, 2)))
        return;
    pthread_t threads[4];
    struct reader readers[4];
    for (size_t t = 0; t < 4; t++) {
        readers[t] = (struct reader){stack, t, false};
        pthread_create(&threads[t], NULL, read_all, &readers[t]);
    }
    for (size_t t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
        CHECK(c, readers[t].good);
    }
    airy_stack_destroy(&stack);
}

void check_stack_layout(struct check *c)
{
    check_user_block(c);
    check_unwritten(c);
    check_odd_storage(c);
    check_several_files(c);
    check_many_files(c);
    check_refused(c);
    check_found(c);
    check_virtual(c);
    check_virtual_part(c);
    check_sources_missing(c);
    check_series_missing(c);
    check_series_detector(c);
    check_odd_chunks(c);
    check_growing(c);
    check_threads(c);
}
