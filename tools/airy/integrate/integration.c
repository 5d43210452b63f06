/* From options to an integrator that is ready. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/frame_sums.h"
#include "images/image_util.h"

/* Values of a correction image that no pixel can be corrected with, by kind. */
enum { NOT_FINITE, ZERO, NEGATIVE, KINDS };
static const char *const kind_words[KINDS] = {"not finite", "0", "below 0"};

/* The kind of a value; KINDS: none, it is of use. */
static int kind_of(float value, bool factor, bool positive)
{
    if (!isfinite(value))
        return NOT_FINITE;
    return factor && value == 0 ? ZERO : positive && value < 0 ? NEGATIVE : KINDS;
}

/* Mask the pixels that a correction image leaves out; masked ones do not count. */
static void mask_odd(size_t odd[KINDS], const struct integration *job, const float *data,
                     bool factor, bool positive)
{
    for (size_t i = 0; i < job->info.height * job->info.width; i++) {
        const int kind = job->mask[i] ? KINDS : kind_of(data[i], factor, positive);
        if (kind == KINDS)
            continue;
        odd[kind]++;
        job->mask[i] = 1;
    }
}

/* A correction image; says how many of its pixels are left out. factor: pixels are divided by it. */
static int load_correction(const struct integration *job, const char *what, const char *path,
                           bool factor, float **data)
{
    size_t odd[KINDS] = {0}, all = 0, used = 0;
    char why[128] = "";
    if (!path)
        return AIRY_EXIT_OK;
    const int code =
        image_load_float(job->common, what, path, job->info.height, job->info.width, data);
    if (code != AIRY_EXIT_OK)
        return code;
    /* A dark may be below 0, and the package divides by what is. */
    mask_odd(odd, job, *data, factor, data != &job->dark && !job->common->compat);
    for (int k = 0; k < KINDS; k++) {
        all += odd[k];
        if (odd[k])
            used += (size_t)snprintf(why + used, sizeof(why) - used, "%s%zu %s %s",
                                     used ? ", " : "", odd[k], odd[k] == 1 ? "is" : "are",
                                     kind_words[k]);
    }
    if (all)
        tool_say(job->common, "--%s %s: %zu of %zu pixels %s left out: %s", what, path, all,
                 job->info.height * job->info.width, all == 1 ? "is" : "are", why);
    return AIRY_EXIT_OK;
}

static int load_corrections(struct integration *job)
{
    const struct integrate_params *p = job->params;
    int code = load_correction(job, "dark", p->dark, false, &job->dark);
    if (code == AIRY_EXIT_OK)
        code = load_correction(job, "flat", p->flat, true, &job->flat);
    if (code == AIRY_EXIT_OK)
        code = load_correction(job, "absorption", p->absorption, true, &job->absorption);
    if (code == AIRY_EXIT_OK)
        code = load_correction(job, "variance", p->variance, false, &job->variance);
    return code;
}

static size_t count_bad(const uint8_t *mask, size_t count)
{
    size_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += mask[i] != 0;
    return bad;
}

/* The detector's mask, the file's and --mask added up; or --mask-only alone. */
static int load_masks(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const size_t height = job->info.height, width = job->info.width, count = height * width;
    if (p->mask_only) {
        const int only =
            image_load_mask(job->common, "mask-only", p->mask_only, height, width, &job->mask);
        job->masked[2] = only == AIRY_EXIT_OK ? count_bad(job->mask, count) : 0;
        return only;
    }
    uint8_t *more = NULL;
    job->mask = calloc(count, 1);
    if (!job->mask)
        return tool_fail(job->common, "out of memory for a mask of %zu pixels", count);
    airy_status status = airy_detector_mask(&job->geometry.detector, job->mask);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    job->masked[0] = count_bad(job->mask, count);
    int code = AIRY_EXIT_OK;
    if (job->meta.has_mask) {
        more = malloc(count);
        if (!more)
            return tool_fail(job->common, "out of memory for a mask of %zu pixels", count);
        if (job->source)
            memcpy(more, job->source->mask, count);
        else
            status = airy_stack_mask(job->stack, more);
        for (size_t i = 0; status == AIRY_OK && i < count; i++)
            job->mask[i] |= more[i];
        job->masked[1] = status == AIRY_OK ? count_bad(more, count) : 0;
        free(more);
        more = NULL;
        if (status != AIRY_OK)
            return tool_failed(job->common, status);
    }
    if (p->bad.mask) {
        code = image_load_mask(job->common, "mask", p->bad.mask, height, width, &more);
        for (size_t i = 0; code == AIRY_EXIT_OK && i < count; i++)
            job->mask[i] |= more[i];
        job->masked[2] = code == AIRY_EXIT_OK ? count_bad(more, count) : 0;
        free(more);
    }
    return code;
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

/* What the library would refuse by the names of its parameters. */
static int check_axes(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    const airy_unit second = p->pattern.azimuthal ? p->pattern.azimuthal : AIRY_UNIT_CHI_DEG;
    const double *a = p->azimuth_range;
    if (p->pattern.bins.azimuth && airy_unit_turn(p->pattern.unit) != 0)
        return tool_usage(common, "--unit %s: expected a radial unit in two dimensions",
                          airy_unit_name(p->pattern.unit));
    if (p->pattern.bins.azimuth && second == p->pattern.unit)
        return tool_usage(common, "--azimuthal %s is the unit of the first axis, too: give another",
                          airy_unit_name(second));
    if (p->chi_zero && airy_unit_turn(second) == 0)
        return tool_usage(common,
                          "--chi-zero is for chi_deg, chi_rad, chigi_deg and chigi_rad, "
                          "--azimuthal is %s",
                          airy_unit_name(second));
    if (!p->has_azimuth_range)
        return AIRY_EXIT_OK;
    if (a[0] == a[1])
        return tool_usage(common, "--azimuth-range %g,%g: expected two limits that differ", a[0],
                          a[1]);
    if (airy_unit_turn(second) == 0)
        return a[0] < a[1] ? AIRY_EXIT_OK
                           : tool_usage(common, "--azimuth-range %g,%g: expected A < B in %s", a[0],
                                        a[1], airy_unit_name(second));
    if (fabs(a[0]) > 720 || fabs(a[1]) > 720 || a[1] - a[0] > 360)
        return tool_usage(common,
                          "--azimuth-range %g,%g: expected degrees from -720 to 720, and 360 at "
                          "most between them",
                          a[0], a[1]);
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

int integration_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (p->bad.mask && p->mask_only)
        return tool_usage(common, "--mask and --mask-only: give one of them");
    if (p->variance && p->pattern.error_model != AIRY_ERROR_MODEL_NONE &&
        p->pattern.error_model != AIRY_ERROR_MODEL_VARIANCE)
        return tool_usage(common, "--variance goes with --error-model variance");
    if (!p->variance && p->pattern.error_model == AIRY_ERROR_MODEL_VARIANCE)
        return tool_usage(common, "--error-model variance needs --variance FILE");
    if (p->has_radial_range && !(p->radial_range[0] < p->radial_range[1]))
        return tool_usage(common, "--radial-range %g,%g: expected A < B", p->radial_range[0],
                          p->radial_range[1]);
    if (p->pattern.bins.azimuth == 0 && p->pattern.split == AIRY_SPLIT_PSEUDO)
        return tool_usage(common, "--split pseudo is for two dimensions: --bins RADIUSxAZIMUTH");
    if (bad_pixels_check(common, &p->bad) != AIRY_EXIT_OK)
        return AIRY_EXIT_USAGE;
    int code = check_axes(p);
    if (code == AIRY_EXIT_OK)
        code = pattern_check(common, &p->pattern);
    return code == AIRY_EXIT_OK ? around_check(p) : code;
}

static void fill_params(struct integration *job)
{
    const struct integrate_params *p = job->params;
    airy_integrator_params *q = &job->integrator_params;
    *q = (airy_integrator_params){
        .bins = p->pattern.bins.radius,
        .azimuth_bins = p->pattern.bins.azimuth,
        .azimuth_unit = p->pattern.azimuthal,
        .unit = p->pattern.unit,
        .split = p->pattern.split,
        .method = p->pattern.method,
        .error_model = p->variance ? AIRY_ERROR_MODEL_VARIANCE : p->pattern.error_model,
        .compat = (airy_compat)job->common->compat,
        .has_radial_range = p->has_radial_range,
        .has_azimuth_range = p->has_azimuth_range,
        .chi_zero = p->chi_zero,
        .mask = job->mask,
        .dark = job->dark,
        .flat = job->flat,
        .absorption = job->absorption,
        .variance = job->variance,
        .has_polarization = p->has_polarization,
        .polarization = p->polarization[0],
        .polarization_offset_deg = p->polarization[1],
        .no_solid_angle = p->no_solid_angle,
        .sensor_efficiency = p->sensor_efficiency,
        .unweighted = p->unweighted,
        .normalization = p->has_normalization ? p->normalization : 0,
        .has_dummy = p->bad.has_dummy,
        .dummy = p->bad.dummy,
        .delta_dummy = p->bad.delta_dummy,
        .has_saturation = p->has_saturation || job->meta.has_saturation,
        .saturation = p->has_saturation ? p->saturation : job->meta.saturation,
        .mask_saturated = p->mask_saturated,
        .has_empty = p->has_empty,
        .empty = p->empty};
    if (!p->bad.has_dummy && job->meta.has_dummy) {
        q->has_dummy = true;
        q->dummy = job->meta.dummy;
        q->delta_dummy = job->meta.delta_dummy;
    }
    pattern_set_rings(q, &p->pattern);
    memcpy(q->radial_range, p->radial_range, sizeof(q->radial_range));
    memcpy(q->azimuth_range, p->azimuth_range, sizeof(q->azimuth_range));
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

/* All pixels of an unsigned type are saturated from 0 on. */
static int check_saturation(const struct integration *job)
{
    const struct integrate_params *p = job->params;
    const airy_dtype dtype = job->info.dtype;
    if (!p->has_saturation || p->saturation > 0 || airy_dtype_is_signed(dtype))
        return AIRY_EXIT_OK;
    return tool_usage(job->common,
                      "--saturation %g: pixels are %s, so that all of them would be saturated; "
                      "expected a value above 0",
                      p->saturation, airy_dtype_name(dtype));
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
    pattern_set_sample(&job->geometry, &params->pattern);
    if (code == AIRY_EXIT_OK)
        code = choose_frames(job);
    if (code == AIRY_EXIT_OK)
        code = around_open(job);
    if (code == AIRY_EXIT_OK)
        code = load_masks(job);
    if (code == AIRY_EXIT_OK)
        code = load_corrections(job);
    if (code == AIRY_EXIT_OK)
        code = check_saturation(job);
    if (code == AIRY_EXIT_OK && params->mask_saturated && airy_dtype_is_float(job->info.dtype) &&
        !params->has_saturation && !job->meta.has_saturation)
        code = tool_usage(job->common,
                          "--mask-saturated: pixels are %s and the file has no saturation; give "
                          "--saturation V",
                          airy_dtype_name(job->info.dtype));
    if (code != AIRY_EXIT_OK)
        return code;
    if (!source && (!params->world || world_first(params->world)))
        if (!bad_pixels_can_be(&params->bad, job->info.dtype))
            bad_pixels_say_none(job->common, &params->bad, job->info.dtype, 0);
    fill_params(job);
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
    free(job->mask);
    free(job->dark);
    free(job->flat);
    free(job->absorption);
    free(job->variance);
}
