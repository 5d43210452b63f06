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

/* Whether any of AIRY_CONVOLVE_LOOK elements is equal to that of b at its place: few instructions. */
static bool NAME(any_same)(const W *a, const W *b)
{
    unsigned any = 0;
    for (size_t q = 0; q < AIRY_CONVOLVE_LOOK; q++)
        any |= a[q] == b[q];
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

/*
 * What keeping equal elements of n columns needs: each result is made of `taps` rows that follow one
 * another. Of each taps - 1 results the rows number taps - 2 and taps - 1 from the first result on are
 * the pair that all of them look at.
 *   blocks   a bit for each AIRY_CONVOLVE_LOOK columns: some of them have equal elements in the pair
 *   above    in these, how many rows above the pair are equal to it without a gap; -1: a result
 *            before, or the pair, has others
 */
struct NAME(columns) {
    size_t taps, n;
    W *above;
    uint64_t blocks;
};
_Static_assert(TILE_X / AIRY_CONVOLVE_LOOK <= 64, "blocks of a tile");

/* The blocks in which rows a and b have equal elements other than 0. */
static uint64_t NAME(look)(const W *a, const W *b, size_t n)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < n; i += AIRY_CONVOLVE_LOOK) {
        const size_t end = airy_min_size(i + AIRY_CONVOLVE_LOOK, n);
        unsigned any = 0;
        if (end - i == AIRY_CONVOLVE_LOOK && !NAME(any_same)(a + i, b + i))
            continue;
        for (size_t q = i; q < end; q++)
            any |= a[q] == b[q] && a[q] != (W)0;
        blocks |= (uint64_t)any << i / AIRY_CONVOLVE_LOOK;
    }
    return blocks;
}

/* Count what stands above the pair, rows taps - 2 and taps - 1, of columns [i, end). */
static void NAME(count_above)(W *restrict above, const W *const *row, size_t taps, size_t i,
                              size_t end)
{
    const W *restrict value = row[taps - 2], *restrict next = row[taps - 1];
    for (size_t q = i; q < end; q++)
        above[q] = value[q] == next[q] && value[q] != (W)0 ? (W)0 : (W)-1;
    unsigned any = 1;
    for (size_t k = 0; k + 2 < taps && any; k++) {
        const W *restrict before = row[taps - 3 - k];
        any = 0;
        for (size_t q = i; q < end; q++) {
            const W rows = before[q] == value[q] ? (W)(k + 1) : (W)k;
            above[q] = above[q] == (W)k ? rows : above[q];
            any |= above[q] == (W)(k + 1);
        }
    }
}

/*
 * Results of n columns that look at `least` rows above the pair, and at `last` as their last row.
 * Whether results below these may look at equal elements alone.
 */
static bool NAME(keep_block)(W *restrict out, W *restrict above, const W *restrict value,
                             const W *restrict last, size_t least, size_t n)
{
    unsigned any = 0;
    for (size_t q = 0; q < n; q++) {
        above[q] = last[q] == value[q] ? above[q] : (W)-1;
        out[q] = above[q] >= (W)least ? value[q] : out[q];
        any |= above[q] >= (W)0;
    }
    return any != 0;
}

/* `count` results, the first of which is number `first` and looks at the rows from row[0] on. */
static void NAME(keep_columns)(struct NAME(columns) * c, W *const *out, size_t count,
                               const W *const *row, size_t first)
{
    const size_t step = c->taps - 1;
    for (size_t k = 0; k < count && step > 0; k++, row++) {
        const size_t behind = (first + k) % step, pair = step - 1 - behind;
        if (behind == 0)
            c->blocks = NAME(look)(row[pair], row[pair + 1], c->n);
        for (size_t i = 0; i < c->n && c->blocks; i += AIRY_CONVOLVE_LOOK) {
            const size_t end = airy_min_size(i + AIRY_CONVOLVE_LOOK, c->n);
            if (!(c->blocks >> i / AIRY_CONVOLVE_LOOK & 1))
                continue;
            if (behind == 0)
                NAME(count_above)(c->above, row, c->taps, i, end);
            if (!NAME(keep_block)(out[k] + i, c->above + i, row[pair] + i, row[step] + i, pair,
                                  end - i))
                c->blocks &= ~(UINT64_C(1) << i / AIRY_CONVOLVE_LOOK);
        }
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
    struct NAME(columns) columns = {.taps = ay->taps, .n = n, .above = ring + rank * turn * step};
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
            NAME(keep_columns)(&columns, out, count, row, first);
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
    struct NAME(columns) columns = {.taps = az->taps, .n = n, .above = outside + step};
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
            NAME(keep_columns)(&columns, out, count, row, z);
    }
}

static const struct tiles NAME(tiles) = {
    .direct = NAME(direct_tile), .lines = NAME(lines_tile), .columns = NAME(columns_tile)};

#undef W
#undef NAME
#undef LOADS
#undef SUM
#undef BLOCK
