/* What a run that integrates does on devices. */
#include "pipeline/integrate_run.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrate_fns.h"

enum { LONG_ROW = 1 << 14 /* bins from which on planes that do not differ stay where they are */ };

/*
 * A monitor, clip and quantile make the normalizations of every frame its own; groups add all planes
 * up.
 */
static size_t planes_back(const struct airy_integrate_job *job)
{
    const airy_integrator *it = job->integrators[0];
    const airy_run_params *params = job->run.params;
    if (it->bins < LONG_ROW || params->monitor || params->group > 1 ||
        it->ring.kind != AIRY_RING_NONE)
        return AIRY_SUM_PLANES;
    return it->params.error_model != AIRY_ERROR_MODEL_NONE ? AIRY_SUM_VARIANCE + 1
                                                           : AIRY_SUM_SIGNAL + 1;
}

/* Planes that stay on the device are fetched where a frame's are its own. */
static bool has_norms(const struct airy_integrate_job *job)
{
    bool copied = false;
    for (size_t i = 0; i < job->count; i++)
        copied = copied || !job->run.team.devices[i]->backend->in_place;
    return copied && job->planes < AIRY_SUM_PLANES;
}

static void find_need(const struct airy_run *run, size_t batch, struct airy_work_need *need)
{
    const struct airy_integrate_job *job = run->job;
    const size_t plane = job->integrators[0]->bins * sizeof(double);
    const size_t writers = airy_max_size(run->writers, 1),
                 norms = has_norms(job) ? AIRY_RUN_NORMS * plane : 0,
                 row = 3 * job->integrators[0]->bins * sizeof(float) +
                       2 * run->params->roi_count * sizeof(double);
    *need = (struct airy_work_need){
        .results = batch * (AIRY_SUM_PLANES * plane + sizeof(airy_frame_stats)),
        .copied = batch * (job->planes * plane + sizeof(airy_frame_stats)),
        .beside = writers * batch * (row + norms),
        .frame = job->planes * plane,
        /* The CPU needs whole frames only for what goes through them bin by bin. */
        .decodes = job->integrators[0]->ring.kind != AIRY_RING_NONE,
        .hint = job->integrators[0]->params.split == AIRY_SPLIT_NO ? AIRY_HINT_BINS
                                                                   : AIRY_HINT_MATRIX,
    };
}

static airy_status open_writer(struct airy_lane *lane, struct integrate_lane *own)
{
    struct airy_integrate_job *job = lane->run->job;
    const struct airy_run *run = lane->run;
    const airy_integrator *it = job->integrators[lane->member];
    const size_t bins = it->bins, batch = run->plan.batch;
    own->job = job;
    own->integrator = it;
    AIRY_TRY(
        airy_memory_calloc((void **)&own->patterns, batch, sizeof(own->patterns[0]), "patterns"));
    AIRY_TRY(
        airy_memory_calloc((void **)&own->values, batch, 3 * bins * sizeof(float), "patterns"));
    if (has_norms(job))
        AIRY_TRY(airy_memory_calloc((void **)&own->norms, batch,
                                    AIRY_RUN_NORMS * bins * sizeof(double), "normalizations"));
    if (run->params->roi_count)
        AIRY_TRY(airy_memory_calloc((void **)&own->regions, batch,
                                    2 * run->params->roi_count * sizeof(double), "regions"));
    AIRY_TRY(airy_memory_calloc((void **)&own->done, batch, sizeof(own->done[0]), "patterns"));
    struct integrate_group *group = run->in_turn ? &job->spread : &own->group;
    if (run->group > 1 && !group->sums)
        AIRY_TRY(airy_accumulator_create(&group->sums, bins, it->params.error_model));
    return has_norms(job) && !lane->device->backend->in_place
               ? airy_queue_create(&own->fetch, lane->device)
               : AIRY_OK;
}

static airy_status open_lane(struct airy_lane *lane)
{
    const size_t writers = lane->run->writers;
    struct integrate_lane *own = NULL;
    AIRY_TRY(airy_memory_calloc(&lane->work, writers, sizeof(*own), "a lane"));
    own = lane->work;
    for (size_t i = 0; i < writers; i++)
        AIRY_TRY(open_writer(lane, &own[i]));
    return AIRY_OK;
}

static void close_lane(struct airy_lane *lane)
{
    struct integrate_lane *own = lane->work;
    for (size_t i = 0; own && i < lane->run->writers; i++) {
        airy_accumulator_destroy(&own[i].group.sums);
        airy_queue_destroy(&own[i].fetch);
        free(own[i].patterns);
        free(own[i].values);
        free(own[i].norms);
        free(own[i].regions);
        free(own[i].done);
    }
    free(own);
    lane->work = NULL;
}

static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    const struct integrate_lane *own = lane->work;
    const size_t batch = run->plan.batch, bins = own->integrator->bins;
    AIRY_TRY(airy_memory_calloc(&slot->work, 1, sizeof(struct integrate_slot), "a slot"));
    struct integrate_slot *s = slot->work;
    AIRY_TRY(airy_array_create_uninitialized(&s->results, lane->device, AIRY_DTYPE_U8, 1,
                                             &run->plan.need.results));
    const size_t sums_shape[3] = {batch, AIRY_SUM_PLANES, bins};
    const size_t stats_shape[2] = {batch, sizeof(airy_frame_stats)};
    AIRY_TRY(airy_array_view_as(&s->sums, s->results, 0, AIRY_DTYPE_F64, 3, sums_shape));
    AIRY_TRY(airy_array_view_as(&s->stats, s->results,
                                batch * AIRY_SUM_PLANES * bins * sizeof(double), AIRY_DTYPE_U8, 2,
                                stats_shape));
    return lane->device->backend->in_place
               ? AIRY_OK
               : airy_host_create(&s->host_results, lane->device, run->plan.need.copied);
}

static void close_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    (void)lane;
    struct integrate_slot *s = slot->work;
    if (!s)
        return;
    airy_array_destroy(&s->sums);
    airy_array_destroy(&s->stats);
    airy_array_destroy(&s->results);
    airy_host_destroy(&s->host_results);
    free(s);
}

/* Views of the sums and stats of `count` frames from `first` on. */
static airy_status view_results(airy_array **sums, airy_array **stats,
                                const struct integrate_lane *own, const struct integrate_slot *s,
                                size_t first, size_t count)
{
    const size_t start[3] = {first, 0, 0};
    AIRY_TRY(airy_array_view(sums, s->sums, start,
                             (const size_t[3]){count, AIRY_SUM_PLANES, own->integrator->bins}));
    return airy_array_view(stats, s->stats, start,
                           (const size_t[2]){count, sizeof(airy_frame_stats)});
}

static airy_status submit(struct airy_lane *lane, struct airy_slot *slot,
                          const struct airy_chunks *chunks)
{
    const struct integrate_lane *own = lane->work;
    airy_array *sums = NULL, *stats = NULL;
    airy_status status = view_results(&sums, &stats, own, slot->work, 0, slot->frames);
    if (status == AIRY_OK)
        status = airy_integrate_chunks(lane->compute, sums, stats, own->integrator, chunks,
                                       own->job->planes < AIRY_SUM_PLANES);
    airy_array_destroy(&sums);
    airy_array_destroy(&stats);
    return status;
}

static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                                  const airy_array *frame)
{
    const struct integrate_lane *own = lane->work;
    airy_array *sums = NULL, *stats = NULL;
    airy_status status = view_results(&sums, &stats, own, slot->work, i, 1);
    if (status == AIRY_OK)
        status = airy_integrate(lane->compute, sums, stats, own->integrator, frame);
    airy_array_destroy(&sums);
    airy_array_destroy(&stats);
    return status;
}

/* Sums and stats of the slot's frames to the host. */
static airy_status collect(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run_plan *plan = &lane->run->plan;
    const struct integrate_lane *own = lane->work;
    const struct integrate_slot *s = slot->work;
    const size_t bins = own->integrator->bins, planes = own->job->planes, origin[3] = {0, 0, 0};
    uint8_t *host = airy_host_data(s->host_results);
    if (planes == AIRY_SUM_PLANES)
        return airy_array_pull(lane->down, host, plan->need.results, s->results);
    airy_array *sums = NULL;
    const size_t plane = bins * sizeof(double);
    AIRY_TRY(
        airy_array_view(&sums, s->sums, origin, (const size_t[3]){slot->frames, planes, bins}));
    airy_status status = airy_array_pull(lane->down, host, slot->frames * planes * plane, sums);
    airy_array_destroy(&sums);
    if (status == AIRY_OK)
        status = airy_array_pull(lane->down, host + plan->batch * planes * plane,
                                 plan->batch * sizeof(airy_frame_stats), s->stats);
    return status;
}

static bool is_done(const struct airy_run *run, size_t group)
{
    const struct airy_integrate_job *job = run->job;
    return job->file && airy_pattern_file_done(job->file, group);
}

static const struct airy_work work = {
    .need = find_need,
    .open_lane = open_lane,
    .close_lane = close_lane,
    .open_slot = open_slot,
    .close_slot = close_slot,
    .submit = submit,
    .submit_decoded = submit_decoded,
    .collect = collect,
    .take = airy_integrate_take,
    .booked = airy_integrate_booked,
    .is_done = is_done,
};

/* Regions on the axes, and a scan that has a point for each row. */
static airy_status check_regions(const airy_integrator *integrator, const airy_run_params *params)
{
    airy_integrator_info axes;
    AIRY_FAIL_IF(params->roi_count > AIRY_PATTERN_ROIS, AIRY_ERR_PARAM,
                 "%zu regions, expected at most %d", params->roi_count, (int)AIRY_PATTERN_ROIS);
    AIRY_FAIL_IF(params->carried_count > 4 * AIRY_FRAME_VALUES_MAX, AIRY_ERR_PARAM,
                 "%zu values of per-frame metadata, expected at most %d", params->carried_count,
                 4 * AIRY_FRAME_VALUES_MAX);
    AIRY_FAIL_IF((params->grid[0] == 0) != (params->grid[1] == 0), AIRY_ERR_PARAM,
                 "grid of %zu x %zu, expected at least 1 x 1", params->grid[0], params->grid[1]);
    AIRY_TRY(airy_integrator_get_info(integrator, &axes));
    for (size_t i = 0; i < params->roi_count; i++)
        AIRY_TRY(airy_roi_check(&params->rois[i], &axes));
    return AIRY_OK;
}

/* All there, of the frames' shape and like each other. */
static airy_status check_integrators(const struct airy_integrate_job *job)
{
    const airy_stack_info *info = &job->run.info;
    const airy_run_params *params = job->run.params;
    for (size_t i = 0; i < job->count; i++) {
        const airy_integrator *it = job->integrators[i], *first = job->integrators[0];
        AIRY_FAIL_IF(!it, AIRY_ERR_PARAM, "%s: integrators[%zu] is NULL", job->run.call, i);
        AIRY_FAIL_IF(info->height != it->height || info->width != it->width, AIRY_ERR_SHAPE,
                     "%s has frames of %zu x %zu pixels, the geometry's detector %zu x %zu",
                     info->dataset, info->height, info->width, it->height, it->width);
        AIRY_FAIL_IF(!airy_integrators_agree(it, first), AIRY_ERR_PARAM,
                     "integrators[%zu] makes other patterns than integrators[0]", i);
    }
    AIRY_FAIL_ON_IF((unsigned)params->merge >= AIRY_MERGE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "merge",
                    (int)params->merge, AIRY_MERGE_COUNT - 1);
    return check_regions(job->integrators[0], params);
}

/* With skip_bad a frame of a monitor that is none is a bad one. */
static airy_status check_monitor(const struct airy_run *run)
{
    const bool refused = run->params->monitor && !run->params->skip_bad;
    for (size_t row = 0; refused && row < run->total_rows; row++) {
        const double m = run->params->monitor[airy_run_frame(run->params, row)];
        AIRY_FAIL_IF(!airy_monitor_is_usable(m), AIRY_ERR_PARAM,
                     "monitor of frame %zu = %g, expected > 0 and finite",
                     airy_run_frame(run->params, row), m);
    }
    return AIRY_OK;
}

/* Memory of the caller that has room for the rows. */
static airy_status check_arrays(const struct airy_integrate_job *job)
{
    const airy_row_arrays *arrays = job->run.params->arrays;
    const size_t rows = airy_run_groups(&job->run);
    if (!arrays)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(arrays->rows < rows, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at least %zu, the rows of the run", "arrays.rows",
                    arrays->rows, rows);
    AIRY_FAIL_IF((arrays->std || arrays->sem || arrays->variance) &&
                     job->integrators[0]->params.error_model == AIRY_ERROR_MODEL_NONE,
                 AIRY_ERR_PARAM,
                 "arrays have std, sem or variance, but the integrator has no error model");
    return AIRY_OK;
}

/*
 * Writers of a lane: one keeps up with files of patterns, and what callers do with rows takes more;
 * then half of the threads write, for the others are to read and to compute.
 */
static size_t choose_writers(const struct airy_run *run)
{
    enum { MOST = 8 };
    const struct airy_run_team *team = &run->team;
    const airy_device *device = team->devices[0];
    const size_t threads = device->backend->in_place ? airy_pool_size(device->pool)
                                                     : airy_thread_limit();
    size_t of_device = run->params->writers;
    if (of_device == 0 && run->params->row)
        of_device = airy_min_size(threads / (2 * team->count), MOST);
    return airy_max_size(of_device / (team->lanes / team->count), 1);
}

static airy_status open_team(struct airy_integrate_job *job)
{
    struct airy_run *run = &job->run;
    AIRY_FAIL_IF(!run->stack && !run->feed, AIRY_ERR_PARAM, "%s: stack is NULL", run->call);
    AIRY_FAIL_IF(!job->integrators || job->count == 0, AIRY_ERR_PARAM, "%s: integrators is NULL",
                 run->call);
    AIRY_TRY(airy_run_set_team(run, job->count));
    AIRY_TRY(check_integrators(job));
    for (size_t i = 0; i < job->count; i++)
        run->team.devices[i] = job->integrators[i]->device;
    job->planes = planes_back(job);
    run->work = &work;
    run->ordered = run->params->in_order;
    return airy_integrator_get_info(job->integrators[0], &job->axes);
}

airy_status airy_integrate_open(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    AIRY_TRY(open_team(job));
    AIRY_TRY(airy_run_open(run));
    if (!run->feed && !run->ordered) /* a feed's hooks are for one */
        run->writers = choose_writers(run);
    AIRY_TRY(check_arrays(job));
    return check_monitor(run);
}

void airy_integrate_close(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    const bool keep = job->shared || run->params->resume ||
                      run->out->frames + run->out->resumed > 0;
    airy_pattern_file_destroy(&job->file, keep);
    airy_pattern_growing_destroy(&job->growing, keep);
    airy_accumulator_destroy(&job->spread.sums);
}
