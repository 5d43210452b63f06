/*
 * One run of a stack through integrators: what its threads share.
 *
 * Each integrator is a lane: a device with slots (a slot = one batch) and threads of its own. A
 * CPU has two: work is done in the call that submits it, and one lane's batch keeps the pool busy
 * while the other's ends.
 * Readers take the next batch of the run when their lane has a free slot and memory to read into,
 * and fill it; a thread submits full slots in order; another waits for the device and hands the
 * memory on to the next batch; a writer writes the rows and frees the slot. There are more slots
 * than memory, so that the device goes on while the disk keeps the writer waiting.
 * So frames go to whichever device has room, and a slow one holds up nobody. Errors of
 * frames are values in the slot. Where one ends the run, all batches before it are done first: the
 * frame that is reported does not depend on threads or devices.
 */
#ifndef AIRY_PIPELINE_RUN_H
#define AIRY_PIPELINE_RUN_H

#include <pthread.h>

#include "airy/error.h"
#include "airy/pipeline.h"
#include "base/messages.h"
#include "codec/chunks.h"
#include "codec/framing.h"
#include "io/result/file.h"
#include "io/result/grow.h"
#include "io/stack/source.h"

/* The integrators of a run. All have frames and bins of the same shape. */
struct airy_run_team {
    const airy_integrator *const *integrators;
    size_t count;
    size_t lanes; /* lane i is one of integrators[i % count] */
};

/* How a run is cut: worked out before anything is allocated. The same for every lane. */
struct airy_run_plan {
    size_t batch;
    size_t slots, readers; /* of a device, shared by its lanes: batches in flight, threads */
    unsigned threads;      /* of a CPU that have scratch, in each lane; at most the pool's */
    size_t waiting;        /* results of so many batches more wait for the writer, in each lane */
    size_t batch_bytes;    /* capacity for chunks of the largest batch */
    /*
     * Planes of a frame's sums that are copied back: all; or of long rows those that no frame
     * without invalid pixels has in common with the others, the first one or two.
     */
    size_t planes;
    size_t result_bytes;   /* sums and stats of a batch on the device, */
    size_t host_results;   /* and those copied back; 0 where both are one memory */
    uint64_t host_bytes;   /* of all lanes */
    uint64_t device_bytes; /* on a device */
};

/* What became of a frame on its way into the slot. */
struct airy_frame_fate {
    airy_error error; /* status not AIRY_OK: could not be read */
    void *pixels;     /* decoded on the host because its chunk is cut in another way than the
                     stack's; or NULL */
    size_t parts;     /* that readers take, each by itself */
    size_t left;      /* of them not read yet */
    uint64_t there;   /* bit k: part k is read */
    /* Of a chunk in parts: so many of them are walked, in order, by whoever has read the next. */
    bool chunk, walking;
    size_t walked;
    struct airy_chunk_walk walk;
};

enum airy_slot_state {
    AIRY_SLOT_FREE,
    AIRY_SLOT_FILLING,
    AIRY_SLOT_FULL,
    AIRY_SLOT_SUBMITTED,
    AIRY_SLOT_DONE /* by the device: the results are there */
};

struct airy_slot {
    enum airy_slot_state state;
    size_t number;                      /* of the batch it holds */
    size_t frames, taken, filled;       /* taken: all parts of so many frames */
    size_t part;                        /* of frame `taken`, the next to take */
    airy_batch *batch;                  /* its frames, until it is done; NULL after that */
    airy_array *results, *sums, *stats; /* sums and stats are views of results */
    airy_host *host_results; /* sums of the plan's planes, [batch][planes][bins], and stats; NULL
                                where the device's are in the host's memory */
    airy_event *uploaded, *computed, *done;
    struct airy_frame_fate *fates; /* [batch] */
    size_t *sizes;                 /* [batch] */
    const size_t *rows;            /* [frames] of the run */
    /* Of a run that is fed: rows, arrival of each frame, and whether more may come. */
    size_t *own_rows;  /* [batch] */
    int64_t *received; /* [batch] CLOCK_MONOTONIC, ns */
    bool closed;
    uint64_t due; /* when it is closed at the latest; airy_clock_ns */
};

struct airy_run;
struct airy_lane;

struct airy_run_thread {
    pthread_t thread;
    void *(*body)(void *lane);
    struct airy_lane *lane;
};

/* Frames that are to be one row. */
struct airy_group {
    airy_accumulator *sums; /* NULL: none has more than one frame */
    size_t bad;             /* frames that are no part of it */
    char message[160];      /* of the first of them */
};

enum { AIRY_RUN_COPIES = 4 };
/* Planes from AIRY_SUM_NORMALIZATION on, as the file has them. */
enum { AIRY_RUN_NORMS = AIRY_SUM_PLANES - AIRY_SUM_NORMALIZATION };

/* Frames that are put into a run from outside, where no stack is read (live.c). */
struct airy_feed {
    pthread_cond_t room; /* for those who put; with the run's lock */
    uint64_t wait_ns;
    bool closed; /* no frame is put any more */
    size_t lost; /* of the frames in the run's books: given up, their fate is AIRY_ERR_NOT_FOUND;
                    with the run's lock */
    /*
     * Return whether the slot of a lane is full, or is closed because it was due. Otherwise *until
     * is the time when it will be due; 0: it waits for another event. The lock is held.
     */
    bool (*ready)(struct airy_lane *lane, struct airy_slot *slot, uint64_t *until);
    /* A slot's frames are done: the fates of those that are spoiled say so from here on. */
    void (*taken)(void *user, struct airy_slot *slot);
    /* Rows of a slot that are made, before they are written. */
    void (*made)(void *user, const struct airy_slot *slot, const struct airy_pattern_row *rows,
                 size_t count);
    /* The file has these rows. The lock is held. */
    void (*written)(void *user, const struct airy_slot *slot, const struct airy_pattern_row *rows,
                    size_t count);
    /* One of the rows that are due is made bad in the file; by a writer, without the lock. */
    airy_status (*mend)(void *user);
    size_t due; /* rows that are good in the file and were spoiled since; with the run's lock */
    void *user;
};

/* A device at work. Batches go round its slots: the k-th it starts is in slot k % slots. */
struct airy_lane {
    struct airy_run *run;
    const airy_integrator *integrator;
    airy_queue *up[AIRY_RUN_COPIES]; /* [copies], taken in turn */
    size_t copies;
    airy_queue *compute, *down; /* one and the same on the CPU, and up[0] */
    struct airy_slot *slots;    /* [slot_count] */
    size_t slot_count, readers;
    /*
     * Memory of batches, and what of it no slot has, the one used last on top: its bytes are still
     * in the processor's cache, and where frames come slowly the others are not touched.
     */
    airy_batch **batches, **idle; /* [batch_count], [idle_count of batch_count] */
    size_t batch_count, idle_count;
    size_t started, submitted, done, written;
    /* For its readers, submitter, waiter, writer; with the run's lock. */
    pthread_cond_t room, full, sent, made;
    /* Of the writer, for a slot's frames: patterns, whose intensity, std and sem are in values. */
    struct airy_pattern_row *patterns; /* [batch] */
    float *values;                     /* [batch][3][bins] */
    double *regions;                   /* [batch][2][regions]: sums and means */
    /* For frames with invalid pixels, where not all planes are copied back. */
    airy_queue *fetch;
    double *norms;           /* [batch][AIRY_RUN_NORMS][bins] */
    size_t *done_rows;       /* [batch] of the file, those of patterns */
    struct airy_group group; /* being added up, where groups end with batches */
    struct airy_run_thread *threads;
    size_t thread_count;
};

struct airy_run {
    const airy_stack *stack; /* NULL: the run is fed */
    struct airy_feed *feed;
    airy_stack_info info; /* of the stack, or of what is to be fed */
    const airy_run_params *params;
    struct airy_run_team team;
    struct airy_run_plan plan;
    airy_integrator_info axes;
    /*
     * A row here is a frame of the run. Rows of the file are groups of them, the same where a group
     * is one frame.
     */
    size_t *rows; /* [row_count] rows still to do; claimed ones are added as they come */
    size_t row_count, total_rows, resumed;
    bool claiming;            /* a reader is asking for rows */
    bool exhausted;           /* there are no more to claim */
    size_t group;             /* frames of a group */
    bool in_turn;             /* groups go on in the next batch: results are taken batch by batch */
    size_t turn;              /* whose it is then; with the lock */
    struct airy_group spread; /* of the batch whose turn it is */
    airy_pattern_file *file;  /* NULL: nothing is written, or: */
    airy_pattern_growing *growing; /* of a fed run whose rows nobody has counted */
    bool skip_bad;                 /* a bad frame does not end the run */
    struct airy_lane *lanes;       /* [team.lanes] */
    struct airy_messages messages; /* to params->message */

    pthread_mutex_t lock;
    size_t next_batch, batches; /* next to be started, in total; SIZE_MAX: not known yet */
    bool stopped;     /* no further batches; those begun are finished, unless reading is slow */
    size_t bad_batch; /* the first with a frame that ends the run; SIZE_MAX none */
    bool failed;      /* everything ends at once */
    airy_error error; /* of a failure or of the bad frame */
    airy_run_info *out;

    uint64_t shown_ns; /* when progress was told last; with the lock */
    pthread_mutex_t progress_lock;
};

/* Frame of the stack behind a row of the file. */
size_t airy_run_frame(const airy_run_params *params, size_t row);
/* Number of frames of the run. */
airy_status airy_run_rows(size_t *rows, const airy_stack_info *info, const airy_run_params *params);
/* Frames of a group, at least 1, and how many groups so many frames are. */
size_t airy_run_group(const airy_run_params *params, size_t rows);
size_t airy_run_groups(const struct airy_run *run);
/* Lanes of a team for so many rows. */
size_t airy_run_lanes(const struct airy_run_team *team, const airy_run_params *params, size_t rows);
/* Of so many, those that a process may expect to do: where they are claimed, its share. */
size_t airy_run_share(const airy_run_params *params, size_t rows);
/* Is this row of `rows` one of this part's? */
bool airy_run_is_mine(const airy_run_params *params, size_t row, size_t rows);
/*
 * stack: or NULL, frames are fed and have at most info->max_chunk bytes. rows: [row_count] those
 * still to do, or NULL: rows 0 to row_count - 1, or what is claimed of them. refused: NULL, or a plan for which there was not
 * enough memory: a smaller one is made.
 */
airy_status airy_run_plan_make(struct airy_run_plan *plan, const airy_stack *stack,
                               const airy_stack_info *info, const struct airy_run_team *team,
                               const airy_run_params *params, const size_t *rows, size_t row_count,
                               const struct airy_run_plan *refused);
/* All there, of the frames' shape and like each other. call: for the sentence. */
airy_status airy_run_check(const char *call, const airy_stack_info *info,
                           const struct airy_run_team *team, const airy_run_params *params);

/*
 * The file of the run: opened in one of these ways, completed with what does not differ between
 * frames. run->team, total_rows and params are set.
 */
enum airy_run_open { AIRY_RUN_ALONE, AIRY_RUN_JOIN, AIRY_RUN_GATHER };
airy_status airy_run_file_open(struct airy_run *run, const char *path, enum airy_run_open how);
airy_status airy_run_file_grow(struct airy_run *run, const char *path);
airy_status airy_run_file_finish(struct airy_run *run);

/*
 * The life of a run whose stack, or feed and info, and team, params and out are set. prepare: queues and slots for the rows to do, as planned, or less of it where
 * the memory turns out to be less. join: what failed. close: describes the run; keep: the partial
 * file stays, where there is one.
 */
airy_status airy_run_open(struct airy_run *run, const char *call);
airy_status airy_run_prepare(struct airy_run *run);
void airy_run_start(struct airy_run *run);
airy_status airy_run_join(struct airy_run *run);
void airy_run_close(struct airy_run *run, bool keep);

/*
 * A lane's queues and slots. Opening ends with a rehearsal: a batch without a readable frame goes
 * the whole way, so that the back end takes the scratch it needs and compiles what it has to
 * before anything counts on it. Closing waits for what is enqueued.
 */
airy_status airy_lane_open(struct airy_lane *lane);
void airy_lane_close(struct airy_lane *lane);
/* Wait for what is enqueued, and tell what failed. */
airy_status airy_lane_finish(struct airy_lane *lane);
/* A batch may begin: the lane's next slot is free, and there is memory. The lock is held. */
bool airy_lane_has_room(const struct airy_lane *lane);
/* That slot, with memory. The lock is held. */
struct airy_slot *airy_lane_take_slot(struct airy_lane *lane);
/* Enqueue one full slot: a copy up, the kernels, a copy down. */
airy_status airy_lane_submit(struct airy_lane *lane, struct airy_slot *slot);

/* Threads' bodies; `lane` is a struct airy_lane. */
void *airy_run_reader(void *lane);
void *airy_run_submitter(void *lane);
void *airy_run_waiter(void *lane); /* not of a device that works in place */
void *airy_run_writer(void *lane);
/* Ends the run with the calling thread's last error. The lock is not held. */
void airy_run_fail(struct airy_lane *lane, airy_status status);
/* Wake every thread. The lock is held. */
void airy_run_wake(struct airy_run *run);
/* Tell progress, and stop where it says so. The lock is not held. */
void airy_run_show(struct airy_run *run);
/* The sentence of a bad frame is reported where no row before it is bad. The run's lock is held. */
void airy_run_note_bad(airy_run_info *out, size_t row, const char *sentence);
/* No batch is started any more. The lock is held. */
bool airy_run_ends(const struct airy_run *run);

#endif
