#include "jobs/integrate/kept_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/live.h"
#include "airy/result.h"
#include "base/memory.h"
#include "base/size.h"

/* What a row says of its frame. */
struct row {
    double total, max, invalid, saturated;
    float *intensity; /* [cells] */
};

/* Buffers of one frame on its way to its sums. */
struct frame_sums {
    airy_queue *queue; /* NULL: not open */
    airy_array *frame, *sums, *stats;
    airy_frame_stats about; /* of the last frame */
    size_t pixels_size, sums_size;
};

struct airy_kept_rows {
    const struct airy_integration *it;
    airy_result *result;
    airy_result_info info;
    size_t cells, group; /* group: frames of a row */
    struct row before, now;
    double *values;               /* [AIRY_SUM_PLANES][cells], of the last frame or group */
    struct frame_sums sums;       /* opened with the first frame that is compared */
    airy_accumulator *group_sums; /* NULL: a row is one frame */
};

/* ---- sums of a frame ---- */

static void close_sums(struct frame_sums *f)
{
    airy_array_destroy(&f->stats);
    airy_array_destroy(&f->sums);
    airy_array_destroy(&f->frame);
    airy_queue_destroy(&f->queue);
}

static airy_status make_sums(struct airy_kept_rows *kept)
{
    const struct airy_integration *it = kept->it;
    struct frame_sums *f = &kept->sums;
    airy_device *device = it->job->device;
    const size_t bins = airy_integrator_bins(it->integrators[0]);
    const size_t frame[3] = {1, it->info.height, it->info.width},
                 sums[3] = {1, AIRY_SUM_PLANES, bins};
    const size_t stats[2] = {1, sizeof(airy_frame_stats)};
    f->pixels_size = frame[1] * frame[2] * airy_dtype_size(it->info.dtype);
    f->sums_size = AIRY_SUM_PLANES * bins * sizeof(double);
    AIRY_TRY(airy_queue_create(&f->queue, device));
    AIRY_TRY(airy_array_create_uninitialized(&f->frame, device, it->info.dtype, 3, frame));
    AIRY_TRY(airy_array_create_uninitialized(&f->sums, device, AIRY_DTYPE_F64, 3, sums));
    AIRY_TRY(airy_array_create_uninitialized(&f->stats, device, AIRY_DTYPE_U8, 2, stats));
    return kept->group > 1
               ? airy_accumulator_create(&kept->group_sums, bins, it->params.error_model)
               : AIRY_OK;
}

static airy_status open_sums(struct airy_kept_rows *kept)
{
    const airy_status status = kept->sums.queue ? AIRY_OK : make_sums(kept);
    if (status != AIRY_OK)
        close_sums(&kept->sums);
    return status;
}

/* Integrate a frame: kept->values and kept->sums.about. */
static airy_status take_frame(struct airy_kept_rows *kept, const void *pixels)
{
    struct frame_sums *f = &kept->sums;
    AIRY_TRY(airy_array_push(f->queue, f->frame, pixels, f->pixels_size));
    AIRY_TRY(airy_integrate(f->queue, f->sums, f->stats, kept->it->integrators[0], f->frame));
    AIRY_TRY(airy_array_pull(f->queue, kept->values, f->sums_size, f->sums));
    AIRY_TRY(airy_array_pull(f->queue, &f->about, sizeof(f->about), f->stats));
    return airy_queue_finish(f->queue);
}

/* ---- rows ---- */

/* Whether the rows of the file are good ones of the integrator's bins. */
static bool open_rows(struct airy_kept_rows *kept, const char *partial)
{
    airy_result_plane plane;
    airy_integrator_info matrix;
    const bool there = airy_result_open(&kept->result, partial) == AIRY_OK &&
                       airy_result_get_info(kept->result, &kept->info) == AIRY_OK &&
                       kept->info.newest != SIZE_MAX &&
                       airy_result_find_plane(kept->result, "result/intensity", &plane) == AIRY_OK;
    kept->cells = there ? plane.cells : 0;
    return there && airy_integrator_get_info(kept->it->integrators[0], &matrix) == AIRY_OK &&
           plane.ndim == (matrix.azimuth_bins ? 2 : 1) &&
           matrix.radial_bins == plane.shape[plane.ndim - 1] &&
           matrix.azimuth_bins == (plane.ndim == 2 ? plane.shape[0] : 0);
}

static airy_status make_room(struct airy_kept_rows *kept)
{
    static const char what[] = "rows";
    AIRY_TRY(
        airy_memory_calloc((void **)&kept->before.intensity, kept->cells, sizeof(float), what));
    AIRY_TRY(airy_memory_calloc((void **)&kept->now.intensity, kept->cells, sizeof(float), what));
    return airy_memory_calloc((void **)&kept->values, kept->cells, AIRY_SUM_PLANES * sizeof(double),
                              what);
}

airy_status airy_kept_rows_open(struct airy_kept_rows **out, const struct airy_integration *it,
                                const char *partial)
{
    struct airy_kept_rows *kept;
    *out = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&kept, 1, sizeof(*kept), "rows"));
    kept->it = it;
    kept->group = airy_max_size(airy_min_size(it->run.group, it->frames), 1);
    const bool fits = open_rows(kept, partial);
    const airy_status status = fits ? make_room(kept) : AIRY_OK;
    if (!fits || status != AIRY_OK)
        airy_kept_rows_close(&kept);
    *out = kept;
    return status;
}

void airy_kept_rows_close(struct airy_kept_rows **pointer)
{
    struct airy_kept_rows *kept = *pointer;
    *pointer = NULL;
    if (!kept)
        return;
    airy_accumulator_destroy(&kept->group_sums);
    close_sums(&kept->sums);
    airy_result_close(&kept->result);
    free(kept->before.intensity);
    free(kept->now.intensity);
    free(kept->values);
    free(kept);
}

bool airy_kept_rows_has(const struct airy_kept_rows *kept, size_t row)
{
    return kept && airy_result_get_row(kept->result, row) == AIRY_ROW_GOOD;
}

static size_t frame_of(const struct airy_kept_rows *kept, size_t row)
{
    return kept->it->run.first + row * kept->group * kept->it->run.step;
}

size_t airy_kept_rows_newest(const struct airy_kept_rows *kept)
{
    return frame_of(kept, kept->info.newest);
}

/* The row of the sums that were taken. */
static airy_status finish_row(struct airy_kept_rows *kept, const airy_frame_stats *stats)
{
    struct row *now = &kept->now;
    now->total = stats->total;
    now->max = stats->max;
    now->invalid = stats->invalid;
    now->saturated = stats->saturated;
    return airy_integrator_finish(kept->it->integrators[0], kept->values, 1, now->intensity, NULL,
                                  NULL);
}

static airy_status read_row(struct airy_kept_rows *kept, size_t row)
{
    static const char *const names[] = {"frame/total", "frame/max", "frame/invalid",
                                        "frame/saturated"};
    struct row *before = &kept->before;
    double *const numbers[] = {&before->total, &before->max, &before->invalid, &before->saturated};
    AIRY_TRY(airy_result_read(kept->result, "result/intensity", row, 1, AIRY_DTYPE_F32,
                              before->intensity, kept->cells * sizeof(float)));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        AIRY_TRY(airy_result_read(kept->result, names[i], row, 1, AIRY_DTYPE_F64, numbers[i],
                                  sizeof(double)));
    return AIRY_OK;
}

/* Sums of floats depend on how they were made, those near 0 by what each of them adds. */
static bool same_numbers(const struct row *a, const struct row *b, double pixels)
{
    const double slack = 1e-9 * fabs(a->total) + 1e-12 * fabs(a->max) * pixels;
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

/* What is in kept->now beside the row of the file. */
static airy_status compare_row(struct airy_kept_rows *kept, size_t row, size_t frames, bool *same)
{
    const airy_stack_info *info = &kept->it->info;
    const double pixels = (double)info->height * (double)info->width * (double)frames;
    AIRY_TRY(read_row(kept, row));
    /* A factor of a monitor is no part of the frame. */
    *same = same_numbers(&kept->before, &kept->now, pixels) &&
            (kept->it->monitor || same_intensity(&kept->before, &kept->now, kept->cells));
    return AIRY_OK;
}

airy_status airy_kept_rows_compare(struct airy_kept_rows *kept, size_t row, const void *pixels,
                                   bool *same)
{
    *same = false;
    AIRY_TRY(open_sums(kept));
    AIRY_TRY(take_frame(kept, pixels));
    if (kept->sums.about.status != AIRY_FRAME_GOOD)
        return AIRY_OK;
    AIRY_TRY(finish_row(kept, &kept->sums.about));
    return compare_row(kept, row, 1, same);
}

/* One frame of a group into its sums. */
static airy_status add_frame(struct airy_kept_rows *kept, const airy_stack *stack, size_t frame,
                             void *pixels)
{
    const double monitor = kept->it->monitor ? kept->it->monitor[frame] : 1;
    if (!airy_monitor_is_usable(monitor))
        return AIRY_OK;
    AIRY_TRY(airy_stack_read(stack, frame, pixels, kept->sums.pixels_size));
    AIRY_TRY(take_frame(kept, pixels));
    return kept->sums.about.status == AIRY_FRAME_GOOD
               ? airy_accumulator_add(kept->group_sums, kept->values, &kept->sums.about, monitor)
               : AIRY_OK;
}

/*
 * The frames of a row of several. Those that cannot be read were no part of it, or the row is another
 * one: other->why says what the first of them lacks.
 */
static airy_status compare_group(struct airy_kept_rows *kept, const airy_stack *stack, size_t row,
                                 void *pixels, bool *same, struct airy_kept_other *other)
{
    const struct airy_integration *it = kept->it;
    const size_t first = row * kept->group, last = airy_min_size(first + kept->group, it->frames);
    airy_frame_stats stats;
    other->why[0] = '\0';
    AIRY_TRY(open_sums(kept));
    airy_accumulator_clear(kept->group_sums);
    for (size_t i = first; i < last; i++) {
        /* One step: no bar is shown of it. */
        AIRY_FAIL_IF(!airy_job_step(it->job, 0, 1), AIRY_ERR_CANCELLED, "cancelled");
        const airy_status status = add_frame(kept, stack, it->run.first + i * it->run.step, pixels);
        if (airy_status_is_of_frame(status) && !other->why[0])
            snprintf(other->why, sizeof(other->why), "%s", airy_last_error());
        AIRY_TRY(airy_status_is_of_frame(status) ? AIRY_OK : status);
    }
    AIRY_TRY(airy_accumulator_get(kept->group_sums, it->run.merge, kept->values, &stats));
    AIRY_TRY(finish_row(kept, &stats));
    return compare_row(kept, row, last - first, same);
}

/* Compare one row; where it differs, other says where its first frame lies. */
static airy_status check_row(struct airy_kept_rows *kept, const airy_stack *stack, size_t row,
                             void *pixels, struct airy_kept_other *other)
{
    const airy_stack_info *info = &kept->it->info;
    const size_t frame = frame_of(kept, row),
                 size = info->height * info->width * airy_dtype_size(info->dtype);
    airy_stack_place place = {0};
    bool same = true;
    if (kept->group > 1) {
        AIRY_TRY(compare_group(kept, stack, row, pixels, &same, other));
    } else {
        AIRY_TRY(airy_stack_read(stack, frame, pixels, size));
        AIRY_TRY(airy_kept_rows_compare(kept, row, pixels, &same));
    }
    if (same)
        return AIRY_OK;
    const bool placed = airy_stack_get_place(stack, frame, &place) == AIRY_OK && place.path;
    other->found = true;
    other->frame = frame;
    snprintf(other->path, sizeof(other->path), "%s",
             placed ? place.path : airy_integration_name(kept->it));
    return AIRY_OK;
}

airy_status airy_kept_rows_check(struct airy_kept_rows *kept, const airy_stack *stack, void *pixels,
                                 struct airy_kept_other *other)
{
    enum { BETWEEN = 16, FRAMES = 1000 };
    char last[4200] = "";
    airy_stack_info info;
    *other = (struct airy_kept_other){.found = false};
    AIRY_TRY(airy_stack_get_info(stack, &info));
    AIRY_TRY(check_row(kept, stack, kept->info.newest, pixels, other));
    const size_t rows = FRAMES / kept->group, between = airy_min_size(rows, BETWEEN);
    const bool by_file = info.files > 1 && info.files <= rows;
    size_t next = 0;
    for (size_t row = 0; row < kept->info.newest && !other->found; row++) {
        airy_stack_place place = {0};
        if (!airy_kept_rows_has(kept, row))
            continue;
        if (by_file)
            AIRY_TRY(airy_stack_get_place(stack, frame_of(kept, row), &place));
        const bool begins = place.path && strcmp(place.path, last) != 0;
        if (!begins && row < next)
            continue;
        snprintf(last, sizeof(last), "%s", place.path ? place.path : "");
        next = row < next ? next : between ? row + kept->info.newest / between + 1 : SIZE_MAX;
        AIRY_TRY(check_row(kept, stack, row, pixels, other));
    }
    return AIRY_OK;
}
