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

/* One bin of one frame, kept entries first; with room for AIRY_RING_LANES more. */
struct airy_ring_bin {
    size_t count;
    double *raw, *s, *omega;
    double *c; /* NULL: all 1 */
    double *v; /* terms of the variance by poisson or by the given one, or NULL */
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

/* Of the entries that lie in |s - omega mid| <= half |omega|; t is s - omega pivot. */
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
    /* s = weight raw, omega = weight factor, or omega = factor where unweighted. */
    void (*terms)(struct airy_ring_bin *ring, const float *weight, const float *factor,
                  bool unweighted);
    void (*sum)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring, double pivot,
                double mid, double half);
    /* x = s / omega, g = rint(|omega| scale) of the ring's entries; the sum of g. */
    double (*values)(double *x, double *g, const struct airy_ring_bin *ring, double scale);
    /* Entries in [lo, hi], in order; those below lo are counted, and their g added up. */
    size_t (*split)(struct airy_ring_list *inside, double *below, const struct airy_ring_list *all,
                    double lo, double hi);
    /* The same sums as above of a run. */
    void (*sum_run)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring,
                    const struct airy_ring_run *run, double pivot);
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
    uint32_t *pixel;                    /* [most] of the ring's entries, where some were left out */
    struct airy_ring_list all, list[2]; /* [most] quantile filter */
    uint64_t *gone; /* [pixels / 64] compat: rejected by a bin before, or NULL */
};

/* The five sums of a bin to out[k * bins]. */
void airy_rings_clip(struct airy_ring_task *task, double *out, size_t bins);
void airy_rings_clip_compat(struct airy_ring_task *task, double *out, size_t bins);
/* Sums of the ring's entries in mid +- half, or of a run; v is the sum that `by` names. */
void airy_rings_sum(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by,
                    double pivot, double mid, double half, const struct airy_ring_run *run);
void airy_rings_put(double *out, size_t bins, const struct airy_ring_sums *sums);
void airy_rings_quantile(struct airy_ring_task *task, double scale, double *out, size_t bins);

#endif
