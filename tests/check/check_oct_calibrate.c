/* Calibration: mirrors with known axis and dispersion, recordings that do not do, real mirrors. */
#include <stdio.h>
#include <string.h>

#include "airy/image.h"
#include "airy/oct_calibrate.h"
#include "check_oct.h"

#define TWO_PI 6.283185307179586

/* A spectrometer: place of a sample on the k axis, 0 to 1, as a polynomial of t, or by wavelengths. */
struct spectrometer {
    size_t samples;
    double k[3];          /* K(t) = t + t (1 - t) (k0 + k1 t + k2 t^2) */
    bool golden;          /* wavelengths of the reference data instead */
    double d2, d3;        /* radians, compensate */
    double center, width; /* of the spectrum, of t, full width at half maximum */
    double noise;         /* of a sample, of the spectrum's maximum 1 */
};

static double wavelength_nm(double t)
{
    return 1187.2 + t * (252.9 + t * (13.5 + t * (-25.5 + t * 4.6)));
}

static double place(const struct spectrometer *s, double i)
{
    const double t = i / ((double)s->samples - 1);
    if (s->golden)
        return (1 / wavelength_nm(0) - 1 / wavelength_nm(t)) /
               (1 / wavelength_nm(0) - 1 / wavelength_nm(1));
    return t + t * (1 - t) * (s->k[0] + t * (s->k[1] + t * s->k[2]));
}

static double envelope(const struct spectrometer *s, double i)
{
    const double x = (i / ((double)s->samples - 1) - s->center) / s->width;
    return exp(-4 * log(2) * x * x);
}

/* Lines of a mirror at a depth in bins, the phase of each another one. */
static const double *make_mirror(struct check *c, const struct spectrometer *s, double bin,
                                 size_t lines)
{
    const size_t n = s->samples;
    double *x = check_alloc(c, lines * n * sizeof(double));
    for (size_t l = 0; l < lines; l++) {
        const double start = TWO_PI * check_uniform(c);
        for (size_t i = 0; i < n; i++) {
            const double t = place(s, (double)i), e = envelope(s, (double)i);
            const double phase = start + TWO_PI * bin * t * ((double)n - 1) / (double)n -
                                 t * t * (s->d2 + t * s->d3);
            x[l * n + i] = 2000 * (e * (1 + 0.3 * cos(phase)) + s->noise * check_normal(c));
        }
    }
    return x;
}

/* The rms of y over j without its straight line, weighted. */
static double crooked(const double *y, const double *weight, size_t n)
{
    double sum[5] = {0}, rest = 0;
    for (size_t j = 0; j < n; j++) {
        const double t = (double)j / (double)n, w = weight[j];
        sum[0] += w;
        sum[1] += w * t;
        sum[2] += w * t * t;
        sum[3] += w * y[j];
        sum[4] += w * t * y[j];
    }
    const double slope = (sum[0] * sum[4] - sum[1] * sum[3]) / (sum[0] * sum[2] - sum[1] * sum[1]),
                 level = (sum[3] - slope * sum[1]) / sum[0];
    for (size_t j = 0; j < n; j++) {
        const double left = y[j] - level - slope * (double)j / (double)n;
        rest += weight[j] * left * left;
    }
    return sqrt(rest / sum[0]);
}

/*
 * Errors of the places where samples are read, in samples, and of the dispersion, in radians. Straight
 * lines are left out: they are the scale of depth and its origin, which no fringe tells.
 */
static void compare(struct check *c, const struct spectrometer *s,
                    const airy_oct_calibration *found)
{
    const size_t n = s->samples;
    double *y = check_alloc(c, n * sizeof(double)), *w = check_alloc(c, n * sizeof(double));
    for (size_t j = 0; j < n; j++) {
        const double e = envelope(s, found->curve[j]);
        w[j] = e * e;
        y[j] = place(s, found->curve[j]) * ((double)n - 1);
    }
    const double axis = crooked(y, w, n);
    /* 0.05 samples shift the phase by 2 pi bins / samples / 20 < 0.08 radians at 500 of 2048 bins. */
    if (!(axis < 0.05))
        check_failed(c, __FILE__, __LINE__, "axis error %.4f samples, expected < 0.05 (degree %d)",
                     axis, found->degree);
    for (size_t j = 0; j < n; j++) {
        const double t = (double)j / ((double)n - 1), u = place(s, found->curve[j]),
                     *d = found->dispersion;
        y[j] = t * (d[1] + t * (d[2] + t * d[3])) - u * u * (s->d2 + u * s->d3);
    }
    const double phase = crooked(y, w, n);
    if (!(phase < 0.08) && found->has_dispersion)
        check_failed(c, __FILE__, __LINE__, "dispersion error %.4f radians, expected < 0.08",
                     phase);
}

static void check_truth(struct check *c, const char *name, const struct spectrometer *s,
                        double bin1, double bin2, size_t lines)
{
    if (!check_case(c, "oct_calibrate_%s_%zu", name, s->samples))
        return;
    const airy_oct_calibrate_params params = {
        .samples = s->samples,
        .mirrors = bin2 > 0 ? 2 : 1,
        .mirror = {{.lines = make_mirror(c, s, bin1, lines), .count = lines},
                   {.lines = bin2 > 0 ? make_mirror(c, s, bin2, lines) : NULL, .count = lines}},
        .distance_m = bin2 > 0 ? fabs(bin1 - bin2) * 3e-6 : 0};
    airy_oct_calibration found = {0};
    if (!CHECK_OK(c, airy_oct_calibrate(&found, &params)))
        return;
    compare(c, s, &found);
    for (size_t m = 0; m < found.mirrors; m++) {
        const airy_oct_peak *p = &found.after[m];
        if (!(p->width < 1.05 * p->limit))
            check_failed(c, __FILE__, __LINE__,
                         "mirror %zu: width %.4f bins, of which %.4f are theory", m + 1, p->width,
                         p->limit);
        CHECK(c, p->phase_rms < 0.08);
    }
    /* Of two peaks a hundredth of a bin each; at the ends of the axis, where there is little light, 1
     * percent of its scale. */
    if (bin2 > 0 && s->width >= 0.4)
        CHECK(c, fabs(found.depth_step_m / 3e-6 - 1) < 0.01);
    airy_oct_calibration_free(&found);
}

static void check_truths(struct check *c)
{
    const struct spectrometer cubic = {.samples = 2048,
                                       .k = {0.12, -0.05, 0},
                                       .d2 = 25,
                                       .d3 = -9,
                                       .center = 0.5,
                                       .width = 0.45,
                                       .noise = 0.01},
                              golden = {.samples = 2048,
                                        .golden = true,
                                        .d2 = 40,
                                        .d3 = 12,
                                        .center = 0.48,
                                        .width = 0.45,
                                        .noise = 0.005},
                              odd = {.samples = 1000,
                                     .k = {-0.1, 0.02, 0.01},
                                     .d2 = -15,
                                     .center = 0.55,
                                     .width = 0.4,
                                     .noise = 0.02},
                              straight = {.samples = 512,
                                          .k = {0.08, 0, 0},
                                          .center = 0.5,
                                          .width = 0.5,
                                          .noise = 0.01};
    const struct spectrometer narrow = {
        .samples = 1024, .golden = true, .d2 = 20, .center = 0.45, .width = 0.2, .noise = 0.01};
    check_truth(c, "cubic", &cubic, 150, 420, 1);
    check_truth(c, "golden", &golden, 120, 505, 1);
    check_truth(c, "lines", &golden, 300, 90, 20);
    check_truth(c, "odd", &odd, 60, 170, 8);
    check_truth(c, "one", &straight, 80, 0, 4);
    check_truth(c, "narrow", &narrow, 140, 300, 1);
}

/* Terms too few for the axis: the phases that are left make peaks broad, and they are sharpened. */
static void check_sharpened(struct check *c)
{
    if (!check_case(c, "oct_calibrate_sharpened"))
        return;
    const struct spectrometer s = {
        .samples = 2048, .golden = true, .d2 = 10, .center = 0.48, .width = 0.6, .noise = 0.01};
    const airy_oct_calibrate_params params = {
        .samples = 2048,
        .mirrors = 2,
        .degree = 3,
        .mirror = {{.lines = make_mirror(c, &s, 300, 1), .count = 1},
                   {.lines = make_mirror(c, &s, 760, 1), .count = 1}}};
    airy_oct_calibration found = {0};
    if (!CHECK_OK(c, airy_oct_calibrate(&found, &params)))
        return;
    /* The phases alone leave 2.67 bins of the second one, of which 2.39 are theory. */
    CHECK(c, found.after[1].width < 2.62);
    CHECK(c, found.degree == 3);
    airy_oct_calibration_free(&found);
}

static void check_real(struct check *c)
{
    if (!check_case(c, "oct_calibrate_real"))
        return;
    static const char *const names[] = {"mirror1",      "mirror2",      "dark_ref",
                                        "dark_sample1", "dark_sample2", "dark_not"};
    double *line[6];
    for (int i = 0; i < 6; i++) {
        char name[64];
        snprintf(name, sizeof(name), "oct/oct_calibration/%s.npy", names[i]);
        const char *path = check_realdata(c, name);
        if (!path)
            return;
        airy_image image = {0};
        CHECK_OK(c, airy_image_read(&image, path));
        line[i] = check_alloc(c, 1024 * sizeof(double));
        for (size_t k = 0; k < 1024; k++)
            line[i][k] = airy_image_value(&image, k);
        airy_image_free(&image);
    }
    for (size_t k = 0; k < 1024; k++)
        for (int m = 0; m < 2; m++)
            line[3 + m][k] += line[2][k] - line[5][k];
    airy_oct_calibrate_params params = {
        .samples = 1024, .mirrors = 2, .mirror = {{line[0], 1, line[3]}, {line[1], 1, line[4]}}};
    for (int dark = 1; dark >= 0; dark--) {
        airy_oct_calibration found = {0};
        if (!CHECK_OK(c, airy_oct_calibrate(&found, &params)))
            return;
        for (int m = 0; m < 2; m++) {
            CHECK(c, found.after[m].width < 1.05 * found.after[m].limit);
        }
        airy_oct_calibration_free(&found);
        params.mirror[0].dark = params.mirror[1].dark = NULL;
    }
}

/* One of two is given: the other stays as it was. */
static void check_parts(struct check *c)
{
    if (!check_case(c, "oct_calibrate_parts"))
        return;
    const struct spectrometer s = {.samples = 1024,
                                   .golden = true,
                                   .d2 = 60,
                                   .d3 = -8,
                                   .center = 0.5,
                                   .width = 0.45,
                                   .noise = 0.01};
    double *meters = check_alloc(c, 1024 * sizeof(double));
    for (size_t i = 0; i < 1024; i++)
        meters[i] = 1e-9 * wavelength_nm((double)i / 1023);
    airy_oct_params start = {.samples = 1024,
                             .lines = 1,
                             .axis = AIRY_OCT_AXIS_WAVELENGTH,
                             .axis_table = meters,
                             .interpolation = AIRY_OCT_CUBIC,
                             .window = AIRY_OCT_WINDOW_HANN};
    airy_oct_calibrate_params params = {
        .samples = 1024,
        .mirrors = 1,
        .start = &start,
        .mirror = {{.lines = make_mirror(c, &s, 160, 1), .count = 1}}};
    airy_oct_calibration found = {0};
    /* The axis is known: one mirror tells the dispersion. */
    if (CHECK_OK(c, airy_oct_calibrate(&found, &params))) {
        CHECK(c, !found.has_axis && found.has_dispersion && !found.curve && found.degree == 0);
        CHECK(c, found.after[0].width < 1.05 * found.after[0].limit);
        CHECK(c, found.before[0].width > 1.2 * found.after[0].limit);
        /* 1 / (2 (kmax - kmin)) */
        const double step = 0.5 / (1 / meters[0] - 1 / meters[1023]);
        CHECK(c, fabs(found.depth_step_m / step - 1) < 1e-9);
        /* The curvature in the middle of the spectrum, 2 d2 + 6 d3 / 2: an eighth of a radian at a quarter
         * of the line from there is 4 of it. */
        CHECK(c, fabs(2 * found.dispersion[2] + 3 * found.dispersion[3] - 96) < 4);
        airy_oct_calibration_free(&found);
    }
    /* The dispersion is known: one mirror tells the axis. */
    start.has_dispersion = true;
    start.dispersion[2] = 60;
    start.dispersion[3] = -8;
    params.fit = AIRY_OCT_FIT_AXIS;
    if (CHECK_OK(c, airy_oct_calibrate(&found, &params))) {
        CHECK(c, found.has_axis && !found.has_dispersion);
        compare(c, &s, &found);
        CHECK(c, found.after[0].width < 1.05 * found.after[0].limit);
        airy_oct_calibration_free(&found);
    }
}

/* The polynomial says the same as the curve. */
static void check_poly(struct check *c)
{
    if (!check_case(c, "oct_calibrate_poly"))
        return;
    const struct spectrometer s = {
        .samples = 300, .k = {0.03, 0.02, 0}, .center = 0.5, .width = 0.5, .noise = 0.01};
    const airy_oct_calibrate_params params = {
        .samples = 300,
        .mirrors = 1,
        .degree = 3,
        .mirror = {{.lines = make_mirror(c, &s, 50, 1), .count = 1}}};
    airy_oct_calibration found = {0};
    if (!CHECK_OK(c, airy_oct_calibrate(&found, &params)))
        return;
    double want[300];
    for (int j = 0; j < 300; j++) {
        const double t = j / 299.0, *p = found.poly;
        want[j] = p[0] + t * (p[1] + t * (p[2] + t * p[3]));
    }
    /* A few operations on numbers up to 299. */
    check_values(c, "curve", AIRY_DTYPE_F64, found.curve, want, 300,
                 &(struct check_tol){.abs = 1e-12});
    airy_oct_calibration_free(&found);
}

/*
 * What was found, as parameters of profiles: the mirror is there at the same bin and as narrow, so signs
 * and scales agree.
 */
static void check_profile(struct check *c)
{
    enum { N = 2048, LINES = 2, FIRST = 250, LAST = 350 };
    if (!check_case(c, "oct_calibrate_profile"))
        return;
    const struct spectrometer s = {.samples = N,
                                   .golden = true,
                                   .d2 = 45,
                                   .d3 = -15,
                                   .center = 0.5,
                                   .width = 0.45,
                                   .noise = 0.005};
    const double *mirror = make_mirror(c, &s, 300, LINES);
    const airy_oct_calibrate_params params = {
        .samples = N,
        .mirrors = 2,
        .mirror = {{.lines = make_mirror(c, &s, 90, 1), .count = 1}, {mirror, LINES, NULL}}};
    airy_oct_calibration found = {0};
    if (!CHECK_OK(c, airy_oct_calibrate(&found, &params)))
        return;
    airy_oct_params p = {.samples = N,
                         .lines = LINES,
                         .axis = AIRY_OCT_AXIS_CURVE,
                         .axis_table = found.curve,
                         .interpolation = AIRY_OCT_LANCZOS,
                         .window = AIRY_OCT_WINDOW_HANN,
                         .has_dispersion = true,
                         .output = AIRY_OCT_MAGNITUDE,
                         .depth_first = FIRST,
                         .depth_last = LAST};
    memcpy(p.dispersion, found.dispersion, sizeof(p.dispersion));
    airy_array *src = check_oct_upload(c, &p, check_oct_encode(c, &p, mirror, 1), 1);
    const airy_array *dst = check_oct_process(c, &p, src, 0);
    size_t count = 0;
    const double *got = dst ? check_oct_pull(c, dst, &count) : NULL;
    for (size_t l = 0; got && l < LINES; l++) {
        const double *line = got + l * (LAST - FIRST);
        size_t top = 0, wide = 0;
        for (size_t i = 0; i < LAST - FIRST; i++)
            top = line[i] > line[top] ? i : top;
        for (size_t i = 0; i < LAST - FIRST; i++)
            wide += line[i] > 0.5 * line[top];
        /* Half a bin to the nearest one, and noise; of 2.7 bins 2 or 3 whole ones, and one more where
         * the top itself lies between two. */
        CHECK(c, fabs((double)(FIRST + top) - found.after[1].position) < 0.6);
        CHECK(c, wide >= 2 && wide <= 4);
    }
    airy_oct_calibration_free(&found);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "oct_calibrate_refused"))
        return;
    struct spectrometer s = {
        .samples = 512, .k = {0.05, 0, 0}, .center = 0.5, .width = 0.4, .noise = 0.01};
    const double *good = make_mirror(c, &s, 60, 1), *deep = make_mirror(c, &s, 254, 1),
                 *same = make_mirror(c, &s, 62, 1), *near = make_mirror(c, &s, 3, 1);
    double *noise = check_alloc(c, 512 * sizeof(double)),
           *bad = check_alloc(c, 512 * sizeof(double)),
           *clipped = check_alloc(c, 512 * sizeof(double)), *none = check_alloc(c, 512 * 8);
    for (int i = 0; i < 512; i++) {
        noise[i] = check_normal(c);
        bad[i] = i == 7 ? (double)NAN : good[i];
        clipped[i] = good[i] < 1500 ? good[i] : 1500;
    }
    airy_oct_calibration found = {0};
    airy_oct_calibrate_params p = {.samples = 512, .mirrors = 1, .mirror = {{.count = 1}}};
    const airy_oct_calibrate_params plain = p;
#define REFUSED(status, part) CHECK_FAILS(c, airy_oct_calibrate(&found, &p), status, part)
    CHECK_FAILS(c, airy_oct_calibrate(NULL, &p), AIRY_ERR_PARAM, "out is NULL");
    CHECK_FAILS(c, airy_oct_calibrate(&found, NULL), AIRY_ERR_PARAM, "params is NULL");
    REFUSED(AIRY_ERR_PARAM, "mirror 1 has no lines");
    p.mirror[0].lines = good;
    p.samples = 63;
    REFUSED(AIRY_ERR_SHAPE, "samples = 63, expected 64 to 8192");
    p.samples = 8193;
    REFUSED(AIRY_ERR_SHAPE, "samples = 8193");
    p = plain;
    p.mirror[0].lines = good;
    p.mirrors = 3;
    REFUSED(AIRY_ERR_PARAM, "mirrors = 3");
    p.mirrors = 1;
    p.fit = AIRY_OCT_FIT_BOTH;
    REFUSED(AIRY_ERR_PARAM, "one mirror cannot distinguish");
    p.fit = AIRY_OCT_FIT_COUNT;
    REFUSED(AIRY_ERR_PARAM, "fit = 4");
    p.fit = AIRY_OCT_FIT_AUTO;
    p.degree = 9;
    REFUSED(AIRY_ERR_PARAM, "degree = 9, expected 0 or 3 to 8");
    p.degree = 0;
    p.distance_m = (double)NAN;
    REFUSED(AIRY_ERR_PARAM, "distance_m");
    p.distance_m = 0;
    airy_oct_params start = {.samples = 511, .lines = 1};
    p.start = &start;
    REFUSED(AIRY_ERR_SHAPE, "start has lines of 511 samples, the mirrors of 512");
    start.samples = 512;
    start.axis = AIRY_OCT_AXIS_COUNT;
    REFUSED(AIRY_ERR_PARAM, "which there are not");
    start.axis = AIRY_OCT_AXIS_WAVELENGTH;
    REFUSED(AIRY_ERR_PARAM, "axis_table is NULL");
    p.start = NULL;
    p.mirror[0].dark = bad;
    REFUSED(AIRY_ERR_PARAM, "dark line of mirror 1 sample 7");
    p.mirror[0].dark = NULL;
    p.mirror[0].lines = bad;
    REFUSED(AIRY_ERR_PARAM, "mirror 1 line 0 sample 7");
    p.mirror[0].lines = noise;
    REFUSED(AIRY_ERR_PARAM, "mirror 1 shows no fringe");
    p.mirror[0].lines = none;
    REFUSED(AIRY_ERR_PARAM, "mirror 1 shows no fringe");
    p.mirror[0].lines = clipped;
    REFUSED(AIRY_ERR_PARAM, "mirror 1 is saturated");
    p.mirror[0].lines = deep;
    REFUSED(AIRY_ERR_PARAM, "reaches the last bin, 256");
    p.mirror[0].lines = near;
    REFUSED(AIRY_ERR_PARAM, "mirror 1");
    p.mirror[0].lines = good;
    p.mirrors = 2;
    p.mirror[1] = (airy_oct_mirror){.lines = same, .count = 1};
    REFUSED(AIRY_ERR_PARAM, "expected 8 or more between them");
#undef REFUSED
    CHECK(c, !found.curve && !found.profile);
}

void check_oct_calibrate(struct check *c)
{
    check_profile(c);
    if (!c->is_cpu) /* the rest has no device */
        return;
    check_truths(c);
    check_sharpened(c);
    check_parts(c);
    check_poly(c);
    check_real(c);
    check_refused(c);
}
