/*
 * Sigma clipping and the quantile filter by bin against their definitions in tests/ref, on every
 * device that has them.
 */
#include "check.h"

#include <string.h>

#include "base/cpu.h"
#include "cpu/cpu_rings.h"
#include "integrate/integrator.h"
#include "ref_rings.h"

struct config {
    const char *name;
    size_t height, width, bins, azimuth_bins, frames;
    airy_dtype dtype;
    airy_split split;
    airy_error_model model;
    bool dark, unweighted, dummy, compat, quantile;
    double threshold, lower, upper;
    unsigned cycles;
};

struct scene {
    struct config config;
    airy_integrator *integrator;
    size_t pixels;
    void *data;     /* frames in the dtype */
    double *values; /* the same as doubles */
    double *sums;   /* [frames][planes][bins] */
};

/* False: not to be had here, and the case is over. */
static bool create_integrator(struct check *c, airy_integrator **integrator,
                              const struct config *config)
{
    struct check_slab slab;
    check_slab_make(c, &slab, config->height, config->width);
    const airy_integrator_params params = {
        .bins = config->bins,
        .azimuth_bins = config->azimuth_bins,
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
        .has_clip = !config->quantile,
        .clip_threshold = config->threshold,
        .clip_cycles = config->cycles,
        .has_quantile = config->quantile,
        .quantile = {config->lower, config->upper}};
    const airy_status status =
        airy_integrator_create(integrator, c->device, &slab.geometry, &params);
    if (status == AIRY_ERR_UNSUPPORTED) {
        check_skip(c, "%s", airy_last_error());
        return false;
    }
    return CHECK_OK(c, status);
}

/*
 * Small counts with many ties, in one frame of three few but zeros, in another outliers of the
 * dtype's whole range; in floats NaN and infinities.
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
    if (frame % 3 == 2 && r % 16 != 0)
        return 0;
    if (airy_dtype_is_float(dtype)) {
        if (r % 64 == 0)
            return r % 128 ? NAN : (r % 256 ? INFINITY : -INFINITY);
        const double v = r % 64 == 5 ? unit * 1e6 : unit * 120 - 10;
        return dtype == AIRY_DTYPE_F32 ? (double)(float)v : v;
    }
    if (frame % 3 == 0 && r % 64 == 1)
        return floor(least[dtype] + unit * (most[dtype] - least[dtype]));
    return floor(unit * 90);
}

/* The scene's frames through the device. */
static bool run_scene(struct check *c, struct scene *s)
{
    const struct config *config = &s->config;
    const size_t bins = airy_integrator_bins(s->integrator), n = config->frames;
    const size_t shape[3] = {n, config->height, config->width},
                 sums_shape[3] = {n, AIRY_SUM_PLANES, bins},
                 stats_shape[2] = {n, sizeof(airy_frame_stats)};
    s->sums = check_alloc(c, n * AIRY_SUM_PLANES * bins * sizeof(double));
    airy_array *frames = check_upload(c, config->dtype, 3, shape, s->data);
    airy_array *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape),
               *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    return frames && sums && stats &&
           CHECK_OK(c, airy_integrate(c->queue, sums, stats, s->integrator, frames)) &&
           CHECK_OK(c, airy_array_pull(c->queue, s->sums,
                                       n * AIRY_SUM_PLANES * bins * sizeof(double), sums)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static bool open_scene(struct check *c, struct scene *s, const struct config *config)
{
    *s = (struct scene){.config = *config, .pixels = config->height * config->width};
    if (!create_integrator(c, &s->integrator, config))
        return false;
    const size_t count = s->pixels * config->frames;
    s->data = check_alloc(c, count * airy_dtype_size(config->dtype));
    s->values = check_alloc(c, count * sizeof(double));
    return true;
}

static void put_value(struct scene *s, size_t i, double v)
{
    s->values[i] = v;
    check_put(s->data, s->config.dtype, i, v);
}

static struct ref_ring_rules ref_rules(const struct config *config)
{
    static const enum ref_ring_variance leaves[AIRY_ERROR_MODEL_COUNT] = {
        [AIRY_ERROR_MODEL_POISSON] = REF_RING_POISSON,
        [AIRY_ERROR_MODEL_AZIMUTHAL] = REF_RING_SPREAD,
        [AIRY_ERROR_MODEL_VARIANCE] = REF_RING_GIVEN,
        [AIRY_ERROR_MODEL_HYBRID] = REF_RING_POISSON};
    const bool spread = config->model == AIRY_ERROR_MODEL_NONE ||
                        config->model == AIRY_ERROR_MODEL_HYBRID;
    return (struct ref_ring_rules){.quantile = config->quantile,
                                   .compat = config->compat,
                                   .threshold = config->threshold,
                                   .lower = config->lower,
                                   .upper = config->upper,
                                   .cycles = config->cycles ? config->cycles : 5,
                                   .clips_by = spread ? REF_RING_SPREAD : leaves[config->model],
                                   .leaves = leaves[config->model],
                                   .lo = config->dummy ? 75.5 : 1,
                                   .hi = config->dummy ? 78.5 : 0};
}

static bool compare_bin(struct check *c, const double *got, const double *want,
                        const double *tolerance, size_t bins, size_t frame, size_t b)
{
    static const char *const names[] = {"signal", "variance", "normalization", "normalization2",
                                        "count"};
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
        if (!(fabs(got[k * bins] - want[k * bins]) <= tolerance[k * bins]))
            return check_failed(c, __FILE__, __LINE__,
                                "frame %zu, %s[%zu] = %.17g, expected %.17g +- %g (count %g)",
                                frame, names[k], b, got[k * bins], want[k * bins],
                                tolerance[k * bins], want[AIRY_SUM_COUNT_PLANE * bins]);
    return true;
}

/* What depends on the rounding of a mean is not compared; of random values that is next to none. */
static void compare_scene(struct check *c, const struct scene *s)
{
    const airy_integrator *it = s->integrator;
    const size_t bins = it->bins, planes = AIRY_SUM_PLANES * bins;
    const struct ref_matrix matrix = {.pixels = it->pixels,
                                      .bins = bins,
                                      .start = it->matrix.start,
                                      .bin = it->matrix.bin,
                                      .coef = it->matrix.coef,
                                      .weight = it->weight,
                                      .norm = it->norm,
                                      .dark = it->dark,
                                      .variance = it->variance,
                                      .valid = it->valid};
    const struct ref_ring_rules rules = ref_rules(&s->config);
    double *want = check_alloc(c, planes * sizeof(*want)),
           *tolerance = check_alloc(c, planes * sizeof(*tolerance));
    unsigned char *doubtful = check_alloc(c, bins);
    size_t doubts = 0;
    for (size_t f = 0; f < s->config.frames; f++) {
        ref_rings(want, tolerance, doubtful, &matrix, s->values + f * s->pixels, &rules);
        for (size_t b = 0; b < bins; b++) {
            doubts += doubtful[b] != 0;
            if (doubtful[b] && s->config.compat)
                break;
            if (!doubtful[b] &&
                !compare_bin(c, s->sums + f * planes + b, want + b, tolerance + b, bins, f, b))
                return;
        }
    }
    CHECK(c, doubts <= 1 + s->config.frames * bins / 50);
}

static void check_config(struct check *c, const struct config *config)
{
    struct scene s;
    if (!check_case(c, "rings_%s%g_%g_%u_%s_%zux%zu_b%zux%zu_%s_%s%s%s%s%s",
                    config->quantile ? "quantile" : "clip",
                    config->quantile ? config->lower : config->threshold, config->upper,
                    config->cycles, airy_dtype_name(config->dtype), config->height, config->width,
                    config->bins, config->azimuth_bins, airy_split_name(config->split),
                    airy_error_model_name(config->model), config->dark ? "_dark" : "",
                    config->unweighted ? "_unweighted" : "", config->dummy ? "_dummy" : "",
                    config->compat ? "_compat" : ""))
        return;
    if (open_scene(c, &s, config)) {
        for (size_t i = 0; i < s.pixels * config->frames; i++)
            put_value(&s, i, draw_value(c, config->dtype, i / s.pixels));
        if (run_scene(c, &s))
            compare_scene(c, &s);
    }
    airy_integrator_destroy(&s.integrator);
}

static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16, AIRY_DTYPE_I16,
                                    AIRY_DTYPE_U32, AIRY_DTYPE_I32, AIRY_DTYPE_F32, AIRY_DTYPE_F64};
enum { DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

static const airy_split splits[] = {AIRY_SPLIT_NO, AIRY_SPLIT_BBOX, AIRY_SPLIT_FULL};

static void check_clips(struct check *c)
{
    static const double thresholds[] = {0, 3, 1, 5, 2.5};
    static const unsigned cycles[] = {0, 1, 2, 50};
    /* From hundreds of entries a bin to 0, 1, 2 and 3. */
    static const size_t bins[] = {60, 12, 300, 2000};
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t model = 0; model < AIRY_ERROR_MODEL_COUNT; model++) {
            const size_t k = d * 3 + model;
            check_config(c, &(struct config){.height = k % 5 ? 61 : 131,
                                             .width = k % 5 ? 67 : 127,
                                             .bins = bins[k % 4],
                                             .frames = 4,
                                             .dtype = dtypes[d],
                                             .split = splits[(d + model) % 3],
                                             .model = (airy_error_model)model,
                                             .dark = k % 3 == 0,
                                             .unweighted = k % 4 == 3,
                                             .dummy = k % 2 == 0,
                                             .threshold = thresholds[k % 5],
                                             .cycles = cycles[(k + model) % 4]});
        }
    for (size_t k = 0; k < 3; k++)
        check_config(
            c, &(struct config){.height = 61,
                                .width = 67,
                                .bins = 40,
                                .frames = 3,
                                .dtype = AIRY_DTYPE_I32,
                                .split = splits[k],
                                .model = k ? AIRY_ERROR_MODEL_AZIMUTHAL : AIRY_ERROR_MODEL_POISSON,
                                .dummy = true,
                                .compat = true,
                                .threshold = 3});
}

static void check_quantiles(struct check *c)
{
    static const double cuts[][2] = {{0.5, 0.5}, {0.2, 0.8}, {0, 1},  {0, 0},
                                     {1, 1},     {0.4, 0.6}, {0, 0.3}};
    enum { CUTS = sizeof(cuts) / sizeof(cuts[0]) };
    static const size_t bins[] = {60, 12, 300, 2000};
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t k = 0; k < CUTS; k++) {
            const airy_error_model model = (airy_error_model)((d + k) % AIRY_ERROR_MODEL_HYBRID);
            check_config(c, &(struct config){.height = (d + k) % 5 ? 61 : 131,
                                             .width = (d + k) % 5 ? 67 : 127,
                                             .bins = bins[(d + k) % 4],
                                             .frames = 4,
                                             .dtype = dtypes[d],
                                             .split = splits[(d + k) % 3],
                                             .model = model,
                                             .dark = (d + k) % 3 == 0,
                                             .unweighted = (d + k) % 4 == 3,
                                             .dummy = (d + k) % 2 == 0,
                                             .compat = (d + k) % 6 == 5,
                                             .quantile = true,
                                             .lower = cuts[k][0],
                                             .upper = cuts[k][1]});
        }
}

static void check_shapes(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 2}, {3, 1}, {2, 2}, {3, 5}, {16, 17}};
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (int quantile = 0; quantile < 2; quantile++)
            for (size_t bins = 1; bins < 8; bins += 3)
                check_config(c, &(struct config){.height = shapes[s][0],
                                                 .width = shapes[s][1],
                                                 .bins = bins,
                                                 .frames = 7,
                                                 .dtype = AIRY_DTYPE_U16,
                                                 .split = splits[(s + bins) % 3],
                                                 .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                                 .dummy = true,
                                                 .quantile = quantile,
                                                 .lower = 0.5,
                                                 .upper = 0.5});
    /*
     * A few pixels of one frame, for a simulator: each kind, and the clip of the established package;
     * then one bin with more entries than an item takes alone.
     */
    for (int kind = 0; kind < 5; kind++) {
        const bool large = kind > 2;
        check_config(c, &(struct config){.height = large ? 9 : 3,
                                         .width = large ? 13 : 4,
                                         .bins = large ? 1 : 2,
                                         .frames = 1,
                                         .dtype = large ? AIRY_DTYPE_U16 : AIRY_DTYPE_I32,
                                         .split = large ? AIRY_SPLIT_FULL : AIRY_SPLIT_NO,
                                         .model = large ? AIRY_ERROR_MODEL_AZIMUTHAL
                                                        : AIRY_ERROR_MODEL_POISSON,
                                         .dummy = kind > 0,
                                         .compat = kind == 1,
                                         .threshold = large ? 0 : 1,
                                         .quantile = kind == 2 || kind == 4,
                                         .lower = 0.25,
                                         .upper = 0.75});
    }
    /* Two dimensions; and one bin with all there is. */
    for (int quantile = 0; quantile < 2; quantile++)
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++)
            check_config(c, &(struct config){.height = 131,
                                             .width = 127,
                                             .bins = split ? 30 : 1,
                                             .azimuth_bins = split ? 40 : 2,
                                             .frames = 3,
                                             .dtype = AIRY_DTYPE_U32,
                                             .split = (airy_split)split,
                                             .model = AIRY_ERROR_MODEL_POISSON,
                                             .quantile = quantile,
                                             .lower = 0.25,
                                             .upper = 0.75});
}

/* More small cells than have work-groups of their own. */
static void check_cells(struct check *c)
{
    for (int quantile = 0; quantile < 2; quantile++)
        for (int model = 0; model < 2; model++)
            check_config(c, &(struct config){.height = 131,
                                             .width = 127,
                                             .bins = 90,
                                             .azimuth_bins = 80,
                                             .frames = 3,
                                             .dtype = AIRY_DTYPE_U16,
                                             .model = model ? AIRY_ERROR_MODEL_POISSON
                                                            : AIRY_ERROR_MODEL_AZIMUTHAL,
                                             .dark = model,
                                             .dummy = true,
                                             .threshold = model ? 1 : 0,
                                             .quantile = quantile,
                                             .lower = model ? 0.2 : 0.5,
                                             .upper = model ? 0.9 : 0.5});
}

/* Tens of thousands of entries a bin, which are more than work-groups keep near them. */
static void check_crowds(struct check *c)
{
    for (int quantile = 0; quantile < 2; quantile++)
        for (int wide = 0; wide < 2; wide++)
            check_config(c, &(struct config){.height = 301,
                                             .width = 283,
                                             .bins = 2,
                                             .frames = 3,
                                             .dtype = AIRY_DTYPE_U16,
                                             .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                             .dark = true,
                                             .dummy = true,
                                             .threshold = wide ? 1 : 3,
                                             .quantile = quantile,
                                             .lower = wide ? 0.1 : 0.5,
                                             .upper = wide ? 0.7 : 0.5});
}

/* Equal values, whatever their corrections: nothing is rejected. */
static void check_constant(struct check *c, double value, airy_dtype dtype)
{
    if (!check_case(c, "rings_constant_%s_%g", airy_dtype_name(dtype), value))
        return;
    for (size_t k = 0; k < 3; k++) {
        struct scene s;
        const struct config config = {.height = 64,
                                      .width = 61,
                                      .bins = k ? 30 : 600,
                                      .frames = 1,
                                      .dtype = dtype,
                                      .split = splits[k],
                                      .unweighted = k == 1,
                                      .model = AIRY_ERROR_MODEL_AZIMUTHAL};
        if (!open_scene(c, &s, &config))
            return;
        /* The corrected values are equal: the raw ones are their normalization. */
        for (size_t i = 0; i < s.pixels; i++)
            put_value(&s, i,
                      airy_dtype_is_float(dtype) && !config.unweighted
                          ? value * (double)s.integrator->norm[i]
                          : value);
        if (run_scene(c, &s) && airy_dtype_is_float(dtype) && !config.unweighted)
            for (size_t b = 0; b < s.integrator->bins; b++)
                CHECK(c, fabs(s.sums[AIRY_SUM_COUNT_PLANE * s.integrator->bins + b] -
                              s.integrator->base_count[b]) <= 1e-12 * s.integrator->base_count[b]);
        airy_integrator_destroy(&s.integrator);
    }
}

/* One hot pixel in each ring of equal values goes, and nothing else; the median does not see it. */
static void check_hot(struct check *c, bool quantile)
{
    if (!check_case(c, "rings_hot_%s", quantile ? "median" : "clip"))
        return;
    struct scene s;
    const struct config config = {.height = 64,
                                  .width = 61,
                                  .bins = 20,
                                  .frames = 1,
                                  .dtype = AIRY_DTYPE_F64,
                                  .split = AIRY_SPLIT_NO,
                                  .model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                  .quantile = quantile,
                                  .threshold = 3,
                                  .lower = 0.5,
                                  .upper = 0.5};
    if (!open_scene(c, &s, &config))
        return;
    const airy_integrator *it = s.integrator;
    bool *hot = check_alloc(c, it->bins);
    for (size_t i = 0; i < s.pixels; i++) {
        put_value(&s, i, 9 * (double)it->norm[i]);
        if (it->matrix.start[i] == it->matrix.start[i + 1])
            continue;
        const uint32_t b = it->matrix.bin[it->matrix.start[i]];
        if (!hot[b] && it->base_entries[b] > 20)
            put_value(&s, i, 4e9);
        hot[b] = true;
    }
    if (run_scene(c, &s))
        for (size_t b = 0; b < it->bins; b++) {
            const double *sums = s.sums + b;
            const double n = sums[AIRY_SUM_COUNT_PLANE * it->bins],
                         all = (double)it->base_entries[b];
            CHECK(c, quantile ? n == 1 || n == 2 : n == (all > 20 ? all - 1 : all));
            CHECK(c, fabs(sums[0] / sums[AIRY_SUM_NORMALIZATION * it->bins] - 9) <= 1e-12);
            /* Squares of rounding errors of 9; none of 4e9. */
            CHECK(c, sums[AIRY_SUM_VARIANCE * it->bins] <= 1e-24);
        }
    airy_integrator_destroy(&s.integrator);
}

static double draw_poisson(struct check *c, double mean)
{
    double n = 0;
    for (double p = check_uniform(c); p > exp(-mean); p *= check_uniform(c))
        n++;
    return n;
}

/*
 * A spot of 60000 counts, whose wings have all values down to none, lifts the mean of its rings far
 * above all other pixels: what a ring keeps is its background. The reference says so to rounding; the
 * mean lies within five standard deviations of it, of n Poisson values and of 10 pixels of the wings
 * that are not far enough.
 */
static void check_spot(struct check *c, double background, airy_error_model model, double threshold)
{
    enum { SIZE = 96 };
    if (!check_case(c, "rings_spot_%g_%s_%g", background, airy_error_model_name(model), threshold))
        return;
    struct scene s;
    const struct config config = {.height = SIZE,
                                  .width = SIZE,
                                  .bins = 40,
                                  .frames = 2,
                                  .dtype = AIRY_DTYPE_I32,
                                  .model = model,
                                  .threshold = threshold};
    if (!open_scene(c, &s, &config))
        return;
    for (size_t i = 0; i < s.pixels * config.frames; i++) {
        const double y = (double)(i % s.pixels / SIZE) - 70.0, x = (double)(i % SIZE) - 66.0,
                     spot = i < s.pixels ? 0 : 6e4 * exp(-(x * x + y * y) / 4.5);
        put_value(&s, i,
                  draw_poisson(c, background * (double)s.integrator->norm[i % s.pixels]) +
                      floor(spot));
    }
    if (run_scene(c, &s)) {
        compare_scene(c, &s);
        const airy_integrator *it = s.integrator;
        for (size_t i = 0; i < config.frames * it->bins; i++) {
            const size_t b = i % it->bins;
            const double *sums = s.sums + i / it->bins * AIRY_SUM_PLANES * it->bins + b,
                         n = sums[AIRY_SUM_COUNT_PLANE * it->bins];
            if (it->base_entries[b] < 30)
                continue;
            CHECK(c, 2 * n > it->base_count[b]);
            const double omega = sums[AIRY_SUM_NORMALIZATION * it->bins];
            CHECK(c, fabs(sums[0] / omega - background) <=
                         5 * sqrt(background * n / omega) * (1 / sqrt(n) + 10 / n));
        }
    }
    airy_integrator_destroy(&s.integrator);
}

/* Quantiles 0 to 1 keep all, as a plain integration does. */
static void check_all_kept(struct check *c)
{
    if (!check_case(c, "rings_all_kept"))
        return;
    struct scene s;
    const struct config config = {.height = 64,
                                  .width = 61,
                                  .bins = 50,
                                  .frames = 1,
                                  .dtype = AIRY_DTYPE_U16,
                                  .quantile = true,
                                  .upper = 1};
    if (!open_scene(c, &s, &config))
        return;
    for (size_t i = 0; i < s.pixels; i++)
        put_value(&s, i, draw_value(c, AIRY_DTYPE_U16, 1));
    const airy_integrator *it = s.integrator;
    if (run_scene(c, &s))
        for (size_t b = 0; b < it->bins; b++) {
            CHECK(c, fabs(s.sums[AIRY_SUM_COUNT_PLANE * it->bins + b] - it->base_count[b]) <=
                         1e-12 * it->base_count[b]);
            CHECK(c, fabs(s.sums[AIRY_SUM_NORMALIZATION * it->bins + b] -
                          it->base_normalization[b]) <= 1e-12 * it->base_normalization[b]);
        }
    airy_integrator_destroy(&s.integrator);
}

/* Sums, cuts and values of a random bin by one instruction set. */
static void run_kernels(double out[64], const struct airy_ring_kernels *kernels,
                        const struct airy_ring_bin *ring, struct airy_ring_bin *outside)
{
    enum { MOST = 300 };
    static _Thread_local double x[MOST], g[MOST];
    struct airy_ring_sums sums;
    const struct airy_ring_window window = {3.5, 4.0, 2.25};
    size_t n = 0;
    memset(out, 0, 64 * sizeof(*out));
    kernels->sum(&sums, ring, &window, NULL);
    memcpy(out + n, &sums, sizeof(sums));
    n += 8;
    kernels->cut(&sums, outside, ring, &window);
    memcpy(out + n, &sums, sizeof(sums));
    n += 8;
    out[n++] = (double)outside->count;
    kernels->sum(&sums, outside, &window, NULL);
    out[n++] = sums.kept;
    out[n] = kernels->values(x, g, &out[n + 1], ring, 0x1p40);
    n += 2;
    const struct airy_ring_run run = {
        .first = x[0] < x[1] ? x[0] : x[1], .last = 5.0, .first_at = 1.0, .x = x};
    kernels->sum(&sums, ring, &window, &run);
    memcpy(out + n, &sums, sizeof(sums));
    n += 8;
    kernels->ranked(out + n, x, ring->count / AIRY_RING_LANES * AIRY_RING_LANES, 3, 9);
    n += 2;
    for (size_t i = 0; i < ring->count; i++)
        out[n] += x[i] * (double)(i + 1) + g[i];
    for (size_t i = 0; i < outside->count; i++)
        out[n + 1] += (outside->s[i] + 2 * outside->omega[i] + 3 * outside->c[i]) * (double)(i + 1);
}

/* All instruction sets of this machine add up in one order. */
static void check_sets(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "rings_sets"))
        return;
    enum { MOST = 300 };
    const struct airy_ring_kernels *sets[3] = {&airy_rings_portable};
    size_t count = 1;
#if defined(__x86_64__)
    if (airy_cpu_flags() & AIRY_CPU_AVX2)
        sets[count++] = &airy_rings_avx2;
    if (airy_cpu_flags() & AIRY_CPU_AVX512)
        sets[count++] = &airy_rings_avx512;
#endif
    float *weight = check_alloc(c, MOST * sizeof(*weight)),
          *factor = check_alloc(c, MOST * sizeof(*factor));
    double *doubles = check_alloc(c, 6 * MOST * sizeof(*doubles));
    check_rand(c, weight, AIRY_DTYPE_F32, MOST, 0.01, 1);
    check_rand(c, factor, AIRY_DTYPE_F32, MOST, 0.5, 2);
    struct airy_ring_bin ring = {
        .raw = doubles, .v = doubles + MOST, .weight = weight, .factor = factor};
    struct airy_ring_bin outside = {.weights = AIRY_RING_TERMS,
                                    .raw = doubles + 2 * MOST,
                                    .s = doubles + 2 * MOST,
                                    .omega = doubles + 3 * MOST,
                                    .c = doubles + 4 * MOST,
                                    .v = doubles + 5 * MOST};
    for (ring.count = 16; ring.count < 290; ring.count += 13)
        for (int kind = 0; kind < 9; kind++) {
            double want[64], got[64];
            check_rand(c, ring.raw, AIRY_DTYPE_F64, ring.count, 0, 9);
            check_rand(c, ring.v, AIRY_DTYPE_F64, ring.count, 1, 9);
            for (size_t i = 0; i < AIRY_RING_LANES; i++)
                ring.raw[ring.count + i] = NAN;
            ring.weights = (enum airy_ring_weights)(kind % 3);
            ring.variances = outside.variances = (enum airy_ring_variances)(kind / 3);
            if (outside.variances != AIRY_RING_ABOUT_PIVOT)
                outside.variances = AIRY_RING_BY_ENTRY;
            run_kernels(want, sets[0], &ring, &outside);
            for (size_t k = 1; k < count; k++) {
                run_kernels(got, sets[k], &ring, &outside);
                if (!check_values(c, "kernels", AIRY_DTYPE_F64, got, want, 64, NULL))
                    return;
            }
        }
}

void check_rings(struct check *c)
{
    check_sets(c);
    check_clips(c);
    check_quantiles(c);
    check_shapes(c);
    check_cells(c);
    check_crowds(c);
    check_constant(c, 7, AIRY_DTYPE_U16);
    check_constant(c, 7, AIRY_DTYPE_F64);
    check_constant(c, 0, AIRY_DTYPE_I32);
    check_hot(c, false);
    check_hot(c, true);
    for (int k = 0; k < 4; k++) {
        static const double backgrounds[] = {1, 20, 50, 3};
        check_spot(c, backgrounds[k], AIRY_ERROR_MODEL_POISSON, k % 2 ? 3 : 0);
    }
    check_all_kept(c);
}
