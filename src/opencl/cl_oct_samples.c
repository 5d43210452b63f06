/* How kernels of OCT load samples (kernels/oct_samples.h). */
#include <stdio.h>

#include "core/objects.h"
#include "opencl/cl_oct.h"

unsigned airy_cl_oct_at_once(const struct airy_cl_oct *impl, const struct airy_oct *oct,
                             const airy_array *src, unsigned most)
{
    const size_t n = oct->p.samples, together = src->offset | oct->info.line_bytes;
    unsigned at_once = impl->bits == 10 ? 16 : impl->bits == 12 ? 8 : impl->bits == 32 ? 1 : 4;
    if (impl->bits == 16) {
        at_once = most < at_once ? most : at_once;
        while (at_once > 1 && (n % at_once != 0 || together % (2 * at_once) != 0))
            at_once /= 2;
        return at_once;
    }
    return n % at_once == 0 && together % 4 == 0 ? at_once : 1;
}

void airy_cl_oct_sample_options(char *text, size_t size, const struct airy_cl_oct *impl,
                                const struct airy_oct *oct, unsigned at_once)
{
    snprintf(text, size, "-DBITS=%u -DBIG=%d -DSIGNED=%d -DSHIFT=%d -DAT_ONCE=%u", impl->bits,
             oct->p.big_endian && impl->bits != 8, impl->is_signed, oct->p.bit_shift, at_once);
}
