/*
 * Small texts from a fuzzer: lists of numbers that OCT plans name, names of files as patterns,
 * files of the cache folder, and angles. What comes out is within what was asked for.
 *
 * Input: which (1 byte; 'a': angles), then the text.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/airy.h"
#include "base/cache_file.h"
#include "fuzz.h"
#include "io/oct/table.h"
#include "io/file/pattern.h"

enum { MOST = 64 };

static void read_numbers(const uint8_t *bytes, size_t size)
{
    char path[64];
    const int fd = memfd_create("table", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    double *values = malloc(MOST * sizeof(*values));
    size_t count = 0;
    require(values != NULL);
    if (airy_oct_table_read(values, &count, MOST, path) == AIRY_OK) {
        require(count <= MOST);
        for (size_t i = 0; i < count; i++)
            require(isfinite(values[i]));
    }
    free(values);
    close(fd);
}

/* In a folder of few files: what is found is there. */
static void expand_names(const uint8_t *bytes, size_t size)
{
    static char folder[64];
    static const char *const files[] = {"a_1.cbf", "a_2.cbf", "a_10.cbf", "b_0001.edf", "[c].npy"};
    char path[512];
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/airy-fuzz-names-%d", (int)getpid());
        require(mkdir(folder, 0700) == 0);
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
            snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
            FILE *file = fopen(path, "w");
            require(file != NULL && fclose(file) == 0);
        }
    }
    const int length = (int)(size < 256 ? size : 256);
    snprintf(path, sizeof(path), "%s/%.*s", folder, length, (const char *)bytes);
    if (strstr(path, "..") || strstr(path, "/."))
        return; /* ".*" is "..", too, where files of others come and go */
    const char *const given[1] = {path};
    struct airy_paths paths = {0};
    const bool pattern = airy_path_is_pattern(path);
    if (airy_paths_expand(&paths, given, 1, false) == AIRY_OK) {
        require(paths.count > 0 && (pattern || strcmp(paths.items[0], path) == 0));
        for (size_t i = 0; pattern && !strstr(path, "::") && i < paths.count; i++)
            require(access(paths.items[i], F_OK) == 0);
        airy_paths_free(&paths);
    }
}

/* A file of the cache with changed bytes: the stored ones or none. */
static void load_cache(const uint8_t *bytes, size_t size)
{
    static char folder[64];
    static const char stored[] = "twenty bytes to keep";
    static uint8_t file[512];
    static size_t file_size;
    char path[128];
    const struct airy_cache_key key = airy_cache_key((const char *const[]){"a", "b", NULL});
    snprintf(folder, sizeof(folder), "/tmp/airy-fuzz-cache-%d", (int)getpid());
    snprintf(path, sizeof(path), "%s/entry", folder);
    if (file_size == 0) {
        require(airy_cache_store(folder, "entry", key, stored, sizeof(stored)));
        FILE *whole = fopen(path, "rb");
        require(whole != NULL);
        file_size = fread(file, 1, sizeof(file), whole);
        fclose(whole);
    }
    uint8_t changed[512];
    memcpy(changed, file, file_size);
    for (size_t i = 1; i + 2 <= size; i += 2)
        changed[bytes[i] % file_size] = bytes[i + 1];
    FILE *out = fopen(path, "wb");
    const size_t left = size ? file_size - bytes[0] % file_size : 0;
    require(out != NULL && fwrite(changed, 1, left, out) == left && fclose(out) == 0);
    void *data = NULL;
    size_t got = 0;
    if (airy_cache_load(folder, "entry", key, sizeof(stored), &data, &got)) {
        require(got == sizeof(stored) && memcmp(data, stored, got) == 0);
        free(data);
    }
}

/* Degrees as they are, or sexagesimal ones in their range. */
static void parse_angle(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, bytes, size);
    text[size] = 0;
    for (int kind = 0; kind < AIRY_ANGLE_COUNT; kind++) {
        double degrees = 7;
        if (airy_angle_parse(&degrees, text, (airy_angle)kind) != AIRY_OK)
            require(degrees == 7);
        else if (strpbrk(text, ":hHmM"))
            require(isnan(degrees) || fabs(degrees) <= (kind == AIRY_ANGLE_LATITUDE ? 90 : 360));
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (data[0] == 'a') {
        parse_angle(data + 1, size - 1);
        return 0;
    }
    switch (data[0] % 3) {
    case 0:
        read_numbers(data + 1, size - 1);
        break;
    case 1:
        expand_names(data + 1, size - 1);
        break;
    default:
        load_cache(data + 1, size - 1);
    }
    return 0;
}
