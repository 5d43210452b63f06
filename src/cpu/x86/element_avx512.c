/* The element kernels with AVX-512. */
#define SET avx512
#include "cpu/tmpl/element_set_tmpl.c"
