#include "stream/cbor_read.h"

#include <cbor.h>
#include <math.h>

#include "base/error.h"
#include "base/word.h"

enum { DEPTH_MAX = 16 }; /* of items in items; a detector's messages have 6 */

const char *airy_cbor_kind_name(enum airy_cbor_kind kind)
{
    static const char *const names[] = {
        "a whole number", "a negative number", "a byte string", "a text", "an array", "a map",
        "a tag",          "a number",          "true or false", "null",   "a break"};
    return names[kind];
}

/* libcbor calls one of these an item. */
static void whole(void *context, enum airy_cbor_kind kind, uint64_t value)
{
    *(struct airy_cbor_item *)context = (struct airy_cbor_item){.kind = kind, .value = value};
}

#define WHOLE(name, type, kind)                                                                    \
    static void name(void *context, type value)                                                    \
    {                                                                                              \
        whole(context, kind, value);                                                               \
    }
WHOLE(on_uint8, uint8_t, CBOR_KIND_UNSIGNED)
WHOLE(on_uint16, uint16_t, CBOR_KIND_UNSIGNED)
WHOLE(on_uint32, uint32_t, CBOR_KIND_UNSIGNED)
WHOLE(on_uint64, uint64_t, CBOR_KIND_UNSIGNED)
WHOLE(on_negint8, uint8_t, CBOR_KIND_NEGATIVE)
WHOLE(on_negint16, uint16_t, CBOR_KIND_NEGATIVE)
WHOLE(on_negint32, uint32_t, CBOR_KIND_NEGATIVE)
WHOLE(on_negint64, uint64_t, CBOR_KIND_NEGATIVE)
WHOLE(on_tag, uint64_t, CBOR_KIND_TAG)
WHOLE(on_array, size_t, CBOR_KIND_ARRAY)
WHOLE(on_map, size_t, CBOR_KIND_MAP)
WHOLE(on_bool, bool, CBOR_KIND_BOOL)

static void on_double(void *context, double number)
{
    *(struct airy_cbor_item *)context =
        (struct airy_cbor_item){.kind = CBOR_KIND_FLOAT, .number = number};
}

static void on_float(void *context, float number)
{
    on_double(context, number);
}

static void string(void *context, enum airy_cbor_kind kind, cbor_data bytes, size_t size)
{
    *(struct airy_cbor_item *)context =
        (struct airy_cbor_item){.kind = kind, .bytes = bytes, .size = size};
}

static void on_bytes(void *context, cbor_data bytes, size_t size)
{
    string(context, CBOR_KIND_BYTES, bytes, size);
}

static void on_text(void *context, cbor_data bytes, size_t size)
{
    string(context, CBOR_KIND_TEXT, bytes, size);
}

static void indefinite(void *context, enum airy_cbor_kind kind)
{
    *(struct airy_cbor_item *)context = (struct airy_cbor_item){.kind = kind, .indefinite = true};
}

#define INDEFINITE(name, kind)                                                                     \
    static void name(void *context)                                                                \
    {                                                                                              \
        indefinite(context, kind);                                                                 \
    }
INDEFINITE(on_bytes_begin, CBOR_KIND_BYTES)
INDEFINITE(on_text_begin, CBOR_KIND_TEXT)
INDEFINITE(on_array_begin, CBOR_KIND_ARRAY)
INDEFINITE(on_map_begin, CBOR_KIND_MAP)

static void on_null(void *context)
{
    whole(context, CBOR_KIND_NULL, 0);
}

static void on_break(void *context)
{
    whole(context, CBOR_KIND_BREAK, 0);
}

static const struct cbor_callbacks callbacks = {.uint8 = on_uint8,
                                                .uint16 = on_uint16,
                                                .uint32 = on_uint32,
                                                .uint64 = on_uint64,
                                                .negint64 = on_negint64,
                                                .negint32 = on_negint32,
                                                .negint16 = on_negint16,
                                                .negint8 = on_negint8,
                                                .byte_string_start = on_bytes_begin,
                                                .byte_string = on_bytes,
                                                .string = on_text,
                                                .string_start = on_text_begin,
                                                .indef_array_start = on_array_begin,
                                                .array_start = on_array,
                                                .indef_map_start = on_map_begin,
                                                .map_start = on_map,
                                                .tag = on_tag,
                                                .float2 = on_float,
                                                .float4 = on_float,
                                                .float8 = on_double,
                                                .undefined = on_null,
                                                .null = on_null,
                                                .boolean = on_bool,
                                                .indef_break = on_break};

static airy_status next(struct airy_cbor_item *item, struct airy_cbor *cbor, const char *what)
{
    const size_t left = cbor->size - cbor->at;
    const struct cbor_decoder_result result =
        cbor_stream_decode(cbor->bytes + cbor->at, left, &callbacks, item);
    AIRY_FAIL_IF(result.status == CBOR_DECODER_NEDATA || left == 0, AIRY_ERR_FORMAT,
                 "%s: the message of %zu bytes is cut, its item at byte %zu is longer", what,
                 cbor->size, cbor->at);
    AIRY_FAIL_IF(result.status != CBOR_DECODER_FINISHED || result.read == 0 || result.read > left,
                 AIRY_ERR_FORMAT, "%s: byte %zu of the message, 0x%02x, begins no CBOR item", what,
                 cbor->at, cbor->bytes[cbor->at]);
    cbor->at += result.read;
    const bool text = item->kind == CBOR_KIND_TEXT;
    AIRY_FAIL_IF((text || item->kind == CBOR_KIND_BYTES) && item->indefinite, AIRY_ERR_UNSUPPORTED,
                 "%s: %s of indefinite length, expected one in one piece", what,
                 airy_cbor_kind_name(item->kind));
    AIRY_FAIL_IF(text && !airy_is_utf8(item->bytes, item->size), AIRY_ERR_FORMAT,
                 "%s: a text of %zu bytes is not UTF-8", what, item->size);
    return AIRY_OK;
}

airy_status airy_cbor_next(struct airy_cbor_item *item, struct airy_cbor *cbor, const char *what)
{
    AIRY_TRY(next(item, cbor, what));
    AIRY_FAIL_IF(item->kind == CBOR_KIND_BREAK, AIRY_ERR_FORMAT,
                 "%s: a break at byte %zu, where nothing is to end", what, cbor->at - 1);
    return AIRY_OK;
}

airy_status airy_cbor_take(struct airy_cbor_item *item, struct airy_cbor *cbor,
                           enum airy_cbor_kind kind, const char *what)
{
    AIRY_TRY(airy_cbor_next(item, cbor, what));
    AIRY_FAIL_IF(item->kind != kind, AIRY_ERR_FORMAT, "%s is %s, expected %s", what,
                 airy_cbor_kind_name(item->kind), airy_cbor_kind_name(kind));
    return AIRY_OK;
}

struct airy_cbor_left airy_cbor_begin(const struct airy_cbor_item *item)
{
    return (struct airy_cbor_left){item->indefinite, item->value};
}

airy_status airy_cbor_more(bool *more, struct airy_cbor_left *left, struct airy_cbor *cbor)
{
    *more = left->indefinite || left->count > 0;
    if (!left->indefinite) {
        left->count -= left->count > 0;
        return AIRY_OK;
    }
    AIRY_FAIL_IF(cbor->at == cbor->size, AIRY_ERR_FORMAT,
                 "the message of %zu bytes is cut: a break is missing", cbor->size);
    if (cbor->bytes[cbor->at] == 0xff) { /* RFC 8949, 3.2.1 */
        cbor->at++;
        *more = false;
    }
    return AIRY_OK;
}

static airy_status skip(struct airy_cbor *cbor, const char *what, int depth)
{
    struct airy_cbor_item item;
    AIRY_FAIL_IF(depth > DEPTH_MAX, AIRY_ERR_FORMAT, "%s: items in items %d deep, expected <= %d",
                 what, depth, DEPTH_MAX);
    AIRY_TRY(airy_cbor_next(&item, cbor, what));
    if (item.kind == CBOR_KIND_TAG)
        return skip(cbor, what, depth + 1);
    if (item.kind != CBOR_KIND_ARRAY && item.kind != CBOR_KIND_MAP)
        return AIRY_OK;
    struct airy_cbor_left left = airy_cbor_begin(&item);
    for (;;) {
        bool more;
        AIRY_TRY(airy_cbor_more(&more, &left, cbor));
        if (!more)
            return AIRY_OK;
        AIRY_TRY(skip(cbor, what, depth + 1));
        if (item.kind == CBOR_KIND_MAP)
            AIRY_TRY(skip(cbor, what, depth + 1));
    }
}

airy_status airy_cbor_skip(struct airy_cbor *cbor, const char *what)
{
    return skip(cbor, what, 1);
}

airy_status airy_cbor_number(double *number, struct airy_cbor *cbor, const char *what)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_next(&item, cbor, what));
    const bool negative = item.kind == CBOR_KIND_NEGATIVE;
    AIRY_FAIL_IF(item.kind != CBOR_KIND_FLOAT && item.kind != CBOR_KIND_UNSIGNED && !negative,
                 AIRY_ERR_FORMAT, "%s is %s, expected a number", what,
                 airy_cbor_kind_name(item.kind));
    const double value = item.kind == CBOR_KIND_FLOAT ? item.number
                         : negative                   ? -1 - (double)item.value
                                                      : (double)item.value;
    AIRY_FAIL_IF(!isfinite(value), AIRY_ERR_FORMAT, "%s = %g, expected a finite number", what,
                 value);
    *number = value;
    return AIRY_OK;
}

airy_status airy_cbor_whole(uint64_t *value, struct airy_cbor *cbor, const char *what,
                            uint64_t limit)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_UNSIGNED, what));
    AIRY_FAIL_IF(item.value > limit, AIRY_ERR_FORMAT, "%s = %llu, expected <= %llu", what,
                 (unsigned long long)item.value, (unsigned long long)limit);
    *value = item.value;
    return AIRY_OK;
}
