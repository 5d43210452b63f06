/* Calibration: known geometries come back from simulated rings; what cannot be calibrated says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "airy/calibrate.h"
#include "airy/stack.h"
#include "check.h"
#include "ref_calibrate.h"
#include "ref_integrate.h"

enum { SIDE = 400 };

static const double pixel = 172e-6;

/* Spacings of a primitive cubic cell: a / sqrt(1, 2, 3, 4, 5, 6, 8, 9 ...). */
static size_t cubic(double *spacing, double a, size_t most)
{
    size_t n = 0;
    for (int square = 1; n < most; square++)
        if (square % 8 != 7 && !(square % 4 == 0 && square / 4 % 8 == 7))
            spacing[n++] = a / sqrt(square);
    return n;
}

static void check_table(struct check *c)
{
    if (!check_case(c, "calibrant_table"))
        return;
    for (size_t i = 0; i < airy_calibrant_count(); i++) {
        airy_calibrant_info info;
        airy_calibrant rings = {0};
        if (!CHECK_OK(c, airy_calibrant_get(&info, i)) ||
            !CHECK_OK(c, airy_calibrant_find(&rings, info.name, 0.5e-10)))
            return;
        CHECK(c, strcmp(rings.name, info.name) == 0 && rings.count > 3 && info.source[0]);
        for (size_t k = 1; k < rings.count; k++)
            if (!(rings.rings[k].spacing < rings.rings[k - 1].spacing))
                check_failed(c, __FILE__, __LINE__, "%s: spacing %zu is not falling", info.name, k);
        airy_calibrant_free(&rings);
        CHECK(c, rings.rings == NULL && rings.count == 0);
    }
}

/*
 * The first lines of powder patterns, angstrom and multiplicity: NIST certificates of SRM 660c, 676a,
 * 674b and 640e list these reflections; behenate has orders of one spacing. Of a cell of four or five
 * digits a spacing has as many.
 */
static void check_spacings(struct check *c)
{
    static const struct {
        const char *name;
        size_t ring;
        double d;
        int hkl[3], multiplicity;
    } lines[] = {
        {"LaB6", 0, 4.156826, {1, 0, 0}, 6},      {"lab6 SRM-660c", 1, 2.939320, {1, 1, 0}, 12},
        {"LaB6", 7, 1.385609, {3, 0, 0}, 30},     {"Si", 0, 3.135693, {1, 1, 1}, 8},
        {"silicon", 1, 1.920212, {2, 2, 0}, 12},  {"Si", 2, 1.637562, {3, 1, 1}, 24},
        {"Si", 3, 1.357795, {4, 0, 0}, 6},        {"CeO2", 1, 2.705826, {2, 0, 0}, 6},
        {"CeO2", 9, 1.041473, {5, 1, 1}, 32},     {"AgBh", 9, 5.838, {0, 0, 10}, 2},
        {"Al2O3", 0, 3.480292, {1, 0, -2}, 6},    {"corundum", 1, 2.551136, {1, 0, 4}, 6},
        {"Al2O3", 2, 2.379678, {2, -1, 0}, 6},    {"Al2O3", 3, 2.165385, {0, 0, 6}, 2},
        {"Al2O3", 4, 2.085569, {2, -1, 3}, 12},   {"ZnO", 0, 2.814493, {1, 0, 0}, 6},
        {"ZnO", 1, 2.603265, {0, 0, 2}, 2},       {"ZnO", 2, 2.475898, {1, 0, 1}, 12},
        {"TiO2", 0, 3.248397, {1, 1, 0}, 4},      {"TiO2", 1, 2.487553, {1, 0, 1}, 8},
        {"TiO2", 2, 2.296964, {2, 0, 0}, 4},      {"Au", 0, 2.354550, {1, 1, 1}, 8},
        {"quartz", 0, 4.257381, {1, 0, 0}, 6},    {"quartz", 1, 3.344564, {1, 0, 1}, 12},
        {"PBBA", 0, 14.72690, {2, 0, 0}, 2},      {"Cu2O", 0, 3.018285, {1, 1, 0}, 12},
        {"verneite", 0, 7.252794, {1, 1, 0}, 12},
    };
    if (!check_case(c, "calibrant_spacings"))
        return;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        airy_calibrant found = {0};
        if (!CHECK_OK(c, airy_calibrant_find(&found, lines[i].name, 0.6e-10)))
            continue;
        const airy_calibrant_ring *ring = &found.rings[lines[i].ring];
        if (found.count <= lines[i].ring ||
            fabs(ring->spacing * 1e10 - lines[i].d) > 1.5e-6 * lines[i].d ||
            memcmp(ring->hkl, lines[i].hkl, sizeof(ring->hkl)) != 0 ||
            ring->multiplicity != lines[i].multiplicity)
            check_failed(c, __FILE__, __LINE__, "%s ring %zu: %.7f (%d %d %d) x %d", lines[i].name,
                         lines[i].ring, ring->spacing * 1e10, ring->hkl[0], ring->hkl[1],
                         ring->hkl[2], ring->multiplicity);
        airy_calibrant_free(&found);
    }
    airy_calibrant big = {0};
    if (CHECK_OK(c, airy_calibrant_find(&big, "lysozyme", 0.3e-10)))
        CHECK(c, big.count == AIRY_CALIBRANT_RINGS);
    airy_calibrant_free(&big);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void check_file(struct check *c)
{
    if (!check_case(c, "calibrant_file"))
        return;
    char path[4200];
    snprintf(path, sizeof(path), "%s/own.D", check_tmp(c));
    write_text(
        path,
        "# own\n\n 2.5 # (1 1 0) 12\r\n5\n  1.25\t# (-2147483648 1 1)\n5.0 # (1 0 0) 6 100.0");
    airy_calibrant found = {0};
    if (CHECK_OK(c, airy_calibrant_read(&found, path))) {
        CHECK(c, found.count == 3 && strcmp(found.name, "own.D") == 0);
        CHECK(c, found.rings[0].spacing == 5e-10 && found.rings[2].spacing == 1.25e-10);
        CHECK(c, found.rings[1].hkl[1] == 1 && found.rings[1].multiplicity == 12);
        CHECK(c, found.rings[2].hkl[0] == 0 && found.rings[2].hkl[1] == 0); /* out of range */
    }
    airy_calibrant_free(&found);
    write_text(path, "\xef\xbb\xbf"
                     "4\r\n"); /* as Windows writes it */
    if (CHECK_OK(c, airy_calibrant_read(&found, path)))
        CHECK(c, found.count == 1 && found.rings[0].spacing == 4e-10);
    airy_calibrant_free(&found);
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "has no spacing"},
        {"# only\n", "has no spacing"},
        {"4\nx\n", "line 2"},
        {"4 5\n", "line 1"},
        {"-1\n", "line 1"},
        {"nan\n", "line 1"},
        {"1e30\n", "line 1"},
        {"0\n", "line 1"},
        {"4\n\xef\xbb\xbf"
         "5\n",
         "line 2"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        write_text(path, bad[i].text);
        CHECK_FAILS(c, airy_calibrant_read(&found, path), AIRY_ERR_FORMAT, bad[i].part);
    }
    CHECK_FAILS(c, airy_calibrant_read(&found, "/nowhere/x.D"), AIRY_ERR_NOT_FOUND, "x.D");
    CHECK_FAILS(c, airy_calibrant_read(NULL, path), AIRY_ERR_PARAM, "calibrant is NULL");
    CHECK_FAILS(c, airy_calibrant_read(&found, NULL), AIRY_ERR_PARAM, "path is NULL");
    CHECK_FAILS(c, airy_calibrant_find(NULL, "Si", 1e-10), AIRY_ERR_PARAM, "calibrant is NULL");
    CHECK_FAILS(c, airy_calibrant_find(&found, NULL, 1e-10), AIRY_ERR_PARAM, "name is NULL");
    CHECK_FAILS(c, airy_calibrant_find(&found, "LaB7", 1e-10), AIRY_ERR_NOT_FOUND,
                "did you mean 'LaB6'?");
    CHECK_FAILS(c, airy_calibrant_find(&found, "Si", 0), AIRY_ERR_PARAM, "expected > 0");
    CHECK_FAILS(c, airy_calibrant_find(&found, "Si", 1e-9), AIRY_ERR_PARAM, "has no spacing");
    airy_calibrant_info info;
    CHECK_FAILS(c, airy_calibrant_get(NULL, 0), AIRY_ERR_PARAM, "info is NULL");
    CHECK_FAILS(c, airy_calibrant_get(&info, airy_calibrant_count()), AIRY_ERR_PARAM, "number");
}

/* A simulated recording, and what a calibration begins with. */
struct scene {
    airy_geometry truth, guess;
    airy_calibrant calibrant;
    float *image;
    uint8_t *mask;
};

struct spoil {
    double height, background, width_px;
    bool holes, spots, arcs, flat; /* flat: no noise */
};

static airy_geometry make_geometry(size_t side, double dist)
{
    airy_geometry g = {.dist = dist, .wavelength = 0.5e-10};
    strcpy(g.detector.name, "Detector");
    g.detector.height = side + 20;
    g.detector.width = side;
    g.detector.pixel1 = g.detector.pixel2 = pixel;
    g.detector.orientation = 3;
    g.poni1 = g.poni2 = 0.5 * (double)side * pixel;
    return g;
}

static void make_image(struct check *c, struct scene *s, const struct spoil *p, size_t rings)
{
    const airy_detector *d = &s->truth.detector;
    const size_t count = d->height * d->width;
    double *mean = check_alloc(c, count * sizeof(double)),
           *spacing = check_alloc(c, rings * sizeof(double));
    s->image = check_alloc(c, count * sizeof(float));
    s->mask = check_alloc(c, count);
    cubic(spacing, 4.156826e-10, rings);
    ref_ring_image(mean, &s->truth,
                   &(struct ref_rings){.spacing = spacing,
                                       .count = rings,
                                       .sigma = p->width_px / 2.3548 * pixel / s->truth.dist,
                                       .height = p->height,
                                       .background = p->background,
                                       .parts = 2});
    for (size_t i = 0; i < count; i++) {
        const size_t y = i / d->width, x = i % d->width;
        double v = mean[i];
        if (p->arcs) /* a texture: rings brighter and darker along the turn */
            v = p->background +
                (v - p->background) *
                    (0.15 + fabs(sin(3 * ref_chi(&s->truth, (double)y, (double)x))));
        v = p->flat ? v : fmax(floor(v + sqrt(v) * check_normal(c) + 0.5), 0);
        s->mask[i] = p->holes && (y % 133 < 14 || x % 170 < 8);
        s->image[i] = s->mask[i] ? -1e9f : (float)v;
        if (p->spots && check_uniform(c) < 0.003)
            s->image[i] = (float)(v + 50 * p->height * check_uniform(c));
    }
    s->calibrant.rings = check_alloc(c, rings * sizeof(airy_calibrant_ring));
    s->calibrant.count = rings;
    strcpy(s->calibrant.name, "cubic");
    for (size_t k = 0; k < rings; k++)
        s->calibrant.rings[k].spacing = spacing[k];
}

/*
 * Within 6 of the standard errors that are given along, and 0.01 pixel and 2e-5 for what they do not count
 * (the rings' curve within sectors and pixels). Where there is light enough also what was promised: 0.1
 * pixel and 1e-4 of the distance.
 */
static void compare(struct check *c, const struct scene *s, const airy_calibration *found,
                    bool promised)
{
    double beam[2], got[2];
    const airy_geometry *g = &found->geometry;
    ref_beam(beam, &s->truth);
    ref_beam(got, g);
    for (int i = 0; i < 2; i++) {
        const double off = fabs(got[i] - beam[i]);
        if (!(off <= 6 * found->beam_error[i] + 0.01) || (promised && !(off <= 0.1)) ||
            fabs(got[i] - found->beam[i]) > 1e-6)
            check_failed(c, __FILE__, __LINE__, "beam %d: %.4f (said %.4f +- %.4f), is %.4f", i,
                         got[i], found->beam[i], found->beam_error[i], beam[i]);
    }
    const double off = fabs(g->dist / s->truth.dist - 1);
    if (!(off <= 6 * found->error[AIRY_CALIBRATE_DIST] / s->truth.dist + 2e-5) ||
        (promised && !(off <= 1e-4)))
        check_failed(c, __FILE__, __LINE__, "distance: %.8g +- %.2g m, is %.8g", g->dist,
                     found->error[AIRY_CALIBRATE_DIST], s->truth.dist);
    if (!(fabs(g->rot1 - s->truth.rot1) <= 6 * found->error[AIRY_CALIBRATE_ROT1] + 1e-4) ||
        !(fabs(g->rot2 - s->truth.rot2) <= 6 * found->error[AIRY_CALIBRATE_ROT2] + 1e-4))
        check_failed(c, __FILE__, __LINE__, "tilts: %.6f +- %.6f, %.6f, are %.6f, %.6f", g->rot1,
                     found->error[AIRY_CALIBRATE_ROT1], g->rot2, s->truth.rot1, s->truth.rot2);
    /* The errors themselves are small, or the comparison says little. */
    CHECK(c, found->error[AIRY_CALIBRATE_DIST] < (promised ? 1e-3 : 5e-3) * s->truth.dist &&
                 found->beam_error[0] < (promised ? 0.05 : 0.5));
}

static airy_calibrate_params params_of(const struct scene *s)
{
    return (airy_calibrate_params){.image = s->image,
                                   .mask = s->mask,
                                   .guess = s->guess,
                                   .calibrant = &s->calibrant,
                                   .threads = 2};
}

static double spread(struct check *c, double most)
{
    return most * (2 * check_uniform(c) - 1);
}

/* A geometry near the middle, tilted by up to three degrees, and a guess that is far off. */
static struct scene random_scene(struct check *c, int number)
{
    struct scene s = {.truth = make_geometry(SIDE, 0.06 + 0.08 * check_uniform(c))};
    s.truth.detector.orientation = 1 + number % 4;
    s.truth.rot1 = spread(c, 0.05);
    s.truth.rot2 = spread(c, 0.05);
    s.truth.rot3 = number % 3 ? 0 : spread(c, 3);
    s.truth.poni1 += spread(c, 60 * pixel);
    s.truth.poni2 += spread(c, 60 * pixel);
    /* The guess has no tilts: its beam is 20 pixels from where the true one is. */
    double beam[2];
    ref_beam(beam, &s.truth);
    s.guess = s.truth;
    s.guess.dist *= 1 + (number % 2 ? 0.05 : -0.05);
    s.guess.rot1 = s.guess.rot2 = 0;
    const double turn = spread(c, 3.14159);
    beam[0] += 20 * sin(turn);
    beam[1] += 20 * cos(turn);
    const int o = s.truth.detector.orientation;
    s.guess.poni1 = pixel * (o <= 2 ? (double)s.truth.detector.height - beam[0] : beam[0]);
    s.guess.poni2 = pixel * (o == 1 || o == 4 ? (double)s.truth.detector.width - beam[1] : beam[1]);
    return s;
}

static void check_recovery(struct check *c)
{
    static const struct {
        const char *name;
        struct spoil spoil;
        int count;
    } kinds[] = {
        {"plain", {.height = 100, .background = 10, .width_px = 3}, 6},
        {"faint", {.height = 8, .background = 4, .width_px = 3}, 3},
        {"holes", {.height = 100, .background = 30, .width_px = 4, .holes = true}, 4},
        {"spots", {.height = 60, .background = 10, .width_px = 2.5, .spots = true}, 4},
        {"texture", {.height = 80, .background = 10, .width_px = 3, .arcs = true}, 3},
        {"broad", {.height = 100, .background = 50, .width_px = 9}, 2},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        for (int i = 0; i < kinds[k].count; i++) {
            if (!check_case(c, "calibrate_%s_%d", kinds[k].name, i))
                continue;
            struct scene s = random_scene(c, i);
            make_image(c, &s, &kinds[k].spoil, 24);
            const airy_calibrate_params params = params_of(&s);
            airy_calibration found = {0};
            if (CHECK_OK(c, airy_calibrate(&found, &params)))
                compare(c, &s, &found, k == 0);
            airy_calibration_free(&found);
        }
}

/* What is held stays, what is freed is found; threads change nothing. */
static void check_held(struct check *c, const struct scene *s)
{
    airy_calibrate_params params = params_of(s);
    airy_calibration a = {0}, b = {0};
    params.threads = 1;
    CHECK_OK(c, airy_calibrate(&a, &params));
    params.threads = 4;
    CHECK_OK(c, airy_calibrate(&b, &params));
    CHECK(c, memcmp(&a.geometry.dist, &b.geometry.dist, 7 * sizeof(double)) == 0 &&
                 a.used == b.used && a.rms_px == b.rms_px);
    CHECK(c, a.geometry.rot3 == s->guess.rot3 && a.geometry.wavelength == s->guess.wavelength);
    CHECK(c, a.refined[AIRY_CALIBRATE_DIST] && !a.refined[AIRY_CALIBRATE_WAVELENGTH] &&
                 a.error[AIRY_CALIBRATE_WAVELENGTH] == 0 && a.doubts == 0);
    /* Points lie on their rings, by the reference's geometry. */
    double sum = 0;
    for (size_t i = 0; i < a.point_count; i++) {
        const airy_calibrate_point *p = &a.points[i];
        const double want = 2 *
                            asin(a.geometry.wavelength / (2 * s->calibrant.rings[p->ring].spacing));
        const double off = (ref_radial(&a.geometry, AIRY_UNIT_TTH_RAD, p->y, p->x) - want) *
                           a.geometry.dist / pixel;
        sum += p->used ? p->residual * p->residual : 0;
        /* off is the residual but for the slope of the plane, 1 / cos^2 of up to 40 degrees */
        CHECK(c, fabs(off) <= fabs(p->residual) + 1e-9 && fabs(off) >= 0.4 * fabs(p->residual));
    }
    CHECK(c, fabs(sqrt(sum / (double)a.used) - a.rms_px) < 1e-12);
    airy_calibration_free(&a);
    airy_calibration_free(&b);
    CHECK(c, a.points == NULL && a.rings == NULL);

    params.guess = s->truth;
    params.no_search = true;
    params.refine = 1u << AIRY_CALIBRATE_PONI1 | 1u << AIRY_CALIBRATE_PONI2;
    params.guess.poni1 += 2 * pixel;
    if (CHECK_OK(c, airy_calibrate(&a, &params)))
        CHECK(c, a.geometry.dist == s->truth.dist && a.geometry.rot1 == s->truth.rot1 &&
                     fabs(a.geometry.poni1 - s->truth.poni1) < 0.02 * pixel);
    airy_calibration_free(&a);
    params.no_search = false;
    if (CHECK_OK(c, airy_calibrate(&a, &params)))
        CHECK(c, a.geometry.dist == s->truth.dist && a.geometry.rot2 == s->truth.rot2 &&
                     fabs(a.geometry.poni2 - s->truth.poni2) < 0.02 * pixel);
    airy_calibration_free(&a);
    params.no_search = true;
    params.guess = s->truth;
    params.guess.wavelength *= 1.002;
    params.refine = (1u << AIRY_CALIBRATE_COUNT) - 1;
    if (CHECK_OK(c, airy_calibrate(&a, &params)))
        CHECK(c, fabs(a.geometry.wavelength / s->truth.wavelength - 1) <
                     6 * a.error[AIRY_CALIBRATE_WAVELENGTH] / s->truth.wavelength + 5e-5);
    airy_calibration_free(&a);
    params = params_of(s);
    params.rings = 4;
    if (CHECK_OK(c, airy_calibrate(&a, &params)))
        CHECK(c, a.ring_count <= 4);
    airy_calibration_free(&a);
}

static void check_fixed(struct check *c)
{
    if (!check_case(c, "calibrate_values"))
        return;
    struct scene s = random_scene(c, 2);
    make_image(c, &s, &(struct spoil){.height = 100, .background = 10, .width_px = 3}, 24);
    check_held(c, &s);
}

/* A detector that looks past the beam, tilted by 35 degrees: arcs alone. */
static void check_tilted(struct check *c)
{
    if (!check_case(c, "calibrate_tilted"))
        return;
    struct scene s = {.truth = make_geometry(SIDE, 0.1)};
    s.truth.rot1 = 0.01;
    s.truth.rot2 = 0.7;
    s.truth.wavelength = 0.7e-10;
    s.guess = s.truth;
    s.guess.dist *= 1.03;
    s.guess.rot2 += 0.01;
    s.guess.poni1 += 10 * pixel;
    s.guess.poni2 -= 10 * pixel;
    make_image(c, &s, &(struct spoil){.height = 100, .background = 10, .width_px = 3}, 60);
    const airy_calibrate_params params = params_of(&s);
    airy_calibration found = {0};
    if (CHECK_OK(c, airy_calibrate(&found, &params))) {
        /* The beam is extrapolated here; what counts is where the rings are: 2theta in the corners. */
        const double end[2] = {(double)s.truth.detector.height, (double)s.truth.detector.width};
        for (int i = 0; i < 4; i++) {
            const double y = i & 1 ? end[0] : 0, x = i & 2 ? end[1] : 0;
            CHECK(c, fabs(ref_radial(&found.geometry, AIRY_UNIT_TTH_RAD, y, x) -
                          ref_radial(&s.truth, AIRY_UNIT_TTH_RAD, y, x)) < 0.1 * pixel / 0.1);
        }
        CHECK(c, found.doubts & AIRY_CALIBRATE_ARC);
    }
    airy_calibration_free(&found);
}

static void check_ring_place(struct check *c)
{
    if (!check_case(c, "calibrate_ring_place"))
        return;
    for (int i = 0; i < 8; i++) {
        const struct scene s = random_scene(c, i);
        double yx[100][2];
        const double tth = 0.1 + 0.3 * check_uniform(c);
        if (!CHECK_OK(c, airy_geometry_ring(&s.truth, tth, &yx[0][0], 100)))
            return;
        for (int k = 0; k < 100; k++) {
            const double chi = 2 * 3.14159265358979323846 * k / 100 - 3.14159265358979323846;
            if (!(yx[k][0] >= 0) || !(yx[k][1] >= 0)) /* the reference counts pixels from 0 on */
                continue;
            /* Rounding of coordinates of some hundred pixels. */
            CHECK(c,
                  fabs(ref_radial(&s.truth, AIRY_UNIT_TTH_RAD, yx[k][0], yx[k][1]) - tth) < 1e-12);
            CHECK(c, fabs(sin(ref_chi(&s.truth, yx[k][0], yx[k][1]) - chi)) < 1e-11);
        }
        CHECK_OK(c, airy_geometry_ring(&s.truth, 3, &yx[0][0], 100));
        CHECK(c, isnan(yx[0][0]) && isnan(yx[99][1]));
    }
    double yx[2];
    const airy_geometry g = make_geometry(SIDE, 0.1);
    CHECK_FAILS(c, airy_geometry_ring(&g, 0.1, NULL, 1), AIRY_ERR_PARAM, "yx is NULL");
    CHECK_FAILS(c, airy_geometry_ring(&g, 4, yx, 1), AIRY_ERR_PARAM, "2theta");
    CHECK_FAILS(c, airy_geometry_ring(NULL, 1, yx, 1), AIRY_ERR_PARAM, "NULL");
}

/* Too little in the image, or not what was said to be there. */
static void check_poor(struct check *c)
{
    if (!check_case(c, "calibrate_poor"))
        return;
    airy_calibration found = {0};
    struct scene s = {.truth = make_geometry(SIDE, 0.1)};
    s.guess = s.truth;
    make_image(c, &s, &(struct spoil){.height = 100, .background = 10, .width_px = 3}, 24);
    airy_calibrate_params params = params_of(&s);
    params.rings = 1;
    if (CHECK_OK(c, airy_calibrate(&found, &params)))
        CHECK(c, found.doubts & AIRY_CALIBRATE_ONE_RING);
    airy_calibration_free(&found);
    params = params_of(&s);
    params.max_residual_px = 1e-3;
    CHECK_FAILS(c, airy_calibrate(&found, &params), AIRY_ERR_NOT_FOUND, "off their rings");

    airy_calibrant other = {0};
    static const char *const names[] = {"CeO2", "Al2O3", "Au", "AgBh"};
    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(c, airy_calibrant_find(&other, names[i], 0.25e-10));
        params = params_of(&s);
        params.calibrant = &other;
        /* Gold's rings are some of a primitive cell's that is 2 percent larger. */
        if (airy_calibrate(&found, &params) == AIRY_OK)
            CHECK(c, found.doubts & (AIRY_CALIBRATE_OTHERS | AIRY_CALIBRATE_UNEVEN));
        airy_calibration_free(&found);
        airy_calibrant_free(&other);
    }
    /* Noise alone; then nothing at all. */
    make_image(c, &s, &(struct spoil){.height = 0, .background = 10, .width_px = 3}, 24);
    params = params_of(&s);
    CHECK_FAILS(c, airy_calibrate(&found, &params), AIRY_ERR_NOT_FOUND, "");
    make_image(c, &s, &(struct spoil){.background = 10, .width_px = 3, .flat = true}, 24);
    params = params_of(&s);
    CHECK_FAILS(c, airy_calibrate(&found, &params), AIRY_ERR_NOT_FOUND, "not found");
    /* Far away distance and wavelength are one. */
    struct scene far = {.truth = make_geometry(SIDE, 4)};
    far.truth.wavelength = 0.01e-10;
    far.guess = far.truth;
    make_image(c, &far, &(struct spoil){.height = 100, .background = 10, .width_px = 3}, 24);
    params = params_of(&far);
    params.refine = 1u << AIRY_CALIBRATE_DIST | 1u << AIRY_CALIBRATE_WAVELENGTH;
    const airy_status status = airy_calibrate(&found, &params);
    CHECK(c, status == AIRY_ERR_NOT_FOUND ||
                 (status == AIRY_OK && found.doubts & AIRY_CALIBRATE_SCALE));
    airy_calibration_free(&found);
}

static void check_params(struct check *c)
{
    if (!check_case(c, "calibrate_params"))
        return;
    airy_calibration found = {0};
    struct scene s = {.truth = make_geometry(150, 0.1)};
    s.guess = s.truth;
    make_image(c, &s, &(struct spoil){.height = 100, .background = 10, .width_px = 3}, 24);
#define REFUSES(status, part, ...)                                                                 \
    do {                                                                                           \
        airy_calibrate_params p = params_of(&s);                                                   \
        __VA_ARGS__;                                                                               \
        CHECK_FAILS(c, airy_calibrate(&found, &p), status, part);                                  \
    } while (0)
    CHECK_FAILS(c, airy_calibrate(&found, NULL), AIRY_ERR_PARAM, "params is NULL");
    REFUSES(AIRY_ERR_PARAM, "image is NULL", p.image = NULL);
    REFUSES(AIRY_ERR_PARAM, "no calibrant", p.calibrant = NULL);
    REFUSES(AIRY_ERR_PARAM, "no calibrant", const airy_calibrant none = {0}; p.calibrant = &none);
    REFUSES(AIRY_ERR_PARAM, "no shape", p.guess.detector.height = p.guess.detector.width = 0);
    REFUSES(AIRY_ERR_PARAM, "needs a wavelength", p.guess.wavelength = 0);
    REFUSES(AIRY_ERR_PARAM, "distance", p.guess.dist = -1);
    REFUSES(AIRY_ERR_UNSUPPORTED, "parallax", p.guess.parallax = true);
    const float corners[12] = {0};
    REFUSES(AIRY_ERR_UNSUPPORTED, "no plane", p.guess.detector.corners = corners);
    REFUSES(AIRY_ERR_PARAM, "refine", p.refine = 1u << AIRY_CALIBRATE_COUNT);
    REFUSES(AIRY_ERR_PARAM, "search_px", p.search_px = -1);
    REFUSES(AIRY_ERR_PARAM, "tries", p.search_px = 9000);
    REFUSES(AIRY_ERR_PARAM, "search_dist", p.search_dist = 0.6);
    REFUSES(AIRY_ERR_PARAM, "sectors", p.sectors = 7);
    REFUSES(AIRY_ERR_PARAM, "max_residual_px", p.max_residual_px = (double)NAN);
    REFUSES(AIRY_ERR_PARAM, "falls on the detector", p.guess.wavelength = 8e-10);
    REFUSES(AIRY_ERR_PARAM, "masked", memset(s.mask, 1, 170 * 150));
    memset(s.mask, 0, 170 * 150);
    airy_calibrant_ring rising[2] = {{.spacing = 1e-10}, {.spacing = 2e-10}};
    const airy_calibrant wrong = {.count = 2, .rings = rising};
    REFUSES(AIRY_ERR_PARAM, "falling", p.calibrant = &wrong);
    /* Rings a pixel apart. */
    airy_calibrant_ring close[200];
    for (int k = 0; k < 200; k++)
        close[k] = (airy_calibrant_ring){.spacing = 0.5e-10 / (2 * sin(0.5 * (0.01 + 0.001 * k)))};
    const airy_calibrant dense = {.count = 200, .rings = close, .name = "dense"};
    REFUSES(AIRY_ERR_PARAM, "cannot be distinguished", p.calibrant = &dense);
#undef REFUSES
    CHECK_FAILS(c, airy_calibrate(NULL, NULL), AIRY_ERR_PARAM, "out is NULL");
    airy_calibration_free(NULL);
    airy_calibrant_free(NULL);
    CHECK(c, strcmp(airy_calibrate_value_name(AIRY_CALIBRATE_ROT2), "rot2") == 0);
    CHECK(c, strcmp(airy_calibrate_value_name(AIRY_CALIBRATE_COUNT), "?") == 0);
}

/*
 * A real frame: CeO2 on a Pilatus 1M, with the geometry that another program refined. It read the
 * image upside down, which orientation 2 says here.
 */
static void check_real(struct check *c)
{
    if (!check_case(c, "calibrate_real_ceo2_pilatus1m"))
        return;
    const char *path = check_realdata(c, "diffraction/ceo2_pilatus1m.h5");
    airy_stack *stack = NULL;
    if (!path || !CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return;
    const airy_geometry truth = {.dist = 0.208651380603,
                                 .poni1 = 0.0872948482846,
                                 .poni2 = 0.0799601126306,
                                 .rot1 = -0.0184422457059,
                                 .rot2 = 0.00413760084465,
                                 .wavelength = 4.066e-11};
    struct scene s = {.truth = truth};
    CHECK_OK(c, airy_detector_find(&s.truth.detector, "Pilatus 1M"));
    s.truth.detector.orientation = 2;
    const size_t count = s.truth.detector.height * s.truth.detector.width;
    int32_t *pixels = check_alloc(c, count * sizeof(*pixels));
    s.image = check_alloc(c, count * sizeof(*s.image));
    s.mask = check_alloc(c, count);
    CHECK_OK(c, airy_stack_read(stack, 0, pixels, count * sizeof(*pixels)));
    for (size_t i = 0; i < count; i++) {
        s.image[i] = (float)pixels[i];
        s.mask[i] = pixels[i] < 0;
    }
    CHECK_OK(c, airy_calibrant_find(&s.calibrant, "CeO2", s.truth.wavelength / 2));
    s.guess = s.truth;
    s.guess.dist *= 1.05;
    s.guess.poni1 += 20 * pixel;
    s.guess.poni2 -= 15 * pixel;
    s.guess.rot1 = s.guess.rot2 = 0;
    const airy_calibrate_params params = params_of(&s);
    airy_calibration found = {0};
    if (CHECK_OK(c, airy_calibrate(&found, &params))) {
        double beam[2];
        ref_beam(beam, &s.truth);
        /* Two programs with other points and a cell that differs by 6e-5: 0.3 pixel, 2e-4, 0.5 mrad. */
        CHECK(c, fabs(found.beam[0] - beam[0]) < 0.3 && fabs(found.beam[1] - beam[1]) < 0.3);
        CHECK(c, fabs(found.geometry.dist / s.truth.dist - 1) < 2e-4);
        CHECK(c, fabs(found.geometry.rot1 - s.truth.rot1) < 5e-4 &&
                     fabs(found.geometry.rot2 - s.truth.rot2) < 5e-4);
        CHECK(c, found.rms_px < 0.2 && found.used > 1200 && found.doubts == 0);
    }
    airy_calibration_free(&found);
    airy_calibrant_free(&s.calibrant);
    airy_stack_destroy(&stack);
}

void check_calibrate(struct check *c)
{
    if (!c->is_cpu) /* it has no device */
        return;
    check_table(c);
    check_spacings(c);
    check_file(c);
    check_recovery(c);
    check_fixed(c);
    check_tilted(c);
    check_ring_place(c);
    check_poor(c);
    check_params(c);
    check_real(c);
}
