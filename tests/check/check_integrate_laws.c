/*
 * Laws that hold whatever the geometry: counts are conserved, two dimensions add up to one, flat
 * gives flat, the order of frames changes nothing, and an image made from a curve gives it back.
 */
#include "check_integrate.h"

#include <stdio.h>
#include <string.h>

#include "ref_integrate.h"

enum { ROUNDS = 6, BINS = 23, SECTORS = 9, CELLS = BINS * SECTORS };

static double between(struct check *c, double lo, double hi)
{
    return lo + (hi - lo) * check_uniform(c);
}

/* The beam anywhere on the detector or around it, turned by up to 40 degrees about each axis. */
static airy_geometry random_geometry(struct check *c)
{
    airy_geometry g = {.detector = {.name = "Detector",
                                    .height = HEIGHT,
                                    .width = WIDTH,
                                    .pixel1 = between(c, 3e-4, 2e-3),
                                    .pixel2 = between(c, 3e-4, 2e-3),
                                    .orientation = 1 + (int)(check_rand_u64(c) % 4)},
                       .dist = between(c, 0.03, 0.3),
                       .rot1 = between(c, -0.7, 0.7),
                       .rot2 = between(c, -0.7, 0.7),
                       .rot3 = between(c, -3, 3),
                       .wavelength = between(c, 0.3e-10, 2e-10)};
    g.poni1 = between(c, -0.5, 1.5) * HEIGHT * g.detector.pixel1;
    g.poni2 = between(c, -0.5, 1.5) * WIDTH * g.detector.pixel2;
    return g;
}

struct law {
    airy_geometry geometry;
    airy_integrator_params params;
    airy_integrator *integrator;
    uint8_t *mask;
    size_t cells;
    double *sums; /* [frames][AIRY_SUM_PLANES][cells] */
    airy_frame_stats *stats;
};

static bool run_law(struct check *c, struct law *law, airy_dtype dtype, size_t frames,
                    const void *data)
{
    airy_integrator_destroy(&law->integrator);
    if (!CHECK_OK(
            c, airy_integrator_create(&law->integrator, c->device, &law->geometry, &law->params)))
        return false;
    law->cells = airy_integrator_bins(law->integrator);
    const size_t shape[3] = {frames, HEIGHT, WIDTH},
                 sums[3] = {frames, AIRY_SUM_PLANES, law->cells},
                 stats[2] = {frames, sizeof(airy_frame_stats)};
    const size_t sums_size = frames * AIRY_SUM_PLANES * law->cells * sizeof(double);
    airy_array *in = check_upload(c, dtype, 3, shape, data),
               *to = check_output(c, AIRY_DTYPE_F64, 3, sums),
               *about = check_output(c, AIRY_DTYPE_U8, 2, stats);
    law->sums = check_alloc(c, sums_size);
    law->stats = check_alloc(c, frames * sizeof(*law->stats));
    return in && to && about &&
           CHECK_OK(c, airy_integrate(c->queue, to, about, law->integrator, in)) &&
           CHECK_OK(c, airy_array_pull(c->queue, law->sums, sums_size, to)) &&
           CHECK_OK(c,
                    airy_array_pull(c->queue, law->stats, frames * sizeof(*law->stats), about)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

static double plane_total(const struct law *law, size_t plane)
{
    double total = 0;
    for (size_t i = 0; i < law->cells; i++)
        total += law->sums[plane * law->cells + i];
    return total;
}

static uint32_t *random_counts(struct check *c, size_t frames)
{
    uint32_t *data = check_alloc(c, frames * PIXELS * sizeof(*data));
    for (size_t i = 0; i < frames * PIXELS; i++)
        data[i] = (uint32_t)(check_rand_u64(c) % 1000);
    return data;
}

static struct law random_law(struct check *c, airy_unit unit, airy_split split, size_t azimuth)
{
    struct law law = {.geometry = random_geometry(c), .mask = check_alloc(c, PIXELS)};
    scene_mask(c, law.mask);
    law.params = (airy_integrator_params){.bins = BINS,
                                          .unit = unit,
                                          .split = split,
                                          .azimuth_bins = azimuth,
                                          .chi_zero = check_rand_u64(c) & 1,
                                          .mask = law.mask};
    return law;
}

/*
 * The shares of a pixel are rounded to float, 2^-24 of each, and worked out in double, where the
 * area of a quadrilateral in a small part of the plane loses 10^-9.
 */
#define SHARE_ERROR (0x1p-24 + 1e-9)

/*
 * The box of splitting pseudo stands about the mean of the corners and can stick out of what they
 * reach: the axes are made wider than that.
 */
static void widen_axes(struct check *c, struct law *law)
{
    airy_integrator *it = NULL;
    airy_integrator_info info;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &law->geometry, &law->params)))
        return;
    CHECK_OK(c, airy_integrator_get_info(it, &info));
    airy_integrator_destroy(&it);
    const double more = (info.upper - info.lower) / 2;
    law->params.has_radial_range = law->params.has_azimuth_range = true;
    law->params.radial_range[0] = info.lower - more;
    law->params.radial_range[1] = info.upper + more;
    law->params.azimuth_range[0] = -180;
    law->params.azimuth_range[1] = 180;
    if (info.azimuth_bins && airy_unit_turn(info.azimuth_unit) == 0) {
        const double up = (info.azimuth_upper - info.azimuth_lower) / 2;
        law->params.azimuth_range[0] = info.azimuth_lower - up;
        law->params.azimuth_range[1] = info.azimuth_upper + up;
    }
}

/* Every count of a pixel that counts is in some bin, whole. */
static void check_conserved(struct check *c, airy_unit unit, airy_unit second, airy_split split,
                            size_t azimuth)
{
    if (!check_case(c, "law_conserved_%s_%s_%s%s%s", azimuth ? "2d" : "1d", airy_split_name(split),
                    airy_unit_name(unit), second == AIRY_UNIT_CHI_DEG ? "" : "_",
                    second == AIRY_UNIT_CHI_DEG ? "" : airy_unit_name(second)))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        struct law law = random_law(c, unit, split, azimuth);
        law.params.azimuth_unit = second;
        law.params.chi_zero = law.params.chi_zero && airy_unit_turn(second) > 0;
        law.geometry.incidence = 0.01 * round;
        law.geometry.tilt = 0.1 * round;
        const uint32_t *counts = random_counts(c, 1);
        law.params.no_solid_angle = true;
        if (split == AIRY_SPLIT_PSEUDO)
            widen_axes(c, &law);
        double total = 0, pixels = 0;
        for (size_t i = 0; i < PIXELS; i++) {
            total += law.mask[i] ? 0 : counts[i];
            pixels += !law.mask[i];
        }
        if (run_law(c, &law, AIRY_DTYPE_U32, 1, counts)) {
            const double signal = plane_total(&law, AIRY_SUM_SIGNAL),
                         count = plane_total(&law, AIRY_SUM_COUNT_PLANE);
            if (!(fabs(signal - total) <= SHARE_ERROR * total) ||
                !(fabs(count - pixels) <= SHARE_ERROR * pixels))
                check_failed(c, __FILE__, __LINE__,
                             "round %d: %.12g of %.12g counts, %.12g of %g pixels", round, signal,
                             total, count, pixels);
            CHECK(c, law.stats[0].total == total);
        }
        airy_integrator_destroy(&law.integrator);
    }
}

/* Signal, normalization and count of the cells of a radius are those of its bin. */
static void compare_dimensions(struct check *c, const struct law *one, const struct law *two,
                               int round)
{
    static const int planes[] = {AIRY_SUM_SIGNAL, AIRY_SUM_NORMALIZATION, AIRY_SUM_COUNT_PLANE};
    for (size_t k = 0; k < 3; k++) {
        const double whole = plane_total(one, (size_t)planes[k]);
        for (size_t b = 0; b < BINS; b++) {
            const double want = one->sums[(size_t)planes[k] * BINS + b];
            double got = 0;
            for (size_t a = 0; a < SECTORS; a++)
                got += two->sums[(size_t)planes[k] * CELLS + a * BINS + b];
            /* Both are rounded; what is lost in double is of the pixels, not of a small share. */
            const double room = 2 * 0x1p-24 * want + 1e-9 * whole;
            if (!(fabs(got - want) <= room))
                check_failed(c, __FILE__, __LINE__, "round %d, plane %d, bin %zu: %.12g, %.12g",
                             round, planes[k], b, got, want);
        }
    }
}

static void check_dimensions(struct check *c, airy_unit unit, airy_split split)
{
    if (!check_case(c, "law_dimensions_%s_%s", airy_split_name(split), airy_unit_name(unit)))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        struct law one = random_law(c, unit, split, 0), two = one;
        const uint32_t *counts = random_counts(c, 1);
        two.params.azimuth_bins = SECTORS;
        if (run_law(c, &one, AIRY_DTYPE_U32, 1, counts) &&
            run_law(c, &two, AIRY_DTYPE_U32, 1, counts))
            compare_dimensions(c, &one, &two, round);
        airy_integrator_destroy(&one.integrator);
        airy_integrator_destroy(&two.integrator);
    }
}

/* An image of equal intensity, as the corrections say it arrives, gives one value in all bins. */
static void check_flat(struct check *c, airy_split split, size_t azimuth, bool unweighted)
{
    if (!check_case(c, "law_flat_%s_%s%s", azimuth ? "2d" : "1d", airy_split_name(split),
                    unweighted ? "_unweighted" : ""))
        return;
    const double level = 250;
    for (int round = 0; round < ROUNDS; round++) {
        struct law law = random_law(c, AIRY_UNIT_TTH_DEG, split, azimuth);
        float *flat = check_alloc(c, PIXELS * sizeof(*flat)),
              *dark = check_alloc(c, PIXELS * sizeof(*dark));
        check_rand(c, flat, AIRY_DTYPE_F32, PIXELS, 0.5, 1.5);
        check_rand(c, dark, AIRY_DTYPE_F32, PIXELS, 0, 4);
        law.params.flat = flat;
        law.params.dark = dark;
        law.params.unweighted = unweighted;
        law.params.has_polarization = true;
        law.params.polarization = between(c, -1, 1);
        law.params.normalization = between(c, 0.1, 10);
        double *norm = check_alloc(c, PIXELS * sizeof(*norm)),
               *image = check_alloc(c, PIXELS * sizeof(*image));
        uint8_t *valid = check_alloc(c, PIXELS);
        ref_normalization(norm, valid, &law.geometry, &law.params);
        for (size_t i = 0; i < PIXELS; i++)
            image[i] = level * norm[i] + (double)dark[i];
        if (run_law(c, &law, AIRY_DTYPE_F64, 1, image)) {
            float *got = check_alloc(c, law.cells * sizeof(*got));
            CHECK_OK(c, airy_integrator_finish(law.integrator, law.sums, 1, got, NULL, NULL));
            for (size_t b = 0; b < law.cells; b++)
                /* promised is 10^-6; the normalization's rounding, and the result's, need 1.3e-7 */
                if (!isnan(got[b]) && !(fabs((double)got[b] / level - 1) <= 1e-6))
                    check_failed(c, __FILE__, __LINE__, "round %d, bin %zu: %.9g", round, b,
                                 (double)got[b]);
        }
        airy_integrator_destroy(&law.integrator);
    }
}

/* Each frame's bits stay with the frame, wherever it stands and whoever works on it. */
static void check_order(struct check *c, airy_error_model model, size_t azimuth)
{
    if (!check_case(c, "law_order_%s_%s", azimuth ? "2d" : "1d", airy_error_model_name(model)))
        return;
    enum { FRAMES = 11 };
    struct law law = random_law(c, AIRY_UNIT_Q_NM, AIRY_SPLIT_FULL, azimuth), other = law;
    law.params.error_model = other.params.error_model = model;
    law.params.has_dummy = other.params.has_dummy = true;
    law.params.dummy = other.params.dummy = 77;
    const uint32_t *counts = random_counts(c, FRAMES);
    uint32_t *moved = check_alloc(c, FRAMES * PIXELS * sizeof(*moved));
    size_t place[FRAMES];
    for (size_t i = 0; i < FRAMES; i++) {
        const size_t k = (size_t)(check_rand_u64(c) % (i + 1));
        place[i] = place[k];
        place[k] = i;
    }
    for (size_t i = 0; i < FRAMES; i++)
        memcpy(moved + place[i] * PIXELS, counts + i * PIXELS, PIXELS * sizeof(*moved));
    if (run_law(c, &law, AIRY_DTYPE_U32, FRAMES, counts) &&
        run_law(c, &other, AIRY_DTYPE_U32, FRAMES, moved)) {
        const size_t row = AIRY_SUM_PLANES * law.cells;
        for (size_t i = 0; i < FRAMES; i++)
            CHECK(c, memcmp(law.sums + i * row, other.sums + place[i] * row,
                            row * sizeof(double)) == 0 &&
                         memcmp(&law.stats[i], &other.stats[place[i]], sizeof(law.stats[0])) == 0);
        /* One frame by itself. */
        if (run_law(c, &other, AIRY_DTYPE_U32, 1, counts + 3 * PIXELS))
            CHECK(c, memcmp(law.sums + 3 * row, other.sums, row * sizeof(double)) == 0);
    }
    airy_integrator_destroy(&law.integrator);
    airy_integrator_destroy(&other.integrator);
}

static void check_threads(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "law_threads"))
        return;
    enum { FRAMES = 7 };
    struct law law = random_law(c, AIRY_UNIT_Q_NM, AIRY_SPLIT_FULL, 0);
    law.params.error_model = AIRY_ERROR_MODEL_POISSON;
    const uint32_t *counts = random_counts(c, FRAMES);
    airy_device *const device = c->device;
    airy_queue *const queue = c->queue;
    double *first = NULL;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        airy_device *some = NULL;
        airy_queue *on = NULL;
        struct law one = law;
        if (CHECK_OK(c,
                     airy_device_create(&some, "cpu", &(airy_device_params){.threads = threads})) &&
            CHECK_OK(c, airy_queue_create(&on, some))) {
            c->device = some;
            c->queue = on;
            const size_t shape[3] = {FRAMES, HEIGHT, WIDTH}, sums[3] = {FRAMES, 5, BINS},
                         stats[2] = {FRAMES, sizeof(airy_frame_stats)};
            double *got = check_alloc(c, FRAMES * 5 * BINS * sizeof(*got));
            airy_array *in = NULL, *to = NULL, *about = NULL;
            CHECK(c,
                  airy_integrator_create(&one.integrator, some, &one.geometry, &one.params) ==
                          AIRY_OK &&
                      airy_array_create_from(&in, on, AIRY_DTYPE_U32, 3, shape, counts) ==
                          AIRY_OK &&
                      airy_array_create(&to, some, AIRY_DTYPE_F64, 3, sums) == AIRY_OK &&
                      airy_array_create(&about, some, AIRY_DTYPE_U8, 2, stats) == AIRY_OK &&
                      airy_integrate(on, to, about, one.integrator, in) == AIRY_OK &&
                      airy_array_pull(on, got, FRAMES * 5 * BINS * sizeof(*got), to) == AIRY_OK &&
                      airy_queue_finish(on) == AIRY_OK);
            CHECK(c, !first || memcmp(first, got, FRAMES * 5 * BINS * sizeof(*got)) == 0);
            first = first ? first : got;
            airy_array_destroy(&in);
            airy_array_destroy(&to);
            airy_array_destroy(&about);
            airy_integrator_destroy(&one.integrator);
        }
        c->device = device;
        c->queue = queue;
        airy_queue_destroy(&on);
        airy_device_destroy(&some);
    }
}

/* The most by which the radius of a pixel's corners, or of half its diagonal, is off its centre's. */
static double pixel_reach(const airy_geometry *g, airy_unit unit)
{
    double reach = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        const double y = (double)(i / WIDTH), x = (double)(i % WIDTH),
                     centre = ref_radial(g, unit, y + 0.5, x + 0.5);
        for (int k = 0; k < 4; k++)
            reach = fmax(reach, fabs(ref_radial(g, unit, y + (k & 1), x + (k >> 1)) - centre));
        /* a pixel that holds the beam reaches down to it */
        reach = fmax(reach, centre < reach ? centre : 0);
    }
    return reach;
}

/*
 * A smooth curve as an image, integrated. A pixel that has a share of a bin has its centre at most
 * its own reach and half a bin from the bin's, so that a mean of them is off by no more than the
 * curve's steepest slope times that.
 */
static void check_roundtrip(struct check *c, airy_split split)
{
    if (!check_case(c, "law_roundtrip_%s", airy_split_name(split)))
        return;
    enum { POINTS = 20001 };
    double *x = check_alloc(c, POINTS * sizeof(*x)), *y = check_alloc(c, POINTS * sizeof(*y));
    for (int round = 0; round < ROUNDS; round++) {
        struct law law = random_law(c, AIRY_UNIT_TTH_DEG, split, 0);
        double *image = check_alloc(c, PIXELS * sizeof(*image));
        const double period = between(c, 20, 60), slope = 50 * 2 * 3.14159265358979 / period;
        for (size_t i = 0; i < POINTS; i++) {
            x[i] = 180.0 * (double)i / (POINTS - 1);
            y[i] = 100 + 50 * sin(2 * 3.14159265358979 * x[i] / period);
        }
        law.params.has_polarization = true;
        law.params.polarization = 0.9;
        if (CHECK_OK(c, airy_image_from_pattern(image, &law.geometry, &law.params, x, y, POINTS)) &&
            run_law(c, &law, AIRY_DTYPE_F64, 1, image)) {
            const double *radial = airy_integrator_radial(law.integrator),
                         room = slope * ((radial[1] - radial[0]) / 2 +
                                         pixel_reach(&law.geometry, AIRY_UNIT_TTH_DEG)) +
                                1e-4; /* roundings to float, straight lines between points */
            float got[BINS];
            CHECK_OK(c, airy_integrator_finish(law.integrator, law.sums, 1, got, NULL, NULL));
            for (size_t b = 0; b < BINS; b++) {
                const double want = 100 + 50 * sin(2 * 3.14159265358979 * radial[b] / period);
                if (!isnan(got[b]) && !(fabs((double)got[b] - want) <= room))
                    check_failed(c, __FILE__, __LINE__, "round %d, bin %zu: %.7g, %.7g +- %.3g",
                                 round, b, (double)got[b], want, room);
            }
        }
        airy_integrator_destroy(&law.integrator);
    }
}

void check_integrate_laws(struct check *c)
{
    static const airy_unit units[] = {AIRY_UNIT_Q_NM, AIRY_UNIT_R_MM, AIRY_UNIT_TTH_DEG,
                                      AIRY_UNIT_CHI_DEG};
    for (size_t u = 0; u < 4; u++)
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++) {
            if (split != AIRY_SPLIT_PSEUDO)
                check_conserved(c, units[u], AIRY_UNIT_CHI_DEG, (airy_split)split, 0);
            if (units[u] != AIRY_UNIT_CHI_DEG)
                check_conserved(c, units[u], AIRY_UNIT_CHI_DEG, (airy_split)split, SECTORS);
            if (split != AIRY_SPLIT_PSEUDO && units[u] != AIRY_UNIT_CHI_DEG)
                check_dimensions(c, units[u], (airy_split)split);
        }
    static const airy_unit pairs[][2] = {
        {AIRY_UNIT_Q_NM, AIRY_UNIT_CHI_RAD},   {AIRY_UNIT_Q_NM, AIRY_UNIT_CHIGI_DEG},
        {AIRY_UNIT_QIP_NM, AIRY_UNIT_QOOP_NM}, {AIRY_UNIT_QX_NM, AIRY_UNIT_QY_NM},
        {AIRY_UNIT_Q_NM, AIRY_UNIT_QZGI_NM},   {AIRY_UNIT_EXIT_HORZ_DEG, AIRY_UNIT_EXIT_VERT_DEG}};
    for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++)
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++)
            check_conserved(c, pairs[k][0], pairs[k][1], (airy_split)split, SECTORS);
    for (int split = 0; split < AIRY_SPLIT_COUNT; split++) {
        for (int unweighted = 0; unweighted < 2; unweighted++) {
            if (split != AIRY_SPLIT_PSEUDO)
                check_flat(c, (airy_split)split, 0, unweighted);
            check_flat(c, (airy_split)split, SECTORS, unweighted);
        }
        if (split != AIRY_SPLIT_PSEUDO)
            check_roundtrip(c, (airy_split)split);
    }
    for (int model = 0; model < AIRY_ERROR_MODEL_VARIANCE; model++) {
        check_order(c, (airy_error_model)model, 0);
        check_order(c, (airy_error_model)model, SECTORS);
    }
    check_threads(c);
}
