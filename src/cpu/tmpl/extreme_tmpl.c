/*
 * Extremes of boxes of one dtype, in it: T, its type, E(name), the name of a function of it, and
 * IS_NAN(x), in a vector for each element, are defined. A line has as many lanes in all sets.
 */
enum { E(LANES) = 128 / sizeof(T), E(PARTS) = 128 / VECTOR };
typedef T E(vec) __attribute__((vector_size(VECTOR)));
typedef __typeof__((E(vec)){0} > (E(vec)){0}) E(mask);

/* least: the minimum. NaN stays, or of skip_nan goes. */
INLINE T E(next)(T value, T x, bool least, bool skip_nan)
{
    (void)skip_nan; /* of integers */
    const bool beyond = least ? x < value : x > value;
    return (beyond | IS_NAN(skip_nan ? value : x)) ? x : value;
}

INLINE E(vec) E(next_vec)(E(vec) value, E(vec) x, bool least, bool skip_nan)
{
    (void)skip_nan;
    const E(mask) beyond = least ? x < value : x > value,
                  take = beyond | IS_NAN(skip_nan ? value : x);
    return (E(vec))(((E(mask))x & take) | ((E(mask))value & ~take));
}

/* Of at least LANES elements; those at the end may be taken twice. */
INLINE T E(line)(const T *v, size_t n, bool least, bool skip_nan)
{
    E(vec) lanes[E(PARTS)];
    memcpy(lanes, v, sizeof(lanes));
    for (size_t i = E(LANES); i < n; i += E(LANES)) {
        const T *from = v + (i + E(LANES) <= n ? i : n - E(LANES));
        for (int k = 0; k < E(PARTS); k++) {
            E(vec) x;
            memcpy(&x, from + (size_t)k * VECTOR / sizeof(T), sizeof(x));
            lanes[k] = E(next_vec)(lanes[k], x, least, skip_nan);
        }
    }
    T each[E(LANES)];
    memcpy(each, lanes, sizeof(each));
    for (size_t k = E(LANES) / 2; k > 0; k /= 2)
        for (size_t i = 0; i < k; i++)
            each[i] = E(next)(each[i], each[i + k], least, skip_nan);
    return each[0];
}

INLINE void E(short_lines)(T *restrict value, const T *restrict v, size_t n, size_t each,
                           bool least, bool skip_nan)
{
    for (size_t k = 0; k < each; k++)
        for (size_t i = 0; i < n; i++)
            value[i] = E(next)(value[i], v[i * each + k], least, skip_nan);
}

INLINE void E(lines)(T *value, const T *v, size_t n, size_t each, bool least, bool skip_nan)
{
    if (each == 1)
        E(short_lines)(value, v, n, 1, least, skip_nan);
    else if (each == 2)
        E(short_lines)(value, v, n, 2, least, skip_nan);
    else if (each == 4)
        E(short_lines)(value, v, n, 4, least, skip_nan);
    else if (each < E(LANES))
        E(short_lines)(value, v, n, each, least, skip_nan);
    else
        for (size_t i = 0; i < n; i++)
            value[i] =
                E(next)(value[i], E(line)(v + i * each, each, least, skip_nan), least, skip_nan);
}

static void E(extremes)(void *to, const void *from, size_t n, size_t each, bool first, bool least,
                        bool skip_nan)
{
    T *value = to;
    const T *v = from;
    for (size_t i = 0; first && i < n; i++)
        value[i] = v[i * each];
    if (least && skip_nan)
        E(lines)(value, v, n, each, true, true);
    else if (least)
        E(lines)(value, v, n, each, true, false);
    else if (skip_nan)
        E(lines)(value, v, n, each, false, true);
    else
        E(lines)(value, v, n, each, false, false);
}

#undef T
#undef E
