/**
 * Detectors, PONI files, and where each pixel points.
 *
 * Axis 1 is y (slow, rows), axis 2 is x (fast, columns). Lengths in metres, angles in radians
 * unless a name contains another unit. With p1 = pixel1 (i' + 1/2) - poni1, p2 = pixel2 (j' + 1/2)
 * - poni2 and p3 = dist, c_k = cos rot_k, s_k = sin rot_k:
 *   y = p1 c2 c3 + p2 (c3 s1 s2 - c1 s3) - p3 (c1 c3 s2 + s1 s3)
 *   x = p1 c2 s3 + p2 (c1 c3 + s1 s2 s3) - p3 (c1 s2 s3 - c3 s1)
 *   z = p1 s2 - p2 c2 s1 + p3 c1 c2
 *   2theta = atan2(hypot(x, y), z)   chi = atan2(y, x)   r = hypot(x, y)   q = 4 pi / wavelength
 *   sin(theta)
 * Orientations 1 to 4 re-index: i' = N1-1-i (1, 2), j' = N2-1-j (1, 4); 0 counts as 3.
 * Where a detector has corners, p1 and p2 are means of a pixel's four corners less the PONI, and p3
 * = dist + z of them.
 * With parallax, a photon that enters the sensor at p0, at an angle alpha to its normal, is
 * absorbed mu^-1 (1 - x / (exp(x) - 1)) further on the way on average, x = mu thickness /
 * cos(alpha), so it is seen sin(alpha) times that further out along the sensor: angles and radii
 * are those of p0.
 * Source: pyFAI's published geometry (J. Kieffer et al., J. Appl. Cryst. 48 (2015) 510,
 *         doi:10.1107/S1600576715000306).
 */
#ifndef AIRY_GEOMETRY_H
#define AIRY_GEOMETRY_H

#include "airy/dtype.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * h c in eV m (SI Brochure, 9th edition, 2019: exact): the wavelength in m of photons of an energy
 * in eV is AIRY_HC_EV_M / energy, and the other way round.
 */
#define AIRY_HC_EV_M 1.2398419843320026e-6

/** What photons are absorbed in. Plain data, zeroed: not known. */
typedef struct airy_sensor {
    char material[16];  /**< "Si", "Ge", "CdTe", "CZT", "GaAs", ...: see airy_sensor_attenuation */
    double thickness;   /**< m; 0: more than any photon needs */
    double attenuation; /**< linear coefficient mu, 1/m; 0: of the material at the wavelength */
} airy_sensor;

/**
 * Plain data; fill it by airy_detector_find, airy_detector_read, airy_geometry_read, or by hand.
 * Copies share the arrays.
 */
typedef struct airy_detector {
    char name[64];          /**< the registry's name, "Detector" for a free one */
    size_t height, width;   /**< pixels; 0 when unknown (free detector without shape) */
    double pixel1, pixel2;  /**< m: height and width of a pixel */
    int orientation;        /**< 0 (= 3) to 4 */
    bool dectris_dummy;     /**< its default dummy values are -1, -2, -3 in the image's integer
                                type */
    int binning1, binning2; /**< how many pixels of the sensor are one of the image, along each
                                 axis; 0 = 1. Sizes and shape above are those of the image. */
    airy_sensor sensor;
    char file[1024]; /**< the NeXus detector file that it is described by; else "" */
    /**
     * Host memory of the caller (airy_detector_open fills them), read during calls only.
     * corners: [height][width][4][3], z (0 in the plane of the distance), y, x in m of corners A
     * (i, j), B (i + 1, j), C (i + 1, j + 1), D (i, j + 1) of each pixel as orientation 3 counts
     * them; NULL: equal rectangles. Pixels with corners that are not finite must be masked.
     * bad: [height][width] as the image has them, not 0 = bad; NULL: the registry's mask.
     */
    const float *corners;
    const uint8_t *bad;
} airy_detector;

/**
 * Look a detector up by class name, name or alias; case, blanks, '-' and '_' are ignored.
 * Errors: AIRY_ERR_NOT_FOUND, naming the nearest; AIRY_ERR_UNSUPPORTED for those whose pixels'
 * positions are not known here: curved ones, hexagonal pixels, modules off the grid.
 */
AIRY_API airy_status airy_detector_find(airy_detector *detector, const char *name);
/**
 * Return the number of registered detectors, and the i-th; also of those that airy_detector_find
 * does not support (airy_geometry_check refuses them).
 */
AIRY_API size_t airy_detector_count(void);
AIRY_API airy_status airy_detector_get(airy_detector *detector, size_t index);
/**
 * Find the detector whose image has this shape; of several the one with the shortest name, which is
 * the plain one of a series. AIRY_ERR_NOT_FOUND otherwise.
 */
AIRY_API airy_status airy_detector_find_shape(airy_detector *detector, size_t height, size_t width);
/**
 * Settle the shape for frames of height x width pixels. A detector without shape takes theirs. The
 * shape of a registered detector follows its pixel sizes: with pixels n times as large as the
 * sensor's, frames have 1 / n of its rows and columns; a MAR 345 has as many pixels as fit its
 * plate, or those of its smaller scans. Call it before airy_detector_open.
 * Errors: AIRY_ERR_SHAPE (the frames have another shape), AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_detector_fit(airy_detector *detector, size_t height, size_t width);
/**
 * Name a detector of which shape and pixel sizes are known: by the description that a file or
 * stream gives ("" where it gives none), or by shape; only a registered one whose shape and pixels
 * agree.
 */
AIRY_API void airy_detector_recognize(airy_detector *detector, const char *description);
/**
 * Fill in what follows from a registered name, shape and pixel sizes: dummy values, and the binning
 * where pixels are a whole number of times larger. Other names: nothing.
 */
AIRY_API void airy_detector_complete(airy_detector *detector);
/**
 * Read a NeXus detector file as pyFAI writes them: an NXdetector group with pixel_size,
 * shape, orientation, sensor and, for detectors that are no plane of equal rectangles,
 * pixel_corners [N1, N2, 4, 3] and mask. The arrays are not read: airy_detector_open does.
 * Errors: AIRY_ERR_NOT_FOUND (no such file, or no detector in it), AIRY_ERR_IO, AIRY_ERR_FORMAT
 *         (what is missing or impossible, by name), AIRY_ERR_UNSUPPORTED (pixels of other than four
 *         corners).
 */
AIRY_API airy_status airy_detector_read(airy_detector *detector, const char *path);
/**
 * Arrays of a detector that needs some.
 * Thread-safety: immutable.
 */
typedef struct airy_detector_arrays airy_detector_arrays;
/**
 * Make corners and mask of detectors that are no plane of equal rectangles, or have a file with a
 * mask: detector->corners and ->bad point into *arrays then. *arrays is NULL where none are needed.
 * Call it when binning, shape and file are settled.
 * Errors: as airy_detector_read; AIRY_ERR_SHAPE (the file's arrays do not fit the detector),
 *         AIRY_ERR_FORMAT (a pixel that is not masked has a corner that is not finite or absurd),
 *         AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_detector_open(airy_detector_arrays **arrays, airy_detector *detector);
AIRY_API void airy_detector_arrays_destroy(airy_detector_arrays **arrays);
/** Return whether it needs airy_detector_open before its pixels' positions are known. */
AIRY_API bool airy_detector_needs_arrays(const airy_detector *detector);
/**
 * Bin the detector: the image with binning1 x binning2 times as many pixels of the sensor in one as
 * now: larger pixels, fewer of them; what does not fill a pixel is lost. Before airy_detector_open.
 * Errors: AIRY_ERR_PARAM (not 1 to 64, no pixel left, arrays are there already).
 */
AIRY_API airy_status airy_detector_bin(airy_detector *detector, int binning1, int binning2);

/**
 * Return the linear attenuation coefficient mu in 1/m at a wavelength in m: mass coefficients with
 * coherent scattering, interpolated by logarithms between the energies of the table and never
 * across an absorption edge, times the density.
 * Errors: AIRY_ERR_NOT_FOUND (materials that there are), AIRY_ERR_PARAM (energy out of the table).
 * Source: J. H. Hubbell, S. M. Seltzer, NISTIR 5632 (1995), doi:10.18434/T4D01F.
 */
AIRY_API airy_status airy_sensor_attenuation(double *attenuation, const char *material,
                                             double wavelength);

/**
 * Get the registry's mask (module gaps), or detector->bad: out[height * width], 1 = bad. All
 * 0 where the detector has none. A pixel of several of the sensor's is bad when any of them is.
 */
AIRY_API airy_status airy_detector_mask(const airy_detector *detector, uint8_t *mask);

/** Plain data. */
typedef struct airy_geometry {
    airy_detector detector;
    double dist, poni1, poni2; /**< m */
    double rot1, rot2, rot3;   /**< rad */
    double wavelength;         /**< m; 0 when unknown */
    bool parallax;             /**< positions are corrected for the depth of absorption in the
                                    detector's sensor, which must be known */
    /**
     * Of the sample, for units at grazing incidence; no part of a PONI file: angle of incidence and
     * tilt about the beam, rad, and how the detector's horizontal and vertical axes are exchanged
     * or turned first: 1 (0) to 8 as EXIF counts orientations.
     */
    double incidence, tilt;
    int sample_orientation;
} airy_geometry;

/**
 * Read a PONI file, versions 1, 2, 2.1 and 3.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (line and value named; also values that
 *         are not finite or absurd: pixel sizes or distance <= 0), AIRY_ERR_UNSUPPORTED for a
 *         newer version, by its number.
 * A missing Distance is an error (some readers silently take 1 m). Pixel sizes and max_shape of
 * the file win; without max_shape the shape of a registered detector follows its pixel sizes, as
 * in airy_detector_fit.
 */
AIRY_API airy_status airy_geometry_read(airy_geometry *geometry, const char *path);
/** Write version 2.1 (3 with a sensor or parallax). Replaces the file in one step. */
AIRY_API airy_status airy_geometry_write(const airy_geometry *geometry, const char *path);
/** Write the PONI file with lines of text at its head, which become comments; NULL: none. */
AIRY_API airy_status airy_geometry_write_noted(const airy_geometry *geometry, const char *notes,
                                               const char *path);
/** Check plain data that was filled by hand; the sentence names the field. */
AIRY_API airy_status airy_geometry_check(const airy_geometry *geometry);

/**
 * Radial and azimuthal units, by the names that pyFAI has for them. In the laboratory x is
 * horizontal, y vertical, z along the beam; u = 2 pi / wavelength, n = (x, y, z) / |(x, y, z)|.
 * Grazing incidence: the lab's q, u (n - beam), turned by the angle of incidence about x and by the
 * tilt about the beam. d and the logarithms of q are infinite at the beam: pixels for which they
 * are (a centre there, or by splitting a corner) belong to no bin.
 */
typedef enum airy_unit {
    AIRY_UNIT_Q_NM = 0,  /**< "q_nm^-1" */
    AIRY_UNIT_Q_A,       /**< "q_A^-1" */
    AIRY_UNIT_TTH_DEG,   /**< "2th_deg" */
    AIRY_UNIT_TTH_RAD,   /**< "2th_rad" */
    AIRY_UNIT_R_MM,      /**< "r_mm" */
    AIRY_UNIT_R_M,       /**< "r_m" */
    AIRY_UNIT_D2_NM,     /**< "d*2_nm^-2" = (q / 2 pi)^2 */
    AIRY_UNIT_LOG1Q_NM,  /**< "log(1+q.nm)_None" */
    AIRY_UNIT_QX_NM,     /**< "qx_nm^-1" (signed) */
    AIRY_UNIT_CHI_DEG,   /**< "chi_deg" (signed) */
    AIRY_UNIT_D_M,       /**< "d_m" = 2 pi / q */
    AIRY_UNIT_D_NM,      /**< "d_nm" */
    AIRY_UNIT_D_A,       /**< "d_A" */
    AIRY_UNIT_D2_A,      /**< "d*2_A^-2" */
    AIRY_UNIT_LOG10Q_M,  /**< "log10(q.m)_None" (signed) */
    AIRY_UNIT_LOGQ_NM,   /**< "log(q.nm)_None", natural (signed) */
    AIRY_UNIT_LOG1Q_A,   /**< "log(1+q.A)_None" */
    AIRY_UNIT_ASINHQ_NM, /**< "arcsinh(q.nm)_None" */
    AIRY_UNIT_ASINHQ_A,  /**< "arcsinh(q.A)_None" */
    AIRY_UNIT_QY_NM,     /**< "qy_nm^-1" = 2 u sin(atan2(y, z) / 2) (this and the rest: signed) */
    AIRY_UNIT_SCATTERING_VERT_RAD, /**< "scattering_angle_vert_rad" */
    AIRY_UNIT_SCATTERING_HORZ_RAD, /**< "scattering_angle_horz_rad" */
    AIRY_UNIT_EXIT_VERT_RAD,       /**< "exit_angle_vert_rad", against the sample's horizon */
    AIRY_UNIT_EXIT_HORZ_RAD,       /**< "exit_angle_horz_rad" */
    AIRY_UNIT_EXIT_VERT_DEG,       /**< "exit_angle_vert_deg" */
    AIRY_UNIT_EXIT_HORZ_DEG,       /**< "exit_angle_horz_deg" */
    AIRY_UNIT_QXGI_NM,             /**< "qxgi_nm^-1", horizontal in the sample */
    AIRY_UNIT_QYGI_NM,             /**< "qygi_nm^-1", vertical */
    AIRY_UNIT_QZGI_NM,             /**< "qzgi_nm^-1", along the beam */
    AIRY_UNIT_QIP_NM,              /**< "qip_nm^-1": sqrt(qx^2 + qz^2) with the sign of qx */
    AIRY_UNIT_QOOP_NM,             /**< "qoop_nm^-1" = qy */
    AIRY_UNIT_QTOT_NM,             /**< "qtot_nm^-1" = q */
    AIRY_UNIT_QXGI_A,              /**< "qxgi_A^-1" and so on */
    AIRY_UNIT_QYGI_A,
    AIRY_UNIT_QZGI_A,
    AIRY_UNIT_QIP_A,
    AIRY_UNIT_QOOP_A,
    AIRY_UNIT_QTOT_A,
    AIRY_UNIT_CHI_RAD,   /**< "chi_rad" */
    AIRY_UNIT_CHIGI_RAD, /**< "chigi_rad" = atan2(qip, qoop): from the sample's vertical */
    AIRY_UNIT_CHIGI_DEG, /**< "chigi_deg" */
    AIRY_UNIT_COUNT
} airy_unit;

/** What of a geometry's sample a unit depends on. */
typedef enum airy_sample_flags {
    AIRY_SAMPLE_INCIDENCE = 1u << 0,
    AIRY_SAMPLE_TILT = 1u << 1,
    AIRY_SAMPLE_ORIENTATION = 1u << 2
} airy_sample_flags;

AIRY_API const char *airy_unit_name(airy_unit unit);  /**< "q_nm^-1" */
AIRY_API const char *airy_unit_label(airy_unit unit); /**< "q (1/nm)", for plots */
AIRY_API bool airy_unit_needs_wavelength(airy_unit unit);
/** airy_sample_flags; 0: values of the unit are the same however the sample lies. */
AIRY_API unsigned airy_unit_sample(airy_unit unit);
AIRY_API airy_status airy_unit_parse(airy_unit *unit, const char *name);
/** Return a full turn of chi or chigi in the unit, 360 or 2 pi; 0: no angle about the beam. */
AIRY_API double airy_unit_turn(airy_unit unit);
/**
 * Return whether it can be the second axis of two dimensions: chi and chigi, and units with a sign
 * that are no logarithms (qx, qy, those of the sample, exit and scattering angles).
 */
AIRY_API bool airy_unit_is_azimuthal(airy_unit unit);
/**
 * Parse the unit of the second axis as airy_unit_parse does; others are refused with the list of
 * these.
 */
AIRY_API airy_status airy_unit_parse_azimuthal(airy_unit *unit, const char *name);

/**
 * Compute one value per pixel at its centre: out[height * width] in the unit given.
 * Errors: AIRY_ERR_PARAM (no shape, no wavelength where one is needed).
 */
AIRY_API airy_status airy_geometry_centers(const airy_geometry *geometry, airy_unit unit,
                                           double *out);
/** Compute chi at the centres, rad in (-pi, pi]. */
AIRY_API airy_status airy_geometry_chi(const airy_geometry *geometry, double *out);
/**
 * Compute the solid angle relative to a pixel of the nominal size at the PONI: cos^3 of the
 * incidence angle; with corners area x cos(incidence) / distance^2, where area and normal are those
 * of the corners. Of the pixel itself, whatever the parallax.
 */
AIRY_API airy_status airy_geometry_solid_angle(const airy_geometry *geometry, double *out);
/**
 * Compute the polarization factor P = (1 + cos^2 2theta - f cos(2 (chi + offset)) sin^2 2theta) /
 * 2, f = (Ih - Iv) / (Ih + Iv).
 */
AIRY_API airy_status airy_geometry_polarization(const airy_geometry *geometry, double factor,
                                                double offset_rad, double *out);

/**
 * Compute what the sensor absorbs relative to normal incidence: (1 - exp(-mu t / cos(alpha))) / (1
 * - exp(-mu t)); 1 where its thickness is 0. AIRY_ERR_PARAM: the sensor is not known.
 */
AIRY_API airy_status airy_geometry_efficiency(const airy_geometry *geometry, double *out);

/**
 * Take a geometry from JSON: the object that results keep in their configuration, or such a
 * configuration. Whether it makes sense is for airy_geometry_check. AIRY_ERR_FORMAT: there is none.
 */
AIRY_API airy_status airy_geometry_parse(airy_geometry *geometry, const char *json);
/** Write it as such an object, released with free(). AIRY_ERR_MEMORY. */
AIRY_API airy_status airy_geometry_print(char **json, const airy_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
