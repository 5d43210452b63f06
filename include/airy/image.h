/**
 * Single images in host memory, from and to files. The format follows the suffix.
 *
 *     airy_image image = {0};
 *     if (airy_image_read_real(&image, "sky.fits")) // the sentence names the file
 *         fprintf(stderr, "%s\n", airy_last_error());
 *     else
 *         printf("%zu x %zu pixels of %s, the first is %g\n", image.shape[0], image.shape[1],
 *                airy_dtype_name(image.dtype), airy_image_value(&image, 0));
 *     airy_image_free(&image); // a zeroed image is allowed
 */
#ifndef AIRY_IMAGE_H
#define AIRY_IMAGE_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The header of the FITS image that an image came from; opaque. Thread-safety: never changes. */
typedef struct airy_header airy_header;

/** Plain data; data and header are malloc'ed and freed by airy_image_free. */
typedef struct airy_image {
    airy_dtype dtype;
    int ndim;
    size_t shape[AIRY_MAX_DIMS]; /**< slowest axis first: height, width */
    void *data;                  /**< native byte order, C order, tightly packed */
    airy_header *header;         /**< read from FITS; NULL: none */
    /**
     * The last axis, of length 2, is the real and the imaginary part of complex numbers. A file has
     * no such axis: NPY has elements "<c8" (f32) or "<c16" (f64), HDF5 the compound {r, i} that
     * h5py takes for complex numbers.
     */
    bool is_complex;
} airy_image;

enum { AIRY_FITS_AXES = 8 };

/** One HDU of a FITS file. */
typedef struct airy_fits_hdu {
    char name[72];        /**< EXTNAME; "" without one */
    char kind[16];        /**< "image", "header" (no pixels), "binary table", "ASCII table" */
    char compression[16]; /**< ZCMPTYPE of a tile-compressed image, else "" */
    int bitpix;           /**< as stored, images only */
    int ndim;
    size_t shape[AIRY_FITS_AXES]; /**< slowest axis first; tables: rows, columns */
} airy_fits_hdu;

/**
 * Read .npy (any of the dtypes, either byte order, C or Fortran order), HDF5 (FILE or
 * FILE::DATASET, any number of dimensions up to 4, big-endian too), EDF, FITS, TIFF (grey, pages as
 * planes), PNG (grey, of 1 to 16 bits), CBF (byte-offset integers), kernels of SExtractor (.conv,
 * as f64; CONV NORM: divided by the sum of their absolute values), or anything airy_stack_create takes.
 * Exact: no conversion of dtype but of float16, of NPY and HDF5, to f32. Complex numbers of NPY and
 * HDF5, of up to 3 dimensions, become pairs of f32 or f64 (is_complex).
 *
 * FITS: FILE, FILE[N] (0: primary) or FILE[EXTNAME] or FILE[EXTNAME,EXTVER]; without one the first
 * HDU with pixels; plain, gzip (.gz) or tile-compressed (.fz). The shape has all axes, the fastest
 * last, those of length 1 too. Values are physical: integers keep their type (unsigned where BZERO
 * is that of unsigned integers), but BSCALE, another BZERO or BLANK make f32 of 8 and 16 bits,
 * f64 of 32 and 64 bits, with NaN for BLANK. The header comes with the image.
 * Errors: AIRY_ERR_IO, AIRY_ERR_FORMAT, AIRY_ERR_CORRUPT, AIRY_ERR_UNSUPPORTED (suffix, or a build
 * without the format), AIRY_ERR_NOT_FOUND, AIRY_ERR_SHAPE, AIRY_ERR_MEMORY.
 * Threads: any; those that read FITS wait for each other.
 */
AIRY_API airy_status airy_image_read(airy_image *image, const char *path);
/**
 * Read an image as airy_image_read does, but refuse complex numbers (AIRY_ERR_UNSUPPORTED). Use it
 * where each number of the image is to be a pixel.
 */
AIRY_API airy_status airy_image_read_real(airy_image *image, const char *path);
/**
 * Write .npy, .h5, .edf, .fits, .tif, .png or .cbf by the suffix; a type or a number of dimensions
 * that the format lacks is AIRY_ERR_UNSUPPORTED, and so are complex numbers but of .npy and .h5. The
 * file appears when complete. FITS keeps the keywords of the image's header about coordinates, beam
 * and history; the header must be of that shape (AIRY_ERR_SHAPE), and other formats leave it out.
 * Bytes that FITS does not allow in a header are written as '?'. AIRY_ERR_EXISTS unless force. A
 * file is replaced as a whole: FILE.h5::DATASET also fails as airy_image_check_others does.
 */
AIRY_API airy_status airy_image_write(const airy_image *image, const char *path, bool force);
/**
 * Check whether the format of a name holds images of this dtype and number of dimensions (0: not
 * known yet, any that the format has): the AIRY_ERR_UNSUPPORTED of airy_image_write, before there
 * is an image. No file is looked at. AIRY_ERR_PARAM, AIRY_ERR_DTYPE, AIRY_ERR_SHAPE. Any thread.
 */
AIRY_API airy_status airy_image_check_format(const char *path, airy_dtype dtype, int ndim);
/** A file format of images. */
typedef struct airy_image_format_info {
    const char *name;       /**< such as "TIFF" */
    const char *suffix;     /**< the usual one, such as ".tif" */
    bool reads, writes;     /**< whether this build reads it; writes it */
    uint32_t dtypes;        /**< that a file holds: bit 1 << AIRY_DTYPE_U8 and so on */
    int min_ndim, max_ndim; /**< dimensions that a file holds */
} airy_image_format_info;
/**
 * Return the index-th of the formats of images, or NULL past the last one:
 *
 *     const airy_image_format_info *format;
 *     for (size_t i = 0; (format = airy_image_format(i)); i++)
 *         if (format->writes)
 *             puts(format->suffix);
 *
 * The formats that hold most come first; dtypes and dimensions are those that can be written. Any
 * thread.
 */
AIRY_API const airy_image_format_info *airy_image_format(size_t index);
/**
 * Check whether writing FILE.h5::DATASET would lose anything else: AIRY_ERR_EXISTS where FILE is
 * there and holds more than DATASET and the groups it lies in; the errors of airy_image_read where
 * FILE is no HDF5 file that can be read. Any other path is fine. Any thread.
 */
AIRY_API airy_status airy_image_check_others(const char *path);
AIRY_API void airy_image_free(airy_image *image);
/**
 * Return whether the path has a format that is read as a whole: all but HDF5 and stacks. The name
 * decides, or the first bytes where the name has no known suffix. Any thread.
 */
AIRY_API bool airy_image_is_plain(const char *path);
/**
 * Return whether airy_image_read would read the path as FITS: the name decides, or the first bytes
 * where it has no known suffix. A pattern of names is no FITS file. Any thread.
 */
AIRY_API bool airy_image_is_fits(const char *path);
/**
 * Return whether it would read a kernel of SExtractor, which is scaled as its NORM or NONORM asks.
 */
AIRY_API bool airy_image_is_conv(const char *path);
/**
 * Return whether the name is that of a format that airy_image_write knows, FILE.h5::DATASET too.
 */
AIRY_API bool airy_image_has_format(const char *path);
/** Give dst a copy of src's header (none if it has none), for an image made from src. */
AIRY_API airy_status airy_image_copy_header(airy_image *dst, const airy_image *src);
/**
 * Append a card of at most 80 printable characters, such as "BMAJ    =  0.0048", to the header,
 * which is made where there is none. AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_image_add_card(airy_image *image, const char *card);
/**
 * Keep one plane: all axes but the last two get length 1. The header follows, its reference pixels
 * (CRPIX) too, so that the plane keeps its coordinates. Without data: shape and header alone.
 * @param plane  of the planes in the order of memory, from 0
 * AIRY_ERR_PARAM, AIRY_ERR_SHAPE (fewer than two dimensions). The memory of the others is kept.
 */
AIRY_API airy_status airy_image_take_plane(airy_image *image, size_t plane);
/**
 * Keep the planes first, first + step, ... of an image whose axes but the last two have length 1
 * but for one, which gets length count. The header follows: reference pixels (CRPIX) move, and
 * increments (CDELT, CD) grow by the step, so that planes keep their coordinates. Without data:
 * shape and header alone.
 * AIRY_ERR_PARAM; AIRY_ERR_SHAPE (fewer than three dimensions, or two axes longer than 1);
 * AIRY_ERR_UNSUPPORTED: coordinates cannot follow, for what the header leaves out (CRPIX) or as PC
 * mixes that axis with others. The memory of the other planes is kept.
 */
AIRY_API airy_status airy_image_take_planes(airy_image *image, size_t first, size_t count,
                                            size_t step);
/**
 * Keep these planes as airy_image_take_planes does, where coordinates can follow: several planes
 * only of an image with a header (AIRY_ERR_UNSUPPORTED), and one plane of any number of long axes,
 * as airy_image_take_plane does.
 */
AIRY_API airy_status airy_image_choose_planes(airy_image *image, size_t first, size_t count,
                                              size_t step);
/**
 * The image of a FITS file, FILE[EXT], that is open for several airy_fits_read.
 * Thread-safety: one call at a time.
 */
typedef struct airy_fits airy_fits;
/** Open the image of a FITS file. Errors: those of airy_image_read. Close it by airy_fits_close. */
AIRY_API airy_status airy_fits_open(airy_fits **fits, const char *path);
/**
 * Read planes of it as airy_image_take_plane (count 1) or airy_image_take_planes leave them. No
 * others are read, but what gzip packs or a tile holds beside them. count 0: no data, only shape,
 * dtype and header of the whole image.
 * Errors: those of airy_image_read, airy_image_take_plane and airy_image_take_planes.
 */
AIRY_API airy_status airy_fits_read(airy_image *image, airy_fits *fits, size_t first, size_t count,
                                    size_t step);
/** Close it and set it to NULL; NULL is allowed. */
AIRY_API void airy_fits_close(airy_fits **fits);
/** Open a FITS file, read planes, and close it. Threads: as airy_image_read. */
AIRY_API airy_status airy_fits_read_planes(airy_image *image, const char *path, size_t first,
                                           size_t count, size_t step);

enum { AIRY_CARD_VALUE = 81 };
/**
 * Get the value of a keyword of the header, without quotes and comment: "JY/BEAM" of BUNIT.
 * AIRY_ERR_NOT_FOUND where there is no header, or none in it. Any thread.
 */
AIRY_API airy_status airy_image_get_card(const airy_image *image, const char *keyword,
                                         char value[AIRY_CARD_VALUE]);
/**
 * Count the cards of the header that hold bytes which FITS does not allow: others than the printable
 * characters of ASCII. Such cards are kept as they are, and their control characters are read as
 * blanks. Any thread.
 * @param text  out: a description of the first one, "card 7, OBSERVER has the byte 0x09 in column
 *              24"; "" where there is none
 */
AIRY_API size_t airy_image_odd_cards(const airy_image *image, char text[AIRY_CARD_VALUE]);
/** List the HDUs of a FITS file; release with free(). The errors of airy_image_read. */
AIRY_API airy_status airy_fits_list(airy_fits_hdu **hdus, size_t *count, const char *path);
/**
 * Return the name of the elements: "float32", or "complex64" and "complex128" of complex numbers.
 */
AIRY_API const char *airy_image_dtype_name(const airy_image *image);
/** Return element i as double; NaN where there are no data. */
AIRY_API double airy_image_value(const airy_image *image, size_t index);
/** Write 8-bit RGB rows, top first, as PNG; the file appears when complete. */
AIRY_API airy_status airy_png_write(const char *path, const uint8_t *rgb, size_t height,
                                    size_t width, bool force);

#ifdef __cplusplus
}
#endif
#endif
