/* The kernels of projections with AVX2. */
#define SET avx2
#include "cpu/tmpl/project_tmpl.c"
