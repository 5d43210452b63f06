#include "cpu/cpu_convolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "filter/filter_fns.h"
#include "shared/border_index.h"

enum {
    TILE_X = 4096,          /* results of a tile along x, at most */
    LEAST_X = 64,           /* and at least, where the image has them */
    TILE_BYTES = 256 << 10, /* of the lines of a tile: half of a small second-level cache */
    SLAB_BYTES = 384 << 10, /* of columns, of which each is read once */
    TILE_Y = 32,            /* rows of a tile */
    TASKS = 4               /* tiles a thread, so that all end at about the same time */
};

struct tile {
    size_t image, z, y0, y1, x0, x1;
};

struct job;
typedef void (*tile_fn)(const struct job *job, void *scratch, const struct tile *tile);
struct tiles {
    tile_fn direct, lines, columns;
};

struct job {
    const struct airy_convolve_plan *plan;
    const struct airy_filter_geometry *geometry;
    const struct airy_convolve_kernels *kernels;
    struct airy_convolve_source source;
    tile_fn run;
    /* Bytes from one image, plane, row to the next. */
    char *dst, *planes;
    size_t dst_step[3], planes_step[3];
    void *weights;   /* of the result's dtype */
    double outside;  /* what stands for planes that are not there */
    size_t count[4]; /* images, planes, tiles of rows, tiles of a row */
    size_t tile_y, tile_x, out_y;
    size_t lines_at;               /* bytes of row pointers in front of the lines */
    size_t line_step, source_step; /* elements from a line to the next; of a source line */
    char *scratch;
    size_t scratch_size; /* of a thread */
};

/* Row y of plane z; NULL where the border's value stands for it. */
static const char *source_row(const struct airy_convolve_source *source, size_t image, int64_t z,
                              int64_t y)
{
    const struct airy_filter_geometry *g = source->geometry;
    const int64_t zz = airy_border_index(z, (int64_t)g->axis[0].n, (uint32_t)g->border),
                  yy = airy_border_index(y, (int64_t)g->axis[1].n, (uint32_t)g->border);
    if (zz < 0 || yy < 0)
        return NULL;
    return source->data + image * source->step[0] + (size_t)zz * source->step[1] +
           (size_t)yy * source->step[2];
}

void airy_convolve_source_open(struct airy_convolve_source *source, const airy_array *array,
                               const struct airy_filter_geometry *geometry)
{
    *source = (struct airy_convolve_source){.geometry = geometry,
                                            .kernels = airy_convolve_kernels(),
                                            .dtype = array->dtype,
                                            .data = airy_array_address(array)};
    airy_filter_steps(source->step, array, geometry);
    for (int i = 0; i < 3; i++)
        source->step[i] *= airy_dtype_size(source->dtype);
}

static char *result_row(const struct job *job, size_t image, size_t z, size_t y)
{
    return job->dst + image * job->dst_step[0] + z * job->dst_step[1] + y * job->dst_step[2];
}

static const char *plane_row(const struct job *job, size_t image, size_t z, size_t y)
{
    return job->planes + image * job->planes_step[0] + z * job->planes_step[1] +
           y * job->planes_step[2];
}

#define W       float
#define NAME(f) f##_f32
#define LOADS   load_f32
#define SUM     f32
#define BLOCK   block_f32
#include "cpu/tmpl/convolve_tiles_tmpl.c"
#define W       double
#define NAME(f) f##_f64
#define LOADS   load_f64
#define SUM     f64
#define BLOCK   block_f64
#include "cpu/tmpl/convolve_tiles_tmpl.c"

static void run_tile(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const size_t out_x = job->geometry->axis[2].out;
    struct tile t;
    t.x0 = index % job->count[3] * job->tile_x;
    index /= job->count[3];
    t.y0 = index % job->count[2] * job->tile_y;
    index /= job->count[2];
    t.z = index % job->count[1];
    t.image = index / job->count[1];
    t.x1 = airy_min_size(t.x0 + job->tile_x, out_x);
    t.y1 = airy_min_size(t.y0 + job->tile_y, job->out_y);
    job->run(job, job->scratch + worker * job->scratch_size, &t);
}

static struct job start_job(const struct airy_convolve_plan *plan)
{
    struct job job = {.plan = plan,
                      .geometry = &plan->geometry,
                      .kernels = airy_convolve_kernels(),
                      .dst = airy_array_address(plan->dst),
                      .out_y = plan->geometry.axis[1].out};
    airy_convolve_source_open(&job.source, plan->src, &plan->geometry);
    airy_filter_steps(job.dst_step, plan->dst, &plan->geometry);
    for (int i = 0; i < 3; i++)
        job.dst_step[i] *= airy_dtype_size(plan->dst->dtype);
    return job;
}

/*
 * Elements from one line of n to the next: lines begin at a multiple of 64 bytes, and not all of
 * them at the same place of a page, which shares a set of the first-level cache.
 */
static size_t line_step(size_t n, size_t elem)
{
    const size_t step = airy_align_up(n + AIRY_CONVOLVE_PAD, 16);
    return step * elem % 4096 ? step : step + 16;
}

/* Tiles of tile_y rows and tile_x columns; `lines` lines and `rows` pointers are kept for one. */
static void cut_tiles(struct job *job, size_t planes, size_t lines, size_t rows)
{
    const size_t elem = airy_dtype_size(job->plan->dst->dtype);
    job->tile_y = airy_min_size(job->tile_y, job->out_y);
    job->count[0] = job->geometry->images;
    job->count[1] = planes;
    job->count[2] = (job->out_y + job->tile_y - 1) / job->tile_y;
    job->count[3] = (job->geometry->axis[2].out + job->tile_x - 1) / job->tile_x;
    job->lines_at = airy_align_up(rows * sizeof(void *), 64);
    job->scratch_size =
        airy_align_up(job->lines_at + (job->source_step + lines * job->line_step) * elem, 64);
}

/* Columns of a tile whose `lines` lines, `more` longer than it, are to fit `bytes`. */
static size_t fit_columns(const struct job *job, size_t lines, size_t more, size_t bytes)
{
    const size_t fit = bytes / (lines * airy_dtype_size(job->plan->dst->dtype)),
                 n = fit > more + LEAST_X ? (fit - more) / LEAST_X * LEAST_X : LEAST_X,
                 out = job->geometry->axis[2].out, most = airy_min_size(n, TILE_X);
    /* As many tiles, all of about the same width. */
    const size_t count = (out + most - 1) / most;
    return airy_min_size(airy_align_up((out + count - 1) / count, LEAST_X), out);
}

static airy_status run_tiles(airy_queue *queue, struct job *job, tile_fn fn, const char *name)
{
    airy_buffer *buffer;
    unsigned threads;
    AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_PARTIALS, job->scratch_size, &threads,
                                       &buffer));
    job->scratch = buffer->handle;
    job->run = fn;
    airy_profile_loop_few(
        queue->device, name,
        (double)airy_array_size(job->plan->src) + (double)airy_array_size(job->plan->dst), threads,
        job->count[0] * job->count[1] * job->count[2] * job->count[3], run_tile, job);
    return AIRY_OK;
}

static const struct tiles *tiles_of(const struct airy_convolve_plan *plan)
{
    return plan->dst->dtype == AIRY_DTYPE_F32 ? &tiles_f32 : &tiles_f64;
}

/* Weights in the dtype of the result. */
static void put_weights(const struct job *job, size_t at, const double *from, size_t n)
{
    const bool narrow = job->plan->dst->dtype == AIRY_DTYPE_F32;
    for (size_t i = 0; i < n; i++) {
        if (narrow)
            ((float *)job->weights)[at + i] = (float)from[i];
        else
            ((double *)job->weights)[at + i] = from[i];
    }
}

airy_status airy_cpu_convolve_direct(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    struct job job = start_job(plan);
    const struct airy_filter_axis *a = plan->geometry.axis;
    const size_t n = a[0].taps * a[1].taps * a[2].taps;
    void *weights;
    AIRY_TRY(airy_memory_calloc(&weights, n, sizeof(double), "a kernel"));
    job.weights = weights;
    put_weights(&job, 0, plan->kernel, n);
    job.tile_y = airy_max_size(TILE_Y, airy_min_size(2 * a[1].taps, 8 * TILE_Y)) / 4 * 4;
    const size_t high = airy_min_size(job.tile_y, a[1].out) + a[1].taps - 1;
    job.tile_x = fit_columns(&job, a[0].taps * high, a[2].taps - 1, TILE_BYTES);
    job.line_step = line_step(job.tile_x + a[2].taps - 1, airy_dtype_size(plan->dst->dtype));
    cut_tiles(&job, a[0].out, a[0].taps * high, a[0].taps * (a[1].taps + AIRY_CONVOLVE_ROWS - 1));
    const airy_status status = run_tiles(queue, &job, tiles_of(plan)->direct, "convolve_direct");
    free(weights);
    return status;
}

/* The products along x and y of every plane of the source. */
static airy_status run_lines(airy_queue *queue, struct job *job)
{
    const struct airy_convolve_plan *plan = job->plan;
    const struct airy_filter_axis *a = plan->geometry.axis;
    const size_t lines = a[1].taps + a[2].taps;
    void *weights;
    AIRY_TRY(airy_memory_calloc(&weights, (size_t)plan->rank * lines, sizeof(double), "weights"));
    job->weights = weights;
    for (int r = 0; r < plan->rank; r++) {
        put_weights(job, (size_t)r * lines, plan->line[r][1], a[1].taps);
        put_weights(job, (size_t)r * lines + a[1].taps, plan->line[r][2], a[2].taps);
    }
    const size_t elem = airy_dtype_size(plan->dst->dtype),
                 ring = (size_t)plan->rank * (a[1].taps + AIRY_CONVOLVE_ROWS - 1),
                 planes = a[0].n * plan->geometry.images;
    job->tile_x = fit_columns(job, ring, 0, TILE_BYTES);
    /* Tiles are high, since each makes the lines above its first row once more. */
    const size_t across = planes * ((a[2].out + job->tile_x - 1) / job->tile_x),
                 wanted = TASKS * airy_pool_size(queue->device->pool) / across + 1;
    job->tile_y = airy_max_size(airy_max_size(TILE_Y, 4 * a[1].taps), a[1].out / wanted + 1);
    job->tile_y = airy_align_up(job->tile_y, AIRY_CONVOLVE_ROWS);
    job->line_step = line_step(job->tile_x, elem);
    job->source_step = line_step(job->tile_x + a[2].taps - 1, elem);
    cut_tiles(job, a[0].n, ring + 1, a[1].taps + AIRY_CONVOLVE_ROWS - 1);
    const airy_status status = run_tiles(queue, job, tiles_of(plan)->lines, "convolve_lines");
    free(weights);
    return status;
}

static double sum_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

/* The product along z: all planes of a few columns at a time, so that dst may be its own source. */
static airy_status run_columns(airy_queue *queue, struct job *job)
{
    const struct airy_convolve_plan *plan = job->plan;
    const struct airy_filter_axis *a = plan->geometry.axis;
    void *weights;
    AIRY_TRY(airy_memory_calloc(&weights, a[0].taps, sizeof(double), "weights"));
    job->weights = weights;
    put_weights(job, 0, plan->line[0][0], a[0].taps);
    job->outside = plan->geometry.border_value * sum_of(plan->line[0][1], a[1].taps) *
                   sum_of(plan->line[0][2], a[2].taps);
    job->tile_x = fit_columns(job, a[0].n, 0, SLAB_BYTES);
    job->tile_y = 1;
    job->line_step = line_step(job->tile_x, airy_dtype_size(plan->dst->dtype));
    job->source_step = 0;
    cut_tiles(job, 1, a[0].n + 2, a[0].taps + AIRY_CONVOLVE_ROWS - 1);
    const airy_status status = run_tiles(queue, job, tiles_of(plan)->columns, "convolve_columns");
    free(weights);
    return status;
}

airy_status airy_cpu_convolve_separable(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    struct job job = start_job(plan);
    const struct airy_filter_axis *a = plan->geometry.axis;
    if (a[0].taps == 1)
        return run_lines(queue, &job);
    /* Results of x and y go where there is room: in dst, unless it has fewer planes than src. */
    const size_t plane = a[1].out * a[2].out * airy_dtype_size(plan->dst->dtype);
    airy_buffer *buffer = NULL;
    char *dst = job.dst;
    size_t dst_step[3], size;
    memcpy(dst_step, job.dst_step, sizeof(dst_step));
    if (a[0].out < a[0].n) {
        AIRY_FAIL_IF(airy_mul_size(&size, plane, a[0].n * plan->geometry.images), AIRY_ERR_MEMORY,
                     "%zu planes of %zu bytes do not fit the address space", a[0].n, plane);
        AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES, size, &buffer));
        job.dst = buffer->handle;
        job.dst_step[0] = plane * a[0].n;
        job.dst_step[1] = plane;
        job.dst_step[2] = a[2].out * airy_dtype_size(plan->dst->dtype);
    }
    AIRY_TRY(run_lines(queue, &job));
    job.planes = job.dst;
    memcpy(job.planes_step, job.dst_step, sizeof(job.planes_step));
    job.dst = dst;
    memcpy(job.dst_step, dst_step, sizeof(dst_step));
    return run_columns(queue, &job);
}
