/* Addresses of streams. */
#ifndef AIRY_STREAM_ADDRESS_H
#define AIRY_STREAM_ADDRESS_H

#include <stdbool.h>

#include "airy/status.h"

enum { AIRY_STREAM_ADDRESS_MAX = 255 };

/* What ZeroMQ would take and mean something else by, or refuse without saying why. */
airy_status airy_stream_check_address(const char *url, bool connects);

#endif
