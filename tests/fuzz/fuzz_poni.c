/*
 * PONI files from a fuzzer: what is accepted passes airy_geometry_check, and its positions are
 * numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const int file = memfd_create("poni", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    airy_geometry g;
    if (airy_geometry_read(&g, path) == AIRY_OK) {
        require(airy_geometry_check(&g) == AIRY_OK);
        require(memchr(g.detector.name, '\0', sizeof g.detector.name) != NULL);
        if (g.detector.height == 0 || g.detector.height * g.detector.width > 100000)
            g.detector.height = g.detector.width = 3;
        double *out = malloc(g.detector.height * g.detector.width * sizeof *out);
        require(out != NULL && airy_geometry_centers(&g, AIRY_UNIT_TTH_DEG, out) == AIRY_OK);
        for (size_t i = 0; i < g.detector.height * g.detector.width; i++)
            require(out[i] >= 0 && out[i] <= 180);
        free(out);
    }
    close(file);
    return 0;
}
