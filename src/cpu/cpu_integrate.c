/* Azimuthal integration on the CPU: prepare, and the slices of a wave of frames. */
#include "cpu/cpu_integrate.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"
#include "cpu/cpu_rings.h"

/* Most scratch of a wave that grows with its frames; one group is always taken. */
#define WAVE_BYTES ((size_t)128 << 20)
/*
 * Frames of a wave: enough for the threads of a large machine to stay busy with 64 slices of each
 * group.
 */
#define WAVE_FRAMES 64
/*
 * Larger blocks would be decoded again and again by the slices that they cover; the front decodes
 * such frames.
 */
#define MAX_BLOCK_BYTES 65536u
/* Of a block's compressed bytes are asked for ahead; the machine goes on by itself. */
#define FETCH_BYTES ((size_t)2048)

static const double zeros[AIRY_TILE]; /* the tile of a lane without a frame, of any dtype */

static airy_status prepare(airy_integrator *integrator)
{
    struct airy_cpu_matrix *matrix = NULL;
    uint64_t bytes = 0;
    const airy_integrator_params *params = &integrator->params;
    const bool rings = integrator->ring.kind != AIRY_RING_NONE;
    const bool recurs = params->compat == AIRY_COMPAT_PYFAI &&
                        params->error_model == AIRY_ERROR_MODEL_AZIMUTHAL;
    if (recurs || rings)
        AIRY_TRY(airy_matrix_by_bin(&integrator->matrix, integrator->device->pool));
    AIRY_TRY(airy_cpu_matrix_make(&matrix, &bytes, integrator));
    if (rings) {
        const airy_status status = airy_cpu_rings_make(&matrix->rings, &bytes, integrator);
        if (status != AIRY_OK) {
            airy_cpu_matrix_free(&matrix);
            return status;
        }
    }
    integrator->state = matrix;
    integrator->state_bytes = bytes;
    integrator->engine = rings ? "by bin" : airy_integrate_kernels()->engine;
    return AIRY_OK;
}

static void release(airy_integrator *integrator)
{
    struct airy_cpu_matrix *matrix = integrator->state;
    airy_cpu_matrix_free(&matrix);
    integrator->state = NULL;
}

static void make_rules(struct airy_raw_rules *rules, const airy_pixel_test *test, airy_dtype dtype)
{
    const unsigned bits = (unsigned)airy_dtype_size(dtype) * 8;
    const bool is_signed = airy_dtype_is_signed(dtype);
    memset(rules, 0, sizeof(*rules));
    rules->float_lo = test->float_lo;
    rules->float_hi = test->float_hi;
    rules->float_saturation = test->float_saturation;
    rules->saturation = test->saturation;
    if (airy_dtype_is_float(dtype))
        return;
    const int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    const int64_t most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    const bool wraps = is_signed && test->hi > most;
    const int64_t lo = test->lo > least ? test->lo : least,
                  hi = test->hi < most || wraps ? test->hi : most;
    rules->has_interval = lo <= hi;
    rules->suspicious = is_signed ? (uint64_t)1 << 31 : (uint64_t)1 << 32;
    if (rules->has_interval) {
        rules->lo = (uint32_t)lo;
        rules->span = (uint32_t)(hi - lo);
        if (!wraps && lo < 0 && hi >= 0)
            rules->suspicious = 0;
        else if (rules->lo < rules->suspicious)
            rules->suspicious = rules->lo;
    }
    if (test->saturation < 0)
        rules->suspicious = 0;
    else if ((uint64_t)test->saturation < rules->suspicious)
        rules->suspicious = (uint64_t)test->saturation;
}

/*
 * Pixels [first, end) of a frame in a batch to dst; the frame's status. block: MAX_BLOCK_BYTES
 * twice.
 */
static uint32_t decode_window(const struct airy_integrate_job *job, size_t frame, size_t first,
                              size_t end, uint8_t *dst, uint8_t *block)
{
    const airy_block_layout *layout = &job->plan->chunks.layout;
    const airy_block *table = job->table + frame * layout->blocks;
    const uint64_t from = first * job->elem_size, to = end * job->elem_size;
    uint64_t b = from / layout->block_bytes;
    if (b > layout->full_blocks)
        b = layout->full_blocks;
    for (; b < layout->blocks; b++) {
        const uint64_t start = airy_block_start(*layout, (uint32_t)b);
        const uint64_t stop = start + airy_block_decoded_bytes(*layout, (uint32_t)b);
        if (start >= to)
            break;
        if (stop <= from)
            continue;
        const bool inside = start >= from && stop <= to;
        const uint32_t reason = airy_block_decode(inside ? dst + (start - from) : block, layout,
                                                  (uint32_t)b, table[b], job->bytes,
                                                  block + MAX_BLOCK_BYTES);
        if (reason != AIRY_STATUS_GOOD)
            return (uint32_t)b << 3 | reason;
        if (!inside) {
            const uint64_t lo = start > from ? start : from, hi = stop < to ? stop : to;
            memcpy(dst + (lo - from), block + (lo - start), hi - lo);
        }
    }
    return AIRY_STATUS_GOOD;
}

/* One task: a slice of a group's frames. */
struct slice_task {
    const struct airy_integrate_job *job;
    const struct airy_frame_group *group;
    const struct airy_slice *slice;
    struct airy_slice_result *result[AIRY_MAX_LANES];
    struct airy_raw_stats unused;          /* of the second pass */
    uint8_t *buffer;                       /* [lanes][lane_size] pixels; chunks: then as much for
                                              blocks */
    const uint8_t *window[AIRY_MAX_LANES]; /* pixels of the window, NULL: no frame, or a bad one */
    const struct airy_raw_fns *raw;        /* of the window's pixels, which may be narrower than
                                              the frame's */
    size_t elem_size, narrow;              /* likewise; bytes that the last window needed */
    struct airy_lanes lanes;
};

/* A window of one bit-shuffled block, compressed in every frame of the group. */
static bool is_one_block(const struct slice_task *task, uint32_t *block, size_t first, size_t end)
{
    const struct airy_integrate_job *job = task->job;
    const airy_block_layout *layout = &job->plan->chunks.layout;
    const uint64_t from = first * job->elem_size, size = (end - first) * job->elem_size;
    if (layout->codec != AIRY_CODEC_BSLZ4 || layout->elem_size != job->elem_size ||
        airy_dtype_is_float(job->dtype) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ ||
        from % layout->block_bytes != 0)
        return false;
    *block = (uint32_t)(from / layout->block_bytes);
    if (airy_block_decoded_bytes(*layout, *block) != size || !airy_block_is_coded(*layout, *block))
        return false;
    for (unsigned l = 0; l < task->group->count; l++) {
        const size_t frame = job->wave_first + task->group->first + l;
        if (job->table[frame * layout->blocks + *block].size & AIRY_BLOCK_STORED)
            return false;
    }
    return true;
}

/* Bring a block's compressed bytes near: the next to be decoded stands far from this one's. */
static void fetch_block(const struct slice_task *task, unsigned l, uint32_t block)
{
    const struct airy_integrate_job *job = task->job;
    const size_t frame = job->wave_first + task->group->first + l;
    const airy_block place = job->table[frame * job->plan->chunks.layout.blocks + block];
    for (size_t i = 0; i < airy_min_size(place.size, FETCH_BYTES); i += 64)
        __builtin_prefetch(job->bytes + place.offset + i, 0, 2);
}

/* Zeros that the decoder left out, up to byte `end` of the planes. */
static void fill_planes(uint8_t *planes, size_t *filled, size_t end)
{
    if (*filled < end)
        memset(planes + *filled, 0, end - *filled);
    *filled = airy_max_size(*filled, end);
}

/*
 * The upper bit planes are 0 where pixels count, more often than not: only the lower ones are
 * transposed, to pixels of one or two bytes, the same for all lanes. What the last window needed
 * is the first guess; lanes that turn out to need more make those before them be done again.
 */
static void load_block(struct slice_task *task, uint32_t block, size_t first, size_t end)
{
    const struct airy_integrate_job *job = task->job;
    const struct airy_block_fns *fns = airy_block_fns();
    const uint8_t *valid = (const uint8_t *)(job->matrix->valid + first / AIRY_GROUP);
    const size_t elements = end - first, size = elements * job->elem_size;
    uint8_t *pixels = task->buffer, *planes = task->buffer + job->lanes * job->lane_size;
    size_t width = task->narrow, most = 1, filled[AIRY_MAX_LANES];
    unsigned again = 0;
    for (unsigned l = 0; l < task->group->count;
         l++, pixels += job->lane_size, planes += job->lane_size) {
        const size_t frame = job->wave_first + task->group->first + l;
        const airy_block place = job->table[frame * job->plan->chunks.layout.blocks + block];
        task->window[l] = NULL;
        if (l + 1 < task->group->count)
            fetch_block(task, l + 1, block);
        if (task->result[l]->status != AIRY_STATUS_GOOD)
            continue;
        const uint32_t reason =
            fns->lz4_front(planes, size, job->bytes + place.offset, place.size, &filled[l]);
        if (reason != AIRY_STATUS_GOOD) {
            task->result[l]->status = block << 3 | reason;
            continue;
        }
        /* As many bytes of a pixel as the decoder brought, then as many as count. */
        size_t needed = filled[l] <= elements       ? 1
                        : filled[l] <= 2 * elements ? airy_min_size(2, job->elem_size)
                                                    : job->elem_size;
        fill_planes(planes, &filled[l], airy_max_size(needed, width) * elements);
        needed = task->group->kernels->narrowest(planes, elements / 8, needed, valid);
        most = airy_max_size(most, needed);
        if (needed > width) {
            width = needed;
            again = l;
        }
        fns->unshuffle(pixels, planes, elements, width);
        task->window[l] = pixels;
    }
    for (unsigned l = 0; l < again; l++) {
        uint8_t *lane = task->buffer + l * job->lane_size;
        planes = lane + job->lanes * job->lane_size;
        if (!task->window[l])
            continue;
        fill_planes(planes, &filled[l], width * elements);
        fns->unshuffle(lane, planes, elements, width);
    }
    task->narrow = most;
    task->elem_size = width;
    if (width < job->elem_size)
        task->raw = &task->group->kernels->raw[width == 1 ? AIRY_DTYPE_U8 : AIRY_DTYPE_U16];
}

static void load_window(struct slice_task *task, size_t first, size_t end)
{
    const struct airy_integrate_job *job = task->job;
    uint32_t block = 0;
    task->raw = &task->group->kernels->raw[job->dtype];
    task->elem_size = job->elem_size;
    if (!job->pixels && is_one_block(task, &block, first, end)) {
        load_block(task, block, first, end);
        return;
    }
    for (unsigned l = 0; l < task->group->count; l++) {
        const size_t frame = job->wave_first + task->group->first + l;
        uint8_t *buffer = task->buffer + l * job->lane_size;
        task->window[l] = NULL;
        if (task->result[l]->status != AIRY_STATUS_GOOD)
            continue;
        if (job->pixels) {
            task->window[l] = job->pixels +
                              (frame * job->integrator->pixels + first) * job->elem_size;
            continue;
        }
        task->result[l]->status = decode_window(job, frame, first, end, buffer,
                                                task->buffer + job->lanes * job->lane_size);
        if (task->result[l]->status == AIRY_STATUS_GOOD)
            task->window[l] = buffer;
    }
}

/*
 * Pixels [first, first + count), at most a tile, of one lane: looked through and cleaned. Returns
 * whether any is not 0.
 */
static bool load_tile(struct slice_task *task, unsigned l, size_t window_first)
{
    const struct airy_integrate_job *job = task->job;
    struct airy_lanes *lanes = &task->lanes;
    const size_t at = lanes->first - window_first, size = lanes->count * task->elem_size;
    const uint16_t *valid = job->matrix->valid + lanes->first / AIRY_GROUP;
    const uint8_t *pixels = task->window[l] + at * task->elem_size;
    uint8_t *buffer = task->buffer + l * job->lane_size + (job->pixels ? 0 : at * task->elem_size);
    struct airy_slice_result *result = task->result[l];
    struct airy_raw_stats *stats = job->second ? &task->unused : &result->stats;
    bool zero = false;
    if (lanes->count % AIRY_GROUP != 0) {
        if (pixels != buffer)
            memcpy(buffer, pixels, size);
        memset(buffer + size, 0, (AIRY_GROUP - lanes->count % AIRY_GROUP) * task->elem_size);
        pixels = buffer;
    }
    lanes->pixels[l] = pixels;
    if (task->raw->scan(stats, &zero, pixels, valid, lanes->count, &job->rules))
        return !zero;
    if (pixels != buffer)
        memcpy(buffer, pixels, size);
    lanes->pixels[l] = buffer;
    uint16_t *bits = job->invalid + (task->group->first + l) * job->matrix->groups;
    if (!result->marked) {
        const size_t groups = (task->slice->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
        memset(bits + task->slice->pixel / AIRY_GROUP, 0, groups * sizeof(*bits));
        result->marked = true;
    }
    lanes->invalid[l] = bits + lanes->first / AIRY_GROUP;
    task->raw->clean(stats, buffer, bits + lanes->first / AIRY_GROUP, valid, lanes->count,
                     &job->rules);
    return true;
}

static void sum_tile(struct slice_task *task, size_t window_first)
{
    const struct airy_integrate_job *job = task->job;
    const struct airy_sum_fns *fns = task->group->lanes == 1 ? &task->raw->single
                                                             : &task->raw->wide;
    struct airy_lanes *lanes = &task->lanes;
    bool nonzero = false;
    for (unsigned l = 0; l < task->group->lanes; l++) {
        lanes->pixels[l] = zeros;
        lanes->invalid[l] = NULL;
        if (l < task->group->count && task->window[l])
            nonzero |= load_tile(task, l, window_first);
    }
    if (job->second)
        fns->second(lanes);
    else if (nonzero && !job->rings)
        fns->sum(lanes);
}

static void sum_slice(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const struct airy_frame_group *group = &job->group[index % job->groups];
    const struct airy_slice *slice = &job->matrix->slice[index / job->groups];
    const size_t row = group->lanes * (size_t)job->planes;
    const size_t end = slice->pixel + slice->pixels;
    struct slice_task task = {.job = job, .group = group, .slice = slice, .narrow = 1};
    task.buffer = job->worker + worker * job->worker_size;
    task.lanes = (struct airy_lanes){.integrator = job->integrator,
                                     .matrix = job->matrix,
                                     .slice = slice,
                                     .sums = group->partials + slice->row * row,
                                     .place = job->matrix->place ? job->matrix->place
                                                                 : job->integrator->matrix.bin,
                                     .place_lo = job->matrix->place ? 0 : (uint32_t)slice->bin_lo,
                                     .poisson = job->planes == 2};
    if (job->second)
        task.lanes.means = job->means + group->first * job->integrator->bins;
    memset(task.lanes.sums, 0, (slice->bin_count + AIRY_MAX_PER_PIXEL) * row * sizeof(double));
    for (unsigned l = 0; l < group->count; l++) {
        const size_t frame = group->first + l;
        task.result[l] = &job->results[frame * job->matrix->slices + index / job->groups];
        if (job->second)
            continue;
        memset(task.result[l], 0, sizeof(*task.result[l]));
        task.result[l]->status = job->status ? job->status[job->wave_first + frame]
                                             : AIRY_STATUS_GOOD;
    }
    for (size_t window = slice->pixel; window < end; window += job->window) {
        const size_t window_end = airy_min_size(window + job->window, end);
        load_window(&task, window, window_end);
        for (size_t first = window; first < window_end; first += AIRY_TILE) {
            task.lanes.first = first;
            task.lanes.count = airy_min_size(AIRY_TILE, window_end - first);
            sum_tile(&task, window);
        }
    }
}

/*
 * Cut the wave's frames in groups: full ones, then what is left in as many lanes as are worth it,
 * or one by one.
 */
static void make_groups(struct airy_integrate_job *job)
{
    double *partials = job->partials;
    job->groups = 0;
    for (size_t first = 0; first < job->wave_frames;) {
        struct airy_frame_group *group = &job->group[job->groups++];
        const size_t left = job->wave_frames - first;
        const struct airy_integrate_kernels *kernels = job->kernels;
        while (kernels->fewer && left < kernels->worth)
            kernels = kernels->fewer;
        group->first = first;
        group->kernels = kernels;
        group->lanes = left >= kernels->worth && job->lanes > 1 ? kernels->lanes : 1;
        group->count = (unsigned)airy_min_size(left, group->lanes);
        group->partials = partials;
        partials += job->matrix->rows * job->planes * group->lanes;
        first += group->count;
    }
}

static void run_wave(struct airy_integrate_job *job)
{
    airy_device *device = job->integrator->device;
    const bool azimuthal = job->integrator->params.error_model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const double bytes = (double)(job->wave_frames * job->integrator->pixels * job->elem_size);
    make_groups(job);
    job->second = false;
    airy_profile_loop_few(device, "integrate_blocks", bytes, job->threads,
                          job->groups * job->matrix->slices, sum_slice, job);
    airy_integrate_stats_wave(job);
    if (job->rings) {
        airy_integrate_rings_wave(job);
        return;
    }
    airy_integrate_merge_wave(job);
    airy_integrate_remove_wave(job);
    if (!azimuthal)
        return;
    if (job->integrator->params.compat == AIRY_COMPAT_PYFAI) {
        airy_integrate_recur_wave(job);
        return;
    }
    airy_integrate_mean_wave(job);
    job->second = true;
    airy_profile_loop_few(device, "integrate_variance", bytes, job->threads,
                          job->groups * job->matrix->slices, sum_slice, job);
    airy_integrate_merge_wave(job);
}

/* Pixels decoded at a time: whole blocks where their size allows it. */
static size_t choose_window(const struct airy_integrate_job *job)
{
    if (job->pixels)
        return AIRY_TILE;
    const size_t block = job->plan->chunks.layout.block_bytes / job->elem_size;
    if (block != 0 && AIRY_TILE % block == 0)
        return AIRY_TILE;
    if (block > AIRY_TILE && AIRY_SLICE_STEP % block == 0)
        return block;
    return AIRY_SLICE_STEP;
}

/*
 * What partial sums may have: half of what the device's limit leaves, so that a small limit makes
 * small waves rather than a failure, in two lanes as in one.
 */
static size_t partials_room(const airy_queue *queue)
{
    const airy_buffer *held = queue->scratch[AIRY_SCRATCH_PARTIALS];
    return (size_t)airy_device_room(queue->device) / 2 + (held ? held->size : 0);
}

/* Tiles of each thread, for job->lanes. */
static airy_status take_tiles(struct airy_integrate_job *job, airy_queue *queue)
{
    airy_buffer *buffer = NULL;
    /*
     * Lanes a line apart from a multiple of the page: else all of them would fall into the same
     * sets of the cache.
     */
    job->window = choose_window(job);
    job->lane_size = airy_align_up(job->window * job->elem_size, 64) + 64;
    size_t tiles = job->lanes * job->lane_size;
    if (!job->pixels)
        tiles += airy_max_size(tiles, 2 * (size_t)MAX_BLOCK_BYTES);
    job->worker_size = airy_align_up(airy_max_size(tiles, airy_integrate_merge_scratch(job)), 4096);
    AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_BLOCKS, job->worker_size, &job->threads,
                                       &buffer));
    job->worker = buffer->handle;
    return AIRY_OK;
}

/*
 * Sizes below are bounded by pixels, bins and 64 frames of an integrator that exists, far below
 * the range of size_t.
 */
static airy_status take_partials(struct airy_integrate_job *job, airy_queue *queue)
{
    const struct airy_cpu_matrix *m = job->matrix;
    const size_t row = job->planes * sizeof(double);
    const bool azimuthal = !job->rings &&
                           job->integrator->params.error_model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const size_t partials = airy_align_up(m->rows * row, 64);
    const size_t means = azimuthal ? airy_align_up(job->integrator->bins * sizeof(double), 64) : 0;
    const size_t results = airy_align_up(m->slices * sizeof(struct airy_slice_result), 64);
    const size_t invalid = airy_align_up(m->groups * sizeof(uint16_t), 64);
    const size_t one = partials + means + results + invalid;
    const size_t room = partials_room(queue), budget = airy_min_size(WAVE_BYTES, room - room / 4);
    if (budget / one < job->lanes)
        job->lanes = 1;
    size_t wave = airy_min_size(WAVE_FRAMES, budget / one) / job->lanes * job->lanes;
    wave = airy_min_size(airy_max_size(wave, job->lanes), airy_align_up(job->frames, job->lanes));
    airy_buffer *buffer = NULL;
    job->removed_size = job->rings ? 1 : airy_integrate_removal_size(job);
    const size_t left = room > wave * one ? airy_min_size(WAVE_BYTES, room - wave * one) : 0;
    job->removed_runs =
        airy_min_size(airy_pool_size(queue->device->pool), left / job->removed_size);
    job->removed_runs = airy_min_size(airy_max_size(job->removed_runs, 1), wave);
    const size_t removed = job->removed_runs * job->removed_size;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, wave * one + removed, &buffer));
    uint8_t *at = buffer->handle;
    job->partials = (double *)at;
    job->means = azimuthal ? (double *)(at + wave * partials) : NULL;
    job->results = (struct airy_slice_result *)(at + wave * (partials + means));
    job->invalid = (uint16_t *)(at + wave * (partials + means + results));
    job->removed = at + wave * one;
    job->wave_frames = wave;
    return AIRY_OK;
}

static airy_status run_job(airy_queue *queue, struct airy_integrate_job *job)
{
    const struct airy_integrate_plan *plan = job->plan;
    job->integrator = plan->integrator;
    job->matrix = plan->integrator->state;
    job->kernels = airy_integrate_kernels();
    job->elem_size = airy_dtype_size(job->dtype);
    job->rings = plan->integrator->ring.kind != AIRY_RING_NONE;
    job->planes = plan->integrator->params.error_model == AIRY_ERROR_MODEL_POISSON ? 2 : 1;
    job->planes = job->rings ? 0 : job->planes;
    job->sums = airy_array_address(plan->sums);
    job->stats = airy_array_address(plan->stats);
    assert(job->kernels->raw[job->dtype].scan);
    make_rules(&job->rules, &plan->test, job->dtype);
    job->lanes = job->rings ? 1 : job->kernels->lanes;
    if (take_tiles(job, queue) != AIRY_OK) { /* a small limit: frame by frame, to the same bits */
        job->lanes = 1;
        AIRY_TRY(take_tiles(job, queue));
    }
    AIRY_TRY(take_partials(job, queue));
    if (job->rings)
        AIRY_TRY(airy_integrate_rings_take(job, queue));
    const size_t wave = job->wave_frames;
    for (job->wave_first = 0; job->wave_first < job->frames; job->wave_first += wave) {
        job->wave_frames = airy_min_size(wave, job->frames - job->wave_first);
        run_wave(job);
    }
    return AIRY_OK;
}

static airy_status integrate(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    struct airy_integrate_job job = {.plan = plan,
                                     .dtype = plan->frames->dtype,
                                     .frames = plan->frames->shape[0],
                                     .pixels = airy_array_address(plan->frames),
                                     .status = plan->status ? airy_array_address(plan->status)
                                                            : NULL};
    return run_job(queue, &job);
}

static bool takes_chunks(const struct airy_integrate_plan *plan)
{
    const airy_block_layout *layout = &plan->chunks.layout;
    const airy_integrator_params *params = &plan->integrator->params;
    /* The recurrence and rings go bin by bin, through the whole frame. */
    const bool recurs = params->error_model == AIRY_ERROR_MODEL_AZIMUTHAL &&
                        params->compat == AIRY_COMPAT_PYFAI;
    const bool rings = plan->integrator->ring.kind != AIRY_RING_NONE;
    return !recurs && !rings && layout->block_bytes <= MAX_BLOCK_BYTES &&
           layout->block_bytes % airy_dtype_size(plan->chunks.dtype) == 0;
}

static airy_status integrate_chunks(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    struct airy_integrate_job job = {.plan = plan,
                                     .dtype = plan->chunks.dtype,
                                     .frames = plan->chunks.frames,
                                     .table = plan->chunks.host_table,
                                     .bytes = airy_array_address(plan->chunks.bytes)};
    return run_job(queue, &job);
}

const struct airy_integrate_fns airy_integrate_cpu = {
    .prepare = prepare,
    .release = release,
    .integrate = integrate,
    .rings = integrate,
    .takes_chunks = takes_chunks,
    .integrate_chunks = integrate_chunks,
};
