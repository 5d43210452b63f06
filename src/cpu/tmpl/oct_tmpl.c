/*
 * The kernels of cpu_oct.h: compiled once for each instruction set, which defines first
 *   SET           its name
 *   V             a vector of floats, of VECTOR bytes
 *   FMA(a, b, c)  a * b + c, rounded once where the set can
 *   SQRT(v)
 *   WITHIN(x, limit, a, b)  a where x <= limit, else b
 *   AT_LEAST(a, b)          the larger one; b, where it is not a number
 *   DECIBEL(v)              what decibel does, or nothing
 *   STREAM(p, v)  stores past the caches; FENCE(): before what is stored after it
 *   TRANSPOSE(v)  vectors of a square, or nothing: element by element then
 */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "cpu/cpu_oct.h"
#include "cpu/tmpl/set_tmpl.h"

enum { WIDTH = VECTOR / 4, LANES = AIRY_OCT_LANES };
typedef V vec;
typedef int32_t ints __attribute__((vector_size(VECTOR)));
typedef uint32_t words __attribute__((vector_size(VECTOR)));
_Static_assert(sizeof(vec) == VECTOR && (int)LANES % (int)WIDTH == 0, "vectors fill the lanes");

#define ALWAYS   static inline __attribute__((always_inline))
#define EACH     for (size_t o = 0; o < LANES; o += WIDTH)
#define AT(p)    (*(vec *)(p))
#define GET(p)   (*(const vec *)(p))
#define SPLAT(x) ((x) - (vec){0})

/* ---- samples ---- */

/* `count` squares of 16 words of each line, from byte `at` on: word by word, line beside line. */
static void NAME(take_words)(uint32_t *to, const uint8_t *const *line, size_t at, size_t count)
{
    for (size_t b = 0; b < count; b++, to += AIRY_OCT_WORDS * LANES, at += 4 * AIRY_OCT_WORDS) {
#ifdef TRANSPOSE
        for (size_t y = 0; y < LANES; y += WIDTH)
            for (size_t x = 0; x < AIRY_OCT_WORDS; x += WIDTH) {
                vec v[WIDTH];
                for (size_t i = 0; i < WIDTH; i++)
                    memcpy(&v[i], line[y + i] + at + 4 * x, sizeof(v[i]));
                TRANSPOSE(v);
                for (size_t i = 0; i < WIDTH; i++)
                    AT(to + (x + i) * LANES + y) = v[i];
            }
#else
        for (size_t y = 0; y < LANES; y++)
            for (size_t x = 0; x < AIRY_OCT_WORDS; x++)
                memcpy(to + x * LANES + y, line[y] + at + 4 * x, 4);
#endif
    }
}

ALWAYS words NAME(swap)(words w)
{
    const words each = ((w >> 8) & 0xff00ffu) | ((w & 0xff00ffu) << 8);
    return each >> 16 | each << 16;
}

/*
 * Lines as strings of bits: little-endian ones begin with the least significant bit of their first
 * byte, big-endian ones with the most significant. A sample is moved to the top of a word, then down.
 */
ALWAYS void NAME(take_bits)(float *x, const uint32_t *from, unsigned bits, bool big, bool is_signed,
                            unsigned shift)
{
    const unsigned count = bits == 10 ? 5 : bits == 12 ? 3 : 1, samples = 32 * count / bits;
    for (size_t g = 0; g < AIRY_OCT_WORDS; g++, from += count * LANES, x += samples * LANES)
        EACH
        {
            words w[5];
            for (unsigned i = 0; i < count; i++) {
                w[i] = *(const words *)(from + i * LANES + o);
                w[i] = big ? NAME(swap)(w[i]) : w[i];
            }
#pragma GCC unroll 16
            for (unsigned i = 0; i < samples; i++) {
                const unsigned k = i * bits / 32, q = i * bits % 32;
                words s = w[k];
                if (big)
                    s = q + bits > 32 ? s << q | w[k + 1] >> (32 - q) : s << q;
                else
                    s = q + bits > 32 ? (s >> q | w[k + 1] << (32 - q)) << (32 - bits)
                                      : s << (32 - bits - q);
                const unsigned down = 32 - bits + shift;
                const ints value = is_signed ? (ints)s >> down : (ints)(s >> down);
                AT(x + i * LANES + o) = __builtin_convertvector(value, vec);
            }
        }
}

static void NAME(take_floats)(float *x, float *poison, const uint32_t *from, bool big)
{
    for (size_t i = 0; i < AIRY_OCT_WORDS * LANES; i += LANES)
        EACH
        {
            words w = *(const words *)(from + i + o);
            w = big ? NAME(swap)(w) : w;
            const vec v = (vec)w;
            AT(x + i + o) = v;
            AT(poison + o) += v * (vec){0}; /* NaN of what is not finite */
        }
}

#define TAKE(bits, is_signed)                                                                      \
    (raw->big_endian ? NAME(take_bits)(x, from, bits, true, is_signed, raw->shift)                 \
                     : NAME(take_bits)(x, from, bits, false, is_signed, raw->shift))

/* Samples of one load's words. */
static void NAME(take)(float *x, float *poison, const uint32_t *from,
                       const struct airy_oct_raw *raw)
{
    switch (raw->bits) {
    case 8:
        TAKE(8, false);
        break;
    case 10:
        TAKE(10, false);
        break;
    case 12:
        TAKE(12, false);
        break;
    case 16:
        if (raw->is_signed)
            TAKE(16, true);
        else
            TAKE(16, false);
        break;
    default:
        NAME(take_floats)(x, poison, from, raw->big_endian);
        break;
    }
}

static void NAME(load)(float *x, float *poison, const struct airy_oct_raw *raw,
                       const uint8_t *const *lines, uint32_t *room, uint32_t *tail)
{
    const size_t squares = raw->bits == 10   ? 5
                           : raw->bits == 12 ? 3
                                             : 1,
                 bytes = 4 * AIRY_OCT_WORDS * squares, samples = 8 * bytes / raw->bits;
    size_t at = 0;
    EACH AT(poison + o) = (vec){0};
    for (; at + bytes <= raw->line_bytes; at += bytes, x += samples * LANES) {
        NAME(take_words)(room, lines, at, squares);
        NAME(take)(x, poison, room, raw);
    }
    if (at == raw->line_bytes)
        return;
    const uint8_t *last[LANES];
    for (size_t l = 0; l < LANES; l++) {
        last[l] = (const uint8_t *)(tail + l * AIRY_OCT_MOST_WORDS);
        memset(tail + l * AIRY_OCT_MOST_WORDS, 0, bytes);
        memcpy(tail + l * AIRY_OCT_MOST_WORDS, lines[l] + at, raw->line_bytes - at);
    }
    NAME(take_words)(room, last, 0, squares);
    NAME(take)(x, poison, room, raw);
}

/* Of sample i: the mean of samples from to `to` - 1. */
ALWAYS void NAME(roll_range)(size_t *from, size_t *to, size_t i, size_t width, size_t samples)
{
    *from = i + 1 > width ? i + 1 - width : 0;
    *to = i + width + 1 < samples ? i + width + 1 : samples;
}

/* Integers of 16 bits times at most 2^13: their sums are exact in 32. */
static void NAME(roll_integers)(float *to, const float *x, size_t samples, size_t width)
{
    EACH
    {
        ints sum = {0};
        size_t first = 0, end = 0, from, upto;
        for (size_t i = 0; i < samples; i++) {
            NAME(roll_range)(&from, &upto, i, width, samples);
            for (; end < upto; end++)
                sum += __builtin_convertvector(GET(x + end * LANES + o), ints);
            for (; first < from; first++)
                sum -= __builtin_convertvector(GET(x + first * LANES + o), ints);
            const ints here = __builtin_convertvector(GET(x + i * LANES + o), ints),
                       less = here * (int32_t)(upto - from) - sum;
            AT(to + i * LANES + o) = __builtin_convertvector(less, vec) *
                                     SPLAT(1 / (float)(upto - from));
        }
    }
}

static void NAME(roll)(float *to, const float *x, size_t samples, size_t width, bool integers)
{
    if (integers) {
        NAME(roll_integers)(to, x, samples, width);
        return;
    }
    double sum[LANES] = {0};
    size_t first = 0, end = 0, from, upto;
    for (size_t i = 0; i < samples; i++) {
        NAME(roll_range)(&from, &upto, i, width, samples);
        for (; end < upto; end++)
            for (size_t l = 0; l < LANES; l++)
                sum[l] += (double)x[end * LANES + l];
        for (; first < from; first++)
            for (size_t l = 0; l < LANES; l++)
                sum[l] -= (double)x[first * LANES + l];
        const double share = 1 / (double)(upto - from);
        for (size_t l = 0; l < LANES; l++)
            to[i * LANES + l] = (float)((double)x[i * LANES + l] - sum[l] * share);
    }
}

#define ADD_LINE(type)                                                                             \
    for (size_t i = 0; i < samples; i++)                                                           \
    sum[i] += ((const type *)line)[i] >> shift

static void NAME(add_line)(int32_t *restrict sum, const void *restrict line, size_t samples,
                           airy_dtype dtype, unsigned shift)
{
    if (dtype == AIRY_DTYPE_U8)
        ADD_LINE(uint8_t);
    else if (dtype == AIRY_DTYPE_U16)
        ADD_LINE(uint16_t);
    else
        ADD_LINE(int16_t);
}

static void NAME(add)(float *sum, const float *x, size_t samples)
{
    for (size_t i = 0; i < samples * LANES; i += WIDTH)
        AT(sum + i) += GET(x + i);
}

static void NAME(add_f64)(double *sum, const float *x, size_t samples)
{
    for (size_t i = 0; i < samples * LANES; i++)
        sum[i] += (double)x[i];
}

/* ---- numbers to be transformed ---- */

ALWAYS vec NAME(look)(const float *x, const float *weights, size_t taps, const float *mean,
                      size_t j)
{
    vec z = SPLAT(weights[0]) * GET(x);
    if (mean)
        z = FMA(SPLAT(weights[0]), GET(x), -SPLAT(mean[j]));
    for (size_t t = 1; t < taps; t++)
        z = FMA(SPLAT(weights[t]), GET(x + t * LANES), z);
    return z;
}

struct NAME(number) {
    vec re, im;
};

/* Number j of those to be transformed. */
ALWAYS struct NAME(number) NAME(find)(const float *x, const struct airy_oct_lookup *lookup,
                                      const float *mean, size_t taps, bool halves, size_t j)
{
    const uint32_t *base = lookup->base;
    const float *weights = lookup->weights;
    if (halves)
        return (struct NAME(number)){
            NAME(look)(x + base[2 * j], weights + 2 * j * taps, taps, mean, 2 * j),
            NAME(look)(x + base[2 * j + 1], weights + (2 * j + 1) * taps, taps, mean, 2 * j + 1)};
    const vec z = NAME(look)(x + base[j], weights + j * taps, taps, mean, j);
    if (!lookup->phasor)
        return (struct NAME(number)){z, (vec){0}};
    return (struct NAME(number)){z * SPLAT(lookup->phasor[2 * j]),
                                 z * SPLAT(lookup->phasor[2 * j + 1])};
}

ALWAYS void NAME(put)(float *re, float *im, vec x, vec y)
{
    AT(re) = x;
    AT(im) = y;
}

ALWAYS void NAME(put_turned)(float *re, float *im, vec x, vec y, const float *factor)
{
    const vec c = SPLAT(factor[0]), s = SPLAT(factor[1]);
    NAME(put)(re, im, FMA(x, c, -(y * s)), FMA(x, s, y * c));
}

/* With the first step by four of the transform: numbers need not be fetched again for it. */
ALWAYS void NAME(gather_four)(float *re, float *im, const float *x,
                              const struct airy_oct_lookup *lookup, const float *mean, size_t taps,
                              bool halves)
{
    const size_t quarter = (halves ? lookup->samples / 2 : lookup->samples) / 4,
                 far = quarter * LANES;
    const float *factor = lookup->first_step;
    for (size_t j = 0; j < quarter; j++, re += LANES, im += LANES, factor += 6)
        EACH
        {
            struct NAME(number) z[4];
            for (size_t q = 0; q < 4; q++)
                z[q] = NAME(find)(x + o, lookup, mean, taps, halves, j + q * quarter);
            const vec ar = z[0].re + z[2].re, ai = z[0].im + z[2].im, br = z[0].re - z[2].re,
                      bi = z[0].im - z[2].im, cr = z[1].re + z[3].re, ci = z[1].im + z[3].im,
                      dr = z[1].re - z[3].re, di = z[1].im - z[3].im;
            float *r = re + o, *i = im + o;
            NAME(put)(r, i, ar + cr, ai + ci);
            NAME(put_turned)(r + far, i + far, br + di, bi - dr, factor);
            NAME(put_turned)(r + 2 * far, i + 2 * far, ar - cr, ai - ci, factor + 2);
            NAME(put_turned)(r + 3 * far, i + 3 * far, br - di, bi + dr, factor + 4);
        }
}

ALWAYS void NAME(gather_taps)(float *re, float *im, const float *x,
                              const struct airy_oct_lookup *lookup, const float *mean, size_t taps)
{
    const bool halves = lookup->halves;
    const size_t n = halves ? lookup->samples / 2 : lookup->samples;
    if (lookup->first_step && halves) {
        NAME(gather_four)(re, im, x, lookup, mean, taps, true);
        return;
    }
    if (lookup->first_step) {
        NAME(gather_four)(re, im, x, lookup, mean, taps, false);
        return;
    }
    for (size_t j = 0; j < n; j++)
        EACH
        {
            const struct NAME(number) z = NAME(find)(x + o, lookup, mean, taps, halves, j);
            NAME(put)(re + j * LANES + o, im + j * LANES + o, z.re, z.im);
        }
}

static void NAME(gather)(float *re, float *im, const float *x, const struct airy_oct_lookup *lookup,
                         const float *mean)
{
    if (lookup->taps == 2 && !mean)
        NAME(gather_taps)(re, im, x, lookup, NULL, 2);
    else if (lookup->taps == 2)
        NAME(gather_taps)(re, im, x, lookup, mean, 2);
    else if (lookup->taps == 4 && !mean)
        NAME(gather_taps)(re, im, x, lookup, NULL, 4);
    else
        NAME(gather_taps)(re, im, x, lookup, mean, lookup->taps);
}

/* ---- transforms ---- */

/* Pairs x[i] and x[p - i] have the same cosines and opposite sines. */
ALWAYS void NAME(odd)(float *re, float *im, size_t far, size_t p, const float *circle,
                      const float *factors)
{
    struct NAME(number) sum[AIRY_OCT_MAX_RADIX / 2 + 1], less[AIRY_OCT_MAX_RADIX / 2 + 1];
    const size_t half = p / 2;
    const vec x0 = GET(re), y0 = GET(im);
    vec re0 = x0, im0 = y0;
    for (size_t i = 1; i <= half; i++) {
        const vec a = GET(re + i * far), b = GET(re + (p - i) * far), c = GET(im + i * far),
                  d = GET(im + (p - i) * far);
        sum[i] = (struct NAME(number)){a + b, c + d};
        less[i] = (struct NAME(number)){a - b, c - d};
        re0 += sum[i].re;
        im0 += sum[i].im;
    }
    AT(re) = re0;
    AT(im) = im0;
    for (size_t k = 1; k <= half; k++) {
        vec even_re = x0, even_im = y0, odd_re = {0}, odd_im = {0};
        size_t at = 0;
        for (size_t i = 1; i <= half; i++) {
            at = at + k < p ? at + k : at + k - p;
            const vec c = SPLAT(circle[2 * at]), s = SPLAT(circle[2 * at + 1]);
            even_re = FMA(sum[i].re, c, even_re);
            even_im = FMA(sum[i].im, c, even_im);
            odd_re = FMA(less[i].re, s, odd_re);
            odd_im = FMA(less[i].im, s, odd_im);
        }
        NAME(put_turned)
        (re + k * far, im + k * far, even_re + odd_im, even_im - odd_re, factors + 2 * k - 2);
        NAME(put_turned)
        (re + (p - k) * far, im + (p - k) * far, even_re - odd_im, even_im + odd_re,
         factors + 2 * (p - k) - 2);
    }
}

ALWAYS void NAME(step_by)(float *re, float *im, size_t n, const struct airy_oct_step *step,
                          size_t p)
{
    const size_t each = step->n / p;
    for (size_t b = 0; b < n; b += step->n)
        for (size_t j = 0; j < each; j++)
            EACH NAME(odd)(re + (b + j) * LANES + o, im + (b + j) * LANES + o, each * LANES, p,
                           step->circle, step->factors + 2 * j * (p - 1));
}

static void NAME(step)(float *re, float *im, size_t n, const struct airy_oct_step *step)
{
    assert(step->p <= AIRY_OCT_MAX_RADIX);
    switch (step->p) {
    case 3:
        NAME(step_by)(re, im, n, step, 3);
        break;
    case 5:
        NAME(step_by)(re, im, n, step, 5);
        break;
    case 7:
        NAME(step_by)(re, im, n, step, 7);
        break;
    default:
        NAME(step_by)(re, im, n, step, step->p);
        break;
    }
}

static void NAME(turn)(float *re, float *im, size_t n, const float *factors)
{
    for (size_t j = 0; j < n; j++, re += LANES, im += LANES)
        EACH NAME(put_turned)(re + o, im + o, GET(re + o), GET(im + o), factors + 2 * j);
}

/* ---- quantities ---- */

#ifndef DECIBEL
#define DECIBEL NAME(decibel)
/*
 * 10 log10 of powers, at least AIRY_OCT_LEAST_POWER: 10 log10(2) e + t Q(t) for 2^e (1 + t), 1 + t
 * from sqrt(1/2) to sqrt(2), with the Q of degree 7 of the least greatest error of t Q(t), 1.5e-7 dB.
 * Rounding adds 3e-7 dB at 0 dB and half a unit of the last place elsewhere.
 */
ALWAYS vec NAME(decibel)(vec power)
{
    static const float q[] = {4.342944145202637f,   -2.171501398086548f,  1.4477720260620117f,
                              -1.0839704275131226f, 0.8630757331848145f,  -0.7527835965156555f,
                              0.7131093144416809f,  -0.43873003125190735f};
    const vec least = SPLAT(AIRY_OCT_LEAST_POWER), p = AT_LEAST(least, power);
    const ints bits = (ints)p, e = (bits - 0x3f3504f3) >> 23;
    const vec t = (vec)(bits - (e << 23)) - SPLAT(1.0f);
    vec sum = SPLAT(q[7]);
    for (int i = 6; i >= 0; i--)
        sum = FMA(sum, t, SPLAT(q[i]));
    const vec db = FMA(__builtin_convertvector(e, vec), SPLAT(3.0102999566398f), t * sum);
    /* What is infinite or not a number stays so. */
    return WITHIN(power, SPLAT(FLT_MAX), db, power);
}
#endif

/*
 * atan2: the angle of the smaller over the larger part by a polynomial of degree 15, of the least
 * greatest error, 3.8e-8; then turned into its octant.
 */
ALWAYS vec NAME(phase)(vec x, vec y)
{
    static const float q[] = {0.9999993443489075f,   -0.33329859375953674f, 0.19946563243865967f,
                              -0.13908620178699493f, 0.0964217558503151f,   -0.055912040174007416f,
                              0.021862763911485672f, -0.004054515156894922f};
    const ints minus = (ints){0} - 0x7fffffff - 1;
    const vec ax = (vec)((ints)x & ~minus), ay = (vec)((ints)y & ~minus);
    const vec large = WITHIN(ay, ax, ax, ay), small = WITHIN(ay, ax, ay, ax);
    const vec tiny = SPLAT(FLT_MIN), t = small / WITHIN(large, tiny, tiny, large), s = t * t;
    vec sum = SPLAT(q[7]);
    for (int i = 6; i >= 0; i--)
        sum = FMA(sum, s, SPLAT(q[i]));
    vec angle = sum * t;
    angle = WITHIN(ay, ax, angle, SPLAT(1.57079632679489662f) - angle);
    angle = WITHIN((vec){0}, x, angle, SPLAT(3.14159265358979324f) - angle);
    angle = (vec)((ints)angle | ((ints)y & minus));
    return angle + x * (vec){0} + y * (vec){0};
}

/* F of a bin. */
ALWAYS struct NAME(number)
    NAME(bin)(const float *re, const float *im, const struct airy_oct_spectrum *s, size_t p,
              size_t o, bool half)
{
    const size_t at = s->at[p] + o;
    struct NAME(number) f = {GET(re + at), GET(im + at)};
    if (half) {
        const size_t mirror = s->mirror[p] + o;
        const vec u = GET(re + mirror), v = GET(im + mirror), h = SPLAT(0.5f),
                  c = SPLAT(s->factor[2 * p]), d = SPLAT(s->factor[2 * p + 1]);
        const vec odd_re = f.im + v, odd_im = u - f.re;
        f.re = FMA(c, odd_re, FMA(h, f.re + u, -(d * odd_im)));
        f.im = FMA(d, odd_re, FMA(h, f.im - v, c * odd_im));
    }
    if (s->conjugate)
        f.im = -f.im;
    if (s->pattern) {
        f.re -= SPLAT(s->pattern[2 * p]);
        f.im -= SPLAT(s->pattern[2 * p + 1]);
    }
    return f;
}

ALWAYS vec NAME(quantity)(struct NAME(number) f, const struct airy_oct_spectrum *s,
                          airy_oct_output quantity)
{
    if (quantity == AIRY_OCT_PHASE)
        return NAME(phase)(f.re, f.im);
    const vec power = FMA(f.re, f.re, f.im * f.im);
    if (quantity == AIRY_OCT_MAGNITUDE)
        return SQRT(power) * SPLAT(s->finish.magnitude_scale);
    const vec scaled = power * SPLAT(s->finish.power_scale);
    return quantity == AIRY_OCT_DB ? DECIBEL(scaled) : scaled;
}

/*
 * A number as airy_oct_integer makes one of it, truncated, its bits in the number's place: results of
 * integers are taken from there.
 */
ALWAYS void NAME(make_integer)(float *number, float top)
{
    const vec v = AT_LEAST(GET(number) * SPLAT(top), (vec){0}), limit = SPLAT(top);
    AT(number) = (vec) __builtin_convertvector(WITHIN(v, limit, v, limit), ints);
}

/* The low bytes of numbers. */
ALWAYS void NAME(narrow)(void *to, const float *numbers, size_t count, airy_dtype dtype)
{
    uint32_t bits;
    for (size_t i = 0; i < count && dtype == AIRY_DTYPE_U8; i++) {
        memcpy(&bits, numbers + i, sizeof(bits));
        ((uint8_t *)to)[i] = (uint8_t)bits;
    }
    for (size_t i = 0; i < count && dtype == AIRY_DTYPE_U16; i++) {
        memcpy(&bits, numbers + i, sizeof(bits));
        ((uint16_t *)to)[i] = (uint16_t)bits;
    }
}

/* Numbers [at, at + count) of a line's result. */
static void NAME(put_numbers)(void *row, size_t at, const float *numbers, size_t count,
                              airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_F32)
        memcpy((float *)row + at, numbers, count * sizeof(float));
    else if (dtype == AIRY_DTYPE_U16 && count == LANES)
        NAME(narrow)((uint16_t *)row + at, numbers, LANES, AIRY_DTYPE_U16);
    else if (dtype == AIRY_DTYPE_U16)
        NAME(narrow)((uint16_t *)row + at, numbers, count, AIRY_DTYPE_U16);
    else if (count == LANES)
        NAME(narrow)((uint8_t *)row + at, numbers, LANES, AIRY_DTYPE_U8);
    else
        NAME(narrow)((uint8_t *)row + at, numbers, count, AIRY_DTYPE_U8);
}

/* Numbers [at, at + count) of the lines' results: square, 16 numbers of LANES lines, to rows. */
static void NAME(put_square)(void *const *rows, size_t lines, float *square, size_t at,
                             size_t count, const struct airy_oct_spectrum *s)
{
    _Alignas(64) float turned[LANES][LANES];
#ifdef TRANSPOSE
    const bool whole = count == LANES && s->to == AIRY_DTYPE_F32;
    for (size_t x = 0; x < LANES; x += WIDTH) {
        vec v[LANES / WIDTH][WIDTH]; /* a row's parts are stored one after the other */
        for (size_t y = 0; y < LANES / WIDTH; y++) {
            for (size_t i = 0; i < WIDTH; i++)
                v[y][i] = GET(square + (y * WIDTH + i) * LANES + x);
            TRANSPOSE(v[y]);
        }
        for (size_t i = 0; i < WIDTH; i++)
            for (size_t y = 0; y < LANES / WIDTH; y++)
                if (!whole)
                    AT(&turned[x + i][y * WIDTH]) = v[y][i];
                else if (x + i < lines && s->stream)
                    STREAM((float *)rows[x + i] + at + y * WIDTH, v[y][i]);
                else if (x + i < lines)
                    memcpy((float *)rows[x + i] + at + y * WIDTH, &v[y][i], sizeof(v[y][i]));
    }
    if (whole)
        return;
#else
    for (size_t y = 0; y < LANES; y++)
        for (size_t x = 0; x < LANES; x++)
            turned[x][y] = square[y * LANES + x];
#endif
    for (size_t l = 0; l < lines; l++)
        NAME(put_numbers)(rows[l], at, turned[l], count, s->to);
}

/* What becomes of 16 bins of all lines on the way to the rows. */
ALWAYS void NAME(show_square)(void *const *rows, size_t lines, float *square, size_t at,
                              size_t count, const struct airy_oct_spectrum *s)
{
    const vec scale = SPLAT(s->finish.scale), offset = SPLAT(s->finish.offset);
    for (size_t i = 0; s->finish.display && i < count; i++)
        EACH AT(square + i * LANES + o) = FMA(GET(square + i * LANES + o), scale, offset);
    for (size_t i = 0; s->post && i < count; i++)
        EACH AT(square + i * LANES + o) -= SPLAT(s->post[at + i]);
    for (size_t i = 0; s->to != AIRY_DTYPE_F32 && i < count; i++)
        EACH NAME(make_integer)(square + i * LANES + o, s->finish.top);
    NAME(put_square)(rows, lines, square, at, count, s);
}

ALWAYS void NAME(store_as)(void *const *rows, size_t lines, const float *re, const float *im,
                           const struct airy_oct_spectrum *s, bool half, airy_oct_output quantity)
{
    _Alignas(64) float square[LANES * LANES];
    const size_t parts = quantity == AIRY_OCT_COMPLEX ? 2 : 1, n = s->depth * parts;
    memset(square, 0, sizeof(square));
    for (size_t at = 0; at < n; at += LANES) {
        const size_t count = n - at < LANES ? n - at : LANES;
        for (size_t i = 0; i < count; i += parts)
            EACH
            {
                float *to = square + i * LANES + o;
                const struct NAME(number) f = NAME(bin)(re, im, s, (at + i) / parts, o, half);
                if (quantity == AIRY_OCT_COMPLEX)
                    NAME(put)(to, to + LANES, f.re, f.im);
                else
                    AT(to) = NAME(quantity)(f, s, quantity);
            }
        NAME(show_square)(rows, lines, square, at, count, s);
    }
}

/*
 * All bins but the last one of real lines, which are a multiple of 32, two at a time: F[p] and the
 * conjugate of F[depth - p] are a sum and a difference of the same.
 */
ALWAYS void NAME(store_pairs)(void *const *rows, size_t lines, const float *re, const float *im,
                              const struct airy_oct_spectrum *s, airy_oct_output quantity)
{
    _Alignas(64) float low[LANES * LANES], high[LANES * LANES];
    const vec h = SPLAT(0.5f);
    for (size_t p = 0; p <= s->depth / 2; p++) {
        const size_t other = s->depth - p;
        const vec c = SPLAT(s->factor[2 * p]), d = SPLAT(s->factor[2 * p + 1]);
        EACH
        {
            const size_t at = s->at[p] + o, mirror = s->mirror[p] + o;
            const vec x = GET(re + at), y = GET(im + at), u = GET(re + mirror),
                      v = GET(im + mirror), even_re = x + u, even_im = y - v, odd_re = y + v,
                      odd_im = u - x;
            const vec turned_re = FMA(c, odd_re, -(d * odd_im)),
                      turned_im = FMA(d, odd_re, c * odd_im);
            const struct NAME(number)
                f = {FMA(h, even_re, turned_re), FMA(h, even_im, turned_im)},
                g = {FMA(h, even_re, -turned_re), FMA(h, even_im, -turned_im)};
            AT(low + p % LANES * LANES + o) = NAME(quantity)(f, s, quantity);
            AT(high + other % LANES * LANES + o) = NAME(quantity)(g, s, quantity);
        }
        if (p % LANES == LANES - 1)
            NAME(show_square)(rows, lines, low, p + 1 - LANES, LANES, s);
        if (p > 0 && other % LANES == 0)
            NAME(show_square)(rows, lines, high, other, LANES, s);
    }
}

/* Lines with what is not finite. */
static void NAME(spoil)(void *const *rows, size_t lines, const float *poison,
                        const struct airy_oct_spectrum *s)
{
    const size_t n = s->depth * (s->quantity == AIRY_OCT_COMPLEX ? 2 : 1);
    for (size_t l = 0; l < lines; l++) {
        if (poison[l] == 0)
            continue;
        if (s->to != AIRY_DTYPE_F32)
            memset(rows[l], 0, n * (s->to == AIRY_DTYPE_U16 ? 2 : 1));
        for (size_t i = 0; s->to == AIRY_DTYPE_F32 && i < n; i++)
            ((float *)rows[l])[i] = poison[l];
    }
}

#define STORE_PAIRS(quantity)                                                                      \
    case quantity:                                                                                 \
        if (s->pairs && !s->pattern)                                                               \
            NAME(store_pairs)(rows, lines, re, im, s, quantity);                                   \
        else if (s->half)                                                                          \
            NAME(store_as)(rows, lines, re, im, s, true, quantity);                                \
        else                                                                                       \
            NAME(store_as)(rows, lines, re, im, s, false, quantity);                               \
        break
#define STORE_AS(quantity)                                                                         \
    case quantity:                                                                                 \
        if (s->half)                                                                               \
            NAME(store_as)(rows, lines, re, im, s, true, quantity);                                \
        else                                                                                       \
            NAME(store_as)(rows, lines, re, im, s, false, quantity);                               \
        break

static void NAME(store)(void *const *rows, size_t lines, const float *re, const float *im,
                        const float *poison, const struct airy_oct_spectrum *s)
{
    switch (s->quantity) {
        STORE_PAIRS(AIRY_OCT_DB);
        STORE_PAIRS(AIRY_OCT_MAGNITUDE);
        STORE_PAIRS(AIRY_OCT_POWER);
        STORE_AS(AIRY_OCT_PHASE);
        STORE_AS(AIRY_OCT_COMPLEX);
    default:
        assert(0);
    }
#ifdef FENCE
    FENCE();
#endif
    NAME(spoil)(rows, lines, poison, s);
}

/* ---- rows ---- */

static void NAME(add_row)(double *restrict sum, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += (double)x[i];
}

static void NAME(add_square)(double *restrict sum, const float *restrict x,
                             const double *restrict mean, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += ((double)x[i] - mean[i]) * ((double)x[i] - mean[i]);
}

static void NAME(add_turn)(double *restrict sum, const float *restrict a, const float *restrict b,
                           size_t n)
{
    for (size_t i = 0; i < 2 * n; i += 2) {
        const double ar = a[i], ai = a[i + 1], br = b[i], bi = b[i + 1];
        sum[i] += ar * br + ai * bi;
        sum[i + 1] += ar * bi - ai * br;
    }
}

static void NAME(put_row)(void *row, float *numbers, size_t n, const struct airy_oct_spectrum *s)
{
    for (size_t i = 0; i < n && s->finish.display; i++)
        numbers[i] = numbers[i] * s->finish.scale + s->finish.offset;
    for (size_t i = 0; i < n && s->post; i++)
        numbers[i] -= s->post[i];
    for (size_t i = 0; i < n && s->to != AIRY_DTYPE_F32; i += WIDTH)
        NAME(make_integer)(numbers + i, s->finish.top);
    NAME(put_numbers)(row, 0, numbers, n, s->to);
}

static void NAME(decibels)(float *to, const float *power, size_t n)
{
    for (size_t i = 0; i < n; i += WIDTH) {
        const size_t bytes = (n - i < WIDTH ? n - i : WIDTH) * sizeof(float);
        vec v = {0};
        memcpy(&v, power + i, bytes);
        v = DECIBEL(v);
        memcpy(to + i, &v, bytes);
    }
}

static void NAME(phases)(float *to, const float *z, size_t n)
{
    for (size_t i = 0; i < n; i += WIDTH) {
        const size_t count = n - i < WIDTH ? n - i : WIDTH;
        vec x = {0}, y = {0};
        for (size_t k = 0; k < count; k++) {
            x[k] = z[2 * (i + k)];
            y[k] = z[2 * (i + k) + 1];
        }
        x = NAME(phase)(x, y);
        memcpy(to + i, &x, count * sizeof(float));
    }
}

#define TABLE_(set)  airy_oct_##set
#define TABLE__(set) TABLE_(set)
const struct airy_oct_kernels TABLE__(SET) = {.load = NAME(load),
                                              .roll = NAME(roll),
                                              .add_line = NAME(add_line),
                                              .add = NAME(add),
                                              .add_f64 = NAME(add_f64),
                                              .gather = NAME(gather),
                                              .step = NAME(step),
                                              .turn = NAME(turn),
                                              .store = NAME(store),
                                              .add_row = NAME(add_row),
                                              .add_square = NAME(add_square),
                                              .add_turn = NAME(add_turn),
                                              .put_row = NAME(put_row),
                                              .decibels = NAME(decibels),
                                              .phases = NAME(phases)};
