/* The element kernels with AVX-512. */
#define SET avx512
#include "cpu/element_set_tmpl.c"
