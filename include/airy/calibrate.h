/**
 * Refinement of a geometry from the powder rings of a calibrant: distance, point of normal
 * incidence, tilts and, where asked for, the wavelength. On the host, in double precision.
 *
 * A ring of spacing d stands at 2theta = 2 asin(wavelength / 2d) (W. L. Bragg). Where such rings
 * are in the image is measured in sectors: of the pixels near the ring, by their own 2theta, a
 * Gaussian on a straight background is fitted, which gives a control point. What is made small is
 *   sum w e^2,   e = (2theta(point; geometry) - 2theta(ring)) / |gradient of 2theta|,
 * the distance of the points from their rings in pixels, by K. Levenberg's and D. Marquardt's
 * method (J. Soc. Indust. Appl. Math. 11 (1963) 431) with analytic derivatives; points far off are
 * left out (P. Huber's weights first, then a cut at 4 robust standard deviations). Measuring and
 * fitting are repeated, with rings that stand alone first and narrower windows and closer rings
 * later, until the rings move no more.
 * Before that the guess is improved by a search: of distances, beam centres and tilts around it
 * those that put the rings on the brightest curves of the image, after its local mean has been
 * taken away and its local contrast made even.
 *
 * rot3 turns the detector about the beam, which no ring can see: it stays at the guess's value.
 */
#ifndef AIRY_CALIBRATE_H
#define AIRY_CALIBRATE_H

#include "airy/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Reflections of one spacing. */
typedef struct airy_calibrant_ring {
    double spacing;   /**< m */
    int hkl[3];       /**< one of them; all 0: not known */
    int multiplicity; /**< how many, counting opposite ones as two; 0: not known */
} airy_calibrant_ring;

/** Rings by falling spacing; released by airy_calibrant_free. */
typedef struct airy_calibrant {
    char name[64];
    size_t count;
    airy_calibrant_ring *rings;
} airy_calibrant;

/** A row of the table. Lengths in angstrom, angles in degrees. */
typedef struct airy_calibrant_info {
    const char *name, *title;
    const char *group;  /**< space group, "" for a lamellar one */
    double cell[6];     /**< a b c alpha beta gamma; lamellar: 0 0 c, and orders of it alone */
    const char *source; /**< of the cell */
} airy_calibrant_info;

enum { AIRY_CALIBRANT_RINGS = 2048 };

/** Return the number of calibrants in the table, and the i-th. */
AIRY_API size_t airy_calibrant_count(void);
AIRY_API airy_status airy_calibrant_get(airy_calibrant_info *info, size_t index);
/**
 * Compute the rings of a calibrant in the table down to a spacing, those that the reflection
 * conditions of its space group (International Tables for Crystallography, vol. A) and, where all
 * atoms share them, of its sites leave. Case, blanks, '-' and '_' in the name are ignored.
 * @param smallest  m; at most AIRY_CALIBRANT_RINGS rings, those of the largest spacings, are made
 * Errors: AIRY_ERR_NOT_FOUND, naming those there are; AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_calibrant_find(airy_calibrant *calibrant, const char *name,
                                         double smallest);
/**
 * Read the rings of a file: one spacing a line in angstrom, in any order; '#' starts a comment, and
 * one that begins with (h k l) behind a spacing names the reflection.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (line named), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_calibrant_read(airy_calibrant *calibrant, const char *path);
/** Load what a user names: a file (FILE.D, or a name with '/' in it), or a calibrant of the table with
 * the rings that a wavelength in m shows. Errors: those of the two. */
AIRY_API airy_status airy_calibrant_load(airy_calibrant *calibrant, const char *text,
                                         double wavelength);
/** Release it and set it to zero; a zeroed one is allowed. */
AIRY_API void airy_calibrant_free(airy_calibrant *calibrant);

/** What can be refined; bit 1u << value in airy_calibrate_params.refine. */
typedef enum airy_calibrate_value {
    AIRY_CALIBRATE_DIST = 0,
    AIRY_CALIBRATE_PONI1,
    AIRY_CALIBRATE_PONI2,
    AIRY_CALIBRATE_ROT1,
    AIRY_CALIBRATE_ROT2,
    AIRY_CALIBRATE_WAVELENGTH,
    AIRY_CALIBRATE_COUNT
} airy_calibrate_value;

/** "dist", "poni1", ... */
AIRY_API const char *airy_calibrate_value_name(airy_calibrate_value value);

typedef struct airy_calibrate_params {
    const float *image;  /**< [height][width]; values that are not finite are left out */
    const uint8_t *mask; /**< [height * width], 1 = bad; NULL: none */
    airy_geometry guess; /**< with a shape and a wavelength */
    const airy_calibrant *calibrant;
    unsigned refine;        /**< bits of airy_calibrate_value; 0: all but the wavelength */
    bool no_search;         /**< the guess is good to a few pixels */
    double search_px;       /**< how far the beam centre may be off; 0: 50 */
    double search_dist;     /**< relative, how far the distance may be off; 0: 0.1 */
    size_t rings;           /**< the innermost that are used, 0: all that stand apart */
    size_t sectors;         /**< of a whole ring at most; 0: 180 */
    double max_residual_px; /**< a worse one is a failure; 0: 1 */
    unsigned threads;       /**< 0: as many as the process may use */
} airy_calibrate_params;

/** A place of a ring in the image. */
typedef struct airy_calibrate_point {
    double y, x;     /**< pixels; the first pixel's centre is 0.5, 0.5 */
    double residual; /**< pixels, away from the beam is positive */
    double sigma;    /**< of its position, pixels */
    uint32_t ring;   /**< index into the calibrant's rings */
    bool used;       /**< false: too far off, left out of the last fit */
} airy_calibrate_point;

/** Of a ring that was looked for. */
typedef struct airy_calibrate_ring {
    size_t index;        /**< into the calibrant's rings */
    double tth;          /**< rad, by the refined wavelength */
    size_t sectors;      /**< that hold enough pixels */
    size_t points, used; /**< sectors with a peak; those that the fit uses */
    double rms, mean;    /**< residuals of the used, pixels */
    double width;        /**< full width at half maximum, median, pixels */
} airy_calibrate_ring;

/** What the data determine poorly: warnings; bits of airy_calibration.doubts. */
typedef enum airy_calibrate_doubt {
    AIRY_CALIBRATE_ONE_RING = 1u << 0, /**< tilts rest on the shape of a single ring */
    AIRY_CALIBRATE_TILT = 1u << 1,     /**< a tilt's standard error is above 0.5 degree */
    AIRY_CALIBRATE_SCALE = 1u << 2, /**< distance and wavelength are uncertain by more than 1e-3 */
    AIRY_CALIBRATE_ARC = 1u << 3,   /**< points lie within less than a third of a turn */
    AIRY_CALIBRATE_DISTANCE = 1u << 4, /**< the distance's standard error is above 1 percent */
    AIRY_CALIBRATE_OTHERS = 1u << 5,   /**< the image has rings that the calibrant lacks, more than
                                              half as many as it has of the calibrant's */
    AIRY_CALIBRATE_UNEVEN = 1u << 6    /**< whole rings lie inside or outside of their places */
} airy_calibrate_doubt;

/** Released by airy_calibration_free. */
typedef struct airy_calibration {
    airy_geometry geometry, searched; /**< searched: the start of the refinement */
    bool refined[AIRY_CALIBRATE_COUNT];
    double error[AIRY_CALIBRATE_COUNT]; /**< standard errors, m and rad; 0: held */
    double correlation[AIRY_CALIBRATE_COUNT][AIRY_CALIBRATE_COUNT];
    double beam[2],
        beam_error[2];      /**< y, x in pixels, corner of the first pixel 0, 0; NaN: the beam
                                      goes past the detector's plane */
    double rms_px, rms_rad; /**< of the residuals of the used points */
    unsigned doubts;
    int iterations;
    size_t others; /**< rings of the image that the calibrant lacks */
    size_t used, point_count, ring_count;
    airy_calibrate_point *points;
    airy_calibrate_ring *rings;
} airy_calibration;

/**
 * Fit the geometry of a detector to the rings of a calibrant in an image.
 * @param out  released by the caller; written on success only
 *
 * Accuracy: a simulated image of 10 rings and 100 counts comes back to 0.01 pixel and 1e-5 of the
 *           distance; standard errors count what scatters, not what is wrong in the same way
 *           everywhere.
 * Errors: AIRY_ERR_PARAM (params; rings that cannot be distinguished, or none on the detector; too
 *         wide a search),
 *         AIRY_ERR_NOT_FOUND (the rings were not found, the fit does not settle, or its residual is
 *         above max_residual_px: the sentence names which), AIRY_ERR_UNSUPPORTED (parallax, a
 *         detector with corners of its own),
 *         AIRY_ERR_MEMORY.
 * Threads: any; the result does not depend on their number.
 */
AIRY_API airy_status airy_calibrate(airy_calibration *out, const airy_calibrate_params *params);
/** Release it and set it to zero; a zeroed one is allowed. */
AIRY_API void airy_calibration_free(airy_calibration *calibration);

/**
 * Trace where a ring crosses the detector: coordinates of its points in the image at `count` equal
 * steps of chi from -pi on; NaN where that direction misses the detector's plane.
 * @param yx  out, [count][2], pixels; the first pixel's centre is 0.5, 0.5
 * Errors: AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_geometry_ring(const airy_geometry *geometry, double tth, double *yx,
                                        size_t count);

#ifdef __cplusplus
}
#endif
#endif
