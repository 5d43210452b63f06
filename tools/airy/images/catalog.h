/* Tables of labels and sources: their columns, with units, sky coordinates and fluxes in Jy. */
#ifndef AIRY_TOOLS_IMAGES_CATALOG_H
#define AIRY_TOOLS_IMAGES_CATALOG_H

#include "airy/label.h"
#include "airy/table.h"
#include "cli/tool.h"

enum { CATALOG_COLUMNS = 96 };

/* A column that is a member of a struct. */
struct catalog_member {
    const char *name;
    const char *unit; /* "*": that of the pixels */
    const char *ucd, *description;
    airy_dtype dtype;
    size_t offset;
};

#define CATALOG_MEMBER(type, name, unit, ucd, description, dtype, member)                          \
    {                                                                                              \
        name, unit, ucd, description, AIRY_DTYPE_##dtype, offsetof(type, member)                   \
    }
#define X_UCD "pos.cartesian.x;instr.det"
#define Y_UCD "pos.cartesian.y;instr.det"

struct catalog {
    char unit[AIRY_CARD_VALUE]; /* of the pixels, BUNIT; "" where none is known */
    airy_sky *sky;              /* NULL: the image has no sky coordinates */
    airy_sky_info info;
    double jy;         /* a flux, sum of pixels, is this many Jy; NaN: not known */
    char why_not[512]; /* why jy is not known */
    airy_column column[CATALOG_COLUMNS];
    size_t columns, rows;
    void *owned[8]; /* data of columns that no struct has */
    size_t owns;
};

/* What the image's header says. Later on rows is set, then columns are added. */
void catalog_open(struct catalog *catalog, const airy_image *image);
void catalog_close(struct catalog *catalog);
/* Keywords that the header's coordinates lack, where there are coordinates, and what holds then. */
void catalog_say_assumed(const struct common *common, const airy_sky *sky);
/* Print what is likely to be wrong in the header, if anything. */
void catalog_say_warnings(const struct common *common, const airy_sky_info *info);

/* label, 1 to rows. false: out of memory, as of the next two. */
bool catalog_add_label(struct catalog *catalog);
/* Members of rows structs of `step` bytes. */
void catalog_add_members(struct catalog *catalog, const struct catalog_member *members,
                         size_t count, const void *structs, size_t step);
/* The f64 fluxes at `flux` in Jy, empty where jy is not known. */
bool catalog_add_jy(struct catalog *catalog, const char *name, const char *description,
                    const void *flux, size_t step);
/* The longitude (axis 0) or latitude (1) of places as columns have it: ra, glat, ...; no sky: ra, dec. */
const char *catalog_sky_name(const airy_sky_info *info, int axis);
/* These are ra, dec; longitudes of others are written in degrees. */
bool catalog_is_equatorial(const airy_sky_info *info);
/* Both of the f64 pixels at x and y, empty where there is no sky. Exit code. */
int catalog_add_sky(struct catalog *catalog, const struct common *common, const void *x,
                    const void *y, size_t step);
/* The columns of `airy label`, without those of z. */
bool catalog_add_regions(struct catalog *catalog, const airy_region *regions);

/* The f64 of a row, of structs of `step` bytes. */
double catalog_value(const void *column, size_t step, size_t row);

/* A name that airy_table_write knows, of --OPTION; exit code 0 or 2. NULL is none. */
int catalog_check_name(const struct common *common, const char *option, const char *path);
/* Exit code. */
int catalog_write(const struct catalog *catalog, const struct common *common, const char *name,
                  const char *description, const airy_note *notes, size_t count, const char *path);

#endif
