/* A geometry from the rings of a calibrant: search, then measure and fit in turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "integrate/calibrate_parts.h"

#define PI 3.14159265358979323846

enum { ROUNDS = 20, STEADY = 7, SECTORS = 180, MOST_SECTORS = 3600, FEWEST_POINTS = 12 };
/* Half of the narrowest window, pixels: a peak has five unknowns. */
#define NEAREST 3.0

static const char *const names[AIRY_CALIBRATE_COUNT] = {"dist", "poni1", "poni2",
                                                        "rot1", "rot2",  "wavelength"};

const char *airy_calibrate_value_name(airy_calibrate_value value)
{
    return (unsigned)value < AIRY_CALIBRATE_COUNT ? names[value] : "?";
}

struct work {
    const airy_calibrate_params *params;
    struct airy_ring_image image;
    float *values;
    double *spacing;
    size_t rings, sectors;
    unsigned refine;
    double max_residual;
    airy_pool *pool;
    /* of one candidate */
    airy_geometry geometry;
    struct airy_ring_points points;
    struct airy_ring_solution solution;
    double half; /* pixels, of the last windows */
    int rounds;
};

static airy_status check_params(const airy_calibrate_params *p)
{
    AIRY_FAIL_IF(!p->image, AIRY_ERR_PARAM, "airy_calibrate: image is NULL");
    AIRY_FAIL_IF(!p->calibrant || !p->calibrant->rings || p->calibrant->count == 0, AIRY_ERR_PARAM,
                 "airy_calibrate: there is no calibrant");
    AIRY_TRY(airy_geometry_check(&p->guess));
    const airy_geometry *g = &p->guess;
    AIRY_FAIL_ON_IF(g->detector.height == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no shape", "detector", g->detector.name);
    AIRY_FAIL_HINT_IF(!(g->wavelength > 0), AIRY_ERR_PARAM, AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_NONE,
                      "a calibration needs a wavelength, the geometry has none");
    AIRY_FAIL_IF(g->parallax, AIRY_ERR_UNSUPPORTED,
                 "parallax: a calibration takes the detector for thin");
    AIRY_FAIL_ON_IF(g->detector.corners || airy_detector_needs_arrays(&g->detector),
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' is no plane of equal rectangles: a calibration takes it for one",
                    "detector", g->detector.name);
    AIRY_FAIL_ON_IF(p->refine >> AIRY_CALIBRATE_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %#x, expected bits below %#x", "refine", p->refine,
                    1u << AIRY_CALIBRATE_COUNT);
    AIRY_FAIL_ON_IF(!(p->search_px >= 0 && p->search_px <= 1e4), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 to 10000", "search_px",
                    p->search_px);
    AIRY_FAIL_ON_IF(!(p->search_dist >= 0 && p->search_dist <= 0.5), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 to 0.5", "search_dist",
                    p->search_dist);
    AIRY_FAIL_ON_IF(p->sectors != 0 && (p->sectors < 8 || p->sectors > MOST_SECTORS),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 8 to %d", "sectors",
                    p->sectors, MOST_SECTORS);
    AIRY_FAIL_ON_IF(!(p->max_residual_px >= 0 && p->max_residual_px <= 1e3), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 to 1000", "max_residual_px",
                    p->max_residual_px);
    for (size_t k = 0; k < p->calibrant->count; k++) {
        const double d = p->calibrant->rings[k].spacing;
        AIRY_FAIL_IF(!(d > 0) || !isfinite(d) ||
                         (k > 0 && !(d < p->calibrant->rings[k - 1].spacing)),
                     AIRY_ERR_PARAM, "calibrant %.63s: spacing %zu = %g m, expected falling ones",
                     p->calibrant->name, k, d);
    }
    return AIRY_OK;
}

/* The spacings whose rings the search can bring onto the detector. */
static airy_status take_spacings(struct work *w)
{
    const airy_calibrate_params *p = w->params;
    const double part = p->no_search ? 0.02 : p->search_dist > 0 ? p->search_dist : 0.1;
    const airy_detector *d = &p->guess.detector;
    struct airy_pose pose;
    airy_pose_make(&pose, &p->guess);
    double far = 0;
    for (int corner = 0; corner < 4; corner++) {
        double tth;
        airy_pose_radial(&pose, AIRY_UNIT_TTH_RAD, corner & 1 ? (double)d->height : 0,
                         corner & 2 ? (double)d->width : 0, 1, &tth);
        far = fmax(far, tth);
    }
    w->spacing = malloc(p->calibrant->count * sizeof(*w->spacing));
    AIRY_FAIL_IF(!w->spacing, AIRY_ERR_MEMORY, "out of memory for %zu rings", p->calibrant->count);
    for (size_t k = 0; k < p->calibrant->count; k++) {
        const double d_k = p->calibrant->rings[k].spacing,
                     tth = airy_ring_tth(d_k, p->guess.wavelength);
        if (!(tth <= far * (1 + 1.5 * part)) || (p->rings && k >= p->rings))
            break;
        w->spacing[w->rings++] = d_k;
    }
    AIRY_FAIL_IF(w->rings == 0, AIRY_ERR_PARAM,
                 "no ring of %.63s falls on the detector: the first has 2theta = %.4g degrees, the "
                 "corners of the detector reach %.4g",
                 p->calibrant->name,
                 180 / PI * airy_ring_tth(p->calibrant->rings[0].spacing, p->guess.wavelength),
                 180 / PI * far);
    w->points.windows = calloc(w->rings, sizeof(*w->points.windows));
    AIRY_FAIL_IF(!w->points.windows, AIRY_ERR_MEMORY, "out of memory for %zu rings", w->rings);
    return AIRY_OK;
}

static airy_status take_image(struct work *w)
{
    const airy_calibrate_params *p = w->params;
    const size_t height = p->guess.detector.height, width = p->guess.detector.width;
    w->values = malloc(height * width * sizeof(*w->values));
    AIRY_FAIL_IF(!w->values, AIRY_ERR_MEMORY, "out of memory for %zu x %zu pixels", height, width);
    size_t good = 0;
    for (size_t i = 0; i < height * width; i++) {
        const bool bad = (p->mask && p->mask[i]) || !isfinite(p->image[i]);
        w->values[i] = bad ? NAN : p->image[i];
        good += !bad;
    }
    AIRY_FAIL_IF(good == 0, AIRY_ERR_PARAM, "all %zu pixels of the image are masked or not finite",
                 height * width);
    w->image = (struct airy_ring_image){w->values, height, width};
    return AIRY_OK;
}

/* Median width of the used points, or of those of one ring (< rings), pixels. */
static airy_status median_width(double *width, const struct airy_ring_points *points, size_t ring)
{
    double *widths = malloc((points->count + 1) * sizeof(*widths));
    AIRY_FAIL_IF(!widths, AIRY_ERR_MEMORY, "out of memory for control points");
    size_t n = 0;
    for (size_t i = 0; i < points->count; i++)
        if (points->items[i].used && (ring == SIZE_MAX || points->items[i].ring == ring))
            widths[n++] = points->items[i].width;
    qsort(widths, n, sizeof(*widths), airy_by_value);
    *width = n ? widths[n / 2] : (double)NAN;
    free(widths);
    return AIRY_OK;
}

static airy_status measure(struct work *w, double half, double least)
{
    const struct airy_ring_look look = {half, least, w->sectors};
    w->half = half;
    return airy_ring_measure(&w->points, &w->image, &w->geometry, w->spacing, w->rings, &look,
                             w->pool);
}

/* The widest windows that give points enough: broad rings need wide ones, close rings narrow ones. */
static airy_status measure_first(struct work *w)
{
    static const double halves[] = {12, 24, 48, 9, 6, 4.5, NEAREST};
    double best = NEAREST;
    size_t most = 0;
    for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++) {
        AIRY_TRY(measure(w, halves[i], halves[i]));
        if (w->points.count >= 5 * FEWEST_POINTS)
            return AIRY_OK;
        if (w->points.count > most) {
            most = w->points.count;
            best = halves[i];
        }
    }
    return measure(w, best, best);
}

/* How far the fit moved the points, pixels. */
static double moved(const struct work *w, const airy_geometry *before)
{
    struct airy_pose from, to;
    airy_pose_make(&from, before);
    airy_pose_make(&to, &w->geometry);
    double most = 0;
    for (size_t i = 0; i < w->points.count; i++) {
        const struct airy_ring_point *point = &w->points.items[i];
        const double shift = airy_ring_tth(w->spacing[point->ring], before->wavelength) -
                             airy_ring_tth(w->spacing[point->ring], w->geometry.wavelength);
        double a, b, unused[2];
        airy_ring_gradient(&from, point->c, &a, unused);
        airy_ring_gradient(&to, point->c, &b, unused);
        most = fmax(most, fabs(b - a + shift) * point->scale);
    }
    return most;
}

static airy_status too_few(const struct work *w)
{
    size_t apart = 0, seen = 0;
    double gap = 0;
    for (size_t k = 0; k < w->rings; k++) {
        seen += w->points.windows[k].scale > 0;
        apart += w->points.windows[k].half > 0;
        if (w->points.windows[k].scale > 0)
            gap = fmax(gap, w->points.windows[k].gap);
    }
    AIRY_FAIL_IF(seen == 0, AIRY_ERR_PARAM, "no ring of %.63s falls on the detector",
                 w->params->calibrant->name);
    AIRY_FAIL_IF(
        apart == 0 && w->rounds == 0, AIRY_ERR_PARAM,
        "the rings of %.63s cannot be distinguished: the largest distance between two is %.3g "
        "pixels, expected %.2g or more",
        w->params->calibrant->name, gap, NEAREST / 0.45);
    return airy_hinted(
        AIRY_HINT_STATED,
        airy_fail(AIRY_ERR_NOT_FOUND,
                  "rings of %.63s were not found: %zu places have a peak, expected %d or more; "
                  "look at wavelength, distance and beam centre of the guess",
                  w->params->calibrant->name, w->points.count, FEWEST_POINTS));
}

static airy_status indistinct(const struct work *w)
{
    char list[96] = "";
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++)
        if (w->refine & 1u << k)
            strcat(strcat(list, list[0] ? ", " : ""), names[k]);
    return airy_hinted(
        AIRY_HINT_STATED,
        airy_fail(AIRY_ERR_NOT_FOUND,
                  "%zu points do not distinguish %s; hold some of them, the tilts first",
                  w->points.count, list));
}

/* Measure and fit until the rings move no more. */
static airy_status settle(struct work *w)
{
    double shift = (double)INFINITY, least = NEAREST;
    w->rounds = 0;
    AIRY_TRY(measure_first(w));
    if (w->points.count < FEWEST_POINTS)
        return too_few(w);
    for (w->rounds = 1; w->rounds <= ROUNDS; w->rounds++) {
        if (w->points.count < FEWEST_POINTS)
            return too_few(w);
        const airy_geometry before = w->geometry;
        AIRY_TRY(airy_ring_fit(&w->solution, &w->geometry, w->points.items, w->points.count,
                               w->spacing, w->refine));
        if (w->solution.singular || airy_geometry_check(&w->geometry) != AIRY_OK)
            return indistinct(w);
        shift = moved(w, &before);
        double width;
        AIRY_TRY(median_width(&width, &w->points, SIZE_MAX));
        /* A Gaussian's background shows beyond two widths at half maximum. */
        const double want = fmin(fmax(2.2 * width + 3 * w->solution.spread, 3), 60);
        double next = fmin(fmax(want, 0.6 * w->half), 1.6 * w->half);
        /* Within 0.9 of a width a peak and some of its background are seen. */
        const double need = fmin(fmax(0.9 * width + 2 * w->solution.spread, NEAREST), next);
        /* In the end windows stay, and rings only come, or the fit would follow them to and fro. */
        if (w->rounds > STEADY)
            next = w->half;
        least = w->rounds > STEADY ? fmin(least, need) : need;
        if (w->rounds >= 3 && shift < 2e-3 && fabs(next - w->half) < 0.05 * w->half)
            return AIRY_OK;
        if (w->rounds < ROUNDS)
            AIRY_TRY(measure(w, next, least));
        if (w->points.count < FEWEST_POINTS) /* rings that stand close, far off yet */
            AIRY_TRY(measure(w, next, NEAREST));
    }
    w->rounds = ROUNDS;
    AIRY_FAIL_HINT_IF(!(shift < 0.05), AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "the refinement does not settle: the rings still move by %.3g pixels after "
                      "%d rounds; hold the tilts or begin nearer, or is it another calibrant or "
                      "wavelength?",
                      shift, ROUNDS);
    return AIRY_OK;
}

/* Most of a ring's points are used, or it is not the ring that it was taken for. */
static airy_status check_rings(const struct work *w)
{
    size_t rings = 0, wrong = 0;
    for (size_t k = 0; k < w->rings; k++) {
        size_t points = 0, used = 0;
        for (size_t i = 0; i < w->points.count; i++) {
            points += w->points.items[i].ring == k;
            used += w->points.items[i].ring == k && w->points.items[i].used;
        }
        rings += points >= FEWEST_POINTS;
        wrong += points >= FEWEST_POINTS && 2 * used < points;
    }
    AIRY_FAIL_HINT_IF(
        4 * wrong > rings, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
        "%zu of %zu rings of %.63s do not fit the others; look at calibrant and guess", wrong,
        rings, w->params->calibrant->name);
    return AIRY_OK;
}

/*
 * Peaks in wide windows lie where the rings are, if they are these rings: others lie anywhere in
 * them. Leaves the points of the last fit as they are.
 */
static airy_status confirm(struct work *w)
{
    struct airy_ring_points wide = {.windows = calloc(w->rings, sizeof(*wide.windows))};
    AIRY_FAIL_IF(!wide.windows, AIRY_ERR_MEMORY, "out of memory for %zu rings", w->rings);
    const double half = fmax(3 * w->half, 12), near = fmax(4 * w->solution.spread, 0.15 * half);
    const struct airy_ring_look look = {half, half, w->sectors};
    const airy_status status =
        airy_ring_measure(&wide, &w->image, &w->geometry, w->spacing, w->rings, &look, w->pool);
    size_t good = 0;
    struct airy_pose pose;
    airy_pose_make(&pose, &w->geometry);
    for (size_t i = 0; status == AIRY_OK && i < wide.count; i++) {
        const struct airy_ring_point *point = &wide.items[i];
        double tth, unused[2];
        airy_ring_gradient(&pose, point->c, &tth, unused);
        good += fabs(tth - airy_ring_tth(w->spacing[point->ring], w->geometry.wavelength)) *
                    point->scale <=
                near;
    }
    const size_t count = wide.count;
    free(wide.items);
    free(wide.windows);
    AIRY_TRY(status);
    AIRY_FAIL_HINT_IF(
        count >= FEWEST_POINTS && good * 2 < count, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED,
        AIRY_SUBJECT_NONE,
        "the rings of the image are not those of %.63s: %zu of %zu peaks lie on them; look "
        "at calibrant, wavelength and distance",
        w->params->calibrant->name, good, count);
    AIRY_FAIL_HINT_IF(
        w->solution.used * 2 < w->points.count, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED,
        AIRY_SUBJECT_NONE,
        "%zu of %zu points lie on rings of %.63s, expected half of them or more; look at "
        "calibrant and guess",
        w->solution.used, w->points.count, w->params->calibrant->name);
    AIRY_TRY(check_rings(w));
    AIRY_FAIL_HINT_IF(
        !(w->solution.rms <= w->max_residual), AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED,
        AIRY_SUBJECT_NONE,
        "the points lie %.3g pixels (rms) off their rings, expected %g or less; look at "
        "calibrant, detector and pixel size",
        w->solution.rms, w->max_residual);
    return AIRY_OK;
}

/* The best candidate that holds; else what the first one lacks. */
static airy_status try_all(struct work *w, const airy_geometry *starts, size_t count,
                           airy_geometry *searched)
{
    airy_error first = {.status = AIRY_OK};
    for (size_t i = 0; i < count; i++) {
        w->geometry = *searched = starts[i];
        airy_status status = settle(w);
        if (status == AIRY_OK)
            status = confirm(w);
        if (status == AIRY_OK || status == AIRY_ERR_MEMORY)
            return status;
        (void)airy_error_first(&first, status);
    }
    return airy_error_restore(&first);
}

static void describe_beam(airy_calibration *out, const struct airy_ring_solution *solution)
{
    struct airy_pose pose;
    airy_pose_make(&pose, &out->geometry);
    out->beam[0] = pose.beam1;
    out->beam[1] = pose.beam2;
    double slope[2][AIRY_CALIBRATE_COUNT] = {{0}};
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++) {
        if (!(out->error[k] > 0))
            continue;
        /* Central differences over a hundredth of the standard error: rounding is far below. */
        double end[2][2];
        for (int side = 0; side < 2; side++) {
            airy_geometry g = out->geometry;
            *airy_calibrate_field(&g, (airy_calibrate_value)k) += (side ? 0.01 : -0.01) *
                                                                  out->error[k];
            airy_pose_make(&pose, &g);
            end[side][0] = pose.beam1;
            end[side][1] = pose.beam2;
        }
        for (int i = 0; i < 2; i++)
            slope[i][k] = (end[1][i] - end[0][i]) / (0.02 * out->error[k]);
    }
    for (int i = 0; i < 2; i++) {
        double variance = 0;
        for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++)
            for (int l = 0; l < AIRY_CALIBRATE_COUNT; l++)
                variance += slope[i][k] * solution->covariance[k][l] * slope[i][l];
        out->beam_error[i] = sqrt(fmax(variance, 0));
    }
}

/* Whether the used points leave two thirds of the turn about the beam empty. */
static bool is_arc(const struct airy_ring_points *points)
{
    bool filled[36] = {false};
    for (size_t i = 0; i < points->count; i++)
        if (points->items[i].used)
            filled[(int)((points->items[i].chi / (2 * PI) + 0.5) * 36 + 36) % 36] = true;
    int n = 0;
    for (int i = 0; i < 36; i++)
        n += filled[i];
    return n < 12;
}

static void describe_doubts(airy_calibration *out, const struct airy_ring_points *points)
{
    size_t rings = 0;
    double means = 0;
    for (size_t k = 0; k < out->ring_count; k++) {
        rings += out->rings[k].used > 0;
        means += out->rings[k].used ? out->rings[k].mean * out->rings[k].mean : 0;
    }
    means = sqrt(means / (double)rings);
    if (means > 0.1 && means > 0.6 * out->rms_px)
        out->doubts |= AIRY_CALIBRATE_UNEVEN;
    const bool tilts = out->refined[AIRY_CALIBRATE_ROT1] || out->refined[AIRY_CALIBRATE_ROT2];
    if (rings == 1 && tilts)
        out->doubts |= AIRY_CALIBRATE_ONE_RING;
    if (fmax(out->error[AIRY_CALIBRATE_ROT1], out->error[AIRY_CALIBRATE_ROT2]) > 0.5 * PI / 180)
        out->doubts |= AIRY_CALIBRATE_TILT;
    if (out->refined[AIRY_CALIBRATE_DIST] &&
        out->error[AIRY_CALIBRATE_WAVELENGTH] > 1e-3 * out->geometry.wavelength)
        out->doubts |= AIRY_CALIBRATE_SCALE;
    if (is_arc(points))
        out->doubts |= AIRY_CALIBRATE_ARC;
    if (out->error[AIRY_CALIBRATE_DIST] > 0.01 * out->geometry.dist)
        out->doubts |= AIRY_CALIBRATE_DISTANCE;
}

static airy_status describe_rings(airy_calibration *out, struct work *w)
{
    for (size_t k = 0; k < w->rings; k++) {
        const struct airy_ring_window *window = &w->points.windows[k];
        if (!(window->half > 0) || window->filled == 0)
            continue;
        airy_calibrate_ring *ring = &out->rings[out->ring_count++];
        *ring = (airy_calibrate_ring){.index = k,
                                      .tth = airy_ring_tth(w->spacing[k], w->geometry.wavelength),
                                      .sectors = window->filled};
        for (size_t i = 0; i < w->points.count; i++) {
            const struct airy_ring_point *point = &w->points.items[i];
            ring->points += point->ring == k;
            if (point->ring != k || !point->used)
                continue;
            ring->used++;
            ring->mean += point->residual;
            ring->rms += point->residual * point->residual;
        }
        ring->mean /= (double)ring->used;
        ring->rms = sqrt(ring->rms / (double)ring->used);
        AIRY_TRY(median_width(&ring->width, &w->points, k));
    }
    return AIRY_OK;
}

static airy_status describe(airy_calibration *out, struct work *w)
{
    out->geometry = w->geometry;
    out->rms_px = w->solution.rms;
    out->used = w->solution.used;
    out->iterations = w->rounds;
    out->points = calloc(w->points.count + 1, sizeof(*out->points));
    out->rings = calloc(w->rings, sizeof(*out->rings));
    AIRY_FAIL_IF(!out->points || !out->rings, AIRY_ERR_MEMORY, "out of memory for %zu points",
                 w->points.count);
    for (size_t i = 0; i < w->points.count; i++) {
        const struct airy_ring_point *point = &w->points.items[i];
        out->points[out->point_count++] = (airy_calibrate_point){.y = point->c[0],
                                                                 .x = point->c[1],
                                                                 .residual = point->residual,
                                                                 .sigma = point->sigma,
                                                                 .ring = point->ring,
                                                                 .used = point->used};
        if (point->used)
            out->rms_rad += point->residual * point->residual / (point->scale * point->scale);
    }
    out->rms_rad = sqrt(out->rms_rad / (double)out->used);
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++) {
        out->refined[k] = (w->refine & 1u << k) != 0;
        out->error[k] = sqrt(fmax(w->solution.covariance[k][k], 0));
    }
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++)
        for (int l = 0; l < AIRY_CALIBRATE_COUNT; l++)
            if (out->error[k] > 0 && out->error[l] > 0)
                out->correlation[k][l] = w->solution.covariance[k][l] /
                                         (out->error[k] * out->error[l]);
    AIRY_TRY(describe_rings(out, w));
    describe_beam(out, &w->solution);
    describe_doubts(out, &w->points);
    double width;
    AIRY_TRY(median_width(&width, &w->points, SIZE_MAX));
    AIRY_TRY(airy_ring_others(&out->others, &w->image, &w->geometry, w->spacing, w->rings, width));
    size_t own = 0;
    for (size_t k = 0; k < out->ring_count; k++)
        own += out->rings[k].used > 0;
    if (out->others > 2 && 2 * out->others > own)
        out->doubts |= AIRY_CALIBRATE_OTHERS;
    return AIRY_OK;
}

static airy_status run(airy_calibration *out, struct work *w)
{
    const airy_calibrate_params *p = w->params;
    airy_geometry starts[AIRY_SEARCH_MOST] = {p->guess};
    size_t count = 1;
    AIRY_TRY(take_spacings(w));
    AIRY_TRY(take_image(w));
    AIRY_TRY(airy_pool_create(&w->pool, p->threads));
    if (!p->no_search)
        AIRY_TRY(airy_ring_search(starts, &count, &w->image, w->spacing, w->rings, p, w->refine,
                                  w->pool));
    if (count == 0) { /* nothing stands apart; the measurement says so */
        starts[0] = p->guess;
        count = 1;
    }
    AIRY_TRY(try_all(w, starts, count, &out->searched));
    return describe(out, w);
}

airy_status airy_calibrate(airy_calibration *out, const airy_calibrate_params *params)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_calibrate: out is NULL");
    AIRY_FAIL_IF(!params, AIRY_ERR_PARAM, "airy_calibrate: params is NULL");
    AIRY_TRY(check_params(params));
    struct work w = {.params = params,
                     .sectors = params->sectors ? params->sectors : SECTORS,
                     .refine = params->refine ? params->refine
                                              : ((1u << AIRY_CALIBRATE_COUNT) - 1) &
                                                    ~(1u << AIRY_CALIBRATE_WAVELENGTH),
                     .max_residual = params->max_residual_px > 0 ? params->max_residual_px : 1};
    airy_calibration found = {0};
    const airy_status status = run(&found, &w);
    airy_pool_destroy(&w.pool);
    free(w.values);
    free(w.spacing);
    free(w.points.items);
    free(w.points.windows);
    if (status == AIRY_OK)
        *out = found;
    else
        airy_calibration_free(&found);
    return status;
}

void airy_calibration_free(airy_calibration *calibration)
{
    if (!calibration)
        return;
    free(calibration->points);
    free(calibration->rings);
    *calibration = (airy_calibration){0};
}

airy_status airy_geometry_ring(const airy_geometry *geometry, double tth, double *yx, size_t count)
{
    AIRY_FAIL_IF(!yx, AIRY_ERR_PARAM, "airy_geometry_ring: yx is NULL");
    AIRY_TRY(airy_geometry_check(geometry));
    AIRY_FAIL_IF(!(tth >= 0 && tth <= PI), AIRY_ERR_PARAM, "2theta = %g rad, expected 0 to pi",
                 tth);
    struct airy_pose pose;
    airy_pose_make(&pose, geometry);
    const double t[2] = {sin(tth), cos(tth)};
    for (size_t i = 0; i < count; i++) {
        const double chi = 2 * PI * (double)i / (double)count - PI, x[2] = {sin(chi), cos(chi)};
        if (!airy_ring_place(&pose, t, x, yx + 2 * i))
            yx[2 * i] = yx[2 * i + 1] = (double)NAN;
    }
    return AIRY_OK;
}
