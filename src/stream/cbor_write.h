/* CBOR being written into a buffer. */
#ifndef AIRY_STREAM_CBOR_WRITE_H
#define AIRY_STREAM_CBOR_WRITE_H

#include <cbor.h>
#include <stdbool.h>
#include <string.h>

/* `full` once something did not fit. */
struct airy_stream_bytes {
    unsigned char *at;
    size_t size, used;
    bool full;
};

static inline void airy_cbor_took(struct airy_stream_bytes *b, size_t bytes)
{
    b->full |= bytes == 0;
    b->used += bytes;
}

/* One item by libcbor's cbor_encode_<what>. */
#define AIRY_CBOR_PUT(b, what, value)                                                              \
    airy_cbor_took((b), cbor_encode_##what((value), (b)->at + (b)->used, (b)->size - (b)->used))

static inline void airy_cbor_put_bytes(struct airy_stream_bytes *b, const void *bytes, size_t count)
{
    if (count > b->size - b->used) {
        b->full = true;
        return;
    }
    memcpy(b->at + b->used, bytes, count);
    b->used += count;
}

static inline void airy_cbor_put_text(struct airy_stream_bytes *b, const char *text)
{
    const size_t n = strlen(text);
    AIRY_CBOR_PUT(b, string_start, n);
    airy_cbor_put_bytes(b, text, n);
}

static inline void airy_cbor_put_number(struct airy_stream_bytes *b, const char *key, double value)
{
    airy_cbor_put_text(b, key);
    AIRY_CBOR_PUT(b, double, value);
}

static inline void airy_cbor_put_count(struct airy_stream_bytes *b, const char *key, uint64_t value)
{
    airy_cbor_put_text(b, key);
    AIRY_CBOR_PUT(b, uint, value);
}

#endif
