#include "golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hid_t golden_open(struct golden *g, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", g->dir, name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        golden_complain(g, "cannot open %s", path);
    return file;
}

/* Open a dataset of one, two or [1, y, x] dimensions; count 0 on failure. */
static hid_t open_dataset(hid_t file, const char *path, size_t shape[2], size_t *count)
{
    *count = 0;
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (set < 0)
        return set;
    const hid_t space = H5Dget_space(set);
    hsize_t dims[4] = {0};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank >= 1 && rank <= 4)
        H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    if (rank < 1 || rank > 4)
        return set;
    size_t n = 1;
    for (int k = 0; k < rank; k++)
        n *= dims[k];
    if (shape) {
        shape[1] = dims[rank - 1];
        shape[0] = n / shape[1];
    }
    *count = n;
    return set;
}

static void *read_as(struct golden *g, hid_t file, const char *path, hid_t type, size_t size,
                     size_t shape[2])
{
    size_t count = 0;
    const hid_t set = open_dataset(file, path, shape, &count);
    void *data = count ? malloc(count * size) : NULL;
    if (data && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        free(data);
        data = NULL;
    }
    if (set >= 0)
        H5Dclose(set);
    if (!data)
        golden_complain(g, "cannot read dataset %s", path);
    return data;
}

double *golden_doubles(struct golden *g, hid_t file, const char *path, size_t shape[2])
{
    return read_as(g, file, path, H5T_NATIVE_DOUBLE, sizeof(double), shape);
}

float *golden_floats(struct golden *g, hid_t file, const char *path)
{
    return read_as(g, file, path, H5T_NATIVE_FLOAT, sizeof(float), NULL);
}

static bool type_dtype(hid_t type, airy_dtype *dtype, hid_t *native)
{
    const size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT) {
        *dtype = size == 4 ? AIRY_DTYPE_F32 : AIRY_DTYPE_F64;
        *native = size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
        return size == 4 || size == 8;
    }
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    switch (size) {
    case 1:
        *dtype = is_signed ? AIRY_DTYPE_I8 : AIRY_DTYPE_U8;
        *native = is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
        return true;
    case 2:
        *dtype = is_signed ? AIRY_DTYPE_I16 : AIRY_DTYPE_U16;
        *native = is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
        return true;
    case 4:
        *dtype = is_signed ? AIRY_DTYPE_I32 : AIRY_DTYPE_U32;
        *native = is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
        return true;
    default:
        return false;
    }
}

void *golden_pixels(struct golden *g, hid_t file, const char *path, airy_dtype *dtype,
                    size_t shape[2])
{
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    const hid_t type = set >= 0 ? H5Dget_type(set) : -1;
    hid_t native = -1;
    const bool known = type >= 0 && type_dtype(type, dtype, &native);
    if (type >= 0)
        H5Tclose(type);
    if (set >= 0)
        H5Dclose(set);
    if (!known) {
        golden_complain(g, "dataset %s is missing or of an odd type", path);
        return NULL;
    }
    return read_as(g, file, path, native, airy_dtype_size(*dtype), shape);
}

void *golden_chunk(hid_t file, const char *path, size_t *size)
{
    if (H5Lexists(file, path, H5P_DEFAULT) <= 0)
        return NULL;
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    const hsize_t origin[3] = {0, 0, 0};
    hsize_t stored = 0;
    uint32_t mask = 0;
    void *chunk = NULL;
    if (set >= 0 && H5Dget_chunk_storage_size(set, origin, &stored) >= 0 && stored > 0)
        chunk = malloc(stored);
    if (chunk && (H5Dread_chunk(set, H5P_DEFAULT, origin, &mask, chunk) < 0 || mask != 0)) {
        free(chunk);
        chunk = NULL;
    }
    if (set >= 0)
        H5Dclose(set);
    *size = stored;
    return chunk;
}

double *golden_results(struct golden *g, hid_t file, size_t offset, size_t count)
{
    double *data = malloc(count * sizeof *data);
    const hid_t set = H5Dopen2(file, "results", H5P_DEFAULT);
    const hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    const hsize_t start = offset, n = count;
    const hid_t memory = H5Screate_simple(1, &n, NULL);
    const bool read = data && space >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &n, NULL) >= 0 &&
                      H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0;
    H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    if (!read) {
        golden_complain(g, "cannot read results [%zu, %zu)", offset, offset + count);
        free(data);
        return NULL;
    }
    return data;
}

json_t *golden_attribute_json(struct golden *g, hid_t file, const char *object, const char *name)
{
    json_t *json = NULL;
    char *text = NULL;
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    if (attribute >= 0 && H5Aread(attribute, type, &text) >= 0 && text) {
        json = json_loads(text, JSON_DECODE_ANY, NULL);
        if (!json)
            json = json_string(text);
        H5free_memory(text);
    }
    H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (!json)
        golden_complain(g, "cannot read attribute %s of %s", name, object);
    return json;
}

bool golden_attribute_numbers(hid_t file, const char *object, const char *name, double *values,
                              size_t count)
{
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0)
        return false;
    const hid_t space = H5Aget_space(attribute);
    const bool read = (size_t)H5Sget_simple_extent_npoints(space) == count &&
                      H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
    H5Sclose(space);
    H5Aclose(attribute);
    return read;
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

bool golden_geometry(struct golden *g, airy_geometry *geometry, const json_t *group)
{
    const json_t *o = json_object_get(group, "geometry");
    *geometry = (airy_geometry){0};
    if (!golden_ok(g, "airy_detector_find",
                   airy_detector_find(&geometry->detector,
                                      json_string_value(json_object_get(o, "detector")))))
        return false;
    const json_t *shape = json_object_get(o, "shape");
    geometry->detector.height = (size_t)json_integer_value(json_array_get(shape, 0));
    geometry->detector.width = (size_t)json_integer_value(json_array_get(shape, 1));
    geometry->detector.pixel1 = number(o, "pixel1");
    geometry->detector.pixel2 = number(o, "pixel2");
    geometry->detector.orientation = (int)json_integer_value(json_object_get(o, "orientation"));
    geometry->dist = number(o, "dist");
    geometry->poni1 = number(o, "poni1");
    geometry->poni2 = number(o, "poni2");
    geometry->rot1 = number(o, "rot1");
    geometry->rot2 = number(o, "rot2");
    geometry->rot3 = number(o, "rot3");
    geometry->wavelength = number(o, "wavelength");
    return true;
}
