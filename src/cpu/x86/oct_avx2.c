/* The OCT kernels with AVX2. */
#include "cpu/x86/transpose.h"

#define SET                    avx2
#define V                      __m256
#define FMA                    _mm256_fmadd_ps
#define SQRT                   _mm256_sqrt_ps
#define AT_LEAST(a, b)         _mm256_max_ps(a, b)
#define WITHIN(x, limit, a, b) _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, limit, _CMP_LE_OQ))
#define STREAM(p, v)           _mm256_stream_ps(p, v)
#define FENCE()                _mm_sfence()
#define TRANSPOSE              transpose8
#include "cpu/tmpl/oct_tmpl.c"
