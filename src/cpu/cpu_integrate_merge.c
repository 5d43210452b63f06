/* Azimuthal integration on the CPU: from the slices' sums to the frames' results. */
#include "cpu/cpu_integrate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "core/objects.h"

static size_t bin_chunks(const struct airy_integrate_job *job)
{
    return (job->integrator->bins + AIRY_MERGE_BINS - 1) / AIRY_MERGE_BINS;
}

size_t airy_integrate_merge_scratch(const struct airy_integrate_job *job)
{
    return (size_t)AIRY_MERGE_BINS * job->planes * job->lanes * sizeof(double);
}

static double *frame_sums(const struct airy_integrate_job *job, size_t frame_of_wave)
{
    return job->sums + (job->wave_first + frame_of_wave) * AIRY_SUM_PLANES * job->integrator->bins;
}

/* A slice's cells from bin lo on, of one piece of the merge. */
static void add_cells(double *total, const struct airy_integrate_job *job,
                      const struct airy_frame_group *group, size_t lo, size_t slice)
{
    const struct airy_cpu_matrix *m = job->matrix;
    const size_t first = m->slice[slice].row, row = group->lanes * (size_t)job->planes;
    const uint32_t *below = m->below + slice * (bin_chunks(job) + 1) + lo / AIRY_MERGE_BINS;
    for (size_t r = first + below[0]; r < first + below[1]; r++) {
        const double *partial = group->partials + r * row;
        double *out = total + (m->cell[r] - lo) * row;
        for (size_t i = 0; i < row; i++)
            out[i] += partial[i];
    }
}

/* Bins [lo, hi) of a group: the slices' rows in ascending order of the slices. */
static void add_slices(double *total, const struct airy_integrate_job *job,
                       const struct airy_frame_group *group, size_t lo, size_t hi)
{
    const size_t row = group->lanes * (size_t)job->planes;
    memset(total, 0, (hi - lo) * row * sizeof(double));
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice *slice = &job->matrix->slice[s];
        if (job->matrix->cell) {
            add_cells(total, job, group, lo, s);
            continue;
        }
        const size_t from = airy_max_size(lo, slice->bin_lo),
                     to = airy_min_size(hi, slice->bin_lo + slice->bin_count);
        if (from >= to)
            continue;
        const double *partial = group->partials + (slice->row + from - slice->bin_lo) * row;
        double *out = total + (from - lo) * row;
        for (size_t i = 0; i < (to - from) * row; i++)
            out[i] += partial[i];
    }
}

static void merge_bins(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const airy_integrator *integrator = job->integrator;
    const struct airy_frame_group *group = &job->group[index % job->groups];
    const size_t bins = integrator->bins, lo = index / job->groups * AIRY_MERGE_BINS;
    const size_t hi = airy_min_size(lo + AIRY_MERGE_BINS, bins),
                 row = group->lanes * (size_t)job->planes;
    double *total = (double *)(job->worker + worker * job->worker_size);
    add_slices(total, job, group, lo, hi);
    for (unsigned l = 0; l < group->count; l++) {
        const airy_frame_stats *stats = &job->stats[job->wave_first + group->first + l];
        double *sums = frame_sums(job, group->first + l);
        double *signal = sums + AIRY_SUM_SIGNAL * bins, *variance = sums + AIRY_SUM_VARIANCE * bins;
        if (stats->status != AIRY_STATUS_GOOD) {
            for (size_t plane = 0; plane < AIRY_SUM_PLANES; plane++)
                memset(sums + plane * bins + lo, 0, (hi - lo) * sizeof(double));
            continue;
        }
        if (job->second) {
            for (size_t b = lo; b < hi; b++)
                variance[b] = total[(b - lo) * row + l];
            continue;
        }
        /* Where pixels are left out, add_left brings what does not depend on their values. */
        const bool whole = stats->invalid == 0;
        for (size_t b = lo; b < hi; b++)
            signal[b] = total[(b - lo) * row + l] - (whole ? integrator->base_dark[b] : 0.0);
        /* The second pass of the azimuthal model reads means from what stands there. */
        const bool lean = job->plan->lean && whole && !job->means;
        if (lean && integrator->params.error_model == AIRY_ERROR_MODEL_NONE)
            continue;
        for (size_t b = lo; b < hi; b++) {
            variance[b] = whole ? integrator->base_variance[b] : 0.0;
            if (job->planes == 2)
                variance[b] += total[(b - lo) * row + group->lanes + l];
        }
        if (lean || !whole)
            continue;
        memcpy(sums + AIRY_SUM_NORMALIZATION * bins + lo, integrator->base_normalization + lo,
               (hi - lo) * sizeof(double));
        memcpy(sums + AIRY_SUM_NORMALIZATION2 * bins + lo, integrator->base_normalization2 + lo,
               (hi - lo) * sizeof(double));
        memcpy(sums + AIRY_SUM_COUNT_PLANE * bins + lo, integrator->base_count + lo,
               (hi - lo) * sizeof(double));
    }
}

void airy_integrate_merge_wave(struct airy_integrate_job *job)
{
    const double bytes =
        (double)(job->matrix->rows * job->planes * job->wave_frames * sizeof(double));
    airy_profile_loop_few(job->integrator->device, "integrate_merge", bytes, job->threads,
                          bin_chunks(job) * job->groups, merge_bins, job);
}

/*
 * One bin: first what left-out pixels had given to its base sums, then what is left of these. As
 * wide as two lines of the cache.
 */
struct left {
    struct airy_double_double sum[AIRY_BASE_PLANES];
    double entries; /* exact */
    bool again;     /* to be summed from the pixels that are left */
    double unused[4];
};

/*
 * A smaller share of a bin than this is not what is left after a subtraction, but summed by itself.
 */
static const double least_share = 0x1p-30;

static void add_entries(struct left *left, const airy_integrator *integrator, size_t pixel,
                        bool again_only)
{
    const struct airy_matrix *m = &integrator->matrix;
    for (uint32_t e = m->start[pixel]; e < m->start[pixel + 1]; e++) {
        struct left *bin = &left[m->bin[e]];
        if (again_only && !bin->again)
            continue;
        double terms[AIRY_BASE_PLANES];
        airy_base_terms(terms, integrator, pixel, e);
        for (int k = 0; k < AIRY_BASE_PLANES; k++)
            airy_double_double_add(&bin->sum[k], terms[k]);
        bin->entries += 1.0;
    }
}

/* All left-out pixels of a frame, in ascending order. */
static void add_removed(struct left *left, const struct airy_integrate_job *job, size_t frame)
{
    const uint16_t *bits = job->invalid + frame * job->matrix->groups;
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice *slice = &job->matrix->slice[s];
        const size_t end = (slice->pixel + slice->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
        if (job->results[frame * job->matrix->slices + s].stats.invalid == 0)
            continue;
        for (size_t g = slice->pixel / AIRY_GROUP; g < end; g++)
            for (unsigned rest = bits[g]; rest; rest &= rest - 1)
                add_entries(left, job->integrator, g * AIRY_GROUP + (unsigned)__builtin_ctz(rest),
                            false);
    }
}

/* Pixels that are left, for bins to be summed again. */
static void add_kept(struct left *left, const struct airy_integrate_job *job, size_t frame)
{
    const uint16_t *bits = job->invalid + frame * job->matrix->groups;
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice *slice = &job->matrix->slice[s];
        const bool some = job->results[frame * job->matrix->slices + s].stats.invalid != 0;
        for (size_t i = slice->pixel; i < slice->pixel + slice->pixels; i++)
            if (!some || !(bits[i / AIRY_GROUP] >> i % AIRY_GROUP & 1))
                add_entries(left, job->integrator, i, true);
    }
}

/* The base sums of bin b less what is removed; true: too little is left for that. */
static bool subtract_removed(struct left *left, const airy_integrator *integrator, size_t b)
{
    static const enum airy_base positive[] = {AIRY_BASE_COUNT, AIRY_BASE_NORMALIZATION2,
                                              AIRY_BASE_VARIANCE};
    const double *base = integrator->base_normalization + b, *low = integrator->base_low + b;
    const size_t bins = integrator->bins;
    const bool empty = left->entries == (double)integrator->base_entries[b];
    for (size_t k = 0; k < AIRY_BASE_PLANES; k++) {
        const struct airy_double_double whole = {base[k * bins], low[k * bins]};
        left->sum[k].hi = empty ? 0.0 : airy_double_double_minus(whole, left->sum[k]);
        left->sum[k].lo = 0.0;
    }
    left->entries = (double)integrator->base_entries[b] - left->entries;
    for (size_t k = 0; k < sizeof(positive) / sizeof(positive[0]) && !empty; k++)
        left->again |= left->sum[positive[k]].hi < least_share * base[positive[k] * bins];
    if (left->again)
        *left = (struct left){.again = true};
    return left->again;
}

static void sum_left(struct left *left, const struct airy_integrate_job *job, size_t frame)
{
    const size_t bins = job->integrator->bins;
    bool again = false;
    memset(left, 0, bins * sizeof(*left));
    add_removed(left, job, frame);
    for (size_t b = 0; b < bins; b++)
        again |= subtract_removed(&left[b], job->integrator, b);
    if (again)
        add_kept(left, job, frame);
}

static void add_left(const struct airy_integrate_job *job, size_t frame, const struct left *left)
{
    const size_t bins = job->integrator->bins;
    for (size_t b = 0; b < bins; b++) {
        double *bin = frame_sums(job, frame) + b;
        const struct airy_double_double *sum = left[b].sum;
        const bool empty = left[b].entries == 0.0;
        bin[AIRY_SUM_SIGNAL * bins] = empty ? 0.0
                                            : bin[AIRY_SUM_SIGNAL * bins] - sum[AIRY_BASE_DARK].hi;
        bin[AIRY_SUM_VARIANCE * bins] =
            empty ? 0.0 : sum[AIRY_BASE_VARIANCE].hi + bin[AIRY_SUM_VARIANCE * bins];
        bin[AIRY_SUM_NORMALIZATION * bins] = sum[AIRY_BASE_NORMALIZATION].hi;
        bin[AIRY_SUM_NORMALIZATION2 * bins] = sum[AIRY_BASE_NORMALIZATION2].hi;
        bin[AIRY_SUM_COUNT_PLANE * bins] = sum[AIRY_BASE_COUNT].hi;
    }
}

static bool same_invalid(const struct airy_integrate_job *job, size_t frame, size_t other)
{
    const struct airy_cpu_matrix *m = job->matrix;
    const uint16_t *bits = job->invalid + frame * m->groups,
                   *other_bits = job->invalid + other * m->groups;
    for (size_t s = 0; s < m->slices; s++) {
        const struct airy_slice *slice = &m->slice[s];
        const uint32_t count = job->results[frame * m->slices + s].stats.invalid;
        const size_t first = slice->pixel / AIRY_GROUP,
                     groups = (slice->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
        if (job->results[other * m->slices + s].stats.invalid != count)
            return false;
        if (count && memcmp(bits + first, other_bits + first, groups * sizeof(*bits)) != 0)
            return false;
    }
    return true;
}

static bool has_invalid(const struct airy_integrate_job *job, size_t frame)
{
    const airy_frame_stats *stats = &job->stats[job->wave_first + frame];
    return stats->status == AIRY_STATUS_GOOD && stats->invalid != 0;
}

static size_t removal_runs(const struct airy_integrate_job *job)
{
    return airy_min_size(job->wave_frames, job->removed_runs);
}

/*
 * A run of frames at a time; pixels that are bad in all of them, as broken ones are, are summed
 * once.
 */
static void remove_invalid(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const size_t runs = removal_runs(job);
    const size_t first = job->wave_frames * index / runs,
                 end = job->wave_frames * (index + 1) / runs;
    struct left *left = (struct left *)(job->removed + index * job->removed_size);
    size_t summed = SIZE_MAX;
    (void)worker;
    for (size_t frame = first; frame < end; frame++) {
        if (!has_invalid(job, frame))
            continue;
        if (summed == SIZE_MAX || !same_invalid(job, frame, summed)) {
            sum_left(left, job, frame);
            summed = frame;
        }
        add_left(job, frame, left);
    }
}

size_t airy_integrate_removal_size(const struct airy_integrate_job *job)
{
    return job->integrator->bins * sizeof(struct left);
}

static void sum_stats(void *arg, size_t frame, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const bool is_float = airy_dtype_is_float(job->dtype);
    airy_frame_stats stats = {.status = AIRY_STATUS_GOOD};
    int64_t total = 0;
    bool any = false;
    (void)worker;
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice_result *result = &job->results[frame * job->matrix->slices + s];
        if (result->status < stats.status)
            stats.status = result->status;
        for (unsigned k = 0; k < AIRY_GROUP && is_float; k++)
            stats.total += result->stats.partial[k];
        total += result->stats.total;
        if (result->stats.any && (!any || result->stats.max > stats.max))
            stats.max = result->stats.max;
        any |= result->stats.any;
        stats.invalid += result->stats.invalid;
        stats.saturated += result->stats.saturated;
    }
    if (!is_float)
        stats.total = (double)total;
    if (stats.status != AIRY_STATUS_GOOD)
        stats = (airy_frame_stats){.status = stats.status};
    job->stats[job->wave_first + frame] = stats;
}

void airy_integrate_stats_wave(struct airy_integrate_job *job)
{
    airy_profile_loop(job->integrator->device, "integrate_stats", 0.0, job->wave_frames, sum_stats,
                      job);
}

void airy_integrate_remove_wave(struct airy_integrate_job *job)
{
    bool invalid = false;
    for (size_t frame = 0; frame < job->wave_frames; frame++)
        invalid |= has_invalid(job, frame);
    if (invalid)
        airy_profile_loop(job->integrator->device, "integrate_remove", 0.0, removal_runs(job),
                          remove_invalid, job);
}

static void mean_frame(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const struct airy_frame_group *group = &job->group[index];
    const size_t bins = job->integrator->bins;
    (void)worker;
    double *means = job->means + group->first * bins;
    memset(means, 0, bins * group->lanes * sizeof(double));
    for (unsigned l = 0; l < group->count; l++) {
        const double *sums = frame_sums(job, group->first + l);
        for (size_t b = 0; b < bins; b++)
            if (sums[AIRY_SUM_NORMALIZATION * bins + b] != 0.0)
                means[b * group->lanes + l] = sums[AIRY_SUM_SIGNAL * bins + b] /
                                              sums[AIRY_SUM_NORMALIZATION * bins + b];
    }
}

void airy_integrate_mean_wave(struct airy_integrate_job *job)
{
    airy_profile_loop(job->integrator->device, "integrate_mean", 0.0, job->groups, mean_frame, job);
}

static double raw_value(const void *pixels, size_t i, airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return ((const uint8_t *)pixels)[i];
    case AIRY_DTYPE_I8:
        return ((const int8_t *)pixels)[i];
    case AIRY_DTYPE_U16:
        return ((const uint16_t *)pixels)[i];
    case AIRY_DTYPE_I16:
        return ((const int16_t *)pixels)[i];
    case AIRY_DTYPE_U32:
        return ((const uint32_t *)pixels)[i];
    case AIRY_DTYPE_I32:
        return ((const int32_t *)pixels)[i];
    case AIRY_DTYPE_F32:
        return (double)((const float *)pixels)[i];
    default:
        return ((const double *)pixels)[i];
    }
}

/* As the kernels' clean does it; integers are exact in a double. */
static bool leave_out(double raw, const struct airy_integrate_job *job)
{
    if (airy_dtype_is_float(job->dtype))
        return !(fabs(raw) <= DBL_MAX) ||
               (raw >= job->rules.float_lo && raw <= job->rules.float_hi);
    return job->rules.has_interval && (uint32_t)(int64_t)raw - job->rules.lo <= job->rules.span;
}

/*
 * V += omega^2 (x - mean before)(x - mean after), in ascending order of the bin's pixels; the
 * first one only starts the means.
 */
static double recur_bin(const struct airy_integrate_job *job, const void *pixels, size_t bin)
{
    const airy_integrator *integrator = job->integrator;
    const struct airy_matrix *m = &integrator->matrix;
    double variance = 0.0, signal = 0.0, normalization = 0.0;
    for (uint32_t j = m->row[bin]; j < m->row[bin + 1]; j++) {
        const size_t i = m->pixel[j];
        const uint32_t e = m->entry[j];
        const double raw = raw_value(pixels, i, job->dtype);
        const double omega = (double)m->coef[e] * (double)integrator->norm[i];
        if (omega == 0.0 || leave_out(raw, job))
            continue;
        const double s = (double)integrator->weight[e] *
                         (raw - (integrator->dark ? (double)integrator->dark[i] : 0.0));
        const double before = signal / normalization, x = s / omega;
        const bool first = normalization == 0.0;
        signal += s;
        normalization += omega;
        if (!first)
            variance += omega * omega * (x - before) * (x - signal / normalization);
    }
    return variance;
}

static void recur_bins(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const size_t frame = index % job->wave_frames, lo = index / job->wave_frames * AIRY_MERGE_BINS;
    const size_t hi = airy_min_size(lo + AIRY_MERGE_BINS, job->integrator->bins);
    const size_t pixels = (job->wave_first + frame) * job->integrator->pixels;
    (void)worker;
    if (job->stats[job->wave_first + frame].status != AIRY_STATUS_GOOD)
        return;
    double *variance = frame_sums(job, frame) + AIRY_SUM_VARIANCE * job->integrator->bins;
    for (size_t b = lo; b < hi; b++)
        variance[b] = recur_bin(job, job->pixels + pixels * job->elem_size, b);
}

void airy_integrate_recur_wave(struct airy_integrate_job *job)
{
    const double bytes = (double)(job->wave_frames * job->integrator->pixels * job->elem_size);
    airy_profile_loop(job->integrator->device, "integrate_variance", bytes,
                      bin_chunks(job) * job->wave_frames, recur_bins, job);
}
