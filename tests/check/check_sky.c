/* Sky coordinates: 14 projections beside wcslib's own numbers, beams, headers that make no sense. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/sky.h"
#include "check_stack.h"

enum { MOST_POINTS = 1024 };

struct rows {
    char projection[MOST_POINTS][8];
    double x[MOST_POINTS], y[MOST_POINTS], ra[MOST_POINTS], dec[MOST_POINTS];
    size_t count;
};

/* malloc'ed: it outlives the cases. */
static struct rows *read_rows(const char *path)
{
    struct rows *r = calloc(1, sizeof(*r));
    char line[256];
    FILE *file = fopen(path, "r");
    while (r && file && fgets(line, sizeof(line), file) && r->count < MOST_POINTS)
        r->count += sscanf(line, "%7[A-Z],%lf,%lf,%lf,%lf", r->projection[r->count],
                           &r->x[r->count], &r->y[r->count], &r->ra[r->count],
                           &r->dec[r->count]) == 5;
    if (file)
        fclose(file);
    return r;
}

/* An image of one pixel with the keywords of a JSON object. */
static void make_image(struct check *c, airy_image *image, const json_t *keys)
{
    const char *key;
    json_t *value;
    *image = (airy_image){.dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {1, 1}, .data = calloc(1, 1)};
    json_object_foreach((json_t *)keys, key, value)
    {
        char card[81];
        if (json_is_string(value))
            snprintf(card, sizeof(card), "%-8s= '%-8s'", key, json_string_value(value));
        else
            snprintf(card, sizeof(card), "%-8s= %20.17G", key, json_number_value(value));
        if (strncmp(key, "NAXIS", 5) != 0)
            CHECK_OK(c, airy_image_add_card(image, card));
    }
}

/* 1e-9 deg, what the header promises; 1e-8 pixels back at 0.067 deg a pixel or more. */
static void check_projection(struct check *c, const char *name, const json_t *keys,
                             const struct rows *r)
{
    if (!check_case(c, "sky_%s", name))
        return;
    airy_image image;
    airy_sky *sky = NULL;
    make_image(c, &image, keys);
    if (CHECK_OK(c, airy_sky_create(&sky, &image))) {
        size_t points = 0;
        for (size_t i = 0; i < r->count; i++) {
            if (strcmp(r->projection[i], name) != 0)
                continue;
            const double x = r->x[i] - 1, y = r->y[i] - 1; /* FITS counts from 1 */
            double ra = x, dec = y, px = r->ra[i], py = r->dec[i];
            CHECK_OK(c, airy_sky_from_pixel(sky, &ra, &dec, &ra, &dec, 1));
            CHECK_OK(c, airy_sky_to_pixel(sky, &px, &py, &px, &py, 1));
            CHECK(c, fabs(ra - r->ra[i]) <= 1e-9 && fabs(dec - r->dec[i]) <= 1e-9);
            CHECK(c, fabs(px - x) <= 1e-8 && fabs(py - y) <= 1e-8);
            points++;
        }
        CHECK(c, points == 40);
    }
    airy_sky_destroy(&sky);
    airy_image_free(&image);
}

static void check_projections(struct check *c)
{
    const char *csv = check_golden(c, "astro/wcs.csv"),
               *json = csv ? check_golden(c, "astro/wcs.headers.json") : NULL;
    json_t *headers = json ? json_load_file(json, 0, NULL) : NULL, *keys;
    struct rows *rows = json ? read_rows(csv) : NULL;
    const char *name;
    json_object_foreach(rows ? headers : NULL, name, keys)
    {
        check_projection(c, name, keys, rows);
    }
    json_decref(headers);
    free(rows);
}

static void add_cards(struct check *c, airy_image *image, const char *const *cards)
{
    *image = (airy_image){.dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {1, 1}, .data = calloc(1, 1)};
    for (; *cards; cards++)
        CHECK_OK(c, airy_image_add_card(image, *cards));
}

#define SKY_AXES                                                                                   \
    "CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CRVAL1  = 10.0", "CRVAL2  = 20.0",            \
        "CRPIX1  = 3.0", "CRPIX2  = 5.0"

/* The same pixel written in four ways: turned by 90 degrees, 0.001 x 0.002 degrees. */
static void check_matrices(struct check *c)
{
    if (!check_case(c, "sky_matrices"))
        return;
    static const char *const ways[][12] = {
        {SKY_AXES, "CDELT1  = -0.001", "CDELT2  = 0.002", "CROTA2  = 90.0", NULL},
        {SKY_AXES, "CD1_1   = 0.0", "CD1_2   = -0.002", "CD2_1   = -0.001", "CD2_2   = 0.0", NULL},
        {SKY_AXES, "CDELT1  = 0.001", "CDELT2  = 0.001", "PC1_1   = 0.0", "PC1_2   = -2.0",
         "PC2_1   = -1.0", NULL},
    };
    double want[2] = {0, 0};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        airy_image image;
        airy_sky *sky = NULL;
        airy_sky_info info;
        add_cards(c, &image, ways[i]);
        if (i == 2)
            CHECK_OK(c, airy_image_add_card(&image, "PC2_2   = 0.0"));
        if (CHECK_OK(c, airy_sky_create(&sky, &image)) &&
            CHECK_OK(c, airy_sky_get_info(sky, &info))) {
            double ra = 10, dec = 20;
            CHECK_OK(c, airy_sky_from_pixel(sky, &ra, &dec, &ra, &dec, 1));
            if (i == 0) {
                want[0] = ra;
                want[1] = dec;
            }
            /* the same numbers but for the sine and cosine of 90 degrees */
            CHECK(c, fabs(ra - want[0]) < 1e-12 && fabs(dec - want[1]) < 1e-12);
            CHECK(c, fabs(info.pixel_deg2 - 2e-6) < 1e-18 && !info.has_beam);
            CHECK(c, info.assumed[0] == 0);
            CHECK(c, info.reference_px[0] == 2 && info.reference_px[1] == 4 &&
                         info.reference[0] == 10 && info.reference[1] == 20);
        }
        airy_sky_destroy(&sky);
        airy_image_free(&image);
    }
}

/* Keywords that are missing have FITS's defaults, which is told. */
static void check_assumed(struct check *c)
{
    if (!check_case(c, "sky_assumed"))
        return;
    static const struct {
        const char *cards[8], *assumed;
        double pixel_deg2;
    } rows[] = {
        {{NULL},
         "CRPIX1 = 0, CRPIX2 = 0, CDELT1 = 1 deg, CDELT2 = 1 deg, CRVAL1 = 0 deg, CRVAL2 = 0 deg",
         1},
        {{"CDELT1  = 1.0", "CDELT2  = 1.0", "CRPIX1  = 0.0", "CRPIX2  = 1.0", "CRVAL1  = 0.0"},
         "CRVAL2 = 0 deg",
         1},
        {{"CRPIX1  = 3.0", "CRPIX2  = 5.0", "CRVAL1  = 10.0", "CRVAL2  = 20.0", "CD1_1   = 0.5",
          "CD2_2   = 1.0"},
         "",
         0.5},
        {{"CRPIX1  = 3.0", "CRPIX2  = 5.0", "CRVAL1  = 10.0", "CRVAL2  = 20.0", "PC1_1   = 0.5"},
         "",
         0.5},
        {{"CRPIX1  = 3.0", "CRPIX2  = 5.0", "CRVAL1  = 10.0", "CRVAL2  = 20.0", "PC1_2   = 0.5",
          "CDELT2  = -1.0"},
         "CDELT1 = 1 deg",
         1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        airy_image image;
        airy_sky *sky = NULL;
        airy_sky_info info;
        add_cards(c, &image, rows[i].cards);
        CHECK_OK(c, airy_image_add_card(&image, "CTYPE1  = 'RA---SIN'"));
        CHECK_OK(c, airy_image_add_card(&image, "CTYPE2  = 'DEC--SIN'"));
        if (CHECK_OK(c, airy_sky_create(&sky, &image)) &&
            CHECK_OK(c, airy_sky_get_info(sky, &info)))
            CHECK(c, strcmp(info.assumed, rows[i].assumed) == 0 &&
                         info.pixel_deg2 == rows[i].pixel_deg2);
        airy_sky_destroy(&sky);
        airy_image_free(&image);
    }
}

/* A byte of a card that FITS does not allow: the cards behind it count, and the card is kept. */
static void check_odd_byte(struct check *c, uint8_t byte)
{
    static const char *const cards[] = {"SIMPLE  =                    T",
                                        "BITPIX  =                    8",
                                        "NAXIS   =                    2",
                                        "NAXIS1  =                    2",
                                        "NAXIS2  =                    2",
                                        "OBSERVER= 'AB'",
                                        "HISTORY A@B",
                                        "CTYPE1  = 'RA---SIN' / @",
                                        "CTYPE2  = 'DEC--SIN'",
                                        "CRPIX1  = 1.0",
                                        "CRPIX2  = 1.0",
                                        "CRVAL1  = 83.5",
                                        "CRVAL2  = 22.0",
                                        "CDELT1  = -0.001",
                                        "CDELT2  = 0.001",
                                        "BUNIT   = 'Jy/beam '",
                                        "BMAJ    = 0.003 /@",
                                        "BMIN    = 0.002",
                                        "END"};
    uint8_t file[2 * 2880];
    memset(file, ' ', 2880);
    memset(file + 2880, 0, 2880);
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        for (size_t k = 0; cards[i][k]; k++)
            file[80 * i + k] = cards[i][k] == '@' ? byte : (uint8_t)cards[i][k];
    const char *path = stack_spill(c, "odd.fits", file, sizeof(file)),
               *copy = stack_spill(c, "copy.fits", file, 1);
    airy_image image = {0}, again = {0};
    airy_sky *sky = NULL;
    airy_sky_info info;
    char value[AIRY_CARD_VALUE];
    if (!CHECK_OK(c, airy_image_read(&image, path)))
        return;
    if (CHECK_OK(c, airy_sky_create(&sky, &image)) && CHECK_OK(c, airy_sky_get_info(sky, &info)))
        CHECK(c, info.reference[0] == 83.5 && !info.assumed[0] && info.has_beam &&
                     info.beam_major_deg == 0.003);
    if (CHECK_OK(c, airy_image_get_card(&image, "BUNIT", value)))
        CHECK(c, strcmp(value, "Jy/beam") == 0);
    CHECK(c, airy_image_odd_cards(&image, value) == 3 &&
                 strncmp(value, "card 7, HISTORY has the byte 0x", 31) == 0);
    CHECK_OK(c, airy_image_write(&image, copy, true));
    if (CHECK_OK(c, airy_image_read(&again, copy)))
        CHECK(c, airy_image_odd_cards(&again, value) == 0 && /* written as '?' */
                     airy_image_get_card(&again, "BMIN", value) == AIRY_OK);
    airy_sky_destroy(&sky);
    airy_image_free(&image);
    airy_image_free(&again);
}

static void check_odd_bytes(struct check *c)
{
    static const uint8_t bytes[] = {0, 1, '\t', '\n', '\r', 0x1b, 0x7f, 0x80, 0xc4, 0xff};
    if (!AIRY_HAVE_FITS || !check_case(c, "sky_odd_bytes"))
        return;
    for (size_t i = 0; i < sizeof(bytes); i++)
        check_odd_byte(c, bytes[i]);
    /* A text with a quote in it goes on behind that, and a value that is no number is not used. */
    static const char *const cards[] = {"OBJECT  = 'Barnard''s star'", "CRPIX1  = 'first'", NULL};
    airy_image image;
    char value[AIRY_CARD_VALUE];
    add_cards(c, &image, cards);
    if (CHECK_OK(c, airy_image_get_card(&image, "OBJECT", value)))
        CHECK(c, strcmp(value, "Barnard's star") == 0);
    CHECK(c, airy_image_odd_cards(&image, value) == 0 && !value[0]);
    airy_image_free(&image);
}

static void check_beam(struct check *c)
{
    if (!check_case(c, "sky_beam"))
        return;
    static const char *const cards[] = {
        SKY_AXES,
        "CDELT1  = -0.001",
        "CDELT2  = 0.001",
        "HISTORY AIPS   CLEAN BMAJ=  9.0000E-03 BMIN=  9.0000E-03 BPA=   0.00",
        "HISTORY AIPS   CLEAN BMAJ=  4.0000E-03 BMIN=  3.0000E-03 BPA=  25.00",
        NULL};
    airy_image image;
    airy_sky *sky = NULL;
    airy_sky_info info = {0};
    add_cards(c, &image, cards);
    for (int keywords = 0; keywords < 2; keywords++) {
        if (CHECK_OK(c, airy_sky_create(&sky, &image)) &&
            CHECK_OK(c, airy_sky_get_info(sky, &info)))
            /* pi/(4 ln 2) = 1.1330900354567985 */
            CHECK(c, info.has_beam && info.beam_major_deg == (keywords ? 0.002 : 0.004) &&
                         info.beam_minor_deg == (keywords ? 0.001 : 0.003) &&
                         info.beam_angle_deg == (keywords ? 0 : 25) &&
                         fabs(info.beam_px / 1.1330900354567985 - (keywords ? 2 : 12)) < 1e-12);
        airy_sky_destroy(&sky);
        CHECK_OK(c, airy_image_add_card(&image, "BMAJ    = 0.002"));
        CHECK_OK(c, airy_image_add_card(&image, "BMIN    = 1D-3"));
    }
    airy_image_free(&image);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "sky_refused"))
        return;
    static const struct {
        const char *cards[6];
        airy_status status;
        const char *part;
    } bad[] = {
        {{"BUNIT   = 'K'"}, AIRY_ERR_NOT_FOUND, "no"},
        {{"CTYPE1  = 'FREQ    '", "CTYPE2  = 'STOKES  '"}, AIRY_ERR_NOT_FOUND, "no celestial"},
        {{"CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--TAN'"},
         AIRY_ERR_FORMAT,
         "CTYPE1 is 'RA---SIN', CTYPE2 is 'DEC--TAN' (wcslib"},
        {{"CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CUNIT2  = 'furlong'"},
         AIRY_ERR_FORMAT,
         "CUNIT2 is 'furlong', expected a unit of angle such as 'deg' (wcslib"},
        {{"CTYPE1  = 'RA---SIN a string that is never closed, up to the end of its card ...",
          "CTYPE2  = 'DEC--SIN'"},
         AIRY_ERR_FORMAT,
         "wcslib"},
        {{"CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CDELT1  = 0.0"},
         AIRY_ERR_FORMAT,
         "wcslib"},
        {{"CTYPE1  = 'FREQ    '", "CTYPE2  = 'RA---SIN'", "CTYPE3  = 'DEC--SIN'"},
         AIRY_ERR_UNSUPPORTED,
         "expected 1 and 2"},
    };
    airy_sky *sky = NULL;
    airy_image image;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        add_cards(c, &image, bad[i].cards);
        CHECK_FAILS(c, airy_sky_create(&sky, &image), bad[i].status, bad[i].part);
        airy_image_free(&image);
    }
    static const char *const good[] = {SKY_AXES, "CDELT1  = -1.0", "CDELT2  = 1.0", NULL};
    add_cards(c, &image, good);
    double x = 1000, y = 1000;
    CHECK_OK(c, airy_sky_create(&sky, &image));
    CHECK_OK(c, airy_sky_from_pixel(sky, &x, &y, &x, &y, 1));
    CHECK(c, x != x && y != y); /* far outside of the hemisphere */
    x = 190;
    y = -20;
    CHECK_OK(c, airy_sky_to_pixel(sky, &x, &y, &x, &y, 1));
    CHECK(c, x != x && y != y); /* the other side of the sky */
    CHECK_FAILS(c, airy_sky_to_pixel(sky, NULL, &y, &x, &y, 1), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_sky_from_pixel(NULL, &x, &y, &x, &y, 1), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_sky_get_info(sky, NULL), AIRY_ERR_PARAM, "missing");
    airy_sky_destroy(&sky);
    CHECK_FAILS(c, airy_image_add_card(&image, "END"), AIRY_ERR_PARAM, "not END");
    CHECK_FAILS(c, airy_image_add_card(&image, "\n"), AIRY_ERR_PARAM, "printable");
    CHECK_FAILS(c, airy_image_add_card(NULL, "A"), AIRY_ERR_PARAM, "missing");
    airy_image_free(&image);
    CHECK_FAILS(c, airy_sky_create(&sky, &image), AIRY_ERR_NOT_FOUND, "no FITS header");
    CHECK_FAILS(c, airy_sky_create(&sky, NULL), AIRY_ERR_PARAM, "missing");
}

/* Angles: their values to the last bit where these are exact, and what is none. */
static void check_angles(struct check *c)
{
    static const struct {
        const char *text;
        airy_angle kind;
        double degrees;
    } good[] = {
        {"83.633", AIRY_ANGLE_RIGHT_ASCENSION, 83.633},
        {"-1e1", AIRY_ANGLE_LONGITUDE, -10},
        {"17:45:00", AIRY_ANGLE_RIGHT_ASCENSION, 266.25},
        {"17:45:00", AIRY_ANGLE_LONGITUDE, 17.75},
        {"17h45m0s", AIRY_ANGLE_LONGITUDE, 266.25},
        {"1:1", AIRY_ANGLE_RIGHT_ASCENSION, 15.25},
        {"0:0:0.9", AIRY_ANGLE_RIGHT_ASCENSION, 0.9 / 240},
        {"23:59:59.999", AIRY_ANGLE_RIGHT_ASCENSION, (86340 + 59.999) / 240},
        {"266d15m", AIRY_ANGLE_RIGHT_ASCENSION, 266.25},
        {"-0:15:00", AIRY_ANGLE_LATITUDE, -0.25},
        {"-0d15m0.000s", AIRY_ANGLE_LATITUDE, -0.25},
        {"-00D00M36", AIRY_ANGLE_LATITUDE, -0.01},
        {"+22:00:52.2", AIRY_ANGLE_LATITUDE, (79200 + 52.2) / 3600},
        {"-90:00:00", AIRY_ANGLE_LATITUDE, -90},
        {"-0:00:00", AIRY_ANGLE_LATITUDE, -0.0},
        {"-5d", AIRY_ANGLE_LONGITUDE, -5},
        {"-90", AIRY_ANGLE_LATITUDE, -90},
        {"360", AIRY_ANGLE_RIGHT_ASCENSION, 360},
    };
    static const struct {
        const char *text, *part;
        airy_angle kind;
    } bad[] = {
        {"", "'': expected degrees", AIRY_ANGLE_LATITUDE},
        {"-", "expected degrees", AIRY_ANGLE_LATITUDE},
        {" 5", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5 ", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"--5:00", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5:-3:1", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5:3", "kind = 3", AIRY_ANGLE_COUNT},
        {"5::3", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5:3:", "seconds are missing", AIRY_ANGLE_LATITUDE},
        {"5:", "minutes are missing", AIRY_ANGLE_LATITUDE},
        {"5:3:1:1", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5.5:3", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5d3m1s1", "more behind the seconds", AIRY_ANGLE_LATITUDE},
        {"5d3", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"5h", "hours, expected degrees", AIRY_ANGLE_LATITUDE},
        {"5:60", "minutes are 60", AIRY_ANGLE_LATITUDE},
        {"5:0:60.5", "seconds are 60.5", AIRY_ANGLE_LATITUDE},
        {"90:00:00.1", "expected -90 to 90", AIRY_ANGLE_LATITUDE},
        {"24:00:00", "24 hours", AIRY_ANGLE_RIGHT_ASCENSION},
        {"-0:00:01", "hours, expected 0", AIRY_ANGLE_RIGHT_ASCENSION},
        {"-361d", "expected -360 to 360", AIRY_ANGLE_LONGITUDE},
        {"99999999999999999999999999999999999999999999999999:1", "expected -360",
         AIRY_ANGLE_LONGITUDE},
        {"1234567890123456789012345678901234567890123456789012345678901234", "more than 63",
         AIRY_ANGLE_LONGITUDE},
        {"\x1b[1m", "'?[1m'", AIRY_ANGLE_LONGITUDE},
        {"0x1p3", "expected degrees", AIRY_ANGLE_LONGITUDE},
        {"1e400", "expected degrees", AIRY_ANGLE_LONGITUDE},
        {"inf", "expected degrees", AIRY_ANGLE_LONGITUDE},
        {"-Infinity", "expected degrees", AIRY_ANGLE_LATITUDE},
        {"1e308", "expected -360 to 360", AIRY_ANGLE_RIGHT_ASCENSION},
        {"-360.5", "-360.5 degrees, expected -360", AIRY_ANGLE_LONGITUDE},
        {"95", "95 degrees, expected -90 to 90", AIRY_ANGLE_LATITUDE},
        {"-90.0000001", "expected -90 to 90", AIRY_ANGLE_LATITUDE},
    };
    double got = 7;
    if (!check_case(c, "angles"))
        return;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (CHECK_OK(c, airy_angle_parse(&got, good[i].text, good[i].kind)))
            CHECK(c, memcmp(&got, &good[i].degrees, sizeof(got)) == 0);
    CHECK_OK(c, airy_angle_parse(&got, "nan", AIRY_ANGLE_LATITUDE));
    CHECK(c, isnan(got));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        got = 7;
        CHECK_FAILS(c, airy_angle_parse(&got, bad[i].text, bad[i].kind), AIRY_ERR_PARAM,
                    bad[i].part);
        CHECK(c, got == 7);
    }
    CHECK_FAILS(c, airy_angle_parse(NULL, "5", AIRY_ANGLE_LATITUDE), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_angle_parse(&got, NULL, AIRY_ANGLE_LATITUDE), AIRY_ERR_PARAM, "missing");
}

void check_sky(struct check *c)
{
    if (!c->is_cpu)
        return; /* host memory only */
    check_angles(c);
    if (!AIRY_HAVE_WCS)
        return;
    check_projections(c);
    check_matrices(c);
    check_assumed(c);
    check_odd_bytes(c);
    check_beam(c);
    check_refused(c);
}
