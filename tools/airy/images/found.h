/* The parts of `airy sources`: parameters, what was found, its catalogue, picture and talk. */
#ifndef AIRY_TOOLS_IMAGES_FOUND_H
#define AIRY_TOOLS_IMAGES_FOUND_H

#include "airy/sources.h"
#include "images/catalog.h"
#include "images/device_image.h"

struct deblending {
    int levels; /* 0: the library's default, 1: none */
    double contrast;
};

struct apertures {
    double radius[AIRY_SOURCE_APERTURES]; /* px */
    int count;
};

struct sources_params {
    struct common common;
    struct bad_pixels bad;
    bool simple, has_sigma, has_frame, global_noise, clean, sep;
    double sigma, fwhm, gain; /* fwhm, px, and gain 0: none */
    size_t connectivity, min_area, frame;
    size_t mesh[2]; /* y, x; 0: the library's default */
    struct deblending deblending;
    struct apertures apertures;
    const char *kernel, *catalog, *regions, *segmentation, *plot, *background, *noise;
    double *filter; /* of --kernel or --matched, of find_filter; or NULL */
    size_t filter_shape[2];
    bool filter_as_is; /* not over the sum of its absolute values */
};
BAD_PIXELS_FIT(struct sources_params);

struct found {
    size_t count;
    double threshold, background, noise, expected_false; /* pixels */
    double correlation;   /* of a matched filter: noise of the filtered image over white noise's */
    airy_region *regions; /* of the simple method */
    airy_source *sources; /* of the full one */
    airy_array *segmentation;      /* NULL: not wanted */
    airy_array *level, *noise_map; /* of the full method */
};

/* Before there is an image or a device: the filter of the options, malloc'ed. Exit code. */
int find_filter(struct sources_params *p);
/* The methods. Exit code; found_free in any case. */
int find_simple(const struct sources_params *p, struct device_image *d, struct found *found);
int find_full(const struct sources_params *p, struct device_image *d, struct found *found);
void found_free(struct found *found);

/* Where a source is and how bright, whatever the method. */
struct found_source {
    airy_ellipse ellipse;
    double flux;
    uint64_t pixels;
};
struct found_source found_get(const struct found *found, size_t index);
/*
 * What is drawn of it: twice the moments' axes, which is the outline of an even disc, and a pixel at
 * least.
 */
airy_ellipse found_outline(const struct found *found, size_t index);
enum { FOUND_TOP = 10 };
/* The indices of the brightest sources, falling; how many. */
size_t found_brightest(size_t top[FOUND_TOP], const struct found *found);

/* Fill the catalogue. Exit code, as of the next three. */
int found_columns(const struct sources_params *p, const struct found *found,
                  struct catalog *catalog);
int found_write_catalog(const struct sources_params *p, const struct found *found,
                        const struct catalog *catalog);
int found_write_regions(const struct sources_params *p, const struct found *found,
                        const struct catalog *catalog);
int found_plot(const struct sources_params *p, const struct found *found,
               const struct catalog *catalog, const airy_image *image);
/* The brightest ones and what was used, on stderr. */
void found_say(const struct sources_params *p, const struct found *found,
               const struct catalog *catalog);

#endif
