/*
 * Programs: a kernel file and build options, compiled on first use and kept as long as the device.
 */
#ifndef AIRY_OPENCL_CL_PROGRAM_H
#define AIRY_OPENCL_CL_PROGRAM_H

#include "opencl/cl_device.h"

/*
 * A file under kernels/ with the prelude in front and its shared headers inside; made by
 * scripts/embed_kernels.py.
 */
struct airy_cl_source {
    const char *name; /* "decode.cl" */
    const char *text;
    size_t size; /* without the final 0 */
};
extern const struct airy_cl_source airy_cl_sources[];
extern const size_t airy_cl_source_count;

/*
 * The program, compiled if need be; stays with the device. Two threads that ask for the same one
 * compile it once.
 * Errors: AIRY_ERR_DEVICE with the compiler's first error; the whole log goes to the log at level
 * debug. Thread-safety: any thread.
 */
airy_status airy_cl_program_get(struct airy_cl_device *device, const char *file,
                                const char *options, cl_program *program);
void airy_cl_programs_release(struct airy_cl_device *device);

#endif
