/* Tables of OCT lines in the form that kernels/oct.cl reads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fft/fft_table.h"
#include "opencl/cl_oct.h"

#define PI 3.14159265358979323846

enum {
    UNIT = 4, /* words of 16 bytes, at which pieces begin */
    FRACTION_SAMPLES = 1 << (32 - AIRY_OCT_FRACTION_BITS)
};

/* The table while it is made. */
struct making {
    const struct airy_cl_oct *impl;
    const struct airy_oct_tables *from;
    size_t n;        /* samples */
    double half;     /* weights of pairs are halved: F of a line is half of a sum */
    double *phasors; /* [n][2], chirp included; NULL: none */
    uint32_t *words;
    const uint32_t *at;
};

static void put_float(uint32_t *to, double v)
{
    const float narrow = (float)v;
    memcpy(to, &narrow, sizeof(narrow));
}

static uint32_t *piece(const struct making *m, unsigned which)
{
    return m->words + (size_t)UNIT * m->at[which];
}

/* ---- entries ---- */

/* Position f between two taps of entry j, which weigh *sum; false: they are not on both sides. */
static bool fraction_of(double *f, double *sum, const struct airy_oct_tables *t, size_t j)
{
    const double a = t->weights[2 * j], b = t->weights[2 * j + 1];
    *sum = a + b;
    *f = a == 0 && b == 0 ? 0 : b / (a + b);
    return isfinite(*f) && *f >= 0 && *f <= 1;
}

static unsigned choose_form(const struct airy_cl_oct *impl, const struct airy_oct *oct)
{
    const struct airy_oct_tables *t = &oct->tables;
    const size_t n = oct->p.samples;
    const bool halves = impl->bits != 32 && !impl->rolling;
    bool in_place = t->taps == 1 && halves && (impl->bits == 8 || impl->bits == 16);
    for (size_t j = 0; in_place && j < n; j++)
        in_place = t->base[j] == j;
    if (in_place)
        return AIRY_OCT_FORM_IN_PLACE;
    bool fraction = t->taps == 2 && halves && n <= FRACTION_SAMPLES &&
                    (impl->pairs || (impl->phasor && impl->offset != 2));
    for (size_t j = 0; fraction && j < n; j++) {
        double f, sum;
        fraction = fraction_of(&f, &sum, t, j);
    }
    return fraction ? AIRY_OCT_FORM_FRACTION : AIRY_OCT_FORM_TAPS;
}

static void fill_taps(const struct making *m)
{
    const struct airy_oct_tables *t = m->from;
    uint32_t *entry = piece(m, AIRY_OCT_AT_ENTRIES), *more = piece(m, AIRY_OCT_AT_TAPS);
    for (size_t j = 0; j < m->n; j++, entry += 4) {
        const double *w = t->weights + j * t->taps;
        entry[0] = t->base[j];
        put_float(entry + 1, t->offset ? m->half * t->offset[j] : 0);
        put_float(entry + 2, m->half * w[0]);
        put_float(entry + 3, t->taps > 1 ? m->half * w[1] : 0);
        for (size_t k = 2; k < t->taps; k++)
            put_float(more + ((k - 2) / 2 * m->n + j) * 2 + k % 2, m->half * w[k]);
    }
}

/* The fraction goes to the nearest of 2^21 steps; the last one stands for 1 - 2^-21. */
static uint32_t pack_fraction(uint32_t base, double f)
{
    const double most = ldexp(1, AIRY_OCT_FRACTION_BITS);
    return base << AIRY_OCT_FRACTION_BITS | (uint32_t)fmin(floor(f * most + 0.5), most - 1);
}

static void fill_fractions(const struct making *m)
{
    const struct airy_oct_tables *t = m->from;
    uint32_t *entry = piece(m, AIRY_OCT_AT_ENTRIES), *offset = piece(m, AIRY_OCT_AT_OFFSETS);
    const uint32_t items = m->impl->elements / m->impl->each;
    for (size_t j = 0; j < m->n; j++) {
        double f, sum;
        (void)fraction_of(&f, &sum, t, j);
        if (m->impl->pairs) {
            const size_t at = airy_oct_place((uint32_t)j, items, AIRY_OCT_ENTRIES_TOGETHER),
                         of = airy_oct_place((uint32_t)j, items, AIRY_OCT_OFFSETS_TOGETHER);
            entry[2 * at] = pack_fraction(t->base[j], f);
            put_float(entry + 2 * at + 1, m->half * sum);
            if (t->offset)
                put_float(offset + of, m->half * t->offset[j]);
        } else {
            entry[4 * j] = pack_fraction(t->base[j], f);
            put_float(entry + 4 * j + 1, t->offset && sum != 0 ? t->offset[j] / sum : 0);
            put_float(entry + 4 * j + 2, sum * m->phasors[2 * j]);
            put_float(entry + 4 * j + 3, sum * m->phasors[2 * j + 1]);
        }
    }
}

static void fill_in_place(const struct making *m)
{
    const struct airy_oct_tables *t = m->from;
    uint32_t *entry = piece(m, AIRY_OCT_AT_ENTRIES);
    for (size_t j = 0; j < m->n; j++) {
        put_float(entry + 2 * j, m->half * t->weights[j]);
        put_float(entry + 2 * j + 1, t->offset ? m->half * t->offset[j] : 0);
    }
}

/* ---- factors ---- */

/* Of a step of radix r behind product p, as oct_transform.h says; returns where the next ones go. */
static uint32_t *fill_step(uint32_t *to, size_t r, size_t p)
{
    for (size_t half = r / 2, kinds = 1; half > 0; half /= 2) {
        for (size_t n = 0; n < kinds; n++)
            for (size_t low = 0; low < p; low++, to += 2) {
                double c, s;
                airy_fft_factor(&c, &s, half * (low + n * p), p * r);
                put_float(to, c);
                put_float(to + 1, s);
            }
        kinds = half == r / 2 ? 1 : 2 * kinds;
    }
    return to;
}

static void fill_steps(uint32_t *to, size_t r1, size_t r2, size_t r3)
{
    if (r2 > 1)
        to = fill_step(to, r2, r1);
    (void)fill_step(to, r3, r1 * r2);
}

static size_t step_words(size_t r1, size_t r2, size_t r3)
{
    return (r2 > 1 ? r1 * r2 : 0) + r1 * r2 * r3;
}

/* exp(-i pi j^2 / n) */
static void chirp_at(double *c, double *s, size_t j, size_t n)
{
    airy_fft_factor(c, s, j * j % (2 * n), 2 * n);
}

/*
 * The transformed chirp, divided by its length, and the chirp itself. Bins of the line from -end to
 * end are looked at, its samples are `n`.
 */
static airy_status fill_chirp(const struct making *m, size_t end)
{
    const size_t count = m->impl->elements;
    uint32_t *spectrum = piece(m, AIRY_OCT_AT_SPECTRUM), *chirp = piece(m, AIRY_OCT_AT_CHIRP);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 4 * count, sizeof(double), "a chirp"));
    double *x = block, *circle = x + 2 * count, c, s;
    airy_fft_circle(circle, count);
    for (size_t j = 0; j < m->n + end; j++) {
        chirp_at(&c, &s, j, m->n);
        if (j < end) {
            put_float(chirp + 2 * j, c);
            put_float(chirp + 2 * j + 1, s);
            x[2 * j] = c;
            x[2 * j + 1] = -s;
        }
        if (j > 0 && count - j >= end) {
            x[2 * (count - j)] = c;
            x[2 * (count - j) + 1] = -s;
        }
    }
    airy_fft_by_halves(x, circle, count);
    for (size_t i = 0; i < 2 * count; i++)
        put_float(spectrum + i, x[i] / (double)count);
    free(block);
    return AIRY_OK;
}

/* ---- the table ---- */

/* Phases, times the chirp where there is one. */
static airy_status make_phasors(struct making *m)
{
    const double *own = m->from->phasor;
    void *block;
    if (!m->impl->phasor)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, m->n, 2 * sizeof(double), "phases"));
    m->phasors = block;
    for (size_t j = 0; j < m->n; j++) {
        double c = 1, s = 0;
        if (m->impl->chirp)
            chirp_at(&c, &s, j, m->n);
        const double re = own ? own[2 * j] : 1, im = own ? own[2 * j + 1] : 0;
        m->phasors[2 * j] = re * c - im * s;
        m->phasors[2 * j + 1] = re * s + im * c;
    }
    return AIRY_OK;
}

/* Words of each piece; 0: it is not there. */
static void measure_pieces(size_t words[AIRY_OCT_PIECES], const struct airy_cl_oct *impl,
                           const struct airy_oct *oct)
{
    const size_t n = oct->p.samples, taps = oct->tables.taps, end = oct->p.depth_last;
    const unsigned *r = impl->radix;
    const bool fraction = impl->form == AIRY_OCT_FORM_FRACTION, together = fraction && impl->pairs;
    memset(words, 0, AIRY_OCT_PIECES * sizeof(*words));
    words[AIRY_OCT_AT_ENTRIES] = together                               ? 2 * (size_t)impl->elements
                                 : impl->form == AIRY_OCT_FORM_IN_PLACE ? 2 * n
                                                                        : 4 * n;
    words[AIRY_OCT_AT_TAPS] = impl->form == AIRY_OCT_FORM_TAPS && taps > 2 ? (taps - 1) / 2 * n * 2
                                                                           : 0;
    words[AIRY_OCT_AT_OFFSETS] = together && impl->offset == 1 ? impl->elements : 0;
    words[AIRY_OCT_AT_PHASORS] = impl->phasor && (impl->pairs || !fraction) ? 2 * n : 0;
    words[AIRY_OCT_AT_TWIST] = step_words(r[0], r[1], r[2]);
    if (impl->chirp) {
        words[AIRY_OCT_AT_BACK] = step_words(r[2], r[1], r[0]);
        words[AIRY_OCT_AT_SPECTRUM] = (size_t)2 * impl->elements;
        words[AIRY_OCT_AT_CHIRP] = 2 * end;
    }
}

static airy_status fill_pieces(struct making *m, const size_t words[AIRY_OCT_PIECES], size_t end)
{
    const unsigned *r = m->impl->radix;
    AIRY_TRY(make_phasors(m));
    if (m->impl->form == AIRY_OCT_FORM_TAPS)
        fill_taps(m);
    else if (m->impl->form == AIRY_OCT_FORM_FRACTION)
        fill_fractions(m);
    else
        fill_in_place(m);
    for (size_t i = 0; i < words[AIRY_OCT_AT_PHASORS]; i++)
        put_float(piece(m, AIRY_OCT_AT_PHASORS) + i, m->phasors[i]);
    fill_steps(piece(m, AIRY_OCT_AT_TWIST), r[0], r[1], r[2]);
    if (!m->impl->chirp)
        return AIRY_OK;
    fill_steps(piece(m, AIRY_OCT_AT_BACK), r[2], r[1], r[0]);
    return fill_chirp(m, end);
}

static airy_status make_table(airy_queue *queue, struct airy_cl_oct *impl,
                              const struct airy_oct *oct)
{
    size_t words[AIRY_OCT_PIECES], units = 0;
    void *block;
    measure_pieces(words, impl, oct);
    for (size_t i = 0; i < AIRY_OCT_PIECES; i++) {
        impl->at[i] = (uint32_t)units;
        units += (words[i] + UNIT - 1) / UNIT;
    }
    const size_t count = UNIT * units;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "a table of OCT"));
    struct making m = {.impl = impl,
                       .from = &oct->tables,
                       .n = oct->p.samples,
                       .half = impl->pairs ? 0.5 : 1,
                       .words = block,
                       .at = impl->at};
    airy_status status = fill_pieces(&m, words, oct->p.depth_last);
    if (status == AIRY_OK)
        status = airy_array_create_from(&impl->table, queue, AIRY_DTYPE_U32, 1, &count, block);
    free(m.phasors);
    free(block);
    return status;
}

/* ---- what frames need ---- */

static airy_status make_mean_table(airy_queue *queue, struct airy_cl_oct *impl,
                                   const struct airy_oct *oct)
{
    const size_t n = oct->p.samples, taps = oct->tables.taps, count = n * (1 + taps);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "a table of OCT"));
    uint32_t *words = block;
    memcpy(words, oct->tables.base, n * sizeof(*words));
    for (size_t i = 0; i < n * taps; i++)
        put_float(words + n + i, oct->tables.weights[i]);
    const airy_status status =
        airy_array_create_from(&impl->mean, queue, AIRY_DTYPE_U32, 1, &count, block);
    free(block);
    return status;
}

static airy_status make_positions(airy_queue *queue, struct airy_cl_oct *impl, size_t lines)
{
    const size_t count = 2 * lines;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "positions of lines"));
    uint32_t *words = block;
    for (size_t k = 0; k < lines; k++) {
        const double at = (double)lines / PI * acos(1 - 2 * (double)k / (double)lines),
                     whole = fmin(floor(at), (double)(lines - 1));
        words[2 * k] = (uint32_t)whole;
        put_float(words + 2 * k + 1, at - whole);
    }
    const airy_status status =
        airy_array_create_from(&impl->positions, queue, AIRY_DTYPE_U32, 1, &count, block);
    free(block);
    return status;
}

airy_status airy_cl_oct_tables(airy_queue *queue, struct airy_cl_oct *impl,
                               const struct airy_oct *oct)
{
    impl->form = choose_form(impl, oct);
    AIRY_TRY(make_table(queue, impl, oct));
    if (oct->p.background == AIRY_OCT_BACKGROUND_MEAN)
        AIRY_TRY(make_mean_table(queue, impl, oct));
    return oct->p.sinusoidal ? make_positions(queue, impl, oct->info.out_lines) : AIRY_OK;
}
