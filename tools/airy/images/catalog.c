#include "images/catalog.h"

#include <string.h>

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

enum { EQUATORIAL, GALACTIC, ECLIPTIC, OTHER };

/* A longitude and a latitude. */
static const char *const sky_names[][2] = {[EQUATORIAL] = {"ra", "dec"},
                                           [GALACTIC] = {"glon", "glat"},
                                           [ECLIPTIC] = {"elon", "elat"},
                                           [OTHER] = {"lon", "lat"}};

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
    return sky_names[kind_of_sky(info)][axis];
}

bool catalog_is_equatorial(const airy_sky_info *info)
{
    return kind_of_sky(info) == EQUATORIAL;
}
