/*
 * The Hampel filter: the medians go into dst, then elements that are not far from theirs come back.
 * MAD is not looked for: an element is beyond limit x MAD where more than half of its box are
 * within its own distance over limit.
 */
#include <math.h>

#include "base/error.h"
#include "base/size.h"
#include "core/profile.h"
#include "cpu/cpu_convolve.h"
#include "cpu/cpu_rank.h"
#include "filter/filter_fns.h"

enum { PIECE = 512 }; /* results of a row at a time: their lines stay in the nearest cache */

struct job {
    const struct airy_rank_plan *median;
    const struct airy_rank_kernels *kernels;
    struct airy_convolve_source source, result;
    char *dst;
    double limit;
};

/* Elements that are not replaced: those with at most half of their box nearer. */
#define DEFINE_PUT_BACK(type)                                                                      \
    static void put_back_##type(void *dst, const void *src, const double *near, double half,       \
                                size_t n)                                                          \
    {                                                                                              \
        type *to = dst;                                                                            \
        const type *from = src;                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = near[i] <= half ? from[i] : to[i];                                             \
    }
DEFINE_PUT_BACK(uint8_t)
DEFINE_PUT_BACK(uint16_t)
DEFINE_PUT_BACK(uint32_t)
DEFINE_PUT_BACK(uint64_t)

static void put_back(size_t elem, void *dst, const void *src, const double *near, double half,
                     size_t n)
{
    if (elem == 1)
        put_back_uint8_t(dst, src, near, half, n);
    else if (elem == 2)
        put_back_uint16_t(dst, src, near, half, n);
    else if (elem == 4)
        put_back_uint32_t(dst, src, near, half, n);
    else
        put_back_uint64_t(dst, src, near, half, n);
}

struct place {
    size_t image, z, y;
};

/* Bytes from the first element to element x of a row. */
static size_t bytes_to(const struct airy_convolve_source *array, const struct place *at, size_t x)
{
    return at->image * array->step[0] + at->z * array->step[1] + at->y * array->step[2] +
           x * airy_dtype_size(array->dtype);
}

/* Results x to x + n - 1 of a row. */
static void run_piece(const struct job *job, const struct place *at, size_t x, size_t n)
{
    const struct airy_filter_axis *a = job->median->geometry.axis;
    _Alignas(64) double line[PIECE + AIRY_FILTER_SIZE_MAX], median[PIECE], off[PIECE],
        near[PIECE] = {0};
    const int64_t z = (int64_t)at->z - (int64_t)(a[0].taps / 2),
                  y = (int64_t)at->y - (int64_t)(a[1].taps / 2);
    airy_convolve_line_f64(&job->result, median, at->image, (int64_t)at->z, (int64_t)at->y,
                           (int64_t)x, n);
    airy_convolve_line_f64(&job->source, off, at->image, (int64_t)at->z, (int64_t)at->y, (int64_t)x,
                           n);
    for (size_t i = 0; i < n; i++)
        off[i] = fabs(off[i] - median[i]);
    for (size_t k = 0; k < a[0].taps; k++)
        for (size_t j = 0; j < a[1].taps; j++) {
            airy_convolve_line_f64(&job->source, line, at->image, z + (int64_t)k, y + (int64_t)j,
                                   (int64_t)x - (int64_t)(a[2].taps / 2), n + a[2].taps - 1);
            job->kernels->count_near(near, line, median, off, job->limit, a[2].taps, n);
        }
    put_back(airy_dtype_size(job->source.dtype), job->dst + bytes_to(&job->result, at, x),
             job->source.data + bytes_to(&job->source, at, x), near,
             (double)(job->median->count / 2), n);
}

static void run_row(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const struct airy_filter_axis *a = job->median->geometry.axis;
    const struct place at = {index / a[1].n / a[0].n, index / a[1].n % a[0].n, index % a[1].n};
    for (size_t x = 0; x < a[2].n; x += PIECE)
        run_piece(job, &at, x, airy_min_size(PIECE, a[2].n - x));
}

airy_status airy_cpu_hampel(airy_queue *queue, const struct airy_hampel_plan *plan)
{
    const struct airy_rank_plan *m = &plan->median;
    const struct airy_filter_geometry *g = &m->geometry;
    struct job job = {.median = m,
                      .kernels = airy_rank_kernels(),
                      .dst = airy_array_address(m->dst),
                      .limit = plan->limit};
    AIRY_TRY(airy_cpu_rank(queue, m));
    airy_convolve_source_open(&job.source, m->src, g);
    airy_convolve_source_open(&job.result, m->dst, g);
    airy_profile_loop(queue->device, "hampel", 3 * (double)airy_array_size(m->src),
                      g->images * g->axis[0].n * g->axis[1].n, run_row, &job);
    return AIRY_OK;
}
