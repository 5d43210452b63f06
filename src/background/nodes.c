/* From the meshes' statistics to the nodes of the splines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_fns.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "reduce/select.h"

/* Of a row of nodes: the nearest good one at or before each, and at or after it; -1: none. */
struct neighbours {
    int64_t *before, *after;
};

static void find_neighbours(const struct neighbours *n, const double *level, const size_t nodes[2])
{
    for (size_t y = 0; y < nodes[0]; y++) {
        const double *row = level + y * nodes[1];
        int64_t *before = n->before + y * nodes[1], *after = n->after + y * nodes[1], last = -1;
        for (size_t x = 0; x < nodes[1]; x++) {
            last = isnan(row[x]) ? last : (int64_t)x;
            before[x] = last;
        }
        last = -1;
        for (size_t x = nodes[1]; x-- > 0;) {
            last = isnan(row[x]) ? last : (int64_t)x;
            after[x] = last;
        }
    }
}

/* Means over the good nodes that are nearest to a bad one. */
struct nearest {
    double distance2, level, noise;
    size_t count;
};

static void look_at(struct nearest *n, double distance2, double level, double noise)
{
    if (distance2 > n->distance2)
        return;
    if (distance2 < n->distance2)
        *n = (struct nearest){.distance2 = distance2};
    n->level += level;
    n->noise += noise;
    n->count++;
}

static struct nearest find_nearest(const struct neighbours *n, const double *level,
                                   const double *noise, const size_t nodes[2], size_t y, size_t x)
{
    struct nearest nearest = {.distance2 = (double)INFINITY};
    for (size_t j = 0; j < nodes[0]; j++) {
        const size_t row = j * nodes[1];
        const int64_t sides[2] = {n->before[row + x], n->after[row + x]};
        const double dy = (double)j - (double)y;
        for (int i = 0; i < 2; i++) {
            const double dx = (double)sides[i] - (double)x;
            /* The node in the same column is on both sides. */
            if (sides[i] >= 0 && !(i == 1 && sides[1] == sides[0]))
                look_at(&nearest, dx * dx + dy * dy, level[row + (size_t)sides[i]],
                        noise[row + (size_t)sides[i]]);
        }
    }
    return nearest;
}

airy_status airy_background_fill(double *level, double *noise, const size_t nodes[2], size_t *bad)
{
    const size_t count = nodes[0] * nodes[1];
    void *block;
    *bad = 0;
    for (size_t i = 0; i < count; i++)
        *bad += isnan(level[i]);
    if (*bad == 0 || *bad == count)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, count, 2 * (sizeof(int64_t) + sizeof(double)),
                                "nodes of a background"));
    const struct neighbours n = {.before = block, .after = (int64_t *)block + count};
    double *was[2] = {(double *)block + 2 * count, (double *)block + 3 * count};
    memcpy(was[0], level, count * sizeof(double));
    memcpy(was[1], noise, count * sizeof(double));
    find_neighbours(&n, was[0], nodes);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(was[0][i]))
            continue;
        const struct nearest nearest =
            find_nearest(&n, was[0], was[1], nodes, i / nodes[1], i % nodes[1]);
        level[i] = nearest.level / (double)nearest.count;
        noise[i] = nearest.noise / (double)nearest.count;
    }
    free(block);
    return AIRY_OK;
}

static double middle_of(double *values, size_t count)
{
    const double upper = airy_select_nth(values, count, count / 2);
    return count % 2 ? upper : 0.5 * airy_select_nth(values, count, count / 2 - 1) + 0.5 * upper;
}

airy_status airy_background_median(double *median, const double *values, size_t count)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(double), "nodes of a background"));
    memcpy(block, values, count * sizeof(double));
    *median = middle_of(block, count);
    free(block);
    return AIRY_OK;
}

/* Values of the window about node y, x, cut off evenly at the border; how many. */
static size_t take_window(double *to, const double *values, const size_t nodes[2],
                          const size_t window[2], size_t y, size_t x)
{
    const size_t ry = airy_min_size(window[0] / 2, airy_min_size(y, nodes[0] - 1 - y)),
                 rx = airy_min_size(window[1] / 2, airy_min_size(x, nodes[1] - 1 - x)),
                 width = 2 * rx + 1;
    for (size_t j = 0; j <= 2 * ry; j++)
        memcpy(to + j * width, values + (y - ry + j) * nodes[1] + x - rx, width * sizeof(*to));
    return (2 * ry + 1) * width;
}

airy_status airy_background_filter(double *level, double *noise, const size_t nodes[2],
                                   const size_t window[2], double threshold)
{
    const size_t count = nodes[0] * nodes[1];
    void *block;
    if (window[0] == 1 && window[1] == 1)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, 2 * count + window[0] * window[1], sizeof(double),
                                "nodes of a background"));
    double *was[2] = {block, (double *)block + count}, *values = was[1] + count;
    memcpy(was[0], level, count * sizeof(double));
    memcpy(was[1], noise, count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        const size_t y = i / nodes[1], x = i % nodes[1];
        const double median = middle_of(values, take_window(values, was[0], nodes, window, y, x));
        if (fabs(median - was[0][i]) < threshold)
            continue;
        level[i] = median;
        noise[i] = middle_of(values, take_window(values, was[1], nodes, window, y, x));
    }
    free(block);
    return AIRY_OK;
}

/*
 * Second derivatives over 6 of the natural cubic spline through n values a unit apart, `step`
 * elements from each other; room for n. With compat, what SExtractor makes of it: the step back
 * divides the whole sum by 6.
 */
static void bend(double *bends, const double *values, size_t n, size_t step, double *room,
                 bool compat)
{
    bends[0] = bends[(n - 1) * step] = 0;
    if (n < 3)
        return;
    double *factor = room, before = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        const double *v = values + i * step;
        factor[i] = -1 / ((i > 1 ? factor[i - 1] : 0) + 4);
        before = factor[i] * (before - (v[step] - 2 * v[0] + v[-(ptrdiff_t)step]));
        bends[i * step] = before;
    }
    for (size_t i = n - 2; i > 0; i--)
        bends[i * step] += factor[i] * bends[(i + 1) * step] * (compat ? 1.0 / 6.0 : 1.0);
}

airy_status airy_background_splines(double *planes, const double *values, double base,
                                    const size_t nodes[2], bool compat)
{
    const size_t ny = nodes[0], nx = nodes[1], count = ny * nx;
    double *value = planes, *along_y = planes + AIRY_BACKGROUND_ALONG_Y * count,
           *along_x = planes + AIRY_BACKGROUND_ALONG_X * count,
           *along_both = planes + AIRY_BACKGROUND_ALONG_BOTH * count;
    void *room;
    AIRY_TRY(airy_memory_calloc(&room, airy_max_size(ny, nx), sizeof(double),
                                "a spline of a background"));
    memset(planes, 0, AIRY_BACKGROUND_PLANES * count * sizeof(*planes));
    for (size_t i = 0; i < count; i++)
        value[i] = values[i] - base;
    for (size_t x = 0; x < nx; x++)
        bend(along_y + x, value + x, ny, nx, room, compat);
    for (size_t y = 0; y < ny && !(compat && ny == 1); y++) {
        bend(along_x + y * nx, value + y * nx, nx, 1, room, compat);
        bend(along_both + y * nx, along_y + y * nx, nx, 1, room, compat);
    }
    free(room);
    return AIRY_OK;
}
