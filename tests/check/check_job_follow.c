/* The job integrate beside files that grow while it follows them, and without. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/job.h"
#include "check_pipeline.h"

enum { FRAMES = 7, CELLS = FRAMES * RUN_BINS, PARTS = 5 };

static void nap(double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(long)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- a writer ---- */

/* The bytes of a whole file, and the file that they are written into. */
struct writer {
    const char *path;
    char *bytes;
    size_t size;
    double pause; /* s before each part */
    bool failed;
};

static void read_whole(struct check *c, struct writer *w, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!CHECK(c, file))
        return;
    CHECK(c, fseek(file, 0, SEEK_END) == 0);
    w->size = (size_t)ftell(file);
    rewind(file);
    w->bytes = check_alloc(c, w->size);
    CHECK_COUNT(c, fread(w->bytes, 1, w->size, file), w->size);
    (void)fclose(file);
}

static void write_bytes(struct writer *w, const char *mode, size_t begin, size_t end)
{
    FILE *file = fopen(w->path, mode);
    const size_t size = end - begin;
    w->failed |= !file || fwrite(w->bytes + begin, 1, size, file) != size;
    if (file)
        w->failed |= fclose(file) != 0;
}

static void *write_parts(void *user)
{
    struct writer *w = user;
    for (size_t i = 0; i < PARTS; i++) {
        nap(w->pause);
        write_bytes(w, i ? "ab" : "wb", w->size * i / PARTS, w->size * (i + 1) / PARTS);
    }
    return NULL;
}

/* ---- a job ---- */

/* What its hooks have seen. */
struct seen {
    size_t begins, rows, lost, ends, waits, steps;
    airy_status end;
    float intensity[CELLS];
    size_t stop_at; /* cancel when so many rows are there; 0: never */
    airy_job *job;
};

static bool take_event(void *user, const airy_job_event *event)
{
    struct seen *s = user;
    s->begins += event->kind == AIRY_JOB_EVENT_SERIES_BEGINS;
    s->lost += event->kind == AIRY_JOB_EVENT_LOST;
    s->ends += event->kind == AIRY_JOB_EVENT_SERIES_ENDS;
    if (event->kind == AIRY_JOB_EVENT_SERIES_ENDS)
        s->end = event->status;
    if (event->kind != AIRY_JOB_EVENT_ROW || event->radial_bins != RUN_BINS ||
        event->row >= FRAMES || event->frame != event->row || !event->radial)
        return true;
    memcpy(s->intensity + event->row * RUN_BINS, event->intensity, RUN_BINS * sizeof(float));
    s->rows++;
    if (s->stop_at && s->rows >= s->stop_at)
        airy_job_cancel(s->job);
    return true;
}

static void take_message(void *user, airy_log_level level, const char *text)
{
    struct seen *s = user;
    s->waits += level == AIRY_LOG_WARN && strstr(text, "waiting for the first frame: ");
}

static bool take_step(void *user, size_t done, size_t total)
{
    struct seen *s = user;
    (void)done;
    (void)total;
    s->steps++;
    return true;
}

static airy_job *open_job(struct check *c, struct seen *s, const char *path, const char *output)
{
    static const char values[] =
        "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, \"poni2\": 0.0021, "
        "\"wavelength\": 1e-10, \"bins\": \"50\", \"error-model\": \"poisson\"}";
    const airy_job_hooks hooks = {
        .progress = take_step, .message = take_message, .event = take_event, .user = s};
    airy_job *job = NULL;
    *s = (struct seen){.begins = 0};
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, &hooks));
    CHECK_OK(c, airy_job_set_json(job, values));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "stack", path));
    if (output)
        CHECK_OK(c, airy_job_set(job, "output", output));
    s->job = job;
    return job;
}

static void set_follow(struct check *c, airy_job *job, const char *timeout, const char *frames)
{
    CHECK_OK(c, airy_job_set_flag(job, "follow", true));
    CHECK_OK(c, airy_job_set(job, "follow-timeout", timeout));
    CHECK_OK(c, airy_job_set(job, "poll", "0.02"));
    if (frames)
        CHECK_OK(c, airy_job_set(job, "frames", frames));
}

/* The file of a plain run. */
static void run_plain(struct check *c, const char *path, const char *output)
{
    struct seen seen;
    airy_job *job = open_job(c, &seen, path, output);
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
}

static void check_same(struct check *c, const char *got, const char *want)
{
    static const char *const datasets[] = {"result/radial", "result/intensity",  "result/sem",
                                           "result/std",    "merged/sum_signal", "frame/index",
                                           "frame/status",  "frame/total",       "frame/max"};
    check_datasets_same(c, got, want, datasets, sizeof(datasets) / sizeof(datasets[0]));
}

/* ---- cases ---- */

/* A file that is copied meanwhile: rows, events, messages and results are those of a plain run. */
static void check_grows(struct check *c)
{
    if (!check_case(c, "job_follow_grows"))
        return;
    const char *whole = check_run_path(c, "whole.h5"), *want = check_run_path(c, "want.h5"),
               *got = check_run_path(c, "got.h5"), *rows;
    const uint32_t *frames = check_run_frames(c, FRAMES);
    struct writer writer = {.path = check_run_path(c, "grows.h5"), .pause = 0.08};
    struct seen *seen = check_alloc(c, sizeof(*seen));
    airy_host_view view;
    double lost = 1, done = 0;
    pthread_t thread;
    check_run_stack(c, whole, frames, FRAMES, FRAMES, SOUND);
    read_whole(c, &writer, whole);
    run_plain(c, whole, want);
    airy_job *job = open_job(c, seen, writer.path, got);
    set_follow(c, job, "60", "0:7");
    CHECK(c, pthread_create(&thread, NULL, write_parts, &writer) == 0);
    CHECK_OK(c, airy_job_run(job));
    (void)pthread_join(thread, NULL);
    CHECK(c, !writer.failed);
    check_same(c, got, want);
    CHECK(c, seen->begins == 1 && seen->rows == FRAMES && seen->lost == 0 && seen->ends == 1);
    CHECK(c, seen->end == AIRY_OK && seen->waits == 1 && seen->steps > 0);
    CHECK_OK(c, airy_job_get_number(job, "lost", &lost));
    CHECK_OK(c, airy_job_get_number(job, "frames", &done));
    CHECK(c, lost == 0 && done == FRAMES);
    CHECK_OK(c, airy_job_get_text(job, "configuration", &rows));
    CHECK(c, strstr(rows, "\"frames\":\"0:7:1\"") && !strstr(rows, "follow") &&
                 !strstr(rows, "\"size\""));
    airy_job_destroy(&job);
    /* Rows of events alone, without a file. */
    job = open_job(c, seen, writer.path, NULL);
    set_follow(c, job, "60", NULL);
    CHECK_OK(c, airy_job_set(job, "frames", "0:7"));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    job = open_job(c, &(struct seen){.begins = 0}, whole, NULL);
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_array(job, "intensity", &view));
    check_values(c, "rows", AIRY_DTYPE_F32, seen->intensity, view.data, CELLS, NULL);
    airy_job_destroy(&job);
}

/* Files of a pattern, one frame each. */
static void *write_files(void *user)
{
    struct writer *w = user;
    for (size_t i = 0; i < FRAMES; i++) {
        char path[4200];
        struct writer one = w[i];
        snprintf(path, sizeof(path), "%s%zu.h5", w->path, i);
        one.path = path;
        nap(w->pause);
        write_bytes(&one, "wb", 0, one.size / 2);
        write_bytes(&one, "ab", one.size / 2, one.size);
        w->failed |= one.failed;
    }
    return NULL;
}

/* Files that come one after the other become the rows of one stack. */
static void check_files(struct check *c)
{
    if (!check_case(c, "job_follow_files"))
        return;
    const char *whole = check_run_path(c, "whole.h5"), *stem = check_run_path(c, "f_"),
               *want = check_run_path(c, "want.h5"), *got = check_run_path(c, "got.h5");
    const uint32_t *frames = check_run_frames(c, FRAMES);
    struct writer *writers = check_alloc(c, FRAMES * sizeof(*writers));
    struct seen *seen = check_alloc(c, sizeof(*seen));
    char pattern[4200];
    double latency = 0;
    pthread_t thread;
    for (size_t i = 0; i < FRAMES; i++) {
        check_run_stack(c, whole, frames + i * RUN_PIXELS, 1, 1, SOUND);
        read_whole(c, &writers[i], whole);
        CHECK(c, remove(whole) == 0);
    }
    writers->path = stem;
    writers->pause = 0.03;
    snprintf(pattern, sizeof(pattern), "%s#.h5", stem);
    airy_job *job = open_job(c, seen, pattern, got);
    set_follow(c, job, "60", "0:7");
    CHECK(c, pthread_create(&thread, NULL, write_files, writers) == 0);
    CHECK_OK(c, airy_job_run(job));
    (void)pthread_join(thread, NULL);
    CHECK(c, !writers->failed && seen->rows == FRAMES && seen->ends == 1);
    const double *latencies = &latency;
    size_t count = 0;
    CHECK_OK(c, airy_job_get_numbers(job, "latency", &latencies, &count));
    CHECK(c, count == 3 && latencies[0] > 0 && latencies[0] <= latencies[2]);
    airy_job_destroy(&job);
    run_plain(c, pattern, want);
    check_same(c, got, want);
}

/* Nothing comes, or not all. */
static void check_timeout(struct check *c)
{
    if (!check_case(c, "job_follow_timeout"))
        return;
    struct seen *seen = check_alloc(c, sizeof(*seen));
    const char *path = check_run_path(c, "all.h5"), *want = check_run_path(c, "want.h5"),
               *got = check_run_path(c, "got.h5");
    airy_job *job = open_job(c, seen, check_run_path(c, "none.h5"), got);
    set_follow(c, job, "0.1", NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_NOT_FOUND, "no frame within 0.1 s: ");
    CHECK(c, seen->waits == 1 && seen->begins == 0);
    airy_job_destroy(&job);
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    run_plain(c, path, want);
    job = open_job(c, seen, path, got);
    set_follow(c, job, "0.1", "0:9");
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_INCOMPLETE, "nothing new for 0.1 s");
    CHECK(c, seen->ends == 1 && seen->end == AIRY_ERR_INCOMPLETE);
    airy_job_destroy(&job);
    /* Of unknown number: silence is the end. */
    job = open_job(c, seen, path, got);
    set_follow(c, job, "0.1", NULL);
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    check_same(c, got, want);
}

/* A run is cancelled that waits for the rest of a file, and goes on with the same file alone. */
static void check_replaced(struct check *c)
{
    enum { ALL = FRAMES + 2 };
    if (!check_case(c, "job_follow_replaced"))
        return;
    struct seen *seen = check_alloc(c, sizeof(*seen));
    const uint32_t *frames = check_run_frames(c, ALL);
    const char *path = check_run_path(c, "in.h5"), *other = check_run_path(c, "other.h5"),
               *whole = check_run_path(c, "whole.h5"), *want = check_run_path(c, "want.h5"),
               *got = check_run_path(c, "got.h5");
    check_run_stack(c, path, frames, FRAMES, FRAMES, SOUND);
    check_run_stack(c, whole, frames, ALL, ALL, SOUND);
    check_run_stack(c, other, check_run_frames(c, ALL), ALL, ALL, SOUND);
    run_plain(c, whole, want);
    for (int turn = 0; turn < 3; turn++) { /* begin; with another file; with the same */
        airy_job *job = open_job(c, seen, path, got);
        set_follow(c, job, "60", "0:9");
        CHECK_OK(c, airy_job_set(job, "batch", "1"));
        CHECK_OK(c, airy_job_set_flag(job, "resume", turn > 0));
        seen->stop_at = turn == 0;
        if (turn == 0)
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled after ");
        else if (turn == 1)
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "is another one than when");
        else
            CHECK_OK(c, airy_job_run(job));
        airy_job_destroy(&job);
        if (turn < 2)
            CHECK(c, rename(turn == 0 ? other : whole, path) == 0);
    }
    check_same(c, got, want);
}

/* Each a status with the parameter as subject. */
static void check_refused(struct check *c)
{
    static const struct {
        const char *name, *text, *sentence;
    } bad[] = {
        {"follow-timeout", "0.01", "follow-timeout 0.01: expected"},
        {"poll", "0", "poll 0: expected"},
        {"average", "2", "average does not go with follow=on"},
        {"sum", "all", "sum does not go with follow=on"},
        {"monitor", "/x", "monitor does not go with follow=on"},
        {"carry", "/x", "carry does not go with follow=on"},
        {"layout", "serial", "layout does not go with follow=on"},
        {"carry", "none", NULL},
    };
    if (!check_case(c, "job_follow_refused"))
        return;
    struct seen *seen = check_alloc(c, sizeof(*seen));
    airy_error error;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_job *job = open_job(c, seen, "none.h5", "x.h5");
        CHECK_OK(c, airy_job_set_flag(job, "follow", true));
        airy_status status = airy_job_set(job, bad[i].name, bad[i].text);
        if (status == AIRY_OK)
            status = airy_job_check(job);
        airy_error_get(&error);
        CHECK(c, bad[i].sentence
                     ? status == AIRY_ERR_PARAM && strstr(error.text, bad[i].sentence) &&
                           error.subject == AIRY_SUBJECT_PARAMETER
                     : status == AIRY_OK);
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, seen, "none.h5", "x.h5");
    CHECK_OK(c, airy_job_set(job, "poll", "1"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "poll goes with follow");
    airy_job_destroy(&job);
    job = open_job(c, seen, check_tmp(c), "x.h5");
    CHECK_OK(c, airy_job_set_flag(job, "follow", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "is a folder; give its files");
    airy_job_destroy(&job);
    job = open_job(c, seen, "none.h5", "x.h5");
    CHECK_OK(c, airy_job_set_flag(job, "follow", true));
    CHECK_OK(c, airy_job_set(job, "mask", "no_mask.npy"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_NOT_FOUND, "no_mask.npy");
    airy_job_destroy(&job);
}

static int64_t add_nothing(void *user, size_t counter, int64_t amount)
{
    (void)user, (void)counter, (void)amount;
    return 0;
}

static int gather_nothing(void *user, const void *mine, size_t bytes, void *all,
                          void (*wait)(void *), void *wait_user)
{
    (void)user, (void)mine, (void)bytes, (void)all, (void)wait, (void)wait_user;
    return 1;
}

/* An array does not grow; several ranks do not share what comes. */
static void check_alone(struct check *c)
{
    if (!check_case(c, "job_follow_alone"))
        return;
    static const uint32_t frame[RUN_PIXELS];
    const airy_host_view view = {
        .data = frame, .dtype = AIRY_DTYPE_U32, .ndim = 2, .shape = {RUN_HEIGHT, RUN_WIDTH}};
    const airy_job_ranks ranks = {
        .size = 2, .local_size = 2, .counters = 8, .add = add_nothing, .gather = gather_nothing};
    const airy_job_hooks hooks = {.ranks = &ranks};
    airy_job *job = NULL;
    for (int array = 0; array < 2; array++) {
        CHECK_OK(c, airy_job_create(&job, "integrate", NULL, array ? NULL : &hooks));
        CHECK_OK(c, array ? airy_job_set_array(job, "stack", &view)
                          : airy_job_set(job, "stack", "none.h5"));
        CHECK_OK(c, airy_job_set(job, "output", "x.h5"));
        CHECK_OK(c, airy_job_set_flag(job, "follow", true));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM,
                    array ? "the stack is an array" : "not by several ranks");
        airy_job_destroy(&job);
    }
}

/* A run that waits for its first file is destroyed, or cancelled and finished; there is no output. */
static void check_waiting(struct check *c)
{
    if (!check_case(c, "job_follow_waiting"))
        return;
    const airy_job_event *event = NULL;
    struct seen *seen = check_alloc(c, sizeof(*seen));
    for (int cancels = 0; cancels < 2; cancels++) {
        const char *output = check_run_path(c, "x.h5");
        airy_job *job = open_job(c, seen, check_run_path(c, "none.h5"), output);
        set_follow(c, job, "60", NULL);
        CHECK_OK(c, airy_job_start(job));
        CHECK(c, airy_job_next(job, &event, 0.1) == AIRY_ERR_TIMED_OUT && !event);
        if (cancels) {
            airy_job_cancel(job);
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "");
        }
        airy_job_destroy(&job);
        CHECK(c, !job && access(output, F_OK) != 0);
    }
}

void check_job_follow(struct check *c)
{
    check_waiting(c);
    check_grows(c);
    check_files(c);
    check_timeout(c);
    check_replaced(c);
    check_refused(c);
    check_alone(c);
}
