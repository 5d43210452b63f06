/*
 * Values of all jobs, from a fuzzer: texts of single parameters, JSON objects and configurations of
 * results. What a job takes, another one takes from its JSON, and has the same JSON then. No file is
 * opened: jobs are checked, and not run.
 *
 * Input: a byte for the job, then steps: a byte for what is done, two for the parameter or the end of
 * the text, then the text. JSON is also made of the job's own names, so that no dictionary is needed.
 */
#include <stdio.h>
#include <string.h>

#include "airy/airy.h"
#include "fuzz.h"

enum { MOST = 4096, STEPS = 32 };

static const char *const texts[] = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "0.5",
                                    "1e308",
                                    "1e-320",
                                    "18446744073709551615",
                                    "18446744073709551614",
                                    "9223372036854775808",
                                    "4294967295x4294967295",
                                    "1x1",
                                    "0:",
                                    ":1",
                                    "3:2",
                                    "1:18446744073709551615:3",
                                    "1,2",
                                    "1,2,3,4,5,6,7,8,9",
                                    "nan",
                                    "inf",
                                    "on",
                                    "off",
                                    "all",
                                    "float32",
                                    "uint8",
                                    "1T",
                                    "16777216T",
                                    ".",
                                    ",",
                                    "",
                                    "%s%n",
                                    "\xff\xfe",
                                    "a.h5",
                                    "a.fits",
                                    "a.npy",
                                    "a.tif",
                                    "18446744073709551614x2,uint8",
                                    "Si,1e-300",
                                    "tcp://[::1]:1",
                                    "a.xye",
                                    "a.dat",
                                    "{series}.h5",
                                    "2th_deg"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* A text that is the fuzzer's, or one of those above. */
static const char *take_text(struct input *in, char text[MOST])
{
    const unsigned kind = take(in);
    if (kind < TEXTS)
        return texts[kind];
    size_t n = take(in);
    n |= kind & 1 ? (size_t)take(in) << 8 : 0;
    n = n < MOST - 1 ? n : MOST - 1;
    for (size_t i = 0; i < n; i++)
        text[i] = (char)take(in);
    text[n] = 0;
    return text;
}

/* Also a word that the parameter has. */
static const char *take_value(struct input *in, char text[MOST], const airy_parameter *p)
{
    size_t words = 0;
    while (p->words && p->words[words])
        words++;
    return words && take(in) & 1 ? p->words[take(in) % words] : take_text(in, text);
}

/* What is refused names its parameter, or a file. */
static void check_refusal(airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    if (status >= AIRY_OK || status == AIRY_ERR_MEMORY ||
        (error.status == status && error.text[0] && error.name[0] &&
         error.subject != AIRY_SUBJECT_NONE))
        return;
    (void)fprintf(stderr, "nothing is named: %s\n", error.text);
    abort();
}

static const airy_parameter *take_parameter(struct input *in, const airy_job_info *info)
{
    return airy_job_parameter_at(info->name, take(in) % info->parameters);
}

/* A value as JSON: a string, a number as it stands, a list of some, or nested arrays. */
static size_t add_value(char *json, size_t size, struct input *in, const airy_parameter *p)
{
    char text[MOST];
    const unsigned form = take(in) % 6;
    const char *value = take_value(in, text, p);
    int n = form == 0   ? snprintf(json, size, "\"%s\"", value)
            : form == 1 ? snprintf(json, size, "%s", value)
            : form == 2 ? snprintf(json, size, "[%s, %s]", value, value)
            : form == 3 ? snprintf(json, size, "[\"%s\", \"%s\"]", value, value)
            : form == 4 ? snprintf(json, size, "[[{\"a\": [%s]}]]", value)
                        : snprintf(json, size, "%s", take(in) & 1 ? "true" : "null");
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void make_json(char *json, size_t size, struct input *in, const airy_job_info *info)
{
    size_t n = (size_t)snprintf(json, size, "{");
    for (unsigned k = take(in) % 8; k > 0 && n + 128 < size; k--) {
        const airy_parameter *p = take_parameter(in, info);
        n += (size_t)snprintf(json + n, size - n, "%s\"%s\": ", n > 1 ? "," : "", p->name);
        n += add_value(json + n, size - n - 2, in, p);
    }
    snprintf(json + n, size - n, "}");
}

static void make_configuration(char *json, size_t size, struct input *in, const airy_job_info *info)
{
    char text[MOST];
    size_t n = (size_t)snprintf(json, size, "{\"command\": \"%s\", \"options\": [", info->name);
    for (unsigned k = take(in) % 8; k > 0 && n + 256 < size; k--) {
        const airy_parameter *p = take_parameter(in, info);
        const bool bare = take(in) & 1;
        n += (size_t)snprintf(json + n, size - n, "\"--%s%s%.1000s\"%s", p->name, bare ? "" : "=",
                              bare ? "" : take_value(in, text, p), k > 1 ? ", " : "");
        n = n < size ? n : size - 1;
    }
    n += (size_t)snprintf(json + n, size - n, "], \"geometry\": {\"dist\": %s, \"detector\": %s}}",
                          take_text(in, text), "\"eiger_4M\"");
}

static void step(airy_job *job, const airy_job_info *info, struct input *in)
{
    static char json[4 * MOST];
    static const double numbers[] = {0, -0.0, 1, -1, 0.5, 0x1p53, 0x1p64, 1e308, -1e308, 1e-320};
    enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
    char text[MOST], *value = NULL;
    const airy_parameter *p = take_parameter(in, info);
    double many[80];
    switch (take(in) % 10) {
    case 0:
        (void)airy_job_set_json(job, take_text(in, text));
        break;
    case 1:
        make_json(json, sizeof(json), in, info);
        (void)airy_job_set_json(job, json);
        break;
    case 2:
        (void)airy_job_set_configuration(job, take_text(in, text));
        break;
    case 3:
        make_configuration(json, sizeof(json), in, info);
        (void)airy_job_set_configuration(job, json);
        break;
    case 4:
        check_refusal(airy_job_set_number(job, p->name, numbers[take(in) % NUMBERS]));
        break;
    case 5:
        for (size_t i = 0; i < 80; i++)
            many[i] = numbers[take(in) % NUMBERS];
        check_refusal(airy_job_set_numbers(job, p->name, many, take(in) % 80));
        break;
    case 6:
        check_refusal(airy_job_set_flag(job, p->name, take(in) & 1));
        break;
    case 7:
        (void)airy_job_reset(job, p->name);
        break;
    default:
        check_refusal(airy_job_set(job, p->name, take_value(in, text, p)));
    }
    if (airy_job_get(job, p->name, &value) == AIRY_OK)
        airy_job_text_free(value);
}

/* Another job takes the JSON, and has the same; a text may be no UTF-8, which JSON cannot hold. */
static void set_again(const airy_job *job, const char *name)
{
    airy_job *other = NULL;
    char *first = NULL, *second = NULL;
    if (airy_job_get_json(job, &first) != AIRY_OK)
        return;
    require(airy_job_create(&other, name, NULL, NULL) == AIRY_OK);
    require(airy_job_set_json(other, first) == AIRY_OK);
    require(airy_job_get_json(other, &second) == AIRY_OK);
    require(strcmp(first, second) == 0);
    airy_job_text_free(first);
    airy_job_text_free(second);
    airy_job_destroy(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    airy_job *job = NULL;
    airy_job_info info = {0};
    require(airy_job_at(&info, take(&in) % airy_job_count()) == AIRY_OK);
    require(airy_job_create(&job, info.name, NULL, NULL) == AIRY_OK);
    for (int i = 0; i < STEPS && in.left > 0; i++)
        step(job, &info, &in);
    check_refusal(airy_job_check(job));
    set_again(job, info.name);
    airy_job_destroy(&job);
    return 0;
}
