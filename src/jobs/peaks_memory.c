#include "jobs/peaks_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct listed {
    int64_t frame;
    airy_peak peak;
};

void airy_peaks_memory_begin(struct airy_peaks_memory *m, airy_dtype dtype,
                             const airy_integrator *integrator, uint64_t limit)
{
    *m = (struct airy_peaks_memory){.dtype = dtype,
                                    .integrator = integrator,
                                    .bins = airy_integrator_bins(integrator),
                                    .limit = limit};
}

/* Room for more bytes at the end; NULL data are NaN. */
static airy_status append(struct airy_peaks_memory *m, struct airy_growing *list, const void *data,
                          size_t size)
{
    const size_t wanted = list->used + size;
    if (wanted > list->room) {
        const size_t room = wanted + wanted / 2;
        m->bytes += room - list->room;
        AIRY_FAIL_ON_IF(m->limit && m->bytes > m->limit, AIRY_ERR_MEMORY, AIRY_SUBJECT_PARAMETER,
                        "%s: the sparse frames take %llu bytes so far; name an output, which takes "
                        "them as they come",
                        "memory-limit", (unsigned long long)m->bytes);
        void *grown = realloc(list->data, room);
        AIRY_FAIL_IF(!grown, AIRY_ERR_MEMORY, "out of memory for %zu bytes of sparse frames", room);
        list->data = grown;
        list->room = room;
    }
    if (data && size)
        memcpy((char *)list->data + list->used, data, size);
    list->used = wanted;
    return AIRY_OK;
}

/* NaN of a bad frame. */
static airy_status append_curve(struct airy_peaks_memory *m, struct airy_growing *list,
                                const float *curve)
{
    const size_t before = list->used;
    AIRY_TRY(append(m, list, curve, m->bins * sizeof(float)));
    for (size_t i = 0; !curve && i < m->bins; i++)
        ((float *)list->data)[before / sizeof(float) + i] = NAN;
    return AIRY_OK;
}

static airy_status take_frame(struct airy_peaks_memory *m, const airy_sparse_frame *f)
{
    const uint64_t begin = m->index.used / sizeof(uint32_t), end = begin + f->pixels;
    if (m->frames == 0)
        AIRY_TRY(append(m, &m->ptr, &begin, sizeof(begin)));
    AIRY_TRY(append(m, &m->ptr, &end, sizeof(end)));
    AIRY_TRY(append(m, &m->index, f->index, f->pixels * sizeof(uint32_t)));
    AIRY_TRY(append(m, &m->intensity, f->intensity, f->pixels * airy_dtype_size(m->dtype)));
    AIRY_TRY(append_curve(m, &m->mean, f->mean));
    AIRY_TRY(append_curve(m, &m->std, f->std));
    for (size_t i = 0; i < f->peak_count; i++) {
        const struct listed listed = {.frame = (int64_t)f->number, .peak = f->peaks[i]};
        AIRY_TRY(append(m, &m->peaks, &listed, sizeof(listed)));
    }
    m->frames++;
    m->peak_count += f->peak_count;
    return AIRY_OK;
}

airy_status airy_peaks_memory_take(void *memory, const airy_sparse_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(take_frame(memory, &frames[i]));
    return AIRY_OK;
}

static void put_list(airy_job *job, const char *name, struct airy_growing *list, airy_dtype dtype,
                     size_t rows, size_t columns)
{
    const airy_host_view view = {.dtype = dtype, .ndim = columns ? 2 : 1, .shape = {rows, columns}};
    airy_job_put_array(job, name, &view, list->data);
    list->data = NULL;
}

static airy_status put_peaks(const struct airy_peaks_memory *m, airy_job *job)
{
    static const struct airy_job_column columns[] = {
        {"frame", NULL, AIRY_DTYPE_I64, offsetof(struct listed, frame)},
        {"y", "pix", AIRY_DTYPE_F32, offsetof(struct listed, peak.y)},
        {"x", "pix", AIRY_DTYPE_F32, offsetof(struct listed, peak.x)},
        {"intensity", "count", AIRY_DTYPE_F32, offsetof(struct listed, peak.intensity)},
        {"sigma", "count", AIRY_DTYPE_F32, offsetof(struct listed, peak.sigma)},
        {"snr", NULL, AIRY_DTYPE_F32, offsetof(struct listed, peak.snr)},
        {"pixels", NULL, AIRY_DTYPE_U32, offsetof(struct listed, peak.pixels)}};
    return airy_job_put_structs(job, "peak_list", columns, sizeof(columns) / sizeof(columns[0]),
                                m->peaks.data, m->peak_count, sizeof(struct listed));
}

airy_status airy_peaks_memory_put(struct airy_peaks_memory *m, airy_job *job)
{
    const size_t pixels = m->index.used / sizeof(uint32_t);
    const airy_host_view view = {.dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {m->bins}};
    double *radial = malloc(m->bins * sizeof(*radial));
    AIRY_FAIL_IF(!radial, AIRY_ERR_MEMORY, "out of memory for %zu bins", m->bins);
    memcpy(radial, airy_integrator_radial(m->integrator), m->bins * sizeof(*radial));
    airy_job_put_array(job, "radial", &view, radial);
    if (m->frames == 0)
        AIRY_TRY(append(m, &m->ptr, &(uint64_t){0}, sizeof(uint64_t)));
    AIRY_TRY(put_peaks(m, job));
    put_list(job, "frame_ptr", &m->ptr, AIRY_DTYPE_U64, m->frames + 1, 0);
    put_list(job, "index", &m->index, AIRY_DTYPE_U32, pixels, 0);
    put_list(job, "intensity", &m->intensity, m->dtype, pixels, 0);
    put_list(job, "background_avg", &m->mean, AIRY_DTYPE_F32, m->frames, m->bins);
    put_list(job, "background_std", &m->std, AIRY_DTYPE_F32, m->frames, m->bins);
    return AIRY_OK;
}

void airy_peaks_memory_free(struct airy_peaks_memory *m)
{
    struct airy_growing *lists[] = {&m->ptr,  &m->index, &m->intensity,
                                    &m->mean, &m->std,   &m->peaks};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        free(lists[i]->data);
    *m = (struct airy_peaks_memory){.frames = 0};
}
