/* The core objects as the back ends see them. */
#ifndef AIRY_CORE_OBJECTS_H
#define AIRY_CORE_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "airy/array.h"
#include "airy/device.h"
#include "airy/error.h"
#include "base/thread.h"
#include "core/profile.h"
#include "core/tuning.h"

struct airy_device {
    const struct airy_backend *backend;
    airy_device_info info;
    airy_device_params params;
    airy_pool *pool;          /* for loops on the host: the CPU back end's work, plans of any
                                 back end */
    airy_profile *profile;    /* NULL: off */
    pthread_mutex_t lock;     /* of memory */
    airy_memory_info memory;  /* accounts; largest is found from live */
    struct airy_buffer *live; /* list of live buffers, for the accounts */
    struct airy_host *hosts;  /* list of page-locked pieces */
    struct airy_tuning tuning;
    int node;         /* of memory, that it is near to; negative: none */
    bool shares_host; /* kernels can work in memory of the host, over the link */
    void *impl;
};

/* The current value of a size that the device has. */
static inline uint32_t airy_tuned(const airy_device *device, enum airy_tune which)
{
    return device->tuning.entries[which].current;
}

/* A piece of device memory, shared by an array and its views. */
typedef struct airy_buffer {
    airy_device *device;
    size_t size;
    void *handle;  /* CPU: the address; OpenCL: cl_mem */
    bool borrowed; /* somebody else's memory: not in the accounts, not released */
    bool over;     /* somebody else's, but in the accounts: not released */
    atomic_uint references;
    struct airy_buffer *next, *previous;
} airy_buffer;

struct airy_array {
    airy_buffer *buffer;
    size_t offset; /* bytes from the start of the buffer */
    airy_dtype dtype;
    int ndim;
    size_t shape[AIRY_MAX_DIMS], pitch[AIRY_MAX_DIMS]; /* pitch in elements */
};

/*
 * Scratch of a queue: grows, is never given back before the queue goes, counts as the device's
 * memory.
 */
enum airy_scratch {
    AIRY_SCRATCH_FRAMES,
    AIRY_SCRATCH_PARTIALS,
    AIRY_SCRATCH_BLOCKS,
    AIRY_SCRATCH_SMALL,
    AIRY_SCRATCH_TURNS,  /* zeros, but while labels are found */
    AIRY_SCRATCH_LABELS, /* likewise */
    AIRY_SCRATCH_TALLY,  /* what groups count together: 0 between kernels */
    AIRY_SCRATCH_ANSWER, /* what a call's last kernel has to say */
    AIRY_SCRATCH_COUNT
};

struct airy_queue {
    airy_device *device;
    unsigned threads;  /* of the device's pool that get scratch of their own; 0: all */
    bool keeps_events; /* of kernels, too, as one of its own is recorded behind them */
    airy_buffer *scratch[AIRY_SCRATCH_COUNT];
    airy_error error; /* of enqueued work, for finish */
    void *impl;
};

struct airy_event {
    airy_device *device;
    bool recorded;
    uint64_t time_ns; /* CPU: when it was recorded */
    void *impl;
};

struct airy_host {
    airy_device *device;
    void *data;
    size_t size;
    bool shared; /* kernels of a device that shares_host work in it */
    void *impl;
    struct airy_host *next, *previous; /* of the device's list, to find whether an address is
                                          pinned */
};

/* Device memory with accounts: what names the purpose in the sentence of a failure. */
/*
 * Memory that is kept for the device without being one of its buffers, against its limit.
 * AIRY_ERR_MEMORY when it does not fit.
 */
airy_status airy_device_book(airy_device *device, uint64_t size, const char *what);
void airy_device_unbook(airy_device *device, uint64_t size);
/* Bytes that the limit leaves. */
uint64_t airy_device_room(airy_device *device);

airy_status airy_buffer_create(airy_buffer **buffer, airy_device *device, size_t size,
                               const char *what);
/* A buffer over memory that somebody else owns and keeps for longer. */
airy_status airy_buffer_borrow(airy_buffer **buffer, airy_device *device, size_t size,
                               void *handle);
/* The same of memory that nobody has accounted for, and that counts as one that was created. */
airy_status airy_buffer_over(airy_buffer **buffer, airy_device *device, size_t size, void *handle,
                             const char *what);
void airy_buffer_release(airy_buffer **buffer);
/* At least size bytes for use on this queue until the next request for the same slot. */
airy_status airy_queue_scratch(airy_queue *queue, enum airy_scratch slot, size_t size,
                               airy_buffer **buffer);
/*
 * The same, `each` bytes for each of *threads: those of the device's pool that the queue may have,
 * or fewer, and at least one, where that takes more than half of the memory that is left.
 */
airy_status airy_queue_thread_scratch(airy_queue *queue, enum airy_scratch slot, size_t each,
                                      unsigned *threads, airy_buffer **buffer);
/*
 * Keep the first error of enqueued work for airy_queue_finish; takes the calling thread's
 * record.
 */
void airy_queue_set_error(airy_queue *queue, airy_status status);

/* True if [data, data + size) lies in page-locked memory of this device. */
bool airy_host_contains(airy_device *device, const void *data, size_t size);
/* Elements follow each other without gaps. */
bool airy_array_is_tight(const airy_array *array);
/* In the same memory, and alike but for where they begin: dtype, shape, pitches. */
bool airy_array_is_like(const airy_array *a, const airy_array *b);
/*
 * How many arrays, from the first one on, are alike and lie one behind the other at equal distances,
 * as the planes of a cube do; step: that distance in elements, 0 of one array. Entries may be NULL,
 * but for the first.
 */
size_t airy_array_count_planes(const airy_array *const *arrays, size_t count, size_t *step);
/* Some element of one lies in the memory of the other. */
bool airy_array_overlaps(const airy_array *a, const airy_array *b);
/* CPU arrays only: the address of element 0. */
void *airy_array_address(const airy_array *array);
/*
 * A tight typed view of part of an array's bytes, for several results that come back in one copy.
 * offset: bytes, a multiple of the element size. Errors: AIRY_ERR_SHAPE.
 */
airy_status airy_array_view_as(airy_array **view, const airy_array *array, size_t offset,
                               airy_dtype dtype, int ndim, const size_t *shape);
/*
 * CPU devices only: an array of bytes over an airy_host, nothing copied; the host memory outlives
 * the array.
 */
airy_status airy_array_over_host(airy_array **array, airy_host *host);
/* Bytes of the caller's, which nothing accounts for and nobody writes, on a device that works in place. */
airy_status airy_array_over_memory(airy_array **array, airy_device *device, const void *memory,
                                   size_t size);
/* Like airy_host_create, for arrays over it, on a device that shares_host. */
airy_status airy_host_create_shared(airy_host **host, airy_device *device, size_t size);
/* "u32 [4, 10, 10] on cpu", for messages; text has at least 96 bytes. */
const char *airy_array_describe(const airy_array *array, char text[96]);
/*
 * value as one element of the array's dtype, the rest 0. AIRY_ERR_PARAM where the dtype does not
 * hold it.
 */
airy_status airy_array_pattern(uint8_t pattern[8], const airy_array *array, double value);
/* Checks that an array is on the queue's device; name is the parameter's. */
airy_status airy_check_device(const airy_queue *queue, const airy_array *array, const char *name);

#endif
