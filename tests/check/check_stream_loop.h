/* Series over loopback: sockets that send as a detector does, and what the receiver hands on. */
#ifndef AIRY_TESTS_CHECK_STREAM_LOOP_H
#define AIRY_TESTS_CHECK_STREAM_LOOP_H

#include <pthread.h>
#include <time.h>

#include "airy/stream.h"
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
    airy_hint hint;                /* the last one */
    size_t conflicts;              /* calls */
    size_t reject;                 /* first images that are refused */
    size_t fail_start, fail_image; /* of the series of this number, from 1 */
    bool stop, say_waits;          /* for an image that comes meanwhile */
    double grace, timeout, idle;   /* s */
    time_t until;                  /* none takes so long */
    pthread_mutex_t lock;
};

bool loop_open(struct loop *l, struct check *c, size_t count);
void loop_close(struct loop *l);
void loop_send(struct loop *l, size_t socket, const struct message *m);
void loop_send_start(struct loop *l, size_t socket, uint64_t series, uint64_t images);
void loop_send_image(struct loop *l, size_t socket, uint64_t series, uint64_t id);
void loop_send_end(struct loop *l, size_t socket, uint64_t series);
/* Send a series from its start to its end, each image once. */
void loop_send_series(struct loop *l, size_t socket, uint64_t series, uint64_t images);
airy_status loop_serve(struct loop *l);
/* Images [0, count) came once each, but for one (SIZE_MAX: none) that did not. */
void loop_check_images(const struct loop *l, size_t series, size_t count, size_t but);
/* Wait until so many images of the first series came. */
void loop_await_images(struct loop *l, size_t count);

#endif
