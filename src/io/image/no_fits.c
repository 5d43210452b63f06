/* A build without CFITSIO says so. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "io/image/formats.h"

airy_status airy_image_read_fits(airy_image *image, const char *path)
{
    (void)image;
    return airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "'%s': this build reads no FITS, it lacks CFITSIO", path);
}

airy_status airy_fits_index(struct airy_image_header *header, const char *path, bool verify)
{
    (void)verify;
    return airy_image_read_fits(&header->image, path);
}

airy_status airy_fits_read_planes(airy_image *image, const char *path, size_t first, size_t count,
                                  size_t step)
{
    (void)first;
    (void)count;
    (void)step;
    AIRY_FAIL_IF(!image || !path || !*path, AIRY_ERR_PARAM,
                 "airy_fits_read_planes: image or path is missing");
    return airy_image_read_fits(image, path);
}

airy_status airy_fits_open(airy_fits **fits, const char *path)
{
    airy_image image;
    AIRY_FAIL_IF(!fits || !path || !*path, AIRY_ERR_PARAM,
                 "airy_fits_open: fits or path is missing");
    return airy_image_read_fits(&image, path);
}

airy_status airy_fits_read(airy_image *image, airy_fits *fits, size_t first, size_t count,
                           size_t step)
{
    (void)image;
    (void)fits;
    (void)first;
    (void)count;
    (void)step;
    return airy_fail(AIRY_ERR_PARAM, "airy_fits_read: image or fits is missing");
}

airy_status airy_fits_read_frame(void *pixels, const airy_image *page, size_t frame,
                                 const char *path, airy_fits **kept)
{
    airy_image image;
    (void)pixels;
    (void)page;
    (void)frame;
    (void)kept;
    return airy_image_read_fits(&image, path);
}

void airy_fits_close(airy_fits **fits)
{
    (void)fits;
}

airy_status airy_fits_list(airy_fits_hdu **hdus, size_t *count, const char *path)
{
    AIRY_FAIL_IF(!hdus || !count || !path, AIRY_ERR_PARAM,
                 "airy_fits_list: hdus, count or path is missing");
    return airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "'%s': this build reads no FITS, it lacks CFITSIO", path);
}
