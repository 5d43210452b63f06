/* Tables of OCT for the CPU's kernels: one buffer of the device. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_oct.h"
#include "fft/fft_table.h"

/* Takes pieces of a block, or, where there is none yet, counts them. */
struct pieces {
    char *block;
    size_t size;
};

static void *take(struct pieces *pieces, size_t count, size_t size)
{
    void *piece = pieces->block ? pieces->block + pieces->size : NULL;
    pieces->size += airy_align_up(count * size, 64);
    return piece;
}

/* ---- the transform ---- */

static size_t smallest_factor(size_t n)
{
    for (size_t p = 3; p * p <= n; p += 2)
        if (n % p == 0)
            return p;
    return n;
}

/* Steps by all odd primes of n and a power of two; or one that holds a convolution. */
static void find_steps(struct airy_oct_cpu_plan *plan)
{
    size_t odd = plan->n;
    while (odd % 2 == 0)
        odd /= 2;
    plan->block = plan->n / odd;
    plan->room = plan->n;
    for (size_t n = plan->n; odd > 1; plan->steps++) {
        const size_t p = smallest_factor(odd);
        if (p > AIRY_OCT_MAX_RADIX) {
            plan->steps = 0;
            for (plan->block = 2; plan->block < 2 * plan->n - 1;)
                plan->block *= 2;
            plan->room = plan->block;
            return;
        }
        assert(plan->steps < AIRY_OCT_MAX_STEPS);
        plan->step[plan->steps] = (struct airy_oct_step){.p = p, .n = n};
        odd /= p;
        n /= p;
    }
}

static bool is_convolution(const struct airy_oct_cpu_plan *plan)
{
    return plan->room > plan->n;
}

static void put_factor(float *to, size_t k, size_t n)
{
    double c, s;
    airy_fft_factor(&c, &s, k, n);
    to[0] = (float)c;
    to[1] = (float)s;
}

static void lay_transform(struct airy_oct_cpu_plan *plan, struct pieces *pieces)
{
    for (size_t i = 0; i < plan->steps; i++) {
        struct airy_oct_step *step = &plan->step[i];
        float *circle = take(pieces, 2 * step->p, sizeof(float)),
              *factors = take(pieces, 2 * step->n, sizeof(float));
        step->circle = circle;
        step->factors = factors;
        for (size_t k = 0; circle && k < step->p; k++) {
            put_factor(circle + 2 * k, k, step->p);
            circle[2 * k + 1] = -circle[2 * k + 1];
        }
        for (size_t j = 0; factors && j < step->n / step->p; j++)
            for (size_t q = 1; q < step->p; q++, factors += 2)
                put_factor(factors, j * q, step->n);
    }
    plan->table = take(pieces, 2 * plan->block, sizeof(float));
    /* A block of four has no factors and no steps after the first. */
    plan->lookup.first_step = plan->block == plan->n && plan->n > 4 ? plan->table : NULL;
    if (is_convolution(plan)) {
        float *chirp = take(pieces, 2 * plan->n, sizeof(float));
        plan->chirp = chirp;
        plan->chirp_spectrum = take(pieces, 2 * plan->block, sizeof(float));
        for (size_t j = 0; chirp && j < plan->n; j++)
            put_factor(chirp + 2 * j, j * j % (2 * plan->n), 2 * plan->n);
    }
}

/* Of the conjugate chirp, in double, divided by the numbers of the transform. */
static airy_status fill_convolution(const struct airy_oct_cpu_plan *plan, const double *table)
{
    const size_t lanes = AIRY_FFT_LANES(double), n = plan->block;
    float *to = (float *)plan->chirp_spectrum;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 2 * n * lanes, sizeof(double), "a chirp"));
    double *re = block, *im = re + n * lanes;
    for (size_t j = 0; j < plan->n; j++) {
        double c, s;
        airy_fft_factor(&c, &s, j * j % (2 * plan->n), 2 * plan->n);
        re[j * lanes] = re[(n - j) % n * lanes] = c;
        im[j * lanes] = im[(n - j) % n * lanes] = -s;
    }
    airy_fft_kernels()->f64.forward(re, im, n, lanes, table);
    for (size_t j = 0; j < n; j++) {
        to[2 * j] = (float)(re[j * lanes] / (double)n);
        to[2 * j + 1] = (float)(im[j * lanes] / (double)n);
    }
    free(block);
    return AIRY_OK;
}

static airy_status fill_transform(const struct airy_oct_cpu_plan *plan)
{
    void *table;
    airy_status status = AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&table, 2 * plan->block, sizeof(double), "factors"));
    airy_fft_lane_table(table, plan->block);
    for (size_t i = 0; i < 2 * plan->block; i++)
        ((float *)plan->table)[i] = (float)((const double *)table)[i];
    if (is_convolution(plan))
        status = fill_convolution(plan, table);
    free(table);
    return status;
}

/* Where the transform leaves frequency k. */
static size_t place_of(const struct airy_oct_cpu_plan *plan, size_t k)
{
    size_t at = 0;
    if (is_convolution(plan))
        return k;
    for (size_t i = 0; i < plan->steps; i++) {
        const size_t p = plan->step[i].p;
        at += k % p * (plan->step[i].n / p);
        k /= p;
    }
    return at + airy_fft_place(plan->block, k);
}

/* ---- what comes before and after it ---- */

static void lay_lookup(struct airy_oct_cpu_plan *plan, struct pieces *pieces,
                       const struct airy_oct_tables *t, size_t n)
{
    uint32_t *base = take(pieces, n, sizeof(uint32_t));
    float *weights = take(pieces, n * t->taps, sizeof(float)),
          *offset = t->offset ? take(pieces, n, sizeof(float)) : NULL,
          *phasor = t->phasor ? take(pieces, 2 * n, sizeof(float)) : NULL;
    for (size_t j = 0; base && j < n; j++) {
        base[j] = t->base[j] * AIRY_OCT_LANES;
        for (size_t i = 0; i < t->taps; i++)
            weights[j * t->taps + i] = (float)t->weights[j * t->taps + i];
        if (offset)
            offset[j] = (float)t->offset[j];
        for (size_t i = 0; phasor && i < 2; i++)
            phasor[2 * j + i] = (float)t->phasor[2 * j + i];
    }
    plan->offset = offset;
    plan->lookup.base = base;
    plan->lookup.weights = weights;
    plan->lookup.phasor = phasor;
}

static void lay_bins(struct airy_oct_cpu_plan *plan, struct pieces *pieces, size_t samples,
                     size_t first)
{
    struct airy_oct_spectrum *s = &plan->spectrum;
    uint32_t *at = take(pieces, s->depth, sizeof(uint32_t)),
             *mirror = s->half ? take(pieces, s->depth, sizeof(uint32_t)) : NULL;
    float *factor = s->half ? take(pieces, 2 * s->depth, sizeof(float)) : NULL;
    for (size_t i = 0; at && i < s->depth; i++) {
        const size_t p = first + i;
        at[i] = (uint32_t)(place_of(plan, p % plan->n) * AIRY_OCT_LANES);
        if (!s->half)
            continue;
        mirror[i] = (uint32_t)(place_of(plan, (plan->n - p) % plan->n) * AIRY_OCT_LANES);
        put_factor(factor + 2 * i, p, samples);
        factor[2 * i] *= 0.5f;
        factor[2 * i + 1] *= 0.5f;
    }
    s->at = at;
    s->mirror = mirror;
    s->factor = factor;
}

static void lay_out(struct airy_oct_cpu_plan *plan, struct pieces *pieces,
                    const struct airy_oct *oct)
{
    lay_lookup(plan, pieces, &oct->tables, oct->p.samples);
    lay_bins(plan, pieces, oct->p.samples, oct->p.depth_first);
    lay_transform(plan, pieces);
    plan->zeros = take(pieces, plan->raw.line_bytes, 1);
}

static struct airy_oct_raw raw_of(const struct airy_oct *oct)
{
    const airy_oct_params *p = &oct->p;
    const unsigned bits = airy_oct_sample_bits(p);
    return (struct airy_oct_raw){.line_bytes = oct->info.line_bytes,
                                 .bits = bits,
                                 .big_endian = p->big_endian && (p->packing || bits > 8),
                                 .is_signed = p->dtype == AIRY_DTYPE_I16,
                                 .shift = (unsigned)p->bit_shift};
}

static const char *describe(const struct airy_oct_cpu_plan *plan)
{
    if (is_convolution(plan))
        return plan->lookup.halves ? "convolution with a chirp, two samples a number"
                                   : "convolution with a chirp";
    if (plan->steps)
        return plan->lookup.halves ? "mixed radices, two samples a number" : "mixed radices";
    return plan->lookup.halves ? "radix 4, two samples a number" : "radix 4";
}

static airy_status make_plan(struct airy_oct_cpu_plan *plan, airy_queue *queue,
                             const struct airy_oct *oct)
{
    const size_t samples = oct->p.samples;
    const bool half = !oct->tables.phasor && samples % 2 == 0;
    struct pieces pieces = {0};
    plan->raw = raw_of(oct);
    plan->lookup =
        (struct airy_oct_lookup){.samples = samples, .taps = oct->tables.taps, .halves = half};
    plan->n = half ? samples / 2 : samples;
    plan->spectrum.depth = oct->info.depth;
    plan->spectrum.half = half;
    plan->spectrum.conjugate = oct->conjugate;
    plan->spectrum.pairs = half && oct->p.depth_first == 0 && oct->info.depth == samples / 2 &&
                           oct->info.depth % (2 * AIRY_OCT_LANES) == 0;
    find_steps(plan);
    lay_out(plan, &pieces, oct);
    AIRY_TRY(airy_buffer_create(&plan->buffer, queue->device, pieces.size, "tables of OCT"));
    pieces = (struct pieces){.block = plan->buffer->handle};
    memset(pieces.block, 0, plan->buffer->size);
    lay_out(plan, &pieces, oct);
    return fill_transform(plan);
}

airy_status airy_oct_cpu_prepare(airy_queue *queue, struct airy_oct *oct)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct airy_oct_cpu_plan), "an OCT plan"));
    oct->impl = block; /* what fails is released with the object */
    AIRY_TRY(make_plan(block, queue, oct));
    oct->info.method = describe(block);
    return AIRY_OK;
}

void airy_oct_cpu_release(struct airy_oct *oct)
{
    struct airy_oct_cpu_plan *plan = oct->impl;
    if (plan->buffer)
        airy_buffer_release(&plan->buffer);
    free(plan);
    oct->impl = NULL;
}
