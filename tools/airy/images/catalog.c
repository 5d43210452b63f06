#include "images/catalog.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "JY/BEAM", "mJy beam^-1": what one of it is in Jy a beam; NaN: another unit. */
static double jy_per_beam(const char *unit)
{
    static const struct {
        char prefix;
        double value;
    } prefixes[] = {{'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}, {'k', 1e3}};
    char text[AIRY_CARD_VALUE];
    size_t n = 0;
    for (const char *p = unit; *p; p++)
        if (!strchr(" .*^", *p))
            text[n++] = *p;
    text[n] = 0;
    double scale = 1;
    const char *at = text;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (*at == prefixes[i].prefix) {
            scale = prefixes[i].value;
            at++;
            break;
        }
    for (char *p = text; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return strcmp(at, "jy/beam") == 0 || strcmp(at, "jybeam-1") == 0 ? scale : (double)NAN;
}

/* Why a header has no beam. */
static void explain_beam(char why[512], const airy_image *image)
{
    static const char *const keys[2] = {"BMAJ", "BMIN"};
    char values[2][AIRY_CARD_VALUE];
    bool has[2];
    for (int k = 0; k < 2; k++)
        has[k] = airy_image_get_card(image, keys[k], values[k]) == AIRY_OK;
    if (!has[0] && !has[1])
        snprintf(why, 512, "the header has no beam (BMAJ, BMIN)");
    else if (!has[0] || !has[1])
        snprintf(why, 512, "the header has no %s, which a beam needs beside %s", keys[has[0]],
                 keys[!has[0]]);
    else
        snprintf(why, 512, "BMAJ is %s and BMIN is %s, expected two lengths above 0 degrees",
                 values[0], values[1]);
}

void catalog_open(struct catalog *catalog, const airy_image *image)
{
    memset(catalog, 0, sizeof(*catalog));
    catalog->jy = (double)NAN;
    if (airy_image_get_card(image, "BUNIT", catalog->unit) != AIRY_OK)
        catalog->unit[0] = 0;
    catalog->unit[68] = 0; /* as long as FITS has it in quotes */
    if (airy_sky_create(&catalog->sky, image) != AIRY_OK ||
        airy_sky_get_info(catalog->sky, &catalog->info) != AIRY_OK) {
        snprintf(catalog->why_not, sizeof(catalog->why_not), "%s", airy_last_error());
        return;
    }
    const double scale = jy_per_beam(catalog->unit);
    if (!catalog->info.has_beam)
        explain_beam(catalog->why_not, image);
    else if (isnan(scale))
        snprintf(catalog->why_not, sizeof(catalog->why_not),
                 catalog->unit[0] ? "the unit is '%s', expected Jy/beam"
                                  : "the header has no BUNIT%s, expected Jy/beam",
                 catalog->unit);
    else
        catalog->jy = scale / catalog->info.beam_px;
    if (scale == 1)
        memcpy(catalog->unit, "Jy/beam", sizeof("Jy/beam"));
}

void catalog_close(struct catalog *catalog)
{
    airy_sky_destroy(&catalog->sky);
    while (catalog->owns > 0)
        free(catalog->owned[--catalog->owns]);
}

void catalog_say_warnings(const struct common *common, const airy_sky_info *info)
{
    if (info->warnings[0])
        tool_say(common, "%s: check the header: %s", common->inputs.items[0], info->warnings);
}

void catalog_say_assumed(const struct common *common, const airy_sky *sky)
{
    airy_sky_info info;
    if (!sky || airy_sky_get_info(sky, &info) != AIRY_OK)
        return;
    if (info.assumed[0])
        tool_say(
            common,
            "%s: the header's coordinates lack keywords, so that FITS's defaults are taken: %s",
            common->inputs.items[0], info.assumed);
    catalog_say_warnings(common, &info);
}

static void add(struct catalog *catalog, const airy_column *column)
{
    if (catalog->columns < CATALOG_COLUMNS) /* the tables of columns are ours and shorter */
        catalog->column[catalog->columns++] = *column;
}

static void *own(struct catalog *catalog, size_t size)
{
    void *data = calloc(catalog->rows + 1, size);
    if (data)
        catalog->owned[catalog->owns++] = data;
    return data;
}

/* 1 to counts[0], 1 to counts[1], ... */
static bool add_labels(struct catalog *catalog, const size_t *counts, size_t planes)
{
    uint32_t *labels = own(catalog, sizeof(*labels));
    for (size_t plane = 0, row = 0; labels && plane < planes; plane++)
        for (size_t i = 0; i < counts[plane]; i++)
            labels[row++] = (uint32_t)(i + 1);
    add(catalog, &(airy_column){.name = "label",
                                .ucd = "meta.id;meta.main",
                                .description = "number in the label image",
                                .dtype = AIRY_DTYPE_U32,
                                .data = labels});
    return labels != NULL;
}

bool catalog_add_label(struct catalog *catalog)
{
    return add_labels(catalog, &catalog->rows, 1);
}

void catalog_add_members(struct catalog *catalog, const struct catalog_member *members,
                         size_t count, const void *structs, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        const struct catalog_member *m = &members[i];
        const bool pixels = m->unit && strcmp(m->unit, "*") == 0;
        add(catalog, &(airy_column){.name = m->name,
                                    .unit = pixels ? catalog->unit : m->unit,
                                    .ucd = m->ucd,
                                    .description = m->description,
                                    .dtype = m->dtype,
                                    .data = structs ? (const char *)structs + m->offset : NULL,
                                    .step = step});
    }
}

double catalog_value(const void *column, size_t step, size_t row)
{
    return *(const double *)(const void *)((const char *)column + row * step);
}

bool catalog_add_jy(struct catalog *catalog, const char *name, const char *description,
                    const void *flux, size_t step)
{
    double *jy = own(catalog, sizeof(*jy));
    for (size_t i = 0; jy && i < catalog->rows; i++)
        jy[i] = catalog_value(flux, step, i) * catalog->jy;
    add(catalog, &(airy_column){.name = name,
                                .unit = "Jy",
                                .ucd = "phot.flux.density",
                                .description = description,
                                .dtype = AIRY_DTYPE_F64,
                                .data = jy});
    return jy != NULL;
}

enum { EQUATORIAL, GALACTIC, ECLIPTIC, OTHER };

/* A longitude and a latitude. */
static const struct {
    const char *name, *ucd, *description;
} sky_columns[][2] = {
    [EQUATORIAL] = {{"ra", "pos.eq.ra;meta.main", "right ascension"},
                    {"dec", "pos.eq.dec;meta.main", "declination"}},
    [GALACTIC] = {{"glon", "pos.galactic.lon;meta.main", "galactic longitude"},
                  {"glat", "pos.galactic.lat;meta.main", "galactic latitude"}},
    [ECLIPTIC] = {{"elon", "pos.ecliptic.lon;meta.main", "ecliptic longitude"},
                  {"elat", "pos.ecliptic.lat;meta.main", "ecliptic latitude"}},
    [OTHER] = {{"lon", NULL, "the image's longitude"}, {"lat", NULL, "the image's latitude"}},
};

/* An RA of a frame that is none of ours is one; where there is no sky nothing else is known. */
static int kind_of_sky(const airy_sky_info *info)
{
    if (info->system == AIRY_SKY_GALACTIC)
        return GALACTIC;
    if (info->system == AIRY_SKY_ECLIPTIC)
        return ECLIPTIC;
    const char *axis = info->longitude;
    return info->system == AIRY_SKY_OTHER && *axis && strncmp(axis, "RA", 2) != 0 ? OTHER
                                                                                  : EQUATORIAL;
}

const char *catalog_sky_name(const airy_sky_info *info, int axis)
{
    return sky_columns[kind_of_sky(info)][axis].name;
}

bool catalog_is_equatorial(const airy_sky_info *info)
{
    return kind_of_sky(info) == EQUATORIAL;
}

int catalog_add_sky(struct catalog *catalog, const struct common *common, const void *x,
                    const void *y, size_t step)
{
    double *places[2] = {own(catalog, sizeof(double)), own(catalog, sizeof(double))};
    if (!places[0] || !places[1])
        return tool_fail(common, "out of memory for %zu places", catalog->rows);
    for (size_t i = 0; i < catalog->rows; i++) {
        places[0][i] = catalog->sky ? catalog_value(x, step, i) : (double)NAN;
        places[1][i] = catalog->sky ? catalog_value(y, step, i) : (double)NAN;
    }
    if (catalog->sky) {
        const airy_status status = airy_sky_from_pixel(catalog->sky, places[0], places[1],
                                                       places[0], places[1], catalog->rows);
        if (status != AIRY_OK)
            return tool_failed(common, status);
    }
    const bool framed = catalog->info.system != AIRY_SKY_OTHER;
    for (int i = 0, kind = kind_of_sky(&catalog->info); i < 2; i++)
        add(catalog, &(airy_column){.name = sky_columns[kind][i].name,
                                    .unit = "deg",
                                    .ucd = framed ? sky_columns[kind][i].ucd : NULL,
                                    .description = sky_columns[kind][i].description,
                                    .dtype = AIRY_DTYPE_F64,
                                    .data = places[i]});
    return AIRY_EXIT_OK;
}

#define MEMBER(...) CATALOG_MEMBER(airy_region, __VA_ARGS__)

static const struct catalog_member region_members[] = {
    MEMBER("npix", "pix", "meta.number;instr.pixel", "pixels", U64, count),
    MEMBER("sum", "*", "phot.flux.density", "sum of the pixels", F64, sum),
    MEMBER("mean", "*", "phot.flux.density;stat.mean", "mean of the pixels", F64, mean),
    MEMBER("peak", "*", "phot.flux.density;stat.max", "largest pixel", F64, max),
    MEMBER("peak_y", "pix", Y_UCD, "its row, from 0", U64, max_at[1]),
    MEMBER("peak_x", "pix", X_UCD, "its column, from 0", U64, max_at[2]),
    MEMBER("com_y", "pix", Y_UCD, "center of mass, from 0", F64, center[1]),
    MEMBER("com_x", "pix", X_UCD, "center of mass, from 0", F64, center[2]),
    MEMBER("ymin", "pix", Y_UCD ";stat.min", "box, ends included", U64, first[1]),
    MEMBER("ymax", "pix", Y_UCD ";stat.max", "box, ends included", U64, last[1]),
    MEMBER("xmin", "pix", X_UCD ";stat.min", "box, ends included", U64, first[2]),
    MEMBER("xmax", "pix", X_UCD ";stat.max", "box, ends included", U64, last[2]),
    MEMBER("mxx", "pix2", "src.morph.param", "second moment about the center", F64, mxx),
    MEMBER("myy", "pix2", "src.morph.param", "second moment about the center", F64, myy),
    MEMBER("mxy", "pix2", "src.morph.param", "second moment about the center", F64, mxy),
    MEMBER("a", "pix", "phys.size.smajAxis;instr.det", "semi-axis of the moments", F64, a),
    MEMBER("b", "pix", "phys.size.sminAxis;instr.det", "semi-axis of the moments", F64, b),
    MEMBER("theta", "rad", "pos.posAng;instr.det", "angle of a against x, towards y", F64, theta),
};

bool catalog_add_regions(struct catalog *catalog, const airy_region *regions)
{
    const bool good = catalog_add_label(catalog);
    catalog_add_members(catalog, region_members, sizeof(region_members) / sizeof(region_members[0]),
                        regions, sizeof(*regions));
    return good;
}

int catalog_check_name(const struct common *common, const char *option, const char *path)
{
    if (!path || airy_table_has_format(path))
        return AIRY_EXIT_OK;
    return tool_usage(common, "--%s %s: expected a name that ends in .csv, .fits, .vot or .xml",
                      option, path);
}

int catalog_write(const struct catalog *catalog, const struct common *common, const char *name,
                  const char *description, const airy_note *notes, size_t count, const char *path)
{
    const airy_table table = {.name = name,
                              .description = description,
                              .rows = catalog->rows,
                              .columns = catalog->columns,
                              .column = catalog->column,
                              .note = notes,
                              .notes = count,
                              .sky = catalog->sky ? &catalog->info : NULL};
    const airy_status status = airy_table_write(&table, path, common->force);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}
