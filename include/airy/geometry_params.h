/**
 * The geometry of frames, made of what their files state and of values that are given.
 *
 *     airy_geometry geometry;
 *     airy_stack_meta meta;
 *     const airy_geometry_params given = {.dist = 0.2, .energy = 12.4};
 *     airy_stack_get_meta(stack, &meta);
 *     airy_geometry_resolve(&geometry, &given, &meta, info.height, info.width);
 *
 * takes the detector and the beam centre from the file, and the distance and the wavelength from the
 * program. A given value counts more than a PONI file, and a PONI file more than the frames' own
 * files, of which it takes the place of all values.
 */
#ifndef AIRY_GEOMETRY_PARAMS_H
#define AIRY_GEOMETRY_PARAMS_H

#include "airy/geometry.h"
#include "airy/log.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Values that are given. Zeroed: none. Sentences name them as "dist", "poni1". */
typedef struct airy_geometry_params {
    const char *poni;     /**< PONI file to begin with; NULL: none */
    const char *detector; /**< name of the registry, or a NeXus detector file (.h5, .nxs, .hdf5) */
    bool has_pixel;
    double pixel[2]; /**< m: height and width of a pixel */
    int binning[2];  /**< rows and columns of the detector's pixels that form one of the frames';
                          0: not given */
    int orientation; /**< 1 to 4; 0: not given */
    double dist;     /**< m; 0: not given */
    bool has_poni1, has_poni2, has_rot1, has_rot2, has_rot3;
    double poni1, poni2;     /**< m */
    double rot1, rot2, rot3; /**< rad */
    double wavelength;       /**< m; 0: not given */
    double energy;           /**< keV, instead of the wavelength; 0: not given */
    airy_sensor sensor;      /**< without a material: not given */
    double attenuation;      /**< 1/m, instead of that of the sensor's material; 0: not given */
    bool parallax;           /**< correct positions for the depth of absorption */
    const char *input;       /**< what sentences call the frames' files; NULL: "the input" */
    airy_log_fn message;     /**< gets warnings of values in an unlikely unit; NULL: nobody */
    void *user;              /**< of message */
} airy_geometry_params;

/** Parse "MATERIAL" or "MATERIAL,THICKNESS" (m). AIRY_ERR_PARAM, "expected ...". Any thread. */
AIRY_API airy_status airy_sensor_parse(airy_sensor *sensor, const char *text);
/** Return whether any value of a geometry is given. */
AIRY_API bool airy_geometry_is_given(const airy_geometry_params *params);
/** Return the parts of a geometry (airy_geometry_part) that given values alone settle. */
AIRY_API unsigned airy_geometry_given_parts(const airy_geometry_params *params);
/**
 * Replace values of a geometry by given ones; `poni` is not read.
 * Errors: AIRY_ERR_PARAM with a subject (values that exclude each other), those of the detector.
 */
AIRY_API airy_status airy_geometry_override(airy_geometry *geometry,
                                            const airy_geometry_params *params);
/**
 * Fit the detector to frames as airy_detector_fit does, with a sentence that suggests how the
 * frames may fit. AIRY_ERR_SHAPE.
 */
AIRY_API airy_status airy_geometry_fit(airy_geometry *geometry, size_t height, size_t width);
/** Warn of a distance or a wavelength that is likely to be in another unit. */
AIRY_API void airy_geometry_warn(const airy_geometry *geometry, const airy_geometry_params *params);
/**
 * Make the geometry of frames of height x width pixels, and check it.
 *
 * @param meta  what the frames' first file states; NULL: nothing
 * Errors: AIRY_ERR_PARAM with the subject "poni" where a part of the geometry is missing, those of
 *         the files, of airy_geometry_override, airy_geometry_fit and airy_geometry_check.
 */
AIRY_API airy_status airy_geometry_resolve(airy_geometry *geometry,
                                           const airy_geometry_params *params,
                                           const airy_stack_meta *meta, size_t height,
                                           size_t width);
/**
 * Fail where the files of a stack state different values of what the geometry takes from them
 * (airy_stack_hold_geometry).
 *
 * @param first  NULL, or another stack whose first file the files must agree with
 *               (airy_stack_hold_like)
 */
AIRY_API airy_status airy_geometry_hold(airy_stack *stack, const airy_stack *first,
                                        const airy_geometry_params *params);
/**
 * Return the status of an operation that failed with this geometry; where it lacks a wavelength
 * because the files state two, the sentence names both.
 */
AIRY_API airy_status airy_geometry_explain(const airy_geometry_params *params,
                                           const airy_stack_meta *meta, airy_status status);

#ifdef __cplusplus
}
#endif

#endif
