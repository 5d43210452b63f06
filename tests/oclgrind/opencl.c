/*
 * OpenCL for Oclgrind 21.10, in front of its own library. It takes no note of what
 * clEnqueueFillBuffer writes and would call all of it uninitialised: buffers are filled by writing.
 * And the kernels that run are listed in the file that OCLGRIND_KERNELS names.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
                                                    const void *pattern, size_t pattern_size,
                                                    size_t offset, size_t size, cl_uint count,
                                                    const cl_event *wait, cl_event *event)
{
    char *bytes = malloc(size ? size : 1);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t at = 0; at + pattern_size <= size; at += pattern_size)
        memcpy(bytes + at, pattern, pattern_size);
    const cl_int code =
        clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, size, bytes, count, wait, event);
    free(bytes);
    return code;
}

static void note_kernel(cl_kernel kernel)
{
    char name[128] = "";
    const char *path = getenv("OCLGRIND_KERNELS");
    FILE *list = path ? fopen(path, "a") : NULL;
    if (!list)
        return;
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name, NULL);
    fprintf(list, "%s\n", name);
    fclose(list);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint dims, const size_t *offset,
                                                       const size_t *global, const size_t *local,
                                                       cl_uint count, const cl_event *wait,
                                                       cl_event *event)
{
    /* The next one of this name: Oclgrind's. */
    static cl_int(CL_API_CALL * next)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                                      const size_t *, const size_t *, cl_uint, const cl_event *,
                                      cl_event *);
    if (!next) {
        void *library = dlopen("liboclgrind-rt.so", RTLD_NOW | RTLD_NOLOAD);
        *(void **)&next = library ? dlsym(library, "clEnqueueNDRangeKernel") : NULL;
    }
    note_kernel(kernel);
    return next ? next(queue, kernel, dims, offset, global, local, count, wait, event)
                : CL_INVALID_KERNEL;
}
