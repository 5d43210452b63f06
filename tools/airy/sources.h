/* The parts of `airy sources`: parameters, what was found, its catalogue and talk. */
#ifndef AIRY_TOOLS_SOURCES_H
#define AIRY_TOOLS_SOURCES_H

#include "catalog.h"
#include "device_image.h"

struct sources_params {
    struct common common;
    bool simple, has_sigma, has_frame;
    double sigma;
    size_t connectivity, min_area, frame;
    const char *catalog, *regions, *segmentation, *plot;
};

struct found {
    size_t count;
    double threshold, background, noise, expected_false; /* pixels */
    airy_region *regions;
    airy_array *labels; /* NULL: not wanted */
};

/* Where a source is and how bright, whatever the method. */
struct found_source {
    airy_ellipse ellipse;
    double flux;
    uint64_t pixels;
};
struct found_source sources_get(const struct found *found, size_t index);
/*
 * What is drawn of it: twice the moments' axes, which is the outline of an even disc, and a pixel at
 * least.
 */
airy_ellipse sources_outline(const struct found *found, size_t index);
enum { SOURCES_TOP = 10 };
/* The indices of the brightest sources, falling; how many. */
size_t sources_brightest(size_t top[SOURCES_TOP], const struct found *found);

/* Fill the catalogue. Exit code, as of the next three. */
int sources_columns(const struct sources_params *p, const struct found *found,
                    struct catalog *catalog);
int sources_write_catalog(const struct sources_params *p, const struct found *found,
                          const struct catalog *catalog);
int sources_write_regions(const struct sources_params *p, const struct found *found,
                          const struct catalog *catalog);
int sources_plot(const struct sources_params *p, const struct found *found,
                 const struct catalog *catalog, const airy_image *image);
/* The brightest ones and what was used, on stderr. */
void sources_say(const struct sources_params *p, const struct found *found,
                 const struct catalog *catalog);

#endif
