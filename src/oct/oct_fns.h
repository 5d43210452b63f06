/*
 * What a back end does for OCT: frames to spectra and what is made of single lines, and what needs
 * several lines at once. Tables come from the front (oct_tables.c), in double; a back end keeps
 * them in the form it likes.
 */
#ifndef AIRY_OCT_OCT_FNS_H
#define AIRY_OCT_OCT_FNS_H

#include "airy/oct.h"
#include "core/objects.h"
#include "shared/oct_geom.h"

enum { AIRY_OCT_MAX_TAPS = 16 };

/*
 * z[j] = (sum_t weights[j][t] x[base[j] + t] - offset[j]) phasor[j]; windows are in the weights. x:
 * the samples, less the rolling mean where there is one.
 */
struct airy_oct_tables {
    size_t taps;     /* 1 to AIRY_OCT_MAX_TAPS, at most samples */
    uint32_t *base;  /* [samples]; base + taps <= samples */
    double *weights; /* [samples][taps] */
    double *offset;  /* [samples], of the recorded background; NULL: none */
    double *phasor;  /* [samples][2], real and imaginary part; NULL: all 1, z is real */
};

struct airy_oct {
    airy_device *device;
    airy_oct_params p; /* defaults filled in, pointers NULL */
    airy_oct_info info;
    struct airy_oct_tables tables;
    airy_oct_finish finish; /* of the result: what becomes of F */
    /*
     * The transform of the compat mode is the inverse one. The front has turned the phases round,
     * so that F comes out as its complex conjugate: im of F is to be negated.
     */
    bool conjugate;
    airy_array *pattern; /* f32 [depth][2]: subtracted from F (after conjugate); NULL: none */
    airy_array *post;    /* f32 [depth]: subtracted from g; NULL: none */
    void *impl;          /* the back end's, from prepare to release */
};

/* dst[f][l][p] of all lines; COMPLEX: [f][l][p][2]. */
struct airy_oct_lines_plan {
    const struct airy_oct *oct;
    const airy_array *dst;  /* tight */
    const airy_array *src;  /* tight, of the shape that airy_oct_process takes */
    const airy_array *mean; /* f32 [frames][samples], subtracted as offset is, or NULL */
    airy_oct_output quantity;
    bool display; /* this is the result: finish (display, post) applies, dst is of p.to */
    airy_oct_flip flip;
    size_t frames;
    uint64_t first_frame;
};

/*
 * Means, flow and the sinusoidal scan, then the result; p says which. src: f32 [frames][lines][depth]
 * of `given`: COMPLEX (and a last axis of 2), POWER, MAGNITUDE or DB. Frames that run backwards have
 * been turned already. frames: a multiple of info.frames_per_result.
 *   means      of `given`, over frames, then lines; POWER becomes DB where that is the output,
 *              COMPLEX phase
 *   phase      COMPLEX; over repeats of lines or frames; summed over average_lines too
 *   variance   of DB, MAGNITUDE, POWER
 *   sinusoidal between what lines have become by then
 */
struct airy_oct_combine_plan {
    const struct airy_oct *oct;
    const airy_array *dst, *src; /* tight */
    airy_oct_output given;
    size_t frames; /* of src */
};

struct airy_oct_fns {
    /* Fills oct->impl and info.method. Complete on return. */
    airy_status (*prepare)(airy_queue *queue, struct airy_oct *oct);
    void (*release)(struct airy_oct *oct);
    /*
     * mean[f][j] = sum_t weights[j][t] m[base[j] + t], m: the mean over the lines of frame f of the
     * samples.
     */
    airy_status (*mean)(airy_queue *queue, const struct airy_oct *oct, const airy_array *mean,
                        const airy_array *src, size_t frames);
    /* Scratch of the queue: FRAMES and SMALL are the front's, the others the back end's. */
    airy_status (*lines)(airy_queue *queue, const struct airy_oct_lines_plan *plan);
    airy_status (*combine)(airy_queue *queue, const struct airy_oct_combine_plan *plan);
};

extern const struct airy_oct_fns airy_oct_cpu, airy_oct_opencl;

/* Of a raw sample, packed or not: 8, 10, 12, 16 or 32. */
unsigned airy_oct_sample_bits(const airy_oct_params *params);
/* Tables of checked parameters; AIRY_ERR_PARAM where a table is not finite or not monotonic. */
airy_status airy_oct_tables_make(struct airy_oct_tables *tables, const airy_oct_params *params);
void airy_oct_tables_free(struct airy_oct_tables *tables);
/* Of the wavelength or k axis; NaN where there is none. */
double airy_oct_depth_step(const airy_oct_params *params);

#endif
