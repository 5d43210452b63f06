/* Reading the spacings of a calibrant from a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number.h"
#include "integrate/calibrant.h"
#include "io/file/plain_file.h"

enum { MAX_LINES = 100000, MAX_BYTES = 16 << 20 };

static bool is_index(int h)
{
    return h > -10000 && h < 10000;
}

/* Read a line. Returns 1 for a spacing, 0 for an empty line or a comment, -1 for anything else. */
static int read_line(airy_calibrant_ring *ring, char *line)
{
    *ring = (airy_calibrant_ring){0};
    char *comment = strchr(line, '#');
    if (comment)
        *comment++ = '\0';
    line += strspn(line, " \t\r\n\f\v");
    if (!*line)
        return 0;
    char *end = NULL;
    const double value = strtod(line, &end);
    if (end == line || end[strspn(end, " \t\r\n")] != '\0' || !(value >= 1e-3) || !(value <= 1e6))
        return -1;
    ring->spacing = value * 1e-10;
    int hkl[3], multiplicity = 0;
    if (comment &&
        sscanf(comment, " (%d %d %d) %d", &hkl[0], &hkl[1], &hkl[2], &multiplicity) >= 3 &&
        is_index(hkl[0]) && is_index(hkl[1]) && is_index(hkl[2])) {
        memcpy(ring->hkl, hkl, sizeof(hkl));
        ring->multiplicity = multiplicity > 0 && multiplicity < 10000 ? multiplicity : 0;
    }
    return 1;
}

static airy_status read_lines(struct airy_growing_rings *found, FILE *file, const char *path)
{
    char line[512];
    size_t number = 0, bytes = 0;
    while (fgets(line, sizeof(line), file)) {
        number++;
        airy_calibrant_ring ring;
        const bool whole = strchr(line, '\n') != NULL;
        const int got = read_line(&ring, line);
        AIRY_FAIL_ON_IF(
            got < 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
            "%s line %zu: expected a spacing from 0.001 to 1000000 angstrom, or a comment", path,
            number);
        /* Only a comment may be longer than that. */
        for (int c = whole ? '\n' : 0; c != '\n' && c != EOF && bytes <= MAX_BYTES; bytes++)
            c = fgetc(file);
        AIRY_FAIL_ON_IF(
            number > MAX_LINES || bytes > MAX_BYTES, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
            "%s: more than %d lines, or %d bytes of comments, that is no list of spacings", path,
            MAX_LINES, MAX_BYTES);
        AIRY_FAIL_ON_IF(got > 0 && !airy_rings_add(found, &ring), AIRY_ERR_MEMORY,
                        AIRY_SUBJECT_FILE, "%s: out of memory", path);
    }
    AIRY_FAIL_HINT_IF(ferror(file), AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                      "%s: %s", path, strerror(errno));
    AIRY_FAIL_ON_IF(found->count == 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: has no spacing in it", path);
    return AIRY_OK;
}

airy_status airy_calibrant_read(airy_calibrant *calibrant, const char *path)
{
    AIRY_FAIL_IF(!calibrant, AIRY_ERR_PARAM, "airy_calibrant_read: calibrant is NULL");
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_calibrant_read: path is NULL");
    FILE *file;
    AIRY_TRY(airy_file_open_stream(&file, path));
    struct airy_growing_rings found = {0};
    struct airy_c_locale locale = {0};
    airy_status status = airy_c_locale_enter(&locale);
    if (status == AIRY_OK) {
        status = read_lines(&found, file, path);
        airy_c_locale_leave(&locale);
    }
    fclose(file);
    if (status != AIRY_OK) {
        free(found.rings);
        return status;
    }
    *calibrant =
        (airy_calibrant){.count = airy_rings_merge(found.rings, found.count), .rings = found.rings};
    const char *slash = strrchr(path, '/');
    snprintf(calibrant->name, sizeof(calibrant->name), "%s", slash ? slash + 1 : path);
    return AIRY_OK;
}

airy_status airy_calibrant_load(airy_calibrant *calibrant, const char *text, double wavelength)
{
    AIRY_FAIL_IF(!text, AIRY_ERR_PARAM, "airy_calibrant_load: text is NULL");
    const size_t n = strlen(text);
    const bool file = strchr(text, '/') || (n > 2 && strcasecmp(text + n - 2, ".D") == 0);
    /* Rings that point back to the source have a spacing of half a wavelength. */
    return file ? airy_calibrant_read(calibrant, text)
                : airy_calibrant_find(calibrant, text, wavelength / 2);
}
