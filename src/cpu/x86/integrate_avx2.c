/* Eight frames in lanes: AVX2 and FMA. */
#include <immintrin.h>

#define LANES            8
#define SUFFIX(f, dtype) f##_##dtype##_avx2
#include "cpu/integrate_tmpl_dtypes.c"

/* 8 pixels from pixel i on, in 32 bits each. */
static AIRY_ALWAYS_INLINE __m256i load8(const void *pixels, size_t i, const airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return _mm256_cvtepu8_epi32(
            _mm_loadl_epi64((const __m128i *)((const uint8_t *)pixels + i)));
    case AIRY_DTYPE_I8:
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)((const int8_t *)pixels + i)));
    case AIRY_DTYPE_U16:
        return _mm256_cvtepu16_epi32(
            _mm_loadu_si128((const __m128i *)((const uint16_t *)pixels + i)));
    case AIRY_DTYPE_I16:
        return _mm256_cvtepi16_epi32(
            _mm_loadu_si128((const __m128i *)((const int16_t *)pixels + i)));
    default:
        return _mm256_loadu_si256((const __m256i *)((const uint32_t *)pixels + i));
    }
}

/* u32 goes through i32: minus 2^31, exact, and back. */
static AIRY_ALWAYS_INLINE __m256d to_double(const uint32_t *x, const airy_dtype dtype)
{
    const __m128i v = _mm_load_si128((const __m128i *)x);
    if (dtype == AIRY_DTYPE_F32)
        return _mm256_cvtps_pd(_mm_castsi128_ps(v));
    if (dtype == AIRY_DTYPE_U32)
        return _mm256_add_pd(_mm256_cvtepi32_pd(v), _mm256_set1_pd(0x1p31));
    return _mm256_cvtepi32_pd(v);
}

/* 16 pixels of 8 frames, transposed, in 32 bits; u32 less 2^31. */
struct block8 {
    _Alignas(32) uint32_t x[16][8];
};

static AIRY_ALWAYS_INLINE bool all_zero(const __m256i *r, unsigned count)
{
    __m256i any = r[0];
    for (unsigned i = 1; i < count; i++)
        any = _mm256_or_si256(any, r[i]);
    return _mm256_testz_si256(any, any);
}

static AIRY_ALWAYS_INLINE void store_block(struct block8 *out, unsigned pixel, __m256i v)
{
    _mm256_store_si256((__m256i *)(void *)out->x[pixel], v);
}

/* 8 pixels, of 4 bytes, from the given one on. False where all are 0; nothing is written then. */
static AIRY_ALWAYS_INLINE bool transpose_4(struct block8 *out, const uint8_t *const src[8],
                                           unsigned pixel, const airy_dtype dtype)
{
    __m256i r[8], t[8], u[8];
    for (int f = 0; f < 8; f++)
        r[f] = _mm256_loadu_si256((const __m256i *)(const void *)(src[f] + (size_t)4 * pixel));
    if (all_zero(r, 8))
        return false;
    for (int f = 0; f < 8 && dtype == AIRY_DTYPE_U32; f++)
        r[f] = _mm256_xor_si256(r[f], _mm256_set1_epi32(INT32_MIN));
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        u[4 * i] = _mm256_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 1] = _mm256_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 2] = _mm256_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        u[4 * i + 3] = _mm256_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        store_block(out, pixel + i, _mm256_permute2x128_si256(u[i], u[i + 4], 0x20));
        store_block(out, pixel + i + 4, _mm256_permute2x128_si256(u[i], u[i + 4], 0x31));
    }
    return true;
}

static AIRY_ALWAYS_INLINE __m256i widen_2(__m128i v, const airy_dtype dtype)
{
    return dtype == AIRY_DTYPE_I16 ? _mm256_cvtepi16_epi32(v) : _mm256_cvtepu16_epi32(v);
}

/* 16 pixels of 2 bytes: an 8 x 8 transpose in each lane of 128 bits. */
static AIRY_ALWAYS_INLINE bool transpose_2(struct block8 *out, const uint8_t *const src[8],
                                           const airy_dtype dtype)
{
    __m256i r[8], t[8];
    for (int f = 0; f < 8; f++)
        r[f] = _mm256_loadu_si256((const __m256i *)(const void *)src[f]);
    if (all_zero(r, 8))
        return false;
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        r[4 * i] = _mm256_unpacklo_epi32(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm256_unpackhi_epi32(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm256_unpacklo_epi32(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm256_unpackhi_epi32(t[4 * i + 1], t[4 * i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        const __m256i even = _mm256_unpacklo_epi64(r[i], r[i + 4]),
                      odd = _mm256_unpackhi_epi64(r[i], r[i + 4]);
        store_block(out, 2 * i, widen_2(_mm256_castsi256_si128(even), dtype));
        store_block(out, 2 * i + 1, widen_2(_mm256_castsi256_si128(odd), dtype));
        store_block(out, 2 * i + 8, widen_2(_mm256_extracti128_si256(even, 1), dtype));
        store_block(out, 2 * i + 9, widen_2(_mm256_extracti128_si256(odd, 1), dtype));
    }
    return true;
}

/* Pixels of 1 byte, four of them in v: all frames of a pixel follow each other. */
static AIRY_ALWAYS_INLINE void store_bytes(struct block8 *out, unsigned pixel, __m256i v,
                                           const airy_dtype dtype)
{
    _Alignas(32) uint8_t bytes[32];
    _mm256_store_si256((__m256i *)(void *)bytes,
                       _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    for (unsigned i = 0; i < 4; i++) {
        const __m128i frames =
            _mm_loadl_epi64((const __m128i *)(const void *)(bytes + (size_t)8 * i));
        store_block(out, pixel + i,
                    dtype == AIRY_DTYPE_I8 ? _mm256_cvtepi8_epi32(frames)
                                           : _mm256_cvtepu8_epi32(frames));
    }
}

/* 16 pixels of 1 byte. Register f: frame f below, frame f + 4 above. */
static AIRY_ALWAYS_INLINE bool transpose_1(struct block8 *out, const uint8_t *const src[8],
                                           const airy_dtype dtype)
{
    __m256i r[4];
    for (int f = 0; f < 4; f++)
        r[f] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)src[f])),
            _mm_loadu_si128((const __m128i *)(const void *)src[f + 4]), 1);
    if (all_zero(r, 4))
        return false;
    const __m256i low01 = _mm256_unpacklo_epi8(r[0], r[1]),
                  high01 = _mm256_unpackhi_epi8(r[0], r[1]);
    const __m256i low23 = _mm256_unpacklo_epi8(r[2], r[3]),
                  high23 = _mm256_unpackhi_epi8(r[2], r[3]);
    store_bytes(out, 0, _mm256_unpacklo_epi16(low01, low23), dtype);
    store_bytes(out, 4, _mm256_unpackhi_epi16(low01, low23), dtype);
    store_bytes(out, 8, _mm256_unpacklo_epi16(high01, high23), dtype);
    store_bytes(out, 12, _mm256_unpackhi_epi16(high01, high23), dtype);
    return true;
}

static AIRY_ALWAYS_INLINE size_t size_of(const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        return 1;
    return dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16 ? 2 : 4;
}

/* Bits of the halves of the group, 8 pixels each, that are not all 0. */
static AIRY_ALWAYS_INLINE unsigned transpose_group(struct block8 *out, const struct airy_lanes *t,
                                                   size_t group, const airy_dtype dtype)
{
    const uint8_t *src[8];
    for (int f = 0; f < 8; f++)
        src[f] = (const uint8_t *)t->pixels[f] + group * AIRY_GROUP * size_of(dtype);
    if (size_of(dtype) == 1)
        return transpose_1(out, src, dtype) ? 3 : 0;
    if (size_of(dtype) == 2)
        return transpose_2(out, src, dtype) ? 3 : 0;
    const unsigned first = transpose_4(out, src, 0, dtype),
                   second = transpose_4(out, src, 8, dtype);
    return first | second << 1;
}

static AIRY_ALWAYS_INLINE void add_entry(double *row, __m256d w, __m256d x0, __m256d x1)
{
    _mm256_store_pd(row, _mm256_fmadd_pd(w, x0, _mm256_load_pd(row)));
    _mm256_store_pd(row + 4, _mm256_fmadd_pd(w, x1, _mm256_load_pd(row + 4)));
}

/* A compact group of 16 pixels. */
static AIRY_ALWAYS_INLINE void sum_group(const struct airy_lanes *t, size_t group,
                                         const airy_dtype dtype, const unsigned per_pixel,
                                         const bool poisson)
{
    const size_t first = t->first + group * AIRY_GROUP, step = poisson ? 16 : 8;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    double *const sums = t->sums;
    const __m256d one = _mm256_set1_pd(1.0);
    struct block8 block;
    const unsigned halves = transpose_group(&block, t, group, dtype);
    for (unsigned k = halves & 1 ? 0 : 8; k < (halves & 2 ? 16 : 8); k++) {
        const __m256d x0 = to_double(block.x[k], dtype), x1 = to_double(block.x[k] + 4, dtype);
        double *row = sums + bin[k] * step;
        __m256d above0 = one, above1 = one;
        if (poisson) {
            above0 = _mm256_sub_pd(_mm256_max_pd(x0, one), one);
            above1 = _mm256_sub_pd(_mm256_max_pd(x1, one), one);
        }
        for (unsigned e = 0; e < per_pixel; e++) {
            const __m256d w = _mm256_cvtps_pd(_mm_set1_ps(weight[k * per_pixel + e]));
            add_entry(row + e * step, w, x0, x1);
            if (poisson)
                add_entry(row + e * step + 8, _mm256_mul_pd(w, w), above0, above1);
        }
    }
}

/* A group that the compact matrix does not have. */
static AIRY_ALWAYS_INLINE void sum_any_group(const struct airy_lanes *t, size_t group,
                                             const airy_dtype dtype, const bool poisson)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const size_t end = airy_min_size(t->count - group * AIRY_GROUP, AIRY_GROUP),
                 step = poisson ? 16 : 8;
    const uint32_t *start = m->start + t->first + group * AIRY_GROUP;
    const float *weight = t->integrator->weight;
    double *const sums = t->sums;
    const size_t bin_lo = t->slice->bin_lo;
    const __m256d one = _mm256_set1_pd(1.0);
    struct block8 x;
    const unsigned halves = transpose_group(&x, t, group, dtype);
    for (unsigned k = halves & 1 ? 0 : 8; k < (halves & 2 ? end : airy_min_size(end, 8)); k++) {
        const __m256d x0 = to_double(x.x[k], dtype), x1 = to_double(x.x[k] + 4, dtype);
        const __m256d above0 = _mm256_sub_pd(_mm256_max_pd(x0, one), one),
                      above1 = _mm256_sub_pd(_mm256_max_pd(x1, one), one);
        for (uint32_t e = start[k]; e < start[k + 1]; e++) {
            const __m256d w = _mm256_set1_pd((double)weight[e]);
            double *row = sums + (m->bin[e] - bin_lo) * step;
            add_entry(row, w, x0, x1);
            if (poisson)
                add_entry(row + 8, _mm256_mul_pd(w, w), above0, above1);
        }
    }
}

/*
 * A full compact group of the second pass. Entries of weight 0 fill up a pixel: their means may be
 * any number, their rows are not looked at.
 */
static AIRY_ALWAYS_INLINE void second_group(const struct airy_lanes *t, size_t group,
                                            const airy_dtype dtype, const unsigned per_pixel)
{
    const size_t first = t->first + group * AIRY_GROUP;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    const float *dark = t->integrator->dark ? t->integrator->dark + first : NULL;
    const float *norm = t->integrator->norm + first;
    const double *means = t->means + t->slice->bin_lo * LANES;
    double *const sums = t->sums;
    struct block8 x;
    const unsigned halves = transpose_group(&x, t, group, dtype);
    for (unsigned k = 0; k < 16; k++)
        if (!(halves >> k / 8 & 1))
            store_block(&x, k, _mm256_set1_epi32(dtype == AIRY_DTYPE_U32 ? INT32_MIN : 0));
    for (unsigned k = 0; k < 16; k++) {
        const __m256d shift = _mm256_set1_pd(dark ? (double)dark[k] : 0.0);
        const __m256d x0 = _mm256_sub_pd(to_double(x.x[k], dtype), shift);
        const __m256d x1 = _mm256_sub_pd(to_double(x.x[k] + 4, dtype), shift);
        for (unsigned e = 0; e < per_pixel; e++) {
            const double *mean = means + (bin[k] + e) * (size_t)LANES;
            double *row = sums + (bin[k] + e) * (size_t)LANES;
            const __m256d w = _mm256_set1_pd((double)weight[k * per_pixel + e]);
            const __m256d omega = _mm256_mul_pd(w, _mm256_set1_pd((double)norm[k]));
            const __m256d d0 = _mm256_fmsub_pd(w, x0, _mm256_mul_pd(omega, _mm256_loadu_pd(mean)));
            const __m256d d1 =
                _mm256_fmsub_pd(w, x1, _mm256_mul_pd(omega, _mm256_loadu_pd(mean + 4)));
            _mm256_store_pd(row, _mm256_fmadd_pd(d0, d0, _mm256_load_pd(row)));
            _mm256_store_pd(row + 4, _mm256_fmadd_pd(d1, d1, _mm256_load_pd(row + 4)));
        }
    }
}

#define FAST(f, dtype) f##_fast_##dtype##_avx2
#include "cpu/integrate_fast.h"
AIRY_SUM_FAST(u8, AIRY_DTYPE_U8)
AIRY_SUM_FAST(i8, AIRY_DTYPE_I8)
AIRY_SUM_FAST(u16, AIRY_DTYPE_U16)
AIRY_SUM_FAST(i16, AIRY_DTYPE_I16)
AIRY_SUM_FAST(u32, AIRY_DTYPE_U32)
AIRY_SUM_FAST(i32, AIRY_DTYPE_I32)
AIRY_SUM_FAST(f32, AIRY_DTYPE_F32)
AIRY_SECOND_FAST(u8, AIRY_DTYPE_U8)
AIRY_SECOND_FAST(i8, AIRY_DTYPE_I8)
AIRY_SECOND_FAST(u16, AIRY_DTYPE_U16)
AIRY_SECOND_FAST(i16, AIRY_DTYPE_I16)
AIRY_SECOND_FAST(u32, AIRY_DTYPE_U32)
AIRY_SECOND_FAST(i32, AIRY_DTYPE_I32)
AIRY_SECOND_FAST(f32, AIRY_DTYPE_F32)

static AIRY_ALWAYS_INLINE __m256i expand_bits(unsigned bits)
{
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), each), each);
}

static AIRY_ALWAYS_INLINE uint32_t largest_of(__m256i v)
{
    _Alignas(32) uint32_t each[8];
    uint32_t largest = 0;
    _mm256_store_si256((__m256i *)each, v);
    for (int i = 0; i < 8; i++)
        largest = each[i] > largest ? each[i] : largest;
    return largest;
}

static AIRY_ALWAYS_INLINE bool scan_int(struct airy_raw_stats *stats, bool *zero,
                                        const void *pixels, const uint16_t *valid, size_t count,
                                        const struct airy_raw_rules *rules, const airy_dtype dtype,
                                        bool *wide)
{
    __m256i max[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()}, total[2] = {max[0], max[0]};
    unsigned counts = 0;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const unsigned bits = valid[i / AIRY_GROUP];
        counts |= bits;
        if (bits == 0)
            continue;
        __m256i x[2] = {load8(pixels, i, dtype), load8(pixels, i + 8, dtype)};
        if (bits != 0xffff) {
            x[0] = _mm256_and_si256(x[0], expand_bits(bits));
            x[1] = _mm256_and_si256(x[1], expand_bits(bits >> 8));
        }
        for (int h = 0; h < 2; h++) {
            max[h] = _mm256_max_epu32(max[h], x[h]);
            total[h] = _mm256_add_epi32(total[h], x[h]);
        }
    }
    const uint32_t largest = largest_of(_mm256_max_epu32(max[0], max[1]));
    if (largest >= rules->suspicious)
        return false;
    *wide = largest >= AIRY_SCAN_LIMIT;
    if (*wide)
        return true;
    _Alignas(32) uint32_t each[16];
    _mm256_store_si256((__m256i *)each, total[0]);
    _mm256_store_si256((__m256i *)(each + 8), total[1]);
    for (int k = 0; k < 16; k++)
        stats->total += each[k];
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

AIRY_SCAN_FAST(u8, AIRY_DTYPE_U8)
AIRY_SCAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_SCAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_SCAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_SCAN_FAST(i32, AIRY_DTYPE_I32)

/* Pairs of values are added as signed: from 2^15 on the plain scan does it. */
static bool scan_words(struct airy_raw_stats *stats, bool *zero, const void *pixels,
                       const uint16_t *valid, size_t count, const struct airy_raw_rules *rules)
{
    const __m256i each = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                           8192, 16384, INT16_MIN);
    __m256i max = _mm256_setzero_si256(), total = max;
    unsigned counts = 0;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const unsigned bits = valid[i / AIRY_GROUP];
        counts |= bits;
        if (bits == 0)
            continue;
        __m256i x =
            _mm256_loadu_si256((const __m256i *)(const void *)((const uint16_t *)pixels + i));
        if (bits != 0xffff)
            x = _mm256_and_si256(
                x,
                _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)bits), each), each));
        max = _mm256_max_epu16(max, x);
        total = _mm256_add_epi32(total, _mm256_madd_epi16(x, _mm256_set1_epi16(1)));
    }
    const uint32_t largest = largest_of(_mm256_max_epu32(
        _mm256_srli_epi32(max, 16), _mm256_and_si256(max, _mm256_set1_epi32(0xffff))));
    if (largest >= rules->suspicious)
        return false;
    if (largest >= 1u << 15)
        return scan_u16_avx2(stats, zero, pixels, valid, count, rules);
    _Alignas(32) uint32_t sums[8];
    _mm256_store_si256((__m256i *)(void *)sums, total);
    for (int k = 0; k < 8; k++)
        stats->total += sums[k];
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

static AIRY_ALWAYS_INLINE void clear_pixel(void *pixels, size_t i, const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        ((uint8_t *)pixels)[i] = 0;
    else if (dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16)
        ((uint16_t *)pixels)[i] = 0;
    else
        ((uint32_t *)pixels)[i] = 0;
}

/*
 * Signed values are looked at with the top bit turned, in the order of unsigned ones: 2^31 more
 * than they are.
 */
static AIRY_ALWAYS_INLINE void clean_int(struct airy_raw_stats *stats, void *pixels,
                                         uint16_t *invalid, const uint16_t *valid, size_t count,
                                         const struct airy_raw_rules *rules, const airy_dtype dtype)
{
    const bool is_signed = dtype == AIRY_DTYPE_I8 || dtype == AIRY_DTYPE_I16 ||
                           dtype == AIRY_DTYPE_I32;
    const int64_t bias = is_signed ? (int64_t)1 << 31 : 0, most = UINT32_MAX;
    const bool saturates = rules->saturation <= most - bias;
    const int64_t from = rules->saturation > -bias ? rules->saturation + bias : 0;
    const __m256i turn = _mm256_set1_epi32(is_signed ? INT32_MIN : 0);
    const __m256i limit = _mm256_set1_epi32((int)(uint32_t)(saturates ? from : 0));
    const __m256i lo = _mm256_set1_epi32((int)rules->lo),
                  span = _mm256_set1_epi32((int)rules->span);
    __m256i max = _mm256_setzero_si256(), total = max;
    int64_t kept = 0;
    for (size_t i = 0; i < count; i += 8) {
        const unsigned bits = valid[i / AIRY_GROUP] >> (i % AIRY_GROUP) & 0xff;
        if (bits == 0)
            continue;
        const __m256i x = load8(pixels, i, dtype), u = _mm256_xor_si256(x, turn),
                      above = _mm256_sub_epi32(x, lo);
        const __m256i out = _mm256_cmpeq_epi32(_mm256_min_epu32(above, span), above);
        const __m256i high = _mm256_cmpeq_epi32(_mm256_max_epu32(u, limit), u);
        const unsigned leave =
            rules->has_interval ? (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(out)) & bits : 0;
        if (saturates)
            stats->saturated += (uint32_t)__builtin_popcount(
                (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(high)) & bits);
        const __m256i keep = _mm256_and_si256(u, expand_bits(bits & ~leave));
        kept += __builtin_popcount(bits & ~leave);
        max = _mm256_max_epu32(max, keep);
        total = _mm256_add_epi64(total, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(keep)));
        total = _mm256_add_epi64(total, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(keep, 1)));
        if (leave) {
            stats->invalid += (uint32_t)__builtin_popcount(leave);
            invalid[i / AIRY_GROUP] |= (uint16_t)(leave << i % AIRY_GROUP);
            for (unsigned rest = leave; rest; rest &= rest - 1)
                clear_pixel(pixels, i + (unsigned)__builtin_ctz(rest), dtype);
        }
    }
    _Alignas(32) int64_t each[4];
    _mm256_store_si256((__m256i *)each, total);
    stats->total += each[0] + each[1] + each[2] + each[3] - kept * bias;
    if (kept)
        airy_raw_stats_max(stats, (double)((int64_t)largest_of(max) - bias));
}

AIRY_CLEAN_FAST(u8, AIRY_DTYPE_U8)
AIRY_CLEAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_CLEAN_FAST(u16, AIRY_DTYPE_U16)
AIRY_CLEAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_CLEAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_CLEAN_FAST(i32, AIRY_DTYPE_I32)

#define RAW_FAST(dtype, look)                                                                      \
    {                                                                                              \
        .wide = {sum_fast_##dtype##_avx2, second_fast_##dtype##_avx2},                             \
        .single = {sum_single_##dtype##_avx2, second_single_##dtype##_avx2}, .scan = look,         \
        .clean = clean_fast_##dtype##_avx2                                                         \
    }

const struct airy_integrate_kernels airy_integrate_avx2 = {
    .narrowest = SUFFIX(narrowest, planes),
    .lanes = LANES,
    .worth = 3,
    .engine = "by pixel, 8 frames in lanes (AVX2)",
    .raw = {[AIRY_DTYPE_U8] = RAW_FAST(u8, scan_fast_u8_avx2),
            [AIRY_DTYPE_I8] = RAW_FAST(i8, scan_fast_i8_avx2),
            [AIRY_DTYPE_U16] = RAW_FAST(u16, scan_words),
            [AIRY_DTYPE_I16] = RAW_FAST(i16, scan_fast_i16_avx2),
            [AIRY_DTYPE_U32] = RAW_FAST(u32, scan_fast_u32_avx2),
            [AIRY_DTYPE_I32] = RAW_FAST(i32, scan_fast_i32_avx2),
            [AIRY_DTYPE_F32] = {.wide = {sum_fast_f32_avx2, second_fast_f32_avx2},
                                .single = {sum_single_f32_avx2, second_single_f32_avx2},
                                .scan = scan_f32_avx2,
                                .clean = clean_f32_avx2},
            [AIRY_DTYPE_F64] = AIRY_RAW_FNS(f64_avx2)},
};
