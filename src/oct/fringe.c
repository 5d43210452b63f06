#include "oct/fringe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"
#include "fft/fft_table.h"

#define TWO_PI 6.283185307179586

airy_status airy_fringe_begin(struct airy_fringe_plan *plan, size_t samples, const double *window)
{
    void *block = NULL;
    *plan = (struct airy_fringe_plan){.samples = samples, .grid = 2};
    while (plan->grid < 2 * samples)
        plan->grid *= 2;
    AIRY_TRY(airy_memory_calloc(&block, 5 * plan->grid + 2 * samples, sizeof(double),
                                "transforms of a fringe"));
    plan->circle = block;
    plan->buffer = plan->circle + 2 * plan->grid;
    plan->power = plan->buffer + 2 * plan->grid;
    plan->smooth = plan->power + plan->grid / 2;
    plan->window = plan->smooth + plan->grid / 2;
    plan->hann = plan->window + samples;
    airy_fft_circle(plan->circle, plan->grid);
    for (size_t j = 0; j < samples; j++)
        plan->hann[j] = 0.5 - 0.5 * cos(TWO_PI * (double)j / (double)(samples - 1));
    memcpy(plan->window, window, samples * sizeof(double));
    return AIRY_OK;
}

void airy_fringe_end(struct airy_fringe_plan *plan)
{
    free(plan->circle);
    *plan = (struct airy_fringe_plan){0};
}

static void multiply(double *x, double re, double im)
{
    const double a = x[0] * re - x[1] * im;
    x[1] = x[0] * im + x[1] * re;
    x[0] = a;
}

/* window NULL: 1. */
static void load(const struct airy_fringe_plan *plan, const double *z, const double *window)
{
    memset(plan->buffer, 0, 2 * plan->grid * sizeof(double));
    for (size_t j = 0; j < plan->samples; j++) {
        const double w = window ? window[j] : 1;
        plan->buffer[2 * j] = w * z[2 * j];
        plan->buffer[2 * j + 1] = w * z[2 * j + 1];
    }
    airy_fft_by_halves(plan->buffer, plan->circle, plan->grid);
}

void airy_fringe_power(const struct airy_fringe_plan *plan, const double *z, const double *window,
                       double *power)
{
    load(plan, z, window);
    for (size_t i = 0; i < plan->grid / 2; i++) {
        const double re = plan->buffer[2 * i], im = plan->buffer[2 * i + 1];
        power[i] = re * re + im * im;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct airy_fringe_band airy_fringe_find(const struct airy_fringe_plan *plan, const double *z)
{
    enum { REACH = 4 }; /* places on either side that are averaged */
    const size_t half = plan->grid / 2;
    double *s = plan->smooth;
    airy_fringe_power(plan, z, plan->hann, plan->power);
    for (size_t i = 0; i < half; i++) {
        const size_t first = i > REACH ? i - REACH : 0,
                     last = i + REACH < half ? i + REACH : half - 1;
        double sum = 0;
        for (size_t k = first; k <= last; k++)
            sum += plan->power[k];
        s[i] = sum / (double)(last - first + 1);
    }
    /* What is left of the spectrum's shape lies in front of the first rise. */
    const size_t bin = plan->grid / plan->samples;
    size_t low = 4 * bin;
    while (low + 1 < half && s[low + 1] < s[low])
        low++;
    struct airy_fringe_band band = {.peak = low};
    for (size_t i = low; i < half; i++)
        band.peak = s[i] > s[band.peak] ? i : band.peak;
    /* The middle value of the outer half, where neither mirrors nor their echoes are as a rule. */
    memcpy(plan->power, s + half / 2, (half - half / 2) * sizeof(double));
    qsort(plan->power, half - half / 2, sizeof(double), ascending);
    const double noise = plan->power[(half - half / 2) / 2], top = s[band.peak];
    const double limit = fmax(1e-4 * top, 4 * noise);
    band.contrast = 10 * log10(fmax(top, 1e-300) / fmax(noise, 1e-300));
    /* Out to the noise, or over the bottom of a valley to where it rises again. */
    double least = top;
    size_t i = band.peak;
    for (band.first = i; i > low && s[i] > limit && s[i] <= 4 * least; i--)
        if (s[i] <= least) {
            least = s[i];
            band.first = i;
        }
    band.valley = least / top;
    least = top;
    i = band.peak;
    for (band.last = i; i + 1 < half && s[i] > limit && s[i] <= 4 * least; i++)
        if (s[i] <= least) {
            least = s[i];
            band.last = i;
        }
    const size_t edge = (band.last - band.first) / 4 + 2 * bin;
    band.low = band.first > edge + low / 2 ? band.first - edge : low / 2;
    band.low = band.low < band.first ? band.low : band.first;
    band.high = band.last + edge < half ? band.last + edge : half - 1;
    return band;
}

struct airy_fringe_band airy_fringe_above(const struct airy_fringe_plan *plan,
                                          const struct airy_fringe_band *band)
{
    struct airy_fringe_band all = *band;
    for (size_t i = band->first; i > band->low; i--)
        all.first = plan->smooth[i] < plan->smooth[all.first] ? i : all.first;
    const size_t edge = 2 * (plan->grid / plan->samples);
    all.low = all.first > edge ? all.first - edge : 0;
    all.last = all.high = plan->grid / 2 - 1;
    return all;
}

/* 1 in the band, cosines at its edges. */
static double pass(const struct airy_fringe_band *band, size_t i)
{
    if (i < band->low || i > band->high)
        return 0;
    const double below =
        i < band->first ? (double)(band->first - i) / (double)(band->first - band->low + 1) : 0;
    const double above =
        i > band->last ? (double)(i - band->last) / (double)(band->high - band->last + 1) : 0;
    return 0.5 + 0.5 * cos(0.5 * TWO_PI * (below + above));
}

void airy_fringe_analytic(const struct airy_fringe_plan *plan, const double *z,
                          const struct airy_fringe_band *band, double *a)
{
    load(plan, z, NULL);
    /* The way back is the way there with the conjugate in and out. */
    for (size_t i = 0; i < plan->grid; i++) {
        const double p = pass(band, i) / (double)plan->grid;
        plan->buffer[2 * i] *= p;
        plan->buffer[2 * i + 1] *= -p;
    }
    airy_fft_by_halves(plan->buffer, plan->circle, plan->grid);
    for (size_t j = 0; j < plan->samples; j++) {
        a[2 * j] = plan->buffer[2 * j];
        a[2 * j + 1] = -plan->buffer[2 * j + 1];
    }
}

/* The magnitude at any place between bins. */
static double magnitude(const struct airy_fringe_plan *plan, const double *z, double position)
{
    const double step = -TWO_PI * position / (double)plan->samples, re = cos(step), im = sin(step);
    double turn[2] = {1, 0}, sum[2] = {0, 0};
    for (size_t j = 0; j < plan->samples; j++) {
        if (j % 64 == 0) { /* so that rounding does not add up */
            turn[0] = cos(step * (double)j);
            turn[1] = sin(step * (double)j);
        }
        double v[2] = {z[2 * j], z[2 * j + 1]};
        multiply(v, turn[0], turn[1]);
        sum[0] += plan->window[j] * v[0];
        sum[1] += plan->window[j] * v[1];
        multiply(turn, re, im);
    }
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1]);
}

/* Bins from the peak to half of its height, in one direction. */
static double flank(const struct airy_fringe_plan *plan, const double *z, double peak,
                    double height, double direction)
{
    const double most = 0.25 * (double)plan->samples;
    double out = 0.25;
    while (out < most && magnitude(plan, z, peak + direction * out) > 0.5 * height)
        out += 0.25;
    double in = out - 0.25;
    for (int i = 0; i < 24; i++) {
        const double middle = 0.5 * (in + out);
        if (magnitude(plan, z, peak + direction * middle) > 0.5 * height)
            in = middle;
        else
            out = middle;
    }
    return in;
}

void airy_fringe_width(const struct airy_fringe_plan *plan, const double *z, double *position,
                       double *width)
{
    double peak = *position, height = magnitude(plan, z, peak);
    /* Steps of a quarter bin uphill, then half as wide ones each time round. */
    for (double step = 0.25; step > 1e-6; step *= 0.5)
        for (int moved = 1; moved;) {
            moved = 0;
            for (int side = -1; side <= 1; side += 2) {
                const double v = magnitude(plan, z, peak + side * step);
                if (v > height) {
                    height = v;
                    peak += side * step;
                    moved = 1;
                }
            }
        }
    *position = peak;
    *width = flank(plan, z, peak, height, 1) + flank(plan, z, peak, height, -1);
}
