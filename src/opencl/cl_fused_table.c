/*
 * The integrator's matrix in the fixed-point form of the fused engine. docs/numerics.md derives
 * widths and errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/memory_shared.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/fused_geom.h"

/*
 * A bin is one of slivers if rounding its coefficients, by up to 2^-(F+1) each, could shift its mean by more than 2^-20 of
 * the spread of its pixels: its entries get their own, finer unit, and go to the list of extra
 * entries. That list is walked bit by bit, so it must be short.
 */
enum { SLIVER_BITS = 20, WEIGHT_BITS = 31, EXTRA_PART = 8, PARTS_GROUP = 64 };

/*
 * Frames are summed together without a look at carries: values below 2^16 times weights up to 2^22
 * of so many pixels stay below 2^64.
 */
#define MAX_PIXELS_TOGETHER ((size_t)1 << 25)

/* Coefficients of a pixel inside the range add up to 1 but for their rounding to float. */
static const double sum_slack = 0x1p-22;

/*
 * Tiles are filled and added up by the pool, in SLICES parts of the same size whatever the number
 * of threads; the sums of these, PIECE bins at a time.
 */
enum { SLICES = 64, PIECE = 64 };

/* What the entries of a bin add up to; planes as in airy_cl_fused.base. */
enum { PLANES = 5 };
struct bin_sums {
    uint64_t plane[PLANES], entries;
};

struct slice {
    struct bin_sums *sums; /* [bins] */
    airy_fused_extra *extra;
    size_t extra_count, capacity; /* beyond the most extra entries these are counted alone */
    float norm, dark;             /* largest absolute values */
    bool negative, failed;
};

struct table {
    const airy_integrator *integrator;
    unsigned fraction_bits;
    size_t tiles, extra_count, most_extra;
    uint32_t *entries;     /* [tiles * 1024] */
    uint32_t *valid_words; /* [tiles * 32 + AIRY_FUSED_VALID_BEHIND] */
    uint32_t *extra_start; /* [tiles + 1] */
    airy_fused_extra *extra;
    uint32_t *shift;        /* [bins] */
    double *unit;           /* [bins] 2^-shift */
    uint32_t *base_entries; /* [bins] */
    uint64_t *base;         /* [PLANES][bins] */
    double scale[3];        /* of normalization, normalization2, dark */
    float norm, dark;       /* largest absolute values */
    struct slice slice[SLICES];
    struct bin_sums *sums; /* of all slices */
};

static void free_table(struct table *t)
{
    for (size_t k = 0; k < SLICES; k++)
        free(t->slice[k].extra);
    airy_memory_release(t->entries);
    free(t->valid_words);
    free(t->extra_start);
    free(t->extra);
    free(t->shift);
    free(t->base_entries);
    free(t->base);
    free(t->unit);
    free(t->sums);
}

static airy_status alloc_units(struct table *t)
{
    static const char what[] = "the pixel table";
    const size_t bins = t->integrator->bins;
    AIRY_TRY(airy_memory_calloc((void **)&t->shift, bins, sizeof(*t->shift), what));
    return airy_memory_calloc((void **)&t->unit, bins, sizeof(*t->unit), what);
}

static airy_status alloc_table(struct table *t)
{
    static const char what[] = "the pixel table";
    const size_t bins = t->integrator->bins;
    AIRY_TRY(airy_memory_alloc_shared((void **)&t->entries,
                                      t->tiles * AIRY_FUSED_TILE * sizeof(*t->entries),
                                      t->integrator->device->pool));
    AIRY_TRY(airy_memory_calloc((void **)&t->valid_words, t->tiles * 32 + AIRY_FUSED_VALID_BEHIND,
                                sizeof(*t->valid_words), what));
    AIRY_TRY(
        airy_memory_calloc((void **)&t->extra_start, t->tiles + 1, sizeof(*t->extra_start), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->base_entries, bins, sizeof(*t->base_entries), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->base, PLANES * bins, sizeof(*t->base), what));
    AIRY_TRY(airy_memory_calloc((void **)&t->sums, SLICES * bins, sizeof(*t->sums), what));
    for (size_t k = 0; k < SLICES; k++)
        t->slice[k].sums = t->sums + k * bins;
    return AIRY_OK;
}

/* most: entries of a bin that a count of 1 admits, inverse. */
static bool is_sliver(const struct table *t, size_t bin, double most)
{
    const double entries = t->integrator->base_entries[bin];
    return entries > 0 && entries * most > t->integrator->base_count[bin];
}

/* Of each bin, where there are bins of slivers. */
static void find_largest(float *largest, const struct table *t)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    for (size_t e = 0; e < m->entries; e++)
        largest[m->bin[e]] = fmaxf(largest[m->bin[e]], m->coef[e]);
}

/*
 * The unit of each bin: 2^-F, or finer for bins of slivers, so that their largest coefficient
 * takes 31 bits. largest: coefficient of each bin, or NULL: to be found in the matrix.
 */
static airy_status choose_units(struct table *t, const float *largest)
{
    const size_t bins = t->integrator->bins;
    const double most = ldexp(1.0, SLIVER_BITS - 1 - (int)t->fraction_bits);
    bool slivers = false;
    for (size_t b = 0; b < bins; b++)
        slivers = slivers || is_sliver(t, b, most);
    float *found = NULL;
    if (!largest) {
        AIRY_TRY(airy_memory_calloc((void **)&found, bins, sizeof(*found), "the pixel table"));
        if (slivers)
            find_largest(found, t);
        largest = found;
    }
    for (size_t b = 0; b < bins; b++) {
        int shift = (int)t->fraction_bits;
        if (largest[b] > 0 && is_sliver(t, b, most)) {
            /* Below 2^-32 a coefficient is as good as none: the shift stays below 63. */
            shift = WEIGHT_BITS - 1 - ilogb((double)fmaxf(largest[b], 0x1p-32f));
            shift = shift > (int)t->fraction_bits ? shift : (int)t->fraction_bits;
        }
        t->shift[b] = (uint32_t)shift;
        t->unit[b] = ldexp(1.0, -shift);
    }
    free(found);
    return AIRY_OK;
}

/* A pixel's word, or false: it needs extra entries. */
static bool pack_pixel(const struct table *t, uint32_t *word, uint32_t first, uint32_t count)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const uint32_t one = 1u << t->fraction_bits;
    uint32_t bin = m->bin[first];
    if (count > 2 || t->shift[bin] != t->fraction_bits)
        return false;
    if (count == 2 && (m->bin[first + 1] != bin + 1 || t->shift[bin + 1] != t->fraction_bits))
        return false;
    const double c = (double)m->coef[first], next = count == 2 ? (double)m->coef[first + 1] : 0;
    if (c < 0 || next < 0 || !(fabs(c + next - 1) <= sum_slack))
        return false;
    uint32_t fraction = (uint32_t)lrint(next * (double)one);
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

/* The same arithmetic as take_out of integrate_blocks.cl, bit for bit. */
static inline void add_fixed(struct slice *slice, const struct table *t, size_t pixel, uint32_t bin,
                             uint32_t weight)
{
    const airy_integrator *it = t->integrator;
    const double c = (double)weight * t->unit[bin], cn = c * (double)it->norm[pixel];
    struct bin_sums *sums = &slice->sums[bin];
    sums->plane[0] += (uint64_t)llrint(cn * t->scale[0]);
    sums->plane[1] += (uint64_t)llrint(cn * cn * t->scale[1]);
    sums->plane[2] += weight;
    if (it->dark)
        sums->plane[3] += (uint64_t)llrint(c * (double)it->dark[pixel] * t->scale[2]);
    sums->plane[4] += airy_fused_square(weight, t->shift[bin]);
    sums->entries++;
}

static void keep_extra(struct slice *slice, const struct table *t, airy_fused_extra extra)
{
    const size_t at = slice->extra_count++;
    if (at >= t->most_extra || slice->failed)
        return;
    if (at == slice->capacity) {
        const size_t capacity = 2 * slice->capacity + 256;
        airy_fused_extra *more = realloc(slice->extra, capacity * sizeof(*more));
        slice->failed = !more;
        if (!more)
            return;
        slice->extra = more;
        slice->capacity = capacity;
    }
    slice->extra[at] = extra;
}

/* Word and sums of a pixel that counts. */
static uint32_t take_pixel(struct slice *slice, const struct table *t, size_t i)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const uint32_t one = 1u << t->fraction_bits, first = m->start[i],
                   count = m->start[i + 1] - first;
    uint32_t word;
    if (count > 0 && pack_pixel(t, &word, first, count)) {
        const uint32_t bin = word >> t->fraction_bits, fraction = word & (one - 1);
        add_fixed(slice, t, i, bin, one - fraction);
        if (fraction)
            add_fixed(slice, t, i, bin + 1, fraction);
        return word;
    }
    for (uint32_t e = first; e < first + count; e++) {
        /* A quadrilateral's edges cross, and a share is below 0. */
        if (m->coef[e] < 0) {
            slice->negative = true;
            break;
        }
        const uint32_t bin = m->bin[e], weight = weight_of(t, e);
        if (weight) {
            keep_extra(slice, t, (airy_fused_extra){(uint32_t)i, bin, weight, t->shift[bin]});
            add_fixed(slice, t, i, bin, weight);
        }
    }
    return (uint32_t)(t->integrator->bins + 1) << t->fraction_bits;
}

static void fill_tile(struct slice *slice, struct table *t, size_t tile)
{
    const airy_integrator *it = t->integrator;
    uint32_t word = (uint32_t)(it->bins + 1) << t->fraction_bits;
    for (size_t group = tile * 32; group < (tile + 1) * 32; group++) {
        uint32_t valid = 0;
        for (size_t k = 0; k < 32; k++) {
            const size_t i = group * 32 + k;
            /* One that does not count has its neighbour's word: no change for a run of bins. */
            if (i < it->pixels && it->valid[i]) {
                valid |= 1u << k;
                word = take_pixel(slice, t, i);
            }
            t->entries[airy_fused_place((uint32_t)i)] = word;
        }
        t->valid_words[group] = valid;
    }
}

/* Tiles [*first, *last) of a slice. */
static void slice_tiles(const struct table *t, size_t slice, size_t *first, size_t *last)
{
    *first = t->tiles * slice / SLICES;
    *last = t->tiles * (slice + 1) / SLICES;
}

static void fill_slice(void *arg, size_t index, unsigned worker)
{
    struct table *t = arg;
    struct slice *slice = &t->slice[index];
    size_t first, last;
    (void)worker;
    slice_tiles(t, index, &first, &last);
    for (size_t tile = first; tile < last; tile++) {
        const size_t before = slice->extra_count;
        fill_tile(slice, t, tile);
        t->extra_start[tile + 1] = (uint32_t)(slice->extra_count - before);
    }
}

/* Finite values: without its sign a float is ordered as its bits are, and integers go by fours. */
static float largest_of(const float *values, size_t first, size_t last)
{
    int32_t most = 0;
    for (size_t i = first; values && i < last; i++) {
        int32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof(largest));
    return largest;
}

static void measure_slice(void *arg, size_t index, unsigned worker)
{
    struct table *t = arg;
    const airy_integrator *it = t->integrator;
    size_t first, last;
    (void)worker;
    slice_tiles(t, index, &first, &last);
    const size_t end = airy_min_size(last * AIRY_FUSED_TILE, it->pixels);
    t->slice[index].norm = largest_of(it->norm, first * AIRY_FUSED_TILE, end);
    t->slice[index].dark = largest_of(it->dark, first * AIRY_FUSED_TILE, end);
}

static void find_largest_values(struct table *t)
{
    const struct airy_cl_integrator *state = t->integrator->state;
    if (state->split) {
        t->norm = state->split->most_norm;
        t->dark = state->split->most_dark;
        return;
    }
    airy_pool_run(t->integrator->device->pool, SLICES, measure_slice, t);
    for (size_t k = 0; k < SLICES; k++) {
        t->norm = fmaxf(t->norm, t->slice[k].norm);
        t->dark = fmaxf(t->dark, t->slice[k].dark);
    }
}

/*
 * Powers of two with which no sum of a plane can reach 2^61: the largest count of a bin times the
 * largest value of a pixel. Rounding 2^32 terms adds less than 2^32. False: out of range.
 */
static bool choose_scales(struct table *t)
{
    const airy_integrator *it = t->integrator;
    const double norm = (double)t->norm, dark = (double)t->dark;
    double count = 0;
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
    fused->extra_count = t->extra_count;
    AIRY_TRY(
        airy_cl_upload(&fused->table, queue, t->entries, t->tiles * AIRY_FUSED_TILE * word, what));
    AIRY_TRY(airy_cl_upload(&fused->valid_words, queue, t->valid_words,
                            (t->tiles * 32 + AIRY_FUSED_VALID_BEHIND) * word, what));
    AIRY_TRY(
        airy_cl_upload(&fused->extra_start, queue, t->extra_start, (t->tiles + 1) * word, what));
    AIRY_TRY(
        airy_cl_upload(&fused->extra, queue, t->extra, t->extra_count * sizeof(*t->extra), what));
    AIRY_TRY(airy_cl_upload(&fused->base, queue, t->base, PLANES * bins * sizeof(*t->base), what));
    return airy_cl_upload(&fused->base_entries, queue, t->base_entries, bins * word, what);
}

static void join_sums(void *arg, size_t piece, unsigned worker)
{
    struct table *t = arg;
    const size_t bins = t->integrator->bins, last = airy_min_size((piece + 1) * PIECE, bins);
    (void)worker;
    for (size_t b = piece * PIECE; b < last; b++) {
        struct bin_sums all = {0};
        for (size_t k = 0; k < SLICES; k++) {
            const struct bin_sums *sums = &t->slice[k].sums[b];
            for (size_t plane = 0; plane < PLANES; plane++)
                all.plane[plane] += sums->plane[plane];
            all.entries += sums->entries;
        }
        for (size_t plane = 0; plane < PLANES; plane++)
            t->base[plane * bins + b] = all.plane[plane];
        t->base_entries[b] = (uint32_t)all.entries;
    }
}

/* What slices found; extra entries in their order. */
static airy_status join_slices(struct table *t)
{
    const size_t bins = t->integrator->bins;
    airy_pool_run(t->integrator->device->pool, (bins + PIECE - 1) / PIECE, join_sums, t);
    for (size_t tile = 0; tile < t->tiles; tile++)
        t->extra_start[tile + 1] += t->extra_start[tile];
    AIRY_TRY(airy_memory_calloc((void **)&t->extra, t->extra_count ? t->extra_count : 1,
                                sizeof(*t->extra), "the pixel table"));
    size_t at = 0;
    for (size_t k = 0; k < SLICES; k++) {
        const struct slice *slice = &t->slice[k];
        if (slice->extra_count)
            memcpy(t->extra + at, slice->extra, slice->extra_count * sizeof(*t->extra));
        at += slice->extra_count;
    }
    return AIRY_OK;
}

/* Units and scales, which host and device count in. */
static airy_status begin_table(struct airy_cl_fused *fused, airy_queue *queue, struct table *t)
{
    const struct airy_cl_integrator *state = t->integrator->state;
    AIRY_TRY(alloc_units(t));
    AIRY_TRY(choose_units(t, state->split ? state->split->largest : NULL));
    find_largest_values(t);
    if (!choose_scales(t)) {
        fused->why = "the corrections are too large or too small for fixed point";
        return AIRY_OK;
    }
    fused->fraction_bits = t->fraction_bits;
    fused->normalization_scale = t->scale[0];
    fused->normalization2_scale = t->scale[1];
    fused->dark_scale = t->scale[2];
    return airy_cl_upload(&fused->shift, queue, t->shift, t->integrator->bins * sizeof(*t->shift),
                          "the pixel table");
}

static airy_status make_table(struct table *t, const char **why)
{
    AIRY_TRY(alloc_table(t));
    airy_pool_run(t->integrator->device->pool, SLICES, fill_slice, t);
    bool negative = false, failed = false;
    for (size_t k = 0; k < SLICES; k++) {
        negative = negative || t->slice[k].negative;
        failed = failed || t->slice[k].failed;
        t->extra_count += t->slice[k].extra_count;
    }
    if (negative) {
        *why = "a pixel has a negative share of a bin";
        return AIRY_OK;
    }
    if (t->extra_count > t->most_extra) {
        *why = AIRY_CL_TOO_MANY_EXTRA;
        return AIRY_OK;
    }
    AIRY_FAIL_IF(failed, AIRY_ERR_MEMORY, "no memory for the pixel table");
    return join_slices(t);
}

static airy_status make_parts(struct airy_cl_fused *fused, airy_queue *queue, const struct table *t)
{
    const airy_parts_geom geom = {.parts = (uint32_t)(t->tiles * AIRY_FUSED_TILE / AIRY_FUSED_PART),
                                  .fraction_bits = t->fraction_bits};
    AIRY_TRY(airy_buffer_create(&fused->parts, queue->device,
                                (size_t)geom.parts * AIRY_PART_WORDS * sizeof(uint32_t),
                                "the pixel table"));
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(fused->table), AIRY_CL_BUFFER(fused->parts),
                                       AIRY_CL_VALUE(geom)};
    const struct airy_cl_kernel_spec spec = {"integrate_table.cl", "integrate_table", ""};
    const size_t parts = geom.parts, group = PARTS_GROUP;
    return airy_cl_launch(queue, &spec, 1, &parts, &group, 0, args, 3);
}

static void release_tables(struct airy_cl_fused *fused)
{
    airy_buffer **const all[] = {&fused->table, &fused->valid_words, &fused->extra_start,
                                 &fused->extra, &fused->base,        &fused->base_entries,
                                 &fused->shift};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        airy_buffer_release(all[i]);
}

airy_status airy_cl_fused_prepare(struct airy_cl_fused *fused, airy_queue *queue,
                                  const airy_integrator *integrator)
{
    const struct airy_cl_integrator *state = integrator->state;
    struct table t = {.integrator = integrator,
                      .fraction_bits = airy_cl_fraction_bits(integrator),
                      .tiles = (integrator->pixels + AIRY_FUSED_TILE - 1) / AIRY_FUSED_TILE,
                      .most_extra = integrator->matrix.entries / EXTRA_PART};
    fused->why = airy_cl_fused_declines(integrator);
    if (fused->why)
        return AIRY_OK;
    airy_status status = begin_table(fused, queue, &t);
    if (status == AIRY_OK && !fused->why && state->split)
        status = airy_cl_split_table(fused, integrator, t.most_extra);
    else if (status == AIRY_OK && !fused->why)
        status = make_table(&t, &fused->why);
    if (status == AIRY_OK && !fused->why && !state->split)
        status = upload_table(fused, queue, &t);
    if (status == AIRY_OK && !fused->why && integrator->pixels <= MAX_PIXELS_TOGETHER)
        status = make_parts(fused, queue, &t);
    if (fused->why)
        release_tables(fused);
    free_table(&t);
    return status;
}
