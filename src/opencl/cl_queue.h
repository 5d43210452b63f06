/* An open OpenCL queue: airy_queue.impl. Used by one thread at a time, like the queue itself. */
#ifndef AIRY_OPENCL_CL_QUEUE_H
#define AIRY_OPENCL_CL_QUEUE_H

#include "opencl/cl_device.h"

/*
 * Page-locked memory in between, for copies from and to memory that the driver cannot copy from in
 * the background: a ring, with the event of the copy that still uses each piece.
 */
enum {
    AIRY_CL_ANSWER_BYTES = 1 << 20,
    AIRY_CL_STAGING_BYTES = 16 << 20,
    AIRY_CL_STAGING_PIECE = 4 << 20,
    AIRY_CL_STAGING_PIECES = 64
};

struct airy_cl_staging {
    cl_mem buffer; /* NULL until it is needed */
    unsigned char *data;
    size_t head; /* where the next piece begins */
    struct {
        size_t begin, end;
        cl_event event;
    } pieces[AIRY_CL_STAGING_PIECES]; /* a ring too */
    unsigned first, count;
};

/*
 * How many commands keep their events until their times are read; the driver has some hundred bytes
 * for an event.
 */
enum { AIRY_CL_MAX_PENDING = 512 };

struct airy_cl_pending {
    cl_event event;
    const char *name; /* lives as long as the queue */
    bool transfer;
    double bytes;
};

struct airy_cl_kernel; /* cl_launch.c */

enum { AIRY_CL_RECENT = 4 };

struct airy_cl_queue {
    struct airy_cl_device *device;
    cl_command_queue queue;
    struct airy_cl_staging staging;
    struct {
        cl_mem memory; /* NULL until it is needed */
        void *data;
        size_t size;
        uint32_t turn;
    } answer;                       /* airy_cl_answer_begin */
    struct airy_cl_kernel *kernels; /* kernel objects of this queue: an open hash table */
    unsigned kernel_slots, kernel_count;
    unsigned recent[AIRY_CL_RECENT]; /* slots of kernels launched last, plus 1; 0: none */
    /* Of the last command, where that is a copy to page-locked memory or events are kept; NULL. */
    cl_event last;
    airy_profile *profile;           /* the device's; NULL: profiling is off */
    struct airy_cl_pending *pending; /* profiled commands whose times are not read yet */
    unsigned pending_count;
    struct airy_cl_queue *next, *previous; /* of the device's list of profiled queues */
};

static inline struct airy_cl_queue *airy_cl_queue(const airy_queue *queue)
{
    return queue->impl;
}

/* Entries of struct airy_backend. */
airy_status airy_cl_queue_open(airy_queue *queue);
void airy_cl_queue_close(airy_queue *queue);
airy_status airy_cl_flush(airy_queue *queue);
airy_status airy_cl_finish(airy_queue *queue);
airy_status airy_cl_event_record(airy_event *event, airy_queue *queue);
airy_status airy_cl_event_enqueue_wait(airy_queue *queue, const airy_event *event);
airy_status airy_cl_event_wait(const airy_event *event);
airy_status airy_cl_event_is_done(const airy_event *event, bool *done);
void airy_cl_event_close(airy_event *event);

/* In front of every command that is enqueued: `last` is so no more. */
static inline void airy_cl_queue_goes_on(struct airy_cl_queue *queue)
{
    if (queue->last)
        (void)queue->device->cl->ReleaseEvent(queue->last);
    queue->last = NULL;
}

/*
 * Profiling: enqueue with an event where this is true, then hand the event over with what it was.
 * name lives as long as the queue.
 */
static inline bool airy_cl_profiles(const airy_queue *queue)
{
    return airy_profile_of(queue->device) != NULL;
}
void airy_cl_profile_take(airy_queue *queue, cl_event event, const char *name, bool transfer,
                          double bytes);
/* Wait for the queue's commands, and read their times. */
void airy_cl_profile_settle(struct airy_cl_queue *queue);
/* Do so for all queues of the device; an entry of struct airy_backend. */
void airy_cl_profile_settle_all(const airy_device *device);
/* Of a queue that opens, and of one that closes and has no commands any more. */
airy_status airy_cl_profile_open(struct airy_cl_queue *queue, airy_profile *profile);
void airy_cl_profile_close(struct airy_cl_queue *queue);

#endif
