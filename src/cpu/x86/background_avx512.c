/* The background kernels with AVX-512. */
#define SET avx512
#include "cpu/tmpl/background_tmpl.c"
