#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "base/error.h"
#include "base/size.h"
#include "io/file/plain_file.h"

enum { MAX_SIDE = 1000000 }; /* pixels; libpng's own limit */

airy_status airy_png_write(const char *path, const uint8_t *rgb, size_t height, size_t width,
                           bool force)
{
    AIRY_FAIL_IF(!path || !*path || !rgb, AIRY_ERR_PARAM,
                 "airy_png_write: path or pixels are missing");
    AIRY_FAIL_IF(height == 0 || width == 0 || height > MAX_SIDE || width > MAX_SIDE, AIRY_ERR_PARAM,
                 "PNG of %zu x %zu pixels, expected 1 to %d a side", height, width, MAX_SIDE);
    png_image image;
    memset(&image, 0, sizeof(image));
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = PNG_FORMAT_RGB;
    /*
     * Room for pixels that do not compress: one byte a row, deflate's own bound with some to spare.
     */
    const size_t plain = height * (3 * width + 1);
    png_alloc_size_t size = plain + plain / 512 + 65536;
    void *encoded = malloc(size);
    AIRY_FAIL_IF(!encoded, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for a PNG", (size_t)size);
    airy_status status;
    if (png_image_write_to_memory(&image, encoded, &size, 0, rgb, 0, NULL)) {
        const void *const part = encoded;
        const size_t bytes = size;
        status = airy_file_put(path, &part, &bytes, 1, force);
    } else {
        status = airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "'%s': PNG: %s", path, image.message);
    }
    png_image_free(&image);
    free(encoded);
    return status;
}
