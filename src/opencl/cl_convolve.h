/* What the files of convolution share: cl_convolve.c, cl_convolve_launch.c, cl_convolve_fft.c. */
#ifndef AIRY_OPENCL_CL_CONVOLVE_H
#define AIRY_OPENCL_CL_CONVOLVE_H

#include "filter/filter_fns.h"
#include "opencl/cl_launch.h"
#include "shared/filter_geom.h"

/* Where a pass reads or writes; steps in elements: image, z, y. */
struct airy_convolve_place {
    struct airy_cl_arg buffer;
    airy_dtype dtype;
    uint64_t offset;
    size_t step[3];
};

/* A pass: which axes it goes along, over what, with which weights. */
struct airy_convolve_pass {
    airy_queue *queue;
    struct airy_convolve_place src, dst;
    struct airy_filter_axis axis[3]; /* of one tap where it does not go along */
    airy_border border;
    size_t images;
    double outside;        /* what stands for elements that are not there */
    bool add, in_place;    /* in_place: src is dst, which airy_filter_in_place admits */
    bool unit;             /* each line of weights adds up to 1: constants are kept */
    const double *weights; /* of x in front, airy_filter_rounded, where there are two lines */
    size_t weight_count;
    airy_filter_geom geom;
};

/* A kernel and its group, with what it needs of local memory. */
struct airy_convolve_shape {
    const char *file, *kernel, *options;
    size_t group, memory; /* bytes; 0: none that is handed over */
};

/* Elements of the result's dtype in a unit of local memory. */
size_t airy_convolve_units(const struct airy_convolve_pass *pass);
/*
 * How many weights go by value: a copy to the device would take longer than many a pass. 0: they go in
 * a buffer.
 */
size_t airy_convolve_table(const struct airy_convolve_pass *pass);
/* Launch a kernel for a pass, in one row of work-groups or a box of them. */
airy_status airy_convolve_launch(struct airy_convolve_pass *pass,
                                 const struct airy_convolve_shape *shape, size_t groups);
airy_status airy_convolve_launch_box(struct airy_convolve_pass *pass,
                                     const struct airy_convolve_shape *shape,
                                     const size_t groups[3]);

/* The device has the arithmetic and the work-groups that convolution needs. */
airy_status airy_cl_convolve_check(const airy_queue *queue, const struct airy_convolve_plan *plan);

/* Entries of airy_filter_opencl. */
double airy_cl_fft_work(const airy_queue *queue, struct airy_convolve_plan *plan);
airy_status airy_cl_fft(airy_queue *queue, const struct airy_convolve_plan *plan);

#endif
