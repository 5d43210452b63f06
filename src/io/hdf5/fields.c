/* Geometry, mask, number of images. */
#include "io/hdf5/fields.h"

#include <string.h>

#include "base/geometry_fields.h"
#include "io/hdf5/put.h"

/*
 * The mask where XDS reads it, contiguous and of 32 bits: it refuses a file without one. NeXus has
 * it a group above, under a second name of the same dataset. Without bad pixels the zeros are a
 * hole of the file, which takes no room on the disk.
 */
static herr_t put_mask(hid_t detector, hid_t specific, const airy_stack_writer_params *p)
{
    const hsize_t shape[2] = {p->height, p->width};
    const hid_t mask = airy_put_contiguous(specific, "pixel_mask", H5T_STD_U32LE, 2, shape);
    herr_t done = mask < 0 ? -1 : 0;
    if (done >= 0 && p->mask)
        done = H5Dwrite(mask, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, p->mask);
    if (mask >= 0)
        H5Dclose(mask);
    return done < 0 ? -1
                    : H5Lcreate_hard(specific, "pixel_mask", detector, "pixel_mask", H5P_DEFAULT,
                                     H5P_DEFAULT);
}

/*
 * All of the geometry, exactly; read back before the fields of a detector that cannot say a
 * rotation.
 */
static herr_t put_poni(hid_t detector, const airy_geometry *g)
{
    const hid_t poni = airy_put_group(detector, "poni", "NXcollection");
    if (poni < 0)
        return -1;
    bool done = airy_put_string(poni, "detector", g->detector.name) >= 0 &&
                airy_put_double(poni, "orientation", g->detector.orientation, NULL) >= 0;
    for (size_t i = 0; i < AIRY_GEOMETRY_FIELDS && done; i++) {
        const struct airy_geometry_field *field = &airy_geometry_fields[i];
        done = airy_put_double(poni, field->name, airy_geometry_get(g, field), field->units) >= 0;
    }
    H5Gclose(poni);
    return done ? 0 : -1;
}

static herr_t put_geometry(hid_t instrument, hid_t detector, const airy_geometry *g)
{
    if (airy_put_string(detector, "description", g->detector.name) < 0 ||
        airy_put_double(detector, "x_pixel_size", g->detector.pixel2, "m") < 0 ||
        airy_put_double(detector, "y_pixel_size", g->detector.pixel1, "m") < 0 ||
        put_poni(detector, g) < 0)
        return -1;
    if (g->wavelength > 0) {
        const hid_t beam = airy_put_group(instrument, "beam", "NXbeam");
        const herr_t done = beam < 0 ? -1
                                     : airy_put_double(beam, "incident_wavelength",
                                                       g->wavelength * 1e10, "angstrom");
        if (beam >= 0)
            H5Gclose(beam);
        if (done < 0)
            return done;
    }
    const bool straight = g->rot1 == 0 && g->rot2 == 0 && g->rot3 == 0 &&
                          (g->detector.orientation == 0 || g->detector.orientation == 3);
    if (!straight || g->detector.pixel1 <= 0 || g->detector.pixel2 <= 0)
        return 0;
    return airy_put_double(detector, "beam_center_x", g->poni2 / g->detector.pixel2, "pixel") < 0 ||
                   airy_put_double(detector, "beam_center_y", g->poni1 / g->detector.pixel1,
                                   "pixel") < 0 ||
                   airy_put_double(detector, "detector_distance", g->dist, "m") < 0
               ? -1
               : 0;
}

/*
 * What programs for files of an Eiger look for: how many images there should be, should one of the
 * data files be missed, what a frame is, and the mask.
 */
static herr_t put_specific(hid_t detector, const airy_stack_writer_params *p)
{
    const hid_t specific = airy_put_group(detector, "detectorSpecific", "NXcollection");
    const herr_t done =
        specific < 0 || airy_put_count(specific, "nimages", p->frames) < 0 ||
                airy_put_count(specific, "ntrigger", 1) < 0 ||
                airy_put_count(specific, "x_pixels_in_detector", p->width) < 0 ||
                airy_put_count(specific, "y_pixels_in_detector", p->height) < 0 ||
                airy_put_count(specific, "bit_depth_image", 8 * airy_dtype_size(p->dtype)) < 0 ||
                put_mask(detector, specific, p) < 0
            ? -1
            : 0;
    if (specific >= 0)
        H5Gclose(specific);
    return done;
}

herr_t airy_stack_put_instrument(hid_t file, const airy_stack_writer_params *p)
{
    const bool usual_place = strcmp(p->dataset, "/entry/data/data") == 0;
    if (!p->geometry && !p->mask && !usual_place)
        return 0;
    const hid_t entry = H5Lexists(file, "/entry", H5P_DEFAULT) > 0
                            ? H5Gopen2(file, "/entry", H5P_DEFAULT)
                            : H5Gcreate2(file, "/entry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t instrument = -1, detector = -1;
    herr_t done = -1;
    if (entry >= 0)
        instrument = airy_put_group(entry, "instrument", "NXinstrument");
    if (instrument >= 0)
        detector = airy_put_group(instrument, "detector", "NXdetector");
    if (detector >= 0)
        done = p->mask || usual_place ? put_specific(detector, p) : 0;
    if (done >= 0 && p->geometry)
        done = put_geometry(instrument, detector, p->geometry);
    if (detector >= 0)
        H5Gclose(detector);
    if (instrument >= 0)
        H5Gclose(instrument);
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}
