/* The kernels of rings with AVX-512. */
#define SET avx512
#include "cpu/rings_tmpl.c"
