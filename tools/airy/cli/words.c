#include "cli/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "airy/image.h"

enum { LONGEST = 63, SHORTEST_START = 3 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int lower(char letter)
{
    return tolower((unsigned char)letter);
}

/* Letters to insert, delete or exchange, two neighbours that changed places counting once. */
static size_t distance_of(const char *a, const char *b)
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
            const size_t step = smaller(row[j - 1], above[j]) + 1;
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = smaller(step, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = smaller(row[j], second[j - 2] + 1);
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

const char *tool_suggest(const char *word, const char *const *words, size_t count)
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
        const size_t distance = distance_of(word, words[i]);
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

void tool_join_words(char *text, size_t size, const char *const *words, size_t count)
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

void tool_image_suffixes(char text[TOOL_FORMATS], airy_dtype dtype, int ndim)
{
    const char *list[32];
    size_t count = 0;
    const airy_image_format_info *format;
    for (size_t i = 0; (format = airy_image_format(i)) && count < 32; i++)
        if (format->writes && (dtype == AIRY_DTYPE_COUNT || format->dtypes >> dtype & 1) &&
            (!ndim || (ndim >= format->min_ndim && ndim <= format->max_ndim)))
            list[count++] = format->suffix;
    tool_join_words(text, TOOL_FORMATS, list, count);
}
