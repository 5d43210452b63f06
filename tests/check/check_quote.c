/*
 * Text on its way to gnuplot, to a terminal and to files (tools/airy/cli/quote.h, base/float_text.h). All
 * values are exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_text.h"
#include "check.h"
#include "cli/quote.h"

static void check_gnuplot(struct check *c)
{
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        {"", "''"},
        {"q (1/nm)", "'q (1/nm)'"},
        {"q\nsystem \"touch x\"\nset xlabel 'q", "'qsystem \"touch x\"set xlabel ''q'"},
        {"'", "''''"},
        {"it's `id` $(id) @m {/Symbol a}_b \\", "'it''s `id` $(id) @m {/Symbol a}_b \\'"},
        {"a\tb\r\033[2J\177c", "'ab[2Jc'"},
        {"\xc2\x85x\xc2\x9b"
         "31m\xc2\xa0",
         "'x31m\xc2\xa0'"},                                           /* C1; a blank that is none */
        {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x8fy", "'y'"}, /* direction, line */
        {"caf\xe9", "'caf\xef\xbf\xbd'"},
        {"\xc0\xaf\xed\xa0\x80", "'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd'"},
        {"\xf4\x90\x80\x80", "'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd'"},
        {"\xef\xbf\xbf\xf0\x9f\xbf\xbe\xf0\x9f\x94\xad", /* XML lacks the first two */
         "'\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x94\xad'"},
        {"\xe2\x82", "'\xef\xbf\xbd\xef\xbf\xbd'"}, /* cut within a character */
    };
    if (!c->is_cpu || !check_case(c, "quote_gnuplot"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char quoted[QUOTE_GNUPLOT];
        quote_gnuplot(quoted, rows[i].text);
        if (strcmp(quoted, rows[i].quoted) != 0)
            check_failed(c, __FILE__, __LINE__, "row %zu: %s, expected %s", i, quoted,
                         rows[i].quoted);
    }
}

/* Of characters of 1 to 4 bytes, quotes among them: none is cut, and the bound is of characters. */
static void check_long(struct check *c)
{
    static const char *const units[] = {"x", "'", "\xc2\xb5", "\xe2\x82\xac", "\xf0\x9f\x94\xad"};
    static const char ellipsis[] = "\xe2\x80\xa6'";
    if (!c->is_cpu || !check_case(c, "quote_long"))
        return;
    for (size_t k = 0; k < 5; k++)
        for (size_t n = QUOTE_MOST - 1; n <= QUOTE_MOST + 2; n++) {
            const size_t bytes = strlen(units[k]), each = k == 1 ? 2 : bytes;
            char *text = check_alloc(c, n * bytes + 1), quoted[QUOTE_GNUPLOT];
            for (size_t i = 0; i < n; i++)
                memcpy(text + i * bytes, units[k], bytes);
            quote_gnuplot(quoted, text);
            const size_t length = strlen(quoted), whole = each * n + 2,
                         cut = each * (QUOTE_MOST - 1) + 5;
            CHECK(c, length == (n <= QUOTE_MOST ? whole : cut));
            CHECK(c, (n > QUOTE_MOST) == (strcmp(quoted + length - 4, ellipsis) == 0));
        }
}

static void check_escape(struct check *c)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"it's \"a\" \\ \xc2\xb5", "it's \"a\" \\ \xc2\xb5"},
        {"a\nb\tc\033[31m\177", "a\\nb\\tc\\x1b[31m\\x7f"},
        {"\xc2\x9b"
         "e\x9b",
         "\\xc2\\x9b"
         "e\\x9b"}, /* C1 in UTF-8, and as the byte that an 8-bit terminal takes for it */
        {"x\xe2\x80\xaegnp.exe", "x\\xe2\\x80\\xaegnp.exe"},
        {"\xd8\x9cx\xd8\x9b", "\\xd8\\x9cx\xd8\x9b"}, /* a mark of direction; a semicolon */
        {"caf\xe9", "caf\\xe9"},
    };
    if (!c->is_cpu || !check_case(c, "quote_escape"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *shown = check_alloc(c, 4 * strlen(rows[i].text) + 1);
        quote_escape(shown, rows[i].text);
        if (strcmp(shown, rows[i].shown) != 0)
            check_failed(c, __FILE__, __LINE__, "row %zu: %s, expected %s", i, shown,
                         rows[i].shown);
    }
}

static void check_json(struct check *c)
{
    static const struct {
        const char *text, *safe;
    } rows[] = {
        {"{\n  \"a\": \"\\u001b \xc3\xa9\"\n}", "{\n  \"a\": \"\\u001b \xc3\xa9\"\n}"},
        {"\"\xc2\x9b\x7f\xe2\x80\xae\"", "\"\\u009b\\u007f\\u202e\""},
    };
    if (!c->is_cpu || !check_case(c, "quote_json"))
        return;
    CHECK(c, quote_json(NULL) == NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *safe = quote_json(strdup(rows[i].text));
        CHECK(c, safe && strcmp(safe, rows[i].safe) == 0);
        free(safe);
    }
}

static void check_number(struct check *c, float value)
{
    char got[AIRY_FLOAT_TEXT], want[64];
    const size_t length = airy_float_text(got, value);
    snprintf(want, sizeof(want), "%16.8e", (double)value);
    if (length != strlen(want) || memcmp(got, want, length) != 0)
        check_failed(c, __FILE__, __LINE__, "'%.*s', expected '%s'", (int)length, got, want);
}

/* All bits of floats at random, integers and halves, and powers of ten with their neighbours. */
static void check_numbers(struct check *c)
{
    static const float rows[] = {0,       -0.0f,    1,         -1,          0.5f,      1e25f,
                                 1e-17f,  3.4e38f,  1e-45f,    (float)NAN,  HUGE_VALF, -HUGE_VALF,
                                 9999999, 99999992, 999999936, 9.9999996e9f};
    if (!c->is_cpu || !check_case(c, "quote_number_text"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_number(c, rows[i]);
    for (int i = 0; i < 300000; i++) {
        const uint32_t bits = (uint32_t)check_rand_u64(c);
        float value;
        memcpy(&value, &bits, sizeof(value));
        check_number(c, value);
        check_number(c, (float)(bits >> 8) * 0.0009765625f); /* many a half */
        check_number(c, (float)bits);
    }
    for (int k = -20; k <= 28; k++) {
        float value = (float)pow(10, k);
        for (int i = 0; i < 40; i++)
            value = nextafterf(value, 0);
        for (int i = 0; i < 80; i++, value = nextafterf(value, HUGE_VALF))
            check_number(c, value);
    }
}

void check_quote(struct check *c)
{
    check_numbers(c);
    check_json(c);
    check_gnuplot(c);
    check_long(c);
    check_escape(c);
}
