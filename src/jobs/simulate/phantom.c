#include "jobs/simulate/phantom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/random.h"
#include "jobs/simulate/exact_math.h"

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
    return airy_exact_exp(db * 0.11512925464970229); /* ln(10) / 20 */
}

bool airy_phantom_begin(struct airy_phantom_scratch *s, const struct airy_phantom *p)
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

void airy_phantom_end(struct airy_phantom_scratch *s)
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
static void draw_column(const struct airy_phantom *p, struct airy_phantom_scratch *s, int kind,
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
 * How much of each column around x a line sees: a beam that falls as a cosine, so that neighbouring lines
 * share most of them. The number of the first one; columns count from the leftmost that line 0 sees.
 */
static uint64_t weigh(const struct airy_phantom *p, double x, double weight[2 * AIRY_PHANTOM_BEAM])
{
    const size_t columns = 2 * p->beam;
    const double left = floor(x);
    double squares = 0;
    for (size_t i = 0; i < columns; i++) {
        double c, turn;
        const double distance = x - left + (double)p->beam - 1 - (double)i;
        airy_exact_turn(distance / (double)columns, &c, &turn);
        weight[i] = 0.5 + 0.5 * c;
        squares += weight[i] * weight[i];
    }
    for (size_t i = 0; i < columns; i++)
        weight[i] /= sqrt(squares);
    return (uint64_t)(left + 1);
}

static const float *find_column(const struct airy_phantom *p, struct airy_phantom_scratch *s,
                                int kind, uint64_t number)
{
    const size_t slot = number % (2 * p->beam);
    float *column = s->column[kind] + slot * 2 * p->depth;
    if (s->drawn[kind][slot] != number + 1) {
        draw_column(p, s, kind, number, column);
        s->drawn[kind][slot] = number + 1;
    }
    return column;
}

static void gather_tissue(const struct airy_phantom *p, struct airy_phantom_scratch *s, double x)
{
    double weight[2 * AIRY_PHANTOM_BEAM];
    const uint64_t first = weigh(p, x, weight);
    float *sum = s->sum[TISSUE];
    memset(sum, 0, 2 * p->depth * sizeof(float));
    for (size_t i = 0; i < 2 * p->beam; i++) {
        const float *column = find_column(p, s, TISSUE, first + i);
        const float w = (float)weight[i];
        for (size_t d = 0; d < 2 * p->depth; d++)
            sum[d] += w * column[d];
    }
}

/* Every scatterer turns at the pace of its own place: 1 - r^2 of that in the middle. */
static void gather_blood(const struct airy_phantom *p, struct airy_phantom_scratch *s, double x,
                         const struct airy_phantom_vessel *v, uint64_t time)
{
    const size_t depth = p->depth;
    double weight[2 * AIRY_PHANTOM_BEAM];
    const uint64_t first = weigh(p, x, weight);
    float *sum = s->sum[BLOOD];
    memset(sum, 0, 2 * depth * sizeof(float));
    for (size_t i = 0; i < 2 * p->beam; i++) {
        const float *column = find_column(p, s, BLOOD, first + i);
        const double across = ((double)(first + i) - (double)p->beam - v->x) / v->width;
        for (size_t d = 0; d < depth; d++) {
            const double below = ((double)d - v->z) / v->height,
                         r2 = across * across + below * below;
            double c, turn;
            if (below * below >= 1)
                continue;
            airy_exact_turn(r2 < 1 ? p->flow * (1 - r2) * (double)time : 0, &c, &turn);
            const double re = (double)column[d], im = (double)column[depth + d];
            sum[d] += (float)(weight[i] * (re * c - im * turn));
            sum[depth + d] += (float)(weight[i] * (re * turn + im * c));
        }
    }
}

/* Columns of another stream are drawn anew. */
static void select_stream(const struct airy_phantom *p, struct airy_phantom_scratch *s, int kind,
                          uint64_t stream)
{
    if (s->stream[kind] != stream)
        memset(s->drawn[kind], 0, 2 * p->beam * sizeof(uint64_t));
    s->stream[kind] = stream;
}

static double wave(double turns)
{
    double c, s;
    airy_exact_turn(turns, &c, &s);
    return s;
}

/* Where layers begin, in bins; the last one ends at infinity. */
static void find_layers(const struct airy_phantom *p, double u, double y, double first[LAYERS + 1])
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

/* It lies where it is, whatever the surface above does: its scatterers keep their pace from line to line. */
struct airy_phantom_vessel airy_phantom_find_vessel(const struct airy_phantom *p, double y)
{
    double first[LAYERS + 1];
    const double x = vessel_x + 0.06 * y;
    find_layers(p, x, y, first);
    return (struct airy_phantom_vessel){.x = x * (double)p->lines,
                                        .z = first[0] + vessel_z * (double)p->depth,
                                        .width = vessel_width * (double)p->lines,
                                        .height = vessel_height * (double)p->depth};
}

void airy_phantom_field(const struct airy_phantom *p, struct airy_phantom_scratch *s,
                        const struct airy_phantom_line *line, double *re, double *im)
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
    const struct airy_phantom_vessel vessel = airy_phantom_find_vessel(p, y);
    const double across = (line->x - vessel.x) / vessel.width;
    select_stream(p, s, TISSUE, line->place);
    gather_tissue(p, s, line->x);
    if (across * across < 1) {
        select_stream(p, s, BLOOD, line->frame);
        gather_blood(p, s, line->x, &vessel, line->time);
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
        const double below = (z - vessel.z) / vessel.height;
        if (across * across + below * below < 1) {
            re[d] = left * blood_level * (double)s->sum[BLOOD][d];
            im[d] = left * blood_level * (double)s->sum[BLOOD][depth + d];
            left *= blood_loss;
        } else {
            re[d] = left * level[i] * (double)s->sum[TISSUE][d];
            im[d] = left * level[i] * (double)s->sum[TISSUE][depth + d];
            left *= loss[i];
        }
    }
}
