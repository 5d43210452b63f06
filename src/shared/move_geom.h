/* Moving elements, and projections, on a device. The same on host and device. */
#ifndef AIRY_SHARED_MOVE_GEOM_H
#define AIRY_SHARED_MOVE_GEOM_H

#include "shared/scalar.h"

/* Axes slowest first, x last; steps in elements. */
typedef struct airy_move_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 dst_step[4];
    airy_i64 n[4];     /* of dst */
    airy_i64 table[4]; /* where an axis' places begin */
    airy_u64 pattern;  /* what stands for elements that are not there */
} airy_move_geom;
AIRY_ASSERT_SIZE(airy_move_geom, 120);

typedef struct airy_project_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 src_step[4], dst_step[4];
    airy_i64 n[4], factor[4]; /* of dst; of a box */
} airy_project_geom;
AIRY_ASSERT_SIZE(airy_project_geom, 144);

/* airy_projection */
#define AIRY_PROJECT_OP_MEAN   0
#define AIRY_PROJECT_OP_SUM    1
#define AIRY_PROJECT_OP_MAX    2
#define AIRY_PROJECT_OP_MIN    3
#define AIRY_PROJECT_OP_STD    4
#define AIRY_PROJECT_OP_MEDIAN 5

#endif
