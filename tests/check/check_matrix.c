/*
 * Matrices against the definition in tests/ref; their ranges, cells, turns and threads.
 */
#include "check_integrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "integrate/matrix.h"
#include "integrate/split_cut.h"
#include "ref_integrate.h"

static const char *const view_names[VIEW_COUNT] = {"on", "off", "corner", "back"};

airy_geometry scene_geometry(enum view view, int orientation)
{
    airy_geometry g = {.detector = {.name = "Detector",
                                    .height = HEIGHT,
                                    .width = WIDTH,
                                    .pixel1 = 0.9e-3,
                                    .pixel2 = 1.3e-3,
                                    .orientation = orientation},
                       .dist = 0.06,
                       .poni1 = 0.0091,
                       .poni2 = 0.0173,
                       .rot1 = 0.05,
                       .rot2 = -0.08,
                       .rot3 = 0.7,
                       .wavelength = 1.1e-10};
    if (view == VIEW_OFF) {
        g.poni1 = -0.03;
        g.poni2 = 0.05;
    } else if (view == VIEW_CORNER) {
        g.rot1 = g.rot2 = g.rot3 = 0;
        g.poni1 = 8 * g.detector.pixel1;
        g.poni2 = 11 * g.detector.pixel2;
    } else if (view == VIEW_BACK) {
        g.rot1 = 2.2;
    }
    return g;
}

void scene_corners(float *corners, double pixel1, double pixel2)
{
    for (int i = 0; i < PIXELS * 4; i++) {
        const int row = i / 4 / WIDTH, column = i / 4 % WIDTH, k = i % 4;
        const double y = row + (k == 1 || k == 2) + (row >= 12 ? 0.7 : 0), x = column + (k >= 2);
        float *v = corners + 3 * i;
        v[0] = (float)(0.004 * sin(0.2 * x) + 0.0005 * y);
        v[1] = (float)(pixel1 * (y + 0.3 * sin(0.3 * x)));
        v[2] = (float)(pixel2 * (x + 0.2 * cos(0.4 * y)));
    }
}

void scene_mask(struct check *c, uint8_t *mask)
{
    for (size_t i = 0; i < PIXELS; i++)
        mask[i] = (uint8_t)(check_rand_u64(c) % 9 == 0 || i / WIDTH == 5);
}
/* Entries of the matrix as a dense array, with the promises about their order checked. */
static double *densify(struct check *c, struct airy_matrix *m, airy_pool *pool)
{
    double *dense = check_alloc(c, m->pixels * m->bins * sizeof *dense);
    CHECK(c, m->start[0] == 0 && m->start[m->pixels] == m->entries);
    for (size_t i = 0; i < m->pixels; i++)
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
            CHECK(c, m->bin[e] < m->bins && (e == m->start[i] || m->bin[e - 1] < m->bin[e]));
            dense[i * m->bins + m->bin[e]] = (double)m->coef[e];
        }
    if (!CHECK_OK(c, airy_matrix_by_bin(m, pool)))
        return dense;
    CHECK(c, m->row[0] == 0 && m->row[m->bins] == m->entries);
    for (size_t b = 0; b < m->bins; b++)
        for (uint32_t k = m->row[b]; k < m->row[b + 1]; k++) {
            const uint32_t e = m->entry[k], i = m->pixel[k];
            CHECK(c, m->bin[e] == b && e >= m->start[i] && e < m->start[i + 1]);
            CHECK(c, k == m->row[b] || m->pixel[k - 1] < i);
        }
    return dense;
}

/*
 * What a coefficient may be off: 2^-25 for rounding a value of at most 1 to float; 2^-40 for
 * shares that are left out; and of its edges, lengths over the pixel's own: both of them move by
 * up to 1e-13 of the axis (checked with the limits), of which a pixel of the scenes takes 1/64 or
 * more. A cell that a pixel meets on both sides of chi's discontinuity adds two floats.
 */
#define MATRIX_TOLERANCE (0x1p-25 + 0x1p-40 + 2 * 64 * 1e-13)

static void check_one_matrix(struct check *c, const airy_geometry *g, airy_integrator_params params,
                             const char *name)
{
    if (!check_case(c, "matrix_%s", name))
        return;
    uint8_t *valid = check_alloc(c, PIXELS);
    scene_mask(c, valid);
    params.mask = valid;
    uint8_t *counts = check_alloc(c, PIXELS);
    for (size_t i = 0; i < PIXELS; i++)
        counts[i] = !valid[i];
    const size_t bins = params.bins * (params.azimuth_bins ? params.azimuth_bins : 1);
    double *want = check_alloc(c, PIXELS * bins * sizeof *want), limits[4];
    ref_matrix(want, limits, g, &params, counts);
    airy_pool *pool = NULL;
    struct airy_matrix m = {0};
    struct airy_matrix_limits got;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    if (CHECK_OK(c, airy_matrix_build(&m, &got, g, &params, counts, pool))) {
        const double size = fmax(fabs(limits[0]), fabs(limits[1]));
        CHECK(c, fabs(got.lower - limits[0]) <= 1e-13 * size &&
                     fabs(got.upper - limits[1]) <= 1e-13 * size);
        if (params.azimuth_bins)
            CHECK(c, fabs(got.azimuth_lower - limits[2]) <= 1e-11 &&
                         fabs(got.azimuth_upper - limits[3]) <= 1e-11);
        const double *dense = densify(c, &m, pool);
        check_values(
            c, "coefficients", AIRY_DTYPE_F64, dense, want, PIXELS * bins,
            &(struct check_tol){.abs = MATRIX_TOLERANCE + (params.azimuth_bins ? 2 * 0x1p-25 : 0)});
    }
    airy_matrix_free(&m);
    airy_pool_destroy(&pool);
}

static bool is_infinite_at_beam(airy_unit unit)
{
    return unit == AIRY_UNIT_D_M || unit == AIRY_UNIT_D_NM || unit == AIRY_UNIT_D_A ||
           unit == AIRY_UNIT_LOG10Q_M || unit == AIRY_UNIT_LOGQ_NM;
}

static bool vanishes_at_beam(airy_unit unit)
{
    return unit < AIRY_UNIT_QX_NM || unit == AIRY_UNIT_D2_A || unit == AIRY_UNIT_LOG1Q_A ||
           unit == AIRY_UNIT_ASINHQ_NM || unit == AIRY_UNIT_ASINHQ_A || unit == AIRY_UNIT_QTOT_NM ||
           unit == AIRY_UNIT_QTOT_A;
}

static void check_matrices(struct check *c)
{
    char name[96];
    for (int split = 0; split <= AIRY_SPLIT_NO; split++) {
        for (int unit = 0; unit < AIRY_UNIT_COUNT; unit++)
            for (int view = 0; view < VIEW_COUNT; view++) {
                /* On a beam at a corner the centres of pixels coincide, and so do bins' edges:
                 * without splitting only off it. Where the unit does not vanish at the beam, its
                 * pixel has no definite quadrilateral; a corner in it has a chigi made of rounding. */
                const bool chigi = unit == AIRY_UNIT_CHIGI_RAD || unit == AIRY_UNIT_CHIGI_DEG;
                if ((chigi && view == VIEW_CORNER) ||
                    (split == AIRY_SPLIT_NO && view == VIEW_CORNER) ||
                    (split == AIRY_SPLIT_FULL && !vanishes_at_beam((airy_unit)unit) &&
                     view != VIEW_BACK) ||
                    (is_infinite_at_beam((airy_unit)unit) && view == VIEW_CORNER) ||
                    (split == AIRY_SPLIT_FULL && airy_unit_turn((airy_unit)unit) > 0 &&
                     view != VIEW_OFF))
                    continue;
                airy_geometry g = scene_geometry((enum view)view, 3);
                g.incidence = 0.02;
                g.tilt = -0.3;
                g.sample_orientation = unit % 9;
                snprintf(name, sizeof name, "%s_unit%d_%s", airy_split_name((airy_split)split),
                         unit, view_names[view]);
                check_one_matrix(c, &g,
                                 (airy_integrator_params){.bins = 17,
                                                          .unit = (airy_unit)unit,
                                                          .split = (airy_split)split},
                                 name);
            }
        for (int orientation = 0; orientation <= 4; orientation++) {
            const airy_geometry g = scene_geometry(VIEW_ON, orientation);
            snprintf(name, sizeof name, "%s_o%d", airy_split_name((airy_split)split), orientation);
            check_one_matrix(
                c, &g, (airy_integrator_params){.bins = 23, .split = (airy_split)split}, name);
        }
    }
}

/* Ranges and bins; azimuth_bins 0: one dimension. */
struct range_row {
    const char *name;
    bool radial, azimuth, chi_zero;
    double r[2], a[2];
    airy_unit unit;
    size_t bins, azimuth_bins;
};

static airy_integrator_params row_params(const struct range_row *row, int split)
{
    return (airy_integrator_params){.bins = row->bins,
                                    .azimuth_bins = row->azimuth_bins,
                                    .unit = row->unit,
                                    .split = (airy_split)split,
                                    .has_radial_range = row->radial,
                                    .has_azimuth_range = row->azimuth,
                                    .radial_range = {row->r[0], row->r[1]},
                                    .azimuth_range = {row->a[0], row->a[1]},
                                    .chi_zero = row->chi_zero};
}

static void check_ranges(struct check *c)
{
    static const struct range_row rows[] = {
        {"radial", true, false, false, {2.5, 9.25}, {0, 0}, AIRY_UNIT_Q_NM, 13, 0},
        {"radial_below_0", true, false, false, {-1.5, 9.25}, {0, 0}, AIRY_UNIT_Q_NM, 13, 0},
        {"azimuth", false, true, false, {0, 0}, {-61, 74}, AIRY_UNIT_TTH_DEG, 13, 0},
        {"azimuth_wraps", false, true, false, {0, 0}, {150, -120}, AIRY_UNIT_Q_NM, 13, 0},
        {"azimuth_beyond", false, true, true, {0, 0}, {150, 230}, AIRY_UNIT_Q_NM, 13, 0},
        {"azimuth_turn", false, true, false, {0, 0}, {30, 30}, AIRY_UNIT_Q_NM, 13, 0},
        {"both", true, true, false, {3, 8}, {10, 100}, AIRY_UNIT_R_MM, 7, 0},
        {"one_bin", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_Q_NM, 1, 0},
        {"many_bins", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_Q_NM, 500, 0},
        {"chi_zero", false, false, true, {0, 0}, {0, 0}, AIRY_UNIT_CHI_DEG, 24, 0},
        {"chi_beyond", true, false, false, {120, 300}, {0, 0}, AIRY_UNIT_CHI_DEG, 11, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int split = 0; split <= AIRY_SPLIT_NO; split++) {
            /* chi has no definite value where the beam is */
            const airy_geometry g =
                scene_geometry(rows[k].unit == AIRY_UNIT_CHI_DEG ? VIEW_OFF : VIEW_ON, 3);
            char name[96];
            snprintf(name, sizeof name, "%s_%s", airy_split_name((airy_split)split), rows[k].name);
            check_one_matrix(c, &g, row_params(&rows[k], split), name);
        }
}

/* Cells of radius and chi against the definition. */
static void check_cells(struct check *c)
{
    static const struct range_row rows[] = {
        {"whole", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_Q_NM, 11, 7},
        {"from_zero", false, false, true, {0, 0}, {0, 0}, AIRY_UNIT_TTH_DEG, 11, 7},
        {"one_row", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_R_MM, 13, 1},
        {"one_column", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_Q_NM, 1, 29},
        {"fine", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_Q_NM, 60, 90},
        {"ranges", true, true, false, {2.5, 9.25}, {-61, 74}, AIRY_UNIT_Q_NM, 9, 8},
        {"wraps", true, true, false, {-1, 9.25}, {150, -120}, AIRY_UNIT_Q_NM, 9, 5},
        {"beyond", false, true, true, {0, 0}, {300, 420}, AIRY_UNIT_Q_NM, 9, 5},
        {"far", false, true, false, {0, 0}, {-700, -400}, AIRY_UNIT_Q_NM, 9, 5},
        {"turn", false, true, false, {0, 0}, {100, 460}, AIRY_UNIT_Q_NM, 9, 12},
        {"signed", false, false, false, {0, 0}, {0, 0}, AIRY_UNIT_LOG1Q_NM, 9, 12},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++)
            for (int view = 0; view < VIEW_COUNT; view++) {
                /* A centre's chi at the beam's corner is on an edge of cells, or nowhere. */
                if (view == VIEW_CORNER && split != AIRY_SPLIT_FULL)
                    continue;
                const airy_geometry g = scene_geometry((enum view)view, view == VIEW_OFF ? 2 : 3);
                char name[96];
                snprintf(name, sizeof name, "cells_%s_%s_%s", airy_split_name((airy_split)split),
                         rows[k].name, view_names[view]);
                check_one_matrix(c, &g, row_params(&rows[k], split), name);
            }
}

/* Cells whose second axis is another than chi in degrees. */
static void check_second_axes(struct check *c)
{
    static const struct pair {
        const char *name;
        airy_unit unit, azimuth_unit;
        bool ranges, chi_zero;
        double r[2], a[2];
    } pairs[] = {
        {"q_chi_rad", AIRY_UNIT_Q_NM, AIRY_UNIT_CHI_RAD, false, false, {0, 0}, {0, 0}},
        {"q_chi_rad_zero", AIRY_UNIT_Q_A, AIRY_UNIT_CHI_RAD, false, true, {0, 0}, {0, 0}},
        {"q_chi_rad_wraps",
         AIRY_UNIT_Q_NM,
         AIRY_UNIT_CHI_RAD,
         true,
         false,
         {-1, 9.25},
         {150, -120}},
        {"tth_chigi_deg", AIRY_UNIT_TTH_DEG, AIRY_UNIT_CHIGI_DEG, false, false, {0, 0}, {0, 0}},
        {"q_chigi_rad", AIRY_UNIT_Q_NM, AIRY_UNIT_CHIGI_RAD, false, true, {0, 0}, {0, 0}},
        {"q_chigi_rad_range", AIRY_UNIT_Q_NM, AIRY_UNIT_CHIGI_RAD, true, false, {1, 9}, {-30, 200}},
        {"qx_qy", AIRY_UNIT_QX_NM, AIRY_UNIT_QY_NM, false, false, {0, 0}, {0, 0}},
        {"qip_qoop", AIRY_UNIT_QIP_NM, AIRY_UNIT_QOOP_NM, false, false, {0, 0}, {0, 0}},
        {"qip_qoop_A", AIRY_UNIT_QIP_A, AIRY_UNIT_QOOP_A, true, false, {-0.5, 0.9}, {-0.3, 0.7}},
        {"qoop_qip", AIRY_UNIT_QOOP_NM, AIRY_UNIT_QIP_NM, false, false, {0, 0}, {0, 0}},
        {"qxgi_qygi", AIRY_UNIT_QXGI_NM, AIRY_UNIT_QYGI_NM, false, false, {0, 0}, {0, 0}},
        {"qygi_qzgi", AIRY_UNIT_QYGI_NM, AIRY_UNIT_QZGI_NM, false, false, {0, 0}, {0, 0}},
        {"exit_deg", AIRY_UNIT_EXIT_HORZ_DEG, AIRY_UNIT_EXIT_VERT_DEG, false, false, {0}, {0}},
        {"scattering",
         AIRY_UNIT_SCATTERING_HORZ_RAD,
         AIRY_UNIT_SCATTERING_VERT_RAD,
         false,
         false,
         {0, 0},
         {0, 0}},
        {"q_qoop", AIRY_UNIT_Q_NM, AIRY_UNIT_QOOP_NM, false, false, {0, 0}, {0, 0}},
        {"r_qx", AIRY_UNIT_R_MM, AIRY_UNIT_QX_NM, false, false, {0, 0}, {0, 0}},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++)
            for (int view = 0; view < VIEW_COUNT; view++) {
                const bool angle = airy_unit_turn(pairs[k].azimuth_unit) > 0,
                           polar = pairs[k].unit <= AIRY_UNIT_R_M;
                /* As in check_cells; and where the beam is, units that vary around it have no definite
                 * quadrilateral but where the other is the angle about it. */
                if ((view == VIEW_CORNER && split != AIRY_SPLIT_FULL) ||
                    (!(angle && polar) && view != VIEW_OFF && view != VIEW_BACK))
                    continue;
                airy_geometry g = scene_geometry((enum view)view, view == VIEW_OFF ? 2 : 3);
                g.incidence = 0.02;
                g.tilt = -0.3;
                g.sample_orientation = (int)(k % 9);
                char name[96];
                snprintf(name, sizeof name, "second_%s_%s_%s", airy_split_name((airy_split)split),
                         pairs[k].name, view_names[view]);
                check_one_matrix(
                    c, &g,
                    (airy_integrator_params){.bins = 13,
                                             .azimuth_bins = 9,
                                             .unit = pairs[k].unit,
                                             .azimuth_unit = pairs[k].azimuth_unit,
                                             .split = (airy_split)split,
                                             .chi_zero = pairs[k].chi_zero,
                                             .has_radial_range = pairs[k].ranges,
                                             .has_azimuth_range = pairs[k].ranges,
                                             .radial_range = {pairs[k].r[0], pairs[k].r[1]},
                                             .azimuth_range = {pairs[k].a[0], pairs[k].a[1]}},
                    name);
            }
}

/*
 * Detectors with corners of their own, and with parallax, against the definition. Limits are those of
 * points that a dozen roundings more lead to than in a plane, and a shift of at most 3 pixels that the
 * reference integrates to some roundings.
 */
static void check_positions(struct check *c)
{
    static float corners[PIXELS * 12]; /* of all cases; what check_alloc gives is of one */
    static const airy_unit units[] = {AIRY_UNIT_Q_NM, AIRY_UNIT_R_MM, AIRY_UNIT_CHI_DEG};
    for (int k = 0; k < 3 * 3 * 3 * 3; k++) {
        const int split = k % 3, what = k / 3 % 3, view = k / 9 % 3, unit = k / 27;
        /* The beam's pixel, and those that are seen from behind, as in check_matrices. */
        if ((view != VIEW_OFF && unit > 1 && split == AIRY_SPLIT_FULL) || view == VIEW_CORNER)
            continue;
        airy_geometry g = scene_geometry((enum view)view, 1 + k % 4);
        scene_corners(corners, g.detector.pixel1, g.detector.pixel2);
        g.detector.corners = what < 2 ? corners : NULL;
        g.parallax = what > 0;
        g.detector.sensor = (airy_sensor){.thickness = k % 2 ? 0 : 2e-3, .attenuation = 400};
        char name[96];
        snprintf(name, sizeof name, "%s_%s_unit%d_%s", what < 2 ? "corners" : "plane",
                 what > 0 ? "parallax" : "thin", (int)units[unit], view_names[view]);
        char full[160];
        snprintf(full, sizeof full, "%s_%s", airy_split_name((airy_split)split), name);
        check_one_matrix(
            c, &g,
            (airy_integrator_params){.bins = 17, .unit = units[unit], .split = (airy_split)split},
            full);
        if (units[unit] == AIRY_UNIT_CHI_DEG)
            continue;
        snprintf(full, sizeof full, "cells_%s_%s", airy_split_name((airy_split)split), name);
        check_one_matrix(
            c, &g,
            (airy_integrator_params){
                .bins = 11, .azimuth_bins = 7, .unit = units[unit], .split = (airy_split)split},
            full);
    }
}

/*
 * pyFAI's rules with pixels of many cells that reach over the ends of the ranges: whatever becomes of
 * them, entries are of cells that there are. In 1/A pixels are about as long as they are wide in rad,
 * which is when pseudo splitting shrinks them.
 */
static void check_cells_bounded(struct check *c)
{
    if (!check_case(c, "matrix_cells_bounded"))
        return;
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    uint8_t *valid = check_alloc(c, PIXELS);
    memset(valid, 1, PIXELS);
    for (int k = 0; k < AIRY_SPLIT_COUNT * VIEW_COUNT; k++) {
        const airy_geometry g = scene_geometry((enum view)(k % VIEW_COUNT), 3);
        const airy_integrator_params params = {.bins = 997,
                                               .azimuth_bins = 361,
                                               .unit = AIRY_UNIT_Q_A,
                                               .split = (airy_split)(k / VIEW_COUNT),
                                               .compat = AIRY_COMPAT_PYFAI,
                                               .has_radial_range = true,
                                               .has_azimuth_range = true,
                                               .radial_range = {0.55, 0.725},
                                               .azimuth_range = {-61, 74}};
        struct airy_matrix m = {0};
        struct airy_matrix_limits limits;
        if (!CHECK_OK(c, airy_matrix_build(&m, &limits, &g, &params, valid, pool)))
            break;
        size_t beyond = 0;
        for (size_t e = 0; e < m.entries; e++)
            beyond += m.bin[e] >= m.bins || !isfinite(m.coef[e]);
        CHECK(c, beyond == 0);
        airy_matrix_free(&m);
    }
    airy_pool_destroy(&pool);
}

/* Units that differ by a factor alone have the same matrix under pyFAI's rules, bit by bit. */
static void check_compat_scale(struct check *c)
{
    static const struct {
        airy_unit base, unit;
        double factor;
    } pairs[] = {{AIRY_UNIT_Q_NM, AIRY_UNIT_Q_A, 0.1},
                 {AIRY_UNIT_TTH_RAD, AIRY_UNIT_TTH_DEG, 180 / PI},
                 {AIRY_UNIT_R_M, AIRY_UNIT_R_MM, 1000},
                 {AIRY_UNIT_D2_NM, AIRY_UNIT_D2_A, 0.01}};
    if (!check_case(c, "matrix_compat_scale"))
        return;
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    uint8_t *valid = check_alloc(c, PIXELS);
    memset(valid, 1, PIXELS);
    for (int k = 0; k < 4 * AIRY_SPLIT_COUNT; k++) {
        const airy_geometry g = scene_geometry(VIEW_ON, 3);
        airy_integrator_params params = {.bins = 31,
                                         .azimuth_bins = 20,
                                         .split = (airy_split)(k / 4),
                                         .method = AIRY_METHOD_HISTOGRAM,
                                         .compat = AIRY_COMPAT_PYFAI,
                                         .unit = pairs[k % 4].base};
        struct airy_matrix m[2] = {{0}, {0}};
        struct airy_matrix_limits limits[2];
        CHECK_OK(c, airy_matrix_build(&m[0], &limits[0], &g, &params, valid, pool));
        params.unit = pairs[k % 4].unit;
        CHECK_OK(c, airy_matrix_build(&m[1], &limits[1], &g, &params, valid, pool));
        CHECK(c, limits[1].lower == limits[0].lower * pairs[k % 4].factor &&
                     limits[1].upper == limits[0].upper * pairs[k % 4].factor);
        CHECK(c, m[0].entries == m[1].entries && m[0].entries > 0 &&
                     memcmp(m[0].bin, m[1].bin, m[0].entries * sizeof(*m[0].bin)) == 0 &&
                     memcmp(m[0].coef, m[1].coef, m[0].entries * sizeof(*m[0].coef)) == 0);
        airy_matrix_free(&m[0]);
        airy_matrix_free(&m[1]);
    }
    airy_pool_destroy(&pool);
}

/*
 * Under pyFAI's rules corners of q, 2theta and r are computed in double precision and rounded once:
 * the lower end of chi is that of the corner's float, or of its neighbour where the reference's last
 * bit decides (2^-22 between -4 and -2).
 */
static void check_compat_corners(struct check *c)
{
    static const airy_unit units[] = {AIRY_UNIT_Q_NM, AIRY_UNIT_TTH_DEG, AIRY_UNIT_R_MM};
    const airy_geometry g = {.detector = {.name = "Detector",
                                          .height = 90,
                                          .width = 210,
                                          .pixel1 = 2e-4,
                                          .pixel2 = 5e-5},
                             .dist = 0.031,
                             .poni1 = 0.0113,
                             .poni2 = 0.0021,
                             .rot1 = -0.15,
                             .rot2 = 0.21,
                             .rot3 = -2.1,
                             .wavelength = 0.71e-10};
    const size_t pixels = g.detector.height * g.detector.width;
    if (!check_case(c, "matrix_compat_corners"))
        return;
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    uint8_t *valid = memset(check_alloc(c, pixels), 1, pixels);
    float least = 4;
    for (size_t i = 0; i <= g.detector.height; i++)
        for (size_t j = 0; j <= g.detector.width; j++)
            least = fminf(least, (float)ref_chi(&g, (double)i, (double)j));
    for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
        const airy_integrator_params params = {
            .bins = 31, .azimuth_bins = 20, .unit = units[k], .compat = AIRY_COMPAT_PYFAI};
        struct airy_matrix m = {0};
        struct airy_matrix_limits limits;
        CHECK_OK(c, airy_matrix_build(&m, &limits, &g, &params, valid, pool));
        const double chi = limits.azimuth_lower * (PI / 180);
        CHECK(c, fabs(chi - (double)least) <= 1.01 * 0x1p-22);
        airy_matrix_free(&m);
    }
    airy_pool_destroy(&pool);
}

/*
 * What the package's histogram (2026.9) does otherwise than its sparse methods: ranges that are not
 * given are those of masked pixels as well, for centres in one dimension and for corners in two;
 * boxes in two dimensions are those of its sparse methods, but chi begins at 0 where that is asked
 * for.
 */
static void check_compat_histogram(struct check *c)
{
    if (!check_case(c, "matrix_compat_histogram"))
        return;
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    const airy_geometry g = scene_geometry(VIEW_ON, 3);
    uint8_t *mask = check_alloc(c, PIXELS), *valid = check_alloc(c, PIXELS);
    for (size_t i = 0; i < PIXELS; i++) {
        mask[i] = ref_radial(&g, AIRY_UNIT_R_M, (double)(i / WIDTH) + 0.5,
                             (double)(i % WIDTH) + 0.5) > 0.008;
        valid[i] = !mask[i];
    }
    for (int k = 0; k < 2 * (AIRY_SPLIT_NO + 1); k++) {
        const bool two = k % 2 != 0, histogram_of_all = k / 2 == (two ? 0 : AIRY_SPLIT_NO);
        airy_integrator_params params = {.bins = 31,
                                         .azimuth_bins = two ? 20 : 0,
                                         .split = (airy_split)(k / 2),
                                         .compat = AIRY_COMPAT_PYFAI};
        struct airy_matrix m = {0};
        struct airy_matrix_limits all, sparse, histogram;
        CHECK_OK(c, airy_matrix_build(&m, &all, &g, &params, valid, pool));
        airy_matrix_free(&m);
        params.mask = mask;
        CHECK_OK(c, airy_matrix_build(&m, &sparse, &g, &params, valid, pool));
        airy_matrix_free(&m);
        params.method = AIRY_METHOD_HISTOGRAM;
        CHECK_OK(c, airy_matrix_build(&m, &histogram, &g, &params, valid, pool));
        airy_matrix_free(&m);
        CHECK(c, sparse.upper < all.upper);
        CHECK(c, histogram.upper == (histogram_of_all ? all.upper : sparse.upper));
    }
    for (int k = 0; k < 4; k++) {
        airy_integrator_params params = {.bins = 31,
                                         .azimuth_bins = 20,
                                         .split = AIRY_SPLIT_BBOX,
                                         .compat = AIRY_COMPAT_PYFAI,
                                         .has_radial_range = true,
                                         .radial_range = {3, 7},
                                         .has_azimuth_range = k % 2,
                                         .azimuth_range = {-60, 75},
                                         .chi_zero = k >= 2};
        struct airy_matrix m[2] = {{0}, {0}};
        struct airy_matrix_limits limits[2];
        CHECK_OK(c, airy_matrix_build(&m[0], &limits[0], &g, &params, valid, pool));
        params.method = AIRY_METHOD_HISTOGRAM;
        CHECK_OK(c, airy_matrix_build(&m[1], &limits[1], &g, &params, valid, pool));
        if (k == 2)
            CHECK(c, limits[0].azimuth_lower < 0 && limits[1].azimuth_lower >= 0 &&
                         limits[1].azimuth_upper > 180);
        else
            CHECK(c, m[0].entries == m[1].entries && m[0].entries > 0 &&
                         memcmp(m[0].bin, m[1].bin, m[0].entries * sizeof(*m[0].bin)) == 0 &&
                         memcmp(m[0].coef, m[1].coef, m[0].entries * sizeof(*m[0].coef)) == 0);
        airy_matrix_free(&m[0]);
        airy_matrix_free(&m[1]);
    }
    airy_pool_destroy(&pool);
}

/*
 * Pixels of each cell of the package's histogram (2026.9) with chi from 0, for 7 x 8 pixels that hold
 * the beam: corners are counted from 0 before they are rounded, and a pixel on the discontinuity is a
 * whole one. What the package gives has six digits more than float32 has.
 */
static void check_compat_from_zero(struct check *c)
{
    enum { H = 7, W = 8, BINS = 3, ROWS = 4 };
    static const struct {
        airy_split split;
        bool range;
        double lower, upper, counts[ROWS * BINS]; /* limits: degrees */
    } wants[] = {
        {AIRY_SPLIT_FULL,
         false,
         10.43747504,
         355.4860624,
         {4.51168321, 9.0342893, 2.57617241, 3.05269709, 7.80286766, 4.08884509, 3.59332354,
          7.12852475, 2.894181, 2.69477437, 6.93830663, 1.68433494}},
        {AIRY_SPLIT_FULL,
         true,
         100,
         260.00003099,
         {3.46278189, 4.11004617, 1.79860871, 1.39528728, 3.62421176, 2.22123898, 1.61786912,
          3.64176876, 2.21469375, 2.62363921, 3.541778, 0.74807638}},
        {AIRY_SPLIT_PSEUDO,
         false,
         10.43747504,
         355.4860624,
         {4.2091382, 8.17083311, 2.63442944, 2.46500272, 5.77872543, 3.70212757, 3.3283556,
          7.03802209, 2.83947415, 2.35994291, 6.57384437, 1.74903217}},
        {AIRY_SPLIT_PSEUDO,
         true,
         100,
         260.00003099,
         {1.37887715, 2.27548885, 1.68102112, 0.95950635, 2.85113658, 1.24736268, 0.892185,
          2.9456524, 1.88982315, 2.08934098, 1.82858987, 0.54254947}},
    };
    if (!check_case(c, "matrix_compat_from_zero"))
        return;
    airy_pool *pool = NULL;
    airy_geometry g = {.dist = 0.1, .poni1 = 3.3e-3, .poni2 = 4.2e-3, .wavelength = 1e-10};
    g.detector.height = H;
    g.detector.width = W;
    g.detector.pixel1 = g.detector.pixel2 = 1e-3;
    uint8_t *valid = check_alloc(c, H * W);
    memset(valid, 1, H * W);
    if (!CHECK_OK(c, airy_pool_create(&pool, 2)))
        return;
    for (size_t k = 0; k < sizeof(wants) / sizeof(wants[0]); k++) {
        const airy_integrator_params params = {.bins = BINS,
                                               .azimuth_bins = ROWS,
                                               .unit = AIRY_UNIT_R_M,
                                               .split = wants[k].split,
                                               .method = AIRY_METHOD_HISTOGRAM,
                                               .compat = AIRY_COMPAT_PYFAI,
                                               .chi_zero = true,
                                               .has_azimuth_range = wants[k].range,
                                               .azimuth_range = {100, 260}};
        struct airy_matrix m = {0};
        struct airy_matrix_limits limits = {0};
        double counts[ROWS * BINS] = {0};
        CHECK_OK(c, airy_matrix_build(&m, &limits, &g, &params, valid, pool));
        CHECK(c, fabs(limits.azimuth_lower - wants[k].lower) < 1e-7 &&
                     fabs(limits.azimuth_upper - wants[k].upper) < 1e-7);
        for (size_t i = 0; i < m.entries; i++)
            counts[m.bin[i]] += (double)m.coef[i];
        /* Shares of both are rounded to float32: 2^-24 each of at most 56 pixels. */
        for (size_t i = 0; i < ROWS * BINS; i++)
            if (!(fabs(counts[i] - wants[k].counts[i]) <= 56 * 0x1p-24 + 1e-8))
                check_failed(c, __FILE__, __LINE__, "%zu: cell %zu has %.9g pixels, expected %.9g",
                             k, i, counts[i], wants[k].counts[i]);
        airy_matrix_free(&m);
    }
    airy_pool_destroy(&pool);
}

/*
 * Sums over chi are the patterns of one dimension: shares in two dimensions are rounded to float
 * each, 16 of them at most in a bin of a pixel here (2^-25), and shares below 2^-40 are left out.
 */
static void check_cells_add_up(struct check *c)
{
    if (!check_case(c, "matrix_cells_add_up"))
        return;
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 3)))
        return;
    enum { BINS = 40, ROWS = 24 };
    uint8_t *valid = check_alloc(c, PIXELS);
    memset(valid, 1, PIXELS);
    for (int k = 0; k < 4 * (AIRY_SPLIT_NO + 1); k++) {
        const airy_geometry g = scene_geometry((enum view)(k % 4), 1 + k % 4);
        airy_integrator_params params = {.bins = BINS, .split = (airy_split)(k / 4)};
        struct airy_matrix line = {0}, cells = {0};
        struct airy_matrix_limits limits;
        CHECK_OK(c, airy_matrix_build(&line, &limits, &g, &params, valid, pool));
        params.azimuth_bins = ROWS;
        params.has_azimuth_range = true;
        params.azimuth_range[1] = 360;
        CHECK_OK(c, airy_matrix_build(&cells, &limits, &g, &params, valid, pool));
        const double *one = densify(c, &line, pool), *two = densify(c, &cells, pool);
        double *sum = check_alloc(c, PIXELS * BINS * sizeof *sum);
        for (size_t i = 0; i < (size_t)PIXELS * BINS; i++)
            for (size_t row = 0; row < ROWS; row++)
                sum[i] += two[i / BINS * BINS * ROWS + row * BINS + i % BINS];
        check_values(c, "sums over chi", AIRY_DTYPE_F64, sum, one, (size_t)PIXELS * BINS,
                     &(struct check_tol){.abs = 17 * 0x1p-25 + ROWS * 0x1p-40});
        airy_matrix_free(&line);
        airy_matrix_free(&cells);
    }
    airy_pool_destroy(&pool);
}

/*
 * A whole turn takes every pixel, and thirds of it take each pixel once, even where chi is only
 * just below the limit.
 */
static void check_turns(struct check *c)
{
    if (!check_case(c, "matrix_turns"))
        return;
    enum { SIDE = 101, TURN_PIXELS = SIDE * SIDE };
    uint8_t valid[TURN_PIXELS];
    memset(valid, 1, sizeof valid);
    airy_pool *pool = NULL;
    if (!CHECK_OK(c, airy_pool_create(&pool, 1)))
        return;
    static const double shifts[] = {0, 1e-18, -1e-18, 2e-18, 1e-17};
    static const double ranges[][2] = {{0, 360}, {0, 0},     {-180, 180},
                                       {360, 0}, {90, -270}, {0.1, 360.1}};
    static const double thirds[][2] = {{0, 120}, {120, 240}, {240, 360}};
    for (size_t k = 0; k < 5 * (AIRY_SPLIT_NO + 1); k++) {
        airy_geometry g = {.detector = {.name = "Detector", .height = SIDE, .width = SIDE},
                           .dist = 0.1};
        g.detector.pixel1 = g.detector.pixel2 = 1e-4;
        g.poni1 = 50.5e-4 + shifts[k % 5];
        g.poni2 = 50.5e-4;
        airy_integrator_params params = {
            .bins = 50, .unit = AIRY_UNIT_R_MM, .split = (airy_split)(k / 5)};
        struct airy_matrix all = {0}, m = {0};
        struct airy_matrix_limits limits;
        CHECK_OK(c, airy_matrix_build(&all, &limits, &g, &params, valid, pool));
        params.has_azimuth_range = true;
        size_t entries = 0;
        for (size_t r = 0; r < 9; r++) {
            memcpy(params.azimuth_range, r < 6 ? ranges[r] : thirds[r - 6],
                   sizeof params.azimuth_range);
            CHECK_OK(c, airy_matrix_build(&m, &limits, &g, &params, valid, pool));
            if (r < 6 && m.entries != all.entries)
                check_failed(c, __FILE__, __LINE__,
                             "split %zu, shift %g, range %zu: %zu entries of %zu", k / 5,
                             shifts[k % 5], r, m.entries, all.entries);
            entries += r < 6 ? 0 : m.entries;
            airy_matrix_free(&m);
        }
        CHECK(c, entries == all.entries);
        airy_matrix_free(&all);
        params =
            (airy_integrator_params){.bins = 36, .unit = AIRY_UNIT_CHI_DEG, .split = AIRY_SPLIT_NO};
        params.has_radial_range = true;
        params.radial_range[1] = 360;
        CHECK_OK(c, airy_matrix_build(&m, &limits, &g, &params, valid, pool));
        CHECK(c, m.entries == TURN_PIXELS);
        airy_matrix_free(&m);
    }
    airy_pool_destroy(&pool);
}

/* The result does not depend on the number of threads, and every pixel's shares add up to 1. */
static void check_matrix_whole(struct check *c)
{
    if (!check_case(c, "matrix_threads"))
        return;
    airy_geometry g = scene_geometry(VIEW_ON, 3);
    g.detector.height = 1201; /* several slices */
    g.detector.width = 277;
    g.detector.pixel1 = g.detector.pixel2 = 1e-4;
    const size_t n = g.detector.height * g.detector.width;
    uint8_t *valid = check_alloc(c, n);
    memset(valid, 1, n);
    for (int split = 0; split <= AIRY_SPLIT_NO; split++) {
        struct airy_matrix m[2] = {{0}, {0}};
        struct airy_matrix_limits limits[2];
        const airy_integrator_params params = {.bins = 200, .split = (airy_split)split};
        for (unsigned k = 0; k < 2; k++) {
            airy_pool *pool = NULL;
            CHECK_OK(c, airy_pool_create(&pool, k ? 4 : 1));
            CHECK_OK(c, airy_matrix_build(&m[k], &limits[k], &g, &params, valid, pool));
            CHECK_OK(c, airy_matrix_by_bin(&m[k], pool));
            airy_pool_destroy(&pool);
        }
        CHECK(c, m[0].entries == m[1].entries && limits[0].lower == limits[1].lower &&
                     limits[0].upper == limits[1].upper);
        CHECK(c, memcmp(m[0].start, m[1].start, (n + 1) * sizeof *m[0].start) == 0);
        CHECK(c, memcmp(m[0].bin, m[1].bin, m[0].entries * sizeof *m[0].bin) == 0);
        CHECK(c, memcmp(m[0].coef, m[1].coef, m[0].entries * sizeof *m[0].coef) == 0);
        CHECK(c, memcmp(m[0].row, m[1].row, (params.bins + 1) * sizeof *m[0].row) == 0);
        CHECK(c, memcmp(m[0].entry, m[1].entry, m[0].entries * sizeof *m[0].entry) == 0);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t e = m[0].start[i]; e < m[0].start[i + 1]; e++)
                sum += (double)m[0].coef[e];
            CHECK(c, fabs(sum - 1) < 1e-6);
        }
        airy_matrix_free(&m[0]);
        airy_matrix_free(&m[1]);
    }
}

static void bench_matrix(struct check *c, airy_split split)
{
    if (!c->bench || !check_case(c, "bench_matrix_eiger4m_%s", airy_split_name(split)))
        return;
    airy_geometry g = {
        .dist = 0.16, .poni1 = 0.096, .poni2 = 0.086, .rot1 = 0.005, .wavelength = 1e-10};
    CHECK_OK(c, airy_detector_find(&g.detector, "Eiger 4M"));
    const size_t n = g.detector.height * g.detector.width;
    uint8_t *valid = check_alloc(c, n);
    memset(valid, 1, n);
    airy_pool *pool = NULL;
    CHECK_OK(c, airy_pool_create(&pool, 0));
    const airy_integrator_params params = {.bins = 1000, .split = split};
    struct airy_matrix m = {0};
    struct airy_matrix_limits limits;
    CHECK_BENCH(c, 0, 0,
                (airy_matrix_free(&m), airy_matrix_build(&m, &limits, &g, &params, valid, pool)));
    airy_matrix_free(&m);
    airy_pool_destroy(&pool);
}

/*
 * Angles between vectors, those of series and of arc tangents and on both sides of where these meet.
 * Products round to 2^-53 of |a| |b| each: 2 of them, a quotient and the series.
 */
static void check_vector_turns(struct check *c)
{
    if (!check_case(c, "matrix_vector_turns"))
        return;
    enum { COUNT = 4096, WHERE_THEY_MEET = 64 };
    double *v = check_alloc(c, 5 * COUNT * sizeof *v),
           *random = check_alloc(c, 3 * COUNT * sizeof *random);
    double *y0 = v, *x0 = v + COUNT, *y1 = v + 2 * COUNT, *x1 = v + 3 * COUNT,
           *turn = v + 4 * COUNT;
    check_rand(c, random, AIRY_DTYPE_F64, 3 * COUNT, 0, 1);
    for (size_t i = 0; i < COUNT; i++) {
        const double *r = random + 3 * i, at = 6.3 * r[0], length = exp(40 * r[1] - 20);
        const double by = i % 2                 ? 6.3 * r[2] - 3.15
                          : i < WHERE_THEY_MEET ? (i & 2 ? 1 : -1) * (0x1p-4 + 1e-17 * (double)i)
                                                : exp(-30 * r[2]);
        y0[i] = length * sin(at);
        x0[i] = length * cos(at);
        y1[i] = length * sin(at + by);
        x1[i] = length * cos(at + by);
    }
    /* The beam has no direction. */
    y0[100] = x0[100] = y1[200] = x1[200] = y0[300] = x0[300] = y1[300] = x1[300] = 0;
    airy_split_turns(turn, y0, x0, y1, x1, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const long double a = y0[i], b = x0[i], d = y1[i], e = x1[i];
        const bool none = (a == 0 && b == 0) || (d == 0 && e == 0);
        const double want = none ? 0 : (double)atan2l(b * d - a * e, b * e + a * d);
        if (!(fabs(turn[i] - want) <= 6 * 0x1p-53))
            check_failed(c, __FILE__, __LINE__, "turn %zu: got %.17g, want %.17g", i, turn[i],
                         want);
    }
    airy_split_turns(turn, y0 + 300, x0 + 300, y1 + 300, x1 + 300, 1);
    CHECK(c, turn[0] == 0);
}

void check_matrix(struct check *c)
{
    check_vector_turns(c);
    check_matrices(c);
    check_ranges(c);
    check_cells(c);
    check_second_axes(c);
    check_positions(c);
    check_cells_add_up(c);
    check_cells_bounded(c);
    check_compat_scale(c);
    check_compat_corners(c);
    check_compat_histogram(c);
    check_compat_from_zero(c);
    check_turns(c);
    check_matrix_whole(c);
    for (int split = 0; split <= AIRY_SPLIT_NO; split++)
        bench_matrix(c, (airy_split)split);
}
