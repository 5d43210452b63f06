/* Rank filters: tiles of keys with their borders, and one of the three methods on each. */
#include "cpu/cpu_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "filter/filter_fns.h"
#include "shared/border_index.h"

enum {
    LINE_BYTES = 512, /* of results in a line of a network: its lines stay in the nearest cache */
    TILE_Y = 64,      /* rows of a tile, about */
    SLIDE_X = 128,    /* results of a row of a sliding tile, at least */
    HISTOGRAM_X = 256 /* the same with histograms */
};

enum method { MOVE_SET, MOVE_HISTOGRAM, MOVE_BUCKETS };

/* One pass: windows over an array in the order images, planes, rows. */
struct job {
    const struct airy_filter_axis *axis; /* z, y, x */
    const struct airy_rank_kernels *kernels;
    const struct airy_rank_network *network; /* NULL: a window that moves */
    const struct airy_rank_run *runs;
    size_t run_count, rank;
    enum method method; /* of the window that moves */
    const char *src;
    char *dst;
    size_t src_step[3], dst_step[3]; /* bytes: image, plane, row */
    airy_dtype dtype;
    size_t elem;
    airy_border border;
    uint64_t outside; /* the border's value: a key in its first bytes */
    size_t count[4];  /* images, planes, tiles of rows, tiles of a row */
    size_t tile_y, tile_x;
    size_t pitch;            /* bytes of a line */
    size_t rows;             /* lines of a plane in a tile */
    char *scratch;           /* of all threads */
    size_t scratch_size;     /* of a thread */
    size_t results_at, more; /* places in it */
};

struct tile {
    size_t image, z, y0, y1, x0, x1;
};

/* Keys first .. first + n - 1 of a row, borders included; NULL: all of it is outside. */
static void make_line(const struct job *job, char *line, const char *row, size_t n, int64_t first)
{
    const size_t length = job->axis[2].n, elem = job->elem;
    size_t i = 0;
    while (i < n) {
        const int64_t at = first + (int64_t)i;
        const int64_t from = row ? airy_border_index(at, (int64_t)length, (uint32_t)job->border)
                                 : -1;
        const size_t inside = from >= 0 && from == at ? airy_min_size(n - i, length - (size_t)at)
                                                      : 1;
        if (from < 0)
            memcpy(line + i * elem, &job->outside, elem);
        else
            job->kernels->load[job->dtype](line + i * elem, row + (size_t)from * elem, inside);
        i += inside;
    }
}

/* Lines of what a tile's windows see: [planes][job->rows]. */
static void make_lines(const struct job *job, char *line, const struct tile *t)
{
    const struct airy_filter_axis *az = &job->axis[0], *ay = az + 1, *ax = az + 2;
    for (size_t k = 0; k < az->taps; k++)
        for (size_t i = 0; i < job->rows; i++, line += job->pitch) {
            const int64_t z = airy_border_index((int64_t)(t->z + k) + az->offset -
                                                    (int64_t)(az->taps - 1),
                                                (int64_t)az->n, (uint32_t)job->border),
                          y = airy_border_index((int64_t)(t->y0 + i) + ay->offset -
                                                    (int64_t)(ay->taps - 1),
                                                (int64_t)ay->n, (uint32_t)job->border);
            const char *row = z < 0 || y < 0
                                  ? NULL
                                  : job->src + t->image * job->src_step[0] +
                                        (size_t)z * job->src_step[1] + (size_t)y * job->src_step[2];
            make_line(job, line, row, job->tile_x + ax->taps - 1,
                      (int64_t)t->x0 + ax->offset - (int64_t)(ax->taps - 1));
        }
}

static void store_row(const struct job *job, const struct tile *t, size_t y, const char *keys)
{
    job->kernels->store[job->dtype](job->dst + t->image * job->dst_step[0] +
                                        t->z * job->dst_step[1] + y * job->dst_step[2] +
                                        t->x0 * job->elem,
                                    keys, t->x1 - t->x0);
}

static unsigned log_of(size_t elem)
{
    return elem == 8 ? 3 : elem == 4 ? 2 : (unsigned)elem - 1;
}

static void run_network(const struct job *job, char *scratch, const struct tile *t)
{
    const struct airy_rank_network *net = job->network;
    const size_t inputs = net->rows + job->axis[1].taps - 1;
    char *lines = scratch, *more = scratch + job->more;
    void **line = (void **)(void *)(scratch + job->results_at);
    make_lines(job, lines, t);
    for (size_t i = net->inputs; i < net->lines; i++)
        line[i] = more + (i - net->inputs) * job->pitch;
    for (size_t y = t->y0; y < t->y1; y += net->rows) {
        for (size_t k = 0; k < job->axis[0].taps; k++)
            for (size_t i = 0; i < inputs; i++)
                line[k * inputs + i] = lines + (k * job->rows + y - t->y0 + i) * job->pitch;
        job->kernels->run[log_of(job->elem)](net->ops, net->count, line);
        for (size_t i = 0; i < net->rows && y + i < t->y1; i++)
            store_row(job, t, y + i,
                      (const char *)line[net->output[i]] + net->output_shift[i] * job->elem);
    }
}

static void run_slide(const struct job *job, char *scratch, const struct tile *t)
{
    const struct airy_filter_axis *a = job->axis;
    const struct airy_rank_slide slide = {.keys = scratch,
                                          .elem = job->elem,
                                          .planes = a[0].taps,
                                          .rows = job->rows,
                                          .length = job->tile_x + a[2].taps - 1,
                                          .height = t->y1 - t->y0,
                                          .width = t->x1 - t->x0,
                                          .runs = job->runs,
                                          .run_count = job->run_count,
                                          .rank = job->rank,
                                          .taps = {a[1].taps, a[2].taps},
                                          .results = scratch + job->results_at,
                                          .scratch = scratch + job->more};
    make_lines(job, scratch, t);
    switch (job->method) {
    case MOVE_HISTOGRAM:
        airy_rank_histogram(&slide);
        break;
    case MOVE_BUCKETS:
        job->kernels->buckets(&slide);
        break;
    default:
        airy_rank_slide(&slide);
        break;
    }
    for (size_t y = t->y0; y < t->y1; y++)
        store_row(job, t, y, (const char *)slide.results + (y - t->y0) * slide.width * job->elem);
}

static void run_tile(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    struct tile t;
    t.x0 = index % job->count[3] * job->tile_x;
    index /= job->count[3];
    t.y0 = index % job->count[2] * job->tile_y;
    index /= job->count[2];
    t.z = index % job->count[1];
    t.image = index / job->count[1];
    t.x1 = airy_min_size(t.x0 + job->tile_x, job->axis[2].n);
    t.y1 = airy_min_size(t.y0 + job->tile_y, job->axis[1].n);
    char *scratch = job->scratch + worker * job->scratch_size;
    if (job->network)
        run_network(job, scratch, &t);
    else
        run_slide(job, scratch, &t);
}

static airy_status run_tiles(airy_queue *queue, struct job *job, const char *name)
{
    const struct airy_filter_axis *a = job->axis;
    airy_buffer *buffer;
    unsigned threads;
    job->count[1] = a[0].n;
    job->count[2] = (a[1].n + job->tile_y - 1) / job->tile_y;
    job->count[3] = (a[2].n + job->tile_x - 1) / job->tile_x;
    job->scratch_size = airy_align_up(job->scratch_size, 64);
    AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_PARTIALS, job->scratch_size, &threads,
                                       &buffer));
    job->scratch = buffer->handle;
    const double bytes = 2.0 * (double)(job->count[0] * a[0].n) * (double)(a[1].n * a[2].n) *
                         (double)job->elem;
    airy_profile_loop_few(queue->device, name, bytes, threads,
                          job->count[0] * job->count[1] * job->count[2] * job->count[3], run_tile,
                          job);
    return AIRY_OK;
}

/* Tiles of a network: lines, tables of lines, lines in between. */
static airy_status tile_network(airy_queue *queue, struct job *job,
                                const struct airy_rank_network *net, size_t length)
{
    const struct airy_filter_axis *a = job->axis;
    job->network = net;
    job->tile_x = length;
    job->tile_y = net->rows * airy_max_size(1, TILE_Y / net->rows);
    if (job->tile_y > a[1].n)
        job->tile_y = (a[1].n + net->rows - 1) / net->rows * net->rows;
    job->rows = job->tile_y + a[1].taps - 1;
    /* Steps read, and write, in whole chunks. */
    job->pitch = airy_align_up((length + a[2].taps - 1) * job->elem, AIRY_RANK_CHUNK) +
                 2 * AIRY_RANK_CHUNK;
    job->results_at = a[0].taps * job->rows * job->pitch;
    job->more = airy_align_up(job->results_at + net->lines * sizeof(void *), AIRY_RANK_CHUNK);
    job->scratch_size = job->more + (net->lines - net->inputs) * job->pitch;
    return run_tiles(queue, job, "rank_network");
}

/* Elements of a line of results: some chunks, and a few times what windows see besides. */
static size_t line_length(const struct job *job)
{
    const size_t each = AIRY_RANK_CHUNK / job->elem, taps = job->axis[2].taps;
    const size_t most = airy_max_size(LINE_BYTES / job->elem, 4 * taps);
    return airy_align_up(airy_min_size(most, job->axis[2].n), each);
}

/* Runs of a footprint, or of the whole box; malloc'ed. */
static airy_status find_runs(struct airy_rank_run **runs, size_t *count, const uint8_t *footprint,
                             const struct airy_filter_axis *a)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, a[0].taps * a[1].taps * ((a[2].taps + 1) / 2),
                                sizeof(**runs), "runs of a footprint"));
    *runs = block;
    *count = 0;
    for (uint32_t line = 0; line < a[0].taps * a[1].taps; line++) {
        const uint8_t *row = footprint ? footprint + line * a[2].taps : NULL;
        for (uint32_t x = 0, end; x < a[2].taps; x = end + 1) {
            for (end = x; end < a[2].taps && (!row || row[end]);)
                end++;
            if (end > x)
                (*runs)[(*count)++] = (struct airy_rank_run){(uint32_t)(line / a[1].taps),
                                                             (uint32_t)(line % a[1].taps), x, end};
        }
    }
    return AIRY_OK;
}

/* Tiles of a window that moves: keys, results, what sorting takes. */
static airy_status tile_slide(airy_queue *queue, struct job *job, const struct airy_rank_plan *plan)
{
    const struct airy_filter_axis *a = job->axis;
    struct airy_rank_run *runs = NULL;
    AIRY_TRY(find_runs(&runs, &job->run_count, plan->footprint, a));
    job->runs = runs;
    size_t least[2] = {TILE_Y, SLIDE_X}, most[2] = {SIZE_MAX, SIZE_MAX};
    if (job->method == MOVE_HISTOGRAM)
        least[1] = HISTOGRAM_X;
    for (int i = 0; i < 2 && job->method == MOVE_BUCKETS; i++)
        least[i] = most[i] = airy_rank_bucket_tile(a[1 + i].taps);
    job->tile_y = airy_min_size(a[1].n, airy_min_size(most[0], airy_max_size(least[0], a[1].taps)));
    job->tile_x = airy_min_size(a[2].n, airy_min_size(most[1], airy_max_size(least[1], a[2].taps)));
    job->rows = job->tile_y + a[1].taps - 1;
    const size_t length = job->tile_x + a[2].taps - 1, keys = a[0].taps * job->rows * length;
    job->pitch = length * job->elem;
    job->results_at = airy_align_up(keys * job->elem, 64);
    job->more = airy_align_up(job->results_at + job->tile_x * job->tile_y * job->elem, 64);
    job->scratch_size = job->more +
                        (job->method == MOVE_HISTOGRAM ? airy_rank_histogram_scratch(length)
                         : job->method == MOVE_BUCKETS ? airy_rank_bucket_scratch(keys, length)
                                                       : airy_rank_slide_scratch(keys));
    airy_status status = AIRY_OK;
    if (keys >= UINT32_MAX)
        status = airy_fail(AIRY_ERR_MEMORY, "a tile of %zu x %zu x %zu elements is too large",
                           a[0].taps, job->rows, length);
    if (status == AIRY_OK)
        status = run_tiles(queue, job,
                           job->method == MOVE_HISTOGRAM ? "rank_histogram"
                           : job->method == MOVE_BUCKETS ? "rank_buckets"
                                                         : "rank_window");
    free(runs);
    return status;
}

/*
 * Time of a result in ns, as measured on one core of a Xeon of 2023: a network goes through so many
 * bytes of its lines in a ns; histograms of 8 bits and buckets take about as long for each window; a
 * window that moves sorts its tile and takes two random accesses for each run.
 */
static bool is_network_faster(const struct airy_rank_network *net, const struct job *job,
                              size_t runs)
{
    const double others = job->method == MOVE_HISTOGRAM ? 22.0
                          : job->method == MOVE_BUCKETS
                              ? job->kernels->bucket_ns
                              : 30 + 5.0 * (double)job->elem + 2.3 * (double)runs;
    return net->cost * (double)job->elem / job->kernels->bytes_a_ns < others;
}

static airy_status run_job(airy_queue *queue, struct job *job, const struct airy_rank_plan *plan,
                           bool extreme)
{
    const struct airy_filter_axis *a = job->axis;
    struct airy_rank_network net = {.ops = NULL};
    const struct airy_rank_window window = {
        .planes = a[0].taps,
        .height = a[1].taps,
        .width = a[2].taps,
        .footprint = plan->footprint,
        .count = plan->footprint ? plan->count : a[0].taps * a[1].taps * a[2].taps,
        .rank = job->rank,
        .rows = a[1].n,
        .length = line_length(job),
        .elem = job->elem};
    if (!plan->footprint && window.count <= AIRY_RANK_HISTOGRAM_MOST) {
        if (job->elem == 1)
            job->method = MOVE_HISTOGRAM;
        else if (airy_rank_buckets_take(a[0].taps, a[1].taps, a[2].taps))
            job->method = MOVE_BUCKETS;
    }
    if (extreme || window.count <= 1024)
        AIRY_TRY(airy_rank_network_make(&net, &window));
    const bool network = net.ops &&
                         (extreme || is_network_faster(&net, job, a[0].taps * a[1].taps));
    const airy_status status = network ? tile_network(queue, job, &net, window.length)
                                       : tile_slide(queue, job, plan);
    airy_rank_network_free(&net);
    return status;
}

static struct job start_job(const struct airy_rank_plan *plan)
{
    const struct airy_filter_geometry *g = &plan->geometry;
    struct job job = {.axis = g->axis,
                      .kernels = airy_rank_kernels(),
                      .rank = plan->rank,
                      .src = airy_array_address(plan->src),
                      .dst = airy_array_address(plan->dst),
                      .dtype = plan->src->dtype,
                      .elem = airy_dtype_size(plan->src->dtype),
                      .border = g->border,
                      .count = {g->images}};
    airy_filter_steps(job.src_step, plan->src, g);
    airy_filter_steps(job.dst_step, plan->dst, g);
    for (int i = 0; i < 3; i++) {
        job.src_step[i] *= job.elem;
        job.dst_step[i] *= job.elem;
    }
    job.kernels->load[job.dtype](&job.outside, &plan->outside, 1);
    return job;
}

/* Minimum or maximum of a box in space: planes by themselves, then along z. */
static airy_status run_separable(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const struct airy_filter_axis *a = plan->geometry.axis;
    const bool largest = plan->rank > 0;
    struct job job = start_job(plan);
    airy_buffer *buffer;
    size_t plane = job.elem, size;
    AIRY_FAIL_IF(airy_mul_size(&plane, plane, a[1].n) || airy_mul_size(&plane, plane, a[2].n) ||
                     airy_mul_size(&size, plane, a[0].n) ||
                     airy_mul_size(&size, size, plan->geometry.images),
                 AIRY_ERR_MEMORY, "%zu planes do not fit the address space", a[0].n);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES, size, &buffer));
    const size_t step[3] = {plane * a[0].n, plane, a[2].n * job.elem};
    char *dst = job.dst;
    size_t dst_step[3];
    memcpy(dst_step, job.dst_step, sizeof(dst_step));
    const struct airy_filter_axis flat[3] = {{a[0].n, a[0].n, 1, 0}, a[1], a[2]};
    job.axis = flat;
    job.rank = largest ? a[1].taps * a[2].taps - 1 : 0;
    job.dst = buffer->handle;
    memcpy(job.dst_step, step, sizeof(step));
    AIRY_TRY(run_job(queue, &job, plan, true));
    /* Rows take the place of planes, and the other way round. */
    const struct airy_filter_axis upright[3] = {
        {a[1].n, a[1].n, 1, 0}, a[0], {a[2].n, a[2].n, 1, 0}};
    job.axis = upright;
    job.rank = largest ? a[0].taps - 1 : 0;
    job.src = buffer->handle;
    job.dst = dst;
    for (int i = 0; i < 3; i++) {
        static const int order[3] = {0, 2, 1};
        job.src_step[i] = step[order[i]];
        job.dst_step[i] = dst_step[order[i]];
    }
    return run_job(queue, &job, plan, true);
}

airy_status airy_cpu_rank(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const bool extreme = !plan->footprint && (plan->rank == 0 || plan->rank + 1 == plan->count);
    if (extreme && plan->geometry.axis[0].taps > 1)
        return run_separable(queue, plan);
    struct job job = start_job(plan);
    return run_job(queue, &job, plan, extreme);
}
