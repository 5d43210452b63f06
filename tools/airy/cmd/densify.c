/* airy densify: sparse frames to a stack again. */
#include <stdlib.h>
#include <string.h>

#include "airy/sparse.h"
#include "integrate/integrate.h"
#include "cli/stack_out.h"

struct densify_params {
    struct common common;
    const char *output;
    airy_densify_noise noise;
    uint64_t seed;
    size_t frames_per_file;
    struct frames_opt frames;
    bool has_seed;
};

static const char *const noises[] = {"none", "poisson", "gaussian", NULL};

#define FIELD(member) .offset = offsetof(struct densify_params, member)
#define SEEN(member)  .seen = offsetof(struct densify_params, member)

static const struct opt densify_options[] = {
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT.h5",
     .help = "the stack, bitshuffle-LZ4 compressed, one chunk a frame"},
    STACK_FILES_OPTION(struct densify_params, frames_per_file),
    {.name = "noise",
     .type = OPT_WORD,
     FIELD(noise),
     .words = noises,
     .argument = "KIND",
     .fallback = "none",
     .help = "of the background: none (the mean), poisson, or gaussian by the ring's standard "
             "deviation"},
    {.name = "seed",
     .type = OPT_SEED,
     FIELD(seed),
     SEEN(has_seed),
     .argument = "N",
     .fallback = "0",
     .help = "of the noise; a pixel's depends on seed, frame and pixel alone"},
    {.heading = "Run"},
    STACK_FRAMES_OPTIONS(struct densify_params, frames),
    {0},
};

struct densify {
    const struct densify_params *params;
    const airy_sparse *sparse;
    airy_sparse_info info;
    airy_densify_params how;
    size_t size;
};

static airy_status make_frame(void *source, size_t frame, void *pixels)
{
    const struct densify *d = source;
    return airy_sparse_densify(d->sparse, frame, pixels, d->size, &d->how);
}

/* The geometry that the configuration tells, if it does. */
static bool find_geometry(airy_geometry *geometry, const airy_sparse_info *info)
{
    json_t *json = json_loads(info->configuration, 0, NULL);
    const bool found = json && geometry_from_json(geometry, json_object_get(json, "geometry")) &&
                       geometry->detector.height == info->height &&
                       geometry->detector.width == info->width &&
                       airy_geometry_check(geometry) == AIRY_OK;
    json_decref(json);
    return found;
}

/* Bytes that a frame takes beside its pixels, with as many kept ones as frames have on average. */
static size_t part_bytes(const airy_sparse_info *info)
{
    const size_t kept = info->frames ? (size_t)(info->pixels / info->frames) + 1 : 1;
    return kept * (sizeof(int64_t) + airy_dtype_size(info->dtype)) + 2 * info->bins * sizeof(float);
}

static int write_stack(struct densify *d)
{
    const struct densify_params *p = d->params;
    const airy_sparse_info *info = &d->info;
    airy_geometry geometry;
    uint8_t *mask = malloc(info->height * info->width);
    if (!mask)
        return tool_fail(&p->common, "out of memory for a mask of %zu x %zu", info->height,
                         info->width);
    const airy_status status = airy_sparse_mask(d->sparse, mask);
    struct stack_out out = {
        .common = &p->common,
        .path = p->output,
        .writer = {.dtype = info->dtype,
                   .height = info->height,
                   .width = info->width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4,
                             .elem_size = (uint32_t)airy_dtype_size(info->dtype)},
                   .geometry = find_geometry(&geometry, info) ? &geometry : NULL,
                   .mask = mask,
                   .frames_per_file = p->frames_per_file},
        .fill = {.make = make_frame, .source = d, .make_bytes = part_bytes(info)}};
    int code = status == AIRY_OK ? stack_out_choose(&out, &p->frames, info->frames)
                                 : tool_failed(&p->common, status);
    if (code == AIRY_EXIT_OK)
        code = stack_out_run(&out);
    if (code == AIRY_EXIT_OK)
        code = stack_out_report(&out);
    free(mask);
    return code;
}

static int check_densify(void *user)
{
    const struct densify_params *p = user;
    const struct common *common = &p->common;
    if (!p->output)
        return tool_usage(common, "no output: give -o OUT.h5");
    if (!integrate_is_hdf5_name(p->output))
        return tool_usage(common, "output '%s': expected a name that ends in .h5, .hdf5 or .nxs",
                          p->output);
    if (p->has_seed && p->noise == AIRY_DENSIFY_SMOOTH)
        return tool_usage(common, "--seed goes with --noise poisson or gaussian");
    return AIRY_EXIT_OK;
}

static int run_densify(void *user)
{
    const struct densify_params *p = user;
    const struct common *common = &p->common;
    struct densify d = {.params = p};
    airy_sparse *sparse = NULL;
    airy_status status = airy_sparse_create(&sparse, common->inputs.items[0]);
    if (status == AIRY_OK)
        status = airy_sparse_get_info(sparse, &d.info);
    d.sparse = sparse;
    d.size = d.info.height * d.info.width * airy_dtype_size(d.info.dtype);
    d.how = (airy_densify_params){.noise = p->noise, .seed = p->seed};
    const int code = status == AIRY_OK ? write_stack(&d) : tool_failed(common, status);
    airy_sparse_destroy(&sparse);
    return code;
}

const struct command cmd_densify = {
    .name = "densify",
    .usage = "SPARSE.h5 -o OUT.h5 [options]",
    .summary = "frames again from a file of 'airy peaks' or of pyFAI's sparsify-Bragg",
    .details =
        "Kept pixels are as they were, masked ones have the file's dummy value, and elsewhere is "
        "the frame's background: its mean by the pixel's radius, times the pixel's normalization, "
        "plus dark, rounded where pixels are integers. Noise is drawn only by --noise.",
    .examples = "  airy densify sparse.h5 -o again.h5\n"
                "  airy densify sparse.h5 -o again.h5 --noise poisson --seed 7 --frames 0:10\n",
    .tables = {densify_options},
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .params_size = sizeof(struct densify_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_densify,
    .run = run_densify,
};
