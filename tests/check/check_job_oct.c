/* The jobs oct and oct-calibrate beside the same work by hand, and bad input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/job.h"
#include "airy/oct.h"
#include "airy/oct_calibrate.h"
#include "check_pipeline.h"
#include "check_stack.h"

enum { SAMPLES = 64, LINES = 6, FRAMES = 5, DEPTH = SAMPLES / 2, VALUES = LINES * DEPTH };

static const char plan_text[] = "{\"samples\": 64, \"lines\": 6, \"dtype\": \"u16\", "
                                "\"background\": \"mean\", \"window\": \"hann\"}";

static void write_text(struct check *c, const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (CHECK(c, file != NULL)) {
        CHECK(c, fwrite(bytes, 1, size, file) == size);
        fclose(file);
    }
}

/* Profiles of frames from `first` on, by hand. */
static float *process(struct check *c, const uint16_t *raw, size_t count)
{
    const airy_oct_params params = {.samples = SAMPLES,
                                    .lines = LINES,
                                    .dtype = AIRY_DTYPE_U16,
                                    .background = AIRY_OCT_BACKGROUND_MEAN,
                                    .window = AIRY_OCT_WINDOW_HANN};
    const size_t from[3] = {count, LINES, SAMPLES}, to[3] = {count, LINES, DEPTH};
    float *values = check_alloc(c, count * VALUES * sizeof(*values));
    airy_queue *queue = NULL;
    airy_oct *oct = NULL;
    airy_array *src = NULL, *dst = NULL;
    CHECK_OK(c, airy_queue_create(&queue, c->device));
    CHECK_OK(c, airy_oct_create(&oct, queue, &params));
    CHECK_OK(c, airy_array_create_from(&src, queue, AIRY_DTYPE_U16, 3, from, raw));
    CHECK_OK(c, airy_array_create(&dst, c->device, AIRY_DTYPE_F32, 3, to));
    CHECK_OK(c, airy_oct_process(queue, oct, dst, src, NULL));
    CHECK_OK(c, airy_array_pull(queue, values, count * VALUES * sizeof(*values), dst));
    CHECK_OK(c, airy_queue_finish(queue));
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    airy_oct_destroy(&oct);
    airy_queue_destroy(&queue);
    return values;
}

struct subject {
    const char *raw, *plan; /* files */
    uint16_t *pixels;
    float *want;
};

static struct subject make_subject(struct check *c)
{
    struct subject s = {.raw = check_run_path(c, "oct.raw"),
                        .plan = check_run_path(c, "plan.json")};
    s.pixels = check_alloc(c, FRAMES * LINES * SAMPLES * sizeof(*s.pixels));
    check_rand(c, s.pixels, AIRY_DTYPE_U16, FRAMES * LINES * SAMPLES, 0, 4000);
    write_text(c, s.raw, s.pixels, FRAMES * LINES * SAMPLES * sizeof(*s.pixels));
    write_text(c, s.plan, plan_text, sizeof(plan_text) - 1);
    s.want = process(c, s.pixels, FRAMES);
    return s;
}

static airy_job *open_job(struct check *c, const struct subject *s, const char *raw)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "oct", NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "plan", s->plan));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (raw)
        CHECK_OK(c, airy_job_set(job, "raw", raw));
    return job;
}

/* A result is these numbers. */
static void check_values_of(struct check *c, const airy_job *job, const char *name,
                            const float *want, const size_t shape[3], int ndim)
{
    airy_host_view view;
    size_t count = 1;
    if (!CHECK_OK(c, airy_job_get_array(job, name, &view)))
        return;
    CHECK(c, view.dtype == AIRY_DTYPE_F32 && view.ndim == ndim);
    for (int i = 0; i < ndim; i++) {
        CHECK_COUNT(c, view.shape[i], shape[i]);
        count *= shape[i];
    }
    CHECK(c, memcmp(view.data, want, count * sizeof(*want)) == 0);
}

/* Profiles of a file and of arrays, in memory. */
static void check_profiles(struct check *c)
{
    if (!check_case(c, "job_oct_profiles"))
        return;
    const struct subject s = make_subject(c);
    const airy_host_view views[] = {
        {.dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {FRAMES, LINES, SAMPLES}},
        {.dtype = AIRY_DTYPE_U16, .ndim = 2, .shape = {FRAMES * LINES, SAMPLES}},
        {.dtype = AIRY_DTYPE_U16, .ndim = 4, .shape = {1, FRAMES, LINES, SAMPLES}}};
    const size_t shape[3] = {FRAMES, LINES, DEPTH};
    for (int from = -1; from < 3; from++) {
        airy_host_view view = views[from < 0 ? 0 : from];
        const char *signal = NULL;
        char *json = NULL;
        double frames = 0;
        airy_job *job = open_job(c, &s, from < 0 ? s.raw : NULL);
        view.data = s.pixels;
        if (from >= 0)
            CHECK_OK(c, airy_job_set_array(job, "raw", &view));
        CHECK_OK(c, airy_job_run(job));
        check_values_of(c, job, "profiles", s.want, shape, 3);
        CHECK_OK(c, airy_job_get_number(job, "frames", &frames));
        CHECK_OK(c, airy_job_get_text(job, "signal", &signal));
        CHECK(c, frames == FRAMES && signal && strcmp(signal, "db") == 0);
        CHECK_OK(c, airy_job_results_json(job, &json));
        CHECK(c, json && strstr(json, "\"display\":null,\"peak\":{\"value\":") &&
                     strstr(json, "\"depth_bins\":[0,31]") && !strstr(json, "camera"));
        airy_job_text_free(json);
        CHECK_OK(c, airy_job_resolve(job));
        CHECK_OK(c, airy_job_get_plan(job, &json));
        CHECK(c, json && strstr(json, "\"frames_per_result\":1") &&
                     strstr(json, "\"device\":{\"spec\":") && !strstr(json, "per_second"));
        airy_job_text_free(json);
        airy_job_destroy(&job);
    }
}

static void project(struct check *c, const float *want, float **face, float **deep, float **all)
{
    *face = check_alloc(c, FRAMES * LINES * sizeof(float));
    *deep = check_alloc(c, FRAMES * LINES * sizeof(float));
    *all = check_alloc(c, VALUES * sizeof(float));
    memcpy(*all, want, VALUES * sizeof(float));
    for (size_t i = 0; i < FRAMES * LINES; i++) {
        double sum = 0;
        (*deep)[i] = want[i * DEPTH];
        for (size_t z = 0; z < DEPTH; z++) {
            const float v = want[i * DEPTH + z];
            (*deep)[i] = fmaxf((*deep)[i], v);
            (*all)[(i % LINES) * DEPTH + z] = fmaxf((*all)[(i % LINES) * DEPTH + z], v);
            sum += z >= 4 && z < 9 ? (double)v : 0;
        }
        (*face)[i] = (float)(sum / 5);
    }
}

/* Projections and a picture in memory; files; a camera. */
static void check_outputs(struct check *c)
{
    if (!check_case(c, "job_oct_outputs"))
        return;
    const struct subject s = make_subject(c);
    const char *output = check_run_path(c, "oct.npy"), *mip = check_run_path(c, "mip.npy");
    const size_t rows[3] = {FRAMES, LINES}, one[3] = {LINES, DEPTH};
    char text[4200];
    float *face, *deep, *all;
    airy_image image = {.data = NULL};
    airy_host_view view;
    project(c, s.want, &face, &deep, &all);
    airy_job *job = open_job(c, &s, s.raw);
    CHECK_OK(c, airy_job_set(job, "enface", ",4:9"));
    CHECK_OK(c, airy_job_set(job, "frame", "2"));
    CHECK_OK(c, airy_job_want(job, "enface"));
    CHECK_OK(c, airy_job_want(job, "mip"));
    CHECK_OK(c, airy_job_want(job, "picture"));
    CHECK_OK(c, airy_job_run(job));
    check_values_of(c, job, "enface", face, rows, 2);
    check_values_of(c, job, "mip", deep, rows, 2);
    check_values_of(c, job, "picture", s.want + 2 * VALUES, one, 2);
    CHECK(c, airy_job_get_array(job, "profiles", &view) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_set(job, "output", output));
    snprintf(text, sizeof(text), "%s,frames", mip);
    CHECK_OK(c, airy_job_set(job, "mip", text));
    CHECK_OK(c, airy_job_run(job));
    check_values_of(c, job, "mip", all, one, 2);
    CHECK(c, airy_job_get_array(job, "profiles", &view) == AIRY_ERR_NOT_FOUND);
    if (CHECK_OK(c, airy_image_read(&image, output)))
        CHECK(c, memcmp(image.data, s.want, FRAMES * VALUES * sizeof(float)) == 0);
    airy_image_free(&image);
    if (CHECK_OK(c, airy_image_read(&image, mip)))
        CHECK(c, memcmp(image.data, all, VALUES * sizeof(float)) == 0);
    airy_image_free(&image);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "is there already");
    airy_job_destroy(&job);
}

/* Frames of an array that come three times, as a camera brings them. */
static void check_camera(struct check *c)
{
    if (!check_case(c, "job_oct_camera"))
        return;
    const struct subject s = make_subject(c);
    const airy_host_view raw = {
        .data = s.pixels, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {FRAMES, LINES, SAMPLES}};
    airy_host_view view;
    const char *camera = NULL;
    airy_job *job = open_job(c, &s, NULL);
    CHECK_OK(c, airy_job_set_array(job, "raw", &raw));
    CHECK_OK(c, airy_job_set(job, "repeat", "3"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, airy_job_get_array(job, "profiles", &view) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_want(job, "profiles"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_text(job, "camera", &camera));
    CHECK(c, camera && strstr(camera, "\"in\":15,\"out\":15,\"dropped\":0"));
    if (CHECK_OK(c, airy_job_get_array(job, "profiles", &view)) &&
        CHECK_COUNT(c, view.shape[0], 3 * FRAMES))
        for (size_t i = 0; i < 3; i++)
            CHECK(c, memcmp((const float *)view.data + i * FRAMES * VALUES, s.want,
                            FRAMES * VALUES * sizeof(float)) == 0);
    airy_job_destroy(&job);
}

/* What the hooks of a job hear. */
struct heard {
    size_t most;    /* frames after which the run is stopped; 0: it is not */
    char last[512]; /* warning or error */
};

static bool stop_after(void *user, size_t done, size_t total)
{
    const struct heard *heard = user;
    (void)total;
    return !heard->most || done < heard->most;
}

static void hear(void *user, airy_log_level level, const char *text)
{
    struct heard *heard = user;
    if (level <= AIRY_LOG_WARN)
        snprintf(heard->last, sizeof(heard->last), "%s", text);
}

/* A camera that is stopped ends; a file that is stopped has no results. A bad frame makes NaN. */
static void check_ends(struct check *c)
{
    enum { STACK_FRAMES = 23, BAD = 10 };
    if (!check_case(c, "job_oct_ends"))
        return;
    const struct subject s = make_subject(c);
    const char *spoiled = check_run_path(c, "spoiled.h5"), *plan = check_run_path(c, "open.json");
    struct heard heard = {.most = 1};
    const airy_job_hooks hooks = {.progress = stop_after, .message = hear, .user = &heard};
    airy_host_view view = {.data = NULL};
    double frames = 0;
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "oct", NULL, &hooks));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "plan", s.plan));
    CHECK_OK(c, airy_job_set(job, "raw", s.raw));
    CHECK_OK(c, airy_job_set(job, "repeat", "1000s"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_number(job, "frames", &frames));
    CHECK(c, frames >= 1);
    CHECK_OK(c, airy_job_reset(job, "repeat"));
    const airy_status status = airy_job_run(job);
    CHECK(c, status == AIRY_OK || status == AIRY_ERR_CANCELLED);
    CHECK(c, (airy_job_get_array(job, "profiles", &view) == AIRY_OK) == (status == AIRY_OK));
    airy_job_destroy(&job);
    heard.most = 0;
    write_text(c, plan, "{}", 2);
    check_run_stack(c, spoiled, check_run_frames(c, STACK_FRAMES), STACK_FRAMES, BAD, FLIPPED);
    CHECK_OK(c, airy_job_create(&job, "oct", NULL, &hooks));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "plan", plan));
    CHECK_OK(c, airy_job_set(job, "raw", spoiled));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CORRUPT, "frame 10");
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY &&
                 strstr(heard.last, "1 of 23 frames is left out, which makes 1 result NaN"));
    if (CHECK_OK(c, airy_job_get_array(job, "profiles", &view)) &&
        CHECK_COUNT(c, view.shape[0], STACK_FRAMES)) {
        const size_t each = view.shape[1] * view.shape[2];
        const float *values = view.data;
        for (size_t i = 0; i < STACK_FRAMES * each; i++)
            if (!CHECK(c, isnan(values[i]) == (i / each == BAD)))
                break;
    }
    airy_job_destroy(&job);
}

static void check_bad(struct check *c)
{
    static const struct {
        const char *name, *text, *other, *value;
        airy_status status;
        const char *sentence;
    } bad[] = {
        {"frames", "0:4:2", NULL, NULL, AIRY_ERR_PARAM, "frames follow each other"},
        {"frames", "0:9", NULL, NULL, AIRY_ERR_PARAM, "has 5 frames, numbered from 0"},
        {"output", "a.jpg", NULL, NULL, AIRY_ERR_PARAM, "expected a name that ends in .h5"},
        {"mip", ",frames", NULL, NULL, AIRY_ERR_PARAM, "expected the name of an image"},
        {"enface", "a.npy,9:3", NULL, NULL, AIRY_ERR_PARAM, "expected Z0 below Z1"},
        {"enface", "a.npy,9:40", NULL, NULL, AIRY_ERR_PARAM, "results have the bins 0:32"},
        {"repeat", "0", NULL, NULL, AIRY_ERR_PARAM, "expected a number of times"},
        {"line-rate", "1000", "on-error", "skip", AIRY_ERR_PARAM, "not for a camera's frames"},
        {"feed", "name", "output", "a.h5", AIRY_ERR_PARAM, "makes no results"},
        {"frame", "1", NULL, NULL, AIRY_ERR_PARAM, "none is asked for"},
        {"memory-limit", "1K", NULL, NULL, AIRY_ERR_MEMORY, NULL},
    };
    const struct {
        airy_host_view view;
        airy_status status;
        const char *sentence;
    } arrays[] = {
        {{.dtype = AIRY_DTYPE_U16, .ndim = 1, .shape = {SAMPLES}}, AIRY_ERR_SHAPE, "one axis"},
        {{.dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {1, 4, SAMPLES}},
         AIRY_ERR_SHAPE,
         "lines = 6, but array has frames of 4 lines"},
        {{.dtype = AIRY_DTYPE_U16, .ndim = 2, .shape = {LINES, 32}},
         AIRY_ERR_SHAPE,
         "but array has lines of 32 samples"},
        {{.dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {LINES, SAMPLES}},
         AIRY_ERR_SHAPE,
         "but array has uint8"},
        {{.dtype = AIRY_DTYPE_U64, .ndim = 2, .shape = {1, SAMPLES}},
         AIRY_ERR_UNSUPPORTED,
         "frames of uint64"}};
    if (!check_case(c, "job_oct_bad"))
        return;
    const struct subject s = make_subject(c);
    airy_job *job = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        job = open_job(c, &s, s.raw);
        airy_status status = airy_job_set(job, bad[i].name, bad[i].text);
        if (status == AIRY_OK && bad[i].other)
            status = airy_job_set(job, bad[i].other, bad[i].value);
        CHECK_FAILS(c, status == AIRY_OK ? airy_job_run(job) : status, bad[i].status,
                    bad[i].sentence ? bad[i].sentence : "");
        airy_job_destroy(&job);
    }
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        airy_host_view view = arrays[i].view;
        view.data = s.pixels;
        job = open_job(c, &s, NULL);
        CHECK_OK(c, airy_job_set_array(job, "raw", &view));
        CHECK_FAILS(c, airy_job_run(job), arrays[i].status, arrays[i].sentence);
        airy_job_destroy(&job);
    }
    CHECK_OK(c, airy_job_create(&job, "oct", NULL, NULL));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "raw is missing");
    CHECK_OK(c, airy_job_set(job, "raw", s.raw));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "plan is missing");
    CHECK_OK(c, airy_job_set(job, "plan", "nowhere.json"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_NOT_FOUND, "nowhere.json");
    airy_job_destroy(&job);
}

enum { CALIBRATION = 512, RECORDED = 3 };

/* A mirror at this bin of a spectrometer whose samples are not equally spaced, with dispersion. */
static double *write_mirror(struct check *c, const char *path, double bin, size_t samples)
{
    double *lines = check_alloc(c, RECORDED * samples * sizeof(*lines));
    for (size_t i = 0; i < RECORDED * samples; i++) {
        const double t = (double)(i % samples) / (double)(samples - 1), u = 2 * t - 1,
                     k = t + 0.08 * t * (1 - t);
        lines[i] = 1000 + 400 * exp(-6 * u * u) *
                              (1 + 0.5 * cos(6.283185307179586 * bin * k + 9 * u * u + 0.3));
    }
    const airy_image image = {
        .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {RECORDED, samples}, .data = lines};
    CHECK_OK(c, airy_image_write(&image, path, true));
    return lines;
}

/* The plan and the peaks are those of airy_oct_calibrate. */
static void check_job_calibrate(struct check *c)
{
    if (!check_case(c, "job_oct_calibrate"))
        return;
    const char *near = check_run_path(c, "near.npy"), *far = check_run_path(c, "far.npy");
    const airy_oct_params start = {.samples = CALIBRATION, .window = AIRY_OCT_WINDOW_HANN};
    const airy_oct_calibrate_params params = {
        .samples = CALIBRATION,
        .mirror = {{.lines = write_mirror(c, near, 60, CALIBRATION), .count = RECORDED},
                   {.lines = write_mirror(c, far, 150, CALIBRATION), .count = RECORDED}},
        .mirrors = 2,
        .start = &start,
        .distance_m = 400e-6};
    airy_oct_calibration want = {0};
    airy_host_view view;
    airy_job *job = NULL;
    const char *plan = NULL;
    const double *numbers = NULL;
    size_t count = 0;
    double step = 0;
    CHECK_OK(c, airy_oct_calibrate(&want, &params));
    CHECK_OK(c, airy_job_create(&job, "oct-calibrate", NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "mirror", near));
    CHECK_OK(c, airy_job_set(job, "mirror", far));
    CHECK_OK(c, airy_job_set_number(job, "distance", 400));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_numbers(job, "dispersion", &numbers, &count));
    CHECK(c, count == AIRY_OCT_TERMS &&
                 memcmp(numbers, want.dispersion, sizeof(want.dispersion)) == 0);
    CHECK_OK(c, airy_job_get_number(job, "depth_step_um", &step));
    CHECK(c, step == 1e6 * want.depth_step_m);
    CHECK_OK(c, airy_job_get_text(job, "plan", &plan));
    CHECK(c, plan && strstr(plan, "\"samples\":512") && strstr(plan, "\"dispersion\":["));
    if (CHECK_OK(c, airy_job_get_array(job, "profiles", &view)))
        CHECK(c, view.shape[0] == 2 && view.shape[1] == 2 && view.shape[2] == want.profile_count &&
                     memcmp(view.data, want.profile, 4 * want.profile_count * sizeof(double)) == 0);
    airy_oct_calibration_free(&want);
    airy_job_destroy(&job);
}

static void check_job_calibrate_bad(struct check *c)
{
    if (!check_case(c, "job_oct_calibrate_bad"))
        return;
    const char *near = check_run_path(c, "near.npy"), *other = check_run_path(c, "other.npy");
    const struct {
        const char *mirrors[3], *name, *text;
        airy_status status;
        const char *sentence;
    } bad[] = {
        {{NULL}, NULL, NULL, AIRY_ERR_PARAM, "mirror is missing"},
        {{near, near, near}, NULL, NULL, AIRY_ERR_PARAM, "3 recordings, expected 1 or 2"},
        {{near}, "distance", "10", AIRY_ERR_PARAM, "lies between two mirrors"},
        {{near}, "distance", "0", AIRY_ERR_PARAM, "distance 0: expected a number from 0.001"},
        {{near}, "degree", "9", AIRY_ERR_PARAM, "degree 9: expected a whole number from 3 to 8"},
        {{near}, "fit", "all", AIRY_ERR_PARAM, "fit all: expected auto, both, axis or dispersion"},
        {{near, other}, NULL, NULL, AIRY_ERR_SHAPE, "expected two of a kind"},
        {{near}, "dark", other, AIRY_ERR_SHAPE, "expected 512 as the mirror"},
        {{"nowhere.npy"}, NULL, NULL, AIRY_ERR_NOT_FOUND, "nowhere.npy"},
    };
    (void)write_mirror(c, near, 60, CALIBRATION);
    (void)write_mirror(c, other, 60, 256);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_job *job = NULL;
        CHECK_OK(c, airy_job_create(&job, "oct-calibrate", NULL, NULL));
        for (size_t m = 0; m < 3 && bad[i].mirrors[m]; m++)
            CHECK_OK(c, airy_job_set(job, "mirror", bad[i].mirrors[m]));
        airy_status status = bad[i].name ? airy_job_set(job, bad[i].name, bad[i].text) : AIRY_OK;
        CHECK_FAILS(c, status == AIRY_OK ? airy_job_run(job) : status, bad[i].status,
                    bad[i].sentence);
        airy_job_destroy(&job);
    }
}

void check_job_oct(struct check *c)
{
    check_profiles(c);
    check_outputs(c);
    check_camera(c);
    check_ends(c);
    check_bad(c);
    check_job_calibrate(c);
    check_job_calibrate_bad(c);
}
