/* The picture of airy sources: the image, its sources as ellipses, the brightest ones numbered. */
#include <math.h>
#include <stdlib.h>

#include "cmd/sources.h"
#include "plot/gnuplot.h"

double sources_value(const airy_column *column, size_t row)
{
    const size_t step = column->step ? column->step : airy_dtype_size(column->dtype);
    const airy_image one = {.dtype = column->dtype,
                            .data = (char *)(void *)column->data + row * step};
    return airy_image_value(&one, 0);
}

airy_ellipse sources_outline(const struct sources_shown *s, size_t row)
{
    return (airy_ellipse){.x = sources_value(s->x, row),
                          .y = sources_value(s->y, row),
                          .a = fmax(2 * sources_value(s->a, row), 1),
                          .b = fmax(2 * sources_value(s->b, row), 1),
                          .theta = sources_value(s->theta, row)};
}

size_t sources_brightest(size_t top[SOURCES_TOP], const struct sources_shown *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->table->rows; i++) {
        const double flux = sources_value(s->flux, i);
        if (isnan(flux) ||
            (count == SOURCES_TOP && !(flux > sources_value(s->flux, top[SOURCES_TOP - 1]))))
            continue;
        size_t at = count < SOURCES_TOP ? count++ : SOURCES_TOP - 1;
        for (; at > 0 && flux > sources_value(s->flux, top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = i;
    }
    return count;
}

enum {
    MOST_PIXELS = 1200, /* of a side; larger images are drawn in boxes of their mean */
    TICKS = 8           /* of the colours */
};

/* The image as it is drawn: stretch(value) of boxes of `step` pixels, y upwards. */
struct picture {
    size_t width, height, step;
    float *values;
    double center, scale; /* stretch: asinh((v - center) / scale) */
    double lo, hi;        /* stretched */
};

static double stretch(const struct picture *p, double v)
{
    return asinh((v - p->center) / p->scale);
}

static double unstretch(const struct picture *p, double at)
{
    return p->center + p->scale * sinh(at);
}

/* Mean of a box's finite pixels; NaN without one. */
static double box_mean(const airy_image *image, size_t step, size_t row, size_t column)
{
    const size_t height = image->shape[0], width = image->shape[1];
    double sum = 0;
    size_t count = 0;
    for (size_t y = row * step; y < (row + 1) * step && y < height; y++)
        for (size_t x = column * step; x < (column + 1) * step && x < width; x++) {
            const double v = airy_image_value(image, y * width + x);
            sum += isfinite(v) ? v : 0;
            count += isfinite(v) != 0;
        }
    return count ? sum / (double)count : (double)NAN;
}

/*
 * Logarithmic far above the noise and linear within it, as asinh is; colours run from two noises
 * below the background to the brightest box.
 */
static bool make_picture(struct picture *p, const airy_image *image,
                         const struct sources_shown *shown)
{
    const size_t longer = image->shape[0] > image->shape[1] ? image->shape[0] : image->shape[1];
    p->step = (longer + MOST_PIXELS - 1) / MOST_PIXELS;
    p->height = (image->shape[0] + p->step - 1) / p->step;
    p->width = (image->shape[1] + p->step - 1) / p->step;
    p->values = malloc(p->height * p->width * sizeof(float));
    if (!p->values)
        return false;
    p->center = shown->background;
    p->scale = shown->noise > 0 ? shown->noise : 1;
    double most = p->center + p->scale;
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            const double v = box_mean(image, p->step, y, x);
            most = v > most ? v : most;
            p->values[y * p->width + x] = (float)stretch(p, v);
        }
    p->lo = stretch(p, p->center - 2 * p->scale);
    p->hi = stretch(p, most);
    return true;
}

/* Of the numbers from lo to hi one with few digits: 0, else a multiple of the largest 1, 2, 5 x 10^k. */
static double round_number(double lo, double hi)
{
    if (lo <= 0 && hi >= 0)
        return 0;
    static const int digits[] = {5, 2, 1};
    for (int k = (int)ceil(log10(fmax(fabs(lo), fabs(hi))));; k--)
        for (size_t i = 0; i < 3; i++) {
            const double unit = digits[i] * pow(10, k), number = ceil(lo / unit) * unit;
            if (number <= hi || unit < 1e-12 * fabs(hi))
                return number;
        }
}

/* Ticks at round numbers of the image's unit, equally far apart as well as that goes; one at 0. */
static void write_ticks(FILE *s, const struct picture *p)
{
    const double step = (p->hi - p->lo) / TICKS, zero = stretch(p, 0);
    const bool has_zero = zero >= p->lo && zero <= p->hi;
    const double first = has_zero ? fmod(zero - p->lo, step) : 0.5 * step;
    if (!(step > 0 && isfinite(step)))
        return;
    fputs("set cbtics (", s);
    for (double at = p->lo + first; at <= p->hi; at += step) {
        const double value = round_number(unstretch(p, fmax(at - 0.3 * step, p->lo)),
                                          unstretch(p, fmin(at + 0.3 * step, p->hi)));
        fprintf(s, "'%.6g' %.9g, ", value, stretch(p, value));
    }
    fprintf(s, "'' %.9g)\n", p->lo);
}

static void write_sources(FILE *s, const struct sources_shown *shown, double least)
{
    fputs("$sources << EOD\n", s);
    for (size_t i = 0; i < shown->table->rows; i++) {
        const airy_ellipse e = sources_outline(shown, i);
        if (isfinite(e.x + e.y + e.a + e.b + e.theta))
            fprintf(s, "%.9g %.9g %.9g %.9g %.9g\n", e.x, e.y, 2 * fmax(e.a, least),
                    2 * fmax(e.b, least), e.theta * 180 / 3.14159265358979323846);
    }
    fputs("NaN NaN 1 1 0\nEOD\n", s); /* gnuplot wants a point */
}

/* The numbers of the brightest: above them, or where that is outside below, and between the sides. */
static void write_names(FILE *s, const struct sources_shown *shown, double least,
                        const size_t *shape, bool below)
{
    size_t top[SOURCES_TOP];
    const size_t count = sources_brightest(top, shown);
    const double height = (double)shape[0], width = (double)shape[1];
    fprintf(s, "$%s << EOD\n", below ? "below" : "above");
    for (size_t k = 0; k < count; k++) {
        const airy_ellipse e = sources_outline(shown, top[k]);
        const double a = fmax(e.a, least);
        /* half of the text: a digit takes 0.014 of the longer side, `least` is 0.004 of it */
        const double half = fmin(2 * least * snprintf(NULL, 0, "%zu", top[k] + 1), 0.5 * width);
        if ((e.y + a > 0.95 * height) == below)
            fprintf(s, "%.9g %.9g %zu\n", fmin(fmax(e.x, half - 0.5), width - 0.5 - half),
                    below ? e.y - a : e.y + a, top[k] + 1);
    }
    fputs("NaN NaN 0\nEOD\n", s);
}

static void write_script(FILE *s, const struct sources_shown *shown, const struct picture *picture,
                         const size_t *shape)
{
    const double step = (double)picture->step;
    /* gnuplot draws no single row or column: its pixels are drawn as two halves */
    const size_t across = picture->width > 1 ? 1 : 2, down = picture->height > 1 ? 1 : 2,
                 width = across * picture->width, height = down * picture->height;
    const double dx = step / (double)across, dy = step / (double)down;
    fputs("set title ", s);
    gnuplot_text(s, shown->common->inputs.items[0]);
    fputs("\nset cblabel ", s);
    gnuplot_text(s, *shown->unit ? shown->unit : "pixel value");
    fprintf(s,
            " offset 1.5\nset rmargin 13\nset xlabel 'x (pixels)'\nset ylabel 'y "
            "(pixels)'\nset size ratio -1\n"
            "set tics out\nset xrange [-0.5:%.1f]\nset yrange [-0.5:%.1f]\n"
            "set cbrange [%.9g:%.9g]\nset style ellipse units xx clip\nunset key\n"
            /* where there is no pixel white numbers are to be seen, too */
            "set object rectangle from graph 0,0 to graph 1,1 behind fs solid noborder fc rgb "
            "'#707070'\n",
            (double)shape[1] - 0.5, (double)shape[0] - 0.5, picture->lo, picture->hi);
    gnuplot_whole_ticks(s, "x", shape[1]);
    gnuplot_whole_ticks(s, "y", shape[0]);
    write_ticks(s, picture);
    const double least = 0.004 * (double)(shape[0] > shape[1] ? shape[0] : shape[1]);
    write_sources(s, shown, least);
    write_names(s, shown, least, shape, false);
    write_names(s, shown, least, shape, true);
    fprintf(s,
            "plot '-' binary array=(%zu,%zu) format='%%float' origin=(%.9g,%.9g) dx=%.9g dy=%.9g "
            "with image notitle, "
            "$sources using 1:2:3:4:5 with ellipses fs empty border lc rgb '#ff6a3d' lw 1.2, "
            "$above using 1:2:3 with labels offset 0,0.6 font ',15' tc rgb '#ffffff' noenhanced, "
            "$below using 1:2:3 with labels offset 0,-0.6 font ',15' tc rgb '#ffffff' noenhanced\n",
            width, height, (dx - 1) / 2, (dy - 1) / 2, dx, dy);
    for (size_t i = 0; i < width * height; i++) /* down: of one row, the same again */
        fwrite(picture->values + i / across % (picture->width * picture->height), sizeof(float), 1,
               s);
}

int sources_plot(const struct sources_shown *shown)
{
    const airy_host_view *view = &shown->image;
    const size_t *shape = view->shape;
    const airy_image image = {
        .dtype = view->dtype, .ndim = 2, .shape = {shape[0], shape[1]}, .data = (void *)view->data};
    struct gnuplot plot;
    struct picture picture = {0};
    if (!make_picture(&picture, &image, shown))
        return tool_fail(shown->common, "%s: out of memory for the picture", shown->plot);
    const double ratio = (double)shape[0] / (double)shape[1];
    int code = gnuplot_begin(&plot, shown->common, shown->plot, fmin(fmax(0.86 * ratio, 0.3), 2));
    if (code == AIRY_EXIT_OK) {
        gnuplot_palette(&plot, colormap_find("viridis"));
        write_script(plot.script, shown, &picture, shape);
        code = gnuplot_end(&plot);
    }
    free(picture.values);
    return code;
}
