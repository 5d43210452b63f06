#include "integrate/kept_rows.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "airy/live.h"
#include "airy/watch.h"

/* What a row says of its frame. */
struct row {
    double total, max, invalid, saturated;
    float *intensity; /* [cells] */
};

struct kept_rows {
    const struct integration *job;
    airy_watch *watch;
    airy_watch_info info;
    size_t cells;
    struct row before, now;
    /* What integrates frames again, from the first that is compared on: */
    airy_live *live;
    uint64_t given;
    pthread_mutex_t lock; /* of now and of: */
    bool good;
};

struct kept_rows *kept_rows_open(const struct integration *job, const char *partial)
{
    struct kept_rows *kept = calloc(1, sizeof(*kept));
    if (!kept)
        return NULL;
    kept->job = job;
    pthread_mutex_init(&kept->lock, NULL);
    const bool there = airy_watch_open(&kept->watch, partial) == AIRY_OK &&
                       airy_watch_get_info(kept->watch, &kept->info) == AIRY_OK &&
                       kept->info.newest != SIZE_MAX;
    kept->cells = kept->info.bins * (kept->info.azimuth_bins ? kept->info.azimuth_bins : 1);
    airy_integrator_info matrix;
    const bool fits = there && airy_integrator_get_info(job->integrator, &matrix) == AIRY_OK &&
                      matrix.radial_bins == kept->info.bins &&
                      matrix.azimuth_bins == kept->info.azimuth_bins;
    if (fits) {
        kept->before.intensity = calloc(kept->cells, sizeof(float));
        kept->now.intensity = calloc(kept->cells, sizeof(float));
    }
    if (!kept->before.intensity || !kept->now.intensity)
        kept_rows_close(&kept);
    return kept;
}

void kept_rows_close(struct kept_rows **pointer)
{
    struct kept_rows *kept = *pointer;
    *pointer = NULL;
    if (!kept)
        return;
    airy_live_destroy(&kept->live);
    airy_watch_close(&kept->watch);
    pthread_mutex_destroy(&kept->lock);
    free(kept->before.intensity);
    free(kept->now.intensity);
    free(kept);
}

bool kept_rows_has(const struct kept_rows *kept, size_t row)
{
    return kept && airy_watch_is_good(kept->watch, row);
}

static size_t frame_of(const struct kept_rows *kept, size_t row)
{
    return kept->job->run.first + row * kept->job->run.step;
}

size_t kept_rows_newest(const struct kept_rows *kept)
{
    return frame_of(kept, kept->info.newest);
}

static void note_row(void *user, const airy_live_pattern *pattern)
{
    struct kept_rows *kept = user;
    const airy_frame_stats *stats = &pattern->stats;
    pthread_mutex_lock(&kept->lock);
    kept->good = pattern->status == AIRY_OK;
    kept->now.total = stats->total;
    kept->now.max = stats->max;
    kept->now.invalid = stats->invalid;
    kept->now.saturated = stats->saturated;
    if (kept->good)
        memcpy(kept->now.intensity, pattern->intensity, kept->cells * sizeof(float));
    pthread_mutex_unlock(&kept->lock);
}

static airy_status open_live(struct kept_rows *kept)
{
    const struct integration *job = kept->job;
    const airy_live_params params = {.height = job->info.height,
                                     .width = job->info.width,
                                     .dtype = job->info.dtype,
                                     .run = {.batch = 1},
                                     .pattern = note_row,
                                     .user = kept};
    return kept->live ? AIRY_OK
                      : airy_live_create(&kept->live, NULL, job->team.integrators, 1, &params);
}

/* One frame, to its end. */
static airy_status integrate(struct kept_rows *kept, const void *pixels)
{
    const struct timespec pause = {.tv_nsec = 50000};
    const airy_stack_info *info = &kept->job->info;
    airy_status status = open_live(kept);
    const airy_live_frame frame = {.number = kept->given++,
                                   .bytes = pixels,
                                   .size = info->height * info->width *
                                           airy_dtype_size(info->dtype)};
    airy_live_info live = {0};
    if (status == AIRY_OK)
        status = airy_live_put(kept->live, &frame, HUGE_VAL);
    while (status == AIRY_OK && live.done < kept->given && !tool_interrupted()) {
        airy_live_get_info(kept->live, &live);
        if (live.done < kept->given)
            nanosleep(&pause, NULL);
    }
    return status == AIRY_OK && live.done < kept->given ? AIRY_ERR_STOPPED : status;
}

static airy_status read_row(struct kept_rows *kept, size_t row)
{
    static const char *const names[] = {"total", "max", "invalid", "saturated"};
    struct row *before = &kept->before;
    double *const numbers[] = {&before->total, &before->max, &before->invalid, &before->saturated};
    airy_status status = airy_watch_read(kept->watch, row, before->intensity);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == AIRY_OK; i++)
        status = airy_watch_number(kept->watch, names[i], row, numbers[i]);
    return status;
}

/* Sums of floats depend on how they were made, those near 0 by what each of them adds. */
static bool same_numbers(const struct row *a, const struct row *b, size_t pixels)
{
    const double slack = 1e-9 * fabs(a->total) + 1e-12 * fabs(a->max) * (double)pixels;
    return fabs(a->total - b->total) <= slack && a->max == b->max && a->invalid == b->invalid &&
           a->saturated == b->saturated;
}

/*
 * 168 roundings of a float32 of the bin itself, 17 of the largest bin, and 7 of the largest pixel, from
 * which a dark image may have been subtracted.
 */
static bool same_intensity(const struct row *a, const struct row *b, size_t cells)
{
    double largest = 0.4 * fabs(a->max);
    bool same = true;
    for (size_t i = 0; i < cells; i++)
        largest = isfinite(a->intensity[i]) ? fmax(largest, fabs((double)a->intensity[i]))
                                            : largest;
    for (size_t i = 0; i < cells && same; i++) {
        const double x = (double)a->intensity[i], y = (double)b->intensity[i];
        same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-5 * fabs(x) + 1e-6 * largest;
    }
    return same;
}

airy_status kept_rows_compare(struct kept_rows *kept, size_t row, const void *pixels, bool *same)
{
    const airy_stack_info *info = &kept->job->info;
    airy_status status = read_row(kept, row);
    if (status == AIRY_OK)
        status = integrate(kept, pixels);
    if (status != AIRY_OK)
        return status;
    pthread_mutex_lock(&kept->lock);
    /* A factor of a monitor is no part of the frame. */
    *same = kept->good && same_numbers(&kept->before, &kept->now, info->height * info->width) &&
            (kept->job->monitor || same_intensity(&kept->before, &kept->now, kept->cells));
    pthread_mutex_unlock(&kept->lock);
    return AIRY_OK;
}

/* Compare one frame; where it differs, other says where it lies. */
static airy_status check_frame(struct kept_rows *kept, const airy_stack *stack, size_t row,
                               void *pixels, struct kept_other *other)
{
    const airy_stack_info *info = &kept->job->info;
    const size_t frame = frame_of(kept, row),
                 size = info->height * info->width * airy_dtype_size(info->dtype);
    airy_stack_place place = {0};
    bool same = true;
    airy_status status = airy_stack_read(stack, frame, pixels, size);
    if (status == AIRY_OK)
        status = kept_rows_compare(kept, row, pixels, &same);
    if (status != AIRY_OK || same)
        return status;
    const bool placed = airy_stack_get_place(stack, frame, &place) == AIRY_OK && place.path;
    other->found = true;
    other->frame = frame;
    snprintf(other->path, sizeof(other->path), "%s",
             placed ? place.path : kept->job->common->inputs.items[0]);
    return AIRY_OK;
}

airy_status kept_rows_check(struct kept_rows *kept, const airy_stack *stack, void *pixels,
                            struct kept_other *other)
{
    enum { BETWEEN = 16, FILES = 1000 };
    char last[4200] = "";
    airy_stack_info info;
    *other = (struct kept_other){.found = false};
    airy_status status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = check_frame(kept, stack, kept->info.newest, pixels, other);
    size_t next = 0;
    for (size_t row = 0; row < kept->info.newest && status == AIRY_OK && !other->found; row++) {
        airy_stack_place place = {0};
        if (!kept_rows_has(kept, row))
            continue;
        if (info.files > 1 && info.files <= FILES)
            status = airy_stack_get_place(stack, frame_of(kept, row), &place);
        const bool begins = place.path && strcmp(place.path, last) != 0;
        if (status != AIRY_OK || !(begins || row >= next))
            continue;
        snprintf(last, sizeof(last), "%s", place.path ? place.path : "");
        next = row >= next ? row + kept->info.newest / BETWEEN + 1 : next;
        status = check_frame(kept, stack, row, pixels, other);
    }
    return status;
}
