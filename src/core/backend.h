/*
 * What a back end provides. The front (src/core, the families) checks arguments and keeps the
 * books; back ends assert. A family's table is NULL where the back end has none of it.
 */
#ifndef AIRY_CORE_BACKEND_H
#define AIRY_CORE_BACKEND_H

#include "core/objects.h"

struct airy_codec_fns;      /* src/codec/codec_fns.h */
struct airy_integrate_fns;  /* src/integrate/integrate_fns.h */
struct airy_reduce_fns;     /* src/reduce/reduce_fns.h */
struct airy_label_fns;      /* src/label/label_fns.h */
struct airy_filter_fns;     /* src/filter/filter_fns.h */
struct airy_element_fns;    /* src/element/element_fns.h */
struct airy_background_fns; /* src/background/background_fns.h */
struct airy_oct_fns;        /* src/oct/oct_fns.h */
struct airy_peaks_fns;      /* src/peaks/peaks_fns.h */

struct airy_backend {
    const char *name;
    bool in_place; /* device memory is host memory: handles are addresses, queues are one */

    /*
     * Devices, usable or not; appended through add. Never fails: what cannot be used is an entry
     * with a reason. ask_free: fill memory_free too, which may take a management library a while.
     */
    void (*list)(bool ask_free, void (*add)(void *user, const airy_device_info *info), void *user);
    /* Fill device->impl and complete device->info. The spec is one that list gave. */
    airy_status (*open)(airy_device *device);
    void (*close)(airy_device *device);
    /* Bytes free now, 0 unknown. */
    uint64_t (*memory_free)(airy_device *device);
    /* NULL: nothing to say. */
    void (*start)(const airy_device *device, airy_start_info *info);
    /* NULL, or: bound the defaults of core/tuning.c to what the device admits, fill items, hash. */
    void (*tuning)(const airy_device *device, struct airy_tuning *tuning);

    /*
     * Memory; the front has checked limit and keeps the accounts. The memory is really there on
     * success, and it is zero unless the back end works in_place.
     */
    airy_status (*alloc)(airy_device *device, size_t size, void **handle);
    void (*release)(airy_device *device, void *handle);
    /* fills data and impl */
    airy_status (*host_alloc)(airy_device *device, size_t size, airy_host *host);
    void (*host_release)(airy_device *device, airy_host *host);

    airy_status (*queue_open)(airy_queue *queue); /* fills queue->impl */
    void (*queue_close)(airy_queue *queue);
    airy_status (*flush)(airy_queue *queue);
    airy_status (*finish)(
        airy_queue *queue); /* errors of the driver; kernels' own errors go through
                               airy_queue_set_error */

    airy_status (*event_record)(airy_event *event, airy_queue *queue); /* event->impl: replaced */
    airy_status (*event_enqueue_wait)(airy_queue *queue, const airy_event *event);
    airy_status (*event_wait)(const airy_event *event);
    airy_status (*event_is_done)(const airy_event *event, bool *done);
    void (*event_close)(airy_event *event);
    /* Wait for what is enqueued on the device, and add its times to the profile. NULL: they are
       added as the work is done. Any thread, while others enqueue. */
    void (*profile_settle)(const airy_device *device);

    /* Copies of whole arrays, strided on the device side. pinned: host memory is airy_host of this
     * device, so the copy may go on after the return; otherwise data must have been read (push) or
     * written (pull) by then. */
    airy_status (*push)(airy_queue *queue, const airy_array *dst, const void *data, bool pinned);
    airy_status (*pull)(airy_queue *queue, void *data, const airy_array *src, bool pinned);
    airy_status (*copy)(airy_queue *queue, const airy_array *dst, const airy_array *src);
    /* pattern: one element, 1, 2, 4 or 8 bytes */
    airy_status (*fill)(airy_queue *queue, const airy_array *dst, const void *pattern);

    const struct airy_codec_fns *codec;
    const struct airy_integrate_fns *integrate;
    const struct airy_reduce_fns *reduce;
    const struct airy_label_fns *label;
    const struct airy_filter_fns *filter;
    const struct airy_element_fns *element;
    const struct airy_background_fns *background;
    const struct airy_oct_fns *oct;
    const struct airy_peaks_fns *peaks;
};

extern const struct airy_backend airy_backend_cpu, airy_backend_opencl;

/* Return the back end whose device is the host. */
const struct airy_backend *airy_backend_host(void);
const struct airy_backend *airy_queue_backend(const airy_queue *queue);

#endif
