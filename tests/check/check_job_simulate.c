/* The jobs simulate-* beside the simulators by hand, in memory and in files; bad values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "airy/error.h"
#include "airy/image.h"
#include "airy/integrate.h"
#include "airy/job.h"
#include "airy/stack.h"
#include "check_pipeline.h"
#include "check_skies.h"
#include "jobs/simulate/simulated.h"
#include "jobs/simulate/simulated_oct.h"

/* A job with names and texts in turn, NULL behind them. */
static airy_job *open_job(struct check *c, const char *name, const char *const *values)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, name, NULL, NULL));
    for (; values && *values; values += 2)
        CHECK_OK(c, airy_job_set(job, values[0], values[1]));
    return job;
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The frames of a job that has run are these bytes. */
static bool has_array(const airy_job *job, const char *result, airy_dtype dtype,
                      const size_t *shape, int ndim, const void *want)
{
    airy_host_view view = {.data = NULL};
    size_t size = airy_dtype_size(dtype);
    for (int i = 0; i < ndim; i++)
        size *= shape[i];
    return airy_job_get_array(job, result, &view) == AIRY_OK && view.dtype == dtype &&
           view.ndim == ndim && memcmp(view.shape, shape, (size_t)ndim * sizeof(*shape)) == 0 &&
           memcmp(view.data, want, size) == 0;
}

/* Frames of Poisson counts around a curve, with spots. */
static void check_diffraction(struct check *c)
{
    enum { FRAMES = 3, POINTS = 3 };
    if (!check_case(c, "job_simulate_diffraction"))
        return;
    const double q[POINTS] = {0, 5, 20}, curve[POINTS] = {50, 20, 1},
                 points[POINTS][2] = {{0, 50}, {5, 20}, {20, 1}};
    const airy_host_view view = {
        .data = points, .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {POINTS, 2}};
    const airy_integrator_params params = {.unit = AIRY_UNIT_Q_NM};
    airy_geometry geometry = {.dist = 0.15, .wavelength = 1e-10};
    struct airy_simulated model;
    CHECK_OK(c, airy_detector_find(&geometry.detector, "pilatus_100k"));
    airy_simulated_begin(&model, AIRY_DTYPE_U16, &geometry);
    double *mean = check_alloc(c, model.pixels * sizeof(*mean));
    uint16_t *want = check_alloc(c, FRAMES * model.pixels * sizeof(*want)),
             *got = check_alloc(c, model.pixels * sizeof(*got));
    CHECK_OK(c, airy_image_from_pattern(mean, &geometry, &params, q, curve, POINTS));
    model.mean = mean;
    model.seed = 7;
    model.spots = 5;
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_simulated_frame(&model, i, want + i * model.pixels));
    const size_t shape[3] = {FRAMES, geometry.detector.height, geometry.detector.width};
    const char *output = check_run_path(c, "out.h5"), *const values[] = {
                                                          "detector", "pilatus_100k", "dist",
                                                          "0.15",     "frames",       "3",
                                                          "dtype",    "uint16",       "seed",
                                                          "7",        "spots",        "5",
                                                          NULL};
    airy_job *job = open_job(c, "simulate-diffraction", values);
    CHECK_OK(c, airy_job_set_array(job, "curve", &view));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_array(job, "stack", AIRY_DTYPE_U16, shape, 3, want));
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_run(job));
    airy_stack *stack = NULL;
    airy_stack_meta meta;
    if (CHECK_OK(c, airy_stack_create(&stack, &output, 1))) {
        for (size_t i = 0; i < FRAMES; i++) {
            CHECK_OK(c, airy_stack_read(stack, i, got, model.pixels * sizeof(*got)));
            CHECK(c, memcmp(got, want + i * model.pixels, model.pixels * sizeof(*got)) == 0);
        }
        CHECK_OK(c, airy_stack_get_meta(stack, &meta));
        CHECK(c, meta.has_geometry && meta.geometry.dist == 0.15);
    }
    airy_stack_destroy(&stack);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "out.h5");
    airy_job_destroy(&job);
}

/* Frames that are drawn once are taken in turn. */
static void check_distinct(struct check *c)
{
    if (!check_case(c, "job_simulate_distinct"))
        return;
    airy_host_view view = {.data = NULL};
    airy_job *job = open_job(
        c, "simulate-diffraction",
        VALUES("detector", "pilatus_100k", "frames", "5", "dtype", "uint8", "distinct", "2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_array(job, "stack", &view));
    const size_t size = view.shape[1] * view.shape[2];
    const uint8_t *frames = view.data;
    CHECK(c, memcmp(frames, frames + 2 * size, size) == 0 &&
                 memcmp(frames + size, frames + 3 * size, size) == 0 &&
                 memcmp(frames, frames + size, size) != 0);
    airy_job_destroy(&job);
}

/* Mirrors, their table and a plan. */
static void check_mirrors(struct check *c)
{
    enum { SAMPLES = 64, LINES = 5, FRAMES = 2 };
    if (!check_case(c, "job_simulate_oct"))
        return;
    double wavelengths[SAMPLES];
    const struct airy_oct_reflector reflectors[2] = {{100, -20, 0}, {150.5, -30, 0.5}};
    for (size_t i = 0; i < SAMPLES; i++)
        wavelengths[i] = (1200 + (double)i) * 1e-9;
    const airy_host_view view = {
        .data = wavelengths, .dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {SAMPLES}};
    struct airy_simulated_oct model = {.samples = SAMPLES,
                                       .lines = LINES,
                                       .frames = FRAMES,
                                       .repeats = 1,
                                       .seed = 1,
                                       .dtype = AIRY_DTYPE_U16,
                                       .bits = 12,
                                       .full_well = 200000,
                                       .exposure = 0.5,
                                       .read_noise = 60,
                                       .pattern = 0.003,
                                       .wavelength = wavelengths,
                                       .ends = {wavelengths[0], wavelengths[SAMPLES - 1]},
                                       .center = 0.5 * (wavelengths[0] + wavelengths[SAMPLES - 1]),
                                       .width = 0.45 * (wavelengths[SAMPLES - 1] - wavelengths[0]),
                                       .reflectors = reflectors,
                                       .count = 2,
                                       .beam = 4,
                                       .flow = 1};
    struct airy_oct_scratch scratch = {0};
    uint16_t *want = check_alloc(c, sizeof(*want) * FRAMES * LINES * SAMPLES);
    CHECK(c, airy_simulated_oct_begin(&model) && airy_simulated_oct_scratch(&model, &scratch));
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(
            c, airy_simulated_oct_lines(&model, &scratch, i, 0, LINES, want + i * LINES * SAMPLES));
    const double bin = airy_simulated_oct_bin(&model, 150.5);
    airy_simulated_oct_release(&scratch);
    airy_simulated_oct_end(&model);
    const size_t shape[3] = {FRAMES, LINES, SAMPLES};
    const char *output = check_run_path(c, "out.npy"), *plan = check_run_path(c, "plan.json");
    const airy_table *table = NULL;
    airy_image image = {.data = NULL};
    airy_job *job = open_job(c, "simulate-oct",
                             VALUES("samples", "64", "lines", "5", "frames", "2", "reflectors",
                                    "100:-20,150.5:-30:0.5", "write-plan", plan));
    CHECK_OK(c, airy_job_set_array(job, "wavelengths", &view));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_array(job, "stack", AIRY_DTYPE_U16, shape, 3, want));
    if (CHECK_OK(c, airy_job_get_table(job, "reflectors", &table)))
        CHECK(c, table->rows == 2 && table->columns == 5 &&
                     *(const double *)(const void *)((const char *)table->column[2].data +
                                                     table->column[2].step) == bin);
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "plan.json");
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_OK(c, airy_job_run(job));
    if (CHECK_OK(c, airy_image_read(&image, output)))
        CHECK(c, memcmp(image.data, want, sizeof(*want) * FRAMES * LINES * SAMPLES) == 0);
    airy_image_free(&image);
    airy_job_destroy(&job);
}

static void check_images(struct check *c)
{
    enum { HEIGHT = 40, WIDTH = 30 };
    if (!check_case(c, "job_simulate_images"))
        return;
    const size_t shape[2] = {HEIGHT, WIDTH}, square[2] = {3, 3};
    const struct check_sky sky = {HEIGHT, WIDTH, 12, 5, 0};
    const double points[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    float *want = check_alloc(c, sizeof(*want) * HEIGHT * WIDTH);
    const char *output = check_run_path(c, "sky.npy");
    airy_image image = {.data = NULL};
    CHECK(c, check_simulate_sky(want, &sky));
    airy_job *job = open_job(
        c, "simulate-sky",
        VALUES("height", "40", "width", "30", "sources", "12", "seed", "5", "source", "none"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_array(job, "image", AIRY_DTYPE_F32, shape, 2, want));
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_run(job));
    if (CHECK_OK(c, airy_image_read(&image, output)))
        CHECK(c, memcmp(image.data, want, sizeof(*want) * HEIGHT * WIDTH) == 0);
    airy_image_free(&image);
    airy_job_destroy(&job);
    job = open_job(c, "simulate-diracs", VALUES("size", "3", "step", "3"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_array(job, "image", AIRY_DTYPE_F64, square, 2, points));
    airy_job_destroy(&job);
    airy_host_view view = {.data = NULL};
    job = open_job(c, "simulate-kernel", VALUES("size", "3", "reach", "1", "sigma", "2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_array(job, "image", &view));
    for (int i = 0; i < 9; i++) {
        const double x = i % 3 - 1, y = i / 3 - 1;
        CHECK(c, ((const double *)view.data)[i] == exp(-(x * x + y * y) / 8));
    }
    airy_job_destroy(&job);
}

/* What is refused, with the parameter that it is about. */
static void check_bad(struct check *c)
{
    static const char diffraction[] = "simulate-diffraction", oct[] = "simulate-oct",
                      sky[] = "simulate-sky";
    if (!check_case(c, "job_simulate_bad"))
        return;
    const struct {
        const char *job, *const *values;
        airy_status status;
        const char *name, *sentence;
    } bad[] = {
        {diffraction, VALUES("incompressible", "on", "spots", "3"), AIRY_ERR_PARAM, "spots",
         "no meaning with incompressible"},
        {diffraction, VALUES("calibrant", "LaB6", "curve", "x.txt"), AIRY_ERR_PARAM, "calibrant",
         "calibrant and curve"},
        {diffraction, VALUES("ring-width", "3"), AIRY_ERR_PARAM, "ring-width",
         "ring-width goes with calibrant"},
        {diffraction, VALUES("same-frame", "on", "distinct", "3"), AIRY_ERR_PARAM, "same-frame",
         "give one of them"},
        {diffraction, VALUES("curve", "nowhere.txt"), AIRY_ERR_NOT_FOUND, "curve", "nowhere.txt"},
        {diffraction, VALUES("memory-limit", "1000"), AIRY_ERR_MEMORY, "memory-limit",
         "name an output"},
        {oct, VALUES("packing", "12", "samples", "65"), AIRY_ERR_PARAM, "samples",
         "do not fill whole bytes"},
        {oct, VALUES("packing", "10", "bits", "12"), AIRY_ERR_PARAM, "bits", "expected 10"},
        {oct, VALUES("dtype", "u8", "bits", "12"), AIRY_ERR_PARAM, "bits", "u8 has 8"},
        {oct, VALUES("reflectors", "100"), AIRY_ERR_PARAM, "reflectors", "expected Z:R"},
        {oct, VALUES("reflectors", "100:-20:0:7"), AIRY_ERR_PARAM, "reflectors", "expected Z:R"},
        {oct, VALUES("reflectors", "100:-20", "beam", "3"), AIRY_ERR_PARAM, "beam",
         "which reflectors replace"},
        {oct, VALUES("noiseless", "on", "read-noise", "3"), AIRY_ERR_PARAM, "read-noise",
         "no meaning with noiseless"},
        {oct, VALUES("wavelengths", "800,-900"), AIRY_ERR_UNSUPPORTED, "wavelengths",
         "expected 1e-9 to 1e-3"},
        {oct, VALUES("wavelengths", "nowhere.txt"), AIRY_ERR_NOT_FOUND, "wavelengths", "nowhere"},
        {oct, VALUES("spectrum", "-1,2"), AIRY_ERR_PARAM, "spectrum", "above 0"},
        {oct, VALUES("output", "x.png"), AIRY_ERR_PARAM, "output", "expected .h5"},
        {oct, VALUES("truth", "x.csv"), AIRY_ERR_PARAM, "truth", "truth goes with reflectors"},
        {oct, VALUES("memory-limit", "1000"), AIRY_ERR_MEMORY, "memory-limit", "name an output"},
        {sky, VALUES("amplitude", "0,1"), AIRY_ERR_PARAM, "amplitude", "MIN at most MAX"},
        {sky, VALUES("source", "1,2,3"), AIRY_ERR_PARAM, "source", "expected 7 numbers"},
        {sky, VALUES("output", "x.png"), AIRY_ERR_UNSUPPORTED, "output", "PNG holds"},
        {"simulate-diracs", VALUES("size", "3", "step", "6"), AIRY_ERR_PARAM, "step", "is no 1"},
        {"simulate-kernel", VALUES("output", "x.cbf"), AIRY_ERR_UNSUPPORTED, "output", "CBF holds"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_error error;
        airy_job *job = open_job(c, bad[i].job, bad[i].values);
        CHECK_FAILS(c, airy_job_run(job), bad[i].status, bad[i].sentence);
        airy_error_get(&error);
        if (!CHECK(c,
                   error.subject == AIRY_SUBJECT_PARAMETER && strcmp(error.name, bad[i].name) == 0))
            printf("# %s: %s\n", bad[i].name, error.text);
        airy_job_destroy(&job);
    }
}

void check_job_simulate(struct check *c)
{
    check_diffraction(c);
    check_distinct(c);
    check_mirrors(c);
    check_images(c);
    check_bad(c);
}
