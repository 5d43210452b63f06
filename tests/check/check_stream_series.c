/* Series over loopback: in order and out of order, broken, cut short and never ending. */
#include "check.h"

#if AIRY_HAVE_ZMQ

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "check_stream.h"

enum { MOST_SOCKETS = 2, MOST_IMAGES = 64, MOST_SERIES = 4 };

/* A detector with its sockets, and who receives. */
struct loop {
    struct check *c;
    void *context, *sockets[MOST_SOCKETS];
    size_t count;
    char endpoints[MOST_SOCKETS][64];
    airy_stream_receiver *receiver;
    /* what came */
    size_t wanted; /* series */
    size_t series, starts, firsts, images[MOST_SERIES][MOST_IMAGES], broken[MOST_IMAGES], said;
    airy_stream_report report[MOST_SERIES];
    char sentences[4096];
    size_t conflicts;              /* calls */
    size_t reject;                 /* first images that are refused */
    size_t fail_start, fail_image; /* of the series of this number, from 1 */
    bool stop, say_waits;          /* for an image that comes meanwhile */
    double grace, timeout, idle;   /* s */
    time_t until;                  /* none takes so long */
    pthread_mutex_t lock;
};

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

static bool open_loop(struct loop *l, struct check *c, size_t count)
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

static void close_loop(struct loop *l)
{
    airy_stream_receiver_destroy(&l->receiver);
    for (size_t i = 0; i < l->count; i++)
        zmq_close(l->sockets[i]);
    zmq_ctx_term(l->context);
    pthread_mutex_destroy(&l->lock);
}

static void send_bytes(struct loop *l, size_t socket, const struct message *m)
{
    CHECK(l->c, zmq_send(l->sockets[socket], m->bytes, m->size, 0) == (int)m->size);
}

static void send_start(struct loop *l, size_t socket, uint64_t series, uint64_t images)
{
    struct message m;
    make_start(&m, series, images);
    send_bytes(l, socket, &m);
}

static void send_image(struct loop *l, size_t socket, uint64_t series, uint64_t id)
{
    struct message m;
    make_image(&m, series, id);
    send_bytes(l, socket, &m);
}

static void send_end(struct loop *l, size_t socket, uint64_t series)
{
    struct message m;
    make_end(&m, series);
    send_bytes(l, socket, &m);
}

/* Who is said something sends image 1 on the other socket, and goes on when it came. */
static void await_image(struct loop *l)
{
    bool came = false;
    send_image(l, 1, 7, 1);
    for (int tries = 0; tries < 3000 && !came; tries++) {
        pthread_mutex_lock(&l->lock);
        came = l->images[0][1] > 0;
        pthread_mutex_unlock(&l->lock);
        if (!came)
            usleep(20000);
    }
    CHECK(l->c, came);
}

static void on_say(void *user, const char *sentence)
{
    struct loop *l = user;
    const size_t used = strlen(l->sentences);
    snprintf(l->sentences + used, sizeof(l->sentences) - used, "%s\n", sentence);
    l->said++;
    if (l->say_waits)
        await_image(l);
}

static airy_status serve(struct loop *l)
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
static void check_images(const struct loop *l, size_t series, size_t count, size_t but)
{
    for (size_t i = 0; i < MOST_IMAGES; i++)
        CHECK(l->c, l->images[series][i] == (i < count && i != but));
}

static void check_plain(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_plain") || !open_loop(&l, c, 1))
        return;
    send_start(&l, 0, 7, 20);
    for (uint64_t i = 0; i < 20; i++)
        send_image(&l, 0, 7, i);
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 20, SIZE_MAX);
    const airy_stream_report *r = &l.report[0];
    CHECK(c, r->id == 7 && r->expected == 20 && r->received == 20 && r->ended && r->bytes > 0);
    CHECK(c, r->status == AIRY_OK && l.said == 0 && l.starts == 1 && l.firsts == 1);
    close_loop(&l);
}

/* The start comes last on its socket, the end first on the other. */
static void check_overtaken(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_overtaken") || !open_loop(&l, c, 2))
        return;
    for (uint64_t i = 0; i < 10; i++)
        send_image(&l, 0, 7, i);
    send_start(&l, 1, 7, 20);
    send_end(&l, 1, 7);
    for (uint64_t i = 10; i < 20; i++)
        send_image(&l, 1, 7, i);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 20, SIZE_MAX);
    CHECK(c, l.report[0].received == 20 && l.report[0].ended && l.said == 0);
    close_loop(&l);
}

/*
 * A sender with two sockets says start and end on both. A thread may sleep while the other one takes
 * all of its socket's series and the start of the next: again and again, for that is rare.
 */
static void check_both(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_both"))
        return;
    for (int times = 0; times < 20 && open_loop(&l, c, 2); times++) {
        l.wanted = MOST_SERIES;
        for (uint64_t series = 1; series <= MOST_SERIES; series++)
            for (size_t k = 0; k < 2; k++) {
                send_start(&l, k, series, 4);
                for (uint64_t i = k; i < 4; i += 2)
                    send_image(&l, k, series, i);
                send_end(&l, k, series);
            }
        CHECK_OK(c, serve(&l));
        for (size_t k = 0; k < MOST_SERIES; k++) {
            check_images(&l, k, 4, SIZE_MAX);
            CHECK(c, l.report[k].id == k + 1 && l.report[k].received == 4 && l.report[k].ended);
        }
        CHECK(c, l.said == 0 && l.starts == MOST_SERIES);
        close_loop(&l);
    }
}

/* All kinds of messages that are none, and the series is complete but for the image that was one. */
static void check_broken(struct check *c)
{
    struct message m;
    struct loop l;
    if (!check_case(c, "stream_series_broken") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.3;
    m = (struct message){.bytes = "hello", .size = 5};
    send_bytes(&l, 0, &m);
    send_start(&l, 0, 7, 10);
    for (uint64_t i = 0; i < 10; i++) {
        make_image(&m, 7, i);
        m.size -= i == 4 ? 10 : 0; /* cut in its payload */
        send_bytes(&l, 0, &m);
        m.size = 0;
        if (i == 5)
            send_bytes(&l, 0, &m);
        m = (struct message){.bytes = {0xbf, 0x64}, .size = 2};
        if (i == 6)
            send_bytes(&l, 0, &m);
    }
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 10, 4);
    CHECK(c, l.broken[4] == 1 && l.report[0].received == 9);
    CHECK(c, l.report[0].broken >= 2 && strstr(l.sentences, "series 7, image 4: "));
    CHECK(c, strstr(l.sentences, "a message that cannot be read: ") != NULL);
    close_loop(&l);
}

/* A detector that speaks Stream V1, whose parts are no messages of their own, before one of V2. */
static void check_old(struct check *c)
{
    static const char head[] = "{\"htype\":\"dheader-1.0\",\"series\":1,\"header_detail\":\"all\"}";
    struct loop l;
    struct message m;
    if (!check_case(c, "stream_series_old") || !open_loop(&l, c, 1))
        return;
    make_start(&m, 5, 3);
    CHECK(c, zmq_send(l.sockets[0], head, strlen(head), ZMQ_SNDMORE) >= 0);
    send_bytes(&l, 0, &m);
    send_start(&l, 0, 7, 1);
    send_image(&l, 0, 7, 0);
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    CHECK(c, l.starts == 1 && l.report[0].id == 7 && l.report[0].received == 1);
    CHECK(c, strstr(l.sentences, "Stream V1") && strstr(l.sentences, "'cbor'"));
    close_loop(&l);
}

/* What is said holds up nobody, however long it takes. */
static void check_slow_listener(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_slow_listener") || !open_loop(&l, c, 2))
        return;
    l.say_waits = true;
    send_start(&l, 0, 7, 2);
    send_image(&l, 0, 7, 0);
    send_image(&l, 0, 7, 0);
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 2, SIZE_MAX);
    CHECK(c, l.said == 1 && strstr(l.sentences, "image 0 came again"));
    close_loop(&l);
}

static void check_again(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_again") || !open_loop(&l, c, 1))
        return;
    send_start(&l, 0, 7, 10);
    for (uint64_t i = 0; i < 10; i++) {
        send_image(&l, 0, 7, i);
        send_image(&l, 0, 7, i == 3 ? 10 : i); /* once beyond, else twice */
    }
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 10, SIZE_MAX);
    /* those that come once all are there, with the end, are not counted any more */
    CHECK(c, l.report[0].received == 10 && l.report[0].beyond == 1);
    CHECK(c, l.report[0].duplicates == 9 && strstr(l.sentences, "image 10, but it has 10 images"));
    close_loop(&l);
}

/* Lost images, no end message, none of both: the next series comes in any case. */
static void check_cut_short(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_cut_short") || !open_loop(&l, c, 1))
        return;
    l.wanted = 4;
    l.grace = 0.3;
    l.timeout = 2;
    send_start(&l, 0, 1, 10);
    for (uint64_t i = 0; i < 10; i++)
        if (i != 5)
            send_image(&l, 0, 1, i);
    send_end(&l, 0, 1);
    send_start(&l, 0, 2, 10);
    for (uint64_t i = 0; i < 6; i++)
        send_image(&l, 0, 2, i);
    send_start(&l, 0, 3, 10);
    send_start(&l, 0, 4, 10);
    for (uint64_t i = 0; i < 7; i++)
        send_image(&l, 0, 4, i);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 10, 5);
    check_images(&l, 1, 6, SIZE_MAX);
    check_images(&l, 2, 0, SIZE_MAX);
    check_images(&l, 3, 7, SIZE_MAX);
    CHECK(c, l.report[0].ended && l.report[0].received == 9);
    CHECK(c, strstr(l.sentences, "series 1") == NULL);
    CHECK(c, !l.report[1].ended && l.report[1].received == 6 && l.report[2].received == 0);
    CHECK(c, strstr(l.sentences, "series 2 has no end message, another one begins") != NULL);
    CHECK(c, !l.report[3].ended && strstr(l.sentences, "series 4: nothing came for 2 s"));
    close_loop(&l);
}

static void check_strays(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_strays") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.3;
    for (uint64_t i = 0; i < 3; i++)
        send_image(&l, 0, 6, i);
    send_end(&l, 0, 6);
    send_start(&l, 0, 7, 2);
    send_image(&l, 0, 7, 0);
    send_image(&l, 0, 7, 1);
    CHECK_OK(c, serve(&l)); /* its end message does not come */
    check_images(&l, 0, 2, SIZE_MAX);
    CHECK(c, l.report[0].stray == 4 && l.report[0].received == 2 && !l.report[0].ended);
    CHECK(c, strstr(l.sentences, "images of series 6 without a start message") != NULL);
    CHECK(c, strstr(l.sentences, "series 7 has no end message, but all of its images") != NULL);
    close_loop(&l);
}

/* While a series is at work: what is of another one, and no start of a later one, ends nothing. */
static void check_astray(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_astray") || !open_loop(&l, c, 1))
        return;
    send_start(&l, 0, 7, 4);
    send_image(&l, 0, 7, 0);
    send_image(&l, 0, 3, 0);
    send_image(&l, 0, 7, 1);
    send_end(&l, 0, 3);
    send_image(&l, 0, 9, 0);
    send_end(&l, 0, 9);
    send_start(&l, 0, 2, 4);
    send_image(&l, 0, 7, 2);
    send_image(&l, 0, 7, 3);
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 4, SIZE_MAX);
    CHECK(c, l.report[0].id == 7 && l.report[0].ended && l.report[0].received == 4);
    CHECK(c, l.report[0].stray == 5 && l.said == 1 &&
                 strstr(l.sentences, "messages of series 3, which has not begun, are left out"));
    close_loop(&l);
}

/* The same with another socket, on which a start could still come: that one waits. */
static void check_ahead(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_ahead") || !open_loop(&l, c, 2))
        return;
    l.wanted = 2;
    send_image(&l, 1, 8, 0);
    send_start(&l, 0, 7, 3);
    for (uint64_t i = 0; i < 3; i++)
        send_image(&l, 0, 7, i);
    send_end(&l, 0, 7);
    send_start(&l, 0, 8, 2);
    send_image(&l, 0, 8, 1);
    send_end(&l, 0, 8);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 3, SIZE_MAX);
    check_images(&l, 1, 2, SIZE_MAX);
    CHECK(c, l.report[0].ended && l.report[1].ended && l.said == 0);
    close_loop(&l);
}

static bool has_started(struct loop *l, size_t series)
{
    pthread_mutex_lock(&l->lock);
    const bool has = l->starts >= series;
    pthread_mutex_unlock(&l->lock);
    return has;
}

/* Its start is left out until the receiver has found the series before silent: again and again. */
static void *send_restarted(void *user)
{
    struct loop *l = user;
    for (int tries = 0; tries < 600 && !has_started(l, 2); tries++) {
        usleep(100000);
        send_start(l, 0, 1, 1);
    }
    send_image(l, 0, 1, 0);
    send_end(l, 0, 1);
    return NULL;
}

/* A detector that died in a series counts from 1 again; it may also be given up by then. */
static void check_restarted(struct check *c)
{
    struct loop l;
    pthread_t sender;
    if (!check_case(c, "stream_series_restarted") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.1;
    l.wanted = 2;
    send_start(&l, 0, 9, 5);
    send_image(&l, 0, 9, 0);
    if (CHECK(c, pthread_create(&sender, NULL, send_restarted, &l) == 0)) {
        CHECK_OK(c, serve(&l));
        pthread_join(sender, NULL);
        CHECK(c, l.report[0].id == 9 && l.report[0].received == 1 && !l.report[0].ended);
        CHECK(c, l.report[1].id == 1 && l.report[1].received == 1 && l.report[1].ended);
    }
    close_loop(&l);
}

/* Another detector that never rests. */
struct flood {
    struct loop *loop;
    atomic_bool over;
};

static void *send_flood(void *user)
{
    struct flood *f = user;
    const struct timespec pause = {.tv_nsec = 10000000};
    while (!atomic_load(&f->over)) {
        send_image(f->loop, 0, 3, 0);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A series whose end was lost is over after `timeout`, whatever comes of others meanwhile. */
static void check_flooded(struct check *c)
{
    struct loop l;
    struct flood flood = {.loop = &l};
    pthread_t sender;
    if (!check_case(c, "stream_series_flooded") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.1;
    l.timeout = 0.5;
    send_start(&l, 0, 9, 5);
    send_image(&l, 0, 9, 0);
    send_image(&l, 0, 3, 0); /* one at least, however late the other thread begins */
    if (CHECK(c, pthread_create(&sender, NULL, send_flood, &flood) == 0)) {
        CHECK_OK(c, serve(&l));
        atomic_store(&flood.over, true);
        pthread_join(sender, NULL);
        CHECK(c, l.report[0].id == 9 && l.report[0].received == 1 && !l.report[0].ended);
        CHECK(c, l.report[0].stray > 0 && strstr(l.sentences, "it is given up") != NULL);
    }
    close_loop(&l);
}

/* The number of images is not said: a number far off is believed when another one agrees. */
static void check_far(struct check *c)
{
    static const uint64_t ids[] = {0,     1, 1000000,           2, 20000, 20001,
                                   20002, 3, (uint64_t)1 << 63, 4, 40000, UINT64_MAX};
    struct loop l;
    if (!check_case(c, "stream_series_far") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.3;
    send_start(&l, 0, 7, 0);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        send_image(&l, 0, 7, ids[i]);
    send_end(&l, 0, 7);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 5, SIZE_MAX);
    CHECK(c, l.report[0].received == 7 && l.report[0].beyond == 5 && l.report[0].ended);
    CHECK(c, strstr(l.sentences, "image 1000000, but it has 2 images so far") != NULL);
    close_loop(&l);
}

/* Series that the handler refuses, and one that fails in the middle: the last one is served. */
static void check_failing(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_failing") || !open_loop(&l, c, 1))
        return;
    l.wanted = 3;
    l.fail_start = 1;
    l.fail_image = 2;
    for (uint64_t series = 1; series <= 3; series++) {
        send_start(&l, 0, series, 5);
        for (uint64_t i = 0; i < 5; i++)
            send_image(&l, 0, series, i);
        send_end(&l, 0, series);
    }
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 0, SIZE_MAX);
    check_images(&l, 1, 1, SIZE_MAX);
    check_images(&l, 2, 5, SIZE_MAX);
    CHECK(c, l.report[0].status == AIRY_ERR_PARAM && l.report[1].status == AIRY_ERR_IO);
    CHECK(c, l.report[2].status == AIRY_OK && l.report[2].received == 5);
    close_loop(&l);
}

/* The image that comes while a series without any is being given up, then a whole series. */
static void *send_late(void *user)
{
    struct loop *l = user;
    const struct timespec pause = {.tv_nsec = 255000000};
    nanosleep(&pause, NULL);
    send_image(l, 0, 1, 0);
    send_start(l, 0, 2, 1);
    send_image(l, 0, 2, 0);
    send_end(l, 0, 2);
    return NULL;
}

/*
 * The series is looked at ten times a second: an image between the end of its grace and the next
 * look finds it still open.
 */
static void check_late_first(struct check *c)
{
    struct loop l;
    pthread_t late;
    if (!check_case(c, "stream_series_late_first") || !open_loop(&l, c, 1))
        return;
    l.grace = 0.21;
    l.wanted = 2;
    send_start(&l, 0, 1, 1);
    send_end(&l, 0, 1);
    if (CHECK(c, pthread_create(&late, NULL, send_late, &l) == 0)) {
        CHECK_OK(c, serve(&l));
        pthread_join(late, NULL);
        check_images(&l, 1, 1, SIZE_MAX);
        CHECK(c, l.report[1].id == 2 && l.report[1].received == 1 && l.report[1].ended);
    }
    close_loop(&l);
}

/* A series of which nothing comes but its start, be it good or not, and then nothing at all. */
static void check_deserted(struct check *c)
{
    if (!check_case(c, "stream_series_deserted"))
        return;
    for (size_t fails = 0; fails < 2; fails++) {
        struct loop l;
        if (!open_loop(&l, c, 1))
            return;
        l.wanted = 2;
        l.fail_start = fails;
        l.timeout = l.idle = 0.3;
        send_start(&l, 0, 1, 5);
        CHECK_FAILS(c, serve(&l), AIRY_ERR_NOT_FOUND, "no series began");
        CHECK(c, l.series == 1 && l.report[0].received == 0 && !l.report[0].ended);
        CHECK(c, (l.report[0].status != AIRY_OK) == (fails == 1));
        CHECK(c, strstr(l.sentences, "nothing came for 0.3 s") != NULL);
        close_loop(&l);
    }
}

/* The first image is not what the start message says: the next one is the first. */
static void check_rejected(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_rejected") || !open_loop(&l, c, 1))
        return;
    l.reject = 1;
    send_start(&l, 0, 1, 4);
    for (uint64_t i = 0; i < 4; i++)
        send_image(&l, 0, 1, i);
    send_end(&l, 0, 1);
    CHECK_OK(c, serve(&l));
    CHECK(c, l.images[0][0] == 0 && l.broken[0] == 1 && l.firsts == 2);
    for (size_t i = 1; i < 4; i++)
        CHECK(c, l.images[0][i] == 1);
    CHECK(c, l.report[0].received == 3 && l.report[0].broken == 1);
    CHECK(c, l.report[0].status == AIRY_OK);
    close_loop(&l);
}

/* An image again, with the same pixels and with one that is another. */
static void check_conflict(struct check *c)
{
    struct loop l;
    struct message m;
    if (!check_case(c, "stream_series_conflict") || !open_loop(&l, c, 1))
        return;
    send_start(&l, 0, 1, 4);
    for (uint64_t i = 0; i < 4; i++) {
        send_image(&l, 0, 1, i);
        if (i == 1 || i == 2)
            send_image(&l, 0, 1, i);
    }
    make_image(&m, 1, 1);
    m.bytes[m.size - 1] ^= 1; /* the last pixel */
    send_bytes(&l, 0, &m);
    send_end(&l, 0, 1);
    CHECK_OK(c, serve(&l));
    check_images(&l, 0, 4, SIZE_MAX);
    CHECK(c, l.conflicts == 1 && l.report[0].conflicts == 1 && l.report[0].conflict_id == 1);
    CHECK(c, l.report[0].duplicates == 3 && l.report[0].received == 4);
    CHECK(c, strstr(l.sentences, "image 1 came again with other pixels") != NULL);
    close_loop(&l);
}

/* Wait until so many images of the first series came. */
static void await_images(struct loop *l, size_t count)
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

/* A connection that was refused takes nothing, which is as well. */
static void send_maybe(struct loop *l, const struct message *m)
{
    (void)zmq_send(l->sockets[1], m->bytes, m->size, ZMQ_DONTWAIT);
}

static void *send_foreign(void *user)
{
    struct loop *l = user;
    struct message m;
    send_start(l, 0, 1, 3);
    send_image(l, 0, 1, 0);
    await_images(l, 1);
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
    send_image(l, 0, 1, 1);
    send_image(l, 0, 1, 2);
    send_end(l, 0, 1);
    return NULL;
}

/* Senders connect: an image, a broken one, a start and an end from another address change nothing. */
static void check_foreign(struct check *c, const char *allow)
{
    struct loop l;
    static const char *const sources[] = {"127.0.0.1", "127.0.0.2"};
    char bound[64], url[160];
    const int linger = 0;
    if (!check_case(c, "stream_series_foreign%s", allow ? "_allow" : "") || !open_loop(&l, c, 2))
        return;
    /* a port that was free a moment ago */
    snprintf(bound, sizeof(bound), "%s", l.endpoints[0]);
    airy_stream_receiver_destroy(&l.receiver);
    for (size_t i = 0; i < 2; i++)
        zmq_close(l.sockets[i]);
    const char *endpoint = bound;
    airy_status status = AIRY_ERR_IO;
    for (int tries = 0; tries < 100 && status == AIRY_ERR_IO; tries++) {
        status = airy_stream_receiver_create(
            &l.receiver, &(airy_stream_receiver_params){.endpoints = &endpoint,
                                                        .count = 1,
                                                        .bind = true,
                                                        .allow = allow ? &allow : NULL,
                                                        .allow_count = allow != NULL});
        usleep(status == AIRY_OK ? 0 : 20000);
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(url, sizeof(url), "tcp://%s:0;%s", sources[i], bound + strlen("tcp://"));
        l.sockets[i] = zmq_socket(l.context, ZMQ_PUSH);
        (void)zmq_setsockopt(l.sockets[i], ZMQ_LINGER, &linger, sizeof(linger));
        CHECK(c, zmq_connect(l.sockets[i], url) == 0);
    }
    if (CHECK_OK(c, status)) {
        pthread_t thread;
        CHECK(c, pthread_create(&thread, NULL, send_foreign, &l) == 0);
        CHECK_OK(c, serve(&l));
        pthread_join(thread, NULL);
        check_images(&l, 0, 3, SIZE_MAX);
        CHECK(c, l.report[0].refused == (allow ? 0 : 5) && l.report[0].rivals == !allow);
        CHECK(c, l.report[0].ended);
        CHECK(c, l.report[0].conflicts == 0 && l.report[0].duplicates == 0);
        CHECK(c, allow || strstr(l.sentences, "messages from 127.0.0.2 are refused"));
    }
    close_loop(&l);
}

static void check_stopped(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_stopped") || !open_loop(&l, c, 1))
        return;
    l.stop = true;
    CHECK_FAILS(c, serve(&l), AIRY_ERR_STOPPED, "stopped");
    close_loop(&l);
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
    CHECK_FAILS(c, airy_stream_receiver_create(&r, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_serve(NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK(c, r == NULL);
}

/* The next message of this type, start messages that are repeated left out. */
static bool next_message(void *socket, char *bytes, size_t size, const char *type, size_t *got)
{
    char head[32];
    const int n = snprintf(head, sizeof(head), "dtype%c%s", (char)(0x60 + strlen(type)), type);
    for (int tries = 0; tries < 200; tries++) {
        const int count = zmq_recv(socket, bytes, size, 0);
        if (count > 0 && memcmp(bytes + 1, head, (size_t)n) == 0) {
            *got = (size_t)count;
            return true;
        }
        if (count < 0)
            return false;
    }
    return false;
}

/* Where the bytes are in a message, behind a key and so many bytes of heads. */
static bool has_value(const char *bytes, size_t size, const char *key, size_t skip,
                      const void *value, size_t count)
{
    const char *at = memmem(bytes, size, key, strlen(key));
    return at && (size_t)(at - bytes) + strlen(key) + skip + count <= size &&
           memcmp(at + strlen(key) + skip, value, count) == 0;
}

static void check_publisher(struct check *c)
{
    const double radial[3] = {0.5, 1.5, 2.5};
    const float values[3] = {1, 2, NAN}, std[3] = {4, 5, 6};
    const int patience = 60000, linger = 0;
    char bytes[4096];
    size_t size = 0;
    uint64_t patterns = 0;
    airy_publisher *p = NULL;
    if (!check_case(c, "stream_publisher"))
        return;
    /* From its own folder: TMPDIR may be longer than a socket's name can be. */
    const char *const endpoint = "ipc://pub";
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    if (!CHECK(c, here >= 0 && chdir(check_tmp(c)) == 0) ||
        !CHECK_OK(c, airy_publisher_create(&p, endpoint, 0)))
        return;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    (void)zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    (void)zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    (void)zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    CHECK(c, zmq_connect(socket, endpoint) == 0);
    const airy_publisher_pattern pattern = {.image_id = 300,
                                            .intensity = values,
                                            .std = std,
                                            .stats = {.total = 7, .max = 2, .saturated = 1}};
    CHECK_FAILS(c, airy_publisher_send(p, &pattern), AIRY_ERR_PARAM, "no series");
    char long_unit[4000];
    memset(long_unit, 'q', sizeof(long_unit) - 1);
    long_unit[sizeof(long_unit) - 1] = 0;
    const airy_publisher_series too_long = {.unit = long_unit, .radial = radial, .bins = 3};
    CHECK_FAILS(c, airy_publisher_start(p, &too_long), AIRY_ERR_PARAM, "unit has 3999 bytes");
    const airy_publisher_series too_large = {
        .unit = "q", .radial = radial, .bins = SIZE_MAX / 8, .azimuth_bins = 2};
    CHECK_FAILS(c, airy_publisher_start(p, &too_large), AIRY_ERR_PARAM, "are too many");
    /* Who subscribes late gets the start message again within a second. */
    CHECK_OK(c, airy_publisher_start(p, &(airy_publisher_series){.series_id = 9,
                                                                 .unique_id = "u",
                                                                 .number_of_images = 10,
                                                                 .unit = "q_nm^-1",
                                                                 .radial = radial,
                                                                 .bins = 3}));
    zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
    /* Sent before each look: who subscribed at once has the start message alone by now. */
    bool heard = false;
    for (int i = 0; i < patience / 50 && !heard; i++)
        heard = CHECK_OK(c, airy_publisher_send(p, &pattern)) && zmq_poll(&item, 1, 50) > 0;
    if (CHECK(c, next_message(socket, bytes, sizeof(bytes), "pattern", &size))) {
        /* a key of one byte's head: 0xd8 0x55 is tag 85, 0x4c 12 bytes; 0x19 two bytes follow */
        CHECK(c, has_value(bytes, size, "intensity", 3, values, sizeof(values)));
        CHECK(c, has_value(bytes, size, "std", 3, std, sizeof(std)));
        CHECK(c, has_value(bytes, size, "image_id", 0, "\x19\x01\x2c", 3));
        CHECK(c, has_value(bytes, size, "saturated", 0, "\x01", 1));
        CHECK(c, has_value(bytes, size, "status", 0, "\x00", 1));
        CHECK(c, !memmem(bytes, size, "sem", 3));
    }
    /* 255 characters of two bytes are sent of 300: 0x79 is a text with two bytes of length. */
    char umlauts[601];
    for (size_t i = 0; i < 300; i++)
        memcpy(umlauts + 2 * i, "\xc3\xa9", 3);
    airy_publisher_pattern bad = pattern;
    bad.message = umlauts;
    CHECK_OK(c, airy_publisher_send(p, &bad));
    bool found = false; /* good ones may come before it */
    while (!found && next_message(socket, bytes, sizeof(bytes), "pattern", &size))
        found = has_value(bytes, size, "message", 0, "\x79\x01\xfe", 3);
    CHECK(c, found);
    CHECK_OK(c, airy_publisher_start(p, &(airy_publisher_series){.series_id = 10,
                                                                 .unit = "q_nm^-1",
                                                                 .radial = radial,
                                                                 .bins = 1,
                                                                 .azimuthal = radial,
                                                                 .azimuth_bins = 3}));
    if (CHECK(c, next_message(socket, bytes, sizeof(bytes), "start", &size)))
        CHECK(c, has_value(bytes, size, "azimuthal", 4, radial, sizeof(radial)));
    CHECK_OK(c, airy_publisher_send(p, &pattern));
    CHECK_OK(c, airy_publisher_end(p, &patterns));
    CHECK(c, patterns == 1);
    if (CHECK(c, next_message(socket, bytes, sizeof(bytes), "pattern", &size)))
        CHECK(c, has_value(bytes, size, "intensity", 0, "\xd8\x28\x82\x82\x03\x01\xd8\x55\x4c", 9));
    if (CHECK(c, next_message(socket, bytes, sizeof(bytes), "end", &size)))
        CHECK(c, has_value(bytes, size, "status", 0, "\x00", 1) && !memmem(bytes, size, "why", 3));
    /* A series that was begun, and one that was not. */
    CHECK_OK(c, airy_publisher_fail(p, 10, NULL, "why so", &patterns));
    CHECK(c, patterns == 1);
    CHECK_OK(c, airy_publisher_fail(p, 11, "v", "why so", &patterns));
    CHECK(c, patterns == 0);
    for (int i = 0; i < 2; i++)
        if (CHECK(c, next_message(socket, bytes, sizeof(bytes), "end", &size)))
            CHECK(c, has_value(bytes, size, "status", 0, "\x01", 1) &&
                         has_value(bytes, size, "message", 0, "\x66why so", 7) &&
                         has_value(bytes, size, "patterns", 0, i ? "\x00" : "\x01", 1));
    CHECK_FAILS(c, airy_publisher_send(p, &pattern), AIRY_ERR_PARAM, "no series");
    CHECK_FAILS(c, airy_publisher_fail(p, 11, "v", NULL, NULL), AIRY_ERR_PARAM, "NULL");
    zmq_close(socket);
    zmq_ctx_term(context);
    airy_publisher_destroy(&p);
    CHECK(c, fchdir(here) == 0);
    close(here);
    CHECK_FAILS(c, airy_publisher_create(&p, "tcp://x", 0), AIRY_ERR_PARAM,
                "'tcp://x': expected tcp://HOST:PORT, a port");
    CHECK_FAILS(c, airy_publisher_create(&p, NULL, 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_publisher_create(&p, "tcp://x", SIZE_MAX), AIRY_ERR_PARAM, "queue");
}

void check_stream_series(struct check *c)
{
    check_plain(c);
    check_overtaken(c);
    check_both(c);
    check_broken(c);
    check_again(c);
    check_slow_listener(c);
    check_cut_short(c);
    check_strays(c);
    check_astray(c);
    check_ahead(c);
    check_restarted(c);
    check_flooded(c);
    check_far(c);
    check_failing(c);
    check_late_first(c);
    check_old(c);
    check_deserted(c);
    check_rejected(c);
    check_conflict(c);
    check_foreign(c, NULL);
    check_foreign(c, "127.0.0.1");
    check_stopped(c);
    check_receiver_refusals(c);
    check_publisher(c);
}

#else
typedef int no_stream_series; /* check_stream.c says so */
#endif
