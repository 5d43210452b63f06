#include "airy/stream_send.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "stream/keys.h"
#include "stream/stream_encode.h"
#include "stream/stream_sockets.h"

enum { URL_MAX = AIRY_STREAM_ADDRESS_MAX, HIGH_WATER = 128, CHANNEL_HEAD_MAX = 192 };

/*
 * One block: room for a head that ends where the body begins, then the body, which does not change.
 */
struct airy_stream_image {
    atomic_uint uses;                     /* its owner, and ZeroMQ for each message on its way */
    _Atomic(airy_stream_sender *) sender; /* of the message on its way */
    size_t body, size;                    /* offset of the body; bytes of all */
    size_t data[AIRY_STREAM_CHANNELS];    /* offsets of the payloads */
    size_t channels;
    unsigned char bytes[];
};

struct airy_stream_sender {
    void *context, *socket;
    struct airy_stream_guard *guard;
    atomic_size_t pending; /* images that ZeroMQ holds */
    atomic_ullong left_ns; /* when one of them left last */
    char url[URL_MAX + 1];
};

/* ---- images ---- */

static airy_status check_sizes(size_t *total, const airy_stream_series *s,
                               const airy_codec_params *codec, const size_t *sizes)
{
    size_t plain = 0;
    const size_t channels = s->channels ? s->channel_count : 1;
    AIRY_FAIL_IF(airy_mul_size(&plain, s->height, s->width) ||
                     airy_mul_size(&plain, plain, airy_dtype_size(s->dtype)),
                 AIRY_ERR_SHAPE, "images of %zu x %zu pixels are too large", s->width, s->height);
    *total = 0;
    for (size_t i = 0; i < channels; i++) {
        AIRY_FAIL_IF(codec->codec == AIRY_CODEC_NONE && sizes[i] != plain, AIRY_ERR_SHAPE,
                     "channel %zu has %zu bytes, expected %zu for %zu x %zu %s", i, sizes[i], plain,
                     s->width, s->height, airy_dtype_name(s->dtype));
        AIRY_FAIL_IF(airy_add_size(total, *total, sizes[i]) ||
                         airy_add_size(total, *total, CHANNEL_HEAD_MAX),
                     AIRY_ERR_SHAPE, "channel %zu of %zu bytes is too large", i, sizes[i]);
    }
    return AIRY_OK;
}

airy_status airy_stream_image_create(airy_stream_image **out, const airy_stream_series *s,
                                     const airy_codec_params *codec, const size_t *sizes)
{
    AIRY_FAIL_IF(!out || !codec || !sizes, AIRY_ERR_PARAM, "image, codec or sizes = NULL");
    AIRY_TRY(airy_stream_series_check(s));
    AIRY_FAIL_IF(codec->codec != AIRY_CODEC_NONE && codec->codec != AIRY_CODEC_BSLZ4 &&
                     codec->codec != AIRY_CODEC_LZ4,
                 AIRY_ERR_UNSUPPORTED, "a stream has no codec '%s', expected none, bslz4 or lz4",
                 airy_codec_name(codec->codec));
    size_t room = 0;
    AIRY_TRY(check_sizes(&room, s, codec, sizes));
    AIRY_FAIL_IF(airy_add_size(&room, room, AIRY_STREAM_HEAD_MAX + CHANNEL_HEAD_MAX),
                 AIRY_ERR_SHAPE, "an image of %zu bytes is too large", room);
    airy_stream_image *image = malloc(sizeof(*image) + room);
    AIRY_FAIL_IF(!image, AIRY_ERR_MEMORY, "out of memory for an image of %zu bytes", room);
    struct airy_stream_bytes b = {.at = image->bytes, .size = room, .used = AIRY_STREAM_HEAD_MAX};
    airy_stream_encode_body(&b, s);
    image->channels = s->channels ? s->channel_count : 1;
    for (size_t i = 0; i < image->channels; i++) {
        airy_stream_encode_channel(&b, s, i, codec, sizes[i]);
        image->data[i] = b.used;
        b.used += sizes[i];
    }
    atomic_init(&image->uses, 1);
    image->body = AIRY_STREAM_HEAD_MAX;
    image->size = b.used;
    *out = image;
    return AIRY_OK;
}

void *airy_stream_image_data(airy_stream_image *image, size_t channel)
{
    return image && channel < image->channels ? image->bytes + image->data[channel] : NULL;
}

bool airy_stream_image_busy(const airy_stream_image *image)
{
    return image && atomic_load_explicit(&image->uses, memory_order_acquire) > 1;
}

static void drop_use(airy_stream_image *image)
{
    if (atomic_fetch_sub_explicit(&image->uses, 1, memory_order_acq_rel) == 1)
        free(image);
}

/* ZeroMQ's, as it is done with a message: by its own thread, before the sender's context ends. */
static void release(void *data, void *hint)
{
    airy_stream_image *image = hint;
    airy_stream_sender *sender = atomic_load(&image->sender);
    (void)data;
    drop_use(image);
    atomic_store(&sender->left_ns, airy_clock_ns());
    atomic_fetch_sub(&sender->pending, 1);
}

void airy_stream_image_destroy(airy_stream_image **image)
{
    if (image && *image)
        drop_use(*image);
    if (image)
        *image = NULL;
}

/* ---- sockets ---- */

static airy_status fail_url(const airy_stream_sender_params *p)
{
    const int why = zmq_errno();
    const bool wrong = why == EINVAL || why == EPROTONOSUPPORT || why == ENAMETOOLONG;
    return airy_stream_fail_address(
        p->url, !p->connect, why,
        airy_fail_on(wrong ? AIRY_ERR_PARAM : AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS,
                     "%s cannot be %s: %s", p->url, p->connect ? "connected to" : "bound",
                     p->connect ? zmq_strerror(why) : airy_stream_bind_error()));
}

static airy_status open_socket(airy_stream_sender *sender, const airy_stream_sender_params *p)
{
    const int high_water = p->high_water ? (int)p->high_water : HIGH_WATER, linger = 0,
              immediate = 1;
    sender->context = zmq_ctx_new();
    if (sender->context && p->keys && !p->connect)
        AIRY_TRY(airy_stream_guard_begin(&sender->guard, sender->context, NULL, 0, p->keys));
    sender->socket = sender->context ? zmq_socket(sender->context, ZMQ_PUSH) : NULL;
    AIRY_FAIL_IF(!sender->socket, AIRY_ERR_IO, "no ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
    /* Nothing is dealt to a receiver before it is there. */
    if (zmq_setsockopt(sender->socket, ZMQ_SNDHWM, &high_water, sizeof(high_water)) != 0 ||
        zmq_setsockopt(sender->socket, ZMQ_LINGER, &linger, sizeof(linger)) != 0 ||
        zmq_setsockopt(sender->socket, ZMQ_IMMEDIATE, &immediate, sizeof(immediate)) != 0 ||
        airy_stream_use_ipv6(sender->socket, p->url) != 0)
        return airy_fail(AIRY_ERR_IO, "options of a ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
    size_t size = sizeof(sender->url);
    if (p->keys)
        AIRY_TRY(airy_stream_keys_use(sender->socket, p->keys, !p->connect));
    if (p->connect)
        AIRY_TRY(airy_stream_check_host(p->url));
    if (p->connect ? zmq_connect(sender->socket, p->url) != 0
                   : zmq_bind(sender->socket, p->url) != 0)
        return fail_url(p);
    if (p->connect || zmq_getsockopt(sender->socket, ZMQ_LAST_ENDPOINT, sender->url, &size) != 0)
        strcpy(sender->url, p->url);
    return AIRY_OK;
}

airy_status airy_stream_sender_create(airy_stream_sender **out, const airy_stream_sender_params *p)
{
    AIRY_FAIL_IF(!out || !p, AIRY_ERR_PARAM, "sender or params = NULL");
    AIRY_TRY(airy_stream_check_address(p->url, p->connect));
    if (p->keys)
        AIRY_TRY(airy_stream_keys_check(p->keys, !p->connect));
    AIRY_FAIL_ON_IF(p->high_water > INT32_MAX, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %u, expected at most %d", "high_water", p->high_water, INT32_MAX);
    airy_stream_sender *sender = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&sender, 1, sizeof(*sender), "a sender"));
    const airy_status status = open_socket(sender, p);
    if (status != AIRY_OK)
        airy_stream_sender_destroy(&sender, 0);
    else
        *out = sender;
    return status;
}

const char *airy_stream_sender_url(const airy_stream_sender *sender)
{
    return sender ? sender->url : "";
}

size_t airy_stream_sender_pending(const airy_stream_sender *sender, uint64_t *left_ns)
{
    const size_t pending = sender ? atomic_load(&sender->pending) : 0;
    if (left_ns)
        *left_ns = sender ? atomic_load(&sender->left_ns) : 0;
    return pending;
}

void airy_stream_sender_destroy(airy_stream_sender **out, uint64_t linger_ns)
{
    airy_stream_sender *sender = out ? *out : NULL;
    if (!sender)
        return;
    const uint64_t ms = linger_ns / 1000000;
    const int linger = ms < INT32_MAX ? (int)ms : INT32_MAX;
    if (sender->socket) {
        (void)zmq_setsockopt(sender->socket, ZMQ_LINGER, &linger, sizeof(linger));
        zmq_close(sender->socket);
    }
    airy_stream_guard_end(&sender->guard);
    while (sender->context && zmq_ctx_term(sender->context) != 0 && zmq_errno() == EINTR)
        continue;
    free(sender);
    *out = NULL;
}

/* ---- sending ---- */

/* The message is closed in any case. */
static airy_status send_message(airy_stream_sender *sender, zmq_msg_t *message, uint64_t timeout_ns,
                                bool *sent)
{
    const uint64_t ms = (timeout_ns + 999999) / 1000000;
    const int timeout = ms < INT32_MAX ? (int)ms : INT32_MAX;
    *sent = zmq_msg_send(message, sender->socket, ZMQ_DONTWAIT) >= 0;
    if (!*sent && zmq_errno() == EAGAIN && timeout > 0 &&
        zmq_setsockopt(sender->socket, ZMQ_SNDTIMEO, &timeout, sizeof(timeout)) == 0)
        *sent = zmq_msg_send(message, sender->socket, 0) >= 0;
    const int why = zmq_errno();
    if (*sent)
        return AIRY_OK;
    zmq_msg_close(message);
    if (why == EAGAIN || why == EINTR)
        return AIRY_OK;
    return airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS, "%s: a message cannot be sent: %s",
                        sender->url, zmq_strerror(why));
}

static void free_bytes(void *data, void *hint)
{
    (void)hint;
    free(data);
}

static airy_status send_bytes(airy_stream_sender *sender, unsigned char *bytes, size_t size,
                              uint64_t timeout_ns, bool *sent)
{
    zmq_msg_t message;
    if (zmq_msg_init_data(&message, bytes, size, free_bytes, NULL) != 0) {
        free(bytes);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a message of %zu bytes", size);
    }
    return send_message(sender, &message, timeout_ns, sent);
}

airy_status airy_stream_send_start(airy_stream_sender *sender, const airy_stream_series *series,
                                   uint64_t timeout_ns, bool *sent)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    AIRY_FAIL_IF(!sender || !sent, AIRY_ERR_PARAM, "sender or sent = NULL");
    AIRY_TRY(airy_stream_encode_start(&bytes, &size, series));
    return send_bytes(sender, bytes, size, timeout_ns, sent);
}

airy_status airy_stream_send_end(airy_stream_sender *sender, const airy_stream_series *series,
                                 uint64_t timeout_ns, bool *sent)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    AIRY_FAIL_IF(!sender || !sent, AIRY_ERR_PARAM, "sender or sent = NULL");
    AIRY_TRY(airy_stream_encode_end(&bytes, &size, series));
    return send_bytes(sender, bytes, size, timeout_ns, sent);
}

/* The image itself, or, as its head is being sent, a copy. One more use of it. */
static airy_status hold_image(airy_stream_image **held, airy_stream_image *image)
{
    unsigned idle = 1;
    *held = image;
    if (!atomic_compare_exchange_strong(&image->uses, &idle, 2)) {
        const size_t size = sizeof(*image) + image->size;
        airy_stream_image *copy = malloc(size);
        AIRY_FAIL_IF(!copy, AIRY_ERR_MEMORY, "out of memory for an image of %zu bytes", size);
        memcpy(copy->data, image->data, sizeof(copy->data));
        memcpy(copy->bytes + image->body, image->bytes + image->body, image->size - image->body);
        copy->body = image->body;
        copy->size = image->size;
        copy->channels = image->channels;
        atomic_init(&copy->uses, 1);
        *held = copy;
    }
    return AIRY_OK;
}

airy_status airy_stream_send_image(airy_stream_sender *sender, airy_stream_image *image,
                                   const airy_stream_series *series,
                                   const airy_stream_exposure *exposure, uint64_t timeout_ns,
                                   bool *sent)
{
    unsigned char head[AIRY_STREAM_HEAD_MAX];
    struct airy_stream_bytes b = {.at = head, .size = sizeof(head)};
    airy_stream_image *held = NULL;
    zmq_msg_t message;
    AIRY_FAIL_IF(!sender || !image || !exposure || !sent, AIRY_ERR_PARAM,
                 "sender, image, exposure or sent = NULL");
    AIRY_TRY(airy_stream_series_check(series));
    AIRY_FAIL_IF(exposure->stop_ns < exposure->start_ns, AIRY_ERR_PARAM,
                 "image %llu stops before it starts", (unsigned long long)exposure->image_id);
    airy_stream_encode_head(&b, series, exposure);
    AIRY_TRY(hold_image(&held, image));
    unsigned char *first = held->bytes + held->body - b.used;
    memcpy(first, head, b.used);
    atomic_store(&held->sender, sender);
    atomic_fetch_add(&sender->pending, 1);
    if (zmq_msg_init_data(&message, first, held->size - held->body + b.used, release, held) != 0) {
        release(NULL, held);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a message");
    }
    return send_message(sender, &message, timeout_ns, sent);
}
