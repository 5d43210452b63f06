/*
 * Sigma clipping and the quantile filter by bin on the CPU, between their own files.
 *
 * The entries of a bin are gathered once a frame, in ascending order of pixels; all that follows
 * goes over this copy. A sum over it is AIRY_RING_LANES sums of the entries whose place modulo
 * AIRY_RING_LANES is the same, added in ascending order, with products rounded before they are
 * added: the same on all instruction sets.
 */
#ifndef AIRY_CPU_CPU_RINGS_H
#define AIRY_CPU_CPU_RINGS_H

#include "cpu/cpu_integrate.h"

enum { AIRY_RING_LANES = 8 };

/* The matrix by bin, in the order of integrator->matrix.pixel. */
struct airy_cpu_rings {
    float *weight; /* [entries] */
    float *factor; /* [entries] weighted: norm, omega is weight factor; unweighted: omega itself */
    bool ones;     /* every weight is 1, so that sum c is the number of entries */
    bool zeros;    /* some weight is 0 */
    size_t chunks, most; /* most: entries of the fullest bin */
    uint32_t *chunk;     /* [chunks + 1] first bins of runs with some AIRY_RING_CHUNK entries */
};

/* What s, omega and c of an entry come from: raw, weight and factor. */
enum airy_ring_weights {
    AIRY_RING_ONES,       /* raw, factor and 1: every weight is 1 */
    AIRY_RING_WEIGHTED,   /* weight raw, weight factor and weight */
    AIRY_RING_UNWEIGHTED, /* weight raw, factor and factor */
    AIRY_RING_TERMS       /* they are there */
};

enum airy_ring_variances {
    AIRY_RING_ABOUT_PIVOT, /* none, but squares */
    AIRY_RING_BY_COUNTS,   /* weight^2 max(1, raw) */
    AIRY_RING_BY_ENTRY     /* v */
};

/* Entries of one bin of one frame. What lies behind the last one can be read, raw is NaN there. */
struct airy_ring_bin {
    size_t count;
    enum airy_ring_weights weights;
    enum airy_ring_variances variances;
    double *raw; /* less dark */
    const float *weight, *factor;
    double *v;
    double *s, *omega, *c; /* AIRY_RING_TERMS, of which raw is s */
};

/* |s - omega mid| <= half |omega| */
struct airy_ring_window {
    double pivot, mid, half;
};

/* Entries by value: x ascending where it is sorted, at: which of the ring's it is. */
struct airy_ring_list {
    size_t count;
    double *x, *g; /* g: rounded weights, whose sums are exact */
    uint32_t *at;  /* NULL: all of the ring's, in order */
};

/* From one entry to another in the order of (x, at), both with it. */
struct airy_ring_run {
    double first, last;
    double first_at, last_at;
    const double *x; /* of all entries of the ring */
};

/* Of the entries in a window or a run; t is s - omega pivot. */
struct airy_ring_sums {
    double s, omega, omega2, c, v, t2, t_omega;
    double kept;
};

/* Kernels of an instruction set. Arrays have room for AIRY_RING_LANES more elements. */
struct airy_ring_kernels {
    /* Raw values of n pixels. */
    void (*gather[AIRY_DTYPE_COUNT])(double *raw, const void *pixels, const uint32_t *pixel,
                                     size_t n);
    /* Whether any value is not finite or in [lo, hi]. */
    bool (*any_bad)(const double *raw, size_t n, double lo, double hi);
    /* run: NULL, or instead of the window, which gives the pivot. */
    void (*sum)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring,
                const struct airy_ring_window *window, const struct airy_ring_run *run);
    /* The sums of a window, and the terms of all that lies outside of it. */
    void (*cut)(struct airy_ring_sums *sums, struct airy_ring_bin *outside,
                const struct airy_ring_bin *ring, const struct airy_ring_window *window);
    /* x = s / omega, g = rint(|omega| scale) of the ring's entries; the sum of g, and the largest. */
    double (*values)(double *x, double *g, double *heaviest, const struct airy_ring_bin *ring,
                     double scale);
    /* Those of rank lo and hi of n values, n a multiple of AIRY_RING_LANES. */
    void (*ranked)(double found[2], const double *values, size_t n, size_t lo, size_t hi);
    /* Entries in [lo, hi], in order; how many are below. weights: sums of g, of those below and inside. */
    size_t (*split)(struct airy_ring_list *inside, double weights[2],
                    const struct airy_ring_list *all, double lo, double hi);
};

extern const struct airy_ring_kernels airy_rings_portable;
#if defined(__x86_64__)
extern const struct airy_ring_kernels airy_rings_avx2, airy_rings_avx512;
#endif
const struct airy_ring_kernels *airy_ring_kernels(void);

/* cpu_rings_matrix.c */
airy_status airy_cpu_rings_make(struct airy_cpu_rings **rings, uint64_t *bytes,
                                const airy_integrator *integrator);
void airy_cpu_rings_free(struct airy_cpu_rings **rings);

/* One bin in work: scratch of a worker, and what it is made from. */
struct airy_ring_task {
    const struct airy_integrate_job *job;
    const struct airy_cpu_rings *rings;
    const struct airy_ring_kernels *kernels;
    size_t frame; /* of the wave */
    double bad_lo, bad_hi;
    struct airy_ring_bin ring;
    /* [most] of the ring's entries, where some were left out. */
    float *weight, *factor;
    uint32_t *pixel;
    struct airy_ring_list all, list[2]; /* [most] quantile filter */
    double heaviest;                    /* of all.g */
    /*
     * Clip: entries outside of the core, which no cycle rejects, with the sums of those inside; with
     * compat all of them.
     */
    struct airy_ring_bin tail;
    struct airy_ring_sums core;
    struct airy_ring_window inner; /* the core; half < 0: there is none */
    airy_u32 core_by;              /* whose variances are in its sums */
    uint64_t *gone;                /* [pixels / 64] compat: rejected by a bin before; or NULL */
};

/* The five sums of a bin to out[k * bins]. */
void airy_rings_clip(struct airy_ring_task *task, double *out, size_t bins);
void airy_rings_clip_compat(struct airy_ring_task *task, double *out, size_t bins);
/* Sums of the ring's entries in a window or a run; v is the sum that `by` names. */
void airy_rings_sum(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by,
                    const struct airy_ring_window *window, const struct airy_ring_run *run);
void airy_rings_put(double *out, size_t bins, const struct airy_ring_sums *sums);
void airy_rings_quantile(struct airy_ring_task *task, double scale, double *out, size_t bins);

#endif
