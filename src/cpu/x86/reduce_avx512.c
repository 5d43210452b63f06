/* The reduce kernels with AVX-512. */
#define SET avx512
#include "cpu/reduce_tmpl.c"
