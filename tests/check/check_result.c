/* The result reader: files of all kinds, finished, unfinished, growing, linked, hostile. */
#include "check.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/codec.h"
#include "airy/frames.h"
#include "airy/image.h"
#include "airy/pipeline.h"
#include "airy/result.h"
#include "airy/sparse.h"
#include "io/file/plain_file.h"
#include "io/hdf5/util.h"
#include "io/result/grow.h"

enum { BINS = 3, ROWS = 6 };

static const double radial[BINS] = {0.5, 1.5, 2.5}, azimuth[2] = {-90, 90};
static const char fingerprint[] = "value dist 0.1\n";

/* A file of a new folder, or of that of another file. */
static const char *name_file(struct check *c, const char *name)
{
    char *path = check_alloc(c, 640);
    snprintf(path, 640, "%s/%s", check_tmp(c), name);
    return path;
}

static const char *name_beside(struct check *c, const char *other, const char *name)
{
    char *path = check_alloc(c, 640);
    snprintf(path, 640, "%.*s/%s", (int)(strrchr(other, '/') - other), other, name);
    return path;
}

/* Values of row `row`: intensities row + 0.25, row + 0.5 and so on, sums ten times that. */
struct values {
    float intensity[2 * BINS];
    double sums[4 * 2 * BINS]; /* signal, and three planes of norms */
};

static struct airy_pattern_row row_values(struct values *v, size_t row, bool bad)
{
    for (size_t i = 0; i < 2 * BINS; i++) {
        v->intensity[i] = bad ? NAN : (float)row + 0.25f * (float)(i + 1);
        v->sums[i] = 10 * (double)v->intensity[i];
        v->sums[2 * BINS + i] = v->sums[4 * BINS + i] = v->sums[6 * BINS + i] = 2;
    }
    return (struct airy_pattern_row){
        .intensity = v->intensity,
        .std = v->intensity,
        .sem = v->intensity,
        .signal = v->sums,
        .variance = v->sums,
        .norms = v->sums + 2 * BINS,
        .roi_sum = v->sums,
        .roi_mean = v->sums,
        .stats = {.total = 100 + (double)row, .max = 7, .status = bad ? 8 : AIRY_FRAME_GOOD},
        .frames = 1,
        .message = bad ? "block 1: too short" : NULL};
}

static airy_status write_row(airy_pattern_file *file, size_t row, bool bad)
{
    struct values v;
    const struct airy_pattern_row data = row_values(&v, row, bad);
    return airy_pattern_file_write(file, row, &data);
}

static struct airy_pattern_spec spec_of(const uint64_t *index, size_t frames, bool two)
{
    static const airy_roi roi = {.radial = {1, 2}};
    return (struct airy_pattern_spec){.frames = frames,
                                      .bins = two ? 2 * BINS : BINS,
                                      .radial = radial,
                                      .azimuth_bins = two ? 2 : 0,
                                      .azimuth = two ? azimuth : NULL,
                                      .unit = AIRY_UNIT_Q_NM,
                                      .errors = two,
                                      .index = index,
                                      .configuration = "{\"a\": 1}",
                                      .fingerprint = fingerprint,
                                      .rois = two ? &roi : NULL,
                                      .roi_count = two ? 1 : 0,
                                      .grid = {two ? 2 : 0, two ? 3 : 0}};
}

/* ROWS rows, of which the first `done` are written; row 1 is bad. With all of them finished. */
static bool make_patterns(struct check *c, const char *path, bool two, size_t done)
{
    const uint64_t index[ROWS] = {10, 12, 14, 16, 18, 20};
    const struct airy_pattern_spec spec = spec_of(index, ROWS, two);
    airy_pattern_file *file = NULL;
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &spec, false, false)))
        return false;
    for (size_t row = 0; row < done; row++)
        CHECK_OK(c, write_row(file, row, row == 1));
    if (done == ROWS)
        CHECK_OK(c, airy_pattern_file_finish(file, NULL));
    airy_pattern_file_destroy(&file, true);
    return true;
}

static airy_result *open_result(struct check *c, const char *path, airy_result_info *info)
{
    airy_result *result = NULL;
    if (CHECK_OK(c, airy_result_open(&result, path)))
        CHECK_OK(c, airy_result_get_info(result, info));
    return result;
}

static void check_texts(struct check *c, airy_result *result)
{
    char *text = NULL;
    if (CHECK_OK(c, airy_result_get_text(result, "configuration", &text)))
        CHECK(c, strcmp(text, "{\"a\": 1}") == 0);
    free(text);
    if (CHECK_OK(c, airy_result_get_text(result, "fingerprint", &text)))
        CHECK(c, strcmp(text, fingerprint) == 0);
    free(text);
    CHECK_FAILS(c, airy_result_get_text(result, "files", &text), AIRY_ERR_NOT_FOUND, "files");
    CHECK_FAILS(c, airy_result_get_text(result, "result/radial", &text), AIRY_ERR_FORMAT, "string");
    CHECK_FAILS(c, airy_result_get_text(result, "../a", &text), AIRY_ERR_PARAM, "../a");
}

/* What all rows of a finished file of two dimensions give. */
static void check_planes(struct check *c, airy_result *result)
{
    airy_result_plane plane;
    float rows[2][2 * BINS];
    double sums[2 * BINS], map[6];
    uint64_t index[ROWS];
    int32_t status[ROWS];
    if (CHECK_OK(c, airy_result_find_plane(result, "intensity", &plane)))
        CHECK(c, strcmp(plane.name, "result/intensity") == 0 && plane.dtype == AIRY_DTYPE_F32 &&
                     strcmp(plane.path, "/entry/integrate/result/intensity") == 0 &&
                     plane.has_rows && plane.rows == ROWS && plane.ndim == 2 &&
                     plane.shape[0] == 2 && plane.shape[1] == BINS && plane.cells == 2 * BINS);
    CHECK_OK(c, airy_result_read(result, "intensity", 3, 2, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[0][0] == 3.25f && rows[0][5] == 4.5f && rows[1][0] == 4.25f);
    CHECK_OK(c, airy_result_read(result, "sum_signal", 2, 1, AIRY_DTYPE_F64, sums, sizeof(sums)));
    CHECK(c, sums[0] == 22.5);
    if (CHECK_OK(c, airy_result_find_plane(result, "merged/count", &plane)))
        CHECK(c, !plane.has_rows && plane.rows == 1 && plane.cells == 2 * BINS);
    CHECK_OK(c, airy_result_read(result, "count", 0, 1, AIRY_DTYPE_F64, sums, sizeof(sums)));
    CHECK_OK(c, airy_result_read(result, "index", 0, ROWS, AIRY_DTYPE_U64, index, sizeof(index)));
    CHECK(c, index[0] == 10 && index[5] == 20);
    CHECK_OK(c,
             airy_result_read(result, "status", 0, ROWS, AIRY_DTYPE_I32, status, sizeof(status)));
    CHECK(c, status[0] == 0 && status[1] == 1 && status[2] == 0);
    if (CHECK_OK(c, airy_result_find_plane(result, "map/total", &plane)))
        CHECK(c, !plane.has_rows && plane.ndim == 2 && plane.shape[0] == 2 && plane.shape[1] == 3);
    CHECK_OK(c, airy_result_read(result, "map/total", 0, 1, AIRY_DTYPE_F64, map, sizeof(map)));
    CHECK(c, map[0] == 100 && isnan(map[1]) && map[5] == 105);
    CHECK_OK(c, airy_result_find_plane(result, "sem", &plane));
    CHECK_FAILS(c, airy_result_find_plane(result, "intensity_errors", &plane), AIRY_ERR_NOT_FOUND,
                "intensity_errors");
    CHECK_OK(c, airy_result_find_plane(result, "total", &plane));
    CHECK(c, strcmp(plane.name, "frame/total") == 0); /* before map/total */
}

static void check_axes(struct check *c, const airy_result *result)
{
    airy_result_axis axis;
    if (CHECK_OK(c, airy_result_get_axis(result, 0, &axis)))
        CHECK(c, strcmp(axis.name, "radial") == 0 && axis.count == BINS && axis.values[2] == 2.5 &&
                     strcmp(axis.units, "1/nm") == 0 && strcmp(axis.unit_name, "q_nm^-1") == 0 &&
                     strcmp(axis.path, "/entry/integrate/result/radial") == 0 &&
                     strstr(axis.label, "(1/nm)"));
    if (CHECK_OK(c, airy_result_get_axis(result, 1, &axis)))
        CHECK(c, strcmp(axis.name, "azimuthal") == 0 && axis.count == 2 && axis.values[0] == -90);
    CHECK_FAILS(c, airy_result_get_axis(result, 2, &axis), AIRY_ERR_PARAM, "no axis 2");
}

static void check_complete(struct check *c)
{
    airy_result_info info = {0};
    char message[64];
    if (!check_case(c, "result_complete"))
        return;
    const char *path = name_file(c, "a.h5");
    if (!make_patterns(c, path, true, ROWS))
        return;
    airy_result *result = open_result(c, path, &info);
    CHECK(c, info.kind == AIRY_RESULT_PATTERNS && info.rows == ROWS && info.good == ROWS - 1 &&
                 info.bad == 1 && info.newest == ROWS - 1 && info.axes == 2 && info.complete &&
                 !info.grows && !info.written && strcmp(info.path, path) == 0 &&
                 strcmp(info.signal, "result/intensity") == 0);
    check_planes(c, result);
    check_axes(c, result);
    check_texts(c, result);
    CHECK(c, airy_result_get_row(result, 1) == AIRY_ROW_BAD &&
                 airy_result_get_row(result, 2) == AIRY_ROW_GOOD &&
                 airy_result_get_row(result, ROWS) == AIRY_ROW_PENDING);
    CHECK_OK(c, airy_result_get_message(result, 1, message, sizeof(message)));
    CHECK(c, strcmp(message, "block 1: too short") == 0);
    CHECK_OK(c, airy_result_get_message(result, 1, message, 6));
    CHECK(c, strcmp(message, "block") == 0);
    CHECK_OK(c, airy_result_get_message(result, 2, message, sizeof(message)));
    CHECK(c, *message == 0);
    CHECK_FAILS(c, airy_result_get_message(result, ROWS, message, 6), AIRY_ERR_PARAM, "no row 6");
    airy_result_close(&result);
    CHECK(c, result == NULL);
}

static void check_partial(struct check *c)
{
    airy_result_info info = {0};
    float rows[ROWS][BINS];
    double total[ROWS];
    if (!check_case(c, "result_partial"))
        return;
    const char *path = name_file(c, "a.h5"), *partial = name_beside(c, path, "a.h5.partial");
    if (!make_patterns(c, path, false, 3))
        return;
    airy_result *result = open_result(c, path, &info);
    CHECK(c, strcmp(info.path, partial) == 0 && !info.complete && info.rows == ROWS &&
                 info.good == 2 && info.bad == 1 && info.newest == 2);
    CHECK_OK(c, airy_result_read(result, "intensity", 0, ROWS, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[0][0] == 0.25f && isnan(rows[1][0]) && rows[2][2] == 2.75f);
    CHECK(c, isnan(rows[3][0]) && isnan(rows[5][2])); /* zeros in the file */
    CHECK_OK(c, airy_result_read(result, "total", 0, 3, AIRY_DTYPE_F64, total, sizeof(total)));
    CHECK(c, total[2] == 102);
    /* It gets its name, and the same handle finds it. */
    CHECK(c, rename(partial, path) == 0);
    CHECK_OK(c, airy_result_refresh(result));
    CHECK_OK(c, airy_result_get_info(result, &info));
    CHECK(c, strcmp(info.path, path) == 0 && !info.complete && info.good == 2);
    airy_result_close(&result);
    result = open_result(c, partial, &info); /* as it was called */
    CHECK(c, strcmp(info.path, path) == 0);
    CHECK(c, unlink(path) == 0);
    CHECK_FAILS(c, airy_result_refresh(result), AIRY_ERR_NOT_FOUND, "a.h5");
    CHECK_FAILS(c, airy_result_read(result, "intensity", 2, 1, AIRY_DTYPE_F32, rows, sizeof(rows)),
                AIRY_ERR_IO, "opened again");
    CHECK_OK(c, airy_result_get_info(result, &info));
    CHECK(c, info.rows == ROWS && info.good == 2);
    CHECK(c, make_patterns(c, path, false, ROWS));
    CHECK_OK(c, airy_result_refresh(result));
    CHECK_OK(c, airy_result_read(result, "intensity", 5, 1, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[0][0] == 5.25f);
    airy_result_close(&result);
}

static airy_status write_growing(airy_pattern_growing *file, size_t row, bool bad)
{
    struct values v;
    const struct airy_pattern_row data = row_values(&v, row, bad);
    return airy_pattern_growing_write(file, row, &data, 1);
}

/* Newer snapshots until so many rows are done: they come five times a second. */
static void wait_for(struct check *c, airy_result *result, size_t done, airy_result_info *info)
{
    for (int tries = 0; tries < 3000; tries++) {
        if (airy_result_refresh(result) == AIRY_OK &&
            airy_result_get_info(result, info) == AIRY_OK && info->good + info->bad == done)
            return;
        usleep(20000);
    }
    CHECK_COUNT(c, info->good + info->bad, done); /* they never came */
}

/* All rows that came are done, and more may come: such a file is no input of a merge. */
static void check_growing_merged(struct check *c)
{
    airy_pattern_growing *file = NULL;
    if (!check_case(c, "result_growing_merged"))
        return;
    const char *path = name_file(c, "grow.h5"), *merged = name_file(c, "merged.h5");
    struct airy_pattern_spec spec = spec_of(NULL, 0, false);
    spec.grows = true;
    const struct airy_pattern_numbers numbers = {0, 1};
    if (!CHECK_OK(c, airy_pattern_growing_create(&file, path, &spec, numbers, false, false)))
        return;
    CHECK_OK(c, write_growing(file, 0, false));
    CHECK_OK(c, write_growing(file, 1, false));
    airy_pattern_growing_destroy(&file, true);
    CHECK_FAILS(c, airy_patterns_merge(merged, &path, 1, NULL, NULL), AIRY_ERR_FORMAT,
                "grow.h5.partial' is not complete: more rows may come");
    CHECK(c, access(merged, F_OK) != 0);
}

static void check_growing(struct check *c)
{
    airy_pattern_growing *file = NULL;
    airy_result_info info = {0};
    float rows[4][BINS];
    uint64_t index[4];
    if (!check_case(c, "result_growing"))
        return;
    const char *path = name_file(c, "grow.h5");
    struct airy_pattern_spec spec = spec_of(NULL, 0, false);
    spec.grows = true;
    const struct airy_pattern_numbers numbers = {10, 2};
    if (!CHECK_OK(c, airy_pattern_growing_create(&file, path, &spec, numbers, false, false)))
        return;
    airy_result *result = open_result(c, path, &info);
    CHECK(c, info.grows && info.written && info.rows == 0 && info.newest == SIZE_MAX &&
                 !info.complete);
    CHECK_OK(c, write_growing(file, 0, false));
    CHECK_OK(c, write_growing(file, 1, false));
    CHECK_OK(c, write_growing(file, 3, true));
    if (result)
        wait_for(c, result, 3, &info);
    CHECK(c, info.good == 2 && info.bad == 1 && info.rows == 4 && info.newest == 1);
    CHECK_OK(c, airy_result_read(result, "intensity", 0, 4, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[1][0] == 1.25f && rows[1][1] == 1.5f && rows[1][2] == 1.75f && isnan(rows[2][0]));
    CHECK_OK(c, airy_result_read(result, "index", 0, 4, AIRY_DTYPE_U64, index, sizeof(index)));
    CHECK(c, index[1] == 12);
    CHECK_OK(c, airy_pattern_growing_finish(file));
    airy_pattern_growing_destroy(&file, false);
    CHECK_OK(c, airy_result_refresh(result));
    CHECK_OK(c, airy_result_get_info(result, &info));
    CHECK(c, !info.written && info.good == 2 && info.bad == 1 && info.complete &&
                 strcmp(info.path, path) == 0);
    airy_result_close(&result);
    int fd = -1; /* as one of several writers */
    CHECK_OK(c, airy_file_open_locked(&fd, path, true));
    result = open_result(c, path, &info);
    CHECK(c, info.written && airy_result_is_written(path));
    airy_result_close(&result);
    if (fd >= 0)
        close(fd);
    CHECK(c, !airy_result_is_written(path) && !airy_result_is_written("/nowhere/a.h5"));
}

static void check_linked(struct check *c)
{
    airy_result_info info = {0};
    float rows[2 * ROWS][BINS];
    double total;
    char *text = NULL;
    if (!check_case(c, "result_linked"))
        return;
    const char *parts[2] = {name_file(c, "a.h5")};
    parts[1] = name_beside(c, parts[0], "b.h5");
    const char *all = name_beside(c, parts[0], "all.h5");
    if (!make_patterns(c, parts[0], false, ROWS) || !make_patterns(c, parts[1], false, ROWS) ||
        !CHECK_OK(c, airy_patterns_link(all, parts, 2, false)))
        return;
    airy_result *result = open_result(c, all, &info);
    CHECK(c, info.rows == 2 * ROWS && info.bad == 2 && info.complete);
    CHECK_OK(
        c, airy_result_read(result, "intensity", 0, 2 * ROWS, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[5][0] == 5.25f && rows[8][0] == 2.25f);
    if (CHECK_OK(c, airy_result_get_text(result, "files", &text)))
        CHECK(c, strcmp(text, "a.h5\nb.h5") == 0);
    free(text);
    CHECK(c, !info.written);
    int fd = -1;
    CHECK_OK(c, airy_file_open_locked(&fd, parts[1], true));
    CHECK_OK(c, airy_result_refresh(result));
    CHECK_OK(c, airy_result_get_info(result, &info));
    CHECK(c, info.written);
    if (fd >= 0)
        close(fd);
    airy_result_close(&result);
    CHECK(c, unlink(parts[1]) == 0); /* its rows are pending */
    result = open_result(c, all, &info);
    CHECK(c, info.rows == 2 * ROWS && info.good == ROWS - 1 && info.bad == 1 && !info.complete &&
                 info.newest == ROWS - 1);
    CHECK_OK(
        c, airy_result_read(result, "intensity", 0, 2 * ROWS, AIRY_DTYPE_F32, rows, sizeof(rows)));
    CHECK(c, rows[5][0] == 5.25f && isnan(rows[6][0]) && isnan(rows[11][2]));
    CHECK_FAILS(c,
                airy_result_read(result, "total", ROWS, 1, AIRY_DTYPE_F64, &total, sizeof(total)),
                AIRY_ERR_NOT_FOUND, "b.h5");
    airy_result_close(&result);
}

static void check_sparse(struct check *c)
{
    airy_sparse_writer *writer = NULL;
    airy_result_info info = {0};
    airy_result_plane plane;
    uint32_t index[3];
    float mean[BINS] = {1, 2, 3};
    char message[64], *text = NULL;
    if (!check_case(c, "result_sparse"))
        return;
    const char *path = name_file(c, "peaks.h5");
    const float radius[12] = {0.5f, 1.5f}, ones[12] = {1};
    const uint16_t values[3] = {7, 8, 9};
    const uint32_t places[3] = {1, 4, 11};
    const airy_sparse_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                              .height = 3,
                                              .width = 4,
                                              .bins = BINS,
                                              .unit = AIRY_UNIT_Q_NM,
                                              .radial = radial,
                                              .radius = radius,
                                              .normalization = ones,
                                              .configuration = "{\"a\": 1}"};
    const airy_sparse_frame frames[2] = {
        {.number = 4, .index = places, .intensity = values, .pixels = 3, .mean = mean, .std = mean},
        {.number = 5, .message = "no such chunk"}};
    if (!CHECK_OK(c, airy_sparse_writer_create(&writer, path, &params)))
        return;
    CHECK_OK(c, airy_sparse_writer_add(writer, frames, 2));
    CHECK_OK(c, airy_sparse_writer_finish(writer));
    airy_sparse_writer_destroy(&writer);
    airy_result *result = open_result(c, path, &info);
    CHECK(c, info.kind == AIRY_RESULT_SPARSE && info.rows == 2 && info.good == 1 && info.bad == 1 &&
                 info.axes == 1 && info.complete && !info.grows);
    CHECK_OK(c,
             airy_result_read(result, "background_avg", 0, 1, AIRY_DTYPE_F32, mean, sizeof(mean)));
    CHECK(c, mean[2] == 3);
    if (CHECK_OK(c, airy_result_find_plane(result, "sparse_frames/index", &plane)))
        CHECK(c, !plane.has_rows && plane.rows == 3 && plane.ndim == 0);
    CHECK_OK(c, airy_result_read(result, "sparse_frames/index", 1, 2, AIRY_DTYPE_U32, index,
                                 sizeof(index)));
    CHECK(c, index[0] == 4 && index[1] == 11);
    CHECK_OK(c,
             airy_result_read(result, "frame/index", 1, 1, AIRY_DTYPE_U32, index, sizeof(index)));
    CHECK(c, index[0] == 5);
    CHECK_OK(c, airy_result_get_message(result, 1, message, sizeof(message)));
    CHECK(c, strcmp(message, "no such chunk") == 0);
    if (CHECK_OK(c, airy_result_get_text(result, "configuration", &text)))
        CHECK(c, strcmp(text, "{\"a\": 1}") == 0);
    free(text);
    if (CHECK_OK(c, airy_result_find_plane(result, "nPeaks", &plane)))
        CHECK(c, plane.has_rows && plane.rows == 2);
    airy_result_close(&result);
}

static void check_frames(struct check *c)
{
    airy_frame_writer *writer = NULL;
    airy_result_info info = {0};
    airy_result_plane plane;
    airy_result_axis axis;
    const float frames[2][2][BINS][2] = {{{{1, 2}, {3, 4}}}, {{{5, 6}}, {{7, 8}}}};
    double row[2][BINS][2];
    if (!check_case(c, "result_frames"))
        return;
    const char *path = name_file(c, "oct.h5");
    const airy_frame_writer_params params = {.dtype = AIRY_DTYPE_F32,
                                             .height = 2,
                                             .width = BINS,
                                             .is_complex = true,
                                             .process = "oct",
                                             .signal = "spectrum",
                                             .axis = radial,
                                             .axis_name = "depth",
                                             .axis_units = "um",
                                             .configuration = "{}"};
    if (!CHECK_OK(c, airy_frame_writer_create(&writer, path, &params)))
        return;
    CHECK_OK(c, airy_frame_writer_add(writer, frames, 2));
    CHECK_OK(c, airy_frame_writer_finish(writer));
    airy_frame_writer_destroy(&writer);
    airy_result *result = open_result(c, path, &info);
    CHECK(c, info.kind == AIRY_RESULT_FRAMES && info.rows == 2 && info.good == 2 &&
                 info.newest == 1 && info.axes == 1 && info.planes == 1 && info.complete &&
                 strcmp(info.signal, "result/spectrum") == 0);
    if (CHECK_OK(c, airy_result_get_plane(result, 0, &plane)))
        CHECK(c, plane.is_complex && plane.ndim == 3 && plane.shape[2] == 2 &&
                     plane.cells == 4 * BINS && plane.dtype == AIRY_DTYPE_F32);
    CHECK_OK(c, airy_result_read(result, "spectrum", 1, 1, AIRY_DTYPE_F64, row, sizeof(row)));
    CHECK(c, row[0][0][0] == 5 && row[0][0][1] == 6 && row[1][0][1] == 8 && row[1][2][1] == 0);
    if (CHECK_OK(c, airy_result_get_axis(result, 0, &axis)))
        CHECK(c, strcmp(axis.name, "depth") == 0 && strcmp(axis.units, "um") == 0 &&
                     axis.count == BINS && axis.values[1] == 1.5);
    airy_result_close(&result);
}

static void check_one_image(struct check *c)
{
    airy_result_info info = {0};
    airy_result_plane plane;
    uint16_t pixels[2][BINS] = {{1, 2, 3}, {4, 5, 60000}}, read[2][BINS];
    uint8_t few[2][BINS];
    if (!check_case(c, "result_image"))
        return;
    const char *path = name_file(c, "dark.h5");
    const airy_image image = {
        .dtype = AIRY_DTYPE_U16, .ndim = 2, .shape = {2, BINS}, .data = pixels};
    if (!CHECK_OK(c, airy_image_write(&image, path, false)))
        return;
    airy_result *result = open_result(c, path, &info);
    CHECK(c, info.kind == AIRY_RESULT_IMAGE && info.rows == 0 && info.complete && info.axes == 0);
    if (CHECK_OK(c, airy_result_find_plane(result, "data", &plane)))
        CHECK(c, plane.ndim == 2 && plane.shape[0] == 2 && plane.shape[1] == BINS &&
                     plane.rows == 1 && strcmp(plane.path, "/entry/data/data") == 0);
    CHECK_OK(c, airy_result_read(result, "data", 0, 1, AIRY_DTYPE_U16, read, sizeof(read)));
    CHECK(c, memcmp(read, pixels, sizeof(read)) == 0);
    CHECK_OK(c, airy_result_read(result, "data", 0, 1, AIRY_DTYPE_U8, few, sizeof(few)));
    CHECK(c, few[1][1] == 5 && few[1][2] == UINT8_MAX);
    airy_result_close(&result);
    /* Several are frames, as `airy densify` writes them. */
    const char *stack = name_file(c, "stack.h5");
    const airy_image frames = {
        .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {2, 1, BINS}, .data = pixels};
    if (!CHECK_OK(c, airy_image_write(&frames, stack, false)))
        return;
    result = open_result(c, stack, &info);
    CHECK(c, info.kind == AIRY_RESULT_FRAMES && info.rows == 2 && info.good == 2);
    CHECK_OK(c, airy_result_read(result, "data", 1, 1, AIRY_DTYPE_U16, read, sizeof(read)));
    CHECK(c, read[0][0] == 4 && read[0][2] == 60000);
    airy_result_close(&result);
}

static void check_refusals(struct check *c)
{
    airy_result *result = NULL;
    airy_result_info info;
    airy_result_plane plane;
    float values[2 * BINS];
    double number;
    if (!check_case(c, "result_refusals"))
        return;
    CHECK_FAILS(c, airy_result_open(NULL, "a"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_result_open(&result, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_result_open(&result, "/nowhere/a.h5"), AIRY_ERR_NOT_FOUND, "/nowhere/a.h5");
    CHECK_FAILS(c, airy_result_open(&result, check_tmp(c)), AIRY_ERR_IO, "");
    CHECK(c, result == NULL);
    CHECK_FAILS(c, airy_result_refresh(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_result_get_info(NULL, &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_result_read(NULL, "a", 0, 1, AIRY_DTYPE_F32, values, 4), AIRY_ERR_PARAM,
                "NULL");
    CHECK(c, airy_result_get_row(NULL, 0) == AIRY_ROW_PENDING);
    airy_result_close(&result);
    airy_result_close(NULL);
    const char *path = name_file(c, "a.h5");
    if (!make_patterns(c, path, false, ROWS) || !(result = open_result(c, path, &info)))
        return;
    CHECK_FAILS(c, airy_result_get_plane(result, info.planes, &plane), AIRY_ERR_PARAM, "no plane");
    CHECK_FAILS(c, airy_result_find_plane(result, "result", &plane), AIRY_ERR_NOT_FOUND,
                "'result'");
    const size_t all = sizeof(values);
    CHECK_FAILS(c, airy_result_read(result, "no", 0, 1, AIRY_DTYPE_F32, values, all),
                AIRY_ERR_NOT_FOUND, "'no'");
    CHECK_FAILS(c, airy_result_read(result, "intensity", ROWS, 1, AIRY_DTYPE_F32, values, all),
                AIRY_ERR_PARAM, "has 6 rows, 1 from row 6");
    CHECK_FAILS(c, airy_result_read(result, "intensity", 1, SIZE_MAX, AIRY_DTYPE_F32, values, all),
                AIRY_ERR_PARAM, "too many");
    CHECK_FAILS(c, airy_result_read(result, "intensity", 0, 3, AIRY_DTYPE_F32, values, all),
                AIRY_ERR_PARAM, "more than 24 bytes");
    CHECK_FAILS(c, airy_result_read(result, "intensity", 0, 1, AIRY_DTYPE_I32, values, all),
                AIRY_ERR_DTYPE, "float32");
    CHECK_FAILS(c, airy_result_read(result, "message", 0, 1, AIRY_DTYPE_F32, values, all),
                AIRY_ERR_DTYPE, "texts");
    CHECK_FAILS(c, airy_result_read(result, "count", 1, 1, AIRY_DTYPE_F64, &number, sizeof(number)),
                AIRY_ERR_PARAM, "has 1 rows");
    CHECK_OK(c, airy_result_read(result, "intensity", ROWS, 0, AIRY_DTYPE_F32, values, 0));
    airy_result_close(&result);
    CHECK(c, strcmp(airy_result_kind_name(AIRY_RESULT_SPARSE), "sparse") == 0 &&
                 strcmp(airy_result_kind_name(AIRY_RESULT_COUNT), "?") == 0);
}

/* ---- hostile files ---- */

static void put(hid_t file, const char *path, hid_t type, int ndim, const hsize_t *shape,
                bool chunked)
{
    const hsize_t chunk[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(ndim, shape, NULL);
    H5Pset_create_intermediate_group(links, 1);
    if (chunked)
        H5Pset_chunk(creation, ndim, chunk);
    H5Dclose(H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(links);
}

struct hostile {
    const char *path; /* of the dataset that is not as it should be; NULL: none */
    int ndim;
    hsize_t shape[6];
    airy_status status;
    const char *part;
};

static void make_hostile(const char *path, const struct hostile *h)
{
    static const char *const names[] = {"/entry/integrate/frame/status",
                                        "/entry/integrate/result/intensity",
                                        "/entry/integrate/result/radial"};
    static const hsize_t shapes[3][2] = {{2}, {2, BINS}, {BINS}};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t i = 0; i < 3; i++)
        if (!h->path || strcmp(h->path, names[i]) != 0)
            put(file, names[i], i ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, i == 1 ? 2 : 1, shapes[i],
                false);
    if (h->path && h->ndim)
        put(file, h->path, H5T_NATIVE_DOUBLE, h->ndim, h->shape, true);
    H5Fclose(file);
}

static void check_hostile(struct check *c)
{
    static const char status[] = "/entry/integrate/frame/status",
                      intensity[] = "/entry/integrate/result/intensity",
                      radius[] = "/entry/integrate/result/radial";
    static const struct hostile files[] = {
        {NULL, 0, {0}, AIRY_OK, ""},
        {status, 1, {(hsize_t)1 << 40}, AIRY_ERR_FORMAT, "frame/status"},
        {status, 2, {2, 1}, AIRY_ERR_FORMAT, "frame/status"},
        {status, 1, {3}, AIRY_ERR_FORMAT, "number of rows"},
        {intensity, 0, {0}, AIRY_ERR_FORMAT, "lacks"},
        {intensity, 1, {2}, AIRY_ERR_FORMAT, "another shape"},
        {intensity, 6, {2, 1, 1, 1, 1, 1}, AIRY_ERR_FORMAT, "another shape"},
        {intensity, 2, {2, (hsize_t)1 << 60}, AIRY_ERR_FORMAT, "another shape"},
        {radius, 0, {0}, AIRY_ERR_FORMAT, "has no"},
        {radius, 2, {BINS, 1}, AIRY_ERR_FORMAT, "another shape"},
        {"/entry/integrate/merged/huge",
         5,
         {2, (hsize_t)1 << 30, (hsize_t)1 << 30, 8, 8},
         AIRY_OK,
         ""},
        {"/entry/integrate/frame/deep", 6, {1, 1, 1, 1, 1, 1}, AIRY_OK, ""}};
    airy_result *result = NULL;
    airy_result_plane plane;
    if (!check_case(c, "result_hostile"))
        return;
    const char *path = name_file(c, "hostile.h5");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        make_hostile(path, &files[i]);
        if (files[i].status == AIRY_OK && CHECK_OK(c, airy_result_open(&result, path))) {
            CHECK_FAILS(c, airy_result_find_plane(result, "huge", &plane), AIRY_ERR_NOT_FOUND, "");
            CHECK_FAILS(c, airy_result_find_plane(result, "deep", &plane), AIRY_ERR_NOT_FOUND, "");
        } else if (files[i].status != AIRY_OK) {
            CHECK_FAILS(c, airy_result_open(&result, path), files[i].status, files[i].part);
        }
        airy_result_close(&result);
    }
}

/* Links to elsewhere and types that no plane has are passed over; too many datasets are refused. */
static void check_links(struct check *c)
{
    airy_result *result = NULL;
    airy_result_info info = {0};
    const hsize_t shape[1] = {2};
    char name[64];
    if (!check_case(c, "result_links"))
        return;
    const char *path = name_file(c, "links.h5");
    make_hostile(path, &(struct hostile){0});
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_INT32);
    put(file, "/entry/integrate/frame/message", text, 1, shape, false);
    put(file, "/entry/integrate/frame/pair", pair, 1, shape, false);
    H5Tclose(text);
    H5Tclose(pair);
    H5Lcreate_external("/nowhere/else.h5", "/a", file, "/entry/integrate/frame/away", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Lcreate_soft("/entry/integrate/frame/loop", file, "/entry/integrate/frame/loop", H5P_DEFAULT,
                   H5P_DEFAULT);
    H5Lcreate_hard(file, "/entry", file, "/entry/integrate/frame/circle", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    char message[8] = "old";
    if ((result = open_result(c, path, &info))) {
        CHECK_COUNT(c, info.planes, 2); /* intensity and status */
        CHECK_OK(c, airy_result_get_message(result, 0, message, sizeof(message)));
        CHECK(c, *message == 0);
    }
    airy_result_close(&result);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 0; i < 520; i++) {
        snprintf(name, sizeof(name), "/entry/integrate/frame/column%d", i);
        put(file, name, H5T_NATIVE_DOUBLE, 1, shape, false);
    }
    H5Fclose(file);
    CHECK_FAILS(c, airy_result_open(&result, path), AIRY_ERR_FORMAT, "more than 512 datasets");
}

/* ---- time ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The shortest time in which one row is read, of many, at random places; s. */
static double time_row(struct check *c, const char *name, size_t rows)
{
    enum { TRIES = 300 };
    airy_pattern_file *file = NULL;
    airy_result_info info;
    float values[BINS];
    double least = (double)INFINITY;
    const char *path = name_file(c, name);
    uint64_t *index = check_alloc(c, rows * sizeof(*index));
    const struct airy_pattern_spec spec = spec_of(index, rows, false);
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &spec, false, false)))
        return least;
    for (size_t row = 0; row < rows; row++)
        if (!CHECK_OK(c, write_row(file, row, false)))
            break;
    CHECK_OK(c, airy_pattern_file_finish(file, NULL));
    airy_pattern_file_destroy(&file, false);
    airy_result *result = open_result(c, path, &info);
    for (size_t i = 0; result && i < TRIES; i++) {
        const size_t row = i * 7919 % rows;
        const double begin = seconds();
        CHECK_OK(c, airy_result_read(result, "intensity", row, 1, AIRY_DTYPE_F32, values,
                                     sizeof(values)));
        least = fmin(least, seconds() - begin);
        CHECK(c, values[0] == (float)row + 0.25f);
    }
    airy_result_close(&result);
    return least;
}

/* Reading a row takes as long in a result of 10^5 rows as in one of 10; twice is allowed. */
static void check_row_time(struct check *c)
{
    if (!check_case(c, "result_row_time"))
        return;
    const double few = time_row(c, "few.h5", 10), many = time_row(c, "many.h5", 100000);
    if (!CHECK(c, many < 2 * few + 20e-6))
        printf("# %.1f us of 10 rows, %.1f us of 100000\n", 1e6 * few, 1e6 * many);
}

void check_result(struct check *c)
{
    /* No device takes part: once is enough. */
    if (!c->is_cpu)
        return;
    check_complete(c);
    check_partial(c);
    check_growing(c);
    check_growing_merged(c);
    check_linked(c);
    check_sparse(c);
    check_frames(c);
    check_one_image(c);
    check_refusals(c);
    check_hostile(c);
    check_links(c);
    check_row_time(c);
}
