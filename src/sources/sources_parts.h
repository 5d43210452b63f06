/*
 * The parts of airy_sources_find. detect.c makes planes on the host; islands.c lists the runs of
 * each island; deblend.c splits an island into objects; shape.c and excess.c measure their pixels; clean.c
 * removes objects; aperture.c measures around those that are left.
 */
#ifndef AIRY_SOURCES_SOURCES_PARTS_H
#define AIRY_SOURCES_SOURCES_PARTS_H

#include "airy/sources.h"
#include "core/objects.h"

enum { AIRY_SOURCE_LEVELS = 1024 }; /* most thresholds for deblending */

/* What airy_sources_params says, with its defaults. */
struct airy_source_plan {
    airy_sources_params p;
    size_t width, height;
    double *kernel;  /* over the sum of its absolute values; NULL: none */
    float threshold; /* where it is the same for all pixels */
    bool varies;     /* it is sigma times noise_map */
    bool has_noise;
};

/* Host memory, tight, [height][width]. */
struct airy_source_planes {
    size_t width, height;
    const float *value;      /* 0 where a pixel is left out */
    const float *filtered;   /* value where there is no filter */
    const uint8_t *good;     /* 0: left out */
    const float *noise;      /* NULL: the same for all pixels */
    float uniform_noise;     /* 0: not known */
    const float *background; /* NULL: not known */
    uint32_t *label;
};

static inline double airy_source_variance(const struct airy_source_planes *planes, size_t at)
{
    const double s = planes->noise ? planes->noise[at] : planes->uniform_noise;
    return s * s;
}

/* Planes and the memory they are in: arrays on a device, copies of them where it is not the host. */
struct airy_detection {
    struct airy_source_planes planes;
    size_t islands; /* numbered from 1 in planes.label */
    airy_array *arrays[10];
    void *copies[6];
    int array_count, copy_count;
};
airy_status airy_detect(airy_queue *queue, struct airy_detection *detection,
                        const airy_array *image, const struct airy_source_plan *plan);
void airy_detection_free(struct airy_detection *detection);

struct airy_source_run {
    uint32_t row, begin, end;
};

struct airy_islands {
    size_t count;
    struct airy_source_run *run; /* of the first island, then of the next; in raster order */
    uint32_t *first;             /* [count + 1]: where an island's runs begin */
    uint32_t *pixels;            /* [count] */
    uint32_t *by_size;           /* [count]: the largest first */
};
airy_status airy_islands_make(struct airy_islands *islands, airy_device *device,
                              const struct airy_source_planes *planes, size_t count);
void airy_islands_free(struct airy_islands *islands);

struct airy_place {
    uint32_t x, y;
};

/* A source in the making. */
struct airy_source_object {
    airy_source s;
    uint32_t island, first_x, first_y; /* the first pixel in raster order */
    double widening; /* area of the Gaussian that fits the profile over that of the moments */
    double excess;   /* the min_area-th largest of g - threshold; 0 where there are fewer pixels */
    bool removed;
};

/* Pixels of an object: place[index[i]], in raster order. */
struct airy_source_pixels {
    const struct airy_place *place;
    const uint32_t *index;
    const uint8_t *gathered; /* [of place] not 0: left over, not of the object's core */
    size_t count;
};

/*
 * Everything in o->s that its own pixels say, but for label, background and noise.
 * threshold: of the object. keep_center: x and y stay, moments are about them.
 */
void airy_source_shape(struct airy_source_object *o, const struct airy_source_planes *planes,
                       const struct airy_source_pixels *pixels, double threshold, double gain,
                       bool keep_center);
/* Room for as many as there are pixels. */
struct airy_excess_scratch {
    float *heap;
    struct airy_place *list; /* compat_sep */
};
/* o->excess. */
void airy_source_excess(struct airy_source_object *o, const struct airy_source_plan *plan,
                        const struct airy_source_planes *planes,
                        const struct airy_source_pixels *pixels,
                        const struct airy_excess_scratch *scratch);

/* A list of objects that grows. */
struct airy_source_list {
    struct airy_source_object *object;
    size_t count, room;
};
airy_status airy_source_list_add(struct airy_source_list *list,
                                 const struct airy_source_object *object);

/* Memory for islands of up to `room` pixels: 33 bytes each. */
struct airy_deblend_scratch {
    size_t room;
    struct airy_place *place;
    uint32_t *order, *next, *owner;
    int32_t *parent;
    double *flux;
    uint8_t *state;
};
airy_status airy_deblend_scratch_make(struct airy_deblend_scratch *scratch, size_t room);
void airy_deblend_scratch_free(struct airy_deblend_scratch *scratch);
/*
 * Add the objects of an island to a list; planes->label becomes their number in the island, from 1.
 * pool: for an island that is worked on alone; NULL: this thread.
 */
airy_status airy_island_split(struct airy_source_list *list, struct airy_deblend_scratch *scratch,
                              const struct airy_source_plan *plan,
                              const struct airy_source_planes *planes,
                              const struct airy_islands *islands, uint32_t island, airy_pool *pool);

/*
 * Set `removed` of what the wings of brighter objects explain, the brightest first; or by turns, as
 * SEP does.
 */
airy_status airy_sources_clean(struct airy_source_object *object, size_t count, double power,
                               const uint32_t *turn);

/* Fluxes in apertures, Kron and half-light radius, background and noise. */
void airy_source_apertures(airy_source *s, const struct airy_source_plan *plan,
                           const struct airy_source_planes *planes);

/*
 * Area of the square of side 1 about (dx, dy) that lies in the ellipse about (0, 0): [u, v] = m
 * [x, y] takes it to the unit circle. m has determinant 1 / (a b).
 */
double airy_pixel_overlap(double dx, double dy, const double m[4]);

#endif
