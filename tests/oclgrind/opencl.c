/*
 * OpenCL for Oclgrind 21.10, in front of its own library. It takes no note of what is filled,
 * written or copied as a rectangle, or written to a mapped buffer and copied from there, and would
 * call all of it uninitialised: here these are plain writes. A plain write to a part of a buffer
 * makes it forget all of the buffer but as many bytes at its beginning: here a kernel writes the
 * part. A new buffer may get the number of one that was released, and with it what was known of
 * that one: here none is released. And the kernels that run are listed in the file that
 * OCLGRIND_KERNELS names.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Oclgrind's function of this name. */
static void *own(const char *name)
{
    void *library = dlopen("liboclgrind-rt.so", RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

typedef cl_int(CL_API_CALL *write_fn)(cl_command_queue, cl_mem, cl_bool, size_t, size_t,
                                      const void *, cl_uint, const cl_event *, cl_event *);
typedef cl_int(CL_API_CALL *launch_fn)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                                       const size_t *, const size_t *, cl_uint, const cl_event *,
                                       cl_event *);

static struct {
    pthread_once_t once;
    write_fn write;
    launch_fn launch;
    pthread_mutex_t lock; /* of what follows */
    cl_context context;
    cl_kernel bytes, words;
} next = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void find_next(void)
{
    *(void **)&next.write = own("clEnqueueWriteBuffer");
    *(void **)&next.launch = own("clEnqueueNDRangeKernel");
    if (next.write && next.launch)
        return;
    fputs("no Oclgrind behind this library\n", stderr);
    abort();
}

/* The kernels that write parts, for a context. */
static cl_int build_writers(cl_context context)
{
    const char *source =
        "kernel void write_bytes(global uchar *to, ulong at, global const uchar *from)"
        "{ to[at + get_global_id(0)] = from[get_global_id(0)]; }"
        "kernel void write_words(global ulong *to, ulong at, global const ulong *from)"
        "{ to[at / 8 + get_global_id(0)] = from[get_global_id(0)]; }";
    cl_int code;
    if (next.context == context)
        return CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(program, 0, NULL, "", NULL, NULL);
    if (code == CL_SUCCESS)
        next.bytes = clCreateKernel(program, "write_bytes", &code);
    if (code == CL_SUCCESS)
        next.words = clCreateKernel(program, "write_words", &code);
    if (code == CL_SUCCESS)
        next.context = context;
    return code;
}

static cl_int write_part(cl_command_queue queue, cl_mem buffer, size_t offset, size_t size,
                         const void *host, cl_uint count, const cl_event *wait, cl_event *event)
{
    cl_context context;
    const cl_ulong at = offset;
    const size_t width = (offset | size) % 8 == 0 ? 8 : 1, items = size / width;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    if (code == CL_SUCCESS)
        code = build_writers(context);
    if (code != CL_SUCCESS)
        return code;
    cl_kernel kernel = width == 8 ? next.words : next.bytes;
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY, size, NULL, &code);
    if (code == CL_SUCCESS)
        code = next.write(queue, from, CL_TRUE, 0, size, host, count, wait, NULL);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 0, sizeof(buffer), &buffer) |
               clSetKernelArg(kernel, 1, sizeof(at), &at) |
               clSetKernelArg(kernel, 2, sizeof(from), &from);
    if (code == CL_SUCCESS)
        code = next.launch(queue, kernel, 1, NULL, &items, NULL, 0, NULL, event);
    return code == CL_SUCCESS ? clFinish(queue) : code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                     cl_bool blocking, size_t offset, size_t size,
                                                     const void *host, cl_uint count,
                                                     const cl_event *wait, cl_event *event)
{
    size_t all = 0;
    pthread_once(&next.once, find_next);
    clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(all), &all, NULL);
    if (size == 0 || size >= all || offset > all - size)
        return next.write(queue, buffer, blocking, offset, size, host, count, wait, event);
    pthread_mutex_lock(&next.lock);
    const cl_int code = write_part(queue, buffer, offset, size, host, count, wait, event);
    pthread_mutex_unlock(&next.lock);
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem buffer)
{
    (void)buffer;
    return CL_SUCCESS;
}

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
    pthread_once(&next.once, find_next);
    note_kernel(kernel);
    return next.launch(queue, kernel, dims, offset, global, local, count, wait, event);
}
