/* Measurements of `airy tune`: every value of a size in turn, round after round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

enum { LEAST_ROUNDS = 3 };
/* Medians closer than this are the same; event times repeat within 1 %. */
static const double least_gain = 0.02;

double tune_part(struct tune_times *t, double part)
{
    return tool_percentile(t->ms, t->count, part);
}

/* The kernel, or one of its further steps. */
static bool is_of_kernel(const char *row, const char *kernel)
{
    const size_t n = strlen(kernel);
    return strncmp(row, kernel, n) == 0 && (row[n] == 0 || row[n] == '_');
}

/* What the profile has of a kernel so far, with its further steps or alone. */
static airy_status kernel_total(const struct tune_data *d, const char *kernel, bool alone,
                                double *ms)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    *ms = 0;
    const airy_status status = airy_profile_get(d->device, &rows, &count);
    for (size_t i = 0; status == AIRY_OK && i < count; i++)
        if (!rows[i].transfer &&
            (alone ? strcmp(rows[i].name, kernel) == 0 : is_of_kernel(rows[i].name, kernel)))
            *ms += rows[i].total;
    airy_profile_free(rows);
    return status;
}

/* One run of a job: the time of its kernel, or of all. */
static airy_status time_once(struct tune_data *d, const struct tune_job *job, const char *kernel,
                             double *ms)
{
    double before = 0, after = 0;
    const double start = tool_now();
    airy_status status = job->whole ? AIRY_OK : kernel_total(d, kernel, false, &before);
    if (status == AIRY_OK)
        status = job->run(d);
    const double wall = 1e3 * (tool_now() - start);
    if (status == AIRY_OK && !job->whole)
        status = kernel_total(d, kernel, false, &after);
    *ms = job->whole ? wall : after - before;
    return status;
}

static airy_status add_time(struct tune_data *d, const struct tune_job *job, const char *kernel,
                            struct tune_times *times)
{
    return time_once(d, job, kernel, &times->ms[times->count++]);
}

/* The first job that runs a size's kernel. */
static airy_status find_jobs(struct tune *tune, bool whole)
{
    for (size_t j = 0; j < tune_job_count; j++) {
        if (tune_jobs[j].whole != whole)
            continue;
        double before[TUNE_SIZES] = {0};
        airy_status status = AIRY_OK;
        for (size_t i = 0; !whole && i < tune->count && status == AIRY_OK; i++)
            status = kernel_total(&tune->data, tune->results[i].tunable.kernel, true, &before[i]);
        if (status == AIRY_OK && !whole)
            status = tune_jobs[j].run(&tune->data);
        for (size_t i = 0; i < tune->count && status == AIRY_OK; i++) {
            struct tune_result *r = &tune->results[i];
            double after = 0;
            if (r->job || (r->tunable.kernel[0] == 0) != whole)
                continue;
            if (!whole)
                status = kernel_total(&tune->data, r->tunable.kernel, true, &after);
            if (whole || after > before[i])
                r->job = &tune_jobs[j];
        }
        if (status != AIRY_OK)
            return status;
    }
    return AIRY_OK;
}

/* The best value by far enough, or 0. Quartiles must not overlap: noise chooses nothing. */
static uint32_t choose(struct tune_result *r)
{
    struct tune_times *standard = NULL, *best = NULL;
    for (size_t v = 0; v < r->count; v++) {
        struct tune_times *t = &r->times[v];
        if (t->failed || t->count == 0)
            continue;
        if (t->value == r->tunable.standard)
            standard = t;
        if (!best || tune_part(t, 0.5) < tune_part(best, 0.5))
            best = t;
    }
    if (!best || best == standard)
        return 0;
    if (!standard) /* the device does not run it */
        return best->value;
    const bool clear = tune_part(best, 0.5) <= (1 - least_gain) * tune_part(standard, 0.5) &&
                       tune_part(best, 0.75) < tune_part(standard, 0.25);
    return clear ? best->value : 0;
}

/* The first run of a value compiles, and shows whether the device takes it. */
static airy_status warm_up(struct tune *tune, const struct tune_result *r, struct tune_times *t)
{
    airy_status status =
        airy_tuning_set(tune->data.device, r->tunable.name, t->value, AIRY_TUNING_MEASURED);
    if (status == AIRY_OK)
        status = r->job->run(&tune->data);
    t->failed = status == AIRY_ERR_UNSUPPORTED || status == AIRY_ERR_MEMORY;
    return t->failed ? AIRY_OK : status;
}

static airy_status measure_size(struct tune *tune, struct tune_result *r, double until)
{
    airy_device *device = tune->data.device;
    const airy_tunable *size = &r->tunable;
    airy_status status = AIRY_OK;
    for (r->count = 0; r->count < size->value_count && status == AIRY_OK; r->count++) {
        r->times[r->count] = (struct tune_times){.value = size->values[r->count]};
        status = warm_up(tune, r, &r->times[r->count]);
    }
    for (size_t round = 0;
         round < TUNE_ROUNDS && (round < LEAST_ROUNDS || tool_now() < until) && status == AIRY_OK;
         round++)
        for (size_t v = 0; v < r->count && status == AIRY_OK && !tool_interrupted(); v++) {
            struct tune_times *t = &r->times[v];
            if (t->failed)
                continue;
            status = airy_tuning_set(device, size->name, t->value, AIRY_TUNING_MEASURED);
            if (status == AIRY_OK)
                status = add_time(&tune->data, r->job, size->kernel, t);
        }
    if (status == AIRY_OK && !tool_interrupted())
        r->chosen = choose(r);
    return status == AIRY_OK ? airy_tuning_set(device, size->name, r->chosen, AIRY_TUNING_MEASURED)
                             : status;
}

static bool to_measure(const struct tune_result *r)
{
    return r->wanted && r->count == 0 && r->tunable.value_count > 1;
}

airy_status tune_measure(struct tune *tune, bool whole)
{
    airy_status status = find_jobs(tune, whole);
    for (size_t i = 0; i < tune->count && status == AIRY_OK && !tool_interrupted(); i++) {
        struct tune_result *r = &tune->results[i];
        if (!r->job || r->job->whole != whole || !to_measure(r))
            continue;
        size_t left = 0;
        for (size_t k = 0; k < tune->count; k++)
            left += to_measure(&tune->results[k]);
        const double now = tool_now();
        status = measure_size(tune, r, now + (tune->end - now) / (double)left);
        (void)progress_step(&tune->progress, i + 1, tune->count);
    }
    return status;
}

/* Defaults or choices of what belongs to a kernel. */
static airy_status apply(struct tune *tune, const char *kernel, bool chosen)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < tune->count && status == AIRY_OK; i++) {
        const struct tune_result *r = &tune->results[i];
        if (r->count && strcmp(r->tunable.kernel, kernel) == 0)
            status = airy_tuning_set(tune->data.device, r->tunable.name, chosen ? r->chosen : 0,
                                     AIRY_TUNING_MEASURED);
    }
    return status;
}

static bool any_chosen(const struct tune *tune, const char *kernel)
{
    for (size_t i = 0; i < tune->count; i++)
        if (tune->results[i].chosen && strcmp(tune->results[i].tunable.kernel, kernel) == 0)
            return true;
    return false;
}

static airy_status compare(struct tune *tune, struct tune_gain *gain, double until)
{
    const int ways = any_chosen(tune, gain->kernel) ? 2 : 1;
    airy_status status = AIRY_OK;
    for (size_t round = 0; round <= TUNE_ROUNDS && (round <= LEAST_ROUNDS || tool_now() < until) &&
                           status == AIRY_OK && !tool_interrupted();
         round++)
        for (int chosen = 0; chosen < ways && status == AIRY_OK; chosen++) {
            struct tune_times *times = chosen ? &gain->after : &gain->before;
            if (round == 1)
                times->count = 0; /* the round before warmed up */
            status = apply(tune, gain->kernel, chosen);
            if (status == AIRY_OK)
                status = add_time(&tune->data, gain->job, gain->kernel, times);
        }
    gain->taken_back = ways == 2 && status == AIRY_OK &&
                       tune_part(&gain->after, 0.5) >= tune_part(&gain->before, 0.5);
    for (size_t i = 0; gain->taken_back && i < tune->count; i++)
        if (strcmp(tune->results[i].tunable.kernel, gain->kernel) == 0)
            tune->results[i].chosen = 0;
    if (ways == 1 || gain->taken_back)
        gain->after = gain->before;
    return status == AIRY_OK ? apply(tune, gain->kernel, true) : status;
}

/* The kernel of a measured size that has no entry yet; NULL: there is none. */
static const struct tune_result *next_gain(const struct tune *tune, bool whole)
{
    for (size_t i = 0; i < tune->count; i++) {
        const struct tune_result *r = &tune->results[i];
        bool there = r->count == 0 || r->job->whole != whole;
        for (size_t k = 0; k < tune->gain_count; k++)
            there |= strcmp(tune->gains[k].kernel, r->tunable.kernel) == 0;
        if (!there)
            return r;
    }
    return NULL;
}

airy_status tune_compare(struct tune *tune, bool whole, double seconds)
{
    const size_t first = tune->gain_count;
    for (const struct tune_result *r; (r = next_gain(tune, whole));) {
        struct tune_gain *gain = &tune->gains[tune->gain_count++];
        memset(gain, 0, sizeof(*gain));
        memcpy(gain->kernel, r->tunable.kernel, sizeof(gain->kernel));
        gain->job = r->job;
    }
    airy_status status = AIRY_OK;
    for (size_t i = first; i < tune->gain_count && status == AIRY_OK && !tool_interrupted(); i++) {
        const double until = tool_now() + seconds / (double)(tune->gain_count - first);
        status = compare(tune, &tune->gains[i], until);
    }
    return status;
}
