/* The peaks kernels with AVX2. */
#define SET avx2
#include "cpu/tmpl/peaks_tmpl.c"
