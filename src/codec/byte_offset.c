#include "codec/byte_offset.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* Little-endian, two's complement, of 2, 4 or 8 bytes. */
static int64_t load(const uint8_t *src, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | src[i];
    const unsigned shift = 64 - 8 * (unsigned)bytes;
    return (int64_t)(v << shift) >> shift;
}

static size_t store(uint8_t *dst, int64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        dst[i] = (uint8_t)((uint64_t)value >> (8 * i));
    return bytes;
}

static void type_range(airy_dtype dtype, int64_t *least, int64_t *most)
{
    const unsigned bits = 8 * (unsigned)airy_dtype_size(dtype);
    const bool is_signed = airy_dtype_is_signed(dtype);
    *most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    *least = is_signed ? -*most - 1 : 0;
}

static void put_value(void *dst, airy_dtype dtype, size_t index, int64_t value)
{
    switch (airy_dtype_size(dtype)) {
    case 1:
        ((uint8_t *)dst)[index] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)dst)[index] = (uint16_t)value;
        break;
    default:
        ((uint32_t *)dst)[index] = (uint32_t)value;
        break;
    }
}

static int64_t get_value(const void *src, airy_dtype dtype, size_t index)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return ((const uint8_t *)src)[index];
    case AIRY_DTYPE_I8:
        return ((const int8_t *)src)[index];
    case AIRY_DTYPE_U16:
        return ((const uint16_t *)src)[index];
    case AIRY_DTYPE_I16:
        return ((const int16_t *)src)[index];
    case AIRY_DTYPE_U32:
        return ((const uint32_t *)src)[index];
    default:
        return ((const int32_t *)src)[index];
    }
}

/*
 * Sixteen differences of one byte at a time, in vectors of 16 bytes, which every machine has: sums
 * of eight of them fit 16 bits.
 */
enum { GROUP = 16, GROUP_REACH = 128 * GROUP };
typedef int8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t bytes8 __attribute__((vector_size(8)));
typedef int16_t words8 __attribute__((vector_size(16)));
typedef int16_t words4 __attribute__((vector_size(8)));
typedef int32_t ints4 __attribute__((vector_size(16)));
typedef uint32_t uints4 __attribute__((vector_size(16)));

/* sum[i] = x[0] + ... + x[i] */
static inline words8 prefix(words8 x)
{
    const words8 zero = {0};
    x += __builtin_shufflevector(zero, x, 7, 8, 9, 10, 11, 12, 13, 14);
    x += __builtin_shufflevector(zero, x, 6, 7, 8, 9, 10, 11, 12, 13);
    return x + __builtin_shufflevector(zero, x, 4, 5, 6, 7, 8, 9, 10, 11);
}

static inline words8 extend(bytes16 x, bool upper)
{
    const bytes8 half = upper ? __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)
                              : __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_convertvector(half, words8);
}

/* Four values into dst; returns them, for their signs. */
static inline ints4 put_four(int32_t *dst, words8 sums, bool upper, ints4 base)
{
    const words4 half = upper ? __builtin_shufflevector(sums, sums, 4, 5, 6, 7)
                              : __builtin_shufflevector(sums, sums, 0, 1, 2, 3);
    /* Of u32 the sum may pass 2^31, where that of signed numbers is not defined. */
    const uints4 values = (uints4)base + (uints4) __builtin_convertvector(half, ints4);
    memcpy(dst, &values, sizeof(values));
    return (ints4)values;
}

/*
 * Values of four bytes as long as groups are without longer differences and stay far from the
 * type's ends; both ends are the caller's scalar code's. Returns the values decoded, as many bytes.
 */
static size_t decode_groups(struct airy_byte_offset *walk, const uint8_t *src, size_t size)
{
    const bool is_signed = walk->dtype == AIRY_DTYPE_I32;
    int32_t *dst = (int32_t *)walk->dst + walk->done;
    size_t left = walk->count - walk->done;
    left = left < size ? left : size;
    size_t done = 0;
    for (; left - done >= GROUP; done += GROUP) {
        bytes16 x;
        uint64_t marks[2];
        memcpy(&x, src + done, sizeof(x));
        const bytes16 is_mark = x == (bytes16){-128, -128, -128, -128, -128, -128, -128, -128,
                                               -128, -128, -128, -128, -128, -128, -128, -128};
        memcpy(marks, &is_mark, sizeof(marks));
        const bool low = walk->value < walk->least + GROUP_REACH;
        if ((marks[0] | marks[1]) || (low && is_signed) || walk->value > walk->most - GROUP_REACH)
            break;
        const words8 first = prefix(extend(x, false));
        const words8 second = prefix(extend(x, true)) + first[7];
        const int32_t value = (int32_t)(uint32_t)walk->value;
        const ints4 base = {value, value, value, value};
        const ints4 signs = put_four(dst + done, first, false, base) |
                            put_four(dst + done + 4, first, true, base) |
                            put_four(dst + done + 8, second, false, base) |
                            put_four(dst + done + 12, second, true, base);
        if (low && (signs[0] | signs[1] | signs[2] | signs[3]) < 0)
            break; /* below zero: the scalar code says where */
        walk->value += second[7];
    }
    walk->done += done;
    return done;
}

/* One difference of at most 8 bytes at src; its bytes, 0: it is not all there. */
static inline size_t load_step(int64_t *step, const uint8_t *src, size_t size)
{
    size_t at = 1;
    *step = (src[0] ^ 0x80) - 0x80; /* two's complement */
    for (size_t bytes = 2; bytes <= 8 && *step == -((int64_t)1 << (4 * bytes - 1)); bytes *= 2) {
        if (bytes > size - at)
            return 0;
        *step = load(src + at, bytes);
        at += bytes;
    }
    return at;
}

void airy_byte_offset_begin(struct airy_byte_offset *walk, void *dst, airy_dtype dtype,
                            size_t count)
{
    *walk = (struct airy_byte_offset){.dst = dst, .dtype = dtype, .count = count};
    type_range(dtype, &walk->least, &walk->most);
}

airy_status airy_byte_offset_more(struct airy_byte_offset *walk, const uint8_t *src, size_t size,
                                  size_t *used)
{
    const bool wide = airy_dtype_size(walk->dtype) == 4;
    size_t at = 0;
    while (walk->done < walk->count && at < size) {
        if (wide)
            at += decode_groups(walk, src + at, size - at);
        /* Up to and with the next longer difference, or to the ends. */
        for (size_t step_bytes = 1, k = 0;
             step_bytes == 1 && k < GROUP && walk->done < walk->count && at < size; k++) {
            int64_t step;
            step_bytes = load_step(&step, src + at, size - at);
            if (step_bytes == 0) {
                *used = at;
                return AIRY_OK;
            }
            at += step_bytes;
            /* value is within 32 bits; a step of 64 bits could wrap the sum */
            AIRY_FAIL_IF(step < walk->least - walk->value || step > walk->most - walk->value,
                         AIRY_ERR_CORRUPT, "byte-offset data: value %zu leaves the range of %s",
                         walk->done, airy_dtype_name(walk->dtype));
            walk->value += step;
            put_value(walk->dst, walk->dtype, walk->done++, walk->value);
        }
    }
    *used = at;
    return AIRY_OK;
}

airy_status airy_byte_offset_end(const struct airy_byte_offset *walk, size_t left)
{
    AIRY_FAIL_IF(walk->done < walk->count, AIRY_ERR_CORRUPT,
                 "byte-offset data end at value %zu of %zu", walk->done, walk->count);
    AIRY_FAIL_IF(left > 0, AIRY_ERR_CORRUPT,
                 "byte-offset data: %zu bytes behind the last of %zu values", left, walk->count);
    return AIRY_OK;
}

airy_status airy_byte_offset_decode(void *dst, airy_dtype dtype, size_t count, const uint8_t *src,
                                    size_t size)
{
    struct airy_byte_offset walk;
    size_t used;
    airy_byte_offset_begin(&walk, dst, dtype, count);
    AIRY_TRY(airy_byte_offset_more(&walk, src, size, &used));
    return airy_byte_offset_end(&walk, size - used);
}

size_t airy_byte_offset_encode(uint8_t *dst, const void *src, airy_dtype dtype, size_t count)
{
    int64_t before = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t value = get_value(src, dtype, i), step = value - before;
        before = value;
        for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
            const int64_t mark = bytes < 8 ? -((int64_t)1 << (8 * bytes - 1)) : INT64_MIN;
            const bool fits = bytes == 8 || (step > mark && step < -mark);
            at += store(dst + at, fits ? step : mark, bytes);
            if (fits)
                break;
        }
    }
    return at;
}
