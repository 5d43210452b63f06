#include "airy/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "base/error.h"
#include "base/word.h"
#include "base/memory.h"
#include "core/backend.h"
#include "filter/filter_fns.h"

static const char *const border_names[AIRY_BORDER_COUNT] = {"zero",    "value",  "nearest",
                                                            "reflect", "mirror", "wrap"};
static const char *const mode_names[AIRY_CONVOLVE_MODE_COUNT] = {"full", "same", "valid"};
static const char *const method_names[AIRY_CONVOLVE_METHOD_COUNT] = {"auto", "direct", "separable",
                                                                     "fft"};

const char *airy_border_name(airy_border border)
{
    return (unsigned)border < AIRY_BORDER_COUNT ? border_names[border] : "?";
}

airy_status airy_border_parse(airy_border *border, const char *name)
{
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "border", name, border_names, AIRY_BORDER_COUNT));
    *border = (airy_border)i;
    return AIRY_OK;
}

const char *airy_convolve_mode_name(airy_convolve_mode mode)
{
    return (unsigned)mode < AIRY_CONVOLVE_MODE_COUNT ? mode_names[mode] : "?";
}

airy_status airy_convolve_mode_parse(airy_convolve_mode *mode, const char *name)
{
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "mode", name, mode_names, AIRY_CONVOLVE_MODE_COUNT));
    *mode = (airy_convolve_mode)i;
    return AIRY_OK;
}

const char *airy_convolve_method_name(airy_convolve_method method)
{
    return (unsigned)method < AIRY_CONVOLVE_METHOD_COUNT ? method_names[method] : "?";
}

airy_status airy_convolve_method_parse(airy_convolve_method *method, const char *name)
{
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "method", name, method_names, AIRY_CONVOLVE_METHOD_COUNT));
    *method = (airy_convolve_method)i;
    return AIRY_OK;
}

static airy_status check_kernel_shape(int ndim, int kernel_ndim, const size_t *kernel_shape)
{
    AIRY_FAIL_IF(!kernel_shape, AIRY_ERR_PARAM, "kernel_shape is NULL");
    AIRY_FAIL_ON_IF(kernel_ndim < 1 || kernel_ndim > 3, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 1 to 3", "kernel_ndim", kernel_ndim);
    AIRY_FAIL_IF(ndim != kernel_ndim && ndim != kernel_ndim + 1, AIRY_ERR_SHAPE,
                 "a kernel of %d dimension%s for an array of %d, expected %d%s", kernel_ndim,
                 kernel_ndim == 1 ? "" : "s", ndim, ndim, ndim > 1 ? " or one less" : "");
    for (int i = 0; i < kernel_ndim; i++)
        AIRY_FAIL_ON_IF(kernel_shape[i] < 1 || kernel_shape[i] > AIRY_FILTER_SIZE_MAX,
                        AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER, "%s[%d] = %zu, expected 1 to %d",
                        "kernel_shape", i, kernel_shape[i], AIRY_FILTER_SIZE_MAX);
    return AIRY_OK;
}

airy_status airy_convolve_shape(size_t *shape, airy_convolve_mode mode, int ndim,
                                const size_t *src_shape, int kernel_ndim,
                                const size_t *kernel_shape)
{
    AIRY_FAIL_ON_IF(!shape || !src_shape, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    shape ? "src_shape" : "shape");
    AIRY_FAIL_ON_IF((unsigned)mode >= AIRY_CONVOLVE_MODE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_convolve_mode", "mode",
                    (int)mode);
    AIRY_TRY(check_kernel_shape(ndim, kernel_ndim, kernel_shape));
    size_t made[AIRY_MAX_DIMS];
    for (int i = 0; i < ndim; i++) {
        const int axis = i - (ndim - kernel_ndim);
        const size_t k = axis < 0 ? 1 : kernel_shape[axis], n = src_shape[i];
        AIRY_FAIL_IF(mode == AIRY_CONVOLVE_VALID && k > n, AIRY_ERR_SHAPE,
                     "mode valid: the kernel has %zu elements along axis %d, expected at most the "
                     "array's %zu",
                     k, i, n);
        made[i] = mode == AIRY_CONVOLVE_FULL   ? n + k - 1
                  : mode == AIRY_CONVOLVE_SAME ? n
                                               : n - k + 1;
    }
    memcpy(shape, made, (size_t)ndim * sizeof(*shape));
    return AIRY_OK;
}

void airy_filter_steps(size_t step[3], const airy_array *array,
                       const struct airy_filter_geometry *geometry)
{
    const int last = array->ndim - 1;
    step[2] = last >= 1 ? array->pitch[last - 1] : 0;
    step[1] = last >= 2 ? array->pitch[last - 2] : 0;
    step[0] = last >= 3 ? array->pitch[last - 3] : 0;
    /* The list takes the axis in front of the kernel's. */
    if (geometry->images > 1 && last < 3) {
        step[0] = last == 2 ? step[1] : step[2];
        if (last == 2)
            step[1] = 0;
        else
            step[2] = 0;
    }
}

airy_status airy_filter_check_dst(const airy_queue *queue, const airy_array *dst,
                                  const airy_array *src, const size_t *shape)
{
    char text[96];
    AIRY_TRY(airy_check_device(queue, dst, "dst"));
    bool same = dst->ndim == src->ndim;
    for (int i = 0; same && i < src->ndim; i++)
        same = dst->shape[i] == shape[i];
    char want[96] = "";
    size_t used = 0;
    for (int i = 0; i < src->ndim; i++)
        used += (size_t)snprintf(want + used, sizeof(want) - used, i ? ", %zu" : "%zu", shape[i]);
    AIRY_FAIL_IF(!same, AIRY_ERR_SHAPE, "dst is %s, expected [%s]", airy_array_describe(dst, text),
                 want);
    AIRY_FAIL_IF(airy_array_overlaps(dst, src), AIRY_ERR_PARAM, "dst and src share memory");
    return AIRY_OK;
}

static airy_status check_arrays(const airy_queue *queue, const airy_array *dst,
                                const airy_array *src, const size_t *shape)
{
    char text[96];
    AIRY_FAIL_IF(dst->dtype != AIRY_DTYPE_F32 && dst->dtype != AIRY_DTYPE_F64, AIRY_ERR_DTYPE,
                 "dst is %s, expected float32 or float64", airy_array_describe(dst, text));
    return airy_filter_check_dst(queue, dst, src, shape);
}

/* Axes of src and of a kernel of kernel_ndim dimensions; offsets of the mode. */
static void make_geometry(struct airy_filter_geometry *g, const airy_array *src, int kernel_ndim,
                          const size_t *kernel_shape, const size_t *out,
                          const airy_convolve_params *p)
{
    g->images = src->ndim > kernel_ndim ? src->shape[0] : 1;
    g->border = p->border;
    g->border_value = p->border == AIRY_BORDER_VALUE ? p->border_value : 0;
    for (int i = 0; i < 3; i++) {
        const int axis = kernel_ndim - 3 + i, at = src->ndim - 3 + i;
        struct airy_filter_axis *a = &g->axis[i];
        a->taps = axis < 0 ? 1 : kernel_shape[axis];
        a->n = axis < 0 ? 1 : src->shape[at];
        a->out = axis < 0 ? 1 : out[at];
        const int64_t k = (int64_t)a->taps;
        a->offset = p->mode == AIRY_CONVOLVE_FULL    ? 0
                    : p->mode == AIRY_CONVOLVE_VALID ? k - 1
                    : p->correlate                   ? k / 2
                                                     : (k - 1) / 2;
    }
}

static airy_status check_params(const airy_convolve_params *p)
{
    AIRY_FAIL_ON_IF((unsigned)p->mode >= AIRY_CONVOLVE_MODE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_convolve_mode", "mode",
                    (int)p->mode);
    AIRY_FAIL_ON_IF((unsigned)p->border >= AIRY_BORDER_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_border", "border",
                    (int)p->border);
    AIRY_FAIL_ON_IF((unsigned)p->method >= AIRY_CONVOLVE_METHOD_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_convolve_method", "method",
                    (int)p->method);
    AIRY_FAIL_IF(
        p->normalize && p->method == AIRY_CONVOLVE_FFT, AIRY_ERR_PARAM,
        "method fft does not normalize: its error does not shrink with the weights that are "
        "left; use auto or direct");
    AIRY_FAIL_ON_IF(p->normalize && p->border == AIRY_BORDER_VALUE && !isfinite(p->border_value),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a finite one to normalize with", "border_value",
                    p->border_value);
    return AIRY_OK;
}

/* Times a power of two, so that the sum is 0.5 to below 1; that sum. */
static double scale_weights(double *weights, size_t n)
{
    double sum = 0;
    int exponent;
    for (size_t i = 0; i < n; i++)
        sum += weights[i];
    sum = frexp(sum, &exponent);
    for (size_t i = 0; i < n; i++)
        weights[i] = ldexp(weights[i], -exponent);
    return sum;
}

/* Weights whose sums over some of them say how much of the kernel that is. */
static airy_status check_weights(const double *kernel, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        AIRY_FAIL_IF(kernel[i] < 0, AIRY_ERR_PARAM,
                     "the kernel has an element of %g, and sums of such weights do not normalize; "
                     "replace gaps first and leave normalize out, or take a kernel of no negative "
                     "elements",
                     kernel[i]);
        sum += kernel[i];
    }
    AIRY_FAIL_IF(!(sum > 0) || isinf(sum), AIRY_ERR_PARAM,
                 "the kernel's sum is %g, expected a finite one above 0 to normalize with", sum);
    return AIRY_OK;
}

/* The kernel in the order in which the back ends walk it; malloc'ed. */
static airy_status turn_kernel(double **turned, const double *kernel, size_t n, bool correlate)
{
    void *block;
    AIRY_FAIL_IF(!kernel, AIRY_ERR_PARAM, "kernel is NULL");
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(double), "a kernel"));
    double *to = block;
    for (size_t i = 0; i < n; i++) {
        to[i] = kernel[correlate ? i : n - 1 - i];
        if (isfinite(to[i]))
            continue;
        free(block);
        return airy_fail(AIRY_ERR_PARAM, "kernel: element %zu is not finite",
                         correlate ? i : n - 1 - i);
    }
    *turned = to;
    return AIRY_OK;
}

/* Results times taps: the unit in which methods are compared. */
static double products(const struct airy_filter_geometry *g, size_t taps)
{
    return (double)g->images * (double)g->axis[0].out * (double)g->axis[1].out *
           (double)g->axis[2].out * (double)taps;
}

/* The kernel as products of lines, for SEPARABLE, or AUTO. */
static airy_status split_kernel(struct airy_convolve_plan *plan, airy_convolve_method method,
                                const size_t taps[3], airy_convolve_info *info)
{
    AIRY_TRY(airy_kernel_split(plan->line, &plan->rank, &info->residual, plan->kernel, taps,
                               plan->dst->dtype == AIRY_DTYPE_F32 ? 0x1p-24 : 1e-14));
    AIRY_FAIL_IF(method == AIRY_CONVOLVE_SEPARABLE && plan->rank == 0, AIRY_ERR_PARAM,
                 "the kernel is no sum of %d products of lines (%.3g of it is left), expected one "
                 "for the separable method",
                 taps[0] > 1 && taps[1] > 1 && taps[2] > 1 ? 1 : AIRY_FILTER_MAX_RANK,
                 info->residual);
    info->rank = plan->rank;
    return AIRY_OK;
}

/*
 * The method that is asked for, or the one that is the least work; with what it needs in the plan.
 * To normalize, sums of weights must not cancel: neither over a tile nor between products.
 */
static airy_status choose_method(airy_queue *queue, struct airy_convolve_plan *plan,
                                 const airy_convolve_params *p, airy_convolve_info *info)
{
    const airy_convolve_method method = p->method;
    const struct airy_filter_fns *fns = airy_queue_backend(queue)->filter;
    const struct airy_filter_geometry *g = &plan->geometry;
    const struct airy_filter_axis *a = g->axis;
    const size_t taps[3] = {a[0].taps, a[1].taps, a[2].taps};
    double least = products(g, taps[0] * taps[1] * taps[2]);
    info->method = method == AIRY_CONVOLVE_AUTO ? AIRY_CONVOLVE_DIRECT : method;
    if (method == AIRY_CONVOLVE_SEPARABLE || method == AIRY_CONVOLVE_AUTO)
        AIRY_TRY(split_kernel(plan, method, taps, info));
    AIRY_FAIL_IF(p->normalize && method == AIRY_CONVOLVE_SEPARABLE && plan->rank > 1,
                 AIRY_ERR_PARAM,
                 "the kernel is a sum of %d products of lines, expected one to normalize with; use "
                 "auto or direct",
                 plan->rank);
    /* Each product of lines reads and writes as well. */
    const double separable = 1.5 * (double)plan->rank * products(g, taps[0] + taps[1] + taps[2]);
    const bool split = plan->rank == 1 || (plan->rank > 1 && !p->normalize);
    if (method == AIRY_CONVOLVE_AUTO && split && separable < least) {
        info->method = AIRY_CONVOLVE_SEPARABLE;
        least = separable;
    }
    if (method == AIRY_CONVOLVE_FFT ||
        (method == AIRY_CONVOLVE_AUTO && fns->fft && !p->normalize)) {
        AIRY_FAIL_IF(!fns->fft, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement method fft",
                     airy_queue_backend(queue)->name);
        const double work = fns->fft_work(queue, plan);
        AIRY_FAIL_IF(method == AIRY_CONVOLVE_FFT && isinf(work), AIRY_ERR_UNSUPPORTED,
                     "a kernel of %zu x %zu x %zu is too large for the tiles of method fft; use "
                     "direct",
                     taps[0], taps[1], taps[2]);
        /* Its error is spread over a tile: it has to be worth that. */
        if (1.25 * work < least)
            info->method = AIRY_CONVOLVE_FFT;
    }
    if (info->method == AIRY_CONVOLVE_FFT)
        memcpy(info->tile, plan->tiles.length, sizeof(info->tile));
    return AIRY_OK;
}

typedef airy_status (*run_fn)(airy_queue *queue, const struct airy_convolve_plan *plan);

/* Sums of what is finite, and of the weights that it has; outside is what has a value. */
static airy_status run_sums(airy_queue *queue, const struct airy_convolve_plan *plan, run_fn run,
                            const airy_array *filled, const airy_array *good,
                            const airy_array *weights)
{
    struct airy_convolve_plan p = *plan;
    p.src = filled;
    AIRY_TRY(run(queue, &p));
    p.src = good;
    p.dst = weights;
    if (p.geometry.border == AIRY_BORDER_ZERO || p.geometry.border == AIRY_BORDER_VALUE) {
        p.geometry.border = AIRY_BORDER_VALUE;
        p.geometry.border_value = 1;
    }
    return run(queue, &p);
}

/*
 * dst over the weights, NaN where these are below `least`. As the sums of lines and kernels are 0.5
 * to 1, what is lost to subnormal numbers of the dtype, which a device may take for 0, is at most
 * twice the number of taps times the smallest normal one: less than rounding.
 */
static airy_status divide_by_weights(airy_queue *queue, airy_array *dst, airy_array *weights,
                                     airy_array *enough, double least)
{
    AIRY_TRY(airy_combine_value(queue, enough, weights, AIRY_GREATER_EQUAL, least));
    AIRY_TRY(airy_where(queue, dst, enough, dst, enough)); /* 0 where enough is 0 */
    AIRY_TRY(airy_where(queue, weights, enough, weights, enough));
    return airy_combine(queue, dst, dst, AIRY_DIVIDE, weights); /* 0 / 0 is NaN */
}

/* The plan's result by `run`, from what is finite of src; sum: of the plan's weights. */
static airy_status run_normalized(airy_queue *queue, airy_array *dst,
                                  const struct airy_convolve_plan *plan, run_fn run, double sum)
{
    const airy_array *src = plan->src;
    airy_device *device = queue->device;
    const double least = dst->dtype == AIRY_DTYPE_F32 ? 0x1p-64 : 0x1p-512;
    airy_array *good = NULL, *filled = NULL, *weights = NULL, *enough = NULL;
    airy_status status =
        airy_array_create_uninitialized(&good, device, AIRY_DTYPE_U8, src->ndim, src->shape);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&filled, device, dst->dtype, src->ndim, src->shape);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&weights, device, dst->dtype, dst->ndim, dst->shape);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&enough, device, AIRY_DTYPE_U8, dst->ndim, dst->shape);
    if (status == AIRY_OK)
        status = airy_apply(queue, good, AIRY_IS_FINITE, src);
    if (status == AIRY_OK) /* 0 where good is 0 */
        status = airy_where(queue, filled, good, src, good);
    if (status == AIRY_OK)
        status = run_sums(queue, plan, run, filled, good, weights);
    if (status == AIRY_OK)
        status = divide_by_weights(queue, dst, weights, enough, least * sum);
    /* The memory may go only when the work on it is done. */
    if (enough) {
        const airy_status end = airy_queue_finish(queue);
        status = status == AIRY_OK ? end : status;
    }
    airy_array_destroy(&enough);
    airy_array_destroy(&weights);
    airy_array_destroy(&filled);
    airy_array_destroy(&good);
    return status;
}

/* run_normalized of one product of lines; those of one 1, which back ends pass over, stay so. */
static airy_status run_product(airy_queue *queue, airy_array *dst,
                               const struct airy_convolve_plan *plan, run_fn run)
{
    double sum = 1;
    for (int axis = 0; axis < 3; axis++)
        if (plan->geometry.axis[axis].taps > 1 || plan->line[0][axis][0] != 1)
            sum *= scale_weights(plan->line[0][axis], plan->geometry.axis[axis].taps);
    return run_normalized(queue, dst, plan, run, sum);
}

/* dst, and the plan's dst, are one. */
static airy_status run_plan(airy_queue *queue, airy_array *dst, struct airy_convolve_plan *plan,
                            const airy_convolve_params *p, double sum, airy_convolve_info *info)
{
    const struct airy_filter_fns *fns = airy_queue_backend(queue)->filter;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement convolution",
                 airy_queue_backend(queue)->name);
    info->residual = 0;
    AIRY_TRY(choose_method(queue, plan, p, info));
    const run_fn run = info->method == AIRY_CONVOLVE_FFT         ? fns->fft
                       : info->method == AIRY_CONVOLVE_SEPARABLE ? fns->separable
                                                                 : fns->direct;
    if (!p->normalize)
        return run(queue, plan);
    return info->method == AIRY_CONVOLVE_SEPARABLE ? run_product(queue, dst, plan, run)
                                                   : run_normalized(queue, dst, plan, run, sum);
}

static void free_lines(struct airy_convolve_plan *plan)
{
    for (int r = 0; r < AIRY_FILTER_MAX_RANK; r++)
        for (int axis = 0; axis < 3; axis++)
            free(plan->line[r][axis]);
}

airy_status airy_convolve(airy_queue *queue, airy_array *dst, const airy_array *src,
                          const double *kernel, int kernel_ndim, const size_t *kernel_shape,
                          const airy_convolve_params *params, airy_convolve_info *info)
{
    const airy_convolve_params p = params ? *params : (airy_convolve_params){.border_value = 0};
    size_t shape[AIRY_MAX_DIMS], n = 1;
    struct airy_convolve_plan plan = {.dst = dst, .src = src};
    airy_convolve_info made = {.rank = 0};
    AIRY_FAIL_ON_IF(!queue || !dst || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue ? "queue"
                    : dst  ? "src"
                           : "dst");
    AIRY_TRY(check_params(&p));
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_TRY(airy_convolve_shape(shape, p.mode, src->ndim, src->shape, kernel_ndim, kernel_shape));
    AIRY_TRY(check_arrays(queue, dst, src, shape));
    make_geometry(&plan.geometry, src, kernel_ndim, kernel_shape, shape, &p);
    for (int i = 0; i < kernel_ndim; i++)
        n *= kernel_shape[i];
    double *turned = NULL, sum = 1;
    AIRY_TRY(turn_kernel(&turned, kernel, n, p.correlate));
    plan.kernel = turned;
    airy_status status = p.normalize ? check_weights(turned, n) : AIRY_OK;
    if (status == AIRY_OK && p.normalize)
        sum = scale_weights(turned, n);
    if (status == AIRY_OK)
        status = run_plan(queue, dst, &plan, &p, sum, &made);
    free_lines(&plan);
    free(turned);
    if (status == AIRY_OK && info)
        *info = made;
    return status;
}

double airy_gauss_reach(double sigma, double truncate, size_t radius)
{
    return !(sigma > 0) ? 0 : radius ? (double)radius : floor(truncate * sigma + 0.5);
}

airy_status airy_gauss_line(double **line, size_t *taps, double sigma, double truncate,
                            size_t radius, bool second)
{
    AIRY_FAIL_ON_IF(!(sigma >= 0) || isinf(sigma), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a number of at least 0", "sigma", sigma);
    const double reach = airy_gauss_reach(sigma, truncate, radius), width = sigma > 0 ? sigma : 1;
    AIRY_FAIL_ON_IF(
        reach > AIRY_BLUR_RADIUS_MAX, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s = %g needs a radius of %g, expected at most %d; truncate sooner, or blur more "
        "than once, by sigmas whose squares add up",
        "sigma", sigma, reach, AIRY_BLUR_RADIUS_MAX);
    void *block;
    *taps = 2 * (size_t)reach + 1;
    AIRY_TRY(airy_memory_calloc(&block, *taps, sizeof(double), "weights of a Gaussian"));
    *line = block;
    double sum = 0;
    for (size_t i = 0; i < *taps; i++) {
        const double x = ((double)i - reach) / width;
        (*line)[i] = exp(-0.5 * x * x);
        sum += (*line)[i];
    }
    for (size_t i = 0; i < *taps; i++) {
        const double x = ((double)i - reach) / width;
        (*line)[i] = second ? (*line)[i] * ((x * x - 1) / (width * width) / sum) : (*line)[i] / sum;
    }
    return AIRY_OK;
}

/*
 * Round the weights of a symmetric line of sum 1 to f32 so that their sum stays 1: rounded each for
 * itself they add up to 1 + 4e-8 or so, by which every result is too large. From the ends inward
 * each weight takes on what those before have lost; what the middle loses goes to the pairs from
 * the middle outward, whose last places are finer and finer. No weight changes by more than 2^-23 of
 * itself for that; a middle of 0.5 or more, of sigmas below 0.81, may keep 2^-25.
 */
static void round_line(double *line, size_t taps)
{
    const size_t middle = taps / 2;
    double exact = 0, rounded = 0;
    for (size_t i = 0; i < middle; i++) {
        exact += line[i];
        line[i] = (double)(float)(exact - rounded);
        rounded += line[i];
    }
    line[middle] = (double)(float)(1 - 2 * rounded);
    for (size_t i = middle; i-- > 0;) {
        const double rest = 1 - line[middle] - 2 * rounded, before = line[i],
                     most = 0x1p-23 * before;
        line[i] = (double)(float)(before + fmax(-most, fmin(0.5 * rest, most)));
        rounded += line[i] - before;
    }
    for (size_t i = 0; i < middle; i++)
        line[taps - 1 - i] = line[i];
}

/* The weights of all axes, as one product. */
static airy_status make_blur(struct airy_convolve_plan *plan, size_t taps[3],
                             const airy_blur_params *p, int axes)
{
    bool any = false;
    const double truncate = p->truncate != 0 ? p->truncate : 4;
    AIRY_FAIL_ON_IF(!(truncate > 0) || isinf(truncate), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a positive number", "truncate", truncate);
    for (int i = 0; i < 3; i++) {
        const int axis = axes - 3 + i;
        const double sigma = axis < 0 ? 0 : p->sigma[axis];
        any = any || sigma > 0;
        AIRY_TRY(airy_gauss_line(&plan->line[0][i], &taps[i], sigma, truncate,
                                 axis < 0 ? 0 : p->radius[axis], false));
        if (plan->dst->dtype == AIRY_DTYPE_F32)
            round_line(plan->line[0][i], taps[i]);
    }
    AIRY_FAIL_ON_IF(!any, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = 0 on every axis, expected one above 0", "sigma");
    plan->rank = 1;
    plan->unit = !p->normalize; /* those of sums over gaps are scaled */
    return AIRY_OK;
}

airy_status airy_filter_product(airy_queue *queue, airy_array *dst, const airy_array *src,
                                double *const line[3], const size_t taps[3], int axes,
                                const airy_convolve_params *params)
{
    struct airy_convolve_plan plan = {.dst = dst, .src = src, .rank = 1};
    AIRY_TRY(check_params(params));
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_TRY(check_arrays(queue, dst, src, src->shape));
    const struct airy_filter_fns *fns = airy_queue_backend(queue)->filter;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement filters",
                 airy_queue_backend(queue)->name);
    for (int i = 0; i < 3; i++)
        plan.line[0][i] = line[i];
    make_geometry(&plan.geometry, src, axes, taps + 3 - axes, src->shape, params);
    return fns->separable(queue, &plan);
}

airy_status airy_filter_check_given(const airy_queue *queue, const airy_array *dst,
                                    const airy_array *src, const void *params)
{
    AIRY_FAIL_ON_IF(!queue || !dst || !src || !params, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is NULL",
                    !queue    ? "queue"
                    : !dst    ? "dst"
                    : !params ? "params"
                              : "src");
    return AIRY_OK;
}

airy_status airy_gaussian_blur(airy_queue *queue, airy_array *dst, const airy_array *src,
                               const airy_blur_params *params)
{
    struct airy_convolve_plan plan = {.dst = dst, .src = src};
    AIRY_TRY(airy_filter_check_given(queue, dst, src, params));
    const airy_convolve_params p = {.mode = AIRY_CONVOLVE_SAME,
                                    .border = params->has_border ? params->border
                                                                 : AIRY_BORDER_REFLECT,
                                    .border_value = params->border_value,
                                    .normalize = params->normalize};
    AIRY_TRY(check_params(&p));
    AIRY_TRY(airy_check_device(queue, src, "src"));
    const int most = src->ndim < 3 ? src->ndim : 3, axes = params->axes ? params->axes : most;
    const int least = src->ndim > 1 ? src->ndim - 1 : 1; /* the axis in front may be a list */
    AIRY_FAIL_ON_IF(axes < least || axes > most, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d for an array of %d dimensions, expected %d to %d", "axes", axes,
                    src->ndim, least, most);
    AIRY_TRY(check_arrays(queue, dst, src, src->shape));
    const struct airy_filter_fns *fns = airy_queue_backend(queue)->filter;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement blur",
                 airy_queue_backend(queue)->name);
    size_t taps[3];
    airy_status status = make_blur(&plan, taps, params, axes);
    if (status == AIRY_OK) {
        make_geometry(&plan.geometry, src, axes, taps + 3 - axes, src->shape, &p);
        status = p.normalize ? run_product(queue, dst, &plan, fns->separable)
                             : fns->separable(queue, &plan);
    }
    free_lines(&plan);
    return status;
}
