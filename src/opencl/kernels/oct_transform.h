/*
 * A transform of M elements by ITEMS = M / EACH items, in two or three steps of radices R1 R2 R3 = M;
 * between steps elements change items through a room. After steps of radices whose product is P, an
 * item has columns: elements `low` of P, number `c` of what is left, and the next step of radix R
 * turns columns low, c + S q (q < R) into low + P k, c (k < R), in the same places.
 *
 * Factors are folded into butterflies of six multiply-adds: in the step behind product P element q is
 * to be multiplied by w^q, w = exp(-2 pi i low / (P R)). At depth s, butterflies whose results have k
 * modulo 2^s = n use (w exp(-2 pi i n / R))^h with h = R / 2^(s + 1), and those of n + 2^(s - 1) the
 * same times -i. So a step of R has R / 2 factors for each column, [2^(s - 1) + n] of a table.
 */
#ifndef AIRY_KERNELS_OCT_TRANSFORM_H
#define AIRY_KERNELS_OCT_TRANSFORM_H

/* Elements of a row of the room: results of one frequency of the first step; no banks shared. */
#define PITCH(r) (M / (r) + ((r) < 16 ? 16 / (r) : 1))

#if GLOBAL_ROOM
#define ROOM_SPACE __global
#define MEET()     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define ROOM_SPACE __local
/* Items that share a room are of one warp, which is whole. */
#if defined(AIRY_WARP) && AIRY_WARP % ITEMS == 0 && SIDE * ITEMS % AIRY_WARP == 0
#define MEET() AIRY_WARP_SYNC()
#else
#define MEET() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#endif

/* SPLIT: real parts first, then imaginary ones, in half of the memory. */
#if SPLIT
typedef ROOM_SPACE float *room_pointer;
#else
typedef ROOM_SPACE float2 *room_pointer;
#endif

/* Columns of an item in a step: where they begin in the room, and the distance of their elements. */
typedef struct columns {
    uint at[EACH / 2];
    uint step;
} columns;

/* Bits of k < r in reversed order: where result k of a step of radix r stands. */
AIRY_INLINE uint reversed(uint k, uint r)
{
    const uint low = (uint)(0xf7b3d591e6a2c480ul >> 4u * (k & 15u)) & 15u; /* of four bits */
    return (low << 1 | k >> 4) / (32u / r);
}

AIRY_INLINE float2 times(float2 a, float2 b)
{
    return (float2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

#define FACTOR_ANY    0u
#define FACTOR_ONE    1u
#define FACTOR_EIGHTH 2u /* exp(-2 pi i / 8) */

/* a + w b and a - w b */
AIRY_INLINE void butterfly(float2 *a, float2 *b, float2 w, uint factor)
{
    const float root = 0.70710678118654752f;
    float2 sum;
    if (factor == FACTOR_ONE) {
        sum = *a + *b;
        *b = *a - *b;
    } else if (factor == FACTOR_EIGHTH) {
        const float p = b->x + b->y, q = b->y - b->x;
        sum = (float2)(fma(root, p, a->x), fma(root, q, a->y));
        *b = (float2)(fma(-root, p, a->x), fma(-root, q, a->y));
    } else {
        sum = (float2)(fma(-w.y, b->y, fma(w.x, b->x, a->x)), fma(w.y, b->x, fma(w.x, b->y, a->y)));
        *b = (float2)(fma(2.0f, a->x, -sum.x), fma(2.0f, a->y, -sum.y));
    }
    *a = sum;
}

/* a - i w b and a + i w b */
AIRY_INLINE void butterfly_i(float2 *a, float2 *b, float2 w, uint factor)
{
    const float root = 0.70710678118654752f;
    float2 sum;
    if (factor == FACTOR_ONE) {
        sum = (float2)(a->x + b->y, a->y - b->x);
        *b = (float2)(a->x - b->y, a->y + b->x);
    } else if (factor == FACTOR_EIGHTH) {
        const float p = b->x + b->y, q = b->y - b->x;
        sum = (float2)(fma(root, q, a->x), fma(-root, p, a->y));
        *b = (float2)(fma(-root, q, a->x), fma(root, p, a->y));
    } else {
        sum = (float2)(fma(w.y, b->x, fma(w.x, b->y, a->x)), fma(w.y, b->y, fma(-w.x, b->x, a->y)));
        *b = (float2)(fma(2.0f, a->x, -sum.x), fma(2.0f, a->y, -sum.y));
    }
    *a = sum;
}

/*
 * Depth s of a step of radix r, all columns. Loops here and below have a number of turns that does not
 * depend on arguments, so that compilers unroll them whenever they come to it.
 */
AIRY_INLINE void deepen(float2 *z, uint r, uint s, const float2 *w, bool first)
{
    const uint apart = r >> (s + 1u), kinds = 1u << s >> 1;
#pragma unroll
    for (uint i = 0u; i < EACH / 2u; i++) {
        const uint column = i / (r / 2u), own = i % (r / 2u), node = own / apart,
                   n = s > 1u ? reversed(node >> 1, 1u << (s - 1u)) : 0u;
        float2 *a = z + column * r + node * 2u * apart + own % apart;
        const float2 f = w[(first ? 0u : column * (r / 2u)) + kinds + n];
        const uint factor = !first            ? FACTOR_ANY
                            : n == 0u         ? FACTOR_ONE
                            : 2u * n == kinds ? FACTOR_EIGHTH
                                              : FACTOR_ANY;
        if (node % 2u == 0u)
            butterfly(a, a + apart, f, factor);
        else
            butterfly_i(a, a + apart, f, factor);
    }
}

/*
 * A step of radix r: elements of each column in their order to results in reversed order. first: w are
 * the roots, and there are no other factors.
 */
AIRY_INLINE void turn(float2 *z, uint r, const float2 *w, bool first)
{
    deepen(z, r, 0u, w, first);
    if (r >= 4u)
        deepen(z, r, 1u, w, first);
    if (r >= 8u)
        deepen(z, r, 2u, w, first);
    if (r >= 16u)
        deepen(z, r, 3u, w, first);
    if (r >= 32u)
        deepen(z, r, 4u, w, first);
}

AIRY_INLINE void turn_first(float2 *z, uint r)
{
    const float2 roots[16] = {(float2)(1.0f, 0.0f),
                              (float2)(1.0f, 0.0f),
                              (float2)(1.0f, 0.0f),
                              (float2)(0.70710678118654752f, -0.70710678118654752f),
                              (float2)(1.0f, 0.0f),
                              (float2)(0.92387953251128676f, -0.38268343236508977f),
                              (float2)(0.70710678118654752f, -0.70710678118654752f),
                              (float2)(0.38268343236508977f, -0.92387953251128676f),
                              (float2)(1.0f, 0.0f),
                              (float2)(0.98078528040323044f, -0.19509032201612827f),
                              (float2)(0.92387953251128676f, -0.38268343236508977f),
                              (float2)(0.83146961230254524f, -0.55557023301960222f),
                              (float2)(0.70710678118654752f, -0.70710678118654752f),
                              (float2)(0.55557023301960222f, -0.83146961230254524f),
                              (float2)(0.38268343236508977f, -0.92387953251128676f),
                              (float2)(0.19509032201612827f, -0.98078528040323044f)};
    turn(z, r, roots, true);
}

/* Of a later step, behind product p; low: of each column. */
AIRY_INLINE void get_factors(float2 *w, __global const float2 *table, uint r, uint p,
                             const uint *low)
{
#pragma unroll
    for (uint i = 0u; i < EACH / 2u; i++)
        w[i] = table[i % (r / 2u) * p + low[i / (r / 2u)]];
}

/* Results of a step of radix r to the room. SPLIT: real parts; take() sees to the others. */
AIRY_INLINE void give(const float2 *z, room_pointer room, uint r, const columns *c)
{
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
#if SPLIT
        room[c->at[i / r] + i % r * c->step] = z[i - i % r + reversed(i % r, r)].x;
#else
        room[c->at[i / r] + i % r * c->step] = z[i - i % r + reversed(i % r, r)];
#endif
}

/* Elements of the next step of radix r, which were given as results of one of radix `before`. */
AIRY_INLINE void take(float2 *z, room_pointer room, uint before, const columns *given, uint r,
                      const columns *c)
{
#if SPLIT
    float x[EACH];
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        x[i] = room[c->at[i / r] + i % r * c->step];
    MEET();
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        room[given->at[i / before] + i % before * given->step] =
            z[i - i % before + reversed(i % before, before)].y;
    MEET();
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        z[i] = (float2)(x[i], room[c->at[i / r] + i % r * c->step]);
#else
    (void)before;
    (void)given;
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        z[i] = room[c->at[i / r] + i % r * c->step];
#endif
}

/* Columns of the first step: item t has t, t + ITEMS, ... */
AIRY_INLINE void first_columns(columns *c, uint r, uint t)
{
#pragma unroll
    for (uint j = 0u; j < EACH / 2u; j++)
        c->at[j] = j < EACH / r ? t + ITEMS * j : 0u;
    c->step = PITCH(r);
}

/* Columns of the second of three steps, r1 before it and r3 behind. */
AIRY_INLINE void middle_columns(columns *c, uint *low, uint r1, uint r2, uint r3, uint t)
{
#pragma unroll
    for (uint j = 0u; j < EACH / 2u; j++) {
        const uint d = t + ITEMS * j;
        low[j] = j < EACH / r2 ? d % r1 : 0u;
        c->at[j] = j < EACH / r2 ? d % r1 * PITCH(r1) + d / r1 : 0u;
    }
    c->step = r3;
}

/* Columns of the last step of radix r from their numbers; r1: of the first one. */
AIRY_INLINE void last_columns(columns *c, const uint *low, uint r1, uint r)
{
#pragma unroll
    for (uint j = 0u; j < EACH / 2u; j++)
        c->at[j] = j < EACH / r ? low[j] % r1 * PITCH(r1) + low[j] / r1 * r : 0u;
    c->step = 1u;
}

/* What the last step needs. */
typedef struct last_step {
    columns given, own;
    float2 w[EACH / 2];
} last_step;

/*
 * TRANSFORMS transforms up to the last step, of whose columns low says the numbers. z: elements t +
 * ITEMS m of the line, [column][q]; table: factors of the second step, then of the third.
 */
AIRY_INLINE void transform(float2 (*z)[EACH], last_step *last, room_pointer room, uint r1, uint r2,
                           uint r3, __global const float2 *table, const uint *low, uint t)
{
    first_columns(&last->given, r1, t);
#pragma unroll
    for (uint h = 0u; h < TRANSFORMS; h++)
        turn_first(z[h], r1);
    MEET();
#pragma unroll
    for (uint h = 0u; h < TRANSFORMS; h++)
        give(z[h], room + h * ROOM_STEP, r1, &last->given);
    MEET();
    if (r2 > 1u) {
        columns middle;
        uint among[EACH / 2];
        float2 w[EACH / 2];
        middle_columns(&middle, among, r1, r2, r3, t);
        get_factors(w, table, r2, r1, among);
#pragma unroll
        for (uint h = 0u; h < TRANSFORMS; h++) {
            take(z[h], room + h * ROOM_STEP, r1, &last->given, r2, &middle);
            turn(z[h], r2, w, false);
            give(z[h], room + h * ROOM_STEP, r2, &middle);
        }
        last->given = middle;
        MEET();
    }
    last_columns(&last->own, low, r1, r3);
    get_factors(last->w, table + (r2 > 1u ? r1 * (r2 / 2u) : 0u), r3, M / r3, low);
}

/*
 * The last step of one of them, behind one of radix `before`: result k of column j at z[j r3 +
 * reversed(k, r3)].
 */
AIRY_INLINE void finish(float2 *z, const last_step *last, room_pointer room, uint before, uint r3)
{
    take(z, room, before, &last->given, r3, &last->own);
    turn(z, r3, last->w, false);
}

#endif
