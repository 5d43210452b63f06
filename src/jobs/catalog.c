#include "jobs/catalog.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

void airy_catalog_open(struct airy_catalog *catalog, const airy_image *image)
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

void airy_catalog_close(struct airy_catalog *catalog)
{
    airy_sky_destroy(&catalog->sky);
    while (catalog->owns > 0)
        free(catalog->owned[--catalog->owns]);
}

void airy_catalog_warn(const airy_job *job, const char *name, const airy_sky *sky)
{
    airy_sky_info info;
    if (!sky || airy_sky_get_info(sky, &info) != AIRY_OK)
        return;
    if (info.assumed[0])
        airy_job_message(job, AIRY_LOG_WARN,
                         "%s: the header's coordinates lack keywords, so that FITS's defaults are "
                         "taken: %s",
                         name, info.assumed);
    if (info.warnings[0])
        airy_job_message(job, AIRY_LOG_WARN, "%s: check the header: %s", name, info.warnings);
}

static void add(struct airy_catalog *catalog, const airy_column *column)
{
    if (catalog->columns < AIRY_CATALOG_COLUMNS) /* the tables of columns are ours and shorter */
        catalog->column[catalog->columns++] = *column;
}

static airy_status own(struct airy_catalog *catalog, void **data, size_t size)
{
    AIRY_TRY(airy_memory_calloc(data, catalog->rows + 1, size, "a table"));
    catalog->owned[catalog->owns++] = *data;
    return AIRY_OK;
}

/* 1 to counts[0], 1 to counts[1], ... */
static airy_status add_labels(struct airy_catalog *catalog, const size_t *counts, size_t planes)
{
    uint32_t *labels;
    AIRY_TRY(own(catalog, (void **)&labels, sizeof(*labels)));
    for (size_t plane = 0, row = 0; plane < planes; plane++)
        for (size_t i = 0; i < counts[plane]; i++)
            labels[row++] = (uint32_t)(i + 1);
    add(catalog, &(airy_column){.name = "label",
                                .ucd = "meta.id;meta.main",
                                .description = "number in the label image",
                                .dtype = AIRY_DTYPE_U32,
                                .data = labels});
    return AIRY_OK;
}

airy_status airy_catalog_add_label(struct airy_catalog *catalog)
{
    return add_labels(catalog, &catalog->rows, 1);
}

void airy_catalog_add_members(struct airy_catalog *catalog,
                              const struct airy_catalog_member *members, size_t count,
                              const void *structs, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        const struct airy_catalog_member *m = &members[i];
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

double airy_catalog_value(const void *column, size_t step, size_t row)
{
    return *(const double *)(const void *)((const char *)column + row * step);
}

airy_status airy_catalog_add_jy(struct airy_catalog *catalog, const char *name,
                                const char *description, const void *flux, size_t step)
{
    double *jy;
    AIRY_TRY(own(catalog, (void **)&jy, sizeof(*jy)));
    for (size_t i = 0; i < catalog->rows; i++)
        jy[i] = airy_catalog_value(flux, step, i) * catalog->jy;
    add(catalog, &(airy_column){.name = name,
                                .unit = "Jy",
                                .ucd = "phot.flux.density",
                                .description = description,
                                .dtype = AIRY_DTYPE_F64,
                                .data = jy});
    return AIRY_OK;
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

const char *airy_catalog_sky_name(const airy_sky_info *info, int axis)
{
    return sky_columns[kind_of_sky(info)][axis].name;
}

bool airy_catalog_is_equatorial(const airy_sky_info *info)
{
    return kind_of_sky(info) == EQUATORIAL;
}

airy_status airy_catalog_add_sky(struct airy_catalog *catalog, const void *x, const void *y,
                                 size_t step)
{
    double *places[2];
    for (int i = 0; i < 2; i++)
        AIRY_TRY(own(catalog, (void **)&places[i], sizeof(double)));
    for (size_t i = 0; i < catalog->rows; i++) {
        places[0][i] = catalog->sky ? airy_catalog_value(x, step, i) : (double)NAN;
        places[1][i] = catalog->sky ? airy_catalog_value(y, step, i) : (double)NAN;
    }
    if (catalog->sky)
        AIRY_TRY(airy_sky_from_pixel(catalog->sky, places[0], places[1], places[0], places[1],
                                     catalog->rows));
    const bool framed = catalog->info.system != AIRY_SKY_OTHER;
    for (int i = 0, kind = kind_of_sky(&catalog->info); i < 2; i++)
        add(catalog, &(airy_column){.name = sky_columns[kind][i].name,
                                    .unit = "deg",
                                    .ucd = framed ? sky_columns[kind][i].ucd : NULL,
                                    .description = sky_columns[kind][i].description,
                                    .dtype = AIRY_DTYPE_F64,
                                    .data = places[i]});
    return AIRY_OK;
}

#define MEMBER(...) AIRY_CATALOG_MEMBER(airy_region, __VA_ARGS__)

static const struct airy_catalog_member region_members[] = {
    MEMBER("npix", "pix", "meta.number;instr.pixel", "pixels", U64, count),
    MEMBER("sum", "*", "phot.flux.density", "sum of the pixels", F64, sum),
    MEMBER("mean", "*", "phot.flux.density;stat.mean", "mean of the pixels", F64, mean),
    MEMBER("peak", "*", "phot.flux.density;stat.max", "largest pixel", F64, max),
    MEMBER("peak_y", "pix", AIRY_Y_UCD, "its row, from 0", U64, max_at[1]),
    MEMBER("peak_x", "pix", AIRY_X_UCD, "its column, from 0", U64, max_at[2]),
    MEMBER("com_y", "pix", AIRY_Y_UCD, "center of mass, from 0", F64, center[1]),
    MEMBER("com_x", "pix", AIRY_X_UCD, "center of mass, from 0", F64, center[2]),
    MEMBER("ymin", "pix", AIRY_Y_UCD ";stat.min", "box, ends included", U64, first[1]),
    MEMBER("ymax", "pix", AIRY_Y_UCD ";stat.max", "box, ends included", U64, last[1]),
    MEMBER("xmin", "pix", AIRY_X_UCD ";stat.min", "box, ends included", U64, first[2]),
    MEMBER("xmax", "pix", AIRY_X_UCD ";stat.max", "box, ends included", U64, last[2]),
    MEMBER("mxx", "pix2", "src.morph.param", "second moment about the center", F64, mxx),
    MEMBER("myy", "pix2", "src.morph.param", "second moment about the center", F64, myy),
    MEMBER("mxy", "pix2", "src.morph.param", "second moment about the center", F64, mxy),
    MEMBER("a", "pix", "phys.size.smajAxis;instr.det", "semi-axis of the moments", F64, a),
    MEMBER("b", "pix", "phys.size.sminAxis;instr.det", "semi-axis of the moments", F64, b),
    MEMBER("theta", "rad", "pos.posAng;instr.det", "angle of a against x, towards y", F64, theta),
};

static const struct airy_catalog_member depth_members[] = {
    MEMBER("peak_z", "pix", AIRY_Z_UCD, "plane of the largest pixel, from 0", U64, max_at[0]),
    MEMBER("com_z", "pix", AIRY_Z_UCD, "center of mass, from 0", F64, center[0]),
    MEMBER("zmin", "pix", AIRY_Z_UCD ";stat.min", "box, ends included", U64, first[0]),
    MEMBER("zmax", "pix", AIRY_Z_UCD ";stat.max", "box, ends included", U64, last[0]),
};

airy_status airy_catalog_add_regions(struct airy_catalog *catalog, const airy_region *regions)
{
    AIRY_TRY(airy_catalog_add_label(catalog));
    airy_catalog_add_members(catalog, region_members,
                             sizeof(region_members) / sizeof(region_members[0]), regions,
                             sizeof(*regions));
    return AIRY_OK;
}

airy_status airy_catalog_add_planes(struct airy_catalog *catalog, const airy_region *regions,
                                    const size_t *counts, size_t planes, size_t first, size_t step)
{
    uint32_t *plane;
    AIRY_TRY(own(catalog, (void **)&plane, sizeof(*plane)));
    for (size_t i = 0, row = 0; i < planes; i++)
        for (size_t k = 0; k < counts[i]; k++)
            plane[row++] = (uint32_t)(first + i * step);
    add(catalog, &(airy_column){.name = "plane",
                                .ucd = AIRY_Z_UCD,
                                .description = "plane of the cube, from 0",
                                .dtype = AIRY_DTYPE_U32,
                                .data = plane});
    AIRY_TRY(add_labels(catalog, counts, planes));
    airy_catalog_add_members(catalog, region_members,
                             sizeof(region_members) / sizeof(region_members[0]), regions,
                             sizeof(*regions));
    return AIRY_OK;
}

void airy_catalog_add_depth(struct airy_catalog *catalog, const airy_region *regions)
{
    airy_catalog_add_members(catalog, depth_members,
                             sizeof(depth_members) / sizeof(depth_members[0]), regions,
                             sizeof(*regions));
}

airy_status airy_catalog_check_name(const char *parameter, const char *path)
{
    AIRY_FAIL_ON_IF(path && !airy_table_has_format(path), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s: expected a name that ends in .csv, .fits, .vot or .xml", parameter,
                    path);
    return AIRY_OK;
}

/* Memory that is handed out piece by piece; base NULL: it is only measured. */
struct arena {
    char *base;
    size_t used;
};

/* A copy; NULL where data is NULL, or memory is only measured. */
static void *place(struct arena *arena, const void *data, size_t size)
{
    char *at = arena->base && data ? arena->base + arena->used : NULL;
    if (at)
        memcpy(at, data, size);
    if (data)
        arena->used += (size + 15) / 16 * 16;
    return at;
}

static const char *place_text(struct arena *arena, const char *text)
{
    return place(arena, text, text ? strlen(text) + 1 : 0);
}

static void place_column(struct arena *arena, airy_column *column, size_t rows)
{
    const size_t size = airy_dtype_size(column->dtype), step = column->step ? column->step : size;
    const char *from = column->data;
    char *data = arena->base ? arena->base + arena->used : NULL;
    arena->used += (rows * size + 15) / 16 * 16;
    for (size_t i = 0; data && from && i < rows; i++)
        memcpy(data + i * size, from + i * step, size);
    column->data = data;
    column->step = 0;
    column->name = place_text(arena, column->name);
    column->unit = place_text(arena, column->unit);
    column->ucd = place_text(arena, column->ucd);
    column->description = place_text(arena, column->description);
}

/* The table with all that it points to in the arena. */
static airy_table place_table(struct arena *arena, const airy_table *table)
{
    airy_table copy = *table;
    airy_column *columns = place(arena, table->column, table->columns * sizeof(*columns));
    airy_note *notes = place(arena, table->note, table->notes * sizeof(*notes));
    for (size_t i = 0; i < table->columns; i++) {
        airy_column column = table->column[i];
        place_column(arena, columns ? &columns[i] : &column, table->rows);
    }
    for (size_t i = 0; i < table->notes; i++) {
        airy_note note = table->note[i], *at = notes ? &notes[i] : &note;
        at->key = place_text(arena, at->key);
        at->text = place_text(arena, at->text);
        at->comment = place_text(arena, at->comment);
    }
    copy.column = columns;
    copy.note = notes;
    copy.name = place_text(arena, table->name);
    copy.description = place_text(arena, table->description);
    copy.sky = place(arena, table->sky, sizeof(*table->sky));
    return copy;
}

airy_status airy_catalog_hand_over(airy_job *job, const char *result, const airy_table *table)
{
    struct arena arena = {.base = NULL};
    (void)place_table(&arena, table);
    AIRY_TRY(airy_memory_calloc((void **)&arena.base, arena.used + 1, 1, "a table"));
    arena.used = 0;
    const airy_table copy = place_table(&arena, table);
    airy_job_put_table(job, result, &copy, arena.base);
    return AIRY_OK;
}

airy_status airy_catalog_put(const struct airy_catalog *catalog, airy_job *job, const char *result,
                             const struct airy_catalog_output *output)
{
    const airy_table table = {.name = output->name,
                              .description = output->description,
                              .rows = catalog->rows,
                              .columns = catalog->columns,
                              .column = catalog->column,
                              .note = output->notes,
                              .notes = output->count,
                              .sky = catalog->sky ? &catalog->info : NULL};
    if (airy_job_keeps(job, result))
        AIRY_TRY(airy_catalog_hand_over(job, result, &table));
    return output->path ? airy_table_write(&table, output->path, output->force) : AIRY_OK;
}
