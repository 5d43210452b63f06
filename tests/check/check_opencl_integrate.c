/*
 * Integration on OpenCL devices against the sums of tests/ref over the same matrix: every engine, dtype and error model, frames with values that are
 * left out, bins that are emptied.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec/chunks.h"
#include "integrate/integrate_fns.h"
#include "ref_matrix_sums.h"

struct scene_config {
    size_t height, width, bins, frames;
    airy_dtype dtype;
    airy_split split;
    airy_error_model model;
    bool dark, unweighted, dummy, compat;
    double top; /* counts reach up to here; 0: 90 */
};

struct scene {
    struct scene_config config;
    airy_integrator *integrator;
    size_t pixels;
    void *data;     /* frames in the dtype */
    double *values; /* the same as doubles */
    struct ref_rules rules;
};

struct results {
    double *sums;
    airy_frame_stats *stats;
};

static bool create_integrator(struct check *c, struct scene *scene)
{
    const struct scene_config *config = &scene->config;
    airy_geometry geometry = {.detector = {.name = "Detector", .pixel1 = 75e-6, .pixel2 = 75e-6},
                              .dist = 0.1,
                              .poni1 = 75e-6 * (double)config->height * 0.4,
                              .poni2 = 75e-6 * (double)config->width * 0.55,
                              .rot1 = 0.02,
                              .wavelength = 1e-10};
    geometry.detector.height = config->height;
    geometry.detector.width = config->width;
    uint8_t *mask = check_alloc(c, scene->pixels);
    float *dark = check_alloc(c, scene->pixels * sizeof(float));
    float *variance = check_alloc(c, scene->pixels * sizeof(float));
    for (size_t i = 0; i < scene->pixels; i++) {
        mask[i] = scene->pixels > 16 && (i % config->width % 40 == 7 || i % 29 == 3);
        dark[i] = (float)(i % 5) * 0.75f;
        variance[i] = (float)(i % 7) + 0.5f;
    }
    const airy_integrator_params params = {.bins = config->bins,
                                           .split = config->split,
                                           .error_model = config->model,
                                           .compat = config->compat ? AIRY_COMPAT_PYFAI : AIRY_COMPAT_NONE,
                                           .mask = mask,
                                           .dark = config->dark ? dark : NULL,
                                           .variance = config->model == AIRY_ERROR_MODEL_VARIANCE ? variance : NULL,
                                           .unweighted = config->unweighted,
                                           .has_dummy = config->dummy,
                                           .dummy = 77,
                                           .delta_dummy = 1.5,
                                           .has_saturation = true,
                                           .saturation = 100};
    return CHECK_OK(c, airy_integrator_create(&scene->integrator, c->device, &geometry, &params));
}

/* Small counts, in one frame of three nearly all zero, in one some of the whole range; in floats also NaN and infinities. */
static double draw_value(struct check *c, const struct scene_config *config, size_t frame)
{
    static const double most[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_U8] = 255,    [AIRY_DTYPE_I8] = 127,           [AIRY_DTYPE_U16] = 65535,
        [AIRY_DTYPE_I16] = 32767, [AIRY_DTYPE_U32] = 4294967295.0, [AIRY_DTYPE_I32] = 2147483647.0};
    const uint64_t r = check_rand_u64(c);
    const double unit = (double)(r >> 32) * 0x1p-32, top = most[config->dtype];
    if (frame % 3 == 2 && r % 512 != 0)
        return 0;
    if (airy_dtype_is_float(config->dtype)) {
        if (r % 256 == 0)
            return r % 512 ? NAN : (r % 1024 ? INFINITY : -INFINITY);
        return (double)(float)(unit * 120 - 10);
    }
    if (frame % 3 == 0 && r % 64 == 1)
        return floor(airy_dtype_is_signed(config->dtype) ? unit * (2 * top + 1) - top - 1 : unit * top);
    return floor(unit * (config->top > 0 ? config->top : 90));
}

static void put_value(void *data, airy_dtype dtype, size_t i, double v)
{
    const size_t size = airy_dtype_size(dtype);
    const int64_t whole = airy_dtype_is_float(dtype) ? 0 : (int64_t)v;
    const float single = (float)v;
    const void *from = dtype == AIRY_DTYPE_F64   ? (const void *)&v
                       : dtype == AIRY_DTYPE_F32 ? (const void *)&single
                                                 : (const void *)&whole; /* little-endian */
    memcpy((uint8_t *)data + i * size, from, size);
}

static bool open_scene(struct check *c, struct scene *scene, const struct scene_config *config)
{
    *scene = (struct scene){.config = *config, .pixels = config->height * config->width};
    if (!create_integrator(c, scene))
        return false;
    const size_t count = scene->pixels * config->frames;
    scene->data = check_alloc(c, count * airy_dtype_size(config->dtype));
    scene->values = check_alloc(c, count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        scene->values[i] = draw_value(c, config, i / scene->pixels);
        put_value(scene->data, config->dtype, i, scene->values[i]);
    }
    scene->rules = (struct ref_rules){.lo = 1, .hi = 0, .saturation = 100};
    if (config->dummy) {
        scene->rules.lo = 77 - 1.5;
        scene->rules.hi = 77 + 1.5;
        /* The whole of frame 0 is left out: every bin is emptied. */
        for (size_t i = 0; i < scene->pixels; i++) {
            scene->values[i] = 77;
            put_value(scene->data, config->dtype, i, 77);
        }
    }
    return true;
}

static struct results alloc_results(struct check *c, const struct scene_config *config)
{
    return (struct results){check_alloc(c, config->frames * AIRY_SUM_PLANES * config->bins * sizeof(double)),
                            check_alloc(c, config->frames * sizeof(airy_frame_stats))};
}

/* Frames first ... first + count - 1, or the batch. Outputs are guarded. */
static bool run_part(struct check *c, const struct results *results, const struct scene *scene, size_t first,
                     size_t count, airy_batch *batch)
{
    const struct scene_config *f = &scene->config;
    airy_array *sums = check_output(c, AIRY_DTYPE_F64, 3, (const size_t[]){count, AIRY_SUM_PLANES, f->bins});
    airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, (const size_t[]){count, sizeof(airy_frame_stats)});
    if (!sums || !stats)
        return false;
    if (batch) {
        if (!CHECK_OK(c, airy_integrate_batch(c->queue, sums, stats, scene->integrator, batch)))
            return false;
    } else {
        const uint8_t *data = (const uint8_t *)scene->data + first * scene->pixels * airy_dtype_size(f->dtype);
        airy_array *frames = check_upload(c, f->dtype, 3, (const size_t[]){count, f->height, f->width}, data);
        if (!frames || !CHECK_OK(c, airy_integrate(c->queue, sums, stats, scene->integrator, frames)))
            return false;
    }
    return CHECK_OK(c, airy_array_pull(c->queue, results->sums + first * AIRY_SUM_PLANES * f->bins,
                                       airy_array_size(sums), sums)) &&
           CHECK_OK(c, airy_array_pull(c->queue, results->stats + first, airy_array_size(stats), stats)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static struct ref_sums alloc_ref(struct check *c, size_t bins)
{
    struct ref_sums s = {0};
    double **all[] = {&s.signal,       &s.variance,     &s.normalization, &s.normalization2, &s.count,
                      &s.magnitude[0], &s.magnitude[1], &s.magnitude[2],  &s.magnitude[3],   &s.magnitude[4],
                      &s.recurrence,   &s.ordered,      &s.above};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        *all[k] = check_alloc(c, bins * sizeof(double));
    s.entries = check_alloc(c, bins * sizeof(*s.entries));
    return s;
}

static bool check_stats(struct check *c, const struct scene *scene, size_t frame, const airy_frame_stats *got,
                        const struct ref_sums *want)
{
    /* Integers are exact; in floats each addition rounds to 2^-53 of at most the sum of absolute values, below 120 a pixel. */
    const double n = (double)scene->pixels;
    const double tolerance = airy_dtype_is_float(scene->config.dtype) ? n * 0x1p-53 * 120 * n : 0;
    if (fabs(got->total - want->total) <= tolerance && got->max == want->max && got->invalid == want->invalid &&
        got->saturated == want->saturated && got->status == AIRY_FRAME_GOOD && got->reserved == 0)
        return true;
    return check_failed(c, __FILE__, __LINE__,
                        "frame %zu: total %.17g max %g invalid %u saturated %u status %x, expected %.17g %g %u %u",
                        frame, got->total, got->max, got->invalid, got->saturated, got->status, want->total, want->max,
                        want->invalid, want->saturated);
}

/* slack: [planes][bins] what the engine may be off beside rounding, or NULL. */
static bool check_frame(struct check *c, const struct scene *scene, size_t frame, const double *got,
                        const struct ref_sums *want, const double *slack)
{
    static const char *const names[] = {"signal", "variance", "normalization", "normalization2", "count"};
    const airy_integrator *it = scene->integrator;
    const struct scene_config *f = &scene->config;
    const size_t bins = it->bins;
    const bool azimuthal = f->model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const double *planes[AIRY_SUM_PLANES] = {want->signal, azimuthal && f->compat ? want->recurrence : want->variance,
                                             want->normalization, want->normalization2, want->count};
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        for (size_t b = 0; b < bins; b++) {
            /* n terms, each and each partial sum rounded to 2^-53 of at most the sum of absolute terms; twice that where pixels are added and
             * taken away again. Azimuthal: the mean has that error too, and so has each square relative to the largest terms; the
             * recurrence carries the errors of all means before. */
            const double n = it->base_entries[b];
            const double all = (double)it->matrix.entries;
            const double factor = k == AIRY_SUM_VARIANCE && azimuthal ? (f->compat ? 4 * all : 4) : 1;
            const double tolerance = factor * 2 * (n + 8) * 0x1p-53 * want->magnitude[k][b] +
                                     (slack ? slack[k * bins + b] : 0);
            const double v = got[k * bins + b], expected = want->entries[b] ? planes[k][b] : 0;
            if (!(fabs(v - expected) <= (want->entries[b] ? tolerance : 0)))
                return check_failed(c, __FILE__, __LINE__, "frame %zu, %s[%zu] = %.17g, expected %.17g +- %g", frame,
                                    names[k], b, v, expected, tolerance);
        }
    }
    return true;
}

static void check_against_reference(struct check *c, const struct scene *scene, const struct results *results,
                                    const double *slack)
{
    const airy_integrator *it = scene->integrator;
    struct ref_sums want = alloc_ref(c, it->bins);
    const struct ref_matrix matrix = {.pixels = it->pixels,
                                      .bins = it->bins,
                                      .start = it->matrix.start,
                                      .bin = it->matrix.bin,
                                      .coef = it->matrix.coef,
                                      .weight = it->weight,
                                      .norm = it->norm,
                                      .dark = it->dark,
                                      .variance = it->variance,
                                      .valid = it->valid};
    for (size_t i = 0; i < scene->config.frames; i++) {
        ref_matrix_sums(&want, &matrix, scene->values + i * scene->pixels, &scene->rules,
                        (enum ref_model)scene->config.model, &it->pixels, 1);
        const size_t planes = AIRY_SUM_PLANES * it->bins;
        if (!check_stats(c, scene, i, &results->stats[i], &want) ||
            !check_frame(c, scene, i, results->sums + i * planes, &want, slack ? slack + i * planes : NULL))
            return;
    }
}

static bool start_case(struct check *c, const char *what, const struct scene_config *f)
{
    return check_case(c, "%s_%s_%zux%zu_b%zu_n%zu_%s_%s%s%s%s%s", what, airy_dtype_name(f->dtype), f->height, f->width,
                      f->bins, f->frames, airy_split_name(f->split), airy_error_model_name(f->model),
                      f->dark ? "_dark" : "", f->unweighted ? "_unweighted" : "", f->dummy ? "_dummy" : "",
                      f->compat ? "_compat" : "");
}

/* All frames in one call, then one by one: the same bits. */
static void check_gather(struct check *c, const struct scene_config *config)
{
    struct scene scene;
    if (!start_case(c, "opencl_gather", config))
        return;
    const struct results got = alloc_results(c, config), single = alloc_results(c, config);
    if (open_scene(c, &scene, config) && run_part(c, &got, &scene, 0, config->frames, NULL)) {
        check_against_reference(c, &scene, &got, NULL);
        bool ok = true;
        for (size_t i = 0; i < config->frames && ok; i++)
            ok = run_part(c, &single, &scene, i, 1, NULL);
        if (ok) {
            check_values(c, "sums one by one", AIRY_DTYPE_F64, single.sums, got.sums,
                         config->frames * AIRY_SUM_PLANES * config->bins, NULL);
            CHECK(c, memcmp(single.stats, got.stats, config->frames * sizeof(*got.stats)) == 0);
        }
    }
    airy_integrator_destroy(&scene.integrator);
}

void check_opencl_integrate(struct check *c)
{
    if (c->is_cpu)
        return;
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16, AIRY_DTYPE_I16,
                                        AIRY_DTYPE_U32, AIRY_DTYPE_I32, AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    struct scene_config f = {.height = 83, .width = 97, .bins = 50, .frames = 5, .split = AIRY_SPLIT_BBOX};
    for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++) {
        f.dtype = dtypes[k];
        f.dummy = k % 2 == 0;
        f.model = k % 3 == 0 ? AIRY_ERROR_MODEL_POISSON : AIRY_ERROR_MODEL_NONE;
        check_gather(c, &f);
    }
    f = (struct scene_config){.height = 83, .width = 97, .bins = 50, .frames = 3, .dtype = AIRY_DTYPE_U16};
    for (int model = 0; model < AIRY_ERROR_MODEL_COUNT; model++)
        for (int corrected = 0; corrected < 2; corrected++) {
            f.model = (airy_error_model)model;
            f.dark = f.unweighted = f.dummy = corrected;
            check_gather(c, &f);
        }
    /* Rows of more than one piece; more bins than pixels; a pixel; the recurrence. */
    check_gather(c, &(struct scene_config){.height = 150,
                                           .width = 201,
                                           .bins = 3,
                                           .frames = 2,
                                           .model = AIRY_ERROR_MODEL_POISSON,
                                           .dtype = AIRY_DTYPE_U32});
    check_gather(c, &(struct scene_config){.height = 20,
                                           .width = 21,
                                           .bins = 2000,
                                           .frames = 9,
                                           .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                           .dtype = AIRY_DTYPE_F32});
    check_gather(c, &(struct scene_config){.height = 1, .width = 1, .bins = 4, .frames = 1, .dtype = AIRY_DTYPE_U8});
    check_gather(c, &(struct scene_config){.height = 61,
                                           .width = 67,
                                           .bins = 40,
                                           .frames = 3,
                                           .compat = true,
                                           .split = AIRY_SPLIT_NO,
                                           .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                           .dummy = true,
                                           .dark = true,
                                           .dtype = AIRY_DTYPE_I32});
}
