/* airy oct: raw spectra of a camera to depth profiles. */
#include "airy/oct_stack.h"
#include "oct/oct.h"
#include "cli/stack_opt.h"
#include "images/image_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 64 << 20, SLOTS = 3 };

static const char *const compats[] = {"none", "pymotionoct", "octproz", NULL};

#define FIELD(member) .offset = offsetof(struct oct_params, member)
#define SEEN(member)  .seen = offsetof(struct oct_params, member)

static const struct opt oct_options[] = {
    {.heading = "Input"},
    {.name = "plan",
     .type = OPT_STRING,
     FIELD(plan),
     .use = OPT_READ,
     .argument = "PLAN.json",
     .help = "what the samples are and what is done with them; docs/oct.md has its keys"},
    {.name = "frames",
     .type = OPT_PARSED,
     FIELD(frames),
     SEEN(has_frames),
     .parse = opt_frames,
     .argument = "A:B",
     .fallback = "all",
     .help = "raw frames from A up to, not including, B; one number: that frame"},
    STACK_ON_ERROR_OPTION(struct oct_params, skip_bad,
                          "skip: results of a frame that cannot be read are NaN (0 in integers), "
                          "exit code 3; a file only, not one of the first frames where the plan "
                          "learns from them"),
    {.name = "compat",
     .type = OPT_WORD,
     FIELD(compat),
     SEEN(has_compat),
     .words = compats,
     .argument = "NAME",
     .fallback = "the plan's, else none",
     .help = "pymotionoct or octproz: order, signs, scaling and edges as those programs have them"},
    {.heading = "Camera"},
    {.name = "line-rate",
     .type = OPT_FLOAT,
     FIELD(line_rate),
     SEEN(has_rate),
     .lo = 1e-3,
     .hi = 1e12,
     .argument = "R",
     .fallback = "as fast as they are taken",
     .help = "frames come as from a camera of R lines/s; those that find no free buffer are "
             "dropped and counted"},
    {.name = "repeat",
     .type = OPT_PARSED,
     FIELD(repeat),
     SEEN(has_repeat),
     .parse = oct_parse_repeat,
     .argument = "N|Ss",
     .help = "the file's frames N times from memory, or for S seconds (60s)"},
    {.name = "batch",
     .type = OPT_COUNT,
     FIELD(batch),
     .lo = 1,
     .hi = 1e9,
     .argument = "N",
     .fallback =
         "those of a result with --line-rate and rings, else 64 MiB, 8 MiB of files on a CPU",
     .help = "raw frames that are processed together"},
    {.name = "buffers",
     .type = OPT_COUNT,
     FIELD(buffers),
     .lo = 2,
     .hi = AIRY_OCT_STREAM_SLOTS,
     .argument = "N",
     .fallback = "16 below 1 MiB, else 4; 3 of a pipe, of files as tuned",
     .help = "buffers that go round: how long a camera may be ahead"},
    {.name = "feed",
     .type = OPT_STRING,
     FIELD(feed),
     .argument = "NAME",
     .help = "make no results: play the frames into the ring NAME, for 'airy oct ring:NAME'"},
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT",
     .help = FRAME_SUFFIXES " of [frames, lines, depth]; .png: pictures with depth downwards, "
                            "NAME_0000.png and so on where there are several"},
    COMPLEX_OPTION(struct oct_params, pairs),
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     SEEN(has_frame),
     .lo = 0,
     .hi = 1e15,
     .argument = "N",
     .fallback = "0 of --plot, all of -o OUT.png",
     .help = "result that is drawn, counted from 0"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draw one B-scan in dB, with its depth in micrometres (.png, .svg, .pdf)"},
    {.name = "enface",
     .type = OPT_STRING,
     FIELD(enface),
     .argument = "OUT[,Z0:Z1]",
     .help = "image of [frames, lines]: mean over depth bins Z0 to Z1 - 1, all by default"},
    {.name = "mip",
     .type = OPT_STRING,
     FIELD(mip),
     .argument = "OUT[,ALONG]",
     .help = "largest values along depth: [frames, lines], or along frames: [lines, depth]"},
    {0},
};

/* What is open during a run. */
struct oct_job {
    const struct oct_params *p;
    const struct common *common;
    struct oct_source source;
    airy_device *device;
    airy_queue *queue;
    airy_oct *oct;
    airy_oct_params plan; /* of oct */
    airy_oct_info info;
    airy_oct_stream *stream;
    struct oct_sink sink;
    struct oct_live *live; /* NULL: frames wait for the device */
    airy_host *memory;     /* frames that are repeated */
    size_t batch;          /* raw frames of a buffer */
    bool automatic;        /* display limits were found, not given */
    struct oct_peak peak;  /* of the first result, where there is a display: in front of it */
    size_t bad;            /* frames that were left out */
    int sink_code;         /* of a sink that failed, which it has reported */
    double seconds;
};

/* A batch of raw frames on the device; the caller destroys it. */
static airy_status push_frames(struct oct_job *job, airy_array **src, const void *frames,
                               size_t count)
{
    const size_t shape[3] = {count, job->plan.lines,
                             job->source.input.frame_bytes / job->plan.lines /
                                 airy_dtype_size(job->plan.dtype)};
    return airy_array_create_from(src, job->queue, job->plan.dtype, 3, shape, frames);
}

/* The first result without a display: its brightest bin, and percentiles where they are limits. */
static airy_status look_at_first(struct oct_job *job, const airy_array *src,
                                 const airy_array *first)
{
    airy_oct_params plain = job->plan;
    airy_oct *oct = NULL;
    airy_oct_info info;
    airy_array *dst = NULL;
    float *values = NULL;
    plain.display = plain.post_background = false;
    plain.to = AIRY_DTYPE_F32;
    airy_status status = airy_oct_create(&oct, job->queue, &plain);
    if (status == AIRY_OK && plain.fixed_pattern)
        status = airy_oct_learn(job->queue, oct, src);
    if (status == AIRY_OK)
        status = airy_oct_get_info(oct, &info);
    if (status == AIRY_OK) {
        const size_t shape[3] = {1, info.out_lines, info.depth};
        status = airy_array_create_uninitialized(&dst, job->device, AIRY_DTYPE_F32, 3, shape);
    }
    if (status == AIRY_OK)
        status = airy_oct_process(job->queue, oct, dst, first, NULL);
    if (status == AIRY_OK && !(values = malloc(info.result_bytes)))
        status = AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_array_pull(job->queue, values, info.result_bytes, dst);
    if (status == AIRY_OK)
        status = airy_queue_finish(job->queue);
    if (status == AIRY_OK)
        oct_find_peak(&job->peak, values, &info, plain.depth_first);
    if (job->automatic) {
        job->plan.low = 0;
        job->plan.high = 1;
    }
    if (job->automatic && status == AIRY_OK)
        oct_limits(values, info.out_lines * info.depth, 5, 99.95, &job->plan.low, &job->plan.high);
    free(values);
    airy_array_destroy(&dst);
    airy_oct_destroy(&oct);
    return status;
}

/* Raw frames for one result, which the plan alone says. */
static size_t group_of(const airy_oct_params *plan)
{
    const size_t mean = plan->average_frames ? plan->average_frames : 1;
    return plan->flow != AIRY_OCT_FLOW_NONE && plan->flow_frames ? mean * plan->repeats : mean;
}

/* Limits, pattern and background from the first frames; makes job->oct. */
static int prepare_oct(struct oct_job *job)
{
    const struct common *common = job->common;
    airy_oct_params *plan = &job->plan;
    const size_t group = group_of(plan);
    const bool learns = plan->fixed_pattern || plan->post_background;
    size_t want = plan->display ? group : 0, got = 0;
    want = learns && want < 1 ? 1 : want;
    want = want < plan->fixed_pattern ? plan->fixed_pattern : want;
    const void *frames = NULL;
    airy_array *src = NULL, *first = NULL;
    airy_status status = want ? oct_source_peek(&job->source, &frames, want, &got) : AIRY_OK;
    if (job->p->skip_bad && airy_status_is_of_frame(status))
        return tool_fail(common,
                         "%s; the plan learns from the first %zu frame%s, so that none of these is "
                         "left out; --frames %llu: begins behind it",
                         airy_last_error(), want, tool_s(want),
                         (unsigned long long)job->source.number + 1);
    if (status == AIRY_OK && got < want)
        return tool_fail(common,
                         "%s has %zu frame%s, expected %zu: fixed_pattern = %zu, %zu for a "
                         "result",
                         job->source.path, got, tool_s(got), want, plan->fixed_pattern, group);
    if (status == AIRY_OK && want)
        status = push_frames(job, &src, frames, want);
    if (status == AIRY_OK && plan->display)
        status = push_frames(job, &first, frames, group);
    if (status == AIRY_OK && plan->display)
        status = look_at_first(job, src, first);
    if (status == AIRY_OK)
        status = airy_oct_create(&job->oct, job->queue, plan);
    if (status == AIRY_OK && learns)
        status = airy_oct_learn(job->queue, job->oct, src);
    if (status == AIRY_OK)
        status = airy_oct_get_info(job->oct, &job->info);
    airy_array_destroy(&src);
    airy_array_destroy(&first);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (plan->background == AIRY_OCT_BACKGROUND_MEAN && plan->lines == 1)
        tool_say(common, "the background is the mean of a frame's lines, and frames have one: what "
                         "is left of it is rounding; a recorded line leaves the signal");
    if (job->automatic)
        tool_say(common,
                 "display from %.4g to %.4g, the 5th and the 99.95th percentile of the "
                 "first result; \"db_range\" in the plan fixes them",
                 plan->low, plan->high);
    return AIRY_EXIT_OK;
}

/* As many frames as the batch and the memory limit allow, a multiple of those of a result. */
static void choose_batch(struct oct_job *job)
{
    const size_t group = job->info.frames_per_result,
                 each = job->source.input.frame_bytes + job->info.result_bytes / group + 1;
    if (job->p->batch || job->p->has_rate || job->source.ring) {
        const size_t frames = job->p->batch ? job->p->batch : group;
        job->batch = (frames + group - 1) / group * group;
        return;
    }
    uint64_t bytes = BATCH_BYTES;
    const uint64_t limit = job->common->memory_limit,
                   slots = job->p->buffers ? job->p->buffers : SLOTS;
    if (limit && limit / (4 * slots) < bytes) /* on host and device, and room for steps between */
        bytes = limit / (4 * slots);
    uint64_t frames = bytes / each;
    if (frames > job->source.frames)
        frames = job->source.frames;
    job->batch = frames < group ? group : (size_t)(frames - frames % group);
}

/* Make what goes into the result so that it can be made again. Exit code. */
static int configuration(char **made, const struct oct_job *job)
{
    airy_oct_config config = job->source.config;
    char *text = NULL, frames[64];
    config.params = job->plan;
    config.has_range |= job->automatic;
    if (airy_oct_config_text(&text, &config) != AIRY_OK)
        return tool_failed(job->common, AIRY_ERR_MEMORY);
    int code = AIRY_EXIT_OK;
    json_t *plan = json_loads(text, 0, NULL), *inputs = json_array();
    free(text);
    tool_json_append(&inputs, tool_file_json(job->common, job->source.path, &code));
    json_t *plan_file = code == AIRY_EXIT_OK ? tool_file_json(job->common, job->p->plan, &code)
                                             : NULL;
    const uint64_t last = job->source.frames == UINT64_MAX ? 0
                                                           : job->source.first + job->source.frames;
    snprintf(frames, sizeof(frames), "%llu:%.0llu", (unsigned long long)job->source.first,
             (unsigned long long)last);
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "program", "airy", "version",
                             airy_version(), "command", "oct", "inputs", inputs, "plan_file",
                             plan_file, "frames", frames, "plan", plan);
    *made = json ? tool_json_text(json) : NULL;
    json_decref(json);
    return *made || code != AIRY_EXIT_OK ? code : tool_failed(job->common, AIRY_ERR_MEMORY);
}

static int open_outputs(struct oct_job *job)
{
    char *text = NULL;
    int code = configuration(&text, job);
    if (code != AIRY_EXIT_OK)
        return code;
    const struct oct_sink_open open = {.p = job->p,
                                       .source = &job->source,
                                       .plan = &job->plan,
                                       .info = job->info,
                                       .configuration = text,
                                       .peak = job->plan.display ? &job->peak : NULL,
                                       .frames = job->source.frames};
    code = oct_sink_open(&job->sink, &open);
    free(text);
    return code;
}

static void say_left_over(const struct oct_job *job, size_t count)
{
    if (count)
        tool_say(job->common, "the last %zu frame%s left out: a result takes %zu", count,
                 count == 1 ? " is" : "s are", job->info.frames_per_result);
}

/* Read into a free buffer and give it; *ended: the input is at its end. */
static int feed(struct oct_job *job, void *buffer, bool *ended)
{
    const size_t group = job->info.frames_per_result;
    size_t got = 0;
    airy_status status = oct_source_read(&job->source, buffer, job->batch, &got);
    /* Ctrl-C ends whoever writes into the pipe, too, inside a frame or not. */
    const bool stopped = job->source.frames == UINT64_MAX && tool_interrupted();
    if (status != AIRY_OK && !(stopped && status == AIRY_ERR_CORRUPT))
        return tool_failed(job->common, status);
    *ended = got == 0 || stopped || job->source.taken == job->source.frames;
    say_left_over(job, got % group);
    got -= got % group;
    if (got)
        status = airy_oct_stream_give(job->stream, got);
    if (status == AIRY_OK && *ended)
        status = airy_oct_stream_end(job->stream);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

static int take_result(struct oct_job *job, const airy_oct_result *result)
{
    if (result->status != AIRY_OK)
        return tool_fail(job->common, "frames from %llu: %s",
                         (unsigned long long)result->first_frame, result->message);
    const int code =
        oct_sink_add(&job->sink, result->data, result->frames / job->info.frames_per_result);
    const airy_status status = airy_oct_stream_release(job->stream, result);
    return code != AIRY_EXIT_OK ? code
           : status == AIRY_OK  ? AIRY_EXIT_OK
                                : tool_failed(job->common, status);
}

/* Buffers in and results out until both are at their ends. */
static int pump(struct oct_job *job, struct progress *progress)
{
    enum { PATIENCE = 100 * 1000 * 1000 }; /* ns */
    bool fed = job->live != NULL, ended = false;
    size_t done = 0;
    while (!ended) {
        void *buffer = NULL;
        airy_status status = fed ? AIRY_OK : airy_oct_stream_take(job->stream, &buffer);
        if (status != AIRY_OK)
            return tool_failed(job->common, status);
        if (buffer) {
            const int code = feed(job, buffer, &fed);
            if (code != AIRY_EXIT_OK)
                return code;
        }
        if (job->live)
            oct_live_show(job->live);
        airy_oct_result result;
        status = airy_oct_stream_next(job->stream, &result, buffer ? 0 : PATIENCE, &ended);
        if (status != AIRY_OK)
            return tool_failed(job->common, status);
        if (!result.data && result.status == AIRY_OK)
            continue;
        const int code = take_result(job, &result);
        if (code != AIRY_EXIT_OK)
            return code;
        done += result.frames;
        const uint64_t total = job->live ? UINT64_MAX : job->source.frames;
        if (total != UINT64_MAX && !progress_step(progress, done, (size_t)total) && done < total)
            return tool_fail(job->common, "stopped after %zu of %zu frames, %s; start again", done,
                             (size_t)total, tool_left(job->common, job->p->output));
    }
    return AIRY_EXIT_OK;
}

/* The frames of a file: not a camera's, nor those of a pipe. */
static bool is_file(const struct oct_job *job)
{
    return !oct_is_live(job->p) && !job->source.input.info.is_pipe;
}

/* An airy_log_fn with a struct progress. */
static void print_warning(void *user, airy_log_level level, const char *text)
{
    const struct progress *progress = user;
    if (level <= AIRY_LOG_WARN)
        tool_say(progress->common, "%s", text);
}

static airy_run_params run_params(const struct oct_job *job, struct progress *progress)
{
    return (airy_run_params){.first = (size_t)job->source.first,
                             .last = (size_t)(job->source.first + job->source.frames),
                             .batch = job->p->batch,
                             .slots = job->p->buffers,
                             .skip_bad = job->p->skip_bad,
                             .progress = progress_step,
                             .message = print_warning,
                             .user = progress};
}

/* An airy_oct_results_fn. */
static airy_status take_results(void *user, const void *results, size_t count)
{
    struct oct_job *job = user;
    job->sink_code = oct_sink_add(&job->sink, results, count);
    return job->sink_code == AIRY_EXIT_OK ? AIRY_OK : AIRY_ERR_IO;
}

static int run_file(struct oct_job *job)
{
    const struct common *common = job->common;
    const airy_oct *const octs[] = {job->oct};
    struct progress progress;
    airy_oct_run_info info;
    const airy_run_params params = run_params(job, &progress);
    progress_begin(&progress, common, "frames");
    const airy_status status =
        airy_oct_stack(job->source.input.stack, octs, 1, &params, take_results, job, &info);
    progress_end(&progress);
    job->batch = info.run.batch;
    job->bad = info.run.bad;
    job->seconds = info.run.seconds;
    if (job->sink_code != AIRY_EXIT_OK)
        return job->sink_code;
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(common, "%s, %s; start again", airy_last_error(),
                         tool_left(common, job->p->output));
    if (status != AIRY_OK)
        return tool_failed(common, status);
    say_left_over(job, info.left_over);
    return AIRY_EXIT_OK;
}

static int run_stream(struct oct_job *job)
{
    const airy_oct_stream_params params = {.frames = job->batch,
                                           .slots = job->p->buffers       ? job->p->buffers
                                                    : oct_is_live(job->p) ? 0
                                                                          : SLOTS};
    struct progress progress;
    airy_status status = airy_oct_stream_create(&job->stream, job->oct, &params);
    if (status == AIRY_OK && job->source.first) /* frames keep their numbers: flip asks for them */
        status = airy_oct_stream_drop(job->stream, job->source.first);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    int code = AIRY_EXIT_OK;
    if (oct_is_live(job->p)) {
        const struct oct_live_start live = {.p = job->p,
                                            .source = &job->source,
                                            .stream = job->stream,
                                            .device = job->device,
                                            .memory = &job->memory,
                                            .group = job->info.frames_per_result,
                                            .batch = job->batch};
        code = oct_live_start(&job->live, &live);
    }
    const double start = tool_now();
    progress_begin(&progress, job->common, "frames");
    if (code == AIRY_EXIT_OK)
        code = pump(job, &progress);
    progress_end(&progress);
    job->seconds = tool_now() - start;
    const int came = oct_live_end(&job->live);
    return code == AIRY_EXIT_OK ? came : code;
}

/* What became of the frames, and how long buffers took from give to the result on the host. */
static airy_oct_stream_info live_info(const struct oct_job *job)
{
    airy_oct_stream_info info = {0};
    (void)airy_oct_stream_get_info(job->stream, &info);
    return info;
}

static json_t *live_json(const struct oct_job *job)
{
    const airy_oct_stream_info info = live_info(job);
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:{s:o, s:o, s:o}, s:I, s:I}", "line_rate",
                     job->p->has_rate ? tool_json_number(job->p->line_rate) : json_null(), "in",
                     (json_int_t)info.in, "out", (json_int_t)info.out, "dropped",
                     (json_int_t)info.dropped, "failed", (json_int_t)info.failed, "latency_us",
                     "p50", tool_json_number((double)info.latency_p50_ns * 1e-3), "p99",
                     tool_json_number((double)info.latency_p99_ns * 1e-3), "max",
                     tool_json_number((double)info.latency_max_ns * 1e-3), "buffers",
                     (json_int_t)info.slots, "memory_bytes", (json_int_t)info.memory);
}

static void say_live(const struct oct_job *job)
{
    const airy_oct_stream_info info = live_info(job);
    char text[32];
    printf("camera    %llu frames in, %llu out, %llu dropped, %llu failed\n",
           (unsigned long long)info.in, (unsigned long long)info.out,
           (unsigned long long)info.dropped, (unsigned long long)info.failed);
    printf("latency   p50 %.4g us, p99 %.4g us, at most %.4g us\n",
           (double)info.latency_p50_ns * 1e-3, (double)info.latency_p99_ns * 1e-3,
           (double)info.latency_max_ns * 1e-3);
    printf("buffers   %zu of %zu frames, %s\n", info.slots, info.frames,
           tool_bytes(text, (double)info.memory));
}

/* {value, line, bin, depth_um} */
static json_t *peak_json(const struct oct_job *job)
{
    const double um = oct_depth_um(&job->info);
    if (!isfinite(job->sink.peak.value))
        return json_null();
    return json_pack("{s:o, s:I, s:I, s:o}", "value", tool_json_number(job->sink.peak.value),
                     "line", (json_int_t)job->sink.peak.line, "bin", (json_int_t)job->sink.peak.bin,
                     "depth_um",
                     um > 0 ? tool_json_number(um * (double)job->sink.peak.bin) : json_null());
}

static int report(const struct oct_job *job)
{
    const airy_oct_info *info = &job->info;
    const double um = oct_depth_um(info), bin = um > 0 ? um : 1;
    const size_t first = job->plan.depth_first, last = first + info->depth - 1;
    const unsigned long long frames = job->sink.frames,
                             lines = frames * info->frames_per_result * job->plan.lines;
    const double rate = job->seconds > 0 ? (double)lines / job->seconds : 0;
    if (job->common->json) {
        json_t *json = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:o, s:[o,o], s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:o}",
            "frames", (json_int_t)frames, "raw_frames",
            (json_int_t)(frames * info->frames_per_result), "lines", (json_int_t)info->out_lines,
            "depth", (json_int_t)info->depth, "samples", (json_int_t)job->plan.samples,
            "depth_step_um", um > 0 ? tool_json_number(um) : json_null(),
            um > 0 ? "depth_um" : "depth_bins", tool_json_number((double)first * bin),
            tool_json_number((double)last * bin), "dtype", airy_dtype_name(job->plan.to), "device",
            airy_device_spec(job->device), "method", info->method, "display",
            job->plan.display ? json_pack("[o,o]", tool_json_number(job->plan.low),
                                          tool_json_number(job->plan.high))
                              : json_null(),
            "peak", peak_json(job), "batch_frames", (json_int_t)job->batch, "seconds",
            tool_json_number(job->seconds), "lines_per_second", tool_json_number(rate));
        if (json && oct_is_live(job->p))
            json_object_set_new(json, "camera", live_json(job));
        if (json && job->p->output)
            json_object_set_new(json, "output", tool_json_string(job->p->output));
        return tool_print_json(job->common, json);
    }
    printf("frames    %llu of %zu lines\n", frames, info->out_lines);
    if (um > 0)
        printf("depth     %zu bins, %.2f to %.2f um, %.4f um each\n", info->depth,
               (double)first * um, (double)last * um, um);
    else
        printf("depth     bins %zu to %zu\n", first, last);
    if (isfinite(job->sink.peak.value) && um > 0)
        printf("peak      %.4g at %.2f um (bin %zu) of line %zu of the first frame\n",
               job->sink.peak.value, (double)job->sink.peak.bin * um, job->sink.peak.bin,
               job->sink.peak.line);
    else if (isfinite(job->sink.peak.value))
        printf("peak      %.4g at bin %zu of line %zu of the first frame\n", job->sink.peak.value,
               job->sink.peak.bin, job->sink.peak.line);
    if (oct_is_live(job->p))
        say_live(job);
    tool_say(job->common, "%llu lines in %.3g s, %.4g lines/s (%s on %s)", lines, job->seconds,
             rate, info->method, airy_device_spec(job->device));
    return AIRY_EXIT_OK;
}

/* Lines a second of the first batch, nothing written; 0 where it cannot be measured. */
static double measure_rate(struct oct_job *job)
{
    const void *frames = job->source.head;
    airy_array *src = NULL, *dst = NULL;
    size_t got = job->source.head_count;
    double best = 0;
    const size_t group = job->info.frames_per_result;
    if ((!frames && oct_source_peek(&job->source, &frames, job->batch, &got) != AIRY_OK) ||
        got < group)
        return 0;
    got -= got % group;
    const bool complex = job->plan.output == AIRY_OCT_COMPLEX;
    const size_t shape[4] = {got / group, job->info.out_lines, job->info.depth, 2};
    airy_status status = push_frames(job, &src, frames, got);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&dst, job->device, job->plan.to, complex ? 4 : 3,
                                                 shape);
    for (int i = 0; i < 4 && status == AIRY_OK; i++) { /* the first one compiles and warms up */
        const double start = tool_now();
        status = airy_oct_process(job->queue, job->oct, dst, src, NULL);
        if (status == AIRY_OK)
            status = airy_queue_finish(job->queue);
        const double rate = (double)(got * job->plan.lines) / (tool_now() - start);
        best = i && rate > best ? rate : best;
    }
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return status == AIRY_OK ? best : 0;
}

static int explain(struct oct_job *job)
{
    const airy_oct_info *info = &job->info;
    const double um = oct_depth_um(info);
    const uint64_t results = job->batch / info->frames_per_result;
    uint64_t slots = job->p->buffers ? job->p->buffers : SLOTS,
             bytes = slots *
                     (job->batch * job->source.input.frame_bytes + results * info->result_bytes);
    if (is_file(job)) {
        const airy_oct *const octs[] = {job->oct};
        const airy_run_params params = run_params(job, NULL);
        airy_oct_run_info run;
        const airy_status status =
            airy_oct_stack_plan(&run, job->source.input.stack, octs, 1, &params);
        if (status != AIRY_OK)
            return tool_failed(job->common, status);
        job->batch = run.run.batch;
        slots = run.run.slots;
        bytes = run.run.host_bytes + run.run.device_bytes;
    }
    const double rate = measure_rate(job);
    return tool_print_json(
        job->common,
        json_pack("{s:s, s:s, s:I, s:I, s:s, s:o, s:I, s:I, s:o, s:I, s:I, s:I, s:o}", "device",
                  airy_device_spec(job->device), "method", info->method, "samples",
                  (json_int_t)job->plan.samples, "lines", (json_int_t)job->plan.lines, "dtype",
                  airy_dtype_name(job->plan.dtype), "frames",
                  job->source.frames == UINT64_MAX ? json_null()
                                                   : json_integer((json_int_t)job->source.frames),
                  "frames_per_result", (json_int_t)info->frames_per_result, "depth",
                  (json_int_t)info->depth, "depth_step_um",
                  um > 0 ? tool_json_number(um) : json_null(), "batch_frames",
                  (json_int_t)job->batch, "slots", (json_int_t)slots, "buffer_bytes",
                  (json_int_t)bytes, "lines_per_second", tool_json_number(rate)));
}

static int open_device(struct oct_job *job)
{
    airy_status status = tool_device(job->common, &job->device);
    if (status == AIRY_OK)
        status = airy_queue_create(&job->queue, job->device);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    tool_say_device(job->common, job->device);
    return AIRY_EXIT_OK;
}

static int run_job(struct oct_job *job)
{
    int code = oct_source_open(&job->source, job->p);
    if (code != AIRY_EXIT_OK)
        return code;
    if (job->p->feed)
        return oct_live_feed(job->p, &job->source);
    job->plan = job->source.config.params;
    code = oct_sink_adapt(job->p, &job->plan);
    job->automatic = job->plan.display && !job->source.config.has_range;
    if (code == AIRY_EXIT_OK)
        code = open_device(job);
    if (code == AIRY_EXIT_OK)
        code = prepare_oct(job);
    if (code != AIRY_EXIT_OK)
        return code;
    choose_batch(job);
    if (job->common->explain)
        return explain(job);
    tool_catch_interrupts(); /* from here on there are partial files */
    code = open_outputs(job);
    if (code == AIRY_EXIT_OK)
        code = is_file(job) ? run_file(job) : run_stream(job);
    if (code == AIRY_EXIT_OK)
        code = oct_sink_finish(&job->sink);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(job->common, job->device);
    return code == AIRY_EXIT_OK ? report(job) : code;
}

static int check_oct(void *user)
{
    const struct oct_params *p = user;
    const int code = oct_sink_check(p);
    if (code == AIRY_EXIT_OK && p->skip_bad && (oct_is_live(p) || p->feed))
        return tool_usage(&p->common, "--on-error skip is for files, not for a camera's frames");
    return code == AIRY_EXIT_OK ? oct_live_check(p) : code;
}

static int run_oct(void *user)
{
    const struct oct_params *p = user;
    struct oct_job job = {.p = p, .common = &p->common};
    int code = run_job(&job);
    if (code == AIRY_EXIT_OK && job.source.cut[0]) {
        (void)tool_fail(job.common, "%s", job.source.cut);
        code = AIRY_EXIT_PARTLY;
    }
    if (code == AIRY_EXIT_OK && job.bad)
        code = AIRY_EXIT_PARTLY;
    airy_oct_stream_destroy(&job.stream);
    airy_host_destroy(&job.memory);
    oct_sink_close(&job.sink);
    airy_oct_destroy(&job.oct);
    airy_queue_destroy(&job.queue);
    airy_device_destroy(&job.device);
    oct_source_close(&job.source);
    return code;
}

const struct command cmd_oct = {
    .name = "oct",
    .usage = "RAW --plan PLAN.json -o OUT [options]",
    .summary = "optical coherence tomography: raw spectra to depth profiles",
    .details =
        "RAW is a headerless file of frames (samples, lines and dtype are the plan's), '-' for "
        "standard input, ring:NAME for frames that another program puts into shared memory, or "
        "NPY" IF_TIFF(", TIFF") " or HDF5 (FILE or FILE::DATASET), which say their shape "
                                "themselves: [lines, samples] or [frames, lines, samples]. Frames "
                                "stream through; files "
                                "may be larger than memory. --json prints {frames, raw_frames, "
                                "lines, depth, samples, "
                                "depth_step_um, depth_um, dtype, device, method, display, peak, "
                                "batch_frames, seconds, "
                                "lines_per_second, camera, output}.",
    .examples = "  airy oct scan.raw --plan plan.json -o scan.h5 --plot scan.png\n"
                "  airy oct volume.h5::/raw --plan plan.json --enface face.npy,100:200\n"
                "  camera | airy oct - --plan plan.json -o live.npy\n"
                "  airy oct scan.raw --plan plan.json --line-rate 200000 --repeat 60s\n",
    .tables = {oct_options},
    .takes = TAKES_COMPUTE | TAKES_EXPLAIN,
    .params_size = sizeof(struct oct_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_oct,
    .reads_pipe = true,
    .own_signals = true,
    .run = run_oct,
};
