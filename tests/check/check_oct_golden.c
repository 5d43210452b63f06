/*
 * OCT against values that other code computed (tests/golden/oct/README.md): the chains of PyMotionOCT and
 * OCTproZ on simulated frames, and real spectra. Tolerances are those files'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "check_oct.h"
#include "ref_fft.h"

/* A dataset as numbers that live until the case ends; NULL: skipped or failed. */
static double *read_numbers(struct check *c, const char *file, const char *set, size_t *count)
{
    char name[64];
    airy_image image;
    const char *path = check_golden(c, file);
    if (!path)
        return NULL;
    char *full = check_alloc(c, strlen(path) + sizeof(name));
    snprintf(name, sizeof(name), "::%s", set);
    if (!CHECK_OK(c, airy_image_read(&image, strcat(strcpy(full, path), name))))
        return NULL;
    *count = 1;
    for (int i = 0; i < image.ndim; i++)
        *count *= image.shape[i];
    double *value = check_alloc(c, *count * sizeof(*value));
    for (size_t i = 0; i < *count; i++)
        value[i] = airy_image_value(&image, i);
    airy_image_free(&image);
    return value;
}

/* The file's frames on the device, and as p describes them on the host. */
struct frames {
    airy_array *src;
    void *raw;
    size_t count;
};

static bool load_frames(struct check *c, struct frames *frames, const char *file,
                        const airy_oct_params *p)
{
    size_t count;
    const double *value = read_numbers(c, file, "raw", &count);
    if (!value || !CHECK(c, count % (p->lines * p->samples) == 0))
        return false;
    frames->count = count / (p->lines * p->samples);
    frames->raw = check_oct_encode(c, p, value, frames->count);
    frames->src = check_oct_upload(c, p, frames->raw, frames->count);
    return frames->src != NULL;
}

/* Spectra, real and imaginary parts: 2e-6 of the norm, 1e-5 of the largest. */
static void compare_spectra(struct check *c, const char *what, const double *got,
                            const double *want, size_t count, double rounding)
{
    double norm = 0, squares = 0, largest = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = hypot(got[2 * i] - want[2 * i], got[2 * i + 1] - want[2 * i + 1]),
                     f = hypot(want[2 * i], want[2 * i + 1]);
        squares += d * d;
        norm += f * f;
        worst = d <= worst ? worst : d;
        largest = fmax(largest, f);
    }
    if (!(sqrt(squares) <= 2e-6 * sqrt(norm) + rounding * sqrt((double)count) &&
          worst <= 1e-5 * largest))
        check_failed(c, __FILE__, __LINE__, "%s: norm of the error %.3g of %.3g, most %.3g of %.3g",
                     what, sqrt(squares), sqrt(norm), worst, largest);
}

/* Some lines of [rows][given][2] against [rows][kept][2]. */
static const double *keep_bins(struct check *c, const double *from, size_t rows, size_t given,
                               size_t kept, size_t row_step)
{
    double *to = check_alloc(c, rows * kept * 2 * sizeof(*to));
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * kept * 2, from + r * row_step * given * 2, kept * 2 * sizeof(*to));
    return to;
}

/*
 * Lines 0, step, 2 step ... of the complex spectra against a dataset of `width` bins, and so the
 * reference's. A background leaves the rounding of what it was subtracted from.
 */
static void check_spectra(struct check *c, const char *file, const char *set,
                          const airy_oct_params *p, const struct frames *frames, size_t step)
{
    airy_oct_params q = *p;
    q.output = AIRY_OCT_COMPLEX;
    q.fixed_pattern = 0;
    q.display = false;
    q.to = AIRY_DTYPE_F32;
    q.flip = AIRY_OCT_FLIP_NONE;
    size_t count, got_count;
    struct ref_oct_spectra s;
    const double *want = read_numbers(c, file, set, &count);
    if (!want || !CHECK(c, ref_oct_spectra(&s, frames->raw, 1, &q)))
        return;
    const size_t width = count / 4 / 2, rows = 4;
    const double rounding = q.background ? 0x1p-24 * s.scale[0] : 0,
                 *f = keep_bins(c, s.f, rows, s.depth, s.depth, step);
    want = keep_bins(c, want, rows, width, s.depth, 1);
    compare_spectra(c, "reference", f, want, rows * s.depth, 0);
    const airy_array *dst = check_oct_process(c, &q, frames->src, 0);
    if (dst)
        compare_spectra(
            c, set, keep_bins(c, check_oct_pull(c, dst, &got_count), rows, s.depth, s.depth, step),
            want, rows * s.depth, rounding);
    ref_oct_spectra_free(&s);
}

/*
 * Decibels within 0.02 where they are within 80 of the largest; per_db: the values' units. rounding: of
 * |F|, 20 / ln 10 times its part of which adds.
 */
static void compare_decibels(struct check *c, const double *got, const double *want, size_t count,
                             double per_db, double rounding)
{
    double largest = -(double)INFINITY;
    size_t compared = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, want[i]);
    for (size_t i = 0; i < count; i++) {
        if (want[i] <= largest - 80 * per_db)
            continue;
        const double more = rounding > 0 ? 20 / log(10) * rounding / pow(10, want[i] / 20) : 0;
        compared++;
        if (!(fabs(got[i] - want[i]) <= (0.02 + more) * per_db)) {
            check_failed(c, __FILE__, __LINE__, "[%zu]: got %.9g, want %.9g", i, got[i], want[i]);
            break;
        }
    }
    CHECK(c, compared > count / 2);
}

/* Bytes within 1, and 99.5 % equal. */
static void check_bytes(struct check *c, const char *file, const airy_oct_params *p,
                        const struct frames *frames)
{
    size_t count, got_count, unequal = 0, off = 0;
    const double *want = read_numbers(c, file, "u8", &count);
    const airy_array *dst = want ? check_oct_process(c, p, frames->src, 0) : NULL;
    if (!dst)
        return;
    const double *got = check_oct_pull(c, dst, &got_count);
    for (size_t i = 0; i < count && CHECK(c, got_count == count); i++) {
        unequal += got[i] != want[i];
        off += !(fabs(got[i] - want[i]) <= 1);
    }
    if (off || 200 * unequal > count)
        check_failed(c, __FILE__, __LINE__, "u8: %zu of %zu differ, %zu by more than 1", unequal,
                     count, off);
}

/* ---- PyMotionOCT ---- */

static void check_motion(struct check *c)
{
    static const char file[] = "oct/motion.h5";
    if (!check_case(c, "oct_golden_motion"))
        return;
    size_t count;
    struct frames frames;
    airy_oct_params p = {.samples = 2048,
                         .lines = 60,
                         .dtype = AIRY_DTYPE_U16,
                         .axis = AIRY_OCT_AXIS_WAVELENGTH,
                         .window = AIRY_OCT_WINDOW_HANN,
                         .window_first = true,
                         .depth_last = 1025};
    p.axis_table = read_numbers(c, file, "wavelength", &count);
    if (!p.axis_table || !load_frames(c, &frames, file, &p))
        return;
    check_spectra(c, file, "f", &p, &frames, 1);
    p.background = AIRY_OCT_BACKGROUND_MEAN;
    check_spectra(c, file, "f_mean", &p, &frames, 1);
    p.background = AIRY_OCT_BACKGROUND_NONE;
    p.window_first = false;
    p.compat = AIRY_OCT_COMPAT_PYMOTIONOCT;
    check_spectra(c, file, "f_literal", &p, &frames, 1);
    p.compat = AIRY_OCT_COMPAT_NONE;
    p.window_first = true;
    p.depth_last = 0;
    const double *want = read_numbers(c, file, "db", &count);
    const airy_array *dst = check_oct_process(c, &p, frames.src, 0);
    size_t got_count;
    if (want && dst && CHECK(c, count == 4 * 1024))
        compare_decibels(c, check_oct_pull(c, dst, &got_count), want, count, 1, 0);
    p.display = true;
    p.low = 40;
    p.high = 120;
    p.to = AIRY_DTYPE_U8;
    check_bytes(c, file, &p, &frames);
}

/* ---- OCTproZ ---- */

/* Each interpolation, by the transform of what the file has of two lines. */
static void check_interpolations(struct check *c, const char *file, const airy_oct_params *p,
                                 const struct frames *frames)
{
    static const char *const sets[] = {"z_linear", "z_cubic", "z_lanczos"};
    const size_t n = p->samples, depth = n / 2 + 1, rows = 2;
    double *ones = check_alloc(c, n * sizeof(*ones)),
           *want = check_alloc(c, rows * depth * 2 * sizeof(*want));
    for (size_t j = 0; j < n; j++)
        ones[j] = 1;
    airy_oct_params q = {.samples = n,
                         .lines = p->lines,
                         .dtype = p->dtype,
                         .background = p->background,
                         .rolling = p->rolling,
                         .axis = p->axis,
                         .window = AIRY_OCT_WINDOW_TABLE,
                         .window_table = ones,
                         .output = AIRY_OCT_COMPLEX,
                         .depth_last = depth,
                         .compat = p->compat};
    memcpy(q.poly, p->poly, sizeof(q.poly));
    for (int k = 0; k < 3; k++) {
        size_t count, got_count;
        const double *z = read_numbers(c, file, sets[k], &count);
        q.interpolation = (airy_oct_interpolation)k;
        const airy_array *dst = z ? check_oct_process(c, &q, frames->src, 0) : NULL;
        if (!dst || !CHECK(c, count == rows * n))
            return;
        double largest = 0;
        for (size_t i = 0; i < count; i++)
            largest = fmax(largest, fabs(z[i]));
        for (size_t i = 0; i < rows * depth; i++) {
            double *to = want + 2 * i;
            ref_dft(to, to + 1, z + i / depth * n, NULL, n, i % depth);
            to[1] = -to[1]; /* the inverse */
        }
        /* 2e-6 of the largest sample, as far as samples err independently. */
        compare_spectra(c, sets[k], check_oct_pull(c, dst, &got_count), want, rows * depth,
                        2e-6 * largest * sqrt((double)n));
    }
}

static void check_fixed_pattern(struct check *c, const char *file, const airy_oct_params *p,
                                const struct frames *frames)
{
    airy_oct_params q = *p;
    q.output = AIRY_OCT_COMPLEX;
    q.display = false;
    q.to = AIRY_DTYPE_F32;
    q.flip = AIRY_OCT_FLIP_NONE;
    size_t count, got_count;
    const double *want = read_numbers(c, file, "pattern", &count);
    const airy_array *less = want ? check_oct_process(c, &q, frames->src, 0) : NULL;
    q.fixed_pattern = 0;
    const airy_array *all = less ? check_oct_process(c, &q, frames->src, 0) : NULL;
    if (!all)
        return;
    const double *a = check_oct_pull(c, all, &got_count), *b = check_oct_pull(c, less, &got_count);
    double *pattern = check_alloc(c, count * sizeof(*pattern)), largest = 0;
    for (size_t i = 0; i < count; i++) {
        pattern[i] = a[i] - b[i];
        largest = fmax(largest, fmax(fabs(a[i]), fabs(b[i])));
    }
    /* The difference of two numbers that were rounded to f32. */
    compare_spectra(c, "pattern", pattern, want, count / 2, 0x1p-23 * largest);
}

static void check_octproz(struct check *c, const char *file, const airy_oct_params *p)
{
    struct frames frames;
    size_t count, got_count;
    if (!load_frames(c, &frames, file, p))
        return;
    check_spectra(c, file, "f", p, &frames, 1);
    if (check_oct_all(c))
        check_interpolations(c, file, p, &frames);
    if (p->fixed_pattern)
        check_fixed_pattern(c, file, p, &frames);
    check_bytes(c, file, p, &frames);
    airy_oct_params q = *p;
    q.to = AIRY_DTYPE_F32;
    const double *want = read_numbers(c, file, "gray", &count);
    const airy_array *dst = want ? check_oct_process(c, &q, frames.src, 0) : NULL;
    if (!dst)
        return;
    const double *got = check_oct_pull(c, dst, &got_count) + p->lines * p->samples / 2;
    if (p->output == AIRY_OCT_DB) {
        compare_decibels(c, got, want, count, 1 / (p->high - p->low), 0);
        return;
    }
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-5 * largest)) {
            check_failed(c, __FILE__, __LINE__, "gray [%zu]: got %.9g, want %.9g", i, got[i],
                         want[i]);
            break;
        }
}

static void check_octproz_u12(struct check *c)
{
    const airy_oct_params p = {.samples = 1024,
                               .lines = 64,
                               .dtype = AIRY_DTYPE_U16,
                               .background = AIRY_OCT_BACKGROUND_ROLLING,
                               .rolling = 32,
                               .axis = AIRY_OCT_AXIS_POLY,
                               .poly = {0.5, 818.4, 173.91, -20.46},
                               .interpolation = AIRY_OCT_CUBIC,
                               .window = AIRY_OCT_WINDOW_HANN,
                               .window_fill = 0.95,
                               .has_dispersion = true,
                               .dispersion = {0.3, 12, -18, 4},
                               .fixed_pattern = 1,
                               .flip = AIRY_OCT_FLIP_EVEN,
                               .display = true,
                               .to = AIRY_DTYPE_U8,
                               .low = -30,
                               .high = 100,
                               .compat = AIRY_OCT_COMPAT_OCTPROZ};
    if (check_case(c, "oct_golden_octproz_u12"))
        check_octproz(c, "oct/full_u12_cubic.h5", &p);
}

static void check_octproz_u8(struct check *c)
{
    const airy_oct_params p = {.samples = 1024,
                               .lines = 32,
                               .dtype = AIRY_DTYPE_U8,
                               .axis = AIRY_OCT_AXIS_POLY,
                               .poly = {1.25, 920.7, 51.15, 0},
                               .window = AIRY_OCT_WINDOW_GAUSS,
                               .window_fill = 0.6,
                               .has_dispersion = true,
                               .dispersion = {0, 0, 6, 0},
                               .output = AIRY_OCT_MAGNITUDE,
                               .display = true,
                               .to = AIRY_DTYPE_U8,
                               .high = 60,
                               .compat = AIRY_OCT_COMPAT_OCTPROZ};
    if (check_case(c, "oct_golden_octproz_u8"))
        check_octproz(c, "oct/full_u8_linear.h5", &p);
}

/* ---- real spectra ---- */

static void check_real(struct check *c, int number)
{
    char source[64], file[64];
    airy_image image;
    if (!check_case(c, "oct_golden_real_%d", number))
        return;
    snprintf(source, sizeof(source), "oct/oct_calibration/cscan_%03d.npy", number);
    snprintf(file, sizeof(file), "oct/real_cscan_%03d.h5", number);
    const char *path = check_realdata(c, source);
    if (!path || !CHECK_OK(c, airy_image_read(&image, path)))
        return;
    airy_oct_params p = {.samples = 1024,
                         .lines = 100,
                         .background = AIRY_OCT_BACKGROUND_MEAN,
                         .window = AIRY_OCT_WINDOW_HANN,
                         .depth_last = 513};
    if (CHECK(c, image.dtype == AIRY_DTYPE_F32 && image.ndim == 2 && image.shape[0] == 100 &&
                     image.shape[1] == 1024)) {
        const struct frames frames = {check_oct_upload(c, &p, image.data, 1), image.data, 1};
        check_spectra(c, file, "f", &p, &frames, 25);
        size_t count, got_count;
        const double *want = read_numbers(c, file, "db", &count);
        const airy_array *dst = want ? check_oct_process(c, &p, frames.src, 0) : NULL;
        if (dst && CHECK(c, count == 4 * 513)) {
            const double *all = check_oct_pull(c, dst, &got_count);
            double *got = check_alloc(c, count * sizeof(*got));
            for (size_t i = 0; i < count; i++)
                got[i] = all[i / 513 * 25 * 513 + i % 513];
            /* The mean is rounded to f32, as products of samples are: samples of 2.6, |F| of 2.5. */
            compare_decibels(c, got, want, count, 1, 4 * 0x1p-24 * 2.7 * sqrt(0.375 * 1024));
        }
    }
    airy_image_free(&image);
}

void check_oct_golden(struct check *c)
{
    check_motion(c);
    check_octproz_u12(c);
    check_octproz_u8(c);
    check_real(c, 0);
    check_real(c, 1);
}
