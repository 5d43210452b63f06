/**
 * May a run go on with what an earlier one has left? Results keep the configuration of their run
 * (JSON); two runs of equal configurations make equal rows.
 */
#ifndef AIRY_RESUME_H
#define AIRY_RESUME_H

#include <stdbool.h>

#include "airy/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How two configurations differ. */
typedef struct airy_configuration_change {
    char text[1024]; /**< "cutoff_pick: was 3.0, is 4.0; ..."; "": they mean the same */
    bool touched;    /**< a file has another time, and the same name and size */
} airy_configuration_change;

/** Compare two configurations: inputs and files by their content, numbers as numbers.
 * AIRY_ERR_FORMAT (not JSON), AIRY_ERR_MEMORY. */
AIRY_API airy_status airy_configuration_compare(airy_configuration_change *change,
                                                const char *before, const char *now);
/**
 * Check that a partial result was begun with this configuration.
 *
 * @param before  out, its configuration, released with free(); NULL where it cannot be read; may be
 *                NULL
 * Errors: AIRY_ERR_FORMAT (it differs, by name; another kind of file), those of airy_result_open.
 */
AIRY_API airy_status airy_resume_check(const char *partial, const char *configuration,
                                       airy_configuration_change *change, char **before);
/**
 * Check that a finished result is that of this configuration.
 *
 * @param info  out, what it has
 * Errors: AIRY_ERR_EXISTS (it is no such result, or lacks rows), AIRY_ERR_FORMAT (it was made
 *         otherwise, by name).
 */
AIRY_API airy_status airy_resume_complete(const char *path, const char *configuration,
                                          airy_result_info *info);

#ifdef __cplusplus
}
#endif

#endif
