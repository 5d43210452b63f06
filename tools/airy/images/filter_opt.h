/* Options of filter, and of sources in part. */
#ifndef AIRY_TOOLS_IMAGES_FILTER_OPT_H
#define AIRY_TOOLS_IMAGES_FILTER_OPT_H

#include "airy/tile.h"
#include "images/device_image.h"

/* A border, or value=V: of the params whose border the field is. */
const char *filter_parse_border(void *field, const char *text);

/* holds_: 1 + the dtype of results, 0: any */
#define FILTER_OUTPUT_OPTION(type_, holds_)                                                        \
    {                                                                                              \
        .name = "output", .letter = 'o', .type = OPT_STRING, .offset = offsetof(type_, output),    \
        .use = OPT_WRITTEN_IMAGE, .holds = (holds_), .argument = "OUT", .help = "the result"       \
    }
#define FILTER_DTYPE_OPTION(type_)                                                                 \
    {                                                                                              \
        .name = "dtype", .type = OPT_STRING, .offset = offsetof(type_, dtype),                     \
        .argument = "float32|float64", .fallback = "float64 for float64 images, else float32",     \
        .help = "of the result and the arithmetic"                                                 \
    }
#define FILTER_PLAN_OPTION(type_)                                                                  \
    {                                                                                              \
        .name = "plan", .type = OPT_FLAG, .offset = offsetof(type_, plan),                         \
        .help = "say how the image would be cut and what memory that takes, and do nothing; -o "   \
                "is not needed"                                                                    \
    }
#define FILTER_BORDER_ARGUMENT "zero|value=V|nearest|reflect|mirror|wrap"

/* The dtype of a result that is a float, or exit code 2. */
int filter_result_dtype(const struct common *common, const char *text, airy_dtype from,
                        airy_dtype *dtype);
/* 1 to 3 numbers of at least 0 with commas between them, of --name; exit code. */
int filter_numbers(const struct common *common, const char *name, const char *text,
                   double numbers[3], int *count);
/* The axes of an image that so many numbers of --name are for: all of them for one; exit code. */
int filter_axes(const struct common *common, const char *name, const char *text, int count,
                int ndim, int *axes);
/* What all need: an output or only a plan, and a dtype that results have. Exit code. */
int filter_check(const struct common *common, const char *output, const char *dtype, bool plan);
/*
 * Gaussians of these sigmas that are too wide where they end `truncate` (0: 4) sigmas from the
 * middle; exit code.
 */
int filter_check_reach(const struct common *common, const char *name, const char *text,
                       const double *sigma, int count, double truncate);
/* --kernel FILE, all of it finite, as f64 without its outer axes of length 1; malloc'ed. Exit code. */
int filter_read_kernel(const struct common *common, const char *path, double **values, int *ndim,
                       size_t shape[3]);
/* device_image_save, and device_image_say_nan. Exit code. */
int filter_save(const struct device_image *d, const struct common *common, airy_image *result,
                const char *output, const char *advice);
/* What a plan says, as members of json, and on stderr unless it is one tile that was done. */
void filter_report_plan(const struct common *common, const airy_tile_plan *plan, bool only,
                        json_t *json);

#endif
