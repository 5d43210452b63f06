/* Distance, beam centre and tilts from the rings of a calibrant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/calibrate.h"
#include "airy/gaps.h"
#include "airy/pixels.h"
#include "base/memory.h"
#include "base/word.h"
#include "jobs/geometry.h"
#include "jobs/image_group.h"

#define DEGREE (3.14159265358979323846 / 180)

struct values {
    struct airy_image_values image;
    struct airy_geometry_values geometry;
    char *calibrant, *guess, *output;
    struct airy_job_list fix, free;
    struct airy_job_tuple center;
    struct airy_job_source mask;
    double search, search_dist, max_residual, saturation;
    size_t rings, sectors, frame, threads;
    bool no_search, force;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(calibrant, .name = "calibrant", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .argument = "NAME|FILE.D",
        .help =
            "names the calibrant of the table, such as LaB6, or a file of spacings in angstrom, "
            "one a line",
        .section = "Calibrant"),
    ROW(guess, .name = "guess", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .help = "begins with this PONI file, as {poni} does",
        .section = "Guess (with the geometry options below)"),
    ROW(center, .name = "center", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .unit = "pixels", .argument = "Y,X",
        .help =
            "sets the beam's place instead of poni1 and poni2, the row first; 0,0 is the corner "
            "of the first pixel"),
    ROW(search, .name = "search", .type = AIRY_PARAMETER_REAL, .lo = 1, .hi = 10000,
        .unit = "pixels", .argument = "PX", .fallback = "50",
        .help = "sets how far the guess of the beam's place may be off"),
    ROW(search_dist, .name = "search-dist", .type = AIRY_PARAMETER_REAL, .lo = 0.1, .hi = 50,
        .unit = "percent", .argument = "P", .fallback = "10",
        .help = "sets how far the guess of the distance may be off"),
    ROW(no_search, .name = "no-search", .type = AIRY_PARAMETER_FLAG,
        .help = "does not search, because the guess is good to a few pixels"),
    ROW(fix, .name = "fix", .type = AIRY_PARAMETER_TEXT, .list = true, .argument = "NAME,...",
        .fallback = "rot3,wavelength", .computed = true,
        .help = "keeps these values of the guess fixed: dist, poni1, poni2, rot1, rot2",
        .section = "Refinement"),
    ROW(free, .name = "free", .type = AIRY_PARAMETER_TEXT, .list = true, .argument = "wavelength",
        .help = "also refines the wavelength"),
    ROW(rings, .name = "rings", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = AIRY_CALIBRANT_RINGS,
        .fallback = "all that stand apart", .computed = true,
        .help = "uses the innermost N rings of the calibrant"),
    ROW(sectors, .name = "sectors", .type = AIRY_PARAMETER_WHOLE, .lo = 8, .hi = 3600,
        .fallback = "180", .help = "sets the largest number of points along a whole ring"),
    ROW(max_residual, .name = "max-residual", .type = AIRY_PARAMETER_REAL, .lo = 1e-3, .hi = 1000,
        .unit = "pixels", .argument = "PX", .fallback = "1",
        .help =
            "fails where the root mean square distance of the points from their rings is larger"),
    ROW(frame, .name = "frame", .type = AIRY_PARAMETER_WHOLE, .hi = 1e12, .fallback = "0",
        .help = "takes this frame of a stack", .section = "Image"),
    ROW(mask, .name = "mask", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .help =
            "leaves out the pixels where this image is not 0, beside those that the detector and "
            "the file mask"),
    ROW(saturation, .name = "saturation", .type = AIRY_PARAMETER_REAL, .argument = "V",
        .fallback = "the file's, or none", .computed = true,
        .help = "leaves out pixels of this value and more"),
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT.poni",
        .help = "writes the refined geometry into this file", .section = "Result"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"picture", AIRY_JOB_ARRAY, NULL,
     "[height, width]: the pixels, NaN where one does not count; made where it is wanted"},
    {"places", AIRY_JOB_TABLE, NULL, "a row a point: y, x, residual, sigma, ring and used"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"calibrant", AIRY_JOB_TEXT, NULL, "its name"},
    {"image", AIRY_JOB_TEXT, NULL, "the file of the rings"},
    {"geometry", AIRY_JOB_JSON, NULL, "the refined geometry"},
    {"errors", AIRY_JOB_JSON, NULL, "standard errors of what was refined"},
    {"held", AIRY_JOB_JSON, NULL, "what was not refined"},
    {"correlation", AIRY_JOB_JSON, NULL, "of two refined values each"},
    {"beam_px", AIRY_JOB_JSON, NULL, "row and column of the beam"},
    {"beam_error_px", AIRY_JOB_JSON, NULL, "their standard errors"},
    {"rms_px", AIRY_JOB_NUMBER, NULL, "residual of the used points in pixels"},
    {"rms_deg", AIRY_JOB_NUMBER, NULL, "the same in degrees"},
    {"points", AIRY_JOB_NUMBER, NULL, "points that were found"},
    {"used", AIRY_JOB_NUMBER, NULL, "points of the last fit"},
    {"rounds", AIRY_JOB_NUMBER, NULL, "rounds of the fit"},
    {"doubts", AIRY_JOB_JSON, NULL, "warnings: what the image determines poorly"},
    {"rings", AIRY_JOB_JSON, NULL, "each ring that was looked for"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open. */
struct calibration {
    airy_job *job;
    const struct values *v;
    const char *name; /* of the image */
    unsigned refine;
    airy_stack *stack;  /* NULL: the image is none */
    airy_image image;   /* where it is none */
    uint8_t *file_mask; /* of the stack */
    void *frame;        /* of the stack */
    airy_stack_meta meta;
    airy_dtype dtype;
    size_t height, width;
    const void *pixels; /* of the frame */
    double *values;     /* of the pixels, NaN where one does not count */
    airy_geometry guess;
    airy_calibrant calibrant;
    airy_calibration found;
};

/* ---- check ---- */

/* The value of this name; AIRY_CALIBRATE_COUNT: rot3, which is always held; -1: none. */
static int find_value(const char *name, size_t length)
{
    if (length == 4 && strncmp(name, "rot3", 4) == 0)
        return AIRY_CALIBRATE_COUNT;
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++) {
        const char *known = airy_calibrate_value_name((airy_calibrate_value)k);
        if (strlen(known) == length && strncmp(name, known, length) == 0)
            return k;
    }
    return -1;
}

/* Names with commas between are held, or are refined. */
static airy_status parse_names(unsigned *refine, const char *text, bool hold)
{
    for (const char *word = text; *word;) {
        const size_t n = strcspn(word, ",");
        const int k = find_value(word, n);
        const char *parameter = hold ? "fix" : "free";
        AIRY_FAIL_ON_IF(k == AIRY_CALIBRATE_COUNT && !hold, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s rot3: turns the detector about the beam, which no ring shows",
                        parameter);
        AIRY_FAIL_ON_IF(k < 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s %.*s: expected dist, poni1, poni2, rot1, rot2, rot3 or wavelength",
                        parameter, (int)(n < 64 ? n : 64), word);
        if (k < AIRY_CALIBRATE_COUNT)
            *refine = hold ? *refine & ~(1u << k) : *refine | 1u << k;
        word += n + (word[n] == ',');
    }
    return AIRY_OK;
}

static airy_status find_refined(unsigned *refine, const struct values *v)
{
    *refine = ((1u << AIRY_CALIBRATE_COUNT) - 1) & ~(1u << AIRY_CALIBRATE_WAVELENGTH);
    for (size_t i = 0; i < v->free.count; i++)
        AIRY_TRY(parse_names(refine, v->free.items[i], false));
    for (size_t i = 0; i < v->fix.count; i++)
        AIRY_TRY(parse_names(refine, v->fix.items[i], true));
    AIRY_FAIL_ON_IF(!*refine, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: nothing is left to refine", "fix");
    return AIRY_OK;
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const char *search = airy_job_is_set(job, "search")        ? "search"
                         : airy_job_is_set(job, "search-dist") ? "search-dist"
                                                               : NULL;
    unsigned refine;
    AIRY_TRY(airy_job_check_geometry(job));
    AIRY_FAIL_ON_IF(!v->calibrant, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is missing",
                    "calibrant");
    AIRY_FAIL_ON_IF(v->guess && v->geometry.poni, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and poni: give one of them", "guess");
    AIRY_FAIL_ON_IF(
        v->center.count && (airy_job_is_set(job, "poni1") || airy_job_is_set(job, "poni2")),
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s and poni1, poni2: give one of them", "center");
    AIRY_FAIL_ON_IF(v->no_search && search, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and %s: give one of them", "no-search", search);
    return find_refined(&refine, v);
}

/* ---- the image ---- */

static airy_status choose_frame(const struct calibration *k, size_t frames)
{
    AIRY_FAIL_HINT_IF(k->v->frame >= frames, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s %zu: %s has %zu frame%s, numbered from 0",
                      "frame", k->v->frame, k->name, frames, frames == 1 ? "" : "s");
    return AIRY_OK;
}

static airy_status read_of_stack(struct calibration *k)
{
    airy_stack_info info;
    size_t size;
    AIRY_TRY(airy_stack_get_info(k->stack, &info));
    AIRY_TRY(choose_frame(k, info.frames));
    k->height = info.height;
    k->width = info.width;
    k->dtype = info.dtype;
    size = info.height * info.width * airy_dtype_size(info.dtype);
    AIRY_TRY(airy_memory_calloc(&k->frame, size, 1, "a frame"));
    AIRY_TRY(airy_stack_read(k->stack, k->v->frame, k->frame, size));
    k->pixels = k->frame;
    AIRY_TRY(airy_stack_get_meta(k->stack, &k->meta));
    if (k->meta.has_mask) {
        AIRY_TRY(airy_memory_calloc((void **)&k->file_mask, info.height, info.width, "a mask"));
        AIRY_TRY(airy_stack_mask(k->stack, k->file_mask));
    }
    /* A file of arrays states nothing of the experiment. */
    if (airy_image_is_plain(k->name))
        k->meta = (airy_stack_meta){.has_mask = k->meta.has_mask};
    return k->v->output ? airy_job_keep_stack(k->stack, k->v->output) : AIRY_OK;
}

/* All but the last two dimensions of an array count its frames. */
static airy_status read_of_image(struct calibration *k)
{
    const airy_image *image = &k->image;
    AIRY_TRY(airy_job_load_real(&k->image, &k->v->image.image));
    AIRY_FAIL_IF(image->ndim < 2, AIRY_ERR_SHAPE,
                 "%s: has one dimension of %zu values, expected an image of 2 or more", k->name,
                 image->shape[0]);
    AIRY_TRY(choose_frame(k, airy_shape_count(image->shape, image->ndim - 2)));
    k->height = image->shape[image->ndim - 2];
    k->width = image->shape[image->ndim - 1];
    k->dtype = image->dtype;
    k->pixels = (const char *)image->data +
                k->v->frame * k->height * k->width * airy_dtype_size(image->dtype);
    return AIRY_OK;
}

static airy_status read_frame(struct calibration *k)
{
    const struct airy_image_values *from = &k->v->image;
    const airy_stack_params params = {.channel = from->channel};
    if (from->image.is_array)
        return read_of_image(k);
    const bool plain = airy_image_is_plain(k->name);
    const airy_status status = plain && airy_image_is_fits(k->name)
                                   ? AIRY_ERR_UNSUPPORTED
                                   : airy_stack_create_with(&k->stack, &k->name, 1, &params);
    return status == AIRY_OK ? read_of_stack(k) : plain ? read_of_image(k) : status;
}

static void release_frame(struct calibration *k)
{
    if (k->v)
        airy_job_unload_image(&k->image, &k->v->image.image);
    k->image = (airy_image){.ndim = 0};
    free(k->file_mask);
    free(k->frame);
    k->file_mask = NULL;
    k->frame = NULL;
    k->pixels = NULL;
}

/* Pixels that do not count become NaN. */
static airy_status mask_values(struct calibration *k)
{
    const struct values *v = k->v;
    const size_t count = k->height * k->width;
    const airy_image frame = {
        .dtype = k->dtype, .ndim = 1, .shape = {count}, .data = (void *)k->pixels};
    airy_image given = {.ndim = 0};
    airy_pixels pixels = {.mask = NULL};
    const airy_pixel_params params = {
        .mask = {.path = v->mask.path, .image = v->mask.is_array ? &given : NULL},
        .file_mask = k->file_mask};
    if (v->mask.is_array)
        AIRY_TRY(airy_job_load_image(&given, &v->mask));
    airy_status status =
        airy_pixels_load(&pixels, &params, &k->guess.detector, k->height, k->width);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)&k->values, count, sizeof(double), "an image");
    const double saturation = airy_job_is_set(k->job, "saturation") ? v->saturation
                              : k->meta.has_saturation              ? k->meta.saturation
                                                                    : (double)INFINITY;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        const double value = airy_image_value(&frame, i);
        const bool dummy = (k->guess.detector.dectris_dummy && value >= -3 && value <= -1) ||
                           airy_gap_is(k->dtype, value, false); /* in any format */
        k->values[i] = pixels.mask[i] || dummy || value >= saturation ? (double)NAN : value;
    }
    airy_pixels_free(&pixels);
    release_frame(k);
    return status;
}

/* ---- the guess ---- */

/* The beam's place becomes the PONI of a geometry whose distance and tilts are known. */
static void center_beam(airy_geometry *g, const double center[2])
{
    const airy_detector *d = &g->detector;
    const int o = d->orientation;
    const double y = o == 1 || o == 2 ? (double)d->height - center[0] : center[0],
                 x = o == 1 || o == 4 ? (double)d->width - center[1] : center[1];
    g->poni1 = y * d->pixel1 - g->dist * tan(g->rot2) / cos(g->rot1);
    g->poni2 = x * d->pixel2 + g->dist * tan(g->rot1);
}

/* known: the beam's place is that of a file. */
static airy_status check_guess(const struct calibration *k, const airy_geometry_params *given,
                               bool known)
{
    const airy_geometry *g = &k->guess;
    const bool has_beam = known || k->v->center.count || (given->has_poni1 && given->has_poni2);
    const char *missing = !(g->dist > 0)         ? "distance"
                          : !(g->wavelength > 0) ? "wavelength"
                          : !has_beam            ? "beam centre"
                                                 : NULL;
    const airy_hint hint = !(g->dist > 0)         ? AIRY_HINT_GIVE_DISTANCE
                           : !(g->wavelength > 0) ? AIRY_HINT_GIVE_WAVELENGTH
                                                  : AIRY_HINT_GIVE_BEAM;
    if (missing)
        return airy_hinted(hint, airy_fail(AIRY_ERR_PARAM, "the guess lacks the %s%s%s%s", missing,
                                           k->meta.contradicted ? " (" : "",
                                           k->meta.contradicted ? k->meta.unusable : "",
                                           k->meta.contradicted ? ")" : ""));
    AIRY_TRY(airy_geometry_check(g));
    airy_geometry_warn(g, given);
    return AIRY_OK;
}

/* A wavelength that is given and not the input's is used; it decides the distance. */
static void report_wavelength(const struct calibration *k, const airy_geometry_params *given)
{
    char from[512];
    const double used = k->guess.wavelength, stated = k->meta.geometry.wavelength;
    if (!(k->meta.geometry_parts & AIRY_GEOMETRY_WAVELENGTH) || !(stated > 0) ||
        fabs(used / stated - 1) < 1e-4)
        return;
    if (given->wavelength != 0)
        snprintf(from, sizeof(from), "wavelength=%g", given->wavelength);
    else if (given->energy != 0)
        snprintf(from, sizeof(from), "energy=%g", given->energy);
    else
        snprintf(from, sizeof(from), "%s=%.400s", k->v->guess ? "guess" : "poni",
                 k->v->guess ? k->v->guess : k->v->geometry.poni);
    airy_job_message(k->job, AIRY_LOG_WARN,
                     "%s gives a wavelength of %.6g m, the file gives %.6g m; %.6g m is used", from,
                     used, stated, used);
}

static airy_status make_guess(struct calibration *k)
{
    const struct values *v = k->v;
    const airy_geometry_params given = airy_job_geometry_params(k->job, &v->geometry, k->name);
    const char *poni = v->guess ? v->guess : v->geometry.poni;
    airy_geometry *g = &k->guess;
    if (poni) {
        AIRY_TRY(airy_geometry_read(g, poni));
    } else if (k->meta.has_geometry) {
        *g = k->meta.geometry;
    } else if (!given.detector && !given.has_pixel) {
        if (airy_detector_find_shape(&g->detector, k->height, k->width) != AIRY_OK)
            return airy_hinted(AIRY_HINT_GIVE_DETECTOR,
                               airy_fail(AIRY_ERR_PARAM,
                                         "no detector of the registry has %zu x %zu pixels",
                                         k->height, k->width));
        airy_job_message(k->job, AIRY_LOG_WARN, "detector: %s, by the shape of the image",
                         g->detector.name);
    }
    AIRY_TRY(airy_geometry_override(g, &given));
    AIRY_TRY(airy_geometry_fit(g, k->height, k->width));
    if (v->center.count)
        center_beam(g, v->center.values);
    AIRY_TRY(check_guess(k, &given, poni || k->meta.has_geometry));
    report_wavelength(k, &given);
    return airy_calibrant_load(&k->calibrant, v->calibrant, g->wavelength);
}

static airy_status open_calibration(airy_job *job, void *state)
{
    struct calibration *k = state;
    const struct values *v = job->values;
    *k = (struct calibration){.job = job, .v = v, .name = "image"};
    if (!v->image.image.is_array)
        k->name = v->image.image.path;
    AIRY_FAIL_ON_IF(v->output && !v->force && access(v->output, F_OK) == 0, AIRY_ERR_EXISTS,
                    AIRY_SUBJECT_FILE, "'%s' is there already", v->output);
    AIRY_TRY(find_refined(&k->refine, v));
    AIRY_TRY(read_frame(k));
    AIRY_TRY(make_guess(k));
    return mask_values(k);
}

/* ---- run ---- */

static airy_status calibrate(struct calibration *k)
{
    const struct values *v = k->v;
    const size_t count = k->height * k->width;
    float *image;
    AIRY_TRY(airy_memory_calloc((void **)&image, count, sizeof(*image), "an image"));
    for (size_t i = 0; i < count; i++)
        image[i] = (float)k->values[i];
    const airy_calibrate_params params = {.image = image,
                                          .guess = k->guess,
                                          .calibrant = &k->calibrant,
                                          .refine = k->refine,
                                          .no_search = v->no_search,
                                          .search_px = v->search,
                                          .search_dist = v->search_dist / 100,
                                          .rings = v->rings,
                                          .sectors = v->sectors,
                                          .max_residual_px = v->max_residual,
                                          .threads = (unsigned)v->threads};
    airy_job_work_begins(k->job);
    const airy_status status = airy_calibrate(&k->found, &params);
    airy_job_work_ends(k->job);
    free(image);
    if (status == AIRY_OK)
        airy_job_message(k->job, AIRY_LOG_INFO, "%d rounds in %.2f s", k->found.iterations,
                         airy_job_seconds(k->job));
    return status;
}

static airy_status write_poni(const struct calibration *k)
{
    char notes[4600];
    snprintf(notes, sizeof(notes),
             "airy %s calibrate, calibrant %s\nimage %.4000s\nresidual %.4f pixels (rms) of %zu "
             "points on %zu rings",
             airy_version(), k->calibrant.name, k->name, k->found.rms_px, k->found.used,
             k->found.ring_count);
    return airy_geometry_write_noted(&k->found.geometry, notes, k->v->output);
}

static const struct {
    unsigned bit;
    const char *text, *word;
} doubts[] = {
    {AIRY_CALIBRATE_ONE_RING,
     "one ring alone: the tilts rest on its shape; fix=rot1,rot2 holds them", "one_ring"},
    {AIRY_CALIBRATE_TILT,
     "the rings hardly show the tilts (above 0.5 degree of error); fix=rot1,rot2 holds them",
     "tilt"},
    {AIRY_CALIBRATE_SCALE,
     "distance and wavelength cannot be distinguished at these angles; hold one of them", "scale"},
    {AIRY_CALIBRATE_ARC, "the points lie on less than a third of the turn about the beam", "arc"},
    {AIRY_CALIBRATE_DISTANCE, "the distance is uncertain by more than 1 percent", "distance"},
    {AIRY_CALIBRATE_OTHERS,
     "the image has many rings that the calibrant lacks: is it the right one, and the wavelength?",
     "other_rings"},
    {AIRY_CALIBRATE_UNEVEN,
     "whole rings lie inside or outside of their places: is it the right calibrant and wavelength?",
     "uneven"},
};

static json_t *report_doubts(const struct calibration *k)
{
    json_t *words = json_array();
    for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++)
        if (k->found.doubts & doubts[i].bit) {
            airy_job_message(k->job, AIRY_LOG_WARN, "note: %s", doubts[i].text);
            json_array_append_new(words, json_string(doubts[i].word));
        }
    return words;
}

static json_t *rings_json(const struct calibration *k)
{
    json_t *rings = json_array();
    for (size_t i = 0; i < k->found.ring_count; i++) {
        const airy_calibrate_ring *r = &k->found.rings[i];
        const airy_calibrant_ring *c = &k->calibrant.rings[r->index];
        const double none = (double)NAN;
        json_array_append_new(
            rings, json_pack("{s:I, s:[i,i,i], s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "ring",
                             (json_int_t)r->index + 1, "hkl", c->hkl[0], c->hkl[1], c->hkl[2],
                             "d_angstrom", airy_json_real(1e10 * c->spacing), "2th_deg",
                             airy_json_real(r->tth / DEGREE), "sectors", (json_int_t)r->sectors,
                             "points", (json_int_t)r->points, "used", (json_int_t)r->used, "rms_px",
                             airy_json_real(r->used ? r->rms : none), "mean_px",
                             airy_json_real(r->used ? r->mean : none), "fwhm_px",
                             airy_json_real(r->used ? r->width : none)));
    }
    return rings;
}

static json_t *pair_json(const double pair[2])
{
    return isfinite(pair[0]) && isfinite(pair[1]) ? json_pack("[f,f]", pair[0], pair[1])
                                                  : json_null();
}

/* What is refined with its errors, and what is not. */
static airy_status put_fit(const struct calibration *k)
{
    const airy_calibration *f = &k->found;
    json_t *errors = json_object(), *held = json_array(), *correlation = json_object();
    for (int i = 0; i < AIRY_CALIBRATE_COUNT; i++) {
        const char *name = airy_calibrate_value_name((airy_calibrate_value)i);
        if (f->refined[i])
            json_object_set_new(errors, name, airy_json_real(f->error[i]));
        else
            json_array_append_new(held, json_string(name));
        for (int l = 0; l < i && f->refined[i]; l++)
            if (f->refined[l]) {
                char pair[64];
                snprintf(pair, sizeof(pair), "%s,%s",
                         airy_calibrate_value_name((airy_calibrate_value)l), name);
                json_object_set_new(correlation, pair, airy_json_real(f->correlation[l][i]));
            }
    }
    json_array_append_new(held, json_string("rot3"));
    AIRY_TRY(airy_job_put_json(k->job, "errors", errors));
    AIRY_TRY(airy_job_put_json(k->job, "held", held));
    return airy_job_put_json(k->job, "correlation", correlation);
}

static airy_status put_points(const struct calibration *k)
{
    static const struct airy_job_column columns[] = {
        {"y", "pix", AIRY_DTYPE_F64, offsetof(airy_calibrate_point, y)},
        {"x", "pix", AIRY_DTYPE_F64, offsetof(airy_calibrate_point, x)},
        {"residual", "pix", AIRY_DTYPE_F64, offsetof(airy_calibrate_point, residual)},
        {"sigma", "pix", AIRY_DTYPE_F64, offsetof(airy_calibrate_point, sigma)},
        {"ring", NULL, AIRY_DTYPE_U32, offsetof(airy_calibrate_point, ring)},
        {"used", NULL, AIRY_DTYPE_U8, offsetof(airy_calibrate_point, used)}};
    return airy_job_put_structs(k->job, "places", columns, sizeof(columns) / sizeof(columns[0]),
                                k->found.points, k->found.point_count,
                                sizeof(airy_calibrate_point));
}

static airy_status put_geometry(const struct calibration *k)
{
    char *text;
    AIRY_TRY(airy_geometry_print(&text, &k->found.geometry));
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    return airy_job_put_json(k->job, "geometry", json);
}

static airy_status put_results(struct calibration *k)
{
    const airy_calibration *f = &k->found;
    airy_job *job = k->job;
    const airy_host_view view = {
        .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {k->height, k->width}};
    if (k->v->output)
        AIRY_TRY(airy_job_put_text(job, "output", k->v->output));
    AIRY_TRY(airy_job_put_text(job, "calibrant", k->calibrant.name));
    AIRY_TRY(airy_job_put_text(job, "image", k->name));
    AIRY_TRY(put_geometry(k));
    AIRY_TRY(put_fit(k));
    AIRY_TRY(airy_job_put_json(job, "beam_px", pair_json(f->beam)));
    AIRY_TRY(airy_job_put_json(job, "beam_error_px", pair_json(f->beam_error)));
    airy_job_put_number(job, "rms_px", f->rms_px);
    airy_job_put_number(job, "rms_deg", f->rms_rad / DEGREE);
    airy_job_put_number(job, "points", (double)f->point_count);
    airy_job_put_number(job, "used", (double)f->used);
    airy_job_put_number(job, "rounds", (double)f->iterations);
    AIRY_TRY(airy_job_put_json(job, "doubts", report_doubts(k)));
    AIRY_TRY(airy_job_put_json(job, "rings", rings_json(k)));
    AIRY_TRY(put_points(k));
    if (airy_job_is_wanted(job, "picture")) {
        airy_job_put_array(job, "picture", &view, k->values);
        k->values = NULL;
    }
    airy_job_sum_up(job, "residual %.4f pixels (rms) of %zu of %zu points on %zu ring%s", f->rms_px,
                    f->used, f->point_count, f->ring_count, f->ring_count == 1 ? "" : "s");
    return AIRY_OK;
}

static airy_status run(airy_job *job, void *state)
{
    struct calibration *k = state;
    (void)job;
    AIRY_TRY(calibrate(k));
    if (k->v->output)
        AIRY_TRY(write_poni(k));
    return put_results(k);
}

static void close_calibration(void *state)
{
    struct calibration *k = state;
    airy_calibration_free(&k->found);
    airy_calibrant_free(&k->calibrant);
    release_frame(k);
    airy_stack_destroy(&k->stack);
    free(k->values);
}

extern const struct airy_job_kind airy_job_calibrate;
const struct airy_job_kind airy_job_calibrate = {
    .name = "calibrate",
    .summary = "distance, beam centre and tilts from the rings of a calibrant",
    .details =
        "Searches rings near the guess, measures them in sectors and fits the geometry by least "
        "squares. Without a detector or a pixel size the detector is the one of the image's shape. "
        "A DECTRIS file's own geometry is a guess as well.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_geometry_rows, offsetof(struct values, geometry)},
               {airy_threads_rows, offsetof(struct values, threads)}},
    .without = "parallax", /* the detector is taken for thin */
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct calibration),
    .check = check,
    .open = open_calibration,
    .run = run,
    .close = close_calibration,
};
