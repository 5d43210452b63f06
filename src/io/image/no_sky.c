/* A build without wcslib says so. */
#include "airy/sky.h"

#include "base/error.h"

static airy_status lacking(void)
{
    return airy_fail(AIRY_ERR_UNSUPPORTED, "this build knows no sky coordinates, it lacks wcslib");
}

airy_status airy_sky_create(airy_sky **sky, const airy_image *image)
{
    (void)sky;
    (void)image;
    return lacking();
}

void airy_sky_destroy(airy_sky **sky)
{
    (void)sky;
}

airy_status airy_sky_get_info(const airy_sky *sky, airy_sky_info *info)
{
    (void)sky;
    (void)info;
    return lacking();
}

airy_status airy_sky_from_pixel(airy_sky *sky, double *ra, double *dec, const double *x,
                                const double *y, size_t count)
{
    (void)sky;
    (void)ra;
    (void)dec;
    (void)x;
    (void)y;
    (void)count;
    return lacking();
}

airy_status airy_sky_to_pixel(airy_sky *sky, double *x, double *y, const double *ra,
                              const double *dec, size_t count)
{
    return airy_sky_from_pixel(sky, x, y, ra, dec, count);
}
