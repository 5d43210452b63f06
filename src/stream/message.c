/* Messages of Stream V2: from bytes to plain data that points into them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "airy/stream.h"
#include "base/error.h"
#include "base/geometry_fields.h"
#include "base/size.h"
#include "codec/framing.h"
#include "stream/cbor_read.h"

enum {
    TAG_ARRAY = 40,         /* RFC 8746: [[height, width], data], rows one after another */
    TAG_COMPRESSED = 56500, /* DECTRIS: [algorithm, element's bytes, byte string] */
    TAG_SELF_CBOR = 55799,  /* RFC 8949: what follows is CBOR */
    PIXELS_MAX = 1 << 20,   /* along an axis */
    IMAGES_MAX = 1 << 28,   /* of a series */
    WHAT = 2 * AIRY_STREAM_NAME_BYTES
};

/* RFC 8746, 2.1: tags of typed arrays. */
static const struct {
    uint16_t tag;
    airy_dtype dtype;
    bool big_endian;
} typed[] = {
    {64, AIRY_DTYPE_U8, false},  {65, AIRY_DTYPE_U16, true},  {66, AIRY_DTYPE_U32, true},
    {67, AIRY_DTYPE_U64, true},  {68, AIRY_DTYPE_U8, false},  {69, AIRY_DTYPE_U16, false},
    {70, AIRY_DTYPE_U32, false}, {71, AIRY_DTYPE_U64, false}, {72, AIRY_DTYPE_I8, false},
    {73, AIRY_DTYPE_I16, true},  {74, AIRY_DTYPE_I32, true},  {75, AIRY_DTYPE_I64, true},
    {77, AIRY_DTYPE_I16, false}, {78, AIRY_DTYPE_I32, false}, {79, AIRY_DTYPE_I64, false},
    {81, AIRY_DTYPE_F32, true},  {82, AIRY_DTYPE_F64, true},  {85, AIRY_DTYPE_F32, false},
    {86, AIRY_DTYPE_F64, false},
};

static airy_status set_typed(airy_stream_pixels *pixels, uint64_t tag, const char *what)
{
    for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
        if (typed[i].tag == tag) {
            pixels->dtype = typed[i].dtype;
            pixels->big_endian = typed[i].big_endian;
            return AIRY_OK;
        }
    AIRY_FAIL_IF(tag >= 64 && tag <= 87, AIRY_ERR_UNSUPPORTED,
                 "%s: typed array of tag %d, expected integers or floats of 32 or 64 bits", what,
                 (int)tag);
    AIRY_FAIL_IF(true, AIRY_ERR_FORMAT, "%s: tag %llu, expected that of a typed array, 64 to 86",
                 what, (unsigned long long)tag);
}

/* An array or map of a number of elements that is known, or of indefinite length with as many. */
static airy_status want_more(struct airy_cbor_left *left, struct airy_cbor *cbor, bool wanted,
                             size_t count, const char *what)
{
    bool more;
    AIRY_TRY(airy_cbor_more(&more, left, cbor));
    AIRY_FAIL_IF(more != wanted, AIRY_ERR_FORMAT, "%s: an array of %s than %zu elements", what,
                 more ? "more" : "fewer", count);
    return AIRY_OK;
}

static airy_status read_text(char *text, size_t size, struct airy_cbor *cbor, const char *what)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_TEXT, what));
    AIRY_FAIL_IF(item.size >= size, AIRY_ERR_FORMAT, "%s: a text of %zu bytes, expected < %zu",
                 what, item.size, size);
    AIRY_FAIL_IF(memchr(item.bytes, 0, item.size), AIRY_ERR_FORMAT,
                 "%s: a text with a zero byte in it", what);
    memcpy(text, item.bytes, item.size);
    text[item.size] = 0;
    return AIRY_OK;
}

static airy_status read_shape(airy_stream_pixels *pixels, struct airy_cbor *cbor, const char *what)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, what));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    uint64_t shape[2];
    for (size_t i = 0; i < 2; i++) {
        AIRY_TRY(want_more(&left, cbor, true, 2, what));
        AIRY_TRY(airy_cbor_whole(&shape[i], cbor, what, PIXELS_MAX));
        AIRY_FAIL_IF(shape[i] == 0, AIRY_ERR_FORMAT, "%s: an array without elements", what);
    }
    AIRY_TRY(want_more(&left, cbor, false, 2, what));
    pixels->height = shape[0];
    pixels->width = shape[1];
    return AIRY_OK;
}

static airy_status read_compressed(airy_stream_pixels *pixels, struct airy_cbor *cbor,
                                   const char *what)
{
    struct airy_cbor_item item;
    char name[16];
    uint64_t elem_size;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, what));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    AIRY_TRY(want_more(&left, cbor, true, 3, what));
    AIRY_TRY(read_text(name, sizeof(name), cbor, what));
    const bool bslz4 = strcmp(name, "bslz4") == 0;
    AIRY_FAIL_IF(!bslz4 && strcmp(name, "lz4") != 0, AIRY_ERR_UNSUPPORTED,
                 "%s: compression '%s', expected bslz4 or lz4", what, name);
    AIRY_TRY(want_more(&left, cbor, true, 3, what));
    AIRY_TRY(airy_cbor_whole(&elem_size, cbor, what, UINT32_MAX));
    const size_t own = airy_dtype_size(pixels->dtype);
    AIRY_FAIL_IF(bslz4 && elem_size != own, AIRY_ERR_FORMAT,
                 "%s: bslz4 of elements of %llu bytes, but pixels are %s", what,
                 (unsigned long long)elem_size, airy_dtype_name(pixels->dtype));
    AIRY_TRY(want_more(&left, cbor, true, 3, what));
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_BYTES, what));
    AIRY_TRY(want_more(&left, cbor, false, 3, what));
    pixels->codec = (airy_codec_params){.codec = bslz4 ? AIRY_CODEC_BSLZ4 : AIRY_CODEC_LZ4,
                                        .elem_size = (uint32_t)own};
    pixels->bytes = item.bytes;
    pixels->size = item.size;
    return AIRY_OK;
}

/* What the bytes are to be, against what they are. */
static airy_status check_size(const airy_stream_pixels *pixels, const char *what)
{
    const size_t decoded = pixels->height * pixels->width * airy_dtype_size(pixels->dtype);
    uint64_t said = pixels->size;
    const bool encoded = pixels->codec.codec != AIRY_CODEC_NONE;
    if (encoded) {
        AIRY_FAIL_IF(pixels->size < AIRY_CHUNK_HEADER_BYTES, AIRY_ERR_SHAPE,
                     "%s: %zu compressed bytes, expected >= %d", what, pixels->size,
                     AIRY_CHUNK_HEADER_BYTES);
        said = (uint64_t)airy_load_be32(pixels->bytes) << 32 |
               airy_load_be32((const uint8_t *)pixels->bytes + 4);
    }
    AIRY_FAIL_IF(said != decoded, AIRY_ERR_SHAPE,
                 "%s: %llu bytes%s, expected %zu of %zu x %zu %s pixels", what,
                 (unsigned long long)said, encoded ? " when decoded" : "", decoded, pixels->height,
                 pixels->width, airy_dtype_name(pixels->dtype));
    AIRY_FAIL_IF(encoded && pixels->big_endian, AIRY_ERR_UNSUPPORTED,
                 "%s: compressed pixels are big-endian", what);
    return AIRY_OK;
}

/* Tag 40 of [[height, width], typed array]. */
static airy_status read_pixels(airy_stream_pixels *pixels, struct airy_cbor *cbor, const char *what)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_TAG, what));
    AIRY_FAIL_IF(item.value != TAG_ARRAY, AIRY_ERR_FORMAT, "%s: tag %llu, expected %d (an array)",
                 what, (unsigned long long)item.value, TAG_ARRAY);
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, what));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    AIRY_TRY(want_more(&left, cbor, true, 2, what));
    AIRY_TRY(read_shape(pixels, cbor, what));
    AIRY_TRY(want_more(&left, cbor, true, 2, what));
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_TAG, what));
    AIRY_TRY(set_typed(pixels, item.value, what));
    AIRY_TRY(airy_cbor_next(&item, cbor, what));
    if (item.kind == CBOR_KIND_TAG) {
        AIRY_FAIL_IF(item.value != TAG_COMPRESSED, AIRY_ERR_FORMAT,
                     "%s: tag %llu, expected %d (compressed bytes)", what,
                     (unsigned long long)item.value, TAG_COMPRESSED);
        AIRY_TRY(read_compressed(pixels, cbor, what));
    } else {
        AIRY_FAIL_IF(item.kind != CBOR_KIND_BYTES, AIRY_ERR_FORMAT,
                     "%s: pixels are %s, expected a byte string", what,
                     airy_cbor_kind_name(item.kind));
        pixels->bytes = item.bytes;
        pixels->size = item.size;
    }
    AIRY_TRY(want_more(&left, cbor, false, 2, what));
    return check_size(pixels, what);
}

/* A map from a channel's name to its pixels. */
static airy_status read_channels(airy_stream_pixels *channels, size_t *count,
                                 struct airy_cbor *cbor, const char *key)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_MAP, key));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    size_t n = 0;
    for (bool more;; n++) {
        AIRY_TRY(airy_cbor_more(&more, &left, cbor));
        if (!more)
            break;
        AIRY_FAIL_IF(n == AIRY_STREAM_CHANNELS_MAX, AIRY_ERR_FORMAT, "%s: more than %d channels",
                     key, AIRY_STREAM_CHANNELS_MAX);
        airy_stream_pixels *pixels = &channels[n];
        char what[WHAT];
        *pixels = (airy_stream_pixels){.bytes = NULL};
        AIRY_TRY(read_text(pixels->channel, sizeof(pixels->channel), cbor, key));
        for (size_t i = 0; i < n; i++)
            AIRY_FAIL_IF(strcmp(channels[i].channel, pixels->channel) == 0, AIRY_ERR_FORMAT,
                         "%s: channel '%s' twice", key, pixels->channel);
        snprintf(what, sizeof(what), "%s of '%s'", key, pixels->channel);
        AIRY_TRY(read_pixels(pixels, cbor, what));
    }
    *count = n;
    return AIRY_OK;
}

/* [numerator, denominator] */
static airy_status read_ratio(double *ratio, struct airy_cbor *cbor, const char *key)
{
    struct airy_cbor_item item;
    double parts[2];
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, key));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    for (size_t i = 0; i < 2; i++) {
        AIRY_TRY(want_more(&left, cbor, true, 2, key));
        AIRY_TRY(airy_cbor_number(&parts[i], cbor, key));
    }
    AIRY_TRY(want_more(&left, cbor, false, 2, key));
    AIRY_FAIL_IF(parts[1] == 0, AIRY_ERR_FORMAT, "%s: a ratio over 0", key);
    *ratio = parts[0] / parts[1];
    return AIRY_OK;
}

/* Readers of keys, each of what follows its key. */
typedef airy_status (*read_fn)(airy_stream_message *message, struct airy_cbor *cbor,
                               const char *key);

static airy_status read_series(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    AIRY_TRY(airy_cbor_whole(&m->series_id, cbor, key, UINT64_MAX));
    m->has_series = true;
    return AIRY_OK;
}

static airy_status read_unique(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    return read_text(m->unique_id, sizeof(m->unique_id), cbor, key);
}

static airy_status read_image_id(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    AIRY_TRY(airy_cbor_whole(&m->image.id, cbor, key, UINT64_MAX));
    m->image.has_id = true;
    return AIRY_OK;
}

static airy_status read_data(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    return read_channels(m->image.pixels, &m->image.channels, cbor, key);
}

static airy_status read_time(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    return read_ratio(key[0] == 'r'   ? &m->image.real_time
                      : key[2] == 'a' ? &m->image.start_time
                                      : &m->image.stop_time,
                      cbor, key);
}

static airy_status read_masks(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    return read_channels(m->start.mask, &m->start.masks, cbor, key);
}

static airy_status read_images(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    return airy_cbor_whole(&m->start.number_of_images, cbor, key, IMAGES_MAX);
}

static airy_status read_size(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    uint64_t size;
    AIRY_TRY(airy_cbor_whole(&size, cbor, key, PIXELS_MAX));
    AIRY_FAIL_IF(size == 0, AIRY_ERR_FORMAT, "%s = 0, expected >= 1", key);
    *(strcmp(key, "image_size_x") == 0 ? &m->start.width : &m->start.height) = size;
    return AIRY_OK;
}

static airy_status read_dtype(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    char name[16];
    AIRY_TRY(read_text(name, sizeof(name), cbor, key));
    m->start.has_dtype = airy_dtype_parse(&m->start.dtype, name) == AIRY_OK;
    AIRY_FAIL_IF(!m->start.has_dtype, AIRY_ERR_UNSUPPORTED,
                 "%s: '%s' is no type of pixels that is known", key, name);
    return AIRY_OK;
}

static airy_status read_description(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_TEXT, key));
    snprintf(m->start.detector, sizeof(m->start.detector), "%.*s",
             (int)airy_min_size(item.size, sizeof(m->start.detector) - 1),
             (const char *)item.bytes);
    return AIRY_OK;
}

static airy_status read_channel_names(airy_stream_message *m, struct airy_cbor *cbor,
                                      const char *key)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, key));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    size_t n = 0;
    for (bool more;; n++) {
        AIRY_TRY(airy_cbor_more(&more, &left, cbor));
        if (!more)
            break;
        AIRY_FAIL_IF(n == AIRY_STREAM_CHANNELS_MAX, AIRY_ERR_FORMAT, "%s: more than %d channels",
                     key, AIRY_STREAM_CHANNELS_MAX);
        AIRY_TRY(read_text(m->start.channel[n], AIRY_STREAM_NAME_BYTES, cbor, key));
    }
    m->start.channels = n;
    return AIRY_OK;
}

static airy_status read_translation(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_ARRAY, key));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    for (size_t i = 0; i < 3; i++) {
        AIRY_TRY(want_more(&left, cbor, true, 3, key));
        AIRY_TRY(airy_cbor_number(&m->start.translation[i], cbor, key));
    }
    AIRY_TRY(want_more(&left, cbor, false, 3, key));
    m->start.has_translation = true;
    return AIRY_OK;
}

static airy_status read_number(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    airy_stream_start_message *s = &m->start;
    double value;
    AIRY_TRY(airy_cbor_number(&value, cbor, key));
    if (strcmp(key, "beam_center_x") == 0)
        s->beam_center_x = value;
    else if (strcmp(key, "beam_center_y") == 0)
        s->beam_center_y = value;
    else if (strcmp(key, "pixel_size_x") == 0)
        s->pixel_size_x = value;
    else if (strcmp(key, "pixel_size_y") == 0)
        s->pixel_size_y = value;
    else if (strcmp(key, "frame_time") == 0)
        s->frame_time = value;
    else if (strcmp(key, "incident_wavelength") == 0)
        s->wavelength = value > 0 ? value * 1e-10 : s->wavelength;
    else if (strcmp(key, "incident_energy") == 0) {
        s->energy = value > 0 ? value : 0;
        s->wavelength = value > 0 && !(s->wavelength > 0) ? AIRY_HC_EV_M / value : s->wavelength;
    } else {
        s->saturation = value;
        s->has_saturation = true;
    }
    return AIRY_OK;
}

/* The geometry as this program writes it: lengths in m, angles in rad. */
static airy_status read_poni(airy_stream_message *m, struct airy_cbor *cbor, const char *key)
{
    airy_geometry *g = &m->start.poni;
    unsigned seen = 0;
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_MAP, key));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    for (bool more;;) {
        char name[32];
        size_t k = 0;
        uint64_t orientation;
        AIRY_TRY(airy_cbor_more(&more, &left, cbor));
        if (!more)
            break;
        AIRY_TRY(read_text(name, sizeof(name), cbor, key));
        while (k < AIRY_GEOMETRY_FIELDS && strcmp(name, airy_geometry_fields[k].name) != 0)
            k++;
        if (k < AIRY_GEOMETRY_FIELDS) {
            double value;
            AIRY_TRY(airy_cbor_number(&value, cbor, key));
            airy_geometry_set(g, &airy_geometry_fields[k], value);
            seen |= 1u << k;
        } else if (strcmp(name, "detector") == 0) {
            AIRY_TRY(read_text(g->detector.name, sizeof(g->detector.name), cbor, key));
        } else if (strcmp(name, "orientation") == 0) {
            AIRY_TRY(airy_cbor_whole(&orientation, cbor, key, 4));
            g->detector.orientation = (int)orientation;
        } else {
            AIRY_TRY(airy_cbor_skip(cbor, key));
        }
    }
    m->start.has_poni = seen == (1u << AIRY_GEOMETRY_FIELDS) - 1 && airy_geometry_is_there(g);
    AIRY_FAIL_IF(!m->start.has_poni, AIRY_ERR_FORMAT,
                 "%s: expected pixel1, pixel2, dist (each > 0), poni1, poni2, rot1, rot2, rot3 and "
                 "wavelength",
                 key);
    return AIRY_OK;
}

enum { OF_START = 1, OF_IMAGE = 2, OF_END = 4, OF_ALL = 7 };

static const struct field {
    const char *key;
    unsigned of, required; /* types of messages */
    read_fn read;
} fields[] = {
    {"series_id", OF_ALL, OF_ALL, read_series},
    {"series_unique_id", OF_ALL, 0, read_unique},
    {"image_id", OF_IMAGE, OF_IMAGE, read_image_id},
    {"data", OF_IMAGE, OF_IMAGE, read_data},
    {"real_time", OF_IMAGE, 0, read_time},
    {"start_time", OF_IMAGE, 0, read_time},
    {"stop_time", OF_IMAGE, 0, read_time},
    {"image_size_x", OF_START, OF_START, read_size},
    {"image_size_y", OF_START, OF_START, read_size},
    {"number_of_images", OF_START, 0, read_images},
    {"image_dtype", OF_START, 0, read_dtype},
    {"channels", OF_START, 0, read_channel_names},
    {"pixel_mask", OF_START, 0, read_masks},
    {"detector_description", OF_START, 0, read_description},
    {"detector_translation", OF_START, 0, read_translation},
    {"beam_center_x", OF_START, 0, read_number},
    {"beam_center_y", OF_START, 0, read_number},
    {"pixel_size_x", OF_START, 0, read_number},
    {"pixel_size_y", OF_START, 0, read_number},
    {"frame_time", OF_START, 0, read_number},
    {"incident_wavelength", OF_START, 0, read_number},
    {"incident_energy", OF_START, 0, read_number},
    {"saturation_value", OF_START, 0, read_number},
    {"poni", OF_START, 0, read_poni},
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]), KEY_MAX = 64 };

static airy_status read_type(airy_stream_message *m, struct airy_cbor *cbor)
{
    static const char *const names[] = {"start", "image", "end"};
    char type[16];
    AIRY_TRY(read_text(type, sizeof(type), cbor, "type"));
    for (size_t i = 0; i < 3; i++)
        if (strcmp(type, names[i]) == 0) {
            m->type = (airy_stream_type)i;
            m->has_type = true;
        }
    AIRY_FAIL_IF(!m->has_type, AIRY_ERR_FORMAT,
                 "a message of type '%s', expected start, image or end", type);
    return AIRY_OK;
}

/* One key and its value. */
static airy_status read_field(airy_stream_message *m, struct airy_cbor *cbor, uint32_t *seen)
{
    struct airy_cbor_item item;
    char key[KEY_MAX];
    AIRY_TRY(airy_cbor_take(&item, cbor, CBOR_KIND_TEXT, "a key of the message"));
    snprintf(key, sizeof(key), "%.*s", (int)airy_min_size(item.size, KEY_MAX - 1),
             (const char *)item.bytes);
    AIRY_FAIL_IF(!m->has_type && strcmp(key, "type") != 0, AIRY_ERR_FORMAT,
                 "the message's first key is '%s', expected 'type'", key);
    if (!m->has_type)
        return read_type(m, cbor);
    AIRY_FAIL_IF(strcmp(key, "type") == 0, AIRY_ERR_FORMAT, "the message has 'type' twice");
    for (size_t i = 0; i < FIELDS; i++)
        if (item.size < KEY_MAX && strcmp(key, fields[i].key) == 0 &&
            (fields[i].of & 1u << m->type)) {
            AIRY_FAIL_IF(*seen & 1u << i, AIRY_ERR_FORMAT, "the message has '%s' twice", key);
            *seen |= 1u << i;
            return fields[i].read(m, cbor, fields[i].key);
        }
    return airy_cbor_skip(cbor, key);
}

static airy_status parse(airy_stream_message *m, struct airy_cbor *cbor, uint32_t *seen)
{
    struct airy_cbor_item item;
    AIRY_TRY(airy_cbor_next(&item, cbor, "the message"));
    if (item.kind == CBOR_KIND_TAG && item.value == TAG_SELF_CBOR)
        AIRY_TRY(airy_cbor_next(&item, cbor, "the message"));
    AIRY_FAIL_IF(item.kind != CBOR_KIND_MAP, AIRY_ERR_FORMAT, "the message is %s, expected a map",
                 airy_cbor_kind_name(item.kind));
    struct airy_cbor_left left = airy_cbor_begin(&item);
    for (bool more;;) {
        AIRY_TRY(airy_cbor_more(&more, &left, cbor));
        if (!more)
            break;
        AIRY_TRY(read_field(m, cbor, seen));
    }
    AIRY_FAIL_IF(!m->has_type, AIRY_ERR_FORMAT, "the message is an empty map");
    for (size_t i = 0; i < FIELDS; i++)
        AIRY_FAIL_IF((fields[i].required & 1u << m->type) && !(*seen & 1u << i), AIRY_ERR_FORMAT,
                     "the message lacks '%s'", fields[i].key);
    AIRY_FAIL_IF(cbor->at != cbor->size, AIRY_ERR_FORMAT, "%zu bytes behind the message's end",
                 cbor->size - cbor->at);
    return AIRY_OK;
}

/*
 * Detectors speak Stream V1 unless they are told otherwise: JSON whose key "htype" names the part,
 * "dheader-1.0", "dimage-1.0". No map of CBOR begins with '{'.
 */
static airy_status refuse_v1(const char *bytes, size_t size)
{
    static const char key[] = "\"htype\"";
    const size_t head = airy_min_size(size, 256), length = sizeof(key) - 1;
    if (size == 0 || bytes[0] != '{')
        return AIRY_OK;
    for (size_t i = 1; i + length <= head; i++)
        AIRY_FAIL_IF(memcmp(bytes + i, key, length) == 0, AIRY_ERR_UNSUPPORTED,
                     "it is JSON of Stream V1 ('htype'), the detector's default; set the "
                     "detector's stream format to 'cbor' (Stream V2)");
    return AIRY_OK;
}

airy_status airy_stream_parse(airy_stream_message *message, const void *bytes, size_t size)
{
    AIRY_FAIL_IF(!message || (!bytes && size), AIRY_ERR_PARAM,
                 "airy_stream_parse: an argument is NULL");
    struct airy_cbor cbor = {.bytes = bytes, .size = size};
    uint32_t seen = 0;
    memset(message, 0, sizeof(*message));
    message->image.real_time = message->image.start_time = message->image.stop_time = NAN;
    message->start.beam_center_x = message->start.beam_center_y = NAN;
    AIRY_FAIL_IF(size == 0, AIRY_ERR_FORMAT, "the message is empty");
    AIRY_TRY(refuse_v1(bytes, size));
    AIRY_TRY(parse(message, &cbor, &seen));
    airy_stream_start_message *start = &message->start;
    start->has_beam_center = isfinite(start->beam_center_x) && isfinite(start->beam_center_y);
    start->has_pixel_size = start->pixel_size_x > 0 && start->pixel_size_y > 0;
    return AIRY_OK;
}
