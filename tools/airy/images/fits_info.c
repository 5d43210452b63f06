#include "images/fits_info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/sky.h"
#include "images/image_util.h"

static json_t *hdu_json(size_t number, const airy_fits_hdu *hdu)
{
    json_t *shape = json_array();
    const bool table = strstr(hdu->kind, "table") != NULL;
    for (int i = 0; i < (table ? 2 : hdu->ndim); i++)
        json_array_append_new(shape, json_integer((json_int_t)hdu->shape[i]));
    return json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "number", (json_int_t)number, "name",
                     tool_json_string(hdu->name), "kind", hdu->kind, "shape", shape, "bitpix",
                     table || hdu->ndim == 0 ? json_null() : json_integer(hdu->bitpix),
                     "compression",
                     hdu->compression[0] ? tool_json_string(hdu->compression) : json_null());
}

static void add_sky(const struct common *common, json_t *json, const airy_image *image)
{
    airy_sky *sky = NULL;
    airy_sky_info info;
    json_t *wcs = json_null(), *beam = json_null();
    if (airy_sky_create(&sky, image) == AIRY_OK && airy_sky_get_info(sky, &info) == AIRY_OK) {
        wcs = json_pack("{s:o, s:o, s:o, s:o, s:[o,o], s:[o,o], s:o}", "longitude",
                        tool_json_string(info.longitude), "latitude",
                        tool_json_string(info.latitude), "frame", tool_json_string(info.frame),
                        "equinox", tool_json_number(info.equinox), "reference_deg",
                        tool_json_number(info.reference[0]), tool_json_number(info.reference[1]),
                        "reference_px", tool_json_number(info.reference_px[0]),
                        tool_json_number(info.reference_px[1]), "pixel_deg2",
                        tool_json_number(info.pixel_deg2));
        if (info.has_beam)
            beam = json_pack(
                "{s:o, s:o, s:o, s:o}", "major_deg", tool_json_number(info.beam_major_deg),
                "minor_deg", tool_json_number(info.beam_minor_deg), "angle_deg",
                tool_json_number(info.beam_angle_deg), "area_px", tool_json_number(info.beam_px));
        if (info.warnings[0])
            tool_say(common, "%s: check the header: %s", common->inputs.items[0], info.warnings);
    }
    airy_sky_destroy(&sky);
    json_object_set_new(json, "wcs", wcs);
    json_object_set_new(json, "beam", beam);
}

int fits_info(const struct common *common, json_t *json, const char *path, const airy_image *image)
{
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    const airy_status status = airy_fits_list(&hdus, &count, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, hdu_json(i, &hdus[i]));
    free(hdus);
    json_object_set_new(json, "hdus", list);
    add_sky(common, json, image);
    return AIRY_EXIT_OK;
}

static double number_of(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static double item_of(const json_t *json, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(json, key), index));
}

void fits_print(const json_t *json)
{
    size_t i, k;
    json_t *hdu, *extent;
    json_array_foreach(json_object_get(json, "hdus"), i, hdu)
    {
        printf("  [%zu] %-12s %-16s", i, tool_json_shown(hdu, "kind"),
               tool_json_shown(hdu, "name"));
        json_array_foreach(json_object_get(hdu, "shape"), k, extent)
        {
            printf(k ? " x %lld" : " %lld", (long long)json_integer_value(extent));
        }
        if (json_is_integer(json_object_get(hdu, "bitpix")))
            printf(", BITPIX %lld", (long long)json_integer_value(json_object_get(hdu, "bitpix")));
        if (json_is_string(json_object_get(hdu, "compression")))
            printf(", %s", tool_json_shown(hdu, "compression"));
        putchar('\n');
    }
    const json_t *wcs = json_object_get(json, "wcs"), *beam = json_object_get(json, "beam");
    if (json_is_object(wcs))
        printf("  sky %s, %s %s: %.9g, %.9g deg at pixel %.9g, %.9g (from 0); pixels of %.6g "
               "arcsec^2\n",
               tool_json_shown(wcs, "longitude"), tool_json_shown(wcs, "latitude"),
               tool_json_shown(wcs, "frame"), item_of(wcs, "reference_deg", 0),
               item_of(wcs, "reference_deg", 1), item_of(wcs, "reference_px", 0),
               item_of(wcs, "reference_px", 1), number_of(wcs, "pixel_deg2") * 3600 * 3600);
    if (json_is_object(beam))
        printf("  beam %.6g x %.6g arcsec at %.6g deg, %.6g pixels\n",
               number_of(beam, "major_deg") * 3600, number_of(beam, "minor_deg") * 3600,
               number_of(beam, "angle_deg"), number_of(beam, "area_px"));
}
