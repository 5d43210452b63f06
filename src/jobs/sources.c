/* What stands out of an image of the sky, as a catalogue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/word.h"
#include "jobs/found.h"

static const char *const methods[] = {"full", "simple", NULL}, *const full[] = {"full", NULL},
                         *const compats[] = {"sep", NULL};

static const char *parse_deblend(void *field, const char *text)
{
    struct airy_deblending *d = field;
    double levels = 1, contrast = 1;
    if (strcmp(text, "off") != 0) {
        char first[32];
        const size_t n = strcspn(text, ",");
        snprintf(first, sizeof(first), "%.*s", (int)n, text);
        if (n >= sizeof(first) || !text[n] || !airy_number_parse(&levels, first) ||
            !airy_number_parse(&contrast, text + n + 1))
            return "expected LEVELS,CONTRAST or off";
    }
    if (!(levels >= 1 && levels <= 1024 && floor(levels) == levels && contrast >= 0 &&
          contrast <= 1))
        return "expected 1 to 1024 levels and a contrast from 0 to 1";
    *d = (struct airy_deblending){(int)levels, contrast};
    return NULL;
}

static void print_deblend(char *text, size_t size, const void *field)
{
    const struct airy_deblending *d = field;
    char contrast[AIRY_NUMBER_TEXT];
    snprintf(text, size, "%d,%s", d->levels, airy_number_text(contrast, d->contrast, false));
}

static const struct airy_job_record deblend_record = {sizeof(struct airy_deblending), parse_deblend,
                                                      print_deblend};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_sources_values, member, __VA_ARGS__)
#define RECORD_ROW(member, record, ...)                                                            \
    AIRY_JOB_RECORD_ROW(struct airy_sources_values, member, record, __VA_ARGS__)
#define WRITTEN(member, ...)                                                                       \
    ROW(member, .name = #member, .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_WRITTEN,           \
        .affects = AIRY_AFFECTS_WHERE, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(method, .name = "method", .type = AIRY_PARAMETER_WORD, .words = methods, .fallback = "full",
        .help = "full: subtracts a background of meshes, takes the noise of each, and deblends; "
                "simple: takes {sigma} standard deviations of what a clip leaves, above 0",
        .section = "Detection"),
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_REAL, .hi = INFINITY, .open = true,
        .argument = "K", .fallback = "5",
        .help = "sets the threshold in standard deviations of the noise"),
    ROW(connectivity, .name = "connectivity", .type = AIRY_PARAMETER_WHOLE, .lo = 4, .hi = 8,
        .argument = "4|8", .fallback = "8; simple: 4", .computed = true,
        .help = "sets the number of neighbours of a pixel"),
    ROW(min_area, .name = "min-area", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 4e9,
        .fallback = "5; simple: 1", .computed = true, .help = "leaves out sources of fewer pixels"),
    ROW(frame, .name = "frame", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS,
        .hi = 1e15, .help = "selects the plane of a cube, from 0"),
    ROW(mesh, .name = "mesh", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 2, .lo = 2,
        .hi = 32768, .argument = "N|Y,X", .fallback = "64", .computed = true, .unit = "pixels",
        .help = "sets the side of the meshes of the background", .section = "The full method",
        .only_with = {"method", full}),
    ROW(global_noise, .name = "global-noise", .type = AIRY_PARAMETER_FLAG,
        .help = "takes one noise for the image, the median over the meshes",
        .only_with = {"method", full}),
    ROW(matched, .name = "matched", .type = AIRY_PARAMETER_REAL, .lo = 0.1, .hi = 300,
        .argument = "FWHM", .unit = "pixels",
        .help = "detects in an image filtered by a matched filter for points of this width",
        .only_with = {"method", full}),
    ROW(kernel, .name = "kernel", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help = "detects in the image correlated with this kernel over the sum of its absolute "
                "values, an image or SExtractor's .conv, which is taken as it is with NONORM; "
                "sides are odd",
        .only_with = {"method", full}),
    RECORD_ROW(deblending, &deblend_record, .name = "deblend", .type = AIRY_PARAMETER_RECORD,
               .argument = "LEVELS,CONTRAST|off", .fallback = "32,0.005", .computed = true,
               .help = "splits sources whose parts have each CONTRAST of the flux at one of LEVELS "
                       "thresholds",
               .only_with = {"method", full}),
    ROW(clean, .name = "clean", .type = AIRY_PARAMETER_FLAG,
        .help = "removes sources that the wings of brighter neighbours explain",
        .only_with = {"method", full}),
    ROW(apertures, .name = "apertures", .type = AIRY_PARAMETER_TUPLE, .least = 1,
        .most = AIRY_SOURCE_APERTURES, .hi = 1e6, .open = true, .argument = "R,R,...",
        .unit = "pixels", .help = "measures flux_aper_1, ... in circles of these radii",
        .only_with = {"method", full}),
    ROW(gain, .name = "gain", .type = AIRY_PARAMETER_REAL, .lo = 1e-30, .hi = 1e30, .argument = "G",
        .unit = "electrons a unit of the image",
        .help = "adds the photon noise of this many electrons per unit to the errors of fluxes",
        .only_with = {"method", full}),
    ROW(compat, .name = "compat", .type = AIRY_PARAMETER_WORD, .words = compats,
        .help = "works as sep 1.4 does by default: its background, one noise, its filter of 3 x 3, "
                "cleaning",
        .only_with = {"method", full}),
    WRITTEN(catalog, .argument = "OUT",
            .help = "writes the table of the sources, .csv, .fits or .vot", .section = "Output"),
    WRITTEN(regions, .argument = "OUT.reg",
            .help = "writes ellipses of twice the semi-axes for DS9"),
    WRITTEN(segmentation, .argument = "OUT", .dtypes = 1u << AIRY_DTYPE_I32,
            .help = "writes a 32-bit image of the sources' numbers"),
    WRITTEN(background, .argument = "OUT", .dtypes = 1u << AIRY_DTYPE_F32,
            .help = "writes a float32 image of the background", .only_with = {"method", full}),
    WRITTEN(noise, .argument = "OUT", .dtypes = 1u << AIRY_DTYPE_F32,
            .help = "writes a float32 image of the noise", .only_with = {"method", full}),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the outputs"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"catalog", AIRY_JOB_TABLE, "catalog", "the sources"},
    {"segmentation", AIRY_JOB_ARRAY, "segmentation",
     "the number of each pixel's source, made where a file is named or airy_job_want has asked for "
     "it"},
    {"background_image", AIRY_JOB_ARRAY, "background",
     "float32: the background of the full method, made as segmentation"},
    {"noise_image", AIRY_JOB_ARRAY, "noise",
     "float32: the noise of the full method, made as segmentation"},
    {"image", AIRY_JOB_ARRAY, NULL, "the plane, made where airy_job_want has asked for it"},
    {"sources", AIRY_JOB_NUMBER, NULL, "the number of sources"},
    {"threshold", AIRY_JOB_NUMBER, NULL, "sigma times the noise"},
    {"background", AIRY_JOB_NUMBER, NULL, "the median background"},
    {"noise", AIRY_JOB_NUMBER, NULL, "the median standard deviation"},
    {"expected_false_pixels", AIRY_JOB_NUMBER, NULL,
     "pixels above the threshold that noise alone would have"},
    {"unit", AIRY_JOB_TEXT, NULL, "of the pixels, as the header has it"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

static airy_status check(airy_job *job)
{
    const struct airy_sources_values *v = job->values;
    const char *regions = v->regions;
    const char *const images[][2] = {
        {"segmentation", v->segmentation}, {"background", v->background}, {"noise", v->noise}};
    static const char *const bad[] = {"mask", "dummy"};
    for (size_t i = 0; i < 2 && v->method; i++)
        AIRY_FAIL_ON_IF(airy_job_is_set(job, bad[i]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s goes with method full", bad[i]);
    AIRY_FAIL_ON_IF(airy_source_is_given(&v->kernel) && v->matched > 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and matched exclude each other", "kernel");
    AIRY_FAIL_ON_IF(v->connectivity && v->connectivity != 4 && v->connectivity != 8, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %zu: expected 4 or 8", "connectivity",
                    v->connectivity);
    for (size_t i = 0; i < v->mesh.count; i++)
        AIRY_FAIL_ON_IF(floor(v->mesh.values[i]) != v->mesh.values[i], AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s %g: expected whole numbers from 2 to 32768",
                        "mesh", v->mesh.values[i]);
    AIRY_FAIL_ON_IF(regions && !airy_has_suffix(regions, ".reg"), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %s: expected a name that ends in .reg", "regions",
                    regions);
    for (size_t i = 0; i < 3; i++)
        if (images[i][1] && airy_image_has_format(images[i][1]))
            AIRY_TRY(airy_job_check_format(images[i][0], images[i][1],
                                           i ? AIRY_DTYPE_F32 : AIRY_DTYPE_I32, 0));
    return airy_catalog_check_name("catalog", v->catalog);
}

/* Images that are written, with the axes of the one that is read. */
static airy_status check_formats(const struct airy_found *s)
{
    const struct airy_sources_values *v = s->v;
    AIRY_TRY(airy_job_image_check_format(&s->d, "segmentation", v->segmentation, AIRY_DTYPE_I32));
    AIRY_TRY(airy_job_image_check_format(&s->d, "background", v->background, AIRY_DTYPE_F32));
    return airy_job_image_check_format(&s->d, "noise", v->noise, AIRY_DTYPE_F32);
}

static airy_status put_array(const struct airy_found *s, const airy_array *array,
                             const char *result, char *path)
{
    const struct airy_image_output output = {.path = path, .force = s->v->force};
    airy_image image = {.data = NULL};
    if (!array || (!path && !airy_job_is_wanted(s->job, result)))
        return AIRY_OK;
    AIRY_TRY(airy_job_image_pull(&s->d, &image, array));
    return airy_job_image_put(&s->d, &image, result, &output);
}

/* The plane itself, of which a caller's array is copied. */
static airy_status put_plane(struct airy_found *s)
{
    airy_image *image = &s->d.image;
    const airy_host_view view = {
        .dtype = image->dtype, .ndim = 2, .shape = {image->shape[0], image->shape[1]}};
    const size_t size = image->shape[0] * image->shape[1] * airy_dtype_size(image->dtype);
    void *data = image->data;
    if (!airy_job_is_wanted(s->job, "image"))
        return AIRY_OK;
    if (s->d.borrowed) {
        data = malloc(size);
        AIRY_FAIL_IF(!data, AIRY_ERR_MEMORY, "out of memory for an image of %zu bytes", size);
        memcpy(data, image->data, size);
    } else {
        airy_array_destroy(&s->d.src); /* which may be over these pixels */
        image->data = NULL;
    }
    airy_job_put_array(s->job, "image", &view, data);
    return AIRY_OK;
}

static void warn(const struct airy_found *s, const struct airy_catalog *catalog)
{
    const airy_job *job = s->job;
    if (!(s->noise > 0))
        airy_job_message(job, AIRY_LOG_WARN,
                         "the noise of half of the image or more is 0, and where it is, no source "
                         "is found: values there hardly differ");
    if (s->simple && s->background > s->threshold)
        airy_job_message(job, AIRY_LOG_WARN,
                         "the background, %.6g, is above the threshold itself: this method is for "
                         "images around 0",
                         s->background);
    if (s->v->matched > 0 && !s->sep)
        airy_job_message(job, AIRY_LOG_WARN,
                         "the filtered image has %.3g times the noise of independent pixels, which "
                         "counts",
                         s->correlation);
    if (isnan(catalog->jy) && s->v->catalog)
        airy_job_message(job, AIRY_LOG_WARN, "%s left empty: %s",
                         catalog->sky ? "flux_jy is" : "ra, dec and flux_jy are", catalog->why_not);
}

static airy_status put_numbers(const struct airy_found *s, const struct airy_catalog *catalog)
{
    airy_job_sum_up(s->job,
                    "%zu source%s above %.6g%s%s (%g x %.6g); noise alone would have %.3g pixels "
                    "there",
                    s->count, s->count == 1 ? "" : "s", s->threshold, catalog->unit[0] ? " " : "",
                    catalog->unit, s->v->sigma, s->noise, s->expected_false);
    AIRY_TRY(airy_job_put_text(s->job, "unit", catalog->unit));
    return airy_job_put_object(
        s->job, json_pack("{s:I, s:o, s:o, s:o, s:o}", "sources", (json_int_t)s->count, "threshold",
                          airy_json_real(s->threshold), "background", airy_json_real(s->background),
                          "noise", airy_json_real(s->noise), "expected_false_pixels",
                          airy_json_real(s->expected_false)));
}

static airy_status find(struct airy_found *s, struct airy_catalog *catalog)
{
    airy_catalog_warn(s->job, airy_job_image_name(&s->d), catalog->sky);
    AIRY_TRY(s->simple ? airy_find_simple(s) : airy_find_full(s));
    catalog->rows = s->count;
    AIRY_TRY(airy_found_columns(s, catalog));
    AIRY_TRY(airy_job_image_finish(&s->d));
    AIRY_TRY(put_numbers(s, catalog));
    AIRY_TRY(airy_found_put_catalog(s, catalog));
    if (s->v->regions)
        AIRY_TRY(airy_found_write_regions(s, catalog));
    AIRY_TRY(put_array(s, s->segmentation, "segmentation", s->v->segmentation));
    AIRY_TRY(put_array(s, s->level, "background_image", s->v->background));
    AIRY_TRY(put_array(s, s->noise_map, "noise_image", s->v->noise));
    AIRY_TRY(put_plane(s));
    warn(s, catalog);
    return AIRY_OK;
}

static airy_status run(airy_job *job, void *state)
{
    struct airy_found *s = state;
    const struct airy_sources_values *v = job->values;
    struct airy_catalog catalog;
    *s = (struct airy_found){
        .job = job,
        .v = v,
        .d = {.job = job, .from = &v->image, .bad = &v->bad, .compute = &v->compute},
        .simple = v->method == 1,
        .sep = airy_job_is_set(job, "compat"),
        .has_segmentation = v->segmentation || airy_job_is_wanted(job, "segmentation"),
        .mesh = {(size_t)v->mesh.values[0],
                 (size_t)v->mesh.values[v->mesh.count ? v->mesh.count - 1 : 0]}};
    AIRY_TRY(airy_find_filter(s));
    AIRY_TRY(airy_job_image_open_plane(&s->d, airy_job_is_set(job, "frame") ? &v->frame : NULL));
    AIRY_TRY(check_formats(s));
    AIRY_TRY(airy_job_image_begin(&s->d, 0, 1));
    airy_catalog_open(&catalog, &s->d.image);
    const airy_status status = find(s, &catalog);
    airy_catalog_close(&catalog);
    return status;
}

static void close_sources(void *state)
{
    struct airy_found *s = state;
    airy_found_free(s);
    airy_job_image_close(&s->d);
}

extern const struct airy_job_kind airy_job_sources;
const struct airy_job_kind airy_job_sources = {
    .name = "sources",
    .summary = "find the sources of an image of the sky, and measure them",
    .details =
        "The full method subtracts a background that it takes from the image, mesh by mesh, finds "
        "what is brighter than K times the noise there, splits what belongs to several sources, "
        "and measures it. The simple one clips the image until nothing is removed and takes K "
        "standard deviations of what is left as threshold, without the median: it is for images "
        "around 0. Fluxes are in Jy where the header has a beam and the unit Jy/beam, places in "
        "degrees where it has coordinates. Gives {sources, threshold, background, noise, "
        "expected_false_pixels, unit}; noise alone would have so many pixels above the threshold.",
    .groups = {{airy_image_rows, offsetof(struct airy_sources_values, image)},
               {rows, 0},
               {airy_bad_rows, offsetof(struct airy_sources_values, bad)},
               {airy_device_rows, offsetof(struct airy_sources_values, compute)},
               {airy_host_rows, offsetof(struct airy_sources_values, compute)}},
    .results = results,
    .values_size = sizeof(struct airy_sources_values),
    .state_size = sizeof(struct airy_found),
    .check = check,
    .run = run,
    .close = close_sources,
    .together = true,
};
