/*
 * One run of frames through devices: what its threads share.
 *
 * A source brings the frames: a stack, whose rows are read here, or callers that put them (a feed).
 * A job says what is done with them: on the device (struct airy_work), and with what comes back.
 *
 * Each device has lanes: slots (a slot = one batch) and threads. A device that bytes are copied to
 * has one lane. A CPU has two: work is done in the call that submits it, and one lane's batch keeps
 * the pool busy while the other's ends.
 * Readers take the next batch of the run when their lane has a free slot and memory to read into,
 * and fill it; a thread submits full slots in order; another waits for the device and hands the
 * memory on to the next batch; a writer takes the results and frees the slot. There are more slots
 * than memory, so that the device goes on while the disk keeps the writer waiting. A lane may have
 * several writers (run->writers), which take its slots one after the other.
 * So frames go to whichever device has room, and a slow one holds up nobody. Errors of
 * frames are values in the slot. Where one ends the run, all batches before it are done first: the
 * frame that is reported does not depend on threads or devices.
 */
#ifndef AIRY_ENGINE_RUN_H
#define AIRY_ENGINE_RUN_H

#include <pthread.h>

#include "airy/error.h"
#include "airy/pipeline.h"
#include "base/messages.h"
#include "codec/chunks.h"
#include "codec/framing.h"
#include "io/stack/source.h"

struct airy_run;
struct airy_lane;
struct airy_slot;
struct airy_tally;

/* The devices of a run. */
struct airy_run_team {
    airy_device **devices;
    size_t count;
    size_t lanes; /* lane i is of devices[i % count] */
};

/* Memory that the work needs for batches of a number of frames. */
struct airy_work_need {
    size_t results; /* of a slot, on the device */
    size_t copied;  /* of a slot, on the host of a device that bytes are copied to */
    size_t scratch; /* of a lane, on the device, beside frames */
    size_t beside;  /* of a lane, on the host */
    size_t frame;   /* copied back a frame: with the frames as they are stored it bounds batches */
    bool decodes;   /* whole frames in a CPU's memory, too; else it works block by block */
    airy_hint hint; /* what makes less of it where one frame does not fit; or AIRY_HINT_NONE */
};

/*
 * What is done with the frames. All are called by one thread of a lane at a time, and not while the
 * run's lock is held, unless it says so; take is called by each writer of a lane, for a slot of its
 * own. NULL is allowed where it says so.
 */
struct airy_work {
    void (*need)(const struct airy_run *run, size_t batch, struct airy_work_need *need);
    /* What a lane and each of its slots have; queues are there. Closing also after a failure. */
    airy_status (*open_lane)(struct airy_lane *lane);
    void (*close_lane)(struct airy_lane *lane);
    airy_status (*open_slot)(struct airy_lane *lane, struct airy_slot *slot);
    void (*close_slot)(struct airy_lane *lane, struct airy_slot *slot);
    /*
     * Enqueue in lane->compute what is done with the slot's frames, whose bytes are on the device.
     * The first call is a rehearsal, all of whose frames are absent: scratch is taken, kernels are
     * compiled.
     */
    airy_status (*submit)(struct airy_lane *lane, struct airy_slot *slot,
                          const struct airy_chunks *chunks);
    /* After it, of frame i, which is decoded already (its fate is alone): [1, height, width]. */
    airy_status (*submit_decoded)(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                                  const airy_array *frame);
    /* After these, what takes the batch as a whole. Or NULL. */
    airy_status (*submit_rest)(struct airy_lane *lane, struct airy_slot *slot);
    /* Enqueue in lane->down the copies to the host. Not where the device works in place. Or NULL. */
    airy_status (*collect)(struct airy_lane *lane, struct airy_slot *slot);
    /*
     * Of a writer: take the results of a slot, whose frames say in their fates what is wrong with
     * them, and fill in the tally. A failure ends the run; of a frame, where tally->ends.
     */
    airy_status (*take)(struct airy_lane *lane, struct airy_slot *slot, struct airy_tally *tally);
    /* The slot is in the run's books. The lock is held. Or NULL. */
    void (*booked)(struct airy_lane *lane, struct airy_slot *slot, const struct airy_tally *tally);
    /* Whether a row, which is a group of frames, is done since an earlier run. Or NULL: none is. */
    bool (*is_done)(const struct airy_run *run, size_t group);
    bool in_turn;     /* slots are taken in the order of their batches */
    bool one_lane;    /* of a device: slots are submitted in that order, too */
    size_t multiple;  /* batches are of whole groups of so many frames, as the run is; 0: 1 */
    size_t batch;     /* frames of a batch, fewer where memory is short; 0: as tuned */
    size_t cpu_batch; /* the same on a CPU only */
    size_t slots;     /* at most; 0: as tuned */
    const char *bad;  /* of messages: what becomes of a bad frame; NULL: "was left out" */
};

/* How a run is cut: worked out before anything is allocated. The same for every lane. */
struct airy_run_plan {
    size_t batch;
    size_t slots, readers; /* of a device, shared by its lanes: batches in flight, threads */
    unsigned threads;      /* of a CPU that have scratch, in each lane; at most the pool's */
    size_t waiting;        /* results of so many batches more wait for the writer, in each lane */
    size_t batch_bytes;    /* capacity for chunks of the largest batch */
    struct airy_work_need need;
    uint64_t host_bytes;   /* of all lanes */
    uint64_t device_bytes; /* on a device */
};

/* What became of a frame on its way into the slot. */
struct airy_frame_fate {
    airy_error error; /* status not AIRY_OK: could not be read */
    void *pixels;     /* decoded on the host because its chunk is cut in another way than the
                     stack's; or NULL */
    bool alone;       /* it had pixels, which are submitted by themselves */
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
    size_t number;                /* of the batch it holds */
    size_t frames, taken, filled; /* taken: all parts of so many frames */
    size_t part;                  /* of frame `taken`, the next to take */
    airy_batch *batch;            /* its frames, until it is done; NULL after that */
    airy_event *uploaded, *computed, *done;
    struct airy_frame_fate *fates; /* [batch] */
    size_t *sizes;                 /* [batch] */
    const size_t *rows;            /* [frames] of the run */
    void *work;                    /* the job's own */
    size_t writer;                 /* which of the lane's has it, from 0 */
    /* Of a run that is fed: rows, arrival of each frame, and whether more may come. */
    size_t *own_rows;  /* [batch] */
    int64_t *received; /* [batch] CLOCK_MONOTONIC, ns */
    bool closed;
    uint64_t due; /* when it is closed at the latest; airy_clock_ns */
};

struct airy_run_thread {
    pthread_t thread;
    void *(*body)(void *lane);
    struct airy_lane *lane;
};

enum { AIRY_RUN_COPIES = 4 };

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
    /* One of the rows that are due is made bad in the file; by a writer, without the lock. */
    airy_status (*mend)(void *user);
    size_t due; /* rows that are good in the file and were spoiled since; with the run's lock */
    void *user;
};

/* A device at work. Batches go round its slots: the k-th it starts is in slot k % slots. */
struct airy_lane {
    struct airy_run *run;
    airy_device *device;
    size_t member;                   /* of the team: devices[member] */
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
    size_t started, submitted, done, claimed, written; /* claimed: by a writer */
    size_t writers;                                    /* that have begun */
    /* For its readers, submitter, waiter, writer; with the run's lock. */
    pthread_cond_t room, full, sent, made;
    void *work; /* the job's own */
    struct airy_run_thread *threads;
    size_t thread_count;
};

struct airy_run {
    const airy_stack *stack; /* NULL: the run is fed, or its frames are made */
    struct airy_feed *feed;
    airy_stack_info info;          /* of the stack, or of what is to be fed */
    const airy_run_params *params; /* NULL until it begins: the defaults */
    const char *call;              /* the function, for sentences */
    struct airy_run_team team;
    struct airy_run_plan plan;
    const struct airy_work *work;
    void *job; /* for the work */
    /*
     * A row here is a frame of the run. Rows of the file are groups of them, the same where a group
     * is one frame.
     */
    size_t *rows; /* [row_count] rows still to do; claimed ones are added as they come */
    size_t row_count, total_rows, resumed;
    bool claiming;                 /* a reader is asking for rows */
    bool exhausted;                /* there are no more to claim */
    size_t group;                  /* frames of a group */
    bool in_turn;                  /* the work's, or groups go on in the next batch, or ordered */
    bool ordered;                  /* this run's slots are taken in the order of their batches */
    size_t writers;                /* of a lane; 0: one, as where slots are taken in that order */
    size_t turn;                   /* whose it is then; with the lock */
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

/* What a writer has done with a slot, for the run's books. */
struct airy_tally {
    size_t frames, bad, lost; /* lost: of the bad ones, given up */
    bool ends;                /* one of them ends the run */
    bool refused;             /* the caller failed to take a row, which ends the run as well */
    uint64_t stored;          /* bytes of the good ones */
    double max;               /* largest pixel of the good ones */
    size_t empty, empty_row;  /* good frames in which no pixel counts; the first of them */
    size_t bad_row;           /* the first; message says why */
    char message[768];
};

/* Frame of the stack behind a row of the file. */
size_t airy_run_frame(const airy_run_params *params, size_t row);
/* Number of frames of the run. */
airy_status airy_run_rows(size_t *rows, const airy_stack_info *info, const airy_run_params *params);
/* Frames of a group, at least 1, and how many groups so many frames are. */
size_t airy_run_group(const airy_run_params *params, size_t rows);
size_t airy_run_groups(const struct airy_run *run);
/* Is this row of `rows` one of this part's? */
bool airy_run_is_mine(const airy_run_params *params, size_t row, size_t rows);
/*
 * Of a run with stack or feed, info, team, work and params; lanes of its team for so many rows are
 * set first. rows: [row_count] those still to do, or NULL: rows 0 to row_count - 1, or what is
 * claimed of them. refused: NULL, or a plan for which there was not enough memory: a smaller one is
 * made.
 */
void airy_run_set_lanes(struct airy_run *run, size_t rows);
airy_status airy_run_plan_make(struct airy_run_plan *plan, const struct airy_run *run,
                               const size_t *rows, size_t row_count,
                               const struct airy_run_plan *refused);
/* For airy_run_info: what the plan says of a run. */
void airy_run_tell_plan(airy_run_info *info, const struct airy_run_plan *plan);
/* Parameters of every run. */
airy_status airy_run_check(const airy_run_params *params);
/* No parameter is set that only a run that integrates has. */
airy_status airy_run_check_plain(const airy_run_params *params, const char *call);

/*
 * The life of a public function's run, whose stack, or feed and info, params, out and job are set.
 * begin: the frames have a shape. set_team: room for its devices. open, with team and work: how many
 * rows and lanes there are. prepare: queues and slots for the rows to do, as planned, or less of it
 * where the memory turns out to be less. execute: list the rows that are to be done, and do them.
 * join: what failed. close: describes the run. do: all of it, timed, and the first failure with its
 * record; perform is execute and what belongs to it, release gets the closed run, also after a
 * failure, or is NULL.
 */
airy_status airy_run_do(struct airy_run *run, const char *call,
                        airy_status (*open)(struct airy_run *run),
                        airy_status (*perform)(struct airy_run *run),
                        void (*release)(struct airy_run *run));
airy_status airy_run_begin(struct airy_run *run, const char *call);
airy_status airy_run_set_team(struct airy_run *run, size_t count);
airy_status airy_run_open(struct airy_run *run);
airy_status airy_run_prepare(struct airy_run *run);
void airy_run_start(struct airy_run *run);
airy_status airy_run_join(struct airy_run *run);
airy_status airy_run_execute(struct airy_run *run);
void airy_run_close(struct airy_run *run);

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

/*
 * For works that need whole frames. head: the first `count` rows of an array. pull: their copy to the
 * host. decode: a slot's frames
 * to the first rows of frames [batch, height, width], and their status words. place: a frame that is
 * decoded already to its row. stored_at: where the pixels of a frame that is stored as it is begin in
 * chunks->bytes.
 */
airy_status airy_lane_head(airy_array **view, const airy_array *array, size_t count);
airy_status airy_lane_pull(airy_queue *queue, void *to, const airy_array *array, size_t count);
airy_status airy_lane_decode(struct airy_lane *lane, const struct airy_slot *slot,
                             const struct airy_chunks *chunks, const airy_array *frames,
                             const airy_array *words);
airy_status airy_lane_place(struct airy_lane *lane, const airy_array *frames, size_t i,
                            const airy_array *frame);
size_t airy_lane_stored_at(const struct airy_chunks *chunks, size_t i);

/* Threads' bodies; `lane` is a struct airy_lane. */
void *airy_run_reader(void *lane);
void *airy_run_submitter(void *lane);
void *airy_run_waiter(void *lane); /* not of a device that works in place */
void *airy_run_writer(void *lane);
/*
 * End the run with the calling thread's last error: at once, or as a bad frame does, when all
 * batches before this one are done. Nothing happens where the run has failed, or a frame of an
 * earlier batch ends it. The lock is held.
 */
void airy_run_end(struct airy_run *run, size_t batch, airy_status status, bool at_once);
/* End it at once for a failure in this slot; NULL: in none. The lock is not held. */
void airy_run_fail(struct airy_lane *lane, const struct airy_slot *slot, airy_status status);
/* Wake every thread. The lock is held. */
void airy_run_wake(struct airy_run *run);
/* Tell progress, and stop where it says so. The lock is not held. */
void airy_run_show(struct airy_run *run);
/* The sentence of a bad frame is reported where no row before it is bad. The run's lock is held. */
void airy_run_note_bad(airy_run_info *out, size_t row, const char *sentence);
/* Enter what was done into the books of the run. The lock is held. */
void airy_run_book(struct airy_run *run, const struct airy_tally *tally);
/* No batch is started any more. The lock is held. */
bool airy_run_ends(const struct airy_run *run);
/*
 * For the writer: whether frame i of a slot is bad, as it was read, or by the status word that its
 * decoding on the device gave (airy_frame_error); *error says why.
 */
bool airy_run_frame_is_bad(const struct airy_run *run, const struct airy_slot *slot, size_t i,
                           uint32_t status, airy_error *error);
/* Where a frame of the stack lies, for a sentence about it. */
void airy_run_where(const struct airy_run *run, size_t frame, char *where, size_t size);
/* Note a bad frame. Fails, and sets tally->ends, where such a frame ends the run. */
airy_status airy_run_mark_bad(struct airy_run *run, size_t row, const airy_error *error,
                              struct airy_tally *tally);

#endif
