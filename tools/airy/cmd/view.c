/* airy view: an image as a PNG file. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job_command.h"
#include "cmd/view_image.h"
#include "plot/colormap.h"
#include "plot/font.h"

struct view_params {
    struct job_params job; /* stats, for its input's options */
    struct view_input input;
    const char *output;
    size_t frame, crop[4]; /* y0, y1, x0, x1 */
    double limits[2];
    int flip; /* 0, 'x', 'y' */
    const struct colormap *colormap;
    bool has_frame, has_crop, log, has_limits, colorbar;
};

static const char *parse_crop(void *field, const char *text)
{
    size_t *crop = field;
    int used = 0;
    if (strchr(text, '-') ||
        sscanf(text, "%zu:%zu,%zu:%zu%n", &crop[0], &crop[1], &crop[2], &crop[3], &used) != 4 ||
        text[used] || crop[0] >= crop[1] || crop[2] >= crop[3])
        return "expected rows and columns as y0:y1,x0:x1 with y0 < y1 and x0 < x1";
    return NULL;
}

static const char *parse_flip(void *field, const char *text)
{
    static const char *const words[] = {"x", "y", NULL};
    int which = 0;
    const char *expected = opt_word(text, words, &which);
    *(int *)field = (unsigned char)words[which][0];
    return expected;
}

static const char *parse_colormap(void *field, const char *text)
{
    const struct colormap *map = colormap_find(text);
    if (!map)
        return opt_word(text, colormap_names(), &(int){0});
    *(const struct colormap **)field = map;
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct view_params, member)

static const struct opt view_options[] = {
    {.heading = "Picture"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "names the picture to write"},
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     .seen = offsetof(struct view_params, has_frame),
     .lo = 0,
     .hi = 1e15,
     .argument = "N",
     .fallback = "0",
     .help = "selects a frame of a stack"},
    {.name = "crop",
     .type = OPT_PARSED,
     FIELD(crop),
     .seen = offsetof(struct view_params, has_crop),
     .parse = parse_crop,
     .argument = "y0:y1,x0:x1",
     .help = "selects part of the image, in pixels, ends excluded"},
    {.name = "log",
     .type = OPT_FLAG,
     FIELD(log),
     .help = "sets logarithmic colours; values <= 0 take the lowest colour"},
    {.name = "limits",
     .type = OPT_PAIR,
     FIELD(limits),
     .seen = offsetof(struct view_params, has_limits),
     .argument = "A,B",
     .fallback = "1st and 99.5th percentile of the good pixels",
     .help = "sets the values of the lowest and highest colour"},
    {.name = "flip",
     .type = OPT_PARSED,
     FIELD(flip),
     .parse = parse_flip,
     .argument = "x|y",
     .help = "mirrors left and right (x) or top and bottom (y)"},
    {.name = "colormap",
     .type = OPT_PARSED,
     FIELD(colormap),
     .parse = parse_colormap,
     .argument = "NAME",
     .fallback = "viridis",
     .help = "sets the colours: viridis, magma, inferno, cividis, turbo or gray"},
    {.name = "colorbar",
     .type = OPT_FLAG,
     FIELD(colorbar),
     .help = "draws the scale beside the image, with its unit where the file names it"},
    {0},
};

/* What is drawn: one frame as doubles, bad pixels as NaN. */
struct picture {
    size_t height, width;
    double *values;
    double lo, hi; /* of the colours; logarithms with --log */
    const char *unit;
};

static int leave_out(const struct view_params *p, struct picture *picture, size_t frames)
{
    const airy_image_plane plane = {p->frame, frames, picture->height, picture->width};
    const size_t count = picture->height * picture->width;
    uint8_t *mask = NULL;
    int code = AIRY_EXIT_OK;
    if (p->input.mask) {
        mask = malloc(count);
        code = mask ? view_mask(&p->job.common, p->input.mask, &plane, mask)
                    : tool_fail(&p->job.common, "out of memory for a mask of %zu values", count);
    }
    for (size_t i = 0; code == AIRY_EXIT_OK && i < count; i++)
        if (mask && mask[i])
            picture->values[i] = (double)NAN;
    free(mask);
    return code;
}

static int crop(const struct view_params *p, struct picture *picture)
{
    if (!p->has_crop)
        return AIRY_EXIT_OK;
    const size_t *c = p->crop;
    if (c[1] > picture->height || c[3] > picture->width)
        return tool_fail(&p->job.common,
                         "--crop %zu:%zu,%zu:%zu: the image has %zu row%s and %zu column%s", c[0],
                         c[1], c[2], c[3], picture->height, tool_s(picture->height), picture->width,
                         tool_s(picture->width));
    const size_t height = c[1] - c[0], width = c[3] - c[2];
    for (size_t y = 0; y < height; y++)
        memmove(picture->values + y * width, picture->values + (c[0] + y) * picture->width + c[2],
                width * sizeof(double));
    picture->height = height;
    picture->width = width;
    return AIRY_EXIT_OK;
}

/*
 * Limits by percentiles of at most a million evenly spread good pixels (positive ones for a
 * logarithmic scale).
 */
static int find_limits(const struct view_params *p, struct picture *picture)
{
    const size_t count = picture->height * picture->width;
    if (p->has_limits) {
        picture->lo = p->limits[0];
        picture->hi = p->limits[1];
    } else {
        size_t n = 0;
        double limits[2];
        const int code =
            image_percentiles(&p->job.common, picture->values, count, p->log, limits, &n);
        if (code != AIRY_EXIT_OK)
            return code;
        picture->lo = limits[0];
        picture->hi = limits[1];
        if (!n)
            tool_say(&p->job.common, "no good pixel%s: the picture shows only masked ones",
                     p->log ? " above 0" : "");
        if (!n && p->log)
            picture->lo = 0.1;
        if (!(picture->hi > picture->lo))
            picture->hi = fmin(picture->lo + (picture->lo != 0 ? fabs(picture->lo) : 1), DBL_MAX);
        if (!(picture->hi > picture->lo))
            picture->lo = picture->hi / 2;
    }
    if (p->log) {
        picture->lo = log10(picture->lo);
        picture->hi = log10(picture->hi);
    }
    return AIRY_EXIT_OK;
}

struct canvas {
    uint8_t *rgb;
    size_t height, width;
};

static void fill(struct canvas *canvas, size_t y0, size_t x0, size_t height, size_t width,
                 const uint8_t rgb[3])
{
    for (size_t y = y0; y < y0 + height && y < canvas->height; y++)
        for (size_t x = x0; x < x0 + width && x < canvas->width; x++)
            memcpy(canvas->rgb + 3 * (y * canvas->width + x), rgb, 3);
}

static void draw_text(struct canvas *canvas, size_t y, size_t x, size_t size, const char *text)
{
    static const uint8_t black[3] = {0, 0, 0};
    for (; *text; text++, x += FONT_STEP * size) {
        const uint8_t *columns = font_columns(*text);
        for (size_t row = 0; row < FONT_HEIGHT; row++)
            for (size_t column = 0; column < FONT_WIDTH; column++)
                if (columns[column] >> row & 1)
                    fill(canvas, y + row * size, x + column * size, size, size, black);
    }
}

/* Step of 1, 2 or 5 times a power of ten that gives at most about six ticks. */
static double tick_step(double span)
{
    const double raw = span / 6, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* In units of the text size; HEIGHT: of a picture with a bar at least. */
enum { BAR_GAP = 4, BAR_WIDTH = 6, BAR_HEIGHT = 64, TICK_WIDTH = 3, TEXT_WIDTH = 48 };

struct bar {
    struct canvas *canvas; /* NULL: numbers are only measured */
    const struct picture *picture;
    bool log;
    size_t x, top, height, width, size; /* of the coloured part; size: of the text */
    int digits;                         /* of the numbers */
    size_t longest;                     /* letters of the longest number */
};

/* A tick at a value, with its number or half as long without. */
static void draw_tick(struct bar *bar, double value, bool number)
{
    static const uint8_t black[3] = {0, 0, 0};
    const struct picture *picture = bar->picture;
    const double at = ((bar->log ? log10(value) : value) - picture->lo) /
                      (picture->hi - picture->lo);
    if (!(at >= -1e-9 && at <= 1 + 1e-9))
        return;
    char text[32];
    const size_t length = (size_t)snprintf(text, sizeof(text), "%.*g", bar->digits, value);
    bar->longest = number && length > bar->longest ? length : bar->longest;
    if (!bar->canvas)
        return;
    const size_t size = bar->size,
                 y = bar->top + (size_t)(fmax(1 - at, 0) * (double)(bar->height - 1) + 0.5);
    fill(bar->canvas, y, bar->x + bar->width, (size + 1) / 2, number ? 2 * size : size, black);
    if (number)
        draw_text(bar->canvas, y > 3 * size ? y - 3 * size : 0,
                  bar->x + bar->width + TICK_WIDTH * size, size, text);
}

/* Digits, `least` or more, that tell numbers between lo and hi from those a step further. */
static int tick_digits(int least, double lo, double hi, double step)
{
    const double digits = floor(log10(fmax(fabs(lo), fabs(hi)))) - floor(log10(step)) + 1;
    return (int)fmin(fmax(least, digits), 17);
}

static void draw_ticks(struct bar *bar)
{
    const double lo = bar->log ? pow(10, bar->picture->lo) : bar->picture->lo;
    const double hi = bar->log ? fmin(pow(10, bar->picture->hi), DBL_MAX) : bar->picture->hi;
    const double decades = bar->picture->hi - bar->picture->lo;
    if (bar->log && decades > 0.5) {
        const double every = fmax(1, floor(decades / 6));
        for (double decade = floor(bar->picture->lo); decade <= bar->picture->hi; decade++)
            for (int digit = 1; digit < (decades < 4 ? 10 : 2); digit++)
                draw_tick(bar, digit * pow(10, decade),
                          digit == 1 ? fmod(decade, every) == 0
                                     : decades < 2 && (digit == 2 || digit == 5));
        return;
    }
    const double step = tick_step(hi - lo), first = ceil(lo / step);
    bar->digits = tick_digits(4, lo, hi, step);
    for (int i = 0; i < 8; i++) /* of at most 7: where a step is less than a number's last place */
        draw_tick(bar, (first + i) * step, true);
}

/* What the bar needs beside the image, with the unit above it. */
static size_t bar_room(const struct view_params *p, const struct picture *picture)
{
    struct bar bar = {.picture = picture, .log = p->log, .digits = 4};
    draw_ticks(&bar);
    const size_t text = TICK_WIDTH + FONT_STEP * bar.longest,
                 numbers = BAR_WIDTH + (text > TEXT_WIDTH ? text : TEXT_WIDTH),
                 unit = FONT_STEP * strlen(picture->unit);
    return BAR_GAP + (unit > numbers ? unit : numbers);
}

static void draw_bar(struct canvas *canvas, const struct view_params *p,
                     const struct picture *picture, size_t size)
{
    struct bar bar = {.canvas = canvas,
                      .picture = picture,
                      .log = p->log,
                      .x = picture->width + BAR_GAP * size,
                      .top = (*picture->unit ? 14 : 4) * size,
                      .width = BAR_WIDTH * size,
                      .size = size,
                      .digits = 4};
    bar.height = canvas->height - bar.top - 4 * size;
    draw_text(canvas, size, bar.x, size, picture->unit);
    for (size_t y = 0; y < bar.height; y++) {
        uint8_t rgb[3];
        colormap_color(p->colormap, 1 - (double)y / (double)(bar.height - 1), rgb);
        fill(canvas, bar.top + y, bar.x, 1, bar.width, rgb);
    }
    draw_ticks(&bar);
}

static int draw(const struct view_params *p, const struct picture *picture)
{
    const struct common *common = &p->job.common;
    const size_t longer = picture->height > 400 ? picture->height : 400, size = longer / 400;
    const size_t bar = p->colorbar ? bar_room(p, picture) * size : 0,
                 least = p->colorbar ? BAR_HEIGHT * size : 1;
    struct canvas canvas = {.height = picture->height > least ? picture->height : least,
                            .width = picture->width + bar};
    canvas.rgb = malloc(3 * canvas.height * canvas.width);
    if (!canvas.rgb)
        return tool_fail(common, "out of memory for a picture of %zu x %zu", canvas.height,
                         canvas.width);
    memset(canvas.rgb, 255, 3 * canvas.height * canvas.width);
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++) {
            const size_t from_y = p->flip == 'y' ? picture->height - 1 - y : y,
                         from_x = p->flip == 'x' ? picture->width - 1 - x : x;
            double v = picture->values[from_y * picture->width + from_x];
            uint8_t *rgb = canvas.rgb + 3 * (y * canvas.width + x);
            if (!isfinite(v)) {
                memcpy(rgb, p->colormap->bad, 3);
                continue;
            }
            v = p->log ? (v > 0 ? log10(v) : picture->lo) : v;
            colormap_color(p->colormap, (v - picture->lo) / (picture->hi - picture->lo), rgb);
        }
    if (p->colorbar)
        draw_bar(&canvas, p, picture, size);
    const airy_status status =
        airy_png_write(p->output, canvas.rgb, canvas.height, canvas.width, common->force);
    free(canvas.rgb);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static int check_view(void *user)
{
    struct view_params *p = user;
    if (!p->output)
        return tool_usage(&p->job.common, "no output: give -o OUT.png");
    if (!tool_has_suffix(p->output, ".png"))
        return tool_usage(&p->job.common, "output '%s': expected a name that ends in .png",
                          p->output);
    if (p->has_limits && (!(p->limits[0] < p->limits[1]) || (p->log && !(p->limits[0] > 0))))
        return tool_usage(&p->job.common, "--limits %g,%g: expected A < B%s", p->limits[0],
                          p->limits[1], p->log ? " and A > 0 with --log" : "");
    return view_take_input(&p->input, &p->job.common);
}

static int run_view(void *user)
{
    struct view_params *p = user;
    p->colormap = p->colormap ? p->colormap : colormap_find("viridis");
    struct picture picture = {0};
    struct image_frame frame = {0};
    int code = view_load(&p->job.common, &p->input, p->frame, p->output, &frame);
    if (code == AIRY_EXIT_OK)
        view_say_no_dummy(&p->job.common, &p->input, &frame);
    if (code == AIRY_EXIT_OK && !p->has_frame && frame.frames > 1)
        tool_say(&p->job.common, "frame 0 of %zu is drawn; --frame N chooses another",
                 frame.frames);
    picture.height = frame.height;
    picture.width = frame.width;
    picture.values = frame.values;
    picture.unit = frame.unit;
    if (code == AIRY_EXIT_OK)
        code = leave_out(p, &picture, frame.frames);
    if (code == AIRY_EXIT_OK)
        code = crop(p, &picture);
    if (code == AIRY_EXIT_OK)
        code = find_limits(p, &picture);
    if (code == AIRY_EXIT_OK)
        code = draw(p, &picture);
    free(picture.values);
    const double lo = p->log ? pow(10, picture.lo) : picture.lo,
                 hi = p->log ? fmin(pow(10, picture.hi), DBL_MAX) : picture.hi;
    if (code == AIRY_EXIT_OK && p->job.common.json)
        return tool_print_json(
            &p->job.common,
            json_pack("{s:o, s:[I,I], s:[o,o], s:o, s:b}", "output", tool_json_string(p->output),
                      "shape", (json_int_t)picture.height, (json_int_t)picture.width, "limits",
                      tool_json_number(lo), tool_json_number(hi), "unit",
                      *frame.unit ? tool_json_string(frame.unit) : json_null(), "log", p->log));
    const int digits = tick_digits(6, lo, hi, 0.01 * (hi - lo));
    if (code == AIRY_EXIT_OK)
        tool_say(&p->job.common, "%s: %zu x %zu pixels, colours from %.*g to %.*g%s", p->output,
                 picture.height, picture.width, digits, lo, digits, hi,
                 p->log ? ", logarithmic" : "");
    return code;
}

const struct command cmd_view = {
    .name = "view",
    .usage = "IMAGE -o OUT.png [options]",
    .summary = "draw an image or a frame of a stack as PNG",
    .details =
        "Masked pixels (the file's mask, --mask, --dummy, not finite, the values detectors write "
        "into gaps) have a colour of their own. Row 0 is at the top; --flip y draws it "
        "at the bottom, as FITS viewers do.",
    .examples =
        "  airy view series_master.h5 -o frame.png --log --colorbar\n"
        "  airy view dark.npy -o dark.png --limits 0,20 --crop 0:512,0:512 --colormap gray\n",
    .borrows = "stats",
    .borrowed = view_borrows,
    .tables = {NULL, view_options},
    .params_size = sizeof(struct view_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_view,
    .run = run_view,
};
