/* Sixteen frames in lanes: AVX-512 F, BW, DQ, VL. */
#include <immintrin.h>

#define LANES            16
#define SUFFIX(f, dtype) f##_##dtype##_avx512
#include "cpu/integrate_tmpl_dtypes.c"

/* 16 pixels from pixel i on, in 32 bits each. */
static AIRY_ALWAYS_INLINE __m512i load16(const void *pixels, size_t i, const airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return _mm512_cvtepu8_epi32(
            _mm_loadu_si128((const __m128i *)((const uint8_t *)pixels + i)));
    case AIRY_DTYPE_I8:
        return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)((const int8_t *)pixels + i)));
    case AIRY_DTYPE_U16:
        return _mm512_cvtepu16_epi32(
            _mm256_loadu_si256((const __m256i *)((const uint16_t *)pixels + i)));
    case AIRY_DTYPE_I16:
        return _mm512_cvtepi16_epi32(
            _mm256_loadu_si256((const __m256i *)((const int16_t *)pixels + i)));
    default:
        return _mm512_loadu_si512((const uint32_t *)pixels + i);
    }
}

/*
 * A group of 16 pixels of 16 frames, transposed. 4 bytes: pixel k at 64 k. 2 bytes: frames 0 to 7
 * of pixel k at 64 (k mod 8) + 16 (k / 8), the others 32 bytes behind. 1 byte: pixel k at 16 k.
 */
struct block16 {
    _Alignas(64) uint8_t bytes[16 * 64];
};

static AIRY_ALWAYS_INLINE size_t size_of(const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        return 1;
    return dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16 ? 2 : 4;
}

/* Frames 8 half to 8 half + 7 of pixel k. */
static AIRY_ALWAYS_INLINE __m512d eight_values(const struct block16 *x, unsigned k, unsigned half,
                                               const airy_dtype dtype)
{
    const uint8_t *wide = x->bytes + 64 * k + 32 * half;
    const uint8_t *narrow = x->bytes + 64 * (k % 8) + 16 * (k / 8) + 32 * half;
    const uint8_t *byte = x->bytes + 16 * k + 8 * half;
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return _mm512_cvtepi64_pd(
            _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)byte)));
    case AIRY_DTYPE_I8:
        return _mm512_cvtepi64_pd(
            _mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)byte)));
    case AIRY_DTYPE_U16:
        return _mm512_cvtepi64_pd(
            _mm512_cvtepu16_epi64(_mm_load_si128((const __m128i *)(const void *)narrow)));
    case AIRY_DTYPE_I16:
        return _mm512_cvtepi64_pd(
            _mm512_cvtepi16_epi64(_mm_load_si128((const __m128i *)(const void *)narrow)));
    case AIRY_DTYPE_F32:
        return _mm512_cvtps_pd(_mm256_load_ps((const float *)(const void *)wide));
    case AIRY_DTYPE_U32:
        return _mm512_cvtepu32_pd(_mm256_load_si256((const __m256i *)(const void *)wide));
    default:
        return _mm512_cvtepi32_pd(_mm256_load_si256((const __m256i *)(const void *)wide));
    }
}

static AIRY_ALWAYS_INLINE void store_block(struct block16 *out, unsigned i, __m512i v)
{
    _mm512_store_si512(out->bytes + (size_t)64 * i, v);
}

static AIRY_ALWAYS_INLINE bool all_zero(const __m512i *r, unsigned count)
{
    __m512i any = r[0];
    for (unsigned i = 1; i < count; i++)
        any = _mm512_or_si512(any, r[i]);
    return _mm512_test_epi32_mask(any, any) == 0;
}

/* False, and nothing written, where all pixels are 0. src[f]: the group's pixels of frame f. */
static AIRY_ALWAYS_INLINE bool transpose_4(struct block16 *out, const uint8_t *const src[16])
{
    __m512i r[16], t[16];
    for (int f = 0; f < 16; f++)
        r[f] = _mm512_loadu_si512(src[f]);
    if (all_zero(r, 16))
        return false;
    for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 4; i++) {
        r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (unsigned i = 0; i < 4; i++) {
        store_block(out, i, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
        store_block(out, i + 8, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
        store_block(out, i + 4, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88));
        store_block(out, i + 12, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd));
    }
    return true;
}

/* Register f: frame f below, frame f + 8 above; an 8 x 8 transpose in each lane of 128 bits. */
static AIRY_ALWAYS_INLINE bool transpose_2(struct block16 *out, const uint8_t *const src[16])
{
    __m512i r[8], t[8];
    for (int f = 0; f < 8; f++)
        r[f] = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)src[f])),
            _mm256_loadu_si256((const __m256i *)(const void *)src[f + 8]), 1);
    if (all_zero(r, 8))
        return false;
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        r[4 * i] = _mm512_unpacklo_epi32(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm512_unpackhi_epi32(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm512_unpacklo_epi32(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm512_unpackhi_epi32(t[4 * i + 1], t[4 * i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        store_block(out, 2 * i, _mm512_unpacklo_epi64(r[i], r[i + 4]));
        store_block(out, 2 * i + 1, _mm512_unpackhi_epi64(r[i], r[i + 4]));
    }
    return true;
}

/* Register f: frames f, f + 4, f + 8, f + 12. */
static AIRY_ALWAYS_INLINE bool transpose_1(struct block16 *out, const uint8_t *const src[16])
{
#define ROW(f) _mm_loadu_si128((const __m128i *)(const void *)src[f])
    __m512i r[4];
    for (int f = 0; f < 4; f++) {
        r[f] = _mm512_inserti32x4(_mm512_castsi128_si512(ROW(f)), ROW(f + 4), 1);
        r[f] = _mm512_inserti32x4(_mm512_inserti32x4(r[f], ROW(f + 8), 2), ROW(f + 12), 3);
    }
#undef ROW
    if (all_zero(r, 4))
        return false;
    const __m512i low01 = _mm512_unpacklo_epi8(r[0], r[1]),
                  high01 = _mm512_unpackhi_epi8(r[0], r[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(r[2], r[3]),
                  high23 = _mm512_unpackhi_epi8(r[2], r[3]);
    /*
     * Four frames of four pixels in each lane; the permute brings the four lanes' parts of a pixel
     * together.
     */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_block(out, 0, _mm512_permutexvar_epi32(order, _mm512_unpacklo_epi16(low01, low23)));
    store_block(out, 1, _mm512_permutexvar_epi32(order, _mm512_unpackhi_epi16(low01, low23)));
    store_block(out, 2, _mm512_permutexvar_epi32(order, _mm512_unpacklo_epi16(high01, high23)));
    store_block(out, 3, _mm512_permutexvar_epi32(order, _mm512_unpackhi_epi16(high01, high23)));
    return true;
}

static AIRY_ALWAYS_INLINE bool transpose_group(struct block16 *out, const struct airy_lanes *t,
                                               size_t group, const airy_dtype dtype)
{
    const uint8_t *src[16];
    for (int f = 0; f < 16; f++)
        src[f] = (const uint8_t *)t->pixels[f] + group * AIRY_GROUP * size_of(dtype);
    if (size_of(dtype) == 1)
        return transpose_1(out, src);
    return size_of(dtype) == 2 ? transpose_2(out, src) : transpose_4(out, src);
}

static AIRY_ALWAYS_INLINE void add_entry(double *row, __m512d w, __m512d x0, __m512d x1)
{
    _mm512_store_pd(row, _mm512_fmadd_pd(w, x0, _mm512_load_pd(row)));
    _mm512_store_pd(row + 8, _mm512_fmadd_pd(w, x1, _mm512_load_pd(row + 8)));
}

/* A compact group of 16 pixels. */
static AIRY_ALWAYS_INLINE void sum_group(const struct airy_lanes *t, size_t group,
                                         const airy_dtype dtype, const unsigned per_pixel,
                                         const bool poisson)
{
    const size_t first = t->first + group * AIRY_GROUP;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    const size_t step = poisson ? 32 : 16;
    double *const sums = t->sums;
    struct block16 x;
    if (!transpose_group(&x, t, group, dtype))
        return;
    const __m512d one = _mm512_set1_pd(1.0);
    for (unsigned k = 0; k < 16; k++) {
        const __m512d x0 = eight_values(&x, k, 0, dtype), x1 = eight_values(&x, k, 1, dtype);
        double *row = sums + bin[k] * step;
        __m512d above0 = one, above1 = one;
        if (poisson) {
            above0 = _mm512_sub_pd(_mm512_max_pd(x0, one), one);
            above1 = _mm512_sub_pd(_mm512_max_pd(x1, one), one);
        }
        for (unsigned e = 0; e < per_pixel; e++) {
            const __m512d w = _mm512_cvtps_pd(_mm256_set1_ps(weight[k * per_pixel + e]));
            add_entry(row + e * step, w, x0, x1);
            if (poisson)
                add_entry(row + e * step + 16, _mm512_mul_pd(w, w), above0, above1);
        }
    }
}

/* A group that the compact matrix does not have. */
static AIRY_ALWAYS_INLINE void sum_any_group(const struct airy_lanes *t, size_t group,
                                             const airy_dtype dtype, const bool poisson)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const size_t end = airy_min_size(t->count - group * AIRY_GROUP, AIRY_GROUP),
                 step = poisson ? 32 : 16;
    const uint32_t *start = m->start + t->first + group * AIRY_GROUP;
    const float *weight = t->integrator->weight;
    double *const sums = t->sums;
    const size_t bin_lo = t->slice->bin_lo;
    const __m512d one = _mm512_set1_pd(1.0);
    struct block16 x;
    if (!transpose_group(&x, t, group, dtype))
        return;
    for (unsigned k = 0; k < end; k++) {
        const __m512d x0 = eight_values(&x, k, 0, dtype), x1 = eight_values(&x, k, 1, dtype);
        const __m512d above0 = _mm512_sub_pd(_mm512_max_pd(x0, one), one),
                      above1 = _mm512_sub_pd(_mm512_max_pd(x1, one), one);
        for (uint32_t e = start[k]; e < start[k + 1]; e++) {
            const __m512d w = _mm512_set1_pd((double)weight[e]);
            double *row = sums + (m->bin[e] - bin_lo) * step;
            add_entry(row, w, x0, x1);
            if (poisson)
                add_entry(row + 16, _mm512_mul_pd(w, w), above0, above1);
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
    struct block16 x;
    if (!transpose_group(&x, t, group, dtype))
        memset(&x, 0, sizeof(x));
    for (unsigned k = 0; k < 16; k++) {
        const __m512d shift = _mm512_set1_pd(dark ? (double)dark[k] : 0.0);
        const __m512d x0 = _mm512_sub_pd(eight_values(&x, k, 0, dtype), shift);
        const __m512d x1 = _mm512_sub_pd(eight_values(&x, k, 1, dtype), shift);
        for (unsigned e = 0; e < per_pixel; e++) {
            const double *mean = means + (bin[k] + e) * (size_t)LANES;
            double *row = sums + (bin[k] + e) * (size_t)LANES;
            const __m512d w = _mm512_set1_pd((double)weight[k * per_pixel + e]);
            const __m512d omega = _mm512_mul_pd(w, _mm512_set1_pd((double)norm[k]));
            const __m512d d0 = _mm512_fmsub_pd(w, x0, _mm512_mul_pd(omega, _mm512_loadu_pd(mean)));
            const __m512d d1 =
                _mm512_fmsub_pd(w, x1, _mm512_mul_pd(omega, _mm512_loadu_pd(mean + 8)));
            _mm512_store_pd(row, _mm512_fmadd_pd(d0, d0, _mm512_load_pd(row)));
            _mm512_store_pd(row + 8, _mm512_fmadd_pd(d1, d1, _mm512_load_pd(row + 8)));
        }
    }
}

#define FAST(f, dtype) f##_fast_##dtype##_avx512
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

static AIRY_ALWAYS_INLINE bool scan_int(struct airy_raw_stats *stats, bool *zero,
                                        const void *pixels, const uint16_t *valid, size_t count,
                                        const struct airy_raw_rules *rules, const airy_dtype dtype,
                                        bool *wide)
{
    __m512i max = _mm512_setzero_si512(), total = max;
    unsigned counts = 0;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const __m512i x = load16(pixels, i, dtype);
        const __mmask16 bits = valid[i / AIRY_GROUP];
        counts |= bits;
        max = _mm512_mask_max_epu32(max, bits, max, x);
        total = _mm512_mask_add_epi32(total, bits, total, x);
    }
    const uint32_t largest = _mm512_reduce_max_epu32(max);
    if (largest >= rules->suspicious)
        return false;
    *wide = largest >= AIRY_SCAN_LIMIT;
    if (*wide)
        return true;
    const __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(total));
    const __m512i high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(total, 1));
    stats->total += _mm512_reduce_add_epi64(_mm512_add_epi64(low, high));
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

/* The valid bits of 32 or 64 pixels from pixel i on, none from `count` on. */
static AIRY_ALWAYS_INLINE uint64_t valid_bits(const uint16_t *valid, size_t i, size_t count)
{
    const size_t left = count - i;
    uint64_t bits = 0;
    memcpy(&bits, valid + i / AIRY_GROUP,
           left >= 64 ? 8 : (left + AIRY_GROUP - 1) / AIRY_GROUP * 2);
    return bits;
}

static bool scan_bytes(struct airy_raw_stats *stats, bool *zero, const void *pixels,
                       const uint16_t *valid, size_t count, const struct airy_raw_rules *rules)
{
    __m512i max = _mm512_setzero_si512(), total = max;
    uint64_t counts = 0;
    for (size_t i = 0; i < count; i += 64) {
        const uint64_t bits = valid_bits(valid, i, count);
        const __m512i x = _mm512_maskz_loadu_epi8(bits, (const uint8_t *)pixels + i);
        counts |= bits;
        max = _mm512_max_epu8(max, x);
        total = _mm512_add_epi64(total, _mm512_sad_epu8(x, _mm512_setzero_si512()));
    }
    const __m512i odd = _mm512_srli_epi16(max, 8),
                  even = _mm512_and_si512(max, _mm512_set1_epi16(255));
    const __m512i most = _mm512_max_epu16(odd, even);
    const uint32_t largest = _mm512_reduce_max_epu32(_mm512_max_epu32(
        _mm512_srli_epi32(most, 16), _mm512_and_si512(most, _mm512_set1_epi32(0xffff))));
    if (largest >= rules->suspicious)
        return false;
    stats->total += _mm512_reduce_add_epi64(total);
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

/* Pairs of values are added as signed: from 2^15 on the plain scan does it. */
static bool scan_words(struct airy_raw_stats *stats, bool *zero, const void *pixels,
                       const uint16_t *valid, size_t count, const struct airy_raw_rules *rules)
{
    __m512i max = _mm512_setzero_si512(), total = max;
    uint64_t counts = 0;
    for (size_t i = 0; i < count; i += 64) {
        const uint64_t bits = valid_bits(valid, i, count);
        counts |= bits;
        for (unsigned h = 0; h < 2; h++) {
            const __m512i x = _mm512_maskz_loadu_epi16((__mmask32)(bits >> 32 * h),
                                                       (const uint16_t *)pixels + i + 32 * h);
            max = _mm512_max_epu16(max, x);
            total = _mm512_add_epi32(total, _mm512_madd_epi16(x, _mm512_set1_epi16(1)));
        }
    }
    const uint32_t largest = _mm512_reduce_max_epu32(_mm512_max_epu32(
        _mm512_srli_epi32(max, 16), _mm512_and_si512(max, _mm512_set1_epi32(0xffff))));
    if (largest >= rules->suspicious)
        return false;
    if (largest >= 1u << 15)
        return scan_u16_avx512(stats, zero, pixels, valid, count, rules);
    stats->total += _mm512_reduce_add_epi32(total);
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

static AIRY_ALWAYS_INLINE void clear16(void *pixels, size_t i, __mmask16 which,
                                       const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        _mm_mask_storeu_epi8((uint8_t *)pixels + i, which, _mm_setzero_si128());
    else if (dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16)
        _mm256_mask_storeu_epi16((uint16_t *)pixels + i, which, _mm256_setzero_si256());
    else
        _mm512_mask_storeu_epi32((uint32_t *)pixels + i, which, _mm512_setzero_si512());
}

static AIRY_ALWAYS_INLINE void clean_int(struct airy_raw_stats *stats, void *pixels,
                                         uint16_t *invalid, const uint16_t *valid, size_t count,
                                         const struct airy_raw_rules *rules, const airy_dtype dtype)
{
    const bool is_signed = dtype == AIRY_DTYPE_I8 || dtype == AIRY_DTYPE_I16 ||
                           dtype == AIRY_DTYPE_I32;
    const __m512i lo = _mm512_set1_epi32((int)rules->lo),
                  span = _mm512_set1_epi32((int)rules->span);
    const __m512i lowest = _mm512_set1_epi64(INT64_MIN),
                  saturation = _mm512_set1_epi64(rules->saturation);
    __m512i total = _mm512_setzero_si512(), max = lowest;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const __mmask16 bits = valid[i / AIRY_GROUP];
        if (bits == 0)
            continue;
        const __m512i x = load16(pixels, i, dtype);
        const __m256i half[2] = {_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1)};
        __mmask16 leave = _mm512_mask_cmple_epu32_mask(bits, _mm512_sub_epi32(x, lo), span);
        if (!rules->has_interval)
            leave = 0;
        for (int h = 0; h < 2; h++) {
            const __m512i v = is_signed ? _mm512_cvtepi32_epi64(half[h])
                                        : _mm512_cvtepu32_epi64(half[h]);
            const __mmask8 counts = (__mmask8)(bits >> 8 * h),
                           keep = (__mmask8)(counts & ~(leave >> 8 * h));
            const __mmask8 saturated = _mm512_mask_cmpge_epi64_mask(counts, v, saturation);
            stats->saturated += (uint32_t)__builtin_popcount(saturated);
            total = _mm512_mask_add_epi64(total, keep, total, v);
            max = _mm512_mask_max_epi64(max, keep, max, v);
        }
        if (leave) {
            stats->invalid += (uint32_t)__builtin_popcount(leave);
            invalid[i / AIRY_GROUP] |= leave;
            clear16(pixels, i, leave, dtype);
        }
    }
    stats->total += _mm512_reduce_add_epi64(total);
    const int64_t largest = _mm512_reduce_max_epi64(max);
    if (largest != INT64_MIN)
        airy_raw_stats_max(stats, (double)largest);
}

AIRY_SCAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_SCAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_SCAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_SCAN_FAST(i32, AIRY_DTYPE_I32)
AIRY_CLEAN_FAST(u8, AIRY_DTYPE_U8)
AIRY_CLEAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_CLEAN_FAST(u16, AIRY_DTYPE_U16)
AIRY_CLEAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_CLEAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_CLEAN_FAST(i32, AIRY_DTYPE_I32)

#define RAW_FAST(dtype, look)                                                                      \
    {                                                                                              \
        .wide = {sum_fast_##dtype##_avx512, second_fast_##dtype##_avx512},                         \
        .single = {sum_single_##dtype##_avx512, second_single_##dtype##_avx512}, .scan = look,     \
        .clean = clean_fast_##dtype##_avx512                                                       \
    }

const struct airy_integrate_kernels airy_integrate_avx512 = {
    .narrowest = SUFFIX(narrowest, planes),
    .lanes = LANES,
    .worth = 9,
    .fewer = &airy_integrate_avx2,
    .engine = "by pixel, 16 frames in lanes (AVX-512)",
    .raw = {[AIRY_DTYPE_U8] = RAW_FAST(u8, scan_bytes),
            [AIRY_DTYPE_I8] = RAW_FAST(i8, scan_fast_i8_avx512),
            [AIRY_DTYPE_U16] = RAW_FAST(u16, scan_words),
            [AIRY_DTYPE_I16] = RAW_FAST(i16, scan_fast_i16_avx512),
            [AIRY_DTYPE_U32] = RAW_FAST(u32, scan_fast_u32_avx512),
            [AIRY_DTYPE_I32] = RAW_FAST(i32, scan_fast_i32_avx512),
            [AIRY_DTYPE_F32] = {.wide = {sum_fast_f32_avx512, second_fast_f32_avx512},
                                .single = {sum_single_f32_avx512, second_single_f32_avx512},
                                .scan = scan_f32_avx512,
                                .clean = clean_f32_avx512},
            [AIRY_DTYPE_F64] = AIRY_RAW_FNS(f64_avx512)},
};
