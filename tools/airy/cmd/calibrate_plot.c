/* The picture of a calibration: the image in grey, rings, points and the beam over it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/calibrate.h"
#include "plot/colormap.h"

enum {
    LEAST = 800,      /* smaller images are drawn with several points a pixel */
    MOST = 2000,      /* larger ones with the mean of several pixels a point */
    RING_STEPS = 8192 /* of a whole ring: below a point's size up to a radius of 1300 points */
};

static const uint8_t ring_color[3] = {64, 160, 255}, used_color[3] = {255, 210, 0},
                     left_color[3] = {255, 60, 60}, beam_color[3] = {80, 255, 80};

struct canvas {
    size_t height, width;
    double zoom; /* points a pixel */
    uint8_t *rgb;
};

static void put(const struct canvas *c, double y, double x, const uint8_t rgb[3], double opacity)
{
    if (!(y >= 0 && x >= 0 && y < (double)c->height && x < (double)c->width))
        return;
    uint8_t *at = c->rgb + 3 * ((size_t)y * c->width + (size_t)x);
    for (int k = 0; k < 3; k++)
        at[k] = (uint8_t)(at[k] + opacity * (rgb[k] - at[k]));
}

/* A plus sign with arms of some points. */
static void put_cross(const struct canvas *c, double y, double x, int arm, const uint8_t rgb[3])
{
    for (int i = -arm; i <= arm; i++) {
        put(c, y + i, x, rgb, 1);
        if (i != 0)
            put(c, y, x + i, rgb, 1);
    }
}

/* Mean of the good pixels under a point; NaN where there are none. */
static double value_at(const struct canvas *c, const struct image_frame *frame, size_t y, size_t x)
{
    const size_t y0 = (size_t)((double)y / c->zoom), x0 = (size_t)((double)x / c->zoom);
    size_t y1 = (size_t)ceil((double)(y + 1) / c->zoom),
           x1 = (size_t)ceil((double)(x + 1) / c->zoom);
    y1 = y1 < frame->height ? y1 : frame->height;
    x1 = x1 < frame->width ? x1 : frame->width;
    double sum = 0;
    size_t n = 0;
    for (size_t i = y0; i < y1; i++)
        for (size_t j = x0; j < x1; j++)
            if (isfinite(frame->values[i * frame->width + j])) {
                sum += frame->values[i * frame->width + j];
                n++;
            }
    return n ? sum / (double)n : (double)NAN;
}

/* Grey by the logarithm of what is above the image's low percentile. */
static void draw_image(const struct canvas *c, const struct image_frame *frame,
                       const double limits[2])
{
    const struct colormap *map = colormap_find("gray");
    const double span = fmax(limits[1] - limits[0], 1e-300), knee = span / 50;
    for (size_t y = 0; y < c->height; y++)
        for (size_t x = 0; x < c->width; x++) {
            const double v = value_at(c, frame, y, x) - limits[0];
            uint8_t *rgb = c->rgb + 3 * (y * c->width + x);
            if (isnan(v))
                memset(rgb, 40, 3);
            else
                colormap_color(map, log1p(fmax(v, 0) / knee) / log1p(span / knee), rgb);
        }
}

static int draw_rings(const struct canvas *c, const struct common *common,
                      const airy_calibrant *calibrant, const airy_geometry *geometry)
{
    double *yx = malloc(2 * RING_STEPS * sizeof(*yx));
    if (!yx)
        return tool_fail(common, "out of memory for the picture");
    airy_status status = AIRY_OK;
    for (size_t k = 0; k < calibrant->count && status == AIRY_OK; k++) {
        const double sine = geometry->wavelength / (2 * calibrant->rings[k].spacing);
        if (!(sine <= 1))
            break;
        status = airy_geometry_ring(geometry, 2 * asin(sine), yx, RING_STEPS);
        for (size_t i = 0; i < RING_STEPS && status == AIRY_OK; i++)
            put(c, yx[2 * i] * c->zoom, yx[2 * i + 1] * c->zoom, ring_color, 0.6);
    }
    free(yx);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* Numbers of a column, and flags. */
static double number_at(const airy_column *column, size_t row)
{
    return *(const double *)(const void *)((const char *)column->data + row * column->step);
}

static bool flag_at(const airy_column *column, size_t row)
{
    return ((const uint8_t *)column->data)[row * column->step];
}

int calibrate_plot(const struct common *common, const char *path, const struct drawn *drawn)
{
    const struct image_frame *frame = &drawn->frame;
    const airy_column *column = drawn->points->column; /* y, x, residual, sigma, ring, used */
    const size_t longer = frame->height > frame->width ? frame->height : frame->width;
    struct canvas c = {.zoom = longer > MOST    ? 1.0 / (double)((longer + MOST - 1) / MOST)
                               : longer < LEAST ? (double)((LEAST + longer - 1) / longer)
                                                : 1};
    c.height = (size_t)ceil((double)frame->height * c.zoom);
    c.width = (size_t)ceil((double)frame->width * c.zoom);
    double limits[2];
    size_t good;
    int code = image_percentiles(common, frame->values, frame->height * frame->width, false, limits,
                                 &good);
    if (code != AIRY_EXIT_OK)
        return code;
    c.rgb = malloc(3 * c.height * c.width);
    if (!c.rgb)
        return tool_fail(common, "out of memory for a picture of %zu x %zu", c.height, c.width);
    draw_image(&c, frame, limits);
    code = draw_rings(&c, common, &drawn->calibrant, &drawn->geometry);
    for (size_t i = 0; i < drawn->points->rows; i++)
        put_cross(&c, number_at(&column[0], i) * c.zoom, number_at(&column[1], i) * c.zoom, 2,
                  flag_at(&column[5], i) ? used_color : left_color);
    put_cross(&c, drawn->beam[0] * c.zoom, drawn->beam[1] * c.zoom, 12, beam_color);
    if (code == AIRY_EXIT_OK) {
        const airy_status status = airy_png_write(path, c.rgb, c.height, c.width, common->force);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    }
    free(c.rgb);
    return code;
}
