/*
 * airy-mpi.so: the calls of mpi_module.h through MPI.
 *
 * Counters lie in a window of rank 0's memory. Where MPI has no windows over a network (Debian's
 * Open MPI 4.1 over TCP), rank 0's helper answers messages in its place.
 */
#include "cli/mpi_module.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP_MS = 1, /* between two calls of rank 0's helper: what a claim waits at most */
    BEAT_MS = 1000,
    ASLEEP_MS = 10 * BEAT_MS, /* who has not run for so long was stopped, and the others with it */
    WAIT_MS = 2,              /* between two looks at a collective call */
    PATIENCE_MS = 60000       /* claims take microseconds; who is silent so long is lost */
};
enum { TAG_ASK = 1, TAG_ANSWER = 2 };

static struct {
    struct mpi_place place;
    size_t cells;
    int talk;
    bool opened, threads;
    MPI_Win window;
    bool by_messages;            /* there is no window */
    int64_t *counts;             /* of rank 0 then */
    int64_t question[2], answer; /* of others: MPI may have them longer than a failed call */
    pthread_mutex_t asking;      /* one question at a time */
    pthread_mutex_t lock;        /* every call of MPI */
    atomic_llong since;          /* ms, when the call under way began; 0: none is */
    atomic_bool leaving, closed; /* the helper ends; then, behind the last call, the watch */
    pthread_t helper, watch;
    char error[512];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .asking = PTHREAD_MUTEX_INITIALIZER};

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static void begin_call(void)
{
    pthread_mutex_lock(&state.lock);
    atomic_store(&state.since, now_ms());
}

static void end_call(void)
{
    atomic_store(&state.since, 0);
    pthread_mutex_unlock(&state.lock);
}

static int failed(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    snprintf(state.error, sizeof(state.error), "MPI: %s failed%s%.300s", what, *text ? ": " : "",
             text);
    return -1;
}

static const char *get_error(void)
{
    return state.error;
}

static const char *get_implementation(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof(text), "unknown");
    text[strcspn(text, ",\n")] = 0; /* Open MPI says its host, MPICH its configuration behind */
    for (char *at = text; (at = strchr(at, '\t'));)
        *at = ' ';
    return text;
}

static void say(const char *text)
{
    if (write(state.talk, text, strlen(text)) < 0)
        return;
}

/* In the order of the call: the lock is held. */
static int add_locked(size_t cell, int64_t amount, int64_t *before)
{
    int64_t old = 0;
    int code =
        MPI_Fetch_and_op(&amount, &old, MPI_INT64_T, 0, (MPI_Aint)cell, MPI_SUM, state.window);
    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(0, state.window);
    if (before)
        *before = old;
    return code;
}

static void report_lost(int rank)
{
    char text[200];
    snprintf(text, sizeof(text),
             "airy integrate: rank %d of %d has not been heard of for %d s; what is written stays, "
             "the same command with --resume goes on\n",
             rank, state.place.size, PATIENCE_MS / 1000);
    say(text);
}

/* A question to rank 0, and its answer. Looks are counted: a machine that stands still asks nobody. */
static int ask(size_t cell, int64_t amount, int64_t *before)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status about[2]; /* MPICH's headers say that MPI_STATUSES_IGNORE is read */
    int done = 0;
    pthread_mutex_lock(&state.asking);
    state.question[0] = (int64_t)cell;
    state.question[1] = amount;
    begin_call();
    int code =
        MPI_Irecv(&state.answer, 1, MPI_INT64_T, 0, TAG_ANSWER, MPI_COMM_WORLD, &requests[0]);
    if (code == MPI_SUCCESS)
        code = MPI_Isend(state.question, 2, MPI_INT64_T, 0, TAG_ASK, MPI_COMM_WORLD, &requests[1]);
    if (code != MPI_SUCCESS && requests[0] != MPI_REQUEST_NULL) {
        (void)MPI_Cancel(&requests[0]);
        (void)MPI_Request_free(&requests[0]);
    }
    end_call();
    for (int looks = 0; code == MPI_SUCCESS && !done; looks++) {
        if (looks > PATIENCE_MS / STEP_MS) {
            report_lost(0);
            _exit(1);
        }
        begin_call();
        code = MPI_Testall(2, requests, &done, about);
        end_call();
        if (code == MPI_SUCCESS && !done)
            pause_ms(STEP_MS);
    }
    const int64_t answer = state.answer;
    pthread_mutex_unlock(&state.asking);
    if (before)
        *before = answer;
    return code;
}

/* Rank 0's: what others have asked. With a window the look lets MPI proceed. */
static void answer_all(void)
{
    int asked = 0;
    begin_call();
    do {
        MPI_Status about;
        int64_t question[2] = {-1, 0}, answer = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &asked, &about) != MPI_SUCCESS ||
            !asked || !state.counts ||
            MPI_Recv(question, 2, MPI_INT64_T, about.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        if (question[0] >= 0 && question[0] < (int64_t)state.cells + state.place.size) {
            answer = state.counts[question[0]];
            state.counts[question[0]] += question[1];
        }
        (void)MPI_Send(&answer, 1, MPI_INT64_T, about.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
    } while (asked);
    end_call();
}

static int add_cell(size_t cell, int64_t amount, int64_t *before)
{
    if (state.by_messages && state.place.rank)
        return ask(cell, amount, before);
    int code = MPI_SUCCESS;
    begin_call();
    if (!state.by_messages) {
        code = add_locked(cell, amount, before);
    } else {
        if (before)
            *before = state.counts[cell];
        state.counts[cell] += amount;
    }
    end_call();
    return code;
}

static int add(size_t cell, int64_t amount, int64_t *before)
{
    if (cell >= state.cells)
        return failed("a cell outside of the window", MPI_SUCCESS);
    const int code = add_cell(cell, amount, before);
    return code == MPI_SUCCESS ? 0 : failed("MPI_Fetch_and_op", code);
}

/* When each rank's cell was last seen to change. */
struct beats {
    int64_t *seen;
    long long *when;
    long long last; /* ms, when they were looked at */
};

/* Raise the own cell; of those that are watched, who has been silent too long, or -1. */
static int beat(struct beats *beats)
{
    const int first = state.place.rank ? 0 : 1, last = state.place.rank ? 0 : state.place.size - 1;
    const long long now = now_ms();
    const bool slept = now - beats->last > ASLEEP_MS;
    int lost = -1;
    beats->last = now;
    (void)add_cell(state.cells + (size_t)state.place.rank, 1, NULL);
    for (int i = first; i <= last; i++) {
        int64_t value = 0;
        if (add_cell(state.cells + (size_t)i, 0, &value) != MPI_SUCCESS)
            continue;
        if (value != beats->seen[i] || !beats->when[i] || slept) {
            beats->seen[i] = value;
            beats->when[i] = now;
        } else if (now - beats->when[i] > PATIENCE_MS && lost < 0) {
            lost = i;
        }
    }
    return lost;
}

/* Progress for the others' claims on rank 0, and everybody's beat. */
static void *help(void *unused)
{
    (void)unused;
    struct beats beats = {calloc((size_t)state.place.size, sizeof(*beats.seen)),
                          calloc((size_t)state.place.size, sizeof(*beats.when)), 0};
    long long next = now_ms();
    while (!atomic_load(&state.leaving) && beats.seen && beats.when) {
        if (state.place.rank == 0)
            answer_all();
        if (now_ms() >= next) {
            const int lost = beat(&beats);
            next = now_ms() + BEAT_MS;
            if (lost >= 0) {
                report_lost(lost);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        pause_ms(state.place.rank ? 20 * STEP_MS : STEP_MS);
    }
    free(beats.seen);
    free(beats.when);
    return NULL;
}

/* A call that does not come back: its other side is gone, and nothing can be asked any more. */
static void *watch(void *unused)
{
    (void)unused;
    long long of = 0, last = now_ms(), asleep = 0;
    for (;;) {
        const long long since = atomic_load(&state.since), now = now_ms();
        asleep = (since == of ? asleep : 0) + (now - last > ASLEEP_MS ? now - last : 0);
        of = since;
        last = now;
        if (since && now - since - asleep > PATIENCE_MS) {
            report_lost(0);
            _exit(1);
        }
        if (atomic_load(&state.closed))
            return NULL;
        pause_ms(10);
    }
}

static int find_place(struct mpi_place *place)
{
    MPI_Comm node = MPI_COMM_NULL;
    int code = MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, &place->size);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL,
                                   &node);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(node, &place->local_rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(node, &place->local_size);
    place->node = place->rank;
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(&place->node, 1, MPI_INT, 0, node);
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
    snprintf(place->implementation, sizeof(place->implementation), "%.127s", get_implementation());
    return code == MPI_SUCCESS ? 0 : failed("MPI_Comm_split_type", code);
}

static int open_window(void)
{
    const size_t count = state.place.rank ? 0 : state.cells + (size_t)state.place.size;
    int64_t *data = NULL;
    int code = MPI_Win_allocate((MPI_Aint)(count * sizeof(*data)), sizeof(*data), MPI_INFO_NULL,
                                MPI_COMM_WORLD, &data, &state.window);
    int mine = code == MPI_SUCCESS, all = 0;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS && !all) {
        state.by_messages = true;
        state.counts = count ? calloc(count, sizeof(*state.counts)) : NULL;
        if (mine)
            MPI_Win_free(&state.window);
        return !count || state.counts ? 0 : failed("memory for counters", MPI_SUCCESS);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Win_set_errhandler(state.window, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) {
        if (count)
            memset(data, 0, count * sizeof(*data));
        code = MPI_Barrier(MPI_COMM_WORLD);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, state.window);
    if (code == MPI_SUCCESS)
        code = MPI_Win_sync(state.window);
    if (code == MPI_SUCCESS)
        code = MPI_Barrier(MPI_COMM_WORLD);
    return code == MPI_SUCCESS ? 0 : failed("MPI_Win_allocate", code);
}

static int open_world(struct mpi_place *place, size_t cells, int talk)
{
    int provided = MPI_THREAD_SINGLE;
    state.cells = cells;
    state.talk = talk;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return failed("MPI_Init_thread", MPI_SUCCESS);
    state.opened = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (provided < MPI_THREAD_SERIALIZED)
        return failed("asking for calls from several threads in turn", MPI_SUCCESS);
    if (find_place(&state.place) != 0 || open_window() != 0)
        return -1;
    *place = state.place;
    if (pthread_create(&state.helper, NULL, help, NULL) != 0)
        return failed("starting a thread", MPI_SUCCESS);
    state.threads = pthread_create(&state.watch, NULL, watch, NULL) == 0;
    return state.threads ? 0 : failed("starting a thread", MPI_SUCCESS);
}

static int finish(MPI_Request *request, void (*idle)(void *), void *user)
{
    for (;;) {
        int done = 0;
        begin_call();
        const int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        end_call();
        if (code != MPI_SUCCESS || done)
            return code;
        if (idle)
            idle(user);
        pause_ms(WAIT_MS);
    }
}

static int gather(const void *mine, size_t bytes, void *all, void (*idle)(void *), void *user)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (bytes > (size_t)1 << 30)
        return failed("gathering more than 1 GiB", MPI_SUCCESS);
    begin_call();
    int code = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD,
                              &request);
    end_call();
    if (code == MPI_SUCCESS)
        code = finish(&request, idle, user);
    return code == MPI_SUCCESS ? 0 : failed("MPI_Iallgather", code);
}

static int share(void *data, size_t bytes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (bytes > (size_t)1 << 30)
        return failed("sharing more than 1 GiB", MPI_SUCCESS);
    begin_call();
    int code = MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    end_call();
    if (code == MPI_SUCCESS)
        code = finish(&request, NULL, NULL);
    return code == MPI_SUCCESS ? 0 : failed("MPI_Ibcast", code);
}

/* At the last barrier, where helpers watch nobody any more: all have met just before it. */
static void lose_patience(void *user)
{
    int *looks = user;
    if (++*looks > PATIENCE_MS / WAIT_MS) {
        report_lost(0);
        _exit(1);
    }
}

static void close_world(void)
{
    if (!state.opened)
        return;
    if (state.by_messages && state.place.rank && state.threads) {
        /* No more questions: rank 0 answers none once all have come. */
        atomic_store(&state.leaving, true);
        pthread_join(state.helper, NULL);
    }
    /* Rank 0 helps until all have come here. */
    MPI_Request request = MPI_REQUEST_NULL;
    begin_call();
    int code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    end_call();
    int looks = 0;
    if (code == MPI_SUCCESS)
        (void)finish(&request, lose_patience, &looks);
    atomic_store(&state.leaving, true);
    if (state.threads && !(state.by_messages && state.place.rank))
        pthread_join(state.helper, NULL);
    begin_call();
    if (!state.by_messages) {
        MPI_Win_unlock_all(state.window);
        MPI_Win_free(&state.window);
    }
    MPI_Finalize();
    end_call();
    atomic_store(&state.closed, true);
    if (state.threads)
        pthread_join(state.watch, NULL);
    free(state.counts);
    state.counts = NULL;
    state.opened = false;
}

static void abort_world(int code)
{
    if (state.opened)
        MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

extern const struct mpi_module airy_mpi_module;
__attribute__((visibility("default"))) const struct mpi_module airy_mpi_module = {
    .version = MPI_MODULE_VERSION,
    .error = get_error,
    .implementation = get_implementation,
    .open = open_world,
    .gather = gather,
    .share = share,
    .add = add,
    .close = close_world,
    .abort = abort_world,
};
