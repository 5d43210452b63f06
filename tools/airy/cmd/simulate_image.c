/* airy simulate sky, diracs, kernel: single images whose every pixel is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/simulated_sky.h"
#include "cli/tool.h"

enum { MOST_PIXELS = 1 << 17, NUMBERS = 7 };

struct sky_params {
    struct common common;
    size_t height, width, random;
    uint64_t seed;
    double amplitude[2], widths[2], rings, sigma, gradient, background[3], blank;
    struct opt_list sources;
    bool has_height, has_width, has_random, has_seed, has_amplitude, has_widths, has_rings,
        has_sigma, has_gradient, has_background;
};

static const char *parse_three(void *field, const char *text)
{
    return opt_numbers(text, field, 3) == 3 ? NULL : "expected three numbers A,B,C";
}

#define FIELD(member) .offset = offsetof(struct sky_params, member)
#define SEEN(member)  .seen = offsetof(struct sky_params, member)
#define SIZE_OPTION(word, member, flag, size)                                                      \
    {                                                                                              \
        .name = word, .type = OPT_COUNT, FIELD(member), SEEN(flag), .lo = 1, .hi = MOST_PIXELS,    \
        .argument = "N", .fallback = size, .help = "pixels"                                        \
    }

static const struct opt sky_options[] = {
    {.heading = "Image"},
    SIZE_OPTION("height", height, has_height, "2048"),
    SIZE_OPTION("width", width, has_width, "2048"),
    {.name = "seed",
     .type = OPT_SEED,
     FIELD(seed),
     SEEN(has_seed),
     .argument = "N",
     .fallback = "20240003",
     .help = "of noise and sources; the same bits everywhere"},
    {.name = "sigma",
     .type = OPT_FLOAT,
     FIELD(sigma),
     SEEN(has_sigma),
     .lo = 0,
     .hi = 1e30,
     .argument = "S",
     .fallback = "0.0115",
     .help = "standard deviation of the noise in the middle"},
    {.name = "gradient",
     .type = OPT_FLOAT,
     FIELD(gradient),
     SEEN(has_gradient),
     .lo = -1e30,
     .hi = 1e30,
     .argument = "G",
     .fallback = "0.9",
     .help = "noise times 1 + G r^2, r = 0.5 at the middle of an edge"},
    {.name = "background",
     .type = OPT_PARSED,
     FIELD(background),
     SEEN(has_background),
     .parse = parse_three,
     .argument = "A,B,C",
     .fallback = "-2e-5,4e-4,-3e-4",
     .help = "A + B u + C v^2, u and v = -0.5 to 0.5 along x and y"},
    {.name = "blank",
     .type = OPT_FLOAT,
     FIELD(blank),
     .lo = 1e-30,
     .hi = 1e30,
     .argument = "B",
     .fallback = "off",
     .help = "NaN where 4 r^2 > B, and in a bar of three rows"},
    {.heading = "Sources"},
    {.name = "sources",
     .type = OPT_COUNT,
     FIELD(random),
     SEEN(has_random),
     .lo = 0,
     .hi = 10000000,
     .argument = "N",
     .fallback = "230",
     .help = "random sources"},
    {.name = "amplitude",
     .type = OPT_PAIR,
     FIELD(amplitude),
     SEEN(has_amplitude),
     .argument = "MIN,MAX",
     .fallback = "0.045,1.2",
     .help = "of the random ones; their numbers fall as the square of it"},
    {.name = "widths",
     .type = OPT_PAIR,
     FIELD(widths),
     SEEN(has_widths),
     .argument = "MIN,MAX",
     .fallback = "1.6,7",
     .help = "pixels"},
    {.name = "rings",
     .type = OPT_FLOAT,
     FIELD(rings),
     SEEN(has_rings),
     .lo = 0,
     .hi = 1,
     .argument = "F",
     .fallback = "0.03",
     .help = "share of the random ones that are rings"},
    {.name = "source",
     .type = OPT_LIST,
     FIELD(sources),
     .argument = "X,Y,A,W,SHEAR,STRETCH,R",
     .fallback = "1030.25,1019.75,2.4,9,0.2,1.3,0",
     .help = "one more source, of amplitude A and width W pixels, a ring where R > 0; may be given "
             "several times; 'none': no such source"},
    {0},
};

static void fill_defaults(struct sky_params *p)
{
    p->height = p->has_height ? p->height : 2048;
    p->width = p->has_width ? p->width : 2048;
    p->random = p->has_random ? p->random : 230;
    p->seed = p->has_seed ? p->seed : 20240003;
    p->rings = p->has_rings ? p->rings : 0.03;
    p->sigma = p->has_sigma ? p->sigma : 0.0115;
    p->gradient = p->has_gradient ? p->gradient : 0.9;
    if (!p->has_amplitude)
        memcpy(p->amplitude, (const double[2]){0.045, 1.2}, sizeof(p->amplitude));
    if (!p->has_widths)
        memcpy(p->widths, (const double[2]){1.6, 7.0}, sizeof(p->widths));
    if (!p->has_background)
        memcpy(p->background, (const double[3]){-2e-05, 0.0004, -0.0003}, sizeof(p->background));
}

/* *sources is malloc'ed. */
static int read_sources(const struct sky_params *p, struct sky_source **sources, size_t *count)
{
    static const char *const usual = "1030.25,1019.75,2.4,9,0.2,1.3,0";
    const char *const *items = p->sources.count ? p->sources.items : &usual;
    const size_t given = p->sources.count ? p->sources.count : 1;
    *count = 0;
    *sources = calloc(given, sizeof(**sources));
    if (!*sources)
        return tool_fail(&p->common, "out of memory for %zu sources", given);
    for (size_t i = 0; i < given; i++) {
        double v[NUMBERS];
        if (strcmp(items[i], "none") == 0)
            continue;
        if (opt_numbers(items[i], v, NUMBERS) != NUMBERS || !(v[3] > 0))
            return tool_usage(&p->common,
                              "--source %s: expected 7 numbers X,Y,A,W,SHEAR,STRETCH,R with W > 0, "
                              "or none",
                              items[i]);
        (*sources)[(*count)++] = (struct sky_source){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    }
    return AIRY_EXIT_OK;
}

static int write_image(const struct common *common, airy_image *image)
{
    const char *path = common->inputs.items[0];
    const airy_status status = airy_image_write(image, path, common->force);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (common->json)
        return tool_print_json(common,
                               json_pack("{s:o, s:s, s:[I,I]}", "output", tool_json_string(path),
                                         "dtype", airy_dtype_name(image->dtype), "shape",
                                         (json_int_t)image->shape[0], (json_int_t)image->shape[1]));
    tool_say(common, "%s: %zu x %zu %s", path, image->shape[0], image->shape[1],
             airy_dtype_name(image->dtype));
    return AIRY_EXIT_OK;
}

/* An array of rows x columns, for a format that holds it. */
static int begin_image(const struct common *common, airy_image *image, airy_dtype dtype,
                       size_t rows, size_t columns)
{
    *image = (airy_image){.dtype = dtype, .ndim = 2, .shape = {rows, columns}};
    const int code = tool_check_format(common, common->inputs.items[0], dtype, 2);
    if (code != AIRY_EXIT_OK)
        return code;
    image->data = calloc(rows * columns, airy_dtype_size(dtype));
    return image->data ? AIRY_EXIT_OK
                       : tool_fail(common, "out of memory for %zu x %zu pixels", rows, columns);
}

/* A tangent-plane map with a beam of 8.7 pixels. */
static airy_status add_header(airy_image *image)
{
    char centre[2][81];
    snprintf(centre[0], sizeof(centre[0]), "CRPIX1  = %20.1f", (double)image->shape[1] / 2 + 0.5);
    snprintf(centre[1], sizeof(centre[1]), "CRPIX2  = %20.1f", (double)image->shape[0] / 2 + 0.5);
    const char *const cards[] = {
        "BUNIT   = 'Jy/beam '",
        "CTYPE1  = 'RA---SIN'",
        "CTYPE2  = 'DEC--SIN'",
        "CRVAL1  =             266.4168",
        "CRVAL2  =             -29.0078",
        centre[0],
        centre[1],
        "CDELT1  =              -0.0015",
        "CDELT2  =               0.0015",
        "CUNIT1  = 'deg     '",
        "CUNIT2  = 'deg     '",
        "BMAJ    =               0.0048",
        "BMIN    =               0.0036",
        "BPA     =                 20.0",
        "RADESYS = 'ICRS    '",
        "EQUINOX =               2000.0",
    };
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]) && status == AIRY_OK; i++)
        status = airy_image_add_card(image, cards[i]);
    return status;
}

static int check_pair(const struct common *common, const char *name, const double pair[2])
{
    return pair[0] > 0 && pair[0] <= pair[1]
               ? AIRY_EXIT_OK
               : tool_usage(common, "--%s %g,%g: expected numbers above 0, MIN at most MAX", name,
                            pair[0], pair[1]);
}

static int run_sky(void *user)
{
    struct sky_params *p = user;
    struct sky_source *sources = NULL;
    size_t count = 0;
    airy_image image = {0};
    fill_defaults(p);
    int code = check_pair(&p->common, "amplitude", p->amplitude);
    if (code == AIRY_EXIT_OK)
        code = check_pair(&p->common, "widths", p->widths);
    if (code == AIRY_EXIT_OK)
        code = read_sources(p, &sources, &count);
    if (code == AIRY_EXIT_OK)
        code = begin_image(&p->common, &image, AIRY_DTYPE_F32, p->height, p->width);
    if (code == AIRY_EXIT_OK) {
        struct sky_model model = {.seed = p->seed,
                                  .height = p->height,
                                  .width = p->width,
                                  .random = p->random,
                                  .rings = p->rings,
                                  .sigma = p->sigma,
                                  .gradient = p->gradient,
                                  .blank = p->blank,
                                  .sources = sources,
                                  .count = count};
        memcpy(model.amplitude, p->amplitude, sizeof(model.amplitude));
        memcpy(model.widths, p->widths, sizeof(model.widths));
        memcpy(model.background, p->background, sizeof(model.background));
        if (!simulated_sky(image.data, &model))
            code = tool_fail(&p->common, "out of memory for %zu x %zu pixels", p->height, p->width);
        else if (add_header(&image) != AIRY_OK)
            code = tool_failed(&p->common, AIRY_ERR_MEMORY);
        else
            code = write_image(&p->common, &image);
    }
    free(sources);
    airy_image_free(&image);
    return code;
}

const struct command cmd_simulate_sky = {
    .name = "simulate sky",
    .usage = "OUT [options]",
    .summary = "make a radio image: noise with a beam, a background, sources",
    .details = "float32, in Jy/beam. The same options give the same bits on every machine. FITS "
               "output has coordinates (SIN around 266.4168, -29.0078 deg, pixels of 5.4 arcsec) "
               "and a beam of 8.7 pixels.",
    .examples = "  airy simulate sky sky.fits\n"
                "  airy simulate sky small.npy --height 512 --width 512 --seed 1 --sources 40 "
                "--source none\n",
    .tables = {sky_options},
    .params_size = sizeof(struct sky_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F32,
    .run = run_sky,
};

struct plain_params {
    struct common common;
    size_t size, step;
    double sigma, reach;
    bool has_size, has_step, has_sigma, has_reach;
};

#undef FIELD
#undef SEEN
#define FIELD(member) .offset = offsetof(struct plain_params, member)
#define SEEN(member)  .seen = offsetof(struct plain_params, member)

static const struct opt diracs_options[] = {
    {.heading = "Image"},
    SIZE_OPTION("size", size, has_size, "2048"),
    {.name = "step",
     .type = OPT_COUNT,
     FIELD(step),
     SEEN(has_step),
     .lo = 1,
     .hi = MOST_PIXELS,
     .argument = "N",
     .fallback = "16",
     .help = "a 1 every N pixels along both axes, the first at N/2"},
    {0},
};

static const struct opt kernel_options[] = {
    {.heading = "Kernel"},
    SIZE_OPTION("size", size, has_size, "15"),
    {.name = "reach",
     .type = OPT_FLOAT,
     FIELD(reach),
     SEEN(has_reach),
     .lo = 1e-6,
     .hi = 1e6,
     .argument = "R",
     .fallback = "2",
     .help = "coordinates run from -R to R along both axes"},
    {.name = "sigma",
     .type = OPT_FLOAT,
     FIELD(sigma),
     SEEN(has_sigma),
     .lo = 1e-6,
     .hi = 1e6,
     .argument = "S",
     .fallback = "1",
     .help = "values exp(-r^2 / (2 S^2)), not normalised"},
    {0},
};

static int run_diracs(void *user)
{
    const struct plain_params *p = user;
    const size_t size = p->has_size ? p->size : 2048, step = p->has_step ? p->step : 16;
    airy_image image = {0};
    if (step / 2 >= size)
        return tool_usage(&p->common,
                          "--step %zu: in %zu pixels is no 1, the first would be at %zu", step,
                          size, step / 2);
    int code = begin_image(&p->common, &image, AIRY_DTYPE_F64, size, size);
    if (code == AIRY_EXIT_OK) {
        for (size_t y = step / 2; y < size; y += step)
            for (size_t x = step / 2; x < size; x += step)
                ((double *)image.data)[y * size + x] = 1;
        code = write_image(&p->common, &image);
    }
    airy_image_free(&image);
    return code;
}

static int run_kernel(void *user)
{
    const struct plain_params *p = user;
    const size_t size = p->has_size ? p->size : 15;
    const double reach = p->has_reach ? p->reach : 2, sigma = p->has_sigma ? p->sigma : 1,
                 step = size > 1 ? 2 * reach / (double)(size - 1) : 0,
                 start = size > 1 ? -reach : 0;
    airy_image image = {0};
    int code = begin_image(&p->common, &image, AIRY_DTYPE_F64, size, size);
    if (code == AIRY_EXIT_OK) {
        for (size_t i = 0; i < size * size; i++) {
            const double y = start + (double)(i / size) * step,
                         x = start + (double)(i % size) * step;
            ((double *)image.data)[i] = exp(-(x * x + y * y) / (2 * sigma * sigma));
        }
        code = write_image(&p->common, &image);
    }
    airy_image_free(&image);
    return code;
}

const struct command cmd_simulate_diracs = {
    .name = "simulate diracs",
    .usage = "OUT [options]",
    .summary = "make an image of single bright pixels on a grid",
    .details = "float64, 0 but for the points, which are 1: convolved, it shows the kernel.",
    .examples = "  airy simulate diracs diracs.npy\n",
    .tables = {diracs_options},
    .params_size = sizeof(struct plain_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F64,
    .run = run_diracs,
};

const struct command cmd_simulate_kernel = {
    .name = "simulate kernel",
    .usage = "OUT [options]",
    .summary = "make a Gaussian kernel",
    .details = "float64, 15 x 15 values of exp(-r^2/2) by default.",
    .examples = "  airy simulate kernel kernel.npy\n"
                "  airy convolve diracs.npy --kernel kernel.npy -o out.npy\n",
    .tables = {kernel_options},
    .params_size = sizeof(struct plain_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F64,
    .run = run_kernel,
};
