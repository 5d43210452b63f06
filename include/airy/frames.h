/**
 * Frames written one after another to files that may be larger than memory, such as the images of a
 * scan. Where a whole file fits, image.h is simpler. stack.h reads frames.
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
 * Create a file of frames [n, height, width] that grows: .npy, .tif or .tiff (a page a frame), or
 * HDF5 (.h5, .hdf5, .nxs: NXdata at /entry/PROCESS/result beside the configuration, a chunk a
 * frame), or with params->headerless no format at all. It is under its final name only when finish
 * has succeeded; before, PATH.XXXXXXXX.partial.
 * Errors: AIRY_ERR_EXISTS, AIRY_ERR_IO, AIRY_ERR_UNSUPPORTED (suffix, or complex TIFF),
 *         AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_frame_writer_create(airy_frame_writer **writer, const char *path,
                                              const airy_frame_writer_params *params);
/** Return whether the name is that of a format written here. Any thread. */
AIRY_API bool airy_frame_writer_has_format(const char *path);
/**
 * Append frames that lie one behind the other.
 * Errors: AIRY_ERR_IO, AIRY_ERR_UNSUPPORTED (TIFF of more than 2^20 pages, which nothing here
 *         reads).
 */
AIRY_API airy_status airy_frame_writer_add(airy_frame_writer *writer, const void *frames,
                                           size_t count);
/** Finish the file. Errors: AIRY_ERR_PARAM (no frame was added), AIRY_ERR_EXISTS, AIRY_ERR_IO. */
AIRY_API airy_status airy_frame_writer_finish(airy_frame_writer *writer);
/** Close the writer; without finish the file is removed. Set *writer to NULL. */
AIRY_API void airy_frame_writer_destroy(airy_frame_writer **writer);

#ifdef __cplusplus
}
#endif
#endif
