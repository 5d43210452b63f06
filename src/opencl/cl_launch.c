#include "opencl/cl_launch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/hash.h"
#include "opencl/cl_program.h"

struct airy_cl_kernel {
    uint64_t hash;
    cl_kernel kernel; /* NULL: the slot is empty */
    size_t max_group, local_mem;
    char *file, *name, *options; /* one block, at `file` */
};

static const char *options_of(const struct airy_cl_kernel_spec *spec)
{
    return spec->options ? spec->options : "";
}

static uint64_t hash_spec(const struct airy_cl_kernel_spec *spec)
{
    uint64_t hash = airy_hash_text(AIRY_HASH_START, spec->file);
    hash = airy_hash_text(hash, spec->name);
    return airy_hash_text(hash, options_of(spec));
}

static bool is_of(const struct airy_cl_kernel *slot, const struct airy_cl_kernel_spec *spec)
{
    return strcmp(slot->name, spec->name) == 0 && strcmp(slot->options, options_of(spec)) == 0 &&
           strcmp(slot->file, spec->file) == 0;
}

static struct airy_cl_kernel *find_slot(struct airy_cl_kernel *slots, unsigned count, uint64_t hash,
                                        const struct airy_cl_kernel_spec *spec)
{
    unsigned i = (unsigned)hash & (count - 1);
    while (slots[i].kernel && (slots[i].hash != hash || !is_of(&slots[i], spec)))
        i = (i + 1) & (count - 1);
    return &slots[i];
}

/* Keep at least half of the slots empty. */
static airy_status grow_slots(struct airy_cl_queue *queue)
{
    if (2 * (queue->kernel_count + 1) <= queue->kernel_slots)
        return AIRY_OK;
    const unsigned count = queue->kernel_slots ? 2 * queue->kernel_slots : 32;
    struct airy_cl_kernel *slots;
    AIRY_TRY(airy_memory_calloc((void **)&slots, count, sizeof(*slots), "kernel objects"));
    for (unsigned i = 0; i < queue->kernel_slots; i++) {
        const struct airy_cl_kernel *old = &queue->kernels[i];
        const struct airy_cl_kernel_spec spec = {old->file, old->name, old->options};
        if (old->kernel)
            *find_slot(slots, count, old->hash, &spec) = *old;
    }
    free(queue->kernels);
    queue->kernels = slots;
    queue->kernel_slots = count;
    memset(queue->recent, 0, sizeof(queue->recent));
    return AIRY_OK;
}

static airy_status make_kernel(const struct airy_cl_device *device, cl_program program,
                               const char *name, cl_kernel *kernel)
{
    cl_int code = CL_SUCCESS;
    *kernel = device->cl->CreateKernel(program, name, &code);
    if (!*kernel) {
        char what[128];
        snprintf(what, sizeof(what), "clCreateKernel of %s", name);
        return airy_cl_fail(code, device->spec, what);
    }
    return AIRY_OK;
}

static void kernel_info(const struct airy_cl_device *device, cl_kernel kernel,
                        struct airy_cl_kernel_info *info)
{
    const struct airy_cl_api *cl = device->cl;
    size_t required[3] = {0, 0, 0};
    *info = (struct airy_cl_kernel_info){.max_group = 1, .multiple = 1};
    (void)cl->GetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size_t),
                                     &info->max_group, NULL);
    /* NVIDIA's driver says 256 there also of kernels that are compiled for more. */
    (void)cl->GetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                     sizeof(required), required, NULL);
    info->max_group = airy_max_size(info->max_group, required[0] * required[1] * required[2]);
    (void)cl->GetKernelWorkGroupInfo(kernel, device->id,
                                     CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t),
                                     &info->multiple, NULL);
    (void)cl->GetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(uint64_t),
                                     &info->local_mem, NULL);
    (void)cl->GetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_PRIVATE_MEM_SIZE,
                                     sizeof(uint64_t), &info->private_mem, NULL);
}

static airy_status fill_slot(struct airy_cl_queue *queue, struct airy_cl_kernel *slot,
                             uint64_t hash, const struct airy_cl_kernel_spec *spec)
{
    cl_program program;
    AIRY_TRY(airy_cl_program_get(queue->device, spec->file, options_of(spec), &program));
    const size_t file_size = strlen(spec->file) + 1, name_size = strlen(spec->name) + 1;
    const size_t options_size = strlen(options_of(spec)) + 1;
    char *text;
    cl_kernel kernel;
    AIRY_TRY(airy_memory_calloc((void **)&text, 1, file_size + name_size + options_size,
                                "a kernel's name"));
    const airy_status status = make_kernel(queue->device, program, spec->name, &kernel);
    if (status != AIRY_OK) {
        free(text);
        return status;
    }
    struct airy_cl_kernel_info info;
    kernel_info(queue->device, kernel, &info);
    *slot = (struct airy_cl_kernel){hash,
                                    kernel,
                                    info.max_group,
                                    (size_t)info.local_mem,
                                    text,
                                    text + file_size,
                                    text + file_size + name_size};
    memcpy(slot->file, spec->file, file_size);
    memcpy(slot->name, spec->name, name_size);
    memcpy(slot->options, options_of(spec), options_size);
    queue->kernel_count++;
    return AIRY_OK;
}

/* Options are up to a thousand letters, whose hash takes a microsecond; to compare them does not. */
static struct airy_cl_kernel *find_recent(const struct airy_cl_queue *queue,
                                          const struct airy_cl_kernel_spec *spec)
{
    for (unsigned i = 0; i < AIRY_CL_RECENT; i++)
        if (queue->recent[i] && is_of(&queue->kernels[queue->recent[i] - 1], spec))
            return &queue->kernels[queue->recent[i] - 1];
    return NULL;
}

static airy_status find_kernel(struct airy_cl_queue *queue, const struct airy_cl_kernel_spec *spec,
                               struct airy_cl_kernel **found)
{
    *found = find_recent(queue, spec);
    if (*found)
        return AIRY_OK;
    AIRY_TRY(grow_slots(queue));
    const uint64_t hash = hash_spec(spec);
    struct airy_cl_kernel *slot = find_slot(queue->kernels, queue->kernel_slots, hash, spec);
    if (!slot->kernel)
        AIRY_TRY(fill_slot(queue, slot, hash, spec));
    memmove(queue->recent + 1, queue->recent, (AIRY_CL_RECENT - 1) * sizeof(queue->recent[0]));
    queue->recent[0] = (unsigned)(slot - queue->kernels) + 1;
    *found = slot;
    return AIRY_OK;
}

static airy_status set_args(const struct airy_cl_queue *queue, const struct airy_cl_kernel *kernel,
                            const struct airy_cl_arg *args, size_t arg_count)
{
    for (size_t i = 0; i < arg_count; i++) {
        const struct airy_cl_arg *arg = &args[i];
        const bool is_buffer = arg->size == 0;
        const cl_int code = queue->device->cl->SetKernelArg(
            kernel->kernel, (cl_uint)i, is_buffer ? sizeof(cl_mem) : arg->size,
            is_buffer ? (const void *)&arg->buffer : arg->value);
        if (code != CL_SUCCESS) {
            char what[128];
            snprintf(what, sizeof(what), "clSetKernelArg %zu of %s", i, kernel->name);
            return airy_cl_fail(code, queue->device->spec, what);
        }
    }
    return AIRY_OK;
}

static airy_status enqueue(airy_queue *queue, const struct airy_cl_kernel *kernel, int dims,
                           const size_t *offset, const size_t *global, const size_t *local,
                           double bytes)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    cl_event event = NULL;
    const bool profiles = airy_cl_profiles(queue);
    airy_cl_queue_goes_on(impl);
    const cl_int code = impl->device->cl->EnqueueNDRangeKernel(
        impl->queue, kernel->kernel, (cl_uint)dims, offset, global, local, 0, NULL,
        profiles || queue->keeps_events ? &event : NULL);
    if (code != CL_SUCCESS) {
        char what[128];
        snprintf(what, sizeof(what), "clEnqueueNDRangeKernel of %s", kernel->name);
        return airy_cl_fail(code, impl->device->spec, what);
    }
    if (queue->keeps_events)
        impl->last = event;
    if (queue->keeps_events && profiles)
        (void)impl->device->cl->RetainEvent(event);
    if (profiles)
        airy_cl_profile_take(queue, event, kernel->name, false, bytes);
    return AIRY_OK;
}

/* Pieces with as many groups in the second and third dimension as every device takes. */
static airy_status enqueue_pieces(airy_queue *queue, const struct airy_cl_kernel *kernel, int dims,
                                  const size_t *global, const size_t *local, double bytes)
{
    size_t most[3] = {global[0], 1, 1}, all[3] = {global[0], 1, 1};
    bool fits = true;
    for (int i = 1; i < dims; i++) {
        all[i] = global[i];
        most[i] = airy_min_size(all[i], (size_t)AIRY_CL_MOST_GROUPS * (local ? local[i] : 1));
        fits = fits && most[i] == all[i];
    }
    if (fits)
        return enqueue(queue, kernel, dims, NULL, global, local, bytes);
    const double items = (double)all[1] * (double)all[2];
    for (size_t z = 0; z < all[2]; z += most[2])
        for (size_t y = 0; y < all[1]; y += most[1]) {
            const size_t offset[3] = {0, y, z},
                         piece[3] = {all[0], airy_min_size(most[1], all[1] - y),
                                     airy_min_size(most[2], all[2] - z)};
            AIRY_TRY(enqueue(queue, kernel, dims, offset, piece, local,
                             bytes * (double)piece[1] * (double)piece[2] / items));
        }
    return AIRY_OK;
}

void airy_cl_bound(char options[AIRY_CL_BOUND], const airy_device *device, unsigned registers)
{
    /* NVIDIA's compiler heeds no bound where the group's size is required. */
    if (registers > 0 && airy_cl_device(device)->nvidia)
        snprintf(options, AIRY_CL_BOUND, "-DREQUIRED=0 -cl-nv-maxrregcount=%u", registers);
    else
        snprintf(options, AIRY_CL_BOUND, "-DREQUIRED=1");
}

airy_status airy_cl_launch(airy_queue *queue, const struct airy_cl_kernel_spec *spec, int dims,
                           const size_t *global, const size_t *local, double bytes,
                           const struct airy_cl_arg *args, size_t arg_count)
{
    assert(dims >= 1 && dims <= 3);
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    struct airy_cl_kernel *kernel;
    AIRY_TRY(find_kernel(impl, spec, &kernel));
    size_t rounded[3], group = 1;
    for (int i = 0; i < dims; i++) {
        assert(global[i] > 0 && (!local || local[i] > 0));
        const size_t step = local ? local[i] : 1;
        rounded[i] = (global[i] + step - 1) / step * step;
        group *= step;
    }
    AIRY_FAIL_IF(group > kernel->max_group, AIRY_ERR_UNSUPPORTED,
                 "work-group of %s = %zu items, %s admits at most %zu", kernel->name, group,
                 impl->device->spec, kernel->max_group);
    size_t local_mem = kernel->local_mem;
    for (size_t i = 0; i < arg_count; i++)
        local_mem += args[i].value ? 0 : args[i].size;
    AIRY_FAIL_IF(local_mem > queue->device->info.local_mem, AIRY_ERR_UNSUPPORTED,
                 "local memory of %s = %zu bytes, %s has %" PRIu64, kernel->name, local_mem,
                 impl->device->spec, queue->device->info.local_mem);
    AIRY_TRY(set_args(impl, kernel, args, arg_count));

    return enqueue_pieces(queue, kernel, dims, rounded, local, bytes);
}

airy_status airy_cl_prepare(airy_device *device, const struct airy_cl_kernel_spec *spec,
                            struct airy_cl_kernel_info *info)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    cl_program program;
    cl_kernel kernel;
    AIRY_TRY(airy_cl_program_get(impl, spec->file, options_of(spec), &program));
    if (!info)
        return AIRY_OK;
    AIRY_TRY(make_kernel(impl, program, spec->name, &kernel));
    kernel_info(impl, kernel, info);
    impl->cl->ReleaseKernel(kernel);
    return AIRY_OK;
}

void airy_cl_kernels_release(struct airy_cl_queue *queue)
{
    for (unsigned i = 0; i < queue->kernel_slots; i++) {
        if (!queue->kernels[i].kernel)
            continue;
        queue->device->cl->ReleaseKernel(queue->kernels[i].kernel);
        free(queue->kernels[i].file);
    }
    free(queue->kernels);
    queue->kernels = NULL;
    queue->kernel_slots = queue->kernel_count = 0;
}

airy_array_box airy_cl_box(const airy_array *a)
{
    airy_u64 count[AIRY_MAX_DIMS] = {1, 1, 1, 1}, step[AIRY_MAX_DIMS] = {1};
    int top = -1;
    for (int i = a->ndim - 1; i >= 0; i--) {
        if (a->shape[i] == 1 && top >= 0)
            continue;
        if (top >= 0 && a->pitch[i] == count[top] * step[top]) {
            count[top] *= a->shape[i];
            continue;
        }
        top++;
        count[top] = a->shape[i];
        step[top] = a->pitch[i];
    }
    return (airy_array_box){.offset = airy_cl_offset(a),
                            .step0 = step[0],
                            .step1 = step[1],
                            .step2 = step[2],
                            .step3 = step[3],
                            .count0 = count[0],
                            .count1 = count[1],
                            .count2 = count[2]};
}
