/* The sockets of an airy_stream_receiver. */
#ifndef AIRY_STREAM_SOCKETS_H
#define AIRY_STREAM_SOCKETS_H

#include "airy/status.h"

#include "airy/stream_keys.h"
#include "stream/address.h"
#include "stream/buffered.h"

struct airy_stream_receiver {
    void *context;
    void **sockets;
    size_t count;
    bool bound; /* senders connect to them */
    struct airy_stream_guard *guard;
    struct airy_stream_buffered *buffered;
    size_t queue;     /* messages of a connection, at most */
    uint64_t largest; /* bytes of a message */
};

/*
 * ZeroMQ resolves a name later and again and again, and never says that there is no such host.
 * "tcp://HOST:PORT", also "[v6]:PORT" and "SOURCE;HOST:PORT".
 */
airy_status airy_stream_check_host(const char *url);

/* Let a socket use IPv6 where `url` has an address in brackets. Returns what zmq_setsockopt does. */
int airy_stream_use_ipv6(void *socket, const char *url);

/* Why zmq_bind failed, just now. */
const char *airy_stream_bind_error(void);
/* Give a failure to bind or connect its subject and hint; why: zmq_errno(). Returns status. */
airy_status airy_stream_fail_address(const char *address, bool binds, int why, airy_status status);

/*
 * Who asks for a connection is looked up in a list (ZeroMQ's authentication protocol, RFC 27), by a
 * thread of its own in the context. Begin before there is a socket, end behind the last one.
 * allow: addresses, NULL: all. keys: those whose peers may connect, NULL: no key is needed.
 * Errors: AIRY_ERR_PARAM (no address, by name), AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
struct airy_stream_guard;
airy_status airy_stream_guard_begin(struct airy_stream_guard **guard, void *context,
                                    const char *const *allow, size_t count,
                                    const airy_stream_keys *keys);
void airy_stream_guard_end(struct airy_stream_guard **guard);

enum { AIRY_STREAM_POLL_MS = 100 }; /* how often a thread that waits looks at whether to stop */

#endif
