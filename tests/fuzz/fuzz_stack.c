/*
 * Stacks of damaged HDF5 files: small files of several layouts, made once, with bytes changed and
 * the end cut off. Each frame is read through airy_stack_read and airy_stack_fetch; nothing may be
 * touched outside the buffers, whatever the answer.
 *
 * Input: layout (1 byte), bytes cut off (2), then changes: offset (2), value (1). The changes go
 * to the raw data, as libhdf5 1.10 is not made for damaged metadata; with AIRY_FUZZ_METADATA in
 * the environment they go anywhere.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/hdf5/util.h"
#include "io/stack/source.h"

enum {
    LAYOUTS = 5,
    FRAMES = 3,
    HEIGHT = 9,
    WIDTH = 13,
    PIXELS = HEIGHT * WIDTH,
    MAX_FILE = 1 << 16,
    MAX_RANGES = 32
};

/* A file and where its raw data lie. */
static struct model {
    uint8_t bytes[MAX_FILE];
    size_t size, start[MAX_RANGES], length[MAX_RANGES], ranges;
} models[LAYOUTS];

/*
 * In memory where the system has such a folder; libhdf5 wants a name that leads somewhere, so no
 * memfd.
 */
static int open_file(char path[32])
{
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/airy-XXXXXX" : "/tmp/airy-XXXXXX");
    const int fd = mkstemp(path);
    require(fd >= 0);
    return fd;
}

static hid_t creation_of(int layout)
{
    /* bslz4, lz4, bitshuffle alone: chunk = frame; bslz4 with two frames a chunk; plain chunks */
    static const hsize_t chunks[LAYOUTS] = {1, 1, 1, 2, 1};
    const hsize_t chunk[3] = {chunks[layout], HEIGHT, WIDTH};
    const unsigned bitshuffle[2] = {16, layout == 2 ? 0 : 2}, lz4[1] = {128};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    require(H5Pset_chunk(creation, 3, chunk) >= 0);
    if (layout == 1)
        require(H5Pset_filter(creation, AIRY_FILTER_LZ4, H5Z_FLAG_MANDATORY, 1, lz4) >= 0);
    else if (layout < 4)
        require(H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_MANDATORY, 2,
                              bitshuffle) >= 0);
    return creation;
}

static void make_model(struct model *model, int layout)
{
    char path[32];
    const int fd = open_file(path);
    require(airy_hdf5_lock() == AIRY_OK);
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    uint16_t pixels[FRAMES * PIXELS];
    for (int i = 0; i < FRAMES * PIXELS; i++)
        pixels[i] = (uint16_t)(i % 7 ? i / 50 : i);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = creation_of(layout);
    const hid_t space = H5Screate_simple(3, shape, NULL);
    const hid_t dataset =
        H5Dcreate2(file, "data", H5T_NATIVE_UINT16, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    require(H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels) >= 0);
    require(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    hsize_t count = 0;
    require(H5Dget_num_chunks(dataset, space, &count) >= 0 && count <= MAX_RANGES);
    for (hsize_t i = 0; i < count; i++) {
        hsize_t offset[3], length;
        unsigned mask;
        haddr_t start;
        require(H5Dget_chunk_info(dataset, space, i, offset, &mask, &start, &length) >= 0);
        model->start[i] = start;
        model->length[i] = length;
    }
    model->ranges = count;
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
    airy_hdf5_unlock();
    const ssize_t size = pread(fd, model->bytes, sizeof(model->bytes), 0);
    require(size > 0 && size < MAX_FILE);
    model->size = (size_t)size;
    close(fd);
    unlink(path);
}

/* The n-th byte of raw data. */
static size_t raw_place(const struct model *model, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < model->ranges; i++)
        all += model->length[i];
    n %= all;
    size_t i = 0;
    while (n >= model->length[i])
        n -= model->length[i++];
    return model->start[i] + n;
}

static void read_frames(const airy_stack *stack)
{
    airy_stack_info info;
    require(airy_stack_get_info(stack, &info) == AIRY_OK);
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    if (size > MAX_FILE || info.frames > 64)
        return; /* a dataset of another size altogether */
    for (size_t i = 0; i < info.frames; i++) {
        struct airy_frame_source source;
        airy_stack_source(stack, i, &source);
        uint8_t *pixels = malloc(size), *bytes = malloc(source.size);
        require(pixels && bytes);
        const airy_status read = airy_stack_read(stack, i, pixels, size);
        const airy_status fetched = airy_stack_fetch(stack, i, bytes, source.size);
        if (source.kind == AIRY_SOURCE_CHUNK && fetched == AIRY_OK) {
            uint8_t *decoded = malloc(size);
            require(decoded && airy_decode(decoded, size, bytes, source.size, &info.codec) == read);
            require(read != AIRY_OK || memcmp(decoded, pixels, size) == 0);
            free(decoded);
        } else {
            require(read == fetched);
        }
        free(pixels);
        free(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int made;
    for (; made < LAYOUTS; made++)
        make_model(&models[made], made);
    if (size < 3)
        return 0;
    const struct model *model = &models[data[0] % LAYOUTS];
    static uint8_t bytes[MAX_FILE];
    memcpy(bytes, model->bytes, model->size);
    const bool metadata = getenv("AIRY_FUZZ_METADATA") != NULL;
    for (size_t at = 3; at + 3 <= size; at += 3) {
        const size_t n = (size_t)data[at] << 8 | data[at + 1];
        bytes[metadata ? n % model->size : raw_place(model, n)] = data[at + 2];
    }
    const size_t cut = ((size_t)data[1] << 8 | data[2]) % model->size;
    char path[32];
    const int fd = open_file(path);
    require(write(fd, bytes, model->size - cut) == (ssize_t)(model->size - cut));
    const char *const paths[1] = {path};
    airy_stack *stack = NULL;
    if (airy_stack_create(&stack, paths, 1) == AIRY_OK) {
        read_frames(stack);
        airy_stack_destroy(&stack);
    }
    close(fd);
    unlink(path);
    return 0;
}
