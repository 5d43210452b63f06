/* What the two files of convolution share: cl_convolve.c, cl_convolve_fft.c. */
#ifndef AIRY_OPENCL_CL_CONVOLVE_H
#define AIRY_OPENCL_CL_CONVOLVE_H

#include "filter/filter_fns.h"

/* The device has the arithmetic and the work-groups that convolution needs. */
airy_status airy_cl_convolve_check(const airy_queue *queue, const struct airy_convolve_plan *plan);

/* Entries of airy_filter_opencl. */
double airy_cl_fft_work(const airy_queue *queue, struct airy_convolve_plan *plan);
airy_status airy_cl_fft(airy_queue *queue, const struct airy_convolve_plan *plan);

#endif
