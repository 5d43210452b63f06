/**
 * A look at a result of an integration, also one that is being written: how far it is, and single
 * patterns of it. Takes no lock and writes nothing, so that the writer never notices.
 *
 * What is open is a moment: a later one takes another look. Rows that the status calls done are
 * whole, in files that are complete from the start and in those that grow.
 */
#ifndef AIRY_WATCH_H
#define AIRY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: one thread at a time. */
typedef struct airy_watch airy_watch;

typedef struct airy_watch_info {
    size_t rows;           /**< of the result; of a file that grows, so far */
    size_t good, bad;      /**< that are done */
    size_t newest;         /**< the last good row; SIZE_MAX: there is none */
    bool grows;            /**< rows come while it is written; nobody has said how many */
    bool written;          /**< a writer has it open now */
    size_t bins;           /**< of the radius */
    size_t azimuth_bins;   /**< 0: one dimension */
    const double *radial;  /**< [bins]; lives as long as the look */
    const double *azimuth; /**< [azimuth_bins], or NULL; lives as long as the look */
    char azimuth_label[128];
    char label[128]; /**< of the radial axis, such as "q (1/nm)" */
} airy_watch_info;

/**
 * Whether somebody writes the file, a result or its .partial, just now. Writers hold a lock, shared
 * where they are several; it is asked for, not taken. False where there is no such file.
 */
AIRY_API bool airy_watch_is_written(const char *path);
/**
 * Errors: AIRY_ERR_NOT_FOUND (no such file), AIRY_ERR_IO, AIRY_ERR_FORMAT (not a result, or not
 *         yet), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_watch_open(airy_watch **watch, const char *path);
AIRY_API airy_status airy_watch_get_info(const airy_watch *watch, airy_watch_info *info);
/** Whether a row is done and good; false behind the end. */
AIRY_API bool airy_watch_is_good(const airy_watch *watch, size_t row);
/**
 * The intensities of a row.
 * @param values  out, [bins] or [azimuth_bins, bins]
 * Errors: AIRY_ERR_PARAM (a row that is not good), AIRY_ERR_IO.
 */
AIRY_API airy_status airy_watch_read(airy_watch *watch, size_t row, float *values);
/**
 * A number of a row: "index", "total", "max", "saturated", "invalid".
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_NOT_FOUND, AIRY_ERR_IO.
 */
AIRY_API airy_status airy_watch_number(airy_watch *watch, const char *name, size_t row,
                                       double *value);
/** Sets *watch to NULL. */
AIRY_API void airy_watch_close(airy_watch **watch);

#ifdef __cplusplus
}
#endif
#endif
