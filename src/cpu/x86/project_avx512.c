/* The kernels of projections with AVX-512. */
#define SET avx512
#include "cpu/project_tmpl.c"
