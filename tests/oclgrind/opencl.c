/*
 * OpenCL for Oclgrind 21.10, in front of its own library. It takes no note of what is filled,
 * written or copied as a rectangle, or written to a mapped buffer and copied from there, and would
 * call all of it uninitialised: here these are plain writes. And the kernels that run are listed in
 * the file that OCLGRIND_KERNELS names.
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

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                                    size_t src_offset, size_t dst_offset,
                                                    size_t size, cl_uint count,
                                                    const cl_event *wait, cl_event *event)
{
    char *bytes = malloc(size ? size : 1);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    cl_int code =
        clEnqueueReadBuffer(queue, src, CL_TRUE, src_offset, size, bytes, count, wait, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(queue, dst, CL_TRUE, dst_offset, size, bytes, 0, NULL, event);
    free(bytes);
    return code;
}

/* Where row y of plane z begins. */
static size_t row_at(const size_t origin[3], size_t row, size_t slice, size_t y, size_t z)
{
    return (origin[2] + z) * slice + (origin[1] + y) * row + origin[0];
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
    const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
    size_t host_slice, const void *host, cl_uint count, const cl_event *wait, cl_event *event)
{
    (void)blocking;
    row = row ? row : region[0];
    slice = slice ? slice : region[1] * row;
    host_row = host_row ? host_row : region[0];
    host_slice = host_slice ? host_slice : region[1] * host_row;
    cl_int code = CL_SUCCESS;
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1] && code == CL_SUCCESS; y++) {
            const int last = z + 1 == region[2] && y + 1 == region[1], first = z + y == 0;
            code = clEnqueueWriteBuffer(
                queue, buffer, CL_TRUE, row_at(origin, row, slice, y, z), region[0],
                (const char *)host + row_at(host_origin, host_row, host_slice, y, z),
                first ? count : 0, first ? wait : NULL, last ? event : NULL);
        }
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(
    cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,
    const size_t *dst_origin, const size_t *region, size_t src_row, size_t src_slice,
    size_t dst_row, size_t dst_slice, cl_uint count, const cl_event *wait, cl_event *event)
{
    src_row = src_row ? src_row : region[0];
    src_slice = src_slice ? src_slice : region[1] * src_row;
    dst_row = dst_row ? dst_row : region[0];
    dst_slice = dst_slice ? dst_slice : region[1] * dst_row;
    cl_int code = CL_SUCCESS;
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1] && code == CL_SUCCESS; y++) {
            const int last = z + 1 == region[2] && y + 1 == region[1], first = z + y == 0;
            code = clEnqueueCopyBuffer(queue, src, dst,
                                       row_at(src_origin, src_row, src_slice, y, z),
                                       row_at(dst_origin, dst_row, dst_slice, y, z), region[0],
                                       first ? count : 0, first ? wait : NULL, last ? event : NULL);
        }
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
