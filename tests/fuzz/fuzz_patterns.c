/*
 * Damaged integrated files: small ones, made once, with bytes changed and the end cut off. They are
 * read row by row, merged, and a partial one is resumed as its run and as another; nothing may be
 * touched outside of the buffers, whatever the answer.
 *
 * Input: which file (1 byte), bytes cut off (2), then changes: offset (2), value (1). They go to the
 * raw data, as libhdf5 1.10 is not made for damaged metadata; with AIRY_FUZZ_METADATA in the
 * environment they go anywhere.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/hdf5/util.h"
#include "io/result/read.h"

enum { FRAMES = 3, BINS = 5, SECTORS = 2, MOST_BINS = BINS * SECTORS, MODELS = 3 };
enum { MAX_FILE = 1 << 18, MAX_RANGES = 64 };

/* A file and where its raw data lie: 1-D, 2-D, and one of which a row is missing. */
static struct model {
    uint8_t bytes[MAX_FILE];
    size_t size, start[MAX_RANGES], length[MAX_RANGES], ranges;
} models[MODELS];

static const double radial[BINS] = {1, 2, 3, 4, 5}, azimuth[SECTORS] = {-90, 90};
static const uint64_t frame_index[FRAMES] = {0, 1, 2};

/* libhdf5 1.10 loses an object's header where the file ends inside of it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static void make_path(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s-%d.h5", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name,
             (int)getpid());
}

static struct airy_pattern_spec spec_of(int model)
{
    static const airy_roi roi = {.radial = {1.5, 3.5}};
    return (struct airy_pattern_spec){.frames = FRAMES,
                                      .bins = model == 1 ? MOST_BINS : BINS,
                                      .radial = radial,
                                      .azimuth_bins = model == 1 ? SECTORS : 0,
                                      .azimuth = model == 1 ? azimuth : NULL,
                                      .unit = AIRY_UNIT_Q_NM,
                                      .errors = model != 0,
                                      .index = frame_index,
                                      .configuration = "{\"a\": 1}",
                                      .fingerprint = "value dist 0.1\nrows group 1\n",
                                      .rois = model == 2 ? &roi : NULL,
                                      .roi_count = model == 2 ? 1 : 0};
}

static airy_status write_rows(airy_pattern_file *file, int model, size_t rows)
{
    float one[MOST_BINS];
    double many[3 * MOST_BINS];
    for (int i = 0; i < MOST_BINS; i++)
        one[i] = (float)i;
    for (int i = 0; i < 3 * MOST_BINS; i++)
        many[i] = i + 1;
    const bool errors = model != 0;
    airy_status status = AIRY_OK;
    for (size_t row = 0; row < rows && status == AIRY_OK; row++) {
        const struct airy_pattern_row data = {.intensity = one,
                                              .std = errors ? one : NULL,
                                              .sem = errors ? one : NULL,
                                              .signal = many,
                                              .variance = errors ? many : NULL,
                                              .norms = many,
                                              .roi_sum = many,
                                              .roi_mean = many,
                                              .frames = 1};
        if (!airy_pattern_file_done(file, row))
            status = airy_pattern_file_write(file, row, &data);
    }
    return status;
}

static herr_t add_range(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
    struct model *model = user;
    if (info->type != H5O_TYPE_DATASET || model->ranges == MAX_RANGES)
        return 0;
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    const haddr_t at = H5Dget_offset(dataset);
    if (at != HADDR_UNDEF && at < model->size) {
        model->start[model->ranges] = at;
        model->length[model->ranges++] = H5Dget_storage_size(dataset);
    }
    H5Dclose(dataset);
    return 0;
}

static void load_file(struct model *model, const char *path)
{
    FILE *stream = fopen(path, "rb");
    require(stream != NULL);
    model->size = fread(model->bytes, 1, MAX_FILE, stream);
    require(model->size > 0 && model->size < MAX_FILE);
    fclose(stream);
    require(airy_hdf5_lock() == AIRY_OK);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    require(file >= 0);
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, add_range, model, H5O_INFO_BASIC);
    H5Fclose(file);
    airy_hdf5_unlock();
    require(model->ranges > 0);
}

static void make_model(int number)
{
    char path[64], partial[80];
    make_path(path, "airy-model");
    snprintf(partial, sizeof(partial), "%s.partial", path);
    const struct airy_pattern_spec spec = spec_of(number);
    airy_pattern_file *file = NULL;
    const bool whole = number < 2;
    require(airy_pattern_file_create(&file, path, &spec, true, false) == AIRY_OK);
    require(write_rows(file, number, whole ? FRAMES : FRAMES - 1) == AIRY_OK);
    require(!whole || airy_pattern_file_finish(file, NULL) == AIRY_OK);
    airy_pattern_file_destroy(&file, true);
    load_file(&models[number], whole ? path : partial);
    unlink(whole ? path : partial);
}

/* The n-th byte of raw data. */
static size_t raw_place(const struct model *model, size_t n)
{
    size_t all = 0, i = 0;
    for (size_t k = 0; k < model->ranges; k++)
        all += model->length[k];
    n %= all;
    while (n >= model->length[i])
        n -= model->length[i++];
    return model->start[i] + n;
}

static void write_damaged(const struct model *model, const char *path, const uint8_t *data,
                          size_t size)
{
    static uint8_t bytes[MAX_FILE];
    memcpy(bytes, model->bytes, model->size);
    const bool metadata = getenv("AIRY_FUZZ_METADATA") != NULL;
    for (size_t at = 3; at + 3 <= size; at += 3) {
        const size_t n = (size_t)data[at] << 8 | data[at + 1];
        const size_t place = metadata ? n % model->size : raw_place(model, n);
        bytes[place < model->size ? place : 0] = data[at + 2];
    }
    const size_t cut = ((size_t)data[1] << 8 | data[2]) % model->size;
    FILE *stream = fopen(path, "wb");
    require(stream && fwrite(bytes, 1, model->size - cut, stream) == model->size - cut);
    fclose(stream);
}

static void read_rows(const char *path)
{
    airy_pattern_reader *reader = NULL;
    if (airy_pattern_reader_open(&reader, path) != AIRY_OK)
        return;
    const struct airy_pattern_axes *axes = airy_pattern_reader_axes(reader);
    const size_t cells = axes->bins * (axes->azimuth_bins ? axes->azimuth_bins : 1);
    for (size_t row = 0; row < axes->rows && row < 16 && cells <= 4096; row++) {
        double *sums = malloc(AIRY_SUM_PLANES * cells * sizeof(*sums));
        airy_frame_stats stats;
        uint32_t frames;
        require(sums != NULL);
        (void)airy_pattern_reader_status(reader, row);
        (void)airy_pattern_reader_row(reader, row, sums, &stats, &frames);
        free(sums);
    }
    airy_pattern_reader_close(&reader);
}

static void merge_two(const char *path, unsigned how)
{
    char out[64];
    make_path(out, "airy-merged");
    const airy_patterns_params params = {.join = how & 1,
                                         .merge = how & 2 ? AIRY_MERGE_SUM : AIRY_MERGE_AVERAGE,
                                         .rebin = how & 4 ? BINS : 0,
                                         .force = true};
    const char *const inputs[2] = {path, path};
    (void)airy_patterns_merge(out, inputs, how & 8 ? 2 : 1, &params, NULL);
    unlink(out);
}

/* As the run that made it, or as one of another shape. */
static void resume(const char *path, int number)
{
    const struct airy_pattern_spec spec = spec_of(number);
    airy_pattern_file *file = NULL;
    if (airy_pattern_file_create(&file, path, &spec, true, true) == AIRY_OK) {
        require(airy_pattern_file_pending(file) <= FRAMES);
        if (write_rows(file, number, FRAMES) == AIRY_OK)
            (void)airy_pattern_file_finish(file, NULL);
    }
    airy_pattern_file_destroy(&file, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int made;
    for (; made < MODELS; made++)
        make_model(made);
    if (size < 3)
        return 0;
    char path[64], partial[80];
    make_path(path, "airy-patterns");
    snprintf(partial, sizeof(partial), "%s.partial", path);
    const int number = data[0] % MODELS;
    write_damaged(&models[number], number < 2 ? path : partial, data, size);
    if (number < 2) {
        read_rows(path);
        merge_two(path, data[0] >> 4);
    } else {
        resume(path, data[0] & 128 ? 2 : data[0] >> 4 & 1);
        read_rows(path);
    }
    unlink(path);
    unlink(partial);
    return 0;
}
