/* The values of a job: from its rows to what a run takes. */
#include "jobs/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/word.h"
#include "io/file/json_error.h"

enum { NOT_THERE = -1 };

static int find_row(const airy_job *job, const char *name)
{
    for (size_t i = 0; i < job->row_count; i++)
        if (strcmp(job->rows[i]->p.name, name) == 0 ||
            (job->rows[i]->p.alias && strcmp(job->rows[i]->p.alias, name) == 0))
            return (int)i;
    return NOT_THERE;
}

static airy_status unknown_parameter(const airy_job *job, const char *name)
{
    enum { MOST_LISTED = 24 };
    const char *names[AIRY_JOB_ROWS];
    for (size_t i = 0; i < job->row_count; i++)
        names[i] = job->rows[i]->p.name;
    const bool is_long = job->row_count > MOST_LISTED &&
                         !airy_suggest_word(name, names, job->row_count);
    if (is_long)
        return airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_PARAMETER,
                            "job %s: parameter '%.64s' is unknown", job->kind->name, name);
    (void)airy_unknown_word("parameter", name, names, job->row_count);
    return airy_about(
        AIRY_SUBJECT_PARAMETER, name,
        airy_fail_context(airy_fail_as(AIRY_ERR_NOT_FOUND), "job %s", job->kind->name));
}

/* Somebody has set it. */
static bool is_given(const airy_job *job, size_t row)
{
    return job->origins[row] == AIRY_ORIGIN_GIVEN || job->origins[row] == AIRY_ORIGIN_JSON;
}

/* The default value, which is nothing where it is found during the run. */
static airy_status set_default(airy_job *job, size_t row)
{
    const airy_parameter *p = &job->rows[row]->p;
    job->origins[row] = AIRY_ORIGIN_DEFAULT;
    return p->fallback && !p->computed
               ? airy_value_parse(job->rows[row], job->fields[row], p->fallback)
               : AIRY_OK;
}

const struct airy_job_row *airy_job_row_at(const struct airy_job_kind *kind, size_t index,
                                           const struct airy_job_group **group)
{
    for (size_t g = 0; g < AIRY_JOB_GROUPS && kind->groups[g].rows; g++)
        for (const struct airy_job_row *row = kind->groups[g].rows; row->p.name; row++) {
            *group = &kind->groups[g];
            if ((!kind->without || strcmp(row->p.name, kind->without) != 0) && index-- == 0)
                return row;
        }
    return NULL;
}

airy_status airy_job_open_values(airy_job *job)
{
    const struct airy_job_group *group;
    const struct airy_job_row *row;
    AIRY_TRY(airy_memory_calloc(&job->values, 1, job->kind->values_size, "a job"));
    while ((row = airy_job_row_at(job->kind, job->row_count, &group))) {
        AIRY_FAIL_IF(job->row_count == AIRY_JOB_ROWS, AIRY_ERR_PARAM,
                     "job %s has more than %d parameters", job->kind->name, AIRY_JOB_ROWS);
        job->rows[job->row_count] = row;
        job->fields[job->row_count] = (char *)job->values + group->offset + row->offset;
        AIRY_TRY(set_default(job, job->row_count++));
    }
    return AIRY_OK;
}

void airy_job_close_state(airy_job *job)
{
    if (job->state)
        job->kind->close(job->state);
    free(job->state);
    job->state = NULL;
    json_decref(job->plan);
    job->plan = NULL;
    for (size_t i = 0; i < job->row_count; i++)
        if (job->origins[i] == AIRY_ORIGIN_COMPUTED) {
            airy_value_clear(job->rows[i], job->fields[i]);
            (void)set_default(job, i); /* which was read once before */
        }
}

/* Nothing of a job changes during its run, and what is open does not fit other values. */
static airy_status begin_change(airy_job *job, const char *function)
{
    AIRY_FAIL_IF(atomic_load(&job->stage) != AIRY_JOB_IDLE, AIRY_ERR_PARAM,
                 "%s: job %s runs; wait until it has ended", function, job->kind->name);
    airy_job_close_state(job);
    return AIRY_OK;
}

/* ---- setting ---- */

/*
 * Set a row from its text. A value of JSON or the default is replaced, and stays where the text is
 * refused; a list that was begun in the same way grows, but no array in its place.
 */
static airy_status set_row(airy_job *job, size_t row, const char *text, airy_job_origin origin)
{
    const struct airy_job_row *r = job->rows[row];
    AIRY_TRY(begin_change(job, "airy_job_set")); /* a run would change the origins */
    const uint8_t before = job->origins[row];
    const bool grows = before == origin && r->p.list && !airy_value_is_array(r, job->fields[row]);
    AIRY_FAIL_ON_IF(before == AIRY_ORIGIN_GIVEN && !grows, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %.128s: it was set already", r->p.name, text);
    if (grows)
        return airy_value_parse(r, job->fields[row], text);
    void *fresh;
    AIRY_TRY(airy_memory_calloc(&fresh, 1, airy_value_size(r), "a value"));
    const airy_status status = airy_value_parse(r, fresh, text);
    if (status == AIRY_OK) {
        airy_value_clear(r, job->fields[row]);
        memcpy(job->fields[row], fresh, airy_value_size(r));
        job->origins[row] = (uint8_t)origin;
    }
    free(fresh);
    return status;
}

static airy_status row_of(const airy_job *job, const char *name, size_t *row)
{
    AIRY_FAIL_IF(!job || !name, AIRY_ERR_PARAM, "airy_job: job or name is NULL");
    const int found = find_row(job, name);
    if (found == NOT_THERE)
        return unknown_parameter(job, name);
    *row = (size_t)found;
    return AIRY_OK;
}

airy_status airy_job_set(airy_job *job, const char *name, const char *text)
{
    size_t row = 0;
    AIRY_TRY(row_of(job, name, &row));
    AIRY_FAIL_ON_IF(!text, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s: the text is NULL", name);
    return set_row(job, row, text, AIRY_ORIGIN_GIVEN);
}

/* A value of C goes the way of its JSON, so that all ways refuse the same. */
static airy_status set_value(airy_job *job, const char *name, json_t *json)
{
    size_t row = 0;
    char *text = NULL;
    airy_status status = row_of(job, name, &row);
    if (status == AIRY_OK && !json)
        status = airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s: not a finite number",
                              job->rows[row]->p.name);
    if (status == AIRY_OK)
        status = airy_value_from_json(job->rows[row], json, &text);
    if (status == AIRY_OK)
        status = set_row(job, row, text, AIRY_ORIGIN_GIVEN);
    free(text);
    json_decref(json);
    return status;
}

json_t *airy_number_json(double value)
{
    return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value)
                                                         : json_real(value);
}

airy_status airy_job_set_number(airy_job *job, const char *name, double value)
{
    char text[AIRY_NUMBER_TEXT];
    const int row = job && name ? find_row(job, name) : NOT_THERE;
    if (!isfinite(value) && row != NOT_THERE && job->rows[row]->p.any)
        return airy_job_set(job, name, airy_number_text(text, value, false));
    return set_value(job, name, airy_number_json(value));
}

airy_status airy_job_set_numbers(airy_job *job, const char *name, const double *values,
                                 size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; values && i < count; i++)
        if (json_array_append_new(array, airy_number_json(values[i])) != 0) {
            json_decref(array);
            array = NULL;
            break;
        }
    return set_value(job, name, array);
}

airy_status airy_job_set_flag(airy_job *job, const char *name, bool value)
{
    return set_value(job, name, json_boolean(value));
}

/* Bytes between elements of the last axis are those of an element, and so on. */
static bool is_c_order(const airy_host_view *view)
{
    size_t step = airy_dtype_size(view->dtype);
    bool has_strides = false, good = true;
    for (int i = view->ndim - 1; i >= 0; i--) {
        has_strides |= view->strides[i] != 0;
        good &= view->shape[i] == 1 || view->strides[i] == (ptrdiff_t)step;
        step *= view->shape[i];
    }
    return good || !has_strides;
}

static airy_status check_view(const airy_parameter *p, const airy_host_view *view)
{
    size_t size = airy_dtype_size(view->dtype);
    AIRY_FAIL_ON_IF(!p->array, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER, "%s: it takes no array",
                    p->name);
    AIRY_FAIL_ON_IF(!view->data || size == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: the array has no data or no dtype", p->name);
    AIRY_FAIL_ON_IF(view->ndim < 1 || view->ndim > 4, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s: the array has %d axes, expected 1 to 4", p->name, view->ndim);
    for (int i = 0; i < view->ndim; i++)
        AIRY_FAIL_ON_IF(view->shape[i] == 0 ||
                            __builtin_mul_overflow(size, view->shape[i], &size) ||
                            size > PTRDIFF_MAX,
                        AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                        "%s: axis %d of the array has the length %zu, and the array must have 1 to "
                        "2^63 - 1 bytes",
                        p->name, i, view->shape[i]);
    AIRY_FAIL_ON_IF((uintptr_t)view->data % airy_dtype_size(view->dtype) != 0, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_PARAMETER,
                    "%s: the array does not begin at a multiple of the %zu bytes of its elements; "
                    "copy it first",
                    p->name, airy_dtype_size(view->dtype));
    AIRY_FAIL_ON_IF(!is_c_order(view), AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s: the array is not in C order; copy it into C order first", p->name);
    return AIRY_OK;
}

airy_status airy_job_set_array(airy_job *job, const char *name, const airy_host_view *view)
{
    size_t row = 0;
    AIRY_TRY(row_of(job, name, &row));
    AIRY_FAIL_ON_IF(!view, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s: the array is NULL", name);
    AIRY_TRY(begin_change(job, "airy_job_set_array"));
    AIRY_TRY(check_view(&job->rows[row]->p, view));
    AIRY_FAIL_ON_IF(job->origins[row] == AIRY_ORIGIN_GIVEN, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: it was set already", name);
    airy_value_clear(job->rows[row], job->fields[row]);
    if (job->rows[row]->p.list)
        *(struct airy_job_list *)job->fields[row] =
            (struct airy_job_list){.view = *view, .is_array = true};
    else
        *(struct airy_job_source *)job->fields[row] =
            (struct airy_job_source){.view = *view, .is_array = true};
    job->origins[row] = AIRY_ORIGIN_GIVEN;
    return AIRY_OK;
}

airy_status airy_job_reset(airy_job *job, const char *name)
{
    size_t row = 0;
    AIRY_TRY(row_of(job, name, &row));
    AIRY_TRY(begin_change(job, "airy_job_reset"));
    if (job->kind->replay && strcmp(name, "poni") == 0)
        AIRY_TRY(job->kind->replay(job, NULL));
    airy_value_clear(job->rows[row], job->fields[row]);
    return set_default(job, row);
}

/* A value that was given stays, but what is in its place must be good all the same. */
static airy_status set_or_look(airy_job *job, size_t row, const char *text)
{
    const struct airy_job_row *r = job->rows[row];
    if (job->origins[row] != AIRY_ORIGIN_GIVEN)
        return set_row(job, row, text, AIRY_ORIGIN_JSON);
    void *looked;
    AIRY_TRY(airy_memory_calloc(&looked, 1, airy_value_size(r), "a value"));
    const airy_status status = airy_value_parse(r, looked, text);
    airy_value_clear(r, looked);
    free(looked);
    return status;
}

static airy_status set_from_json(airy_job *job, size_t row, const json_t *json)
{
    const struct airy_job_row *r = job->rows[row];
    const size_t count = r->p.list ? json_array_size(json) : 1;
    if (r->p.array && json_is_null(json))
        return AIRY_OK;
    AIRY_FAIL_ON_IF(r->p.list && count == 0, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s: expected an array with at least one value", r->p.name);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        AIRY_TRY(airy_value_from_json(r, r->p.list ? json_array_get(json, i) : json, &text));
        const airy_status status = set_or_look(job, row, text);
        free(text);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* What an object replaces: the values of its rows as they were. */
struct replaced {
    bool set[AIRY_JOB_ROWS];     /* the object has the row */
    void *fields[AIRY_JOB_ROWS]; /* NULL: it was not replaced, as one that was given is not */
    uint8_t origins[AIRY_JOB_ROWS];
};

/* The object has this row, whose value becomes the default value until that of the object is set. */
static airy_status replace_row(airy_job *job, struct replaced *old, size_t row)
{
    const size_t size = airy_value_size(job->rows[row]);
    const bool begun = old->set[row];
    old->set[row] = true;
    if (begun || job->origins[row] == AIRY_ORIGIN_GIVEN)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&old->fields[row], 1, size, "a value"));
    memcpy(old->fields[row], job->fields[row], size);
    old->origins[row] = job->origins[row];
    memset(job->fields[row], 0, size);
    return set_default(job, row);
}

/* None of an object that is refused stays set, and what a good one replaces is released. */
static airy_status end_object(airy_job *job, const struct replaced *old, airy_status status)
{
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    for (size_t i = 0; i < job->row_count; i++) {
        if (!old->fields[i])
            continue;
        if (status == AIRY_OK) {
            airy_value_clear(job->rows[i], old->fields[i]);
        } else {
            airy_value_clear(job->rows[i], job->fields[i]);
            memcpy(job->fields[i], old->fields[i], airy_value_size(job->rows[i]));
            job->origins[i] = old->origins[i];
        }
        free(old->fields[i]);
    }
    return status == AIRY_OK ? AIRY_OK : airy_error_restore(&error);
}

static airy_status set_object(airy_job *job, json_t *object, struct replaced *old)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        size_t row = 0;
        AIRY_TRY(row_of(job, name, &row));
        AIRY_FAIL_ON_IF(job->origins[row] == AIRY_ORIGIN_JSON, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s: other JSON has set it already", name);
        AIRY_TRY(replace_row(job, old, row));
        AIRY_TRY(set_from_json(job, row, value));
    }
    return AIRY_OK;
}

airy_status airy_job_set_json(airy_job *job, const char *text)
{
    AIRY_FAIL_IF(!job || !text, AIRY_ERR_PARAM, "airy_job_set_json: job or text is NULL");
    AIRY_TRY(begin_change(job, "airy_job_set_json"));
    struct replaced old = {.set = {false}};
    char wrong[AIRY_JSON_WRONG];
    json_error_t error;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    AIRY_FAIL_IF(!object, AIRY_ERR_FORMAT, "line %d, column %d: %s", error.line, error.column,
                 airy_json_wrong(wrong, &error));
    airy_status status =
        json_is_object(object)
            ? set_object(job, object, &old)
            : airy_fail(AIRY_ERR_FORMAT, "expected a JSON object, {\"NAME\": value}");
    json_decref(object);
    return end_object(job, &old, status);
}

/* Whether results store a parameter: it decides their values or rows, or what stands beside them. */
static bool is_stored(const airy_job *job, const airy_parameter *p)
{
    const bool is_file = p->role == AIRY_ROLE_INPUT && p->type != AIRY_PARAMETER_WORD;
    for (const struct airy_job_row *row = job->kind->replayed; row && row->p.name; row++)
        if (&row->p == p)
            return false;
    return !is_file && p->affects != AIRY_AFFECTS_HOW && p->affects != AIRY_AFFECTS_WHERE;
}

/* "--name=text", or "--name" of a flag. */
static airy_status set_word(airy_job *job, const json_t *word, struct replaced *old)
{
    const char *given = json_string_value(word), *text = given ? given : "";
    char name[64];
    const size_t length = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "=") : 0;
    snprintf(name, sizeof(name), "%.*s", (int)length, length ? text + 2 : "");
    const int row = length < sizeof(name) ? find_row(job, name) : NOT_THERE;
    const airy_parameter *p = row == NOT_THERE ? NULL : &job->rows[row]->p;
    AIRY_FAIL_IF(!p || !is_stored(job, p) || (p->type == AIRY_PARAMETER_FLAG) == !!text[2 + length],
                 AIRY_ERR_FORMAT,
                 "the configuration has '%.128s', which no result of job %s stores",
                 given ? text : "no text", job->kind->name);
    AIRY_FAIL_IF(old->set[row] && !p->list, AIRY_ERR_FORMAT, "the configuration has '--%s' twice",
                 p->name);
    AIRY_TRY(replace_row(job, old, (size_t)row));
    return set_or_look(job, (size_t)row,
                       p->type == AIRY_PARAMETER_FLAG ? "on" : text + 2 + length + 1);
}

static airy_status set_words(airy_job *job, const json_t *configuration, struct replaced *old)
{
    const char *command = json_string_value(json_object_get(configuration, "command"));
    const json_t *options = json_object_get(configuration, "options"),
                 *geometry = json_object_get(configuration, "geometry");
    AIRY_FAIL_IF(!command || !json_is_array(options), AIRY_ERR_FORMAT,
                 "not the configuration of a result of this program");
    AIRY_FAIL_IF(strcmp(command, job->kind->name) != 0, AIRY_ERR_FORMAT,
                 "the configuration is that of a result of %.64s, not of %s", command,
                 job->kind->name);
    for (size_t i = 0; i < json_array_size(options); i++)
        AIRY_TRY(set_word(job, json_array_get(options, i), old));
    if (!job->kind->replay || !geometry)
        return AIRY_OK;
    char *text = json_dumps(configuration, JSON_REAL_PRECISION(17));
    AIRY_FAIL_IF(!text, AIRY_ERR_MEMORY, "out of memory for JSON");
    const airy_status status = job->kind->replay(job, text);
    free(text);
    return status;
}

airy_status airy_job_set_configuration(airy_job *job, const char *configuration)
{
    AIRY_FAIL_IF(!job || !configuration, AIRY_ERR_PARAM,
                 "airy_job_set_configuration: an argument is NULL");
    AIRY_TRY(begin_change(job, "airy_job_set_configuration"));
    struct replaced old = {.set = {false}};
    json_t *object = json_loads(configuration, JSON_REJECT_DUPLICATES, NULL);
    const airy_status status = set_words(job, object, &old);
    json_decref(object);
    return end_object(job, &old, status);
}

/* ---- values out ---- */

airy_status airy_job_get_origin(const airy_job *job, const char *name, airy_job_origin *origin)
{
    size_t row = 0;
    AIRY_FAIL_IF(!origin, AIRY_ERR_PARAM, "airy_job_get_origin: origin is NULL");
    AIRY_TRY(row_of(job, name, &row));
    *origin = job->origins[row];
    return AIRY_OK;
}

/* Nobody has set it, and the table has no value for it. */
static bool is_unset(const airy_job *job, size_t row)
{
    const airy_parameter *p = &job->rows[row]->p;
    return job->origins[row] == AIRY_ORIGIN_DEFAULT && (!p->fallback || p->computed);
}

airy_status airy_job_get(const airy_job *job, const char *name, char **text)
{
    size_t row = 0;
    AIRY_FAIL_IF(!text, AIRY_ERR_PARAM, "airy_job_get: text is NULL");
    AIRY_TRY(row_of(job, name, &row));
    *text = NULL;
    return airy_value_is_array(job->rows[row], job->fields[row]) || is_unset(job, row)
               ? AIRY_OK
               : airy_value_text(job->rows[row], job->fields[row], text);
}

airy_status airy_job_print_json(json_t *object, char **text)
{
    *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for JSON");
    return AIRY_OK;
}

airy_status airy_job_get_json(const airy_job *job, char **json)
{
    AIRY_FAIL_IF(!job || !json, AIRY_ERR_PARAM, "airy_job_get_json: job or json is NULL");
    json_t *object = json_object();
    for (size_t i = 0; i < job->row_count; i++) {
        if (!is_given(job, i))
            continue;
        const char *name = job->rows[i]->p.name;
        if (json_object_set_new(object, name, airy_value_to_json(job->rows[i], job->fields[i]))) {
            json_decref(object);
            return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                                "%s: its text is not UTF-8, which JSON requires", name);
        }
    }
    return airy_job_print_json(object, json);
}

airy_status airy_job_get_plan(const airy_job *job, char **json)
{
    AIRY_FAIL_IF(!job || !json, AIRY_ERR_PARAM, "airy_job_get_plan: job or json is NULL");
    return airy_job_print_json(job->plan ? json_incref(job->plan) : json_object(), json);
}

airy_status airy_job_compute(airy_job *job, const char *name, const char *text)
{
    const int row = find_row(job, name);
    if (job->origins[row] != AIRY_ORIGIN_DEFAULT)
        return AIRY_OK;
    airy_value_clear(job->rows[row], job->fields[row]);
    AIRY_TRY(airy_value_parse(job->rows[row], job->fields[row], text));
    job->origins[row] = AIRY_ORIGIN_COMPUTED;
    return AIRY_OK;
}

void airy_job_put_plan(airy_job *job, const char *key, json_t *value)
{
    if (!job->plan)
        job->plan = json_object();
    json_object_set_new(job->plan, key, value);
}

void airy_job_text_free(char *text)
{
    free(text);
}

bool airy_job_has(const airy_job *job, const char *name)
{
    return find_row(job, name) != NOT_THERE;
}

bool airy_job_is_set(const airy_job *job, const char *name)
{
    const int row = find_row(job, name);
    return row != NOT_THERE && is_given(job, (size_t)row);
}

/* A parameter that was set goes with the words that another one has. */
static airy_status check_condition(const airy_job *job, size_t row)
{
    char list[256], *text = NULL;
    size_t count = 0, other = 0;
    bool good = false;
    const airy_parameter *p = &job->rows[row]->p;
    const airy_parameter_condition *with = &p->only_with;
    if (!with->parameter || !is_given(job, row))
        return AIRY_OK;
    AIRY_TRY(row_of(job, with->parameter, &other));
    AIRY_FAIL_ON_IF(!with->words && job->origins[other] == AIRY_ORIGIN_DEFAULT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s goes with %s", p->name, with->parameter);
    if (!with->words)
        return AIRY_OK;
    if (!is_unset(job, other))
        AIRY_TRY(airy_value_text(job->rows[other], job->fields[other], &text));
    for (; with->words[count]; count++)
        good |= text && strcmp(text, with->words[count]) == 0;
    free(text);
    airy_join_words(list, sizeof(list), with->words, count);
    AIRY_FAIL_ON_IF(!good, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s goes with %s %s", p->name,
                    with->parameter, list);
    return AIRY_OK;
}

airy_status airy_job_check_values(airy_job *job)
{
    for (size_t i = 0; i < job->row_count; i++)
        AIRY_FAIL_ON_IF(job->rows[i]->p.role == AIRY_ROLE_INPUT && !is_given(job, i),
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is missing",
                        job->rows[i]->p.name);
    for (size_t i = 0; i < job->row_count; i++)
        AIRY_TRY(check_condition(job, i));
    return job->kind->check ? job->kind->check(job) : AIRY_OK;
}

airy_status airy_job_check(airy_job *job)
{
    AIRY_FAIL_IF(!job, AIRY_ERR_PARAM, "airy_job_check: job is NULL");
    AIRY_FAIL_IF(atomic_load(&job->stage) != AIRY_JOB_IDLE, AIRY_ERR_PARAM,
                 "airy_job_check: job %s runs; wait until it has ended", job->kind->name);
    return airy_job_check_values(job);
}
