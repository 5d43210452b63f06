/* What airy calibrate and its picture share. */
#ifndef AIRY_TOOLS_CMD_CALIBRATE_H
#define AIRY_TOOLS_CMD_CALIBRATE_H

#include "airy/calibrate.h"
#include "images/image_util.h"

/* The image with the rings and their points drawn over it, as PNG. Exit code. */
int calibrate_plot(const struct common *common, const char *path, const struct image_frame *frame,
                   const airy_calibrant *calibrant, const airy_calibration *found);

#endif
