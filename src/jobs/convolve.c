/* Convolution with a kernel, and Gaussian blur. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/filter_group.h"

struct values {
    struct airy_image_values image;
    struct airy_bad_values bad;
    struct airy_compute_values compute;
    struct airy_filter_values result;
    struct airy_border_value border;
    bool normalize;
    /* convolve */
    struct airy_job_source kernel;
    int mode, algorithm; /* in the order of the words */
    bool correlate;
    /* blur */
    struct airy_job_tuple sigma;
    double truncate;
};

static const char *const modes[] = {"full", "same", "valid", NULL};
static const char *const algorithms[] = {"auto", "direct", "separable", "fft", NULL};
_Static_assert(AIRY_CONVOLVE_FULL == 0 && AIRY_CONVOLVE_SAME == 1 && AIRY_CONVOLVE_VALID == 2 &&
                   AIRY_CONVOLVE_AUTO == 0 && AIRY_CONVOLVE_DIRECT == 1 &&
                   AIRY_CONVOLVE_SEPARABLE == 2 && AIRY_CONVOLVE_FFT == 3,
               "words are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row convolve_rows[] = {
    ROW(kernel, .name = "kernel", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help = "convolves with this image of 1 to 3 dimensions, 1 to 1025 along each, or with "
                "SExtractor's .conv",
        .section = "Convolution"),
    ROW(mode, .name = "mode", .type = AIRY_PARAMETER_WORD, .words = modes, .fallback = "full",
        .help = "keeps this part of the result"),
    AIRY_BORDER_ROW(struct values, border, "zero"),
    ROW(algorithm, .name = "algorithm", .type = AIRY_PARAMETER_WORD, .words = algorithms,
        .fallback = "auto",
        .help =
            "computes in this way; separable: the kernel is a sum of up to 4 products of lines; "
            "fft: transforms of tiles"),
    ROW(correlate, .name = "correlate", .type = AIRY_PARAMETER_FLAG,
        .help = "correlates instead: the kernel is not flipped"),
    AIRY_NORMALIZE_ROW(struct values, normalize),
    {{0}, 0, NULL}};

static const struct airy_job_row blur_rows[] = {
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3, .hi = INFINITY,
        .unit = "px", .argument = "S[,S[,S]]",
        .help =
            "blurs by these standard deviations along z, y, x, {truncate} times at most 512; one "
            "number: along every axis; 0: an axis that is left as it is",
        .section = "Blur"),
    ROW(truncate, .name = "truncate", .type = AIRY_PARAMETER_REAL, .lo = 1e-3, .hi = 1e6,
        .argument = "T", .fallback = "4", .help = "sets the radius of the kernel in sigmas"),
    AIRY_BORDER_ROW(struct values, border, "reflect"),
    AIRY_NORMALIZE_ROW(struct values, normalize),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result convolve_results[] = {
    {"image", AIRY_JOB_ARRAY, "output", "the result"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"algorithm", AIRY_JOB_TEXT, NULL, "how it was computed"},
    {"rank", AIRY_JOB_NUMBER, NULL, "of a kernel that is a sum of products of lines"},
    AIRY_PLAN_RESULTS,
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

static const airy_job_result blur_results[] = {
    {"image", AIRY_JOB_ARRAY, "output", "the result"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    AIRY_PLAN_RESULTS,
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct convolution {
    const struct values *v;
    struct airy_job_image d;
    double *kernel;
    int ndim;
    size_t shape[3]; /* of the kernel */
    airy_tile_plan plan;
    airy_image result;
};

static void begin(struct convolution *s, airy_job *job)
{
    const struct values *v = s->v = job->values;
    s->d = (struct airy_job_image){
        .job = job, .from = &v->image, .bad = &v->bad, .compute = &v->compute};
}

static void close_convolution(void *state)
{
    struct convolution *s = state;
    free(s->kernel);
    airy_image_free(&s->result);
    airy_job_image_close(&s->d);
}

static airy_status check_normalize(const struct values *v)
{
    AIRY_FAIL_ON_IF(v->normalize && v->algorithm == AIRY_CONVOLVE_FFT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s: the error of algorithm=fft does not shrink with the weights that are "
                    "left; use auto or direct",
                    "normalize");
    AIRY_FAIL_ON_IF(
        v->normalize && v->border.border == AIRY_BORDER_VALUE && !isfinite(v->border.value),
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s: the border has the value %g, expected a finite number", "normalize", v->border.value);
    return AIRY_OK;
}

static const char *nan_advice(const struct values *v)
{
    if (v->border.border == AIRY_BORDER_VALUE && isnan(v->border.value))
        return "the border has NaN outside of the image";
    return v->normalize ? NULL : "normalize=on leaves those out";
}

/* The result to where it goes, and what is to be said about its gaps. sentence: NULL or a summary. */
static airy_status finish(struct convolution *s, const char *sentence)
{
    const struct values *v = s->v;
    if (!v->result.plan) {
        AIRY_TRY(airy_filter_put(&s->d, &s->result, &v->result, nan_advice(v)));
        if (!airy_job_warn_mask(&s->d, NULL))
            airy_job_warn_values(&s->d, -(double)INFINITY);
    }
    airy_filter_put_plan(s->d.job, &s->plan, v->result.plan, sentence);
    return AIRY_OK;
}

/* ---- convolve ---- */

static const char *kernel_name(const struct values *v)
{
    return v->kernel.path ? v->kernel.path : "array";
}

/* All of it finite, as f64 without its outer axes of length 1. */
static airy_status take_kernel(struct convolution *s, const airy_image *image)
{
    const char *name = kernel_name(s->v);
    const size_t n = airy_shape_count(image->shape, image->ndim), *from = image->shape;
    for (s->ndim = image->ndim; s->ndim > 2 && from[0] == 1; s->ndim--)
        from++;
    AIRY_FAIL_HINT_IF(s->ndim > 3, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: has 4 dimensions, expected 1 to 3", "kernel", name);
    AIRY_TRY(airy_memory_calloc((void **)&s->kernel, n, sizeof(double), "a kernel"));
    for (size_t i = 0; i < n; i++) {
        s->kernel[i] = airy_image_value(image, i);
        AIRY_FAIL_HINT_IF(!isfinite(s->kernel[i]), AIRY_ERR_PARAM, AIRY_HINT_STATED,
                          AIRY_SUBJECT_PARAMETER, "%s %s: value %zu of %zu is not finite", "kernel",
                          name, i, n);
    }
    memcpy(s->shape, from, (size_t)s->ndim * sizeof(*from));
    return AIRY_OK;
}

/* Whether normalize can do with its elements. */
static airy_status check_weights(const struct convolution *s)
{
    const char *name = kernel_name(s->v);
    double sum = 0;
    for (size_t i = 0; i < airy_shape_count(s->shape, s->ndim); i++) {
        AIRY_FAIL_HINT_IF(s->kernel[i] < 0, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                          AIRY_SUBJECT_PARAMETER,
                          "%s %s: element %zu is %g, and sums of such weights do not normalize; "
                          "replace gaps first and leave normalize out, or take a kernel of no "
                          "negative elements",
                          "kernel", name, i, s->kernel[i]);
        sum += s->kernel[i];
    }
    AIRY_FAIL_HINT_IF(!(sum > 0) || isinf(sum), AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER,
                      "%s %s: the sum is %g, expected a finite one above 0 to normalize with",
                      "kernel", name, sum);
    return AIRY_OK;
}

static airy_status read_kernel(struct convolution *s)
{
    airy_image image = {0};
    airy_status status = airy_job_load_real(&image, &s->v->kernel);
    if (status == AIRY_OK)
        status = take_kernel(s, &image);
    airy_job_unload_image(&image, &s->v->kernel);
    AIRY_TRY(status);
    return s->v->normalize ? check_weights(s) : AIRY_OK;
}

static airy_status convolve_image(struct convolution *s, airy_convolve_info *info)
{
    const struct values *v = s->v;
    struct airy_job_image *d = &s->d;
    const airy_tile_target target = {
        .dtype = airy_filter_dtype(d->job, &v->result, d->image.dtype)};
    const airy_convolve_params params = {.mode = (airy_convolve_mode)v->mode,
                                         .border = v->border.border,
                                         .border_value = v->border.value,
                                         .method = (airy_convolve_method)v->algorithm,
                                         .correlate = v->correlate,
                                         .normalize = v->normalize};
    size_t shape[AIRY_MAX_DIMS];
    const airy_status status =
        airy_convolve_shape(shape, params.mode, d->image.ndim, d->image.shape, s->ndim, s->shape);
    if (status != AIRY_OK)
        return airy_about(
            AIRY_SUBJECT_PARAMETER, "kernel",
            airy_hinted(AIRY_HINT_STATED, airy_fail_context(status, "kernel %s", kernel_name(v))));
    AIRY_TRY(airy_job_image_begin(d, 0, 1));
    return airy_tile_convolve(d->queue, v->result.plan ? NULL : &s->result, &d->image, &target,
                              s->kernel, s->ndim, s->shape, &params, info, &s->plan);
}

static airy_status run_convolve(airy_job *job, void *state)
{
    struct convolution *s = state;
    airy_convolve_info info = {.rank = 0};
    char sentence[96] = "", rank[40] = "";
    begin(s, job);
    AIRY_TRY(read_kernel(s));
    AIRY_TRY(airy_filter_open(&s->d, &s->v->result));
    AIRY_TRY(convolve_image(s, &info));
    if (!s->v->result.plan) {
        const char *method = airy_convolve_method_name(info.method);
        if (info.rank)
            snprintf(rank, sizeof(rank), ", kernel of rank %d", (int)info.rank);
        snprintf(sentence, sizeof(sentence), "%s method%s", method, rank);
        AIRY_TRY(airy_job_put_text(job, "algorithm", method));
        airy_job_put_number(job, "rank", info.rank ? (double)info.rank : (double)NAN);
    }
    return finish(s, sentence);
}

static airy_status check_convolve(airy_job *job)
{
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(!airy_source_is_given(&v->kernel), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is missing", "kernel");
    return check_normalize(v);
}

/* ---- blur ---- */

static airy_status read_sigma(const struct convolution *s, airy_blur_params *params)
{
    const struct airy_job_tuple *sigma = &s->v->sigma;
    const int ndim = s->d.image.ndim;
    char text[96];
    AIRY_TRY(airy_filter_axes(&params->axes, "sigma", sigma, ndim));
    airy_tuple_text(text, sigma);
    if (sigma->count == 1 && ndim == 3)
        airy_job_message(s->d.job, AIRY_LOG_WARN,
                         "sigma=%s is for all three axes, along the first too; sigma=%s,%s blurs "
                         "each image of a list by itself",
                         text, text, text);
    for (int i = 0; i < params->axes; i++)
        params->sigma[i] = sigma->values[sigma->count == 1 ? 0 : i];
    return AIRY_OK;
}

static airy_status run_blur(airy_job *job, void *state)
{
    struct convolution *s = state;
    begin(s, job);
    const struct values *v = s->v;
    airy_blur_params params = {.truncate = v->truncate,
                               .has_border = true,
                               .border = v->border.border,
                               .border_value = v->border.value,
                               .normalize = v->normalize};
    AIRY_TRY(airy_filter_open(&s->d, &v->result));
    AIRY_TRY(read_sigma(s, &params));
    const airy_tile_target target = {.dtype = airy_filter_dtype(job, &v->result, s->d.image.dtype)};
    AIRY_TRY(airy_job_image_begin(&s->d, 0, 1));
    AIRY_TRY(airy_tile_blur(s->d.queue, v->result.plan ? NULL : &s->result, &s->d.image, &target,
                            &params, &s->plan));
    return finish(s, NULL);
}

static airy_status check_blur(airy_job *job)
{
    const struct values *v = job->values;
    bool any = false;
    char text[96];
    AIRY_FAIL_ON_IF(!v->sigma.count, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is missing",
                    "sigma");
    for (size_t i = 0; i < v->sigma.count; i++)
        any |= v->sigma.values[i] > 0;
    AIRY_FAIL_ON_IF(!any, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s %s: expected one above 0",
                    "sigma", airy_tuple_text(text, &v->sigma));
    AIRY_TRY(airy_filter_check_reach("sigma", &v->sigma, v->truncate));
    return check_normalize(v);
}

#define NAN_DETAILS                                                                                \
    "Bad pixels are NaN, and so is every result that one of them goes into, unless normalize "     \
    "leaves them out."

extern const struct airy_job_kind airy_job_convolve, airy_job_blur;
const struct airy_job_kind airy_job_convolve = {
    .name = "convolve",
    .summary = "convolve an image or a volume with a kernel",
    .details =
        "The kernel has as many dimensions as the image, or one less: then the image's slowest "
        "axis is a list. full keeps n + k - 1 elements along an axis of n with a kernel of k, same "
        "n from number (k - 1) / 2 on, valid those n - k + 1 that look at no border. The method "
        "that was taken is reported. " NAN_DETAILS
        " Images that are larger than the device are taken tile by tile.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {convolve_rows, 0},
               {airy_filter_rows, offsetof(struct values, result)},
               {airy_bad_rows, offsetof(struct values, bad)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = convolve_results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct convolution),
    .check = check_convolve,
    .run = run_convolve,
    .close = close_convolution,
};
const struct airy_job_kind airy_job_blur = {
    .name = "blur",
    .summary = "Gaussian blur of an image or a volume",
    .details =
        "Weights are exp(-x^2 / (2 sigma^2)) over their sum, out to truncate sigmas, as "
        "scipy.ndimage.gaussian_filter has them. One sigma is for every axis, in a stack along the "
        "frames too: S,S blurs each image of a stack by itself. A sigma of 0 leaves an axis as it "
        "is. " NAN_DETAILS " Images that are larger than the device are taken tile by tile.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {blur_rows, 0},
               {airy_filter_rows, offsetof(struct values, result)},
               {airy_bad_rows, offsetof(struct values, bad)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = blur_results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct convolution),
    .check = check_blur,
    .run = run_blur,
    .close = close_convolution,
};
