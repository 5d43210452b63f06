#define LANES     4
#define NAME(x)   x##_avx512
#define NARROW(x) x##_avx2
#include "cpu/bitshuffle_tmpl.h"
