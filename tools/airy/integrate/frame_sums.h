/* The sums of single frames, one after another: what comparisons with kept rows are made of. */
#ifndef AIRY_TOOLS_INTEGRATE_FRAME_SUMS_H
#define AIRY_TOOLS_INTEGRATE_FRAME_SUMS_H

#include "integrate/integrate.h"

/* Buffers of one frame on its way. Thread-safety: one thread at a time. */
struct frame_sums {
    airy_queue *queue;
    airy_array *frame, *sums, *stats;
    double *values;         /* [AIRY_SUM_PLANES][bins], the caller's */
    airy_frame_stats about; /* of the last frame */
    size_t pixels_size, sums_size;
};

/* frame_sums_close in any case. */
airy_status frame_sums_open(struct frame_sums *f, const struct integration *job, double *values);
void frame_sums_close(struct frame_sums *f);
/* Integrate a frame: f->values and f->about. pixels: f->pixels_size bytes. */
airy_status frame_sums_take(struct frame_sums *f, const struct integration *job,
                            const void *pixels);

#endif
