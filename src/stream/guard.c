/* Addresses and keys that may connect. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/keys.h"
#include "stream/stream_sockets.h"

enum { FRAMES = 16, FRAME_BYTES = 256, KEY_AT = 6 };

struct airy_stream_guard {
    void *socket;
    pthread_t thread;
    atomic_bool ends;
    bool keyed;
    uint8_t (*keys)[AIRY_STREAM_KEY_RAW];
    size_t key_count, count;
    struct airy_stream_network networks[];
};

static bool is_in(const struct airy_stream_network *network,
                  const uint8_t address[AIRY_STREAM_IP_BYTES])
{
    const unsigned whole = network->bits / 8, rest = network->bits % 8;
    return memcmp(network->address, address, whole) == 0 &&
           (rest == 0 || (network->address[whole] ^ address[whole]) >> (8 - rest) == 0);
}

static bool is_allowed(const struct airy_stream_guard *guard, const char *text)
{
    uint8_t address[AIRY_STREAM_IP_BYTES];
    char host[64];
    bool v4;
    snprintf(host, sizeof(host), "%.*s", (int)strcspn(text, "%"), text); /* without a zone */
    if (!airy_stream_parse_ip(address, &v4, host))
        return false;
    for (size_t i = 0; i < guard->count; i++)
        if (is_in(&guard->networks[i], address))
            return true;
    return false;
}

static bool is_known(const struct airy_stream_guard *guard, const char *mechanism,
                     const uint8_t key[AIRY_STREAM_KEY_RAW])
{
    bool known = false;
    for (size_t i = 0; i < guard->key_count; i++)
        known = known || memcmp(guard->keys[i], key, AIRY_STREAM_KEY_RAW) == 0;
    return known && strcmp(mechanism, "CURVE") == 0;
}

/*
 * version, request, domain, address, identity, mechanism, key: how many frames came; texts are cut.
 * A key of another length is none.
 */
static size_t read_request(void *socket, char frames[FRAMES][FRAME_BYTES])
{
    size_t count = 0;
    for (int more = 1; more; count++) {
        size_t size = sizeof(more);
        char *frame = frames[count < FRAMES ? count : FRAMES - 1];
        const int n = zmq_recv(socket, frame, FRAME_BYTES - 1, 0);
        if (n < 0)
            return 0;
        frame[n < FRAME_BYTES ? n : FRAME_BYTES - 1] = 0;
        if (count == KEY_AT && n != AIRY_STREAM_KEY_RAW)
            memset(frame, 0, AIRY_STREAM_KEY_RAW);
        if (zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) != 0)
            return 0;
    }
    return count;
}

static void *answer(void *user)
{
    struct airy_stream_guard *guard = user;
    char frames[FRAMES][FRAME_BYTES];
    while (!atomic_load(&guard->ends)) {
        const size_t count = read_request(guard->socket, frames);
        if (count == 0)
            continue;
        const uint8_t *key = (const uint8_t *)frames[KEY_AT];
        const bool allowed = count >= (size_t)KEY_AT + guard->keyed &&
                             (guard->count == 0 || is_allowed(guard, frames[3])) &&
                             (!guard->keyed || is_known(guard, frames[5], key));
        char owner[AIRY_STREAM_KEY_BYTES] = ""; /* whose messages it is: receivers are told */
        if (allowed && guard->keyed)
            (void)zmq_z85_encode(owner, key, AIRY_STREAM_KEY_RAW);
        const char *const reply[] = {
            "1.0", frames[1], allowed ? "200" : "400", allowed ? "OK" : "not allowed", owner, ""};
        for (size_t i = 0; i < 6; i++)
            (void)zmq_send(guard->socket, reply[i], strlen(reply[i]), i < 5 ? ZMQ_SNDMORE : 0);
    }
    return NULL;
}

static airy_status start(struct airy_stream_guard *guard, void *context)
{
    const int poll = AIRY_STREAM_POLL_MS, linger = 0;
    guard->socket = zmq_socket(context, ZMQ_REP);
    AIRY_FAIL_IF(
        !guard->socket || zmq_setsockopt(guard->socket, ZMQ_RCVTIMEO, &poll, sizeof(poll)) != 0 ||
            zmq_setsockopt(guard->socket, ZMQ_LINGER, &linger, sizeof(linger)) != 0 ||
            zmq_bind(guard->socket, "inproc://zeromq.zap.01") != 0,
        AIRY_ERR_IO, "no socket that looks after addresses: %s", zmq_strerror(zmq_errno()));
    AIRY_FAIL_IF(pthread_create(&guard->thread, NULL, answer, guard) != 0, AIRY_ERR_MEMORY,
                 "no thread that looks after addresses");
    return AIRY_OK;
}

static airy_status copy_keys(struct airy_stream_guard *guard, const airy_stream_keys *keys)
{
    guard->keyed = true;
    AIRY_TRY(airy_memory_calloc((void **)&guard->keys, keys->peer_count, sizeof(guard->keys[0]),
                                "allowed keys"));
    for (; guard->key_count < keys->peer_count; guard->key_count++)
        airy_stream_key_decode(guard->keys[guard->key_count], keys->peers[guard->key_count]);
    return AIRY_OK;
}

airy_status airy_stream_guard_begin(struct airy_stream_guard **guard, void *context,
                                    const char *const *allow, size_t count,
                                    const airy_stream_keys *keys)
{
    struct airy_stream_guard *made = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1,
                                sizeof(*made) + count * sizeof(struct airy_stream_network),
                                "allowed addresses"));
    airy_status status = AIRY_OK;
    for (made->count = 0; made->count < count && status == AIRY_OK; made->count++)
        status = airy_stream_parse_network(&made->networks[made->count], allow[made->count]);
    if (status == AIRY_OK && keys)
        status = copy_keys(made, keys);
    if (status == AIRY_OK)
        status = start(made, context);
    if (status != AIRY_OK) {
        if (made->socket)
            zmq_close(made->socket);
        free(made->keys);
        free(made);
        return status;
    }
    *guard = made;
    return AIRY_OK;
}

void airy_stream_guard_end(struct airy_stream_guard **guard)
{
    if (!*guard)
        return;
    atomic_store(&(*guard)->ends, true);
    pthread_join((*guard)->thread, NULL);
    zmq_close((*guard)->socket);
    free((*guard)->keys);
    free(*guard);
    *guard = NULL;
}
