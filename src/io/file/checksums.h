/* Whether checksums that CBF and FITS files carry are verified in this process. */
#ifndef AIRY_IO_FILE_CHECKSUMS_H
#define AIRY_IO_FILE_CHECKSUMS_H

#include <stdbool.h>

/* As airy_checksums_verify has it; true by default. Any thread. */
bool airy_checksums_wanted(void);

#endif
