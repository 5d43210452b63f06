/* Numbers of text files: what printf writes, some times faster. */
#ifndef AIRY_BASE_FLOAT_TEXT_H
#define AIRY_BASE_FLOAT_TEXT_H

#include <stddef.h>

enum { AIRY_FLOAT_TEXT = 24 }; /* bytes that have room for a number with its end */

/*
 * Write what snprintf writes for "%16.8e", without an end; returns the number of bytes. In the C
 * locale. Any thread.
 */
size_t airy_float_text(char text[AIRY_FLOAT_TEXT], float value);

#endif
