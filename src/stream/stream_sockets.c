#include "stream/stream_sockets.h"

#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "airy/stream.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "stream/keys.h"

enum {
    SOCKETS_MAX = 64,
    QUEUE = 32,              /* messages of a socket */
    MESSAGE_MAX = 256 << 20, /* bytes */
    KERNEL_BUFFER = 4 << 20, /* bytes: some images, so that the network's thread wakes less often */
    KERNEL_LEAST = 64 << 10
};
static const uint64_t MEMORY_LEAST = 1 << 20; /* bytes */

int airy_stream_use_ipv6(void *socket, const char *url)
{
    const int on = strchr(url, '[') != NULL;
    return zmq_setsockopt(socket, ZMQ_IPV6, &on, sizeof(on));
}

const char *airy_stream_bind_error(void)
{
    const int why = zmq_errno();
    return why == ENODEV || why == EADDRNOTAVAIL
               ? "no address of this machine (tcp://*:PORT is all of its own)"
               : zmq_strerror(why);
}

airy_status airy_stream_fail_address(const char *address, bool binds, int why, airy_status status)
{
    const airy_hint hint = binds && (why == ENODEV || why == EADDRNOTAVAIL) ? AIRY_HINT_BIND
                           : why == EADDRINUSE                              ? AIRY_HINT_PORT
                                                                            : AIRY_HINT_NONE;
    return airy_about(AIRY_SUBJECT_ADDRESS, address, airy_hinted(hint, status));
}

airy_status airy_stream_check_host(const char *url)
{
    char host[AIRY_STREAM_ADDRESS_MAX + 1];
    const char *source = strchr(url, ';'), *from = source ? source + 1 : url + 6,
               *end = strrchr(url, ':');
    const bool brackets = *from == '[' && end > from + 1 && end[-1] == ']';
    if (strncmp(url, "tcp://", 6) != 0)
        return AIRY_OK;
    snprintf(host, sizeof(host), "%.*s", (int)(end - from) - 2 * brackets, from + brackets);
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const int failed = getaddrinfo(host, NULL, &hints, &found);
    AIRY_FAIL_HINT_IF(failed, AIRY_ERR_IO, AIRY_HINT_HOST, AIRY_SUBJECT_ADDRESS,
                      "URL '%s': the host '%s' cannot be found: %s", url, host,
                      failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
    freeaddrinfo(found);
    return AIRY_OK;
}

/* One connection, served by a thread of its own in ZeroMQ. */
static airy_status open_socket(airy_stream_receiver *receiver, const airy_stream_receiver_params *p,
                               size_t index, size_t sockets)
{
    const char *endpoint = p->endpoints[index / airy_max_size(p->sockets, 1)];
    const uint64_t memory = airy_stream_buffered_limit(receiver->buffered);
    const int linger = 0, poll = AIRY_STREAM_POLL_MS, queue = (int)receiver->queue,
              buffer = (int)airy_min_size(
                  KERNEL_BUFFER, airy_max_size(KERNEL_LEAST, (size_t)(memory / 16 / sockets)));
    const int64_t largest = (int64_t)receiver->largest;
    const uint64_t affinity = UINT64_C(1) << index;
    AIRY_TRY(airy_stream_check_address(endpoint, !p->bind));
    if (!p->bind)
        AIRY_TRY(airy_stream_check_host(endpoint));
    void *socket = zmq_socket(receiver->context, ZMQ_PULL);
    AIRY_FAIL_ON_IF(!socket, AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS, "no ZeroMQ socket for '%s': %s",
                    endpoint, zmq_strerror(zmq_errno()));
    receiver->sockets[receiver->count++] = socket;
    AIRY_TRY(airy_stream_buffered_add(receiver->buffered, receiver->context, socket));
    AIRY_FAIL_IF(p->allow && zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, "airy", 4) != 0, AIRY_ERR_IO,
                 "options of a ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
    if (p->keys)
        AIRY_TRY(airy_stream_keys_use(socket, p->keys, p->bind));
    const bool failed = airy_stream_use_ipv6(socket, endpoint) != 0 ||
                        zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger)) != 0 ||
                        zmq_setsockopt(socket, ZMQ_RCVTIMEO, &poll, sizeof(poll)) != 0 ||
                        zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof(queue)) != 0 ||
                        zmq_setsockopt(socket, ZMQ_RCVBUF, &buffer, sizeof(buffer)) != 0 ||
                        zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof(largest)) != 0 ||
                        zmq_setsockopt(socket, ZMQ_AFFINITY, &affinity, sizeof(affinity)) != 0 ||
                        (p->bind ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint)) != 0;
    const int why = zmq_errno();
    if (failed)
        return airy_stream_fail_address(
            endpoint, p->bind, why,
            airy_fail(AIRY_ERR_IO, "cannot %s '%s': %s", p->bind ? "bind to" : "connect to",
                      endpoint, p->bind ? airy_stream_bind_error() : zmq_strerror(why)));
    return AIRY_OK;
}

/* The bytes that all connections together may take. */
static uint64_t memory_of(const airy_stream_receiver_params *p)
{
    return p->memory ? p->memory : airy_memory_available() / 4;
}

static airy_status check_params(const airy_stream_receiver_params *params, size_t each,
                                uint64_t memory)
{
    AIRY_FAIL_ON_IF(params->count == 0 || params->count > SOCKETS_MAX, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 1 to %d", "endpoints",
                    params->count, SOCKETS_MAX);
    AIRY_FAIL_IF(each > SOCKETS_MAX / params->count, AIRY_ERR_PARAM,
                 "%zu sockets for each of %zu addresses, expected at most %d in all", each,
                 params->count, SOCKETS_MAX);
    AIRY_FAIL_ON_IF(params->bind && each > 1, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1 where the sender connects", "sockets", each);
    AIRY_FAIL_ON_IF(params->queue > 1000000, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected <= 1000000", "queue", params->queue);
    AIRY_FAIL_ON_IF(params->max_message > INT64_MAX, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected <= 2^63 - 1", "max_message", params->max_message);
    AIRY_FAIL_ON_IF(memory < MEMORY_LEAST, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %llu, expected %llu bytes at least for what the network sends", "memory",
                    (unsigned long long)memory, (unsigned long long)MEMORY_LEAST);
    AIRY_FAIL_ON_IF(params->max_message > memory / 2, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most half of the %llu bytes of memory for what "
                    "the network sends",
                    "max_message", params->max_message, (unsigned long long)memory);
    for (size_t i = 0; i < params->count && params->allow; i++)
        AIRY_FAIL_ON_IF(
            strncmp(params->endpoints[i], "tcp://", 6) != 0, AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
            "URL '%s': addresses that may connect are for tcp://HOST:PORT", params->endpoints[i]);
    return params->keys ? airy_stream_keys_check(params->keys, params->bind) : AIRY_OK;
}

airy_status airy_stream_receiver_create(airy_stream_receiver **receiver,
                                        const airy_stream_receiver_params *params)
{
    AIRY_FAIL_IF(!receiver || !params || !params->endpoints, AIRY_ERR_PARAM,
                 "airy_stream_receiver_create: an argument is NULL");
    const size_t each = airy_max_size(params->sockets, 1);
    const uint64_t memory = memory_of(params);
    AIRY_TRY(check_params(params, each, memory));
    airy_stream_receiver *made = NULL;
    airy_status status = airy_memory_calloc((void **)&made, 1, sizeof(*made), "a stream");
    AIRY_TRY(status);
    const size_t count = each * params->count;
    made->bound = params->bind;
    made->queue = params->queue ? params->queue : QUEUE;
    made->largest = params->max_message ? params->max_message
                                        : airy_min_size(MESSAGE_MAX, memory / 2);
    status = airy_memory_calloc((void **)&made->sockets, count, sizeof(void *), "sockets");
    if (status == AIRY_OK) {
        made->context = zmq_ctx_new();
        if (!made->context || zmq_ctx_set(made->context, ZMQ_IO_THREADS, (int)count) != 0)
            status = airy_fail(AIRY_ERR_MEMORY, "no ZeroMQ context with %zu threads: %s", count,
                               zmq_strerror(zmq_errno()));
    }
    if (status == AIRY_OK)
        status = airy_stream_buffered_begin(&made->buffered, count, memory, params->keys != NULL);
    const airy_stream_keys *keys = params->bind ? params->keys : NULL;
    if (status == AIRY_OK && (params->allow || keys))
        status = airy_stream_guard_begin(&made->guard, made->context, params->allow,
                                         params->allow_count, keys);
    for (size_t i = 0; status == AIRY_OK && i < count; i++)
        status = open_socket(made, params, i, count);
    if (status != AIRY_OK) {
        airy_stream_receiver_destroy(&made);
        return status;
    }
    *receiver = made;
    return AIRY_OK;
}

void airy_stream_receiver_destroy(airy_stream_receiver **receiver)
{
    if (!*receiver)
        return;
    airy_stream_buffered_end(&(*receiver)->buffered);
    for (size_t i = 0; i < (*receiver)->count; i++)
        zmq_close((*receiver)->sockets[i]);
    airy_stream_guard_end(&(*receiver)->guard);
    while ((*receiver)->context && zmq_ctx_term((*receiver)->context) != 0 && zmq_errno() == EINTR)
        ;
    free((*receiver)->sockets);
    free(*receiver);
    *receiver = NULL;
}
