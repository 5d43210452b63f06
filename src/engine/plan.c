#include "engine/run.h"

#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/backend.h"
#include "core/tuning.h"

/*
 * Batches, slots and readers are core/tuning.c's. A slot goes round as: filled by the readers,
 * copied, summed, written, 2 ms of an Eiger 4M run at the speed of the wire, so that 40 frames are
 * in flight; and all slots together stay below half of a large processor's shared cache, because
 * what the readers write the copy engine reads soon after. (H200, 16 cores, frames of 2.4 MB:
 * readers alone bring 27,000 frames/s into 100 MB of slots and 16,000 into 300 MB; the whole run
 * 21,200 with 5 slots of 8 frames and 14,300 with 4 of 32.)
 */
enum {
    MAX_SLOTS = 64,
    MAX_READERS = 256,
    MAX_WRITERS = 64,
    MAX_PARTS = 65536,
    TEAM_SLOTS = 8,  /* of several devices together, */
    LEAST_SLOTS = 3, /* but of each: one is filled, one copied, one summed */
    /*
     * Three and more devices: as many bytes in smaller batches, of which the memory used last is
     * taken first. Four H200, 6 readers each, frames of 2.4 MB: 41,700 frames/s with 6 slots of 3,
     * 38,000 with 6 of 2, 38,600 with 3 of 4, 29,700 with 3 of 8.
     */
    MANY_DEVICES = 3,
    MANY_SLOTS = 6,
    MANY_SHARE = 3,
    TEAM_READERS = 24,
    LEAST_READERS = 4,
    /* Kernels that take frames side by side take so many best, and fewer in these steps. */
    BATCH_LANES = 32,
    BATCH_STEP = 8,
    /* Of a batch for a device: they bound the scratch. 64 frames of an Eiger 4M. */
    BATCH_DECODED_BYTES = 1200 << 20,
    BATCH_CPU_BYTES = 320 << 20, /* as stored: 16 frames of an Eiger 4M even uncompressed */
    WAITING_BYTES = 8 << 20,     /* of a device's results; page-locking them takes 4 ms */
    MAX_WAITING = 16,
    THREAD_SCRATCH = 256 << 10, /* blocks a thread of the CPU works on, in each lane */
    FED_RATIO = 8,              /* of compression, of frames that nobody has seen yet */
    FED_ROWS = 4096,            /* more of them than any batches in flight have */
    /*
     * Sizes of frames: of up to so many rows all are looked at, of more those of windows spread over
     * them. So planning takes the same time however many rows there are.
     */
    LOOKED_AT = 4096,
    WINDOWS = 32,
    WINDOW = 32 /* rows */
};

size_t airy_run_frame(const airy_run_params *params, size_t row)
{
    return params->first + row * (params->step ? params->step : 1);
}

airy_status airy_run_rows(size_t *rows, const airy_stack_info *info, const airy_run_params *params)
{
    const size_t last = params->last ? params->last : info->frames;
    const size_t step = params->step ? params->step : 1;
    AIRY_FAIL_IF(last > info->frames, AIRY_ERR_PARAM,
                 "last frame = %zu, expected <= %zu, the frames of the stack", last, info->frames);
    AIRY_FAIL_IF(params->first >= last, AIRY_ERR_PARAM, "first frame = %zu, expected < %zu",
                 params->first, last);
    *rows = (last - params->first - 1) / step + 1;
    return AIRY_OK;
}

size_t airy_run_group(const airy_run_params *params, size_t rows)
{
    return airy_max_size(airy_min_size(params->group, rows), 1);
}

size_t airy_run_groups(const struct airy_run *run)
{
    return (run->total_rows - 1) / run->group + 1;
}

/*
 * Parts take blocks of rows in turn: of neighbours, whose bytes are neighbours too, but small
 * enough that each part has one.
 */
static size_t part_rows(const airy_run_params *params, size_t rows)
{
    enum { MOST = 32 };
    return airy_max_size(airy_min_size(rows / params->parts, MOST), 1);
}

/* Of so many rows, those that a process may expect to do: where they are claimed, its share. */
static size_t own_share(const airy_run_params *params, size_t rows)
{
    return params->claim ? (rows - 1) / airy_max_size(params->parts, 1) + 1 : rows;
}

bool airy_run_is_mine(const airy_run_params *params, size_t row, size_t rows)
{
    if (params->claim)
        return false;
    if (params->parts <= 1)
        return true;
    return row / part_rows(params, rows) % params->parts == params->part;
}

/* Bytes of a frame that comes from a stack. */
static size_t source_size(const struct airy_run *run, const size_t *rows, size_t i)
{
    struct airy_frame_source source;
    airy_stack_source(run->stack, airy_run_frame(run->params, rows ? rows[i] : i), &source);
    return source.size;
}

/* A team of CPUs only is served otherwise than one with a device that bytes are copied to. */
static bool is_cpu(const struct airy_run_team *team)
{
    bool cpu = true;
    for (size_t i = 0; i < team->count; i++)
        cpu = cpu && team->devices[i]->backend->in_place;
    return cpu;
}

/* Whose tuned sizes hold: a device that bytes are copied to, where there is one. */
static const airy_device *tuned_device(const struct airy_run_team *team)
{
    for (size_t i = 0; i < team->count; i++)
        if (!team->devices[i]->backend->in_place)
            return team->devices[i];
    return team->devices[0];
}

static size_t frame_bytes(const airy_stack_info *info)
{
    return info->height * info->width * airy_dtype_size(info->dtype);
}

/* What holds for frames of this run. */
static struct airy_tune_entry tuned(const struct airy_run *run, enum airy_tune which)
{
    return airy_tuned_for(tuned_device(&run->team), which, run->info.height * run->info.width);
}

/* Slots and readers are of a device, whatever its lanes. */
static size_t tuned_slots(const struct airy_run *run)
{
    const struct airy_run_team *team = &run->team;
    const struct airy_tune_entry size = tuned(run, AIRY_TUNE_SLOTS);
    if (size.source != AIRY_TUNING_DEFAULT || team->count == 1)
        return size.current;
    /*
     * Several devices share the processor's cache, and one that waits for readers needs fewer: two
     * H200 with 4 slots each do 36,000 frames/s, with 8 each 25,000.
     */
    if (team->count >= MANY_DEVICES)
        return MANY_SLOTS;
    return airy_min_size(size.current, airy_max_size(TEAM_SLOTS / team->count, LEAST_SLOTS));
}

static size_t choose_slots(const struct airy_run *run)
{
    const size_t most = run->work->slots ? run->work->slots : SIZE_MAX;
    return run->params->slots ? run->params->slots : airy_min_size(tuned_slots(run), most);
}

/*
 * A default leaves cores for the other devices of the team, and memory: page cache, slots and
 * copies share it. Four H200 of a host of 64 cores do 27,300 frames/s with 4 readers each, 34,200
 * with 6, 30,500 with 8 and 27,700 with 12; two 40,000 with 12.
 */
static size_t choose_readers(const struct airy_run *run)
{
    const struct airy_run_team *team = &run->team;
    const struct airy_tune_entry size = tuned(run, AIRY_TUNE_READERS);
    if (run->params->readers)
        return run->params->readers;
    const size_t cores = airy_max_size(airy_thread_limit() / team->count, 1);
    const size_t share = airy_max_size(TEAM_READERS / team->count, LEAST_READERS);
    return size.source == AIRY_TUNING_DEFAULT
               ? airy_min_size(size.current, airy_min_size(cores, share))
               : size.current;
}

static size_t choose_cpu_batch(const struct airy_run *run)
{
    return run->params->batch     ? run->params->batch
           : run->work->cpu_batch ? run->work->cpu_batch
                                  : tuned(run, AIRY_TUNE_BATCH_FRAMES).current;
}

/* Of the largest CPU; 0: the team has none. */
static unsigned most_threads(const struct airy_run_team *team)
{
    unsigned most = 0;
    for (size_t i = 0; i < team->count; i++) {
        const airy_device *device = team->devices[i];
        if (device->backend->in_place && airy_pool_size(device->pool) > most)
            most = airy_pool_size(device->pool);
    }
    return most;
}

void airy_run_set_lanes(struct airy_run *run, size_t rows)
{
    struct airy_run_team *team = &run->team;
    const bool two = !run->work->one_lane && team->count == 1 && is_cpu(team) &&
                     own_share(run->params, rows) > choose_cpu_batch(run) &&
                     choose_slots(run) != 1 && choose_readers(run) != 1 &&
                     run->params->writers != 1 && airy_pool_size(team->devices[0]->pool) > 1;
    team->lanes = two ? 2 : team->count;
}

/* The first row from `row` on whose size is looked at. */
static size_t next_looked_at(size_t row, size_t row_count)
{
    const size_t step = row_count / (WINDOWS * WINDOW) * WINDOW;
    return row_count <= LOOKED_AT || row % step < WINDOW ? row : (row / step + 1) * step;
}

/*
 * Bytes of the batch that has most, of a stack. Where not all rows are looked at, batches may have
 * an eighth more than those seen; the reader sees to frames that still do not fit.
 */
static size_t largest_batch(const struct airy_run_plan *plan, const struct airy_run *run,
                            const size_t *rows, size_t row_count)
{
    const airy_run_params *params = run->params;
    const bool all = row_count <= LOOKED_AT;
    const size_t piece = all ? plan->batch : airy_min_size(plan->batch, WINDOW);
    size_t largest = 0, sum = 0;
    for (size_t i = 0, last = 0; (i = next_looked_at(i, row_count)) < row_count; last = i++) {
        const size_t size = source_size(run, rows, i);
        const bool begins = all ? i % piece == 0 : i != last + 1 || (i % WINDOW) % piece == 0;
        /* Claimed rows come together as they happen to. */
        sum = params->claim ? piece * size : (begins ? 0 : sum) + size;
        largest = airy_max_size(largest, sum);
    }
    if (all)
        return largest;
    largest = (largest + piece - 1) / piece * plan->batch;
    return largest + largest / 8;
}

/* Of frames to come: what is expected of one that is encoded, for lack of anything better. */
static size_t expected_size(const airy_stack_info *info)
{
    return info->codec.codec == AIRY_CODEC_NONE ? info->max_chunk
                                                : airy_max_size(info->max_chunk / FED_RATIO, 1);
}

/*
 * Room for twice what is expected of a batch, and at least for one frame of any kind: batches of
 * frames that compress badly are full before they have all their frames.
 */
static size_t fed_batch(const struct airy_run_plan *plan, const airy_stack_info *info)
{
    const size_t most = airy_align_up(airy_max_size(info->max_chunk, frame_bytes(info)), 64);
    const size_t wanted = plan->batch * airy_align_up(2 * expected_size(info), 64);
    return airy_max_size(most, wanted);
}

/*
 * Results that may wait for the writer: a disk that is busy for some ms does not keep the device
 * waiting. Few of a short run's, which may be told to stop; none where frames are fed, of which no
 * more than the slots hold are taken at a time.
 */
static size_t count_waiting(const struct airy_run_plan *plan, bool fed, size_t row_count)
{
    enum { SHARE = 16 };
    const size_t most =
        airy_min_size(WAITING_BYTES / airy_max_size(plan->need.results, 1), MAX_WAITING);
    return fed ? 0 : airy_min_size(most, row_count / plan->batch / SHARE);
}

/*
 * Memory of one choice of batch. The table of blocks travels with the bytes; the decoded frames
 * are scratch of the compute queue.
 */
static airy_status plan_memory(struct airy_run_plan *plan, const struct airy_run *run,
                               const size_t *rows, size_t row_count)
{
    airy_block_layout layout;
    const airy_stack_info *info = &run->info;
    const struct airy_run_team *team = &run->team;
    const bool cpu = is_cpu(team);
    const uint64_t frame = frame_bytes(info);
    airy_codec_params codec = info->codec;
    if (!codec.elem_size)
        codec.elem_size = (uint32_t)airy_dtype_size(info->dtype);
    AIRY_TRY(airy_block_layout_make(&layout, frame, &codec));
    plan->batch_bytes = AIRY_BATCH_SLACK + (run->stack ? largest_batch(plan, run, rows, row_count)
                                                       : fed_batch(plan, info));
    struct airy_work_need *need = &plan->need;
    run->work->need(run, plan->batch, need);
    if (cpu)
        need->copied = 0;
    const size_t table = plan->batch * layout.blocks * sizeof(airy_block);
    const uint64_t slot = (uint64_t)plan->batch_bytes + table;
    plan->waiting = cpu ? 0 : count_waiting(plan, !run->stack, row_count);
    const size_t results = plan->slots + plan->waiting;
    plan->host_bytes = team->count * (plan->slots * slot + results * (uint64_t)need->copied) +
                       team->lanes * (uint64_t)need->beside;
    const uint64_t frames = need->decodes ? team->lanes * plan->batch * frame : 0;
    plan->device_bytes = cpu ? plan->slots * (uint64_t)need->results + frames +
                                   team->lanes * (uint64_t)need->scratch
                             : plan->slots * slot + results * (uint64_t)need->results +
                                   plan->batch * frame + need->scratch;
    return AIRY_OK;
}

/* What the threads of a CPU work in. */
static uint64_t thread_bytes(const struct airy_run_plan *plan, const airy_device *device,
                             size_t lanes)
{
    return (uint64_t)THREAD_SCRATCH * lanes *
           airy_min_size(plan->threads, airy_pool_size(device->pool));
}

/*
 * Room for the run on a device, an eighth of it left for partial sums. Host memory has the same
 * limit and its own account; on the CPU both are one, and its threads work there too.
 */
static bool fits_on(const struct airy_run_plan *plan, const airy_device *device, size_t lanes)
{
    airy_memory_info memory;
    if (airy_device_memory(device, &memory) != AIRY_OK || !memory.limit)
        return true;
    const bool one = device->backend->in_place; /* one memory */
    const uint64_t used = memory.in_use + (one ? memory.host_in_use : 0);
    const uint64_t room = memory.limit > used ? memory.limit - used : 0;
    const uint64_t host_room = memory.limit > memory.host_in_use ? memory.limit - memory.host_in_use
                                                                 : 0;
    if (one)
        return plan->host_bytes + plan->device_bytes + thread_bytes(plan, device, lanes) <=
               room - room / 8;
    return (!device->params.memory_limit || plan->host_bytes <= host_room) &&
           plan->device_bytes <= room - room / 8;
}

/* The first device on which the plan does not fit, or NULL. */
static const airy_device *find_short(const struct airy_run_plan *plan,
                                     const struct airy_run_team *team)
{
    for (size_t i = 0; i < team->count; i++)
        if (!fits_on(plan, team->devices[i], team->lanes / team->count))
            return team->devices[i];
    return NULL;
}

/* What batches are multiples of. */
static size_t multiple_of(const struct airy_run *run)
{
    return airy_max_size(run->work->multiple, 1);
}

/* The next smaller plan; false: there is none, or the caller has fixed the sizes. */
static bool shrink(struct airy_run_plan *plan, const struct airy_run *run)
{
    const airy_run_params *params = run->params;
    const size_t least = multiple_of(run), least_slots = run->team.lanes / run->team.count;
    if (plan->batch > least && !params->batch)
        plan->batch = (plan->batch / least + 1) / 2 * least;
    else if (plan->slots > least_slots && !params->slots)
        plan->slots--;
    else if (plan->threads > 1) /* sums do not depend on how many there are */
        plan->threads /= 2;
    else
        return false;
    return true;
}

/* A batch's bytes are addressed by 32 bits. */
static bool addressable(const struct airy_run_plan *plan)
{
    return plan->batch_bytes < (size_t)3 << 30;
}

/* Which memory is short: need, in use and limit are of the same account. */
static airy_status fail_short(const struct airy_run_plan *plan, const airy_device *device,
                              size_t lanes)
{
    airy_memory_info memory;
    AIRY_TRY(airy_device_memory(device, &memory));
    const bool one = device->backend->in_place;
    const bool host =
        !one && device->params.memory_limit &&
        (memory.host_in_use > memory.limit || plan->host_bytes > memory.limit - memory.host_in_use);
    const uint64_t need = one ? plan->host_bytes + plan->device_bytes +
                                    thread_bytes(plan, device, lanes)
                          : host ? plan->host_bytes
                                 : plan->device_bytes;
    const uint64_t used = one    ? memory.in_use + memory.host_in_use
                          : host ? memory.host_in_use
                                 : memory.in_use;
    return airy_hinted(AIRY_HINT_MEMORY,
                       airy_fail(AIRY_ERR_MEMORY,
                                 "batches of %zu frame%s in %zu slot%s%s need %llu bytes of %s%s "
                                 "beside the %llu in use, more than the limit of %llu%s",
                                 plan->batch, plan->batch == 1 ? "" : "s", plan->slots,
                                 plan->slots == 1 ? "" : "s", one ? " and a thread" : "",
                                 (unsigned long long)need, host ? "host memory for " : "",
                                 airy_device_spec(device), (unsigned long long)used,
                                 (unsigned long long)memory.limit,
                                 host ? "" : " less an eighth of what is free, for partial sums"));
}

static airy_status fail_memory(const struct airy_run_plan *plan, const struct airy_run_team *team)
{
    AIRY_FAIL_IF(
        !addressable(plan), AIRY_ERR_MEMORY,
        "batches of %zu frames have %zu bytes, expected less than 3 GiB: make the batch smaller",
        plan->batch, plan->batch_bytes);
    airy_error reason;
    const airy_device *device = find_short(plan, team);
    if (device)
        return fail_short(plan, device, team->lanes / team->count);
    airy_error_get(&reason); /* the allocation failed, not the account */
    return airy_fail(AIRY_ERR_MEMORY, "batches of %zu frame%s in %zu slot%s do not fit: %s",
                     plan->batch, plan->batch == 1 ? "" : "s", plan->slots,
                     plan->slots == 1 ? "" : "s", reason.text);
}

/* Nothing smaller was left to choose, unless the caller has fixed the sizes of batches. */
static airy_status hint_at_work(const struct airy_run_plan *plan, const struct airy_run *run,
                                airy_status status)
{
    const airy_run_params *params = run->params;
    return params->batch > 1 || params->slots || plan->need.hint == AIRY_HINT_NONE
               ? status
               : airy_hint_becomes(AIRY_HINT_MEMORY, plan->need.hint, status);
}

/* Bytes of a frame in the file. */
static size_t mean_size(const struct airy_run *run, const size_t *rows, size_t row_count)
{
    uint64_t sum = 0;
    size_t seen = 0;
    if (!run->stack)
        return expected_size(&run->info);
    for (size_t i = 0; (i = next_looked_at(i, row_count)) < row_count; i++, seen++)
        sum += source_size(run, rows, i);
    return row_count ? airy_max_size((size_t)(sum / seen), 1) : frame_bytes(&run->info);
}

static size_t device_batch(const struct airy_run *run, size_t mean, size_t row_count)
{
    const struct airy_run_team *team = &run->team;
    const struct airy_tune_entry size = tuned(run, AIRY_TUNE_BATCH_MIB);
    const bool many = team->count >= MANY_DEVICES && size.source == AIRY_TUNING_DEFAULT;
    const size_t bytes = ((size_t)size.current << 20) / (many ? MANY_SHARE : 1);
    struct airy_work_need one;
    run->work->need(run, 1, &one);
    size_t batch = airy_min_size(airy_min_size(bytes / mean, bytes / airy_max_size(one.frame, 1)),
                                 BATCH_DECODED_BYTES / frame_bytes(&run->info));
    if (team->count > 1) /* a short stack is for all of them */
        batch = airy_min_size(batch, row_count / (2 * team->count));
    if (batch >= BATCH_STEP)
        batch -= batch % (batch >= BATCH_LANES ? BATCH_LANES : BATCH_STEP);
    return airy_max_size(batch, 1);
}

airy_status airy_run_check(const airy_run_params *params)
{
    AIRY_FAIL_ON_IF(params->slots > MAX_SLOTS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %d", "slots", params->slots, MAX_SLOTS);
    AIRY_FAIL_ON_IF(params->readers > MAX_READERS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %d", "readers", params->readers, MAX_READERS);
    AIRY_FAIL_ON_IF(params->writers > MAX_WRITERS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %d", "writers", params->writers, MAX_WRITERS);
    AIRY_FAIL_ON_IF(params->parts > MAX_PARTS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %d", "parts", params->parts, MAX_PARTS);
    AIRY_FAIL_ON_IF(params->part >= airy_max_size(params->parts, 1), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected less than %zu, the parts", "part",
                    params->part, airy_max_size(params->parts, 1));
    return AIRY_OK;
}

airy_status airy_run_check_plain(const airy_run_params *p, const char *call)
{
    const char *set = p->monitor     ? "monitor"
                      : p->resume    ? "resume"
                      : p->parts > 1 ? "parts"
                      : p->claim     ? "claim"
                      : p->group > 1 ? "group"
                      : p->roi_count ? "rois"
                      : p->grid[0]   ? "grid"
                      : p->arrays    ? "arrays"
                      : p->row       ? "row"
                                     : NULL;
    AIRY_FAIL_IF(set, AIRY_ERR_PARAM, "%s: %s is for integration only", call, set);
    return AIRY_OK;
}

/* What is chosen where the caller has not. */
static struct airy_run_plan choose(const struct airy_run *run, const size_t *rows, size_t row_count)
{
    const struct airy_run_team *team = &run->team;
    const airy_run_params *params = run->params;
    const size_t share = team->lanes / team->count; /* each lane has a slot and a reader */
    const size_t mean = mean_size(run, rows, row_count);
    struct airy_run_plan plan = {
        .batch = params->batch      ? params->batch
                 : run->work->batch ? run->work->batch
                 : is_cpu(team)     ? airy_min_size(choose_cpu_batch(run), BATCH_CPU_BYTES / mean)
                                    : device_batch(run, mean, row_count),
        .slots = choose_slots(run),
        .readers = choose_readers(run),
        .threads = most_threads(team),
    };
    /* Groups that end with batches are put together by each lane for itself. */
    const size_t group = airy_run_group(params, row_count);
    if (!params->batch && plan.batch > group)
        plan.batch -= plan.batch % group;
    /* Who reads frames of such files decodes them, too. */
    if (run->info.path == AIRY_STACK_FILES && !params->readers)
        plan.readers = airy_max_size(plan.readers, airy_thread_limit() / team->count);
    const size_t multiple = multiple_of(run);
    plan.batch = airy_max_size(airy_min_size(plan.batch, row_count) / multiple, 1) * multiple;
    const size_t batches = (row_count + plan.batch - 1) / plan.batch;
    plan.slots = airy_max_size(airy_min_size(plan.slots, batches), share);
    return plan;
}

airy_status airy_run_plan_make(struct airy_run_plan *plan, const struct airy_run *run,
                               const size_t *rows, size_t row_count,
                               const struct airy_run_plan *refused)
{
    const struct airy_run_team *team = &run->team;
    if (!run->stack)
        row_count = airy_min_size(row_count, FED_ROWS);
    *plan = refused ? *refused : choose(run, rows, own_share(run->params, row_count));
    bool smaller = refused != NULL;
    do {
        if (smaller && !shrink(plan, run))
            return hint_at_work(plan, run, fail_memory(plan, team));
        AIRY_TRY(plan_memory(plan, run, rows, row_count));
        smaller = true;
    } while (!addressable(plan) || find_short(plan, team));
    return AIRY_OK;
}

void airy_run_tell_plan(airy_run_info *info, const struct airy_run_plan *plan)
{
    info->batch = plan->batch;
    info->slots = plan->slots;
    info->readers = plan->readers;
    info->host_bytes = plan->host_bytes;
    info->device_bytes = plan->device_bytes;
    info->threads = plan->threads;
}
