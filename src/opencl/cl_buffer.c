#include "opencl/cl_buffer.h"

#include <inttypes.h>

/*
 * Make the memory exist: drivers that allocate at first use would otherwise fail later, in a
 * kernel.
 */
static cl_int commit(struct airy_cl_device *device, cl_mem buffer, size_t size, const char **call)
{
    const cl_uint zero = 0;
    const size_t words = size / sizeof(zero) * sizeof(zero);
    pthread_mutex_lock(&device->lock);
    *call = "clEnqueueFillBuffer";
    cl_int code = words ? device->cl->EnqueueFillBuffer(device->internal, buffer, &zero,
                                                        sizeof(zero), 0, words, 0, NULL, NULL)
                        : CL_SUCCESS;
    if (code == CL_SUCCESS && words < size)
        code = device->cl->EnqueueFillBuffer(device->internal, buffer, &zero, 1, words,
                                             size - words, 0, NULL, NULL);
    if (code == CL_SUCCESS) {
        *call = "clFinish";
        code = device->cl->Finish(device->internal);
    }
    if (code != CL_SUCCESS) {
        /* A queue that has failed once may go on failing: take another. */
        cl_int ignored;
        cl_command_queue fresh =
            device->cl->CreateCommandQueue(device->context, device->id, 0, &ignored);
        if (fresh) {
            device->cl->ReleaseCommandQueue(device->internal);
            device->internal = fresh;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return code;
}

airy_status airy_cl_alloc(airy_device *device, size_t size, void **handle)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    AIRY_FAIL_IF(size > device->info.max_alloc, AIRY_ERR_MEMORY,
                 "%zu bytes are more than the largest single allocation of %s, %" PRIu64 " bytes",
                 size, impl->spec, device->info.max_alloc);
    AIRY_TRY(airy_cl_ready(impl));
    cl_int code = CL_SUCCESS;
    const char *call = "clCreateBuffer";
    cl_mem buffer =
        impl->cl->CreateBuffer(impl->context, CL_MEM_READ_WRITE, size ? size : 1, NULL, &code);
    if (buffer)
        code = commit(impl, buffer, size, &call);
    if (buffer && code == CL_SUCCESS) {
        *handle = buffer;
        return AIRY_OK;
    }
    if (buffer)
        impl->cl->ReleaseMemObject(buffer);
    const uint64_t free_now = airy_cl_memory_free(device);
    if (free_now)
        return airy_fail(
            AIRY_ERR_MEMORY,
            "%s refused %zu bytes, with %" PRIu64 " of %" PRIu64 " bytes free: %s gives %s",
            impl->spec, size, free_now, device->info.memory, call, airy_cl_error_name(code));
    return airy_fail(AIRY_ERR_MEMORY,
                     "%s refused %zu bytes, with %" PRIu64 " bytes in all: %s gives %s", impl->spec,
                     size, device->info.memory, call, airy_cl_error_name(code));
}

void airy_cl_release(airy_device *device, void *handle)
{
    if (handle)
        airy_cl_device(device)->cl->ReleaseMemObject(handle);
}

static cl_mem create_pinned(const struct airy_cl_device *device, size_t size, bool shared,
                            cl_int *code)
{
    if (shared)
        return device->create_buffer_nv(device->context, CL_MEM_READ_WRITE,
                                        AIRY_CL_LOCATION_HOST_NV, size, NULL, code);
    return device->cl->CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                    size, NULL, code);
}

airy_status airy_cl_pin(struct airy_cl_device *device, size_t size, bool shared, cl_mem *buffer,
                        void **data)
{
    AIRY_TRY(airy_cl_ready(device));
    cl_int code = CL_SUCCESS;
    const char *call = "clCreateBuffer";
    cl_mem memory = create_pinned(device, size ? size : 1, shared, &code);
    void *address = NULL;
    if (memory) {
        call = "clEnqueueMapBuffer";
        pthread_mutex_lock(&device->lock);
        address = device->cl->EnqueueMapBuffer(device->internal, memory, CL_TRUE,
                                               CL_MAP_READ | CL_MAP_WRITE, 0, size ? size : 1, 0,
                                               NULL, NULL, &code);
        pthread_mutex_unlock(&device->lock);
    }
    if (!address) {
        if (memory)
            device->cl->ReleaseMemObject(memory);
        return airy_fail(AIRY_ERR_MEMORY,
                         "cannot page-lock %zu bytes of host memory for %s: %s gives %s", size,
                         device->spec, call, airy_cl_error_name(code));
    }
    *buffer = memory;
    *data = address;
    return AIRY_OK;
}

void airy_cl_unpin(struct airy_cl_device *device, cl_mem buffer, void *data)
{
    pthread_mutex_lock(&device->lock);
    if (device->cl->EnqueueUnmapMemObject(device->internal, buffer, data, 0, NULL, NULL) ==
        CL_SUCCESS)
        (void)device->cl->Finish(device->internal);
    pthread_mutex_unlock(&device->lock);
    device->cl->ReleaseMemObject(buffer);
}

airy_status airy_cl_host_alloc(airy_device *device, size_t size, airy_host *host)
{
    cl_mem buffer = NULL;
    AIRY_TRY(airy_cl_pin(airy_cl_device(device), size, host->shared, &buffer, &host->data));
    host->impl = buffer;
    return AIRY_OK;
}

void airy_cl_host_release(airy_device *device, airy_host *host)
{
    if (host->impl)
        airy_cl_unpin(airy_cl_device(device), host->impl, host->data);
    host->impl = NULL;
    host->data = NULL;
}
