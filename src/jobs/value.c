/* Values of parameters: their text, their JSON, their memory. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/word.h"
#include "jobs/job.h"

enum { WORDS = 768, WHY = 1024, TEXT = 4096 };
_Static_assert(AIRY_JOB_TUPLE *(AIRY_NUMBER_TEXT + 1) <= TEXT, "a tuple fits a text");

static bool parse_whole(uint64_t *value, const char *text)
{
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    errno = 0;
    const unsigned long long number = strtoull(text, NULL, 10);
    *value = number;
    return errno == 0;
}

static bool parse_bytes(uint64_t *value, const char *text)
{
    static const char units[] = "KMGT";
    char digits[32];
    double number, scale = 1;
    const size_t n = strspn(text, "0123456789.");
    if (n == 0 || n >= sizeof(digits))
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    const char *rest = text + n, *unit = strchr(units, toupper((unsigned char)*rest));
    if (!airy_number_parse(&number, digits) || !unit)
        return false;
    if (*rest && rest[1] && strcmp(rest + 1, "iB") != 0 && strcmp(rest + 1, "B") != 0)
        return false;
    if (*rest)
        scale = ldexp(1, 10 * (int)(unit - units + 1));
    if (!(number * scale >= 1) || number * scale > 0x1p60)
        return false;
    *value = (uint64_t)(number * scale);
    return true;
}

static bool is_limited(const airy_parameter *p)
{
    return p->lo != 0 || p->hi != 0;
}

enum { LIMITS = 96 };

static bool is_within(const airy_parameter *p, double value)
{
    if (!is_limited(p))
        return true;
    return p->open ? value > p->lo && value < p->hi : value >= p->lo && value <= p->hi;
}

/* A limit as a person writes it: 1e+12. */
static const char *limit_text(char text[AIRY_NUMBER_TEXT], double limit)
{
    if (fabs(limit) < 1e9)
        return airy_number_text(text, limit, false);
    snprintf(text, AIRY_NUMBER_TEXT, "%g", limit);
    return text;
}

/* " from 0 to 100", " above 0", or "" without limits. */
static const char *limits_text(char text[LIMITS], const airy_parameter *p)
{
    const bool has_lo = is_limited(p) && isfinite(p->lo), has_hi = is_limited(p) && isfinite(p->hi);
    char lo[AIRY_NUMBER_TEXT], hi[AIRY_NUMBER_TEXT];
    size_t n = 0;
    text[0] = 0;
    if (has_lo)
        n = (size_t)snprintf(text, LIMITS,
                             p->open  ? " above %s"
                             : has_hi ? " from %s"
                                      : " from %s on",
                             limit_text(lo, p->lo));
    if (has_hi)
        snprintf(text + n, LIMITS - n, "%s %s %s", has_lo && p->open ? " and" : "",
                 p->open  ? "below"
                 : has_lo ? "to"
                          : "up to",
                 limit_text(hi, p->hi));
    return text;
}

static const char *expect_whole(const airy_parameter *p, void *field, const char *text, char *why)
{
    uint64_t value;
    const double hi = is_limited(p) && isfinite(p->hi) ? p->hi : (double)SIZE_MAX;
    if (p->words && strcmp(text, p->words[0]) == 0) {
        *(size_t *)field = SIZE_MAX;
        return NULL;
    }
    if (hi < (double)SIZE_MAX)
        snprintf(why, WHY, "expected a whole number from %.0f to %.0f%s%s", p->lo, hi,
                 p->words ? ", or " : "", p->words ? p->words[0] : "");
    else
        snprintf(why, WHY, "expected a whole number from %.0f on%s%s", p->lo,
                 p->words ? ", or " : "", p->words ? p->words[0] : "");
    if (!parse_whole(&value, text) || (double)value < p->lo || (double)value >= (double)SIZE_MAX ||
        (double)value > hi)
        return why;
    *(size_t *)field = (size_t)value;
    return NULL;
}

static const char *expect_bytes(const airy_parameter *p, void *field, const char *text, char *why)
{
    uint64_t value;
    if (!parse_bytes(&value, text))
        return "expected bytes such as 800M or 2G";
    snprintf(why, WHY, "expected %.0f to %.0f bytes", p->lo, p->hi);
    if (is_limited(p) && ((double)value < p->lo || (double)value > p->hi))
        return why;
    *(uint64_t *)field = value;
    return NULL;
}

static const char *expect_real(const airy_parameter *p, void *field, const char *text, char *why)
{
    double value;
    char limits[LIMITS];
    if (p->any)
        return airy_number_parse_any(field, text) ? NULL : "expected a number, nan or inf";
    snprintf(why, WHY, "expected a number%s%s%s", limits_text(limits, p), p->unit ? ", in " : "",
             p->unit ? p->unit : "");
    const bool is_number = airy_number_parse(&value, text);
    if (is_number && p->unit && strcmp(p->unit, "keV") == 0 && value > p->hi &&
        is_within(p, value / 1000))
        snprintf(why + strlen(why), WHY - strlen(why), "; %s looks like eV", text);
    if (!is_number || !is_within(p, value))
        return why;
    *(double *)field = value;
    return NULL;
}

/* "expected F[,DEG]: one number above 0, or two with a comma between" */
static const char *expect_numbers(char why[WHY], const airy_parameter *p)
{
    const char *comma = p->most > 2 ? "commas" : "a comma";
    char limits[LIMITS];
    limits_text(limits, p);
    size_t n = (size_t)snprintf(why, WHY, "expected ");
    if (p->argument && p->most > 1)
        n += (size_t)snprintf(why + n, WHY - n, "%s: ", p->argument);
    char *end = why + n;
    const size_t room = WHY - n;
    if (p->least == p->most && p->most == 1)
        snprintf(end, room, "a number%s", limits);
    else if (p->least == p->most)
        snprintf(end, room, "%zu numbers%s with %s between", p->most, limits, comma);
    else if (p->least == 1 && p->most == 2)
        snprintf(end, room, "one number%s, or two with a comma between", limits);
    else if (p->least == 1)
        snprintf(end, room, "one number%s, or up to %zu with commas between", limits, p->most);
    else
        snprintf(end, room, "%zu to %zu numbers%s with commas between", p->least, p->most, limits);
    return why;
}

static const char *expect_tuple(const airy_parameter *p, void *field, const char *text, char *why)
{
    struct airy_job_tuple tuple = {.count = 0};
    const char *at = text;
    bool good = p->most <= AIRY_JOB_TUPLE;
    while (good) {
        char word[64];
        const size_t n = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        good = n < sizeof(word) && tuple.count < p->most &&
               airy_number_parse(&tuple.values[tuple.count++], word);
        if (!at[n])
            break;
        at += n + 1;
    }
    for (size_t i = 0; good && i < tuple.count; i++)
        good = is_within(p, tuple.values[i]);
    if (!good || tuple.count < p->least)
        return expect_numbers(why, p);
    *(struct airy_job_tuple *)field = tuple;
    return NULL;
}

/* One part of A:B:S, up to the ':'; an empty one keeps *value. */
static bool parse_part(uint64_t *value, const char **text)
{
    char part[24];
    const size_t n = strcspn(*text, ":");
    if (n >= sizeof(part))
        return false;
    memcpy(part, *text, n);
    part[n] = 0;
    *text += n;
    return n == 0 || parse_whole(value, part);
}

static const char *expect_range(void *field, const char *text)
{
    static const char expected[] = "expected N, FIRST:LAST or FIRST:LAST:STEP, LAST excluded";
    size_t *range = field;
    uint64_t value[3] = {0, 0, 1};
    if (parse_whole(&value[0], text) && value[0] < SIZE_MAX) {
        range[0] = (size_t)value[0];
        range[1] = range[0] + 1;
        range[2] = 1;
        return NULL;
    }
    value[0] = 0;
    bool ends = false; /* B was given */
    for (size_t i = 0; i < 3; i++) {
        ends |= i == 1 && *text && *text != ':';
        if (!parse_part(&value[i], &text) || (i == 0 && *text != ':'))
            return expected;
        if (!*text)
            break;
        text++;
        if (i == 2)
            return expected;
    }
    if (ends && value[1] <= value[0])
        return "LAST is not above FIRST; FIRST:LAST goes from FIRST to LAST - 1, and N alone is "
               "one";
    if (value[2] < 1)
        return "STEP is 0, expected at least 1";
    for (size_t i = 0; i < 3; i++)
        range[i] = (size_t)value[i];
    return NULL;
}

static const char *expect_shape(const airy_parameter *p, void *field, const char *text, char *why)
{
    size_t *shape = field;
    char first[24];
    uint64_t height, width;
    const size_t n = strcspn(text, "x");
    const double lo = is_limited(p) ? p->lo : 1, hi = is_limited(p) ? p->hi : UINT32_MAX;
    if (is_limited(p))
        snprintf(why, WHY, "expected NxM, each from %.0f to %.0f, such as 2x2", lo, hi);
    else
        snprintf(why, WHY, "expected %s, two whole numbers above 0, such as 1024x2048",
                 p->argument ? p->argument : "HEIGHTxWIDTH");
    if (n >= sizeof(first) || !text[n])
        return why;
    memcpy(first, text, n);
    first[n] = 0;
    if (!parse_whole(&height, first) || !parse_whole(&width, text + n + 1) || (double)height < lo ||
        (double)width < lo || (double)height > hi || (double)width > hi)
        return why;
    shape[0] = (size_t)height;
    shape[1] = (size_t)width;
    return NULL;
}

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

static const char *expect_flag(void *field, const char *text)
{
    const bool on = strcmp(text, "on") == 0;
    if (!on && strcmp(text, "off") != 0)
        return "expected on or off";
    *(bool *)field = on;
    return NULL;
}

/* "expected a, b or c", and the word that was meant. */
static const char *expect_words(const char *const *words, const char *text, char *why)
{
    char list[WORDS];
    const size_t count = count_words(words);
    const char *near = airy_suggest_word(text, words, count);
    airy_join_words(list, sizeof(list), words, count);
    snprintf(why, WHY, "expected %s%s%s%s", list, near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return why;
}

static const char *expect_word(const airy_parameter *p, int *field, const char *text, char *why)
{
    for (int i = 0; p->words[i]; i++)
        if (strcmp(text, p->words[i]) == 0) {
            *field = i;
            return NULL;
        }
    return expect_words(p->words, text, why);
}

/* One of the words, by each of its names. */
static const char *expect_dtype(const airy_parameter *p, airy_dtype *field, const char *text,
                                char *why)
{
    airy_dtype dtype, one;
    if (airy_dtype_parse(&dtype, text) == AIRY_OK)
        for (size_t i = 0; p->words[i]; i++)
            if (airy_dtype_parse(&one, p->words[i]) == AIRY_OK && one == dtype) {
                *field = dtype;
                return NULL;
            }
    return expect_words(p->words, text, why);
}

static airy_status add_text(const struct airy_job_row *row, void *field, const char *text)
{
    char *copy = strdup(text);
    AIRY_FAIL_IF(!copy, AIRY_ERR_MEMORY, "out of memory for a text");
    if (!row->p.list) { /* also the first member of a source */
        *(char **)field = copy;
        return AIRY_OK;
    }
    struct airy_job_list *list = field;
    char **items = realloc(list->items, (list->count + 1) * sizeof(char *));
    if (!items) {
        free(copy);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a list");
    }
    list->items = items;
    list->items[list->count++] = copy;
    return AIRY_OK;
}

static airy_status fail_expected(const airy_parameter *p, const char *text, const char *expected)
{
    return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s %.128s: %s", p->name,
                        *text ? text : "''", expected);
}

/* The row of an item of a list. */
static struct airy_job_row item_row(const struct airy_job_row *row)
{
    struct airy_job_row item = *row;
    item.p.list = false;
    item.p.array = false;
    return item;
}

/* A list holds the texts of its items, each of which its type takes. */
static airy_status add_item(const struct airy_job_row *row, void *field, const char *text)
{
    const struct airy_job_row item = item_row(row);
    void *looked;
    AIRY_TRY(airy_memory_calloc(&looked, 1, airy_value_size(&item), "a value"));
    const airy_status status = airy_value_parse(&item, looked, text);
    airy_value_clear(&item, looked);
    free(looked);
    return status == AIRY_OK ? add_text(row, field, text) : status;
}

/* What was expected of a value that no memory belongs to, or NULL where the field is filled. */
static const char *expect_value(const struct airy_job_row *row, void *field, const char *text,
                                char why[WHY])
{
    const airy_parameter *p = &row->p;
    switch (p->type) {
    case AIRY_PARAMETER_FLAG:
        return expect_flag(field, text);
    case AIRY_PARAMETER_WHOLE:
        return expect_whole(p, field, text, why);
    case AIRY_PARAMETER_SEED:
        return parse_whole(field, text) ? NULL
                                        : "expected a whole number from 0 to 18446744073709551615";
    case AIRY_PARAMETER_BYTES:
        return expect_bytes(p, field, text, why);
    case AIRY_PARAMETER_REAL:
        return expect_real(p, field, text, why);
    case AIRY_PARAMETER_TUPLE:
        return expect_tuple(p, field, text, why);
    case AIRY_PARAMETER_RANGE:
        return expect_range(field, text);
    case AIRY_PARAMETER_SHAPE:
        return expect_shape(p, field, text, why);
    case AIRY_PARAMETER_RECORD:
        return row->record->parse(field, text);
    case AIRY_PARAMETER_WORD:
        return expect_word(p, field, text, why);
    case AIRY_PARAMETER_DTYPE:
        return expect_dtype(p, field, text, why);
    default:
        return *text ? NULL : "expected a text that is not empty";
    }
}

airy_status airy_value_parse(const struct airy_job_row *row, void *field, const char *text)
{
    const airy_parameter *p = &row->p;
    const bool is_text = p->type == AIRY_PARAMETER_TEXT || p->type == AIRY_PARAMETER_PATH;
    char why[WHY];
    if (p->list && !is_text)
        return add_item(row, field, text);
    const char *expected = expect_value(row, field, text, why);
    if (expected)
        return fail_expected(p, text, expected);
    return is_text ? add_text(row, field, text) : AIRY_OK;
}

/* In the shortest form: "5", "0:3", "2:", "2::3", "2:9:3". */
const char *airy_range_text(char text[AIRY_RANGE_TEXT], const size_t range[3])
{
    char end[24] = "", step[24] = "";
    if (range[1])
        snprintf(end, sizeof(end), "%zu", range[1]);
    if (range[2] > 1)
        snprintf(step, sizeof(step), ":%zu", range[2]);
    if (range[1] == range[0] + 1 && range[2] <= 1)
        snprintf(text, AIRY_RANGE_TEXT, "%zu", range[0]);
    else
        snprintf(text, AIRY_RANGE_TEXT, "%zu:%s%s", range[0], end, step);
    return text;
}

const char *airy_tuple_text(char text[96], const struct airy_job_tuple *numbers)
{
    size_t used = 0;
    for (size_t i = 0; i < numbers->count && used < 96; i++)
        used += (size_t)snprintf(text + used, 96 - used, "%s%g", i ? "," : "", numbers->values[i]);
    return text;
}

airy_status airy_tuple_refuse(const char *name, const struct airy_job_tuple *numbers,
                              airy_status status)
{
    char text[96];
    return status == AIRY_OK ? AIRY_OK
                             : airy_about(AIRY_SUBJECT_PARAMETER, name,
                                          airy_fail_context(status, "%s %s", name,
                                                            airy_tuple_text(text, numbers)));
}

static void print_tuple(char *text, const struct airy_job_tuple *tuple)
{
    char number[AIRY_NUMBER_TEXT];
    size_t n = 0;
    for (size_t i = 0; i < tuple->count; i++)
        n += (size_t)snprintf(text + n, TEXT - n, "%s%s", i ? "," : "",
                              airy_number_text(number, tuple->values[i], false));
}

/* The lines of a list. */
static airy_status join_list(const struct airy_job_list *list, char **text)
{
    size_t size = 1, at = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->items[i]) + 1;
    AIRY_TRY(airy_memory_calloc((void **)text, size, 1, "a text"));
    for (size_t i = 0; i < list->count; i++)
        at += (size_t)snprintf(*text + at, size - at, "%s%s", i ? "\n" : "", list->items[i]);
    return AIRY_OK;
}

/* The text of a value that is no list: in room, or elsewhere. */
static const char *print_value(char room[TEXT], const struct airy_job_row *row, const void *field)
{
    const airy_parameter *p = &row->p;
    switch (p->type) {
    case AIRY_PARAMETER_FLAG:
        return *(const bool *)field ? "on" : "off";
    case AIRY_PARAMETER_WHOLE:
        if (p->words && *(const size_t *)field == SIZE_MAX)
            return p->words[0];
        snprintf(room, TEXT, "%zu", *(const size_t *)field);
        return room;
    case AIRY_PARAMETER_SEED:
    case AIRY_PARAMETER_BYTES:
        snprintf(room, TEXT, "%llu", (unsigned long long)*(const uint64_t *)field);
        return room;
    case AIRY_PARAMETER_REAL:
        return airy_number_text(room, *(const double *)field, false);
    case AIRY_PARAMETER_WORD:
        return p->words[*(const int *)field];
    case AIRY_PARAMETER_DTYPE:
        return airy_dtype_name(*(const airy_dtype *)field);
    case AIRY_PARAMETER_TUPLE:
        print_tuple(room, field);
        return room;
    case AIRY_PARAMETER_RANGE:
        return airy_range_text(room, field);
    case AIRY_PARAMETER_SHAPE:
        snprintf(room, TEXT, "%zux%zu", ((const size_t *)field)[0], ((const size_t *)field)[1]);
        return room;
    case AIRY_PARAMETER_RECORD:
        row->record->print(room, TEXT, field);
        return room;
    default:
        return *(char *const *)field ? *(char *const *)field : "";
    }
}

airy_status airy_value_text(const struct airy_job_row *row, const void *field, char **text)
{
    char room[TEXT] = "";
    if (row->p.list)
        return join_list(field, text);
    *text = strdup(print_value(room, row, field));
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for a text");
    return AIRY_OK;
}

static bool is_number(airy_parameter_type type)
{
    return type == AIRY_PARAMETER_WHOLE || type == AIRY_PARAMETER_REAL ||
           type == AIRY_PARAMETER_SEED || type == AIRY_PARAMETER_BYTES;
}

/* "frames": 5 and "bins": 500 are what a person writes who means one number. */
static bool may_be_whole(airy_parameter_type type)
{
    return type == AIRY_PARAMETER_RANGE || type == AIRY_PARAMETER_RECORD;
}

/* SEED and BYTES go beyond what JSON's integers hold, and JSON has no NaN. */
static bool may_be_text(const airy_parameter *p)
{
    return !is_number(p->type) || p->type == AIRY_PARAMETER_SEED ||
           p->type == AIRY_PARAMETER_BYTES || p->any || p->words;
}

static bool add_number(char *text, size_t *n, const json_t *json)
{
    char number[AIRY_NUMBER_TEXT];
    if (json_is_integer(json))
        *n += (size_t)snprintf(text + *n, TEXT - *n, "%lld", (long long)json_integer_value(json));
    else if (json_is_real(json))
        *n += (size_t)snprintf(text + *n, TEXT - *n, "%s",
                               airy_number_text(number, json_real_value(json), false));
    else
        return false;
    return *n < TEXT;
}

/* "1,2.5" of [1, 2.5]. */
static bool add_numbers(char *text, const json_t *array)
{
    size_t n = 0, i;
    const json_t *each;
    json_array_foreach(array, i, each)
    {
        if (i && n + 1 < TEXT)
            text[n++] = ',';
        text[n] = 0;
        if (n + AIRY_NUMBER_TEXT >= TEXT || !add_number(text, &n, each))
            return false;
    }
    return i > 0;
}

airy_status airy_value_from_json(const struct airy_job_row *row, const json_t *json, char **text)
{
    static const char *const kinds[] = {
        [AIRY_PARAMETER_FLAG] = "true or false",
        [AIRY_PARAMETER_WHOLE] = "a number",
        [AIRY_PARAMETER_SEED] = "a number or its digits as a string",
        [AIRY_PARAMETER_BYTES] = "a number or a string",
        [AIRY_PARAMETER_REAL] = "a number",
        [AIRY_PARAMETER_TUPLE] = "an array of numbers"};
    const airy_parameter_type type = row->p.type;
    char room[TEXT] = "";
    const char *from = NULL;
    size_t n = 0;
    if (type == AIRY_PARAMETER_FLAG)
        from = json_is_true(json) ? "on" : json_is_false(json) ? "off" : NULL;
    else if (type == AIRY_PARAMETER_TUPLE)
        from = json_is_array(json) && add_numbers(room, json) ? room : NULL;
    else if ((is_number(type) && json_is_number(json)) ||
             (may_be_whole(type) && json_is_integer(json)))
        from = add_number(room, &n, json) ? room : NULL;
    else if (may_be_text(&row->p) && json_is_string(json) &&
             strlen(json_string_value(json)) == json_string_length(json))
        from = json_string_value(json);
    AIRY_FAIL_ON_IF(!from, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER, "%s: expected %s", row->p.name,
                    type <= AIRY_PARAMETER_TUPLE && kinds[type] ? kinds[type] : "a string");
    *text = strdup(from);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for a text");
    return AIRY_OK;
}

/* An array of which no value may be missing. */
static json_t *whole_or_null(json_t *array, bool good)
{
    if (good)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *numbers_json(const struct airy_job_tuple *tuple)
{
    json_t *array = json_array();
    bool good = array != NULL;
    for (size_t i = 0; i < tuple->count && good; i++)
        good = json_array_append_new(array, json_real(tuple->values[i])) == 0;
    return whole_or_null(array, good);
}

/* The JSON of an item, by its type. */
static json_t *item_json(const struct airy_job_row *row, const char *text)
{
    const struct airy_job_row item = item_row(row);
    json_t *json = NULL;
    void *field = calloc(1, airy_value_size(&item));
    if (field && airy_value_parse(&item, field, text) == AIRY_OK) {
        json = airy_value_to_json(&item, field);
        airy_value_clear(&item, field);
    }
    free(field);
    return json;
}

static json_t *list_json(const struct airy_job_row *row, const struct airy_job_list *list)
{
    json_t *array = json_array();
    bool good = array != NULL;
    for (size_t i = 0; i < list->count && good; i++)
        good = json_array_append_new(array, item_json(row, list->items[i])) == 0;
    return whole_or_null(array, good);
}

bool airy_value_is_array(const struct airy_job_row *row, const void *field)
{
    return row->p.array && (row->p.list ? ((const struct airy_job_list *)field)->is_array
                                        : ((const struct airy_job_source *)field)->is_array);
}

json_t *airy_value_to_json(const struct airy_job_row *row, const void *field)
{
    char number[AIRY_NUMBER_TEXT];
    if (airy_value_is_array(row, field))
        return json_null();
    if (row->p.list)
        return list_json(row, field);
    switch (row->p.type) {
    case AIRY_PARAMETER_FLAG:
        return json_boolean(*(const bool *)field);
    case AIRY_PARAMETER_WHOLE:
        return row->p.words && *(const size_t *)field == SIZE_MAX
                   ? json_string(row->p.words[0])
                   : json_integer((json_int_t) * (const size_t *)field);
    case AIRY_PARAMETER_REAL:
        if (isfinite(*(const double *)field))
            return json_real(*(const double *)field);
        return json_string(airy_number_text(number, *(const double *)field, false));
    case AIRY_PARAMETER_TUPLE:
        return numbers_json(field);
    default: {
        char *text = NULL;
        json_t *json = airy_value_text(row, field, &text) == AIRY_OK ? json_string(text) : NULL;
        free(text);
        return json;
    }
    }
}

size_t airy_value_size(const struct airy_job_row *row)
{
    static const size_t sizes[AIRY_PARAMETER_TYPE_COUNT] = {
        [AIRY_PARAMETER_FLAG] = sizeof(bool),
        [AIRY_PARAMETER_WHOLE] = sizeof(size_t),
        [AIRY_PARAMETER_SEED] = sizeof(uint64_t),
        [AIRY_PARAMETER_BYTES] = sizeof(uint64_t),
        [AIRY_PARAMETER_REAL] = sizeof(double),
        [AIRY_PARAMETER_TEXT] = sizeof(char *),
        [AIRY_PARAMETER_WORD] = sizeof(int),
        [AIRY_PARAMETER_DTYPE] = sizeof(airy_dtype),
        [AIRY_PARAMETER_PATH] = sizeof(char *),
        [AIRY_PARAMETER_TUPLE] = sizeof(struct airy_job_tuple),
        [AIRY_PARAMETER_RANGE] = 3 * sizeof(size_t),
        [AIRY_PARAMETER_SHAPE] = 2 * sizeof(size_t)};
    return row->p.list                            ? sizeof(struct airy_job_list)
           : row->p.array                         ? sizeof(struct airy_job_source)
           : row->p.type == AIRY_PARAMETER_RECORD ? row->record->size
                                                  : sizes[row->p.type];
}

static void release_view(const airy_host_view *view)
{
    if (view->release)
        view->release(view->user);
}

void airy_value_clear(const struct airy_job_row *row, void *field)
{
    if (row->p.list) {
        const struct airy_job_list *list = field;
        for (size_t i = 0; i < list->count; i++)
            free(list->items[i]);
        free(list->items);
        release_view(&list->view);
    } else if (row->p.type == AIRY_PARAMETER_TEXT || row->p.type == AIRY_PARAMETER_PATH) {
        free(*(char **)field);
    }
    if (row->p.array && !row->p.list)
        release_view(&((struct airy_job_source *)field)->view);
    memset(field, 0, airy_value_size(row));
}
