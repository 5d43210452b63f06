/* An image on its way to a device and back, for the commands that work on images. */
#ifndef AIRY_TOOLS_IMAGES_DEVICE_IMAGE_H
#define AIRY_TOOLS_IMAGES_DEVICE_IMAGE_H

#include "airy/reduce.h"
#include "images/bad_pixels.h"
#include "images/image_util.h"

struct device_image {
    airy_device *device;
    airy_queue *queue;
    uint8_t *is_bad;  /* 1 where the mask is not 0 or a dummy is; NULL: none are looked for */
    airy_image image; /* as read; leading axes of length 1 are dropped where FITS has them */
    int dropped;      /* that many; device_image_write puts them back, of a plane into FITS alone */
    struct image_plane plane; /* the one that was taken; planes 0: all of them were */
    airy_array *src, *mask;
};

/*
 * Read a plane of FILE, whatever the number of axes, open the device of --device and copy it there, with a
 * mask where there are bad pixels (NULL: the command has none). frame NULL where none was named, which a
 * cube refuses; planes are counted from 0 in the order of the file. Of a mask of each plane it is that one.
 * Exit code; close it in any case.
 */
int device_image_open_plane(struct device_image *d, const struct common *common, const char *path,
                            const struct bad_pixels *bad, const size_t *frame);
/*
 * The same without the copy: the image is taken tile by tile. Where options name bad pixels these
 * are NaN in it, for which integers become dtype, f32 or f64.
 */
int device_image_open_host(struct device_image *d, const struct common *common, const char *path,
                           const struct bad_pixels *bad, airy_dtype dtype);
/*
 * Nothing is left to refuse, and the work begins: which device it is done on is said, and the clock of
 * a comparison starts.
 */
void device_image_begin(const struct device_image *d, const struct common *common);
/*
 * tool_check_format of a result of that dtype, with the axes that it gets back when it is written.
 * Exit code.
 */
int device_image_check_format(const struct device_image *d, const struct common *common,
                              const char *output, airy_dtype dtype);
/* The result to OUTPUT, freed in any case. Exit code. */
int device_image_save(const struct device_image *d, const struct common *common, airy_image *result,
                      const char *output);
/* The array to OUTPUT. Exit code. */
int device_image_write(struct device_image *d, const struct common *common, const airy_array *array,
                       const char *output);
/*
 * Where the least or largest value is one that detectors write into gaps, and no option names bad
 * pixels: say so, and which option leaves them out. found: the first of so many, `stride` bytes from
 * one to the next.
 */
void device_image_say_gaps(const struct device_image *d, const struct common *common,
                           const struct bad_pixels *bad, const airy_statistics *found, size_t count,
                           size_t stride);
/*
 * The same of an image in memory, from its pixels, where values above `above` matter; true: it was
 * said. Another line for commands without such options, about the image at PATH.
 */
bool device_image_say_values(const struct device_image *d, const struct common *common,
                             const struct bad_pixels *bad, double above);
void device_image_say_spread(const struct device_image *d, const struct common *common,
                             const char *path);
/*
 * Where a result that goes to OUTPUT has a larger share of NaN than the image with its bad pixels:
 * how many, and what to do. advice NULL: gaps were left out, so that any are said.
 */
void device_image_say_nan(const struct device_image *d, const struct common *common,
                          const airy_image *result, const char *output, const char *advice);
/*
 * What the detector marks in a stack is there as it was written, mostly as the largest value: say
 * so where no option names bad pixels. A mask that is looked at itself has no such pixels. opened:
 * the stack, where it is; NULL: it is opened. True: there are some.
 */
bool device_image_say_mask(const struct common *common, const struct bad_pixels *given,
                           const airy_stack *opened);
void device_image_close(struct device_image *d);

/* A list of so many lengths. */
json_t *json_shape(const size_t *shape, int ndim);

/*
 * What a clip kept may be a part of noise of few values, such as low counts: nothing or one value, or
 * whole numbers of a deviation that is not large beside their steps.
 */
bool device_image_may_be_coarse(const airy_statistics *kept);
/* The message of an image whose standard deviation overflows. Exit code. */
int device_image_no_spread(const struct common *common, const char *path);

#endif
