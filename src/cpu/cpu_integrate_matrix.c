/* The integrator's matrix in the form the CPU kernels walk. */
#include "cpu/cpu_integrate.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"
#include "cpu/cpu_rings.h"

/*
 * Partial sums have a row for each bin between the lowest and the highest of a slice. Above this
 * many rows there are rows only for the bins that a slice has. The number of slices depends on the
 * pixels alone.
 */
#define MAX_ROWS ((size_t)1 << 20)

static size_t count_slices(size_t pixels)
{
    const size_t steps = (pixels + AIRY_SLICE_STEP - 1) / AIRY_SLICE_STEP;
    return airy_min_size(steps, AIRY_MAX_SLICES);
}

/* Pieces of the merge. */
static size_t count_pieces(const airy_integrator *integrator)
{
    return (integrator->bins + AIRY_MERGE_BINS - 1) / AIRY_MERGE_BINS;
}

/* 64 bins: those that a slice has, and how many there are in the words before. */
struct seen {
    uint64_t bins;
    uint32_t before;
};

/* What the loops over slices share. */
struct make {
    struct airy_cpu_matrix *m;
    const airy_integrator *integrator;
    struct seen *seen; /* [pool size][words], where rows are cells */
    size_t words;      /* of 64 bins; a piece of the merge is two of them */
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

/* The slice's rows are its bins: number them, and place its entries. */
static void find_cells(struct make *make, struct airy_slice *slice, size_t index, unsigned worker)
{
    const struct airy_matrix *general = &make->integrator->matrix;
    const uint32_t begin = general->start[slice->pixel],
                   end = general->start[slice->pixel + slice->pixels];
    const size_t pieces = count_pieces(make->integrator);
    struct seen *seen = make->seen + worker * make->words;
    uint32_t *below = make->m->below + index * (pieces + 1), rows = 0;
    memset(seen, 0, make->words * sizeof(*seen));
    for (uint32_t e = begin; e < end; e++)
        seen[general->bin[e] / 64].bins |= (uint64_t)1 << general->bin[e] % 64;
    for (size_t w = 0; w < make->words; w++) {
        if (w * 64 % AIRY_MERGE_BINS == 0)
            below[w * 64 / AIRY_MERGE_BINS] = rows;
        seen[w].before = rows;
        rows += (uint32_t)__builtin_popcountll(seen[w].bins);
    }
    below[pieces] = rows;
    for (uint32_t e = begin; e < end; e++) {
        const struct seen *word = &seen[general->bin[e] / 64];
        const uint64_t lower = word->bins & (((uint64_t)1 << general->bin[e] % 64) - 1);
        make->m->place[e] = word->before + (uint32_t)__builtin_popcountll(lower);
    }
    slice->bin_lo = 0;
    slice->bin_count = rows;
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
    cut_slice(slice, make, index);
    if (m->place)
        find_cells(make, slice, index, worker);
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
    for (uint32_t e = general->start[slice->pixel]; m->cell && e < general->start[end]; e++)
        m->cell[slice->row + m->place[e]] = general->bin[e];
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

/* Where rows are cells: what look_at_slice fills. */
static airy_status take_cells(struct make *make, uint64_t *bytes)
{
    struct airy_cpu_matrix *m = make->m;
    const airy_integrator *it = make->integrator;
    const size_t entries = it->matrix.start[it->pixels], below = m->slices * (count_pieces(it) + 1);
    make->words = count_pieces(it) * (AIRY_MERGE_BINS / 64);
    AIRY_TRY(airy_memory_calloc((void **)&m->place, entries + 1, sizeof(*m->place), "the cells"));
    AIRY_TRY(airy_memory_calloc((void **)&m->below, below, sizeof(*m->below), "the cells"));
    *bytes += entries * sizeof(*m->place) + below * sizeof(*m->below);
    return airy_memory_calloc((void **)&make->seen, airy_pool_size(it->device->pool) * make->words,
                              sizeof(*make->seen), "the cells");
}

static airy_status fill_matrix(struct airy_cpu_matrix *m, uint64_t *bytes,
                               const airy_integrator *integrator)
{
    airy_pool *pool = integrator->device->pool;
    struct make *make = NULL;
    airy_status status = AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&m->kind, m->groups, sizeof(*m->kind), "the matrix"));
    AIRY_TRY(
        airy_memory_calloc((void **)&m->valid, m->groups, sizeof(*m->valid), "the valid bits"));
    AIRY_TRY(airy_memory_calloc((void **)&make, 1, sizeof(*make), "the matrix"));
    *make = (struct make){.m = m, .integrator = integrator};
    if (m->slices * integrator->bins > MAX_ROWS)
        AIRY_TRY_OR(out, take_cells(make, bytes));
    airy_pool_run(pool, m->slices, look_at_slice, make);
    for (size_t s = 0; s < m->slices; s++) {
        m->slice[s].row = m->rows;
        m->rows += m->slice[s].bin_count + AIRY_MAX_PER_PIXEL;
    }
    if (m->place) {
        AIRY_TRY_OR(out,
                    airy_memory_calloc((void **)&m->cell, m->rows, sizeof(*m->cell), "the cells"));
        *bytes += m->rows * sizeof(*m->cell);
    } else {
        m->per_pixel = choose_per_pixel(make);
    }
    const size_t pixels = m->groups * AIRY_GROUP, weights = pixels * m->per_pixel;
    if (m->per_pixel) { /* 6 entries each of fewer than 2^32 pixels */
        AIRY_TRY_OR(out, airy_memory_alloc((void **)&m->bin, pixels * sizeof(*m->bin)));
        AIRY_TRY_OR(out, airy_memory_alloc((void **)&m->weight, weights * sizeof(*m->weight)));
        *bytes += pixels * sizeof(*m->bin) + weights * sizeof(*m->weight);
    }
    airy_pool_run(pool, m->slices, fill_slice, make);
    *bytes += m->groups * (sizeof(*m->kind) + sizeof(*m->valid));
out:
    airy_memory_release(make->seen);
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
    m->slices = count_slices(integrator->pixels);
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
        airy_memory_release(m->cell);
        airy_memory_release(m->place);
        airy_memory_release(m->below);
        airy_memory_release(m);
    }
    *matrix = NULL;
}
