/* TIFF, PNG and CBF: round trips, files as other programs write them, hostile files. */
#include "check_stack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/byte_offset.h"

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static bool is_whole(airy_dtype dtype, size_t most)
{
    return !airy_dtype_is_float(dtype) && airy_dtype_size(dtype) <= most;
}

/* What each format holds; the rest is refused by a sentence. */
static bool is_held(const char *suffix, airy_dtype dtype, int ndim)
{
    if (strcmp(suffix, ".png") == 0)
        return ndim == 2 && (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_U16);
    if (strcmp(suffix, ".cbf") == 0)
        return ndim == 2 && is_whole(dtype, 4);
    return ndim == 2 || ndim == 3;
}

static void check_round_trip(struct check *c, airy_dtype dtype, int ndim, const char *suffix)
{
    if (!check_case(c, "image_%s_%dd%s", airy_dtype_name(dtype), ndim, suffix))
        return;
    airy_image image = {.dtype = dtype, .ndim = ndim}, back = {0};
    size_t count = 1;
    for (int axis = 0; axis < ndim; axis++) {
        image.shape[axis] = (size_t)(5 + 3 * axis);
        count *= image.shape[axis];
    }
    const size_t size = airy_dtype_size(dtype);
    image.data = check_alloc(c, count * size);
    check_rand(c, image.data, AIRY_DTYPE_U8, count * size, 0, 255);
    char name[32];
    snprintf(name, sizeof(name), "image%s", suffix);
    const char *path = tmp_path(c, name);
    if (!is_held(suffix, dtype, ndim)) {
        CHECK_FAILS(c, airy_image_write(&image, path, false), AIRY_ERR_UNSUPPORTED, "holds");
        return;
    }
    CHECK_OK(c, airy_image_write(&image, path, false));
    CHECK_FAILS(c, airy_image_write(&image, path, false), AIRY_ERR_EXISTS, "is there already");
    CHECK_OK(c, airy_image_write(&image, path, true));
    if (!CHECK_OK(c, airy_image_read(&back, path)))
        return;
    CHECK(c, back.dtype == dtype && back.ndim == ndim &&
                 memcmp(back.shape, image.shape, (size_t)ndim * sizeof(size_t)) == 0 &&
                 memcmp(back.data, image.data, count * size) == 0);
    airy_image_free(&back);
    /* Cut anywhere: an error, never pixels. */
    size_t bytes = 0;
    const uint8_t *file = stack_slurp(c, path, &bytes);
    for (size_t cut = 0; file && cut + 60 < bytes; cut += 1 + bytes / 23)
        CHECK(c, airy_image_read(&back, stack_spill(c, name, file, cut)) != AIRY_OK);
}

/* A TIFF of 2 x 3 pixels: tags as given (tag, type, value), data at byte 8. */
static const char *tiff_file(struct check *c, const uint16_t (*tags)[3], size_t count, bool big)
{
    uint8_t *file = check_alloc(c, 512);
    size_t at = 64;
    memset(file, 0, 512);
    memcpy(file, big ? "MM\0*\0\0\0\x40" : "II*\0\x40\0\0\0", 8);
    for (size_t i = 0; i < 48; i++)
        file[8 + i] = (uint8_t)i;
    file[at + big] = (uint8_t)count;
    at += 2;
    for (size_t i = 0; i < count; i++, at += 12) {
        const uint16_t words[] = {tags[i][0], tags[i][1], 0, 1, tags[i][2], 0};
        for (size_t k = 0; k < 6; k++) {
            const size_t swap = k == 2 || k == 3; /* the count has 32 bits */
            const uint16_t w = big || !swap ? words[k] : words[5 - k];
            file[at + 2 * k + big] = (uint8_t)w;
            file[at + 2 * k + !big] = (uint8_t)(w >> 8);
        }
    }
    return stack_spill(c, "x.tif", file, at + 4);
}

enum { ASCII = 2, SHORT = 3 };
#define PLAIN_TAGS(bits, colour, samples, strip)                                                   \
    {256, SHORT, 3}, {257, SHORT, 2}, {258, SHORT, bits}, {259, SHORT, 1}, {262, SHORT, colour},   \
        {273, SHORT, 8}, {277, SHORT, samples}, {278, SHORT, 2},                                   \
    {                                                                                              \
        279, SHORT, strip                                                                          \
    }

/* Images that one page does not show: a volume of pages, and ImageJ's stacks behind one page. */
static void check_tiff_volumes(struct check *c)
{
    static const uint16_t deep[][3] = {PLAIN_TAGS(8, 1, 1, 6), {32997, SHORT, 2}};
    static const uint16_t flat[][3] = {PLAIN_TAGS(8, 1, 1, 6), {32997, SHORT, 1}};
    airy_image image = {0};
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, deep, 10, false)), AIRY_ERR_UNSUPPORTED,
                "page 1: its pixels are a volume of 2 planes");
    if (CHECK_OK(c, airy_image_read(&image, tiff_file(c, flat, 10, false))))
        airy_image_free(&image);
    /* 8 bytes of header, 6 pixels, a directory of 10 entries at 64, the description behind it */
    static const uint16_t page[][3] = {
        {256, SHORT, 3},   {257, SHORT, 2}, {258, SHORT, 8}, {259, SHORT, 1}, {262, SHORT, 1},
        {270, ASCII, 190}, {273, SHORT, 8}, {277, SHORT, 1}, {278, SHORT, 2}, {279, SHORT, 6}};
    static const struct {
        const char *text, *says;
    } texts[] = {{"ImageJ=1.53\nimages=4\nslices=4\n", "4 images behind one page"},
                 {"{\"shape\": [4, 2, 3], \"truncated\": true}", "of tifffile"},
                 {"{\"shape\": [2, 3]}", NULL},
                 {"ImageJ=1.53\nimages=90\n", NULL},
                 {"of ImageJ=\nimages=4\n", NULL}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *path = tiff_file(c, page, 10, false);
        size_t bytes = 0;
        uint8_t *file = check_alloc(c, 256);
        memset(file, 0, 256);
        memcpy(file, stack_slurp(c, path, &bytes), 190);
        file[66 + 5 * 12 + 4] = (uint8_t)(strlen(texts[i].text) + 1);
        memcpy(file + 190, texts[i].text, strlen(texts[i].text));
        const airy_status status = airy_image_read(&image, stack_spill(c, "x.tif", file, 256));
        CHECK(c, status == (texts[i].says ? AIRY_ERR_UNSUPPORTED : AIRY_OK));
        CHECK(c, !texts[i].says || strstr(airy_last_error(), texts[i].says));
        airy_image_free(&image);
    }
}

static void check_tiff(struct check *c)
{
    if (!check_case(c, "tiff_files"))
        return;
    static const uint16_t grey[][3] = {PLAIN_TAGS(16, 1, 1, 12)};
    static const uint16_t rgb[][3] = {PLAIN_TAGS(8, 2, 3, 18)};
    static const uint16_t inks[][3] = {PLAIN_TAGS(8, 5, 1, 6)};
    static const uint16_t white[][3] = {PLAIN_TAGS(8, 0, 1, 6)};
    static const uint16_t two[][3] = {PLAIN_TAGS(8, 1, 2, 12)};
    static const uint16_t bit[][3] = {PLAIN_TAGS(1, 1, 1, 2)};
    airy_image image = {0};
    for (int big = 0; big < 2; big++) {
        if (!CHECK_OK(c, airy_image_read(&image, tiff_file(c, grey, 9, big))))
            continue;
        CHECK(c, image.dtype == AIRY_DTYPE_U16 && image.ndim == 2 && image.shape[0] == 2 &&
                     image.shape[1] == 3);
        CHECK(c, airy_image_value(&image, 1) == (big ? 0x0203 : 0x0302));
        airy_image_free(&image);
    }
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, rgb, 9, false)), AIRY_ERR_UNSUPPORTED,
                "are RGB");
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, inks, 9, false)), AIRY_ERR_UNSUPPORTED,
                "are inks");
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, white, 9, false)), AIRY_ERR_UNSUPPORTED,
                "0 as white");
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, two, 9, false)), AIRY_ERR_UNSUPPORTED,
                "2 samples");
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, bit, 9, false)), AIRY_ERR_UNSUPPORTED,
                "1 bits");
    /* 65535 x 65535 pixels of 16 bits in a file of 200 bytes */
    static const uint16_t bomb[][3] = {{256, SHORT, 65535}, {257, SHORT, 65535}, {258, SHORT, 16},
                                       {259, SHORT, 1},     {262, SHORT, 1},     {273, SHORT, 8},
                                       {277, SHORT, 1},     {278, SHORT, 65535}, {279, SHORT, 12}};
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, bomb, 9, false)), AIRY_ERR_FORMAT,
                "cannot hold");
    /* An image of 2 x 3 pixels in one tile of 65520 x 65520 */
    static const uint16_t tile[][3] = {{256, SHORT, 3},     {257, SHORT, 2},     {258, SHORT, 16},
                                       {259, SHORT, 1},     {262, SHORT, 1},     {277, SHORT, 1},
                                       {322, SHORT, 65520}, {323, SHORT, 65520}, {324, SHORT, 8},
                                       {325, SHORT, 12}};
    CHECK_FAILS(c, airy_image_read(&image, tiff_file(c, tile, 10, false)), AIRY_ERR_FORMAT,
                "cannot hold the 8585740800");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.tif", "II*", 3)), AIRY_ERR_FORMAT,
                "TIFF");
    check_tiff_volumes(c);
    CHECK_FAILS(c, airy_image_read(&image, "/proc/none/x.tif"), AIRY_ERR_NOT_FOUND, "cannot open");
}

static void check_png_files(struct check *c)
{
    if (!check_case(c, "png_files"))
        return;
    static const uint8_t rgb[6] = {0};
    airy_image image = {0};
    const char *path = tmp_path(c, "rgb.png");
    CHECK_OK(c, airy_png_write(path, rgb, 1, 2, false));
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_UNSUPPORTED, "are RGB");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.png", "\211PNG", 4)), AIRY_ERR_FORMAT,
                "PNG");
    CHECK_FAILS(c, airy_image_read(&image, "/proc/none/x.png"), AIRY_ERR_NOT_FOUND, "cannot open");
}

#define CBF_START "###CBF: VERSION 1.5\r\n conversions=\"x-CBF_BYTE_OFFSET\"\r\n"
#define CBF_TYPE  "X-Binary-Element-Type: \"signed 32-bit integer\"\r\n"
#define CBF_SHAPE "X-Binary-Size-Fastest-Dimension: 2\r\nX-Binary-Size-Second-Dimension: 1\r\n"
#define CBF_MARK  "\x0c\x1a\x04\xd5"

static void check_cbf_hostile(struct check *c)
{
    static const struct {
        const char *text;
        airy_status status;
        const char *part;
    } bad[] = {
        {"x", AIRY_ERR_FORMAT, "###CBF"},
        {"###CBF: VERSION 1.5\r\n", AIRY_ERR_FORMAT, "no binary section"},
        {"###CBF\n" CBF_MARK, AIRY_ERR_FORMAT, "'X-Binary-Element-Type' is missing"},
        {"###CBF\n" CBF_TYPE CBF_MARK, AIRY_ERR_UNSUPPORTED, "conversions"},
        {"###CBF\nconversions=\"x-CBF_PACKED\"\n" CBF_TYPE CBF_MARK, AIRY_ERR_UNSUPPORTED,
         "x-CBF_PACKED"},
        {CBF_START "X-Binary-Element-Type: \"signed 32-bit real IEEE\"\n" CBF_MARK,
         AIRY_ERR_UNSUPPORTED, "real IEEE"},
        {CBF_START CBF_TYPE "X-Binary-Element-Byte-Order: BIG_ENDIAN\n" CBF_MARK,
         AIRY_ERR_UNSUPPORTED, "BIG_ENDIAN"},
        {CBF_START CBF_TYPE CBF_MARK, AIRY_ERR_FORMAT, "Fastest-Dimension' is missing"},
        {CBF_START CBF_TYPE CBF_SHAPE CBF_MARK, AIRY_ERR_FORMAT, "'X-Binary-Size' is missing"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: -1\n" CBF_MARK, AIRY_ERR_FORMAT, "'-1'"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: 1\n" CBF_MARK, AIRY_ERR_FORMAT,
         "1 bytes of data"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: 9\n" CBF_MARK "ab", AIRY_ERR_FORMAT,
         "the file is cut"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: 3\n" CBF_MARK "abc", AIRY_ERR_CORRUPT,
         "1 bytes behind"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: 2\n" CBF_MARK "a\x80", AIRY_ERR_CORRUPT,
         "end at value 1"},
        {CBF_START CBF_TYPE CBF_SHAPE "X-Binary-Size: 2\nX-Binary-Number-of-Elements: 3\n" CBF_MARK
                                      "ab",
         AIRY_ERR_FORMAT, "3 elements"},
        {CBF_START CBF_TYPE
         "X-Binary-Size-Fastest-Dimension: 99999999999\r\n"
         "X-Binary-Size-Second-Dimension: 99999999999\nX-Binary-Size: 2\n" CBF_MARK,
         AIRY_ERR_SHAPE, "below 2^64"},
    };
    airy_image image = {0};
    if (!check_case(c, "cbf_hostile"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(
            c, airy_image_read(&image, stack_spill(c, "x.cbf", bad[i].text, strlen(bad[i].text))),
            bad[i].status, bad[i].part);
}

/* Literal codes of all four lengths. */
static void check_byte_offset(struct check *c)
{
    if (!check_case(c, "byte_offset"))
        return;
    static const int32_t values[] = {0, 127, 0, -127, 1, -32766, 2147483647, -2147483647 - 1};
    static const uint8_t codes[] = {
        0,    127,  0x81, 0x81, 0x80, 0x80, 0,    0x80, 0x01, 0x80, /* 0, 127, -127, -127, 128, */
        0x80, 0x00, 0x80, 0x80, 0x00, 0x80, 0xfd, 0x7f, 0x00, 0x80, /* ... */
    };
    uint8_t packed[BYTE_OFFSET_WORST * 8];
    int32_t back[8];
    const size_t used = airy_byte_offset_encode(packed, values, AIRY_DTYPE_I32, 8);
    CHECK(c, used > 8 && memcmp(packed, codes, 7) == 0); /* up to +128: 80 80 00 */
    CHECK_OK(c, airy_byte_offset_decode(back, AIRY_DTYPE_I32, 8, packed, used));
    CHECK(c, memcmp(back, values, sizeof(values)) == 0);
    static const uint8_t eight[] = {0x80, 0,    0x80, 0, 0, 0, 0x80, 0xff,
                                    0xff, 0xff, 0x7f, 0, 0, 0, 0};
    CHECK_OK(c, airy_byte_offset_decode(back, AIRY_DTYPE_I32, 1, eight, sizeof(eight)));
    CHECK(c, back[0] == 2147483647);
    uint8_t byte;
    CHECK_FAILS(c, airy_byte_offset_decode(&byte, AIRY_DTYPE_U8, 1, (const uint8_t[1]){0xff}, 1),
                AIRY_ERR_CORRUPT, "leaves the range of uint8");
    CHECK_FAILS(
        c, airy_byte_offset_decode(&byte, AIRY_DTYPE_I8, 1, (const uint8_t[3]){0x80, 0x80, 0}, 3),
        AIRY_ERR_CORRUPT, "leaves the range of int8");
    CHECK_FAILS(c, airy_byte_offset_decode(&byte, AIRY_DTYPE_U8, 1, eight, 2), AIRY_ERR_CORRUPT,
                "end at value 0");
}

/* What a file states is what was written: 487 x 619 pixels of 172 um, 150 mm, 12 keV. */
static const char *check_stated_one(struct check *c, const char *name, const airy_stack_meta *meta)
{
    const airy_geometry *g = &meta->geometry;
    const char *path = tmp_path(c, name);
    airy_stack *stack = NULL;
    airy_stack_meta got;
    const size_t pixels = 619 * 487;
    const airy_image image = {.dtype = AIRY_DTYPE_U16,
                              .ndim = 2,
                              .shape = {619, 487},
                              .data = check_alloc(c, pixels * 2)};
    memset(image.data, 0, pixels * 2);
    if (!CHECK_OK(c, airy_image_write_stated(&image, path, false, meta, NULL)) ||
        !CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return path;
    const unsigned turned = g->rot1 != 0 && strcmp(name, "a.h5") != 0
                                ? AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER
                                : 0;
    CHECK_OK(c, airy_stack_get_meta(stack, &got));
    airy_stack_destroy(&stack);
    CHECK(c, got.geometry_parts == (meta->geometry_parts & ~turned) && got.unusable[0] == 0);
    CHECK(c, got.geometry.detector.pixel1 == g->detector.pixel1);
    CHECK(c, got.geometry.detector.pixel2 == g->detector.pixel2);
    CHECK(c, fabs(got.geometry.wavelength / g->wavelength - 1) < 4e-16); /* two roundings: in A */
    CHECK(c, got.geometry.dist == (turned ? 0 : g->dist));
    if (!turned)
        CHECK(c, got.center[0] == meta->center[0] && got.center[1] == meta->center[1]);
    CHECK(c, got.has_dummy == (strstr(name, ".edf") != NULL && meta->has_dummy));
    CHECK(c, got.has_saturation == (strchr("ct", name[2]) != NULL && meta->has_saturation));
    return path;
}

/* Headers of images as the field's own programs write and read them. */
static void check_stated(struct check *c)
{
    static const char *const names[] = {"a.cbf", "a.edf", "a.h5", "a.tif"};
    if (!check_case(c, "image_stated_geometry"))
        return;
    airy_stack_meta meta = {
        .has_geometry = true,
        .geometry = {.detector = {.height = 619, .width = 487, .pixel1 = 172e-6, .pixel2 = 173e-6},
                     .dist = 0.15,
                     .poni1 = 100.25 * 172e-6,
                     .poni2 = 201.5 * 173e-6,
                     .wavelength = 1.0332016536100021e-10},
        .has_saturation = true,
        .saturation = 60000,
        .has_dummy = true,
        .dummy = -2,
        .delta_dummy = 1.5,
        .geometry_parts = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER |
                          AIRY_GEOMETRY_WAVELENGTH,
        .center = {100.25, 201.5}};
    /* A name is text from a file: no line of it becomes a line of the header. */
    snprintf(meta.geometry.detector.name, sizeof meta.geometry.detector.name,
             "Pilatus_x\n# Wavelength 7 A\n;\ndata_evil");
    const char *cbf = check_stated_one(c, names[0], &meta);
    for (size_t i = 1; i < (AIRY_HAVE_TIFF ? 4 : 3); i++)
        check_stated_one(c, names[i], &meta);
    static const char want[] =
        "###CBF: VERSION 1.5\r\n\r\ndata_image\r\n\r\n"
        "_array_data.header_convention \"PILATUS_1.2\"\r\n_array_data.header_contents\r\n;\r\n"
        "# Detector: PILATUS X?# WAVELENGTH 7 A?;?DATA EVIL\r\n"
        "# Pixel_size 0.000173 m x 0.000172 m\r\n# Count_cutoff 60000 counts\r\n"
        "# Wavelength 1.03320165361 A\r\n# Detector_distance 0.15 m\r\n"
        "# Beam_xy (201.5, 100.25) pixels\r\n;\r\n\r\n_array_data.data\r\n;\r\n";
    char got[sizeof want] = "";
    FILE *file = fopen(cbf, "rb");
    if (CHECK(c, file != NULL)) {
        CHECK(c, fread(got, 1, sizeof want - 1, file) > 0);
        CHECK(c, strncmp(got, want, 160) == 0 && strstr(got, "# Beam_xy (201.5, 100.25) pixels"));
        fclose(file);
    }
}

/* Such headers have no angles: of a turned detector they state neither distance nor centre. */
static void check_stated_turned(struct check *c)
{
    static const char *const names[] = {"a.cbf", "a.edf", "a.h5", "a.tif"};
    if (!check_case(c, "image_stated_turned"))
        return;
    airy_stack_meta meta = {.has_geometry = true,
                            .geometry = {.detector = {.name = "Detector",
                                                      .height = 619,
                                                      .width = 487,
                                                      .pixel1 = 1e-4,
                                                      .pixel2 = 1e-4},
                                         .dist = 0.15,
                                         .poni1 = 0.01,
                                         .poni2 = 0.02,
                                         .rot1 = 0.25,
                                         .wavelength = 1e-10},
                            .geometry_parts = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE |
                                              AIRY_GEOMETRY_CENTER | AIRY_GEOMETRY_WAVELENGTH,
                            .center = {100, 200}};
    for (size_t i = 0; i < (AIRY_HAVE_TIFF ? 4 : 3); i++)
        check_stated_one(c, names[i], &meta);
}

void check_formats(struct check *c)
{
    if (!c->is_cpu)
        return; /* files and host memory only */
    static const char *const suffixes[] = {".png", ".cbf", ".tif"};
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (int ndim = 1; ndim <= 4; ndim++)
            for (int s = 0; s < (AIRY_HAVE_TIFF ? 3 : 2); s++)
                check_round_trip(c, (airy_dtype)dtype, ndim, suffixes[s]);
    if (AIRY_HAVE_TIFF)
        check_tiff(c);
    check_stated(c);
    check_stated_turned(c);
    check_png_files(c);
    check_cbf_hostile(c);
    check_byte_offset(c);
}
