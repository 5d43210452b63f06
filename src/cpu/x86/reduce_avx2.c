/* The reduce kernels with AVX2. */
#define SET avx2
#include "cpu/reduce_tmpl.c"
