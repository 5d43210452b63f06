/*
 * --follow: frames of files that are still being written become patterns as they come. What cannot
 * be read yet is tried again until nothing new has come for --follow-timeout.
 */
#include "integrate/follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* s */
#define DEFAULT_TIMEOUT 60.0
#define DEFAULT_POLL    0.5

static double timeout_of(const struct integrate_params *p)
{
    return p->has_follow_timeout ? p->follow_timeout : DEFAULT_TIMEOUT;
}

static double poll_of(const struct integrate_params *p)
{
    return p->has_poll ? p->poll : DEFAULT_POLL;
}

/* Like the library: a name with such characters that is no file. */
static bool is_pattern(const struct opt_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (strpbrk(inputs->items[i], "*?[#") && !tool_exists(inputs->items[i]))
            return true;
    return false;
}

static void nap(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

int follow_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (!p->follow && (p->has_follow_timeout || p->has_poll))
        return tool_usage(common, "--%s goes with --follow",
                          p->has_poll ? "poll" : "follow-timeout");
    if (!p->follow)
        return AIRY_EXIT_OK;
    const char *other = p->average                                               ? "average"
                        : p->sum                                                 ? "sum"
                        : p->monitor                                             ? "monitor"
                        : common->explain                                        ? "explain"
                        : p->carry.count                                         ? "carry"
                        : p->layout != LAYOUT_AUTO && p->layout != LAYOUT_DEVICE ? "layout"
                                                                                 : NULL;
    if (other && !(p->carry.count && strcmp(p->carry.items[0], "none") == 0))
        return tool_usage(common, "--%s needs all frames at once: not with --follow", other);
    if (!world_alone(p->world))
        return tool_usage(common,
                          "--follow: frames are taken by one process, not by several ranks");
    if (!integrate_is_hdf5_name(p->output))
        return tool_usage(common, "--follow: output '%s' is no .h5 file", p->output);
    return AIRY_EXIT_OK;
}

/* The stack can be opened and its mask, which lies before the frames, read. */
static airy_status try_first(const struct integrate_params *p)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_status status = stack_open_growing(&stack, &p->geometry.common.inputs, &p->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(stack, &meta);
    uint8_t *mask = status == AIRY_OK && meta.has_mask && !p->mask_only
                        ? malloc(info.height * info.width)
                        : NULL;
    if (mask)
        status = airy_stack_mask(stack, mask);
    free(mask);
    airy_stack_destroy(&stack);
    return status;
}

int follow_wait(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    for (size_t i = 0; i < common->inputs.count; i++) {
        struct stat about;
        if (stat(common->inputs.items[i], &about) == 0 && !S_ISREG(about.st_mode))
            return tool_fail(common,
                             S_ISDIR(about.st_mode)
                                 ? "'%s' is a folder; give its files as 'FOLDER/*.cbf'"
                                 : "'%s' is a pipe, a socket or a device; give a file",
                             common->inputs.items[i]);
    }
    const double until = tool_now() + timeout_of(p);
    bool said = false;
    tool_catch_interrupts();
    for (;;) {
        if (try_first(p) == AIRY_OK)
            return AIRY_EXIT_OK;
        if (tool_interrupted())
            return tool_fail(common, "stopped before there was a frame");
        if (tool_now() >= until)
            return tool_fail(common, "no frame within %g s: %s; --follow-timeout waits longer",
                             timeout_of(p), airy_last_error());
        if (!said)
            tool_say(common, "waiting for the first frame: %s", airy_last_error());
        said = true;
        nap(poll_of(p));
    }
}

int follow_frames(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const bool pattern = is_pattern(&job->common->inputs);
    const size_t first = p->frames[0], step = p->has_frames ? p->frames[2] : 1;
    const size_t last = p->has_frames && p->frames[1] ? p->frames[1]
                        : pattern                     ? 0
                                                      : job->meta.frames;
    if (last && first >= last)
        return tool_fail(job->common,
                         "--frames %zu:%zu: the series has %zu frame%s, numbered from 0", first,
                         last, job->meta.frames, tool_s(job->meta.frames));
    job->run = (airy_run_params){.first = first, .last = last, .step = step};
    job->run.batch = p->pattern.batch;
    job->run.skip_bad = p->skip_bad;
    job->run.resume = p->resume;
    job->run.force = job->common->force;
    job->frames = last ? (last - first - 1) / step + 1 : 0;
    return AIRY_EXIT_OK;
}

/* A line on a terminal. */
static void show(struct follow *f, bool end)
{
    const struct common *common = f->job->common;
    const double now = tool_now();
    if (common->quiet || !tool_is_terminal(STDERR_FILENO) || (!end && now - f->shown < 0.2))
        return;
    f->shown = now;
    if (end) {
        fputs("\r\033[K", stderr);
        return;
    }
    airy_live_info info;
    char of[32] = "";
    airy_live_get_info(f->live, &info);
    const unsigned long long done = info.done + info.resumed;
    if (f->frames)
        snprintf(of, sizeof(of), " of %zu", f->frames);
    fprintf(stderr,
            "\r%llu%s frames  %.4g/s  latency %.3g ms (99 %%: %.3g ms)  waiting %.0f s \033[K",
            done, of, (double)info.done / info.seconds, info.p50 * 1e3, info.p99 * 1e3,
            now - f->new_at);
    fflush(stderr);
}

/* Until the next look. Opening long series must not take all the time. */
static void rest(struct follow *f, double took, bool new)
{
    double seconds = new || took < f->poll ? f->poll : took;
    for (double end = tool_now() + seconds; !f->last && !tool_interrupted() && tool_now() < end;) {
        const double left = end - tool_now();
        nap(left < 0.1 ? fmax(left, 0) : 0.1);
        show(f, false);
    }
}

/* Look until all frames are there, or no more come. Exit code. */
static int look(struct follow *f, bool pattern)
{
    for (;;) {
        const double begun = tool_now();
        const size_t before = f->given;
        if ((pattern ? follow_files_look(f) : follow_stack_look(f)) == FAILED)
            return f->code;
        show(f, false);
        if (tool_interrupted() || f->last || (f->frames && f->given >= f->frames))
            return AIRY_EXIT_OK;
        f->last = f->idle > f->timeout;
        rest(f, tool_now() - begun, f->given > before);
        const double passed = tool_now() - begun;
        f->idle += f->given > before ? 0 : fmin(passed, f->poll + 1);
    }
}

static void fill_info(airy_run_info *info, const struct follow *f, const airy_live_info *live)
{
    *info = (airy_run_info){.frames = (size_t)(live->done + live->lost),
                            .bad = (size_t)(live->bad + live->lost),
                            .resumed = (size_t)live->resumed,
                            .batch = live->batch,
                            .slots = live->slots,
                            .host_bytes = live->host_bytes,
                            .device_bytes = live->device_bytes,
                            .stored_bytes = live->stored_bytes,
                            .decoded_bytes = f->frame_bytes * (live->done - live->bad),
                            .seconds = live->seconds,
                            .max = HUGE_VAL, /* nobody has looked */
                            .empty = live->empty,
                            .first_empty = live->first_empty};
    snprintf(info->first_error, sizeof(info->first_error), "%s", live->first_error);
}

/* Why the run did not end as it should, and the way on. Exit code. */
static int fail_run(const struct follow *f, const airy_error *error)
{
    const struct common *common = f->job->common;
    if (error->status == AIRY_ERR_INCOMPLETE)
        return tool_fail(common,
                         "%s, and nothing new for %g s; the same command with --resume continues "
                         "%s.partial",
                         error->text, f->timeout, f->job->params->output);
    if (error->status == AIRY_ERR_CORRUPT)
        return tool_fail(common,
                         "%s; the same command with --resume goes on when they are there, with "
                         "--on-error skip --resume without such frames",
                         error->text);
    return error->status == AIRY_ERR_IO ? follow_fail_file(f, error->text)
                                        : tool_failed_as(common, error);
}

/* Finish the run, unless it was stopped. Exit code. */
static int finish(struct follow *f, int code, airy_run_info *info)
{
    const struct common *common = f->job->common;
    const bool stopped = tool_interrupted();
    airy_live_info live;
    const bool ended = code == AIRY_EXIT_OK && !stopped;
    const airy_status status = ended ? airy_live_finish(f->live, &live)
                                     : airy_live_cancel(f->live, &live);
    airy_error error;
    airy_error_get(&error);
    airy_live_destroy(&f->live);
    fill_info(info, f, &live);
    if (code != AIRY_EXIT_OK)
        return code;
    if (stopped)
        return tool_fail(common,
                         "stopped after %zu frames; the same command with --resume continues "
                         "%s.partial",
                         info->frames + info->resumed, f->job->params->output);
    if (status != AIRY_OK)
        return fail_run(f, &error);
    if (!common->json)
        tool_say(common,
                 "latency from frame to pattern: median %.3g ms, 99 %% %.3g ms, longest %.3g ms",
                 live.p50 * 1e3, live.p99 * 1e3, live.max * 1e3);
    /* Some are missing: exit code 3. One that came too late had been missed. */
    const size_t lost = f->job->lost = follow_files_lost(f);
    if (lost)
        tool_say(common, "%zu file%s did not come%s", lost, tool_s(lost),
                 f->files.late ? ", or too late" : "");
    return AIRY_EXIT_OK;
}

/* What the run that is gone on with has taken. */
static void resume(struct follow *f, bool pattern)
{
    char partial[4300];
    snprintf(partial, sizeof(partial), "%s.partial", f->job->params->output);
    if (tool_exists(partial))
        (pattern ? follow_files_resume : follow_stack_resume)(f, partial);
}

static int run(struct follow *f, airy_run_info *info)
{
    const struct integration *job = f->job;
    const airy_live_params params = {
        .height = job->info.height,
        .width = job->info.width,
        .dtype = job->info.dtype,
        .codec = job->info.codec,
        .frames = f->frames,
        .run = job->run,
    };
    const bool pattern = is_pattern(&job->common->inputs);
    if (job->run.resume)
        resume(f, pattern);
    const airy_status status = airy_live_create(&f->live, job->params->output,
                                                job->team.integrators, job->team.count, &params);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    const int code = look(f, pattern);
    show(f, true);
    return finish(f, code, info);
}

int follow_run(struct integration *job, airy_run_info *info)
{
    struct follow f = {.job = job,
                       .timeout = timeout_of(job->params),
                       .poll = poll_of(job->params),
                       .fd = -1,
                       .frames = job->frames,
                       .new_at = tool_now()};
    f.frame_bytes = job->info.height * job->info.width * airy_dtype_size(job->info.dtype);
    f.pixels = malloc(f.frame_bytes);
    const int code = f.pixels ? run(&f, info) : tool_fail(job->common, "out of memory for a frame");
    follow_close(&f);
    kept_rows_close(&f.kept);
    follow_stack_free(&f.stack);
    follow_files_free(&f.files);
    free(f.pixels);
    free(f.chunk);
    return code;
}
