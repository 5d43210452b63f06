/* A build without libtiff says so. */
#include "base/error.h"
#include "io/image_formats.h"

airy_status airy_image_read_tiff(airy_image *image, const char *path)
{
    (void)image;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "'%s': this build knows no TIFF, it lacks libtiff",
                     path);
}

airy_status airy_image_write_tiff(const airy_image *image, const char *path, bool force)
{
    (void)image;
    (void)force;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "'%s': this build knows no TIFF, it lacks libtiff",
                     path);
}
