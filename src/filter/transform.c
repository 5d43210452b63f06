/* How a convolution is cut into tiles for transforms. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "filter/filter_fns.h"

/* Work of one way to cut, in products of the direct method; fills what depends on the lengths. */
static double cut(struct airy_convolve_tiles *t, const struct airy_filter_geometry *g,
                  const struct airy_transform_cost *cost)
{
    double count = (double)g->images, elements = 1;
    const int axes = t->turned[0] + t->turned[1] + t->turned[2];
    for (int i = 0; i < 3; i++) {
        if (t->turned[i] && t->length[i] < g->axis[i].taps)
            return (double)INFINITY;
        t->block[i] = t->length[i] - (t->turned[i] ? g->axis[i].taps - 1 : 0);
        t->blocks[i] = (g->axis[i].out + t->block[i] - 1) / t->block[i];
        count *= (double)t->blocks[i];
        elements *= (double)t->length[i];
    }
    if (t->lines) {
        elements *= (double)t->rows;
        count = ceil(count / (double)t->rows);
    }
    if (elements > (double)cost->most)
        return (double)INFINITY;
    /* Two tiles are the real and the imaginary parts of one; the kernel's comes before all others. */
    const double slow = elements > (double)cost->cached
                            ? 1 + cost->beyond * log2(elements / (double)cost->cached)
                            : 1;
    return (ceil(count / 2) + cost->start) * elements * cost->element[axes - 1] * slow;
}

/* Whether a transform of n along an axis is worth a look: not shorter than the kernel, nor twice as
 * long as all that there is. */
static bool fits(const struct airy_filter_axis *axis, size_t n,
                 const struct airy_transform_cost *cost)
{
    return n >= axis->taps &&
           (n == cost->least || n / 2 < axis->taps || n / 2 < axis->out + axis->taps - 1);
}

/* The lengths that an axis may have: powers of two in [*first, *last]. */
static void range(const struct airy_convolve_tiles *t, const struct airy_filter_geometry *g, int i,
                  const struct airy_transform_cost *cost, size_t *first, size_t *last)
{
    *first = *last = i == 2 ? cost->width : 1;
    if (!t->turned[i])
        return;
    *first = cost->least;
    *last = cost->longest;
    while (*first < *last && !fits(&g->axis[i], *first, cost))
        *first *= 2;
    while (*last > *first && !fits(&g->axis[i], *last, cost))
        *last /= 2;
}

double airy_convolve_cut(struct airy_convolve_tiles *tiles, const struct airy_filter_geometry *g,
                         const struct airy_transform_cost *cost)
{
    struct airy_convolve_tiles t = {.rows = 1};
    double least = (double)INFINITY;
    size_t first[3], last[3];
    for (int i = 0; i < 3; i++)
        t.turned[i] = g->axis[i].taps > 1;
    t.turned[2] |= !t.turned[0] && !t.turned[1];
    t.lines = !t.turned[0] && !t.turned[1];
    if (t.lines)
        t.rows = cost->rows;
    for (int i = 0; i < 3; i++)
        range(&t, g, i, cost, &first[i], &last[i]);
    for (size_t z = first[0]; z <= last[0]; z *= 2)
        for (size_t y = first[1]; y <= last[1]; y *= 2)
            for (size_t x = first[2]; x <= last[2]; x *= 2) {
                memcpy(t.length, (const size_t[3]){z, y, x}, sizeof(t.length));
                const double work = cut(&t, g, cost);
                if (work >= least)
                    continue;
                least = work;
                *tiles = t;
            }
    return least;
}
