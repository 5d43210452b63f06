/* Colour maps as short tables, linear between the points. */
#ifndef AIRY_TOOLS_PLOT_COLORMAP_H
#define AIRY_TOOLS_PLOT_COLORMAP_H

#include <stdint.h>

struct colormap {
    const char *name;
    uint8_t bad[3]; /* of masked pixels: a colour the map does not have */
    int count;
    const uint8_t (*points)[3];
};

/* NULL when unknown. */
const struct colormap *colormap_find(const char *name);
/* All names, NULL behind the last. */
const char *const *colormap_names(void);
/* value in 0..1, clipped. */
void colormap_color(const struct colormap *map, double value, uint8_t rgb[3]);

#endif
