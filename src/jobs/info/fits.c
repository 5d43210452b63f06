/* The HDUs, coordinates and beam of a FITS file. */
#include <stdlib.h>
#include <string.h>

#include "airy/sky.h"
#include "base/error.h"
#include "jobs/image_group.h"
#include "jobs/info/info.h"

static json_t *hdu_json(size_t number, const airy_fits_hdu *hdu)
{
    json_t *shape = json_array();
    const bool table = strstr(hdu->kind, "table") != NULL;
    for (int i = 0; i < (table ? 2 : hdu->ndim); i++)
        json_array_append_new(shape, json_integer((json_int_t)hdu->shape[i]));
    return json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "number", (json_int_t)number, "name",
                     airy_json_text(hdu->name), "kind", hdu->kind, "shape", shape, "bitpix",
                     table || hdu->ndim == 0 ? json_null() : json_integer(hdu->bitpix),
                     "compression",
                     hdu->compression[0] ? airy_json_text(hdu->compression) : json_null());
}

static void add_sky(json_t *json, const struct info *info, const airy_image *image)
{
    airy_sky *sky = NULL;
    airy_sky_info i;
    json_t *wcs = json_null(), *beam = json_null();
    if (airy_sky_create(&sky, image) == AIRY_OK && airy_sky_get_info(sky, &i) == AIRY_OK) {
        wcs = json_pack(
            "{s:o, s:o, s:o, s:o, s:[o,o], s:[o,o], s:o}", "longitude", airy_json_text(i.longitude),
            "latitude", airy_json_text(i.latitude), "frame", airy_json_text(i.frame), "equinox",
            airy_json_real(i.equinox), "reference_deg", airy_json_real(i.reference[0]),
            airy_json_real(i.reference[1]), "reference_px", airy_json_real(i.reference_px[0]),
            airy_json_real(i.reference_px[1]), "pixel_deg2", airy_json_real(i.pixel_deg2));
        if (i.has_beam)
            beam = json_pack("{s:o, s:o, s:o, s:o}", "major_deg", airy_json_real(i.beam_major_deg),
                             "minor_deg", airy_json_real(i.beam_minor_deg), "angle_deg",
                             airy_json_real(i.beam_angle_deg), "area_px",
                             airy_json_real(i.beam_px));
        if (i.warnings[0])
            airy_info_warn(info, "%s: check the header: %s", info->paths[0], i.warnings);
    }
    airy_sky_destroy(&sky);
    json_object_set_new(json, "wcs", wcs);
    json_object_set_new(json, "beam", beam);
}

airy_status airy_info_add_fits(json_t *json, const struct info *info, const airy_image *image)
{
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    AIRY_TRY(airy_fits_list(&hdus, &count, info->paths[0]));
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, hdu_json(i, &hdus[i]));
    free(hdus);
    json_object_set_new(json, "hdus", list);
    add_sky(json, info, image);
    return AIRY_OK;
}
