/*
 * OCT plans and the tables that they name, from a fuzzer. A plan that is accepted comes back from a
 * file as it was written: the second file is the first one again. What it says is made ready on the
 * CPU, or refused.
 *
 * Input: one byte (even: a plan, odd: a table), then the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"
#include "io/oct/table.h"

enum { MOST = 1 << 16 };

static size_t slurp(char *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    require(file != NULL);
    const size_t size = fread(text, 1, 1 << 20, file);
    fclose(file);
    return size;
}

/* What the written plan says is what it is read as. */
static void write_and_read(const airy_oct_config *config)
{
    static char first[1 << 20], second[1 << 20];
    char path[2][64];
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof(path[i]), "/dev/shm/airy-plan-%d-%d.json", (int)getpid(), i);
    airy_oct_config again = {0};
    if (airy_oct_config_write(config, path[0], true) == AIRY_OK) {
        require(airy_oct_config_read(&again, path[0]) == AIRY_OK);
        require(airy_oct_config_write(&again, path[1], true) == AIRY_OK);
        const size_t size = slurp(first, path[0]);
        require(slurp(second, path[1]) == size && memcmp(first, second, size) == 0);
        airy_oct_config_free(&again);
    }
    unlink(path[0]);
    unlink(path[1]);
}

static void prepare(const airy_oct_config *config)
{
    static airy_device *device;
    static airy_queue *queue;
    if (!device) {
        require(airy_device_create(&device, "cpu", &(airy_device_params){.threads = 1}) == AIRY_OK);
        require(airy_queue_create(&queue, device) == AIRY_OK);
    }
    airy_oct_params params = config->params;
    params.samples = params.samples ? params.samples : 64;
    params.lines = params.lines ? params.lines : 1;
    airy_oct *oct = NULL;
    (void)airy_oct_create(&oct, queue, &params);
    airy_oct_destroy(&oct);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char path[64];
    const int fd = memfd_create("plan", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (data[0] & 1) {
        size_t count = 0;
        double *values = malloc(MOST * sizeof(*values));
        require(values != NULL);
        if (airy_oct_table_read(values, &count, MOST, path) == AIRY_OK)
            require(count <= MOST);
        free(values);
    } else {
        airy_oct_config config = {0};
        if (airy_oct_config_read(&config, path) == AIRY_OK) {
            write_and_read(&config);
            prepare(&config);
        }
        airy_oct_config_free(&config);
    }
    close(fd);
    return 0;
}
