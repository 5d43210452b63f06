/*
 * Image files from a fuzzer: NPY and EDF headers from buffers of exactly their size, then whole
 * files through the readers. What was read must have the size that its header says.
 *
 * Input: one byte (even: NPY, odd: EDF), then the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "base/image_memory.h"
#include "fuzz.h"
#include "io/image/formats.h"

static void fuzz_parser(bool edf, const uint8_t *bytes, size_t size)
{
    struct airy_image_header header;
    uint8_t *exact = malloc(size ? size : 1);
    require(exact != NULL);
    if (size)
        memcpy(exact, bytes, size);
    if ((edf ? airy_edf_parse : airy_npy_parse)(&header, exact, size) == AIRY_OK) {
        size_t count = airy_dtype_size(header.image.dtype);
        for (int axis = 0; axis < header.image.ndim; axis++)
            count *= header.image.shape[axis];
        require(header.bytes <= size && count == header.data * (!edf && header.half ? 2 : 1) &&
                count > 0);
        require(header.image.ndim >= 1 && header.image.ndim <= AIRY_MAX_DIMS);
        require(!edf || header.stored >= header.data);
    }
    free(exact);
}

static void fuzz_reader(bool edf, const uint8_t *bytes, size_t size)
{
    const int fd = memfd_create("image", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    airy_image image;
    if ((edf ? airy_image_read_edf : airy_image_read_npy)(&image, path) == AIRY_OK) {
        size_t all = 0;
        require(airy_image_bytes(&all, &image) == AIRY_OK);
        /* NPY of float16 becomes f32. */
        require(all / (edf ? 1 : 2) <= size);
        volatile double sum = 0; /* every pixel is there */
        for (size_t i = 0; i < all / airy_dtype_size(image.dtype); i++)
            sum = sum + airy_image_value(&image, i);
        airy_image_free(&image);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const bool edf = data[0] & 1;
    fuzz_parser(edf, data + 1, size - 1);
    fuzz_reader(edf, data + 1, size - 1);
    return 0;
}
