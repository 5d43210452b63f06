/* Jobs: their descriptions, values in every form, bad input, and runs beside the same work by hand. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/job.h"
#include "airy/reduce_stack.h"
#include "airy/sparse.h"
#include "airy/stack_write.h"
#include "check_pipeline.h"
#include "check_stack.h"
#include "jobs/job.h"

/* Every description is complete: names, texts, default values that the type takes. */
static void check_descriptions(struct check *c)
{
    if (!check_case(c, "job_descriptions"))
        return;
    airy_job_info info;
    CHECK(c, airy_job_count() > 0 && airy_job_at(&info, airy_job_count()) == AIRY_ERR_PARAM);
    for (size_t j = 0; j < airy_job_count(); j++) {
        airy_job *job = NULL;
        CHECK_OK(c, airy_job_at(&info, j));
        CHECK(c, *info.name && *info.summary && *info.details);
        CHECK_OK(c, airy_job_create(&job, info.name, NULL, NULL));
        for (size_t i = 0; i < info.parameters; i++) {
            const airy_parameter *p = airy_job_parameter_at(info.name, i);
            airy_job_origin origin;
            CHECK(c, p && p->help && *p->help && (unsigned)p->type < AIRY_PARAMETER_TYPE_COUNT);
            CHECK(c,
                  (p->type != AIRY_PARAMETER_WORD && p->type != AIRY_PARAMETER_DTYPE) || p->words);
            CHECK(c, strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(p->name));
            for (size_t k = 0; k < i; k++)
                CHECK(c, strcmp(p->name, airy_job_parameter_at(info.name, k)->name) != 0);
            const airy_parameter_condition *with = &p->only_with;
            if (with->parameter)
                CHECK(c, (!with->words || with->words[0]) &&
                             airy_job_get_origin(job, with->parameter, &origin) == AIRY_OK);
            CHECK_OK(c, airy_job_get_origin(job, p->name, &origin));
            CHECK(c, origin == AIRY_ORIGIN_DEFAULT);
        }
        CHECK(c, !airy_job_parameter_at(info.name, info.parameters));
        CHECK(c, info.results < AIRY_JOB_RESULTS && info.parameters <= AIRY_JOB_ROWS);
        for (size_t i = 0; i < info.results; i++)
            CHECK(c, *airy_job_result_at(info.name, i)->help);
        CHECK(c, !airy_job_result_at(info.name, info.results));
        airy_job_destroy(&job);
    }
    CHECK_FAILS(c, airy_job_describe(&info, "reduse"), AIRY_ERR_NOT_FOUND,
                "job 'reduse' is unknown, did you mean 'reduce'?");
}

/* A record for the cases of values. */
static const char *parse_pair(void *field, const char *text)
{
    return sscanf(text, "%d/%d", (int *)field, (int *)field + 1) == 2 ? NULL : "expected A/B";
}

static void print_pair(char *text, size_t size, const void *field)
{
    snprintf(text, size, "%d/%d", ((const int *)field)[0], ((const int *)field)[1]);
}

static const struct airy_job_record pair = {2 * sizeof(int), parse_pair, print_pair};
static const char *const all[] = {"all", NULL};
static const char *const words[] = {"red", "green", NULL}, *const dtypes[] = {"uint16", "f32",
                                                                              NULL};

/* Text in, the same or its plain form out; its JSON gives the same value again. */
struct form {
    struct airy_job_row row;
    const char *text, *plain, *json;
};

static const struct form forms[] = {
    {{{.name = "flag", .type = AIRY_PARAMETER_FLAG}, 0, NULL}, "on", "on", "true"},
    {{{.name = "whole", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 99}, 0, NULL},
     "12",
     "12",
     "12"},
    {{{.name = "seed", .type = AIRY_PARAMETER_SEED}, 0, NULL},
     "18446744073709551615",
     "18446744073709551615",
     "\"18446744073709551615\""},
    {{{.name = "bytes", .type = AIRY_PARAMETER_BYTES}, 0, NULL}, "1.5KiB", "1536", "\"1536\""},
    {{{.name = "real", .type = AIRY_PARAMETER_REAL}, 0, NULL}, "1e-3", "0.001", "0.001"},
    {{{.name = "part", .type = AIRY_PARAMETER_REAL, .hi = 1, .open = true}, 0, NULL},
     "0.5",
     "0.5",
     "0.5"},
    {{{.name = "above", .type = AIRY_PARAMETER_REAL, .hi = (double)INFINITY, .open = true},
      0,
      NULL},
     "4.5",
     "4.5",
     "4.5"},
    {{{.name = "up", .type = AIRY_PARAMETER_WHOLE, .lo = 2, .hi = (double)INFINITY}, 0, NULL},
     "2",
     "2",
     "2"},
    {{{.name = "group", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 9, .words = all}, 0, NULL},
     "all",
     "all",
     "\"all\""},
    {{{.name = "down", .type = AIRY_PARAMETER_REAL, .lo = -(double)INFINITY}, 0, NULL},
     "-1",
     "-1",
     "-1.0"},
    {{{.name = "source", .type = AIRY_PARAMETER_PATH, .array = true}, 0, NULL},
     "dark.npy",
     "dark.npy",
     "\"dark.npy\""},
    {{{.name = "text", .type = AIRY_PARAMETER_TEXT}, 0, NULL}, "a b", "a b", "\"a b\""},
    {{{.name = "word", .type = AIRY_PARAMETER_WORD, .words = words}, 0, NULL},
     "green",
     "green",
     "\"green\""},
    {{{.name = "dtype", .type = AIRY_PARAMETER_DTYPE, .words = dtypes}, 0, NULL},
     "float32",
     "float32",
     "\"float32\""},
    {{{.name = "path", .type = AIRY_PARAMETER_PATH}, 0, NULL},
     "x.h5::/a",
     "x.h5::/a",
     "\"x.h5::/a\""},
    {{{.name = "tuple", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3}, 0, NULL},
     "1,2.5",
     "1,2.5",
     "[1.0,2.5]"},
    {{{.name = "range", .type = AIRY_PARAMETER_RANGE}, 0, NULL}, "3:", "3:", "\"3:\""},
    {{{.name = "range", .type = AIRY_PARAMETER_RANGE}, 0, NULL}, "0:3:1", "0:3", "\"0:3\""},
    {{{.name = "range", .type = AIRY_PARAMETER_RANGE}, 0, NULL}, "5:6", "5", "\"5\""},
    {{{.name = "range", .type = AIRY_PARAMETER_RANGE}, 0, NULL}, "7", "7", "\"7\""},
    {{{.name = "shape", .type = AIRY_PARAMETER_SHAPE}, 0, NULL}, "10x20", "10x20", "\"10x20\""},
    {{{.name = "record", .type = AIRY_PARAMETER_RECORD}, 0, &pair}, "3/-4", "3/-4", "\"3/-4\""},
};

static void check_value_forms(struct check *c)
{
    if (!check_case(c, "job_values"))
        return;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct form *f = &forms[i];
        _Alignas(16) char field[1024] = {0}, again[1024] = {0};
        char *text = NULL, *from = NULL;
        CHECK_OK(c, airy_value_parse(&f->row, field, f->text));
        CHECK_OK(c, airy_value_text(&f->row, field, &text));
        if (!CHECK(c, text && strcmp(text, f->plain) == 0))
            printf("# %s: %s\n", f->row.p.name, text);
        json_t *json = airy_value_to_json(&f->row, field);
        char *said = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
        if (!CHECK(c, said && strcmp(said, f->json) == 0))
            printf("# %s: %s\n", f->row.p.name, said);
        CHECK_OK(c, airy_value_from_json(&f->row, json, &from));
        CHECK_OK(c, airy_value_parse(&f->row, again, from));
        free(text);
        CHECK_OK(c, airy_value_text(&f->row, again, &text));
        CHECK(c, text && strcmp(text, f->plain) == 0);
        json_decref(json);
        free(said);
        free(text);
        free(from);
        airy_value_clear(&f->row, field);
        airy_value_clear(&f->row, again);
    }
}

/* What no type takes. */
static void check_bad_values(struct check *c)
{
    static const struct {
        const char *name, *text, *sentence;
    } bad[] = {
        {"flag", "yes", "expected on or off"},
        {"whole", "", "whole '': expected a whole number from 1 to 99"},
        {"whole", "100", "expected a whole number from 1 to 99"},
        {"whole", "0", "from 1 to 99"},
        {"whole", "1.5", "from 1 to 99"},
        {"whole", "-1", "from 1 to 99"},
        {"whole", "99999999999999999999999", "from 1 to 99"},
        {"seed", "18446744073709551616", "expected a whole number from 0"},
        {"bytes", "0", "expected bytes"},
        {"bytes", "1Q", "expected bytes"},
        {"bytes", "9999999999G", "expected bytes"},
        {"real", "nan", "real nan: expected a number"},
        {"real", "0x10", "expected a number"},
        {"real", "1e999", "expected a number"},
        {"real", " 1", "expected a number"},
        {"part", "0", "part 0: expected a number above 0 and below 1"},
        {"part", "1", "above 0 and below 1"},
        {"above", "0", "above 0: expected a number above 0"},
        {"up", "1", "up 1: expected a whole number from 2 on"},
        {"up", "18446744073709551615", "from 2 on"},
        {"group", "10", "group 10: expected a whole number from 1 to 9, or all"},
        {"group", "al", "or all"},
        {"down", "0.5", "down 0.5: expected a number up to 0"},
        {"text", "", "expected a text that is not empty"},
        {"word", "gren", "word gren: expected red or green; did you mean 'green'?"},
        {"dtype", "float64", "expected uint16 or f32"},
        {"tuple", "1,2,3,4", "expected one number, or up to 3"},
        {"tuple", "1,,2", "expected one number, or up to 3"},
        {"tuple", ",", "expected one number, or up to 3"},
        {"range", "5:5", "LAST is not above FIRST"},
        {"range", "1:2:0", "STEP is 0"},
        {"range", "1:2:3:4", "expected N"},
        {"range", "a", "expected N"},
        {"shape", "10", "expected HEIGHTxWIDTH"},
        {"shape", "0x5", "expected HEIGHTxWIDTH"},
        {"shape", "99999999999x5", "expected HEIGHTxWIDTH"},
        {"record", "3", "expected A/B"},
    };
    if (!check_case(c, "job_bad_values"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
            if (strcmp(forms[k].row.p.name, bad[i].name) != 0)
                continue;
            _Alignas(16) char field[1024] = {0};
            airy_error error;
            CHECK_FAILS(c, airy_value_parse(&forms[k].row, field, bad[i].text), AIRY_ERR_PARAM,
                        bad[i].sentence);
            airy_error_get(&error);
            CHECK(c,
                  error.subject == AIRY_SUBJECT_PARAMETER && strcmp(error.name, bad[i].name) == 0);
            break;
        }
}

/* Bad input through the public calls: a status with subject and sentence, and nothing is changed. */
static void check_bad_calls(struct check *c)
{
    if (!check_case(c, "job_bad_calls"))
        return;
    airy_job *job = NULL;
    char *text = NULL;
    double number;
    airy_host_view view;
    CHECK_FAILS(c, airy_job_create(&job, "no job", NULL, NULL), AIRY_ERR_NOT_FOUND, "is unknown");
    CHECK(c, airy_job_create(NULL, "reduce", NULL, NULL) == AIRY_ERR_PARAM && !job);
    CHECK_OK(c, airy_job_create(&job, "reduce", NULL, NULL));
    CHECK_FAILS(c, airy_job_set(job, "bye", "mean"), AIRY_ERR_NOT_FOUND,
                "job reduce: parameter 'bye' is unknown, did you mean 'by'?");
    CHECK_FAILS(c, airy_job_set(job, "by", NULL), AIRY_ERR_PARAM, "by: the text is NULL");
    CHECK_FAILS(c, airy_job_set(job, NULL, "x"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_job_set(NULL, "by", "x"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_job_set_number(job, "by", 1), AIRY_ERR_DTYPE, "by: expected a string");
    CHECK(c, !strstr(airy_last_error(), "JSON"));
    CHECK_FAILS(c, airy_job_set_number(job, "hot", NAN), AIRY_ERR_PARAM,
                "hot: not a finite number");
    airy_error error;
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER && strcmp(error.name, "hot") == 0);
    CHECK_FAILS(c, airy_job_set_number(job, "threads", 1.5), AIRY_ERR_PARAM, "threads 1.5:");
    CHECK_FAILS(c, airy_job_set_flag(job, "hot", true), AIRY_ERR_DTYPE, "hot: expected a number");
    CHECK_FAILS(c, airy_job_set_numbers(job, "hot", (double[]){1, 2}, 2), AIRY_ERR_DTYPE, "hot:");
    CHECK_OK(c, airy_job_set(job, "by", "sum"));
    CHECK_FAILS(c, airy_job_set(job, "by", "max"), AIRY_ERR_PARAM, "by max: it was set already");
    CHECK_OK(c, airy_job_get(job, "by", &text));
    CHECK(c, text && strcmp(text, "sum") == 0);
    airy_job_text_free(text);
    CHECK_OK(c, airy_job_reset(job, "by"));
    CHECK_OK(c, airy_job_get(job, "by", &text));
    CHECK(c, text && strcmp(text, "mean") == 0);
    airy_job_text_free(text);
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "stack is missing");
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "stack is missing");
    CHECK_FAILS(c, airy_job_get_array(job, "image", &view), AIRY_ERR_NOT_FOUND, "has not made");
    CHECK_FAILS(c, airy_job_get_array(job, "picture", &view), AIRY_ERR_NOT_FOUND, "no result");
    CHECK_FAILS(c, airy_job_get_number(job, "image", &number), AIRY_ERR_PARAM, "another kind");
    CHECK_FAILS(c, airy_job_want(job, "picture"), AIRY_ERR_NOT_FOUND, "no result");
    CHECK_OK(c, airy_job_set(job, "stack", "nowhere.h5"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_NOT_FOUND, "nowhere.h5");
    CHECK_FAILS(c, airy_job_set_number(job, "frames", 2.5), AIRY_ERR_DTYPE, "frames: expected");
    CHECK_OK(c, airy_job_set_number(job, "frames", 3));
    CHECK_OK(c, airy_job_get(job, "frames", &text));
    CHECK(c, text && strcmp(text, "3") == 0);
    airy_job_text_free(text);
    airy_job_cancel(job);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled before the run");
    airy_job_cancel(NULL);
    airy_job_destroy(&job);
    airy_job_destroy(&job);
}

/* An object sets all of its values or none. */
static void check_json(struct check *c)
{
    static const struct {
        const char *json;
        airy_status status;
        const char *sentence;
    } bad[] = {
        {"", AIRY_ERR_FORMAT, "line 1"},
        {"[1]", AIRY_ERR_FORMAT, "expected a JSON object"},
        {"{\"by\": \"sum\", \"by\": \"max\"}", AIRY_ERR_FORMAT,
         "line 1, column 18: the key 'by' occurs twice"},
        {"{\"by\": \"sum\", \"bye\": 1}", AIRY_ERR_NOT_FOUND, "did you mean 'by'?"},
        {"{\"by\": \"sum\", \"hot\": \"6\"}", AIRY_ERR_DTYPE, "hot: expected a number"},
        {"{\"by\": \"sum\", \"hot\": -1}", AIRY_ERR_PARAM, "hot -1: expected a number above 0"},
        {"{\"by\": \"sum\", \"stack\": \"a.h5\"}", AIRY_ERR_DTYPE, "stack: expected an array"},
        {"{\"by\": \"sum\", \"stack\": []}", AIRY_ERR_DTYPE, "stack: expected an array"},
        {"{\"by\": \"sum\", \"stack\": [\"a.h5\", 1]}", AIRY_ERR_DTYPE, "stack: expected a string"},
        {"{\"by\": \"sum\", \"output\": \"a\\u0000b\"}", AIRY_ERR_FORMAT, "line 1"},
        {"{\"by\": \"sum\", \"force\": 1}", AIRY_ERR_DTYPE, "force: expected true or false"},
        {"{\"by\": \"sum\", \"by\": null}", AIRY_ERR_FORMAT, "the key 'by' occurs twice"},
        {"{\"by\": null}", AIRY_ERR_DTYPE, "by: expected a string"},
    };
    if (!check_case(c, "job_json"))
        return;
    airy_job *job = NULL, *other = NULL;
    char *first = NULL, *second = NULL, *text = NULL;
    CHECK_OK(c, airy_job_create(&job, "reduce", NULL, NULL));
    CHECK_OK(c, airy_job_create(&other, "reduce", NULL, NULL));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_FAILS(c, airy_job_set_json(job, bad[i].json), bad[i].status, bad[i].sentence);
        CHECK_OK(c, airy_job_get_json(job, &text));
        CHECK(c, strcmp(text, "{}") == 0);
        airy_job_text_free(text);
    }
    CHECK_OK(c, airy_job_set_json(
                    job, "{\"stack\": [\"a.h5\", \"b.h5\"], \"by\": \"sum\", \"hot\": 6.5, "
                         "\"memory-limit\": \"2G\", \"frames\": \"1:9:2\", "
                         "\"raw\": \"20x10,uint16,512,big\", \"force\": true}"));
    CHECK_OK(c, airy_job_get_json(job, &first));
    CHECK_OK(c, airy_job_set_json(other, first));
    CHECK_OK(c, airy_job_get_json(other, &second));
    CHECK(c, strcmp(first, second) == 0 && strstr(first, "\"raw\":\"20x10,uint16,512,big\"") &&
                 strstr(first, "\"memory-limit\":\"2147483648\""));
    /* What is refused changes nothing. */
    CHECK_FAILS(c, airy_job_set(job, "by", "bogus"), AIRY_ERR_PARAM, "by bogus: expected");
    CHECK_OK(c, airy_job_get(job, "by", &text));
    CHECK(c, strcmp(text, "sum") == 0);
    airy_job_text_free(text);
    /* What is given in another way replaces what JSON said, and not the other way round. */
    CHECK_OK(c, airy_job_set(job, "by", "max"));
    CHECK_OK(c, airy_job_set(job, "stack", "c.h5"));
    CHECK_OK(c, airy_job_get(job, "stack", &text));
    CHECK(c, strcmp(text, "c.h5") == 0);
    airy_job_text_free(text);
    CHECK_OK(c, airy_job_set_json(job, "{\"by\": \"min\"}"));
    CHECK_OK(c, airy_job_get(job, "by", &text));
    CHECK(c, strcmp(text, "max") == 0);
    airy_job_text_free(text);
    CHECK_FAILS(c, airy_job_set_json(job, "{\"by\": \"bogus\"}"), AIRY_ERR_PARAM, "by bogus:");
    CHECK_FAILS(c, airy_job_set_json(job, "{\"hot\": 7}"), AIRY_ERR_PARAM,
                "hot: other JSON has set it already");
    /* A configuration has a value once; one that is refused leaves what earlier JSON has set. */
    CHECK_FAILS(c,
                airy_job_set_configuration(job, "{\"command\": \"reduce\", \"options\": "
                                                "[\"--hot=5\", \"--channel=a\", "
                                                "\"--channel=b\"]}"),
                AIRY_ERR_FORMAT, "has '--channel' twice");
    CHECK_OK(c, airy_job_get(job, "hot", &text));
    CHECK(c, text && strcmp(text, "6.5") == 0);
    airy_job_text_free(text);
    CHECK_OK(c, airy_job_get(job, "channel", &text));
    CHECK(c, !text);
    CHECK_OK(c, airy_job_set_configuration(job, "{\"command\": \"reduce\", \"options\": "
                                                "[\"--channel=two\"]}"));
    CHECK_OK(c, airy_job_get(job, "channel", &text));
    CHECK(c, text && strcmp(text, "two") == 0);
    airy_job_text_free(text);
    /* JSON cannot hold every name of a file, and leaves none out. */
    CHECK_OK(c, airy_job_set(job, "stack", "b\xff.h5"));
    CHECK_FAILS(c, airy_job_get_json(job, &text), AIRY_ERR_FORMAT, "stack: its text is not UTF-8");
    airy_job_text_free(first);
    airy_job_text_free(second);
    airy_job_destroy(&job);
    airy_job_destroy(&other);
}

enum { FRAMES = 23, BAD = 10 };

static airy_job *open_job(struct check *c, const char *path, airy_context *context,
                          const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "reduce", context, hooks));
    CHECK_OK(c, airy_job_set(job, "stack", path));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    return job;
}

/* What a run would do is known before it, and no longer when a value changes. */
static void check_resolve(struct check *c)
{
    if (!check_case(c, "job_resolve"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_job *job = open_job(c, path, NULL, NULL);
    airy_job_origin origin;
    char *text = NULL, *json = NULL;
    CHECK_OK(c, airy_job_get_plan(job, &json));
    CHECK(c, strcmp(json, "{}") == 0);
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_resolve(job));
    CHECK_OK(c, airy_job_resolve(job));
    CHECK_OK(c, airy_job_get(job, "frames", &text));
    CHECK_OK(c, airy_job_get_origin(job, "frames", &origin));
    CHECK(c, text && strcmp(text, "0:23") == 0 && origin == AIRY_ORIGIN_COMPUTED);
    airy_job_text_free(text);
    CHECK_OK(c, airy_job_get_plan(job, &json));
    CHECK(c, strstr(json, "\"frames\":23,\"device\":{\"spec\":") != NULL);
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_get_json(job, &json));
    CHECK(c, !strstr(json, "frames"));
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_set(job, "frames", "20:30"));
    CHECK_OK(c, airy_job_get_plan(job, &json));
    CHECK(c, strcmp(json, "{}") == 0);
    airy_job_text_free(json);
    CHECK_FAILS(c, airy_job_resolve(job), AIRY_ERR_PARAM, "frames 20:30: ");
    CHECK_OK(c, airy_job_reset(job, "frames"));
    CHECK_OK(c, airy_job_resolve(job));
    const airy_device *device = airy_job_device(job);
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, device && airy_job_device(job) == device);
    CHECK_OK(c, airy_job_get(job, "frames", &text));
    CHECK(c, !text);
    CHECK_OK(c, airy_job_resolve(job));
    airy_job_destroy(&job);
}

/* A stack that is an array gives what its file gives, in each job that takes one. */
static void check_stack_array(struct check *c)
{
    if (!check_case(c, "job_stack_array"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *output = check_run_path(c, "array.h5");
    uint32_t *frames = check_run_frames(c, FRAMES);
    check_run_stack(c, path, frames, FRAMES, FRAMES, SOUND);
    airy_stack *stack = NULL;
    airy_stack_info info;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    const size_t bytes = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *pixels = check_alloc(c, FRAMES * bytes), *again = check_alloc(c, bytes);
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_stack_read(stack, i, pixels + i * bytes, bytes));
    airy_stack_destroy(&stack);
    const airy_host_view view = {
        .data = pixels, .dtype = info.dtype, .ndim = 3, .shape = {FRAMES, info.height, info.width}};
    airy_host_view want, got, bad = view;
    airy_job *file = open_job(c, path, NULL, NULL), *array = NULL;
    CHECK_OK(c, airy_job_create(&array, "reduce", NULL, NULL));
    CHECK_OK(c, airy_job_set(array, "device", c->spec));
    bad.ndim = 1;
    CHECK_OK(c, airy_job_set_array(array, "stack", &bad));
    CHECK_FAILS(c, airy_job_run(array), AIRY_ERR_SHAPE, "stack: the array has 1 axes");
    CHECK_OK(c, airy_job_reset(array, "stack"));
    CHECK_OK(c, airy_job_set_array(array, "stack", &view));
    CHECK_FAILS(c, airy_job_set(array, "stack", "a.h5"), AIRY_ERR_PARAM, "stack a.h5: it was set");
    CHECK_OK(c, airy_job_set(array, "raw", "2x2,u16"));
    CHECK_FAILS(c, airy_job_run(array), AIRY_ERR_PARAM, "raw describes files");
    CHECK_OK(c, airy_job_reset(array, "raw"));
    for (int by = 0; by < 2; by++) {
        CHECK_OK(c, airy_job_set(file, "by", by ? "median" : "std"));
        CHECK_OK(c, airy_job_set(array, "by", by ? "median" : "std"));
        CHECK_OK(c, airy_job_run(file));
        CHECK_OK(c, airy_job_run(array));
        CHECK_OK(c, airy_job_get_array(file, "image", &want));
        CHECK_OK(c, airy_job_get_array(array, "image", &got));
        CHECK(c, memcmp(want.data, got.data, info.height * info.width * sizeof(double)) == 0);
        CHECK_OK(c, airy_job_reset(file, "by"));
        CHECK_OK(c, airy_job_reset(array, "by"));
    }
    airy_job_destroy(&file);
    airy_job_destroy(&array);
    CHECK_OK(c, airy_job_create(&array, "compress", NULL, NULL));
    CHECK_OK(c, airy_job_set_array(array, "stack", &view));
    CHECK_OK(c, airy_job_set(array, "output", output));
    CHECK_OK(c, airy_job_run(array));
    airy_job_destroy(&array);
    CHECK_OK(c, airy_stack_create(&stack, &output, 1));
    for (size_t i = 0; i < FRAMES; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, again, bytes));
        CHECK(c, memcmp(again, pixels + i * bytes, bytes) == 0);
    }
    airy_stack_destroy(&stack);
}

/* The job gives the bits of its operation, in memory and in a file. */
static void check_run(struct check *c)
{
    if (!check_case(c, "job_reduce"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *output = check_run_path(c, "image.npy");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_stack *stack = NULL;
    airy_context *context = NULL;
    const airy_run_params params = {.first = 2, .last = 20, .step = 3};
    double *want = check_alloc(c, RUN_PIXELS * sizeof(*want)), frames = 0;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_OK(c, airy_context_create(&context));
    CHECK_OK(c, airy_stack_reduce(want, RUN_PIXELS * sizeof(*want), stack, c->device,
                                  AIRY_PROJECT_STD, &params, NULL));
    for (int to_file = 0; to_file < 3; to_file++) {
        airy_host_view view = {.data = NULL};
        airy_image image = {.data = NULL};
        char *json = NULL;
        airy_job *job = open_job(c, path, context, NULL);
        CHECK_OK(c, airy_job_set(job, "by", "std"));
        CHECK_OK(c, airy_job_set(job, "frames", "2:20:3"));
        if (to_file)
            CHECK_OK(c, airy_job_set(job, "output", output));
        if (to_file == 2) {
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "is there already");
            CHECK_OK(c, airy_job_set_flag(job, "force", true));
            CHECK_OK(c, airy_job_want(job, "image"));
        }
        CHECK_OK(c, airy_job_run(job));
        CHECK_OK(c, airy_job_get_number(job, "frames", &frames));
        CHECK(c, frames == 6 && strstr(airy_job_summary(job), "std of 6 frames"));
        const airy_status there = airy_job_get_array(job, "image", &view);
        CHECK(c, there == (to_file == 1 ? AIRY_ERR_NOT_FOUND : AIRY_OK));
        if (view.data)
            CHECK(c, view.dtype == AIRY_DTYPE_F64 && view.ndim == 2 &&
                         view.shape[0] == RUN_HEIGHT && view.shape[1] == RUN_WIDTH &&
                         memcmp(view.data, want, RUN_PIXELS * sizeof(*want)) == 0);
        if (to_file && CHECK_OK(c, airy_image_read(&image, output)))
            CHECK(c, memcmp(image.data, want, RUN_PIXELS * sizeof(*want)) == 0);
        airy_image_free(&image);
        CHECK_OK(c, airy_job_results_json(job, &json));
        CHECK(c,
              json &&
                  strstr(json, "\"frames\":6,\"bad\":0,\"shape\":[37,44],\"dtype\":\"float64\"") &&
                  !strstr(json, "image\":"));
        airy_job_text_free(json);
        CHECK(c, airy_job_device(job) != NULL);
        airy_job_destroy(&job);
    }
    airy_context_destroy(&context);
    airy_stack_destroy(&stack);
}

struct heard {
    size_t warnings, calls;
    pthread_t thread;
    bool elsewhere; /* a message came on another thread */
    airy_job *job;  /* cancelled at the first step; NULL: not */
    char last[512];
};

static void hear(void *user, airy_log_level level, const char *text)
{
    struct heard *heard = user;
    heard->elsewhere |= !pthread_equal(heard->thread, pthread_self());
    if (level == AIRY_LOG_WARN)
        heard->warnings++;
    if (level == AIRY_LOG_WARN)
        snprintf(heard->last, sizeof(heard->last), "%s", text);
}

static bool count_step(void *user, size_t done, size_t total)
{
    struct heard *heard = user;
    (void)done;
    (void)total;
    heard->calls++;
    airy_job_cancel(heard->job);
    return true;
}

/* A job of its own for what no job of the library has: an array, a table, JSON, hooks that misbehave. */
struct own_values {
    struct airy_job_source dark;
    double factor;
    struct airy_job_list rois;
};

static const struct airy_job_row own_rows[] = {
    {{.name = "dark",
      .type = AIRY_PARAMETER_PATH,
      .role = AIRY_ROLE_READ,
      .array = true,
      .help = "x"},
     offsetof(struct own_values, dark),
     NULL},
    {{.name = "factor", .type = AIRY_PARAMETER_REAL, .fallback = "2", .help = "x"},
     offsetof(struct own_values, factor),
     NULL},
    {{.name = "roi",
      .type = AIRY_PARAMETER_TUPLE,
      .list = true,
      .least = 2,
      .most = 4,
      .help = "x"},
     offsetof(struct own_values, rois),
     NULL},
    {{0}, 0, NULL}};

static const airy_job_result own_results[] = {{"table", AIRY_JOB_TABLE, NULL, "x"},
                                              {"list", AIRY_JOB_JSON, NULL, "x"},
                                              {"pair", AIRY_JOB_NUMBERS, NULL, "x"},
                                              {"name", AIRY_JOB_TEXT, NULL, "x"},
                                              {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

struct own_table {
    airy_column column;
    double values[2];
};

static airy_status run_own(airy_job *job, void *state)
{
    (void)state;
    const struct own_values *v = job->values;
    const double factor = v->factor, both[2] = {factor, 2 * factor};
    struct own_table *t = malloc(sizeof(*t));
    if (!t || !airy_job_step(job, 0, 1)) {
        free(t);
        return airy_fail(AIRY_ERR_CANCELLED, "cancelled");
    }
    *t = (struct own_table){
        .values = {v->dark.is_array ? *(const double *)v->dark.view.data : 0, 1}};
    t->column = (airy_column){.name = "x", .dtype = AIRY_DTYPE_F64, .data = t->values};
    airy_job_put_table(job, "table", &(airy_table){.rows = 2, .columns = 1, .column = &t->column},
                       t);
    airy_job_put_numbers(job, "pair", both, 2);
    AIRY_TRY(airy_job_put_text(job, "name", "n"));
    AIRY_TRY(airy_job_compute(job, "factor", "5"));
    return airy_job_put_json(job, "list", json_pack("[{s:i}, n]", "a", 1));
}

static void close_own(void *state)
{
    (void)state;
}

static const struct airy_job_kind own_kind = {.name = "own",
                                              .groups = {{own_rows, 0}},
                                              .results = own_results,
                                              .values_size = sizeof(struct own_values),
                                              .state_size = 1,
                                              .run = run_own,
                                              .close = close_own};

/* What a hook does with its own job: all that changes it is refused. */
struct meddler {
    struct check *c;
    airy_job *job;
    bool destroys;
};

static bool meddle(void *user, size_t done, size_t total)
{
    struct meddler *m = user;
    struct check *c = m->c;
    const airy_host_view view = {.data = m, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {1}};
    (void)done;
    (void)total;
    if (m->destroys) {
        airy_job_destroy(&m->job);
        return true;
    }
    CHECK_FAILS(c, airy_job_run(m->job), AIRY_ERR_PARAM, "job own runs already");
    CHECK_FAILS(c, airy_job_check(m->job), AIRY_ERR_PARAM, "job own runs;");
    CHECK_FAILS(c, airy_job_set(m->job, "factor", "3"), AIRY_ERR_PARAM, "job own runs;");
    CHECK_FAILS(c, airy_job_set_json(m->job, "{}"), AIRY_ERR_PARAM, "job own runs;");
    CHECK_FAILS(c, airy_job_set_array(m->job, "dark", &view), AIRY_ERR_PARAM, "job own runs;");
    CHECK_FAILS(c, airy_job_reset(m->job, "factor"), AIRY_ERR_PARAM, "job own runs;");
    CHECK_FAILS(c, airy_job_want(m->job, "table"), AIRY_ERR_PARAM, "job own runs;");
    return true;
}

static void count_release(void *user)
{
    ++*(int *)user;
}

static void check_own_arrays(struct check *c, airy_job *job)
{
    double data[6] = {7};
    int released = 0;
    airy_host_view view = {.data = data,
                           .dtype = AIRY_DTYPE_F64,
                           .ndim = 2,
                           .shape = {2, 3},
                           .strides = {24, 8},
                           .release = count_release,
                           .user = &released};
    char *text = NULL, *json = NULL;
    airy_host_view bad = view;
    bad.strides[1] = 16;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_UNSUPPORTED, "dark: ");
    bad.ndim = 5;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_SHAPE, "dark: ");
    bad = view;
    bad.shape[0] = 0;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_SHAPE, "dark: ");
    bad.shape[0] = SIZE_MAX / 8;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_SHAPE, "dark: ");
    bad = view;
    bad.data = (const char *)data + 1;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_UNSUPPORTED, "dark: ");
    bad.data = NULL;
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &bad), AIRY_ERR_PARAM, "dark: ");
    CHECK_FAILS(c, airy_job_set_array(job, "dark", NULL), AIRY_ERR_PARAM, "dark: ");
    CHECK_FAILS(c, airy_job_set_array(job, "factor", &view), AIRY_ERR_DTYPE, "factor: ");
    CHECK_OK(c, airy_job_set_array(job, "dark", &view));
    CHECK_FAILS(c, airy_job_set_array(job, "dark", &view), AIRY_ERR_PARAM, "dark: it was set");
    CHECK_FAILS(c, airy_job_set(job, "dark", "a.npy"), AIRY_ERR_PARAM, "dark a.npy: it was set");
    CHECK_OK(c, airy_job_get(job, "dark", &text));
    CHECK_OK(c, airy_job_get_json(job, &json));
    CHECK(c, !text && strcmp(json, "{\"dark\":null}") == 0);
    CHECK_OK(c, airy_job_set_json(job, json));
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_set(job, "roi", "1,2"));
    CHECK_OK(c, airy_job_set_numbers(job, "roi", (double[]){3, 4.5, 6}, 3));
    CHECK_FAILS(c, airy_job_set(job, "roi", "1"), AIRY_ERR_PARAM, "roi 1: expected 2 to 4 numbers");
    CHECK_OK(c, airy_job_get_json(job, &json));
    CHECK(c, strcmp(json, "{\"dark\":null,\"roi\":[[1.0,2.0],[3.0,4.5,6.0]]}") == 0);
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_reset(job, "roi"));
    CHECK_OK(c, airy_job_set_json(job, "{\"roi\":[[1,2],[3,4.5,6]]}"));
    CHECK_OK(c, airy_job_get(job, "roi", &text));
    CHECK(c, strcmp(text, "1,2\n3,4.5,6") == 0);
    airy_job_text_free(text);
    CHECK_FAILS(c, airy_job_set_json(job, "{\"factor\":1,\"roi\":[[1,2],[3]]}"), AIRY_ERR_PARAM,
                "roi");
    CHECK(c, released == 0);
    CHECK_OK(c, airy_job_reset(job, "dark"));
    CHECK(c, released == 1);
    CHECK_OK(c, airy_job_set_array(job, "dark", &view));
    CHECK_OK(c, airy_job_run(job));
    const airy_table *table = NULL;
    CHECK_OK(c, airy_job_get_table(job, "table", &table));
    CHECK(c, table->rows == 2 && *(const double *)table->column[0].data == 7);
    CHECK_OK(c, airy_job_reset(job, "dark"));
    CHECK(c, released == 2);
}

/* Results of every kind; arrays; hooks; a job and a context that are destroyed while they are used. */
static void check_own(struct check *c)
{
    if (!check_case(c, "job_misuse"))
        return;
    struct meddler meddler = {.c = c};
    const airy_job_hooks hooks = {.progress = meddle, .user = &meddler};
    airy_context *context = NULL;
    const double *numbers = NULL;
    const airy_table *table = NULL;
    const char *text = NULL;
    char *json = NULL;
    size_t count = 0;
    CHECK_OK(c, airy_context_create(&context));
    CHECK_OK(c, airy_job_make(&meddler.job, &own_kind, context, &hooks));
    airy_context_destroy(&context);
    CHECK(c, !context);
    CHECK_OK(c, airy_job_run(meddler.job));
    CHECK_OK(
        c, airy_job_get(meddler.job, "factor", &json)); /* what was computed is the default again */
    CHECK(c, json && strcmp(json, "2") == 0);
    airy_job_text_free(json);
    CHECK_OK(c, airy_job_get_numbers(meddler.job, "pair", &numbers, &count));
    CHECK(c, count == 2 && numbers[1] == 4 && airy_job_seconds(meddler.job) > 0);
    CHECK_OK(c, airy_job_get_text(meddler.job, "list", &text));
    CHECK(c, strcmp(text, "[{\"a\":1},null]") == 0);
    CHECK_OK(c, airy_job_get_text(meddler.job, "name", &text));
    CHECK(c, strcmp(text, "n") == 0);
    CHECK_FAILS(c, airy_job_get_text(meddler.job, "pair", &text), AIRY_ERR_PARAM, "another kind");
    CHECK_FAILS(c, airy_job_get_table(meddler.job, "list", &table), AIRY_ERR_PARAM, "another kind");
    CHECK_FAILS(c, airy_job_get_numbers(meddler.job, "no", &numbers, &count), AIRY_ERR_NOT_FOUND,
                "no result");
    CHECK_OK(c, airy_job_results_json(meddler.job, &json));
    CHECK(c, strcmp(json, "{\"list\":[{\"a\":1},null],\"pair\":[2,4],\"name\":\"n\"}") == 0);
    airy_job_text_free(json);
    check_own_arrays(c, meddler.job);
    meddler.destroys = true;
    airy_job *job = meddler.job;
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled");
    CHECK(c, !meddler.job);
}

/* A bad frame ends a run, or is left out, which the status says; cancelling leaves nothing. */
static void check_ends(struct check *c)
{
    if (!check_case(c, "job_reduce_ends"))
        return;
    const char *path = check_run_path(c, "spoiled.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, BAD, FLIPPED);
    struct heard heard = {.thread = pthread_self()};
    const airy_job_hooks hooks = {.progress = count_step, .message = hear, .user = &heard};
    airy_host_view view;
    size_t done = 1, total = 1;
    double bad = 0;
    airy_job *job = open_job(c, path, NULL, &hooks);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CORRUPT, "spoiled.h5::/entry/data/data frame 10");
    CHECK(c, airy_job_get_array(job, "image", &view) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY && heard.warnings == 1 && !heard.elsewhere &&
                 heard.calls > 0 && strstr(heard.last, "1 of 23 frames is left out; the first: "));
    CHECK_OK(c, airy_job_get_number(job, "bad", &bad));
    CHECK(c, bad == 1);
    CHECK_OK(c, airy_job_get_array(job, "image", &view));
    airy_job_progress(job, &done, &total);
    CHECK(c, done == FRAMES && total == FRAMES);
    heard.job = job;
    CHECK_OK(c, airy_job_reset(job, "on-error"));
    CHECK_OK(c, airy_job_set(job, "frames", "0:9"));
    const airy_status status = airy_job_run(job);
    CHECK(c, status == AIRY_ERR_CANCELLED || status == AIRY_OK);
    CHECK(c, (status == AIRY_OK) == (airy_job_get_array(job, "image", &view) == AIRY_OK));
    airy_job_destroy(&job);
    airy_context_release();
}

struct worker {
    struct check *c;
    const char *path;
    airy_context *context;
    airy_status status;
};

static void *work(void *user)
{
    struct worker *w = user;
    airy_job *job = NULL;
    w->status = airy_job_create(&job, "reduce", w->context, NULL);
    for (int i = 0; i < 3 && w->status == AIRY_OK; i++) {
        if (i == 0)
            w->status = airy_job_set(job, "stack", w->path);
        if (i == 0 && w->status == AIRY_OK)
            w->status = airy_job_set(job, "device", w->c->spec);
        if (w->status == AIRY_OK)
            w->status = airy_job_run(job);
    }
    airy_job_destroy(&job);
    return NULL;
}

/* Jobs of several threads share the devices of a context. */
static void check_threads(struct check *c)
{
    enum { THREADS = 4 };
    if (!check_case(c, "job_threads"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    airy_context *context = NULL;
    CHECK_OK(c, airy_context_create(&context));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){c, path, context, AIRY_OK};
        CHECK(c, pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c, workers[i].status == AIRY_OK);
    }
    airy_context_destroy(&context);
}

/* A job that writes a stack; the caller destroys it. */
static airy_job *stack_job(struct check *c, const char *name, const char *input, const char *output)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, name, NULL, NULL));
    CHECK_OK(c, airy_job_set(job,
                             airy_job_parameter_at(name, 0)->role == AIRY_ROLE_INPUT
                                 ? airy_job_parameter_at(name, 0)->name
                                 : "stack",
                             input));
    CHECK_OK(c, airy_job_set(job, "output", output));
    return job;
}

/* A job of two that write one file; `force`: each may replace what is there. */
struct rival {
    struct check *c;
    const char *input, *output;
    bool force;
    pthread_barrier_t *start;
    airy_status status;
};

static void *write_stack(void *user)
{
    struct rival *r = user;
    airy_job *job = stack_job(r->c, "compress", r->input, r->output);
    if (r->force)
        CHECK_OK(r->c, airy_job_set_flag(job, "force", true));
    pthread_barrier_wait(r->start);
    r->status = airy_job_run(job);
    airy_job_destroy(&job);
    return NULL;
}

/* Two runs of one output at the same time: one file, whole, of one of them. */
static void check_one_output(struct check *c)
{
    if (!check_case(c, "job_one_output"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *output = check_run_path(c, "one.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    for (int force = 0; force < 2; force++) {
        struct rival rivals[2];
        pthread_t thread;
        pthread_barrier_t start;
        airy_stack *stack = NULL;
        airy_stack_info info;
        pthread_barrier_init(&start, NULL, 2);
        for (int i = 0; i < 2; i++)
            rivals[i] = (struct rival){c, path, output, force, &start, AIRY_OK};
        CHECK(c, pthread_create(&thread, NULL, write_stack, &rivals[1]) == 0);
        (void)write_stack(&rivals[0]);
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&start);
        const int good = (rivals[0].status == AIRY_OK) + (rivals[1].status == AIRY_OK);
        for (int i = 0; i < 2; i++)
            CHECK(c, rivals[i].status == AIRY_OK || rivals[i].status == AIRY_ERR_EXISTS);
        CHECK(c, force ? good >= 1 : good == 1);
        CHECK_OK(c, airy_stack_create(&stack, &output, 1));
        CHECK_OK(c, airy_stack_get_info(stack, &info));
        CHECK(c, info.frames == FRAMES);
        airy_stack_destroy(&stack);
    }
}

/* What compress writes is what airy_stack_writer_fill writes, and decompress gives the pixels back. */
static void check_compress(struct check *c)
{
    if (!check_case(c, "job_compress"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *packed = check_run_path(c, "packed.h5"),
               *by_hand = check_run_path(c, "hand.h5"), *plain = check_run_path(c, "plain.h5");
    const uint32_t *frames = check_run_frames(c, FRAMES);
    check_run_stack(c, path, frames, FRAMES, FRAMES, SOUND);
    airy_stack *stack = NULL;
    double number = 0;
    char *json = NULL;
    uint32_t *pixels = check_alloc(c, RUN_PIXELS * sizeof(*pixels));
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    const airy_stack_write_params params = {
        .format = {.dtype = AIRY_DTYPE_U32,
                   .frames = 6,
                   .height = RUN_HEIGHT,
                   .width = RUN_WIDTH,
                   .codec = {.codec = AIRY_CODEC_LZ4, .elem_size = 4, .block_bytes = 2048}},
        .fill = {.stack = stack, .first = 2, .last = 20, .step = 3}};
    CHECK_OK(c, airy_stack_write_file(by_hand, &params, NULL));
    airy_stack_destroy(&stack);
    airy_job *job = stack_job(c, "compress", path, packed);
    CHECK_OK(c, airy_job_set_json(job, "{\"filter\": \"lz4\", \"block\": 2048, \"frames\": "
                                       "\"2:20:3\", \"threads\": 2}"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strstr(json, "\"frames\":6,\"bad\":0,\"shape\":[6,37,44],\"dtype\":\"uint32\","
                          "\"codec\":\"lz4\",\"stored_bytes\":"));
    CHECK_OK(c, airy_job_get_number(job, "decoded_bytes", &number));
    CHECK(c,
          number == 6.0 * RUN_PIXELS * 4 && strstr(airy_job_summary(job), "6 frames of 37 x 44"));
    CHECK(c, airy_job_device(job) == NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "is there already");
    airy_job_text_free(json);
    airy_job_destroy(&job);
    size_t size[2];
    const void *got = stack_slurp(c, packed, &size[0]), *want = stack_slurp(c, by_hand, &size[1]);
    CHECK(c, size[0] == size[1] && memcmp(got, want, size[0]) == 0);
    job = stack_job(c, "decompress", packed, plain);
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    CHECK_OK(c, airy_stack_create(&stack, &plain, 1));
    for (size_t i = 0; i < 6; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, pixels, RUN_PIXELS * sizeof(*pixels)));
        CHECK(c,
              memcmp(pixels, frames + (2 + 3 * i) * RUN_PIXELS, RUN_PIXELS * sizeof(*pixels)) == 0);
    }
    airy_stack_destroy(&stack);
}

/* What these jobs refuse; nothing is written over, and bad frames are left out where that is asked. */
static void check_compress_ends(struct check *c)
{
    if (!check_case(c, "job_compress_ends"))
        return;
    const char *path = check_run_path(c, "spoiled.h5"), *output = check_run_path(c, "out.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, BAD, FLIPPED);
    struct heard heard = {.thread = pthread_self()};
    const airy_job_hooks hooks = {.progress = count_step, .message = hear, .user = &heard};
    airy_job *job = NULL;
    char *json = NULL;
    double bad = 0;
    CHECK_OK(c, airy_job_create(&job, "compress", NULL, &hooks));
    CHECK_FAILS(c, airy_job_set(job, "block", "8G"), AIRY_ERR_PARAM,
                "block 8G: expected 1 to 4294967295 bytes");
    CHECK_FAILS(c, airy_job_set(job, "filter", "gzip"), AIRY_ERR_PARAM, "expected bslz4 or lz4");
    CHECK_OK(c, airy_job_set(job, "stack", path));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "output is missing");
    CHECK_OK(c, airy_job_set(job, "output", "a.npy"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM,
                "output 'a.npy': expected a name that ends");
    CHECK_OK(c, airy_job_reset(job, "output"));
    CHECK_OK(c, airy_job_set(job, "output", path));
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "would be lost");
    CHECK_OK(c, airy_job_reset(job, "output"));
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_set(job, "block", "100"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "block 100: expected a multiple of 8");
    CHECK_OK(c, airy_job_reset(job, "block"));
    CHECK_OK(c, airy_job_set(job, "block", "1000"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_UNSUPPORTED,
                "block 1000: expected a multiple of 32 bytes");
    CHECK_OK(c, airy_job_reset(job, "block"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CORRUPT, "frame 10");
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK_OK(c, airy_job_set_flag(job, "profile", true));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY && heard.warnings == 1 && !heard.elsewhere &&
                 strstr(heard.last, "1 of 23 frames is left out; the first: "));
    CHECK_OK(c, airy_job_get_number(job, "bad", &bad));
    CHECK(c, bad == 1 && airy_job_device(job) != NULL);
    heard.job = job;
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "out.h5: cancelled after ");
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, strcmp(json, "{}") == 0 && !*airy_job_summary(job));
    airy_job_text_free(json);
    airy_job_destroy(&job);
    airy_context_release();
}

enum { SPARSE_FRAMES = 3, SPARSE_PIXELS = 12 };

static const char configuration[] =
    "{\"geometry\": {\"detector\": \"mine\", \"pixel1\": 1e-4, \"pixel2\": 1e-4, \"shape\": [3, "
    "4], "
    "\"orientation\": 3, \"dist\": 0.25, \"poni1\": 0, \"poni2\": 0, \"rot1\": 0, \"rot2\": 0, "
    "\"rot3\": 0, \"wavelength\": 1e-10, \"parallax\": false}}";

static void write_sparse(struct check *c, const char *path)
{
    const double radial[2] = {0.5, 1.5};
    const uint16_t values[2] = {700, 800};
    const uint32_t places[2] = {1, 11};
    const float std[2] = {2, 3};
    float radius[SPARSE_PIXELS], ones[SPARSE_PIXELS];
    airy_sparse_writer *writer = NULL;
    for (size_t i = 0; i < SPARSE_PIXELS; i++) {
        radius[i] = i == 5 ? NAN : (float)i / 6;
        ones[i] = 1;
    }
    const airy_sparse_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                              .height = 3,
                                              .width = 4,
                                              .bins = 2,
                                              .unit = AIRY_UNIT_Q_NM,
                                              .radial = radial,
                                              .radius = radius,
                                              .normalization = ones,
                                              .configuration = configuration};
    CHECK_OK(c, airy_sparse_writer_create(&writer, path, &params));
    for (size_t i = 0; i < SPARSE_FRAMES; i++) {
        const float mean[2] = {20 + (float)i, 40};
        const airy_sparse_frame frame = {.number = i,
                                         .index = places,
                                         .intensity = values,
                                         .pixels = 2,
                                         .mean = mean,
                                         .std = std};
        CHECK_OK(c, airy_sparse_writer_add(writer, &frame, 1));
    }
    CHECK_OK(c, airy_sparse_writer_finish(writer));
    airy_sparse_writer_destroy(&writer);
}

/* Frames are those of airy_sparse_densify; a seed goes with a noise. */
static void check_densify(struct check *c)
{
    if (!check_case(c, "job_densify"))
        return;
    const char *path = check_run_path(c, "sparse.h5"), *output = check_run_path(c, "out.h5");
    const airy_densify_params how = {.noise = AIRY_DENSIFY_POISSON, .seed = 7};
    uint16_t got[SPARSE_PIXELS], want[SPARSE_PIXELS];
    airy_sparse *sparse = NULL;
    airy_stack *stack = NULL;
    write_sparse(c, path);
    static const char *const bad[] = {"", "[1]", "{\"geometry\": 1}",
                                      "{\"geometry\": {\"dist\": 1}}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_geometry_parse(&(airy_geometry){.dist = 0}, bad[i]), AIRY_ERR_FORMAT,
                    "no geometry");
    airy_stack_meta meta;
    airy_job *job = stack_job(c, "densify", path, output);
    CHECK_OK(c, airy_job_set(job, "seed", "7"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "seed goes with noise poisson or gaussian");
    CHECK_OK(c, airy_job_set(job, "noise", "none"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "seed goes with noise poisson or gaussian");
    CHECK_OK(c, airy_job_reset(job, "noise"));
    CHECK_OK(c, airy_job_set(job, "noise", "poisson"));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    CHECK_OK(c, airy_sparse_create(&sparse, path));
    CHECK_OK(c, airy_stack_create(&stack, &output, 1));
    CHECK_OK(c, airy_stack_get_meta(stack, &meta));
    CHECK(c, meta.has_geometry && meta.geometry.dist == 0.25 && meta.geometry.wavelength == 1e-10);
    for (size_t i = 0; i < SPARSE_FRAMES; i++) {
        CHECK_OK(c, airy_sparse_densify(sparse, i, want, sizeof(want), &how));
        CHECK_OK(c, airy_stack_read(stack, i, got, sizeof(got)));
        CHECK(c, got[1] == 700 && memcmp(got, want, sizeof(got)) == 0);
    }
    airy_stack_destroy(&stack);
    airy_sparse_destroy(&sparse);
    job = stack_job(c, "densify", path, path);
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "would be lost");
    airy_job_destroy(&job);
}

void check_job(struct check *c)
{
    check_descriptions(c);
    check_value_forms(c);
    check_bad_values(c);
    check_bad_calls(c);
    check_json(c);
    check_own(c);
    check_resolve(c);
    check_stack_array(c);
    check_run(c);
    check_ends(c);
    check_threads(c);
    check_one_output(c);
    check_compress(c);
    check_compress_ends(c);
    check_densify(c);
    check_job_images(c);
    check_job_peaks(c);
    check_job_geometry(c);
}
