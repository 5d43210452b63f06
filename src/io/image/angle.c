/* Angles as people and catalogues write them. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/sky.h"
#include "base/error.h"
#include "base/number.h"

enum { MAX_TEXT = 63 };

static const char *const parts[3] = {"degrees", "minutes", "seconds"};

/* Digits, and *fraction: a point behind them, and what follows it. */
static bool take_number(double *value, bool *fraction, const char **at)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    size_t n = strspn(*at, "0123456789");
    *fraction = (*at)[n] == '.';
    n += *fraction ? 1 + strspn(*at + n + 1, "0123456789") : 0;
    char digits[MAX_TEXT + 1];
    memcpy(digits, *at, n); /* the text is not longer */
    digits[n] = 0;
    *value = strtod(digits, &end);
    *at += n;
    return *end == 0;
}

/* The numbers of A:B:C, AhBmCs or AdBmCs; unit is 'h', 'd' or, with colons, 0. */
static airy_status take_parts(double value[3], char *unit, const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    bool fraction = false;
    *unit = 0;
    for (int i = 0; i < 3 && (i == 0 || *at); i++) {
        AIRY_FAIL_IF(fraction || !take_number(&value[i], &fraction, &at), AIRY_ERR_PARAM,
                     "expected degrees, or an angle such as 05:34:31.9, 5h34m31.9s or -0d15m3s");
        AIRY_FAIL_IF(i > 0 && value[i] >= 60, AIRY_ERR_PARAM, "%s are %.10g, expected less than 60",
                     parts[i], value[i]);
        const char letter = (char)tolower((unsigned char)*at);
        if (i == 0 && (letter == 'h' || letter == 'd'))
            *unit = letter;
        const char want = !*unit ? (i < 2 ? ':' : 0) : i == 0 ? *unit : i == 1 ? 'm' : 's';
        const bool ends = !letter && (!*unit ? i > 0 : i == 2);
        AIRY_FAIL_IF(!ends && (!want || letter != want), AIRY_ERR_PARAM,
                     "expected degrees, or an angle such as 05:34:31.9, 5h34m31.9s or -0d15m3s");
        at += !ends;
        AIRY_FAIL_IF(!*unit && !ends && !*at, AIRY_ERR_PARAM, "%s are missing", parts[i + 1]);
    }
    AIRY_FAIL_IF(*at, AIRY_ERR_PARAM, "more behind the seconds");
    return AIRY_OK;
}

static airy_status check_range(double degrees, airy_angle kind)
{
    const double most = kind == AIRY_ANGLE_LATITUDE ? 90 : 360;
    AIRY_FAIL_IF(fabs(degrees) > most, AIRY_ERR_PARAM, "%.10g degrees, expected -%g to %g", degrees,
                 most, most);
    return AIRY_OK;
}

static airy_status parse(double *degrees, const char *text, airy_angle kind)
{
    double value[3] = {0, 0, 0};
    char unit, *end;
    const double plain = strtod(text, &end);
    const bool hex = strpbrk(text, "xX") != NULL;
    if (end != text && !*end && !isspace((unsigned char)*text) && !isinf(plain) && !hex) {
        AIRY_TRY(check_range(plain, kind));
        *degrees = plain;
        return AIRY_OK;
    }
    AIRY_TRY(take_parts(value, &unit, text));
    const bool hours = unit == 'h' || (!unit && kind == AIRY_ANGLE_RIGHT_ASCENSION);
    const double seconds = (value[0] * 60 + value[1]) * 60 + value[2],
                 size = hours ? seconds / 240 : seconds / 3600,
                 signed_size = *text == '-' ? -size : size;
    AIRY_FAIL_IF(kind == AIRY_ANGLE_LATITUDE && unit == 'h', AIRY_ERR_PARAM,
                 "hours, expected degrees");
    AIRY_FAIL_IF(kind != AIRY_ANGLE_LATITUDE && hours && (*text == '-' || size >= 360),
                 AIRY_ERR_PARAM, "%.10g hours, expected 0 to less than 24", signed_size / 15);
    AIRY_TRY(check_range(signed_size, kind));
    *degrees = signed_size;
    return AIRY_OK;
}

airy_status airy_angle_parse(double *degrees, const char *text, airy_angle kind)
{
    struct airy_c_locale locale;
    AIRY_FAIL_IF(!degrees || !text || (unsigned)kind >= AIRY_ANGLE_COUNT, AIRY_ERR_PARAM,
                 "airy_angle_parse: an argument is missing, or kind = %d", (int)kind);
    const size_t length = strnlen(text, MAX_TEXT + 1);
    AIRY_FAIL_IF(length > MAX_TEXT, AIRY_ERR_PARAM, "an angle of more than %d characters",
                 MAX_TEXT);
    AIRY_TRY(airy_c_locale_enter(&locale));
    const airy_status status = parse(degrees, text, kind);
    airy_c_locale_leave(&locale);
    if (status == AIRY_OK)
        return AIRY_OK;
    char shown[MAX_TEXT + 1];
    for (size_t i = 0; i <= length; i++)
        shown[i] = !text[i] || isprint((unsigned char)text[i]) ? text[i] : '?';
    return airy_fail_context(status, "'%s'", shown);
}
