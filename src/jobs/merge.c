/* Patterns of several results as one result, from their sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/pipeline.h"
#include "airy/provenance.h"
#include "jobs/groups.h"
#include "jobs/merge_overlap.h"
#include "pipeline/merge_input.h"
#include "pipeline/merge_patterns.h"

struct values {
    struct airy_job_list results;
    bool average, sum;
    size_t rebin;
    double empty;
    struct airy_output_values output;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(results, .name = "results", .type = AIRY_PARAMETER_PATH, .list = true,
        .role = AIRY_ROLE_INPUT, .argument = "RESULT.h5", .help = "files with patterns"),
    ROW(output.output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT.h5",
        .help = "writes the result into this file, laid out as those of 'airy integrate'",
        .section = "Result"),
    ROW(average, .name = "average", .type = AIRY_PARAMETER_FLAG,
        .help = "joins all patterns to one, their weighted mean"),
    ROW(sum, .name = "sum", .type = AIRY_PARAMETER_FLAG,
        .help = "joins all patterns to one, that of the sum of the frames"),
    ROW(rebin, .name = "rebin", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1000000,
        .argument = "K", .fallback = "1",
        .help = "joins K neighbouring bins of the radius to one; bins left over at the upper end "
                "are dropped"),
    ROW(empty, .name = "empty", .type = AIRY_PARAMETER_REAL, .any = true, .argument = "V",
        .fallback = "nan", .help = "sets the value of bins without pixels"),
    ROW(output.force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"files", AIRY_JOB_NUMBER, NULL, "results that were read"},
    {"rows", AIRY_JOB_NUMBER, NULL, "their patterns"},
    {"bad", AIRY_JOB_NUMBER, NULL, "of these the bad ones, which are left out or stay NaN"},
    {"written", AIRY_JOB_NUMBER, NULL, "patterns of the result"},
    {"bins", AIRY_JOB_NUMBER, NULL, "of the radius"},
    {"unit", AIRY_JOB_TEXT, NULL, "of arrays: the unit of the radial axis, such as q_nm^-1"},
    {"azimuth_unit", AIRY_JOB_TEXT, NULL,
     "of arrays of two dimensions: the unit of the second axis"},
    {"intensity", AIRY_JOB_ARRAY, NULL,
     "[written, bins] or [written, azimuth, bins], float32; arrays are kept where no output is "
     "named, or the intensity is wanted"},
    {"std", AIRY_JOB_ARRAY, NULL, "standard deviation of a pixel, like intensity; with variances"},
    {"sem", AIRY_JOB_ARRAY, NULL, "standard error of the intensity, like it; with variances"},
    {"radial", AIRY_JOB_ARRAY, NULL, "[bins], float64: centres of the bins"},
    {"azimuth", AIRY_JOB_ARRAY, NULL, "[azimuth], float64: centres; in two dimensions"},
    {"index", AIRY_JOB_ARRAY, NULL,
     "[written], uint64: frame numbers; a joined pattern has the first"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct merging {
    airy_job *job;
    const struct values *v;
    const char *const *paths;
    json_t *of; /* the configuration of the inputs */
    char *text; /* and of the result */
    airy_patterns_params params;
    struct airy_merged merged;
};

/* What was merged once has the configuration of its first input. */
static airy_status read_configuration(struct merging *m)
{
    struct merge_input input;
    char *text = NULL;
    airy_status status = airy_merge_input_open(&input, m->paths[0]);
    if (status == AIRY_OK)
        status = airy_result_get_text(input.result, "configuration", &text);
    airy_merge_input_close(&input);
    AIRY_TRY(status);
    m->of = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    AIRY_FAIL_ON_IF(!json_is_object(m->of), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: its configuration is not one of this program", m->paths[0]);
    json_t *first = json_incref(json_object_get(m->of, "of"));
    if (first) {
        json_decref(m->of);
        m->of = first;
    }
    return AIRY_OK;
}

/* The configuration of the result. */
static airy_status describe(struct merging *m)
{
    const struct values *v = m->v;
    json_t *inputs = json_array(), *json = NULL;
    airy_status status;
    for (size_t i = 0; i < v->results.count; i++) {
        char *text = NULL;
        AIRY_TRY_OR(out, airy_file_identify(&text, m->paths[i]));
        json_array_append_new(inputs, json_loads(text, 0, NULL));
        free(text);
    }
    json = json_pack("{s:s, s:s, s:s, s:O, s:s, s:I, s:O}", "program", "airy", "version",
                     airy_version(), "command", "merge", "inputs", inputs, "rows",
                     v->average ? "average"
                     : v->sum   ? "sum"
                                : "all",
                     "rebin", (json_int_t)v->rebin, "of", m->of);
    m->text = json && json_array_size(inputs) == v->results.count
                  ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17))
                  : NULL;
    status = m->text ? AIRY_OK : airy_fail(AIRY_ERR_MEMORY, "out of memory for the configuration");
    airy_json_shorten(m->text);
out:
    json_decref(inputs);
    json_decref(json);
    return status;
}

/* Hand over an array of these axes, the job's from then on, which may be NULL. */
static void put_array(airy_job *job, const char *name, airy_dtype dtype, const size_t shape[3],
                      void *data)
{
    airy_host_view view = {.dtype = dtype};
    for (int i = 0; i < 3; i++)
        if (shape[i])
            view.shape[view.ndim++] = shape[i];
    if (data)
        airy_job_put_array(job, name, &view, data);
}

static airy_status put_arrays(struct merging *m)
{
    static const char *const names[AIRY_MERGED_PLANES] = {"intensity", "std", "sem"};
    struct airy_merged *r = &m->merged;
    const size_t shape[3] = {r->rows, r->azimuth_bins, r->bins};
    AIRY_TRY(airy_job_put_text(m->job, "unit", airy_unit_name(r->unit)));
    if (r->azimuth)
        AIRY_TRY(airy_job_put_text(m->job, "azimuth_unit", airy_unit_name(r->azimuth_unit)));
    for (int k = 0; k < AIRY_MERGED_PLANES; k++)
        put_array(m->job, names[k], AIRY_DTYPE_F32, shape, r->values[k]);
    put_array(m->job, "radial", AIRY_DTYPE_F64, (size_t[3]){r->bins}, r->radial);
    put_array(m->job, "azimuth", AIRY_DTYPE_F64, (size_t[3]){r->azimuth_bins}, r->azimuth);
    put_array(m->job, "index", AIRY_DTYPE_U64, (size_t[3]){r->rows}, r->index);
    *r = (struct airy_merged){.rows = 0};
    return AIRY_OK;
}

static void put_numbers(const struct merging *m, const airy_patterns_info *info)
{
    airy_job *job = m->job;
    const size_t files = m->v->results.count;
    char bad[64] = "";
    airy_job_put_number(job, "files", (double)files);
    airy_job_put_number(job, "rows", (double)info->rows);
    airy_job_put_number(job, "bad", (double)info->bad);
    airy_job_put_number(job, "written", (double)info->written);
    airy_job_put_number(job, "bins", (double)info->bins);
    if (info->bad)
        snprintf(bad, sizeof(bad), ", %zu of them bad", info->bad);
    airy_job_sum_up(job, "%zu pattern%s of %zu file%s%s, as %zu of %zu bins", info->rows,
                    info->rows == 1 ? "" : "s", files, files == 1 ? "" : "s", bad, info->written,
                    info->bins);
}

static airy_status run(airy_job *job, void *state)
{
    struct merging *m = state;
    const struct values *v = job->values;
    const char *output = v->output.output, *model;
    const bool keeps = !output || airy_job_is_wanted(job, "intensity");
    airy_patterns_info info;
    *m = (struct merging){.job = job,
                          .v = v,
                          .paths = (const char *const *)v->results.items,
                          .params = {.join = v->average || v->sum,
                                     .merge = v->sum ? AIRY_MERGE_SUM : AIRY_MERGE_AVERAGE,
                                     .rebin = v->rebin,
                                     .has_empty = airy_job_is_set(job, "empty"),
                                     .empty = v->empty,
                                     .force = v->output.force,
                                     .progress = airy_job_step,
                                     .user = job}};
    AIRY_TRY(read_configuration(m));
    AIRY_TRY(describe(m));
    m->params.configuration = m->text;
    if ((model = json_string_value(json_object_get(m->of, "error_model"))) != NULL)
        AIRY_TRY(airy_error_model_parse(&m->params.model, model));
    if (output)
        AIRY_TRY(airy_job_put_text(job, "output", output));
    AIRY_TRY(airy_patterns_merge_into(keeps ? &m->merged : NULL, output, m->paths, v->results.count,
                                      &m->params, &info));
    if (v->results.count > 1)
        airy_job_warn_overlap(job, m->paths, v->results.count);
    put_numbers(m, &info);
    if (keeps)
        AIRY_TRY(put_arrays(m));
    return info.bad ? AIRY_PARTLY : AIRY_OK;
}

static void close_merging(void *state)
{
    struct merging *m = state;
    json_decref(m->of);
    free(m->text);
    airy_merged_free(&m->merged);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(v->average && v->sum, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and sum: give one of them", "average");
    return v->output.output ? airy_job_check_output(&v->output) : AIRY_OK;
}

extern const struct airy_job_kind airy_job_merge;
const struct airy_job_kind airy_job_merge = {
    .name = "merge",
    .summary = "patterns of several runs as one file, or as one pattern",
    .details = "Results of 'airy integrate' with the same geometry, corrections and axes. Their "
               "sums are added, so that nothing is lost: the average of two halves of a run is "
               "that of the whole run. Without average and sum all rows follow one another.",
    .groups = {{rows, 0}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct merging),
    .check = check,
    .run = run,
    .close = close_merging,
};
