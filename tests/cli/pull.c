#include "pull.h"

#include <cbor.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

enum { SOCKETS = 64, SILENCE_MS = 60000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Differs from run to run. */
static bool is_own(const char *key, size_t length)
{
    static const char *const own[] = {"series_unique_id", "arm_date", "series_date"};
    for (size_t i = 0; i < 3; i++)
        if (length == strlen(own[i]) && memcmp(key, own[i], length) == 0)
            return true;
    return false;
}

static void print_item(const cbor_item_t *item);

static void print_map(const cbor_item_t *item)
{
    const struct cbor_pair *pairs = cbor_map_handle(item);
    for (size_t i = 0; i < cbor_map_size(item); i++) {
        const char *key = (const char *)cbor_string_handle(pairs[i].key);
        const size_t n = cbor_string_length(pairs[i].key);
        printf("%s%.*s=", i ? " " : "", (int)n, key);
        if (is_own(key, n))
            putchar('*');
        else
            print_item(pairs[i].value);
    }
}

static void print_array(const cbor_item_t *item)
{
    cbor_item_t **items = cbor_array_handle(item);
    putchar('[');
    for (size_t i = 0; i < cbor_array_size(item); i++) {
        fputs(i ? "," : "", stdout);
        print_item(items[i]);
    }
    putchar(']');
}

/* A sum that tells byte strings apart. */
static void print_bytes(const cbor_item_t *item)
{
    const unsigned char *bytes = cbor_bytestring_handle(item);
    const size_t n = cbor_bytestring_length(item);
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    printf("<%zu bytes %08" PRIx32 ">", n, sum);
}

static void print_item(const cbor_item_t *item)
{
    switch (cbor_typeof(item)) {
    case CBOR_TYPE_UINT:
        printf("%" PRIu64, cbor_get_int(item));
        break;
    case CBOR_TYPE_BYTESTRING:
        print_bytes(item);
        break;
    case CBOR_TYPE_STRING:
        printf("%.*s", (int)cbor_string_length(item), (const char *)cbor_string_handle(item));
        break;
    case CBOR_TYPE_ARRAY:
        print_array(item);
        break;
    case CBOR_TYPE_MAP:
        putchar('{');
        print_map(item);
        putchar('}');
        break;
    case CBOR_TYPE_TAG: {
        cbor_item_t *inner = cbor_tag_item(item);
        printf("%" PRIu64 "(", cbor_tag_value(item));
        print_item(inner);
        putchar(')');
        cbor_decref(&inner);
        break;
    }
    case CBOR_TYPE_FLOAT_CTRL:
        if (cbor_float_ctrl_is_ctrl(item))
            printf("%s", cbor_is_bool(item) && cbor_get_bool(item) ? "true" : "false");
        else
            printf("%.10g", cbor_float_get_float(item));
        break;
    case CBOR_TYPE_NEGINT:
        printf("negative");
        break;
    }
}

/* One line; false: it is no message. */
static bool print_message(const void *bytes, size_t size)
{
    struct cbor_load_result result;
    cbor_item_t *message = cbor_load(bytes, size, &result);
    if (!message || result.read != size || !cbor_isa_tag(message)) {
        fprintf(stderr, "a message of %zu bytes is not CBOR behind %zu\n", size, result.read);
        return false;
    }
    cbor_item_t *map = cbor_tag_item(message);
    const bool good = cbor_tag_value(message) == 55799 && cbor_isa_map(map);
    if (good)
        print_map(map);
    putchar('\n');
    fflush(stdout); /* others wait for a message */
    cbor_decref(&map);
    cbor_decref(&message);
    return good;
}

/* The type is the first entry: tag, map, "type", then a text of 3 or 5 bytes. */
static bool is_type(const unsigned char *bytes, size_t size, const char *type)
{
    const size_t n = strlen(type);
    return size > 10 + n && bytes[9] == 0x60 + n && memcmp(bytes + 10, type, n) == 0;
}

struct tally {
    size_t open, images;
    double bytes, begun, last;
    bool print;
};

static bool take(struct tally *tally, void *socket)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    bool good = zmq_msg_recv(&message, socket, 0) >= 0;
    const size_t size = zmq_msg_size(&message);
    const void *bytes = zmq_msg_data(&message);
    if (good && tally->print)
        good = print_message(bytes, size);
    if (good && is_type(bytes, size, "image")) {
        tally->last = now();
        tally->begun = tally->images ? tally->begun : tally->last;
        tally->images++;
        tally->bytes += (double)size;
    }
    tally->open -= good && is_type(bytes, size, "end");
    zmq_msg_close(&message);
    return good;
}

/* The ends of all sockets, or an exit code of 1. */
static int receive(struct tally *tally, zmq_pollitem_t *items, int count)
{
    while (tally->open) {
        if (zmq_poll(items, count, SILENCE_MS) <= 0) {
            fprintf(stderr, "nothing came for %d ms\n", SILENCE_MS);
            return 1;
        }
        for (int i = 0; i < count; i++)
            if ((items[i].revents & ZMQ_POLLIN) && !take(tally, items[i].socket))
                return 1;
    }
    return 0;
}

int pull(int count, char **urls)
{
    const bool print = strcmp(urls[0], "--count") != 0;
    urls += !print;
    count -= !print;
    if (count < 1 || count > SOCKETS)
        return 1;
    struct tally tally = {.open = (size_t)count, .print = print};
    zmq_pollitem_t items[SOCKETS] = {0};
    const int hwm = 64, linger = 0;
    void *context = zmq_ctx_new();
    zmq_ctx_set(context, ZMQ_IO_THREADS, count);
    int code = 0;
    for (int i = 0; i < count; i++) {
        void *socket = items[i].socket = zmq_socket(context, ZMQ_PULL);
        items[i].events = ZMQ_POLLIN;
        zmq_setsockopt(socket, ZMQ_RCVHWM, &hwm, sizeof(hwm));
        zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
        const bool bind = urls[i][0] == '@';
        if ((bind ? zmq_bind(socket, urls[i] + 1) : zmq_connect(socket, urls[i])) != 0) {
            fprintf(stderr, "%s: %s\n", urls[i], zmq_strerror(zmq_errno()));
            code = 1;
        }
    }
    if (code == 0)
        code = receive(&tally, items, count);
    const double seconds = tally.last - tally.begun;
    if (!print)
        printf("%zu images, %.3f s, %.1f images/s, %.1f MB/s\n", tally.images, seconds,
               seconds > 0 ? (double)(tally.images - 1) / seconds : 0,
               seconds > 0 ? 1e-6 * tally.bytes / seconds : 0);
    for (int i = 0; i < count; i++)
        zmq_close(items[i].socket);
    zmq_ctx_term(context);
    return code;
}
