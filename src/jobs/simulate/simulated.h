/* Frames of a simulated stack of diffraction images. */
#ifndef AIRY_JOBS_SIMULATE_SIMULATED_H
#define AIRY_JOBS_SIMULATE_SIMULATED_H

#include "airy/calibrate.h"
#include "base/error.h"

/* What frames are made from; the threads only read it. */
struct airy_simulated {
    airy_dtype dtype;
    uint64_t seed;
    size_t increment; /* frame i has (i mod increment) added; 0: nothing */
    size_t distinct;  /* frame i is drawn as frame i mod distinct is; 0: each by itself */
    bool incompressible;
    const double *mean;   /* [pixels]; not read where incompressible */
    const uint8_t *mask;  /* [pixels], marks gaps, or NULL */
    const uint32_t *base; /* [pixels] of airy_simulated_draw, with distinct = 1; or NULL */
    size_t spots;         /* Bragg spots of each frame, at places of its own */
    size_t width;         /* of a frame, pixels */
    size_t pixels;
    uint32_t limit; /* most counts a pixel takes */
};

/* dtype, pixels and limit; the rest is zero. */
void airy_simulated_begin(struct airy_simulated *s, airy_dtype dtype,
                          const airy_geometry *geometry);
/* The counts of stream 0, for base, by so many threads; 0: as many as the process may use. */
airy_status airy_simulated_draw(const struct airy_simulated *s, uint32_t *counts, unsigned threads);
/* Make one frame: an airy_frame_make_fn (airy/stack_write.h) of a struct airy_simulated. */
airy_status airy_simulated_frame(void *user, size_t index, void *frame);
/* Frame i is the same as frame i + period; 0: there is no period. */
size_t airy_simulated_period(const struct airy_simulated *s);

/* Powder rings: Gaussians of 2theta on a level background. */
struct airy_simulated_rings {
    double height, background; /* mean counts */
    double width_px; /* full width at half maximum, pixels where the detector is nearest */
};
/* The mean counts of every pixel. */
airy_status airy_simulated_rings(double *mean, const airy_geometry *geometry,
                                 const airy_calibrant *calibrant,
                                 const struct airy_simulated_rings *rings);

/* Where the beam, distance and curve are not given. */
enum { AIRY_SIMULATED_POINTS = 15 };
void airy_simulated_curve(double q[AIRY_SIMULATED_POINTS], double curve[AIRY_SIMULATED_POINTS]);
/* Set the distance by the detector's size. */
void airy_simulated_distance(airy_geometry *geometry);

#endif
