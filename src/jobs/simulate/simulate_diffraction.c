/* A stack of Poisson frames around a radial curve, compressed as detectors write it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/file.h"
#include "airy/integrate.h"
#include "base/memory.h"
#include "base/number.h"
#include "jobs/geometry.h"
#include "jobs/groups.h"
#include "jobs/simulate/simulated.h"
#include "jobs/simulate/work.h"

struct values {
    struct airy_geometry_values geometry;
    size_t frames, distinct, increment, spots;
    struct airy_job_source curve;
    char *calibrant, *write_poni;
    uint64_t seed;
    double scale, ring_width, background;
    airy_dtype dtype;
    bool same_frame, incompressible, gaps;
    struct airy_output_values output;
    struct airy_compute_values compute;
};

static const char *const dtypes[] = {"uint8", "uint16", "uint32", "int32", "float32", NULL};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(frames, .name = "frames", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS,
        .lo = 1, .hi = 100000000, .fallback = "64", .help = "sets the number of frames",
        .section = "Frames"),
    ROW(dtype, .name = "dtype", .type = AIRY_PARAMETER_DTYPE, .words = dtypes, .argument = "TYPE",
        .fallback = "uint32",
        .help = "sets the type of the pixels: uint8, uint16, uint32, int32 or float32"),
    ROW(seed, .name = "seed", .type = AIRY_PARAMETER_SEED, .fallback = "0",
        .help = "draws other frames for each seed; a frame depends on seed and its number alone"),
    ROW(curve, .name = "curve", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .fallback = "100/(1+q^2) at q = 0, 1, ... 14", .computed = true,
        .help =
            "reads two columns, q in 1/nm and mean counts; counts are linear between the points "
            "and level outside"),
    ROW(calibrant, .name = "calibrant", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .argument = "NAME|FILE.D",
        .help =
            "makes powder rings of 100 counts instead of a curve, of a calibrant that calibrate "
            "knows or of a file of spacings in angstrom"),
    ROW(ring_width, .name = "ring-width", .type = AIRY_PARAMETER_REAL, .lo = 0.5, .hi = 1000,
        .argument = "W", .fallback = "3",
        .help = "sets the full width of the rings at half of their height, in pixels at the "
                "detector's nearest point",
        .only_with = {"calibrant", NULL}),
    ROW(background, .name = "background", .type = AIRY_PARAMETER_REAL, .hi = 1e9, .argument = "B",
        .fallback = "10", .help = "sets the mean counts between the rings",
        .only_with = {"calibrant", NULL}),
    ROW(scale, .name = "scale", .type = AIRY_PARAMETER_REAL, .lo = 1e-12, .hi = 1e12,
        .argument = "F", .fallback = "1",
        .help = "multiplies the curve, or rings and background, by this factor"),
    ROW(spots, .name = "spots", .type = AIRY_PARAMETER_WHOLE, .hi = 1000000, .fallback = "0",
        .help =
            "adds so many Bragg spots to each frame, at random places, with 20 to 2000 counts in "
            "the middle"),
    ROW(same_frame, .name = "same-frame", .type = AIRY_PARAMETER_FLAG,
        .help = "takes one Poisson frame for all"),
    ROW(distinct, .name = "distinct", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 100000000,
        .fallback = "all frames", .computed = true,
        .help = "draws so many Poisson frames and repeats them one after another"),
    ROW(increment, .name = "increment", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1000000000,
        .argument = "M", .fallback = "off", .computed = true,
        .help = "adds i mod M to every valid pixel of frame i"),
    ROW(incompressible, .name = "incompressible", .type = AIRY_PARAMETER_FLAG,
        .help = "makes random bits instead of counts"),
    ROW(gaps, .name = "gaps", .type = AIRY_PARAMETER_FLAG,
        .help = "puts the type's largest value (-1 in int32, NaN in float32) into the gaps between "
                "modules, as real files have it, and writes the pixel mask; otherwise every pixel "
                "counts photons"),
    {{0}, 0, NULL}};

static const struct airy_job_row poni_rows[] = {
    ROW(write_poni, .name = "write-poni", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_WRITTEN,
        .affects = AIRY_AFFECTS_WHERE, .help = "writes the geometry into this PONI file"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"stack", AIRY_JOB_ARRAY, NULL, "[frames, height, width], where no output is named"},
    AIRY_STACK_OUTPUT_RESULTS,
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct simulation {
    airy_job *job;
    const struct values *v;
    airy_geometry geometry;
    airy_detector_arrays *arrays;
    struct airy_simulated model;
    double *mean, *q, *curve;
    uint8_t *mask;
    uint32_t *base;
    size_t points;   /* of the curve */
    airy_text *text; /* that it is read from */
};

/* What sentences call the curve's file. */
static const char *curve_name(const struct simulation *s)
{
    return s->v->curve.path ? s->v->curve.path : "array";
}

static airy_status add_point(struct simulation *s, size_t *room, const double point[2], size_t line)
{
    if (s->points == *room) {
        *room = *room ? 2 * *room : 1024;
        double *q = realloc(s->q, *room * sizeof(*q)),
               *curve = q ? realloc(s->curve, *room * sizeof(*curve)) : NULL;
        s->q = q ? q : s->q;
        s->curve = curve ? curve : s->curve;
        AIRY_FAIL_IF(!curve, AIRY_ERR_MEMORY, "out of memory for a curve");
    }
    const bool rises = !s->points || point[0] > s->q[s->points - 1];
    AIRY_FAIL_ON_IF(!isfinite(point[0]) || !(point[1] >= 0) || !isfinite(point[1]) || !rises,
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                    "%s %s line %zu: expected q (ascending) and counts >= 0", "curve",
                    curve_name(s), line);
    s->q[s->points] = point[0];
    s->curve[s->points++] = point[1];
    return AIRY_OK;
}

/* Two columns of numbers; comments begin with '#'. */
static airy_status read_lines(struct simulation *s)
{
    char *line = NULL;
    size_t room = 0;
    for (;;) {
        const airy_status status = airy_text_next(s->text, &line);
        if (status != AIRY_OK)
            return airy_about(AIRY_SUBJECT_PARAMETER, "curve", airy_fail_context(status, "curve"));
        if (!line)
            return AIRY_OK;
        const char *text = line + strspn(line, " \t");
        double point[2] = {(double)NAN, (double)NAN};
        if (*text == '#' || !*text)
            continue;
        if (sscanf(text, "%lf%*[ \t,;]%lf", &point[0], &point[1]) != 2)
            point[0] = (double)NAN;
        AIRY_TRY(add_point(s, &room, point, airy_text_line(s->text)));
    }
}

static airy_status read_array(struct simulation *s, const airy_host_view *view)
{
    const airy_image image = {.dtype = view->dtype,
                              .ndim = 2,
                              .shape = {view->shape[0], view->shape[1]},
                              .data = (void *)view->data};
    size_t room = 0;
    AIRY_FAIL_ON_IF(view->ndim != 2 || view->shape[1] != 2, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s: expected an array of [points, 2]", "curve");
    for (size_t i = 0; i < view->shape[0]; i++) {
        const double point[2] = {airy_image_value(&image, 2 * i),
                                 airy_image_value(&image, 2 * i + 1)};
        AIRY_TRY(add_point(s, &room, point, i + 1));
    }
    return AIRY_OK;
}

static airy_status open_curve(struct simulation *s)
{
    const airy_status status = airy_text_open(&s->text, s->v->curve.path);
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "curve");
}

static airy_status read_curve(struct simulation *s)
{
    const struct airy_job_source *from = &s->v->curve;
    struct airy_c_locale locale;
    if (!from->is_array)
        AIRY_TRY(airy_about(AIRY_SUBJECT_PARAMETER, "curve", open_curve(s)));
    AIRY_TRY(airy_c_locale_enter(&locale));
    const airy_status status = from->is_array ? read_array(s, &from->view) : read_lines(s);
    airy_c_locale_leave(&locale);
    AIRY_TRY(status);
    AIRY_FAIL_ON_IF(s->points < 2, AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                    "%s %s: has %zu point%s, expected 2 or more", "curve", curve_name(s), s->points,
                    s->points == 1 ? "" : "s");
    return AIRY_OK;
}

/* The curve that is given, or the default one. */
static airy_status load_curve(struct simulation *s)
{
    if (s->v->curve.path || s->v->curve.is_array)
        return read_curve(s);
    s->points = AIRY_SIMULATED_POINTS;
    AIRY_TRY(airy_memory_calloc((void **)&s->q, s->points, sizeof(double), "a curve"));
    AIRY_TRY(airy_memory_calloc((void **)&s->curve, s->points, sizeof(double), "a curve"));
    airy_simulated_curve(s->q, s->curve);
    return AIRY_OK;
}

static airy_status make_rings(struct simulation *s)
{
    const struct values *v = s->v;
    airy_calibrant calibrant = {0};
    const struct airy_simulated_rings rings = {.height = 100 * v->scale,
                                               .background = v->background * v->scale,
                                               .width_px = v->ring_width};
    AIRY_TRY(airy_calibrant_load(&calibrant, v->calibrant, s->geometry.wavelength));
    const airy_status status = airy_simulated_rings(s->mean, &s->geometry, &calibrant, &rings);
    airy_calibrant_free(&calibrant);
    return status;
}

/* The mean counts of every pixel. */
static airy_status make_mean(struct simulation *s)
{
    const airy_integrator_params params = {.unit = AIRY_UNIT_Q_NM};
    if (s->v->calibrant)
        return make_rings(s);
    AIRY_TRY(load_curve(s));
    for (size_t i = 0; i < s->points; i++)
        s->curve[i] *= s->v->scale;
    return airy_image_from_pattern(s->mean, &s->geometry, &params, s->q, s->curve, s->points);
}

/* Without a geometry: airy_simulated_distance, the beam on the corner and 1 Angstrom. */
static airy_status make_geometry(struct simulation *s)
{
    airy_geometry *g = &s->geometry;
    const airy_geometry_params given = airy_job_geometry_params(s->job, &s->v->geometry, NULL);
    if (given.poni)
        AIRY_TRY(airy_geometry_read(g, given.poni));
    else if (!given.detector)
        AIRY_TRY(airy_detector_find(&g->detector, "eiger_4M"));
    AIRY_TRY(airy_geometry_override(g, &given));
    AIRY_FAIL_ON_IF(g->detector.height == 0 || g->detector.width == 0, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no shape; name another one, such as detector=eiger_4M", "detector",
                    g->detector.name);
    if (!given.poni) {
        if (!(given.dist > 0))
            airy_simulated_distance(g);
        g->wavelength = g->wavelength > 0 ? g->wavelength : 1e-10;
    }
    AIRY_TRY(airy_geometry_check(g));
    return airy_detector_open(&s->arrays, &g->detector);
}

/* Mask, means and the shared frame. */
static airy_status make_model(struct simulation *s)
{
    const struct values *v = s->v;
    struct airy_simulated *m = &s->model;
    airy_simulated_begin(m, v->dtype, &s->geometry);
    m->seed = v->seed;
    m->increment = v->increment;
    m->spots = v->spots;
    m->distinct = v->same_frame ? 1 : v->distinct;
    m->incompressible = v->incompressible;
    AIRY_TRY(airy_memory_calloc((void **)&s->mean, m->pixels, sizeof(double), "a frame"));
    AIRY_TRY(airy_memory_calloc((void **)&s->mask, m->pixels, 1, "a mask"));
    AIRY_TRY(airy_memory_calloc((void **)&s->base, m->pixels, sizeof(uint32_t), "a frame"));
    if (v->gaps) {
        AIRY_TRY(airy_detector_mask(&s->geometry.detector, s->mask));
        m->mask = s->mask;
    }
    if (v->incompressible)
        return AIRY_OK;
    AIRY_TRY(make_mean(s));
    m->mean = s->mean;
    if (m->distinct == 1) {
        AIRY_TRY(airy_simulated_draw(m, s->base, (unsigned)v->compute.threads));
        m->base = s->base;
    }
    return AIRY_OK;
}

static airy_status write_stack(struct simulation *s)
{
    const struct values *v = s->v;
    const airy_geometry *g = &s->geometry;
    const struct airy_output_group group = {&v->output, NULL, &v->compute};
    airy_stack_write_params params = {
        .format = {.dtype = v->dtype,
                   .frames = v->frames,
                   .height = g->detector.height,
                   .width = g->detector.width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4,
                             .elem_size = (uint32_t)airy_dtype_size(v->dtype)},
                   .geometry = g->detector.file[0] ? NULL : g,
                   .mask = s->model.mask},
        .fill = {.make = airy_simulated_frame,
                 .source = &s->model,
                 .period = airy_simulated_period(&s->model)},
        .inputs = (const char *const *)&v->curve.path,
        .input_count = v->curve.path != NULL};
    return airy_job_write_stack(s->job, &params, &group);
}

static airy_status make_stack(struct simulation *s)
{
    const struct values *v = s->v;
    const struct airy_made_frames made = {.dtype = v->dtype,
                                          .frames = v->frames,
                                          .height = s->geometry.detector.height,
                                          .width = s->geometry.detector.width,
                                          .make = airy_simulated_frame,
                                          .source = &s->model,
                                          .threads = v->compute.threads,
                                          .memory_limit = v->compute.memory_limit};
    return airy_job_make_stack(s->job, &made);
}

static airy_status run(airy_job *job, void *state)
{
    struct simulation *s = state;
    const struct values *v = job->values;
    *s = (struct simulation){.job = job, .v = v};
    AIRY_TRY(make_geometry(s));
    if (s->geometry.detector.file[0] && v->output.output)
        airy_job_message(job, AIRY_LOG_WARN,
                         "%s has no geometry: a stack has no place for the detector's file",
                         v->output.output);
    AIRY_TRY(make_model(s));
    AIRY_TRY(v->output.output ? write_stack(s) : make_stack(s));
    return v->write_poni ? airy_geometry_write(&s->geometry, v->write_poni) : AIRY_OK;
}

static void close_simulation(void *state)
{
    struct simulation *s = state;
    airy_text_close(&s->text);
    free(s->mean);
    free(s->mask);
    free(s->base);
    free(s->q);
    free(s->curve);
    airy_detector_arrays_destroy(&s->arrays);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const bool has_curve = v->curve.path || v->curve.is_array;
    if (v->output.output)
        AIRY_TRY(airy_job_check_output(&v->output));
    AIRY_TRY(airy_job_check_geometry(job));
    AIRY_FAIL_ON_IF(v->incompressible && (v->increment || v->spots), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s has no meaning with incompressible=on",
                    v->increment ? "increment" : "spots");
    AIRY_FAIL_ON_IF(v->calibrant && (has_curve || v->incompressible), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and %s: give one of them", "calibrant",
                    has_curve ? "curve=FILE" : "incompressible=on");
    AIRY_FAIL_ON_IF(v->same_frame && v->distinct, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and distinct=N: give one of them", "same-frame");
    return AIRY_OK;
}

extern const struct airy_job_kind airy_job_simulate_diffraction;
const struct airy_job_kind airy_job_simulate_diffraction = {
    .name = "simulate-diffraction",
    .summary = "make a stack of diffraction frames, bitshuffle-LZ4 compressed",
    .details = "Frames are Poisson counts around a radial curve times solid angle, one chunk a "
               "frame, with the geometry in the file. Without a geometry the detector is "
               "eiger_4M, the beam hits its first corner, the wavelength is 1e-10 m, and the "
               "distance puts the far corner at q = 12.6 1/nm (1.1 m for eiger_4M). Counts stop 3 "
               "below the largest value of an unsigned type, because detectors keep those above "
               "it for bad pixels. A frame of eiger_4M with same-frame, increment 500 and nothing "
               "else takes 2.4 MB, 7.4 times less than plain: the case \"4M\" of the benchmarks.",
    .groups = {{airy_geometry_rows, offsetof(struct values, geometry)},
               {rows, 0},
               {airy_stack_output_rows, offsetof(struct values, output)},
               {poni_rows, 0},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct simulation),
    .check = check,
    .run = run,
    .close = close_simulation,
};
