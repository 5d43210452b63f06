#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "integrate/integrator.h"

void airy_run_fail(struct airy_run *run, airy_status status)
{
    pthread_mutex_lock(&run->lock);
    if (!run->failed) {
        run->failed = true;
        run->status = status;
        snprintf(run->message, sizeof(run->message), "%s", airy_last_error());
    }
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

/* Why a frame is bad, or NULL. message: room for the sentence. */
static const char *frame_problem(struct airy_run *run, const struct airy_slot *slot, size_t i,
                                 size_t frame, const airy_frame_stats *stats, char *message,
                                 size_t size)
{
    const struct airy_frame_fate *fate = &slot->fates[i];
    if (fate->status != AIRY_OK) {
        snprintf(message, size, "%s", fate->message);
        return message;
    }
    if (stats->status == AIRY_FRAME_GOOD)
        return NULL;
    char where[512] = "";
    (void)airy_stack_where(run->stack, frame, where, sizeof(where));
    snprintf(message, size, "%s: %s", where, airy_frame_error(stats->status));
    return message;
}

static airy_status write_row(struct airy_run *run, struct airy_slot *slot, size_t i)
{
    const airy_integrator *integrator = run->integrator;
    const size_t bins = integrator->bins;
    const size_t row = run->rows[slot->number * run->plan.batch + i];
    const size_t frame = airy_run_frame(run->params, row);
    unsigned char *results = airy_host_data(slot->host_results);
    double *sums = (double *)(void *)results + i * AIRY_SUM_PLANES * bins;
    airy_frame_stats stats;
    memcpy(&stats,
           results + run->plan.batch * AIRY_SUM_PLANES * bins * sizeof(double) + i * sizeof(stats),
           sizeof(stats));

    char message[768];
    const bool errors = integrator->params.error_model != AIRY_ERROR_MODEL_NONE;
    const char *problem = frame_problem(run, slot, i, frame, &stats, message, sizeof(message));
    if (problem) {
        if (!run->out->first_error[0])
            snprintf(run->out->first_error, sizeof(run->out->first_error), "%.511s", problem);
        if (!run->params->skip_bad)
            return airy_fail(slot->fates[i].status != AIRY_OK ? slot->fates[i].status
                                                              : AIRY_ERR_CORRUPT,
                             "%s", problem);
        run->out->bad++;
        memset(sums, 0, AIRY_SUM_PLANES * bins * sizeof(double));
        if (stats.status == AIRY_FRAME_GOOD)
            stats.status = 0;
        for (size_t b = 0; b < bins; b++)
            run->intensity[b] = run->std[b] = run->sem[b] = NAN;
    } else {
        const double monitor = run->params->monitor ? run->params->monitor[frame] : 1.0;
        AIRY_TRY(airy_integrator_finish(integrator, sums, monitor, run->intensity,
                                        errors ? run->std : NULL, errors ? run->sem : NULL));
    }
    if (!run->file)
        return AIRY_OK;
    return airy_pattern_file_write(run->file, row,
                                   &(struct airy_pattern_row){
                                       .intensity = run->intensity,
                                       .std = errors ? run->std : NULL,
                                       .sem = errors ? run->sem : NULL,
                                       .sums = sums,
                                       .stats = stats,
                                       .message = problem,
                                   });
}

static airy_status write_slot(struct airy_run *run, struct airy_slot *slot)
{
    AIRY_TRY(airy_event_wait(slot->done));
    for (size_t i = 0; i < slot->frames; i++) {
        AIRY_TRY(write_row(run, slot, i));
        run->out->frames++;
    }
    return AIRY_OK;
}

void *airy_run_writer(void *arg)
{
    struct airy_run *run = arg;
    pthread_mutex_lock(&run->lock);
    for (size_t number = 0;; number++) {
        struct airy_slot *slot = &run->slots[number % run->plan.slots];
        while (!run->failed && !(slot->state == AIRY_SLOT_SUBMITTED && slot->number == number) &&
               number < (run->stopped ? run->next_batch : run->batches))
            pthread_cond_wait(&run->changed, &run->lock);
        if (run->failed || number >= (run->stopped ? run->next_batch : run->batches))
            break;
        pthread_mutex_unlock(&run->lock);

        const airy_status status = write_slot(run, slot);
        const bool proceed =
            status == AIRY_OK &&
            (!run->params->progress ||
             run->params->progress(run->params->user, run->out->resumed + run->out->frames,
                                   run->total_rows));
        if (status != AIRY_OK)
            airy_run_fail(run, status);

        pthread_mutex_lock(&run->lock);
        slot->state = AIRY_SLOT_FREE;
        if (!proceed && !run->failed)
            run->stopped = true;
        pthread_cond_broadcast(&run->changed);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}
