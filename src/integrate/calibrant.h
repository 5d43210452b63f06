/* The rings of a calibrant while they are collected. */
#ifndef AIRY_INTEGRATE_CALIBRANT_H
#define AIRY_INTEGRATE_CALIBRANT_H

#include "airy/calibrate.h"

struct airy_growing_rings {
    airy_calibrant_ring *rings; /* released with free() */
    size_t count, room;
};
/* Append a ring. Returns false when memory is short. */
bool airy_rings_add(struct airy_growing_rings *g, const airy_calibrant_ring *ring);
/*
 * Sort the rings, merge those of one spacing, and keep the first AIRY_CALIBRANT_RINGS. Returns how
 * many are kept.
 */
size_t airy_rings_merge(airy_calibrant_ring *rings, size_t count);

#endif
