/* airy integrate: a stack of frames to radial patterns. */
#include "integrate/integrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/plot.h"
#include "result/patterns.h"
#include "integrate/ranks.h"

/* F or F,OFFSET_DEG */
const char *integrate_parse_polarization(void *field, const char *text)
{
    double *pair = field, numbers[2] = {0, 0};
    airy_integrator_params params = {.bins = 0};
    if (airy_params_set_polarization(&params, numbers, opt_numbers(text, numbers, 2)) != AIRY_OK)
        return airy_last_error();
    pair[0] = params.polarization;
    pair[1] = params.polarization_offset_deg;
    return NULL;
}

static const char *const formats[] = {"airy", "nxazint", NULL};

/* N, or all. */
static const char *parse_group(void *field, const char *text)
{
    uint64_t n = SIZE_MAX;
    if (strcmp(text, "all") != 0 && (!opt_whole(text, &n) || n < 1 || n > 1000000000))
        return "expected 1 to 1000000000, or all";
    *(size_t *)field = (size_t)n;
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct integrate_params, member)
#define SEEN(member)  .seen = offsetof(struct integrate_params, member)

PATTERN_HEAD_FITS(struct integrate_params);

static const struct opt integrate_options[] = {
    {.heading = "Input"},
    STACK_RAW_OPTION(struct integrate_params, raw),
    STACK_CHANNEL_OPTION(struct integrate_params, raw),
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN_OWN,
     .argument = "OUT",
     .help = ".h5 (all frames in one NeXus file), or text, one file a pattern: .xye .xy .chi .dat"},
    {.name = "one-table",
     .type = OPT_FLAG,
     FIELD(one_table),
     .help = "text: all patterns in one file, a column each"},
    {.name = "format",
     .type = OPT_WORD,
     FIELD(format),
     .words = formats,
     .argument = "airy|nxazint",
     .fallback = "airy",
     .help = "nxazint: OUT.h5 is an NXazint1d or NXazint2d file, too"},
    {.name = "instrument",
     .type = OPT_STRING,
     FIELD(instrument),
     .argument = "NAME",
     .help = "nxazint: name of the beamline (default: what the input says)"},
    {.name = "source",
     .type = OPT_STRING,
     FIELD(source),
     .argument = "NAME",
     .help = "nxazint: name of the facility (default: what the input says)"},
    {.name = "variance",
     .type = OPT_STRING,
     FIELD(variance),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "variance of each pixel, counts squared"},
    {.name = "radial-range",
     .type = OPT_PAIR,
     FIELD(radial_range),
     SEEN(has_radial_range),
     .argument = "A,B",
     .fallback = "all pixels",
     .help = "limits in the radial unit"},
    {.name = "azimuth-range",
     .type = OPT_PAIR,
     FIELD(azimuth_range),
     SEEN(has_azimuth_range),
     .argument = "A,B",
     .fallback = "all",
     .help = "limits of chi in degrees (also with chi_rad); B <= A wraps around; where --azimuthal "
             "is no angle about the beam, in its unit"},
    {.name = "chi-zero",
     .type = OPT_FLAG,
     FIELD(chi_zero),
     .help = "chi runs from 0 to 360 degrees, not from -180 to 180"},
    {.name = "unweighted",
     .type = OPT_FLAG,
     FIELD(unweighted),
     .help = "mean of corrected pixels instead of sum over sum"},
    {.name = "empty",
     .type = OPT_PARSED,
     FIELD(empty),
     SEEN(has_empty),
     .parse = opt_any_number,
     .argument = "V",
     .fallback = "NaN",
     .help = "value of bins without pixels"},
    {.heading = "Corrections"},
    BAD_PIXELS_MASK_OPTION(struct integrate_params, bad,
                           "bad pixels (not 0), added to the detector's and the file's"),
    {.name = "mask-only",
     .type = OPT_STRING,
     FIELD(mask_only),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "bad pixels (not 0), instead of those"},
    {.name = "dark",
     .type = OPT_STRING,
     FIELD(dark),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "dark image, subtracted, counts"},
    {.name = "flat",
     .type = OPT_STRING,
     FIELD(flat),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "flat field, relative response"},
    {.name = "absorption",
     .type = OPT_STRING,
     FIELD(absorption),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "absorption correction, a factor of the normalisation"},
    {.name = "polarization",
     .type = OPT_PARSED,
     FIELD(polarization),
     SEEN(has_polarization),
     .parse = integrate_parse_polarization,
     .argument = "F[,DEG]",
     .fallback = "off",
     .help = "polarization factor from -1 to 1, and the plane's angle in degrees"},
    {.name = "no-solid-angle",
     .type = OPT_FLAG,
     FIELD(no_solid_angle),
     .help = "leave out the solid-angle correction"},
    {.name = "sensor-efficiency",
     .type = OPT_FLAG,
     FIELD(sensor_efficiency),
     .help = "correct for what the sensor absorbs at an angle"},
    {.name = "normalization",
     .type = OPT_FLOAT,
     FIELD(normalization),
     SEEN(has_normalization),
     .lo = 1e-300,
     .hi = 1e300,
     .argument = "F",
     .fallback = "1",
     .help = "factor of the normalisation"},
    {.name = "monitor",
     .type = OPT_STRING,
     FIELD(monitor),
     .argument = "DATASET",
     .help = "one factor a frame, of all files of the stack"},
    BAD_PIXELS_DUMMY_OPTIONS(struct integrate_params, bad, "the detector's own",
                             "pixels of this value are left out"),
    {.name = "saturation",
     .type = OPT_FLOAT,
     FIELD(saturation),
     SEEN(has_saturation),
     .lo = -1e300,
     .hi = 1e300,
     .argument = "V",
     .fallback = "the file's, or the type's largest value",
     .help = "pixels of V and more are counted as saturated"},
    {.name = "mask-saturated",
     .type = OPT_FLAG,
     FIELD(mask_saturated),
     .help = "and left out of the frame, as dummies are"},
    {.heading = "Run"},
    STACK_FRAMES_OPTION(struct integrate_params, frames, has_frames),
    {.name = "average",
     .type = OPT_PARSED,
     FIELD(average),
     .parse = parse_group,
     .argument = "N|all",
     .fallback = "1",
     .help = "N frames that follow one another become one pattern: their weighted mean"},
    {.name = "sum",
     .type = OPT_PARSED,
     FIELD(sum),
     .parse = parse_group,
     .argument = "N|all",
     .fallback = "1",
     .help = "the same, but the pattern of their sum"},
    {.name = "roi",
     .type = OPT_LIST,
     FIELD(roi),
     .argument = "A,B[,CHI0,CHI1]",
     .help = "sum and mean of a region of each pattern, in the unit (and in two dimensions as "
             "--azimuth-range); repeatable"},
    {.name = "grid",
     .type = OPT_PARSED,
     FIELD(grid),
     .parse = around_grid,
     .argument = "NxM",
     .help = "the frames are a scan of N rows of M points: maps of total and regions"},
    {.name = "zigzag",
     .type = OPT_FLAG,
     FIELD(zigzag),
     .help = "every other row of the scan runs backwards"},
    {.name = "carry",
     .type = OPT_LIST,
     FIELD(carry),
     .argument = "DATASET|none",
     .fallback = "what the file has one of a frame",
     .help = "motors, times, monitors that go into the result; repeatable"},
    {.name = "layout",
     .type = OPT_WORD,
     FIELD(layout),
     .words = layout_words,
     .argument = "HOW",
     .fallback = "auto",
     .help = "auto, serial, threads or device: who does which part of the work. For several "
             "processes see --mpi, or give each its --frames and join the results by 'airy merge'"},
    {.name = "mpi",
     .type = OPT_PARSED,
     .optional = true,
     FIELD(mpi),
     SEEN(has_mpi),
     .parse = world_parse,
     .argument = "on|off",
     .fallback = "on where mpirun or srun has started several",
     .help = "the processes of a launcher share the frames"},
    {.name = "per-rank",
     .type = OPT_FLAG,
     FIELD(per_rank),
     .help = "each of them writes a file of its own, which OUT.h5 shows as one stack"},
    STACK_ON_ERROR_OPTION(
        struct integrate_params, skip_bad,
        "skip: a frame that cannot be read or decoded becomes NaN with a message, exit code 3"),
    {.name = "resume",
     .type = OPT_FLAG,
     FIELD(resume),
     .help = "go on with OUT.partial of an interrupted run"},
    {.name = "follow",
     .type = OPT_FLAG,
     FIELD(follow),
     .help = "the input is still being written: take frames, or files of a pattern, as they come"},
    {.name = "follow-timeout",
     .type = OPT_FLOAT,
     FIELD(follow_timeout),
     SEEN(has_follow_timeout),
     .lo = 0.1,
     .hi = 1e7,
     .argument = "S",
     .fallback = "60",
     .help = "no more frames are expected when none has come for so many seconds"},
    {.name = "poll",
     .type = OPT_FLOAT,
     FIELD(poll),
     SEEN(has_poll),
     .lo = 0.01,
     .hi = 3600,
     .argument = "S",
     .fallback = "0.5",
     .help = "seconds between two looks at the input"},
    {.name = "config",
     .type = OPT_STRING,
     FIELD(config),
     .use = OPT_READ,
     .argument = "PREVIOUS.h5|FILE.json",
     .help = "geometry and options of a previous result, or of a JSON file such as 'airy info "
             "PREVIOUS.h5 --json' writes; others override them"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN_OWN,
     .argument = "OUT.png",
     .help = "draw the result, too (.png, .svg, .pdf)"},
    {0},
};

static int check_output_name(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (!p->output && common->explain)
        return AIRY_EXIT_OK;
    if (!p->output)
        return tool_usage(common, "no output: give -o OUT.h5, .xye, .xy, .chi or .dat");
    if (!integrate_is_hdf5_name(p->output) && !ascii_name(p->output))
        return tool_usage(common,
                          "output '%s': expected a name that ends in .h5, .xye, .xy, .chi or .dat",
                          p->output);
    if (p->one_table && (integrate_is_hdf5_name(p->output) || tool_has_suffix(p->output, ".chi")))
        return tool_usage(common, "--one-table: output '%s' is none of .xye, .xy or .dat",
                          p->output);
    if ((p->instrument || p->source) && p->format != FORMAT_NXAZINT)
        return tool_usage(common, "--%s goes with --format nxazint",
                          p->instrument ? "instrument" : "source");
    if (p->output && p->format == FORMAT_NXAZINT && !integrate_is_hdf5_name(p->output))
        return tool_usage(common, "--format nxazint: output '%s' is no .h5 or .nxs file",
                          p->output);
    if (p->pattern.bins.azimuth && !integrate_is_hdf5_name(p->output))
        return tool_usage(common,
                          "output '%s': two dimensions go into .h5, text files hold one dimension",
                          p->output);
    if (p->plot && !tool_has_suffix(p->plot, ".png") && !tool_has_suffix(p->plot, ".svg") &&
        !tool_has_suffix(p->plot, ".pdf"))
        return tool_usage(common, "--plot %s: expected a name that ends in .png, .svg or .pdf",
                          p->plot);
    if (p->resume && !integrate_is_hdf5_name(p->output))
        return tool_usage(
            common,
            "--resume: text files are complete or not there; select what is missing by --frames");
    if (p->output && tool_has_suffix(p->output, ".xye") && !p->variance &&
        p->pattern.error_model == AIRY_ERROR_MODEL_NONE)
        return tool_usage(common,
                          "output '%s' has a column of errors: give --error-model, or write .xy",
                          p->output);
    return AIRY_EXIT_OK;
}

/* What is there already. */
static int check_output(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (!p->output || resume_is_complete(p) || common->explain)
        return AIRY_EXIT_OK;
    if (p->plot && !common->force && tool_exists(p->plot))
        return tool_exists_already(common, p->plot);
    return integrate_is_hdf5_name(p->output) ? integrate_check_place(p, p->output) : AIRY_EXIT_OK;
}

/* Frames that become one pattern; the last of them may be fewer. */
static void say_groups(const struct integration *job)
{
    const size_t frames = job->frames, group = job->run.group < frames ? job->run.group : frames;
    if (group < 2)
        return;
    const size_t left = frames % group, count = frames / group + (left > 0);
    char last[64] = "";
    if (left)
        snprintf(last, sizeof(last), ", the last one of %zu", left);
    tool_say(job->common, "--%s: %zu frames make %zu pattern%s%s", airy_merge_name(job->run.merge),
             frames, count, tool_s(count), last);
}

/* Where --memory-limit is what makes the run slower. */
static void say_threads(const struct integration *job, unsigned threads)
{
    airy_device_info device;
    for (size_t i = 0; i < job->team.count && threads > 0; i++)
        if (airy_device_get_info(job->team.devices[i], &device) == AIRY_OK &&
            strcmp(device.backend, "cpu") == 0 && device.units > threads)
            tool_say(job->common, "--memory-limit left room for %u of %u threads of %s", threads,
                     device.units, device.spec);
}

/* text_files: NULL, or what was written as text. */
static int report(const struct integration *job, const airy_run_info *info, double setup,
                  const struct ascii_result *text_files)
{
    const struct common *common = job->common;
    const double good = (double)(info->frames - info->bad),
                 seconds = info->seconds > 0 ? info->seconds : 1e-9;
    const double stored = (double)info->stored_bytes, decoded = (double)info->decoded_bytes;
    char text[2][32], bad[64] = "", *specs = common->json ? team_specs(&job->team) : NULL;
    const char *first = text_files ? text_files->first : job->params->output,
               *last = text_files ? text_files->last : first;
    const bool several = strcmp(first, last) != 0;
    say_threads(job, info->threads);
    if (common->json) {
        json_t *json = json_pack(
            "{s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "output",
            *first ? tool_json_string(first) : json_null(), "device", specs ? specs : "?", "layout",
            layout_name(job->layout.layout), "frames", (json_int_t)info->frames, "bad",
            (json_int_t)info->bad, "lost", (json_int_t)job->lost, "resumed",
            (json_int_t)info->resumed, "seconds", tool_json_number(info->seconds), "setup_seconds",
            tool_json_number(setup), "frames_per_second", tool_json_number(good / seconds),
            "gigabytes_per_second", tool_json_number(decoded / seconds * 1e-9), "stored_bytes",
            (json_int_t)info->stored_bytes, "decoded_bytes", (json_int_t)info->decoded_bytes,
            "ratio", tool_json_number(stored > 0 ? decoded / stored : 0.0));
        free(specs);
        if (several)
            json_object_set_new(json, "last_output", tool_json_string(last));
        return tool_print_json(common, json);
    }
    if (info->bad)
        snprintf(bad, sizeof(bad), ", %zu of them bad", info->bad);
    tool_say(common,
             "%s%s%s: %zu frame%s%s in %.3g s, set-up %.2g s, %.4g frames/s, %s/s decoded, %s read "
             "(%.2fx)%s",
             *first ? first : "no file", several ? " to " : "", several ? last : "", info->frames,
             tool_s(info->frames), bad, info->seconds, setup, good / seconds,
             tool_bytes(text[0], decoded / seconds), tool_bytes(text[1], stored),
             stored > 0 ? decoded / stored : 0.0,
             info->resumed ? ", the rest was done before" : "");
    return AIRY_EXIT_OK;
}

/* All frames into one NeXus file, by this process. */
static int run_hdf5(struct integration *job, airy_run_info *info)
{
    const struct common *common = job->common;
    struct progress progress;
    int code = integrate_check_memory(job);
    if (code != AIRY_EXIT_OK)
        return code;
    progress_begin(&progress, common, "frames");
    job->run.progress = progress_step;
    job->run.user = &progress;
    const airy_status status = airy_integrate_stack(
        job->params->output, job->stack, job->team.integrators, job->team.count, &job->run, info);
    progress_end(&progress);
    if (status == AIRY_ERR_CANCELLED)
        return integrate_stopped(job, info->frames + info->resumed);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static int run_job(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const struct common *common = job->common;
    airy_run_info info = {0};
    struct ascii_result text = {0};
    const bool hdf5 = integrate_is_hdf5_name(p->output), ranks = !world_alone(p->world);
    if (ranks) {
        const int shared = ranks_share(p->world, job);
        if (shared != AIRY_EXIT_OK)
            return shared;
    }
    if (p->plot && ascii_name(p->output) && ascii_rows(job) > 1)
        return tool_usage(common, "--plot draws one result, not %zu text files; write .h5",
                          ascii_rows(job));
    tool_catch_interrupts();
    tool_say_device(common, job->device);
    say_groups(job);
    int code = common->verbose ? integrate_say_choices(job) : AIRY_EXIT_OK;
    if (code != AIRY_EXIT_OK)
        return code;
    const double setup = tool_now() - job->start;
    if (hdf5) {
        code = ranks || job->files ? ranks_run(job, &info)
               : p->follow         ? follow_run(job, &info)
                                   : run_hdf5(job, &info);
    } else {
        const double start = tool_now();
        code = ascii_run(job, &info, &text);
        info.seconds = tool_now() - start; /* of the table, too */
    }
    if (code == AIRY_EXIT_OK && info.bad)
        tool_say(common, "%zu of %zu frames failed, the first: %s", info.bad,
                 info.frames + info.resumed, info.first_error);
    int profiled = AIRY_EXIT_OK;
    if (ranks && common->profile)
        code = code == AIRY_EXIT_OK ? ranks_profile(job) : code;
    else
        profiled = team_profile(&job->team, common);
    if (!world_first(p->world))
        return code == AIRY_EXIT_OK && info.bad ? AIRY_EXIT_PARTLY : code;
    if (code == AIRY_EXIT_OK)
        code = report(job, &info, setup, hdf5 ? NULL : &text);
    if (code == AIRY_EXIT_OK)
        integration_say_gaps(job, hdf5 ? p->output : NULL, hdf5 ? NULL : &text.gaps);
    if (code == AIRY_EXIT_OK)
        integration_say_empty(common, info.frames, info.empty, info.first_empty);
    if (code == AIRY_EXIT_OK)
        integration_say_dummy_unused(job, hdf5 ? p->output : NULL);
    if (code == AIRY_EXIT_OK && p->plot)
        code = plot_result(common, p->output, p->plot);
    if (code == AIRY_EXIT_OK && (info.bad || job->lost))
        code = AIRY_EXIT_PARTLY;
    return code != AIRY_EXIT_OK ? code : profiled;
}

static int check_layout(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (p->layout == LAYOUT_SERIAL && p->pattern.batch > 1)
        return tool_usage(common, "--batch %zu: --layout serial does one frame at a time",
                          p->pattern.batch);
    if (p->average && p->sum)
        return tool_usage(common, "--average and --sum: give one of them");
    return AIRY_EXIT_OK;
}

/* Of the options alone, before anything is looked at. */
static int check_options(const struct integrate_params *p)
{
    int code = AIRY_EXIT_OK;
    if (live_is_stream(p))
        code = live_stream_check(p);
    else {
        code = check_output_name(p);
        if (code == AIRY_EXIT_OK)
            code = check_layout(p);
        if (code == AIRY_EXIT_OK)
            code = live_stream_unused(p);
        if (code == AIRY_EXIT_OK)
            code = ranks_check(p);
        if (code == AIRY_EXIT_OK)
            code = follow_check(p);
    }
    return code == AIRY_EXIT_OK ? integration_check(p) : code;
}

/* With --config they are not known yet. */
static int check_integrate(void *user)
{
    const struct integrate_params *p = user;
    return p->config ? AIRY_EXIT_OK : check_options(p);
}

static int choose_layout(struct integration *job)
{
    const struct integrate_params *p = job->params;
    if (job->team.count > 1 && p->layout != LAYOUT_AUTO && p->layout != LAYOUT_DEVICE)
        return tool_usage(job->common,
                          "--device with %zu devices: --layout %s, which takes one device",
                          job->team.count, layout_name(p->layout));
    const int code = layout_choose(&job->layout, job->common, p->layout, job->device, job->frames);
    if (code == AIRY_EXIT_OK && job->layout.layout == LAYOUT_SERIAL)
        job->run.batch = job->run.slots = job->run.readers = 1;
    return code;
}

/* What a finished run lacks is the picture at most. */
static int complete(const struct integration *job)
{
    const struct integrate_params *p = job->params;
    int code = resume_complete(job);
    if (p->plot && (code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY) && !tool_exists(p->plot)) {
        const int drawn = plot_result(job->common, p->output, p->plot);
        code = drawn == AIRY_EXIT_OK ? code : drawn;
    }
    return code;
}

static int go(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const struct common *common = job->common;
    if (common->explain)
        return integrate_explain(job);
    if (!world_first(p->world)) /* rank 0 looks at what is there */
        return run_job(job);
    const char *const outputs[] = {p->output, p->plot, common->profile_file};
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && code == AIRY_EXIT_OK; i++)
        if (outputs[i])
            code = tool_keep_stack(common, outputs[i], job->stack);
    if (code == AIRY_EXIT_OK && p->resume)
        code = resume_prepare(job);
    size_t before = 0;
    if (code == AIRY_EXIT_OK)
        code = ranks_files_before(job, &before);
    if (code != AIRY_EXIT_OK)
        return code;
    code = run_job(job);
    if (code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY)
        ranks_files_surplus(job, before);
    return code;
}

static int run_checked(const struct integrate_params *p, const airy_geometry *replayed)
{
    struct integration job;
    bool done = world_first(p->world) && !p->geometry.common.explain && resume_is_complete(p);
    int code = integration_open(&job, p, replayed);
    if (code == AIRY_EXIT_OK)
        code = choose_layout(&job);
    if (code == AIRY_EXIT_OK)
        code = ranks_choose_files(&job);
    if (code == AIRY_EXIT_OK)
        code = world_tell(p->world, &done, sizeof(done));
    if (code == AIRY_EXIT_OK && done)
        code = world_first(p->world) ? complete(&job) : AIRY_EXIT_OK;
    else if (code == AIRY_EXIT_OK)
        code = go(&job);
    integration_close(&job);
    return code;
}

static int run_with(const struct integrate_params *p, const airy_geometry *replayed)
{
    if (live_is_stream(p))
        return world_alone(p->world)
                   ? live_stream_run(p, replayed)
                   : tool_usage(&p->geometry.common, "a stream is received by one process, not by "
                                                     "several ranks");
    int code = world_first(p->world) ? check_output(p) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        code = ranks_check(p);
    if (code == AIRY_EXIT_OK)
        code = follow_check(p);
    if (code == AIRY_EXIT_OK && p->follow)
        code = tool_check_waiting(&p->geometry.common, p->output);
    if (code == AIRY_EXIT_OK && p->follow)
        code = follow_wait(p);
    if (code != AIRY_EXIT_OK || world_alone(p->world))
        return code == AIRY_EXIT_OK ? run_checked(p, replayed) : code;
    struct integrate_params own = *p;
    char spec[64];
    code = ranks_settle(p->world, &own, spec);
    return code == AIRY_EXIT_OK ? run_checked(&own, replayed) : code;
}

/* Parse again with the previous result's options in front of those given now. */
static int run_replayed(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    struct opt_list words = {0};
    airy_geometry geometry;
    int code = configuration_read(common, p->config, &words, &geometry);
    const size_t old = words.count;
    for (int i = 0; code == AIRY_EXIT_OK && i < common->argc; i++)
        if (!opt_list_add(&words, common->argv[i]))
            code = tool_fail(common, "out of memory");
    struct integrate_params *again = calloc(1, sizeof(*again));
    if (code == AIRY_EXIT_OK && !again)
        code = tool_fail(common, "out of memory");
    if (code == AIRY_EXIT_OK) {
        code = opt_parse(common->command, again, (int)words.count, (char **)words.items);
        if (code == AIRY_EXIT_OK)
            code = check_options(again);
        if (code == AIRY_EXIT_OK)
            code = tool_check_files(&again->geometry.common);
        again->world = p->world;
        if (code == AIRY_EXIT_OK)
            code = run_with(again, &geometry);
        opt_free(common->command, again);
    }
    free(again);
    for (size_t i = 0; i < old; i++)
        free((char *)words.items[i]);
    free(words.items);
    return code;
}

static int run_integrate(void *user)
{
    struct integrate_params *p = user;
    struct world *world = calloc(1, sizeof(*world));
    if (!world)
        return tool_fail(&p->geometry.common, "out of memory");
    const enum world_wish wish = p->has_mpi && p->mpi == WORLD_AUTO ? WORLD_ON : p->mpi;
    p->world = world;
    int code = world_join(world, &p->geometry.common, wish);
    if (world_alone(world)) /* ranks: the launcher ends them, and says so */
        tool_end_at_interrupt("airy integrate: stopped before the first frame\n");
    else
        tool_clean_at_interrupt();
    if (code == AIRY_EXIT_OK && !world->idle)
        code = p->config ? run_replayed(p) : run_with(p, NULL);
    code = world_leave(world, code);
    free(world);
    return code;
}

const struct command cmd_integrate = {
    .name = "integrate",
    .usage = "STACK...|tcp://HOST:PORT... [--poni FILE] -o OUT.h5|.xye|.xy|.chi|.dat [options]",
    .summary = "azimuthal integration: a stack of frames to radial patterns",
    .details = "STACK is HDF5 (FILE or FILE::DATASET), CBF, EDF" IF_TIFF(
        ", TIFF") " or NPY, one file or several, "
                  "or a pattern: 'run_*.cbf', frame_####.cbf. The usual places of data, "
                  "pixel mask and geometry are "
                  "found by themselves. Without --poni and inline values the geometry is the "
                  "file's "
                  "own; inline values override "
                  "what a PONI or the file says. Eiger and Pilatus detectors leave out their dummy "
                  "values unless --dummy is "
                  "given. OUT.h5 appears when complete; Ctrl-C leaves OUT.h5.partial, which "
                  "--resume "
                  "continues. tcp://HOST:PORT is the stream of a detector (DECTRIS Stream V2): see "
                  "docs/live.md.",
    .examples = "  airy integrate series_master.h5 -o patterns.h5\n"
                "  airy integrate series_master.h5 --poni lab6.poni --bins 2000 --error-model "
                "poisson -o patterns.h5 "
                "--plot patterns.png\n"
                "  airy integrate frame.h5 --detector eiger_4M --dist 0.3 --poni1 0.08 --poni2 "
                "0.08 --energy 12.4 \\\n"
                "      --unit 2th_deg --error-model poisson -o frame.xye\n"
                "  airy integrate tcp://detector:31001 --sockets 4 -o 'run_{series}.h5' --publish "
                "tcp://192.168.1.2:31002\n",
    .tables = {geometry_options, pattern_options, integrate_options, stream_options},
    .takes = TAKES_COMPUTE | TAKES_DEVICES | TAKES_COMPAT | TAKES_EXPLAIN,
    .params_size = sizeof(struct integrate_params),
    .min_inputs = 1,
    .max_inputs = 10000000,
    .own_signals = true,
    .check = check_integrate,
    .run = run_integrate,
};
