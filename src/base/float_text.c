#include "base/float_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { DIGITS = 9, LEAST = 100000000 /* of so many digits */ };

static wide power_of_ten(int exponent)
{
    wide power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/*
 * mantissa 2^exponent 10^scale to the nearest integer, a half to the even one. The mantissa has 24
 * bits, 10^27 has 90, and where the scale is negative the exponent is at most 64.
 */
static uint64_t scaled(uint32_t mantissa, int exponent, int scale)
{
    wide number = mantissa, divisor = 1;
    if (scale >= 0)
        number *= power_of_ten(scale);
    else
        divisor = power_of_ten(-scale);
    if (exponent >= 0)
        number <<= exponent;
    else
        divisor <<= -exponent;
    const wide rest = number % divisor, half = divisor - rest;
    const uint64_t whole = (uint64_t)(number / divisor);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

size_t airy_float_text(char text[AIRY_FLOAT_TEXT], float value)
{
    int exponent;
    const float size = fabsf(value);
    if (!(size >= 1e-17f && size <= 1e25f)) /* also not a number, and 0 */
        return (size_t)snprintf(text, AIRY_FLOAT_TEXT, "%16.8e", (double)value);
    const uint32_t mantissa = (uint32_t)ldexpf(frexpf(size, &exponent), 24);
    int power = (int)floor(log10((double)size));
    uint64_t digits = scaled(mantissa, exponent - 24, DIGITS - 1 - power);
    if (digits < LEAST) /* the logarithm was rounded up */
        digits = scaled(mantissa, exponent - 24, DIGITS - 1 - --power);
    if (digits >= (uint64_t)10 * LEAST) { /* 9.999999999 */
        power++;
        digits = scaled(mantissa, exponent - 24, DIGITS - 1 - power);
    }
    char *const end = text + 16;
    char *at = end;
    const int shown = power < 0 ? -power : power;
    *--at = (char)('0' + shown % 10);
    *--at = (char)('0' + shown / 10);
    *--at = power < 0 ? '-' : '+';
    *--at = 'e';
    for (int i = 0; i < DIGITS; i++, digits /= 10) {
        if (i == DIGITS - 1)
            *--at = '.';
        *--at = (char)('0' + digits % 10);
    }
    if (value < 0)
        *--at = '-';
    memset(text, ' ', (size_t)(at - text));
    return (size_t)(end - text);
}
