/**
 * Sparse frames: a file of the pixels that stand out (peaks.h) and of the background of each frame,
 * and frames put together again from it.
 *
 * The file is NeXus, laid out as sparsify-Bragg of pyFAI writes it and fabio reads it
 * (docs/peaks.md): NXdata /entry/sparse_frames {frame_ptr, index, intensity, radius, mask,
 * background_avg, background_std, normalization, dummy, and dark where there is one}, NXdata
 * /entry/peaks with CXI's names, NXprocess /entry/sparsify.
 */
#ifndef AIRY_SPARSE_H
#define AIRY_SPARSE_H

#include "airy/geometry.h"
#include "airy/peaks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: one thread at a time. */
typedef struct airy_sparse_writer airy_sparse_writer;

/** Arrays are read during create only. */
typedef struct airy_sparse_writer_params {
    airy_dtype dtype;     /**< of the frames */
    size_t height, width; /**< of a frame */
    size_t bins;
    airy_unit unit;
    const double *radial;       /**< [bins] centres */
    const float *radius;        /**< [height * width], NaN where a pixel does not count */
    const float *normalization; /**< [height * width] */
    const float *dark;          /**< [height * width] or NULL */
    double dummy;               /**< what pixels that do not count become */
    const char *configuration;  /**< JSON; NULL: none */
    bool force;                 /**< overwrite */
} airy_sparse_writer_params;

/** One frame; a bad one has a message and nothing else. */
typedef struct airy_sparse_frame {
    uint64_t number;       /**< in the stack */
    const char *message;   /**< why it is bad, or NULL */
    const uint32_t *index; /**< [pixels] */
    const void *intensity; /**< [pixels] of the dtype */
    size_t pixels;
    const airy_peak *peaks; /**< [peak_count] */
    size_t peak_count;
    const float *mean, *std; /**< [bins] */
} airy_sparse_frame;

/**
 * Create a file of sparse frames that grows as frames come. It appears under its name when
 * airy_sparse_writer_finish has succeeded; before, it is PATH, eight digits of its own and
 * ".partial".
 * Errors: AIRY_ERR_EXISTS, AIRY_ERR_IO (full disk, unwritable), AIRY_ERR_PARAM, AIRY_ERR_DTYPE,
 *         AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_sparse_writer_create(airy_sparse_writer **writer, const char *path,
                                               const airy_sparse_writer_params *params);
/** Append frames in order. AIRY_ERR_IO, AIRY_ERR_PARAM (an index outside of the frame). */
AIRY_API airy_status airy_sparse_writer_add(airy_sparse_writer *writer,
                                            const airy_sparse_frame *frames, size_t count);
/** Finish the file; at least one frame must have been added (else AIRY_ERR_PARAM). */
AIRY_API airy_status airy_sparse_writer_finish(airy_sparse_writer *writer);
/** Close the writer; without finish the partial file is removed. */
AIRY_API void airy_sparse_writer_destroy(airy_sparse_writer **writer);

/**
 * A file of sparse frames, Airy's or pyFAI's. Its numbers are checked before they are used, a
 * frame's part when the frame is read.
 * Thread-safety: any number of threads may densify; libhdf5's lock lets one at a time in.
 */
typedef struct airy_sparse airy_sparse;

typedef struct airy_sparse_info {
    size_t frames, height, width, bins;
    airy_dtype dtype;
    uint64_t pixels; /**< kept of all frames */
    size_t masked;   /**< pixels that do not count */
    double dummy;
    bool has_normalization, has_dark;
    const char *configuration; /**< JSON of /entry/sparsify, "" where there is none; lives as long
                                    as the object */
} airy_sparse_info;

/**
 * Open a file. Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT, AIRY_ERR_SHAPE,
 * AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_sparse_create(airy_sparse **sparse, const char *path);
AIRY_API void airy_sparse_destroy(airy_sparse **sparse);
AIRY_API airy_status airy_sparse_get_info(const airy_sparse *sparse, airy_sparse_info *info);
/** Get the mask: out[height * width], 1 where a pixel does not count. */
AIRY_API airy_status airy_sparse_mask(const airy_sparse *sparse, uint8_t *mask);

/** What is drawn where the background was. */
typedef enum airy_densify_noise {
    AIRY_DENSIFY_SMOOTH = 0, /**< nothing: the mean */
    AIRY_DENSIFY_POISSON,    /**< counts of that mean */
    AIRY_DENSIFY_GAUSSIAN    /**< mean and standard deviation of the ring */
} airy_densify_noise;

typedef struct airy_densify_params {
    airy_densify_noise noise;
    uint64_t seed; /**< of noise; a pixel's depends on seed, frame and pixel alone */
} airy_densify_params;

/**
 * Put a frame together: kept pixels as they were, dummy where a pixel does not count, elsewhere
 * b n + dark with b on the line between the bins around the pixel's radius (level beyond the first
 * and the last), integers rounded to the nearest and held to the dtype's range.
 *
 * @param pixels  out, size = height * width * bytes of the dtype
 * @param params  NULL for defaults
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_SHAPE (size), AIRY_ERR_CORRUPT (an index outside of the frame;
 *         no background: the frame was bad when the file was made), AIRY_ERR_IO, AIRY_ERR_FORMAT.
 */
AIRY_API airy_status airy_sparse_densify(const airy_sparse *sparse, size_t frame, void *pixels,
                                         size_t size, const airy_densify_params *params);

#ifdef __cplusplus
}
#endif
#endif
