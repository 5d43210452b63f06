/* Simulated interferograms against their definition, summed bin by bin. */
#include <string.h>

#include "check.h"
#include "jobs/simulate/exact_math.h"
#include "jobs/simulate/simulated_oct.h"

#define TWO_PI 6.283185307179586

static void check_exact(struct check *c)
{
    if (!check_case(c, "simulated_oct_exact"))
        return;
    double turn = 0, power = 0;
    for (int i = -40000; i < 40000; i++) {
        double x, y;
        const double t = i * 1.23456789e-3, e = i * 0.0172;
        airy_exact_turn(t, &x, &y);
        const double angle = TWO_PI * (t - floor(t + 0.5));
        turn = fmax(turn, fmax(fabs(x - cos(angle)), fabs(y - sin(angle))));
        power = fmax(power, fabs(airy_exact_exp(e) / exp(e) - 1));
    }
    /* 2 pi t is rounded, half a unit in the last place of pi, here as there; exp: exact_math.h. */
    CHECK(c, turn < 2e-15);
    CHECK(c, power < 5e-16);
    for (size_t n = 1; n <= 64; n *= 2) {
        double re[64], im[64], from[2][64], table[128], work[128], worst = 0;
        for (size_t j = 0; j < n; j++) {
            re[j] = from[0][j] = check_normal(c);
            im[j] = from[1][j] = check_normal(c);
            airy_exact_turn((double)j / (double)n, &table[2 * j], &table[2 * j + 1]);
        }
        airy_exact_transform(re, im, n, table, work);
        for (size_t m = 0; m < n; m++) {
            double x = 0, y = 0;
            for (size_t d = 0; d < n; d++) {
                const double a = TWO_PI * (double)(d * m % n) / (double)n;
                x += from[0][d] * cos(a) - from[1][d] * sin(a);
                y += from[0][d] * sin(a) + from[1][d] * cos(a);
            }
            worst = fmax(worst, hypot(x - re[m], y - im[m]));
        }
        /* Either sum has 2 n terms of up to 6 with a rounding of 2^-53 each. */
        CHECK(c, worst < 2 * 2 * (double)n * 6 * 0x1p-52);
    }
}

/* What the converter makes of electrons e |1 + h|^2. */
static double digital(const struct airy_simulated_oct *m, double e, double re, double im)
{
    const double top = ldexp(1, m->bits) - 1,
                 v = e * ((1 + re) * (1 + re) + im * im) * top / m->full_well;
    return fmin(v, top);
}

static void check_model(struct check *c, const char *name, struct airy_simulated_oct *m)
{
    const size_t n = m->samples;
    if (!check_case(c, "simulated_oct_%s_%zu", name, n))
        return;
    struct airy_oct_scratch scratch = {0};
    struct airy_phantom_scratch own = {0};
    float *got = check_alloc(c, n * m->lines * sizeof(float)),
          *want = check_alloc(c, n * sizeof(float));
    double *re = check_alloc(c, n * sizeof(double)), *im = check_alloc(c, n * sizeof(double));
    if (CHECK(c, airy_simulated_oct_begin(m) && airy_simulated_oct_scratch(m, &scratch) &&
                     airy_phantom_begin(&own, &m->phantom)) &&
        CHECK_OK(c, airy_simulated_oct_lines(m, &scratch, 0, 0, m->lines, got))) {
        for (size_t line = 0; line < m->lines; line++) {
            const struct airy_phantom_line at = {.x = (double)line, .time = line};
            airy_phantom_field(&m->phantom, &own, &at, re, im);
            for (size_t i = 0; i < n; i++) {
                const double t = m->place[i] * (double)n / ((double)n - 1),
                             turned = m->dispersion[2] * t * t + m->dispersion[3] * t * t * t;
                double x = 0, y = 0;
                for (size_t d = 0; d < n / 2 && !m->count; d++) {
                    const double a = TWO_PI * (double)d * m->place[i] - turned;
                    x += re[d] * cos(a) - im[d] * sin(a);
                    y += re[d] * sin(a) + im[d] * cos(a);
                }
                for (size_t r = 0; r < m->count; r++) {
                    const struct airy_oct_reflector *mirror = &m->reflectors[r];
                    const double z = 1e-6 * (mirror->depth_um + mirror->slope_um * (double)line),
                                 k = 1 / m->ends[0] - m->place[i] * m->span,
                                 a = -TWO_PI * 2 * z * k - turned;
                    x += pow(10, mirror->db / 20) * cos(a);
                    y += pow(10, mirror->db / 20) * sin(a);
                }
                want[i] = (float)digital(m, m->electrons[i], x, y);
            }
            /* The kernel's error is 1e-7 of the field, below 1 here, and twice that of the electrons, up
             * to 65535; float32 rounds to half of 2^-8 there. Phases of mirrors, 2 pi z k of up to 1e4,
             * are rounded to 2e-12. */
            check_values(c, "line", AIRY_DTYPE_F32, got + line * n, want, n,
                         &(struct check_tol){.abs = 65535 * 4e-7 + 0x1p-8});
        }
    }
    airy_phantom_end(&own);
    airy_simulated_oct_release(&scratch);
    airy_simulated_oct_end(m);
}

/*
 * The phase from line to line in the vessel, late in a recording: the flow, a parabola over the cross
 * section.
 */
static void check_flow(struct check *c)
{
    enum { DEPTH = 512, ACROSS = 12, DOWN = 6 };
    if (!check_case(c, "simulated_oct_flow"))
        return;
    const struct airy_phantom p = {
        .seed = 5, .depth = DEPTH, .lines = 512, .places = 1, .beam = 4, .flow = 0.1};
    const struct airy_phantom_vessel v = airy_phantom_find_vessel(&p, 0);
    struct airy_phantom_scratch scratch = {0};
    double *re[2], *im[2];
    for (int i = 0; i < 2; i++) {
        re[i] = check_alloc(c, DEPTH * sizeof(double));
        im[i] = check_alloc(c, DEPTH * sizeof(double));
    }
    if (!CHECK(c, airy_phantom_begin(&scratch, &p)))
        return;
    for (int part = -1; part <= 1; part++) { /* above, in and below the middle */
        const double z = v.z + 0.5 * part * v.height;
        double sum[2] = {0}, want = 0;
        for (int l = 0; l <= 2 * ACROSS; l++) {
            const double x = floor(v.x) - ACROSS + l;
            const struct airy_phantom_line at = {.x = x, .time = 100000 + (uint64_t)l};
            airy_phantom_field(&p, &scratch, &at, re[l % 2], im[l % 2]);
            for (size_t d = (size_t)z - DOWN; l > 0 && d <= (size_t)z + DOWN; d++) {
                const double a = re[(l + 1) % 2][d], b = im[(l + 1) % 2][d], e = re[l % 2][d],
                             f = im[l % 2][d];
                const double dx = (x - v.x) / v.width, dz = ((double)d - v.z) / v.height;
                sum[0] += a * e + b * f;
                sum[1] += a * f - b * e;
                want += TWO_PI * 0.1 * (1 - dx * dx - dz * dz) / (2 * ACROSS * (2 * DOWN + 1));
            }
        }
        /* Some 24 x 13 / 4 speckles that agree by 0.9 from line to line: 0.04 radians; 4 of these. */
        const double got = atan2(sum[1], sum[0]);
        if (!(fabs(got - want) < 0.16))
            check_failed(c, __FILE__, __LINE__, "flow in part %d: %.3f rad, expected %.3f", part,
                         got, want);
    }
    airy_phantom_end(&scratch);
}

void check_simulated_oct(struct check *c)
{
    static const struct airy_oct_reflector mirrors[] = {{120, -20, 0}, {333.3, -32, 0.7}};
    const struct airy_simulated_oct plain = {.samples = 256,
                                             .lines = 12,
                                             .frames = 1,
                                             .repeats = 1,
                                             .seed = 3,
                                             .dtype = AIRY_DTYPE_F32,
                                             .bits = 16,
                                             .full_well = 2e5,
                                             .exposure = 0.5,
                                             .pattern = 0.01,
                                             .noiseless = true,
                                             .ends = {1.2e-6, 1.4e-6},
                                             .center = 1.3e-6,
                                             .width = 0.1e-6,
                                             .beam = 3,
                                             .flow = 0.7};
    if (!c->is_cpu) /* it has no device */
        return;
    check_exact(c);
    check_flow(c);
    struct airy_simulated_oct m = plain;
    check_model(c, "linear", &m);
    double wavelength[200];
    for (int i = 0; i < 200; i++)
        wavelength[i] = 1.4e-6 - 1e-9 * i - 1e-12 * i * i / 10;
    m = plain;
    m.samples = 200;
    m.wavelength = wavelength;
    m.ends[0] = wavelength[199];
    m.dispersion[2] = 14;
    m.dispersion[3] = -6;
    check_model(c, "falling", &m);
    m.reflectors = mirrors;
    m.count = 2;
    check_model(c, "mirrors", &m);
}
