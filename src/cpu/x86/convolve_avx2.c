/* The convolution kernels with AVX2. */
#include <immintrin.h>

#define SET     avx2
#define MANY    2
#define F32     __m256
#define WIDTH32 8
#define LOAD32  _mm256_loadu_ps
#define STORE32 _mm256_storeu_ps
#define SPLAT32 _mm256_set1_ps
#define MADD32  _mm256_fmadd_ps
#define F64     __m256d
#define WIDTH64 4
#define LOAD64  _mm256_loadu_pd
#define STORE64 _mm256_storeu_pd
#define SPLAT64 _mm256_set1_pd
#define MADD64  _mm256_fmadd_pd
#include "cpu/tmpl/convolve_tmpl.c"
