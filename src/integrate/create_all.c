/* Integrators on several devices, made at the same time. */
#include <pthread.h>
#include <stdlib.h>

#include "airy/integrate.h"
#include "base/error.h"
#include "base/memory.h"

struct making {
    airy_integrator **integrator;
    airy_device *device;
    const airy_geometry *geometry;
    const airy_integrator_params *params;
    pthread_t thread;
    airy_error error; /* the record of its thread */
};

static void *make(void *arg)
{
    struct making *m = arg;
    (void)airy_error_first(
        &m->error, airy_integrator_create(m->integrator, m->device, m->geometry, m->params));
    return NULL;
}

airy_status airy_integrator_create_all(airy_integrator **integrators, airy_device *const *devices,
                                       size_t count, const airy_geometry *geometry,
                                       const airy_integrator_params *params)
{
    struct making *all;
    size_t started = 0;
    AIRY_FAIL_IF(!integrators || !devices || count == 0, AIRY_ERR_PARAM,
                 "airy_integrator_create_all: integrators or devices is missing");
    AIRY_TRY(airy_memory_calloc((void **)&all, count, sizeof(*all), "integrators"));
    for (size_t i = 0; i < count; i++)
        all[i] = (struct making){.integrator = &integrators[i],
                                 .device = devices[i],
                                 .geometry = geometry,
                                 .params = params};
    while (started + 1 < count &&
           pthread_create(&all[started].thread, NULL, make, &all[started]) == 0)
        started++;
    for (size_t i = started; i < count; i++)
        make(&all[i]);
    airy_error error = {.status = AIRY_OK};
    for (size_t i = 0; i < count; i++) {
        if (i < started)
            pthread_join(all[i].thread, NULL);
        if (error.status == AIRY_OK)
            error = all[i].error;
    }
    free(all);
    return airy_error_restore(&error);
}
