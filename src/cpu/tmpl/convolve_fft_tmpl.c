/*
 * Convolution by transforms on the CPU for one dtype of result: included by cpu_convolve_fft.c with
 *   W    float or double       NAME(f)   f with the dtype in its name
 *   FFT  the kernels of this dtype
 *
 * A tile is a real and an imaginary part, which are two tiles of the image: the kernel is real, so
 * they stay apart. Rows are `pitch` elements apart and planes `plane`. Frequencies stay where the
 * steps leave them, in the image's tiles as in the kernel's.
 */
#define LANES AIRY_FFT_LANES(W)

/* Line v of LANES neighbours of the rows, one row after the other. */
static size_t NAME(line_at)(const struct fft_job *job, size_t v)
{
    const size_t each = job->tiles->length[2] / LANES;
    return row_at(job, v / each) + v % each * LANES;
}

/* LANES lines of LANES neighbours as columns, or as they are. */
static void NAME(turn_lines)(const struct fft_job *job, W *const *to, const W *const *from,
                             bool turn)
{
    if (turn)
        job->fft->FFT.transpose(to, from);
    for (size_t i = 0; i < LANES && !turn; i++)
        memcpy(to[i], from[i], LANES * sizeof(W));
}

/*
 * The transforms of LANES neighbours that split leaves of the rows or join begins with: LANES lines
 * of them at a time, as columns. Where no other axis follows, frequencies stay in columns.
 */
static void NAME(run_neighbours)(const struct fft_job *job, W *part[2], bool back)
{
    W square[2][LANES][LANES], *inside[2][LANES], *line[2][LANES];
    const size_t lines = job->rows * (job->tiles->length[2] / LANES);
    for (size_t v = 0; v < lines; v += LANES) {
        for (int p = 0; p < 2; p++) {
            for (size_t i = 0; i < LANES; i++) {
                line[p][i] = part[p] + NAME(line_at)(job, v + i);
                inside[p][i] = square[p][i];
            }
            NAME(turn_lines)
            (job, inside[p], (const W *const *)line[p], !back || !job->tiles->lines);
        }
        if (back)
            job->fft->FFT.inverse(square[0][0], square[1][0], LANES, LANES, job->table[3]);
        else
            job->fft->FFT.forward(square[0][0], square[1][0], LANES, LANES, job->table[3]);
        for (int p = 0; p < 2; p++)
            NAME(turn_lines)(job, line[p], (const W *const *)inside[p], back || !job->tiles->lines);
    }
}

static void NAME(forward_x)(const struct fft_job *job, W *part[2])
{
    for (size_t r = 0; r < job->rows; r++)
        job->fft->FFT.split(part[0] + row_at(job, r), part[1] + row_at(job, r),
                            job->tiles->length[2], job->table[2]);
    NAME(run_neighbours)(job, part, false);
}

static void NAME(inverse_x)(const struct fft_job *job, W *part[2])
{
    NAME(run_neighbours)(job, part, true);
    for (size_t r = 0; r < job->rows; r++)
        job->fft->FFT.join(part[0] + row_at(job, r), part[1] + row_at(job, r),
                           job->tiles->length[2], job->table[2]);
}

/* What is done to LANES columns along an axis while they are in the first-level cache. */
enum NAME(step) {
    NAME(FORWARD),
    NAME(INVERSE),
    NAME(MULTIPLY) /* by the kernel, there and back */
};

static void NAME(run_axis)(const struct fft_job *job, W *part[2], int axis, enum NAME(step) what)
{
    const size_t n = job->tiles->length[axis], step = axis ? job->pitch : job->plane,
                 other = axis ? job->plane : job->pitch, others = job->tiles->length[1 - axis];
    const W *by[2] = {job->spectrum, (const W *)job->spectrum + job->size};
    for (size_t k = 0; k < others; k++)
        for (size_t x = 0; x < job->tiles->length[2]; x += LANES) {
            const size_t at = k * other + x;
            W *re = part[0] + at, *im = part[1] + at;
            if (what != NAME(INVERSE))
                job->fft->FFT.forward(re, im, n, step, job->table[axis]);
            if (what == NAME(MULTIPLY))
                job->fft->FFT.multiply(re, im, by[0] + at, by[1] + at, n, step);
            if (what != NAME(FORWARD))
                job->fft->FFT.inverse(re, im, n, step, job->table[axis]);
        }
}

static void NAME(multiply_rows)(const struct fft_job *job, W *part[2])
{
    const W *by[2] = {job->spectrum, (const W *)job->spectrum + job->size};
    for (size_t x = 0; x < job->tiles->length[2]; x += LANES)
        job->fft->FFT.multiply(part[0] + x, part[1] + x, by[0] + x, by[1] + x, job->rows,
                               job->pitch);
}

/* There, times the kernel, and back: along x, y, z, y, x, as far as these are transformed. */
static void NAME(convolve_pair)(const struct fft_job *job, W *part[2])
{
    const bool *turned = job->tiles->turned;
    if (turned[2])
        NAME(forward_x)(job, part);
    if (turned[0]) {
        if (turned[1])
            NAME(run_axis)(job, part, 1, NAME(FORWARD));
        NAME(run_axis)(job, part, 0, NAME(MULTIPLY));
        if (turned[1])
            NAME(run_axis)(job, part, 1, NAME(INVERSE));
    } else if (turned[1]) {
        NAME(run_axis)(job, part, 1, NAME(MULTIPLY));
    } else {
        NAME(multiply_rows)(job, part);
    }
    if (turned[2])
        NAME(inverse_x)(job, part);
}

/*
 * The kernel's transform, divided by the elements of a transform. Element j stands at -j, so that
 * the product is the sum over j of line[j] times element i + j.
 */
static void NAME(make_spectrum)(const struct fft_job *job)
{
    const struct airy_filter_axis *a = job->plan->geometry.axis;
    const size_t *length = job->tiles->length;
    const bool *turned = job->tiles->turned;
    W *part[2] = {job->spectrum, (W *)job->spectrum + job->size};
    double scale = 1;
    for (int i = 0; i < 3; i++)
        scale /= turned[i] ? (double)length[i] : 1;
    memset(part[0], 0, 2 * job->size * sizeof(W));
    const double *k = job->plan->kernel;
    for (size_t z = 0; z < a[0].taps; z++)
        for (size_t y = 0; y < a[1].taps; y++)
            for (size_t x = 0; x < a[2].taps; x++) {
                const W v = (W)(*k++ * scale);
                const size_t at = (length[0] - z) % length[0] * job->plane +
                                  (length[1] - y) % length[1] * job->pitch;
                /* Along an axis that is not transformed every place has the same kernel. */
                for (size_t r = 0; r < (job->tiles->lines ? job->rows : 1); r++) {
                    W *row = part[0] + at + r * job->pitch;
                    for (size_t i = 0; i < length[2] && !turned[2]; i++)
                        row[i] = v;
                    if (turned[2])
                        row[(length[2] - x) % length[2]] = v;
                }
            }
    if (turned[2])
        NAME(forward_x)(job, part);
    for (int axis = 1; axis >= 0; axis--)
        if (turned[axis])
            NAME(run_axis)(job, part, axis, NAME(FORWARD));
}

/* Rows of tile t into one part; false where transforms would not give what the direct method does. */
static bool NAME(load_tile)(const struct fft_job *job, W *part, size_t t)
{
    const struct airy_filter_axis *a = job->plan->geometry.axis;
    const size_t length = job->tiles->length[2];
    bool good = true;
    for (size_t r = 0; r < job->rows; r++) {
        struct place p;
        W *row = part + row_at(job, r);
        size_t n = 0;
        if (find_row(job, t, r, &p)) {
            n = p.n + a[2].taps - 1;
            NAME(airy_convolve_line)
            (&job->source, row, p.image, p.z + a[0].offset - (int64_t)(a[0].taps - 1),
             p.y + a[1].offset - (int64_t)(a[1].taps - 1),
             (int64_t)p.x + a[2].offset - (int64_t)(a[2].taps - 1), n);
            good = good && !job->fft->FFT.exceeds(row, n, (W)job->limit);
        }
        memset(row + n, 0, (length - n) * sizeof(W));
    }
    return good;
}

static void NAME(store_tile)(const struct fft_job *job, const W *part, size_t t)
{
    for (size_t r = 0; r < job->rows; r++) {
        struct place p;
        if (find_row(job, t, r, &p) && p.result)
            memcpy(result_row(job, &p), part + row_at(job, r), p.n * sizeof(W));
    }
}

static void NAME(run_pair)(void *arg, size_t index, unsigned worker)
{
    const struct fft_job *job = arg;
    W *part[2];
    bool good[2] = {false, false};
    for (size_t p = 0; p < 2; p++) {
        const size_t t = 2 * index + p;
        part[p] = (W *)job->scratch + (2 * worker + p) * job->size;
        good[p] = t < job->count && NAME(load_tile)(job, part[p], t);
        if (!good[p])
            memset(part[p], 0, job->size * sizeof(W));
        if (t < job->count)
            job->bad[t] = !good[p];
    }
    if (!good[0] && !good[1])
        return;
    NAME(convolve_pair)(job, part);
    for (size_t p = 0; p < 2; p++)
        if (good[p])
            NAME(store_tile)(job, part[p], 2 * index + p);
}

/* Tables in this dtype: of axes 0 and 1, of rows, and of LANES neighbours; malloc'ed. */
static airy_status NAME(make_tables)(struct fft_job *job)
{
    for (int i = 0; i < 4; i++) {
        void *wide, *narrow;
        const size_t n = i < 3 ? job->tiles->length[i] : LANES;
        AIRY_TRY(airy_memory_calloc(&narrow, 2 * n, sizeof(W), "factors"));
        job->table[i] = narrow;
        AIRY_TRY(airy_memory_calloc(&wide, 2 * n, sizeof(double), "factors"));
        if (i == 2)
            airy_fft_row_table(wide, n, LANES);
        else
            airy_fft_lane_table(wide, n);
        for (size_t k = 0; k < 2 * n; k++)
            ((W *)narrow)[k] = (W)((const double *)wide)[k];
        free(wide);
    }
    return AIRY_OK;
}

static const struct fft_type NAME(fft_type) = {.run_pair = NAME(run_pair),
                                               .make_tables = NAME(make_tables),
                                               .make_spectrum = NAME(make_spectrum),
                                               .lanes = LANES};

#undef LANES
#undef W
#undef NAME
#undef FFT
