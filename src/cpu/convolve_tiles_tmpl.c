/*
 * Convolution on the CPU for one dtype of result: included by cpu_convolve.c with
 *   W          float or double       NAME(f)   f with the dtype in its name
 *   LOADS      load_f32 or load_f64 of the kernels      SUM   f32 or f64
 * A task is a tile of rows: the rows of the source that it looks at become lines with their borders
 * in thread-local memory, and results are sums over these.
 */

/* Elements first .. first + n - 1 of a source row, borders included; NULL: all of it is outside. */
static void NAME(make_line)(const struct job *job, W *line, const char *row, size_t n,
                            int64_t first)
{
    const struct airy_filter_axis *x = &job->geometry->axis[2];
    const airy_dtype dtype = job->plan->src->dtype;
    const size_t elem = airy_dtype_size(dtype);
    const W value = (W)job->geometry->border_value;
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
            job->kernels->LOADS[dtype](line + i, row + (size_t)at * elem, inside);
            i += inside;
            continue;
        }
        const int64_t from = airy_border_index(at, (int64_t)x->n, (uint32_t)job->geometry->border);
        if (from < 0)
            line[i] = value;
        else
            job->kernels->LOADS[dtype](line + i, row + (size_t)from * elem, 1);
        i++;
    }
}

/* The rows that a tile of results looks at, as lines: [z taps][rows][length]. */
static void NAME(make_lines)(const struct job *job, W *line, const struct tile *t, size_t planes,
                             size_t lines, size_t length)
{
    const struct airy_filter_axis *az = &job->geometry->axis[0], *ay = az + 1, *ax = az + 2;
    for (size_t k = 0; k < planes; k++)
        for (size_t i = 0; i < lines; i++) {
            const int64_t z = planes == 1
                                  ? (int64_t)t->z
                                  : (int64_t)(t->z + k) + az->offset - (int64_t)(planes - 1),
                          y = (int64_t)(t->y0 + i) + ay->offset - (int64_t)(ay->taps - 1);
            NAME(make_line)
            (job, line + (k * lines + i) * length, source_row(job, t->image, z, y), length,
             (int64_t)t->x0 + ax->offset - (int64_t)(ax->taps - 1));
        }
}

/* A tile of results of the direct method. */
static void NAME(direct_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *az = &job->geometry->axis[0], *ay = az + 1, *ax = az + 2;
    const size_t n = t->x1 - t->x0, length = n + ax->taps - 1, lines = t->y1 - t->y0 + ay->taps - 1;
    const W **row = scratch;
    W *line = (W *)(void *)(row + az->taps * ay->taps);
    NAME(make_lines)(job, line, t, az->taps, lines, length);
    for (size_t y = t->y0; y < t->y1; y++) {
        size_t rows = 0;
        for (size_t k = 0; k < az->taps; k++)
            for (size_t j = 0; j < ay->taps; j++)
                row[rows++] = line + (k * lines + y - t->y0 + j) * length;
        job->kernels->SUM((W *)(void *)result_row(job, t->image, t->z, y) + t->x0, row, rows,
                          job->weights, ax->taps, n, false);
    }
}

/* The products along x and y of a tile. */
static void NAME(lines_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *ay = &job->geometry->axis[1], *ax = ay + 1;
    const size_t n = t->x1 - t->x0, length = n + ax->taps - 1, lines = t->y1 - t->y0 + ay->taps - 1;
    const W **row = scratch;
    W *line = (W *)(void *)(row + ay->taps), *smooth = line + lines * length;
    NAME(make_lines)(job, line, t, 1, lines, length);
    for (int r = 0; r < job->plan->rank; r++) {
        const W *along_y = (const W *)job->weights + (size_t)r * (ay->taps + ax->taps),
                *along_x = along_y + ay->taps;
        for (size_t i = 0; i < lines; i++) {
            const W *one = line + i * length;
            job->kernels->SUM(smooth + i * n, &one, 1, along_x, ax->taps, n, false);
        }
        for (size_t y = t->y0; y < t->y1; y++) {
            for (size_t j = 0; j < ay->taps; j++)
                row[j] = smooth + (y - t->y0 + j) * n;
            job->kernels->SUM((W *)(void *)result_row(job, t->image, t->z, y) + t->x0, row,
                              ay->taps, along_y, 1, n, r > 0);
        }
    }
}

/* The product along z of columns [x0, x1) of row y0, from planes that may be those of dst. */
static void NAME(columns_tile)(const struct job *job, void *scratch, const struct tile *t)
{
    const struct airy_filter_axis *az = &job->geometry->axis[0];
    const size_t n = t->x1 - t->x0;
    const W **row = scratch;
    W *slab = (W *)(void *)(row + az->taps), *outside = slab + az->n * n;
    for (size_t z = 0; z < az->n; z++)
        memcpy(slab + z * n, (const W *)(const void *)plane_row(job, t->image, z, t->y0) + t->x0,
               n * sizeof(W));
    for (size_t i = 0; i < n; i++)
        outside[i] = (W)job->outside;
    for (size_t z = 0; z < az->out; z++) {
        for (size_t k = 0; k < az->taps; k++) {
            const int64_t at =
                airy_border_index((int64_t)(z + k) + az->offset - (int64_t)(az->taps - 1),
                                  (int64_t)az->n, (uint32_t)job->geometry->border);
            row[k] = at < 0 ? outside : slab + (size_t)at * n;
        }
        job->kernels->SUM((W *)(void *)result_row(job, t->image, z, t->y0) + t->x0, row, az->taps,
                          job->weights, 1, n, false);
    }
}

static const struct tiles NAME(tiles) = {
    .direct = NAME(direct_tile), .lines = NAME(lines_tile), .columns = NAME(columns_tile)};

#undef W
#undef NAME
#undef LOADS
#undef SUM
