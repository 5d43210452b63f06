/* Optical coherence tomography against its definition: every parameter, all lengths. */
#include "check_oct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- raw frames ---- */

static unsigned bits_of(const airy_oct_params *p)
{
    return p->packing == AIRY_OCT_PACKING_10   ? 10
           : p->packing == AIRY_OCT_PACKING_12 ? 12
                                               : 8 * (unsigned)airy_dtype_size(p->dtype);
}

/* Sample i of a line becomes these bits. */
static void store_bits(uint8_t *line, size_t i, uint32_t word, unsigned bits, bool big_endian)
{
    const bool packed = bits == 10 || bits == 12;
    for (unsigned b = 0; b < bits; b++) { /* bit b of the word */
        const size_t at = packed       ? i * bits + (big_endian ? bits - 1 - b : b)
                          : big_endian ? i * bits + (bits / 8 - 1 - b / 8) * 8 + b % 8
                                       : i * bits + b;
        const unsigned place = packed && big_endian ? 7 - at % 8 : at % 8;
        line[at / 8] = (uint8_t)(line[at / 8] | (word >> b & 1u) << place);
    }
}

void *check_oct_encode(struct check *c, const airy_oct_params *p, const double *value,
                       size_t frames)
{
    const unsigned bits = bits_of(p);
    const size_t n = p->samples, bytes = n * bits / 8, lines = frames * p->lines;
    uint8_t *raw = check_alloc(c, lines * bytes);
    for (size_t i = 0; i < lines * n; i++) {
        uint32_t word;
        if (p->dtype == AIRY_DTYPE_F32 && p->packing == AIRY_OCT_PACKING_NONE) {
            const float f = (float)value[i];
            memcpy(&word, &f, sizeof(word));
        } else {
            /* Whatever the shift throws away. */
            const uint32_t lost = (uint32_t)check_rand_u64(c) & ((1u << p->bit_shift) - 1);
            word = (uint32_t)(int32_t)floor(value[i]) << p->bit_shift | lost;
        }
        store_bits(raw + i / n * bytes, i % n, word, bits, p->big_endian);
    }
    return raw;
}

void *check_oct_raw(struct check *c, const airy_oct_params *p, size_t frames)
{
    const size_t n = p->samples, lines = frames * p->lines;
    const bool is_float = p->dtype == AIRY_DTYPE_F32 && p->packing == AIRY_OCT_PACKING_NONE,
               is_signed = p->dtype == AIRY_DTYPE_I16;
    const double full = is_float ? 1 : ldexp(1, (int)bits_of(p) - p->bit_shift - is_signed) - 1;
    double *value = check_alloc(c, lines * n * sizeof(*value));
    for (size_t l = 0; l < lines; l++) {
        double phase[3], depth[3];
        for (int r = 0; r < 3; r++) {
            phase[r] = 2 * PI * check_uniform(c);
            depth[r] = (0.02 + 0.13 * r + 0.05 * check_uniform(c)) * (double)n;
        }
        for (size_t j = 0; j < n; j++) {
            const double t = ((double)j + 0.5) / (double)n;
            double v = 0.25 + 0.25 * sin(PI * t) + 0.06 * (check_uniform(c) - 0.5);
            for (int r = 0; r < 3; r++)
                v += 0.09 * sin(PI * t) * cos(2 * PI * depth[r] * t + phase[r]);
            value[l * n + j] = full * (is_signed && l % 2 ? -v : v);
        }
    }
    return check_oct_encode(c, p, value, frames);
}

airy_array *check_oct_upload(struct check *c, const airy_oct_params *p, const void *raw,
                             size_t frames)
{
    const bool packed = p->packing != AIRY_OCT_PACKING_NONE;
    const size_t shape[3] = {frames, p->lines, packed ? p->samples * bits_of(p) / 8 : p->samples};
    return check_upload(c, packed ? AIRY_DTYPE_U8 : p->dtype, 3, shape, raw);
}

/* ---- a call ---- */

bool check_oct_all(struct check *c)
{
    airy_device_info info;
    return c->is_cpu || (CHECK_OK(c, airy_device_get_info(c->device, &info)) && info.gpu);
}

airy_array *check_oct_process(struct check *c, const airy_oct_params *p, const airy_array *src,
                              uint64_t first_frame)
{
    airy_oct *oct = NULL;
    airy_oct_info info;
    airy_array *dst = NULL;
    const airy_oct_run run = {.first_frame = first_frame};
    const bool learns = p->fixed_pattern || p->post_background,
               complex = p->output == AIRY_OCT_COMPLEX;
    bool fine = src && CHECK_OK(c, airy_oct_create(&oct, c->queue, p)) &&
                CHECK_OK(c, airy_oct_get_info(oct, &info));
    if (fine) {
        const size_t shape[4] = {airy_array_shape(src)[0] / info.frames_per_result, info.out_lines,
                                 info.depth, 2};
        dst = check_output(c, p->to, complex ? 4 : 3, shape);
        CHECK(c, info.method && info.method[0]);
        CHECK(c, info.result_bytes * shape[0] == airy_array_size(dst));
        CHECK(c, info.frame_bytes * airy_array_shape(src)[0] == airy_array_size(src));
    }
    fine = fine && (!learns || CHECK_OK(c, airy_oct_learn(c->queue, oct, src))) &&
           CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, first_frame ? &run : NULL));
    airy_oct_destroy(&oct);
    return fine ? dst : NULL;
}

double *check_oct_pull(struct check *c, const airy_array *array, size_t *count)
{
    const airy_dtype dtype = airy_array_dtype(array);
    *count = airy_array_count(array);
    void *data = check_alloc(c, airy_array_size(array));
    double *value = check_alloc(c, *count * sizeof(*value));
    if (!CHECK_OK(c, airy_array_pull(c->queue, data, airy_array_size(array), array)) ||
        !CHECK_OK(c, airy_queue_finish(c->queue)))
        *count = 0;
    for (size_t i = 0; i < *count; i++)
        value[i] = dtype == AIRY_DTYPE_F32  ? ((const float *)data)[i]
                   : dtype == AIRY_DTYPE_U8 ? ((const uint8_t *)data)[i]
                                            : ((const uint16_t *)data)[i];
    return value;
}

static void compare(struct check *c, const airy_array *dst, const struct ref_oct_bounds *want)
{
    size_t count, wrong = 0, first = 0, worst = 0;
    double most = -1;
    const double *got = check_oct_pull(c, dst, &count);
    CHECK(c, count == want->count);
    for (size_t i = 0; i < count && i < want->count; i++) {
        const double low = want->low[i], high = want->high[i];
        if ((isnan(got[i]) && isnan(low)) || (got[i] >= low && got[i] <= high))
            continue;
        const double d = fmax(low - got[i], got[i] - high), off = isnan(d) ? (double)INFINITY : d;
        first = wrong++ ? first : i;
        if (off > most) {
            most = off;
            worst = i;
        }
    }
    if (wrong)
        check_failed(
            c, __FILE__, __LINE__,
            "%zu of %zu are out of bounds; first [%zu]: got %.9g, want %.9g to %.9g; worst "
            "[%zu]: got %.9g, want %.9g to %.9g",
            wrong, count, first, got[first], want->low[first], want->high[first], worst, got[worst],
            want->low[worst], want->high[worst]);
}

/*
 * The header's 2e-6 of the largest of a line and those beside it. Where a background goes off, its
 * rounding and the samples' (8 standard deviations of 2^-24 each).
 */
static double *errors_of(struct check *c, const struct ref_oct_spectra *s, const airy_oct_params *p)
{
    double *error = check_alloc(c, s->lines * sizeof(*error));
    for (size_t l = 0; l < s->lines; l++) {
        double largest = s->largest[l];
        if (l > 0)
            largest = fmax(largest, s->largest[l - 1]);
        if (l + 1 < s->lines)
            largest = fmax(largest, s->largest[l + 1]);
        error[l] = 2e-6 * largest + (p->background ? 0x1p-21 * s->scale[l] : 0);
    }
    return error;
}

/* The pattern off, whose error adds to that of F. */
static void subtract_pattern(struct check *c, struct ref_oct_spectra *s, double *error,
                             const airy_oct_params *p)
{
    double *pattern = check_alloc(c, s->depth * 2 * sizeof(*pattern)), most = 0;
    struct ref_oct_spectra some = *s;
    some.lines = p->fixed_pattern * p->lines;
    ref_oct_pattern(pattern, &some);
    ref_oct_subtract(s, pattern);
    for (size_t l = 0; l < some.lines; l++)
        most = fmax(most, error[l]);
    for (size_t l = 0; l < s->lines; l++)
        error[l] += most;
}

/* What is subtracted afterwards. */
static bool make_post(struct ref_oct_bounds *post, const struct ref_oct_spectra *s,
                      const double *error, const airy_oct_params *p)
{
    struct ref_oct_bounds first;
    struct ref_oct_spectra some = *s;
    airy_oct_params plain = *p;
    plain.to = AIRY_DTYPE_F32;
    some.lines = p->lines * (p->average_frames ? p->average_frames : 1) *
                 (p->flow && p->flow_frames ? p->repeats : 1);
    if (!ref_oct_result(&first, &some, error, 0, NULL, &plain))
        return false;
    const bool fine = ref_oct_post(post, &first, s->depth, p);
    ref_oct_bounds_free(&first);
    return fine;
}

void check_oct_one(struct check *c, const airy_oct_params *p, const void *raw, size_t frames,
                   uint64_t first_frame)
{
    struct ref_oct_spectra s;
    struct ref_oct_bounds want = {0}, post = {0};
    const airy_array *dst =
        check_oct_process(c, p, check_oct_upload(c, p, raw, frames), first_frame);
    if (!dst || !CHECK(c, ref_oct_spectra(&s, raw, frames, p)))
        return;
    double *error = errors_of(c, &s, p);
    if (p->fixed_pattern)
        subtract_pattern(c, &s, error, p);
    if ((!p->post_background || CHECK(c, make_post(&post, &s, error, p))) &&
        CHECK(c,
              ref_oct_result(&want, &s, error, first_frame, p->post_background ? &post : NULL, p)))
        compare(c, dst, &want);
    ref_oct_bounds_free(&want);
    ref_oct_bounds_free(&post);
    ref_oct_spectra_free(&s);
}

/* ---- every parameter ---- */

struct variant {
    const char *name;
    airy_oct_params p; /* without tables, samples 0: 256, lines 0: 6 */
    size_t frames;     /* 0: 2 */
    uint64_t first_frame;
    bool descends, phases;
    bool rare; /* what it adds to others is the front's, or of a kind that they have */
};

/* Tables of what the parameters ask for; a spectrum of 1.19 to 1.43 um, a few percent nonlinear. */
static void fill_tables(struct check *c, airy_oct_params *p, const struct variant *v)
{
    const size_t n = p->samples;
    const double end = (double)n - 1;
    double *axis = check_alloc(c, n * sizeof(double)), *line = check_alloc(c, n * sizeof(double)),
           *window = check_alloc(c, n * sizeof(double)),
           *phase = check_alloc(c, n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double t = (v->descends ? end - (double)i : (double)i) / end,
                     length = 1e-9 * (1187.2 + 252.9 * t + 13.5 * t * t - 20.9 * t * t * t);
        axis[i] = p->axis == AIRY_OCT_AXIS_WAVELENGTH ? length
                  : p->axis == AIRY_OCT_AXIS_K        ? 1 / (2.62e-6 - length)
                                                      : -2.6 + (end + 4.3) * t * (1.1 - 0.1 * t);
        line[i] = (p->dtype == AIRY_DTYPE_F32 ? 0.45 : 90.3) * (1 + t);
        window[i] = 0.2 + t * (1.3 - t);
        phase[i] = 20 * t * t - 7 * t + 0.4;
    }
    p->axis_table = p->axis && p->axis != AIRY_OCT_AXIS_POLY ? axis : NULL;
    p->background_line = p->background == AIRY_OCT_BACKGROUND_LINE ? line : NULL;
    p->window_table = p->window == AIRY_OCT_WINDOW_TABLE ? window : NULL;
    p->phase_table = v->phases ? phase : NULL;
}

static void check_variant(struct check *c, const struct variant *v)
{
    if ((v->rare && !check_oct_all(c)) || !check_case(c, "oct_%s", v->name))
        return;
    airy_oct_params p = v->p;
    const size_t frames = v->frames ? v->frames : 2;
    p.samples = p.samples ? p.samples : 256;
    p.lines = p.lines ? p.lines : 6;
    fill_tables(c, &p, v);
    check_oct_one(c, &p, check_oct_raw(c, &p, frames), frames, v->first_frame);
}

#define U16  .dtype = AIRY_DTYPE_U16
#define HANN .window = AIRY_OCT_WINDOW_HANN
#define MAG  .output = AIRY_OCT_MAGNITUDE
#define POW  .output = AIRY_OCT_POWER
#define CPX  .output = AIRY_OCT_COMPLEX

static void check_samples(struct check *c)
{
#define BITS(n) .packing = AIRY_OCT_PACKING_##n
#define BIG     .big_endian = true
    static const struct variant all[] = {
        {.name = "u8", .p = {.dtype = AIRY_DTYPE_U8, MAG}},
        {.name = "u8_shift2", .p = {.dtype = AIRY_DTYPE_U8, .bit_shift = 2, MAG}, .rare = true},
        {.name = "u16", .p = {U16, MAG}},
        {.name = "u16_big", .p = {U16, BIG, MAG}},
        {.name = "u16_shift4", .p = {U16, .bit_shift = 4, MAG}},
        {.name = "u16_shift15_big", .p = {U16, .bit_shift = 15, BIG, MAG}, .rare = true},
        {.name = "i16", .p = {.dtype = AIRY_DTYPE_I16, MAG}, .rare = true},
        {.name = "i16_shift3", .p = {.dtype = AIRY_DTYPE_I16, .bit_shift = 3, MAG}},
        {.name = "i16_big_shift1", .p = {.dtype = AIRY_DTYPE_I16, BIG, .bit_shift = 1, MAG}},
        {.name = "f32", .p = {MAG}},
        {.name = "f32_big", .p = {BIG, MAG}},
        {.name = "packed10", .p = {BITS(10), MAG}},
        {.name = "packed10_big", .p = {BITS(10), BIG, MAG}},
        {.name = "packed10_shift3", .p = {BITS(10), .bit_shift = 3, MAG, .lines = 3}, .rare = true},
        {.name = "packed12", .p = {BITS(12), MAG}},
        {.name = "packed12_big", .p = {BITS(12), BIG, MAG}, .rare = true},
        {.name = "packed12_big_shift2", .p = {BITS(12), BIG, .bit_shift = 2, MAG, .lines = 5}},
        {.name = "packed10_60", .p = {BITS(10), MAG, .samples = 60, .lines = 7}},
        {.name = "packed12_46_big",
         .p = {BITS(12), BIG, MAG, .samples = 46, .lines = 3},
         .rare = true},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
#undef BITS
#undef BIG
}

static void check_background(struct check *c)
{
#define LESS(kind) .background = AIRY_OCT_BACKGROUND_##kind
#define RESAMPLED  .axis = AIRY_OCT_AXIS_POLY, .poly = { 0.5, 250, 6, -2 }
    static const struct variant all[] = {
        {.name = "less_line", .p = {U16, LESS(LINE), MAG}},
        {.name = "less_line_cubic",
         .p = {LESS(LINE), MAG, RESAMPLED, .interpolation = AIRY_OCT_CUBIC, HANN,
               .window_first = true}},
        {.name = "less_mean", .p = {U16, LESS(MEAN), MAG}, .frames = 3},
        {.name = "less_mean_1", .p = {LESS(MEAN), .lines = 1, CPX}, .frames = 3},
        {.name = "less_mean_lanczos",
         .p = {U16, LESS(MEAN), MAG, RESAMPLED, .interpolation = AIRY_OCT_LANCZOS, HANN}},
        {.name = "less_mean_packed",
         .p = {LESS(MEAN), MAG, .packing = AIRY_OCT_PACKING_12, .bit_shift = 1}},
        {.name = "less_rolling1", .p = {U16, LESS(ROLLING), .rolling = 1, MAG}},
        {.name = "less_rolling7", .p = {U16, LESS(ROLLING), .rolling = 7, MAG}},
        {.name = "less_rolling_all", .p = {U16, LESS(ROLLING), .rolling = 256, MAG}},
        {.name = "less_rolling_f32", .p = {LESS(ROLLING), .rolling = 32, MAG, RESAMPLED}},
        {.name = "less_rolling_45",
         .p = {LESS(ROLLING), .rolling = 4, MAG, .samples = 45, .lines = 3}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
#undef LESS
#undef RESAMPLED
}

static void check_axis(struct check *c)
{
    static const struct {
        const char *name;
        airy_oct_axis axis;
        airy_oct_compat compat;
        bool descends;
    } axes[] = {
        {"wavelength", AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_COMPAT_NONE, false},
        {"wavelength_falls", AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_COMPAT_NONE, true},
        {"k", AIRY_OCT_AXIS_K, AIRY_OCT_COMPAT_NONE, false},
        {"k_falls", AIRY_OCT_AXIS_K, AIRY_OCT_COMPAT_NONE, true},
        {"curve", AIRY_OCT_AXIS_CURVE, AIRY_OCT_COMPAT_NONE, false},
        {"curve_falls", AIRY_OCT_AXIS_CURVE, AIRY_OCT_COMPAT_NONE, true},
        {"poly", AIRY_OCT_AXIS_POLY, AIRY_OCT_COMPAT_NONE, false},
        {"motion_wavelength", AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_COMPAT_PYMOTIONOCT, false},
        {"motion_wavelength_falls", AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_COMPAT_PYMOTIONOCT, true},
        {"motion_k", AIRY_OCT_AXIS_K, AIRY_OCT_COMPAT_PYMOTIONOCT, true},
        {"octproz_curve", AIRY_OCT_AXIS_CURVE, AIRY_OCT_COMPAT_OCTPROZ, false},
        {"octproz_curve_falls", AIRY_OCT_AXIS_CURVE, AIRY_OCT_COMPAT_OCTPROZ, true},
        {"octproz_poly", AIRY_OCT_AXIS_POLY, AIRY_OCT_COMPAT_OCTPROZ, false},
    };
    static const char *const names[] = {"linear", "cubic", "lanczos"};
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
        for (int k = 0; k < AIRY_OCT_INTERPOLATION_COUNT; k++) {
            char name[64];
            snprintf(name, sizeof(name), "%s_%s", axes[i].name, names[k]);
            struct variant v = {.name = name, .descends = axes[i].descends};
            v.p = (airy_oct_params){U16,
                                    HANN,
                                    MAG,
                                    .axis = axes[i].axis,
                                    .interpolation = (airy_oct_interpolation)k,
                                    .poly = {-1.5, 265, -30, 19},
                                    .compat = axes[i].compat};
            check_variant(c, &v);
        }
    /* Fewer samples than taps. */
    static const struct variant few[] = {
        {.name = "lanczos_2",
         .p = {MAG, .samples = 2, .axis = AIRY_OCT_AXIS_POLY, .poly = {0.3, 0.4},
               .interpolation = AIRY_OCT_LANCZOS}},
        {.name = "cubic_3",
         .p = {MAG, .samples = 3, .axis = AIRY_OCT_AXIS_POLY, .poly = {0.3, 1.4},
               .interpolation = AIRY_OCT_CUBIC}},
        {.name = "cubic_3_octproz",
         .p = {MAG, .samples = 3, .axis = AIRY_OCT_AXIS_POLY, .poly = {0.3, 1.4},
               .interpolation = AIRY_OCT_CUBIC, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "cubic_outside_octproz", /* up to twice the line's length away */
         .p = {MAG, .samples = 32, .axis = AIRY_OCT_AXIS_POLY, .poly = {-60.5, 90.25},
               .interpolation = AIRY_OCT_CUBIC, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "lanczos_15",
         .p = {MAG, .samples = 15, .axis = AIRY_OCT_AXIS_WAVELENGTH,
               .interpolation = AIRY_OCT_LANCZOS}},
        {.name = "linear_2", .p = {MAG, .samples = 2, .axis = AIRY_OCT_AXIS_K}},
    };
    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
        check_variant(c, &few[i]);
}

static void check_windows(struct check *c)
{
    static const char *const names[] = {"rect", "hann",    "hamming", "blackman", "gauss",
                                        "sine", "flattop", "tukey",   "table"};
    static const struct variant forms[] = {
        {.name = "", .p = {U16, MAG}},
        {.name = "_narrow", .p = {U16, MAG, .window_center = 0.4, .window_fill = 0.7}},
        {.name = "_octproz",
         .p = {U16, MAG, .window_center = 0.6, .window_fill = 0.9,
               .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "_first",
         .p = {U16, MAG, .window_fill = 0.9, .window_first = true, .axis = AIRY_OCT_AXIS_WAVELENGTH,
               .interpolation = AIRY_OCT_CUBIC}},
    };
    for (int kind = 0; kind < AIRY_OCT_WINDOW_COUNT; kind++)
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
            char name[64];
            snprintf(name, sizeof(name), "window_%s%s", names[kind], forms[i].name);
            struct variant v = forms[i];
            v.name = name;
            v.p.window = (airy_oct_window)kind;
            check_variant(c, &v);
        }
    static const struct variant odd[] = {
        {.name = "window_hann_45", .p = {MAG, HANN, .samples = 45, .lines = 3}},
        {.name = "window_gauss_wide",
         .p = {MAG, .window = AIRY_OCT_WINDOW_GAUSS, .window_fill = 3}},
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        check_variant(c, &odd[i]);
}

static void check_outputs(struct check *c)
{
    static const char *const names[] = {"db", "magnitude", "power", "phase", "complex"};
    static const struct variant forms[] = {
        {.name = "", .p = {U16, HANN}},
        {.name = "_dispersion",
         .p = {U16, HANN, .has_dispersion = true, .dispersion = {0.3, 12, -18, 4}}},
        {.name = "_phases",
         .p = {U16, HANN, .has_dispersion = true, .dispersion = {1, 1, 1, 1}},
         .phases = true},
        {.name = "_dispersion_poly",
         .p = {HANN, .axis = AIRY_OCT_AXIS_POLY, .poly = {0, 255, 8, -8}, .has_dispersion = true,
               .dispersion = {0, 0, 30, 0}}},
        {.name = "_octproz", .p = {U16, HANN, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "_octproz_dispersion",
         .p = {U16, HANN, .compat = AIRY_OCT_COMPAT_OCTPROZ, .has_dispersion = true,
               .dispersion = {0.3, 12, -18, 4}}},
        {.name = "_depth", .p = {U16, HANN, .depth_first = 3, .depth_last = 10}},
        {.name = "_all_bins", .p = {U16, HANN, .depth_last = 129}},
        {.name = "_last_bin", .p = {U16, HANN, .depth_first = 128, .depth_last = 129}},
        {.name = "_first_bin", .p = {U16, HANN, .depth_last = 1}},
        {.name = "_odd", .p = {HANN, .samples = 45, .depth_last = 23, .lines = 3}},
        {.name = "_flip_even", .p = {U16, HANN, .flip = AIRY_OCT_FLIP_EVEN}, .frames = 3},
        {.name = "_pattern", .p = {U16, HANN, .lines = 11, .fixed_pattern = 1}, .frames = 2},
        {.name = "_straight", .p = {U16, HANN, .sinusoidal = true, .lines = 7}},
    };
    for (int output = 0; output < AIRY_OCT_OUTPUT_COUNT; output++)
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
            char name[64];
            snprintf(name, sizeof(name), "%s%s", names[output], forms[i].name);
            struct variant v = forms[i];
            v.name = name;
            v.p.output = (airy_oct_output)output;
            v.rare = i > 0 && output > 0 && i != (size_t)output;
            check_variant(c, &v);
        }
}

static void check_patterns(struct check *c)
{
    static const struct variant all[] = {
        {.name = "pattern_9", .p = {U16, MAG, .lines = 9, .fixed_pattern = 1}, .frames = 2},
        {.name = "pattern_3_frames", .p = {U16, MAG, .lines = 10, .fixed_pattern = 3}, .frames = 4},
        {.name = "pattern_depth",
         .p = {U16, HANN, .lines = 20, .fixed_pattern = 1, .depth_first = 5, .depth_last = 31}},
        {.name = "pattern_octproz",
         .p = {U16, CPX, .lines = 19, .fixed_pattern = 1, .has_dispersion = true,
               .dispersion = {0, 3, 9, 1}, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "pattern_flip",
         .p = {U16, MAG, .lines = 10, .fixed_pattern = 2, .flip = AIRY_OCT_FLIP_ALL}},
        {.name = "pattern_mean",
         .p = {U16, .lines = 10, .fixed_pattern = 2, .average_frames = 2,
               .background = AIRY_OCT_BACKGROUND_ROLLING, .rolling = 20}},
        {.name = "pattern_shown",
         .p = {U16, HANN, .lines = 10, .fixed_pattern = 2, .display = true, .low = 20, .high = 160,
               .to = AIRY_DTYPE_U8}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
}

static void check_means(struct check *c)
{
    static const char *const names[] = {"db", "magnitude", "power", "phase", "complex"};
    static const struct variant forms[] = {
        {.name = "_mean_lines2", .p = {U16, HANN, .average_lines = 2}},
        {.name = "_mean_lines6", .p = {U16, HANN, .average_lines = 6}},
        {.name = "_mean_frames3", .p = {U16, HANN, .average_frames = 3}, .frames = 6},
        {.name = "_mean_both",
         .p = {U16, HANN, .average_lines = 3, .average_frames = 2},
         .frames = 4},
        {.name = "_mean_flip",
         .p = {U16, HANN, .average_lines = 2, .average_frames = 2, .flip = AIRY_OCT_FLIP_ODD},
         .frames = 4,
         .first_frame = 5},
        {.name = "_mean_straight",
         .p = {U16, HANN, .average_lines = 2, .average_frames = 2, .sinusoidal = true, .lines = 10},
         .frames = 2},
        {.name = "_mean_octproz",
         .p = {U16, HANN, .average_frames = 2, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "_mean_few", .p = {U16, .average_lines = 2, .samples = 16, .lines = 2}},
        {.name = "_mean_odd", .p = {HANN, .average_lines = 5, .samples = 45, .lines = 15}},
    };
    for (int output = 0; output < AIRY_OCT_OUTPUT_COUNT; output++)
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
            char name[64];
            snprintf(name, sizeof(name), "%s%s", names[output], forms[i].name);
            struct variant v = forms[i];
            v.name = name;
            v.p.output = (airy_oct_output)output;
            check_variant(c, &v);
        }
}

static void check_flow(struct check *c)
{
#define PHASE_OF .output = AIRY_OCT_PHASE, .flow = AIRY_OCT_FLOW_PHASE
#define VARIANCE .flow = AIRY_OCT_FLOW_VARIANCE
#define FRAMES   .flow_frames = true
    static const struct variant all[] = {
        {.name = "flow_lines2", .p = {U16, HANN, PHASE_OF, .repeats = 2}},
        {.name = "flow_lines6", .p = {U16, HANN, PHASE_OF, .repeats = 6}},
        {.name = "flow_frames2", .p = {U16, HANN, PHASE_OF, FRAMES, .repeats = 2}, .frames = 4},
        {.name = "flow_frames3_flip",
         .p = {U16, HANN, PHASE_OF, FRAMES, .repeats = 3, .flip = AIRY_OCT_FLIP_EVEN},
         .frames = 6},
        {.name = "flow_lines_means",
         .p = {U16, HANN, PHASE_OF, .repeats = 3, .average_lines = 2, .average_frames = 2},
         .frames = 4},
        {.name = "flow_frames_means",
         .p = {U16, HANN, PHASE_OF, FRAMES, .repeats = 2, .average_lines = 3, .average_frames = 2},
         .frames = 8},
        {.name = "flow_straight",
         .p = {U16, HANN, PHASE_OF, FRAMES, .repeats = 2, .sinusoidal = true},
         .frames = 4},
        {.name = "flow_shown",
         .p = {U16, HANN, PHASE_OF, .repeats = 2, .display = true, .low = -3.2, .high = 3.2,
               .to = AIRY_DTYPE_U16}},
        {.name = "flow_octproz",
         .p = {U16, HANN, PHASE_OF, .repeats = 3, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "flow_odd", .p = {HANN, PHASE_OF, .repeats = 5, .samples = 45, .lines = 5}},
        {.name = "variance_db", .p = {U16, HANN, VARIANCE, .repeats = 3}},
        {.name = "variance_magnitude", .p = {U16, HANN, VARIANCE, .repeats = 2, MAG}},
        {.name = "variance_power", .p = {U16, HANN, VARIANCE, .repeats = 6, POW}},
        {.name = "variance_frames",
         .p = {U16, HANN, VARIANCE, FRAMES, .repeats = 4, MAG},
         .frames = 4},
        {.name = "variance_means",
         .p = {U16, HANN, VARIANCE, FRAMES, .repeats = 2, MAG, .average_lines = 2,
               .average_frames = 2},
         .frames = 4},
        {.name = "variance_lines_means",
         .p = {U16, HANN, VARIANCE, .repeats = 3, .average_lines = 2}},
        {.name = "variance_flip",
         .p = {U16, HANN, VARIANCE, FRAMES, .repeats = 2, MAG, .flip = AIRY_OCT_FLIP_ODD,
               .sinusoidal = true}},
        {.name = "variance_octproz",
         .p = {U16, HANN, VARIANCE, .repeats = 2, POW, .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "variance_shown",
         .p = {U16, HANN, VARIANCE, .repeats = 2, .display = true, .low = 0, .high = 100,
               .to = AIRY_DTYPE_U8}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
#undef PHASE_OF
#undef VARIANCE
#undef FRAMES
}

static void check_results(struct check *c)
{
#define SHOWN .display = true, .low = 35.5, .high = 155.25
#define POST  .post_background = true
    static const struct variant all[] = {
        {.name = "flip_odd", .p = {U16, MAG, .flip = AIRY_OCT_FLIP_ODD}, .frames = 3},
        {.name = "flip_odd_from1",
         .p = {U16, MAG, .flip = AIRY_OCT_FLIP_ODD},
         .frames = 3,
         .first_frame = 1},
        {.name = "flip_all",
         .p = {U16, MAG, .flip = AIRY_OCT_FLIP_ALL, .lines = 7},
         .first_frame = 3},
        {.name = "flip_even_late",
         .p = {U16, MAG, .flip = AIRY_OCT_FLIP_EVEN},
         .first_frame = (uint64_t)1 << 40},
        {.name = "straight_2", .p = {U16, MAG, .sinusoidal = true, .lines = 2}},
        {.name = "straight_64", .p = {U16, MAG, .sinusoidal = true, .lines = 64, .depth_last = 8}},
        {.name = "straight_flip", .p = {U16, HANN, .sinusoidal = true, .flip = AIRY_OCT_FLIP_EVEN}},
        {.name = "shown_f32", .p = {U16, HANN, SHOWN}},
        {.name = "shown_u8", .p = {U16, HANN, SHOWN, .to = AIRY_DTYPE_U8}},
        {.name = "shown_u16", .p = {U16, HANN, SHOWN, .to = AIRY_DTYPE_U16}},
        {.name = "shown_u8_odd",
         .p = {HANN, SHOWN, .to = AIRY_DTYPE_U8, .samples = 45, .lines = 3}},
        {.name = "shown_scaled", .p = {U16, HANN, SHOWN, .multiply = 1.7, .add = -0.2}},
        {.name = "shown_negative",
         .p = {U16, HANN, SHOWN, .multiply = -1, .add = -1, .to = AIRY_DTYPE_U16}},
        {.name = "shown_linear",
         .p = {U16, HANN, MAG, .display = true, .low = 0, .high = 2e6, .multiply = 3,
               .to = AIRY_DTYPE_U8}},
        {.name = "shown_power", .p = {HANN, POW, .display = true, .low = -1, .high = 1000}},
        {.name = "shown_phase",
         .p = {U16, HANN, .output = AIRY_OCT_PHASE, .display = true, .low = -3.2, .high = 3.2,
               .to = AIRY_DTYPE_U8}},
        {.name = "shown_octproz",
         .p = {U16, HANN, .display = true, .low = -30, .high = 100, .to = AIRY_DTYPE_U8,
               .compat = AIRY_OCT_COMPAT_OCTPROZ}},
        {.name = "shown_means", .p = {U16, HANN, SHOWN, .average_lines = 2, .to = AIRY_DTYPE_U8}},
        {.name = "shown_straight",
         .p = {U16, HANN, SHOWN, .sinusoidal = true, .to = AIRY_DTYPE_U16}},
        {.name = "shown_flip",
         .p = {U16, HANN, SHOWN, .flip = AIRY_OCT_FLIP_ALL, .to = AIRY_DTYPE_U8}},
        {.name = "post_f32",
         .p = {U16, HANN, SHOWN, POST, .post_weight = 0.8, .post_offset = -0.3}},
        {.name = "post_u8",
         .p = {U16, HANN, SHOWN, POST, .post_weight = 1, .post_offset = -0.5, .to = AIRY_DTYPE_U8}},
        {.name = "post_offset", .p = {U16, HANN, SHOWN, POST, .post_offset = 0.1}},
        {.name = "post_means",
         .p = {U16, HANN, SHOWN, POST, .post_weight = 0.5, .average_lines = 2, .average_frames = 2,
               .sinusoidal = true, .flip = AIRY_OCT_FLIP_EVEN, .to = AIRY_DTYPE_U16},
         .frames = 4},
        {.name = "post_pattern",
         .p = {U16, HANN, SHOWN, POST, .post_weight = 0.5, .fixed_pattern = 2}},
        {.name = "post_odd",
         .p = {HANN, SHOWN, POST, .post_weight = 0.5, .post_offset = -0.2, .samples = 45,
               .lines = 3, .to = AIRY_DTYPE_U8}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
#undef SHOWN
#undef POST
}

/* Odd ends of groups of lines, and the whole chain at once. */
static void check_shapes(struct check *c)
{
    static const size_t lines[] = {1, 2, 3, 5, 17, 31, 64}, samples[] = {64, 100, 256};
    for (size_t s = 0; s < 3; s++)
        for (size_t l = 0; l < 7; l++)
            for (size_t frames = 1; frames <= 3; frames += 1 + (l > 2)) {
                if (!check_case(c, "oct_u16_%zux%zux%zu", frames, lines[l], samples[s]))
                    continue;
                const airy_oct_params p = {.samples = samples[s], .lines = lines[l], U16, HANN};
                check_oct_one(c, &p, check_oct_raw(c, &p, frames), frames, 0);
            }
    static const struct variant all[] = {
        {.name = "everything",
         .p = {.samples = 512,
               .lines = 12,
               U16,
               .big_endian = true,
               .bit_shift = 4,
               .background = AIRY_OCT_BACKGROUND_ROLLING,
               .rolling = 40,
               .axis = AIRY_OCT_AXIS_WAVELENGTH,
               .interpolation = AIRY_OCT_CUBIC,
               HANN,
               .window_fill = 0.95,
               .has_dispersion = true,
               .dispersion = {0.1, 3, -20, 5},
               .depth_first = 7,
               .depth_last = 200,
               .fixed_pattern = 2,
               .average_lines = 2,
               .average_frames = 2,
               .flip = AIRY_OCT_FLIP_EVEN,
               .sinusoidal = true,
               .display = true,
               .low = -20,
               .high = 130,
               .multiply = 1.1,
               .add = 0.05,
               .post_background = true,
               .post_weight = 0.3,
               .post_offset = 0.01,
               .to = AIRY_DTYPE_U8},
         .frames = 4,
         .first_frame = 3},
        {.name = "everything_octproz",
         .p = {.samples = 512,
               .lines = 12,
               .packing = AIRY_OCT_PACKING_12,
               .background = AIRY_OCT_BACKGROUND_ROLLING,
               .rolling = 64,
               .axis = AIRY_OCT_AXIS_CURVE,
               .interpolation = AIRY_OCT_LANCZOS,
               .window = AIRY_OCT_WINDOW_TUKEY,
               .window_fill = 0.9,
               .has_dispersion = true,
               .dispersion = {0.1, 3, -20, 5},
               .fixed_pattern = 1,
               .flip = AIRY_OCT_FLIP_EVEN,
               .sinusoidal = true,
               .display = true,
               .low = -20,
               .high = 90,
               .post_background = true,
               .post_weight = 0.3,
               .to = AIRY_DTYPE_U8,
               .compat = AIRY_OCT_COMPAT_OCTPROZ},
         .frames = 3},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_variant(c, &all[i]);
}

/* ---- the transform ---- */

/* Root mean square and maximum of the error, of the largest of a line and its neighbours. */
static void check_length(struct check *c, size_t n, bool complex)
{
    if (!check_case(c, "oct_transform%s_%zu", complex ? "_dispersed" : "", n))
        return;
    const size_t lines = 3, depth = n / 2 + 1;
    const airy_oct_params p = {.samples = n,
                               .lines = lines,
                               CPX,
                               .depth_last = depth,
                               .has_dispersion = complex,
                               .dispersion = {0.5, 10, 25, -4}};
    float *raw = check_alloc(c, lines * n * sizeof(*raw));
    struct ref_oct_spectra s;
    check_rand(c, raw, AIRY_DTYPE_F32, lines * n, -1, 1);
    const airy_array *dst = check_oct_process(c, &p, check_oct_upload(c, &p, raw, 1), 0);
    if (!dst || !CHECK(c, ref_oct_spectra(&s, raw, 1, &p)))
        return;
    size_t count;
    const double *got = check_oct_pull(c, dst, &count), *error = errors_of(c, &s, &p);
    for (size_t l = 0; l < lines && CHECK(c, count == lines * depth * 2); l++) {
        const double largest = error[l] / 2e-6;
        double squares = 0, most = 0;
        for (size_t i = l * depth; i < (l + 1) * depth; i++) {
            const double d = hypot(got[2 * i] - s.f[2 * i], got[2 * i + 1] - s.f[2 * i + 1]);
            squares += d * d / (double)depth;
            most = d <= most ? most : d;
        }
        if (!(most <= 2e-6 * largest && sqrt(squares) <= 4e-7 * largest))
            check_failed(c, __FILE__, __LINE__,
                         "line %zu: error of F: root mean square %.3g, most %.3g of the largest", l,
                         sqrt(squares) / largest, most / largest);
    }
    ref_oct_spectra_free(&s);
}

static void check_lengths(struct check *c)
{
    static const size_t others[] = {3,    5,    6,    7,    9,    11,   12,   15,   17,
                                    31,   100,  127,  360,  500,  509,  768,  1000, 1021,
                                    1200, 1536, 2000, 3000, 4093, 5000, 6144, 8000, 8191};
    const bool all = check_oct_all(c);
    for (size_t n = AIRY_OCT_MIN_SAMPLES; n <= AIRY_OCT_MAX_SAMPLES; n *= 2) {
        check_length(c, n, false);
        if (all || n == 256 || n == 4096)
            check_length(c, n, true);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (all || i % 3 != 2)
            check_length(c, others[i], false);
        if (all || i % 6 == 5)
            check_length(c, others[i], true);
    }
}

/* ---- rates ---- */

/* 32 MiB of the same lines over and over: a line's place in a call changes nothing. */
static void check_large(struct check *c)
{
    enum { SAMPLES = 8192, LINES = 64, FRAMES = 32 };
    const airy_oct_params p = {
        .samples = SAMPLES, .lines = LINES, .dtype = AIRY_DTYPE_U8, .window = AIRY_OCT_WINDOW_HANN};
    airy_oct *oct = NULL;
    airy_array *dst = NULL;
    if (!check_case(c, "oct_u8_%dx%dx%d_large", SAMPLES, LINES, FRAMES))
        return;
    const size_t frame = (size_t)SAMPLES * LINES, shape[3] = {FRAMES, LINES, SAMPLES / 2};
    uint8_t *raw = check_alloc(c, FRAMES * frame);
    memcpy(raw, check_oct_raw(c, &p, 1), frame);
    for (size_t f = 1; f < FRAMES; f++)
        memcpy(raw + f * frame, raw, frame);
    const airy_array *src = check_oct_upload(c, &p, raw, FRAMES),
                     *one = check_oct_process(c, &p, check_oct_upload(c, &p, raw, 1), 0);
    if (one && CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) &&
        CHECK_OK(c, airy_array_create(&dst, c->device, AIRY_DTYPE_F32, 3, shape)) &&
        CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL))) {
        const size_t size = airy_array_size(one);
        float *want = check_alloc(c, size), *got = check_alloc(c, FRAMES * size);
        CHECK_OK(c, airy_array_pull(c->queue, want, size, one));
        CHECK_OK(c, airy_array_pull(c->queue, got, FRAMES * size, dst));
        CHECK_OK(c, airy_queue_finish(c->queue));
        for (size_t f = 0; f < FRAMES; f++)
            if (!check_values(c, "dst", AIRY_DTYPE_F32, got + f * (size / sizeof(float)), want,
                              size / sizeof(float), NULL))
                break;
    }
    airy_array_destroy(&dst);
    airy_oct_destroy(&oct);
}

static void bench_one(struct check *c, const char *name, size_t frames, const airy_oct_params *p)
{
    if (!c->bench || !check_case(c, "oct_bench_%s", name))
        return;
    airy_oct *oct = NULL;
    airy_oct_info info;
    airy_array *src = check_oct_upload(c, p, check_oct_raw(c, p, frames), frames);
    if (!CHECK_OK(c, airy_oct_create(&oct, c->queue, p)) ||
        !CHECK_OK(c, airy_oct_get_info(oct, &info)))
        return;
    const size_t shape[3] = {frames / info.frames_per_result, info.out_lines, info.depth};
    airy_array *dst = check_output(c, p->to, 3, shape);
    const double n = (double)p->samples, lines = (double)(frames * p->lines);
    CHECK_BENCH(c, (double)(airy_array_size(src) + airy_array_size(dst)),
                lines * (2.5 * n * log2(n) + 8 * n),
                airy_oct_process(c->queue, oct, dst, src, NULL));
    airy_oct_destroy(&oct);
}

static void check_rates(struct check *c)
{
    const airy_oct_params plain = {.samples = 2048,
                                   .lines = 1024,
                                   U16,
                                   HANN,
                                   .axis = AIRY_OCT_AXIS_POLY,
                                   .poly = {0, 2047, 90, -90}};
    airy_oct_params p = plain;
    bench_one(c, "2048_db", 8, &p);
    p.to = AIRY_DTYPE_U8;
    p.display = true;
    p.high = 160;
    bench_one(c, "2048_u8", 8, &p);
    p.has_dispersion = true;
    p.dispersion[2] = 20;
    bench_one(c, "2048_dispersion_u8", 8, &p);
    p.interpolation = AIRY_OCT_LANCZOS;
    bench_one(c, "2048_lanczos_u8", 8, &p);
    p = plain;
    p.average_frames = 2;
    bench_one(c, "2048_mean", 8, &p);
    p = plain;
    p.samples = 1024;
    bench_one(c, "1024_db", 16, &p);
    p.samples = 1000;
    bench_one(c, "1000_db", 16, &p);
}

/* A back end without it is one skipped case. */
static bool is_missing(struct check *c)
{
    airy_oct *oct = NULL;
    const airy_oct_params p = {.samples = 64, .lines = 1};
    const bool missing = airy_oct_create(&oct, c->queue, &p) == AIRY_ERR_UNSUPPORTED;
    airy_oct_destroy(&oct);
    if (missing && check_case(c, "oct"))
        check_skip(c, "%s", airy_last_error());
    return missing;
}

void check_oct(struct check *c)
{
    if (is_missing(c))
        return;
    check_samples(c);
    check_background(c);
    check_axis(c);
    check_windows(c);
    check_outputs(c);
    check_patterns(c);
    check_means(c);
    check_flow(c);
    check_results(c);
    check_shapes(c);
    check_lengths(c);
    check_large(c);
    check_oct_physics(c);
    check_oct_golden(c);
    check_oct_refusals(c);
    check_rates(c);
}
