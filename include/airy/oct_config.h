/**
 * OCT plans as files: the JSON that `airy oct --plan` reads and `airy oct calibrate` writes.
 *
 * Keys are those of docs/oct.md; unknown ones are errors. Files that it names (background, axis,
 * window, dispersion table) are NPY or text of one number a line, looked for beside the plan.
 */
#ifndef AIRY_OCT_CONFIG_H
#define AIRY_OCT_CONFIG_H

#include "airy/oct.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A plan and what its tables need. Zeroed is empty; freed by airy_oct_config_free. A plan for files
 * that contain their own shape may leave out samples (then it has the length of the tables, or 0
 * without one), lines (0) and dtype.
 */
typedef struct airy_oct_config {
    airy_oct_params params; /**< its tables lie in this object */
    uint64_t header_bytes;  /**< of a headerless raw file: to skip in front of the first frame */
    bool has_range;         /**< db_range stands in the plan; else display limits are automatic */
    void *block;            /**< what is released */
    bool has_dtype;         /**< dtype or packing stands in the plan */
    airy_dtype converted;   /**< i8, i32, u32 or f64 where that is the dtype of headerless files,
                                 whose samples are to be converted to params.dtype = f32 before they
                                 are processed; else F32 */
    char samples_from[160]; /**< what params.samples was taken from: "samples", or a table with the
                                  name of its file, "background line.npy"; "": it is open */
} airy_oct_config;

/**
 * Read a plan and its tables.
 * @param config  out; released by the caller
 * @param path    JSON, at most 1 MiB
 *
 * Lengths of tables, values and kinds are checked: the sentence names key, value and what is
 * expected.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (no JSON, unknown or doubtful key, wrong
 *         type), AIRY_ERR_SHAPE (a table of another length), AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_oct_config_read(airy_oct_config *config, const char *path);

/**
 * Write a plan that airy_oct_config_read gives back; under its final name only when complete.
 * Tables go into the JSON as lists of numbers.
 * Errors: AIRY_ERR_IO, AIRY_ERR_EXISTS (force is false), AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_oct_config_write(const airy_oct_config *config, const char *path,
                                           bool force);

/**
 * Return the text that airy_oct_config_write writes, released with free().
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_oct_config_text(char **text, const airy_oct_config *config);

/** Release it and set it to zero; a zeroed one is allowed. */
AIRY_API void airy_oct_config_free(airy_oct_config *config);

#ifdef __cplusplus
}
#endif
#endif
