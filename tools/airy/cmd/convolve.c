/* airy convolve and airy blur. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/filter_opt.h"

struct convolve_params {
    struct common common;
    struct bad_pixels bad;
    const char *output, *kernel, *dtype;
    airy_convolve_params params;
    bool plan;
};
BAD_PIXELS_FIT(struct convolve_params);

struct blur_params {
    struct common common;
    struct bad_pixels bad;
    const char *output, *sigma, *dtype;
    double truncate;
    airy_convolve_params border; /* border and its value, normalize */
    bool has_border, plan;
};
BAD_PIXELS_FIT(struct blur_params);

static const char *parse_mode(void *field, const char *text)
{
    return airy_convolve_mode_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_method(void *field, const char *text)
{
    return airy_convolve_method_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const struct opt convolve_options[] = {
    {.heading = "Convolution"},
    {.name = "kernel",
     .type = OPT_STRING,
     .offset = offsetof(struct convolve_params, kernel),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "image of 1 to 3 dimensions, 1 to 1025 along each, or SExtractor's .conv"},
    {.name = "mode",
     .type = OPT_PARSED,
     .offset = offsetof(struct convolve_params, params.mode),
     .parse = parse_mode,
     .argument = "full|same|valid",
     .fallback = "full",
     .help = "which part of the result is kept"},
    {.name = "border",
     .type = OPT_PARSED,
     .offset = offsetof(struct convolve_params, params),
     .parse = filter_parse_border,
     .argument = FILTER_BORDER_ARGUMENT,
     .fallback = "zero",
     .help = "what lies outside of the image"},
    {.name = "algorithm",
     .type = OPT_PARSED,
     .offset = offsetof(struct convolve_params, params.method),
     .parse = parse_method,
     .argument = "auto|direct|separable|fft",
     .fallback = "auto",
     .help =
         "separable: the kernel is a sum of up to 4 products of lines; fft: transforms of tiles"},
    {.name = "correlate",
     .type = OPT_FLAG,
     .offset = offsetof(struct convolve_params, params.correlate),
     .help = "do not turn the kernel round"},
    FILTER_NORMALIZE_OPTION(struct convolve_params, params.normalize),
    FILTER_DTYPE_OPTION(struct convolve_params),
    FILTER_PLAN_OPTION(struct convolve_params),
    FILTER_OUTPUT_OPTION(struct convolve_params, 1 + AIRY_DTYPE_F32),
    {0},
};

static const struct opt blur_options[] = {
    {.heading = "Blur"},
    {.name = "sigma",
     .type = OPT_STRING,
     .offset = offsetof(struct blur_params, sigma),
     .argument = "S[,S[,S]]",
     .help = "px along z, y, x, --truncate times at most 512; one number: along every axis; 0: an "
             "axis that is left as it is"},
    {.name = "truncate",
     .type = OPT_FLOAT,
     .offset = offsetof(struct blur_params, truncate),
     .lo = 1e-3,
     .hi = 1e6,
     .argument = "T",
     .fallback = "4",
     .help = "radius of the kernel in sigmas"},
    {.name = "border",
     .type = OPT_PARSED,
     .offset = offsetof(struct blur_params, border),
     .seen = offsetof(struct blur_params, has_border),
     .parse = filter_parse_border,
     .argument = FILTER_BORDER_ARGUMENT,
     .fallback = "reflect",
     .help = "what lies outside of the image"},
    FILTER_NORMALIZE_OPTION(struct blur_params, border.normalize),
    FILTER_DTYPE_OPTION(struct blur_params),
    FILTER_PLAN_OPTION(struct blur_params),
    FILTER_OUTPUT_OPTION(struct blur_params, 1 + AIRY_DTYPE_F32),
    {0},
};

static int convolve_image(const struct convolve_params *p, struct device_image *d,
                          const double *kernel, int ndim, const size_t *kernel_shape, json_t *json)
{
    const struct common *common = &p->common;
    airy_tile_target target = {.memory = 0};
    airy_tile_plan plan;
    airy_convolve_info info;
    airy_image result;
    size_t shape[AIRY_MAX_DIMS];
    int code = filter_result_dtype(common, p->dtype, d->image.dtype, &target.dtype);
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(d, common, p->output, target.dtype);
    if (code != AIRY_EXIT_OK)
        return code;
    airy_status status = airy_convolve_shape(shape, p->params.mode, d->image.ndim, d->image.shape,
                                             ndim, kernel_shape);
    if (status != AIRY_OK)
        return tool_fail(common, "--kernel %s: %s", p->kernel, airy_last_error());
    device_image_begin(d, common);
    status = airy_tile_convolve(d->queue, p->plan ? NULL : &result, &d->image, &target, kernel,
                                ndim, kernel_shape, &p->params, &info, &plan);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (!p->plan) {
        json_object_set_new(json, "output", tool_json_string(p->output));
        json_object_set_new(json, "algorithm", json_string(airy_convolve_method_name(info.method)));
        json_object_set_new(json, "rank", info.rank ? json_integer(info.rank) : json_null());
    }
    filter_report_plan(common, &plan, p->plan, json);
    return p->plan ? AIRY_EXIT_OK
                   : filter_save(d, common, &result, p->output,
                                 filter_nan_advice(p->params.normalize, p->params.border,
                                                   p->params.border_value));
}

static int check_convolve(void *user)
{
    const struct convolve_params *p = user;
    if (!p->kernel)
        return tool_usage(&p->common, "--kernel FILE is missing");
    int code = filter_check_normalize(&p->common, &p->params);
    if (code == AIRY_EXIT_OK)
        code = bad_pixels_check(&p->common, &p->bad);
    return code == AIRY_EXIT_OK ? filter_check(&p->common, p->output, p->dtype, p->plan) : code;
}

static int run_convolve(void *user)
{
    const struct convolve_params *p = user;
    const struct common *common = &p->common;
    double *kernel = NULL;
    int ndim = 0;
    size_t shape[3];
    struct device_image d = {.device = NULL};
    int code = filter_read_kernel(common, p->kernel, &kernel, &ndim, shape);
    if (code == AIRY_EXIT_OK && p->params.normalize)
        code = filter_check_weights(common, p->kernel, kernel, tool_count(shape, ndim));
    if (code == AIRY_EXIT_OK)
        code = filter_open(&d, common, &p->bad, p->dtype);
    json_t *json = json_object();
    if (code == AIRY_EXIT_OK)
        code = convolve_image(p, &d, kernel, ndim, shape, json);
    if (code == AIRY_EXIT_OK && !p->plan)
        filter_say_gaps(&d, common, &p->bad);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, d.device);
    if (code == AIRY_EXIT_OK && common->json) {
        code = tool_print_json(common, json_incref(json));
    } else if (code == AIRY_EXIT_OK && !p->plan) {
        const json_t *rank = json_object_get(json, "rank");
        tool_say(common, "%s: %s method%s%s", p->output,
                 json_string_value(json_object_get(json, "algorithm")),
                 json_is_integer(rank) ? ", kernel of rank " : "",
                 json_is_integer(rank) ? (const char[]){(char)('0' + json_integer_value(rank)), 0}
                                       : "");
    }
    json_decref(json);
    device_image_close(&d);
    free(kernel);
    return code;
}

/* --sigma, *count numbers of which one is above 0, and none too large; exit code. */
static int parse_sigma(const struct blur_params *p, double numbers[3], int *count)
{
    const int code = filter_numbers(&p->common, "sigma", p->sigma, numbers, count);
    bool any = false;
    for (int i = 0; code == AIRY_EXIT_OK && i < *count; i++)
        any |= numbers[i] > 0;
    if (code == AIRY_EXIT_OK && !any)
        return tool_usage(&p->common, "--sigma %s: expected one above 0", p->sigma);
    return code == AIRY_EXIT_OK
               ? filter_check_reach(&p->common, "sigma", p->sigma, numbers, *count, p->truncate)
               : code;
}

/* The same for the image's axes, the last `axes` of them. */
static int read_sigma(const struct blur_params *p, int ndim, airy_blur_params *params)
{
    double numbers[3];
    int n, code = parse_sigma(p, numbers, &n);
    if (code == AIRY_EXIT_OK)
        code = filter_axes(&p->common, "sigma", p->sigma, n, ndim, &params->axes);
    if (code != AIRY_EXIT_OK)
        return code;
    if (n == 1 && ndim == 3)
        tool_say(&p->common,
                 "--sigma %s is for all three axes, along the first too; --sigma %s,%s blurs each "
                 "image of a list by itself",
                 p->sigma, p->sigma, p->sigma);
    for (int i = 0; i < params->axes; i++)
        params->sigma[i] = numbers[n == 1 ? 0 : i];
    return AIRY_EXIT_OK;
}

static int blur_image(const struct blur_params *p, struct device_image *d, json_t *json)
{
    const struct common *common = &p->common;
    airy_blur_params params = {.truncate = p->truncate,
                               .has_border = p->has_border,
                               .border = p->border.border,
                               .border_value = p->border.border_value,
                               .normalize = p->border.normalize};
    airy_tile_target target = {.memory = 0};
    airy_tile_plan plan;
    airy_image result;
    int code = filter_result_dtype(common, p->dtype, d->image.dtype, &target.dtype);
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(d, common, p->output, target.dtype);
    if (code == AIRY_EXIT_OK)
        code = read_sigma(p, d->image.ndim, &params);
    if (code != AIRY_EXIT_OK)
        return code;
    device_image_begin(d, common);
    const airy_status status =
        airy_tile_blur(d->queue, p->plan ? NULL : &result, &d->image, &target, &params, &plan);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    filter_report_plan(common, &plan, p->plan, json);
    return p->plan ? AIRY_EXIT_OK
                   : filter_save(
                         d, common, &result, p->output,
                         filter_nan_advice(params.normalize, params.border, params.border_value));
}

static int check_blur(void *user)
{
    const struct blur_params *p = user;
    if (!p->sigma)
        return tool_usage(&p->common, "--sigma S is missing");
    double numbers[3];
    int count, code = parse_sigma(p, numbers, &count);
    if (code == AIRY_EXIT_OK)
        code = filter_check_normalize(&p->common, &p->border);
    if (code == AIRY_EXIT_OK)
        code = bad_pixels_check(&p->common, &p->bad);
    return code == AIRY_EXIT_OK ? filter_check(&p->common, p->output, p->dtype, p->plan) : code;
}

static int run_blur(void *user)
{
    const struct blur_params *p = user;
    struct device_image d = {.device = NULL};
    json_t *json = json_object();
    if (p->output)
        json_object_set_new(json, "output", tool_json_string(p->output));
    int code = filter_open(&d, &p->common, &p->bad, p->dtype);
    if (code == AIRY_EXIT_OK)
        code = blur_image(p, &d, json);
    if (code == AIRY_EXIT_OK && !p->plan)
        filter_say_gaps(&d, &p->common, &p->bad);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(&p->common, d.device);
    if (code == AIRY_EXIT_OK && p->common.json)
        code = tool_print_json(&p->common, json_incref(json));
    json_decref(json);
    device_image_close(&d);
    return code;
}

#define NAN_DETAILS                                                                                \
    "Bad pixels are NaN, and so is every result that one of them goes into, unless --normalize "   \
    "leaves them out."

const struct command cmd_convolve = {
    .name = "convolve",
    .usage = "IMAGE --kernel FILE -o OUT [options]",
    .summary = "convolve an image or a volume with a kernel",
    .details =
        "The kernel has as many dimensions as the image, or one less: then the image's slowest "
        "axis is a list. full keeps n + k - 1 elements along an axis of n with a kernel of k, same "
        "n "
        "from number (k - 1) / 2 on, valid those n - k + 1 that look at no border. Says which "
        "method was taken. " NAN_DETAILS
        " Images that are larger than the device are taken tile by tile. --json "
        "prints {output, shape, algorithm, rank, tiles, tile, device_bytes, copied_bytes}.",
    .examples =
        "  airy convolve image.npy --kernel psf.npy -o out.npy --mode same --border reflect\n",
    .tables = {convolve_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct convolve_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_convolve,
    .run = run_convolve,
};

const struct command cmd_blur = {
    .name = "blur",
    .usage = "IMAGE --sigma S[,S[,S]] -o OUT [options]",
    .summary = "Gaussian blur of an image or a volume",
    .details =
        "Weights are exp(-x^2 / (2 sigma^2)) over their sum, out to truncate sigmas, as "
        "scipy.ndimage.gaussian_filter has them. One sigma is for every axis, in a stack along the "
        "frames too: S,S blurs each image of a stack by itself. A sigma of 0 leaves an axis as it "
        "is. " NAN_DETAILS " Images that are larger than the device are taken tile by tile.",
    .examples = "  airy blur volume.npy --sigma 1,2,2 -o smooth.npy\n"
                "  airy blur stack.h5 --sigma 2,2 -o smooth.h5\n",
    .tables = {blur_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct blur_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_blur,
    .run = run_blur,
};
