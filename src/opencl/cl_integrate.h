/* The integrator on an OpenCL device, between the files of the back end. */
#ifndef AIRY_OPENCL_CL_INTEGRATE_H
#define AIRY_OPENCL_CL_INTEGRATE_H

#include "integrate/integrate_fns.h"
#include "opencl/cl_lanes.h"

enum {
    AIRY_GATHER_PIECE = 2048, /* entries of a row that one work-group adds up */
    AIRY_GATHER_GROUP = 64,   /* its items; part of the order of sums, so the same everywhere */
    AIRY_GATHER_FRAMES = 4,   /* that share a read of the matrix */
    AIRY_STAT_PIECE = 16384   /* pixels; STAT_PIECE of integrate.cl */
};

/* The fused engine's form: see fused_geom.h and kernels/integrate_blocks.cl. */
struct airy_cl_fused {
    const char *why; /* why there is none, static text; NULL: it is there */
    unsigned fraction_bits;
    size_t extra_count;
    double normalization_scale, normalization2_scale, dark_scale;
    airy_buffer *table;        /* u32, in tiles of 1,024 pixels */
    airy_buffer *valid_words;  /* u32 a group of 32 pixels: those that count */
    airy_buffer *extra_start;  /* u32 [tiles + 1] */
    airy_buffer *extra;        /* airy_fused_extra, by pixel */
    airy_buffer *base;         /* u64 [5][bins]: normalization, normalization2, count, dark,
                                  squares */
    airy_buffer *base_entries; /* u32 [bins] */
    airy_buffer *shift;        /* u32 [bins] */
};

/* airy_integrator.state */
struct airy_cl_integrator {
    airy_buffer *pixel, *weight; /* [entries], by bin */
    airy_buffer *coef;           /* [entries] by bin where it differs from weight, else NULL */
    airy_buffer *pieces, *row;   /* airy_gather_piece [piece_count]; u32 [bins + 1]: each bin's
                                    pieces */
    airy_buffer *norm, *dark, *variance, *valid; /* [pixels]; dark and variance may be NULL */
    airy_buffer *base;         /* f64 [5][bins]: normalization, normalization2, count, dark,
                                  variance */
    airy_buffer *piece_base;   /* f64 [piece_count][5], the pieces' part in base */
    airy_buffer *base_entries; /* u32 [bins] */
    size_t piece_count, stat_pieces;
    struct airy_cl_fused fused;
};

/* Device memory with `size` bytes from the host in it. */
airy_status airy_cl_upload(airy_buffer **buffer, airy_queue *queue, const void *data, size_t size,
                           const char *what);

/* Make the fused form, or say in fused->why why the integrator has none. */
airy_status airy_cl_fused_prepare(struct airy_cl_fused *fused, airy_queue *queue,
                                  const airy_integrator *integrator);
bool airy_cl_fused_takes(const struct airy_integrate_plan *plan, const struct airy_cl_lanes *lanes);
airy_status airy_cl_fused_run(airy_queue *queue, const struct airy_integrate_plan *plan,
                              const struct airy_cl_lanes *lanes);

airy_status airy_cl_gather(airy_queue *queue, const struct airy_integrate_plan *plan);

#endif
