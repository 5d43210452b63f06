/* The integrator's matrix by bin, for clips and quantiles: ring_pass_geom.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_device.h"
#include "opencl/cl_integrate.h"
#include "shared/ring_pass_geom.h"

enum { SLICE = AIRY_RING_SLICE, ALONE = AIRY_RING_ALONE };
enum {
    CHUNK = 256,        /* bins that a thread copies at a time */
    FEW = 4096,         /* so many small bins have a work-group each: an item would take longer */
    LOCAL_BYTES = 36864 /* of ring_quantile.cl, where items exchange in local memory */
};

static const char what[] = "the matrix by bin";

/* An array of a value an entry. */
enum values { PIXEL, WEIGHT, OTHER, DARK, VARIANCE };

struct build {
    const airy_integrator *it;
    const struct airy_matrix *m; /* by bin */
    uint32_t *count;             /* [bins] entries that take part */
    airy_ring_bin *large, *bins; /* bins: [slices][SLICE] */
    size_t large_count, slices;
    bool all_large; /* each bin has a work-group; for compat's clip all are in one order */
    uint64_t entries;
    uint32_t *values; /* [entries], words of the array in hand */
    enum values which;
};

/* omega is not 0. */
static bool takes_part(const struct build *b, uint32_t e)
{
    const uint32_t entry = b->m->entry[e];
    return b->it->weight[entry] != 0.0f && b->m->coef[entry] != 0.0f;
}

static void count_bins(void *arg, size_t chunk, unsigned worker)
{
    struct build *b = arg;
    (void)worker;
    for (size_t bin = chunk * CHUNK; bin < (chunk + 1) * CHUNK && bin < b->m->bins; bin++)
        for (uint32_t e = b->m->row[bin]; e < b->m->row[bin + 1]; e++)
            b->count[bin] += takes_part(b, e);
}

static bool is_large(const struct build *b, size_t bin)
{
    return b->all_large || b->count[bin] > ALONE;
}

static airy_ring_bin make_bin(const struct build *b, size_t bin, uint64_t first)
{
    return (airy_ring_bin){.scale = airy_integrator_ring_scale(b->it, bin),
                           .first = (uint32_t)first,
                           .count = b->count[bin],
                           .bin = (uint32_t)bin};
}

/* Small bins in descending order of their sizes; those of a slice are as deep as its first. */
static airy_status place_slices(struct build *b, size_t small)
{
    b->slices = (small + SLICE - 1) / SLICE;
    AIRY_TRY(airy_memory_calloc((void **)&b->bins, b->slices * SLICE + 1, sizeof(*b->bins), what));
    size_t start[ALONE + 2] = {0};
    for (size_t bin = 0; bin < b->m->bins; bin++)
        if (!is_large(b, bin))
            start[ALONE - b->count[bin] + 1]++;
    for (size_t k = 0; k <= ALONE; k++)
        start[k + 1] += start[k];
    for (size_t bin = 0; bin < b->m->bins; bin++)
        if (!is_large(b, bin))
            b->bins[start[ALONE - b->count[bin]]++] = make_bin(b, bin, 0);
    for (size_t i = 0; i < b->slices * SLICE; i++) {
        if (i >= small)
            b->bins[i].bin = UINT32_MAX;
        b->bins[i].first = (uint32_t)b->entries + (uint32_t)(i % SLICE);
        if (i % SLICE == SLICE - 1)
            b->entries += (uint64_t)b->bins[i / SLICE * SLICE].count * SLICE;
    }
    return AIRY_OK;
}

static airy_status place_bins(struct build *b)
{
    const size_t bins = b->m->bins;
    const airy_ring_rule *rule = &b->it->ring;
    AIRY_TRY(airy_memory_calloc((void **)&b->count, bins, sizeof(*b->count), what));
    airy_pool_run(b->it->device->pool, (bins + CHUNK - 1) / CHUNK, count_bins, b);
    for (size_t bin = 0; bin < bins; bin++)
        b->large_count += is_large(b, bin);
    if ((rule->compat && rule->kind == AIRY_RING_CLIP) || bins - b->large_count <= FEW) {
        b->all_large = true;
        b->large_count = bins;
    }
    AIRY_TRY(airy_memory_calloc((void **)&b->large, b->large_count + 1, sizeof(*b->large), what));
    size_t large = 0;
    for (size_t bin = 0; bin < bins; bin++)
        if (is_large(b, bin)) {
            b->large[large++] = make_bin(b, bin, b->entries);
            b->entries += b->count[bin];
        }
    AIRY_TRY(place_slices(b, bins - large));
    AIRY_FAIL_IF(b->entries > UINT32_MAX, AIRY_ERR_UNSUPPORTED,
                 "the matrix by bin has %llu entries with what fills it up, expected at most %u",
                 (unsigned long long)b->entries, UINT32_MAX);
    return AIRY_OK;
}

static uint32_t word_of(float f)
{
    union {
        float f;
        uint32_t u;
    } word = {.f = f};
    return word.u;
}

static uint32_t value_of(const struct build *b, uint32_t e)
{
    const airy_integrator *it = b->it;
    const uint32_t entry = b->m->entry[e], pixel = b->m->pixel[e];
    switch (b->which) {
    case PIXEL:
        return pixel;
    case WEIGHT:
        return word_of(it->weight[entry]);
    case OTHER:
        return word_of(it->weight == it->matrix.coef ? it->norm[pixel] : b->m->coef[entry]);
    case DARK:
        return word_of(it->dark[pixel]);
    case VARIANCE:
        break;
    }
    return word_of(it->variance[pixel]);
}

static void copy_bins(void *arg, size_t chunk, unsigned worker)
{
    struct build *b = arg;
    const size_t all = b->large_count + b->slices * SLICE;
    (void)worker;
    for (size_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < all; i++) {
        const bool large = i < b->large_count;
        const airy_ring_bin *bin = large ? &b->large[i] : &b->bins[i - b->large_count];
        uint32_t *to = b->values + bin->first;
        if (bin->bin == UINT32_MAX)
            continue;
        for (uint32_t e = b->m->row[bin->bin]; e < b->m->row[bin->bin + 1]; e++)
            if (takes_part(b, e)) {
                *to = value_of(b, e);
                to += large ? 1 : SLICE;
            }
    }
}

static airy_status upload_values(struct build *b, airy_queue *queue, enum values which,
                                 airy_buffer **buffer)
{
    const size_t all = b->large_count + b->slices * SLICE;
    b->which = which;
    airy_pool_run(b->it->device->pool, (all + CHUNK - 1) / CHUNK, copy_bins, b);
    return airy_cl_upload(buffer, queue, b->values, (size_t)b->entries * sizeof(*b->values), what);
}

/* A bit a pixel that counts. */
static airy_status upload_valid(const struct build *b, airy_queue *queue, airy_buffer **buffer)
{
    const size_t pixels = b->it->pixels, words = (pixels + 31) / 32;
    uint32_t *valid;
    AIRY_TRY(airy_memory_calloc((void **)&valid, words, sizeof(*valid), what));
    for (size_t i = 0; i < pixels; i++)
        valid[i / 32] |= (b->it->valid[i] ? 1u : 0u) << (i % 32);
    const airy_status status = airy_cl_upload(buffer, queue, valid, words * sizeof(*valid), what);
    free(valid);
    return status;
}

static airy_status make_table(struct airy_cl_rings *rings, airy_queue *queue, struct build *b)
{
    AIRY_TRY(place_bins(b));
    rings->large = b->large_count;
    rings->slices = b->slices;
    rings->entries = (size_t)b->entries;
    AIRY_TRY(airy_cl_upload(&rings->large_bins, queue, b->large, b->large_count * sizeof(*b->large),
                            what));
    AIRY_TRY(
        airy_cl_upload(&rings->bins, queue, b->bins, b->slices * SLICE * sizeof(*b->bins), what));
    AIRY_TRY(
        airy_memory_calloc((void **)&b->values, (size_t)b->entries + 1, sizeof(*b->values), what));
    AIRY_TRY(upload_valid(b, queue, &rings->valid));
    AIRY_TRY(upload_values(b, queue, PIXEL, &rings->pixel));
    AIRY_TRY(upload_values(b, queue, WEIGHT, &rings->weight));
    AIRY_TRY(upload_values(b, queue, OTHER, &rings->other));
    if (b->it->dark)
        AIRY_TRY(upload_values(b, queue, DARK, &rings->dark));
    if (b->it->variance)
        AIRY_TRY(upload_values(b, queue, VARIANCE, &rings->variance));
    return airy_queue_finish(queue);
}

airy_status airy_cl_rings_prepare(struct airy_cl_rings *rings, airy_queue *queue,
                                  const airy_integrator *integrator)
{
    const airy_device *device = integrator->device;
    AIRY_FAIL_ON_IF(integrator->ring.kind == AIRY_RING_QUANTILE &&
                        !airy_cl_device(device)->int64_atomics,
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DEVICE,
                    "device '%s' has no 64-bit integer atomics, which quantiles by bin need",
                    device->info.spec);
    AIRY_FAIL_ON_IF(
        device->info.local_mem < LOCAL_BYTES, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DEVICE,
        "device '%s' has %llu bytes of local memory, clips and quantiles by bin need %u",
        device->info.spec, (unsigned long long)device->info.local_mem, LOCAL_BYTES);
    struct airy_matrix m = integrator->matrix;
    struct build b = {.it = integrator, .m = &m};
    AIRY_TRY(airy_matrix_by_bin(&m, integrator->device->pool));
    const airy_status status = make_table(rings, queue, &b);
    free(b.count);
    free(b.large);
    free(b.bins);
    free(b.values);
    if (!integrator->matrix.row) {
        free(m.row);
        airy_memory_release(m.pixel);
        airy_memory_release(m.entry);
    }
    return status;
}
