/*
 * One run of a stack through an integrator: what its threads share.
 *
 * Readers fill slots (a slot = one batch), the calling thread submits full slots in order, the
 * writer thread waits for their results in order, writes the rows and frees the slot. Errors of
 * frames are values in the slot; the writer, which sees frames in order, decides.
 */
#ifndef AIRY_PIPELINE_RUN_H
#define AIRY_PIPELINE_RUN_H

#include <pthread.h>

#include "airy/pipeline.h"
#include "codec/chunks.h"
#include "io/pattern_file.h"
#include "io/stack_source.h"

/* How a run is cut: worked out before anything is allocated. */
struct airy_run_plan {
    size_t batch, slots, readers;
    size_t batch_bytes;  /* capacity for chunks of the largest batch */
    size_t result_bytes; /* sums and stats of a batch */
    uint64_t host_bytes, device_bytes;
};

/* What became of a frame on its way into the slot. */
struct airy_frame_fate {
    airy_status status; /* not AIRY_OK: could not be read; message says why */
    char message[256];
    void *pixels; /* decoded on the host because its chunk is cut in another way than the
                     stack's; or NULL */
};

enum airy_slot_state { AIRY_SLOT_FREE, AIRY_SLOT_FILLING, AIRY_SLOT_FULL, AIRY_SLOT_SUBMITTED };

struct airy_slot {
    enum airy_slot_state state;
    size_t number; /* of the batch it holds */
    size_t frames, taken, filled;
    airy_batch *batch;
    airy_array *results, *sums, *stats; /* sums and stats are views of results */
    airy_host *host_results;
    airy_event *uploaded, *computed, *done;
    struct airy_frame_fate *fates; /* [batch] */
    size_t *sizes;                 /* [batch] */
};

struct airy_run {
    const airy_stack *stack;
    airy_stack_info info;
    const airy_integrator *integrator;
    const airy_run_params *params;
    struct airy_run_plan plan;
    size_t *rows; /* [row_count] rows of the file still to do */
    size_t row_count, total_rows;
    airy_pattern_file *file;         /* NULL: nothing is written */
    airy_queue *up, *compute, *down; /* one and the same on the CPU */
    struct airy_slot *slots;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next_batch, batches; /* next to be started, in total */
    bool stopped, failed;
    airy_status status;
    char message[1024];
    airy_run_info *out;
    float *intensity, *std, *sem; /* [bins], of the writer */
};

/* Frame of the stack behind a row of the file. */
size_t airy_run_frame(const airy_run_params *params, size_t row);
/* Number of rows of the file. */
airy_status airy_run_rows(size_t *rows, const airy_stack_info *info, const airy_run_params *params);
/*
 * rows: [row_count] those still to do, or NULL: rows 0 to row_count - 1. refused: NULL, or a plan
 * for which there was not enough memory: a smaller one is made.
 */
airy_status airy_run_plan_make(struct airy_run_plan *plan, const airy_stack *stack,
                               const airy_integrator *integrator, const airy_run_params *params,
                               const size_t *rows, size_t row_count,
                               const struct airy_run_plan *refused);

/* Threads' bodies; `run` is a struct airy_run. */
void *airy_run_reader(void *run);
void *airy_run_writer(void *run);
/* Ends the run with the calling thread's last error. The lock is not held. */
void airy_run_fail(struct airy_run *run, airy_status status);

#endif
