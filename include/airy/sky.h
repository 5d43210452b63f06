/**
 * Sky coordinates of an image that came from FITS.
 *
 * Pixels count from 0 at the centre of the first one: x along a row, y down the rows as they lie in
 * memory. FITS counts from 1: x here is FITS's first pixel coordinate minus 1, y the second
 * minus 1.
 */
#ifndef AIRY_SKY_H
#define AIRY_SKY_H

#include "airy/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: any thread; those that use one object wait for each other. */
typedef struct airy_sky airy_sky;

/** What the two coordinates are. */
typedef enum airy_sky_system {
    AIRY_SKY_OTHER = 0, /**< helioprojective, of planets, ...; or apparent places */
    AIRY_SKY_ICRS,
    AIRY_SKY_FK5,
    AIRY_SKY_FK4,
    AIRY_SKY_GALACTIC,
    AIRY_SKY_ECLIPTIC,
    AIRY_SKY_COUNT
} airy_sky_system;

typedef struct airy_sky_info {
    char longitude[16], latitude[16]; /**< CTYPE of the two axes, such as "RA---SIN" */
    char frame[16];                   /**< RADESYS, "" where the header has none */
    double equinox;                   /**< years; NaN where the header has none */
    double reference[2];              /**< longitude and latitude of the reference point, deg */
    double reference_px[2];           /**< its x and y, from 0 */
    double pixel_deg2;                /**< area of a pixel at the reference point */
    bool has_beam;
    double beam_major_deg, beam_minor_deg; /**< full widths at half maximum */
    double beam_angle_deg;                 /**< of the major axis, from north to east */
    double beam_px;                        /**< pi/(4 ln 2) major minor / pixel_deg2 */
    /** of RADESYS; without it ICRS, or with an EQUINOX FK4 before 1984 and FK5 since */
    airy_sky_system system;
    /** keywords that the header lacks, and their defaults in FITS: "CDELT1 = 1 deg"; of the
        scale nothing where CD gives it, or PC another one than 1 deg a pixel. "": it has them
        all */
    char assumed[96];
    /** what the header is likely to have wrong, in words: a beam larger than the image, terms of
        SIP where CTYPE names none. "": nothing */
    char warnings[240];
} airy_sky_info;

/**
 * Read the celestial axes of the image's header (any projection that wcslib knows; PC, CD, CDELT
 * with CROTA; SIP), which must be its first two. The beam is BMAJ, BMIN, BPA, or else that of the
 * last HISTORY line that AIPS wrote about CLEAN. The image may be freed afterwards.
 *
 * Errors: AIRY_ERR_NOT_FOUND where there is no header or no celestial axes in it, AIRY_ERR_FORMAT
 * where they make no sense, AIRY_ERR_UNSUPPORTED in a build without wcslib, AIRY_ERR_MEMORY.
 * Source: M. R. Calabretta, E. W. Greisen, A&A 395 (2002) 1077, doi:10.1051/0004-6361:20021327.
 */
AIRY_API airy_status airy_sky_create(airy_sky **sky, const airy_image *image);
AIRY_API void airy_sky_destroy(airy_sky **sky);
AIRY_API airy_status airy_sky_get_info(const airy_sky *sky, airy_sky_info *info);

/**
 * Compute longitude (0 <= ra < 360) and latitude in degrees of count pixels; NaN where a pixel lies
 * on no point of the sky. ra, dec may be x, y.
 * Accuracy: 1e-9 deg beside wcslib itself.
 */
AIRY_API airy_status airy_sky_from_pixel(airy_sky *sky, double *ra, double *dec, const double *x,
                                         const double *y, size_t count);
/**
 * Compute pixels from longitude and latitude; NaN where the projection has no such point. x, y may
 * be ra, dec.
 */
AIRY_API airy_status airy_sky_to_pixel(airy_sky *sky, double *x, double *y, const double *ra,
                                       const double *dec, size_t count);

typedef enum airy_angle {
    AIRY_ANGLE_LONGITUDE = 0,
    AIRY_ANGLE_RIGHT_ASCENSION, /**< with colons in hours */
    AIRY_ANGLE_LATITUDE,
    AIRY_ANGLE_COUNT
} airy_angle;
/**
 * Parse an angle in degrees: "83.63" (any decimal number, or nan) or sexagesimal, "05:34:31.9",
 * "5h34m31.9s", "-0d15m3s", "22:00"; only the last part may have a fraction, the last letter may be
 * left out behind seconds.
 * Errors: AIRY_ERR_PARAM where text is no such angle, minutes or seconds are not below 60, hours
 * not 0 to below 24, latitudes not -90 to 90 or longitudes not -360 to 360; the sentence names
 * what is wrong.
 * Threads: any, in any locale.
 */
AIRY_API airy_status airy_angle_parse(double *degrees, const char *text, airy_angle kind);

#ifdef __cplusplus
}
#endif
#endif
