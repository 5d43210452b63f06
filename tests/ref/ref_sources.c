#include "ref_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ref_label.h"

static double filter_pixel(const struct ref_field *f, size_t x, size_t y)
{
    if (!f->kernel) {
        const double v = f->value[y * f->width + x];
        return isnan(v) ? 0 : v;
    }
    double sum = 0, norm = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const size_t px = x + (size_t)i - 1, py = y + (size_t)j - 1;
            norm += fabs(f->kernel[j * 3 + i]);
            if (px < f->width && py < f->height && !isnan(f->value[py * f->width + px]))
                sum += f->kernel[j * 3 + i] * f->value[py * f->width + px];
        }
    return sum / norm;
}

/* Signal over noise of the kernel's shape about a pixel. */
static double match_pixel(const struct ref_field *f, size_t x, size_t y)
{
    double sum = 0, variance = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const size_t px = x + (size_t)i - 1, py = y + (size_t)j - 1, at = py * f->width + px;
            if (px >= f->width || py >= f->height || isnan(f->value[at]))
                continue;
            const double k = f->kernel[j * 3 + i], s = f->noise[at];
            sum += k * f->value[at] / (s * s);
            variance += k * k / (s * s);
        }
    return sum / sqrt(variance);
}

size_t ref_sources_find(uint32_t *labels, double *filtered, const struct ref_field *f)
{
    const size_t n = f->width * f->height, shape[3] = {1, f->height, f->width};
    uint8_t *above = calloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        filtered[i] = filter_pixel(f, i % f->width, i / f->width);
        const double s = f->noise ? f->noise[i] : 1;
        const bool is_above = f->matched ? match_pixel(f, i % f->width, i / f->width) > f->threshold
                                         : filtered[i] > f->threshold * s;
        above[i] = !isnan(f->value[i]) && is_above;
    }
    const size_t all = ref_label(labels, above, shape, f->axes);
    uint64_t *pixels = calloc(all + 1, sizeof(*pixels));
    uint32_t *next = calloc(all + 1, sizeof(*next)), count = 0;
    for (size_t i = 0; i < n; i++)
        pixels[labels[i]]++;
    for (size_t i = 1; i <= all; i++)
        next[i] = pixels[i] >= f->min_area ? ++count : 0;
    for (size_t i = 0; i < n; i++)
        labels[i] = next[labels[i]];
    free(above);
    free(pixels);
    free(next);
    return count;
}

void ref_source_measure(struct ref_source *s, uint32_t label, const uint32_t *labels,
                        const double *filtered, const struct ref_field *f)
{
    long double g = 0, gx = 0, gy = 0, flux = 0, xx = 0, yy = 0, xy = 0;
    *s = (struct ref_source){.xmin = SIZE_MAX, .ymin = SIZE_MAX, .peak = -(double)INFINITY};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < f->width * f->height; i++) {
            if (labels[i] != label)
                continue;
            const size_t x = i % f->width, y = i / f->width;
            if (pass == 1) {
                const long double dx = (long double)x - gx / g, dy = (long double)y - gy / g;
                xx += filtered[i] * dx * dx;
                yy += filtered[i] * dy * dy;
                xy += filtered[i] * dx * dy;
                continue;
            }
            s->npix++;
            flux += f->value[i];
            g += filtered[i];
            gx += filtered[i] * (long double)x;
            gy += filtered[i] * (long double)y;
            s->peak = fmax(s->peak, f->value[i]);
            s->xmin = x < s->xmin ? x : s->xmin;
            s->xmax = x > s->xmax ? x : s->xmax;
            s->ymin = y < s->ymin ? y : s->ymin;
            s->ymax = y > s->ymax ? y : s->ymax;
        }
    s->flux = (double)flux;
    s->filtered = (double)g;
    s->x = (double)(gx / g);
    s->y = (double)(gy / g);
    s->xx = (double)(xx / g);
    s->yy = (double)(yy / g);
    s->xy = (double)(xy / g);
}

struct tree {
    struct ref_core *cores;
    size_t room, count;
    uint32_t *core;
    const double *filtered;
    const struct ref_field *field;
    const double *level;
    int levels;
    double limit;
    uint64_t least;
};

static void add_core(struct tree *t, const uint32_t *labels, uint32_t label)
{
    const size_t n = t->field->width * t->field->height;
    if (t->count == t->room)
        return;
    long double g = 0, x = 0, y = 0;
    struct ref_core *core = &t->cores[t->count++];
    *core = (struct ref_core){.first = n};
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != label)
            continue;
        t->core[i] = (uint32_t)t->count;
        core->first = core->npix++ ? core->first : i;
        g += t->filtered[i];
        x += t->filtered[i] * (long double)(i % t->field->width);
        y += t->filtered[i] * (long double)(i / t->field->width);
    }
    core->x = (double)(x / g);
    core->y = (double)(y / g);
}

/* Whether the part fell apart; members: its pixels, at a level. */
static bool split_part(struct tree *t, const uint8_t *members, int level)
{
    const size_t n = t->field->width * t->field->height,
                 shape[3] = {1, t->field->height, t->field->width};
    if (level + 1 >= t->levels)
        return false;
    uint8_t *above = calloc(n, 1);
    uint32_t *labels = calloc(n, sizeof(*labels));
    for (size_t i = 0; i < n; i++)
        above[i] = members[i] && t->filtered[i] > t->level[level + 1];
    const size_t count = ref_label(labels, above, shape, t->field->axes);
    bool *whole = calloc(count + 1, sizeof(*whole)), any = false;
    size_t bright = 0;
    for (uint32_t k = 1; k <= count; k++) {
        double flux = 0;
        uint64_t pixels = 0;
        for (size_t i = 0; i < n; i++) {
            above[i] = labels[i] == k;
            pixels += above[i];
            flux += above[i] ? t->filtered[i] - t->level[level + 1] : 0;
        }
        if (pixels < t->least)
            continue;
        const bool fell = split_part(t, above, level + 1);
        any = any || fell;
        bright += flux > t->limit;
        whole[k] = flux > t->limit && !fell;
    }
    for (uint32_t k = 1; k <= count && bright > 1; k++)
        if (whole[k])
            add_core(t, labels, k);
    free(above);
    free(labels);
    free(whole);
    return any || bright > 1;
}

size_t ref_sources_split(struct ref_core *cores, size_t room, uint32_t *core, uint32_t label,
                         const uint32_t *labels, const double *filtered, const struct ref_field *f,
                         int levels, double contrast)
{
    const size_t n = f->width * f->height;
    uint8_t *members = calloc(n, 1);
    double *level = calloc((size_t)levels, sizeof(*level)), peak = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        members[i] = labels[i] == label;
        sum += members[i] ? filtered[i] : 0;
        peak = members[i] ? fmax(peak, filtered[i]) : peak;
    }
    for (int k = 0; k < levels; k++)
        level[k] = (double)(float)(f->threshold * pow(peak / f->threshold, (double)k / levels));
    struct tree t = {.cores = cores,
                     .room = room,
                     .core = core,
                     .filtered = filtered,
                     .field = f,
                     .level = level,
                     .levels = levels,
                     .limit = contrast * sum,
                     .least = f->min_area < 3 ? f->min_area : 3};
    (void)split_part(&t, members, 0);
    free(members);
    free(level);
    return t.count;
}

double ref_overlap(double dx, double dy, double a, double b, double theta)
{
    /* Of the ellipse, at x: p y^2 + 2 q x y + r x^2 <= 1. */
    const double c = cos(theta), s = sin(theta), p = s * s / (a * a) + c * c / (b * b),
                 q = c * s * (1 / (a * a) - 1 / (b * b)), r = c * c / (a * a) + s * s / (b * b);
    const int slices = 40000;
    double area = 0;
    for (int i = 0; i < slices; i++) {
        const double x = dx - 0.5 + (i + 0.5) / slices, d = q * q * x * x - p * (r * x * x - 1);
        if (d <= 0)
            continue;
        const double middle = -q * x / p, half = sqrt(d) / p;
        area += fmax(fmin(middle + half, dy + 0.5) - fmax(middle - half, dy - 0.5), 0) / slices;
    }
    return area;
}
