/* The job convert beside what it does by hand: frames, arrays, complex numbers, stacks; bad values. */
#include <stdlib.h>
#include <string.h>

#include "airy/error.h"
#include "airy/image.h"
#include "airy/job.h"
#include "airy/stack.h"
#include "check_pipeline.h"

enum { FRAMES = 7, HEIGHT = 5, WIDTH = 6 };

/* A job of an input, or of an array; further values are names and texts in turn, NULL behind them. */
static airy_job *open_job(struct check *c, const char *path, const airy_host_view *array,
                          const char *const *values)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "convert", NULL, NULL));
    if (path)
        CHECK_OK(c, airy_job_set(job, "image", path));
    if (array)
        CHECK_OK(c, airy_job_set_array(job, "image", array));
    for (; values && *values; values += 2)
        CHECK_OK(c, airy_job_set(job, values[0], values[1]));
    return job;
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool is_image(airy_job *job, airy_dtype dtype, int ndim, const size_t *shape,
                     const void *data)
{
    airy_host_view view = {.data = NULL};
    size_t size = airy_dtype_size(dtype);
    if (airy_job_get_array(job, "image", &view) != AIRY_OK || view.dtype != dtype ||
        view.ndim != ndim)
        return false;
    for (int i = 0; i < ndim; i++) {
        if (view.shape[i] != shape[i])
            return false;
        size *= shape[i];
    }
    return memcmp(view.data, data, size) == 0;
}

/* Chosen frames of a stack into memory, into an image and into a stack. */
static void check_frames(struct check *c)
{
    if (!check_case(c, "job_convert_frames"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *plain = check_run_path(c, "out.npy"),
               *stack_path = check_run_path(c, "out.h5");
    const uint32_t *frames = check_run_frames(c, FRAMES);
    uint32_t *want = check_alloc(c, (size_t)3 * RUN_PIXELS * sizeof(*want));
    for (size_t i = 0; i < 3; i++)
        memcpy(want + i * RUN_PIXELS, frames + (1 + 2 * i) * RUN_PIXELS,
               RUN_PIXELS * sizeof(*want));
    check_run_stack(c, path, frames, FRAMES, FRAMES, SOUND);
    const size_t shape[3] = {3, RUN_HEIGHT, RUN_WIDTH}, whole[3] = {FRAMES, RUN_HEIGHT, RUN_WIDTH};
    airy_job *job = open_job(c, path, NULL, VALUES("frames", "1:6:2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_U32, 3, shape, want));
    CHECK(c, strcmp(airy_job_summary(job), "3 x 37 x 44 uint32") == 0);
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, VALUES("frames", "5"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_U32, 2, shape + 1, want + (size_t)2 * RUN_PIXELS));
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, NULL);
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_U32, 3, whole, frames));
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, VALUES("frames", "1:6:2", "output", plain));
    airy_image image = {.data = NULL};
    char *json = NULL;
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strstr(json, "\"dtype\":\"uint32\",\"shape\":[3,37,44]}") != NULL);
    airy_job_text_free(json);
    if (CHECK_OK(c, airy_image_read(&image, plain)))
        CHECK(c, memcmp(image.data, want, (size_t)3 * RUN_PIXELS * sizeof(*want)) == 0);
    airy_image_free(&image);
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, VALUES("frames", "1:6:2", "output", stack_path));
    double bad = 1;
    airy_stack *stack = NULL;
    uint32_t *got = check_alloc(c, RUN_PIXELS * sizeof(*got));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_number(job, "bad", &bad));
    CHECK(c, bad == 0);
    airy_job_destroy(&job);
    CHECK_OK(c, airy_stack_create(&stack, &stack_path, 1));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, got, RUN_PIXELS * sizeof(*got)));
        CHECK(c, memcmp(got, want + i * RUN_PIXELS, RUN_PIXELS * sizeof(*got)) == 0);
    }
    airy_stack_destroy(&stack);
}

/* An array in memory goes into a file as it is, or some of its planes. */
static void check_arrays(struct check *c)
{
    if (!check_case(c, "job_convert_arrays"))
        return;
    const char *output = check_run_path(c, "out.edf");
    const size_t shape[3] = {FRAMES, HEIGHT, WIDTH}, some[3] = {2, HEIGHT, WIDTH};
    float *pixels = check_alloc(c, sizeof(float) * FRAMES * HEIGHT * WIDTH),
          *want = check_alloc(c, sizeof(float) * 2 * HEIGHT * WIDTH);
    check_rand(c, pixels, AIRY_DTYPE_F32, (size_t)FRAMES * HEIGHT * WIDTH, -1, 1);
    memcpy(want, pixels + (size_t)2 * HEIGHT * WIDTH, sizeof(float) * HEIGHT * WIDTH);
    memcpy(want + (size_t)HEIGHT * WIDTH, pixels + (size_t)5 * HEIGHT * WIDTH,
           sizeof(float) * HEIGHT * WIDTH);
    const airy_host_view view = {
        .data = pixels, .dtype = AIRY_DTYPE_F32, .ndim = 3, .shape = {FRAMES, HEIGHT, WIDTH}};
    airy_image image = {.data = NULL};
    airy_job *job = open_job(c, NULL, &view, VALUES("output", output));
    CHECK_OK(c, airy_job_run(job));
    if (CHECK_OK(c, airy_image_read(&image, output)))
        CHECK(c, memcmp(image.data, pixels, sizeof(float) * FRAMES * HEIGHT * WIDTH) == 0);
    airy_image_free(&image);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "is there already");
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_OK(c, airy_job_want(job, "image"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_F32, 3, shape, pixels));
    airy_job_destroy(&job);
    job = open_job(c, NULL, &view, VALUES("frames", "2:6:3"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_F32, 3, some, want));
    airy_job_destroy(&job);
    job = open_job(c, NULL, &view, VALUES("frames", "2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_F32, 2, some + 1, want));
    airy_job_destroy(&job);
    job = open_job(c, NULL, &view, VALUES("frames", "7"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "frames 7: image has 7 frames");
    airy_job_destroy(&job);
}

/* Complex numbers have a last axis of 2 in memory; frames of them are lines of such pairs. */
static void check_complex(struct check *c)
{
    if (!check_case(c, "job_convert_complex"))
        return;
    const char *path = check_run_path(c, "in.npy"), *output = check_run_path(c, "out.edf");
    float *pixels = check_alloc(c, sizeof(float) * 3 * HEIGHT * WIDTH * 2);
    check_rand(c, pixels, AIRY_DTYPE_F32, (size_t)3 * HEIGHT * WIDTH * 2, -1, 1);
    const size_t shape[4] = {3, HEIGHT, WIDTH, 2};
    const airy_image image = {.dtype = AIRY_DTYPE_F32,
                              .ndim = 4,
                              .shape = {3, HEIGHT, WIDTH, 2},
                              .data = pixels,
                              .is_complex = true};
    airy_image got = {.data = NULL};
    CHECK_OK(c, airy_image_write(&image, path, false));
    airy_job *job = open_job(c, path, NULL, NULL);
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_F32, 4, shape, pixels));
    CHECK(c, strcmp(airy_job_summary(job), "3 x 5 x 6 complex64") == 0);
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, VALUES("frames", "2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_image(job, AIRY_DTYPE_F32, 3, shape + 1, pixels + (size_t)2 * HEIGHT * WIDTH * 2));
    airy_job_destroy(&job);
    job = open_job(c, path, NULL, VALUES("frames", "2", "output", output));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_UNSUPPORTED, "complex numbers");
    CHECK_OK(c, airy_job_set_flag(job, "complex-as-pairs", true));
    CHECK_OK(c, airy_job_run(job));
    if (CHECK_OK(c, airy_image_read(&got, output)))
        CHECK(c, memcmp(got.data, pixels + (size_t)2 * HEIGHT * WIDTH * 2,
                        sizeof(float) * HEIGHT * WIDTH * 2) == 0);
    airy_image_free(&got);
    airy_job_destroy(&job);
}

static void check_bad(struct check *c)
{
    if (!check_case(c, "job_convert_bad"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *none = check_run_path(c, "none.npy");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    const struct {
        const char *const *values;
        airy_status status;
        airy_subject subject;
        const char *name, *sentence;
    } bad[] = {
        {VALUES("on-error", "skip", "output", none), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
         "on-error", "on-error skip goes with an output in HDF5"},
        {VALUES("profile", "on"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "profile",
         "profile goes with an output in HDF5"},
        {VALUES("profile", "on", "frames", "2", "output", check_run_path(c, "one.h5")),
         AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "profile", "is not several frames of a stack"},
        {VALUES("frames", "7"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "frames", "has 7 frames"},
        {VALUES("memory-limit", "1000"), AIRY_ERR_MEMORY, AIRY_SUBJECT_PARAMETER, "memory-limit",
         "memory-limit 1000: an image of 45584 bytes is larger"},
        {VALUES("memory-limit", "1000", "frames", "2"), AIRY_ERR_MEMORY, AIRY_SUBJECT_PARAMETER,
         "memory-limit", "memory-limit 1000: an image of 6512 bytes is larger"},
        {VALUES("output", check_run_path(c, "a.cbf")), AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
         "output", "CBF holds one image of 2 dimensions"},
        {VALUES("channel", "none", "output", none), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_NONE, "",
         "channel"},
        {VALUES("output", path, "force", "on"), AIRY_ERR_PARAM, AIRY_SUBJECT_NONE, "", "stack.h5"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_error error;
        airy_job *job = open_job(c, path, NULL, bad[i].values);
        CHECK_FAILS(c, airy_job_run(job), bad[i].status, bad[i].sentence);
        airy_error_get(&error);
        CHECK(c, bad[i].subject == AIRY_SUBJECT_NONE ||
                     (error.subject == bad[i].subject && strcmp(error.name, bad[i].name) == 0));
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, NULL, NULL, NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "image is missing");
    airy_job_destroy(&job);
}

void check_job_convert(struct check *c)
{
    check_frames(c);
    check_arrays(c);
    check_complex(c);
    check_bad(c);
}
