/* airy convert: any image or stack to any format, exact. */
#include <sys/resource.h>

#include "tool.h"

struct convert_params {
    struct common common;
    const char *output;
};

static const struct opt convert_options[] = {
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     .offset = offsetof(struct convert_params, output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .help = ".npy, .h5, .edf, .fits, .tif, .png or .cbf; the suffix decides"},
    {0},
};

/*
 * --memory-limit: what this process may take from here on. The system enforces it, so that it holds
 * for what the libraries of the formats take, too; a request beyond it fails and is told.
 */
static int limit_memory(const struct common *common)
{
    struct rlimit limit;
    unsigned long long held = 0;
    char line[128];
    if (!common->memory_limit)
        return AIRY_EXIT_OK;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmData: %llu", &held) == 1)
            break;
    if (file)
        fclose(file);
    const bool known = held && getrlimit(RLIMIT_DATA, &limit) == 0;
    const rlim_t most = (rlim_t)(held * 1024 + common->memory_limit);
    if (known && (limit.rlim_cur == RLIM_INFINITY || most < limit.rlim_cur))
        limit.rlim_cur = most;
    if (!known || setrlimit(RLIMIT_DATA, &limit) != 0)
        return tool_fail(common, "--memory-limit: the system does not limit this process");
    return AIRY_EXIT_OK;
}

static int run_convert(void *user)
{
    const struct convert_params *p = user;
    const char *input = p->common.inputs.items[0];
    if (!p->output)
        return tool_usage(&p->common, "no output: give -o OUT");
    const int limited = limit_memory(&p->common);
    if (limited != AIRY_EXIT_OK)
        return limited;
    airy_image image = {0};
    airy_status status = airy_image_read(&image, input);
    if (status == AIRY_OK)
        status = airy_image_write(&image, p->output, p->common.force);
    if (status != AIRY_OK) {
        airy_image_free(&image);
        return tool_failed(&p->common, status);
    }
    char shape[128] = "";
    size_t used = 0;
    json_t *list = json_array();
    for (int i = 0; i < image.ndim; i++) {
        used += (size_t)snprintf(shape + used, sizeof(shape) - used, i ? " x %zu" : "%zu",
                                 image.shape[i]);
        json_array_append_new(list, json_integer((json_int_t)image.shape[i]));
    }
    const char *dtype = airy_dtype_name(image.dtype);
    airy_image_free(&image);
    if (p->common.json)
        return tool_print_json(&p->common,
                               json_pack("{s:o, s:s, s:o}", "output", tool_json_string(p->output),
                                         "dtype", dtype, "shape", list));
    json_decref(list);
    tool_say(&p->common, "%s: %s %s", p->output, shape, dtype);
    return AIRY_EXIT_OK;
}

const struct command cmd_convert = {
    .name = "convert",
    .usage = "IN -o OUT [options]",
    .summary = "convert an image or a stack to another format, exactly",
    .details = "IN is NPY, EDF, FITS (FILE or FILE[EXT]), TIFF, PNG, CBF or HDF5 (FILE or "
               "FILE::DATASET), up to four dimensions, either byte order. Element type, shape and "
               "values are kept; what the format of OUT cannot hold is an error. FITS: values are "
               "physical (BSCALE, BZERO, BLANK), and the header goes along from FITS to FITS. The "
               "whole image is in memory: one that does not fit --memory-limit is refused.",
    .examples = "  airy convert series_master.h5 -o frames.npy\n"
                "  airy convert calibration.h5::/entry/dark -o dark.edf\n"
                "  airy convert 'mosaic.fits[SCI]' -o mosaic.tif\n",
    .tables = {convert_options},
    .takes = TAKES_MEMORY,
    .params_size = sizeof(struct convert_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_convert,
};
