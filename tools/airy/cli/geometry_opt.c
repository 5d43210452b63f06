#include "cli/geometry_opt.h"

#include <math.h>
#include <string.h>

static const char *parse_energy(void *field, const char *text)
{
    static char why[96];
    double energy;
    if (!opt_number(text, &energy) || !(energy >= 1e-6))
        return "expected a number from 1e-06 to 1000, in keV";
    snprintf(why, sizeof(why), "expected at most 1000, in keV; %g looks like eV", energy);
    if (energy > 1000)
        return why;
    *(double *)field = energy;
    return NULL;
}

static const char *parse_wavelength(void *field, const char *text)
{
    static char why[96];
    double wavelength;
    if (!opt_number(text, &wavelength) || !(wavelength >= 1e-15))
        return "expected a number from 1e-15 to 0.001, in m";
    snprintf(why, sizeof(why), "expected at most 0.001, in m; for Angstrom write %ge-10",
             wavelength);
    if (wavelength > 1e-3)
        return why;
    *(double *)field = wavelength;
    return NULL;
}

/* Rows and columns of the sensor that are one of the image: NxM. */
static const char *parse_binning(void *field, const char *text)
{
    struct binning *binning = field;
    int rows, columns, used = 0;
    if (text[strspn(text, "0123456789x")] ||
        sscanf(text, "%2dx%2d%n", &rows, &columns, &used) < 2 || text[used] || rows < 1 ||
        columns < 1 || rows > 64 || columns > 64)
        return "expected NxM, each from 1 to 64, such as 2x2";
    *binning = (struct binning){rows, columns};
    return NULL;
}

static const char *parse_sensor(void *field, const char *text)
{
    airy_sensor *sensor = field;
    const size_t size = strcspn(text, ",");
    *sensor = (airy_sensor){0};
    if (size == 0 || size >= sizeof(sensor->material))
        return "expected MATERIAL[,THICKNESS], such as Si,0.00032";
    memcpy(sensor->material, text, size);
    if (text[size] && (!opt_number(text + size + 1, &sensor->thickness) ||
                       !(sensor->thickness > 0) || sensor->thickness > 1))
        return "expected a thickness above 0 and at most 1, in m";
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct geometry_params, member)
#define SEEN(member)  .seen = offsetof(struct geometry_params, member)

const struct opt geometry_options[] = {
    {.heading = "Geometry"},
    {.name = "poni",
     .type = OPT_STRING,
     FIELD(poni),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "PONI file, version 1, 2, 2.1 or 3"},
    {.name = "detector",
     .type = OPT_STRING,
     FIELD(detector),
     .argument = "NAME|FILE",
     .help = "detector of the registry, such as eiger_4M, or a NeXus detector file (.h5, .nxs)"},
    {.name = "pixel",
     .type = OPT_PAIR,
     FIELD(pixel),
     SEEN(has_pixel),
     .argument = "P1,P2",
     .help = "pixel height and width in m, for a detector that is not in the registry"},
    {.name = "binning",
     .type = OPT_PARSED,
     FIELD(binning),
     .parse = parse_binning,
     .argument = "NxM",
     .fallback = "1x1",
     .help = "rows and columns of the detector's pixels that are one of the frames'"},
    {.name = "orientation",
     .type = OPT_COUNT,
     FIELD(orientation),
     SEEN(has_orientation),
     .lo = 1,
     .hi = 4,
     .argument = "N",
     .fallback = "3",
     .help = "1 to 4: where the first pixel is"},
    {.name = "dist",
     .type = OPT_FLOAT,
     FIELD(dist),
     SEEN(has_dist),
     .lo = 1e-9,
     .hi = 1e6,
     .argument = "D",
     .help = "distance of sample and detector plane in m"},
    {.name = "poni1",
     .type = OPT_FLOAT,
     FIELD(poni1),
     SEEN(has_poni1),
     .lo = -1e6,
     .hi = 1e6,
     .argument = "Y",
     .help = "point of normal incidence along the slow axis in m"},
    {.name = "poni2",
     .type = OPT_FLOAT,
     FIELD(poni2),
     SEEN(has_poni2),
     .lo = -1e6,
     .hi = 1e6,
     .argument = "X",
     .help = "point of normal incidence along the fast axis in m"},
    {.name = "rot1",
     .type = OPT_FLOAT,
     FIELD(rot1),
     SEEN(has_rot1),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "first rotation in rad"},
    {.name = "rot2",
     .type = OPT_FLOAT,
     FIELD(rot2),
     SEEN(has_rot2),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "second rotation in rad"},
    {.name = "rot3",
     .type = OPT_FLOAT,
     FIELD(rot3),
     SEEN(has_rot3),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "third rotation in rad"},
    {.name = "wavelength",
     .type = OPT_PARSED,
     FIELD(wavelength),
     SEEN(has_wavelength),
     .parse = parse_wavelength,
     .argument = "L",
     .help = "wavelength in m"},
    {.name = "energy",
     .type = OPT_PARSED,
     FIELD(energy),
     SEEN(has_energy),
     .parse = parse_energy,
     .argument = "E",
     .help = "photon energy in keV, instead of the wavelength"},
    {.name = "sensor",
     .type = OPT_PARSED,
     FIELD(sensor),
     SEEN(has_sensor),
     .parse = parse_sensor,
     .argument = "M[,T]",
     .help = "what photons are absorbed in: Si, Ge, GaAs or CdTe, and its thickness in m"},
    {.name = "attenuation",
     .type = OPT_FLOAT,
     FIELD(attenuation),
     SEEN(has_attenuation),
     .lo = 1e-3,
     .hi = 1e12,
     .argument = "MU",
     .help = "the sensor's linear attenuation in 1/m, instead of its material's"},
    {.name = "parallax",
     .type = OPT_FLAG,
     FIELD(parallax),
     .help = "correct positions for the depth of absorption in the sensor"},
    {0},
};

bool geometry_given(const struct geometry_params *p)
{
    return p->poni || p->detector || p->has_pixel || p->has_orientation || p->has_dist ||
           p->has_poni1 || p->has_poni2 || p->has_rot1 || p->has_rot2 || p->has_rot3 ||
           p->has_wavelength || p->has_energy || p->has_sensor || p->has_attenuation ||
           p->parallax || p->binning.rows;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* A name of the registry, or a file. */
static int find_detector(airy_detector *detector, const struct geometry_params *p)
{
    const char *name = p->detector;
    if (ends_in(name, ".spline"))
        return tool_fail(&p->common,
                         "--detector %s: spline files are not read; pyFAI's detector2nexus makes a "
                         "NeXus detector file of it, which is",
                         name);
    const bool file = ends_in(name, ".h5") || ends_in(name, ".nxs") || ends_in(name, ".hdf5");
    const airy_status status = file ? airy_detector_read(detector, name)
                                    : airy_detector_find(detector, name);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static int override_sensor(airy_geometry *g, const struct geometry_params *p)
{
    airy_sensor *sensor = &g->detector.sensor;
    if (p->has_sensor)
        *sensor = p->sensor;
    if (p->has_attenuation)
        sensor->attenuation = p->attenuation;
    g->parallax = g->parallax || p->parallax;
    if (g->parallax && !sensor->material[0] && !(sensor->attenuation > 0))
        return tool_usage(&p->common,
                          "the correction for parallax needs --sensor MATERIAL,THICKNESS "
                          "or --attenuation MU");
    return AIRY_EXIT_OK;
}

int geometry_arrays(airy_detector_arrays **arrays, airy_geometry *g, const struct common *common)
{
    const airy_status status = airy_detector_open(arrays, &g->detector);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int geometry_override(airy_geometry *g, const struct geometry_params *p)
{
    if (p->has_wavelength && p->has_energy)
        return tool_usage(&p->common, "--wavelength and --energy: give one of them");
    if (p->detector) {
        const int code = find_detector(&g->detector, p);
        if (code != AIRY_EXIT_OK)
            return code;
    }
    if (p->has_pixel) {
        if (!(p->pixel[0] > 0) || !(p->pixel[1] > 0))
            return tool_usage(&p->common, "--pixel %g,%g: expected two lengths above 0 m",
                              p->pixel[0], p->pixel[1]);
        if (!p->detector) {
            memset(&g->detector, 0, sizeof(g->detector));
            strcpy(g->detector.name, "Detector");
        }
        g->detector.pixel1 = p->pixel[0];
        g->detector.pixel2 = p->pixel[1];
    }
    if (p->binning.rows) {
        const airy_status status =
            airy_detector_bin(&g->detector, p->binning.rows, p->binning.columns);
        if (status != AIRY_OK)
            return tool_failed(&p->common, status);
    }
    if (p->has_orientation)
        g->detector.orientation = (int)p->orientation;
    g->dist = p->has_dist ? p->dist : g->dist;
    g->poni1 = p->has_poni1 ? p->poni1 : g->poni1;
    g->poni2 = p->has_poni2 ? p->poni2 : g->poni2;
    g->rot1 = p->has_rot1 ? p->rot1 : g->rot1;
    g->rot2 = p->has_rot2 ? p->rot2 : g->rot2;
    g->rot3 = p->has_rot3 ? p->rot3 : g->rot3;
    g->wavelength = p->has_wavelength ? p->wavelength
                    : p->has_energy   ? AIRY_HC_EV_M / 1e3 / p->energy
                                      : g->wavelength;
    return override_sensor(g, p);
}

/* How the detector, or another one, has frames of this shape. */
static void suggest_shape(char hint[160], const airy_detector *detector, size_t height,
                          size_t width)
{
    enum { MOST = 8 }; /* of what detectors and programs bin */
    airy_detector other = *detector;
    const size_t b1 = detector->height / height, b2 = detector->width / width;
    other.pixel1 /= 2;
    other.pixel2 /= 2;
    if (b1 > 0 && b2 > 0 && b1 * b2 > 1 && b1 <= MOST && b2 <= MOST &&
        detector->height / b1 == height && detector->width / b2 == width)
        snprintf(hint, 160, "they do with --binning %zux%zu", b1, b2);
    else if (detector->binning1 <= 1 && detector->binning2 <= 1 &&
             airy_detector_fit(&other, height, width) == AIRY_OK)
        snprintf(hint, 160, "they do where pixels are half as large, %g x %g m", other.pixel1,
                 other.pixel2);
    else if (airy_detector_find_shape(&other, height, width) == AIRY_OK &&
             strcmp(other.name, detector->name) != 0)
        snprintf(hint, 160, "a detector of that shape is '%s'", other.name);
    else
        snprintf(hint, 160,
                 "give the right --detector, and --binning only where pixels are binned");
}

int geometry_fit_shape(airy_geometry *g, const struct common *common, size_t height, size_t width)
{
    char hint[160];
    if (airy_detector_fit(&g->detector, height, width) == AIRY_OK)
        return AIRY_EXIT_OK;
    suggest_shape(hint, &g->detector, height, width);
    return tool_fail(common, "frames of %zu x %zu pixels do not fit detector '%s' of %zu x %zu; %s",
                     height, width, g->detector.name, g->detector.height, g->detector.width, hint);
}

/* The option that gives a part of a geometry. */
static const char *option_of(unsigned part)
{
    return part == AIRY_GEOMETRY_PIXELS       ? "--pixel P1,P2"
           : part == AIRY_GEOMETRY_DISTANCE   ? "--dist D"
           : part == AIRY_GEOMETRY_CENTER     ? "--poni1 Y --poni2 X"
           : part == AIRY_GEOMETRY_WAVELENGTH ? "--wavelength L"
                                              : "--rot1 A --rot2 A --rot3 A";
}

/* airy_geometry_part: those that were given by options. */
static unsigned given_parts(const struct geometry_params *p)
{
    return (p->has_pixel || p->detector ? AIRY_GEOMETRY_PIXELS : 0) |
           (p->has_dist ? AIRY_GEOMETRY_DISTANCE : 0) |
           (p->has_poni1 && p->has_poni2 ? AIRY_GEOMETRY_CENTER : 0) |
           (p->has_wavelength || p->has_energy ? AIRY_GEOMETRY_WAVELENGTH : 0) |
           (p->has_rot1 || p->has_rot2 || p->has_rot3 ? AIRY_GEOMETRY_TILT : 0);
}

/* first: NULL, or the stack whose geometry it is. */
static int hold(airy_stack *stack, const airy_stack *first, const struct geometry_params *p,
                bool given)
{
    const unsigned all = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER |
                         AIRY_GEOMETRY_WAVELENGTH | AIRY_GEOMETRY_TILT;
    unsigned differs = 0;
    const unsigned parts = given || p->poni ? 0 : all & ~given_parts(p);
    const airy_status status = first ? airy_stack_hold_like(stack, first, parts, &differs)
                                     : airy_stack_hold_geometry(stack, parts, &differs);
    if (differs)
        return tool_fail(&p->common, "%s; process them one by one, or give %s or --poni FILE",
                         airy_last_error(), option_of(differs));
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

int geometry_hold(airy_stack *stack, const struct geometry_params *p, bool given)
{
    return hold(stack, NULL, p, given);
}

int geometry_hold_like(airy_stack *stack, const airy_stack *first, const struct geometry_params *p,
                       bool given)
{
    return hold(stack, first, p, given);
}

/* What a geometry of options alone must have; true where all of it is there. */
static bool is_complete(const struct geometry_params *p, char lacks[64])
{
    const struct {
        const char *name;
        bool given;
    } wanted[] = {{"dist", p->has_dist},
                  {"poni1", p->has_poni1},
                  {"poni2", p->has_poni2},
                  {"detector", p->detector || p->has_pixel}};
    int n = 0;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!wanted[i].given)
            n += snprintf(lacks + n, 64 - (size_t)n, "%s--%s", n ? ", " : "", wanted[i].name);
    return n == 0;
}

/* The input states a part of a geometry, and the options leave something open. */
static int refuse_partial(const struct geometry_params *p, const airy_stack_meta *meta,
                          unsigned open)
{
    static const char *const names[] = {"pixel size", "distance", "beam centre"};
    char lacks[64] = "", options[64] = "";
    for (unsigned i = 0; i < 3; i++) {
        const size_t n = strlen(lacks), m = strlen(options);
        if (!(open & 1u << i))
            continue;
        snprintf(lacks + n, sizeof(lacks) - n, "%s%s", n ? ", " : "", names[i]);
        snprintf(options + m, sizeof(options) - m, "%s%s", m ? " " : "", option_of(1u << i));
    }
    return tool_usage(
        &p->common, "the geometry of '%s' lacks the %s%s%s%s; give %s, or --poni FILE",
        p->common.inputs.count ? p->common.inputs.items[0] : "the input", lacks,
        *meta->unusable ? " (" : "", meta->unusable, *meta->unusable ? ")" : "", options);
}

/* No value is given, and the input states none; one that is cut may have had them all. */
static int refuse_missing(const struct geometry_params *p, const airy_stack_meta *meta)
{
    const char *path = p->common.inputs.count ? p->common.inputs.items[0] : "";
    uint64_t there, declared;
    if (tool_hdf5_is_cut(path, &there, &declared))
        return tool_fail(&p->common,
                         "'%s' is cut off: %llu of %llu bytes are there, and its geometry is not "
                         "among them; fetch it again, or give --poni FILE",
                         path, (unsigned long long)there, (unsigned long long)declared);
    return tool_usage(&p->common,
                      "no geometry: the input has none%s%s%s, so give --poni FILE, or "
                      "--detector, --dist, --poni1, --poni2 and --wavelength",
                      meta && *meta->unusable ? " (" : "", meta ? meta->unusable : "",
                      meta && *meta->unusable ? ")" : "");
}

/* The start of a geometry: --poni, what the input states, or nothing. Exit code. */
static int begin_geometry(airy_geometry *g, const struct geometry_params *p,
                          const airy_stack_meta *meta)
{
    const unsigned needed = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER,
                   stated = meta ? meta->geometry_parts & needed : 0,
                   open = needed & ~stated & ~given_parts(p);
    char lacks[64];
    memset(g, 0, sizeof(*g));
    if (p->poni) {
        const airy_status status = airy_geometry_read(g, p->poni);
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    if (meta && (meta->has_geometry || stated)) {
        if (!meta->has_geometry && open)
            return refuse_partial(p, meta, open);
        *g = meta->geometry;
        return AIRY_EXIT_OK;
    }
    if (!geometry_given(p))
        return refuse_missing(p, meta);
    return is_complete(p, lacks) ? AIRY_EXIT_OK
                                 : tool_usage(&p->common, "the geometry lacks %s", lacks);
}

void geometry_say_odd(const airy_geometry *g, const struct common *common)
{
    if (g->dist > 50)
        tool_say(common, "the distance is %g m, which is far; %g mm are %g m", g->dist, g->dist,
                 g->dist * 1e-3);
    if (g->wavelength > 1e-8)
        tool_say(common,
                 "the wavelength is %g m, %g nm; those of X-rays and neutrons are below 1e-08 m",
                 g->wavelength, g->wavelength * 1e9);
}

int geometry_resolve(airy_geometry *g, const struct geometry_params *p, const airy_stack_meta *meta,
                     size_t height, size_t width)
{
    const struct common *common = &p->common;
    int code = begin_geometry(g, p, meta);
    if (code == AIRY_EXIT_OK)
        code = geometry_override(g, p);
    if (code != AIRY_EXIT_OK)
        return code;
    /* The beam's centre is stated in pixels, and how large these are by an option. */
    if (!p->poni && meta && !meta->has_geometry && (meta->geometry_parts & AIRY_GEOMETRY_CENTER)) {
        g->poni1 = p->has_poni1 ? p->poni1 : meta->center[0] * g->detector.pixel1;
        g->poni2 = p->has_poni2 ? p->poni2 : meta->center[1] * g->detector.pixel2;
    }
    if (geometry_fit_shape(g, common, height, width) != AIRY_EXIT_OK)
        return AIRY_EXIT_FAILED;
    /* A detector without a name is the one that the file names. */
    if (meta && strcmp(g->detector.name, "Detector") == 0)
        g->detector.dectris_dummy |= meta->geometry.detector.dectris_dummy;
    const airy_status status = airy_geometry_check(g);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    geometry_say_odd(g, common);
    return AIRY_EXIT_OK;
}

int geometry_failed(const struct geometry_params *p, const airy_stack_meta *meta,
                    airy_status status)
{
    const struct common *common = &p->common;
    airy_error error;
    airy_error_get(&error);
    if (p->poni || !(meta->contradicted & AIRY_GEOMETRY_WAVELENGTH) ||
        error.hint != AIRY_HINT_WAVELENGTH)
        return tool_failed(common, status);
    return tool_fail(common,
                     "the wavelength of '%s' is not known: %s; give --wavelength L or --energy E",
                     common->inputs.count ? common->inputs.items[0] : "the input", meta->unusable);
}

int calibrant_load(airy_calibrant *calibrant, const struct common *common, const char *text,
                   double wavelength)
{
    /* Rings that point back to the source have a spacing of half a wavelength. */
    const bool file = tool_has_suffix(text, ".D") || strchr(text, '/');
    const airy_status status = file ? airy_calibrant_read(calibrant, text)
                                    : airy_calibrant_find(calibrant, text, wavelength / 2);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* Beside what geometry_json packs: what few detectors have. */
static void add_detector_json(json_t *json, const airy_detector *d)
{
    if (d->file[0])
        json_object_set_new(json, "detector_file", tool_json_string(d->file));
    if (d->binning1 > 1 || d->binning2 > 1)
        json_object_set_new(json, "binning",
                            json_pack("[i,i]", d->binning1 > 1 ? d->binning1 : 1,
                                      d->binning2 > 1 ? d->binning2 : 1));
    if (d->sensor.material[0] || d->sensor.attenuation > 0)
        json_object_set_new(json, "sensor",
                            json_pack("{s:o, s:o, s:o}", "material",
                                      tool_json_string(d->sensor.material), "thickness",
                                      tool_json_number(d->sensor.thickness), "attenuation",
                                      tool_json_number(d->sensor.attenuation)));
}

json_t *geometry_json(const airy_geometry *g)
{
    const airy_detector *d = &g->detector;
    json_t *shape = d->height && d->width
                        ? json_pack("[I,I]", (json_int_t)d->height, (json_int_t)d->width)
                        : json_null();
    json_t *wavelength = g->wavelength > 0 ? tool_json_number(g->wavelength) : json_null();
    json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
                             "detector", tool_json_string(d->name), "pixel1",
                             tool_json_number(d->pixel1), "pixel2", tool_json_number(d->pixel2),
                             "shape", shape, "orientation", d->orientation ? d->orientation : 3,
                             "dist", tool_json_number(g->dist), "poni1", tool_json_number(g->poni1),
                             "poni2", tool_json_number(g->poni2), "rot1", tool_json_number(g->rot1),
                             "rot2", tool_json_number(g->rot2), "rot3", tool_json_number(g->rot3),
                             "wavelength", wavelength, "parallax", g->parallax);
    if (json)
        add_detector_json(json, d);
    return json;
}

bool geometry_from_json(airy_geometry *g, const json_t *json)
{
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    const bool found = text && airy_geometry_parse(g, text) == AIRY_OK;
    free(text);
    return found;
}
