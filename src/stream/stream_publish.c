/* Patterns on a PUB socket. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "airy/stream.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "stream/cbor_write.h"
#include "stream/keys.h"
#include "stream/stream_sockets.h"

enum {
    QUEUE = 1000,
    TAG_ARRAY = 40, /* RFC 8746 */
    TAG_F32 = 85,
    TAG_F64 = 86,
    UNIT_MAX = 128,  /* bytes of the unit's name */
    SMALL_MAX = 2048 /* bytes of a message beside its arrays */
};
static const uint64_t AGAIN_NS = 1000000000; /* the start message, for those who came later */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "typed arrays are written with the tags of little-endian machines"
#endif

struct airy_publisher {
    void *context, *socket;
    struct airy_stream_guard *guard;
    pthread_mutex_t lock;
    unsigned char *start; /* the series' start message */
    size_t start_size;
    uint64_t started_ns; /* when it was sent last */
    uint64_t series_id, patterns;
    char unique_id[AIRY_STREAM_TEXT_MAX];
    size_t bins, azimuth_bins; /* azimuth_bins 0: one dimension */
    unsigned char *bytes;      /* of a pattern */
    size_t size;
};

static airy_status open_socket(airy_publisher *p, const airy_publisher_params *params)
{
    const int most = params->queue ? (int)params->queue : QUEUE,
              linger = 1000; /* ms, for the last messages */
    p->context = zmq_ctx_new();
    if (p->context && params->keys)
        AIRY_TRY(airy_stream_guard_begin(&p->guard, p->context, NULL, 0, params->keys));
    p->socket = p->context ? zmq_socket(p->context, ZMQ_PUB) : NULL;
    if (p->socket && params->keys)
        AIRY_TRY(airy_stream_keys_use(p->socket, params->keys, true));
    AIRY_FAIL_ON_IF(!p->socket || zmq_setsockopt(p->socket, ZMQ_SNDHWM, &most, sizeof(most)) != 0 ||
                        zmq_setsockopt(p->socket, ZMQ_LINGER, &linger, sizeof(linger)) != 0 ||
                        airy_stream_use_ipv6(p->socket, params->endpoint) != 0 ||
                        zmq_bind(p->socket, params->endpoint) != 0,
                    AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS, "cannot publish on '%s': %s",
                    params->endpoint, airy_stream_bind_error());
    return AIRY_OK;
}

airy_status airy_publisher_create(airy_publisher **publisher, const char *endpoint, size_t queue)
{
    return airy_publisher_open(publisher,
                               &(airy_publisher_params){.endpoint = endpoint, .queue = queue});
}

airy_status airy_publisher_open(airy_publisher **publisher, const airy_publisher_params *params)
{
    AIRY_FAIL_IF(!publisher || !params || !params->endpoint, AIRY_ERR_PARAM,
                 "airy_publisher_open: an argument is NULL");
    const size_t queue = params->queue;
    AIRY_FAIL_ON_IF(queue > 1000000, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected <= 1000000", "queue", queue);
    AIRY_TRY(airy_stream_check_address(params->endpoint, false));
    if (params->keys)
        AIRY_TRY(airy_stream_keys_check(params->keys, true));
    airy_publisher *made = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a publisher"));
    (void)pthread_mutex_init(&made->lock, NULL);
    const airy_status status = open_socket(made, params);
    if (status != AIRY_OK) {
        airy_publisher_destroy(&made);
        return status;
    }
    *publisher = made;
    return AIRY_OK;
}

void airy_publisher_destroy(airy_publisher **publisher)
{
    airy_publisher *p = *publisher;
    if (!p)
        return;
    if (p->socket)
        zmq_close(p->socket);
    airy_stream_guard_end(&p->guard);
    if (p->context)
        zmq_ctx_term(p->context);
    pthread_mutex_destroy(&p->lock);
    free(p->start);
    free(p->bytes);
    free(p);
    *publisher = NULL;
}

/* Never waits: who is behind by the whole queue misses it. */
static airy_status send_bytes(airy_publisher *p, const unsigned char *bytes, size_t size)
{
    AIRY_FAIL_IF(zmq_send(p->socket, bytes, size, ZMQ_DONTWAIT) < 0, AIRY_ERR_IO,
                 "cannot publish: %s", zmq_strerror(zmq_errno()));
    return AIRY_OK;
}

static void put_typed(struct airy_stream_bytes *b, const char *key, unsigned tag, const void *data,
                      size_t size)
{
    airy_cbor_put_text(b, key);
    AIRY_CBOR_PUT(b, tag, tag);
    AIRY_CBOR_PUT(b, bytestring_start, size);
    airy_cbor_put_bytes(b, data, size);
}

static void put_head(struct airy_stream_bytes *b, const airy_publisher *p, const char *type,
                     size_t more)
{
    AIRY_CBOR_PUT(b, map_start, 3 + more);
    airy_cbor_put_text(b, "type");
    airy_cbor_put_text(b, type);
    airy_cbor_put_count(b, "series_id", p->series_id);
    airy_cbor_put_text(b, "series_unique_id");
    airy_cbor_put_text(b, p->unique_id);
}

static airy_status send_start(airy_publisher *p)
{
    p->started_ns = airy_clock_ns();
    return send_bytes(p, p->start, p->start_size);
}

static airy_status make_start(airy_publisher *p, const airy_publisher_series *series)
{
    const size_t doubles = series->bins + (series->azimuthal ? series->azimuth_bins : 0);
    struct airy_stream_bytes b = {.size = SMALL_MAX + doubles * sizeof(double)};
    AIRY_TRY(airy_memory_calloc((void **)&b.at, b.size, 1, "a start message"));
    put_head(&b, p, "start", series->azimuthal ? 4 : 3);
    airy_cbor_put_count(&b, "number_of_images", series->number_of_images);
    airy_cbor_put_text(&b, "unit");
    airy_cbor_put_text(&b, series->unit);
    put_typed(&b, "radial", TAG_F64, series->radial, series->bins * sizeof(double));
    if (series->azimuthal)
        put_typed(&b, "azimuthal", TAG_F64, series->azimuthal,
                  series->azimuth_bins * sizeof(double));
    p->start = b.at;
    p->start_size = b.used;
    return AIRY_OK;
}

/* No series is begun: its messages, and room for those of patterns. */
static void forget_series(airy_publisher *p)
{
    free(p->start);
    free(p->bytes);
    p->start = p->bytes = NULL;
    p->patterns = 0;
}

airy_status airy_publisher_start(airy_publisher *publisher, const airy_publisher_series *series)
{
    AIRY_FAIL_IF(!publisher || !series || !series->radial || !series->unit, AIRY_ERR_PARAM,
                 "airy_publisher_start: an argument is NULL");
    AIRY_FAIL_IF(strlen(series->unit) > UNIT_MAX, AIRY_ERR_PARAM,
                 "airy_publisher_start: unit has %zu bytes, expected at most %d",
                 strlen(series->unit), (int)UNIT_MAX);
    size_t cells = 0; /* of three kinds of float, and axes of doubles */
    AIRY_FAIL_IF(airy_mul_size(&cells, airy_max_size(series->azimuth_bins, 1),
                               airy_max_size(series->bins, 1)) ||
                     cells > SIZE_MAX / 32,
                 AIRY_ERR_PARAM, "airy_publisher_start: %zu x %zu bins are too many",
                 series->azimuth_bins, series->bins);
    airy_publisher *p = publisher;
    pthread_mutex_lock(&p->lock);
    p->series_id = series->series_id;
    snprintf(p->unique_id, sizeof(p->unique_id), "%s", series->unique_id ? series->unique_id : "");
    p->bins = series->bins;
    p->azimuth_bins = series->azimuthal ? series->azimuth_bins : 0;
    p->size = SMALL_MAX + 3 * airy_max_size(p->azimuth_bins, 1) * p->bins * sizeof(float);
    forget_series(p);
    airy_status status = airy_memory_calloc((void **)&p->bytes, p->size, 1, "published patterns");
    if (status == AIRY_OK)
        status = make_start(p, series);
    if (status == AIRY_OK)
        status = send_start(p);
    else
        forget_series(p);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static void put_values(struct airy_stream_bytes *b, const airy_publisher *p, const char *key,
                       const float *values)
{
    const size_t size = airy_max_size(p->azimuth_bins, 1) * p->bins * sizeof(float);
    airy_cbor_put_text(b, key);
    if (p->azimuth_bins) {
        AIRY_CBOR_PUT(b, tag, TAG_ARRAY);
        AIRY_CBOR_PUT(b, array_start, 2);
        AIRY_CBOR_PUT(b, array_start, 2);
        AIRY_CBOR_PUT(b, uint, p->azimuth_bins);
        AIRY_CBOR_PUT(b, uint, p->bins);
    }
    AIRY_CBOR_PUT(b, tag, TAG_F32);
    AIRY_CBOR_PUT(b, bytestring_start, size);
    airy_cbor_put_bytes(b, values, size);
}

/* A text that was cut somewhere ends with a whole character. */
static void end_whole(char *text)
{
    size_t n = strlen(text), k = n;
    while (k > 0 && n - k < 3 && (text[k - 1] & 0xc0) == 0x80)
        k--;
    const unsigned char lead = k > 0 ? (unsigned char)text[k - 1] : 0;
    const size_t needs = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (needs > 1 && n - k + 1 < needs)
        text[k - 1] = 0;
}

static void put_message(struct airy_stream_bytes *b, const char *sentence)
{
    char message[512];
    snprintf(message, sizeof(message), "%s", sentence);
    end_whole(message);
    airy_cbor_put_text(b, "message");
    airy_cbor_put_text(b, message);
}

static airy_status send_pattern(airy_publisher *p, const airy_publisher_pattern *pattern)
{
    struct airy_stream_bytes b = {.at = p->bytes, .size = p->size};
    const bool bad = pattern->message != NULL;
    if (airy_clock_ns() - p->started_ns > AGAIN_NS)
        AIRY_TRY(send_start(p));
    put_head(&b, p, "pattern", 7u + bad + (pattern->std != NULL) + (pattern->sem != NULL));
    airy_cbor_put_count(&b, "image_id", pattern->image_id);
    airy_cbor_put_count(&b, "status", pattern->status != AIRY_OK);
    if (bad)
        put_message(&b, pattern->message);
    airy_cbor_put_number(&b, "total", pattern->stats.total);
    airy_cbor_put_number(&b, "max", pattern->stats.max);
    airy_cbor_put_count(&b, "saturated", pattern->stats.saturated);
    airy_cbor_put_count(&b, "invalid", pattern->stats.invalid);
    put_values(&b, p, "intensity", pattern->intensity);
    if (pattern->std)
        put_values(&b, p, "std", pattern->std);
    if (pattern->sem)
        put_values(&b, p, "sem", pattern->sem);
    p->patterns++;
    return send_bytes(p, b.at, b.used);
}

airy_status airy_publisher_send(airy_publisher *publisher, const airy_publisher_pattern *pattern)
{
    AIRY_FAIL_IF(!publisher || !pattern || !pattern->intensity, AIRY_ERR_PARAM,
                 "airy_publisher_send: an argument is NULL");
    pthread_mutex_lock(&publisher->lock);
    const airy_status status =
        publisher->bytes ? send_pattern(publisher, pattern)
                         : airy_fail(AIRY_ERR_PARAM, "airy_publisher_send: no series was begun");
    pthread_mutex_unlock(&publisher->lock);
    return status;
}

/* why: NULL, or of a series that failed. The lock is held. */
static airy_status send_end(airy_publisher *p, const char *why)
{
    unsigned char bytes[SMALL_MAX];
    struct airy_stream_bytes b = {.at = bytes, .size = sizeof(bytes)};
    put_head(&b, p, "end", why ? 3 : 2);
    airy_cbor_put_count(&b, "patterns", p->patterns);
    airy_cbor_put_count(&b, "status", why != NULL);
    if (why)
        put_message(&b, why);
    return send_bytes(p, b.at, b.used);
}

airy_status airy_publisher_end(airy_publisher *publisher, uint64_t *patterns)
{
    AIRY_FAIL_IF(!publisher, AIRY_ERR_PARAM, "airy_publisher_end: publisher is NULL");
    airy_publisher *p = publisher;
    pthread_mutex_lock(&p->lock);
    const airy_status status = send_end(p, NULL);
    if (patterns)
        *patterns = p->patterns;
    pthread_mutex_unlock(&p->lock);
    return status;
}

airy_status airy_publisher_fail(airy_publisher *publisher, uint64_t series_id,
                                const char *unique_id, const char *message, uint64_t *patterns)
{
    AIRY_FAIL_IF(!publisher || !message, AIRY_ERR_PARAM, "airy_publisher_fail: argument is NULL");
    airy_publisher *p = publisher;
    const char *id = unique_id ? unique_id : "";
    pthread_mutex_lock(&p->lock);
    if (!p->bytes || p->series_id != series_id || strcmp(p->unique_id, id) != 0) {
        /* it never began; the start message of the last one is not its */
        forget_series(p);
        p->series_id = series_id;
        snprintf(p->unique_id, sizeof(p->unique_id), "%s", id);
    }
    const airy_status status = send_end(p, message);
    if (patterns)
        *patterns = p->patterns;
    pthread_mutex_unlock(&p->lock);
    return status;
}
