/* Tables of labels and sources: their columns, with units, sky coordinates and fluxes in Jy. */
#ifndef AIRY_JOBS_CATALOG_H
#define AIRY_JOBS_CATALOG_H

#include "airy/label.h"
#include "airy/table.h"
#include "jobs/job.h"

enum { AIRY_CATALOG_COLUMNS = 96 };

/* A column that is a member of a struct. */
struct airy_catalog_member {
    const char *name;
    const char *unit; /* "*": that of the pixels */
    const char *ucd, *description;
    airy_dtype dtype;
    size_t offset;
};

#define AIRY_CATALOG_MEMBER(type, name, unit, ucd, description, dtype, member)                     \
    {                                                                                              \
        name, unit, ucd, description, AIRY_DTYPE_##dtype, offsetof(type, member)                   \
    }
#define AIRY_X_UCD "pos.cartesian.x;instr.det"
#define AIRY_Y_UCD "pos.cartesian.y;instr.det"
#define AIRY_Z_UCD "pos.cartesian.z;instr.det"

struct airy_catalog {
    char unit[AIRY_CARD_VALUE]; /* of the pixels, BUNIT; "" where none is known */
    airy_sky *sky;              /* NULL: the image has no sky coordinates */
    airy_sky_info info;
    double jy;         /* a flux, sum of pixels, is this many Jy; NaN: not known */
    char why_not[512]; /* why jy is not known */
    airy_column column[AIRY_CATALOG_COLUMNS];
    size_t columns, rows;
    void *owned[8]; /* data of columns that no struct has */
    size_t owns;
};

/* What the image's header says. Later on rows is set, then columns are added. */
void airy_catalog_open(struct airy_catalog *catalog, const airy_image *image);
void airy_catalog_close(struct airy_catalog *catalog);
/*
 * Warn about keywords that the header's coordinates lack, where there are coordinates, and about what is
 * likely to be wrong in the header. name: of the image.
 */
void airy_catalog_warn(const airy_job *job, const char *name, const airy_sky *sky);

/* Add label, 1 to rows. */
airy_status airy_catalog_add_label(struct airy_catalog *catalog);
/* Add members of rows structs of `step` bytes. */
void airy_catalog_add_members(struct airy_catalog *catalog,
                              const struct airy_catalog_member *members, size_t count,
                              const void *structs, size_t step);
/* Add the f64 fluxes at `flux` in Jy, empty where jy is not known. */
airy_status airy_catalog_add_jy(struct airy_catalog *catalog, const char *name,
                                const char *description, const void *flux, size_t step);
/* The longitude (axis 0) or latitude (1) of places as columns have it: ra, glat, ...; no sky: ra, dec. */
const char *airy_catalog_sky_name(const airy_sky_info *info, int axis);
/* These are ra, dec; longitudes of others are written in degrees. */
bool airy_catalog_is_equatorial(const airy_sky_info *info);
/* Add both of the f64 pixels at x and y, empty where there is no sky. */
airy_status airy_catalog_add_sky(struct airy_catalog *catalog, const void *x, const void *y,
                                 size_t step);
/* Add the columns of labels, without those of z. */
airy_status airy_catalog_add_regions(struct airy_catalog *catalog, const airy_region *regions);
/* The same of many planes first, first + step, ...; counts: regions of each. */
airy_status airy_catalog_add_planes(struct airy_catalog *catalog, const airy_region *regions,
                                    const size_t *counts, size_t planes, size_t first, size_t step);
void airy_catalog_add_depth(struct airy_catalog *catalog, const airy_region *regions);

/* The f64 of a row, of structs of `step` bytes. */
double airy_catalog_value(const void *column, size_t step, size_t row);

/* A name that airy_table_write knows, which a parameter has; NULL is none. */
airy_status airy_catalog_check_name(const char *parameter, const char *path);

struct airy_catalog_output {
    const char *path; /* NULL: no file */
    bool force;
    const char *name, *description;
    const airy_note *notes;
    size_t count;
};
/* Hand over a copy of a table, with all that it points to. */
airy_status airy_catalog_hand_over(airy_job *job, const char *result, const airy_table *table);
/* Write the table where a path is named, and hand it over where it is to be kept. */
airy_status airy_catalog_put(const struct airy_catalog *catalog, airy_job *job, const char *result,
                             const struct airy_catalog_output *output);

#endif
