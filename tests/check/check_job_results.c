/* Jobs on results: merge beside airy_patterns_merge; bad values. */
#include <stdlib.h>
#include <string.h>

#include "airy/error.h"
#include "airy/job.h"
#include "airy/pipeline.h"
#include "airy/result.h"
#include "check_pipeline.h"

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
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "stopped after 2 of 6 rows");
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
        {VALUES("results", a, "output", "x.png"), AIRY_ERR_PARAM, AIRY_SUBJECT_NONE, "",
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

void check_job_results(struct check *c)
{
    check_merge_memory(c);
    check_merge_bad(c);
}
