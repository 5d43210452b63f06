/* A geometry as JSON, which configurations of results hold. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/geometry.h"
#include "airy/provenance.h"
#include "base/error.h"

static bool parse_detector(airy_detector *d, const json_t *json)
{
    const json_t *file = json_object_get(json, "detector_file"),
                 *binning = json_object_get(json, "binning"),
                 *sensor = json_object_get(json, "sensor");
    const char *material = "";
    if (file && (!json_is_string(file) || json_string_length(file) >= sizeof(d->file)))
        return false;
    if (file)
        strcpy(d->file, json_string_value(file));
    if (binning && json_unpack((json_t *)binning, "[i,i]", &d->binning1, &d->binning2) != 0)
        return false;
    if (sensor &&
        (json_unpack((json_t *)sensor, "{s:s, s:F, s:F}", "material", &material, "thickness",
                     &d->sensor.thickness, "attenuation", &d->sensor.attenuation) != 0 ||
         strlen(material) >= sizeof(d->sensor.material)))
        return false;
    strcpy(d->sensor.material, material);
    return true;
}

static bool parse(airy_geometry *g, const json_t *json)
{
    const char *name = NULL;
    const json_t *wavelength = NULL;
    json_int_t height = 0, width = 0;
    int parallax = 0;
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
    return parse_detector(&g->detector, json);
}

airy_status airy_geometry_parse(airy_geometry *geometry, const char *json)
{
    AIRY_FAIL_IF(!geometry || !json, AIRY_ERR_PARAM,
                 "airy_geometry_parse: geometry or json is NULL");
    memset(geometry, 0, sizeof(*geometry));
    json_t *all = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    json_t *inside = json_object_get(all, "geometry");
    const bool good = parse(geometry, inside ? inside : all);
    json_decref(all);
    AIRY_FAIL_IF(!good, AIRY_ERR_FORMAT, "the JSON has no geometry");
    return AIRY_OK;
}

/* ---- to JSON ---- */

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* A name that is not UTF-8 is read as Latin-1. */
static json_t *text_json(const char *text)
{
    char *utf8 = NULL;
    json_t *json = airy_utf8_copy(&utf8, text) == AIRY_OK ? json_string(utf8) : NULL;
    free(utf8);
    return json;
}

/* Beside what geometry_json packs: what few detectors have. */
static void add_detector_json(json_t *json, const airy_detector *d)
{
    if (d->file[0])
        json_object_set_new(json, "detector_file", text_json(d->file));
    if (d->binning1 > 1 || d->binning2 > 1)
        json_object_set_new(json, "binning",
                            json_pack("[i,i]", d->binning1 > 1 ? d->binning1 : 1,
                                      d->binning2 > 1 ? d->binning2 : 1));
    if (d->sensor.material[0] || d->sensor.attenuation > 0)
        json_object_set_new(json, "sensor",
                            json_pack("{s:o, s:o, s:o}", "material", text_json(d->sensor.material),
                                      "thickness", number_json(d->sensor.thickness), "attenuation",
                                      number_json(d->sensor.attenuation)));
}

static json_t *geometry_json(const airy_geometry *g)
{
    const airy_detector *d = &g->detector;
    json_t *shape = d->height && d->width
                        ? json_pack("[I,I]", (json_int_t)d->height, (json_int_t)d->width)
                        : json_null();
    json_t *wavelength = g->wavelength > 0 ? number_json(g->wavelength) : json_null();
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "detector",
        text_json(d->name), "pixel1", number_json(d->pixel1), "pixel2", number_json(d->pixel2),
        "shape", shape, "orientation", d->orientation ? d->orientation : 3, "dist",
        number_json(g->dist), "poni1", number_json(g->poni1), "poni2", number_json(g->poni2),
        "rot1", number_json(g->rot1), "rot2", number_json(g->rot2), "rot3", number_json(g->rot3),
        "wavelength", wavelength, "parallax", g->parallax);
    if (json)
        add_detector_json(json, d);
    return json;
}

airy_status airy_geometry_print(char **text, const airy_geometry *geometry)
{
    AIRY_FAIL_IF(!text || !geometry, AIRY_ERR_PARAM, "airy_geometry_print: argument is NULL");
    json_t *json = geometry_json(geometry);
    *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for JSON");
    return AIRY_OK;
}
