/* Parts of check_opencl: a driver that refuses, and one that can do more. */
#ifndef AIRY_TESTS_CHECK_CL_FAULTS_H
#define AIRY_TESTS_CHECK_CL_FAULTS_H

#include "check.h"

/* What the list says of devices that cannot be used; needs no device. */
void check_cl_reasons(struct check *c);
/* Failing calls of an open device. */
void check_cl_faults(struct check *c);
/*
 * From now on kernels of a device that runs on the host work in its memory, as NVIDIA's do over the
 * link.
 */
void check_cl_share(airy_device *device);

#endif
