/* What airy integrate has chosen for a run, and why: --explain and --verbose. */
#include <stdlib.h>
#include <string.h>

#include "integrate/integrate.h"

/*
 * Frames a second on a few frames, nothing written; 0 when they cannot be read, or would not fit
 * the memory, with *status.
 */
static double measure_rate(const struct integration *job, airy_status *status)
{
    airy_run_params run = job->run;
    airy_run_info info;
    run.progress = NULL;
    run.resume = false;
    run.skip_bad = true;
    const size_t some = 32 * run.step;
    run.last = run.last - run.first > some ? run.first + some : run.last;
    *status =
        airy_integrate_stack(NULL, job->stack, job->team.integrators, job->team.count, &run, &info);
    return *status == AIRY_OK && info.seconds > 0 ? (double)info.frames / info.seconds : 0;
}

static const char *geometry_source(const struct integration *job)
{
    return job->replayed                      ? "--config"
           : job->params->geometry.given.poni ? "--poni"
           : job->meta.has_geometry           ? "the file"
                                              : "the command line";
}

/* "1000 bins from 0 to 12 q_nm^-1"; in two dimensions also the other axis. */
static void axes_words(char text[240], const airy_integrator_info *matrix, airy_unit unit)
{
    int n = snprintf(text, 240, "%zu bins from %.6g to %.6g %s", matrix->radial_bins, matrix->lower,
                     matrix->upper, airy_unit_name(unit));
    if (matrix->azimuth_bins && n > 0 && n < 240)
        snprintf(text + n, 240 - (size_t)n, " x %zu from %.6g to %.6g %s", matrix->azimuth_bins,
                 matrix->azimuth_lower, matrix->azimuth_upper,
                 airy_unit_name(matrix->azimuth_unit));
}

/* What --explain tells. */
struct explanation {
    const char *specs; /* of the devices */
    airy_integrator_info matrix;
    airy_run_info plan;
    double rate; /* frames/s; 0 unknown */
};

static int explain_json(const struct integration *job, const struct explanation *e)
{
    const airy_integrator_info *matrix = &e->matrix;
    const airy_run_info *plan = &e->plan;
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:I, s:I, s:I, s:I, s:[o,o]}, s:{s:I, s:I, s:I, s:I}, s:{s:I, "
        "s:I, s:I, s:I}, s:o}",
        "device", e->specs, "layout", layout_name(job->layout.layout), "why", job->layout.why,
        "engine", matrix->engine, "matrix", "pixels", (json_int_t)matrix->pixels, "valid_pixels",
        (json_int_t)matrix->valid_pixels, "entries", (json_int_t)matrix->entries, "bins",
        (json_int_t)matrix->bins, "range", tool_json_number(matrix->lower),
        tool_json_number(matrix->upper), "memory", "matrix_host_bytes",
        (json_int_t)matrix->host_bytes, "matrix_device_bytes", (json_int_t)matrix->device_bytes,
        "slots_host_bytes", (json_int_t)plan->host_bytes, "slots_device_bytes",
        (json_int_t)plan->device_bytes, "run", "frames", (json_int_t)job->frames, "batch",
        (json_int_t)plan->batch, "slots", (json_int_t)plan->slots, "readers",
        (json_int_t)plan->readers, "frames_per_second", tool_json_number(e->rate));
    if (matrix->azimuth_bins)
        json_object_set_new(json_object_get(json, "matrix"), "azimuth_range",
                            json_pack("[o,o]", tool_json_number(matrix->azimuth_lower),
                                      tool_json_number(matrix->azimuth_upper)));
    pattern_rings_json(json, &job->params->pattern);
    return tool_print_json(job->common, json);
}

static int explain_text(const struct integration *job, const struct explanation *e)
{
    const airy_integrator_info *matrix = &e->matrix;
    const airy_run_info *plan = &e->plan;
    char text[4][32], axes[240], shown[2][TOOL_SHOWN];
    axes_words(axes, matrix, job->params->pattern.unit);
    printf("stack    %s: %zu frame%s of %zu x %zu %s, %s\n",
           tool_shown(shown[0], job->info.dataset), job->info.frames, tool_s(job->info.frames),
           job->info.height, job->info.width, airy_dtype_name(job->info.dtype),
           tool_shown(shown[1], job->info.filters));
    printf("geometry %s, from %s", tool_shown(shown[0], job->geometry.detector.name),
           geometry_source(job));
    printf(job->integrator_params.has_dummy ? "; pixels of %g, within %g, are left out\n" : "\n",
           job->integrator_params.dummy, job->integrator_params.delta_dummy);
    printf("layout   %s: %s\n", layout_name(job->layout.layout), job->layout.why);
    printf("engine   %s on %s\n", matrix->engine, e->specs);
    printf("matrix   %zu of %zu pixels, %zu entries, %s, %s splitting\n", matrix->valid_pixels,
           matrix->pixels, matrix->entries, axes, airy_split_name(job->params->pattern.split));
    pattern_print_rings(&job->params->pattern);
    const size_t devices = job->team.count;
    airy_device_info device;
    const bool cpu = airy_device_get_info(job->device, &device) == AIRY_OK &&
                     strcmp(device.backend, "cpu") == 0;
    printf(cpu ? "memory   matrix %s, and %s in %s%s CPU's form; slots %s and %s\n"
               : "memory   matrix %s on the host, %s on %s%s; slots %s and %s\n",
           tool_bytes(text[0], (double)devices * (double)matrix->host_bytes),
           tool_bytes(text[1], (double)matrix->device_bytes), devices > 1 ? "each" : "the",
           cpu ? "" : " device", tool_bytes(text[2], (double)plan->host_bytes),
           tool_bytes(text[3], (double)plan->device_bytes));
    printf("run      %zu frame%s, %zu a batch, %zu slot%s, %zu reader%s%s\n", job->frames,
           tool_s(job->frames), plan->batch, plan->slots, tool_s(plan->slots), plan->readers,
           tool_s(plan->readers), devices > 1 ? " on each device" : "");
    if (e->rate > 0)
        printf("rate     %.4g frames/s on the first frames: about %.3g s\n", e->rate,
               (double)job->frames / e->rate);
    else
        printf("rate     unknown: the first frames cannot be read (%s)\n",
               tool_shown(shown[0], airy_last_error()));
    return AIRY_EXIT_OK;
}

int integrate_explain(const struct integration *job)
{
    struct explanation e = {0};
    airy_status status = airy_integrator_get_info(job->integrator, &e.matrix);
    if (status == AIRY_OK)
        status = airy_integrate_plan(&e.plan, job->stack, job->team.integrators, job->team.count,
                                     &job->run);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    e.rate = measure_rate(job, &status);
    if (status == AIRY_ERR_MEMORY) /* the run would end so, too */
        return tool_failed(job->common, status);
    char *specs = team_specs(&job->team);
    if (!specs)
        return tool_failed(job->common, AIRY_ERR_MEMORY);
    e.specs = specs;
    const int code = job->common->json ? explain_json(job, &e) : explain_text(job, &e);
    free(specs);
    return code;
}

/* Which pixels of the frames themselves are left out. */
static void say_dummy(const struct integration *job)
{
    const struct integrate_params *p = job->params;
    const airy_dtype dtype = job->info.dtype;
    if (p->bad.has_dummy)
        tool_say(job->common, "dummy: pixels of %g, within %g (--dummy)", p->bad.dummy,
                 p->bad.delta_dummy);
    else if (job->meta.has_dummy)
        tool_say(job->common, "dummy: pixels of %g, within %g (the file's header)", job->meta.dummy,
                 job->meta.delta_dummy);
    else if (!job->geometry.detector.dectris_dummy || airy_dtype_is_float(dtype))
        tool_say(job->common,
                 "dummy: none, detector %s with %s pixels has no such values; --dummy names one",
                 job->geometry.detector.name, airy_dtype_name(dtype));
    else
        tool_say(job->common, "dummy: %s, as detector %s marks bad pixels",
                 airy_dtype_is_signed(dtype) ? "-1, -2 and -3"
                                             : "the three largest values of the type",
                 job->geometry.detector.name);
}

int integrate_say_choices(const struct integration *job)
{
    const struct common *common = job->common;
    airy_integrator_info matrix;
    airy_run_info plan;
    airy_device_info device;
    airy_status status = airy_integrator_get_info(job->integrator, &matrix);
    if (status == AIRY_OK)
        status = airy_integrate_plan(&plan, job->stack, job->team.integrators, job->team.count,
                                     &job->run);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const char *wish = getenv("AIRY_DEVICE");
    char text[2][32], axes[240];
    axes_words(axes, &matrix, job->params->pattern.unit);
    for (size_t i = 0; i < job->team.count; i++) {
        status = airy_device_get_info(job->team.devices[i], &device);
        if (status != AIRY_OK)
            return tool_failed(common, status);
        tool_say(common, "device: %s (%s, %u units), %s", device.spec, device.name, device.units,
                 common->device  ? "by --device"
                 : wish && *wish ? "by AIRY_DEVICE"
                                 : "the default");
        tool_say_tuning(common, job->team.devices[i]);
    }
    tool_say(common, "stack: %s, %zu frame%s of %zu x %zu %s, filters %s, read %s",
             job->info.dataset, job->info.frames, tool_s(job->info.frames), job->info.height,
             job->info.width, airy_dtype_name(job->info.dtype), job->info.filters,
             job->info.path == AIRY_STACK_DIRECT    ? "chunk by chunk (a chunk is a frame)"
             : job->info.path == AIRY_STACK_LIBRARY ? "through libhdf5 (chunks or filters are "
                                                      "others)"
                                                    : "file by file, by all readers at once");
    tool_say(common, "geometry: %s, from %s", job->geometry.detector.name, geometry_source(job));
    if (job->params->mask_only)
        tool_say(common, "mask: --mask-only %zu pixels", job->pixels.masked[2]);
    else
        tool_say(common, "mask: detector %zu, file %zu, --mask %zu pixels", job->pixels.masked[0],
                 job->pixels.masked[1], job->pixels.masked[2]);
    say_dummy(job);
    tool_say(common, "layout: %s, %s", layout_name(job->layout.layout), job->layout.why);
    tool_say(common, "engine: %s", matrix.engine);
    tool_say(
        common, "matrix: %zu of %zu pixels, %zu entries, %s, %s splitting, %s, %s on the device",
        matrix.valid_pixels, matrix.pixels, matrix.entries, axes,
        airy_split_name(job->params->pattern.split), airy_method_name(job->params->pattern.method),
        tool_bytes(text[0], (double)matrix.device_bytes));
    tool_say(common, "run: %zu frame%s, %zu a batch (%s), %zu slot%s of together %s, %zu reader%s",
             job->frames, tool_s(job->frames), plan.batch,
             job->params->pattern.batch ? "--batch"
                                        : "chosen to fit memory and keep the device busy",
             plan.slots, tool_s(plan.slots), tool_bytes(text[1], (double)plan.host_bytes),
             plan.readers, tool_s(plan.readers));
    return AIRY_EXIT_OK;
}
