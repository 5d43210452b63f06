#include "phantom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/random.h"
#include "exact_math.h"

enum { LAYERS = 5, TISSUE = 0, BLOOD = 1 };

/* Thickness in parts of the depth, reflectivity of a bin of 1024 and loss over the depth, in dB. */
struct layer {
    double thickness, reflectivity, loss, wave;
};

static const struct layer layers[LAYERS] = {
    {0.012, -33, 40, 0.0}, {0.06, -50, 22, 0.1}, {0.10, -42, 28, 0.25},
    {0.16, -47, 20, 0.35}, {1.00, -44, 30, 0.0},
};
static const struct layer blood = {0, -47, 70, 0};

/* A vessel's cross-section, in parts of the frame's width and of the depth below the surface. */
static const double vessel_x = 0.62, vessel_z = 0.21, vessel_width = 0.085, vessel_height = 0.065;

/* Amplitude of a power ratio in dB. */
static double amplitude(double db)
{
    return exact_exp(db * 0.11512925464970229); /* ln(10) / 20 */
}

bool phantom_begin(struct phantom_scratch *s, const struct phantom *p)
{
    const size_t columns = 2 * p->beam;
    memset(s, 0, sizeof(*s));
    bool good = true;
    for (int i = 0; i < 2; i++) {
        s->column[i] = malloc(columns * 2 * p->depth * sizeof(float));
        s->drawn[i] = calloc(columns, sizeof(uint64_t));
        s->sum[i] = malloc(2 * p->depth * sizeof(float));
        good = good && s->column[i] && s->drawn[i] && s->sum[i];
    }
    s->words = malloc(4 * p->depth * sizeof(uint32_t));
    return good && s->words;
}

void phantom_end(struct phantom_scratch *s)
{
    for (int i = 0; i < 2; i++) {
        free(s->column[i]);
        free(s->drawn[i]);
        free(s->sum[i]);
    }
    free(s->words);
    memset(s, 0, sizeof(*s));
}

/* Sums of four 16-bit numbers less their mean, of variance 1/2 for either part. */
static void draw_column(const struct phantom *p, struct phantom_scratch *s, int kind,
                        uint64_t number, float *to)
{
    static const float scale = 0x1.3988e2p-16f; /* sqrt(1/2) / sqrt(4 (2^32 - 1) / 12) */
    const size_t depth = p->depth;
    const uint64_t salt = kind == BLOOD ? 0x3C6EF372FE94F82Bu : 0xBB67AE8584CAA73Bu;
    airy_random_words(s->words, 4 * depth, p->seed ^ salt, s->stream[kind], 4 * depth * number);
    for (size_t d = 0; d < depth; d++)
        for (size_t i = 0; i < 2; i++) {
            const uint32_t a = s->words[4 * d + 2 * i], b = s->words[4 * d + 2 * i + 1];
            const uint32_t sum = (a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16);
            to[i * depth + d] = (float)((int32_t)sum - 131070) * scale;
        }
}

/*
 * Scatterers around x, weighted by a beam that falls as a cosine; neighbouring lines share most of
 * them.
 */
static void gather(const struct phantom *p, struct phantom_scratch *s, int kind, double x)
{
    const size_t columns = 2 * p->beam, depth = p->depth;
    const double left = floor(x);
    double weight[2 * PHANTOM_MOST_BEAM], squares = 0;
    for (size_t i = 0; i < columns; i++) {
        double c, turn;
        const double distance = x - left + (double)p->beam - 1 - (double)i;
        exact_turn(distance / (double)columns, &c, &turn);
        weight[i] = 0.5 + 0.5 * c;
        squares += weight[i] * weight[i];
    }
    const double unit = 1 / sqrt(squares);
    memset(s->sum[kind], 0, 2 * depth * sizeof(float));
    for (size_t i = 0; i < columns; i++) {
        /* Columns count from the leftmost that line 0 sees. */
        const uint64_t number = (uint64_t)(left + 1) + i;
        float *column = s->column[kind] + number % columns * 2 * depth;
        if (s->drawn[kind][number % columns] != number + 1) {
            draw_column(p, s, kind, number, column);
            s->drawn[kind][number % columns] = number + 1;
        }
        const float w = (float)(weight[i] * unit);
        float *sum = s->sum[kind];
        for (size_t d = 0; d < 2 * depth; d++)
            sum[d] += w * column[d];
    }
}

/* Columns of another stream are drawn anew. */
static void select_stream(const struct phantom *p, struct phantom_scratch *s, int kind,
                          uint64_t stream)
{
    if (s->stream[kind] != stream)
        memset(s->drawn[kind], 0, 2 * p->beam * sizeof(uint64_t));
    s->stream[kind] = stream;
}

static double wave(double turns)
{
    double c, s;
    exact_turn(turns, &c, &s);
    return s;
}

/* Where layers begin, in bins; the last one ends at infinity. */
static void find_layers(const struct phantom *p, double u, double y, double first[LAYERS + 1])
{
    const double depth = (double)p->depth, v = u - 0.45;
    first[0] = depth *
               (0.08 + 0.05 * u + 0.28 * v * v + 0.03 * y + 0.004 * wave(1.7 * u + 0.3 * y));
    for (int i = 0; i < LAYERS; i++)
        first[i + 1] = first[i] +
                       depth * layers[i].thickness *
                           (1 + layers[i].wave * wave((1.1 + 0.4 * i) * u + 0.23 * i + 0.5 * y));
    first[LAYERS] = (double)INFINITY;
}

void phantom_field(const struct phantom *p, struct phantom_scratch *s,
                   const struct phantom_line *line, double *re, double *im)
{
    const size_t depth = p->depth;
    const double bins = (double)depth, u = line->x / (double)p->lines,
                 y = (double)line->place / (double)p->places;
    double first[LAYERS + 1], level[LAYERS], loss[LAYERS];
    find_layers(p, u, y, first);
    /* Half as many bins share the same light. */
    const double share = sqrt(1024 / bins);
    for (int i = 0; i < LAYERS; i++) {
        level[i] = share * amplitude(layers[i].reflectivity);
        loss[i] = amplitude(-layers[i].loss / bins);
    }
    const double blood_level = share * amplitude(blood.reflectivity),
                 blood_loss = amplitude(-blood.loss / bins);
    const double across = (u - vessel_x - 0.06 * y) / vessel_width,
                 middle = first[0] + vessel_z * bins, radius = vessel_height * bins;
    select_stream(p, s, TISSUE, line->place);
    gather(p, s, TISSUE, line->x);
    if (across * across < 1) {
        select_stream(p, s, BLOOD, line->frame);
        gather(p, s, BLOOD, line->x);
    }
    double left = 1; /* of the amplitude */
    int i = -1;
    for (size_t d = 0; d < depth; d++) {
        const double z = (double)d;
        while (z >= first[i + 1])
            i++;
        if (i < 0) {
            re[d] = im[d] = 0;
            continue;
        }
        const double below = (z - middle) / radius, r2 = across * across + below * below;
        if (r2 < 1) {
            double c, turn;
            exact_turn(p->flow * (1 - r2) * (double)line->time, &c, &turn);
            const double a = left * blood_level * (double)s->sum[BLOOD][d],
                         b = left * blood_level * (double)s->sum[BLOOD][depth + d];
            re[d] = a * c - b * turn;
            im[d] = a * turn + b * c;
            left *= blood_loss;
        } else {
            re[d] = left * level[i] * (double)s->sum[TISSUE][d];
            im[d] = left * level[i] * (double)s->sum[TISSUE][depth + d];
            left *= loss[i];
        }
    }
}
