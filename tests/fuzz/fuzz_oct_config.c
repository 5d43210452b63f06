/*
 * OCT plans and their tables from a fuzzer: what is accepted is written, read again, and the same.
 *
 * Input: a plan; behind a zero byte, where there is one, a table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "io/oct_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static int memory_file(char path[64], const uint8_t *data, size_t size)
{
    const int file = memfd_create("plan", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static bool same_table(const double *a, const double *b, size_t count)
{
    return !a == !b && (!a || memcmp(a, b, count * sizeof(*a)) == 0);
}

static void round_trip(const airy_oct_config *config)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    airy_oct_config again;
    snprintf(path, sizeof(path), "%s/fuzz_oct_config.%ld.json", folder ? folder : "/tmp",
             (long)getpid());
    require(airy_oct_config_write(config, path, true) == AIRY_OK);
    require(airy_oct_config_read(&again, path) == AIRY_OK);
    unlink(path);
    const airy_oct_params *a = &config->params, *b = &again.params;
    require(a->samples == b->samples && a->lines == b->lines && a->dtype == b->dtype);
    require(a->window == b->window && a->axis == b->axis && a->background == b->background);
    require(a->low == b->low && a->high == b->high && a->add == b->add);
    require(same_table(a->axis_table, b->axis_table, a->samples));
    require(same_table(a->background_line, b->background_line, a->samples));
    require(same_table(a->window_table, b->window_table, a->samples));
    require(same_table(a->phase_table, b->phase_table, a->samples));
    airy_oct_config_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    double values[AIRY_OCT_MAX_SAMPLES];
    size_t count;
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t plan = zero ? (size_t)(zero - data) : size;
    int file = memory_file(path, data, plan);
    airy_oct_config config;
    if (airy_oct_config_read(&config, path) == AIRY_OK) {
        round_trip(&config);
        airy_oct_config_free(&config);
    }
    close(file);
    if (!zero)
        return 0;
    file = memory_file(path, zero + 1, size - plan - 1);
    if (airy_oct_table_read(values, &count, AIRY_OCT_MAX_SAMPLES, path) == AIRY_OK)
        for (size_t i = 0; i < count; i++)
            require(isfinite(values[i]));
    close(file);
    return 0;
}
