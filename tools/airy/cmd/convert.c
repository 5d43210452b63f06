/* airy convert: any image or stack to any format, exact. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "images/image_util.h"
#include "cli/stack_out.h"

struct convert_params {
    struct common common;
    const char *output;
    struct frames_opt chosen;
    bool pairs; /* --complex-as-pairs */
};

static const struct opt convert_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct convert_params, common),
    {.name = "frames",
     .type = OPT_PARSED,
     .offset = offsetof(struct convert_params, chosen.frames),
     .seen = offsetof(struct convert_params, chosen.given),
     .parse = opt_frames,
     .argument = "N|A:B[:S]",
     .fallback = "all",
     .help = "these frames of a stack, or planes of an image; a single one is 2-D"},
    STACK_ON_ERROR_OPTION(struct convert_params, chosen.skip_bad,
                          "skip: of several frames of a stack those that cannot be read are "
                          "counted and never written to OUT, which is HDF5, exit code 3"),
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     .offset = offsetof(struct convert_params, output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .help = "of the format that its suffix says; FILE.h5::DATASET is a file of that dataset "
             "alone, and --force replaces no file that holds others"},
    COMPLEX_OPTION(struct convert_params, pairs),
    {0},
};

/* Bytes from which on the memory that is left is looked at. */
#define LARGE ((size_t)64 << 20)

/* Bytes that libraries take to open a file; libhdf5 1.10 crashes where it gets nothing. */
#define LIBRARIES ((rlim_t)32 << 20)

/*
 * --memory-limit: what this process may take from here on, beside LIBRARIES. The system enforces
 * it, so that it holds for what the libraries of the formats take, too; a request beyond it fails
 * and is told. before: the limit of the process until now, rlim_max 0 where it stays.
 */
static int limit_memory(const struct common *common, struct rlimit *before)
{
    struct rlimit limit = {.rlim_max = 0};
    unsigned long long held = 0;
    char line[128];
    *before = (struct rlimit){.rlim_max = 0};
    if (!common->memory_limit)
        return AIRY_EXIT_OK;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmData: %llu", &held) == 1)
            break;
    if (file)
        fclose(file);
    const bool known = held && getrlimit(RLIMIT_DATA, &limit) == 0;
    const rlim_t rest = RLIM_INFINITY - 1 - LIBRARIES - held * 1024,
                 most = held * 1024 + LIBRARIES +
                        (common->memory_limit < rest ? common->memory_limit : rest);
    *before = limit;
    if (known && (limit.rlim_cur == RLIM_INFINITY || most < limit.rlim_cur))
        limit.rlim_cur = most;
    if (!known || setrlimit(RLIMIT_DATA, &limit) != 0)
        return tool_fail(common, "--memory-limit: the system does not limit this process");
    return AIRY_EXIT_OK;
}

/* Bytes of memory that are left on the host. */
static uint64_t left_on_host(void)
{
    airy_device *host = NULL;
    airy_device_info info = {.memory_free = 0};
    if (airy_device_create(&host, "cpu", NULL) != AIRY_OK ||
        airy_device_get_info(host, &info) != AIRY_OK)
        info.memory_free = 0;
    airy_device_destroy(&host);
    return info.memory_free ? info.memory_free : UINT64_MAX;
}

/*
 * What the limit of the system lets pass because of LIBRARIES, and what is granted now but not there
 * later: the file may name any number of frames.
 */
static int check_size(const struct common *common, size_t size, bool several)
{
    const uint64_t limit = common->memory_limit, left = size >= LARGE ? left_on_host() : UINT64_MAX;
    if (limit && size > limit)
        return tool_fail(common,
                         "an image of %zu bytes is larger than the --memory-limit of %" PRIu64
                         " bytes; raise it%s",
                         size, limit, several ? ", or choose fewer of its frames by --frames" : "");
    if (size > left)
        return tool_fail(common,
                         "an image of %zu bytes is larger than the %" PRIu64
                         " bytes of memory that are left%s",
                         size, left, several ? "; choose fewer of its frames by --frames" : "");
    return AIRY_EXIT_OK;
}

/* The frames of a stack, read one by one: no others are in memory. */
static int take_frames(airy_image *image, const struct convert_params *p, airy_stack *stack)
{
    airy_stack_info info;
    size_t count = 0, size = 0;
    airy_status status = airy_stack_get_info(stack, &info);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    int code = tool_keep_stack(&p->common, p->output, stack);
    if (code == AIRY_EXIT_OK)
        code = stack_choose(&count, &p->common, p->chosen.frames, info.frames);
    if (code == AIRY_EXIT_OK)
        code = tool_check_format(&p->common, p->output, info.dtype, count > 1 ? 3 : 2);
    if (code != AIRY_EXIT_OK)
        return code;
    const size_t all = stack_frames_size(&size, &info, count);
    code = all == SIZE_MAX ? AIRY_EXIT_OK : check_size(&p->common, all, count > 1);
    if (code != AIRY_EXIT_OK)
        return code;
    status = stack_read_frames(image, stack, p->chosen.frames[0], count, p->chosen.frames[2]);
    if (!image->data)
        return tool_fail(&p->common, "out of memory for %zu frame%s of %zu bytes each%s%s", count,
                         tool_s(count), size, count > 1 ? "; choose fewer by --frames" : "",
                         !p->common.memory_limit ? ""
                         : count > 1             ? ", or raise --memory-limit"
                                                 : "; raise --memory-limit");
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* Planes of FITS with their header; without data where that cannot be. Exit code. */
static int take_planes(airy_image *image, const struct convert_params *p, airy_fits *fits)
{
    size_t count = 0;
    airy_status status = airy_fits_read(image, fits, 0, 0, 1);
    if (status != AIRY_OK || image->ndim < 2)
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    const size_t planes = tool_count(image->shape, image->ndim - 2);
    const int code = stack_choose(&count, &p->common, p->chosen.frames, planes);
    if (code != AIRY_EXIT_OK || !image_take_header(image, p->chosen.frames, count))
        return code;
    airy_image_free(image);
    status = airy_fits_read(image, fits, p->chosen.frames[0], count, p->chosen.frames[2]);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static int load_planes(airy_image *image, const struct convert_params *p)
{
    airy_fits *fits = NULL;
    const airy_status status = airy_fits_open(&fits, p->common.inputs.items[0]);
    const int code = status == AIRY_OK ? take_planes(image, p, fits)
                                       : tool_failed(&p->common, status);
    airy_fits_close(&fits);
    return code;
}

/*
 * What the headers of the input say of the output's format, before all is read: several frames have
 * three dimensions or more. What is no stack is told when it is read. Exit code.
 */
static int check_header(const struct convert_params *p)
{
    const char *input = p->common.inputs.items[0];
    airy_stack *stack = NULL;
    airy_stack_info info;
    int code = AIRY_EXIT_OK;
    if (airy_image_check_format(p->output, AIRY_DTYPE_F64, 3) != AIRY_OK && /* not all it may be */
        stack_open_header(&stack, &p->common, input) == AIRY_OK &&
        airy_stack_get_info(stack, &info) == AIRY_OK)
        code = tool_check_format(&p->common, p->output, info.dtype, info.frames > 1 ? 3 : 0);
    airy_stack_destroy(&stack);
    return code;
}

/* Choose frames of complex numbers: real ones of twice the width. Exit code. */
static int choose_complex(airy_image *image, const struct convert_params *p)
{
    size_t count;
    const int ndim = image->ndim;
    if (ndim < 3)
        return tool_fail(&p->common, "--frames: %s holds one line of complex numbers",
                         p->common.inputs.items[0]);
    const int code =
        stack_choose(&count, &p->common, p->chosen.frames, tool_count(image->shape, ndim - 3));
    if (code != AIRY_EXIT_OK)
        return code;
    image->shape[ndim - 2] *= 2;
    image->ndim--;
    airy_status status = AIRY_OK;
    if (ndim > 3)
        status = airy_image_take_planes(image, p->chosen.frames[0], count, p->chosen.frames[2]);
    image->shape[ndim - 2] /= 2;
    if (count == 1 && ndim > 3) {
        image->shape[0] = image->shape[ndim - 3];
        image->shape[1] = image->shape[ndim - 2];
    }
    image->ndim = count == 1 ? 3 : ndim;
    image->shape[image->ndim - 1] = 2;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* Complex numbers, which are no frames of a stack. *found: the image has some. Exit code. */
static int load_complex(airy_image *image, const struct convert_params *p, bool *found)
{
    const airy_status status = airy_image_read(image, p->common.inputs.items[0]);
    *found = status == AIRY_OK && image->is_complex;
    return *found ? choose_complex(image, p) : AIRY_EXIT_OK;
}

/* Exit code; free the image in any case. */
static int load(airy_image *image, const struct convert_params *p)
{
    const char *input = p->common.inputs.items[0];
    airy_stack *stack = NULL;
    if (!p->chosen.given) {
        const int checked = check_header(p);
        if (checked != AIRY_EXIT_OK)
            return checked;
        const airy_status status = p->common.channel ? stack_read_image(image, &p->common, input)
                                                     : airy_image_read(image, input);
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    int code = image_is_fits_name(p->output) && airy_image_is_fits(input) ? load_planes(image, p)
                                                                          : AIRY_EXIT_OK;
    if (code != AIRY_EXIT_OK || image->data)
        return code;
    airy_image_free(image);
    const airy_status status = stack_open_one(&stack, &p->common, input);
    bool is_complex = false;
    if (status == AIRY_ERR_UNSUPPORTED)
        code = load_complex(image, p, &is_complex);
    if (is_complex || code != AIRY_EXIT_OK)
        return code;
    code = status == AIRY_OK ? take_frames(image, p, stack) : tool_failed(&p->common, status);
    airy_stack_destroy(&stack);
    if (code == AIRY_EXIT_OK && image->shape[0] == 1) {
        image->ndim = 2;
        image->shape[0] = image->shape[1];
        image->shape[1] = image->shape[2];
    }
    return code;
}

static bool is_hdf5_output(const char *output)
{
    const char *named = strstr(output, "::");
    char file[4096];
    snprintf(file, sizeof(file), "%.*s", (int)(named ? named - output : (ptrdiff_t)strlen(output)),
             output);
    return tool_has_suffix(file, ".h5") || tool_has_suffix(file, ".hdf5") ||
           tool_has_suffix(file, ".nxs");
}

/* One line or object about what was written. bad: frames; SIZE_MAX: not of frames. Exit code. */
static int report(const struct convert_params *p, const size_t *axes, int count, const char *dtype,
                  size_t bad)
{
    char shape[128] = "";
    size_t used = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(shape + used, sizeof(shape) - used, i ? " x %zu" : "%zu", axes[i]);
        json_array_append_new(list, json_integer((json_int_t)axes[i]));
    }
    if (p->common.json)
        return tool_print_json(
            &p->common, json_pack("{s:o, s:s, s:o, s:o*}", "output", tool_json_string(p->output),
                                  "dtype", dtype, "shape", list, "bad",
                                  bad == SIZE_MAX ? NULL : json_integer((json_int_t)bad)));
    json_decref(list);
    tool_say(&p->common, "%s: %s %s", p->output, shape, dtype);
    return AIRY_EXIT_OK;
}

/* Frames of a stack into a stack, one by one, as they are. Exit code. */
static int write_stack(const struct convert_params *p, airy_stack *stack,
                       const airy_stack_info *info)
{
    const struct common *common = &p->common;
    const char *named = strstr(p->output, "::");
    char *path = strdup(p->output), dataset[4096] = "";
    airy_stack_meta meta;
    airy_status status = airy_stack_get_meta(stack, &meta);
    if (!path)
        return tool_fail(common, "out of memory for a path");
    if (named) {
        path[named - p->output] = 0;
        snprintf(dataset, sizeof(dataset), "/%s", named + 2 + strspn(named + 2, "/"));
    }
    if (status == AIRY_OK)
        status = airy_image_check_others(p->output);
    int code = status == AIRY_OK ? tool_keep_stack(common, path, stack)
                                 : tool_failed(common, status);
    uint8_t *mask = NULL;
    /* What is known of frames goes with the usual dataset. */
    const bool usual = !named || strcmp(dataset, "/entry/data/data") == 0,
               known = code == AIRY_EXIT_OK && usual &&
                       stack_states(&mask, stack, &meta, common, p->output);
    struct stack_out out = {
        .common = common,
        .path = path,
        .writer = {.dtype = info->dtype,
                   .height = info->height,
                   .width = info->width,
                   .dataset = named ? dataset : NULL,
                   .geometry = known && meta.has_geometry ? &meta.geometry : NULL,
                   .mask = mask},
        .fill = {.stack = stack}};
    if (code == AIRY_EXIT_OK)
        code = stack_out_choose(&out, &p->chosen, info->frames);
    if (code == AIRY_EXIT_OK)
        code = stack_out_run(&out);
    if (code == AIRY_EXIT_OK) {
        const size_t shape[3] = {out.writer.frames, info->height, info->width};
        const int left_out = stack_out_say_bad(&out);
        code = report(p, shape, 3, airy_dtype_name(info->dtype), out.info.fill.bad);
        code = code == AIRY_EXIT_OK ? left_out : code;
    }
    free(mask);
    free(path);
    return code;
}

/* Several frames of a stack, for HDF5; *done: that is what was to be converted. Exit code. */
static int convert_frames(const struct convert_params *p, const struct rlimit *before, bool *done)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    size_t count = 0;
    *done = false;
    int code = AIRY_EXIT_OK;
    if (stack_open_one(&stack, &p->common, p->common.inputs.items[0]) == AIRY_OK &&
        airy_stack_get_info(stack, &info) == AIRY_OK) {
        const size_t all[3] = {0, 0, 1};
        code =
            stack_choose(&count, &p->common, p->chosen.given ? p->chosen.frames : all, info.frames);
        *done = code != AIRY_EXIT_OK || count > 1;
        /* From here on memory is counted: of threads the system counts what they never touch. */
        if (code == AIRY_EXIT_OK && *done && before->rlim_max)
            setrlimit(RLIMIT_DATA, before);
        if (code == AIRY_EXIT_OK && *done)
            code = write_stack(p, stack, &info);
    }
    airy_stack_destroy(&stack);
    return code;
}

/* An image, whole in memory. Exit code. */
static int convert_image(const struct convert_params *p)
{
    airy_image image = {0};
    int code = load(&image, p);
    image.is_complex = image.is_complex && !p->pairs;
    if (code == AIRY_EXIT_OK && !image.is_complex)
        code = tool_check_format(&p->common, p->output, image.dtype, image.ndim);
    if (code == AIRY_EXIT_OK && !image.header)
        image_say_header(&p->common, p->output);
    if (code == AIRY_EXIT_OK)
        image_say_odd_cards(&p->common, p->common.inputs.items[0], &image);
    if (code == AIRY_EXIT_OK)
        code = check_size(&p->common,
                          tool_count(image.shape, image.ndim) * airy_dtype_size(image.dtype),
                          image.ndim > 2 && image.shape[0] > 1);
    if (code == AIRY_EXIT_OK) {
        const airy_status status = stack_write_of_input(&image, &p->common, p->output);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    if (code == AIRY_EXIT_OK)
        code = report(p, image.shape, image_axes(&image), image_dtype_name(&image), SIZE_MAX);
    airy_image_free(&image);
    return code;
}

static int check_convert(void *user)
{
    const struct convert_params *p = user;
    if (!p->output)
        return tool_usage(&p->common, "no output: give -o OUT");
    if ((p->chosen.skip_bad || p->common.profile) && !is_hdf5_output(p->output))
        return tool_usage(&p->common,
                          "%s goes with an output in HDF5, which frames are written to "
                          "one by one",
                          p->chosen.skip_bad ? "--on-error skip" : "--profile");
    return AIRY_EXIT_OK;
}

/* Frames that may be several, for an output that takes them one by one. */
static bool may_be_frames(const struct convert_params *p)
{
    const size_t *frames = p->chosen.frames;
    const bool one = p->chosen.given && frames[1] && frames[1] - frames[0] <= frames[2];
    return !one && is_hdf5_output(p->output) &&
           (p->chosen.given || p->chosen.skip_bad || p->common.profile);
}

static int run_convert(void *user)
{
    const struct convert_params *p = user;
    struct rlimit before;
    bool done = false;
    int code = limit_memory(&p->common, &before);
    if (code == AIRY_EXIT_OK && may_be_frames(p))
        code = convert_frames(p, &before, &done);
    if (code != AIRY_EXIT_OK || done)
        return code;
    if (p->common.profile)
        return tool_fail(&p->common,
                         "--profile: %s is not several frames of a stack, whose steps "
                         "are counted",
                         p->common.inputs.items[0]);
    return convert_image(p);
}

#define INPUTS                                                                                     \
    "NPY, EDF, " IF_FITS("FITS (FILE or FILE[EXT]), ")                                             \
        IF_TIFF("TIFF, ") "PNG, CBF or HDF5 (FILE or FILE::DATASET)"

const struct command cmd_convert = {
    .name = "convert",
    .usage = "IN -o OUT [options]",
    .summary = "convert an image or a stack to another format, exactly",
    .details =
        "IN is " INPUTS ", up to four dimensions, or a kernel of SExtractor (.conv), either byte "
        "order. Element type, shape and "
        "values are kept, but that booleans of NPY become uint8 (0 and 1); what the format of OUT "
        "cannot hold is an error. Complex numbers are "
        "those of NPY and HDF5; --complex-as-pairs writes them to other formats, too. FITS: values "
        "are "
        "physical (BSCALE, BZERO, BLANK), and the header goes along from FITS to FITS, with "
        "--frames, too: their axis keeps its coordinates, and a single one an axis of length 1. "
        "The whole image is in memory: one that does not fit --memory-limit is refused. --frames "
        "takes some of a stack, one as a 2-D image; several go to HDF5 one by one, with a frame "
        "a thread in memory.",
    .examples = "  airy convert series_master.h5 -o frames.npy\n"
                "  airy convert series_master.h5 --frames 17 -o frame17.cbf\n"
                "  airy convert calibration.h5::/entry/dark -o dark.edf\n" IF_FITS(
                    "  airy convert 'mosaic.fits[SCI]' -o mosaic.npy\n"),
    .tables = {convert_options},
    .takes = TAKES_MEMORY | TAKES_THREADS | TAKES_PROFILE,
    .params_size = sizeof(struct convert_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_convert,
    .run = run_convert,
};
