#include "airy/provenance.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/number.h"
#include "base/sha256.h"
#include "base/word.h"

enum {
    HASHED_WHOLE = 64 << 20, /* bytes; beyond, files are hashed by name, size and time */
    EACH = 256               /* of more files the names and sizes are hashed together */
};

airy_status airy_utf8_copy(char **utf8, const char *text)
{
    AIRY_FAIL_IF(!utf8 || !text, AIRY_ERR_PARAM, "airy_utf8_copy: argument is NULL");
    const size_t n = strlen(text);
    const bool plain = airy_is_utf8(text, n);
    char *copy = malloc(plain ? n + 1 : 2 * n + 1);
    size_t used = 0;
    AIRY_FAIL_IF(!copy, AIRY_ERR_MEMORY, "out of memory for a text of %zu bytes", n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (!plain && byte >= 0x80)
            copy[used++] = (char)(0xc0 | byte >> 6);
        copy[used++] = !plain && byte >= 0x80 ? (char)(0x80 | (byte & 0x3f)) : text[i];
    }
    copy[used] = 0;
    *utf8 = copy;
    return AIRY_OK;
}

/* NULL: out of memory. */
static json_t *string_json(const char *text)
{
    char *utf8;
    if (airy_utf8_copy(&utf8, text) != AIRY_OK)
        return NULL;
    json_t *json = json_string(utf8);
    free(utf8);
    return json;
}

/* What a path that is no file has: a pipe, a stream, a name with a pattern. */
static bool is_no_file(int why)
{
    return why == 0 || why == ENOENT || why == ENOTDIR || why == ENAMETOOLONG;
}

/* limit: the largest file that is hashed by its content. *json is NULL where memory is short. */
static airy_status file_json(json_t **json, const char *path, off_t limit)
{
    char name[4096], hex[65], text[4200];
    const char *dataset = strstr(path, "::");
    struct airy_sha256 hash;
    struct stat status;
    snprintf(name, sizeof(name), "%.*s", (int)(dataset ? (size_t)(dataset - path) : strlen(path)),
             path);
    errno = 0; /* what comes through a pipe comes once: it is for the job */
    const bool known = stat(name, &status) == 0 && S_ISREG(status.st_mode);
    if (known && status.st_size <= limit && airy_sha256_file(name, limit, hex)) {
        *json = json_pack("{s:o, s:s}", "path", string_json(path), "sha256", hex);
        return AIRY_OK;
    }
    if (!is_no_file(errno))
        return airy_fail_system(AIRY_SUBJECT_FILE, errno, "%s cannot be read for its SHA-256: %s",
                                path, strerror(errno));
    if (!known || status.st_size <= limit) {
        *json = json_pack("{s:o}", "path", string_json(path));
        return AIRY_OK;
    }
    const int n = snprintf(text, sizeof(text), "%s %lld %lld", name, (long long)status.st_size,
                           (long long)status.st_mtime);
    airy_sha256_begin(&hash);
    airy_sha256_add(&hash, text, (size_t)n);
    airy_sha256_end(&hash, hex);
    *json = json_pack("{s:o, s:I, s:I, s:s}", "path", string_json(path), "bytes",
                      (json_int_t)status.st_size, "modified", (json_int_t)status.st_mtime,
                      "sha256_of_name_size_time", hex);
    return AIRY_OK;
}

/* Names and sizes together: a run over 10^5 files must not read them twice. */
static json_t *many_json(const char *const *paths, size_t count)
{
    struct airy_sha256 hash;
    char hex[65];
    airy_sha256_begin(&hash);
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        char size[32];
        const bool known = stat(paths[i], &status) == 0;
        snprintf(size, sizeof(size), " %lld\n", known ? (long long)status.st_size : -1);
        airy_sha256_add(&hash, paths[i], strlen(paths[i]));
        airy_sha256_add(&hash, size, strlen(size));
    }
    airy_sha256_end(&hash, hex);
    return json_pack("[{s:o, s:o, s:I, s:s}]", "path", string_json(paths[0]), "last",
                     string_json(paths[count - 1]), "files", (json_int_t)count,
                     "sha256_of_names_sizes", hex);
}

static airy_status print_json(char **text, json_t *json)
{
    *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for JSON");
    return AIRY_OK;
}

airy_status airy_file_identify(char **json, const char *path)
{
    AIRY_FAIL_IF(!json || !path, AIRY_ERR_PARAM, "airy_file_identify: argument is NULL");
    json_t *file = NULL;
    AIRY_TRY(file_json(&file, path, HASHED_WHOLE));
    return print_json(json, file);
}

airy_status airy_files_identify(char **json, const char *const *paths, size_t count)
{
    AIRY_FAIL_IF(!json || !paths, AIRY_ERR_PARAM, "airy_files_identify: argument is NULL");
    if (count > EACH)
        return print_json(json, many_json(paths, count));
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        json_t *file = NULL;
        const airy_status status = file_json(&file, paths[i], HASHED_WHOLE / (off_t)count);
        if (status != AIRY_OK) {
            json_decref(list);
            return status;
        }
        if (json_array_append_new(list, file) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return print_json(json, list);
}

/* Rewrite the real number at text; returns the length of what was written. */
static size_t shorten(char *out, const char *text, size_t length)
{
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    const double value = strtod(word, NULL);
    for (int digits = 15; digits < 17; digits++) {
        char shorter[40];
        const size_t n = (size_t)snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
        if (n + 2 <= length && strtod(shorter, NULL) == value) {
            memcpy(out, shorter, n);
            if (strpbrk(shorter, ".e"))
                return n;
            memcpy(out + n, ".0", 2); /* stays a real */
            return n + 2;
        }
    }
    memmove(out, text, length);
    return length;
}

static bool is_real(const char *number, size_t length)
{
    while (length > 0 && !strchr(".eE", number[length - 1]))
        length--;
    return length > 0;
}

void airy_json_shorten(char *json)
{
    struct airy_c_locale locale;
    const char *from = json;
    char *to = json; /* never ahead of from: numbers only shrink */
    bool quoted = false;
    if (!json || airy_c_locale_enter(&locale) != AIRY_OK)
        return;
    while (*from) {
        const size_t number = quoted ? 0 : strspn(from, "0123456789+-.eE");
        if (is_real(from, number)) {
            to += shorten(to, from, number);
            from += number;
            continue;
        }
        if (quoted && *from == '\\')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        *to++ = *from++;
    }
    *to = 0;
    airy_c_locale_leave(&locale);
}
