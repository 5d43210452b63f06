/*
 * What a back end does for the peaks family: curves of each frame's sums, kept pixels and peaks in
 * raster order (include/airy/peaks.h). The arithmetic of a pixel is in shared/peaks_geom.h.
 */
#ifndef AIRY_PEAKS_PEAKS_FNS_H
#define AIRY_PEAKS_PEAKS_FNS_H

#include "airy/peaks.h"
#include "integrate/integrator.h"
#include "shared/peaks_geom.h"

/* Immutable after create. */
struct airy_peak_finder {
    airy_device *device;
    const airy_integrator *integrator;
    struct airy_corrections corrections;
    airy_peak_params params; /* defaults filled in */
    airy_peaks_geom geom;    /* what no call changes */
    airy_pixel_test test[AIRY_DTYPE_COUNT];
    bool takes[AIRY_DTYPE_COUNT]; /* frames of that type */
    uint32_t *place;              /* [pixels] bin and place between it and the next: geom.shift */
    float *scale;                 /* [pixels] 1 / n, 0 where the pixel does not count */
    void *state;                  /* the back end's own; peaks_fns->release */
};

struct airy_peaks_plan {
    const airy_peak_finder *finder;
    const airy_peak_lists *lists; /* out */
    const airy_array *sums, *frames;
    airy_dtype dtype;     /* of the frames */
    airy_peaks_geom geom; /* complete but for places of elements, which are the OpenCL back end's */
};

struct airy_peaks_fns {
    /* NULL: nothing to prepare. */
    airy_status (*prepare)(airy_peak_finder *finder);
    void (*release)(airy_peak_finder *finder);
    airy_status (*find)(airy_queue *queue, const struct airy_peaks_plan *plan);
};
extern const struct airy_peaks_fns airy_peaks_cpu, airy_peaks_opencl;

#endif
