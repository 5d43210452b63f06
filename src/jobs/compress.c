/* A stack to another encoding, pixel for pixel the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/groups.h"

struct values {
    struct airy_stack_values stack;
    struct airy_frames_values frames;
    struct airy_output_values output;
    struct airy_compute_values compute;
    int filter; /* in the order of the words */
    uint64_t block;
};

static const char *const filters[] = {"bslz4", "lz4", NULL};
static const airy_codec codecs[] = {AIRY_CODEC_BSLZ4, AIRY_CODEC_LZ4};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(filter, .name = "filter", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_HOW,
        .words = filters, .argument = "NAME", .fallback = "bslz4",
        .help = "compresses with this filter: bslz4 is HDF5 filter 32008, lz4 is 32004",
        .section = "Encoding"),
    ROW(block, .name = "block", .type = AIRY_PARAMETER_BYTES, .affects = AIRY_AFFECTS_HOW, .lo = 1,
        .hi = UINT32_MAX, .argument = "BYTES", .fallback = "the filter's: 8192 for bslz4",
        .computed = true, .help = "compresses blocks of so many bytes, a multiple of 8 pixels"),
    {{0}, 0, NULL}};

/* What is open during a run. */
struct copy {
    airy_job *job;
    const struct values *v;
    airy_codec_params codec;
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    uint8_t *mask;
};

static const char *input_of(const struct copy *c)
{
    return airy_job_stack_name(&c->v->stack);
}

static airy_status open_stack(struct copy *c)
{
    AIRY_TRY(airy_job_open_stack(c->job, &c->stack, &c->v->stack));
    AIRY_TRY(airy_stack_get_info(c->stack, &c->info));
    AIRY_TRY(airy_stack_get_meta(c->stack, &c->meta));
    const size_t size = airy_dtype_size(c->info.dtype), pixels = c->info.height * c->info.width;
    AIRY_FAIL_ON_IF(c->codec.block_bytes % (8 * size) != 0, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_PARAMETER,
                    "%s %u: expected a multiple of %zu bytes, 8 elements of %s", "block",
                    c->codec.block_bytes, 8 * size, airy_dtype_name(c->info.dtype));
    if (c->codec.codec != AIRY_CODEC_NONE)
        c->codec.elem_size = (uint32_t)size;
    if (!c->meta.has_mask)
        return AIRY_OK;
    c->mask = malloc(pixels);
    AIRY_FAIL_IF(!c->mask, AIRY_ERR_MEMORY, "out of memory for a mask of %zu x %zu", c->info.height,
                 c->info.width);
    return airy_stack_mask(c->stack, c->mask);
}

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
static void warn_left_out(const struct copy *c)
{
    airy_hdf5_entry *entries = NULL;
    size_t count = 0, left = 0;
    const char *input = input_of(c), *named = strstr(input, "::"), *first = NULL;
    char file[4096];
    snprintf(file, sizeof(file), "%.*s", (int)(named ? (size_t)(named - input) : strlen(input)),
             input);
    if (airy_hdf5_list(&entries, &count, file) != AIRY_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const airy_hdf5_entry *e = &entries[i];
        const bool copied = named ? strcmp(e->path, named + 2) == 0 : is_frames(e, &c->info);
        if (e->ndim < 2 || copied || strstr(e->path, "pixel_mask"))
            continue;
        first = first ? first : e->path;
        left++;
    }
    if (left)
        airy_job_message(c->job, AIRY_LOG_WARN,
                         "only the frames, geometry and pixel mask are copied; %zu other "
                         "array%s %s (%s%s)",
                         left, left > 1 ? "s" : "", left > 1 ? "are not" : "is not", first,
                         left > 1 ? ", ..." : "");
    airy_hdf5_list_free(entries);
}

static airy_status write_stack(const struct copy *c)
{
    const struct values *v = c->v;
    const airy_stack_info *info = &c->info;
    const char *named = strstr(info->dataset, "::");
    const char *dataset = named ? named + 2 : "/entry/data/data";
    const bool usual = v->output.frames_per_file || info->files > 1 || strstr(dataset, "data_0");
    const struct airy_output_group group = {&v->output, &v->frames, &v->compute};
    airy_stack_write_params params = {
        .format = {.dtype = info->dtype,
                   .height = info->height,
                   .width = info->width,
                   .codec = c->codec,
                   .dataset = usual ? NULL : dataset,
                   .geometry = c->meta.has_geometry ? &c->meta.geometry : NULL,
                   .mask = c->mask},
        .fill = {.stack = c->stack},
        .inputs = (const char *const *)v->stack.paths.items,
        .input_count = v->stack.paths.count};
    AIRY_TRY(airy_job_choose_frames(&params.format.frames, &v->frames, info->frames, input_of(c)));
    const airy_status status = airy_job_write_stack(c->job, &params, &group);
    if (status >= AIRY_OK && !v->stack.paths.is_array)
        warn_left_out(c);
    return status;
}

static airy_status copy_stack(airy_job *job, struct copy *c, airy_codec codec)
{
    const struct values *v = job->values;
    *c = (struct copy){
        .job = job, .v = v, .codec = {.codec = codec, .block_bytes = (uint32_t)v->block}};
    AIRY_TRY(open_stack(c));
    return write_stack(c);
}

static airy_status compress(airy_job *job, void *state)
{
    const struct values *v = job->values;
    return copy_stack(job, state, codecs[v->filter]);
}

static airy_status decompress(airy_job *job, void *state)
{
    return copy_stack(job, state, AIRY_CODEC_NONE);
}

static void close_copy(void *state)
{
    struct copy *c = state;
    free(c->mask);
    airy_stack_destroy(&c->stack);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(v->block % 8 != 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %" PRIu64 ": expected a multiple of 8 pixels, of 1 byte or more each",
                    "block", v->block);
    return airy_job_check_output(&v->output);
}

#define CARRIED                                                                                    \
    "Pixels are kept exactly, frame by frame, with the geometry and the pixel mask of the "        \
    "file; other datasets are not copied. A frame that on-error skip leaves out is never "         \
    "written."

extern const struct airy_job_kind airy_job_compress, airy_job_decompress;
const struct airy_job_kind airy_job_compress = {
    .name = "compress",
    .summary = "write a stack bitshuffle-LZ4 or LZ4 compressed, one chunk a frame",
    .details = CARRIED,
    .groups = {{rows, 0},
               {airy_stack_rows, offsetof(struct values, stack)},
               {airy_stack_output_rows, offsetof(struct values, output)},
               {airy_frames_rows, offsetof(struct values, frames)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = airy_stack_output_results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct copy),
    .check = check,
    .run = compress,
    .close = close_copy,
};
const struct airy_job_kind airy_job_decompress = {
    .name = "decompress",
    .summary = "write a stack without compression",
    .details = CARRIED,
    .groups = {{airy_stack_rows, offsetof(struct values, stack)},
               {airy_stack_output_rows, offsetof(struct values, output)},
               {airy_frames_rows, offsetof(struct values, frames)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = airy_stack_output_results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct copy),
    .check = check,
    .run = decompress,
    .close = close_copy,
};
