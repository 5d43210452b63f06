/* The integrator's matrix in the form the CPU kernels walk. */
#include "cpu/cpu_integrate.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"
#include "cpu/cpu_rings.h"

/*
 * Partial sums have a row for each bin of each slice. Above this many rows there are fewer slices,
 * so that a frame's partial sums stay below 16 MiB (two planes) whatever the number of bins; the
 * number of slices depends on pixels and bins alone.
 */
#define MAX_ROWS ((size_t)1 << 20)

static size_t count_slices(size_t pixels, size_t bins)
{
    const size_t steps = (pixels + AIRY_SLICE_STEP - 1) / AIRY_SLICE_STEP;
    const size_t by_bins = airy_max_size(MAX_ROWS / bins, 1);
    return airy_min_size(airy_min_size(steps, by_bins), AIRY_MAX_SLICES);
}

/* What the loops over slices share. */
struct make {
    struct airy_cpu_matrix *m;
    const airy_integrator *integrator;
    /*
     * Groups of a slice whose pixels need so many entries each, the last: more, or not of
     * consecutive bins.
     */
    size_t needs[AIRY_MAX_SLICES][AIRY_MAX_PER_PIXEL + 2];
};

static void cut_slice(struct airy_slice *slice, const struct make *make, size_t index)
{
    const struct airy_matrix *general = &make->integrator->matrix;
    const size_t steps = (general->pixels + AIRY_SLICE_STEP - 1) / AIRY_SLICE_STEP,
                 slices = make->m->slices;
    slice->pixel = steps * index / slices * AIRY_SLICE_STEP;
    const size_t end =
        airy_min_size(steps * (index + 1) / slices * AIRY_SLICE_STEP, general->pixels);
    slice->pixels = end - slice->pixel;
    uint32_t lo = UINT32_MAX, hi = 0;
    for (uint32_t e = general->start[slice->pixel]; e < general->start[end]; e++) {
        lo = general->bin[e] < lo ? general->bin[e] : lo;
        hi = general->bin[e] > hi ? general->bin[e] : hi;
    }
    slice->bin_lo = lo <= hi ? lo : 0;
    slice->bin_count = lo <= hi ? (size_t)hi - lo + 1 : 0;
}

/*
 * Entries that each pixel of a group needs in the compact matrix; AIRY_MAX_PER_PIXEL + 1 where it
 * cannot be there.
 */
static unsigned group_needs(const struct airy_matrix *general, const struct airy_slice *slice,
                            size_t group)
{
    const size_t begin = group * AIRY_GROUP,
                 end = airy_min_size(begin + AIRY_GROUP, general->pixels);
    uint32_t most = 0;
    for (size_t i = begin; i < end; i++) {
        const uint32_t first = general->start[i], count = general->start[i + 1] - first;
        if (count > AIRY_MAX_PER_PIXEL ||
            (count && general->bin[first] - slice->bin_lo > UINT16_MAX))
            return AIRY_MAX_PER_PIXEL + 1;
        for (uint32_t e = 1; e < count; e++)
            if (general->bin[first + e] != general->bin[first] + e)
                return AIRY_MAX_PER_PIXEL + 1;
        most = count > most ? count : most;
    }
    return most;
}

/* The slice itself, its valid bits, and in kind[] what each group needs. */
static void look_at_slice(void *arg, size_t index, unsigned worker)
{
    struct make *make = arg;
    struct airy_cpu_matrix *m = make->m;
    struct airy_slice *slice = &m->slice[index];
    (void)worker;
    cut_slice(slice, make, index);
    for (size_t i = slice->pixel; i < slice->pixel + slice->pixels; i++)
        m->valid[i / AIRY_GROUP] |= (uint16_t)((make->integrator->valid[i] != 0) << i % AIRY_GROUP);
    for (size_t g = slice->pixel / AIRY_GROUP; g * AIRY_GROUP < slice->pixel + slice->pixels; g++) {
        m->kind[g] = (uint8_t)group_needs(&make->integrator->matrix, slice, g);
        make->needs[index][m->kind[g]]++;
    }
}

/*
 * The fewest entries a pixel that serve all groups but one in 64; the most that there are if at
 * least half of the groups can be served; else 0.
 */
static unsigned choose_per_pixel(const struct make *make)
{
    const size_t groups = make->m->groups;
    size_t left = groups;
    for (unsigned n = 0; n <= AIRY_MAX_PER_PIXEL; n++) {
        for (size_t s = 0; s < make->m->slices; s++)
            left -= make->needs[s][n];
        if (n > 0 && left <= groups / 64)
            return n;
    }
    return left <= groups / 2 ? AIRY_MAX_PER_PIXEL : 0;
}

/*
 * kind[] from what groups need to what they are, and the compact matrix. Pixels without entries,
 * and those behind the frame's end, have weight 0.
 */
static void fill_slice(void *arg, size_t index, unsigned worker)
{
    const struct make *make = arg;
    struct airy_cpu_matrix *m = make->m;
    const struct airy_matrix *general = &make->integrator->matrix;
    const struct airy_slice *slice = &m->slice[index];
    const size_t end = slice->pixel + slice->pixels, padded = airy_align_up(end, AIRY_GROUP);
    uint16_t bin = 0;
    (void)worker;
    if (m->per_pixel) {
        memset(m->bin + slice->pixel, 0, (padded - slice->pixel) * sizeof(*m->bin));
        memset(m->weight + slice->pixel * m->per_pixel, 0,
               (padded - slice->pixel) * m->per_pixel * sizeof(*m->weight));
    }
    for (size_t i = slice->pixel; i < end; i++) {
        const uint32_t first = general->start[i], count = general->start[i + 1] - first;
        uint8_t *kind = &m->kind[i / AIRY_GROUP];
        if (i % AIRY_GROUP == 0)
            *kind = *kind == 0              ? AIRY_GROUP_EMPTY
                    : *kind <= m->per_pixel ? AIRY_GROUP_COMPACT
                                            : AIRY_GROUP_ANY;
        if (*kind != AIRY_GROUP_COMPACT)
            continue;
        if (count)
            bin = (uint16_t)(general->bin[first] - slice->bin_lo);
        m->bin[i] = bin;
        for (uint32_t e = 0; e < count; e++)
            m->weight[i * m->per_pixel + e] = make->integrator->weight[first + e];
    }
}

static airy_status fill_matrix(struct airy_cpu_matrix *m, uint64_t *bytes,
                               const airy_integrator *integrator)
{
    airy_pool *pool = integrator->device->pool;
    struct make *make = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&m->kind, m->groups, sizeof(*m->kind), "the matrix"));
    AIRY_TRY(
        airy_memory_calloc((void **)&m->valid, m->groups, sizeof(*m->valid), "the valid bits"));
    AIRY_TRY(airy_memory_calloc((void **)&make, 1, sizeof(*make), "the matrix"));
    *make = (struct make){.m = m, .integrator = integrator};
    airy_pool_run(pool, m->slices, look_at_slice, make);
    for (size_t s = 0; s < m->slices; s++) {
        m->slice[s].row = m->rows;
        m->rows += m->slice[s].bin_count + AIRY_MAX_PER_PIXEL;
    }
    m->per_pixel = choose_per_pixel(make);
    const size_t pixels = m->groups * AIRY_GROUP, weights = pixels * m->per_pixel;
    airy_status status = AIRY_OK;
    if (m->per_pixel) { /* 6 entries each of fewer than 2^32 pixels */
        AIRY_TRY_OR(out, airy_memory_alloc((void **)&m->bin, pixels * sizeof(*m->bin)));
        AIRY_TRY_OR(out, airy_memory_alloc((void **)&m->weight, weights * sizeof(*m->weight)));
        *bytes += pixels * sizeof(*m->bin) + weights * sizeof(*m->weight);
    }
    airy_pool_run(pool, m->slices, fill_slice, make);
    *bytes += m->groups * (sizeof(*m->kind) + sizeof(*m->valid));
out:
    airy_memory_release(make);
    return status;
}

airy_status airy_cpu_matrix_make(struct airy_cpu_matrix **matrix, uint64_t *bytes,
                                 const airy_integrator *integrator)
{
    struct airy_cpu_matrix *m = NULL;
    *bytes = sizeof(*m);
    AIRY_TRY(airy_memory_calloc((void **)&m, 1, sizeof(*m), "the matrix"));
    m->groups = (integrator->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
    m->slices = count_slices(integrator->pixels, integrator->bins);
    const airy_status status = fill_matrix(m, bytes, integrator);
    if (status != AIRY_OK) {
        airy_cpu_matrix_free(&m);
        return status;
    }
    *matrix = m;
    return AIRY_OK;
}

void airy_cpu_matrix_free(struct airy_cpu_matrix **matrix)
{
    struct airy_cpu_matrix *m = *matrix;
    if (m) {
        airy_cpu_rings_free(&m->rings);
        airy_memory_release(m->kind);
        airy_memory_release(m->valid);
        airy_memory_release(m->bin);
        airy_memory_release(m->weight);
        airy_memory_release(m);
    }
    *matrix = NULL;
}
