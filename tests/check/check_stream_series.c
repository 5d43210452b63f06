/* Series over loopback: in order and out of order, broken, cut short and never ending. */
#include "airy/stream.h"
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

#include "check_stream_loop.h"

static void check_plain(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_plain") || !loop_open(&l, c, 1))
        return;
    loop_send_series(&l, 0, 7, 20);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 20, SIZE_MAX);
    const airy_stream_report *r = &l.report[0];
    CHECK(c, r->id == 7 && r->expected == 20 && r->received == 20 && r->ended && r->bytes > 0);
    CHECK(c, r->error.status == AIRY_OK && l.said == 0 && l.starts == 1 && l.firsts == 1);
    loop_close(&l);
}

/* The start comes last on its socket, the end first on the other. */
static void check_overtaken(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_overtaken") || !loop_open(&l, c, 2))
        return;
    for (uint64_t i = 0; i < 10; i++)
        loop_send_image(&l, 0, 7, i);
    loop_send_start(&l, 1, 7, 20);
    loop_send_end(&l, 1, 7);
    for (uint64_t i = 10; i < 20; i++)
        loop_send_image(&l, 1, 7, i);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 20, SIZE_MAX);
    CHECK(c, l.report[0].received == 20 && l.report[0].ended && l.said == 0);
    loop_close(&l);
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
    for (int times = 0; times < 20 && loop_open(&l, c, 2); times++) {
        l.wanted = MOST_SERIES;
        for (uint64_t series = 1; series <= MOST_SERIES; series++)
            for (size_t k = 0; k < 2; k++) {
                loop_send_start(&l, k, series, 4);
                for (uint64_t i = k; i < 4; i += 2)
                    loop_send_image(&l, k, series, i);
                loop_send_end(&l, k, series);
            }
        CHECK_OK(c, loop_serve(&l));
        for (size_t k = 0; k < MOST_SERIES; k++) {
            loop_check_images(&l, k, 4, SIZE_MAX);
            CHECK(c, l.report[k].id == k + 1 && l.report[k].received == 4 && l.report[k].ended);
        }
        CHECK(c, l.said == 0 && l.starts == MOST_SERIES);
        loop_close(&l);
    }
}

/* All kinds of messages that are none, and the series is complete but for the image that was one. */
static void check_broken(struct check *c)
{
    struct message m;
    struct loop l;
    if (!check_case(c, "stream_series_broken") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.3;
    m = (struct message){.bytes = "hello", .size = 5};
    loop_send(&l, 0, &m);
    loop_send_start(&l, 0, 7, 10);
    for (uint64_t i = 0; i < 10; i++) {
        make_image(&m, 7, i);
        m.size -= i == 4 ? 10 : 0; /* cut in its payload */
        loop_send(&l, 0, &m);
        m.size = 0;
        if (i == 5)
            loop_send(&l, 0, &m);
        m = (struct message){.bytes = {0xbf, 0x64}, .size = 2};
        if (i == 6)
            loop_send(&l, 0, &m);
    }
    loop_send_end(&l, 0, 7);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 10, 4);
    CHECK(c, l.broken[4] == 1 && l.report[0].received == 9);
    CHECK(c, l.report[0].broken >= 2 && strstr(l.sentences, "series 7, image 4: "));
    CHECK(c, strstr(l.sentences, "a message that cannot be read: ") != NULL);
    loop_close(&l);
}

/* A detector that speaks Stream V1, whose parts are no messages of their own, before one of V2. */
static void check_old(struct check *c)
{
    static const char head[] = "{\"htype\":\"dheader-1.0\",\"series\":1,\"header_detail\":\"all\"}";
    struct loop l;
    struct message m;
    if (!check_case(c, "stream_series_old") || !loop_open(&l, c, 1))
        return;
    make_start(&m, 5, 3);
    CHECK(c, zmq_send(l.sockets[0], head, strlen(head), ZMQ_SNDMORE) >= 0);
    loop_send(&l, 0, &m);
    loop_send_series(&l, 0, 7, 1);
    CHECK_OK(c, loop_serve(&l));
    CHECK(c, l.starts == 1 && l.report[0].id == 7 && l.report[0].received == 1);
    CHECK(c, strstr(l.sentences, "Stream V1") && strstr(l.sentences, "'cbor'"));
    loop_close(&l);
}

/* What is said holds up nobody, however long it takes. */
static void check_slow_listener(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_slow_listener") || !loop_open(&l, c, 2))
        return;
    l.say_waits = true;
    loop_send_start(&l, 0, 7, 2);
    loop_send_image(&l, 0, 7, 0);
    loop_send_image(&l, 0, 7, 0);
    loop_send_end(&l, 0, 7);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 2, SIZE_MAX);
    CHECK(c, l.said == 1 && strstr(l.sentences, "image 0 came again"));
    loop_close(&l);
}

static void check_again(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_again") || !loop_open(&l, c, 1))
        return;
    loop_send_start(&l, 0, 7, 10);
    for (uint64_t i = 0; i < 10; i++) {
        loop_send_image(&l, 0, 7, i);
        loop_send_image(&l, 0, 7, i == 3 ? 10 : i); /* once beyond, else twice */
    }
    loop_send_end(&l, 0, 7);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 10, SIZE_MAX);
    /* those that come once all are there, with the end, are not counted any more */
    CHECK(c, l.report[0].received == 10 && l.report[0].beyond == 1);
    CHECK(c, l.report[0].duplicates == 9 && strstr(l.sentences, "image 10, but it has 10 images"));
    loop_close(&l);
}

/* Lost images, no end message, none of both: the next series comes in any case. */
static void check_cut_short(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_cut_short") || !loop_open(&l, c, 1))
        return;
    l.wanted = 4;
    l.grace = 0.3;
    l.timeout = 2;
    loop_send_start(&l, 0, 1, 10);
    for (uint64_t i = 0; i < 10; i++)
        if (i != 5)
            loop_send_image(&l, 0, 1, i);
    loop_send_end(&l, 0, 1);
    loop_send_start(&l, 0, 2, 10);
    for (uint64_t i = 0; i < 6; i++)
        loop_send_image(&l, 0, 2, i);
    loop_send_start(&l, 0, 3, 10);
    loop_send_start(&l, 0, 4, 10);
    for (uint64_t i = 0; i < 7; i++)
        loop_send_image(&l, 0, 4, i);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 10, 5);
    loop_check_images(&l, 1, 6, SIZE_MAX);
    loop_check_images(&l, 2, 0, SIZE_MAX);
    loop_check_images(&l, 3, 7, SIZE_MAX);
    CHECK(c, l.report[0].ended && l.report[0].received == 9);
    CHECK(c, strstr(l.sentences, "series 1") == NULL);
    CHECK(c, !l.report[1].ended && l.report[1].received == 6 && l.report[2].received == 0);
    CHECK(c, strstr(l.sentences, "series 2 has no end message, another one begins") != NULL);
    CHECK(c, !l.report[3].ended && strstr(l.sentences, "series 4: nothing came for 2 s"));
    loop_close(&l);
}

static void check_strays(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_strays") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.3;
    for (uint64_t i = 0; i < 3; i++)
        loop_send_image(&l, 0, 6, i);
    loop_send_end(&l, 0, 6);
    loop_send_start(&l, 0, 7, 2);
    loop_send_image(&l, 0, 7, 0);
    loop_send_image(&l, 0, 7, 1);
    CHECK_OK(c, loop_serve(&l)); /* its end message does not come */
    loop_check_images(&l, 0, 2, SIZE_MAX);
    CHECK(c, l.report[0].stray == 4 && l.report[0].received == 2 && !l.report[0].ended);
    CHECK(c, strstr(l.sentences, "images of series 6 without a start message") != NULL);
    CHECK(c, l.hint == AIRY_HINT_LATE);
    CHECK(c, strstr(l.sentences, "series 7 has no end message, but all of its images") != NULL);
    loop_close(&l);
}

/* While a series is at work: what is of another one, and no start of a later one, ends nothing. */
static void check_astray(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_astray") || !loop_open(&l, c, 1))
        return;
    loop_send_start(&l, 0, 7, 4);
    loop_send_image(&l, 0, 7, 0);
    loop_send_image(&l, 0, 3, 0);
    loop_send_image(&l, 0, 7, 1);
    loop_send_end(&l, 0, 3);
    loop_send_image(&l, 0, 9, 0);
    loop_send_end(&l, 0, 9);
    loop_send_start(&l, 0, 2, 4);
    loop_send_image(&l, 0, 7, 2);
    loop_send_image(&l, 0, 7, 3);
    loop_send_end(&l, 0, 7);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 4, SIZE_MAX);
    CHECK(c, l.report[0].id == 7 && l.report[0].ended && l.report[0].received == 4);
    CHECK(c, l.report[0].stray == 5 && l.said == 1 &&
                 strstr(l.sentences, "messages of series 3, which has not begun, are left out"));
    loop_close(&l);
}

/* The same with another socket, on which a start could still come: that one waits. */
static void check_ahead(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_ahead") || !loop_open(&l, c, 2))
        return;
    l.wanted = 2;
    loop_send_image(&l, 1, 8, 0);
    loop_send_series(&l, 0, 7, 3);
    loop_send_start(&l, 0, 8, 2);
    loop_send_image(&l, 0, 8, 1);
    loop_send_end(&l, 0, 8);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 3, SIZE_MAX);
    loop_check_images(&l, 1, 2, SIZE_MAX);
    CHECK(c, l.report[0].ended && l.report[1].ended && l.said == 0);
    loop_close(&l);
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
        loop_send_start(l, 0, 1, 1);
    }
    loop_send_image(l, 0, 1, 0);
    loop_send_end(l, 0, 1);
    return NULL;
}

/* A detector that died in a series counts from 1 again; it may also be given up by then. */
static void check_restarted(struct check *c)
{
    struct loop l;
    pthread_t sender;
    if (!check_case(c, "stream_series_restarted") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.1;
    l.wanted = 2;
    loop_send_start(&l, 0, 9, 5);
    loop_send_image(&l, 0, 9, 0);
    if (CHECK(c, pthread_create(&sender, NULL, send_restarted, &l) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        pthread_join(sender, NULL);
        CHECK(c, l.report[0].id == 9 && l.report[0].received == 1 && !l.report[0].ended);
        CHECK(c, l.report[1].id == 1 && l.report[1].received == 1 && l.report[1].ended);
    }
    loop_close(&l);
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
        loop_send_image(f->loop, 0, 3, 0);
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
    if (!check_case(c, "stream_series_flooded") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.1;
    l.timeout = 0.5;
    loop_send_start(&l, 0, 9, 5);
    loop_send_image(&l, 0, 9, 0);
    loop_send_image(&l, 0, 3, 0); /* one at least, however late the other thread begins */
    if (CHECK(c, pthread_create(&sender, NULL, send_flood, &flood) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        atomic_store(&flood.over, true);
        pthread_join(sender, NULL);
        CHECK(c, l.report[0].id == 9 && l.report[0].received == 1 && !l.report[0].ended);
        CHECK(c, l.report[0].stray > 0 && strstr(l.sentences, "it is given up") != NULL);
    }
    loop_close(&l);
}

/* The number of images is not said: a number far off is believed when another one agrees. */
static void check_far(struct check *c)
{
    static const uint64_t ids[] = {0,     1, 1000000,           2, 20000, 20001,
                                   20002, 3, (uint64_t)1 << 63, 4, 40000, UINT64_MAX};
    struct loop l;
    if (!check_case(c, "stream_series_far") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.3;
    loop_send_start(&l, 0, 7, 0);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        loop_send_image(&l, 0, 7, ids[i]);
    loop_send_end(&l, 0, 7);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 5, SIZE_MAX);
    CHECK(c, l.report[0].received == 7 && l.report[0].beyond == 5 && l.report[0].ended);
    CHECK(c, strstr(l.sentences, "image 1000000, but it has 2 images so far") != NULL);
    loop_close(&l);
}

/* Series that the handler refuses, and one that fails in the middle: the last one is served. */
static void check_failing(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_failing") || !loop_open(&l, c, 1))
        return;
    l.wanted = 3;
    l.fail_start = 1;
    l.fail_image = 2;
    for (uint64_t series = 1; series <= 3; series++)
        loop_send_series(&l, 0, series, 5);
    CHECK_OK(c, loop_serve(&l));
    loop_check_images(&l, 0, 0, SIZE_MAX);
    loop_check_images(&l, 1, 1, SIZE_MAX);
    loop_check_images(&l, 2, 5, SIZE_MAX);
    CHECK(c, l.report[0].error.status == AIRY_ERR_PARAM && l.report[1].error.status == AIRY_ERR_IO);
    CHECK(c, l.report[2].error.status == AIRY_OK && l.report[2].received == 5);
    loop_close(&l);
}

/* The image that comes while a series without any is being given up, then a whole series. */
static void *send_late(void *user)
{
    struct loop *l = user;
    const struct timespec pause = {.tv_nsec = 255000000};
    nanosleep(&pause, NULL);
    loop_send_image(l, 0, 1, 0);
    loop_send_series(l, 0, 2, 1);
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
    if (!check_case(c, "stream_series_late_first") || !loop_open(&l, c, 1))
        return;
    l.grace = 0.21;
    l.wanted = 2;
    loop_send_start(&l, 0, 1, 1);
    loop_send_end(&l, 0, 1);
    if (CHECK(c, pthread_create(&late, NULL, send_late, &l) == 0)) {
        CHECK_OK(c, loop_serve(&l));
        pthread_join(late, NULL);
        loop_check_images(&l, 1, 1, SIZE_MAX);
        CHECK(c, l.report[1].id == 2 && l.report[1].received == 1 && l.report[1].ended);
    }
    loop_close(&l);
}

/* A series of which nothing comes but its start, be it good or not, and then nothing at all. */
static void check_deserted(struct check *c)
{
    if (!check_case(c, "stream_series_deserted"))
        return;
    for (size_t fails = 0; fails < 2; fails++) {
        struct loop l;
        if (!loop_open(&l, c, 1))
            return;
        l.wanted = 2;
        l.fail_start = fails;
        l.timeout = l.idle = 0.3;
        loop_send_start(&l, 0, 1, 5);
        CHECK_FAILS(c, loop_serve(&l), AIRY_ERR_NOT_FOUND, "no series began");
        CHECK(c, l.series == 1 && l.report[0].received == 0 && !l.report[0].ended);
        CHECK(c, (l.report[0].error.status != AIRY_OK) == (fails == 1));
        CHECK(c, strstr(l.sentences, "nothing came for 0.3 s") != NULL);
        loop_close(&l);
    }
}

/* The first image is not that of the start message: the next one is the first. */
static void check_rejected(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_rejected") || !loop_open(&l, c, 1))
        return;
    l.reject = 1;
    loop_send_series(&l, 0, 1, 4);
    CHECK_OK(c, loop_serve(&l));
    CHECK(c, l.images[0][0] == 0 && l.broken[0] == 1 && l.firsts == 2);
    for (size_t i = 1; i < 4; i++)
        CHECK(c, l.images[0][i] == 1);
    CHECK(c, l.report[0].received == 3 && l.report[0].broken == 1);
    CHECK(c, l.report[0].error.status == AIRY_OK);
    loop_close(&l);
}

static void check_stopped(struct check *c)
{
    struct loop l;
    if (!check_case(c, "stream_series_stopped") || !loop_open(&l, c, 1))
        return;
    l.stop = true;
    CHECK_FAILS(c, loop_serve(&l), AIRY_ERR_CANCELLED, "cancelled");
    loop_close(&l);
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
    check_stopped(c);
    check_publisher(c);
}

#else
typedef int no_stream_series; /* check_stream.c says so */
#endif
