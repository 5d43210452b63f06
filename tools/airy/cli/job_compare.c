/* --compare A,B of a command that is a job: the job on two devices, and how far its results lie apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/distance.h"
#include "cli/job_command.h"

enum { RUNS = 2 }; /* devices */

/* A run on one of the devices. */
struct compared {
    char spec[256];
    airy_job *job;                 /* with its results; of the first device the command's own */
    double seconds[2], sums[2][2]; /* of the first and the second run; kernels and copies so far */
};

struct pair {
    struct job_params *params;
    char *values; /* JSON of the command's parameters but its outputs */
    struct compared runs[RUNS];
};

static airy_status read_values(struct pair *p)
{
    const airy_parameter *parameter;
    char *text = NULL;
    airy_status status = airy_job_get_json(p->params->job, &text);
    json_t *values = status == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    airy_job_text_free(text);
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->params->common.command->job, i)); i++)
        if (parameter->role == AIRY_ROLE_WRITTEN)
            json_object_del(values, parameter->name);
    p->values = json_dumps(values, JSON_REAL_PRECISION(17));
    json_decref(values);
    return status == AIRY_OK && !p->values ? AIRY_ERR_MEMORY : status;
}

/* The device of a run, and in memory what the command writes. */
static airy_status prepare(const struct pair *p, airy_job *job, const char *spec)
{
    const struct common *c = &p->params->common;
    const airy_job_result *result;
    airy_status status = airy_job_set(job, "device", spec);
    if (status == AIRY_OK && !c->profile)
        status = airy_job_set_flag(job, "profile", true);
    for (size_t i = 0; status == AIRY_OK && (result = airy_job_result_at(c->command->job, i)); i++)
        if (result->parameter && job_output(p->params, result->parameter))
            status = airy_job_want(job, result->name);
    return status;
}

static airy_status make_job(const struct pair *p, airy_job **job, const char *spec)
{
    airy_status status = job_create(p->params, p->params->common.command->job, job);
    if (status == AIRY_OK)
        status = prepare(p, *job, spec);
    return status == AIRY_OK ? airy_job_set_json(*job, p->values) : status;
}

/* Run a job for the first or the second time on its device. */
static airy_status run_once(struct compared *run, airy_job *job, int time)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    const airy_status status = airy_job_run(job);
    const airy_device *device = airy_job_device(job);
    run->seconds[time] = airy_job_seconds(job);
    if (status >= AIRY_OK && device && airy_profile_get(device, &rows, &count) != AIRY_OK)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        run->sums[time][rows[i].transfer ? 1 : 0] += rows[i].total * 1e-3;
    airy_profile_free(rows);
    return status;
}

/* Twice, because kernels are loaded the first time. own: with the outputs and messages of the command. */
static airy_status run_device(struct pair *p, struct compared *run, bool own)
{
    airy_job *first = NULL;
    const airy_log_fn message = p->params->message;
    p->params->message = NULL;
    airy_status status = make_job(p, &first, run->spec);
    if (status == AIRY_OK)
        status = run_once(run, first, 0);
    airy_job_destroy(&first);
    if (own)
        p->params->message = message;
    if (status >= AIRY_OK)
        status = own ? prepare(p, run->job = p->params->job, run->spec)
                     : make_job(p, &run->job, run->spec);
    if (status >= AIRY_OK)
        status = run_once(run, run->job, 1);
    p->params->message = message;
    return status;
}

static void add_arrays(struct distance *d, const airy_host_view *a, const airy_host_view *b)
{
    size_t count = 1;
    bool alike = a->dtype == b->dtype && a->ndim == b->ndim;
    for (int i = 0; i < a->ndim && alike; i++) {
        alike = a->shape[i] == b->shape[i];
        count *= a->shape[i];
    }
    const airy_image left = {.dtype = a->dtype, .data = (void *)a->data},
                     right = {.dtype = b->dtype, .data = (void *)b->data};
    for (size_t i = 0; i < count && alike; i++) {
        const double x = airy_image_value(&left, i), y = airy_image_value(&right, i);
        distance_add(d, x, y, ulp_distance(a->dtype, x, y));
    }
    if (!alike) /* nothing of the one has a partner */
        distance_add(d, (double)NAN, (double)NAN, (double)INFINITY);
}

static double cell(const airy_column *column, size_t row)
{
    const size_t step = column->step ? column->step : airy_dtype_size(column->dtype);
    const airy_image one = {.dtype = column->dtype,
                            .data = (char *)(void *)column->data + row * step};
    return airy_image_value(&one, 0);
}

/* Row by row; rows without a partner differ. */
static void add_tables(struct distance *d, const airy_table *a, const airy_table *b)
{
    const size_t rows = a->rows > b->rows ? a->rows : b->rows;
    d->rows[0] = a->rows;
    d->rows[1] = b->rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < a->columns && k < b->columns; k++) {
            const bool both = i < a->rows && i < b->rows;
            const double x = both ? cell(&a->column[k], i) : (double)NAN,
                         y = both ? cell(&b->column[k], i) : (double)NAN;
            distance_add(d, x, y, both ? ulp_distance(a->column[k].dtype, x, y) : (double)INFINITY);
        }
}

static json_t *results_of(const airy_job *job)
{
    char *text = NULL;
    json_t *json = airy_job_results_json(job, &text) == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    airy_job_text_free(text);
    return json;
}

/* One result; false: it is of a kind that is compared elsewhere, or was not made. */
static bool compare_result(const struct pair *p, const airy_job_result *result, const char *name,
                           struct distance *d)
{
    airy_host_view views[RUNS];
    const airy_table *tables[RUNS];
    const airy_job *a = p->runs[0].job, *b = p->runs[1].job;
    if (result->kind == AIRY_JOB_ARRAY &&
        airy_job_get_array(a, result->name, &views[0]) == AIRY_OK &&
        airy_job_get_array(b, result->name, &views[1]) == AIRY_OK) {
        add_arrays(d, &views[0], &views[1]);
        return true;
    }
    if (result->kind != AIRY_JOB_TABLE ||
        airy_job_get_table(a, result->name, &tables[0]) != AIRY_OK ||
        airy_job_get_table(b, result->name, &tables[1]) != AIRY_OK)
        return false;
    add_tables(d, tables[0], tables[1]);
    if (d->rows[0] != d->rows[1])
        tool_say(&p->params->common, "%s: the number of rows differs, %zu on %s and %zu on %s",
                 name, d->rows[0], p->runs[0].spec, d->rows[1], p->runs[1].spec);
    return true;
}

static json_t *compare_results(const struct pair *p, json_t *answer, json_t *other,
                               struct distance *largest)
{
    const airy_job_result *result;
    struct distance all = {.values = 0};
    json_t *list = json_array();
    distance_add_json(&all, answer, other);
    if (all.values)
        json_array_append_new(list, distance_json("answer", &all));
    *largest = all;
    for (size_t i = 0; (result = airy_job_result_at(p->params->common.command->job, i)); i++) {
        const char *path = result->parameter ? job_output(p->params, result->parameter) : NULL;
        struct distance d = {.values = 0};
        if (!path || !compare_result(p, result, path, &d))
            continue;
        largest->ulp = fmax(largest->ulp, d.ulp);
        largest->relative = fmax(largest->relative, d.relative);
        json_array_append_new(list, distance_json(path, &d));
    }
    return list;
}

static json_t *run_json(const struct compared *run)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "device", run->spec, "seconds",
                     tool_json_number(run->seconds[1]), "first_seconds",
                     tool_json_number(run->seconds[0]), "kernel_seconds",
                     tool_json_number(run->sums[1][0] - run->sums[0][0]), "copy_seconds",
                     tool_json_number(run->sums[1][1] - run->sums[0][1]));
}

static int print_comparison(const struct pair *p)
{
    struct distance largest;
    json_t *answer = results_of(p->runs[0].job), *other = results_of(p->runs[1].job),
           *results = compare_results(p, answer, other, &largest);
    json_decref(other);
    json_object_set_new(answer, "compare",
                        json_pack("{s:[o, o], s:o, s:o, s:o}", "devices", run_json(&p->runs[0]),
                                  run_json(&p->runs[1]), "results", results, "ulp",
                                  tool_json_number(largest.ulp), "relative",
                                  tool_json_number(largest.relative)));
    return tool_print_json(&p->params->common, answer);
}

static bool is_pipe(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 || (stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
}

int job_compare_check(const struct common *common)
{
    const char *text = common->compare, *comma = strchr(text, ',');
    if (common->device)
        return tool_usage(common, "--device and --compare exclude each other");
    if (!comma || comma == text || !comma[1] || strchr(comma + 1, ',') ||
        strlen(text) >= sizeof(((struct compared *)NULL)->spec))
        return tool_usage(common, "--compare %s: expected two devices as A,B", text);
    for (size_t i = 0; i < common->inputs.count; i++)
        if (!job_is_written(common, i) && is_pipe(common->inputs.items[i]))
            return tool_usage(common, "--compare reads '%s' several times, and a pipe comes once",
                              common->inputs.items[i]);
    return AIRY_EXIT_OK;
}

/* The first device comes last, so that files are written when nothing else can fail. */
airy_status job_compare(struct job_params *params, int *code)
{
    struct pair p = {.params = params};
    const char *text = params->common.compare, *comma = strchr(text, ',');
    snprintf(p.runs[0].spec, sizeof(p.runs[0].spec), "%.*s", (int)(comma - text), text);
    snprintf(p.runs[1].spec, sizeof(p.runs[1].spec), "%s", comma + 1);
    airy_status status = read_values(&p);
    bool partly = false;
    for (int run = RUNS - 1; run >= 0 && status >= AIRY_OK; run--) {
        status = run_device(&p, &p.runs[run], run == 0);
        partly |= status == AIRY_PARTLY;
    }
    if (status >= AIRY_OK)
        *code = print_comparison(&p);
    airy_job_destroy(&p.runs[1].job);
    free(p.values);
    return status == AIRY_OK && partly ? AIRY_PARTLY : status;
}
