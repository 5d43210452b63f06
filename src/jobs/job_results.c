/* What a run of a job has made. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/word.h"
#include "jobs/job.h"

enum { NOT_THERE = -1 };

static int find_result(const airy_job *job, const char *name)
{
    for (int i = 0; job->kind->results[i].name; i++)
        if (strcmp(job->kind->results[i].name, name) == 0)
            return i;
    return NOT_THERE;
}

static struct airy_job_made *made_of(airy_job *job, const char *result)
{
    const int at = find_result(job, result);
    assert(at != NOT_THERE);
    /* The last place is that of no result. */
    struct airy_job_made *made = &job->made[at == NOT_THERE ? AIRY_JOB_RESULTS - 1 : at];
    free(made->text); /* of what a run puts again while it goes on */
    free(made->data);
    *made = (struct airy_job_made){.is_there = true};
    return made;
}

void airy_job_put_array(airy_job *job, const char *result, const airy_host_view *view, void *data)
{
    struct airy_job_made *made = made_of(job, result);
    made->view = *view;
    made->view.data = made->data = data;
}

void airy_job_put_numbers(airy_job *job, const char *result, const double *values, size_t count)
{
    struct airy_job_made *made = made_of(job, result);
    made->count = count < AIRY_JOB_NUMBERS_MOST ? count : AIRY_JOB_NUMBERS_MOST;
    memcpy(made->numbers, values, made->count * sizeof(*values));
}

void airy_job_put_number(airy_job *job, const char *result, double value)
{
    airy_job_put_numbers(job, result, &value, 1);
}

void airy_job_put_shape(airy_job *job, const char *result, const size_t *shape, int ndim)
{
    double lengths[AIRY_MAX_DIMS];
    for (int i = 0; i < ndim; i++)
        lengths[i] = (double)shape[i];
    airy_job_put_numbers(job, result, lengths, (size_t)ndim);
}

airy_status airy_job_put_text(airy_job *job, const char *result, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    AIRY_FAIL_IF(text && !copy, AIRY_ERR_MEMORY, "out of memory for a text");
    made_of(job, result)->text = copy;
    return AIRY_OK;
}

/* A number has its value beside its JSON, and a count of 1; digits of 64 bits are a string. */
airy_status airy_job_put_json(airy_job *job, const char *result, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY)
                      : NULL;
    const double number = json_is_string(json) ? strtod(json_string_value(json), NULL)
                                               : json_number_value(json);
    const bool is_number = json_is_number(json);
    const double value = is_number || json_is_string(json) ? number : (double)NAN;
    json_decref(json);
    AIRY_FAIL_IF(!text, AIRY_ERR_MEMORY, "out of memory for JSON");
    struct airy_job_made *made = made_of(job, result);
    made->text = text;
    made->numbers[0] = value;
    made->count = is_number;
    return AIRY_OK;
}

/* Numbers keep the form that they have in the object: a real one its point, a whole one all digits. */
airy_status airy_job_put_object(airy_job *job, json_t *object)
{
    airy_status status = object ? AIRY_OK : airy_fail(AIRY_ERR_MEMORY, "out of memory for JSON");
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) if (status == AIRY_OK)
        status = airy_job_put_json(job, name, json_incref(value));
    json_decref(object);
    return status;
}

void airy_job_put_table(airy_job *job, const char *result, const airy_table *table, void *data)
{
    struct airy_job_made *made = made_of(job, result);
    made->table = *table;
    made->data = data;
}

/* Columns and rows in one block. */
airy_status airy_job_put_structs(airy_job *job, const char *result,
                                 const struct airy_job_column *columns, size_t count,
                                 const void *structs, size_t rows, size_t size)
{
    char *block;
    const size_t head = count * sizeof(airy_column);
    AIRY_TRY(airy_memory_calloc((void **)&block, 1, head + rows * size, "a table"));
    airy_column *column = (airy_column *)(void *)block;
    if (rows)
        memcpy(block + head, structs, rows * size);
    for (size_t i = 0; i < count; i++)
        column[i] = (airy_column){.name = columns[i].name,
                                  .unit = columns[i].unit,
                                  .dtype = columns[i].dtype,
                                  .data = block + head + columns[i].offset,
                                  .step = size};
    const airy_table table = {.rows = rows, .columns = count, .column = column};
    airy_job_put_table(job, result, &table, block);
    return AIRY_OK;
}

void airy_job_work_begins(airy_job *job)
{
    job->begun = airy_clock_ns();
}

void airy_job_work_ends(airy_job *job)
{
    job->ended = airy_clock_ns();
}

double airy_job_seconds(const airy_job *job)
{
    return job ? (double)(job->ended - job->begun) / 1e9 : 0;
}

bool airy_job_gives(const airy_job *job, const char *result)
{
    return find_result(job, result) != NOT_THERE;
}

bool airy_job_is_wanted(const airy_job *job, const char *result)
{
    return job->wanted[find_result(job, result)];
}

bool airy_job_keeps(const airy_job *job, const char *result)
{
    const int at = find_result(job, result);
    const char *parameter = job->kind->results[at].parameter;
    return job->wanted[at] || !parameter || !airy_job_is_set(job, parameter);
}

void airy_job_sum_up(airy_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(job->summary, sizeof(job->summary), format, args);
    va_end(args);
}

static airy_status result_of(const airy_job *job, const char *name, airy_job_result_kind kind,
                             int *at)
{
    AIRY_FAIL_IF(!job || !name, AIRY_ERR_PARAM, "airy_job: job or result is NULL");
    *at = find_result(job, name);
    AIRY_FAIL_IF(*at == NOT_THERE, AIRY_ERR_NOT_FOUND, "job %s has no result '%.64s'",
                 job->kind->name, name);
    AIRY_FAIL_IF(job->kind->results[*at].kind != kind, AIRY_ERR_PARAM,
                 "result '%s' of job %s is of another kind", name, job->kind->name);
    AIRY_FAIL_IF(!job->made[*at].is_there, AIRY_ERR_NOT_FOUND,
                 "the run of job %s has not made '%s'", job->kind->name, name);
    return AIRY_OK;
}

airy_status airy_job_want(airy_job *job, const char *result)
{
    AIRY_FAIL_IF(!job || !result, AIRY_ERR_PARAM, "airy_job_want: job or result is NULL");
    const int at = find_result(job, result);
    AIRY_FAIL_IF(at == NOT_THERE, AIRY_ERR_NOT_FOUND, "job %s has no result '%.64s'",
                 job->kind->name, result);
    AIRY_FAIL_IF(atomic_load(&job->stage) != AIRY_JOB_IDLE, AIRY_ERR_PARAM,
                 "airy_job_want: job %s runs; wait until it has ended", job->kind->name);
    job->wanted[at] = true;
    return AIRY_OK;
}

airy_status airy_job_get_array(const airy_job *job, const char *result, airy_host_view *view)
{
    int at;
    AIRY_FAIL_IF(!view, AIRY_ERR_PARAM, "airy_job_get_array: view is NULL");
    AIRY_TRY(result_of(job, result, AIRY_JOB_ARRAY, &at));
    *view = job->made[at].view;
    return AIRY_OK;
}

airy_status airy_job_get_numbers(const airy_job *job, const char *result, const double **values,
                                 size_t *count)
{
    int at;
    AIRY_FAIL_IF(!values || !count, AIRY_ERR_PARAM,
                 "airy_job_get_numbers: values or count is NULL");
    AIRY_TRY(result_of(job, result, AIRY_JOB_NUMBERS, &at));
    *values = job->made[at].numbers;
    *count = job->made[at].count;
    return AIRY_OK;
}

airy_status airy_job_get_text(const airy_job *job, const char *result, const char **text)
{
    int at = job && result ? find_result(job, result) : NOT_THERE;
    AIRY_FAIL_IF(!text, AIRY_ERR_PARAM, "airy_job_get_text: text is NULL");
    const bool is_json = at != NOT_THERE && job->kind->results[at].kind == AIRY_JOB_JSON;
    AIRY_TRY(result_of(job, result, is_json ? AIRY_JOB_JSON : AIRY_JOB_TEXT, &at));
    AIRY_FAIL_IF(!job->made[at].text, AIRY_ERR_NOT_FOUND, "the run of job %s has made no '%s'",
                 job->kind->name, result);
    *text = job->made[at].text;
    return AIRY_OK;
}

airy_status airy_job_get_table(const airy_job *job, const char *result, const airy_table **table)
{
    int at;
    AIRY_FAIL_IF(!table, AIRY_ERR_PARAM, "airy_job_get_table: table is NULL");
    AIRY_TRY(result_of(job, result, AIRY_JOB_TABLE, &at));
    *table = &job->made[at].table;
    return AIRY_OK;
}

airy_status airy_job_get_number(const airy_job *job, const char *result, double *value)
{
    int at = job && result ? find_result(job, result) : NOT_THERE;
    AIRY_FAIL_IF(!value, AIRY_ERR_PARAM, "airy_job_get_number: value is NULL");
    const bool is_json = at != NOT_THERE && job->kind->results[at].kind == AIRY_JOB_JSON &&
                         job->made[at].count == 1;
    AIRY_TRY(result_of(job, result, is_json ? AIRY_JOB_JSON : AIRY_JOB_NUMBER, &at));
    *value = job->made[at].numbers[0];
    return AIRY_OK;
}

/* NaN and infinity are null. */
static json_t *result_number(double value)
{
    return isfinite(value) ? airy_number_json(value) : json_null();
}

static json_t *result_json(const struct airy_job_made *made, airy_job_result_kind kind)
{
    if (kind == AIRY_JOB_NUMBER && !made->text)
        return result_number(made->numbers[0]);
    if (kind == AIRY_JOB_NUMBER || kind == AIRY_JOB_JSON)
        return json_loads(made->text, JSON_DECODE_ANY, NULL);
    if (kind == AIRY_JOB_TEXT)
        return made->text && airy_is_utf8(made->text, strlen(made->text)) ? json_string(made->text)
                                                                          : json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < made->count; i++)
        json_array_append_new(array, result_number(made->numbers[i]));
    return array;
}

airy_status airy_job_results_json(const airy_job *job, char **json)
{
    AIRY_FAIL_IF(!job || !json, AIRY_ERR_PARAM, "airy_job_results_json: job or json is NULL");
    json_t *object = json_object();
    for (size_t i = 0; job->kind->results[i].name; i++) {
        const airy_job_result *result = &job->kind->results[i];
        if (job->made[i].is_there && result->kind != AIRY_JOB_ARRAY &&
            result->kind != AIRY_JOB_TABLE)
            json_object_set_new(object, result->name, result_json(&job->made[i], result->kind));
    }
    return airy_job_print_json(object, json);
}

const char *airy_job_summary(const airy_job *job)
{
    return job ? job->summary : "";
}

const airy_device *airy_job_device(const airy_job *job)
{
    return job ? job->device : NULL;
}

const airy_device *airy_job_device_at(const airy_job *job, size_t index)
{
    if (!job || index >= (job->device_count ? job->device_count : 1))
        return NULL;
    return job->device_count ? job->devices[index] : job->device;
}
