/* Sparse frames to a stack again. */
#include <stdlib.h>

#include "airy/sparse.h"
#include "jobs/groups.h"

struct values {
    char *sparse;
    struct airy_output_values output;
    struct airy_frames_values frames;
    struct airy_compute_values compute;
    int noise; /* airy_densify_noise, in the order of the words */
    uint64_t seed;
};

static const char *const noises[] = {"none", "poisson", "gaussian", NULL};
_Static_assert(AIRY_DENSIFY_SMOOTH == 0 && AIRY_DENSIFY_GAUSSIAN == 2, "noises are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(sparse, .name = "sparse", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_INPUT,
        .argument = "SPARSE.h5", .help = "the file of sparse frames"),
    ROW(noise, .name = "noise", .type = AIRY_PARAMETER_WORD, .words = noises, .argument = "KIND",
        .fallback = "none",
        .help = "draws noise of the background: none takes the mean, poisson draws counts of that "
                "mean, gaussian takes the standard deviation of the ring",
        .section = "Background"),
    ROW(seed, .name = "seed", .type = AIRY_PARAMETER_SEED, .argument = "N", .fallback = "0",
        .help = "draws other noise for each seed; that of a pixel depends on seed, frame and pixel "
                "alone",
        .only_with = {"noise", &noises[1]}),
    {{0}, 0, NULL}};

/* What is open during a run; several threads make frames of it. */
struct densify {
    airy_job *job;
    const struct values *v;
    airy_sparse *sparse;
    airy_sparse_info info;
    airy_densify_params how;
    size_t size; /* bytes of a frame */
    uint8_t *mask;
};

static airy_status make_frame(void *source, size_t frame, void *pixels)
{
    const struct densify *d = source;
    return airy_sparse_densify(d->sparse, frame, pixels, d->size, &d->how);
}

/* The geometry that the configuration tells, if it does. */
static bool find_geometry(airy_geometry *geometry, const airy_sparse_info *info)
{
    return airy_geometry_parse(geometry, info->configuration) == AIRY_OK &&
           geometry->detector.height == info->height && geometry->detector.width == info->width &&
           airy_geometry_check(geometry) == AIRY_OK;
}

/* Bytes that a frame takes beside its pixels, with as many kept ones as frames have on average. */
static size_t part_bytes(const airy_sparse_info *info)
{
    const size_t kept = info->frames ? (size_t)(info->pixels / info->frames) + 1 : 1;
    return kept * (sizeof(int64_t) + airy_dtype_size(info->dtype)) + 2 * info->bins * sizeof(float);
}

static airy_status open_sparse(struct densify *d)
{
    AIRY_TRY(airy_sparse_create(&d->sparse, d->v->sparse));
    AIRY_TRY(airy_sparse_get_info(d->sparse, &d->info));
    d->size = d->info.height * d->info.width * airy_dtype_size(d->info.dtype);
    d->mask = malloc(d->info.height * d->info.width);
    AIRY_FAIL_IF(!d->mask, AIRY_ERR_MEMORY, "out of memory for a mask of %zu x %zu", d->info.height,
                 d->info.width);
    return airy_sparse_mask(d->sparse, d->mask);
}

static airy_status write_stack(struct densify *d)
{
    const struct values *v = d->v;
    const airy_sparse_info *info = &d->info;
    const struct airy_output_group group = {&v->output, &v->frames, &v->compute};
    const char *input = v->sparse;
    airy_geometry geometry;
    airy_stack_write_params params = {
        .format = {.dtype = info->dtype,
                   .height = info->height,
                   .width = info->width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4,
                             .elem_size = (uint32_t)airy_dtype_size(info->dtype)},
                   .geometry = find_geometry(&geometry, info) ? &geometry : NULL,
                   .mask = d->mask},
        .fill = {.make = make_frame, .source = d, .make_bytes = part_bytes(info)},
        .inputs = &input,
        .input_count = 1};
    AIRY_TRY(airy_job_choose_frames(&params.format.frames, &v->frames, info->frames, input));
    return airy_job_write_stack(d->job, &params, &group);
}

static airy_status run(airy_job *job, void *state)
{
    const struct values *v = job->values;
    struct densify *d = state;
    *d = (struct densify){
        .job = job, .v = v, .how = {.noise = (airy_densify_noise)v->noise, .seed = v->seed}};
    AIRY_TRY(open_sparse(d));
    return write_stack(d);
}

static void close_densify(void *state)
{
    struct densify *d = state;
    free(d->mask);
    airy_sparse_destroy(&d->sparse);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    return airy_job_check_output(&v->output);
}

extern const struct airy_job_kind airy_job_densify;
const struct airy_job_kind airy_job_densify = {
    .name = "densify",
    .summary = "frames again from a file of 'airy peaks' or of pyFAI's sparsify-Bragg",
    .details =
        "Kept pixels are as they were, masked ones have the file's dummy value, and elsewhere is "
        "the frame's background: its mean by the pixel's radius, times the pixel's normalization, "
        "plus dark, rounded where pixels are integers. Noise is drawn only where it is asked for. "
        "The stack is bitshuffle-LZ4 compressed.",
    .groups = {{rows, 0},
               {airy_stack_output_rows, offsetof(struct values, output)},
               {airy_frames_rows, offsetof(struct values, frames)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = airy_stack_output_results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct densify),
    .check = check,
    .run = run,
    .close = close_densify,
};
