/* Messages of a stream: bytes by hand, payloads that are on their way, refusals. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "airy/stream_send.h"

static const airy_stream_series small = {
    .id = 7, .unique_id = "u", .images = 3, .height = 1, .width = 2, .dtype = AIRY_DTYPE_U16};

#if AIRY_HAVE_ZMQ
#include <zmq.h>

#include "stream/stream_encode.h"

static const uint16_t pixels[2] = {1, 515};
static const uint64_t PATIENCE_NS = 60000000000u;

static void check_bytes(struct check *c, const struct airy_stream_bytes *got, const char *want,
                        size_t size)
{
    CHECK(c, !got->full && got->used == size && memcmp(got->at, want, size) == 0);
}

/*
 * RFC 8949 by hand: tag 55799; a map of 8; texts and numbers in their shortest form; times over 10^9;
 * RFC 8746: tag 40, [[1, 2], tag 69 of little-endian 16-bit words].
 */
static void check_image_bytes(struct check *c)
{
    static const char want[] = "\xd9\xd9\xf7\xa8"
                               "\x64type\x65image"
                               "\x69series_id\x07"
                               "\x70series_unique_id\x61u"
                               "\x68image_id\x18\x18"
                               "\x69real_time\x82\x0a\x1a\x3b\x9a\xca\x00"
                               "\x6astart_time\x82\x05\x1a\x3b\x9a\xca\x00"
                               "\x69stop_time\x82\x0f\x1a\x3b\x9a\xca\x00"
                               "\x64"
                               "data\xa1\x6bthreshold_1\xd8\x28\x82\x82\x01\x02\xd8\x45\x44";
    static const char lz4[] = "\x6bthreshold_1\xd8\x28\x82\x82\x01\x02\xd8\x45"
                              "\xd9\xdc\xb4\x83\x63lz4\x00\x58\x64";
    static const char bslz4[] = "\x6bthreshold_1\xd8\x28\x82\x82\x01\x02\xd8\x45"
                                "\xd9\xdc\xb4\x83\x65"
                                "bslz4\x02\x58\x64";
    if (!check_case(c, "stream_send_image_bytes"))
        return;
    unsigned char room[512];
    struct airy_stream_bytes b = {.at = room, .size = sizeof(room)};
    airy_codec_params codec = {.codec = AIRY_CODEC_NONE, .elem_size = 2};
    airy_stream_encode_head(&b, &small, &(airy_stream_exposure){24, 5, 15});
    airy_stream_encode_body(&b, &small);
    airy_stream_encode_channel(&b, &small, 0, &codec, 4);
    check_bytes(c, &b, want, sizeof(want) - 1);
    codec.codec = AIRY_CODEC_LZ4;
    b.used = 0;
    airy_stream_encode_channel(&b, &small, 0, &codec, 100);
    check_bytes(c, &b, lz4, sizeof(lz4) - 1);
    codec.codec = AIRY_CODEC_BSLZ4;
    b.used = 0;
    airy_stream_encode_channel(&b, &small, 0, &codec, 100);
    check_bytes(c, &b, bslz4, sizeof(bslz4) - 1);
    b = (struct airy_stream_bytes){.at = room, .size = 20};
    airy_stream_encode_head(&b, &small, &(airy_stream_exposure){24, 5, 15});
    CHECK(c, b.full && b.used <= 20);
}

static void check_series_bytes(struct check *c)
{
    static const char end[] = "\xd9\xd9\xf7\xa3\x64type\x63"
                              "end\x69series_id\x07\x70series_unique_id\x61u";
    static const char start[] =
        "\xd9\xd9\xf7\xab\x64type\x65start\x69series_id\x07"
        "\x70series_unique_id\x61u"
        "\x68"
        "channels\x82\x61"
        "a\x61"
        "b"
        "\x70number_of_images\x03\x6cimage_size_x\x02\x6cimage_size_y\x01"
        "\x6bimage_dtype\x66uint16\x71"
        "flatfield_enabled\xf4"
        "\x70saturation_value\x19\xff\xfe"
        "\x6apixel_mask\xa2"
        "\x61"
        "a\xd8\x28\x82\x82\x01\x02\xd8\x46\x48\x00\x00\x00\x00\x01\x00\x00\x00"
        "\x61"
        "b\xd8\x28\x82\x82\x01\x02\xd8\x46\x48\x00\x00\x00\x00\x01\x00\x00\x00";
    static const char *const names[] = {"a", "b"};
    static const uint8_t mask[] = {0, 9};
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (!check_case(c, "stream_send_series_bytes"))
        return;
    if (CHECK_OK(c, airy_stream_encode_end(&bytes, &size, &small)))
        CHECK(c, size == sizeof(end) - 1 && memcmp(bytes, end, size) == 0);
    free(bytes);
    airy_stream_series series = small;
    series.channels = names;
    series.channel_count = 2;
    series.mask = mask;
    series.has_saturation = true;
    series.saturation = 65534;
    if (CHECK_OK(c, airy_stream_encode_start(&bytes, &size, &series)))
        CHECK(c, size == sizeof(start) - 1 && memcmp(bytes, start, size) == 0);
    free(bytes);
    /* All keys that there are, the longest texts: nothing is cut. */
    airy_geometry geometry = {.dist = 0.1, .wavelength = 1e-10};
    memset(geometry.detector.name, 'n', sizeof(geometry.detector.name) - 1);
    memset(geometry.detector.sensor.material, 'm', sizeof(geometry.detector.sensor.material) - 1);
    geometry.detector.pixel1 = geometry.detector.pixel2 = 1e-4;
    geometry.detector.sensor.thickness = 1e-3;
    series.geometry = &geometry;
    series.frame_time = 0.5;
    series.date = "2024-05-06T07:08:09.123Z";
    if (CHECK_OK(c, airy_stream_encode_start(&bytes, &size, &series)))
        CHECK(c, bytes[3] == 0xb8 && bytes[4] == 25);
    free(bytes);
}

/* Receives one message and says whether it is image `id` with the pixels. */
static bool is_image(void *socket, uint64_t id)
{
    char message[512];
    const int size = zmq_recv(socket, message, sizeof(message), 0);
    const unsigned char *at = size > 0 ? memmem(message, (size_t)size, "image_id", 8) : NULL;
    return at && at[8] == id &&
           memcmp(message + size - sizeof(pixels), pixels, sizeof(pixels)) == 0;
}

static void check_sockets(struct check *c)
{
    airy_stream_sender *sender = NULL;
    airy_stream_image *image = NULL;
    bool sent = true;
    const airy_codec_params codec = {.codec = AIRY_CODEC_NONE};
    const size_t size = sizeof(pixels);
    if (!check_case(c, "stream_send_sockets"))
        return;
    const airy_stream_sender_params params = {.url = "tcp://127.0.0.1:*", .high_water = 8};
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_PULL);
    const int timeout = 60000, linger = 0;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &timeout, sizeof(timeout));
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    if (!CHECK_OK(c, airy_stream_sender_create(&sender, &params)) ||
        !CHECK_OK(c, airy_stream_image_create(&image, &small, &codec, &size)))
        goto out;
    memcpy(airy_stream_image_data(image, 0), pixels, sizeof(pixels));
    CHECK(c, airy_stream_image_data(image, 1) == NULL);
    /* Nobody is there. */
    CHECK_OK(c, airy_stream_send_start(sender, &small, 0, &sent));
    CHECK(c, !sent);
    CHECK_OK(c, airy_stream_send_image(sender, image, &small, &(airy_stream_exposure){0, 0, 1},
                                       1000000, &sent));
    CHECK(c, !sent && !airy_stream_image_busy(image));
    CHECK(c, zmq_connect(socket, airy_stream_sender_url(sender)) == 0);
    CHECK_OK(c, airy_stream_send_start(sender, &small, PATIENCE_NS, &sent));
    CHECK(c, sent);
    /* The same image again and again: its own bytes or copies, each with its number. */
    for (uint64_t i = 0; i < 6; i++) {
        CHECK_OK(c, airy_stream_send_image(sender, image, &small, &(airy_stream_exposure){i, i, i},
                                           PATIENCE_NS, &sent));
        CHECK(c, sent);
    }
    airy_stream_image_destroy(&image);
    CHECK_OK(c, airy_stream_send_end(sender, &small, PATIENCE_NS, &sent));
    char start[512];
    CHECK(c, zmq_recv(socket, start, sizeof(start), 0) > 0);
    for (uint64_t i = 0; i < 6; i++)
        CHECK(c, is_image(socket, i));
    CHECK(c, zmq_recv(socket, start, sizeof(start), 0) > 0);
out:
    airy_stream_image_destroy(&image);
    airy_stream_sender_destroy(&sender, PATIENCE_NS);
    zmq_close(socket);
    zmq_ctx_term(context);
}

enum { SHARERS = 2, SHARED = 20000, FEW = 11 };

/* Sends an image that another thread sends, too: numbers that are of this one only. */
struct sharer {
    airy_stream_sender *sender;
    airy_stream_image *image;
    uint64_t index;
    size_t sent;
    pthread_t thread;
};

static void *send_shared(void *user)
{
    struct sharer *s = user;
    bool sent = true;
    for (uint64_t i = 0; i < SHARED && sent; i++) {
        const uint64_t id = i % FEW * SHARERS + s->index;
        for (int k = 0; k < 10000 && airy_stream_image_busy(s->image); k++)
            continue; /* both begin as it is free */
        if (airy_stream_send_image(s->sender, s->image, &small, &(airy_stream_exposure){id, id, id},
                                   PATIENCE_NS, &sent) != AIRY_OK)
            break;
        s->sent += sent;
    }
    return NULL;
}

static void check_shared(struct check *c)
{
    struct sharer sharers[SHARERS] = {0};
    void *sockets[SHARERS];
    airy_stream_image *image = NULL;
    const airy_codec_params codec = {.codec = AIRY_CODEC_NONE};
    const airy_stream_sender_params params = {.url = "tcp://127.0.0.1:*", .high_water = 8};
    const size_t size = sizeof(pixels);
    const int timeout = 60000, linger = 0;
    if (!check_case(c, "stream_send_shared") ||
        !CHECK_OK(c, airy_stream_image_create(&image, &small, &codec, &size)))
        return;
    memcpy(airy_stream_image_data(image, 0), pixels, sizeof(pixels));
    void *context = zmq_ctx_new();
    size_t started = 0, wrong = 0;
    for (size_t k = 0; k < SHARERS; k++) {
        struct sharer *s = &sharers[k];
        sockets[k] = zmq_socket(context, ZMQ_PULL);
        zmq_setsockopt(sockets[k], ZMQ_RCVTIMEO, &timeout, sizeof(timeout));
        zmq_setsockopt(sockets[k], ZMQ_LINGER, &linger, sizeof(linger));
        s->image = image;
        s->index = k;
        CHECK_OK(c, airy_stream_sender_create(&s->sender, &params));
        CHECK(c, zmq_connect(sockets[k], airy_stream_sender_url(s->sender)) == 0);
        started += pthread_create(&s->thread, NULL, send_shared, s) == 0;
    }
    for (uint64_t i = 0; CHECK(c, started == SHARERS) && i < SHARED && !wrong; i++)
        for (size_t k = 0; k < SHARERS; k++)
            wrong += !is_image(sockets[k], i % FEW * SHARERS + k);
    CHECK(c, wrong == 0);
    for (size_t k = 0; k < SHARERS; k++)
        zmq_close(sockets[k]);
    for (size_t k = 0; k < started; k++)
        pthread_join(sharers[k].thread, NULL);
    for (size_t k = 0; k < SHARERS; k++)
        airy_stream_sender_destroy(&sharers[k].sender, 0);
    airy_stream_image_destroy(&image);
    zmq_ctx_term(context);
}

static airy_status open_url(const char *url, bool connect)
{
    airy_stream_sender *sender = NULL;
    const airy_stream_sender_params params = {.url = url, .connect = connect};
    const airy_status status = airy_stream_sender_create(&sender, &params);
    airy_stream_sender_destroy(&sender, 0);
    return status;
}

static void check_urls(struct check *c)
{
    char longest[400];
    if (!check_case(c, "stream_send_urls"))
        return;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    CHECK_FAILS(c, open_url(longest, false), AIRY_ERR_PARAM, "399 bytes, expected at most 255");
    memcpy(longest, "ipc://", 6);
    longest[200] = 0; /* more than a socket's path may have */
    CHECK_FAILS(c, open_url(longest, false), AIRY_ERR_PARAM, "cannot be bound");
    CHECK_FAILS(c, open_url("", false), AIRY_ERR_PARAM, "expected tcp://HOST:PORT or ipc://PATH");
    CHECK_FAILS(c, open_url("tcp://", false), AIRY_ERR_PARAM, "expected tcp://HOST:PORT");
    CHECK_FAILS(c, open_url("http://a:80", false), AIRY_ERR_PARAM, "expected tcp://HOST:PORT");
    CHECK_FAILS(c, open_url("tcp://*:99999", false), AIRY_ERR_PARAM, "a port of at most 65535");
    CHECK_FAILS(c, open_url("tcp://*", false), AIRY_ERR_PARAM, "a port of at most");
    CHECK_FAILS(c, open_url("tcp://:::::::", false), AIRY_ERR_PARAM, "a port of at most");
    CHECK_FAILS(c, open_url("tcp://no-such-interface-x:1", false), AIRY_ERR_IO, "cannot be bound");
    CHECK_FAILS(c, open_url("ipc:///nowhere/at/all/s", false), AIRY_ERR_IO, "cannot be bound");
    CHECK_FAILS(c, open_url("tcp://a b:x", true), AIRY_ERR_PARAM, "a port of at most");
}

/* The small series with one field changed. */
#define SERIES(member, value)                                                                      \
    (series = small, series.member = (value), airy_stream_series_check(&series))

static void check_refusals(struct check *c)
{
    static const char *const unnamed[] = {"a", ""};
    char longest[200] = {0};
    size_t size = 4, none = 3;
    airy_codec_params codec = {.codec = AIRY_CODEC_NONE};
    airy_stream_image *image = NULL;
    airy_stream_series series;
    bool sent;
    if (!check_case(c, "stream_send_refusals"))
        return;
    memset(longest, 'x', sizeof(longest) - 1);
    CHECK_FAILS(c, airy_stream_series_check(NULL), AIRY_ERR_PARAM, "series = NULL");
    CHECK_FAILS(c, SERIES(unique_id, NULL), AIRY_ERR_PARAM, "at most 127 bytes");
    CHECK_FAILS(c, SERIES(unique_id, longest), AIRY_ERR_PARAM, "at most 127 bytes");
    CHECK_FAILS(c, SERIES(date, longest), AIRY_ERR_PARAM, "date of the series has 199");
    CHECK_FAILS(c, SERIES(height, 0), AIRY_ERR_SHAPE, "2 x 0");
    CHECK_FAILS(c, SERIES(dtype, AIRY_DTYPE_COUNT), AIRY_ERR_DTYPE, "no images of dtype");
    CHECK_FAILS(c, SERIES(channels, unnamed), AIRY_ERR_PARAM, "channels = 0");
    series.channel_count = 17;
    CHECK_FAILS(c, airy_stream_series_check(&series), AIRY_ERR_PARAM,
                "channels = 17, expected 1 to 16");
    series.channel_count = 2;
    CHECK_FAILS(c, airy_stream_series_check(&series), AIRY_ERR_PARAM,
                "name of channel 1 has 0 bytes");
    CHECK_FAILS(c, SERIES(frame_time, -1), AIRY_ERR_PARAM, "frame_time = -1");
    CHECK_OK(c, SERIES(saturation, (double)INFINITY));
    series.has_saturation = true;
    CHECK_FAILS(c, airy_stream_series_check(&series), AIRY_ERR_PARAM, "saturation = inf");
    CHECK_FAILS(c, SERIES(detail, AIRY_STREAM_DETAIL_COUNT), AIRY_ERR_PARAM, "detail = 3");
    CHECK_FAILS(c, airy_stream_image_create(NULL, &small, &codec, &size), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_image_create(&image, &small, &codec, &none), AIRY_ERR_SHAPE,
                "channel 0 has 3 bytes, expected 4 for 2 x 1 uint16");
    codec.codec = AIRY_CODEC_BSHUF;
    CHECK_FAILS(c, airy_stream_image_create(&image, &small, &codec, &size), AIRY_ERR_UNSUPPORTED,
                "no codec 'bshuf'");
    codec.codec = AIRY_CODEC_LZ4;
    size = SIZE_MAX;
    CHECK_FAILS(c, airy_stream_image_create(&image, &small, &codec, &size), AIRY_ERR_SHAPE,
                "too large");
    CHECK_FAILS(c, airy_stream_sender_create(NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_send_start(NULL, &small, 0, &sent), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_send_end(NULL, &small, 0, &sent), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_send_image(NULL, NULL, &small, NULL, 0, &sent), AIRY_ERR_PARAM,
                "NULL");
    CHECK(c, !airy_stream_image_busy(NULL) && !airy_stream_image_data(NULL, 0));
    airy_stream_image_destroy(&image);
    airy_stream_image_destroy(NULL);
    airy_stream_sender_destroy(NULL, 0);
}

void check_stream_send(struct check *c)
{
    /* No device takes part: once is enough. */
    if (!c->is_cpu)
        return;
    check_image_bytes(c);
    check_series_bytes(c);
    check_sockets(c);
    check_shared(c);
    check_urls(c);
    check_refusals(c);
}
#else
void check_stream_send(struct check *c)
{
    airy_stream_image *image = NULL;
    airy_stream_sender *sender = NULL;
    const airy_codec_params codec = {.codec = AIRY_CODEC_NONE};
    const size_t size = 4;
    const airy_stream_sender_params params = {.url = "tcp://127.0.0.1:*"};
    if (!c->is_cpu || !check_case(c, "stream_send_lacking"))
        return;
    CHECK_FAILS(c, airy_stream_image_create(&image, &small, &codec, &size), AIRY_ERR_UNSUPPORTED,
                "lacks libzmq and libcbor");
    CHECK_FAILS(c, airy_stream_sender_create(&sender, &params), AIRY_ERR_UNSUPPORTED,
                "lacks libzmq and libcbor");
}
#endif
