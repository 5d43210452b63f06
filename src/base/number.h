/* Numbers as text, the same in every locale. */
#ifndef AIRY_BASE_NUMBER_H
#define AIRY_BASE_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

/*
 * Decimal points are points whatever the program's locale is; the setting is the calling thread's.
 */
struct airy_c_locale {
    locale_t c, before;
};
airy_status airy_c_locale_enter(struct airy_c_locale *locale);
void airy_c_locale_leave(struct airy_c_locale *locale);

/* A decimal number with nothing behind it: no blanks, no 0x1p3, no inf and no nan. */
bool airy_number_parse(double *value, const char *text);
/* The same, or "nan", "inf" or "infinity" in any case, with a sign or without. */
bool airy_number_parse_any(double *value, const char *text);

enum { AIRY_NUMBER_TEXT = 32 };
/*
 * The shortest decimal that reads back as the same double (17 digits always do), or the same float
 * where the value is one (9 digits); in the C locale. Returns text.
 */
const char *airy_number_text(char text[AIRY_NUMBER_TEXT], double value, bool is_float);

/* "17.9 MB", in decimal units. Returns text. */
const char *airy_bytes_text(char text[AIRY_NUMBER_TEXT], double bytes);

enum { AIRY_SHAPE_TEXT = 96 };
/* "5 x 16 x 20", of at most AIRY_MAX_DIMS axes. Returns text. */
const char *airy_shape_text(char text[AIRY_SHAPE_TEXT], const size_t *shape, int ndim);

#endif
