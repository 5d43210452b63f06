/*
 * Interferograms as a camera of OCT records them: electrons S |1 + h|^2 of a reference arm of 1 and a
 * sample arm h, so that DC, fringes and autocorrelation are all there, with shot noise, read noise and
 * a converter. The same bits on every machine.
 */
#ifndef AIRY_JOBS_SIMULATE_SIMULATED_OCT_H
#define AIRY_JOBS_SIMULATE_SIMULATED_OCT_H

#include "airy/oct.h"
#include "jobs/simulate/phantom.h"
#include "base/error.h"

/* A mirror, or one that is tilted: its depth grows from line to line. */
struct airy_oct_reflector {
    double depth_um, db, slope_um; /* db: of the reference arm's power */
};

/* What a recording is made from; airy_simulated_oct_begin makes the tables. */
struct airy_simulated_oct {
    size_t samples, lines, frames, repeats;
    uint64_t seed;
    airy_dtype dtype;
    airy_oct_packing packing;
    int bits;
    double full_well, exposure, read_noise; /* electrons; part of the well; electrons */
    double pattern;                         /* of the pixels' gain, standard deviation */
    bool balanced, noiseless;
    bool bidirectional, sinusoidal;
    double dispersion[4];     /* phase that compensates, as in a plan */
    const double *wavelength; /* [samples] m, strictly monotonic; NULL: linear in k */
    double ends[2];           /* m: the shortest and the longest wavelength */
    const double *spectrum;   /* [samples], 0 or more; NULL: Gaussian */
    double center, width;     /* m, at half maximum */
    const struct airy_oct_reflector *reflectors; /* [count]; none: the phantom */
    size_t count;
    size_t beam; /* of the phantom */
    double flow; /* radians a line */

    struct airy_phantom phantom;
    double span;       /* of k, 1/m */
    size_t grid;       /* of the phantom's transform */
    double *place;     /* [samples] (kmax - k) / span */
    double *electrons; /* [samples] without a sample */
    double *still;     /* [2][samples] h of reflectors that do not move */
    double *turn;      /* [2][samples] what a phantom's field is multiplied by */
    double *taps;      /* [samples][AIRY_SIMULATED_TAPS] */
    uint32_t *base;    /* [samples] */
    double *apodise;   /* [depth] */
    double *table;     /* [2 grid] */
};
enum { AIRY_SIMULATED_TAPS = 8 };

struct airy_oct_scratch {
    struct airy_phantom_scratch phantom;
    double *field;  /* [2][grid + AIRY_SIMULATED_TAPS + 1] */
    double *work;   /* [2 grid] */
    double *h;      /* [2][samples] */
    double *counts; /* [2][samples] */
    uint32_t *words;
    uint16_t *codes; /* [samples] */
};

/* Tables; false when memory is short. airy_simulated_oct_end in any case. */
bool airy_simulated_oct_begin(struct airy_simulated_oct *model);
void airy_simulated_oct_end(struct airy_simulated_oct *model);
bool airy_simulated_oct_scratch(const struct airy_simulated_oct *model,
                                struct airy_oct_scratch *scratch);
void airy_simulated_oct_release(struct airy_oct_scratch *scratch);
/* Bytes of a line as it is recorded. */
size_t airy_simulated_oct_line_bytes(const struct airy_simulated_oct *model);
/* The bin of a depth. */
double airy_simulated_oct_bin(const struct airy_simulated_oct *model, double depth_um);
/* Lines first to first + count - 1 of a frame. */
airy_status airy_simulated_oct_lines(const struct airy_simulated_oct *model,
                                     struct airy_oct_scratch *scratch, size_t frame, size_t first,
                                     size_t count, void *out);

#endif
