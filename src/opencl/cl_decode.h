/* Decoding on an OpenCL device. */
#ifndef AIRY_OPENCL_CL_DECODE_H
#define AIRY_OPENCL_CL_DECODE_H

#include "codec/codec_fns.h"
#include "opencl/cl_lanes.h"

enum {
    AIRY_CL_BLOCK_BYTES = 8192, /* the largest block that is decoded in local memory */
    AIRY_CL_BLOCK_LOCAL = AIRY_CL_BLOCK_BYTES + AIRY_STAGE_MARGIN +
                          AIRY_STEP_BYTES /* what it takes */
};

/*
 * The entry of airy_codec_opencl for any way to share out blocks; large: through the general
 * kernels in any case.
 */
airy_status airy_cl_decode(airy_queue *queue, const struct airy_decode_plan *plan,
                           const struct airy_cl_lanes *lanes, bool large);

#endif
