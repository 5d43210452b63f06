/* JSON of the commands: texts, numbers, and how both are printed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "cli/tool.h"
#include "cli/quote.h"

json_t *tool_json_string(const char *text)
{
    char *utf8 = NULL;
    if (airy_utf8_copy(&utf8, text) != AIRY_OK)
        return NULL;
    json_t *json = json_string(utf8);
    free(utf8);
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

static char *json_text(const json_t *json, size_t how)
{
    char *text = json_dumps(json, how | JSON_REAL_PRECISION(17));
    airy_json_shorten(text);
    return text;
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

char *tool_json_text(const json_t *json)
{
    return quote_json(json_text(json, JSON_INDENT(2)));
}

int tool_print_json(const struct common *common, json_t *json)
{
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
