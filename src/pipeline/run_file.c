/* The integrated file of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/integrator.h"
#include "pipeline/run.h"

static airy_status open_as(struct airy_run *run, const char *path,
                           const struct airy_pattern_spec *spec, enum airy_run_open how)
{
    const airy_run_params *p = run->params;
    if (how == AIRY_RUN_JOIN)
        return airy_pattern_file_join(&run->file, path, spec);
    if (how == AIRY_RUN_GATHER)
        return airy_pattern_file_gather(&run->file, path, spec, p->force);
    return airy_pattern_file_create(&run->file, path, spec, p->force, p->resume);
}

/* Mean of one value a frame of the stack over a group. */
static double group_mean(const struct airy_run *run, const double *values, size_t group)
{
    const size_t first = group * run->group,
                 end = airy_min_size(first + run->group, run->total_rows);
    double sum = 0;
    for (size_t row = first; row < end; row++)
        sum += values[airy_run_frame(run->params, row)];
    return sum / (double)(end - first);
}

airy_status airy_run_file_open(struct airy_run *run, const char *path, enum airy_run_open how)
{
    const airy_integrator *integrator = run->team.integrators[0];
    const size_t groups = airy_run_groups(run);
    uint64_t *index = NULL;
    double *monitor = NULL;
    airy_status status;
    AIRY_TRY_OR(out,
                airy_memory_calloc((void **)&index, groups, sizeof(index[0]), "frame numbers"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&monitor, groups, sizeof(monitor[0]), "monitor"));
    for (size_t i = 0; i < groups; i++) {
        index[i] = airy_run_frame(run->params, i * run->group);
        if (run->params->monitor)
            monitor[i] = group_mean(run, run->params->monitor, i);
    }
    const struct airy_pattern_spec spec = {
        .frames = groups,
        .grouped = run->group > 1,
        .differ = integrator->ring.kind != AIRY_RING_NONE,
        .bins = integrator->bins,
        .radial = integrator->radial,
        .azimuth_bins = integrator->params.azimuth_bins,
        .azimuth = integrator->azimuth,
        .unit = integrator->params.unit,
        .errors = integrator->params.error_model != AIRY_ERROR_MODEL_NONE,
        .index = index,
        .configuration = run->params->configuration ? run->params->configuration : "{}",
        .monitor = run->params->monitor ? monitor : NULL,
    };
    status = open_as(run, path, &spec, how);
out:
    free(index);
    free(monitor);
    return status;
}

/* The planes of a frame without invalid pixels, for what does not differ between frames. */
airy_status airy_run_file_finish(struct airy_run *run)
{
    const airy_integrator *it = run->team.integrators[0];
    double *sums = NULL;
    AIRY_TRY(
        airy_memory_calloc((void **)&sums, AIRY_SUM_PLANES * it->bins, sizeof(double), "sums"));
    const size_t size = it->bins * sizeof(double);
    memcpy(sums + AIRY_SUM_NORMALIZATION * it->bins, it->base_normalization, size);
    memcpy(sums + AIRY_SUM_NORMALIZATION2 * it->bins, it->base_normalization2, size);
    memcpy(sums + AIRY_SUM_COUNT_PLANE * it->bins, it->base_count, size);
    const airy_status status = airy_pattern_file_finish(run->file, sums);
    free(sums);
    return status;
}
