/*
 * Optical coherence tomography by its definition (airy/oct.h): direct transforms, scalar loops, double
 * precision. Results are bounds that a device's must lie in, as the error of F, which is where
 * devices round, becomes a different one in each quantity.
 */
#ifndef AIRY_TESTS_REF_OCT_H
#define AIRY_TESTS_REF_OCT_H

#include "airy/oct.h"

/* Samples after unpacking, byte order and shift: x[lines][samples]. */
void ref_oct_unpack(double *x, const void *raw, size_t lines, const airy_oct_params *p);

/*
 * Bins [depth_first, depth_last) of all lines, the fixed pattern not subtracted. largest[line]: |F| of
 * any bin. scale[line]: sqrt(sum_j a_j^2), a_j what |z_j| would be if neither the background nor
 * weights of different signs cancelled anything: rounding of samples is relative to that.
 */
struct ref_oct_spectra {
    size_t lines, depth; /* lines: of all frames */
    double *f;           /* [lines][depth][2] */
    double *largest, *scale;
};

/* False when memory is short. raw: whole frames. */
bool ref_oct_spectra(struct ref_oct_spectra *s, const void *raw, size_t frames,
                     const airy_oct_params *p);
void ref_oct_spectra_free(struct ref_oct_spectra *s);

/* What airy_oct_learn finds of these frames' spectra; pattern: [depth][2]. */
void ref_oct_pattern(double *pattern, const struct ref_oct_spectra *s);
/* pattern is off from now on; error of F grows by that of the pattern. */
void ref_oct_subtract(struct ref_oct_spectra *s, const double *pattern);

struct ref_oct_bounds {
    size_t count;
    double *low, *high; /* both NaN: NaN */
};

/*
 * Frames to the result as f32 or, in p->to, integers.
 *
 * @param error  [lines] of F, absolute
 * @param post   [depth] bounds that are subtracted, or NULL
 */
bool ref_oct_result(struct ref_oct_bounds *b, const struct ref_oct_spectra *s, const double *error,
                    uint64_t first_frame, const struct ref_oct_bounds *post,
                    const airy_oct_params *p);
/* What airy_oct_learn subtracts afterwards, of the result (f32) of the first frames. */
bool ref_oct_post(struct ref_oct_bounds *post, const struct ref_oct_bounds *first, size_t depth,
                  const airy_oct_params *p);
void ref_oct_bounds_free(struct ref_oct_bounds *b);

#endif
