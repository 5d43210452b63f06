/* Jobs that get in each other's way, or whose user takes back what they need: threads, hooks, and arrays. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/job.h"
#include "airy/result.h"
#include "check_pipeline.h"

enum { FRAMES = 11, FRAME_BYTES = RUN_PIXELS * 4, NAME = 4096 };

static const char geometry[] = "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                               "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                               "\"error-model\": \"poisson\", \"batch\": 1}";

static airy_job *open_job(struct check *c, airy_context *context, const char *stack,
                          const char *output, const char *more, const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", context, hooks));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (stack)
        CHECK_OK(c, airy_job_set(job, "stack", stack));
    if (output)
        CHECK_OK(c, airy_job_set(job, "output", output));
    if (more)
        CHECK_OK(c, airy_job_set_json(job, more));
    return job;
}

static const char *make_stack(struct check *c)
{
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    return path;
}

/* ---- two runs of one output ---- */

struct rival {
    airy_job *job;
    pthread_barrier_t *start;
    airy_status status;
    char text[AIRY_ERROR_TEXT];
};

static void *run_rival(void *user)
{
    struct rival *r = user;
    pthread_barrier_wait(r->start);
    r->status = airy_job_run(r->job);
    snprintf(r->text, sizeof(r->text), "%s", r->status < AIRY_OK ? airy_last_error() : "");
    return NULL;
}

/* The lines of a text file but those of its header, which has the time. */
static bool next_line(FILE *file, char *line, size_t size)
{
    while (fgets(line, (int)size, file))
        if (*line != '#')
            return true;
    return false;
}

static bool same_files(const char *got, const char *want)
{
    enum { LINE = 4096 };
    char lines[2][LINE];
    FILE *files[2] = {fopen(got, "r"), fopen(want, "r")};
    bool same = files[0] && files[1], more = same;
    size_t count = 0;
    while (same && more) {
        more = next_line(files[0], lines[0], LINE);
        same = more == next_line(files[1], lines[1], LINE) &&
               (!more || strcmp(lines[0], lines[1]) == 0);
        count += more;
    }
    for (int i = 0; i < 2; i++)
        if (files[i])
            (void)fclose(files[i]);
    return same && count >= RUN_BINS;
}

/* "FOLDER/a.dat" and 7 to "FOLDER/a_000007.dat"; of one file its name. */
static void number_name(char name[NAME], const char *output, size_t frame, size_t files)
{
    const char *dot = strrchr(output, '.');
    if (files == 1)
        snprintf(name, NAME, "%s", output);
    else
        snprintf(name, NAME, "%.*s_%06zu%s", (int)(dot - output), output, frame, dot);
}

/*
 * It is good, or knows that the other one has written the file, or is writing it; or the partial file
 * that it was to resume has got its name meanwhile.
 */
static bool is_told(const struct rival *r)
{
    return r->status == AIRY_OK ||
           (strstr(r->text, "got") &&
            (r->status == AIRY_ERR_EXISTS || strstr(r->text, "cannot resume") ||
             (r->status == AIRY_ERR_IO && strstr(r->text, "is being written by another"))));
}

static void compete(struct check *c, struct rival rivals[2], const char *stack, const char *output,
                    const char *more)
{
    pthread_t threads[2];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        rivals[i].job = open_job(c, NULL, stack, output, more, NULL);
        rivals[i].start = &start;
        CHECK(c, pthread_create(&threads[i], NULL, run_rival, &rivals[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        airy_job_destroy(&rivals[i].job);
    }
    pthread_barrier_destroy(&start);
}

/* Each output is whole and that of a run alone; a run that comes late is refused, and says which file. */
static void check_outputs(struct check *c)
{
    static const struct {
        const char *name, *more;
        bool force;
        size_t files;
    } kinds[] = {
        {"h5", "{\"force\": false}", false, 1},
        {"h5", "{\"force\": true}", true, 1},
        {"h5", "{\"resume\": true}", false, 1},
        {"dat", "{\"force\": false}", false, FRAMES},
        {"dat", "{\"force\": true}", true, FRAMES},
        {"xye", "{\"one-table\": true}", false, 1},
        {"xye", "{\"one-table\": true, \"force\": true}", true, 1},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct rival rivals[2] = {{.job = NULL}, {.job = NULL}};
        char name[32], got[NAME], want[NAME];
        if (!check_case(c, "job_rivals_%zu_%s", i, kinds[i].name))
            continue;
        const char *stack = make_stack(c);
        snprintf(name, sizeof(name), "got.%s", kinds[i].name);
        const char *output = check_run_path(c, name);
        snprintf(name, sizeof(name), "want.%s", kinds[i].name);
        const char *alone = check_run_path(c, name);
        airy_job *job = open_job(c, NULL, stack, alone, kinds[i].more, NULL);
        CHECK_OK(c, airy_job_run(job));
        airy_job_destroy(&job);
        compete(c, rivals, stack, output, kinds[i].more);
        const int good = (rivals[0].status == AIRY_OK) + (rivals[1].status == AIRY_OK);
        for (int k = 0; k < 2; k++)
            if (!CHECK(c, is_told(&rivals[k])))
                printf("# %d %s\n", rivals[k].status, rivals[k].text);
        /* Of two series of text files each may find a file of the other one, which stays. */
        if (good == 0 && kinds[i].files > 1 && !kinds[i].force)
            continue;
        CHECK(c, good >= 1);
        for (size_t k = 0; k < kinds[i].files; k++) {
            number_name(got, output, k, kinds[i].files);
            number_name(want, alone, k, kinds[i].files);
            if (strcmp(kinds[i].name, "h5") == 0)
                check_run_same(c, got, want);
            else
                CHECK(c, same_files(got, want));
        }
    }
}

/* ---- a context that goes while its jobs run ---- */

struct user {
    struct check *c;
    airy_context *context;
    const char *stack;
    atomic_int *running;
    bool waits; /* with its first row, until the context has gone */
    airy_status status;
    atomic_bool *gone;
};

static bool wait_for_end(void *user, const airy_job_event *event)
{
    struct user *u = user;
    if (event->kind == AIRY_JOB_EVENT_ROW && event->row == 0) {
        atomic_fetch_add(u->running, 1);
        while (!atomic_load(u->gone))
            usleep(1000);
    }
    return true;
}

static void *use_context(void *user)
{
    struct user *u = user;
    const airy_job_hooks hooks = {.event = wait_for_end, .user = u};
    airy_job *job = open_job(u->c, u->context, u->stack, NULL, NULL, &hooks);
    u->status = airy_job_run(job);
    for (int i = 0; i < 3 && u->status == AIRY_OK; i++) /* and opens a device where that has gone */
        u->status = airy_job_run(job);
    airy_job_destroy(&job);
    return NULL;
}

/* Its owner destroys it while two runs use it: they go on, and the last one closes it. */
static void check_context(struct check *c)
{
    enum { USERS = 2 };
    for (int shared = 0; shared < 2; shared++) {
        if (!check_case(c, "job_context_%s", shared ? "released" : "destroyed"))
            continue;
        const char *stack = make_stack(c);
        struct user users[USERS];
        pthread_t threads[USERS];
        atomic_int running = 0;
        atomic_bool gone = false;
        airy_context *context = NULL, *other = NULL;
        if (!shared)
            CHECK_OK(c, airy_context_create(&context));
        other = context;
        for (int i = 0; i < USERS; i++) {
            users[i] = (struct user){c, context, stack, &running, true, AIRY_OK, &gone};
            CHECK(c, pthread_create(&threads[i], NULL, use_context, &users[i]) == 0);
        }
        while (atomic_load(&running) < USERS)
            usleep(1000);
        airy_context_release();
        airy_context_destroy(&other);
        CHECK(c, !other);
        atomic_store(&gone, true);
        for (int i = 0; i < 10 && shared; i++)
            airy_context_release();
        for (int i = 0; i < USERS; i++) {
            pthread_join(threads[i], NULL);
            CHECK(c, users[i].status == AIRY_OK);
        }
        airy_context_release();
    }
}

/* ---- arrays ---- */

struct owner {
    uint32_t *frames;
    int released;
    airy_job *job;
    airy_job_event_kind at; /* when the job is destroyed; COUNT: never */
};

static void free_frames(void *user)
{
    struct owner *o = user;
    free(o->frames);
    o->frames = NULL;
    o->released++;
}

static bool destroy_at(void *user, const airy_job_event *event)
{
    struct owner *o = user;
    if (event->kind == o->at && event->row == 0)
        airy_job_destroy(&o->job);
    return true;
}

static airy_status lend(struct owner *o, airy_dtype dtype, size_t width)
{
    const airy_host_view view = {.data = o->frames,
                                 .dtype = dtype,
                                 .ndim = 3,
                                 .shape = {FRAMES, RUN_HEIGHT, width},
                                 .release = free_frames,
                                 .user = o};
    return airy_job_set_array(o->job, "stack", &view);
}

/*
 * The owner frees an array as soon as it is released, once: when the parameter is reset, the job
 * destroyed, also by a hook, or the run that was started. What was refused is not released.
 */
static void check_arrays(struct check *c)
{
    enum { RESET = 5, STARTED, PLAIN, WAYS };
    if (!check_case(c, "job_array_freed"))
        return;
    const uint32_t *frames = check_run_frames(c, FRAMES);
    for (int way = 0; way < WAYS; way++) {
        struct owner o = {.frames = malloc(FRAMES * FRAME_BYTES), .at = AIRY_JOB_EVENT_COUNT};
        const airy_job_hooks hooks = {.event = destroy_at, .user = &o};
        const bool destroys = way < AIRY_JOB_EVENT_COUNT && way != AIRY_JOB_EVENT_LOST;
        if (!CHECK(c, o.frames))
            return;
        memcpy(o.frames, frames, FRAMES * FRAME_BYTES);
        o.at = destroys ? (airy_job_event_kind)way : AIRY_JOB_EVENT_COUNT;
        airy_job *job = open_job(c, NULL, NULL, NULL, NULL, &hooks);
        o.job = job;
        CHECK_FAILS(c, lend(&o, AIRY_DTYPE_U32, SIZE_MAX / 64), AIRY_ERR_SHAPE, "stack: ");
        CHECK(c, o.released == 0);
        CHECK_OK(c, lend(&o, AIRY_DTYPE_U32, RUN_WIDTH));
        CHECK_FAILS(c, lend(&o, AIRY_DTYPE_U32, RUN_WIDTH), AIRY_ERR_PARAM, "stack: it was set");
        CHECK(c, o.released == 0);
        if (way == RESET) {
            CHECK_OK(c, airy_job_resolve(job));
            CHECK_OK(c, airy_job_reset(job, "stack"));
            CHECK(c, o.released == 1);
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "stack is missing");
        } else if (way == STARTED) {
            CHECK_OK(c, airy_job_start(job));
        } else if (!destroys) {
            CHECK_OK(c, airy_job_run(job));
        } else {
            CHECK(c, airy_job_run(job) == AIRY_ERR_CANCELLED);
        }
        CHECK(c, !destroys == (o.job != NULL));
        airy_job_destroy(&o.job);
        CHECK(c, o.released == 1 && !o.frames);
    }
}

/* An array that does not fit the frames is refused, and names its parameter and both shapes. */
static void check_shapes(struct check *c)
{
    static const char *const names[] = {"mask", "dark", "flat", "absorption", "variance"};
    static const float values[2 * RUN_PIXELS];
    static const size_t shapes[][2] = {
        {RUN_WIDTH, RUN_HEIGHT}, {RUN_HEIGHT + 1, RUN_WIDTH}, {1, 1}};
    if (!check_case(c, "job_array_shapes"))
        return;
    const char *stack = make_stack(c);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            const airy_host_view view = {.data = values,
                                         .dtype = i ? AIRY_DTYPE_F32 : AIRY_DTYPE_U8,
                                         .ndim = 2,
                                         .shape = {shapes[k][0], shapes[k][1]}};
            airy_error error;
            airy_job *job = open_job(c, NULL, stack, NULL, NULL, NULL);
            if (strcmp(names[i], "variance") == 0) {
                CHECK_OK(c, airy_job_reset(job, "error-model"));
                CHECK_OK(c, airy_job_set(job, "error-model", "variance"));
            }
            CHECK_OK(c, airy_job_set_array(job, names[i], &view));
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_SHAPE, names[i]);
            airy_error_get(&error);
            if (!CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER &&
                              strcmp(error.name, names[i]) == 0))
                printf("# %s\n", error.text);
            airy_job_destroy(&job);
        }
}

/* ---- hooks that stop ---- */

struct stopper {
    int kind; /* of event; COUNT: progress */
    size_t calls, after;
};

static bool stop_event(void *user, const airy_job_event *event)
{
    struct stopper *s = user;
    return (int)event->kind != s->kind || s->calls++ < s->after;
}

static bool stop_progress(void *user, size_t done, size_t total)
{
    struct stopper *s = user;
    (void)done;
    (void)total;
    return s->kind != AIRY_JOB_EVENT_COUNT || s->calls++ < s->after;
}

/* A hook stops a run into memory, a file and text files; what is complete is not taken back. */
static void check_stops(struct check *c)
{
    static const char *const outputs[] = {NULL, "out.h5", "out.dat"};
    static const struct stopper stoppers[] = {
        {AIRY_JOB_EVENT_SERIES_BEGINS, 0, 0}, {AIRY_JOB_EVENT_ROW, 0, 0},
        {AIRY_JOB_EVENT_ROW, 0, 3},           {AIRY_JOB_EVENT_SERIES_ENDS, 0, 0},
        {AIRY_JOB_EVENT_COUNT, 0, 0},         {AIRY_JOB_EVENT_COUNT, 0, 2}};
    if (!check_case(c, "job_hooks_stop"))
        return;
    const char *stack = make_stack(c);
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
        for (size_t k = 0; k < sizeof(stoppers) / sizeof(stoppers[0]); k++) {
            struct stopper s = stoppers[k];
            const airy_job_hooks hooks = {
                .event = stop_event, .progress = stop_progress, .user = &s};
            const char *output = outputs[i] ? check_run_path(c, outputs[i]) : NULL;
            const bool ends = s.kind == AIRY_JOB_EVENT_SERIES_ENDS;
            airy_host_view view;
            airy_job *job = open_job(c, NULL, stack, output, NULL, &hooks);
            const airy_status status = airy_job_run(job);
            if (!CHECK(c, status == (ends ? AIRY_OK : AIRY_ERR_CANCELLED)))
                printf("# output %zu stopper %zu: %d %s\n", i, k, status, airy_last_error());
            CHECK(c, (airy_job_get_array(job, "intensity", &view) == AIRY_OK) == (!output && ends));
            CHECK(c, !output || i == 2 || (access(output, F_OK) == 0) == ends);
            airy_job_destroy(&job);
        }
}

void check_job_rivals(struct check *c)
{
    check_outputs(c);
    check_context(c);
    check_arrays(c);
    check_shapes(c);
    check_stops(c);
}
