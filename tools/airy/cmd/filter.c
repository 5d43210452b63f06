/* airy filter: every filter of the library by its name. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/gaps.h"
#include "cli/stack_opt.h"
#include "cli/words.h"
#include "images/filter_opt.h"

struct filter_params {
    struct common common;
    const char *output, *size, *footprint, *sigma, *sigma2, *dtype;
    double percentile, truncate, kappa;
    int64_t rank;
    size_t axis;
    airy_convolve_params border; /* border and its value */
    bool has_border, has_percentile, has_rank, has_axis, planes, list, plan;
};

enum family { FAMILY_STENCIL, FAMILY_RANK, FAMILY_HAMPEL };

/* A filter, and the options that are for it beside those for all. */
struct kind {
    const char *name, *help, *options;
    enum family family;
    airy_rank_filter rank;
    airy_stencil stencil;
};

#define RANK(name_, filter_, options_, help_)                                                      \
    {                                                                                              \
        .name = (name_), .help = (help_), .options = (options_), .family = FAMILY_RANK,            \
        .rank = (filter_)                                                                          \
    }
#define STENCIL(name_, stencil_, options_, help_)                                                  \
    {                                                                                              \
        .name = (name_), .help = (help_), .options = (options_), .stencil = (stencil_)             \
    }

static const struct kind kinds[] = {
    RANK("median", AIRY_RANK_MEDIAN, "size footprint", "of an even number of elements the upper"),
    RANK("minimum", AIRY_RANK_MINIMUM, "size footprint", "grey erosion"),
    RANK("maximum", AIRY_RANK_MAXIMUM, "size footprint", "over the footprint as it is"),
    RANK("percentile", AIRY_RANK_PERCENTILE, "size footprint percentile", "--percentile P"),
    RANK("rank", AIRY_RANK_NTH, "size footprint rank", "element --rank N of the sorted ones"),
    RANK("opening", AIRY_RANK_OPENING, "size footprint", "erosion, then dilation"),
    RANK("closing", AIRY_RANK_CLOSING, "size footprint", "dilation, then erosion"),
    RANK("tophat", AIRY_RANK_WHITE_TOPHAT, "size footprint", "image less its opening"),
    RANK("black-tophat", AIRY_RANK_BLACK_TOPHAT, "size footprint", "closing less the image"),
    {.name = "hampel",
     .help = "outliers become the median: hot pixels, cosmic rays",
     .options = "size kappa",
     .family = FAMILY_HAMPEL},
    STENCIL("box", AIRY_STENCIL_BOX, "size dtype", "mean of a box"),
    STENCIL("sobel", AIRY_STENCIL_SOBEL, "axis dtype", "derivative along --axis"),
    STENCIL("prewitt", AIRY_STENCIL_PREWITT, "axis dtype", "the same, with weights 1 1 1"),
    STENCIL("gradient", AIRY_STENCIL_GRADIENT, "dtype", "size of the gradient, by Sobel"),
    STENCIL("laplace", AIRY_STENCIL_LAPLACE, "dtype", "sum of the second differences"),
    STENCIL("log", AIRY_STENCIL_LOG, "sigma truncate dtype", "Laplacian of a Gaussian, --sigma S"),
    STENCIL("dog", AIRY_STENCIL_DOG, "sigma sigma2 truncate dtype",
            "blur by --sigma S less blur by --sigma2 S"),
};
static const char options_of_all[] = "channel planes border plan output";
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *parse_rank(void *field, const char *text)
{
    const bool negative = *text == '-';
    uint64_t size;
    if (!opt_whole(text + negative, &size) || size > UINT64_C(1) << 40)
        return "expected a whole number";
    *(int64_t *)field = negative ? -(int64_t)size : (int64_t)size;
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct filter_params, member)

static const struct opt filter_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct filter_params, common),
    {.heading = "Filter"},
    {.name = "size",
     .type = OPT_STRING,
     FIELD(size),
     .argument = "N[,N[,N]]",
     .fallback = "3",
     .help = "elements along z, y, x, 1 to 1025; one number: along every axis"},
    {.name = "footprint",
     .type = OPT_STRING,
     FIELD(footprint),
     .argument = "ball=R|FILE",
     .help = "what is looked at, in place of a box: a disc or ball of R px, or an image, not 0"},
    {.name = "percentile",
     .type = OPT_FLOAT,
     FIELD(percentile),
     .seen = offsetof(struct filter_params, has_percentile),
     .lo = 0,
     .hi = 100,
     .argument = "P",
     .help = "element floor(n P / 100) of n, at 100 the last"},
    {.name = "rank",
     .type = OPT_PARSED,
     FIELD(rank),
     .seen = offsetof(struct filter_params, has_rank),
     .parse = parse_rank,
     .argument = "N",
     .help = "0: the smallest; --rank=-1: the largest"},
    {.name = "kappa",
     .type = OPT_FLOAT,
     FIELD(kappa),
     .lo = 1e-6,
     .hi = 1e6,
     .argument = "K",
     .fallback = "3",
     .help = "robust standard deviations that an element may be off the median"},
    {.name = "axis",
     .type = OPT_COUNT,
     FIELD(axis),
     .seen = offsetof(struct filter_params, has_axis),
     .lo = 0,
     .hi = 2,
     .argument = "N",
     .fallback = "the last, x",
     .help = "of a derivative, 0 the slowest"},
    {.name = "sigma",
     .type = OPT_STRING,
     FIELD(sigma),
     .argument = "S[,S[,S]]",
     .help = "px along z, y, x; one number: along every axis"},
    {.name = "sigma2", .type = OPT_STRING, FIELD(sigma2), .argument = "S[,S[,S]]", .help = "px"},
    {.name = "truncate",
     .type = OPT_FLOAT,
     FIELD(truncate),
     .lo = 1e-3,
     .hi = 1e6,
     .argument = "T",
     .fallback = "4",
     .help = "radius of a Gaussian in sigmas"},
    {.name = "planes",
     .type = OPT_FLAG,
     FIELD(planes),
     .help = "each image of a stack by itself, not the volume"},
    {.name = "border",
     .type = OPT_PARSED,
     FIELD(border),
     .seen = offsetof(struct filter_params, has_border),
     .parse = filter_parse_border,
     .argument = FILTER_BORDER_ARGUMENT,
     .fallback = "reflect",
     .help = "what lies outside of the image"},
    FILTER_DTYPE_OPTION(struct filter_params),
    FILTER_PLAN_OPTION(struct filter_params),
    FILTER_OUTPUT_OPTION(struct filter_params, 0),
    {.name = "list",
     .type = OPT_FLAG,
     FIELD(list),
     .help = "print the filters' names, and stop; with --json what each takes, too"},
    {0},
};

static bool filter_word(size_t index, struct opt_word *word)
{
    if (index < KINDS)
        *word = (struct opt_word){kinds[index].name, kinds[index].help};
    return index < KINDS;
}

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* The filter that is named, and only options that are for it. Exit code. */
static int find_kind(const struct common *common, const struct kind **kind)
{
    const char *name = common->inputs.items[0], *names[KINDS];
    *kind = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, names[i]) == 0)
            *kind = &kinds[i];
    }
    const char *near = tool_suggest(name, names, KINDS);
    if (!*kind && near)
        return tool_usage(common, "unknown filter '%s', did you mean '%s'?", name, near);
    if (!*kind)
        return tool_usage(common, "unknown filter '%s'; airy filter --list names them", name);
    for (size_t i = 0; i + 1 < common->given.count; i += 2) {
        const char *option = common->given.items[i];
        if (!has_word(options_of_all, option) && !has_word((*kind)->options, option))
            return tool_usage(common, "--%s is not for filter %s", option, name);
    }
    return AIRY_EXIT_OK;
}

/* Axes of the image that the filter is of, from what is given in one to three numbers. */
struct axes {
    int count; /* 0: not known yet */
    int ndim;
};

/* Numbers of --name, one for each axis: into values. Exit code. */
static int read_numbers(const struct common *common, const char *name, const char *text,
                        struct axes *axes, double values[3])
{
    double numbers[3];
    int n = 0, of = 0, code = filter_numbers(common, name, text, numbers, &n);
    if (code == AIRY_EXIT_OK && n > 1)
        code = filter_axes(common, name, text, n, axes->ndim, &of);
    if (code != AIRY_EXIT_OK)
        return code;
    if (n > 1 && axes->count && axes->count != n)
        return tool_usage(common, "--%s %s: expected 1 or %d numbers, as the others", name, text,
                          axes->count);
    axes->count = n > 1 ? n : axes->count;
    for (int i = 0; i < 3; i++)
        values[i] = numbers[n == 1 ? 0 : i < n ? i : n - 1];
    return AIRY_EXIT_OK;
}

static int read_size(const struct filter_params *p, struct axes *axes, size_t size[3])
{
    double values[3] = {3, 3, 3};
    const int code = p->size ? read_numbers(&p->common, "size", p->size, axes, values)
                             : AIRY_EXIT_OK;
    for (int i = 0; i < 3 && code == AIRY_EXIT_OK; i++) {
        if (values[i] < 1 || values[i] > AIRY_FILTER_SIZE_MAX || values[i] != floor(values[i]))
            return tool_usage(&p->common, "--size %s: expected whole numbers from 1 to %d", p->size,
                              AIRY_FILTER_SIZE_MAX);
        size[i] = (size_t)values[i];
    }
    return code;
}

static int read_sigma(const struct filter_params *p, const char *name, const char *text,
                      struct axes *axes, double values[3])
{
    const struct common *common = &p->common;
    const int code = read_numbers(common, name, text, axes, values);
    for (int i = 0; i < 3 && code == AIRY_EXIT_OK; i++)
        if (!(values[i] > 0))
            return tool_usage(common, "--%s %s: expected numbers above 0", name, text);
    return code == AIRY_EXIT_OK ? filter_check_reach(common, name, text, values, 3, p->truncate)
                                : code;
}

/* --footprint is ball=R with this radius, or *radius is NaN: an image. Exit code. */
static int read_radius(const struct filter_params *p, double *radius)
{
    *radius = (double)NAN;
    if (strncmp(p->footprint, "ball=", 5) != 0)
        return AIRY_EXIT_OK;
    if (!opt_number(p->footprint + 5, radius) || !(*radius >= 0 && *radius <= 512))
        return tool_usage(&p->common, "--footprint %s: expected ball=R, R from 0 to 512 px",
                          p->footprint);
    return AIRY_EXIT_OK;
}

/* What all numbers of axes say without the image, which may have three dimensions. Exit code. */
static int check_numbers(const struct filter_params *p, const struct kind *kind)
{
    struct axes axes = {.ndim = 3};
    size_t size[3] = {1, 1, 1};
    double values[3], radius;
    int code = read_size(p, &axes, size);
    for (int i = 0; i < 3 && code == AIRY_EXIT_OK && kind->family == FAMILY_HAMPEL; i++)
        if (size[i] % 2 == 0)
            return tool_usage(
                &p->common, "--size %s: expected odd numbers, so that a box has a middle", p->size);
    if (code == AIRY_EXIT_OK && p->sigma)
        code = read_sigma(p, "sigma", p->sigma, &axes, values);
    if (code == AIRY_EXIT_OK && p->sigma2)
        code = read_sigma(p, "sigma2", p->sigma2, &axes, values);
    if (code == AIRY_EXIT_OK && p->planes && axes.count > 2)
        return tool_usage(&p->common, "--planes: three numbers are for a volume, expected one or "
                                      "two");
    return code == AIRY_EXIT_OK && p->footprint ? read_radius(p, &radius) : code;
}

/* What --planes, or the image's dimensions, say of the axes. Exit code. */
static int settle_axes(const struct filter_params *p, struct axes *axes)
{
    if (p->planes && axes->ndim > 3)
        return tool_usage(&p->common,
                          "--planes: the image has 4 dimensions; its volumes are filtered one by "
                          "one, expected at most 3");
    if (p->planes && axes->ndim < 3)
        return tool_usage(&p->common, "--planes: the image has %d dimension%s, expected 3",
                          axes->ndim, tool_s((size_t)axes->ndim));
    if (!axes->count && p->planes)
        axes->count = 2;
    if (!axes->count && axes->ndim == 3)
        tool_say(&p->common, "the volume is filtered along all three axes; --planes filters each "
                             "image by itself");
    if (!axes->count)
        axes->count = axes->ndim < 3 ? axes->ndim : 3;
    if (p->has_axis && p->axis >= (size_t)axes->count)
        return tool_usage(&p->common, "--axis %zu: the filter has %d ax%s, numbered from 0",
                          p->axis, axes->count, axes->count == 1 ? "is" : "es");
    return AIRY_EXIT_OK;
}

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
static bool is_between(const struct filter_params *p, const struct kind *kind, int64_t elements)
{
    const double at = (double)elements * p->percentile / 100;
    return kind->family == FAMILY_HAMPEL || kind->rank == AIRY_RANK_MEDIAN ||
           (kind->rank == AIRY_RANK_PERCENTILE && at >= 1 && at < (double)(elements - 1)) ||
           (kind->rank == AIRY_RANK_NTH && p->rank % elements != 0 &&
            (p->rank + 1) % elements != 0);
}

/* --rank, and what can be sorted: elements of a box, or of its footprint if not NULL. Exit code. */
static int check_elements(const struct filter_params *p, const struct kind *kind, int axes,
                          const size_t size[3], const uint8_t *footprint)
{
    const int64_t box = count_elements(axes, size, NULL),
                  elements = count_elements(axes, size, footprint);
    const char *what = footprint ? "footprint" : "box";
    if (p->has_rank && (p->rank < -elements || p->rank >= elements))
        return tool_usage(&p->common,
                          "--rank %" PRId64 ": the %s has %" PRId64 " element%s, expected %" PRId64
                          " to %" PRId64,
                          p->rank, what, elements, tool_s(elements), -elements, elements - 1);
    if (elements > AIRY_RANK_SORTED_MAX && (elements < box || is_between(p, kind, elements)))
        return tool_usage(&p->common,
                          "--%s %s: the %s has %" PRId64 " elements, expected at most %d",
                          footprint ? "footprint" : "size", footprint ? p->footprint : p->size,
                          what, elements, AIRY_RANK_SORTED_MAX);
    return AIRY_EXIT_OK;
}

/* --border value=V of results that keep the image's type. Exit code. */
static int check_border(const struct filter_params *p, airy_dtype dtype)
{
    const double value = p->border.border_value, most = airy_dtype_largest(dtype),
                 least = airy_dtype_is_signed(dtype) ? -most - 1 : 0;
    if (!p->has_border || p->border.border != AIRY_BORDER_VALUE || airy_dtype_is_float(dtype) ||
        (value >= least && value <= most && value == floor(value)))
        return AIRY_EXIT_OK;
    return tool_usage(&p->common, "--border value=%.17g: expected a value of %s, as the image has",
                      value, airy_dtype_name(dtype));
}

/* Elements of an image that are not 0, of a box of so many axes; malloc'ed. Exit code. */
static int take_footprint(const struct filter_params *p, int axes, const airy_image *image,
                          uint8_t **footprint, size_t size[3])
{
    const size_t *shape = image->shape, n = tool_count(image->shape, image->ndim);
    int ndim = image->ndim;
    bool any = false;
    for (; ndim > axes && shape[0] == 1; ndim--)
        shape++;
    if (ndim != axes)
        return tool_fail(&p->common, "--footprint %s: has %d dimension%s, the filter %d",
                         p->footprint, ndim, tool_s(ndim), axes);
    for (int i = 0; i < axes; i++) {
        if (shape[i] > AIRY_FILTER_SIZE_MAX)
            return tool_fail(&p->common,
                             "--footprint %s: has %zu elements along an axis, expected at most %d",
                             p->footprint, shape[i], AIRY_FILTER_SIZE_MAX);
        size[i] = shape[i];
    }
    *footprint = malloc(n);
    if (!*footprint)
        return tool_fail(&p->common, "--footprint %s: out of memory for %zu values", p->footprint,
                         n);
    for (size_t i = 0; i < n; i++) {
        (*footprint)[i] = airy_image_value(image, i) != 0;
        any = any || (*footprint)[i];
    }
    return any ? AIRY_EXIT_OK
               : tool_fail(&p->common,
                           "--footprint %s: all %zu elements are 0, expected one that is not",
                           p->footprint, n);
}

/* What --footprint is for so many axes; malloc'ed, in a failure too. Exit code. */
static int read_footprint(const struct filter_params *p, int axes, uint8_t **footprint,
                          size_t size[3])
{
    airy_image image = {0};
    double radius;
    const int given = read_radius(p, &radius);
    if (given != AIRY_EXIT_OK)
        return given;
    if (!isnan(radius)) {
        size_t length;
        const airy_status status = airy_footprint_ball(footprint, &length, axes, radius);
        for (int i = 0; i < 3 && status == AIRY_OK; i++)
            size[i] = length;
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    const airy_status status = airy_image_read_real(&image, p->footprint);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    const int code = take_footprint(p, axes, &image, footprint, size);
    airy_image_free(&image);
    return code;
}

/* Results go to *result, unless only the plan is asked for. */
static int run_rank(const struct filter_params *p, const struct kind *kind,
                    const struct device_image *d, airy_image *result, airy_tile_plan *plan)
{
    struct axes axes = {.ndim = d->image.ndim};
    airy_rank_params params = {.filter = kind->rank,
                               .percentile = p->percentile,
                               .rank = p->rank,
                               .has_border = p->has_border,
                               .border = p->border.border,
                               .border_value = p->border.border_value};
    uint8_t *footprint = NULL;
    int code = read_size(p, &axes, params.size);
    if (code == AIRY_EXIT_OK)
        code = settle_axes(p, &axes);
    if (code == AIRY_EXIT_OK && p->footprint)
        code = read_footprint(p, axes.count, &footprint, params.size);
    if (code == AIRY_EXIT_OK)
        code = check_elements(p, kind, axes.count, params.size, footprint);
    if (code == AIRY_EXIT_OK)
        code = check_border(p, d->image.dtype);
    params.axes = axes.count;
    params.footprint = footprint;
    if (code == AIRY_EXIT_OK) {
        device_image_begin(d, &p->common);
        const airy_status status =
            airy_tile_rank(d->queue, p->plan ? NULL : result, &d->image, 0, &params, plan);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    airy_footprint_free(footprint);
    return code;
}

static int run_hampel(const struct filter_params *p, const struct kind *kind,
                      const struct device_image *d, airy_image *result, airy_tile_plan *plan)
{
    struct axes axes = {.ndim = d->image.ndim};
    airy_hampel_params params = {.kappa = p->kappa,
                                 .has_border = p->has_border,
                                 .border = p->border.border,
                                 .border_value = p->border.border_value};
    int code = read_size(p, &axes, params.size);
    if (code == AIRY_EXIT_OK)
        code = settle_axes(p, &axes);
    if (code == AIRY_EXIT_OK)
        code = check_elements(p, kind, axes.count, params.size, NULL);
    if (code == AIRY_EXIT_OK)
        code = check_border(p, d->image.dtype);
    params.axes = axes.count;
    if (code != AIRY_EXIT_OK)
        return code;
    device_image_begin(d, &p->common);
    const airy_status status =
        airy_tile_hampel(d->queue, p->plan ? NULL : result, &d->image, 0, &params, plan);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static int run_stencil(const struct filter_params *p, const struct kind *kind,
                       const struct device_image *d, airy_dtype dtype, airy_image *result,
                       airy_tile_plan *plan)
{
    struct axes axes = {.ndim = d->image.ndim};
    airy_stencil_params params = {.stencil = kind->stencil,
                                  .has_axis = p->has_axis,
                                  .axis = (int)p->axis,
                                  .truncate = p->truncate,
                                  .has_border = p->has_border,
                                  .border = p->border.border,
                                  .border_value = p->border.border_value};
    const airy_tile_target target = {.dtype = dtype};
    int code = read_size(p, &axes, params.size);
    if (code == AIRY_EXIT_OK && p->sigma)
        code = read_sigma(p, "sigma", p->sigma, &axes, params.sigma);
    if (code == AIRY_EXIT_OK && p->sigma2)
        code = read_sigma(p, "sigma2", p->sigma2, &axes, params.sigma2);
    if (code == AIRY_EXIT_OK)
        code = settle_axes(p, &axes);
    params.axes = axes.count;
    if (code != AIRY_EXIT_OK)
        return code;
    device_image_begin(d, &p->common);
    const airy_status status =
        airy_tile_stencil(d->queue, p->plan ? NULL : result, &d->image, &target, &params, plan);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* Words between blanks, added to a list. */
static void add_words(json_t *list, const char *words)
{
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        json_array_append_new(list, json_stringn(at, n));
        at += n;
    }
}

static int print_list(const struct common *common)
{
    json_t *list = json_array();
    for (size_t i = 0; i < KINDS; i++) {
        if (!common->json) {
            printf("%-14s%s\n", kinds[i].name, kinds[i].help);
            continue;
        }
        json_t *options = json_array();
        add_words(options, kinds[i].options);
        add_words(options, options_of_all);
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", kinds[i].name, "help",
                                              kinds[i].help, "options", options));
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

/* What the named filter cannot do without. Exit code. */
static int check_given(const struct filter_params *p, const struct kind *kind)
{
    const struct common *common = &p->common;
    if (p->size && p->footprint)
        return tool_usage(common, "--size and --footprint exclude each other");
    if (has_word(kind->options, "percentile") && !p->has_percentile)
        return tool_usage(common, "--percentile P is missing");
    if (has_word(kind->options, "rank") && !p->has_rank)
        return tool_usage(common, "--rank N is missing");
    if (has_word(kind->options, "sigma") && !p->sigma)
        return tool_usage(common, "--sigma S is missing");
    if (has_word(kind->options, "sigma2") && !p->sigma2)
        return tool_usage(common, "--sigma2 S is missing");
    int code = check_numbers(p, kind);
    if (code == AIRY_EXIT_OK)
        code = filter_check(common, p->output, p->dtype, p->plan);
    return code == AIRY_EXIT_OK && kind->family == FAMILY_STENCIL
               ? tool_check_format(common, p->output, AIRY_DTYPE_F32, 0)
               : code;
}

static int filter_image(const struct filter_params *p, const struct kind *kind,
                        struct device_image *d, json_t *json)
{
    airy_tile_plan plan;
    airy_image result;
    airy_dtype dtype = d->image.dtype;
    int code = kind->family == FAMILY_STENCIL
                   ? filter_result_dtype(&p->common, p->dtype, d->image.dtype, &dtype)
                   : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(d, &p->common, p->output, dtype);
    if (code == AIRY_EXIT_OK)
        code = kind->family == FAMILY_RANK     ? run_rank(p, kind, d, &result, &plan)
               : kind->family == FAMILY_HAMPEL ? run_hampel(p, kind, d, &result, &plan)
                                               : run_stencil(p, kind, d, dtype, &result, &plan);
    if (code != AIRY_EXIT_OK)
        return code;
    if (!p->plan) {
        json_object_set_new(json, "output", tool_json_string(p->output));
        json_object_set_new(json, "dtype", json_string(airy_dtype_name(result.dtype)));
    }
    filter_report_plan(&p->common, &plan, p->plan, json);
    return p->plan ? AIRY_EXIT_OK
                   : filter_save(d, &p->common, &result, p->output,
                                 "replace those first, by 0 or by what lies around them");
}

static int check_filter(void *user)
{
    const struct filter_params *p = user;
    const struct common *common = &p->common;
    const struct kind *kind = NULL;
    if (p->list)
        return tool_check_list(common);
    if (common->inputs.count < 1)
        return tool_usage(common, "NAME is missing; airy filter --list prints the names");
    int code = find_kind(common, &kind);
    if (code == AIRY_EXIT_OK && common->inputs.count < 2)
        code = tool_usage(common, "IMAGE is missing");
    return code == AIRY_EXIT_OK ? check_given(p, kind) : code;
}

static int run_filter(void *user)
{
    const struct filter_params *p = user;
    const struct common *common = &p->common;
    const struct kind *kind = NULL;
    struct device_image d = {.device = NULL};
    if (p->list)
        return print_list(common);
    int code = find_kind(common, &kind);
    if (code == AIRY_EXIT_OK)
        code = device_image_open_host(&d, common, common->inputs.items[1], NULL, 0);
    json_t *json = json_object();
    if (code == AIRY_EXIT_OK)
        code = filter_image(p, kind, &d, json);
    if (code == AIRY_EXIT_OK && kind->family != FAMILY_HAMPEL && !p->plan)
        device_image_say_spread(&d, common, common->inputs.items[1]);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, d.device);
    if (code == AIRY_EXIT_OK && common->json)
        code = tool_print_json(common, json_incref(json));
    json_decref(json);
    device_image_close(&d);
    return code;
}

const struct command cmd_filter = {
    .name = "filter",
    .usage = "NAME IMAGE -o OUT [options]",
    .summary = "order statistics, morphology, means and derivatives",
    .details =
        "An image of three dimensions is a volume; --planes, or two numbers for --size or --sigma, "
        "filter each image of a stack by itself. Order statistics and hampel keep the dtype and "
        "are "
        "exact; NaN is larger than every number there. The others give floats, as airy convolve. "
        "FITS "
        "files keep their header. Images that are larger than the device are taken tile by tile. "
        "--json prints {output, dtype, shape, tiles, tile, device_bytes, copied_bytes}.",
    .examples = "  airy filter median image.fits --size 5 -o smooth.fits\n"
                "  airy filter tophat image.npy --footprint ball=7 -o small.npy\n"
                "  airy filter hampel dark.fits --size 5 --kappa 6 -o clean.fits\n"
                "  airy filter median stack.h5 --size 3 --planes -o clean.h5\n"
                "  airy filter log volume.npy --sigma 1,2,2 -o blobs.npy\n",
    .words = "Filters",
    .word = filter_word,
    .tables = {filter_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct filter_params),
    .word_first = true,
    .min_inputs = 0,
    .max_inputs = 2,
    .check = check_filter,
    .run = run_filter,
};
