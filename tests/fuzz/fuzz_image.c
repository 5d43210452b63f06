/*
 * One image format from a fuzzer, whole files through its reader (READ, as the build names it).
 * HDUS: all HDUs of a FITS file are listed, and the second one is read, too.
 * What was read has the size that its shape says; CBF's decoder also gets buffers of exactly the
 * data's size, and gives back what its encoder was given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "base/image_memory.h"
#include "codec/byte_offset.h"
#include "fuzz.h"
#include "io/image/formats.h"

/* CFITSIO does not release its buffers where a tile does not decode. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libcfitsio";
}

static void read_image(const char *path)
{
    airy_image image = {0};
    if (READ(&image, path) == AIRY_OK) {
        size_t all = 0;
        require(airy_image_bytes(&all, &image) == AIRY_OK);
        volatile double sum = 0; /* every pixel is there */
        for (size_t i = 0; i < all / airy_dtype_size(image.dtype); i++)
            sum = sum + airy_image_value(&image, i);
        airy_sky *sky = NULL;
        if (airy_sky_create(&sky, &image) == AIRY_OK) {
            double x = 1, y = 2;
            (void)airy_sky_from_pixel(sky, &x, &y, &x, &y, 1);
        }
        airy_sky_destroy(&sky);
        airy_image_free(&image);
    } else {
        require(image.data == NULL && image.header == NULL);
    }
}

/* The same file as a stack: its first frames, where they are small. */
static void read_stack(const char *path)
{
    enum { MOST = 1 << 20 };
    enum airy_image_format format;
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    if (airy_image_format_of(&format, path) != AIRY_OK || format == AIRY_FORMAT_UNKNOWN ||
        format == AIRY_FORMAT_HDF5 || airy_stack_create(&stack, &path, 1) != AIRY_OK)
        return;
    require(airy_stack_get_info(stack, &info) == AIRY_OK && info.frames > 0);
    require(airy_stack_get_meta(stack, &meta) == AIRY_OK);
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *pixels = size <= MOST ? malloc(size) : NULL;
    for (size_t i = 0; pixels && i < info.frames && i < 4; i++)
        (void)airy_stack_read(stack, i, pixels, size);
    free(pixels);
    airy_stack_destroy(&stack);
}

/* Some of its planes, which may share tiles. */
static void read_planes(const char *path)
{
    for (size_t step = 1; HDUS && step < 3; step++) {
        airy_image image = {0};
        if (airy_fits_read_planes(&image, path, 1, 3, step) == AIRY_OK)
            require(image.data && image.ndim > 2);
        airy_image_free(&image);
    }
}

static void fuzz_reader(const uint8_t *bytes, size_t size)
{
    const int fd = memfd_create("image", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    read_image(path);
    read_planes(path);
    read_stack(path);
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    if (HDUS && airy_fits_list(&hdus, &count, path) == AIRY_OK && count > 1) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d[1]", fd);
        read_image(path);
        read_planes(path);
    }
    free(hdus);
    close(fd);
}

static void fuzz_byte_offset(const uint8_t *bytes, size_t size)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8,  AIRY_DTYPE_I8,  AIRY_DTYPE_U16,
                                        AIRY_DTYPE_I16, AIRY_DTYPE_U32, AIRY_DTYPE_I32};
    if (size < 2)
        return;
    const airy_dtype dtype = dtypes[bytes[0] % 6];
    const size_t count = bytes[1], room = count * airy_dtype_size(dtype);
    uint8_t *in = malloc(size - 2 + 1), *values = malloc(room + 1),
            *packed = malloc(BYTE_OFFSET_WORST * count + 1), *back = malloc(room + 1);
    require(in && values && packed && back);
    memcpy(in, bytes + 2, size - 2);
    if (airy_byte_offset_decode(values, dtype, count, in, size - 2) == AIRY_OK) {
        const size_t used = airy_byte_offset_encode(packed, values, dtype, count);
        require(used <= BYTE_OFFSET_WORST * count);
        require(airy_byte_offset_decode(back, dtype, count, packed, used) == AIRY_OK);
        require(memcmp(back, values, room) == 0);
    }
    free(in);
    free(values);
    free(packed);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reader(data, size);
    if (CODEC)
        fuzz_byte_offset(data, size);
    return 0;
}
