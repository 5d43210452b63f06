#include "jobs/simulate/simulated_sky.h"

#include <math.h>
#include <stdlib.h>

/* Mixer of SplitMix64. Source: G. Steele et al., OOPSLA 2014, doi:10.1145/2660193.2660195. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t draw(uint64_t seed, uint64_t index)
{
    return mix(seed + (index + 1) * 0x9E3779B97F4A7C15u);
}

static double draw_unit(uint64_t seed, uint64_t index)
{
    return (double)(draw(seed, index) >> 11) * 0x1p-53;
}

static struct airy_sky_source random_source(const struct airy_sky_model *m, uint64_t number)
{
    double u[8];
    for (uint64_t j = 0; j < 8; j++)
        u[j] = draw_unit(m->seed ^ 0xA5A5A5A5A5A5A5A5u, 8 * number + j);
    const double amplitude = m->amplitude[0] / (1.0 - u[2]);
    return (struct airy_sky_source){
        .x = u[0] * (double)m->width,
        .y = u[1] * (double)m->height,
        .amplitude = amplitude > m->amplitude[1] ? m->amplitude[1] : amplitude,
        .width = m->widths[0] + u[3] * u[3] * u[3] * (m->widths[1] - m->widths[0]),
        .shear = (u[5] - 0.5) * 0.8,
        .stretch = 1.0 + u[6],
        .radius = u[4] < m->rings ? 10.0 + u[7] * 40.0 : 0.0,
    };
}

static long clamp(double v, long most)
{
    return v < 0 ? 0 : v > (double)most ? most : (long)v;
}

/* Up to 12 widths around the centre; what lies farther out is left away. */
static void add_source(double *sum, const struct airy_sky_model *m, const struct airy_sky_source *s)
{
    const double half = floor(s->radius + 12.0 * s->width) + 1, cx = floor(s->x), cy = floor(s->y);
    const long right = (long)m->width - 1, bottom = (long)m->height - 1;
    if (cx + half < 0 || cy + half < 0 || cx - half > (double)right || cy - half > (double)bottom)
        return;
    const long x0 = clamp(cx - half, right), x1 = clamp(cx + half, right),
               y0 = clamp(cy - half, bottom), y1 = clamp(cy + half, bottom);
    for (long y = y0; y <= y1; y++) {
        for (long x = x0; x <= x1; x++) {
            const double dx = (double)x - s->x, dy = (double)y - s->y, u = dx + s->shear * dy,
                         v = dy * s->stretch, r2 = u * u + v * v;
            double t = 1.0;
            if (s->radius > 0.0) {
                const double q = (r2 - s->radius * s->radius) / (2.0 * s->radius * s->width);
                t += q * q;
            } else {
                t += r2 / (s->width * s->width);
            }
            sum[(size_t)y * m->width + (size_t)x] += s->amplitude / (t * t);
        }
    }
}

/* Sums of twelve 16-bit numbers, twice, less their mean: a standard deviation of 2^17. */
static void draw_noise(int64_t *noise, const struct airy_sky_model *m)
{
    const size_t count = m->height * m->width;
    for (size_t p = 0; p < count; p++) {
        int64_t sum = 0;
        for (uint64_t j = 0; j < 3; j++) {
            const uint64_t z = draw(m->seed, 3 * (uint64_t)p + j);
            for (int i = 0; i < 4; i++)
                sum += (int64_t)(z >> (16 * i) & 0xFFFF);
        }
        noise[p] = 2 * sum - 786420;
    }
}

static const int beam[5] = {1, 4, 6, 4, 1}; /* along each axis, around the edges */

static void blur_rows(int64_t *out, const int64_t *in, size_t height, size_t width)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            int64_t sum = 0;
            for (size_t i = 0; i < 5; i++)
                sum += beam[i] * in[y * width + (x + i + 5 * width - 2) % width];
            out[y * width + x] = sum;
        }
}

static void blur_columns(int64_t *out, const int64_t *in, size_t height, size_t width)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            int64_t sum = 0;
            for (size_t i = 0; i < 5; i++)
                sum += beam[i] * in[(y + i + 5 * height - 2) % height * width + x];
            out[y * width + x] = sum;
        }
}

static bool is_blank(const struct airy_sky_model *m, size_t x, size_t y, double r2)
{
    const bool bar = y >= m->height / 3 && y < m->height / 3 + 3 && x >= m->width / 4 &&
                     x < m->width / 4 + m->width / 5;
    return m->blank != 0.0 && (4.0 * r2 > m->blank || bar);
}

static void add_up(float *pixels, const struct airy_sky_model *m, const int64_t *noise,
                   const double *sum)
{
    for (size_t y = 0; y < m->height; y++)
        for (size_t x = 0; x < m->width; x++) {
            const double u = (double)x / (double)m->width - 0.5,
                         v = (double)y / (double)m->height - 0.5, r2 = u * u + v * v;
            /* 70 = the beam's gain in standard deviation: 9175040 = 70 * 2^17 */
            const double e = (double)noise[y * m->width + x] / 9175040.0;
            const double rise = 1.0 + m->gradient * r2;
            const double level = m->background[0] + m->background[1] * u +
                                 m->background[2] * (v * v);
            const double value = (level + m->sigma * rise * e) + sum[y * m->width + x];
            pixels[y * m->width + x] = is_blank(m, x, y, r2) ? NAN : (float)value;
        }
}

bool airy_simulated_sky(float *pixels, const struct airy_sky_model *m)
{
    const size_t count = m->height * m->width;
    double *sum = calloc(count, sizeof(*sum));
    int64_t *noise = malloc(count * sizeof(*noise)), *rows = malloc(count * sizeof(*rows));
    const bool good = sum && noise && rows;
    if (good) {
        /* Random sources come behind the given ones: sums depend on their order. */
        for (size_t i = 0; i < m->count; i++)
            add_source(sum, m, &m->sources[i]);
        for (size_t i = 0; i < m->random; i++) {
            const struct airy_sky_source source = random_source(m, i);
            add_source(sum, m, &source);
        }
        draw_noise(noise, m);
        blur_rows(rows, noise, m->height, m->width);
        blur_columns(noise, rows, m->height, m->width);
        add_up(pixels, m, noise, sum);
    }
    free(sum);
    free(noise);
    free(rows);
    return good;
}
