/*
 * Convolution on the CPU for one dtype of result: included by cpu_convolve.c with
 *   W          float or double       NAME(f)   f with the dtype in its name
 *   LOADS, SUM, BLOCK   the kernels of this dtype
 * A task is a tile of rows: the rows of the source that it looks at become lines with their borders
 * in thread-local memory, and results are sums over these.
 */

void NAME(airy_convolve_line)(const struct airy_convolve_source *source, W *line, size_t image,
                              int64_t z, int64_t y, int64_t first, size_t n)
{
    const struct airy_filter_geometry *g = source->geometry;
    const struct airy_filter_axis *x = &g->axis[2];
    const size_t elem = airy_dtype_size(source->dtype);
    const char *row = source_row(source, image, z, y);
    const W value = (W)g->border_value;
    size_t i = 0;
    if (!row) {
        for (; i < n; i++)
            line[i] = value;
        return;
    }
    while (i < n) {
        const int64_t at = first + (int64_t)i;
        if (at >= 0 && at < (int64_t)x->n) {
            const size_t inside = airy_min_size(n - i, x->n - (size_t)at);
            source->kernels->LOADS[source->dtype](line + i, row + (size_t)at * elem, inside);
            i += inside;
            continue;
        }
        const int64_t from = airy_border_index(at, (int64_t)x->n, (uint32_t)g->border);
        if (from < 0)
            line[i] = value;
        else
            source->kernels->LOADS[source->dtype](line + i, row + (size_t)from * elem, 1);
        i++;
    }
}

/* The line of source row (z, y) that columns [x0, x1) of results look at. */
static void NAME(make_row)(const struct job *job, W *line, const struct tile *t, int64_t z,
                           int64_t y)
{
    const struct airy_filter_axis *x = &job->geometry->axis[2];
    NAME(airy_convolve_line)
    (&job->source, line, t->image, z, y, (int64_t)t->x0 + x->offset - (int64_t)(x->taps - 1),
     t->x1 - t->x0 + x->taps - 1);
}

/* `count` results from [planes][rows + count - 1] lines: a block at once, fewer one by one. */
static void NAME(sum_block)(const struct job *job, W *const *out, size_t count, const W *const *row,
                            size_t planes, size_t rows, const W *weights, size_t taps, size_t n,
                            bool add)
{
    if (count == AIRY_CONVOLVE_ROWS && rows >= AIRY_CONVOLVE_ROWS - 1) {
        job->kernels->BLOCK(out, row, planes, rows, weights, taps, n, add);
        return;
    }
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < planes; c++)
            job->kernels->SUM(out[k], row + c * (rows + count - 1) + k, rows,
                              weights + c * rows * taps, taps, n, add || c > 0);
}

/* Where results of rows y to y + count - 1 of plane z of a tile go. */
static void NAME(find_results)(W **out, const struct job *job, const struct tile *t, size_t z,
                               size_t y, size_t count)
{
    for (size_t k = 0; k < count; k++)
        out[k] = (W *)(void *)result_row(job, t->image, z, y + k) + t->x0;
}

/* A tile of results of the direct method. */
static void NAME(direct_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *az = &job->geometry->axis[0], *ay = az + 1, *ax = az + 2;
    const size_t lines = t->y1 - t->y0 + ay->taps - 1, step = job->line_step;
    const W **row = scratch;
    W *line = (W *)(void *)((char *)scratch + job->lines_at);
    for (size_t k = 0; k < az->taps; k++)
        for (size_t i = 0; i < lines; i++)
            NAME(make_row)
    (job, line + (k * lines + i) * step, t,
     (int64_t)(t->z + k) + az->offset - (int64_t)(az->taps - 1),
     (int64_t)(t->y0 + i) + ay->offset - (int64_t)(ay->taps - 1));
    for (size_t y = t->y0, count; y < t->y1; y += count) {
        count = airy_min_size(t->y1 - y, AIRY_CONVOLVE_ROWS);
        size_t rows = 0;
        for (size_t k = 0; k < az->taps; k++)
            for (size_t j = 0; j < ay->taps + count - 1; j++)
                row[rows++] = line + (k * lines + y - t->y0 + j) * step;
        W *out[AIRY_CONVOLVE_ROWS];
        NAME(find_results)(out, job, t, t->z, y, count);
        NAME(sum_block)
        (job, out, count, row, az->taps, ay->taps, job->weights, ax->taps, t->x1 - t->x0, false);
    }
}

/* Whether any of AIRY_CONVOLVE_LOOK elements is that of b at its place and not 0: few instructions. */
static bool NAME(any_same)(const W *a, const W *b)
{
    unsigned any = 0;
    for (size_t q = 0; q < AIRY_CONVOLVE_LOOK; q++)
        any |= (unsigned)(a[q] == b[q]) & (unsigned)(a[q] != (W)0);
    return any != 0;
}

/*
 * Weights that add up to 1 leave a constant as it is, but the rounding of partial sums does not: where
 * all elements that a result looks at are equal, it is their value. out: of n results, made from n +
 * taps - 1 elements. A run of `taps` equal ones has a pair at one of every taps - 1 places, where
 * alone this looks; 0 is exact.
 */
static void NAME(keep_runs)(W *out, const W *line, size_t taps, size_t n)
{
    const size_t total = n + taps - 1, step = taps - 1;
    /* Few taps: places are so near to one another that looking at all at once is faster. */
    size_t looked = step < AIRY_CONVOLVE_LOOK / 4 ? 0 : SIZE_MAX;
    for (size_t k = 0; taps > 1 && k + 1 < total; k += step) {
        for (; k >= looked && k + AIRY_CONVOLVE_LOOK < total; k += AIRY_CONVOLVE_LOOK) {
            looked = k + AIRY_CONVOLVE_LOOK;
            if (NAME(any_same)(line + k, line + k + 1))
                break;
        }
        if (k + 1 >= total)
            break;
        const W value = line[k];
        if (value != line[k + 1] || value == (W)0)
            continue;
        size_t first = k, last = k + 1;
        while (first > 0 && line[first - 1] == value)
            first--;
        while (last + 1 < total && line[last + 1] == value)
            last++;
        for (size_t i = first; i + step <= last; i++)
            out[i] = value;
        k += (last - k - 1) / step * step;
    }
}

/* The same of columns [i, n): one element of each of `taps` > 1 rows. */
static void NAME(keep_columns)(W *out, const W *const *row, size_t taps, size_t i, size_t n)
{
    enum { EACH = 16 };
    for (; i < n; i += EACH) {
        const size_t count = airy_min_size(EACH, n - i);
        uint8_t same[EACH];
        unsigned any = 0;
        for (size_t q = 0; q < count; q++)
            any |= same[q] = row[0][i + q] == row[1][i + q] && row[0][i + q] != (W)0;
        for (size_t j = 2; j < taps && any; j++) {
            any = 0;
            for (size_t q = 0; q < count; q++)
                any |= same[q] &= row[0][i + q] == row[j][i + q];
        }
        for (size_t q = 0; q < count && any; q++)
            out[i + q] = same[q] ? row[0][i + q] : out[i + q];
    }
}

/* Look for equal elements of n columns of two rows, the first of which is number `at`. */
static struct pairs NAME(look)(const W *a, const W *b, size_t at, size_t n)
{
    struct pairs pairs = {.at = at};
    size_t i = 0;
    for (; i + AIRY_CONVOLVE_LOOK <= n; i += AIRY_CONVOLVE_LOOK)
        pairs.blocks |= (uint64_t)NAME(any_same)(a + i, b + i) << i / AIRY_CONVOLVE_LOOK;
    for (; i < n; i++)
        pairs.blocks |= (uint64_t)(a[i] == b[i] && a[i] != (W)0) << i / AIRY_CONVOLVE_LOOK;
    return pairs;
}

/*
 * The same of `count` results of n columns, the first of which looks at `taps` rows from row[0] on,
 * number `first`. Pairs are those of the two rows at the multiple of taps - 1 that a result looks at.
 */
static void NAME(keep_rows)(struct pairs *pairs, W *const *out, size_t count, const W *const *row,
                            size_t first, size_t taps, size_t n)
{
    const size_t step = taps - 1;
    for (size_t k = 0; k < count && taps > 1; k++) {
        const size_t at = (first + k + step - 1) / step * step;
        if (at != pairs->at)
            *pairs = NAME(look)(row[at - first], row[at - first + 1], at, n);
        for (size_t i = 0; pairs->blocks != 0 && i < n; i += AIRY_CONVOLVE_LOOK)
            if (pairs->blocks >> i / AIRY_CONVOLVE_LOOK & 1)
                NAME(keep_columns)
        (out[k], row + k, taps, i, airy_min_size(i + AIRY_CONVOLVE_LOOK, n));
    }
}

/*
 * The products along x and y of a tile. A ring of lines has what x gives of the rows that a block of
 * results looks at, so that each row is read once and the ring stays in the cache.
 */
static void NAME(lines_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *ay = &job->geometry->axis[1], *ax = ay + 1;
    const size_t n = t->x1 - t->x0, step = job->line_step, rank = (size_t)job->plan->rank,
                 turn = ay->taps + AIRY_CONVOLVE_ROWS - 1;
    const W **row = scratch;
    W *line = (W *)(void *)((char *)scratch + job->lines_at), *ring = line + job->source_step;
    const W *from = line;
    struct pairs pairs = {.at = SIZE_MAX};
    size_t made = 0;
    for (size_t y = t->y0, count; y < t->y1; y += count) {
        W *out[AIRY_CONVOLVE_ROWS];
        count = airy_min_size(t->y1 - y, AIRY_CONVOLVE_ROWS);
        const size_t first = y - t->y0, needed = first + ay->taps + count - 1;
        for (; made < needed; made++) {
            NAME(make_row)
            (job, line, t, (int64_t)t->z,
             (int64_t)(t->y0 + made) + ay->offset - (int64_t)(ay->taps - 1));
            for (size_t r = 0; r < rank; r++)
                job->kernels->SUM(ring + (r * turn + made % turn) * step, &from, 1,
                                  (const W *)job->weights + r * (ay->taps + ax->taps) + ay->taps,
                                  ax->taps, n, false);
            if (job->plan->unit)
                NAME(keep_runs)(ring + made % turn * step, line, ax->taps, n);
        }
        NAME(find_results)(out, job, t, t->z, y, count);
        for (size_t r = 0; r < rank; r++) {
            for (size_t j = 0; j < ay->taps + count - 1; j++)
                row[j] = ring + (r * turn + (first + j) % turn) * step;
            NAME(sum_block)
            (job, out, count, row, 1, ay->taps, (const W *)job->weights + r * (ay->taps + ax->taps),
             1, n, r > 0);
        }
        if (job->plan->unit)
            NAME(keep_rows)(&pairs, out, count, row, first, ay->taps, n);
    }
}

/* The product along z of columns [x0, x1) of row y0, from planes that may be those of dst. */
static void NAME(columns_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *az = &job->geometry->axis[0];
    const size_t n = t->x1 - t->x0, step = job->line_step;
    const W **row = scratch;
    W *slab = (W *)(void *)((char *)scratch + job->lines_at), *outside = slab + az->n * step;
    for (size_t z = 0; z < az->n; z++)
        memcpy(slab + z * step, (const W *)(const void *)plane_row(job, t->image, z, t->y0) + t->x0,
               n * sizeof(W));
    for (size_t i = 0; i < n; i++)
        outside[i] = (W)job->outside;
    struct pairs pairs = {.at = SIZE_MAX};
    for (size_t z = 0, count; z < az->out; z += count) {
        W *out[AIRY_CONVOLVE_ROWS];
        count = airy_min_size(az->out - z, AIRY_CONVOLVE_ROWS);
        for (size_t k = 0; k < az->taps + count - 1; k++) {
            const int64_t at =
                airy_border_index((int64_t)(z + k) + az->offset - (int64_t)(az->taps - 1),
                                  (int64_t)az->n, (uint32_t)job->geometry->border);
            row[k] = at < 0 ? outside : slab + (size_t)at * step;
        }
        for (size_t k = 0; k < count; k++)
            out[k] = (W *)(void *)result_row(job, t->image, z + k, t->y0) + t->x0;
        NAME(sum_block)(job, out, count, row, 1, az->taps, job->weights, 1, n, false);
        if (job->plan->unit)
            NAME(keep_rows)(&pairs, out, count, row, z, az->taps, n);
    }
}

static const struct tiles NAME(tiles) = {
    .direct = NAME(direct_tile), .lines = NAME(lines_tile), .columns = NAME(columns_tile)};

#undef W
#undef NAME
#undef LOADS
#undef SUM
#undef BLOCK
