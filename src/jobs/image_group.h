/*
 * Jobs about one image, the planes of a cube or the frames of a stack: their parameters, the way of
 * the image to a device and back, and warnings about its values.
 *
 *   struct airy_job_image image = {.job = job, .from = &v->image, .compute = &v->compute};
 *   AIRY_TRY(airy_job_image_open(&image));
 *   AIRY_TRY(airy_job_image_begin(&image, 0, 1));
 *   ... image.queue works on image.src ...
 *   AIRY_TRY(airy_job_image_pull(&image, &result, array));
 *   AIRY_TRY(airy_job_image_put(&image, &result, "mask", &v->output));
 *   ... and airy_job_image_close(&image) in any case
 */
#ifndef AIRY_JOBS_IMAGE_GROUP_H
#define AIRY_JOBS_IMAGE_GROUP_H

#include "airy/image.h"
#include "airy/reduce.h"
#include "jobs/groups.h"

/* ---- parameters ---- */

struct airy_image_values {
    struct airy_job_source image;
    char *channel;
};
extern const struct airy_job_row airy_image_rows[];

/* Pixels that are no measurements, by a mask or by value. */
struct airy_bad_values {
    struct airy_job_source mask; /* of the image's shape or of one frame for all, not 0: bad */
    double dummy, delta_dummy;
};
extern const struct airy_job_row airy_bad_rows[];
/* False: dtype is a type of integers that has no value of the parameter dummy. */
bool airy_job_can_be_dummy(const struct airy_bad_values *bad, airy_dtype dtype);

struct airy_planes_values {
    bool each;
    size_t frames[3];
};
extern const struct airy_job_row airy_planes_rows[];

/* Whether a file or an array was set. */
static inline bool airy_source_is_given(const struct airy_job_source *source)
{
    return source->path || source->is_array;
}

/* Where an image goes. */
struct airy_image_output {
    char *path;
    bool force;
};

/* ---- an image on a device ---- */

struct airy_job_image {
    airy_job *job;
    const struct airy_image_values *from;
    const struct airy_bad_values *bad; /* NULL: the job has none */
    const struct airy_compute_values *compute;

    airy_queue *queue; /* of job->device */
    airy_image image;  /* as read, but leading axes of length 1 are dropped where FITS has them */
    bool borrowed;     /* its data are those of a caller's array, and never written */
    int dropped;       /* so many axes; airy_job_image_put puts them back */
    airy_image_plane plane; /* the one that was read; planes 0: all of them were */
    size_t folded; /* length of the first of four axes, which is one with the second; 0: none is */
    uint8_t *is_bad; /* 1 where the mask is not 0 or a dummy is; NULL: none are looked for */
    airy_array *src, *mask;
};

/* The image's path, or "image" of an array: the name that sentences have for it. */
const char *airy_job_image_name(const struct airy_job_image *d);
/* Whether parameters name bad pixels. */
bool airy_job_image_finds_bad(const struct airy_job_image *d);
/* The product of so many lengths. */
size_t airy_shape_count(const size_t *shape, int ndim);

/* Read the image, open the device, and copy the image there with a mask of its bad pixels. */
airy_status airy_job_image_open(struct airy_job_image *d);
/* The same for work on single planes: of four axes the first two become one until it is written. */
airy_status airy_job_image_open_cube(struct airy_job_image *d);
/*
 * The same of one plane, whatever the number of axes: frame NULL where none was named, which a cube
 * refuses; planes are counted from 0 in the order of the file. Of a mask of each plane it is that one.
 */
airy_status airy_job_image_open_plane(struct airy_job_image *d, const size_t *frame);
/*
 * Its steps. Read plane->number with its header where it is FITS, and leading axes of length 1 as it may
 * have them; the rest of plane is filled. A number that is none of them leaves image->data NULL. Unload
 * the image in any case. name: of the source, for sentences. And mark what the mask says of d->plane.
 */
airy_status airy_read_plane(airy_image *image, airy_image_plane *plane,
                            const struct airy_job_source *source, const char *name,
                            const char *channel);
airy_status airy_job_image_mask_plane(const struct airy_job_image *d, uint8_t *bad);
/*
 * Read the image and open the device, for those who copy the image tile by tile. Bad pixels become
 * NaN, for which integers become dtype, f32 or f64.
 */
airy_status airy_job_image_open_host(struct airy_job_image *d, airy_dtype dtype);
/*
 * The steps of these, for those who read by themselves. read fills d->image; open_stack opens the stack
 * of the image, or fails where it is none; find_bad allocates *is_bad, or leaves it NULL where no
 * parameter names bad pixels; push copies d->image and is_bad (NULL: none) to src and mask.
 */
airy_status airy_job_image_read(struct airy_job_image *d);
airy_status airy_job_image_open_stack(airy_stack **stack, const struct airy_job_image *d,
                                      bool verified);
/* Read what a parameter names, which must be set, as airy_job_load_image does; no complex numbers. */
airy_status airy_job_load_real(airy_image *image, const struct airy_job_source *source);
airy_status airy_job_image_open_queue(struct airy_job_image *d);
airy_status airy_job_image_find_bad(struct airy_job_image *d, uint8_t **is_bad);
airy_status airy_job_image_push(struct airy_job_image *d, uint8_t *is_bad);
/* Mark the pixels that have the value `dummy`, of count pixels; returns their number. */
size_t airy_job_image_mark(const struct airy_job_image *d, uint8_t *is_bad, size_t count);
/* A mask of another shape than the image. */
airy_status airy_job_image_refuse_mask(const struct airy_job_image *d, const airy_image *mask,
                                       const airy_image *image);
/* Report the progress before step `done` of so many. AIRY_ERR_CANCELLED. */
airy_status airy_job_image_begin(const struct airy_job_image *d, size_t done, size_t total);

/*
 * airy_image_check_format of a result of that dtype with its axes as they are written. parameter: the
 * one that names the output (path), which the failure is about, so that it is wrong use.
 */
airy_status airy_job_image_check_format(const struct airy_job_image *d, const char *parameter,
                                        const char *path, airy_dtype dtype);
/* Copy an array of the image's device to the host. */
airy_status airy_job_image_pull(const struct airy_job_image *d, airy_image *image,
                                const airy_array *array);
/*
 * Give an image its axes and, where it has the source's shape, its header back, write it where a
 * path is named, and hand it over where it is to be kept; of a job that has these results also `output`,
 * and dtype and shape without the axes that were given back. It is freed in any case.
 */
airy_status airy_job_image_put(const struct airy_job_image *d, airy_image *image,
                               const char *result, const struct airy_image_output *output);
/* Wait for the work, which the profile counts only then. */
airy_status airy_job_image_finish(const struct airy_job_image *d);
void airy_job_image_close(struct airy_job_image *d);

/* ---- planes ---- */

/*
 * The planes of a cube or stack, some at a time, so that of a stack no more are in memory; or an
 * image of any shape as a whole.
 */
struct airy_job_planes {
    struct airy_job_image d; /* of a run */
    const struct airy_planes_values *values;
    bool whole;                  /* all of the image in one run */
    size_t count;                /* images of a run; 0 behind the last one */
    airy_array **srcs, **masks;  /* of a run, views; masks NULL: there are none */
    size_t total, at;            /* images in all: planes, or one; those of the runs before */
    airy_stack *stack;           /* where planes come from; NULL: all of them are in `all` */
    airy_image all;              /* its shape is planes, height, width */
    bool borrowed;               /* its data are a caller's */
    size_t there;                /* planes of the source */
    size_t first, step, chosen;  /* those that are taken */
    size_t run, next;            /* planes of a run; the first of the next one, of the chosen */
    uint8_t *mask, *is_bad;      /* of mask_planes planes, the same again and again; of a run */
    size_t mask_planes, dummies; /* pixels that the parameter dummy left out so far */
};

/*
 * Open the image of r->d (job, from, bad, compute) and its device. keep: the shape and the header of
 * all planes are wanted, for which they are read as a whole.
 */
airy_status airy_job_planes_open(struct airy_job_planes *r, bool keep);
/* Copy the next run, from plane `at` on, to the device. */
airy_status airy_job_planes_next(struct airy_job_planes *r);
void airy_job_planes_close(struct airy_job_planes *r);
/* Plane i of `count` of an array, with as many dimensions: those in front have length 1. */
airy_status airy_plane_view(airy_array **view, const airy_array *array, size_t i, size_t count);

/* ---- warnings ---- */

/* A sentence about cards of a header with bytes that FITS does not allow; false: there are none. */
enum { AIRY_CARDS_TEXT = 1024 };
bool airy_cards_text(char text[AIRY_CARDS_TEXT], const char *name, const airy_image *image);
/* Warn about them; they are kept. */
void airy_job_warn_cards(const struct airy_job_image *d, const airy_image *image);
/* The parameter dummy names no value of these pixels: `count` pixels have it. */
void airy_job_warn_dummy(const struct airy_job_image *d, airy_dtype dtype, size_t count);
/*
 * Where the least or largest value is one that detectors write into gaps, and no parameter names bad
 * pixels. found: the first of so many, `stride` bytes from one to the next.
 */
void airy_job_warn_gaps(const struct airy_job_image *d, const airy_statistics *found, size_t count,
                        size_t stride);
/* The same from the pixels, where values above `above` matter. Returns whether a warning was given. */
bool airy_job_warn_values(const struct airy_job_image *d, double above);
/* The same for jobs that have no parameters for bad pixels. */
void airy_job_warn_spread(const struct airy_job_image *d);
/*
 * Pixels that the file of a stack marks as bad, where no parameter names bad pixels. opened: the
 * stack; NULL: it is opened. Returns whether there are any.
 */
bool airy_job_warn_mask(const struct airy_job_image *d, const airy_stack *opened);
/*
 * What a clip kept may be a part of noise of few values, such as low counts: nothing or one value, or
 * whole numbers of a deviation that is not large beside their steps.
 */
bool airy_clip_may_be_coarse(const airy_statistics *kept);
/* Fail because the standard deviation of the image overflows. */
airy_status airy_job_image_no_spread(const struct airy_job_image *d);
/*
 * Where a result has a larger share of NaN than the image with its bad pixels. advice NULL: gaps were
 * left out, so that any NaN has a warning.
 */
void airy_job_warn_nan(const struct airy_job_image *d, const airy_image *result, const char *output,
                       const char *advice);

/* ---- numbers in JSON ---- */

/* A real number; null where it is not finite. */
json_t *airy_json_real(double value);
/* The digits of a whole number, from 2^63 on, which jansson has no integers for, as a string. */
json_t *airy_json_unsigned(uint64_t value);
/* A text, which is read as Latin-1 where it is not UTF-8; NULL: memory is short. */
json_t *airy_json_text(const char *text);
/* {count, nan, masked, min, max, sum, mean, median, std}; nan: everything that is not finite. */
json_t *airy_statistics_json(const airy_statistics *s);

#endif
