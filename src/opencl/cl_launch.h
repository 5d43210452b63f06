/*
 * Launching kernels.
 *
 * A kernel is named by a struct airy_cl_kernel_spec: the file under kernels/, the function in it,
 * and build options. The spec may be static or on the stack; strings must live as long as the call
 * only. What the options say is part of the name: the first launch with new options compiles (once
 * a device) and makes a kernel object (once a queue); later launches find it by a hash of the
 * strings.
 *
 *     static const struct airy_cl_kernel_spec fill = {"fill.cl", "fill_box", "-DT=uint"};
 *     const airy_fill_geom geom = {...};
 *     const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(dst), AIRY_CL_VALUE(geom)};
 *     AIRY_TRY(airy_cl_launch(queue, &fill, 1, &(size_t){n}, &(size_t){64}, (double)bytes, args,
 *     2));
 *
 * Arguments stand in the kernel's order: buffers, local memory, one geometry struct. A buffer
 * argument is the whole buffer: the offset of a view goes into the geometry struct, in elements
 * (airy_cl_offset).
 *
 * A launch of more than AIRY_CL_MOST_GROUPS groups in the second or third dimension goes in pieces,
 * with offsets in these two: kernels find their place there by get_global_id, not get_group_id,
 * unless whoever launches them sees to it that there are never so many.
 *
 * Launches are asynchronous and in order. Nothing is flushed here: the front flushes after a batch
 * (airy_queue_flush), and finish, pulls and events do it themselves.
 */
#ifndef AIRY_OPENCL_CL_LAUNCH_H
#define AIRY_OPENCL_CL_LAUNCH_H

#include "opencl/cl_queue.h"
#include "shared/array_box.h"

enum { AIRY_CL_MOST_GROUPS = 65535 }; /* CUDA's limit of a grid's y and z */

struct airy_cl_kernel_spec {
    const char *file;    /* "decode.cl" */
    const char *name;    /* "decode_blocks"; also the row of the profile */
    const char *options; /* "-DT=ushort -DGROUP=128"; NULL or "": none */
};

/*
 * The build options of a kernel that requires the size of its groups where REQUIRED is 1, for items
 * that take `registers` at most; 0: any number. A bound is NVIDIA's alone.
 */
enum { AIRY_CL_BOUND = 48 };
void airy_cl_bound(char options[AIRY_CL_BOUND], const airy_device *device, unsigned registers);

/* Made by the macros below. */
struct airy_cl_arg {
    cl_mem buffer;     /* if size is 0 */
    const void *value; /* NULL with size: local memory */
    size_t size;
};

/* A buffer: of an airy_array, an airy_buffer, or NULL (the kernel sees a null pointer). */
#define AIRY_CL_ARRAY(array) ((struct airy_cl_arg){.buffer = (array)->buffer->handle})
#define AIRY_CL_BUFFER(airy_buffer_pointer)                                                        \
    ((struct airy_cl_arg){.buffer = (airy_buffer_pointer)->handle})
#define AIRY_CL_NULL ((struct airy_cl_arg){.buffer = NULL})
/* Local memory of a work-group, in bytes (at least 1). */
#define AIRY_CL_LOCAL(bytes) ((struct airy_cl_arg){.size = (bytes)})
/* A scalar or struct by value; must be an lvalue. */
#define AIRY_CL_VALUE(lvalue) ((struct airy_cl_arg){.value = &(lvalue), .size = sizeof(lvalue)})

/* Elements from the start of the buffer to element 0 of the array. */
static inline uint64_t airy_cl_offset(const airy_array *array)
{
    return array->offset / airy_dtype_size(array->dtype);
}

/* The same with steps and counts, for kernels that include array_box.h. */
airy_array_box airy_cl_box(const airy_array *array);

/*
 * Enqueue a kernel.
 *
 * dims     1 to 3
 * global   work-items in each dimension, at least 1; rounded up to a multiple of local, so kernels
 * check their bounds local    work-group, or NULL: the driver chooses, nothing is rounded
 * bytes    what the launch moves, for the profile's GB/s; 0 unknown
 *
 * Errors: AIRY_ERR_UNSUPPORTED where the work-group or its memory is more than the device or this
 * kernel admits, AIRY_ERR_DEVICE when the kernel does not build (the sentence has the compiler's
 * first error) or the driver fails, AIRY_ERR_MEMORY.
 */
airy_status airy_cl_launch(airy_queue *queue, const struct airy_cl_kernel_spec *spec, int dims,
                           const size_t *global, const size_t *local, double bytes,
                           const struct airy_cl_arg *args, size_t arg_count);

/* What the compiler says of a kernel, for choosing work-groups. */
struct airy_cl_kernel_info {
    size_t max_group;   /* largest work-group */
    size_t multiple;    /* work-group sizes that are multiples of this run best: warp or
                           wavefront */
    uint64_t local_mem; /* bytes of local memory declared in the kernel */
    uint64_t private_mem;
};

/*
 * Compile a kernel now, so that the first launch does not wait; info may be NULL. Any thread.
 */
airy_status airy_cl_prepare(airy_device *device, const struct airy_cl_kernel_spec *spec,
                            struct airy_cl_kernel_info *info);

void airy_cl_kernels_release(struct airy_cl_queue *queue);

#endif
