/* airy convolve and airy blur. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_image.h"

struct convolve_params {
    struct common common;
    const char *output, *kernel, *dtype;
    airy_convolve_params params;
    bool plan;
};

struct blur_params {
    struct common common;
    const char *output, *sigma, *dtype;
    double truncate;
    airy_convolve_params border; /* border and its value */
    bool has_border, plan;
};

static const char *parse_mode(void *field, const char *text)
{
    return airy_convolve_mode_parse(field, text) == AIRY_OK ? NULL : "expected full, same or valid";
}

static const char *parse_method(void *field, const char *text)
{
    return airy_convolve_method_parse(field, text) == AIRY_OK
               ? NULL
               : "expected auto, direct, separable or fft";
}

/* A border, or value=V: of the params whose border the field is. */
static const char *parse_border(void *field, const char *text)
{
    airy_convolve_params *p = field;
    if (strncmp(text, "value=", 6) == 0 && opt_number(text + 6, &p->border_value)) {
        p->border = AIRY_BORDER_VALUE;
        return NULL;
    }
    if (strcmp(text, "value") == 0 || airy_border_parse(&p->border, text) != AIRY_OK)
        return "expected zero, value=V, nearest, reflect, mirror or wrap";
    return NULL;
}

#define OUTPUT_OPTION(type_)                                                                       \
    {                                                                                              \
        .name = "output", .letter = 'o', .type = OPT_STRING, .offset = offsetof(type_, output),    \
        .use = OPT_WRITTEN_IMAGE, .argument = "OUT", .help = "the result, .npy, .h5 or .edf"       \
    }
#define DTYPE_OPTION(type_)                                                                        \
    {                                                                                              \
        .name = "dtype", .type = OPT_STRING, .offset = offsetof(type_, dtype),                     \
        .argument = "float32|float64", .fallback = "float64 for float64 images, else float32",     \
        .help = "of the result and the arithmetic"                                                 \
    }
#define PLAN_OPTION(type_)                                                                         \
    {                                                                                              \
        .name = "plan", .type = OPT_FLAG, .offset = offsetof(type_, plan),                         \
        .help = "say how the image would be cut and what memory that takes, and do nothing; -o "   \
                "is not needed"                                                                    \
    }
#define BORDER_ARGUMENT "zero|value=V|nearest|reflect|mirror|wrap"

static const struct opt convolve_options[] = {
    {.heading = "Convolution"},
    {.name = "kernel",
     .type = OPT_STRING,
     .offset = offsetof(struct convolve_params, kernel),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "image of 1 to 3 dimensions, 1 to 1025 along each"},
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
     .parse = parse_border,
     .argument = BORDER_ARGUMENT,
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
    DTYPE_OPTION(struct convolve_params),
    PLAN_OPTION(struct convolve_params),
    OUTPUT_OPTION(struct convolve_params),
    {0},
};

static const struct opt blur_options[] = {
    {.heading = "Blur"},
    {.name = "sigma",
     .type = OPT_STRING,
     .offset = offsetof(struct blur_params, sigma),
     .argument = "S[,S[,S]]",
     .help = "px along z, y, x; one number: along every axis; 0: an axis that is left as it is"},
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
     .parse = parse_border,
     .argument = BORDER_ARGUMENT,
     .fallback = "reflect",
     .help = "what lies outside of the image"},
    DTYPE_OPTION(struct blur_params),
    PLAN_OPTION(struct blur_params),
    OUTPUT_OPTION(struct blur_params),
    {0},
};

/* The dtype of the result, or exit code 2. */
static int result_dtype(const struct common *common, const char *text, airy_dtype from,
                        airy_dtype *dtype)
{
    *dtype = from == AIRY_DTYPE_F64 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32;
    if (!text)
        return AIRY_EXIT_OK;
    if (airy_dtype_parse(dtype, text) == AIRY_OK && airy_dtype_is_float(*dtype))
        return AIRY_EXIT_OK;
    return tool_usage(common, "--dtype %s: expected float32 or float64", text);
}

static int check_output(const struct common *common, const char *output, bool plan)
{
    if (!output && !plan)
        return tool_usage(common, "-o OUT is missing");
    return AIRY_EXIT_OK;
}

static json_t *json_shape(const size_t *shape, int ndim)
{
    json_t *list = json_array();
    for (int i = 0; i < ndim; i++)
        json_array_append_new(list, json_integer((json_int_t)shape[i]));
    return list;
}

/* "3 x 4" */
static void print_shape(char text[96], const size_t *shape, int ndim)
{
    size_t used = 0;
    for (int i = 0; i < ndim && used < 96; i++)
        used += (size_t)snprintf(text + used, 96 - used, i ? " x %zu" : "%zu", shape[i]);
}

/* What a plan says, as members of json, and on stderr unless it is one tile that was done. */
static void report_plan(const struct common *common, const airy_tile_plan *plan, bool only,
                        json_t *json)
{
    char tile[96], all[96];
    print_shape(tile, plan->tile, plan->ndim);
    print_shape(all, plan->shape, plan->ndim);
    json_object_set_new(json, "shape", json_shape(plan->shape, plan->ndim));
    json_object_set_new(json, "tiles", json_integer((json_int_t)plan->tiles));
    json_object_set_new(json, "tile", json_shape(plan->tile, plan->ndim));
    json_object_set_new(json, "device_bytes", json_integer((json_int_t)plan->device_bytes));
    json_object_set_new(json, "copied_bytes", json_integer((json_int_t)plan->copied_bytes));
    if (only || plan->tiles > 1)
        tool_say(common, "%s in %llu tile%s of %s: %.1f MB on the device, %.1f MB copied to it",
                 all, (unsigned long long)plan->tiles, tool_s((size_t)plan->tiles), tile,
                 (double)plan->device_bytes * 1e-6, (double)plan->copied_bytes * 1e-6);
}

/* The kernel as f64 without its outer axes of length 1; malloc'ed. */
static int read_kernel(const struct common *common, const char *path, double **values, int *ndim,
                       size_t shape[3])
{
    airy_image image = {0};
    const airy_status status = airy_image_read(&image, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const size_t n = tool_count(image.shape, image.ndim), *from = image.shape;
    *ndim = image.ndim;
    for (; *ndim > 1 && from[0] == 1 && *ndim > 2; (*ndim)--)
        from++;
    *values = *ndim <= 3 ? malloc(n * sizeof(**values)) : NULL;
    int code = AIRY_EXIT_OK;
    if (*ndim > 3)
        code = tool_fail(common, "--kernel %s: has 4 dimensions, expected 1 to 3", path);
    else if (!*values)
        code = tool_fail(common, "--kernel %s: out of memory for %zu values", path, n);
    for (size_t i = 0; i < n && *values; i++)
        (*values)[i] = airy_image_value(&image, i);
    if (*ndim <= 3)
        memcpy(shape, from, (size_t)*ndim * sizeof(*shape));
    airy_image_free(&image);
    return code;
}

static int convolve_image(const struct convolve_params *p, struct device_image *d,
                          const double *kernel, int ndim, const size_t *kernel_shape, json_t *json)
{
    const struct common *common = &p->common;
    airy_tile_target target = {.memory = 0};
    airy_tile_plan plan;
    airy_convolve_info info;
    airy_image result;
    int code = result_dtype(common, p->dtype, d->image.dtype, &target.dtype);
    if (code != AIRY_EXIT_OK)
        return code;
    const airy_status status = airy_tile_convolve(d->queue, p->plan ? NULL : &result, &d->image,
                                                  &target, kernel, ndim, kernel_shape, &p->params,
                                                  &info, &plan);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (!p->plan) {
        json_object_set_new(json, "output", tool_json_string(p->output));
        json_object_set_new(json, "algorithm", json_string(airy_convolve_method_name(info.method)));
        json_object_set_new(json, "rank", info.rank ? json_integer(info.rank) : json_null());
    }
    report_plan(common, &plan, p->plan, json);
    return p->plan ? AIRY_EXIT_OK : device_image_save(d, common, &result, p->output);
}

static int run_convolve(void *user)
{
    const struct convolve_params *p = user;
    const struct common *common = &p->common;
    double *kernel = NULL;
    int ndim = 0;
    size_t shape[3];
    struct device_image d = {.device = NULL};
    if (!p->kernel)
        return tool_usage(common, "--kernel FILE is missing");
    int code = check_output(common, p->output, p->plan);
    if (code == AIRY_EXIT_OK)
        code = read_kernel(common, p->kernel, &kernel, &ndim, shape);
    if (code == AIRY_EXIT_OK)
        code = device_image_open_host(&d, common, common->inputs.items[0]);
    json_t *json = json_object();
    if (code == AIRY_EXIT_OK)
        code = convolve_image(p, &d, kernel, ndim, shape, json);
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

/* --sigma, *count numbers of which one is above 0; exit code. */
static int parse_sigma(const struct blur_params *p, double numbers[3], int *count)
{
    bool any = false;
    *count = 0;
    for (const char *at = p->sigma; *count < 3; at++) {
        char word[64];
        const size_t length = strcspn(at, ",");
        if (length >= sizeof(word))
            break;
        memcpy(word, at, length);
        word[length] = 0;
        if (!opt_number(word, &numbers[*count]) || !(numbers[*count] >= 0))
            break;
        any |= numbers[(*count)++] > 0;
        at += length;
        if (*at)
            continue;
        return any ? AIRY_EXIT_OK
                   : tool_usage(&p->common, "--sigma %s: expected one above 0", p->sigma);
    }
    return tool_usage(&p->common, "--sigma %s: expected 1 to 3 numbers of at least 0, as S,S,S",
                      p->sigma);
}

/* The same for the image's axes, the last `axes` of them. */
static int read_sigma(const struct blur_params *p, int ndim, airy_blur_params *params)
{
    double numbers[3];
    int n, code = parse_sigma(p, numbers, &n);
    if (code != AIRY_EXIT_OK)
        return code;
    const int most = ndim < 3 ? ndim : 3, axes = n == 1 ? most : n;
    if (axes > most || axes < ndim - 1)
        return tool_usage(&p->common,
                          "--sigma %s: expected 1 or %d numbers for an image of %d dimensions",
                          p->sigma, most, ndim);
    if (n == 1 && ndim == 3)
        tool_say(&p->common,
                 "--sigma %s is for all three axes, along the first too; --sigma %s,%s blurs each "
                 "image of a list by itself",
                 p->sigma, p->sigma, p->sigma);
    params->axes = axes;
    for (int i = 0; i < axes; i++)
        params->sigma[i] = numbers[n == 1 ? 0 : i];
    return AIRY_EXIT_OK;
}

static int blur_image(const struct blur_params *p, struct device_image *d, json_t *json)
{
    const struct common *common = &p->common;
    airy_blur_params params = {.truncate = p->truncate,
                               .has_border = p->has_border,
                               .border = p->border.border,
                               .border_value = p->border.border_value};
    airy_tile_target target = {.memory = 0};
    airy_tile_plan plan;
    airy_image result;
    int code = result_dtype(common, p->dtype, d->image.dtype, &target.dtype);
    if (code == AIRY_EXIT_OK)
        code = read_sigma(p, d->image.ndim, &params);
    if (code != AIRY_EXIT_OK)
        return code;
    const airy_status status =
        airy_tile_blur(d->queue, p->plan ? NULL : &result, &d->image, &target, &params, &plan);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    report_plan(common, &plan, p->plan, json);
    return p->plan ? AIRY_EXIT_OK : device_image_save(d, common, &result, p->output);
}

static int run_blur(void *user)
{
    const struct blur_params *p = user;
    struct device_image d = {.device = NULL};
    if (!p->sigma)
        return tool_usage(&p->common, "--sigma S is missing");
    double numbers[3];
    int count, code = parse_sigma(p, numbers, &count);
    if (code == AIRY_EXIT_OK)
        code = check_output(&p->common, p->output, p->plan);
    json_t *json = json_object();
    if (p->output)
        json_object_set_new(json, "output", tool_json_string(p->output));
    if (code == AIRY_EXIT_OK)
        code = device_image_open_host(&d, &p->common, p->common.inputs.items[0]);
    if (code == AIRY_EXIT_OK)
        code = blur_image(p, &d, json);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(&p->common, d.device);
    if (code == AIRY_EXIT_OK && p->common.json)
        code = tool_print_json(&p->common, json_incref(json));
    json_decref(json);
    device_image_close(&d);
    return code;
}

const struct command cmd_convolve = {
    .name = "convolve",
    .usage = "IMAGE --kernel FILE -o OUT [options]",
    .summary = "convolve an image or a volume with a kernel",
    .details =
        "The kernel has as many dimensions as the image, or one less: then the image's slowest "
        "axis "
        "is a list. full keeps n + k - 1 elements along an axis of n with a kernel of k, same n "
        "from number (k - 1) / 2 on, valid those n - k + 1 that look at no border. Says which "
        "method was taken; Images that are larger than the device are taken tile by tile. --json "
        "prints {output, shape, "
        "algorithm, rank, tiles, tile, device_bytes, copied_bytes}.",
    .examples =
        "  airy convolve image.npy --kernel psf.npy -o out.npy --mode same --border reflect\n",
    .tables = {convolve_options},
    .takes = TAKES_COMPUTE,
    .params_size = sizeof(struct convolve_params),
    .min_inputs = 1,
    .max_inputs = 1,
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
        "is. Images that are larger than the device are taken tile by tile.",
    .examples = "  airy blur volume.npy --sigma 1,2,2 -o smooth.npy\n"
                "  airy blur stack.h5 --sigma 2,2 -o smooth.h5\n",
    .tables = {blur_options},
    .takes = TAKES_COMPUTE,
    .params_size = sizeof(struct blur_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_blur,
};
