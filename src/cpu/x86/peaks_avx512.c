/* The peaks kernels with AVX-512. */
#define SET avx512
#include "cpu/tmpl/peaks_tmpl.c"
