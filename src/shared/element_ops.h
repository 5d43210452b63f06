/*
 * Arithmetic of one element. The same on host and device. Included once for each class: define
 * AIRY_ELEMENT_CLASS, and AIRY_E(name), the name of a function of it; V, the type of its values, is
 * defined here.
 */
#undef V
#undef AIRY_E_TRUTH
#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_F32
#define V float
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_F64
#define V double
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_I64
#define V airy_i64
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
#define V airy_wide
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_I32
#define V airy_i32
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_U8
#define V airy_u8
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_U16
#define V airy_u16
#endif

#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE

static inline V AIRY_E(signed)(airy_i64 v)
{
    V w;
    w.negative = v < 0;
    w.size = v < 0 ? 0 - (airy_u64)v : (airy_u64)v;
    return w;
}

static inline V AIRY_E(unsigned)(airy_u64 v)
{
    V w;
    w.negative = 0;
    w.size = v;
    return w;
}

static inline V AIRY_E(truth)(int v)
{
    return AIRY_E(unsigned)((airy_u64)(v != 0));
}

static inline V AIRY_E(negate)(V a)
{
    a.negative = a.size != 0 && a.negative == 0;
    return a;
}

/* Stays at the limits. */
static inline V AIRY_E(add)(V a, V b)
{
    V sum = a;
    if (a.negative == b.negative) {
        sum.size = a.size + b.size;
        if (sum.size < a.size)
            sum.size = ~(airy_u64)0;
        return sum;
    }
    sum.size = a.size >= b.size ? a.size - b.size : b.size - a.size;
    sum.negative = sum.size != 0 && (a.size >= b.size ? a.negative : b.negative) != 0;
    return sum;
}

static inline V AIRY_E(multiply)(V a, V b)
{
    V product;
    product.size = a.size * b.size;
    if (a.size != 0 && product.size / a.size != b.size)
        product.size = ~(airy_u64)0;
    product.negative = product.size != 0 && a.negative != b.negative;
    return product;
}

static inline int AIRY_E(less)(V a, V b)
{
    if (a.negative != b.negative)
        return a.negative != 0;
    return a.negative != 0 ? a.size > b.size : a.size < b.size;
}

static inline int AIRY_E(equal)(V a, V b)
{
    return a.negative == b.negative && a.size == b.size;
}

static inline int AIRY_E(not_zero)(V a)
{
    return a.size != 0;
}

#else

static inline V AIRY_E(truth)(int v)
{
    return v ? (V)1 : (V)0;
}

#if AIRY_ELEMENT_CLASS >= AIRY_ELEMENT_U8

static inline V AIRY_E(negate)(V a)
{
    (void)a;
    return 0;
}

static inline V AIRY_E(add)(V a, V b)
{
    const V sum = (V)(a + b);
    return sum < a ? (V) ~(V)0 : sum;
}

static inline V AIRY_E(subtract)(V a, V b)
{
    return a > b ? (V)(a - b) : (V)0;
}

/*
 * Lanes of 16 bits hold products of 8, of which one comparison is left; of 16, they compute the upper
 * half without others of twice the bits.
 */
static inline V AIRY_E(multiply)(V a, V b)
{
    const airy_u32 product = (airy_u32)a * b;
#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_U8
    return (V)(product < 255 ? product : 255);
#else
    return product >> 8 * sizeof(V) ? (V) ~(V)0 : (V)product;
#endif
}

#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_I32

static inline V AIRY_E(limit)(int negative)
{
    return negative ? -2147483647 - 1 : 2147483647;
}

static inline V AIRY_E(negate)(V a)
{
    return a == AIRY_E(limit)(1) ? AIRY_E(limit)(0) : -a;
}

/* Beyond a limit the sign is neither operand's. */
static inline V AIRY_E(add)(V a, V b)
{
    const V sum = (V)((airy_u32)a + (airy_u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0 ? AIRY_E(limit)(a < 0) : sum;
}

static inline V AIRY_E(subtract)(V a, V b)
{
    const V difference = (V)((airy_u32)a - (airy_u32)b);
    return ((a ^ b) & (a ^ difference)) < 0 ? AIRY_E(limit)(a < 0) : difference;
}

static inline V AIRY_E(multiply)(V a, V b)
{
    const airy_i64 product = (airy_i64)a * b;
    return product == (V)product ? (V)product : AIRY_E(limit)((a ^ b) < 0);
}

#else

static inline V AIRY_E(negate)(V a)
{
    return -a;
}

static inline V AIRY_E(add)(V a, V b)
{
    return a + b;
}

static inline V AIRY_E(multiply)(V a, V b)
{
    return a * b;
}

#endif

static inline int AIRY_E(less)(V a, V b)
{
    return a < b;
}

static inline int AIRY_E(equal)(V a, V b)
{
    return a == b;
}

static inline int AIRY_E(not_zero)(V a)
{
    return a != (V)0;
}

#endif

#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64

static inline int AIRY_E(is_nan)(V a)
{
    return a != a;
}

/* Halves to even, without a call: a sum with 2^23 or 2^52 has no fraction left. */
static inline V AIRY_E(round)(V x)
{
    const V magic = AIRY_ELEMENT_CLASS == AIRY_ELEMENT_F32 ? (V)8388608 : (V)4503599627370496;
    const V up = (x + magic) - magic, down = (x - magic) + magic;
    return x >= magic || x <= -magic ? x : x >= 0 ? up : down;
}

#else

static inline int AIRY_E(is_nan)(V a)
{
    (void)a;
    return 0;
}

#endif

#if AIRY_ELEMENT_CLASS < AIRY_ELEMENT_I32
static inline V AIRY_E(subtract)(V a, V b)
{
    return AIRY_E(add)(a, AIRY_E(negate)(b));
}
#endif

static inline V AIRY_E(minimum)(V a, V b)
{
    return AIRY_E(is_nan)(a) || AIRY_E(less)(a, b) ? a : b;
}

static inline V AIRY_E(maximum)(V a, V b)
{
    return AIRY_E(is_nan)(a) || AIRY_E(less)(b, a) ? a : b;
}

/* NaN stays. */
static inline V AIRY_E(clamp)(V a, V lo, V hi)
{
    return AIRY_E(less)(a, lo) ? lo : AIRY_E(less)(hi, a) ? hi : a;
}

static inline V AIRY_E(absolute)(V a)
{
#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
    a.negative = 0;
    return a;
#elif AIRY_ELEMENT_CLASS >= AIRY_ELEMENT_U8
    return a;
#elif AIRY_ELEMENT_CLASS > AIRY_ELEMENT_F64
    return a < 0 ? AIRY_E(negate)(a) : a;
#else
    return a < 0 ? -a : a + (V)0; /* -0 becomes 0 */
#endif
}

static inline int AIRY_E(is_finite)(V a)
{
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
    return a - a == (V)0;
#else
    (void)a;
    return 1;
#endif
}

/*
 * To an integer T from MIN to MAX, and whether T holds the value. In floats MAX of 32 and 64 bits is
 * the power of two behind it, so that what is below it fits.
 */
#undef AIRY_E_MAX
#undef AIRY_E_LEAST
#undef AIRY_E_MOST
#undef AIRY_E_INTEGER
#undef AIRY_E_IS_HELD
#if AIRY_ELEMENT_CLASS <= AIRY_ELEMENT_F64
#define AIRY_E_INTEGER(v, T, MIN, MAX, truncate)                                                   \
    ((v) != (v)        ? (T)0                                                                      \
     : (v) >= (V)(MAX) ? (T)(MAX)                                                                  \
     : (v) <= (V)(MIN) ? (T)(MIN)                                                                  \
     : (truncate)      ? (T)(v)                                                                    \
                       : (T)AIRY_E(round)(v))
#define AIRY_E_IS_HELD(v, T, MIN, MAX)                                                             \
    ((v) >= (V)(MIN) && (v) < (V)((MAX) / 2 + 1) * 2 && AIRY_E(round)(v) == (v))
#elif AIRY_ELEMENT_CLASS >= AIRY_ELEMENT_U8
/* MAX has all bits up to its highest, so that V's are V's largest where T has larger ones. */
#define AIRY_E_INTEGER(v, T, MIN, MAX, truncate) ((v) > (V)(MAX) ? (T)(MAX) : (T)(v))
#define AIRY_E_IS_HELD(v, T, MIN, MAX)           ((v) <= (V)(MAX))
#elif AIRY_ELEMENT_CLASS != AIRY_ELEMENT_WIDE
/* The largest V where T has larger ones: in one comparison, which vectors have. */
#define AIRY_E_MAX ((V)(~(airy_u64)0 >> (65u - 8u * (airy_u32)sizeof(V))))
#define AIRY_E_LEAST(MIN)                                                                          \
    ((airy_i64)(MIN) < (airy_i64)(-AIRY_E_MAX - 1) ? -AIRY_E_MAX - 1 : (V)(MIN))
#define AIRY_E_MOST(MAX) ((airy_u64)(MAX) > (airy_u64)AIRY_E_MAX ? AIRY_E_MAX : (V)(MAX))
#define AIRY_E_INTEGER(v, T, MIN, MAX, truncate)                                                   \
    ((v) < AIRY_E_LEAST(MIN) ? (T)(MIN) : (v) > AIRY_E_MOST(MAX) ? (T)(MAX) : (T)(v))
#define AIRY_E_IS_HELD(v, T, MIN, MAX) ((v) >= AIRY_E_LEAST(MIN) && (v) <= AIRY_E_MOST(MAX))
#else
#define AIRY_E_INTEGER(v, T, MIN, MAX, truncate)                                                   \
    ((v).negative != 0 ? ((v).size > 0 - (airy_u64)(MIN) ? (T)(MIN) : (T)(0 - (v).size))           \
                       : ((v).size > (airy_u64)(MAX) ? (T)(MAX) : (T)(v).size))
#define AIRY_E_IS_HELD(v, T, MIN, MAX)                                                             \
    ((v).size <= ((v).negative != 0 ? 0 - (airy_u64)(MIN) : (airy_u64)(MAX)))
#endif

/* To a float T, and whether it holds the value. */
#undef AIRY_E_FLOAT
#undef AIRY_E_FLOAT_IS_HELD
#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
#define AIRY_E_FLOAT(v, T) ((v).negative != 0 ? -(T)(v).size : (T)(v).size)
#define AIRY_E_FLOAT_IS_HELD(v, T)                                                                 \
    ((T)(v).size < (T)18446744073709551616.0f && (airy_u64)(T)(v).size == (v).size)
#else
#define AIRY_E_FLOAT(v, T)         ((T)(v))
#define AIRY_E_FLOAT_IS_HELD(v, T) ((v) != (v) || (V)(T)(v) == (v))
#endif
