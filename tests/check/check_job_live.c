/* The job integrate of a detector's stream: its events and files beside those of the same frames. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/job.h"
#include "airy/stream_send.h"
#include "check_pipeline.h"

#if AIRY_HAVE_ZMQ

enum { FRAMES = 9, CELLS = FRAMES * RUN_BINS, FRAME_BYTES = RUN_PIXELS * 4 };
static const uint64_t PATIENCE_NS = 60000000000u;

/* A detector, which sends series of the same frames one after another. */
struct detector {
    struct check *c;
    airy_stream_sender *sender;
    pthread_t thread;
    uint32_t *frames;
    size_t series, announced; /* announced: images of the first series; 0: FRAMES */
    size_t left_out;          /* an image that is not sent */
    bool ends;
};

static void send_frames(struct detector *d, const airy_stream_series *series)
{
    bool sent = false;
    const size_t size = FRAME_BYTES;
    const airy_codec_params plain = {.codec = AIRY_CODEC_NONE};
    CHECK_OK(d->c, airy_stream_send_start(d->sender, series, PATIENCE_NS, &sent));
    for (size_t i = 0; i < FRAMES && sent; i++) {
        airy_stream_image *image = NULL;
        const airy_stream_exposure exposure = {.image_id = i, .start_ns = i, .stop_ns = i + 1};
        if (i == d->left_out)
            continue;
        if (!CHECK_OK(d->c, airy_stream_image_create(&image, series, &plain, &size)))
            return;
        memcpy(airy_stream_image_data(image, 0), d->frames + i * RUN_PIXELS, FRAME_BYTES);
        CHECK_OK(d->c,
                 airy_stream_send_image(d->sender, image, series, &exposure, PATIENCE_NS, &sent));
        airy_stream_image_destroy(&image);
    }
    if (d->ends)
        CHECK_OK(d->c, airy_stream_send_end(d->sender, series, PATIENCE_NS, &sent));
}

static void *run_detector(void *user)
{
    struct detector *d = user;
    for (size_t i = 0; i < d->series; i++) {
        const airy_stream_series series = {.id = 7 + i,
                                           .unique_id = i ? "second" : "first",
                                           .images = i == 0 && d->announced ? d->announced : FRAMES,
                                           .height = RUN_HEIGHT,
                                           .width = RUN_WIDTH,
                                           .dtype = AIRY_DTYPE_U32};
        send_frames(d, &series);
    }
    return NULL;
}

/* What came of a run. */
struct got {
    size_t begins, rows, lost, ends, seen[FRAMES], failed_rows;
    size_t stop_after; /* rows; 0: never */
    bool started;      /* by airy_job_start */
    uint64_t series;
    float intensity[CELLS], sem[CELLS];
    double radial[RUN_BINS];
    char unit[32], json[4096], text[4096], errors[1024];
    airy_status status;
};

static void take_row(struct got *g, const airy_job_event *e)
{
    g->rows++;
    g->failed_rows += e->status != AIRY_OK;
    if (e->row >= FRAMES || e->frame != e->row || e->radial_bins != RUN_BINS || !e->sem)
        return;
    g->seen[e->row]++;
    memcpy(g->intensity + e->row * RUN_BINS, e->intensity, RUN_BINS * sizeof(float));
    memcpy(g->sem + e->row * RUN_BINS, e->sem, RUN_BINS * sizeof(float));
}

static bool on_event(void *user, const airy_job_event *e)
{
    struct got *g = user;
    switch (e->kind) {
    case AIRY_JOB_EVENT_SERIES_BEGINS:
        g->begins++;
        g->series = e->series;
        snprintf(g->unit, sizeof(g->unit), "%s", e->unit);
        if (e->radial_bins == RUN_BINS)
            memcpy(g->radial, e->radial, sizeof(g->radial));
        break;
    case AIRY_JOB_EVENT_ROW:
        take_row(g, e);
        break;
    case AIRY_JOB_EVENT_LOST:
        g->lost++;
        break;
    default:
        g->ends++;
        g->status = e->status;
        snprintf(g->json, sizeof(g->json), "%s", e->json);
        snprintf(g->text, sizeof(g->text), "%s", e->text);
    }
    return !g->stop_after || g->rows < g->stop_after;
}

static void on_message(void *user, airy_log_level level, const char *text)
{
    struct got *g = user;
    const size_t used = strlen(g->errors);
    if (level == AIRY_LOG_ERROR)
        snprintf(g->errors + used, sizeof(g->errors) - used, "%s\n", text);
}

static const char geometry[] = "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                               "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                               "\"error-model\": \"poisson\"}";

static airy_job *open_job(struct check *c, const char *stack, const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, hooks));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (stack)
        CHECK_OK(c, airy_job_set(job, "stack", stack));
    return job;
}

/* Events come on a thread of the job, or, where the run is started, by airy_job_next. */
static airy_status run(airy_job *job, bool started)
{
    const airy_job_event *event = NULL;
    if (!started)
        return airy_job_run(job);
    airy_status status = airy_job_start(job);
    if (status != AIRY_OK)
        return status;
    while ((status = airy_job_next(job, &event, INFINITY)) == AIRY_OK && event)
        ;
    return status == AIRY_OK ? airy_job_finish(job) : status;
}

/* Run the job, given pairs of names and values, while the detector sends. */
static airy_status play(struct check *c, struct detector *d, struct got *g, airy_job **job,
                        const char *const (*values)[2])
{
    const airy_stream_sender_params params = {.url = "tcp://127.0.0.1:*"};
    const airy_job_hooks hooks = {.event = on_event, .message = on_message, .user = g};
    d->c = c;
    if (!CHECK_OK(c, airy_stream_sender_create(&d->sender, &params)))
        return AIRY_ERR_IO;
    *job = open_job(c, airy_stream_sender_url(d->sender), &hooks);
    for (size_t i = 0; values && values[i][0]; i++)
        CHECK_OK(c, airy_job_set(*job, values[i][0], values[i][1]));
    CHECK(c, pthread_create(&d->thread, NULL, run_detector, d) == 0);
    const airy_status status = run(*job, g->started);
    airy_error error;
    airy_error_get(&error);
    pthread_join(d->thread, NULL);
    airy_stream_sender_destroy(&d->sender, 0);
    return status < AIRY_OK ? airy_error_restore(&error) : status;
}

static void check_number(struct check *c, const airy_job *job, const char *name, double want)
{
    double value = -1;
    CHECK_OK(c, airy_job_get_number(job, name, &value));
    CHECK(c, value == want);
}

/* The same frames as an array: rows in memory. */
static void compare_rows(struct check *c, const struct detector *d, const struct got *g)
{
    airy_job *job = open_job(c, NULL, NULL);
    airy_host_view got;
    const airy_host_view stack = {.data = d->frames,
                                  .dtype = AIRY_DTYPE_U32,
                                  .ndim = 3,
                                  .shape = {FRAMES, RUN_HEIGHT, RUN_WIDTH}};
    CHECK_OK(c, airy_job_set_array(job, "stack", &stack));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, airy_job_get_array(job, "intensity", &got) == AIRY_OK &&
                 memcmp(got.data, g->intensity, sizeof(g->intensity)) == 0);
    CHECK(c, airy_job_get_array(job, "sem", &got) == AIRY_OK &&
                 memcmp(got.data, g->sem, sizeof(g->sem)) == 0);
    CHECK(c, airy_job_get_array(job, "radial", &got) == AIRY_OK &&
                 memcmp(got.data, g->radial, sizeof(g->radial)) == 0);
    airy_job_destroy(&job);
}

static void check_events(struct check *c, bool started)
{
    static const char *const one[][2] = {{"series", "1"}, {NULL, NULL}};
    if (!check_case(c, "job_live_%s", started ? "started" : "events"))
        return;
    struct detector d = {
        .frames = check_run_frames(c, FRAMES), .series = 1, .left_out = FRAMES, .ends = true};
    struct got *g = check_alloc(c, sizeof(*g));
    airy_job *job = NULL;
    *g = (struct got){.started = started};
    CHECK_OK(c, play(c, &d, g, &job, one));
    CHECK(c, g->begins == 1 && g->rows == FRAMES && g->lost == 0 && g->ends == 1);
    CHECK(c, g->failed_rows == 0 && g->series == 7 && g->status == AIRY_OK && !*g->errors);
    for (size_t i = 0; i < FRAMES; i++)
        CHECK(c, g->seen[i] == 1);
    CHECK(c, strcmp(g->unit, "q_nm^-1") == 0);
    CHECK(c, strstr(g->json, "\"integrated\":9") && strstr(g->json, "\"output\":null"));
    CHECK(c, strstr(g->text, "series 7, 9 of 9 images") != NULL);
    compare_rows(c, &d, g);
    check_number(c, job, "series", 1);
    check_number(c, job, "frames", FRAMES);
    check_number(c, job, "bad", 0);
    check_number(c, job, "lost", 0);
    airy_job_destroy(&job);
}

/* Two series to two files, each that of the same frames. */
static void check_files(struct check *c)
{
    if (!check_case(c, "job_live_files"))
        return;
    struct detector d = {
        .frames = check_run_frames(c, FRAMES), .series = 2, .left_out = FRAMES, .ends = true};
    struct got *g = check_alloc(c, sizeof(*g));
    const char *stack = check_run_path(c, "stack.h5"), *want = check_run_path(c, "want.h5"),
               *output = check_run_path(c, "run_{series}.h5");
    const char *const values[][2] = {{"series", "2"}, {"output", output}, {NULL, NULL}};
    airy_job *job = NULL, *plain = open_job(c, stack, NULL);
    *g = (struct got){.started = false};
    check_run_stack(c, stack, d.frames, FRAMES, FRAMES, SOUND);
    CHECK_OK(c, airy_job_set(plain, "output", want));
    CHECK_OK(c, airy_job_run(plain));
    airy_job_destroy(&plain);
    CHECK_OK(c, play(c, &d, g, &job, values));
    CHECK(c, g->begins == 2 && g->rows == 2 * FRAMES && g->ends == 2 && g->series == 8);
    check_number(c, job, "series", 2);
    airy_job_destroy(&job);
    for (int i = 7; i < 9; i++) {
        char path[4096];
        const char *const at = strstr(output, "{series}");
        snprintf(path, sizeof(path), "%.*s%d.h5", (int)(at - output), output, i);
        check_run_same(c, path, want);
    }
}

/* Series that break off, whose image does not come, that are refused, or whose user wants no more. */
static void check_failures(struct check *c)
{
    static const char *const one[][2] = {{"series", "1"}, {"timeout", "0.3"}, {NULL, NULL}},
                             *const skip[][2] = {{"series", "1"},
                                                 {"on-error", "skip"},
                                                 {NULL, NULL}},
                             *const two[][2] = {{"series", "2"}, {"max-images", "9"}, {NULL, NULL}};
    if (!check_case(c, "job_live_failures"))
        return;
    struct detector d = {.frames = check_run_frames(c, FRAMES), .series = 1, .left_out = 4};
    struct got *g = check_alloc(c, sizeof(*g));
    airy_job *job = NULL;
    double value;
    *g = (struct got){.started = false};
    CHECK_FAILS(c, play(c, &d, g, &job, one), AIRY_ERR_INCOMPLETE, "series 7 is not complete");
    CHECK(c, g->rows == FRAMES - 1 && g->ends == 1 && g->status == AIRY_ERR_INCOMPLETE);
    CHECK(c, strstr(g->json, "\"lost\":1") && strstr(g->json, "\"failure\":") && !*g->errors);
    CHECK(c, airy_job_get_number(job, "series", &value) == AIRY_ERR_NOT_FOUND);
    airy_job_destroy(&job);
    *g = (struct got){.started = false};
    d.ends = true;
    CHECK(c, play(c, &d, g, &job, skip) == AIRY_PARTLY && g->status == AIRY_PARTLY);
    CHECK(c, g->rows == FRAMES - 1 && g->lost == 1 && g->seen[4] == 0);
    check_number(c, job, "lost", 1);
    airy_job_destroy(&job);
    *g = (struct got){.started = false};
    d.series = 2;
    d.announced = FRAMES + 1;
    d.left_out = FRAMES;
    CHECK_FAILS(c, play(c, &d, g, &job, two), AIRY_ERR_INCOMPLETE, "1 of 2 series failed");
    CHECK(c, strstr(g->errors, "series 7: the start message announces 10 images") != NULL);
    CHECK(c, g->begins == 1 && g->ends == 2 && g->rows == FRAMES && g->series == 8);
    airy_job_destroy(&job);
    *g = (struct got){.started = false};
    d.series = 1;
    d.announced = 0;
    g->stop_after = 2;
    CHECK_FAILS(c, play(c, &d, g, &job, one), AIRY_ERR_CANCELLED, "series 7: cancelled after");
    CHECK(c, g->ends == 1 && g->status == AIRY_ERR_CANCELLED);
    airy_job_destroy(&job);
}

static void check_refused(struct check *c)
{
    static const struct {
        const char *name, *value, *why;
    } bad[] = {{"average", "2", "average is for files, not for streams"},
               {"layout", "threads", "layout is for files, not for streams"},
               {"sockets", "2", "bind: the sender decides"},
               {"series", "2", "needs {series} in its name"},
               {"allow", "10.1/16", "'10.1/16' is no address that may connect"},
               {"allow", ",", "allow ',': expected 1 to 64 addresses"},
               {"publish", "31002", "expected tcp://HOST:PORT or ipc://PATH"},
               {"curve-server", "none", "curve-server goes with curve-key=FILE"},
               {"output", "o.xye", "patterns of a stream go into .h5"},
               {"stack", "frames.h5", "'frames.h5' is no stream"}};
    if (!check_case(c, "job_live_refused"))
        return;
    airy_job *job = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        job = open_job(c, "tcp://127.0.0.1:31001", NULL);
        if (strcmp(bad[i].name, "output") != 0)
            CHECK_OK(c, airy_job_set(job, "output", "o.h5"));
        if (strcmp(bad[i].name, "sockets") == 0)
            CHECK_OK(c, airy_job_set(job, "bind", "on"));
        CHECK_OK(c, airy_job_set(job, bad[i].name, bad[i].value));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, bad[i].why);
        airy_job_destroy(&job);
    }
    job = open_job(c, "tcp://127.0.0.1:99999", NULL);
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "a port of at most 65535");
    airy_job_destroy(&job);
    job = open_job(c, "frames.h5", NULL);
    CHECK_OK(c, airy_job_set(job, "timeout", "1"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "timeout is for streams");
    airy_job_destroy(&job);
    job = open_job(c, "ipc://nobody", NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "output is missing");
    CHECK_OK(c, airy_job_want(job, "intensity"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "no array in memory");
    airy_job_destroy(&job);
}

/* Nobody sends: a run that waits for its first message is destroyed, or cancelled, which ends a service. */
static void check_waiting(struct check *c)
{
    if (!check_case(c, "job_live_waiting"))
        return;
    const airy_job_event *event = NULL;
    for (int way = 0; way < 3; way++) {
        airy_job *job = open_job(c, "tcp://127.0.0.1:1", NULL);
        if (way == 2)
            CHECK_OK(c, airy_job_set(job, "output", check_run_path(c, "x.h5")));
        CHECK_OK(c, airy_job_start(job));
        CHECK(c, airy_job_next(job, &event, 0.1) == AIRY_ERR_TIMED_OUT && !event);
        if (way > 0)
            airy_job_cancel(job);
        if (way == 1)
            CHECK_OK(c, airy_job_finish(job));
        if (way == 2)
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "before a series came");
        airy_job_destroy(&job);
        CHECK(c, !job);
    }
}

void check_job_live(struct check *c)
{
    check_waiting(c);
    check_events(c, false);
    check_events(c, true);
    check_files(c);
    check_failures(c);
    check_refused(c);
}

#else

void check_job_live(struct check *c)
{
    (void)c;
}

#endif
