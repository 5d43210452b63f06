#include "io/file/json_error.h"

#include <stdio.h>
#include <string.h>

const char *airy_json_wrong(char text[AIRY_JSON_WRONG], const json_error_t *error)
{
    if (json_error_code(error) != json_error_duplicate_key) {
        snprintf(text, AIRY_JSON_WRONG, "no JSON: %s", error->text);
        return text;
    }
    /* jansson ends its sentence with the key: near '"samples"' */
    const char *begin = strstr(error->text, "near '\""), *key = begin ? begin + 7 : "",
               *end = strstr(key, "\"'");
    if (begin && end)
        snprintf(text, AIRY_JSON_WRONG, "the key '%.*s' occurs twice", (int)(end - key), key);
    else
        snprintf(text, AIRY_JSON_WRONG, "a key occurs twice");
    return text;
}
