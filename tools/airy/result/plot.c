/* airy plot: patterns as lines with error bands, as a waterfall, as a map. */
#include "result/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/gnuplot.h"
#include "result/patterns.h"

enum plot_kind { PLOT_AUTO, PLOT_LINES, PLOT_WATERFALL, PLOT_MAP, PLOT_BOTH };
enum plot_scale { SCALE_AUTO, SCALE_LOG, SCALE_LINEAR };

struct plot_params {
    struct common common;
    const char *output, *title, *axis, *map;
    enum plot_kind kind;
    enum plot_scale scale;
    size_t frame;
    bool has_frame;
    double x_range[2], y_range[2];
    bool has_x_range, has_y_range;
    bool newest; /* the last row is the line that is drawn */
};

static const char *const kinds[] = {"auto", "lines", "waterfall", "map", "both", NULL};

static const char *const scales[] = {"auto", "log", "linear", NULL};

#define FIELD(member) .offset = offsetof(struct plot_params, member)
#define SEEN(member)  .seen = offsetof(struct plot_params, member)

static const struct opt plot_options[] = {
    {.heading = "Picture"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT",
     .help = "names the picture: .png, .svg or .pdf"},
    {.name = "kind",
     .type = OPT_WORD,
     FIELD(kind),
     .words = kinds,
     .argument = "KIND",
     .fallback = "auto",
     .help = "sets the kind: lines, waterfall (lines set off), map (frame against radius) or both "
             "(lines above a "
             "map); auto: lines up "
             "to 6 frames, "
             "else both"},
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     SEEN(has_frame),
     .lo = 0,
     .hi = 1e15,
     .argument = "N",
     .fallback = "all",
     .help = "draws one row of the result"},
    {.name = "scale",
     .type = OPT_WORD,
     FIELD(scale),
     .words = scales,
     .argument = "SCALE",
     .fallback = "auto",
     .help = "sets the scale: log, linear, or auto: log where 98 % or more are positive, over a "
             "factor of 30 or more"},
    {.name = "x-range",
     .type = OPT_PAIR,
     FIELD(x_range),
     SEEN(has_x_range),
     .argument = "A,B",
     .help = "sets the radial range shown, in the unit of the file"},
    {.name = "y-range",
     .type = OPT_PAIR,
     FIELD(y_range),
     SEEN(has_y_range),
     .argument = "A,B",
     .help = "sets the intensity range shown"},
    {.name = "axis",
     .type = OPT_STRING,
     FIELD(axis),
     .argument = "NAME",
     .fallback = "the frame's number",
     .help = "draws frames against frame/NAME of the result: a motor, a time, a monitor"},
    {.name = "map",
     .type = OPT_STRING,
     FIELD(map),
     .argument = "NAME",
     .help = "draws the scan's map NAME of the result instead: total, roi_0, roi_0_mean, ..."},
    {.name = "title",
     .type = OPT_STRING,
     FIELD(title),
     .argument = "TEXT",
     .help = "sets the text above the picture"},
    {0},
};

enum { MAX_POINTS = 4 << 20 };
enum { MAX_LINES = 6, MAX_ROWS = 600, MAX_COLUMNS = 1200 };
enum { MOST_BELOW = 50 }; /* of so many values one may be missing from a logarithmic picture */

struct drawing {
    const struct plot_params *params;
    const struct patterns *patterns;
    struct gnuplot gnuplot;
    FILE *s;
    size_t rows[MAX_LINES]; /* frames drawn as lines */
    size_t lines;
    double least, most; /* of all values: smallest positive, largest */
    bool log;
    bool beside; /* the key stands beside the lines */
};

static void write_number(FILE *s, double v)
{
    if (isfinite(v))
        fprintf(s, " %.7g", v);
    else
        fputs(" NaN", s);
}

/* Unit labels as typeset text: "q (1/nm)" becomes q (nm^-1) with q slanted. */
static void write_label(FILE *s, const char *axis, const char *label)
{
    static const struct {
        const char *from, *to;
    } known[] = {
        {"q (1/nm)", "{/:Italic q} (nm^{-1})"},
        {"q (1/\xc3\x85)", "{/:Italic q} (\xc3\x85^{-1})"},
        {"2\xce\xb8 (deg)", "2{/:Italic \xce\xb8} (°)"},
        {"2\xce\xb8 (rad)", "2{/:Italic \xce\xb8} (rad)"},
        {"r (mm)", "{/:Italic r} (mm)"},
        {"r (m)", "{/:Italic r} (m)"},
        {"\xcf\x87 (deg)", "{/:Italic \xcf\x87} (°)"},
        {"\xcf\x87 (rad)", "{/:Italic \xcf\x87} (rad)"},
        {"chi (deg)", "{/:Italic \xcf\x87} (°)"}, /* of files of earlier versions */
    };
    const char *text = NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(label, known[i].from) == 0)
            text = known[i].to;
    fprintf(s, "set %s ", axis);
    if (text)
        fprintf(s, "'%s'", text);
    else
        gnuplot_text(s, label);
    fputc('\n', s);
}

/* Rows of a map: frames, or of one frame in two dimensions the bins of chi. */
static size_t map_rows(const struct patterns *p)
{
    return p->frames * p->azimuth_bins;
}

static void find_extremes(struct drawing *d)
{
    const struct patterns *p = d->patterns;
    size_t values = 0, below = 0;
    d->least = (double)INFINITY;
    d->most = -(double)INFINITY;
    for (size_t i = 0; i < map_rows(p) * p->bins; i++) {
        const double v = p->values[i];
        if (!isfinite(v))
            continue;
        values++;
        below += v <= 0;
        d->least = v > 0 ? fmin(d->least, v) : d->least;
        d->most = fmax(d->most, v);
    }
    const enum plot_scale scale = d->params->scale;
    const bool few = below <= values / MOST_BELOW, wide = d->most >= 30 * d->least;
    const bool from_zero = d->params->has_y_range && d->params->y_range[0] <= 0;
    d->log = d->most > 0 &&
             (scale == SCALE_LOG || (scale == SCALE_AUTO && few && wide && !from_zero));
}

/* Data of the lines: one block a frame, columns radius, value, error. */
static void write_lines(struct drawing *d)
{
    const struct patterns *p = d->patterns;
    fputs("$lines << EOD\n", d->s);
    for (size_t k = 0; k < d->lines; k++) {
        const size_t row = d->rows[k] * p->bins;
        for (size_t i = 0; i < p->bins; i++) {
            write_number(d->s, p->radial[i]);
            write_number(d->s, p->values[row + i]);
            write_number(d->s, p->errors ? p->errors[row + i] : 0);
            fputc('\n', d->s);
        }
        fputs("\n\n", d->s);
    }
    fputs("EOD\n", d->s);
}

static void line_color(const struct drawing *d, size_t k, char color[8])
{
    uint8_t rgb[3];
    /* one line: a plain blue; several: along viridis without its pale end */
    const double at = d->lines > 1 ? 0.9 * (double)k / (double)(d->lines - 1) : 0.25;
    colormap_color(colormap_find("viridis"), at, rgb);
    snprintf(color, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static void set_x_range(const struct drawing *d)
{
    const struct patterns *p = d->patterns;
    const double *x = d->params->x_range;
    const double half =
        p->bins > 1 ? 0.5 * (p->radial[p->bins - 1] - p->radial[0]) / (double)(p->bins - 1) : 0.5;
    if (d->params->has_x_range)
        fprintf(d->s, "set xrange [%.9g:%.9g]\n", x[0], x[1]);
    else
        fprintf(d->s, "set xrange [%.9g:%.9g]\n", p->radial[0] - half,
                p->radial[p->bins - 1] + half);
}

/* All of the drawn lines, their bands apart, with a little air. */
static void set_y_range(const struct drawing *d, bool log, double step)
{
    const struct patterns *p = d->patterns;
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    for (size_t k = 0; k < d->lines; k++)
        for (size_t i = 0; i < p->bins; i++) {
            const double v = p->values[d->rows[k] * p->bins + i];
            const double *x = d->params->x_range;
            if (!isfinite(v) || (log && v <= 0) ||
                (d->params->has_x_range && (p->radial[i] < x[0] || p->radial[i] > x[1])))
                continue;
            lo = fmin(lo, v + step * (double)k);
            hi = fmax(hi, v + step * (double)k);
        }
    if (!(hi >= lo))
        fputs("set yrange [*:*]\n", d->s);
    else if (log)
        fprintf(d->s, "set yrange [%.9g:%.9g]\n", lo / 1.4, hi * 1.4);
    else
        fprintf(d->s, "set yrange [%.9g:%.9g]\n",
                lo < 0 || lo > 0.5 * hi ? lo - 0.05 * (hi - lo + fabs(hi) * 1e-6) : 0.0,
                hi + 0.08 * (hi - lo + fabs(hi) * 1e-6));
}

static void draw_lines(struct drawing *d, bool waterfall)
{
    const struct plot_params *params = d->params;
    FILE *s = d->s;
    set_x_range(d);
    write_label(s, "xlabel", d->patterns->label);
    fprintf(s, "set ylabel 'Intensity (counts/pixel)%s'\n", waterfall ? ", lines set off" : "");
    const bool log = d->log && !waterfall;
    const double step = waterfall ? 0.12 * (d->most - fmin(d->least, 0)) : 0;
    fputs(log ? "set logscale y\nset format y '10^{%L}'\n"
              : "unset logscale y\nset format y '%g'\n",
          s);
    if (log && d->most < 1000 * d->least)
        fputs("set format y '%g'\n", s);
    if (params->has_y_range)
        fprintf(s, "set yrange [%.9g:%.9g]\n", params->y_range[0], params->y_range[1]);
    else
        set_y_range(d, log, step);
    fputs("set tics in\nset grid xtics ytics lw 0.5 lc '#dddddd'\n", s);
    fprintf(s, "set key %s spacing 1.1 noenhanced %s\n",
            d->beside ? "at graph 1.015, graph 1.0 left top Left reverse samplen 1.2"
            : d->patterns->frames > 1 ? "outside right top Left reverse samplen 1.2"
                                      : "top right samplen 1.5",
            d->patterns->along        ? ""
            : d->patterns->frames > 1 ? "title 'Frame'"
                                      : "notitle");
    if (d->patterns->along) {
        fputs("set key title ", s);
        gnuplot_text(s, d->patterns->along_label);
        fputs("\n", s);
    }
    fputs("plot ", s);
    for (size_t k = 0; k < d->lines; k++) {
        char color[8], title[64];
        line_color(d, k, color);
        const double shift = step * (double)k;
        if (d->patterns->errors)
            fprintf(s,
                    "%s$lines index %zu using 1:($2-$3+%.9g):($2+$3+%.9g) with filledcurves fc "
                    "'%s' fs transparent "
                    "solid 0.3 noborder notitle",
                    k ? ", " : "", k, shift, shift, color);
        if (d->patterns->along)
            snprintf(title, sizeof(title), "title '%.6g'", d->patterns->along[d->rows[k]]);
        else if (d->patterns->frames > 1)
            snprintf(title, sizeof(title), "title '%zu'", d->rows[k]);
        else
            snprintf(title, sizeof(title),
                     d->patterns->errors ? "title 'intensity ± standard error'" : "notitle");
        fprintf(s, "%s$lines index %zu using 1:($2+%.9g) with lines lw 1.3 lc '%s' %s",
                k || d->patterns->errors ? ", " : "", k, shift, color, title);
    }
    fputs("\n", s);
}

/* Mean of a block of frames and bins, so that the picture stays small. */
static double block_mean(const struct patterns *p, size_t y0, size_t y1, size_t x0, size_t x1)
{
    double sum = 0;
    size_t n = 0;
    for (size_t y = y0; y < y1; y++)
        for (size_t x = x0; x < x1; x++) {
            const double v = p->values[y * p->bins + x];
            sum += isfinite(v) ? v : 0;
            n += isfinite(v);
        }
    return n ? sum / (double)n : (double)NAN;
}

/* Where frame i begins along the axis: half way from the one before it. */
static double frame_edge(const struct patterns *p, size_t i)
{
    const size_t n = p->frames;
    const double *v = p->along;
    if (i == 0)
        return v[0] - 0.5 * (v[1] - v[0]);
    return i == n ? v[n - 1] + 0.5 * (v[n - 1] - v[n - 2]) : 0.5 * (v[i - 1] + v[i]);
}

/* Frames that a row of the map shows: of equal steps along the axis, or of equal numbers. */
static void row_frames(const struct drawing *d, size_t y, size_t rows, size_t range[2])
{
    const struct patterns *p = d->patterns;
    const size_t all = map_rows(p);
    range[0] = y * all / rows;
    range[1] = (y + 1) * all / rows;
    if (!p->along)
        return;
    const double lo = frame_edge(p, 0), step = (frame_edge(p, all) - lo) / (double)rows,
                 from = lo + step * (double)y, to = from + step;
    for (range[0] = 0; range[0] + 1 < all && frame_edge(p, range[0] + 1) <= from;)
        range[0]++;
    for (range[1] = range[0] + 1; range[1] < all && frame_edge(p, range[1]) < to;)
        range[1]++;
}

static void write_map(struct drawing *d, size_t rows, size_t columns)
{
    const struct patterns *p = d->patterns;
    fputs("$map << EOD\n", d->s);
    for (size_t y = 0; y < rows; y++) {
        size_t range[2];
        row_frames(d, y, rows, range);
        for (size_t x = 0; x < columns; x++)
            write_number(d->s, block_mean(p, range[0], range[1], x * p->bins / columns,
                                          (x + 1) * p->bins / columns));
        fputc('\n', d->s);
    }
    fputs("EOD\n", d->s);
}

static void draw_map(struct drawing *d)
{
    const struct patterns *p = d->patterns;
    const size_t all = map_rows(p), rows = all < MAX_ROWS && !p->along ? all : MAX_ROWS,
                 columns = p->bins < MAX_COLUMNS ? p->bins : MAX_COLUMNS;
    FILE *s = d->s;
    write_map(d, rows, columns);
    gnuplot_palette(&d->gnuplot, colormap_find("viridis"));
    set_x_range(d);
    write_label(s, "xlabel", p->label);
    /* Of row 0, and between rows. */
    double row_first = p->azimuth ? p->azimuth[0] : 0,
           row_step = p->azimuth && all > 1 ? (p->azimuth[all - 1] - row_first) / (double)(all - 1)
                                            : 1;
    if (p->along) {
        row_step = (frame_edge(p, all) - frame_edge(p, 0)) / (double)all;
        row_first = frame_edge(p, 0) + 0.5 * row_step;
    }
    write_label(s, "ylabel", p->along ? p->along_label : p->azimuth ? p->azimuth_label : "Frame");
    fprintf(s,
            "unset logscale y\nset format y '%%g'\nset yrange [%.9g:%.9g]\nunset "
            "grid\nunset key\nset tics out\n",
            row_first - 0.5 * row_step, row_first + ((double)all - 0.5) * row_step);
    if (!p->along && !p->azimuth)
        gnuplot_whole_ticks(s, "y", all);
    fputs("set cblabel 'Intensity (counts/pixel)'\nset colorbox\n", s);
    fputs(d->log ? "set logscale cb\n" : "unset logscale cb\n", s);
    if (d->params->has_y_range)
        fprintf(s, "set cbrange [%.9g:%.9g]\n", d->params->y_range[0], d->params->y_range[1]);
    const double first = p->radial[0], span = p->radial[p->bins - 1] - first;
    const double dx = columns > 1 ? span / (double)(columns - 1) : 1,
                 dy = row_step * (double)all / (double)rows;
    fprintf(s, "plot $map matrix using (%.12g+$1*%.12g):(%.12g+($2+0.5)*%.12g):3 with image\n",
            first, dx, row_first - 0.5 * row_step, dy);
}

/* Has the row a value to draw in --x-range? */
static bool is_drawable(const struct plot_params *params, const struct patterns *p, size_t row)
{
    for (size_t i = 0; i < p->bins; i++)
        if (isfinite(p->values[row * p->bins + i]) &&
            (!params->has_x_range ||
             (p->radial[i] >= params->x_range[0] && p->radial[i] <= params->x_range[1])))
            return true;
    return false;
}

/* Evenly spread among the rows that can be drawn. Their number. */
static size_t choose_rows(struct drawing *d)
{
    const struct patterns *p = d->patterns;
    size_t good = 0, seen = 0;
    for (size_t row = 0; row < map_rows(p); row++)
        good += is_drawable(d->params, p, row);
    d->lines = good < MAX_LINES ? good : MAX_LINES;
    if (d->params->newest && good) {
        d->lines = 1;
        d->rows[0] = map_rows(p) - 1;
        return good;
    }
    for (size_t row = 0, k = 0; row < map_rows(p) && k < d->lines; row++) {
        if (!is_drawable(d->params, p, row))
            continue;
        if (seen++ == (d->lines > 1 ? k * (good - 1) / (d->lines - 1) : 0))
            d->rows[k++] = row;
    }
    return good;
}

/* Why there is nothing to draw. */
static int nothing_to_draw(const struct drawing *d)
{
    const struct plot_params *params = d->params;
    const struct patterns *p = d->patterns;
    bool any = false;
    for (size_t i = 0; i < map_rows(p) * p->bins; i++)
        any |= isfinite(p->values[i]) != 0;
    if (any)
        return tool_fail(
            &params->common, "--x-range %g,%g: no values there; the axis runs from %g to %g",
            params->x_range[0], params->x_range[1], p->radial[0], p->radial[p->bins - 1]);
    if (params->has_frame)
        return tool_fail(
            &params->common,
            "--frame %zu: has no values, the frame failed or is not done yet; choose another",
            params->frame);
    return tool_fail(&params->common, "no frame has values: all failed or none is done yet");
}

static int draw(const struct plot_params *params, const struct patterns *patterns)
{
    struct drawing d = {.params = params, .patterns = patterns};
    enum plot_kind kind = params->kind;
    if (patterns->azimuth)
        kind = PLOT_MAP;
    if (kind == PLOT_AUTO)
        kind = patterns->frames > MAX_LINES ? PLOT_BOTH : PLOT_LINES;
    if (choose_rows(&d) == 0)
        return nothing_to_draw(&d);
    const int code =
        gnuplot_begin(&d.gnuplot, &params->common, params->output, kind == PLOT_BOTH ? 1.0 : 0.62);
    if (code != AIRY_EXIT_OK)
        return code;
    d.s = d.gnuplot.script;
    d.beside = kind == PLOT_BOTH;
    find_extremes(&d);
    if (kind != PLOT_BOTH)
        fputs("set bmargin 3.8\n", d.s);
    if (kind == PLOT_MAP)
        fputs("set rmargin 11\n", d.s);
    if (kind != PLOT_MAP)
        write_lines(&d);
    if (kind == PLOT_BOTH)
        fputs("set multiplot layout 2,1 margins 0.11,0.83,0.09,0.95 spacing 0,0.13", d.s);
    if (params->title) {
        fputs(kind == PLOT_BOTH ? " title " : "set title ", d.s);
        gnuplot_text(d.s, params->title);
    }
    fputc('\n', d.s);
    if (kind != PLOT_MAP)
        draw_lines(&d, kind == PLOT_WATERFALL);
    if (kind == PLOT_MAP || kind == PLOT_BOTH)
        draw_map(&d);
    if (kind == PLOT_BOTH)
        fputs("unset multiplot\n", d.s);
    return gnuplot_end(&d.gnuplot);
}

/* Keep one frame only; in two dimensions the first one where none is named. */
static int select_frame(const struct plot_params *params, struct patterns *p)
{
    const size_t cells = p->azimuth_bins * p->bins;
    if (p->azimuth && params->kind != PLOT_AUTO && params->kind != PLOT_MAP)
        return tool_fail(&params->common,
                         "--kind: the result has two dimensions, which are drawn as a map");
    if (!params->has_frame && (!p->azimuth || p->frames == 1))
        return AIRY_EXIT_OK;
    if (!params->has_frame)
        tool_say(&params->common, "frame 0 of %zu is drawn; %s--frame N chooses another", p->frames,
                 opt_has(params->common.command, "frame") ? "" : "'airy plot RESULT' with ");
    if (params->frame >= p->frames)
        return tool_fail(&params->common,
                         "--frame %zu: the result has %zu frame%s, numbered from 0", params->frame,
                         p->frames, tool_s(p->frames));
    memmove(p->values, p->values + params->frame * cells, cells * sizeof(float));
    if (p->errors)
        memmove(p->errors, p->errors + params->frame * cells, cells * sizeof(float));
    p->frames = 1;
    return AIRY_EXIT_OK;
}

static int nothing_for_log(const struct common *common)
{
    return tool_fail(common, "--scale log: no value is above 0; --scale linear draws them");
}

static int check_log(const struct plot_params *params, const struct patterns *p)
{
    bool any = params->scale != SCALE_LOG;
    for (size_t i = 0; i < map_rows(p) * p->bins && !any; i++)
        any = p->values[i] > 0;
    return any ? AIRY_EXIT_OK : nothing_for_log(&params->common);
}

static int plot(const struct plot_params *params, const char *result)
{
    struct patterns patterns;
    int code = patterns_load(&patterns, &params->common, result);
    if (code == AIRY_EXIT_OK && (patterns.pending || patterns.unfinished))
        tool_say(&params->common, "%s is not complete: %zu of %zu frames are not done yet", result,
                 patterns.pending, patterns.frames);
    if (code == AIRY_EXIT_OK && params->axis)
        code = patterns_sort(&patterns, &params->common, result, params->axis);
    if (code == AIRY_EXIT_OK)
        code = select_frame(params, &patterns);
    if (code == AIRY_EXIT_OK)
        code = check_log(params, &patterns);
    if (code == AIRY_EXIT_OK)
        code = draw(params, &patterns);
    patterns_free(&patterns);
    return code;
}

/* A map of the scan: an image, so many points wide and high. */
static void draw_scan(struct gnuplot *g, const struct plot_params *params, const airy_image *image,
                      const char *label)
{
    FILE *s = g->script;
    const size_t rows = image->shape[0], columns = image->shape[1];
    fputs("$scan << EOD\n", s);
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < columns; x++)
            write_number(s, airy_image_value(image, y * columns + x));
        fputc('\n', s);
    }
    fputs("EOD\n", s);
    gnuplot_palette(g, colormap_find("viridis"));
    fputs("set title ", s);
    gnuplot_text(s, params->title ? params->title : label);
    fputs("\nset rmargin 11\nset xlabel 'Column'\nset ylabel 'Row'\nunset key\nset tics "
          "out\n",
          s);
    gnuplot_whole_ticks(s, "x", columns);
    gnuplot_whole_ticks(s, "y", rows);
    if (params->scale == SCALE_LOG)
        fputs("set logscale cb\n", s);
    if (params->has_y_range)
        fprintf(s, "set cbrange [%.9g:%.9g]\n", params->y_range[0], params->y_range[1]);
    fprintf(s,
            "set xrange [-0.5:%.9g]\nset yrange [%.9g:-0.5]\nset size ratio -1\n"
            "plot $scan matrix with image\n",
            (double)columns - 0.5, (double)rows - 0.5);
}

/* A map of the result, and its label; "" where it has none. */
static airy_status read_scan(airy_image *image, char label[160], const char *path, const char *map)
{
    char name[160];
    airy_result *result = NULL;
    airy_result_plane plane;
    airy_status status = patterns_open(&result, path);
    snprintf(name, sizeof(name), "map/%.150s", map);
    if (status == AIRY_OK)
        status = airy_result_find_plane(result, name, &plane);
    if (status == AIRY_OK) {
        *image = (airy_image){.dtype = AIRY_DTYPE_F64, .ndim = plane.ndim};
        memcpy(image->shape, plane.shape, sizeof(plane.shape));
        status = patterns_read_plane(image, result, &plane);
        snprintf(label, 160, "%s", plane.label);
    }
    airy_result_close(&result);
    return status;
}

static int plot_scan(const struct plot_params *params, const char *result)
{
    const struct common *common = &params->common;
    char label[160];
    airy_image image = {0};
    struct gnuplot g;
    if (read_scan(&image, label, result, params->map) != AIRY_OK)
        return patterns_lacks(common, result, "map", params->map);
    int code = AIRY_EXIT_OK;
    bool any = false, positive = false;
    for (size_t i = 0; i < tool_count(image.shape, image.ndim); i++) {
        any = any || isfinite(airy_image_value(&image, i));
        positive = positive || airy_image_value(&image, i) > 0;
    }
    if (image.ndim != 2 || tool_count(image.shape, image.ndim) > MAX_POINTS)
        code = tool_fail(common, "--map %s: expected an image of at most %d points", params->map,
                         (int)MAX_POINTS);
    else if (!any)
        code = tool_fail(common, "--map %s: no point of the scan has a value", params->map);
    else if (params->scale == SCALE_LOG && !positive)
        code = nothing_for_log(common);
    else
        code = gnuplot_begin(&g, common, params->output, 0.8);
    if (code == AIRY_EXIT_OK) {
        draw_scan(&g, params, &image, *label ? label : params->map);
        code = gnuplot_end(&g);
    }
    airy_image_free(&image);
    return code;
}

int plot_result(const struct common *common, const char *result, const char *output)
{
    const struct plot_params params = {.common = *common, .output = output};
    return plot(&params, result);
}

int plot_newest(const struct common *common, const struct patterns *patterns, bool log,
                const char *output)
{
    struct plot_params params = {.common = *common,
                                 .output = output,
                                 .kind = patterns->frames > 1 ? PLOT_BOTH : PLOT_LINES,
                                 .scale = log ? SCALE_LOG : SCALE_LINEAR,
                                 .newest = !patterns->azimuth};
    params.common.force = true;
    return draw(&params, patterns);
}

static int check_plot(void *user)
{
    const struct plot_params *params = user;
    if (!params->output)
        return tool_usage(&params->common, "no output: give -o OUT.png, .svg or .pdf");
    const int named = gnuplot_check_name(&params->common, params->output);
    if (named != AIRY_EXIT_OK)
        return named;
    if (params->has_x_range && !(params->x_range[0] < params->x_range[1]))
        return tool_usage(&params->common, "--x-range %g,%g: expected A < B", params->x_range[0],
                          params->x_range[1]);
    if (params->has_y_range && !(params->y_range[0] < params->y_range[1]))
        return tool_usage(&params->common, "--y-range %g,%g: expected A < B", params->y_range[0],
                          params->y_range[1]);
    if (params->has_y_range && params->scale == SCALE_LOG && params->y_range[0] <= 0)
        return tool_usage(&params->common,
                          "--y-range %g,%g: expected limits above 0 with --scale log",
                          params->y_range[0], params->y_range[1]);
    if (params->axis && (params->map || params->has_frame))
        return tool_usage(&params->common, "--axis: --%s has no frames to set out along it",
                          params->map ? "map" : "frame");
    return AIRY_EXIT_OK;
}

static int run_plot(void *user)
{
    const struct plot_params *params = user;
    const char *result = params->common.inputs.items[0];
    const int code = params->map ? plot_scan(params, result) : plot(params, result);
    if (code == AIRY_EXIT_OK && params->common.json)
        return tool_print_json(&params->common,
                               json_pack("{s:o}", "output", tool_json_string(params->output)));
    if (code == AIRY_EXIT_OK)
        tool_say(&params->common, "%s written", params->output);
    return code;
}

const struct command cmd_plot = {
    .name = "plot",
    .usage = "RESULT -o OUT.png|.svg|.pdf [options]",
    .summary = "draw patterns: lines with error band, waterfall, map of frames",
    .details =
        "RESULT is a file of 'airy integrate': HDF5, or columns of text. In two dimensions a "
        "frame is drawn as a map of chi against radius. Needs the program gnuplot.",
    .examples = "  airy plot patterns.h5 -o patterns.png\n"
                "  airy plot patterns.h5 -o first.pdf --frame 0 --scale log\n"
                "  airy plot scan.h5 -o omega.png --axis omega\n"
                "  airy plot scan.h5 -o map.png --map roi_0\n"
                "  airy plot sample.xye -o sample.svg --x-range 5,30\n",
    .tables = {plot_options},
    .params_size = sizeof(struct plot_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_plot,
    .run = run_plot,
};
