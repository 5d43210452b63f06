/* Spectra to depth profiles on the CPU: LANES lines at a time through all steps. */
#include "cpu/cpu_oct.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/profile.h"

enum {
    LANES = AIRY_OCT_LANES,
    /* Between arrays that are used together: they are not to meet in the same sets of a cache. */
    APART = 5 * 64,
    EXACT = 256 /* numbers of 16 bits, whose sum f32 holds, and that of 16 times as many 32 bits */
};

/*
 * From this size on results are not expected to stay in a cache until they are wanted; memory then has
 * a third less to do.
 */
static const size_t large_result = (size_t)32 << 20;

/* What a thread works in. */
struct room {
    float *x, *rolled, *re, *im, *poison;
    uint32_t *words, *tail;
    double *sums;
};

static size_t take(size_t *at, size_t size)
{
    const size_t first = *at;
    *at += airy_align_up(size, 64) + APART;
    return first;
}

/* Addresses of a room's parts within base; returns its size. */
static size_t lay_room(struct room *room, char *base, const struct airy_oct *oct, bool sums)
{
    const struct airy_oct_cpu_plan *plan = oct->impl;
    const size_t vector = LANES * sizeof(float), samples = oct->p.samples + AIRY_OCT_SPARE,
                 words = AIRY_OCT_MOST_WORDS * vector;
    const bool rolls = oct->p.background == AIRY_OCT_BACKGROUND_ROLLING;
    size_t size = 0;
    const size_t x = take(&size, samples * vector),
                 rolled = rolls ? take(&size, samples * vector) : x,
                 re = take(&size, plan->room * vector), im = take(&size, plan->room * vector),
                 poison = take(&size, vector), first = take(&size, words),
                 tail = take(&size, words),
                 sum = sums ? take(&size, samples * LANES * sizeof(double)) : 0;
    if (room)
        *room = (struct room){.x = (float *)(base + x),
                              .rolled = (float *)(base + rolled),
                              .re = (float *)(base + re),
                              .im = (float *)(base + im),
                              .poison = (float *)(base + poison),
                              .words = (uint32_t *)(base + first),
                              .tail = (uint32_t *)(base + tail),
                              .sums = (double *)(base + sum)};
    return airy_align_up(size, 4096);
}

struct lines_job {
    const struct airy_oct_lines_plan *plan;
    const struct airy_oct_cpu_plan *cpu;
    const struct airy_oct_kernels *kernels;
    const struct airy_fft_kernels *fft;
    struct airy_oct_spectrum spectrum;
    const uint8_t *src;
    char *dst;
    size_t row_bytes; /* of the result */
    size_t run;       /* lines that groups may share: of a frame where it has a mean, else all */
    size_t groups;    /* of a run */
    char *rooms;
    size_t room_size;
};

/* Addresses of `count` raw lines from the first on; the others are zeros. */
static void find_lines(const uint8_t *lines[LANES], const struct airy_oct_cpu_plan *cpu,
                       const uint8_t *first, size_t count)
{
    for (size_t l = 0; l < LANES; l++)
        lines[l] = l < count ? first + l * cpu->raw.line_bytes : cpu->zeros;
}

static char *result_row(const struct lines_job *job, size_t line)
{
    const struct airy_oct_lines_plan *plan = job->plan;
    const size_t lines = plan->oct->p.lines, frame = line / lines;
    const bool odd = (plan->first_frame + frame) % 2 != 0,
               back = plan->flip == AIRY_OCT_FLIP_ALL ||
                      (plan->flip == AIRY_OCT_FLIP_EVEN && !odd) ||
                      (plan->flip == AIRY_OCT_FLIP_ODD && odd);
    const size_t row = back ? frame * lines + (lines - 1 - line % lines) : line;
    return job->dst + row * job->row_bytes;
}

static void transform(const struct lines_job *job, float *re, float *im)
{
    const struct airy_oct_cpu_plan *cpu = job->cpu;
    const size_t n = cpu->n;
    if (cpu->chirp) {
        job->kernels->turn(re, im, n, cpu->chirp);
        memset(re + n * LANES, 0, (cpu->block - n) * LANES * sizeof(float));
        memset(im + n * LANES, 0, (cpu->block - n) * LANES * sizeof(float));
        job->fft->f32.forward(re, im, cpu->block, LANES, cpu->table);
        job->kernels->turn(re, im, cpu->block, cpu->chirp_spectrum);
        job->fft->f32.inverse(re, im, cpu->block, LANES, cpu->table);
        job->kernels->turn(re, im, n, cpu->chirp);
        return;
    }
    if (cpu->lookup.first_step) {
        const size_t quarter = n / 4;
        for (size_t b = 0; b < n; b += quarter)
            job->fft->f32.forward(re + b * LANES, im + b * LANES, quarter, LANES,
                                  cpu->table + 6 * quarter);
        return;
    }
    for (size_t i = 0; i < cpu->steps; i++)
        job->kernels->step(re, im, n, &cpu->step[i]);
    for (size_t b = 0; b < n; b += cpu->block)
        job->fft->f32.forward(re + b * LANES, im + b * LANES, cpu->block, LANES, cpu->table);
}

static void run_group(void *arg, size_t index, unsigned worker)
{
    const struct lines_job *job = arg;
    const struct airy_oct *oct = job->plan->oct;
    const struct airy_oct_cpu_plan *cpu = job->cpu;
    const size_t run = index / job->groups, first = index % job->groups * LANES,
                 count = airy_min_size(LANES, job->run - first), line = run * job->run + first;
    const float *mean = cpu->offset;
    const uint8_t *lines[LANES];
    void *rows[LANES];
    struct room room;
    lay_room(&room, job->rooms + worker * job->room_size, oct, false);
    if (job->plan->mean)
        mean = (const float *)airy_array_address(job->plan->mean) + run * oct->p.samples;
    find_lines(lines, cpu, job->src + line * cpu->raw.line_bytes, count);
    for (size_t l = 0; l < count; l++)
        rows[l] = result_row(job, line + l);
    job->kernels->load(room.x, room.poison, &cpu->raw, lines, room.words, room.tail);
    if (oct->p.background == AIRY_OCT_BACKGROUND_ROLLING)
        job->kernels->roll(room.rolled, room.x, oct->p.samples, oct->p.rolling, cpu->raw.bits < 32);
    job->kernels->gather(room.re, room.im, room.rolled, &cpu->lookup, mean);
    transform(job, room.re, room.im);
    job->kernels->store(rows, count, room.re, room.im, room.poison, &job->spectrum);
}

static airy_status open_rooms(char **rooms, size_t *room_size, airy_queue *queue,
                              const struct airy_oct *oct, bool sums)
{
    airy_buffer *buffer;
    *room_size = lay_room(NULL, NULL, oct, sums);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS,
                                airy_pool_size(queue->device->pool) * *room_size, &buffer));
    *rooms = buffer->handle;
    return AIRY_OK;
}

static airy_status lines(airy_queue *queue, const struct airy_oct_lines_plan *plan)
{
    const struct airy_oct *oct = plan->oct;
    const struct airy_oct_cpu_plan *cpu = oct->impl;
    const size_t all = plan->frames * oct->p.lines;
    struct lines_job job = {.plan = plan,
                            .cpu = cpu,
                            .kernels = airy_oct_kernels(),
                            .fft = airy_fft_kernels(),
                            .spectrum = cpu->spectrum,
                            .src = airy_array_address(plan->src),
                            .dst = airy_array_address(plan->dst),
                            .run = plan->mean ? oct->p.lines : all};
    /* A recorded background and a mean exclude each other. */
    assert(!plan->mean || !cpu->offset);
    if (all == 0)
        return AIRY_OK;
    job.groups = (job.run + LANES - 1) / LANES;
    job.spectrum.quantity = plan->quantity;
    job.spectrum.to = plan->dst->dtype;
    job.spectrum.finish = oct->finish;
    job.spectrum.finish.display = plan->display && oct->finish.display;
    job.spectrum.pattern = oct->pattern ? airy_array_address(oct->pattern) : NULL;
    job.spectrum.post = plan->display && oct->post ? airy_array_address(oct->post) : NULL;
    job.row_bytes = oct->info.depth * (plan->quantity == AIRY_OCT_COMPLEX ? 2 : 1) *
                    airy_dtype_size(plan->dst->dtype);
    job.spectrum.stream = plan->display && plan->dst->dtype == AIRY_DTYPE_F32 &&
                          all * job.row_bytes >= large_result && job.row_bytes % 64 == 0 &&
                          (uintptr_t)job.dst % 64 == 0;
    AIRY_TRY(open_rooms(&job.rooms, &job.room_size, queue, oct, false));
    airy_profile_loop(queue->device, "oct_lines",
                      (double)all * (double)(cpu->raw.line_bytes + job.row_bytes),
                      all / job.run * job.groups, run_group, &job);
    return AIRY_OK;
}

/* ---- means of frames ---- */

struct mean_job {
    const struct airy_oct *oct;
    const struct airy_oct_kernels *kernels;
    const uint8_t *src;
    float *mean;
    double *partial;     /* [frames][parts][samples] */
    size_t parts, share; /* of a frame; groups of a part */
    char *rooms;
    size_t room_size;
};

/* Whether samples can be added up as they stand. */
static bool in_rows(const struct airy_oct_cpu_plan *cpu)
{
    return !cpu->raw.big_endian && (cpu->raw.bits == 8 || cpu->raw.bits == 16);
}

static void sum_part(void *arg, size_t index, unsigned worker)
{
    const struct mean_job *job = arg;
    const struct airy_oct *oct = job->oct;
    const struct airy_oct_cpu_plan *cpu = oct->impl;
    const size_t n = oct->p.samples, frame = index / job->parts,
                 first = index % job->parts * job->share * LANES,
                 end = airy_min_size(oct->p.lines, first + job->share * LANES);
    const bool exact = cpu->raw.bits < 32;
    double *sum = job->partial + index * n;
    struct room room;
    lay_room(&room, job->rooms + worker * job->room_size, oct, true);
    memset(room.sums, 0, n * LANES * sizeof(double));
    if (in_rows(cpu)) {
        int32_t *sums = (int32_t *)room.sums;
        for (size_t l = first; l < end; l++)
            job->kernels->add_line(sums,
                                   job->src + (frame * oct->p.lines + l) * cpu->raw.line_bytes, n,
                                   oct->p.dtype, cpu->raw.shift);
        for (size_t i = 0; i < n; i++)
            sum[i] = sums[i];
        return;
    }
    for (size_t l = first; l < end; l += LANES) {
        const uint8_t *lines[LANES];
        find_lines(lines, cpu, job->src + (frame * oct->p.lines + l) * cpu->raw.line_bytes,
                   airy_min_size(LANES, end - l));
        job->kernels->load(room.x, room.poison, &cpu->raw, lines, room.words, room.tail);
        if (exact)
            job->kernels->add((float *)room.sums, room.x, n);
        else
            job->kernels->add_f64(room.sums, room.x, n);
    }
    for (size_t i = 0; i < n; i++) {
        sum[i] = 0;
        for (size_t l = 0; l < LANES; l++)
            sum[i] += exact ? (double)((const float *)room.sums)[i * LANES + l]
                            : room.sums[i * LANES + l];
    }
}

static void finish_mean(void *arg, size_t frame, unsigned worker)
{
    const struct mean_job *job = arg;
    const struct airy_oct_tables *t = &job->oct->tables;
    const size_t n = job->oct->p.samples;
    double *sum = job->partial + frame * job->parts * n;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 1; k < job->parts; k++)
            sum[i] += sum[k * n + i];
        sum[i] /= (double)job->oct->p.lines;
    }
    for (size_t j = 0; j < n; j++) {
        double z = 0;
        for (size_t i = 0; i < t->taps; i++)
            z += t->weights[j * t->taps + i] * sum[t->base[j] + i];
        job->mean[frame * n + j] = (float)z;
    }
}

static airy_status mean(airy_queue *queue, const struct airy_oct *oct, const airy_array *to,
                        const airy_array *src, size_t frames)
{
    const size_t groups = (oct->p.lines + LANES - 1) / LANES,
                 wanted = 2 * airy_pool_size(queue->device->pool);
    struct mean_job job = {.oct = oct,
                           .kernels = airy_oct_kernels(),
                           .src = airy_array_address(src),
                           .mean = airy_array_address(to)};
    airy_buffer *partial;
    size_t size = 0;
    if (frames == 0)
        return AIRY_OK;
    /* A few parts for each thread; of a part's lines every lane's sum is exact. */
    job.share = airy_max_size(1, airy_min_size(EXACT, groups * frames / wanted));
    job.parts = (groups + job.share - 1) / job.share;
    AIRY_FAIL_IF(airy_mul_size(&size, frames * job.parts, oct->p.samples * sizeof(double)),
                 AIRY_ERR_MEMORY, "sums of %zu frames do not fit the address space", frames);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, size, &partial));
    AIRY_TRY(open_rooms(&job.rooms, &job.room_size, queue, oct, true));
    job.partial = partial->handle;
    airy_profile_loop(queue->device, "oct_mean", (double)airy_array_size(src), frames * job.parts,
                      sum_part, &job);
    airy_profile_loop(queue->device, "oct_mean_of_parts", (double)size, frames, finish_mean, &job);
    return AIRY_OK;
}

const struct airy_oct_fns airy_oct_cpu = {.prepare = airy_oct_cpu_prepare,
                                          .release = airy_oct_cpu_release,
                                          .mean = mean,
                                          .lines = lines,
                                          .combine = airy_oct_cpu_combine};
