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
    int dropped;      /* that many; device_image_save puts them back */
};

/*
 * Read FILE and open the device of --device: the image is taken tile by tile. Where options name bad
 * pixels (NULL: the command has none) these are NaN in it, for which integers become dtype, f32 or f64.
 * Exit code; close it in any case.
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
/*
 * Where pixels above `above` have values that detectors write into gaps, and no option names bad
 * pixels: say so, and which option leaves them out; true: it was said. Another line for commands without
 * such options, about the image at PATH.
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

#endif
