/*
 * Words of a list that people type: finding one, and naming the one that was meant; ends of names;
 * texts in UTF-8.
 */
#ifndef AIRY_BASE_WORD_H
#define AIRY_BASE_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

/*
 * Letters to insert, delete or exchange, two neighbours that changed places counting once; case is
 * ignored. SIZE_MAX beyond 63 letters.
 */
size_t airy_word_distance(const char *a, const char *b);

/*
 * Return the closest match to a mistyped word, or NULL. A match begins with all letters of the word,
 * three at least, or differs from it in at most (letters + 1) / 3, rounded down; case is ignored. A
 * number type is no suggestion for another one.
 */
const char *airy_suggest_word(const char *word, const char *const *words, size_t count);

/* "a, b or c", cut where it does not fit. */
void airy_join_words(char *text, size_t size, const char *const *words, size_t count);

/* AIRY_ERR_PARAM "<what> 'word' is unknown, did you mean 'near'?", or "...; there are a, b or c". Of
 * words that go on behind it with '_': "... is not complete, expected q_nm^-1 or q_A^-1". */
airy_status airy_unknown_word(const char *what, const char *word, const char *const *words,
                              size_t count);

/* The place of word among words, or that failure. */
airy_status airy_find_word(int *index, const char *what, const char *word, const char *const *words,
                           size_t count);

/* The end of a name, in any case of its letters, with something in front of it. */
bool airy_has_suffix(const char *name, const char *suffix);

/* Bytes are whole characters of UTF-8, none of them in more bytes than it needs. */
bool airy_is_utf8(const void *bytes, size_t size);

#endif
