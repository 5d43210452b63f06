/* Airy's own rules against the double-precision reference of the same definitions. */
#include "airy/integrate.h"
#include "golden.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RADIAL, INTENSITY, SIGNAL, NORMALIZATION, COUNT, VARIANCE, NORMALIZATION2, FIELDS };

static bool run_image(struct golden *g, const airy_integrator *it, airy_dtype dtype,
                      const size_t shape[2], const void *image, double *sums)
{
    const size_t bins = airy_integrator_bins(it), frames[3] = {1, shape[0], shape[1]};
    const size_t sums_shape[3] = {1, AIRY_SUM_PLANES, bins},
                 stats_shape[2] = {1, sizeof(airy_frame_stats)};
    airy_array *d_sums = NULL, *d_stats = NULL, *d_frames = NULL;
    const bool good =
        golden_ok(g, "sums",
                  airy_array_create(&d_sums, g->device, AIRY_DTYPE_F64, 3, sums_shape)) &&
        golden_ok(g, "stats",
                  airy_array_create(&d_stats, g->device, AIRY_DTYPE_U8, 2, stats_shape)) &&
        golden_ok(g, "frames",
                  airy_array_create_from(&d_frames, g->queue, dtype, 3, frames, image)) &&
        golden_ok(g, "airy_integrate", airy_integrate(g->queue, d_sums, d_stats, it, d_frames)) &&
        golden_ok(g, "airy_array_pull",
                  airy_array_pull(g->queue, sums, bins * AIRY_SUM_PLANES * sizeof *sums, d_sums)) &&
        golden_ok(g, "airy_queue_finish", airy_queue_finish(g->queue));
    airy_array_destroy(&d_frames);
    airy_array_destroy(&d_stats);
    airy_array_destroy(&d_sums);
    return good;
}

/*
 * Coefficients and normalizations are rounded to float once (2^-24 each), all terms of a sum are
 * positive, everything else is double: 2^-23 for sums, 2^-22 for sums of squares; without
 * splitting coefficients are 1. `skip`: the first bins, where the reference shares out the pixel
 * that holds the beam by the area of its corners' quadrilateral, and Airy by the area around the
 * beam.
 */
static void compare(struct golden *g, const double *sums, const double *radial, const double *want,
                    size_t n, size_t skip)
{
    static const struct {
        const char *what;
        int field, sum;
        double rel;
    } planes[] = {{"sum_signal", SIGNAL, AIRY_SUM_SIGNAL, 0x1p-23},
                  {"sum_normalization", NORMALIZATION, AIRY_SUM_NORMALIZATION, 0x1p-23},
                  {"count", COUNT, AIRY_SUM_COUNT_PLANE, 0x1p-23},
                  {"sum_variance", VARIANCE, AIRY_SUM_VARIANCE, 0x1p-22},
                  {"sum_normalization2", NORMALIZATION2, AIRY_SUM_NORMALIZATION2, 0x1p-22}};
    golden_compare(g, "radial", radial, want + RADIAL * n, n, (struct golden_tol){.of_max = 1e-13},
                   NULL);
    for (size_t k = 0; k < sizeof planes / sizeof *planes; k++)
        golden_compare(g, planes[k].what, sums + (size_t)planes[k].sum * n + skip,
                       want + (size_t)planes[k].field * n + skip, n - skip,
                       (struct golden_tol){.rel = planes[k].rel, .of_max = 1e-12}, NULL);
}

static void run_exact(struct golden *g, const json_t *group, const char *name, airy_split split)
{
    char path[64];
    size_t shape[2] = {0, 0}, image_shape[2];
    airy_dtype dtype;
    airy_geometry geometry;
    snprintf(path, sizeof path, "%s/%s", name, airy_split_name(split));
    const hid_t reference = golden_open(g, "ref64.h5");
    const hid_t file = golden_open(g, json_string_value(json_object_get(group, "file")));
    double *want = reference >= 0 ? golden_doubles(g, reference, path, shape) : NULL;
    void *image = file >= 0 ? golden_pixels(g, file, "inputs/image", &dtype, image_shape) : NULL;
    if (want && image && shape[0] == FIELDS && golden_geometry(g, &geometry, group)) {
        const size_t n = shape[1];
        const double delta = (want[n - 1] - want[0]) / (double)(n - 1);
        /*
         * The edges that the reference used, a few units in the last place wider so that the
         * outermost pixels stay inside.
         */
        const double slack = 8 * DBL_EPSILON * fabs(want[n - 1]);
        const airy_integrator_params params = {
            .bins = n,
            .split = split,
            .error_model = AIRY_ERROR_MODEL_POISSON,
            .has_radial_range = true,
            .radial_range = {want[0] - delta / 2 - slack, want[n - 1] + delta / 2 + slack}};
        airy_integrator *it = NULL;
        double *sums = calloc(n * AIRY_SUM_PLANES, sizeof *sums);
        if (sums &&
            golden_ok(g, "airy_integrator_create",
                      airy_integrator_create(&it, g->device, &geometry, &params)) &&
            run_image(g, it, dtype, image_shape, image, sums))
            compare(g, sums, airy_integrator_radial(it), want, n,
                    split == AIRY_SPLIT_FULL && strcmp(name, "rect") == 0 ? 2 : 0);
        free(sums);
        airy_integrator_destroy(&it);
    } else {
        golden_complain(g, "cannot read %s", path);
    }
    free(want);
    free(image);
    if (file >= 0)
        H5Fclose(file);
    if (reference >= 0)
        H5Fclose(reference);
}

void golden_exact(struct golden *g, const json_t *index)
{
    static const char *const names[] = {"rect", "p100k"};
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(index, "groups"), i, group)
    {
        const char *name = json_string_value(json_object_get(group, "name"));
        for (size_t k = 0; k < 2; k++)
            for (int split = 0; split <= AIRY_SPLIT_NO && strcmp(name, names[k]) == 0; split++) {
                char text[64];
                snprintf(text, sizeof text, "%s/exact.%s", name,
                         airy_split_name((airy_split)split));
                if (!golden_begin(g, text))
                    continue;
                run_exact(g, group, name, (airy_split)split);
                golden_end(g);
            }
    }
}
