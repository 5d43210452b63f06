/* From options to an integrator that is ready. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/frame_sums.h"

static airy_pixel_params pixel_params(const struct integrate_params *p)
{
    return (airy_pixel_params){.mask.path = p->bad.mask,
                               .mask_only.path = p->mask_only,
                               .dark.path = p->dark,
                               .flat.path = p->flat,
                               .absorption.path = p->absorption,
                               .variance.path = p->variance,
                               .keep_negative = p->geometry.common.compat};
}

/* An airy_log_fn with a struct common. */
static void print_warning(void *user, airy_log_level level, const char *text)
{
    char named[2 * AIRY_ERROR_TEXT];
    (void)level;
    tool_name_values(user, named, sizeof(named), text);
    tool_say(user, "%s", named);
}

/* The frames' own mask, which is *own where it was read; NULL: there is none. */
static airy_status find_file_mask(const struct integration *job, uint8_t **own,
                                  const uint8_t **mask)
{
    if (!job->meta.has_mask || job->params->mask_only)
        return AIRY_OK;
    if (job->source) {
        *mask = job->source->mask;
        return AIRY_OK;
    }
    *mask = *own = malloc(job->info.height * job->info.width);
    return *own ? airy_stack_mask(job->stack, *own) : AIRY_ERR_MEMORY;
}

/* Masks and corrections. */
static int load_pixels(struct integration *job)
{
    airy_pixel_params params = pixel_params(job->params);
    uint8_t *own = NULL;
    params.message = print_warning;
    params.user = (void *)job->common;
    airy_status status = find_file_mask(job, &own, &params.file_mask);
    if (status == AIRY_OK)
        status = airy_pixels_load(&job->pixels, &params, &job->geometry.detector, job->info.height,
                                  job->info.width);
    free(own);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_refused(job->common, status);
}

static int open_stack(struct integration *job)
{
    if (job->source) {
        job->info = job->source->info;
        job->meta = job->source->meta;
        return AIRY_EXIT_OK;
    }
    const struct opt_list *inputs = &job->common->inputs;
    airy_status status = (job->params->follow ? stack_open_growing
                                              : stack_open)(&job->stack, inputs, &job->params->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(job->stack, &job->info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(job->stack, &job->meta);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

/* Which frames; their monitor. */
static int choose_frames(struct integration *job)
{
    if (job->params->follow)
        return follow_frames(job);
    const struct integrate_params *p = job->params;
    const size_t first = p->frames[0], step = p->has_frames ? p->frames[2] : 1;
    const size_t last = p->has_frames && p->frames[1] ? p->frames[1] : job->info.frames;
    const bool endless = job->source && job->info.frames == 0; /* --frames is refused then */
    if (!endless && (last > job->info.frames || first >= last))
        return tool_fail(job->common, "--frames %s: the stack has %zu frame%s, numbered from 0",
                         opt_given(job->common, "frames", "all"), job->info.frames,
                         tool_s(job->info.frames));
    job->run.first = first;
    job->run.last = last;
    job->run.step = step;
    job->frames = endless ? 0 : (last - first - 1) / step + 1;
    job->run.batch = p->pattern.batch;
    job->run.skip_bad = p->skip_bad;
    job->run.resume = p->resume;
    job->run.group = p->average ? p->average : p->sum;
    job->run.merge = p->sum ? AIRY_MERGE_SUM : AIRY_MERGE_AVERAGE;
    job->run.force = job->common->force;
    if (!p->monitor)
        return AIRY_EXIT_OK;
    job->monitor = malloc(job->info.frames * sizeof(double));
    if (!job->monitor)
        return tool_fail(job->common, "out of memory for %zu monitor values", job->info.frames);
    const airy_status status = airy_stack_monitor(job->stack, p->monitor, job->monitor);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    for (size_t i = first; i < last && !p->skip_bad; i += step)
        if (!airy_monitor_is_usable(job->monitor[i]))
            return tool_fail(job->common,
                             "--monitor %s: frame %zu has %g, expected a finite number above 0; "
                             "--on-error skip leaves it out",
                             p->monitor, i, job->monitor[i]);
    job->run.monitor = job->monitor;
    return AIRY_EXIT_OK;
}

static void say_degrees(const struct integrate_params *p)
{
    const airy_unit second = p->pattern.azimuthal ? p->pattern.azimuthal : AIRY_UNIT_CHI_DEG;
    const double *a = p->azimuth_range, turn = airy_unit_turn(second);
    if (p->has_azimuth_range && turn != 0 && turn < 360 && fabs(a[0]) < 6.3 && fabs(a[1]) < 6.3)
        tool_say(&p->geometry.common,
                 "--azimuth-range %g,%g: these are degrees, also with --azimuthal %s", a[0], a[1],
                 airy_unit_name(second));
}

/* But for what the frames' files say. */
static airy_integrator_params given_params(const struct integrate_params *p)
{
    airy_integrator_params q = pattern_integrator(&p->pattern);
    q.compat = (airy_compat)p->geometry.common.compat;
    q.has_radial_range = p->has_radial_range;
    q.has_azimuth_range = p->has_azimuth_range;
    memcpy(q.radial_range, p->radial_range, sizeof(q.radial_range));
    memcpy(q.azimuth_range, p->azimuth_range, sizeof(q.azimuth_range));
    q.chi_zero = p->chi_zero;
    q.has_polarization = p->has_polarization;
    q.polarization = p->polarization[0];
    q.polarization_offset_deg = p->polarization[1];
    q.no_solid_angle = p->no_solid_angle;
    q.sensor_efficiency = p->sensor_efficiency;
    q.unweighted = p->unweighted;
    q.normalization = p->has_normalization ? p->normalization : 0;
    q.has_dummy = p->bad.has_dummy;
    q.dummy = p->bad.dummy;
    q.delta_dummy = p->bad.delta_dummy;
    q.has_saturation = p->has_saturation;
    q.saturation = p->saturation;
    q.mask_saturated = p->mask_saturated;
    q.has_empty = p->has_empty;
    q.empty = p->empty;
    return q;
}

int integration_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    const airy_pixel_params pixels = pixel_params(p);
    const airy_integrator_params params = given_params(p);
    const airy_status status = airy_pixels_check(&pixels);
    if (status != AIRY_OK)
        return tool_refused(common, status);
    if (bad_pixels_check(common, &p->bad) != AIRY_EXIT_OK)
        return AIRY_EXIT_USAGE;
    const int code = pattern_check(common, &params, &p->pattern.sample, p->variance);
    return code == AIRY_EXIT_OK ? around_check(p) : code;
}

/* What the first file says of the place where it was made. */
static void name_place(struct integration *job)
{
    static const char *const objects[3][2] = {
        {"/entry/instrument/name", "/entry/instrument/name"},
        {"/entry/source/name", "/entry/instrument/source/name"},
        {"/entry/source/type", "/entry/instrument/source/type"}};
    const char *path = job->common->inputs.items[0];
    char file[4096];
    snprintf(file, sizeof(file), "%.*s",
             (int)(strstr(path, "::") ? strstr(path, "::") - path : 4095), path);
    const bool hdf5 = job->info.path != AIRY_STACK_FILES && tool_exists(file);
    for (size_t i = 0; hdf5 && i < 3; i++)
        for (size_t k = 0; k < 2 && !job->names[i]; k++)
            if (airy_hdf5_text(&job->names[i], file, objects[i][k]) != AIRY_OK)
                job->names[i] = NULL;
    job->nxazint = (airy_nxazint){
        .solid_angle = !job->params->no_solid_angle,
        .polarization = job->params->has_polarization,
        .wavelength = job->geometry.wavelength,
        .instrument = job->params->instrument ? job->params->instrument : job->names[0],
        .source = job->params->source ? job->params->source : job->names[1],
        /* The file's is that of the file's source. */
        .source_type = job->params->source ? NULL : job->names[2]};
    job->run.nxazint = &job->nxazint;
}

/* Devices and an integrator on each. */
static int open_team(struct integration *job)
{
    airy_status status = AIRY_OK;
    if (job->source) { /* the devices stay open for the next series */
        job->team.devices = job->source->team->devices;
        job->team.count = job->source->team->count;
    } else {
        status = team_open(&job->team, job->common);
    }
    if (status == AIRY_OK)
        status = team_integrators(&job->team, &job->geometry, &job->integrator_params);
    if (status != AIRY_OK)
        return geometry_failed(&job->params->geometry, &job->meta, status);
    job->device = job->team.devices[0];
    job->integrator = job->team.integrators[0];
    return AIRY_EXIT_OK;
}

int integration_open(struct integration *job, const struct integrate_params *params,
                     const airy_geometry *replayed)
{
    return integration_open_source(job, params, replayed, NULL);
}

int integration_open_source(struct integration *job, const struct integrate_params *params,
                            const airy_geometry *replayed, const struct integration_source *source)
{
    memset(job, 0, sizeof(*job));
    job->start = tool_now();
    job->source = source;
    job->params = params;
    job->common = &params->geometry.common;
    const airy_geometry_params *given = &params->geometry.given;
    say_degrees(params);
    int code = open_stack(job);
    if (code == AIRY_EXIT_OK && replayed && !geometry_given(&params->geometry)) {
        job->replayed = true;
        const bool marks = job->meta.geometry.detector.dectris_dummy;
        job->meta.has_geometry = true;
        job->meta.geometry = *replayed;
        job->meta.geometry.detector.dectris_dummy |=
            marks && strcmp(replayed->detector.name, "Detector") == 0;
    }
    if (code == AIRY_EXIT_OK && job->stack)
        code = geometry_hold(job->stack, NULL, &params->geometry, job->replayed);
    if (code == AIRY_EXIT_OK)
        code = geometry_resolve(&job->geometry, &params->geometry, &job->meta, job->info.height,
                                job->info.width);
    if (code == AIRY_EXIT_OK && (given->sensor.material[0] || given->attenuation != 0) &&
        !job->geometry.parallax && !params->sensor_efficiency)
        code = tool_usage(job->common, "--%s goes with --parallax or --sensor-efficiency",
                          given->sensor.material[0] ? "sensor" : "attenuation");
    if (code == AIRY_EXIT_OK)
        code = geometry_arrays(&job->arrays, &job->geometry, job->common);
    airy_geometry_set_sample(&job->geometry, &params->pattern.sample);
    if (code == AIRY_EXIT_OK)
        code = choose_frames(job);
    if (code == AIRY_EXIT_OK)
        code = around_open(job);
    if (code == AIRY_EXIT_OK)
        code = load_pixels(job);
    if (code == AIRY_EXIT_OK) {
        job->integrator_params = given_params(params);
        const airy_status status =
            airy_pixels_apply(&job->integrator_params, &job->pixels, &job->meta, job->info.dtype);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_refused(job->common, status);
    }
    if (code != AIRY_EXIT_OK)
        return code;
    if (!source && (!params->world || world_first(params->world)))
        if (!bad_pixels_can_be(&params->bad, job->info.dtype))
            bad_pixels_say_none(job->common, &params->bad, job->info.dtype, 0);
    code = open_team(job);
    if (code == AIRY_EXIT_OK)
        code = around_fit(job);
    if (code != AIRY_EXIT_OK)
        return code;
    if (params->format == FORMAT_NXAZINT)
        name_place(job);
    code = configuration_text(&job->configuration, job);
    job->run.configuration = job->configuration;
    return code;
}

void integration_say_empty(const struct common *common, size_t frames, size_t empty, size_t first)
{
    static const char advice[] =
        "saturated, dummy and masked pixels are left out (see --saturation, --dummy and --mask)";
    if (empty == 1)
        tool_say(common, "frame %zu: no valid pixel is left; %s", first, advice);
    else if (empty)
        tool_say(common, "no valid pixel is left in %zu of %zu frames, the first is frame %zu; %s",
                 empty, frames, first, advice);
}

size_t integration_rows(const struct integration *job)
{
    const size_t group = job->run.group < job->frames ? job->run.group : job->frames;
    return (job->frames - 1) / (group ? group : 1) + 1;
}

void integration_close(struct integration *job)
{
    if (job->source) { /* the devices are the source's */
        team_drop_integrators(&job->team);
        job->team = (struct team){0};
    }
    team_close(&job->team);
    airy_stack_destroy(&job->stack);
    airy_detector_arrays_destroy(&job->arrays);
    around_close(job);
    free(job->configuration);
    for (size_t i = 0; i < 3; i++)
        free(job->names[i]);
    free(job->monitor);
    airy_pixels_free(&job->pixels);
}
