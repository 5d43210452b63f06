/* What every fuzzer needs. */
#ifndef AIRY_FUZZ_H
#define AIRY_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* Bytes that are taken one by one; 0 behind the last. */
struct input {
    const uint8_t *bytes;
    size_t left;
};

static inline unsigned take(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->bytes++;
}

#endif
