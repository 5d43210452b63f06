/* The kernels of rank filters with AVX2. */
#define SET  avx2
#define RATE 100
#include "cpu/rank_tmpl.c"
