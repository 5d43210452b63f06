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
    struct opened *next;
};

struct airy_context {
    pthread_mutex_t lock;
    struct opened *first;
};

static airy_context process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void close_all(airy_context *context)
{
    pthread_mutex_lock(&context->lock);
    while (context->first) {
        struct opened *one = context->first;
        context->first = one->next;
        airy_device_destroy(&one->device);
        free(one->spec);
        free(one);
    }
    pthread_mutex_unlock(&context->lock);
}

airy_status airy_context_create(airy_context **context)
{
    AIRY_FAIL_IF(!context, AIRY_ERR_PARAM, "airy_context_create: context is NULL");
    AIRY_TRY(airy_memory_calloc((void **)context, 1, sizeof(airy_context), "a context"));
    pthread_mutex_init(&(*context)->lock, NULL);
    return AIRY_OK;
}

void airy_context_destroy(airy_context **context)
{
    if (!context || !*context)
        return;
    close_all(*context);
    pthread_mutex_destroy(&(*context)->lock);
    free(*context);
    *context = NULL;
}

void airy_context_release(void)
{
    close_all(&process);
}

static bool is_same(const struct opened *one, const char *spec, const airy_device_params *params)
{
    const bool same = one->spec && spec ? strcmp(one->spec, spec) == 0 : one->spec == spec;
    return same && one->params.threads == params->threads &&
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
