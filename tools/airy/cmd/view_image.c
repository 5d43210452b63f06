#include "cmd/view_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/gaps.h"

bool view_borrows(const char *section, const char *name)
{
    return strcmp(name, "channel") == 0 || (section && strcmp(section, "Bad pixels") == 0);
}

int view_take_input(struct view_input *input, const struct common *common)
{
    const char *dummy = opt_given(common, "dummy", NULL),
               *delta = opt_given(common, "delta-dummy", NULL);
    *input = (struct view_input){.channel = opt_given(common, "channel", NULL),
                                 .mask = opt_given(common, "mask", NULL),
                                 .has_dummy = dummy != NULL};
    if (delta && !dummy)
        return tool_usage(common, "--delta-dummy needs --dummy");
    (void)(dummy && opt_any_number(&input->dummy, dummy)); /* the job has looked at them */
    (void)(delta && opt_number(delta, &input->delta_dummy));
    return AIRY_EXIT_OK;
}

/* --dummy -999.9 is the float32 nearest to it where pixels are of that, as for jobs. */
static bool is_dummy(const struct view_input *input, airy_dtype dtype, double value)
{
    const double dummy = airy_dtype_nearest(dtype, input->dummy);
    return input->has_dummy && (value == dummy || (isnan(value) && isnan(dummy)) ||
                                fabs(value - dummy) <= input->delta_dummy);
}

/* False: dtype is a type of integers that has no such value. */
static bool can_be_dummy(const struct view_input *input, airy_dtype dtype)
{
    if (airy_dtype_is_float(dtype))
        return true;
    const double limit = airy_dtype_largest(dtype),
                 least = airy_dtype_is_signed(dtype) ? -limit - 1 : 0,
                 from = fmax(ceil(input->dummy - input->delta_dummy), least),
                 to = fmin(floor(input->dummy + input->delta_dummy), limit);
    return isfinite(input->dummy) && from <= to;
}

void view_say_no_dummy(const struct common *common, const struct view_input *input,
                       const struct image_frame *frame)
{
    if (!input->has_dummy || frame->dummies)
        return;
    char within[48] = "", why[48] = "none has such a value";
    if (input->delta_dummy > 0)
        snprintf(within, sizeof(within), " --delta-dummy %.15g", input->delta_dummy);
    if (!can_be_dummy(input, frame->dtype))
        snprintf(why, sizeof(why), "%s has no such value", airy_dtype_name(frame->dtype));
    tool_say(common, "--dummy=%.15g%s leaves out no pixel: %s", input->dummy, within, why);
}

/* A plane. Exit code. */
static int read_plane(const struct common *common, const char *path, const char *channel,
                      airy_image_plane *plane, airy_image *image)
{
    const airy_status status = airy_image_read_plane(image, plane, path, channel);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* "5 x 16 x 20" */
static const char *shape_text(char text[96], const airy_image *image)
{
    size_t used = 0;
    for (int i = 0; i < image->ndim && used < 96; i++)
        used += (size_t)snprintf(text + used, 96 - used, i ? " x %zu" : "%zu", image->shape[i]);
    return text;
}

/* A mask of another shape than the image. Exit code. */
static int refuse_mask(const struct common *common, const char *path, const airy_image *mask,
                       const airy_image *image)
{
    char got[96], want[96];
    return tool_fail(common, "--mask %s: has %s values, the image %s; give one of that shape", path,
                     shape_text(got, mask), shape_text(want, image));
}

/* All planes, without their values. */
static airy_image whole_of(const airy_image_plane *plane)
{
    if (plane->planes == 1)
        return (airy_image){.ndim = 2, .shape = {plane->height, plane->width}};
    return (airy_image){.ndim = 3, .shape = {plane->planes, plane->height, plane->width}};
}

int view_mask(const struct common *common, const char *path, const airy_image_plane *plane,
              uint8_t *bad)
{
    airy_image_plane of = {.number = plane->number};
    airy_image mask = {0};
    int code = read_plane(common, path, NULL, &of, &mask);
    if (code == AIRY_EXIT_OK && of.planes == 1 && of.number > 0) { /* one for all */
        of.number = 0;
        airy_image_free(&mask);
        code = read_plane(common, path, NULL, &of, &mask);
    }
    if (code == AIRY_EXIT_OK && (of.height != plane->height || of.width != plane->width ||
                                 (of.planes != 1 && of.planes != plane->planes))) {
        const airy_image got = whole_of(&of), want = whole_of(plane);
        code = refuse_mask(common, path, &got, &want);
    }
    for (size_t i = 0; code == AIRY_EXIT_OK && i < plane->height * plane->width; i++)
        bad[i] = airy_image_value(&mask, i) != 0; /* NaN differs from 0, so it is bad */
    airy_image_free(&mask);
    return code;
}

/* The attribute `units` of FILE::DATASET, which frames are read from. */
static void read_units(struct image_frame *frame, const char *place)
{
    const char *mark = strstr(place, "::");
    char file[4096], object[1100], *text = NULL;
    if (!mark)
        return;
    snprintf(file, sizeof(file), "%.*s", (int)(mark - place), place);
    snprintf(object, sizeof(object), "%.1000s@units", mark + 2);
    if (airy_hdf5_text(&text, file, object) == AIRY_OK)
        snprintf(frame->unit, sizeof(frame->unit), "%s", text);
    free(text);
}

/* A frame of a file on its way into a picture. */
struct loading {
    const char *path;
    const struct view_input *input;
    size_t number;
    struct image_frame *picture; /* its number of frames, sizes and unit are filled */
    airy_dtype dtype;
    const void *data; /* of the frame; in image or owned */
    airy_image image;
    airy_stack *stack;
    void *owned;
    uint8_t *mask; /* the file's, NULL: none */
};

/* A file of arrays: all but the last two dimensions count its frames. Exit code. */
static int load_of_image(struct loading *l, const struct common *common)
{
    struct image_frame *picture = l->picture;
    airy_image_plane plane = {.number = l->number};
    const int code = read_plane(common, l->path, l->input->channel, &plane, &l->image);
    picture->height = plane.height;
    picture->width = plane.width;
    picture->frames = plane.planes;
    if (airy_image_get_card(&l->image, "BUNIT", picture->unit) != AIRY_OK)
        picture->unit[0] = 0;
    l->dtype = l->image.dtype;
    l->data = l->image.data;
    return code;
}

/* Exit code; a frame that the stack does not have is not read. */
static int load_of_stack(struct loading *l, const struct common *common)
{
    struct image_frame *picture = l->picture;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_status status = airy_stack_get_info(l->stack, &info);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    picture->height = info.height;
    picture->width = info.width;
    picture->frames = info.frames;
    read_units(picture, info.dataset);
    if (l->number >= info.frames)
        return AIRY_EXIT_OK;
    const size_t count = info.height * info.width, size = count * airy_dtype_size(info.dtype);
    l->dtype = info.dtype;
    l->data = l->owned = malloc(size);
    l->mask = calloc(count, 1);
    if (!l->owned || !l->mask)
        return tool_fail(common, "out of memory for a frame of %zu bytes", size);
    if ((status = airy_stack_read(l->stack, l->number, l->owned, size)) == AIRY_OK &&
        (status = airy_stack_get_meta(l->stack, &meta)) == AIRY_OK && meta.has_mask)
        status = airy_stack_mask(l->stack, l->mask);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* The values as numbers, NaN where there is none. Exit code. */
static int fill_values(const struct loading *l, const struct common *common, bool plain)
{
    struct image_frame *picture = l->picture;
    const size_t count = picture->height * picture->width;
    const airy_image frame = {
        .dtype = l->dtype, .ndim = 1, .shape = {count}, .data = (void *)l->data};
    picture->dtype = l->dtype;
    picture->dummies = 0;
    picture->values = malloc(count * sizeof(double));
    if (!picture->values)
        return tool_fail(common, "out of memory for %zu pixels", count);
    for (size_t i = 0; i < count; i++) {
        const double v = airy_image_value(&frame, i);
        const bool dummy = is_dummy(l->input, l->dtype, v),
                   bad = dummy || (l->mask && l->mask[i]) || airy_gap_is(l->dtype, v, plain);
        picture->values[i] = bad ? (double)NAN : v;
        picture->dummies += dummy;
    }
    return AIRY_EXIT_OK;
}

int view_load(const struct common *common, const struct view_input *input, size_t number,
              const char *output, struct image_frame *picture)
{
    const char *path = common->inputs.items[0];
    const airy_stack_params params = {.channel = input->channel};
    struct loading l = {.path = path, .input = input, .number = number, .picture = picture};
    const bool plain = airy_image_is_plain(path);
    /* FITS has a unit in its header, which a stack does not have. */
    const airy_status status = plain && airy_image_is_fits(path)
                                   ? AIRY_ERR_UNSUPPORTED
                                   : airy_stack_create_with(&l.stack, &path, 1, &params);
    int code = status == AIRY_OK ? load_of_stack(&l, common)
               : plain           ? load_of_image(&l, common)
                                 : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && number >= picture->frames)
        code = tool_fail(common, "--frame %zu: %s has %zu frame%s, numbered from 0", number, path,
                         picture->frames, tool_s(picture->frames));
    if (code == AIRY_EXIT_OK)
        code = fill_values(&l, common, plain);
    free(l.owned);
    free(l.mask);
    airy_image_free(&l.image);
    if (code == AIRY_EXIT_OK && l.stack)
        code = tool_keep_stack(common, output, l.stack);
    airy_stack_destroy(&l.stack);
    return code;
}

int image_percentiles(const struct common *common, const double *values, size_t count,
                      bool positive, double limits[2], size_t *good)
{
    const size_t step = count / 1000000 + 1;
    double *sorted = malloc((count / step + 1) * sizeof(double));
    size_t n = 0;
    if (!sorted)
        return tool_fail(common, "out of memory for %zu values", count / step + 1);
    for (size_t i = 0; i < count; i += step)
        if (isfinite(values[i]) && (!positive || values[i] > 0))
            sorted[n++] = values[i];
    tool_sort(sorted, n);
    limits[0] = n ? sorted[(size_t)(0.01 * (double)(n - 1))] : 0;
    limits[1] = n ? sorted[(size_t)(0.995 * (double)(n - 1))] : 1;
    free(sorted);
    *good = n;
    return AIRY_EXIT_OK;
}
