/*
 * Streams: messages that are right and wrong in every way, and series over loopback. The messages are
 * made here, byte by byte, as RFC 8949 says.
 */
#include "airy/stream.h"
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_stream.h"

void put_head(struct message *m, unsigned major, uint64_t value)
{
    const unsigned more = value < 24         ? 0
                          : value < 0x100    ? 1
                          : value < 0x10000  ? 2
                          : value < 1u << 31 ? 4
                                             : 8;
    const unsigned info = more == 0   ? (unsigned)value
                          : more == 1 ? 24
                          : more == 2 ? 25
                          : more == 4 ? 26
                                      : 27;
    m->bytes[m->size++] = (uint8_t)(major << 5 | info);
    for (unsigned i = more; i-- > 0;)
        m->bytes[m->size++] = (uint8_t)(value >> 8 * i);
}

void put_raw(struct message *m, const void *bytes, size_t size)
{
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

void put_text(struct message *m, const char *text)
{
    put_head(m, 3, strlen(text));
    put_raw(m, text, strlen(text));
}

static void put_double(struct message *m, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    m->bytes[m->size++] = 0xfb;
    for (int i = 7; i >= 0; i--)
        m->bytes[m->size++] = (uint8_t)(bits >> 8 * i);
}

static void put_number(struct message *m, const char *key, double value)
{
    put_text(m, key);
    put_double(m, value);
}

void put_count(struct message *m, const char *key, uint64_t value)
{
    put_text(m, key);
    put_head(m, 0, value);
}

void begin_message(struct message *m, const char *type, size_t more, uint64_t series)
{
    m->size = 0;
    put_head(m, 5, 3 + more);
    put_text(m, "type");
    put_text(m, type);
    put_count(m, "series_id", series);
    put_text(m, "series_unique_id");
    put_text(m, "unique");
}

void put_array(struct message *m, size_t height, size_t width, unsigned tag, const void *bytes,
               size_t size)
{
    put_head(m, 6, 40);
    put_head(m, 4, 2);
    put_head(m, 4, 2);
    put_head(m, 0, height);
    put_head(m, 0, width);
    put_head(m, 6, tag);
    put_head(m, 2, size);
    put_raw(m, bytes, size);
}

void make_start(struct message *m, uint64_t series, uint64_t images)
{
    begin_message(m, "start", 3, series);
    put_count(m, "image_size_x", STREAM_WIDTH);
    put_count(m, "image_size_y", STREAM_HEIGHT);
    put_count(m, "number_of_images", images);
}

void make_end(struct message *m, uint64_t series)
{
    begin_message(m, "end", 0, series);
}

void make_image(struct message *m, uint64_t series, uint64_t id)
{
    uint8_t pixels[STREAM_HEIGHT * STREAM_WIDTH * 2];
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(id + i);
    begin_message(m, "image", 2, series);
    put_count(m, "image_id", id);
    put_text(m, "data");
    put_head(m, 5, 1);
    put_text(m, "threshold_1");
    put_array(m, STREAM_HEIGHT, STREAM_WIDTH, 69, pixels, sizeof(pixels));
}

#if AIRY_HAVE_ZMQ

static const airy_stream_pixels *parse_image(struct check *c, airy_stream_message *got,
                                             const struct message *m)
{
    if (!CHECK_OK(c, airy_stream_parse(got, m->bytes, m->size)) ||
        !CHECK(c, got->type == AIRY_STREAM_IMAGE && got->image.channels == 1))
        return NULL;
    return &got->image.pixels[0];
}

static void check_typed(struct check *c)
{
    /* RFC 8746, table 1 */
    static const struct {
        unsigned tag;
        airy_dtype dtype;
        bool big;
    } tags[] = {
        {64, AIRY_DTYPE_U8, false},  {65, AIRY_DTYPE_U16, true},  {66, AIRY_DTYPE_U32, true},
        {67, AIRY_DTYPE_U64, true},  {68, AIRY_DTYPE_U8, false},  {69, AIRY_DTYPE_U16, false},
        {70, AIRY_DTYPE_U32, false}, {71, AIRY_DTYPE_U64, false}, {72, AIRY_DTYPE_I8, false},
        {73, AIRY_DTYPE_I16, true},  {74, AIRY_DTYPE_I32, true},  {75, AIRY_DTYPE_I64, true},
        {77, AIRY_DTYPE_I16, false}, {78, AIRY_DTYPE_I32, false}, {79, AIRY_DTYPE_I64, false},
        {81, AIRY_DTYPE_F32, true},  {82, AIRY_DTYPE_F64, true},  {85, AIRY_DTYPE_F32, false},
        {86, AIRY_DTYPE_F64, false}};
    const uint8_t bytes[6 * 8] = {1, 2, 3};
    struct message m;
    if (!check_case(c, "stream_typed"))
        return;
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        begin_message(&m, "image", 2, 5);
        put_count(&m, "image_id", 1);
        put_text(&m, "data");
        put_head(&m, 5, 1);
        put_text(&m, "a");
        put_array(&m, 2, 3, tags[i].tag, bytes, 6 * airy_dtype_size(tags[i].dtype));
        const airy_stream_pixels *p = parse_image(c, got, &m);
        CHECK(c, p && p->dtype == tags[i].dtype && p->big_endian == tags[i].big && p->height == 2 &&
                     p->width == 3 && memcmp(p->bytes, bytes, p->size) == 0 &&
                     p->codec.codec == AIRY_CODEC_NONE);
    }
}

/* An image whose data is compressed; elem, name and bytes as given. */
static void make_compressed(struct message *m, const char *name, uint64_t elem, const void *bytes,
                            size_t size)
{
    begin_message(m, "image", 2, 5);
    put_count(m, "image_id", 3);
    put_text(m, "data");
    put_head(m, 5, 1);
    put_text(m, "threshold_1");
    put_head(m, 6, 40);
    put_head(m, 4, 2);
    put_head(m, 4, 2);
    put_head(m, 0, 10);
    put_head(m, 0, 12);
    put_head(m, 6, 70);
    put_head(m, 6, 56500);
    put_head(m, 4, 3);
    put_text(m, name);
    put_head(m, 0, elem);
    put_head(m, 2, size);
    put_raw(m, bytes, size);
}

static void check_compressed(struct check *c)
{
    uint32_t pixels[120], back[120];
    uint8_t chunk[2000];
    struct message m;
    if (!check_case(c, "stream_compressed"))
        return;
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    check_rand(c, pixels, AIRY_DTYPE_U32, 120, 0, 100);
    for (int k = 0; k < 2; k++) {
        const airy_codec_params codec = {.codec = k ? AIRY_CODEC_LZ4 : AIRY_CODEC_BSLZ4,
                                         .elem_size = 4};
        size_t size = sizeof(chunk);
        CHECK_OK(c, airy_encode(chunk, &size, pixels, sizeof(pixels), &codec));
        make_compressed(&m, k ? "lz4" : "bslz4", k ? 0 : 4, chunk, size);
        const airy_stream_pixels *p = parse_image(c, got, &m);
        if (CHECK(c, p && p->codec.codec == codec.codec && p->size == size &&
                         (const uint8_t *)p->bytes > m.bytes)) {
            CHECK_OK(c, airy_decode(back, sizeof(back), p->bytes, p->size, &p->codec));
            CHECK(c, memcmp(back, pixels, sizeof(back)) == 0);
        }
        chunk[7]++;
        make_compressed(&m, k ? "lz4" : "bslz4", k ? 0 : 4, chunk, size);
        CHECK_FAILS(c, airy_stream_parse(got, m.bytes, m.size), AIRY_ERR_SHAPE,
                    "481 bytes when decoded, expected 480");
        chunk[7]--;
        make_compressed(&m, k ? "lz4" : "bslz4", k ? 0 : 4, chunk, 11);
        CHECK_FAILS(c, airy_stream_parse(got, m.bytes, m.size), AIRY_ERR_SHAPE,
                    "11 compressed bytes");
    }
    make_compressed(&m, "bslz4", 2, chunk, 100);
    CHECK_FAILS(c, airy_stream_parse(got, m.bytes, m.size), AIRY_ERR_FORMAT,
                "bslz4 of elements of 2 bytes, but pixels are uint32");
    make_compressed(&m, "bszstd", 4, chunk, 100);
    CHECK_FAILS(c, airy_stream_parse(got, m.bytes, m.size), AIRY_ERR_UNSUPPORTED,
                "compression 'bszstd'");
}

/* A start message with all that is read. */
static void make_full_start(struct message *m)
{
    const uint32_t mask[6] = {0, 1, 0, 0, 256, 0};
    begin_message(m, "start", 17, 9);
    put_count(m, "image_size_x", 3);
    put_count(m, "image_size_y", 2);
    put_count(m, "number_of_images", 100);
    put_text(m, "image_dtype");
    put_text(m, "uint16");
    put_text(m, "channels");
    put_head(m, 4, 2);
    put_text(m, "threshold_1");
    put_text(m, "threshold_2");
    put_text(m, "detector_description");
    put_text(m, "Dectris EIGER2 Si 4M");
    put_text(m, "detector_translation");
    put_head(m, 4, 3);
    put_double(m, 0);
    put_double(m, 0);
    put_double(m, -0.25);
    put_number(m, "beam_center_x", 1.5);
    put_number(m, "beam_center_y", 1);
    put_number(m, "pixel_size_x", 75e-6);
    put_number(m, "pixel_size_y", 80e-6);
    put_number(m, "incident_energy", 12398.419843320026);
    put_number(m, "incident_wavelength", 0.5);
    put_number(m, "frame_time", 0.001);
    put_count(m, "saturation_value", 65534);
    put_text(m, "pixel_mask");
    put_head(m, 5, 1);
    put_text(m, "threshold_2");
    put_array(m, 2, 3, 70, mask, sizeof(mask));
    put_text(m, "user_data");
    put_head(m, 6, 0);
    put_text(m, "anything");
}

/* And what is printed on standard error. */
static void get_meta(struct check *c, airy_stack_meta *meta, const airy_stream_start_message *start,
                     const char *channel, char said[400])
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/log", check_tmp(c));
    const int old = dup(STDERR_FILENO),
              log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(log, STDERR_FILENO);
    airy_stream_meta(meta, start, channel);
    dup2(old, STDERR_FILENO);
    const ssize_t n = pread(log, said, 399, 0);
    said[n < 0 ? 0 : n] = 0;
    close(log);
    close(old);
}

static void check_start(struct check *c)
{
    const uint8_t bad[6] = {0, 1, 0, 0, 1, 0};
    uint8_t mask[6];
    struct message m;
    airy_stack_meta meta;
    if (!check_case(c, "stream_start"))
        return;
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    make_full_start(&m);
    if (!CHECK_OK(c, airy_stream_parse(got, m.bytes, m.size)))
        return;
    const airy_stream_start_message *s = &got->start;
    CHECK(c, got->type == AIRY_STREAM_START && got->series_id == 9);
    CHECK(c, strcmp(got->unique_id, "unique") == 0 && s->number_of_images == 100);
    CHECK(c, s->has_dtype && s->dtype == AIRY_DTYPE_U16 && s->channels == 2);
    CHECK(c, strcmp(s->channel[1], "threshold_2") == 0 && s->masks == 1);
    CHECK(c, s->frame_time == 0.001);
    char said[400];
    get_meta(c, &meta, s, "threshold_2", said);
    CHECK(c, strstr(said, "incident_wavelength gives 5e-11 m, which is used, but incident_energy "
                          "gives 1e-10 m"));
    const airy_geometry *g = &meta.geometry;
    CHECK(c, meta.has_geometry && meta.has_mask && meta.has_saturation);
    CHECK(c, meta.saturation == 65534 && g->dist == 0.25 && g->wavelength == 0.5e-10);
    CHECK(c, g->detector.pixel1 == 80e-6 && g->detector.pixel2 == 75e-6);
    CHECK(c, g->poni1 == 1 * 80e-6 && g->poni2 == 1.5 * 75e-6 && g->detector.dectris_dummy);
    CHECK(c, g->detector.height == 2 && g->detector.width == 3);
    CHECK_OK(c, airy_stream_mask(mask, s, "threshold_2"));
    CHECK(c, memcmp(mask, bad, sizeof(bad)) == 0);
    CHECK_OK(c, airy_stream_mask(mask, s, ""));
    CHECK_FAILS(c, airy_stream_mask(mask, s, "threshold_1"), AIRY_ERR_NOT_FOUND,
                "no pixel_mask of channel 'threshold_1'");
    got->start.energy *= 2.001;
    get_meta(c, &meta, s, "threshold_2", said);
    CHECK(c, !*said && meta.geometry.wavelength == 0.5e-10);
    got->start.mask[0].height = 3;
    CHECK_FAILS(c, airy_stream_mask(mask, s, ""), AIRY_ERR_SHAPE, "the images are 2 x 3");
    got->start.mask[0].height = 2;
    got->start.mask[0].dtype = AIRY_DTYPE_F32;
    CHECK_FAILS(c, airy_stream_mask(mask, s, ""), AIRY_ERR_DTYPE, "expected integers");
}

/* Every message cut at every byte is refused, and with any byte changed it is read or refused. */
static void check_cut(struct check *c)
{
    struct message m[3];
    if (!check_case(c, "stream_cut"))
        return;
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    make_full_start(&m[0]);
    make_image(&m[1], 3, 70000);
    make_end(&m[2], 3);
    for (size_t k = 0; k < 3; k++) {
        for (size_t size = 0; size < m[k].size; size++) {
            uint8_t *exact = malloc(size ? size : 1); /* its end is where the sanitizer looks */
            if (!CHECK(c, exact != NULL))
                return;
            memcpy(exact, m[k].bytes, size);
            const airy_status status = airy_stream_parse(got, exact, size);
            CHECK(c, status == AIRY_ERR_FORMAT || status == AIRY_ERR_UNSUPPORTED);
            free(exact);
        }
        for (size_t i = 0; i < m[k].size; i++)
            for (unsigned bit = 0; bit < 8; bit++) {
                m[k].bytes[i] ^= (uint8_t)(1u << bit);
                if (airy_stream_parse(got, m[k].bytes, m[k].size) != AIRY_OK)
                    CHECK(c, *airy_last_error() != 0);
                m[k].bytes[i] ^= (uint8_t)(1u << bit);
            }
    }
    CHECK_FAILS(c, airy_stream_parse(NULL, "", 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stream_parse(got, "", 0), AIRY_ERR_FORMAT, "empty");
}

static void refuse(struct check *c, const struct message *m, airy_status status, const char *part)
{
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    CHECK_FAILS(c, airy_stream_parse(got, m->bytes, m->size), status, part);
}

static void check_refusals(struct check *c)
{
    struct message m;
    if (!check_case(c, "stream_refusals"))
        return;
    m.size = 0;
    put_head(&m, 4, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "the message is an array, expected a map");
    m.size = 0;
    put_head(&m, 5, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "empty map");
    m.size = 0;
    put_head(&m, 5, 1);
    put_count(&m, "series_id", 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "first key is 'series_id'");
    m.size = 0;
    put_head(&m, 5, 1);
    put_head(&m, 0, 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "a key of the message is a whole number, expected a text");
    begin_message(&m, "stop", 0, 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "type 'stop', expected start, image or end");
    begin_message(&m, "image", 0, 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "lacks 'image_id'");
    begin_message(&m, "start", 0, 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "lacks 'image_size_x'");
    begin_message(&m, "end", 1, 1);
    put_count(&m, "series_id", 2);
    refuse(c, &m, AIRY_ERR_FORMAT, "'series_id' twice");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "type");
    put_text(&m, "end");
    refuse(c, &m, AIRY_ERR_FORMAT, "'type' twice");
    make_end(&m, 1);
    m.bytes[m.size++] = 0;
    refuse(c, &m, AIRY_ERR_FORMAT, "1 bytes behind the message's end");
    begin_message(&m, "image", 1, 1);
    put_text(&m, "image_id");
    put_text(&m, "one");
    refuse(c, &m, AIRY_ERR_FORMAT, "image_id is a text, expected a whole number");
    begin_message(&m, "start", 1, 1);
    put_count(&m, "number_of_images", UINT64_C(1) << 60);
    refuse(c, &m, AIRY_ERR_FORMAT, "number_of_images = 1152921504606846976");
    begin_message(&m, "start", 1, 1);
    put_count(&m, "image_size_x", 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "image_size_x = 0");
    begin_message(&m, "start", 1, 1);
    put_number(&m, "beam_center_x", HUGE_VAL);
    refuse(c, &m, AIRY_ERR_FORMAT, "beam_center_x = inf");
    begin_message(&m, "end", 1, 1);
    put_raw(&m, "\x63\xc3\x28\x61\x01", 5);
    refuse(c, &m, AIRY_ERR_FORMAT, "not UTF-8");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "user_data");
    put_raw(&m, "\x7f\x61\x61\xff", 4);
    refuse(c, &m, AIRY_ERR_UNSUPPORTED, "user_data: a text of indefinite length");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "user_data");
    for (int i = 0; i < 20; i++)
        put_head(&m, 4, 1);
    put_head(&m, 0, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "17 deep");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "user_data");
    put_raw(&m, "\xff", 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "a break");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "user_data");
    put_raw(&m, "\x1c", 1);
    refuse(c, &m, AIRY_ERR_FORMAT, "0x1c, begins no CBOR item");
    begin_message(&m, "end", 1, 1);
    put_text(&m, "user_data");
    put_head(&m, 2, UINT64_C(1) << 62);
    refuse(c, &m, AIRY_ERR_FORMAT, "is cut");
}

static void put_data(struct message *m, size_t channels)
{
    begin_message(m, "image", 2, 1);
    put_count(m, "image_id", 1);
    put_text(m, "data");
    put_head(m, 5, channels);
}

static void check_data_refusals(struct check *c)
{
    const uint8_t bytes[64] = {0};
    struct message m;
    if (!check_case(c, "stream_data_refusals"))
        return;
    put_data(&m, 1);
    put_text(&m, "a");
    put_array(&m, 2, 3, 69, bytes, 11);
    refuse(c, &m, AIRY_ERR_SHAPE, "data of 'a': 11 bytes, expected 12 of 2 x 3 uint16 pixels");
    put_data(&m, 1);
    put_text(&m, "a");
    put_array(&m, 0, 3, 69, bytes, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "without elements");
    put_data(&m, 1);
    put_text(&m, "a");
    put_array(&m, (size_t)1 << 40, 3, 69, bytes, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "expected <= 1048576");
    put_data(&m, 1);
    put_text(&m, "a");
    put_array(&m, 2, 3, 84, bytes, 12);
    refuse(c, &m, AIRY_ERR_UNSUPPORTED, "typed array of tag 84");
    put_data(&m, 1);
    put_text(&m, "a");
    put_array(&m, 2, 3, 1000, bytes, 12);
    refuse(c, &m, AIRY_ERR_FORMAT, "tag 1000, expected that of a typed array");
    put_data(&m, 1);
    put_text(&m, "a");
    put_head(&m, 2, 0);
    refuse(c, &m, AIRY_ERR_FORMAT, "data of 'a' is a byte string, expected a tag");
    put_data(&m, 2);
    for (int i = 0; i < 2; i++) {
        put_text(&m, "a");
        put_array(&m, 2, 3, 69, bytes, 12);
    }
    refuse(c, &m, AIRY_ERR_FORMAT, "channel 'a' twice");
    put_data(&m, 17);
    for (int i = 0; i < 17; i++) {
        const char name[2] = {(char)('a' + i), 0};
        put_text(&m, name);
        put_array(&m, 1, 1, 64, bytes, 1);
    }
    refuse(c, &m, AIRY_ERR_FORMAT, "more than 16 channels");
    /* After a failure it is known which image is lost. */
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    CHECK(c, airy_stream_parse(got, m.bytes, m.size) != AIRY_OK && got->has_type &&
                 got->has_series && got->image.has_id && got->image.id == 1);
}

static void check_channels(struct check *c)
{
    const uint8_t bytes[8] = {0};
    const airy_stream_pixels *pixels = NULL;
    struct message m;
    if (!check_case(c, "stream_channels"))
        return;
    airy_stream_message *got = check_alloc(c, sizeof(*got));
    put_data(&m, 2);
    put_text(&m, "threshold_1");
    put_array(&m, 2, 2, 64, bytes, 4);
    put_text(&m, "threshold_2");
    put_array(&m, 2, 2, 64, bytes, 4);
    CHECK_OK(c, airy_stream_parse(got, m.bytes, m.size));
    CHECK_OK(c, airy_stream_find_channel(&pixels, &got->image, "threshold_2"));
    CHECK(c, pixels == &got->image.pixels[1]);
    CHECK_FAILS(c, airy_stream_find_channel(&pixels, &got->image, ""), AIRY_ERR_PARAM,
                "2 channels, name one: threshold_1, threshold_2");
    CHECK_FAILS(c, airy_stream_find_channel(&pixels, &got->image, "x"), AIRY_ERR_NOT_FOUND,
                "no channel 'x'");
    put_data(&m, 0);
    CHECK_OK(c, airy_stream_parse(got, m.bytes, m.size));
    CHECK_FAILS(c, airy_stream_find_channel(&pixels, &got->image, ""), AIRY_ERR_NOT_FOUND,
                "has no channels");
}

void check_stream(struct check *c)
{
    if (!c->is_cpu)
        return;
    check_typed(c);
    check_compressed(c);
    check_start(c);
    check_cut(c);
    check_refusals(c);
    check_data_refusals(c);
    check_channels(c);
    check_stream_series(c);
    check_stream_senders(c);
}

#else

void check_stream(struct check *c)
{
    airy_stream_receiver *receiver = NULL;
    airy_publisher *publisher = NULL;
    airy_stream_message *m;
    const char *endpoint = "tcp://127.0.0.1:1";
    if (!c->is_cpu || !check_case(c, "stream_refused"))
        return;
    m = check_alloc(c, sizeof(*m));
    CHECK_FAILS(c, airy_stream_parse(m, "", 0), AIRY_ERR_UNSUPPORTED, "libzmq");
    CHECK_FAILS(c,
                airy_stream_receiver_create(
                    &receiver, &(airy_stream_receiver_params){.endpoints = &endpoint, .count = 1}),
                AIRY_ERR_UNSUPPORTED, "libzmq");
    CHECK_FAILS(c, airy_publisher_create(&publisher, endpoint, 0), AIRY_ERR_UNSUPPORTED, "libzmq");
}

#endif
