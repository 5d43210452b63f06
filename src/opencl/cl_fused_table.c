/*
 * The integrator's matrix in the fixed-point form of the fused engine. docs/numerics.md derives
 * widths and errors.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/fused_geom.h"

/*
 * Weights of 22 bits leave 10 for the bin; fewer than 18 would be felt. A bin is one of slivers if
 * rounding its coefficients, by up to 2^-(F+1) each, could shift its mean by more than 2^-20 of
 * the spread of its pixels: its entries get their own, finer unit, and go to the list of extra
 * entries. That list is walked bit by bit, so it must be short.
 */
enum {
    MAX_FRACTION_BITS = 22,
    MIN_FRACTION_BITS = 18,
    SLIVER_BITS = 20,
    WEIGHT_BITS = 31,
    EXTRA_PART = 8,
    PARTS_GROUP = 64
};

/*
 * Frames are summed together without a look at carries: values below 2^16 times weights up to 2^22
 * of so many pixels stay below 2^64.
 */
#define MAX_PIXELS_TOGETHER ((size_t)1 << 25)

/* Coefficients of a pixel inside the range add up to 1 but for their rounding to float. */
static const double sum_slack = 0x1p-22;

/*
 * Tiles are filled and added up by the pool, in SLICES parts of the same size whatever the number
 * of threads.
 */
enum { SLICES = 64 };

struct table {
    const airy_integrator *integrator;
    unsigned fraction_bits;
    size_t tiles, extra_count;
    uint32_t *entries;     /* [tiles * 1024] */
    uint32_t *valid_words; /* [tiles * 32 + 1] */
    uint32_t *extra_start; /* [tiles + 1] */
    airy_fused_extra *extra;
    uint32_t *shift;        /* [bins] */
    double *unit;           /* [bins] 2^-shift */
    uint32_t *base_entries; /* [SLICES][bins], then in the first slice their sums */
    uint64_t *base;         /* [SLICES][5][bins], likewise */
    double scale[3];        /* of normalization, normalization2, dark */
    float most[SLICES][2];  /* largest absolute value of the slice's norm, dark */
};

static void free_table(struct table *t)
{
    airy_memory_release(t->entries);
    free(t->valid_words);
    free(t->extra_start);
    free(t->extra);
    free(t->shift);
    free(t->base_entries);
    free(t->base);
    free(t->unit);
}

static airy_status alloc_table(struct table *t)
{
    static const char what[] = "the pixel table";
    const size_t bins = t->integrator->bins;
    AIRY_TRY(
        airy_memory_alloc((void **)&t->entries, t->tiles * AIRY_FUSED_TILE * sizeof(*t->entries)));
    AIRY_TRY(airy_memory_calloc((void **)&t->valid_words, t->tiles * 32 + 1,
                                sizeof(*t->valid_words), what));
    AIRY_TRY(
        airy_memory_calloc((void **)&t->extra_start, t->tiles + 1, sizeof(*t->extra_start), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->shift, bins, sizeof(*t->shift), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->unit, bins, sizeof(*t->unit), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->base_entries, SLICES * bins, sizeof(*t->base_entries),
                                what));
    return airy_memory_calloc((void **)&t->base, SLICES * 5 * bins, sizeof(*t->base), what);
}

/* most: entries of a bin that a count of 1 admits, inverse. */
static bool is_sliver(const struct table *t, size_t bin, double most)
{
    const double entries = t->integrator->base_entries[bin];
    return entries > 0 && entries * most > t->integrator->base_count[bin];
}

/*
 * The unit of each bin: 2^-F, or finer for bins of slivers, so that their largest coefficient
 * takes 31 bits.
 */
static airy_status choose_units(struct table *t)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const double most = ldexp(1.0, SLIVER_BITS - 1 - (int)t->fraction_bits);
    float *largest;
    AIRY_TRY(airy_memory_calloc((void **)&largest, m->bins, sizeof(*largest), "the pixel table"));
    bool slivers = false;
    for (size_t b = 0; b < m->bins; b++)
        slivers = slivers || is_sliver(t, b, most);
    for (size_t e = 0; slivers && e < m->entries; e++)
        largest[m->bin[e]] = fmaxf(largest[m->bin[e]], m->coef[e]);
    for (size_t b = 0; b < m->bins; b++) {
        int shift = (int)t->fraction_bits;
        if (largest[b] > 0 && is_sliver(t, b, most)) {
            /* Below 2^-32 a coefficient is as good as none: the shift stays below 63. */
            shift = WEIGHT_BITS - 1 - ilogb((double)fmaxf(largest[b], 0x1p-32f));
            shift = shift > (int)t->fraction_bits ? shift : (int)t->fraction_bits;
        }
        t->shift[b] = (uint32_t)shift;
        t->unit[b] = ldexp(1.0, -shift);
    }
    free(largest);
    return AIRY_OK;
}

/* As the number of a tile's extra entries: a quadrilateral's edges cross, and a share is below 0. */
#define NEGATIVE UINT32_MAX

/* A pixel's word, or false: it needs extra entries. */
static bool pack_pixel(const struct table *t, uint32_t *word, uint32_t first, uint32_t count)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const uint32_t one = 1u << t->fraction_bits;
    if (count > 2 || (count == 2 && m->bin[first + 1] != m->bin[first] + 1))
        return false;
    double sum = 0;
    for (uint32_t e = first; e < first + count; e++) {
        sum += (double)m->coef[e];
        if (t->shift[m->bin[e]] != t->fraction_bits || m->coef[e] < 0)
            return false;
    }
    if (!(fabs(sum - 1) <= sum_slack))
        return false;
    uint32_t bin = m->bin[first], fraction = 0;
    if (count == 2)
        fraction = (uint32_t)lrint((double)m->coef[first + 1] * (double)one);
    if (fraction >= one) {
        bin++;
        fraction = 0;
    }
    *word = bin << t->fraction_bits | fraction;
    return true;
}

static uint32_t weight_of(const struct table *t, uint32_t e)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    return (uint32_t)llrint((double)m->coef[e] / t->unit[m->bin[e]]); /* a power of two: exact */
}

/*
 * Words of a tile's pixels; returns how many extra entries it has, which are written to extra if
 * that is not NULL.
 */
static size_t fill_tile(struct table *t, size_t tile, airy_fused_extra *extra)
{
    const airy_integrator *it = t->integrator;
    const struct airy_matrix *m = &it->matrix;
    const uint32_t nowhere = (uint32_t)(it->bins + 1) << t->fraction_bits;
    uint32_t previous = nowhere;
    size_t at = 0;
    for (size_t i = tile * AIRY_FUSED_TILE; i < (tile + 1) * AIRY_FUSED_TILE; i++) {
        uint32_t word = previous; /* of a pixel that does not count: nothing changes for a run of
                                     bins */
        if (i < it->pixels && it->valid[i]) {
            const uint32_t first = m->start[i], count = m->start[i + 1] - first;
            t->valid_words[i / 32] |= 1u << (i % 32);
            word = nowhere;
            if (count > 0 && !pack_pixel(t, &word, first, count)) {
                for (uint32_t e = first; e < first + count; e++) {
                    if (m->coef[e] < 0)
                        return NEGATIVE;
                    const uint32_t weight = weight_of(t, e);
                    if (weight && extra)
                        extra[at] =
                            (airy_fused_extra){(uint32_t)i, m->bin[e], weight, t->shift[m->bin[e]]};
                    at += weight != 0;
                }
            }
        }
        t->entries[airy_fused_place((uint32_t)i)] = word;
        previous = word;
    }
    return at;
}

static float largest_of(const float *values, size_t first, size_t last)
{
    float most = 0;
    for (size_t i = first; values && i < last; i++) {
        const float v = fabsf(values[i]);
        most = v > most ? v : most;
    }
    return most;
}

static void count_slice(void *arg, size_t slice, unsigned worker)
{
    struct table *t = arg;
    const airy_integrator *it = t->integrator;
    (void)worker;
    const size_t first = t->tiles * slice / SLICES, last = t->tiles * (slice + 1) / SLICES;
    for (size_t tile = first; tile < last; tile++)
        t->extra_start[tile + 1] = (uint32_t)fill_tile(t, tile, NULL);
    const size_t end = airy_min_size(last * AIRY_FUSED_TILE, it->pixels);
    t->most[slice][0] = largest_of(it->norm, first * AIRY_FUSED_TILE, end);
    t->most[slice][1] = largest_of(it->dark, first * AIRY_FUSED_TILE, end);
}

/* The extra entries of tiles that have some. */
static void fill_slice(void *arg, size_t slice, unsigned worker)
{
    struct table *t = arg;
    (void)worker;
    for (size_t tile = t->tiles * slice / SLICES; tile < t->tiles * (slice + 1) / SLICES; tile++)
        if (t->extra_start[tile + 1] > t->extra_start[tile])
            (void)fill_tile(t, tile, t->extra + t->extra_start[tile]);
}

/*
 * Adds entries of one slice to its sums: the same arithmetic as take_out of integrate_blocks.cl,
 * bit for bit.
 */
struct adder {
    const struct table *table;
    uint64_t *base;
    uint32_t *entries;
};

static void add_fixed(const struct adder *a, size_t pixel, uint32_t bin, uint32_t weight)
{
    const struct table *t = a->table;
    const airy_integrator *it = t->integrator;
    const double c = (double)weight * t->unit[bin], cn = c * (double)it->norm[pixel];
    uint64_t *base = a->base + bin;
    base[0] += (uint64_t)(int64_t)rint(cn * t->scale[0]);
    base[it->bins] += (uint64_t)(int64_t)rint(cn * cn * t->scale[1]);
    base[2 * it->bins] += weight;
    if (it->dark)
        base[3 * it->bins] += (uint64_t)(int64_t)rint(c * (double)it->dark[pixel] * t->scale[2]);
    base[4 * it->bins] += airy_fused_square(weight, t->shift[bin]);
    a->entries[bin]++;
}

static void add_slice(void *arg, size_t slice, unsigned worker)
{
    const struct table *t = arg;
    const airy_integrator *it = t->integrator;
    const struct adder a = {t, t->base + slice * 5 * it->bins, t->base_entries + slice * it->bins};
    const uint32_t one = 1u << t->fraction_bits;
    (void)worker;
    const size_t first = t->tiles * slice / SLICES, last = t->tiles * (slice + 1) / SLICES;
    for (size_t i = first * AIRY_FUSED_TILE; i < last * AIRY_FUSED_TILE && i < it->pixels; i++) {
        const uint32_t word = t->entries[airy_fused_place((uint32_t)i)],
                       bin = word >> t->fraction_bits;
        const uint32_t fraction = word & (one - 1);
        if (!it->valid[i] || bin >= it->bins)
            continue;
        add_fixed(&a, i, bin, one - fraction);
        if (fraction)
            add_fixed(&a, i, bin + 1, fraction);
    }
    for (uint32_t e = t->extra_start[first]; e < t->extra_start[last]; e++)
        add_fixed(&a, t->extra[e].pixel, t->extra[e].bin, t->extra[e].weight);
}

/*
 * Powers of two with which no sum of a plane can reach 2^61: the largest count of a bin times the
 * largest value of a pixel. Rounding 2^32 terms adds less than 2^32. False: out of range.
 */
static bool choose_scales(struct table *t)
{
    const airy_integrator *it = t->integrator;
    double norm = 0, dark = 0, count = 0;
    for (size_t slice = 0; slice < SLICES; slice++) {
        norm = fmax(norm, (double)t->most[slice][0]);
        dark = fmax(dark, (double)t->most[slice][1]);
    }
    /* Rounded coefficients may add up to a little more. */
    for (size_t b = 0; b < it->bins; b++)
        count = fmax(count, 2 * it->base_count[b]);
    const double most[3] = {count * norm, count * norm * norm, count * dark};
    for (int k = 0; k < 3; k++) {
        if (most[k] > 0 && !(most[k] > 0x1p-200 && most[k] < 0x1p200))
            return false;
        t->scale[k] = most[k] > 0 ? ldexp(1.0, 60 - ilogb(most[k])) : 1;
    }
    return true;
}

static airy_status upload_table(struct airy_cl_fused *fused, airy_queue *queue,
                                const struct table *t)
{
    static const char what[] = "the pixel table";
    const size_t bins = t->integrator->bins, word = sizeof(uint32_t);
    fused->fraction_bits = t->fraction_bits;
    fused->extra_count = t->extra_count;
    fused->normalization_scale = t->scale[0];
    fused->normalization2_scale = t->scale[1];
    fused->dark_scale = t->scale[2];
    AIRY_TRY(
        airy_cl_upload(&fused->table, queue, t->entries, t->tiles * AIRY_FUSED_TILE * word, what));
    AIRY_TRY(airy_cl_upload(&fused->valid_words, queue, t->valid_words, (t->tiles * 32 + 1) * word,
                            what));
    AIRY_TRY(
        airy_cl_upload(&fused->extra_start, queue, t->extra_start, (t->tiles + 1) * word, what));
    AIRY_TRY(
        airy_cl_upload(&fused->extra, queue, t->extra, t->extra_count * sizeof(*t->extra), what));
    AIRY_TRY(airy_cl_upload(&fused->base, queue, t->base, 5 * bins * sizeof(*t->base), what));
    AIRY_TRY(airy_cl_upload(&fused->base_entries, queue, t->base_entries, bins * word, what));
    return airy_cl_upload(&fused->shift, queue, t->shift, bins * word, what);
}

static airy_status make_table(struct table *t, const char **why)
{
    const size_t bins = t->integrator->bins;
    airy_pool *pool = t->integrator->device->pool;
    AIRY_TRY(alloc_table(t));
    AIRY_TRY(choose_units(t));
    airy_pool_run(pool, SLICES, count_slice, t);
    for (size_t tile = 0; tile < t->tiles; tile++) {
        if (t->extra_start[tile + 1] == NEGATIVE) {
            *why = "a pixel has a negative share of a bin";
            return AIRY_OK;
        }
        t->extra_start[tile + 1] += t->extra_start[tile];
    }
    t->extra_count = t->extra_start[t->tiles];
    if (t->extra_count > t->integrator->matrix.entries / EXTRA_PART) {
        *why = "too many pixels lie in more than two bins, or partly outside the range";
        return AIRY_OK;
    }
    if (!choose_scales(t)) {
        *why = "the corrections are too large or too small for fixed point";
        return AIRY_OK;
    }
    AIRY_TRY(airy_memory_calloc((void **)&t->extra, t->extra_count ? t->extra_count : 1,
                                sizeof(*t->extra), "the pixel table"));
    airy_pool_run(pool, SLICES, fill_slice, t);
    airy_pool_run(pool, SLICES, add_slice, t);
    for (size_t slice = 1; slice < SLICES; slice++) {
        for (size_t k = 0; k < 5 * bins; k++)
            t->base[k] += t->base[slice * 5 * bins + k];
        for (size_t b = 0; b < bins; b++)
            t->base_entries[b] += t->base_entries[slice * bins + b];
    }
    return AIRY_OK;
}

static airy_status make_parts(struct airy_cl_fused *fused, airy_queue *queue, const struct table *t)
{
    const airy_parts_geom geom = {.parts = (uint32_t)(t->tiles * AIRY_FUSED_TILE / AIRY_FUSED_PART),
                                  .fraction_bits = t->fraction_bits};
    AIRY_TRY(airy_buffer_create(&fused->parts, queue->device,
                                (size_t)geom.parts * AIRY_PART_WORDS * sizeof(uint32_t),
                                "the pixel table"));
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(fused->table),
                                       AIRY_CL_BUFFER(fused->valid_words),
                                       AIRY_CL_BUFFER(fused->parts), AIRY_CL_VALUE(geom)};
    const struct airy_cl_kernel_spec spec = {"integrate_table.cl", "integrate_table", ""};
    const size_t parts = geom.parts, group = PARTS_GROUP;
    return airy_cl_launch(queue, &spec, 1, &parts, &group, 0, args, 4);
}

airy_status airy_cl_fused_prepare(struct airy_cl_fused *fused, airy_queue *queue,
                                  const airy_integrator *integrator)
{
    const airy_error_model model = integrator->params.error_model;
    struct table t = {.integrator = integrator,
                      .tiles = (integrator->pixels + AIRY_FUSED_TILE - 1) / AIRY_FUSED_TILE};
    unsigned bin_bits = 1;
    while (((uint64_t)1 << bin_bits) < integrator->bins + AIRY_FUSED_BEHIND)
        bin_bits++;
    t.fraction_bits = 32 - bin_bits < MAX_FRACTION_BITS ? 32 - bin_bits : MAX_FRACTION_BITS;
    if (model != AIRY_ERROR_MODEL_NONE && model != AIRY_ERROR_MODEL_POISSON)
        fused->why = "the error model needs whole frames";
    else if (integrator->params.unweighted)
        fused->why = "the mean is unweighted";
    else if (t.fraction_bits < MIN_FRACTION_BITS)
        fused->why = "there are too many bins";
    else if (integrator->pixels > ((size_t)1 << 31))
        fused->why = "there are too many pixels";
    if (fused->why)
        return AIRY_OK;
    airy_status status = make_table(&t, &fused->why);
    if (status == AIRY_OK && !fused->why)
        status = upload_table(fused, queue, &t);
    if (status == AIRY_OK && !fused->why && integrator->pixels <= MAX_PIXELS_TOGETHER)
        status = make_parts(fused, queue, &t);
    free_table(&t);
    return status;
}
