/* Patterns that stay in memory. */
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "jobs/integrate/integrate.h"

/* Room for the rows of a result that is kept; *data stays NULL where it is not. */
static airy_status make_room(const struct airy_integration *it, const char *result, void **data,
                             size_t bins, size_t size, uint64_t *sum)
{
    size_t cells;
    const bool beside = size == sizeof(double); /* sums */
    if (!(beside ? airy_job_is_wanted : airy_job_keeps)(it->job, result))
        return AIRY_OK;
    AIRY_FAIL_IF(airy_mul_size(&cells, it->rows, bins) || airy_mul_size(&cells, cells, size),
                 AIRY_ERR_MEMORY,
                 "%zu patterns of %zu bins are too many for the memory; name an "
                 "output",
                 it->rows, bins);
    *sum += cells;
    const uint64_t limit = it->compute.memory_limit;
    AIRY_FAIL_ON_IF(limit && *sum > limit, AIRY_ERR_MEMORY, AIRY_SUBJECT_PARAMETER,
                    "%s %llu bytes: the patterns need %llu bytes; name an output, or raise the "
                    "limit",
                    "memory-limit", (unsigned long long)limit, (unsigned long long)*sum);
    return airy_memory_calloc(data, it->rows, bins * size, "patterns");
}

airy_status airy_integration_open_memory(struct airy_integration *it)
{
    airy_row_arrays *m = &it->memory;
    const size_t bins = airy_integrator_bins(it->integrators[0]);
    const bool errors = it->params.error_model != AIRY_ERROR_MODEL_NONE;
    uint64_t sum = 0;
    m->rows = it->rows;
    AIRY_TRY(make_room(it, "intensity", (void **)&m->intensity, bins, sizeof(float), &sum));
    AIRY_TRY(make_room(it, "status", (void **)&m->status, 1, sizeof(airy_status), &sum));
    AIRY_TRY(make_room(it, "sum_signal", (void **)&m->signal, bins, sizeof(double), &sum));
    AIRY_TRY(
        make_room(it, "sum_normalization", (void **)&m->normalization, bins, sizeof(double), &sum));
    AIRY_TRY(make_room(it, "count", (void **)&m->count, bins, sizeof(double), &sum));
    if (errors) {
        AIRY_TRY(make_room(it, "std", (void **)&m->std, bins, sizeof(float), &sum));
        AIRY_TRY(make_room(it, "sem", (void **)&m->sem, bins, sizeof(float), &sum));
        AIRY_TRY(make_room(it, "sum_variance", (void **)&m->variance, bins, sizeof(double), &sum));
    }
    it->run.arrays = m;
    return AIRY_OK;
}

/* Hand an array over to the job, which it belongs to from then on. */
static void put_rows(const struct airy_integration *it, const char *result, void **data,
                     airy_dtype dtype, bool of_bins)
{
    airy_integrator_info axes;
    airy_host_view view = {.dtype = dtype, .ndim = 1, .shape = {it->rows}};
    if (!*data || airy_integrator_get_info(it->integrators[0], &axes) != AIRY_OK)
        return;
    if (of_bins && axes.azimuth_bins) {
        view.ndim = 3;
        view.shape[1] = axes.azimuth_bins;
        view.shape[2] = axes.bins / axes.azimuth_bins;
    } else if (of_bins) {
        view.ndim = 2;
        view.shape[1] = axes.bins;
    }
    airy_job_put_array(it->job, result, &view, *data);
    *data = NULL;
}

static airy_status put_axis(const struct airy_integration *it, const char *result,
                            const double *axis, size_t bins)
{
    double *copy;
    const airy_host_view view = {.dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {bins}};
    if (!axis || !bins || !airy_job_keeps(it->job, result))
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&copy, bins, sizeof(*copy), "an axis"));
    memcpy(copy, axis, bins * sizeof(*copy));
    airy_job_put_array(it->job, result, &view, copy);
    return AIRY_OK;
}

airy_status airy_integration_put_arrays(struct airy_integration *it)
{
    airy_row_arrays *m = &it->memory;
    airy_integrator_info axes;
    AIRY_TRY(airy_integrator_get_info(it->integrators[0], &axes));
    const size_t azimuthal = axes.azimuth_bins, radial = axes.bins / airy_max_size(azimuthal, 1);
    AIRY_TRY(put_axis(it, "radial", airy_integrator_radial(it->integrators[0]), radial));
    AIRY_TRY(put_axis(it, "azimuthal", airy_integrator_azimuth(it->integrators[0]), azimuthal));
    put_rows(it, "intensity", (void **)&m->intensity, AIRY_DTYPE_F32, true);
    put_rows(it, "std", (void **)&m->std, AIRY_DTYPE_F32, true);
    put_rows(it, "sem", (void **)&m->sem, AIRY_DTYPE_F32, true);
    put_rows(it, "sum_signal", (void **)&m->signal, AIRY_DTYPE_F64, true);
    put_rows(it, "sum_variance", (void **)&m->variance, AIRY_DTYPE_F64, true);
    put_rows(it, "sum_normalization", (void **)&m->normalization, AIRY_DTYPE_F64, true);
    put_rows(it, "count", (void **)&m->count, AIRY_DTYPE_F64, true);
    _Static_assert(sizeof(airy_status) == 4, "a status is an int32");
    put_rows(it, "status", (void **)&m->status, AIRY_DTYPE_I32, false);
    return AIRY_OK;
}
