/* A mask of what is above a value. */
#include <math.h>

#include "jobs/image_group.h"

struct values {
    struct airy_image_values image;
    struct airy_compute_values compute;
    double above;
    struct airy_image_output output;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(above, .name = "above", .type = AIRY_PARAMETER_REAL, .argument = "T",
        .help = "sets the mask to 1 where a value is larger than T, in the unit of the image",
        .section = "Threshold"),
    ROW(output.path, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "MASK",
        .dtypes = 1u << AIRY_DTYPE_U8,
        .help = "writes the mask into this file, an image of 8 bits with 0 and 1"),
    ROW(output.force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"mask", AIRY_JOB_ARRAY, "output", "uint8, of the shape of the image: 1 above T, else 0"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the mask"},
    {"shape", AIRY_JOB_NUMBERS, NULL, "of the mask, without leading axes of length 1 of FITS"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

struct threshold {
    struct airy_job_image d;
    airy_array *mask;
};

static airy_status check(airy_job *job)
{
    AIRY_FAIL_ON_IF(!airy_job_is_set(job, "above"), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is missing", "above");
    return AIRY_OK;
}

static airy_status run(airy_job *job, void *state)
{
    struct threshold *s = state;
    struct airy_job_image *d = &s->d;
    const struct values *v = job->values;
    airy_image mask = {.data = NULL};
    *d = (struct airy_job_image){.job = job, .from = &v->image, .compute = &v->compute};
    AIRY_TRY(airy_job_image_open(d));
    AIRY_TRY(airy_job_image_check_format(d, "output", v->output.path, AIRY_DTYPE_U8));
    AIRY_TRY(airy_job_image_begin(d, 0, 1));
    AIRY_TRY(airy_array_create_uninitialized(&s->mask, job->device, AIRY_DTYPE_U8, d->image.ndim,
                                             d->image.shape));
    AIRY_TRY(airy_threshold(d->queue, s->mask, d->src, v->above));
    AIRY_TRY(airy_job_image_pull(d, &mask, s->mask));
    return airy_job_image_put(d, &mask, "mask", &v->output);
}

static void close_threshold(void *state)
{
    struct threshold *s = state;
    airy_array_destroy(&s->mask);
    airy_job_image_close(&s->d);
}

extern const struct airy_job_kind airy_job_threshold;
const struct airy_job_kind airy_job_threshold = {
    .name = "threshold",
    .summary = "a mask of the values above a threshold",
    .details = "Values larger than T become 1, all others 0, NaN too.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct threshold),
    .check = check,
    .run = run,
    .close = close_threshold,
};
