/* The integrator's matrix on the device. */
#include "opencl/cl_integrate.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "opencl/cl_buffer.h"
#include "shared/gather_geom.h"

static void release(airy_integrator *integrator)
{
    struct airy_cl_integrator *state = integrator->state;
    if (!state)
        return;
    airy_buffer **buffers[AIRY_CL_BUFFERS];
    airy_cl_list_buffers(state, buffers);
    for (size_t i = 0; i < AIRY_CL_BUFFERS; i++)
        airy_buffer_release(buffers[i]);
    airy_cl_split_free(&state->split);
    airy_queue_destroy(&state->queue);
    pthread_mutex_destroy(&state->lock);
    free(state);
    integrator->state = NULL;
}

/* On their way while the tables are made: they live as long as the integrator. */
airy_status airy_cl_upload_corrections(airy_integrator *integrator)
{
    struct airy_cl_integrator *state = integrator->state;
    const size_t image = integrator->pixels * sizeof(float);
    if (!state->norm)
        AIRY_TRY(airy_cl_upload_begin(&state->norm, state->queue, integrator->norm, image,
                                      "the corrections"));
    return integrator->has_dark && !state->dark
               ? airy_cl_upload_begin(&state->dark, state->queue, integrator->dark, image,
                                      "the dark image")
               : AIRY_OK;
}

static airy_status check_device(const airy_device *device)
{
    AIRY_FAIL_ON_IF(!device->info.fp64, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DEVICE,
                    "device '%s' has no double precision, which integration needs",
                    device->info.spec);
    AIRY_FAIL_ON_IF(device->info.max_group < AIRY_GATHER_GROUP, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_DEVICE,
                    "device '%s' admits work-groups of %u items, integration needs %u",
                    device->info.spec, device->info.max_group, AIRY_GATHER_GROUP);
    return AIRY_OK;
}

/*
 * Compressed frames go through the fused engine where it takes the integrator: the gather engine's
 * tables, which are larger, wait until a frame needs them.
 */
static airy_status prepare(airy_integrator *integrator)
{
    AIRY_TRY(check_device(integrator->device));
    if (!integrator->state)
        AIRY_TRY(airy_cl_integrator_begin(integrator));
    AIRY_TRY(airy_cl_upload_corrections(integrator));
    const bool rings = integrator->ring.kind != AIRY_RING_NONE;
    struct airy_cl_integrator *state = integrator->state;
    airy_queue *queue = state->queue;
    if (rings)
        AIRY_TRY(airy_cl_rings_prepare(&state->rings, queue, integrator));
    else
        AIRY_TRY(airy_cl_fused_prepare(&state->fused, queue, integrator));
    if (!rings && state->fused.why)
        AIRY_TRY(airy_cl_gather_prepare(queue, integrator));
    AIRY_TRY(airy_queue_finish(queue));
    airy_cl_split_free(&state->split);
    airy_queue_destroy(&state->queue);
    airy_buffer **buffers[AIRY_CL_BUFFERS];
    airy_cl_list_buffers(state, buffers);
    for (size_t i = 0; i < AIRY_CL_BUFFERS; i++)
        integrator->state_bytes += *buffers[i] ? (*buffers[i])->size : 0;
    integrator->engine = rings ? "opencl: entries of each bin"
                         : state->fused.why
                             ? "opencl: by tile"
                             : "opencl: compressed blocks into local bins, else by tile";
    if (!rings && state->fused.why)
        airy_log(AIRY_LOG_INFO, "compressed frames are decoded before they are integrated: %s",
                 state->fused.why);
    return AIRY_OK;
}

static bool takes_chunks(const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_fused_lanes(plan->integrator->device);
    return plan->integrator->ring.kind == AIRY_RING_NONE && airy_cl_fused_takes(plan, &lanes);
}

static airy_status integrate_chunks(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_fused_lanes(queue->device);
    return airy_cl_fused_run(queue, plan, &lanes);
}

const struct airy_integrate_fns airy_integrate_opencl = {
    .split = airy_cl_split,
    .pull_corrections = airy_cl_pull_corrections,
    .prepare = prepare,
    .release = release,
    .integrate = airy_cl_gather,
    .rings = airy_cl_rings,
    .takes_chunks = takes_chunks,
    .integrate_chunks = integrate_chunks,
};
