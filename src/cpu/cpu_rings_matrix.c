/* The integrator's matrix in the form that rings are gathered by. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"
#include "cpu/cpu_rings.h"

/* Entries of a run of bins, at least, so that a frame is work for many threads. */
#define CHUNK ((size_t)1 << 15)

struct fill {
    struct airy_cpu_rings *rings;
    const airy_integrator *integrator;
};

static void fill_chunk(void *arg, size_t index, unsigned worker)
{
    const struct fill *fill = arg;
    const airy_integrator *it = fill->integrator;
    const struct airy_matrix *m = &it->matrix;
    struct airy_cpu_rings *rings = fill->rings;
    (void)worker;
    const size_t first = m->row[rings->chunk[index]], last = m->row[rings->chunk[index + 1]];
    for (size_t j = first; j < last; j++) {
        const uint32_t e = m->entry[j];
        rings->weight[j] = it->weight[e];
        rings->factor[j] = it->params.unweighted ? m->coef[e] : it->norm[m->pixel[j]];
    }
}

/* Runs of bins; count only where chunk is NULL. */
static size_t cut_chunks(uint32_t *chunk, const struct airy_matrix *m)
{
    size_t chunks = 0, first = 0;
    for (size_t b = 0; b < m->bins; b++) {
        if (b + 1 < m->bins && m->row[b + 1] - m->row[first] < CHUNK)
            continue;
        if (chunk)
            chunk[chunks + 1] = (uint32_t)(b + 1);
        chunks++;
        first = b + 1;
    }
    return chunks;
}

static airy_status fill_rings(struct airy_cpu_rings *rings, uint64_t *bytes,
                              const airy_integrator *integrator)
{
    const struct airy_matrix *m = &integrator->matrix;
    rings->chunks = cut_chunks(NULL, m);
    AIRY_TRY(airy_memory_calloc((void **)&rings->chunk, rings->chunks + 1, sizeof(*rings->chunk),
                                "the matrix by bin"));
    cut_chunks(rings->chunk, m);
    for (size_t b = 0; b < m->bins; b++)
        rings->most = airy_max_size(rings->most, m->row[b + 1] - m->row[b]);
    /* Vectors reach beyond the last entry. */
    const size_t size = (m->entries + AIRY_RING_LANES) * sizeof(*rings->weight);
    AIRY_TRY(airy_memory_alloc((void **)&rings->weight, size));
    AIRY_TRY(airy_memory_alloc((void **)&rings->factor, size));
    memset(rings->weight + m->entries, 0, AIRY_RING_LANES * sizeof(*rings->weight));
    memset(rings->factor + m->entries, 0, AIRY_RING_LANES * sizeof(*rings->factor));
    struct fill fill = {.rings = rings, .integrator = integrator};
    airy_pool_run(integrator->device->pool, rings->chunks, fill_chunk, &fill);
    rings->ones = integrator->params.split == AIRY_SPLIT_NO;
    for (size_t e = 0; e < m->entries && rings->ones; e++)
        rings->ones = m->coef[e] == 1.0f;
    for (size_t e = 0; e < m->entries && !rings->zeros; e++)
        rings->zeros = m->coef[e] == 0.0f || integrator->weight[e] == 0.0f;
    *bytes += sizeof(*rings) + (rings->chunks + 1) * sizeof(*rings->chunk) + 2 * size;
    return AIRY_OK;
}

airy_status airy_cpu_rings_make(struct airy_cpu_rings **rings, uint64_t *bytes,
                                const airy_integrator *integrator)
{
    struct airy_cpu_rings *r = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&r, 1, sizeof(*r), "the matrix by bin"));
    const airy_status status = fill_rings(r, bytes, integrator);
    if (status != AIRY_OK) {
        airy_cpu_rings_free(&r);
        return status;
    }
    *rings = r;
    return AIRY_OK;
}

void airy_cpu_rings_free(struct airy_cpu_rings **rings)
{
    struct airy_cpu_rings *r = *rings;
    if (r) {
        airy_memory_release(r->weight);
        airy_memory_release(r->factor);
        airy_memory_release(r->chunk);
        airy_memory_release(r);
    }
    *rings = NULL;
}
