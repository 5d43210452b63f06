/* The geometry of frames, made of what their files state and of values that are given. */
#include "airy/geometry_params.h"

#include <stdio.h>
#include <string.h>

#include "airy/file.h"
#include "base/error.h"
#include "base/number.h"

airy_status airy_sensor_parse(airy_sensor *sensor, const char *text)
{
    const size_t size = text ? strcspn(text, ",") : 0;
    airy_sensor parsed = {.thickness = 0};
    AIRY_FAIL_IF(!sensor || size == 0 || size >= sizeof(parsed.material), AIRY_ERR_PARAM,
                 "expected MATERIAL[,THICKNESS], such as Si,0.00032");
    memcpy(parsed.material, text, size);
    AIRY_FAIL_IF(text[size] && (!airy_number_parse(&parsed.thickness, text + size + 1) ||
                                !(parsed.thickness > 0) || parsed.thickness > 1),
                 AIRY_ERR_PARAM, "expected a thickness above 0 and at most 1, in m");
    *sensor = parsed;
    return AIRY_OK;
}

bool airy_geometry_is_given(const airy_geometry_params *p)
{
    return p->poni || p->detector || p->has_pixel || p->binning[0] || p->orientation ||
           p->dist != 0 || p->has_poni1 || p->has_poni2 || p->has_rot1 || p->has_rot2 ||
           p->has_rot3 || p->wavelength != 0 || p->energy != 0 || p->sensor.material[0] ||
           p->attenuation != 0 || p->parallax;
}

unsigned airy_geometry_given_parts(const airy_geometry_params *p)
{
    return (p->has_pixel || p->detector ? AIRY_GEOMETRY_PIXELS : 0) |
           (p->dist != 0 ? AIRY_GEOMETRY_DISTANCE : 0) |
           (p->has_poni1 && p->has_poni2 ? AIRY_GEOMETRY_CENTER : 0) |
           (p->wavelength != 0 || p->energy != 0 ? AIRY_GEOMETRY_WAVELENGTH : 0) |
           (p->has_rot1 || p->has_rot2 || p->has_rot3 ? AIRY_GEOMETRY_TILT : 0);
}

/* ---- given values ---- */

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static airy_status find_detector(airy_detector *detector, const char *name)
{
    AIRY_FAIL_HINT_IF(ends_in(name, ".spline"), AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER,
                      "%s %.500s: spline files are not read; pyFAI's detector2nexus makes a NeXus "
                      "detector file of it, which is",
                      "detector", name);
    const bool file = ends_in(name, ".h5") || ends_in(name, ".nxs") || ends_in(name, ".hdf5");
    return file ? airy_detector_read(detector, name) : airy_detector_find(detector, name);
}

static airy_status set_pixel(airy_detector *detector, const airy_geometry_params *p)
{
    AIRY_FAIL_ON_IF(!(p->pixel[0] > 0) || !(p->pixel[1] > 0), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %g,%g: expected two lengths above 0 m", "pixel",
                    p->pixel[0], p->pixel[1]);
    if (!p->detector)
        *detector = (airy_detector){.name = "Detector"};
    detector->pixel1 = p->pixel[0];
    detector->pixel2 = p->pixel[1];
    return AIRY_OK;
}

static airy_status override_sensor(airy_geometry *g, const airy_geometry_params *p)
{
    airy_sensor *sensor = &g->detector.sensor;
    if (p->sensor.material[0])
        *sensor = p->sensor;
    if (p->attenuation != 0)
        sensor->attenuation = p->attenuation;
    g->parallax = g->parallax || p->parallax;
    AIRY_FAIL_HINT_IF(g->parallax && !sensor->material[0] && !(sensor->attenuation > 0),
                      AIRY_ERR_UNSUPPORTED, AIRY_HINT_SENSOR, AIRY_SUBJECT_PARAMETER,
                      "%s needs the detector's sensor, which is not known", "parallax");
    return AIRY_OK;
}

airy_status airy_geometry_override(airy_geometry *g, const airy_geometry_params *p)
{
    AIRY_FAIL_IF(!g || !p, AIRY_ERR_PARAM, "airy_geometry_override: an argument is NULL");
    AIRY_FAIL_ON_IF(p->wavelength != 0 && p->energy != 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and energy: give one of them", "wavelength");
    if (p->detector)
        AIRY_TRY(find_detector(&g->detector, p->detector));
    if (p->has_pixel)
        AIRY_TRY(set_pixel(&g->detector, p));
    if (p->binning[0])
        AIRY_TRY(airy_detector_bin(&g->detector, p->binning[0], p->binning[1]));
    if (p->orientation)
        g->detector.orientation = p->orientation;
    g->dist = p->dist != 0 ? p->dist : g->dist;
    g->poni1 = p->has_poni1 ? p->poni1 : g->poni1;
    g->poni2 = p->has_poni2 ? p->poni2 : g->poni2;
    g->rot1 = p->has_rot1 ? p->rot1 : g->rot1;
    g->rot2 = p->has_rot2 ? p->rot2 : g->rot2;
    g->rot3 = p->has_rot3 ? p->rot3 : g->rot3;
    g->wavelength = p->wavelength != 0 ? p->wavelength
                    : p->energy != 0   ? AIRY_HC_EV_M / 1e3 / p->energy
                                       : g->wavelength;
    return override_sensor(g, p);
}

/* ---- the shape of the frames ---- */

/* Fail with how the detector, or another one, has frames of this shape. */
static airy_status refuse_shape(const airy_detector *detector, size_t height, size_t width)
{
    enum { MOST = 8 }; /* of what detectors and programs bin */
    char way[160] = "";
    airy_detector other = *detector;
    const size_t b1 = detector->height / height, b2 = detector->width / width;
    other.pixel1 /= 2;
    other.pixel2 /= 2;
    if (b1 > 0 && b2 > 0 && b1 * b2 > 1 && b1 <= MOST && b2 <= MOST &&
        detector->height / b1 == height && detector->width / b2 == width)
        snprintf(way, sizeof(way), "; they do with a binning of %zux%zu", b1, b2);
    else if (detector->binning1 <= 1 && detector->binning2 <= 1 &&
             airy_detector_fit(&other, height, width) == AIRY_OK)
        snprintf(way, sizeof(way), "; they do where pixels are half as large, %g x %g m",
                 other.pixel1, other.pixel2);
    else if (airy_detector_find_shape(&other, height, width) == AIRY_OK &&
             strcmp(other.name, detector->name) != 0)
        snprintf(way, sizeof(way), "; a detector of that shape is '%s'", other.name);
    return airy_hinted(*way ? AIRY_HINT_STATED : AIRY_HINT_DETECTOR,
                       airy_fail(AIRY_ERR_SHAPE,
                                 "frames of %zu x %zu pixels do not fit detector '%s' of %zu x "
                                 "%zu%s",
                                 height, width, detector->name, detector->height, detector->width,
                                 way));
}

airy_status airy_geometry_fit(airy_geometry *g, size_t height, size_t width)
{
    AIRY_FAIL_IF(!g, AIRY_ERR_PARAM, "airy_geometry_fit: the geometry is NULL");
    AIRY_FAIL_IF(height == 0 || width == 0, AIRY_ERR_SHAPE, "frames have no pixels");
    return airy_detector_fit(&g->detector, height, width) == AIRY_OK
               ? AIRY_OK
               : refuse_shape(&g->detector, height, width);
}

/* ---- what files state ---- */

airy_status airy_geometry_hold(airy_stack *stack, const airy_stack *first,
                               const airy_geometry_params *p)
{
    const unsigned all = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER |
                         AIRY_GEOMETRY_WAVELENGTH | AIRY_GEOMETRY_TILT,
                   parts = p->poni ? 0 : all & ~airy_geometry_given_parts(p);
    unsigned differs = 0;
    const airy_status status = first ? airy_stack_hold_like(stack, first, parts, &differs)
                                     : airy_stack_hold_geometry(stack, parts, &differs);
    return differs == 0
               ? status
               : airy_hinted(differs == AIRY_GEOMETRY_PIXELS       ? AIRY_HINT_HOLD_PIXELS
                             : differs == AIRY_GEOMETRY_DISTANCE   ? AIRY_HINT_HOLD_DISTANCE
                             : differs == AIRY_GEOMETRY_CENTER     ? AIRY_HINT_HOLD_CENTER
                             : differs == AIRY_GEOMETRY_WAVELENGTH ? AIRY_HINT_HOLD_WAVELENGTH
                                                                   : AIRY_HINT_HOLD_TILT,
                             status);
}

static const char *input_of(const airy_geometry_params *p)
{
    return p->input ? p->input : "the input";
}

static airy_status about_poni(airy_hint hint, airy_status status)
{
    return airy_about(AIRY_SUBJECT_PARAMETER, "poni", airy_hinted(hint, status));
}

/* The input states a part of a geometry, and given values leave something open. */
static airy_status refuse_partial(const airy_geometry_params *p, const airy_stack_meta *meta,
                                  unsigned open)
{
    static const char *const names[] = {"pixel size", "distance", "beam centre"};
    char lacks[64] = "";
    for (unsigned i = 0; i < 3; i++) {
        const size_t n = strlen(lacks);
        if (open & 1u << i)
            snprintf(lacks + n, sizeof(lacks) - n, "%s%s", n ? ", " : "", names[i]);
    }
    const airy_hint hint = open == AIRY_GEOMETRY_PIXELS     ? AIRY_HINT_GIVE_PIXELS
                           : open == AIRY_GEOMETRY_DISTANCE ? AIRY_HINT_GIVE_DISTANCE
                           : open == AIRY_GEOMETRY_CENTER   ? AIRY_HINT_GIVE_CENTER
                                                            : AIRY_HINT_GIVE_GEOMETRY;
    return about_poni(hint, airy_fail(AIRY_ERR_PARAM, "the geometry of '%s' lacks the %s%s%s%s",
                                      input_of(p), lacks, *meta->unusable ? " (" : "",
                                      meta->unusable, *meta->unusable ? ")" : ""));
}

/* No value is given, and the input states none; one that is cut may have had them all. */
static airy_status refuse_missing(const airy_geometry_params *p, const airy_stack_meta *meta)
{
    uint64_t there, declared;
    AIRY_FAIL_HINT_IF(
        p->input && airy_hdf5_is_cut(p->input, &there, &declared), AIRY_ERR_INCOMPLETE,
        AIRY_HINT_FETCH_GEOMETRY, AIRY_SUBJECT_FILE,
        "'%s' is cut off: %llu of %llu bytes are there, and its geometry is not among "
        "them",
        p->input, (unsigned long long)there, (unsigned long long)declared);
    return about_poni(AIRY_HINT_GIVE_GEOMETRY,
                      airy_fail(AIRY_ERR_PARAM, "no geometry: the input has none%s%s%s",
                                meta && *meta->unusable ? " (" : "", meta ? meta->unusable : "",
                                meta && *meta->unusable ? ")" : ""));
}

/* A geometry of given values alone must have these. */
static airy_status check_complete(const airy_geometry_params *p)
{
    const struct {
        const char *name;
        bool given;
    } wanted[] = {{"dist", p->dist != 0},
                  {"poni1", p->has_poni1},
                  {"poni2", p->has_poni2},
                  {"detector", p->detector || p->has_pixel}};
    char lacks[64] = "";
    int n = 0;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!wanted[i].given)
            n += snprintf(lacks + n, sizeof(lacks) - (size_t)n, "%s%s", n ? ", " : "",
                          wanted[i].name);
    return n == 0 ? AIRY_OK
                  : about_poni(AIRY_HINT_GIVE_GEOMETRY,
                               airy_fail(AIRY_ERR_PARAM, "the geometry lacks %s", lacks));
}

/* The start of a geometry: a PONI file, what the input states, or nothing. */
static airy_status begin_geometry(airy_geometry *g, const airy_geometry_params *p,
                                  const airy_stack_meta *meta)
{
    const unsigned needed = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER,
                   stated = meta ? meta->geometry_parts & needed : 0,
                   open = needed & ~stated & ~airy_geometry_given_parts(p);
    *g = (airy_geometry){.dist = 0};
    if (p->poni)
        return airy_geometry_read(g, p->poni);
    if (meta && (meta->has_geometry || stated)) {
        if (!meta->has_geometry && open)
            return refuse_partial(p, meta, open);
        *g = meta->geometry;
        return AIRY_OK;
    }
    return airy_geometry_is_given(p) ? check_complete(p) : refuse_missing(p, meta);
}

void airy_geometry_warn(const airy_geometry *g, const airy_geometry_params *p)
{
    char text[160];
    if (!p->message)
        return;
    if (g->dist > 50) {
        snprintf(text, sizeof(text), "the distance is %g m, which is far; %g mm are %g m", g->dist,
                 g->dist, g->dist * 1e-3);
        p->message(p->user, AIRY_LOG_WARN, text);
    }
    if (g->wavelength > 1e-8) {
        snprintf(text, sizeof(text),
                 "the wavelength is %g m, %g nm; those of X-rays and neutrons are below 1e-08 m",
                 g->wavelength, g->wavelength * 1e9);
        p->message(p->user, AIRY_LOG_WARN, text);
    }
}

airy_status airy_geometry_resolve(airy_geometry *g, const airy_geometry_params *p,
                                  const airy_stack_meta *meta, size_t height, size_t width)
{
    AIRY_FAIL_IF(!g || !p, AIRY_ERR_PARAM, "airy_geometry_resolve: an argument is NULL");
    AIRY_TRY(begin_geometry(g, p, meta));
    AIRY_TRY(airy_geometry_override(g, p));
    /* The beam's centre is stated in pixels, and how large these are by a given value. */
    if (!p->poni && meta && !meta->has_geometry && (meta->geometry_parts & AIRY_GEOMETRY_CENTER)) {
        g->poni1 = p->has_poni1 ? p->poni1 : meta->center[0] * g->detector.pixel1;
        g->poni2 = p->has_poni2 ? p->poni2 : meta->center[1] * g->detector.pixel2;
    }
    AIRY_TRY(airy_geometry_fit(g, height, width));
    /* A detector without a name is the one that the file names. */
    if (meta && strcmp(g->detector.name, "Detector") == 0)
        g->detector.dectris_dummy |= meta->geometry.detector.dectris_dummy;
    AIRY_TRY(airy_geometry_check(g));
    airy_geometry_warn(g, p);
    return AIRY_OK;
}

airy_status airy_geometry_explain(const airy_geometry_params *p, const airy_stack_meta *meta,
                                  airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    if (p->poni || !(meta->contradicted & AIRY_GEOMETRY_WAVELENGTH) ||
        error.hint != AIRY_HINT_WAVELENGTH)
        return status;
    return airy_hinted(
        AIRY_HINT_WAVELENGTH,
        airy_fail(status, "the wavelength of '%s' is not known: %s", input_of(p), meta->unusable));
}
