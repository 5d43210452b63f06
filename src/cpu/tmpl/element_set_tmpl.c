/*
 * The element kernels of all classes: compiled once for each instruction set, which defines SET, its
 * name, first. Loops are left to the compiler's vectors; each element is computed by itself, so that
 * the bits are the same in all sets.
 */
#include <assert.h>
#include <math.h>

#include "cpu/cpu_element.h"
#include "cpu/tmpl/element_math.h"
#include "cpu/tmpl/set_tmpl.h"

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_F32
#define AIRY_E(name)       element_##name##_f32
#define LIBM(name)         name##f
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E
#undef LIBM

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_F64
#define AIRY_E(name)       element_##name##_f64
#define LIBM(name)         name
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E
#undef LIBM

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_I64
#define AIRY_E(name)       element_##name##_i64
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_I32
#define AIRY_E(name)       element_##name##_i32
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_U8
#define AIRY_E(name)       element_##name##_u8
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_U16
#define AIRY_E(name)       element_##name##_u16
#include "cpu/tmpl/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_WIDE
#define AIRY_E(name)       element_##name##_wide
#include "cpu/tmpl/element_tmpl.c"

#define KERNELS(name)                                                                              \
    {                                                                                              \
        element_load_##name, element_fill_##name, element_run_##name, element_test_##name,         \
            element_store_##name, element_inexact_##name                                           \
    }

const struct airy_element_kernels NAME(airy_element)[AIRY_ELEMENT_CLASSES] = {
    [AIRY_ELEMENT_F32] = KERNELS(f32),   [AIRY_ELEMENT_F64] = KERNELS(f64),
    [AIRY_ELEMENT_I64] = KERNELS(i64),   [AIRY_ELEMENT_I32] = KERNELS(i32),
    [AIRY_ELEMENT_U8] = KERNELS(u8),     [AIRY_ELEMENT_U16] = KERNELS(u16),
    [AIRY_ELEMENT_WIDE] = KERNELS(wide),
};
