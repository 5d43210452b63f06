/* What airy calibrate and its picture share. */
#ifndef AIRY_TOOLS_CMD_CALIBRATE_H
#define AIRY_TOOLS_CMD_CALIBRATE_H

#include "airy/calibrate.h"
#include "airy/table.h"
#include "cmd/view_image.h"

struct drawn {
    struct image_frame frame;
    const airy_table *points;
    airy_calibrant calibrant;
    airy_geometry geometry;
    double beam[2]; /* row, column; NaN: not known */
};

/* The image with the rings and their points drawn over it, as PNG. Exit code. */
int calibrate_plot(const struct common *common, const char *path, const struct drawn *drawn);

#endif
