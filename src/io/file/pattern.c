#include "io/file/pattern.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/stack.h"
#include "base/error.h"
#include "io/file/format.h"

bool airy_path_is_pattern(const char *path)
{
    char file[4096];
    const char *ext;
    if (!strpbrk(path, "*?[#") || access(path, F_OK) == 0)
        return false;
    const char *dataset = strstr(path, "::");
    const size_t before = dataset ? (size_t)(dataset - path) : 0;
    if (dataset && strcspn(path, "*?[#") > before)
        return false;
    if (before > 0 && before < sizeof(file)) {
        snprintf(file, sizeof(file), "%.*s", (int)before, path);
        if (access(file, F_OK) == 0)
            return false;
    }
    if (!airy_fits_split(file, sizeof(file), &ext, path) || !ext)
        return true;
    /* FILE[EXT] of FITS: the file is there, or would be one by its name */
    return access(file, F_OK) != 0 && (strpbrk(file, "*?[#") || !airy_name_is_fits(file));
}

/* Runs of digits count as numbers, all else byte by byte. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        const size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
        const int order = n != m ? (n < m ? -1 : 1) : memcmp(a, b, n);
        if (order)
            return order;
        a += n;
        b += m;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int by_number(const void *a, const void *b)
{
    const char *first = *(char *const *)a, *second = *(char *const *)b;
    const int order = compare_names(first, second);
    return order ? order : strcmp(first, second);
}

/* Each run of # against all digits that are there; the rest as it is. */
static bool fits_hashes(const char *pattern, const char *name)
{
    while (*pattern) {
        if (*pattern != '#') {
            if (*pattern++ != *name++)
                return false;
            continue;
        }
        const size_t n = strspn(pattern, "#"), digits = strspn(name, "0123456789");
        if (digits < n || (digits > n && *name == '0'))
            return false;
        pattern += n;
        name += digits;
    }
    return *name == 0;
}

/* For glob(): n digits and anything for n #; fits_hashes() looks closer. malloc'ed. */
static char *glob_of_hashes(const char *pattern)
{
    char *text = malloc(5 * strlen(pattern) + 2), *to = text;
    for (const char *at = pattern; text && *at; at++) {
        if (*at == '#') {
            to = stpcpy(to, "[0-9]");
            if (at[1] != '#')
                *to++ = '*';
        } else {
            *to++ = *at;
        }
    }
    if (text)
        *to = 0;
    return text;
}

static airy_status add_path(struct airy_paths *paths, const char *path, const char *dataset)
{
    const size_t n = paths->count;
    if ((n & (n - 1)) == 0) { /* doubling: else there is room */
        char **larger = realloc(paths->items, (n ? 2 * n : 1) * sizeof(*larger));
        AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu paths", n);
        paths->items = larger;
    }
    char *copy = NULL;
    if (asprintf(&copy, "%s%s", path, dataset) < 0)
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    paths->items[paths->count++] = copy;
    return AIRY_OK;
}

/* Numbers that a series of one run of # does not have: said, as frames move up. */
static void say_gaps(const char *pattern, char *const *names, size_t count)
{
    const size_t at = strcspn(pattern, "#");
    if (count < 2 || strchr(pattern + at + strspn(pattern + at, "#"), '#'))
        return;
    const unsigned long long first = strtoull(names[0] + at, NULL, 10),
                             last = strtoull(names[count - 1] + at, NULL, 10);
    for (size_t i = 1; i < count && last - first + 1 != count; i++) {
        const unsigned long long number = strtoull(names[i] + at, NULL, 10);
        if (number == first + i)
            continue;
        airy_log(AIRY_LOG_WARN,
                 "%s: %llu of the numbers %llu to %llu have no file, the first is %llu", pattern,
                 last - first + 1 - count, first, last, first + i);
        return;
    }
}

static airy_status add_matches(struct airy_paths *paths, const char *pattern, const char *dataset,
                               bool say)
{
    const bool hashes = !strpbrk(pattern, "*?[");
    char *text = hashes ? glob_of_hashes(pattern) : strdup(pattern);
    AIRY_FAIL_IF(!text, AIRY_ERR_MEMORY, "out of memory for a pattern");
    glob_t found;
    const int code = glob(text, GLOB_NOSORT | GLOB_NOESCAPE, NULL, &found);
    free(text);
    AIRY_FAIL_ON_IF(code == GLOB_NOSPACE, AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                    "out of memory for the files of '%s'", pattern);
    size_t kept = 0;
    airy_status status = AIRY_OK;
    if (code == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!hashes || fits_hashes(pattern, found.gl_pathv[i])) {
                char *const swap = found.gl_pathv[kept];
                found.gl_pathv[kept++] = found.gl_pathv[i];
                found.gl_pathv[i] = swap;
            }
        qsort(found.gl_pathv, kept, sizeof(*found.gl_pathv), by_number);
        if (hashes && say)
            say_gaps(pattern, found.gl_pathv, kept);
        for (size_t i = 0; i < kept && status == AIRY_OK; i++)
            status = add_path(paths, found.gl_pathv[i], dataset);
        globfree(&found);
    }
    AIRY_FAIL_HINT_IF(status == AIRY_OK && kept == 0, AIRY_ERR_NOT_FOUND, AIRY_HINT_PATH,
                      AIRY_SUBJECT_FILE, "no file matches '%s'", pattern);
    return status;
}

airy_status airy_paths_expand(struct airy_paths *paths, const char *const *given, size_t count,
                              bool say)
{
    struct airy_paths made = {NULL, 0};
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        if (!given[i] || !*given[i]) {
            status = airy_fail(AIRY_ERR_PARAM,
                               "path of a stack is empty, expected FILE or FILE::DATASET");
        } else if (!airy_path_is_pattern(given[i])) {
            status = add_path(&made, given[i], "");
        } else {
            const char *dataset = strstr(given[i], "::");
            char *file = dataset ? strndup(given[i], (size_t)(dataset - given[i]))
                                 : strdup(given[i]);
            status = file ? add_matches(&made, file, dataset ? dataset : "", say)
                          : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
            free(file);
        }
    }
    if (status != AIRY_OK) {
        airy_paths_free(&made);
        return status;
    }
    *paths = made;
    return AIRY_OK;
}

void airy_paths_free(struct airy_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (struct airy_paths){NULL, 0};
}

airy_status airy_stack_paths(char ***files, size_t *count, const char *const *paths,
                             size_t path_count)
{
    struct airy_paths found;
    AIRY_FAIL_IF(!files || !count || !paths || path_count == 0, AIRY_ERR_PARAM,
                 "airy_stack_paths: an argument is NULL");
    AIRY_TRY(airy_paths_expand(&found, paths, path_count, false));
    *files = found.items;
    *count = found.count;
    return AIRY_OK;
}

void airy_stack_paths_free(char **files, size_t count)
{
    struct airy_paths paths = {files, count};
    airy_paths_free(&paths);
}
