/*
 * Processes that take a part of one job each: copies of this program.
 *
 * They are started, not forked: OpenCL contexts, libhdf5 and threads do not survive a fork. A
 * worker runs "airy WORD --part=CHANNEL:BOARD:NUMBER" with the parent's own arguments behind it.
 * BOARD is an anonymous file that all of them map: what the parent asks for, and how far each is.
 * CHANNEL is a socket: the worker says that it is ready, the parent that it may begin, and its end
 * tells each that the other is gone. Output and error output of a worker are anonymous files which
 * the parent reads when it has ended, so that a failed job prints one line.
 */
#ifndef AIRY_TOOLS_WORKERS_H
#define AIRY_TOOLS_WORKERS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "tool.h"

enum { WORKERS_MAX = 64 };

/* Of one worker, in shared memory. Its share is the parent's to fill, the rest the worker's. */
struct worker_seat {
    uint32_t threads;    /* of a CPU device's pool; 0: not said */
    uint32_t readers;    /* 0: chosen */
    atomic_size_t done;  /* frames written */
    atomic_bool stopped; /* it ended because it was asked to */
    airy_run_info info;  /* once it has ended by itself */
};

struct workers_board {
    uint64_t size; /* of this struct, for a look at whether both are the same program */
    uint32_t count;
    atomic_bool stop; /* finish what is in flight, and end */
    char device[64];
    uint64_t memory_limit; /* of each; 0: none */
    size_t rows;           /* of the file */
    atomic_size_t next;    /* row of the file that nobody has claimed yet */
    struct worker_seat seats[WORKERS_MAX];
};

struct worker {
    pid_t pid;
    int channel, answer, talk; /* -1: none */
    bool ready, ended;
    int status; /* of waitpid */
};

struct workers {
    const struct common *common;
    struct workers_board *board;
    int board_file;
    size_t count, failed; /* failed: number of the first that failed, of those whose frames are bad
                             the one with the first, or count */
    double stop_time;     /* when they were asked to stop; 0: not */
    double last_end;      /* when the last has said that its part is done */
    bool killed;          /* the rest, because they did not stop */
    struct worker list[WORKERS_MAX];
};

/* The board, zeroed but for size and count; nothing runs yet. Exit code. Close in any case. */
int workers_open(struct workers *workers, const struct common *common, size_t count);
/* Start them as "airy word"; word is a command with an option --part. Exit code. */
int workers_start(struct workers *workers, const char *word);
/*
 * Wait until all are ready. False when one has failed or the user has interrupted: then all have
 * ended.
 */
bool workers_ready(struct workers *workers);
/*
 * Let them begin, and wait until all have ended. Stops them all when one fails or `step` says so:
 * called about ten times a second and at the end with the frames done, as an airy_progress_fn.
 * Where a bad frame is what fails, the others finish what they have claimed: every row before that
 * frame is among it, so that the first bad frame is the same in every run. Only once.
 */
void workers_run(struct workers *workers, airy_progress_fn step, void *user, size_t first,
                 size_t total);
/*
 * The line of the first that failed, with what to do behind it where it does not say so itself;
 * exit code 1. Exit code 0 when none has.
 */
int workers_report(const struct workers *workers, const char *advice);
/* What a worker printed, malloc'ed; NULL when memory is short. */
char *workers_answer(const struct workers *workers, size_t number);
/* What they said on standard error, for --verbose. */
void workers_repeat_talk(const struct workers *workers);
/* Those that still run are killed. */
void workers_close(struct workers *workers);

/* The worker's side. */
struct worker_link {
    struct workers_board *board;
    struct worker_seat *seat;
    size_t number;
    int channel;
};

/* text: the argument of --part. Exit code; detach in any case. */
int worker_attach(struct worker_link *link, const struct common *common, const char *text);
/*
 * How many rows to claim next of `total`, of which `taken` are claimed: much while much is left,
 * so that few ask at a time, and a batch of `least` at the end, so that all end together.
 */
size_t worker_claim(size_t least, size_t total, size_t taken, size_t workers);
/* Ready; waits until it may begin. False: the parent is gone or wants no more. */
bool worker_begin(struct worker_link *link);
/* Its part is done: what follows is the end of the process. */
void worker_end(struct worker_link *link);
/* Neither asked to stop nor alone. */
bool worker_wanted(const struct worker_link *link);
void worker_detach(struct worker_link *link);

#endif
