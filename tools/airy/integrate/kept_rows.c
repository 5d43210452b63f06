#include "integrate/kept_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/frame_sums.h"

#include "airy/live.h"
#include "airy/result.h"

/* What a row says of its frame. */
struct row {
    double total, max, invalid, saturated;
    float *intensity; /* [cells] */
};

struct kept_rows {
    const struct integration *job;
    airy_result *result;
    airy_result_info info;
    size_t cells, group; /* group: frames of a row */
    struct row before, now;
    double *values;               /* [AIRY_SUM_PLANES][cells] */
    struct frame_sums sums;       /* opened with the first frame that is compared */
    airy_accumulator *group_sums; /* NULL: a row is one frame */
};

struct kept_rows *kept_rows_open(const struct integration *job, const char *partial)
{
    struct kept_rows *kept = calloc(1, sizeof(*kept));
    if (!kept)
        return NULL;
    kept->job = job;
    kept->group = job->run.group <= 1            ? 1
                  : job->run.group > job->frames ? job->frames
                                                 : job->run.group;
    airy_result_plane plane;
    const bool there = airy_result_open(&kept->result, partial) == AIRY_OK &&
                       airy_result_get_info(kept->result, &kept->info) == AIRY_OK &&
                       kept->info.newest != SIZE_MAX &&
                       airy_result_find_plane(kept->result, "result/intensity", &plane) == AIRY_OK;
    kept->cells = there ? plane.cells : 0;
    airy_integrator_info matrix;
    const bool fits = there && airy_integrator_get_info(job->integrator, &matrix) == AIRY_OK &&
                      plane.ndim == (matrix.azimuth_bins ? 2 : 1) &&
                      matrix.radial_bins == plane.shape[plane.ndim - 1] &&
                      matrix.azimuth_bins == (plane.ndim == 2 ? plane.shape[0] : 0);
    if (fits) {
        kept->before.intensity = calloc(kept->cells, sizeof(float));
        kept->now.intensity = calloc(kept->cells, sizeof(float));
        kept->values = calloc(kept->cells, AIRY_SUM_PLANES * sizeof(double));
    }
    if (!kept->values || !kept->before.intensity || !kept->now.intensity)
        kept_rows_close(&kept);
    return kept;
}

void kept_rows_close(struct kept_rows **pointer)
{
    struct kept_rows *kept = *pointer;
    *pointer = NULL;
    if (!kept)
        return;
    airy_accumulator_destroy(&kept->group_sums);
    frame_sums_close(&kept->sums);
    airy_result_close(&kept->result);
    free(kept->before.intensity);
    free(kept->now.intensity);
    free(kept->values);
    free(kept);
}

bool kept_rows_has(const struct kept_rows *kept, size_t row)
{
    return kept && airy_result_get_row(kept->result, row) == AIRY_ROW_GOOD;
}

static size_t frame_of(const struct kept_rows *kept, size_t row)
{
    return kept->job->run.first + row * kept->group * kept->job->run.step;
}

size_t kept_rows_newest(const struct kept_rows *kept)
{
    return frame_of(kept, kept->info.newest);
}

static airy_status open_sums(struct kept_rows *kept)
{
    const struct integration *job = kept->job;
    if (kept->sums.queue)
        return AIRY_OK;
    airy_status status = frame_sums_open(&kept->sums, job, kept->values);
    if (status == AIRY_OK && kept->group > 1)
        status = airy_accumulator_create(&kept->group_sums, airy_integrator_bins(job->integrator),
                                         job->integrator_params.error_model);
    if (status != AIRY_OK)
        frame_sums_close(&kept->sums);
    return status;
}

/* The row of the sums that were taken. */
static airy_status finish_row(struct kept_rows *kept, const airy_frame_stats *stats)
{
    struct row *now = &kept->now;
    now->total = stats->total;
    now->max = stats->max;
    now->invalid = stats->invalid;
    now->saturated = stats->saturated;
    return airy_integrator_finish(kept->job->integrator, kept->values, 1, now->intensity, NULL,
                                  NULL);
}

static airy_status read_row(struct kept_rows *kept, size_t row)
{
    static const char *const names[] = {"frame/total", "frame/max", "frame/invalid",
                                        "frame/saturated"};
    struct row *before = &kept->before;
    double *const numbers[] = {&before->total, &before->max, &before->invalid, &before->saturated};
    airy_status status = airy_result_read(kept->result, "result/intensity", row, 1, AIRY_DTYPE_F32,
                                          before->intensity, kept->cells * sizeof(float));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == AIRY_OK; i++)
        status = airy_result_read(kept->result, names[i], row, 1, AIRY_DTYPE_F64, numbers[i],
                                  sizeof(double));
    return status;
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
static airy_status compare_row(struct kept_rows *kept, size_t row, size_t frames, bool *same)
{
    const airy_stack_info *info = &kept->job->info;
    const double pixels = (double)info->height * (double)info->width * (double)frames;
    const airy_status status = read_row(kept, row);
    /* A factor of a monitor is no part of the frame. */
    *same = status == AIRY_OK && same_numbers(&kept->before, &kept->now, pixels) &&
            (kept->job->monitor || same_intensity(&kept->before, &kept->now, kept->cells));
    return status;
}

airy_status kept_rows_compare(struct kept_rows *kept, size_t row, const void *pixels, bool *same)
{
    airy_status status = open_sums(kept);
    if (status == AIRY_OK)
        status = frame_sums_take(&kept->sums, kept->job, pixels);
    *same = false;
    if (status != AIRY_OK || kept->sums.about.status != AIRY_FRAME_GOOD)
        return status;
    status = finish_row(kept, &kept->sums.about);
    return status == AIRY_OK ? compare_row(kept, row, 1, same) : status;
}

/* One frame of a group into its sums. */
static airy_status add_frame(struct kept_rows *kept, const airy_stack *stack, size_t frame,
                             void *pixels)
{
    const struct integration *job = kept->job;
    const double monitor = job->monitor ? job->monitor[frame] : 1;
    if (!airy_monitor_is_usable(monitor))
        return AIRY_OK;
    airy_status status = airy_stack_read(stack, frame, pixels, kept->sums.pixels_size);
    if (status == AIRY_OK)
        status = frame_sums_take(&kept->sums, job, pixels);
    return status == AIRY_OK && kept->sums.about.status == AIRY_FRAME_GOOD
               ? airy_accumulator_add(kept->group_sums, kept->values, &kept->sums.about, monitor)
               : status;
}

/*
 * The frames of a row of several. Those that cannot be read were no part of it, or the row is another
 * one: why says what the first of them lacks.
 */
static airy_status compare_group(struct kept_rows *kept, const airy_stack *stack, size_t row,
                                 void *pixels, bool *same, struct kept_other *other)
{
    const struct integration *job = kept->job;
    const size_t first = row * kept->group,
                 last = first + kept->group < job->frames ? first + kept->group : job->frames;
    airy_frame_stats stats;
    airy_status status = open_sums(kept);
    other->why[0] = '\0';
    if (status == AIRY_OK)
        airy_accumulator_clear(kept->group_sums);
    for (size_t i = first; i < last && status == AIRY_OK; i++) {
        status = tool_interrupted()
                     ? AIRY_ERR_CANCELLED
                     : add_frame(kept, stack, job->run.first + i * job->run.step, pixels);
        if (!airy_status_is_of_frame(status))
            continue;
        if (!other->why[0])
            snprintf(other->why, sizeof(other->why), "%s", airy_last_error());
        status = AIRY_OK;
    }
    if (status == AIRY_OK)
        status = airy_accumulator_get(kept->group_sums, job->run.merge, kept->values, &stats);
    if (status == AIRY_OK)
        status = finish_row(kept, &stats);
    return status == AIRY_OK ? compare_row(kept, row, last - first, same) : status;
}

/* Compare one row; where it differs, other says where its first frame lies. */
static airy_status check_row(struct kept_rows *kept, const airy_stack *stack, size_t row,
                             void *pixels, struct kept_other *other)
{
    const airy_stack_info *info = &kept->job->info;
    const size_t frame = frame_of(kept, row),
                 size = info->height * info->width * airy_dtype_size(info->dtype);
    airy_stack_place place = {0};
    bool same = true;
    airy_status status = kept->group > 1 ? compare_group(kept, stack, row, pixels, &same, other)
                                         : airy_stack_read(stack, frame, pixels, size);
    if (status == AIRY_OK && kept->group == 1)
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
    enum { BETWEEN = 16, FRAMES = 1000 };
    char last[4200] = "";
    airy_stack_info info;
    *other = (struct kept_other){.found = false};
    airy_status status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = check_row(kept, stack, kept->info.newest, pixels, other);
    const size_t rows = FRAMES / kept->group, between = rows < BETWEEN ? rows : BETWEEN;
    const bool by_file = info.files > 1 && info.files <= rows;
    size_t next = 0;
    for (size_t row = 0; row < kept->info.newest && status == AIRY_OK && !other->found; row++) {
        airy_stack_place place = {0};
        if (!kept_rows_has(kept, row))
            continue;
        if (by_file)
            status = airy_stack_get_place(stack, frame_of(kept, row), &place);
        const bool begins = place.path && strcmp(place.path, last) != 0;
        if (status != AIRY_OK || !(begins || row >= next))
            continue;
        snprintf(last, sizeof(last), "%s", place.path ? place.path : "");
        next = row < next ? next : between ? row + kept->info.newest / between + 1 : SIZE_MAX;
        status = check_row(kept, stack, row, pixels, other);
    }
    return status;
}
