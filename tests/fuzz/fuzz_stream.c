/*
 * Messages of a detector's stream from a fuzzer: whatever is accepted points into the message and
 * has as many bytes as its shape needs, and geometry and mask can be asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "airy/airy.h"
#include "fuzz.h"

static void look(const airy_stream_pixels *pixels, size_t count, const uint8_t *data, size_t size)
{
    require(count <= AIRY_STREAM_CHANNELS_MAX);
    for (size_t i = 0; i < count; i++) {
        const airy_stream_pixels *p = &pixels[i];
        const uint8_t *bytes = p->bytes;
        require(bytes >= data && p->size <= size && bytes + p->size <= data + size);
        require(memchr(p->channel, 0, sizeof(p->channel)) != NULL);
        require(p->codec.codec != AIRY_CODEC_NONE ||
                p->size == p->height * p->width * airy_dtype_size(p->dtype));
        unsigned sum = 0;
        for (size_t k = 0; k < p->size; k++)
            sum += bytes[k];
        require(sum < 0x80000000u);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static airy_stream_message m;
    if (airy_stream_parse(&m, data, size) != AIRY_OK) {
        require(*airy_last_error() != 0);
        return 0;
    }
    require(m.has_type && m.has_series && memchr(m.unique_id, 0, sizeof(m.unique_id)) != NULL);
    look(m.image.pixels, m.image.channels, data, size);
    look(m.start.mask, m.start.masks, data, size);
    if (m.type == AIRY_STREAM_IMAGE) {
        const airy_stream_pixels *pixels;
        require(m.image.has_id);
        (void)airy_stream_find_channel(&pixels, &m.image, "");
    }
    if (m.type == AIRY_STREAM_START && m.start.height * m.start.width < 100000) {
        airy_stack_meta meta;
        uint8_t *mask = malloc(m.start.height * m.start.width);
        airy_stream_meta(&meta, &m.start, "");
        require(mask != NULL);
        (void)airy_stream_mask(mask, &m.start, "");
        free(mask);
    }
    return 0;
}
