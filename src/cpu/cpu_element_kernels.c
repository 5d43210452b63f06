#include "cpu/cpu_element.h"

#include <assert.h>
#include <math.h>

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_F32
#define AIRY_E(name)       element_##name##_f32
#define LIBM(name)         name##f
#include "cpu/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E
#undef LIBM

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_F64
#define AIRY_E(name)       element_##name##_f64
#define LIBM(name)         name
#include "cpu/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E
#undef LIBM

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_I64
#define AIRY_E(name)       element_##name##_i64
#include "cpu/element_tmpl.c"
#undef AIRY_ELEMENT_CLASS
#undef AIRY_E

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_WIDE
#define AIRY_E(name)       element_##name##_wide
#include "cpu/element_tmpl.c"

#define KERNELS(name)                                                                              \
    {                                                                                              \
        element_load_##name, element_fill_##name, element_run_##name, element_store_##name,        \
            element_inexact_##name                                                                 \
    }

const struct airy_element_kernels airy_element_kernels[4] = {[AIRY_ELEMENT_F32] = KERNELS(f32),
                                                             [AIRY_ELEMENT_F64] = KERNELS(f64),
                                                             [AIRY_ELEMENT_I64] = KERNELS(i64),
                                                             [AIRY_ELEMENT_WIDE] = KERNELS(wide)};
