/* The element kernels with AVX2. */
#define SET avx2
#include "cpu/tmpl/element_set_tmpl.c"
