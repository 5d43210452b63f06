/*
 * OpenCL's entry points, found at run time; nothing is linked against OpenCL.
 *
 * Two sources are asked: the loader libOpenCL, and, where it shows no NVIDIA platform, NVIDIA's
 * own library, which containers often have without a loader or without its registration. Each
 * platform carries the table of the library that it came from, and handles of one table are never
 * given to another.
 */
#ifndef AIRY_OPENCL_CL_LOADER_H
#define AIRY_OPENCL_CL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include "airy/status.h"

/* All of OpenCL 1.2 that is called. */
#define AIRY_CL_FUNCTIONS(X)                                                                       \
    X(GetPlatformInfo)                                                                             \
    X(GetExtensionFunctionAddressForPlatform)                                                      \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(CreateContext)                                                                               \
    X(ReleaseContext)                                                                              \
    X(CreateCommandQueue)                                                                          \
    X(ReleaseCommandQueue)                                                                         \
    X(CreateBuffer)                                                                                \
    X(ReleaseMemObject)                                                                            \
    X(CreateProgramWithSource)                                                                     \
    X(CreateProgramWithBinary)                                                                     \
    X(ReleaseProgram)                                                                              \
    X(BuildProgram)                                                                                \
    X(GetProgramInfo)                                                                              \
    X(GetProgramBuildInfo)                                                                         \
    X(CreateKernel)                                                                                \
    X(ReleaseKernel)                                                                               \
    X(SetKernelArg)                                                                                \
    X(GetKernelWorkGroupInfo)                                                                      \
    X(WaitForEvents)                                                                               \
    X(GetEventInfo)                                                                                \
    X(RetainEvent)                                                                                 \
    X(ReleaseEvent)                                                                                \
    X(GetEventProfilingInfo)                                                                       \
    X(Flush)                                                                                       \
    X(Finish)                                                                                      \
    X(EnqueueReadBuffer)                                                                           \
    X(EnqueueWriteBuffer)                                                                          \
    X(EnqueueCopyBuffer)                                                                           \
    X(EnqueueReadBufferRect)                                                                       \
    X(EnqueueWriteBufferRect)                                                                      \
    X(EnqueueCopyBufferRect)                                                                       \
    X(EnqueueFillBuffer)                                                                           \
    X(EnqueueMapBuffer)                                                                            \
    X(EnqueueUnmapMemObject)                                                                       \
    X(EnqueueNDRangeKernel)                                                                        \
    X(EnqueueMarkerWithWaitList)                                                                   \
    X(EnqueueBarrierWithWaitList)

struct airy_cl_api {
#define AIRY_CL_MEMBER(name) __typeof__ (&cl##name)(name);
    AIRY_CL_FUNCTIONS(AIRY_CL_MEMBER)
#undef AIRY_CL_MEMBER
};

struct airy_cl_platform {
    cl_platform_id id;
    const struct airy_cl_api *api;
};

enum { AIRY_CL_MAX_PLATFORMS = 16, AIRY_CL_MAX_REASONS = 2 };

typedef struct airy_cl_loader {
    struct airy_cl_platform platforms[AIRY_CL_MAX_PLATFORMS];
    unsigned platform_count;
    char reasons[AIRY_CL_MAX_REASONS][256]; /* why a library could not be used */
    unsigned reason_count;
    struct airy_cl_api loader_api, direct_api;
    void *loader_library, *direct_library;
} airy_cl_loader;

/* Names to try in order, NULL at the end. */
struct airy_cl_libraries {
    const char *const *loader;
    const char *const *direct;
};

/*
 * Opened once for the process; the libraries stay. Never NULL: without a platform the reasons say
 * why. Thread-safety: any thread.
 */
const airy_cl_loader *airy_cl_loader_get(void);
/* What airy_cl_loader_get does, with other names; for tests. The loader is cleared first. */
void airy_cl_loader_open(airy_cl_loader *loader, const struct airy_cl_libraries *libraries);
void airy_cl_loader_close(airy_cl_loader *loader);

#endif
