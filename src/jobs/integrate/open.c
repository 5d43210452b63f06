/* From the values of an integration to integrators that are ready. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "jobs/configuration.h"
#include "jobs/integrate/notes.h"
#include "jobs/integrate/resume.h"
#include "jobs/integrate/ranks.h"

static airy_status open_stack(struct airy_integration *it)
{
    if (it->source) {
        it->info = it->source->info;
        it->meta = it->source->meta;
        return it->info.frames ? airy_job_choose_frames(&it->frames, &it->v->frames,
                                                        it->info.frames, "the series")
                               : AIRY_OK;
    }
    if (it->v->follow.on) {
        AIRY_TRY(airy_follow_open(it));
        return it->v->output ? airy_job_keep_stack(it->stack, it->v->output) : AIRY_OK;
    }
    AIRY_TRY(airy_job_open_stack(it->job, &it->stack, &it->v->stack));
    AIRY_TRY(airy_stack_get_info(it->stack, &it->info));
    AIRY_TRY(airy_stack_get_meta(it->stack, &it->meta));
    AIRY_TRY(airy_job_choose_frames(&it->frames, &it->v->frames, it->info.frames,
                                    airy_integration_name(it)));
    return it->v->output ? airy_job_keep_stack(it->stack, it->v->output) : AIRY_OK;
}

static airy_status open_geometry(struct airy_integration *it, const airy_sample_params *sample)
{
    const struct airy_integrate_values *v = it->v;
    const struct airy_geometry_source from = {.stack = it->stack,
                                              .info = &it->info,
                                              .meta = &it->meta,
                                              .replayed = v->is_replayed ? &v->replayed : NULL,
                                              .input = airy_integration_name(it),
                                              .absorber = "sensor-efficiency",
                                              .uses_absorber = v->sensor_efficiency};
    it->file_has_geometry = it->meta.has_geometry;
    AIRY_TRY(airy_job_resolve_geometry(it->job, &it->geometry, &v->geometry, &from));
    AIRY_TRY(airy_detector_open(&it->arrays, &it->geometry.detector));
    airy_geometry_set_sample(&it->geometry, sample);
    return AIRY_OK;
}

static airy_status open_monitor(struct airy_integration *it)
{
    const struct airy_integrate_values *v = it->v;
    if (!v->monitor || !it->stack)
        return AIRY_OK;
    AIRY_TRY(
        airy_memory_calloc((void **)&it->monitor, it->info.frames, sizeof(double), "monitors"));
    AIRY_TRY(airy_stack_monitor(it->stack, v->monitor, it->monitor));
    for (size_t i = it->run.first; i < it->run.last && !it->run.skip_bad; i += it->run.step)
        AIRY_FAIL_HINT_IF(!airy_monitor_is_usable(it->monitor[i]), AIRY_ERR_PARAM, AIRY_HINT_SKIP,
                          AIRY_SUBJECT_PARAMETER,
                          "%s %s: frame %zu has %g, expected a finite number above 0", "monitor",
                          v->monitor, i, it->monitor[i]);
    it->run.monitor = it->monitor;
    return AIRY_OK;
}

static void choose_run(struct airy_integration *it)
{
    const struct airy_integrate_values *v = it->v;
    const size_t *frames = v->frames.frames, group = v->average ? v->average : v->sum,
                 each = group == 0 ? 1 : airy_min_size(group, it->frames);
    it->run = (airy_run_params){.first = frames[0],
                                .last = frames[1] ? frames[1] : it->info.frames,
                                .step = frames[2] ? frames[2] : 1,
                                .batch = v->batch,
                                .skip_bad = v->frames.on_error,
                                .resume = v->resume,
                                .force = v->force,
                                .group = group,
                                .merge = v->sum ? AIRY_MERGE_SUM : AIRY_MERGE_AVERAGE,
                                .progress = airy_job_step,
                                .message = airy_job_frame_message,
                                .user = it->job};
    it->rows = it->frames ? (it->frames - 1) / each + 1 : 0;
}

static airy_status open_grid(struct airy_integration *it)
{
    const size_t *grid = it->v->grid, points = grid[0] * grid[1];
    if (!grid[0])
        return AIRY_OK;
    AIRY_FAIL_ON_IF(it->rows > points, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zux%zu: %zu points for %zu patterns; choose a part by frames=A:B", "grid",
                    grid[0], grid[1], points, it->rows);
    if (it->rows < points)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "grid %zux%zu: %zu patterns, the last %zu points stay NaN", grid[0],
                         grid[1], it->rows, points - it->rows);
    memcpy(it->run.grid, grid, sizeof(it->run.grid));
    it->run.zigzag = it->v->zigzag;
    return AIRY_OK;
}

static airy_status open_carried(struct airy_integration *it)
{
    const struct airy_job_list *carry = &it->v->carry;
    if (!it->stack || it->v->follow.on || (carry->count && strcmp(carry->items[0], "none") == 0))
        return AIRY_OK;
    const airy_status status =
        airy_stack_values(&it->carried, &it->carried_count, it->stack,
                          carry->count ? (const char *const *)carry->items : NULL, carry->count);
    if (status != AIRY_OK)
        return carry->count
                   ? airy_about(AIRY_SUBJECT_PARAMETER, "carry", airy_fail_context(status, "carry"))
                   : status;
    for (size_t i = 0; i < it->carried_count; i++)
        airy_job_message(it->job, AIRY_LOG_INFO, "per-frame metadata: %s from %s",
                         it->carried[i].name, it->carried[i].path);
    it->run.carried = it->carried;
    it->run.carried_count = it->carried_count;
    return AIRY_OK;
}

static airy_status open_around(struct airy_integration *it)
{
    const struct airy_job_list *roi = &it->v->roi;
    if (roi->count)
        AIRY_TRY(airy_memory_calloc((void **)&it->rois, roi->count, sizeof(*it->rois), "regions"));
    for (size_t i = 0; i < roi->count; i++)
        AIRY_TRY(airy_integration_roi(&it->rois[i], roi->items[i]));
    it->run.rois = it->rois;
    it->run.roi_count = roi->count;
    AIRY_TRY(open_grid(it));
    return open_carried(it);
}

/* Regions that have no part of the axes. */
static airy_status check_regions(const struct airy_integration *it)
{
    airy_integrator_info axes;
    AIRY_TRY(airy_integrator_get_info(it->integrators[0], &axes));
    for (size_t i = 0; i < it->run.roi_count; i++) {
        const airy_status status = airy_roi_check(&it->rois[i], &axes);
        if (status != AIRY_OK)
            return airy_about(AIRY_SUBJECT_PARAMETER, "roi",
                              airy_fail_context(status, "roi %s", it->v->roi.items[i]));
    }
    return AIRY_OK;
}

static airy_status choose_layout(struct airy_integration *it)
{
    airy_device_info info;
    const int wish = it->v->layout;
    AIRY_TRY(airy_device_get_info(it->job->device, &info));
    const bool cpu = strcmp(info.backend, "cpu") == 0;
    AIRY_FAIL_ON_IF(it->count > 1 && wish != LAYOUT_AUTO && wish != LAYOUT_DEVICE,
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s %s takes one device, and there are %zu", "layout",
                    airy_integrate_layouts[wish], it->count);
    AIRY_FAIL_ON_IF(wish == LAYOUT_THREADS && !cpu, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s threads does not fit %s (%s), whose work is not done by threads: give "
                    "device or serial, or device=cpu",
                    "layout", info.spec, info.name);
    AIRY_FAIL_ON_IF(
        wish == LAYOUT_DEVICE && cpu, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
        "%s device does not fit the CPU: give device=gpu, layout=threads or layout=serial",
        "layout");
    it->layout = wish != LAYOUT_AUTO ? wish
                 : it->frames == 1   ? LAYOUT_SERIAL
                 : cpu               ? LAYOUT_THREADS
                                     : LAYOUT_DEVICE;
    if (it->layout == LAYOUT_SERIAL)
        it->run.batch = it->run.slots = it->run.readers = 1;
    return AIRY_OK;
}

static airy_status open_integrators(struct airy_integration *it)
{
    airy_job *job = it->job;
    AIRY_TRY(airy_job_open_devices(job, &it->compute));
    it->count = airy_max_size(job->device_count, 1);
    AIRY_TRY(airy_memory_calloc((void **)&it->integrators, it->count, sizeof(airy_integrator *),
                                "integrators"));
    const airy_status status =
        airy_integrator_create_all(it->integrators, job->device_count ? job->devices : &job->device,
                                   it->count, &it->geometry, &it->params);
    if (status == AIRY_OK)
        return AIRY_OK;
    const airy_geometry_params given =
        airy_job_geometry_params(job, &it->v->geometry, airy_integration_name(it));
    return airy_geometry_explain(&given, &it->meta, status);
}

/* What the first file says of the place where it was made. */
static void name_place(struct airy_integration *it)
{
    static const char *const objects[3][2] = {
        {"/entry/instrument/name", "/entry/instrument/name"},
        {"/entry/source/name", "/entry/instrument/source/name"},
        {"/entry/source/type", "/entry/instrument/source/type"}};
    const struct airy_integrate_values *v = it->v;
    const char *path = airy_integration_name(it), *dataset = strstr(path, "::");
    char file[4096];
    snprintf(file, sizeof(file), "%.*s", (int)(dataset ? dataset - path : 4095), path);
    const bool hdf5 = it->info.path != AIRY_STACK_FILES && !v->stack.paths.is_array;
    for (size_t i = 0; hdf5 && i < 3; i++)
        for (size_t k = 0; k < 2 && !it->names[i]; k++)
            if (airy_hdf5_text(&it->names[i], file, objects[i][k]) != AIRY_OK)
                it->names[i] = NULL;
    it->nxazint = (airy_nxazint){.solid_angle = !v->pixels.no_solid_angle,
                                 .polarization = v->pixels.polarization.count > 0,
                                 .wavelength = it->geometry.wavelength,
                                 .instrument = v->instrument ? v->instrument : it->names[0],
                                 .source = v->source ? v->source : it->names[1],
                                 /* The file's is that of the file's source. */
                                 .source_type = v->source ? NULL : it->names[2]};
    it->run.nxazint = &it->nxazint;
}

static airy_status make_configuration(struct airy_integration *it)
{
    const struct airy_integrate_values *v = it->v;
    json_t *json = NULL;
    char frames[80];
    AIRY_TRY(airy_job_begin_configuration(it->job, &json, v->follow.on ? NULL : &v->stack.paths,
                                          &it->geometry, airy_geometry_rows));
    if (v->follow.on) /* nobody knows yet what the files will be */
        AIRY_TRY(airy_job_name_inputs(json, &v->stack.paths));
    snprintf(frames, sizeof(frames), "%zu:%zu:%zu", it->run.first, it->run.last, it->run.step);
    json_object_set_new(json, "file_mask", json_boolean(it->meta.has_mask));
    json_object_set_new(json, "frames", json_string(frames));
    json_object_set_new(json, "bins",
                        json_integer((json_int_t)airy_integrator_bins(it->integrators[0])));
    json_object_set_new(json, "unit", json_string(airy_unit_name(it->params.unit)));
    json_object_set_new(json, "split", json_string(airy_split_name(it->params.split)));
    json_object_set_new(json, "method", json_string(airy_method_name(it->params.method)));
    json_object_set_new(json, "error_model",
                        json_string(airy_error_model_name(it->params.error_model)));
    if (it->source)
        json_object_set(json, "stream", it->source->about);
    if (it->params.azimuth_bins)
        json_object_set_new(
            json, "azimuthal",
            json_string(airy_unit_name(it->params.azimuth_unit ? it->params.azimuth_unit
                                                               : AIRY_UNIT_CHI_DEG)));
    AIRY_TRY(airy_job_end_configuration(&it->configuration, json));
    it->run.configuration = it->configuration;
    return AIRY_OK;
}

airy_status airy_integration_look_at_place(const struct airy_integration *it)
{
    const struct airy_integrate_values *v = it->v;
    const bool looks = v->output && !airy_integration_is_text(v) && !it->source &&
                       airy_world_is_first(&it->world) && !airy_integration_may_be_complete(v);
    return looks ? airy_integration_check_place(v, v->output) : AIRY_OK;
}

airy_status airy_integration_open(airy_job *job, void *state)
{
    struct airy_integration *it = state;
    if (airy_integration_is_live(job->values)) {
        *it =
            (struct airy_integration){.job = job, .v = job->values}; /* each series opens its own */
        return AIRY_OK;
    }
    return airy_world_agree(&it->world, airy_integration_open_source(it, job, NULL), NULL, NULL);
}

airy_status airy_integration_open_source(struct airy_integration *it, airy_job *job,
                                         const struct airy_integration_source *source)
{
    airy_sample_params sample;
    *it = (struct airy_integration){
        .job = job, .source = source, .v = job->values, .begun = airy_clock_ns()};

    it->compute = source ? *source->compute : it->v->compute;
    airy_world_open(&it->world, job);
    if (!job->only_plans)
        AIRY_TRY(airy_integration_look_at_place(it));
    AIRY_TRY(airy_integration_params(job, &it->params, &sample));
    airy_integration_warn_degrees(it);
    AIRY_TRY(open_stack(it));
    AIRY_TRY(open_geometry(it, &sample));
    choose_run(it);
    if (it->v->follow.on)
        AIRY_TRY(airy_follow_choose(it));
    AIRY_TRY(open_monitor(it));
    AIRY_TRY(open_around(it));
    const struct airy_pixel_frames frames = {.stack = it->stack,
                                             .info = &it->info,
                                             .meta = &it->meta,
                                             .mask = source ? source->mask : NULL};
    AIRY_TRY(airy_job_load_pixels(job, &it->pixels, &it->v->pixels, &frames, &it->geometry.detector,
                                  it->v->pattern.compat != 0));
    AIRY_TRY(airy_pixels_apply(&it->params, &it->pixels, &it->meta, it->info.dtype));
    if (!source && airy_world_is_first(&it->world))
        airy_integration_warn_dummy(it);
    AIRY_TRY(airy_integration_settle_ranks(it));
    AIRY_TRY(open_integrators(it));
    AIRY_TRY(check_regions(it));
    if (it->v->format == FORMAT_NXAZINT)
        name_place(it);
    AIRY_TRY(choose_layout(it));
    AIRY_TRY(airy_integration_share_ranks(it));
    if (it->stack && !it->v->follow.on) /* nobody knows yet what the run will be */
        AIRY_TRY(airy_integration_plan(it));
    return make_configuration(it);
}

void airy_integration_close(void *state)
{
    struct airy_integration *it = state;
    for (size_t i = 0; it->integrators && i < it->count; i++)
        airy_integrator_destroy(&it->integrators[i]);
    free(it->integrators);
    airy_world_close(&it->world);
    airy_stack_destroy(&it->stack);
    airy_detector_arrays_destroy(&it->arrays);
    airy_pixels_free(&it->pixels);
    airy_frame_values_free(it->carried, it->carried_count);
    free(it->rois);
    free(it->monitor);
    free(it->configuration);
    for (size_t i = 0; i < 3; i++)
        free(it->names[i]);
    free(it->memory.intensity);
    free(it->memory.std);
    free(it->memory.sem);
    free(it->memory.signal);
    free(it->memory.variance);
    free(it->memory.normalization);
    free(it->memory.count);
    free(it->memory.status);
}
