/*
 * Sums, places and scans over the items of a work-group, in a fixed order; all items call. GROUP
 * must be defined: the items, a multiple of GROUP_ROWS. `room`: a struct group_room in local memory.
 * Warps exchange in registers and then through one entry each; elsewhere an item of the first
 * GROUP_ROWS goes over a row of entries, and all over what those found.
 */
#ifndef AIRY_KERNELS_GROUP_SUMS_H
#define AIRY_KERNELS_GROUP_SUMS_H

#ifdef AIRY_WARP
#define GROUP_ROWS (GROUP / AIRY_WARP)
#define GROUP_ROOM GROUP_ROWS
#else
#define GROUP_ROWS 32u
#define GROUP_ROW  (GROUP / GROUP_ROWS)
#define GROUP_ROOM GROUP
#endif

struct group_room {
    double a[GROUP_ROOM], b[GROUP_ROOM];
    uint c[GROUP_ROOM], d[GROUP_ROOM];
};

#ifdef AIRY_WARP
AIRY_INLINE double exchange_double(double v, uint m)
{
    uint2 u = as_uint2(v);
    u.x = AIRY_SHUFFLE_XOR(u.x, m);
    u.y = AIRY_SHUFFLE_XOR(u.y, m);
    return as_double(u);
}
#endif

AIRY_INLINE void group_counts(uint *c, uint *d, __local struct group_room *room)
{
    const uint i = get_local_id(0);
#ifdef AIRY_WARP
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
        *c += AIRY_SHUFFLE_XOR(*c, m);
        *d += AIRY_SHUFFLE_XOR(*d, m);
    }
    if (i % AIRY_WARP == 0u) {
        room->c[i / AIRY_WARP] = *c;
        room->d[i / AIRY_WARP] = *d;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *c = room->c[i % GROUP_ROWS];
    *d = room->d[i % GROUP_ROWS];
    for (uint m = GROUP_ROWS / 2u; m > 0u; m /= 2u) {
        *c += AIRY_SHUFFLE_XOR(*c, m);
        *d += AIRY_SHUFFLE_XOR(*d, m);
    }
#else
    room->c[i] = *c;
    room->d[i] = *d;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint c_row = 0u, d_row = 0u;
    for (uint k = 0u; k < GROUP_ROW && i < GROUP_ROWS; k++) {
        c_row += room->c[i * GROUP_ROW + k];
        d_row += room->d[i * GROUP_ROW + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < GROUP_ROWS) {
        room->c[i] = c_row;
        room->d[i] = d_row;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *c = *d = 0u;
    for (uint k = 0u; k < GROUP_ROWS; k++) {
        *c += room->c[k];
        *d += room->d[k];
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
}

AIRY_INLINE void group_sums(double *a, double *b, uint *c, uint *d, __local struct group_room *room)
{
    const uint i = get_local_id(0);
#ifdef AIRY_WARP
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
        *a += exchange_double(*a, m);
        *b += exchange_double(*b, m);
    }
    if (i % AIRY_WARP == 0u) {
        room->a[i / AIRY_WARP] = *a;
        room->b[i / AIRY_WARP] = *b;
    }
    group_counts(c, d, room); /* its first barrier stands between writing and reading */
    *a = room->a[i % GROUP_ROWS];
    *b = room->b[i % GROUP_ROWS];
    for (uint m = GROUP_ROWS / 2u; m > 0u; m /= 2u) {
        *a += exchange_double(*a, m);
        *b += exchange_double(*b, m);
    }
#else
    room->a[i] = *a;
    room->b[i] = *b;
    barrier(CLK_LOCAL_MEM_FENCE);
    double a_row = 0.0, b_row = 0.0;
    for (uint k = 0u; k < GROUP_ROW && i < GROUP_ROWS; k++) {
        a_row += room->a[i * GROUP_ROW + k];
        b_row += room->b[i * GROUP_ROW + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < GROUP_ROWS) {
        room->a[i] = a_row;
        room->b[i] = b_row;
    }
    group_counts(c, d, room);
    *a = *b = 0.0;
    for (uint k = 0u; k < GROUP_ROWS; k++) {
        *a += room->a[k];
        *b += room->b[k];
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
}

#ifdef AIRY_WARP
AIRY_INLINE void first_of_lanes(long *key, uint *at, uint lanes)
{
    for (uint m = lanes / 2u; m > 0u; m /= 2u) {
        const long k = as_long(exchange_double(as_double(*key), m));
        const uint place = AIRY_SHUFFLE_XOR(*at, m);
        const bool better = k < *key || (k == *key && place < *at);
        *key = better ? k : *key;
        *at = better ? place : *at;
    }
}
#endif

/* The least key, and of equal ones the first place. */
AIRY_INLINE void group_first(long *key, uint *at, __local struct group_room *room)
{
    const uint i = get_local_id(0);
    __local long *keys = (__local long *)room->a;
#ifdef AIRY_WARP
    first_of_lanes(key, at, AIRY_WARP);
    if (i % AIRY_WARP == 0u) {
        keys[i / AIRY_WARP] = *key;
        room->c[i / AIRY_WARP] = *at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *key = keys[i % GROUP_ROWS];
    *at = room->c[i % GROUP_ROWS];
    first_of_lanes(key, at, GROUP_ROWS);
#else
    keys[i] = *key;
    room->c[i] = *at;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 1u; k < GROUP_ROW && i < GROUP_ROWS; k++) {
        const uint from = i + k * GROUP_ROWS;
        const bool better = keys[from] < keys[i] ||
                            (keys[from] == keys[i] && room->c[from] < room->c[i]);
        keys[i] = better ? keys[from] : keys[i];
        room->c[i] = better ? room->c[from] : room->c[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *key = keys[0];
    *at = room->c[0];
    for (uint k = 1u; k < GROUP_ROWS; k++) {
        const bool better = keys[k] < *key || (keys[k] == *key && room->c[k] < *at);
        *key = better ? keys[k] : *key;
        *at = better ? room->c[k] : *at;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The sum over the items before; *total: over all. */
AIRY_INLINE uint group_scan(uint v, uint *total, __local struct group_room *room)
{
    const uint i = get_local_id(0);
    uint upto = v;
#ifdef AIRY_WARP
    const uint lane = i % AIRY_WARP;
    for (uint step = 1u; step < AIRY_WARP; step *= 2u) {
        const uint before = AIRY_SHUFFLE_UP(upto, step);
        upto += lane >= step ? before : 0u;
    }
    if (lane == AIRY_WARP - 1u)
        room->c[i / AIRY_WARP] = upto;
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = 0u;
    for (uint w = 0u; w < GROUP_ROWS; w++) {
        upto += w < i / AIRY_WARP ? room->c[w] : 0u;
        *total += room->c[w];
    }
#else
    room->c[i] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < GROUP_ROWS) {
        room->d[i] = 0u;
        for (uint k = 0u; k < GROUP_ROW; k++)
            room->d[i] += room->c[i * GROUP_ROW + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = 0u;
    for (uint k = 0u; k < GROUP_ROWS; k++) {
        upto += k < i / GROUP_ROW ? room->d[k] : 0u;
        *total += room->d[k];
    }
    for (uint k = i / GROUP_ROW * GROUP_ROW; k < i; k++)
        upto += room->c[k];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    return upto - v;
}

#endif
