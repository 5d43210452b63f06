#include "airy/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared/double_double.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/integrator.h"
#include "integrate/pose.h"

/* Behind the planes of the sums: of the azimuthal model, N2 m and N2 m^2 of each frame. */
enum { PLANE_MOMENT = AIRY_SUM_PLANES, PLANE_MOMENT2, PLANES_AZIMUTHAL };

struct airy_accumulator {
    size_t bins, frames;
    size_t planes;
    airy_error_model model;
    airy_frame_stats stats;
    struct airy_double_double *sums; /* [planes][bins] */
};

const char *airy_merge_name(airy_merge v)
{
    static const char *const names[AIRY_MERGE_COUNT] = {"average", "sum"};
    return (unsigned)v < AIRY_MERGE_COUNT ? names[v] : "?";
}

airy_status airy_accumulator_create(airy_accumulator **accumulator, size_t bins,
                                    airy_error_model model)
{
    AIRY_FAIL_IF(!accumulator, AIRY_ERR_PARAM, "airy_accumulator_create: accumulator is NULL");
    AIRY_FAIL_IF(bins == 0, AIRY_ERR_PARAM, "bins of an accumulator = 0, expected at least 1");
    AIRY_FAIL_IF((unsigned)model >= AIRY_ERROR_MODEL_COUNT, AIRY_ERR_PARAM,
                 "error model = %d, expected 0 to %d", (int)model, AIRY_ERROR_MODEL_COUNT - 1);
    const size_t planes = model == AIRY_ERROR_MODEL_AZIMUTHAL ? PLANES_AZIMUTHAL
                                                              : (size_t)AIRY_SUM_PLANES;
    size_t count;
    AIRY_FAIL_IF(airy_mul_size(&count, planes, bins), AIRY_ERR_MEMORY,
                 "an accumulator of %zu bins does not fit the address space", bins);
    airy_accumulator *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "an accumulator"));
    made->bins = bins;
    made->planes = planes;
    made->model = model;
    const airy_status status =
        airy_memory_calloc((void **)&made->sums, count, sizeof(made->sums[0]), "an accumulator");
    if (status != AIRY_OK) {
        free(made);
        return status;
    }
    *accumulator = made;
    return AIRY_OK;
}

void airy_accumulator_destroy(airy_accumulator **accumulator)
{
    if (!accumulator || !*accumulator)
        return;
    free((*accumulator)->sums);
    free(*accumulator);
    *accumulator = NULL;
}

void airy_accumulator_clear(airy_accumulator *accumulator)
{
    if (!accumulator)
        return;
    accumulator->frames = 0;
    accumulator->stats = (airy_frame_stats){0};
    memset(accumulator->sums, 0,
           accumulator->planes * accumulator->bins * sizeof(accumulator->sums[0]));
}

static uint32_t add_counts(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void add_stats(airy_accumulator *accumulator, const airy_frame_stats *stats)
{
    airy_frame_stats *all = &accumulator->stats;
    all->total += stats->total;
    all->max = accumulator->frames ? fmax(all->max, stats->max) : stats->max;
    all->invalid = add_counts(all->invalid, stats->invalid);
    all->saturated = add_counts(all->saturated, stats->saturated);
}

/* Of each bin what M needs afterwards: N2 m and N2 m^2, m the frame's mean. */
static void add_moments(airy_accumulator *accumulator, const double *sums, double normalization)
{
    const size_t n = accumulator->bins;
    for (size_t b = 0; b < n; b++) {
        const double norm = sums[AIRY_SUM_NORMALIZATION * n + b] * normalization,
                     norm2 = sums[AIRY_SUM_NORMALIZATION2 * n + b] * normalization * normalization;
        if (!(sums[AIRY_SUM_COUNT_PLANE * n + b] > 0))
            continue;
        const double mean = sums[AIRY_SUM_SIGNAL * n + b] / norm;
        airy_double_double_add(&accumulator->sums[PLANE_MOMENT * n + b], norm2 * mean);
        airy_double_double_add(&accumulator->sums[PLANE_MOMENT2 * n + b], norm2 * mean * mean);
    }
}

airy_status airy_accumulator_add(airy_accumulator *accumulator, const double *sums,
                                 const airy_frame_stats *stats, double normalization)
{
    AIRY_FAIL_IF(!accumulator || !sums, AIRY_ERR_PARAM,
                 "airy_accumulator_add: accumulator or sums is NULL");
    AIRY_FAIL_IF(!isfinite(normalization) || normalization == 0, AIRY_ERR_PARAM,
                 "normalization of the frame = %g, expected a finite value other than 0",
                 normalization);
    AIRY_FAIL_IF(stats && stats->status != AIRY_FRAME_GOOD, AIRY_ERR_PARAM,
                 "a frame of status %u cannot be added: %s", (unsigned)stats->status,
                 airy_frame_error(stats->status));
    const double factor[AIRY_SUM_PLANES] = {[AIRY_SUM_SIGNAL] = 1,
                                            [AIRY_SUM_VARIANCE] = 1,
                                            [AIRY_SUM_NORMALIZATION] = normalization,
                                            [AIRY_SUM_NORMALIZATION2] = normalization *
                                                                        normalization,
                                            [AIRY_SUM_COUNT_PLANE] = 1};
    const size_t n = accumulator->bins;
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        struct airy_double_double *to = accumulator->sums + k * n;
        for (size_t b = 0; b < n; b++)
            airy_double_double_add(&to[b], sums[k * n + b] * factor[k]);
    }
    if (accumulator->planes == PLANES_AZIMUTHAL)
        add_moments(accumulator, sums, normalization);
    if (stats)
        add_stats(accumulator, stats);
    accumulator->frames++;
    return AIRY_OK;
}

size_t airy_accumulator_frames(const airy_accumulator *accumulator)
{
    return accumulator ? accumulator->frames : 0;
}

/* sum N2 (m - M)^2 = sum N2 m^2 - 2 M sum N2 m + M^2 sum N2, in the bits of the sums. */
static double spread_of_means(const airy_accumulator *accumulator, size_t b)
{
    const size_t n = accumulator->bins;
    const struct airy_double_double *sums = accumulator->sums + b,
                                    *norm2 = &sums[AIRY_SUM_NORMALIZATION2 * n],
                                    *moment = &sums[PLANE_MOMENT * n];
    if (!(sums[AIRY_SUM_COUNT_PLANE * n].hi > 0))
        return 0;
    const double mean = sums[AIRY_SUM_SIGNAL * n].hi / sums[AIRY_SUM_NORMALIZATION * n].hi;
    struct airy_double_double spread = sums[PLANE_MOMENT2 * n];
    const double terms[2][2] = {{-2 * mean, moment->hi}, {mean * mean, norm2->hi}};
    for (int k = 0; k < 2; k++) {
        const double product = terms[k][0] * terms[k][1];
        airy_double_double_add(&spread, product);
        airy_double_double_add(&spread, fma(terms[k][0], terms[k][1], -product));
    }
    return fmax(spread.hi, 0);
}

airy_status airy_accumulator_get(const airy_accumulator *accumulator, airy_merge how, double *sums,
                                 airy_frame_stats *stats)
{
    AIRY_FAIL_IF(!accumulator || !sums, AIRY_ERR_PARAM,
                 "airy_accumulator_get: accumulator or sums is NULL");
    AIRY_FAIL_ON_IF((unsigned)how >= AIRY_MERGE_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "merge", (int)how, AIRY_MERGE_COUNT - 1);
    const size_t n = accumulator->bins, frames = accumulator->frames;
    const bool divide = how == AIRY_MERGE_SUM && frames > 1;
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
        const struct airy_double_double *from = accumulator->sums + k * n;
        const double divisor = divide && k >= AIRY_SUM_NORMALIZATION ? (double)frames : 1;
        for (size_t b = 0; b < n; b++)
            sums[k * n + b] = from[b].hi / divisor;
    }
    for (size_t b = 0; b < n && accumulator->planes == PLANES_AZIMUTHAL && frames > 1; b++)
        sums[AIRY_SUM_VARIANCE * n + b] += spread_of_means(accumulator, b);
    if (stats) {
        *stats = accumulator->stats;
        stats->status = frames ? AIRY_FRAME_GOOD : 0;
    }
    return AIRY_OK;
}

airy_status airy_sums_finish(const double *sums, size_t bins, double empty, float *intensity,
                             float *std, float *sem)
{
    AIRY_FAIL_IF(!sums || !intensity, AIRY_ERR_PARAM, "airy_sums_finish: an argument is NULL");
    airy_divide((struct airy_division){.signal = sums + AIRY_SUM_SIGNAL * bins,
                                       .variance = sums + AIRY_SUM_VARIANCE * bins,
                                       .norms = sums + AIRY_SUM_NORMALIZATION * bins,
                                       .intensity = intensity,
                                       .std = std,
                                       .sem = sem,
                                       .bins = bins,
                                       .empty = (float)empty},
                NULL);
    return AIRY_OK;
}

/* Bins first to first + factor - 1 of a row as one. stride: elements between planes. */
static airy_status join_bins(double *dst, size_t dst_stride, airy_accumulator *accumulator,
                             const double *src, size_t src_stride, size_t factor)
{
    double sums[AIRY_SUM_PLANES];
    airy_accumulator_clear(accumulator);
    for (size_t i = 0; i < factor; i++) {
        for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
            sums[k] = src[k * src_stride + i];
        AIRY_TRY(airy_accumulator_add(accumulator, sums, NULL, 1));
    }
    AIRY_TRY(airy_accumulator_get(accumulator, AIRY_MERGE_AVERAGE, sums, NULL));
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
        dst[k * dst_stride] = sums[k];
    return AIRY_OK;
}

airy_status airy_sums_rebin(double *dst, const double *src, size_t azimuth, size_t bins,
                            size_t factor, airy_error_model model)
{
    AIRY_FAIL_IF(!dst || !src, AIRY_ERR_PARAM, "airy_sums_rebin: an argument is NULL");
    AIRY_FAIL_IF(factor == 0 || factor > bins, AIRY_ERR_PARAM,
                 "bins to join = %zu, expected 1 to %zu, the bins there are", factor, bins);
    airy_accumulator *accumulator = NULL;
    AIRY_TRY(airy_accumulator_create(&accumulator, 1, model));
    const size_t fewer = bins / factor;
    airy_status status = AIRY_OK;
    for (size_t a = 0; a < azimuth; a++)
        for (size_t b = 0; b < fewer && status == AIRY_OK; b++)
            status = join_bins(dst + a * fewer + b, azimuth * fewer, accumulator,
                               src + a * bins + b * factor, azimuth * bins, factor);
    airy_accumulator_destroy(&accumulator);
    return status;
}

airy_status airy_roi_check(const airy_roi *roi, const airy_integrator_info *axes)
{
    AIRY_FAIL_IF(!roi || !axes, AIRY_ERR_PARAM, "airy_roi_check: an argument is NULL");
    const double *r = roi->radial, *a = roi->azimuth;
    AIRY_FAIL_IF(!isfinite(r[0]) || !isfinite(r[1]) || !(r[0] < r[1]), AIRY_ERR_PARAM,
                 "region %g to %g, expected two finite values, the lower first", r[0], r[1]);
    AIRY_FAIL_IF(r[1] <= axes->lower || r[0] >= axes->upper, AIRY_ERR_PARAM,
                 "region %g to %g is outside of the axis, which runs from %.6g to %.6g", r[0], r[1],
                 axes->lower, axes->upper);
    if (!roi->has_azimuth)
        return AIRY_OK;
    AIRY_FAIL_IF(axes->azimuth_bins == 0, AIRY_ERR_PARAM,
                 "region of chi %g to %g deg: patterns of one dimension have no chi", a[0], a[1]);
    if (airy_unit_turn(airy_azimuth_unit(axes->azimuth_unit)) == 0) {
        AIRY_FAIL_IF(
            !isfinite(a[0]) || !isfinite(a[1]) || !(a[0] < a[1]) || a[1] <= axes->azimuth_lower ||
                a[0] >= axes->azimuth_upper,
            AIRY_ERR_PARAM,
            "region %g to %g of %s, expected two values, the lower first, and a part of the "
            "axis, which runs from %.6g to %.6g",
            a[0], a[1], airy_unit_name(axes->azimuth_unit), axes->azimuth_lower,
            axes->azimuth_upper);
        return AIRY_OK;
    }
    AIRY_FAIL_IF(!(fabs(a[0]) <= 720) || !(fabs(a[1]) <= 720) || a[0] == a[1] || a[1] - a[0] > 360,
                 AIRY_ERR_PARAM,
                 "region of chi %g to %g deg, expected values within 720 deg and 360 deg at most "
                 "between them",
                 a[0], a[1]);
    return AIRY_OK;
}

/* An end of a region counted in bins; on an edge where it differs from it by rounding only. */
static double in_bins(double v, double lower, double upper, size_t bins)
{
    const double at = (v - lower) / (upper - lower) * (double)bins, edge = nearbyint(at);
    return fabs(at - edge) < 1e-9 ? edge : at;
}

/* Part of bin i that lies between a and b, all in bins. */
static double part_of_bin(size_t i, double a, double b)
{
    return fmax(0, fmin(b, (double)i + 1) - fmax(a, (double)i));
}

/* Part of row i of chi in the region; it and the axis may be turns apart. */
static double part_of_row(const airy_integrator_info *axes, const airy_roi *roi, size_t i)
{
    if (!roi->has_azimuth || axes->azimuth_bins == 0)
        return 1;
    const double turn = airy_unit_turn(airy_azimuth_unit(axes->azimuth_unit)),
                 scale = turn > 0 ? turn / 360 : 1, lower = scale * roi->azimuth[0];
    double sum = 0, upper = scale * roi->azimuth[1];
    while (upper <= lower && turn > 0)
        upper += turn;
    const int turns = turn > 0 ? 5 : 0;
    for (int k = -turns; k <= turns; k++)
        sum += part_of_bin(
            i,
            in_bins(lower + turn * k, axes->azimuth_lower, axes->azimuth_upper, axes->azimuth_bins),
            in_bins(upper + turn * k, axes->azimuth_lower, axes->azimuth_upper,
                    axes->azimuth_bins));
    return fmin(sum, 1);
}

airy_status airy_roi_sum(double *signal, double *mean, const double *sums,
                         const airy_integrator_info *axes, const airy_roi *roi)
{
    AIRY_FAIL_IF(!sums, AIRY_ERR_PARAM, "airy_roi_sum: sums is NULL");
    AIRY_FAIL_IF(!axes, AIRY_ERR_PARAM, "airy_roi_sum: axes is NULL");
    const size_t all = axes->radial_bins * airy_max_size(axes->azimuth_bins, 1);
    const double *const planes[3] = {sums + AIRY_SUM_SIGNAL * all,
                                     sums + AIRY_SUM_NORMALIZATION * all,
                                     sums + AIRY_SUM_COUNT_PLANE * all};
    return airy_roi_sum_planes(signal, mean, planes, axes, roi);
}

airy_status airy_roi_sum_planes(double *signal, double *mean, const double *const planes[3],
                                const airy_integrator_info *axes, const airy_roi *roi)
{
    AIRY_TRY(airy_roi_check(roi, axes));
    const size_t n = axes->radial_bins, rows = airy_max_size(axes->azimuth_bins, 1);
    const double a = in_bins(roi->radial[0], axes->lower, axes->upper, n),
                 b = in_bins(roi->radial[1], axes->lower, axes->upper, n);
    const size_t first = a > 0 ? (size_t)a : 0, last = b < (double)n ? (size_t)ceil(b) : n;
    double total[3] = {0, 0, 0};
    for (size_t y = 0; y < rows; y++) {
        const double row = part_of_row(axes, roi, y);
        for (size_t x = first; x < last && row > 0; x++)
            for (int k = 0; k < 3; k++)
                total[k] += row * part_of_bin(x, a, b) * planes[k][y * n + x];
    }
    if (signal)
        *signal = total[0];
    if (mean)
        *mean = total[2] > 0 ? total[0] / total[1] : (double)NAN;
    return AIRY_OK;
}
