/* An open OpenCL device: airy_device.impl. */
#ifndef AIRY_OPENCL_CL_DEVICE_H
#define AIRY_OPENCL_CL_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "core/objects.h"
#include "opencl/cl_error.h"
#include "opencl/cl_loader.h"

struct airy_cl_program;

/* cl_nv_create_buffer; the first flag: in the host's memory, where kernels reach it over the link. */
typedef cl_mem(CL_API_CALL *airy_cl_create_buffer_nv)(cl_context context, cl_mem_flags flags,
                                                      cl_bitfield flags_nv, size_t size,
                                                      void *host_ptr, cl_int *code);
enum { AIRY_CL_LOCATION_HOST_NV = 1 };

struct airy_cl_device {
    const struct airy_cl_api *cl;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    const char *spec; /* the airy_device's, for sentences */
    bool nvidia, pocl;
    bool splits; /* pixels of integrators are split there, where it can: NVIDIA's; tests set it */
    airy_cl_create_buffer_nv create_buffer_nv; /* NULL: not there */
    bool int64_atomics;   /* additions and extremes, as AIRY_INT64_ATOMICS of prelude.cl */
    bool over_allocates;  /* single allocations above max_alloc work: CL_DEVICE_MAX_MEM_ALLOC_SIZE
                            is no limit */
    size_t max_arguments; /* bytes of a kernel's arguments */
    size_t exact_results; /* from which on a filter is built for its number of taps */
    char pci[16];         /* "0000:17:00.0", "" unknown */
    char options[128];    /* of every build */
    char driver[320];     /* platform, device, versions: part of the key of cached programs */
    char cache[512];      /* folder of compiled programs, "" none */

    /*
     * The context and `internal` are there once airy_cl_ready says so; until then a thread may be
     * at work on them.
     */
    pthread_mutex_t open_lock; /* of the next four */
    pthread_t opener;
    bool opening, opened; /* the thread is to be joined; it has succeeded */
    cl_int open_code;     /* what CreateContext or CreateCommandQueue said */

    pthread_mutex_t lock;      /* of `internal` */
    cl_command_queue internal; /* committing memory, mapping page-locked memory */

    pthread_mutex_t build_lock; /* of `programs`, their compilation, and `start` */
    airy_start_info start;
    struct airy_cl_program *programs;

    pthread_mutex_t profile_lock;   /* of `profiled`, and of what those queues have pending */
    struct airy_cl_queue *profiled; /* the open queues of a device with a profile: a list */
};

static inline struct airy_cl_device *airy_cl_device(const airy_device *device)
{
    return device->impl;
}

/* Entries of struct airy_backend. */
void airy_cl_list(bool ask_free, void (*add)(void *user, const airy_device_info *info), void *user);
/*
 * Opens "opencl:P:D", device D of platform P. Errors: AIRY_ERR_DEVICE.
 */
airy_status airy_cl_open(airy_device *device);
void airy_cl_close(airy_device *device);
/* Wait for the context; its failure is every caller's. Any thread. */
airy_status airy_cl_ready(struct airy_cl_device *device);
uint64_t airy_cl_memory_free(airy_device *device);
void airy_cl_start(const airy_device *device, airy_start_info *info);

/*
 * The same list for any loader, so that tests can look at one without libraries or platforms.
 */
void airy_cl_list_of(const airy_cl_loader *loader, bool ask_free,
                     void (*add)(void *user, const airy_device_info *info), void *user);

/*
 * NVIDIA's management library, opened at run time. pci as in struct airy_cl_device. 0: unknown.
 * Thread-safety: any thread.
 */
uint64_t airy_nvml_memory_free(const char *pci);

#endif
