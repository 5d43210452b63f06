#include "ref_oct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- samples ---- */

/* Sample i of a packed line, bit by bit. */
static unsigned unpack_bits(const uint8_t *line, size_t i, unsigned bits, bool big_endian)
{
    unsigned v = 0;
    for (unsigned b = 0; b < bits; b++) {
        const size_t at = i * bits + b;
        const unsigned bit = big_endian ? line[at / 8] >> (7 - at % 8) & 1u
                                        : line[at / 8] >> at % 8 & 1u;
        v |= bit << (big_endian ? bits - 1 - b : b);
    }
    return v;
}

static double load_sample(const uint8_t *line, size_t i, const airy_oct_params *p)
{
    uint8_t bytes[4];
    if (p->packing != AIRY_OCT_PACKING_NONE)
        return unpack_bits(line, i, p->packing == AIRY_OCT_PACKING_10 ? 10 : 12, p->big_endian) >>
               p->bit_shift;
    const size_t size = p->dtype == AIRY_DTYPE_F32 ? 4 : p->dtype == AIRY_DTYPE_U8 ? 1 : 2;
    for (size_t b = 0; b < size; b++)
        bytes[b] = line[i * size + (p->big_endian ? size - 1 - b : b)];
    uint32_t word = 0;
    for (size_t b = 0; b < size; b++)
        word |= (uint32_t)bytes[b] << (8 * b);
    if (p->dtype == AIRY_DTYPE_F32) {
        float f;
        memcpy(&f, &word, sizeof(f));
        return f;
    }
    if (p->dtype == AIRY_DTYPE_I16) /* floor, as a shift of two's complement does */
        return floor(((double)word - (word >= 32768 ? 65536 : 0)) / ldexp(1, p->bit_shift));
    return word >> p->bit_shift;
}

static size_t line_bytes(const airy_oct_params *p)
{
    return p->packing == AIRY_OCT_PACKING_10   ? p->samples * 10 / 8
           : p->packing == AIRY_OCT_PACKING_12 ? p->samples * 12 / 8
           : p->dtype == AIRY_DTYPE_F32        ? p->samples * 4
           : p->dtype == AIRY_DTYPE_U8         ? p->samples
                                               : p->samples * 2;
}

void ref_oct_unpack(double *x, const void *raw, size_t lines, const airy_oct_params *p)
{
    for (size_t l = 0; l < lines; l++)
        for (size_t i = 0; i < p->samples; i++)
            x[l * p->samples + i] = load_sample((const uint8_t *)raw + l * line_bytes(p), i, p);
}

/* ---- background ---- */

/* y: less the background of a frame. */
static void subtract_background(double *y, const double *x, const airy_oct_params *p)
{
    const int n = (int)p->samples, w = (int)p->rolling;
    for (size_t l = 0; l < p->lines; l++)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            int count = 1;
            if (p->background == AIRY_OCT_BACKGROUND_LINE) {
                sum = p->background_line[i];
            } else if (p->background == AIRY_OCT_BACKGROUND_MEAN) {
                count = (int)p->lines;
                for (size_t m = 0; m < p->lines; m++)
                    sum += x[m * p->samples + (size_t)i];
            } else if (p->background == AIRY_OCT_BACKGROUND_ROLLING) {
                const int first = i - w + 1 > 0 ? i - w + 1 : 0,
                          last = i + w < n - 1 ? i + w : n - 1;
                count = last - first + 1;
                for (int k = first; k <= last; k++)
                    sum += x[l * p->samples + (size_t)k];
            }
            y[l * p->samples + (size_t)i] = x[l * p->samples + (size_t)i] - sum / count;
        }
}

/* ---- windows ---- */

static double window_shape(airy_oct_window kind, double x)
{
    const double c = 2 * pi * x;
    switch (kind) {
    case AIRY_OCT_WINDOW_HANN:
        return 0.5 - 0.5 * cos(c);
    case AIRY_OCT_WINDOW_HAMMING:
        return 0.54 - 0.46 * cos(c);
    case AIRY_OCT_WINDOW_BLACKMAN:
        return 0.42 - 0.5 * cos(c) + 0.08 * cos(2 * c);
    case AIRY_OCT_WINDOW_SINE:
        return sin(pi * x);
    case AIRY_OCT_WINDOW_FLATTOP:
        return 0.21557895 - 0.41663158 * cos(c) + 0.277263158 * cos(2 * c) -
               0.083578947 * cos(3 * c) + 0.006947368 * cos(4 * c);
    case AIRY_OCT_WINDOW_TUKEY:
        return x < 0.25   ? 0.5 - 0.5 * cos(pi * x / 0.25)
               : x > 0.75 ? 0.5 - 0.5 * cos(pi * (1 - x) / 0.25)
                          : 1;
    default:
        return 1;
    }
}

static double window_at(size_t j, const airy_oct_params *p)
{
    const double n = (double)p->samples, fill = p->window_fill == 0 ? 1 : p->window_fill,
                 middle = floor((p->window_center == 0 ? 0.5 : p->window_center) * n),
                 width = floor(fill * n);
    if (p->window == AIRY_OCT_WINDOW_TABLE)
        return p->window_table[j];
    if (p->window == AIRY_OCT_WINDOW_GAUSS)
        return exp(-10 * pow(((double)j - middle) / (n - 1) / fill, 2));
    const double x = ((double)j - (middle - floor(width / 2))) / (width - 1);
    if (p->compat == AIRY_OCT_COMPAT_OCTPROZ && (x < 0.0001 || x > 0.999))
        return 0;
    return x < 0 || x > 1 ? 0 : window_shape(p->window, x);
}

/* ---- positions ---- */

struct position {
    int i;
    double f;
};

static double wavenumber(int i, const airy_oct_params *p)
{
    return p->axis == AIRY_OCT_AXIS_K ? p->axis_table[i] : 1 / p->axis_table[i];
}

/* The j-th of equal steps of k. */
static struct position position_of_k(size_t j, const airy_oct_params *p)
{
    const int n = (int)p->samples;
    const double first = wavenumber(0, p), last = wavenumber(n - 1, p), high = fmax(first, last),
                 k = high - (double)j * (high - fmin(first, last)) / n;
    int left = 0;
    if (p->compat == AIRY_OCT_COMPAT_PYMOTIONOCT) {
        int nearest = 0;
        for (int i = 1; i < n; i++)
            if (fabs(wavenumber(i, p) - k) < fabs(wavenumber(nearest, p) - k))
                nearest = i;
        left = nearest > 0 ? nearest - 1 : 0;
    } else {
        for (int i = 0; i <= n - 2; i++)
            if (first > last ? wavenumber(i, p) >= k : wavenumber(i, p) <= k)
                left = i;
    }
    return (struct position){left, (k - wavenumber(left, p)) /
                                       (wavenumber(left + 1, p) - wavenumber(left, p))};
}

static struct position position_at(size_t j, const airy_oct_params *p)
{
    const double n = (double)p->samples, t = (double)j / (n - 1);
    double r = 0;
    if (p->axis == AIRY_OCT_AXIS_WAVELENGTH || p->axis == AIRY_OCT_AXIS_K)
        return position_of_k(j, p);
    if (p->axis == AIRY_OCT_AXIS_CURVE)
        r = p->axis_table[j];
    else
        for (int i = 0; i < AIRY_OCT_TERMS; i++)
            r += p->poly[i] * pow(t, i);
    if (p->compat != AIRY_OCT_COMPAT_OCTPROZ)
        r = fmin(fmax(r, 0), n - 1);
    r = fmin(fmax(r, -1e6), 1e6);
    return (struct position){(int)r, r - trunc(r)};
}

/* ---- interpolation ---- */

enum { MOST_TAPS = 16 };

struct taps {
    int count, index[MOST_TAPS];
    double weight[MOST_TAPS];
};

static double sinc(double x)
{
    return x == 0 ? 1 : sin(pi * x) / (pi * x);
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static struct taps taps_at(size_t j, const airy_oct_params *p)
{
    const int n = (int)p->samples;
    const bool octproz = p->compat == AIRY_OCT_COMPAT_OCTPROZ;
    if (p->axis == AIRY_OCT_AXIS_NONE)
        return (struct taps){1, {(int)j}, {1}};
    const struct position at = position_at(j, p);
    const double f = at.f;
    struct taps t;
    if (p->interpolation == AIRY_OCT_LINEAR)
        return (struct taps){2, {clamp(at.i, n), clamp(at.i + 1, n)}, {1 - f, f}};
    if (p->interpolation == AIRY_OCT_CUBIC) {
        /* (2 b + (c - a) f + (2 a - 5 b + 4 c - d) f^2 + (-a + 3 b - 3 c + d) f^3) / 2 */
        t = (struct taps){
            .count = 4,
            .weight = {(-f + 2 * f * f - f * f * f) / 2, (2 - 5 * f * f + 3 * f * f * f) / 2,
                       (f + 4 * f * f - 3 * f * f * f) / 2, (-f * f + f * f * f) / 2}};
        for (int i = 0; i < 4; i++)
            t.index[i] = clamp(at.i - 1 + i, n);
        if (octproz && at.i == 0)
            t.index[0] = 1;
        return t;
    }
    double sum = 0;
    t.count = 16;
    for (int i = 0; i < 16; i++) {
        const double d = f - (i - 7);
        t.index[i] = clamp(at.i + i - 7, n);
        t.weight[i] = fabs(d) < 8 ? sinc(d) * sinc(d / 8) : 0;
        sum += t.weight[i];
    }
    for (int i = 0; i < 16 && !octproz; i++)
        t.weight[i] /= sum;
    return t;
}

static double phase_at(size_t j, const airy_oct_params *p)
{
    const double t = (double)j / ((double)p->samples - 1);
    double phase = 0;
    if (p->phase_table)
        return p->phase_table[j];
    for (int i = 0; i < AIRY_OCT_TERMS && p->has_dispersion; i++)
        phase += p->dispersion[i] * pow(t, i);
    return phase;
}

/* Of z[j]: samples with their weights, window included, and the phase. */
struct row {
    struct taps taps;
    double re, im;
};

static void make_rows(struct row *rows, const airy_oct_params *p)
{
    const bool first = p->window_first || p->compat == AIRY_OCT_COMPAT_PYMOTIONOCT;
    for (size_t j = 0; j < p->samples; j++) {
        struct row *row = rows + j;
        row->taps = taps_at(j, p);
        row->re = cos(phase_at(j, p));
        row->im = sin(phase_at(j, p));
        for (int i = 0; i < row->taps.count; i++)
            row->taps.weight[i] *= window_at(first ? (size_t)row->taps.index[i] : j, p);
    }
}

/* full: x before the background went off. Returns the scale. */
static double resample(double *z, const double *x, const double *full, const struct row *rows,
                       size_t samples)
{
    double squares = 0;
    for (size_t j = 0; j < samples; j++) {
        double sum = 0, most = 0;
        for (int i = 0; i < rows[j].taps.count; i++) {
            const int at = rows[j].taps.index[i];
            sum += rows[j].taps.weight[i] * x[at];
            most += fabs(rows[j].taps.weight[i] * full[at]);
        }
        z[2 * j] = sum * rows[j].re;
        z[2 * j + 1] = sum * rows[j].im;
        squares += most * most;
    }
    return sqrt(squares);
}

/* ---- transform ---- */

/* Bins 0 to samples / 2; turns: cos and sin of 2 pi m / samples. */
static void transform(double *f, const double *z, const double *turns, const airy_oct_params *p)
{
    const double sign = p->compat == AIRY_OCT_COMPAT_OCTPROZ ? 1 : -1;
    for (size_t bin = 0; bin <= p->samples / 2; bin++) {
        double re = 0, im = 0;
        size_t m = 0;
        for (size_t j = 0; j < p->samples; j++) {
            const double c = turns[2 * m], s = sign * turns[2 * m + 1];
            re += z[2 * j] * c - z[2 * j + 1] * s;
            im += z[2 * j] * s + z[2 * j + 1] * c;
            m += bin;
            m -= m >= p->samples ? p->samples : 0;
        }
        f[2 * bin] = re;
        f[2 * bin + 1] = im;
    }
}

static bool is_finite(const double *x, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

/* Room of one frame, and what all share. */
struct room {
    double *x, *y, *z, *turns, *f;
    struct row *rows;
};

static void transform_frame(struct ref_oct_spectra *s, size_t frame, const struct room *r,
                            const airy_oct_params *p)
{
    const size_t n = p->samples, first = p->depth_first;
    const bool mean = p->background == AIRY_OCT_BACKGROUND_MEAN;
    subtract_background(r->y, r->x, p);
    for (size_t l = 0; l < p->lines; l++) {
        const size_t line = frame * p->lines + l;
        double *to = s->f + line * s->depth * 2;
        s->scale[line] = resample(r->z, r->y + l * n, r->x + l * n, r->rows, n);
        transform(r->f, r->z, r->turns, p);
        s->largest[line] = 0;
        for (size_t bin = 0; bin <= n / 2; bin++)
            s->largest[line] = fmax(s->largest[line], hypot(r->f[2 * bin], r->f[2 * bin + 1]));
        const bool finite = mean ? is_finite(r->x, n * p->lines) : is_finite(r->x + l * n, n);
        for (size_t i = 0; i < 2 * s->depth; i++)
            to[i] = finite ? r->f[2 * first + i] : (double)NAN;
        if (!finite)
            s->largest[line] = s->scale[line] = 0;
    }
}

bool ref_oct_spectra(struct ref_oct_spectra *s, const void *raw, size_t frames,
                     const airy_oct_params *p)
{
    const size_t n = p->samples, last = p->depth_last ? p->depth_last : n / 2;
    *s = (struct ref_oct_spectra){.lines = frames * p->lines, .depth = last - p->depth_first};
    s->f = calloc(s->lines * s->depth, 2 * sizeof(double));
    s->largest = calloc(s->lines, sizeof(double));
    s->scale = calloc(s->lines, sizeof(double));
    double *room = calloc(2 * n * p->lines + 6 * n + 2, sizeof(double));
    const struct room r = {.rows = calloc(n, sizeof(struct row)),
                           .x = room,
                           .y = room + n * p->lines,
                           .z = room + 2 * n * p->lines,
                           .turns = room + 2 * n * p->lines + 2 * n,
                           .f = room + 2 * n * p->lines + 4 * n};
    const bool fine = s->f && s->largest && s->scale && room && r.rows;
    if (fine)
        make_rows(r.rows, p);
    for (size_t m = 0; m < n && fine; m++) {
        r.turns[2 * m] = cos(2 * pi * (double)m / (double)n);
        r.turns[2 * m + 1] = sin(2 * pi * (double)m / (double)n);
    }
    for (size_t f = 0; f < frames && fine; f++) {
        ref_oct_unpack(r.x, (const char *)raw + f * p->lines * line_bytes(p), p->lines, p);
        transform_frame(s, f, &r, p);
    }
    free(r.rows);
    free(room);
    if (!fine)
        ref_oct_spectra_free(s);
    return fine;
}

void ref_oct_spectra_free(struct ref_oct_spectra *s)
{
    free(s->f);
    free(s->largest);
    free(s->scale);
    *s = (struct ref_oct_spectra){.f = NULL};
}

/* ---- the fixed pattern ---- */

void ref_oct_pattern(double *pattern, const struct ref_oct_spectra *s)
{
    const size_t each = s->lines / 9;
    for (size_t bin = 0; bin < s->depth; bin++) {
        double least = 0;
        for (size_t segment = 0; segment < 9; segment++) {
            double re = 0, im = 0, squares = 0;
            for (size_t l = segment * each; l < (segment + 1) * each; l++) {
                const double *f = s->f + (l * s->depth + bin) * 2;
                re += f[0] / (double)each;
                im += f[1] / (double)each;
            }
            for (size_t l = segment * each; l < (segment + 1) * each; l++) {
                const double *f = s->f + (l * s->depth + bin) * 2;
                squares += pow(f[0] - re, 2) + pow(f[1] - im, 2);
            }
            if (segment > 0 && squares >= least)
                continue;
            least = squares;
            pattern[2 * bin] = re;
            pattern[2 * bin + 1] = im;
        }
    }
}

void ref_oct_subtract(struct ref_oct_spectra *s, const double *pattern)
{
    for (size_t l = 0; l < s->lines; l++)
        for (size_t i = 0; i < 2 * s->depth; i++)
            s->f[l * s->depth * 2 + i] -= pattern[i];
}
