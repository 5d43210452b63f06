#include "io/image/pixels.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/image_memory.h"
#include "base/number.h"
#include "base/size.h"
#include "io/image/fits_header.h"
#include "io/file/plain_file.h"

airy_status airy_image_read_with(airy_image *image, const char *path,
                                 airy_status (*read)(airy_image *image, int fd, uint64_t size))
{
    int fd;
    uint64_t size;
    AIRY_TRY(airy_file_open(&fd, &size, path));
    const airy_status status = read(image, fd, size);
    close(fd);
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", path);
}

bool airy_image_parse_size(size_t *size, const char *digits)
{
    size_t v = 0;
    bool good = digits[0] != 0;
    for (const char *p = digits; *p && good; p++)
        good = isdigit((unsigned char)*p) && !airy_mul_size(&v, v, 10) &&
               !airy_add_size(&v, v, (size_t)(*p - '0'));
    *size = v;
    return good;
}

void airy_image_swap(void *data, size_t count, size_t size)
{
    if (size == 2)
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)data)[i] = __builtin_bswap16(((uint16_t *)data)[i]);
    else if (size == 4)
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)data)[i] = __builtin_bswap32(((uint32_t *)data)[i]);
    else if (size == 8)
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)data)[i] = __builtin_bswap64(((uint64_t *)data)[i]);
}

void airy_image_flip(void *data, size_t count, size_t size)
{
    const size_t top = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : 0;
    uint8_t *bytes = data;
    for (size_t i = 0; i < count; i++)
        bytes[i * size + top] ^= 0x80;
}

/* IEEE 754 binary16 to binary32; a NaN keeps its bits. */
static uint32_t widen_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, fraction = half & 0x3ff,
                   exponent = half >> 10 & 0x1f;
    if (exponent == 0) { /* below f16's normal range, not below that of f32 */
        const float value = (float)fraction * 0x1p-24f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof(bits));
        return sign | bits;
    }
    return sign | (exponent == 0x1f ? 0xffu : exponent + 127 - 15) << 23 | fraction << 13;
}

void airy_image_widen(void *data, size_t count, bool swapped)
{
    uint8_t *to = data;
    const uint8_t *from = to + 2 * count; /* a value is read before one is written over it */
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, sizeof(half));
        const uint32_t bits = widen_half(swapped ? __builtin_bswap16(half) : half);
        memcpy(to + 4 * i, &bits, sizeof(bits));
    }
}

airy_status airy_image_take_plane(airy_image *image, size_t plane)
{
    size_t bytes;
    AIRY_FAIL_IF(!image, AIRY_ERR_PARAM, "airy_image_take_plane: image is missing");
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_FAIL_IF(image->ndim < 2, AIRY_ERR_SHAPE, "image of %d dimension, expected 2 or more",
                 image->ndim);
    size_t *shape = image->shape;
    const size_t plane_bytes = shape[image->ndim - 2] * shape[image->ndim - 1] *
                               airy_dtype_size(image->dtype);
    AIRY_FAIL_IF(plane >= bytes / plane_bytes, AIRY_ERR_PARAM, "plane = %zu of %zu", plane,
                 bytes / plane_bytes);
    struct airy_c_locale locale;
    AIRY_TRY(airy_c_locale_enter(&locale));
    if (image->data)
        memmove(image->data, (char *)image->data + plane * plane_bytes, plane_bytes);
    for (int axis = image->ndim - 3; axis >= 0; axis--) {
        airy_header_cut(image->header, image->ndim - axis,
                        &(struct airy_cut){plane % shape[axis], 1, 1});
        plane /= shape[axis];
        shape[axis] = 1;
    }
    airy_c_locale_leave(&locale);
    return AIRY_OK;
}

airy_status airy_image_take_planes(airy_image *image, size_t first, size_t count, size_t step)
{
    size_t bytes;
    int along = 0;
    AIRY_FAIL_IF(!image, AIRY_ERR_PARAM, "airy_image_take_planes: image is missing");
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_FAIL_IF(image->ndim < 3, AIRY_ERR_SHAPE, "image of %d dimension%s, expected 3 or more",
                 image->ndim, image->ndim == 1 ? "" : "s");
    for (int axis = 1; axis < image->ndim - 2; axis++) {
        AIRY_FAIL_IF(image->shape[along] > 1 && image->shape[axis] > 1, AIRY_ERR_SHAPE,
                     "planes of %zu x %zu, expected one axis of them", image->shape[along],
                     image->shape[axis]);
        along = image->shape[axis] > 1 ? axis : along;
    }
    const size_t planes = image->shape[along], size = bytes / planes;
    AIRY_FAIL_IF(!count || !step || first >= planes || (planes - 1 - first) / step < count - 1,
                 AIRY_ERR_PARAM, "planes first = %zu, count = %zu, step = %zu of %zu", first, count,
                 step, planes);
    const struct airy_cut cut = {first, count, step};
    AIRY_FAIL_IF(!airy_header_follows(image->header, image->ndim - along, &cut),
                 AIRY_ERR_UNSUPPORTED, "the coordinates of axis %d cannot follow a cut of it",
                 image->ndim - along);
    struct airy_c_locale locale;
    AIRY_TRY(airy_c_locale_enter(&locale));
    for (size_t i = 0; i < count && image->data; i++)
        memmove((char *)image->data + i * size, (char *)image->data + (first + i * step) * size,
                size);
    airy_header_cut(image->header, image->ndim - along, &cut);
    image->shape[along] = count;
    airy_c_locale_leave(&locale);
    return AIRY_OK;
}

airy_status airy_image_choose_planes(airy_image *image, size_t first, size_t count, size_t step)
{
    AIRY_FAIL_IF(!image, AIRY_ERR_PARAM, "airy_image_choose_planes: image is missing");
    AIRY_FAIL_IF(count > 1 && !image->header, AIRY_ERR_UNSUPPORTED,
                 "%zu planes of an image without a header", count);
    const airy_status status = airy_image_take_planes(image, first, count, step);
    return status == AIRY_ERR_SHAPE && count == 1 ? airy_image_take_plane(image, first) : status;
}

const char *airy_image_dtype_name(const airy_image *image)
{
    const bool small = image->dtype == AIRY_DTYPE_F32;
    return !image->is_complex ? airy_dtype_name(image->dtype) : small ? "complex64" : "complex128";
}
