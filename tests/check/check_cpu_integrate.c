/*
 * What only the CPU back end promises: sums in a fixed order, so that instruction set, threads,
 * batch and codec change no bit. The order itself is written down in tests/ref; every instruction
 * set is compared with it, and so with the others.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "codec/chunks.h"
#include "cpu/cpu_integrate.h"
#include "ref_matrix_sums.h"

struct config {
    size_t height, width, bins, frames;
    airy_dtype dtype;
    airy_split split;
    airy_error_model model;
    bool dark, unweighted, dummy, compat;
};

/* What a case works on. The integrator goes when the scene is closed. */
struct scene {
    struct config config;
    airy_integrator *integrator;
    size_t pixels;
    void *data;     /* frames in the dtype */
    double *values; /* the same as doubles */
    struct ref_rules rules;
};

static airy_status create_integrator(struct check *c, airy_integrator **integrator,
                                     airy_device *device, const struct config *config)
{
    const size_t pixels = config->height * config->width;
    struct check_slab slab;
    check_slab_make(c, &slab, config->height, config->width);
    /* The whole second half of the first tile too, in larger frames. */
    if (pixels > 4096)
        memset(slab.mask + 1024, 1, 1024);
    airy_integrator_params params = {.bins = config->bins,
                                     .split = config->split,
                                     .error_model = config->model,
                                     .mask = slab.mask,
                                     .unweighted = config->unweighted,
                                     .has_dummy = config->dummy,
                                     .dummy = 77,
                                     .delta_dummy = 1.5};
    params.compat = config->compat ? AIRY_COMPAT_PYFAI : AIRY_COMPAT_NONE;
    params.dark = config->dark ? slab.dark : NULL;
    params.variance = config->model == AIRY_ERROR_MODEL_VARIANCE ? slab.variance : NULL;
    params.has_saturation = true;
    params.saturation = 100;
    return airy_integrator_create(integrator, device, &slab.geometry, &params);
}

/*
 * Mostly small counts, in one frame of three none but zeros; some values of the dtype's whole
 * range; in floats also NaN and infinities.
 */
static double draw_value(struct check *c, airy_dtype dtype, size_t frame)
{
    static const double least[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_I8] = -128, [AIRY_DTYPE_I16] = -32768, [AIRY_DTYPE_I32] = -2147483648.0};
    static const double most[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_U8] = 255,    [AIRY_DTYPE_I8] = 127,           [AIRY_DTYPE_U16] = 65535,
        [AIRY_DTYPE_I16] = 32767, [AIRY_DTYPE_U32] = 4294967295.0, [AIRY_DTYPE_I32] = 2147483647.0};
    const uint64_t r = check_rand_u64(c);
    const double unit = (double)(r >> 32) * 0x1p-32;
    if (frame % 3 == 2 && r % 512 != 0)
        return 0;
    if (airy_dtype_is_float(dtype)) {
        if (r % 256 == 0)
            return r % 512 ? NAN : (r % 1024 ? INFINITY : -INFINITY);
        return dtype == AIRY_DTYPE_F32 ? (double)(float)(unit * 120 - 10) : unit * 120 - 10;
    }
    if (frame % 3 == 0 && r % 64 == 1)
        return floor(least[dtype] + unit * (most[dtype] - least[dtype]));
    return floor(unit * 90);
}

static bool open_scene(struct check *c, struct scene *scene, const struct config *config)
{
    *scene = (struct scene){.config = *config, .pixels = config->height * config->width};
    const size_t count = scene->pixels * config->frames;
    if (!CHECK_OK(c, create_integrator(c, &scene->integrator, c->device, config)))
        return false;
    scene->data = check_alloc(c, count * airy_dtype_size(config->dtype));
    scene->values = check_alloc(c, count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        scene->values[i] = draw_value(c, config->dtype, i / scene->pixels);
        check_put(scene->data, config->dtype, i, scene->values[i]);
    }
    scene->rules = (struct ref_rules){.lo = 1, .hi = 0, .saturation = 100};
    if (config->dummy) {
        scene->rules.lo = 77 - 1.5;
        scene->rules.hi = 77 + 1.5;
    }
    return true;
}

static void close_scene(struct scene *scene)
{
    airy_integrator_destroy(&scene->integrator);
}

struct results {
    double *sums;
    airy_frame_stats *stats;
};

static struct results alloc_results(struct check *c, const struct scene *scene)
{
    const size_t n = scene->config.frames;
    return (struct results){
        .sums = check_alloc(c, n * AIRY_SUM_PLANES * scene->config.bins * sizeof(double)),
        .stats = check_alloc(c, n * sizeof(airy_frame_stats))};
}

/* Where frames [first, first + count) have their results. */
static double *sums_of(const struct scene *scene, const struct results *results, size_t first)
{
    return results->sums + first * AIRY_SUM_PLANES * scene->config.bins;
}

/* Frames [first, first + count), or with batch not NULL that batch of them. */
static bool run_part(struct check *c, struct results *results, const struct scene *scene,
                     airy_queue *queue, const airy_integrator *integrator, size_t first,
                     size_t count, airy_batch *batch)
{
    const struct config *config = &scene->config;
    airy_device *device = airy_queue_device(queue);
    const size_t sums_shape[] = {count, AIRY_SUM_PLANES, config->bins},
                 stats_shape[] = {count, sizeof(airy_frame_stats)};
    const size_t shape[] = {count, config->height, config->width};
    const char *data = (const char *)scene->data +
                       first * scene->pixels * airy_dtype_size(config->dtype);
    airy_array *sums = NULL, *stats = NULL, *frames = NULL;
    bool ok = CHECK_OK(c, airy_array_create(&sums, device, AIRY_DTYPE_F64, 3, sums_shape)) &&
              CHECK_OK(c, airy_array_create(&stats, device, AIRY_DTYPE_U8, 2, stats_shape)) &&
              CHECK_OK(c, airy_array_fill(queue, sums, NAN));
    if (ok && batch)
        ok = CHECK_OK(c, airy_integrate_batch(queue, sums, stats, integrator, batch));
    else if (ok)
        ok = CHECK_OK(c, airy_array_create_from(&frames, queue, config->dtype, 3, shape, data)) &&
             CHECK_OK(c, airy_integrate(queue, sums, stats, integrator, frames));
    ok = ok &&
         CHECK_OK(c, airy_array_pull(queue, sums_of(scene, results, first), airy_array_size(sums),
                                     sums)) &&
         CHECK_OK(c,
                  airy_array_pull(queue, results->stats + first, airy_array_size(stats), stats)) &&
         CHECK_OK(c, airy_queue_finish(queue));
    airy_array_destroy(&frames);
    airy_array_destroy(&stats);
    airy_array_destroy(&sums);
    return ok;
}

static bool run_frames(struct check *c, struct results *results, const struct scene *scene)
{
    return run_part(c, results, scene, c->queue, scene->integrator, 0, scene->config.frames, NULL);
}

static bool check_same(struct check *c, const struct scene *scene, const struct results *got,
                       const struct results *want, const char *what)
{
    const size_t n = scene->config.frames, bins = scene->config.bins;
    if (memcmp(got->stats, want->stats, n * sizeof(*want->stats)) != 0)
        return check_failed(c, __FILE__, __LINE__, "%s: statistics differ", what);
    return check_values(c, what, AIRY_DTYPE_F64, got->sums, want->sums, n * AIRY_SUM_PLANES * bins,
                        NULL);
}

static struct ref_sums alloc_ref(struct check *c, size_t bins)
{
    struct ref_sums s = {0};
    double **all[] = {&s.signal,       &s.variance,     &s.normalization, &s.normalization2,
                      &s.count,        &s.magnitude[0], &s.magnitude[1],  &s.magnitude[2],
                      &s.magnitude[3], &s.magnitude[4], &s.recurrence,    &s.ordered,
                      &s.above,        &s.all_dark};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        *all[k] = check_alloc(c, bins * sizeof(double));
    s.entries = check_alloc(c, bins * sizeof(*s.entries));
    return s;
}

static enum ref_model ref_model_of(airy_error_model model)
{
    switch (model) {
    case AIRY_ERROR_MODEL_POISSON:
        return REF_MODEL_POISSON;
    case AIRY_ERROR_MODEL_AZIMUTHAL:
        return REF_MODEL_AZIMUTHAL;
    case AIRY_ERROR_MODEL_VARIANCE:
        return REF_MODEL_VARIANCE;
    default:
        return REF_MODEL_NONE;
    }
}

/*
 * The n terms of pixels that count in the frame, each and each partial sum rounded to 2^-53 of at
 * most the sum of their absolute values, here and in the reference; whatever is left out adds no
 * more than one rounding, and 2^-104 of its dark for each entry. A factor where a term itself
 * comes out of several operations.
 */
static double tolerance_of(const struct scene *scene, const struct ref_sums *want, size_t plane,
                           size_t b, double terms_factor)
{
    const double n = want->entries[b], all = scene->integrator->base_entries[b];
    const double dark = plane == AIRY_SUM_SIGNAL ? all * 0x1p-104 * want->all_dark[b] : 0;
    return terms_factor * 2 * (n + 8) * 0x1p-53 * want->magnitude[plane][b] + dark;
}

static bool check_plane(struct check *c, const struct scene *scene, const char *plane, size_t frame,
                        const double *got, const double *want, const double *tolerances)
{
    for (size_t b = 0; b < scene->config.bins; b++) {
        const double tolerance = tolerances[b];
        if (!(fabs(got[b] - want[b]) <= tolerance))
            return check_failed(c, __FILE__, __LINE__,
                                "frame %zu, %s[%zu] = %.17g, expected %.17g +- %g", frame, plane, b,
                                got[b], want[b], tolerance);
    }
    return true;
}

static bool check_stats(struct check *c, const struct scene *scene, size_t frame,
                        const airy_frame_stats *got, const struct ref_sums *want)
{
    double tolerance = 0;
    /*
     * Integers are exact; in floats each addition rounds to 2^-53 of at most the sum of absolute
     * values, below 120 a pixel.
     */
    if (airy_dtype_is_float(scene->config.dtype))
        tolerance = (double)scene->pixels * 0x1p-53 * 120 * (double)scene->pixels;
    if (!(fabs(got->total - want->total) <= tolerance) || got->max != want->max ||
        got->invalid != want->invalid || got->saturated != want->saturated ||
        got->status != AIRY_FRAME_GOOD || got->reserved != 0)
        return check_failed(c, __FILE__, __LINE__,
                            "frame %zu: total %.17g max %g invalid %u saturated %u status %x, "
                            "expected %.17g %g %u %u",
                            frame, got->total, got->max, got->invalid, got->saturated, got->status,
                            want->total, want->max, want->invalid, want->saturated);
    return true;
}

static bool check_frame(struct check *c, const struct scene *scene, size_t frame, const double *got,
                        const struct ref_sums *want)
{
    const airy_integrator *it = scene->integrator;
    const size_t bins = it->bins;
    const bool azimuthal = scene->config.model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const double *variance = azimuthal && scene->config.compat ? want->recurrence : want->variance;
    const double *planes[AIRY_SUM_PLANES] = {want->signal, variance, want->normalization,
                                             want->normalization2, want->count};
    static const char *const names[] = {"signal", "variance", "normalization", "normalization2",
                                        "count"};
    double *tolerances = check_alloc(c, bins * sizeof(*tolerances));
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        /* Azimuthal: the mean has an error of (n + 8) 2^-53, and so has each square, relative to
         * the square of the largest terms, before n of them are added. The recurrence carries the
         * errors of all means before. */
        const double n = (double)it->matrix.entries;
        const double factor =
            k == AIRY_SUM_VARIANCE && azimuthal ? (scene->config.compat ? 4 * n : 4) : 1;
        for (size_t b = 0; b < bins; b++)
            tolerances[b] = tolerance_of(scene, want, k, b, factor);
        if (!check_plane(c, scene, names[k], frame, got + k * bins, planes[k], tolerances))
            return false;
    }
    for (size_t b = 0; b < bins; b++) {
        const double *bin = got + b;
        if (want->entries[b] == 0)
            for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
                if (bin[k * bins] != 0)
                    return check_failed(c, __FILE__, __LINE__,
                                        "frame %zu: %s[%zu] = %g of an empty bin", frame, names[k],
                                        b, bin[k * bins]);
        if (want->entries[b] != 0 && !scene->config.dark && bin[0] != want->ordered[b])
            return check_failed(c, __FILE__, __LINE__,
                                "frame %zu: signal[%zu] = %a, in the promised order %a", frame, b,
                                bin[0], want->ordered[b]);
        if (scene->config.model == AIRY_ERROR_MODEL_POISSON && want->invalid == 0 &&
            bin[AIRY_SUM_VARIANCE * bins] != it->base_variance[b] + want->above[b])
            return check_failed(
                c, __FILE__, __LINE__, "frame %zu: variance[%zu] = %a, in the promised order %a",
                frame, b, bin[AIRY_SUM_VARIANCE * bins], it->base_variance[b] + want->above[b]);
    }
    return true;
}

static void check_against_reference(struct check *c, const struct scene *scene,
                                    const struct results *results)
{
    const airy_integrator *it = scene->integrator;
    const struct airy_cpu_matrix *m = it->state;
    struct ref_sums want = alloc_ref(c, it->bins);
    size_t ends[AIRY_MAX_SLICES];
    for (size_t s = 0; s < m->slices; s++)
        ends[s] = m->slice[s].pixel + m->slice[s].pixels;
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
    for (size_t f = 0; f < scene->config.frames; f++) {
        ref_matrix_sums(&want, &matrix, scene->values + f * scene->pixels, &scene->rules,
                        ref_model_of(scene->config.model), ends, m->slices);
        if (!check_stats(c, scene, f, &results->stats[f], &want) ||
            !check_frame(c, scene, f, sums_of(scene, results, f), &want))
            return;
    }
}

static bool start_case(struct check *c, const char *what, const struct config *config)
{
    return check_case(c, "%s_%s_%zux%zu_b%zu_n%zu_%s_%s%s%s%s%s", what,
                      airy_dtype_name(config->dtype), config->height, config->width, config->bins,
                      config->frames, airy_split_name(config->split),
                      airy_error_model_name(config->model), config->dark ? "_dark" : "",
                      config->unweighted ? "_unweighted" : "", config->dummy ? "_dummy" : "",
                      config->compat ? "_compat" : "");
}

static void check_sums(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate", config))
        return;
    if (open_scene(c, &scene, config)) {
        struct results got = alloc_results(c, &scene);
        if (run_frames(c, &got, &scene))
            check_against_reference(c, &scene, &got);
    }
    close_scene(&scene);
}

static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16, AIRY_DTYPE_I16,
                                    AIRY_DTYPE_U32, AIRY_DTYPE_I32, AIRY_DTYPE_F32, AIRY_DTYPE_F64};
enum { DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

static void check_all_sums(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1}, {3, 5}, {37, 53}, {64, 64}, {131, 127}};
    for (size_t d = 0; d < DTYPES; d++) {
        for (int model = 0; model < AIRY_ERROR_MODEL_HYBRID; model++) {
            /* One, two, three or more entries a pixel, and more than the compact matrix takes. */
            const size_t k = d + (size_t)model;
            static const size_t bins[] = {60, 25, 150, 900, 350};
            struct config config = {.height = shapes[4][0],
                                    .width = shapes[4][1],
                                    .bins = bins[k % 5],
                                    .frames = 19,
                                    .dtype = dtypes[d],
                                    .split = k % 4 == 1   ? AIRY_SPLIT_NO
                                             : k % 4 == 2 ? AIRY_SPLIT_BBOX
                                                          : AIRY_SPLIT_FULL,
                                    .model = (airy_error_model)model,
                                    .dark = k % 3 == 0,
                                    .unweighted = k % 5 == 4,
                                    .dummy = k % 2 == 0};
            check_sums(c, &config);
            config.dummy = !config.dummy;
            config.bins = bins[(k + 2) % 5];
            config.split = AIRY_SPLIT_FULL;
            check_sums(c, &config);
        }
        for (size_t s = 0; s < 4; s++)
            check_sums(c, &(struct config){.height = shapes[s][0],
                                           .width = shapes[s][1],
                                           .bins = 10,
                                           .frames = 17,
                                           .dtype = dtypes[d],
                                           .model = AIRY_ERROR_MODEL_POISSON,
                                           .dummy = s % 2});
        check_sums(c, &(struct config){.height = 67,
                                       .width = 61,
                                       .bins = 40,
                                       .frames = 3,
                                       .dtype = dtypes[d],
                                       .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                       .dummy = true,
                                       .unweighted = d % 2,
                                       .compat = true});
    }
    /*
     * All 64 slices; bins beyond 16 bits, of pixels with many entries and with one, and so many
     * that there are fewer slices and lanes.
     */
    check_sums(c,
               &(struct config){
                   .height = 803, .width = 801, .bins = 500, .frames = 3, .dtype = AIRY_DTYPE_U32});
    check_sums(
        c, &(struct config){
               .height = 13, .width = 797, .bins = 70000, .frames = 5, .dtype = AIRY_DTYPE_U16});
    check_sums(c, &(struct config){.height = 53,
                                   .width = 61,
                                   .bins = 100000,
                                   .frames = 5,
                                   .dtype = AIRY_DTYPE_U16,
                                   .split = AIRY_SPLIT_NO});
    check_sums(c, &(struct config){.height = 203,
                                   .width = 201,
                                   .bins = 1000000,
                                   .frames = 4,
                                   .dtype = AIRY_DTYPE_U16,
                                   .split = AIRY_SPLIT_NO,
                                   .model = AIRY_ERROR_MODEL_POISSON});
}

/* Every batch size, and every number of threads, gives the bits that all frames at once give. */
static void check_batches(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate_batches", config))
        return;
    if (!open_scene(c, &scene, config)) {
        close_scene(&scene);
        return;
    }
    struct results want = alloc_results(c, &scene), got = alloc_results(c, &scene);
    bool ok = run_frames(c, &want, &scene);
    static const size_t sizes[] = {1, 2, 7, 16, 17, 33};
    for (size_t k = 0; ok && k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (size_t f = 0; ok && f < config->frames; f += sizes[k]) {
            const size_t left = config->frames - f;
            ok = run_part(c, &got, &scene, c->queue, scene.integrator, f,
                          left < sizes[k] ? left : sizes[k], NULL);
        }
        char what[32];
        snprintf(what, sizeof(what), "batches of %zu", sizes[k]);
        ok = ok && check_same(c, &scene, &got, &want, what);
    }
    for (uint32_t threads = 1; ok && threads <= 4; threads *= 2) {
        airy_device *device = NULL;
        airy_queue *queue = NULL;
        airy_integrator *integrator = NULL;
        ok = CHECK_OK(c, airy_device_create(&device, "cpu",
                                            &(airy_device_params){.threads = threads})) &&
             CHECK_OK(c, airy_queue_create(&queue, device)) &&
             CHECK_OK(c, create_integrator(c, &integrator, device, config)) &&
             run_part(c, &got, &scene, queue, integrator, 0, config->frames, NULL);
        char what[32];
        snprintf(what, sizeof(what), "%u threads", threads);
        ok = ok && check_same(c, &scene, &got, &want, what);
        airy_integrator_destroy(&integrator);
        airy_queue_destroy(&queue);
        airy_device_destroy(&device);
    }
    close_scene(&scene);
}

/*
 * A limit that holds few frames of scratch makes smaller waves, and the same bits; one that holds
 * none is an error that says so.
 */
static void check_memory_limit(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate_memory_limit", config))
        return;
    if (!open_scene(c, &scene, config)) {
        close_scene(&scene);
        return;
    }
    struct results want = alloc_results(c, &scene), got = alloc_results(c, &scene);
    bool ok = run_frames(c, &want, &scene);
    const uint64_t frames = config->frames * scene.pixels * airy_dtype_size(config->dtype);
    const uint64_t sums = config->frames * (AIRY_SUM_PLANES * config->bins * sizeof(double) +
                                            sizeof(airy_frame_stats));
    airy_integrator_info held = {0}; /* the matrix counts, too */
    airy_integrator *plain = NULL;
    ok = ok && CHECK_OK(c, create_integrator(c, &plain, c->device, config)) &&
         CHECK_OK(c, airy_integrator_get_info(plain, &held));
    airy_integrator_destroy(&plain);
    const uint64_t base = frames + sums + held.host_bytes + held.device_bytes;
    static const uint64_t extra[] = {12u << 20, 3u << 20, 1u << 16};
    for (size_t k = 0; ok && k < sizeof(extra) / sizeof(extra[0]); k++) {
        const airy_device_params params = {.threads = 2, .memory_limit = base + extra[k]};
        airy_device *device = NULL;
        airy_queue *queue = NULL;
        airy_integrator *integrator = NULL;
        ok = CHECK_OK(c, airy_device_create(&device, "cpu", &params)) &&
             CHECK_OK(c, airy_queue_create(&queue, device)) &&
             CHECK_OK(c, create_integrator(c, &integrator, device, config));
        if (ok && extra[k] >= 1u << 20) {
            ok = run_part(c, &got, &scene, queue, integrator, 0, config->frames, NULL) &&
                 check_same(c, &scene, &got, &want, "a small limit");
        } else if (ok) {
            const size_t sums_shape[] = {1, AIRY_SUM_PLANES, config->bins},
                         stats_shape[] = {1, sizeof(airy_frame_stats)};
            const size_t shape[] = {config->frames, config->height, config->width};
            const size_t one[] = {1, config->height, config->width}, start[] = {0, 0, 0};
            airy_array *d_sums = NULL, *d_stats = NULL, *d_frames = NULL, *d_one = NULL,
                       *d_rest = NULL;
            size_t rest = (size_t)(sums - sums / config->frames + extra[k] / 2);
            ok = CHECK_OK(c, airy_array_create(&d_sums, device, AIRY_DTYPE_F64, 3, sums_shape)) &&
                 CHECK_OK(c, airy_array_create(&d_stats, device, AIRY_DTYPE_U8, 2, stats_shape)) &&
                 CHECK_OK(c, airy_array_create(&d_frames, device, config->dtype, 3, shape)) &&
                 CHECK_OK(c, airy_array_create(&d_rest, device, AIRY_DTYPE_U8, 1, &rest)) &&
                 CHECK_OK(c, airy_array_view(&d_one, d_frames, start, one));
            if (ok)
                CHECK_FAILS(c, airy_integrate(queue, d_sums, d_stats, integrator, d_one),
                            AIRY_ERR_MEMORY, "limit");
            airy_array_destroy(&d_one);
            airy_array_destroy(&d_rest);
            airy_array_destroy(&d_frames);
            airy_array_destroy(&d_stats);
            airy_array_destroy(&d_sums);
        }
        airy_integrator_destroy(&integrator);
        airy_queue_destroy(&queue);
        airy_device_destroy(&device);
    }
    close_scene(&scene);
}

static bool create_batch(struct check *c, airy_batch **batch, const struct scene *scene,
                         airy_codec codec, uint32_t block_bytes)
{
    const struct config *config = &scene->config;
    const airy_codec_params params = {.codec = codec,
                                      .elem_size = (uint32_t)airy_dtype_size(config->dtype),
                                      .block_bytes = block_bytes};
    const airy_batch_params batch_params = {.dtype = config->dtype,
                                            .height = config->height,
                                            .width = config->width,
                                            .codec = params,
                                            .frames = config->frames};
    const size_t size = scene->pixels * airy_dtype_size(config->dtype),
                 bound = airy_encode_bound(size, &params);
    bool ok = CHECK_OK(c, airy_batch_create(batch, c->device, &batch_params));
    char *chunk = check_alloc(c, bound);
    for (size_t f = 0; ok && f < config->frames; f++) {
        size_t used = bound;
        ok = CHECK_OK(c, airy_encode(chunk, &used, (const char *)scene->data + f * size, size,
                                     &params)) &&
             CHECK_OK(c, airy_batch_add(*batch, chunk, used));
    }
    return ok;
}

/* Compressed frames give the bits of the frames in memory. */
static void check_chunks(struct check *c, airy_codec codec, uint32_t block_elements,
                         const struct config *config)
{
    struct scene scene;
    const uint32_t block_bytes = block_elements * (uint32_t)airy_dtype_size(config->dtype);
    char what[64];
    snprintf(what, sizeof(what), "cpu_integrate_%s_block%u", airy_codec_name(codec),
             block_elements);
    if (!start_case(c, what, config))
        return;
    airy_batch *batch = NULL;
    if (open_scene(c, &scene, config)) {
        struct results want = alloc_results(c, &scene), got = alloc_results(c, &scene);
        if (run_frames(c, &want, &scene) && create_batch(c, &batch, &scene, codec, block_bytes) &&
            run_part(c, &got, &scene, c->queue, scene.integrator, 0, config->frames, batch))
            check_same(c, &scene, &got, &want, "compressed");
    }
    airy_batch_destroy(&batch);
    close_scene(&scene);
}

static void check_all_chunks(struct check *c)
{
    /*
     * Elements a block: the format's own, parts of a tile, whole tiles, and sizes that straddle
     * tiles and slices.
     */
    static const uint32_t blocks[] = {0, 8, 64, 1000, 4096, 8192, 12288};
    static const airy_codec codecs[] = {AIRY_CODEC_BSLZ4, AIRY_CODEC_LZ4, AIRY_CODEC_BSHUF,
                                        AIRY_CODEC_NONE};
    for (size_t d = 0; d < DTYPES; d++) {
        const struct config config = {.height = 131,
                                      .width = 257,
                                      .bins = 100,
                                      .frames = 19,
                                      .dtype = dtypes[d],
                                      .model = (airy_error_model)(d % AIRY_ERROR_MODEL_HYBRID),
                                      .dummy = d % 3 == 0};
        for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++)
            check_chunks(c, AIRY_CODEC_BSLZ4, blocks[b], &config);
        for (size_t k = 1; k < sizeof(codecs) / sizeof(codecs[0]); k++) {
            check_chunks(c, codecs[k], 0, &config);
            check_chunks(c, codecs[k], codecs[k] == AIRY_CODEC_LZ4 ? 2048 : 0, &config);
        }
    }
    check_chunks(
        c, AIRY_CODEC_BSLZ4, 0,
        &(struct config){.height = 3, .width = 5, .bins = 4, .frames = 5, .dtype = AIRY_DTYPE_U32});
    check_chunks(
        c, AIRY_CODEC_BSLZ4, 0,
        &(struct config){.height = 1, .width = 3, .bins = 4, .frames = 5, .dtype = AIRY_DTYPE_U16});
    check_chunks(
        c, AIRY_CODEC_BSLZ4, 0,
        &(struct config){
            .height = 803, .width = 801, .bins = 500, .frames = 2, .dtype = AIRY_DTYPE_U32});
}

/* Bytes of a compressed block that no decoder can accept: a length that never ends. */
static void spoil_block(airy_batch *batch, const struct airy_chunks *chunks, size_t frame,
                        uint32_t block)
{
    const airy_block place = chunks->host_table[frame * chunks->layout.blocks + block];
    /* The table counts from the start of the batch, which is where host_table lies. */
    (void)batch;
    memset((uint8_t *)(uintptr_t)chunks->host_table + place.offset, 0xff, place.size);
}

/*
 * In each place of a batch a frame that does not decode, in its first, a middle, or its last
 * block: the others keep their bits.
 */
static void check_hostile(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate_hostile", config))
        return;
    if (!open_scene(c, &scene, config)) {
        close_scene(&scene);
        return;
    }
    struct results want = alloc_results(c, &scene), got = alloc_results(c, &scene);
    const size_t size = AIRY_SUM_PLANES * config->bins;
    double *nothing = check_alloc(c, size * sizeof(double));
    bool ok = run_frames(c, &want, &scene);
    for (size_t bad = 0; ok && bad < config->frames; bad++) {
        airy_batch *batch = NULL;
        struct airy_chunks chunks;
        ok = create_batch(c, &batch, &scene, AIRY_CODEC_BSLZ4, 0) &&
             CHECK_OK(c, airy_batch_upload(c->queue, batch, &chunks));
        if (ok) {
            const uint32_t coded = chunks.layout.full_blocks + (chunks.layout.last_bytes != 0);
            const uint32_t block = bad % 3 == 0 ? 0 : bad % 3 == 1 ? coded / 2 : coded - 1;
            spoil_block(batch, &chunks, bad, block);
            spoil_block(batch, &chunks, bad, coded - 1);
            ok = run_part(c, &got, &scene, c->queue, scene.integrator, 0, config->frames, batch) &&
                 CHECK(c, got.stats[bad].status >> 3 == block) &&
                 CHECK(c, got.stats[bad].total == 0 && got.stats[bad].max == 0 &&
                              got.stats[bad].invalid == 0) &&
                 check_values(c, "sums of the bad frame", AIRY_DTYPE_F64,
                              sums_of(&scene, &got, bad), nothing, size, NULL);
            memcpy(sums_of(&scene, &got, bad), sums_of(&scene, &want, bad), size * sizeof(double));
            got.stats[bad] = want.stats[bad];
            ok = ok && check_same(c, &scene, &got, &want, "the other frames");
        }
        airy_batch_destroy(&batch);
    }
    close_scene(&scene);
}

/* Frames that were read unpacked, or not at all, among compressed ones. */
static void check_stored(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate_stored_absent", config))
        return;
    airy_batch *batch = NULL;
    if (open_scene(c, &scene, config)) {
        struct results want = alloc_results(c, &scene), got = alloc_results(c, &scene);
        const size_t size = scene.pixels * airy_dtype_size(config->dtype);
        const airy_batch_params params = {.dtype = config->dtype,
                                          .height = config->height,
                                          .width = config->width,
                                          .codec = {.codec = AIRY_CODEC_BSLZ4},
                                          .frames = config->frames};
        size_t *sizes = check_alloc(c, config->frames * sizeof(size_t));
        for (size_t f = 0; f < config->frames; f++)
            sizes[f] = size;
        bool ok = run_frames(c, &want, &scene) &&
                  CHECK_OK(c, airy_batch_create(&batch, c->device, &params)) &&
                  CHECK_OK(c, airy_batch_reserve(batch, config->frames, sizes));
        for (size_t f = 0; ok && f < config->frames; f++) {
            if (f % 4 == 1) {
                airy_batch_index_absent(batch, f);
                continue;
            }
            memcpy(airy_batch_place(batch, f), (const char *)scene.data + f * size, size);
            airy_batch_index_stored(batch, f);
        }
        ok = ok && run_part(c, &got, &scene, c->queue, scene.integrator, 0, config->frames, batch);
        for (size_t f = 1; ok && f < config->frames; f += 4) {
            ok = CHECK(c, got.stats[f].status == AIRY_REASON_ABSENT);
            memcpy(sums_of(&scene, &got, f), sums_of(&scene, &want, f),
                   AIRY_SUM_PLANES * config->bins * sizeof(double));
            got.stats[f] = want.stats[f];
        }
        if (ok)
            check_same(c, &scene, &got, &want, "stored frames");
    }
    airy_batch_destroy(&batch);
    close_scene(&scene);
}

/*
 * Dummies at the ends of the frame and of tiles, all over, and nowhere; values that an instruction
 * set may take for negative.
 */
static void check_extremes(struct check *c, const struct config *config)
{
    struct scene scene;
    if (!start_case(c, "cpu_integrate_extremes", config))
        return;
    if (open_scene(c, &scene, config)) {
        struct results got = alloc_results(c, &scene);
        const double huge = config->dtype == AIRY_DTYPE_U32   ? 4294967295.0
                            : config->dtype == AIRY_DTYPE_I32 ? -2147483648.0
                            : config->dtype == AIRY_DTYPE_U8  ? 255
                                                              : 127;
        for (size_t i = 0; i < scene.pixels * config->frames; i++) {
            const size_t frame = i / scene.pixels, at = i % scene.pixels;
            double v = 1;
            if (frame % 6 == 0)
                v = 77;
            else if (frame % 6 == 1)
                v = at == 0 || at + 1 == scene.pixels ? 77 : 3;
            else if (frame % 6 == 2)
                v = at % AIRY_TILE == 0 || at % AIRY_TILE == AIRY_TILE - 1 || at % 16 == 15
                        ? 77
                        : (double)(at % 3);
            else if (frame % 6 == 3)
                v = huge;
            else if (frame % 6 == 4)
                v = 0;
            scene.values[i] = v;
            check_put(scene.data, config->dtype, i, v);
        }
        if (run_frames(c, &got, &scene))
            check_against_reference(c, &scene, &got);
    }
    close_scene(&scene);
}

static bool fill_eiger(struct check *c, struct scene *scene, airy_error_model model)
{
    airy_geometry geometry = {.dist = 0.2, .wavelength = 1e-10};
    if (!CHECK_OK(c, airy_detector_find(&geometry.detector, "eiger_4M")))
        return false;
    const size_t h = geometry.detector.height, w = geometry.detector.width;
    *scene = (struct scene){
        .config = {.height = h, .width = w, .bins = 1000, .frames = 32, .dtype = AIRY_DTYPE_U32},
        .pixels = h * w};
    geometry.poni1 = geometry.detector.pixel1 * (double)h / 2;
    geometry.poni2 = geometry.detector.pixel2 * (double)w / 2;
    uint8_t *mask = check_alloc(c, scene->pixels);
    double *q = check_alloc(c, scene->pixels * sizeof(double));
    const airy_integrator_params params = {.error_model = model, .mask = mask};
    if (!CHECK_OK(c, airy_detector_mask(&geometry.detector, mask)) ||
        !CHECK_OK(c, airy_geometry_centers(&geometry, AIRY_UNIT_Q_NM, q)) ||
        !CHECK_OK(c, airy_integrator_create(&scene->integrator, c->device, &geometry, &params)))
        return false;
    uint32_t *data = check_alloc(c, scene->pixels * scene->config.frames * sizeof(uint32_t));
    scene->data = data;
    for (size_t i = 0; i < scene->pixels; i++) {
        const uint32_t v = (uint32_t)airy_random_poisson(100 / (1 + q[i] * q[i]), c->seed, 0, i);
        for (size_t f = 0; f < scene->config.frames; f++)
            data[f * scene->pixels + i] = mask[i] ? UINT32_MAX : v + (uint32_t)(f * 37 % 500);
    }
    return true;
}

/*
 * The case "4M": Poisson counts around 100/(1+q^2), plus up to 500 in each frame, 2^32-1 in the
 * gaps.
 */
static void bench_eiger(struct check *c, airy_error_model model, size_t frames, bool compressed)
{
    struct scene scene = {0};
    if (!c->bench ||
        !check_case(c, "cpu_integrate_%s_uint32_4M_n%zu_%s", compressed ? "bslz4" : "frames",
                    frames, airy_error_model_name(model)))
        return;
    airy_batch *batch = NULL;
    airy_array *d_frames = NULL;
    if (fill_eiger(c, &scene, model)) {
        scene.config.frames = frames;
        const size_t shape[] = {frames, scene.config.height, scene.config.width};
        const size_t sums_shape[] = {frames, AIRY_SUM_PLANES, scene.config.bins};
        const size_t stats_shape[] = {frames, sizeof(airy_frame_stats)};
        airy_array *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
        airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
        const double bytes = (double)(frames * scene.pixels * sizeof(uint32_t));
        const double flops = 2.0 * (double)(frames * scene.integrator->matrix.entries);
        if (compressed && create_batch(c, &batch, &scene, AIRY_CODEC_BSLZ4, 0)) {
            CHECK_BENCH(c, bytes, flops,
                        airy_integrate_batch(c->queue, sums, stats, scene.integrator, batch));
        } else if (!compressed &&
                   CHECK_OK(c, airy_array_create_from(&d_frames, c->queue, AIRY_DTYPE_U32, 3, shape,
                                                      scene.data))) {
            CHECK_BENCH(c, bytes, flops,
                        airy_integrate(c->queue, sums, stats, scene.integrator, d_frames));
        }
    }
    airy_array_destroy(&d_frames);
    airy_batch_destroy(&batch);
    close_scene(&scene);
}

void check_cpu_integrate(struct check *c)
{
    if (!c->is_cpu)
        return;
    check_all_sums(c);
    for (int model = 0; model < AIRY_ERROR_MODEL_HYBRID; model++) {
        struct config config = {.height = 131,
                                .width = 257,
                                .bins = 100,
                                .frames = 33,
                                .dtype = AIRY_DTYPE_U32,
                                .model = (airy_error_model)model,
                                .dark = true,
                                .dummy = true};
        check_batches(c, &config);
        config.dtype = AIRY_DTYPE_F32;
        config.bins = 900;
        check_batches(c, &config);
        /* Without dummies, so that no tile needs a second look. */
        config.dummy = false;
        config.bins = 60;
        static const airy_dtype kinds[] = {AIRY_DTYPE_U8, AIRY_DTYPE_I16, AIRY_DTYPE_U32,
                                           AIRY_DTYPE_F64};
        config.dtype = kinds[model];
        check_batches(c, &config);
        config.dtype = AIRY_DTYPE_I32;
        config.dark = false;
        check_batches(c, &config);
    }
    check_memory_limit(c, &(struct config){.height = 307,
                                           .width = 401,
                                           .bins = 2000,
                                           .frames = 20,
                                           .dtype = AIRY_DTYPE_U16,
                                           .model = AIRY_ERROR_MODEL_POISSON});
    check_all_chunks(c);
    const struct config small = {
        .height = 131, .width = 127, .bins = 50, .frames = 18, .dtype = AIRY_DTYPE_U32};
    check_hostile(c, &small);
    check_hostile(c, &(struct config){.height = 99,
                                      .width = 98,
                                      .bins = 50,
                                      .frames = 3,
                                      .dtype = AIRY_DTYPE_U16,
                                      .model = AIRY_ERROR_MODEL_AZIMUTHAL});
    check_stored(c, &small);
    for (size_t d = 0; d < DTYPES; d++)
        check_extremes(c, &(struct config){.height = 131,
                                           .width = 127,
                                           .bins = 50,
                                           .frames = 18,
                                           .dtype = dtypes[d],
                                           .model = (airy_error_model)(d % AIRY_ERROR_MODEL_HYBRID),
                                           .dummy = true});
    bench_eiger(c, AIRY_ERROR_MODEL_NONE, 32, true);
    bench_eiger(c, AIRY_ERROR_MODEL_POISSON, 32, true);
    bench_eiger(c, AIRY_ERROR_MODEL_NONE, 1, true);
    bench_eiger(c, AIRY_ERROR_MODEL_NONE, 32, false);
    bench_eiger(c, AIRY_ERROR_MODEL_AZIMUTHAL, 32, true);
}
