/*
 * Which pixels stand out of their ring: compiled once for each instruction set, which defines SET,
 * its name, first. Loops over 64 pixels that compilers make vectors of; a pixel's arithmetic is
 * that of shared/peaks_geom.h, and so the bits are the same in all sets. Most blocks have no pixel
 * that could stand out: none reaches the least that the curves ask of any pixel there.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/cpu_peaks.h"
#include "cpu/tmpl/set_tmpl.h"

enum { MARK_BLOCK = AIRY_PEAKS_BLOCK, MARK_LANES = 16 };

/* 64 bytes of 0 or 1 to bits. */
static uint64_t NAME(pack)(const uint8_t flags[MARK_BLOCK])
{
    uint64_t word = 0;
    for (size_t b = 0; b < 8; b++) {
        uint64_t x;
        memcpy(&x, flags + 8 * b, sizeof(x));
        word |= (x * UINT64_C(0x0102040810204080) >> 56) << (8 * b);
    }
    return word;
}

/* x: raw values as floats; bad: 1 where they are left out of the frame. n = MARK_BLOCK, or less. */
static void NAME(mark_block)(const struct airy_peaks_piece *p, size_t first, size_t n,
                             const float *restrict x, const uint8_t *restrict bad)
{
    const airy_peaks_geom g = *p->geom;
    const struct airy_peaks_curves c = p->curves;
    const uint32_t *restrict place = p->place + first;
    const float *restrict scale = p->scale + first;
    const uint8_t keeps_bad = g.strict ? 0 : 1;
    uint8_t kept[MARK_BLOCK] = {0}, candidate[MARK_BLOCK] = {0};
    for (size_t i = 0; i < n; i++) {
        const uint32_t bin = place[i] >> g.shift;
        const float fraction = (float)(int32_t)(place[i] & (((uint32_t)1 << g.shift) - 1)) * g.step;
        const airy_peaks_bin at = {c.mean[bin], c.mean_step[bin], c.std[bin], c.std_step[bin]};
        const airy_peaks_value value = airy_peaks_evaluate(x[i], scale[i], fraction, at, g.noise2);
        const uint8_t counts = scale[i] != 0, good = counts & (bad[i] ^ 1);
        kept[i] =
            (uint8_t)((good & (value.v > g.noise) & (value.v * value.v > g.pick2 * value.u2)) |
                      (counts & bad[i] & keeps_bad));
        candidate[i] = (uint8_t)(good & (value.v > 0) & (value.v * value.v >= g.peak2 * value.u2));
    }
    p->kept[first / MARK_BLOCK] = NAME(pack)(kept);
    p->candidates[first / MARK_BLOCK] = NAME(pack)(candidate);
}

/* The largest x scale of a block, which is what the evaluation begins with. */
static float NAME(top_of)(const float *restrict x, const float *restrict scale, size_t n)
{
    float top[MARK_LANES];
    for (size_t k = 0; k < MARK_LANES; k++)
        top[k] = -FLT_MAX;
    if (n == MARK_BLOCK)
        for (size_t i = 0; i < MARK_BLOCK; i += MARK_LANES)
            for (size_t k = 0; k < MARK_LANES; k++) {
                const float y = x[i + k] * scale[i + k];
                top[k] = y > top[k] ? y : top[k];
            }
    else
        for (size_t i = 0; i < n; i++)
            top[0] = x[i] * scale[i] > top[0] ? x[i] * scale[i] : top[0];
    for (size_t k = 1; k < MARK_LANES; k++)
        top[0] = top[k] > top[0] ? top[k] : top[0];
    return top[0];
}

/* No pixel of the bins that has less stands out; NaN where they have no values. */
static float NAME(least_of)(const struct airy_peaks_curves *c, const airy_peaks_geom *g,
                            struct airy_peaks_range range)
{
    const uint32_t length = range.last - range.first + 1,
                   level = 31u - (uint32_t)__builtin_clz(length);
    const size_t a = (size_t)level * g->bins + range.first,
                 b = (size_t)level * g->bins + range.last + 1 - ((uint32_t)1 << level);
    const float mean = c->least_mean[a] < c->least_mean[b] ? c->least_mean[a] : c->least_mean[b],
                std = c->least_std[a] < c->least_std[b] ? c->least_std[a] : c->least_std[b];
    return mean + c->cutoff * sqrtf(std * std + g->noise2) - c->slack;
}

static void NAME(look_at_block)(const struct airy_peaks_piece *p, size_t first, size_t n,
                                const float *restrict x, const uint8_t *restrict bad, bool any_bad)
{
    const size_t block = first / MARK_BLOCK;
    const struct airy_peaks_range range = p->ranges[block];
    p->kept[block] = p->candidates[block] = 0;
    if (range.first <= range.last && (any_bad || NAME(top_of)(x, p->scale + first, n) >=
                                                     NAME(least_of)(&p->curves, p->geom, range)))
        NAME(mark_block)(p, first, n, x, bad);
}

/* LEFT_OUT(v): of the frame, with g in scope. */
#define DEFINE_MARK(name, type, LEFT_OUT)                                                          \
    static void NAME(mark_##name)(const struct airy_peaks_piece *p)                                \
    {                                                                                              \
        const airy_peaks_geom g = *p->geom;                                                        \
        for (size_t first = 0; first < p->count; first += MARK_BLOCK) {                            \
            const type *restrict raw = (const type *)p->raw + first;                               \
            const size_t n = p->count - first < MARK_BLOCK ? p->count - first : MARK_BLOCK;        \
            float x[MARK_BLOCK];                                                                   \
            uint8_t bad[MARK_BLOCK], any = 0;                                                      \
            for (size_t i = 0; i < n; i++) {                                                       \
                x[i] = (float)raw[i];                                                              \
                bad[i] = LEFT_OUT(raw[i]);                                                         \
                any |= bad[i];                                                                     \
            }                                                                                      \
            if (p->dark)                                                                           \
                for (size_t i = 0; i < n; i++)                                                     \
                    x[i] -= p->dark[first + i];                                                    \
            NAME(look_at_block)(p, first, n, x, bad, any != 0);                                    \
        }                                                                                          \
    }
#define UNSIGNED_OUT(v) (((uint32_t)(v)-g.lo <= g.span) & g.has_invalid)
#define SIGNED_OUT(v)   ((((uint32_t)(int32_t)(v) ^ 0x80000000u) - g.lo <= g.span) & g.has_invalid)
#define FLOAT_OUT(v)                                                                               \
    (!((double)(v) >= -DBL_MAX && (double)(v) <= DBL_MAX) ||                                       \
     ((double)(v) >= g.float_lo && (double)(v) <= g.float_hi))
DEFINE_MARK(u8, uint8_t, UNSIGNED_OUT)
DEFINE_MARK(u16, uint16_t, UNSIGNED_OUT)
DEFINE_MARK(u32, uint32_t, UNSIGNED_OUT)
DEFINE_MARK(i8, int8_t, SIGNED_OUT)
DEFINE_MARK(i16, int16_t, SIGNED_OUT)
DEFINE_MARK(i32, int32_t, SIGNED_OUT)
DEFINE_MARK(f32, float, FLOAT_OUT)
DEFINE_MARK(f64, double, FLOAT_OUT)

const struct airy_peaks_kernels NAME(airy_peaks) = {.mark = {
                                                        [AIRY_DTYPE_U8] = NAME(mark_u8),
                                                        [AIRY_DTYPE_U16] = NAME(mark_u16),
                                                        [AIRY_DTYPE_U32] = NAME(mark_u32),
                                                        [AIRY_DTYPE_I8] = NAME(mark_i8),
                                                        [AIRY_DTYPE_I16] = NAME(mark_i16),
                                                        [AIRY_DTYPE_I32] = NAME(mark_i32),
                                                        [AIRY_DTYPE_F32] = NAME(mark_f32),
                                                        [AIRY_DTYPE_F64] = NAME(mark_f64),
                                                    }};
