/* airy info on FITS files. */
#ifndef AIRY_TOOLS_IMAGES_FITS_INFO_H
#define AIRY_TOOLS_IMAGES_FITS_INFO_H

#include "cli/tool.h"

/* {hdus, wcs, beam} into json, wcs and beam null where there are none. Exit code. */
int fits_info(const struct common *common, json_t *json, const char *path, const airy_image *image);
/* The HDUs, coordinates and beam of that as text. */
void fits_print(const json_t *json);

#endif
