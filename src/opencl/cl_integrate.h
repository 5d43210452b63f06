/* The integrator on an OpenCL device, between the files of the back end. */
#ifndef AIRY_OPENCL_CL_INTEGRATE_H
#define AIRY_OPENCL_CL_INTEGRATE_H

#include <pthread.h>

#include "integrate/integrate_fns.h"
#include "opencl/cl_lanes.h"
#include "shared/gather_geom.h"
#include "shared/split_geom.h"

/* The fused engine's form: see fused_geom.h and kernels/integrate_blocks.cl. */
struct airy_cl_fused {
    const char *why; /* why there is none, static text; NULL: it is there */
    unsigned fraction_bits;
    size_t extra_count;
    double normalization_scale, normalization2_scale, dark_scale;
    airy_buffer *table;        /* u32, in tiles of 1,024 pixels */
    airy_buffer *parts;        /* u32, the table for frames summed together; NULL: there are too
                                  many pixels */
    airy_buffer *valid_words;  /* u32 a group of 32 pixels: those that count */
    airy_buffer *extra_start;  /* u32 [tiles + 1] */
    airy_buffer *extra;        /* airy_fused_extra, by pixel */
    airy_buffer *base;         /* u64 [5][bins]: normalization, normalization2, count, dark,
                                  squares */
    airy_buffer *base_entries; /* u32 [bins] */
    airy_buffer *shift;        /* u32 [bins] */
};

/*
 * What frames in device memory are summed with, made when the first such frame comes: see
 * gather_geom.h.
 */
struct airy_cl_gather {
    bool ready;
    size_t unit_count, slots, tiles;
    airy_buffer *units, *segments; /* airy_gather_unit, airy_gather_segment */
    airy_buffer *places, *weight;  /* u16, f32: entries by unit */
    airy_buffer *coef;             /* f32, where it differs from weight, else NULL */
    airy_buffer *row, *slot_base;  /* u32 [bins + 1]: each bin's slots; f64 [slots][5] */
    airy_buffer *valid;            /* u32: which pixels count */
    airy_buffer *variance;         /* f32 [pixels] or NULL */
    airy_buffer *base;             /* f64 [5][bins]: normalization, normalization2, count, dark,
                                      variance */
    airy_buffer *base_entries;     /* u32 [bins] */
    /* For the recurrence of the established packages alone: the matrix by bin. */
    airy_buffer *bin_pixel, *bin_weight, *bin_coef, *bin_row;
};

/*
 * What clips and quantiles walk: entries by bin, see ring_pass_geom.h. Compat's clip has all bins in
 * `large`, in ascending order.
 */
struct airy_cl_rings {
    size_t large, slices, entries;  /* bins of a work-group each; of an item each, in slices */
    airy_buffer *large_bins, *bins; /* airy_ring_bin; bins: of the slices */
    airy_buffer *pixel, *weight, *other, *dark, *variance; /* u32, f32; dark, variance: or NULL */
    airy_buffer *valid;                                    /* u32: a bit a pixel that counts */
};

/* What splitting on the device leaves for the tables. */
struct airy_cl_split {
    airy_queue *queue; /* the state's */
    airy_split_geom geom;
    airy_buffer *tiles, *rows;  /* airy_split_tile; sums of tiles */
    float *largest;             /* [bins] coefficient */
    float most_norm, most_dark; /* absolute values of pixels that count */
};

/* airy_integrator.state */
struct airy_cl_integrator {
    airy_queue *queue;           /* until the integrator is there */
    struct airy_cl_split *split; /* NULL: the host has split the pixels, and has the matrix; else
                                    until the integrator is there */
    airy_buffer *norm, *dark;    /* f32 [pixels]; dark may be NULL */
    pthread_mutex_t lock;        /* of gather while it is made */
    struct airy_cl_gather gather;
    struct airy_cl_fused fused;
    struct airy_cl_rings rings; /* of integrators with a ring rule, which have neither of the two */
};

/* The state, with a queue; once. */
airy_status airy_cl_integrator_begin(airy_integrator *integrator);
/* What is not there yet of norm and dark, on its way to the device. */
airy_status airy_cl_upload_corrections(airy_integrator *integrator);

/* See struct airy_integrate_fns. */
airy_status airy_cl_split(airy_integrator *integrator, const airy_integrator_params *params,
                          bool *made);
airy_status airy_cl_pull_corrections(const airy_integrator *integrator, float *norm, float *dark);
/*
 * Table, sums and extra entries, at most so many, of an integrator that was split here; scales,
 * fraction bits and shifts are there.
 */
airy_status airy_cl_split_table(struct airy_cl_fused *fused, const airy_integrator *integrator,
                                size_t most_extra);
void airy_cl_split_free(struct airy_cl_split **split);

#define AIRY_CL_TOO_MANY_EXTRA                                                                     \
    "too many pixels lie in more than two bins, or partly outside the range"
/* Return the bits of a fused weight's fraction, which the number of a bin leaves of a word. */
unsigned airy_cl_fraction_bits(const airy_integrator *integrator);
/* Why there is no fused form of such integrators, whatever their matrix; NULL: there may be one. */
const char *airy_cl_fused_declines(const airy_integrator *integrator);
/* Make the fused form, or say in fused->why why the integrator has none. */
airy_status airy_cl_fused_prepare(struct airy_cl_fused *fused, airy_queue *queue,
                                  const airy_integrator *integrator);
bool airy_cl_fused_takes(const struct airy_integrate_plan *plan, const struct airy_cl_lanes *lanes);
airy_status airy_cl_fused_run(airy_queue *queue, const struct airy_integrate_plan *plan,
                              const struct airy_cl_lanes *lanes);

/* The matrix in tiles; the other members are airy_cl_gather_prepare's. */
airy_status airy_cl_gather_table(struct airy_cl_gather *gather, airy_queue *queue,
                                 const airy_integrator *integrator);
/* List every buffer of a state, those of the gather engine first. */
enum { AIRY_CL_GATHER_BUFFERS = 15, AIRY_CL_BUFFERS = AIRY_CL_GATHER_BUFFERS + 18 };
void airy_cl_list_buffers(struct airy_cl_integrator *state, airy_buffer **list[AIRY_CL_BUFFERS]);
/* Make what airy_cl_gather needs, unless it is there. Any thread. */
airy_status airy_cl_gather_prepare(airy_queue *queue, const airy_integrator *integrator);
airy_status airy_cl_gather(airy_queue *queue, const struct airy_integrate_plan *plan);

/* Build options of gather_tile.h, what its kernels hold a pixel in, and their test of raw values. */
void airy_cl_frame_options(char *options, size_t size, const airy_integrator *integrator,
                           airy_dtype dtype, unsigned frames);
size_t airy_cl_held_size(airy_dtype dtype);
void airy_cl_word_test(airy_gather_geom *geom, const airy_pixel_test *test, airy_dtype dtype);

airy_status airy_cl_rings_prepare(struct airy_cl_rings *rings, airy_queue *queue,
                                  const airy_integrator *integrator);
airy_status airy_cl_rings(airy_queue *queue, const struct airy_integrate_plan *plan);

#endif
