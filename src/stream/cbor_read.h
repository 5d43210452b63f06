/* Items of a CBOR message one after another; strings stay where they are. */
#ifndef AIRY_STREAM_CBOR_READ_H
#define AIRY_STREAM_CBOR_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

enum airy_cbor_kind {
    CBOR_KIND_UNSIGNED,
    CBOR_KIND_NEGATIVE, /* -1 - value */
    CBOR_KIND_BYTES,
    CBOR_KIND_TEXT, /* valid UTF-8 */
    CBOR_KIND_ARRAY,
    CBOR_KIND_MAP,
    CBOR_KIND_TAG,
    CBOR_KIND_FLOAT,
    CBOR_KIND_BOOL,
    CBOR_KIND_NULL, /* undefined, too */
    CBOR_KIND_BREAK
};

struct airy_cbor_item {
    enum airy_cbor_kind kind;
    bool indefinite;      /* array or map: up to a break */
    uint64_t value;       /* number, count of elements or pairs, tag, bool */
    double number;        /* of a float */
    const uint8_t *bytes; /* of a string */
    size_t size;
};

struct airy_cbor {
    const uint8_t *bytes;
    size_t size, at;
};

/* Elements of an array or pairs of a map that are still to come. */
struct airy_cbor_left {
    bool indefinite;
    uint64_t count;
};

/* A name for messages: "an array". */
const char *airy_cbor_kind_name(enum airy_cbor_kind kind);
/*
 * The next item; a break only where `in_indefinite`. what: of which the message is, as in "image_id".
 * Errors: AIRY_ERR_FORMAT, AIRY_ERR_UNSUPPORTED (strings of indefinite length).
 */
airy_status airy_cbor_next(struct airy_cbor_item *item, struct airy_cbor *cbor, const char *what);
/* The next item, which must be of this kind. */
airy_status airy_cbor_take(struct airy_cbor_item *item, struct airy_cbor *cbor,
                           enum airy_cbor_kind kind, const char *what);
/* Before each element of what `item` begins, when left was made of it: *more or the end. */
struct airy_cbor_left airy_cbor_begin(const struct airy_cbor_item *item);
airy_status airy_cbor_more(bool *more, struct airy_cbor_left *left, struct airy_cbor *cbor);
/* Pass over one item and all that it holds. */
airy_status airy_cbor_skip(struct airy_cbor *cbor, const char *what);
/* A finite number, of whatever kind. */
airy_status airy_cbor_number(double *number, struct airy_cbor *cbor, const char *what);
/* A whole number of at most `limit`. */
airy_status airy_cbor_whole(uint64_t *value, struct airy_cbor *cbor, const char *what,
                            uint64_t limit);

#endif
