/* One class: AIRY_ELEMENT_CLASS, AIRY_E and LIBM (the name of a function of libm) are defined. */
#include "shared/element_ops.h"

#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
#define LOAD_SIGNED(v)   AIRY_E(signed)(v)
#define LOAD_UNSIGNED(v) AIRY_E(unsigned)(v)
#else
#define LOAD_SIGNED(v)   ((V)(v))
#define LOAD_UNSIGNED(v) ((V)(v))
#endif

#define LOAD(DTYPE, T, CONVERT)                                                                    \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        for (size_t i = 0; i < n; i++)                                                             \
            v[i] = CONVERT(((const T *)from)[i]);                                                  \
        break;

static void AIRY_E(load)(void *to, const void *from, airy_dtype dtype, size_t n)
{
    V *restrict v = to;
    switch (dtype) {
        LOAD(U8, uint8_t, LOAD_UNSIGNED)
        LOAD(U16, uint16_t, LOAD_UNSIGNED)
#if AIRY_ELEMENT_CLASS < AIRY_ELEMENT_U8
        LOAD(U32, uint32_t, LOAD_UNSIGNED)
        LOAD(U64, uint64_t, LOAD_UNSIGNED)
        LOAD(I8, int8_t, LOAD_SIGNED)
        LOAD(I16, int16_t, LOAD_SIGNED)
        LOAD(I32, int32_t, LOAD_SIGNED)
        LOAD(I64, int64_t, LOAD_SIGNED)
#endif
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
        LOAD(F32, float, LOAD_SIGNED)
        LOAD(F64, double, LOAD_SIGNED)
#endif
    default:
        assert(0 && "dtypes of this class");
    }
}

static void AIRY_E(fill)(void *to, const struct airy_element_number *number, size_t n)
{
    V *restrict v = to;
    for (size_t i = 0; i < n; i++) {
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
        v[i] = (V)number->value;
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
        v[i] = number->wide;
#elif AIRY_ELEMENT_CLASS >= AIRY_ELEMENT_U8
        v[i] = (V)number->wide.size;
#else
        const V size = AIRY_E_MOST(number->wide.size);
        v[i] = number->wide.negative ? -size : size;
#endif
    }
}

#define EACH(OP, EXPRESSION)                                                                       \
    case OP:                                                                                       \
        for (size_t i = 0; i < n; i++)                                                             \
            r[i] = (EXPRESSION);                                                                   \
        break;
#define A           a[i]
#define B           b[i]
#define C           c[i]
#define TRUTH(test) ((test) ? 1 : 0)
#define FN(f)       (AIRY_ELEMENT_FUNCTION + AIRY_##f)

/* What integers have no exact result of. */
static void AIRY_E(run_fraction)(V *restrict r, const V *a, const V *b, unsigned op, size_t n)
{
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
    switch (op) {
        EACH(AIRY_DIVIDE, A / B)
    case AIRY_POWER:
        LIBM(math_powers)(r, a, b, n);
        break;
        EACH(AIRY_HYPOT, LIBM(hypot)(A, B))
        EACH(FN(SQRT), LIBM(sqrt)(A))
        EACH(FN(EXP), LIBM(math_exp)(A))
        EACH(FN(LOG), LIBM(math_log)(A))
        EACH(FN(LOG10), LIBM(math_log10)(A))
        EACH(FN(LOG1P), LIBM(math_log1p)(A))
        EACH(AIRY_ELEMENT_LINEAR, A * B)
    default:
        assert(0 && "an operation");
    }
#else
    (void)r, (void)a, (void)b, (void)op, (void)n;
    assert(0 && "an operation of this class");
#endif
}

static void AIRY_E(run)(void *result, const void *of_a, const void *of_b, const void *of_c,
                        unsigned op, size_t n)
{
    V *restrict r = result;
    const V *a = of_a, *b = of_b, *c = of_c;
    switch (op) {
        EACH(AIRY_ADD, AIRY_E(add)(A, B))
        EACH(AIRY_SUBTRACT, AIRY_E(subtract)(A, B))
        EACH(AIRY_MULTIPLY, AIRY_E(multiply)(A, B))
        EACH(AIRY_MINIMUM, AIRY_E(minimum)(A, B))
        EACH(AIRY_MAXIMUM, AIRY_E(maximum)(A, B))
        EACH(FN(NEGATE), AIRY_E(negate)(A))
        EACH(FN(ABS), AIRY_E(absolute)(A))
        EACH(FN(SQUARE), AIRY_E(multiply)(A, A))
        EACH(AIRY_ELEMENT_WHERE, AIRY_E(not_zero)(C) ? A : B)
        EACH(AIRY_ELEMENT_CLAMP, AIRY_E(clamp)(A, B, C))
        EACH(AIRY_ELEMENT_COPY, A)
    default:
        AIRY_E(run_fraction)(r, a, b, op, n);
    }
    if (op == AIRY_ELEMENT_LINEAR)
        for (size_t i = 0; i < n; i++)
            r[i] = AIRY_E(add)(r[i], C);
}

/* What is 0 or 1. */
static void AIRY_E(test)(uint8_t *restrict r, const void *of_a, const void *of_b, unsigned op,
                         size_t n)
{
    const V *a = of_a, *b = of_b;
    switch (op) {
        EACH(AIRY_LESS, TRUTH(AIRY_E(less)(A, B)))
        EACH(AIRY_LESS_EQUAL, TRUTH(AIRY_E(less)(A, B) || AIRY_E(equal)(A, B)))
        EACH(AIRY_EQUAL, TRUTH(AIRY_E(equal)(A, B)))
        EACH(AIRY_NOT_EQUAL, TRUTH(!AIRY_E(equal)(A, B)))
        EACH(AIRY_GREATER_EQUAL, TRUTH(AIRY_E(less)(B, A) || AIRY_E(equal)(A, B)))
        EACH(AIRY_GREATER, TRUTH(AIRY_E(less)(B, A)))
        EACH(AIRY_AND, TRUTH(AIRY_E(not_zero)(A) && AIRY_E(not_zero)(B)))
        EACH(AIRY_OR, TRUTH(AIRY_E(not_zero)(A) || AIRY_E(not_zero)(B)))
        EACH(AIRY_XOR, TRUTH(AIRY_E(not_zero)(A) != AIRY_E(not_zero)(B)))
        EACH(FN(NOT), TRUTH(!AIRY_E(not_zero)(A)))
        EACH(FN(IS_NAN), TRUTH(AIRY_E(is_nan)(A)))
        EACH(FN(IS_FINITE), TRUTH(AIRY_E(is_finite)(A)))
    default:
        assert(0 && "a test");
    }
}

/* Floats of more bits than T, without a branch. */
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
#define NEAREST(v, T, MIN, MAX)                                                                    \
    (sizeof(T) < sizeof(V) ? (T)LIBM(math_whole)(v, (V)(MIN), (V)(MAX))                            \
                           : AIRY_E_INTEGER(v, T, MIN, MAX, 0))
#else
#define NEAREST(v, T, MIN, MAX) AIRY_E_INTEGER(v, T, MIN, MAX, 0)
#endif
#define STORE(DTYPE, T, MIN, MAX)                                                                  \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        if (truncate)                                                                              \
            for (size_t i = 0; i < n; i++)                                                         \
                ((T *)to)[i] = AIRY_E_INTEGER(v[i], T, MIN, MAX, 1);                               \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                ((T *)to)[i] = NEAREST(v[i], T, MIN, MAX);                                         \
        break;
#define STORE_FLOAT(DTYPE, T)                                                                      \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)to)[i] = AIRY_E_FLOAT(v[i], T);                                                  \
        break;

static void AIRY_E(store)(void *to, airy_dtype dtype, const void *from, bool truncate, size_t n)
{
    const V *restrict v = from;
    (void)truncate;
    switch (dtype) {
        STORE(U8, uint8_t, 0, UINT8_MAX)
        STORE(U16, uint16_t, 0, UINT16_MAX)
        STORE(U32, uint32_t, 0, UINT32_MAX)
        STORE(U64, uint64_t, 0, UINT64_MAX)
        STORE(I8, int8_t, INT8_MIN, INT8_MAX)
        STORE(I16, int16_t, INT16_MIN, INT16_MAX)
        STORE(I32, int32_t, INT32_MIN, INT32_MAX)
        STORE(I64, int64_t, INT64_MIN, INT64_MAX)
        STORE_FLOAT(F32, float)
        STORE_FLOAT(F64, double)
    default:
        assert(0 && "a dtype");
    }
}

#define COUNT(DTYPE, HELD)                                                                         \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        for (size_t i = 0; i < n; i++)                                                             \
            count += !(HELD);                                                                      \
        break;

static uint64_t AIRY_E(inexact)(airy_dtype dtype, const void *from, size_t n)
{
    const V *v = from;
    uint64_t count = 0;
    switch (dtype) {
        COUNT(U8, AIRY_E_IS_HELD(v[i], uint8_t, 0, UINT8_MAX))
        COUNT(U16, AIRY_E_IS_HELD(v[i], uint16_t, 0, UINT16_MAX))
        COUNT(U32, AIRY_E_IS_HELD(v[i], uint32_t, 0, UINT32_MAX))
        COUNT(U64, AIRY_E_IS_HELD(v[i], uint64_t, 0, UINT64_MAX))
        COUNT(I8, AIRY_E_IS_HELD(v[i], int8_t, INT8_MIN, INT8_MAX))
        COUNT(I16, AIRY_E_IS_HELD(v[i], int16_t, INT16_MIN, INT16_MAX))
        COUNT(I32, AIRY_E_IS_HELD(v[i], int32_t, INT32_MIN, INT32_MAX))
        COUNT(I64, AIRY_E_IS_HELD(v[i], int64_t, INT64_MIN, INT64_MAX))
        COUNT(F32, AIRY_E_FLOAT_IS_HELD(v[i], float))
        COUNT(F64, AIRY_E_FLOAT_IS_HELD(v[i], double))
    default:
        assert(0 && "a dtype");
    }
    return count;
}

#undef LOAD_SIGNED
#undef LOAD_UNSIGNED
#undef LOAD
#undef EACH
#undef A
#undef B
#undef C
#undef TRUTH
#undef FN
#undef NEAREST
#undef STORE
#undef STORE_FLOAT
#undef COUNT
