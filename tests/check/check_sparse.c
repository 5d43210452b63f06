/* Files of sparse frames: written, read, hostile; frames put together again; stacks into them. */
#include "airy/peaks_stack.h"
#include "airy/sparse.h"
#include "check.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5/util.h"

enum { ROWS = 23, COLUMNS = 31, COUNT = ROWS * COLUMNS, BINS = 7, FRAMES = 3 };

/* A file's content, from random numbers. */
struct model {
    airy_sparse_writer_params params;
    double radial[BINS];
    float radius[COUNT], normalization[COUNT], dark[COUNT], mean[FRAMES][BINS], std[FRAMES][BINS];
    uint32_t index[FRAMES][COUNT];
    uint8_t values[FRAMES][COUNT * 8];
    airy_peak peaks[FRAMES][5];
    airy_sparse_frame frames[FRAMES];
};

static struct model *make_model(struct check *c, airy_dtype dtype)
{
    struct model *m = check_alloc(c, sizeof *m);
    for (size_t b = 0; b < BINS; b++)
        m->radial[b] = 0.5 + (double)b;
    for (size_t i = 0; i < COUNT; i++) {
        m->radius[i] = i % 29 == 5 ? NAN : (float)(check_uniform(c) * (BINS + 1));
        m->normalization[i] = (float)(0.5 + check_uniform(c));
        m->dark[i] = (float)(2 * check_uniform(c));
    }
    m->params = (airy_sparse_writer_params){.dtype = dtype,
                                            .height = ROWS,
                                            .width = COLUMNS,
                                            .bins = BINS,
                                            .unit = AIRY_UNIT_Q_NM,
                                            .radial = m->radial,
                                            .radius = m->radius,
                                            .normalization = m->normalization,
                                            .dark = m->dark,
                                            .dummy = airy_dtype_is_float(dtype) ? -7.5 : 120,
                                            .configuration = "{\"program\": \"test\"}"};
    for (size_t f = 0; f < FRAMES; f++) {
        size_t n = 0;
        for (size_t b = 0; b < BINS; b++) {
            m->mean[f][b] = (float)(1 + 40 * check_uniform(c));
            m->std[f][b] = (float)(1 + 5 * check_uniform(c));
        }
        for (size_t i = 0; i < COUNT; i++)
            if (check_rand_u64(c) % 11 < f * 3) {
                m->index[f][n] = (uint32_t)i;
                check_put(m->values[f], dtype, n++, (double)(check_rand_u64(c) % 128));
            }
        for (size_t k = 0; k < 5; k++)
            m->peaks[f][k] = (airy_peak){.y = (float)k,
                                         .x = (float)(10 * f + k),
                                         .intensity = 5,
                                         .sigma = 2,
                                         .snr = 2.5f,
                                         .pixels = 3};
        m->frames[f] = (airy_sparse_frame){.number = 10 + 2 * f,
                                           .index = m->index[f],
                                           .intensity = m->values[f],
                                           .pixels = n,
                                           .peaks = m->peaks[f],
                                           .peak_count = 2 * f,
                                           .mean = m->mean[f],
                                           .std = m->std[f]};
    }
    return m;
}

static const char *path_of(struct check *c, const char *name)
{
    char *path = check_alloc(c, 4200);
    snprintf(path, 4200, "%s/%s", check_tmp(c), name);
    return path;
}

static bool write_model(struct check *c, const struct model *m, const char *path, size_t batch)
{
    airy_sparse_writer *w = NULL;
    bool done = CHECK_OK(c, airy_sparse_writer_create(&w, path, &m->params));
    for (size_t f = 0; done && f < FRAMES; f += batch)
        done = CHECK_OK(
            c, airy_sparse_writer_add(w, m->frames + f, FRAMES - f < batch ? FRAMES - f : batch));
    done = done && CHECK_OK(c, airy_sparse_writer_finish(w));
    airy_sparse_writer_destroy(&w);
    return done;
}

/* The background of pixel i, by a search from the first bin. */
static double background(const struct model *m, size_t f, size_t i)
{
    const double r = (double)m->radius[i];
    double b = (double)m->mean[f][BINS - 1];
    if (r <= m->radial[0])
        b = (double)m->mean[f][0];
    for (size_t k = 0; k + 1 < BINS; k++)
        if (r > m->radial[k] && r <= m->radial[k + 1]) {
            const double t = (r - m->radial[k]) / (m->radial[k + 1] - m->radial[k]);
            b = (1 - t) * (double)m->mean[f][k] + t * (double)m->mean[f][k + 1];
        }
    return b * (double)m->normalization[i] + (double)m->dark[i];
}

static void compare_frame(struct check *c, const struct model *m, const airy_sparse *s, size_t f)
{
    const airy_dtype dtype = m->params.dtype;
    const size_t elem = airy_dtype_size(dtype);
    uint8_t *got = check_alloc(c, COUNT * elem), *want = check_alloc(c, COUNT * elem);
    uint8_t *doubtful = check_alloc(c, COUNT);
    if (!CHECK_OK(c, airy_sparse_densify(s, f, got, COUNT * elem, NULL)))
        return;
    for (size_t i = 0; i < COUNT; i++) {
        double v = isnan(m->radius[i]) ? m->params.dummy : background(m, f, i);
        /* the place between bins is kept in f32 */
        doubtful[i] = (uint8_t)!isnan(m->radius[i]);
        if (!airy_dtype_is_float(dtype)) {
            if (fabs(v - floor(v) - 0.5) >= 1e-5 * v)
                doubtful[i] = 0;
            v = floor(v + 0.5);
        }
        check_put(want, dtype, i, v);
    }
    for (size_t k = 0; k < m->frames[f].pixels; k++) {
        memcpy(want + m->index[f][k] * elem, m->values[f] + k * elem, elem);
        doubtful[m->index[f][k]] = 0;
    }
    const struct check_tol close = {.rel = 1e-5, .abs = airy_dtype_is_float(dtype) ? 1e-5 : 1};
    for (size_t i = 0; i < COUNT; i++)
        check_values(c, doubtful[i] ? "background" : "kept, masked or whole", dtype, got + i * elem,
                     want + i * elem, 1, doubtful[i] ? &close : NULL);
}

/* Where fabio 2026.6 and densify_Bragg of pyFAI look for the configuration: a note of JSON. */
static void check_note(struct check *c, const char *path, const char *configuration)
{
    char *text = NULL;
    if (CHECK_OK(c, airy_hdf5_text(&text, path, "/entry/sparsify/configuration/data")))
        CHECK(c, strcmp(text, configuration) == 0);
    free(text);
    text = NULL;
    if (CHECK_OK(c, airy_hdf5_text(&text, path, "/entry/sparsify/configuration/type")))
        CHECK(c, strcmp(text, "text/json") == 0);
    free(text);
}

static void check_round_trip(struct check *c, airy_dtype dtype, size_t batch)
{
    if (!check_case(c, "sparse_%s_b%zu", airy_dtype_name(dtype), batch))
        return;
    const struct model *m = make_model(c, dtype);
    const char *path = path_of(c, "a.h5");
    airy_sparse *s = NULL;
    airy_sparse_info info;
    if (!write_model(c, m, path, batch) || !CHECK_OK(c, airy_sparse_create(&s, path)) ||
        !CHECK_OK(c, airy_sparse_get_info(s, &info)))
        return;
    size_t kept = 0, masked = 0;
    uint8_t mask[COUNT];
    for (size_t f = 0; f < FRAMES; f++)
        kept += m->frames[f].pixels;
    CHECK_OK(c, airy_sparse_mask(s, mask));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(c, mask[i] == isnan(m->radius[i]));
        masked += mask[i];
    }
    CHECK(c, info.frames == FRAMES && info.height == ROWS && info.width == COLUMNS &&
                 info.bins == BINS && info.dtype == dtype && info.pixels == kept &&
                 info.masked == masked && info.dummy == m->params.dummy && info.has_normalization &&
                 info.has_dark);
    CHECK(c, strcmp(info.configuration, "{\"program\": \"test\"}") == 0);
    check_note(c, path, info.configuration);
    for (size_t f = 0; f < FRAMES; f++)
        compare_frame(c, m, s, f);
    airy_sparse_destroy(&s);
}

/* Tables of peaks by CXI's names: as wide as the frame with most, the rest 0. */
static void check_peak_tables(struct check *c)
{
    if (!check_case(c, "sparse_peak_tables"))
        return;
    const struct model *m = make_model(c, AIRY_DTYPE_U32);
    const char *path = path_of(c, "a.h5");
    float x[FRAMES][4];
    int32_t count[FRAMES];
    if (!write_model(c, m, path, 1) || !CHECK_OK(c, airy_hdf5_lock()))
        return;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
                table = H5Dopen2(file, "/entry/peaks/peakXPosRaw", H5P_DEFAULT),
                counts = H5Dopen2(file, "/entry/peaks/nPeaks", H5P_DEFAULT),
                space = H5Dget_space(table);
    hsize_t shape[2];
    CHECK(c, H5Sget_simple_extent_dims(space, shape, NULL) == 2 && shape[0] == FRAMES &&
                 shape[1] == 4);
    CHECK(c, H5Dread(table, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0 &&
                 H5Dread(counts, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, count) >= 0);
    for (size_t f = 0; f < FRAMES; f++) {
        CHECK(c, count[f] == (int32_t)(2 * f));
        for (size_t k = 0; k < 4; k++)
            CHECK(c, x[f][k] == (k < 2 * f ? (float)(10 * f + k) : 0));
    }
    H5Sclose(space);
    H5Dclose(counts);
    H5Dclose(table);
    H5Fclose(file);
    airy_hdf5_unlock();
}

static void check_noise(struct check *c)
{
    if (!check_case(c, "sparse_noise"))
        return;
    struct model *m = make_model(c, AIRY_DTYPE_F64);
    const char *path = path_of(c, "a.h5");
    m->params.dark = NULL;
    airy_sparse *s = NULL;
    double *a = check_alloc(c, COUNT * sizeof *a), *b = check_alloc(c, COUNT * sizeof *b),
           *smooth = check_alloc(c, COUNT * sizeof *smooth);
    if (!write_model(c, m, path, FRAMES) || !CHECK_OK(c, airy_sparse_create(&s, path)))
        return;
    CHECK_OK(c, airy_sparse_densify(s, 0, smooth, COUNT * sizeof *a, NULL));
    for (int noise = AIRY_DENSIFY_POISSON; noise <= AIRY_DENSIFY_GAUSSIAN; noise++) {
        airy_densify_params params = {.noise = (airy_densify_noise)noise, .seed = 7};
        double sum = 0, variance = 0, expected = 0;
        CHECK_OK(c, airy_sparse_densify(s, 0, a, COUNT * sizeof *a, &params));
        CHECK_OK(c, airy_sparse_densify(s, 0, b, COUNT * sizeof *b, &params));
        CHECK(c, memcmp(a, b, COUNT * sizeof *a) == 0);
        params.seed = 8;
        CHECK_OK(c, airy_sparse_densify(s, 0, b, COUNT * sizeof *b, &params));
        CHECK(c, memcmp(a, b, COUNT * sizeof *a) != 0);
        for (size_t i = 0; i < COUNT; i++) {
            if (isnan(m->radius[i])) {
                CHECK(c, a[i] == -7.5);
                continue;
            }
            const double n = (double)m->normalization[i];
            sum += a[i] - smooth[i];
            variance += (a[i] - smooth[i]) * (a[i] - smooth[i]);
            /* the ring's deviation lies between 1 and 6 */
            expected += noise == AIRY_DENSIFY_POISSON ? smooth[i] : 3.5 * 3.5 * n * n;
            CHECK(c, noise != AIRY_DENSIFY_POISSON || (a[i] >= 0 && a[i] == floor(a[i])));
        }
        /* of some 690 draws: five standard deviations of a sum; the variance within its bounds */
        CHECK(c, fabs(sum) < 5 * sqrt(variance));
        CHECK(c, variance > 0.5 * expected && variance < 2 * expected);
    }
    airy_sparse_destroy(&s);
}

static void check_bad_frame(struct check *c)
{
    if (!check_case(c, "sparse_bad_frame"))
        return;
    struct model *m = make_model(c, AIRY_DTYPE_U16);
    const char *path = path_of(c, "a.h5");
    m->frames[1] = (airy_sparse_frame){.number = 5, .message = "it was torn"};
    airy_sparse *s = NULL;
    uint16_t *frame = check_alloc(c, COUNT * sizeof *frame);
    if (!write_model(c, m, path, 2) || !CHECK_OK(c, airy_sparse_create(&s, path)))
        return;
    CHECK_FAILS(c, airy_sparse_densify(s, 1, frame, COUNT * sizeof *frame, NULL), AIRY_ERR_CORRUPT,
                "frame 1 has no background");
    compare_frame(c, m, s, 2);
    airy_sparse_destroy(&s);
}

static void check_writer_refusals(struct check *c)
{
    if (!check_case(c, "sparse_writer_refusals"))
        return;
    struct model *m = make_model(c, AIRY_DTYPE_U32);
    const char *path = path_of(c, "a.h5");
    const airy_sparse_writer_params good = m->params;
    airy_sparse_writer *w = NULL;
    airy_sparse_writer_params p = good;
    CHECK_FAILS(c, airy_sparse_writer_create(NULL, path, &p), AIRY_ERR_PARAM, "missing");
    p.dtype = AIRY_DTYPE_U64;
    CHECK_FAILS(c, airy_sparse_writer_create(&w, path, &p), AIRY_ERR_DTYPE, "dtype = uint64");
    p = good;
    p.width = 0;
    CHECK_FAILS(c, airy_sparse_writer_create(&w, path, &p), AIRY_ERR_SHAPE, "23 x 0");
    p = good;
    p.bins = 0;
    CHECK_FAILS(c, airy_sparse_writer_create(&w, path, &p), AIRY_ERR_PARAM, "bins = 0");
    p = good;
    p.radius = NULL;
    CHECK_FAILS(c, airy_sparse_writer_create(&w, path, &p), AIRY_ERR_PARAM, "radius is NULL");
    CHECK_FAILS(c, airy_sparse_writer_create(&w, "/nowhere/at/all.h5", &good), AIRY_ERR_IO,
                "/nowhere/at");
    if (!CHECK_OK(c, airy_sparse_writer_create(&w, path, &good)))
        return;
    CHECK_FAILS(c, airy_sparse_writer_finish(w), AIRY_ERR_PARAM, "no frame was added");
    m->index[1][2] = COUNT;
    CHECK_FAILS(c, airy_sparse_writer_add(w, &m->frames[1], 1), AIRY_ERR_PARAM,
                "index[2] = 713, expected below 713");
    m->frames[2].mean = NULL;
    CHECK_FAILS(c, airy_sparse_writer_add(w, &m->frames[2], 1), AIRY_ERR_PARAM, "lacks an array");
    m->frames[0].pixels = COUNT + 1;
    CHECK_FAILS(c, airy_sparse_writer_add(w, m->frames, 1), AIRY_ERR_PARAM, "has 714 pixels");
    airy_sparse_writer_destroy(&w);
    CHECK(c, access(path, F_OK) != 0);
    CHECK_FAILS(c, airy_sparse_writer_add(NULL, m->frames, 1), AIRY_ERR_PARAM, "no open writer");
    CHECK_FAILS(c, airy_sparse_writer_finish(NULL), AIRY_ERR_PARAM, "no open writer");
    m = make_model(c, AIRY_DTYPE_U32);
    write_model(c, m, path, 1);
    CHECK_FAILS(c, airy_sparse_writer_create(&w, path, &good), AIRY_ERR_EXISTS, "is there already");
    m->params.force = true;
    write_model(c, m, path, 1);
    airy_sparse_writer_destroy(NULL);
}

/* Replace a dataset of a sound file by one of other values. */
static void replace(struct check *c, const char *path, const char *name, hid_t type, int ndim,
                    const hsize_t *shape, const void *values)
{
    char full[100];
    snprintf(full, sizeof full, "/entry/sparse_frames/%s", name);
    if (!CHECK_OK(c, airy_hdf5_lock()))
        return;
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(c, file >= 0 && H5Ldelete(file, full, H5P_DEFAULT) >= 0);
    if (values) {
        const hid_t space = H5Screate_simple(ndim, shape, NULL),
                    dataset =
                        H5Dcreate2(file, full, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(c,
              dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Fclose(file);
    airy_hdf5_unlock();
}

static void check_hostile(struct check *c)
{
    static const int64_t down[4] = {0, 5, 3, 5}, low[4] = {-1, 0, 0, 0},
                         far[4] = {0, 1, 2, 1000000}, many[4] = {0, 900, 900, 900};
    static const double bins[BINS] = {1, 2, 3, 3, 4, 5, 6},
                        nan_bins[BINS] = {1, NAN, 3, 4, 5, 6, 7};
    static const float zeros[COUNT];
    static const uint32_t indices[2000] = {[0] = COUNT, [1] = UINT32_MAX};
    static const struct {
        const char *name;
        int type; /* 0 i64, 1 f64, 2 f32, 3 u32 */
        int ndim;
        hsize_t shape[2];
        const void *values;
        airy_status status;
        const char *part;
    } rows[] = {
        {"frame_ptr", 0, 1, {4}, down, AIRY_ERR_CORRUPT, "frame_ptr[2] = 3, expected ascending"},
        {"frame_ptr", 0, 1, {4}, low, AIRY_ERR_CORRUPT, "expected ascending from 0"},
        {"frame_ptr", 0, 1, {4}, far, AIRY_ERR_SHAPE, "frame_ptr gives 1000000"},
        {"frame_ptr", 0, 1, {1}, far, AIRY_ERR_SHAPE, "expected 2 to 2^28"},
        {"frame_ptr", 0, 2, {2, 2}, far, AIRY_ERR_SHAPE, "in 2 dimensions"},
        {"frame_ptr", 0, 0, {0}, NULL, AIRY_ERR_FORMAT, "frame_ptr is not there"},
        {"radius", 1, 1, {BINS}, bins, AIRY_ERR_CORRUPT, "radius[3] = 3, expected ascending"},
        {"radius", 1, 1, {BINS}, nan_bins, AIRY_ERR_CORRUPT, "radius[1] = nan"},
        {"radius", 1, 1, {BINS - 1}, nan_bins + 1, AIRY_ERR_CORRUPT, "radius[0] = nan"},
        {"radius", 1, 1, {BINS - 2}, nan_bins + 2, AIRY_ERR_SHAPE, "expected [3, 5]"},
        {"mask", 2, 1, {COUNT}, zeros, AIRY_ERR_SHAPE, "mask has 1 dimension,"},
        {"normalization",
         2,
         2,
         {ROWS, COLUMNS - 1},
         zeros,
         AIRY_ERR_SHAPE,
         "is 23 x 30, mask is 23 x 31"},
        {"index", 2, 1, {COUNT}, zeros, AIRY_ERR_FORMAT, "index is float32, expected integers"},
        {"index", 3, 1, {1}, indices, AIRY_ERR_SHAPE, "frame_ptr gives"},
        {"intensity", 0, 1, {4}, down, AIRY_ERR_SHAPE, "frame_ptr gives"},
        {"background_avg", 2, 1, {COUNT}, zeros, AIRY_ERR_SHAPE, "expected [3, 7]"},
        {"dummy", 0, 1, {4}, down, AIRY_ERR_SHAPE, "expected one number"},
    };
    if (!check_case(c, "sparse_hostile"))
        return;
    const struct model *m = make_model(c, AIRY_DTYPE_U32);
    const hid_t types[] = {H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT,
                           H5T_NATIVE_UINT32};
    uint32_t *frame = check_alloc(c, COUNT * sizeof *frame);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[20];
        snprintf(name, sizeof name, "h%zu.h5", i);
        const char *path = path_of(c, name);
        airy_sparse *s = NULL;
        write_model(c, m, path, FRAMES);
        replace(c, path, rows[i].name, types[rows[i].type], rows[i].ndim, rows[i].shape,
                rows[i].values);
        CHECK_FAILS(c, airy_sparse_create(&s, path), rows[i].status, rows[i].part);
        airy_sparse_destroy(&s);
    }
    /* what is found out when a frame is read */
    const char *path = path_of(c, "frame.h5");
    const hsize_t long_list = 2000, four = 4;
    airy_sparse *s = NULL;
    write_model(c, m, path, FRAMES);
    replace(c, path, "index", H5T_NATIVE_UINT32, 1, &long_list, indices);
    if (CHECK_OK(c, airy_sparse_create(&s, path)))
        CHECK_FAILS(c, airy_sparse_densify(s, 1, frame, COUNT * sizeof *frame, NULL),
                    AIRY_ERR_CORRUPT, "index 713, expected below 713");
    airy_sparse_destroy(&s);
    replace(c, path, "frame_ptr", H5T_NATIVE_INT64, 1, &four, many);
    replace(c, path, "intensity", H5T_NATIVE_UINT32, 1, &long_list, indices);
    if (CHECK_OK(c, airy_sparse_create(&s, path)))
        CHECK_FAILS(c, airy_sparse_densify(s, 0, frame, COUNT * sizeof *frame, NULL),
                    AIRY_ERR_CORRUPT, "frame 0 has 900 kept pixels of 713");
    airy_sparse_destroy(&s);
}

/* Chunks that are shorter than their shape: libhdf5 would copy from behind them. */
static void check_short_chunks(struct check *c)
{
    static const struct {
        const char *name;
        int ndim;
        hsize_t shape[2];
    } rows[] = {{"frame_ptr", 1, {FRAMES + 1}},
                {"radius", 1, {BINS}},
                {"mask", 2, {ROWS, COLUMNS}},
                {"dummy", 1, {1}},
                {"background_avg", 2, {FRAMES, BINS}},
                {"index", 1, {2000}},
                {"intensity", 1, {2000}}};
    if (!check_case(c, "sparse_short_chunks"))
        return;
    const struct model *m = make_model(c, AIRY_DTYPE_U32);
    uint32_t *frame = check_alloc(c, COUNT * sizeof *frame);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[100];
        snprintf(name, sizeof name, "s%zu.h5", i);
        const char *path = path_of(c, name);
        write_model(c, m, path, FRAMES);
        replace(c, path, rows[i].name, H5T_NATIVE_UINT32, 0, NULL, NULL);
        snprintf(name, sizeof name, "/entry/sparse_frames/%s", rows[i].name);
        if (!CHECK_OK(c, airy_hdf5_lock()))
            return;
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                    creation = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple(rows[i].ndim, rows[i].shape, NULL);
        H5Pset_chunk(creation, rows[i].ndim, rows[i].shape);
        const hid_t dataset =
            H5Dcreate2(file, name, H5T_NATIVE_UINT32, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[2]){0, 0}, 3, "abc");
        H5Dclose(dataset);
        H5Sclose(space);
        H5Pclose(creation);
        H5Fclose(file);
        airy_hdf5_unlock();
        airy_sparse *s = NULL;
        airy_status status = airy_sparse_create(&s, path);
        if (status == AIRY_OK)
            status = airy_sparse_densify(s, 1, frame, COUNT * sizeof *frame, NULL);
        CHECK(c, status == AIRY_ERR_CORRUPT && strstr(airy_last_error(), "a stored chunk has 3"));
        CHECK(c, strstr(airy_last_error(), rows[i].name) || strstr(airy_last_error(), path));
        airy_sparse_destroy(&s);
    }
}

static void check_reader_refusals(struct check *c)
{
    if (!check_case(c, "sparse_reader_refusals"))
        return;
    const struct model *m = make_model(c, AIRY_DTYPE_U32);
    const char *path = path_of(c, "a.h5");
    airy_sparse *s = NULL;
    airy_sparse_info info;
    uint32_t *frame = check_alloc(c, COUNT * sizeof *frame);
    const size_t size = COUNT * sizeof *frame;
    CHECK_FAILS(c, airy_sparse_create(NULL, path), AIRY_ERR_PARAM, "sparse is missing");
    CHECK_FAILS(c, airy_sparse_create(&s, ""), AIRY_ERR_PARAM, "path is missing");
    CHECK_FAILS(c, airy_sparse_create(&s, path), AIRY_ERR_NOT_FOUND, "a.h5");
    CHECK_FAILS(c, airy_sparse_get_info(NULL, &info), AIRY_ERR_PARAM, "sparse is NULL");
    CHECK_FAILS(c, airy_sparse_mask(NULL, NULL), AIRY_ERR_PARAM, "sparse is NULL");
    CHECK_FAILS(c, airy_sparse_densify(NULL, 0, frame, size, NULL), AIRY_ERR_PARAM,
                "sparse is NULL");
    if (!write_model(c, m, path, 1) || !CHECK_OK(c, airy_sparse_create(&s, path)))
        return;
    const airy_densify_params odd = {.noise = (airy_densify_noise)9};
    CHECK_FAILS(c, airy_sparse_get_info(s, NULL), AIRY_ERR_PARAM, "info is NULL");
    CHECK_FAILS(c, airy_sparse_mask(s, NULL), AIRY_ERR_PARAM, "mask is NULL");
    CHECK_FAILS(c, airy_sparse_densify(s, 3, frame, size, NULL), AIRY_ERR_PARAM, "frame = 3");
    CHECK_FAILS(c, airy_sparse_densify(s, 0, NULL, size, NULL), AIRY_ERR_PARAM, "pixels is NULL");
    CHECK_FAILS(c, airy_sparse_densify(s, 0, frame, size - 1, NULL), AIRY_ERR_SHAPE,
                "expected 2852 bytes");
    CHECK_FAILS(c, airy_sparse_densify(s, 0, frame, size, &odd), AIRY_ERR_PARAM, "noise = 9");
    airy_sparse_destroy(&s);
    airy_sparse_destroy(NULL);
}

/* A stack with spots, and a finder for it. */
enum { HIGH = 60, WIDE = 70, PIXELS = HIGH * WIDE, STACK = 11 };
struct run {
    airy_geometry geometry;
    airy_stack *stack;
    airy_integrator *integrator;
    airy_peak_finder *finder;
    uint16_t *frames; /* [STACK][PIXELS] */
};

static bool write_stack(struct check *c, struct run *r, const char *path, bool torn)
{
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 2};
    const airy_stack_writer_params params = {
        .dtype = AIRY_DTYPE_U16, .frames = STACK, .height = HIGH, .width = WIDE, .codec = codec};
    const size_t size = PIXELS * sizeof *r->frames, bound = airy_encode_bound(size, &codec);
    uint8_t *chunk = check_alloc(c, bound);
    airy_stack_writer *w = NULL;
    r->frames = check_alloc(c, STACK * size);
    bool done = CHECK_OK(c, airy_stack_writer_create(&w, path, &params));
    for (size_t f = 0; done && f < STACK; f++) {
        uint16_t *frame = r->frames + f * PIXELS;
        for (size_t i = 0; i < PIXELS; i++)
            frame[i] = (uint16_t)fmax(0, 40 + sqrt(40) * check_normal(c));
        for (size_t k = 0; k < 6; k++) {
            const size_t at = (2 + check_rand_u64(c) % (HIGH - 4)) * WIDE + 2 +
                              check_rand_u64(c) % (WIDE - 4);
            frame[at] += 400;
            frame[at + 1] += 200;
            frame[at + WIDE] += 150;
        }
        size_t used = bound;
        done = CHECK_OK(c, airy_encode(chunk, &used, frame, size, &codec));
        if (torn && f == 4) /* a token that asks for more than there is */
            memset(chunk + 16, 0xff, used - 16);
        done = done && CHECK_OK(c, airy_stack_writer_add(w, f, chunk, used));
    }
    done = done && CHECK_OK(c, airy_stack_writer_finish(w));
    airy_stack_writer_destroy(&w);
    return done;
}

static bool open_run(struct check *c, struct run *r, const char *path, bool torn)
{
    const airy_integrator_params params = {.bins = 20,
                                           .split = AIRY_SPLIT_NO,
                                           .error_model = AIRY_ERROR_MODEL_POISSON,
                                           .unit = AIRY_UNIT_TTH_DEG};
    r->geometry = (airy_geometry){.detector = {.name = "Detector",
                                               .height = HIGH,
                                               .width = WIDE,
                                               .pixel1 = 1e-4,
                                               .pixel2 = 1e-4},
                                  .dist = 0.1,
                                  .poni1 = 0.003,
                                  .poni2 = 0.0035};
    return write_stack(c, r, path, torn) && CHECK_OK(c, airy_stack_create(&r->stack, &path, 1)) &&
           CHECK_OK(c, airy_integrator_create(&r->integrator, c->device, &r->geometry, &params)) &&
           CHECK_OK(c, airy_peak_finder_create(&r->finder, r->integrator, NULL));
}

static void close_run(struct run *r)
{
    airy_peak_finder_destroy(&r->finder);
    airy_integrator_destroy(&r->integrator);
    airy_stack_destroy(&r->stack);
}

static airy_status run_stack(const struct run *r, const char *path, const airy_run_params *params,
                             airy_peaks_run_info *info)
{
    const airy_peak_finder *const finders[1] = {r->finder};
    return airy_peaks_stack(path, r->stack, finders, 1, params, info);
}

/* The frames of two files put together are the same; kept pixels are the stack's. */
static void compare_files(struct check *c, const struct run *r, const char *path, const char *other)
{
    airy_sparse *a = NULL, *b = NULL;
    airy_sparse_info info;
    uint16_t *x = check_alloc(c, PIXELS * sizeof *x), *y = check_alloc(c, PIXELS * sizeof *y);
    if (CHECK_OK(c, airy_sparse_create(&a, path)) && CHECK_OK(c, airy_sparse_create(&b, other)) &&
        CHECK_OK(c, airy_sparse_get_info(a, &info)) && CHECK(c, info.frames == STACK))
        for (size_t f = 0; f < STACK; f++) {
            double dense = 0, raw = 0;
            size_t exact = 0;
            CHECK_OK(c, airy_sparse_densify(a, f, x, PIXELS * sizeof *x, NULL));
            CHECK_OK(c, airy_sparse_densify(b, f, y, PIXELS * sizeof *y, NULL));
            CHECK(c, memcmp(x, y, PIXELS * sizeof *x) == 0);
            for (size_t i = 0; i < PIXELS; i++) {
                const uint16_t v = r->frames[f * PIXELS + i];
                dense += x[i];
                raw += v;
                exact += v >= 150 && x[i] == v; /* 17 standard deviations */
                CHECK(c, v < 150 || x[i] == v);
            }
            /* The mean of a ring is of all its pixels, kept ones too: without clipping they count
             * twice, 18 of them with 250 more each in 4200 of 40. */
            CHECK(c, fabs(dense - raw) <= 0.04 * raw && exact >= 12);
        }
    airy_sparse_destroy(&a);
    airy_sparse_destroy(&b);
}

static void check_run(struct check *c)
{
    if (!check_case(c, "sparse_run"))
        return;
    struct run r = {.stack = NULL};
    const char *whole = path_of(c, "whole.h5"), *ones = path_of(c, "ones.h5");
    airy_peaks_run_info info = {.pixels = 0}, again;
    if (open_run(c, &r, path_of(c, "s.h5"), false) &&
        CHECK_OK(c, run_stack(&r, whole, &(airy_run_params){.batch = 64}, &info)) &&
        CHECK_OK(c, run_stack(&r, ones, &(airy_run_params){.batch = 1, .slots = 3}, &again))) {
        CHECK(c, info.run.frames == STACK && info.run.bad == 0 && info.pixels >= 12 * STACK &&
                     info.peaks >= 4 * STACK);
        CHECK(c, info.pixels == again.pixels && info.peaks == again.peaks);
        compare_files(c, &r, whole, ones);
        CHECK_OK(
            c, run_stack(&r, NULL, &(airy_run_params){.first = 3, .last = 10, .step = 3}, &again));
        CHECK(c, again.run.frames == 3);
        CHECK_OK(c, run_stack(&r, NULL, &(airy_run_params){.first = 3, .step = SIZE_MAX}, &again));
        CHECK(c, again.run.frames == 1);
        CHECK_FAILS(c, run_stack(&r, whole, NULL, NULL), AIRY_ERR_EXISTS, "is there already");
    }
    close_run(&r);
}

static bool stop_at_once(void *user, size_t done, size_t total)
{
    (void)user;
    return done >= total;
}

static void check_run_failures(struct check *c)
{
    if (!check_case(c, "sparse_run_failures"))
        return;
    struct run r = {.stack = NULL};
    const char *path = path_of(c, "out.h5");
    const double monitor[STACK] = {1};
    airy_peaks_run_info info;
    airy_peak_finder *few = NULL;
    if (open_run(c, &r, path_of(c, "s.h5"), true)) {
        CHECK_FAILS(c, run_stack(&r, path, NULL, &info), AIRY_ERR_CORRUPT, "frame 4");
        CHECK(c, access(path, F_OK) != 0);
        CHECK_OK(c,
                 run_stack(&r, path,
                           &(airy_run_params){.skip_bad = true, .force = true, .batch = 3}, &info));
        CHECK(c, info.run.frames == STACK && info.run.bad == 1 &&
                     strstr(info.run.first_error, "frame 4") != NULL);
        CHECK_FAILS(c, run_stack(&r, NULL, &(airy_run_params){.monitor = monitor}, NULL),
                    AIRY_ERR_PARAM, "monitor is for integration only");
        CHECK_FAILS(c, run_stack(&r, NULL, &(airy_run_params){.resume = true}, NULL),
                    AIRY_ERR_PARAM, "path is NULL");
        CHECK_FAILS(c, run_stack(&r, NULL, &(airy_run_params){.first = STACK}, NULL),
                    AIRY_ERR_PARAM, "first frame = 11, expected < 11");
        CHECK_FAILS(
            c,
            run_stack(&r, NULL,
                      &(airy_run_params){.progress = stop_at_once, .batch = 1, .skip_bad = true},
                      &info),
            AIRY_ERR_CANCELLED, "cancelled after");
        CHECK_FAILS(c, airy_peaks_stack(NULL, r.stack, NULL, 1, NULL, NULL), AIRY_ERR_PARAM,
                    "finders is missing");
        const airy_peak_params little = {.max_pixels = 3};
        if (CHECK_OK(c, airy_peak_finder_create(&few, r.integrator, &little))) {
            const airy_peak_finder *const finders[2] = {few, r.finder};
            CHECK_FAILS(c, airy_peaks_stack(NULL, r.stack, finders, 1, NULL, NULL), AIRY_ERR_PARAM,
                        "pixels stand out, at most 3 are listed");
            CHECK_FAILS(c, airy_peaks_stack(NULL, r.stack, finders, 2, NULL, NULL), AIRY_ERR_PARAM,
                        "finders[1] is not like the first");
        }
    }
    airy_peak_finder_destroy(&few);
    close_run(&r);
}

/* Good frames of two files put together are the same. */
static void compare_good(struct check *c, const char *path, const char *other)
{
    airy_sparse *a = NULL, *b = NULL;
    const size_t size = PIXELS * sizeof(uint16_t);
    uint16_t *x = check_alloc(c, size), *y = check_alloc(c, size);
    if (CHECK_OK(c, airy_sparse_create(&a, path)) && CHECK_OK(c, airy_sparse_create(&b, other)))
        for (size_t f = 0; f < STACK; f++) {
            const airy_status status = airy_sparse_densify(a, f, x, size, NULL);
            CHECK(c, status == airy_sparse_densify(b, f, y, size, NULL));
            CHECK(c, status == AIRY_ERR_CORRUPT || (status == AIRY_OK && memcmp(x, y, size) == 0));
        }
    airy_sparse_destroy(&a);
    airy_sparse_destroy(&b);
}

/* A file with so many bytes of another, from a place on one bit changed; returns whether it is there. */
static bool copy_changed(struct check *c, const char *to, const char *from, size_t cut, size_t flip)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    uint8_t *bytes = check_alloc(c, 1 << 20);
    size_t size = in ? fread(bytes, 1, 1 << 20, in) : 0;
    if (flip)
        bytes[size - flip] ^= 0x10;
    size -= cut;
    const bool done = size > 0 && out && fwrite(bytes, 1, size, out) == size;
    if (in)
        fclose(in);
    return out && fclose(out) == 0 && done;
}

static bool stop_in_the_middle(void *user, size_t done, size_t total)
{
    (void)user;
    return done < total / 2;
}

/* Frame 4 of the stack is torn: rows 0 to 3 are there, to go on with. */
static void check_resumed(struct check *c, struct run *r, const char *path, const char *whole)
{
    char partial[4096], kept[4096];
    airy_peaks_run_info info;
    const airy_run_params resume = {.resume = true, .skip_bad = true};
    snprintf(partial, sizeof partial, "%s.partial", path);
    snprintf(kept, sizeof kept, "%s.kept", path);
    CHECK_FAILS(c, run_stack(r, path, &resume, NULL), AIRY_ERR_NOT_FOUND, "cannot resume");
    CHECK_FAILS(c, run_stack(r, path, NULL, NULL), AIRY_ERR_CORRUPT, "frame 4");
    CHECK_FAILS(c, run_stack(r, path, NULL, NULL), AIRY_ERR_EXISTS, "from an interrupted run");
    CHECK_FAILS(c, run_stack(r, path, &(airy_run_params){.resume = true, .last = 9}, NULL),
                AIRY_ERR_FORMAT, "it is of 11 frames, this run of 9");
    CHECK_FAILS(c, run_stack(r, path, &(airy_run_params){.resume = true, .step = 2}, NULL),
                AIRY_ERR_FORMAT, "parameter frame-step differs: 1 in that run, 2 in this run");
    CHECK(c, rename(partial, kept) == 0);
    for (size_t cut = 0; cut < 2000; cut += 97) {
        CHECK(c, copy_changed(c, partial, kept, cut, 0));
        CHECK_OK(c, run_stack(r, path, &resume, &info));
        CHECK(c, info.run.frames + info.run.resumed == STACK && info.run.bad == 1);
        compare_good(c, path, whole);
        CHECK(c, access(partial, F_OK) != 0 && unlink(path) == 0);
    }
    for (size_t flip = 1; flip < 1500; flip += 59) {
        CHECK(c, copy_changed(c, partial, kept, 0, flip));
        CHECK_OK(c, run_stack(r, path, &resume, &info));
        compare_good(c, path, whole);
        CHECK(c, unlink(path) == 0);
    }
    CHECK(c, copy_changed(c, partial, kept, 0, 0));
    CHECK_FAILS(
        c,
        run_stack(r, path,
                  &(airy_run_params){
                      .resume = true, .skip_bad = true, .progress = stop_in_the_middle, .batch = 1},
                  &info),
        AIRY_ERR_CANCELLED, "cancelled after");
    CHECK_OK(c, run_stack(r, path, &resume, &info));
    compare_good(c, path, whole);
    CHECK(c, unlink(path) == 0 && copy_changed(c, partial, kept, 0, 0));
}

static void check_run_resume(struct check *c)
{
    if (!check_case(c, "sparse_run_resume"))
        return;
    struct run r = {.stack = NULL}, other = {.stack = NULL};
    const char *path = path_of(c, "again.h5"), *whole = path_of(c, "unbroken.h5");
    airy_peak_finder *wide = NULL;
    const airy_peak_params params = {.patch = 5};
    if (open_run(c, &r, path_of(c, "s.h5"), true) &&
        CHECK_OK(c, run_stack(&r, whole, &(airy_run_params){.skip_bad = true}, NULL))) {
        check_resumed(c, &r, path, whole);
        if (CHECK_OK(c, airy_peak_finder_create(&wide, r.integrator, &params))) {
            const airy_peak_finder *const finders[1] = {wide};
            CHECK_FAILS(c,
                        airy_peaks_stack(path, r.stack, finders, 1,
                                         &(airy_run_params){.resume = true}, NULL),
                        AIRY_ERR_FORMAT, "parameter patch differs: 3 in that run, 5 in this run");
        }
        if (open_run(c, &other, path_of(c, "t.h5"), true))
            CHECK_FAILS(c, run_stack(&other, path, &(airy_run_params){.resume = true}, NULL),
                        AIRY_ERR_FORMAT, "is another one than when its row was made");
        CHECK_OK(c, run_stack(&r, path, &(airy_run_params){.force = true, .skip_bad = true}, NULL));
        compare_good(c, path, whole);
    }
    airy_peak_finder_destroy(&wide);
    close_run(&other);
    close_run(&r);
}

void check_sparse_files(struct check *c)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16,
                                        AIRY_DTYPE_I16, AIRY_DTYPE_U32, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    if (c->is_cpu) {
        for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
            check_round_trip(c, dtypes[i], 1 + i % 3);
        check_peak_tables(c);
        check_noise(c);
        check_bad_frame(c);
        check_writer_refusals(c);
        check_reader_refusals(c);
        check_hostile(c);
        check_short_chunks(c);
    }
    check_run(c);
    check_run_failures(c);
    check_run_resume(c);
}
