/* JSON of the commands: texts, numbers, and how both are printed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison.h"
#include "cli/quote.h"

json_t *tool_json_string(const char *text)
{
    json_t *json = json_string(text);
    const size_t n = strlen(text);
    char *wide = json ? NULL : malloc(2 * n + 1);
    if (!wide)
        return json;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x80)
            wide[used++] = (char)(0xc0 | byte >> 6);
        wide[used++] = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    json = json_stringn(wide, used);
    free(wide);
    return json;
}

const char *tool_json_shown(const json_t *object, const char *key)
{
    char shown[TOOL_SHOWN];
    json_t *string = json_object_get(object, key);
    if (!json_is_string(string) ||
        json_string_set_nocheck(string, tool_shown(shown, json_string_value(string))) != 0)
        return "";
    return json_string_value(string);
}

/*
 * Rewrite the real number of some length at text with as few digits as give it back; returns what
 * was written.
 */
static size_t shorten(char *out, const char *text, size_t length)
{
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    const double value = strtod(word, NULL);
    for (int digits = 15; digits < 17; digits++) {
        char shorter[40];
        const size_t n = (size_t)snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
        if (n + 2 <= length && strtod(shorter, NULL) == value) {
            memcpy(out, shorter, n);
            if (strpbrk(shorter, ".e"))
                return n;
            memcpy(out + n, ".0", 2); /* stays a real */
            return n + 2;
        }
    }
    memmove(out, text, length);
    return length;
}

static bool is_real(const char *number, size_t length)
{
    while (length > 0 && !strchr(".eE", number[length - 1]))
        length--;
    return length > 0;
}

static char *json_text(const json_t *json, size_t how)
{
    char *text = json_dumps(json, how | JSON_REAL_PRECISION(17));
    if (!text)
        return NULL;
    const char *from = text;
    char *to = text; /* never ahead of from: numbers only shrink */
    bool quoted = false;
    while (*from) {
        const size_t number = quoted ? 0 : strspn(from, "0123456789+-.eE");
        if (is_real(from, number)) {
            to += shorten(to, from, number);
            from += number;
            continue;
        }
        if (quoted && *from == '\\')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        *to++ = *from++;
    }
    *to = 0;
    return text;
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tool_json_unsigned(uint64_t value)
{
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    char digits[24];
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    return json_string(digits);
}

char *tool_json_text(const json_t *json)
{
    return quote_json(json_text(json, JSON_INDENT(2)));
}

char *tool_json_line(const json_t *json)
{
    return quote_json(json_text(json, JSON_COMPACT));
}

int tool_print_json(const struct common *common, json_t *json)
{
    if (common->comparison && json) {
        compare_answer(common, json);
        return AIRY_EXIT_OK;
    }
    char *text = json ? tool_json_text(json) : NULL;
    json_decref(json);
    if (!text)
        return tool_fail(common, "out of memory for the answer");
    puts(text);
    free(text);
    if (fflush(stdout) != 0 || ferror(stdout))
        return tool_fail(common, "standard output: %s", strerror(errno));
    return AIRY_EXIT_OK;
}
