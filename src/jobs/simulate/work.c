#include "jobs/simulate/work.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/size.h"

struct making {
    airy_job *job;
    const struct airy_parts *parts;
    pthread_mutex_t lock; /* of everything below */
    size_t done;          /* of all parts */
    airy_error error;
    bool stopped;
};

static void make_part(void *arg, size_t index, unsigned worker)
{
    struct making *m = arg;
    const struct airy_parts *p = m->parts;
    pthread_mutex_lock(&m->lock);
    const bool goes_on = !m->stopped;
    pthread_mutex_unlock(&m->lock);
    if (!goes_on)
        return;
    const airy_status status = p->make(p->user, p->first + index, worker);
    pthread_mutex_lock(&m->lock);
    (void)airy_error_first(&m->error, status);
    m->done++;
    const bool proceed = airy_job_step(m->job, m->done / p->of_step, p->total / p->of_step);
    m->stopped |= status != AIRY_OK || (!proceed && m->done < p->total);
    pthread_mutex_unlock(&m->lock);
}

airy_status airy_job_make_parts(airy_job *job, airy_pool *pool, const struct airy_parts *p)
{
    struct making making = {.job = job, .parts = p, .done = p->first};
    pthread_mutex_init(&making.lock, NULL);
    airy_pool_run(pool, p->last - p->first, make_part, &making);
    pthread_mutex_destroy(&making.lock);
    if (making.error.status != AIRY_OK)
        return airy_error_restore(&making.error);
    AIRY_FAIL_IF(making.done < p->last, AIRY_ERR_CANCELLED, "%s: cancelled", p->name);
    return AIRY_OK;
}

/* Frames on their way into memory. */
struct array {
    const struct airy_made_frames *made;
    char *data;
    size_t size; /* bytes of a frame */
};

static airy_status make_frame(void *user, size_t index, unsigned worker)
{
    const struct array *a = user;
    (void)worker;
    return a->made->make(a->made->source, index, a->data + index * a->size);
}

airy_status airy_job_make_stack(airy_job *job, const struct airy_made_frames *m)
{
    struct array array = {.made = m};
    const airy_host_view view = {
        .dtype = m->dtype, .ndim = 3, .shape = {m->frames, m->height, m->width}};
    const struct airy_parts parts = {.last = m->frames,
                                     .total = m->frames,
                                     .of_step = 1,
                                     .name = "the frames",
                                     .make = make_frame,
                                     .user = &array};
    airy_pool *pool = NULL;
    size_t all = 0;
    const bool large = airy_mul_size(&array.size, m->height, m->width) ||
                       airy_mul_size(&array.size, array.size, airy_dtype_size(m->dtype)) ||
                       airy_mul_size(&all, array.size, m->frames);
    AIRY_FAIL_HINT_IF(large || (m->memory_limit && all > m->memory_limit), AIRY_ERR_MEMORY,
                      AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %" PRIu64 ": %zu frames of %zu bytes are larger; name an output",
                      "memory-limit", m->memory_limit, m->frames, array.size);
    array.data = malloc(all);
    AIRY_FAIL_IF(!array.data, AIRY_ERR_MEMORY, "out of memory for %zu frames of %zu bytes",
                 m->frames, array.size);
    airy_status status = airy_pool_create(&pool, (unsigned)m->threads);
    if (status == AIRY_OK)
        status = airy_job_make_parts(job, pool, &parts);
    airy_pool_destroy(&pool);
    if (status != AIRY_OK) {
        free(array.data);
        return status;
    }
    airy_job_put_array(job, "stack", &view, array.data);
    return AIRY_OK;
}
