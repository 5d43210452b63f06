/* What a run would do, and why, as the job's plan. */
#include <string.h>

#include "jobs/integrate/integrate.h"

static const char *geometry_source(const struct airy_integration *it)
{
    const struct airy_integrate_values *v = it->v;
    return v->geometry.poni        ? "poni"
           : v->is_replayed        ? "configuration"
           : it->file_has_geometry ? "file"
                                   : "given values";
}

/* Why this layout: what a user who sets none gets was measured, and is never slower than the others. */
static const char *layout_reason(const struct airy_integration *it)
{
    return it->v->layout != LAYOUT_AUTO  ? "it is set"
           : it->layout == LAYOUT_SERIAL ? "there is one frame"
           : it->layout == LAYOUT_THREADS
               ? "one process keeps all threads busy, and they share the matrix"
               : "one process overlaps reading, copies and kernels";
}

/* Values of pixels that are left out. */
static json_t *dummy_json(const struct airy_integration *it)
{
    const bool from_file = it->meta.has_dummy && !airy_job_is_set(it->job, "dummy");
    if (it->params.has_dummy)
        return json_pack("{s:o, s:f, s:s}", "value", airy_number_json(it->params.dummy), "delta",
                         it->params.delta_dummy, "from", from_file ? "file" : "dummy");
    return it->geometry.detector.dectris_dummy && !airy_dtype_is_float(it->info.dtype)
               ? json_string(airy_dtype_is_signed(it->info.dtype)
                                 ? "-1, -2 and -3"
                                 : "the three largest values of the type")
               : json_string("none");
}

static json_t *range_json(double lower, double upper)
{
    return json_pack("[o, o]", airy_number_json(lower), airy_number_json(upper));
}

static json_t *matrix_json(const struct airy_integration *it, const airy_integrator_info *matrix)
{
    json_t *json = json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:s, s:s, s:s}", "pixels", (json_int_t)matrix->pixels,
        "valid_pixels", (json_int_t)matrix->valid_pixels, "entries", (json_int_t)matrix->entries,
        "bins", (json_int_t)matrix->bins, "range", range_json(matrix->lower, matrix->upper), "unit",
        airy_unit_name(it->params.unit), "split", airy_split_name(it->params.split), "method",
        airy_method_name(it->params.method));
    if (!matrix->azimuth_bins)
        return json;
    json_object_set_new(json, "azimuth_range",
                        range_json(matrix->azimuth_lower, matrix->azimuth_upper));
    json_object_set_new(json, "azimuth_unit", json_string(airy_unit_name(matrix->azimuth_unit)));
    return json;
}

static void plan_rings(const struct airy_integration *it)
{
    enum { CYCLES = 5 }; /* where none are given */
    const airy_integrator_params *p = &it->params;
    const double *percent = it->v->pattern.quantile.values;
    if (p->has_clip)
        airy_job_put_plan(it->job, "clip",
                          json_pack("[f, I]", p->clip_threshold,
                                    (json_int_t)(p->clip_cycles ? p->clip_cycles : CYCLES)));
    if (p->has_quantile)
        airy_job_put_plan(it->job, "quantile", json_pack("[f, f]", percent[0], percent[1]));
}

static const char *const read_words[] = {[AIRY_STACK_DIRECT] = "chunk by chunk",
                                         [AIRY_STACK_LIBRARY] = "by libhdf5",
                                         [AIRY_STACK_FILES] = "file by file"};

static void plan_pixels(const struct airy_integration *it)
{
    const size_t *masked = it->pixels.masked;
    airy_job_put_plan(it->job, "read", json_string(read_words[it->info.path]));
    airy_job_put_plan(it->job, "geometry",
                      json_pack("{s:s, s:s}", "detector", it->geometry.detector.name, "from",
                                geometry_source(it)));
    airy_job_put_plan(it->job, "mask",
                      json_pack("{s:I, s:I, s:I}", "detector", (json_int_t)masked[0], "file",
                                (json_int_t)masked[1], "given", (json_int_t)masked[2]));
    airy_job_put_plan(it->job, "dummy", dummy_json(it));
    airy_job_put_plan(it->job, "layout", json_string(airy_integrate_layouts[it->layout]));
    airy_job_put_plan(it->job, "why", json_string(layout_reason(it)));
}

airy_status airy_integration_plan(struct airy_integration *it)
{
    airy_job *job = it->job;
    airy_integrator_info matrix;
    airy_run_info run;
    const uint64_t limit = it->compute.memory_limit;
    AIRY_TRY(airy_job_plan_stack(job, &it->info, &it->v->frames));
    AIRY_TRY(airy_integrator_get_info(it->integrators[0], &matrix));
    AIRY_TRY(airy_integrate_plan(&run, it->stack, it->integrators, it->count, &it->run));
    plan_pixels(it);
    airy_job_put_plan(job, "engine", json_string(matrix.engine));
    airy_job_put_plan(job, "matrix", matrix_json(it, &matrix));
    plan_rings(it);
    airy_job_put_plan(job, "memory",
                      json_pack("{s:I, s:I, s:I, s:I}", "matrix_host_bytes",
                                (json_int_t)it->count * (json_int_t)matrix.host_bytes,
                                "matrix_device_bytes", (json_int_t)matrix.device_bytes,
                                "slots_host_bytes", (json_int_t)run.host_bytes,
                                "slots_device_bytes", (json_int_t)run.device_bytes));
    airy_job_put_plan(job, "run",
                      json_pack("{s:I, s:I, s:I, s:I, s:I}", "frames", (json_int_t)it->frames,
                                "rows", (json_int_t)it->rows, "batch", (json_int_t)run.batch,
                                "slots", (json_int_t)run.slots, "readers",
                                (json_int_t)run.readers));
    AIRY_FAIL_ON_IF(limit && run.host_bytes > limit, AIRY_ERR_MEMORY, AIRY_SUBJECT_PARAMETER,
                    "%s %llu bytes: %zu slots of %zu frames need %llu bytes of the host; lower "
                    "batch or raise the limit",
                    "memory-limit", (unsigned long long)limit, run.slots, run.batch,
                    (unsigned long long)run.host_bytes);
    return AIRY_OK;
}
