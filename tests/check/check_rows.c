/* Rows of a run to memory, to a function and one by one, beside the file of the same run. */
#include "check_pipeline.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/live.h"
#include "airy/pipeline.h"

enum { BINS = RUN_BINS, FRAMES = 41, BAD = 17 };

/* A sound stack, and an integrator for it. */
static airy_stack *open_run(struct check *c, airy_integrator **integrator, size_t frames)
{
    const char *path = check_run_path(c, "stack.h5");
    airy_stack *stack = NULL;
    check_run_stack(c, path, check_run_frames(c, frames), frames, frames, SOUND);
    *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    return stack;
}

/* Everything that arrays have. */
struct table {
    airy_row_arrays arrays;
    float *f32[3];
    double *f64[5];
};

static const char *const f32_names[] = {"result/intensity", "result/std", "result/sem"};
static const char *const f64_names[] = {"merged/sum_signal", "merged/sum_variance",
                                        "merged/sum_normalization", "merged/sum_normalization2",
                                        "merged/count"};

static struct table make_table(struct check *c, size_t rows)
{
    struct table t = {0};
    for (size_t i = 0; i < 3; i++)
        t.f32[i] = check_alloc(c, rows * BINS * sizeof(float));
    for (size_t i = 0; i < 5; i++)
        t.f64[i] = check_alloc(c, rows * BINS * sizeof(double));
    t.arrays = (airy_row_arrays){
        .rows = rows,
        .intensity = t.f32[0],
        .std = t.f32[1],
        .sem = t.f32[2],
        .signal = t.f64[0],
        .variance = t.f64[1],
        .normalization = t.f64[2],
        .normalization2 = t.f64[3],
        .count = t.f64[4],
        .frames = check_alloc(c, rows * sizeof(size_t)),
        .stats = check_alloc(c, rows * sizeof(airy_frame_stats)),
        .status = check_alloc(c, rows * sizeof(airy_status)),
    };
    return t;
}

/* A row into the table; several at once, each another one. */
static airy_status keep(void *user, const airy_run_row *row)
{
    struct table *t = user;
    const size_t k = row->number, f32 = BINS * sizeof(float), f64 = BINS * sizeof(double);
    const float *const floats[] = {row->intensity, row->std, row->sem};
    const double *const doubles[] = {row->signal, row->variance, row->normalization,
                                     row->normalization2, row->count};
    for (size_t i = 0; i < 3; i++)
        memcpy(t->f32[i] + k * BINS, floats[i], f32);
    for (size_t i = 0; i < 5; i++)
        memcpy(t->f64[i] + k * BINS, doubles[i], f64);
    t->arrays.frames[k] = row->frames;
    t->arrays.stats[k] = row->stats;
    t->arrays.status[k] = row->status;
    return AIRY_OK;
}

static void check_plane(struct check *c, const char *path, const char *name, const void *got,
                        size_t rows, size_t size)
{
    char dataset[700];
    airy_image image = {0};
    snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/%s", path, name);
    if (!CHECK_OK(c, airy_image_read(&image, dataset)))
        return;
    const bool each = image.ndim == 2; /* else the row of all frames */
    CHECK(c, !each || image.shape[0] == rows);
    for (size_t k = 0; k < rows; k++)
        if (!each && memcmp((const char *)got + k * BINS * size, image.data, BINS * size) != 0 &&
            ((const double *)got)[k * BINS] == 0) /* a bad row's are 0 */
            continue;
        else if (!CHECK(c, memcmp((const char *)got + k * BINS * size,
                                  (const char *)image.data + (each ? k * BINS * size : 0),
                                  BINS * size) == 0))
            break;
    airy_image_free(&image);
}

static void check_same(struct check *c, const struct table *got, const struct table *want)
{
    const size_t rows = want->arrays.rows;
    for (size_t i = 0; i < 3; i++)
        CHECK(c, memcmp(got->f32[i], want->f32[i], rows * BINS * sizeof(float)) == 0);
    for (size_t i = 0; i < 5; i++)
        CHECK(c, memcmp(got->f64[i], want->f64[i], rows * BINS * sizeof(double)) == 0);
    CHECK(c, memcmp(got->arrays.frames, want->arrays.frames, rows * sizeof(size_t)) == 0);
    CHECK(c, memcmp(got->arrays.stats, want->arrays.stats, rows * sizeof(airy_frame_stats)) == 0);
    CHECK(c, memcmp(got->arrays.status, want->arrays.status, rows * sizeof(airy_status)) == 0);
}

/* The same run one by one. */
static void check_fetched(struct check *c, const airy_stack *stack, airy_integrator *integrator,
                          const airy_run_params *params, const struct table *want)
{
    struct table got = make_table(c, want->arrays.rows);
    airy_rows *rows = NULL;
    const airy_run_row *row;
    airy_run_info info;
    size_t count = 0;
    const size_t step = params->step ? params->step : 1, group = params->group ? params->group : 1;
    if (!CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, params)))
        return;
    while (CHECK_OK(c, airy_rows_next(rows, &row, UINT64_MAX)) && row) {
        CHECK(c, row->number == count && row->bins == BINS);
        CHECK(c, row->frame == params->first + count * group * step);
        CHECK(c, (row->status != AIRY_OK) == (row->frames == 0));
        CHECK(c, row->status == AIRY_OK || strstr(row->message, "frame 17"));
        CHECK(c, row->monitor == (params->monitor && group == 1 ? params->monitor[row->frame] : 1));
        CHECK_OK(c, keep(&got, row));
        count++;
    }
    CHECK_COUNT(c, count, want->arrays.rows);
    CHECK_OK(c, airy_rows_next(rows, &row, 0));
    CHECK(c, row == NULL); /* and so on */
    airy_rows_close(&rows, &info);
    CHECK(c, rows == NULL && info.bad == 1);
    check_same(c, &got, want);
}

/* File, memory, function and queue have the same bits. */
static void check_bits(struct check *c)
{
    static double monitor[FRAMES];
    const struct {
        const char *name;
        airy_run_params run;
        size_t rows;
    } cases[] = {
        {"frames", {.batch = 4}, FRAMES},
        {"frames_writers", {.batch = 2, .slots = 8, .writers = 8}, FRAMES},
        {"groups_writers", {.batch = 3, .group = 3, .slots = 8, .readers = 1, .writers = 4}, 14},
        {"frames_in_order", {.batch = 3, .in_order = true}, FRAMES},
        {"frames_step", {.first = 1, .last = 40, .step = 2, .batch = 5}, 20},
        {"frames_monitor", {.batch = 4, .monitor = monitor}, FRAMES},
        {"groups", {.batch = 6, .group = 3}, 14},
        {"groups_over_batches", {.batch = 4, .group = 7, .monitor = monitor}, 6},
        {"groups_of_one_bad", {.batch = 8, .first = 17, .step = 24, .group = 2}, 1},
        {"all", {.batch = 8, .group = SIZE_MAX}, 1},
    };
    for (size_t i = 0; i < FRAMES; i++)
        monitor[i] = 1 + (double)i / 8;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        if (!check_case(c, "rows_bits_%s", cases[k].name))
            continue;
        const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
        struct table to_row = make_table(c, cases[k].rows),
                     to_arrays = make_table(c, cases[k].rows),
                     beside = make_table(c, cases[k].rows);
        check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, BAD, TRUNCATED);
        airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
        airy_stack *stack = NULL;
        airy_run_info info;
        airy_run_params params = cases[k].run;
        params.skip_bad = true;
        params.arrays = &to_arrays.arrays;
        CHECK_OK(c, airy_stack_create(&stack, &path, 1));
        CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info));
        for (size_t i = 0; i < 3; i++)
            check_plane(c, out, f32_names[i], to_arrays.f32[i], cases[k].rows, sizeof(float));
        for (size_t i = 0; i < 5; i++)
            check_plane(c, out, f64_names[i], to_arrays.f64[i], cases[k].rows, sizeof(double));
        params.arrays = &beside.arrays;
        params.row = keep;
        params.row_user = &to_row;
        CHECK_OK(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, &info));
        CHECK(c, info.bad == 1);
        check_same(c, &beside, &to_arrays);
        check_same(c, &to_row, &to_arrays);
        params.arrays = NULL;
        params.row = NULL;
        check_fetched(c, stack, integrator, &params, &to_arrays);
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

/* A caller that fails at one row; which rows it has seen. */
struct failing {
    atomic_bool seen[FRAMES];
    size_t at;
    airy_status status;
};

static airy_status fail_at(void *user, const airy_run_row *row)
{
    struct failing *f = user;
    if (row->number != f->at) {
        f->seen[row->number] = true;
        return AIRY_OK;
    }
    airy_error error = {.status = f->status, .hint = AIRY_HINT_SPACE};
    snprintf(error.text, sizeof(error.text), "the caller's disk is full");
    return airy_error_restore(&error);
}

/* A function that leaves no record of its failure. */
static airy_status fail_silently(void *user, const airy_run_row *row)
{
    const struct failing *f = user;
    return row->number == f->at ? f->status : AIRY_OK;
}

/* All frames are one batch, the last: what was not handed on is no success. */
static void check_failing_last(struct check *c)
{
    if (!check_case(c, "rows_function_fails_in_the_last_batch"))
        return;
    const char *out = check_run_path(c, "out.h5");
    airy_integrator *integrator;
    airy_stack *stack = open_run(c, &integrator, FRAMES);
    airy_run_info info;
    struct failing failing = {.at = 0, .status = AIRY_ERR_CANCELLED};
    const airy_run_params params = {
        .batch = FRAMES, .row = fail_silently, .row_user = &failing, .force = true};
    CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info),
                AIRY_ERR_CANCELLED, "cancelled");
    CHECK(c, info.stopped && access(out, F_OK) != 0);
    failing.status = AIRY_ERR_IO;
    failing.at = 7;
    CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, &info), AIRY_ERR_IO,
                "row 7 was not taken");
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/* One writer: the function needs no lock. */
struct alone {
    atomic_int inside, most;
};

static airy_status count_inside(void *user, const airy_run_row *row)
{
    (void)row;
    struct alone *alone = user;
    const int now = atomic_fetch_add(&alone->inside, 1) + 1;
    if (now > atomic_load(&alone->most))
        atomic_store(&alone->most, now);
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    atomic_fetch_sub(&alone->inside, 1);
    return AIRY_OK;
}

static void check_one_writer(struct check *c)
{
    if (!check_case(c, "rows_one_writer"))
        return;
    airy_integrator *integrator;
    airy_stack *stack = open_run(c, &integrator, FRAMES);
    struct alone alone = {0};
    const airy_run_params params = {
        .batch = 2, .writers = 1, .row = count_inside, .row_user = &alone};
    CHECK_OK(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL));
    CHECK_COUNT(c, (size_t)atomic_load(&alone.most), 1);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

static void check_failing(struct check *c)
{
    static const airy_status ends[] = {AIRY_ERR_IO, AIRY_ERR_CANCELLED};
    for (size_t k = 0; k < 2; k++) {
        if (!check_case(c, "rows_function_fails_%s", airy_status_name(ends[k])))
            continue;
        airy_integrator *integrator;
        airy_stack *stack = open_run(c, &integrator, FRAMES);
        airy_run_info info;
        airy_error error;
        struct failing failing = {.at = 22, .status = ends[k]};
        const airy_run_params params = {.batch = 4, .row = fail_at, .row_user = &failing};
        if (ends[k] == AIRY_ERR_CANCELLED) {
            CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, &info),
                        AIRY_ERR_CANCELLED, "cancelled after");
            CHECK(c, info.stopped && info.frames < FRAMES);
        } else {
            CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, &info),
                        AIRY_ERR_IO, "the caller's disk");
            airy_error_get(&error);
            CHECK(c, error.hint == AIRY_HINT_SPACE);
            for (size_t i = 0; i < failing.at; i++)
                CHECK(c, failing.seen[i]);
            CHECK(c, !failing.seen[failing.at + 1]); /* of the same batch */
        }
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

/* The rows before a bad frame come first, and then the failure, as often as one asks. */
static void check_bad_frame(struct check *c)
{
    if (!check_case(c, "rows_before_a_bad_frame"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    struct table table = make_table(c, FRAMES);
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, BAD, TRUNCATED);
    airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    airy_stack *stack = NULL;
    airy_rows *rows = NULL;
    const airy_run_row *row;
    airy_error error;
    const airy_run_params params = {.batch = 4, .arrays = &table.arrays};
    table.f32[0][BAD * BINS] = 7; /* the caller's */
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, &params));
    for (size_t i = 0; i < BAD; i++)
        CHECK(c, airy_rows_next(rows, &row, UINT64_MAX) == AIRY_OK && row && row->number == i);
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(c, airy_rows_next(rows, &row, UINT64_MAX), AIRY_ERR_CORRUPT, "frame 17");
        airy_error_get(&error);
        CHECK(c, error.subject == AIRY_SUBJECT_FRAME);
    }
    airy_rows_close(&rows, NULL);
    for (size_t i = 0; i < FRAMES; i++)
        CHECK(c, table.arrays.status[i] == (i < BAD ? AIRY_OK : AIRY_ERR_INCOMPLETE));
    CHECK(c, table.f32[0][BAD * BINS] == 7);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/* An airy_progress_fn. */
static bool count_done(void *user, size_t done, size_t total)
{
    (void)total;
    *(atomic_size_t *)user = done;
    return true;
}

/* A reader that takes its time, and one that goes early. */
static void check_slow_reader(struct check *c)
{
    enum { MANY = 1000, WAITING = 64, BATCH = 4, SLOTS = 4 };
    if (!check_case(c, "rows_slow_reader"))
        return;
    airy_integrator *integrator;
    airy_stack *stack = open_run(c, &integrator, MANY);
    const struct timespec pause = {.tv_nsec = 50000000};
    airy_rows *rows = NULL;
    const airy_run_row *row;
    airy_run_info info;
    atomic_size_t done = 0;
    const airy_run_params params = {
        .batch = BATCH, .slots = SLOTS, .progress = count_done, .user = &done};
    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, &params));
    for (size_t i = 0; i < MANY; i++) {
        if (i == 0 || i == 500)
            nanosleep(&pause, NULL);
        CHECK(c, airy_rows_next(rows, &row, UINT64_MAX) == AIRY_OK && row && row->number == i);
        CHECK(c, done <= i + WAITING + 1);
    }
    CHECK(c, airy_rows_next(rows, &row, UINT64_MAX) == AIRY_OK && !row);
    airy_rows_close(&rows, &info);
    CHECK(c, info.frames == MANY && !info.stopped);

    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, &params));
    for (size_t i = 0; i < 3; i++)
        CHECK(c, airy_rows_next(rows, &row, UINT64_MAX) == AIRY_OK && row && row->number == i);
    airy_rows_close(&rows, &info);
    CHECK(c, rows == NULL && info.stopped && info.frames < WAITING + 3 + BATCH);
    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, &params));
    airy_rows_close(&rows, NULL); /* at once */
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/* No row comes in no time; later it does. */
static void check_timeout(struct check *c)
{
    if (!check_case(c, "rows_timeout"))
        return;
    airy_integrator *integrator;
    airy_stack *stack = open_run(c, &integrator, FRAMES);
    airy_rows *rows = NULL;
    const airy_run_row *row = NULL;
    size_t count = 0;
    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, NULL));
    for (;;) {
        const airy_status status = airy_rows_next(rows, &row, 0);
        if (status == AIRY_ERR_TIMED_OUT && CHECK(c, strstr(airy_last_error(), "no row within")))
            continue;
        if (!CHECK_OK(c, status) || !row)
            break;
        count++;
    }
    CHECK_COUNT(c, count, FRAMES);
    airy_rows_close(&rows, NULL);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "rows_errors"))
        return;
    airy_integrator *integrator;
    airy_stack *stack = open_run(c, &integrator, FRAMES);
    airy_rows *rows = NULL;
    const airy_run_row *row;
    float some[1];
    struct table table = make_table(c, FRAMES);
    airy_row_arrays arrays = {.rows = FRAMES - 1};
    airy_run_params params = {.arrays = &arrays};
    CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL), AIRY_ERR_PARAM,
                "arrays.rows = 40, expected at least 41");
    params.writers = 65;
    CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL), AIRY_ERR_PARAM,
                "writers = 65, expected at most 64");
    params.writers = 0;
    params.group = 2;
    arrays.rows = 20;
    CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL), AIRY_ERR_PARAM,
                "arrays.rows = 20, expected at least 21");
    arrays = (airy_row_arrays){.rows = FRAMES, .sem = some};
    CHECK_FAILS(c, airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL), AIRY_ERR_PARAM,
                "no error model");
    CHECK_OK(c, airy_rows_open(&rows, stack, &integrator, 1, &params));
    CHECK_FAILS(c, airy_rows_next(rows, &row, UINT64_MAX), AIRY_ERR_PARAM, "no error model");
    CHECK_FAILS(c, airy_rows_next(rows, NULL, 0), AIRY_ERR_PARAM, "row is NULL");
    airy_rows_close(&rows, NULL);
    airy_rows_close(&rows, NULL);
    airy_rows_close(NULL, NULL);
    CHECK_FAILS(c, airy_rows_next(NULL, &row, 0), AIRY_ERR_PARAM, "rows is NULL");
    CHECK_FAILS(c, airy_rows_open(NULL, stack, &integrator, 1, NULL), AIRY_ERR_PARAM,
                "rows is NULL");
    CHECK_FAILS(c, airy_rows_open(&rows, NULL, &integrator, 1, NULL), AIRY_ERR_PARAM,
                "stack is NULL");
    CHECK_FAILS(c, airy_rows_open(&rows, stack, NULL, 1, NULL), AIRY_ERR_PARAM,
                "integrators is NULL");
    params = (airy_run_params){.row = keep, .row_user = &table};
    CHECK_FAILS(c, airy_rows_open(&rows, stack, &integrator, 1, &params), AIRY_ERR_PARAM,
                "params->row is set");
    CHECK(c, rows == NULL);
    airy_live *live = NULL;
    airy_live_params live_params = {.height = RUN_HEIGHT,
                                    .width = RUN_WIDTH,
                                    .dtype = AIRY_DTYPE_U32,
                                    .frames = FRAMES,
                                    .run = params};
    CHECK_FAILS(c, airy_live_create(&live, NULL, &integrator, 1, &live_params),
                AIRY_ERR_UNSUPPORTED, "run.row");
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

void check_rows(struct check *c)
{
    check_bits(c);
    check_failing(c);
    check_failing_last(c);
    check_one_writer(c);
    check_bad_frame(c);
    check_slow_reader(c);
    check_timeout(c);
    check_refused(c);
}
