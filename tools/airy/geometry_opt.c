#include "geometry_opt.h"

#include <math.h>
#include <string.h>

/* h c in keV m (CODATA 2018): wavelength [m] = HC_KEV_M / energy [keV]. */
static const double HC_KEV_M = 1.2398419843320026e-9;

static const char *parse_energy(void *field, const char *text)
{
    static char why[96];
    double energy;
    if (!opt_number(text, &energy) || !(energy >= 1e-6) || !isfinite(energy))
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
    if (!opt_number(text, &wavelength) || !(wavelength >= 1e-15) || !isfinite(wavelength))
        return "expected a number from 1e-15 to 0.001, in m";
    snprintf(why, sizeof(why), "expected at most 0.001, in m; for Angstrom write %ge-10",
             wavelength);
    if (wavelength > 1e-3)
        return why;
    *(double *)field = wavelength;
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
     .argument = "NAME",
     .help = "detector of the registry, such as eiger_4M"},
    {.name = "pixel",
     .type = OPT_PAIR,
     FIELD(pixel),
     SEEN(has_pixel),
     .argument = "P1,P2",
     .help = "pixel height and width in m, for a detector that is not in the registry"},
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
    {0},
};

bool geometry_given(const struct geometry_params *p)
{
    return p->poni || p->detector || p->has_pixel || p->has_orientation || p->has_dist ||
           p->has_poni1 || p->has_poni2 || p->has_rot1 || p->has_rot2 || p->has_rot3 ||
           p->has_wavelength || p->has_energy;
}

int geometry_override(airy_geometry *g, const struct geometry_params *p)
{
    if (p->has_wavelength && p->has_energy)
        return tool_usage(&p->common, "--wavelength and --energy: give one of them");
    if (p->detector) {
        const airy_status status = airy_detector_find(&g->detector, p->detector);
        if (status != AIRY_OK)
            return tool_failed(&p->common, status);
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
    if (p->has_orientation)
        g->detector.orientation = (int)p->orientation;
    g->dist = p->has_dist ? p->dist : g->dist;
    g->poni1 = p->has_poni1 ? p->poni1 : g->poni1;
    g->poni2 = p->has_poni2 ? p->poni2 : g->poni2;
    g->rot1 = p->has_rot1 ? p->rot1 : g->rot1;
    g->rot2 = p->has_rot2 ? p->rot2 : g->rot2;
    g->rot3 = p->has_rot3 ? p->rot3 : g->rot3;
    g->wavelength = p->has_wavelength ? p->wavelength
                    : p->has_energy   ? HC_KEV_M / p->energy
                                      : g->wavelength;
    return AIRY_EXIT_OK;
}

/* The frames must have the detector's shape; a detector without one takes theirs. */
static int fit_shape(airy_geometry *g, const struct common *common, size_t height, size_t width)
{
    if (g->detector.height == 0 || g->detector.width == 0) {
        g->detector.height = height;
        g->detector.width = width;
    }
    if (g->detector.height == height && g->detector.width == width)
        return AIRY_EXIT_OK;
    airy_detector other;
    char hint[128] = "give the right --detector";
    if (airy_detector_find_shape(&other, height, width) == AIRY_OK)
        snprintf(hint, sizeof(hint), "a detector of that shape is '%s'", other.name);
    return tool_fail(common, "frames of %zu x %zu pixels do not fit detector '%s' of %zu x %zu; %s",
                     height, width, g->detector.name, g->detector.height, g->detector.width, hint);
}

int geometry_resolve(airy_geometry *g, const struct geometry_params *p, const airy_stack_meta *meta,
                     size_t height, size_t width)
{
    const struct common *common = &p->common;
    memset(g, 0, sizeof(*g));
    const bool from_file = meta && meta->has_geometry && !p->poni;
    if (p->poni) {
        const airy_status status = airy_geometry_read(g, p->poni);
        if (status != AIRY_OK)
            return tool_failed(common, status);
    } else if (from_file) {
        *g = meta->geometry;
    } else if (!geometry_given(p)) {
        return tool_usage(common, "no geometry: the file has none, so give --poni FILE, or "
                                  "--detector, --dist, --poni1, --poni2 and "
                                  "--wavelength");
    } else if (!p->has_dist || !p->has_poni1 || !p->has_poni2 || (!p->detector && !p->has_pixel)) {
        return tool_usage(common, "the geometry lacks --%s",
                          !p->has_dist    ? "dist"
                          : !p->has_poni1 ? "poni1"
                          : !p->has_poni2 ? "poni2"
                                          : "detector");
    }
    const int code = geometry_override(g, p);
    if (code != AIRY_EXIT_OK)
        return code;
    if (fit_shape(g, common, height, width) != AIRY_EXIT_OK)
        return AIRY_EXIT_FAILED;
    const airy_status status = airy_geometry_check(g);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

json_t *geometry_json(const airy_geometry *g)
{
    const airy_detector *d = &g->detector;
    json_t *shape = d->height && d->width
                        ? json_pack("[I,I]", (json_int_t)d->height, (json_int_t)d->width)
                        : json_null();
    json_t *wavelength = g->wavelength > 0 ? json_real(g->wavelength) : json_null();
    return json_pack("{s:s, s:f, s:f, s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:b}",
                     "detector", d->name, "pixel1", d->pixel1, "pixel2", d->pixel2, "shape", shape,
                     "orientation", d->orientation ? d->orientation : 3, "dist", g->dist, "poni1",
                     g->poni1, "poni2", g->poni2, "rot1", g->rot1, "rot2", g->rot2, "rot3", g->rot3,
                     "wavelength", wavelength, "parallax", g->parallax);
}

bool geometry_from_json(airy_geometry *g, const json_t *json)
{
    const char *name = NULL;
    const json_t *wavelength = NULL;
    json_int_t height = 0, width = 0;
    int parallax = 0;
    memset(g, 0, sizeof(*g));
    if (json_unpack(
            (json_t *)json, "{s:s, s:F, s:F, s:[I,I], s:i, s:F, s:F, s:F, s:F, s:F, s:F, s:o, s:b}",
            "detector", &name, "pixel1", &g->detector.pixel1, "pixel2", &g->detector.pixel2,
            "shape", &height, &width, "orientation", &g->detector.orientation, "dist", &g->dist,
            "poni1", &g->poni1, "poni2", &g->poni2, "rot1", &g->rot1, "rot2", &g->rot2, "rot3",
            &g->rot3, "wavelength", &wavelength, "parallax", &parallax) != 0)
        return false;
    airy_detector known;
    if (height < 0 || width < 0 || airy_detector_find(&known, name) != AIRY_OK)
        memset(&known, 0, sizeof(known));
    snprintf(g->detector.name, sizeof(g->detector.name), "%s", name);
    g->detector.height = (size_t)height;
    g->detector.width = (size_t)width;
    g->detector.dectris_dummy = known.dectris_dummy;
    g->wavelength = json_is_number(wavelength) ? json_number_value(wavelength) : 0;
    g->parallax = parallax != 0;
    return true;
}
