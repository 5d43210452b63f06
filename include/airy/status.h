/**
 * Status codes, the last error, version.
 *
 * Every fallible function returns airy_status: 0 for success, a negative code otherwise. Results go
 * through pointers and are written on success only. The sentence that names the parameter, the
 * value and the limit is kept per thread and returned by airy_last_error(); airy/error.h has the
 * whole record of a failure, with its subject and what to do next.
 */
#ifndef AIRY_STATUS_H
#define AIRY_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AIRY_VERSION_MAJOR 0
#define AIRY_VERSION_MINOR 1
#define AIRY_VERSION_PATCH 0

/*
 * Until 1.0 any minor version may add fields to structs that callers allocate; the library's
 * soversion changes with it.
 */

#if defined(_WIN32) || !defined(__GNUC__)
#define AIRY_API
#else
#define AIRY_API __attribute__((visibility("default")))
#endif

typedef enum airy_status {
    AIRY_PARTLY = 1, /**< no failure: the job is done, and frames were left out as the caller asked;
                          returned by airy_job_run alone */
    AIRY_OK = 0,
    AIRY_ERR_PARAM = -1,       /**< an argument is outside its range */
    AIRY_ERR_SHAPE = -2,       /**< array shapes do not fit each other or the detector */
    AIRY_ERR_DTYPE = -3,       /**< this operation does not take this element type */
    AIRY_ERR_UNSUPPORTED = -4, /**< the device, file or build lacks what was asked for */
    AIRY_ERR_MEMORY = -5,      /**< out of host or device memory, or over the limit that was set */
    AIRY_ERR_DEVICE = -6,      /**< the device or its driver failed, or there is no such device */
    AIRY_ERR_IO = -7,          /**< the operating system refused to open, read or write */
    AIRY_ERR_FORMAT = -8,      /**< a file is not what it should be */
    AIRY_ERR_CORRUPT = -9,     /**< compressed data do not decode */
    AIRY_ERR_NOT_FOUND = -10,  /**< no such file, dataset, detector, key */
    AIRY_ERR_EXISTS = -11,     /**< the output is there already */
    AIRY_ERR_CANCELLED = -12,  /**< the run ended before its work was done, as the caller asked */
    AIRY_ERR_TIMED_OUT = -13,  /**< what was waited for did not happen in the time that was given */
    AIRY_ERR_UNWRITTEN = -14,  /**< the file has room for a frame that was never written */
    AIRY_ERR_INCOMPLETE = -15, /**< the input ended, and parts of the result are missing */
    AIRY_ERR_ENDED = -16       /**< a pipe has ended: no more frames come */
} airy_status;

/** Return the code's name, such as "AIRY_ERR_SHAPE"; never NULL. Any thread. */
AIRY_API const char *airy_status_name(airy_status status);

/**
 * Return whether a failure is that of one frame, which cannot be read or decoded or was never
 * written, and not that of the device, the memory or the call: a run with skip_bad leaves such
 * frames out and goes on. Any thread.
 */
AIRY_API bool airy_status_is_of_frame(airy_status status);

/**
 * Return the sentence of the last failure in the calling thread: parameter, value, limit.
 * Valid until the next Airy call of this thread; "" when nothing has failed. Any thread.
 */
AIRY_API const char *airy_last_error(void);

/** Return the version, "0.1.0". Any thread. */
AIRY_API const char *airy_version(void);

/**
 * Describe the features of this build and machine on several lines (back ends, SIMD, filters,
 * libraries).
 */
AIRY_API const char *airy_build_info(void);

#ifdef __cplusplus
}
#endif
#endif
