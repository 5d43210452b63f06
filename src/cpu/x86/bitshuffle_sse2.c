#define LANES     1
#define NAME(x)   x##_sse2
#define NARROW(x) x##_portable
#include "cpu/bitshuffle_tmpl.h"
