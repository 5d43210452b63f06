/* The filters of images in host memory: what a result is made from, for src/filter/tile.c. */
#include <math.h>

#include "airy/tile.h"
#include "base/error.h"
#include "filter/filter_fns.h"

struct filter {
    const double *kernel;
    int kernel_ndim;
    const size_t *kernel_shape;
    const airy_convolve_params *convolve;
    airy_convolve_info *info;
    const airy_blur_params *blur;
    const airy_stencil_params *stencil;
    const airy_rank_params *rank;
    const airy_hampel_params *hampel;
};

static airy_status run_convolve(void *user, airy_queue *queue, airy_array *dst,
                                const airy_array *src)
{
    const struct filter *f = user;
    return airy_convolve(queue, dst, src, f->kernel, f->kernel_ndim, f->kernel_shape, f->convolve,
                         f->info);
}

static airy_status run_blur(void *user, airy_queue *queue, airy_array *dst, const airy_array *src)
{
    const struct filter *f = user;
    return airy_gaussian_blur(queue, dst, src, f->blur);
}

static airy_status run_stencil(void *user, airy_queue *queue, airy_array *dst,
                               const airy_array *src)
{
    const struct filter *f = user;
    return airy_stencil_run(queue, dst, src, f->stencil);
}

static airy_status run_rank(void *user, airy_queue *queue, airy_array *dst, const airy_array *src)
{
    const struct filter *f = user;
    return airy_rank_filter_run(queue, dst, src, f->rank);
}

static airy_status run_hampel(void *user, airy_queue *queue, airy_array *dst, const airy_array *src)
{
    const struct filter *f = user;
    return airy_hampel_run(queue, dst, src, f->hampel);
}

static airy_status start_params(airy_tile_params *params, const airy_image *src,
                                const airy_tile_target *target, bool has_params)
{
    AIRY_FAIL_ON_IF(!src || !has_params, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    src ? "params" : "src");
    AIRY_FAIL_IF(src->ndim < 1 || src->ndim > AIRY_MAX_DIMS, AIRY_ERR_SHAPE,
                 "the image has %d dimensions, expected 1 to %d", src->ndim, AIRY_MAX_DIMS);
    *params = (airy_tile_params){.dtype = target ? target->dtype : AIRY_DTYPE_F32,
                                 .memory = target ? target->memory : 0};
    return AIRY_OK;
}

/* Weights like the result, and what is finite of the source, each with a byte an element. */
static void add_normalize(airy_tile_params *tiles)
{
    const size_t size = airy_dtype_size(tiles->dtype);
    tiles->scratch = tiles->source_scratch = size ? 1 + 1 / (double)size : 0;
}

/* Axes of src that a filter of its last `axes` (0: all it can be of) is of. */
static int filter_axes(const airy_image *src, int axes)
{
    const int most = src->ndim < 3 ? src->ndim : 3;
    return axes > 0 && axes < most ? axes : most;
}

/* What a Gaussian reaches; one that is too wide, or none, is refused by the filter itself. */
static size_t reach_of(double sigma, double truncate, size_t radius)
{
    const double reach = airy_gauss_reach(sigma, truncate != 0 ? truncate : 4, radius);
    return !(reach > 0) ? 0 : reach < AIRY_FILTER_SIZE_MAX ? (size_t)reach : AIRY_FILTER_SIZE_MAX;
}

airy_status airy_tile_convolve(airy_queue *queue, airy_image *dst, const airy_image *src,
                               const airy_tile_target *target, const double *kernel,
                               int kernel_ndim, const size_t *kernel_shape,
                               const airy_convolve_params *params, airy_convolve_info *info,
                               airy_tile_plan *plan)
{
    static const airy_convolve_params defaults;
    struct filter f = {.kernel = kernel,
                       .kernel_ndim = kernel_ndim,
                       .kernel_shape = kernel_shape,
                       .convolve = params ? params : &defaults,
                       .info = info};
    airy_tile_params tiles;
    size_t shape[AIRY_MAX_DIMS];
    AIRY_TRY(start_params(&tiles, src, target, true));
    AIRY_TRY(airy_convolve_shape(shape, f.convolve->mode, src->ndim, src->shape, kernel_ndim,
                                 kernel_shape));
    for (int i = 0; i < kernel_ndim; i++) {
        const int axis = src->ndim - kernel_ndim + i;
        const size_t reach = kernel_shape[i] - 1, begin = reach / 2, back = reach - begin;
        const bool correlate = f.convolve->correlate;
        switch (f.convolve->mode) {
        case AIRY_CONVOLVE_FULL:
            tiles.before[axis] = reach;
            break;
        case AIRY_CONVOLVE_VALID:
            tiles.after[axis] = reach;
            break;
        default: /* the result begins at `begin` of the full ones, correlated at `back` */
            tiles.before[axis] = correlate ? begin : back;
            tiles.after[axis] = correlate ? back : begin;
            break;
        }
        tiles.grow[axis] = (ptrdiff_t)shape[axis] - (ptrdiff_t)src->shape[axis];
    }
    tiles.wrap = f.convolve->border == AIRY_BORDER_WRAP;
    if (f.convolve->normalize)
        add_normalize(&tiles);
    return airy_tile_run(queue, dst, src, &tiles, run_convolve, &f, plan);
}

airy_status airy_tile_blur(airy_queue *queue, airy_image *dst, const airy_image *src,
                           const airy_tile_target *target, const airy_blur_params *params,
                           airy_tile_plan *plan)
{
    struct filter f = {.blur = params};
    airy_tile_params tiles;
    AIRY_TRY(start_params(&tiles, src, target, params));
    const int axes = filter_axes(src, params->axes);
    for (int i = 0; i < axes; i++) {
        const int axis = src->ndim - axes + i;
        tiles.before[axis] = reach_of(params->sigma[i], params->truncate, params->radius[i]);
        tiles.after[axis] = tiles.before[axis];
    }
    tiles.wrap = params->has_border && params->border == AIRY_BORDER_WRAP;
    if (params->normalize)
        add_normalize(&tiles);
    return airy_tile_run(queue, dst, src, &tiles, run_blur, &f, plan);
}

/* Elements that a stencil looks at on either side of a place along one of its axes. */
static size_t stencil_reach(const airy_stencil_params *p, int axis)
{
    switch (p->stencil) {
    case AIRY_STENCIL_BOX:
        return p->size[axis] / 2;
    case AIRY_STENCIL_LOG:
        return reach_of(p->sigma[axis], p->truncate, 0);
    case AIRY_STENCIL_DOG: {
        const size_t one = reach_of(p->sigma[axis], p->truncate, 0);
        const size_t two = reach_of(p->sigma2[axis], p->truncate, 0);
        return one > two ? one : two;
    }
    default:
        return 1;
    }
}

airy_status airy_tile_stencil(airy_queue *queue, airy_image *dst, const airy_image *src,
                              const airy_tile_target *target, const airy_stencil_params *params,
                              airy_tile_plan *plan)
{
    struct filter f = {.stencil = params};
    airy_tile_params tiles;
    AIRY_TRY(start_params(&tiles, src, target, params));
    const int axes = filter_axes(src, params->axes);
    for (int i = 0; i < axes; i++) {
        const int axis = src->ndim - axes + i;
        tiles.before[axis] = tiles.after[axis] = stencil_reach(params, i);
    }
    tiles.scratch = 1; /* sums of several products take an array more */
    tiles.wrap = params->has_border && params->border == AIRY_BORDER_WRAP;
    return airy_tile_run(queue, dst, src, &tiles, run_stencil, &f, plan);
}

airy_status airy_tile_rank(airy_queue *queue, airy_image *dst, const airy_image *src,
                           uint64_t memory, const airy_rank_params *params, airy_tile_plan *plan)
{
    struct filter f = {.rank = params};
    airy_tile_params tiles;
    AIRY_TRY(start_params(&tiles, src, NULL, params));
    tiles.dtype = src->dtype;
    tiles.memory = memory;
    const int axes = filter_axes(src, params->axes);
    const bool twice = params->filter >= AIRY_RANK_OPENING;
    for (int i = 0; i < axes; i++) {
        const int axis = src->ndim - axes + i;
        const size_t reach = params->size[i] / 2;
        tiles.before[axis] = tiles.after[axis] = twice ? 2 * reach : reach;
    }
    tiles.scratch = twice ? 3 : 2; /* what is in between, and the passes of a box */
    tiles.wrap = params->has_border && params->border == AIRY_BORDER_WRAP;
    return airy_tile_run(queue, dst, src, &tiles, run_rank, &f, plan);
}

airy_status airy_tile_hampel(airy_queue *queue, airy_image *dst, const airy_image *src,
                             uint64_t memory, const airy_hampel_params *params,
                             airy_tile_plan *plan)
{
    struct filter f = {.hampel = params};
    airy_tile_params tiles;
    AIRY_TRY(start_params(&tiles, src, NULL, params));
    tiles.dtype = src->dtype;
    tiles.memory = memory;
    const int axes = filter_axes(src, params->axes);
    for (int i = 0; i < axes; i++) {
        const int axis = src->ndim - axes + i;
        tiles.before[axis] = tiles.after[axis] = params->size[i] / 2;
    }
    tiles.wrap = params->has_border && params->border == AIRY_BORDER_WRAP;
    return airy_tile_run(queue, dst, src, &tiles, run_hampel, &f, plan);
}
