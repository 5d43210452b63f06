#include "cli/quote.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CHARACTER = 0x110000 }; /* one more than the last of Unicode */

/* The character at text, and how many bytes it has; NO_CHARACTER and 1 for a byte that begins none. */
static uint32_t decode(size_t *length, const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    const size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : 4;
    uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    bool good = n < 4 || p[0] >> 3 == 30;
    for (size_t i = 1; good && i < n; i++) { /* ends at the NUL behind text */
        good = p[i] >> 6 == 2;
        code = code << 6 | (p[i] & 0x3f);
    }
    /* too long a form, half of a pair of UTF-16, beyond the last character */
    good = good && code >= least[n] && code >> 11 != 0x1b && code < NO_CHARACTER;
    *length = good ? n : 1;
    return good ? code : NO_CHARACTER;
}

static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == NO_CHARACTER;
}

size_t quote_character(bool *unsafe, const char *text)
{
    size_t length;
    *unsafe = is_unsafe(decode(&length, text));
    return length;
}

void quote_escape(char *to, const char *text)
{
    static const char known[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
    while (*text) {
        bool unsafe;
        const size_t n = quote_character(&unsafe, text);
        const char *simple = strchr(known, *text);
        if (!unsafe)
            to = (char *)memcpy(to, text, n) + n;
        else if (simple)
            to += sprintf(to, "\\%c", letters[simple - known]);
        else
            for (size_t i = 0; i < n; i++)
                to += sprintf(to, "\\x%02x", (unsigned char)text[i]);
        text += n;
    }
    *to = 0;
}

char *quote_json(char *json)
{
    enum { ESCAPE = 6 };
    size_t n, count = 0;
    for (const char *p = json; p && *p; p += n) {
        const uint32_t code = decode(&n, p);
        count += code >= 0x7f && is_unsafe(code);
    }
    if (count == 0)
        return json;
    char *safe = malloc(strlen(json) + ESCAPE * count + 1), *to = safe;
    for (const char *p = json; safe && *p; p += n) {
        const uint32_t code = decode(&n, p);
        if (code >= 0x7f && code <= 0xffff && is_unsafe(code))
            to += sprintf(to, "\\u%04x", (unsigned)code);
        else
            to = (char *)memcpy(to, p, n) + n;
    }
    if (safe)
        *to = 0;
    free(json);
    return safe;
}

const char *quote_gnuplot(char to[QUOTE_GNUPLOT], const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "\xe2\x80\xa6";
    char *at = to, *last = to; /* last: of the QUOTE_MOST characters */
    size_t n, count = 0;
    *at++ = '\'';
    for (; *text && count <= QUOTE_MOST; text += n) {
        const uint32_t code = decode(&n, text);
        if (code != NO_CHARACTER && is_unsafe(code))
            continue;
        if (++count == QUOTE_MOST)
            last = at;
        if (count > QUOTE_MOST)
            break;
        if (code == NO_CHARACTER || (code & 0xfffe) == 0xfffe) {
            memcpy(at, replacement, 3);
            at += 3;
            continue;
        }
        if (code == '\'')
            *at++ = '\'';
        memcpy(at, text, n);
        at += n;
    }
    if (count > QUOTE_MOST) {
        memcpy(last, ellipsis, 3);
        at = last + 3;
    }
    *at++ = '\'';
    *at = 0;
    return to;
}
