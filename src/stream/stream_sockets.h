/* The sockets of an airy_stream_receiver. */
#ifndef AIRY_STREAM_SOCKETS_H
#define AIRY_STREAM_SOCKETS_H

#include <stddef.h>

struct airy_stream_receiver {
    void *context;
    void **sockets;
    size_t count;
};

enum { AIRY_STREAM_POLL_MS = 100 }; /* how often a thread that waits looks at whether to stop */

#endif
