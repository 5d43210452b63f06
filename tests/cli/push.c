#include "push.h"

#include <cbor.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { PATIENCE_MS = 60000, STEP_MS = 20, WORDS = 8 };

struct detector {
    void *socket;
    size_t pixels, height, width;
    uint64_t series, next; /* of the last start; image */
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
}

static void add(cbor_item_t *map, const char *key, cbor_item_t *value)
{
    (void)cbor_map_add(map, (struct cbor_pair){.key = cbor_move(cbor_build_string(key)),
                                               .value = cbor_move(value)});
}

static cbor_item_t *begin(const char *type, uint64_t series)
{
    cbor_item_t *map = cbor_new_definite_map(WORDS);
    add(map, "type", cbor_build_string(type));
    add(map, "series_id", cbor_build_uint64(series));
    return map;
}

/* All pixels have one value. */
static cbor_item_t *make_image_of(const struct detector *d, uint64_t series, uint64_t id, int value,
                                  const char *channel)
{
    cbor_item_t *map = begin("image", series), *data = cbor_new_definite_map(1),
                *array = cbor_new_definite_array(2), *shape = cbor_new_definite_array(2);
    unsigned char *pixels = malloc(2 * d->pixels);
    memset(pixels, value, 2 * d->pixels);
    (void)cbor_array_push(shape, cbor_move(cbor_build_uint32((uint32_t)d->height)));
    (void)cbor_array_push(shape, cbor_move(cbor_build_uint32((uint32_t)d->width)));
    (void)cbor_array_push(array, cbor_move(shape));
    (void)cbor_array_push(array, cbor_move(cbor_build_tag(
                                     69, cbor_move(cbor_build_bytestring(pixels, 2 * d->pixels)))));
    free(pixels);
    add(data, channel, cbor_build_tag(40, cbor_move(array)));
    add(map, "image_id", cbor_build_uint64(id));
    add(map, "data", data);
    return map;
}

static cbor_item_t *make_image(const struct detector *d, uint64_t series, uint64_t id, int value)
{
    return make_image_of(d, series, id, value, "threshold_1");
}

/* The last `cut` bytes are left out. */
static bool send_map(const struct detector *d, cbor_item_t *map, size_t cut)
{
    unsigned char *bytes = NULL;
    size_t room = 0;
    const size_t size = cbor_serialize_alloc(map, &bytes, &room);
    cbor_decref(&map);
    const bool sent = size > cut && zmq_send(d->socket, bytes, size - cut, 0) >= 0;
    free(bytes);
    if (!sent)
        fprintf(stderr, "helper: nobody takes a message\n");
    return sent;
}

static bool send_start(struct detector *d, char *const words[WORDS])
{
    cbor_item_t *map = begin("start", d->series);
    add(map, "image_size_y", cbor_build_uint64(d->height));
    add(map, "image_size_x", cbor_build_uint64(d->width));
    add(map, "image_dtype", cbor_build_string("uint16"));
    add(map, "number_of_images", cbor_build_uint64(strtoull(words[4], NULL, 10)));
    if (words[5])
        add(map, "detector_description", cbor_build_string(words[5]));
    return send_map(d, map, 0);
}

/* A series of one image of the size of the last one; its texts are all the same. */
static bool send_named(struct detector *d, uint64_t series, const char *text)
{
    static const char *const keys[] = {"series_unique_id",     "arm_date",
                                       "detector_description", "detector_serial_number",
                                       "sensor_material",      "user_data"};
    const size_t texts = sizeof(keys) / sizeof(keys[0]);
    cbor_item_t *maps[3] = {cbor_new_definite_map(WORDS + texts), NULL, begin("end", series)},
                *channels = cbor_new_definite_array(1);
    add(maps[0], "type", cbor_build_string("start"));
    add(maps[0], "series_id", cbor_build_uint64(series));
    for (size_t i = 0; i < texts; i++)
        add(maps[0], keys[i], cbor_build_string(text));
    add(maps[0], "image_size_y", cbor_build_uint64(d->height));
    add(maps[0], "image_size_x", cbor_build_uint64(d->width));
    add(maps[0], "image_dtype", cbor_build_string("uint16"));
    add(maps[0], "number_of_images", cbor_build_uint64(1));
    (void)cbor_array_push(channels, cbor_move(cbor_build_string(text)));
    add(maps[0], "channels", channels);
    maps[1] = make_image_of(d, series, 0, 1, text);
    add(maps[1], "series_unique_id", cbor_build_string(text));
    add(maps[2], "series_unique_id", cbor_build_string(text));
    bool good = true;
    for (size_t i = 0; i < 3; i++)
        good = send_map(d, maps[i], 0) && good;
    return good;
}

/* As it is, such as a message of Stream V1. */
static bool send_file(const struct detector *d, const char *path)
{
    char bytes[4096];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    return size > 0 && zmq_send(d->socket, bytes, size, 0) >= 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Wait for a file, with or without images of the series meanwhile. */
static bool await(struct detector *d, const char *path, bool images)
{
    for (int waited = 0; !is_there(path); waited += STEP_MS) {
        if (waited > PATIENCE_MS) {
            fprintf(stderr, "helper: %s did not come\n", path);
            return false;
        }
        if (images && !send_map(d, make_image(d, d->series, d->next++, 0), 0))
            return false;
        nap();
    }
    return true;
}

static bool act(struct detector *d, char *const words[WORDS])
{
    const char *verb = words[0];
    const uint64_t series = words[1] ? strtoull(words[1], NULL, 10) : 0,
                   id = words[2] ? strtoull(words[2], NULL, 10) : 0;
    if (strcmp(verb, "until") == 0 || strcmp(verb, "await") == 0)
        return await(d, words[1], verb[0] == 'u');
    if (strcmp(verb, "end") == 0)
        return send_map(d, begin("end", series), 0);
    if (strcmp(verb, "image") == 0)
        return send_map(d, make_image(d, series, id, 0), 0);
    if (strcmp(verb, "other") == 0)
        return send_map(d, make_image(d, series, id, 1), 0);
    if (strcmp(verb, "named") == 0)
        return send_named(d, series, words[2] ? words[2] : "");
    if (strcmp(verb, "file") == 0)
        return send_file(d, words[1]);
    if (strcmp(verb, "broken") == 0)
        return send_map(d, make_image(d, series, id, 0), 9);
    d->series = series;
    d->next = 0;
    d->height = id;
    d->width = strtoul(words[3], NULL, 10);
    d->pixels = d->height * d->width;
    return send_start(d, words);
}

int push(int count, char **arguments)
{
    const int patience = PATIENCE_MS, immediate = 1;
    void *context = zmq_ctx_new();
    struct detector d = {
        .socket = zmq_socket(context, ZMQ_PUSH), .height = 8, .width = 8, .pixels = 64};
    (void)zmq_setsockopt(d.socket, ZMQ_SNDTIMEO, &patience, sizeof(patience));
    (void)zmq_setsockopt(d.socket, ZMQ_LINGER, &patience, sizeof(patience));
    (void)zmq_setsockopt(d.socket, ZMQ_IMMEDIATE, &immediate, sizeof(immediate));
    bool good = count > 1 && zmq_bind(d.socket, arguments[0]) == 0;
    for (int i = 1; i < count && good; i++) {
        char *words[WORDS] = {NULL}, *rest = NULL;
        size_t n = 0;
        for (char *w = strtok_r(arguments[i], ",", &rest); w && n < WORDS - 1;
             w = strtok_r(NULL, ",", &rest))
            words[n++] = w;
        good = act(&d, words);
    }
    zmq_close(d.socket);
    zmq_ctx_term(context);
    return !good;
}

/* The value of a key, or NULL. */
static const cbor_item_t *find(const cbor_item_t *map, const char *key)
{
    const struct cbor_pair *pairs = cbor_map_handle(map);
    for (size_t i = 0; i < cbor_map_size(map); i++)
        if (cbor_string_length(pairs[i].key) == strlen(key) &&
            memcmp(cbor_string_handle(pairs[i].key), key, strlen(key)) == 0)
            return pairs[i].value;
    return NULL;
}

static void print_end(const cbor_item_t *map)
{
    const cbor_item_t *message = find(map, "message");
    printf("end of %" PRIu64 ", status %" PRIu64 "%s%.*s\n", cbor_get_int(find(map, "series_id")),
           cbor_get_int(find(map, "status")), message ? ": " : "",
           message ? (int)cbor_string_length(message) : 0,
           message ? (const char *)cbor_string_handle(message) : "");
}

int subscribe(int count, char **arguments)
{
    const int patience = PATIENCE_MS, linger = 0;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    (void)zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    (void)zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    (void)zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    bool good = count == 3 && zmq_connect(socket, arguments[0]) == 0;
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (long ends = good ? strtol(arguments[2], NULL, 10) : 0; good && ends > 0;) {
        struct cbor_load_result result;
        good = zmq_msg_recv(&message, socket, 0) >= 0;
        cbor_item_t *map = good ? cbor_load(zmq_msg_data(&message), zmq_msg_size(&message), &result)
                                : NULL;
        good = map && cbor_isa_map(map);
        FILE *seen = good && !is_there(arguments[1]) ? fopen(arguments[1], "w") : NULL;
        if (seen)
            fclose(seen);
        const cbor_item_t *type = good ? find(map, "type") : NULL;
        if (type && cbor_string_length(type) == 3) {
            print_end(map);
            ends--;
        }
        if (map)
            cbor_decref(&map);
    }
    zmq_msg_close(&message);
    zmq_close(socket);
    zmq_ctx_term(context);
    return !good;
}
