/* The integrator's matrix in the form the CPU kernels walk. */
#include "cpu/cpu_integrate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"

/*
 * Partial sums have a row for each bin of each slice. Above this many rows there are fewer slices, so that a frame's partial sums stay
 * below 16 MiB (two planes) whatever the number of bins; the number of slices depends on pixels and bins alone.
 */
#define MAX_ROWS ((size_t)1 << 20)

static size_t count_slices(size_t pixels, size_t bins)
{
    const size_t steps = (pixels + AIRY_SLICE_STEP - 1) / AIRY_SLICE_STEP;
    const size_t by_bins = airy_max_size(MAX_ROWS / bins, 1);
    return airy_min_size(airy_min_size(steps, by_bins), AIRY_MAX_SLICES);
}

static void make_slices(struct airy_cpu_matrix *m, const struct airy_matrix *general)
{
    const size_t steps = (general->pixels + AIRY_SLICE_STEP - 1) / AIRY_SLICE_STEP;
    m->slices = count_slices(general->pixels, general->bins);
    for (size_t s = 0; s < m->slices; s++) {
        struct airy_slice *slice = &m->slice[s];
        slice->pixel = steps * s / m->slices * AIRY_SLICE_STEP;
        const size_t end = airy_min_size(steps * (s + 1) / m->slices * AIRY_SLICE_STEP, general->pixels);
        slice->pixels = end - slice->pixel;
        size_t lo = general->bins, hi = 0;
        for (uint32_t e = general->start[slice->pixel]; e < general->start[end]; e++) {
            lo = airy_min_size(lo, general->bin[e]);
            hi = airy_max_size(hi, (size_t)general->bin[e] + 1);
        }
        slice->bin_lo = lo < hi ? lo : 0;
        slice->bin_count = lo < hi ? hi - lo : 0;
        slice->row = m->rows;
        m->rows += slice->bin_count + AIRY_MAX_PER_PIXEL;
    }
}

/* Consecutive bins, at most per_pixel of them, and the offset in 16 bits. */
static bool pixel_is_regular(const struct airy_matrix *general, size_t pixel, size_t bin_lo, unsigned per_pixel)
{
    const uint32_t first = general->start[pixel], count = general->start[pixel + 1] - first;
    if (count > per_pixel)
        return false;
    for (uint32_t e = 1; e < count; e++)
        if (general->bin[first + e] != general->bin[first] + e)
            return false;
    return count == 0 || general->bin[first] - bin_lo <= UINT16_MAX;
}

static enum airy_group_kind group_kind(const struct airy_matrix *general, const struct airy_slice *slice, size_t group,
                                       unsigned per_pixel)
{
    const size_t begin = group * AIRY_GROUP, end = airy_min_size(begin + AIRY_GROUP, general->pixels);
    if (general->start[begin] == general->start[end])
        return AIRY_GROUP_EMPTY;
    for (size_t i = begin; i < end; i++)
        if (!pixel_is_regular(general, i, slice->bin_lo, per_pixel))
            return AIRY_GROUP_ANY;
    return AIRY_GROUP_COMPACT;
}

/* Sets every group's kind; returns how many groups only the general matrix can serve. */
static size_t set_kinds(struct airy_cpu_matrix *m, const struct airy_matrix *general, unsigned per_pixel)
{
    size_t any = 0;
    for (size_t s = 0; s < m->slices; s++) {
        const struct airy_slice *slice = &m->slice[s];
        for (size_t g = slice->pixel / AIRY_GROUP; g * AIRY_GROUP < slice->pixel + slice->pixels; g++) {
            m->kind[g] = (uint8_t)group_kind(general, slice, g, per_pixel);
            any += m->kind[g] == AIRY_GROUP_ANY;
        }
    }
    return any;
}

/* The last pixels of a compact group that has fewer than AIRY_GROUP, and those without entries, keep bin 0 and weight 0. */
static void fill_compact(struct airy_cpu_matrix *m, const struct airy_matrix *general, const float *weight)
{
    for (size_t s = 0; s < m->slices; s++) {
        const struct airy_slice *slice = &m->slice[s];
        uint16_t bin = 0;
        for (size_t i = slice->pixel; i < slice->pixel + slice->pixels; i++) {
            const uint32_t first = general->start[i], count = general->start[i + 1] - first;
            if (m->kind[i / AIRY_GROUP] != AIRY_GROUP_COMPACT)
                continue;
            if (count)
                bin = (uint16_t)(general->bin[first] - slice->bin_lo);
            m->bin[i] = bin;
            for (uint32_t e = 0; e < count; e++)
                m->weight[i * m->per_pixel + e] = weight[first + e];
        }
    }
}

static airy_status make_compact(struct airy_cpu_matrix *m, uint64_t *bytes, const airy_integrator *integrator)
{
    const struct airy_matrix *general = &integrator->matrix;
    size_t any = 0;
    for (m->per_pixel = 1; m->per_pixel <= AIRY_MAX_PER_PIXEL; m->per_pixel++) {
        any = set_kinds(m, general, m->per_pixel);
        if (any <= m->groups / 64)
            break;
    }
    if (m->per_pixel > AIRY_MAX_PER_PIXEL) {
        /* Fast for most groups is better than for none. */
        m->per_pixel = AIRY_MAX_PER_PIXEL;
        if (any > m->groups / 2) {
            m->per_pixel = 0;
            (void)set_kinds(m, general, 0);
            return AIRY_OK;
        }
    }
    const size_t pixels = m->groups * AIRY_GROUP;
    AIRY_TRY(airy_memory_calloc((void **)&m->bin, pixels, sizeof(*m->bin), "the compact matrix"));
    AIRY_TRY(airy_memory_calloc((void **)&m->weight, pixels, m->per_pixel * sizeof(*m->weight), "the compact matrix"));
    fill_compact(m, general, integrator->weight);
    *bytes += pixels * (sizeof(*m->bin) + m->per_pixel * sizeof(*m->weight));
    return AIRY_OK;
}

airy_status airy_cpu_matrix_make(struct airy_cpu_matrix **matrix, uint64_t *bytes, const airy_integrator *integrator)
{
    struct airy_cpu_matrix *m = NULL;
    airy_status status;
    *bytes = sizeof(*m);
    AIRY_TRY(airy_memory_calloc((void **)&m, 1, sizeof(*m), "the matrix"));
    m->groups = (integrator->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&m->kind, m->groups, sizeof(*m->kind), "the matrix"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&m->valid, m->groups, sizeof(*m->valid), "the valid bits"));
    *bytes += m->groups * (sizeof(*m->kind) + sizeof(*m->valid));
    for (size_t i = 0; i < integrator->pixels; i++)
        m->valid[i / AIRY_GROUP] |= (uint16_t)((integrator->valid[i] != 0) << i % AIRY_GROUP);
    make_slices(m, &integrator->matrix);
    AIRY_TRY_OR(out, make_compact(m, bytes, integrator));
    *matrix = m;
    return AIRY_OK;
out:
    airy_cpu_matrix_free(&m);
    return status;
}

void airy_cpu_matrix_free(struct airy_cpu_matrix **matrix)
{
    struct airy_cpu_matrix *m = *matrix;
    if (m) {
        airy_memory_release(m->kind);
        airy_memory_release(m->valid);
        airy_memory_release(m->bin);
        airy_memory_release(m->weight);
        airy_memory_release(m);
    }
    *matrix = NULL;
}
