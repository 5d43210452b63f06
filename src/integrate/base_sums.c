#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/memory_shared.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrator.h"

/* Two planes side by side; airy_double_double_add of both. */
typedef double pair __attribute__((vector_size(16)));
enum { PAIRS = (AIRY_BASE_PLANES + 1) / 2 };

/*
 * A bin's sums: of pixels of even and of odd number, since neighbours share bins and one addition
 * would wait for the other.
 */
struct bin {
    pair hi[2][PAIRS], lo[2][PAIRS];
    uint64_t entries;
};

/*
 * The pixels are summed in slices whose number depends on the matrix alone, and the slices in
 * order.
 */
struct sums {
    const airy_integrator *it;
    struct bin *bins; /* [slices][bins] */
    size_t slices;
    bool more; /* planes behind the count are not 0 */
    double *block;
};

static inline void add_pair(pair *hi, pair *lo, pair x)
{
    const pair s = *hi + x, rounded = s - *hi;
    const pair e = ((*hi - (s - rounded)) + (x - rounded)) + *lo;
    *hi = s + e;
    *lo = e - (*hi - s);
}

static inline void sum_pixels(struct bin *bins, const airy_integrator *it, size_t first,
                              size_t last, const int pairs)
{
    const struct airy_matrix *m = &it->matrix;
    for (size_t i = first; i < last; i++) {
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
            struct bin *bin = &bins[m->bin[e]];
            pair *hi = bin->hi[i % 2], *lo = bin->lo[i % 2];
            double terms[2 * PAIRS] = {0};
            airy_base_terms(terms, it, i, e);
            for (int k = 0; k < pairs; k++)
                add_pair(&hi[k], &lo[k], (pair){terms[2 * k], terms[2 * k + 1]});
            bin->entries++;
        }
    }
}

static void sum_slice(void *arg, size_t slice, unsigned worker)
{
    const struct sums *s = arg;
    const size_t pixels = s->it->pixels, first = pixels * slice / s->slices,
                 last = pixels * (slice + 1) / s->slices;
    struct bin *bins = s->bins + slice * s->it->bins;
    (void)worker;
    memset(bins, 0, s->it->bins * sizeof *bins);
    if (s->more)
        sum_pixels(bins, s->it, first, last, PAIRS);
    else
        sum_pixels(bins, s->it, first, last, PAIRS - 1);
}

enum { PIECE = 64 };

/* PIECE bins: their slices in order. */
static void join_slices(void *arg, size_t piece, unsigned worker)
{
    const struct sums *s = arg;
    const airy_integrator *it = s->it;
    const size_t n = it->bins;
    (void)worker;
    for (size_t b = piece * PIECE; b < n && b < (piece + 1) * PIECE; b++) {
        pair hi[PAIRS] = {0}, lo[PAIRS] = {0};
        for (size_t slice = 0; slice < s->slices; slice++) {
            const struct bin *bin = &s->bins[slice * n + b];
            for (int k = 0; k < 2 * PAIRS && bin->entries; k++) {
                add_pair(&hi[k / 2], &lo[k / 2], bin->hi[k % 2][k / 2]);
                add_pair(&hi[k / 2], &lo[k / 2], bin->lo[k % 2][k / 2]);
            }
            it->base_entries[b] += (uint32_t)bin->entries;
        }
        for (int k = 0; k < AIRY_BASE_PLANES; k++) {
            s->block[(size_t)k * n + b] = hi[k / 2][k % 2];
            it->base_low[(size_t)k * n + b] = lo[k / 2][k % 2];
        }
    }
}

airy_status airy_base_sums_alloc(airy_integrator *it)
{
    static const char what[] = "the sums";
    const size_t n = it->bins;
    double *block = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&block, 2 * AIRY_BASE_PLANES * n, sizeof *block, what));
    it->base_normalization = block + AIRY_BASE_NORMALIZATION * n;
    it->base_normalization2 = block + AIRY_BASE_NORMALIZATION2 * n;
    it->base_count = block + AIRY_BASE_COUNT * n;
    it->base_dark = block + AIRY_BASE_DARK * n;
    it->base_variance = block + AIRY_BASE_VARIANCE * n;
    it->base_low = block + AIRY_BASE_PLANES * n;
    return airy_memory_calloc((void **)&it->base_entries, n, sizeof *it->base_entries, what);
}

airy_status airy_base_sums_make(airy_integrator *it)
{
    const size_t n = it->bins, most = (size_t)64 << 20; /* bytes */
    AIRY_TRY(airy_base_sums_alloc(it));
    struct sums s = {.it = it,
                     .more = it->dark || it->variance ||
                             it->params.error_model == AIRY_ERROR_MODEL_POISSON,
                     .block = it->base_normalization};
    s.slices = airy_min_size(airy_max_size(it->pixels / 65536, 1),
                             airy_max_size(most / (n * sizeof *s.bins), 1));
    s.slices = airy_min_size(s.slices, 64);
    size_t size;
    AIRY_FAIL_IF(airy_mul_size(&size, s.slices * sizeof *s.bins, n), AIRY_ERR_MEMORY,
                 "the sums of %zu bins do not fit the address space", n);
    AIRY_TRY(airy_memory_alloc_shared((void **)&s.bins, size, it->device->pool));
    airy_pool_run(it->device->pool, s.slices, sum_slice, &s);
    airy_pool_run(it->device->pool, (n + PIECE - 1) / PIECE, join_slices, &s);
    airy_memory_release(s.bins);
    return AIRY_OK;
}
