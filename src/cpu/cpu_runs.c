/* Rows of images, their bits and their runs, for labels and their measures. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cpu/cpu_label.h"
#include "cpu/cpu_reduce.h"

void airy_runs_free(struct airy_runs *runs)
{
    free(runs->run);
    free(runs->row_first);
    free(runs->label);
    *runs = (struct airy_runs){.run = NULL};
}

char *airy_row_address(const airy_array *array, const size_t shape[3], size_t row)
{
    const size_t z = row / shape[1], y = row % shape[1], elem = airy_dtype_size(array->dtype);
    const int last = array->ndim - 1;
    size_t at = 0;
    if (last >= 1)
        at += y * array->pitch[last - 1];
    if (last >= 2)
        at += z * array->pitch[last - 2];
    return (char *)airy_array_address(array) + at * elem;
}

/* Pack eight bytes of 0 or 1 into eight bits. */
static uint64_t pack_bytes(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x));
    return x * UINT64_C(0x0102040810204080) >> 56;
}

void airy_pack_mask(uint64_t *bits, uint8_t *mask, size_t n)
{
    memset(mask + n, 0, airy_align_up(n, AIRY_RUN_WORD) - n);
    for (size_t w = 0; w * AIRY_RUN_WORD < n; w++) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8; b++)
            word |= pack_bytes(mask + w * AIRY_RUN_WORD + 8 * b) << (8 * b);
        bits[w] = word;
    }
}

void airy_label_turns(uint64_t *bits, const uint32_t *row, size_t width)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    uint8_t mask[AIRY_RUN_PIECE];
    for (size_t x = 0; x < width; x += AIRY_RUN_PIECE) {
        const size_t n = airy_min_size(AIRY_RUN_PIECE, width - x);
        mask[0] = row[x] != (x ? row[x - 1] : 0);
        k->turns(mask + 1, row + x + 1, n - 1);
        airy_pack_mask(bits + x / AIRY_RUN_WORD, mask, n);
    }
}

airy_array airy_image_at(const airy_array *first, size_t elements)
{
    airy_array image = *first;
    image.offset += elements * airy_dtype_size(first->dtype);
    return image;
}
