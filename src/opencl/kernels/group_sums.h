/*
 * Sums, places and scans over the items of a work-group, in a fixed order; all items call. GROUP
 * must be defined: the items, a multiple of GROUP_ROWS. `room`: a struct group_room in local memory.
 * Warps that have something exchange in registers, then the first one what each came to; elsewhere
 * an item of
 * the first GROUP_ROWS goes over a row of entries, and all over what those found.
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

/* Two sums over a warp: the lower half of its items goes on with one, and has it then, the upper
 * with the other. */
AIRY_INLINE double warp_sums(double a, double b)
{
    const bool up = get_local_id(0) % AIRY_WARP >= AIRY_WARP / 2u;
    double s = up ? b : a;
    s += exchange_double(up ? a : b, AIRY_WARP / 2u);
#pragma unroll
    for (uint m = AIRY_WARP / 4u; m > 0u; m /= 2u)
        s += exchange_double(s, m);
    return s;
}

AIRY_INLINE uint warp_counts(uint a, uint b)
{
    const bool up = get_local_id(0) % AIRY_WARP >= AIRY_WARP / 2u;
    uint n = up ? b : a;
    n += AIRY_SHUFFLE_XOR(up ? a : b, AIRY_WARP / 2u);
#pragma unroll
    for (uint m = AIRY_WARP / 4u; m > 0u; m /= 2u)
        n += AIRY_SHUFFLE_XOR(n, m);
    return n;
}

/* The less of an item's key and another's, `m` items away, and of equal ones the first place. */
AIRY_INLINE void take_first(long *key, uint *at, long give, uint give_at, uint m)
{
    const long k = as_long(exchange_double(as_double(give), m));
    const uint place = AIRY_SHUFFLE_XOR(give_at, m);
    const bool better = k < *key || (k == *key && place < *at);
    *key = better ? k : *key;
    *at = better ? place : *at;
}

/* The least over a warp, of two as in warp_sums: both in the first key and place. */
AIRY_INLINE void warp_firsts(long *key, uint *at, long other_key, uint other_at)
{
    const bool up = get_local_id(0) % AIRY_WARP >= AIRY_WARP / 2u;
    const long give = up ? *key : other_key;
    const uint give_at = up ? *at : other_at;
    *key = up ? other_key : *key;
    *at = up ? other_at : *at;
    take_first(key, at, give, give_at, AIRY_WARP / 2u);
#pragma unroll
    for (uint m = AIRY_WARP / 4u; m > 0u; m /= 2u)
        take_first(key, at, *key, *at, m);
}
#endif

AIRY_INLINE void group_counts(uint *c, uint *d, __local struct group_room *room)
{
    const uint i = get_local_id(0);
#ifdef AIRY_WARP
    const uint lane = i % AIRY_WARP;
    if (AIRY_BALLOT(*c | *d) != 0u) {
#pragma unroll
        for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
            *c += AIRY_SHUFFLE_XOR(*c, m);
            *d += AIRY_SHUFFLE_XOR(*d, m);
        }
    }
    if (lane == 0u) {
        room->c[i / AIRY_WARP] = *c;
        room->d[i / AIRY_WARP] = *d;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < AIRY_WARP) {
        uint u = lane < GROUP_ROWS ? room->c[lane] : 0u, v = lane < GROUP_ROWS ? room->d[lane] : 0u;
#pragma unroll
        for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
            u += AIRY_SHUFFLE_XOR(u, m);
            v += AIRY_SHUFFLE_XOR(v, m);
        }
        if (lane == 0u) {
            room->c[0] = u;
            room->d[0] = v;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *c = room->c[0];
    *d = room->d[0];
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

#ifdef AIRY_WARP
AIRY_INLINE void group_sums(double *a, double *b, uint *c, uint *d, __local struct group_room *room)
{
    const uint i = get_local_id(0), lane = i % AIRY_WARP;
    if (AIRY_BALLOT(*c | *d) != 0u) {
        const double s = warp_sums(*a, *b);
        const uint n = warp_counts(*c, *d);
        if (lane == 0u) {
            room->a[i / AIRY_WARP] = s;
            room->c[i / AIRY_WARP] = n;
        }
        if (lane == 16u) {
            room->b[i / AIRY_WARP] = s;
            room->d[i / AIRY_WARP] = n;
        }
    } else if (lane == 0u) {
        room->a[i / AIRY_WARP] = room->b[i / AIRY_WARP] = 0.0;
        room->c[i / AIRY_WARP] = room->d[i / AIRY_WARP] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < AIRY_WARP) {
        double x = lane < GROUP_ROWS ? room->a[lane] : 0.0,
               y = lane < GROUP_ROWS ? room->b[lane] : 0.0;
        uint u = lane < GROUP_ROWS ? room->c[lane] : 0u, v = lane < GROUP_ROWS ? room->d[lane] : 0u;
#pragma unroll
        for (uint m = 16u; m > 0u; m /= 2u) {
            x += exchange_double(x, m);
            y += exchange_double(y, m);
            u += AIRY_SHUFFLE_XOR(u, m);
            v += AIRY_SHUFFLE_XOR(v, m);
        }
        if (lane == 0u) {
            room->a[0] = x;
            room->b[0] = y;
            room->c[0] = u;
            room->d[0] = v;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *a = room->a[0];
    *b = room->b[0];
    *c = room->c[0];
    *d = room->d[0];
    barrier(CLK_LOCAL_MEM_FENCE);
}
#else
AIRY_INLINE void group_sums(double *a, double *b, uint *c, uint *d, __local struct group_room *room)
{
    const uint i = get_local_id(0);
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
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#ifdef AIRY_WARP
AIRY_INLINE void first_of_lanes(long *key, uint *at, uint lanes)
{
    for (uint m = lanes / 2u; m > 0u; m /= 2u)
        take_first(key, at, *key, *at, m);
}
#endif

/* The least key, and of equal ones the first place. */
AIRY_INLINE void group_first(long *key, uint *at, __local struct group_room *room)
{
    const uint i = get_local_id(0);
    __local long *keys = (__local long *)room->a;
#ifdef AIRY_WARP
    const uint lane = i % AIRY_WARP;
    if (AIRY_BALLOT(*key != LONG_MAX) != 0u)
        first_of_lanes(key, at, AIRY_WARP);
    if (lane == 0u) {
        keys[i / AIRY_WARP] = *key;
        room->c[i / AIRY_WARP] = *at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < AIRY_WARP) {
        long best = lane < GROUP_ROWS ? keys[lane] : LONG_MAX;
        uint place = lane < GROUP_ROWS ? room->c[lane] : UINT_MAX;
        first_of_lanes(&best, &place, AIRY_WARP);
        if (lane == 0u) {
            keys[0] = best;
            room->c[0] = place;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *key = keys[0];
    *at = room->c[0];
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
    uint rows = lane < GROUP_ROWS ? room->c[lane] : 0u;
#pragma unroll
    for (uint step = 1u; step < GROUP_ROWS; step *= 2u) {
        const uint before = AIRY_SHUFFLE_UP(rows, step);
        rows += lane >= step ? before : 0u;
    }
    *total = AIRY_SHUFFLE(rows, GROUP_ROWS - 1u);
    const uint before = AIRY_SHUFFLE(rows, i / AIRY_WARP + AIRY_WARP - 1u);
    upto += i >= AIRY_WARP ? before : 0u;
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
