/**
 * Connected components of an image or a volume (labels), and a table of their measures: pixels, sum,
 * mean, bounding box, centre, shape. A complete program, which prints two rows:
 *
 *   #include <airy/label.h>
 *   #include <stdio.h>
 *
 *   int main(void)
 *   {
 *       const float image[3 * 5] = {0, 9, 8, 0, 0,
 *                                   0, 7, 0, 0, 0,
 *                                   0, 0, 0, 0, 6};
 *       const size_t shape[2] = {3, 5}; // height, width
 *       const airy_label_params params = {.connectivity = 8, .has_above = true, .above = 5};
 *       airy_device *device = NULL;
 *       airy_queue *queue = NULL;
 *       airy_array *src = NULL;
 *       airy_region *regions = NULL;
 *       size_t count = 0;
 *       const bool failed =
 *           airy_device_create(&device, "cpu", NULL) || airy_queue_create(&queue, device) ||
 *           airy_array_create_from(&src, queue, AIRY_DTYPE_F32, 2, shape, image) ||
 *           airy_label(queue, NULL, src, &params, &count, &regions);
 *       if (failed)
 *           fprintf(stderr, "%s\n", airy_last_error());
 *       for (size_t i = 0; i < count; i++)
 *           printf("label %zu: %llu pixels, sum %g, center y %.2f, x %.2f\n", i + 1,
 *                  (unsigned long long)regions[i].count, regions[i].sum, regions[i].center[1],
 *                  regions[i].center[2]);
 *       airy_regions_free(regions);
 *       airy_array_destroy(&src);
 *       airy_queue_destroy(&queue);
 *       airy_device_destroy(&device);
 *       return failed;
 *   }
 *
 * An image of a file is read by airy_image_read_real (image.h); its dtype, ndim, shape and data are
 * arguments of airy_array_create_from. Statistics for a threshold are in reduce.h.
 */
#ifndef AIRY_LABEL_H
#define AIRY_LABEL_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What the pixels of a label are like. Places and coordinates are z, y, x of pixel centres, from 0;
 * in 2-D z is 0. I: the pixels' values.
 */
typedef struct airy_region {
    uint64_t count; /**< pixels */
    double sum, mean, min, max;
    uint64_t min_at[3], max_at[3]; /**< the first of them in raster order */
    uint64_t first[3], last[3];    /**< bounding box, ends included */
    double center[3];              /**< mean place, weighted by I; NaN where the sum of I is 0 */
    double centroid[3];            /**< mean place, all pixels alike */
    double mxx, myy, mxy;          /**< second moments about center, weighted by I */
    /** semi-axes: roots of the eigenvalues of the moments; where pixels of both signs make one of
        these negative there is no ellipse, and a, b and theta are NaN */
    double a, b;
    double theta; /**< of the major axis against x, towards y, rad, in (-pi/2, pi/2] */
} airy_region;

/** Zeroed is the default. */
typedef struct airy_label_params {
    int connectivity; /**< neighbours: 4 or 8 in 2-D; 6, 18 or 26 in 3-D; 0: the smallest. 1-D: 2 */
    bool has_above;
    double above; /**< foreground is src > above; without it src != 0; NaN never is */
    uint64_t min_count,
        max_count; /**< components of fewer or more pixels get no label; max 0: any */
} airy_label_params;

/**
 * Give the labels 1, 2, ... in the raster order of the components' first pixels, 0 for background:
 * the same as scipy.ndimage.label, which takes NaN as foreground: here NaN is background. Pixels
 * that are not to count, whatever they are: label the u8 image of airy_threshold or AIRY_NOT_EQUAL
 * in which they are 0, and take measures by airy_measure.
 *
 * @param labels   out, u32 or i32, shape of src, not overlapping it; NULL: not wanted
 * @param src      any dtype, 1 to 3 dimensions, fewer than 2^31 elements. Read as f64: 64-bit
 *                 integers beyond 2^53 as the nearest one, for `above` too
 * @param params   NULL for defaults
 * @param count    out, labels
 * @param regions  out, *count of them, label 1 first; free with airy_regions_free. NULL: not wanted
 *
 * The call waits for its work. Exact: labels, counts, boxes, places, extremes. Accuracy: sums 1e-12
 * of the sum of |I|, centers 1e-9 px where no pixel is negative, moments 1e-9 of the squared size
 * of the box. The bits do not depend on threads.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED.
 * Source: union-find over runs of foreground; K. Wu, E. Otoo, K. Suzuki, Pattern Anal. Applic. 12
 *         (2009) 117.
 */
AIRY_API airy_status airy_label(airy_queue *queue, airy_array *labels, const airy_array *src,
                                const airy_label_params *params, size_t *count,
                                airy_region **regions);

/**
 * Measure the labels 1 to count of a label image.
 * @param regions  out, host, count of them; a label without pixels has count 0 and NaN
 * @param labels   u32 or i32, shape of src; 0, negative ones and those above count are left out
 * Accuracy and errors: as airy_label.
 */
AIRY_API airy_status airy_measure(airy_queue *queue, airy_region *regions, size_t count,
                                  const airy_array *labels, const airy_array *src);

/**
 * Label many images in one call, for example the planes of a cube: counts[i], regions[i] and
 * labels[i] have the bits that airy_label gives for srcs[i]. Images that lie at equal distances in
 * one array, as planes do, with labels that lie so in another array, are done side by side on a
 * device, and the call waits for some of these together; all others are done one after the other.
 *
 * @param labels   out, images of them, each as airy_label has it; NULL: not wanted
 * @param srcs     images of them
 * @param counts   out, images of them
 * @param regions  out, images of them, each to be freed with airy_regions_free. NULL: not wanted
 *
 * Errors: as airy_label; nothing is written then but labels.
 */
AIRY_API airy_status airy_label_each(airy_queue *queue, airy_array *const *labels,
                                     const airy_array *const *srcs, size_t images,
                                     const airy_label_params *params, size_t *counts,
                                     airy_region **regions);

/**
 * Measure the regions of many images in one call, as airy_measure does for one.
 * @param regions  out, images of them, of which each has room for its counts[i]
 */
AIRY_API airy_status airy_measure_each(airy_queue *queue, airy_region *const *regions,
                                       const size_t *counts, const airy_array *const *labels,
                                       const airy_array *const *srcs, size_t images);
AIRY_API void airy_regions_free(airy_region *regions);

#ifdef __cplusplus
}
#endif
#endif
