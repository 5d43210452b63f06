/**
 * Frames one after another, from and to files that may be larger than memory: raw camera frames in,
 * images of a scan out. Where a whole file fits, image.h is simpler; where frames are wanted in any
 * order, stack.h reads HDF5.
 */
#ifndef AIRY_FRAMES_H
#define AIRY_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: one thread at a time. */
typedef struct airy_frame_reader airy_frame_reader;

typedef enum airy_frame_format {
    AIRY_FRAMES_RAW = 0, /**< bytes of frames behind a header of a known length */
    AIRY_FRAMES_NPY,
    AIRY_FRAMES_HDF5,
    AIRY_FRAMES_TIFF, /**< pages are frames */
    AIRY_FRAMES_FORMAT_COUNT
} airy_frame_format;

/** What a file does not say itself. Zeroed: nothing, so that raw files are refused. */
typedef struct airy_frame_reader_params {
    airy_dtype dtype; /**< of raw files */
    size_t height;    /**< of raw files; of NPY of two dimensions: rows are cut into frames of this
                           height, 0: they are one frame */
    size_t width;     /**< of raw files */
    uint64_t header_bytes; /**< of raw files: to skip in front of the first frame */
    /**
     * Asked ten times a second, by the thread that reads, while a pipe is silent; true: the frames
     * end there, as with the pipe's own end. NULL: reads wait for as long as it takes.
     */
    bool (*stop)(void *user);
    void *stop_user;
} airy_frame_reader_params;

typedef struct airy_frame_reader_info {
    airy_frame_format format;
    uint64_t frames; /**< UINT64_MAX: not known, a pipe */
    size_t height, width;
    airy_dtype dtype;     /**< of what is read: native U8, U16, I16 or F32 */
    airy_dtype stored;    /**< of the file; others than those four are converted to F32, and for
                               NPY of float16 it is F32 */
    size_t frame_bytes;   /**< of what is read */
    uint64_t stray_bytes; /**< of a raw file, behind its last whole frame */
} airy_frame_reader_info;

/**
 * @param reader  out
 * @param path    .npy, .tif, .tiff, HDF5 (FILE or FILE::DATASET, by its first bytes; filters are
 *                undone), "-": standard input, raw; anything else is raw
 *
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT, AIRY_ERR_SHAPE (rows that are no whole
 *         frames), AIRY_ERR_PARAM (a raw file whose frame has no size), AIRY_ERR_UNSUPPORTED
 *         (Fortran order, 64-bit integers, complex numbers), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_frame_reader_create(airy_frame_reader **reader, const char *path,
                                              const airy_frame_reader_params *params);
AIRY_API airy_status airy_frame_reader_get_info(const airy_frame_reader *reader,
                                                airy_frame_reader_info *info);
/**
 * The next frames, one behind the other.
 * @param got  out: how many, fewer than count only at the end
 * Errors: AIRY_ERR_IO, AIRY_ERR_CORRUPT (also a pipe that ends inside a frame, once all whole ones
 *         were read). A call for one frame (count 1) of a file passes over a frame that is bad
 *         (airy_status_is_of_frame): the next call gives the one behind it.
 */
AIRY_API airy_status airy_frame_reader_read(airy_frame_reader *reader, void *frames, size_t count,
                                            size_t *got);
/** Leave out frames; of a pipe they are read and thrown away. AIRY_ERR_PARAM behind the end. */
AIRY_API airy_status airy_frame_reader_skip(airy_frame_reader *reader, uint64_t count);
/** Whether frames come from the file PATH (by device and inode). */
AIRY_API bool airy_frame_reader_uses(const airy_frame_reader *reader, const char *path);
/** Sets *reader to NULL. */
AIRY_API void airy_frame_reader_destroy(airy_frame_reader **reader);

/** Thread-safety: one thread at a time. */
typedef struct airy_frame_writer airy_frame_writer;

/** Zeroed but for dtype, height, width is allowed. */
typedef struct airy_frame_writer_params {
    airy_dtype dtype;     /**< any; of complex numbers f32 or f64 */
    size_t height, width; /**< of a frame */
    /**
     * Frames that are added have a last axis of 2, the real and the imaginary part. NPY gets elements
     * "<c8" (f32) or "<c16" (f64), HDF5 the compound {r, i} that h5py reads as complex numbers, both
     * of shape [n, height, width]. TIFF holds none.
     */
    bool is_complex;
    bool force;      /**< overwrite */
    uint64_t frames; /**< that are expected, for the choice of TIFF's offsets; 0: not known */
    /* HDF5 */
    const char *process;       /**< of the group /entry/PROCESS; NULL: "frames" */
    const char *signal;        /**< name of the dataset; NULL: "data" */
    const char *signal_units;  /**< NULL: none */
    const double *axis;        /**< [width], of the columns; NULL: none */
    const char *axis_name;     /**< "depth" */
    const char *axis_units;    /**< "um" */
    const char *configuration; /**< JSON; NULL: none */
    bool headerless;           /**< the frames alone, whatever the suffix; any dtype */
    /** Complex numbers of NPY and HDF5 are real ones of shape [n, height, width, 2], as added. */
    bool complex_as_pairs;
} airy_frame_writer_params;

/**
 * A file of frames [n, height, width] that grows: .npy, .tif or .tiff (a page a frame), or HDF5
 * (.h5, .hdf5, .nxs: NXdata at /entry/PROCESS/result beside the configuration, a chunk a frame), or
 * where params say so no format at all.
 * Under its final name only when finish has succeeded; before, PATH.XXXXXXXX.partial.
 * Errors: AIRY_ERR_EXISTS, AIRY_ERR_IO, AIRY_ERR_UNSUPPORTED (suffix, or complex TIFF),
 *         AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_frame_writer_create(airy_frame_writer **writer, const char *path,
                                              const airy_frame_writer_params *params);
/** Whether the name is that of a format written here. Any thread. */
AIRY_API bool airy_frame_writer_has_format(const char *path);
/**
 * Append frames that lie one behind the other.
 * Errors: AIRY_ERR_IO, AIRY_ERR_UNSUPPORTED (TIFF of more than 2^20 pages, which nothing here
 *         reads).
 */
AIRY_API airy_status airy_frame_writer_add(airy_frame_writer *writer, const void *frames,
                                           size_t count);
/** AIRY_ERR_PARAM (no frame was added), AIRY_ERR_EXISTS, AIRY_ERR_IO. */
AIRY_API airy_status airy_frame_writer_finish(airy_frame_writer *writer);
/** Without finish nothing is left. Sets *writer to NULL. */
AIRY_API void airy_frame_writer_destroy(airy_frame_writer **writer);

#ifdef __cplusplus
}
#endif
#endif
