/*
 * Text on its way to gnuplot and to a terminal. What gnuplot gets is one string in single quotes
 * and nothing behind it; both get UTF-8 without characters that control anything; what is harmless
 * comes through as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "cli/quote.h"

/* The bytes of one character by the table of well-formed UTF-8 (Unicode 15, table 3-7); 0: none. */
static size_t well_formed(const unsigned char *p)
{
    static const struct {
        unsigned char first[2], second[2];
        size_t length;
    } rows[] = {{{0x01, 0x7f}, {0, 0}, 1},       {{0xc2, 0xdf}, {0x80, 0xbf}, 2},
                {{0xe0, 0xe0}, {0xa0, 0xbf}, 3}, {{0xe1, 0xec}, {0x80, 0xbf}, 3},
                {{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3},
                {{0xf0, 0xf0}, {0x90, 0xbf}, 4}, {{0xf1, 0xf3}, {0x80, 0xbf}, 4},
                {{0xf4, 0xf4}, {0x80, 0x8f}, 4}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (p[0] < rows[i].first[0] || p[0] > rows[i].first[1])
            continue;
        if (rows[i].length > 1 && (p[1] < rows[i].second[0] || p[1] > rows[i].second[1]))
            return 0;
        for (size_t k = 2; k < rows[i].length; k++)
            if (p[k] < 0x80 || p[k] > 0xbf)
                return 0;
        return rows[i].length;
    }
    return 0;
}

/* C0, C1 and DEL, the marks of direction, the separators of lines and paragraphs. */
static bool controls(const unsigned char *p)
{
    if (p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0) ||
        (p[0] == 0xd8 && p[1] == 0x9c))
        return true;
    if (p[0] != 0xe2)
        return false;
    return p[1] == 0x80 ? p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae)
                        : p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

/* All of it is well-formed and harmless; the number of its characters. */
static size_t count_harmless(const char *text)
{
    size_t count = 0;
    for (size_t n; *text; text += n, count++) {
        n = well_formed((const unsigned char *)text);
        require(n > 0 && !controls((const unsigned char *)text));
    }
    return count;
}

static void check_gnuplot(const char *text, bool harmless)
{
    char quoted[QUOTE_GNUPLOT];
    memset(quoted, 'x', sizeof(quoted));
    require(quote_gnuplot(quoted, text) == quoted && memchr(quoted, 0, sizeof(quoted)));
    const size_t length = strlen(quoted);
    require(length >= 2 && quoted[0] == '\'' && quoted[length - 1] == '\'');
    quoted[length - 1] = 0;
    size_t at = 0, doubled = 0;
    char *plain = malloc(length);
    require(plain);
    for (const char *p = quoted + 1; *p; p++) {
        if (*p == '\'') {
            require(p[1] == '\''); /* a single one would end the string */
            p++;
            doubled++;
        }
        plain[at++] = *p;
    }
    plain[at] = 0;
    require(count_harmless(plain) <= QUOTE_MOST);
    require(!strstr(plain, "\xef\xbf\xbe") && !strstr(plain, "\xef\xbf\xbf"));
    if (harmless && count_harmless(text) <= QUOTE_MOST && !strstr(text, "\xbf\xbe") &&
        !strstr(text, "\xbf\xbf"))
        require(strcmp(plain, text) == 0);
    free(plain);
}

/* Only characters from U+007F on can be left by what writes JSON. */
static void check_json(const char *text, bool harmless)
{
    char *json = strdup(text);
    json = quote_json(json);
    require(json && harmless <= (strcmp(json, text) == 0));
    size_t from = 0;
    for (const char *p = json; *p;) {
        const unsigned char *own = (const unsigned char *)text + from;
        const size_t n = well_formed(own);
        const bool escaped = n > 0 && controls(own) && own[0] >= 0x7f;
        if (escaped)
            require(strspn(p + 2, "0123456789abcdef") >= 4 && p[0] == '\\' && p[1] == 'u');
        else
            require(memcmp(p, own, n ? n : 1) == 0);
        p += escaped ? 6 : n ? n : 1;
        from += n ? n : 1;
    }
    require(text[from] == 0);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *shown = malloc(4 * size + 1);
    require(text && shown);
    memcpy(text, data, size);
    text[size] = 0;
    bool harmless = true;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        bool unsafe;
        const size_t n = quote_character(&unsafe, (const char *)p), own = well_formed(p);
        require(n == (own ? own : 1) && unsafe == (own == 0 || controls(p)));
        harmless &= !unsafe;
        p += n;
    }
    quote_escape(shown, text);
    count_harmless(shown);
    require(harmless == (strcmp(shown, text) == 0));
    check_gnuplot(text, harmless);
    check_json(text, harmless);
    free(text);
    free(shown);
    return 0;
}
