/* Output files appear under their name only when they are complete. */
#ifndef AIRY_IO_PUT_FILE_H
#define AIRY_IO_PUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

/* Rename in one step; without force a file that is there already stays (AIRY_ERR_EXISTS). The folder is synced. */
airy_status airy_put_rename(const char *from, const char *to, bool force);
/* A new file of these bytes, by way of PATH.partial. */
airy_status airy_put_file(const char *path, const void *const *parts, const size_t *sizes, size_t count, bool force);

#endif
