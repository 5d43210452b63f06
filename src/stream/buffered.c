#include "stream/buffered.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

enum {
    LOOK_MS = 10,      /* while there are connections */
    IDLE_LOOK_MS = 50, /* while there are none */
    EVENTS = 256,      /* of a socket at each look */
    SMALL = 4096,      /* bytes: a connection that holds no more is left alone */
    EVENT_BYTES = 6,   /* of the first part of an event: what (16 bits), value (32 bits) */
    SEALED = 33        /* bytes that an encrypted message has more */
};

struct connection {
    int fd;  /* ZeroMQ's number of it, which another connection may have later */
    int own; /* a duplicate, which is this connection also when ZeroMQ has closed its own */
    size_t socket;
    uint64_t received, read; /* bytes */
    bool ours, ended;
};

struct socket {
    void *watched, *events; /* of ZeroMQ */
    uint64_t left; /* bytes of connections that are over, at most, which may still be read */
};

struct airy_stream_buffered {
    pthread_mutex_t lock;
    pthread_t thread;
    bool started;
    atomic_bool ends;
    bool sealed;
    uint64_t limit;
    struct connection *connections;
    size_t used, room;
    struct airy_stream_ended overfull, uncounted;
    size_t count, most;
    struct socket sockets[];
};

/* Bytes of the connection that came so far; false: it is no TCP connection. */
static bool count_received(struct connection *c)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(c->own, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    c->received = info.tcpi_bytes_received;
    return true;
}

static uint64_t held_by(const struct connection *c)
{
    return c->received > c->read ? c->received - c->read : 0;
}

/* Of two that have had the same number the later one. */
static struct connection *find(struct airy_stream_buffered *b, size_t socket, int fd)
{
    for (size_t i = b->used; i-- > 0;)
        if (b->connections[i].fd == fd && b->connections[i].socket == socket)
            return &b->connections[i];
    return NULL;
}

static void name_peer(char peer[AIRY_STREAM_BUFFERED_PEER], int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    const void *bytes = NULL;
    snprintf(peer, AIRY_STREAM_BUFFERED_PEER, "an unknown address");
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0)
        return;
    if (address.ss_family == AF_INET)
        bytes = &((const struct sockaddr_in *)&address)->sin_addr;
    else if (address.ss_family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)&address)->sin6_addr;
    if (bytes)
        (void)inet_ntop(address.ss_family, bytes, peer, AIRY_STREAM_BUFFERED_PEER);
}

/* ZeroMQ finds it ended, and frees the parts of its message that are here. */
static void end_connection(struct airy_stream_ended *ended, int fd, int error)
{
    name_peer(ended->peer, fd);
    ended->error = error;
    ended->count++;
    shutdown(fd, SHUT_RDWR);
}

/* One that cannot be counted is ended. */
static void add(struct airy_stream_buffered *b, size_t socket, int fd)
{
    struct connection c = {.fd = fd, .own = fcntl(fd, F_DUPFD_CLOEXEC, 0), .socket = socket};
    const int error = c.own < 0 ? errno : ENOMEM;
    if (c.own < 0 && error == EBADF)
        return;
    if (c.own >= 0 && !count_received(&c)) {
        close(c.own);
        return;
    }
    if (b->used == b->room) {
        const size_t room = airy_max_size(16, 2 * b->room);
        struct connection *more = realloc(b->connections, room * sizeof(*more));
        if (more) {
            b->connections = more;
            b->room = room;
        }
    }
    if (c.own >= 0 && b->used < b->room) {
        b->connections[b->used++] = c;
        return;
    }
    end_connection(&b->uncounted, fd, error);
    if (c.own >= 0)
        close(c.own);
}

/* It is over: what it had sent may still be read. */
static void drop(struct airy_stream_buffered *b, size_t socket, int fd)
{
    for (size_t i = 0; i < b->used; i++) {
        struct connection *c = &b->connections[i];
        if (c->fd != fd || c->socket != socket)
            continue;
        (void)count_received(c);
        b->sockets[socket].left += held_by(c);
        close(c->own);
        memmove(c, c + 1, (--b->used - i) * sizeof(*c));
        return;
    }
}

/* False: there is none. */
static bool take_event(struct airy_stream_buffered *b, size_t socket)
{
    unsigned char event[EVENT_BYTES], address[256];
    uint16_t what;
    uint32_t value;
    void *events = b->sockets[socket].events;
    if (zmq_recv(events, event, sizeof(event), ZMQ_DONTWAIT) < 0)
        return false;
    (void)zmq_recv(events, address, sizeof(address), ZMQ_DONTWAIT);
    memcpy(&what, event, sizeof(what));
    memcpy(&value, event + sizeof(what), sizeof(value));
    if (what == ZMQ_EVENT_DISCONNECTED)
        drop(b, socket, (int)value);
    else
        add(b, socket, (int)value);
    return true;
}

static void take_events(struct airy_stream_buffered *b, size_t socket)
{
    for (int i = 0; i < EVENTS && take_event(b, socket); i++)
        ;
}

/* Connections of a series, or the others, with what is left of those that are over. */
static void bound(struct airy_stream_buffered *b, bool ours)
{
    uint64_t held = 0;
    for (size_t i = 0; i < b->count && !ours; i++)
        held += b->sockets[i].left;
    for (size_t i = 0; i < b->used; i++)
        held += b->connections[i].ours == ours ? held_by(&b->connections[i]) : 0;
    while (held > b->limit / 2) {
        struct connection *most = NULL;
        for (size_t i = 0; i < b->used; i++) {
            struct connection *c = &b->connections[i];
            if (c->ours == ours && !c->ended && held_by(c) > (most ? held_by(most) : SMALL))
                most = c;
        }
        if (!most)
            return;
        end_connection(&b->overfull, most->own, 0);
        most->ended = true;
        held -= held_by(most);
    }
}

static void look(struct airy_stream_buffered *b)
{
    for (size_t i = 0; i < b->count; i++)
        take_events(b, i);
    for (size_t i = 0; i < b->used; i++) {
        struct connection *c = &b->connections[i];
        (void)count_received(c);
        if (c->read > c->received) { /* of an earlier connection of the same number */
            uint64_t *left = &b->sockets[c->socket].left;
            *left -= *left < c->read - c->received ? *left : c->read - c->received;
            c->read = c->received;
        }
    }
    bound(b, false);
    bound(b, true);
}

static void *watch(void *user)
{
    struct airy_stream_buffered *b = user;
    while (!atomic_load(&b->ends)) {
        pthread_mutex_lock(&b->lock);
        look(b);
        const long pause = b->used ? LOOK_MS : IDLE_LOOK_MS;
        pthread_mutex_unlock(&b->lock);
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000}, NULL);
    }
    return NULL;
}

airy_status airy_stream_buffered_begin(struct airy_stream_buffered **buffered, size_t sockets,
                                       uint64_t limit, bool sealed)
{
    struct airy_stream_buffered *b = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&b, 1, sizeof(*b) + sockets * sizeof(b->sockets[0]),
                                "the count of a stream's memory"));
    b->most = sockets;
    b->limit = limit;
    b->sealed = sealed;
    (void)pthread_mutex_init(&b->lock, NULL);
    *buffered = b;
    b->started = pthread_create(&b->thread, NULL, watch, b) == 0;
    AIRY_FAIL_IF(!b->started, AIRY_ERR_MEMORY, "no thread that counts a stream's memory");
    return AIRY_OK;
}

airy_status airy_stream_buffered_add(struct airy_stream_buffered *b, void *context, void *socket)
{
    const int what = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED, linger = 0,
              all = 0;
    char name[64];
    AIRY_FAIL_IF(b->count == b->most, AIRY_ERR_PARAM, "more sockets than the %zu that were planned",
                 b->most);
    pthread_mutex_lock(&b->lock);
    struct socket *s = &b->sockets[b->count];
    snprintf(name, sizeof(name), "inproc://airy.events.%zu", b->count);
    s->events = zmq_socket(context, ZMQ_PAIR);
    const bool good = s->events &&
                      zmq_setsockopt(s->events, ZMQ_LINGER, &linger, sizeof(linger)) == 0 &&
                      zmq_setsockopt(s->events, ZMQ_RCVHWM, &all, sizeof(all)) == 0 &&
                      zmq_socket_monitor(socket, name, what) == 0 &&
                      zmq_connect(s->events, name) == 0;
    s->watched = socket;
    b->count++;
    pthread_mutex_unlock(&b->lock);
    AIRY_FAIL_IF(!good, AIRY_ERR_IO, "connections cannot be counted: %s",
                 zmq_strerror(zmq_errno()));
    return AIRY_OK;
}

void airy_stream_buffered_read(struct airy_stream_buffered *b, size_t socket, int fd, size_t bytes,
                               bool ours)
{
    bytes += b->sealed ? SEALED : 0;
    bytes += bytes > UINT8_MAX ? 9 : 2; /* flags and size, in front of it */
    pthread_mutex_lock(&b->lock);
    struct connection *c = find(b, socket, fd);
    if (!c) { /* its event is older than its messages */
        take_events(b, socket);
        c = find(b, socket, fd);
    }
    if (c) {
        c->read += bytes;
        c->ours = c->ours || ours;
    } else {
        uint64_t *left = &b->sockets[socket].left;
        *left -= *left < bytes ? *left : bytes;
    }
    pthread_mutex_unlock(&b->lock);
}

void airy_stream_buffered_empty(struct airy_stream_buffered *b, size_t socket)
{
    pthread_mutex_lock(&b->lock);
    b->sockets[socket].left = 0;
    pthread_mutex_unlock(&b->lock);
}

/* Half of what connections of a series may hold: a message is under way as well, and one is read. */
size_t airy_stream_buffered_queue(struct airy_stream_buffered *b, uint64_t message_bytes)
{
    size_t sharing = 0;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->used; i++)
        sharing += b->connections[i].ours;
    pthread_mutex_unlock(&b->lock);
    const uint64_t each = b->limit / 4 / airy_max_size(airy_max_size(sharing, b->most), 1);
    const uint64_t messages = message_bytes ? each / message_bytes : INT32_MAX;
    return messages > INT32_MAX ? INT32_MAX : airy_max_size((size_t)messages, 1);
}

void airy_stream_buffered_ended(struct airy_stream_buffered *b, struct airy_stream_ended *overfull,
                                struct airy_stream_ended *uncounted)
{
    pthread_mutex_lock(&b->lock);
    *overfull = b->overfull;
    *uncounted = b->uncounted;
    pthread_mutex_unlock(&b->lock);
}

uint64_t airy_stream_buffered_limit(const struct airy_stream_buffered *b)
{
    return b->limit;
}

void airy_stream_buffered_end(struct airy_stream_buffered **buffered)
{
    struct airy_stream_buffered *b = *buffered;
    if (!b)
        return;
    atomic_store(&b->ends, true);
    if (b->started)
        pthread_join(b->thread, NULL);
    for (size_t i = 0; i < b->count; i++) {
        (void)zmq_socket_monitor(b->sockets[i].watched, NULL, 0);
        if (b->sockets[i].events)
            zmq_close(b->sockets[i].events);
    }
    for (size_t i = 0; i < b->used; i++)
        close(b->connections[i].own);
    pthread_mutex_destroy(&b->lock);
    free(b->connections);
    free(b);
    *buffered = NULL;
}
