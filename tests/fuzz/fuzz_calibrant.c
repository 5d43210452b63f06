/* Files of spacings from a fuzzer: what is accepted is a list of rings by falling spacing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const int file = memfd_create("calibrant", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    airy_calibrant c = {0};
    if (airy_calibrant_read(&c, path) == AIRY_OK) {
        require(c.count > 0 && c.count <= AIRY_CALIBRANT_RINGS);
        for (size_t k = 0; k < c.count; k++) {
            const airy_calibrant_ring *ring = &c.rings[k];
            require(isfinite(ring->spacing) && ring->spacing > 0 && ring->multiplicity >= 0);
            require(k == 0 || ring->spacing < c.rings[k - 1].spacing);
        }
    }
    airy_calibrant_free(&c);
    close(file);
    return 0;
}
