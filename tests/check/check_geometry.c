/* Detectors, PONI files, positions of pixels. */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_integrate.h"

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* One row of the reference table against the registry. Some rows hold the shape of the unbinned
 * image beside the pixel size of the image binned by two; the registry's shape fits its pixel
 * size. */
static void check_row(struct check *c, const json_t *row, size_t index)
{
    const char *cls = json_string_value(json_object_get(row, "cls"));
    airy_detector d;
    if (!CHECK_OK(c, airy_detector_get(&d, index)))
        return;
    const json_t *shape = json_object_get(row, "max_shape");
    const size_t h = (size_t)json_integer_value(json_array_get(shape, 0)),
                 w = (size_t)json_integer_value(json_array_get(shape, 1));
    if (strcmp(d.name, json_string_value(json_object_get(row, "name"))) != 0 ||
        !((d.height == h && d.width == w) || (2 * d.height == h && 2 * d.width == w)))
        check_failed(c, __FILE__, __LINE__, "%s: name '%s', %zu x %zu", cls, d.name, d.height,
                     d.width);
    const double p1 = json_number_value(json_object_get(row, "pixel1")),
                 p2 = json_number_value(json_object_get(row, "pixel2"));
    if (d.pixel1 != p1 || d.pixel2 != p2)
        check_failed(c, __FILE__, __LINE__, "%s: pixels %g x %g", cls, d.pixel1, d.pixel2);
    if (d.dectris_dummy != (json_integer_value(json_object_get(row, "dummy")) == -2))
        check_failed(c, __FILE__, __LINE__, "%s: dectris_dummy", cls);
    const bool flat = json_is_true(json_object_get(row, "is_flat"));
    const json_t *crc = json_object_get(row, "mask_crc32");
    if (flat && d.height) {
        uint8_t *mask = malloc(d.height * d.width);
        const bool made = mask && CHECK_OK(c, airy_detector_mask(&d, mask));
        const uint32_t want = (uint32_t)json_integer_value(crc);
        if (made && crc && crc32_of(mask, d.height * d.width) != want)
            check_failed(c, __FILE__, __LINE__, "%s: the mask's checksum is not %u", cls, want);
        if (made && !crc && memchr(mask, 1, d.height * d.width))
            check_failed(c, __FILE__, __LINE__, "%s: has a mask", cls);
        free(mask);
    }
    /* All its names lead to it. */
    const bool plane = flat && (json_is_true(json_object_get(row, "uniform_pixel")) ||
                                airy_detector_needs_arrays(&d));
    const airy_geometry geometry = {.detector = d, .dist = 1};
    const airy_status usable = airy_geometry_check(&geometry);
    if (plane ? usable == AIRY_ERR_UNSUPPORTED : usable != AIRY_ERR_UNSUPPORTED)
        check_failed(c, __FILE__, __LINE__, "%s: a geometry with it is %s", cls,
                     airy_status_name(usable));
    size_t k;
    json_t *name;
    json_array_foreach(json_object_get(row, "registry_names"), k, name)
    {
        airy_detector found = {0};
        const airy_status status = airy_detector_find(&found, json_string_value(name));
        if (status != (plane ? AIRY_OK : AIRY_ERR_UNSUPPORTED) ||
            (plane && strcmp(found.name, d.name) != 0))
            check_failed(c, __FILE__, __LINE__, "'%s' finds '%s', %s", json_string_value(name),
                         found.name, airy_status_name(status));
    }
}

static void check_registry(struct check *c)
{
    if (!check_case(c, "detector_registry"))
        return;
    const char *path = check_golden(c, "diffraction/detectors.json");
    json_t *table = path ? json_load_file(path, 0, NULL) : NULL;
    if (!path || !CHECK(c, table != NULL))
        return;
    const json_t *rows = json_object_get(table, "detectors");
    if (CHECK(c, json_array_size(rows) == airy_detector_count()))
        for (size_t i = 0; i < json_array_size(rows); i++)
            check_row(c, json_array_get(rows, i), i);
    json_decref(table);
}

static void check_find(struct check *c)
{
    if (!check_case(c, "detector_find"))
        return;
    airy_detector d;
    static const char *const names[] = {"Eiger 4M", "eiger4m", "EIGER_4M", " e-i_g e r4M"};
    for (size_t k = 0; k < 4; k++)
        if (CHECK_OK(c, airy_detector_find(&d, names[k])))
            CHECK(c, strcmp(d.name, "Eiger 4M") == 0 && d.height == 2167 && d.width == 2070 &&
                         d.pixel1 == 75e-6);
    if (CHECK_OK(c, airy_detector_find_shape(&d, 2162, 2068)))
        CHECK(c, strcmp(d.name, "Eiger2 4M") == 0);
    CHECK_FAILS(c, airy_detector_find(&d, "eigr 4m"), AIRY_ERR_NOT_FOUND, "'Eiger 4M'");
    CHECK_FAILS(c, airy_detector_find(&d, ""), AIRY_ERR_NOT_FOUND, "'' is unknown");
    CHECK_FAILS(c, airy_detector_find(&d, "Pixirad-1"), AIRY_ERR_UNSUPPORTED, "hexagonal");
    CHECK_FAILS(c, airy_detector_find(&d, "Aarhus"), AIRY_ERR_UNSUPPORTED, "not flat");
    CHECK_FAILS(c, airy_detector_find(&d, "Jungfrau 16M cor"), AIRY_ERR_UNSUPPORTED,
                "off the grid");
    CHECK_FAILS(c, airy_detector_find_shape(&d, 3, 5), AIRY_ERR_NOT_FOUND, "3 x 5");
    CHECK_FAILS(c, airy_detector_find_shape(&d, 0, 0), AIRY_ERR_NOT_FOUND, "0 x 0");
    CHECK_FAILS(c, airy_detector_get(&d, airy_detector_count()), AIRY_ERR_PARAM, "index");
    uint8_t mask[4] = {9, 9, 9, 9};
    CHECK_OK(c, airy_detector_find(&d, "Detector"));
    CHECK_FAILS(c, airy_detector_mask(&d, mask), AIRY_ERR_SHAPE, "no shape");
    d.height = d.width = 2;
    CHECK_OK(c, airy_detector_mask(&d, mask));
    CHECK(c, memcmp(mask, "\0\0\0\0", 4) == 0);
    CHECK_OK(c, airy_detector_find(&d, "Eiger 4M"));
    d.height = d.width = 2;
    CHECK_FAILS(c, airy_detector_mask(&d, mask), AIRY_ERR_SHAPE, "2167 x 2070");
}

static void check_units(struct check *c)
{
    if (!check_case(c, "unit_names"))
        return;
    airy_unit unit;
    for (int u = 0; u < AIRY_UNIT_COUNT; u++) {
        CHECK_OK(c, airy_unit_parse(&unit, airy_unit_name((airy_unit)u)));
        CHECK(c, (int)unit == u && strlen(airy_unit_label(unit)) > 1);
    }
    CHECK(c, airy_unit_needs_wavelength(AIRY_UNIT_Q_A) &&
                 !airy_unit_needs_wavelength(AIRY_UNIT_TTH_DEG));
    CHECK(c, strcmp(airy_unit_name(AIRY_UNIT_COUNT), "?") == 0 &&
                 strcmp(airy_unit_label(AIRY_UNIT_COUNT), "?") == 0);
    CHECK_FAILS(c, airy_unit_parse(&unit, "x"), AIRY_ERR_PARAM, "2th_deg");
    /* pyFAI 2026.9's azimuthal units, each by its name. */
    static const char *const azimuthal[] = {
        "chi_rad",    "chi_deg",    "chigi_rad", "chigi_deg",  "qx_nm^-1", "qy_nm^-1", "qxgi_nm^-1",
        "qygi_nm^-1", "qzgi_nm^-1", "qip_nm^-1", "qoop_nm^-1", "qip_A^-1", "qoop_A^-1"};
    for (size_t i = 0; i < sizeof(azimuthal) / sizeof(azimuthal[0]); i++)
        if (CHECK_OK(c, airy_unit_parse_azimuthal(&unit, azimuthal[i])))
            CHECK(c, airy_unit_is_azimuthal(unit) &&
                         strcmp(airy_unit_name(unit), azimuthal[i]) == 0 &&
                         (airy_unit_turn(unit) > 0) == (azimuthal[i][0] == 'c'));
    CHECK_FAILS(c, airy_unit_parse_azimuthal(&unit, "r_mm"), AIRY_ERR_PARAM,
                "'r_mm' is no azimuthal unit; there are qx_nm^-1, chi_deg");
    CHECK_FAILS(c, airy_unit_parse_azimuthal(&unit, "d_A"), AIRY_ERR_PARAM, "there are");
    CHECK_FAILS(c, airy_unit_parse_azimuthal(NULL, "chi_deg"), AIRY_ERR_PARAM, "unit is NULL");
    CHECK_FAILS(c, airy_unit_parse_azimuthal(&unit, NULL), AIRY_ERR_PARAM, "name is NULL");
}

static airy_geometry tilted(int orientation)
{
    return (airy_geometry){.detector = {.name = "Detector",
                                        .height = 23,
                                        .width = 31,
                                        .pixel1 = 1.1e-3,
                                        .pixel2 = 0.7e-3,
                                        .orientation = orientation},
                           .dist = 0.05,
                           .poni1 = 0.011,
                           .poni2 = 0.013,
                           .rot1 = 0.13,
                           .rot2 = -0.21,
                           .rot3 = 0.6,
                           .wavelength = 1.2e-10};
}

/* What a unit says of the sample is what its values do when one part of it changes. */
static void check_sample(struct check *c)
{
    if (!check_case(c, "unit_sample"))
        return;
    airy_geometry base = tilted(3);
    base.incidence = 0.1;
    base.tilt = 0.2;
    base.sample_orientation = 2;
    const size_t n = base.detector.height * base.detector.width;
    double *as_is = check_alloc(c, n * sizeof *as_is), *got = check_alloc(c, n * sizeof *got);
    for (int u = 0; u < AIRY_UNIT_COUNT; u++) {
        const airy_unit unit = (airy_unit)u;
        CHECK_OK(c, airy_geometry_centers(&base, unit, as_is));
        unsigned differs = 0;
        for (unsigned flag = AIRY_SAMPLE_INCIDENCE; flag <= AIRY_SAMPLE_ORIENTATION; flag *= 2) {
            airy_geometry other = base;
            other.incidence += flag == AIRY_SAMPLE_INCIDENCE ? 0.3 : 0;
            other.tilt += flag == AIRY_SAMPLE_TILT ? 0.3 : 0;
            other.sample_orientation += flag == AIRY_SAMPLE_ORIENTATION ? 3 : 0;
            CHECK_OK(c, airy_geometry_centers(&other, unit, got));
            differs |= memcmp(got, as_is, n * sizeof *got) != 0 ? flag : 0;
        }
        if (airy_unit_sample(unit) != differs)
            check_failed(c, __FILE__, __LINE__, "%s: depends on %x of the sample, says %x",
                         airy_unit_name(unit), differs, airy_unit_sample(unit));
    }
}

/* A dozen roundings on both sides: 1e-14; q near the beam and squares lose a digit. */
static void check_positions(struct check *c, int orientation, double dist)
{
    if (!check_case(c, "positions_o%d_%g", orientation, dist))
        return;
    airy_geometry g = tilted(orientation);
    g.dist = dist;
    const size_t w = g.detector.width, n = g.detector.height * w;
    double *got = check_alloc(c, n * sizeof *got), *want = check_alloc(c, n * sizeof *want);
    for (int u = 0; u < AIRY_UNIT_COUNT; u++) {
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            want[i] = ref_radial(&g, (airy_unit)u, (double)(i / w) + 0.5, (double)(i % w) + 0.5);
            most = fmax(most, fabs(want[i]));
        }
        CHECK_OK(c, airy_geometry_centers(&g, (airy_unit)u, got));
        check_values(c, airy_unit_name((airy_unit)u), AIRY_DTYPE_F64, got, want, n,
                     &(struct check_tol){.abs = 1e-14 * most, .rel = 1e-13});
    }
    for (size_t i = 0; i < n; i++)
        want[i] = ref_chi(&g, (double)(i / w) + 0.5, (double)(i % w) + 0.5);
    CHECK_OK(c, airy_geometry_chi(&g, got));
    check_values(c, "chi", AIRY_DTYPE_F64, got, want, n, &(struct check_tol){.abs = 1e-13});
    for (size_t i = 0; i < n; i++)
        want[i] = ref_solid_angle(&g, (double)(i / w) + 0.5, (double)(i % w) + 0.5);
    CHECK_OK(c, airy_geometry_solid_angle(&g, got));
    check_values(c, "solid angle", AIRY_DTYPE_F64, got, want, n, &(struct check_tol){.rel = 1e-14});
    for (size_t i = 0; i < n; i++)
        want[i] = ref_polarization(&g, 0.97, 0.3, (double)(i / w) + 0.5, (double)(i % w) + 0.5);
    CHECK_OK(c, airy_geometry_polarization(&g, 0.97, 0.3, got));
    check_values(c, "polarization", AIRY_DTYPE_F64, got, want, n,
                 &(struct check_tol){.abs = 1e-14, .rel = 1e-14});
}

/* An untilted detector: 2 theta = atan(r / dist), and q = 4 pi / wavelength sin(theta). */
static void check_known(struct check *c)
{
    if (!check_case(c, "positions_known"))
        return;
    const airy_geometry g = {
        .detector = {.name = "Detector", .height = 1, .width = 1, .pixel1 = 2e-3, .pixel2 = 2e-3},
        .dist = 0.1,
        .poni1 = 1e-3,
        .poni2 = 1e-3 - 0.1,
        .wavelength = 1e-10};
    /* The only pixel's centre lies 0.1 m from the PONI along x: 45 degrees. */
    double v = 0;
    CHECK_OK(c, airy_geometry_centers(&g, AIRY_UNIT_TTH_DEG, &v));
    CHECK(c, fabs(v - 45) < 1e-12);
    CHECK_OK(c, airy_geometry_centers(&g, AIRY_UNIT_Q_NM, &v));
    CHECK(c, fabs(v - 4 * 3.14159265358979323846 / 0.1 * 0.38268343236508977) < 1e-12 * v);
    CHECK_OK(c, airy_geometry_solid_angle(&g, &v));
    CHECK(c, fabs(v - 0.35355339059327373) < 1e-15);
    CHECK_OK(c, airy_geometry_chi(&g, &v));
    CHECK(c, fabs(v) < 1e-15);
}

static void check_limits(struct check *c)
{
    if (!check_case(c, "geometry_check"))
        return;
    static const double bad[] = {0, -1, NAN, INFINITY, 1e9};
    double out[1];
    for (size_t k = 0; k < 5; k++) {
        airy_geometry g = tilted(3);
        g.dist = bad[k];
        CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "distance");
        g = tilted(3);
        g.detector.pixel1 = bad[k];
        CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "pixel1");
        g = tilted(3);
        g.detector.pixel2 = bad[k];
        CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "pixel2");
        if (k < 2)
            continue;
        double *const fields[] = {&g.poni1, &g.poni2, &g.rot1, &g.rot2, &g.rot3};
        static const char *const names[] = {"poni1", "poni2", "rot1", "rot2", "rot3"};
        for (size_t f = 0; f < 5; f++) {
            g = tilted(3);
            *fields[f] = bad[k];
            CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, names[f]);
        }
        g = tilted(3);
        g.wavelength = bad[k];
        CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "wavelength");
    }
    airy_geometry g = tilted(9);
    CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "orientation");
    g = tilted(5);
    CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_UNSUPPORTED, "orientation");
    g = tilted(3);
    g.detector.width = 0;
    CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "23 x 0");
    g.detector.width = (size_t)1 << 40;
    CHECK_FAILS(c, airy_geometry_check(&g), AIRY_ERR_PARAM, "at most");
    g.detector.width = g.detector.height = 0;
    CHECK_FAILS(c, airy_geometry_centers(&g, AIRY_UNIT_R_M, out), AIRY_ERR_PARAM, "no shape");
    g = tilted(3);
    g.wavelength = 0;
    CHECK_FAILS(c, airy_geometry_centers(&g, AIRY_UNIT_Q_NM, out), AIRY_ERR_PARAM,
                "needs a wavelength");
    CHECK_FAILS(c, airy_geometry_centers(&g, AIRY_UNIT_COUNT, out), AIRY_ERR_PARAM, "unit");
    CHECK_FAILS(c, airy_geometry_polarization(&g, 1.1, 0, out), AIRY_ERR_PARAM, "1.1");
    CHECK_FAILS(c, airy_geometry_polarization(&g, 1, NAN, out), AIRY_ERR_PARAM, "offset");
}

void check_geometry(struct check *c)
{
    if (!c->is_cpu)
        return; /* nothing here runs on a device */
    check_registry(c);
    check_find(c);
    check_units(c);
    check_sample(c);
    for (int orientation = 0; orientation <= 4; orientation++)
        check_positions(c, orientation, 0.05);
    check_positions(c, 3, 0.002); /* angles up to 90 degrees and beyond */
    check_known(c);
    check_detector_file(c);
    check_limits(c);
    check_poni(c);
}
