/* Names of sky coordinates, and what is said of a header's. */
#ifndef AIRY_TOOLS_IMAGES_CATALOG_H
#define AIRY_TOOLS_IMAGES_CATALOG_H

#include "airy/sky.h"
#include "cli/tool.h"

/* Keywords that the header's coordinates lack, where there are coordinates, and what holds then. */
void catalog_say_assumed(const struct common *common, const airy_sky *sky);
/* Print what is likely to be wrong in the header, if anything. */
void catalog_say_warnings(const struct common *common, const airy_sky_info *info);
/* The longitude (axis 0) or latitude (1) of places: ra, glat, ...; no sky: ra, dec. */
const char *catalog_sky_name(const airy_sky_info *info, int axis);
/* These are ra, dec; longitudes of others are written in degrees. */
bool catalog_is_equatorial(const airy_sky_info *info);

#endif
