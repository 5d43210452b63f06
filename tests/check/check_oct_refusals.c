/* What OCT refuses, and the sentence that says why. */
#include <string.h>

#include "check_oct.h"

enum { SAMPLES = 64, LINES = 6, DEPTH = SAMPLES / 2 };

/* Parameters are refused with this status and these words. */
struct refusal {
    const char *words;
    airy_oct_params p;  /* samples 0: SAMPLES, lines 0: LINES */
    airy_status status; /* AIRY_OK: AIRY_ERR_PARAM */
};

static void refuse(struct check *c, const struct refusal *r)
{
    airy_oct *oct = NULL;
    airy_oct_params p = r->p;
    p.samples = p.samples ? p.samples : SAMPLES;
    p.lines = p.lines ? p.lines : LINES;
    CHECK_FAILS(c, airy_oct_create(&oct, c->queue, &p), r->status ? r->status : AIRY_ERR_PARAM,
                r->words);
    CHECK(c, oct == NULL);
    airy_oct_destroy(&oct);
}

static void check_bad_numbers(struct check *c)
{
    if (!check_case(c, "oct_refuses_numbers"))
        return;
#define NAN_ (double)NAN
#define INF_ (double)INFINITY
#define SHOW .display = true, .low = 0, .high = 1
    static const struct refusal all[] = {
        {.words = "samples = 1,", .p = {.samples = 1}},
        {.words = "samples = 8193", .p = {.samples = AIRY_OCT_MAX_SAMPLES + 1}},
        {.words = "lines = 1048577", .p = {.lines = AIRY_OCT_MAX_LINES + 1}},
        {.words = "packing = 3", .p = {.packing = AIRY_OCT_PACKING_COUNT}},
        {.words = "int16 with packing",
         .p = {.packing = AIRY_OCT_PACKING_10, .dtype = AIRY_DTYPE_I16},
         .status = AIRY_ERR_DTYPE},
        {.words = "10 bits do not fill", .p = {.packing = AIRY_OCT_PACKING_10, .samples = 66}},
        {.words = "12 bits do not fill", .p = {.packing = AIRY_OCT_PACKING_12, .samples = 63}},
        {.words = "dtype = float64", .p = {.dtype = AIRY_DTYPE_F64}, .status = AIRY_ERR_DTYPE},
        {.words = "dtype = int32", .p = {.dtype = AIRY_DTYPE_I32}, .status = AIRY_ERR_DTYPE},
        {.words = "bit_shift = 16", .p = {.dtype = AIRY_DTYPE_U16, .bit_shift = 16}},
        {.words = "bit_shift = -1", .p = {.dtype = AIRY_DTYPE_U16, .bit_shift = -1}},
        {.words = "bit_shift = 1 of float32", .p = {.bit_shift = 1}},
        {.words = "background = 4", .p = {.background = AIRY_OCT_BACKGROUND_COUNT}},
        {.words = "background_line is NULL", .p = {.background = AIRY_OCT_BACKGROUND_LINE}},
        {.words = "rolling = 0", .p = {.background = AIRY_OCT_BACKGROUND_ROLLING}},
        {.words = "rolling = 65", .p = {.background = AIRY_OCT_BACKGROUND_ROLLING, .rolling = 65}},
        {.words = "axis = 5", .p = {.axis = AIRY_OCT_AXIS_COUNT}},
        {.words = "axis_table is NULL", .p = {.axis = AIRY_OCT_AXIS_WAVELENGTH}},
        {.words = "axis_table is NULL", .p = {.axis = AIRY_OCT_AXIS_K}},
        {.words = "axis_table is NULL", .p = {.axis = AIRY_OCT_AXIS_CURVE}},
        {.words = "poly[1] = nan", .p = {.axis = AIRY_OCT_AXIS_POLY, .poly = {0, NAN_}}},
        {.words = "interpolation = 3", .p = {.interpolation = AIRY_OCT_INTERPOLATION_COUNT}},
        {.words = "window = 9", .p = {.window = AIRY_OCT_WINDOW_COUNT}},
        {.words = "window_table is NULL", .p = {.window = AIRY_OCT_WINDOW_TABLE}},
        {.words = "window_center = 1.5", .p = {.window_center = 1.5}},
        {.words = "window_center = -0.5", .p = {.window_center = -0.5}},
        {.words = "window_center = nan", .p = {.window_center = NAN_}},
        {.words = "window_fill = 1.25", .p = {.window_fill = 1.25}},
        {.words = "window_fill = -1", .p = {.window_fill = -1}},
        {.words = "window_fill = nan", .p = {.window_fill = NAN_}},
        {.words = "window_fill = 0.02", .p = {.window_fill = 0.02}},
        {.words = "dispersion[3] = inf",
         .p = {.has_dispersion = true, .dispersion = {0, 0, 0, INF_}}},
        {.words = "output = 5", .p = {.output = AIRY_OCT_OUTPUT_COUNT}},
        {.words = "depth_last = 34", .p = {.depth_last = 34}},
        {.words = "depth_first = 32", .p = {.depth_first = 32}},
        {.words = "depth_first = 5", .p = {.depth_first = 5, .depth_last = 5}},
        {.words = "fixed_pattern = 4097", .p = {.fixed_pattern = 4097}},
        {.words = "fixed_pattern = 1 frames of 6 lines", .p = {.fixed_pattern = 1}},
        {.words = "lines = 6, expected a multiple of average_lines = 4", .p = {.average_lines = 4}},
        {.words = "average_lines = 12", .p = {.average_lines = 12}},
        {.words = "average_frames = 4097", .p = {.average_frames = 4097}},
        {.words = "flow = 3", .p = {.flow = AIRY_OCT_FLOW_COUNT}},
        {.words = "repeats = 1", .p = {.flow = AIRY_OCT_FLOW_VARIANCE, .repeats = 1}},
        {.words = "repeats = 4097", .p = {.flow = AIRY_OCT_FLOW_VARIANCE, .repeats = 4097}},
        {.words = "times 4 repeats", .p = {.flow = AIRY_OCT_FLOW_VARIANCE, .repeats = 4}},
        {.words = "flow by phase must be phase", .p = {.flow = AIRY_OCT_FLOW_PHASE, .repeats = 2}},
        {.words = "flow by variance must be db",
         .p = {.flow = AIRY_OCT_FLOW_VARIANCE, .repeats = 2, .output = AIRY_OCT_COMPLEX}},
        {.words = "flip with flow",
         .p = {.flow = AIRY_OCT_FLOW_VARIANCE, .repeats = 2, .flip = AIRY_OCT_FLIP_ALL}},
        {.words = "flip = 4", .p = {.flip = AIRY_OCT_FLIP_COUNT}},
        {.words = "sinusoidal with 1 lines", .p = {.sinusoidal = true, .lines = 1}},
        {.words = "sinusoidal with 1 lines", .p = {.sinusoidal = true, .average_lines = 6}},
        {.words = "to = int16", .p = {.to = AIRY_DTYPE_I16, SHOW}, .status = AIRY_ERR_DTYPE},
        {.words = "to = uint8 without display", .p = {.to = AIRY_DTYPE_U8}},
        {.words = "post_background without display", .p = {.post_background = true}},
        {.words = "display of complex", .p = {SHOW, .output = AIRY_OCT_COMPLEX}},
        {.words = "low = 0, high = 0", .p = {.display = true}},
        {.words = "low = 2, high = 1", .p = {.display = true, .low = 2, .high = 1}},
        {.words = "high = inf", .p = {.display = true, .high = INF_}},
        {.words = "low = nan", .p = {.display = true, .low = NAN_, .high = 1}},
        {.words = "multiply = inf", .p = {SHOW, .multiply = INF_}},
        {.words = "add = nan", .p = {SHOW, .add = NAN_}},
        {.words = "post_weight = nan", .p = {SHOW, .post_background = true, .post_weight = NAN_}},
        {.words = "post_offset = inf", .p = {SHOW, .post_background = true, .post_offset = INF_}},
        {.words = "compat = 3", .p = {.compat = AIRY_OCT_COMPAT_COUNT}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        refuse(c, &all[i]);
    airy_oct *oct = NULL;
    const airy_oct_params no_lines = {.samples = SAMPLES}, no_samples = {.lines = LINES};
    CHECK_FAILS(c, airy_oct_create(&oct, c->queue, &no_lines), AIRY_ERR_PARAM, "lines = 0");
    CHECK_FAILS(c, airy_oct_create(&oct, c->queue, &no_samples), AIRY_ERR_PARAM, "samples = 0");
#undef SHOW
}

/* A table of SAMPLES values that rise, but for one. */
static const double *spoil(double table[SAMPLES], size_t at, double value)
{
    for (size_t i = 0; i < SAMPLES; i++)
        table[i] = 1e-6 * (1 + 0.01 * (double)i);
    if (at < SAMPLES)
        table[at] = value;
    return table;
}

static void check_bad_tables(struct check *c)
{
    if (!check_case(c, "oct_refuses_tables"))
        return;
    double t[SAMPLES];
    static const struct {
        const char *words;
        airy_oct_axis axis;
        size_t at;
        double value;
    } axes[] = {
        {"wavelength is not monotonic", AIRY_OCT_AXIS_WAVELENGTH, 40, 2e-6},
        {"wavelength is not monotonic", AIRY_OCT_AXIS_WAVELENGTH, 1, 0.5e-6},
        {"wavelength[9] = wavelength[8]", AIRY_OCT_AXIS_WAVELENGTH, 9, 1e-6 * (1 + 0.01 * 8.0)},
        {"wavelength[63] = 0", AIRY_OCT_AXIS_WAVELENGTH, 63, 0},
        {"wavelength[0] = -1", AIRY_OCT_AXIS_WAVELENGTH, 0, -1},
        {"wavelength[5] = nan", AIRY_OCT_AXIS_WAVELENGTH, 5, NAN_},
        {"wavelength[0] = 1e-310", AIRY_OCT_AXIS_WAVELENGTH, 0, 1e-310},
        {"k is not monotonic", AIRY_OCT_AXIS_K, 40, 2e-6},
        {"k[5] = inf", AIRY_OCT_AXIS_K, 5, INF_},
        {"k[0] = -1e-06", AIRY_OCT_AXIS_K, 0, -1e-6},
        {"curve[63] = nan", AIRY_OCT_AXIS_CURVE, 63, NAN_},
    };
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
        refuse(c, &(struct refusal){
                      axes[i].words,
                      {.axis = axes[i].axis, .axis_table = spoil(t, axes[i].at, axes[i].value)},
                      AIRY_OK});
    refuse(c, &(struct refusal){
                  "background_line[3] = nan",
                  {.background = AIRY_OCT_BACKGROUND_LINE, .background_line = spoil(t, 3, NAN_)},
                  AIRY_OK});
    refuse(c,
           &(struct refusal){"window[63] = inf",
                             {.window = AIRY_OCT_WINDOW_TABLE, .window_table = spoil(t, 63, INF_)},
                             AIRY_OK});
    refuse(c,
           &(struct refusal){"phase_table[0] = nan", {.phase_table = spoil(t, 0, NAN_)}, AIRY_OK});
}

/* ---- arrays ---- */

static void check_bad_sources(struct check *c)
{
    if (!check_case(c, "oct_refuses_src"))
        return;
    airy_oct *oct = NULL, *packed = NULL;
    const airy_oct_params p = {.samples = SAMPLES,
                               .lines = LINES,
                               .dtype = AIRY_DTYPE_U16,
                               .average_frames = 2},
                          q = {.samples = SAMPLES, .lines = LINES, .packing = AIRY_OCT_PACKING_12};
    const size_t src_shape[3] = {2, LINES, SAMPLES}, dst_shape[3] = {1, LINES, DEPTH},
                 three[3] = {3, LINES, SAMPLES}, lines[3] = {2, LINES + 1, SAMPLES},
                 samples[3] = {2, LINES, SAMPLES + 1}, flat[2] = {2 * LINES, SAMPLES},
                 wide[3] = {2, LINES, 2 * SAMPLES}, start[3] = {0};
    uint16_t *zeros = check_alloc(c, 2 * 2 * sizeof(*zeros) * 3 * (LINES + 1) * (SAMPLES + 1));
    airy_array *dst = check_output(c, AIRY_DTYPE_F32, 3, dst_shape),
               *src = check_upload(c, AIRY_DTYPE_U16, 3, src_shape, zeros);
    if (!CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) ||
        !CHECK_OK(c, airy_oct_create(&packed, c->queue, &q))) {
        airy_oct_destroy(&oct);
        return;
    }
    const struct {
        const airy_array *src;
        airy_status status;
        const char *words;
    } all[] = {
        {NULL, AIRY_ERR_PARAM, "src is NULL"},
        {check_upload(c, AIRY_DTYPE_I16, 3, src_shape, zeros), AIRY_ERR_DTYPE, "expected uint16"},
        {check_upload(c, AIRY_DTYPE_U16, 3, three, zeros), AIRY_ERR_SHAPE, "a multiple of 2"},
        {check_upload(c, AIRY_DTYPE_U16, 3, lines, zeros), AIRY_ERR_SHAPE, "[frames, 6, 64]"},
        {check_upload(c, AIRY_DTYPE_U16, 3, samples, zeros), AIRY_ERR_SHAPE, "[frames, 6, 64]"},
        {check_upload(c, AIRY_DTYPE_U16, 2, flat, zeros), AIRY_ERR_SHAPE, "[frames, 6, 64]"},
        {check_view(c, check_upload(c, AIRY_DTYPE_U16, 3, wide, zeros), start, src_shape),
         AIRY_ERR_SHAPE, "src is a view with gaps"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        CHECK_FAILS(c, airy_oct_process(c->queue, oct, dst, all[i].src, NULL), all[i].status,
                    all[i].words);
    CHECK_FAILS(c, airy_oct_process(NULL, oct, dst, src, NULL), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_oct_process(c->queue, NULL, dst, src, NULL), AIRY_ERR_PARAM, "oct is NULL");
    CHECK_FAILS(c, airy_oct_process(c->queue, oct, NULL, src, NULL), AIRY_ERR_PARAM, "dst is NULL");
    CHECK_FAILS(c, airy_oct_process(c->queue, packed, dst, src, NULL), AIRY_ERR_DTYPE,
                "expected uint8");
    CHECK_FAILS(c,
                airy_oct_process(c->queue, packed, dst,
                                 check_upload(c, AIRY_DTYPE_U8, 3, src_shape, zeros), NULL),
                AIRY_ERR_SHAPE, "[frames, 6, 96]");
    airy_oct_destroy(&oct);
    airy_oct_destroy(&packed);
}

static void check_bad_results(struct check *c)
{
    if (!check_case(c, "oct_refuses_dst"))
        return;
    airy_oct *oct = NULL, *parts = NULL;
    const airy_oct_params p = {.samples = SAMPLES, .lines = LINES},
                          q = {.samples = SAMPLES, .lines = LINES, .output = AIRY_OCT_COMPLEX};
    const size_t src_shape[3] = {2, LINES, SAMPLES}, good[4] = {2, LINES, DEPTH, 2},
                 less[3] = {1, LINES, DEPTH}, lines[3] = {2, LINES - 1, DEPTH},
                 deep[3] = {2, LINES, DEPTH + 1}, wide[3] = {2, LINES, 2 * DEPTH}, start[3] = {0};
    const float *zeros = check_alloc(c, sizeof(float) * 2 * LINES * SAMPLES);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 3, src_shape, zeros);
    if (!src || !CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) ||
        !CHECK_OK(c, airy_oct_create(&parts, c->queue, &q))) {
        airy_oct_destroy(&oct);
        return;
    }
    const struct {
        airy_array *dst;
        airy_status status;
        const char *words;
    } all[] = {
        {check_output(c, AIRY_DTYPE_U8, 3, good), AIRY_ERR_DTYPE, "expected float32"},
        {check_output(c, AIRY_DTYPE_F32, 3, less), AIRY_ERR_SHAPE, "[2, 6, 32]"},
        {check_output(c, AIRY_DTYPE_F32, 3, lines), AIRY_ERR_SHAPE, "[2, 6, 32]"},
        {check_output(c, AIRY_DTYPE_F32, 3, deep), AIRY_ERR_SHAPE, "[2, 6, 32]"},
        {check_output(c, AIRY_DTYPE_F32, 4, good), AIRY_ERR_SHAPE, "[2, 6, 32]"},
        {check_view(c, check_output(c, AIRY_DTYPE_F32, 3, wide), start, good), AIRY_ERR_SHAPE,
         "dst is a view with gaps"},
        {check_view(c, src, start, good), AIRY_ERR_SHAPE, "dst is a view with gaps"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        CHECK_FAILS(c, airy_oct_process(c->queue, oct, all[i].dst, src, NULL), all[i].status,
                    all[i].words);
    CHECK_FAILS(
        c, airy_oct_process(c->queue, parts, check_output(c, AIRY_DTYPE_F32, 3, good), src, NULL),
        AIRY_ERR_SHAPE, "[2, 6, 32, 2]");
    airy_oct_destroy(&oct);
    airy_oct_destroy(&parts);
}

/* Two samples have two bins, so that frames may be results. */
static void check_overlap(struct check *c)
{
    if (!check_case(c, "oct_refuses_overlap"))
        return;
    airy_oct *oct = NULL;
    const airy_oct_params p = {.samples = 2, .lines = LINES, .depth_last = 2};
    const size_t all[3] = {4, LINES, 2}, two[3] = {2, LINES, 2}, start[3] = {0},
                 later[3] = {1, 0, 0}, behind[3] = {2, 0, 0};
    const float *zeros = check_alloc(c, sizeof(float) * 4 * LINES * 2);
    airy_array *frames = check_upload(c, AIRY_DTYPE_F32, 3, all, zeros);
    if (frames && CHECK_OK(c, airy_oct_create(&oct, c->queue, &p))) {
        airy_array *src = check_view(c, frames, start, two);
        CHECK_FAILS(c,
                    airy_oct_process(c->queue, oct, check_view(c, frames, later, two), src, NULL),
                    AIRY_ERR_PARAM, "dst overlaps src");
        CHECK_FAILS(c, airy_oct_process(c->queue, oct, src, src, NULL), AIRY_ERR_PARAM,
                    "dst overlaps src");
        CHECK_OK(c, airy_oct_process(c->queue, oct, check_view(c, frames, behind, two), src, NULL));
    }
    airy_oct_destroy(&oct);
}

static void check_learn(struct check *c)
{
    if (!check_case(c, "oct_refuses_learn"))
        return;
    airy_oct *oct = NULL, *post = NULL, *plain = NULL;
    const airy_oct_params p = {.samples = SAMPLES, .lines = LINES, .fixed_pattern = 2},
                          q = {.samples = SAMPLES,
                               .lines = LINES,
                               .display = true,
                               .high = 1,
                               .post_background = true,
                               .average_frames = 3},
                          r = {.samples = SAMPLES, .lines = LINES};
    const size_t one[3] = {1, LINES, SAMPLES}, three[3] = {3, LINES, SAMPLES},
                 dst_shape[3] = {1, LINES, DEPTH}, fewer[3] = {2, LINES - 1, SAMPLES};
    const float *zeros = check_alloc(c, sizeof(float) * 3 * LINES * SAMPLES);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 3, one, zeros),
               *more = check_upload(c, AIRY_DTYPE_F32, 3, three, zeros),
               *dst = check_output(c, AIRY_DTYPE_F32, 3, dst_shape);
    if (CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) &&
        CHECK_OK(c, airy_oct_create(&post, c->queue, &q)) &&
        CHECK_OK(c, airy_oct_create(&plain, c->queue, &r))) {
        CHECK_FAILS(c, airy_oct_process(c->queue, oct, dst, src, NULL), AIRY_ERR_PARAM,
                    "the fixed pattern is not known yet");
        CHECK_FAILS(c, airy_oct_process(c->queue, post, dst, more, NULL), AIRY_ERR_PARAM,
                    "the post background is not known yet");
        CHECK_FAILS(c, airy_oct_learn(c->queue, oct, src), AIRY_ERR_SHAPE,
                    "src has 1 frames, fixed_pattern expects 2");
        CHECK_FAILS(c, airy_oct_learn(c->queue, post, src), AIRY_ERR_SHAPE,
                    "src has 1 frames, post_background expects 3");
        CHECK_FAILS(c, airy_oct_learn(c->queue, plain, src), AIRY_ERR_PARAM,
                    "neither fixed_pattern nor post_background");
        CHECK_FAILS(c,
                    airy_oct_learn(c->queue, oct, check_upload(c, AIRY_DTYPE_F32, 3, fewer, zeros)),
                    AIRY_ERR_SHAPE, "[frames, 6, 64]");
        CHECK_FAILS(c, airy_oct_learn(NULL, oct, src), AIRY_ERR_PARAM, "queue is NULL");
        CHECK_FAILS(c, airy_oct_learn(c->queue, NULL, src), AIRY_ERR_PARAM, "oct is NULL");
        CHECK_FAILS(c, airy_oct_learn(c->queue, oct, NULL), AIRY_ERR_PARAM, "src is NULL");
        /* Still usable. */
        CHECK_OK(c, airy_oct_learn(c->queue, oct, more));
        CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL));
    }
    airy_oct_destroy(&oct);
    airy_oct_destroy(&post);
    airy_oct_destroy(&plain);
}

/* Behind a rehearsal nothing is compiled any more. */
static void check_rehearsal(struct check *c)
{
    if (!check_case(c, "oct_rehearsal"))
        return;
    airy_oct *oct = NULL, *pattern = NULL;
    airy_start_info before, after;
    const airy_oct_params p = {.samples = SAMPLES,
                               .lines = LINES,
                               .background = AIRY_OCT_BACKGROUND_MEAN,
                               .average_frames = 2},
                          q = {.samples = SAMPLES, .lines = LINES, .fixed_pattern = 2};
    const size_t two[3] = {2, LINES, SAMPLES}, one[3] = {1, LINES, DEPTH};
    const float *zeros = check_alloc(c, sizeof(float) * 2 * LINES * SAMPLES);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 3, two, zeros),
               *dst = check_output(c, AIRY_DTYPE_F32, 3, one);
    if (CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)) &&
        CHECK_OK(c, airy_oct_create(&pattern, c->queue, &q))) {
        CHECK_OK(c, airy_oct_rehearse(c->queue, oct, 2));
        CHECK_OK(c, airy_device_start(c->device, &before));
        CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL));
        CHECK_OK(c, airy_queue_finish(c->queue));
        CHECK_OK(c, airy_device_start(c->device, &after));
        CHECK(c, before.programs == after.programs);
        CHECK_FAILS(c, airy_oct_rehearse(c->queue, oct, 0), AIRY_ERR_SHAPE, "a multiple of 2");
        CHECK_FAILS(c, airy_oct_rehearse(c->queue, oct, 3), AIRY_ERR_SHAPE, "a multiple of 2");
        CHECK_FAILS(c, airy_oct_rehearse(c->queue, pattern, 2), AIRY_ERR_PARAM,
                    "the fixed pattern is not known yet");
        CHECK_FAILS(c, airy_oct_rehearse(NULL, oct, 2), AIRY_ERR_PARAM, "queue is NULL");
        CHECK_FAILS(c, airy_oct_rehearse(c->queue, NULL, 2), AIRY_ERR_PARAM, "oct is NULL");
    }
    airy_oct_destroy(&pattern);
    airy_oct_destroy(&oct);
}

static void check_handles(struct check *c)
{
    if (!check_case(c, "oct_refuses_null"))
        return;
    airy_oct *oct = NULL;
    airy_oct_info info;
    const airy_oct_params p = {.samples = SAMPLES, .lines = LINES};
    CHECK_FAILS(c, airy_oct_create(NULL, c->queue, &p), AIRY_ERR_PARAM, "oct is NULL");
    CHECK_FAILS(c, airy_oct_create(&oct, NULL, &p), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_oct_create(&oct, c->queue, NULL), AIRY_ERR_PARAM, "params is NULL");
    CHECK_FAILS(c, airy_oct_get_info(NULL, &info), AIRY_ERR_PARAM, "oct is NULL");
    airy_oct_destroy(NULL);
    airy_oct_destroy(&oct);
    if (CHECK_OK(c, airy_oct_create(&oct, c->queue, &p)))
        CHECK_FAILS(c, airy_oct_get_info(oct, NULL), AIRY_ERR_PARAM, "info is NULL");
    /* An array and an object of another device. */
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *src = NULL;
    const size_t shape[3] = {1, LINES, SAMPLES}, out[3] = {1, LINES, DEPTH};
    const float *zeros = check_alloc(c, sizeof(float) * LINES * SAMPLES);
    airy_array *dst = check_output(c, AIRY_DTYPE_F32, 3, out),
               *own = check_upload(c, AIRY_DTYPE_F32, 3, shape, zeros);
    if (oct && CHECK_OK(c, airy_device_create(&device, "cpu", NULL)) &&
        CHECK_OK(c, airy_queue_create(&queue, device)) &&
        CHECK_OK(c, airy_array_create_from(&src, queue, AIRY_DTYPE_F32, 3, shape, zeros))) {
        CHECK_FAILS(c, airy_oct_process(c->queue, oct, dst, src, NULL), AIRY_ERR_PARAM, "src");
        CHECK_FAILS(c, airy_oct_process(queue, oct, dst, own, NULL), AIRY_ERR_PARAM, "src");
        CHECK_FAILS(c, airy_oct_process(queue, oct, dst, src, NULL), AIRY_ERR_PARAM,
                    "queue is of cpu");
    }
    airy_array_destroy(&src);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    airy_oct_destroy(&oct);
    CHECK(c, oct == NULL);
}

void check_oct_refusals(struct check *c)
{
    check_bad_numbers(c);
    check_bad_tables(c);
    check_bad_sources(c);
    check_bad_results(c);
    check_overlap(c);
    check_learn(c);
    check_rehearsal(c);
    check_handles(c);
}
