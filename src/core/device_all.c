#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/registry.h"

/* One of the devices; opened by a thread of its own, because a GPU's context takes a while. */
struct opening {
    const char *spec;
    const airy_device_params *params;
    airy_device *device;
    airy_error error; /* of the thread */
};

static void *open_one(void *arg)
{
    struct opening *o = arg;
    airy_error_first(&o->error, airy_device_create(&o->device, o->spec, o->params));
    return NULL;
}

/* "gpu:0,gpu:1,...": the usable ones. malloc'ed. */
static airy_status list_gpus(char **specs)
{
    struct airy_device_entry *list = NULL;
    size_t count = 0, used = 0;
    AIRY_TRY(airy_device_collect(&list, &count));
    char *text = NULL;
    const airy_status status = airy_memory_calloc((void **)&text, count + 1,
                                                  sizeof(list[0].info.spec) + 1, "device specs");
    for (size_t i = 0; status == AIRY_OK && i < count; i++)
        if (list[i].info.gpu && list[i].info.usable)
            used += (size_t)sprintf(text + used, "%s%s", used ? "," : "", list[i].info.spec);
    free(list);
    AIRY_TRY(status);
    if (used == 0) {
        free(text);
        airy_device *none = NULL; /* the sentence says what there is */
        return airy_device_create(&none, "gpu", NULL);
    }
    *specs = text;
    return AIRY_OK;
}

static size_t count_specs(const char *specs)
{
    size_t count = 1;
    for (; *specs; specs++)
        count += *specs == ',';
    return count;
}

static airy_status check_distinct(const struct opening *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            AIRY_FAIL_IF(strcmp(airy_device_spec(all[i].device), airy_device_spec(all[k].device)) ==
                             0,
                         AIRY_ERR_PARAM, "device specs '%s' and '%s' are both device %s",
                         all[k].spec, all[i].spec, airy_device_spec(all[i].device));
    return AIRY_OK;
}

/* specs: cut at its commas. */
static airy_status open_all(struct opening *all, size_t count, char *specs,
                            const airy_device_params *params)
{
    pthread_t *threads = NULL;
    struct airy_device_entry *list = NULL;
    size_t started = 0, found;
    /* Drivers set themselves up at the first question; PoCL 3.1 not twice at the same time. */
    AIRY_TRY(airy_device_collect(&list, &found));
    free(list);
    AIRY_TRY(airy_memory_calloc((void **)&threads, count, sizeof(threads[0]), "threads"));
    for (size_t i = 0; i < count; i++) {
        all[i] = (struct opening){.spec = specs, .params = params};
        specs += strcspn(specs, ",");
        if (*specs)
            *specs++ = 0;
    }
    while (started < count && pthread_create(&threads[started], NULL, open_one, &all[started]) == 0)
        started++;
    for (size_t i = started; i < count; i++)
        open_one(&all[i]);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    for (size_t i = 0; i < count; i++)
        if (all[i].error.status != AIRY_OK)
            return airy_error_restore(&all[i].error);
    return check_distinct(all, count);
}

static airy_status open_list(airy_device ***devices, size_t *count, char *specs,
                             const airy_device_params *params)
{
    const size_t wanted = count_specs(specs);
    struct opening *all = NULL;
    airy_device **made = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&all, wanted, sizeof(all[0]), "devices"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&made, wanted, sizeof(void *), "devices"));
    status = open_all(all, wanted, specs, params);
    for (size_t i = 0; i < wanted; i++)
        made[i] = all[i].device;
    if (status == AIRY_OK) {
        *devices = made;
        *count = wanted;
        made = NULL;
    }
out:
    if (made) {
        airy_error error = {.status = AIRY_OK};
        (void)airy_error_first(&error, status);
        airy_device_destroy_all(&made, wanted);
        status = airy_error_restore(&error);
    }
    free(all);
    return status;
}

airy_status airy_device_create_all(airy_device ***devices, size_t *count, const char *spec,
                                   const airy_device_params *params)
{
    AIRY_FAIL_IF(!devices || !count, AIRY_ERR_PARAM, "airy_device_create_all: argument is NULL");
    const char *environment = getenv("AIRY_DEVICE");
    const char *want = spec ? spec : environment && *environment ? environment : NULL;
    char *specs = NULL;
    if (!want || (strcasecmp(want, "gpu:all") != 0 && !strchr(want, ','))) {
        airy_device **made = NULL;
        AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(void *), "devices"));
        const airy_status status = airy_device_create(&made[0], spec, params);
        if (status != AIRY_OK) {
            free(made);
            return status;
        }
        *devices = made;
        *count = 1;
        return AIRY_OK;
    }
    if (strcasecmp(want, "gpu:all") == 0) {
        AIRY_TRY(list_gpus(&specs));
    } else {
        specs = strdup(want);
        AIRY_FAIL_IF(!specs, AIRY_ERR_MEMORY, "out of memory for '%s'", want);
    }
    const airy_status status = open_list(devices, count, specs, params);
    free(specs);
    return status;
}

void airy_device_destroy_all(airy_device ***devices, size_t count)
{
    if (!devices || !*devices)
        return;
    for (size_t i = 0; i < count; i++)
        airy_device_destroy(&(*devices)[i]);
    free(*devices);
    *devices = NULL;
}
