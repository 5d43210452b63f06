/* What an OpenCL device admits of the tunable sizes: the `tuning` of struct airy_backend. */
#ifndef AIRY_OPENCL_CL_TUNING_H
#define AIRY_OPENCL_CL_TUNING_H

#include "core/objects.h"

void airy_cl_tuning(const airy_device *device, struct airy_tuning *tuning);

#endif
