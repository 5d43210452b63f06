/* Moves and projections. */
#ifndef AIRY_OPENCL_CL_MOVE_H
#define AIRY_OPENCL_CL_MOVE_H

#include "element/element_fns.h"

/* A dtype and its limits in OpenCL C. */
struct airy_cl_type {
    const char *name, *min, *max;
};
extern const struct airy_cl_type airy_cl_types[AIRY_DTYPE_COUNT]; /* cl_types.c */

airy_status airy_cl_move(airy_queue *queue, const struct airy_move_plan *plan);
airy_status airy_cl_project(airy_queue *queue, const struct airy_project_plan *plan);

#endif
