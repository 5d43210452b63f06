/**
 * What a result was made of, as JSON that is kept in the result.
 *
 *     char *json = NULL;
 *     if (airy_file_identify(&json, "dark.npy") == AIRY_OK)
 *         ... {"path": "dark.npy", "sha256": "..."}
 *     free(json);
 *
 * Texts are released with free(). Any thread.
 */
#ifndef AIRY_PROVENANCE_H
#define AIRY_PROVENANCE_H

#include <stddef.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Identify a file, FILE or FILE::DATASET, by its content: {path, sha256}. A file of more than 64 MiB
 * is identified by its name, size and time: {path, bytes, modified, sha256_of_name_size_time}. Of what
 * is no regular file, such as a pipe, only the path is kept: {path}.
 * Errors: AIRY_ERR_IO (the file is there, and cannot be read), AIRY_ERR_MEMORY, AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_file_identify(char **json, const char *path);
/**
 * Identify several files as a list of such objects, where 64 MiB are shared among them. Of more than
 * 256 files the list has one object: {path, last, files, sha256_of_names_sizes}.
 */
AIRY_API airy_status airy_files_identify(char **json, const char *const *paths, size_t count);

/** Copy a text as UTF-8; where it is not, its bytes are read as Latin-1. AIRY_ERR_MEMORY. */
AIRY_API airy_status airy_utf8_copy(char **utf8, const char *text);

/** Rewrite the real numbers of a JSON text with the fewest digits that give back each of them. */
AIRY_API void airy_json_shorten(char *json);

#ifdef __cplusplus
}
#endif

#endif
