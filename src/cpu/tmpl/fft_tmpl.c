/*
 * The kernels of cpu_fft.h for one type: included twice by each instruction set's file, which
 * defines
 *   SET, TYPE    the set's name; f32 or f64            W       float or double
 *   V, WIDTH     a vector and its elements, of which 64 bytes are a multiple
 *   LOAD(p), STORE(p, v), SPLAT(x), ADD(a, b), SUB(a, b), MUL(a, b)
 *   MADD(a, b, c) = a * b + c, MSUB(a, b, c) = a * b - c, NMADD(a, b, c) = c - a * b
 *   TRANSPOSE(v) WIDTH vectors, or nothing: element by element then
 */
#define FFT_NAME_(f, type, set)  f##_##type##_##set
#define FFT_NAME__(f, type, set) FFT_NAME_(f, type, set)
#define NAME(f)                  FFT_NAME__(f, TYPE, SET)
#define LANES                    AIRY_FFT_LANES(W)
#define ALWAYS                   static inline __attribute__((always_inline))
#define EACH                     for (size_t o = 0; o < LANES; o += (WIDTH))

struct NAME(complex) {
    V re, im;
};
typedef struct NAME(complex) NAME(cpx);

ALWAYS NAME(cpx) NAME(get)(const W *re, const W *im)
{
    return (NAME(cpx)){LOAD(re), LOAD(im)};
}

ALWAYS void NAME(put)(W *re, W *im, NAME(cpx) x)
{
    STORE(re, x.re);
    STORE(im, x.im);
}

ALWAYS NAME(cpx) NAME(add)(NAME(cpx) a, NAME(cpx) b)
{
    return (NAME(cpx)){ADD(a.re, b.re), ADD(a.im, b.im)};
}

ALWAYS NAME(cpx) NAME(sub)(NAME(cpx) a, NAME(cpx) b)
{
    return (NAME(cpx)){SUB(a.re, b.re), SUB(a.im, b.im)};
}

/* a + i b and a - i b */
ALWAYS NAME(cpx) NAME(add_i)(NAME(cpx) a, NAME(cpx) b)
{
    return (NAME(cpx)){SUB(a.re, b.im), ADD(a.im, b.re)};
}

ALWAYS NAME(cpx) NAME(sub_i)(NAME(cpx) a, NAME(cpx) b)
{
    return (NAME(cpx)){ADD(a.re, b.im), SUB(a.im, b.re)};
}

/* x (c + i s) and x (c - i s) */
ALWAYS NAME(cpx) NAME(turn)(NAME(cpx) x, V c, V s)
{
    return (NAME(cpx)){MSUB(x.re, c, MUL(x.im, s)), MADD(x.re, s, MUL(x.im, c))};
}

ALWAYS NAME(cpx) NAME(turn_back)(NAME(cpx) x, V c, V s)
{
    return (NAME(cpx)){MADD(x.re, c, MUL(x.im, s)), NMADD(x.re, s, MUL(x.im, c))};
}

/* Four elements, `far` apart, and their transform of four. */
ALWAYS void NAME(split4)(NAME(cpx) y[4], const W *re, const W *im, size_t far)
{
    const NAME(cpx) x0 = NAME(get)(re, im), x1 = NAME(get)(re + far, im + far),
                    x2 = NAME(get)(re + 2 * far, im + 2 * far),
                    x3 = NAME(get)(re + 3 * far, im + 3 * far);
    const NAME(cpx) a = NAME(add)(x0, x2), b = NAME(sub)(x0, x2), c = NAME(add)(x1, x3),
                    d = NAME(sub)(x1, x3);
    y[0] = NAME(add)(a, c);
    y[1] = NAME(sub_i)(b, d);
    y[2] = NAME(sub)(a, c);
    y[3] = NAME(add_i)(b, d);
}

ALWAYS void NAME(join4)(W *re, W *im, size_t far, const NAME(cpx) y[4])
{
    const NAME(cpx) a = NAME(add)(y[0], y[2]), b = NAME(sub)(y[0], y[2]), c = NAME(add)(y[1], y[3]),
                    d = NAME(sub)(y[1], y[3]);
    NAME(put)(re, im, NAME(add)(a, c));
    NAME(put)(re + far, im + far, NAME(add_i)(b, d));
    NAME(put)(re + 2 * far, im + 2 * far, NAME(sub)(a, c));
    NAME(put)(re + 3 * far, im + 3 * far, NAME(sub_i)(b, d));
}

/* Elements 0 and 1 of a transform of two, which is its own inverse. */
ALWAYS void NAME(pair)(W *re, W *im, size_t step)
{
    EACH
    {
        const NAME(cpx) a = NAME(get)(re + o, im + o), b = NAME(get)(re + step + o, im + step + o);
        NAME(put)(re + o, im + o, NAME(add)(a, b));
        NAME(put)(re + step + o, im + step + o, NAME(sub)(a, b));
    }
}

/* The last step there and the first one back, which have no factors. */
ALWAYS void NAME(last4)(W *re, W *im, size_t step)
{
    EACH
    {
        NAME(cpx) y[4];
        NAME(split4)(y, re + o, im + o, step);
        for (size_t p = 0; p < 4; p++)
            NAME(put)(re + p * step + o, im + p * step + o, y[p]);
    }
}

static void NAME(forward)(W *re, W *im, size_t n, size_t step, const W *table)
{
    if (n == 2)
        NAME(pair)(re, im, step);
    if (n == 4)
        NAME(last4)(re, im, step);
    if (n <= 4)
        return;
    const size_t far = n / 4 * step;
    for (size_t j = 0; j < n / 4; j++) {
        const W *t = table + 6 * j;
        EACH
        {
            W *r = re + j * step + o, *i = im + j * step + o;
            NAME(cpx) y[4];
            NAME(split4)(y, r, i, far);
            for (size_t p = 1; p < 4; p++)
                y[p] = NAME(turn)(y[p], SPLAT(t[2 * p - 2]), SPLAT(t[2 * p - 1]));
            for (size_t p = 0; p < 4; p++)
                NAME(put)(r + p * far, i + p * far, y[p]);
        }
    }
    for (size_t q = 0; q < 4 && n == 16; q++)
        NAME(last4)(re + q * far, im + q * far, step);
    for (size_t q = 0; q < 4 && n != 16; q++)
        NAME(forward)(re + q * far, im + q * far, n / 4, step, table + n / 4 * 6);
}

ALWAYS void NAME(first4)(W *re, W *im, size_t step)
{
    EACH
    {
        NAME(cpx) y[4];
        for (size_t p = 0; p < 4; p++)
            y[p] = NAME(get)(re + p * step + o, im + p * step + o);
        NAME(join4)(re + o, im + o, step, y);
    }
}

static void NAME(inverse)(W *re, W *im, size_t n, size_t step, const W *table)
{
    if (n == 2)
        NAME(pair)(re, im, step);
    if (n == 4)
        NAME(first4)(re, im, step);
    if (n <= 4)
        return;
    const size_t far = n / 4 * step;
    for (size_t q = 0; q < 4 && n == 16; q++)
        NAME(first4)(re + q * far, im + q * far, step);
    for (size_t q = 0; q < 4 && n != 16; q++)
        NAME(inverse)(re + q * far, im + q * far, n / 4, step, table + n / 4 * 6);
    for (size_t j = 0; j < n / 4; j++) {
        const W *t = table + 6 * j;
        EACH
        {
            W *r = re + j * step + o, *i = im + j * step + o;
            NAME(cpx) y[4];
            for (size_t p = 0; p < 4; p++)
                y[p] = NAME(get)(r + p * far, i + p * far);
            for (size_t p = 1; p < 4; p++)
                y[p] = NAME(turn_back)(y[p], SPLAT(t[2 * p - 2]), SPLAT(t[2 * p - 1]));
            NAME(join4)(r, i, far, y);
        }
    }
}

static void NAME(split)(W *re, W *im, size_t n, const W *table)
{
    if (n == 2 * LANES)
        EACH
        {
            const NAME(cpx) a = NAME(get)(re + o, im + o),
                            b = NAME(get)(re + LANES + o, im + LANES + o);
            NAME(put)(re + o, im + o, NAME(add)(a, b));
            NAME(put)
            (re + LANES + o, im + LANES + o,
             NAME(turn)(NAME(sub)(a, b), LOAD(table + o), LOAD(table + LANES + o)));
        }
    if (n < 4 * LANES)
        return;
    const size_t far = n / 4;
    for (size_t j = 0; j < far; j += (WIDTH)) {
        NAME(cpx) y[4];
        NAME(split4)(y, re + j, im + j, far);
        for (size_t p = 1; p < 4; p++)
            y[p] = NAME(turn)(y[p], LOAD(table + (2 * p - 2) * far + j),
                              LOAD(table + (2 * p - 1) * far + j));
        for (size_t p = 0; p < 4; p++)
            NAME(put)(re + p * far + j, im + p * far + j, y[p]);
    }
    for (size_t q = 0; q < 4; q++)
        NAME(split)(re + q * far, im + q * far, far, table + 6 * far);
}

static void NAME(join)(W *re, W *im, size_t n, const W *table)
{
    if (n == 2 * LANES)
        EACH
        {
            const NAME(cpx) a = NAME(get)(re + o, im + o),
                            b = NAME(turn_back)(NAME(get)(re + LANES + o, im + LANES + o),
                                                LOAD(table + o), LOAD(table + LANES + o));
            NAME(put)(re + o, im + o, NAME(add)(a, b));
            NAME(put)(re + LANES + o, im + LANES + o, NAME(sub)(a, b));
        }
    if (n < 4 * LANES)
        return;
    const size_t far = n / 4;
    for (size_t q = 0; q < 4; q++)
        NAME(join)(re + q * far, im + q * far, far, table + 6 * far);
    for (size_t j = 0; j < far; j += (WIDTH)) {
        NAME(cpx) y[4];
        for (size_t p = 0; p < 4; p++)
            y[p] = NAME(get)(re + p * far + j, im + p * far + j);
        for (size_t p = 1; p < 4; p++)
            y[p] = NAME(turn_back)(y[p], LOAD(table + (2 * p - 2) * far + j),
                                   LOAD(table + (2 * p - 1) * far + j));
        NAME(join4)(re + j, im + j, far, y);
    }
}

static void NAME(transpose)(W *const *to, const W *const *from)
{
#ifdef TRANSPOSE
    for (size_t y = 0; y < LANES; y += (WIDTH))
        for (size_t x = 0; x < LANES; x += (WIDTH)) {
            V v[WIDTH];
            for (size_t i = 0; i < (WIDTH); i++)
                v[i] = LOAD(from[y + i] + x);
            TRANSPOSE(v);
            for (size_t i = 0; i < (WIDTH); i++)
                STORE(to[x + i] + y, v[i]);
        }
#else
    for (size_t y = 0; y < LANES; y++)
        for (size_t x = 0; x < LANES; x++)
            to[x][y] = from[y][x];
#endif
}

/* Z = A + i B, and the conjugate of Z[n - k] is A - i B, at k. */
static void NAME(part)(W *const to[4], const W *re, const W *im, size_t n, size_t step,
                       const uint32_t *place)
{
    const V half = SPLAT((W)0.5);
    for (size_t k = 0; k <= n / 2; k++)
        EACH
        {
            const size_t p = place[k] * step + o, q = place[(n - k) % n] * step + o;
            const NAME(cpx) z = NAME(get)(re + p, im + p), y = NAME(get)(re + q, im + q);
            STORE(to[0] + k * LANES + o, MUL(half, ADD(z.re, y.re)));
            STORE(to[1] + k * LANES + o, MUL(half, SUB(z.im, y.im)));
            STORE(to[2] + k * LANES + o, MUL(half, ADD(z.im, y.im)));
            STORE(to[3] + k * LANES + o, MUL(half, SUB(y.re, z.re)));
        }
}

static void NAME(multiply)(W *re, W *im, const W *by_re, const W *by_im, size_t n, size_t step)
{
    for (size_t i = 0; i < n * step; i += step)
        EACH NAME(put)(re + i + o, im + i + o,
                       NAME(turn)(NAME(get)(re + i + o, im + i + o), LOAD(by_re + i + o),
                                  LOAD(by_im + i + o)));
}

static bool NAME(exceeds)(const W *values, size_t n, W limit)
{
    int outside = 0;
    for (size_t i = 0; i < n; i++)
        outside |= !(values[i] <= limit && values[i] >= -limit);
    return outside != 0;
}

#undef LANES
#undef ALWAYS
#undef EACH
#undef NAME
#undef FFT_NAME_
#undef FFT_NAME__
#undef TYPE
#undef W
#undef V
#undef WIDTH
#undef LOAD
#undef STORE
#undef SPLAT
#undef ADD
#undef SUB
#undef MUL
#undef MADD
#undef MSUB
#undef NMADD
#ifdef TRANSPOSE
#undef TRANSPOSE
#endif
