#define LANES     1
#define NAME(x)   x##_sse2
#define NARROW(x) x##_portable
#include "cpu/tmpl/bitshuffle_tmpl.h"

static inline void store_lanes(uint8_t *p, size_t step, const vec v[LANES])
{
    (void)step;
    *(vec_bytes *)p = v[0];
}

static inline vec load_lanes(const uint8_t *p, size_t step)
{
    (void)step;
    return *(const vec_bytes *)p;
}
