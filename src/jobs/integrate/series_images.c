/* Images of a series on their way to its run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/integrate/series_service.h"

/* The start message says what pixels are like, and the first image how they are compressed. */
airy_status airy_series_first(void *user, const airy_stream_message *m)
{
    struct airy_service *s = user;
    const airy_stream_pixels *pixels;
    if (s->complete)
        return AIRY_OK;
    airy_status status = airy_stream_find_channel(&pixels, &m->image, airy_series_channel(s));
    if (status == AIRY_ERR_NOT_FOUND && s->channels_said)
        return AIRY_ERR_CORRUPT;
    if (status != AIRY_OK)
        return status;
    if (pixels->height != s->it->info.height || pixels->width != s->it->info.width ||
        (s->dtype_said && pixels->dtype != s->source.info.dtype))
        return AIRY_ERR_CORRUPT;
    if (!s->live || pixels->dtype != s->kind.dtype || pixels->codec.codec != s->kind.codec.codec) {
        airy_live_destroy(&s->live); /* what was prepared is not for these; no frame is in it */
        status = airy_series_open_run(s, pixels);
    }
    return status;
}

/* The row of an image; false: `frames` leaves it out. */
static bool find_row(const struct airy_service *s, uint64_t *row, uint64_t image)
{
    const airy_run_params *run = &s->it->run;
    if (s->it->frames == 0) {
        *row = image;
        return true;
    }
    if (image < run->first || image >= run->last || (image - run->first) % run->step)
        return false;
    *row = (image - run->first) / run->step;
    return true;
}

/* One that is left out is counted. */
static bool row_of(struct airy_service *s, uint64_t *row, uint64_t image)
{
    const bool found = find_row(s, row, image);
    if (!found)
        atomic_fetch_add(&s->other, 1);
    return found;
}

/* Elements in the machine's order; malloc'ed. */
static void *swapped(const airy_stream_pixels *pixels)
{
    const size_t elem = airy_dtype_size(pixels->dtype);
    const char *from = pixels->bytes;
    char *to = malloc(pixels->size);
    for (size_t i = 0; to && i < pixels->size; i++)
        to[i] = from[i - i % elem + elem - 1 - i % elem];
    return to;
}

static airy_status lose_within(struct airy_service *s, uint64_t row, const char *why,
                               double timeout)
{
    const airy_status status = airy_live_lose(s->live, row, why, timeout);
    return status == AIRY_ERR_PARAM ? AIRY_OK : status; /* done by a run before */
}

/*
 * Such a row is given up when the series is over: there is no room for it now, and waiting for some
 * would hold up the detector. False: out of memory.
 */
static bool note_dropped(struct airy_service *s, uint64_t row)
{
    pthread_mutex_lock(&s->lock);
    const size_t need = (size_t)row / 8 + 1, size = 2 * s->dropped_size;
    if (need > s->dropped_size) {
        const size_t larger = need > size ? need : size;
        uint8_t *bits = realloc(s->dropped_rows, larger);
        if (bits) {
            memset(bits + s->dropped_size, 0, larger - s->dropped_size);
            s->dropped_rows = bits;
            s->dropped_size = larger;
        }
    }
    const bool room = need <= s->dropped_size;
    if (room)
        s->dropped_rows[row / 8] |= (uint8_t)(1u << row % 8);
    pthread_mutex_unlock(&s->lock);
    if (room)
        atomic_fetch_add(&s->dropped, 1);
    return room;
}

static const char *const DROPPED = "dropped: there was no room for it";

/* Nobody gives frames any more. */
void airy_series_lose_dropped(struct airy_service *s)
{
    airy_status status = AIRY_OK;
    for (size_t row = 0; row < 8 * s->dropped_size && status == AIRY_OK; row++)
        if (s->dropped_rows[row / 8] & 1u << row % 8)
            status = lose_within(s, row, DROPPED, HUGE_VAL);
}

/* A row whose image is of no use; with `drop` it may be given up when the series is over. */
static airy_status lose(struct airy_service *s, uint64_t row, const char *why)
{
    if (!s->v->series.drop)
        return lose_within(s, row, why, HUGE_VAL);
    const airy_status status = lose_within(s, row, why, 0);
    return status != AIRY_ERR_TIMED_OUT ? status
           : note_dropped(s, row)       ? AIRY_OK
                                        : lose_within(s, row, DROPPED, HUGE_VAL);
}

static airy_status put(struct airy_service *s, const airy_live_frame *frame)
{
    const double poll = 0.1; /* s */
    for (;;) {
        const airy_status status = airy_live_put(s->live, frame, s->v->series.drop ? 0 : poll);
        if (status != AIRY_ERR_TIMED_OUT)
            return status;
        if (s->v->series.drop)
            return note_dropped(s, frame->number)
                       ? AIRY_OK
                       : lose_within(s, frame->number, DROPPED, HUGE_VAL);
        if (airy_series_is_cancelled(s))
            return AIRY_ERR_CANCELLED;
    }
}

airy_status airy_series_image(void *user, const airy_stream_message *m, uint64_t received_ns)
{
    struct airy_service *s = user;
    const airy_stream_pixels *pixels;
    uint64_t row;
    if (s->complete || !row_of(s, &row, m->image.id))
        return AIRY_OK;
    if (airy_stream_find_channel(&pixels, &m->image, airy_series_channel(s)) != AIRY_OK)
        return lose(s, row, airy_last_error());
    const bool encoded = pixels->codec.codec != AIRY_CODEC_NONE;
    if (pixels->dtype != s->kind.dtype || pixels->height != s->kind.height ||
        pixels->width != s->kind.width || (encoded && pixels->codec.codec != s->kind.codec.codec))
        return lose(s, row, "its size, type or compression is not that of the series");
    void *native = NULL;
    if (pixels->big_endian && !(native = swapped(pixels)))
        return lose(s, row, "out of memory for its pixels in the machine's order");
    const airy_live_frame frame = {.number = row,
                                   .bytes = native ? native : pixels->bytes,
                                   .size = pixels->size,
                                   .encoded = encoded,
                                   .received_ns = (int64_t)received_ns};
    const airy_status status = put(s, &frame);
    free(native);
    return status;
}

void airy_series_broken(void *user, uint64_t image_id, const char *sentence)
{
    struct airy_service *s = user;
    uint64_t row;
    if (s->live && row_of(s, &row, image_id))
        (void)lose(s, row, sentence);
}

void airy_series_conflict(void *user, uint64_t image_id)
{
    struct airy_service *s = user;
    uint64_t row;
    if (s->live && find_row(s, &row, image_id) && airy_live_spoil(s->live, row) != AIRY_OK)
        atomic_store(&s->unmarked, true);
}
