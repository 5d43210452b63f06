/* Optical coherence tomography: raw spectra of a camera to depth profiles. */
#include "jobs/oct/oct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/oct_stack.h"
#include "airy/provenance.h"
#include "base/clock.h"

#if AIRY_HAVE_TIFF
#define TIF ", .tif"
#else
#define TIF ""
#endif

enum { BATCH_BYTES = 64 << 20, SLOTS = 3 };

static const char *const compats[] = {"none", "pymotionoct", "octproz", NULL},
                         *const on_errors[] = {"stop", "skip", NULL};
_Static_assert(AIRY_OCT_COMPAT_OCTPROZ == 2 && AIRY_OCT_COMPAT_COUNT == 3, "in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct oct_values, member, __VA_ARGS__)
#define RECORD_ROW(member, record, ...)                                                            \
    AIRY_JOB_RECORD_ROW(struct oct_values, member, record, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(raw, .name = "raw", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_INPUT, .array = true,
        .argument = "RAW",
        .help = "the raw frames: a file, '-' for standard input, ring:NAME, or an array [..., "
                "lines, samples]"),
    ROW(plan, .name = "plan", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .argument = "PLAN.json",
        .help = "reads what the samples are and what is done with them from this file; docs/oct.md "
                "has its keys",
        .section = "Input"),
    ROW(frames.frames, .name = "frames", .type = AIRY_PARAMETER_RANGE, .affects = AIRY_AFFECTS_ROWS,
        .argument = "A:B", .fallback = "all", .computed = true,
        .help =
            "selects the raw frames from A up to, not including, B; one number selects that frame"),
    ROW(frames.on_error, .name = "on-error", .type = AIRY_PARAMETER_WORD,
        .affects = AIRY_AFFECTS_ROWS, .words = on_errors, .fallback = "stop",
        .help = "skip: makes the results of a frame that cannot be read NaN (0 in integers), "
                "reports them and ends with exit code 3; it is for files, and not for the first "
                "frames where the plan estimates something from them"),
    ROW(compat, .name = "compat", .type = AIRY_PARAMETER_WORD, .words = compats, .argument = "NAME",
        .fallback = "the plan's, else none", .computed = true,
        .help =
            "takes order, signs, scaling and edges from another program, pymotionoct or octproz"),
    ROW(line_rate, .name = "line-rate", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW,
        .lo = 1e-3, .hi = 1e12, .unit = "lines/s", .argument = "R",
        .fallback = "as fast as they are taken", .computed = true,
        .help = "drops and counts frames that find no free buffer, as they come from a camera of "
                "this line rate",
        .section = "Camera"),
    RECORD_ROW(repeat, &airy_oct_repeat_record, .name = "repeat", .type = AIRY_PARAMETER_RECORD,
               .affects = AIRY_AFFECTS_ROWS, .argument = "N|Ss",
               .help = "repeats the file's frames from memory N times, or for S seconds (60s)"),
    ROW(batch, .name = "batch", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW, .lo = 1,
        .hi = 1e9, .argument = "N",
        .fallback =
            "those of a result with line-rate and rings, else 64 MiB, 8 MiB of files on a CPU",
        .computed = true, .help = "processes so many raw frames together"),
    ROW(buffers, .name = "buffers", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW,
        .lo = 2, .hi = AIRY_OCT_STREAM_SLOTS, .argument = "N",
        .fallback = "16 below 1 MiB, else 4; 3 of a pipe, of files as tuned", .computed = true,
        .help = "sets the number of buffers, by which a camera may be ahead"),
    ROW(feed, .name = "feed", .type = AIRY_PARAMETER_TEXT, .affects = AIRY_AFFECTS_WHERE,
        .argument = "NAME",
        .help =
            "plays the frames into the ring NAME, for 'airy oct ring:NAME', and makes no results"),
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes [frames, lines, depth] into this file (.h5, .npy" TIF
                "), or as .png pictures with depth downwards, NAME_0000.png and so on where there "
                "are several",
        .section = "Result"),
    ROW(pairs, .name = "complex-as-pairs", .type = AIRY_PARAMETER_FLAG,
        .affects = AIRY_AFFECTS_BESIDE,
        .help = "writes complex numbers as real ones with a last axis of 2, the real and the "
                "imaginary part"),
    ROW(frame, .name = "frame", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_BESIDE,
        .lo = 0, .hi = 1e15, .argument = "N", .fallback = "0, and all for an output of pictures",
        .computed = true, .help = "selects the result that is drawn, counted from 0"),
    RECORD_ROW(
        enface, &airy_oct_enface_record, .name = "enface", .type = AIRY_PARAMETER_RECORD,
        .affects = AIRY_AFFECTS_WHERE, .argument = "OUT[,Z0:Z1]",
        .help = "writes an image of [frames, lines]: the mean over depth bins Z0 to Z1 - 1, all by "
                "default"),
    RECORD_ROW(mip, &airy_oct_mip_record, .name = "mip", .type = AIRY_PARAMETER_RECORD,
               .affects = AIRY_AFFECTS_WHERE, .argument = "OUT[,ALONG]",
               .help =
                   "writes an image of the largest values along depth, [frames, lines], or along "
                   "frames, [lines, depth]"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the outputs"),
    ROW(explain, .name = "explain", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "measures the rate of the first batch for the plan of the job"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"ring", AIRY_JOB_TEXT, NULL, "feed: the name of the ring"},
    {"frames", AIRY_JOB_NUMBER, NULL, "results; feed: raw frames"},
    {"raw_frames", AIRY_JOB_NUMBER, NULL, "raw frames that the results are of"},
    {"lines", AIRY_JOB_NUMBER, NULL, "of a result"},
    {"depth", AIRY_JOB_NUMBER, NULL, "bins of a line"},
    {"samples", AIRY_JOB_NUMBER, NULL, "of a raw line"},
    {"depth_step_um", AIRY_JOB_NUMBER, NULL, "micrometres of a bin; NaN: not known"},
    {"depth_um", AIRY_JOB_NUMBERS, NULL, "micrometres of the first and the last bin, where known"},
    {"depth_bins", AIRY_JOB_NUMBERS, NULL, "the first and the last bin, where these are not known"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the results"},
    {"device", AIRY_JOB_TEXT, NULL, "the device that was used"},
    {"method", AIRY_JOB_TEXT, NULL, "how the device transforms lines of this length"},
    {"display", AIRY_JOB_JSON, NULL, "limits of the display; null: there is none"},
    {"peak", AIRY_JOB_JSON, NULL,
     "the brightest bin of the first result {value, line, bin, depth_um}; null: none"},
    {"batch_frames", AIRY_JOB_NUMBER, NULL, "raw frames that were processed together"},
    {"given", AIRY_JOB_NUMBER, NULL, "feed: frames that were given"},
    {"dropped", AIRY_JOB_NUMBER, NULL, "feed: frames that found no room"},
    {"seconds", AIRY_JOB_NUMBER, NULL, "the time that the run took"},
    {"lines_per_second", AIRY_JOB_NUMBER, NULL, "raw lines a second"},
    {"camera", AIRY_JOB_JSON, NULL,
     "what became of a camera's frames {line_rate, in, out, dropped, failed, latency_us {p50, p99, "
     "max}, buffers, memory_bytes}; also while the run goes on"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"signal", AIRY_JOB_TEXT, NULL, "of arrays: what the numbers are, such as db"},
    {"unit", AIRY_JOB_TEXT, NULL, "of arrays: the unit of the numbers"},
    {"range", AIRY_JOB_NUMBERS, NULL,
     "of arrays: the limits of the plan's display, if it has them"},
    {"profiles", AIRY_JOB_ARRAY, NULL,
     "[frames, lines, depth], of complex results [frames, lines, depth, 2]: kept where nothing "
     "else "
     "is asked for and no camera brings the frames, or where it is wanted"},
    {"picture", AIRY_JOB_ARRAY, NULL,
     "[lines, depth]: the result that the parameter frame selects; where it is wanted"},
    {"enface", AIRY_JOB_ARRAY, NULL, "[frames, lines]: means along depth; where it is wanted"},
    {"mip", AIRY_JOB_ARRAY, NULL,
     "[frames, lines] or [lines, depth]: largest values; where it is wanted"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct oct_run {
    airy_job *job;
    const struct oct_values *v;
    struct oct_patience patience;
    struct oct_source source;
    airy_device *device;
    airy_queue *queue;
    airy_oct *oct;
    airy_oct_params plan; /* of oct */
    airy_oct_info info;
    airy_oct_stream *stream;
    struct oct_results results;
    struct oct_live *live; /* NULL: frames wait for the device */
    airy_host *memory;     /* frames that are repeated */
    size_t batch;          /* raw frames of a buffer */
    bool automatic;        /* display limits were found, not given */
    struct oct_peak peak;  /* of the first result, where there is a display: in front of it */
    airy_oct_run_info run; /* of a file */
    uint64_t told_ns;      /* when the camera's results were put last */
    double seconds;
};

/* A batch of raw frames on the device; the caller destroys it. */
static airy_status push_frames(struct oct_run *r, airy_array **src, const void *frames,
                               size_t count)
{
    const size_t shape[3] = {count, r->plan.lines,
                             r->source.input.frame_bytes / r->plan.lines /
                                 airy_dtype_size(r->plan.dtype)};
    return airy_array_create_from(src, r->queue, r->plan.dtype, 3, shape, frames);
}

/* The result of the first frames as numbers on the host, malloc'ed. */
static airy_status pull_first(const struct oct_run *r, const airy_oct *oct,
                              const airy_oct_info *info, const airy_array *first, float **values)
{
    const size_t shape[3] = {1, info->out_lines, info->depth};
    airy_array *dst = NULL;
    airy_status status;
    AIRY_TRY(airy_array_create_uninitialized(&dst, r->device, AIRY_DTYPE_F32, 3, shape));
    AIRY_TRY_OR(out, airy_oct_process(r->queue, oct, dst, first, NULL));
    *values = malloc(info->result_bytes);
    AIRY_TRY_OR(out, *values ? AIRY_OK : airy_fail(AIRY_ERR_MEMORY, "out of memory for a result"));
    AIRY_TRY_OR(out, airy_array_pull(r->queue, *values, info->result_bytes, dst));
    status = airy_queue_finish(r->queue);
out:
    airy_array_destroy(&dst);
    return status;
}

/* The first result without a display: its brightest bin, and percentiles where they are limits. */
static airy_status look_at_first(struct oct_run *r, const airy_array *src, const airy_array *first)
{
    airy_oct_params plain = r->plan;
    airy_oct *oct = NULL;
    airy_oct_info info;
    float *values = NULL;
    airy_status status;
    plain.display = plain.post_background = false;
    plain.to = AIRY_DTYPE_F32;
    AIRY_TRY(airy_oct_create(&oct, r->queue, &plain));
    if (plain.fixed_pattern)
        AIRY_TRY_OR(out, airy_oct_learn(r->queue, oct, src));
    AIRY_TRY_OR(out, airy_oct_get_info(oct, &info));
    AIRY_TRY_OR(out, pull_first(r, oct, &info, first, &values));
    airy_oct_find_peak(&r->peak, values, &info, plain.depth_first);
    if (r->automatic) {
        r->plan.low = 0;
        r->plan.high = 1;
        airy_oct_limits(values, info.out_lines * info.depth, 5, 99.95, &r->plan.low, &r->plan.high);
    }
out:
    free(values);
    airy_oct_destroy(&oct);
    return status;
}

/* Raw frames for one result, as the plan alone says. */
static size_t group_of(const airy_oct_params *plan)
{
    const size_t mean = plan->average_frames ? plan->average_frames : 1;
    return plan->flow != AIRY_OCT_FLOW_NONE && plan->flow_frames ? mean * plan->repeats : mean;
}

/* Limits, pattern and background from the first `want` frames; makes r->oct. */
static airy_status learn(struct oct_run *r, const void *frames, size_t want, bool learns)
{
    const airy_oct_params *plan = &r->plan;
    airy_array *src = NULL, *first = NULL;
    airy_status status = want ? push_frames(r, &src, frames, want) : AIRY_OK;
    if (status == AIRY_OK && plan->display)
        status = push_frames(r, &first, frames, group_of(plan));
    if (status == AIRY_OK && plan->display)
        status = look_at_first(r, src, first);
    if (status == AIRY_OK)
        status = airy_oct_create(&r->oct, r->queue, plan);
    if (status == AIRY_OK && learns)
        status = airy_oct_learn(r->queue, r->oct, src);
    airy_array_destroy(&src);
    airy_array_destroy(&first);
    return status;
}

/* The first frames, which the plan learns from; *want of them are needed. */
static airy_status peek(struct oct_run *r, const void **frames, size_t want, size_t group)
{
    size_t got = 0;
    const airy_status status = airy_oct_source_peek(&r->source, frames, want, &got);
    if (r->v->frames.on_error && airy_status_is_of_frame(status))
        return airy_hinted(AIRY_HINT_STATED,
                           airy_fail(status,
                                     "%s; the plan's estimates come from the first %zu frame%s, so "
                                     "that none of these may "
                                     "be bad; frames=%llu: begins behind it",
                                     airy_last_error(), want, want == 1 ? "" : "s",
                                     (unsigned long long)r->source.number + 1));
    AIRY_TRY(status);
    AIRY_FAIL_IF(got < want && atomic_load(&r->patience.stopped), AIRY_ERR_CANCELLED,
                 "cancelled after %zu of the %zu frames that the plan's estimates need", got, want);
    AIRY_FAIL_HINT_IF(got < want, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "%s has %zu frame%s, expected %zu: fixed_pattern = %zu, %zu for a result",
                      r->source.input.name, got, got == 1 ? "" : "s", want, r->plan.fixed_pattern,
                      group);
    return AIRY_OK;
}

static airy_status prepare_oct(struct oct_run *r)
{
    const airy_oct_params *plan = &r->plan;
    const size_t group = group_of(plan);
    const bool learns = plan->fixed_pattern || plan->post_background;
    size_t want = plan->display ? group : 0;
    want = learns && want < 1 ? 1 : want;
    want = want < plan->fixed_pattern ? plan->fixed_pattern : want;
    const void *frames = NULL;
    if (want)
        AIRY_TRY(peek(r, &frames, want, group));
    AIRY_TRY(learn(r, frames, want, learns));
    AIRY_TRY(airy_oct_get_info(r->oct, &r->info));
    if (plan->background == AIRY_OCT_BACKGROUND_MEAN && plan->lines == 1)
        airy_job_message(r->job, AIRY_LOG_WARN,
                         "the background is the mean of a frame's lines, and frames have one: what "
                         "is left of it is rounding; a recorded line leaves the signal");
    if (r->automatic)
        airy_job_message(r->job, AIRY_LOG_WARN,
                         "display from %.4g to %.4g, the 5th and the 99.95th percentile of the "
                         "first result; \"db_range\" in the plan fixes them",
                         plan->low, plan->high);
    return AIRY_OK;
}

/* As many frames as the batch and the memory limit allow, a multiple of those of a result. */
static void choose_batch(struct oct_run *r)
{
    const struct oct_values *v = r->v;
    const size_t group = r->info.frames_per_result,
                 each = r->source.input.frame_bytes + r->info.result_bytes / group + 1;
    if (v->batch || v->line_rate > 0 || r->source.ring) {
        const size_t frames = v->batch ? v->batch : group;
        r->batch = (frames + group - 1) / group * group;
        return;
    }
    uint64_t bytes = BATCH_BYTES;
    const uint64_t limit = v->compute.memory_limit, slots = v->buffers ? v->buffers : SLOTS;
    if (limit && limit / (4 * slots) < bytes) /* on host and device, and room for steps between */
        bytes = limit / (4 * slots);
    uint64_t frames = bytes / each;
    if (frames > r->source.frames)
        frames = r->source.frames;
    r->batch = frames < group ? group : (size_t)(frames - frames % group);
}

/* ---- outputs ---- */

/* {path, sha256} of a file, or what an array is. */
static airy_status identify(json_t **json, const struct airy_job_source *from)
{
    char *text = NULL, shape[160];
    const airy_host_view *view = &from->view;
    size_t n = (size_t)snprintf(shape, sizeof(shape), "%s", airy_dtype_name(view->dtype));
    for (int i = 0; i < view->ndim && from->is_array; i++)
        n += (size_t)snprintf(shape + n, sizeof(shape) - n, "%s%zu", i ? " x " : " ",
                              view->shape[i]);
    if (from->is_array) {
        *json = json_pack("{s:s}", "array", shape);
        return AIRY_OK;
    }
    AIRY_TRY(airy_file_identify(&text, from->path));
    *json = json_loads(text, 0, NULL);
    free(text);
    return AIRY_OK;
}

/* The plan as it was used, with the frames and what they are of. */
static airy_status fill_configuration(json_t *json, const struct oct_run *r)
{
    const struct oct_source *s = &r->source;
    const struct airy_job_source plan_file = {.path = r->v->plan};
    airy_oct_config config = s->config;
    char *text = NULL, frames[64];
    json_t *input = NULL, *plan = NULL;
    const uint64_t last = s->frames == UINT64_MAX ? 0 : s->first + s->frames;
    config.params = r->plan;
    config.has_range |= r->automatic;
    snprintf(frames, sizeof(frames), "%llu:%.0llu", (unsigned long long)s->first,
             (unsigned long long)last);
    AIRY_TRY(identify(&input, &r->v->raw));
    int failed = json_object_set_new(json, "inputs", json_pack("[o]", input));
    AIRY_TRY(identify(&plan, &plan_file));
    failed |= json_object_set_new(json, "plan_file", plan);
    failed |= json_object_set_new(json, "frames", json_string(frames));
    AIRY_TRY(airy_oct_config_text(&text, &config));
    failed |= json_object_set_new(json, "plan", json_loads(text, 0, NULL));
    free(text);
    AIRY_FAIL_IF(failed, AIRY_ERR_MEMORY, "out of memory for the configuration");
    return AIRY_OK;
}

/* Make what goes into the result so that it can be made again. */
static airy_status make_configuration(char **text, const struct oct_run *r)
{
    json_t *json = json_pack("{s:s, s:s, s:s}", "program", "airy", "version", airy_version(),
                             "command", "oct");
    const airy_status status = fill_configuration(json, r);
    *text = status == AIRY_OK ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    AIRY_TRY(status);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for the configuration");
    airy_json_shorten(*text);
    return AIRY_OK;
}

static airy_status open_results(struct oct_run *r)
{
    char *text = NULL;
    if (airy_oct_results_is_stack(r->v))
        AIRY_TRY(make_configuration(&text, r));
    const struct airy_oct_results_open open = {.source = &r->source,
                                               .plan = &r->plan,
                                               .info = r->info,
                                               .configuration = text,
                                               .peak = r->plan.display ? &r->peak : NULL};
    const airy_status status = airy_oct_results_open(&r->results, r->job, &open);
    free(text);
    return status;
}

/* ---- frames to results ---- */

static void tell_left_over(const struct oct_run *r, size_t count)
{
    if (count)
        airy_job_message(r->job, AIRY_LOG_WARN, "the last %zu frame%s left out: a result takes %zu",
                         count, count == 1 ? " is" : "s are", r->info.frames_per_result);
}

/* Read into a free buffer and give it; *ended: the input is at its end. */
static airy_status give_frames(struct oct_run *r, void *buffer, bool *ended)
{
    const size_t group = r->info.frames_per_result;
    size_t got = 0;
    AIRY_TRY(airy_oct_source_read(&r->source, buffer, r->batch, &got));
    const bool endless = r->source.frames == UINT64_MAX;
    *ended = got == 0 || (endless && atomic_load(&r->patience.stopped)) ||
             r->source.taken == r->source.frames;
    tell_left_over(r, got % group);
    got -= got % group;
    if (got)
        AIRY_TRY(airy_oct_stream_give(r->stream, got));
    return *ended ? airy_oct_stream_end(r->stream) : AIRY_OK;
}

static airy_status take_result(struct oct_run *r, const airy_oct_result *result)
{
    AIRY_FAIL_IF(result->status != AIRY_OK, result->status, "frames from %llu: %s",
                 (unsigned long long)result->first_frame, result->message);
    AIRY_TRY(airy_oct_results_add(&r->results, result->data,
                                  result->frames / r->info.frames_per_result));
    r->patience.done += result->frames;
    return airy_oct_stream_release(r->stream, result);
}

/* What became of a camera's frames, and how long buffers took from give to the result on the host. */
static airy_status put_camera(const struct oct_run *r)
{
    airy_oct_stream_info info;
    AIRY_TRY(airy_oct_stream_get_info(r->stream, &info));
    return airy_job_put_json(
        r->job, "camera",
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f}, s:I, s:I}", "line_rate",
                  r->v->line_rate > 0 ? json_real(r->v->line_rate) : json_null(), "in",
                  (json_int_t)info.in, "out", (json_int_t)info.out, "dropped",
                  (json_int_t)info.dropped, "failed", (json_int_t)info.failed, "latency_us", "p50",
                  (double)info.latency_p50_ns * 1e-3, "p99", (double)info.latency_p99_ns * 1e-3,
                  "max", (double)info.latency_max_ns * 1e-3, "buffers", (json_int_t)info.slots,
                  "memory_bytes", (json_int_t)info.memory));
}

/* Ask the hook, which may look at the camera's results; of frames that wait a stop ends the run. */
static airy_status look_up(struct oct_run *r)
{
    enum { APART_NS = 200 * 1000 * 1000 };
    struct oct_patience *p = &r->patience;
    const uint64_t now = r->live ? airy_clock_ns() : 0;
    if (r->live && now - r->told_ns >= APART_NS) {
        r->told_ns = now;
        AIRY_TRY(put_camera(r));
    }
    const bool goes_on = airy_oct_goes_on(p);
    AIRY_FAIL_HINT_IF(!goes_on && p->total && p->done < p->total, AIRY_ERR_CANCELLED,
                      AIRY_HINT_NONE, AIRY_SUBJECT_NONE, "cancelled after %zu of %zu frames",
                      p->done, p->total);
    return AIRY_OK;
}

/* Buffers in and results out until both are at their ends. */
static airy_status pump(struct oct_run *r)
{
    enum { PATIENCE = 100 * 1000 * 1000 }; /* ns */
    bool given = r->live != NULL, ended = false;
    while (!ended) {
        void *buffer = NULL;
        airy_oct_result result;
        if (!given)
            AIRY_TRY(airy_oct_stream_take(r->stream, &buffer));
        if (buffer)
            AIRY_TRY(give_frames(r, buffer, &given));
        AIRY_TRY(look_up(r));
        AIRY_TRY(airy_oct_stream_next(r->stream, &result, buffer ? 0 : PATIENCE, &ended));
        if (result.data || result.status != AIRY_OK)
            AIRY_TRY(take_result(r, &result));
    }
    return AIRY_OK;
}

static airy_status run_stream(struct oct_run *r)
{
    const bool is_live = airy_oct_is_live(r->job);
    const struct oct_values *v = r->v;
    const airy_oct_stream_params params = {.frames = r->batch,
                                           .slots = v->buffers ? v->buffers
                                                    : is_live  ? 0
                                                               : SLOTS};
    const struct airy_oct_live_start start = {.source = &r->source,
                                              .device = r->device,
                                              .memory = &r->memory,
                                              .group = r->info.frames_per_result,
                                              .batch = r->batch};
    AIRY_TRY(airy_oct_stream_create(&r->stream, r->oct, &params));
    if (r->source.first) /* frames keep their numbers: flip asks for them */
        AIRY_TRY(airy_oct_stream_drop(r->stream, r->source.first));
    airy_status status = AIRY_OK;
    if (is_live) {
        struct airy_oct_live_start with = start;
        with.stream = r->stream;
        status = airy_oct_live_start(&r->live, &with);
    } else if (r->source.frames != UINT64_MAX) {
        r->patience.total = (size_t)r->source.frames;
    }
    if (status == AIRY_OK) /* before the time counts */
        status = look_up(r);
    const uint64_t begin = airy_clock_ns();
    if (status == AIRY_OK)
        status = pump(r);
    r->seconds = (double)(airy_clock_ns() - begin) / 1e9;
    return airy_oct_live_end(&r->live, status);
}

static airy_run_params run_params(const struct oct_run *r)
{
    return (airy_run_params){.first = (size_t)r->source.first,
                             .last = (size_t)(r->source.first + r->source.frames),
                             .batch = r->v->batch,
                             .slots = r->v->buffers,
                             .skip_bad = r->v->frames.on_error,
                             .progress = airy_job_step,
                             .message = airy_job_frame_message,
                             .user = r->job};
}

/* An airy_oct_results_fn. */
static airy_status take_results(void *user, const void *data, size_t count)
{
    struct oct_run *r = user;
    return airy_oct_results_add(&r->results, data, count);
}

static airy_status run_file(struct oct_run *r)
{
    const airy_oct *const octs[] = {r->oct};
    const airy_run_params params = run_params(r);
    const airy_run_info *run = &r->run.run;
    const airy_status status =
        airy_oct_stack(r->source.input.stack, octs, 1, &params, take_results, r, &r->run);
    r->batch = run->batch;
    r->seconds = run->seconds;
    AIRY_TRY(status);
    char also[64];
    snprintf(also, sizeof(also), ", which makes %zu result%s %s", r->run.bad_results,
             r->run.bad_results == 1 ? "" : "s", r->plan.to == AIRY_DTYPE_F32 ? "NaN" : "0");
    (void)airy_job_warn_left_out(r->job, run->bad, run->frames, also, run->first_error);
    tell_left_over(r, r->run.left_over);
    return AIRY_OK;
}

/* ---- what is reported ---- */

/* {value, line, bin, depth_um} */
static json_t *peak_json(const struct oct_run *r)
{
    const struct oct_peak *peak = &r->results.peak;
    const double um = airy_oct_depth_um(&r->info);
    if (!isfinite(peak->value))
        return json_null();
    return json_pack("{s:f, s:I, s:I, s:o}", "value", peak->value, "line", (json_int_t)peak->line,
                     "bin", (json_int_t)peak->bin, "depth_um",
                     um > 0 ? json_real(um * (double)peak->bin) : json_null());
}

static airy_status put_texts(const struct oct_run *r)
{
    airy_job *job = r->job;
    const airy_oct_params *plan = &r->plan;
    AIRY_TRY(airy_job_put_text(job, "dtype", airy_dtype_name(plan->to)));
    AIRY_TRY(airy_job_put_text(job, "device", airy_device_spec(r->device)));
    AIRY_TRY(airy_job_put_text(job, "method", r->info.method));
    AIRY_TRY(airy_job_put_json(
        job, "display", plan->display ? json_pack("[f,f]", plan->low, plan->high) : json_null()));
    AIRY_TRY(airy_job_put_json(job, "peak", peak_json(r)));
    if (r->stream && airy_oct_is_live(job))
        AIRY_TRY(put_camera(r));
    return r->v->output ? airy_job_put_text(job, "output", r->v->output) : AIRY_OK;
}

static void put_numbers(const struct oct_run *r)
{
    airy_job *job = r->job;
    const airy_oct_info *info = &r->info;
    const double um = airy_oct_depth_um(info), bin = um > 0 ? um : 1,
                 first = (double)r->plan.depth_first,
                 depth[2] = {first * bin, (first + (double)info->depth - 1) * bin},
                 raw = (double)(r->results.frames * info->frames_per_result),
                 lines = raw * (double)r->plan.lines,
                 rate = r->seconds > 0 ? lines / r->seconds : 0;
    airy_job_put_number(job, "frames", (double)r->results.frames);
    airy_job_put_number(job, "raw_frames", raw);
    airy_job_put_number(job, "lines", (double)info->out_lines);
    airy_job_put_number(job, "depth", (double)info->depth);
    airy_job_put_number(job, "samples", (double)r->plan.samples);
    airy_job_put_number(job, "depth_step_um", um > 0 ? um : (double)NAN);
    airy_job_put_numbers(job, um > 0 ? "depth_um" : "depth_bins", depth, 2);
    airy_job_put_number(job, "batch_frames", (double)r->batch);
    airy_job_put_number(job, "seconds", r->seconds);
    airy_job_put_number(job, "lines_per_second", rate);
    airy_job_sum_up(job, "%.0f lines in %.3g s, %.4g lines/s (%s on %s)", lines, r->seconds, rate,
                    info->method, airy_device_spec(r->device));
}

/* Lines a second of a batch on the device, nothing written; 0 where it cannot be measured. */
static double measure_batch(struct oct_run *r, const void *frames, size_t count)
{
    const bool complex = r->plan.output == AIRY_OCT_COMPLEX;
    const size_t shape[4] = {count / r->info.frames_per_result, r->info.out_lines, r->info.depth,
                             2};
    airy_array *src = NULL, *dst = NULL;
    double best = 0;
    airy_status status = push_frames(r, &src, frames, count);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&dst, r->device, r->plan.to, complex ? 4 : 3, shape);
    for (int i = 0; i < 4 && status == AIRY_OK; i++) { /* the first one compiles and warms up */
        const uint64_t start = airy_clock_ns();
        status = airy_oct_process(r->queue, r->oct, dst, src, NULL);
        if (status == AIRY_OK)
            status = airy_queue_finish(r->queue);
        const double rate = (double)(count * r->plan.lines) * 1e9 /
                            (double)(airy_clock_ns() - start);
        best = i && rate > best ? rate : best;
    }
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return status == AIRY_OK ? best : 0;
}

static double measure_rate(struct oct_run *r)
{
    const void *frames = r->source.head;
    size_t got = r->source.head_count;
    if (!frames && airy_oct_source_peek(&r->source, &frames, r->batch, &got) != AIRY_OK)
        return 0;
    got -= got % r->info.frames_per_result;
    return got ? measure_batch(r, frames, got) : 0;
}

/* What the run will use. */
static airy_status put_plan(struct oct_run *r)
{
    airy_job *job = r->job;
    const airy_oct_info *info = &r->info;
    const double um = airy_oct_depth_um(info);
    const uint64_t frames = r->source.frames;
    uint64_t slots = r->v->buffers ? r->v->buffers : SLOTS,
             bytes = slots * (r->batch * r->source.input.frame_bytes +
                              r->batch / info->frames_per_result * info->result_bytes);
    if (airy_oct_is_file(&r->source)) {
        const airy_oct *const octs[] = {r->oct};
        const airy_run_params params = run_params(r);
        AIRY_TRY(airy_oct_stack_plan(&r->run, r->source.input.stack, octs, 1, &params));
        r->batch = r->run.run.batch;
        slots = r->run.run.slots;
        bytes = r->run.run.host_bytes + r->run.run.device_bytes;
    }
    airy_job_put_plan(job, "method", json_string(info->method));
    airy_job_put_plan(job, "samples", json_integer((json_int_t)r->plan.samples));
    airy_job_put_plan(job, "lines", json_integer((json_int_t)r->plan.lines));
    airy_job_put_plan(job, "dtype", json_string(airy_dtype_name(r->plan.dtype)));
    airy_job_put_plan(job, "frames",
                      frames == UINT64_MAX ? json_null() : json_integer((json_int_t)frames));
    airy_job_put_plan(job, "frames_per_result", json_integer((json_int_t)info->frames_per_result));
    airy_job_put_plan(job, "depth", json_integer((json_int_t)info->depth));
    airy_job_put_plan(job, "depth_step_um", um > 0 ? json_real(um) : json_null());
    airy_job_put_plan(job, "batch_frames", json_integer((json_int_t)r->batch));
    airy_job_put_plan(job, "slots", json_integer((json_int_t)slots));
    airy_job_put_plan(job, "buffer_bytes", json_integer((json_int_t)bytes));
    if (r->v->explain)
        airy_job_put_plan(job, "lines_per_second", json_real(measure_rate(r)));
    return AIRY_OK;
}

/* ---- the stages ---- */

static airy_status open_run(airy_job *job, void *state)
{
    struct oct_run *r = state;
    *r = (struct oct_run){.job = job, .v = job->values, .patience = {.job = job}};
    r->source = (struct oct_source){.job = job, .v = r->v, .patience = &r->patience};
    AIRY_TRY(airy_oct_source_open(&r->source));
    if (r->v->feed)
        return AIRY_OK;
    r->plan = r->source.config.params;
    AIRY_TRY(airy_oct_results_adapt(job, &r->plan));
    r->automatic = r->plan.display && !r->source.config.has_range;
    AIRY_TRY(airy_job_open_device(job, &r->device, &r->v->compute));
    AIRY_TRY(airy_queue_create(&r->queue, r->device));
    AIRY_TRY(prepare_oct(r));
    choose_batch(r);
    return put_plan(r);
}

static airy_status run(airy_job *job, void *state)
{
    struct oct_run *r = state;
    if (r->v->feed)
        return airy_oct_live_feed(&r->source);
    AIRY_TRY(open_results(r));
    AIRY_TRY(airy_oct_is_file(&r->source) ? run_file(r) : run_stream(r));
    AIRY_TRY(put_texts(r));
    AIRY_TRY(airy_oct_results_finish(&r->results));
    put_numbers(r);
    if (r->source.cut[0])
        airy_job_message(job, AIRY_LOG_ERROR, "%s", r->source.cut);
    return r->source.cut[0] || r->run.run.bad ? AIRY_PARTLY : AIRY_OK;
}

static void close_run(void *state)
{
    struct oct_run *r = state;
    airy_oct_stream_destroy(&r->stream);
    airy_host_destroy(&r->memory);
    airy_oct_results_close(&r->results);
    airy_oct_destroy(&r->oct);
    airy_queue_destroy(&r->queue);
    airy_oct_source_close(&r->source);
}

#define REFUSE_IF(cond, ...)                                                                       \
    AIRY_FAIL_ON_IF(cond, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, __VA_ARGS__)

static airy_status check(airy_job *job)
{
    const struct oct_values *v = job->values;
    const size_t *frames = v->frames.frames;
    const bool ring = airy_oct_ring_name(&v->raw);
    const char *of_file = airy_job_is_set(job, "line-rate") ? "line-rate"
                          : airy_job_is_set(job, "repeat")  ? "repeat"
                          : airy_job_is_set(job, "frames")  ? "frames"
                                                            : NULL;
    REFUSE_IF(!v->plan, "%s is missing", "plan");
    AIRY_TRY(airy_oct_results_check(job));
    REFUSE_IF(airy_job_is_set(job, "frames") && frames[2] != 1,
              "%s %zu:%zu:%zu: expected FIRST:LAST, frames follow each other", "frames", frames[0],
              frames[1], frames[2]);
    REFUSE_IF(v->frames.on_error && (v->feed || airy_oct_is_live(job)),
              "%s skip is for files, not for a camera's frames", "on-error");
    REFUSE_IF(ring && of_file, "%s is for files; a ring's frames come as they are put", of_file);
    REFUSE_IF(v->feed && (v->output || v->explain || airy_job_is_set(job, "enface") ||
                          airy_job_is_set(job, "mip") || airy_job_is_wanted(job, "picture")),
              "%s plays frames into a ring and makes no results", "feed");
    REFUSE_IF(v->feed && ring, "%s plays a file, not a ring", "feed");
    return AIRY_OK;
}

extern const struct airy_job_kind airy_job_oct;
const struct airy_job_kind airy_job_oct = {
    .name = "oct",
    .summary = "optical coherence tomography: raw spectra to depth profiles",
    .details =
        "RAW is a headerless file of frames (samples, lines and dtype are the plan's), '-' for "
        "standard input, ring:NAME for frames that another program puts into shared memory, or NPY"
#if AIRY_HAVE_TIFF
        ", TIFF"
#endif
        " or HDF5 (FILE or FILE::DATASET), which contain their own shape:  [lines, samples] or "
        "[frames, lines, samples]. Frames stream through; files may be larger than memory. A "
        "pipe or a camera that is cancelled ends as if no more frames came.",
    .groups = {{rows, 0},
               {airy_device_rows, offsetof(struct oct_values, compute)},
               {airy_host_rows, offsetof(struct oct_values, compute)}},
    .results = results,
    .values_size = sizeof(struct oct_values),
    .state_size = sizeof(struct oct_run),
    .check = check,
    .open = open_run,
    .run = run,
    .close = close_run,
};
