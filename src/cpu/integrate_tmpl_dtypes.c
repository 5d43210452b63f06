/*
 * The plain kernels for all dtypes: defines sum_wide_u8_<set>, scan_u8_<set> and so on. Before it:
 *   LANES         frames side by side of the wide kernels
 *   SUFFIX(f, d)  f_d_<set>
 */
#include "cpu/integrate_tmpl_common.h"

#define T       uint8_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u8)
#include "cpu/integrate_tmpl.c"
#define T       int8_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i8)
#include "cpu/integrate_tmpl.c"
#define T       uint16_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u16)
#include "cpu/integrate_tmpl.c"
#define T       int16_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i16)
#include "cpu/integrate_tmpl.c"
#define T       uint32_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, u32)
#include "cpu/integrate_tmpl.c"
#define T       int32_t
#define T_FLOAT 0
#define NAME(f) SUFFIX(f, i32)
#include "cpu/integrate_tmpl.c"
#define T       float
#define T_FLOAT 1
#define NAME(f) SUFFIX(f, f32)
#include "cpu/integrate_tmpl.c"
#define T       double
#define T_FLOAT 1
#define NAME(f) SUFFIX(f, f64)
#include "cpu/integrate_tmpl.c"
