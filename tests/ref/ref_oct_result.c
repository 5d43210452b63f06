/*
 * From spectra to results. Every number is an interval: F lies within `error` of the reference's, and
 * what follows adds its own roundings in f32.
 */
#include "ref_oct.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846, eps = 0x1p-24;

struct interval {
    double low, high;
};

static const struct interval nothing = {(double)NAN, (double)NAN};

/* F with its error. */
struct bin {
    double re, im, error;
};

/* ---- the parameters, with their defaults ---- */

struct shape {
    size_t groups, lines_each, repeats_lines, repeats_frames, out_lines, results;
};

static struct shape shape_of(const struct ref_oct_spectra *s, const airy_oct_params *p)
{
    const size_t repeats = p->flow == AIRY_OCT_FLOW_NONE ? 1 : p->repeats;
    struct shape shape = {.groups = p->average_frames ? p->average_frames : 1,
                          .lines_each = p->average_lines ? p->average_lines : 1,
                          .repeats_lines = p->flow_frames ? 1 : repeats,
                          .repeats_frames = p->flow_frames ? repeats : 1};
    shape.out_lines = p->lines / (shape.lines_each * shape.repeats_lines);
    shape.results = s->lines / p->lines / (shape.groups * shape.repeats_frames);
    return shape;
}

/* ---- one bin ---- */

static struct interval widen(double low, double high, double relative, double absolute)
{
    return (struct interval){low - relative * fabs(low) - absolute,
                             high + relative * fabs(high) + absolute};
}

static double scale_of(const airy_oct_params *p)
{
    return p->compat == AIRY_OCT_COMPAT_OCTPROZ ? 2 / (double)p->samples : 1;
}

static struct interval power_of(struct bin b, const airy_oct_params *p)
{
    const double m = hypot(b.re, b.im), least = fmax(0, m - b.error), most = m + b.error;
    if (isnan(m))
        return nothing;
    return widen(scale_of(p) * least * least, scale_of(p) * most * most, 8 * eps, 1e-38);
}

static struct interval magnitude_of(struct bin b, const airy_oct_params *p)
{
    const double m = hypot(b.re, b.im);
    if (isnan(m))
        return nothing;
    return widen(scale_of(p) * fmax(0, m - b.error), scale_of(p) * (m + b.error), 8 * eps, 1e-38);
}

/* A logarithm of 4 units in the last place, and of a power with a relative error of 8. */
static struct interval db_of(struct interval power)
{
    if (isnan(power.low))
        return nothing;
    return widen(10 * log10(fmax(power.low, 1e-30)), 10 * log10(fmax(power.high, 1e-30)), 8 * eps,
                 1e-5);
}

/* Where -pi and pi are both possible, so is all between; a number so close to 0 may be any. */
static struct interval phase_of(struct bin b)
{
    const double m = hypot(b.re, b.im), least = (double)(float)-pi - 4 * eps,
                 most = (double)(float)pi + 4 * eps;
    if (isnan(m))
        return nothing;
    if (b.error >= m)
        return (struct interval){least, most};
    const double angle = atan2(b.im, b.re), error = asin(b.error / m) + 16 * eps;
    if (fabs(angle) + error >= pi)
        return (struct interval){least, most};
    return (struct interval){angle - error, angle + error};
}

static struct interval quantity_of(struct bin b, airy_oct_output output, const airy_oct_params *p)
{
    return output == AIRY_OCT_MAGNITUDE ? magnitude_of(b, p)
           : output == AIRY_OCT_DB      ? db_of(power_of(b, p))
                                        : power_of(b, p);
}

/* ---- several lines ---- */

struct source {
    const struct ref_oct_spectra *s;
    const double *error;
    const airy_oct_params *p;
    uint64_t first_frame;
    struct shape shape;
};

static bool runs_backwards(const struct source *from, size_t frame)
{
    const bool odd = (from->first_frame + frame) % 2 == 1;
    const airy_oct_flip flip = from->p->flip;
    return flip == AIRY_OCT_FLIP_ALL || (flip == AIRY_OCT_FLIP_ODD && odd) ||
           (flip == AIRY_OCT_FLIP_EVEN && !odd);
}

static struct bin load(const struct source *from, size_t frame, size_t line, size_t depth)
{
    const size_t lines = from->p->lines,
                 l = frame * lines + (runs_backwards(from, frame) ? lines - 1 - line : line);
    const double *f = from->s->f + (l * from->s->depth + depth) * 2;
    return (struct bin){f[0], f[1], from->error[l]};
}

/* Repeat r of group g of a result's frames and m of its lines. */
struct place {
    size_t frame, line, g, m;
};

static struct bin load_repeat(const struct source *from, struct place at, size_t r, size_t depth)
{
    const struct shape *s = &from->shape;
    const size_t rf = s->repeats_frames > 1 ? r : 0, rl = s->repeats_lines > 1 ? r : 0;
    return load(from, (at.frame * s->groups + at.g) * s->repeats_frames + rf,
                (at.line * s->lines_each + at.m) * s->repeats_lines + rl, depth);
}

/* conj(a) b */
static struct bin step_between(struct bin a, struct bin b)
{
    const double sizes = hypot(a.re, a.im) * b.error + hypot(b.re, b.im) * a.error;
    return (struct bin){a.re * b.re + a.im * b.im, a.re * b.im - a.im * b.re,
                        sizes + a.error * b.error +
                            8 * eps * hypot(a.re, a.im) * hypot(b.re, b.im)};
}

/* Variance of the repeats' output: 2 |v - mean| / R each, plus the square. */
static struct interval variance_of(const struct source *from, struct place at, size_t depth)
{
    const size_t repeats = from->p->repeats;
    double mean = 0, squares = 0, error = 0, most = 0;
    for (size_t r = 0; r < repeats; r++) {
        const struct interval v =
            quantity_of(load_repeat(from, at, r, depth), from->p->output, from->p);
        mean += (v.low + v.high) / 2 / (double)repeats;
        error = fmax(error, (v.high - v.low) / 2);
        most = fmax(most, fabs(v.high));
    }
    for (size_t r = 0; r < repeats; r++) {
        const struct interval v =
            quantity_of(load_repeat(from, at, r, depth), from->p->output, from->p);
        squares += pow((v.low + v.high) / 2 - mean, 2) / (double)repeats;
    }
    if (isnan(mean))
        return nothing;
    error += 4 * eps * most; /* of the mean and the differences */
    const double change = 2 * sqrt(squares) * error + error * error;
    return widen(squares - change, squares + change, 16 * eps, 1e-38);
}

/* Sums over all groups of frames and lines, divided by count. */
static struct bin sum_of(const struct source *from, struct place at, size_t depth, double count)
{
    const struct shape *s = &from->shape;
    const bool flow = from->p->flow == AIRY_OCT_FLOW_PHASE;
    const size_t steps = flow ? from->p->repeats - 1 : 1;
    struct bin sum = {0};
    double most = 0;
    for (at.g = 0; at.g < s->groups; at.g++)
        for (at.m = 0; at.m < s->lines_each; at.m++)
            for (size_t r = 0; r < steps; r++) {
                struct bin b = load_repeat(from, at, r, depth);
                if (flow)
                    b = step_between(b, load_repeat(from, at, r + 1, depth));
                sum.re += b.re / count;
                sum.im += b.im / count;
                sum.error += b.error / count;
                most += hypot(b.re, b.im) / count;
            }
    sum.error += 16 * eps * most;
    return sum;
}

static struct interval mean_of(const struct source *from, struct place at, size_t depth)
{
    const struct shape *s = &from->shape;
    const airy_oct_params *p = from->p;
    const bool variance = p->flow == AIRY_OCT_FLOW_VARIANCE;
    const double count = (double)(s->groups * s->lines_each);
    const airy_oct_output given = p->output == AIRY_OCT_MAGNITUDE ? p->output : AIRY_OCT_POWER;
    struct interval sum = {0, 0};
    for (at.g = 0; at.g < s->groups; at.g++)
        for (at.m = 0; at.m < s->lines_each; at.m++) {
            const struct interval v = variance
                                          ? variance_of(from, at, depth)
                                          : quantity_of(load_repeat(from, at, 0, depth), given, p);
            sum.low += v.low / count;
            sum.high += v.high / count;
        }
    if (isnan(sum.low))
        return nothing;
    if (count > 1)
        sum = widen(sum.low, sum.high, 16 * eps, 0);
    return p->output == AIRY_OCT_DB && !variance ? db_of(sum) : sum;
}

/* Parts 0 and 1 of a complex result, or what there is. */
static struct interval value_of(const struct source *from, struct place at, size_t depth, int part)
{
    const airy_oct_output output = from->p->output;
    if (output != AIRY_OCT_PHASE && output != AIRY_OCT_COMPLEX)
        return mean_of(from, at, depth);
    const double count = (double)(from->shape.groups * from->shape.lines_each);
    const struct bin sum = sum_of(from, at, depth, count);
    if (output == AIRY_OCT_PHASE)
        return phase_of(sum);
    const double v = part ? sum.im : sum.re;
    return isnan(v) ? nothing : widen(v - sum.error, v + sum.error, eps, 0);
}

/* ---- the result ---- */

/* Position (lines / pi) acos(1 - 2 k / lines), in f32 of an error of 8 units of `lines`. */
static struct interval straighten(const struct source *from, struct place at, size_t depth,
                                  int part)
{
    const double lines = (double)from->shape.out_lines,
                 r = lines / pi * acos(1 - 2 * (double)at.line / lines), f = r - floor(r);
    struct place left = at, right = at;
    left.line = (size_t)r;
    right.line = left.line + 1 < from->shape.out_lines ? left.line + 1 : left.line;
    const struct interval a = value_of(from, left, depth, part),
                          b = value_of(from, right, depth, part);
    /* A weight of exactly 0 may spare a device the line that is not a number. */
    if (isnan(a.low) || isnan(b.low))
        return nothing;
    const double error = 8 * eps * lines * fmax(fabs(b.high - a.low), fabs(a.high - b.low));
    return widen((1 - f) * a.low + f * b.low, (1 - f) * a.high + f * b.high, 4 * eps,
                 error + 4 * eps * fmax(fabs(a.high), fabs(b.high)));
}

static struct interval display(struct interval v, struct interval post, const airy_oct_params *p)
{
    const double multiply = p->multiply == 0 ? 1 : p->multiply, range = p->high - p->low,
                 scale = multiply / range, offset = multiply * (p->add - p->low / range),
                 most = fmax(fabs(v.low), fabs(v.high)),
                 error =
                     4 * eps *
                     (fabs(scale) * most + fabs(offset) + fmax(fabs(post.low), fabs(post.high)));
    const double top = p->to == AIRY_DTYPE_U8 ? 255 : p->to == AIRY_DTYPE_U16 ? 65535 : 0;
    if (!p->display)
        return v;
    if (isnan(v.low) || isnan(post.low))
        return top > 0 ? (struct interval){0, 0} : nothing;
    const double a = scale * v.low + offset, b = scale * v.high + offset;
    struct interval g = {fmin(a, b) - post.high - error, fmax(a, b) - post.low + error};
    if (top > 0) {
        g.low = floor(fmin(fmax(g.low * (1 - 2 * eps), 0), 1) * top);
        g.high = floor(fmin(fmax(g.high * (1 + 2 * eps), 0), 1) * top);
    }
    return g;
}

bool ref_oct_result(struct ref_oct_bounds *b, const struct ref_oct_spectra *s, const double *error,
                    uint64_t first_frame, const struct ref_oct_bounds *post,
                    const airy_oct_params *p)
{
    const struct source from = {s, error, p, first_frame, shape_of(s, p)};
    const size_t parts = p->output == AIRY_OCT_COMPLEX ? 2 : 1, lines = from.shape.out_lines,
                 each = s->depth * parts;
    b->count = from.shape.results * lines * each;
    b->low = calloc(b->count, sizeof(double));
    b->high = calloc(b->count, sizeof(double));
    if (!b->low || !b->high) {
        ref_oct_bounds_free(b);
        return false;
    }
    for (size_t i = 0; i < b->count; i++) {
        const size_t depth = i % each / parts;
        const int part = (int)(i % parts);
        const struct place at = {.frame = i / each / lines, .line = i / each % lines};
        const struct interval v = p->sinusoidal ? straighten(&from, at, depth, part)
                                                : value_of(&from, at, depth, part),
                              off = post ? (struct interval){post->low[depth], post->high[depth]}
                                         : (struct interval){0, 0},
                              g = display(v, off, p);
        b->low[i] = g.low;
        b->high[i] = g.high;
    }
    return true;
}

bool ref_oct_post(struct ref_oct_bounds *post, const struct ref_oct_bounds *first, size_t depth,
                  const airy_oct_params *p)
{
    const size_t lines = first->count / depth;
    *post = (struct ref_oct_bounds){.count = depth,
                                    .low = calloc(depth, sizeof(double)),
                                    .high = calloc(depth, sizeof(double))};
    if (!post->low || !post->high) {
        ref_oct_bounds_free(post);
        return false;
    }
    for (size_t i = 0; i < depth; i++) {
        double low = 0, high = 0;
        for (size_t l = 0; l < lines; l++) {
            low += first->low[l * depth + i] / (double)lines;
            high += first->high[l * depth + i] / (double)lines;
        }
        const double a = p->post_weight * low + p->post_offset,
                     b = p->post_weight * high + p->post_offset;
        const struct interval v = widen(fmin(a, b), fmax(a, b), 2 * eps, 0);
        post->low[i] = v.low;
        post->high[i] = v.high;
    }
    return true;
}

void ref_oct_bounds_free(struct ref_oct_bounds *b)
{
    free(b->low);
    free(b->high);
    *b = (struct ref_oct_bounds){.low = NULL};
}
