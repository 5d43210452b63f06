/**
 * What a file holds, and how much of it fits into which memory, as JSON.
 *
 *     const char *path = "run_master.h5";
 *     char *json = NULL;
 *     if (airy_file_info(&json, &path, 1, NULL) == AIRY_OK)
 *         puts(json); // {"file": "run_master.h5", "datasets": [...], "stack": {...}, ...}
 *     free(json);
 *
 * Texts are released with free(). Any thread. Devices are listed by airy_device_list (device.h), and
 * detectors by airy_detector_get (geometry.h).
 */
#ifndef AIRY_INFO_H
#define AIRY_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/dtype.h"
#include "airy/error.h"
#include "airy/log.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zeroed is the default. */
typedef struct airy_file_info_params {
    const airy_raw_frames *raw; /**< of files without a header; NULL: they have one */
    const char *channel;        /**< of a detector that has several; NULL: the first */
    airy_log_fn message;        /**< of warnings about the file; NULL: they go to the log */
    void *user;                 /**< of message */
    airy_hint_style style;      /**< of the names in why_no_stack; NULL: airy_hint_keyword */
    void *style_user;
    size_t reserved[4];
} airy_file_info_params;

/**
 * Describe a file, FILE or FILE::DATASET, or the stack that several files make.
 *
 * HDF5: {file, datasets, stack, result, detector, why_no_stack, cut}. datasets is a list of {path,
 * shape, dtype, chunk, filter, bytes, stored_bytes, ratio}, or {path, broken_link} where one cannot be
 * opened, with {unreadable: true} where it is there. stack: the frames as a stack {dataset, shape,
 * lost_frames, dtype, filter, path, files, bytes_per_frame, ratio, geometry, mask, saturation,
 * frames_that_fit, contradiction, unwritten_frames, channels, channel}; result: that of an
 * integration or of an unfinished search for peaks; detector: a NeXus detector file. What the file
 * does not hold is null. cut: the file ends before its data {file_bytes, declared_bytes}.
 *
 * PONI: the geometry as airy_geometry_print. Another image: {file, shape, dtype, bytes}, of FITS also
 * {hdus, wcs, beam}, and the stack where it has a geometry. Several paths, a pattern, or raw:
 * {stack}.
 *
 * Errors: those of airy_hdf5_list, airy_image_read, airy_geometry_read and airy_stack_create.
 */
AIRY_API airy_status airy_file_info(char **json, const char *const *paths, size_t count,
                                    const airy_file_info_params *params);

/**
 * Describe an image that is not there yet: {shape, dtype, bytes, images_that_fit}. images_that_fit
 * has the number of such images for each memory {host, host_free, cgroup, slurm, devices: [{spec,
 * name, total, free, largest}]}, null where it is unknown or has no limit. largest: the length of the
 * slowest axis of the largest image that the device takes as one array.
 *
 * @param shape  [ndim], the slowest axis first
 * Errors: AIRY_ERR_PARAM (a length of 0, no axis, more bytes than the address space), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_image_info(char **json, const uint64_t *shape, int ndim,
                                     airy_dtype dtype);

/** What limits the memory of this process, in bytes; 0: unknown, or no limit. */
typedef struct airy_memory_limits {
    uint64_t host, available; /**< of the machine, and free now */
    uint64_t cgroup;          /**< of the control group, the smallest on the way up */
    uint64_t slurm;           /**< SLURM_MEM_PER_NODE, or per CPU times CPUs */
} airy_memory_limits;
AIRY_API void airy_memory_limits_get(airy_memory_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
