/* What is made of several lines on the CPU: a thread takes some lines of the result. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/profile.h"
#include "cpu/cpu_oct.h"

enum { TOGETHER = 8 /* lines of the result that a thread takes at a time */ };

/* What a thread works in; parts: 2 of complex numbers. */
struct room {
    double *sum, *mean;     /* [2 depth] */
    float *number, *row[2]; /* [2 depth] */
    size_t held[2];         /* lines that are in row */
};

struct combine_job {
    const struct airy_oct_combine_plan *plan;
    const struct airy_oct_kernels *kernels;
    struct airy_oct_spectrum spectrum;
    const float *src;
    char *dst;
    size_t parts;     /* floats of a bin of src */
    size_t values;    /* floats of a line of the result */
    size_t row_bytes; /* of the result */
    size_t pieces;    /* of a frame of the result */
    bool repeat_lines, repeat_frames;
    char *rooms;
    size_t room_size;
};

/* Repeat r of line `line`, of those which become line and frame of the result. */
static const float *source_row(const struct combine_job *job, size_t frame, size_t line, size_t r)
{
    const struct airy_oct *oct = job->plan->oct;
    const size_t repeats = oct->p.repeats, f = job->repeat_frames ? frame * repeats + r : frame,
                 l = job->repeat_lines ? line * repeats + r : line;
    return job->src + (f * oct->p.lines + l) * oct->info.depth * job->parts;
}

static void add_variance(const struct combine_job *job, struct room *room, size_t frame,
                         size_t line)
{
    const size_t repeats = job->plan->oct->p.repeats, n = job->values;
    memset(room->mean, 0, n * sizeof(double));
    for (size_t r = 0; r < repeats; r++)
        job->kernels->add_row(room->mean, source_row(job, frame, line, r), n);
    for (size_t i = 0; i < n; i++)
        room->mean[i] /= (double)repeats;
    for (size_t r = 0; r < repeats; r++)
        job->kernels->add_square(room->sum, source_row(job, frame, line, r), room->mean, n);
}

static void add_line(const struct combine_job *job, struct room *room, size_t frame, size_t line)
{
    const struct airy_oct *oct = job->plan->oct;
    if (oct->p.flow == AIRY_OCT_FLOW_VARIANCE)
        add_variance(job, room, frame, line);
    else if (oct->p.flow == AIRY_OCT_FLOW_PHASE)
        for (size_t r = 0; r + 1 < oct->p.repeats; r++)
            job->kernels->add_turn(room->sum, source_row(job, frame, line, r),
                                   source_row(job, frame, line, r + 1), oct->info.depth);
    else
        job->kernels->add_row(room->sum, source_row(job, frame, line, 0),
                              oct->info.depth * job->parts);
}

/* Complex numbers of about the size of 1: their products may be beyond f32. */
static void scale_numbers(float *to, const double *z, size_t n)
{
    for (size_t i = 0; i < 2 * n; i += 2) {
        const double size = fabs(z[i]) + fabs(z[i + 1]), by = size > 0 ? 1 / size : 0;
        to[i] = (float)(z[i] * by);
        to[i + 1] = (float)(z[i + 1] * by);
    }
}

/* Means and flow of a line of the result; to: [values]. */
static void make_row(const struct combine_job *job, struct room *room, float *to, size_t frame,
                     size_t line)
{
    const struct airy_oct *oct = job->plan->oct;
    const airy_oct_params *p = &oct->p;
    const size_t n = oct->info.depth * job->parts;
    memset(room->sum, 0, n * sizeof(double));
    for (size_t f = 0; f < p->average_frames; f++)
        for (size_t l = 0; l < p->average_lines; l++)
            add_line(job, room, frame * p->average_frames + f, line * p->average_lines + l);
    const size_t repeats = p->flow == AIRY_OCT_FLOW_VARIANCE ? p->repeats : 1;
    const double count = (double)(p->average_frames * p->average_lines * repeats);
    if (job->plan->given == AIRY_OCT_COMPLEX && p->output == AIRY_OCT_PHASE) {
        scale_numbers(room->number, room->sum, oct->info.depth);
        job->kernels->phases(to, room->number, oct->info.depth);
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = (float)(room->sum[i] / count);
    if (job->plan->given == AIRY_OCT_POWER && p->output == AIRY_OCT_DB)
        job->kernels->decibels(to, to, n);
}

/* The same, kept for the next line of the result, which may need it again. */
static const float *hold_row(const struct combine_job *job, struct room *room, size_t frame,
                             size_t line)
{
    const size_t slot = line % 2;
    if (room->held[slot] != line)
        make_row(job, room, room->row[slot], frame, line);
    room->held[slot] = line;
    return room->row[slot];
}

/* Line k of a scan that goes as a cosine. */
static void straighten(const struct combine_job *job, struct room *room, size_t frame, size_t k)
{
    const double pi = 3.14159265358979323846;
    const size_t lines = job->plan->oct->info.out_lines;
    const double at = (double)lines / pi * acos(1 - 2 * (double)k / (double)lines);
    const size_t left = airy_min_size((size_t)at, lines - 1),
                 right = airy_min_size(left + 1, lines - 1);
    const float f = (float)(at - (double)left);
    const float *a = hold_row(job, room, frame, left), *b = hold_row(job, room, frame, right);
    for (size_t i = 0; i < job->values; i++)
        room->number[i] = a[i] + f * (b[i] - a[i]);
}

static size_t lay_room(struct room *room, char *base, size_t depth)
{
    const size_t numbers = airy_align_up(2 * depth * sizeof(float), 64);
    if (room)
        *room = (struct room){.sum = (double *)base,
                              .mean = (double *)(base + 2 * numbers),
                              .number = (float *)(base + 4 * numbers),
                              .row = {(float *)(base + 5 * numbers), (float *)(base + 6 * numbers)},
                              .held = {SIZE_MAX, SIZE_MAX}};
    return 7 * numbers;
}

static void run_piece(void *arg, size_t index, unsigned worker)
{
    const struct combine_job *job = arg;
    const struct airy_oct *oct = job->plan->oct;
    const size_t frame = index / job->pieces, first = index % job->pieces * TOGETHER,
                 end = airy_min_size(first + TOGETHER, oct->info.out_lines);
    struct room room;
    lay_room(&room, job->rooms + worker * job->room_size, oct->info.depth);
    for (size_t k = first; k < end; k++) {
        char *to = job->dst + (frame * oct->info.out_lines + k) * job->row_bytes;
        if (oct->p.sinusoidal) {
            straighten(job, &room, frame, k);
            job->kernels->put_row(to, room.number, job->values, &job->spectrum);
        } else {
            make_row(job, &room, room.row[0], frame, k);
            job->kernels->put_row(to, room.row[0], job->values, &job->spectrum);
        }
    }
}

airy_status airy_oct_cpu_combine(airy_queue *queue, const struct airy_oct_combine_plan *plan)
{
    const struct airy_oct *oct = plan->oct;
    const size_t depth = oct->info.depth, frames = plan->frames / oct->info.frames_per_result;
    struct combine_job job = {.plan = plan,
                              .kernels = airy_oct_kernels(),
                              .spectrum = {.depth = depth,
                                           .post = oct->post ? airy_array_address(oct->post) : NULL,
                                           .finish = oct->finish,
                                           .to = plan->dst->dtype},
                              .src = airy_array_address(plan->src),
                              .dst = airy_array_address(plan->dst),
                              .parts = plan->given == AIRY_OCT_COMPLEX ? 2 : 1,
                              .values = depth * (oct->p.output == AIRY_OCT_COMPLEX ? 2 : 1),
                              .pieces = (oct->info.out_lines + TOGETHER - 1) / TOGETHER,
                              .repeat_lines = oct->p.flow && !oct->p.flow_frames,
                              .repeat_frames = oct->p.flow && oct->p.flow_frames,
                              .room_size = airy_align_up(lay_room(NULL, NULL, depth), 4096)};
    airy_buffer *rooms;
    if (frames == 0)
        return AIRY_OK;
    job.row_bytes = job.values * airy_dtype_size(plan->dst->dtype);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS,
                                airy_pool_size(queue->device->pool) * job.room_size, &rooms));
    job.rooms = rooms->handle;
    airy_profile_loop(queue->device, "oct_combine",
                      (double)airy_array_size(plan->src) + (double)airy_array_size(plan->dst),
                      frames * job.pieces, run_piece, &job);
    return AIRY_OK;
}
