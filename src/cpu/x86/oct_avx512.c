/* The OCT kernels with AVX-512. */
#include "cpu/x86/transpose.h"

#define SET                    avx512
#define V                      __m512
#define FMA                    _mm512_fmadd_ps
#define SQRT                   _mm512_sqrt_ps
#define WITHIN(x, limit, a, b) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, limit, _CMP_LE_OQ), b, a)
#define TRANSPOSE              transpose16
#include "cpu/oct_tmpl.c"
