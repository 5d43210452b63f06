/* Eight frames in lanes: Advanced SIMD of 64-bit Arm. */
#include <arm_neon.h>

#define LANES            8
#define SUFFIX(f, dtype) f##_##dtype##_neon
#include "cpu/tmpl/integrate_tmpl_dtypes.c"

typedef float64x2_t doubles;
typedef uint32x4_t words;
typedef uint64x2_t longs;
enum { DOUBLES = 2, WORDS = 4 };

static AIRY_ALWAYS_INLINE doubles load_doubles(const double *p)
{
    return vld1q_f64(p);
}

static AIRY_ALWAYS_INLINE doubles load_means(const double *p)
{
    return vld1q_f64(p);
}

static AIRY_ALWAYS_INLINE void store_doubles(double *p, doubles v)
{
    vst1q_f64(p, v);
}

static AIRY_ALWAYS_INLINE doubles all_doubles(double x)
{
    return vdupq_n_f64(x);
}

static AIRY_ALWAYS_INLINE doubles multiply(doubles a, doubles b)
{
    return vmulq_f64(a, b);
}

static AIRY_ALWAYS_INLINE doubles subtract(doubles a, doubles b)
{
    return vsubq_f64(a, b);
}

static AIRY_ALWAYS_INLINE doubles larger(doubles a, doubles b)
{
    return vmaxq_f64(a, b);
}

static AIRY_ALWAYS_INLINE doubles add_product(doubles a, doubles b, doubles c)
{
    return vfmaq_f64(c, a, b);
}

static AIRY_ALWAYS_INLINE doubles subtract_product(doubles a, doubles b, doubles c)
{
    return vfmaq_f64(vnegq_f64(c), a, b);
}

/* 4 pixels of 1 byte, of which there may be no more. */
static AIRY_ALWAYS_INLINE uint8x8_t load_4_bytes(const void *pixels, size_t i)
{
    uint32_t four;
    memcpy(&four, (const uint8_t *)pixels + i, sizeof(four));
    return vreinterpret_u8_u32(vdup_n_u32(four));
}

/* 4 pixels from pixel i on, in 32 bits each. */
static AIRY_ALWAYS_INLINE words load_words(const void *pixels, size_t i, const airy_dtype dtype)
{
    const uint16_t *two = (const uint16_t *)pixels + i;
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return vmovl_u16(vget_low_u16(vmovl_u8(load_4_bytes(pixels, i))));
    case AIRY_DTYPE_I8:
        return vreinterpretq_u32_s32(
            vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(load_4_bytes(pixels, i))))));
    case AIRY_DTYPE_U16:
        return vmovl_u16(vld1_u16(two));
    case AIRY_DTYPE_I16:
        return vreinterpretq_u32_s32(vmovl_s16(vreinterpret_s16_u16(vld1_u16(two))));
    default:
        return vld1q_u32((const uint32_t *)pixels + i);
    }
}

static AIRY_ALWAYS_INLINE words keep_words(words v, unsigned bits)
{
    static const uint32_t each[4] = {1, 2, 4, 8};
    return vandq_u32(v, vtstq_u32(vdupq_n_u32(bits), vld1q_u32(each)));
}

static AIRY_ALWAYS_INLINE words all_words(uint32_t x)
{
    return vdupq_n_u32(x);
}

static AIRY_ALWAYS_INLINE words add_words(words a, words b)
{
    return vaddq_u32(a, b);
}

static AIRY_ALWAYS_INLINE words subtract_words(words a, words b)
{
    return vsubq_u32(a, b);
}

static AIRY_ALWAYS_INLINE words turn_words(words a, words b)
{
    return veorq_u32(a, b);
}

static AIRY_ALWAYS_INLINE words larger_word(words a, words b)
{
    return vmaxq_u32(a, b);
}

static AIRY_ALWAYS_INLINE uint32_t largest_word(words v)
{
    return vmaxvq_u32(v);
}

static AIRY_ALWAYS_INLINE unsigned at_most(words a, words b)
{
    static const uint32_t each[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcleq_u32(a, b), vld1q_u32(each)));
}

static AIRY_ALWAYS_INLINE longs no_longs(void)
{
    return vdupq_n_u64(0);
}

static AIRY_ALWAYS_INLINE longs add_longs(longs sum, words v)
{
    return vpadalq_u32(sum, v);
}

static AIRY_ALWAYS_INLINE int64_t sum_longs(longs sum)
{
    return (int64_t)vaddvq_u64(sum);
}

/* 16 pixels of 8 frames, transposed, in 32 bits. */
struct group {
    _Alignas(16) uint32_t x[16][8];
};

static AIRY_ALWAYS_INLINE size_t size_of(const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        return 1;
    return dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16 ? 2 : 4;
}

/* 4 pixels of 4 frames. */
static AIRY_ALWAYS_INLINE void transpose_4(struct group *out, unsigned pixel, unsigned frame,
                                           const words r[4])
{
    const uint64x2_t low01 = vreinterpretq_u64_u32(vzip1q_u32(r[0], r[1])),
                     high01 = vreinterpretq_u64_u32(vzip2q_u32(r[0], r[1]));
    const uint64x2_t low23 = vreinterpretq_u64_u32(vzip1q_u32(r[2], r[3])),
                     high23 = vreinterpretq_u64_u32(vzip2q_u32(r[2], r[3]));
    vst1q_u32(out->x[pixel] + frame, vreinterpretq_u32_u64(vzip1q_u64(low01, low23)));
    vst1q_u32(out->x[pixel + 1] + frame, vreinterpretq_u32_u64(vzip2q_u64(low01, low23)));
    vst1q_u32(out->x[pixel + 2] + frame, vreinterpretq_u32_u64(vzip1q_u64(high01, high23)));
    vst1q_u32(out->x[pixel + 3] + frame, vreinterpretq_u32_u64(vzip2q_u64(high01, high23)));
}

static AIRY_ALWAYS_INLINE unsigned transpose_group(struct group *out, const struct airy_lanes *t,
                                                   size_t group, const airy_dtype dtype)
{
    words any = vdupq_n_u32(0);
    for (unsigned pixel = 0; pixel < AIRY_GROUP; pixel += 4)
        for (unsigned frame = 0; frame < LANES; frame += 4) {
            words r[4];
            for (unsigned f = 0; f < 4; f++) {
                const uint8_t *src = t->pixels[frame + f];
                r[f] = load_words(src + group * AIRY_GROUP * size_of(dtype), pixel, dtype);
                any = vorrq_u32(any, r[f]);
            }
            transpose_4(out, pixel, frame, r);
        }
    return vmaxvq_u32(any) != 0 ? 3 : 0;
}

/* It is written even where all pixels are 0. */
static AIRY_ALWAYS_INLINE void clear_half(struct group *out, unsigned half, const airy_dtype dtype)
{
    (void)out;
    (void)half;
    (void)dtype;
}

static AIRY_ALWAYS_INLINE doubles group_values(const struct group *group, unsigned pixel,
                                               unsigned vector, const airy_dtype dtype)
{
    const uint32x2_t v = vld1_u32(group->x[pixel] + (size_t)2 * vector);
    if (dtype == AIRY_DTYPE_F32)
        return vcvt_f64_f32(vreinterpret_f32_u32(v));
    if (dtype == AIRY_DTYPE_U32)
        return vcvtq_f64_u64(vmovl_u32(v));
    return vcvtq_f64_s64(vmovl_s32(vreinterpret_s32_u32(v)));
}

#define FAST(f, dtype) f##_fast_##dtype##_neon
#define SCAN_U8        FAST(scan, u8)
#define SCAN_U16       FAST(scan, u16)
#define KERNELS        airy_integrate_neon
#define ENGINE         "by pixel, 8 frames a vector (NEON)"
#define WORTH          3
#define FEWER          NULL
#include "cpu/tmpl/integrate_fast_tmpl.c"
