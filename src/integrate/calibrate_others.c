/* Rings of an image that are none of a calibrant's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "integrate/calibrate_parts.h"

enum { MOST_BINS = 16384, SIDE = 12 /* bins to either side that say what the background is */ };

/* Mean by 2theta, and its standard error by the scatter of the pixels. */
struct profile {
    double step; /* rad */
    size_t count;
    double *sum, *square, *n;
};

static void fill(struct profile *p, const struct airy_ring_image *image,
                 const struct airy_pose *pose, double *tth)
{
    for (size_t y = 0; y < image->height; y++) {
        airy_pose_radial(pose, AIRY_UNIT_TTH_RAD, (double)y + 0.5, 0.5, image->width, tth);
        for (size_t x = 0; x < image->width; x++) {
            const double v = (double)image->values[y * image->width + x];
            const double at = tth[x] / p->step;
            if (!isfinite(v) || !(at < (double)p->count))
                continue;
            const size_t bin = (size_t)at;
            p->sum[bin] += v;
            p->square[bin] += v * v;
            p->n[bin]++;
        }
    }
    for (size_t b = 0; b < p->count; b++) {
        p->sum[b] /= p->n[b];
        p->square[b] = sqrt(fmax(p->square[b] / p->n[b] - p->sum[b] * p->sum[b], 0) / p->n[b]);
    }
}

/* How far a bin stands out of the lower half of those around it; 0 where it is no local maximum. */
static double rise(const struct profile *p, size_t bin)
{
    double around[2 * SIDE + 1];
    size_t n = 0;
    if (bin < SIDE || bin + SIDE >= p->count || !(p->n[bin] >= 20))
        return 0;
    for (size_t b = bin - SIDE; b <= bin + SIDE; b++) {
        if (!(p->n[b] >= 20))
            return 0;
        if (b + 3 >= bin && b <= bin + 3 && p->sum[b] > p->sum[bin])
            return 0;
        around[n++] = p->sum[b];
    }
    qsort(around, n, sizeof(*around), airy_by_value);
    const double height = p->sum[bin] - around[n / 4];
    return height > 8 * p->square[bin] ? height : 0;
}

/* The ring nearest to a 2theta lies within `near`. */
static bool is_ring(const double *spacing, size_t rings, double wavelength, double tth, double near)
{
    for (size_t k = 0; k < rings; k++)
        if (fabs(airy_ring_tth(spacing[k], wavelength) - tth) <= near)
            return true;
    return false;
}

airy_status airy_ring_others(size_t *others, const struct airy_ring_image *image,
                             const airy_geometry *geometry, const double *spacing, size_t rings,
                             double width)
{
    struct airy_pose pose;
    airy_pose_make(&pose, geometry);
    const double px = airy_pixel_length(&geometry->detector) / geometry->dist;
    struct profile p = {.step = fmax(width / 3 * px, 1e-6), .count = MOST_BINS};
    double *block = calloc(4 * (size_t)MOST_BINS, sizeof(*block)),
           *tth = malloc(image->width * sizeof(*tth));
    if (!block || !tth) {
        free(block);
        free(tth);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a profile of %d bins", MOST_BINS);
    }
    p.sum = block;
    p.square = block + MOST_BINS;
    p.n = block + 2 * MOST_BINS;
    double *heights = block + 3 * MOST_BINS;
    fill(&p, image, &pose, tth);
    size_t own = 0;
    *others = 0;
    for (int pass = 0; pass < 2; pass++) {
        const double least = own ? 0.1 * heights[own / 2] : 0;
        for (size_t b = 0; b < p.count; b++) {
            const double height = rise(&p, b), at = ((double)b + 0.5) * p.step;
            if (!(height > least))
                continue;
            const bool known = is_ring(spacing, rings, geometry->wavelength, at, width * px);
            if (pass == 0 && known)
                heights[own++] = height;
            *others += pass == 1 && !known;
        }
        if (pass == 0)
            qsort(heights, own, sizeof(*heights), airy_by_value);
    }
    free(block);
    free(tth);
    return AIRY_OK;
}
