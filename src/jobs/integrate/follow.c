/*
 * Frames of files that are still being written become patterns as they come. What cannot be read yet
 * is tried again until nothing new has come for as long as `follow-timeout` says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/file/format.h"
#include "io/file/pattern.h"
#include "io/file/plain_file.h"
#include "jobs/integrate/follow_look.h"
#include "jobs/integrate/rows_events.h"

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_follow_values, member, __VA_ARGS__)
const struct airy_job_row airy_follow_rows[] = {
    ROW(on, .name = "follow", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "takes frames, or files of a pattern, as they come, while the input is still being "
                "written",
        .section = "Input that is still being written"),
    ROW(timeout, .name = "follow-timeout", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW,
        .lo = 0.1, .hi = 1e7, .unit = "s", .argument = "S", .fallback = "60",
        .help = "ends a run that follows its input when no frame has come for this time",
        .only_with = {"follow", NULL}),
    ROW(poll, .name = "poll", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW, .lo = 0.01,
        .hi = 3600, .unit = "s", .argument = "S", .fallback = "0.5",
        .help = "sets the time between two looks at an input that is followed",
        .only_with = {"follow", NULL}),
    {{0}, 0, NULL}};
#undef ROW

static void nap(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static bool is_pattern(const struct airy_integration *it)
{
    const struct airy_job_list *paths = &it->v->stack.paths;
    for (size_t i = 0; i < paths->count; i++)
        if (airy_path_is_pattern(paths->items[i]))
            return true;
    return false;
}

/* ---- before the first frame ---- */

airy_status airy_follow_check(const airy_job *job)
{
    const struct airy_integrate_values *v = job->values;
    const struct airy_output_values output = {.output = v->output};
    const bool carries = v->carry.count && strcmp(v->carry.items[0], "none") != 0;
    const char *other = v->average                                               ? "average"
                        : v->sum                                                 ? "sum"
                        : v->monitor                                             ? "monitor"
                        : carries                                                ? "carry"
                        : v->layout != LAYOUT_AUTO && v->layout != LAYOUT_DEVICE ? "layout"
                                                                                 : NULL;
    if (!v->follow.on)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(other, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s does not go with follow=on, which takes frames as they come", other);
    AIRY_FAIL_ON_IF(job->hooks.ranks && job->hooks.ranks->size > 1, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s: frames are taken by one process, not by several ranks", "follow");
    AIRY_FAIL_ON_IF(v->stack.paths.is_array, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s needs files that are being written, and the stack is an array", "follow");
    return v->output || !airy_job_takes(job, AIRY_JOB_EVENT_ROW) ? airy_job_check_output(&output)
                                                                 : AIRY_OK;
}

/* Files that parameters name are there before a wait that may be long. */
static airy_status check_file(const airy_parameter *p, const char *path)
{
    char name[4096], *file = NULL, *dataset = NULL;
    const char *extension = NULL;
    struct stat about;
    AIRY_TRY(airy_stack_split(&file, &dataset, path));
    const bool split = airy_fits_split(name, sizeof(name), &extension, file);
    const airy_status status = airy_file_stat(&about, split ? name : file);
    free(file);
    free(dataset);
    return status == AIRY_OK || airy_path_is_pattern(path)
               ? AIRY_OK
               : airy_fail_context(status, "%s", p->name);
}

static airy_status check_files(const airy_job *job)
{
    for (size_t i = 0; i < job->row_count; i++) {
        const airy_parameter *p = &job->rows[i]->p;
        char *path = NULL;
        if (p->role != AIRY_ROLE_READ || !airy_job_is_set(job, p->name))
            continue;
        AIRY_TRY(airy_job_get(job, p->name, &path));
        const airy_status status = path ? check_file(p, path) : AIRY_OK;
        airy_job_text_free(path);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* Inputs that never will be files of frames. */
static airy_status check_inputs(const struct airy_job_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct stat about;
        const char *path = paths->items[i];
        if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
            continue;
        AIRY_FAIL_HINT_IF(S_ISDIR(about.st_mode), AIRY_ERR_FORMAT, AIRY_HINT_STATED,
                          AIRY_SUBJECT_FILE, "'%s' is a folder; give its files as 'FOLDER/*.cbf'",
                          path);
        AIRY_FAIL_HINT_IF(true, AIRY_ERR_FORMAT, AIRY_HINT_REGULAR, AIRY_SUBJECT_FILE, "'%s' is %s",
                          path, airy_file_other_kind(about.st_mode));
    }
    return AIRY_OK;
}

/* The mask, which lies before the frames, can be read. */
static airy_status try_mask(const struct airy_integration *it)
{
    uint8_t *mask;
    if (!it->meta.has_mask || airy_source_is_given(&it->v->pixels.mask_only))
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&mask, it->info.height, it->info.width, "a mask"));
    const airy_status status = airy_stack_mask(it->stack, mask);
    free(mask);
    return status;
}

static airy_status try_open(struct airy_integration *it)
{
    struct airy_stack_values growing = it->v->stack;
    growing.growing = true;
    airy_stack_destroy(&it->stack);
    AIRY_TRY(airy_job_open_stack(it->job, &it->stack, &growing));
    AIRY_TRY(airy_stack_get_info(it->stack, &it->info));
    AIRY_TRY(airy_stack_get_meta(it->stack, &it->meta));
    return try_mask(it);
}

airy_status airy_follow_open(struct airy_integration *it)
{
    const double begun = airy_follow_now();
    bool told = false;
    AIRY_TRY(check_inputs(&it->v->stack.paths));
    AIRY_TRY(check_files(it->job));
    while (try_open(it) != AIRY_OK) {
        airy_error error;
        airy_error_get(&error);
        AIRY_FAIL_IF(!airy_job_step(it->job, 0, 0), AIRY_ERR_CANCELLED,
                     "cancelled before there was a frame");
        AIRY_FAIL_HINT_IF(airy_follow_now() - begun >= it->v->follow.timeout, error.status,
                          AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                          "no frame within %g s: %s; follow-timeout=S waits longer",
                          it->v->follow.timeout, error.text);
        if (!told)
            airy_job_message(it->job, AIRY_LOG_WARN, "waiting for the first frame: %s", error.text);
        told = true;
        nap(it->v->follow.poll);
    }
    return AIRY_OK;
}

airy_status airy_follow_choose(struct airy_integration *it)
{
    const size_t *frames = it->v->frames.frames, first = frames[0],
                 step = frames[2] ? frames[2] : 1,
                 last = frames[1]        ? frames[1]
                        : is_pattern(it) ? 0
                                         : it->meta.frames;
    char text[AIRY_RANGE_TEXT];
    AIRY_FAIL_HINT_IF(last && first >= last, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s %s: the series has %zu frame%s, numbered from 0",
                      "frames", airy_range_text(text, frames), last, last == 1 ? "" : "s");
    it->run.last = last;
    it->frames = it->rows = last ? (last - first - 1) / step + 1 : 0;
    AIRY_FAIL_ON_IF(it->v->grid[0] && !last, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s with follow: the number of frames is not known; choose them by frames=A:B",
                    "grid");
    return AIRY_OK;
}

/* ---- events ---- */

/* On a thread of the run. */
static void emit_row(void *user, const airy_live_pattern *pattern)
{
    struct airy_follow *f = user;
    const size_t row = (size_t)pattern->number;
    if (!airy_integration_live_row(f->it, 0, row, f->it->run.first + row * f->it->run.step,
                                   pattern))
        atomic_store(&f->refused, true);
}

/* ---- looking ---- */

/* Until the next look. Opening long series must not take all the time. */
static void rest(struct airy_follow *f, double took, bool new)
{
    const double seconds = new || took < f->poll ? f->poll : took,
                 end = airy_follow_now() + seconds;
    for (double left; !f->last && airy_follow_goes_on(f) && (left = end - airy_follow_now()) > 0;)
        nap(fmin(left, 0.1));
}

/* Look until all frames are there, or no more come. */
static airy_status look(struct airy_follow *f, bool pattern)
{
    while (airy_follow_goes_on(f)) {
        const double begun = airy_follow_now();
        const size_t before = f->given;
        if ((pattern ? airy_follow_files_look : airy_follow_stack_look)(f) == FAILED)
            return f->error.status;
        if (f->last || (f->frames && f->given >= f->frames))
            break;
        f->last = f->idle > f->timeout;
        rest(f, airy_follow_now() - begun, f->given > before);
        const double passed = airy_follow_now() - begun;
        f->idle += f->given > before ? 0 : fmin(passed, f->poll + 1);
    }
    return AIRY_OK;
}

/* ---- the end ---- */

static void fill_info(airy_run_info *info, const struct airy_follow *f, const airy_live_info *live)
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

/* Why the run did not end as it should, and how to continue it. */
static airy_status explain_failure(const struct airy_follow *f, airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    if (status == AIRY_ERR_CORRUPT && *f->partial) {
        (void)airy_fail(status, "%s; resume=on continues %s when they are there", error.text,
                        f->partial);
        return airy_hinted(AIRY_HINT_SKIP_RESUME, status);
    }
    if (status == AIRY_ERR_INCOMPLETE)
        (void)airy_fail(status, "%s, and nothing new for %g s", error.text, f->timeout);
    return status == AIRY_ERR_INCOMPLETE || status == AIRY_ERR_IO ? airy_follow_partial(f, status)
                                                                  : status;
}

static void report(struct airy_follow *f, const airy_live_info *live)
{
    airy_job *job = f->it->job;
    const double latency[3] = {live->p50, live->p99, live->max};
    const size_t lost = f->it->lost = airy_follow_files_lost(f);
    airy_job_put_numbers(job, "latency", latency, 3);
    if (lost)
        airy_job_message(job, AIRY_LOG_WARN, "%zu file%s did not come%s", lost,
                         lost == 1 ? "" : "s", f->files.late ? ", or too late" : "");
}

/* Finish the run, unless it was stopped or a look has failed. */
static airy_status finish(struct airy_follow *f, airy_status looked, airy_run_info *info)
{
    airy_live_info live;
    const bool ended = looked == AIRY_OK && !f->stopped;
    const airy_status status = ended ? airy_live_finish(f->live, &live)
                                     : airy_live_cancel(f->live, &live);
    fill_info(info, f, &live);
    if (looked != AIRY_OK)
        return airy_error_restore(&f->error);
    if (f->stopped)
        return airy_job_stopped(f->it->v->output, info->frames + info->resumed, f->frames,
                                f->it->run.resume);
    if (status != AIRY_OK)
        return explain_failure(f, status);
    report(f, &live);
    (void)airy_job_step(f->it->job, info->frames + info->resumed, info->frames + info->resumed);
    return AIRY_OK;
}

/* The run is over: why, where it has failed. */
static void end_events(struct airy_follow *f, airy_status status, const airy_run_info *info)
{
    airy_job_event event = {.kind = AIRY_JOB_EVENT_SERIES_ENDS, .unit = "", .text = ""};
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    event.status = status == AIRY_OK && (info->bad || f->it->lost) ? AIRY_PARTLY : status;
    event.text = error.text;
    (void)airy_job_emit(f->it->job, &event); /* there is nothing to cancel */
    (void)airy_error_restore(&error);
}

/* What the run that is gone on with has taken. */
static airy_status resume(struct airy_follow *f, bool pattern)
{
    struct stat about;
    return f->it->run.resume && stat(f->partial, &about) == 0
               ? (pattern ? airy_follow_files_resume : airy_follow_stack_resume)(f)
               : AIRY_OK;
}

static airy_status run(struct airy_follow *f, airy_run_info *info)
{
    struct airy_integration *it = f->it;
    const bool pattern = is_pattern(it);
    airy_live_params params = {.height = it->info.height,
                               .width = it->info.width,
                               .dtype = it->info.dtype,
                               .codec = it->info.codec,
                               .frames = f->frames,
                               .run = it->run,
                               .pattern = airy_job_takes(it->job, AIRY_JOB_EVENT_ROW) ? emit_row
                                                                                      : NULL,
                               .user = f};
    /* The hooks are called on the thread of the job. */
    params.run.progress = NULL;
    params.run.message = NULL;
    if (it->v->output)
        AIRY_TRY(airy_job_partial_path(f->partial, it->v->output));
    f->frame_bytes = it->info.height * it->info.width * airy_dtype_size(it->info.dtype);
    AIRY_TRY(airy_memory_calloc((void **)&f->pixels, f->frame_bytes, 1, "a frame"));
    AIRY_TRY(resume(f, pattern));
    f->has_begun = true;
    if (!airy_integration_begins(it, 0, f->frames))
        atomic_store(&f->refused, true);
    AIRY_TRY(airy_live_create(&f->live, it->v->output, it->integrators, it->count, &params));
    return finish(f, look(f, pattern), info);
}

airy_status airy_follow_run(struct airy_integration *it, airy_run_info *info)
{
    struct airy_follow f = {.it = it,
                            .timeout = it->v->follow.timeout,
                            .poll = it->v->follow.poll,
                            .fd = -1,
                            .frames = it->frames};
    airy_error error = {.status = AIRY_OK};
    const airy_status status = run(&f, info);
    (void)airy_error_first(&error, status);
    airy_live_destroy(&f.live);
    if (f.has_begun)
        end_events(&f, status, info);
    airy_follow_close(&f);
    airy_kept_rows_close(&f.kept);
    airy_follow_stack_free(&f.stack);
    airy_follow_files_free(&f.files);
    free(f.pixels);
    free(f.chunk);
    return status == AIRY_OK ? AIRY_OK : airy_error_restore(&error);
}
