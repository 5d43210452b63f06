#include "io/file/writeback.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { PIECE = 8 << 20, WAITING = 64 };

struct range {
    uint64_t from, to;
};

struct airy_writeback {
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct range waiting[WAITING]; /* a ring */
    unsigned first, count;
    bool started, refused, stop;
};

static void *write_back(void *arg)
{
    airy_writeback *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (w->count == 0) {
            pthread_cond_wait(&w->more, &w->lock);
            continue;
        }
        const struct range range = w->waiting[w->first];
        w->first = (w->first + 1) % WAITING;
        w->count--;
        pthread_mutex_unlock(&w->lock);
        (void)sync_file_range(w->fd, (off_t)range.from, (off_t)(range.to - range.from),
                              SYNC_FILE_RANGE_WRITE);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

airy_writeback *airy_writeback_start(int fd)
{
    airy_writeback *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->fd = fd;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    return w;
}

void airy_writeback_add(airy_writeback *w, uint64_t from, uint64_t to)
{
    const struct range range = {from / PIECE * PIECE, to / PIECE * PIECE};
    if (!w || range.from >= range.to)
        return;
    pthread_mutex_lock(&w->lock);
    if (!w->started && !w->refused) {
        w->started = pthread_create(&w->thread, NULL, write_back, w) == 0;
        w->refused = !w->started;
    }
    if (w->started && w->count < WAITING)
        w->waiting[(w->first + w->count++) % WAITING] = range;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

void airy_writeback_stop(airy_writeback **writeback)
{
    airy_writeback *w = *writeback;
    *writeback = NULL;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
    if (w->started)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
