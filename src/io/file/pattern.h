/* Several files under one name: 'run_*.cbf', frame_####.cbf. */
#ifndef AIRY_IO_FILE_PATTERN_H
#define AIRY_IO_FILE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

struct airy_paths {
    char **items;
    size_t count;
};

/*
 * The name is no file but a pattern: it holds *, ? or [, or else #; before "::" where that stands
 * in it.
 */
bool airy_path_is_pattern(const char *path);
/*
 * Each path as it is, or the files that a pattern matches, in the order of the numbers in their
 * names. A run of n # stands for a number of n digits, or more without leading zeros.
 * AIRY_ERR_NOT_FOUND: no file matches. say: numbers without a file go to the log.
 */
airy_status airy_paths_expand(struct airy_paths *paths, const char *const *given, size_t count,
                              bool say);
void airy_paths_free(struct airy_paths *paths);

#endif
