/*
 * Where a line is read, with which weights, and the phase of each sample of the spectrum: in double
 * precision, once per plan. Interpolation beyond the line repeats its first and last sample.
 * Sources: R. Keys, IEEE Trans. Acoust. Speech Signal Process. 29 (1981) 1153 (the cubic with a =
 * -1/2, which is Catmull and Rom's); C. Duchon, J. Appl. Meteorol. 18 (1979) 1016 (Lanczos); F. Harris,
 * Proc. IEEE 66 (1978) 51 (windows); the flat-top's five terms: G. D'Antona, A. Ferrero, Digital Signal
 * Processing for Measurement Systems (2006), page 72.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "oct/oct_fns.h"

#define PI 3.14159265358979323846

/* Position i + f; f leaves 0..1 where a compat mode extrapolates. */
struct position {
    ptrdiff_t i;
    double f;
};

static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

static ptrdiff_t clamp_index(ptrdiff_t i, ptrdiff_t low, ptrdiff_t high)
{
    return i < low ? low : i > high ? high : i;
}

static double polynomial(const double c[AIRY_OCT_TERMS], double t)
{
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

static airy_status check_finite(const double *values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_ON_IF(!isfinite(values[i]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%zu] = %g, expected a finite number", name, i, values[i]);
    return AIRY_OK;
}

/* ---- positions ---- */

/* Wavenumbers of the samples, k: room for them. */
static airy_status make_wavenumbers(double *k, const airy_oct_params *p)
{
    const bool length = p->axis == AIRY_OCT_AXIS_WAVELENGTH;
    const char *name = length ? "wavelength" : "k";
    AIRY_FAIL_IF(!p->axis_table, AIRY_ERR_PARAM, "axis_table is NULL, expected %zu values of %s",
                 p->samples, name);
    AIRY_TRY(check_finite(p->axis_table, p->samples, name));
    for (size_t i = 0; i < p->samples; i++) {
        const double v = p->axis_table[i];
        AIRY_FAIL_ON_IF(!(v > 0) || !isfinite(1 / v), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%zu] = %g, expected a positive number", name, i, v);
        k[i] = length ? 1 / v : v;
        AIRY_FAIL_ON_IF(i > 0 && k[i] == k[i - 1], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%zu] = %s[%zu] = %.17g, expected strictly monotonic values", name, i,
                        name, i - 1, v);
        AIRY_FAIL_ON_IF(i > 1 && (k[i] > k[i - 1]) != (k[1] > k[0]), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER,
                        "%s is not monotonic: %.17g, %.17g, %.17g at %zu to %zu", name,
                        p->axis_table[i - 2], p->axis_table[i - 1], v, i - 2, i);
    }
    return AIRY_OK;
}

/*
 * Equal steps of k, falling. Samples between which each lies are found by walking along k, which goes
 * as the steps do or against them.
 */
static void positions_of_k(struct position *r, const double *k, int n, bool literal)
{
    const bool falls = k[1] < k[0];
    const double high = falls ? k[0] : k[n - 1], step = (high - (falls ? k[n - 1] : k[0])) / n;
    int at = falls ? 0 : n - 2;
    for (int j = 0; j < n; j++) {
        const double wanted = high - j * step;
        if (falls)
            while (at < n - 2 && k[at + 1] >= wanted)
                at++;
        else
            while (at > 0 && k[at] > wanted)
                at--;
        int left = at;
        if (literal) {
            const int nearest = fabs(k[at + 1] - wanted) < fabs(k[at] - wanted) ? at + 1 : at;
            left = nearest > 0 ? nearest - 1 : 0;
        }
        r[j] = (struct position){left, (wanted - k[left]) / (k[left + 1] - k[left])};
    }
}

/* Of numbers that say positions themselves. */
static void position_of(struct position *r, double at, int n, bool outside)
{
    /* Twice the line's length away nothing changes any more. */
    at = outside ? clamp(at, -2.0 * n, 3.0 * n) : clamp(at, 0, n - 1.0);
    r->i = outside ? (ptrdiff_t)at : clamp_index((ptrdiff_t)at, 0, n - 2);
    r->f = at - (double)r->i;
}

static airy_status make_positions(struct position *r, const airy_oct_params *p)
{
    const int n = (int)p->samples;
    const bool outside = p->compat == AIRY_OCT_COMPAT_OCTPROZ;
    if (p->axis == AIRY_OCT_AXIS_WAVELENGTH || p->axis == AIRY_OCT_AXIS_K) {
        void *k;
        AIRY_TRY(airy_memory_calloc(&k, p->samples, sizeof(double), "wavenumbers"));
        const airy_status status = make_wavenumbers(k, p);
        if (status == AIRY_OK)
            positions_of_k(r, k, n, p->compat == AIRY_OCT_COMPAT_PYMOTIONOCT);
        free(k);
        return status;
    }
    if (p->axis == AIRY_OCT_AXIS_CURVE) {
        AIRY_FAIL_IF(!p->axis_table, AIRY_ERR_PARAM,
                     "axis_table is NULL, expected %d positions of the curve", n);
        AIRY_TRY(check_finite(p->axis_table, p->samples, "curve"));
        for (int j = 0; j < n; j++)
            position_of(r + j, p->axis_table[j], n, outside);
        return AIRY_OK;
    }
    AIRY_TRY(check_finite(p->poly, AIRY_OCT_TERMS, "poly"));
    for (int j = 0; j < n; j++)
        position_of(r + j, polynomial(p->poly, j / (n - 1.0)), n, outside);
    return AIRY_OK;
}

/* ---- weights ---- */

static double sinc(double x)
{
    return x == 0 ? 1 : sin(PI * x) / (PI * x);
}

/* Weights of samples i - left to i - left + taps - 1. */
static size_t interpolate(double w[AIRY_OCT_MAX_TAPS], ptrdiff_t *left, double f,
                          const airy_oct_params *p)
{
    if (p->interpolation == AIRY_OCT_LINEAR) {
        *left = 0;
        w[0] = 1 - f;
        w[1] = f;
        return 2;
    }
    if (p->interpolation == AIRY_OCT_CUBIC) {
        const double f2 = f * f, f3 = f2 * f;
        *left = 1;
        w[0] = (-f + 2 * f2 - f3) / 2;
        w[1] = (2 - 5 * f2 + 3 * f3) / 2;
        w[2] = (f + 4 * f2 - 3 * f3) / 2;
        w[3] = (f3 - f2) / 2;
        return 4;
    }
    double sum = 0;
    *left = 7;
    for (int t = 0; t < AIRY_OCT_MAX_TAPS; t++) {
        const double d = f - (t - 7);
        w[t] = fabs(d) < 8 ? sinc(d) * sinc(d / 8) : 0;
        sum += w[t];
    }
    for (int t = 0; t < AIRY_OCT_MAX_TAPS && p->compat != AIRY_OCT_COMPAT_OCTPROZ; t++)
        w[t] /= sum;
    return AIRY_OCT_MAX_TAPS;
}

static size_t count_taps(const airy_oct_params *p)
{
    const size_t taps = p->axis == AIRY_OCT_AXIS_NONE         ? 1
                        : p->interpolation == AIRY_OCT_LINEAR ? 2
                        : p->interpolation == AIRY_OCT_CUBIC  ? 4
                                                              : AIRY_OCT_MAX_TAPS;
    return taps < p->samples ? taps : p->samples;
}

/* Samples beyond the line are the one at its end, whose weight then is the sum of theirs. */
static void fill_taps(struct airy_oct_tables *t, size_t j, struct position at,
                      const airy_oct_params *p)
{
    double w[AIRY_OCT_MAX_TAPS];
    ptrdiff_t left;
    const ptrdiff_t last = (ptrdiff_t)p->samples - 1;
    const size_t count = interpolate(w, &left, at.f, p);
    const ptrdiff_t base = clamp_index(at.i - left, 0, last + 1 - (ptrdiff_t)t->taps);
    const bool mirrored = p->interpolation == AIRY_OCT_CUBIC &&
                          p->compat == AIRY_OCT_COMPAT_OCTPROZ;
    t->base[j] = (uint32_t)base;
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t from = at.i - left + (ptrdiff_t)i;
        /* Farther out nothing is mirrored: the taps of an entry lie side by side. */
        if (mirrored && i == 0 && from == -1)
            from = 1;
        t->weights[j * t->taps + (size_t)(clamp_index(from, 0, last) - base)] += w[i];
    }
}

/* ---- windows ---- */

static double cosines(const double *a, int terms, double x)
{
    double sum = 0;
    for (int i = 0; i < terms; i++)
        sum += a[i] * cos(2 * PI * i * x);
    return sum;
}

/* x: 0 to 1 over the filled width. */
static double window_at(airy_oct_window kind, double x)
{
    static const double hann[] = {0.5, -0.5}, hamming[] = {0.54, -0.46},
                        blackman[] = {0.42, -0.5, 0.08},
                        flattop[] = {0.21557895, -0.41663158, 0.277263158, -0.083578947,
                                     0.006947368};
    switch (kind) {
    case AIRY_OCT_WINDOW_HANN:
        return cosines(hann, 2, x);
    case AIRY_OCT_WINDOW_HAMMING:
        return cosines(hamming, 2, x);
    case AIRY_OCT_WINDOW_BLACKMAN:
        return cosines(blackman, 3, x);
    case AIRY_OCT_WINDOW_FLATTOP:
        return cosines(flattop, 5, x);
    case AIRY_OCT_WINDOW_SINE:
        return sin(PI * x);
    case AIRY_OCT_WINDOW_TUKEY: {
        const double edge = x < 0.5 ? x : 1 - x;
        return edge < 0.25 ? cosines(hann, 2, 2 * edge) : 1;
    }
    default:
        return 1;
    }
}

static airy_status make_window(double *window, const airy_oct_params *p)
{
    const int n = (int)p->samples;
    if (p->window == AIRY_OCT_WINDOW_TABLE) {
        AIRY_FAIL_IF(!p->window_table, AIRY_ERR_PARAM, "window_table is NULL, expected %d factors",
                     n);
        AIRY_TRY(check_finite(p->window_table, p->samples, "window"));
        for (int j = 0; j < n; j++)
            window[j] = p->window_table[j];
        return AIRY_OK;
    }
    const double middle = floor(p->window_center * n), width = floor(p->window_fill * n),
                 start = middle - floor(width / 2);
    const bool cut = p->compat == AIRY_OCT_COMPAT_OCTPROZ;
    const double first = cut ? 0.0001 : 0, last = cut ? 0.999 : 1;
    AIRY_FAIL_ON_IF(p->window != AIRY_OCT_WINDOW_GAUSS && width < 2, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g of %d samples leaves less than 2",
                    "window_fill", p->window_fill, n);
    for (int j = 0; j < n; j++) {
        if (p->window == AIRY_OCT_WINDOW_GAUSS) {
            const double u = (j - middle) / (n - 1) / p->window_fill;
            window[j] = exp(-10 * u * u);
            continue;
        }
        const double x = (j - start) / (width - 1);
        window[j] = x < first || x > last ? 0 : window_at(p->window, x);
    }
    return AIRY_OK;
}

/* Windows and the background go into the weights; positions: NULL for none. */
static void fill_weights(struct airy_oct_tables *t, const struct position *positions,
                         const double *window, const airy_oct_params *p)
{
    for (size_t j = 0; j < p->samples; j++) {
        double *w = t->weights + j * t->taps;
        if (positions) {
            fill_taps(t, j, positions[j], p);
        } else {
            t->base[j] = (uint32_t)j;
            w[0] = 1;
        }
        for (size_t i = 0; i < t->taps; i++)
            w[i] *= window[p->window_first ? t->base[j] + i : j];
        for (size_t i = 0; t->offset && i < t->taps; i++)
            t->offset[j] += w[i] * p->background_line[t->base[j] + i];
    }
}

/* ---- dispersion ---- */

static airy_status fill_phasor(struct airy_oct_tables *t, const airy_oct_params *p)
{
    const int n = (int)p->samples;
    const double sign = p->compat == AIRY_OCT_COMPAT_OCTPROZ ? -1 : 1;
    if (p->phase_table)
        AIRY_TRY(check_finite(p->phase_table, p->samples, "phase_table"));
    else
        AIRY_TRY(check_finite(p->dispersion, AIRY_OCT_TERMS, "dispersion"));
    for (int j = 0; j < n; j++) {
        const double phase = p->phase_table ? p->phase_table[j]
                                            : polynomial(p->dispersion, j / (n - 1.0));
        t->phasor[2 * j] = cos(phase);
        t->phasor[2 * j + 1] = sign * sin(phase);
    }
    return AIRY_OK;
}

static airy_status make_tables(struct airy_oct_tables *t, struct position *positions,
                               double *window, const airy_oct_params *p)
{
    AIRY_TRY(make_window(window, p));
    if (positions)
        AIRY_TRY(make_positions(positions, p));
    fill_weights(t, positions, window, p);
    return t->phasor ? fill_phasor(t, p) : AIRY_OK;
}

airy_status airy_oct_tables_make(struct airy_oct_tables *tables, const airy_oct_params *p)
{
    const size_t n = p->samples;
    const bool subtracts = p->background == AIRY_OCT_BACKGROUND_LINE,
               turns = p->has_dispersion || p->phase_table;
    struct airy_oct_tables t = {.taps = count_taps(p)};
    void *window = NULL, *positions = NULL, *base = NULL, *weights = NULL, *offset = NULL,
         *phasor = NULL;
    airy_status status = AIRY_OK;
    if (subtracts)
        AIRY_TRY(check_finite(p->background_line, n, "background_line"));
    AIRY_TRY_OR(out, airy_memory_calloc(&window, n, sizeof(double), "a window"));
    AIRY_TRY_OR(out, airy_memory_calloc(&base, n, sizeof(uint32_t), "positions"));
    AIRY_TRY_OR(out, airy_memory_calloc(&weights, n * t.taps, sizeof(double), "weights"));
    if (p->axis != AIRY_OCT_AXIS_NONE)
        AIRY_TRY_OR(out, airy_memory_calloc(&positions, n, sizeof(struct position), "positions"));
    if (subtracts)
        AIRY_TRY_OR(out, airy_memory_calloc(&offset, n, sizeof(double), "a background"));
    if (turns)
        AIRY_TRY_OR(out, airy_memory_calloc(&phasor, n, 2 * sizeof(double), "phases"));
    t.base = base;
    t.weights = weights;
    t.offset = offset;
    t.phasor = phasor;
    AIRY_TRY_OR(out, make_tables(&t, positions, window, p));
    *tables = t;
    base = weights = offset = phasor = NULL;
out:
    free(phasor);
    free(offset);
    free(weights);
    free(base);
    free(positions);
    free(window);
    return status;
}

void airy_oct_tables_free(struct airy_oct_tables *tables)
{
    free(tables->base);
    free(tables->weights);
    free(tables->offset);
    free(tables->phasor);
    *tables = (struct airy_oct_tables){0};
}

double airy_oct_depth_step(const airy_oct_params *p)
{
    if (p->axis != AIRY_OCT_AXIS_WAVELENGTH && p->axis != AIRY_OCT_AXIS_K)
        return (double)NAN;
    const double first = p->axis_table[0], last = p->axis_table[p->samples - 1];
    return 1 / (2 * fabs(p->axis == AIRY_OCT_AXIS_K ? last - first : 1 / last - 1 / first));
}
