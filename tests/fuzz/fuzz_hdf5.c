/*
 * HDF5 files that are sound as such and odd in everything they say: built through libhdf5 as the
 * input asks, then given to every reader. Types, shapes, chunk shapes, filter parameters, chunk
 * bytes, attributes and links come from the input.
 *
 * Input: a list of steps, each a byte for its kind and bytes that it takes as it needs them; what
 *        is missing counts as 0.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/hdf5/util.h"
#include "io/stack/source.h"

enum { MAX_STEPS = 24, MAX_PIXELS = 1 << 16, MAX_BYTES = 1 << 18 };

static const char *const names[] = {
    "/entry/data/data",
    "/entry/data/data_000001",
    "/entry/data/data_000002",
    "/data",
    "/entry/instrument/detector/pixel_mask",
    "/entry/instrument/detector/x_pixel_size",
    "/entry/instrument/detector/y_pixel_size",
    "/entry/instrument/detector/detector_distance",
    "/entry/instrument/detector/beam_center_x",
    "/entry/instrument/detector/beam_center_y",
    "/entry/instrument/detector/saturation_value",
    "/entry/instrument/detector/description",
    "/entry/instrument/detector/geometry/orientation/value",
    "/entry/instrument/detector/poni/dist",
    "/entry/instrument/beam/incident_energy",
    "/entry/instrument/beam/incident_wavelength",
    "/entry/other/beam_center_x",
    "/entry",
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const char *take_name(struct input *in)
{
    return names[take(in) % NAMES];
}

static hsize_t take_extent(struct input *in)
{
    static const hsize_t usual[16] = {1,
                                      2,
                                      3,
                                      4,
                                      8,
                                      9,
                                      16,
                                      24,
                                      0,
                                      1,
                                      2,
                                      4,
                                      1 << 20,
                                      (hsize_t)1 << 32,
                                      (hsize_t)1 << 40,
                                      (hsize_t)1 << 62};
    return usual[take(in) % 16];
}

static unsigned take_value(struct input *in)
{
    static const unsigned usual[16] = {0,   1,     2,     3,        4,        8,        16,  64,
                                       512, 65536, 65537, 1u << 28, 1u << 29, 1u << 31, ~0u, 6};
    const unsigned n = take(in);
    return n < 192 ? usual[n % 16] : n << 8 | take(in);
}

static hid_t take_string_type(struct input *in)
{
    static const size_t sizes[4] = {1, 2, 31, 300};
    const unsigned n = take(in);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, n & 1 ? H5T_VARIABLE : sizes[n >> 1 & 3]);
    H5Tset_strpad(type, n & 8 ? H5T_STR_SPACEPAD : n & 16 ? H5T_STR_NULLPAD : H5T_STR_NULLTERM);
    return type;
}

/* A complex number, or what looks like one: other names, parts of other types, room between them. */
static hid_t take_complex(struct input *in)
{
    const unsigned n = take(in);
    const hid_t real = n & 1 ? H5T_IEEE_F64BE : H5T_IEEE_F32LE,
                other = n & 2 ? H5T_STD_I32LE : real;
    const size_t size = H5Tget_size(real), gap = n >> 4 & 7;
    const hid_t type = H5Tcreate(H5T_COMPOUND, size + gap + H5Tget_size(other));
    H5Tinsert(type, n & 4 ? "i" : "r", 0, real);
    H5Tinsert(type, n & 4 ? "r" : n & 8 ? "k" : "i", size + gap, other);
    return type;
}

static hid_t take_type(struct input *in)
{
    const unsigned n = take(in) % 20;
    const hsize_t three = 3;
    hid_t type;
    switch (n) {
    case 0:
        return H5Tcopy(H5T_STD_U8LE);
    case 1:
        return H5Tcopy(H5T_STD_I8LE);
    case 2:
        return H5Tcopy(H5T_STD_U32LE);
    case 3:
        return H5Tcopy(H5T_STD_I64BE);
    case 4:
        return H5Tcopy(H5T_IEEE_F32LE);
    case 5:
        return H5Tcopy(H5T_IEEE_F64LE);
    case 6:
        return H5Tcopy(H5T_IEEE_F64BE);
    case 7:
        return take_string_type(in);
    case 19:
        return take_complex(in);
    case 8:
        type = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(type, "a", 0, H5T_STD_U32LE);
        return type;
    case 9:
        return H5Tvlen_create(H5T_STD_U16LE);
    case 10:
        return H5Tarray_create2(H5T_STD_U16LE, 1, &three);
    case 11:
        return H5Tcopy(H5T_STD_REF_OBJ);
    case 12:
        return H5Tcreate(H5T_OPAQUE, 1 + take(in));
    case 13:
        return H5Tcreate(H5T_ENUM, 2);
    case 14:
        type = H5Tcopy(H5T_STD_U32LE); /* an integer of 3 bytes, or one with padding */
        H5Tset_precision(type, 12);
        H5Tset_size(type, 1 + take(in) % 8);
        return type;
    default:
        return H5Tcopy(H5T_STD_U16LE);
    }
}

struct shape {
    int ndim;
    hsize_t extent[8], chunk[8];
};

static hid_t take_space(struct input *in, struct shape *shape)
{
    const unsigned n = take(in) % 12;
    memset(shape, 0, sizeof(*shape));
    shape->ndim = n < 6 ? 3 : (int)n - 6; /* mostly stacks */
    if (n == 11) {
        shape->ndim = 0;
        return H5Screate(H5S_NULL);
    }
    for (int axis = 0; axis < shape->ndim; axis++)
        shape->extent[axis] = take_extent(in);
    return shape->ndim ? H5Screate_simple(shape->ndim, shape->extent, NULL) : H5Screate(H5S_SCALAR);
}

/* A pipeline of up to three filters; ours are not registered now, so that any parameters pass. */
static void take_filters(struct input *in, hid_t creation)
{
    for (unsigned count = take(in) % 4; count > 0; count--) {
        static const H5Z_filter_t known[8] = {
            AIRY_FILTER_BITSHUFFLE, AIRY_FILTER_BITSHUFFLE, AIRY_FILTER_LZ4, 1, 2, 3, 307, 32015};
        const H5Z_filter_t filter = known[take(in) % 8];
        unsigned values[7] = {0, 4, 2, 0, 2, 0, 0};
        size_t used = filter == AIRY_FILTER_BITSHUFFLE ? 5 : 1;
        if (take(in) & 1) {
            used = take(in) % 8;
            for (size_t i = 0; i < used; i++)
                values[i] = take_value(in);
        }
        H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, used, values);
    }
}

static hid_t take_creation(struct input *in, struct shape *shape)
{
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const unsigned n = take(in);
    if (shape->ndim > 0 && n % 4) {
        for (int axis = 0; axis < shape->ndim; axis++) {
            const bool leading = axis < shape->ndim - 2;
            shape->chunk[axis] = n % 4 == 1 ? take_extent(in) : leading ? 1 : shape->extent[axis];
        }
        if (H5Pset_chunk(creation, shape->ndim, shape->chunk) >= 0)
            take_filters(in, creation);
        else
            shape->chunk[0] = 0;
    } else if (n & 16) {
        H5Pset_layout(creation, H5D_COMPACT);
    }
    return creation;
}

/* Bytes of a chunk from the input, mostly behind a header that fits. */
static void put_chunks(struct input *in, hid_t dataset, const struct shape *shape, size_t element)
{
    uint8_t bytes[128] = {0};
    uint64_t decoded = element;
    for (int axis = 0; axis < shape->ndim; axis++)
        decoded *= shape->chunk[axis];
    for (unsigned count = take(in) % 5; count > 0; count--) {
        hsize_t offset[8] = {0};
        bool inside = true; /* libhdf5 does not look, and its index has room for the whole shape */
        for (int axis = 0; axis < shape->ndim; axis++) {
            offset[axis] = take(in) % 4 * shape->chunk[axis];
            inside = inside && offset[axis] < shape->extent[axis] && shape->extent[axis] <= 1 << 20;
        }
        const size_t size = 1 + take(in) % (sizeof(bytes) - 1);
        const unsigned kind = take(in);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)take(in);
        for (int i = 0; i < 8 && kind & 3; i++)
            bytes[i] = (uint8_t)(decoded >> (8 * (7 - i)));
        if (kind & 2)
            memcpy(bytes + 8, (uint8_t[4]){0, 0, 0x20, 0}, 4);
        if (inside)
            H5Dwrite_chunk(dataset, H5P_DEFAULT, kind >> 6, offset, size, bytes);
    }
}

/* True if reading it whole would only test how fast memory is cleared. */
static bool put_dataset(struct input *in, hid_t file, hid_t links)
{
    struct shape shape;
    const char *name = take_name(in);
    const hid_t type = take_type(in), space = take_space(in, &shape),
                creation = take_creation(in, &shape);
    const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    bool heavy = points > MAX_BYTES;
    if (dataset >= 0 && shape.chunk[0] > 0) {
        put_chunks(in, dataset, &shape, H5Tget_size(type));
    } else if (dataset >= 0 && points > 0 && points < 1024 &&
               (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT)) {
        double values[1024];
        for (int i = 0; i < 1024; i++)
            values[i] = (double)take(in) - 20;
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    else
        heavy = false;
    H5Pclose(creation);
    H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return heavy;
}

static void put_attribute(struct input *in, hid_t file)
{
    static const char *const attributes[4] = {"units", "units", "signal", "NX_class"};
    static const char *const texts[8] = {
        "m", "um",    "mm",        "keV",
        "",  "pixel", "\xc2\xb5m", "a unit of many letters, that is none, and more"};
    const char *object = take_name(in), *name = attributes[take(in) % 4];
    const hid_t type = take(in) % 4 ? take_string_type(in) : take_type(in);
    hsize_t count = take(in) % 8 * (hsize_t)(1 + take(in) % 16);
    const hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const size_t n = count ? (size_t)count : 1;
    if (attribute >= 0 && H5Tget_class(type) == H5T_STRING) {
        const char *text = texts[take(in) % 8];
        const size_t bytes = H5Tget_size(type);
        const char *variable[128];
        char *fixed = calloc(n, bytes);
        require(fixed != NULL && n <= 128);
        for (size_t i = 0; i < n; i++) {
            variable[i] = text;
            memset(fixed + i * bytes, 'm', bytes);
            memcpy(fixed + i * bytes, text, bytes < strlen(text) ? bytes : strlen(text));
        }
        H5Awrite(attribute, type, H5Tis_variable_str(type) > 0 ? (const void *)variable : fixed);
        free(fixed);
    }
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
}

static bool put_virtual(struct input *in, hid_t file, hid_t links)
{
    struct shape to, from;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = take_space(in, &to);
    const char *name = take_name(in);
    for (unsigned count = 1 + take(in) % 4; count > 0; count--) {
        const hid_t target = H5Scopy(space), source = take_space(in, &from);
        hsize_t start[8] = {0}, step[8], number[8], block[8];
        for (int axis = 0; axis < 8; axis++) {
            const bool frame = axis >= to.ndim - 2 && axis < to.ndim;
            start[axis] = frame ? 0 : take(in) % 4;
            number[axis] = frame ? 1 : 1 + take(in) % 3;
            block[axis] = frame ? to.extent[axis] : 1 + take(in) % 2;
            step[axis] = frame ? 1 : block[axis] + take(in) % 2;
        }
        if (take(in) & 1)
            H5Sselect_hyperslab(target, H5S_SELECT_SET, start, step, number, block);
        H5Pset_virtual(creation, target, take(in) % 4 ? "." : "none.h5", take_name(in), source);
        H5Sclose(target);
        H5Sclose(source);
    }
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_STD_U16LE, space, links, creation, H5P_DEFAULT);
    if (dataset >= 0)
        H5Dclose(dataset);
    const bool heavy = H5Sget_simple_extent_npoints(space) > MAX_BYTES;
    H5Pclose(creation);
    H5Sclose(space);
    return heavy;
}

static bool build(const char *path, struct input *in)
{
    bool heavy = false;
    require(airy_hdf5_lock() == AIRY_OK); /* no printing, filters there */
    H5Zunregister(AIRY_FILTER_BITSHUFFLE);
    H5Zunregister(AIRY_FILTER_LZ4);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (take(in) & 1)
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    require(file >= 0);
    for (int step = 0; step < MAX_STEPS && in->left > 0; step++) {
        switch (take(in) % 8) {
        case 0:
        case 1:
            put_attribute(in, file);
            break;
        case 2:
            H5Lcreate_soft(take_name(in), file, take_name(in), links, H5P_DEFAULT);
            break;
        case 3:
            H5Lcreate_hard(file, take_name(in), file, take_name(in), links, H5P_DEFAULT);
            break;
        case 4:
            heavy = put_virtual(in, file, links) || heavy;
            break;
        default:
            heavy = put_dataset(in, file, links) || heavy;
        }
    }
    H5Pclose(access);
    H5Pclose(links);
    H5Fclose(file);
    require(airy_filter_register() >= 0);
    airy_hdf5_unlock();
    return heavy;
}

static void read_stack(const char *path)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    if (airy_stack_create(&stack, &path, 1) != AIRY_OK)
        return;
    require(airy_stack_get_info(stack, &info) == AIRY_OK && info.frames > 0);
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *pixels = size <= MAX_BYTES ? malloc(size) : NULL;
    for (size_t i = 0; pixels && i < 6 && i < info.frames; i++) {
        const size_t frame = i < 3 ? i : info.frames - 1 - (i - 3);
        struct airy_frame_source source;
        airy_stack_source(stack, frame, &source);
        (void)airy_stack_read(stack, frame, pixels, size);
        uint8_t *bytes = source.size <= MAX_BYTES ? malloc(source.size) : NULL;
        if (bytes)
            (void)airy_stack_fetch(stack, frame, bytes, source.size);
        free(bytes);
    }
    free(pixels);
    if (airy_stack_get_meta(stack, &meta) == AIRY_OK && meta.has_geometry)
        require(meta.geometry.dist > 0 && meta.geometry.detector.pixel1 > 0);
    if (size <= MAX_BYTES) {
        uint8_t *mask = malloc(info.height * info.width);
        require(mask != NULL);
        (void)airy_stack_mask(stack, mask);
        free(mask);
    }
    double *values = info.frames <= MAX_PIXELS ? malloc(info.frames * sizeof(*values)) : NULL;
    for (size_t i = 0; values && i < NAMES; i++)
        (void)airy_stack_monitor(stack, names[i], values);
    free(values);
    airy_stack_destroy(&stack);
}

static void read_all(const char *path, bool heavy)
{
    char name[128];
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    airy_image image;
    char *text = NULL;
    read_stack(path);
    if (airy_hdf5_list(&entries, &count, path) == AIRY_OK)
        airy_hdf5_list_free(entries);
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "%s::%s", path, names[i]);
        if (i < 4)
            read_stack(name);
        if (!heavy && airy_image_read(&image, name) == AIRY_OK)
            airy_image_free(&image);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof(name), "%s%s", names[i], k ? "@units" : "");
            if (airy_hdf5_text(&text, path, name) == AIRY_OK)
                free(text);
        }
    }
    if (!heavy && airy_image_read(&image, path) == AIRY_OK)
        airy_image_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    char path[32];
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/airy-XXXXXX.h5" : "/tmp/airy-XXXXXX.h5");
    const int fd = mkstemps(path, 3);
    require(fd >= 0);
    close(fd);
    read_all(path, build(path, &in));
    unlink(path);
    return 0;
}
