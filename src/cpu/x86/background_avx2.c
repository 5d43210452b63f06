/* The background kernels with AVX2. */
#define SET avx2
#include "cpu/tmpl/background_tmpl.c"
