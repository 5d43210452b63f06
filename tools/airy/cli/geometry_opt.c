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
    int *binning = field;
    int rows, columns, used = 0;
    if (text[strspn(text, "0123456789x")] ||
        sscanf(text, "%2dx%2d%n", &rows, &columns, &used) < 2 || text[used] || rows < 1 ||
        columns < 1 || rows > 64 || columns > 64)
        return "expected NxM, each from 1 to 64, such as 2x2";
    binning[0] = rows;
    binning[1] = columns;
    return NULL;
}

static const char *parse_sensor(void *field, const char *text)
{
    return airy_sensor_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

/* 1 to 4 into an int. */
static const char *parse_orientation(void *field, const char *text)
{
    uint64_t value;
    if (!opt_whole(text, &value) || value < 1 || value > 4)
        return "expected a whole number from 1 to 4";
    *(int *)field = (int)value;
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct geometry_params, given.member)
#define SEEN(member)  .seen = offsetof(struct geometry_params, given.member)

const struct opt geometry_options[] = {
    {.heading = "Geometry"},
    {.name = "poni",
     .type = OPT_STRING,
     FIELD(poni),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "reads the geometry from a PONI file, version 1, 2, 2.1 or 3"},
    {.name = "detector",
     .type = OPT_STRING,
     FIELD(detector),
     .argument = "NAME|FILE",
     .help = "sets the detector: a name of the registry, such as eiger_4M, or a NeXus detector "
             "file (.h5, .nxs)"},
    {.name = "pixel",
     .type = OPT_PAIR,
     FIELD(pixel),
     SEEN(has_pixel),
     .argument = "P1,P2",
     .help = "sets pixel height and width in m, for a detector that is not in the registry"},
    {.name = "binning",
     .type = OPT_PARSED,
     FIELD(binning),
     .parse = parse_binning,
     .argument = "NxM",
     .fallback = "1x1",
     .help = "sets how many detector pixels (rows x columns) form one pixel of the frame"},
    {.name = "orientation",
     .type = OPT_PARSED,
     FIELD(orientation),
     .parse = parse_orientation,
     .argument = "N",
     .fallback = "3",
     .help = "sets where the first pixel is: 1 to 4"},
    {.name = "dist",
     .type = OPT_FLOAT,
     FIELD(dist),
     .lo = 1e-9,
     .hi = 1e6,
     .argument = "D",
     .help = "sets the distance of sample and detector plane in m"},
    {.name = "poni1",
     .type = OPT_FLOAT,
     FIELD(poni1),
     SEEN(has_poni1),
     .lo = -1e6,
     .hi = 1e6,
     .argument = "Y",
     .help = "sets the point of normal incidence along the slow axis in m"},
    {.name = "poni2",
     .type = OPT_FLOAT,
     FIELD(poni2),
     SEEN(has_poni2),
     .lo = -1e6,
     .hi = 1e6,
     .argument = "X",
     .help = "sets the point of normal incidence along the fast axis in m"},
    {.name = "rot1",
     .type = OPT_FLOAT,
     FIELD(rot1),
     SEEN(has_rot1),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "sets the first rotation in rad"},
    {.name = "rot2",
     .type = OPT_FLOAT,
     FIELD(rot2),
     SEEN(has_rot2),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "sets the second rotation in rad"},
    {.name = "rot3",
     .type = OPT_FLOAT,
     FIELD(rot3),
     SEEN(has_rot3),
     .lo = -7,
     .hi = 7,
     .argument = "A",
     .fallback = "0",
     .help = "sets the third rotation in rad"},
    {.name = "wavelength",
     .type = OPT_PARSED,
     FIELD(wavelength),
     .parse = parse_wavelength,
     .argument = "L",
     .help = "sets the wavelength in m"},
    {.name = "energy",
     .type = OPT_PARSED,
     FIELD(energy),
     .parse = parse_energy,
     .argument = "E",
     .help = "sets the photon energy in keV, instead of the wavelength"},
    {.name = "sensor",
     .type = OPT_PARSED,
     FIELD(sensor),
     .parse = parse_sensor,
     .argument = "M[,T]",
     .help = "sets what photons are absorbed in (Si, Ge, GaAs or CdTe) and its thickness in m"},
    {.name = "attenuation",
     .type = OPT_FLOAT,
     FIELD(attenuation),
     .lo = 1e-3,
     .hi = 1e12,
     .argument = "MU",
     .help = "sets the sensor's linear attenuation in 1/m, instead of its material's"},
    {.name = "parallax",
     .type = OPT_FLAG,
     FIELD(parallax),
     .help = "corrects positions for the depth of absorption in the sensor"},
    {0},
};

/* An airy_log_fn with a struct common. */
static void print_warning(void *user, airy_log_level level, const char *text)
{
    (void)level;
    tool_say(user, "%s", text);
}

/* With the hook and the input's name of the command. */
static airy_geometry_params params_of(const struct geometry_params *p)
{
    airy_geometry_params params = p->given;
    params.input = p->common.inputs.count ? p->common.inputs.items[0] : NULL;
    params.message = print_warning;
    params.user = (void *)&p->common;
    return params;
}

static int done(const struct geometry_params *p, airy_status status)
{
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_refused(&p->common, status);
}

bool geometry_given(const struct geometry_params *p)
{
    return airy_geometry_is_given(&p->given);
}

int geometry_arrays(airy_detector_arrays **arrays, airy_geometry *g, const struct common *common)
{
    const airy_status status = airy_detector_open(arrays, &g->detector);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int geometry_hold(airy_stack *stack, const airy_stack *first, const struct geometry_params *p,
                  bool replayed)
{
    airy_geometry_params params = params_of(p);
    if (replayed) /* nothing is taken from the files */
        params.poni = "";
    return done(p, airy_geometry_hold(stack, first, &params));
}

int geometry_resolve(airy_geometry *g, const struct geometry_params *p, const airy_stack_meta *meta,
                     size_t height, size_t width)
{
    const airy_geometry_params params = params_of(p);
    return done(p, airy_geometry_resolve(g, &params, meta, height, width));
}

int geometry_failed(const struct geometry_params *p, const airy_stack_meta *meta,
                    airy_status status)
{
    const airy_geometry_params params = params_of(p);
    return tool_failed(&p->common, airy_geometry_explain(&params, meta, status));
}

json_t *geometry_json(const airy_geometry *g)
{
    char *text = NULL;
    json_t *json = airy_geometry_print(&text, g) == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return json;
}

bool geometry_from_json(airy_geometry *g, const json_t *json)
{
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    const bool found = text && airy_geometry_parse(g, text) == AIRY_OK;
    free(text);
    return found;
}
