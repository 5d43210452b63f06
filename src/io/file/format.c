#include "io/file/format.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/size.h"
#include "io/file/plain_file.h"

/* What files of a format are called, and what they start with: a string's 0 does not count. */
static const struct {
    enum airy_image_format format;
    const char *suffixes[7];
    const char *starts[7];
    size_t start; /* bytes of each of these; 0: as many as the string has */
} kinds[] = {
    {AIRY_FORMAT_NPY, {".npy"}, {"\x93NUMPY"}, 0},
    {AIRY_FORMAT_HDF5, {".h5", ".hdf5", ".hdf", ".nxs", ".nx5", ".cxi"}, {"\211HDF\r\n\032\n"}, 0},
    {AIRY_FORMAT_FITS, {".fits", ".fit", ".fts", ".fz"}, {"SIMPLE  "}, 0},
    {AIRY_FORMAT_TIFF, {".tif", ".tiff"}, {"II*\0", "MM\0*", "II+\0", "MM\0+"}, 4},
    {AIRY_FORMAT_PNG, {".png"}, {"\211PNG\r\n\032\n"}, 0},
    {AIRY_FORMAT_CBF, {".cbf"}, {"###CBF"}, 0},
    {AIRY_FORMAT_CONV, {".conv"}, {"CONV ", "CONV\t", "CONV\n", "CONV\v", "CONV\f", "CONV\r"}, 0},
    {AIRY_FORMAT_EDF, {".edf"}, {"{\n", "{\r\n"}, 0},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

enum airy_image_format airy_image_format_of_name(const char *path)
{
    char file[4096];
    const char *ext;
    if (access(path, F_OK) != 0 && strstr(path, "::"))
        return AIRY_FORMAT_HDF5;
    if (airy_fits_split(file, sizeof(file), &ext, path)) {
        path = file;
        const size_t n = strlen(file);
        if (n > 3 && strcasecmp(file + n - 3, ".gz") == 0)
            file[n - 3] = 0; /* the format is what is inside */
    }
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < KINDS; i++)
        for (const char *const *suffix = kinds[i].suffixes; *suffix; suffix++)
            if (strcasecmp(dot, *suffix) == 0)
                return kinds[i].format;
    return AIRY_FORMAT_UNKNOWN;
}

bool airy_name_is_fits(const char *path)
{
    return airy_image_format_of_name(path) == AIRY_FORMAT_FITS;
}

/* A name that says nothing: what the file starts with. */
static airy_status format_of_bytes(enum airy_image_format *format, const char *path)
{
    int fd;
    uint64_t size;
    char start[8] = "";
    AIRY_TRY(airy_file_open(&fd, &size, path));
    const airy_status status =
        airy_file_pread(fd, start, airy_min_size(sizeof(start), (size_t)size), 0);
    close(fd);
    AIRY_TRY(status);
    *format = AIRY_FORMAT_UNKNOWN;
    for (size_t i = 0; i < KINDS && *format == AIRY_FORMAT_UNKNOWN; i++)
        for (const char *const *text = kinds[i].starts; *text; text++)
            if (memcmp(start, *text, kinds[i].start ? kinds[i].start : strlen(*text)) == 0)
                *format = kinds[i].format;
    return AIRY_OK;
}

airy_status airy_image_format_of(enum airy_image_format *format, const char *path)
{
    *format = airy_image_format_of_name(path);
    return *format == AIRY_FORMAT_UNKNOWN ? format_of_bytes(format, path) : AIRY_OK;
}

airy_status airy_image_format_stated(enum airy_image_format *format, const char *path)
{
    enum airy_image_format start = AIRY_FORMAT_HDF5;
    *format = airy_image_format_of_name(path);
    if (*format != AIRY_FORMAT_HDF5)
        AIRY_TRY(format_of_bytes(&start, path));
    if (start == AIRY_FORMAT_HDF5 || start == AIRY_FORMAT_NPY)
        *format = start;
    else if (start != AIRY_FORMAT_TIFF || *format != start)
        *format = AIRY_FORMAT_UNKNOWN;
    return AIRY_OK;
}

bool airy_fits_split(char *file, size_t size, const char **ext, const char *path)
{
    const size_t n = strlen(path);
    snprintf(file, size, "%s", path);
    *ext = NULL;
    if (n >= size)
        return false;
    if (n < 3 || path[n - 1] != ']' || access(path, F_OK) == 0)
        return true;
    char *open = strrchr(file, '[');
    if (!open || open == file)
        return true;
    *ext = path + (open - file) + 1;
    *open = 0;
    return true;
}

airy_status airy_stack_split(char **file, char **dataset, const char *path)
{
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM,
                 "path of a stack is empty, expected FILE or FILE::DATASET");
    const char *mark = NULL;
    /* A file whose own name holds "::" is found as it is. */
    if (access(path, F_OK) != 0)
        for (const char *at = path; (at = strstr(at, "::")) != NULL; at += 2)
            mark = at;
    AIRY_FAIL_ON_IF(mark == path || (mark && !mark[2]), AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "path '%s', expected FILE or FILE::DATASET", path);
    *file = mark ? strndup(path, (size_t)(mark - path)) : strdup(path);
    *dataset = !mark ? NULL : mark[2] == '/' ? strdup(mark + 2) : NULL;
    if (mark && mark[2] != '/' && asprintf(dataset, "/%s", mark + 2) < 0)
        *dataset = NULL;
    if (!*file || (mark && !*dataset)) {
        free(*file);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    }
    return AIRY_OK;
}

/* stat of the file part of FILE::DATASET and FILE[EXT]. */
static bool stat_input(const char *input, struct stat *about)
{
    char name[4096], *file = NULL, *dataset = NULL;
    const char *ext;
    const bool there = airy_stack_split(&file, &dataset, input) == AIRY_OK &&
                       airy_fits_split(name, sizeof(name), &ext, file) && stat(name, about) == 0;
    free(file);
    free(dataset);
    return there;
}

airy_status airy_file_keep(const char *input, const char *output)
{
    struct stat in, out;
    AIRY_FAIL_HINT_IF(stat(output, &out) == 0 && S_ISREG(out.st_mode) && stat_input(input, &in) &&
                          in.st_dev == out.st_dev && in.st_ino == out.st_ino,
                      AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "output '%s' is the same file as the input '%s', which would be lost; choose "
                      "another name",
                      output, input);
    return AIRY_OK;
}
