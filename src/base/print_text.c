#include "base/print_text.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

airy_status airy_print_text(char **text, void (*print)(FILE *file, const void *user),
                            const void *user)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&printed, &size);
    AIRY_FAIL_IF(!file, AIRY_ERR_MEMORY, "out of memory for a text");
    print(file, user);
    const bool whole = ferror(file) == 0;
    if (fclose(file) != 0 || !whole) {
        free(printed);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a text");
    }
    *text = printed;
    return AIRY_OK;
}
