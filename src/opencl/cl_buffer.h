/* Device memory, page-locked host memory, copies. */
#ifndef AIRY_OPENCL_CL_BUFFER_H
#define AIRY_OPENCL_CL_BUFFER_H

#include "opencl/cl_queue.h"

/* The first `size` bytes of a buffer as an array. */
static inline airy_array airy_cl_bytes_of(airy_buffer *buffer, size_t size)
{
    return (airy_array){
        .buffer = buffer, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {size}, .pitch = {1}};
}

/*
 * Entries of struct airy_backend; handle is a cl_mem. New memory is zeros, which tables in scratch
 * count on.
 */
airy_status airy_cl_alloc(airy_device *device, size_t size, void **handle);
void airy_cl_release(airy_device *device, void *handle);
airy_status airy_cl_host_alloc(airy_device *device, size_t size, airy_host *host);
void airy_cl_host_release(airy_device *device, airy_host *host);
/*
 * Create device memory and begin to copy `size` bytes from the host into it; data must stay until
 * the queue is finished.
 */
airy_status airy_cl_upload_begin(airy_buffer **buffer, airy_queue *queue, const void *data,
                                 size_t size, const char *what);
/* Create device memory with `size` bytes from the host in it. */
airy_status airy_cl_upload(airy_buffer **buffer, airy_queue *queue, const void *data, size_t size,
                           const char *what);
airy_status airy_cl_push(airy_queue *queue, const airy_array *dst, const void *data, bool pinned);
airy_status airy_cl_pull(airy_queue *queue, void *data, const airy_array *src, bool pinned);
/* Wait for a copy of at most AIRY_CL_STAGING_PIECE bytes; data: until the queue's next copy. */
airy_status airy_cl_peek(airy_queue *queue, const void **data, const airy_array *src);
airy_status airy_cl_copy(airy_queue *queue, const airy_array *dst, const airy_array *src);
airy_status airy_cl_fill(airy_queue *queue, const airy_array *dst, const void *pattern);

/*
 * Page-locked memory, mapped until airy_cl_unpin. shared: kernels work in it meanwhile. That takes
 * cl_nv_create_buffer: a buffer of CL_MEM_ALLOC_HOST_PTR NVIDIA keeps on the device, and copies it
 * when it is mapped.
 */
airy_status airy_cl_pin(struct airy_cl_device *device, size_t size, bool shared, cl_mem *buffer,
                        void **data);
void airy_cl_unpin(struct airy_cl_device *device, cl_mem buffer, void *data);

/*
 * What kernels have to say to the host, before they end: in slots of memory of the host, each of
 * which has all to say when its first word becomes the turn (AIRY_TELL), at which the host looks. A
 * copy is there 5 us later: it is a command of its own. The slots of one `begin` at a time, as many
 * as images whose kernels are under way.
 *   begin  memory: a kernel's argument, `slots` times `size` bytes (a multiple of 4), in all at most
 *          AIRY_CL_ANSWER_BYTES; slot i begins at i * size. Where kernels reach no memory of the
 *          host it is scratch (buffer), and turn is 0. Not before the kernels of the last one end.
 *   wait   for a slot; data: until the queue's next answer or copy.
 */
struct airy_cl_answer {
    airy_buffer *buffer;
    cl_mem memory;
    size_t size;
    uint32_t turn;
};
airy_status airy_cl_answer_begin(airy_queue *queue, size_t size, size_t slots,
                                 struct airy_cl_answer *answer);
airy_status airy_cl_answer_wait(airy_queue *queue, const struct airy_cl_answer *answer, size_t slot,
                                const void **data);

/*
 * Staging of a queue. airy_cl_staging_take: `size` bytes (at most AIRY_CL_STAGING_PIECE) of
 * page-locked memory, waited for if need be; then airy_cl_staging_used with the event of the copy
 * that uses them, which the staging releases. airy_cl_staging_take_all: AIRY_CL_STAGING_BYTES, once
 * no copy uses any.
 */
airy_status airy_cl_staging_take_all(struct airy_cl_queue *queue, unsigned char **data);
airy_status airy_cl_staging_take(struct airy_cl_queue *queue, size_t size, void **piece);
void airy_cl_staging_used(struct airy_cl_queue *queue, const void *piece, size_t size,
                          cl_event event);
void airy_cl_staging_release(struct airy_cl_queue *queue);
/* Release the memory of a queue's answers alone. */
void airy_cl_answer_release(struct airy_cl_queue *queue);

#endif
