/*
 * A transform of N elements (a power of two from 16 on) by N / 8 items, each with 8 of them: element t
 * + g N / 8 is number g of item t, before and after. Steps of eight, and one of two or four for what is
 * left; between two steps elements change items through local memory, real parts first.
 *
 * Build options: N; W: float or double, W2 its pair.
 */
#ifndef AIRY_KERNELS_TRANSFORM_LINE_H
#define AIRY_KERNELS_TRANSFORM_LINE_H

#ifndef W
#define W  float
#define W2 float2
#endif
#ifndef N
#define N 64
#endif

#define EACH  8u
#define ITEMS (N / EACH) /* of a line */

AIRY_INLINE W2 times(W2 a, W2 b)
{
    return (W2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

AIRY_INLINE void step2(W2 *a, W2 *b)
{
    const W2 sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

/* Frequencies 0, 1, 2, 3 of a, b, c, d. */
AIRY_INLINE void step4(W2 *a, W2 *b, W2 *c, W2 *d)
{
    const W2 p = *a + *c, q = *a - *c, r = *b + *d, s = *b - *d;
    *a = p + r;
    *b = (W2)(q.x + s.y, q.y - s.x);
    *c = p - r;
    *d = (W2)(q.x - s.y, q.y + s.x);
}

AIRY_INLINE void step8(W2 *v)
{
    const W root = (W)0.70710678118654752440;
    step2(v, v + 4);
    step2(v + 1, v + 5);
    step2(v + 2, v + 6);
    step2(v + 3, v + 7);
    v[5] = root * (W2)(v[5].x + v[5].y, v[5].y - v[5].x);
    v[6] = (W2)(v[6].y, -v[6].x);
    v[7] = root * (W2)(v[7].y - v[7].x, -v[7].x - v[7].y);
    step4(v, v + 1, v + 2, v + 3);
    step4(v + 4, v + 5, v + 6, v + 7);
    /* The even ones are in front. */
    const W2 a1 = v[1], a2 = v[2], a3 = v[3];
    v[1] = v[4];
    v[2] = a1;
    v[3] = v[5];
    v[4] = a2;
    v[5] = v[6];
    v[6] = a3;
}

#define ROOM_AT(i) ((i) + (i) / 8u)

/* Number q of item t goes to place at + q * p; each item takes its own of the next step. */
AIRY_INLINE void exchange(W2 *v, __local W *room, uint t, uint at, uint p)
{
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0u; q < EACH; q++)
        room[ROOM_AT(at + q * p)] = v[q].x;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint g = 0u; g < EACH; g++)
        v[g].x = room[ROOM_AT(t + g * ITEMS)];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0u; q < EACH; q++)
        room[ROOM_AT(at + q * p)] = v[q].y;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint g = 0u; g < EACH; g++)
        v[g].y = room[ROOM_AT(t + g * ITEMS)];
}

/*
 * factor: exp(-2 pi i k / n) for k < n = N stride. All items of a group call it together. Barriers:
 * four a step of eight but the last.
 */
AIRY_INLINE void transform(W2 *v, __local W *room, uint t, __global const W2 *factor, uint stride)
{
    uint p = 1u;
#pragma unroll
    for (; p * 8u <= N; p *= 8u) {
        const uint k = t % p;
        if (p > 1u) {
#pragma unroll
            for (uint q = 1u; q < EACH; q++)
                v[q] = times(v[q], factor[q * k * (N / (8u * p)) * stride]);
        }
        step8(v);
        if (p * 8u < N)
            exchange(v, room, t, (t - k) * 8u + k, p);
    }
    if (p * 2u == N) {
#pragma unroll
        for (uint m = 0u; m < 4u; m++) {
            v[m + 4u] = times(v[m + 4u], factor[(t + m * ITEMS) * stride]);
            step2(v + m, v + m + 4u);
        }
    }
    if (p * 4u == N) {
#pragma unroll
        for (uint m = 0u; m < 2u; m++) {
            const uint k = t + m * ITEMS;
#pragma unroll
            for (uint q = 1u; q < 4u; q++)
                v[m + 2u * q] = times(v[m + 2u * q], factor[q * k * stride]);
            step4(v + m, v + m + 2u, v + m + 4u, v + m + 6u);
        }
    }
}

/* The inverse, not divided by N. */
AIRY_INLINE void transform_back(W2 *v, __local W *room, uint t, __global const W2 *factor,
                                uint stride)
{
#pragma unroll
    for (uint g = 0u; g < EACH; g++)
        v[g] = v[g].yx;
    transform(v, room, t, factor, stride);
#pragma unroll
    for (uint g = 0u; g < EACH; g++)
        v[g] = v[g].yx;
}

#endif
