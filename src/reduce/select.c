/*
 * A sample says where the element probably lies, one walk counts what is below and lists what is
 * there; where the guess was wrong, or too many elements are alike, the range of keys is divided by
 * histograms until few are left.
 */
#include "reduce/select.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "shared/middle.h"

double airy_select_nth(double *values, size_t count, size_t rank)
{
    size_t lo = 0, hi = count - 1;
    while (lo < hi) {
        /* The median of three as pivot; the ends bound the loops below. */
        const size_t mid = lo + (hi - lo) / 2;
        const double a = values[lo], b = values[mid], c = values[hi];
        const double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = lo, j = hi;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double t = values[i];
            values[i++] = values[j];
            values[j--] = t;
        }
        /* [lo, j] <= pivot <= [j + 1, hi]; where both stopped at one element, it is the pivot. */
        if (i == j) {
            if (rank == i)
                return values[i];
            j = rank < i ? i - 1 : i;
        }
        if (rank <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return values[lo];
}

/* Well-mixed bits of a number (finalizer of SplitMix64, Steele et al. 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/*
 * As many runs as make looking at the sample, of s elements, cost no more than what lies in the
 * window that it gives, 4 / sqrt(s) of the array. A sample of fewer than 128 elements says little.
 */
static size_t sample_runs(uint64_t count)
{
    for (size_t runs = 8; runs < AIRY_SAMPLE_RUNS; runs *= 2) {
        const double s = (double)(runs * AIRY_SAMPLE_RUN);
        if (3 * s * sqrt(s) >= (double)count)
            return runs;
    }
    return AIRY_SAMPLE_RUNS;
}

airy_status airy_select_sample(double *values, size_t *count,
                               const struct airy_reduce_source *source,
                               const struct airy_reduce_order *order)
{
    double runs[AIRY_SAMPLE_RUNS][AIRY_SAMPLE_RUN];
    uint64_t first[AIRY_SAMPLE_RUNS];
    const uint64_t places = source->count > AIRY_SAMPLE_RUN ? source->count - AIRY_SAMPLE_RUN + 1
                                                            : 1;
    const size_t wanted = sample_runs(source->count);
    /* A run somewhere in each of as many parts: a gradient is sampled evenly. */
    for (size_t i = 0; i < wanted; i++)
        first[i] = (i * places + mix(i + 1) % places) / wanted;
    AIRY_TRY(source->fns->sample(source, first, wanted, runs));
    size_t n = 0;
    for (size_t i = 0; i < wanted; i++)
        for (size_t k = 0; k < AIRY_SAMPLE_RUN; k++) {
            const double x = runs[i][k];
            values[n] = order->deviation ? fabs(x - order->center) : x;
            n += (size_t)((x >= order->lo) & (x <= order->hi));
        }
    *count = n;
    return AIRY_OK;
}

void airy_select_window(double *lo, double *hi, double *sample, size_t count, uint64_t among,
                        uint64_t rank)
{
    *lo = (double)INFINITY;
    *hi = -(double)INFINITY;
    if (count == 0)
        return;
    /*
     * The rank of a sample's quantile has a standard deviation of sqrt(count) / 2 at most; four of
     * them, since neighbours are alike.
     */
    const double at = (double)rank / (double)among * (double)count,
                 step = 2.0 * sqrt((double)count);
    const double first = floor(at - step), last = ceil(at + step);
    *lo = first < 0 ? -DBL_MAX : airy_select_nth(sample, count, (size_t)first);
    *hi = last >= (double)count ? DBL_MAX : airy_select_nth(sample, count, (size_t)last);
}

/*
 * List [lo, hi] and take the element of that rank and the next one from it. *found: how many of them
 * can be had so.
 */
static airy_status select_listed(double pair[2], int *found,
                                 const struct airy_reduce_source *source,
                                 const struct airy_reduce_order *order, double lo, double hi,
                                 uint64_t rank)
{
    uint64_t below, inside;
    double *list = NULL;
    AIRY_TRY(source->fns->list(source, order, lo, hi, &below, &inside, lo < hi ? &list : NULL));
    *found = 0;
    if (rank >= below && (lo == hi || list))
        for (uint64_t at = rank - below; *found < 2 && at < inside; at++)
            pair[(*found)++] = lo == hi ? lo : airy_select_nth(list, inside, at);
    free(list);
    return AIRY_OK;
}

/* Divide the keys until the element's range is worth listing, or a single value. */
static airy_status select_divided(double pair[2], int *found,
                                  const struct airy_reduce_source *source,
                                  const struct airy_reduce_order *order, uint64_t among,
                                  uint64_t rank)
{
    uint64_t bins[1 << AIRY_KEY_BITS];
    uint64_t first = airy_key_of(-DBL_MAX), last = airy_key_of(DBL_MAX), before = 0, left = among;
    while (first < last && left > airy_reduce_list_limit(source->count)) {
        const unsigned width = 64u - (unsigned)__builtin_clzll(last - first),
                       shift = width > AIRY_KEY_BITS ? width - AIRY_KEY_BITS : 0;
        size_t bin = 0;
        memset(bins, 0, sizeof(bins));
        AIRY_TRY(source->fns->keys(source, order, first, last, shift, bins));
        while (bin + 1 < sizeof(bins) / sizeof(bins[0]) && rank >= before + bins[bin])
            before += bins[bin++];
        left = bins[bin];
        first += (uint64_t)bin << shift;
        const uint64_t span = ((uint64_t)1 << shift) - 1;
        last = last - first > span ? first + span : last;
    }
    *found = 1;
    pair[0] = airy_of_key(first);
    return first == last ? AIRY_OK
                         : select_listed(pair, found, source, order, airy_of_key(first),
                                         airy_of_key(last), rank);
}

/* A value so frequent in the sample that a list of what is near it would be too long. */
static bool is_frequent(double x, const double *sample, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += sample[i] == x;
    return count > n / 64;
}

/* The element of that rank, and the next one where *found is 2. */
static airy_status select_rank(double pair[2], int *found, const struct airy_reduce_source *source,
                               const struct airy_reduce_order *order, uint64_t among, uint64_t rank)
{
    double sample[AIRY_SAMPLE], lo, hi;
    size_t n;
    *found = 0;
    AIRY_TRY(airy_select_sample(sample, &n, source, order));
    airy_select_window(&lo, &hi, sample, n, among, rank);
    if (lo < hi && is_frequent(lo, sample, n))
        AIRY_TRY(select_listed(pair, found, source, order, lo, lo, rank));
    if (*found == 0 && lo < hi && is_frequent(hi, sample, n))
        AIRY_TRY(select_listed(pair, found, source, order, hi, hi, rank));
    if (*found == 0 && lo <= hi)
        AIRY_TRY(select_listed(pair, found, source, order, lo, hi, rank));
    return *found ? AIRY_OK : select_divided(pair, found, source, order, among, rank);
}

airy_status airy_select_pair(double pair[2], const struct airy_reduce_source *source,
                             const struct airy_reduce_order *order, uint64_t among, uint64_t rank,
                             bool both)
{
    int found;
    double next[2];
    AIRY_TRY(select_rank(pair, &found, source, order, among, rank));
    if (found == 2)
        return AIRY_OK;
    next[0] = pair[0];
    if (both && rank + 1 < among)
        AIRY_TRY(select_rank(next, &found, source, order, among, rank + 1));
    pair[1] = next[0];
    return AIRY_OK;
}

airy_status airy_select_median(double *value, const struct airy_reduce_source *source,
                               const struct airy_reduce_order *order, uint64_t among)
{
    double pair[2];
    *value = (double)NAN;
    if (among == 0)
        return AIRY_OK;
    AIRY_TRY(airy_select_pair(pair, source, order, among, (among - 1) / 2, among % 2 == 0));
    *value = airy_middle(pair[0], pair[among % 2 == 0]);
    return AIRY_OK;
}
