#include "base/word.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/size.h"

enum { LONGEST = 63, SHORTEST_START = 3, MOST_BEGUN = 16 };

static int lower(char letter)
{
    return tolower((unsigned char)letter);
}

size_t airy_word_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1]; /* of this letter of a, and of the two before it */
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t step = airy_min_size(row[j - 1], above[j]) + 1;
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = airy_min_size(step, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = airy_min_size(row[j], second[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/* Where the digits of a number type's name begin, "uint16", "f32"; NULL: it is none. */
static const char *type_digits(const char *word)
{
    static const char *const kinds[] = {"uint", "int", "float", "u", "i", "f"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t n = strlen(kinds[i]);
        if (strncasecmp(word, kinds[i], n) == 0 && word[n] &&
            strspn(word + n, "0123456789") == strlen(word + n))
            return word + n;
    }
    return NULL;
}

/*
 * Another number type reads other bytes: only a long name of the same size can be a slip, of a word
 * that names no type itself.
 */
static bool is_other_type(const char *word, const char *candidate)
{
    const char *digits = type_digits(candidate);
    if (!digits)
        return false;
    const char *given = word + strcspn(word, "0123456789");
    return type_digits(word) || digits == candidate + 1 || strcmp(given, digits) != 0;
}

const char *airy_suggest_word(const char *word, const char *const *words, size_t count)
{
    if (!word || !words)
        return NULL;
    const size_t length = strlen(word);
    const char *near = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (is_other_type(word, words[i]))
            continue;
        const bool begins = length >= SHORTEST_START && strncasecmp(word, words[i], length) == 0;
        const size_t distance = airy_word_distance(word, words[i]);
        const size_t rank = begins                       ? distance
                            : 3 * distance <= length + 1 ? LONGEST + distance
                                                         : SIZE_MAX;
        if (rank < least) {
            least = rank;
            near = words[i];
        }
    }
    return near;
}

void airy_join_words(char *text, size_t size, const char *const *words, size_t count)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
}

airy_status airy_unknown_word(const char *what, const char *word, const char *const *words,
                              size_t count)
{
    char list[1024];
    const char *near = airy_suggest_word(word, words, count), *begun[MOST_BEGUN];
    if (near)
        return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s '%.64s' is unknown, did you mean '%s'?", what, word, near);
    const size_t length = strlen(word);
    size_t found = 0;
    for (size_t i = 0; i < count && length && found < MOST_BEGUN; i++)
        if (strncasecmp(words[i], word, length) == 0 && words[i][length] == '_')
            begun[found++] = words[i];
    if (found) { /* a unit without its scale */
        airy_join_words(list, sizeof(list), begun, found);
        return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s '%.64s' is not complete, expected %s", what, word, list);
    }
    airy_join_words(list, sizeof(list), words, count);
    return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s '%.64s' is unknown; there are %s", what, word, list);
}

airy_status airy_find_word(int *index, const char *what, const char *word, const char *const *words,
                           size_t count)
{
    AIRY_FAIL_IF(!word, AIRY_ERR_PARAM, "%s: name is NULL", what);
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0) {
            *index = (int)i;
            return AIRY_OK;
        }
    return airy_unknown_word(what, word, words, count);
}

bool airy_has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcasecmp(name + n - m, suffix) == 0;
}

/* RFC 3629: no overlong forms, no surrogates, at most U+10FFFF. */
bool airy_is_utf8(const void *bytes, size_t size)
{
    const uint8_t *s = bytes;
    size_t i = 0;
    while (i < size) {
        const uint8_t c = s[i++];
        const size_t more = c < 0x80                ? 0
                            : c >= 0xc2 && c < 0xe0 ? 1
                            : c >= 0xe0 && c < 0xf0 ? 2
                            : c >= 0xf0 && c < 0xf5 ? 3
                                                    : SIZE_MAX;
        if (more > size - i)
            return false;
        if (more > 1 && ((c == 0xe0 && s[i] < 0xa0) || (c == 0xed && s[i] > 0x9f) ||
                         (c == 0xf0 && s[i] < 0x90) || (c == 0xf4 && s[i] > 0x8f)))
            return false;
        for (size_t k = 0; k < more; k++)
            if ((s[i++] & 0xc0) != 0x80)
                return false;
    }
    return true;
}
