/* Monotonic time. */
#ifndef AIRY_BASE_CLOCK_H
#define AIRY_BASE_CLOCK_H

#include <stdint.h>

uint64_t airy_clock_ns(void);

#endif
