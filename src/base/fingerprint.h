/*
 * What decides the values of a result, as text: one line a parameter, "affects name value". Two
 * runs with equal lines make equal rows of equal frames. Numbers stand as they are, so that a
 * difference can be named; arrays stand as a hash of their elements, so that a file and an equal
 * array in memory compare equal.
 */
#ifndef AIRY_BASE_FINGERPRINT_H
#define AIRY_BASE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

enum { AIRY_FINGERPRINT_BYTES = 4096 };

struct airy_fingerprint {
    char text[AIRY_FINGERPRINT_BYTES];
    size_t used;
};

/* What a parameter changes: the value of a row, or which rows there are. */
enum airy_affects { AIRY_FINGERPRINT_VALUE, AIRY_FINGERPRINT_ROWS };

/* name and word: of this program, without blanks. There is room for 60 parameters. */
void airy_fingerprint_word(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                           const char *word);
void airy_fingerprint_number(struct airy_fingerprint *f, enum airy_affects affects,
                             const char *name, double number);
/* The elements of an array as they lie in memory; data NULL: "none". */
void airy_fingerprint_array(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                            const void *data, size_t size);
/* A mask: which of its bytes are not 0; a mask without any is "none", as NULL is. */
void airy_fingerprint_mask(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                           const unsigned char *mask, size_t count);

/* A text to compare, and what messages call its owner ("'a.h5'", "this run"). */
struct airy_fingerprint_of {
    const char *text; /* "" where a file has none */
    const char *owner;
};

/*
 * AIRY_ERR_FORMAT where a parameter differs, which is named with both values. rows: parameters that
 * change which rows there are count as well.
 */
airy_status airy_fingerprint_compare(struct airy_fingerprint_of before,
                                     struct airy_fingerprint_of now, bool rows);

#endif
