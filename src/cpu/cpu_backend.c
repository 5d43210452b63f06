/*
 * The CPU as a device: memory of the host, work done in the calling thread with help from the
 * device's pool.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "background/background_fns.h"
#include "codec/codec_fns.h"
#include "core/backend.h"
#include "cpu/cpu_copy.h"
#include "integrate/integrate_fns.h"
#include "element/element_fns.h"
#include "filter/filter_fns.h"
#include "label/label_fns.h"
#include "oct/oct_fns.h"
#include "peaks/peaks_fns.h"
#include "reduce/reduce_fns.h"

/*
 * From this size on memory is asked for only after a look at what is left, and made present piece
 * by piece.
 */
static const size_t large_block = (size_t)4 << 20, touch_piece = (size_t)2 << 20;

static void read_model(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "CPU");
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof(line), f)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%.100s", value + 1 + strspn(value + 1, " \t"));
        break;
    }
    if (f)
        fclose(f);
}

static void list_cpu(bool ask_free, void (*add)(void *user, const airy_device_info *info),
                     void *user)
{
    airy_device_info info = {.max_group = 1, .fp64 = true, .usable = true};
    snprintf(info.spec, sizeof(info.spec), "cpu");
    snprintf(info.backend, sizeof(info.backend), "cpu");
    read_model(info.name, sizeof(info.name));
    snprintf(info.driver, sizeof(info.driver), "airy %s, %s", AIRY_VERSION, airy_cpu_name());
    info.memory = info.max_alloc = airy_memory_total();
    info.memory_free = ask_free ? airy_memory_available() : 0;
    info.units = airy_thread_limit();
    add(user, &info);
}

static airy_status open_cpu(airy_device *device)
{
    device->info.units = airy_pool_size(device->pool);
    return AIRY_OK;
}

static void close_cpu(airy_device *device)
{
    (void)device;
}

static uint64_t memory_free(airy_device *device)
{
    (void)device;
    return airy_memory_available();
}

struct touch_job {
    char *data;
    size_t size;
    atomic_bool refused;
};

/*
 * The kernel gives pages only when they are written; MADV_POPULATE_WRITE (Linux 5.14) does it in
 * one call and says no.
 */
static void touch(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct touch_job *job = arg;
    char *start = job->data + index * touch_piece;
    const size_t size = airy_min_size(touch_piece, job->size - index * touch_piece);
#ifdef MADV_POPULATE_WRITE
    if (madvise(start, airy_align_up(size, 4096), MADV_POPULATE_WRITE) == 0)
        return;
    if (errno != EINVAL) {
        atomic_store(&job->refused, true);
        return;
    }
#endif
    for (size_t i = 0; i < size; i += 4096)
        ((volatile char *)start)[i] = 0;
}

/* Memory that is there: a process that only finds out when it writes is killed rather than told. */
static airy_status take(airy_device *device, size_t size, void **block)
{
    if (size < large_block)
        return airy_memory_alloc(block, size);
    const uint64_t available = airy_memory_available();
    const uint64_t left = available - available / 32; /* the rest of the system goes on living */
    AIRY_FAIL_IF(size > left, AIRY_ERR_MEMORY, "the host has %llu bytes left",
                 (unsigned long long)left);
    void *p = NULL;
    AIRY_TRY(airy_memory_alloc(&p, size));
    struct touch_job job = {.data = p, .size = size};
    atomic_init(&job.refused, false);
    airy_pool_run(device->pool, (size + touch_piece - 1) / touch_piece, touch, &job);
    if (atomic_load(&job.refused)) {
        airy_memory_release(p);
        return airy_fail(AIRY_ERR_MEMORY, "the system refused some of %zu bytes of host memory",
                         size);
    }
    *block = p;
    return AIRY_OK;
}

static airy_status alloc(airy_device *device, size_t size, void **handle)
{
    return take(device, size, handle);
}

static void release(airy_device *device, void *handle)
{
    (void)device;
    airy_memory_release(handle);
}

static airy_status host_alloc(airy_device *device, size_t size, airy_host *host)
{
    return take(device, size, &host->data);
}

static void host_release(airy_device *device, airy_host *host)
{
    (void)device;
    airy_memory_release(host->data);
}

static airy_status queue_open(airy_queue *queue)
{
    queue->impl = NULL;
    return AIRY_OK;
}

static void queue_close(airy_queue *queue)
{
    (void)queue;
}

/* Work is done when the call that enqueues it returns. */
static airy_status nothing_to_do(airy_queue *queue)
{
    (void)queue;
    return AIRY_OK;
}

static airy_status event_record(airy_event *event, airy_queue *queue)
{
    (void)queue;
    event->time_ns = airy_clock_ns();
    return AIRY_OK;
}

static airy_status event_enqueue_wait(airy_queue *queue, const airy_event *event)
{
    (void)queue;
    (void)event;
    return AIRY_OK;
}

static airy_status event_wait(const airy_event *event)
{
    (void)event;
    return AIRY_OK;
}

static airy_status event_is_done(const airy_event *event, bool *done)
{
    (void)event;
    *done = true;
    return AIRY_OK;
}

static void event_close(airy_event *event)
{
    (void)event;
}

static void copy_profiled(airy_queue *queue, const char *name, bool transfer,
                          const struct airy_strided *s)
{
    airy_profile *profile = airy_profile_of(queue->device);
    const uint64_t start = profile ? airy_clock_ns() : 0;
    airy_strided_copy(queue->device->pool, s);
    if (profile)
        airy_profile_add(profile, name, transfer, (double)(airy_clock_ns() - start) * 1e-6,
                         (double)airy_strided_size(s));
}

static airy_status push(airy_queue *queue, const airy_array *dst, const void *data, bool pinned)
{
    (void)pinned;
    struct airy_strided s;
    airy_strided_make(&s, dst, NULL);
    s.src = data;
    copy_profiled(queue, "push", true, &s);
    return AIRY_OK;
}

static airy_status pull(airy_queue *queue, void *data, const airy_array *src, bool pinned)
{
    (void)pinned;
    struct airy_strided s;
    airy_strided_make(&s, NULL, src);
    s.dst = data;
    copy_profiled(queue, "pull", true, &s);
    return AIRY_OK;
}

static airy_status copy(airy_queue *queue, const airy_array *dst, const airy_array *src)
{
    struct airy_strided s;
    airy_strided_make(&s, dst, src);
    copy_profiled(queue, "copy inside", false, &s);
    return AIRY_OK;
}

static airy_status fill(airy_queue *queue, const airy_array *dst, const void *pattern)
{
    struct airy_strided s;
    airy_strided_make(&s, dst, dst);
    s.src = NULL;
    s.pattern_size = airy_dtype_size(dst->dtype);
    memcpy(s.pattern, pattern, s.pattern_size);
    copy_profiled(queue, "fill", false, &s);
    return AIRY_OK;
}

const struct airy_backend airy_backend_cpu = {
    .name = "cpu",
    .in_place = true,
    .list = list_cpu,
    .open = open_cpu,
    .close = close_cpu,
    .memory_free = memory_free,
    .alloc = alloc,
    .release = release,
    .host_alloc = host_alloc,
    .host_release = host_release,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .flush = nothing_to_do,
    .finish = nothing_to_do,
    .event_record = event_record,
    .event_enqueue_wait = event_enqueue_wait,
    .event_wait = event_wait,
    .event_is_done = event_is_done,
    .event_close = event_close,
    .push = push,
    .pull = pull,
    .copy = copy,
    .fill = fill,
    .codec = &airy_codec_cpu,
    .integrate = &airy_integrate_cpu,
    .reduce = &airy_reduce_cpu,
    .label = &airy_label_cpu,
    .filter = &airy_filter_cpu,
    .element = &airy_element_cpu,
    .background = &airy_background_cpu,
    .oct = &airy_oct_cpu,
    .peaks = &airy_peaks_cpu,
};
