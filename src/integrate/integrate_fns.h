/*
 * What a back end does for the integrate family.
 *
 * Every call writes all five planes of every frame: the integrator's base sums less what this
 * frame's invalid pixels contribute. A bin whose entries are all gone is exactly 0 in all planes.
 * Variance plane: 0 for error model none.
 * Poisson: base_variance + sum weight^2 (max(1, raw) - 1). Azimuthal: sum (weight' )^2 (b -
 * mean)^2 with weight' = coef norm, b = (raw - dark) / n, mean = signal / normalization; with
 * compat pyfai the one-pass recurrence in ascending pixel order,
 *   V += w^2 (x - mean_before)(x - mean_after), which CSR, CSC, LUT and histogram share.
 * Integrators whose ring.kind is not AIRY_RING_NONE (clip, quantile) go to rings() instead of
 * integrate(), with the same plan; base sums are of no use there but for base_entries and
 * airy_integrator_ring_scale. A bin none of whose entries is kept is exactly 0 in all planes.
 * stats: total and max over the pixels that count and are not invalid; invalid and saturated over
 * the pixels that count.
 */
#ifndef AIRY_INTEGRATE_INTEGRATE_FNS_H
#define AIRY_INTEGRATE_INTEGRATE_FNS_H

#include "codec/chunks.h"
#include "integrate/integrator.h"

struct airy_integrate_plan {
    const airy_integrator *integrator;
    airy_pixel_test test;
    const airy_array *sums;   /* out, f64 [n, AIRY_SUM_PLANES, bins], tight */
    const airy_array *stats;  /* out, u8 [n, 32], tight */
    const airy_array *frames; /* in, [n, height, width], tight; NULL for chunks */
    const airy_array
        *status; /* in, u32 [n] from the decoder, or NULL: frames that are bad get sums 0 and
                    this status */
    struct airy_chunks chunks; /* in, for integrate_chunks */
    /*
     * Of frames that are good and without invalid pixels the caller takes the integrator's base
     * sums: their planes from AIRY_SUM_NORMALIZATION on, and without an error model
     * AIRY_SUM_VARIANCE, need not be written.
     */
    bool lean;
};

struct airy_integrate_fns {
    /*
     * Before prepare, or NULL: corrections, the rule's axes, limits, base sums and the number of
     * the matrix's entries. made false: the front does it. params: those of create, with arrays.
     */
    airy_status (*split)(airy_integrator *integrator, const airy_integrator_params *params,
                         bool *made);
    /* The corrections that split has made, [pixels]; dark: where the integrator has one. Any
     * thread. */
    airy_status (*pull_corrections)(const airy_integrator *integrator, float *norm, float *dark);
    /* Make the device's form of the integrator: state, state_bytes, engine. */
    airy_status (*prepare)(airy_integrator *integrator);
    void (*release)(airy_integrator *integrator);
    airy_status (*integrate)(airy_queue *queue, const struct airy_integrate_plan *plan);
    /* The same for clip and quantile. NULL: the front refuses such integrators before prepare. */
    airy_status (*rings)(airy_queue *queue, const struct airy_integrate_plan *plan);
    /*
     * NULL, or declined by takes_chunks: the front decodes into queue scratch and calls integrate or
     * rings. takes_chunks is asked for both.
     */
    bool (*takes_chunks)(const struct airy_integrate_plan *plan);
    airy_status (*integrate_chunks)(airy_queue *queue, const struct airy_integrate_plan *plan);
};

/* airy_integrate_batch of a batch that is on the device already, in the order of the queue. */
airy_status airy_integrate_chunks(airy_queue *queue, airy_array *sums, airy_array *stats,
                                  const airy_integrator *integrator,
                                  const struct airy_chunks *chunks, bool lean);

extern const struct airy_integrate_fns airy_integrate_cpu, airy_integrate_opencl;

#endif
