/*
 * How blocks are shared out on a device: build options LANES, BLOCKS, PORTABLE of lz4_block.h.
 * Tests force each of them.
 */
#ifndef AIRY_OPENCL_CL_LANES_H
#define AIRY_OPENCL_CL_LANES_H

#include "opencl/cl_device.h"

struct airy_cl_lanes {
    unsigned lanes;         /* 1, 32 or 64 items share a block */
    unsigned blocks;        /* a work-group; more than 1 only with lanes 1, or 32 on NVIDIA */
    bool portable;          /* barriers even where the lanes are a warp */
    bool as_warp;           /* a warp's code where there is none, with barriers; for tests */
    bool unoptimised;       /* by the OpenCL compiler; for tests */
    unsigned together;      /* from so many frames on, they are summed together; 0: never */
    unsigned shares;        /* of a frame then, a lane each: 1, 2, 4 or 8; 0: as many as fit */
    unsigned range;         /* blocks whose planes are kept at a time; 0: as memory allows */
    unsigned planes_blocks; /* as blocks, where frames are summed together; 0: as blocks */
};

/* As they are tuned: for decoding, and for sums of compressed frames. */
struct airy_cl_lanes airy_cl_lanes_of(const airy_device *device);
struct airy_cl_lanes airy_cl_fused_lanes(const airy_device *device);
/* As build options; text has at least 96 bytes. */
void airy_cl_lanes_options(char *text, size_t size, const struct airy_cl_lanes *lanes);

#endif
