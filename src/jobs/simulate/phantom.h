/*
 * A piece of simulated tissue: layers under a curved surface, full of scatterers whose sum is
 * speckle, and a vessel with flow. What a line of it scatters back, bin by bin.
 */
#ifndef AIRY_JOBS_SIMULATE_PHANTOM_H
#define AIRY_JOBS_SIMULATE_PHANTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AIRY_PHANTOM_BEAM = 64 };

struct airy_phantom {
    uint64_t seed;
    size_t depth, lines, places; /* bins, lines of a frame, frames at different places */
    size_t beam;                 /* lines that one speckle is wide */
    double flow;                 /* turns from line to line in the middle of the vessel */
};

/* A line's place and time. */
struct airy_phantom_line {
    double x;      /* lines from the frame's left edge */
    size_t place;  /* 0 to places - 1 */
    uint64_t time; /* lines since the recording began */
    uint64_t frame;
};

/* Columns of scatterers that were drawn already; one a thread. Zeroed is empty. */
struct airy_phantom_scratch {
    float *column[2];   /* of tissue and blood: [2 beam][2][depth] */
    uint64_t *drawn[2]; /* which one is there, plus 1; 0: none */
    uint64_t stream[2];
    float *sum[2];   /* [2][depth] */
    uint32_t *words; /* [4 depth] */
};

/* A vessel's cross-section: middle and half width, in lines and in bins. */
struct airy_phantom_vessel {
    double x, z, width, height;
};

/* part: of all places, 0 to 1. */
struct airy_phantom_vessel airy_phantom_find_vessel(const struct airy_phantom *phantom,
                                                    double part);
bool airy_phantom_begin(struct airy_phantom_scratch *scratch, const struct airy_phantom *phantom);
void airy_phantom_end(struct airy_phantom_scratch *scratch);
/*
 * re, im: [depth], the field relative to the reference arm's that comes from each bin.
 */
void airy_phantom_field(const struct airy_phantom *phantom, struct airy_phantom_scratch *scratch,
                        const struct airy_phantom_line *line, double *re, double *im);

#endif
