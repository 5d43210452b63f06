/* Words of a command line: suggestions for mistyped ones, lists of suffixes. */
#ifndef AIRY_CLI_WORDS_H
#define AIRY_CLI_WORDS_H

#include <stddef.h>

#include "airy/dtype.h"

/*
 * Return the closest match to a mistyped word, or NULL. A match begins with all letters of the word,
 * three at least, or differs from it in at most (letters + 1) / 3, rounded down; case is ignored. A
 * number type is no suggestion for another one. The sentences of the library follow the
 * same rule (src/base/word.c), which is not public.
 */
const char *tool_suggest(const char *word, const char *const *words, size_t count);

/* Write "a, b or c", cut where it does not fit. */
void tool_join_words(char *text, size_t size, const char *const *words, size_t count);

enum { TOOL_FORMATS = 96 }; /* bytes of what tool_image_suffixes says */
/*
 * The suffixes of the formats that this build writes and that hold images of this dtype
 * (AIRY_DTYPE_COUNT: of any) and number of dimensions (0: any), as ".npy, .h5 or .fits".
 */
void tool_image_suffixes(char text[TOOL_FORMATS], airy_dtype dtype, int ndim);

#endif
