#include "hostile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zmtp.h"

enum { SENDERS_MAX = 1000, STACK = 256 << 10, ROOM = 1 << 16, KINDS = 10 };
#define ANOTHER (UINT64_C(1) << 40) /* a series that is not the detector's, which would fail it */

static const char *const kinds[KINDS] = {"noise",
                                         "half a greeting",
                                         "noise in parts",
                                         "parts without end",
                                         "unfinished messages",
                                         "strange starts",
                                         "forged images",
                                         "ends",
                                         "commands",
                                         "come and go"};

struct sender {
    pthread_t thread;
    uint64_t state; /* of its random numbers */
    char source[32];
    uint16_t port;
    unsigned char room[ROOM];
};

static atomic_uint done[KINDS];
static time_t until;

/* xorshift64* */
static uint64_t draw(struct sender *s, uint64_t below)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return (s->state * UINT64_C(2685821657736338717) >> 16) % below;
}

static void draw_bytes(struct sender *s, size_t size)
{
    for (size_t i = 0; i < size; i++)
        s->room[i] = (unsigned char)draw(s, 256);
}

static bool send_message(struct sender *s, int fd, size_t size, bool more)
{
    return zmtp_head(fd, size, more) && zmtp_send(fd, s->room, size);
}

/* CBOR: the head of an item, a text, an entry of a map whose value is a number. */
static size_t put_head(unsigned char *at, unsigned major, uint64_t value)
{
    at[0] = (unsigned char)(major << 5 | 27);
    for (int i = 0; i < 8; i++)
        at[1 + i] = (unsigned char)(value >> (56 - 8 * i));
    return 9;
}

static size_t put_text(unsigned char *at, const char *text)
{
    const size_t n = strlen(text), head = put_head(at, 3, n);
    memcpy(at + head, text, n);
    return head + n;
}

static size_t put_count(unsigned char *at, const char *key, uint64_t value)
{
    const size_t n = put_text(at, key);
    return n + put_head(at + n, 0, value);
}

/* Mostly as numbers of detectors are, at times anything. */
static uint64_t draw_number(struct sender *s)
{
    static const uint64_t odd[] = {0, 1, 255, 1 << 20, 1u << 31, UINT64_MAX, INT64_MAX, 1 << 28};
    return draw(s, 3) ? draw(s, 3000) : odd[draw(s, sizeof(odd) / sizeof(odd[0]))];
}

static const char *draw_text(struct sender *s)
{
    static const char *const texts[] = {"../../escape",   "/tmp/escape", "\033]0;x\a", "a\nb\r\n",
                                        "`touch escape`", "%s%n",        "",           "{series}"};
    return texts[draw(s, sizeof(texts) / sizeof(texts[0]))];
}

static size_t begin(unsigned char *at, size_t keys, const char *type, uint64_t series)
{
    size_t n = put_head(at, 5, keys);
    n += put_text(at + n, "type");
    n += put_text(at + n, type);
    return n + put_count(at + n, "series_id", series);
}

static size_t make_start(struct sender *s)
{
    static const char *const texts[] = {"series_unique_id", "arm_date", "detector_description",
                                        "image_dtype", "user_data"};
    unsigned char *at = s->room;
    size_t n = begin(at, 10, "start", ANOTHER + draw(s, 1000));
    n += put_count(at + n, "image_size_x", draw_number(s));
    n += put_count(at + n, "image_size_y", draw_number(s));
    n += put_count(at + n, "number_of_images", draw_number(s));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        n += put_text(at + n, texts[i]);
        n += put_text(at + n, i == 3 && draw(s, 2) ? "uint32" : draw_text(s));
    }
    return n;
}

static size_t make_image(struct sender *s)
{
    unsigned char *at = s->room;
    const size_t height = 1 + draw(s, 64), width = 1 + draw(s, 64), size = 4 * height * width;
    size_t n = begin(at, 4, "image", draw(s, 2) ? 1 : draw_number(s));
    n += put_count(at + n, "image_id", draw(s, 2) ? draw(s, 100) : draw_number(s));
    n += put_text(at + n, "data");
    n += put_head(at + n, 5, 1);
    n += put_text(at + n, draw(s, 2) ? "threshold_1" : draw_text(s));
    n += put_head(at + n, 6, 40);
    n += put_head(at + n, 4, 2);
    n += put_head(at + n, 4, 2);
    n += put_head(at + n, 0, draw(s, 8) ? height : draw_number(s));
    n += put_head(at + n, 0, width);
    n += put_head(at + n, 6, 70);
    n += put_head(at + n, 2, size);
    memset(at + n, 0x7f, size);
    return n + size;
}

/* Some bytes of a sound message are changed, or its end is missing. */
static size_t damage(struct sender *s, size_t size)
{
    for (uint64_t i = draw(s, 4); i > 0; i--)
        s->room[draw(s, size)] = (unsigned char)draw(s, 256);
    return draw(s, 4) ? size : draw(s, size + 1);
}

static void send_unfinished(struct sender *s, int fd)
{
    const uint64_t size = draw(s, 4) ? 1 + draw(s, 32 << 20) : draw_number(s);
    bool good = zmtp_head(fd, size, draw(s, 2));
    for (uint64_t sent = 0; good && sent + ROOM < size && draw(s, 1000) && time(NULL) < until;
         sent += ROOM)
        good = zmtp_send(fd, s->room, ROOM);
}

static void send_parts(struct sender *s, int fd)
{
    bool good = true;
    while (good && draw(s, 2000) && time(NULL) < until)
        good = send_message(s, fd, draw(s, ROOM), true);
}

static void send_several(struct sender *s, int fd, int kind)
{
    bool good = true;
    for (uint64_t i = draw(s, 20); good && i > 0; i--) {
        size_t size = draw(s, ROOM);
        if (kind == 5)
            size = make_start(s);
        else if (kind == 6)
            size = make_image(s);
        else if (kind == 7)
            size = begin(s->room, 2, "end", draw(s, 2) ? 1 : draw_number(s));
        else
            draw_bytes(s, size % 4096);
        good = send_message(s, fd, kind == 2 ? size : damage(s, size), kind == 2 && draw(s, 2));
    }
}

static void send_commands(struct sender *s, int fd)
{
    static const char *const names[] = {"\004PING",  "\004PONG",      "\005READY",
                                        "\005ERROR", "\011SUBSCRIBE", "\005HELLO"};
    bool good = true;
    for (uint64_t i = draw(s, 50); good && i > 0; i--) {
        const char *name = names[draw(s, sizeof(names) / sizeof(names[0]))];
        const size_t n = strlen(name), size = n + draw(s, 200 - n);
        draw_bytes(s, size);
        memcpy(s->room, name, n);
        const unsigned char head[2] = {4, (unsigned char)size};
        good = zmtp_send(fd, head, 2) && zmtp_send(fd, s->room, size);
    }
}

static void act(struct sender *s, int kind)
{
    const int fd = zmtp_connect(s->source, s->port, 2);
    if (fd < 0)
        return;
    if (kind == 0) {
        draw_bytes(s, 4096);
        (void)zmtp_send(fd, s->room, draw(s, 4096));
    } else if (kind == 1) {
        static const unsigned char greeting[16] = {0xff, [9] = 0x7f, 3};
        (void)zmtp_send(fd, greeting, draw(s, sizeof(greeting)));
    } else if (kind < KINDS - 1 && zmtp_greet(fd)) {
        if (kind == 3)
            send_parts(s, fd);
        else if (kind == 4)
            send_unfinished(s, fd);
        else if (kind == 8)
            send_commands(s, fd);
        else
            send_several(s, fd, kind);
    }
    if (kind == 3 || kind == 4 || draw(s, 2)) /* what is not finished is to stay a while */
        usleep((useconds_t)draw(s, kind == 3 || kind == 4 ? 1500000 : 200000));
    close(fd);
    atomic_fetch_add(&done[kind], 1);
}

static void *attack(void *user)
{
    struct sender *s = user;
    while (time(NULL) < until)
        act(s, (int)draw(s, KINDS));
    return NULL;
}

int hostile(int count, char **arguments)
{
    const size_t senders = count == 4 ? strtoul(arguments[1], NULL, 10) : 0;
    if (senders == 0 || senders > SENDERS_MAX)
        return 1;
    struct sender *all = calloc(senders, sizeof(*all));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    until = time(NULL) + strtol(arguments[2], NULL, 10);
    size_t started = 0;
    for (; all && started < senders; started++) {
        struct sender *s = &all[started];
        s->state = 1 + strtoull(arguments[3], NULL, 10) * SENDERS_MAX + started;
        s->port = (uint16_t)strtoul(arguments[0], NULL, 10);
        snprintf(s->source, sizeof(s->source), "127.0.%u.%u", (unsigned)(started / 250),
                 (unsigned)(2 + started % 250));
        if (pthread_create(&s->thread, &small, attack, s) != 0)
            break;
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(all[i].thread, NULL);
    for (int i = 0; i < KINDS; i++)
        printf("%s: %u\n", kinds[i], atomic_load(&done[i]));
    free(all);
    return started != senders;
}
