/* The kernels of projections with AVX-512. */
#define SET avx512
#include "cpu/tmpl/project_tmpl.c"
