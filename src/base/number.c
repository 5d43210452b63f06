#include "base/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

airy_status airy_c_locale_enter(struct airy_c_locale *locale)
{
    locale->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    AIRY_FAIL_IF(locale->c == (locale_t)0, AIRY_ERR_MEMORY, "cannot create the C locale: %s",
                 strerror(errno));
    locale->before = uselocale(locale->c);
    return AIRY_OK;
}

void airy_c_locale_leave(struct airy_c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->c);
}

bool airy_number_parse(double *value, const char *text)
{
    char *end = NULL;
    if (!*text || text[strspn(text, "0123456789+-.eE")]) /* strtod takes blanks, 0x1p3, inf, nan */
        return false;
    struct airy_c_locale locale;
    if (airy_c_locale_enter(&locale) != AIRY_OK)
        return false;
    const double number = strtod(text, &end);
    airy_c_locale_leave(&locale);
    if (*end || isinf(number))
        return false;
    *value = number;
    return true;
}

/* "nan", "inf" or "infinity", with a sign or without. */
static bool parse_no_number(double *value, const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    const bool minus = *text == '-';
    text += minus || *text == '+';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i == 0 ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
            return true;
        }
    return false;
}

bool airy_number_parse_any(double *value, const char *text)
{
    return airy_number_parse(value, text) || parse_no_number(value, text);
}

/*
 * A number m 2^e from LEAST to below MOST, divided by 10^(exponent - digits + 1), is a quotient of
 * integers below 2^128 where it has 17 digits at most: 5^27 is below 2^63. So its digits, their
 * rounding and whether they read back as the same number are found exactly.
 */
static const double LEAST = 1.1e-11, MOST = 1e16, LOG10_2 = 0.30102999566398120;
__extension__ typedef unsigned __int128 wide;

static const uint64_t powers_of_5[28] = {1u,
                                         5u,
                                         25u,
                                         125u,
                                         625u,
                                         3125u,
                                         15625u,
                                         78125u,
                                         390625u,
                                         1953125u,
                                         9765625u,
                                         48828125u,
                                         244140625u,
                                         1220703125u,
                                         6103515625u,
                                         30517578125u,
                                         152587890625u,
                                         762939453125u,
                                         3814697265625u,
                                         19073486328125u,
                                         95367431640625u,
                                         476837158203125u,
                                         2384185791015625u,
                                         11920928955078125u,
                                         59604644775390625u,
                                         298023223876953125u,
                                         1490116119384765625u,
                                         7450580596923828125u};
static const uint64_t powers_of_10[18] = {1u,
                                          10u,
                                          100u,
                                          1000u,
                                          10000u,
                                          100000u,
                                          1000000u,
                                          10000000u,
                                          100000000u,
                                          1000000000u,
                                          10000000000u,
                                          100000000000u,
                                          1000000000000u,
                                          10000000000000u,
                                          100000000000000u,
                                          1000000000000000u,
                                          10000000000000000u,
                                          100000000000000000u};

struct binary {
    uint64_t m;
    int e;
    bool is_power; /* of two: the number below is half as far as the one above */
};

/* A positive number, below 2^above. */
static struct binary take_apart(double value, bool is_float, int *above)
{
    const int bits = is_float ? FLT_MANT_DIG : DBL_MANT_DIG;
    struct binary b;
    const double fraction = frexp(value, above); /* 0.5 to 1 */
    b.m = (uint64_t)ldexp(fraction, bits);
    b.e = *above - bits;
    b.is_power = b.m == (uint64_t)1 << (bits - 1);
    return b;
}

/* A number in decimal: digits of which the first stands for 10^exponent. */
struct decimal {
    uint64_t digits;
    int count, exponent;
    bool reads_back;
};

/* b to so many digits; false: it is below 10^exponent. */
static bool make_decimal(struct decimal *d, const struct binary *b, int count, int exponent)
{
    const int k = count - 1 - exponent, shift = -b->e - k;
    wide ulp = k > 0 ? powers_of_5[k] : 1, exact = b->m * ulp, one = k < 0 ? powers_of_5[-k] : 1;
    if (shift > 0) {
        one <<= shift;
    } else {
        exact <<= -shift;
        ulp <<= -shift;
    }
    uint64_t made = (uint64_t)(k < 0 ? exact / one : exact >> (shift > 0 ? shift : 0));
    if (made < powers_of_10[count - 1])
        return false;
    const wide rest = exact - made * one;
    if (2 * rest > one || (2 * rest == one && (made & 1)))
        made++;
    const wide found = made * one, off = found > exact ? found - exact : exact - found,
               parts = found < exact && b->is_power ? 4 * off : 2 * off;
    *d = (struct decimal){.digits = made, .count = count, .exponent = exponent};
    /* Half way between two numbers, the one with the even m is read. */
    d->reads_back = parts < ulp || (parts == ulp && !(b->m & 1));
    if (made == powers_of_10[count]) {
        d->digits /= 10;
        d->exponent++;
    }
    return true;
}

static char *put_digits(char *to, uint64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        to[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return to + count;
}

/* As "%.*g" has it: without zeros at the end, with an exponent below -4 and from 10^count on. */
static void put_decimal(char *to, const struct decimal *d)
{
    const int exponent = d->exponent;
    uint64_t digits = d->digits;
    int count = d->count;
    for (; count > 1 && digits % 10 == 0; count--)
        digits /= 10;
    if (exponent < -4 || exponent >= d->count) {
        const uint64_t below = powers_of_10[count - 1];
        to = put_digits(to, digits / below, 1);
        if (count > 1)
            *to++ = '.';
        to = put_digits(to, digits % below, count - 1);
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        to = put_digits(to, (uint64_t)abs(exponent), 2);
    } else if (exponent < 0) {
        memcpy(to, "0.0000", 6);
        to = put_digits(to + 1 - exponent, digits, count);
    } else if (count <= exponent + 1) {
        to = put_digits(to, digits * powers_of_10[exponent + 1 - count], exponent + 1);
    } else {
        const uint64_t below = powers_of_10[count - exponent - 1];
        to = put_digits(to, digits / below, exponent + 1);
        *to++ = '.';
        to = put_digits(to, digits % below, count - exponent - 1);
    }
    *to = '\0';
}

/* false: it is not one of the numbers above. */
static bool print_exactly(char *text, double value, bool is_float, int least, int most)
{
    const double size = fabs(value);
    if (signbit(value))
        *text++ = '-';
    if (value == 0) {
        memcpy(text, "0", 2);
        return true;
    }
    if (!(size >= LEAST && size < MOST) || (is_float && (double)(float)value != value))
        return false;
    int above;
    const struct binary b = take_apart(size, is_float, &above);
    int exponent = (int)floor(above * LOG10_2); /* the right one, or one more */
    struct decimal d;
    while (!make_decimal(&d, &b, least, exponent))
        exponent--;
    for (int count = least + 1; count <= most && !d.reads_back; count++)
        (void)make_decimal(&d, &b, count, exponent);
    put_decimal(text, &d);
    return true;
}

const char *airy_number_text(char text[AIRY_NUMBER_TEXT], double value, bool is_float)
{
    const int least = is_float ? FLT_DIG : DBL_DIG, most = is_float ? 9 : 17;
    char made[AIRY_NUMBER_TEXT];
    if (print_exactly(text, value, is_float, least, most))
        return text;
    for (int digits = least; digits <= most; digits++) {
        snprintf(made, sizeof(made), "%.*g", digits, value);
        if (is_float ? strtof(made, NULL) == (float)value : strtod(made, NULL) == value)
            break;
    }
    return memcpy(text, made, sizeof(made));
}

const char *airy_bytes_text(char text[AIRY_NUMBER_TEXT], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1000;
    snprintf(text, AIRY_NUMBER_TEXT, unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

const char *airy_shape_text(char text[AIRY_SHAPE_TEXT], const size_t *shape, int ndim)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < ndim && used < AIRY_SHAPE_TEXT; i++)
        used +=
            (size_t)snprintf(text + used, AIRY_SHAPE_TEXT - used, i ? " x %zu" : "%zu", shape[i]);
    return text;
}
