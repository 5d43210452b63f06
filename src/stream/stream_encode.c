#include "stream/stream_encode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/geometry_fields.h"
#include "base/size.h"

/* CBOR tags: RFC 8949 3.4.1 and 3.4.6, RFC 8746 3.1.1, and DECTRIS's registered one. */
enum { TAG_DATE = 0, TAG_ARRAY = 40, TAG_U32 = 70, TAG_COMPRESSED = 56500, TAG_CBOR = 55799 };
enum { START_MAX = 8192, END_MAX = 512, DATE_MAX = 40 };

/* Typed arrays, little-endian where they have an order: RFC 8746, table 1. */
static const uint8_t array_tags[AIRY_DTYPE_COUNT] = {
    [AIRY_DTYPE_U8] = 64,  [AIRY_DTYPE_U16] = 69, [AIRY_DTYPE_U32] = TAG_U32, [AIRY_DTYPE_U64] = 71,
    [AIRY_DTYPE_I8] = 72,  [AIRY_DTYPE_I16] = 77, [AIRY_DTYPE_I32] = 78,      [AIRY_DTYPE_I64] = 79,
    [AIRY_DTYPE_F32] = 85, [AIRY_DTYPE_F64] = 86};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "typed arrays are written with the tags of little-endian machines"
#endif

static void put_date(struct airy_stream_bytes *b, const char *key, const char *date)
{
    airy_cbor_put_text(b, key);
    AIRY_CBOR_PUT(b, tag, TAG_DATE);
    airy_cbor_put_text(b, date);
}

static void put_time(struct airy_stream_bytes *b, const char *key, uint64_t ns)
{
    airy_cbor_put_text(b, key);
    AIRY_CBOR_PUT(b, array_start, 2);
    AIRY_CBOR_PUT(b, uint, ns);
    AIRY_CBOR_PUT(b, uint, AIRY_STREAM_TIME_BASE);
}

/* An array of two dimensions: [[height, width], typed array]; its bytes follow. */
static void put_shape(struct airy_stream_bytes *b, const airy_stream_series *s, unsigned tag)
{
    AIRY_CBOR_PUT(b, tag, TAG_ARRAY);
    AIRY_CBOR_PUT(b, array_start, 2);
    AIRY_CBOR_PUT(b, array_start, 2);
    AIRY_CBOR_PUT(b, uint, s->height);
    AIRY_CBOR_PUT(b, uint, s->width);
    AIRY_CBOR_PUT(b, tag, tag);
}

static size_t channel_count(const airy_stream_series *s)
{
    return s->channels ? s->channel_count : 1;
}

static const char *channel_name(const airy_stream_series *s, size_t channel)
{
    return s->channels ? s->channels[channel] : "threshold_1";
}

airy_status airy_stream_series_check(const airy_stream_series *s)
{
    AIRY_FAIL_ON_IF(!s, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = NULL", "series");
    AIRY_FAIL_IF(!s->unique_id || strlen(s->unique_id) > AIRY_STREAM_UNIQUE_MAX, AIRY_ERR_PARAM,
                 "unique id of the series: expected a text of at most %d bytes",
                 (int)AIRY_STREAM_UNIQUE_MAX);
    AIRY_FAIL_IF(s->date && strlen(s->date) > DATE_MAX, AIRY_ERR_PARAM,
                 "date of the series has %zu bytes, expected at most %d", strlen(s->date),
                 (int)DATE_MAX);
    AIRY_FAIL_IF(s->height == 0 || s->width == 0, AIRY_ERR_SHAPE,
                 "images of %zu x %zu pixels: expected at least 1 x 1", s->width, s->height);
    AIRY_FAIL_IF((unsigned)s->dtype >= AIRY_DTYPE_COUNT || !array_tags[s->dtype], AIRY_ERR_DTYPE,
                 "a stream has no images of dtype %s", airy_dtype_name(s->dtype));
    AIRY_FAIL_ON_IF(s->channels &&
                        (s->channel_count == 0 || s->channel_count > AIRY_STREAM_CHANNELS),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 1 to %d",
                    "channels", s->channel_count, (int)AIRY_STREAM_CHANNELS);
    for (size_t i = 0; i < channel_count(s); i++) {
        const size_t n = strlen(channel_name(s, i));
        AIRY_FAIL_IF(n == 0 || n > AIRY_STREAM_NAME_MAX, AIRY_ERR_PARAM,
                     "name of channel %zu has %zu bytes, expected 1 to %d", i, n,
                     (int)AIRY_STREAM_NAME_MAX);
    }
    AIRY_FAIL_ON_IF(
        !(s->frame_time >= 0 && isfinite(s->frame_time)), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s = %g s, expected a finite number that is not negative", "frame_time", s->frame_time);
    AIRY_FAIL_ON_IF(s->has_saturation && !isfinite(s->saturation), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected a finite number", "saturation",
                    s->saturation);
    AIRY_FAIL_ON_IF((unsigned)s->detail >= AIRY_STREAM_DETAIL_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "detail", (int)s->detail,
                    AIRY_STREAM_DETAIL_COUNT - 1);
    return AIRY_OK;
}

/* The keys of a start message that are optional; counted first, as a map begins with their number. */
struct keys {
    bool date, frame_time, pixel, facing, poni, wavelength, sensor, thickness, saturation, mask,
        name;
};

static struct keys find_keys(const airy_stream_series *s)
{
    const airy_geometry *g = s->geometry;
    const bool more = s->detail != AIRY_STREAM_DETAIL_NONE;
    const bool pixel = more && g && g->detector.pixel1 > 0 && g->detector.pixel2 > 0;
    return (struct keys){
        .date = s->date != NULL,
        .frame_time = more && s->frame_time > 0,
        .pixel = pixel,
        .facing = pixel && g->dist > 0 && g->rot1 == 0 && g->rot2 == 0 && g->rot3 == 0 &&
                  (g->detector.orientation == 0 || g->detector.orientation == 3),
        .poni = pixel && g->dist > 0,
        .wavelength = more && g && g->wavelength > 0,
        .sensor = more && g && g->detector.sensor.material[0],
        .thickness = more && g && g->detector.sensor.thickness > 0,
        .name = more && g && g->detector.name[0],
        /* The stream's is an integer. */
        .saturation = more && s->has_saturation && s->saturation >= 0 && s->saturation < 0x1p63,
        .mask = s->detail == AIRY_STREAM_DETAIL_ALL && s->mask,
    };
}

static size_t count_keys(const struct keys *k)
{
    return 9 + (size_t)k->date + 2 * (size_t)k->frame_time + 2 * (size_t)k->pixel +
           3 * (size_t)k->facing + (size_t)k->poni + 2 * (size_t)k->wavelength + (size_t)k->sensor +
           (size_t)k->thickness + (size_t)k->name + (size_t)k->saturation + (size_t)k->mask;
}

/* A message of so many keys; the tag in front says that it is CBOR. */
static void put_message(struct airy_stream_bytes *b, size_t keys, const char *type,
                        const airy_stream_series *s)
{
    AIRY_CBOR_PUT(b, tag, TAG_CBOR);
    AIRY_CBOR_PUT(b, map_start, keys);
    airy_cbor_put_text(b, "type");
    airy_cbor_put_text(b, type);
    airy_cbor_put_count(b, "series_id", s->id);
    airy_cbor_put_text(b, "series_unique_id");
    airy_cbor_put_text(b, s->unique_id);
}

/* Airy's own key: the whole pose, to the last bit, in m and rad. */
static void put_poni(struct airy_stream_bytes *b, const airy_geometry *g)
{
    airy_cbor_put_text(b, "poni");
    AIRY_CBOR_PUT(b, map_start, 2 + AIRY_GEOMETRY_FIELDS);
    airy_cbor_put_text(b, "detector");
    airy_cbor_put_text(b, g->detector.name);
    airy_cbor_put_count(b, "orientation", (uint64_t)g->detector.orientation);
    for (size_t i = 0; i < AIRY_GEOMETRY_FIELDS; i++)
        airy_cbor_put_number(b, airy_geometry_fields[i].name,
                             airy_geometry_get(g, &airy_geometry_fields[i]));
}

static void put_geometry(struct airy_stream_bytes *b, const struct keys *k, const airy_geometry *g)
{
    if (k->pixel) {
        airy_cbor_put_number(b, "pixel_size_x", g->detector.pixel2);
        airy_cbor_put_number(b, "pixel_size_y", g->detector.pixel1);
    }
    if (k->facing) {
        airy_cbor_put_number(b, "beam_center_x", g->poni2 / g->detector.pixel2);
        airy_cbor_put_number(b, "beam_center_y", g->poni1 / g->detector.pixel1);
        airy_cbor_put_text(b, "detector_translation");
        AIRY_CBOR_PUT(b, array_start, 3);
        AIRY_CBOR_PUT(b, double, 0.0);
        AIRY_CBOR_PUT(b, double, 0.0);
        AIRY_CBOR_PUT(b, double, g->dist);
    }
    if (k->poni)
        put_poni(b, g);
    if (k->wavelength) {
        airy_cbor_put_number(b, "incident_wavelength", g->wavelength * 1e10);
        airy_cbor_put_number(b, "incident_energy", AIRY_HC_EV_M * 1e10 / (g->wavelength * 1e10));
    }
    if (k->sensor) {
        airy_cbor_put_text(b, "sensor_material");
        airy_cbor_put_text(b, g->detector.sensor.material);
    }
    if (k->thickness)
        airy_cbor_put_number(b, "sensor_thickness", g->detector.sensor.thickness);
    if (k->name) {
        airy_cbor_put_text(b, "detector_description");
        airy_cbor_put_text(b, g->detector.name);
    }
}

/* The same for every channel. */
static void put_mask(struct airy_stream_bytes *b, const airy_stream_series *s)
{
    const size_t pixels = s->height * s->width;
    airy_cbor_put_text(b, "pixel_mask");
    AIRY_CBOR_PUT(b, map_start, channel_count(s));
    for (size_t i = 0; i < channel_count(s); i++) {
        airy_cbor_put_text(b, channel_name(s, i));
        put_shape(b, s, TAG_U32);
        AIRY_CBOR_PUT(b, bytestring_start, pixels * sizeof(uint32_t));
        for (size_t p = 0; p < pixels && !b->full; p++) {
            const uint32_t word = s->mask[p] != 0;
            airy_cbor_put_bytes(b, &word, sizeof(word));
        }
    }
}

static void put_start(struct airy_stream_bytes *b, const airy_stream_series *s)
{
    const struct keys k = find_keys(s);
    put_message(b, count_keys(&k), "start", s);
    if (k.date)
        put_date(b, "arm_date", s->date);
    airy_cbor_put_text(b, "channels");
    AIRY_CBOR_PUT(b, array_start, channel_count(s));
    for (size_t i = 0; i < channel_count(s); i++)
        airy_cbor_put_text(b, channel_name(s, i));
    airy_cbor_put_count(b, "number_of_images", s->images);
    airy_cbor_put_count(b, "image_size_x", s->width);
    airy_cbor_put_count(b, "image_size_y", s->height);
    airy_cbor_put_text(b, "image_dtype");
    airy_cbor_put_text(b, airy_dtype_name(s->dtype));
    airy_cbor_put_text(b, "flatfield_enabled");
    AIRY_CBOR_PUT(b, bool, false);
    if (k.frame_time) {
        airy_cbor_put_number(b, "frame_time", s->frame_time);
        airy_cbor_put_number(b, "count_time", s->frame_time);
    }
    put_geometry(b, &k, s->geometry);
    if (k.saturation)
        airy_cbor_put_count(b, "saturation_value", (uint64_t)s->saturation);
    if (k.mask)
        put_mask(b, s);
}

static airy_status take_bytes(unsigned char **bytes, struct airy_stream_bytes *b, size_t size)
{
    b->at = malloc(size);
    AIRY_FAIL_IF(!b->at, AIRY_ERR_MEMORY, "out of memory for a message of %zu bytes", size);
    b->size = size;
    *bytes = b->at;
    return AIRY_OK;
}

airy_status airy_stream_encode_start(unsigned char **bytes, size_t *size,
                                     const airy_stream_series *s)
{
    struct airy_stream_bytes b = {0};
    size_t room = 0;
    AIRY_TRY(airy_stream_series_check(s));
    if (s->mask && s->detail == AIRY_STREAM_DETAIL_ALL)
        AIRY_FAIL_IF(airy_mul_size(&room, s->height, s->width) ||
                         airy_mul_size(&room, room, channel_count(s) * sizeof(uint32_t)) ||
                         room > SIZE_MAX - START_MAX,
                     AIRY_ERR_SHAPE, "pixel mask of %zu x %zu is too large", s->width, s->height);
    AIRY_TRY(take_bytes(bytes, &b, START_MAX + room));
    put_start(&b, s);
    *size = b.used;
    return AIRY_OK;
}

airy_status airy_stream_encode_end(unsigned char **bytes, size_t *size, const airy_stream_series *s)
{
    struct airy_stream_bytes b = {0};
    AIRY_TRY(airy_stream_series_check(s));
    AIRY_TRY(take_bytes(bytes, &b, END_MAX));
    put_message(&b, 3, "end", s);
    *size = b.used;
    return AIRY_OK;
}

void airy_stream_encode_head(struct airy_stream_bytes *b, const airy_stream_series *s,
                             const airy_stream_exposure *exposure)
{
    put_message(b, 8 + (size_t)(s->date != NULL), "image", s);
    airy_cbor_put_count(b, "image_id", exposure->image_id);
    if (s->date)
        put_date(b, "series_date", s->date);
    put_time(b, "real_time", exposure->stop_ns - exposure->start_ns);
    put_time(b, "start_time", exposure->start_ns);
    put_time(b, "stop_time", exposure->stop_ns);
}

void airy_stream_encode_body(struct airy_stream_bytes *b, const airy_stream_series *s)
{
    airy_cbor_put_text(b, "data");
    AIRY_CBOR_PUT(b, map_start, channel_count(s));
}

void airy_stream_encode_channel(struct airy_stream_bytes *b, const airy_stream_series *s,
                                size_t channel, const airy_codec_params *codec, size_t size)
{
    airy_cbor_put_text(b, channel_name(s, channel));
    put_shape(b, s, array_tags[s->dtype]);
    if (codec->codec != AIRY_CODEC_NONE) {
        AIRY_CBOR_PUT(b, tag, TAG_COMPRESSED);
        AIRY_CBOR_PUT(b, array_start, 3);
        airy_cbor_put_text(b, airy_codec_name(codec->codec));
        AIRY_CBOR_PUT(b, uint, codec->codec == AIRY_CODEC_BSLZ4 ? codec->elem_size : 0);
    }
    AIRY_CBOR_PUT(b, bytestring_start, size);
}
