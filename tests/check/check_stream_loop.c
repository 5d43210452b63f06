/* A detector's sockets and who receives, for tests of series. */
#include "check_stream_loop.h"

#if AIRY_HAVE_ZMQ

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

static airy_status on_start(void *user, const airy_stream_message *m)
{
    struct loop *l = user;
    CHECK(l->c, m->type == AIRY_STREAM_START && m->start.width == STREAM_WIDTH);
    pthread_mutex_lock(&l->lock);
    const size_t starts = ++l->starts;
    pthread_mutex_unlock(&l->lock);
    return starts == l->fail_start ? AIRY_ERR_PARAM : AIRY_OK;
}

static airy_status on_first(void *user, const airy_stream_message *m)
{
    struct loop *l = user;
    CHECK(l->c, m->type == AIRY_STREAM_IMAGE);
    return l->firsts++ < l->reject ? AIRY_ERR_CORRUPT : AIRY_OK;
}

static airy_status on_image(void *user, const airy_stream_message *m, uint64_t received_ns)
{
    struct loop *l = user;
    const airy_stream_pixels *p = &m->image.pixels[0];
    const uint8_t *bytes = p->bytes;
    pthread_mutex_lock(&l->lock);
    CHECK(l->c,
          received_ns > 0 && m->image.channels == 1 && p->size == STREAM_HEIGHT * STREAM_WIDTH * 2);
    bool same = true;
    for (size_t i = 0; i < p->size; i++)
        same &= bytes[i] == (uint8_t)(m->image.id + i);
    CHECK(l->c, same);
    if (CHECK(l->c, l->series < MOST_SERIES) && m->image.id < MOST_IMAGES)
        l->images[l->series][m->image.id]++;
    pthread_mutex_unlock(&l->lock);
    return l->series + 1 == l->fail_image ? AIRY_ERR_IO : AIRY_OK;
}

static void on_broken(void *user, uint64_t id, const char *sentence)
{
    struct loop *l = user;
    pthread_mutex_lock(&l->lock);
    CHECK(l->c, *sentence != 0 && id < MOST_IMAGES);
    l->broken[id]++;
    pthread_mutex_unlock(&l->lock);
}

static void on_conflict(void *user, uint64_t id)
{
    struct loop *l = user;
    CHECK(l->c, id == 1);
    l->conflicts++;
}

static bool on_end(void *user, const airy_stream_report *report)
{
    struct loop *l = user;
    if (CHECK(l->c, l->series < MOST_SERIES))
        l->report[l->series++] = *report;
    return l->series < l->wanted;
}

static bool on_stop(void *user)
{
    const struct loop *l = user;
    return l->stop || time(NULL) > l->until;
}

bool loop_open(struct loop *l, struct check *c, size_t count)
{
    const char *endpoints[MOST_SOCKETS];
    const int patience = 60000, linger = 0; /* ms */
    *l = (struct loop){.c = c,
                       .count = count,
                       .wanted = 1,
                       .grace = 60,
                       .timeout = 60,
                       .until = time(NULL) + 180,
                       .context = zmq_ctx_new()};
    pthread_mutex_init(&l->lock, NULL);
    for (size_t i = 0; i < count; i++) {
        size_t size = sizeof(l->endpoints[i]);
        l->sockets[i] = zmq_socket(l->context, ZMQ_PUSH);
        (void)zmq_setsockopt(l->sockets[i], ZMQ_SNDTIMEO, &patience, sizeof(patience));
        (void)zmq_setsockopt(l->sockets[i], ZMQ_LINGER, &linger, sizeof(linger));
        if (!CHECK(c, zmq_bind(l->sockets[i], "tcp://127.0.0.1:*") == 0 &&
                          zmq_getsockopt(l->sockets[i], ZMQ_LAST_ENDPOINT, l->endpoints[i],
                                         &size) == 0))
            return false;
        endpoints[i] = l->endpoints[i];
    }
    return CHECK_OK(c, airy_stream_receiver_create(
                           &l->receiver,
                           &(airy_stream_receiver_params){.endpoints = endpoints, .count = count}));
}

void loop_close(struct loop *l)
{
    airy_stream_receiver_destroy(&l->receiver);
    for (size_t i = 0; i < l->count; i++)
        zmq_close(l->sockets[i]);
    zmq_ctx_term(l->context);
    pthread_mutex_destroy(&l->lock);
}

void loop_send(struct loop *l, size_t socket, const struct message *m)
{
    CHECK(l->c, zmq_send(l->sockets[socket], m->bytes, m->size, 0) == (int)m->size);
}

void loop_send_start(struct loop *l, size_t socket, uint64_t series, uint64_t images)
{
    struct message m;
    make_start(&m, series, images);
    loop_send(l, socket, &m);
}

void loop_send_image(struct loop *l, size_t socket, uint64_t series, uint64_t id)
{
    struct message m;
    make_image(&m, series, id);
    loop_send(l, socket, &m);
}

void loop_send_end(struct loop *l, size_t socket, uint64_t series)
{
    struct message m;
    make_end(&m, series);
    loop_send(l, socket, &m);
}

void loop_send_series(struct loop *l, size_t socket, uint64_t series, uint64_t images)
{
    loop_send_start(l, socket, series, images);
    for (uint64_t i = 0; i < images; i++)
        loop_send_image(l, socket, series, i);
    loop_send_end(l, socket, series);
}

/* Who is said something sends image 1 on the other socket, and goes on when it came. */
static void await_image(struct loop *l)
{
    bool came = false;
    loop_send_image(l, 1, 7, 1);
    for (int tries = 0; tries < 3000 && !came; tries++) {
        pthread_mutex_lock(&l->lock);
        came = l->images[0][1] > 0;
        pthread_mutex_unlock(&l->lock);
        if (!came)
            usleep(20000);
    }
    CHECK(l->c, came);
}

static void on_say(void *user, const char *sentence, airy_hint hint)
{
    struct loop *l = user;
    const size_t used = strlen(l->sentences);
    l->hint = hint != AIRY_HINT_NONE ? hint : l->hint;
    snprintf(l->sentences + used, sizeof(l->sentences) - used, "%s\n", sentence);
    l->said++;
    if (l->say_waits)
        await_image(l);
}

airy_status loop_serve(struct loop *l)
{
    const airy_stream_handler handler = {.user = l,
                                         .start = on_start,
                                         .first = on_first,
                                         .image = on_image,
                                         .broken = on_broken,
                                         .conflict = on_conflict,
                                         .end = on_end,
                                         .say = on_say,
                                         .stop = on_stop,
                                         .grace = l->grace,
                                         .timeout = l->timeout,
                                         .idle = l->idle};
    return airy_stream_serve(l->receiver, &handler);
}

/* Images [0, count) came once each, but for one (SIZE_MAX: none) that did not. */
void loop_check_images(const struct loop *l, size_t series, size_t count, size_t but)
{
    for (size_t i = 0; i < MOST_IMAGES; i++)
        CHECK(l->c, l->images[series][i] == (i < count && i != but));
}

/* Wait until so many images of the first series came. */
void loop_await_images(struct loop *l, size_t count)
{
    for (int tries = 0; tries < 3000; tries++) {
        size_t came = 0;
        pthread_mutex_lock(&l->lock);
        for (size_t i = 0; i < MOST_IMAGES; i++)
            came += l->images[0][i];
        pthread_mutex_unlock(&l->lock);
        if (came >= count)
            return;
        usleep(20000);
    }
    check_failed(l->c, __FILE__, __LINE__, "%zu images did not come", count);
}

#else
typedef int no_stream_loop; /* check_stream.c says so */
#endif
