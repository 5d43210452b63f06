/* Tables and regions: every byte of small ones, names that need quotes, what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/table.h"
#include "check_stack.h"

struct row {
    float f;
    double d;
    uint64_t u;
};

static const struct row rows[3] = {
    {0.1f, 0.1, 7}, {NAN, -INFINITY, UINT64_C(9007199254740993)}, {1e30f, 1.0 / 3, 0}};
static const int16_t nulls[3] = {-1, 300, -32768};
static const uint8_t bytes[3] = {0, 200, 255};
static const uint32_t words[3] = {UINT32_MAX, 1, 0};

static const airy_column columns[] = {
    {.name = "f,\"1\"",
     .unit = "Jy/beam",
     .dtype = AIRY_DTYPE_F32,
     .data = &rows[0].f,
     .step = sizeof(rows[0])},
    {.name = "ra",
     .unit = "deg",
     .ucd = "pos.eq.ra;meta.main",
     .description = "a < b & \"c\"",
     .dtype = AIRY_DTYPE_F64,
     .data = &rows[0].d,
     .step = sizeof(rows[0])},
    {.name = "u", .dtype = AIRY_DTYPE_U64, .data = &rows[0].u, .step = sizeof(rows[0])},
    {.name = "i", .dtype = AIRY_DTYPE_I16, .data = nulls, .has_null = true, .null = -1},
    {.name = "b", .dtype = AIRY_DTYPE_U8, .data = bytes},
    {.name = "w", .dtype = AIRY_DTYPE_U32, .data = words},
};
static const airy_note notes[] = {
    {.key = "SIGMA", .number = 5, .comment = "threshold"},
    {.key = "IMAGE",
     .text = "it's \xc3\xa9 <one> name that is so long that it needs more than a card of FITS"},
};
static const airy_sky_info fk5 = {.system = AIRY_SKY_FK5, .equinox = 2000};
static const airy_table table = {.name = "T",
                                 .description = "three rows",
                                 .rows = 3,
                                 .columns = 6,
                                 .column = columns,
                                 .note = notes,
                                 .notes = 2,
                                 .sky = &fk5};

/* Write the table and read the file back as text of the case. */
static char *write_and_read(struct check *c, const airy_table *t, const char *name, size_t *size)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    if (!CHECK_OK(c, airy_table_write(t, path, false)))
        return NULL;
    CHECK_FAILS(c, airy_table_write(t, path, false), AIRY_ERR_EXISTS, "there already");
    CHECK_OK(c, airy_table_write(t, path, true));
    return stack_slurp(c, path, size);
}

static bool same_text(struct check *c, const char *got, size_t size, const char *want)
{
    return CHECK(c, got && size == strlen(want) && memcmp(got, want, size) == 0);
}

static void check_csv(struct check *c)
{
    if (!check_case(c, "table_csv"))
        return;
    size_t size = 0;
    char *got = write_and_read(c, &table, "a.csv", &size);
    same_text(c, got, size,
              "\"f,\"\"1\"\"\",ra,u,i,b,w\n"
              "0.1,0.1,7,,0,4294967295\n"
              ",-inf,9007199254740993,300,200,1\n"
              "1e+30,0.3333333333333333,0,-32768,255,0\n");
    const airy_table none = {.columns = 1, .column = &columns[1]};
    got = write_and_read(c, &none, "b.csv", &size);
    same_text(c, got, size, "ra\n");
}

static void check_votable(struct check *c)
{
    if (!check_case(c, "table_votable"))
        return;
    size_t size = 0;
    char *got = write_and_read(c, &table, "a.vot", &size);
    same_text(
        c, got, size,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
        " <RESOURCE>\n"
        "  <COOSYS ID=\"sky\" system=\"eq_FK5\" equinox=\"J2000\"/>\n"
        "  <TABLE name=\"T\" nrows=\"3\">\n"
        "   <DESCRIPTION>three rows</DESCRIPTION>\n"
        "   <PARAM name=\"SIGMA\" datatype=\"double\" value=\"5\">\n"
        "    <DESCRIPTION>threshold</DESCRIPTION>\n"
        "   </PARAM>\n"
        "   <PARAM name=\"IMAGE\" datatype=\"char\" arraysize=\"*\" value=\"it's \xc3\xa9 "
        "&lt;one&gt; "
        "name that is so long that it needs more than a card of FITS\"/>\n"
        "   <FIELD name=\"f,&quot;1&quot;\" datatype=\"float\" unit=\"Jy/beam\">\n"
        "   </FIELD>\n"
        "   <FIELD name=\"ra\" datatype=\"double\" unit=\"deg\" ucd=\"pos.eq.ra;meta.main\" "
        "ref=\"sky\">\n"
        "    <DESCRIPTION>a &lt; b &amp; &quot;c&quot;</DESCRIPTION>\n"
        "   </FIELD>\n"
        "   <FIELD name=\"u\" datatype=\"long\">\n"
        "   </FIELD>\n"
        "   <FIELD name=\"i\" datatype=\"short\">\n"
        "    <VALUES null=\"-1\"/>\n"
        "   </FIELD>\n"
        "   <FIELD name=\"b\" datatype=\"unsignedByte\">\n"
        "   </FIELD>\n"
        "   <FIELD name=\"w\" datatype=\"long\">\n"
        "   </FIELD>\n"
        "   <DATA>\n"
        "    <TABLEDATA>\n"
        "     <TR><TD>0.1</TD><TD>0.1</TD><TD>7</TD><TD>-1</TD><TD>0</TD><TD>4294967295</TD></TR>\n"
        "     <TR><TD>NaN</TD><TD>-InF</TD><TD>9007199254740993</TD><TD>300</TD><TD>200</TD>"
        "<TD>1</TD></TR>\n"
        "     <TR><TD>1e+30</TD><TD>0.3333333333333333</TD><TD>0</TD><TD>-32768</TD><TD>255</TD>"
        "<TD>0</TD></TR>\n"
        "    </TABLEDATA>\n"
        "   </DATA>\n"
        "  </TABLE>\n"
        " </RESOURCE>\n"
        "</VOTABLE>\n");
    /* bytes that are no UTF-8 are Latin-1, as are those of U+FFFF; controls are blanks */
    const airy_table odd = {.description = "\xe9\xed\xa0\x80\x01|\xef\xbf\xbf\xef\xbf\xbd",
                            .columns = 1,
                            .column = &columns[1]};
    got = write_and_read(c, &odd, "b.xml", &size);
    CHECK(c, got && strstr(got, "<DESCRIPTION>&#233;&#237;&#160;&#128; "
                                "|&#239;&#191;&#191;\xef\xbf\xbd</DESCRIPTION>"));
}

/* The card of a keyword in a header of text that is searched from its start. */
static bool has_card(const char *header, size_t size, const char *card)
{
    for (size_t at = 0; at + 80 <= size; at += 80)
        if (memcmp(header + at, card, strlen(card)) == 0)
            return true;
    return false;
}

static void check_fits_table(struct check *c)
{
    if (!check_case(c, "table_fits"))
        return;
    size_t size = 0;
    char *got = write_and_read(c, &table, "a.fits", &size);
    static const char *const cards[] = {
        "XTENSION= 'BINTABLE'",
        "NAXIS1  =                   31",
        "NAXIS2  =                    3",
        "TFIELDS =                    6",
        "EXTNAME = 'T       '",
        "TTYPE1  = 'f,\"1\"   '",
        "TFORM1  = '1E      '",
        "TUNIT1  = 'Jy/beam '",
        "TFORM2  = '1D      '",
        "TUCD2   = 'pos.eq.ra;meta.main'",
        "TCOMM2  = 'a < b & \"c\"'",
        "TFORM3  = '1K      '",
        "TNULL4  =                   -1",
        "TFORM4  = '1I      '",
        "TFORM5  = '1B      '",
        "TFORM6  = '1K      '",
        "RADESYS = 'FK5     '",
        "EQUINOX =                2000.",
        "SIGMA   =                   5. / threshold",
        "IMAGE   = 'it''s ?? <one> name that is so long that it needs more than a card&'",
        "CONTINUE  ' of FITS'",
        "END     ",
    };
    /* 31 bytes a row, big-endian */
    static const uint8_t data[3 * 31] = {
        0x3d, 0xcc, 0xcc, 0xcd, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a, 0,    0,
        0,    0,    0,    0,    0,    7,    0xff, 0xff, 0,    0,    0,    0,    0,    0xff,
        0xff, 0xff, 0xff, 0x7f, 0xc0, 0,    0,    0xff, 0xf0, 0,    0,    0,    0,    0,
        0,    0,    0x20, 0,    0,    0,    0,    0,    1,    1,    0x2c, 200,  0,    0,
        0,    0,    0,    0,    0,    1,    0x71, 0x49, 0xf2, 0xca, 0x3f, 0xd5, 0x55, 0x55,
        0x55, 0x55, 0x55, 0x55, 0,    0,    0,    0,    0,    0,    0,    0,    0x80, 0,
        255,  0,    0,    0,    0,    0,    0,    0,    0,
    };
    if (!CHECK(c, got && size % 2880 == 0 && size >= 3 * 2880 &&
                      memcmp(got, "SIMPLE  =                    T", 30) == 0))
        return;
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        if (!has_card(got + 2880, size - 2 * 2880, cards[i]))
            check_failed(c, __FILE__, __LINE__, "no card %s", cards[i]);
    CHECK(c, memcmp(got + size - 2880, data, sizeof(data)) == 0);
    for (size_t i = size - 2880 + sizeof(data); i < size; i++)
        CHECK(c, got[i] == 0);
    if (AIRY_HAVE_FITS) {
        const char *path = stack_spill(c, "again.fits", got, size);
        airy_fits_hdu *hdus = NULL;
        size_t count = 0;
        if (CHECK_OK(c, airy_fits_list(&hdus, &count, path)))
            CHECK(c, count == 2 && strcmp(hdus[1].kind, "binary table") == 0 &&
                         hdus[1].shape[0] == 3 && hdus[1].shape[1] == 6);
        free(hdus);
    }
}

static void check_ellipses(struct check *c)
{
    if (!check_case(c, "regions"))
        return;
    static const airy_ellipse ellipses[] = {{0, 9.5, 3, 2, 0}, {NAN, 1, 1, 1, 0}, {4, 4, 2, 1, 1}};
    const char *folder = check_tmp(c);
    char path[4096];
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/a.reg", folder);
    CHECK_OK(c, airy_regions_write(ellipses, 3, NULL, path, false));
    const char *got = stack_slurp(c, path, &size);
    same_text(c, got, size,
              "# Region file format: DS9 version 4.1\nglobal color=green\nimage\n"
              "ellipse(1,10.5,3,2,0) # text={1}\nellipse(5,5,2,1,57.2957795) # text={3}\n");
    CHECK_FAILS(c, airy_regions_write(ellipses, 3, NULL, path, false), AIRY_ERR_EXISTS, "already");
    CHECK_FAILS(c, airy_regions_write(NULL, 3, NULL, path, false), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_regions_write(ellipses, 3, NULL, NULL, false), AIRY_ERR_PARAM, "missing");
}

/*
 * North is up and east left: 2 arc seconds a pixel along x, 1 along y, turned by ROTA. The axes
 * and angles follow by hand: an ellipse along x has a = 2 * 3", CDELT1 (cos ROTA, sin ROTA) is its
 * direction to east and north.
 */
/* Ecliptic coordinates are of the equinox of a frame, which the header names or implies. */
static void check_ecliptic(struct check *c)
{
    static const struct {
        airy_sky_info sky;
        const char *system, *radesys, *equinox;
    } cases[] = {
        {{.frame = "FK4", .equinox = 1950}, "ecl_FK4\" equinox=\"B1950\"", "FK4", "1950"},
        {{.frame = "FK4-NO-E", .equinox = (double)NAN},
         "ecl_FK4\" equinox=\"B1950\"",
         "FK4",
         "1950"},
        {{.frame = "", .equinox = 1975}, "ecl_FK4\" equinox=\"B1975\"", "FK4", "1975"},
        {{.frame = "", .equinox = 2000}, "ecl_FK5\" equinox=\"J2000\"", "FK5", "2000"},
        {{.frame = "FK5", .equinox = 1950}, "ecl_FK5\" equinox=\"J1950\"", "FK5", "1950"},
        {{.frame = "ICRS", .equinox = (double)NAN}, "ecl_FK5\" equinox=\"J2000\"", "ICRS", NULL},
        {{.frame = "GAPPT", .equinox = (double)NAN}, "ecl_FK5\" equinox=\"J2000\"", NULL, NULL},
    };
    if (!check_case(c, "table_ecliptic"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        airy_sky_info sky = cases[i].sky;
        sky.system = AIRY_SKY_ECLIPTIC;
        airy_table t = table;
        t.sky = &sky;
        char card[80], name[16];
        size_t size = 0;
        snprintf(name, sizeof(name), "%zu.vot", i);
        const char *got = write_and_read(c, &t, name, &size);
        CHECK(c, got && strstr(got, cases[i].system));
        snprintf(name, sizeof(name), "%zu.fits", i);
        got = write_and_read(c, &t, name, &size);
        snprintf(card, sizeof(card), "RADESYS = '%-8s'", cases[i].radesys ? cases[i].radesys : "");
        CHECK(c, got && has_card(got, size, card) == (cases[i].radesys != NULL));
        snprintf(card, sizeof(card), "EQUINOX = %19s.", cases[i].equinox ? cases[i].equinox : "");
        CHECK(c, got && has_card(got, size, cases[i].equinox ? card : "EQUINOX") ==
                            (cases[i].equinox != NULL));
    }
}

static void check_sky_ellipses(struct check *c)
{
    if (!AIRY_HAVE_WCS || !check_case(c, "regions_sky"))
        return;
    static const struct {
        const char *rotation, *radesys, *frame;
        double angle;
        const char *axes[2];
    } skies[] = {
        {"CROTA2  = 0.0", "RADESYS = 'ICRS'", "icrs", 0, {"RA--", "DEC-"}},
        {"CROTA2  = 30.0", "EQUINOX = 2000.0", "fk5", -30, {"RA--", "DEC-"}},
        {"CROTA2  = 0.0", "RADESYS = 'FK4'", "fk4", 0, {"RA--", "DEC-"}},
        {"CROTA2  = 0.0", "EQUINOX = 1975.0", "image", 0, {"RA--", "DEC-"}},
        {"CROTA2  = 0.0", "RADESYS = 'GAPPT'", "image", 0, {"RA--", "DEC-"}},
        {"CROTA2  = 0.0", "RADESYS = 'ICRS'", "galactic", 0, {"GLON", "GLAT"}},
        {"CROTA2  = 0.0", "RADESYS = 'FK5'", "ecliptic", 0, {"ELON", "ELAT"}},
        {"CROTA2  = 0.0", "RADESYS = 'ICRS'", "image", 0, {"HPLN", "HPLT"}},
    };
    /* the last one lies on the far side of the sphere */
    static const airy_ellipse ellipses[] = {{10, 10, 3, 2, 0}, {1e6, 0, 1, 1, 0}};
    for (size_t i = 0; i < sizeof(skies) / sizeof(skies[0]); i++) {
        char axes[2][32];
        for (int k = 0; k < 2; k++)
            snprintf(axes[k], sizeof(axes[k]), "CTYPE%d  = '%s-SIN'", k + 1, skies[i].axes[k]);
        const char *const cards[] = {axes[0],
                                     axes[1],
                                     "CRVAL1  = 120.0",
                                     "CRVAL2  = 60.0",
                                     "CRPIX1  = 11.0",
                                     "CRPIX2  = 11.0",
                                     "CDELT1  = -5.555555555555556E-4",
                                     "CDELT2  = 2.777777777777778E-4",
                                     skies[i].rotation,
                                     skies[i].radesys};
        airy_image image = {
            .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {1, 1}, .data = calloc(1, 1)};
        for (size_t k = 0; k < sizeof(cards) / sizeof(cards[0]); k++)
            CHECK_OK(c, airy_image_add_card(&image, cards[k]));
        airy_sky *sky = NULL;
        char path[4096], frame[16] = "";
        double v[5] = {0};
        size_t size = 0;
        snprintf(path, sizeof(path), "%s/a.reg", check_tmp(c));
        CHECK_OK(c, airy_sky_create(&sky, &image));
        CHECK_OK(c, airy_regions_write(ellipses, 2, sky, path, false));
        const char *got = stack_slurp(c, path, &size);
        const char *at = got ? strstr(got, "green\n") : NULL;
        const bool on_sky = strcmp(skies[i].frame, "image") != 0;
        CHECK(c,
              at && sscanf(at, "green\n%15s\n", frame) == 1 && strcmp(frame, skies[i].frame) == 0);
        at = at ? strstr(at, "ellipse(") : NULL;
        const char *form = on_sky ? "ellipse(%lf,%lf,%lf\",%lf\",%lf)"
                                  : "ellipse(%lf,%lf,%lf,%lf,%lf)";
        CHECK(c, at && sscanf(at, form, &v[0], &v[1], &v[2], &v[3], &v[4]) == 5);
        /* printed with nine digits; differences over 0.01 px are good to 1e-7 */
        const double want[5] = {on_sky ? 120 : 11, on_sky ? 60 : 11, on_sky ? 6 : 3, 2,
                                skies[i].angle};
        for (int k = 0; k < 5; k++)
            CHECK(c, fabs(v[k] - want[k]) < 1e-5);
        CHECK(c, !on_sky || (got && strstr(got, "image;ellipse(1000001,1,1,1,0) # text={2}")));
        airy_sky_destroy(&sky);
        airy_image_free(&image);
    }
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "table_refused"))
        return;
    static const uint64_t large = UINT64_MAX;
    const airy_column good = {.name = "a", .dtype = AIRY_DTYPE_U8, .data = bytes};
    const struct {
        airy_column column;
        airy_status status;
        const char *part;
    } bad[] = {
        {{.dtype = AIRY_DTYPE_U8, .data = bytes}, AIRY_ERR_PARAM, "no name"},
        {{.name = "A", .dtype = AIRY_DTYPE_U8, .data = bytes}, AIRY_ERR_PARAM, "two columns"},
        {{.name = "x\n", .dtype = AIRY_DTYPE_U8, .data = bytes}, AIRY_ERR_PARAM, "printable"},
        {{.name = "x", .unit = "\xc3\xa9", .dtype = AIRY_DTYPE_U8, .data = bytes},
         AIRY_ERR_PARAM,
         "printable"},
        {{.name = "x", .dtype = AIRY_DTYPE_U8}, AIRY_ERR_PARAM, "no data"},
        {{.name = "x", .dtype = AIRY_DTYPE_COUNT, .data = bytes}, AIRY_ERR_DTYPE, "not known"},
        {{.name = "x", .dtype = AIRY_DTYPE_U64, .data = &large}, AIRY_ERR_PARAM, "2^63"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const airy_column two[2] = {good, bad[i].column};
        const airy_table t = {.rows = 1, .columns = 2, .column = two};
        CHECK_FAILS(c, airy_table_write(&t, "none/a.csv", false), bad[i].status, bad[i].part);
    }
    airy_table t = {.rows = 1, .columns = 1, .column = &good};
    CHECK_FAILS(c, airy_table_write(&t, "none/a.csv", false), AIRY_ERR_IO, "none/a.csv");
    CHECK_FAILS(c, airy_table_write(&t, "a.txt", false), AIRY_ERR_UNSUPPORTED, "suffix");
    CHECK_FAILS(c, airy_table_write(&t, NULL, false), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_table_write(NULL, "a.csv", false), AIRY_ERR_PARAM, "missing");
    const airy_note bad_notes[] = {
        {.key = "lower"},   {.key = "TOOLONGKEY"}, {.key = NULL},     {.key = "A", .number = NAN},
        {.key = "END"},     {.key = "NAXIS"},      {.key = "NAXIS2"}, {.key = "TFORM12"},
        {.key = "COMMENT"}, {.key = "EXTNAME"},    {.key = "TTYPE1"}};
    for (size_t i = 0; i < sizeof(bad_notes) / sizeof(bad_notes[0]); i++) {
        t.note = &bad_notes[i];
        t.notes = 1;
        CHECK_FAILS(c, airy_table_write(&t, "a.csv", false), AIRY_ERR_PARAM, "note");
    }
    t.note = NULL;
    CHECK_FAILS(c, airy_table_write(&t, "a.csv", false), AIRY_ERR_PARAM, "notes are missing");
    airy_sky_info frame = {.system = AIRY_SKY_COUNT};
    t.notes = 0;
    t.sky = &frame;
    CHECK_FAILS(c, airy_table_write(&t, "a.fits", false), AIRY_ERR_PARAM, "system = ");
    frame = (airy_sky_info){.system = AIRY_SKY_FK5, .equinox = (double)INFINITY};
    CHECK_FAILS(c, airy_table_write(&t, "a.vot", false), AIRY_ERR_PARAM, "equinox = inf");
    t.sky = NULL;
    t.columns = 0;
    CHECK_FAILS(c, airy_table_write(&t, "a.csv", false), AIRY_ERR_PARAM, "0 columns");
    CHECK(c, airy_table_has_format("a.b/c.FITS") && !airy_table_has_format("a.csv/c") &&
                 !airy_table_has_format(NULL));
}

/* Plane 1, 2 of a 2 x 3 stack of planes of 1 x 2; the reference pixels follow. */
static void check_plane(struct check *c)
{
    if (!check_case(c, "image_take_plane"))
        return;
    airy_image image = {
        .dtype = AIRY_DTYPE_U8, .ndim = 4, .shape = {2, 3, 1, 2}, .data = malloc(12)};
    char value[AIRY_CARD_VALUE];
    for (int i = 0; i < 12; i++)
        ((uint8_t *)image.data)[i] = (uint8_t)i;
    CHECK_OK(c, airy_image_add_card(&image, "CRPIX1  = 1.5"));
    CHECK_OK(c, airy_image_add_card(&image, "CRPIX3  = 2.0 / old"));
    CHECK_OK(c, airy_image_add_card(&image, "CRPIX4A = 1.0D0"));
    CHECK_OK(c, airy_image_add_card(&image, "CRPIX4  = 'none'"));
    CHECK_FAILS(c, airy_image_take_plane(&image, 6), AIRY_ERR_PARAM, "6 of 6");
    CHECK_OK(c, airy_image_take_plane(&image, 5));
    CHECK(c, image.ndim == 4 && image.shape[0] == 1 && image.shape[1] == 1 && image.shape[3] == 2 &&
                 airy_image_value(&image, 0) == 10 && airy_image_value(&image, 1) == 11);
    static const char *const want[][2] = {
        {"CRPIX1", "1.5"}, {"CRPIX3", "0"}, {"CRPIX4A", "0"}, {"CRPIX4", "none"}};
    for (int i = 0; i < 4; i++)
        CHECK(c, airy_image_get_card(&image, want[i][0], value) == AIRY_OK &&
                     strcmp(value, want[i][1]) == 0);
    char path[4096];
    snprintf(path, sizeof(path), "%s/a.fits", check_tmp(c));
    CHECK_OK(c, airy_image_write(&image, path, false)); /* the header is of its shape */
    CHECK_FAILS(c, airy_image_get_card(&image, "BUNIT", value), AIRY_ERR_NOT_FOUND, "BUNIT");
    CHECK_FAILS(c, airy_image_get_card(&image, NULL, value), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_image_take_plane(NULL, 0), AIRY_ERR_PARAM, "missing");
    image.ndim = 1;
    CHECK_FAILS(c, airy_image_take_plane(&image, 0), AIRY_ERR_SHAPE, "2 or more");
    airy_image_free(&image);
}

/* Planes 1 and 3 of a stack of 4 planes of 1 x 2, in the second of four axes. */
static void check_planes(struct check *c)
{
    if (!check_case(c, "image_take_planes"))
        return;
    airy_image image = {
        .dtype = AIRY_DTYPE_U8, .ndim = 4, .shape = {1, 4, 1, 2}, .data = malloc(8)};
    char value[AIRY_CARD_VALUE];
    for (int i = 0; i < 8; i++)
        ((uint8_t *)image.data)[i] = (uint8_t)i;
    CHECK_FAILS(c, airy_image_take_planes(NULL, 0, 1, 1), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_image_take_planes(&image, 4, 1, 1), AIRY_ERR_PARAM, "first = 4");
    CHECK_FAILS(c, airy_image_take_planes(&image, 1, 3, 2), AIRY_ERR_PARAM, "count = 3");
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, 0, 1), AIRY_ERR_PARAM, "count = 0");
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, 1, 0), AIRY_ERR_PARAM, "step = 0");
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, SIZE_MAX, SIZE_MAX), AIRY_ERR_PARAM, "of 4");
    image.shape[0] = image.shape[1] = 2;
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, 1, 1), AIRY_ERR_SHAPE, "2 x 2");
    image.shape[0] = 1;
    image.shape[1] = 4;
    CHECK_OK(c, airy_image_add_card(&image, "CRVAL3  = 5.0"));
    CHECK_FAILS(c, airy_image_take_planes(&image, 1, 2, 1), AIRY_ERR_UNSUPPORTED, "axis 3");
    CHECK_OK(c, airy_image_add_card(&image, "CRPIX3  = 3.0"));
    CHECK_FAILS(c, airy_image_take_planes(&image, 1, 2, 2), AIRY_ERR_UNSUPPORTED, "axis 3");
    static const char *const cards[] = {"CDELT3  = 1.5D1", "CD1_3A  = 2", "CRPIX3A = 2",
                                        "CRPIX4  = 9", "PC3_3   = 2"};
    for (int i = 0; i < 5; i++)
        CHECK_OK(c, airy_image_add_card(&image, cards[i]));
    CHECK_OK(c, airy_image_take_planes(&image, 1, 2, 2));
    CHECK(c, image.ndim == 4 && image.shape[1] == 2 && image.shape[3] == 2 &&
                 memcmp(image.data, (uint8_t[4]){2, 3, 6, 7}, 4) == 0);
    static const char *const want[][2] = {{"CRPIX3", "1.5"}, {"CDELT3", "30"}, {"CD1_3A", "4"},
                                          {"CRPIX3A", "1"},  {"CRPIX4", "9"},  {"PC3_3", "2"}};
    for (int i = 0; i < 6; i++)
        CHECK(c, airy_image_get_card(&image, want[i][0], value) == AIRY_OK &&
                     strcmp(value, want[i][1]) == 0);
    CHECK_OK(c, airy_image_add_card(&image, "PC2_3   = 0.5"));
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, 1, 2), AIRY_ERR_UNSUPPORTED, "cannot follow");
    CHECK_OK(c, airy_image_take_planes(&image, 1, 1, 1));
    image.ndim = 2;
    CHECK_FAILS(c, airy_image_take_planes(&image, 0, 1, 1), AIRY_ERR_SHAPE, "3 or more");
    airy_image_free(&image);
}

void check_tables(struct check *c)
{
    if (!c->is_cpu)
        return; /* host memory only */
    check_csv(c);
    check_votable(c);
    check_fits_table(c);
    check_ellipses(c);
    check_ecliptic(c);
    check_sky_ellipses(c);
    check_refused(c);
    check_plane(c);
    check_planes(c);
}
