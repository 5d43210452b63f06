#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *airy_number_text(char text[AIRY_NUMBER_TEXT], double value, bool is_float)
{
    char made[AIRY_NUMBER_TEXT];
    const int most = is_float ? 9 : 17;
    for (int digits = is_float ? 6 : 15; digits <= most; digits++) {
        snprintf(made, sizeof(made), "%.*g", digits, value);
        if (is_float ? strtof(made, NULL) == (float)value : strtod(made, NULL) == value)
            break;
    }
    return memcpy(text, made, sizeof(made));
}
