/* The plan's axis and dispersion from recordings of mirrors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/oct_calibrate.h"
#include "airy/provenance.h"
#include "base/word.h"
#include "jobs/oct/oct.h"

enum { MOST_LINES = 4096, MIRRORS = 2 };

struct values {
    struct airy_job_list mirrors, darks;
    char *output, *plan;
    int fit;
    size_t degree;
    double distance_um;
    bool force;
};

static const char *const fits[] = {"auto", "both", "axis", "dispersion", NULL};
_Static_assert(AIRY_OCT_FIT_DISPERSION == 3 && AIRY_OCT_FIT_COUNT == 4, "fits are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(mirrors, .name = "mirror", .type = AIRY_PARAMETER_PATH, .list = true,
        .role = AIRY_ROLE_INPUT, .argument = "MIRROR",
        .help = "recordings of a mirror at one depth, or at two"),
    ROW(plan, .name = "plan", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .argument = "START.json", .fallback = "a Hann window", .computed = true,
        .help = "begins with this plan: what headerless files are, the window, an axis or a "
                "dispersion that is known; the new plan takes over the rest of it",
        .section = "Recordings"),
    ROW(darks, .name = "dark", .type = AIRY_PARAMETER_PATH, .list = true, .role = AIRY_ROLE_READ,
        .argument = "FILE", .fallback = "the plan's background line", .computed = true,
        .help = "subtracts this line, the mean where there are several; it is given once for both "
                "mirrors, or once for each"),
    ROW(distance_um, .name = "distance", .type = AIRY_PARAMETER_REAL, .lo = 1e-3, .hi = 1e7,
        .unit = "um", .argument = "UM", .fallback = "unknown", .computed = true,
        .help = "sets the distance between the mirrors, for the depth of a bin"),
    ROW(fit, .name = "fit", .type = AIRY_PARAMETER_WORD, .words = fits, .argument = "WHAT",
        .fallback = "auto",
        .help = "fits both, axis or dispersion; auto: both of two mirrors, of one the axis, or "
                "dispersion where the plan has an axis",
        .section = "Fit"),
    ROW(degree, .name = "degree", .type = AIRY_PARAMETER_WHOLE, .lo = AIRY_OCT_CALIBRATE_MIN_DEGREE,
        .hi = AIRY_OCT_CALIBRATE_MAX_DEGREE, .argument = "N",
        .fallback = "the lowest that leaves no more phase than noise", .computed = true,
        .help = "sets the degree of the axis as a polynomial; 3 is written as poly, higher ones as "
                "a curve"),
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "PLAN.json",
        .help = "writes the plan for airy oct into this file", .section = "Result"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"samples", AIRY_JOB_NUMBER, NULL, "of a line"},
    {"mirrors", AIRY_JOB_JSON, NULL,
     "of each mirror {input, lines, before, after}; of its peak before and after {bin, width_bins, "
     "theory_bins, phase_rms}, and depth_um, width_um, theory_um where a bin is known"},
    {"degree", AIRY_JOB_NUMBER, NULL, "of the positions, where the axis was fitted"},
    {"poly", AIRY_JOB_NUMBERS, NULL, "the axis of degree 3"},
    {"dispersion", AIRY_JOB_NUMBERS, NULL, "the phase in radians, where it was fitted"},
    {"depth_step_um", AIRY_JOB_NUMBER, NULL, "micrometres of a bin, where known"},
    {"plan", AIRY_JOB_JSON, "output", "the plan for the job oct"},
    {"profiles", AIRY_JOB_ARRAY, NULL,
     "[mirrors, 2, bins]: magnitudes of each mirror before and after"},
    {"bins", AIRY_JOB_ARRAY, NULL, "[bins]: where these are, in bins of a profile"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* Lines in double; [count][samples]. */
struct recording {
    double *lines;
    size_t count, samples;
};

/* Sample i of a line as it was recorded. */
static double sample_at(const airy_oct_params *plan, airy_dtype dtype, const void *line, size_t i)
{
    const uint8_t *bytes = line;
    const int shift = plan->bit_shift;
    if (plan->packing) {
        const size_t bits = airy_oct_packed_bits(plan);
        uint32_t code = 0;
        for (size_t b = 0; b < bits; b++) {
            const size_t at = i * bits + b;
            const uint32_t bit = bytes[at / 8] >> (plan->big_endian ? 7 - at % 8 : at % 8) & 1u;
            code |= bit << (plan->big_endian ? bits - 1 - b : b);
        }
        return code >> shift;
    }
    if (dtype == AIRY_DTYPE_U8)
        return bytes[i] >> shift;
    uint8_t own[4];
    const size_t size = airy_dtype_size(dtype);
    for (size_t b = 0; b < size; b++) /* the machine's order is little-endian, as everywhere */
        own[b] = bytes[i * size + (plan->big_endian ? size - 1 - b : b)];
    if (dtype == AIRY_DTYPE_F32) {
        float v;
        memcpy(&v, own, sizeof(v));
        return (double)v;
    }
    if (dtype == AIRY_DTYPE_U16) {
        uint16_t v;
        memcpy(&v, own, sizeof(v));
        return v >> shift;
    }
    int16_t v;
    memcpy(&v, own, sizeof(v));
    return v >> shift;
}

/* NPY of any type and number of axes, also a single line. */
static airy_status copy_lines(struct recording *r, const airy_image *image, const char *path)
{
    size_t count = 1;
    for (int i = 0; i < image->ndim; i++)
        count *= image->shape[i];
    r->samples = image->ndim > 0 ? image->shape[image->ndim - 1] : 0;
    r->count = r->samples ? count / r->samples : 0;
    r->count = r->count < MOST_LINES ? r->count : MOST_LINES;
    AIRY_FAIL_ON_IF(r->count == 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_FILE, "%s: has no samples", path);
    r->lines = malloc(r->count * r->samples * sizeof(double));
    AIRY_FAIL_IF(!r->lines, AIRY_ERR_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < r->count * r->samples; i++)
        r->lines[i] = airy_image_value(image, i);
    return AIRY_OK;
}

static airy_status read_npy(struct recording *r, const char *path)
{
    airy_image image = {0};
    AIRY_TRY(airy_image_read_real(&image, path));
    const airy_status status = copy_lines(r, &image, path);
    airy_image_free(&image);
    return status;
}

/* Add the lines of a frame; *frame has room for it. */
static void add_frame(struct recording *r, const struct oct_frames *from, const airy_oct_params *as,
                      const char *frame)
{
    const size_t line = from->frame_bytes / from->info.height;
    for (size_t l = 0; l < from->info.height && r->count < MOST_LINES; l++, r->count++)
        for (size_t i = 0; i < r->samples; i++)
            r->lines[r->count * r->samples + i] = sample_at(as, from->dtype, frame + l * line, i);
}

/* Frames one by one until there are enough lines. */
static airy_status read_frames(struct recording *r, const struct oct_frames *from,
                               const airy_oct_params *plan)
{
    const airy_stack_info *info = &from->info;
    const size_t bits = airy_oct_packed_bits(plan);
    airy_oct_params as = *plan;
    as.big_endian = plan->big_endian && (plan->packing || info->headerless);
    r->samples = bits ? info->width * 8 / bits : info->width;
    char *frame = malloc(from->frame_bytes + 1);
    r->lines = malloc(MOST_LINES * r->samples * sizeof(double) + 1);
    airy_status status =
        frame && r->lines ? AIRY_OK : airy_fail(AIRY_ERR_MEMORY, "%s: out of memory", from->name);
    for (size_t f = 0; status == AIRY_OK && f < info->frames && r->count < MOST_LINES; f++) {
        status = airy_oct_frames_read(from, f, frame);
        if (status == AIRY_OK)
            add_frame(r, from, &as, frame);
    }
    free(frame);
    if (status != AIRY_ERR_ENDED)
        AIRY_TRY(status);
    AIRY_FAIL_ON_IF(r->count == 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_FILE, "%s: no whole frame is in it",
                    from->name);
    return AIRY_OK;
}

/* What is open during a run. */
struct calibration {
    airy_job *job;
    const struct values *v;
    struct oct_patience patience;
    airy_oct_config config;
    struct recording mirror[MIRRORS], dark[MIRRORS];
    airy_oct_calibration found;
};

static bool is_unwanted(void *user)
{
    return airy_oct_is_stopped(user);
}

/* A mirror's or a dark recording. Lines count, not frames: a headerless file need not hold whole ones. */
static airy_status read_recording(struct calibration *c, const char *path, struct recording *r)
{
    const airy_oct_config *config = &c->config;
    const airy_oct_params *plan = &config->params;
    const size_t bits = airy_oct_packed_bits(plan);
    if (airy_has_suffix(path, ".npy") && !plan->packing)
        return read_npy(r, path);
    const airy_raw_frames raw = {.dtype = config->converted ? config->converted : plan->dtype,
                                 .height = 1,
                                 .width = bits ? (plan->samples * bits + 7) / 8 : plan->samples,
                                 .offset = config->header_bytes};
    const airy_stack_params params = {.raw = &raw,
                                      .raw_if_headerless = true,
                                      .raw_rest = true,
                                      .npy_height = 1,
                                      .pipe = true,
                                      .stop = is_unwanted,
                                      .stop_user = &c->patience};
    const struct airy_job_source from = {.path = (char *)path};
    struct oct_frames frames = {.stack = NULL};
    airy_status status = airy_oct_frames_open(&frames, &from, &params);
    if (status == AIRY_ERR_PARAM && (raw.width == 0 || !config->has_dtype))
        status = airy_hinted(AIRY_HINT_STATED,
                             airy_fail(AIRY_ERR_PARAM,
                                       "%s is headerless; a plan describes it (samples and "
                                       "dtype are needed)",
                                       path));
    if (status == AIRY_OK)
        status = read_frames(r, &frames, plan);
    airy_oct_frames_close(&frames);
    return status;
}

/* The mean line, in the first one's place. */
static void take_mean(struct recording *r)
{
    for (size_t i = 0; i < r->samples; i++) {
        double sum = 0;
        for (size_t l = 0; l < r->count; l++)
            sum += r->lines[l * r->samples + i];
        r->lines[i] = sum / (double)r->count;
    }
    r->count = 1;
}

#define REFUSE_IF(cond, ...)                                                                       \
    AIRY_FAIL_HINT_IF(cond, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_NONE, __VA_ARGS__)

static airy_status read_all(struct calibration *c)
{
    const struct values *v = c->v;
    const struct airy_job_list *mirrors = &v->mirrors, *darks = &v->darks;
    for (size_t m = 0; m < mirrors->count; m++)
        AIRY_TRY(read_recording(c, mirrors->items[m], &c->mirror[m]));
    for (size_t d = 0; d < darks->count; d++) {
        AIRY_TRY(read_recording(c, darks->items[d], &c->dark[d]));
        take_mean(&c->dark[d]);
    }
    const size_t samples = c->mirror[0].samples, planned = c->config.params.samples;
    for (size_t m = 1; m < mirrors->count; m++)
        REFUSE_IF(c->mirror[m].samples != samples,
                  "%s has lines of %zu samples, %s of %zu: expected two of a kind",
                  mirrors->items[0], samples, mirrors->items[m], c->mirror[m].samples);
    for (size_t d = 0; d < darks->count; d++)
        AIRY_FAIL_HINT_IF(c->dark[d].samples != samples, AIRY_ERR_SHAPE, AIRY_HINT_STATED,
                          AIRY_SUBJECT_PARAMETER,
                          "%s %s has lines of %zu samples, expected %zu as the mirror", "dark",
                          darks->items[d], c->dark[d].samples, samples);
    REFUSE_IF(planned && planned != samples, "plan %s: samples = %zu, but %s has lines of %zu",
              v->plan, planned, mirrors->items[0], samples);
    return AIRY_OK;
}

static airy_status calibrate(struct calibration *c)
{
    const struct values *v = c->v;
    airy_oct_params *plan = &c->config.params;
    plan->samples = c->mirror[0].samples;
    if (!v->plan)
        plan->window = AIRY_OCT_WINDOW_HANN;
    airy_oct_calibrate_params params = {.samples = plan->samples,
                                        .mirrors = v->mirrors.count,
                                        .fit = (airy_oct_fit)v->fit,
                                        .degree = (int)v->degree,
                                        .start = plan,
                                        .distance_m = 1e-6 * v->distance_um};
    for (size_t m = 0; m < v->mirrors.count; m++) {
        const struct recording *dark = &c->dark[v->darks.count == 2 ? m : 0];
        params.mirror[m] = (airy_oct_mirror){.lines = c->mirror[m].lines,
                                             .count = c->mirror[m].count,
                                             .dark = dark->lines ? dark->lines
                                                     : plan->background == AIRY_OCT_BACKGROUND_LINE
                                                         ? plan->background_line
                                                         : NULL};
    }
    return airy_oct_calibrate(&c->found, &params);
}

/* ---- results ---- */

/* The plan with what was found; its tables are those of the calibration. */
static airy_oct_config make_plan(const struct calibration *c)
{
    const airy_oct_calibration *found = &c->found;
    airy_oct_config config = c->config;
    airy_oct_params *plan = &config.params;
    if (found->has_axis) {
        plan->axis = found->degree == 3 ? AIRY_OCT_AXIS_POLY : AIRY_OCT_AXIS_CURVE;
        plan->axis_table = found->degree == 3 ? NULL : found->curve;
        memcpy(plan->poly, found->poly, sizeof(plan->poly));
        /* Positions between samples: linear interpolation loses depth that the curve was found for. */
        plan->interpolation = c->v->plan ? plan->interpolation : AIRY_OCT_CUBIC;
    }
    if (found->has_dispersion) {
        plan->has_dispersion = true;
        plan->phase_table = NULL;
        memcpy(plan->dispersion, found->dispersion, sizeof(plan->dispersion));
    }
    return config;
}

static airy_status put_plan(const struct calibration *c)
{
    const struct values *v = c->v;
    const airy_oct_config config = make_plan(c);
    char *text = NULL;
    if (airy_job_keeps(c->job, "plan")) {
        AIRY_TRY(airy_oct_config_text(&text, &config));
        json_t *json = json_loads(text, 0, NULL);
        free(text);
        AIRY_TRY(airy_job_put_json(c->job, "plan", json));
    }
    if (v->output)
        AIRY_TRY(airy_oct_config_write(&config, v->output, v->force));
    if (!v->plan && config.params.background == AIRY_OCT_BACKGROUND_NONE)
        airy_job_message(c->job, AIRY_LOG_WARN,
                         "the plan subtracts no background: a picture made with it is brightest "
                         "at depth 0; \"background\": \"mean\" in %s changes that",
                         v->output ? v->output : "the plan");
    return AIRY_OK;
}

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *peak_json(const airy_oct_peak *peak, double step_um)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "bin", number_json(peak->position),
                             "width_bins", number_json(peak->width), "theory_bins",
                             number_json(peak->limit), "phase_rms", number_json(peak->phase_rms));
    if (json && isfinite(step_um)) {
        json_object_set_new(json, "depth_um", number_json(peak->position * step_um));
        json_object_set_new(json, "width_um", number_json(peak->width * step_um));
        json_object_set_new(json, "theory_um", number_json(peak->limit * step_um));
    }
    return json;
}

static airy_status put_mirrors(const struct calibration *c, double um)
{
    json_t *mirrors = json_array();
    for (size_t m = 0; m < c->found.mirrors; m++) {
        char *name = NULL;
        const airy_status status = airy_utf8_copy(&name, c->v->mirrors.items[m]);
        if (status != AIRY_OK) {
            json_decref(mirrors);
            return status;
        }
        json_array_append_new(mirrors, json_pack("{s:s, s:I, s:o, s:o}", "input", name, "lines",
                                                 (json_int_t)c->mirror[m].count, "before",
                                                 peak_json(&c->found.before[m], um), "after",
                                                 peak_json(&c->found.after[m], um)));
        free(name);
    }
    return airy_job_put_json(c->job, "mirrors", mirrors);
}

/* The calibration's own memory becomes the job's. */
static airy_status put_profiles(struct calibration *c)
{
    airy_oct_calibration *found = &c->found;
    const size_t count = found->profile_count;
    const airy_host_view profiles = {.dtype = AIRY_DTYPE_F64,
                                     .ndim = 3,
                                     .shape = {found->mirrors, 2, count}},
                         view = {.dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {count}};
    double *bins = malloc(count * sizeof(*bins));
    AIRY_FAIL_IF(!bins, AIRY_ERR_MEMORY, "out of memory for %zu bins", count);
    for (size_t i = 0; i < count; i++)
        bins[i] = found->profile_step * (double)i;
    airy_job_put_array(c->job, "bins", &view, bins);
    airy_job_put_array(c->job, "profiles", &profiles, found->profile);
    found->profile = NULL;
    return AIRY_OK;
}

static airy_status put_results(struct calibration *c)
{
    airy_job *job = c->job;
    const airy_oct_calibration *f = &c->found;
    const double um = 1e6 * f->depth_step_m;
    if (c->v->output)
        AIRY_TRY(airy_job_put_text(job, "output", c->v->output));
    AIRY_TRY(put_mirrors(c, um));
    AIRY_TRY(put_profiles(c));
    airy_job_put_number(job, "samples", (double)f->samples);
    if (f->has_axis)
        airy_job_put_number(job, "degree", f->degree);
    if (f->degree == 3)
        airy_job_put_numbers(job, "poly", f->poly, AIRY_OCT_TERMS);
    if (f->has_dispersion)
        airy_job_put_numbers(job, "dispersion", f->dispersion, AIRY_OCT_TERMS);
    if (isfinite(um))
        airy_job_put_number(job, "depth_step_um", um);
    airy_job_sum_up(job, "peaks of %.3f bins, theory %.3f", f->after[0].width, f->after[0].limit);
    return AIRY_OK;
}

static airy_status run(airy_job *job, void *state)
{
    struct calibration *c = state;
    *c = (struct calibration){.job = job, .v = job->values, .patience = {.job = job}};
    if (c->v->plan)
        AIRY_TRY(airy_oct_config_read(&c->config, c->v->plan));
    AIRY_TRY(read_all(c));
    AIRY_TRY(calibrate(c));
    AIRY_TRY(put_results(c));
    return put_plan(c);
}

static void close_calibration(void *state)
{
    struct calibration *c = state;
    airy_oct_calibration_free(&c->found);
    for (size_t m = 0; m < MIRRORS; m++) {
        free(c->mirror[m].lines);
        free(c->dark[m].lines);
    }
    airy_oct_config_free(&c->config);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const size_t mirrors = v->mirrors.count, darks = v->darks.count;
    AIRY_FAIL_ON_IF(mirrors > MIRRORS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: %zu recordings, expected 1 or 2", "mirror", mirrors);
    AIRY_FAIL_ON_IF(darks > 1 && darks != mirrors, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is given %zu times, expected once, or once for each of %zu mirror%s",
                    "dark", darks, mirrors, mirrors == 1 ? "" : "s");
    AIRY_FAIL_ON_IF(airy_job_is_set(job, "distance") && mirrors != MIRRORS, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s lies between two mirrors, and there is one",
                    "distance");
    return AIRY_OK;
}

extern const struct airy_job_kind airy_job_oct_calibrate;
const struct airy_job_kind airy_job_oct_calibrate = {
    .name = "oct-calibrate",
    .summary = "axis and dispersion of an OCT spectrometer from recordings of mirrors",
    .details =
        "Two recordings of a mirror at different depths, on the same side of depth 0, give both "
        "the places of the samples on the axis of wavenumbers and the dispersion between the arms; "
        "one gives either of them. Files are NPY (also one line alone), HDF5, "
#if AIRY_HAVE_TIFF
        "TIFF, "
#endif
        "or as the plan describes them; up to 4096 lines of each are taken, turned to the same "
        "phase. The result is a plan for the job oct, with the widths of the peaks at half of "
        "their magnitude, before, after and as theory has them for the spectrum and the window.",
    .groups = {{rows, 0}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct calibration),
    .check = check,
    .run = run,
    .close = close_calibration,
};
