/* What is printed to a stream, as a text in memory. */
#ifndef AIRY_BASE_PRINT_TEXT_H
#define AIRY_BASE_PRINT_TEXT_H

#include <stdio.h>

#include "airy/status.h"

/* text: out, what print has printed; released with free(). AIRY_ERR_MEMORY. */
airy_status airy_print_text(char **text, void (*print)(FILE *file, const void *user),
                            const void *user);

#endif
