/* One image of all frames of a stack, or the mask of its hot pixels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/reduce.h"
#include "airy/reduce_stack.h"
#include "io/file/format.h"
#include "jobs/groups.h"
#include "jobs/pixels.h"

struct values {
    struct airy_stack_values stack;
    struct airy_frames_values frames;
    struct airy_compute_values compute;
    int by; /* airy_projection, in the order of the words */
    double hot;
    char *output;
    bool force;
};

static const char *const kinds[] = {"mean", "sum", "max", "min", "std", "median", NULL};
_Static_assert(AIRY_PROJECT_STD == 4 && AIRY_PROJECTION_COUNT == 6, "kinds are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(by, .name = "by", .type = AIRY_PARAMETER_WORD, .words = kinds, .fallback = "mean",
        .help = "reduces the values of each pixel over the frames to this one; std is that of the "
                "population",
        .section = "Reduction"),
    ROW(hot, .name = "hot", .type = AIRY_PARAMETER_REAL, .hi = 1e6, .open = true, .argument = "K",
        .help =
            "makes a mask (uint8) of the image: 1 where a pixel is off the median by more than K "
            "robust standard deviations, and where the file's mask is"),
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes the image into this file"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"image", AIRY_JOB_ARRAY, "output", "[height, width]: the image, or the mask of hot pixels"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"by", AIRY_JOB_TEXT, NULL, "the reduction"},
    {"frames", AIRY_JOB_NUMBER, NULL, "frames that are in the image"},
    {"bad", AIRY_JOB_NUMBER, NULL, "frames that were left out"},
    {"shape", AIRY_JOB_NUMBERS, NULL, "height and width"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the image"},
    {"above", AIRY_JOB_NUMBER, NULL, "hot: pixels above `high`"},
    {"below", AIRY_JOB_NUMBER, NULL, "hot: pixels below `low`"},
    {"masked", AIRY_JOB_NUMBER, NULL, "hot: pixels that are masked or not finite"},
    {"median", AIRY_JOB_NUMBER, NULL, "hot: of the pixels"},
    {"sigma", AIRY_JOB_NUMBER, NULL, "hot: their robust standard deviation"},
    {"low", AIRY_JOB_NUMBER, NULL, "hot: median - K sigma"},
    {"high", AIRY_JOB_NUMBER, NULL, "hot: median + K sigma"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct reduction {
    airy_job *job;
    const struct values *v;
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    size_t frames; /* of them so many are chosen */
    airy_device *device;
    airy_image image; /* the image, then the mask where one is asked for */
    bool hot;
    airy_reduce_run_info run;
    airy_hot_result found;
};

static const char *first_path(const struct reduction *r)
{
    return airy_job_stack_name(&r->v->stack);
}

static airy_status open_stack(struct reduction *r)
{
    const struct values *v = r->v;
    AIRY_TRY(airy_job_open_stack(r->job, &r->stack, &v->stack));
    AIRY_TRY(airy_stack_get_info(r->stack, &r->info));
    AIRY_TRY(airy_stack_get_meta(r->stack, &r->meta));
    if (v->output)
        AIRY_TRY(airy_job_keep_stack(r->stack, v->output));
    AIRY_TRY(airy_job_choose_frames(&r->frames, &v->frames, r->info.frames, first_path(r)));
    r->image.dtype = airy_stack_reduce_dtype((airy_projection)v->by, r->info.dtype);
    r->image.ndim = 2;
    r->image.shape[0] = r->info.height;
    r->image.shape[1] = r->info.width;
    return airy_job_check_format("output", v->output, r->hot ? AIRY_DTYPE_U8 : r->image.dtype, 2);
}

/* A median that reads the stack several times, and the limit of memory, in MiB, that makes it once. */
static void warn_passes(const struct reduction *r)
{
    char advice[64] = "";
    if (r->run.one_pass)
        snprintf(advice, sizeof(advice), "; memory-limit=%lluM makes it once",
                 (unsigned long long)(r->run.one_pass >> 20) + 1);
    if (r->run.passes > 1)
        airy_job_message(r->job, AIRY_LOG_WARN,
                         "the stack was read %zu times, %zu row%s of all %zu frames each%s",
                         r->run.passes, r->run.rows, r->run.rows == 1 ? "" : "s", r->run.taken,
                         advice);
}

static airy_status reduce(struct reduction *r)
{
    airy_job *job = r->job;
    const struct airy_frames_values *frames = &r->v->frames;
    const size_t size = r->info.height * r->info.width * airy_dtype_size(r->image.dtype);
    const airy_run_params params = {.first = frames->frames[0],
                                    .last = frames->frames[1],
                                    .step = frames->frames[2],
                                    .skip_bad = frames->on_error,
                                    .progress = airy_job_step,
                                    .message = airy_job_frame_message,
                                    .user = job};
    r->image.data = malloc(size);
    AIRY_FAIL_IF(!r->image.data, AIRY_ERR_MEMORY, "out of memory for an image of %zu bytes", size);
    AIRY_TRY(airy_stack_reduce(r->image.data, size, r->stack, r->device, (airy_projection)r->v->by,
                               &params, &r->run));
    (void)airy_job_warn_left_out(job, r->run.run.bad, r->frames, "", r->run.run.first_error);
    warn_passes(r);
    return AIRY_OK;
}

/* The image and the file's own mask on the device; NULL where it has none. */
static airy_status load_hot(struct reduction *r, airy_queue *queue, airy_array **image,
                            airy_array **mask)
{
    const size_t shape[3] = {1, r->info.height, r->info.width};
    AIRY_TRY(airy_array_create_from(image, queue, r->image.dtype, 3, shape, r->image.data));
    if (!r->meta.has_mask)
        return AIRY_OK;
    uint8_t *bad = malloc(shape[1] * shape[2]);
    AIRY_FAIL_IF(!bad, AIRY_ERR_MEMORY, "out of memory for a mask");
    airy_status status = airy_stack_mask(r->stack, bad);
    if (status == AIRY_OK)
        status = airy_array_create_from(mask, queue, AIRY_DTYPE_U8, 3, shape, bad);
    free(bad);
    return status;
}

/* The mask in place of the image. */
static airy_status find_hot(struct reduction *r)
{
    airy_queue *queue = NULL;
    airy_array *image = NULL, *mask = NULL;
    uint8_t *hot = malloc(r->info.height * r->info.width);
    AIRY_FAIL_IF(!hot, AIRY_ERR_MEMORY, "out of memory for a mask");
    airy_status status = airy_queue_create(&queue, r->device);
    if (status == AIRY_OK)
        status = load_hot(r, queue, &image, &mask);
    if (status == AIRY_OK) {
        status = airy_hot_pixels(queue, hot, &r->found, image, mask, r->v->hot);
        if (status == AIRY_ERR_PARAM) /* of what the image's elements are */
            status = airy_about(
                AIRY_SUBJECT_PARAMETER, "hot",
                airy_fail_context(status, "hot, the %s of %s", kinds[r->v->by], first_path(r)));
    }
    airy_array_destroy(&image);
    airy_array_destroy(&mask);
    airy_queue_destroy(&queue);
    if (status != AIRY_OK) {
        free(hot);
        return status;
    }
    airy_image_free(&r->image);
    r->image = (airy_image){
        .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {r->info.height, r->info.width}, .data = hot};
    return AIRY_OK;
}

/* A mask of hot pixels states nothing of the geometry. */
static airy_status write_image(struct reduction *r)
{
    const struct values *v = r->v;
    if (!v->output)
        return AIRY_OK;
    uint8_t *mask = NULL;
    const bool known = !r->hot && airy_stack_states(&mask, r->stack, &r->meta, v->output,
                                                    airy_job_pass_message, r->job);
    const airy_status status =
        airy_image_write_stated(&r->image, v->output, v->force, known ? &r->meta : NULL, mask);
    free(mask);
    if (status == AIRY_OK)
        airy_job_warn_header(r->job, v->output, v->stack.paths.is_array ? NULL : first_path(r));
    return status;
}

/*
 * Return whether a frame can have had a value that detectors write into gaps, where the image shows
 * it: such a value is larger than what a mean, a sum, a median or a largest value without it can be.
 */
static bool can_have_gaps(const struct reduction *r, const uint8_t *mask)
{
    const airy_projection by = (airy_projection)r->v->by;
    const double least = airy_gap_least(r->info.dtype),
                 part = by == AIRY_PROJECT_MEAN     ? (double)r->run.taken
                        : by == AIRY_PROJECT_MEDIAN ? 2
                                                    : 1,
                 above = least / part * (1 - 1e-9); /* a sum is rounded */
    const double *values = r->image.data;
    if (isinf(least) || by == AIRY_PROJECT_STD || r->image.dtype != AIRY_DTYPE_F64)
        return true;
    for (size_t i = 0; i < r->info.height * r->info.width; i++)
        if (values[i] >= above && !(mask && mask[i]))
            return true;
    return false;
}

/*
 * Warn about pixels that the file does not mask and that have values which detectors write into
 * gaps. A few frames are looked at; those that cannot be read were reported.
 */
static void warn_gaps(const struct reduction *r)
{
    airy_stack_gaps gaps;
    char advice[1024];
    uint8_t *mask = r->meta.has_mask ? malloc(r->info.height * r->info.width) : NULL;
    if (mask && airy_stack_mask(r->stack, mask) != AIRY_OK) {
        free(mask);
        mask = NULL;
    }
    const size_t found = can_have_gaps(r, mask) ? airy_job_find_gaps(&gaps, r->stack, mask,
                                                                     r->v->frames.frames, r->frames)
                                                : 0;
    free(mask);
    snprintf(advice, sizeof(advice),
             "mask %s where %.800s is used, such as with the parameter mask of integrate",
             found == 1 ? "it" : "them", r->v->output ? r->v->output : "the result");
    if (found)
        airy_job_warn_gap_pixels(r->job, &gaps, found, r->info.dtype, first_path(r), "", advice);
}

static void put_hot(const struct reduction *r)
{
    const airy_hot_result *h = &r->found;
    airy_job *job = r->job;
    airy_job_put_number(job, "above", (double)h->above);
    airy_job_put_number(job, "below", (double)h->below);
    airy_job_put_number(job, "masked", (double)h->left_out);
    airy_job_put_number(job, "median", h->center);
    airy_job_put_number(job, "sigma", h->sigma);
    airy_job_put_number(job, "low", h->low);
    airy_job_put_number(job, "high", h->high);
    airy_job_sum_up(job,
                    "%llu pixel%s above %.6g, %llu below %.6g (median %.6g, sigma %.4g of the %s), "
                    "%llu masked or not finite",
                    (unsigned long long)h->above, h->above == 1 ? "" : "s", h->high,
                    (unsigned long long)h->below, h->low, h->center, h->sigma, kinds[r->v->by],
                    (unsigned long long)h->left_out);
}

/* Texts are kept before there is a file that a lack of memory would leave behind. */
static airy_status put_texts(const struct reduction *r)
{
    if (r->v->output)
        AIRY_TRY(airy_job_put_text(r->job, "output", r->v->output));
    if (!r->hot)
        AIRY_TRY(airy_job_put_text(r->job, "dtype", airy_dtype_name(r->image.dtype)));
    return airy_job_put_text(r->job, "by", kinds[r->v->by]);
}

static void put_results(struct reduction *r)
{
    airy_job *job = r->job;
    const airy_image *image = &r->image;
    const char *by = kinds[r->v->by], *dtype = airy_dtype_name(image->dtype);
    airy_job_put_number(job, "frames", (double)r->run.taken);
    airy_job_put_number(job, "bad", (double)(r->frames - r->run.taken));
    airy_job_put_shape(job, "shape", image->shape, 2);
    if (r->hot)
        put_hot(r);
    else
        airy_job_sum_up(job, "%s of %zu frame%s, %zu x %zu, %s", by, r->run.taken,
                        r->run.taken == 1 ? "" : "s", image->shape[0], image->shape[1], dtype);
    if (!airy_job_keeps(job, "image"))
        return;
    const airy_host_view view = {
        .dtype = image->dtype, .ndim = 2, .shape = {image->shape[0], image->shape[1]}};
    airy_job_put_array(job, "image", &view, image->data);
    r->image.data = NULL;
}

static airy_status run_reduction(struct reduction *r)
{
    AIRY_TRY(reduce(r));
    if (r->hot)
        AIRY_TRY(find_hot(r));
    AIRY_TRY(put_texts(r));
    AIRY_TRY(write_image(r));
    if (!r->hot)
        warn_gaps(r);
    put_results(r);
    return r->run.taken < r->frames ? AIRY_PARTLY : AIRY_OK;
}

static airy_status open_reduction(airy_job *job, void *state)
{
    struct reduction *r = state;
    *r = (struct reduction){.job = job, .v = job->values, .hot = airy_job_is_set(job, "hot")};
    AIRY_TRY(open_stack(r));
    AIRY_TRY(airy_job_plan_stack(job, &r->info, &r->v->frames));
    return airy_job_open_device(job, &r->device, &r->v->compute);
}

static airy_status run(airy_job *job, void *state)
{
    (void)job;
    return run_reduction(state);
}

static void close_reduction(void *state)
{
    struct reduction *r = state;
    airy_image_free(&r->image);
    airy_stack_destroy(&r->stack);
}

extern const struct airy_job_kind airy_job_reduce;
const struct airy_job_kind airy_job_reduce = {
    .name = "reduce",
    .summary = "dark, flat and hot-pixel images of a stack",
    .details =
        "All frames become one image, pixel by pixel. Frames stream through: memory does not grow "
        "with their number. A median takes strips of rows and reads the stack once for each strip. "
        "max and min have the dtype of the stack, the others float64. Pixels are taken as they "
        "are, those that a detector marks too; NaN gives NaN.",
    .groups = {{airy_stack_rows, offsetof(struct values, stack)},
               {rows, 0},
               {airy_frames_rows, offsetof(struct values, frames)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct reduction),
    .open = open_reduction,
    .run = run,
    .close = close_reduction,
};
