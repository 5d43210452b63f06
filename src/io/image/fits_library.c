#include "io/image/fits_library.h"

#include <stdio.h>

#include "base/error.h"

airy_status airy_fits_fail(airy_status status, int code)
{
    char word[FLEN_STATUS], line[FLEN_ERRMSG], first[FLEN_ERRMSG] = "";
    fits_get_errstatus(code, word);
    while (fits_read_errmsg(line))
        if (!first[0])
            snprintf(first, sizeof(first), "%s", line);
    for (char *p = first; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    if (code == MEMORY_ALLOCATION)
        status = AIRY_ERR_MEMORY;
    return airy_fail(status, "CFITSIO: %s%s%s", word, first[0] ? ": " : "", first);
}

airy_status airy_fits_key(fitsfile *file, int type, const char *keyword, void *value, bool *there)
{
    int code = 0;
    fits_read_key(file, type, keyword, value, NULL, &code);
    *there = code == 0;
    if (code == KEY_NO_EXIST || code == VALUE_UNDEFINED) {
        fits_clear_errmsg();
        return AIRY_OK;
    }
    if (code)
        return airy_fail_context(airy_fits_fail(AIRY_ERR_FORMAT, code), "keyword %s", keyword);
    return AIRY_OK;
}

airy_status airy_fits_column(int *column, fitsfile *file, const char *title)
{
    char name[FLEN_VALUE];
    int code = 0;
    snprintf(name, sizeof(name), "%s", title);
    fits_get_colnum(file, CASEINSEN, name, column, &code);
    if (code == COL_NOT_FOUND) {
        *column = code = 0;
        fits_clear_errmsg();
    }
    return code ? airy_fits_fail(AIRY_ERR_CORRUPT, code) : AIRY_OK;
}
