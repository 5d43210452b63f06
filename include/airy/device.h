/**
 * Devices, queues, events, page-locked host memory, memory accounting. Every program begins with a
 * device and a queue:
 *
 *   airy_device *device = NULL;
 *   airy_queue *queue = NULL;
 *   if (airy_device_create(&device, NULL, NULL) || airy_queue_create(&queue, device)) {
 *       fprintf(stderr, "%s\n", airy_last_error());
 *       return 1;
 *   }
 *   ...                              // arrays and operations
 *   airy_queue_destroy(&queue);
 *   airy_device_destroy(&device);
 *
 * A device is the CPU ("cpu") or one OpenCL device ("gpu:0", "opencl:0:0"). Work is enqueued on a
 * queue, runs in order there, and may return before it is done; errors of the work itself wait for
 * airy_queue_finish(). Children (queues, arrays, events, host memory, integrators) are destroyed
 * before their device.
 */
#ifndef AIRY_DEVICE_H
#define AIRY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: any thread. */
typedef struct airy_device airy_device;
/** Thread-safety: one thread at a time; different queues of a device from different threads. */
typedef struct airy_queue airy_queue;
/** Thread-safety: one thread at a time. */
typedef struct airy_event airy_event;
/** Thread-safety: the bytes are the caller's; create and destroy from any thread. */
typedef struct airy_host airy_host;

/** What is known about a device, also of one that cannot be used (why is the reason then). */
typedef struct airy_device_info {
    char spec[64];        /**< what opens it: "cpu", "gpu:0", "opencl:1:0" */
    char name[128];       /**< the vendor's name */
    char backend[16];     /**< "cpu" or "opencl" */
    char driver[128];     /**< driver and platform, or the SIMD flags of the CPU */
    char why[256];        /**< why it is not usable; "" when it is */
    uint64_t memory;      /**< bytes in total */
    uint64_t memory_free; /**< bytes free now; 0 when unknown */
    uint64_t max_alloc;   /**< bytes of the largest single allocation the driver admits */
    uint64_t local_mem;   /**< bytes of local memory of a work-group; 0 on the CPU */
    uint32_t units;       /**< compute units, or threads the CPU pool would have */
    uint32_t max_group;   /**< largest work-group; 1 on the CPU */
    bool fp64;            /**< has double precision */
    bool gpu;             /**< OpenCL reports a GPU */
    bool usable;
    bool is_default; /**< what spec NULL would open */
} airy_device_info;

/**
 * List all devices, usable or not; the CPU is always the first. Where an OpenCL library or a
 * platform could not be used at all, an entry with usable = false and a reason stands for it.
 *
 * @param list   out; freed with airy_device_list_free
 * @param count  out; at least 1
 * Threads: any. Takes as long as the drivers need to answer (0.1 to 2 s the first time).
 */
AIRY_API airy_status airy_device_list(airy_device_info **list, size_t *count);
AIRY_API void airy_device_list_free(airy_device_info *list);

/** Zeroed is the default. */
typedef struct airy_device_params {
    uint32_t threads; /**< CPU pool size; 0: what affinity mask and cgroup quota allow; at most
                           1024 */
    bool profile;     /**< record every kernel, parallel loop and copy */
    /**
     * Bytes that arrays, scratch and plans may use on it, and as many of airy_host; on the CPU all
     * of it together, with what integrators keep. 0: no limit but the device's.
     */
    uint64_t memory_limit;
    /**
     * Return before the driver has made its context, which takes up to a second and goes on in a
     * thread: geometry and matrix of an integrator are made meanwhile. What fails in it is
     * the error of every call that needs it.
     */
    bool background;
} airy_device_params;

/**
 * Open a device.
 *
 * @param device  out
 * @param spec    "cpu", "gpu" (the only or first usable GPU), "gpu:N", "opencl" (where there is one
 *                usable device of OpenCL), "opencl:P:D", or a part of
 *                a name (case is ignored); one device, so not "gpu:all". NULL: the environment's
 *                AIRY_DEVICE, else the first GPU that works, else the CPU.
 * @param params  NULL for defaults
 * Errors: AIRY_ERR_DEVICE when nothing or more than one device answers to spec (the sentence lists
 *         what there is), or its driver fails; AIRY_ERR_PARAM for an odd spec. There is never a
 *         fallback to another device.
 */
AIRY_API airy_status airy_device_create(airy_device **device, const char *spec,
                                        const airy_device_params *params);
AIRY_API void airy_device_destroy(airy_device **device);

/**
 * Open several devices for one job: "gpu:all", every usable GPU, or specs separated by commas, each
 * as for airy_device_create; any other spec and NULL open the one device that it opens.
 *
 * @param devices  out, in the order of the spec; freed with airy_device_destroy_all
 * @param count    out, at least 1
 * @param params   for each of them
 * Errors: as airy_device_create; AIRY_ERR_DEVICE where there is no usable GPU; AIRY_ERR_PARAM where
 *         two specs are one device. One that fails closes the others.
 */
AIRY_API airy_status airy_device_create_all(airy_device ***devices, size_t *count, const char *spec,
                                            const airy_device_params *params);
AIRY_API void airy_device_destroy_all(airy_device ***devices, size_t count);

AIRY_API airy_status airy_device_get_info(const airy_device *device, airy_device_info *info);
/** Return the short spec that it was opened with, for messages. Lives as long as the device. */
AIRY_API const char *airy_device_spec(const airy_device *device);

/** Memory Airy holds on a device: arrays, scratch, plans, page-locked host memory apart. */
typedef struct airy_memory_info {
    uint64_t in_use, peak;           /**< bytes */
    uint64_t count;                  /**< live allocations */
    uint64_t largest;                /**< bytes of the largest live allocation */
    uint64_t limit;                  /**< the limit set, or the device's memory */
    uint64_t host_in_use, host_peak; /**< bytes of airy_host */
} airy_memory_info;

AIRY_API airy_status airy_device_memory(const airy_device *device, airy_memory_info *info);

/** What opening a device and compiling for it has cost so far; all 0 on the CPU. */
typedef struct airy_start_info {
    double context_seconds;  /**< the driver's context, within airy_device_create or behind it */
    double programs_seconds; /**< kernels, loaded from the cache folder or compiled */
    uint32_t programs;       /**< how many */
    uint32_t compiled;       /**< of them not from the cache folder */
} airy_start_info;

AIRY_API airy_status airy_device_start(const airy_device *device, airy_start_info *info);

AIRY_API airy_status airy_queue_create(airy_queue **queue, airy_device *device);
/**
 * Finish the queue and destroy it; an error of pending work is lost, so call airy_queue_finish
 * before.
 */
AIRY_API void airy_queue_destroy(airy_queue **queue);
/** Hand the queued work to the driver now, without waiting. */
AIRY_API airy_status airy_queue_flush(airy_queue *queue);
/**
 * Wait until all work of the queue is done. Returns the first error of that work, and forgets it.
 */
AIRY_API airy_status airy_queue_finish(airy_queue *queue);
AIRY_API airy_device *airy_queue_device(const airy_queue *queue);

/** Create an event. Events order work between queues of one device and measure time. */
AIRY_API airy_status airy_event_create(airy_event **event, airy_device *device);
AIRY_API void airy_event_destroy(airy_event **event);
/** Let the event happen when all work enqueued on the queue so far is done. */
AIRY_API airy_status airy_event_record(airy_event *event, airy_queue *queue);
/**
 * Let work that is enqueued on the queue from now on start after the event. A never recorded event
 * has happened.
 */
AIRY_API airy_status airy_queue_wait(airy_queue *queue, const airy_event *event);
/** Block the calling thread until the event has happened. */
AIRY_API airy_status airy_event_wait(const airy_event *event);
/** Return whether it has happened, without waiting. Errors: as airy_event_wait. */
AIRY_API airy_status airy_event_is_done(const airy_event *event, bool *done);

/**
 * Allocate host memory that copies run fastest from and to: page-locked on OpenCL, 64-byte aligned
 * on the CPU. Copies from and to it are asynchronous; from other memory they have read it before
 * they return. Asynchronous copies go on after their call has returned: finish the queue, or wait
 * for an event behind the copy, before the bytes are changed, read or destroyed.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY (the sentence gives wanted, in use, limit).
 */
AIRY_API airy_status airy_host_create(airy_host **host, airy_device *device, size_t size);
AIRY_API void airy_host_destroy(airy_host **host);
AIRY_API void *airy_host_data(airy_host *host);
AIRY_API size_t airy_host_size(const airy_host *host);

/** One line of the profile. Times in milliseconds. */
typedef struct airy_profile_row {
    char name[48];
    bool transfer; /**< a copy between host and device */
    uint64_t count;
    double min, median, max, mean, std, total; /**< ms; std: population */
    double bytes;                              /**< sum over all calls, as the operation counts
                                                    them; 0 unknown */
} airy_profile_row;

/**
 * Report what ran on the device since it was opened with params.profile: one row for each kernel,
 * parallel loop and kind of copy, largest total first. The call waits for the work that is enqueued
 * so far. Warm-ups are not counted: those of runs and streams as they are created, and
 * airy_oct_rehearse. Empty when profiling is off. Free with airy_profile_free.
 *
 * Threads: any, while others create, use and destroy queues of the device.
 */
AIRY_API airy_status airy_profile_get(const airy_device *device, airy_profile_row **rows,
                                      size_t *count);
AIRY_API void airy_profile_free(airy_profile_row *rows);
/**
 * Format the rows of airy_profile_get as a table: kernel, count, min, median, max, mean, std in ms,
 * GB/s, share; then the copies between host and device, and the totals. It waits as
 * airy_profile_get does.
 *
 * @param text  out, several lines, each with a newline at its end; released with free()
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_profile_format(const airy_device *device, char **text);

#ifdef __cplusplus
}
#endif
#endif
