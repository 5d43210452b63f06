/*
 * Sums against the definitions in tests/ref, on every device; the inverse; everything
 * that can be refused.
 */
#include "check_integrate.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "core/backend.h"
#include "integrate/integrator.h"
#include "integrate/matrix.h"
#include "ref_integrate.h"
/* Sums and images: what a frame of `dtype` gives. */
struct scene {
    airy_geometry geometry;
    airy_integrator_params params;
    airy_dtype dtype;
    size_t frames;
    uint8_t *mask;
    float *dark, *flat, *absorption, *variance;
    void *data;   /* [frames][PIXELS] of dtype */
    double *raw;  /* the same */
    uint8_t *out; /* left out by the rules for raw values */
};

static float *random_floats(struct check *c, double lo, double hi)
{
    float *f = check_alloc(c, PIXELS * sizeof *f);
    check_rand(c, f, AIRY_DTYPE_F32, PIXELS, lo, hi);
    return f;
}

static const struct {
    double least, most;
} dtype_range[AIRY_DTYPE_COUNT] = {
    [AIRY_DTYPE_U8] = {0, 255},           [AIRY_DTYPE_I8] = {-128, 127},
    [AIRY_DTYPE_U16] = {0, 65535},        [AIRY_DTYPE_I16] = {-32768, 32767},
    [AIRY_DTYPE_U32] = {0, 4294967295.0}, [AIRY_DTYPE_I32] = {-2147483648.0, 2147483647.0},
};

/* Small counts, some dummies (17 to 19), the extremes, in floats fractions, NaN and infinity. */
static double draw(struct check *c, airy_dtype dtype)
{
    const uint64_t r = check_rand_u64(c);
    if (r % 37 == 0)
        return 17 + (double)(r / 37 % 3);
    if (airy_dtype_is_float(dtype)) {
        if (r % 41 == 0)
            return r % 82 ? NAN : INFINITY;
        return (double)(float)((double)(r >> 40) * 1e-5 - 20);
    }
    if (r % 43 == 0)
        return r % 86 ? dtype_range[dtype].most : dtype_range[dtype].least;
    return (double)(r >> 20 & 63);
}

static void fill_scene(struct check *c, struct scene *s)
{
    const size_t n = s->frames * PIXELS;
    s->geometry = scene_geometry(VIEW_ON, 3);
    s->mask = check_alloc(c, PIXELS);
    scene_mask(c, s->mask);
    s->dark = random_floats(c, -2, 5);
    s->flat = random_floats(c, 0.5, 1.5);
    s->absorption = random_floats(c, 0.7, 1);
    s->variance = random_floats(c, 0, 9);
    s->dark[3] = NAN;
    s->flat[40] = 0;
    s->flat[41] = INFINITY;
    s->absorption[77] = NAN;
    s->variance[78] = NAN;
    s->data = check_alloc(c, n * airy_dtype_size(s->dtype));
    s->raw = check_alloc(c, n * sizeof *s->raw);
    s->out = check_alloc(c, n);
    for (size_t i = 0; i < n; i++) {
        s->raw[i] = i < PIXELS ? (double)(i % 50)
                               : draw(c, s->dtype); /* nothing is left out of the first frame but
                                                       dummies */
        check_put(s->data, s->dtype, i, s->raw[i]);
        s->out[i] =
            !isfinite(s->raw[i]) ||
            (s->params.has_dummy && fabs(s->raw[i] - s->params.dummy) <= s->params.delta_dummy);
    }
}

/* Run the scene's frames on the device; sums [frames][planes][bins], stats [frames]. */
static bool run_scene(struct check *c, const struct scene *s, const airy_integrator *it,
                      double *sums, airy_frame_stats *stats)
{
    const size_t bins = airy_integrator_bins(it);
    const size_t shape[3] = {s->frames, HEIGHT, WIDTH},
                 sums_shape[3] = {s->frames, AIRY_SUM_PLANES, bins};
    const size_t stats_shape[2] = {s->frames, sizeof *stats};
    airy_array *frames = check_upload(c, s->dtype, 3, shape, s->data);
    airy_array *d_sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape),
               *d_stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    return frames && d_sums && d_stats &&
           CHECK_OK(c, airy_integrate(c->queue, d_sums, d_stats, it, frames)) &&
           CHECK_OK(c,
                    airy_array_pull(c->queue, sums,
                                    s->frames * AIRY_SUM_PLANES * bins * sizeof *sums, d_sums)) &&
           CHECK_OK(c, airy_array_pull(c->queue, stats, s->frames * sizeof *stats, d_stats)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static void compare_stats(struct check *c, const struct scene *s, const uint8_t *valid,
                          size_t frame, const airy_frame_stats *got)
{
    double total = 0, scale = 0, max = 0;
    uint32_t invalid = 0, saturated = 0;
    bool any = false;
    for (size_t i = 0; i < PIXELS; i++) {
        const double raw = s->raw[frame * PIXELS + i];
        if (!valid[i])
            continue;
        saturated += raw >= s->params.saturation;
        invalid += s->out[frame * PIXELS + i];
        if (s->out[frame * PIXELS + i])
            continue;
        total += raw;
        scale += fabs(raw);
        max = any ? fmax(max, raw) : raw;
        any = true;
    }
    CHECK(c,
          got->invalid == invalid && got->saturated == saturated && got->status == AIRY_FRAME_GOOD);
    /* a few hundred doubles */
    CHECK(c, fabs(got->total - total) <= 1e-13 * scale && got->max == max);
}

/*
 * Roundings to float: the coefficient, the normalization, the weight (2^-24 each); squares have
 * twice as many. The azimuthal variance moves by twice the relative error of x and of the mean,
 * times |x - mean| (|x| + |mean|).
 */
static void compare_sums(struct check *c, const double *got, const double *want,
                         const double *scale, size_t bins)
{
    static const char *const names[AIRY_SUM_PLANES] = {"signal", "variance", "normalization",
                                                       "normalization2", "count"};
    static const double rel[AIRY_SUM_PLANES] = {3.2 * 0x1p-24, 13 * 0x1p-24, 2.2 * 0x1p-24,
                                                4.4 * 0x1p-24, 1.2 * 0x1p-24};
    for (size_t p = 0; p < AIRY_SUM_PLANES; p++)
        for (size_t b = 0; b < bins; b++) {
            const size_t k = p * bins + b;
            if (!(fabs(got[k] - want[k]) <= rel[p] * scale[k] + 1e-9 * scale[k]))
                check_failed(c, __FILE__, __LINE__, "%s[%zu]: got %.9g, want %.9g, scale %.3g",
                             names[p], b, got[k], want[k], scale[k]);
        }
}

static void compare_frames(struct check *c, const struct scene *s)
{
    const size_t bins = s->params.bins, plane = AIRY_SUM_PLANES * bins;
    double *norm = check_alloc(c, PIXELS * sizeof *norm), limits[4];
    uint8_t *valid = check_alloc(c, PIXELS);
    double *coef = check_alloc(c, PIXELS * bins * sizeof *coef);
    double *want = check_alloc(c, plane * sizeof *want),
           *scale = check_alloc(c, plane * sizeof *scale);
    double *got = check_alloc(c, s->frames * plane * sizeof *got);
    airy_frame_stats *stats = check_alloc(c, s->frames * sizeof *stats);
    ref_normalization(norm, valid, &s->geometry, &s->params);
    ref_matrix(coef, limits, &s->geometry, &s->params, valid);
    airy_integrator *it = NULL;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &s->geometry, &s->params)))
        return;
    if (run_scene(c, s, it, got, stats))
        for (size_t f = 0; f < s->frames; f++) {
            ref_sums(want, scale, coef, norm, valid, s->raw + f * PIXELS, s->out + f * PIXELS,
                     &s->geometry, &s->params);
            compare_sums(c, got + f * plane, want, scale, bins);
            compare_stats(c, s, valid, f, &stats[f]);
        }
    airy_integrator_destroy(&it);
}

static void check_sums(struct check *c, airy_dtype dtype, airy_split split, airy_error_model model,
                       bool unweighted, bool corrected)
{
    if (!check_case(c, "sums_%s_%s_%s%s%s", airy_dtype_name(dtype), airy_split_name(split),
                    airy_error_model_name(model), unweighted ? "_unweighted" : "",
                    corrected ? "_corrected" : ""))
        return;
    struct scene s = {.dtype = dtype,
                      .frames = 3,
                      .params = {.bins = 15,
                                 .split = split,
                                 .error_model = model,
                                 .unweighted = unweighted,
                                 .has_dummy = true,
                                 .dummy = 18,
                                 .delta_dummy = 1,
                                 .has_saturation = true,
                                 .saturation = 60}};
    fill_scene(c, &s);
    s.params.variance = model == AIRY_ERROR_MODEL_VARIANCE ? s.variance : NULL;
    if (corrected) {
        s.params.mask = s.mask;
        s.params.dark = s.dark;
        s.params.flat = s.flat;
        s.params.absorption = s.absorption;
        s.params.has_polarization = true;
        s.params.polarization = 0.95;
        s.params.polarization_offset_deg = 11;
        s.params.normalization = 12.5;
    }
    compare_frames(c, &s);
}

static void check_all_sums(struct check *c)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16,
                                        AIRY_DTYPE_I16, AIRY_DTYPE_U32, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int model = 0; model < AIRY_ERROR_MODEL_HYBRID; model++)
            check_sums(c, dtypes[d], AIRY_SPLIT_FULL, (airy_error_model)model, d % 2 == 1, true);
    for (int split = 0; split <= AIRY_SPLIT_NO; split++)
        for (int model = 0; model < AIRY_ERROR_MODEL_HYBRID; model++)
            for (int k = 0; k < 4; k++)
                check_sums(c, AIRY_DTYPE_I32, (airy_split)split, (airy_error_model)model, k & 1,
                           k & 2);
}

/*
 * The raw values that a detector's own dummy values, a given dummy and compat's float rounding
 * leave out, dtype by dtype.
 */
static void check_pixel_test(struct check *c)
{
    if (!check_case(c, "pixel_test"))
        return;
    static const struct {
        airy_dtype dtype;
        bool dectris, has_dummy, compat;
        double dummy, delta;
        int64_t lo, hi;
    } rows[] = {
        {AIRY_DTYPE_U32, true, false, false, 0, 0, 4294967293, 4294967295},
        {AIRY_DTYPE_U32, true, false, true, 0, 0, 4294967168, 4294967295},
        {AIRY_DTYPE_U16, true, false, false, 0, 0, 65533, 65535},
        {AIRY_DTYPE_U16, true, false, true, 0, 0, 65533, 65535},
        {AIRY_DTYPE_U8, true, false, false, 0, 0, 253, 255},
        {AIRY_DTYPE_I32, true, false, false, 0, 0, -3, -1},
        {AIRY_DTYPE_I16, true, false, true, 0, 0, -3, -1},
        {AIRY_DTYPE_U32, false, false, false, 0, 0, 1, 0},
        {AIRY_DTYPE_U16, false, true, false, 10, 0, 10, 10},
        {AIRY_DTYPE_U16, false, true, false, 10.5, 0, 1, 0},
        {AIRY_DTYPE_U16, false, true, false, 10.5, 1, 10, 11},
        {AIRY_DTYPE_U16, false, true, false, -5, 2, 1, 0},
        {AIRY_DTYPE_U16, false, true, false, -5, 7, 0, 2},
        {AIRY_DTYPE_U16, true, true, false, 1e9, 2, 1, 0},
        {AIRY_DTYPE_I8, false, true, false, 0, 1e9, -128, 127},
        {AIRY_DTYPE_I32, false, true, false, -2, 1.5, -3, -1},
        {AIRY_DTYPE_U32, false, true, true, 16777216, 0, 16777216, 16777217},
        {AIRY_DTYPE_U32, false, true, false, 16777216, 0, 16777216, 16777216},
        {AIRY_DTYPE_U16, false, true, false, NAN, 0, 1, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        airy_integrator it = {.geometry.detector.dectris_dummy = rows[k].dectris};
        it.params.has_dummy = rows[k].has_dummy;
        it.params.dummy = rows[k].dummy;
        it.params.delta_dummy = rows[k].delta;
        it.params.compat = rows[k].compat ? AIRY_COMPAT_PYFAI : AIRY_COMPAT_NONE;
        airy_pixel_test t;
        if (!CHECK_OK(c, airy_pixel_test_make(&t, &it, rows[k].dtype)))
            continue;
        const bool none = rows[k].lo > rows[k].hi;
        if (none ? t.lo <= t.hi : t.lo != rows[k].lo || t.hi != rows[k].hi)
            check_failed(c, __FILE__, __LINE__, "row %zu: [%lld, %lld]", k, (long long)t.lo,
                         (long long)t.hi);
        it.params.no_default_dummy = true;
        CHECK_OK(c, airy_pixel_test_make(&t, &it, rows[k].dtype));
        CHECK(c, rows[k].has_dummy || t.lo > t.hi);
    }
    airy_integrator it = {.params = {.has_dummy = true, .dummy = 0.1}};
    airy_pixel_test t;
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F32));
    CHECK(c, t.float_lo == (double)0.1f && t.float_hi == (double)0.1f);
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F64));
    CHECK(c, t.float_lo == 0.1 && isnan(t.float_saturation));
    it.params.dummy = 3.4028235e38;
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F32));
    CHECK(c, t.float_lo == (double)FLT_MAX && t.float_hi == (double)FLT_MAX);
    it.params.has_saturation = true;
    static const struct {
        double given;
        int64_t want;
    } levels[] = {{100, 100}, {99.5, 100}, {-3, 0}, {1e12, 65536}, {INFINITY, 65536}};
    for (size_t k = 0; k < 5; k++) {
        it.params.saturation = levels[k].given;
        CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_U16));
        CHECK(c, t.saturation == levels[k].want);
    }
    CHECK_FAILS(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_U64), AIRY_ERR_DTYPE, "uint64");
    CHECK_FAILS(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_I64), AIRY_ERR_DTYPE, "int64");
}

/* Saturated pixels are left out like dummies, beside the detector's own and given ones. */
static void check_saturated(struct check *c, airy_dtype dtype, bool own, airy_error_model model)
{
    if (!check_case(c, "saturated_%s%s_%s", airy_dtype_name(dtype), own ? "_own" : "",
                    airy_error_model_name(model)))
        return;
    struct scene s = {.dtype = dtype,
                      .frames = 3,
                      .params = {.bins = 15,
                                 .error_model = model,
                                 .has_saturation = true,
                                 .saturation = 40,
                                 .mask_saturated = true}};
    fill_scene(c, &s);
    s.geometry.detector.dectris_dummy = own;
    for (size_t i = 0; i < s.frames * PIXELS; i++)
        s.out[i] = !isfinite(s.raw[i]) || s.raw[i] >= 40 ||
                   (own && airy_dtype_is_signed(dtype) && s.raw[i] < 0);
    compare_frames(c, &s);
}

static void check_saturated_intervals(struct check *c)
{
    if (!check_case(c, "saturated_intervals"))
        return;
    static const struct {
        airy_dtype dtype;
        bool own, has_dummy;
        double dummy, delta, saturation;
        int64_t lo, hi;
    } rows[] = {{AIRY_DTYPE_U16, false, false, 0, 0, 1000, 1000, 65535},
                {AIRY_DTYPE_U16, true, false, 0, 0, 1000, 1000, 65535},
                {AIRY_DTYPE_U16, true, false, 0, 0, 1e9, 65533, 65535},
                {AIRY_DTYPE_U16, true, false, 0, 0, -5, 0, 65535},
                {AIRY_DTYPE_U16, false, true, 990, 9.5, 1000, 981, 65535},
                {AIRY_DTYPE_I32, true, false, 0, 0, 1000, 1000, UINT32_MAX},
                {AIRY_DTYPE_I32, true, false, 0, 0, -2, -3, INT32_MAX},
                {AIRY_DTYPE_I16, false, false, 0, 0, 1000, 1000, 32767}};
    airy_pixel_test t;
    airy_integrator it = {.params = {.has_saturation = true, .mask_saturated = true}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        it.geometry.detector.dectris_dummy = rows[k].own;
        it.params.has_dummy = rows[k].has_dummy;
        it.params.dummy = rows[k].dummy;
        it.params.delta_dummy = rows[k].delta;
        it.params.saturation = rows[k].saturation;
        CHECK_OK(c, airy_pixel_test_make(&t, &it, rows[k].dtype));
        if (t.lo != rows[k].lo || t.hi != rows[k].hi)
            check_failed(c, __FILE__, __LINE__, "row %zu: [%lld, %lld]", k, (long long)t.lo,
                         (long long)t.hi);
    }
    it.params.has_dummy = true;
    it.params.dummy = 7;
    it.params.delta_dummy = 0;
    CHECK_FAILS(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_U16), AIRY_ERR_UNSUPPORTED,
                "dummy values 7 to 7");
    CHECK_FAILS(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F32), AIRY_ERR_UNSUPPORTED,
                "dummy values 7 to 7");
    it.params.has_dummy = false;
    it.geometry.detector.dectris_dummy = true;
    it.params.saturation = -7;
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_I32));
    CHECK(c, t.lo == -7 && t.hi == INT32_MAX);
    it.ring.kind = AIRY_RING_CLIP;
    it.params.saturation = 100;
    CHECK_FAILS(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_I32), AIRY_ERR_UNSUPPORTED, "clip");
    it.geometry.detector.dectris_dummy = false;
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F64));
    CHECK(c, t.float_lo == 100 && t.float_hi == INFINITY);
    it.params.has_saturation = false;
    CHECK_OK(c, airy_pixel_test_make(&t, &it, AIRY_DTYPE_F64));
    CHECK(c, !(t.float_lo <= t.float_hi));
}

/* A bin whose pixels are all dummies is exactly empty, and its results are params->empty. */
static void check_emptied(struct check *c)
{
    if (!check_case(c, "emptied_bins"))
        return;
    struct scene s = {.dtype = AIRY_DTYPE_U16,
                      .frames = 2,
                      .params = {.bins = 12,
                                 .split = AIRY_SPLIT_NO,
                                 .error_model = AIRY_ERROR_MODEL_POISSON,
                                 .has_dummy = true,
                                 .dummy = 7}};
    fill_scene(c, &s);
    double *q = check_alloc(c, PIXELS * sizeof *q);
    CHECK_OK(c, airy_geometry_centers(&s.geometry, AIRY_UNIT_Q_NM, q));
    airy_integrator *it = NULL;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &s.geometry, &s.params)))
        return;
    const double *radial = airy_integrator_radial(it), half = (radial[1] - radial[0]) / 2;
    for (size_t i = 0; i < 2 * PIXELS; i++) {
        const double v = q[i % PIXELS];
        ((uint16_t *)s.data)[i] =
            i >= PIXELS || (v > radial[4] - half - 1e-9 && v < radial[5] + half + 1e-9) ? 7 : 20;
    }
    double sums[2 * AIRY_SUM_PLANES * 12];
    airy_frame_stats stats[2];
    float intensity[12], std[12], sem[12];
    if (run_scene(c, &s, it, sums, stats)) {
        for (size_t p = 0; p < AIRY_SUM_PLANES; p++)
            for (size_t b = 0; b < 12; b++) {
                CHECK(c, b != 4 && b != 5 ? sums[p * 12 + b] > 0 : sums[p * 12 + b] == 0);
                CHECK(c, sums[(AIRY_SUM_PLANES + p) * 12 + b] == 0);
            }
        CHECK(c, stats[1].invalid == PIXELS && stats[1].total == 0 && stats[1].max == 0);
        CHECK_OK(c, airy_integrator_finish(it, sums, 1, intensity, std, sem));
        CHECK(c, isnan(intensity[4]) && isnan(std[5]) && isnan(sem[4]) && intensity[3] > 0 &&
                     std[3] > 0 && sem[6] > 0);
    }
    airy_integrator_destroy(&it);
    s.params.has_empty = true;
    s.params.empty = -5;
    if (CHECK_OK(c, airy_integrator_create(&it, c->device, &s.geometry, &s.params))) {
        CHECK_OK(c, airy_integrator_finish(it, sums, 1, intensity, NULL, NULL));
        CHECK(c, intensity[4] == -5 && intensity[3] > 0);
    }
    airy_integrator_destroy(&it);
}

/*
 * Without a level given no float is saturated, infinity neither; with infinity as the level it is.
 */
static void check_float_saturation(struct check *c)
{
    if (!check_case(c, "float_saturation"))
        return;
    for (int given = 0; given < 2; given++)
        for (int k = 0; k < 2; k++) {
            struct scene s = {
                .dtype = k ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32, .frames = 1, .params = {.bins = 4}};
            s.params.has_saturation = given;
            s.params.saturation = INFINITY;
            fill_scene(c, &s);
            check_put(s.data, s.dtype, 5, INFINITY);
            check_put(s.data, s.dtype, 9, NAN);
            check_put(s.data, s.dtype, 11, -INFINITY);
            airy_integrator *it = NULL;
            double sums[AIRY_SUM_PLANES * 4];
            airy_frame_stats stats;
            if (CHECK_OK(c, airy_integrator_create(&it, c->device, &s.geometry, &s.params)) &&
                run_scene(c, &s, it, sums, &stats))
                CHECK(c, stats.invalid == 3 && stats.saturated == (given ? 1 : 0));
            airy_integrator_destroy(&it);
        }
}

/* One bin of a quarter of a million pixels, of which one lies in it by a share only. */
enum { CROWD = 512, CROWD_PIXELS = CROWD * CROWD, PARTLY = 20 };

struct crowd {
    airy_geometry geometry;
    airy_integrator_params params;
};

static struct crowd make_crowd(struct check *c, double share, airy_error_model model)
{
    const double pixel = 1e-4, centre = (PARTLY + 0.5) * pixel;
    struct crowd crowd = {.geometry = {.dist = 0.1, .poni1 = pixel / 2, .wavelength = 1e-10}};
    airy_detector *detector = &crowd.geometry.detector;
    *detector = (airy_detector){
        .name = "Detector", .height = CROWD, .width = CROWD, .pixel1 = pixel, .pixel2 = pixel};
    double half = 0;
    for (int k = 0; k < 2; k++)
        half = fmax(half, fabs(hypot(centre + (k ? pixel : -pixel) / 2, pixel / 2) - centre));
    float *dark = check_alloc(c, CROWD_PIXELS * sizeof *dark),
          *variance = check_alloc(c, CROWD_PIXELS * sizeof *dark);
    for (size_t i = 0; i < CROWD_PIXELS; i++) {
        dark[i] = (float)(i % 7 + 1) * 0.3f;
        variance[i] = (float)(i % 11 + 1) * 0.7f;
    }
    crowd.params =
        (airy_integrator_params){.bins = 1,
                                 .unit = AIRY_UNIT_R_M,
                                 .split = AIRY_SPLIT_BBOX,
                                 .error_model = model,
                                 .has_radial_range = true,
                                 .radial_range = {centre + half - 2 * half * share, 1},
                                 .dark = dark,
                                 .variance = model == AIRY_ERROR_MODEL_VARIANCE ? variance : NULL,
                                 .has_dummy = true,
                                 .dummy = 65535};
    return crowd;
}

/*
 * Sums of pixels that are no dummies, and of their absolute terms, over the integrator's own
 * matrix.
 */
static void sum_crowd(long double want[AIRY_SUM_PLANES], long double scale[AIRY_SUM_PLANES],
                      const airy_integrator *it, const uint16_t *frame)
{
    memset(want, 0, AIRY_SUM_PLANES * sizeof *want);
    memset(scale, 0, AIRY_SUM_PLANES * sizeof *scale);
    for (size_t i = 0; i < CROWD_PIXELS; i++) {
        if (frame[i] == 65535)
            continue;
        for (uint32_t e = it->matrix.start[i]; e < it->matrix.start[i + 1]; e++) {
            const long double w = it->weight[e], coef = it->matrix.coef[e], n = coef * it->norm[i];
            const long double v = it->variance ? it->variance[i] : frame[i] > 1 ? frame[i] : 1;
            const long double terms[AIRY_SUM_PLANES] = {w * frame[i] - w * it->dark[i], w * w * v,
                                                        n, n * n, coef};
            for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
                want[k] += terms[k];
                scale[k] += k ? terms[k] : w * frame[i] + w * it->dark[i];
            }
        }
    }
}

/*
 * The header's promise: the m entries that count, and a few roundings on the way; the dark of the
 * others leaves 2^-104 of it each. step: by how much a coefficient may be off in fixed point, 0
 * elsewhere; terms are products of at most two coefficients, and squares are rounded once more.
 */
static void compare_crowd(struct check *c, const airy_integrator *it, const uint16_t *frame,
                          const double *got, double step, const char *what)
{
    long double want[AIRY_SUM_PLANES], scale[AIRY_SUM_PLANES];
    sum_crowd(want, scale, it, frame);
    double entries = 0, slack[AIRY_SUM_PLANES] = {0};
    for (size_t i = 0; i < CROWD_PIXELS; i++) {
        if (frame[i] == 65535 || it->matrix.start[i] == it->matrix.start[i + 1])
            continue;
        const double n = it->norm[i];
        entries++;
        slack[AIRY_SUM_SIGNAL] += step * (frame[i] + (double)it->dark[i]);
        slack[AIRY_SUM_VARIANCE] += 4 * step * fmax(frame[i], 1);
        slack[AIRY_SUM_NORMALIZATION] += step * n;
        slack[AIRY_SUM_NORMALIZATION2] += 3 * step * n * n;
        slack[AIRY_SUM_COUNT_PLANE] += step;
    }
    slack[AIRY_SUM_SIGNAL] += CROWD_PIXELS * 0x1p-104 * it->base_dark[0];
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        const double tolerance = (entries + 8) * 0x1p-53 * (double)scale[k] + slack[k];
        if (!(fabsl(got[k] - want[k]) <= (long double)tolerance))
            check_failed(c, __FILE__, __LINE__,
                         "%s, %g left, plane %zu = %.17g, expected %.17Lg +- %g", what, entries, k,
                         got[k], want[k], tolerance);
    }
}

static bool fill_batch(struct check *c, airy_batch *batch, const uint16_t *frames, size_t n)
{
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 2};
    const size_t size = CROWD_PIXELS * sizeof *frames, bound = airy_encode_bound(size, &codec);
    uint8_t *chunk = check_alloc(c, bound);
    for (size_t f = 0; f < n; f++) {
        size_t chunk_size = bound;
        if (!CHECK_OK(c,
                      airy_encode(chunk, &chunk_size, frames + f * CROWD_PIXELS, size, &codec)) ||
            !CHECK_OK(c, airy_batch_add(batch, chunk, chunk_size)))
            return false;
    }
    return true;
}

/* From memory and from chunks. */
static void integrate_crowd(struct check *c, const struct crowd *crowd, const uint16_t *frames,
                            size_t n)
{
    airy_integrator *it = NULL;
    airy_batch *batch = NULL;
    const size_t shape[3] = {n, CROWD, CROWD}, sums_shape[3] = {n, AIRY_SUM_PLANES, 1};
    const size_t stats_shape[2] = {n, sizeof(airy_frame_stats)};
    const airy_batch_params batch_params = {.dtype = AIRY_DTYPE_U16,
                                            .height = CROWD,
                                            .width = CROWD,
                                            .codec = {.codec = AIRY_CODEC_BSLZ4},
                                            .frames = n};
    double *got = check_alloc(c, n * AIRY_SUM_PLANES * sizeof *got);
    airy_array *d_frames = check_upload(c, AIRY_DTYPE_U16, 3, shape, frames);
    airy_array *d_sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    airy_array *d_stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &crowd->geometry, &crowd->params)) ||
        !CHECK_OK(c, airy_batch_create(&batch, c->device, &batch_params)) ||
        !fill_batch(c, batch, frames, n))
        goto out;
    for (int chunks = 0; chunks < 2; chunks++) {
        if (!CHECK_OK(c, chunks ? airy_integrate_batch(c->queue, d_sums, d_stats, it, batch)
                                : airy_integrate(c->queue, d_sums, d_stats, it, d_frames)) ||
            !CHECK_OK(c,
                      airy_array_pull(c->queue, got, n * AIRY_SUM_PLANES * sizeof *got, d_sums)) ||
            !CHECK_OK(c, airy_queue_finish(c->queue)))
            goto out;
        /* Fixed point: 22 bits, and the float's rounding. */
        const bool fixed = chunks && !c->is_cpu &&
                           crowd->params.error_model == AIRY_ERROR_MODEL_POISSON;
        for (size_t f = 0; f < n; f++)
            compare_crowd(c, it, frames + f * CROWD_PIXELS, got + f * AIRY_SUM_PLANES,
                          fixed ? 0x1p-23 + 0x1p-24 : 0, chunks ? "chunks" : "frames");
    }
out:
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&it);
}

/* Where nearly all of a bin is left out, what is left is as good as if it were alone. */
static void check_crowd(struct check *c, airy_error_model model)
{
    if (!check_case(c, "survivors_%s", airy_error_model_name(model)))
        return;
    enum { FRAMES = 5 };
    static const size_t left[FRAMES] = {0, 1, 30, 3000, 200000};
    uint16_t *frames = check_alloc(c, FRAMES * CROWD_PIXELS * sizeof *frames);
    memset(frames, 0xff, FRAMES * CROWD_PIXELS * sizeof *frames);
    for (size_t f = 0; f < FRAMES; f++) {
        frames[f * CROWD_PIXELS + PARTLY] = 100;
        for (size_t k = 0; k < left[f]; k++)
            frames[f * CROWD_PIXELS + check_rand_u64(c) % CROWD_PIXELS] =
                (uint16_t)(check_rand_u64(c) % 50);
    }
    double share = 1;
    for (int k = 0; k < 12; k++) {
        share /= 10;
        const struct crowd crowd = make_crowd(c, share, model);
        integrate_crowd(c, &crowd, frames, k % 4 == 0 ? FRAMES : 2);
    }
}

/* A monitor m divides the intensity and its errors by m. */
static void check_finish(struct check *c)
{
    if (!check_case(c, "finish"))
        return;
    const airy_geometry g = scene_geometry(VIEW_ON, 3);
    const airy_integrator_params params = {.bins = 2};
    airy_integrator *it = NULL;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &g, &params)))
        return;
    double sums[10] = {12, 0, 9, 0, 3, 0, 4, 0, 5, 0};
    float intensity[2], std[2], sem[2];
    CHECK_OK(c, airy_integrator_finish(it, sums, 2, intensity, std, sem));
    CHECK(c, intensity[0] == 2 && std[0] == 0.75f && sem[0] == 0.5f && isnan(intensity[1]));
    CHECK(c, sums[4] == 6 && sums[6] == 16 && sums[0] == 12);
    CHECK_FAILS(c, airy_integrator_finish(it, sums, 0, intensity, std, sem), AIRY_ERR_PARAM,
                "normalization");
    CHECK_FAILS(c, airy_integrator_finish(it, sums, NAN, intensity, std, sem), AIRY_ERR_PARAM,
                "normalization");
    airy_integrator_info info;
    CHECK_OK(c, airy_integrator_get_info(it, &info));
    CHECK(c, info.pixels == PIXELS && info.valid_pixels == PIXELS && info.bins == 2 &&
                 info.entries >= PIXELS && info.lower == 0 && info.host_bytes > 0 && info.engine &&
                 *info.engine);
    airy_integrator_destroy(&it);
    CHECK(c, it == NULL);
    airy_integrator_destroy(&it);
}

/*
 * A flat curve made into an image and integrated again gives the curve back, whatever the
 * corrections.
 */
static void check_inverse(struct check *c, airy_split split)
{
    if (!check_case(c, "inverse_%s", airy_split_name(split)))
        return;
    struct scene s = {
        .dtype = AIRY_DTYPE_F64,
        .frames = 1,
        .params = {.bins = 20, .split = split, .has_polarization = true, .polarization = 0.9}};
    fill_scene(c, &s);
    s.params.mask = s.mask;
    s.mask[3] = s.mask[40] = s.mask[41] = 1; /* where dark and flat are odd */
    s.params.flat = s.flat;
    s.params.dark = s.dark;
    s.params.dummy = -1;
    const double radial[2] = {0, 1}, curve[2] = {7, 7};
    CHECK_OK(c, airy_image_from_pattern(s.data, &s.geometry, &s.params, radial, curve, 2));
    for (size_t i = 0; i < PIXELS; i++)
        CHECK(c, !s.mask[i] || ((double *)s.data)[i] == -1);
    airy_integrator *it = NULL;
    double sums[AIRY_SUM_PLANES * 20];
    airy_frame_stats stats;
    float intensity[20];
    if (CHECK_OK(c, airy_integrator_create(&it, c->device, &s.geometry, &s.params)) &&
        run_scene(c, &s, it, sums, &stats) &&
        CHECK_OK(c, airy_integrator_finish(it, sums, 1, intensity, NULL, NULL)))
        for (size_t b = 0; b < 20; b++)
            /* the normalization's rounding to float, and the result's */
            CHECK(c, isnan(intensity[b]) || fabs((double)intensity[b] - 7) <= 7 * 2.1 * 0x1p-24);
    airy_integrator_destroy(&it);
}

/*
 * The same frames from memory and from chunks, which the front decodes first where the back end
 * declines (the azimuthal model on the CPU).
 */
/* The hybrid model: with a clip. */
static void check_chunks(struct check *c, airy_codec codec, airy_error_model model,
                         airy_dtype dtype, bool saturated)
{
    if (!check_case(c, "chunks_%s_%s_%s%s", airy_codec_name(codec), airy_error_model_name(model),
                    airy_dtype_name(dtype), saturated ? "_saturated" : ""))
        return;
    enum { BAD = 1 };
    struct scene s = {.dtype = dtype,
                      .frames = 3,
                      .params = {.bins = 11,
                                 .error_model = model,
                                 .has_clip = model == AIRY_ERROR_MODEL_HYBRID,
                                 .clip_threshold = 2,
                                 .has_dummy = !saturated,
                                 .dummy = 18,
                                 .has_saturation = saturated,
                                 .saturation = 30,
                                 .mask_saturated = saturated}};
    fill_scene(c, &s);
    s.geometry.detector.dectris_dummy = saturated;
    const size_t elem = airy_dtype_size(dtype), plane = AIRY_SUM_PLANES * 11, size = PIXELS * elem;
    const airy_codec_params params = {
        .codec = codec, .elem_size = (uint32_t)elem, .block_bytes = 256};
    const airy_batch_params batch_params = {
        .dtype = s.dtype, .height = HEIGHT, .width = WIDTH, .codec = params, .frames = s.frames};
    double *want = check_alloc(c, s.frames * plane * sizeof *want),
           *got = check_alloc(c, s.frames * plane * sizeof *got);
    airy_frame_stats want_stats[3], stats[3];
    airy_integrator *it = NULL;
    airy_batch *batch = NULL;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &s.geometry, &s.params)) ||
        !run_scene(c, &s, it, want, want_stats) ||
        !CHECK_OK(c, airy_batch_create(&batch, c->device, &batch_params)))
        goto out;
    for (size_t f = 0; f < s.frames; f++) {
        size_t chunk_size = airy_encode_bound(size, &params);
        uint8_t *chunk = check_alloc(c, chunk_size);
        CHECK_OK(c, airy_encode(chunk, &chunk_size, (uint8_t *)s.data + f * size, size, &params));
        if (f == BAD)
            memset(chunk + 16, 0xff, 24); /* an endless run of literals in the first block */
        CHECK_OK(c, airy_batch_add(batch, chunk, chunk_size));
    }
    const size_t sums_shape[3] = {s.frames, AIRY_SUM_PLANES, 11},
                 stats_shape[2] = {s.frames, sizeof *stats};
    airy_array *d_sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    airy_array *d_stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    if (!CHECK_OK(c, airy_integrate_batch(c->queue, d_sums, d_stats, it, batch)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, got, s.frames * plane * sizeof *got, d_sums)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, stats, sizeof stats, d_stats)) ||
        !CHECK_OK(c, airy_queue_finish(c->queue)))
        goto out;
    for (size_t f = 0; f < s.frames; f++) {
        if (f == BAD)
            memset(want + f * plane, 0, plane * sizeof *want);
        CHECK(c, f == BAD ? stats[f].status != AIRY_FRAME_GOOD
                          : memcmp(&stats[f], &want_stats[f], sizeof *stats) == 0);
    }
    /*
     * The two ways of one device may sum in another order, and round weights differently (2^-20 of
     * the terms at worst).
     */
    check_values(c, "sums", AIRY_DTYPE_F64, got, want, s.frames * plane,
                 &(struct check_tol){.rel = 1e-6});
out:
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&it);
}

/* Interpolation: level ends, straight lines between points. */
static void check_curve(struct check *c)
{
    if (!check_case(c, "pattern_image"))
        return;
    const airy_geometry g = scene_geometry(VIEW_ON, 3);
    const airy_integrator_params params = {.unit = AIRY_UNIT_TTH_DEG, .no_solid_angle = true};
    const double x[4] = {5, 6, 9, 12}, y[4] = {1, -2, 4, 3};
    double *got = check_alloc(c, PIXELS * sizeof *got),
           *want = check_alloc(c, PIXELS * sizeof *want);
    CHECK_OK(c, airy_image_from_pattern(got, &g, &params, x, y, 4));
    for (size_t i = 0; i < PIXELS; i++) {
        const double v =
            ref_radial(&g, AIRY_UNIT_TTH_DEG, (double)(i / WIDTH) + 0.5, (double)(i % WIDTH) + 0.5);
        want[i] = v <= 5   ? 1
                  : v < 6  ? 1 - 3 * (v - 5)
                  : v < 9  ? -2 + 2 * (v - 6)
                  : v < 12 ? 4 - (v - 9) / 3
                           : 3;
    }
    check_values(c, "image", AIRY_DTYPE_F64, got, want, PIXELS, &(struct check_tol){.abs = 1e-12});
    const double down[2] = {2, 1}, odd[2] = {NAN, 1};
    CHECK_FAILS(c, airy_image_from_pattern(got, &g, &params, x, y, 0), AIRY_ERR_PARAM, "no point");
    CHECK_FAILS(c, airy_image_from_pattern(got, &g, &params, down, y, 2), AIRY_ERR_PARAM,
                "ascending");
    CHECK_FAILS(c, airy_image_from_pattern(got, &g, &params, odd, y, 2), AIRY_ERR_PARAM, "finite");
    airy_geometry bad = g;
    bad.wavelength = 0;
    CHECK_FAILS(c, airy_image_from_pattern(got, &bad, NULL, x, y, 4), AIRY_ERR_PARAM, "wavelength");
    bad.detector.height = bad.detector.width = 0;
    CHECK_FAILS(c, airy_image_from_pattern(got, &bad, &params, x, y, 4), AIRY_ERR_PARAM,
                "no shape");
    bad.dist = -1;
    CHECK_FAILS(c, airy_image_from_pattern(got, &bad, &params, x, y, 4), AIRY_ERR_PARAM,
                "distance");
    const airy_integrator_params unit = {.unit = AIRY_UNIT_COUNT},
                                 strong = {.has_polarization = true, .polarization = 2};
    CHECK_FAILS(c, airy_image_from_pattern(got, &g, &unit, x, y, 4), AIRY_ERR_PARAM, "unit");
    CHECK_FAILS(c, airy_image_from_pattern(got, &g, &strong, x, y, 4), AIRY_ERR_PARAM,
                "polarization");
}

void check_integrate(struct check *c)
{
    if (c->is_cpu) {
        check_matrix(c);
        check_pixel_test(c);
        check_saturated_intervals(c);
        check_curve(c);
    }
    if (!c->device->backend->integrate) {
        if (check_case(c, "device"))
            check_skip(c, "back end '%s' does not implement integrate", c->device->backend->name);
        return;
    }
    check_all_sums(c);
    check_emptied(c);
    check_float_saturation(c);
    check_crowd(c, AIRY_ERROR_MODEL_POISSON);
    check_crowd(c, AIRY_ERROR_MODEL_VARIANCE);
    check_finish(c);
    for (int split = 0; split <= AIRY_SPLIT_NO; split++)
        check_inverse(c, (airy_split)split);
    check_chunks(c, AIRY_CODEC_BSLZ4, AIRY_ERROR_MODEL_HYBRID, AIRY_DTYPE_U16, false);
    check_chunks(c, AIRY_CODEC_BSLZ4, AIRY_ERROR_MODEL_POISSON, AIRY_DTYPE_U32, false);
    check_chunks(c, AIRY_CODEC_BSLZ4, AIRY_ERROR_MODEL_AZIMUTHAL, AIRY_DTYPE_U32, false);
    check_chunks(c, AIRY_CODEC_LZ4, AIRY_ERROR_MODEL_NONE, AIRY_DTYPE_U32, false);
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_U16, AIRY_DTYPE_U32,
                                        AIRY_DTYPE_I8,  AIRY_DTYPE_I16, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int own = 0; own < (d < 6 ? 2 : 1); own++) {
            check_saturated(c, dtypes[d], own, AIRY_ERROR_MODEL_POISSON);
            check_saturated(c, dtypes[d], own, AIRY_ERROR_MODEL_AZIMUTHAL);
            if (own)
                check_chunks(c, AIRY_CODEC_BSLZ4, AIRY_ERROR_MODEL_POISSON, dtypes[d], true);
        }
    check_integrate_laws(c);
    check_integrate_refusals(c);
}
