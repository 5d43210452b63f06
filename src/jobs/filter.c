/* Order statistics, morphology, means and derivatives: every filter of the library by its name. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/gaps.h"
#include "base/memory.h"
#include "base/number.h"
#include "jobs/filter_group.h"

struct values {
    int filter; /* in the order of the words */
    struct airy_image_values image;
    struct airy_compute_values compute;
    struct airy_job_source footprint;
    struct airy_job_tuple size, sigma, sigma2;
    double percentile, rank, truncate, kappa;
    size_t axis;
    bool planes;
    struct airy_border_value border;
    struct airy_filter_values result;
};

enum family { FAMILY_RANK, FAMILY_HAMPEL, FAMILY_STENCIL };

static const struct kind {
    enum family family;
    airy_rank_filter rank;
    airy_stencil stencil;
} kinds[] = {
    {.rank = AIRY_RANK_MEDIAN},
    {.rank = AIRY_RANK_MINIMUM},
    {.rank = AIRY_RANK_MAXIMUM},
    {.rank = AIRY_RANK_PERCENTILE},
    {.rank = AIRY_RANK_NTH},
    {.rank = AIRY_RANK_OPENING},
    {.rank = AIRY_RANK_CLOSING},
    {.rank = AIRY_RANK_WHITE_TOPHAT},
    {.rank = AIRY_RANK_BLACK_TOPHAT},
    {.family = FAMILY_HAMPEL},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_BOX},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_SOBEL},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_PREWITT},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_GRADIENT},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_LAPLACE},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_LOG},
    {.family = FAMILY_STENCIL, .stencil = AIRY_STENCIL_DOG},
};
#define RANKS                                                                                      \
    "median", "minimum", "maximum", "percentile", "rank", "opening", "closing", "tophat",          \
        "black-tophat"
#define STENCILS "box", "sobel", "prewitt", "gradient", "laplace", "log", "dog"
static const char *const words[] = {RANKS, "hampel", STENCILS, NULL};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) + 1 == sizeof(words) / sizeof(words[0]),
               "a kind for each word");

/* Filters that a parameter is for. */
static const char
    *const of_size[] = {RANKS, "hampel", "box", NULL},
           *const of_ranks[] = {RANKS, NULL}, *const of_stencils[] = {STENCILS, NULL},
           *const of_percentile[] = {"percentile", NULL}, *const of_rank[] = {"rank", NULL},
           *const of_hampel[] = {"hampel", NULL}, *const of_axis[] = {"sobel", "prewitt", NULL},
           *const of_gaussians[] = {"log", "dog", NULL}, *const of_dog[] = {"dog", NULL};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row name_rows[] = {
    ROW(filter, .name = "filter", .type = AIRY_PARAMETER_WORD, .role = AIRY_ROLE_INPUT,
        .words = words, .argument = "NAME", .help = "selects the filter"),
    {{0}, 0, NULL}};

static const struct airy_job_row rows[] = {
    ROW(size, .name = "size", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3, .lo = 1,
        .hi = AIRY_FILTER_SIZE_MAX, .argument = "N[,N[,N]]", .fallback = "3",
        .help = "sets the elements of a box along z, y, x; one number: along every axis",
        .section = "Filter", .only_with = {"filter", of_size}),
    ROW(footprint, .name = "footprint", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ, .argument = "ball=R|FILE",
        .help = "looks at a disc or ball of R px in place of a box, or where an image is not 0",
        .only_with = {"filter", of_ranks}),
    ROW(percentile, .name = "percentile", .type = AIRY_PARAMETER_REAL, .hi = 100, .argument = "P",
        .help = "takes element floor(n P / 100) of n, at 100 the last",
        .only_with = {"filter", of_percentile}),
    ROW(rank, .name = "rank", .type = AIRY_PARAMETER_REAL, .lo = -0x1p40, .hi = 0x1p40,
        .argument = "N",
        .help = "takes this element of the sorted ones; 0: the smallest, -1: the largest",
        .only_with = {"filter", of_rank}),
    ROW(kappa, .name = "kappa", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1e6, .argument = "K",
        .fallback = "3",
        .help = "replaces elements that are farther from the median than so many robust standard "
                "deviations",
        .only_with = {"filter", of_hampel}),
    ROW(axis, .name = "axis", .type = AIRY_PARAMETER_WHOLE, .hi = 2, .fallback = "the last, x",
        .computed = true, .help = "takes the derivative along this axis, 0 the slowest",
        .only_with = {"filter", of_axis}),
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3, .hi = INFINITY,
        .open = true, .unit = "px", .argument = "S[,S[,S]]",
        .help =
            "sets the Gaussian's standard deviations along z, y, x; one number: along every axis",
        .only_with = {"filter", of_gaussians}),
    ROW(sigma2, .name = "sigma2", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3,
        .hi = INFINITY, .open = true, .unit = "px", .argument = "S[,S[,S]]",
        .help = "sets the standard deviations of the Gaussian that is subtracted",
        .only_with = {"filter", of_dog}),
    ROW(truncate, .name = "truncate", .type = AIRY_PARAMETER_REAL, .lo = 1e-3, .hi = 1e6,
        .argument = "T", .fallback = "4", .help = "sets the radius of a Gaussian in sigmas",
        .only_with = {"filter", of_gaussians}),
    ROW(planes, .name = "planes", .type = AIRY_PARAMETER_FLAG,
        .help = "filters each image of a stack by itself, not the volume"),
    AIRY_BORDER_ROW(struct values, border, "reflect"),
    ROW(result.dtype, .name = "dtype", .type = AIRY_PARAMETER_DTYPE, .words = airy_filter_dtypes,
        .fallback = "float64 for float64 images, else float32", .computed = true,
        .help = "sets the type of the result and of the arithmetic",
        .only_with = {"filter", of_stencils}),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"image", AIRY_JOB_ARRAY, "output", "the result"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the result"},
    AIRY_PLAN_RESULTS,
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct filtering {
    airy_job *job;
    const struct values *v;
    const struct kind *kind;
    struct airy_job_image d;
    uint8_t *footprint;
    airy_tile_plan plan;
    airy_image result;
};

/* ---- values without the image ---- */

/* Numbers that are for 1 or for `axes` axes, and by this one for as many (0: not known yet). */
static airy_status settle_count(const char *parameter, const struct airy_job_tuple *numbers,
                                int *axes)
{
    char text[96];
    AIRY_FAIL_ON_IF(numbers->count > 1 && *axes && *axes != (int)numbers->count, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %s: expected 1 or %d numbers, as the others",
                    parameter, airy_tuple_text(text, numbers), *axes);
    *axes = numbers->count > 1 ? (int)numbers->count : *axes;
    return AIRY_OK;
}

/* The number for each axis. */
static double number_of(const struct airy_job_tuple *numbers, size_t axis)
{
    return numbers->values[axis < numbers->count ? axis : numbers->count - 1];
}

static airy_status check_size(const struct values *v, const struct kind *kind)
{
    char text[96];
    for (size_t i = 0; i < v->size.count; i++) {
        const double size = v->size.values[i];
        AIRY_FAIL_ON_IF(size != floor(size), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s %s: expected whole numbers from 1 to %d", "size",
                        airy_tuple_text(text, &v->size), AIRY_FILTER_SIZE_MAX);
        AIRY_FAIL_ON_IF(kind->family == FAMILY_HAMPEL && fmod(size, 2) == 0, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER,
                        "%s %s: expected odd numbers, so that a box has a middle", "size",
                        airy_tuple_text(text, &v->size));
    }
    return AIRY_OK;
}

/* The radius of a footprint ball=R; NaN: it is an image. */
static airy_status read_radius(const struct values *v, double *radius)
{
    const char *text = v->footprint.path;
    *radius = (double)NAN;
    if (!text || strncmp(text, "ball=", 5) != 0)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(!airy_number_parse(radius, text + 5) || !(*radius >= 0 && *radius <= 512),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s: expected ball=R, R from 0 to 512 px", "footprint", text);
    return AIRY_OK;
}

/* A parameter that a filter cannot do without. */
static airy_status check_needed(const airy_job *job, const char *parameter,
                                const char *const *of_filters)
{
    const struct values *v = job->values;
    for (size_t i = 0; of_filters[i]; i++)
        AIRY_FAIL_ON_IF(strcmp(of_filters[i], words[v->filter]) == 0 &&
                            !airy_job_is_set(job, parameter),
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is missing", parameter);
    return AIRY_OK;
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    double radius;
    int axes = 0;
    AIRY_FAIL_ON_IF(airy_job_is_set(job, "size") && airy_source_is_given(&v->footprint),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and footprint=FILE exclude each other", "size");
    AIRY_TRY(check_needed(job, "percentile", of_percentile));
    AIRY_TRY(check_needed(job, "rank", of_rank));
    AIRY_TRY(check_needed(job, "sigma", of_gaussians));
    AIRY_TRY(check_needed(job, "sigma2", of_dog));
    AIRY_FAIL_ON_IF(v->rank != floor(v->rank), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %g: expected a whole number", "rank", v->rank);
    AIRY_TRY(check_size(v, &kinds[v->filter]));
    AIRY_TRY(settle_count("size", &v->size, &axes));
    AIRY_TRY(settle_count("sigma", &v->sigma, &axes));
    AIRY_TRY(settle_count("sigma2", &v->sigma2, &axes));
    AIRY_TRY(airy_filter_check_reach("sigma", &v->sigma, v->truncate));
    AIRY_TRY(airy_filter_check_reach("sigma2", &v->sigma2, v->truncate));
    AIRY_FAIL_ON_IF(v->planes && axes > 2, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: three numbers are for a volume, expected one or two", "planes");
    return read_radius(v, &radius);
}

/* ---- axes ---- */

static airy_status count_axes(const char *parameter, const struct airy_job_tuple *numbers, int ndim,
                              int *axes)
{
    int of = 0;
    if (numbers->count > 1)
        AIRY_TRY(airy_filter_axes(&of, parameter, numbers, ndim));
    return settle_count(parameter, numbers, axes);
}

/* The axes of the image that the filter is of. */
static airy_status find_axes(const struct filtering *s, int *axes)
{
    const struct values *v = s->v;
    const int ndim = s->d.image.ndim;
    *axes = 0;
    AIRY_TRY(count_axes("size", &v->size, ndim, axes));
    AIRY_TRY(count_axes("sigma", &v->sigma, ndim, axes));
    AIRY_TRY(count_axes("sigma2", &v->sigma2, ndim, axes));
    AIRY_FAIL_HINT_IF(v->planes && ndim > 3, AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER,
                      "%s: the image has 4 dimensions; its volumes are filtered one by one, "
                      "expected at most 3",
                      "planes");
    AIRY_FAIL_HINT_IF(v->planes && ndim < 3, AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s: the image has %d dimension%s, expected 3",
                      "planes", ndim, ndim == 1 ? "" : "s");
    if (!*axes && v->planes)
        *axes = 2;
    if (!*axes && ndim == 3)
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "the volume is filtered along all three axes; planes=on filters each "
                         "image by itself");
    if (!*axes)
        *axes = ndim < 3 ? ndim : 3;
    AIRY_FAIL_HINT_IF(airy_job_is_set(s->job, "axis") && v->axis >= (size_t)*axes,
                      AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %zu: the filter has %d ax%s, numbered from 0", "axis", v->axis, *axes,
                      *axes == 1 ? "is" : "es");
    return AIRY_OK;
}

static void fill_size(size_t size[3], const struct values *v)
{
    for (size_t i = 0; i < 3; i++)
        size[i] = (size_t)number_of(&v->size, i);
}

/* ---- what is sorted ---- */

/* Elements of a box of these lengths, or of its footprint. */
static int64_t count_elements(int axes, const size_t size[3], const uint8_t *footprint)
{
    int64_t box = 1, elements = 0;
    for (int i = 0; i < axes; i++)
        box *= (int64_t)size[i]; /* 1025 at most */
    for (int64_t i = 0; i < box && footprint; i++)
        elements += footprint[i] != 0;
    return footprint ? elements : box;
}

/* Of so many elements sorted it is one in between, not the first or the last. */
static bool is_between(const struct filtering *s, int64_t elements)
{
    const struct values *v = s->v;
    const double at = (double)elements * v->percentile / 100;
    const int64_t rank = (int64_t)v->rank;
    return s->kind->family == FAMILY_HAMPEL || s->kind->rank == AIRY_RANK_MEDIAN ||
           (s->kind->rank == AIRY_RANK_PERCENTILE && at >= 1 && at < (double)(elements - 1)) ||
           (s->kind->rank == AIRY_RANK_NTH && rank % elements != 0 && (rank + 1) % elements != 0);
}

/* The rank, and what can be sorted: elements of a box, or of the footprint. */
static airy_status check_elements(const struct filtering *s, int axes, const size_t size[3])
{
    const struct values *v = s->v;
    const int64_t box = count_elements(axes, size, NULL),
                  elements = count_elements(axes, size, s->footprint);
    const char *what = s->footprint ? "footprint" : "box";
    const int64_t rank = (int64_t)v->rank;
    char text[96];
    AIRY_FAIL_HINT_IF(
        airy_job_is_set(s->job, "rank") && (rank < -elements || rank >= elements),
        AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
        "%s %" PRId64 ": the %s has %" PRId64 " element%s, expected %" PRId64 " to %" PRId64,
        "rank", rank, what, elements, elements == 1 ? "" : "s", -elements, elements - 1);
    AIRY_FAIL_HINT_IF(elements > AIRY_RANK_SORTED_MAX &&
                          (elements < box || is_between(s, elements)),
                      AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: the %s has %" PRId64 " elements, expected at most %d",
                      s->footprint ? "footprint" : "size",
                      !s->footprint       ? airy_tuple_text(text, &v->size)
                      : v->footprint.path ? v->footprint.path
                                          : "array",
                      what, elements, AIRY_RANK_SORTED_MAX);
    return AIRY_OK;
}

/* A border's value of results that keep the image's type. */
static airy_status check_border(const struct filtering *s)
{
    const airy_dtype dtype = s->d.image.dtype;
    const double value = s->v->border.value, most = airy_dtype_largest(dtype),
                 least = airy_dtype_is_signed(dtype) ? -most - 1 : 0;
    AIRY_FAIL_HINT_IF(s->v->border.border == AIRY_BORDER_VALUE && !airy_dtype_is_float(dtype) &&
                          !(value >= least && value <= most && value == floor(value)),
                      AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s value=%.17g: expected a value of %s, as the image has", "border", value,
                      airy_dtype_name(dtype));
    return AIRY_OK;
}

/* Elements of an image that are not 0, of a box of so many axes. */
static airy_status take_footprint(struct filtering *s, int axes, const airy_image *image,
                                  size_t size[3])
{
    const char *name = s->v->footprint.path ? s->v->footprint.path : "array";
    const size_t *shape = image->shape, n = airy_shape_count(image->shape, image->ndim);
    int ndim = image->ndim;
    bool any = false;
    for (; ndim > axes && shape[0] == 1; ndim--)
        shape++;
    AIRY_FAIL_HINT_IF(ndim != axes, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: has %d dimension%s, the filter %d", "footprint", name, ndim,
                      ndim == 1 ? "" : "s", axes);
    for (int i = 0; i < axes; i++) {
        AIRY_FAIL_HINT_IF(shape[i] > AIRY_FILTER_SIZE_MAX, AIRY_ERR_SHAPE, AIRY_HINT_STATED,
                          AIRY_SUBJECT_PARAMETER,
                          "%s %s: has %zu elements along an axis, expected at most %d", "footprint",
                          name, shape[i], AIRY_FILTER_SIZE_MAX);
        size[i] = shape[i];
    }
    AIRY_TRY(airy_memory_calloc((void **)&s->footprint, n, 1, "a footprint"));
    for (size_t i = 0; i < n; i++) {
        s->footprint[i] = airy_image_value(image, i) != 0;
        any = any || s->footprint[i];
    }
    AIRY_FAIL_HINT_IF(!any, AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: all %zu elements are 0, expected one that is not", "footprint", name,
                      n);
    return AIRY_OK;
}

static airy_status read_footprint(struct filtering *s, int axes, size_t size[3])
{
    airy_image image = {0};
    double radius;
    size_t length = 0;
    AIRY_TRY(read_radius(s->v, &radius));
    if (!isnan(radius)) {
        AIRY_TRY(airy_footprint_ball(&s->footprint, &length, axes, radius));
        size[0] = size[1] = size[2] = length;
        return AIRY_OK;
    }
    airy_status status = airy_job_load_real(&image, &s->v->footprint);
    if (status == AIRY_OK)
        status = take_footprint(s, axes, &image, size);
    airy_job_unload_image(&image, &s->v->footprint);
    return status;
}

/* ---- filters ---- */

/* Results go here, unless only the plan is asked for. */
static airy_image *target_of(struct filtering *s)
{
    return s->v->result.plan ? NULL : &s->result;
}

static airy_status run_rank(struct filtering *s, int axes)
{
    const struct values *v = s->v;
    airy_rank_params params = {.filter = s->kind->rank,
                               .axes = axes,
                               .percentile = v->percentile,
                               .rank = (int64_t)v->rank,
                               .has_border = true,
                               .border = v->border.border,
                               .border_value = v->border.value};
    fill_size(params.size, v);
    if (airy_source_is_given(&v->footprint))
        AIRY_TRY(read_footprint(s, axes, params.size));
    AIRY_TRY(check_elements(s, axes, params.size));
    AIRY_TRY(check_border(s));
    params.footprint = s->footprint;
    AIRY_TRY(airy_job_image_begin(&s->d, 0, 1));
    return airy_tile_rank(s->d.queue, target_of(s), &s->d.image, 0, &params, &s->plan);
}

static airy_status run_hampel(struct filtering *s, int axes)
{
    const struct values *v = s->v;
    airy_hampel_params params = {.axes = axes,
                                 .kappa = v->kappa,
                                 .has_border = true,
                                 .border = v->border.border,
                                 .border_value = v->border.value};
    fill_size(params.size, v);
    AIRY_TRY(check_elements(s, axes, params.size));
    AIRY_TRY(check_border(s));
    AIRY_TRY(airy_job_image_begin(&s->d, 0, 1));
    return airy_tile_hampel(s->d.queue, target_of(s), &s->d.image, 0, &params, &s->plan);
}

static airy_status run_stencil(struct filtering *s, int axes)
{
    const struct values *v = s->v;
    airy_stencil_params params = {.stencil = s->kind->stencil,
                                  .axes = axes,
                                  .has_axis = airy_job_is_set(s->job, "axis"),
                                  .axis = (int)v->axis,
                                  .truncate = v->truncate,
                                  .has_border = true,
                                  .border = v->border.border,
                                  .border_value = v->border.value};
    const airy_tile_target target = {
        .dtype = airy_filter_dtype(s->job, &v->result, s->d.image.dtype)};
    fill_size(params.size, v);
    for (size_t i = 0; i < 3 && v->sigma.count; i++)
        params.sigma[i] = number_of(&v->sigma, i);
    for (size_t i = 0; i < 3 && v->sigma2.count; i++)
        params.sigma2[i] = number_of(&v->sigma2, i);
    AIRY_TRY(airy_job_image_begin(&s->d, 0, 1));
    return airy_tile_stencil(s->d.queue, target_of(s), &s->d.image, &target, &params, &s->plan);
}

static airy_status run(airy_job *job, void *state)
{
    static airy_status (*const runs[])(struct filtering *, int) = {
        [FAMILY_RANK] = run_rank, [FAMILY_HAMPEL] = run_hampel, [FAMILY_STENCIL] = run_stencil};
    struct filtering *s = state;
    const struct values *v = job->values;
    int axes;
    *s = (struct filtering){.job = job,
                            .v = v,
                            .kind = &kinds[v->filter],
                            .d = {.job = job, .from = &v->image, .compute = &v->compute}};
    const bool is_stencil = s->kind->family == FAMILY_STENCIL;
    if (is_stencil)
        AIRY_TRY(airy_job_check_format("output", v->result.output.path, AIRY_DTYPE_F32, 0));
    AIRY_TRY(airy_job_image_open_host(&s->d, AIRY_DTYPE_F32));
    const airy_dtype from = s->d.image.dtype;
    AIRY_TRY(
        airy_job_image_check_format(&s->d, "output", v->result.output.path,
                                    is_stencil ? airy_filter_dtype(job, &v->result, from) : from));
    AIRY_TRY(find_axes(s, &axes));
    AIRY_TRY(runs[s->kind->family](s, axes));
    if (!v->result.plan) {
        AIRY_TRY(airy_filter_put(&s->d, &s->result, &v->result,
                                 "replace those first, by 0 or by what lies around them"));
        if (s->kind->family != FAMILY_HAMPEL)
            airy_job_warn_spread(&s->d);
    }
    airy_filter_put_plan(job, &s->plan, v->result.plan, NULL);
    return AIRY_OK;
}

static void close_filtering(void *state)
{
    struct filtering *s = state;
    free(s->footprint);
    airy_image_free(&s->result);
    airy_job_image_close(&s->d);
}

extern const struct airy_job_kind airy_job_filter;
const struct airy_job_kind airy_job_filter = {
    .name = "filter",
    .summary = "order statistics, morphology, means and derivatives",
    .details =
        "An image of three dimensions is a volume; planes, or two numbers for size or sigma, "
        "filter each image of a stack by itself. Order statistics and hampel keep the dtype and "
        "are exact; NaN is larger than every number there. The others give floats, as convolve "
        "does. FITS files keep their header. Images that are larger than the device are taken "
        "tile by tile.",
    .groups = {{name_rows, 0},
               {airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_filter_any_rows, offsetof(struct values, result)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct filtering),
    .check = check,
    .run = run,
    .close = close_filtering,
};
