#include "ref_rank.h"

#include <stdlib.h>
#include <string.h>

void ref_rank(void *dst, const void *src, const struct ref_rank *p)
{
    const char *from = src;
    char *to = dst, *seen = malloc(p->k[0] * p->k[1] * p->k[2] * p->elem);
    for (size_t z = 0; z < p->n[0]; z++)
        for (size_t y = 0; y < p->n[1]; y++)
            for (size_t x = 0; x < p->n[2]; x++, to += p->elem) {
                size_t count = 0, at = 0;
                for (size_t c = 0; c < p->k[0]; c++)
                    for (size_t b = 0; b < p->k[1]; b++)
                        for (size_t a = 0; a < p->k[2]; a++, at++) {
                            if (p->footprint && !p->footprint[at])
                                continue;
                            const long i = ref_border_index((long)(z + c) - (long)p->before[0],
                                                            (long)p->n[0], p->border),
                                       j = ref_border_index((long)(y + b) - (long)p->before[1],
                                                            (long)p->n[1], p->border),
                                       k = ref_border_index((long)(x + a) - (long)p->before[2],
                                                            (long)p->n[2], p->border);
                            const char *element =
                                i < 0 || j < 0 || k < 0
                                    ? p->value
                                    : from + (((size_t)i * p->n[1] + (size_t)j) * p->n[2] +
                                              (size_t)k) *
                                                 p->elem;
                            memcpy(seen + count++ * p->elem, element, p->elem);
                        }
                qsort(seen, count, p->elem, p->compare);
                memcpy(to, seen + p->rank * p->elem, p->elem);
            }
    free(seen);
}
