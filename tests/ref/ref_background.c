#include "ref_background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double round_to(double v, double s)
{
    if (s == 0)
        return v;
    const double step = pow(2, floor(log2(s)) - 20);
    return fabs(v / step) < 0x1p51 ? step * nearbyint(v / step) : v;
}

/* Mean and population standard deviation of those in [lo, hi]; how many. */
static size_t moments(const double *x, size_t n, double lo, double hi, double *mean, double *std)
{
    size_t count = 0;
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= lo && x[i] <= hi) {
            sum += x[i];
            count++;
        }
    const long double m = sum / (long double)count;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= lo && x[i] <= hi)
            squares += (x[i] - m) * (x[i] - m);
    *mean = (double)m;
    *std = (double)sqrtl(squares / (long double)count);
    return count;
}

/* The median of bins [lo, hi]: take them from both ends until the two meet. */
static double meet(const double *bins, int lo, int hi)
{
    double left = 0, right = 0;
    int l = lo, h = hi;
    while (l <= h) {
        if (left < right)
            left += bins[l++];
        else
            right += bins[h--];
    }
    if (h < 0)
        return 0;
    const double most = fmax(bins[l], bins[h]);
    return h + 0.5 + (most > 0 ? (right - left) / (2 * most) : 0);
}

/* A mesh of few different values, most of which are one: about that one, by the step to the next. */
static void estimate_coarse(double *level, double *noise, const double *x, size_t n, double value,
                            double low, double high, const struct ref_background *p)
{
    double step = (double)INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] != value)
            step = fmin(step, fabs(x[i] - value));
    if (isinf(step))
        return;
    low = fmin(low, value - 3.5 * step);
    high = fmax(high, value + 3.5 * step);
    for (int round = 0; round < 16; round++) {
        double mean, std;
        const size_t found = moments(x, n, low, high, &mean, &std);
        if (found == 0 || found == count)
            break;
        count = found;
        *level = p->estimate == 1 ? value : mean;
        *noise = std;
        low = mean - fmax(3 * std, 3.5 * step);
        high = mean + fmax(3 * std, 3.5 * step);
    }
}

/* The value of the bin of the median, if a quarter of all pixels in bins is there; NaN: it is not. */
static double find_crowd(const double *bins, int levels, const double *x, size_t n, double zero,
                         double scale)
{
    double count = 0, upto = bins[0], value = (double)INFINITY;
    int k = 0;
    for (int i = 0; i < levels; i++)
        count += bins[i];
    while (2 * upto < count)
        upto += bins[++k];
    if (count < 64 || bins[k] < floor(count / 4))
        return (double)NAN;
    for (size_t i = 0; i < n; i++)
        if (floor((x[i] - zero) / scale + 0.5) == k)
            value = fmin(value, x[i]);
    return value;
}

/*
 * What the pixels of a mesh in [*low, *high] are, of n that are not NaN. True: they lie in one bin,
 * and are to be looked at again, from *low to *high.
 */
static bool estimate(double *level, double *noise, const double *x, size_t n,
                     const struct ref_background *p, double *low, double *high, size_t *looked,
                     double *crowd)
{
    double mean, std, min = (double)INFINITY, max = -(double)INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= *low && x[i] <= *high) {
            min = fmin(min, x[i]);
            max = fmax(max, x[i]);
        }
    const size_t left = moments(x, n, *low, *high, &mean, &std);
    *level = *crowd = min;
    *noise = 0;
    const int levels = (int)fmin(4096, floor(1.25 * sqrt(2 / M_PI) * (double)left + 1));
    if ((min == max && !p->sep) || levels < 2) {
        *low = *high = min;
        return false;
    }
    const double m = round_to(mean, std), s = round_to(std, std);
    double zero = m - 5 * s, scale = 10 * s / levels;
    if (p->sep) {
        zero = min == max ? (float)mean : (float)(mean - 5 * std);
        scale = min == max ? 1 : (float)(10 * std / levels);
    }
    double *bins = calloc((size_t)levels + 1, sizeof(*bins));
    for (size_t i = 0; i < n; i++) {
        double at = floor((x[i] - zero) / scale + 0.5);
        if (p->sep)
            at = trunc((float)x[i] / (float)scale +
                       (float)(0.499999 - (double)((float)zero / (float)scale)));
        if (at >= 0 && at < levels)
            bins[(int)at]++;
    }
    *crowd = find_crowd(bins, levels, x, n, zero, scale);
    int first = 0, last = levels - 1;
    double median = 0, deviation = 10.0 * last, before = 1, average = 0;
    for (int pass = 0; pass < 100 && deviation >= 0.1 && fabs(deviation / before - 1) > 1e-4;
         pass++) {
        double count = 0, sum = 0, squares = 0;
        median = meet(bins, first, last);
        for (int i = first; i <= last; i++) {
            count += bins[i];
            sum += bins[i] * i;
            squares += bins[i] * i * i;
        }
        average = sum / count;
        before = deviation;
        deviation = sqrt(fmax(squares / count - average * average, 0));
        first = (int)fmax(floor(median - 3 * deviation + 0.5), 0);
        last = (int)fmin(floor(median + 3 * deviation + 0.5), levels - 1);
    }
    double at = average;
    if (deviation > 0 && p->estimate == 1)
        at = median;
    if (deviation > 0 && p->estimate == 0)
        at = fabs((average - median) / deviation) < 0.3 ? 2.5 * median - 1.5 * average : median;
    *level = zero + at * scale;
    *noise = deviation * scale;
    free(bins);
    *low = zero + (first - 1) * scale;
    *high = zero + (last + 1) * scale;
    const bool fewer = left < *looked;
    *looked = left;
    return !p->sep && levels >= 8 && fewer && deviation < fmin(1, 0.02 * levels);
}

static void estimate_mesh(double *level, double *noise, const double *x, size_t n,
                          const struct ref_background *p)
{
    double mean, std;
    moments(x, n, -(double)INFINITY, (double)INFINITY, &mean, &std);
    const double m = round_to(mean, std), s = round_to(std, std);
    double low = m - 2 * s, high = m + 2 * s;
    if (p->sep) {
        low = (float)(mean - 2 * std);
        high = (float)(mean + 2 * std);
    }
    size_t looked = n + 1; /* of the look before */
    double crowd = (double)NAN;
    const bool differ = std > 0;
    while (estimate(level, noise, x, n, p, &low, &high, &looked, &crowd))
        ;
    if (isnan(crowd) || p->sep || !differ)
        return;
    estimate_coarse(level, noise, x, n, crowd, low, high, p);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void fill(struct ref_nodes *nodes)
{
    const size_t n = nodes->ny * nodes->nx;
    double *level = malloc(n * sizeof(*level)), *noise = malloc(n * sizeof(*noise));
    memcpy(level, nodes->level, n * sizeof(*level));
    memcpy(noise, nodes->noise, n * sizeof(*noise));
    for (size_t i = 0; i < n; i++) {
        double nearest = (double)INFINITY, count = 0, sums[2] = {0, 0};
        if (!isnan(level[i]))
            continue;
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < n; j++) {
                const double dy = (double)(j / nodes->nx) - (double)(i / nodes->nx),
                             dx = (double)(j % nodes->nx) - (double)(i % nodes->nx),
                             far = dx * dx + dy * dy;
                if (isnan(level[j]))
                    continue;
                if (pass == 0)
                    nearest = fmin(nearest, far);
                else if (far == nearest) {
                    count++;
                    sums[0] += level[j];
                    sums[1] += noise[j];
                }
            }
        nodes->level[i] = sums[0] / count;
        nodes->noise[i] = sums[1] / count;
    }
    free(level);
    free(noise);
}

/* Median of the window about node y, x, which shrinks so that it stays symmetric. */
static double window_median(const double *v, const struct ref_nodes *nodes,
                            const struct ref_background *p, long y, long x)
{
    const long ny = (long)nodes->ny, nx = (long)nodes->nx;
    double values[63 * 63];
    size_t n = 0;
    long ry = (long)p->filter[0] / 2, rx = (long)p->filter[1] / 2;
    while (y - ry < 0 || y + ry >= ny)
        ry--;
    while (x - rx < 0 || x + rx >= nx)
        rx--;
    for (long j = y - ry; j <= y + ry; j++)
        for (long i = x - rx; i <= x + rx; i++)
            values[n++] = v[j * nx + i];
    return median_of(values, n);
}

static void filter(struct ref_nodes *nodes, const struct ref_background *p)
{
    const size_t n = nodes->ny * nodes->nx;
    double *level = malloc(n * sizeof(*level)), *noise = malloc(n * sizeof(*noise));
    for (size_t i = 0; i < n; i++) {
        const long y = (long)(i / nodes->nx), x = (long)(i % nodes->nx);
        level[i] = window_median(nodes->level, nodes, p, y, x);
        noise[i] = window_median(nodes->noise, nodes, p, y, x);
        if (fabs(level[i] - nodes->level[i]) < p->threshold) {
            level[i] = nodes->level[i];
            noise[i] = nodes->noise[i];
        }
    }
    memcpy(nodes->level, level, n * sizeof(*level));
    memcpy(nodes->noise, noise, n * sizeof(*noise));
    nodes->middle_level = median_of(level, n);
    nodes->middle_noise = median_of(noise, n);
    free(level);
    free(noise);
}

bool ref_background_nodes(struct ref_nodes *nodes, const double *x, const struct ref_background *p)
{
    *nodes = (struct ref_nodes){.ny = (p->height + p->mesh[0] - 1) / p->mesh[0],
                                .nx = (p->width + p->mesh[1] - 1) / p->mesh[1]};
    const size_t count = nodes->ny * nodes->nx;
    nodes->level = malloc(count * sizeof(double));
    nodes->noise = malloc(count * sizeof(double));
    double *values = malloc(p->height * p->width * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        size_t n = 0, area = 0;
        const size_t y0 = i / nodes->nx * p->mesh[0], x0 = i % nodes->nx * p->mesh[1];
        for (size_t y = y0; y < y0 + p->mesh[0] && y < p->height; y++)
            for (size_t j = x0; j < x0 + p->mesh[1] && j < p->width; j++, area++) {
                const double v = p->sep ? (double)(float)x[y * p->width + j] : x[y * p->width + j];
                if (fabs(v) <= 1e150)
                    values[n++] = v;
            }
        nodes->level[i] = nodes->noise[i] = (double)NAN;
        if ((double)n >= 0.5 * (double)area)
            estimate_mesh(&nodes->level[i], &nodes->noise[i], values, n, p);
        else
            nodes->bad++;
    }
    free(values);
    if (nodes->bad == count)
        return false;
    fill(nodes);
    filter(nodes, p);
    return true;
}

/*
 * A sixth of the second derivatives of the natural spline: s[i-1] + 4 s[i] + s[i+1] = second
 * differences, by iteration, which halves the error each time.
 */
static void bend(double *s, const double *v, size_t n, bool sep)
{
    double slope[4096], part[4096];
    memset(s, 0, n * sizeof(*s));
    if (n < 3)
        return;
    for (int pass = 0; pass < 80 && !sep; pass++)
        for (size_t i = 1; i + 1 < n; i++)
            s[i] = (v[i + 1] - 2 * v[i] + v[i - 1] - s[i - 1] - s[i + 1]) / 4;
    if (!sep)
        return;
    slope[0] = part[0] = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        slope[i] = -1 / (slope[i - 1] + 4);
        part[i] = slope[i] * (part[i - 1] - 6 * (v[i + 1] - 2 * v[i] + v[i - 1]));
    }
    for (size_t i = n - 2; i > 0; i--)
        s[i] = (slope[i] * s[i + 1] + part[i]) / 6;
}

/* The spline with values v and bends s at 0, 1, ...; a cubic goes on beyond the ends. */
static double spline_at(const double *v, const double *s, size_t n, double at)
{
    if (n == 1)
        return v[0];
    const double lo = fmin(fmax(floor(at), 0), (double)n - 2), t = at - lo, u = 1 - t;
    const size_t i = (size_t)lo;
    return u * v[i] + t * v[i + 1] + (u * u * u - u) * s[i] + (t * t * t - t) * s[i + 1];
}

void ref_background_map(double *map, const double *nodes, const struct ref_background *p)
{
    const size_t ny = (p->height + p->mesh[0] - 1) / p->mesh[0],
                 nx = (p->width + p->mesh[1] - 1) / p->mesh[1];
    double column[4096], row[4096], bends[4096];
    for (size_t y = 0; y < p->height; y++) {
        const double at = ((double)y + (p->sep ? 0 : 0.5)) / (double)p->mesh[0] - 0.5;
        for (size_t i = 0; i < nx; i++) {
            for (size_t j = 0; j < ny; j++)
                column[j] = nodes[j * nx + i];
            bend(bends, column, ny, p->sep);
            row[i] = spline_at(column, bends, ny, at);
        }
        bend(bends, row, nx, p->sep);
        if (p->sep && ny == 1)
            memset(bends, 0, sizeof(bends));
        for (size_t x = 0; x < p->width; x++)
            map[y * p->width + x] =
                spline_at(row, bends, nx, ((double)x + 0.5) / (double)p->mesh[1] - 0.5);
    }
}
