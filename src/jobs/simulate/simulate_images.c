/* Single images whose every pixel is known: a sky, points on a grid, a Gaussian kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/groups.h"
#include "jobs/simulate/simulated_sky.h"

enum { MOST_PIXELS = 1 << 17, NUMBERS = 7 };

/* Where an image goes. */
struct output {
    char *path;
    bool force;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct output, member, __VA_ARGS__)
static const struct airy_job_row output_rows[] = {
    ROW(path, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes the image into this file", .section = "Output"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"image", AIRY_JOB_ARRAY, "output", "[height, width]"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the pixels"},
    {"shape", AIRY_JOB_NUMBERS, NULL, "height and width"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct image_run {
    airy_image image;
    struct airy_sky_source *sources;
};

static void close_image(void *state)
{
    struct image_run *r = state;
    airy_image_free(&r->image);
    free(r->sources);
}

/* An array of zeros, for a format that holds it. */
static airy_status begin_image(airy_image *image, const struct output *output, airy_dtype dtype,
                               size_t rows, size_t columns)
{
    AIRY_TRY(airy_job_check_format("output", output->path, dtype, 2));
    *image = (airy_image){.dtype = dtype, .ndim = 2, .shape = {rows, columns}};
    return airy_memory_calloc(&image->data, rows * columns, airy_dtype_size(dtype), "an image");
}

static airy_status put_image(airy_job *job, airy_image *image, const struct output *output)
{
    const char *dtype = airy_dtype_name(image->dtype);
    if (output->path)
        AIRY_TRY(airy_job_put_text(job, "output", output->path));
    AIRY_TRY(airy_job_put_text(job, "dtype", dtype));
    if (output->path)
        AIRY_TRY(airy_image_write(image, output->path, output->force));
    airy_job_put_shape(job, "shape", image->shape, 2);
    airy_job_sum_up(job, "%zu x %zu %s", image->shape[0], image->shape[1], dtype);
    if (!airy_job_keeps(job, "image"))
        return AIRY_OK;
    const airy_host_view view = {
        .dtype = image->dtype, .ndim = 2, .shape = {image->shape[0], image->shape[1]}};
    airy_job_put_array(job, "image", &view, image->data);
    image->data = NULL;
    return AIRY_OK;
}

/* ---- sky ---- */

struct sky_values {
    size_t height, width, random;
    uint64_t seed;
    struct airy_job_tuple amplitude, widths, background;
    double rings, sigma, gradient, blank;
    struct airy_job_list sources;
    struct output output;
};

#define SIZE(word, member, usual)                                                                  \
    ROW(member, .name = word, .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = MOST_PIXELS,            \
        .unit = "pixels", .fallback = usual, .help = "sets the " word " of the image")
#define ROW(member, ...) AIRY_JOB_ROW(struct sky_values, member, __VA_ARGS__)
static const struct airy_job_row sky_rows[] = {
    SIZE("height", height, "2048"),
    SIZE("width", width, "2048"),
    ROW(seed, .name = "seed", .type = AIRY_PARAMETER_SEED, .fallback = "20240003",
        .help = "draws other noise and sources for each seed, with the same bits on every machine"),
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_REAL, .hi = 1e30, .argument = "S",
        .fallback = "0.0115", .help = "sets the standard deviation of the noise in the middle"),
    ROW(gradient, .name = "gradient", .type = AIRY_PARAMETER_REAL, .lo = -1e30, .hi = 1e30,
        .argument = "G", .fallback = "0.9",
        .help = "multiplies the noise by 1 + G r^2, r = 0.5 at the middle of an edge"),
    ROW(background, .name = "background", .type = AIRY_PARAMETER_TUPLE, .least = 3, .most = 3,
        .argument = "A,B,C", .fallback = "-2e-5,4e-4,-3e-4",
        .help = "adds A + B u + C v^2, u and v = -0.5 to 0.5 along x and y"),
    ROW(blank, .name = "blank", .type = AIRY_PARAMETER_REAL, .lo = 1e-30, .hi = 1e30,
        .argument = "B", .fallback = "off", .computed = true,
        .help = "puts NaN where 4 r^2 > B, and into a bar of three rows"),
    ROW(random, .name = "sources", .type = AIRY_PARAMETER_WHOLE, .hi = 10000000, .fallback = "230",
        .help = "adds so many random sources", .section = "Sources"),
    ROW(amplitude, .name = "amplitude", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .argument = "MIN,MAX", .fallback = "0.045,1.2",
        .help = "sets the amplitudes of random sources, whose numbers fall as the square of it"),
    ROW(widths, .name = "widths", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .unit = "pixels", .argument = "MIN,MAX", .fallback = "1.6,7",
        .help = "sets the widths of random sources"),
    ROW(rings, .name = "rings", .type = AIRY_PARAMETER_REAL, .hi = 1, .argument = "F",
        .fallback = "0.03", .help = "sets the share of random sources that are rings"),
    ROW(sources, .name = "source", .type = AIRY_PARAMETER_TEXT, .list = true,
        .argument = "X,Y,A,W,SHEAR,STRETCH,R", .fallback = "1030.25,1019.75,2.4,9,0.2,1.3,0",
        .computed = true,
        .help = "adds a source of amplitude A and width W pixels, a ring where R > 0; may be given "
                "several times; 'none': no such source"),
    {{0}, 0, NULL}};
#undef ROW

/* The sources that are given, or the usual one; to: room for one of each. */
static airy_status parse_sources(struct airy_sky_source *to, size_t *count,
                                 const struct airy_job_list *list)
{
    static const struct airy_sky_source usual = {1030.25, 1019.75, 2.4, 9, 0.2, 1.3, 0};
    static const struct airy_job_row seven = {
        {.name = "source", .type = AIRY_PARAMETER_TUPLE, .least = NUMBERS, .most = NUMBERS},
        0,
        NULL};
    *count = 0;
    if (!list->count)
        to[(*count)++] = usual;
    for (size_t i = 0; i < list->count; i++) {
        struct airy_job_tuple t = {.count = 0};
        if (strcmp(list->items[i], "none") == 0)
            continue;
        AIRY_FAIL_ON_IF(airy_value_parse(&seven, &t, list->items[i]) != AIRY_OK ||
                            !(t.values[3] > 0),
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s %s: expected 7 numbers X,Y,A,W,SHEAR,STRETCH,R with W > 0, or none",
                        "source", list->items[i]);
        const double *v = t.values;
        to[(*count)++] = (struct airy_sky_source){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    }
    return AIRY_OK;
}

static airy_status make_sources(struct airy_sky_source **sources, size_t *count,
                                const struct airy_job_list *list)
{
    AIRY_TRY(airy_memory_calloc((void **)sources, list->count + 1, sizeof(**sources), "sources"));
    return parse_sources(*sources, count, list);
}

static airy_status check_pair(const char *name, const struct airy_job_tuple *pair)
{
    const double *v = pair->values;
    AIRY_FAIL_ON_IF(!(v[0] > 0 && v[0] <= v[1]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %g,%g: expected numbers above 0, MIN at most MAX", name, v[0], v[1]);
    return AIRY_OK;
}

static airy_status check_sky(airy_job *job)
{
    const struct sky_values *v = job->values;
    struct airy_sky_source *sources = NULL;
    size_t count;
    AIRY_TRY(check_pair("amplitude", &v->amplitude));
    AIRY_TRY(check_pair("widths", &v->widths));
    const airy_status status = make_sources(&sources, &count, &v->sources);
    free(sources);
    return status;
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
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        AIRY_TRY(airy_image_add_card(image, cards[i]));
    return AIRY_OK;
}

static airy_status run_sky(airy_job *job, void *state)
{
    const struct sky_values *v = job->values;
    struct image_run *r = state;
    size_t count = 0;
    AIRY_TRY(make_sources(&r->sources, &count, &v->sources));
    AIRY_TRY(begin_image(&r->image, &v->output, AIRY_DTYPE_F32, v->height, v->width));
    struct airy_sky_model model = {.seed = v->seed,
                                   .height = v->height,
                                   .width = v->width,
                                   .random = v->random,
                                   .rings = v->rings,
                                   .sigma = v->sigma,
                                   .gradient = v->gradient,
                                   .blank = v->blank,
                                   .sources = r->sources,
                                   .count = count};
    memcpy(model.amplitude, v->amplitude.values, sizeof(model.amplitude));
    memcpy(model.widths, v->widths.values, sizeof(model.widths));
    memcpy(model.background, v->background.values, sizeof(model.background));
    AIRY_FAIL_IF(!airy_simulated_sky(r->image.data, &model), AIRY_ERR_MEMORY,
                 "out of memory for %zu x %zu pixels", v->height, v->width);
    AIRY_TRY(add_header(&r->image));
    return put_image(job, &r->image, &v->output);
}

/* ---- points and kernels ---- */

struct plain_values {
    size_t size, step;
    double sigma, reach;
    struct output output;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct plain_values, member, __VA_ARGS__)
static const struct airy_job_row diracs_rows[] = {
    SIZE("size", size, "2048"),
    ROW(step, .name = "step", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = MOST_PIXELS,
        .fallback = "16", .help = "puts a 1 every N pixels along both axes, the first at N/2"),
    {{0}, 0, NULL}};

static const struct airy_job_row kernel_rows[] = {
    SIZE("size", size, "15"),
    ROW(reach, .name = "reach", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1e6, .argument = "R",
        .fallback = "2", .help = "lets coordinates run from -R to R along both axes"),
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1e6, .argument = "S",
        .fallback = "1",
        .help = "sets S of the values exp(-r^2 / (2 S^2)), which are not normalised"),
    {{0}, 0, NULL}};
#undef ROW

static airy_status check_diracs(airy_job *job)
{
    const struct plain_values *v = job->values;
    AIRY_FAIL_ON_IF(v->step / 2 >= v->size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: in %zu pixels is no 1, the first would be at %zu", "step", v->step,
                    v->size, v->step / 2);
    return AIRY_OK;
}

static airy_status run_diracs(airy_job *job, void *state)
{
    const struct plain_values *v = job->values;
    airy_image *image = &((struct image_run *)state)->image;
    AIRY_TRY(begin_image(image, &v->output, AIRY_DTYPE_F64, v->size, v->size));
    for (size_t y = v->step / 2; y < v->size; y += v->step)
        for (size_t x = v->step / 2; x < v->size; x += v->step)
            ((double *)image->data)[y * v->size + x] = 1;
    return put_image(job, image, &v->output);
}

static airy_status run_kernel(airy_job *job, void *state)
{
    const struct plain_values *v = job->values;
    const size_t size = v->size;
    const double step = size > 1 ? 2 * v->reach / (double)(size - 1) : 0,
                 start = size > 1 ? -v->reach : 0;
    airy_image *image = &((struct image_run *)state)->image;
    AIRY_TRY(begin_image(image, &v->output, AIRY_DTYPE_F64, size, size));
    for (size_t i = 0; i < size * size; i++) {
        const double y = start + (double)(i / size) * step, x = start + (double)(i % size) * step;
        ((double *)image->data)[i] = exp(-(x * x + y * y) / (2 * v->sigma * v->sigma));
    }
    return put_image(job, image, &v->output);
}

extern const struct airy_job_kind airy_job_simulate_sky, airy_job_simulate_diracs,
    airy_job_simulate_kernel;
const struct airy_job_kind airy_job_simulate_sky = {
    .name = "simulate-sky",
    .summary = "make a radio image: noise with a beam, a background, sources",
    .details = "The image is float32, in Jy/beam. The same values give the same bits on every "
               "machine. FITS output has coordinates (SIN around 266.4168, -29.0078 deg, pixels of "
               "5.4 arcsec) and a beam of 8.7 pixels.",
    .groups = {{sky_rows, 0}, {output_rows, offsetof(struct sky_values, output)}},
    .results = results,
    .values_size = sizeof(struct sky_values),
    .state_size = sizeof(struct image_run),
    .check = check_sky,
    .run = run_sky,
    .close = close_image,
};
const struct airy_job_kind airy_job_simulate_diracs = {
    .name = "simulate-diracs",
    .summary = "make an image of single bright pixels on a grid",
    .details = "The image is float64 and 0 but for the points, which are 1: convolved, it shows "
               "the kernel.",
    .groups = {{diracs_rows, 0}, {output_rows, offsetof(struct plain_values, output)}},
    .results = results,
    .values_size = sizeof(struct plain_values),
    .state_size = sizeof(struct image_run),
    .check = check_diracs,
    .run = run_diracs,
    .close = close_image,
};
const struct airy_job_kind airy_job_simulate_kernel = {
    .name = "simulate-kernel",
    .summary = "make a Gaussian kernel",
    .details = "The kernel is float64, 15 x 15 values of exp(-r^2/2) by default.",
    .groups = {{kernel_rows, 0}, {output_rows, offsetof(struct plain_values, output)}},
    .results = results,
    .values_size = sizeof(struct plain_values),
    .state_size = sizeof(struct image_run),
    .run = run_kernel,
    .close = close_image,
};
