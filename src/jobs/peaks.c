/* Bragg peaks and background of the frames of a stack. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/peaks_stack.h"
#include "airy/resume.h"
#include "base/memory.h"
#include "base/number.h"
#include "jobs/configuration.h"
#include "jobs/geometry.h"
#include "jobs/pattern.h"
#include "jobs/peaks_memory.h"
#include "jobs/pixels.h"

struct values {
    struct airy_stack_values stack;
    struct airy_geometry_values geometry;
    struct airy_pattern_values pattern;
    struct airy_pixel_values pixels;
    struct airy_frames_values frames;
    struct airy_compute_values compute;
    double noise, cutoff_pick, cutoff_peak;
    size_t patch, connected, max_pixels, max_peaks, batch;
    bool no_clip, resume, force, is_replayed;
    char *output;
    airy_geometry replayed; /* of the result whose parameters were taken over */
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row output_rows[] = {
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT.h5",
        .help = "writes sparse frames and peaks into this NeXus file", .section = "Result"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const struct airy_job_row background_rows[] = {
    ROW(pattern.bins.radial, .name = "bins", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1000000,
        .fallback = "800", .help = "takes so many radial bins for the background",
        .section = "Background"),
    {{.name = "unit",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "UNIT",
      .fallback = "q_nm^-1",
      .help = "sets the radial unit ('?' lists all)"},
     offsetof(struct values, pattern.unit),
     &airy_unit_record},
    ROW(pattern.split, .name = "split", .type = AIRY_PARAMETER_WORD, .words = airy_split_words,
        .fallback = "no",
        .help = "splits pixels among bins: no, by bounding boxes or by their full outlines"),
    ROW(pattern.error_model, .name = "error-model", .type = AIRY_PARAMETER_WORD,
        .words = airy_error_model_words, .argument = "MODEL", .fallback = "poisson",
        .help =
            "selects where a ring's standard deviation comes from: poisson, azimuthal, variance "
            "or hybrid"),
    ROW(pattern.clip, .name = "clip", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 2,
        .argument = "T[,CYCLES]", .fallback = "0,5",
        .help = "leaves pixels that are farther than T standard deviations from the mean of their "
                "ring out of the background, several times; 0 is Chauvenet's criterion"),
    ROW(no_clip, .name = "no-clip", .type = AIRY_PARAMETER_FLAG,
        .help = "takes the mean of all pixels of a ring as the background"),
    ROW(pattern.radial_range, .name = "radial-range", .type = AIRY_PARAMETER_TUPLE, .least = 2,
        .most = 2, .fallback = "all pixels", .computed = true,
        .help = "limits the pixels that count, in the radial unit"),
    ROW(pixels.variance, .name = "variance", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ, .unit = "counts squared",
        .help = "takes the variance of each pixel from this image"),
    {{0}, 0, NULL}};

static const struct airy_job_row peak_rows[] = {
    ROW(cutoff_pick, .name = "cutoff-pick", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1e6,
        .argument = "T", .fallback = "3",
        .help = "keeps pixels that are this many standard deviations above their ring",
        .section = "Peaks"),
    ROW(cutoff_peak, .name = "cutoff-peak", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1e6,
        .argument = "T", .fallback = "3",
        .help = "makes peaks of pixels that are this many standard deviations above their ring"),
    ROW(noise, .name = "noise", .type = AIRY_PARAMETER_REAL, .lo = 1e-15, .hi = 1e15,
        .unit = "counts", .argument = "N", .fallback = "1",
        .help =
            "adds this noise to the standard deviation, as squares; a kept pixel is at least so "
            "high"),
    ROW(patch, .name = "patch", .type = AIRY_PARAMETER_WHOLE, .lo = 3, .hi = 31, .fallback = "3",
        .help =
            "sets the pixels on a side of the patch that a peak is the largest of, an odd number"),
    ROW(connected, .name = "connected", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 961,
        .fallback = "2", .help = "sets how many pixels above the cutoff a peak's patch must have"),
    ROW(max_pixels, .name = "max-pixels", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = INT32_MAX,
        .fallback = "a quarter of a frame", .computed = true,
        .help = "limits the kept pixels of a frame; one with more is bad"),
    ROW(max_peaks, .name = "max-peaks", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = INT32_MAX,
        .fallback = "4096", .computed = true,
        .help = "limits the peaks of a frame; one with more is bad"),
    {{0}, 0, NULL}};

static const struct airy_job_row run_rows[] = {
    ROW(batch, .name = "batch", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW, .lo = 1,
        .hi = 4096, .fallback = "chosen", .computed = true,
        .help = "computes so many frames together"),
    ROW(resume, .name = "resume", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "continues an interrupted run, whose frames are in OUT.partial"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"frame_ptr", AIRY_JOB_ARRAY, "output",
     "[frames + 1]: where the kept pixels of each frame begin"},
    {"index", AIRY_JOB_ARRAY, "output", "[pixels]: kept pixels in raster order"},
    {"intensity", AIRY_JOB_ARRAY, "output", "[pixels]: their values"},
    {"radial", AIRY_JOB_ARRAY, "output", "[bins]: centres of the bins in the radial unit"},
    {"background_avg", AIRY_JOB_ARRAY, "output", "[frames, bins]: mean of each ring"},
    {"background_std", AIRY_JOB_ARRAY, "output", "[frames, bins]: its standard deviation"},
    {"peak_list", AIRY_JOB_TABLE, "output",
     "a row a peak: frame, y, x, intensity, sigma, snr, "
     "pixels"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"complete_already", AIRY_JOB_JSON, NULL, "true: resume found nothing to do"},
    {"frames", AIRY_JOB_NUMBER, NULL, "frames of this run"},
    {"bad", AIRY_JOB_NUMBER, NULL, "frames that failed"},
    {"resumed", AIRY_JOB_NUMBER, NULL, "frames that an interrupted run had done"},
    {"pixels", AIRY_JOB_NUMBER, NULL, "kept pixels of all frames"},
    {"peaks", AIRY_JOB_NUMBER, NULL, "peaks of all frames"},
    {"bytes", AIRY_JOB_NUMBER, NULL, "bytes of the output"},
    {"stored_bytes", AIRY_JOB_NUMBER, NULL, "bytes of the frames' chunks in the stack"},
    {"decoded_bytes", AIRY_JOB_NUMBER, NULL, "bytes of the frames' pixels"},
    {"ratio", AIRY_JOB_NUMBER, NULL, "stored_bytes / bytes"},
    {"ratio_decoded", AIRY_JOB_NUMBER, NULL, "decoded_bytes / bytes"},
    {"seconds", AIRY_JOB_NUMBER, NULL, "the time that the run took"},
    {"frames_per_second", AIRY_JOB_NUMBER, NULL, "good frames / seconds"},
    {"device", AIRY_JOB_TEXT, NULL, "the devices"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open. */
struct search {
    airy_job *job;
    const struct values *v;
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    size_t frames; /* of them so many are chosen */
    airy_geometry geometry;
    airy_detector_arrays *arrays; /* of its detector */
    airy_pixels pixels;
    airy_integrator_params params;
    airy_integrator **integrators; /* [count] */
    airy_peak_finder **finders;    /* [count] */
    size_t count;                  /* of devices */
    airy_peak_params used;
    char *configuration;
    bool resume; /* there is a partial result */
    struct airy_peaks_memory memory;
};

static const char *first_path(const struct search *s)
{
    return airy_job_stack_name(&s->v->stack);
}

/* ---- check ---- */

/* What the integrator takes but for what files say. */
static airy_status make_params(const airy_job *job, airy_integrator_params *params)
{
    const struct values *v = job->values;
    const bool has_variance = airy_source_is_given(&v->pixels.variance);
    airy_sample_params sample;
    AIRY_TRY(airy_job_pattern_params(job, params, &sample, &v->pattern));
    AIRY_TRY(airy_job_correction_params(job, params, &v->pixels));
    if (has_variance && !airy_job_is_set(job, "error-model"))
        params->error_model = AIRY_ERROR_MODEL_VARIANCE;
    params->has_clip = !v->no_clip;
    return airy_params_check(params, &sample, has_variance);
}

static airy_status check_peaks(const airy_job *job)
{
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(airy_job_is_set(job, "clip") && v->no_clip, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and no-clip: give one of them", "clip");
    AIRY_FAIL_ON_IF(v->pattern.error_model == AIRY_ERROR_MODEL_NONE, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s none: peaks need the standard deviation of a ring",
                    "error-model");
    AIRY_FAIL_ON_IF(v->patch % 2 == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: expected an odd number", "patch", v->patch);
    AIRY_FAIL_ON_IF(v->connected > v->patch * v->patch, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: expected at most the %zu pixels of patch=%zu", "connected",
                    v->connected, v->patch * v->patch, v->patch);
    AIRY_FAIL_ON_IF(v->resume && !v->output, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s continues a file, and no output is named", "resume");
    return AIRY_OK;
}

static airy_status replay(airy_job *job, const char *configuration)
{
    struct values *v = job->values;
    airy_geometry geometry = {.dist = 0};
    if (configuration)
        AIRY_TRY(airy_geometry_parse(&geometry, configuration));
    v->replayed = geometry;
    v->is_replayed = configuration != NULL;
    return AIRY_OK;
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const struct airy_output_values output = {.output = v->output};
    airy_integrator_params params;
    if (v->output)
        AIRY_TRY(airy_job_check_output(&output));
    AIRY_TRY(airy_job_check_geometry(job));
    AIRY_TRY(airy_job_check_absorber(&v->geometry, NULL, false));
    AIRY_TRY(check_peaks(job));
    AIRY_TRY(airy_job_check_pixels(&v->pixels));
    return make_params(job, &params);
}

/* ---- open ---- */

static bool may_be_complete(const struct values *v)
{
    return airy_job_may_be_complete(v->output, v->resume, v->force);
}

static airy_status open_stack(struct search *s)
{
    const struct values *v = s->v;
    AIRY_FAIL_ON_IF(v->output && !v->force && airy_job_is_there(v->output) && !may_be_complete(v),
                    AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, "'%s' is there already", v->output);
    AIRY_TRY(airy_job_open_stack(s->job, &s->stack, &v->stack));
    AIRY_TRY(airy_stack_get_info(s->stack, &s->info));
    AIRY_TRY(airy_stack_get_meta(s->stack, &s->meta));
    return v->output ? airy_job_keep_stack(s->stack, v->output) : AIRY_OK;
}

static airy_status find_geometry(struct search *s)
{
    const struct airy_geometry_source from = {.stack = s->stack,
                                              .info = &s->info,
                                              .meta = &s->meta,
                                              .replayed = s->v->is_replayed ? &s->v->replayed
                                                                            : NULL,
                                              .input = first_path(s)};
    AIRY_TRY(airy_job_resolve_geometry(s->job, &s->geometry, &s->v->geometry, &from));
    return airy_detector_open(&s->arrays, &s->geometry.detector);
}

static airy_status load_pixels(struct search *s)
{
    const struct airy_bad_values *bad = &s->v->pixels.bad;
    AIRY_TRY(make_params(s->job, &s->params));
    const struct airy_pixel_frames frames = {.stack = s->stack, .info = &s->info, .meta = &s->meta};
    AIRY_TRY(airy_job_load_pixels(s->job, &s->pixels, &s->v->pixels, &frames, &s->geometry.detector,
                                  s->params.compat == AIRY_COMPAT_PYFAI));
    if (s->params.has_dummy && !airy_job_can_be_dummy(bad, s->info.dtype))
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "dummy=%.15g leaves out no pixel: %s has no such value", bad->dummy,
                         airy_dtype_name(s->info.dtype));
    return airy_pixels_apply(&s->params, &s->pixels, &s->meta, s->info.dtype);
}

/* Limits that the frames set. */
static airy_status check_limit(const struct search *s, const char *name, size_t limit)
{
    const size_t pixels = s->info.height * s->info.width;
    AIRY_FAIL_HINT_IF(limit > pixels, AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %zu: expected at most the %zu pixels of a frame", name, limit, pixels);
    return AIRY_OK;
}

/* Devices, an integrator and a finder on each. */
static airy_status open_finders(struct search *s)
{
    const struct values *v = s->v;
    const airy_peak_params params = {.noise = v->noise,
                                     .cutoff_pick = v->cutoff_pick,
                                     .cutoff_peak = v->cutoff_peak,
                                     .patch = v->patch,
                                     .connected = v->connected,
                                     .max_pixels = v->max_pixels,
                                     .max_peaks = v->max_peaks};
    const airy_geometry_params given =
        airy_job_geometry_params(s->job, &v->geometry, first_path(s));
    AIRY_TRY(airy_job_open_devices(s->job, &v->compute));
    s->count = s->job->device_count;
    AIRY_TRY(airy_memory_calloc((void **)&s->integrators, s->count, sizeof(void *), "devices"));
    AIRY_TRY(airy_memory_calloc((void **)&s->finders, s->count, sizeof(void *), "devices"));
    const airy_status status = airy_integrator_create_all(s->integrators, s->job->devices, s->count,
                                                          &s->geometry, &s->params);
    AIRY_TRY(airy_geometry_explain(&given, &s->meta, status));
    AIRY_TRY(check_limit(s, "max-pixels", v->max_pixels));
    AIRY_TRY(check_limit(s, "max-peaks", v->max_peaks));
    for (size_t i = 0; i < s->count; i++)
        AIRY_TRY(airy_peak_finder_create(&s->finders[i], s->integrators[i], &params));
    return airy_peak_finder_get_params(s->finders[0], &s->used);
}

static json_t *peaks_json(const airy_peak_params *u)
{
    return json_pack("{s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "noise", u->noise, "cutoff_pick",
                     u->cutoff_pick, "cutoff_peak", u->cutoff_peak, "patch", (json_int_t)u->patch,
                     "connected", (json_int_t)u->connected, "max_pixels", (json_int_t)u->max_pixels,
                     "max_peaks", (json_int_t)u->max_peaks);
}

static airy_status make_configuration(struct search *s)
{
    const size_t *chosen = s->v->frames.frames, last = chosen[1] ? chosen[1] : s->info.frames,
                 step = chosen[2] ? chosen[2] : 1;
    const airy_integrator_params *p = &s->params;
    json_t *json = NULL;
    AIRY_TRY(airy_job_begin_configuration(s->job, &json, &s->v->stack.paths, &s->geometry,
                                          airy_geometry_rows));
    json_object_set_new(json, "file_mask", json_boolean(s->meta.has_mask));
    json_object_set_new(json, "frames", json_sprintf("%zu:%zu:%zu", chosen[0], last, step));
    json_object_set_new(json, "bins",
                        json_integer((json_int_t)airy_integrator_bins(s->integrators[0])));
    json_object_set_new(json, "unit", json_string(airy_unit_name(p->unit)));
    json_object_set_new(json, "split", json_string(airy_split_name(p->split)));
    json_object_set_new(json, "method", json_string(airy_method_name(p->method)));
    json_object_set_new(json, "error_model", json_string(airy_error_model_name(p->error_model)));
    if (p->has_clip)
        json_object_set_new(json, "clip",
                            json_pack("[f,I]", p->clip_threshold,
                                      (json_int_t)(p->clip_cycles ? p->clip_cycles : 5)));
    json_t *peaks = peaks_json(&s->used);
    json_object_set(json, "peaks", peaks);
    json_object_set_new(json, "sparsify", peaks); /* where fabio looks for cutoff_pick */
    return airy_job_end_configuration(&s->configuration, json);
}

static airy_status open_search(airy_job *job, void *state)
{
    struct search *s = state;
    *s = (struct search){.job = job, .v = job->values};
    AIRY_TRY(open_stack(s));
    AIRY_TRY(find_geometry(s));
    AIRY_TRY(airy_job_choose_frames(&s->frames, &s->v->frames, s->info.frames, first_path(s)));
    AIRY_TRY(load_pixels(s));
    AIRY_TRY(open_finders(s));
    AIRY_TRY(make_configuration(s));
    return airy_job_plan_stack(job, &s->info, &s->v->frames);
}

/* ---- run ---- */

/* The output is that of an earlier run with the same parameters. */
static airy_status report_complete(struct search *s)
{
    const char *output = s->v->output;
    airy_result_info info;
    AIRY_TRY(airy_resume_complete(output, s->configuration, &info));
    return airy_job_put_complete(s->job, output, false, s->frames, info.bad);
}

static void sum_up(const struct search *s, const airy_peaks_run_info *info, double size)
{
    const airy_run_info *run = &info->run;
    const size_t all = run->frames + run->resumed, good = all > run->bad ? all - run->bad : 1;
    const double each = (double)good, rate = (double)(run->frames - run->bad) / run->seconds;
    char stack[128] = "", file[48] = "", text[2][AIRY_NUMBER_TEXT];
    if (s->v->output)
        snprintf(file, sizeof(file), ", %s", airy_bytes_text(text[0], size));
    if (s->v->output && !run->resumed)
        snprintf(stack, sizeof(stack), " (the stack has %.3g times as much, %s; plain %.3g times)",
                 (double)run->stored_bytes / size,
                 airy_bytes_text(text[1], (double)run->stored_bytes),
                 (double)run->decoded_bytes / size);
    airy_job_sum_up(
        s->job, "%zu frame%s, %.4g pixels and %.4g peaks a frame%s%s, %.3g s (%.4g frames/s)%s",
        all, all == 1 ? "" : "s", (double)info->pixels / each, (double)info->peaks / each, file,
        stack, run->seconds, rate, run->resumed ? ", a part was done before" : "");
}

static void put_numbers(const struct search *s, const airy_peaks_run_info *info, double size)
{
    const airy_run_info *run = &info->run;
    const double whole = run->resumed ? (double)NAN
                                      : size; /* how the rest was stored is not known */
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"frames", (double)run->frames},
                   {"bad", (double)run->bad},
                   {"resumed", (double)run->resumed},
                   {"pixels", (double)info->pixels},
                   {"peaks", (double)info->peaks},
                   {"stored_bytes", (double)run->stored_bytes},
                   {"decoded_bytes", (double)run->decoded_bytes},
                   {"seconds", run->seconds},
                   {"frames_per_second", (double)(run->frames - run->bad) / run->seconds}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        airy_job_put_number(s->job, numbers[i].name, numbers[i].value);
    if (!s->v->output)
        return;
    airy_job_put_number(s->job, "bytes", size);
    airy_job_put_number(s->job, "ratio", (double)run->stored_bytes / whole);
    airy_job_put_number(s->job, "ratio_decoded", (double)run->decoded_bytes / whole);
}

static airy_status find_peaks(struct search *s, airy_peaks_run_info *info)
{
    const struct values *v = s->v;
    const size_t *chosen = v->frames.frames;
    const airy_run_params params = {.first = chosen[0],
                                    .last = chosen[1],
                                    .step = chosen[2],
                                    .batch = v->batch,
                                    .skip_bad = v->frames.on_error,
                                    .resume = s->resume,
                                    .force = v->force,
                                    .configuration = s->configuration,
                                    .progress = airy_job_step,
                                    .message = airy_job_frame_message,
                                    .user = s->job};
    const airy_peak_finder *const *finders = (const airy_peak_finder *const *)s->finders;
    return v->output ? airy_peaks_stack(v->output, s->stack, finders, s->count, &params, info)
                     : airy_peaks_each(s->stack, finders, s->count, &params, airy_peaks_memory_take,
                                       &s->memory, info);
}

static airy_status run(airy_job *job, void *state)
{
    struct search *s = state;
    const char *output = s->v->output;
    airy_peaks_run_info info = {.pixels = 0};
    struct stat file;
    if (may_be_complete(s->v))
        return report_complete(s);
    if (s->v->resume)
        AIRY_TRY(airy_job_check_partial(job, &s->resume, output, s->configuration, NULL));
    if (output)
        AIRY_TRY(airy_job_put_text(job, "output", output));
    AIRY_TRY(airy_job_put_devices(job));
    airy_peaks_memory_begin(&s->memory, s->info.dtype, s->integrators[0],
                            s->v->compute.memory_limit);
    airy_job_work_begins(job);
    const airy_status status = find_peaks(s, &info);
    airy_job_work_ends(job);
    if (status == AIRY_ERR_CANCELLED)
        return airy_job_stopped(output, info.run.frames + info.run.resumed, s->frames, s->resume);
    AIRY_TRY(status);
    if (!output)
        AIRY_TRY(airy_peaks_memory_put(&s->memory, job));
    (void)airy_job_warn_left_out(job, info.run.bad, info.run.frames + info.run.resumed, "",
                                 info.run.first_error);
    const double size = output && stat(output, &file) == 0 ? (double)file.st_size : (double)NAN;
    put_numbers(s, &info, size);
    sum_up(s, &info, size);
    if (!s->geometry.detector.dectris_dummy && !s->params.has_dummy)
        airy_job_warn_stack_gaps(job, s->stack, s->pixels.mask, s->v->frames.frames, s->frames,
                                 first_path(s));
    return info.run.bad ? AIRY_PARTLY : AIRY_OK;
}

static void close_search(void *state)
{
    struct search *s = state;
    for (size_t i = 0; s->finders && i < s->count; i++)
        airy_peak_finder_destroy(&s->finders[i]);
    for (size_t i = 0; s->integrators && i < s->count; i++)
        airy_integrator_destroy(&s->integrators[i]);
    free(s->finders);
    free(s->integrators);
    airy_peaks_memory_free(&s->memory);
    airy_pixels_free(&s->pixels);
    airy_detector_arrays_destroy(&s->arrays);
    airy_stack_destroy(&s->stack);
    free(s->configuration);
}

extern const struct airy_job_kind airy_job_peaks;
const struct airy_job_kind airy_job_peaks = {
    .name = "peaks",
    .summary = "Bragg peaks and background of each frame, as a file tens of times smaller",
    .details =
        "In each frame the mean and the standard deviation of every ring are found, without what "
        "stands out of it (clip); pixels above that by cutoff-pick are kept as they are, and "
        "peaks among them are listed with position, intensity and sigma. The file has the layout "
        "of pyFAI's sparsify-Bragg, its peaks CXI's names; 'airy densify' makes frames of it "
        "again. Pixels that a frame marks as bad itself are kept with their values: a mask keeps "
        "them out of every frame. The geometry is that of the frames' file, a PONI file and given "
        "values, of which the last one counts. The file appears when it is complete; an "
        "interrupted run leaves OUT.partial, which resume continues.",
    .groups = {{airy_stack_rows, offsetof(struct values, stack)},
               {airy_geometry_rows, offsetof(struct values, geometry)},
               {output_rows, 0},
               {background_rows, 0},
               {peak_rows, 0},
               {airy_correction_rows, offsetof(struct values, pixels)},
               {airy_frames_rows, offsetof(struct values, frames)},
               {run_rows, 0},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)},
               {airy_compat_rows, offsetof(struct values, pattern)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct search),
    .replay = replay,
    .replayed = airy_geometry_rows,
    .check = check,
    .open = open_search,
    .run = run,
    .close = close_search,
};
