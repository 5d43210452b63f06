/* Pictures of `airy oct`: B-scans with their axes, projections of volumes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"
#include "oct/oct.h"
#include "plot/gnuplot.h"

enum {
    MOST_PIXELS = 1600, /* of a side of a plot; more are drawn in boxes of their mean */
    MOST_SORTED = 1 << 20
};

double oct_depth_um(const airy_oct_info *info)
{
    return info->depth_step_m > 0 ? 1e6 * info->depth_step_m : 0;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

bool oct_limits(const float *values, size_t count, double lo_percent, double hi_percent, double *lo,
                double *hi)
{
    const size_t step = count / MOST_SORTED + 1;
    float *sorted = malloc((count / step + 1) * sizeof(*sorted));
    size_t n = 0;
    for (size_t i = 0; sorted && i < count; i += step)
        if (isfinite(values[i]))
            sorted[n++] = values[i];
    if (n) {
        qsort(sorted, n, sizeof(*sorted), compare);
        *lo = (double)sorted[(size_t)(lo_percent / 100 * (double)(n - 1))];
        *hi = (double)sorted[(size_t)(hi_percent / 100 * (double)(n - 1))];
        if (!(*hi > *lo))
            *hi = *lo + (*lo != 0 ? fabs(*lo) : 1);
    }
    free(sorted);
    return n > 0;
}

struct oct_map {
    const struct oct_params *p;
    char path[4200];
    bool max, along_frames;
    size_t lines, depth, first, last; /* bins of a result */
    float *values;                    /* [rows][lines], or [lines][depth] */
    size_t rows, room;
};

/* z0:z1 of the depth bins of a spectrum. */
static bool parse_bins(const char *text, size_t bins[3])
{
    return opt_frames(bins, text) == NULL && bins[2] == 1;
}

/* Z0:Z1 of two numbers, Z0 not below Z1, which opt_frames refuses as it does a name. */
static bool is_reversed(const char *text)
{
    int end = 0;
    size_t first, last;
    return strspn(text, "0123456789:") == strlen(text) &&
           sscanf(text, "%zu:%zu%n", &first, &last, &end) == 2 && !text[end] && first >= last;
}

int oct_enface_check(const struct common *common, const char *text)
{
    const char *comma = text ? strrchr(text, ',') : NULL;
    return comma && is_reversed(comma + 1)
               ? tool_usage(common, "--enface %s: Z0 is not below Z1 of ,Z0:Z1", text)
               : AIRY_EXIT_OK;
}

/* PNG holds integers. */
static airy_dtype dtype_of_map(const struct oct_map *m)
{
    return tool_has_suffix(m->path, ".png") ? AIRY_DTYPE_U8 : AIRY_DTYPE_F32;
}

static int parse_map(struct oct_map *m, const char *option, const char *text, size_t depth_first)
{
    const struct common *common = &m->p->common;
    const char *comma = strrchr(text, ',');
    size_t bins[3];
    int n = (int)strlen(text);
    m->first = 0;
    m->last = m->depth;
    if (comma && m->max && (strcmp(comma, ",depth") == 0 || strcmp(comma, ",frames") == 0)) {
        m->along_frames = comma[1] == 'f';
        n = (int)(comma - text);
    } else if (comma && !m->max && parse_bins(comma + 1, bins)) {
        const size_t last = bins[1] ? bins[1] : depth_first + m->depth;
        if (bins[0] < depth_first || last > depth_first + m->depth || bins[0] >= last)
            return tool_fail(common, "--%s %s: results have the bins %zu:%zu", option, text,
                             depth_first, depth_first + m->depth);
        m->first = bins[0] - depth_first;
        m->last = last - depth_first;
        n = (int)(comma - text);
    }
    if (n == 0 || (size_t)n >= sizeof(m->path))
        return tool_usage(common, "--%s %s: expected the name of an image", option, text);
    snprintf(m->path, sizeof(m->path), "%.*s", n, text);
    char formats[TOOL_FORMATS];
    tool_image_suffixes(formats, dtype_of_map(m), 2);
    if (!airy_image_has_format(m->path))
        return tool_usage(common, "--%s %s: expected a name that ends in %s%s", option, text,
                          formats,
                          m->max ? ", with ,depth or ,frames behind" : ", with ,Z0:Z1 behind");
    const int code = tool_check_format(common, m->path, dtype_of_map(m), 2);
    if (code != AIRY_EXIT_OK)
        return code;
    if (!common->force && tool_exists(m->path))
        return tool_exists_already(common, m->path);
    return tool_keep_inputs(common, m->path);
}

int oct_map_open(struct oct_map **map, const struct oct_params *p, const char *option,
                 const char *text, const airy_oct_info *info, size_t depth_first)
{
    *map = NULL;
    if (!text)
        return AIRY_EXIT_OK;
    struct oct_map *m = calloc(1, sizeof(*m));
    if (!m)
        return tool_fail(&p->common, "--%s: out of memory", option);
    *map = m;
    m->p = p;
    m->lines = info->out_lines;
    m->depth = info->depth;
    m->max = strcmp(option, "mip") == 0;
    return parse_map(m, option, text, depth_first);
}

/* Room for one more row of `width`. */
static float *next_row(struct oct_map *m, size_t width)
{
    if (m->rows == m->room) {
        const size_t room = m->room ? 2 * m->room : 64;
        float *values = realloc(m->values, room * width * sizeof(*values));
        if (!values)
            return NULL;
        m->values = values;
        m->room = room;
    }
    return m->values + m->rows++ * width;
}

static void fold_frames(struct oct_map *m, const float *values)
{
    for (size_t i = 0; i < m->lines * m->depth; i++)
        m->values[i] = fmaxf(m->values[i], values[i]); /* the number, beside NaN */
}

static void fold_depth(const struct oct_map *m, float *row, const float *values)
{
    for (size_t l = 0; l < m->lines; l++) {
        const float *bins = values + l * m->depth;
        float most = bins[m->first];
        double sum = 0;
        for (size_t z = m->first; z < m->last; z++) {
            most = fmaxf(most, bins[z]);
            sum += (double)bins[z];
        }
        row[l] = m->max ? most : (float)(sum / (double)(m->last - m->first));
    }
}

int oct_map_add(struct oct_map *m, const float *values)
{
    const size_t count = m->lines * m->depth;
    if (m->along_frames && m->values) {
        fold_frames(m, values);
        return AIRY_EXIT_OK;
    }
    float *row = m->along_frames ? m->values = malloc(count * sizeof(*row)) : next_row(m, m->lines);
    if (!row)
        return tool_fail(&m->p->common, "%s: out of memory for %zu rows", m->path, m->rows + 1);
    if (m->along_frames)
        memcpy(row, values, count * sizeof(*row));
    else
        fold_depth(m, row, values);
    return AIRY_EXIT_OK;
}

int oct_map_write(const struct oct_map *m)
{
    const struct common *common = &m->p->common;
    const size_t height = m->along_frames ? m->lines : m->rows,
                 width = m->along_frames ? m->depth : m->lines, count = height * width;
    airy_image image = {
        .dtype = dtype_of_map(m), .ndim = 2, .shape = {height, width}, .data = m->values};
    uint8_t *grey = NULL;
    if (image.dtype == AIRY_DTYPE_U8) {
        double lo = 0, hi = 1;
        grey = malloc(count);
        if (!grey)
            return tool_fail(common, "%s: out of memory for %zu pixels", m->path, count);
        oct_limits(m->values, count, 1, 99.9, &lo, &hi);
        for (size_t i = 0; i < count; i++)
            grey[i] = (uint8_t)(255 * fmin(fmax(((double)m->values[i] - lo) / (hi - lo), 0), 1));
        tool_say(common, "%s: black is %.4g, white %.4g", m->path, lo, hi);
        image.data = grey;
    }
    const airy_status status = airy_image_write(&image, m->path, common->force);
    free(grey);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

void oct_map_close(struct oct_map **map)
{
    if (*map)
        free((*map)->values);
    free(*map);
    *map = NULL;
}

int oct_picture_write(const struct oct_sink *s, const void *result, const char *path)
{
    const struct common *common = &s->p->common;
    const size_t lines = s->info.out_lines, depth = s->info.depth,
                 size = airy_dtype_size(s->plan->to);
    char *turned = malloc(lines * depth * size);
    if (!turned)
        return tool_fail(common, "%s: out of memory for %zu x %zu pixels", path, depth, lines);
    for (size_t l = 0; l < lines; l++)
        for (size_t z = 0; z < depth; z++)
            memcpy(turned + (z * lines + l) * size, (const char *)result + (l * depth + z) * size,
                   size);
    const airy_image image = {
        .dtype = s->plan->to, .ndim = 2, .shape = {depth, lines}, .data = turned};
    const airy_status status = airy_image_write(&image, path, common->force);
    free(turned);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* A B-scan as it is drawn: [depth][lines] in boxes. */
struct picture {
    size_t width, height, step_x, step_y;
    float *values;
};

static bool make_picture(struct picture *p, const struct oct_sink *s, const float *values)
{
    const size_t lines = s->info.out_lines, depth = s->info.depth;
    p->step_x = (lines + MOST_PIXELS - 1) / MOST_PIXELS;
    p->step_y = (depth + MOST_PIXELS - 1) / MOST_PIXELS;
    p->width = (lines + p->step_x - 1) / p->step_x;
    p->height = (depth + p->step_y - 1) / p->step_y;
    p->values = malloc(p->width * p->height * sizeof(*p->values));
    if (!p->values)
        return false;
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            double sum = 0;
            size_t n = 0;
            for (size_t l = x * p->step_x; l < (x + 1) * p->step_x && l < lines; l++)
                for (size_t z = y * p->step_y; z < (y + 1) * p->step_y && z < depth; z++, n++)
                    sum += (double)values[l * depth + z];
            p->values[y * p->width + x] = (float)(sum / (double)n);
        }
    return true;
}

/* Magnitudes and powers span decades; phases and displays do not. Returns the scale's name. */
static const char *to_db(const struct oct_sink *s, struct picture *p)
{
    const airy_oct_params *plan = s->plan;
    const bool variance = plan->flow == AIRY_OCT_FLOW_VARIANCE;
    if (plan->display)
        return "display";
    if (plan->output == AIRY_OCT_PHASE)
        return "phase (rad)";
    if (variance)
        return "variance";
    const float factor = plan->output == AIRY_OCT_MAGNITUDE ? 20.0f : 10.0f;
    for (size_t i = 0; i < p->width * p->height && plan->output != AIRY_OCT_DB; i++)
        p->values[i] = fmaxf(factor * log10f(p->values[i]), -300.0f);
    return "dB";
}

static void write_script(FILE *s, const struct oct_sink *sink, const struct picture *p,
                         const char *scale, const double limits[2])
{
    const double um = oct_depth_um(&sink->info), bin = um > 0 ? um : 1,
                 first = (double)sink->plan->depth_first, dx = (double)p->step_x,
                 dy = (double)p->step_y * bin;
    const char *path = sink->p->common.inputs.items[0], *slash = strrchr(path, '/');
    fputs("set title ", s);
    gnuplot_text(s, slash && slash[1] ? slash + 1 : path);
    fprintf(s,
            "\nset cblabel '%s' noenhanced offset 1.5\nset rmargin 13\nset xlabel "
            "'line'\nset ylabel '%s'\nset tics out\nset xrange [-0.5:%.1f]\nset yrange "
            "[%.9g:%.9g]\nset cbrange [%.9g:%.9g]\nunset key\n",
            scale, um > 0 ? "depth (µm)" : "depth (bins)", (double)sink->info.out_lines - 0.5,
            (first + (double)sink->info.depth - 0.5) * bin, (first - 0.5) * bin, limits[0],
            limits[1]);
    fprintf(s,
            "plot '-' binary array=(%zu,%zu) format='%%float' origin=(%.9g,%.9g) dx=%.9g dy=%.9g "
            "with image notitle\n",
            p->width, p->height, (dx - 1) / 2, first * bin + (dy - bin) / 2, dx, dy);
    fwrite(p->values, sizeof(float), p->width * p->height, s);
}

int oct_plot(const struct oct_sink *sink, const float *values)
{
    const struct common *common = &sink->p->common;
    struct gnuplot plot;
    struct picture picture = {.values = NULL};
    if (!make_picture(&picture, sink, values))
        return tool_fail(common, "%s: out of memory for the picture", sink->p->plot);
    const char *scale = to_db(sink, &picture);
    double limits[2] = {0, 1};
    const bool whole = sink->plan->output == AIRY_OCT_PHASE || sink->plan->display;
    oct_limits(picture.values, picture.width * picture.height, whole ? 0 : 5, whole ? 100 : 99.95,
               &limits[0], &limits[1]);
    if (!whole && sink->plan->low < sink->plan->high) { /* db_range */
        limits[0] = sink->plan->low;
        limits[1] = sink->plan->high;
    }
    int code = gnuplot_begin(&plot, common, sink->p->plot, 0.66);
    if (code == AIRY_EXIT_OK) {
        gnuplot_palette(&plot, colormap_find("gray"));
        write_script(plot.script, sink, &picture, scale, limits);
        code = gnuplot_end(&plot);
    }
    free(picture.values);
    return code;
}
