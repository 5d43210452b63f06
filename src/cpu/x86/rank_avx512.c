/* The kernels of rank filters with AVX-512. */
#define SET  avx512
#define RATE 150
#include "cpu/rank_tmpl.c"
