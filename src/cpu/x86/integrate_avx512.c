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
        return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)((const uint8_t *)pixels + i)));
    case AIRY_DTYPE_I8:
        return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)((const int8_t *)pixels + i)));
    case AIRY_DTYPE_U16:
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)((const uint16_t *)pixels + i)));
    case AIRY_DTYPE_I16:
        return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)((const int16_t *)pixels + i)));
    default:
        return _mm512_loadu_si512((const uint32_t *)pixels + i);
    }
}

static AIRY_ALWAYS_INLINE __m512d to_double(const uint32_t *x, const airy_dtype dtype)
{
    const __m256i v = _mm256_load_si256((const __m256i *)x);
    if (dtype == AIRY_DTYPE_F32)
        return _mm512_cvtps_pd(_mm256_castsi256_ps(v));
    return dtype == AIRY_DTYPE_U32 ? _mm512_cvtepu32_pd(v) : _mm512_cvtepi32_pd(v);
}

/* r[f] = 16 pixels of frame f, to out[p] = pixel p of 16 frames. */
static AIRY_ALWAYS_INLINE void transpose16(uint32_t out[16][16], __m512i r[16])
{
    __m512i t[16];
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
    for (int i = 0; i < 4; i++) {
        _mm512_store_si512(out[i], _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
        _mm512_store_si512(out[i + 8], _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
        _mm512_store_si512(out[i + 4], _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88));
        _mm512_store_si512(out[i + 12], _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd));
    }
}

static AIRY_ALWAYS_INLINE void add_entry(double *row, __m512d w, __m512d x0, __m512d x1)
{
    _mm512_store_pd(row, _mm512_fmadd_pd(w, x0, _mm512_load_pd(row)));
    _mm512_store_pd(row + 8, _mm512_fmadd_pd(w, x1, _mm512_load_pd(row + 8)));
}

/* A compact group of 16 pixels. */
static AIRY_ALWAYS_INLINE void sum_group(const struct airy_lanes *t, size_t group, const airy_dtype dtype,
                                         const unsigned per_pixel, const bool poisson)
{
    const size_t first = t->first + group * AIRY_GROUP;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    const size_t step = poisson ? 32 : 16;
    _Alignas(64) uint32_t x[16][16];
    __m512i r[16], any = _mm512_setzero_si512();
    for (int l = 0; l < 16; l++) {
        r[l] = load16(t->pixels[l], group * AIRY_GROUP, dtype);
        any = _mm512_or_si512(any, r[l]);
    }
    if (_mm512_test_epi32_mask(any, any) == 0)
        return;
    transpose16(x, r);
    const __m512d one = _mm512_set1_pd(1.0);
    for (int k = 0; k < 16; k++) {
        const __m512d x0 = to_double(x[k], dtype), x1 = to_double(x[k] + 8, dtype);
        double *row = t->sums + bin[k] * step;
        __m512d above0 = one, above1 = one;
        if (poisson) {
            above0 = _mm512_sub_pd(_mm512_max_pd(x0, one), one);
            above1 = _mm512_sub_pd(_mm512_max_pd(x1, one), one);
        }
        for (unsigned e = 0; e < per_pixel; e++) {
            const __m512d w = _mm512_cvtps_pd(_mm256_set1_ps(weight[(unsigned)k * per_pixel + e]));
            add_entry(row + e * step, w, x0, x1);
            if (poisson)
                add_entry(row + e * step + 16, _mm512_mul_pd(w, w), above0, above1);
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

static AIRY_ALWAYS_INLINE bool scan_int(struct airy_raw_stats *stats, bool *zero, const void *pixels,
                                        const uint16_t *valid, size_t count, const struct airy_raw_rules *rules,
                                        const airy_dtype dtype, bool *wide)
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

static AIRY_ALWAYS_INLINE void clear16(void *pixels, size_t i, __mmask16 which, const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        _mm_mask_storeu_epi8((uint8_t *)pixels + i, which, _mm_setzero_si128());
    else if (dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16)
        _mm256_mask_storeu_epi16((uint16_t *)pixels + i, which, _mm256_setzero_si256());
    else
        _mm512_mask_storeu_epi32((uint32_t *)pixels + i, which, _mm512_setzero_si512());
}

static AIRY_ALWAYS_INLINE void clean_int(struct airy_raw_stats *stats, void *pixels, uint16_t *invalid,
                                         const uint16_t *valid, size_t count, const struct airy_raw_rules *rules,
                                         const airy_dtype dtype)
{
    const bool is_signed = dtype == AIRY_DTYPE_I8 || dtype == AIRY_DTYPE_I16 || dtype == AIRY_DTYPE_I32;
    const __m512i lo = _mm512_set1_epi32((int)rules->lo), span = _mm512_set1_epi32((int)rules->span);
    const __m512i lowest = _mm512_set1_epi64(INT64_MIN), saturation = _mm512_set1_epi64(rules->saturation);
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
            const __m512i v = is_signed ? _mm512_cvtepi32_epi64(half[h]) : _mm512_cvtepu32_epi64(half[h]);
            const __mmask8 counts = (__mmask8)(bits >> 8 * h), keep = (__mmask8)(counts & ~(leave >> 8 * h));
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

AIRY_SCAN_FAST(u8, AIRY_DTYPE_U8)
AIRY_SCAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_SCAN_FAST(u16, AIRY_DTYPE_U16)
AIRY_SCAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_SCAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_SCAN_FAST(i32, AIRY_DTYPE_I32)
AIRY_CLEAN_FAST(u8, AIRY_DTYPE_U8)
AIRY_CLEAN_FAST(i8, AIRY_DTYPE_I8)
AIRY_CLEAN_FAST(u16, AIRY_DTYPE_U16)
AIRY_CLEAN_FAST(i16, AIRY_DTYPE_I16)
AIRY_CLEAN_FAST(u32, AIRY_DTYPE_U32)
AIRY_CLEAN_FAST(i32, AIRY_DTYPE_I32)

#define RAW_FAST(dtype)                                                                                                \
    {                                                                                                                  \
        .wide = {sum_fast_##dtype##_avx512, second_wide_##dtype##_avx512},                                             \
        .single = {sum_single_##dtype##_avx512, second_single_##dtype##_avx512}, .scan = scan_fast_##dtype##_avx512,   \
        .clean = clean_fast_##dtype##_avx512                                                                           \
    }

const struct airy_integrate_kernels airy_integrate_avx512 = {
    .narrowest = SUFFIX(narrowest, planes),
    .lanes = LANES,
    .worth = 3,
    .engine = "by pixel, 16 frames in lanes (AVX-512)",
    .raw = {[AIRY_DTYPE_U8] = RAW_FAST(u8),
            [AIRY_DTYPE_I8] = RAW_FAST(i8),
            [AIRY_DTYPE_U16] = RAW_FAST(u16),
            [AIRY_DTYPE_I16] = RAW_FAST(i16),
            [AIRY_DTYPE_U32] = RAW_FAST(u32),
            [AIRY_DTYPE_I32] = RAW_FAST(i32),
            [AIRY_DTYPE_F32] = {.wide = {sum_fast_f32_avx512, second_wide_f32_avx512},
                                .single = {sum_single_f32_avx512, second_single_f32_avx512},
                                .scan = scan_f32_avx512,
                                .clean = clean_f32_avx512},
            [AIRY_DTYPE_F64] = AIRY_RAW_FNS(f64_avx512)},
};
