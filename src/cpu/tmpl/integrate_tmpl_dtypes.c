/*
 * The plain kernels for all dtypes: defines sum_wide_u8_<set>, scan_u8_<set> and so on. Before it:
 *   LANES         frames side by side of the wide kernels
 *   SUFFIX(f, d)  f_d_<set>
 */
#include "cpu/tmpl/integrate_tmpl_common.h"

#define T       uint8_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u8)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       int8_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i8)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       uint16_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u16)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       int16_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i16)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       uint32_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u32)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       int32_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i32)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       float
#define T_FLOAT 1
#define NAME(f) SUFFIX(f, f32)
#include "cpu/tmpl/integrate_tmpl.c"
#define T       double
#define T_FLOAT 1
#define NAME(f) SUFFIX(f, f64)
#include "cpu/tmpl/integrate_tmpl.c"

/* Whether any bit of these planes belongs to a pixel that counts. */
static inline bool SUFFIX(any_bit, planes)(const uint8_t *planes, size_t count, size_t row,
                                           const uint8_t *valid)
{
    uint8_t any = 0;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < row; i++)
            any |= planes[p * row + i] & valid[i];
    return any != 0;
}

static size_t SUFFIX(narrowest, planes)(const uint8_t *planes, size_t row, size_t elem_size,
                                        const uint8_t *valid)
{
    if (elem_size > 2 &&
        SUFFIX(any_bit, planes)(planes + 16 * row, 8 * (elem_size - 2), row, valid))
        return elem_size;
    if (elem_size > 1 && SUFFIX(any_bit, planes)(planes + 8 * row, 8, row, valid))
        return 2;
    return 1;
}
