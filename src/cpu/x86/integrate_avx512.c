/* Sixteen frames in lanes: AVX-512 F, BW, DQ, VL. */
#include <immintrin.h>

#define LANES            16
#define SUFFIX(f, dtype) f##_##dtype##_avx512
#include "cpu/tmpl/integrate_tmpl_dtypes.c"

typedef __m512d doubles;
typedef __m512i words;
typedef __m512i longs;
enum { DOUBLES = 8, WORDS = 16 };

static AIRY_ALWAYS_INLINE doubles load_doubles(const double *p)
{
    return _mm512_load_pd(p);
}

static AIRY_ALWAYS_INLINE doubles load_means(const double *p)
{
    return _mm512_loadu_pd(p);
}

static AIRY_ALWAYS_INLINE void store_doubles(double *p, doubles v)
{
    _mm512_store_pd(p, v);
}

static AIRY_ALWAYS_INLINE doubles all_doubles(double x)
{
    return _mm512_set1_pd(x);
}

static AIRY_ALWAYS_INLINE doubles multiply(doubles a, doubles b)
{
    return _mm512_mul_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles subtract(doubles a, doubles b)
{
    return _mm512_sub_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles larger(doubles a, doubles b)
{
    return _mm512_max_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles add_product(doubles a, doubles b, doubles c)
{
    return _mm512_fmadd_pd(a, b, c);
}

static AIRY_ALWAYS_INLINE doubles subtract_product(doubles a, doubles b, doubles c)
{
    return _mm512_fmsub_pd(a, b, c);
}

/* 16 pixels from pixel i on, in 32 bits each. */
static AIRY_ALWAYS_INLINE words load_words(const void *pixels, size_t i, const airy_dtype dtype)
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

static AIRY_ALWAYS_INLINE words keep_words(words v, unsigned bits)
{
    return _mm512_maskz_mov_epi32((__mmask16)bits, v);
}

static AIRY_ALWAYS_INLINE words all_words(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

static AIRY_ALWAYS_INLINE words add_words(words a, words b)
{
    return _mm512_add_epi32(a, b);
}

static AIRY_ALWAYS_INLINE words subtract_words(words a, words b)
{
    return _mm512_sub_epi32(a, b);
}

static AIRY_ALWAYS_INLINE words turn_words(words a, words b)
{
    return _mm512_xor_si512(a, b);
}

static AIRY_ALWAYS_INLINE words larger_word(words a, words b)
{
    return _mm512_max_epu32(a, b);
}

static AIRY_ALWAYS_INLINE uint32_t largest_word(words v)
{
    return _mm512_reduce_max_epu32(v);
}

static AIRY_ALWAYS_INLINE unsigned at_most(words a, words b)
{
    return _mm512_cmple_epu32_mask(a, b);
}

static AIRY_ALWAYS_INLINE longs no_longs(void)
{
    return _mm512_setzero_si512();
}

static AIRY_ALWAYS_INLINE longs add_longs(longs sum, words v)
{
    sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v)));
    return _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(v, 1)));
}

static AIRY_ALWAYS_INLINE int64_t sum_longs(longs sum)
{
    return _mm512_reduce_add_epi64(sum);
}

/*
 * A group of 16 pixels of 16 frames, transposed. 4 bytes: pixel k at 64 k. 2 bytes: frames 0 to 7
 * of pixel k at 64 (k mod 8) + 16 (k / 8), the others 32 bytes behind. 1 byte: pixel k at 16 k.
 */
struct group {
    _Alignas(64) uint8_t bytes[16 * 64];
};

static AIRY_ALWAYS_INLINE size_t size_of(const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        return 1;
    return dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16 ? 2 : 4;
}

/* Frames 8 half to 8 half + 7 of pixel k. */
static AIRY_ALWAYS_INLINE doubles group_values(const struct group *x, unsigned k, unsigned half,
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

static AIRY_ALWAYS_INLINE void store_block(struct group *out, unsigned i, __m512i v)
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
static AIRY_ALWAYS_INLINE bool transpose_4(struct group *out, const uint8_t *const src[16])
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
static AIRY_ALWAYS_INLINE bool transpose_2(struct group *out, const uint8_t *const src[16])
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
static AIRY_ALWAYS_INLINE bool transpose_1(struct group *out, const uint8_t *const src[16])
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

static AIRY_ALWAYS_INLINE unsigned transpose_group(struct group *out, const struct airy_lanes *t,
                                                   size_t group, const airy_dtype dtype)
{
    const uint8_t *src[16];
    for (int f = 0; f < 16; f++)
        src[f] = (const uint8_t *)t->pixels[f] + group * AIRY_GROUP * size_of(dtype);
    const bool some = size_of(dtype) == 1   ? transpose_1(out, src)
                      : size_of(dtype) == 2 ? transpose_2(out, src)
                                            : transpose_4(out, src);
    return some ? 3 : 0;
}

/* Both halves at once: so are they written. */
static AIRY_ALWAYS_INLINE void clear_half(struct group *out, unsigned half, const airy_dtype dtype)
{
    (void)half;
    (void)dtype;
    memset(out, 0, sizeof(*out));
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

#define FAST(f, dtype) f##_fast_##dtype##_avx512
#define SCAN_U8        scan_bytes
#define SCAN_U16       scan_words
#define KERNELS        airy_integrate_avx512
#define ENGINE         "by pixel, 16 frames a vector (AVX-512)"
#define WORTH          9
#define FEWER          &airy_integrate_avx2
#include "cpu/tmpl/integrate_fast_tmpl.c"
