/* The integrated file of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
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

airy_status airy_run_file_open(struct airy_run *run, const char *path, enum airy_run_open how)
{
    const airy_integrator *integrator = run->team.integrators[0];
    uint64_t *index = NULL;
    double *monitor = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&index, run->total_rows, sizeof(index[0]),
                                        "frame numbers"));
    AIRY_TRY_OR(
        out, airy_memory_calloc((void **)&monitor, run->total_rows, sizeof(monitor[0]), "monitor"));
    for (size_t row = 0; row < run->total_rows; row++) {
        index[row] = airy_run_frame(run->params, row);
        if (run->params->monitor)
            monitor[row] = run->params->monitor[index[row]];
    }
    const struct airy_pattern_spec spec = {
        .frames = run->total_rows,
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
