#define LANES     2
#define NAME(x)   x##_avx2
#define NARROW(x) x##_sse2
#include "cpu/bitshuffle_tmpl.h"
