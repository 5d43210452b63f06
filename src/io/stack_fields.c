/* What a stack that is written says of itself: geometry, mask, number of images. */
#include "base/geometry_fields.h"
#include "io/hdf5_put.h"
#include "io/stack_file.h"

static herr_t put_mask(hid_t detector, const airy_stack_writer_params *p)
{
    const hsize_t shape[2] = {p->height, p->width};
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(2, shape, NULL);
    hid_t mask = -1;
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, 2, shape) >= 0 &&
        (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 || H5Pset_deflate(creation, 1) >= 0))
        mask = H5Dcreate2(detector, "pixel_mask", H5T_STD_U32LE, space, H5P_DEFAULT, creation,
                          H5P_DEFAULT);
    herr_t done =
        mask < 0 ? -1 : H5Dwrite(mask, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, p->mask);
    if (mask >= 0)
        H5Dclose(mask);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return done;
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

/* How many images there should be, should one of the data files be missed. */
static herr_t put_images(hid_t detector, size_t frames)
{
    const hid_t specific = airy_put_group(detector, "detectorSpecific", "NXcollection");
    const herr_t done = specific < 0 || airy_put_count(specific, "nimages", frames) < 0
                            ? -1
                            : airy_put_count(specific, "ntrigger", 1);
    if (specific >= 0)
        H5Gclose(specific);
    return done;
}

herr_t airy_stack_put_instrument(hid_t file, const airy_stack_writer_params *p, bool series)
{
    if (!p->geometry && !p->mask && !series)
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
        done = p->mask ? put_mask(detector, p) : 0;
    if (done >= 0 && p->geometry)
        done = put_geometry(instrument, detector, p->geometry);
    if (done >= 0 && series)
        done = put_images(detector, p->frames);
    if (detector >= 0)
        H5Gclose(detector);
    if (instrument >= 0)
        H5Gclose(instrument);
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}
