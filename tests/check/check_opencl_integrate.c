/*
 * Integration on OpenCL devices against the sums of tests/ref over the same matrix: every engine,
 * dtype and error model, frames with values that are left out, bins that are emptied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/pipeline.h"
#include "base/error.h"
#include "check_eiger.h"
#include "codec/chunks.h"
#include "opencl/cl_integrate.h"
#include "ref_matrix_sums.h"

struct scene_config {
    size_t height, width, bins, frames;
    airy_dtype dtype;
    airy_split split;
    airy_error_model model;
    bool dark, unweighted, dummy, compat;
    double top;  /* counts reach up to here; 0: 90 */
    bool sliver; /* one bin has coefficients below 0.1 alone */
    bool plain;  /* nothing is saturated, and no frame has values of the whole range */
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

/* With matrix and corrections, for the reference, where the device has made them. */
static airy_status create_whole(struct scene *scene, airy_device *device,
                                const airy_geometry *geometry, const airy_integrator_params *params)
{
    AIRY_TRY(airy_integrator_create(&scene->integrator, device, geometry, params));
    airy_integrator *it = scene->integrator;
    if (it->matrix.start)
        return AIRY_OK;
    struct airy_corrections corrections;
    AIRY_TRY(airy_corrections_take(&corrections, it));
    if (corrections.own) {
        it->norm = corrections.norm;
        it->dark = corrections.dark;
        it->valid = corrections.valid;
    }
    AIRY_TRY(airy_integrator_matrix(&it->matrix, it));
    it->weight = it->matrix.coef;
    return AIRY_OK;
}

static bool create_integrator(struct check *c, struct scene *scene)
{
    const struct scene_config *config = &scene->config;
    struct check_slab slab;
    check_slab_make(c, &slab, config->height, config->width);
    const airy_integrator_params params = {
        .bins = config->bins,
        .split = config->split,
        .error_model = config->model,
        .compat = config->compat ? AIRY_COMPAT_PYFAI : AIRY_COMPAT_NONE,
        .mask = slab.mask,
        .dark = config->dark ? slab.dark : NULL,
        .variance = config->model == AIRY_ERROR_MODEL_VARIANCE ? slab.variance : NULL,
        .unweighted = config->unweighted,
        .has_dummy = config->dummy,
        .dummy = 77,
        .delta_dummy = 1.5,
        .has_saturation = !config->plain,
        .saturation = 100};
    if (!CHECK_OK(c, create_whole(scene, c->device, &slab.geometry, &params)) || !config->sliver)
        return scene->integrator != NULL;
    const struct airy_matrix *m = &scene->integrator->matrix;
    for (size_t i = 0; i < m->pixels; i++)
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++)
            slab.mask[i] |= m->bin[e] == config->bins / 2 && m->coef[e] >= 0.1f;
    airy_integrator_destroy(&scene->integrator);
    return CHECK_OK(c, create_whole(scene, c->device, &slab.geometry, &params));
}

/*
 * Small counts, in one frame of three nearly all zero, in one some of the whole range; in floats
 * also NaN and infinities.
 */
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
    if (frame % 3 == 0 && r % 64 == 1 && !config->plain)
        return floor(airy_dtype_is_signed(config->dtype) ? unit * (2 * top + 1) - top - 1
                                                         : unit * top);
    return floor(unit * (config->top > 0 ? config->top : 90));
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
        check_put(scene->data, config->dtype, i, scene->values[i]);
    }
    scene->rules =
        (struct ref_rules){.lo = 1, .hi = 0, .saturation = config->plain ? INFINITY : 100};
    if (config->dummy) {
        scene->rules.lo = 77 - 1.5;
        scene->rules.hi = 77 + 1.5;
        /* The whole of frame 0 is left out: every bin is emptied. */
        for (size_t i = 0; i < scene->pixels; i++) {
            scene->values[i] = 77;
            check_put(scene->data, config->dtype, i, 77);
        }
    }
    return true;
}

static struct results alloc_results(struct check *c, const struct scene_config *config)
{
    return (struct results){
        check_alloc(c, config->frames * AIRY_SUM_PLANES * config->bins * sizeof(double)),
        check_alloc(c, config->frames * sizeof(airy_frame_stats))};
}

/* Frames first ... first + count - 1, or the batch. Outputs are guarded. */
static bool run_part(struct check *c, const struct results *results, const struct scene *scene,
                     size_t first, size_t count, airy_batch *batch)
{
    const struct scene_config *f = &scene->config;
    airy_array *sums =
        check_output(c, AIRY_DTYPE_F64, 3, (const size_t[]){count, AIRY_SUM_PLANES, f->bins});
    airy_array *stats =
        check_output(c, AIRY_DTYPE_U8, 2, (const size_t[]){count, sizeof(airy_frame_stats)});
    if (!sums || !stats)
        return false;
    if (batch) {
        if (!CHECK_OK(c, airy_integrate_batch(c->queue, sums, stats, scene->integrator, batch)))
            return false;
    } else {
        const uint8_t *data = (const uint8_t *)scene->data +
                              first * scene->pixels * airy_dtype_size(f->dtype);
        airy_array *frames =
            check_upload(c, f->dtype, 3, (const size_t[]){count, f->height, f->width}, data);
        if (!frames ||
            !CHECK_OK(c, airy_integrate(c->queue, sums, stats, scene->integrator, frames)))
            return false;
    }
    return CHECK_OK(c, airy_array_pull(c->queue, results->sums + first * AIRY_SUM_PLANES * f->bins,
                                       airy_array_size(sums), sums)) &&
           CHECK_OK(c, airy_array_pull(c->queue, results->stats + first, airy_array_size(stats),
                                       stats)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
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

static bool check_stats(struct check *c, const struct scene *scene, size_t frame,
                        const airy_frame_stats *got, const struct ref_sums *want)
{
    /*
     * Integers are exact; in floats each addition rounds to 2^-53 of at most the sum of absolute
     * values, below 120 a pixel.
     */
    const double n = (double)scene->pixels;
    const double tolerance = airy_dtype_is_float(scene->config.dtype) ? n * 0x1p-53 * 120 * n : 0;
    if (fabs(got->total - want->total) <= tolerance && got->max == want->max &&
        got->invalid == want->invalid && got->saturated == want->saturated &&
        got->status == AIRY_FRAME_GOOD && got->reserved == 0)
        return true;
    return check_failed(
        c, __FILE__, __LINE__,
        "frame %zu: total %.17g max %g invalid %u saturated %u status %x, expected %.17g %g %u %u",
        frame, got->total, got->max, got->invalid, got->saturated, got->status, want->total,
        want->max, want->invalid, want->saturated);
}

/* slack: [planes][bins] what the engine may be off beside rounding, or NULL. */
static bool check_frame(struct check *c, const struct scene *scene, size_t frame, const double *got,
                        const struct ref_sums *want, const double *slack)
{
    static const char *const names[] = {"signal", "variance", "normalization", "normalization2",
                                        "count"};
    const airy_integrator *it = scene->integrator;
    const struct scene_config *f = &scene->config;
    const size_t bins = it->bins;
    const bool azimuthal = f->model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const double *planes[AIRY_SUM_PLANES] = {
        want->signal, azimuthal && f->compat ? want->recurrence : want->variance,
        want->normalization, want->normalization2, want->count};
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        for (size_t b = 0; b < bins; b++) {
            /* n terms, each and each partial sum rounded to 2^-53 of at most the sum of absolute
             * terms, here and in the reference; pixels that are left out do not enter. Azimuthal:
             * the mean has that error too, and so has each square relative to the largest terms;
             * the recurrence carries the errors of all means before. */
            const double n = want->entries[b];
            const double all = (double)it->matrix.entries;
            const double factor = k == AIRY_SUM_VARIANCE && azimuthal ? (f->compat ? 4 * all : 4)
                                                                      : 1;
            const double tolerance = factor * 2 * (n + 8) * 0x1p-53 * want->magnitude[k][b] +
                                     (slack ? slack[k * bins + b] : 0);
            const double v = got[k * bins + b], expected = want->entries[b] ? planes[k][b] : 0;
            if (!(fabs(v - expected) <= (want->entries[b] ? tolerance : 0)))
                return check_failed(c, __FILE__, __LINE__,
                                    "frame %zu, %s[%zu] = %.17g, expected %.17g +- %g", frame,
                                    names[k], b, v, expected, tolerance);
        }
    }
    return true;
}

static void check_against_reference(struct check *c, const struct scene *scene,
                                    const struct results *results, const double *slack)
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
            !check_frame(c, scene, i, results->sums + i * planes, &want,
                         slack ? slack + i * planes : NULL))
            return;
    }
}

static bool start_case(struct check *c, const char *what, const struct scene_config *f)
{
    return check_case(c, "%s_%s_%zux%zu_b%zu_n%zu_%s_%s%s%s%s%s", what, airy_dtype_name(f->dtype),
                      f->height, f->width, f->bins, f->frames, airy_split_name(f->split),
                      airy_error_model_name(f->model), f->dark ? "_dark" : "",
                      f->unweighted ? "_unweighted" : "", f->dummy ? "_dummy" : "",
                      f->compat ? "_compat" : "");
}

/* All frames in one call, and, if asked for, one by one: the same bits. */
static void check_gather(struct check *c, const struct scene_config *config, bool one_by_one)
{
    struct scene scene;
    if (!start_case(c, "opencl_gather", config))
        return;
    const struct results got = alloc_results(c, config), single = alloc_results(c, config);
    if (open_scene(c, &scene, config) && run_part(c, &got, &scene, 0, config->frames, NULL)) {
        check_against_reference(c, &scene, &got, NULL);
        bool ok = one_by_one;
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

struct fused_way {
    const char *name;
    struct airy_cl_lanes lanes;
};

/*
 * PoCL 3.1 must not optimise groups of several lanes: see check_opencl_kernels.c. It takes a minute to
 * compile a kernel of a warp's code with barriers, so that all batches of these ways have as many
 * shares, which are a constant of the kernels.
 */
static const struct fused_way ways[] = {
    {"default", {.lanes = 0}}, /* what the device has: a warp and four blocks on NVIDIA */
    {"lane", {.lanes = 1, .blocks = 1}},
    {"lanes3", {.lanes = 1, .blocks = 3}},
    {"group32", {.lanes = 32, .blocks = 1, .portable = true, .unoptimised = true}},
    {"warp", {.lanes = 32, .blocks = 1, .portable = true, .as_warp = true, .unoptimised = true}},
    /* Frames summed together, however few. */
    {"together", {.lanes = 1, .blocks = 1, .together = 1}},
    {"together3", {.lanes = 1, .blocks = 3, .together = 2, .shares = 1, .range = 2}},
    {"together8", {.lanes = 1, .blocks = 1, .together = 1, .shares = 8}},
    {"together_group",
     {.lanes = 32,
      .blocks = 1,
      .portable = true,
      .unoptimised = true,
      .together = 1,
      .shares = 2,
      .range = 1}},
    {"together_warp",
     {.lanes = 32,
      .blocks = 1,
      .portable = true,
      .as_warp = true,
      .unoptimised = true,
      .together = 1,
      .shares = 2}},
};

/*
 * What rounding coefficients to fixed point may change, of pixels that are not left out: each of
 * an ordinary bin's by d = 2^-(F+1), and by as much as the pixel's do not add up to 1, 2^-24; in
 * bins of slivers, of coefficients below 1/8, by 2^-34. Squares: c^2 by 2 c d + d^2 and by half a
 * unit.
 */
static double *fused_slack(struct check *c, const struct scene *scene)
{
    const airy_integrator *it = scene->integrator;
    const struct airy_matrix *m = &it->matrix;
    const struct airy_cl_integrator *state = it->state;
    const size_t planes = AIRY_SUM_PLANES * it->bins;
    double *slack = check_alloc(c, scene->config.frames * planes * sizeof(double));
    for (size_t f = 0; f < scene->config.frames; f++)
        for (size_t i = 0; i < it->pixels; i++) {
            const double v = scene->values[f * it->pixels + i], n = it->norm[i],
                         dark = it->dark ? it->dark[i] : 0;
            if (v >= scene->rules.lo && v <= scene->rules.hi)
                continue;
            for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
                double *bin = slack + f * planes + m->bin[e];
                const double ordinary = ldexp(1, -(int)state->fused.fraction_bits - 1) + 0x1p-24;
                const double d = scene->config.sliver && m->bin[e] == it->bins / 2 ? 0x1p-34
                                                                                   : ordinary;
                bin[AIRY_SUM_SIGNAL * it->bins] += d * (fabs(v) + fabs(dark));
                bin[AIRY_SUM_VARIANCE * it->bins] += 4 * d * fmax(v, 1);
                bin[AIRY_SUM_NORMALIZATION * it->bins] += d * n;
                bin[AIRY_SUM_NORMALIZATION2 * it->bins] += 3 * d * n * n;
                bin[AIRY_SUM_COUNT_PLANE * it->bins] += d;
            }
        }
    return slack;
}

static airy_batch *make_batch(struct check *c, const struct scene *scene)
{
    const struct scene_config *f = &scene->config;
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4,
                                     .elem_size = (uint32_t)airy_dtype_size(f->dtype)};
    const airy_batch_params params = {.dtype = f->dtype,
                                      .height = f->height,
                                      .width = f->width,
                                      .codec = codec,
                                      .frames = f->frames};
    const size_t size = scene->pixels * codec.elem_size, bound = airy_encode_bound(size, &codec);
    airy_batch *batch = NULL;
    size_t *sizes = check_alloc(c, f->frames * sizeof(*sizes));
    for (size_t i = 0; i < f->frames; i++)
        sizes[i] = bound;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)) ||
        !CHECK_OK(c, airy_batch_reserve(batch, f->frames, sizes)))
        return batch;
    for (size_t i = 0; i < f->frames; i++) {
        /* The second frame is stored as pixels. */
        const uint8_t *frame = (const uint8_t *)scene->data + i * size;
        size_t chunk_size = bound;
        if (i == 1) {
            memcpy(airy_batch_place(batch, i), frame, size);
            airy_batch_index_stored(batch, i);
        } else if (CHECK_OK(c, airy_encode(airy_batch_place(batch, i), &chunk_size, frame, size,
                                           &codec))) {
            CHECK_OK(c, airy_batch_index(batch, i, chunk_size));
        }
    }
    return batch;
}

static bool run_fused(struct check *c, const struct results *results, const struct scene *scene,
                      airy_batch *batch, const struct airy_cl_lanes *way)
{
    const struct scene_config *f = &scene->config;
    const struct airy_cl_lanes usual = airy_cl_fused_lanes(c->device),
                               *lanes = way->lanes ? way : &usual;
    struct airy_integrate_plan plan = {.integrator = scene->integrator};
    airy_array *sums =
        check_output(c, AIRY_DTYPE_F64, 3, (const size_t[]){f->frames, AIRY_SUM_PLANES, f->bins});
    airy_array *stats =
        check_output(c, AIRY_DTYPE_U8, 2, (const size_t[]){f->frames, sizeof(airy_frame_stats)});
    plan.sums = sums;
    plan.stats = stats;
    return sums && stats &&
           CHECK_OK(c, airy_pixel_test_make(&plan.test, scene->integrator, f->dtype)) &&
           CHECK_OK(c, airy_batch_upload(c->queue, batch, &plan.chunks)) &&
           CHECK(c, airy_cl_fused_takes(&plan, lanes)) &&
           CHECK_OK(c, airy_cl_fused_run(c->queue, &plan, lanes)) &&
           CHECK_OK(c, airy_array_pull(c->queue, results->sums, airy_array_size(sums), sums)) &&
           CHECK_OK(c, airy_array_pull(c->queue, results->stats, airy_array_size(stats), stats)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static void check_fused(struct check *c, const struct scene_config *config,
                        const struct fused_way *way)
{
    char name[64];
    snprintf(name, sizeof(name), "opencl_fused_%s%s%s", way->name, config->plain ? "_plain" : "",
             config->sliver ? "_sliver" : "");
    struct scene scene;
    if (!start_case(c, name, config))
        return;
    const struct results got = alloc_results(c, config);
    airy_batch *batch = NULL;
    if (open_scene(c, &scene, config) && (batch = make_batch(c, &scene)) != NULL &&
        run_fused(c, &got, &scene, batch, &way->lanes))
        check_against_reference(c, &scene, &got, fused_slack(c, &scene));
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&scene.integrator);
}

/* Sums are integers: sharing out blocks in another way, or frames one by one, changes no bit. */
static void check_fused_same(struct check *c)
{
    const struct scene_config config = {.height = 141,
                                        .width = 131,
                                        .bins = 90,
                                        .frames = 9,
                                        .dtype = AIRY_DTYPE_U32,
                                        .model = AIRY_ERROR_MODEL_POISSON,
                                        .dark = true,
                                        .dummy = true};
    struct scene scene;
    if (!start_case(c, "opencl_fused_same", &config))
        return;
    const size_t count = config.frames * AIRY_SUM_PLANES * config.bins;
    const struct results first = alloc_results(c, &config), other = alloc_results(c, &config);
    airy_batch *batch = NULL;
    if (open_scene(c, &scene, &config) && (batch = make_batch(c, &scene)) != NULL &&
        run_fused(c, &first, &scene, batch, &ways[0].lanes)) {
        for (size_t w = 1; w < sizeof(ways) / sizeof(ways[0]); w++)
            if (run_fused(c, &other, &scene, batch, &ways[w].lanes)) {
                check_values(c, ways[w].name, AIRY_DTYPE_F64, other.sums, first.sums, count, NULL);
                CHECK(c,
                      memcmp(other.stats, first.stats, config.frames * sizeof(*first.stats)) == 0);
            }
        struct scene single = scene;
        single.config.frames = 1;
        for (size_t i = 0; i < config.frames; i++) {
            const size_t planes = AIRY_SUM_PLANES * config.bins;
            single.data = (uint8_t *)scene.data + i * scene.pixels * airy_dtype_size(config.dtype);
            airy_batch *one = make_batch(c, &single);
            if (one && run_fused(c, &other, &single, one, &ways[0].lanes))
                check_values(c, "one by one", AIRY_DTYPE_F64, other.sums, first.sums + i * planes,
                             planes, NULL);
            airy_batch_destroy(&one);
        }
    }
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&scene.integrator);
}

/*
 * A constant frame: normalization and signal are sums of the same quantised weights, n is 1, so
 * the mean is exact.
 */
static void check_fused_constant(struct check *c)
{
    const struct scene_config config = {.height = 141,
                                        .width = 131,
                                        .bins = 90,
                                        .frames = 1,
                                        .dtype = AIRY_DTYPE_U16,
                                        .plain = true};
    if (!check_case(c, "opencl_fused_constant"))
        return;
    struct scene scene = {.config = config, .pixels = config.height * config.width};
    airy_geometry geometry = {.detector = {.name = "Detector", .pixel1 = 75e-6, .pixel2 = 75e-6},
                              .dist = 0.1,
                              .poni1 = 4e-3,
                              .poni2 = 5e-3,
                              .wavelength = 1e-10};
    geometry.detector.height = config.height;
    geometry.detector.width = config.width;
    const airy_integrator_params params = {.bins = config.bins, .no_solid_angle = true};
    if (!CHECK_OK(c, airy_integrator_create(&scene.integrator, c->device, &geometry, &params)))
        return;
    uint16_t *frame = check_alloc(c, scene.pixels * sizeof(*frame));
    for (size_t i = 0; i < scene.pixels; i++)
        frame[i] = 1234;
    scene.data = frame;
    const struct results got = alloc_results(c, &config);
    airy_batch *batch = make_batch(c, &scene);
    if (batch && run_part(c, &got, &scene, 0, 1, batch))
        for (size_t b = 0; b < config.bins; b++) {
            const double norm = got.sums[AIRY_SUM_NORMALIZATION * config.bins + b];
            if (norm != 0 && got.sums[b] != 1234 * norm)
                check_failed(c, __FILE__, __LINE__, "bin %zu: signal %.17g, expected 1234 x %.17g",
                             b, got.sums[b], norm);
        }
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&scene.integrator);
}

/*
 * Damage in two frames: their status is the decoder's, their sums are 0, the others are as before.
 */
static void check_fused_damaged(struct check *c, const struct fused_way *way)
{
    const struct scene_config config = {.height = 141,
                                        .width = 131,
                                        .bins = 90,
                                        .frames = 9,
                                        .dtype = AIRY_DTYPE_U32,
                                        .plain = true};
    struct scene scene;
    if (!check_case(c, "opencl_fused_damaged_%s", way->name))
        return;
    const struct results good = alloc_results(c, &config), got = alloc_results(c, &config);
    const size_t planes = AIRY_SUM_PLANES * config.bins;
    airy_batch *batch = NULL;
    if (!open_scene(c, &scene, &config) || !(batch = make_batch(c, &scene)) ||
        !run_fused(c, &good, &scene, batch, &way->lanes))
        goto out;
    struct airy_chunks chunks;
    if (!CHECK_OK(c, airy_batch_upload(c->queue, batch, &chunks)))
        goto out;
    uint32_t bad_block[9] = {0};
    for (size_t f = 2; f < 5; f += 2) {
        const uint32_t block = (uint32_t)(f / 2);
        const airy_block place = chunks.host_table[f * chunks.layout.blocks + block];
        /* Literals that go on for longer than the block's bytes. */
        const size_t within = place.offset - chunks.host_table[f * chunks.layout.blocks].offset;
        uint8_t *bytes = (uint8_t *)airy_batch_place(batch, f) + 16 + within;
        memset(bytes, 0xff, place.size < 64 ? place.size : 64);
        bad_block[f] = block;
    }
    if (!run_fused(c, &got, &scene, batch, &way->lanes))
        goto out;
    for (size_t f = 0; f < config.frames; f++) {
        const bool bad = f == 2 || f == 4;
        CHECK(c, bad ? got.stats[f].status >> 3 == bad_block[f]
                     : got.stats[f].status == AIRY_FRAME_GOOD);
        double *zero = check_alloc(c, planes * sizeof(double));
        check_values(c, "sums", AIRY_DTYPE_F64, got.sums + f * planes,
                     bad ? zero : good.sums + f * planes, planes, NULL);
    }
out:
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&scene.integrator);
}

/*
 * Batches of 1 to 40 frames, summed together from the second frame on, with one that does not
 * decode at each position: the others have the bits that they have alone.
 */
static void check_fused_batches(struct check *c)
{
    const struct scene_config config = {.height = 67,
                                        .width = 131,
                                        .bins = 40,
                                        .frames = 40,
                                        .dtype = AIRY_DTYPE_U16,
                                        .model = AIRY_ERROR_MODEL_POISSON};
    static const struct airy_cl_lanes apart = {.lanes = 1, .blocks = 1};
    struct airy_cl_lanes together = airy_cl_lanes_of(c->device);
    together.together = 2;
    struct scene scene;
    if (!start_case(c, "opencl_fused_batches", &config))
        return;
    const size_t planes = AIRY_SUM_PLANES * config.bins;
    const struct results want = alloc_results(c, &config), got = alloc_results(c, &config);
    double *zero = check_alloc(c, planes * sizeof(double));
    airy_batch *batch = NULL;
    bool ok = open_scene(c, &scene, &config) && (batch = make_batch(c, &scene)) != NULL &&
              run_fused(c, &want, &scene, batch, &apart);
    airy_batch_destroy(&batch);
    for (size_t n = 1; n <= config.frames && ok; n++) {
        struct scene some = scene;
        some.config.frames = n;
        const size_t bad = n - 1;
        if (!(batch = make_batch(c, &some)))
            break;
        struct airy_chunks chunks;
        ok = CHECK_OK(c, airy_batch_upload(c->queue, batch, &chunks));
        if (ok && bad != 1) /* that one is stored */
            memset((uint8_t *)airy_batch_place(batch, bad) + 16, 0xff, 16);
        ok = ok && run_fused(c, &got, &some, batch, &together);
        airy_batch_destroy(&batch);
        for (size_t f = 0; f < n && ok; f++) {
            const bool is_bad = f == bad && bad != 1;
            ok = CHECK(c, is_bad
                              ? got.stats[f].status >> 3 == 0
                              : memcmp(&got.stats[f], &want.stats[f], sizeof(*got.stats)) == 0) &&
                 check_values(c, "sums", AIRY_DTYPE_F64, got.sums + f * planes,
                              is_bad ? zero : want.sums + f * planes, planes, NULL);
        }
    }
    airy_integrator_destroy(&scene.integrator);
}

/* What the fused engine leaves to the others, or must: the front decodes whole frames then. */
static void check_declined(struct check *c, const struct scene_config *config, uint64_t local_mem)
{
    struct scene scene;
    if (!start_case(c, "opencl_declined", config))
        return;
    const struct results got = alloc_results(c, config);
    airy_batch *batch = NULL;
    const uint64_t whole = c->device->info.local_mem;
    c->device->info.local_mem = local_mem ? local_mem : whole;
    if (open_scene(c, &scene, config) && (batch = make_batch(c, &scene)) != NULL) {
        struct airy_integrate_plan plan = {.integrator = scene.integrator};
        CHECK_OK(c, airy_pixel_test_make(&plan.test, scene.integrator, config->dtype));
        CHECK_OK(c, airy_batch_upload(c->queue, batch, &plan.chunks));
        CHECK(c, !airy_cl_fused_takes(&plan, &ways[1].lanes));
        if (local_mem)
            CHECK_FAILS(c, airy_cl_fused_run(c->queue, &plan, &ways[1].lanes), AIRY_ERR_UNSUPPORTED,
                        "do not fit");
        if (run_part(c, &got, &scene, 0, config->frames, batch))
            check_against_reference(c, &scene, &got, NULL);
    }
    c->device->info.local_mem = whole;
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&scene.integrator);
}

static void check_all_declined(struct check *c)
{
    struct scene_config f = {.height = 141,
                             .width = 131,
                             .bins = 90,
                             .frames = 3,
                             .dtype = AIRY_DTYPE_F32,
                             .split = AIRY_SPLIT_BBOX};
    check_declined(c, &f, 0);
    f.dtype = AIRY_DTYPE_U16;
    f.unweighted = true;
    check_declined(c, &f, 0);
    f.unweighted = false;
    f.model = AIRY_ERROR_MODEL_AZIMUTHAL;
    check_declined(c, &f, 0);
    f.model = AIRY_ERROR_MODEL_NONE;
    f.bins = 500;
    check_declined(c, &f, 12000);
}

static void check_all_fused(struct check *c)
{
    const struct scene_config sliver = {.height = 141,
                                        .width = 131,
                                        .bins = 90,
                                        .frames = 3,
                                        .dtype = AIRY_DTYPE_U32,
                                        .model = AIRY_ERROR_MODEL_POISSON,
                                        .dark = true,
                                        .dummy = true,
                                        .sliver = true};
    check_fused(c, &sliver, &ways[0]);
    /* A block, a short one and a tail of 4 pixels, for a simulator. */
    for (size_t w = 5; w < sizeof(ways) / sizeof(ways[0]); w++)
        check_fused(c,
                    &(struct scene_config){.height = 46,
                                           .width = 46,
                                           .bins = 9,
                                           .frames = 2,
                                           .dtype = AIRY_DTYPE_U32,
                                           .split = AIRY_SPLIT_NO,
                                           .model = AIRY_ERROR_MODEL_POISSON,
                                           .plain = true},
                    &ways[w]);
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U32, AIRY_DTYPE_U16, AIRY_DTYPE_U8,
                                        AIRY_DTYPE_I32, AIRY_DTYPE_I16, AIRY_DTYPE_I8};
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++)
            for (unsigned bits = 0; bits < 4; bits++) {
                /*
                 * A program takes half a second and more. On a GPU the default way is together,
                 * too.
                 */
                const bool together = strcmp(ways[w].name, "together") == 0;
                const bool is_signed = airy_dtype_is_signed(dtypes[k]);
                if ((w > 1 && !together && k > 0) || (w == 2 && bits % 2 == 0) ||
                    (together && k > 0 && (bits < 2 || c->device->info.gpu)) ||
                    (is_signed && (w == 1 || bits != 3)))
                    continue;
                /* Two blocks and more of each dtype, a short last one, a tail of 3 pixels. */
                const struct scene_config f = {
                    .height = 141,
                    .width = 131,
                    .bins = 90,
                    .frames = w != 0                ? 4
                              : c->device->info.gpu ? 24
                                                    : 9, /* 24: together there */
                    .dtype = dtypes[k],
                    .split = bits & 1 ? AIRY_SPLIT_FULL : AIRY_SPLIT_BBOX,
                    .model = bits & 1 ? AIRY_ERROR_MODEL_POISSON : AIRY_ERROR_MODEL_NONE,
                    .dark = bits & 1,
                    .dummy = bits == 2,
                    .plain = bits < 2};
                check_fused(c, &f, &ways[w]);
            }
}

static bool create_eiger(struct check *c, airy_integrator **integrator,
                         airy_integrator_params params)
{
    airy_geometry geometry = {.detector = {.name = "Detector", .pixel1 = 75e-6, .pixel2 = 75e-6},
                              .dist = 0.16,
                              .poni1 = 1083.5 * 75e-6,
                              .poni2 = 1035 * 75e-6,
                              .wavelength = 1e-10};
    geometry.detector.height = EIGER_HEIGHT;
    geometry.detector.width = EIGER_WIDTH;
    const size_t pixels = (size_t)EIGER_HEIGHT * EIGER_WIDTH;
    uint8_t *mask = check_alloc(c, pixels);
    for (size_t i = 0; i < pixels; i++)
        mask[i] = check_eiger_gap(i);
    params.bins = 1000;
    params.mask = mask;
    return CHECK_OK(c, airy_integrator_create(integrator, c->device, &geometry, &params));
}

/* decoded: from frames on the device, else from compressed chunks. what: "", or of params. */
static void check_integrate_bench(struct check *c, airy_dtype dtype, const char *what,
                                  airy_integrator_params params, size_t frames, bool decoded)
{
    const size_t bins = 1000 * (params.azimuth_bins ? params.azimuth_bins : 1);
    if (!c->bench ||
        !check_case(c, "integrate_4M_u%zu_%s%s_batch%zu_%s", 8 * airy_dtype_size(dtype), what,
                    airy_error_model_name(params.error_model), frames,
                    decoded ? "frames" : "chunks"))
        return;
    airy_integrator *integrator = NULL;
    airy_batch *batch = NULL;
    struct airy_chunks chunks;
    airy_array *sums =
        check_output(c, AIRY_DTYPE_F64, 3, (const size_t[]){frames, AIRY_SUM_PLANES, bins});
    airy_array *stats =
        check_output(c, AIRY_DTYPE_U8, 2, (const size_t[]){frames, sizeof(airy_frame_stats)});
    const size_t kept = decoded ? frames : 1;
    airy_array *images =
        check_output(c, dtype, 3, (const size_t[]){kept, EIGER_HEIGHT, EIGER_WIDTH});
    airy_array *status = check_output(c, AIRY_DTYPE_U32, 1, &frames);
    const double bytes = (double)frames * EIGER_HEIGHT * EIGER_WIDTH *
                         (double)airy_dtype_size(dtype);
    if (!create_eiger(c, &integrator, params) || !(batch = check_eiger_batch(c, dtype, frames)))
        goto out;
    if (decoded) {
        if (CHECK_OK(c, airy_decode_batch(c->queue, images, status, batch)) &&
            CHECK_OK(c, airy_integrate(c->queue, sums, stats, integrator, images)))
            CHECK_BENCH(c, bytes, 0, airy_integrate(c->queue, sums, stats, integrator, images));
    } else if (CHECK_OK(c, airy_batch_upload(c->queue, batch, &chunks)) &&
               CHECK_OK(c,
                        airy_integrate_chunks(c->queue, sums, stats, integrator, &chunks, false))) {
        CHECK_BENCH(c, bytes, 0,
                    airy_integrate_chunks(c->queue, sums, stats, integrator, &chunks, false));
    }
out:
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&integrator);
}

/* The case "4M". */
static void check_case_bench(struct check *c, airy_error_model model, size_t frames)
{
    if (!c->bench ||
        !check_case(c, "integrate_case4M_%s_batch%zu_chunks", airy_error_model_name(model), frames))
        return;
    airy_integrator *integrator = NULL;
    airy_batch *batch = check_eiger_case(c, frames);
    struct airy_chunks chunks;
    airy_array *sums =
        check_output(c, AIRY_DTYPE_F64, 3, (const size_t[]){frames, AIRY_SUM_PLANES, 1000});
    airy_array *stats =
        check_output(c, AIRY_DTYPE_U8, 2, (const size_t[]){frames, sizeof(airy_frame_stats)});
    if (batch && create_eiger(c, &integrator, (airy_integrator_params){.error_model = model}) &&
        CHECK_OK(c, airy_batch_upload(c->queue, batch, &chunks)) &&
        CHECK_OK(c, airy_integrate_chunks(c->queue, sums, stats, integrator, &chunks, false)))
        CHECK_BENCH(c, (double)frames * EIGER_HEIGHT * EIGER_WIDTH * 4, 0,
                    airy_integrate_chunks(c->queue, sums, stats, integrator, &chunks, false));
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&integrator);
}

/* Clips, quantiles, cells of two dimensions. */
static void check_ring_benches(struct check *c)
{
    const struct {
        const char *what;
        airy_integrator_params params;
    } kinds[] = {
        {"clip_",
         {.has_clip = true, .clip_threshold = 3, .error_model = AIRY_ERROR_MODEL_AZIMUTHAL}},
        {"clip_", {.has_clip = true, .clip_threshold = 3, .error_model = AIRY_ERROR_MODEL_POISSON}},
        {"median_", {.has_quantile = true, .quantile = {0.5, 0.5}}},
        {"middle_", {.has_quantile = true, .quantile = {0.2, 0.8}}},
        {"cake_", {.azimuth_bins = 360}},
        {"cake_clip_",
         {.azimuth_bins = 360,
          .has_clip = true,
          .clip_threshold = 3,
          .error_model = AIRY_ERROR_MODEL_AZIMUTHAL}},
        {"cake_median_", {.azimuth_bins = 360, .has_quantile = true, .quantile = {0.5, 0.5}}},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        check_integrate_bench(c, AIRY_DTYPE_U32, kinds[k].what, kinds[k].params, 1, true);
        check_integrate_bench(c, AIRY_DTYPE_U32, kinds[k].what, kinds[k].params, 16, true);
        check_integrate_bench(c, AIRY_DTYPE_U32, kinds[k].what, kinds[k].params, 16, false);
    }
}

static void check_all_benches(struct check *c)
{
    check_case_bench(c, AIRY_ERROR_MODEL_NONE, 1);
    check_case_bench(c, AIRY_ERROR_MODEL_NONE, 32);
    check_case_bench(c, AIRY_ERROR_MODEL_POISSON, 32);
    const airy_integrator_params none = {0}, poisson = {.error_model = AIRY_ERROR_MODEL_POISSON},
                                 azimuthal = {.error_model = AIRY_ERROR_MODEL_AZIMUTHAL};
    check_integrate_bench(c, AIRY_DTYPE_U32, "", none, 1, false);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", none, 32, false);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", none, 128, false);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", poisson, 32, false);
    check_integrate_bench(c, AIRY_DTYPE_U16, "", none, 32, false);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", none, 1, true);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", none, 32, true);
    check_integrate_bench(c, AIRY_DTYPE_U16, "", none, 32, true);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", poisson, 32, true);
    check_integrate_bench(c, AIRY_DTYPE_U32, "", azimuthal, 32, true);
    check_ring_benches(c);
}

void check_opencl_integrate(struct check *c)
{
    if (c->is_cpu)
        return;
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16,
                                        AIRY_DTYPE_I16, AIRY_DTYPE_U32, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    struct scene_config f = {
        .height = 83, .width = 97, .bins = 50, .frames = 5, .split = AIRY_SPLIT_BBOX};
    for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++) {
        f.dtype = dtypes[k];
        f.dummy = k % 2 == 0;
        f.model = k % 3 == 0 ? AIRY_ERROR_MODEL_POISSON : AIRY_ERROR_MODEL_NONE;
        check_gather(c, &f, false);
    }
    f = (struct scene_config){
        .height = 83, .width = 97, .bins = 50, .frames = 3, .dtype = AIRY_DTYPE_U16};
    for (int model = 0; model < AIRY_ERROR_MODEL_HYBRID; model++)
        for (int corrected = 0; corrected < 2; corrected++) {
            f.model = (airy_error_model)model;
            f.dark = f.unweighted = f.dummy = corrected;
            check_gather(c, &f, corrected);
        }
    /* Rows of more than one piece; more bins than pixels; a pixel; the recurrence. */
    check_gather(c,
                 &(struct scene_config){.height = 150,
                                        .width = 201,
                                        .bins = 3,
                                        .frames = 2,
                                        .model = AIRY_ERROR_MODEL_POISSON,
                                        .dtype = AIRY_DTYPE_U32},
                 false);
    check_gather(c,
                 &(struct scene_config){.height = 20,
                                        .width = 21,
                                        .bins = 2000,
                                        .frames = 9,
                                        .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                        .dtype = AIRY_DTYPE_F32},
                 false);
    check_gather(c,
                 &(struct scene_config){
                     .height = 1, .width = 1, .bins = 4, .frames = 1, .dtype = AIRY_DTYPE_U8},
                 false);
    check_gather(c,
                 &(struct scene_config){.height = 61,
                                        .width = 67,
                                        .bins = 40,
                                        .frames = 3,
                                        .compat = true,
                                        .split = AIRY_SPLIT_NO,
                                        .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                        .dummy = true,
                                        .dark = true,
                                        .dtype = AIRY_DTYPE_I32},
                 false);
    check_gather(c,
                 &(struct scene_config){.height = 5,
                                        .width = 7,
                                        .bins = 4,
                                        .frames = 2,
                                        .compat = true,
                                        .split = AIRY_SPLIT_BBOX,
                                        .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                        .dtype = AIRY_DTYPE_U16},
                 false);
    check_all_fused(c);
    check_fused_same(c);
    check_fused_constant(c);
    check_fused_batches(c);
    check_all_declined(c);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        check_fused_damaged(c, &ways[w]);
    check_all_benches(c);
}
