/* The job peaks beside the same work by hand, the groups of an integration, and bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/job.h"
#include "airy/peaks_stack.h"
#include "check_pipeline.h"
#include "jobs/pattern.h"

enum { FRAMES = 5, HEIGHT = 48, WIDTH = 64, PIXELS = HEIGHT * WIDTH, BINS = 20 };
static const double PITCH = 1e-4;

struct subject {
    uint16_t *pixels;
    uint8_t *mask;
    float *dark;
    airy_host_view view, of_mask, of_dark;
};

/* Counts with spots, a mask and a dark image. */
static struct subject make_subject(struct check *c)
{
    struct subject s = {.pixels = check_alloc(c, FRAMES * PIXELS * sizeof(uint16_t)),
                        .mask = check_alloc(c, PIXELS),
                        .dark = check_alloc(c, PIXELS * sizeof(float))};
    check_rand(c, s.pixels, AIRY_DTYPE_U16, FRAMES * PIXELS, 90, 110);
    check_rand(c, s.dark, AIRY_DTYPE_F32, PIXELS, 0, 4);
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t y = 6; y < HEIGHT; y += 12)
            for (size_t x = 5 + f; x + 1 < WIDTH; x += 13)
                s.pixels[(f * HEIGHT + y) * WIDTH + x] =
                    s.pixels[(f * HEIGHT + y) * WIDTH + x + 1] = (uint16_t)(300 + 50 * f);
    for (size_t i = 0; i < PIXELS; i += 9)
        s.mask[i] = 1;
    s.view = (airy_host_view){
        .data = s.pixels, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {FRAMES, HEIGHT, WIDTH}};
    s.of_mask = (airy_host_view){
        .data = s.mask, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    s.of_dark = (airy_host_view){
        .data = s.dark, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    return s;
}

/* The job of these arrays; with_geometry: and of a geometry that is given. */
static airy_job *open_job(struct check *c, const struct subject *s, bool with_geometry)
{
    const double pixel[2] = {PITCH, PITCH};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "peaks", NULL, NULL));
    CHECK_OK(c, airy_job_set_array(job, "stack", &s->view));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "unit", "r_mm"));
    if (!with_geometry)
        return job;
    CHECK_OK(c, airy_job_set_numbers(job, "pixel", pixel, 2));
    CHECK_OK(c, airy_job_set_number(job, "dist", 0.1));
    CHECK_OK(c, airy_job_set_number(job, "poni1", 0.002));
    CHECK_OK(c, airy_job_set_number(job, "poni2", 0.003));
    CHECK_OK(c, airy_job_set_number(job, "bins", BINS));
    CHECK_OK(c, airy_job_set_array(job, "mask", &s->of_mask));
    CHECK_OK(c, airy_job_set_array(job, "dark", &s->of_dark));
    CHECK_OK(c, airy_job_set(job, "polarization", "0.9"));
    return job;
}

/* The same by hand, into a file. */
static void find_by_hand(struct check *c, const struct subject *s, const char *path)
{
    const size_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    const airy_geometry geometry = {.detector = {.name = "Detector",
                                                 .height = HEIGHT,
                                                 .width = WIDTH,
                                                 .pixel1 = PITCH,
                                                 .pixel2 = PITCH},
                                    .dist = 0.1,
                                    .poni1 = 0.002,
                                    .poni2 = 0.003};
    const airy_integrator_params params = {.bins = BINS,
                                           .unit = AIRY_UNIT_R_MM,
                                           .split = AIRY_SPLIT_NO,
                                           .error_model = AIRY_ERROR_MODEL_POISSON,
                                           .mask = s->mask,
                                           .dark = s->dark,
                                           .has_polarization = true,
                                           .polarization = 0.9,
                                           .has_clip = true};
    const airy_run_params run = {.force = true};
    airy_stack *stack = NULL;
    airy_integrator *integrator = NULL;
    airy_peak_finder *finder = NULL;
    CHECK_OK(c, airy_stack_create_array(&stack, s->pixels, AIRY_DTYPE_U16, shape));
    CHECK_OK(c, airy_integrator_create(&integrator, c->device, &geometry, &params));
    CHECK_OK(c, airy_peak_finder_create(&finder, integrator, NULL));
    const airy_peak_finder *finders[1] = {finder};
    CHECK_OK(c, airy_peaks_stack(path, stack, finders, 1, &run, NULL));
    airy_peak_finder_destroy(&finder);
    airy_integrator_destroy(&integrator);
    airy_stack_destroy(&stack);
}

/* An array of a job is the dataset of a file. */
static void compare_array(struct check *c, const airy_job *job, const char *name, const char *path)
{
    char place[4300];
    airy_image image = {.data = NULL};
    airy_host_view view;
    snprintf(place, sizeof(place), "%s::/entry/sparse_frames/%s", path, name);
    if (!CHECK_OK(c, airy_image_read(&image, place)) ||
        !CHECK_OK(c, airy_job_get_array(job, name, &view)))
        return;
    size_t count = airy_dtype_size(image.dtype);
    CHECK(c, view.dtype == image.dtype && view.ndim == image.ndim);
    for (int i = 0; i < image.ndim; i++) {
        CHECK_COUNT(c, view.shape[i], image.shape[i]);
        count *= image.shape[i];
    }
    CHECK(c, memcmp(view.data, image.data, count) == 0);
    airy_image_free(&image);
}

/* The table's rows are as many as the file's peaks, and in order. */
static void compare_table(struct check *c, const airy_job *job, const char *path)
{
    char place[4300];
    airy_image counts = {.data = NULL};
    const airy_table *table = NULL;
    size_t rows = 0;
    snprintf(place, sizeof(place), "%s::/entry/peaks/nPeaks", path);
    if (!CHECK_OK(c, airy_image_read(&counts, place)) ||
        !CHECK_OK(c, airy_job_get_table(job, "peak_list", &table)))
        return;
    const airy_column *column = &table->column[0];
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t i = 0; i < (size_t)airy_image_value(&counts, f); i++, rows++)
            CHECK(c, rows < table->rows &&
                         *(const int64_t *)(const void *)((const char *)column->data +
                                                          rows * column->step) == (int64_t)f);
    CHECK_COUNT(c, table->rows, rows);
    CHECK(c, rows > FRAMES);
    airy_image_free(&counts);
}

/* Arrays in, results in memory and in a file. */
static void check_run(struct check *c)
{
    static const char *const arrays[] = {"frame_ptr", "index", "intensity", "background_avg",
                                         "background_std"};
    if (!check_case(c, "job_peaks_run"))
        return;
    const struct subject s = make_subject(c);
    const char *by_hand = check_run_path(c, "by_hand.h5"), *output = check_run_path(c, "peaks.h5");
    find_by_hand(c, &s, by_hand);
    airy_job *job = open_job(c, &s, true);
    double frames = 0;
    char *plan = NULL;
    airy_host_view view;
    CHECK_OK(c, airy_job_resolve(job));
    CHECK_OK(c, airy_job_get_plan(job, &plan));
    CHECK(c, plan && strstr(plan, "\"frames\":5"));
    airy_job_text_free(plan);
    CHECK_OK(c, airy_job_run(job));
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        compare_array(c, job, arrays[i], by_hand);
    compare_table(c, job, by_hand);
    CHECK_OK(c, airy_job_get_array(job, "radial", &view));
    CHECK(c, view.ndim == 1 && view.shape[0] == BINS);
    CHECK_OK(c, airy_job_get_number(job, "frames", &frames));
    CHECK(c, frames == FRAMES);
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, airy_job_get_array(job, "index", &view) == AIRY_ERR_NOT_FOUND);
    airy_job_destroy(&job);
    job = open_job(c, &s, true);
    CHECK_OK(c, airy_job_run(job));
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        compare_array(c, job, arrays[i], output);
    airy_job_destroy(&job);
}

/* A finished result is complete, one of other parameters is refused. */
static void check_resume(struct check *c)
{
    if (!check_case(c, "job_peaks_resume"))
        return;
    const struct subject s = make_subject(c);
    const char *output = check_run_path(c, "resumed.h5");
    const char *json = NULL;
    for (int again = 0; again < 3; again++) {
        airy_job *job = open_job(c, &s, true);
        CHECK_OK(c, airy_job_set(job, "output", output));
        CHECK_OK(c, airy_job_set_flag(job, again ? "resume" : "force", true));
        if (again == 2) {
            CHECK_OK(c, airy_job_set(job, "patch", "5"));
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "patch: was 3, is 5");
        } else {
            CHECK_OK(c, airy_job_run(job));
            CHECK(c, (airy_job_get_text(job, "complete_already", &json) == AIRY_OK) == again);
        }
        airy_job_destroy(&job);
    }
}

struct refusal {
    const char *name, *value; /* NULL: what is missing */
    airy_status status;
    const char *sentence;
};

static void check_refusals(struct check *c)
{
    static const struct refusal refusals[] = {
        {"clip", "3,2.5", AIRY_ERR_PARAM, "clip 3,2.5: expected 1 to 1000 cycles"},
        {"clip", "-1", AIRY_ERR_PARAM, "clip -1: expected T or T,CYCLES"},
        {"error-model", "none", AIRY_ERR_PARAM, "error-model none: peaks need"},
        {"error-model", "variance", AIRY_ERR_PARAM, "error-model variance needs variance=FILE"},
        {"patch", "4", AIRY_ERR_PARAM, "patch 4: expected an odd number"},
        {"connected", "10", AIRY_ERR_PARAM, "connected 10: expected at most the 9 pixels"},
        {"split", "pseudo", AIRY_ERR_PARAM, "split pseudo is for two dimensions"},
        {"radial-range", "2,1", AIRY_ERR_PARAM, "radial-range 2,1: expected A < B"},
        {"polarization", "1.5", AIRY_ERR_PARAM, "polarization 1.5: expected a factor from -1 to 1"},
        {"resume", "on", AIRY_ERR_PARAM, "resume continues a file"},
        {"output", "a.npy", AIRY_ERR_PARAM, "expected a name that ends in .h5"},
        {"max-pixels", "100000", AIRY_ERR_PARAM, "max-pixels 100000: expected at most the 3072"},
        {"energy", "12", AIRY_ERR_PARAM, "wavelength and energy: give one of them"},
        {"sensor", "Si,2", AIRY_ERR_PARAM, "expected a thickness above 0"},
        {"sensor", "Si", AIRY_ERR_PARAM, "sensor goes with parallax"},
        {"frames", "5:9", AIRY_ERR_PARAM, "has 5 frames"}};
    if (!check_case(c, "job_peaks_refused"))
        return;
    const struct subject s = make_subject(c);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        airy_job *job = open_job(c, &s, false);
        const double pixel[2] = {PITCH, PITCH};
        CHECK_OK(c, airy_job_set_numbers(job, "pixel", pixel, 2));
        CHECK_OK(c, airy_job_set(job, "dist", "0.1"));
        CHECK_OK(c, airy_job_set(job, "poni1", "0.002"));
        CHECK_OK(c, airy_job_set(job, "poni2", "0.003"));
        CHECK_OK(c, airy_job_set(job, "wavelength", "1e-10"));
        if (strcmp(r->name, "polarization") == 0)
            CHECK_OK(c, airy_job_reset(job, r->name));
        airy_status status = airy_job_set(job, r->name, r->value);
        CHECK_FAILS(c, status == AIRY_OK ? airy_job_run(job) : status, r->status, r->sentence);
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, &s, false);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "no geometry: the input has none");
    CHECK_OK(c, airy_job_set(job, "dist", "0.1"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "the geometry lacks poni1, poni2, detector");
    CHECK_OK(c, airy_job_set(job, "detector", "Pilatus 100k"));
    CHECK_OK(c, airy_job_set(job, "poni1", "0"));
    CHECK_OK(c, airy_job_set(job, "poni2", "0"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_SHAPE, "do not fit detector 'Pilatus 100k'");
    airy_job_destroy(&job);
    job = open_job(c, &s, true);
    const airy_host_view wrong = {
        .data = s.dark, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH / 2}};
    CHECK_OK(c, airy_job_set_array(job, "flat", &wrong));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_SHAPE, "flat: has 48 x 32 values");
    airy_job_destroy(&job);
}

/* ---- the pattern as parameters ---- */

static airy_status run_nothing(airy_job *job, void *state)
{
    (void)job;
    (void)state;
    return AIRY_OK;
}

static void close_nothing(void *state)
{
    (void)state;
}

static void check_pattern_rows(struct check *c)
{
    static const airy_job_result none[] = {{NULL, AIRY_JOB_ARRAY, NULL, NULL}};
    static const struct airy_job_kind kind = {.name = "pattern",
                                              .summary = "a pattern",
                                              .details = "a pattern",
                                              .groups = {{airy_pattern_rows, 0}},
                                              .results = none,
                                              .values_size = sizeof(struct airy_pattern_values),
                                              .state_size = 1,
                                              .run = run_nothing,
                                              .close = close_nothing};
    static const char text[] =
        "{\"bins\": \"300x36\", \"unit\": \"2th_deg\", \"azimuthal\": \"chi_rad\", \"split\": "
        "\"bbox\", \"method\": \"lut\", \"error-model\": \"azimuthal\", \"clip\": [3, 7], "
        "\"radial-range\": [1, 5], \"azimuth-range\": [-90, 90], \"incidence\": 0.5, \"empty\": "
        "\"nan\"}";
    if (!check_case(c, "job_pattern"))
        return;
    airy_integrator_params params;
    airy_sample_params sample;
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_make(&job, &kind, NULL, NULL));
    CHECK_OK(c, airy_job_set_json(job, text));
    CHECK_OK(c, airy_job_pattern_params(job, &params, &sample, job->values));
    CHECK(c, params.bins == 300 && params.azimuth_bins == 36 && params.unit == AIRY_UNIT_TTH_DEG);
    CHECK(c, params.azimuth_unit == AIRY_UNIT_CHI_RAD && params.split == AIRY_SPLIT_BBOX);
    CHECK(c, params.method == AIRY_METHOD_LUT && params.error_model == AIRY_ERROR_MODEL_AZIMUTHAL &&
                 params.has_clip && params.clip_threshold == 3 && params.clip_cycles == 7 &&
                 !params.has_quantile);
    CHECK(c, params.has_radial_range && params.radial_range[1] == 5 && params.has_azimuth_range &&
                 params.azimuth_range[0] == -90 && params.has_empty && isnan(params.empty));
    CHECK(c, sample.has_incidence && sample.incidence_deg == 0.5 && !sample.has_tilt);
    CHECK_FAILS(c, airy_params_check(&params, &sample, false), AIRY_ERR_PARAM,
                "incidence has no effect on 2th_deg and chi_rad");
    CHECK_OK(c, airy_job_set(job, "quantile", "60,40"));
    CHECK_FAILS(c, airy_job_pattern_params(job, &params, &sample, job->values), AIRY_ERR_PARAM,
                "quantile 60,40: expected A,B with 0 <= A <= B <= 100");
    CHECK_FAILS(c, airy_job_set(job, "bins", "0"), AIRY_ERR_PARAM, "bins 0: expected N or RADIUS");
    CHECK_FAILS(c, airy_job_set(job, "azimuthal", "?"), AIRY_ERR_PARAM, "there are");
    for (int i = 0; i < AIRY_SPLIT_COUNT; i++)
        CHECK(c, strcmp(airy_split_words[i], airy_split_name((airy_split)i)) == 0);
    for (int i = 0; i < AIRY_ERROR_MODEL_COUNT; i++)
        CHECK(c,
              strcmp(airy_error_model_words[i], airy_error_model_name((airy_error_model)i)) == 0);
    airy_job_destroy(&job);
}

void check_job_peaks(struct check *c)
{
    check_run(c);
    check_resume(c);
    check_refusals(c);
    check_pattern_rows(c);
}
