/* airy compress, airy decompress: a stack to another encoding, pixel for pixel the same. */
#include <stdlib.h>
#include <string.h>

#include "cli/stack_out.h"

struct compress_params {
    struct common common;
    airy_codec codec;
    uint64_t block;
    size_t frames_per_file;
    bool has_codec;
    const char *output;
    struct frames_opt frames;
};

static const char *parse_filter(void *field, const char *text)
{
    static const char *const words[] = {"bslz4", "lz4", NULL};
    int which;
    const char *expected = opt_word(text, words, &which);
    return expected || airy_codec_parse(field, text) == AIRY_OK ? expected : airy_last_error();
}

static const struct opt output_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct compress_params, common),
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     .offset = offsetof(struct compress_params, output),
     .use = OPT_WRITTEN,
     .argument = "OUT.h5",
     .help = "the same as OUT.h5 without a letter"},
    STACK_FILES_OPTION(struct compress_params, frames_per_file),
    {.heading = "Run"},
    STACK_FRAMES_OPTIONS(struct compress_params, frames),
    {0},
};

static const struct opt compress_options[] = {
    {.heading = "Encoding"},
    {.name = "filter",
     .type = OPT_PARSED,
     .offset = offsetof(struct compress_params, codec),
     .seen = offsetof(struct compress_params, has_codec),
     .parse = parse_filter,
     .argument = "NAME",
     .fallback = "bslz4",
     .help = "bslz4 (HDF5 filter 32008) or lz4 (32004)"},
    {.name = "block",
     .type = OPT_BYTES,
     .offset = offsetof(struct compress_params, block),
     .argument = "BYTES",
     .fallback = "the filter's: 8192 for bslz4",
     .help = "bytes of a block, a multiple of 8 elements"},
    {0},
};

/*
 * Same shape of frames and element type: data of the stack itself, which a master links to or
 * holds in parts.
 */
static bool is_frames(const airy_hdf5_entry *entry, const airy_stack_info *info)
{
    return entry->ndim >= 2 && entry->shape[entry->ndim - 2] == info->height &&
           entry->shape[entry->ndim - 1] == info->width &&
           strcmp(entry->dtype, airy_dtype_name(info->dtype)) == 0 &&
           (entry->ndim > 2 || info->frames == 1);
}

/* What the copy leaves out, in one line. */
static void say_left_out(const struct common *common, const char *input,
                         const airy_stack_info *info)
{
    airy_hdf5_entry *entries = NULL;
    size_t count = 0, left = 0;
    char file[4096];
    const char *named = strstr(input, "::");
    snprintf(file, sizeof(file), "%.*s", (int)(named ? (size_t)(named - input) : strlen(input)),
             input);
    if (airy_hdf5_list(&entries, &count, file) != AIRY_OK)
        return;
    const char *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const airy_hdf5_entry *e = &entries[i];
        const bool copied = named ? strcmp(e->path, named + 2) == 0 : is_frames(e, info);
        if (e->ndim >= 2 && !copied && !strstr(e->path, "pixel_mask")) {
            first = first ? first : e->path;
            left++;
        }
    }
    if (left)
        tool_say(common,
                 "only the frames, geometry and pixel mask are carried over; %zu other array%s %s "
                 "(%s%s)",
                 left, left > 1 ? "s" : "", left > 1 ? "are not" : "is not", first,
                 left > 1 ? ", ..." : "");
    airy_hdf5_list_free(entries);
}

/* OUT of "IN OUT" or "IN -o OUT"; NULL: neither. */
static const char *find_output(const struct compress_params *p)
{
    const struct opt_list *inputs = &p->common.inputs;
    return p->output ? p->output : inputs->count > 1 ? inputs->items[1] : NULL;
}

static int check_compress(void *user)
{
    const struct compress_params *p = user;
    const struct common *common = &p->common;
    const char *output = find_output(p);
    if (p->output && common->inputs.count > 1)
        return tool_usage(common, "unexpected argument '%s' beside -o %s", common->inputs.items[1],
                          p->output);
    if (!output)
        return tool_usage(common, "no output: give OUT.h5 behind the input");
    if (!tool_has_suffix(output, ".h5") && !tool_has_suffix(output, ".hdf5") &&
        !tool_has_suffix(output, ".nxs"))
        return tool_usage(common, "output '%s': expected a name that ends in .h5, .hdf5 or .nxs",
                          output);
    if (p->block > UINT32_MAX)
        return tool_usage(common, "--block %llu: expected at most 4294967295 bytes",
                          (unsigned long long)p->block);
    return AIRY_EXIT_OK;
}

static int copy_stack(const struct compress_params *p, const airy_codec_params *codec)
{
    const struct common *common = &p->common;
    const char *input = common->inputs.items[0], *output = find_output(p);
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_status status = stack_open_one(&stack, common, input);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(stack, &meta);
    int code = status == AIRY_OK ? tool_keep_stack(common, output, stack)
                                 : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && codec->block_bytes % (8 * airy_dtype_size(info.dtype)) != 0)
        code = tool_usage(common, "--block %u: expected a multiple of %zu bytes, 8 elements of %s",
                          codec->block_bytes, 8 * airy_dtype_size(info.dtype),
                          airy_dtype_name(info.dtype));
    uint8_t *mask = NULL;
    if (code == AIRY_EXIT_OK && meta.has_mask) {
        mask = malloc(info.height * info.width);
        if (!mask)
            code =
                tool_fail(common, "out of memory for a mask of %zu x %zu", info.height, info.width);
        else if ((status = airy_stack_mask(stack, mask)) != AIRY_OK)
            code = tool_failed(common, status);
    }
    if (code == AIRY_EXIT_OK) {
        const char *dataset = strstr(info.dataset, "::");
        dataset = dataset ? dataset + 2 : "/entry/data/data";
        const bool usual = p->frames_per_file || info.files > 1 || strstr(dataset, "data_0");
        struct stack_out out = {.common = common,
                                .path = output,
                                .writer = {.dtype = info.dtype,
                                           .height = info.height,
                                           .width = info.width,
                                           .codec = *codec,
                                           .dataset = usual ? NULL : dataset,
                                           .frames_per_file = p->frames_per_file,
                                           .geometry = meta.has_geometry ? &meta.geometry : NULL,
                                           .mask = mask},
                                .fill = {.stack = stack}};
        if (codec->codec != AIRY_CODEC_NONE)
            out.writer.codec.elem_size = (uint32_t)airy_dtype_size(info.dtype);
        code = stack_out_choose(&out, &p->frames, info.frames);
        if (code == AIRY_EXIT_OK)
            code = stack_out_run(&out);
        if (code == AIRY_EXIT_OK)
            code = stack_out_report(&out);
        if (code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY)
            say_left_out(common, input, &info);
    }
    free(mask);
    airy_stack_destroy(&stack);
    return code;
}

static int run_compress(void *user)
{
    const struct compress_params *p = user;
    const airy_codec_params codec = {.codec = p->has_codec ? p->codec : AIRY_CODEC_BSLZ4,
                                     .block_bytes = (uint32_t)p->block};
    return copy_stack(p, &codec);
}

static int run_decompress(void *user)
{
    const struct compress_params *p = user;
    const airy_codec_params codec = {.codec = AIRY_CODEC_NONE};
    return copy_stack(p, &codec);
}

#define CARRIED                                                                                    \
    "Pixels are kept exactly, frame by frame, with the geometry and the pixel mask that the file " \
    "says; other "                                                                                 \
    "datasets are not carried over."

const struct command cmd_compress = {
    .name = "compress",
    .usage = "IN.h5[::DATASET] OUT.h5|-o OUT.h5 [options]",
    .summary = "write a stack bitshuffle-LZ4 or LZ4 compressed, one chunk a frame",
    .details = CARRIED,
    .examples = "  airy compress plain.h5 small.h5\n"
                "  airy compress plain.h5::/entry/data/data small.h5 --filter lz4\n"
                "  airy compress plain.h5 run_master.h5 --frames-per-file 1000\n",
    .tables = {compress_options, output_options},
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .params_size = sizeof(struct compress_params),
    .min_inputs = 1,
    .max_inputs = 2,
    .writes = 2,
    .check = check_compress,
    .run = run_compress,
};

const struct command cmd_decompress = {
    .name = "decompress",
    .usage = "IN.h5[::DATASET] OUT.h5|-o OUT.h5 [options]",
    .summary = "write a stack without compression",
    .details = CARRIED,
    .examples = "  airy decompress series_master.h5 plain.h5\n",
    .tables = {output_options},
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .params_size = sizeof(struct compress_params),
    .min_inputs = 1,
    .max_inputs = 2,
    .writes = 2,
    .check = check_compress,
    .run = run_decompress,
};
