/* What every job refuses, for each of its parameters: nothing is set, and the record names the parameter. */
#include <stdio.h>
#include <string.h>

#include "airy/error.h"
#include "airy/job.h"
#include "check.h"

static airy_job *open_job(struct check *c, size_t index, airy_job_info *info)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_at(info, index));
    CHECK_OK(c, airy_job_create(&job, info->name, NULL, NULL));
    return job;
}

static void check_unchanged(struct check *c, const airy_job *job, const char *name)
{
    char *json = NULL;
    airy_job_origin origin = AIRY_ORIGIN_COUNT;
    CHECK_OK(c, airy_job_get_json(job, &json));
    CHECK_OK(c, airy_job_get_origin(job, name, &origin));
    if (!CHECK(c, json && strcmp(json, "{}") == 0 && origin == AIRY_ORIGIN_DEFAULT))
        printf("# %s: %s\n", name, json ? json : "");
    airy_job_text_free(json);
}

/* The failure is of one of these statuses, and names the parameter, also at the head of its sentence. */
static void check_refusal(struct check *c, const airy_job_info *info, const airy_parameter *p,
                          const char *what, airy_status got, airy_status want)
{
    airy_error error;
    airy_error_get(&error);
    if (!CHECK(c, got == want && error.status == got && error.subject == AIRY_SUBJECT_PARAMETER &&
                      strcmp(error.name, p->name) == 0 &&
                      strncmp(error.text, p->name, strlen(p->name)) == 0))
        printf("# %s %s, %s: status %d, subject %d '%s': %s\n", info->name, p->name, what, got,
               (int)error.subject, error.name, error.text);
}

static bool takes_number(const airy_parameter *p)
{
    return p->type == AIRY_PARAMETER_WHOLE || p->type == AIRY_PARAMETER_SEED ||
           p->type == AIRY_PARAMETER_BYTES || p->type == AIRY_PARAMETER_REAL;
}

/* Parts of a record may be names, which are looked up when the values are looked at together. */
static bool takes_any_text(const airy_parameter *p)
{
    return p->type == AIRY_PARAMETER_TEXT || p->type == AIRY_PARAMETER_PATH ||
           p->type == AIRY_PARAMETER_RECORD;
}

static void refuse_typed(struct check *c, airy_job *job, const airy_job_info *info,
                         const airy_parameter *p)
{
    static const double numbers[64] = {1, 2};
    static const uint8_t pixel;
    const airy_host_view view = {.data = &pixel, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {1}};
    if (!takes_number(p) && p->type != AIRY_PARAMETER_RECORD &&
        p->type != AIRY_PARAMETER_RANGE) /* of which some are one number */
        check_refusal(c, info, p, "a number", airy_job_set_number(job, p->name, 1), AIRY_ERR_DTYPE);
    else if (takes_number(p) && !p->any)
        check_refusal(c, info, p, "not a number", airy_job_set_number(job, p->name, NAN),
                      AIRY_ERR_PARAM);
    if (p->type != AIRY_PARAMETER_TUPLE)
        check_refusal(c, info, p, "numbers", airy_job_set_numbers(job, p->name, numbers, 2),
                      AIRY_ERR_DTYPE);
    if (p->type != AIRY_PARAMETER_FLAG)
        check_refusal(c, info, p, "a flag", airy_job_set_flag(job, p->name, true), AIRY_ERR_DTYPE);
    if (!p->array)
        check_refusal(c, info, p, "an array", airy_job_set_array(job, p->name, &view),
                      AIRY_ERR_DTYPE);
}

static void refuse_texts(struct check *c, airy_job *job, const airy_job_info *info,
                         const airy_parameter *p)
{
    char text[64];
    check_refusal(c, info, p, "no text", airy_job_set(job, p->name, NULL), AIRY_ERR_PARAM);
    if (p->type != AIRY_PARAMETER_RECORD)
        check_refusal(c, info, p, "an empty text", airy_job_set(job, p->name, ""), AIRY_ERR_PARAM);
    if (!takes_any_text(p))
        check_refusal(c, info, p, "other text", airy_job_set(job, p->name, "\x7f!"),
                      AIRY_ERR_PARAM);
    if (!takes_number(p) || (p->lo == 0 && p->hi == 0))
        return;
    if (isfinite(p->hi) && p->hi < 1e300) {
        snprintf(text, sizeof(text), "%.0f", p->hi * 2 + 1);
        check_refusal(c, info, p, text, airy_job_set(job, p->name, text), AIRY_ERR_PARAM);
    }
    if (isfinite(p->lo) && p->lo > -1e300) {
        snprintf(text, sizeof(text), "%.0f", p->lo - 2 - fabs(p->lo));
        check_refusal(c, info, p, text, airy_job_set(job, p->name, text), AIRY_ERR_PARAM);
    }
}

static void refuse_json(struct check *c, airy_job *job, const airy_job_info *info,
                        const airy_parameter *p)
{
    char json[256];
    snprintf(json, sizeof(json), "{\"%s\": {}}", p->name);
    check_refusal(c, info, p, json, airy_job_set_json(job, json), AIRY_ERR_DTYPE);
    snprintf(json, sizeof(json), "{\"%s\": [[[1]]]}", p->name);
    check_refusal(c, info, p, json, airy_job_set_json(job, json), AIRY_ERR_DTYPE);
    snprintf(json, sizeof(json), "{\"%s\": 1, \"%s\": 1}", p->name, p->name);
    CHECK_FAILS(c, airy_job_set_json(job, json), AIRY_ERR_FORMAT, "occurs twice");
    snprintf(json, sizeof(json), "{\"%s\": 1, \"%sx\": 1}", p->name, p->name);
    CHECK(c, airy_job_set_json(job, json) < AIRY_OK);
}

/* Other kinds of values, and values that are out of range, in each way to set them. */
static void refuse_values(struct check *c)
{
    if (!check_case(c, "job_all_values"))
        return;
    for (size_t i = 0; i < airy_job_count(); i++) {
        airy_job_info info;
        airy_job *job = open_job(c, i, &info);
        for (size_t k = 0; k < info.parameters; k++) {
            const airy_parameter *p = airy_job_parameter_at(info.name, k);
            refuse_typed(c, job, &info, p);
            refuse_texts(c, job, &info, p);
            refuse_json(c, job, &info, p);
            check_unchanged(c, job, p->name);
        }
        airy_job_destroy(&job);
    }
}

/* Each parameter by a value of its description: once, and not twice; a list any number of times. */
static void check_twice(struct check *c)
{
    if (!check_case(c, "job_all_twice"))
        return;
    for (size_t i = 0; i < airy_job_count(); i++) {
        airy_job_info info;
        airy_job *job = open_job(c, i, &info);
        for (size_t k = 0; k < info.parameters; k++) {
            const airy_parameter *p = airy_job_parameter_at(info.name, k);
            const char *text = p->type == AIRY_PARAMETER_FLAG    ? "on"
                               : p->words                        ? p->words[0]
                               : p->fallback && !p->computed     ? p->fallback
                               : p->type == AIRY_PARAMETER_PATH  ? "none"
                               : p->type == AIRY_PARAMETER_RANGE ? "1:2"
                                                                 : NULL;
            if (!text || airy_job_set(job, p->name, text) != AIRY_OK)
                continue;
            const airy_status status = airy_job_set(job, p->name, text);
            if (!p->list)
                check_refusal(c, &info, p, "set twice", status, AIRY_ERR_PARAM);
            else
                CHECK_OK(c, airy_job_set(job, p->name, text));
            CHECK_OK(c, airy_job_reset(job, p->name));
            check_unchanged(c, job, p->name);
        }
        airy_job_destroy(&job);
    }
}

/* Names that a job does not have, and a job that was never given anything. */
static void check_names(struct check *c)
{
    static const char *const names[] = {"", "no such", "\xff", "%s%n", "output "};
    if (!check_case(c, "job_all_names"))
        return;
    for (size_t i = 0; i < airy_job_count(); i++) {
        airy_job_info info;
        airy_error error;
        airy_job_origin origin;
        char *text = NULL;
        airy_job *job = open_job(c, i, &info);
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            CHECK(c, airy_job_set(job, names[k], "1") == AIRY_ERR_NOT_FOUND);
            airy_error_get(&error);
            CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER && strstr(error.text, info.name));
            CHECK(c, airy_job_set_number(job, names[k], 1) == AIRY_ERR_NOT_FOUND);
            CHECK(c, airy_job_set_flag(job, names[k], true) == AIRY_ERR_NOT_FOUND);
            CHECK(c, airy_job_reset(job, names[k]) == AIRY_ERR_NOT_FOUND);
            CHECK(c, airy_job_get(job, names[k], &text) == AIRY_ERR_NOT_FOUND && !text);
            CHECK(c, airy_job_get_origin(job, names[k], &origin) == AIRY_ERR_NOT_FOUND);
            CHECK(c, airy_job_want(job, names[k]) == AIRY_ERR_NOT_FOUND);
        }
        const airy_status status = airy_job_check(job);
        airy_error_get(&error);
        CHECK(c, status == AIRY_OK || (status == AIRY_ERR_PARAM && error.text[0] &&
                                       error.subject == AIRY_SUBJECT_PARAMETER));
        airy_job_destroy(&job);
    }
}

/* Cancelled before it begins, in each way to begin; then it is a job as before. */
static void check_cancelled(struct check *c)
{
    if (!check_case(c, "job_all_cancelled"))
        return;
    for (size_t i = 0; i < airy_job_count(); i++) {
        airy_job_info info;
        size_t done = 1, total = 1;
        airy_job *job = open_job(c, i, &info);
        airy_job_cancel(job);
        airy_job_progress(job, &done, &total);
        CHECK(c, done == 0 && total == 0 && *airy_job_summary(job) == 0 && !airy_job_device(job));
        const airy_status check = airy_job_check(job);
        if (check == AIRY_OK) { /* it needs no parameter */
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "before the run");
        } else {
            CHECK(c, airy_job_run(job) < AIRY_OK);
            CHECK(c, airy_job_start(job) < AIRY_OK);
        }
        airy_job_cancel(job);
        airy_job_destroy(&job);
    }
}

/* Configurations of results: of another job, and with a parameter that the job does not have. */
static void check_configurations(struct check *c)
{
    if (!check_case(c, "job_all_configurations"))
        return;
    for (size_t i = 0; i < airy_job_count(); i++) {
        airy_job_info info;
        char json[256];
        airy_job *job = open_job(c, i, &info);
        CHECK_FAILS(c, airy_job_set_configuration(job, "{\"command\": \"other\", \"options\": []}"),
                    AIRY_ERR_FORMAT, "is that of a result of other");
        snprintf(json, sizeof(json), "{\"command\": \"%s\", \"options\": [\"--nothing=1\"]}",
                 info.name);
        CHECK(c, airy_job_set_configuration(job, json) < AIRY_OK && airy_last_error()[0]);
        check_unchanged(c, job, airy_job_parameter_at(info.name, 0)->name);
        airy_job_destroy(&job);
    }
}

void check_job_all(struct check *c)
{
    check_configurations(c);
    refuse_values(c);
    check_twice(c);
    check_names(c);
    check_cancelled(c);
}
