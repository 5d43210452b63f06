/*
 * Integrators that are split on the device against those that the host splits: the same entries,
 * base sums, pixel tables and patterns, to the last bit but for the order of base sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "peaks/peaks_fns.h"

struct split_case {
    const char *name;
    size_t height, width, bins;
    airy_unit unit;
    double beam1, beam2; /* pixels */
    double rot;
    int orientation;
    bool poisson, dark, flat, mask, range, polarization;
    bool absorption, efficiency;
    bool holes; /* a flat image that is 0, a dark and an absorption that are not finite in places */
    bool declined; /* a pixel has too many bins: the host does it */
};

static const struct split_case cases[] = {
    {.name = "q", .height = 141, .width = 131, .bins = 90, .beam1 = 70.3, .beam2 = 61.8},
    {.name = "corner", .height = 64, .width = 96, .bins = 50, .beam1 = -3, .beam2 = -8.5},
    {.name = "on_corner", .height = 61, .width = 33, .bins = 40, .beam1 = 30, .beam2 = 17},
    {.name = "on_edge", .height = 33, .width = 65, .bins = 30, .beam1 = 16.5, .beam2 = 32},
    {.name = "one", .height = 1, .width = 1, .bins = 3, .beam1 = 0.4, .beam2 = 0.7},
    {.name = "row", .height = 1, .width = 1100, .bins = 500, .beam1 = 0.4, .beam2 = 300.2},
    {.name = "fine", .height = 97, .width = 80, .bins = 180, .beam1 = 40.1, .beam2 = 44.6},
    {.name = "wide",
     .height = 97,
     .width = 80,
     .bins = 350,
     .beam1 = 40.1,
     .beam2 = 44.6,
     .declined = true},
    {.name = "finer",
     .height = 97,
     .width = 80,
     .bins = 3000,
     .beam1 = 40.1,
     .beam2 = 44.6,
     .declined = true},
    {.name = "radius",
     .height = 70,
     .width = 141,
     .bins = 64,
     .unit = AIRY_UNIT_R_MM,
     .beam1 = 20,
     .beam2 = 75.5,
     .rot = 0.3,
     .orientation = 1},
    {.name = "d2",
     .height = 70,
     .width = 141,
     .bins = 40,
     .unit = AIRY_UNIT_D2_NM,
     .beam1 = 20.25,
     .beam2 = 90,
     .rot = -0.2,
     .orientation = 2,
     .flat = true,
     .mask = true},
    {.name = "angstroms",
     .height = 130,
     .width = 141,
     .bins = 100,
     .unit = AIRY_UNIT_Q_A,
     .beam1 = 70,
     .beam2 = 41,
     .rot = 0.1,
     .orientation = 4,
     .poisson = true,
     .dark = true,
     .mask = true,
     .polarization = true},
    {.name = "range",
     .height = 141,
     .width = 130,
     .bins = 60,
     .beam1 = 72.5,
     .beam2 = 60.5,
     .range = true,
     .mask = true,
     .poisson = true},
    {.name = "holes",
     .height = 65,
     .width = 130,
     .bins = 60,
     .beam1 = 30.5,
     .beam2 = 60.5,
     .rot = 0.2,
     .dark = true,
     .flat = true,
     .absorption = true,
     .mask = true,
     .holes = true,
     .polarization = true},
    {.name = "efficiency",
     .height = 65,
     .width = 130,
     .bins = 60,
     .beam1 = 30.5,
     .beam2 = 60.5,
     .efficiency = true,
     .dark = true,
     .flat = true,
     .mask = true,
     .holes = true,
     .poisson = true,
     .polarization = true},
};

/* Images of a case, [pixels]. */
struct split_images {
    uint8_t *mask;
    float *dark, *flat, *absorption;
};

static struct split_images make_images(struct check *c, const struct split_case *k)
{
    const size_t n = k->height * k->width;
    float *all = check_alloc(c, 3 * n * sizeof *all);
    const struct split_images images = {check_alloc(c, n), all, all + n, all + 2 * n};
    for (size_t i = 0; i < n; i++) {
        images.mask[i] = i / k->width % 50 < 3 || check_rand_u64(c) % 40 == 0;
        images.dark[i] = (float)(i % 13) * 0.3f - 0.5f;
        images.flat[i] = 0.8f + (float)(i % 7) * 0.1f;
        images.absorption[i] = 1.2f - (float)(i % 5) * 0.1f;
    }
    for (size_t i = 0; i < n && k->holes; i += 1 + check_rand_u64(c) % 40) {
        const float odd[] = {NAN, INFINITY, -INFINITY};
        images.dark[i] = odd[i % 3];
        images.absorption[(i + 5) % n] = odd[i % 3];
        images.flat[(i + 9) % n] = i % 2 ? 0 : -0.0f;
    }
    return images;
}

static bool create_both(struct check *c, airy_integrator *made[2], const struct split_case *k)
{
    const struct split_images images = make_images(c, k);
    const double pixel = 75e-6;
    airy_geometry g = {.dist = 0.02,
                       .poni1 = k->beam1 * pixel,
                       .poni2 = k->beam2 * pixel,
                       .rot1 = k->rot,
                       .rot2 = -0.5 * k->rot,
                       .rot3 = 2 * k->rot,
                       .wavelength = 1e-10,
                       .detector = {.name = "detector",
                                    .height = k->height,
                                    .width = k->width,
                                    .pixel1 = pixel,
                                    .pixel2 = pixel,
                                    .orientation = k->orientation,
                                    .sensor = {.thickness = 450e-6, .attenuation = 2e3}}};
    const airy_integrator_params params = {.bins = k->bins,
                                           .unit = k->unit,
                                           .error_model = k->poisson ? AIRY_ERROR_MODEL_POISSON
                                                                     : AIRY_ERROR_MODEL_NONE,
                                           .mask = k->mask ? images.mask : NULL,
                                           .dark = k->dark ? images.dark : NULL,
                                           .has_polarization = k->polarization,
                                           .polarization = 0.9,
                                           .polarization_offset_deg = 20,
                                           .no_solid_angle = k->range,
                                           .flat = k->flat ? images.flat : NULL,
                                           .absorption = k->absorption ? images.absorption : NULL,
                                           .sensor_efficiency = k->efficiency,
                                           .has_radial_range = k->range,
                                           .radial_range = {2, 9.5}};
    struct airy_cl_device *impl = airy_cl_device(c->device);
    const bool before = impl->splits;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        impl->splits = i == 0;
        ok = ok && CHECK_OK(c, airy_integrator_create(&made[i], c->device, &g, &params));
    }
    impl->splits = before;
    return ok;
}

/* The host's arrays, or copies of the device's. */
static void compare_corrections(struct check *c, const airy_integrator *a, const airy_integrator *b)
{
    struct airy_corrections x = {.norm = NULL}, y = {.norm = NULL};
    CHECK(c, a->valid_pixels == b->valid_pixels && a->not_finite_pixels == b->not_finite_pixels);
    if (CHECK_OK(c, airy_corrections_take(&x, a)) && CHECK_OK(c, airy_corrections_take(&y, b))) {
        CHECK(c, memcmp(x.norm, y.norm, a->pixels * sizeof *x.norm) == 0);
        CHECK(c, memcmp(x.valid, y.valid, a->pixels) == 0);
        CHECK(c, (x.dark != NULL) == (y.dark != NULL));
        CHECK(c, !x.dark || memcmp(x.dark, y.dark, a->pixels * sizeof *x.dark) == 0);
    }
    airy_corrections_release(&x);
    airy_corrections_release(&y);
}

/* Additions round to 2^-104 of a sum; there are fewer than 2^20. */
static void compare_sums(struct check *c, const airy_integrator *a, const airy_integrator *b)
{
    CHECK(c, memcmp(a->base_entries, b->base_entries, a->bins * sizeof *a->base_entries) == 0);
    for (size_t i = 0; i < a->bins * AIRY_BASE_PLANES; i++) {
        const double x = a->base_normalization[i], y = b->base_normalization[i];
        const double apart = (x - y) + (a->base_low[i] - b->base_low[i]);
        if (!(fabs(apart) <= 0x1p-84 * fabs(y))) {
            check_failed(c, __FILE__, __LINE__, "plane %zu, bin %zu: got %.17g, want %.17g",
                         i / a->bins, i % a->bins, x, y);
            return;
        }
    }
    CHECK(c, airy_integrators_agree(a, b));
}

static void compare_buffer(struct check *c, const char *what, airy_buffer *a, airy_buffer *b)
{
    CHECK(c, (a == NULL) == (b == NULL));
    if (!a || !b || !CHECK(c, a->size == b->size))
        return;
    unsigned char *got = check_alloc(c, 2 * a->size), *want = got + a->size;
    const airy_array from = airy_cl_bytes_of(a, a->size), to = airy_cl_bytes_of(b, b->size);
    CHECK_OK(c, airy_cl_pull(c->queue, got, &from, true));
    CHECK_OK(c, airy_cl_pull(c->queue, want, &to, true));
    CHECK_OK(c, airy_queue_finish(c->queue));
    for (size_t i = 0; i < a->size; i++)
        if (got[i] != want[i]) {
            check_failed(c, __FILE__, __LINE__, "%s: byte %zu of %zu: got %d, want %d", what, i,
                         a->size, got[i], want[i]);
            return;
        }
}

static void compare_tables(struct check *c, const airy_integrator *a, const airy_integrator *b)
{
    const struct airy_cl_integrator *x = a->state, *y = b->state;
    const struct airy_cl_fused *f = &x->fused, *g = &y->fused;
    CHECK(c, (f->why == NULL) == (g->why == NULL) && x->gather.ready == y->gather.ready);
    CHECK(c, f->fraction_bits == g->fraction_bits && f->extra_count == g->extra_count &&
                 f->normalization_scale == g->normalization_scale &&
                 f->normalization2_scale == g->normalization2_scale &&
                 f->dark_scale == g->dark_scale);
    compare_buffer(c, "norm", x->norm, y->norm);
    compare_buffer(c, "dark", x->dark, y->dark);
    compare_buffer(c, "table", f->table, g->table);
    compare_buffer(c, "valid_words", f->valid_words, g->valid_words);
    compare_buffer(c, "extra_start", f->extra_start, g->extra_start);
    compare_buffer(c, "extra", f->extra, g->extra);
    compare_buffer(c, "base", f->base, g->base);
    compare_buffer(c, "base_entries", f->base_entries, g->base_entries);
    compare_buffer(c, "shift", f->shift, g->shift);
    compare_buffer(c, "parts", f->parts, g->parts);
}

static void compare_matrices(struct check *c, const airy_integrator *a, const airy_integrator *b)
{
    struct airy_matrix m = {0};
    if (!CHECK_OK(c, airy_integrator_matrix(&m, a)))
        return;
    CHECK(c, m.entries == b->matrix.entries && m.entries == a->matrix.entries &&
                 m.bins == b->matrix.bins && m.pixels == b->matrix.pixels &&
                 memcmp(m.start, b->matrix.start, (m.pixels + 1) * sizeof *m.start) == 0 &&
                 memcmp(m.bin, b->matrix.bin, m.entries * sizeof *m.bin) == 0 &&
                 memcmp(m.coef, b->matrix.coef, m.entries * sizeof *m.coef) == 0);
    airy_matrix_free(&m);
}

/* Of a frame in memory, which the matrix by tile sums. */
static void compare_patterns(struct check *c, airy_integrator *const made[2],
                             const struct split_case *k)
{
    const size_t n = k->height * k->width, count = AIRY_SUM_PLANES * k->bins;
    uint16_t *frame = check_alloc(c, n * sizeof *frame);
    for (size_t i = 0; i < n; i++)
        frame[i] = (uint16_t)(check_rand_u64(c) % 1000);
    double *sums[2];
    const size_t shape[3] = {1, k->height, k->width};
    airy_array *frames = check_upload(c, AIRY_DTYPE_U16, 3, shape, frame);
    for (int i = 0; i < 2; i++) {
        const size_t planes[3] = {1, AIRY_SUM_PLANES, k->bins}, bytes[2] = {1, 32};
        airy_array *out = check_output(c, AIRY_DTYPE_F64, 3, planes),
                   *stats = check_output(c, AIRY_DTYPE_U8, 2, bytes);
        sums[i] = check_alloc(c, count * sizeof(double));
        if (!CHECK_OK(c, airy_integrate(c->queue, out, stats, made[i], frames)))
            return;
        CHECK_OK(c, airy_array_pull(c->queue, sums[i], count * sizeof(double), out));
        CHECK_OK(c, airy_queue_finish(c->queue));
    }
    /* A base sum is rounded to the other side where it lies between two numbers. */
    check_values(c, "patterns", AIRY_DTYPE_F64, sums[0], sums[1], count,
                 &(struct check_tol){.rel = 0x1p-51});
}

/* A peak finder asks for corrections on the host. */
static void compare_finders(struct check *c, airy_integrator *const made[2])
{
    airy_peak_finder *f[2] = {NULL, NULL};
    bool ok = true;
    for (int i = 0; i < 2; i++)
        ok = ok && CHECK_OK(c, airy_peak_finder_create(&f[i], made[i], NULL));
    if (ok) {
        const size_t n = made[0]->pixels;
        CHECK(c, memcmp(f[0]->place, f[1]->place, n * sizeof *f[0]->place) == 0);
        CHECK(c, memcmp(f[0]->scale, f[1]->scale, n * sizeof *f[0]->scale) == 0);
    }
    for (int i = 0; i < 2; i++)
        airy_peak_finder_destroy(&f[i]);
}

/* Why no pixel counts is said alike. */
static void check_none_left(struct check *c)
{
    if (!check_case(c, "opencl_split_none_left"))
        return;
    enum { SIDE = 33 };
    static const uint8_t masked[SIDE * SIDE] = {[0] = 1, [70] = 1};
    static const float flat[SIDE * SIDE] = {[0] = 1, [5] = INFINITY, [71] = NAN};
    const airy_geometry g = {
        .dist = 0.1,
        .wavelength = 1e-10,
        .detector = {
            .name = "detector", .height = SIDE, .width = SIDE, .pixel1 = 1e-4, .pixel2 = 1e-4}};
    const airy_integrator_params params = {.bins = 10, .mask = masked, .flat = flat};
    struct airy_cl_device *impl = airy_cl_device(c->device);
    const bool before = impl->splits;
    for (int i = 0; i < 2; i++) {
        airy_integrator *it = NULL;
        impl->splits = i == 0;
        CHECK_FAILS(c, airy_integrator_create(&it, c->device, &g, &params), AIRY_ERR_PARAM,
                    "of 1089: 2 are masked, 2 have a dark, flat, absorption or variance that is "
                    "not finite, 1085 have");
    }
    impl->splits = before;
}

void check_opencl_split(struct check *c)
{
    if (c->is_cpu)
        return;
    check_none_left(c);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct split_case *k = &cases[i];
        if (!check_case(c, "opencl_split_%s_%zux%zu_b%zu", k->name, k->height, k->width, k->bins))
            continue;
        airy_integrator *made[2] = {NULL, NULL};
        if (create_both(c, made, k)) {
            CHECK(c, (made[0]->matrix.start == NULL) == !k->declined);
            CHECK(c, made[0]->limits.lower == made[1]->limits.lower &&
                         made[0]->limits.upper == made[1]->limits.upper);
            CHECK(c, (made[0]->norm == NULL) == (!k->declined && !k->efficiency));
            compare_corrections(c, made[0], made[1]);
            compare_sums(c, made[0], made[1]);
            compare_tables(c, made[0], made[1]);
            if (!k->declined)
                compare_matrices(c, made[0], made[1]);
            compare_patterns(c, made, k);
            if (k->poisson)
                compare_finders(c, made);
        }
        for (int m = 0; m < 2; m++)
            airy_integrator_destroy(&made[m]);
    }
}
