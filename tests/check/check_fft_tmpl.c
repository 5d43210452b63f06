/*
 * Transforms of one type against the definition: included by check_fft.c with W, TYPE (f32, f64),
 * DTYPE and EPS, half a unit in the last place of 1.
 *
 * Tolerance: of a step of two, |error|_2 <= (1 + 4 sqrt 2) EPS |x|_2 to the first order, where
 * factors are rounded correctly (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * theorem 24.2: eta = mu + gamma_4 (sqrt 2 + mu)); steps of four have fewer roundings than two of
 * two. |X|_2 = sqrt(n) |x|_2, and no element's error is more than the norm of all.
 */
#define LANES      (64 / sizeof(W))
#define CAT_(a, b) a##_##b
#define CAT(a, b)  CAT_(a, b)
#define NAME(f)    CAT(f, TYPE)

static double NAME(allowed)(const double *re, const double *im, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += re[i] * re[i] + im[i] * im[i];
    return 7 * log2((double)n + 1) * (double)(EPS)*sqrt((double)n * sum);
}

static W *NAME(table)(struct check *c, size_t n, size_t lanes)
{
    double *wide = check_alloc(c, (2 * n + 1) * sizeof(double));
    W *table = check_alloc(c, (2 * n + 1) * sizeof(W));
    if (lanes)
        airy_fft_row_table(wide, n, lanes);
    else
        airy_fft_lane_table(wide, n);
    for (size_t i = 0; i < 2 * n; i++)
        table[i] = (W)wide[i];
    return table;
}

static void NAME(near)(struct check *c, double got, double want, double allowed, const char *what,
                       size_t k)
{
    if (!(fabs(got - want) <= allowed))
        check_failed(c, __FILE__, __LINE__, "%s %zu: got %.17g, want %.17g within %g", what, k, got,
                     want, allowed);
}

/* LANES transforms of elements that are `step` apart, and back. */
static void NAME(check_lanes)(struct check *c, size_t n)
{
    if (!check_case(c, "fft_%s_lanes_%zu", airy_dtype_name(DTYPE), n))
        return;
    const size_t step = LANES + (n % 3 ? 0 : 64), size = n * step;
    const W *table = NAME(table)(c, n, 0);
    W *re = check_alloc(c, size * sizeof(W)), *im = check_alloc(c, size * sizeof(W)),
      *was_re = check_alloc(c, size * sizeof(W)), *was_im = check_alloc(c, size * sizeof(W));
    double *x = check_alloc(c, n * sizeof(double)), *y = check_alloc(c, n * sizeof(double));
    check_rand(c, re, DTYPE, size, -1, 1);
    check_rand(c, im, DTYPE, size, -1, 1);
    memcpy(was_re, re, size * sizeof(W));
    memcpy(was_im, im, size * sizeof(W));
    airy_fft_kernels()->TYPE.forward(re, im, n, step, table);
    const size_t lane = check_rand_u64(c) % LANES;
    for (size_t j = 0; j < n; j++) {
        x[j] = was_re[j * step + lane];
        y[j] = was_im[j * step + lane];
    }
    const double allowed = NAME(allowed)(x, y, n);
    for (size_t i = 0; i < (n < 200 ? n : 200); i++) {
        const size_t k = n < 200 ? i : check_rand_u64(c) % n, at = airy_fft_place(n, k) * step;
        double want_re, want_im;
        ref_dft(&want_re, &want_im, x, y, n, k);
        NAME(near)(c, re[at + lane], want_re, allowed, "real part of frequency", k);
        NAME(near)(c, im[at + lane], want_im, allowed, "imaginary part of frequency", k);
    }
    airy_fft_kernels()->TYPE.inverse(re, im, n, step, table);
    for (size_t j = 0; j < n; j++) { /* twice the error, times sqrt(n) of the inverse */
        const double twice = 2 * allowed * sqrt((double)n);
        NAME(near)(c, re[j * step + lane], (double)n * x[j], twice, "real element", j);
        NAME(near)(c, im[j * step + lane], (double)n * y[j], twice, "imaginary element", j);
    }
    CHECK_BENCH(c, 16.0 * (double)n * LANES, 5.0 * (double)n * LANES * log2((double)n),
                airy_fft_kernels()->TYPE.forward(re, im, n, step, table));
}

/* Two real lines for one complex one. */
static void NAME(check_real)(struct check *c, size_t n)
{
    if (!check_case(c, "fft_%s_real_%zu", airy_dtype_name(DTYPE), n))
        return;
    const size_t size = n * LANES, lane = check_rand_u64(c) % LANES;
    const W *table = NAME(table)(c, n, 0);
    W *re = check_alloc(c, size * sizeof(W)), *im = check_alloc(c, size * sizeof(W)), *to[4];
    uint32_t *place = check_alloc(c, n * sizeof(*place));
    double *x = check_alloc(c, n * sizeof(double)), *y = check_alloc(c, n * sizeof(double));
    check_rand(c, re, DTYPE, size, -1, 1);
    check_rand(c, im, DTYPE, size, -1, 1);
    for (size_t j = 0; j < n; j++) {
        x[j] = re[j * LANES + lane];
        y[j] = im[j * LANES + lane];
        place[j] = (uint32_t)airy_fft_place(n, j);
    }
    for (int i = 0; i < 4; i++)
        to[i] = check_alloc(c, (n / 2 + 1) * LANES * sizeof(W));
    airy_fft_kernels()->TYPE.forward(re, im, n, LANES, table);
    airy_fft_kernels()->TYPE.part(to, re, im, n, LANES, place);
    const double allowed = NAME(allowed)(x, y, n);
    for (size_t k = 0; k <= n / 2; k += 1 + n / 200) {
        double want[4];
        ref_dft(&want[0], &want[1], x, NULL, n, k);
        ref_dft(&want[2], &want[3], y, NULL, n, k);
        for (int i = 0; i < 4; i++)
            NAME(near)(c, to[i][k * LANES + lane], want[i], allowed, "frequency", k);
    }
}

/* A row down to transforms of LANES neighbours, which the definition finishes; and back. */
static void NAME(check_row)(struct check *c, size_t n)
{
    if (!check_case(c, "fft_%s_row_%zu", airy_dtype_name(DTYPE), n))
        return;
    const W *table = NAME(table)(c, n, LANES);
    W *re = check_alloc(c, n * sizeof(W)), *im = check_alloc(c, n * sizeof(W));
    double *x = check_alloc(c, n * sizeof(double)), *y = check_alloc(c, n * sizeof(double));
    check_rand(c, re, DTYPE, n, -1, 1);
    check_rand(c, im, DTYPE, n, -1, 1);
    for (size_t j = 0; j < n; j++) {
        x[j] = re[j];
        y[j] = im[j];
    }
    airy_fft_kernels()->TYPE.split(re, im, n, table);
    const double allowed = NAME(allowed)(x, y, n);
    const size_t parts = n / LANES;
    for (size_t i = 0; i < (n < 200 ? n : 200); i++) {
        const size_t k = n < 200 ? i : check_rand_u64(c) % n,
                     at = airy_fft_place(parts, k % parts) * LANES;
        double part_re[LANES], part_im[LANES], got_re, got_im, want_re, want_im;
        for (size_t l = 0; l < LANES; l++) {
            part_re[l] = re[at + l];
            part_im[l] = im[at + l];
        }
        ref_dft(&got_re, &got_im, part_re, part_im, LANES, k / parts);
        ref_dft(&want_re, &want_im, x, y, n, k);
        NAME(near)(c, got_re, want_re, allowed, "real part of frequency", k);
        NAME(near)(c, got_im, want_im, allowed, "imaginary part of frequency", k);
    }
    airy_fft_kernels()->TYPE.join(re, im, n, table);
    for (size_t j = 0; j < n; j++) {
        const double twice = 2 * allowed * sqrt((double)parts);
        NAME(near)(c, re[j], (double)parts * x[j], twice, "real element", j);
        NAME(near)(c, im[j], (double)parts * y[j], twice, "imaginary element", j);
    }
}

static void NAME(check_square)(struct check *c)
{
    if (!check_case(c, "fft_%s_transpose", airy_dtype_name(DTYPE)))
        return;
    W from[LANES][LANES], to[LANES][LANES], *to_rows[LANES];
    const W *rows[LANES];
    for (size_t y = 0; y < LANES; y++) {
        rows[y] = from[y];
        to_rows[y] = to[y];
        for (size_t x = 0; x < LANES; x++)
            from[y][x] = (W)(100 * y + x);
    }
    airy_fft_kernels()->TYPE.transpose(to_rows, rows);
    for (size_t y = 0; y < LANES; y++)
        for (size_t x = 0; x < LANES; x++)
            CHECK(c, (size_t)to[x][y] == 100 * y + x);
    W values[37] = {0};
    for (size_t i = 0; i < 37; i++) {
        CHECK(c, !airy_fft_kernels()->TYPE.exceeds(values, 37, 2));
        values[i] = i % 3 == 0 ? (W)NAN : i % 3 == 1 ? -(W)INFINITY : (W)2.5;
        CHECK(c, airy_fft_kernels()->TYPE.exceeds(values, 37, 2));
        values[i] = -2;
    }
}

static void NAME(check_type)(struct check *c)
{
    for (size_t n = 1; n <= AIRY_FFT_MAX; n *= 2)
        NAME(check_lanes)(c, n);
    for (size_t n = LANES; n <= AIRY_FFT_MAX; n *= 2)
        NAME(check_row)(c, n);
    for (size_t n = 2; n <= AIRY_FFT_MAX; n *= 2)
        NAME(check_real)(c, n);
    NAME(check_square)(c);
}

#undef LANES
#undef NAME
#undef CAT
#undef CAT_
#undef W
#undef TYPE
#undef DTYPE
#undef EPS
