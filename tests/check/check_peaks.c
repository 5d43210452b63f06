/* Pixels that stand out and peaks against the definition in tests/ref, on every device. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "ref_integrate.h"
#include "ref_peaks.h"

enum { ROWS = 67, COLUMNS = 83, COUNT = ROWS * COLUMNS, BINS = 31, FRAMES = 3 };

/* Frames of a detector with its integrator, and what they gave. */
struct scene {
    airy_geometry geometry;
    airy_integrator_params integrator;
    airy_peak_params params;
    airy_dtype dtype;
    size_t frames;
    uint8_t *mask;
    float *dark, *flat;
    void *data;
    double *raw;
    uint8_t *out;
    /* results */
    double *sums;
    uint32_t *counts, *index;
    float *curves;
    void *intensity;
    airy_peak *peaks;
};

static airy_geometry geometry_of_scene(void)
{
    return (airy_geometry){.detector = {.name = "Detector",
                                        .height = ROWS,
                                        .width = COLUMNS,
                                        .pixel1 = 0.4e-3,
                                        .pixel2 = 0.5e-3},
                           .dist = 0.06,
                           .poni1 = 0.011,
                           .poni2 = 0.017,
                           .rot1 = 0.05,
                           .rot2 = -0.08,
                           .rot3 = 0.7,
                           .wavelength = 1.1e-10};
}

/* A smooth background with noise, spots of several widths, plateaus, dummies. */
static double draw(struct check *c, size_t i, const double spots[][4], size_t count, bool is_float)
{
    const double y = (double)(i / COLUMNS), x = (double)(i % COLUMNS);
    double mean = 8 + 25 * exp(-((y - 30) * (y - 30) + (x - 35) * (x - 35)) / 900);
    for (size_t k = 0; k < count; k++) {
        const double dy = y - spots[k][0], dx = x - spots[k][1];
        mean += spots[k][2] * exp(-(dy * dy + dx * dx) / (2 * spots[k][3] * spots[k][3]));
    }
    const double value = mean + sqrt(mean) * check_normal(c);
    if (check_rand_u64(c) % 211 == 0)
        return 101; /* the dummy */
    return is_float ? (double)(float)value : fmax(0, fmin(floor(value), 127));
}

static void fill_scene(struct check *c, struct scene *s)
{
    const size_t n = s->frames * COUNT;
    s->geometry = geometry_of_scene();
    s->mask = check_alloc(c, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        s->mask[i] = check_rand_u64(c) % 97 == 0 || i / COLUMNS == 20;
    s->dark = check_alloc(c, COUNT * sizeof *s->dark);
    s->flat = check_alloc(c, COUNT * sizeof *s->flat);
    check_rand(c, s->dark, AIRY_DTYPE_F32, COUNT, -1, 3);
    check_rand(c, s->flat, AIRY_DTYPE_F32, COUNT, 0.7, 1.3);
    s->data = check_alloc(c, n * airy_dtype_size(s->dtype));
    s->raw = check_alloc(c, n * sizeof *s->raw);
    s->out = check_alloc(c, n);
    for (size_t f = 0; f < s->frames; f++) {
        double spots[12][4];
        for (int k = 0; k < 12; k++) {
            spots[k][0] = check_uniform(c) * ROWS;
            spots[k][1] = check_uniform(c) * COLUMNS;
            spots[k][2] = 20 + 60 * check_uniform(c);
            spots[k][3] = 0.5 + check_uniform(c);
        }
        for (size_t i = f * COUNT; i < (f + 1) * COUNT; i++) {
            s->raw[i] =
                draw(c, i % COUNT, (const double(*)[4])spots, 12, airy_dtype_is_float(s->dtype));
            if (airy_dtype_is_float(s->dtype) && i % 503 == 0)
                s->raw[i] = i % 2 ? NAN : INFINITY;
            check_put(s->data, s->dtype, i, s->raw[i]);
            s->out[i] = !isfinite(s->raw[i]) || s->raw[i] == 101;
        }
    }
    s->integrator.bins = BINS;
    s->integrator.mask = s->mask;
    s->integrator.has_dummy = true;
    s->integrator.dummy = 101;
}

/* Room for results, with the finder's limits. */
static void make_room(struct check *c, struct scene *s)
{
    const size_t pixels = s->params.max_pixels ? s->params.max_pixels : (COUNT + 3) / 4,
                 peaks = s->params.max_peaks ? s->params.max_peaks : 4096;
    s->params.max_pixels = pixels;
    s->params.max_peaks = peaks;
    s->sums = check_alloc(c, s->frames * AIRY_SUM_PLANES * BINS * sizeof(double));
    s->counts = check_alloc(c, s->frames * AIRY_PEAK_COUNTS * sizeof(uint32_t));
    s->curves = check_alloc(c, s->frames * 2 * BINS * sizeof(float));
    s->index = check_alloc(c, s->frames * pixels * sizeof(uint32_t));
    s->intensity = check_alloc(c, s->frames * pixels * airy_dtype_size(s->dtype));
    s->peaks = check_alloc(c, s->frames * peaks * sizeof(airy_peak));
}

static airy_status pull(airy_queue *queue, void *to, airy_array *array)
{
    return airy_array_pull(queue, to, airy_array_size(array), array);
}

/* Output arrays of a call; owned by the case. */
static airy_peak_lists make_lists(struct check *c, const struct scene *s)
{
    const size_t counts[2] = {s->frames, AIRY_PEAK_COUNTS}, curves[3] = {s->frames, 2, BINS},
                 pixels = s->frames * s->params.max_pixels,
                 peaks[2] = {s->frames * s->params.max_peaks, sizeof(airy_peak)};
    return (airy_peak_lists){.counts = check_output(c, AIRY_DTYPE_U32, 2, counts),
                             .curves = check_output(c, AIRY_DTYPE_F32, 3, curves),
                             .index = check_output(c, AIRY_DTYPE_U32, 1, &pixels),
                             .intensity = check_output(c, s->dtype, 1, &pixels),
                             .peaks = check_output(c, AIRY_DTYPE_U8, 2, peaks)};
}

static bool find_on(struct check *c, struct scene *s, const airy_peak_finder *finder,
                    airy_array *sums, airy_array *frames)
{
    const airy_peak_lists lists = make_lists(c, s);
    return CHECK_OK(c, airy_find_peaks(c->queue, &lists, finder, sums, frames)) &&
           CHECK_OK(c, pull(c->queue, s->counts, lists.counts)) &&
           CHECK_OK(c, pull(c->queue, s->curves, lists.curves)) &&
           CHECK_OK(c, pull(c->queue, s->index, lists.index)) &&
           CHECK_OK(c, pull(c->queue, s->intensity, lists.intensity)) &&
           CHECK_OK(c, pull(c->queue, s->peaks, lists.peaks)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

/* Integrate and find; sums come back too. */
static bool run_scene(struct check *c, struct scene *s)
{
    const size_t shape[3] = {s->frames, ROWS, COLUMNS},
                 sums_shape[3] = {s->frames, AIRY_SUM_PLANES, BINS},
                 stats_shape[2] = {s->frames, sizeof(airy_frame_stats)};
    airy_integrator *it = NULL;
    airy_peak_finder *finder = NULL;
    make_room(c, s);
    airy_array *frames = check_upload(c, s->dtype, 3, shape, s->data),
               *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape),
               *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    const bool done =
        frames && sums && stats &&
        CHECK_OK(c, airy_integrator_create(&it, c->device, &s->geometry, &s->integrator)) &&
        CHECK_OK(c, airy_peak_finder_create(&finder, it, &s->params)) &&
        CHECK_OK(c, airy_peak_finder_get_params(finder, &s->params)) &&
        CHECK_OK(c, airy_integrate(c->queue, sums, stats, it, frames)) &&
        CHECK_OK(c, pull(c->queue, s->sums, sums)) && find_on(c, s, finder, sums, frames);
    airy_peak_finder_destroy(&finder);
    airy_integrator_destroy(&it);
    return done;
}

/* The reference's view of frame f. */
static struct ref_peaks reference(struct check *c, const struct scene *s, size_t f)
{
    struct ref_peaks r = {.height = ROWS,
                          .width = COLUMNS,
                          .bins = BINS,
                          .raw = s->raw + f * COUNT,
                          .out = s->out + f * COUNT,
                          .dark = s->integrator.dark,
                          .params = s->params,
                          .strict = s->integrator.compat == AIRY_COMPAT_PYFAI,
                          .error = 0x1p-22};
    double *mean = check_alloc(c, BINS * sizeof *mean), *std = check_alloc(c, BINS * sizeof *std),
           *radial = check_alloc(c, BINS * sizeof *radial),
           *radius = check_alloc(c, COUNT * sizeof *radius),
           *norm = check_alloc(c, COUNT * sizeof *norm);
    uint8_t *counts = check_alloc(c, COUNT);
    const double *sums = s->sums + f * AIRY_SUM_PLANES * BINS;
    ref_normalization(norm, counts, &s->geometry, &s->integrator);
    airy_integrator *it = NULL;
    CHECK_OK(c, airy_integrator_create(&it, c->device, &s->geometry, &s->integrator));
    for (size_t b = 0; b < BINS && it; b++) {
        const bool some = sums[AIRY_SUM_COUNT_PLANE * BINS + b] > 0;
        radial[b] = airy_integrator_radial(it)[b];
        mean[b] = some ? sums[b] / sums[AIRY_SUM_NORMALIZATION * BINS + b] : NAN;
        std[b] = some ? sqrt(sums[AIRY_SUM_VARIANCE * BINS + b] /
                             sums[AIRY_SUM_NORMALIZATION2 * BINS + b])
                      : NAN;
    }
    airy_integrator_destroy(&it);
    for (size_t i = 0; i < COUNT; i++) {
        radius[i] = ref_radial(&s->geometry, s->integrator.unit, (double)(i / COLUMNS) + 0.5,
                               (double)(i % COLUMNS) + 0.5);
        if (s->integrator.has_radial_range)
            counts[i] &= radius[i] >= s->integrator.radial_range[0] &&
                         radius[i] < s->integrator.radial_range[1];
    }
    r.mean = mean;
    r.std = std;
    r.radial = radial;
    r.radius = radius;
    r.norm = norm;
    r.counts = counts;
    r.v = check_alloc(c, COUNT * sizeof(double));
    r.u = check_alloc(c, COUNT * sizeof(double));
    r.slack = check_alloc(c, COUNT * sizeof(double));
    r.kept = check_alloc(c, COUNT);
    r.peak = check_alloc(c, COUNT);
    ref_peaks_find(&r);
    return r;
}

/* found: 1 where the lists have the pixel; in doubt both are right, for few. */
static void compare_choice(struct check *c, const char *what, const int8_t *want,
                           const uint8_t *found)
{
    size_t doubtful = 0, some = 0;
    for (size_t i = 0; i < COUNT; i++) {
        doubtful += want[i] < 0;
        some += want[i] == 1;
        if (want[i] >= 0 && want[i] != found[i])
            check_failed(c, __FILE__, __LINE__, "%s: pixel %zu: got %d, want %d", what, i, found[i],
                         want[i]);
    }
    CHECK(c, some >= 5 && doubtful <= 5);
}

/*
 * A centroid moves by the errors of v times their distance from it, over the sum of v; all are
 * rounded to f32 at the end.
 */
static void compare_peak(struct check *c, const struct ref_peaks *r, const airy_peak *got)
{
    const struct ref_peak want = ref_peaks_measure(r, got->index);
    const double reach = 2 * (double)r->params.patch * want.slack / want.intensity;
    CHECK(c, fabs((double)got->y - want.y) <= reach + 0x1p-23 * ROWS);
    CHECK(c, fabs((double)got->x - want.x) <= reach + 0x1p-23 * COLUMNS);
    CHECK(c,
          fabs((double)got->intensity - want.intensity) <= want.slack + 0x1p-23 * want.intensity);
    if (!want.doubtful) /* u^2 has four roundings of its own and twice those of s */
        CHECK(c, fabs((double)got->sigma - want.sigma) <= 0x1p-20 * want.sigma &&
                     fabs((double)got->snr - want.intensity / want.sigma) <=
                         want.slack / want.sigma + 0x1p-19 * (double)got->snr);
    CHECK(c, got->pixels >= want.least && got->pixels <= want.most);
}

static void compare_scene(struct check *c, const struct scene *s)
{
    const size_t elem = airy_dtype_size(s->dtype);
    size_t pixel = 0, peak = 0;
    for (size_t f = 0; f < s->frames; f++) {
        const struct ref_peaks r = reference(c, s, f);
        const uint32_t *counts = s->counts + f * AIRY_PEAK_COUNTS;
        uint8_t *found = check_alloc(c, 2 * COUNT);
        CHECK(c, counts[AIRY_PEAK_PIXELS] == counts[AIRY_PEAK_PIXELS_FOUND] &&
                     counts[AIRY_PEAK_PEAKS] == counts[AIRY_PEAK_PEAKS_FOUND]);
        for (uint32_t k = 0; k < counts[AIRY_PEAK_PIXELS]; k++, pixel++) {
            const uint32_t i = s->index[pixel];
            if (!CHECK(c, i < COUNT && (k == 0 || i > s->index[pixel - 1])))
                return;
            found[i] = 1;
            CHECK(c, memcmp((char *)s->intensity + pixel * elem,
                            (char *)s->data + (f * COUNT + i) * elem, elem) == 0);
        }
        for (uint32_t k = 0; k < counts[AIRY_PEAK_PEAKS]; k++, peak++) {
            const uint32_t i = s->peaks[peak].index;
            if (!CHECK(c, i < COUNT && (k == 0 || i > s->peaks[peak - 1].index)))
                return;
            found[COUNT + i] = 1;
            compare_peak(c, &r, &s->peaks[peak]);
        }
        compare_choice(c, "kept", r.kept, found);
        compare_choice(c, "peaks", r.peak, found + COUNT);
    }
}

static void check_scene(struct check *c, const char *name, struct scene s)
{
    if (!check_case(c, "peaks_%s", name))
        return;
    s.frames = FRAMES;
    const bool dark = s.integrator.dark != NULL;
    fill_scene(c, &s);
    s.integrator.dark = dark ? s.dark : NULL;
    s.integrator.flat = dark ? s.flat : NULL;
    if (s.integrator.has_radial_range) /* a ring of bins without a pixel */
        for (size_t i = 0; i < COUNT; i++) {
            const double radius = ref_radial(&s.geometry, s.integrator.unit,
                                             (double)(i / COLUMNS) + 0.5,
                                             (double)(i % COLUMNS) + 0.5);
            s.mask[i] |= radius > 12 && radius < 17;
        }
    if (run_scene(c, &s))
        compare_scene(c, &s);
}

static void check_scenes(struct check *c)
{
    static const float some_dark[1];
    const airy_error_model poisson = AIRY_ERROR_MODEL_POISSON,
                           azimuthal = AIRY_ERROR_MODEL_AZIMUTHAL;
    for (int d = 0; d < AIRY_DTYPE_COUNT; d++) {
        const airy_dtype dtype = (airy_dtype)d;
        if (dtype == AIRY_DTYPE_I64 || dtype == AIRY_DTYPE_U64)
            continue;
        check_scene(c, airy_dtype_name(dtype),
                    (struct scene){.dtype = dtype, .integrator = {.error_model = poisson}});
    }
    check_scene(
        c, "corrected",
        (struct scene){
            .dtype = AIRY_DTYPE_U16,
            .integrator = {.error_model = azimuthal, .dark = some_dark, .unit = AIRY_UNIT_TTH_DEG},
            .params = {.noise = 0.5, .cutoff_peak = 2}});
    check_scene(c, "patch7",
                (struct scene){.dtype = AIRY_DTYPE_U32,
                               .integrator = {.error_model = poisson},
                               .params = {.patch = 7, .connected = 3}});
    check_scene(
        c, "strict",
        (struct scene){.dtype = AIRY_DTYPE_I32,
                       .integrator = {.error_model = poisson, .compat = AIRY_COMPAT_PYFAI}});
    check_scene(c, "range",
                (struct scene){.dtype = AIRY_DTYPE_U32,
                               .integrator = {.error_model = poisson,
                                              .has_radial_range = true,
                                              .radial_range = {2, 25}}});
}

/* A finder with its arrays for cases that look at one thing. */
struct simple {
    struct scene s;
    airy_integrator *it;
    airy_peak_finder *finder;
    airy_array *frames, *sums, *stats;
};

static bool simple_open(struct check *c, struct simple *t)
{
    const size_t shape[3] = {t->s.frames, ROWS, COLUMNS},
                 sums_shape[3] = {t->s.frames, AIRY_SUM_PLANES, BINS},
                 stats_shape[2] = {t->s.frames, sizeof(airy_frame_stats)};
    t->s.integrator.error_model = AIRY_ERROR_MODEL_POISSON;
    fill_scene(c, &t->s);
    make_room(c, &t->s);
    t->frames = check_upload(c, t->s.dtype, 3, shape, t->s.data);
    t->sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    t->stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    return CHECK_OK(c,
                    airy_integrator_create(&t->it, c->device, &t->s.geometry, &t->s.integrator)) &&
           CHECK_OK(c, airy_peak_finder_create(&t->finder, t->it, &t->s.params)) &&
           CHECK_OK(c, airy_integrate(c->queue, t->sums, t->stats, t->it, t->frames));
}

static void simple_close(struct simple *t)
{
    airy_peak_finder_destroy(&t->finder);
    airy_integrator_destroy(&t->it);
}

/* With the same sums, the CPU with one thread and this device give the same bytes. */
static void check_same_bits(struct check *c)
{
    if (!check_case(c, "peaks_same_bits"))
        return;
    struct simple t = {.s = {.dtype = AIRY_DTYPE_U32, .frames = 6}};
    if (simple_open(c, &t) && CHECK_OK(c, pull(c->queue, t.s.sums, t.sums)) &&
        find_on(c, &t.s, t.finder, t.sums, t.frames)) {
        struct check other = *c;
        const airy_device_params one = {.threads = 1};
        const size_t shape[3] = {6, ROWS, COLUMNS}, sums_shape[3] = {6, AIRY_SUM_PLANES, BINS};
        struct scene s = t.s;
        airy_integrator *it = NULL;
        airy_peak_finder *finder = NULL;
        make_room(c, &s);
        if (CHECK_OK(c, airy_device_create(&other.device, "cpu", &one)) &&
            CHECK_OK(c, airy_queue_create(&other.queue, other.device)) &&
            CHECK_OK(c, airy_integrator_create(&it, other.device, &s.geometry, &s.integrator)) &&
            CHECK_OK(c, airy_peak_finder_create(&finder, it, &s.params))) {
            airy_array *frames = NULL, *sums = NULL;
            airy_peak_lists lists = {.counts = NULL};
            const size_t counts[2] = {6, AIRY_PEAK_COUNTS}, curves[3] = {6, 2, BINS},
                         pixels = 6 * s.params.max_pixels,
                         peaks[2] = {6 * s.params.max_peaks, sizeof(airy_peak)};
            CHECK_OK(c, airy_array_create_from(&frames, other.queue, s.dtype, 3, shape, s.data));
            CHECK_OK(c, airy_array_create_from(&sums, other.queue, AIRY_DTYPE_F64, 3, sums_shape,
                                               t.s.sums));
            CHECK_OK(c, airy_array_create(&lists.counts, other.device, AIRY_DTYPE_U32, 2, counts));
            CHECK_OK(c, airy_array_create(&lists.curves, other.device, AIRY_DTYPE_F32, 3, curves));
            CHECK_OK(c, airy_array_create(&lists.index, other.device, AIRY_DTYPE_U32, 1, &pixels));
            CHECK_OK(c, airy_array_create(&lists.intensity, other.device, s.dtype, 1, &pixels));
            CHECK_OK(c, airy_array_create(&lists.peaks, other.device, AIRY_DTYPE_U8, 2, peaks));
            CHECK_OK(c, airy_find_peaks(other.queue, &lists, finder, sums, frames));
            CHECK_OK(c, pull(other.queue, s.counts, lists.counts));
            CHECK_OK(c, pull(other.queue, s.curves, lists.curves));
            CHECK_OK(c, pull(other.queue, s.index, lists.index));
            CHECK_OK(c, pull(other.queue, s.peaks, lists.peaks));
            size_t kept = 0, found = 0;
            for (size_t f = 0; f < 6; f++) {
                kept += s.counts[f * AIRY_PEAK_COUNTS];
                found += s.counts[f * AIRY_PEAK_COUNTS + AIRY_PEAK_PEAKS];
            }
            CHECK(c, kept > 100 && found > 20);
            CHECK(c, memcmp(s.counts, t.s.counts, 6 * AIRY_PEAK_COUNTS * sizeof(uint32_t)) == 0);
            CHECK(c, memcmp(s.curves, t.s.curves, 6 * 2 * BINS * sizeof(float)) == 0);
            CHECK(c, memcmp(s.index, t.s.index, kept * sizeof(uint32_t)) == 0);
            CHECK(c, memcmp(s.peaks, t.s.peaks, found * sizeof(airy_peak)) == 0);
            airy_array *const all[] = {frames,       sums,        lists.counts,
                                       lists.curves, lists.index, lists.intensity,
                                       lists.peaks};
            for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
                airy_array *array = all[i];
                airy_array_destroy(&array);
            }
        }
        airy_peak_finder_destroy(&finder);
        airy_integrator_destroy(&it);
        airy_queue_destroy(&other.queue);
        airy_device_destroy(&other.device);
    }
    simple_close(&t);
}

/* A frame whose list is too long has none, is counted, and changes nothing for the others. */
static void check_limits(struct check *c)
{
    if (!check_case(c, "peaks_limits"))
        return;
    struct simple t = {.s = {.dtype = AIRY_DTYPE_U16,
                             .frames = 4,
                             .params = {.max_pixels = 400, .max_peaks = 100}}};
    if (simple_open(c, &t) && find_on(c, &t.s, t.finder, t.sums, t.frames)) {
        uint32_t before[4 * AIRY_PEAK_COUNTS];
        memcpy(before, t.s.counts, sizeof before);
        const uint32_t most = before[AIRY_PEAK_COUNTS + AIRY_PEAK_PIXELS],
                       most_peaks = before[AIRY_PEAK_COUNTS + AIRY_PEAK_PEAKS];
        struct scene s = t.s;
        s.params.max_pixels = most - 1;
        s.params.max_peaks = most_peaks - 1;
        make_room(c, &s);
        airy_peak_finder *finder = NULL;
        if (CHECK(c, most > 1 && most_peaks > 1) &&
            CHECK_OK(c, airy_peak_finder_create(&finder, t.it, &s.params)) &&
            find_on(c, &s, finder, t.sums, t.frames)) {
            size_t at = 0, at_all = 0;
            for (size_t f = 0; f < 4; f++) {
                const uint32_t *got = s.counts + f * AIRY_PEAK_COUNTS,
                               *all = before + f * AIRY_PEAK_COUNTS;
                CHECK(c, got[AIRY_PEAK_PIXELS_FOUND] == all[AIRY_PEAK_PIXELS_FOUND] &&
                             got[AIRY_PEAK_PEAKS_FOUND] == all[AIRY_PEAK_PEAKS_FOUND]);
                CHECK(c, got[AIRY_PEAK_PIXELS] ==
                             (all[AIRY_PEAK_PIXELS] < most ? all[AIRY_PEAK_PIXELS] : 0));
                CHECK(c, got[AIRY_PEAK_PEAKS] ==
                             (all[AIRY_PEAK_PEAKS] < most_peaks ? all[AIRY_PEAK_PEAKS] : 0));
                CHECK(c, memcmp(s.index + at, t.s.index + at_all,
                                got[AIRY_PEAK_PIXELS] * sizeof(uint32_t)) == 0);
                at += got[AIRY_PEAK_PIXELS];
                at_all += all[AIRY_PEAK_PIXELS];
            }
        }
        airy_peak_finder_destroy(&finder);
    }
    simple_close(&t);
}

/* Equal neighbours: the first in raster order is the peak, alone. */
static void check_ties(struct check *c)
{
    if (!check_case(c, "peaks_ties"))
        return;
    struct simple t = {.s = {.dtype = AIRY_DTYPE_U32, .frames = 1, .params = {.connected = 1}}};
    t.s.integrator.no_solid_angle = true;
    if (simple_open(c, &t)) {
        uint32_t *data = t.s.data;
        for (size_t i = 0; i < COUNT; i++)
            data[i] = 10;
        memset(t.s.mask, 0, COUNT);
        /* a plateau of 2 x 2; two equal pixels at a distance of 2, which a patch of 3 does not span;
         * one at each corner of the frame */
        static const size_t lit[][2] = {
            {5, 5},   {5, 6}, {6, 5},           {6, 6},        {40, 50},
            {40, 52}, {0, 0}, {0, COLUMNS - 1}, {ROWS - 1, 0}, {ROWS - 1, COLUMNS - 1}};
        for (size_t k = 0; k < sizeof lit / sizeof lit[0]; k++)
            data[lit[k][0] * COLUMNS + lit[k][1]] = 90;
        static const size_t want[][2] = {
            {0, 0},        {0, COLUMNS - 1},       {5, 5}, {40, 50}, {40, 52},
            {ROWS - 1, 0}, {ROWS - 1, COLUMNS - 1}};
        simple_close(&t);
        /* level curves, so that v is the same wherever the raw value is */
        for (size_t b = 0; b < BINS; b++) {
            t.s.sums[b] = 10;
            t.s.sums[AIRY_SUM_VARIANCE * BINS + b] = 10;
            for (size_t p = AIRY_SUM_NORMALIZATION; p <= AIRY_SUM_COUNT_PLANE; p++)
                t.s.sums[p * BINS + b] = 1;
        }
        const size_t bytes = AIRY_SUM_PLANES * BINS * sizeof(double);
        if (CHECK_OK(c, airy_integrator_create(&t.it, c->device, &t.s.geometry, &t.s.integrator)) &&
            CHECK_OK(c, airy_peak_finder_create(&t.finder, t.it, &t.s.params)) &&
            CHECK_OK(c, airy_array_push(c->queue, t.sums, t.s.sums, bytes)) &&
            CHECK_OK(c, airy_array_push(c->queue, t.frames, data, COUNT * sizeof *data)) &&
            find_on(c, &t.s, t.finder, t.sums, t.frames)) {
            const size_t n = sizeof want / sizeof want[0];
            CHECK(c, t.s.counts[AIRY_PEAK_PEAKS] == n);
            for (size_t k = 0; k < n && k < t.s.counts[AIRY_PEAK_PEAKS]; k++)
                CHECK(c, t.s.peaks[k].index == want[k][0] * COLUMNS + want[k][1]);
            CHECK(c, t.s.counts[AIRY_PEAK_PIXELS] == sizeof lit / sizeof lit[0]);
        }
    }
    simple_close(&t);
}

static void check_refused_params(struct check *c, const airy_integrator *it)
{
    static const struct {
        airy_peak_params params;
        const char *part;
    } rows[] = {{{.noise = -1}, "noise = -1, expected 1e-15 to 1e15"},
                {{.noise = NAN}, "noise = "},
                {{.cutoff_pick = -3}, "cutoff_pick = -3, expected above 0"},
                {{.cutoff_peak = INFINITY}, "cutoff_peak = inf"},
                {{.patch = 4}, "patch = 4, expected an odd number from 3 to 31"},
                {{.patch = 33}, "patch = 33"},
                {{.connected = 10}, "connected = 10, expected at most the 9 pixels"},
                {{.max_pixels = COUNT + 1}, "max_pixels = 5562, expected at most the 5561 pixels"},
                {{.max_peaks = COUNT + 1}, "max_peaks = 5562"}};
    airy_peak_finder *finder = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_FAILS(c, airy_peak_finder_create(&finder, it, &rows[i].params), AIRY_ERR_PARAM,
                    rows[i].part);
    CHECK_FAILS(c, airy_peak_finder_create(&finder, NULL, NULL), AIRY_ERR_PARAM,
                "integrator is NULL");
    CHECK_FAILS(c, airy_peak_finder_create(NULL, it, NULL), AIRY_ERR_PARAM, "finder is NULL");
    CHECK_FAILS(c, airy_peak_finder_get_params(NULL, NULL), AIRY_ERR_PARAM, "finder is NULL");
    CHECK_FAILS(c, airy_peak_finder_images(NULL, NULL, NULL), AIRY_ERR_PARAM, "finder is NULL");
    airy_peak_finder_destroy(NULL);
    airy_peak_finder_destroy(&finder);
}

static void check_refused_integrators(struct check *c, const struct scene *s)
{
    static const struct {
        airy_integrator_params params;
        const char *part;
    } rows[] = {
        {{.bins = 10}, "no error model"},
        {{.bins = 10, .error_model = AIRY_ERROR_MODEL_POISSON, .unweighted = true}, "unweighted"},
        {{.bins = 10, .azimuth_bins = 4, .error_model = AIRY_ERROR_MODEL_POISSON},
         "4 bins of chi; peaks need one dimension"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        airy_integrator *it = NULL;
        airy_peak_finder *finder = NULL;
        if (CHECK_OK(c, airy_integrator_create(&it, c->device, &s->geometry, &rows[i].params)))
            CHECK_FAILS(c, airy_peak_finder_create(&finder, it, NULL), AIRY_ERR_UNSUPPORTED,
                        rows[i].part);
        airy_integrator_destroy(&it);
    }
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "peaks_refusals"))
        return;
    struct simple t = {.s = {.dtype = AIRY_DTYPE_U32, .frames = 2}};
    if (simple_open(c, &t)) {
        const airy_peak_lists good = make_lists(c, &t.s);
        const size_t wide[3] = {2, ROWS, COLUMNS + 1}, shape[3] = {2, ROWS, COLUMNS}, small = 7;
        airy_array *u64 = check_output(c, AIRY_DTYPE_U64, 3, shape),
                   *wrong = check_output(c, AIRY_DTYPE_U32, 3, wide),
                   *list = check_output(c, AIRY_DTYPE_U32, 1, &small);
        airy_peak_lists lists = good;
        check_refused_params(c, t.it);
        check_refused_integrators(c, &t.s);
        CHECK_FAILS(c, airy_find_peaks(NULL, &good, t.finder, t.sums, t.frames), AIRY_ERR_PARAM,
                    "queue is NULL");
        CHECK_FAILS(c, airy_find_peaks(c->queue, NULL, t.finder, t.sums, t.frames), AIRY_ERR_PARAM,
                    "lists is NULL");
        CHECK_FAILS(c, airy_find_peaks(c->queue, &good, NULL, t.sums, t.frames), AIRY_ERR_PARAM,
                    "finder is NULL");
        CHECK_FAILS(c, airy_find_peaks(c->queue, &good, t.finder, NULL, t.frames), AIRY_ERR_PARAM,
                    "sums is NULL");
        CHECK_FAILS(c, airy_find_peaks(c->queue, &good, t.finder, t.sums, NULL), AIRY_ERR_PARAM,
                    "frames is NULL");
        CHECK_FAILS(c, airy_find_peaks(c->queue, &good, t.finder, t.sums, wrong), AIRY_ERR_SHAPE,
                    "expected [n, 67, 83]");
        CHECK_FAILS(c, airy_find_peaks(c->queue, &good, t.finder, t.sums, u64), AIRY_ERR_DTYPE,
                    "frames of uint64");
        lists.index = list;
        CHECK_FAILS(c, airy_find_peaks(c->queue, &lists, t.finder, t.sums, t.frames),
                    AIRY_ERR_SHAPE, "index is");
        lists = good;
        lists.curves = NULL;
        CHECK_FAILS(c, airy_find_peaks(c->queue, &lists, t.finder, t.sums, t.frames),
                    AIRY_ERR_PARAM, "curves is NULL");
        lists = good;
        lists.counts = good.curves;
        CHECK_FAILS(c, airy_find_peaks(c->queue, &lists, t.finder, t.sums, t.frames),
                    AIRY_ERR_DTYPE, "counts is");
        lists = good;
        lists.intensity = good.index;
        CHECK_FAILS(c, airy_find_peaks(c->queue, &lists, t.finder, t.sums, t.frames),
                    AIRY_ERR_PARAM, "index and intensity overlap");
    }
    simple_close(&t);
}

void check_peaks(struct check *c)
{
    check_scenes(c);
    check_same_bits(c);
    check_limits(c);
    check_ties(c);
    check_refusals(c);
}
