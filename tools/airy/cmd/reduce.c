/* airy reduce: one image of all frames of a stack, which stream through. */
#include <stdlib.h>

#include "airy/gaps.h"
#include "airy/reduce.h"
#include "airy/reduce_stack.h"
#include "images/image_util.h"
#include "cli/stack_opt.h"

struct reduce_params {
    struct common common;
    const char *output;
    struct raw_opt raw;
    struct frames_opt frames;
    airy_projection by;
    double hot;
    bool has_hot;
};

static const char *parse_by(void *field, const char *text)
{
    return airy_projection_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const struct opt reduce_options[] = {
    {.heading = "Input"},
    STACK_RAW_OPTION(struct reduce_params, raw),
    STACK_CHANNEL_OPTION(struct reduce_params, raw),
    {.heading = "Reduction"},
    {.name = "by",
     .type = OPT_PARSED,
     .offset = offsetof(struct reduce_params, by),
     .parse = parse_by,
     .argument = "mean|sum|max|min|median|std",
     .fallback = "mean",
     .help = "of each pixel over the frames; std: population"},
    {.name = "hot",
     .type = OPT_FLOAT,
     .offset = offsetof(struct reduce_params, hot),
     .seen = offsetof(struct reduce_params, has_hot),
     .lo = 0,
     .hi = 1e6,
     .argument = "K",
     .help = "OUT is a mask (uint8): 1 where the image is off its median by more than K robust "
             "standard deviations, and where the file's mask is"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     .offset = offsetof(struct reduce_params, output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .help = "the image"},
    {.heading = "Run"},
    STACK_FRAMES_OPTION(struct reduce_params, frames.frames, frames.given),
    STACK_ON_ERROR_OPTION(
        struct reduce_params, frames.skip_bad,
        "skip: a frame that cannot be read is left out, with a message, exit code 3"),
    {0},
};

struct reduction {
    const struct reduce_params *p;
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    size_t frames; /* of them so many are chosen */
    airy_device *device;
    airy_image image;
    airy_reduce_run_info run;
    airy_hot_result hot;
};

/* The image and the file's own mask on the device; NULL where it has none. */
static airy_status load_hot(struct reduction *r, airy_queue *queue, airy_array **image,
                            airy_array **mask)
{
    const size_t shape[3] = {1, r->info.height, r->info.width};
    airy_status status =
        airy_array_create_from(image, queue, r->image.dtype, 3, shape, r->image.data);
    if (status != AIRY_OK || !r->meta.has_mask)
        return status;
    uint8_t *bad = malloc(shape[1] * shape[2]);
    if (!bad)
        return AIRY_ERR_MEMORY;
    status = airy_stack_mask(r->stack, bad);
    if (status == AIRY_OK)
        status = airy_array_create_from(mask, queue, AIRY_DTYPE_U8, 3, shape, bad);
    free(bad);
    return status;
}

/* --hot: the mask instead of the image. */
static int write_hot(struct reduction *r)
{
    const struct common *common = &r->p->common;
    airy_queue *queue = NULL;
    airy_array *image = NULL, *mask = NULL;
    airy_image hot = {.dtype = AIRY_DTYPE_U8,
                      .ndim = 2,
                      .shape = {r->info.height, r->info.width},
                      .data = malloc(r->info.height * r->info.width)};
    if (!hot.data)
        return tool_fail(common, "out of memory for a mask");
    airy_status status = airy_queue_create(&queue, r->device);
    if (status == AIRY_OK)
        status = load_hot(r, queue, &image, &mask);
    if (status == AIRY_OK)
        status = airy_hot_pixels(queue, hot.data, &r->hot, image, mask, r->p->hot);
    int code = AIRY_EXIT_OK;
    if (status == AIRY_ERR_PARAM) /* of what the image's elements are */
        code = tool_fail(common, "--hot, the %s of %s: %s", airy_projection_name(r->p->by),
                         common->inputs.items[0], airy_last_error());
    if (status == AIRY_OK)
        status = airy_image_write(&hot, r->p->output, common->force);
    airy_array_destroy(&image);
    airy_array_destroy(&mask);
    airy_queue_destroy(&queue);
    airy_image_free(&hot);
    return status == AIRY_OK || code != AIRY_EXIT_OK ? code : tool_failed(common, status);
}

static int report_hot(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_hot_result *h = &r->hot;
    const char *by = airy_projection_name(r->p->by);
    if (common->json)
        return tool_print_json(
            common, json_pack("{s:o, s:s, s:I, s:[I, I], s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
                              "output", tool_json_string(r->p->output), "by", by, "frames",
                              (json_int_t)r->run.taken, "shape", (json_int_t)r->info.height,
                              (json_int_t)r->info.width, "above", (json_int_t)h->above, "below",
                              (json_int_t)h->below, "masked", (json_int_t)h->left_out, "median",
                              tool_json_number(h->center), "sigma", tool_json_number(h->sigma),
                              "low", tool_json_number(h->low), "high", tool_json_number(h->high)));
    tool_say(common,
             "%s: %llu pixel%s above %.6g, %llu below %.6g (median %.6g, sigma %.4g of the %s), "
             "%llu masked or not finite",
             r->p->output, (unsigned long long)h->above, tool_s(h->above), h->high,
             (unsigned long long)h->below, h->low, h->center, h->sigma, by,
             (unsigned long long)h->left_out);
    return AIRY_EXIT_OK;
}

static int write_result(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_status status =
        stack_write_image(&r->image, common, r->stack, &r->meta, r->p->output);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static int report(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_stack_info *info = &r->info;
    const char *by = airy_projection_name(r->p->by), *dtype = airy_dtype_name(r->image.dtype);
    if (common->json)
        return tool_print_json(common, json_pack("{s:o, s:s, s:I, s:[I, I], s:s}", "output",
                                                 tool_json_string(r->p->output), "by", by, "frames",
                                                 (json_int_t)r->run.taken, "shape",
                                                 (json_int_t)info->height, (json_int_t)info->width,
                                                 "dtype", dtype));
    tool_say(common, "%s: %s of %zu frame%s, %zu x %zu, %s", r->p->output, by, r->run.taken,
             tool_s(r->run.taken), info->height, info->width, dtype);
    return AIRY_EXIT_OK;
}

/*
 * Say where pixels that the file does not mask are what detectors write into gaps: a few frames are
 * looked at, as airy integrate does. What cannot be looked at was said.
 */
static void say_gaps(const struct reduction *r)
{
    enum { LOOKS = 8 };
    const size_t *chosen = r->p->frames.frames, pixels = r->info.height * r->info.width,
                 step = chosen[2] ? chosen[2] : 1, apart = (r->frames - 1) / (LOOKS - 1);
    uint8_t *mask = r->meta.has_mask ? malloc(pixels) : NULL;
    if (mask && airy_stack_mask(r->stack, mask) != AIRY_OK) {
        free(mask);
        mask = NULL;
    }
    airy_stack_gaps gaps = {.stack = r->stack,
                            .mask = mask,
                            .first = chosen[0],
                            .step = apart ? apart * step : step,
                            .count = LOOKS,
                            .last = chosen[1] ? chosen[1] : r->info.frames};
    const size_t found = airy_stack_find_gaps(&gaps);
    free(mask);
    if (found)
        tool_say(&r->p->common,
                 "%s: %zu pixel%s of frame %zu %s %.0f, %s, and taken as %s; mask %s where %s is "
                 "used, such as by --mask of 'airy integrate'",
                 r->p->common.inputs.items[0], found, tool_s(found), gaps.number,
                 found == 1 ? "is" : "are", gaps.value, airy_gap_writers(r->info.dtype),
                 found == 1 ? "it is" : "they are", found == 1 ? "it" : "them", r->p->output);
}

/* What was left out, and how often the stack was read. */
static void say_run(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_run_info *run = &r->run.run;
    if (run->bad)
        tool_say(common, "%s: %zu of %zu frame%s left out, the first: %s", common->inputs.items[0],
                 run->bad, r->frames, r->frames == 1 ? " is" : "s are", run->first_error);
    if (r->run.passes > 1)
        tool_say(common, "the stack was read %zu times, %zu row%s of all %zu frames each",
                 r->run.passes, r->run.rows, tool_s(r->run.rows), r->run.taken);
}

static int run_job(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const struct frames_opt *frames = &r->p->frames;
    struct progress progress;
    const airy_run_params params = {.first = frames->frames[0],
                                    .last = frames->frames[1],
                                    .step = frames->frames[2],
                                    .skip_bad = frames->skip_bad,
                                    .progress = progress_step,
                                    .user = &progress};
    const size_t size = r->info.height * r->info.width * airy_dtype_size(r->image.dtype);
    r->image.data = malloc(size);
    if (!r->image.data)
        return tool_fail(common, "out of memory for %zu bytes", size);
    tool_say_device(common, r->device);
    tool_catch_interrupts();
    progress_begin(&progress, common, "frames");
    const airy_status status =
        airy_stack_reduce(r->image.data, size, r->stack, r->device, r->p->by, &params, &r->run);
    progress_end(&progress);
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(common, "%s, %s; start again", airy_last_error(),
                         tool_left(common, r->p->output));
    if (status != AIRY_OK)
        return tool_failed(common, status);
    say_run(r);
    return r->p->has_hot ? write_hot(r) : write_result(r);
}

static int reduce_stack(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_status status = tool_device(common, &r->device);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    int code = run_job(r);
    if (code == AIRY_EXIT_OK)
        image_say_header(common, r->p->output);
    if (code == AIRY_EXIT_OK && !r->p->has_hot)
        say_gaps(r);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, r->device);
    if (code != AIRY_EXIT_OK)
        return code;
    code = r->p->has_hot ? report_hot(r) : report(r);
    return code == AIRY_EXIT_OK && r->run.taken < r->frames ? AIRY_EXIT_PARTLY : code;
}

static int check_reduce(void *user)
{
    const struct reduce_params *p = user;
    return p->output ? AIRY_EXIT_OK : tool_usage(&p->common, "-o OUT is missing");
}

static int run_reduce(void *user)
{
    const struct reduce_params *p = user;
    const struct common *common = &p->common;
    struct reduction r = {.p = p};
    airy_status status = stack_open(&r.stack, &common->inputs, &p->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(r.stack, &r.info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(r.stack, &r.meta);
    int code = status == AIRY_OK ? tool_keep_stack(common, p->output, r.stack)
                                 : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && r.info.frames == 0)
        code = tool_fail(common, "%s has no frames", common->inputs.items[0]);
    r.frames = r.info.frames;
    if (code == AIRY_EXIT_OK && p->frames.given)
        code = stack_choose(&r.frames, common, p->frames.frames, r.info.frames);
    r.image = (airy_image){.dtype = airy_stack_reduce_dtype(p->by, r.info.dtype),
                           .ndim = 2,
                           .shape = {r.info.height, r.info.width}};
    if (code == AIRY_EXIT_OK)
        code = tool_check_format(common, p->output, p->has_hot ? AIRY_DTYPE_U8 : r.image.dtype, 2);
    if (code == AIRY_EXIT_OK)
        code = reduce_stack(&r);
    airy_image_free(&r.image);
    airy_device_destroy(&r.device);
    airy_stack_destroy(&r.stack);
    return code;
}

const struct command cmd_reduce = {
    .name = "reduce",
    .usage = "STACK... -o OUT [--by mean|sum|max|min|median|std] [--hot K]",
    .summary = "dark, flat and hot-pixel images of a stack",
    .details =
        "One image of all frames, pixel by pixel. Frames stream through: memory does not grow with "
        "their number. A median takes strips of rows and reads the stack once for each strip. max "
        "and min have the dtype of the stack, the others float64. Pixels are taken as they are, "
        "those that a detector marks too; NaN gives NaN.",
    .examples = "  airy reduce dark.h5 --by median -o dark.npy\n"
                "  airy reduce dark.h5 --hot 6 -o hot.npy\n"
                "  airy reduce run.h5 --by max -o brightest.edf\n",
    .tables = {reduce_options},
    .takes = TAKES_COMPUTE,
    .params_size = sizeof(struct reduce_params),
    .min_inputs = 1,
    .max_inputs = 10000000,
    .check = check_reduce,
    .run = run_reduce,
};
