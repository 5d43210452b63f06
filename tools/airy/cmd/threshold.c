/* airy threshold: a mask of what is above a value. */
#include <string.h>

#include "cli/stack_opt.h"
#include "images/device_image.h"

struct threshold_params {
    struct common common;
    const char *output;
    double above;
    bool has_above;
};

#define FIELD(member) .offset = offsetof(struct threshold_params, member)

static const struct opt threshold_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct threshold_params, common),
    {.heading = "Threshold"},
    {.name = "above",
     .type = OPT_FLOAT,
     FIELD(above),
     .seen = offsetof(struct threshold_params, has_above),
     .lo = -1e300,
     .hi = 1e300,
     .argument = "T",
     .help = "in the unit of the image; the mask is 1 where a value is larger"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "MASK",
     .holds = 1 + AIRY_DTYPE_U8,
     .help = "8-bit image of 0 and 1"},
    {0},
};

static int check_threshold(void *user)
{
    const struct threshold_params *p = user;
    if (!p->has_above || !p->output)
        return tool_usage(&p->common, "%s is missing", p->output ? "--above T" : "-o MASK");
    return AIRY_EXIT_OK;
}

static int run_threshold(void *user)
{
    const struct threshold_params *p = user;
    const struct common *common = &p->common;
    const char *input = common->inputs.items[0];
    struct device_image d;
    airy_array *mask = NULL;
    int code = device_image_open(&d, common, input, NULL);
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(&d, common, p->output, AIRY_DTYPE_U8);
    if (code == AIRY_EXIT_OK) {
        device_image_begin(&d, common);
        airy_status status = airy_array_create_uninitialized(&mask, d.device, AIRY_DTYPE_U8,
                                                             d.image.ndim, d.image.shape);
        if (status == AIRY_OK)
            status = airy_threshold(d.queue, mask, d.src, p->above);
        code = status == AIRY_OK ? device_image_write(&d, common, mask, p->output)
                                 : tool_failed(common, status);
    }
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, d.device);
    if (code == AIRY_EXIT_OK && common->json)
        code = tool_print_json(common,
                               json_pack("{s:o, s:s, s:o}", "output", tool_json_string(p->output),
                                         "dtype", airy_dtype_name(AIRY_DTYPE_U8), "shape",
                                         json_shape(d.image.shape, d.image.ndim)));
    airy_array_destroy(&mask);
    device_image_close(&d);
    return code;
}

const struct command cmd_threshold = {
    .name = "threshold",
    .usage = "IMAGE --above T -o MASK",
    .summary = "a mask of the values above a threshold",
    .details = "Values larger than T become 1, all others 0, NaN too. --json prints {output, "
               "dtype, shape}.",
    .examples = "  airy threshold image.npy --above 5 -o mask.npy\n",
    .tables = {threshold_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct threshold_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_threshold,
    .run = run_threshold,
};
