/* Any image or stack to any format, exactly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "base/cgroup.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"
#include "io/file/format.h"
#include "jobs/image_group.h"

struct values {
    struct airy_image_values from;
    char *output;
    bool pairs, force;
    struct airy_frames_values frames;
    struct airy_compute_values compute;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes this file, in the format of its suffix; FILE.h5::DATASET writes a file of "
                "that dataset alone, and {force} replaces no file that holds others",
        .section = "Output"),
    ROW(pairs, .name = "complex-as-pairs", .type = AIRY_PARAMETER_FLAG,
        .affects = AIRY_AFFECTS_WHERE,
        .help = "writes complex numbers as real ones with a last axis of 2, the real and the "
                "imaginary part"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"image", AIRY_JOB_ARRAY, "output",
     "the image, up to four dimensions; complex numbers have a last axis of 2"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the elements"},
    {"shape", AIRY_JOB_NUMBERS, NULL, "lengths of the axes"},
    {"bad", AIRY_JOB_NUMBER, NULL, "frames that were left out, of several of a stack in HDF5"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct conversion {
    airy_job *job;
    const struct values *v;
    struct airy_job_image d; /* names the input, for warnings */
    const char *path, *name; /* of the input; path is NULL where it is an array */
    bool given;              /* frames are chosen */
    bool is_lent;            /* the data of the image are those of the array */
    char *file, *dataset;    /* of the output; NULL: there is none */
    airy_stack *stack;       /* of the input; NULL: it is not open, or is none */
    airy_stack_info info;
    airy_stack_meta meta;
    uint8_t *mask;
    airy_fits *fits;
    airy_image image;
};

static bool is_hdf5(const struct values *v)
{
    return v->output && airy_image_format_of_name(v->output) == AIRY_FORMAT_HDF5;
}

/* pixels: they are read from it; what concerns these alone is not reported otherwise. */
static airy_status open_stack(struct conversion *c, bool pixels)
{
    airy_status status = airy_job_image_open_stack(&c->stack, &c->d, pixels);
    if (status == AIRY_OK)
        status = airy_stack_get_info(c->stack, &c->info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(c->stack, &c->meta);
    if (status != AIRY_OK)
        airy_stack_destroy(&c->stack);
    return status;
}

static airy_status check_format(const struct conversion *c, airy_dtype dtype, int ndim)
{
    return airy_job_check_format("output", c->v->output, dtype, ndim);
}

/* The length of several axes. */
static size_t count_of(const size_t *shape, int ndim)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        if (airy_mul_size(&count, count, shape[i]))
            return SIZE_MAX;
    return count;
}

static size_t size_of(const size_t *shape, int ndim, airy_dtype dtype)
{
    size_t size = count_of(shape, ndim);
    return airy_mul_size(&size, size, airy_dtype_size(dtype)) ? SIZE_MAX : size;
}

/* Memory for an image of so many bytes: what is granted now need not be there later. */
static airy_status check_size(const struct conversion *c, size_t size, bool several)
{
    static const size_t large = (size_t)64 << 20; /* from which on memory is looked at */
    const uint64_t limit = c->v->compute.memory_limit,
                   left = size >= large ? airy_memory_available() : UINT64_MAX;
    AIRY_FAIL_HINT_IF(
        limit && size > limit, AIRY_ERR_MEMORY, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
        "%s %" PRIu64 ": an image of %zu bytes is larger; raise the limit%s", "memory-limit", limit,
        size, several ? ", or choose fewer of its frames" : "");
    AIRY_FAIL_HINT_IF(size > left, AIRY_ERR_MEMORY, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "%s: an image of %zu bytes is larger than the %" PRIu64
                      " bytes of memory that are left%s",
                      c->name, size, left, several ? "; choose fewer of its frames" : "");
    return AIRY_OK;
}

static airy_status check_stack_size(const struct conversion *c, size_t count)
{
    const size_t shape[3] = {count, c->info.height, c->info.width};
    return check_size(c, size_of(shape, 3, c->info.dtype), count > 1);
}

/* Chosen frames of the stack, read one by one: no others are in memory. */
static airy_status read_chosen(struct conversion *c)
{
    size_t count = 0;
    const size_t *frames = c->v->frames.frames;
    AIRY_TRY(airy_job_choose_frames(&count, &c->v->frames, c->info.frames, c->name));
    AIRY_TRY(check_format(c, c->info.dtype, count > 1 ? 3 : 2));
    AIRY_TRY(check_stack_size(c, count));
    AIRY_TRY(airy_job_read_frames(&c->image, c->stack, frames[0], count, frames[2]));
    if (count == 1) {
        c->image.ndim = 2;
        memmove(c->image.shape, c->image.shape + 1, 2 * sizeof(size_t));
    }
    return AIRY_OK;
}

/* Chosen planes of FITS with their header; without data where the header cannot follow. */
static airy_status read_planes(struct conversion *c)
{
    const size_t *frames = c->v->frames.frames;
    airy_image *image = &c->image;
    size_t count = 0;
    AIRY_TRY(airy_fits_open(&c->fits, c->path));
    AIRY_TRY(airy_fits_read(image, c->fits, 0, 0, 1));
    if (image->ndim < 2)
        return AIRY_OK;
    AIRY_TRY(airy_job_choose_frames(&count, &c->v->frames, count_of(image->shape, image->ndim - 2),
                                    c->name));
    if (airy_image_choose_planes(image, frames[0], count, frames[2]) != AIRY_OK)
        return AIRY_OK;
    AIRY_TRY(check_size(c, size_of(image->shape, image->ndim, image->dtype), count > 1));
    airy_image_free(image);
    return airy_fits_read(image, c->fits, frames[0], count, frames[2]);
}

/* Chosen frames of complex numbers, which are read as real ones of twice the width. */
static airy_status choose_complex(const struct conversion *c, airy_image *image)
{
    size_t count = 0;
    const size_t *frames = c->v->frames.frames;
    const int ndim = image->ndim;
    AIRY_FAIL_HINT_IF(ndim < 3, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s: %s holds one line of complex numbers", "frames", c->name);
    AIRY_TRY(
        airy_job_choose_frames(&count, &c->v->frames, count_of(image->shape, ndim - 3), c->name));
    image->shape[ndim - 2] *= 2;
    image->ndim--;
    if (ndim > 3)
        AIRY_TRY(airy_image_take_planes(image, frames[0], count, frames[2]));
    image->shape[ndim - 2] /= 2;
    if (count == 1 && ndim > 3) {
        image->shape[0] = image->shape[ndim - 3];
        image->shape[1] = image->shape[ndim - 2];
    }
    image->ndim = count == 1 ? 3 : ndim;
    image->shape[image->ndim - 1] = 2;
    return AIRY_OK;
}

/* A file that is no stack can hold complex numbers; status: why it is none. */
static airy_status read_complex(struct conversion *c, airy_status status)
{
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    AIRY_TRY(airy_image_read(&c->image, c->path));
    return c->image.is_complex ? choose_complex(c, &c->image) : airy_error_restore(&error);
}

static airy_status load_chosen(struct conversion *c)
{
    const struct values *v = c->v;
    const bool to_fits = v->output && airy_name_is_fits(v->output);
    if (to_fits && !v->from.channel && airy_image_is_fits(c->path))
        AIRY_TRY(read_planes(c));
    if (c->image.data)
        return AIRY_OK;
    airy_image_free(&c->image);
    const airy_status status = c->stack ? AIRY_OK : open_stack(c, true);
    if (status == AIRY_ERR_UNSUPPORTED)
        return read_complex(c, status);
    AIRY_TRY(status);
    return read_chosen(c);
}

/*
 * What the headers of the input say of the output's format and of the limit, before all is read.
 * What is no stack fails when it is read.
 */
static airy_status look_at_headers(struct conversion *c)
{
    const struct values *v = c->v;
    const bool holds_all = !v->output ||
                           airy_image_check_format(v->output, AIRY_DTYPE_F64, 3) == AIRY_OK;
    const bool has_limit = v->compute.memory_limit != 0,
               is_fits = has_limit && airy_image_is_fits(c->path);
    airy_image header = {0};
    if (is_fits && airy_fits_read_planes(&header, c->path, 0, 0, 1) == AIRY_OK) {
        const size_t size = size_of(header.shape, header.ndim, header.dtype);
        airy_image_free(&header);
        AIRY_TRY(check_size(c, size, header.ndim > 2));
    }
    if ((holds_all && (!has_limit || is_fits)) ||
        (!c->stack && open_stack(c, v->from.channel != NULL) != AIRY_OK))
        return AIRY_OK;
    if (!holds_all)
        AIRY_TRY(check_format(c, c->info.dtype, c->info.frames > 1 ? 3 : 0));
    return check_stack_size(c, c->info.frames);
}

static airy_status load_all(struct conversion *c)
{
    AIRY_TRY(look_at_headers(c));
    if (!c->v->from.channel)
        return airy_image_read(&c->image, c->path);
    if (!c->stack)
        AIRY_TRY(open_stack(c, true));
    return airy_job_read_frames(&c->image, c->stack, 0, c->info.frames, 1);
}

/* The array itself, or a copy of chosen planes of it. */
static airy_status load_array(struct conversion *c)
{
    airy_image *image = &c->image, all;
    const size_t *frames = c->v->frames.frames, step = c->given ? frames[2] : 1;
    AIRY_TRY(airy_job_load_image(&all, &c->v->from.image));
    const int leading = all.ndim > 2 ? all.ndim - 2 : 0;
    size_t count = count_of(all.shape, leading);
    const size_t size = size_of(all.shape + leading, all.ndim - leading, all.dtype);
    *image = all;
    c->is_lent = !c->given && !airy_job_keeps(c->job, "image");
    if (c->is_lent)
        return AIRY_OK;
    image->data = NULL;
    if (c->given)
        AIRY_TRY(airy_job_choose_frames(&count, &c->v->frames, count, c->name));
    AIRY_TRY(check_size(c, count * size, count > 1));
    AIRY_TRY(airy_memory_calloc(&image->data, count, size, "an image"));
    for (size_t i = 0; i < count; i++)
        memcpy((char *)image->data + i * size,
               (const char *)all.data + (frames[0] + i * step) * size, size);
    if (!c->given || !leading)
        return AIRY_OK;
    memmove(image->shape + (count > 1), all.shape + leading, 2 * sizeof(size_t));
    image->ndim = count > 1 ? 3 : 2;
    if (count > 1)
        image->shape[0] = count;
    return AIRY_OK;
}

static airy_status load(struct conversion *c)
{
    airy_image *image = &c->image;
    AIRY_TRY(!c->path ? load_array(c) : c->given ? load_chosen(c) : load_all(c));
    image->is_complex = image->is_complex && !c->v->pairs;
    if (!image->is_complex)
        AIRY_TRY(check_format(c, image->dtype, image->ndim));
    if (c->v->output && !image->header)
        airy_job_warn_header(c->job, c->v->output, c->path);
    airy_job_warn_cards(&c->d, image);
    AIRY_TRY(check_size(c, size_of(image->shape, image->ndim, image->dtype),
                        image->ndim > 2 && image->shape[0] > 1));
    const size_t frames = count_of(image->shape, image->ndim > 2 ? image->ndim - 2 : 0);
    AIRY_FAIL_IF(!airy_job_step(c->job, frames, frames), AIRY_ERR_CANCELLED,
                 "%s: cancelled after reading", c->v->output ? c->v->output : c->name);
    return AIRY_OK;
}

/* The geometry of a stack goes with its frames; FITS has its header. */
static airy_status write_image(struct conversion *c)
{
    const struct values *v = c->v;
    if (!v->output)
        return AIRY_OK;
    if (!c->stack && c->path && !airy_image_is_fits(c->path))
        (void)open_stack(c, false);
    if (c->stack)
        AIRY_TRY(airy_job_keep_stack(c->stack, c->file));
    const bool known =
        c->stack && !airy_image_is_fits(c->path) &&
        airy_stack_states(&c->mask, c->stack, &c->meta, v->output, airy_job_pass_message, c->job);
    return airy_image_write_stated(&c->image, v->output, v->force, known ? &c->meta : NULL,
                                   c->mask);
}

/* Texts are kept before there is a file that a lack of memory would leave behind. */
static airy_status put_texts(const struct conversion *c, const char *dtype)
{
    if (c->v->output)
        AIRY_TRY(airy_job_put_text(c->job, "output", c->v->output));
    return airy_job_put_text(c->job, "dtype", dtype);
}

static void put_shape(const struct conversion *c, const size_t *shape, int ndim, const char *dtype)
{
    char text[AIRY_SHAPE_TEXT];
    airy_job_put_shape(c->job, "shape", shape, ndim);
    airy_job_sum_up(c->job, "%s %s", airy_shape_text(text, shape, ndim), dtype);
}

static airy_status convert_image(struct conversion *c)
{
    airy_image *image = &c->image;
    AIRY_TRY(load(c));
    const char *dtype = airy_image_dtype_name(image);
    AIRY_TRY(put_texts(c, dtype));
    AIRY_TRY(write_image(c));
    put_shape(c, image->shape, image->ndim - image->is_complex, dtype);
    if (!airy_job_keeps(c->job, "image"))
        return AIRY_OK;
    airy_host_view view = {.dtype = image->dtype, .ndim = image->ndim};
    memcpy(view.shape, image->shape, sizeof(view.shape));
    airy_job_put_array(c->job, "image", &view, image->data);
    image->data = NULL;
    return AIRY_OK;
}

/* Frames of a stack into a stack, one by one, as they are. */
static airy_status write_stack(struct conversion *c, size_t frames)
{
    const struct values *v = c->v;
    const airy_stack_info *info = &c->info;
    const char *dtype = airy_dtype_name(info->dtype);
    const struct airy_output_values output = {.output = c->file, .force = v->force};
    const struct airy_output_group group = {&output, &v->frames, &v->compute};
    AIRY_TRY(airy_image_check_others(v->output));
    AIRY_TRY(airy_job_keep_stack(c->stack, c->file));
    /* What is known of frames goes with the usual dataset. */
    const bool usual = !c->dataset || strcmp(c->dataset, "/entry/data/data") == 0,
               known = usual && airy_stack_states(&c->mask, c->stack, &c->meta, v->output,
                                                  airy_job_pass_message, c->job);
    airy_stack_write_params params = {
        .format = {.dtype = info->dtype,
                   .frames = frames,
                   .height = info->height,
                   .width = info->width,
                   .dataset = c->dataset,
                   .geometry = known && c->meta.has_geometry ? &c->meta.geometry : NULL,
                   .mask = c->mask},
        .fill = {.stack = c->stack}};
    airy_stack_write_info done;
    AIRY_TRY(put_texts(c, dtype));
    const airy_status status = airy_job_fill_stack(c->job, &params, &group, &done);
    if (status >= AIRY_OK) {
        put_shape(c, (const size_t[3]){frames, info->height, info->width}, 3, dtype);
        airy_job_put_number(c->job, "bad", (double)done.fill.bad);
    }
    return status;
}

/* Several frames for an output that takes them one by one; *done: that is what there was to do. */
static airy_status convert_frames(struct conversion *c, bool *done)
{
    const struct values *v = c->v;
    const size_t *frames = v->frames.frames;
    const bool one = c->given && frames[1] && frames[1] - frames[0] <= frames[2],
               asked = c->given || v->frames.on_error || v->compute.profile;
    size_t count = 0;
    *done = false;
    if (!c->path || one || !asked || !is_hdf5(v) || airy_job_keeps(c->job, "image") ||
        open_stack(c, true) != AIRY_OK)
        return AIRY_OK;
    AIRY_TRY(airy_job_choose_frames(&count, &v->frames, c->info.frames, c->name));
    *done = count > 1;
    return *done ? write_stack(c, count) : AIRY_OK;
}

static airy_status run(airy_job *job, void *state)
{
    struct conversion *c = state;
    const struct values *v = job->values;
    bool done = false;
    *c = (struct conversion){.job = job,
                             .v = v,
                             .d = {.job = job, .from = &v->from},
                             .path = v->from.image.path,
                             .given = airy_job_is_set(job, "frames")};
    c->name = airy_job_image_name(&c->d);
    if (v->output)
        AIRY_TRY(airy_stack_split(&c->file, &c->dataset, v->output));
    const airy_status status = convert_frames(c, &done);
    if (status != AIRY_OK || done)
        return status;
    AIRY_FAIL_ON_IF(v->compute.profile, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: %s is not several frames of a stack, whose steps are counted", "profile",
                    c->name);
    return convert_image(c);
}

static void close_conversion(void *state)
{
    struct conversion *c = state;
    free(c->file);
    free(c->dataset);
    free(c->mask);
    if (c->is_lent)
        c->image.data = NULL;
    airy_image_free(&c->image);
    airy_fits_close(&c->fits);
    airy_stack_destroy(&c->stack);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const char *name = v->frames.on_error ? "on-error" : v->compute.profile ? "profile" : NULL;
    AIRY_FAIL_ON_IF(name && !is_hdf5(v), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s%s goes with an output in HDF5, which frames are written to one by one",
                    name, v->frames.on_error ? " skip" : "");
    AIRY_FAIL_ON_IF(v->from.image.is_array && v->from.channel, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %s: an array has no channels", "channel",
                    v->from.channel);
    return AIRY_OK;
}

#if AIRY_HAVE_FITS
#define FITS "FITS (FILE or FILE[EXT]), "
#else
#define FITS ""
#endif
#if AIRY_HAVE_TIFF
#define TIFF "TIFF, "
#else
#define TIFF ""
#endif

extern const struct airy_job_kind airy_job_convert;
const struct airy_job_kind airy_job_convert = {
    .name = "convert",
    .summary = "convert an image or a stack to another format, exactly",
    .details =
        "The input is NPY, EDF, " FITS TIFF "PNG, CBF or HDF5 (FILE or FILE::DATASET), up to four "
        "dimensions, or a kernel of SExtractor (.conv), in either byte order. Element type, shape "
        "and values are kept, but booleans of NPY become uint8 (0 and 1). What the format of the "
        "output cannot hold is an error. NPY and HDF5 hold complex numbers; complex-as-pairs "
        "also writes them to other formats. Values of FITS are physical (BSCALE, BZERO, BLANK). "
        "The header goes along from FITS to FITS, also with chosen frames: their axis keeps its "
        "coordinates, and a single one has an axis of length 1. The whole image is in memory: one "
        "that is larger than memory-limit is refused. Chosen frames are those of a stack, or "
        "planes of an image. One of them becomes an image of two dimensions; several go to HDF5 "
        "one by one, with one frame for each thread in memory.",
    .groups = {{airy_image_rows, offsetof(struct values, from)},
               {rows, 0},
               {airy_frames_rows, offsetof(struct values, frames)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct conversion),
    .check = check,
    .run = run,
    .close = close_conversion,
};
