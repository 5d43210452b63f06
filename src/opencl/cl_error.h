/* OpenCL's error codes as sentences. */
#ifndef AIRY_OPENCL_CL_ERROR_H
#define AIRY_OPENCL_CL_ERROR_H

#include "base/error.h"
#include "opencl/cl_loader.h"

/*
 * "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" for a code that no header names (until the next call
 * of this thread).
 */
const char *airy_cl_error_name(cl_int code);
/*
 * Report a failed call: AIRY_ERR_MEMORY for the codes that speak of memory, else AIRY_ERR_DEVICE.
 * device: the spec, for the sentence. what: the call, or "clEnqueueNDRangeKernel of decode_blocks".
 */
airy_status airy_cl_fail(cl_int code, const char *device, const char *what);

/* Forward a failed OpenCL call; device is a `const struct airy_cl_device *`. */
#define AIRY_CL_TRY(device, expr, what)                                                            \
    do {                                                                                           \
        const cl_int airy_cl_code_ = (expr);                                                       \
        if (airy_cl_code_ != CL_SUCCESS)                                                           \
            return airy_cl_fail(airy_cl_code_, (device)->spec, (what));                            \
    } while (0)

#endif
