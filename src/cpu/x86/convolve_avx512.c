/* The convolution kernels with AVX-512. */
#include <immintrin.h>

#define SET     avx512
#define MANY    4
#define F32     __m512
#define WIDTH32 16
#define LOAD32  _mm512_loadu_ps
#define STORE32 _mm512_storeu_ps
#define SPLAT32 _mm512_set1_ps
#define MADD32  _mm512_fmadd_ps
#define F64     __m512d
#define WIDTH64 8
#define LOAD64  _mm512_loadu_pd
#define STORE64 _mm512_storeu_pd
#define SPLAT64 _mm512_set1_pd
#define MADD64  _mm512_fmadd_pd
#include "cpu/tmpl/convolve_tmpl.c"
