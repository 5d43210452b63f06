/* Parameters and steps that jobs of filters share. */
#ifndef AIRY_JOBS_FILTER_GROUP_H
#define AIRY_JOBS_FILTER_GROUP_H

#include "airy/tile.h"
#include "jobs/image_group.h"

/* What lies outside of the image: the text of a RECORD is "zero" ... "wrap" or "value=V". */
struct airy_border_value {
    airy_border border;
    double value;
};
extern const struct airy_job_record airy_border_record;
#define AIRY_BORDER_ROW(values, member, usual)                                                     \
    AIRY_JOB_RECORD_ROW(values, member, &airy_border_record, .name = "border",                     \
                        .type = AIRY_PARAMETER_RECORD,                                             \
                        .argument = "zero|value=V|nearest|reflect|mirror|wrap",                    \
                        .fallback = (usual), .help = "selects the values outside of the image")
#define AIRY_NORMALIZE_ROW(values, member)                                                         \
    AIRY_JOB_ROW(values, member, .name = "normalize", .type = AIRY_PARAMETER_FLAG,                 \
                 .help = "leaves out bad pixels and what is not finite: the result is the sum "    \
                         "of the others over their weights, NaN where these are less than "        \
                         "5e-20 of the kernel's sum (7e-155 of float64); of border zero and "      \
                         "value=V what lies outside are good pixels of that value")

/* The result. */
struct airy_filter_values {
    airy_dtype dtype;
    bool plan;
    struct airy_image_output output;
};
extern const char *const airy_filter_dtypes[]; /* NULL behind the last */
/* Rows of a filter that gives floats, and without dtype of one that gives any. */
extern const struct airy_job_row airy_filter_rows[], airy_filter_any_rows[];
/* The results of the plan, for tables of results. */
#define AIRY_PLAN_RESULTS                                                                          \
    {"shape", AIRY_JOB_NUMBERS, NULL, "lengths of the result's axes"},                             \
        {"tiles", AIRY_JOB_NUMBER, NULL, "parts that the image was cut into"},                     \
        {"tile", AIRY_JOB_NUMBERS, NULL, "lengths of the axes of a part's result"},                \
        {"device_bytes", AIRY_JOB_NUMBER, NULL, "memory of the device"},                           \
    {                                                                                              \
        "copied_bytes", AIRY_JOB_NUMBER, NULL, "bytes that were copied to the device"              \
    }

/* The dtype of the result of an image of `from`. */
airy_dtype airy_filter_dtype(const airy_job *job, const struct airy_filter_values *values,
                             airy_dtype from);
/* Open the image with its bad pixels as NaN, for a filter that takes it tile by tile. */
airy_status airy_filter_open(struct airy_job_image *d, const struct airy_filter_values *values);
/*
 * The axes of an image of ndim dimensions that these numbers are for: all for one number. A failure
 * is about the parameter.
 */
airy_status airy_filter_axes(int *axes, const char *parameter, const struct airy_job_tuple *numbers,
                             int ndim);
/* Gaussians of these sigmas end no farther than a kernel may reach. */
airy_status airy_filter_check_reach(const char *parameter, const struct airy_job_tuple *sigma,
                                    double truncate);
/*
 * Hand over what the plan says. The summary becomes `sentence` (NULL: it stays), and of several tiles
 * or where the job made only the plan, what that says.
 */
void airy_filter_put_plan(airy_job *job, const airy_tile_plan *plan, bool only,
                          const char *sentence);
/* Write the result, which is freed in any case, and warn of NaN: airy_job_warn_nan. */
airy_status airy_filter_put(const struct airy_job_image *d, airy_image *result,
                            const struct airy_filter_values *values, const char *advice);

#endif
