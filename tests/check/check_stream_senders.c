/* Who sends: images that come twice, other addresses, and what a receiver refuses. */
#include "airy/stream.h"
#include "airy/stream_send.h"
#include "check.h"

#if AIRY_HAVE_ZMQ

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <zmq.h>

#include "check_stream_loop.h"
#include "zmtp.h"

/* An image again, with the same pixels and with one that is another. */
static void check_conflict(struct check *c)
{
    struct loop l;
    struct message m;
    if (!check_case(c, "stream_series_conflict") || !loop_open(&l, c, 1))
        return;
    loop_send_start(&l, 0, 1, 4);
    for (uint64_t i = 0; i < 4; i++) {
        loop_send_image(&l, 0, 1, i);
        if (i == 1 || i == 2)
            loop_send_image(&l, 0, 1, i);
    }
    make_image(&m, 1, 1);
    m.bytes[m.size - 1] ^= 1; /* the last pixel */
    loop_send(&l, 0, &m);
    loop_send_end(&l, 0, 1);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 4, SIZE_MAX);
    CHECK(c, l.conflicts == 1 && l.report[0].conflicts == 1 && l.report[0].conflict_id == 1);
    CHECK(c, l.report[0].duplicates == 3 && l.report[0].received == 4);
    CHECK(c, strstr(l.sentences, "image 1 came again with other pixels") != NULL);
    loop_close(&l);
}

/* A connection that was refused takes nothing, which is as well. */
static void send_maybe(struct loop *l, const struct message *m)
{
    (void)zmq_send(l->sockets[1], m->bytes, m->size, ZMQ_DONTWAIT);
}

static void *send_foreign(void *user)
{
    struct loop *l = user;
    struct message m;
    loop_send_start(l, 0, 1, 3);
    loop_send_image(l, 0, 1, 0);
    loop_await_images(l, 1);
    make_image(&m, 1, 1);
    send_maybe(l, &m);
    make_image(&m, 1, 2);
    m.size--;
    send_maybe(l, &m);
    for (uint64_t series = 1; series <= 2; series++) {
        make_start(&m, series, 3);
        send_maybe(l, &m);
    }
    make_end(&m, 1);
    send_maybe(l, &m);
    usleep(300000); /* the other connection's messages come first */
    loop_send_image(l, 0, 1, 1);
    loop_send_image(l, 0, 1, 2);
    loop_send_end(l, 0, 1);
    return NULL;
}

/* Senders connect to where a socket of the loop was bound; none is open behind it. */
static airy_status bind_receiver(struct loop *l, const airy_stream_receiver_params *params)
{
    const char *endpoint = l->endpoints[0];
    airy_stream_receiver_params p = *params;
    p.endpoints = &endpoint;
    p.count = 1;
    p.bind = true;
    airy_stream_receiver_destroy(&l->receiver);
    for (size_t i = 0; i < l->count; i++)
        zmq_close(l->sockets[i]);
    airy_status status = AIRY_ERR_IO; /* while the port is not free yet */
    for (int tries = 0; tries < 100 && status == AIRY_ERR_IO; tries++) {
        status = airy_stream_receiver_create(&l->receiver, &p);
        usleep(status == AIRY_OK ? 0 : 20000);
    }
    return status;
}

/* Senders connect: an image, a broken one, a start and an end from another address change nothing. */
static void check_foreign(struct check *c, const char *allow)
{
    struct loop l;
    static const char *const sources[] = {"127.0.0.1", "127.0.0.2"};
    char bound[64], url[160];
    const int linger = 0;
    if (!check_case(c, "stream_series_foreign%s", allow ? "_allow" : "") || !loop_open(&l, c, 2))
        return;
    snprintf(bound, sizeof(bound), "%s", l.endpoints[0]);
    const airy_status status =
        bind_receiver(&l, &(airy_stream_receiver_params){.allow = allow ? &allow : NULL,
                                                         .allow_count = allow != NULL});
    for (size_t i = 0; i < 2; i++) {
        snprintf(url, sizeof(url), "tcp://%s:0;%s", sources[i], bound + strlen("tcp://"));
        l.sockets[i] = zmq_socket(l.context, ZMQ_PUSH);
        (void)zmq_setsockopt(l.sockets[i], ZMQ_LINGER, &linger, sizeof(linger));
        CHECK(c, zmq_connect(l.sockets[i], url) == 0);
    }
    if (CHECK_OK(c, status)) {
        pthread_t thread;
        CHECK(c, pthread_create(&thread, NULL, send_foreign, &l) == 0);
        CHECK_OK(c, loop_serve(&l));
        pthread_join(thread, NULL);
        loop_check_images(&l, 0, 3, SIZE_MAX);
        CHECK(c, l.report[0].refused == (allow ? 0 : 5) && l.report[0].rivals == !allow);
        CHECK(c, l.report[0].ended);
        CHECK(c, l.report[0].conflicts == 0 && l.report[0].duplicates == 0);
        CHECK(c, allow || strstr(l.sentences, "messages from 127.0.0.2 are refused"));
    }
    loop_close(&l);
}

static bool has_ipv6(void)
{
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                         .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool has = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

/*
 * An IPv6 address in brackets is bound and connected to, and matches the list of allowed addresses.
 */
static void check_ipv6(struct check *c)
{
    struct loop l;
    static const char *const allow[] = {"10.0.0.0/8", "::1"};
    const int linger = 0, on = 1;
    if (!check_case(c, "stream_series_ipv6"))
        return;
    if (!has_ipv6()) {
        check_skip(c, "no IPv6");
        return;
    }
    if (!loop_open(&l, c, 1))
        return;
    const unsigned port = (unsigned)atoi(strrchr(l.endpoints[0], ':') + 1);
    snprintf(l.endpoints[0], sizeof(l.endpoints[0]), "tcp://[::1]:%u", port);
    const airy_status status =
        bind_receiver(&l, &(airy_stream_receiver_params){.allow = allow, .allow_count = 2});
    l.sockets[0] = zmq_socket(l.context, ZMQ_PUSH);
    (void)zmq_setsockopt(l.sockets[0], ZMQ_LINGER, &linger, sizeof(linger));
    (void)zmq_setsockopt(l.sockets[0], ZMQ_IPV6, &on, sizeof(on));
    CHECK(c, zmq_connect(l.sockets[0], l.endpoints[0]) == 0);
    if (CHECK_OK(c, status)) {
        loop_send_series(&l, 0, 1, 3);
        CHECK_OK(c, loop_serve(&l));
        loop_check_images(&l, 0, 3, SIZE_MAX);
    }
    loop_close(&l);
}

enum { FLOOD_PART = 64 << 10, FLOOD_MOST = 512 << 20, FLOOD_MEMORY = 4 << 20, FLOODS = 32 };

/* A message's parts without end; false: the connection was ended. */
static bool flood_parts(uint16_t port)
{
    static const char bytes[FLOOD_PART];
    const int fd = zmtp_connect("127.0.0.2", port, 10);
    bool good = fd >= 0 && zmtp_greet(fd);
    for (size_t sent = 0; good && sent < FLOOD_MOST; sent += FLOOD_PART)
        good = zmtp_head(fd, FLOOD_PART, true) && zmtp_send(fd, bytes, FLOOD_PART);
    close(fd);
    return good;
}

/* Messages that all lack their last byte, in a connection each. */
static void flood_unfinished(struct check *c, uint16_t port)
{
    static const char bytes[FLOOD_MEMORY / 4 - 1];
    int fds[FLOODS];
    for (size_t i = 0; i < FLOODS; i++) {
        fds[i] = zmtp_connect("127.0.0.2", port, 10);
        CHECK(c, fds[i] >= 0);
        (void)(zmtp_greet(fds[i]) && zmtp_head(fds[i], FLOOD_MEMORY / 4, false) &&
               zmtp_send(fds[i], bytes, sizeof(bytes)));
    }
    for (size_t i = 0; i < FLOODS; i++)
        close(fds[i]);
}

static void *send_among_floods(void *user)
{
    struct loop *l = user;
    const uint16_t port = (uint16_t)atoi(strrchr(l->endpoints[0], ':') + 1);
    loop_send_start(l, 0, 1, 3);
    for (uint64_t i = 0; i < 3; i++) {
        loop_send_image(l, 0, 1, i);
        loop_await_images(l, i + 1);
        if (i == 0)
            CHECK(l->c, !flood_parts(port));
        if (i == 1)
            flood_unfinished(l->c, port);
    }
    loop_send_end(l, 0, 1);
    return NULL;
}

/* What is not finished takes no more than its part of the memory, and the series goes on. */
static void check_overfull(struct check *c)
{
    struct loop l;
    pthread_t thread;
    if (!check_case(c, "stream_series_overfull") || !loop_open(&l, c, 1))
        return;
    const airy_status status =
        bind_receiver(&l, &(airy_stream_receiver_params){.memory = FLOOD_MEMORY});
    l.sockets[0] = zmq_socket(l.context, ZMQ_PUSH);
    CHECK(c, zmq_connect(l.sockets[0], l.endpoints[0]) == 0);
    if (CHECK_OK(c, status) &&
        CHECK(c, pthread_create(&thread, NULL, send_among_floods, &l) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        pthread_join(thread, NULL);
        loop_check_images(&l, 0, 3, SIZE_MAX);
        CHECK(c, l.report[0].ended && l.report[0].overfull >= 3 && l.report[0].refused == 0);
        CHECK(c, strstr(l.sentences, "what 127.0.0.2 sends takes too much memory") != NULL);
    }
    loop_close(&l);
}

/* Connect while the process may open one more file, which ZeroMQ takes; true: it was ended. */
static bool connect_last(uint16_t port)
{
    const struct timeval patience = {.tv_sec = 10};
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), next = dup(fd);
    struct rlimit usual, least;
    char bytes[64];
    ssize_t got = -1;
    close(next);
    if (getrlimit(RLIMIT_NOFILE, &usual) != 0)
        return false;
    least = usual;
    least.rlim_cur = (rlim_t)next + 1;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
        setrlimit(RLIMIT_NOFILE, &least) == 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        do
            got = recv(fd, bytes, sizeof(bytes), 0);
        while (got > 0);
    const bool reset = got < 0 && errno == ECONNRESET;
    (void)setrlimit(RLIMIT_NOFILE, &usual);
    close(fd);
    return got == 0 || reset;
}

static void *send_behind_last(void *user)
{
    struct loop *l = user;
    const uint16_t port = (uint16_t)atoi(strrchr(l->endpoints[0], ':') + 1);
    loop_send_start(l, 0, 1, 2);
    loop_send_image(l, 0, 1, 0);
    loop_await_images(l, 1);
    CHECK(l->c, connect_last(port));
    loop_send_image(l, 0, 1, 1);
    loop_send_end(l, 0, 1);
    return NULL;
}

/* A connection that no descriptor is left for is ended with a word, and the series goes on. */
static void check_uncounted(struct check *c)
{
    struct loop l;
    pthread_t thread;
    if (!check_case(c, "stream_series_uncounted") || !loop_open(&l, c, 1))
        return;
    const airy_status status = bind_receiver(&l, &(airy_stream_receiver_params){.queue = 0});
    l.sockets[0] = zmq_socket(l.context, ZMQ_PUSH);
    CHECK(c, zmq_connect(l.sockets[0], l.endpoints[0]) == 0);
    if (CHECK_OK(c, status) && CHECK(c, pthread_create(&thread, NULL, send_behind_last, &l) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        pthread_join(thread, NULL);
        loop_check_images(&l, 0, 2, SIZE_MAX);
        CHECK(c, l.report[0].ended && l.report[0].overfull == 0);
        CHECK(c, strstr(l.sentences, "the connection of 127.0.0.1 was ended") != NULL);
        CHECK(c, strstr(l.sentences, "ulimit -n") != NULL);
    }
    loop_close(&l);
}

struct pair {
    char open[AIRY_STREAM_KEY_BYTES], secret[AIRY_STREAM_KEY_BYTES];
};

/* A socket of ZeroMQ's own that connects with keys. */
static void *connect_keyed(struct check *c, void *context, int type, const char *url,
                           const struct pair *own, const char *server)
{
    const int linger = 0;
    void *socket = zmq_socket(context, type);
    CHECK(c,
          zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger)) == 0 &&
              zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server, AIRY_STREAM_KEY_BYTES) == 0 &&
              zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->open, sizeof(own->open)) == 0 &&
              zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret, sizeof(own->secret)) == 0 &&
              zmq_connect(socket, url) == 0);
    return socket;
}

/* The other one of two keys that are allowed sends from the same address; a third one is not heard. */
static void *send_keyed(void *user)
{
    struct loop *l = user;
    struct message m;
    loop_send_start(l, 0, 1, 2);
    loop_send_image(l, 0, 1, 0);
    loop_await_images(l, 1);
    make_image(&m, 1, 1);
    m.bytes[m.size - 1] ^= 1;
    loop_send(l, 1, &m);
    usleep(300000); /* the other connection's message comes first */
    loop_send_image(l, 0, 1, 1);
    loop_send_end(l, 0, 1);
    return NULL;
}

/* A series belongs to the key that began it. */
static void check_keyed_series(struct check *c, const struct pair keys[4])
{
    struct loop l;
    struct message m;
    pthread_t thread;
    if (!check_case(c, "stream_series_keys") || !loop_open(&l, c, 2))
        return;
    const char *const peers[] = {keys[1].open, keys[2].open};
    const airy_stream_keys own = {.secret = keys[0].secret, .peers = peers, .peer_count = 2};
    const airy_status status = bind_receiver(&l, &(airy_stream_receiver_params){.keys = &own});
    for (size_t i = 0; i < 2; i++)
        l.sockets[i] =
            connect_keyed(c, l.context, ZMQ_PUSH, l.endpoints[0], &keys[1 + i], keys[0].open);
    void *unknown = connect_keyed(c, l.context, ZMQ_PUSH, l.endpoints[0], &keys[3], keys[0].open);
    void *plain = zmq_socket(l.context, ZMQ_PUSH);
    CHECK(c, zmq_connect(plain, l.endpoints[0]) == 0);
    make_start(&m, 9, 1);
    (void)zmq_send(unknown, m.bytes, m.size, ZMQ_DONTWAIT);
    (void)zmq_send(plain, m.bytes, m.size, ZMQ_DONTWAIT);
    usleep(300000); /* would begin before the series */
    if (CHECK_OK(c, status) && CHECK(c, pthread_create(&thread, NULL, send_keyed, &l) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        pthread_join(thread, NULL);
        loop_check_images(&l, 0, 2, SIZE_MAX);
        CHECK(c, l.report[0].id == 1 && l.report[0].ended && l.report[0].refused == 1);
        CHECK(c, l.report[0].duplicates == 0 && strstr(l.sentences, keys[1].open) &&
                     strstr(l.sentences, keys[2].open));
    }
    const int linger = 0;
    zmq_setsockopt(plain, ZMQ_LINGER, &linger, sizeof(linger));
    zmq_close(unknown);
    zmq_close(plain);
    loop_close(&l);
}

/* Who subscribes with a key that is allowed gets patterns, and nobody else. */
static void check_keyed_publisher(struct check *c, const struct pair keys[4])
{
    const double radial[1] = {1};
    const float values[1] = {2};
    const char *peer = keys[1].open;
    const airy_stream_keys own = {.secret = keys[0].secret, .peers = &peer, .peer_count = 1};
    char url[64], bytes[256];
    airy_publisher *p = NULL;
    airy_status status = AIRY_ERR_IO;
    if (!check_case(c, "stream_publisher_keys"))
        return;
    for (int port = 20000 + getpid() % 12000, i = 0; i < 100 && status == AIRY_ERR_IO; i++) {
        snprintf(url, sizeof(url), "tcp://127.0.0.1:%d", port + i);
        status = airy_publisher_open(&p, &(airy_publisher_params){.endpoint = url, .keys = &own});
    }
    if (!CHECK_OK(c, status))
        return;
    void *context = zmq_ctx_new(), *sockets[2];
    bool heard[2] = {false, false};
    for (size_t i = 0; i < 2; i++) {
        sockets[i] = connect_keyed(c, context, ZMQ_SUB, url, &keys[1 + i], keys[0].open);
        CHECK(c, zmq_setsockopt(sockets[i], ZMQ_SUBSCRIBE, "", 0) == 0);
    }
    CHECK_OK(c, airy_publisher_start(
                    p, &(airy_publisher_series){
                           .series_id = 1, .unit = "q_nm^-1", .radial = radial, .bins = 1}));
    for (int tries = 0; tries < 1000 && !heard[0]; tries++) {
        CHECK_OK(c, airy_publisher_send(p, &(airy_publisher_pattern){.intensity = values}));
        usleep(20000);
        for (size_t i = 0; i < 2; i++)
            heard[i] = heard[i] || zmq_recv(sockets[i], bytes, sizeof(bytes), ZMQ_DONTWAIT) > 0;
    }
    CHECK(c, heard[0] && !heard[1]);
    for (size_t i = 0; i < 2; i++)
        zmq_close(sockets[i]);
    zmq_ctx_term(context);
    airy_publisher_destroy(&p);
}

static void check_key_refusals(struct check *c, const struct pair keys[4])
{
    const char *url = "tcp://127.0.0.1:1", *none = "short";
    char open[AIRY_STREAM_KEY_BYTES], odd[AIRY_STREAM_KEY_BYTES];
    airy_stream_receiver *r = NULL;
    airy_stream_sender *sender = NULL;
    airy_publisher *p = NULL;
    if (!check_case(c, "stream_key_refusals"))
        return;
    CHECK_OK(c, airy_stream_key_public(open, keys[0].secret));
    CHECK(c, strcmp(open, keys[0].open) == 0 && strcmp(open, keys[1].open) != 0);
    snprintf(odd, sizeof(odd), "%s", keys[0].open);
    odd[7] = ' ';
    airy_stream_keys k = {.secret = odd, .server = keys[1].open};
    airy_stream_receiver_params params = {.endpoints = &url, .count = 1, .keys = &k};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &params), AIRY_ERR_PARAM, "own secret key has");
    k = (airy_stream_keys){.secret = keys[0].secret};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &params), AIRY_ERR_PARAM, "is missing");
    params.bind = true;
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &params), AIRY_ERR_PARAM, "are missing");
    k = (airy_stream_keys){.secret = keys[0].secret, .peers = &none, .peer_count = 1};
    CHECK_FAILS(c, airy_publisher_open(&p, &(airy_publisher_params){.endpoint = url, .keys = &k}),
                AIRY_ERR_PARAM, "a public key that may connect has 5 characters");
    CHECK_FAILS(
        c, airy_stream_sender_create(&sender, &(airy_stream_sender_params){.url = url, .keys = &k}),
        AIRY_ERR_PARAM, "has 5 characters");
    CHECK_FAILS(c, airy_stream_keys_make(NULL, open), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_key_public(open, NULL), AIRY_ERR_PARAM, "missing");
}

static void check_keys(struct check *c)
{
    struct pair keys[4];
    if (!zmq_has("curve")) {
        CHECK_FAILS(c, airy_stream_keys_make(keys[0].open, keys[0].secret), AIRY_ERR_UNSUPPORTED,
                    "without CURVE");
        return;
    }
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(c, airy_stream_keys_make(keys[i].open, keys[i].secret));
    check_keyed_series(c, keys);
    check_keyed_publisher(c, keys);
    check_key_refusals(c, keys);
}

static void check_receiver_refusals(struct check *c)
{
    const char *good = "tcp://127.0.0.1:*", *bad = "tcp://nowhere";
    airy_stream_receiver *r = NULL;
    if (!check_case(c, "stream_receiver_refusals"))
        return;
    airy_stream_receiver_params p = {.endpoints = &bad, .count = 1};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM,
                "'tcp://nowhere': expected tcp://HOST:PORT, a port");
    for (int i = 0; i < 2; i++) {
        const char *const hosts[] = {"tcp://a..b:1", "tcp://[::1:1"};
        p.endpoints = &hosts[i];
        CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_IO, "cannot be found");
    }
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 0};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "endpoints = 0");
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 1, .sockets = 65};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "65 sockets");
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 1, .sockets = 2, .bind = true};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM,
                "where the sender connects");
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 1, .queue = SIZE_MAX};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "queue");
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 1, .max_message = SIZE_MAX};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "max_message");
    p = (airy_stream_receiver_params){.endpoints = &good, .count = 1, .memory = 1000};
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "memory = 1000");
    p.memory = 1 << 20;
    p.max_message = 1 << 20;
    CHECK_FAILS(c, airy_stream_receiver_create(&r, &p), AIRY_ERR_PARAM, "at most half");
    CHECK_FAILS(c, airy_stream_receiver_create(&r, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_serve(NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK(c, r == NULL);
}

void check_stream_senders(struct check *c)
{
    check_conflict(c);
    check_ipv6(c);
    check_foreign(c, NULL);
    check_foreign(c, "127.0.0.1");
    check_overfull(c);
    check_uncounted(c);
    check_keys(c);
    check_receiver_refusals(c);
}

#else
typedef int no_stream_senders; /* check_stream.c says so */
#endif
