/* The kernels of rings with AVX2. */
#define SET avx2
#include "cpu/rings_tmpl.c"
