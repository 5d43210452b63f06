/* Numbers of text files: what printf writes, some times faster. */
#ifndef AIRY_TOOLS_CLI_NUMBER_TEXT_H
#define AIRY_TOOLS_CLI_NUMBER_TEXT_H

#include <stddef.h>

enum { NUMBER_TEXT = 24 }; /* bytes that have room for a number with its end */

/* Write what snprintf writes for "%16.8e", without an end; returns the number of bytes. Any thread. */
size_t number_text(char text[NUMBER_TEXT], float value);

#endif
