/*
 * A tree of boxes over points, each with two numbers of which a box knows the largest: to find
 * points without looking at those that cannot matter.
 */
#ifndef AIRY_SOURCES_PLACE_TREE_H
#define AIRY_SOURCES_PLACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

enum { AIRY_PLACE_LEVELS = 32 };

struct airy_place_point {
    double x, y, value[2];
};

struct airy_place_box {
    double x[2], y[2], most[2];
};

struct airy_place_tree {
    const struct airy_place_point *point; /* the caller's */
    uint32_t *order;                      /* points along a curve that fills the plane */
    struct airy_place_box *box; /* leaves first, then the boxes over two of them, ..., the root */
    size_t count;
    int levels;
    size_t first[AIRY_PLACE_LEVELS], boxes[AIRY_PLACE_LEVELS]; /* of each level, leaves first */
};

/* point: stays the caller's, for as long as the tree; finite, fewer than 2^31. */
airy_status airy_place_tree_make(struct airy_place_tree *tree, const struct airy_place_point *point,
                                 size_t count);
void airy_place_tree_free(struct airy_place_tree *tree);
/*
 * Call visit for every point of the boxes that enter lets pass. enter gets the square of the
 * distance of (x, y) from the box and the box's largest values. The order is always the same, and
 * near boxes come first.
 */
void airy_place_tree_walk(const struct airy_place_tree *tree, double x, double y,
                          bool (*enter)(void *arg, double distance2, const double most[2]),
                          void (*visit)(void *arg, uint32_t point), void *arg);

#endif
