/* Rows of a run that are fetched one by one: a queue between its writers and the reader. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "airy/pipeline.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/integrator.h"

enum { MOST_WAITING = 64, WAITING_BYTES = 16 << 20, FLOATS = 3, DOUBLES = AIRY_SUM_PLANES };

/* A row with memory of its own. */
struct waiting {
    airy_run_row row;
    float *values; /* [FLOATS][bins] */
    double *sums;  /* [DOUBLES][bins] */
    char message[sizeof(((airy_error *)0)->text)];
};

struct airy_rows {
    const airy_stack *stack;
    airy_integrator **integrators; /* [count] */
    size_t count;
    airy_run_params params;
    airy_run_info info;

    struct waiting *ring; /* [room] */
    size_t room, bins;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of what follows */
    size_t made, given;     /* rows; row n is in ring[n % room] */
    size_t released;        /* those before it are not looked at any more */
    bool closed;            /* nobody wants any more */
    bool ended;             /* the run has returned */
    airy_error error;       /* of the run */

    pthread_t thread;
    bool started;
};

static void keep_f32(const float **plane, float *room, size_t bins)
{
    if (*plane)
        *plane = memcpy(room, *plane, bins * sizeof(**plane));
}

static void keep_f64(const double **plane, double *room, size_t bins)
{
    if (*plane)
        *plane = memcpy(room, *plane, bins * sizeof(**plane));
}

static void keep_row(struct waiting *to, const airy_run_row *from)
{
    const size_t bins = from->bins;
    airy_run_row *row = &to->row;
    *row = *from;
    keep_f32(&row->intensity, to->values, bins);
    keep_f32(&row->std, to->values + bins, bins);
    keep_f32(&row->sem, to->values + 2 * bins, bins);
    keep_f64(&row->signal, to->sums, bins);
    keep_f64(&row->variance, to->sums + bins, bins);
    keep_f64(&row->normalization, to->sums + 2 * bins, bins);
    keep_f64(&row->normalization2, to->sums + 3 * bins, bins);
    keep_f64(&row->count, to->sums + 4 * bins, bins);
    snprintf(to->message, sizeof(to->message), "%s", from->message);
    row->message = to->message;
}

/* An airy_row_fn: one row at a time, in order. */
static airy_status put_row(void *user, const airy_run_row *row)
{
    airy_rows *rows = user;
    pthread_mutex_lock(&rows->lock);
    while (!rows->closed && rows->made - rows->released == rows->room)
        pthread_cond_wait(&rows->changed, &rows->lock);
    const bool closed = rows->closed;
    pthread_mutex_unlock(&rows->lock);
    AIRY_FAIL_IF(closed, AIRY_ERR_CANCELLED, "the rows were closed");
    keep_row(&rows->ring[rows->made % rows->room], row);
    pthread_mutex_lock(&rows->lock);
    rows->made++;
    pthread_cond_broadcast(&rows->changed);
    pthread_mutex_unlock(&rows->lock);
    return AIRY_OK;
}

/* An airy_progress_fn, which sees that the rows are closed while no row is made. */
static bool go_on(void *user, size_t done, size_t total)
{
    airy_rows *rows = user;
    pthread_mutex_lock(&rows->lock);
    const bool closed = rows->closed;
    pthread_mutex_unlock(&rows->lock);
    return !closed &&
           (!rows->params.progress || rows->params.progress(rows->params.user, done, total));
}

/* An airy_log_fn: user belongs to the progress as well. */
static void pass_message(void *user, airy_log_level level, const char *text)
{
    airy_rows *rows = user;
    rows->params.message(rows->params.user, level, text);
}

static void *run_stack(void *arg)
{
    airy_rows *rows = arg;
    airy_run_params params = rows->params;
    params.row = put_row;
    params.row_user = rows;
    params.in_order = true;
    params.progress = go_on;
    params.message = rows->params.message ? pass_message : NULL;
    params.user = rows;
    const airy_status status = airy_integrate_stack(NULL, rows->stack, rows->integrators,
                                                    rows->count, &params, &rows->info);
    pthread_mutex_lock(&rows->lock);
    (void)airy_error_first(&rows->error, status);
    rows->ended = true;
    pthread_cond_broadcast(&rows->changed);
    pthread_mutex_unlock(&rows->lock);
    return NULL;
}

static airy_status open_ring(airy_rows *rows)
{
    const size_t bins = rows->bins;
    size_t size;
    AIRY_FAIL_IF(
        __builtin_mul_overflow(bins, FLOATS * sizeof(float) + DOUBLES * sizeof(double), &size),
        AIRY_ERR_MEMORY, "a row has too many bins");
    rows->room =
        airy_max_size(airy_min_size(WAITING_BYTES / airy_max_size(size, 1), MOST_WAITING), 2);
    AIRY_TRY(airy_memory_calloc((void **)&rows->ring, rows->room, sizeof(rows->ring[0]),
                                "rows that wait"));
    for (size_t i = 0; i < rows->room; i++) {
        AIRY_TRY(airy_memory_calloc((void **)&rows->ring[i].values, bins, FLOATS * sizeof(float),
                                    "rows that wait"));
        AIRY_TRY(airy_memory_calloc((void **)&rows->ring[i].sums, bins, DOUBLES * sizeof(double),
                                    "rows that wait"));
    }
    return AIRY_OK;
}

static airy_status start(airy_rows *rows, airy_integrator *const *integrators)
{
    AIRY_TRY(airy_memory_calloc((void **)&rows->integrators, rows->count, sizeof(airy_integrator *),
                                "integrators"));
    memcpy(rows->integrators, integrators, rows->count * sizeof(airy_integrator *));
    AIRY_TRY(open_ring(rows));
    AIRY_FAIL_IF(pthread_create(&rows->thread, NULL, run_stack, rows) != 0, AIRY_ERR_MEMORY,
                 "cannot start a thread for the rows");
    rows->started = true;
    return AIRY_OK;
}

airy_status airy_rows_open(airy_rows **rows, const airy_stack *stack,
                           airy_integrator *const *integrators, size_t count,
                           const airy_run_params *params)
{
    AIRY_FAIL_IF(!rows, AIRY_ERR_PARAM, "airy_rows_open: rows is NULL");
    AIRY_FAIL_IF(!stack, AIRY_ERR_PARAM, "airy_rows_open: stack is NULL");
    AIRY_FAIL_IF(!integrators || count == 0 || !integrators[0], AIRY_ERR_PARAM,
                 "airy_rows_open: integrators is NULL");
    AIRY_FAIL_IF(params && params->row, AIRY_ERR_PARAM,
                 "airy_rows_open: params->row is set, but airy_rows_next gives the rows");
    airy_rows *made = NULL;
    pthread_condattr_t attributes;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "rows"));
    made->stack = stack;
    made->count = count;
    made->bins = airy_integrator_bins(integrators[0]);
    if (params)
        made->params = *params;
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const airy_status status = start(made, integrators);
    if (status == AIRY_OK)
        *rows = made;
    else
        airy_rows_close(&made, NULL);
    return status;
}

/* Until there is a row or the run has ended. False: neither came in time. The lock is held. */
static bool wait_row(airy_rows *rows, uint64_t timeout_ns)
{
    const uint64_t now = airy_clock_ns();
    const uint64_t end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    const struct timespec time = {.tv_sec = (time_t)(end / 1000000000),
                                  .tv_nsec = (long)(end % 1000000000)};
    int timed_out = 0;
    while (rows->made == rows->given && !rows->ended && !timed_out)
        timed_out = pthread_cond_timedwait(&rows->changed, &rows->lock, &time);
    return rows->made > rows->given || rows->ended;
}

airy_status airy_rows_next(airy_rows *rows, const airy_run_row **row, uint64_t timeout_ns)
{
    AIRY_FAIL_IF(!rows, AIRY_ERR_PARAM, "airy_rows_next: rows is NULL");
    AIRY_FAIL_IF(!row, AIRY_ERR_PARAM, "airy_rows_next: row is NULL");
    pthread_mutex_lock(&rows->lock);
    rows->released = rows->given;
    pthread_cond_broadcast(&rows->changed);
    const bool there = wait_row(rows, timeout_ns), some = rows->made > rows->given;
    const struct waiting *next = some ? &rows->ring[rows->given++ % rows->room] : NULL;
    pthread_mutex_unlock(&rows->lock);
    AIRY_FAIL_IF(!there, AIRY_ERR_TIMED_OUT, "no row within %g s", (double)timeout_ns * 1e-9);
    if (!some && rows->error.status != AIRY_OK)
        return airy_error_restore(&rows->error);
    *row = some ? &next->row : NULL;
    return AIRY_OK;
}

void airy_rows_close(airy_rows **rows, airy_run_info *info)
{
    if (!rows || !*rows)
        return;
    airy_rows *r = *rows;
    pthread_mutex_lock(&r->lock);
    r->closed = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (r->started)
        pthread_join(r->thread, NULL);
    if (info)
        *info = r->info;
    for (size_t i = 0; r->ring && i < r->room; i++) {
        free(r->ring[i].values);
        free(r->ring[i].sums);
    }
    free(r->ring);
    free(r->integrators);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
    *rows = NULL;
}
