/* The formats behind airy_image_read and airy_image_write. Readers fill *image on success only. */
#ifndef AIRY_IO_IMAGE_FORMATS_H
#define AIRY_IO_IMAGE_FORMATS_H

#include "airy/stack.h"
#include "base/md5.h"
#include "io/file/format.h"

/* What else goes into the file of an image, where its format has a place for it. */
struct airy_image_about {
    const airy_stack_meta *meta; /* NULL: nothing */
    const uint8_t *mask;         /* of HDF5; NULL: none */
};
airy_status airy_image_read_npy(airy_image *image, const char *path);
/* Writers are called with what their format holds (airy_image_check_format). */
airy_status airy_image_write_npy(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about);
enum { AIRY_NPY_HEADER = 256 }; /* bytes; four axes of 2^64 take less */
/* A header of at_least bytes (0, or what this gave for a larger shape) in C order; its bytes. */
size_t airy_npy_header(char header[AIRY_NPY_HEADER], const airy_image *image, size_t at_least);
airy_status airy_image_read_edf(airy_image *image, const char *path);
airy_status airy_image_write_edf(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about);
airy_status airy_image_read_tiff(airy_image *image, const char *path);
airy_status airy_image_write_tiff(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about);
/* Pages one after another, of files larger than memory (src/io/image/tiff.c). */
struct airy_tiff_pages;
/* *shape: of all pages, [height, width] or [pages, height, width]. */
airy_status airy_tiff_open(struct airy_tiff_pages **pages, airy_image *shape, const char *path);
/* The next page's pixels; there must be one. */
airy_status airy_tiff_read(struct airy_tiff_pages *pages, void *pixels);
/*
 * The pages of a TIFF file for reading in any order, by any thread: where each one's directory is,
 * and, in files that hold plain pixels in one piece a page in the machine's byte order, where
 * these are.
 */
struct airy_tiff_index {
    airy_image shape; /* of all pages, no data */
    size_t pages;
    uint64_t *directories; /* [pages]; both are released with free() */
    uint64_t *pixels;      /* [pages], or NULL */
    char *text;            /* the first page's description, or NULL; released with free() */
    /* In: called for each page that has a description of its own, another than the first; or NULL. */
    airy_status (*described)(void *user, size_t page, const char *text);
    void *user;
};
airy_status airy_tiff_list(struct airy_tiff_index *index, int fd, uint64_t size);
/* The page whose directory is there, of that shape. */
airy_status airy_tiff_read_at(void *pixels, const airy_image *page, uint64_t directory, int fd,
                              uint64_t size);
/* Into a new file, which the caller closes after airy_tiff_close; far: offsets of 64 bits. */
airy_status airy_tiff_create(struct airy_tiff_pages **pages, int fd, bool far);
airy_status airy_tiff_add(struct airy_tiff_pages *pages, const airy_image *page);
/* What was written is complete and on the disk. */
airy_status airy_tiff_finish(struct airy_tiff_pages *pages);
void airy_tiff_close(struct airy_tiff_pages **pages);
/* Grey; airy_png_write draws colours. */
airy_status airy_image_read_png(airy_image *image, const char *path);
airy_status airy_image_write_png(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about);
airy_status airy_image_read_cbf(airy_image *image, const char *path);
airy_status airy_image_write_cbf(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about);
/* SExtractor's kernels, f64 [height, width]; what NORM asks for is done. */
airy_status airy_image_read_conv(airy_image *image, const char *path);
/* text: size bytes that are cut up, and a 0 behind them. For fuzzing, too. */
airy_status airy_conv_parse(airy_image *image, char *text, size_t size);
/* FILE or FILE[EXT] */
airy_status airy_image_read_fits(airy_image *image, const char *path);
airy_status airy_image_write_fits(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about);
/* Read a dataset of a file; the lock of hdf5/util.h is held. */
airy_status airy_image_read_dataset(airy_image *image, const char *path, const char *name);
airy_status airy_image_write_hdf5(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about);

/* Read a file of this format, not HDF5, a pattern or a gzipped file, which io/read_any.c reads. */
airy_status airy_image_read_as(airy_image *image, enum airy_image_format format, const char *path);

/*
 * A header as it lies in memory: NPY's from its magic to the line feed, EDF's from '{' to the line
 * feed behind '}'. For fuzzing, too.
 */
struct airy_image_header {
    airy_image image; /* dtype, ndim, shape; no data */
    bool swapped;     /* the other byte order */
    bool fortran;     /* first axis fastest */
    bool half;        /* NPY: of 16 bits in the file, f32 in memory */
    bool flipped;     /* FITS: airy_image_flip gives unsigned values, or signed bytes */
    size_t bytes;     /* of the header: data follow */
    size_t data;      /* bytes of the data in the file */
    size_t stored;    /* EDF: bytes to the next header, at least data; CBF: compressed bytes */
    bool has_md5;     /* CBF: of the stored bytes */
    uint8_t md5[AIRY_MD5_BYTES];
};
/* text: what the file starts with, all of the file or more than any header has. */
airy_status airy_npy_parse(struct airy_image_header *header, const void *text, size_t size);
enum { AIRY_EDF_VALUE = 64 };
/*
 * The value of a key in what follows '{', without blanks around it; keys are compared without
 * regard to case, and the first one counts.
 */
bool airy_edf_value(char value[AIRY_EDF_VALUE], const char *text, size_t size, const char *key);
/* True where a later value of the key is another one: `other` is that. */
bool airy_edf_differs(char other[AIRY_EDF_VALUE], const char *text, size_t size, const char *key);
/* Refuse a header that promises more bytes than the `there` behind it, which its pixels fit in. */
airy_status airy_edf_check_size(const struct airy_image_header *header, uint64_t there);
airy_status airy_edf_parse(struct airy_image_header *header, const void *text, size_t size);
airy_status airy_cbf_parse(struct airy_image_header *header, const void *text, size_t size);
/* AIRY_ERR_CORRUPT where the sum of what was added is another one than the header's. */
airy_status airy_cbf_check_md5(struct airy_md5 *md5, const uint8_t said[AIRY_MD5_BYTES]);
/*
 * Where frames of FITS lie, for reading them one at a time; verify: its DATASUM and CHECKSUM.
 * bytes: where pixels start that are as in memory but for `swapped` and `flipped`; 0: there are none, and airy_fits_read_frame reads one.
 * image.data: all frames, where one cannot be had without the others (gzip, tiles of several
 * frames), else NULL.
 */
airy_status airy_fits_index(struct airy_image_header *header, const char *path, bool verify);
/*
 * One frame, of the shape and type of a page. *kept: NULL, or the file that the last call left open,
 * for it holds several frames and is no .gz; it is closed where the path is another one, or reading
 * fails. airy_fits_close ends what is left. Thread-safety: any thread; calls wait for each other.
 */
airy_status airy_fits_read_frame(void *pixels, const airy_image *page, size_t frame,
                                 const char *path, airy_fits **kept);

#endif
