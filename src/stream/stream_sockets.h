/* The sockets of an airy_stream_receiver. */
#ifndef AIRY_STREAM_SOCKETS_H
#define AIRY_STREAM_SOCKETS_H

#include "airy/status.h"

#include <stdbool.h>
#include <stddef.h>

struct airy_stream_receiver {
    void *context;
    void **sockets;
    size_t count;
    bool bound; /* senders connect to them */
};

enum { AIRY_STREAM_ADDRESS_MAX = 255 };

/* What ZeroMQ would take and mean something else by, or refuse without saying why. */
airy_status airy_stream_check_address(const char *url, bool connects);

/*
 * ZeroMQ resolves a name later and again and again, and never says that there is no such host.
 * "tcp://HOST:PORT", also "[v6]:PORT" and "SOURCE;HOST:PORT".
 */
airy_status airy_stream_check_host(const char *url);

/* Why zmq_bind failed, just now. */
const char *airy_stream_bind_error(void);

enum { AIRY_STREAM_POLL_MS = 100 }; /* how often a thread that waits looks at whether to stop */

#endif
