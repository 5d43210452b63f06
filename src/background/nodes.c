/* From the meshes' statistics to the nodes of the splines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_fns.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "reduce/select.h"
#include "shared/middle.h"

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

/*
 * Of a column of nodes, the rows whose nearest good node in the row may be the nearest one of all to
 * some node of the column: the square of the distance to y is gap + (y - row)^2, and these parabolas,
 * all of the same shape, are those on the lower envelope, or touching it (A. Meijster, J. Roerdink,
 * W. Hesselink, in Mathematical Morphology and its Applications to Image and Signal Processing
 * (2000), p. 331). So all nodes of a column take as many steps as it has rows, and one for each of
 * the nearest ones.
 */
struct candidate {
    int64_t row, gap;
};

__extension__ typedef __int128 wide;

static int64_t distance2(const struct candidate *c, int64_t y)
{
    return c->gap + (y - c->row) * (y - c->row);
}

/* From where b is nearer than a on, b is not nearer than c: it is nowhere the nearest. */
static bool is_hidden(const struct candidate *a, const struct candidate *b,
                      const struct candidate *c)
{
    const wide before = (wide)b->row * b->row + b->gap - (wide)a->row * a->row - a->gap,
               after = (wide)c->row * c->row + c->gap - (wide)b->row * b->row - b->gap;
    return before * (c->row - b->row) > after * (b->row - a->row);
}

static size_t find_candidates(struct candidate *c, const struct neighbours *n,
                              const size_t nodes[2], size_t x)
{
    size_t count = 0;
    for (size_t j = 0; j < nodes[0]; j++) {
        const int64_t before = n->before[j * nodes[1] + x], after = n->after[j * nodes[1] + x],
                      left = (int64_t)x - before, right = after - (int64_t)x;
        if (before < 0 && after < 0)
            continue;
        const int64_t gap = after < 0 || (before >= 0 && left < right) ? left : right;
        const struct candidate next = {(int64_t)j, gap * gap};
        while (count > 1 && is_hidden(&c[count - 2], &c[count - 1], &next))
            count--;
        c[count++] = next;
    }
    return count;
}

/* Means over the good nodes that are nearest to a bad one: of rows from c on that are as near. */
static void fill_node(double *level, double *noise, double *const was[2],
                      const struct neighbours *n, const struct candidate *c,
                      const struct candidate *end, size_t width, size_t y, size_t x)
{
    const int64_t least = distance2(c, (int64_t)y);
    double sum[2] = {0, 0};
    size_t count = 0;
    for (; c < end && distance2(c, (int64_t)y) == least; c++) {
        const size_t row = (size_t)c->row * width;
        const int64_t before = n->before[row + x], after = n->after[row + x];
        /* The node in the same column is on both sides. */
        for (int i = before == after; i < 2; i++) {
            const int64_t side = i ? after : before, dx = side - (int64_t)x;
            if (side < 0 || dx * dx != c->gap)
                continue;
            sum[0] += was[0][row + (size_t)side];
            sum[1] += was[1][row + (size_t)side];
            count++;
        }
    }
    *level = sum[0] / (double)count;
    *noise = sum[1] / (double)count;
}

static void fill_column(double *level, double *noise, double *const was[2],
                        const struct neighbours *n, struct candidate *c, const size_t nodes[2],
                        size_t x)
{
    const struct candidate *nearest = c, *end = c + find_candidates(c, n, nodes, x);
    for (size_t y = 0; y < nodes[0]; y++) {
        const size_t i = y * nodes[1] + x;
        if (!isnan(was[0][i]))
            continue;
        while (nearest + 1 < end &&
               distance2(nearest + 1, (int64_t)y) < distance2(nearest, (int64_t)y))
            nearest++;
        fill_node(&level[i], &noise[i], was, n, nearest, end, nodes[1], y, x);
    }
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
    AIRY_TRY(airy_memory_calloc(&block, count + nodes[0], 2 * (sizeof(int64_t) + sizeof(double)),
                                "nodes of a background"));
    const struct neighbours n = {.before = block, .after = (int64_t *)block + count};
    double *const was[2] = {(double *)block + 2 * count, (double *)block + 3 * count};
    memcpy(was[0], level, count * sizeof(double));
    memcpy(was[1], noise, count * sizeof(double));
    find_neighbours(&n, was[0], nodes);
    for (size_t x = 0; x < nodes[1]; x++)
        fill_column(level, noise, was, &n, (struct candidate *)((int64_t *)block + 4 * count),
                    nodes, x);
    free(block);
    return AIRY_OK;
}

static double middle_of(double *values, size_t count)
{
    const double upper = airy_select_nth(values, count, count / 2);
    return count % 2 ? upper : airy_middle(airy_select_nth(values, count, count / 2 - 1), upper);
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

static double less(double a, double b)
{
    return a < b ? a : b;
}

static double more(double a, double b)
{
    return a < b ? b : a;
}

static double middle(double a, double b, double c)
{
    return more(less(a, b), less(more(a, b), c));
}

/*
 * Medians over 3 x 3 of a row of n nodes that has a row on each side, but for its first and last
 * node, without a branch, which data as random as these would make wait; room: for 3 n. Source: A. W.
 * Paeth, in Graphics Gems (1990), p. 171: threes, here the columns, are ordered; of the least ones
 * the largest, of the middles the middle and of the largest ones the least remain.
 */
static void middles_of_nine(double *medians, double *room, const double *row, size_t n)
{
    const double *above = row - n, *below = row + n;
    double *low = room, *mid = room + n, *high = room + 2 * n;
    for (size_t x = 0; x < n; x++) {
        low[x] = less(less(above[x], row[x]), below[x]);
        mid[x] = middle(above[x], row[x], below[x]);
        high[x] = more(more(above[x], row[x]), below[x]);
    }
    for (size_t x = 1; x + 1 < n; x++)
        medians[x] = middle(more(more(low[x - 1], low[x]), low[x + 1]),
                            middle(mid[x - 1], mid[x], mid[x + 1]),
                            less(less(high[x - 1], high[x]), high[x + 1]));
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

static double window_median(double *room, const double *values, const size_t nodes[2],
                            const size_t window[2], size_t y, size_t x)
{
    return middle_of(room, take_window(room, values, nodes, window, y, x));
}

airy_status airy_background_filter(double *level, double *noise, const size_t nodes[2],
                                   const size_t window[2], double threshold)
{
    const size_t width = nodes[1], count = nodes[0] * width;
    void *block;
    if (window[0] == 1 && window[1] == 1)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, 2 * count + 5 * width + window[0] * window[1],
                                sizeof(double), "nodes of a background"));
    double *was[2] = {block, (double *)block + count}, *medians[2] = {was[1] + count},
           *room = was[1] + count + 2 * width;
    medians[1] = medians[0] + width;
    memcpy(was[0], level, count * sizeof(double));
    memcpy(was[1], noise, count * sizeof(double));
    for (size_t y = 0; y < nodes[0]; y++) {
        const bool quick = window[0] == 3 && window[1] == 3 && y > 0 && y + 1 < nodes[0];
        for (int k = 0; k < 2 && quick; k++)
            middles_of_nine(medians[k], room, was[k] + y * width, width);
        for (size_t x = 0; x < width; x++) {
            const size_t i = y * width + x;
            const bool has = quick && x > 0 && x + 1 < width;
            const double median = has ? medians[0][x]
                                      : window_median(room, was[0], nodes, window, y, x);
            if (fabs(median - was[0][i]) < threshold)
                continue;
            level[i] = median;
            noise[i] = has ? medians[1][x] : window_median(room, was[1], nodes, window, y, x);
        }
    }
    free(block);
    return AIRY_OK;
}

/* Lines of a grid: `lines` of n values, which lie a step apart; each begins `apart` from the last. */
struct lines {
    size_t n, step, lines, apart;
};

/*
 * Second derivatives over 6 of the natural cubic splines through values a unit apart; factors: room
 * for n. With compat, what SExtractor makes of it: the step back divides the whole sum by 6. Lines
 * are taken a few at a time, so that none has to wait for the one before.
 */
static void bend(double *bends, const double *values, const struct lines *l, double *factors,
                 bool compat)
{
    enum { TOGETHER = 8 };
    const size_t step = l->step;
    for (size_t i = 1; i + 1 < l->n; i++)
        factors[i] = -1 / ((i > 1 ? factors[i - 1] : 0) + 4);
    for (size_t first = 0; first < l->lines; first += TOGETHER) {
        const size_t begin = first * l->apart,
                     end = airy_min_size(first + TOGETHER, l->lines) * l->apart;
        for (size_t i = 1; i + 1 < l->n; i++)
            for (size_t k = begin + i * step; k < end + i * step; k += l->apart)
                bends[k] = factors[i] * ((i > 1 ? bends[k - step] : 0) -
                                         (values[k + step] - 2 * values[k] + values[k - step]));
        for (size_t i = l->n > 3 ? l->n - 3 : 0; i > 0; i--) { /* the last but one has all of it */
            const double factor = compat ? factors[i] / 6 : factors[i];
            for (size_t k = begin + i * step; k < end + i * step; k += l->apart)
                bends[k] += factor * bends[k + step];
        }
    }
}

airy_status airy_background_splines(double *planes, const double *values, double base,
                                    const size_t nodes[2], bool compat)
{
    const size_t ny = nodes[0], nx = nodes[1], count = ny * nx;
    double *value = planes, *along_y = planes + AIRY_BACKGROUND_ALONG_Y * count,
           *along_x = planes + AIRY_BACKGROUND_ALONG_X * count,
           *along_both = planes + AIRY_BACKGROUND_ALONG_BOTH * count;
    const struct lines columns = {.n = ny, .step = nx, .lines = nx, .apart = 1},
                       rows = {.n = nx, .step = 1, .lines = ny, .apart = nx};
    void *factors;
    AIRY_TRY(airy_memory_calloc(&factors, airy_max_size(ny, nx), sizeof(double),
                                "a spline of a background"));
    memset(planes, 0, AIRY_BACKGROUND_PLANES * count * sizeof(*planes));
    for (size_t i = 0; i < count; i++)
        value[i] = values[i] - base;
    bend(along_y, value, &columns, factors, compat);
    if (!compat || ny > 1) {
        bend(along_x, value, &rows, factors, compat);
        bend(along_both, along_y, &rows, factors, compat);
    }
    free(factors);
    return AIRY_OK;
}
