/* A build without libtiff says so. */
#include "base/error.h"
#include "io/image/formats.h"

static airy_status fail_lacking(const char *path)
{
    return airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "'%s': this build knows no TIFF, it lacks libtiff", path);
}

airy_status airy_image_read_tiff(airy_image *image, const char *path)
{
    (void)image;
    return fail_lacking(path);
}

airy_status airy_image_write_tiff(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about)
{
    (void)image;
    (void)force;
    (void)about;
    return fail_lacking(path);
}

airy_status airy_tiff_open(struct airy_tiff_pages **pages, airy_image *shape, const char *path)
{
    (void)pages;
    return airy_image_read_tiff(shape, path);
}

airy_status airy_tiff_read(struct airy_tiff_pages *pages, void *pixels)
{
    (void)pages;
    (void)pixels;
    return AIRY_ERR_UNSUPPORTED;
}

airy_status airy_tiff_create(struct airy_tiff_pages **pages, int fd, bool far)
{
    (void)pages;
    (void)fd;
    (void)far;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "this build knows no TIFF, it lacks libtiff");
}

airy_status airy_tiff_add(struct airy_tiff_pages *pages, const airy_image *page)
{
    (void)pages;
    (void)page;
    return AIRY_ERR_UNSUPPORTED;
}

airy_status airy_tiff_finish(struct airy_tiff_pages *pages)
{
    (void)pages;
    return AIRY_ERR_UNSUPPORTED;
}

void airy_tiff_close(struct airy_tiff_pages **pages)
{
    *pages = NULL;
}

airy_status airy_tiff_list(struct airy_tiff_index *index, int fd, uint64_t size)
{
    (void)index;
    (void)fd;
    (void)size;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "this build knows no TIFF, it lacks libtiff");
}

airy_status airy_tiff_read_at(void *pixels, const airy_image *page, uint64_t directory, int fd,
                              uint64_t size)
{
    (void)pixels;
    (void)page;
    (void)directory;
    return airy_tiff_list(NULL, fd, size);
}
