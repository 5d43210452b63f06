/* What the cases of optical coherence tomography share. */
#ifndef AIRY_TESTS_CHECK_OCT_H
#define AIRY_TESTS_CHECK_OCT_H

#include "check.h"
#include "ref_oct.h"

/* Frames of fringes (a pedestal, three reflectors that move from line to line, noise), as the raw
 * bytes that p describes. */
void *check_oct_raw(struct check *c, const airy_oct_params *p, size_t frames);
/* Numbers as raw bytes: value[frames lines samples], after the shift. */
void *check_oct_encode(struct check *c, const airy_oct_params *p, const double *value,
                       size_t frames);
airy_array *check_oct_upload(struct check *c, const airy_oct_params *p, const void *raw,
                             size_t frames);

/* One call of everything: create, learn from src where p asks for it, process, destroy. Lives until
 * the case ends, guarded; NULL: the case failed. */
airy_array *check_oct_process(struct check *c, const airy_oct_params *p, const airy_array *src,
                              uint64_t first_frame);
/* The same as numbers. count: of them. */
double *check_oct_pull(struct check *c, const airy_array *array, size_t *count);

/* Whether all cases run: not on OpenCL's CPUs, whose compiler takes a second for each plan's kernel. */
bool check_oct_all(struct check *c);

/* p from raw frames against the reference. */
void check_oct_one(struct check *c, const airy_oct_params *p, const void *raw, size_t frames,
                   uint64_t first_frame);

/* Parts of check_oct. */
void check_oct_physics(struct check *c);
void check_oct_golden(struct check *c);
void check_oct_refusals(struct check *c);

#endif
