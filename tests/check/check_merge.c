/*
 * Frames put together: accumulators against integrals of summed images, regions and fewer bins
 * against the definition, and runs whose rows are groups.
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/pipeline.h"
#include "airy/merge.h"
#include "check_pipeline.h"

enum { PIXELS = RUN_PIXELS, BINS = RUN_BINS, PLANE = AIRY_SUM_PLANES * BINS };

static airy_geometry small_geometry(void)
{
    return (airy_geometry){.detector = {.name = "Detector",
                                        .height = RUN_HEIGHT,
                                        .width = RUN_WIDTH,
                                        .pixel1 = 1e-4,
                                        .pixel2 = 1e-4},
                           .dist = 0.1,
                           .poni1 = 1.3e-3,
                           .poni2 = 2.1e-3,
                           .wavelength = 1e-10};
}

/* Sums and stats of frames in memory. */
static bool sum_frames(struct check *c, const airy_integrator *it, airy_dtype dtype, size_t frames,
                       const void *data, double *sums, airy_frame_stats *stats)
{
    const size_t bins = airy_integrator_bins(it);
    const size_t shape[3] = {frames, RUN_HEIGHT, RUN_WIDTH},
                 sums_shape[3] = {frames, AIRY_SUM_PLANES, bins},
                 stats_shape[2] = {frames, sizeof(*stats)};
    airy_array *in = check_upload(c, dtype, 3, shape, data),
               *to = check_output(c, AIRY_DTYPE_F64, 3, sums_shape),
               *about = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    return CHECK_OK(c, airy_integrate(c->queue, to, about, it, in)) &&
           CHECK_OK(c, airy_array_pull(c->queue, sums,
                                       frames * AIRY_SUM_PLANES * bins * sizeof(*sums), to)) &&
           CHECK_OK(c, airy_array_pull(c->queue, stats, frames * sizeof(*stats), about)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

/* The sum of frames is the pattern of the summed image; their average a part of it. */
static void check_summed(struct check *c)
{
    if (!check_case(c, "merge_summed_image"))
        return;
    enum { FRAMES = 9 };
    airy_integrator *it = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
    uint32_t *frames = check_run_frames(c, FRAMES), *all = check_alloc(c, PIXELS * sizeof(*all));
    for (size_t i = 0; i < FRAMES * PIXELS; i++)
        all[i % PIXELS] += frames[i];
    double *sums = check_alloc(c, FRAMES * PLANE * sizeof(*sums)), want[PLANE], got[PLANE];
    airy_frame_stats stats[FRAMES], whole, merged;
    airy_accumulator *sum = NULL;
    if (!sum_frames(c, it, AIRY_DTYPE_U32, FRAMES, frames, sums, stats) ||
        !sum_frames(c, it, AIRY_DTYPE_U32, 1, all, want, &whole) ||
        !CHECK_OK(c, airy_accumulator_create(&sum, BINS, AIRY_ERROR_MODEL_NONE)))
        goto out;
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_accumulator_add(sum, sums + i * PLANE, &stats[i], 1));
    CHECK(c, airy_accumulator_frames(sum) == FRAMES);
    CHECK_OK(c, airy_accumulator_get(sum, AIRY_MERGE_SUM, got, &merged));
    /* Sums of a few hundred doubles, in another order. */
    check_values(c, "sum", AIRY_DTYPE_F64, got, want, PLANE, &(struct check_tol){.rel = 1e-12});
    CHECK(c, merged.total == whole.total && merged.status == AIRY_FRAME_GOOD);
    CHECK_OK(c, airy_accumulator_get(sum, AIRY_MERGE_AVERAGE, got, &merged));
    for (size_t b = 0; b < BINS; b++)
        for (size_t k = 0; k < AIRY_SUM_PLANES; k++) {
            const double factor = k >= AIRY_SUM_NORMALIZATION ? FRAMES : 1;
            CHECK(c, fabs(got[k * BINS + b] - factor * want[k * BINS + b]) <=
                         1e-12 * factor * fabs(want[k * BINS + b]));
        }
    /* One frame is itself, to the bit. */
    airy_accumulator_clear(sum);
    CHECK_OK(c, airy_accumulator_get(sum, AIRY_MERGE_SUM, got, &merged));
    CHECK(c, merged.status != AIRY_FRAME_GOOD && got[3] == 0);
    for (int how = 0; how < AIRY_MERGE_COUNT; how++) {
        airy_accumulator_clear(sum);
        CHECK_OK(c, airy_accumulator_add(sum, sums, &stats[0], 1));
        CHECK_OK(c, airy_accumulator_get(sum, (airy_merge)how, got, &merged));
        CHECK(c, memcmp(got, sums, sizeof(got)) == 0 &&
                     memcmp(&merged, &stats[0], sizeof(merged)) == 0);
    }
out:
    airy_accumulator_destroy(&sum);
    airy_integrator_destroy(&it);
}

/*
 * Azimuthal variance of all pixels of all frames about their common mean: exact for equal weights,
 * and independent of the order.
 */
static void check_azimuthal(struct check *c)
{
    if (!check_case(c, "merge_azimuthal"))
        return;
    enum { FRAMES = 7 };
    const airy_geometry geometry = small_geometry();
    const airy_integrator_params params = {.bins = BINS,
                                           .split = AIRY_SPLIT_NO,
                                           .error_model = AIRY_ERROR_MODEL_AZIMUTHAL,
                                           .no_solid_angle = true};
    const uint32_t *frames = check_run_frames(c, FRAMES);
    double *q = check_alloc(c, PIXELS * sizeof(*q)), got[PLANE], back[PLANE];
    double *sums = check_alloc(c, FRAMES * PLANE * sizeof(*sums));
    airy_frame_stats stats[FRAMES];
    airy_integrator *it = NULL;
    airy_integrator_info info;
    airy_accumulator *sum = NULL;
    CHECK_OK(c, airy_geometry_centers(&geometry, AIRY_UNIT_Q_NM, q));
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &geometry, &params)) ||
        !CHECK_OK(c, airy_integrator_get_info(it, &info)) ||
        !sum_frames(c, it, AIRY_DTYPE_U32, FRAMES, frames, sums, stats) ||
        !CHECK_OK(c, airy_accumulator_create(&sum, BINS, AIRY_ERROR_MODEL_AZIMUTHAL)))
        goto out;
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_accumulator_add(sum, sums + i * PLANE, &stats[i], 1));
    CHECK_OK(c, airy_accumulator_get(sum, AIRY_MERGE_AVERAGE, got, NULL));
    airy_accumulator_clear(sum);
    for (size_t i = FRAMES; i-- > 0;)
        CHECK_OK(c, airy_accumulator_add(sum, sums + i * PLANE, &stats[i], 1));
    CHECK_OK(c, airy_accumulator_get(sum, AIRY_MERGE_AVERAGE, back, NULL));
    check_values(c, "reversed", AIRY_DTYPE_F64, back, got, PLANE,
                 &(struct check_tol){.rel = 0x1p-52});
    for (size_t b = 0; b < BINS; b++) {
        const double mean = got[b] / got[AIRY_SUM_NORMALIZATION * BINS + b];
        double want = 0;
        for (size_t i = 0; i < FRAMES * PIXELS; i++) {
            const double at = (q[i % PIXELS] - info.lower) / (info.upper - info.lower) * BINS;
            want += (size_t)fmin(fmax(at, 0), BINS - 1) == b ? pow(frames[i] - mean, 2) : 0;
        }
        CHECK(c, fabs(got[AIRY_SUM_VARIANCE * BINS + b] - want) <= 1e-11 * want + 1e-9);
    }
out:
    airy_accumulator_destroy(&sum);
    airy_integrator_destroy(&it);
}

/* Regions that end at edges, inside bins, and beyond the axis; turns of chi. */
static void check_regions(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "merge_regions"))
        return;
    const airy_integrator_info one = {.lower = 2, .upper = 7, .radial_bins = 5};
    const double sums[25] = {
        [0] = 1,   [1] = 2,   [2] = 4,  [3] = 8,  [4] = 16, [10] = 10, [11] = 10, [12] = 10,
        [13] = 10, [14] = 10, [20] = 1, [21] = 1, [22] = 1, [23] = 1,  [24] = 1};
    static const struct {
        double from, to, signal, mean;
    } rows[] = {{2, 7, 31, 0.62},       {3, 5, 6, 0.3},     {2.5, 3.5, 1.5, 0.15},
                {-10, 2.25, 0.25, 0.1}, {6.5, 100, 8, 1.6}, {4.25, 4.5, 1, 0.4},
                {3 + 1e-13, 4, 2, 0.2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const airy_roi roi = {.radial = {rows[i].from, rows[i].to}};
        double signal = 0, mean = 0;
        CHECK_OK(c, airy_roi_sum(&signal, &mean, sums, &one, &roi));
        CHECK(c,
              fabs(signal - rows[i].signal) < 1e-14 * 31 && fabs(mean - rows[i].mean) < 1e-14 * 31);
    }
    double two_sums[5 * 8];
    for (size_t i = 0; i < 40; i++)
        two_sums[i] = i < 8 ? (double)(1 << i) : 1;
    const airy_integrator_info two = {.lower = 0,
                                      .upper = 2,
                                      .radial_bins = 2,
                                      .azimuth_bins = 4,
                                      .azimuth_lower = -180,
                                      .azimuth_upper = 180};
    static const struct {
        double from, to, chi[2], signal;
    } cells[] = {{0, 2, {-180, 180}, 255},
                 {0, 2, {90, -90}, 195},
                 {0, 1, {0, 90}, 16},
                 {0, 1, {45, 135}, 40},
                 {1, 2, {180, 270}, 2},
                 {0, 2, {0, 360}, 255},
                 {0, 2, {350, 370}, (12 * 10 + 48 * 10) / 90.0}};
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        const airy_roi roi = {.radial = {cells[i].from, cells[i].to},
                              .has_azimuth = true,
                              .azimuth = {cells[i].chi[0], cells[i].chi[1]}};
        double signal = 0;
        CHECK_OK(c, airy_roi_sum(&signal, NULL, two_sums, &two, &roi));
        if (!(fabs(signal - cells[i].signal) < 1e-12 * 255))
            check_failed(c, __FILE__, __LINE__, "region %zu: %.15g", i, signal);
    }
    /* The same cells along chi in rad; regions stay in degrees. */
    airy_integrator_info rad = two, flat = two;
    rad.azimuth_unit = AIRY_UNIT_CHI_RAD;
    rad.azimuth_lower = -3.14159265358979323846;
    rad.azimuth_upper = 3.14159265358979323846;
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        const airy_roi roi = {.radial = {cells[i].from, cells[i].to},
                              .has_azimuth = true,
                              .azimuth = {cells[i].chi[0], cells[i].chi[1]}};
        double signal = 0;
        CHECK_OK(c, airy_roi_sum(&signal, NULL, two_sums, &rad, &roi));
        if (!(fabs(signal - cells[i].signal) < 1e-12 * 255))
            check_failed(c, __FILE__, __LINE__, "region %zu in rad: %.15g", i, signal);
    }
    /* An axis that is no angle: its own unit, and no turns. */
    flat.azimuth_unit = AIRY_UNIT_QOOP_NM;
    airy_roi some = {.radial = {0, 2}, .has_azimuth = true, .azimuth = {90, 200}};
    double signal = 0;
    CHECK_OK(c, airy_roi_sum(&signal, NULL, two_sums, &flat, &some));
    CHECK(c, signal == 192);
    some.azimuth[0] = 200;
    some.azimuth[1] = 300;
    CHECK_FAILS(c, airy_roi_check(&some, &flat), AIRY_ERR_PARAM, "a part of the axis");
    some.azimuth[1] = 90;
    CHECK_FAILS(c, airy_roi_check(&some, &flat), AIRY_ERR_PARAM, "the lower first");
    const airy_roi bad[] = {{.radial = {3, 3}},
                            {.radial = {NAN, 3}},
                            {.radial = {8, 9}},
                            {.radial = {3, 4}, .has_azimuth = true, .azimuth = {0, 10}}};
    static const char *const why[] = {"lower first", "finite", "outside", "one dimension"};
    for (size_t i = 0; i < 4; i++)
        CHECK_FAILS(c, airy_roi_check(&bad[i], &one), AIRY_ERR_PARAM, why[i]);
    const airy_roi wide = {.radial = {0, 1}, .has_azimuth = true, .azimuth = {0, 400}};
    CHECK_FAILS(c, airy_roi_check(&wide, &two), AIRY_ERR_PARAM, "360 deg");
}

/* Fewer bins: what a matrix of fewer bins gives, where no pixel is shared. */
static void check_rebin(struct check *c)
{
    if (!check_case(c, "merge_rebin"))
        return;
    const airy_geometry geometry = small_geometry();
    airy_integrator_params params = {
        .bins = BINS, .split = AIRY_SPLIT_NO, .error_model = AIRY_ERROR_MODEL_POISSON};
    const uint32_t *frame = check_run_frames(c, 1);
    double fine[PLANE], coarse[PLANE / 5], got[PLANE / 5];
    airy_frame_stats stats;
    airy_integrator *it = NULL;
    if (CHECK_OK(c, airy_integrator_create(&it, c->device, &geometry, &params)) &&
        sum_frames(c, it, AIRY_DTYPE_U32, 1, frame, fine, &stats)) {
        airy_integrator_destroy(&it);
        params.bins = BINS / 5;
        CHECK_OK(c, airy_integrator_create(&it, c->device, &geometry, &params));
        if (it && sum_frames(c, it, AIRY_DTYPE_U32, 1, frame, coarse, &stats)) {
            CHECK_OK(c, airy_sums_rebin(got, fine, 1, BINS, 5, AIRY_ERROR_MODEL_POISSON));
            check_values(c, "rebinned", AIRY_DTYPE_F64, got, coarse, PLANE / 5,
                         &(struct check_tol){.rel = 1e-12});
        }
    }
    airy_integrator_destroy(&it);
    CHECK_FAILS(c, airy_sums_rebin(got, fine, 1, BINS, 0, AIRY_ERROR_MODEL_NONE), AIRY_ERR_PARAM,
                "expected 1 to 50");
    CHECK_FAILS(c, airy_sums_rebin(got, fine, 1, BINS, BINS + 1, AIRY_ERROR_MODEL_NONE),
                AIRY_ERR_PARAM, "bins to join = 51");
}

/* ---- runs whose rows are groups ---- */

static const char *const results[] = {"result/intensity",
                                      "result/sem",
                                      "result/std",
                                      "merged/sum_signal",
                                      "merged/sum_variance",
                                      "merged/sum_normalization",
                                      "merged/sum_normalization2",
                                      "merged/count",
                                      "frame/index",
                                      "frame/total",
                                      "frame/max",
                                      "frame/frames",
                                      "frame/status",
                                      "frame/invalid"};

static void compare_files(struct check *c, const char *got, const char *want, const char *what)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        airy_image a = {0}, b = {0};
        char name[2][700];
        snprintf(name[0], sizeof(name[0]), "%s::/entry/integrate/%s", got, results[i]);
        snprintf(name[1], sizeof(name[1]), "%s::/entry/integrate/%s", want, results[i]);
        if (CHECK_OK(c, airy_image_read(&a, name[0])) &&
            CHECK_OK(c, airy_image_read(&b, name[1]))) {
            size_t count = 1;
            for (int d = 0; d < b.ndim; d++)
                count *= b.shape[d];
            if (a.ndim != b.ndim || memcmp(a.shape, b.shape, sizeof(a.shape)) != 0 ||
                memcmp(a.data, b.data, count * airy_dtype_size(b.dtype)) != 0)
                check_failed(c, __FILE__, __LINE__, "%s: %s differs", what, results[i]);
        }
        airy_image_free(&a);
        airy_image_free(&b);
    }
}

/* Rows of a dataset of a result file. */
static double *read_values(struct check *c, const char *path, const char *name, size_t count)
{
    airy_image image = {0};
    char where[700];
    double *values = check_alloc(c, count * sizeof(*values));
    snprintf(where, sizeof(where), "%s::/entry/integrate/%s", path, name);
    if (CHECK_OK(c, airy_image_read(&image, where))) {
        size_t have = 1;
        for (int d = 0; d < image.ndim; d++)
            have *= image.shape[d];
        if (CHECK(c, have == count))
            for (size_t i = 0; i < count; i++)
                values[i] = image.dtype == AIRY_DTYPE_F32   ? (double)((float *)image.data)[i]
                            : image.dtype == AIRY_DTYPE_F64 ? ((double *)image.data)[i]
                            : image.dtype == AIRY_DTYPE_I32 ? ((int32_t *)image.data)[i]
                            : image.dtype == AIRY_DTYPE_U32 ? ((uint32_t *)image.data)[i]
                                                            : (double)((uint64_t *)image.data)[i];
    }
    airy_image_free(&image);
    return values;
}

struct job {
    const char *path, *single;
    airy_stack *stack;
    airy_integrator *integrator;
};

static bool run_job(struct check *c, const struct job *job, const char *out, airy_run_params params,
                    airy_run_info *info)
{
    params.force = true;
    return CHECK_OK(c, airy_integrate_stack(out, job->stack, &job->integrator, 1, &params, info));
}

/* A group's row against the rows of its frames in a run without groups. */
static void compare_groups(struct check *c, const struct job *job, const char *out, size_t frames,
                           size_t group, airy_merge merge)
{
    const size_t groups = (frames + group - 1) / group;
    static const char *const names[] = {"merged/sum_signal", "merged/sum_variance"};
    for (size_t k = 0; k < 2; k++) {
        const double *single = read_values(c, job->single, names[k], frames * BINS),
                     *got = read_values(c, out, names[k], groups * BINS);
        for (size_t i = 0; i < groups * BINS; i++) {
            double want = 0;
            for (size_t f = i / BINS * group; f < frames && f < (i / BINS + 1) * group; f++)
                want += single[f * BINS + i % BINS];
            CHECK(c, fabs(got[i] - want) <= 1e-14 * fabs(want));
        }
    }
    const double *signal = read_values(c, out, "merged/sum_signal", groups * BINS),
                 *norm = read_values(c, out, "merged/sum_normalization", groups * BINS),
                 *intensity = read_values(c, out, "result/intensity", groups * BINS),
                 *count = read_values(c, out, "frame/frames", groups),
                 *index = read_values(c, out, "frame/index", groups),
                 *single = read_values(c, job->single, "merged/sum_normalization", BINS);
    for (size_t i = 0; i < groups; i++) {
        const size_t members = i + 1 < groups ? group : frames - i * group;
        CHECK(c, count[i] == (double)members && index[i] == (double)(i * group));
        for (size_t b = 0; b < BINS; b++) {
            const size_t at = i * BINS + b;
            const double factor = merge == AIRY_MERGE_SUM ? 1 : (double)members;
            CHECK(c, fabs(norm[at] - factor * single[b]) <= 1e-14 * norm[at]);
            CHECK(c, intensity[at] == (double)(float)(signal[at] / norm[at]));
        }
    }
}

static bool open_job(struct check *c, struct job *job, size_t frames, size_t special,
                     enum spoil spoil)
{
    *job = (struct job){.path = check_run_path(c, "stack.h5")};
    job->single = check_run_path(c, "single.h5");
    check_run_stack(c, job->path, check_run_frames(c, frames), frames, special, spoil);
    job->integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    return job->integrator && CHECK_OK(c, airy_stack_create(&job->stack, &job->path, 1));
}

static void close_job(struct job *job)
{
    airy_stack_destroy(&job->stack);
    airy_integrator_destroy(&job->integrator);
}

/* The same bits for any batch, with any number of parts and after any stop. */
static void check_groups(struct check *c, size_t group, airy_merge merge)
{
    enum { FRAMES = 23 };
    char label[32];
    snprintf(label, sizeof(label), "%zu", group);
    if (!check_case(c, "run_groups_%s_%s", group == SIZE_MAX ? "all" : label,
                    airy_merge_name(merge)))
        return;
    struct job job;
    airy_run_info info;
    if (open_job(c, &job, FRAMES, FRAMES, SOUND) &&
        run_job(c, &job, job.single, (airy_run_params){0}, &info)) {
        const char *want = check_run_path(c, "want.h5"), *got = check_run_path(c, "got.h5");
        run_job(c, &job, want, (airy_run_params){.group = group, .merge = merge}, &info);
        CHECK(c, info.frames == FRAMES && info.bad == 0 && info.resumed == 0);
        compare_groups(c, &job, want, FRAMES, group < FRAMES ? group : FRAMES, merge);
        for (size_t batch = 1; batch <= 9; batch += 2) {
            const airy_run_params params = {
                .group = group, .merge = merge, .batch = batch, .slots = 1 + batch % 4};
            run_job(c, &job, got, params, &info);
            snprintf(label, sizeof(label), "batch %zu", batch);
            compare_files(c, got, want, label);
        }
        const size_t parts = 3;
        airy_run_params params = {
            .group = group, .merge = merge, .force = true, .parts = parts, .batch = 2};
        size_t frames = 0;
        CHECK_OK(c, airy_run_create(got, job.stack, job.integrator, &params, &info));
        for (params.part = 0; params.part < parts; params.part++) {
            CHECK_OK(c, airy_run_work(got, job.stack, &job.integrator, 1, &params, &info));
            frames += info.frames;
        }
        params.part = 0;
        CHECK_OK(c, airy_run_finish(got, job.stack, job.integrator, &params, &info));
        CHECK(c, frames == FRAMES && info.frames == FRAMES);
        compare_files(c, got, want, "parts");
    }
    close_job(&job);
}

static bool stop_after(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(size_t *)user;
}

static void check_groups_resume(struct check *c)
{
    enum { FRAMES = 40 };
    if (!check_case(c, "run_groups_resume"))
        return;
    struct job job;
    airy_run_info info;
    if (open_job(c, &job, FRAMES, FRAMES, SOUND)) {
        const char *want = check_run_path(c, "want.h5"), *got = check_run_path(c, "got.h5");
        size_t limit = 14;
        airy_run_params params = {
            .group = 6, .batch = 4, .slots = 2, .progress = stop_after, .user = &limit};
        run_job(c, &job, want, (airy_run_params){.group = 6}, &info);
        CHECK_FAILS(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &params, &info),
                    AIRY_ERR_CANCELLED, "of 40 frames");
        /* Frames of a group that was not complete are added again. */
        const size_t done = info.frames / 6 * 6;
        params = (airy_run_params){.group = 6, .batch = 4, .resume = true};
        CHECK_OK(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &params, &info));
        CHECK(c, info.resumed == done && info.frames == FRAMES - done);
        compare_files(c, got, want, "resumed");
        /* Other groups are another run. */
        limit = 14;
        params = (airy_run_params){
            .group = 6, .batch = 4, .force = true, .progress = stop_after, .user = &limit};
        CHECK_FAILS(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &params, &info),
                    AIRY_ERR_CANCELLED, "of 40 frames");
        params = (airy_run_params){.group = 5, .resume = true, .force = true};
        CHECK_FAILS(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &params, &info),
                    AIRY_ERR_FORMAT, "shape");
    }
    close_job(&job);
}

/* A bad frame is left out of its group and named; a group of nothing else is bad. */
static void check_groups_bad(struct check *c)
{
    enum { FRAMES = 10, BAD = 4 };
    if (!check_case(c, "run_groups_bad"))
        return;
    struct job job;
    airy_run_info info;
    if (open_job(c, &job, FRAMES, BAD, FLIPPED)) {
        const char *got = check_run_path(c, "got.h5");
        for (size_t batch = 2; batch <= 5; batch++) {
            const airy_run_params params = {.group = 3, .batch = batch, .skip_bad = true};
            run_job(c, &job, got, params, &info);
            CHECK(c, info.bad == 1 && info.frames == FRAMES && strstr(info.first_error, "frame 4"));
            const double *count = read_values(c, got, "frame/frames", 4),
                         *status = read_values(c, got, "frame/status", 4);
            CHECK(c, count[0] == 3 && count[1] == 2 && count[2] == 3 && count[3] == 1);
            CHECK(c, status[0] == 0 && status[1] == 0 && status[3] == 0);
        }
        const airy_run_params alone = {
            .first = BAD, .last = BAD + 2, .group = 1, .skip_bad = true, .batch = 1};
        run_job(c, &job, got, alone, &info);
        const airy_run_params stop = {.group = 3, .force = true, .batch = 2};
        CHECK_FAILS(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &stop, &info),
                    AIRY_ERR_CORRUPT, "frame 4");
        const airy_run_params odd = {.group = 2, .merge = AIRY_MERGE_COUNT, .force = true};
        CHECK_FAILS(c, airy_integrate_stack(got, job.stack, &job.integrator, 1, &odd, &info),
                    AIRY_ERR_PARAM, "merge = 2");
    }
    close_job(&job);
}

/* ---- files of several runs ---- */

/* Part of the job's frames, or all of them. */
static const char *run_part(struct check *c, const struct job *job, const char *name, size_t first,
                            size_t last, size_t group)
{
    const char *out = check_run_path(c, name);
    airy_run_info info;
    run_job(c, job, out,
            (airy_run_params){
                .first = first, .last = last, .group = group, .skip_bad = true, .batch = 4},
            &info);
    return out;
}

/* Two halves are the whole: bit by bit where no frame is bad. */
static void check_files(struct check *c)
{
    if (!check_case(c, "merge_files"))
        return;
    enum { FRAMES = 20, HALF = 7 };
    struct job job;
    if (open_job(c, &job, FRAMES, FRAMES, SOUND)) {
        const char *parts[2] = {run_part(c, &job, "a.h5", 0, HALF, 0),
                                run_part(c, &job, "b.h5", HALF, FRAMES, 0)};
        const char *whole = run_part(c, &job, "all.h5", 0, FRAMES, SIZE_MAX),
                   *rows = run_part(c, &job, "rows.h5", 0, FRAMES, 0),
                   *out = check_run_path(c, "merged.h5");
        airy_patterns_info info;
        airy_patterns_params params = {
            .join = true, .model = AIRY_ERROR_MODEL_POISSON, .force = true};
        CHECK_OK(c, airy_patterns_merge(out, parts, 2, &params, &info));
        CHECK(c, info.rows == FRAMES && info.bad == 0 && info.written == 1 && info.bins == BINS);
        compare_files(c, out, whole, "joined");
        params.join = false;
        CHECK_OK(c, airy_patterns_merge(out, parts, 2, &params, &info));
        CHECK(c, info.written == FRAMES);
        static const char *const same[] = {"merged/sum_signal", "merged/sum_variance",
                                           "result/intensity",  "result/sem",
                                           "frame/index",       "frame/total"};
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            const size_t count = i < 4 ? FRAMES * BINS : FRAMES;
            CHECK(c, memcmp(read_values(c, out, same[i], count),
                            read_values(c, rows, same[i], count), count * sizeof(double)) == 0);
        }
        params.rebin = 7;
        CHECK_OK(c, airy_patterns_merge(out, parts, 2, &params, &info));
        CHECK(c, info.bins == 7);
        const double *fine = read_values(c, rows, "merged/sum_signal", FRAMES * BINS),
                     *coarse = read_values(c, out, "merged/sum_signal", FRAMES * 7),
                     *radial = read_values(c, rows, "result/radial", BINS),
                     *centre = read_values(c, out, "result/radial", 7);
        for (size_t i = 0; i < FRAMES * 7; i++) {
            double want = 0;
            for (size_t k = 0; k < 7; k++)
                want += fine[i / 7 * BINS + i % 7 * 7 + k];
            CHECK(c, fabs(coarse[i] - want) <= 1e-14 * want);
        }
        CHECK(c, fabs(centre[2] - radial[17]) < 1e-12);
        params.force = false;
        CHECK_FAILS(c, airy_patterns_merge(out, parts, 2, &params, &info), AIRY_ERR_EXISTS,
                    "there");
    }
    close_job(&job);
}

/* Bad rows stay bad, or are left out where all become one. */
static void check_files_bad(struct check *c)
{
    if (!check_case(c, "merge_files_bad"))
        return;
    struct job job;
    if (open_job(c, &job, 6, 2, FLIPPED)) {
        const char *part = run_part(c, &job, "a.h5", 0, 6, 0),
                   *only = run_part(c, &job, "b.h5", 2, 3, 0),
                   *out = check_run_path(c, "merged.h5");
        airy_patterns_info info;
        airy_patterns_params params = {.force = true};
        CHECK_OK(c, airy_patterns_merge(out, &part, 1, &params, &info));
        const double *status = read_values(c, out, "frame/status", 6),
                     *frames = read_values(c, out, "frame/frames", 6);
        CHECK(c, info.bad == 1 && status[2] == 1 && status[3] == 0 && frames[2] == 0);
        CHECK(c, isnan(read_values(c, out, "result/intensity", 6 * BINS)[2 * BINS]));
        params.join = true;
        CHECK_OK(c, airy_patterns_merge(out, &part, 1, &params, &info));
        CHECK(c, *read_values(c, out, "frame/frames", 1) == 5);
        CHECK_FAILS(c, airy_patterns_merge(out, &only, 1, &params, &info), AIRY_ERR_FORMAT,
                    "all 1 rows are bad");
    }
    close_job(&job);
}

static void replace(const char *path, const char *name, int ndim, const hsize_t *shape)
{
    char full[128];
    snprintf(full, sizeof(full), "/entry/integrate/%s", name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, full, H5P_DEFAULT);
    if (ndim) {
        const hid_t space = H5Screate_simple(ndim, shape, NULL);
        H5Dclose(H5Dcreate2(file, full, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT));
        H5Sclose(space);
    }
    H5Fclose(file);
}

/* Files that are not what they should be, or do not go together. */
static void check_files_refused(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "merge_files_refused"))
        return;
    struct job job;
    airy_integrator *none = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
    if (open_job(c, &job, 4, 4, SOUND)) {
        const char *good = run_part(c, &job, "a.h5", 0, 4, 0), *out = check_run_path(c, "out.h5");
        static const struct {
            const char *name;
            int ndim;
            hsize_t shape[3];
            const char *part;
        } rows[] = {{"result/radial", 1, {BINS + 1}, "another shape"},
                    {"result/radial", 2, {BINS, 1}, "another shape"},
                    {"result/radial", 0, {0}, "has no"},
                    {"result/radial", 1, {BINS}, "unit"},
                    {"frame/status", 1, {3}, "frame/status"},
                    {"frame/total", 1, {5}, "frame/total"},
                    {"merged/sum_signal", 2, {4, BINS - 1}, "sum_signal"},
                    {"merged/sum_signal", 1, {BINS}, "sum_signal"},
                    {"merged/sum_signal", 3, {4, 1, BINS}, "sum_signal"},
                    {"merged/count", 1, {1}, "count"},
                    {"merged/sum_normalization", 0, {0}, "has no"}};
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            const char *bad = run_part(c, &job, "bad.h5", 0, 4, 0);
            replace(bad, rows[i].name, rows[i].ndim, rows[i].shape);
            CHECK_FAILS(c, airy_patterns_merge(out, &bad, 1, NULL, NULL), AIRY_ERR_FORMAT,
                        rows[i].part);
        }
        CHECK_FAILS(c, airy_patterns_merge(out, &job.path, 1, NULL, NULL), AIRY_ERR_FORMAT,
                    "holds frames: integrate makes patterns of them");
        const char *pair[2] = {good, NULL};
        airy_integrator *const integrator = job.integrator;
        job.integrator = none;
        pair[1] = run_part(c, &job, "none.h5", 0, 4, 0);
        job.integrator = integrator;
        CHECK_FAILS(c, airy_patterns_merge(out, pair, 2, NULL, NULL), AIRY_ERR_FORMAT, "variances");
        pair[1] = "/nowhere/at/all.h5";
        CHECK_FAILS(c, airy_patterns_merge(out, pair, 2, NULL, NULL), AIRY_ERR_NOT_FOUND,
                    "nowhere");
        const airy_patterns_params wide = {.rebin = BINS + 1}, odd = {.merge = AIRY_MERGE_COUNT};
        CHECK_FAILS(c, airy_patterns_merge(out, &good, 1, &wide, NULL), AIRY_ERR_PARAM,
                    "rebin = 51");
        CHECK_FAILS(c, airy_patterns_merge(out, &good, 1, &odd, NULL), AIRY_ERR_PARAM, "merge = 2");
        CHECK_FAILS(c, airy_patterns_merge(out, &good, 0, NULL, NULL), AIRY_ERR_PARAM, "none");
        CHECK(c, access(out, F_OK) != 0);
    }
    airy_integrator_destroy(&none);
    close_job(&job);
}

static void check_refusals(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "merge_refusals"))
        return;
    airy_accumulator *sum = NULL;
    double sums[AIRY_SUM_PLANES] = {1, 1, 1, 1, 1};
    float value;
    const airy_frame_stats bad = {.status = 9};
    CHECK_FAILS(c, airy_accumulator_create(&sum, 0, AIRY_ERROR_MODEL_NONE), AIRY_ERR_PARAM, "= 0");
    CHECK_FAILS(c, airy_accumulator_create(&sum, 1, AIRY_ERROR_MODEL_COUNT), AIRY_ERR_PARAM,
                "error model");
    CHECK_FAILS(c, airy_accumulator_create(&sum, SIZE_MAX / 2, AIRY_ERROR_MODEL_NONE),
                AIRY_ERR_MEMORY, "bins");
    CHECK_FAILS(c, airy_accumulator_create(NULL, 1, AIRY_ERROR_MODEL_NONE), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_accumulator_create(&sum, 1, AIRY_ERROR_MODEL_NONE));
    CHECK_FAILS(c, airy_accumulator_add(sum, NULL, NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_accumulator_add(sum, sums, NULL, 0), AIRY_ERR_PARAM, "other than 0");
    CHECK_FAILS(c, airy_accumulator_add(sum, sums, &bad, 1), AIRY_ERR_PARAM, "status 9");
    CHECK_FAILS(c, airy_accumulator_get(sum, AIRY_MERGE_COUNT, sums, NULL), AIRY_ERR_PARAM,
                "merge = 2");
    CHECK_FAILS(c, airy_accumulator_get(sum, AIRY_MERGE_SUM, NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_sums_finish(NULL, 1, 0, &value, NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_roi_check(NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_roi_sum(NULL, NULL, NULL, NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_sums_rebin(NULL, sums, 1, 1, 1, AIRY_ERROR_MODEL_NONE), AIRY_ERR_PARAM,
                "NULL");
    CHECK(c, airy_accumulator_frames(NULL) == 0 &&
                 strcmp(airy_merge_name(AIRY_MERGE_COUNT), "?") == 0);
    airy_accumulator_clear(NULL);
    airy_accumulator_destroy(&sum);
    CHECK(c, sum == NULL);
    airy_accumulator_destroy(&sum);
    airy_accumulator_destroy(NULL);
}

void check_merge(struct check *c)
{
    check_summed(c);
    check_azimuthal(c);
    check_regions(c);
    check_rebin(c);
    check_refusals(c);
    static const size_t groups[] = {2, 5, 22, SIZE_MAX};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        for (int merge = 0; merge < AIRY_MERGE_COUNT; merge++)
            check_groups(c, groups[i], (airy_merge)merge);
    check_groups_resume(c);
    check_groups_bad(c);
    check_files(c);
    check_files_bad(c);
    check_files_refused(c);
}
