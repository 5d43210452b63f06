#include "airy/oct_calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "oct/fringe.h"
#include "oct/oct_fns.h"

#define TWO_PI 6.283185307179586
/* Power of a fringe, of its largest, below which its phase is noise that walks away. */
#define DARK 1e-3
/*
 * Peaks wider than this share of theory are sharpened. Others are not: phases tell the axis three to
 * fifteen times better than the sharpest peak does (simulated mirrors of 25 to 40 dB).
 */
#define BROAD 1.02

enum {
    AXIS_TERMS = AIRY_OCT_CALIBRATE_MAX_DEGREE - 1,
    PHASE_TERMS = 2,
    UNKNOWNS = 2 * 2 + AXIS_TERMS + PHASE_TERMS,
    MOST_ROUNDS = 16
};

/*
 * What is looked for, t from 0 to 1, T_n Chebyshev's polynomials of 2 t - 1:
 *   positions  (samples - 1) (t + t (1 - t) sum axis[n] T_n)
 *   phase      t (1 - t) sum phase[n] T_n
 * Both leave the ends of the line where they are.
 */
struct model {
    int terms; /* of axis */
    double axis[AXIS_TERMS], phase[PHASE_TERMS];
};

struct work {
    const airy_oct_calibrate_params *params;
    bool fit_axis, fit_dispersion;
    size_t samples, mirrors;
    struct airy_fringe_plan plan;
    double *line[2];         /* [2 samples] fringes, without dark */
    double *position, *turn; /* [samples], [samples] radians */
    double *z[2], *a[2];     /* [2 samples] resampled, and its fringe */
    double *weight[2];       /* [samples] of its phase; the largest is 1 */
    double *left[2];         /* [samples] its phase without the straight line of the peak */
    struct airy_fringe_band band[2];
    double peak[2]; /* turns along the line, 0 to 1 of t */
    double rms[2];
    struct airy_oct_tables tables; /* of the known axis */
    bool no_memory;                /* for one of the models that were tried */
};

/* sum c[n] T_n(2 t - 1) t (1 - t) */
static double bulge(const double *c, int terms, double t)
{
    const double x = 2 * t - 1;
    double b1 = 0, b2 = 0; /* Clenshaw */
    for (int n = terms - 1; n > 0; n--) {
        const double b = c[n] + 2 * x * b1 - b2;
        b2 = b1;
        b1 = b;
    }
    return terms > 0 ? t * (1 - t) * (c[0] + x * b1 - b2) : 0;
}

/* All t (1 - t) T_n(2 t - 1). */
static void bulges(double *to, int terms, double t)
{
    const double x = 2 * t - 1, w = t * (1 - t);
    double before = 1, now = x;
    for (int n = 0; n < terms; n++) {
        to[n] = w * before;
        const double next = 2 * x * now - before;
        before = now;
        now = next;
    }
}

/* Gauss and Jordan with pivots, rows scaled by the diagonal; false where columns depend on others. */
static bool solve(double matrix[UNKNOWNS][UNKNOWNS + 1], int n)
{
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int k = i + 1; k < n; k++)
            best = fabs(matrix[k][i]) > fabs(matrix[best][i]) ? k : best;
        if (!(fabs(matrix[best][i]) > 1e-14))
            return false;
        for (int k = 0; k <= n; k++) {
            const double v = matrix[i][k];
            matrix[i][k] = matrix[best][k];
            matrix[best][k] = v;
        }
        for (int r = 0; r < n; r++) {
            const double f = matrix[r][i] / matrix[i][i];
            for (int k = i; r != i && k <= n; k++)
                matrix[r][k] -= f * matrix[i][k];
        }
    }
    for (int i = 0; i < n; i++)
        matrix[i][n] /= matrix[i][i];
    return true;
}

/* Weighted least squares: row and value are added up in normal equations. */
static void add_row(double normal[UNKNOWNS][UNKNOWNS + 1], const double *row, int n, double value,
                    double weight)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            normal[i][k] += weight * row[i] * row[k];
        normal[i][n] += weight * row[i] * value;
    }
}

/* ---- the lines ---- */

static airy_status check_mirror(const airy_oct_calibrate_params *p, size_t m)
{
    const airy_oct_mirror *mirror = &p->mirror[m];
    const size_t n = p->samples;
    AIRY_FAIL_IF(!mirror->lines || mirror->count == 0, AIRY_ERR_PARAM,
                 "mirror %zu has no lines, expected 1 or more", m + 1);
    size_t most = 0, longest = 0;
    for (size_t l = 0; l < mirror->count; l++) {
        const double *x = mirror->lines + l * n;
        double top = x[0], bottom = x[0];
        for (size_t i = 0; i < n; i++) {
            AIRY_FAIL_IF(!(fabs(x[i]) < 1e100), AIRY_ERR_PARAM,
                         "mirror %zu line %zu sample %zu = %g, expected a number below 1e100",
                         m + 1, l, i, x[i]);
            top = x[i] > top ? x[i] : top;
            bottom = x[i] < bottom ? x[i] : bottom;
        }
        size_t run = 0;
        for (size_t i = 0; bottom < top && i < n; i++) {
            most += x[i] >= top;
            run = x[i] >= top ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
    }
    for (size_t i = 0; mirror->dark && i < n; i++)
        AIRY_FAIL_IF(!(fabs(mirror->dark[i]) < 1e100), AIRY_ERR_PARAM,
                     "dark line of mirror %zu sample %zu = %g, expected a number below 1e100",
                     m + 1, i, mirror->dark[i]);
    /* A fringe touches its largest value here and there; a clipped one stays there. */
    const double share = 100 * (double)most / (double)(mirror->count * n);
    AIRY_FAIL_IF(
        longest >= 3 && share > 3, AIRY_ERR_PARAM,
        "mirror %zu is saturated: %.1f %% of its samples are the largest value, up to %zu in "
        "a row; lower the light or the exposure",
        m + 1, share, longest);
    return AIRY_OK;
}

/* A line without dark and mean, as complex numbers, so that the largest is about 1. */
static void take_line(const airy_oct_calibrate_params *p, size_t m, size_t l, double scale,
                      double *z)
{
    const size_t n = p->samples;
    const double *x = p->mirror[m].lines + l * n, *dark = p->mirror[m].dark;
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        z[2 * i] = scale * (x[i] - (dark ? dark[i] : 0));
        z[2 * i + 1] = 0;
        mean += z[2 * i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        z[2 * i] -= mean;
}

static double largest(const airy_oct_calibrate_params *p, size_t m)
{
    double top = 0;
    for (size_t i = 0; i < p->samples; i++) {
        const double dark = p->mirror[m].dark ? p->mirror[m].dark[i] : 0;
        top = fmax(top, fabs(p->mirror[m].lines[i] - dark));
    }
    return top > 0 ? top : 1;
}

/* The refusals of what no calibration can come from. */
static airy_status check_band(const struct work *w, size_t m)
{
    const struct airy_fringe_band *band = &w->band[m];
    const double bins = (double)w->samples / (double)w->plan.grid, at = bins * (double)band->peak;
    AIRY_FAIL_IF(band->contrast < 15, AIRY_ERR_PARAM,
                 "mirror %zu shows no fringe apart from depth 0: the strongest, at bin %.1f, is "
                 "%.1f dB above the "
                 "noise, expected 15 or more",
                 m + 1, at, band->contrast);
    AIRY_FAIL_IF(band->last + 4 >= w->plan.grid / 2, AIRY_ERR_PARAM,
                 "mirror %zu: its fringe, at bin %.1f, reaches the last bin, %zu, and is folded "
                 "there; bring the mirror nearer to depth 0",
                 m + 1, at, w->samples / 2);
    AIRY_FAIL_IF(band->valley > 0.1, AIRY_ERR_PARAM,
                 "mirror %zu: its fringe, at bin %.1f, is not apart from what is at depth 0; bring "
                 "the mirror farther away, or give a dark line",
                 m + 1, at);
    return AIRY_OK;
}

/*
 * The fringe of a mirror as an analytic signal, so that neither depth 0 nor its image on the other side
 * get in the way. Lines are turned to the phase of the first and their mean is taken: depth that moves
 * by parts of a wavelength would take the fringe away.
 */
static airy_status average(struct work *w, size_t m)
{
    const size_t n = w->samples, count = w->params->mirror[m].count;
    const double scale = 1 / largest(w->params, m);
    double *z = w->z[m], *a = w->a[m];
    take_line(w->params, m, 0, scale, z);
    w->band[m] = airy_fringe_find(&w->plan, z);
    AIRY_TRY(check_band(w, m));
    const struct airy_fringe_band all = airy_fringe_above(&w->plan, &w->band[m]);
    double *sum = w->line[m];
    airy_fringe_analytic(&w->plan, z, &all, sum);
    for (size_t l = 1; l < count; l++) {
        take_line(w->params, m, l, scale, z);
        airy_fringe_analytic(&w->plan, z, &all, a);
        double re = 0, im = 0;
        for (size_t i = 0; i < n; i++) {
            re += sum[2 * i] * a[2 * i] + sum[2 * i + 1] * a[2 * i + 1];
            im += sum[2 * i + 1] * a[2 * i] - sum[2 * i] * a[2 * i + 1];
        }
        const double size = hypot(re, im), c = size > 0 ? re / size : 1,
                     s = size > 0 ? im / size : 0;
        for (size_t i = 0; i < n; i++) {
            sum[2 * i] += a[2 * i] * c - a[2 * i + 1] * s;
            sum[2 * i + 1] += a[2 * i] * s + a[2 * i + 1] * c;
        }
    }
    for (size_t i = 0; i < 2 * n; i++)
        sum[i] /= (double)count;
    return AIRY_OK;
}

/* ---- one round ---- */

/* Positions and phases of the model. */
static airy_status place(struct work *w, const struct model *model)
{
    const size_t n = w->samples;
    const airy_oct_params *start = w->params->start;
    const double last = (double)(n - 1);
    for (size_t j = 0; j < n; j++) {
        const double t = (double)j / last;
        w->position[j] = last * (t + bulge(model->axis, model->terms, t));
        if (w->fit_dispersion) {
            w->turn[j] = bulge(model->phase, PHASE_TERMS, t);
        } else if (start && start->phase_table) {
            w->turn[j] = start->phase_table[j];
        } else {
            const double *d = start && start->has_dispersion ? start->dispersion : NULL;
            w->turn[j] = d ? d[0] + t * (d[1] + t * (d[2] + t * d[3])) : 0;
        }
        AIRY_FAIL_IF(
            w->fit_axis && j > 0 && !(w->position[j] > w->position[j - 1]), AIRY_ERR_PARAM,
            "the fringes give an axis that runs backwards at sample %zu; they are too weak, "
            "or not those of single mirrors on the same side of depth 0",
            j);
    }
    return AIRY_OK;
}

/* What tables are made of: no axis, no window. */
static airy_oct_params plain_line(size_t samples)
{
    return (airy_oct_params){
        .samples = samples, .lines = 1, .window_center = 0.5, .window_fill = 1};
}

/* Lines at w->position, or along the known axis, turned by w->turn. */
static airy_status resample(struct work *w)
{
    const size_t n = w->samples;
    struct airy_oct_tables made = {0};
    const struct airy_oct_tables *t = &w->tables;
    if (w->fit_axis) {
        airy_oct_params curve = plain_line(n);
        curve.axis = AIRY_OCT_AXIS_CURVE;
        curve.axis_table = w->position;
        curve.interpolation = AIRY_OCT_LANCZOS;
        AIRY_TRY(airy_oct_tables_make(&made, &curve));
        t = &made;
    }
    for (size_t j = 0; j < n; j++) {
        const double c = cos(w->turn[j]), s = sin(w->turn[j]);
        for (size_t m = 0; m < w->mirrors; m++) {
            const double *x = w->line[m] + 2 * (size_t)t->base[j];
            double re = 0, im = 0;
            for (size_t k = 0; k < t->taps; k++) {
                re += t->weights[j * t->taps + k] * x[2 * k];
                im += t->weights[j * t->taps + k] * x[2 * k + 1];
            }
            w->z[m][2 * j] = re * c - im * s;
            w->z[m][2 * j + 1] = re * s + im * c;
        }
    }
    airy_oct_tables_free(&made);
    return AIRY_OK;
}

static double near(double phase, double other)
{
    return phase - TWO_PI * floor((phase - other) / TWO_PI + 0.5);
}

/*
 * The phase of a fringe less its straight line, outwards from where it is strongest, and the rms of
 * that.
 */
static void unwrap(struct work *w, size_t m)
{
    const size_t n = w->samples;
    const double *a = w->a[m], last = (double)(n - 1);
    double *left = w->left[m];
    const double turns = (double)w->band[m].peak / (double)w->plan.grid * last;
    size_t top = 0;
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        const double size = hypot(a[2 * j], a[2 * j + 1]);
        left[j] = atan2(a[2 * j + 1], a[2 * j]) - TWO_PI * turns * (double)j / last;
        top = size > most ? j : top;
        most = size > most ? size : most;
    }
    for (size_t j = top + 1; j < n; j++)
        left[j] = near(left[j], left[j - 1]);
    for (size_t j = top; j-- > 0;)
        left[j] = near(left[j], left[j + 1]);
    double sum[6] = {0}; /* of weights w: w, w t, w t^2, w y, w t y, w y^2 */
    for (size_t j = 0; j < n; j++) {
        const double t = (double)j / last - 0.5,
                     power = (a[2 * j] * a[2 * j] + a[2 * j + 1] * a[2 * j + 1]) / (most * most);
        const double weight = power > DARK ? power : 0;
        w->weight[m][j] = weight;
        sum[0] += weight;
        sum[1] += weight * t;
        sum[2] += weight * t * t;
        sum[3] += weight * left[j];
        sum[4] += weight * t * left[j];
    }
    const double determinant = sum[0] * sum[2] - sum[1] * sum[1];
    const double slope = determinant > 0 ? (sum[0] * sum[4] - sum[1] * sum[3]) / determinant : 0,
                 level = sum[0] > 0 ? (sum[3] - slope * sum[1]) / sum[0] : 0;
    for (size_t j = 0; j < n; j++) {
        left[j] -= level + slope * ((double)j / last - 0.5);
        sum[5] += w->weight[m][j] * left[j] * left[j];
    }
    w->peak[m] = turns + slope / TWO_PI;
    w->rms[m] = sum[0] > 0 ? sqrt(sum[5] / sum[0]) : 0;
}

/* Resample by the model, and the phases that are left. */
static airy_status measure(struct work *w, const struct model *model)
{
    AIRY_TRY(place(w, model));
    AIRY_TRY(resample(w));
    for (size_t m = 0; m < w->mirrors; m++) {
        w->band[m] = airy_fringe_find(&w->plan, w->z[m]);
        airy_fringe_analytic(&w->plan, w->z[m], &w->band[m], w->a[m]);
        unwrap(w, m);
    }
    return AIRY_OK;
}

/* left = constant + slope t + 2 pi peak shift(t) + phase(t), least squares. */
static bool fit_phases(const struct work *w, const struct model *model, double *shift,
                       double *phase)
{
    const size_t n = w->samples, m2 = 2 * w->mirrors;
    const int axis = w->fit_axis ? model->terms : 0, turn = w->fit_dispersion ? PHASE_TERMS : 0,
              unknowns = (int)m2 + axis + turn;
    double normal[UNKNOWNS][UNKNOWNS + 1] = {0};
    for (size_t m = 0; m < w->mirrors; m++) {
        double power = 0;
        for (size_t j = 0; j < n; j++)
            power += w->weight[m][j];
        for (size_t j = 0; j < n && power > 0; j++) {
            const double t = (double)j / (double)(n - 1);
            double row[UNKNOWNS] = {0};
            row[2 * m] = 1;
            row[2 * m + 1] = 2 * t - 1;
            bulges(row + m2, axis, t);
            for (int k = 0; k < axis; k++)
                row[m2 + (size_t)k] *= TWO_PI * w->peak[m];
            bulges(row + m2 + axis, turn, t);
            add_row(normal, row, unknowns, w->left[m][j], w->weight[m][j] / power);
        }
    }
    /* Unknowns of about one size: columns by their own length. */
    double length[UNKNOWNS];
    for (int i = 0; i < unknowns; i++)
        length[i] = normal[i][i] > 0 ? sqrt(normal[i][i]) : 1;
    for (int i = 0; i < unknowns; i++)
        for (int k = 0; k <= unknowns; k++)
            normal[i][k] /= length[i] * (k < unknowns ? length[k] : 1);
    if (!solve(normal, unknowns))
        return false;
    for (int k = 0; k < axis; k++)
        shift[k] = normal[m2 + (size_t)k][unknowns] / length[m2 + (size_t)k];
    for (int k = 0; k < turn; k++)
        phase[k] = normal[m2 + (size_t)(axis + k)][unknowns] / length[m2 + (size_t)(axis + k)];
    return true;
}

/*
 * What belongs at t lies at t + shift(t) now: positions that put it right, as terms of the model again.
 * *moved: by how many samples at most.
 */
static bool move_positions(const struct work *w, struct model *model, const double *shift,
                           double *moved)
{
    const size_t n = w->samples;
    const double last = (double)(n - 1);
    double normal[UNKNOWNS][UNKNOWNS + 1] = {0};
    *moved = 0;
    for (size_t j = 0; j < n; j++) {
        const double t = (double)j / last;
        const size_t before = j > 0 ? j - 1 : 0, after = j + 1 < n ? j + 1 : j;
        const double rise = (w->position[after] - w->position[before]) /
                            ((double)(after - before) / last);
        const double by = rise * bulge(shift, model->terms, t);
        double row[UNKNOWNS], weight = DARK * DARK;
        for (size_t m = 0; m < w->mirrors; m++)
            weight += w->weight[m][j];
        bulges(row, model->terms, t);
        add_row(normal, row, model->terms, (w->position[j] - by) / last - t, weight);
        *moved = fmax(*moved, fabs(by));
    }
    const double unit = normal[0][0] > 0 ? normal[0][0] : 1;
    for (int i = 0; i < model->terms; i++)
        for (int k = 0; k <= model->terms; k++)
            normal[i][k] /= unit;
    if (!solve(normal, model->terms))
        return false;
    for (int k = 0; k < model->terms; k++)
        model->axis[k] = normal[k][model->terms];
    return true;
}

/* Rounds until nothing moves: the model, and in w the phases that it leaves. */
static airy_status settle(struct work *w, struct model *model)
{
    double change = 1;
    AIRY_TRY(measure(w, model));
    for (int round = 0; round < MOST_ROUNDS && change > 1e-4; round++) {
        double shift[AXIS_TERMS] = {0}, phase[PHASE_TERMS] = {0};
        bool good = fit_phases(w, model, shift, phase);
        change = 0;
        const struct model before = *model;
        if (good && w->fit_axis)
            good = move_positions(w, model, shift, &change);
        /* Where there is no light a first step may overshoot: half of it, then. */
        for (int half = 0; half < 8 && good && w->fit_axis && place(w, model) != AIRY_OK; half++)
            for (int k = 0; k < model->terms; k++)
                model->axis[k] = 0.5 * (model->axis[k] + before.axis[k]);
        AIRY_FAIL_IF(!good, AIRY_ERR_PARAM,
                     "the fringes cover too few samples to find %d terms of the axis",
                     model->terms);
        for (int k = 0; k < PHASE_TERMS; k++) {
            model->phase[k] -= phase[k];
            change = fmax(change, fabs(phase[k]));
        }
        AIRY_TRY(measure(w, model));
    }
    return AIRY_OK;
}

/* ---- sharpness ---- */

/*
 * Minus sum P^2 / (sum P)^2 of the bins around the peaks; 0 where there is no axis. scale: what the
 * unknowns are counted in.
 */
static double bluntness(struct work *w, const struct model *at, const double *x,
                        const double *scale)
{
    enum { REACH = 12 };
    struct model model = *at;
    const int axis = w->fit_axis ? 2 : 0;
    for (int k = 0; k < axis; k++)
        model.axis[k] += x[k] * scale[k];
    for (int k = 0; w->fit_dispersion && k < PHASE_TERMS; k++)
        model.phase[k] += x[axis + k] * scale[axis + k];
    airy_status status = place(w, &model);
    if (status == AIRY_OK)
        status = resample(w);
    w->no_memory |= status == AIRY_ERR_MEMORY;
    if (status != AIRY_OK)
        return 0;
    const size_t reach = REACH * w->plan.grid / w->samples, half = w->plan.grid / 2;
    double sum = 0;
    for (size_t m = 0; m < w->mirrors; m++) {
        const double at_place = w->peak[m] / (double)(w->samples - 1) * (double)w->plan.grid;
        const size_t peak = at_place > 0 ? (size_t)at_place : 0;
        const size_t first = peak > reach ? peak - reach : 0,
                     last = peak + reach < half ? peak + reach : half;
        airy_fringe_power(&w->plan, w->z[m], w->plan.window, w->plan.power);
        double power = 0, square = 0;
        for (size_t i = first; i < last; i++) {
            power += w->plan.power[i];
            square += w->plan.power[i] * w->plan.power[i];
        }
        sum -= power > 0 ? square / (power * power) : 0;
    }
    return sum;
}

enum { MOST_CORNERS = 5, MOST_STEPS = 160 };

struct corner {
    double x[MOST_CORNERS - 1], value;
};

static int by_value(const void *a, const void *b)
{
    const double x = ((const struct corner *)a)->value, y = ((const struct corner *)b)->value;
    return (x > y) - (x < y);
}

/* From the worst corner through the middle of the others by `factor`. */
static struct corner try_corner(struct work *w, const struct model *model, const double *scale,
                                const struct corner *corners, int n, double factor)
{
    struct corner c = {0};
    for (int i = 0; i < n; i++) {
        double middle = 0;
        for (int k = 0; k < n; k++)
            middle += corners[k].x[i] / n;
        c.x[i] = middle + factor * (corners[n].x[i] - middle);
    }
    c.value = bluntness(w, model, c.x, scale);
    return c;
}

/* Nelder and Mead's simplex with their factors, 1, 2, 1/2. */
static void sharpen(struct work *w, struct model *model)
{
    const int axis = w->fit_axis ? 2 : 0, n = axis + (w->fit_dispersion ? PHASE_TERMS : 0);
    double scale[MOST_CORNERS - 1] = {0};
    const double farthest = fmax(w->peak[0], w->mirrors == 2 ? w->peak[1] : 0);
    for (int i = 0; i < n; i++) /* a tenth of a radian in the middle of the line */
        scale[i] = i < axis ? 0.4 / (TWO_PI * farthest) : 0.4;
    struct corner corners[MOST_CORNERS] = {0};
    for (int i = 0; i <= n; i++) {
        if (i > 0)
            corners[i].x[i - 1] = 1;
        corners[i].value = bluntness(w, model, corners[i].x, scale);
    }
    for (int step = 0; step < MOST_STEPS; step++) {
        qsort(corners, (size_t)n + 1, sizeof(corners[0]), by_value);
        if (corners[n].value - corners[0].value <= 1e-12 * fabs(corners[0].value))
            break;
        struct corner c = try_corner(w, model, scale, corners, n, -1);
        if (c.value < corners[0].value) {
            const struct corner farther = try_corner(w, model, scale, corners, n, -2);
            c = farther.value < c.value ? farther : c;
        } else if (c.value >= corners[n - 1].value) {
            const struct corner inside =
                try_corner(w, model, scale, corners, n, c.value < corners[n].value ? -0.5 : 0.5);
            c = inside.value < c.value ? inside : c;
        }
        if (c.value < corners[n].value) {
            corners[n] = c;
            continue;
        }
        for (int k = 1; k <= n; k++) {
            for (int i = 0; i < n; i++)
                corners[k].x[i] = 0.5 * (corners[k].x[i] + corners[0].x[i]);
            corners[k].value = bluntness(w, model, corners[k].x, scale);
        }
    }
    qsort(corners, (size_t)n + 1, sizeof(corners[0]), by_value);
    for (int k = 0; k < axis; k++)
        model->axis[k] += corners[0].x[k] * scale[k];
    for (int k = 0; w->fit_dispersion && k < PHASE_TERMS; k++)
        model->phase[k] += corners[0].x[axis + k] * scale[axis + k];
}

/* ---- the whole ---- */

static double all_rms(const struct work *w)
{
    return w->mirrors == 2 ? sqrt(0.5 * (w->rms[0] * w->rms[0] + w->rms[1] * w->rms[1]))
                           : w->rms[0];
}

/*
 * With no degree given: each from 3 on, and the lowest whose phases no higher one makes a fifth smaller.
 */
static airy_status find_model(struct work *w, struct model *model)
{
    enum { FIRST = AIRY_OCT_CALIBRATE_MIN_DEGREE, LAST = AIRY_OCT_CALIBRATE_MAX_DEGREE };
    const int given = w->params->degree;
    if (!w->fit_axis || given) {
        model->terms = w->fit_axis ? given - 1 : 0;
        return settle(w, model);
    }
    struct model found[LAST + 1];
    double rms[LAST + 1], least = (double)INFINITY;
    airy_status status = AIRY_OK;
    for (int degree = FIRST; degree <= LAST; degree++) {
        model->terms = degree - 1;
        const airy_status tried = settle(w, model);
        status = degree == FIRST || tried == AIRY_ERR_MEMORY ? tried : status;
        rms[degree] = tried == AIRY_OK ? all_rms(w) : (double)INFINITY;
        found[degree] = *model;
        if (tried != AIRY_OK)
            break;
        least = fmin(least, rms[degree]);
    }
    AIRY_TRY(status);
    int best = FIRST;
    while (rms[best] > 1.25 * least)
        best++;
    *model = found[best];
    return AIRY_OK;
}

static void describe(const struct work *w, size_t m, airy_oct_peak *peak, double *profile)
{
    const struct airy_fringe_band *band = &w->band[m];
    const size_t n = w->samples;
    size_t top = band->low;
    airy_fringe_power(&w->plan, w->z[m], w->plan.window, w->plan.power);
    for (size_t i = band->low; i <= band->high; i++)
        top = w->plan.power[i] > w->plan.power[top] ? i : top;
    for (size_t i = 0; i < w->plan.grid / 2; i++)
        profile[i] = sqrt(w->plan.power[i]);
    peak->position = (double)top * (double)n / (double)w->plan.grid;
    peak->phase_rms = w->rms[m];
    airy_fringe_width(&w->plan, w->z[m], &peak->position, &peak->width);
    double zero = 0, *amplitude = w->a[m];
    for (size_t j = 0; j < n; j++) {
        amplitude[2 * j] = hypot(amplitude[2 * j], amplitude[2 * j + 1]);
        amplitude[2 * j + 1] = 0;
    }
    airy_fringe_width(&w->plan, amplitude, &zero, &peak->limit);
}

/* Factors that the start's window has, or Hann's. */
static airy_status make_window(const airy_oct_calibrate_params *p, double *window)
{
    airy_oct_params plain = plain_line(p->samples);
    plain.window = AIRY_OCT_WINDOW_HANN;
    if (p->start) {
        plain.window = p->start->window;
        plain.window_table = p->start->window_table;
        if (p->start->window_center != 0)
            plain.window_center = p->start->window_center;
        if (p->start->window_fill != 0)
            plain.window_fill = p->start->window_fill;
    }
    struct airy_oct_tables t;
    AIRY_TRY(airy_oct_tables_make(&t, &plain));
    for (size_t j = 0; j < p->samples; j++) {
        window[j] = 0;
        for (size_t k = 0; k < t.taps; k++)
            window[j] += t.weights[j * t.taps + k];
    }
    airy_oct_tables_free(&t);
    return AIRY_OK;
}

static airy_status begin(struct work *w, const airy_oct_calibrate_params *p, double *block)
{
    const size_t n = p->samples;
    const airy_oct_params *start = p->start;
    const bool known = start && start->axis != AIRY_OCT_AXIS_NONE;
    const airy_oct_fit fit = p->fit            ? p->fit
                             : p->mirrors == 2 ? AIRY_OCT_FIT_BOTH
                             : known           ? AIRY_OCT_FIT_DISPERSION
                                               : AIRY_OCT_FIT_AXIS;
    w->params = p;
    w->samples = n;
    w->mirrors = p->mirrors;
    w->fit_axis = fit != AIRY_OCT_FIT_DISPERSION;
    w->fit_dispersion = fit != AIRY_OCT_FIT_AXIS;
    w->position = block;
    w->turn = block + n;
    block += 2 * n;
    for (size_t m = 0; m < 2; m++, block += 8 * n) {
        w->line[m] = block;
        w->left[m] = block + 2 * n;
        w->z[m] = block + 3 * n;
        w->a[m] = block + 5 * n;
        w->weight[m] = block + 7 * n;
    }
    AIRY_TRY(make_window(p, block));
    AIRY_TRY(airy_fringe_begin(&w->plan, n, block));
    airy_oct_params axis = plain_line(n);
    if (start) {
        axis.axis = start->axis;
        axis.axis_table = start->axis_table;
        axis.interpolation = start->interpolation;
        memcpy(axis.poly, start->poly, sizeof(axis.poly));
    }
    if (!w->fit_axis)
        AIRY_TRY(airy_oct_tables_make(&w->tables, &axis));
    for (size_t m = 0; m < p->mirrors; m++)
        AIRY_TRY(average(w, m));
    return AIRY_OK;
}

/* As it was: no resampling and no dispersion, but what stays known. */
static airy_status describe_before(struct work *w, airy_oct_calibration *out)
{
    const struct model nothing = {.terms = 0};
    AIRY_TRY(measure(w, &nothing));
    AIRY_FAIL_IF(
        w->mirrors == 2 && w->fit_axis && w->fit_dispersion && fabs(w->peak[0] - w->peak[1]) < 8,
        AIRY_ERR_PARAM, "the mirrors lie at bins %.1f and %.1f: expected 8 or more between them",
        w->peak[0], w->peak[1]);
    for (size_t m = 0; m < w->mirrors; m++)
        describe(w, m, &out->before[m], out->profile + 2 * m * out->profile_count);
    return AIRY_OK;
}

static airy_status describe_after(struct work *w, const struct model *model,
                                  airy_oct_calibration *out)
{
    AIRY_TRY(measure(w, model));
    for (size_t m = 0; m < w->mirrors; m++)
        describe(w, m, &out->after[m], out->profile + (2 * m + 1) * out->profile_count);
    return AIRY_OK;
}

static void take_model(const struct work *w, const struct model *model, airy_oct_calibration *out)
{
    const double last = (double)(w->samples - 1), *q = model->axis, *e = model->phase;
    out->has_axis = w->fit_axis;
    out->has_dispersion = w->fit_dispersion;
    out->degree = w->fit_axis ? model->terms + 1 : 0;
    if (w->fit_axis)
        memcpy(out->curve, w->position, w->samples * sizeof(double));
    if (out->degree == 3) {
        /* t + (t - t^2) (q0 - q1 + 2 q1 t) */
        out->poly[1] = last * (1 + q[0] - q[1]);
        out->poly[2] = last * (3 * q[1] - q[0]);
        out->poly[3] = -2 * last * q[1];
    }
    if (w->fit_dispersion) {
        out->dispersion[1] = e[0] - e[1];
        out->dispersion[2] = 3 * e[1] - e[0];
        out->dispersion[3] = -2 * e[1];
    }
}

static double depth_step(const struct work *w, const airy_oct_calibration *out)
{
    const airy_oct_calibrate_params *p = w->params;
    const airy_oct_params *s = p->start;
    if (p->mirrors == 2 && p->distance_m > 0)
        return p->distance_m / fabs(out->after[0].position - out->after[1].position);
    if (!s || (s->axis != AIRY_OCT_AXIS_WAVELENGTH && s->axis != AIRY_OCT_AXIS_K) || !s->axis_table)
        return (double)NAN;
    if (!w->fit_axis)
        return airy_oct_depth_step(s);
    const double first = s->axis_table[0], last = s->axis_table[w->samples - 1];
    const double span = s->axis == AIRY_OCT_AXIS_K ? fabs(first - last)
                                                   : fabs(1 / first - 1 / last);
    /* Positions run from the first sample to the last in samples - 1 steps. */
    return (double)(w->samples - 1) / (double)w->samples / (2 * span);
}

static airy_status check_params(const airy_oct_calibrate_params *p)
{
    AIRY_FAIL_IF(!p, AIRY_ERR_PARAM, "params is NULL");
    AIRY_FAIL_ON_IF(p->samples < AIRY_OCT_CALIBRATE_MIN_SAMPLES ||
                        p->samples > AIRY_OCT_MAX_SAMPLES,
                    AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER, "%s = %zu, expected %d to %d",
                    "samples", p->samples, AIRY_OCT_CALIBRATE_MIN_SAMPLES, AIRY_OCT_MAX_SAMPLES);
    AIRY_FAIL_ON_IF(p->mirrors != 1 && p->mirrors != 2, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1 or 2", "mirrors", p->mirrors);
    AIRY_FAIL_ON_IF((unsigned)p->fit >= AIRY_OCT_FIT_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "fit", (int)p->fit, AIRY_OCT_FIT_COUNT - 1);
    AIRY_FAIL_IF(p->fit == AIRY_OCT_FIT_BOTH && p->mirrors == 1, AIRY_ERR_PARAM,
                 "one mirror cannot distinguish the axis from dispersion; expected two, or fit "
                 "one of them");
    AIRY_FAIL_ON_IF(p->degree != 0 && (p->degree < AIRY_OCT_CALIBRATE_MIN_DEGREE ||
                                       p->degree > AIRY_OCT_CALIBRATE_MAX_DEGREE),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 or %d to %d",
                    "degree", p->degree, AIRY_OCT_CALIBRATE_MIN_DEGREE,
                    AIRY_OCT_CALIBRATE_MAX_DEGREE);
    AIRY_FAIL_ON_IF(!(p->distance_m >= 0) || !isfinite(p->distance_m), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 or more", "distance_m",
                    p->distance_m);
    const airy_oct_params *s = p->start;
    AIRY_FAIL_IF(s && s->samples != p->samples, AIRY_ERR_SHAPE,
                 "start has lines of %zu samples, the mirrors of %zu", s->samples, p->samples);
    AIRY_FAIL_IF(s && ((unsigned)s->axis >= AIRY_OCT_AXIS_COUNT ||
                       (unsigned)s->window >= AIRY_OCT_WINDOW_COUNT ||
                       (unsigned)s->interpolation >= AIRY_OCT_INTERPOLATION_COUNT),
                 AIRY_ERR_PARAM,
                 "start has axis %d, window %d, interpolation %d, which there are not",
                 (int)s->axis, (int)s->window, (int)s->interpolation);
    return AIRY_OK;
}

static airy_status run(struct work *w, airy_oct_calibration *out)
{
    struct model model = {.terms = 0};
    AIRY_TRY(describe_before(w, out));
    AIRY_TRY(find_model(w, &model));
    AIRY_FAIL_IF(w->no_memory, AIRY_ERR_MEMORY, "out of memory for a calibration");
    AIRY_TRY(describe_after(w, &model, out));
    bool broad = false;
    for (size_t m = 0; m < w->mirrors; m++)
        broad = broad || out->after[m].width > BROAD * out->after[m].limit;
    if (broad) {
        sharpen(w, &model);
        AIRY_TRY(describe_after(w, &model, out));
    }
    take_model(w, &model, out);
    out->depth_step_m = depth_step(w, out);
    return AIRY_OK;
}

airy_status airy_oct_calibrate(airy_oct_calibration *out, const airy_oct_calibrate_params *params)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "out is NULL");
    AIRY_TRY(check_params(params));
    for (size_t m = 0; m < params->mirrors; m++)
        AIRY_TRY(check_mirror(params, m));
    const size_t n = params->samples;
    struct work w = {0};
    void *block = NULL, *curve = NULL, *profile = NULL;
    airy_oct_calibration c = {.samples = n, .mirrors = params->mirrors};
    airy_status status = AIRY_OK;
    AIRY_TRY_OR(out, airy_memory_calloc(&block, 19 * n, sizeof(double), "a calibration"));
    AIRY_TRY_OR(out, begin(&w, params, block));
    c.profile_count = w.plan.grid / 2;
    c.profile_step = (double)n / (double)w.plan.grid;
    AIRY_TRY_OR(out, airy_memory_calloc(&curve, n, sizeof(double), "positions"));
    AIRY_TRY_OR(out, airy_memory_calloc(&profile, 4 * c.profile_count, sizeof(double), "profiles"));
    c.curve = curve;
    c.profile = profile;
    AIRY_TRY_OR(out, run(&w, &c));
    if (!c.has_axis) {
        free(curve);
        c.curve = NULL;
    }
    *out = c;
    curve = profile = NULL;
out:
    if (status != AIRY_OK) {
        free(curve);
        free(profile);
    }
    airy_oct_tables_free(&w.tables);
    airy_fringe_end(&w.plan);
    free(block);
    return status;
}

void airy_oct_calibration_free(airy_oct_calibration *c)
{
    free(c->curve);
    free(c->profile);
    *c = (airy_oct_calibration){0};
}
