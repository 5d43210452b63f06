#include "codec/byte_offset.h"

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

airy_status airy_byte_offset_decode(void *dst, airy_dtype dtype, size_t count, const uint8_t *src,
                                    size_t size)
{
    int64_t value = 0, least, most;
    size_t at = 0;
    type_range(dtype, &least, &most);
    for (size_t i = 0; i < count; i++) {
        AIRY_FAIL_IF(at == size, AIRY_ERR_CORRUPT, "byte-offset data end at value %zu of %zu", i,
                     count);
        int64_t step = (src[at++] ^ 0x80) - 0x80; /* two's complement */
        for (size_t bytes = 2; bytes <= 8 && step == -((int64_t)1 << (4 * bytes - 1)); bytes *= 2) {
            AIRY_FAIL_IF(bytes > size - at, AIRY_ERR_CORRUPT,
                         "byte-offset data end at value %zu of %zu", i, count);
            step = load(src + at, bytes);
            at += bytes;
        }
        /* value is within 32 bits; a step of 64 bits could wrap the sum */
        AIRY_FAIL_IF(step < least - value || step > most - value, AIRY_ERR_CORRUPT,
                     "byte-offset data: value %zu leaves the range of %s", i,
                     airy_dtype_name(dtype));
        value += step;
        put_value(dst, dtype, i, value);
    }
    AIRY_FAIL_IF(at != size, AIRY_ERR_CORRUPT,
                 "byte-offset data: %zu bytes behind the last of %zu values", size - at, count);
    return AIRY_OK;
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
