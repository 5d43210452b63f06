/* Eight frames in lanes: AVX2 and FMA. */
#include <immintrin.h>

#define LANES            8
#define SUFFIX(f, dtype) f##_##dtype##_avx2
#include "cpu/tmpl/integrate_tmpl_dtypes.c"

typedef __m256d doubles;
typedef __m256i words;
typedef __m256i longs;
enum { DOUBLES = 4, WORDS = 8 };

static AIRY_ALWAYS_INLINE doubles load_doubles(const double *p)
{
    return _mm256_load_pd(p);
}

static AIRY_ALWAYS_INLINE doubles load_means(const double *p)
{
    return _mm256_loadu_pd(p);
}

static AIRY_ALWAYS_INLINE void store_doubles(double *p, doubles v)
{
    _mm256_store_pd(p, v);
}

static AIRY_ALWAYS_INLINE doubles all_doubles(double x)
{
    return _mm256_set1_pd(x);
}

static AIRY_ALWAYS_INLINE doubles multiply(doubles a, doubles b)
{
    return _mm256_mul_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles subtract(doubles a, doubles b)
{
    return _mm256_sub_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles larger(doubles a, doubles b)
{
    return _mm256_max_pd(a, b);
}

static AIRY_ALWAYS_INLINE doubles add_product(doubles a, doubles b, doubles c)
{
    return _mm256_fmadd_pd(a, b, c);
}

static AIRY_ALWAYS_INLINE doubles subtract_product(doubles a, doubles b, doubles c)
{
    return _mm256_fmsub_pd(a, b, c);
}

/* 8 pixels from pixel i on, in 32 bits each. */
static AIRY_ALWAYS_INLINE words load_words(const void *pixels, size_t i, const airy_dtype dtype)
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

/* All bits of the words whose bit is set. */
static AIRY_ALWAYS_INLINE words expand_bits(unsigned bits)
{
    const words each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), each), each);
}

static AIRY_ALWAYS_INLINE words keep_words(words v, unsigned bits)
{
    return (bits & 0xff) == 0xff ? v : _mm256_and_si256(v, expand_bits(bits));
}

static AIRY_ALWAYS_INLINE words all_words(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static AIRY_ALWAYS_INLINE words add_words(words a, words b)
{
    return _mm256_add_epi32(a, b);
}

static AIRY_ALWAYS_INLINE words subtract_words(words a, words b)
{
    return _mm256_sub_epi32(a, b);
}

static AIRY_ALWAYS_INLINE words turn_words(words a, words b)
{
    return _mm256_xor_si256(a, b);
}

static AIRY_ALWAYS_INLINE words larger_word(words a, words b)
{
    return _mm256_max_epu32(a, b);
}

static AIRY_ALWAYS_INLINE uint32_t largest_word(words v)
{
    _Alignas(32) uint32_t each[8];
    uint32_t largest = 0;
    _mm256_store_si256((__m256i *)(void *)each, v);
    for (int i = 0; i < 8; i++)
        largest = each[i] > largest ? each[i] : largest;
    return largest;
}

static AIRY_ALWAYS_INLINE unsigned at_most(words a, words b)
{
    const words less = _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(less));
}

static AIRY_ALWAYS_INLINE longs no_longs(void)
{
    return _mm256_setzero_si256();
}

static AIRY_ALWAYS_INLINE longs add_longs(longs sum, words v)
{
    sum = _mm256_add_epi64(sum, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(v)));
    return _mm256_add_epi64(sum, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(v, 1)));
}

static AIRY_ALWAYS_INLINE int64_t sum_longs(longs sum)
{
    _Alignas(32) int64_t each[4];
    _mm256_store_si256((__m256i *)(void *)each, sum);
    return each[0] + each[1] + each[2] + each[3];
}

/* u32 goes through i32: minus 2^31, exact, and back. */
static AIRY_ALWAYS_INLINE doubles to_double(const uint32_t *x, const airy_dtype dtype)
{
    const __m128i v = _mm_load_si128((const __m128i *)x);
    if (dtype == AIRY_DTYPE_F32)
        return _mm256_cvtps_pd(_mm_castsi128_ps(v));
    if (dtype == AIRY_DTYPE_U32)
        return _mm256_add_pd(_mm256_cvtepi32_pd(v), _mm256_set1_pd(0x1p31));
    return _mm256_cvtepi32_pd(v);
}

/* 16 pixels of 8 frames, transposed, in 32 bits; u32 less 2^31. */
struct group {
    _Alignas(32) uint32_t x[16][8];
};

static AIRY_ALWAYS_INLINE bool all_zero(const __m256i *r, unsigned count)
{
    __m256i any = r[0];
    for (unsigned i = 1; i < count; i++)
        any = _mm256_or_si256(any, r[i]);
    return _mm256_testz_si256(any, any);
}

static AIRY_ALWAYS_INLINE void store_block(struct group *out, unsigned pixel, __m256i v)
{
    _mm256_store_si256((__m256i *)(void *)out->x[pixel], v);
}

/* 8 pixels, of 4 bytes, from the given one on. False where all are 0; nothing is written then. */
static AIRY_ALWAYS_INLINE bool transpose_4(struct group *out, const uint8_t *const src[8],
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
static AIRY_ALWAYS_INLINE bool transpose_2(struct group *out, const uint8_t *const src[8],
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
static AIRY_ALWAYS_INLINE void store_bytes(struct group *out, unsigned pixel, __m256i v,
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
static AIRY_ALWAYS_INLINE bool transpose_1(struct group *out, const uint8_t *const src[8],
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
static AIRY_ALWAYS_INLINE unsigned transpose_group(struct group *out, const struct airy_lanes *t,
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

static AIRY_ALWAYS_INLINE void clear_half(struct group *out, unsigned half, const airy_dtype dtype)
{
    for (unsigned k = 0; k < 8; k++)
        store_block(out, 8 * half + k, _mm256_set1_epi32(dtype == AIRY_DTYPE_U32 ? INT32_MIN : 0));
}

static AIRY_ALWAYS_INLINE doubles group_values(const struct group *group, unsigned pixel,
                                               unsigned vector, const airy_dtype dtype)
{
    return to_double(group->x[pixel] + (size_t)4 * vector, dtype);
}

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
    const uint32_t largest = largest_word(_mm256_max_epu32(
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

#define FAST(f, dtype) f##_fast_##dtype##_avx2
#define SCAN_U8        FAST(scan, u8)
#define SCAN_U16       scan_words
#define KERNELS        airy_integrate_avx2
#define ENGINE         "by pixel, 8 frames a vector (AVX2)"
#define WORTH          3
#define FEWER          NULL
#include "cpu/tmpl/integrate_fast_tmpl.c"
