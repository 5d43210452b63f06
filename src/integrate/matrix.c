#include "integrate/matrix.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/memory_shared.h"
#include "base/size.h"
#include "integrate/split_cut.h"

/* Rows are worked on in bands of this many, whatever the number of threads. */
enum { BAND_ROWS = 16, MAX_CELLS = 1 << 22 };

struct band {
    struct airy_split_limits limits;
    struct airy_entries entries;
    size_t first_entry;
};

/* What the loops over bands share. */
struct build {
    const struct airy_split_rule *rule;
    size_t height, bands;
    struct band *band;
    struct airy_split_scratch *scratch; /* one a worker */
    unsigned workers;
    const uint8_t *masked, *valid;
    struct airy_matrix *matrix;
    size_t most;           /* entries that memory and 32 bits admit */
    atomic_size_t entries; /* of the bands done */
};

const struct airy_split_limits airy_split_no_limits = {INFINITY, -INFINITY, INFINITY, -INFINITY};

static void find_limits(void *arg, size_t index, unsigned worker)
{
    struct build *build = arg;
    struct band *band = &build->band[index];
    const size_t first = index * BAND_ROWS, last = airy_min_size(first + BAND_ROWS, build->height);
    band->limits = airy_split_no_limits;
    airy_split_widen(&band->limits, build->rule, &build->scratch[worker], first, last,
                     build->masked);
}

static void find_entries(void *arg, size_t index, unsigned worker)
{
    struct build *build = arg;
    struct airy_entries *entries = &build->band[index].entries;
    const size_t first = index * BAND_ROWS, last = airy_min_size(first + BAND_ROWS, build->height);
    if (atomic_load(&build->entries) > build->most)
        return;
    entries->most = build->most;
    airy_split_rows(entries, build->matrix->start, build->rule, &build->scratch[worker], first,
                    last, build->valid);
    atomic_fetch_add(&build->entries, entries->failed ? build->most + 1 : entries->count);
}

/* Counts become starts, and the band's entries move to their place. */
static void place_entries(void *arg, size_t index, unsigned worker)
{
    struct build *build = arg;
    struct band *band = &build->band[index];
    struct airy_matrix *m = build->matrix;
    (void)worker;
    const size_t first = index * BAND_ROWS, last = airy_min_size(first + BAND_ROWS, build->height);
    uint32_t at = (uint32_t)band->first_entry;
    for (size_t i = first * build->rule->width; i < last * build->rule->width; i++) {
        const uint32_t count = m->start[i];
        m->start[i] = at;
        at += count;
    }
    if (band->entries.count > 0) {
        memcpy(m->bin + band->first_entry, band->entries.bin, band->entries.count * sizeof *m->bin);
        memcpy(m->coef + band->first_entry, band->entries.coef,
               band->entries.count * sizeof *m->coef);
    }
    free(band->entries.bin);
    free(band->entries.coef);
    band->entries = (struct airy_entries){0};
}

/* pyFAI's upper limit, a little above the largest value so that it falls into the last bin. */
static double enlarge(double upper)
{
    return upper > 0 ? upper * (1 + 0x1p-23) : upper / (1 + 0x1p-23);
}

/*
 * Limits of chi without a range given: what there is, and the whole turn where a pixel lies on the
 * discontinuity, so that neither side of it is lost.
 */
static void clip_angular(double *lower, double *upper, const struct airy_split_rule *rule)
{
    const double least = rule->chi_zero ? 0 : -0.5 * rule->period;
    if (*lower < least || *upper > least + rule->period) {
        *lower = least;
        *upper = least + rule->period;
    }
}

static airy_status set_axis(struct airy_split_axis *axis, double lower, double upper, bool compat,
                            bool closed, const char *what)
{
    axis->reach = upper;
    if (compat)
        upper = enlarge(upper);
    else if (lower == upper) /* one value in all pixels: a bin of any width holds it */
        upper = lower + fmax(fabs(lower), 1) * 0x1p-20;
    axis->lower = lower;
    axis->upper = upper;
    axis->delta = (upper - lower) / (double)axis->bins;
    axis->closed = closed;
    AIRY_FAIL_IF(!(axis->delta > 0) || lower + axis->delta == lower, AIRY_ERR_PARAM,
                 "%s range %.9g to %.9g is too narrow for %zu bins", what, lower, upper,
                 axis->bins);
    return AIRY_OK;
}

static airy_status set_radial(struct airy_split_rule *rule, const airy_integrator_params *params,
                              const struct airy_split_limits *found)
{
    double lower = params->radial_range[0] / rule->scale,
           upper = params->radial_range[1] / rule->scale;
    if (!params->has_radial_range) {
        lower = found->lower;
        upper = found->upper;
        if (rule->angular)
            clip_angular(&lower, &upper, rule);
    }
    if (rule->positive && (rule->compat || !params->has_radial_range)) {
        lower = fmax(lower, 0);
        upper = fmax(upper, 0);
    }
    return set_axis(&rule->radial, lower, upper, rule->compat, !params->has_radial_range, "radial");
}

/*
 * Degrees of the range become rad; its lower end is moved by turns to between -180 and 180 degrees,
 * where pixels are, and *moved says by how much.
 */
static airy_status set_chi(struct airy_split_rule *rule, const airy_integrator_params *params,
                           const struct airy_split_limits *found, double *moved)
{
    *moved = 0;
    if (rule->turn == 0) {
        const bool given = params->has_azimuth_range;
        return set_axis(&rule->chi, given ? params->azimuth_range[0] : found->chi_lower,
                        given ? params->azimuth_range[1] : found->chi_upper, false, !given,
                        "azimuth");
    }
    if (!params->has_azimuth_range) {
        /*
         * pyFAI's pi is a float, and it is the upper end always where neither corners nor its
         * histogram of boxes are asked for.
         */
        const bool corners = has_corners(rule->split) || (params->split == AIRY_SPLIT_BBOX &&
                                                          params->method == AIRY_METHOD_HISTOGRAM);
        const double half = rule->compat ? (double)(float)PI : PI,
                     least = rule->chi_zero && (corners || !rule->compat) ? 0 : -half;
        return set_axis(&rule->chi, fmax(found->chi_lower, least),
                        fmin(found->chi_upper, least + 2 * half), rule->compat, true, "azimuth");
    }
    double lower = params->azimuth_range[0], upper = params->azimuth_range[1];
    while (upper <= lower)
        upper += 360;
    if (!rule->compat)
        *moved = 360 * floor((lower + 180) / 360);
    return set_axis(&rule->chi, (lower - *moved) * (PI / 180), (upper - *moved) * (PI / 180),
                    rule->compat, false, "azimuth");
}

bool airy_matrix_needs_reach(const airy_integrator_params *params)
{
    return !params->has_radial_range || (params->azimuth_bins > 0 && !params->has_azimuth_range);
}

airy_status airy_matrix_range(struct airy_split_rule *rule, struct airy_matrix_limits *limits,
                              const airy_integrator_params *params,
                              const struct airy_split_limits *found)
{
    double moved = 0;
    AIRY_FAIL_IF(
        airy_matrix_needs_reach(params) &&
            (!(found->lower <= found->upper) || !isfinite(found->lower) || !isfinite(found->upper)),
        AIRY_ERR_PARAM,
        "no valid pixel left: the mask leaves no pixel to take the range of %s from",
        airy_unit_name(params->unit));
    AIRY_TRY(set_radial(rule, params, found));
    if (rule->chi.bins > 0)
        AIRY_TRY(set_chi(rule, params, found, &moved));
    const bool degrees = airy_unit_turn(airy_azimuth_unit(params->azimuth_unit)) == 360;
    const double scale = degrees ? 180 / PI : 1;
    moved *= degrees ? 1 : PI / 180;
    *limits = (struct airy_matrix_limits){
        rule->radial.lower * rule->scale, rule->radial.upper * rule->scale,
        rule->chi.lower * scale + moved, rule->chi.upper * scale + moved};
    return AIRY_OK;
}

static airy_unit in_radians(airy_unit unit)
{
    return unit == AIRY_UNIT_CHI_DEG     ? AIRY_UNIT_CHI_RAD
           : unit == AIRY_UNIT_CHIGI_DEG ? AIRY_UNIT_CHIGI_RAD
                                         : unit;
}

/*
 * The unit that pyFAI splits pixels in, and the factor from there to the unit of the axis: which
 * boxes a pseudo split takes must not depend on the factor.
 */
static airy_unit base_unit(airy_unit unit, double *factor)
{
    switch (unit) {
    case AIRY_UNIT_Q_A:
        *factor = 0.1;
        return AIRY_UNIT_Q_NM;
    case AIRY_UNIT_TTH_DEG:
        *factor = 180 / PI;
        return AIRY_UNIT_TTH_RAD;
    case AIRY_UNIT_R_MM:
        *factor = 1000;
        return AIRY_UNIT_R_M;
    case AIRY_UNIT_D_NM:
        *factor = 1e9;
        return AIRY_UNIT_D_M;
    case AIRY_UNIT_D_A:
        *factor = 1e10;
        return AIRY_UNIT_D_M;
    case AIRY_UNIT_D2_A:
        *factor = 0.01;
        return AIRY_UNIT_D2_NM;
    case AIRY_UNIT_EXIT_VERT_DEG:
    case AIRY_UNIT_EXIT_HORZ_DEG:
        *factor = 180 / PI;
        return unit == AIRY_UNIT_EXIT_VERT_DEG ? AIRY_UNIT_EXIT_VERT_RAD : AIRY_UNIT_EXIT_HORZ_RAD;
    case AIRY_UNIT_QXGI_A:
    case AIRY_UNIT_QYGI_A:
    case AIRY_UNIT_QZGI_A:
    case AIRY_UNIT_QIP_A:
    case AIRY_UNIT_QOOP_A:
    case AIRY_UNIT_QTOT_A:
        *factor = 0.1;
        return (airy_unit)(unit - AIRY_UNIT_QXGI_A + AIRY_UNIT_QXGI_NM);
    default:
        *factor = 1;
        return unit;
    }
}

/*
 * pyFAI 2026.9 has a fast formula for corners in q, 2theta and r, from positions in double
 * precision; for other units, and with a parallax, it takes positions that are kept as floats.
 */
static bool has_single_corners(const airy_geometry *geometry, airy_unit base)
{
    return geometry->parallax ||
           (base != AIRY_UNIT_Q_NM && base != AIRY_UNIT_TTH_RAD && base != AIRY_UNIT_R_M);
}

static void make_rule(struct airy_split_rule *rule, const airy_geometry *geometry,
                      const airy_integrator_params *params)
{
    const double period = airy_unit_turn(params->unit);
    const bool compat = params->compat == AIRY_COMPAT_PYFAI && period == 0;
    const airy_unit second = in_radians(airy_azimuth_unit(params->azimuth_unit));
    const bool angles = airy_unit_turn(second) != 0;
    const bool histogram = compat && params->method == AIRY_METHOD_HISTOGRAM,
               two = params->azimuth_bins > 0;
    double scale = 1;
    const airy_unit unit = compat ? base_unit(params->unit, &scale) : params->unit;
    *rule = (struct airy_split_rule){
        .unit = unit,
        .scale = scale,
        .all_pixels = histogram && params->split == (two ? AIRY_SPLIT_FULL : AIRY_SPLIT_NO),
        .split = params->split,
        .compat = compat,
        .truncate = params->split == AIRY_SPLIT_NO || !histogram ||
                    (two && params->split == AIRY_SPLIT_BBOX),
        .positive = airy_unit_is_positive(params->unit),
        .polar = airy_unit_is_positive(params->unit) && !airy_unit_is_singular(params->unit) &&
                 angles,
        .singular = airy_unit_is_singular(params->unit),
        .angular = period != 0,
        .period = period,
        .folded = !compat && (airy_unit_is_folded(params->unit) || airy_unit_is_folded(second)),
        .relative = params->split == AIRY_SPLIT_FULL && params->azimuth_bins == 0 && !compat &&
                    !geometry->detector.corners && airy_unit_is_positive(params->unit) &&
                    !airy_unit_is_singular(params->unit),
        .chi_zero = params->chi_zero,
        .joins_at_zero = histogram && two,
        .azimuth_unit = second,
        .turn = angles ? 2 * PI : 0,
        .width = geometry->detector.width,
        .radial.bins = params->bins,
        .chi.bins = params->azimuth_bins,
        /* A whole turn takes every pixel; pyFAI tests them all the same. */
        .has_azimuth =
            params->has_azimuth_range && params->azimuth_bins == 0 &&
            (compat || fmod(params->azimuth_range[1] - params->azimuth_range[0], 360) != 0),
    };
    airy_pose_make(&rule->pose, geometry);
    rule->corner_pose = rule->pose;
    rule->corner_pose.single = rule->compat && has_single_corners(geometry, unit);
    if (rule->has_azimuth) {
        rule->azimuth_lo = params->azimuth_range[0] * (PI / 180);
        rule->azimuth_hi = params->azimuth_range[1] * (PI / 180);
        while (rule->azimuth_hi <= rule->azimuth_lo)
            rule->azimuth_hi += 2 * PI;
        if (rule->compat)
            rule->azimuth_hi = enlarge(rule->azimuth_hi);
    }
}

/* The second axis, and what goes together with it. */
static airy_status check_azimuth(const airy_geometry *geometry,
                                 const airy_integrator_params *params)
{
    const airy_unit second = airy_azimuth_unit(params->azimuth_unit);
    const char *name = airy_unit_name(second);
    AIRY_FAIL_ON_IF((unsigned)second >= AIRY_UNIT_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "azimuth_unit", (int)second, AIRY_UNIT_COUNT - 1);
    AIRY_FAIL_ON_IF(!airy_unit_is_azimuthal(second), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' is a radial unit: expected chi_deg, chi_rad, qoop_nm^-1 or "
                    "another of a sign",
                    "azimuth_unit", name);
    AIRY_FAIL_ON_IF(params->azimuth_bins == 0 && second != AIRY_UNIT_CHI_DEG, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s '%s' is the second axis of two dimensions (azimuth_bins)", "azimuth_unit",
                    name);
    AIRY_FAIL_ON_IF(params->azimuth_bins > 0 && airy_unit_turn(params->unit) != 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s '%s' is the other axis of two dimensions: a radial unit is expected",
                    "unit", airy_unit_name(params->unit));
    AIRY_FAIL_ON_IF(
        params->azimuth_bins > 0 && params->unit == second, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s '%s' is also the unit of the radial axis: expected another", "azimuth_unit", name);
    AIRY_FAIL_HINT_IF(airy_unit_needs_wavelength(second) && geometry->wavelength == 0,
                      AIRY_ERR_PARAM, AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_PARAMETER,
                      "%s '%s' needs a wavelength, the geometry has none", "azimuth_unit", name);
    AIRY_FAIL_IF(params->compat == AIRY_COMPAT_PYFAI && second != AIRY_UNIT_CHI_DEG &&
                     second != AIRY_UNIT_CHI_RAD,
                 AIRY_ERR_UNSUPPORTED,
                 "compat pyfai has chi_deg and chi_rad as second axis, not %s", name);
    AIRY_FAIL_IF(params->chi_zero && airy_unit_turn(second) == 0, AIRY_ERR_PARAM,
                 "chi_zero is for angles about the beam; azimuth_unit is '%s'", name);
    return AIRY_OK;
}

static airy_status check_params(const airy_geometry *geometry, const airy_integrator_params *params)
{
    AIRY_FAIL_ON_IF(params->bins == 0 || params->bins > 1000000, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 1 to 1000000", "bins",
                    params->bins);
    AIRY_FAIL_ON_IF(params->azimuth_bins > MAX_CELLS / params->bins, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s = %zu x %zu of radius and azimuth, expected at most %d in all", "bins",
                    params->bins, params->azimuth_bins, MAX_CELLS);
    AIRY_FAIL_IF(params->azimuth_bins == 0 && params->split == AIRY_SPLIT_PSEUDO, AIRY_ERR_PARAM,
                 "splitting 'pseudo' is for two dimensions (azimuth_bins)");
    AIRY_FAIL_ON_IF((unsigned)params->unit >= AIRY_UNIT_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "unit", (int)params->unit,
                    AIRY_UNIT_COUNT - 1);
    AIRY_FAIL_HINT_IF(airy_unit_needs_wavelength(params->unit) && geometry->wavelength == 0,
                      AIRY_ERR_PARAM, AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_PARAMETER,
                      "%s '%s' needs a wavelength, the geometry has none", "unit",
                      airy_unit_name(params->unit));
    AIRY_TRY(check_azimuth(geometry, params));
    AIRY_FAIL_ON_IF(geometry->detector.height == 0 || geometry->detector.width == 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s '%s' has no shape", "detector",
                    geometry->detector.name);
    const double *r = params->radial_range, *a = params->azimuth_range;
    if (params->has_radial_range) {
        AIRY_FAIL_IF(!isfinite(r[0]) || !isfinite(r[1]) || !(r[0] < r[1]), AIRY_ERR_PARAM,
                     "radial range = %g to %g %s, expected two finite values, the lower first",
                     r[0], r[1], airy_unit_name(params->unit));
        const double turn = airy_unit_turn(params->unit);
        AIRY_FAIL_IF(turn != 0 && r[1] - r[0] > turn, AIRY_ERR_PARAM,
                     "radial range = %.10g to %.10g %s, expected %.10g at most between them", r[0],
                     r[1], airy_unit_name(params->unit), turn);
    }
    const airy_unit second = airy_azimuth_unit(params->azimuth_unit);
    if (params->has_azimuth_range && airy_unit_turn(second) == 0)
        AIRY_FAIL_IF(!isfinite(a[0]) || !isfinite(a[1]) || !(a[0] < a[1]), AIRY_ERR_PARAM,
                     "azimuth range = %g to %g %s, expected two finite values, the lower first",
                     a[0], a[1], airy_unit_name(second));
    else if (params->has_azimuth_range)
        AIRY_FAIL_IF(!(fabs(a[0]) <= 720) || !(fabs(a[1]) <= 720) || a[1] - a[0] > 360,
                     AIRY_ERR_PARAM,
                     "azimuth range = %g to %g deg, expected values within 720 deg and 360 deg at "
                     "most between them",
                     a[0], a[1]);
    return AIRY_OK;
}

static airy_status make_scratch(struct build *build, airy_pool *pool)
{
    const unsigned workers = airy_pool_size(pool);
    AIRY_TRY(airy_memory_calloc((void **)&build->band, build->bands, sizeof *build->band,
                                "the matrix's bands"));
    AIRY_TRY(airy_memory_calloc((void **)&build->scratch, workers, sizeof *build->scratch,
                                "the matrix's work space"));
    for (; build->workers < workers; build->workers++)
        AIRY_TRY(airy_split_scratch_create(&build->scratch[build->workers], build->rule));
    return AIRY_OK;
}

static void free_scratch(struct build *build)
{
    for (unsigned k = 0; k < build->workers; k++)
        airy_split_scratch_free(&build->scratch[k]);
    for (size_t b = 0; build->band && b < build->bands; b++) {
        free(build->band[b].entries.bin);
        free(build->band[b].entries.coef);
    }
    free(build->scratch);
    free(build->band);
}

static airy_status fill_matrix(struct build *build, airy_pool *pool)
{
    struct airy_matrix *m = build->matrix;
    AIRY_TRY(
        airy_memory_alloc_shared((void **)&m->start, (m->pixels + 1) * sizeof *m->start, pool));
    /*
     * An entry takes 8 bytes in its band's buffer and 8 in the matrix, and a buffer that grows is
     * there twice.
     */
    const uint64_t available = airy_memory_available();
    build->most = (size_t)(available / 24 < UINT32_MAX - 1 ? available / 24 : UINT32_MAX - 1);
    airy_pool_run(pool, build->bands, find_entries, build);
    AIRY_FAIL_IF(atomic_load(&build->entries) > build->most, AIRY_ERR_MEMORY,
                 "the matrix has more than %zu entries, for which %llu MB would have to be free",
                 build->most, (unsigned long long)(build->most * 24 / 1000000));
    for (size_t b = 0; b < build->bands; b++) {
        build->band[b].first_entry = m->entries;
        m->entries += build->band[b].entries.count;
    }
    AIRY_TRY(airy_memory_alloc_shared((void **)&m->bin, m->entries * sizeof *m->bin, pool));
    AIRY_TRY(airy_memory_alloc_shared((void **)&m->coef, m->entries * sizeof *m->coef, pool));
    airy_pool_run(pool, build->bands, place_entries, build);
    m->start[m->pixels] = (uint32_t)m->entries;
    return AIRY_OK;
}

airy_status airy_matrix_plan(struct airy_split_rule *rule, const airy_geometry *geometry,
                             const airy_integrator_params *params)
{
    AIRY_TRY(check_params(geometry, params));
    make_rule(rule, geometry, params);
    return AIRY_OK;
}

static struct build begin_build(const struct airy_split_rule *rule, size_t height)
{
    return (struct build){
        .rule = rule, .height = height, .bands = (height + BAND_ROWS - 1) / BAND_ROWS};
}

airy_status airy_matrix_reach(struct airy_split_limits *found, const struct airy_split_rule *rule,
                              size_t height, const uint8_t *mask, airy_pool *pool)
{
    struct build build = begin_build(rule, height);
    build.masked = mask;
    const airy_status status = make_scratch(&build, pool);
    *found = airy_split_no_limits;
    if (status == AIRY_OK)
        airy_pool_run(pool, build.bands, find_limits, &build);
    for (size_t b = 0; status == AIRY_OK && b < build.bands; b++) {
        const struct airy_split_limits *band = &build.band[b].limits;
        found->lower = fmin(found->lower, band->lower);
        found->upper = fmax(found->upper, band->upper);
        found->chi_lower = fmin(found->chi_lower, band->chi_lower);
        found->chi_upper = fmax(found->chi_upper, band->chi_upper);
    }
    free_scratch(&build);
    return status;
}

airy_status airy_matrix_fill(struct airy_matrix *matrix, const struct airy_split_rule *rule,
                             size_t height, const uint8_t *valid, airy_pool *pool)
{
    struct airy_matrix m = {.pixels = height * rule->width,
                            .bins = rule->radial.bins * airy_max_size(rule->chi.bins, 1)};
    struct build build = begin_build(rule, height);
    build.valid = valid;
    build.matrix = &m;
    airy_status status = make_scratch(&build, pool);
    if (status == AIRY_OK)
        status = fill_matrix(&build, pool);
    free_scratch(&build);
    if (status != AIRY_OK) {
        airy_matrix_free(&m);
        return status;
    }
    *matrix = m;
    return AIRY_OK;
}

airy_status airy_matrix_build(struct airy_matrix *matrix, struct airy_matrix_limits *limits,
                              const airy_geometry *geometry, const airy_integrator_params *params,
                              const uint8_t *valid, airy_pool *pool)
{
    const size_t height = geometry->detector.height;
    struct airy_split_rule rule;
    struct airy_split_limits found = airy_split_no_limits;
    AIRY_TRY(airy_matrix_plan(&rule, geometry, params));
    if (airy_matrix_needs_reach(params))
        AIRY_TRY(
            airy_matrix_reach(&found, &rule, height, rule.all_pixels ? NULL : params->mask, pool));
    struct airy_matrix_limits made;
    AIRY_TRY(airy_matrix_range(&rule, &made, params, &found));
    AIRY_TRY(airy_matrix_fill(matrix, &rule, height, valid, pool));
    *limits = made;
    return AIRY_OK;
}

/*
 * Transposing in slices of pixels: each slice knows where in every bin's row its entries begin, so
 * the order is that of one slice.
 */
struct transpose {
    struct airy_matrix *matrix;
    uint32_t *at; /* [slices][bins] counts, then places */
    size_t slices;
    uint32_t *pixel, *entry;
};

static void slice_pixels(const struct transpose *t, size_t slice, size_t *first, size_t *last)
{
    *first = t->matrix->pixels * slice / t->slices;
    *last = t->matrix->pixels * (slice + 1) / t->slices;
}

static void count_slice(void *arg, size_t slice, unsigned worker)
{
    const struct transpose *t = arg;
    const struct airy_matrix *m = t->matrix;
    uint32_t *at = t->at + slice * m->bins;
    size_t first, last;
    (void)worker;
    slice_pixels(t, slice, &first, &last);
    for (size_t e = m->start[first]; e < m->start[last]; e++)
        at[m->bin[e]]++;
}

static void place_slice(void *arg, size_t slice, unsigned worker)
{
    const struct transpose *t = arg;
    const struct airy_matrix *m = t->matrix;
    uint32_t *at = t->at + slice * m->bins;
    size_t first, last;
    (void)worker;
    slice_pixels(t, slice, &first, &last);
    for (size_t i = first; i < last; i++)
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const uint32_t k = at[m->bin[e]]++;
            t->pixel[k] = (uint32_t)i;
            t->entry[k] = e;
        }
}

/* Counts of the slices become places, and row the start of each bin. */
static void make_rows(const struct transpose *t, uint32_t *row)
{
    const size_t bins = t->matrix->bins;
    uint32_t next = 0;
    for (size_t b = 0; b < bins; b++) {
        row[b] = next;
        for (size_t s = 0; s < t->slices; s++) {
            const uint32_t count = t->at[s * bins + b];
            t->at[s * bins + b] = next;
            next += count;
        }
    }
    row[bins] = next;
}

airy_status airy_matrix_by_bin(struct airy_matrix *matrix, airy_pool *pool)
{
    if (matrix->row)
        return AIRY_OK;
    /* At most 64 MiB of counts, and slices of some size. */
    const size_t most = airy_min_size(((size_t)1 << 24) / matrix->bins, matrix->entries / 65536);
    struct transpose t = {
        .matrix = matrix,
        .slices = airy_max_size(airy_min_size(most, 4 * (size_t)airy_pool_size(pool)), 1)};
    uint32_t *row = NULL;
    airy_status status = AIRY_OK;
    AIRY_TRY_OR(
        out, airy_memory_calloc((void **)&row, matrix->bins + 1, sizeof *row, "the matrix by bin"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&t.at, t.slices * matrix->bins, sizeof *t.at,
                                        "the matrix by bin"));
    AIRY_TRY_OR(out, airy_memory_alloc((void **)&t.pixel, matrix->entries * sizeof *t.pixel));
    AIRY_TRY_OR(out, airy_memory_alloc((void **)&t.entry, matrix->entries * sizeof *t.entry));
    airy_pool_run(pool, t.slices, count_slice, &t);
    make_rows(&t, row);
    airy_pool_run(pool, t.slices, place_slice, &t);
    matrix->row = row;
    matrix->pixel = t.pixel;
    matrix->entry = t.entry;
    free(t.at);
    return AIRY_OK;
out:
    free(row);
    free(t.at);
    airy_memory_release(t.pixel);
    airy_memory_release(t.entry);
    return status;
}

void airy_matrix_free(struct airy_matrix *matrix)
{
    airy_memory_release(matrix->start);
    airy_memory_release(matrix->bin);
    airy_memory_release(matrix->coef);
    free(matrix->row);
    airy_memory_release(matrix->pixel);
    airy_memory_release(matrix->entry);
    *matrix = (struct airy_matrix){0};
}
