/* What jobs share: devices, each opened when a job first needs it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/job.h"

struct opened {
    char *spec; /* NULL: none was named */
    airy_device_params params;
    airy_device *device;
    bool has_failed; /* nobody gets it any more */
    struct opened *next;
};

struct airy_context {
    pthread_mutex_t lock;
    struct opened *first;
    size_t users; /* jobs, and the one who has created it */
};

static airy_context process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void close_all(airy_context *context)
{
    while (context->first) {
        struct opened *one = context->first;
        context->first = one->next;
        airy_device_destroy(&one->device);
        free(one->spec);
        free(one);
    }
}

void airy_context_hold(airy_context *context)
{
    airy_context *c = context ? context : &process;
    pthread_mutex_lock(&c->lock);
    c->users++;
    pthread_mutex_unlock(&c->lock);
}

/* The devices of the process stay open between jobs: to open them takes longer than most jobs. */
void airy_context_let_go(airy_context *context)
{
    airy_context *c = context ? context : &process;
    pthread_mutex_lock(&c->lock);
    const bool ends = --c->users == 0 && context;
    pthread_mutex_unlock(&c->lock);
    if (!ends)
        return;
    close_all(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

airy_status airy_context_create(airy_context **context)
{
    AIRY_FAIL_IF(!context, AIRY_ERR_PARAM, "airy_context_create: context is NULL");
    AIRY_TRY(airy_memory_calloc((void **)context, 1, sizeof(airy_context), "a context"));
    pthread_mutex_init(&(*context)->lock, NULL);
    (*context)->users = 1;
    return AIRY_OK;
}

void airy_context_destroy(airy_context **context)
{
    if (!context || !*context)
        return;
    airy_context_let_go(*context);
    *context = NULL;
}

void airy_context_release(void)
{
    pthread_mutex_lock(&process.lock);
    if (process.users == 0)
        close_all(&process);
    pthread_mutex_unlock(&process.lock);
}

void airy_context_drop_device(airy_context *context, const airy_device *device)
{
    airy_context *c = context ? context : &process;
    pthread_mutex_lock(&c->lock);
    for (struct opened *one = c->first; one; one = one->next)
        one->has_failed |= one->device == device;
    pthread_mutex_unlock(&c->lock);
}

static bool is_same(const struct opened *one, const char *spec, const airy_device_params *params)
{
    const bool same = one->spec && spec ? strcmp(one->spec, spec) == 0 : one->spec == spec;
    return same && !one->has_failed && one->params.threads == params->threads &&
           one->params.profile == params->profile &&
           one->params.memory_limit == params->memory_limit;
}

static airy_status open_device(struct opened **opened, const char *spec,
                               const airy_device_params *params)
{
    struct opened *one;
    AIRY_TRY(airy_memory_calloc((void **)&one, 1, sizeof(*one), "a device"));
    one->params = *params;
    one->spec = spec ? strdup(spec) : NULL;
    const airy_status status = spec && !one->spec
                                   ? airy_fail(AIRY_ERR_MEMORY, "out of memory for a device")
                                   : airy_device_create(&one->device, spec, params);
    if (status != AIRY_OK) {
        free(one->spec);
        free(one);
        return status;
    }
    *opened = one;
    return AIRY_OK;
}

airy_status airy_context_device(airy_context *context, airy_device **device, const char *spec,
                                const airy_device_params *params)
{
    airy_context *c = context ? context : &process;
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&c->lock);
    struct opened *one = c->first;
    while (one && !is_same(one, spec, params))
        one = one->next;
    if (!one) {
        status = open_device(&one, spec, params);
        if (status == AIRY_OK) {
            one->next = c->first;
            c->first = one;
        }
    }
    if (status == AIRY_OK)
        *device = one->device;
    pthread_mutex_unlock(&c->lock);
    return status;
}
