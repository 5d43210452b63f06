/*
 * NeXus detector files, sound as HDF5 and odd in what they say: types, shapes, values and names come
 * from the input. What is accepted has a shape and pixels, arrays that fit them, and positions that
 * are numbers; a PONI that names the file gives the same detector.
 *
 * Input: a list of datasets, each a byte for its name, its type, its shape, and bytes of values.
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/hdf5/util.h"

enum { MAX_STEPS = 16, MAX_VALUES = 2048, MAX_PIXELS = 1 << 14 };

static double take_value(struct input *in)
{
    static const double odd[8] = {NAN, INFINITY, -1, 0, 1e300, 1e-300, 4, 5e9};
    const unsigned n = take(in);
    return n < 8 ? odd[n] : n < 128 ? (n - 8) * 1e-5 : n - 127;
}

static hid_t take_type(struct input *in)
{
    const unsigned n = take(in) % 10;
    hid_t text;
    switch (n) {
    case 0:
        return H5Tcopy(H5T_STD_I32LE);
    case 1:
        return H5Tcopy(H5T_STD_U8LE);
    case 2:
        return H5Tcopy(H5T_IEEE_F32LE);
    case 3:
        return H5Tcopy(H5T_IEEE_F64BE);
    case 4:
        text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, 1 + take(in) % 40);
        return text;
    default:
        return H5Tcopy(H5T_IEEE_F64LE);
    }
}

/* Mostly the shape that the dataset should have. */
static hid_t take_space(struct input *in, unsigned name, const hsize_t sides[2])
{
    static const hsize_t usual[8] = {0, 1, 2, 3, 4, 5, 8, (hsize_t)1 << 40};
    const unsigned n = take(in);
    hsize_t shape[5] = {sides[0], sides[1], 4, 3, 2};
    int ndim = name == 2 ? 4 : name == 3 ? 2 : name < 2 ? 1 : 0;
    if (ndim == 1)
        shape[0] = 2;
    if (n >= 200)
        ndim = (int)(n % 6);
    for (int axis = 0; axis < ndim && n >= 160; axis++)
        shape[axis] = usual[take(in) % 8];
    return ndim ? H5Screate_simple(ndim, shape, NULL) : H5Screate(H5S_SCALAR);
}

static void put_dataset(struct input *in, hid_t group, const hsize_t sides[2])
{
    static const char *const names[] = {
        "pixel_size",  "shape",   "pixel_corners",    "mask",
        "orientation", "CORNERS", "sensor_thickness", "sensor_material",
        "max_shape",   "dummy",   "delta_dummy",      "flatfield"};
    const unsigned name = take(in) % (sizeof(names) / sizeof(names[0]));
    const hid_t type = name == 7 && take(in) % 4 ? H5Tcopy(H5T_C_S1) : take_type(in);
    if (name == 7 && H5Tget_class(type) == H5T_STRING)
        H5Tset_size(type, 1 + take(in) % 40);
    const hid_t space = take_space(in, name, sides);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    const hid_t set =
        H5Dcreate2(group, names[name], type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (set >= 0 && points > 0 && points <= MAX_VALUES && H5Tget_class(type) != H5T_STRING) {
        static double values[MAX_VALUES];
        const bool plain = name == 2 && take(in) % 4; /* corners of a plane, some moved */
        for (hssize_t i = 0; i < points; i++)
            values[i] = plain ? (double)i * 1e-6 : in->left ? take_value(in) : (double)(i % 2);
        if (name < 2 && points == 2 && take(in) % 4)
            for (int k = 0; k < 2; k++)
                values[k] = name ? (double)sides[k] : 1e-4;
        if (plain && in->left)
            values[take(in) * 7u % (size_t)points] = take_value(in);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    } else if (set >= 0 && points == 1 && H5Tget_class(type) == H5T_STRING) {
        char text[64] = "CdTe";
        text[0] = take(in) % 4 ? text[0] : (char)take(in);
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    }
    if (set >= 0)
        H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_class(struct input *in, hid_t group)
{
    const hid_t word = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
    char text[16] = "NXdetector";
    H5Tset_size(word, 10);
    if (take(in) % 8 == 7)
        text[take(in) % 10] = (char)take(in);
    const hid_t note = H5Acreate2(group, "NX_class", word, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(note, word, text);
    H5Aclose(note);
    H5Sclose(scalar);
    H5Tclose(word);
}

static void build(const char *path, struct input *in)
{
    require(airy_hdf5_lock() == AIRY_OK);
    const hsize_t sides[2] = {1 + take(in) % 8, 1 + take(in) % 8};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t entry = H5Gcreate2(file, "entry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(entry, "A_detector", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    require(file >= 0 && group >= 0);
    put_class(in, group);
    for (int step = 0; step < MAX_STEPS && in->left > 0; step++)
        put_dataset(in, group, sides);
    H5Gclose(group);
    H5Gclose(entry);
    H5Fclose(file);
    airy_hdf5_unlock();
}

static void use_detector(airy_detector *d, unsigned binning)
{
    const size_t height = d->height, width = d->width;
    require(height > 0 && width > 0 && d->pixel1 > 0 && d->pixel2 > 0);
    require(memchr(d->name, '\0', sizeof(d->name)) != NULL);
    if (height > MAX_PIXELS || width > MAX_PIXELS || height * width > MAX_PIXELS)
        return;
    if (binning & 1)
        (void)airy_detector_bin(d, 1 + (int)(binning >> 1 & 3), 1 + (int)(binning >> 3 & 3));
    airy_detector_arrays *arrays = NULL;
    if (airy_detector_open(&arrays, d) == AIRY_OK) {
        const size_t pixels = d->height * d->width;
        const airy_geometry g = {.detector = *d, .dist = 0.1, .wavelength = 1e-10};
        uint8_t *mask = malloc(pixels);
        double *out = malloc(pixels * sizeof(*out));
        require(mask && out);
        if (airy_detector_mask(d, mask) == AIRY_OK &&
            airy_geometry_centers(&g, AIRY_UNIT_TTH_DEG, out) == AIRY_OK)
            for (size_t i = 0; i < pixels; i++)
                require(mask[i] || (out[i] >= 0 && out[i] <= 180));
        free(mask);
        free(out);
    }
    airy_detector_arrays_destroy(&arrays);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    char path[32];
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/airy-XXXXXX.h5" : "/tmp/airy-XXXXXX.h5");
    const int fd = mkstemps(path, 3);
    require(fd >= 0);
    close(fd);
    const unsigned binning = take(&in);
    build(path, &in);
    airy_detector detector;
    if (airy_detector_read(&detector, path) == AIRY_OK)
        use_detector(&detector, binning);
    unlink(path);
    return 0;
}
