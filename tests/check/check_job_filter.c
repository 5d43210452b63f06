/* The jobs convolve, blur and filter beside the operations by hand; bad values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/error.h"
#include "airy/job.h"
#include "airy/tile.h"
#include "check_pipeline.h"

enum { HEIGHT = 23, WIDTH = 31, SIDE = 3 };

/* A job of an array on the case's device; names and texts in turn, NULL behind them. */
static airy_job *open_job(struct check *c, const char *name, const airy_host_view *image,
                          const char *const *values)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, name, NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (image)
        CHECK_OK(c, airy_job_set_array(job, "image", image));
    for (; values && *values; values += 2)
        CHECK_OK(c, airy_job_set(job, values[0], values[1]));
    return job;
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool is_same(const airy_job *job, const airy_image *want)
{
    airy_host_view view = {.data = NULL};
    size_t size = airy_dtype_size(want->dtype);
    for (int i = 0; i < want->ndim; i++)
        size *= want->shape[i];
    return airy_job_get_array(job, "image", &view) == AIRY_OK && view.dtype == want->dtype &&
           view.ndim == want->ndim &&
           memcmp(view.shape, want->shape, (size_t)want->ndim * sizeof(size_t)) == 0 &&
           memcmp(view.data, want->data, size) == 0;
}

static airy_image make_image(struct check *c)
{
    airy_image image = {.dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    image.data = check_alloc(c, sizeof(float) * HEIGHT * WIDTH);
    check_rand(c, image.data, AIRY_DTYPE_F32, (size_t)HEIGHT * WIDTH, -1, 1);
    return image;
}

static void check_convolve(struct check *c)
{
    if (!check_case(c, "job_convolve"))
        return;
    const airy_image image = make_image(c);
    const double kernel[SIDE * SIDE] = {1, 2, 0.5, 3, -4, 5, 0.25, 7, 8};
    const size_t side[2] = {SIDE, SIDE};
    const airy_host_view
        view = {.data = image.data, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}},
        taps = {.data = kernel, .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {SIDE, SIDE}};
    const airy_convolve_params params = {.mode = AIRY_CONVOLVE_SAME,
                                         .method = AIRY_CONVOLVE_DIRECT,
                                         .border = AIRY_BORDER_VALUE,
                                         .border_value = 2.5};
    const airy_tile_target target = {.dtype = AIRY_DTYPE_F32};
    const char *output = check_run_path(c, "out.npy");
    airy_queue *queue = NULL;
    airy_image want = {.data = NULL}, got = {.data = NULL};
    CHECK_OK(c, airy_queue_create(&queue, c->device));
    CHECK_OK(
        c, airy_tile_convolve(queue, &want, &image, &target, kernel, 2, side, &params, NULL, NULL));
    airy_queue_destroy(&queue);
    airy_job *job = open_job(c, "convolve", &view,
                             VALUES("mode", "same", "algorithm", "direct", "border", "value=2.5"));
    CHECK_OK(c, airy_job_set_array(job, "kernel", &taps));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_same(job, &want) && strcmp(airy_job_summary(job), "direct method") == 0);
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_run(job));
    if (CHECK_OK(c, airy_image_read(&got, output)))
        CHECK(c, memcmp(got.data, want.data, sizeof(float) * HEIGHT * WIDTH) == 0);
    airy_image_free(&got);
    char *json = NULL;
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strstr(json, "\"algorithm\":\"direct\",\"rank\":null,\"shape\":[23,31],\"tiles\":1"));
    airy_job_text_free(json);
    airy_job_destroy(&job);
    airy_image_free(&want);
}

/* Bad pixels are left out; the caller's array stays as it is. A plan makes nothing. */
static void check_blur(struct check *c)
{
    if (!check_case(c, "job_blur"))
        return;
    airy_image image = make_image(c), before = make_image(c);
    float *pixels = image.data;
    uint8_t *mask = check_alloc(c, (size_t)HEIGHT * WIDTH);
    mask[40] = mask[41] = 1;
    const airy_host_view
        view = {.data = pixels, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}},
        bad = {.data = mask, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    memcpy(before.data, pixels, sizeof(float) * HEIGHT * WIDTH);
    ((float *)before.data)[40] = ((float *)before.data)[41] = NAN;
    const airy_blur_params params = {.axes = 2, .sigma = {1, 2}, .normalize = true};
    const airy_tile_target target = {.dtype = AIRY_DTYPE_F64};
    airy_queue *queue = NULL;
    airy_image want = {.data = NULL};
    CHECK_OK(c, airy_queue_create(&queue, c->device));
    CHECK_OK(c, airy_tile_blur(queue, &want, &before, &target, &params, NULL));
    airy_queue_destroy(&queue);
    airy_job *job =
        open_job(c, "blur", &view, VALUES("sigma", "1,2", "normalize", "on", "dtype", "float64"));
    CHECK_OK(c, airy_job_set_array(job, "mask", &bad));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, is_same(job, &want) && !isnan(pixels[40]));
    airy_host_view none;
    CHECK_OK(c, airy_job_set_flag(job, "plan", true));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, airy_job_get_array(job, "image", &none) == AIRY_ERR_NOT_FOUND);
    CHECK(c, strstr(airy_job_summary(job), "23 x 31 in 1 tile of 23 x 31:"));
    airy_job_destroy(&job);
    airy_image_free(&want);
}

/* One filter of each kind. */
static void check_filters(struct check *c)
{
    if (!check_case(c, "job_filter"))
        return;
    const airy_image image = make_image(c);
    const uint8_t cross[SIDE * SIDE] = {0, 1, 0, 1, 1, 1, 0, 1, 0};
    const airy_host_view
        view = {.data = image.data, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}},
        footprint = {.data = cross, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {SIDE, SIDE}};
    const airy_rank_params rank = {
        .filter = AIRY_RANK_NTH, .axes = 2, .size = {SIDE, SIDE}, .footprint = cross, .rank = -2};
    const airy_hampel_params hampel = {.axes = 2, .size = {5, 3}, .kappa = 1};
    const airy_stencil_params sobel = {
        .stencil = AIRY_STENCIL_SOBEL, .axes = 2, .has_axis = true, .axis = 0};
    const airy_tile_target target = {.dtype = AIRY_DTYPE_F64};
    const char *const *const values[] = {
        VALUES("filter", "rank", "rank", "-2"),
        VALUES("filter", "hampel", "size", "5,3", "kappa", "1"),
        VALUES("filter", "sobel", "axis", "0", "dtype", "float64"),
    };
    airy_queue *queue = NULL;
    airy_image want[3] = {{.data = NULL}};
    CHECK_OK(c, airy_queue_create(&queue, c->device));
    CHECK_OK(c, airy_tile_rank(queue, &want[0], &image, 0, &rank, NULL));
    CHECK_OK(c, airy_tile_hampel(queue, &want[1], &image, 0, &hampel, NULL));
    CHECK_OK(c, airy_tile_stencil(queue, &want[2], &image, &target, &sobel, NULL));
    airy_queue_destroy(&queue);
    for (size_t i = 0; i < 3; i++) {
        airy_job *job = open_job(c, "filter", &view, values[i]);
        if (i == 0)
            CHECK_OK(c, airy_job_set_array(job, "footprint", &footprint));
        CHECK_OK(c, airy_job_run(job));
        CHECK(c, is_same(job, &want[i]));
        airy_job_destroy(&job);
        airy_image_free(&want[i]);
    }
}

static void check_bad(struct check *c)
{
    if (!check_case(c, "job_filter_bad"))
        return;
    const airy_image image = make_image(c);
    const airy_host_view view = {
        .data = image.data, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    const struct {
        const char *job, *const *values;
        airy_status status;
        const char *name, *sentence;
    } bad[] = {
        {"convolve", VALUES("mode", "same"), AIRY_ERR_PARAM, "kernel", "kernel is missing"},
        {"convolve", VALUES("kernel", "x.npy", "normalize", "on", "algorithm", "fft"),
         AIRY_ERR_PARAM, "normalize", "does not shrink"},
        {"convolve", VALUES("kernel", "x.npy", "normalize", "on", "border", "value=nan"),
         AIRY_ERR_PARAM, "normalize", "expected a finite number"},
        {"blur", VALUES("normalize", "on"), AIRY_ERR_PARAM, "sigma", "sigma is missing"},
        {"blur", VALUES("sigma", "0,0"), AIRY_ERR_PARAM, "sigma", "expected one above 0"},
        {"blur", VALUES("sigma", "200"), AIRY_ERR_PARAM, "sigma", "needs a radius of 800 px"},
        {"blur", VALUES("sigma", "1,2,3"), AIRY_ERR_UNSUPPORTED, "sigma",
         "expected 1 or 2 numbers for an image of 2 dimensions"},
        {"blur", VALUES("sigma", "1", "output", "x.cbf"), AIRY_ERR_UNSUPPORTED, "output",
         "CBF holds"},
        {"filter", VALUES("size", "3"), AIRY_ERR_PARAM, "filter", "filter is missing"},
        {"filter", VALUES("filter", "gradient", "size", "3"), AIRY_ERR_PARAM, "size",
         "size goes with filter median, "},
        {"filter", VALUES("filter", "percentile"), AIRY_ERR_PARAM, "percentile", "is missing"},
        {"filter", VALUES("filter", "rank", "rank", "1.5"), AIRY_ERR_PARAM, "rank",
         "expected a whole number"},
        {"filter", VALUES("filter", "rank", "rank", "9"), AIRY_ERR_UNSUPPORTED, "rank",
         "expected -9 to 8"},
        {"filter", VALUES("filter", "hampel", "size", "4"), AIRY_ERR_PARAM, "size",
         "expected odd numbers"},
        {"filter", VALUES("filter", "median", "footprint", "ball=x"), AIRY_ERR_PARAM, "footprint",
         "expected ball=R"},
        {"filter", VALUES("filter", "median", "planes", "on"), AIRY_ERR_UNSUPPORTED, "planes",
         "the image has 2 dimensions"},
        {"filter", VALUES("filter", "sobel", "axis", "2"), AIRY_ERR_UNSUPPORTED, "axis",
         "the filter has 2 axes"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_error error;
        airy_job *job = open_job(c, bad[i].job, &view, bad[i].values);
        CHECK_FAILS(c, airy_job_run(job), bad[i].status, bad[i].sentence);
        airy_error_get(&error);
        if (!CHECK(c,
                   error.subject == AIRY_SUBJECT_PARAMETER && strcmp(error.name, bad[i].name) == 0))
            printf("# %s: %s\n", bad[i].name, error.text);
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, "blur", &view, NULL);
    CHECK_FAILS(c, airy_job_set(job, "border", "refelct"), AIRY_ERR_PARAM,
                "did you mean 'reflect'?");
    CHECK_FAILS(c, airy_job_set(job, "border", "value=x"), AIRY_ERR_PARAM, "with a number V");
    airy_job_destroy(&job);
}

void check_job_filter(struct check *c)
{
    check_convolve(c);
    check_blur(c);
    check_filters(c);
    check_bad(c);
    airy_context_release();
}
