#include "pipeline/run.h"

#include "base/error.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrator.h"

enum { BATCH_CPU = 16, BATCH_DEVICE = 32, SLOTS = 3, READERS_CPU = 2, READERS_DEVICE = 12 };

size_t airy_run_frame(const airy_run_params *params, size_t row)
{
    return params->first + row * (params->step ? params->step : 1);
}

airy_status airy_run_rows(size_t *rows, const airy_stack_info *info, const airy_run_params *params)
{
    const size_t last = params->last ? params->last : info->frames;
    const size_t step = params->step ? params->step : 1;
    AIRY_FAIL_IF(last > info->frames, AIRY_ERR_PARAM, "last frame = %zu, expected <= %zu, the frames of the stack",
                 last, info->frames);
    AIRY_FAIL_IF(params->first >= last, AIRY_ERR_PARAM, "first frame = %zu, expected < %zu", params->first, last);
    *rows = (last - params->first + step - 1) / step;
    return AIRY_OK;
}

/* Bytes of the largest batch of consecutive rows. */
static size_t largest_batch(const airy_stack *stack, const airy_run_params *params, size_t rows, size_t batch)
{
    size_t largest = 0, sum = 0;
    for (size_t row = 0; row < rows; row++) {
        struct airy_source source;
        airy_stack_source(stack, airy_run_frame(params, row), &source);
        sum += source.size;
        if (row >= batch) {
            airy_stack_source(stack, airy_run_frame(params, row - batch), &source);
            sum -= source.size;
        }
        largest = airy_max_size(largest, sum);
    }
    return largest;
}

/* Memory of one choice of batch. The table of blocks travels with the bytes; the decoded frames are scratch of the compute queue. */
static airy_status plan_memory(struct airy_run_plan *plan, const airy_stack *stack, const airy_stack_info *info,
                               const airy_integrator *integrator, const airy_run_params *params, size_t rows)
{
    airy_block_layout layout;
    airy_codec_params codec = info->codec;
    const size_t elem_size = airy_dtype_size(info->dtype);
    const size_t frame_bytes = info->height * info->width * elem_size;
    if (!codec.elem_size)
        codec.elem_size = (uint32_t)elem_size;
    AIRY_TRY(airy_block_layout_make(&layout, frame_bytes, &codec));
    plan->batch_bytes = largest_batch(stack, params, rows, plan->batch) + AIRY_BATCH_SLACK;
    const size_t table = plan->batch * layout.blocks * sizeof(airy_block);
    plan->result_bytes = plan->batch * (AIRY_SUM_PLANES * integrator->bins * sizeof(double) + sizeof(airy_frame_stats));
    const uint64_t slot = (uint64_t)plan->batch_bytes + table + plan->result_bytes;
    const bool cpu = integrator->device->backend == &airy_backend_cpu;
    plan->host_bytes = plan->slots * slot;
    plan->device_bytes = cpu ? plan->slots * plan->result_bytes : plan->slots * slot + plan->batch * frame_bytes;
    return AIRY_OK;
}

/* Room for the run on the device; the host's memory is bounded by the same limit where the device is the CPU. */
static bool fits(const struct airy_run_plan *plan, const airy_integrator *integrator)
{
    airy_memory_info memory;
    if (airy_device_memory(integrator->device, &memory) != AIRY_OK || !memory.limit)
        return true;
    const bool cpu = integrator->device->backend == &airy_backend_cpu;
    const uint64_t need = plan->device_bytes + (cpu ? plan->host_bytes : 0);
    const uint64_t room = memory.limit > memory.in_use ? memory.limit - memory.in_use : 0;
    /* An eighth stays free for the back end's partial sums. */
    return need <= room - room / 8;
}

airy_status airy_run_plan_make(struct airy_run_plan *plan, const airy_stack *stack, const airy_integrator *integrator,
                               const airy_run_params *params)
{
    airy_stack_info info;
    size_t rows = 0;
    AIRY_TRY(airy_stack_get_info(stack, &info));
    AIRY_FAIL_IF(info.height != integrator->height || info.width != integrator->width, AIRY_ERR_SHAPE,
                 "%s has frames of %zu x %zu pixels, the geometry's detector %zu x %zu", info.dataset, info.height,
                 info.width, integrator->height, integrator->width);
    AIRY_TRY(airy_run_rows(&rows, &info, params));
    const bool cpu = integrator->device->backend == &airy_backend_cpu;
    *plan = (struct airy_run_plan){
        .batch = params->batch ? params->batch
                 : cpu         ? BATCH_CPU
                               : BATCH_DEVICE,
        .slots = params->slots ? params->slots : SLOTS,
        .readers = params->readers ? params->readers
                                   : airy_min_size(cpu ? READERS_CPU : READERS_DEVICE, airy_thread_limit()),
    };
    plan->batch = airy_min_size(plan->batch, rows);
    plan->slots = airy_min_size(plan->slots, (rows + plan->batch - 1) / plan->batch);
    for (;;) {
        AIRY_TRY(plan_memory(plan, stack, &info, integrator, params, rows));
        /* A batch's bytes are addressed by 32 bits. */
        const bool small = plan->batch_bytes < (size_t)3 << 30;
        if (small && fits(plan, integrator))
            return AIRY_OK;
        if (plan->batch > 1 && !params->batch)
            plan->batch = (plan->batch + 1) / 2;
        else if (plan->slots > 1 && !params->slots)
            plan->slots--;
        else
            break;
    }
    airy_memory_info memory;
    AIRY_TRY(airy_device_memory(integrator->device, &memory));
    return airy_fail(AIRY_ERR_MEMORY,
                     "batches of %zu frames in %zu slots need %llu bytes on the host and %llu on %s, where %llu of "
                     "%llu are in use; raise "
                     "the memory limit",
                     plan->batch, plan->slots, (unsigned long long)plan->host_bytes,
                     (unsigned long long)plan->device_bytes, airy_device_spec(integrator->device),
                     (unsigned long long)memory.in_use, (unsigned long long)memory.limit);
}

airy_status airy_integrate_plan(airy_run_info *info, const airy_stack *stack, const airy_integrator *integrator,
                                const airy_run_params *params)
{
    AIRY_FAIL_IF(!info || !stack || !integrator, AIRY_ERR_PARAM,
                 "airy_integrate_plan: info, stack or integrator is NULL");
    static const airy_run_params defaults;
    const airy_run_params *p = params ? params : &defaults;
    struct airy_run_plan plan;
    airy_stack_info stack_info;
    size_t rows = 0;
    AIRY_TRY(airy_run_plan_make(&plan, stack, integrator, p));
    AIRY_TRY(airy_stack_get_info(stack, &stack_info));
    AIRY_TRY(airy_run_rows(&rows, &stack_info, p));
    *info = (airy_run_info){
        .frames = rows,
        .batch = plan.batch,
        .slots = plan.slots,
        .readers = plan.readers,
        .host_bytes = plan.host_bytes,
        .device_bytes = plan.device_bytes,
    };
    return AIRY_OK;
}
