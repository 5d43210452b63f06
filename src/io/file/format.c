#include "io/file/format.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/size.h"
#include "io/file/plain_file.h"

static const struct {
    const char *suffix;
    enum airy_image_format format;
} suffixes[] = {
    {".npy", AIRY_FORMAT_NPY},   {".edf", AIRY_FORMAT_EDF},   {".h5", AIRY_FORMAT_HDF5},
    {".hdf5", AIRY_FORMAT_HDF5}, {".hdf", AIRY_FORMAT_HDF5},  {".nxs", AIRY_FORMAT_HDF5},
    {".nx5", AIRY_FORMAT_HDF5},  {".cxi", AIRY_FORMAT_HDF5},  {".tif", AIRY_FORMAT_TIFF},
    {".tiff", AIRY_FORMAT_TIFF}, {".png", AIRY_FORMAT_PNG},   {".cbf", AIRY_FORMAT_CBF},
    {".fits", AIRY_FORMAT_FITS}, {".fit", AIRY_FORMAT_FITS},  {".fts", AIRY_FORMAT_FITS},
    {".fz", AIRY_FORMAT_FITS},   {".conv", AIRY_FORMAT_CONV},
};

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
    for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (strcasecmp(dot, suffixes[i].suffix) == 0)
            return suffixes[i].format;
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
    if (memcmp(start, "\x93NUMPY", 6) == 0)
        *format = AIRY_FORMAT_NPY;
    else if (memcmp(start, "\211HDF\r\n\032\n", 8) == 0)
        *format = AIRY_FORMAT_HDF5;
    else if (memcmp(start, "SIMPLE  ", 8) == 0)
        *format = AIRY_FORMAT_FITS;
    else if (memcmp(start, "II*", 4) == 0 || memcmp(start, "MM\0*", 4) == 0 ||
             memcmp(start, "II+", 4) == 0 || memcmp(start, "MM\0+", 4) == 0)
        *format = AIRY_FORMAT_TIFF;
    else if (memcmp(start, "\211PNG\r\n\032\n", 8) == 0)
        *format = AIRY_FORMAT_PNG;
    else if (memcmp(start, "###CBF", 6) == 0)
        *format = AIRY_FORMAT_CBF;
    else if (memcmp(start, "CONV", 4) == 0 && isspace((unsigned char)start[4]))
        *format = AIRY_FORMAT_CONV;
    else if (memcmp(start, "{\n", 2) == 0 || memcmp(start, "{\r\n", 3) == 0)
        *format = AIRY_FORMAT_EDF;
    else
        *format = AIRY_FORMAT_UNKNOWN;
    return AIRY_OK;
}

airy_status airy_image_format_of(enum airy_image_format *format, const char *path)
{
    *format = airy_image_format_of_name(path);
    return *format == AIRY_FORMAT_UNKNOWN ? format_of_bytes(format, path) : AIRY_OK;
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
    AIRY_FAIL_IF(mark == path || (mark && !mark[2]), AIRY_ERR_PARAM,
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
