/*
 * Damaged files of sparse frames: a small one, made once, with bytes of its raw data changed and the
 * end cut off. Every frame is put together; nothing may be touched outside of the buffers, whatever
 * the answer.
 *
 * Input: bytes cut off (2), then changes: offset (2), value (1). They go to the raw data, as libhdf5
 * 1.10 is not made for damaged metadata; with AIRY_FUZZ_METADATA in the environment they go
 * anywhere.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/hdf5/util.h"

enum { FRAMES = 3, HEIGHT = 5, WIDTH = 7, PIXELS = HEIGHT * WIDTH, BINS = 4, MAX_FILE = 1 << 18 };

/* The file and where its raw data lie. */
static struct {
    uint8_t bytes[MAX_FILE];
    size_t size, start[16], length[16], ranges;
} model;

static void make_path(char path[40], const char *name)
{
    snprintf(path, 40, "%s/%s-%d.h5", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name,
             (int)getpid());
}

static void add_range(hid_t file, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/entry/sparse_frames/%s", name);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    const haddr_t at = H5Dget_offset(dataset);
    hsize_t offset[2], length = H5Dget_storage_size(dataset);
    haddr_t start = at;
    unsigned mask;
    if (at == HADDR_UNDEF)
        require(H5Dget_chunk_info(dataset, space, 0, offset, &mask, &start, &length) >= 0);
    model.start[model.ranges] = start;
    model.length[model.ranges++] = length;
    H5Sclose(space);
    H5Dclose(dataset);
}

static void write_model(const char *path)
{
    static const uint32_t index[4] = {0, 3, 17, 34};
    static const uint16_t values[4] = {9, 8, 7, 6};
    static const float mean[BINS] = {4, 3, 2, 1}, std[BINS] = {2, 2, 1, 1};
    const double radial[BINS] = {1, 2, 3, 4};
    float radius[PIXELS], normalization[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
        radius[i] = (float)(i % 9) / 2;
        normalization[i] = 1;
    }
    const airy_sparse_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                              .height = HEIGHT,
                                              .width = WIDTH,
                                              .bins = BINS,
                                              .radial = radial,
                                              .radius = radius,
                                              .normalization = normalization};
    const airy_sparse_frame frame = {
        .index = index, .intensity = values, .pixels = 4, .mean = mean, .std = std};
    airy_sparse_writer *writer = NULL;
    require(airy_sparse_writer_create(&writer, path, &params) == AIRY_OK);
    for (int f = 0; f < FRAMES; f++)
        require(airy_sparse_writer_add(writer, &frame, 1) == AIRY_OK);
    require(airy_sparse_writer_finish(writer) == AIRY_OK);
    airy_sparse_writer_destroy(&writer);
}

static void make_model(void)
{
    static const char *const names[] = {"frame_ptr",      "index",          "intensity",
                                        "radius",         "mask",           "dummy",
                                        "background_avg", "background_std", "normalization"};
    char path[40];
    make_path(path, "airy-model");
    unlink(path);
    write_model(path);
    require(airy_hdf5_lock() == AIRY_OK);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_range(file, names[i]);
    H5Fclose(file);
    airy_hdf5_unlock();
    FILE *stream = fopen(path, "rb");
    require(stream != NULL);
    model.size = fread(model.bytes, 1, MAX_FILE, stream);
    require(model.size > 0 && model.size < MAX_FILE);
    fclose(stream);
    unlink(path);
}

/* The n-th byte of raw data. */
static size_t raw_place(size_t n)
{
    size_t all = 0, i = 0;
    for (size_t k = 0; k < model.ranges; k++)
        all += model.length[k];
    n %= all;
    while (n >= model.length[i])
        n -= model.length[i++];
    return model.start[i] + n;
}

static void densify_all(const airy_sparse *sparse)
{
    airy_sparse_info info;
    require(airy_sparse_get_info(sparse, &info) == AIRY_OK);
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    if (size > MAX_FILE || info.frames > 64)
        return; /* another shape altogether */
    for (size_t i = 0; i < info.frames; i++)
        for (int noise = AIRY_DENSIFY_SMOOTH; noise <= AIRY_DENSIFY_GAUSSIAN; noise++) {
            const airy_densify_params params = {.noise = (airy_densify_noise)noise};
            uint8_t *pixels = malloc(size);
            require(pixels != NULL);
            (void)airy_sparse_densify(sparse, i, pixels, size, &params);
            free(pixels);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (model.size == 0)
        make_model();
    if (size < 2)
        return 0;
    static uint8_t bytes[MAX_FILE];
    memcpy(bytes, model.bytes, model.size);
    const bool metadata = getenv("AIRY_FUZZ_METADATA") != NULL;
    for (size_t at = 2; at + 3 <= size; at += 3) {
        const size_t n = (size_t)data[at] << 8 | data[at + 1];
        bytes[metadata ? n % model.size : raw_place(n)] = data[at + 2];
    }
    const size_t cut = ((size_t)data[0] << 8 | data[1]) % model.size;
    char path[40];
    make_path(path, "airy-sparse");
    FILE *stream = fopen(path, "wb");
    require(stream != NULL && fwrite(bytes, 1, model.size - cut, stream) == model.size - cut);
    fclose(stream);
    airy_sparse *sparse = NULL;
    if (airy_sparse_create(&sparse, path) == AIRY_OK)
        densify_all(sparse);
    airy_sparse_destroy(&sparse);
    unlink(path);
    return 0;
}
