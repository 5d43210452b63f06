/* Jobs on images: in memory and from files beside their operations by hand, and bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "airy/background.h"
#include "airy/error.h"
#include "airy/image.h"
#include "airy/job.h"
#include "airy/geometry_params.h"
#include "airy/label.h"
#include "airy/pixels.h"
#include "airy/reduce.h"
#include "airy/resume.h"
#include "airy/sky.h"
#include "airy/sources.h"
#include "airy/stack.h"
#include "check_pipeline.h"

enum { PLANES = 3, HEIGHT = 21, WIDTH = 34, PIXELS = HEIGHT * WIDTH };

/* A cube of counts, and a mask of one frame. */
struct cube {
    uint16_t data[PLANES * PIXELS];
    uint8_t mask[PIXELS];
    airy_host_view view, of_mask;
};

static struct cube *make_cube(struct check *c)
{
    struct cube *cube = check_alloc(c, sizeof(*cube));
    check_rand(c, cube->data, AIRY_DTYPE_U16, PLANES * PIXELS, 0, 500);
    for (size_t i = 0; i < PIXELS; i += 7)
        cube->mask[i] = 1;
    cube->view = (airy_host_view){
        .data = cube->data, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {PLANES, HEIGHT, WIDTH}};
    cube->of_mask = (airy_host_view){
        .data = cube->mask, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    return cube;
}

/* The cube's array, or its file. */
static airy_job *open_job(struct check *c, const char *name, const struct cube *cube,
                          const char *path)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, name, NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (path)
        CHECK_OK(c, airy_job_set(job, "image", path));
    else
        CHECK_OK(c, airy_job_set_array(job, "image", &cube->view));
    return job;
}

static const char *write_cube(struct check *c, struct cube *cube)
{
    const char *path = check_run_path(c, "cube.npy");
    const airy_image image = {
        .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {PLANES, HEIGHT, WIDTH}, .data = cube->data};
    CHECK_OK(c, airy_image_write(&image, path, true));
    return path;
}

static double number_of(struct check *c, const airy_job *job, const char *result)
{
    double value = 0;
    CHECK_OK(c, airy_job_get_number(job, result, &value));
    return value;
}

/* Plane i of the cube, and its bad pixels, by hand. */
static airy_statistics by_hand(struct check *c, const struct cube *cube, size_t i)
{
    const size_t shape[2] = {HEIGHT, WIDTH};
    airy_statistics s = {.count = 0};
    const airy_array *src = check_upload(c, AIRY_DTYPE_U16, 2, shape, cube->data + i * PIXELS),
                     *mask = check_upload(c, AIRY_DTYPE_U8, 2, shape, cube->mask);
    CHECK_OK(c, airy_statistics_get(c->queue, &s, src, mask, AIRY_STATISTICS_ALL));
    return s;
}

/* JSON of planes has the same numbers. */
static void check_plane(struct check *c, const json_t *plane, const airy_statistics *s)
{
    CHECK(c, json_integer_value(json_object_get(plane, "count")) == (json_int_t)s->count &&
                 json_integer_value(json_object_get(plane, "masked")) == (json_int_t)s->masked);
    CHECK(c, json_real_value(json_object_get(plane, "min")) == s->min &&
                 json_real_value(json_object_get(plane, "max")) == s->max &&
                 json_real_value(json_object_get(plane, "sum")) == s->sum &&
                 json_real_value(json_object_get(plane, "median")) == s->median &&
                 json_real_value(json_object_get(plane, "std")) == s->std);
}

static void check_stats_planes(struct check *c)
{
    if (!check_case(c, "job_stats_planes"))
        return;
    struct cube *cube = make_cube(c);
    const char *path = write_cube(c, cube), *text = NULL;
    for (int to_file = 0; to_file < 2; to_file++) {
        airy_job *job = open_job(c, "stats", cube, to_file ? path : NULL);
        CHECK_OK(c, airy_job_set_array(job, "mask", &cube->of_mask));
        CHECK_OK(c, airy_job_set_flag(job, "each", true));
        CHECK_OK(c, airy_job_set_flag(job, "mad", true));
        CHECK_OK(c, airy_job_run(job));
        CHECK_OK(c, airy_job_get_text(job, "planes", &text));
        json_t *planes = json_loads(text, 0, NULL);
        CHECK(c, json_array_size(planes) == PLANES);
        for (size_t i = 0; i < PLANES; i++) {
            const airy_statistics s = by_hand(c, cube, i);
            check_plane(c, json_array_get(planes, i), &s);
        }
        json_decref(planes);
        airy_job_destroy(&job);
    }
}

static void check_stats_one(struct check *c)
{
    if (!check_case(c, "job_stats"))
        return;
    struct cube *cube = make_cube(c);
    const airy_statistics s = by_hand(c, cube, 1);
    const char *quantiles = NULL;
    char *json = NULL;
    airy_job *job = open_job(c, "stats", cube, NULL);
    CHECK_OK(c, airy_job_set_array(job, "mask", &cube->of_mask));
    CHECK_OK(c, airy_job_set(job, "frames", "1"));
    CHECK_OK(c, airy_job_set(job, "quantiles", "0,100"));
    CHECK_OK(c, airy_job_set(job, "histogram", "1"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, number_of(c, job, "count") == (double)s.count);
    CHECK(c, number_of(c, job, "masked") == (double)s.masked && s.masked == PIXELS / 7);
    CHECK(c, number_of(c, job, "mean") == s.mean && number_of(c, job, "std") == s.std &&
                 number_of(c, job, "median") == s.median);
    CHECK_OK(c, airy_job_get_text(job, "quantiles", &quantiles));
    CHECK(c, strstr(quantiles, "\"percent\":100.0"));
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strncmp(json, "{\"count\":", 9) == 0 && strstr(json, "\"below\":0,\"above\":0"));
    airy_job_text_free(json);
    airy_job_destroy(&job);
}

/* The only plane of an image is all of it, whichever side is longer. */
static void check_stats_plane_of_image(struct check *c)
{
    if (!check_case(c, "job_stats_plane_of_image"))
        return;
    struct cube *cube = make_cube(c);
    static const size_t shapes[][2] = {{HEIGHT, WIDTH}, {WIDTH, HEIGHT}, {PIXELS, 1}, {1, PIXELS}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        /* Memory of its own, behind which nothing may be read. */
        void *data = check_alloc(c, PIXELS * sizeof(uint16_t));
        memcpy(data, cube->data, PIXELS * sizeof(uint16_t));
        const airy_host_view view = {.data = data,
                                     .dtype = AIRY_DTYPE_U16,
                                     .ndim = 2,
                                     .shape = {shapes[i][0], shapes[i][1]}};
        double found[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            airy_job *job = NULL;
            CHECK_OK(c, airy_job_create(&job, "stats", NULL, NULL));
            CHECK_OK(c, airy_job_set(job, "device", c->spec));
            CHECK_OK(c, airy_job_set_array(job, "image", &view));
            if (k)
                CHECK_OK(c, airy_job_set(job, "frames", "0"));
            CHECK_OK(c, airy_job_run(job));
            CHECK(c, number_of(c, job, "count") == PIXELS);
            found[k] = number_of(c, job, "sum");
            airy_job_destroy(&job);
        }
        CHECK(c, found[0] == found[1]);
    }
}

/* Integers of 64 bits keep their digits. */
static void check_stats_wide(struct check *c)
{
    if (!check_case(c, "job_stats_wide"))
        return;
    const uint64_t data[2] = {UINT64_MAX, UINT64_MAX - 1};
    const airy_host_view view = {.data = data, .dtype = AIRY_DTYPE_U64, .ndim = 2, .shape = {1, 2}};
    airy_job *job = NULL;
    char *json = NULL;
    CHECK_OK(c, airy_job_create(&job, "stats", NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set_array(job, "image", &view));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strstr(json, "\"min\":\"18446744073709551614\",\"max\":\"18446744073709551615\""));
    CHECK(c, number_of(c, job, "max") == 0x1p64);
    airy_job_text_free(json);
    airy_job_destroy(&job);
}

static void check_clip(struct check *c)
{
    if (!check_case(c, "job_clip"))
        return;
    const struct cube *cube = make_cube(c);
    const size_t shape[2] = {HEIGHT, WIDTH};
    const airy_clip_params params = {
        .kappa_low = 1, .kappa_high = 1.5, .spread = AIRY_SPREAD_MAD, .inclusive = true};
    const char *text = NULL;
    for (size_t i = 0; i < PLANES; i++) {
        airy_clip_result want;
        char frame[8];
        airy_job *job = open_job(c, "clip", cube, NULL);
        snprintf(frame, sizeof(frame), "%zu", i);
        CHECK_OK(c, airy_job_set(job, "frames", frame));
        CHECK_OK(c, airy_job_set(job, "kappa", "1,1.5"));
        CHECK_OK(c, airy_job_set(job, "spread", "mad"));
        CHECK_OK(c, airy_job_set_flag(job, "inclusive", true));
        CHECK_OK(c, airy_job_run(job));
        CHECK_OK(c, airy_clip(c->queue, &want,
                              check_upload(c, AIRY_DTYPE_U16, 2, shape, cube->data + i * PIXELS),
                              NULL, &params));
        CHECK(c, number_of(c, job, "count") == (double)want.kept.count &&
                     number_of(c, job, "clipped") == (double)want.clipped &&
                     number_of(c, job, "iterations") == (double)want.iterations);
        CHECK(c, number_of(c, job, "low") == want.low && number_of(c, job, "high") == want.high &&
                     number_of(c, job, "std") == want.kept.std);
        CHECK(c, airy_job_get_text(job, "planes", &text) == AIRY_ERR_NOT_FOUND);
        airy_job_destroy(&job);
    }
}

/* In memory, and in a file of the same bits. */
static void check_threshold(struct check *c)
{
    if (!check_case(c, "job_threshold"))
        return;
    struct cube *cube = make_cube(c);
    const char *output = check_run_path(c, "mask.npy"), *path = write_cube(c, cube);
    for (int to_file = 0; to_file < 2; to_file++) {
        airy_host_view view = {.data = NULL};
        airy_image image = {.data = NULL};
        airy_job *job = open_job(c, "threshold", cube, to_file ? path : NULL);
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "above is missing");
        CHECK_OK(c, airy_job_set(job, "above", "250"));
        if (to_file)
            CHECK_OK(c, airy_job_set(job, "output", output));
        CHECK_OK(c, airy_job_run(job));
        CHECK(c, strstr(airy_job_summary(job), "3 x 21 x 34, uint8"));
        const airy_status there = airy_job_get_array(job, "mask", &view);
        CHECK(c, there == (to_file ? AIRY_ERR_NOT_FOUND : AIRY_OK));
        if (to_file)
            CHECK_OK(c, airy_image_read(&image, output));
        const uint8_t *mask = to_file ? image.data : view.data;
        for (size_t i = 0; mask && i < PLANES * PIXELS; i++)
            if (!CHECK(c, mask[i] == (cube->data[i] > 250)))
                break;
        airy_image_free(&image);
        airy_job_destroy(&job);
    }
}

/* Labels, counts and measures are those of airy_label for each plane, in memory and in a table. */
static void check_labels(struct check *c)
{
    if (!check_case(c, "job_label"))
        return;
    const struct cube *cube = make_cube(c);
    const size_t shape[2] = {HEIGHT, WIDTH};
    const airy_label_params params = {
        .connectivity = 8, .has_above = true, .above = 400, .min_count = 2};
    airy_host_view labels = {.data = NULL};
    const airy_table *table = NULL;
    const char *text = NULL;
    size_t row = 0;
    airy_job *job = open_job(c, "label", cube, NULL);
    CHECK_OK(c, airy_job_set(job, "above", "400"));
    CHECK_OK(c, airy_job_set(job, "connectivity", "8"));
    CHECK_OK(c, airy_job_set(job, "min-area", "2"));
    CHECK_OK(c, airy_job_set_flag(job, "each", true));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, airy_job_get_array(job, "image", &labels) == AIRY_ERR_NOT_FOUND &&
                 airy_job_get_table(job, "table", &table) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_want(job, "image"));
    CHECK_OK(c, airy_job_want(job, "table"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_get_array(job, "image", &labels));
    CHECK_OK(c, airy_job_get_table(job, "table", &table));
    CHECK_OK(c, airy_job_get_text(job, "labels", &text));
    CHECK(c, labels.dtype == AIRY_DTYPE_I32 && labels.ndim == 3 && labels.shape[0] == PLANES);
    CHECK(c, table && table->columns > 4 && strcmp(table->column[0].name, "plane") == 0 &&
                 strcmp(table->column[3].name, "sum") == 0);
    double number;
    CHECK_FAILS(c, airy_job_get_number(job, "labels", &number), AIRY_ERR_PARAM, "another kind");
    json_t *counts = json_loads(text, 0, NULL);
    for (size_t i = 0; i < PLANES && table; i++) {
        airy_array *want = check_output(c, AIRY_DTYPE_I32, 2, shape);
        airy_region *regions = NULL;
        size_t count = 0;
        CHECK_OK(c, airy_label(c->queue, want,
                               check_upload(c, AIRY_DTYPE_U16, 2, shape, cube->data + i * PIXELS),
                               &params, &count, &regions));
        CHECK(c, count > 0 && json_integer_value(json_array_get(counts, i)) == (json_int_t)count);
        check_array(c, want, (const int32_t *)labels.data + i * PIXELS, NULL);
        for (size_t k = 0; k < count && row < table->rows; k++, row++)
            CHECK(c, ((const uint32_t *)table->column[0].data)[row] == i &&
                         ((const double *)table->column[3].data)[row] == regions[k].sum);
        airy_regions_free(regions);
    }
    CHECK(c, table && row == table->rows);
    /* Of one plane there is one number. */
    CHECK_OK(c, airy_job_reset(job, "each"));
    CHECK_OK(c, airy_job_set(job, "frames", "2"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, number_of(c, job, "labels") ==
                     (double)json_integer_value(json_array_get(counts, PLANES - 1)) &&
                 number_of(c, job, "above") == 400);
    json_decref(counts);
    airy_job_destroy(&job);
}

enum { SKY = 96 };

/* Noise and some points. */
static float *make_sky(struct check *c)
{
    float *sky = check_alloc(c, SKY * SKY * sizeof(*sky));
    for (size_t i = 0; i < SKY * SKY; i++)
        sky[i] = (float)check_normal(c);
    for (size_t k = 0; k < 9; k++)
        for (size_t i = 0; i < 25; i++) {
            const double y = (double)(i / 5) - 2, x = (double)(i % 5) - 2;
            sky[(12 + 30 * (k / 3) + i / 5) * SKY + 12 + 30 * (k % 3) + i % 5] +=
                (float)(200 * exp(-(x * x + y * y) / 3));
        }
    return sky;
}

static airy_job *find_sources(struct check *c, const float *sky, const char *method)
{
    const airy_host_view view = {
        .data = sky, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {SKY, SKY}};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "sources", NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "method", method));
    CHECK_OK(c, airy_job_set_array(job, "image", &view));
    CHECK_OK(c, airy_job_want(job, "segmentation"));
    CHECK_OK(c, airy_job_want(job, "image"));
    CHECK_OK(c, airy_job_run(job));
    return job;
}

/* Both methods find what their operations find; flux is column 6 of the full one. */
static void check_sources_job(struct check *c)
{
    if (!check_case(c, "job_sources"))
        return;
    const size_t shape[2] = {SKY, SKY};
    const float *sky = make_sky(c);
    const airy_table *table = NULL;
    airy_host_view labels = {.data = NULL}, image = {.data = NULL};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, sky),
               *flat = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *level = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *noise = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *of_sources = check_output(c, AIRY_DTYPE_U32, 2, shape),
               *of_labels = check_output(c, AIRY_DTYPE_I32, 2, shape);
    airy_background *background = NULL;
    airy_background_info info;
    airy_source *sources = NULL;
    size_t count = 0;
    CHECK_OK(c, airy_background_create(&background, c->queue, src, NULL,
                                       &(airy_background_params){.mesh = {0, 0}}, &info));
    CHECK_OK(c, airy_background_subtract(c->queue, background, flat, src, noise));
    CHECK_OK(c, airy_background_map(c->queue, background, level, NULL));
    const airy_sources_params params = {.sigma = 5, .noise_map = noise, .background = level};
    CHECK_OK(c, airy_sources_find(c->queue, &sources, &count, of_sources, flat, &params));
    airy_job *job = find_sources(c, sky, "full");
    CHECK(c, count >= 9 && number_of(c, job, "sources") == (double)count);
    CHECK(c, number_of(c, job, "noise") == info.noise &&
                 number_of(c, job, "background") == info.level);
    CHECK_OK(c, airy_job_get_table(job, "catalog", &table));
    CHECK(c, table && table->rows == count && strcmp(table->column[6].name, "flux") == 0);
    for (size_t i = 0; table && i < count; i++)
        CHECK(c, ((const double *)table->column[6].data)[i] == sources[i].flux);
    CHECK_OK(c, airy_job_get_array(job, "segmentation", &labels));
    check_array(c, of_sources, labels.data, NULL);
    CHECK_OK(c, airy_job_get_array(job, "image", &image));
    CHECK(c, image.data != sky && memcmp(image.data, sky, SKY * SKY * sizeof(*sky)) == 0);
    airy_job_destroy(&job);
    airy_sources_free(sources);
    airy_background_destroy(&background);

    airy_clip_result clip;
    CHECK_OK(c, airy_clip(c->queue, &clip, src, NULL, NULL));
    const airy_label_params above = {
        .connectivity = 4, .has_above = true, .above = 5 * clip.kept.std};
    CHECK_OK(c, airy_label(c->queue, of_labels, src, &above, &count, NULL));
    job = find_sources(c, sky, "simple");
    CHECK(c, number_of(c, job, "sources") == (double)count &&
                 number_of(c, job, "threshold") == above.above);
    CHECK_OK(c, airy_job_get_array(job, "segmentation", &labels));
    check_array(c, of_labels, labels.data, NULL);
    CHECK_FAILS(c, airy_job_get_array(job, "noise_image", &image), AIRY_ERR_NOT_FOUND,
                "has not made");
    airy_job_destroy(&job);
}

/* What every such job refuses; value NULL: an array, of the mask one of another shape. */
struct refusal {
    const char *job, *name, *value;
    airy_status status;
    const char *sentence;
};

static void check_refusals(struct check *c)
{
    static const struct refusal refusals[] = {
        {"stats", "delta-dummy", "1", AIRY_ERR_PARAM, "delta-dummy goes with dummy"},
        {"stats", "histogram", "4,2", AIRY_ERR_PARAM, "histogram 4,2: expected N or N,LO,HI"},
        {"stats", "histogram", "4,2,1", AIRY_ERR_PARAM, "histogram 4,2,1: expected"},
        {"stats", "histogram", "1.5", AIRY_ERR_PARAM, "histogram 1.5: expected"},
        {"stats", "frames", "3", AIRY_ERR_PARAM, "frames 3: image has 3 frames"},
        {"stats", "channel", "high", AIRY_ERR_PARAM, "channel high: an array has no channels"},
        {"clip", "delta-dummy", "1", AIRY_ERR_PARAM, "delta-dummy goes with dummy"},
        {"clip", "mask", NULL, AIRY_ERR_SHAPE, "mask: has 2 x 34 values"},
        {"label", "delta-dummy", "1", AIRY_ERR_PARAM, "delta-dummy goes with dummy"},
        {"label", "connectivity", "5", AIRY_ERR_PARAM, "connectivity 5: expected 4 or 8, in 3-D"},
        {"label", "connectivity", "8", AIRY_ERR_UNSUPPORTED, "connectivity 8: expected 6, 18 or"},
        {"label", "table", "t.txt", AIRY_ERR_PARAM, "table t.txt: expected a name that ends in"},
        {"label", "output", "a.png", AIRY_ERR_UNSUPPORTED, "PNG holds uint8 and uint16"},
        {"label", "output", "a.cbf", AIRY_ERR_UNSUPPORTED, "CBF holds one image of 2"},
        {"sources", "mesh", "32.5", AIRY_ERR_PARAM, "mesh 32.5: expected whole numbers"},
        {"sources", "connectivity", "5", AIRY_ERR_PARAM, "connectivity 5: expected 4 or 8"},
        {"sources", "regions", "a.txt", AIRY_ERR_PARAM, "regions a.txt: expected a name that"},
        {"sources", "catalog", "a.txt", AIRY_ERR_PARAM, "catalog a.txt: expected a name that"},
        {"sources", "frame", "3", AIRY_ERR_PARAM, "frame 3: image has 3 planes"},
        {"sources", "noise", "a.cbf", AIRY_ERR_UNSUPPORTED, "CBF holds integers"},
        {"threshold", "channel", "1", AIRY_ERR_PARAM, "channel 1: an array has no channels"},
        {"threshold", "output", "a.png", AIRY_ERR_UNSUPPORTED, "PNG holds one image of 2"},
        {"threshold", "output", "a.foo", AIRY_ERR_UNSUPPORTED, "a.foo"},
        {"stats", "mask", NULL, AIRY_ERR_SHAPE, "mask: has 2 x 34 values, the image 3 x 21 x 34"},
        {"stats", "mask", "/nowhere.npy", AIRY_ERR_NOT_FOUND, "nowhere.npy"}};
    if (!check_case(c, "job_images_refused"))
        return;
    struct cube *cube = make_cube(c);
    airy_host_view other = cube->of_mask;
    airy_error error;
    other.shape[0] = 2;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        airy_job *job = open_job(c, r->job, cube, NULL);
        if (strcmp(r->job, "threshold") == 0)
            CHECK_OK(c, airy_job_set(job, "above", "1"));
        CHECK_OK(c, r->value ? airy_job_set(job, r->name, r->value)
                             : airy_job_set_array(job, r->name, &other));
        CHECK_FAILS(c, airy_job_run(job), r->status, r->sentence);
        airy_error_get(&error);
        CHECK(c, r->status == AIRY_ERR_NOT_FOUND ||
                     (error.subject == AIRY_SUBJECT_PARAMETER && strcmp(error.name, r->name) == 0));
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, "stats", cube, NULL);
    CHECK_FAILS(c, airy_job_set(job, "quantiles", "50,101"), AIRY_ERR_PARAM,
                "quantiles 50,101: expected A,B,...: one number from 0 to 100, or up");
    airy_job_destroy(&job);
}

/* One plane of a file, by its number. */
static void check_read_plane(struct check *c)
{
    if (!check_case(c, "image_read_plane"))
        return;
    struct cube *cube = make_cube(c);
    const char *path = write_cube(c, cube), *line = check_run_path(c, "line.npy");
    const airy_image one = {
        .dtype = AIRY_DTYPE_U16, .ndim = 1, .shape = {PIXELS}, .data = cube->data};
    airy_image_plane plane = {.number = 2};
    airy_image image;
    CHECK_OK(c, airy_image_read_plane(&image, &plane, path, NULL));
    CHECK(c, plane.planes == PLANES && plane.height == HEIGHT && plane.width == WIDTH);
    CHECK(c, image.data && memcmp(image.data, cube->data + (size_t)2 * PIXELS,
                                  PIXELS * sizeof(*cube->data)) == 0);
    airy_image_free(&image);
    plane.number = PLANES;
    CHECK_OK(c, airy_image_read_plane(&image, &plane, path, NULL));
    CHECK(c, !image.data && plane.planes == PLANES);
    airy_image_free(&image);
    CHECK(c, airy_image_read_plane(&image, &plane, path, "none") != AIRY_OK);
    CHECK_OK(c, airy_image_write(&one, line, true));
    plane.number = 0;
    CHECK_FAILS(c, airy_image_read_plane(&image, &plane, line, NULL), AIRY_ERR_SHAPE,
                "one dimension");
    airy_image_free(&image);
    CHECK_FAILS(c, airy_image_read_plane(NULL, &plane, path, NULL), AIRY_ERR_PARAM, "NULL");
}

/* A value of pixels may be no number. */
static void check_dummy(struct check *c)
{
    if (!check_case(c, "job_images_dummy"))
        return;
    const float data[4] = {1, NAN, 3, INFINITY};
    const airy_host_view view = {.data = data, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {2, 2}};
    char *json = NULL;
    airy_job *job = NULL, *other = NULL;
    CHECK_OK(c, airy_job_create(&job, "stats", NULL, NULL));
    CHECK_OK(c, airy_job_create(&other, "stats", NULL, NULL));
    CHECK_OK(c, airy_job_set_number(job, "dummy", (double)NAN));
    CHECK_OK(c, airy_job_get_json(job, &json));
    CHECK(c, strcmp(json, "{\"dummy\":\"nan\"}") == 0);
    CHECK_OK(c, airy_job_set_json(other, json));
    CHECK_OK(c, airy_job_set(other, "device", c->spec));
    CHECK_OK(c, airy_job_set_array(other, "image", &view));
    CHECK_OK(c, airy_job_run(other));
    CHECK(c, number_of(c, other, "masked") == 1 && number_of(c, other, "nan") == 1);
    CHECK_FAILS(c, airy_job_set_number(job, "delta-dummy", (double)NAN), AIRY_ERR_PARAM,
                "not a finite number");
    airy_job_text_free(json);
    airy_job_destroy(&job);
    airy_job_destroy(&other);
}

/* Points of an array, of a text and of a table are those of airy_sky_from_pixel, there and back. */
static void check_sky_job(struct check *c)
{
    static const char *const cards[] = {
        "CTYPE1  = 'RA---SIN'",           "CTYPE2  = 'DEC--SIN'",
        "CRVAL1  =                266.0", "CRVAL2  =                -29.0",
        "CRPIX1  =                  3.0", "CRPIX2  =                  3.0",
        "CDELT1  =               -0.01",  "CDELT2  =                0.01"};
    static const char *const bad[][2] = {{"pixels", "1,2,3"},
                                         {"pixels", "a,b"},
                                         {"radec", "1,95"},
                                         {"pixels", "-"},
                                         {"radec", "1,x"}};
    const double points[2][2] = {{0, 1}, {3.5, 2}};
    const airy_host_view view = {
        .data = points, .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {2, 2}};
    if (!AIRY_HAVE_FITS || !AIRY_HAVE_WCS || !check_case(c, "job_sky"))
        return;
    const char *path = check_run_path(c, "sky.fits"), *list = check_run_path(c, "points.csv");
    const airy_table *table = NULL;
    float pixels[25] = {0};
    airy_sky *sky = NULL;
    double ra, dec;
    airy_image image = {.dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {5, 5}, .data = pixels};
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        CHECK_OK(c, airy_image_add_card(&image, cards[i]));
    CHECK_OK(c, airy_image_write(&image, path, true));
    CHECK_OK(c, airy_sky_create(&sky, &image));
    FILE *file = fopen(list, "w");
    CHECK(c, file && fputs("name,y,x\nA,1,0\nB,2,3.5\n", file) >= 0 && fclose(file) == 0);
    for (int way = 0; way < 2; way++) {
        airy_job *job = NULL;
        CHECK_OK(c, airy_job_create(&job, "sky", NULL, NULL));
        CHECK_OK(c, airy_job_set(job, "image", path));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "pixels and radec: expected one");
        CHECK_OK(c, way ? airy_job_set(job, "pixels", list)
                        : airy_job_set_array(job, "pixels", &view));
        CHECK_OK(c, airy_job_run(job));
        CHECK_OK(c, airy_job_get_table(job, "points", &table));
        CHECK(c,
              table->rows == 2 && table->columns == 4 && strcmp(table->column[2].name, "ra") == 0);
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(c, airy_sky_from_pixel(sky, &ra, &dec, &points[i][0], &points[i][1], 1));
            CHECK(c, ((const double *)table->column[2].data)[i] == ra &&
                         ((const double *)table->column[3].data)[i] == dec);
        }
        airy_job_destroy(&job);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_job *job = NULL;
        CHECK_OK(c, airy_job_create(&job, "sky", NULL, NULL));
        CHECK_OK(c, airy_job_set(job, "image", "nowhere.fits"));
        CHECK_OK(c, airy_job_set(job, bad[i][0], bad[i][1]));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, bad[i][1]);
        airy_job_destroy(&job);
    }
    image.data = NULL;
    airy_image_free(&image);
    airy_sky_destroy(&sky);
}

/* Parts of jobs that are functions of their own refuse what is not there. */
static void check_parts(struct check *c)
{
    if (!check_case(c, "job_parts_null"))
        return;
    airy_configuration_change change;
    airy_result_info info;
    airy_geometry geometry = {.dist = 0};
    airy_pixels pixels = {.mask = NULL};
    const airy_geometry_params given = {.dist = 1};
    CHECK_FAILS(c, airy_configuration_compare(NULL, "{}", "{}"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_configuration_compare(&change, NULL, "{}"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_resume_check("a.h5", "{}", NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_resume_check(NULL, "{}", &change, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_resume_complete(NULL, "{}", &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_resume_complete("a.h5", "{}", NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_geometry_resolve(NULL, &given, NULL, 1, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_geometry_resolve(&geometry, NULL, NULL, 1, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_geometry_override(&geometry, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_geometry_fit(NULL, 1, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_pixels_load(&pixels, NULL, NULL, 1, 1), AIRY_ERR_PARAM, "NULL");
    airy_pixels_free(NULL);
}

void check_job_images(struct check *c)
{
    check_parts(c);
    check_stats_one(c);
    check_stats_planes(c);
    check_stats_plane_of_image(c);
    check_stats_wide(c);
    check_clip(c);
    check_threshold(c);
    check_labels(c);
    check_sources_job(c);
    check_sky_job(c);
    check_refusals(c);
    check_dummy(c);
    check_read_plane(c);
}
