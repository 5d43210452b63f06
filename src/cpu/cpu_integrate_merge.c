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
    const size_t merge = (size_t)AIRY_MERGE_BINS * job->planes * job->lanes * sizeof(double);
    return airy_max_size(merge, job->integrator->bins * sizeof(uint32_t));
}

static double *frame_sums(const struct airy_integrate_job *job, size_t frame_of_wave)
{
    return job->sums + (job->wave_first + frame_of_wave) * AIRY_SUM_PLANES * job->integrator->bins;
}

/* Bins [lo, hi) of a group: the slices' rows in ascending order of the slices. */
static void add_slices(double *total, const struct airy_integrate_job *job, const struct airy_frame_group *group,
                       size_t lo, size_t hi)
{
    const size_t row = group->lanes * (size_t)job->planes;
    memset(total, 0, (hi - lo) * row * sizeof(double));
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice *slice = &job->matrix->slice[s];
        const size_t from = airy_max_size(lo, slice->bin_lo), to = airy_min_size(hi, slice->bin_lo + slice->bin_count);
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
    const size_t hi = airy_min_size(lo + AIRY_MERGE_BINS, bins), row = group->lanes * (size_t)job->planes;
    double *total = (double *)(job->worker + worker * job->worker_size);
    add_slices(total, job, group, lo, hi);
    for (unsigned l = 0; l < group->count; l++) {
        double *sums = frame_sums(job, group->first + l);
        double *signal = sums + AIRY_SUM_SIGNAL * bins, *variance = sums + AIRY_SUM_VARIANCE * bins;
        if (job->second) {
            /* A bad frame's sums are 0 already. */
            if (job->stats[job->wave_first + group->first + l].status == AIRY_STATUS_GOOD)
                for (size_t b = lo; b < hi; b++)
                    variance[b] = total[(b - lo) * row + l];
            continue;
        }
        for (size_t b = lo; b < hi; b++) {
            signal[b] = total[(b - lo) * row + l] - integrator->base_dark[b];
            variance[b] = integrator->base_variance[b];
            if (job->planes == 2)
                variance[b] += total[(b - lo) * row + group->lanes + l];
        }
        memcpy(sums + AIRY_SUM_NORMALIZATION * bins + lo, integrator->base_normalization + lo,
               (hi - lo) * sizeof(double));
        memcpy(sums + AIRY_SUM_NORMALIZATION2 * bins + lo, integrator->base_normalization2 + lo,
               (hi - lo) * sizeof(double));
        memcpy(sums + AIRY_SUM_COUNT_PLANE * bins + lo, integrator->base_count + lo, (hi - lo) * sizeof(double));
    }
}

void airy_integrate_merge_wave(struct airy_integrate_job *job)
{
    const double bytes = (double)(job->matrix->rows * job->planes * job->wave_frames * sizeof(double));
    airy_profile_loop(job->integrator->device, "integrate_merge", bytes, bin_chunks(job) * job->groups, merge_bins,
                      job);
}

/* Take what one left-out pixel gave to the base sums away again. */
static void remove_pixel(const airy_integrator *integrator, double *sums, uint32_t *entries, size_t pixel)
{
    const struct airy_matrix *m = &integrator->matrix;
    const size_t bins = integrator->bins;
    const double norm = (double)integrator->norm[pixel];
    const double dark = integrator->dark ? (double)integrator->dark[pixel] : 0.0;
    double each = 0.0; /* variance of the pixel in the base sums */
    if (integrator->params.error_model == AIRY_ERROR_MODEL_POISSON)
        each = 1.0;
    else if (integrator->params.error_model == AIRY_ERROR_MODEL_VARIANCE)
        each = (double)integrator->variance[pixel];
    for (uint32_t e = m->start[pixel]; e < m->start[pixel + 1]; e++) {
        const double c = (double)m->coef[e], w = (double)integrator->weight[e], omega = c * norm;
        double *bin = sums + m->bin[e];
        bin[AIRY_SUM_SIGNAL * bins] = fma(w, dark, bin[AIRY_SUM_SIGNAL * bins]);
        bin[AIRY_SUM_VARIANCE * bins] = fma(-(w * w), each, bin[AIRY_SUM_VARIANCE * bins]);
        bin[AIRY_SUM_NORMALIZATION * bins] -= omega;
        bin[AIRY_SUM_NORMALIZATION2 * bins] = fma(-omega, omega, bin[AIRY_SUM_NORMALIZATION2 * bins]);
        bin[AIRY_SUM_COUNT_PLANE * bins] -= c;
        entries[m->bin[e]]--;
    }
}

/* All left-out pixels of a frame, in ascending order. */
static void remove_invalid(const struct airy_integrate_job *job, size_t frame, uint32_t *entries)
{
    const airy_integrator *integrator = job->integrator;
    const size_t bins = integrator->bins;
    const uint16_t *bits = job->invalid + frame * job->matrix->groups;
    double *sums = frame_sums(job, frame);
    memcpy(entries, integrator->base_entries, bins * sizeof(*entries));
    for (size_t s = 0; s < job->matrix->slices; s++) {
        const struct airy_slice *slice = &job->matrix->slice[s];
        const size_t end = (slice->pixel + slice->pixels + AIRY_GROUP - 1) / AIRY_GROUP;
        if (job->results[frame * job->matrix->slices + s].stats.invalid == 0)
            continue;
        for (size_t g = slice->pixel / AIRY_GROUP; g < end; g++)
            for (unsigned rest = bits[g]; rest; rest &= rest - 1)
                remove_pixel(integrator, sums, entries, g * AIRY_GROUP + (unsigned)__builtin_ctz(rest));
    }
    for (size_t b = 0; b < bins; b++) {
        if (entries[b] == 0) {
            for (size_t plane = 0; plane < AIRY_SUM_PLANES; plane++)
                sums[plane * bins + b] = 0.0;
            continue;
        }
        /* Sums of squares: what is left may have come out just below 0. */
        if (sums[AIRY_SUM_VARIANCE * bins + b] < 0.0)
            sums[AIRY_SUM_VARIANCE * bins + b] = 0.0;
        if (sums[AIRY_SUM_NORMALIZATION2 * bins + b] < 0.0)
            sums[AIRY_SUM_NORMALIZATION2 * bins + b] = 0.0;
    }
}

static void finish_frame(void *arg, size_t frame, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const bool is_float = airy_dtype_is_float(job->dtype);
    airy_frame_stats stats = {.status = AIRY_STATUS_GOOD};
    int64_t total = 0;
    bool any = false;
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
    if (stats.status != AIRY_STATUS_GOOD) {
        memset(frame_sums(job, frame), 0, AIRY_SUM_PLANES * job->integrator->bins * sizeof(double));
        stats = (airy_frame_stats){.status = stats.status};
    } else if (stats.invalid) {
        remove_invalid(job, frame, (uint32_t *)(job->worker + worker * job->worker_size));
    }
    job->stats[job->wave_first + frame] = stats;
}

void airy_integrate_finish_wave(struct airy_integrate_job *job)
{
    airy_profile_loop(job->integrator->device, "integrate_finish", 0.0, job->wave_frames, finish_frame, job);
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
        return !(fabs(raw) <= DBL_MAX) || (raw >= job->rules.float_lo && raw <= job->rules.float_hi);
    return job->rules.has_interval && (uint32_t)(int64_t)raw - job->rules.lo <= job->rules.span;
}

/* V += omega^2 (x - mean before)(x - mean after), in ascending order of the bin's pixels; the first one only starts the means. */
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
        const double s = (double)integrator->weight[e] * (raw - (integrator->dark ? (double)integrator->dark[i] : 0.0));
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
    airy_profile_loop(job->integrator->device, "integrate_variance", bytes, bin_chunks(job) * job->wave_frames,
                      recur_bins, job);
}
