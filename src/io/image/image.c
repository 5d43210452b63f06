#include "airy/image.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/image_memory.h"
#include "base/word.h"
#include "io/image/formats.h"
#include "io/file/pattern.h"

#define BIT(dtype) (1u << AIRY_DTYPE_##dtype)
enum {
    ALL_TYPES = (1 << AIRY_DTYPE_COUNT) - 1,
    INTEGERS_32 = BIT(U8) | BIT(I8) | BIT(U16) | BIT(I16) | BIT(U32) | BIT(I32)
};

/*
 * The formats in the order of lists; their suffixes and first bytes are in io/file/format.c. What one
 * holds that does not hold everything: in words, and as bits of dtypes and a range of dimensions.
 */
static const struct {
    airy_image_format_info info;
    const char *types, *shapes;
    airy_status (*read)(airy_image *image, const char *path); /* NULL: not a file of one image */
    airy_status (*write)(const airy_image *image, const char *path, bool force,
                         const struct airy_image_about *about); /* NULL: nothing writes it */
} formats[] = {
    [AIRY_FORMAT_NPY] = {{"NPY", ".npy", true, true, ALL_TYPES, 1, AIRY_MAX_DIMS},
                         NULL,
                         NULL,
                         airy_image_read_npy,
                         airy_image_write_npy},
    [AIRY_FORMAT_HDF5] = {{"HDF5", ".h5", true, true, ALL_TYPES, 1, AIRY_MAX_DIMS},
                          NULL,
                          NULL,
                          NULL,
                          airy_image_write_hdf5},
    [AIRY_FORMAT_EDF] = {{"EDF", ".edf", true, true, ALL_TYPES, 1, 3},
                         NULL,
                         "images of at most 3 dimensions",
                         airy_image_read_edf,
                         airy_image_write_edf},
    [AIRY_FORMAT_FITS] = {{"FITS", ".fits", AIRY_HAVE_FITS, true, ALL_TYPES, 1, AIRY_MAX_DIMS},
                          NULL,
                          NULL,
                          airy_image_read_fits,
                          airy_image_write_fits},
    [AIRY_FORMAT_TIFF] = {{"TIFF", ".tif", AIRY_HAVE_TIFF, AIRY_HAVE_TIFF, ALL_TYPES, 2, 3},
                          NULL,
                          "images and stacks, of 2 or 3 dimensions",
                          airy_image_read_tiff,
                          airy_image_write_tiff},
    [AIRY_FORMAT_PNG] = {{"PNG", ".png", true, true, BIT(U8) | BIT(U16), 2, 2},
                         "uint8 and uint16",
                         "one image of 2 dimensions",
                         airy_image_read_png,
                         airy_image_write_png},
    [AIRY_FORMAT_CBF] = {{"CBF", ".cbf", true, true, INTEGERS_32, 2, 2},
                         "integers of 8, 16 or 32 bits",
                         "one image of 2 dimensions",
                         airy_image_read_cbf,
                         airy_image_write_cbf},
    [AIRY_FORMAT_CONV] =
        {{"CONV", ".conv", true, false, 0, 0, 0}, NULL, NULL, airy_image_read_conv, NULL},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]), LIST = 96 /* bytes of their suffixes */ };

static bool holds_type(size_t format, airy_dtype dtype)
{
    return (unsigned)dtype >= AIRY_DTYPE_COUNT || formats[format].info.dtypes >> dtype & 1;
}

static bool holds_shape(size_t format, int ndim)
{
    return !ndim ||
           (ndim >= formats[format].info.min_ndim && ndim <= formats[format].info.max_ndim);
}

const airy_image_format_info *airy_image_format(size_t index)
{
    return index < FORMATS - AIRY_FORMAT_NPY ? &formats[AIRY_FORMAT_NPY + index].info : NULL;
}

/* ".npy, .h5 or .fits": the formats that are written and hold such images. */
static void list_suffixes(char text[LIST], airy_dtype dtype, int ndim)
{
    const char *list[FORMATS];
    size_t count = 0;
    for (size_t i = AIRY_FORMAT_NPY; i < FORMATS; i++)
        if (formats[i].info.writes && holds_type(i, dtype) && holds_shape(i, ndim))
            list[count++] = formats[i].info.suffix;
    airy_join_words(text, LIST, list, count);
}

static airy_status fail_unknown(const char *path)
{
    const char *list[FORMATS + 1];
    size_t count = 0;
    char text[LIST];
    for (size_t i = AIRY_FORMAT_NPY; i < FORMATS; i++)
        if (formats[i].info.reads)
            list[count++] = formats[i].info.suffix;
    list[count++] = "FILE::DATASET";
    airy_join_words(text, sizeof(text), list, count);
    return airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "'%s' is of no known format, expected %s", path, text);
}

bool airy_image_is_plain(const char *path)
{
    enum airy_image_format format = path ? airy_image_format_of_name(path) : AIRY_FORMAT_HDF5;
    if (format == AIRY_FORMAT_UNKNOWN &&
        (airy_path_is_pattern(path) || airy_image_format_of(&format, path) != AIRY_OK))
        return false;
    return format != AIRY_FORMAT_UNKNOWN && format != AIRY_FORMAT_HDF5;
}

static bool is_of_format(const char *path, enum airy_image_format wanted)
{
    enum airy_image_format format;
    return path && *path && !airy_path_is_pattern(path) &&
           airy_image_format_of(&format, path) == AIRY_OK && format == wanted;
}

bool airy_image_is_fits(const char *path)
{
    return is_of_format(path, AIRY_FORMAT_FITS);
}

bool airy_image_is_conv(const char *path)
{
    return is_of_format(path, AIRY_FORMAT_CONV);
}

airy_status airy_image_read_as(airy_image *image, enum airy_image_format format, const char *path)
{
    return formats[format].read ? formats[format].read(image, path) : fail_unknown(path);
}

airy_status airy_image_check_format(const char *path, airy_dtype dtype, int ndim)
{
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM, "airy_image_check_format: path is missing");
    AIRY_FAIL_IF(airy_dtype_size(dtype) == 0, AIRY_ERR_DTYPE, "image: dtype = %d is not known",
                 (int)dtype);
    AIRY_FAIL_IF(ndim < 0 || ndim > AIRY_MAX_DIMS, AIRY_ERR_SHAPE,
                 "image of %d dimensions, expected 1 to %d", ndim, AIRY_MAX_DIMS);
    const size_t format = airy_image_format_of_name(path);
    char text[LIST];
    if (!formats[format].write) {
        list_suffixes(text, dtype, ndim);
        return airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                            "'%s': suffix of no format that is written, expected %s", path, text);
    }
    AIRY_FAIL_ON_IF(!formats[format].info.writes, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': this build knows no TIFF, it lacks libtiff", path);
    list_suffixes(text, dtype, ndim);
    AIRY_FAIL_ON_IF(!holds_type(format, dtype), AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': %s holds %s, this image is %s; %s holds it", path,
                    formats[format].info.name, formats[format].types, airy_dtype_name(dtype), text);
    AIRY_FAIL_ON_IF(!holds_shape(format, ndim), AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': %s holds %s, this one has %d; %s holds it", path,
                    formats[format].info.name, formats[format].shapes, ndim, text);
    return AIRY_OK;
}

/* Where complex numbers may go, and that they are some. */
static airy_status check_complex(const airy_image *image, const char *path)
{
    const enum airy_image_format format = airy_image_format_of_name(path);
    if (!image->is_complex)
        return AIRY_OK;
    AIRY_FAIL_IF(!airy_dtype_is_float(image->dtype), AIRY_ERR_DTYPE,
                 "image: complex numbers of %s, expected float32 or float64",
                 airy_dtype_name(image->dtype));
    AIRY_FAIL_IF(image->ndim < 2 || image->shape[image->ndim - 1] != 2, AIRY_ERR_SHAPE,
                 "image: complex numbers, expected a last axis of 2, their parts");
    AIRY_FAIL_HINT_IF(format != AIRY_FORMAT_NPY && format != AIRY_FORMAT_HDF5, AIRY_ERR_UNSUPPORTED,
                      AIRY_HINT_COMPLEX, AIRY_SUBJECT_FILE,
                      "'%s': %s holds no complex numbers, expected .npy or .h5", path,
                      formats[format].info.name);
    return AIRY_OK;
}

airy_status airy_image_write(const airy_image *image, const char *path, bool force)
{
    return airy_image_write_stated(image, path, force, NULL, NULL);
}

airy_status airy_image_write_stated(const airy_image *image, const char *path, bool force,
                                    const airy_stack_meta *meta, const uint8_t *mask)
{
    const struct airy_image_about about = {meta, mask};
    AIRY_FAIL_IF(!image || !image->data || !path || !*path, AIRY_ERR_PARAM,
                 "airy_image_write: image or path is missing");
    size_t bytes;
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_TRY(airy_image_check_format(path, image->dtype, 0));
    AIRY_TRY(check_complex(image, path));
    AIRY_TRY(airy_image_check_format(path, image->dtype, image->ndim));
    return formats[airy_image_format_of_name(path)].write(image, path, force, &about);
}

bool airy_image_has_format(const char *path)
{
    const enum airy_image_format format = path ? airy_image_format_of_name(path)
                                               : AIRY_FORMAT_UNKNOWN;
    return formats[format].write != NULL;
}
