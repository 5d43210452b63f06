/* Jobs on results: merge beside airy_patterns_merge, what diff finds; bad values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/error.h"
#include "airy/image.h"
#include "airy/job.h"
#include "airy/pipeline.h"
#include "airy/result.h"
#include "check_pipeline.h"
#include "check_stack.h"

enum { FRAMES = 6, MOST = 2 * FRAMES * RUN_BINS };

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Names and texts in turn, NULL behind them. */
static airy_job *open_job(struct check *c, const char *name, const char *const *values)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, name, NULL, NULL));
    for (; *values; values += 2)
        CHECK_OK(c, airy_job_set(job, values[0], values[1]));
    return job;
}

/* What the run of a job must refuse. */
struct refused {
    const char *const *values;
    airy_status status;
    airy_subject subject;
    const char *name, *sentence;
};

static void check_refused(struct check *c, const char *name, const struct refused *bad,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        airy_error error;
        airy_job *job = open_job(c, name, bad[i].values);
        CHECK_FAILS(c, airy_job_run(job), bad[i].status, bad[i].sentence);
        airy_error_get(&error);
        CHECK(c, error.subject == bad[i].subject &&
                     (!bad[i].name || strcmp(error.name, bad[i].name) == 0));
        airy_job_destroy(&job);
    }
}

/* Patterns of frames `first` to the end of a stack of these pixels. */
static const char *make_result(struct check *c, const uint32_t *pixels, const char *name,
                               size_t first, airy_error_model model)
{
    const char *path = check_run_path(c, "frames.h5"), *to = check_run_path(c, name);
    airy_stack *stack = NULL;
    airy_integrator *it = check_run_integrator(c, c->device, model);
    check_run_stack(c, path, pixels, FRAMES, FRAMES, SOUND);
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_OK(c, airy_integrate_stack(to, stack, &it, 1, &(airy_run_params){.first = first}, NULL));
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&it);
    return to;
}

/* An array of the job is a plane of the result. */
static void check_plane(struct check *c, const airy_job *job, const char *name, airy_result *result,
                        const char *plane, int ndim, size_t rows)
{
    airy_host_view view;
    float want[MOST];
    if (!CHECK_OK(c, airy_job_get_array(job, name, &view)))
        return;
    CHECK(c, view.ndim == ndim && view.shape[0] == rows && view.dtype == AIRY_DTYPE_F32);
    CHECK(c, ndim == 1 || view.shape[1] == RUN_BINS);
    CHECK_OK(c, airy_result_read(result, plane, 0, rows, AIRY_DTYPE_F32, want, sizeof(want)));
    CHECK(c, memcmp(view.data, want, rows * RUN_BINS * sizeof(float)) == 0);
}

static void check_merged(struct check *c, airy_job *job, const char *path, size_t rows)
{
    static const char *const planes[3][2] = {
        {"intensity", "result/intensity"}, {"std", "result/std"}, {"sem", "result/sem"}};
    airy_host_view view;
    airy_result *result = NULL;
    airy_result_axis axis;
    const char *unit = "";
    if (!CHECK_OK(c, airy_job_run(job)) || !CHECK_OK(c, airy_result_open(&result, path)))
        return;
    for (size_t i = 0; i < 3; i++)
        check_plane(c, job, planes[i][0], result, planes[i][1], 2, rows);
    CHECK_OK(c, airy_result_get_axis(result, 0, &axis));
    if (CHECK_OK(c, airy_job_get_array(job, "radial", &view)))
        CHECK(c, view.dtype == AIRY_DTYPE_F64 && view.ndim == 1 && view.shape[0] == RUN_BINS &&
                     memcmp(view.data, axis.values, RUN_BINS * sizeof(double)) == 0);
    CHECK_OK(c, airy_job_get_text(job, "unit", &unit));
    CHECK(c, strcmp(unit, axis.unit_name) == 0);
    uint64_t index[2 * FRAMES];
    CHECK_OK(
        c, airy_result_read(result, "frame/index", 0, rows, AIRY_DTYPE_U64, index, sizeof(index)));
    if (CHECK_OK(c, airy_job_get_array(job, "index", &view)))
        CHECK(c, view.shape[0] == rows && memcmp(view.data, index, rows * sizeof(*index)) == 0);
    CHECK(c, airy_job_get_array(job, "azimuth", &view) == AIRY_ERR_NOT_FOUND);
    airy_result_close(&result);
}

static bool stop_soon(void *user, size_t done, size_t total)
{
    (void)user;
    (void)total;
    return done < 2;
}

/* Into memory, into both, and joined. */
static void check_merge_memory(struct check *c)
{
    if (!check_case(c, "job_merge"))
        return;
    uint32_t *pixels = check_run_frames(c, FRAMES);
    const char *parts[2] = {make_result(c, pixels, "a.h5", 0, AIRY_ERROR_MODEL_POISSON),
                            make_result(c, pixels, "b.h5", 4, AIRY_ERROR_MODEL_POISSON)},
               *path = check_run_path(c, "want.h5"), *joined = check_run_path(c, "joined.h5"),
               *output = check_run_path(c, "out.h5");
    const airy_patterns_params sum = {
        .join = true, .merge = AIRY_MERGE_SUM, .model = AIRY_ERROR_MODEL_POISSON};
    CHECK_OK(c, airy_patterns_merge(path, parts, 2, NULL, NULL));
    CHECK_OK(c, airy_patterns_merge(joined, parts, 2, &sum, NULL));
    airy_job *job = open_job(c, "merge", VALUES("results", parts[0], "results", parts[1]));
    check_merged(c, job, path, FRAMES + 2);
    double rows = 0;
    CHECK_OK(c, airy_job_get_number(job, "rows", &rows));
    CHECK(c, rows == FRAMES + 2);
    CHECK(c, strstr(airy_job_summary(job), "8 patterns of 2 files, as 8 of 50 bins") != NULL);
    airy_job_destroy(&job);
    job = open_job(c, "merge",
                   VALUES("results", parts[0], "results", parts[1], "sum", "on", "output", output));
    CHECK_OK(c, airy_job_want(job, "intensity"));
    check_merged(c, job, joined, 1);
    check_run_same(c, output, joined);
    airy_job_destroy(&job);
    const airy_job_hooks hooks = {.progress = stop_soon};
    CHECK_OK(c, airy_job_create(&job, "merge", NULL, &hooks));
    CHECK_OK(c, airy_job_set(job, "results", parts[0]));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled after 2 of 6 rows");
    airy_job_destroy(&job);
}

static void check_merge_bad(struct check *c)
{
    if (!check_case(c, "job_merge_bad"))
        return;
    uint32_t *pixels = check_run_frames(c, FRAMES);
    const char *a = make_result(c, pixels, "a.h5", 0, AIRY_ERROR_MODEL_POISSON),
               *b = make_result(c, pixels, "b.h5", 4, AIRY_ERROR_MODEL_NONE),
               *frames = check_run_path(c, "frames.h5");
    check_run_stack(c, frames, pixels, FRAMES, FRAMES, SOUND);
    const struct refused bad[] = {
        {VALUES("average", "on"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "results",
         "results is missing"},
        {VALUES("results", a, "average", "on", "sum", "on"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
         "average", "average and sum: give one of them"},
        {VALUES("results", a, "output", "x.png"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "output",
         "output 'x.png': expected a name that ends in .h5"},
        {VALUES("results", a, "rebin", "51"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "rebin",
         "rebin = 51, expected 1 to 50, the bins of the inputs"},
        {VALUES("results", a, "results", b), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, b, "variances"},
        {VALUES("results", "/nowhere.h5"), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "/nowhere.h5",
         "/nowhere.h5"},
        {VALUES("results", frames), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, frames,
         "holds frames: integrate makes patterns of them"},
    };
    check_refused(c, "merge", bad, sizeof(bad) / sizeof(bad[0]));
}

/* What diff reported, a line each. */
static void keep_message(void *user, airy_log_level level, const char *text)
{
    char *lines = user;
    if (level == AIRY_LOG_INFO)
        snprintf(lines + strlen(lines), 1024 - strlen(lines), "%s\n", text);
}

static void expect_diff(struct check *c, airy_job *job, const char *lines, const char *want,
                        const char *json)
{
    char *got = NULL;
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_results_json(job, &got));
    CHECK(c, strcmp(lines, want) == 0);
    CHECK(c, got && strstr(got, json) != NULL);
    airy_job_text_free(got);
    airy_job_destroy(&job);
}

/* Arrays, a file and an array, columns of text, results. */
static void check_diff(struct check *c)
{
    if (!check_case(c, "job_diff"))
        return;
    char lines[1024] = "";
    const airy_job_hooks hooks = {.message = keep_message, .user = lines};
    const uint64_t a[2][3] = {{1, 2, UINT64_MAX - 1}, {4, 5, 6}},
                   b[2][3] = {{1, 2, UINT64_MAX}, {4, 7, 6}};
    const airy_host_view left = {.data = a, .dtype = AIRY_DTYPE_U64, .ndim = 2, .shape = {2, 3}},
                         right = {.data = b, .dtype = AIRY_DTYPE_U64, .ndim = 2, .shape = {2, 3}};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "diff", NULL, &hooks));
    CHECK_OK(c, airy_job_set_array(job, "a", &left));
    CHECK_OK(c, airy_job_set_array(job, "b", &right));
    expect_diff(c, job, lines, "image: 2 of 6 elements differ, worst at [1, 1]: 5 and 7\n",
                "{\"equal\":false,\"datasets\":[{\"name\":\"image\",\"equal\":false,\"elements\":6,"
                "\"different\":2,\"worst\":\"1, 1\",\"a\":5,\"b\":7}]}");
    const char *npy = check_run_path(c, "b.npy");
    const airy_image image = {
        .dtype = AIRY_DTYPE_U64, .ndim = 2, .shape = {2, 3}, .data = (void *)b};
    CHECK_OK(c, airy_image_write(&image, npy, false));
    CHECK_OK(c, airy_job_create(&job, "diff", NULL, &hooks));
    CHECK_OK(c, airy_job_set_array(job, "a", &left));
    CHECK_OK(c, airy_job_set(job, "b", npy));
    CHECK_OK(c, airy_job_set(job, "atol", "1"));
    lines[0] = 0;
    expect_diff(c, job, lines, "image: 1 of 6 elements differ, worst at [1, 1]: 5 and 7\n",
                "\"different\":1,");
    uint32_t *pixels = check_run_frames(c, FRAMES);
    const char *one = make_result(c, pixels, "a.h5", 0, AIRY_ERROR_MODEL_NONE),
               *other = make_result(c, pixels, "b.h5", 0, AIRY_ERROR_MODEL_NONE);
    CHECK_OK(c, airy_job_create(&job, "diff", NULL, &hooks));
    CHECK_OK(c, airy_job_set(job, "a", one));
    CHECK_OK(c, airy_job_set(job, "b", other));
    lines[0] = 0;
    expect_diff(c, job, lines,
                "/entry/integrate/merged/count: equal, 50 elements\n"
                "/entry/integrate/merged/sum_normalization: equal, 50 elements\n"
                "/entry/integrate/merged/sum_normalization2: equal, 50 elements\n"
                "/entry/integrate/merged/sum_signal: equal, 300 elements\n"
                "/entry/integrate/result/intensity: equal, 300 elements\n"
                "/entry/integrate/result/radial: equal, 50 elements\n",
                "{\"equal\":true,");
}

static void check_diff_bad(struct check *c)
{
    if (!check_case(c, "job_diff_bad"))
        return;
    uint32_t *pixels = check_run_frames(c, FRAMES);
    const char *a = make_result(c, pixels, "a.h5", 0, AIRY_ERROR_MODEL_POISSON),
               *b = make_result(c, pixels, "b.h5", 0, AIRY_ERROR_MODEL_NONE),
               *text = stack_spill(c, "words.csv", "x,y\n1,bright\n", 13),
               *short_text = stack_spill(c, "short.csv", "x,y\n1\n", 6),
               *good = stack_spill(c, "good.csv", "x,z\n1,nan\n", 10);
    const struct refused bad[] = {
        {VALUES("a", a), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "b", "b is missing"},
        {VALUES("a", a, "b", b), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, b,
         "lacks dataset /entry/integrate/merged/sum_variance and 2 more that"},
        {VALUES("a", a, "b", "/none.h5"), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "/none.h5", ""},
        {VALUES("a", a, "b", b, "dataset", "/none"), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_DATASET, NULL,
         "/none"},
        {VALUES("a", good, "b", text), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, text,
         "line 2, column y: 'bright' is not a number"},
        {VALUES("a", short_text, "b", good), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, short_text,
         "line 2: it has 1 column, expected 2"},
    };
    check_refused(c, "diff", bad, sizeof(bad) / sizeof(bad[0]));
    const uint8_t pixel[1] = {0};
    airy_job *job = open_job(c, "diff", VALUES("b", b, "dataset", "/x"));
    CHECK_OK(c, airy_job_set_array(
                    job, "a",
                    &(airy_host_view){
                        .data = pixel, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {1, 1}}));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "dataset /x: an array has no datasets");
    airy_job_destroy(&job);
}

void check_job_results(struct check *c)
{
    check_diff(c);
    check_diff_bad(c);
    check_merge_memory(c);
    check_merge_bad(c);
}
