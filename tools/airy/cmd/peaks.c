/* airy peaks: a stack to its Bragg peaks and backgrounds, as sparse frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/peaks_stack.h"
#include "integrate/integrate.h"

enum { BINS = 800 };

struct peaks_params {
    struct integrate_params integrate;
    double noise, cutoff_pick, cutoff_peak;
    size_t patch, connected, max_pixels, max_peaks;
    bool has_split, has_error_model, no_clip;
};

#define FIELD(member)   .offset = offsetof(struct peaks_params, member)
#define SEEN(member)    .seen = offsetof(struct peaks_params, member)
#define PATTERN(member) FIELD(integrate.pattern.member)

static const struct opt peaks_options[] = {
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(integrate.output),
     .use = OPT_WRITTEN_OWN,
     .argument = "OUT.h5",
     .help = "sparse frames and peaks, a NeXus file"},
    STACK_CHANNEL_OPTION(struct peaks_params, integrate.raw),
    {.heading = "Background"},
    {.name = "bins",
     .type = OPT_PARSED,
     PATTERN(bins),
     .parse = pattern_parse_bins,
     .argument = "N",
     .fallback = "800",
     .help = "radial bins"},
    {.name = "unit",
     .type = OPT_PARSED,
     PATTERN(unit),
     SEEN(integrate.pattern.has_unit),
     .parse = pattern_parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help = "radial unit (--unit ? lists all)"},
    {.name = "split",
     .type = OPT_PARSED,
     PATTERN(split),
     SEEN(has_split),
     .parse = pattern_parse_split,
     .argument = "HOW",
     .fallback = "no",
     .help = "pixel splitting: no, bbox, full"},
    {.name = "error-model",
     .type = OPT_PARSED,
     PATTERN(error_model),
     SEEN(has_error_model),
     .parse = pattern_parse_error_model,
     .argument = "MODEL",
     .fallback = "poisson",
     .help =
         "poisson, azimuthal, variance or hybrid: where a ring's standard deviation comes from"},
    {.name = "clip",
     .type = OPT_PARSED,
     PATTERN(clip),
     .parse = pattern_parse_clip,
     .argument = "T[,CYCLES]",
     .fallback = "0,5",
     .help = "leave pixels farther than T standard deviations out of the background, and again; 0: "
             "Chauvenet's criterion"},
    {.name = "no-clip",
     .type = OPT_FLAG,
     FIELD(no_clip),
     .help = "the background is the mean of all pixels of a ring"},
    {.name = "radial-range",
     .type = OPT_PAIR,
     FIELD(integrate.radial_range),
     SEEN(integrate.has_radial_range),
     .argument = "A,B",
     .fallback = "all pixels",
     .help = "limits in the radial unit; pixels outside do not count"},
    {.name = "variance",
     .type = OPT_STRING,
     FIELD(integrate.variance),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "variance of each pixel, counts squared"},
    {.heading = "Peaks"},
    {.name = "cutoff-pick",
     .type = OPT_FLOAT,
     FIELD(cutoff_pick),
     .lo = 1e-6,
     .hi = 1e6,
     .argument = "T",
     .fallback = "3",
     .help = "pixels this many standard deviations above their ring are kept"},
    {.name = "cutoff-peak",
     .type = OPT_FLOAT,
     FIELD(cutoff_peak),
     .lo = 1e-6,
     .hi = 1e6,
     .argument = "T",
     .fallback = "3",
     .help = "pixels this many standard deviations above their ring make peaks"},
    {.name = "noise",
     .type = OPT_FLOAT,
     FIELD(noise),
     .lo = 1e-15,
     .hi = 1e15,
     .argument = "N",
     .fallback = "1",
     .help =
         "added to the standard deviation as squares, and least height of a kept pixel, counts"},
    {.name = "patch",
     .type = OPT_COUNT,
     FIELD(patch),
     .lo = 3,
     .hi = 31,
     .argument = "N",
     .fallback = "3",
     .help = "pixels on a side of the patch that a peak is the largest of, odd"},
    {.name = "connected",
     .type = OPT_COUNT,
     FIELD(connected),
     .lo = 1,
     .hi = 961,
     .argument = "N",
     .fallback = "2",
     .help = "pixels above the cutoff that a peak's patch must have"},
    {.name = "max-pixels",
     .type = OPT_COUNT,
     FIELD(max_pixels),
     .lo = 1,
     .hi = INT32_MAX,
     .argument = "N",
     .fallback = "a quarter of a frame",
     .help = "a frame with more pixels to keep is bad (--on-error)"},
    {.name = "max-peaks",
     .type = OPT_COUNT,
     FIELD(max_peaks),
     .lo = 1,
     .hi = INT32_MAX,
     .argument = "N",
     .fallback = "4096",
     .help = "a frame with more peaks is bad (--on-error)"},
    {0},
};

static const struct opt run_options[] = {
    {.heading = "Corrections"},
    BAD_PIXELS_MASK_OPTION(struct peaks_params, integrate.bad,
                           "bad pixels (not 0), added to the detector's and the file's"),
    {.name = "mask-only",
     .type = OPT_STRING,
     FIELD(integrate.mask_only),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "bad pixels (not 0), instead of those"},
    {.name = "dark",
     .type = OPT_STRING,
     FIELD(integrate.dark),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "dark image, subtracted, counts"},
    {.name = "flat",
     .type = OPT_STRING,
     FIELD(integrate.flat),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "flat field, relative response"},
    {.name = "polarization",
     .type = OPT_PARSED,
     FIELD(integrate.polarization),
     SEEN(integrate.has_polarization),
     .parse = integrate_parse_polarization,
     .argument = "F[,DEG]",
     .fallback = "off",
     .help = "polarization factor from -1 to 1, and the plane's angle in degrees"},
    {.name = "no-solid-angle",
     .type = OPT_FLAG,
     FIELD(integrate.no_solid_angle),
     .help = "leave out the solid-angle correction"},
    BAD_PIXELS_DUMMY_OPTIONS(
        struct peaks_params, integrate.bad, "the detector's own",
        "pixels of this value are left out of the background, and kept as they are"),
    {.heading = "Run"},
    STACK_FRAMES_OPTION(struct peaks_params, integrate.frames, integrate.has_frames),
    {.name = "batch",
     .type = OPT_COUNT,
     PATTERN(batch),
     .lo = 1,
     .hi = 4096,
     .argument = "N",
     .fallback = "chosen",
     .help = "frames a batch"},
    STACK_ON_ERROR_OPTION(
        struct peaks_params, integrate.skip_bad,
        "skip: a frame that cannot be read or has too much gets a message, exit code 3"),
    {.name = "resume",
     .type = OPT_FLAG,
     FIELD(integrate.resume),
     .help = "go on with OUT.partial of an interrupted run"},
    {0},
};

struct job {
    const struct peaks_params *params;
    const struct common *common;
    struct integration integration;
    airy_peak_finder **finders; /* [team.count] */
    airy_peak_params used;
};

static int check_peaks(void *user)
{
    struct peaks_params *p = user;
    const struct common *common = &p->integrate.geometry.common;
    struct pattern_params *pattern = &p->integrate.pattern;
    if (!p->integrate.output)
        return tool_usage(common, "no output: give -o OUT.h5");
    if (!integrate_is_hdf5_name(p->integrate.output))
        return tool_usage(common, "output '%s': expected a name that ends in .h5, .hdf5 or .nxs",
                          p->integrate.output);
    if (pattern->bins.azimuth)
        return tool_usage(common, "--bins %zux%zu: peaks stand out of rings, one dimension",
                          pattern->bins.radius, pattern->bins.azimuth);
    if (pattern->clip.given && p->no_clip)
        return tool_usage(common, "--clip and --no-clip: give one of them");
    if (p->has_error_model && pattern->error_model == AIRY_ERROR_MODEL_NONE)
        return tool_usage(common,
                          "--error-model none: peaks need the standard deviation of a ring");
    if (p->patch && p->patch % 2 == 0)
        return tool_usage(common, "--patch %zu: expected an odd number", p->patch);
    const size_t patch = p->patch ? p->patch * p->patch : 9;
    if (p->connected > patch)
        return tool_usage(common, "--connected %zu: expected at most the %zu pixels of --patch",
                          p->connected, patch);
    pattern->bins.radius = pattern->bins.radius ? pattern->bins.radius : BINS;
    if (!p->has_split)
        pattern->split = AIRY_SPLIT_NO;
    if (!p->has_error_model && !p->integrate.variance)
        pattern->error_model = AIRY_ERROR_MODEL_POISSON;
    pattern->clip.given = !p->no_clip;
    return integration_check(&p->integrate);
}

/* The configuration of the integration, with what was used to find peaks. */
static int add_configuration(struct job *job)
{
    const airy_peak_params *u = &job->used;
    struct integration *in = &job->integration;
    json_t *json = json_loads(in->configuration, 0, NULL);
    json_t *peaks = json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "noise", tool_json_number(u->noise), "cutoff_pick",
        tool_json_number(u->cutoff_pick), "cutoff_peak", tool_json_number(u->cutoff_peak), "patch",
        (json_int_t)u->patch, "connected", (json_int_t)u->connected, "max_pixels",
        (json_int_t)u->max_pixels, "max_peaks", (json_int_t)u->max_peaks);
    free(in->configuration);
    in->configuration = NULL;
    if (json && peaks) {
        pattern_rings_json(json, &job->params->integrate.pattern);
        json_object_set_new(json, "command", json_string("peaks"));
        json_object_set(json, "peaks", peaks);
        json_object_set(json, "sparsify", peaks); /* where fabio looks for cutoff_pick */
        in->configuration = tool_json_text(json);
    }
    json_decref(peaks);
    json_decref(json);
    in->run.configuration = in->configuration;
    return in->configuration ? AIRY_EXIT_OK
                             : tool_fail(job->common, "out of memory for the configuration");
}

/* Limits that the frames set. */
static int check_limits(const struct job *job)
{
    const struct peaks_params *p = job->params;
    const size_t pixels = job->integration.info.height * job->integration.info.width;
    if (p->max_pixels > pixels || p->max_peaks > pixels)
        return tool_fail(job->common, "--max-%s %zu: expected at most the %zu pixels of a frame",
                         p->max_pixels > pixels ? "pixels" : "peaks",
                         p->max_pixels > pixels ? p->max_pixels : p->max_peaks, pixels);
    return AIRY_EXIT_OK;
}

static int open_finders(struct job *job)
{
    const struct peaks_params *p = job->params;
    const struct team *team = &job->integration.team;
    const int code = check_limits(job);
    if (code != AIRY_EXIT_OK)
        return code;
    const airy_peak_params params = {.noise = p->noise,
                                     .cutoff_pick = p->cutoff_pick,
                                     .cutoff_peak = p->cutoff_peak,
                                     .patch = p->patch,
                                     .connected = p->connected,
                                     .max_pixels = p->max_pixels,
                                     .max_peaks = p->max_peaks};
    job->finders = calloc(team->count, sizeof(airy_peak_finder *));
    if (!job->finders)
        return tool_failed(job->common, AIRY_ERR_MEMORY);
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < team->count && status == AIRY_OK; i++)
        status = airy_peak_finder_create(&job->finders[i], team->integrators[i], &params);
    if (status == AIRY_OK)
        status = airy_peak_finder_get_params(job->finders[0], &job->used);
    return status == AIRY_OK ? add_configuration(job) : tool_failed(job->common, status);
}

static int report(const struct job *job, const airy_peaks_run_info *info)
{
    const struct common *common = job->common;
    const char *path = job->params->integrate.output;
    const airy_run_info *run = &info->run;
    const size_t good = run->frames - run->bad, all = run->frames + run->resumed;
    const double rate = (double)good / run->seconds,
                 each = all > run->bad ? (double)(all - run->bad) : 1;
    struct stat file;
    const double size = stat(path, &file) == 0 ? (double)file.st_size : NAN;
    /* What the frames of an earlier run were stored in is not known. */
    const double whole = run->resumed ? (double)NAN : size;
    char text[2][32];
    if (common->json) {
        char *specs = team_specs(&job->integration.team);
        const int code = tool_print_json(
            common,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s}",
                      "output", tool_json_string(path), "frames", (json_int_t)run->frames, "bad",
                      (json_int_t)run->bad, "resumed", (json_int_t)run->resumed, "pixels",
                      (json_int_t)info->pixels, "peaks", (json_int_t)info->peaks, "bytes",
                      (json_int_t)size, "stored_bytes", (json_int_t)run->stored_bytes,
                      "decoded_bytes", (json_int_t)run->decoded_bytes, "ratio",
                      tool_json_number((double)run->stored_bytes / whole), "ratio_decoded",
                      tool_json_number((double)run->decoded_bytes / whole), "seconds",
                      tool_json_number(run->seconds), "frames_per_second", tool_json_number(rate),
                      "device", specs ? specs : ""));
        free(specs);
        return code;
    }
    char stack[128] = "";
    if (!run->resumed)
        snprintf(stack, sizeof(stack), " (the stack has %.3g times as much, %s; plain %.3g times)",
                 (double)run->stored_bytes / size, tool_bytes(text[1], (double)run->stored_bytes),
                 (double)run->decoded_bytes / size);
    tool_say(common,
             "%s: %zu frame%s, %.4g pixels and %.4g peaks a frame, %s%s, %.3g s (%.4g frames/s)%s",
             path, all, tool_s(all), (double)info->pixels / each, (double)info->peaks / each,
             tool_bytes(text[0], size), stack, run->seconds, rate,
             run->resumed ? ", a part was done before" : "");
    return AIRY_EXIT_OK;
}

static int run_job(struct job *job)
{
    const struct common *common = job->common;
    struct integration *in = &job->integration;
    airy_peaks_run_info info = {.pixels = 0};
    struct progress progress;
    tool_catch_interrupts();
    tool_say_device(common, in->device);
    progress_begin(&progress, common, "frames");
    in->run.progress = progress_step;
    in->run.user = &progress;
    const airy_status status = airy_peaks_stack(job->params->integrate.output, in->stack,
                                                (const airy_peak_finder *const *)job->finders,
                                                in->team.count, &in->run, &info);
    progress_end(&progress);
    if (status == AIRY_ERR_CANCELLED)
        return integrate_stopped(in, info.run.frames + info.run.resumed);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (info.run.bad)
        tool_say(common, "%zu of %zu frames failed, the first: %s", info.run.bad,
                 info.run.frames + info.run.resumed, info.run.first_error);
    int code = team_profile(&in->team, common);
    if (code == AIRY_EXIT_OK)
        code = report(job, &info);
    if (code == AIRY_EXIT_OK)
        integration_say_gaps(in, NULL, NULL);
    return code == AIRY_EXIT_OK && info.run.bad ? AIRY_EXIT_PARTLY : code;
}

/* What is there already: all of the result, or a part of it. */
static int resume(struct job *job)
{
    char *before = NULL;
    int code = AIRY_EXIT_OK;
    if (resume_is_complete(&job->params->integrate))
        return resume_complete(&job->integration);
    if (job->params->integrate.resume)
        code = resume_check(&job->integration, &before);
    free(before);
    return code == AIRY_EXIT_OK ? run_job(job) : code;
}

static int run_peaks(void *user)
{
    struct peaks_params *p = user;
    struct job job = {.params = p, .common = &p->integrate.geometry.common};
    int code = resume_is_complete(&p->integrate)
                   ? AIRY_EXIT_OK
                   : integrate_check_place(&p->integrate, p->integrate.output);
    if (code != AIRY_EXIT_OK)
        return code;
    code = integration_open(&job.integration, &p->integrate, NULL);
    if (code == AIRY_EXIT_OK)
        code = tool_keep_stack(job.common, p->integrate.output, job.integration.stack);
    if (code == AIRY_EXIT_OK)
        code = open_finders(&job);
    if (code == AIRY_EXIT_OK)
        code = resume(&job);
    for (size_t i = 0; job.finders && i < job.integration.team.count; i++)
        airy_peak_finder_destroy(&job.finders[i]);
    free(job.finders);
    integration_close(&job.integration);
    return code;
}

const struct command cmd_peaks = {
    .name = "peaks",
    .usage = "STACK... [--poni FILE] -o OUT.h5 [options]",
    .summary = "Bragg peaks and background of each frame, as a file tens of times smaller",
    .details =
        "In each frame the mean and the standard deviation of every ring are found, without what "
        "stands out of it (--clip); pixels above that by --cutoff-pick are kept as they are, and "
        "peaks among them are listed with position, intensity and sigma. OUT.h5 has the layout of "
        "pyFAI's sparsify-Bragg, its peaks CXI's names; 'airy densify' makes frames of it again. "
        "Pixels that a frame marks as bad itself are kept with their values: give --mask so that "
        "the same ones are not listed in every frame. Geometry as in 'airy integrate'. OUT.h5 "
        "appears when complete; Ctrl-C leaves OUT.h5.partial, which --resume continues.",
    .examples = "  airy peaks series_master.h5 -o sparse.h5\n"
                "  airy peaks run.h5 --poni run.poni --cutoff-pick 4 --error-model azimuthal -o "
                "sparse.h5\n"
                "  airy densify sparse.h5 -o again.h5 --noise poisson\n",
    .tables = {geometry_options, peaks_options, run_options},
    .takes = TAKES_COMPUTE | TAKES_DEVICES | TAKES_COMPAT,
    .params_size = sizeof(struct peaks_params),
    .min_inputs = 1,
    .max_inputs = 100000,
    .check = check_peaks,
    .run = run_peaks,
};
