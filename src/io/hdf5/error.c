#include "io/hdf5/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

/* More than libhdf5 takes to begin, or to open a file: 1.10 reads through NULL without it. */
enum { ROOM = 3 << 20 };

struct found_message {
    char *text;
    size_t size;
};

static herr_t take_first(unsigned n, const H5E_error2_t *error, void *user)
{
    struct found_message *found = user;
    if (n > 0 || !error->desc)
        return 0;
    /* Failed system calls come as a list of facts; the system's own words are among them. */
    static const char mark[] = "error message = '";
    const char *words = strstr(error->desc, mark);
    const char *start = words ? words + sizeof(mark) - 1 : error->desc;
    const size_t length = words ? strcspn(start, "'") : strlen(start);
    snprintf(found->text, found->size, "%.*s", (int)length, start);
    return 0;
}

void airy_hdf5_message(char *text, size_t size)
{
    snprintf(text, size, "no reason given");
    struct found_message found = {text, size};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &found);
}

static herr_t take_numbers(unsigned n, const H5E_error2_t *error, void *user)
{
    if (n == 0)
        *(H5E_error2_t *)user = *error;
    return 0;
}

bool airy_hdf5_failed_io(void)
{
    H5E_error2_t first = {.maj_num = -1};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_numbers, &first);
    return first.maj_num == H5E_IO;
}

bool airy_hdf5_failed_system(void)
{
    H5E_error2_t first = {.maj_num = -1};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_numbers, &first);
    return first.maj_num == H5E_IO && first.min_num != H5E_TRUNCATED;
}

static herr_t take_errno(unsigned n, const H5E_error2_t *error, void *user)
{
    static const char mark[] = "errno = ";
    const char *number = n == 0 && error->desc ? strstr(error->desc, mark) : NULL;
    if (number)
        *(int *)user = atoi(number + sizeof(mark) - 1);
    return 0;
}

airy_hint airy_hdf5_hint(airy_status status)
{
    H5E_error2_t first = {.maj_num = -1};
    int number = 0;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_numbers, &first);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_errno, &number);
    if (first.maj_num == H5E_IO && first.min_num == H5E_TRUNCATED)
        return AIRY_HINT_GROWING; /* of an airy_probe: behind the end of the file */
    if (first.maj_num == H5E_EFL)
        return AIRY_HINT_STATED; /* of airy_hdf5_refuse */
    return number ? airy_hint_of_errno(number) : airy_usual_hint(status);
}

airy_status airy_hdf5_fail(airy_status status, airy_subject subject, const char *format, ...)
{
    char what[512], why[400], name[AIRY_ERROR_NAME] = "";
    airy_hdf5_message(why, sizeof(why));
    va_list args, names;
    va_start(args, format);
    va_copy(names, args);
    if (subject != AIRY_SUBJECT_NONE)
        snprintf(name, sizeof(name), "%s", va_arg(names, const char *));
    va_end(names);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    (void)airy_hinted(airy_hdf5_hint(status), airy_fail(status, "%s: %s", what, why));
    return airy_about(subject, name, status);
}

bool airy_hdf5_has_room(void)
{
    void *block;
    if (airy_memory_alloc(&block, ROOM) != AIRY_OK)
        return false;
    airy_memory_release(block);
    return true;
}

herr_t airy_hdf5_close(hid_t file)
{
    return airy_hdf5_has_room() ? H5Fclose(file) : -1;
}

airy_status airy_hdf5_check_room(const char *path)
{
    AIRY_FAIL_ON_IF(!airy_hdf5_has_room(), AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                    "out of memory for the cache of '%s'", path);
    return AIRY_OK;
}
