/*
 * OCT against what physics says: a reflector's depth and width, phases that flow turns by, lines that are
 * not numbers, frames that come in pieces or from two queues.
 */
#include <stdlib.h>
#include <string.h>

#include "check_oct.h"

#define PI 3.14159265358979323846

/* ---- depth ---- */

enum { N = 1024, REFLECTORS = 9 };

/* A spectrometer: wavelengths of 1.19 to 1.43 um, not linear. */
static double *make_wavelengths(struct check *c)
{
    double *length = check_alloc(c, N * sizeof(*length));
    for (int i = 0; i < N; i++) {
        const double t = i / (N - 1.0);
        length[i] = 1e-9 * (1187.2 + 252.9 * t + 13.5 * t * t - 25.5 * t * t * t);
    }
    return length;
}

/* What dispersion adds to the phase at wavenumber k: a polynomial of the resampled line's t. */
static double dispersion_at(const airy_oct_params *p, double k, double high, double low)
{
    const double t = (high - k) / (high - low) * N / (N - 1.0);
    return t * t * (p->dispersion[2] + t * p->dispersion[3]);
}

/* Fringes of a reflector at each line's depth, as the spectrometer sees them. */
static float *make_fringes(struct check *c, const airy_oct_params *p, const double *depth_m)
{
    float *raw = check_alloc(c, REFLECTORS * N * sizeof(*raw));
    const double high = 1 / p->axis_table[0], low = 1 / p->axis_table[N - 1];
    for (int l = 0; l < REFLECTORS; l++)
        for (int i = 0; i < N; i++) {
            const double k = 1 / p->axis_table[i];
            raw[l * N + i] = (float)(cos(4 * PI * depth_m[l] * k + dispersion_at(p, k, high, low)));
        }
    return raw;
}

/* Where |F| is largest, between bins: of a Hann window from the ratio of the largest two bins. */
static double find_peak(const double *magnitude, size_t depth, double *height)
{
    size_t best = 1;
    for (size_t i = 1; i + 1 < depth; i++)
        if (magnitude[i] > magnitude[best])
            best = i;
    const bool right = magnitude[best + 1] > magnitude[best - 1];
    const double ratio = magnitude[right ? best + 1 : best - 1] / magnitude[best],
                 shift = (2 * ratio - 1) / (1 + ratio);
    *height = magnitude[best];
    return (double)best + (right ? shift : -shift);
}

static void check_depth(struct check *c, airy_oct_interpolation interpolation, double tolerance)
{
    if (!check_case(c, "oct_depth_%d", (int)interpolation))
        return;
    double *length = make_wavelengths(c), depth_m[REFLECTORS], height;
    airy_oct_params p = {.samples = N,
                         .lines = REFLECTORS,
                         .axis = AIRY_OCT_AXIS_WAVELENGTH,
                         .axis_table = length,
                         .interpolation = interpolation,
                         .window = AIRY_OCT_WINDOW_HANN,
                         .has_dispersion = true,
                         .dispersion = {0, 0, 150, -40},
                         .output = AIRY_OCT_MAGNITUDE};
    const double step = 1 / (2 * (1 / length[0] - 1 / length[N - 1]));
    for (int l = 0; l < REFLECTORS; l++)
        depth_m[l] = step * (60 + 25.13 * l);
    airy_oct *oct = NULL;
    airy_oct_info info;
    if (CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) &&
        CHECK_OK(c, airy_oct_get_info(oct, &info))) {
        CHECK(c, fabs(info.depth_step_m / step - 1) < 1e-12);
        CHECK(c,
              info.depth == N / 2 && info.out_lines == REFLECTORS && info.frames_per_result == 1);
    }
    airy_oct_destroy(&oct);
    airy_array *src = check_oct_upload(c, &p, make_fringes(c, &p, depth_m), 1);
    const airy_array *dst = check_oct_process(c, &p, src, 0);
    p.has_dispersion = false;
    const airy_array *blurred = check_oct_process(c, &p, src, 0);
    if (!dst || !blurred)
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count), *wide = check_oct_pull(c, blurred, &count);
    for (int l = 0; l < REFLECTORS; l++) {
        const double at = find_peak(got + l * N / 2, N / 2, &height) * step;
        if (!(fabs(at - depth_m[l]) <= tolerance * step))
            check_failed(c, __FILE__, __LINE__, "depth of line %d: got %.4f, want %.4f bins", l,
                         at / step, depth_m[l] / step);
        /* N / 4 of a Hann window on a bin, 0.85 of that between two; linear interpolation of 5
         * samples a fringe takes a tenth to a fifth, and dispersion spreads over 30 bins. */
        CHECK(c, height > 0.6 * N / 4 && height < 1.01 * N / 4);
        (void)find_peak(wide + l * N / 2, N / 2, &height);
        CHECK(c, height < 0.5 * N / 4);
    }
}

/*
 * Widths of |F| and |F|^2 at half of their largest, in bins: zeros of the continuous transform of each
 * window. Source of those of rect to Blackman: F. Harris, Proc. IEEE 66 (1978) 51, table 1, to 0.01.
 */
static void check_width(struct check *c, airy_oct_window window, double amplitude, double power)
{
    enum { STEPS = 61, MIDDLE = 30, BIN = 200 };
    if (!check_case(c, "oct_width_%d", (int)window))
        return;
    const airy_oct_params p = {.samples = N,
                               .lines = STEPS,
                               .window = window,
                               .output = AIRY_OCT_MAGNITUDE,
                               .depth_last = BIN + 1};
    float *raw = check_alloc(c, STEPS * N * sizeof(*raw));
    for (int l = 0; l < STEPS; l++)
        for (int j = 0; j < N; j++)
            raw[l * N + j] = (float)cos(2 * PI * (BIN + (l - MIDDLE) * 0.1) * (j + 0.5) / N);
    const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, raw, 1), 0);
    if (!dst)
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count);
    const double half[2] = {0.5, sqrt(0.5)}, want[2] = {amplitude, power};
    for (int k = 0; k < 2; k++) {
        const double level = half[k] * got[MIDDLE * (BIN + 1) + BIN];
        double edge[2] = {0, 0};
        for (int l = 1; l < STEPS; l++) {
            const double a = got[(l - 1) * (BIN + 1) + BIN], b = got[l * (BIN + 1) + BIN];
            if ((a < level) != (b < level))
                edge[a > level] = l - 1 + (level - a) / (b - a);
        }
        /* Windows end at samples 0 and N - 1, so are wider by 1 / N; straight lines over 0.1 bins of
         * curves of at most 4 per bin^2 are off by 0.005 of the slope, which is 0.4 at least. */
        const double width = (edge[1] - edge[0]) * 0.1;
        if (!(fabs(width - want[k]) <= 0.015 + 0.002 * want[k]))
            check_failed(c, __FILE__, __LINE__, "width at %.3f: got %.4f, want %.4f bins", half[k],
                         width, want[k]);
    }
}

/* ---- flow ---- */

/* A reflector that moves: its phase turns by the same angle from repeat to repeat. */
static void check_moving(struct check *c, double turn)
{
    enum { REPEATS = 4, BIN = 50 };
    if (!check_case(c, "oct_moving_%g", turn))
        return;
    const airy_oct_params p = {.samples = 256,
                               .lines = REPEATS,
                               .window = AIRY_OCT_WINDOW_HANN,
                               .output = AIRY_OCT_PHASE,
                               .flow = AIRY_OCT_FLOW_PHASE,
                               .repeats = REPEATS};
    float *raw = check_alloc(c, REPEATS * 256 * sizeof(*raw));
    for (int r = 0; r < REPEATS; r++)
        for (int j = 0; j < 256; j++)
            raw[r * 256 + j] = (float)cos(2 * PI * BIN * j / 256.0 + 0.7 + r * turn);
    const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, raw, 1), 0);
    if (!dst)
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count);
    /* The header's 2e-6 of F, whose phase is in error by so much on either side; pi may be -pi. */
    for (int bin = BIN - 1; bin <= BIN + 1; bin++)
        if (!(fabs(remainder(got[bin] - turn, 2 * PI)) <= 1e-5))
            check_failed(c, __FILE__, __LINE__, "bin %d: got %.7g, want %.7g", bin, got[bin], turn);
}

/* Repeats that are the same: no variance, no phase. */
static void check_still(struct check *c)
{
    if (!check_case(c, "oct_still"))
        return;
    airy_oct_params p = {.samples = 256,
                         .lines = 5,
                         .dtype = AIRY_DTYPE_U16,
                         .output = AIRY_OCT_MAGNITUDE,
                         .flow = AIRY_OCT_FLOW_VARIANCE,
                         .repeats = 2,
                         .flow_frames = true};
    const uint16_t *frame = check_oct_raw(c, &p, 1);
    uint16_t *raw = check_alloc(c, 2 * 5 * 256 * sizeof(*raw));
    memcpy(raw, frame, 5 * 256 * sizeof(*raw));
    memcpy(raw + 5 * 256, frame, 5 * 256 * sizeof(*raw));
    airy_array *src = check_oct_upload(c, &p, raw, 2);
    check_oct_one(c, &p, raw, 2, 0);
    p.flow = AIRY_OCT_FLOW_PHASE;
    p.output = AIRY_OCT_PHASE;
    const airy_array *dst = check_oct_process(c, &p, src, 0);
    size_t count = 0;
    const double *got = dst ? check_oct_pull(c, dst, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (!CHECK(c, fabs(got[i]) <= 0.01)) /* noise bins are 2e-4 of the pedestal's, and more */
            break;
}

/* ---- numbers that are none ---- */

static void check_nan(struct check *c, const char *name, const airy_oct_params *p, size_t frames)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    if (!check_case(c, "oct_nan_%s", name))
        return;
    const size_t n = p->samples, lines = frames * p->lines;
    float *raw = check_oct_raw(c, p, frames);
    for (size_t i = 0; i < 3; i++) /* lines 1, 4 and the last: beside others in any grouping */
        raw[(i == 0 ? 1 : i == 1 ? 4 : lines - 1) * n + n / 4 + n / 8 * i] = bad[i];
    check_oct_one(c, p, raw, frames, 0);
}

static void check_nans(struct check *c)
{
    const airy_oct_params plain = {.samples = 256, .lines = 7, .window = AIRY_OCT_WINDOW_HANN};
    airy_oct_params p = plain;
    check_nan(c, "db", &p, 3);
    p.samples = 45;
    check_nan(c, "db_45", &p, 2);
    p = plain;
    p.output = AIRY_OCT_COMPLEX;
    p.depth_last = 129;
    check_nan(c, "complex", &p, 2);
    p.output = AIRY_OCT_PHASE;
    p.has_dispersion = true;
    p.dispersion[2] = 9;
    check_nan(c, "phase_dispersion", &p, 2);
    p.output = AIRY_OCT_POWER;
    p.interpolation = AIRY_OCT_CUBIC;
    p.axis = AIRY_OCT_AXIS_POLY;
    p.poly[1] = 255;
    check_nan(c, "power_cubic", &p, 2);
    p.average_lines = 7;
    check_nan(c, "mean_lines", &p, 3);
    p.average_lines = 1;
    p.average_frames = 2;
    check_nan(c, "mean_frames", &p, 4);
    p = plain;
    p.background = AIRY_OCT_BACKGROUND_ROLLING;
    p.rolling = 9;
    p.output = AIRY_OCT_MAGNITUDE;
    check_nan(c, "rolling", &p, 2);
    p.background = AIRY_OCT_BACKGROUND_MEAN;
    check_nan(c, "mean_off", &p, 3);
    p = plain;
    p.flow = AIRY_OCT_FLOW_VARIANCE;
    p.repeats = 7;
    check_nan(c, "variance", &p, 3);
    p = plain;
    p.sinusoidal = true;
    check_nan(c, "straight", &p, 3);
    p.sinusoidal = false;
    p.display = true;
    p.high = 40;
    check_nan(c, "shown", &p, 2);
    p.to = AIRY_DTYPE_U8;
    check_nan(c, "u8", &p, 2);
    p.to = AIRY_DTYPE_U16;
    p.average_lines = 7;
    check_nan(c, "u16_mean", &p, 3);
}

/* Nothing at all: decibels end at -300. */
static void check_zeros(struct check *c)
{
    if (!check_case(c, "oct_zeros"))
        return;
    airy_oct_params p = {.samples = 256, .lines = 3};
    const float *zeros = check_alloc(c, 3 * 256 * sizeof(*zeros));
    for (int averaged = 0; averaged < 2; averaged++) {
        p.average_lines = averaged ? 3 : 1;
        const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, zeros, 1), 0);
        size_t count = 0;
        const double *got = dst ? check_oct_pull(c, dst, &count) : NULL;
        for (size_t i = 0; i < count; i++)
            if (!CHECK(c, fabs(got[i] + 300) <= 1e-3)) /* f32 of 1e-30, and its logarithm */
                break;
    }
}

/* ---- calls ---- */

/* More than front and back ends keep at once: the same frames again and again. */
static void check_pieces(struct check *c)
{
    enum { FRAMES = 42, OWN = 6, LINES = 16384, SAMPLES = 64 };
    if (!check_case(c, "oct_pieces"))
        return;
    const airy_oct_params p = {.samples = SAMPLES,
                               .lines = LINES,
                               .dtype = AIRY_DTYPE_U8,
                               .window = AIRY_OCT_WINDOW_HANN,
                               .output = AIRY_OCT_MAGNITUDE,
                               .average_frames = 3,
                               .average_lines = 64,
                               .flip = AIRY_OCT_FLIP_ODD};
    const size_t size = LINES * SAMPLES, shape[3] = {FRAMES / 3, LINES / 64, SAMPLES / 2},
                 one = shape[1] * shape[2];
    uint8_t *raw = check_alloc(c, FRAMES * size);
    check_rand(c, raw, AIRY_DTYPE_U8, size * OWN / 8, 0, 255);
    for (size_t at = size * OWN / 8; at < FRAMES * size; at++)
        raw[at] = raw[at - size * OWN / 8];
    const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, raw, FRAMES), 0);
    if (!dst)
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count);
    /* Raw frames repeat after 3, 6 .. with either direction: results two apart are the same; as are
     * their sums, but for the lines' partners. */
    for (size_t i = 2 * one; i < count && CHECK(c, count == shape[0] * one); i++)
        if (!(fabs(got[i] - got[i - 2 * one]) <= 1e-5 * got[i])) {
            check_failed(c, __FILE__, __LINE__, "result %zu, element %zu: got %.9g, before %.9g",
                         i / one, i % one, got[i], got[i - 2 * one]);
            break;
        }
}

/* Lines that are the same: at any place bit by bit where their partners are the same too. */
static void check_places(struct check *c, size_t n, bool dispersed)
{
    enum { LINES = 37, FRAMES = 3 };
    if (!check_case(c, "oct_places_%zu%s", n, dispersed ? "_dispersed" : ""))
        return;
    const airy_oct_params p = {.samples = n,
                               .lines = LINES,
                               .window = AIRY_OCT_WINDOW_HANN,
                               .output = AIRY_OCT_MAGNITUDE,
                               .has_dispersion = dispersed,
                               .dispersion = {0, 0, 7, 0}};
    float *raw = check_alloc(c, FRAMES * LINES * n * sizeof(*raw));
    check_rand(c, raw, AIRY_DTYPE_F32, n, -1, 1);
    for (size_t l = 1; l < FRAMES * LINES; l++)
        memcpy(raw + l * n, raw, n * sizeof(*raw));
    const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, raw, FRAMES), 0);
    if (!dst)
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, got[i]);
    /* The last line may have no partner. */
    for (size_t i = 2 * (n / 2); i < count; i++) {
        const double d = fabs(got[i] - got[i - 2 * (n / 2)]);
        if (!(i < count - n / 2 ? d == 0 : d <= 4e-6 * largest)) {
            check_failed(c, __FILE__, __LINE__, "line %zu, bin %zu: got %.9g, other place %.9g",
                         i / (n / 2), i % (n / 2), got[i], got[i - 2 * (n / 2)]);
            break;
        }
    }
}

/* One object, two queues, no waiting in between. */
static void check_queues(struct check *c)
{
    enum { TIMES = 4, FRAMES = 4 };
    if (!check_case(c, "oct_queues"))
        return;
    const airy_oct_params p = {.samples = 512,
                               .lines = 33,
                               .dtype = AIRY_DTYPE_U16,
                               .background = AIRY_OCT_BACKGROUND_MEAN,
                               .window = AIRY_OCT_WINDOW_HANN,
                               .average_frames = 2};
    const size_t shape[3] = {FRAMES / 2, 33, 256}, count = FRAMES / 2 * 33 * 256;
    airy_oct *oct = NULL;
    airy_queue *other = NULL;
    airy_array *src[TIMES], *dst[2][TIMES];
    float *got[2];
    for (int i = 0; i < TIMES; i++) {
        src[i] = check_oct_upload(c, &p, check_oct_raw(c, &p, FRAMES), FRAMES);
        dst[0][i] = check_output(c, AIRY_DTYPE_F32, 3, shape);
        dst[1][i] = check_output(c, AIRY_DTYPE_F32, 3, shape);
    }
    if (CHECK_OK(c, airy_queue_finish(c->queue)) &&
        CHECK_OK(c, airy_queue_create(&other, c->device)) &&
        CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)))
        for (int i = 0; i < TIMES; i++) {
            CHECK_OK(c, airy_oct_process(c->queue, oct, dst[0][i], src[i], NULL));
            CHECK_OK(c, airy_oct_process(other, oct, dst[1][i], src[i], NULL));
        }
    airy_oct_destroy(&oct);
    CHECK_OK(c, airy_queue_finish(other));
    for (int i = 0; i < TIMES; i++) {
        for (int k = 0; k < 2; k++) {
            got[k] = check_alloc(c, count * sizeof(float));
            CHECK_OK(c, airy_array_pull(c->queue, got[k], count * sizeof(float), dst[k][i]));
        }
        CHECK_OK(c, airy_queue_finish(c->queue));
        check_values(c, "the other queue's result", AIRY_DTYPE_F32, got[1], got[0], count, NULL);
    }
    airy_queue_destroy(&other);
}

/* Learning again forgets what was learned, and frames one by one are those of one call. */
static void check_again(struct check *c)
{
    enum { FRAMES = 3 };
    if (!check_case(c, "oct_again"))
        return;
    const airy_oct_params p = {.samples = 256,
                               .lines = 10,
                               .dtype = AIRY_DTYPE_U16,
                               .output = AIRY_OCT_MAGNITUDE,
                               .fixed_pattern = 1,
                               .display = true,
                               .high = 1e6,
                               .post_background = true,
                               .post_weight = 0.5,
                               .flip = AIRY_OCT_FLIP_EVEN};
    const size_t size = 10 * 256, all[3] = {FRAMES, 10, 128}, one[3] = {1, 10, 128};
    const uint16_t *raw = check_oct_raw(c, &p, FRAMES);
    airy_array *src = check_oct_upload(c, &p, raw, FRAMES),
               *last = check_oct_upload(c, &p, raw + 2 * size, 1),
               *dst[2] = {check_output(c, AIRY_DTYPE_F32, 3, all),
                          check_output(c, AIRY_DTYPE_F32, 3, all)};
    airy_oct *oct = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)))
        return;
    CHECK_OK(c, airy_oct_learn(c->queue, oct, src));
    CHECK_OK(c, airy_oct_process(c->queue, oct, dst[0], src, NULL));
    CHECK_OK(c, airy_oct_learn(c->queue, oct, last));
    CHECK_OK(c, airy_oct_learn(c->queue, oct, src));
    CHECK_OK(c, airy_oct_process(c->queue, oct, dst[1], src, NULL));
    const double *want = check_oct_pull(c, dst[0], &count),
                 *got = check_oct_pull(c, dst[1], &count);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(c, got[i] == want[i]);
        largest = fmax(largest, fabs(want[i]));
    }
    for (size_t f = 0; f < FRAMES; f++) {
        const airy_oct_run run = {.first_frame = f};
        airy_array *from = check_oct_upload(c, &p, raw + f * size, 1),
                   *to = check_output(c, AIRY_DTYPE_F32, 3, one);
        CHECK_OK(c, airy_oct_process(c->queue, oct, to, from, &run));
        const double *part = check_oct_pull(c, to, &count);
        for (size_t i = 0; i < count; i++) /* the header's accuracy; partners may differ */
            if (!CHECK(c, fabs(part[i] - want[f * count + i]) <= 8e-6 * largest))
                break;
    }
    airy_oct_destroy(&oct);
}

void check_oct_physics(struct check *c)
{
    /* Of what interpolation leaves of the fringes' phase, in bins: a hundredth where fringes have 6
     * samples or more; linear ones at the Nyquist limit are weaker, not elsewhere. */
    check_depth(c, AIRY_OCT_LINEAR, 0.02);
    check_depth(c, AIRY_OCT_CUBIC, 0.02);
    check_depth(c, AIRY_OCT_LANCZOS, 0.01);
    check_width(c, AIRY_OCT_WINDOW_RECT, 1.2067, 0.8859);
    check_width(c, AIRY_OCT_WINDOW_HANN, 2, 1.4406);
    check_width(c, AIRY_OCT_WINDOW_HAMMING, 1.8152, 1.3030);
    check_width(c, AIRY_OCT_WINDOW_BLACKMAN, 2.2988, 1.6437);
    check_width(c, AIRY_OCT_WINDOW_GAUSS, 1.7645, 1.2667);
    check_width(c, AIRY_OCT_WINDOW_SINE, 1.6394, 1.1890);
    check_width(c, AIRY_OCT_WINDOW_FLATTOP, 4.5829, 3.7247);
    check_width(c, AIRY_OCT_WINDOW_TUKEY, 1.5726, 1.1501);
    check_moving(c, 0.3);
    check_moving(c, -1.9);
    check_moving(c, PI);
    check_still(c);
    check_nans(c);
    check_zeros(c);
    check_pieces(c);
    check_places(c, 256, false);
    check_places(c, 127, true);
    if (check_oct_all(c)) {
        check_places(c, 256, true);
        check_places(c, 100, false);
    }
    check_queues(c);
    check_again(c);
}
