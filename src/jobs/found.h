/* The parts of the job sources: its values, what was found, and its tables. */
#ifndef AIRY_JOBS_FOUND_H
#define AIRY_JOBS_FOUND_H

#include "airy/sources.h"
#include "jobs/catalog.h"
#include "jobs/image_group.h"

struct airy_deblending {
    int levels; /* 0: the library's default, 1: none */
    double contrast;
};

struct airy_sources_values {
    struct airy_image_values image;
    struct airy_bad_values bad;
    struct airy_compute_values compute;
    int method;                  /* 1: simple */
    double sigma, matched, gain; /* matched, px, and gain 0: none */
    size_t connectivity, min_area, frame;
    struct airy_job_tuple mesh, apertures;
    bool global_noise, clean, force;
    struct airy_deblending deblending;
    struct airy_job_source kernel;
    int compat;
    char *catalog, *regions, *segmentation, *background, *noise;
};

struct airy_found {
    airy_job *job;
    const struct airy_sources_values *v;
    struct airy_job_image d;
    bool simple, sep, has_segmentation;
    size_t mesh[2]; /* y, x; 0: the library's default */
    double *filter; /* of kernel or matched, of airy_find_filter; or NULL */
    size_t filter_shape[2];
    bool filter_as_is; /* not over the sum of its absolute values */

    size_t count;
    double threshold, background, noise, expected_false; /* pixels */
    double correlation;   /* of a matched filter: noise of the filtered image over white noise's */
    airy_region *regions; /* of the simple method */
    airy_source *sources; /* of the full one */
    airy_array *segmentation;      /* NULL: not wanted */
    airy_array *level, *noise_map; /* of the full method */
};

/* Before there is an image or a device: the filter of the parameters. */
airy_status airy_find_filter(struct airy_found *found);
/* The methods. */
airy_status airy_find_simple(struct airy_found *found);
airy_status airy_find_full(struct airy_found *found);
void airy_found_free(struct airy_found *found);

/* Fill the catalogue, hand it over, write it where a file is named, and the regions. */
airy_status airy_found_columns(const struct airy_found *found, struct airy_catalog *catalog);
airy_status airy_found_put_catalog(const struct airy_found *found,
                                   const struct airy_catalog *catalog);
airy_status airy_found_write_regions(const struct airy_found *found,
                                     const struct airy_catalog *catalog);

#endif
