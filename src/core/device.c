#include "airy/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/numa.h"
#include "core/registry.h"

/* In this order in every list; the CPU is the first. */
static const struct airy_backend *const backends[] = {&airy_backend_cpu, &airy_backend_opencl};

enum { BACKENDS = sizeof(backends) / sizeof(backends[0]), MAX_THREADS = 1024 };

const struct airy_backend *airy_backend_host(void)
{
    return &airy_backend_cpu;
}

struct registry {
    struct airy_device_entry *entries;
    size_t count;
    unsigned gpus;
    const struct airy_backend *backend; /* that is listing */
    bool failed;
};

static void add_entry(void *user, const airy_device_info *info)
{
    struct registry *r = user;
    struct airy_device_entry *grown = realloc(r->entries, (r->count + 1) * sizeof(*grown));
    if (!grown) {
        r->failed = true;
        return;
    }
    r->entries = grown;
    struct airy_device_entry *e = &grown[r->count++];
    e->info = *info;
    e->backend = r->backend;
    memcpy(e->native, info->spec, sizeof(e->native));
    if (info->gpu)
        snprintf(e->info.spec, sizeof(e->info.spec), "gpu:%u", r->gpus++);
}

/*
 * The first `count` back ends' devices: 1 leaves the drivers of GPUs alone. ask_free: with their
 * free memory.
 */
static airy_status collect(struct registry *r, size_t count, bool ask_free)
{
    memset(r, 0, sizeof(*r));
    for (size_t i = 0; i < count; i++) {
        r->backend = backends[i];
        r->backend->list(ask_free, add_entry, r);
    }
    if (r->failed)
        free(r->entries);
    AIRY_FAIL_IF(r->failed, AIRY_ERR_MEMORY, "cannot allocate a list of devices");
    return AIRY_OK;
}

airy_status airy_device_collect(struct airy_device_entry **entries, size_t *count)
{
    struct registry r;
    AIRY_TRY(collect(&r, BACKENDS, false));
    *entries = r.entries;
    *count = r.count;
    return AIRY_OK;
}

/* What was asked for: spec, else the environment; NULL for the default. */
static const char *wanted(const char *spec)
{
    const char *environment = getenv("AIRY_DEVICE");
    return spec ? spec : environment && *environment ? environment : NULL;
}

/* What a job without a spec would take: with AIRY_DEVICE it may be several. */
static void mark_default(airy_device_info *list, const struct registry *r)
{
    const char *want = wanted(NULL);
    size_t chosen;
    if (want && strcasecmp(want, "gpu:all") == 0) {
        for (size_t i = 0; i < r->count; i++)
            list[i].is_default = list[i].gpu && list[i].usable;
        return;
    }
    do {
        char spec[256];
        const size_t length = want ? strcspn(want, ",") : 0;
        snprintf(spec, sizeof(spec), "%.*s", (int)(length < 255 ? length : 255), want ? want : "");
        if (airy_device_match(&chosen, r->entries, r->count, want ? spec : NULL) == AIRY_OK)
            list[chosen].is_default = true;
        want = want && want[length] ? want + length + 1 : NULL;
    } while (want);
}

airy_status airy_device_list(airy_device_info **list, size_t *count)
{
    struct registry r;
    void *block;
    AIRY_FAIL_IF(!list || !count, AIRY_ERR_PARAM, "airy_device_list: argument is NULL");
    AIRY_TRY(collect(&r, BACKENDS, true));
    const airy_status status =
        airy_memory_calloc(&block, r.count, sizeof(airy_device_info), "a list of devices");
    if (status == AIRY_OK) {
        airy_device_info *out = block;
        for (size_t i = 0; i < r.count; i++)
            out[i] = r.entries[i].info;
        mark_default(out, &r);
        *list = out;
        *count = r.count;
    }
    free(r.entries);
    return status;
}

void airy_device_list_free(airy_device_info *list)
{
    free(list);
}

static airy_status open_device(airy_device *device, const struct airy_device_entry *entry)
{
    device->backend = entry->backend;
    device->info = entry->info;
    device->node = AIRY_NUMA_NONE;
    memcpy(device->info.spec, entry->native, sizeof(device->info.spec));
    AIRY_TRY(airy_pool_create(&device->pool, device->params.threads));
    if (device->params.profile)
        AIRY_TRY(airy_profile_create(&device->profile));
    AIRY_TRY(device->backend->open(device));
    memcpy(device->info.spec, entry->info.spec, sizeof(device->info.spec));
    device->memory.limit = device->params.memory_limit ? device->params.memory_limit
                                                       : device->info.memory;
    airy_tuning_open(device);
    return AIRY_OK;
}

static void free_device(airy_device *device)
{
    airy_profile_destroy(&device->profile);
    airy_pool_destroy(&device->pool);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

airy_status airy_device_create(airy_device **device, const char *spec,
                               const airy_device_params *params)
{
    struct registry r;
    size_t chosen = 0;
    void *block;
    AIRY_FAIL_IF(!device, AIRY_ERR_PARAM, "airy_device_create: device is NULL");
    AIRY_FAIL_ON_IF(params && params->threads > MAX_THREADS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %u, expected at most %d", "threads", params->threads, MAX_THREADS);
    const char *want = wanted(spec);
    AIRY_TRY(collect(&r, want && strcasecmp(want, "cpu") == 0 ? 1 : BACKENDS, false));
    airy_status status = airy_device_match(&chosen, r.entries, r.count, want);
    if (status != AIRY_OK && !spec && want)
        airy_fail_context(status, "AIRY_DEVICE=%s", want);
    if (status == AIRY_OK)
        status = airy_memory_calloc(&block, 1, sizeof(airy_device), "a device");
    if (status == AIRY_OK) {
        airy_device *d = block;
        d->params = params ? *params : (airy_device_params){0};
        pthread_mutex_init(&d->lock, NULL);
        status = open_device(d, &r.entries[chosen]);
        if (status == AIRY_OK)
            *device = d;
        else
            free_device(d);
    }
    free(r.entries);
    return status;
}

void airy_device_destroy(airy_device **device)
{
    if (!device || !*device)
        return;
    airy_device *d = *device;
    if (d->live || d->hosts)
        airy_log(AIRY_LOG_WARN, "device %s is destroyed before %llu of its arrays or buffers",
                 d->info.spec, (unsigned long long)d->memory.count);
    d->backend->close(d);
    free_device(d);
    *device = NULL;
}

airy_status airy_device_get_info(const airy_device *device, airy_device_info *info)
{
    AIRY_FAIL_IF(!device || !info, AIRY_ERR_PARAM, "airy_device_get_info: argument is NULL");
    *info = device->info;
    info->memory_free = device->backend->memory_free((airy_device *)device);
    return AIRY_OK;
}

airy_status airy_device_start(const airy_device *device, airy_start_info *info)
{
    AIRY_FAIL_IF(!device || !info, AIRY_ERR_PARAM, "airy_device_start: argument is NULL");
    *info = (airy_start_info){0};
    if (device->backend->start)
        device->backend->start(device, info);
    return AIRY_OK;
}

const char *airy_device_spec(const airy_device *device)
{
    return device ? device->info.spec : "?";
}
