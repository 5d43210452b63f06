/* What jobs share: devices, each opened when a job first needs it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/job.h"

struct opened {
    char *spec; /* NULL: none was named */
    airy_device_params params;
    bool several; /* the spec may name more than one */
    airy_device **devices;
    size_t count;
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
        airy_device_destroy_all(&one->devices, one->count);
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
        for (size_t i = 0; i < one->count; i++)
            one->has_failed |= one->devices[i] == device;
    pthread_mutex_unlock(&c->lock);
}

static bool is_same(const struct opened *one, const char *spec, const airy_device_params *params,
                    bool several)
{
    const bool same = one->spec && spec ? strcmp(one->spec, spec) == 0 : one->spec == spec;
    return same && one->several == several && !one->has_failed &&
           one->params.background == params->background && one->params.threads == params->threads &&
           one->params.profile == params->profile &&
           one->params.memory_limit == params->memory_limit;
}

static airy_status open_devices(struct opened *one)
{
    if (one->several)
        return airy_device_create_all(&one->devices, &one->count, one->spec, &one->params);
    AIRY_TRY(airy_memory_calloc((void **)&one->devices, 1, sizeof(airy_device *), "a device"));
    one->count = 1;
    return airy_device_create(&one->devices[0], one->spec, &one->params);
}

static airy_status open_new(struct opened **opened, const char *spec,
                            const airy_device_params *params, bool several)
{
    struct opened *one;
    AIRY_TRY(airy_memory_calloc((void **)&one, 1, sizeof(*one), "a device"));
    one->params = *params;
    one->several = several;
    one->spec = spec ? strdup(spec) : NULL;
    const airy_status status = spec && !one->spec
                                   ? airy_fail(AIRY_ERR_MEMORY, "out of memory for a device")
                                   : open_devices(one);
    if (status != AIRY_OK) {
        free(one->devices);
        free(one->spec);
        free(one);
        return status;
    }
    *opened = one;
    return AIRY_OK;
}

static airy_status find_devices(airy_context *context, struct opened **found, const char *spec,
                                const airy_device_params *params, bool several)
{
    airy_context *c = context ? context : &process;
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&c->lock);
    struct opened *one = c->first;
    while (one && !is_same(one, spec, params, several))
        one = one->next;
    if (!one) {
        status = open_new(&one, spec, params, several);
        if (status == AIRY_OK) {
            one->next = c->first;
            c->first = one;
        }
    }
    *found = one;
    pthread_mutex_unlock(&c->lock);
    return status;
}

airy_status airy_context_device(airy_context *context, airy_device **device, const char *spec,
                                const airy_device_params *params)
{
    struct opened *one;
    AIRY_TRY(find_devices(context, &one, spec, params, false));
    *device = one->devices[0];
    return AIRY_OK;
}

airy_status airy_context_devices(airy_context *context, airy_device *const **devices, size_t *count,
                                 const char *spec, const airy_device_params *params)
{
    struct opened *one;
    AIRY_TRY(find_devices(context, &one, spec, params, true));
    *devices = one->devices;
    *count = one->count;
    return AIRY_OK;
}
