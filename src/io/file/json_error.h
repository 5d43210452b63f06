/* What is wrong with a text that is to be JSON. */
#ifndef AIRY_IO_FILE_JSON_ERROR_H
#define AIRY_IO_FILE_JSON_ERROR_H

#include <jansson.h>

enum { AIRY_JSON_WRONG = 256 };
/* Return "the key 'samples' occurs twice", or "no JSON: ..."; the line is error->line. */
const char *airy_json_wrong(char text[AIRY_JSON_WRONG], const json_error_t *error);

#endif
