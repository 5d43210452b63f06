/*
 * Damaged results: small ones, made once, with bytes changed and the end cut off: patterns in one
 * and in two dimensions, patterns of which a row is missing, sparse frames, and complex frames. All
 * that a result has is read, patterns are merged, and the partial ones are resumed as their run and
 * as another; nothing may be touched outside of the buffers, whatever the answer.
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
#include "io/result/file.h"

enum { FRAMES = 3, BINS = 5, SECTORS = 2, MOST_BINS = BINS * SECTORS, MODELS = 5, PATTERNS = 3 };
enum { MAX_FILE = 1 << 18, MAX_RANGES = 64 };

/* A file and where its raw data lie: 1-D, 2-D, one of which a row is missing, sparse, complex. */
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

/* Two sparse frames, the second a bad one. */
static void make_sparse(const char *path)
{
    static const float radius[12] = {1, 2, 3, 4, 5}, ones[12] = {1}, mean[BINS] = {1};
    static const uint32_t places[2] = {1, 11};
    static const uint16_t values[2] = {7, 8};
    const airy_sparse_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                              .height = 3,
                                              .width = 4,
                                              .bins = BINS,
                                              .unit = AIRY_UNIT_Q_NM,
                                              .radial = radial,
                                              .radius = radius,
                                              .normalization = ones,
                                              .configuration = "{}",
                                              .force = true};
    const airy_sparse_frame frames[2] = {
        {.index = places, .intensity = values, .pixels = 2, .mean = mean, .std = mean},
        {.number = 1, .message = "bad"}};
    airy_sparse_writer *writer = NULL;
    require(airy_sparse_writer_create(&writer, path, &params) == AIRY_OK);
    require(airy_sparse_writer_add(writer, frames, 2) == AIRY_OK);
    require(airy_sparse_writer_finish(writer) == AIRY_OK);
    airy_sparse_writer_destroy(&writer);
}

static void make_frames(const char *path)
{
    static const float frames[2][2][BINS][2] = {{{{1}}}};
    const airy_frame_writer_params params = {.dtype = AIRY_DTYPE_F32,
                                             .height = 2,
                                             .width = BINS,
                                             .is_complex = true,
                                             .force = true,
                                             .process = "oct",
                                             .axis = radial,
                                             .axis_name = "depth",
                                             .axis_units = "um"};
    airy_frame_writer *writer = NULL;
    require(airy_frame_writer_create(&writer, path, &params) == AIRY_OK);
    require(airy_frame_writer_add(writer, frames, 2) == AIRY_OK);
    require(airy_frame_writer_finish(writer) == AIRY_OK);
    airy_frame_writer_destroy(&writer);
}

static void make_patterns(int number, const char *path)
{
    const struct airy_pattern_spec spec = spec_of(number);
    airy_pattern_file *file = NULL;
    const bool whole = number < 2;
    require(airy_pattern_file_create(&file, path, &spec, true, false) == AIRY_OK);
    require(write_rows(file, number, whole ? FRAMES : FRAMES - 1) == AIRY_OK);
    require(!whole || airy_pattern_file_finish(file, NULL) == AIRY_OK);
    airy_pattern_file_destroy(&file, true);
}

static void make_model(int number)
{
    char path[64], partial[80];
    make_path(path, "airy-model");
    snprintf(partial, sizeof(partial), "%s.partial", path);
    if (number < PATTERNS)
        make_patterns(number, path);
    else if (number == PATTERNS)
        make_sparse(path);
    else
        make_frames(path);
    load_file(&models[number], number == 2 ? partial : path);
    unlink(number == 2 ? partial : path);
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

static void read_plane(airy_result *result, const airy_result_plane *plane)
{
    enum { MOST = 1 << 16 };
    const size_t rows = plane->rows < 8 ? plane->rows : 8, size = airy_dtype_size(plane->dtype);
    require(size > 0 && plane->ndim <= 4);
    if (plane->cells > MOST)
        return;
    uint8_t *values = malloc(rows * plane->cells * 8 + 1);
    require(values != NULL);
    (void)airy_result_read(result, plane->name, 0, rows, plane->dtype, values,
                           rows * plane->cells * size);
    if (rows && !plane->text)
        (void)airy_result_read(result, plane->name, rows - 1, 1, AIRY_DTYPE_F64, values,
                               plane->cells * 8);
    free(values);
}

static void read_texts(airy_result *result)
{
    static const char *const names[] = {"configuration", "fingerprint", "date", "files"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *text = NULL;
        if (airy_result_get_text(result, names[i], &text) == AIRY_OK)
            require(strlen(text) < MAX_FILE);
        free(text);
    }
}

static double add_axes(const airy_result *result, size_t axes)
{
    double sum = 0;
    airy_result_axis axis;
    for (size_t i = 0; i < axes && airy_result_get_axis(result, i, &axis) == AIRY_OK; i++)
        for (size_t k = 0; k < axis.count; k++)
            sum += axis.values[k] + (double)strlen(axis.label) + (double)strlen(axis.units);
    return sum;
}

/* All that a result has; twice, as refreshed. */
static void read_all(const char *path)
{
    airy_result *result = NULL;
    airy_result_info info;
    airy_result_plane plane;
    char message[100];
    if (airy_result_open(&result, path) != AIRY_OK)
        return;
    (void)airy_result_refresh(result);
    require(airy_result_get_info(result, &info) == AIRY_OK && info.good + info.bad <= info.rows);
    require(info.newest == SIZE_MAX || airy_result_get_row(result, info.newest) == AIRY_ROW_GOOD);
    volatile double sum = add_axes(result, info.axes);
    (void)sum;
    for (size_t i = 0; i < info.planes; i++)
        if (airy_result_get_plane(result, i, &plane) == AIRY_OK)
            read_plane(result, &plane);
    for (size_t row = 0; row < info.rows && row < 16; row++)
        (void)airy_result_get_message(result, row, message, sizeof(message));
    read_texts(result);
    airy_result_close(&result);
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
    make_path(path, "airy-result");
    snprintf(partial, sizeof(partial), "%s.partial", path);
    const int number = data[0] % MODELS;
    write_damaged(&models[number], number == 2 ? partial : path, data, size);
    if (number == 2)
        resume(path, data[0] & 128 ? 2 : data[0] >> 4 & 1);
    read_all(path);
    if (number != 2)
        merge_two(path, data[0] >> 4);
    unlink(path);
    unlink(partial);
    return 0;
}
