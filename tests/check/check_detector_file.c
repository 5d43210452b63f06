/* Detectors with positions of their own: files, chips with larger borders, binning, sensors. */
#include "check_integrate.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ref_integrate.h"

/* What make_file writes; a name of a dataset in `without` is left out. */
struct content {
    const float *corners;    /* [corner_shape], NULL: none */
    hsize_t corner_shape[4]; /* all 0: of the scene */
    const uint8_t *mask;     /* [PIXELS] */
    const char *without, *class;
    double pixel[2], orientation, corner_count, thickness;
    int shape[2];
};

static const double pixel1 = 0.9e-3, pixel2 = 1.3e-3;

static void put(hid_t group, const char *name, const char *without, hid_t type, int ndim,
                const hsize_t *shape, const void *values)
{
    if (without && strcmp(name, without) == 0)
        return;
    const hid_t space = ndim ? H5Screate_simple(ndim, shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (values)
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
}

static struct content good_content(void)
{
    return (struct content){.class = "NXdetector",
                            .pixel = {pixel1, pixel2},
                            .orientation = 3,
                            .corner_count = 4,
                            .thickness = 450e-6,
                            .shape = {HEIGHT, WIDTH}};
}

static void make_file(const char *path, const struct content *f)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t entry = H5Gcreate2(file, "entry_0000", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(entry, "My_bent_one", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t word = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
    H5Tset_size(word, 10);
    char ten[10] = {0}; /* a zero behind them is not stored */
    memcpy(ten, f->class, strlen(f->class) < 10 ? strlen(f->class) : 10);
    const hid_t note = H5Acreate2(group, "NX_class", word, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(note, word, ten);
    H5Aclose(note);
    const hsize_t two = 2, image[2] = {HEIGHT, WIDTH}, whole[4] = {HEIGHT, WIDTH, 4, 3};
    put(group, "pixel_size", f->without, H5T_NATIVE_DOUBLE, 1, &two, f->pixel);
    put(group, "shape", f->without, H5T_NATIVE_INT, 1, &two, f->shape);
    put(group, "orientation", f->without, H5T_NATIVE_DOUBLE, 0, NULL, &f->orientation);
    put(group, "CORNERS", f->without, H5T_NATIVE_DOUBLE, 0, NULL, &f->corner_count);
    put(group, "sensor_thickness", f->without, H5T_NATIVE_DOUBLE, 0, NULL, &f->thickness);
    put(group, "sensor_material", f->without, word, 0, NULL, "CdTe\0\0\0\0\0");
    if (f->corners || f->corner_shape[0])
        put(group, "pixel_corners", f->without, H5T_NATIVE_FLOAT, 4,
            f->corner_shape[0] ? f->corner_shape : whole, f->corners);
    if (f->mask)
        put(group, "mask", f->without, H5T_NATIVE_UINT8, 2, image, f->mask);
    H5Sclose(scalar);
    H5Tclose(word);
    H5Gclose(group);
    H5Gclose(entry);
    H5Fclose(file);
}

static const char *file_path(struct check *c, const char *name)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/%s", check_tmp(c), name);
    return path;
}

/* Read, open, and compare with what was written; one pixel has a corner that is not a number. */
static void check_read(struct check *c, int orientation)
{
    if (!check_case(c, "detector_file_o%d", orientation))
        return;
    float *corners = check_alloc(c, PIXELS * 12 * sizeof *corners);
    uint8_t *mask = check_alloc(c, PIXELS), *got = check_alloc(c, PIXELS);
    scene_corners(corners, pixel1, pixel2);
    scene_mask(c, mask);
    enum { LOST = 7 * WIDTH + 3 };
    corners[LOST * 12 + 5] = NAN;
    struct content f = good_content();
    f.corners = corners;
    f.mask = mask;
    f.orientation = orientation;
    const char *path = file_path(c, "bent.h5");
    make_file(path, &f);
    airy_detector d;
    airy_detector_arrays *arrays = NULL;
    if (!CHECK_OK(c, airy_detector_read(&d, path)))
        return;
    CHECK(c, strcmp(d.name, "My bent one") == 0 && d.height == HEIGHT && d.width == WIDTH &&
                 d.pixel1 == pixel1 && d.pixel2 == pixel2 && d.orientation == orientation &&
                 strcmp(d.sensor.material, "CdTe") == 0 && d.sensor.thickness == 450e-6 &&
                 strcmp(d.file, path) == 0 && airy_detector_needs_arrays(&d));
    CHECK_FAILS(c, airy_detector_mask(&d, got), AIRY_ERR_PARAM, "airy_detector_open reads it");
    if (!CHECK_OK(c, airy_detector_open(&arrays, &d)))
        return;
    CHECK(c, d.corners && !airy_detector_needs_arrays(&d) &&
                 memcmp(d.corners, corners, PIXELS * 12 * sizeof *corners) == 0);
    /* The mask counts as the image does, corners as orientation 3. */
    const size_t i = orientation == 1 || orientation == 2 ? HEIGHT - 1 - 7 : 7,
                 j = orientation == 1 || orientation == 4 ? WIDTH - 1 - 3 : 3;
    mask[i * WIDTH + j] = 1;
    CHECK_OK(c, airy_detector_mask(&d, got));
    for (size_t k = 0; k < PIXELS; k++)
        CHECK(c, (got[k] != 0) == (mask[k] != 0));
    CHECK_FAILS(c, airy_detector_bin(&d, 2, 2), AIRY_ERR_PARAM, "has its arrays already");
    airy_detector_arrays_destroy(&arrays);
    airy_detector_arrays_destroy(&arrays);
    CHECK(c, arrays == NULL);
}

/* Values at centres, with and without parallax: 1e-13 for a dozen roundings more than in a plane. */
static void check_centers(struct check *c, int orientation, bool parallax, double thickness)
{
    if (!check_case(c, "detector_centers_o%d_%s_%g", orientation, parallax ? "parallax" : "thin",
                    thickness))
        return;
    float *corners = check_alloc(c, PIXELS * 12 * sizeof *corners);
    double *got = check_alloc(c, PIXELS * sizeof *got),
           *want = check_alloc(c, PIXELS * sizeof *want);
    airy_geometry g = scene_geometry(VIEW_OFF, orientation);
    scene_corners(corners, pixel1, pixel2);
    g.detector.corners = corners;
    g.parallax = parallax;
    g.detector.sensor = (airy_sensor){.thickness = thickness, .attenuation = 900};
    static const airy_unit units[] = {AIRY_UNIT_Q_NM, AIRY_UNIT_TTH_DEG, AIRY_UNIT_QIP_NM,
                                      AIRY_UNIT_R_MM};
    for (size_t u = 0; u < 4; u++) {
        for (size_t i = 0; i < PIXELS; i++)
            want[i] =
                ref_radial(&g, units[u], (double)(i / WIDTH) + 0.5, (double)(i % WIDTH) + 0.5);
        CHECK_OK(c, airy_geometry_centers(&g, units[u], got));
        check_values(c, airy_unit_name(units[u]), AIRY_DTYPE_F64, got, want, PIXELS,
                     &(struct check_tol){.abs = 1e-13, .rel = 1e-13});
    }
    double (*const refs[])(const airy_geometry *, double, double) = {ref_chi, ref_solid_angle,
                                                                     ref_efficiency};
    airy_status (*const calls[])(const airy_geometry *, double *) = {
        airy_geometry_chi, airy_geometry_solid_angle, airy_geometry_efficiency};
    static const char *const names[] = {"chi", "solid angle", "efficiency"};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < PIXELS; i++)
            want[i] = refs[k](&g, (double)(i / WIDTH) + 0.5, (double)(i % WIDTH) + 0.5);
        CHECK_OK(c, calls[k](&g, got));
        check_values(c, names[k], AIRY_DTYPE_F64, got, want, PIXELS,
                     &(struct check_tol){.abs = 1e-13, .rel = 1e-13});
    }
    for (size_t i = 0; i < PIXELS; i++)
        want[i] =
            ref_polarization(&g, 0.9, 0.2, (double)(i / WIDTH) + 0.5, (double)(i % WIDTH) + 0.5);
    CHECK_OK(c, airy_geometry_polarization(&g, 0.9, 0.2, got));
    check_values(c, "polarization", AIRY_DTYPE_F64, got, want, PIXELS,
                 &(struct check_tol){.abs = 1e-13, .rel = 1e-13});
}

static void refuse(struct check *c, const struct content *f, airy_status status, const char *part)
{
    const char *path = file_path(c, "bad.h5");
    make_file(path, f);
    airy_detector d = {0};
    airy_detector_arrays *arrays = NULL;
    airy_status got = airy_detector_read(&d, path);
    if (got == AIRY_OK)
        got = airy_detector_open(&arrays, &d);
    if (got != status || !strstr(airy_last_error(), part))
        check_failed(c, __FILE__, __LINE__, "%s, want %s with '%s': %s", airy_status_name(got),
                     airy_status_name(status), part, airy_last_error());
    airy_detector_arrays_destroy(&arrays);
}

static void check_hostile(struct check *c)
{
    if (!check_case(c, "detector_file_hostile"))
        return;
    float *corners = check_alloc(c, PIXELS * 12 * sizeof *corners);
    uint8_t *mask = check_alloc(c, PIXELS);
    scene_corners(corners, pixel1, pixel2);
    struct content f = good_content();
    f.corners = corners;
    f.class = "NXdata";
    refuse(c, &f, AIRY_ERR_NOT_FOUND, "that is no detector file");
    f = good_content();
    f.corners = corners;
    f.without = "pixel_size";
    refuse(c, &f, AIRY_ERR_FORMAT, "has no pixel_size");
    f = good_content();
    f.without = "shape";
    refuse(c, &f, AIRY_ERR_FORMAT, "has no shape");
    f = good_content();
    f.pixel[1] = -1;
    refuse(c, &f, AIRY_ERR_FORMAT, "pixel_size = 0.0009 x -1 m");
    f.pixel[1] = NAN;
    refuse(c, &f, AIRY_ERR_FORMAT, "pixel_size is not finite");
    f = good_content();
    f.shape[0] = -5;
    refuse(c, &f, AIRY_ERR_FORMAT, "shape = -5 x 26 pixels");
    f.shape[0] = 1 << 21;
    refuse(c, &f, AIRY_ERR_FORMAT, "expected 1 to 1048576");
    f = good_content();
    f.orientation = 5;
    refuse(c, &f, AIRY_ERR_FORMAT, "orientation = 5");
    f = good_content();
    f.corner_count = 6;
    refuse(c, &f, AIRY_ERR_UNSUPPORTED, "pixels of 6 corners");
    f = good_content();
    static const struct {
        hsize_t shape[4];
        airy_status status;
        const char *part;
    } rows[] = {{{HEIGHT, WIDTH, 6, 3}, AIRY_ERR_UNSUPPORTED, "has 6 corners a pixel"},
                {{HEIGHT, WIDTH, 4, 2}, AIRY_ERR_FORMAT, "is not [rows, columns, 4, 3]"},
                {{HEIGHT - 1, WIDTH, 4, 3}, AIRY_ERR_SHAPE, "does not fit a detector of 19 x 26"},
                {{HEIGHT + 1, WIDTH, 4, 3}, AIRY_ERR_SHAPE, "does not fit a detector of 19 x 26"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        memcpy(f.corner_shape, rows[k].shape, sizeof f.corner_shape);
        refuse(c, &f, rows[k].status, rows[k].part);
    }
    f = good_content();
    f.corners = corners;
    corners[100] = 2e4f;
    refuse(c, &f, AIRY_ERR_FORMAT, "expected at most 10 km");
    /* Where that pixel is masked nobody minds; so of infinity. */
    mask[100 / 12] = 1;
    f.mask = mask;
    refuse(c, &f, AIRY_OK, "");
    corners[100] = INFINITY;
    refuse(c, &f, AIRY_OK, "");
    airy_detector d;
    CHECK_FAILS(c, airy_detector_read(&d, "/no/such/file.h5"), AIRY_ERR_NOT_FOUND, "/no/such");
}

static bool any_bad(const uint8_t *mask, size_t width, int b1, int b2)
{
    for (int j = 0; j < b1; j++)
        for (int i = 0; i < b2; i++)
            if (mask[(size_t)j * width + (size_t)i])
                return true;
    return false;
}

/* Bad as soon as any of its pixels is, for every detector of the registry. */
static void check_binned_masks(struct check *c)
{
    if (!check_case(c, "detector_binned_masks"))
        return;
    for (size_t index = 0; index < airy_detector_count(); index++) {
        airy_detector d;
        CHECK_OK(c, airy_detector_get(&d, index));
        const airy_detector whole = d;
        if (d.height < 4) /* and those without a shape */
            continue;
        const size_t w = d.width;
        uint8_t *all = check_alloc(c, d.height * w);
        CHECK_OK(c, airy_detector_mask(&whole, all));
        const int b1 = 2 + (int)(index % 3), b2 = 2 + (int)(index % 2);
        if (!CHECK_OK(c, airy_detector_bin(&d, b1, b2)))
            continue;
        CHECK(c, d.height == whole.height / (size_t)b1 && d.pixel2 == whole.pixel2 * b2);
        uint8_t *got = check_alloc(c, d.height * d.width);
        CHECK_OK(c, airy_detector_mask(&d, got));
        size_t wrong = 0;
        for (size_t y = 0; y < d.height; y++)
            for (size_t x = 0; x < d.width; x++) {
                const uint8_t *block = &all[y * (size_t)b1 * w + x * (size_t)b2];
                wrong += any_bad(block, w, b1, b2) != (got[y * d.width + x] != 0);
            }
        if (wrong)
            check_failed(c, __FILE__, __LINE__, "%s binned %d x %d: %zu pixels", d.name, b1, b2,
                         wrong);
    }
    airy_detector d;
    CHECK_OK(c, airy_detector_find(&d, "Eiger 1M"));
    CHECK_FAILS(c, airy_detector_bin(&d, 0, 2), AIRY_ERR_PARAM, "binning = 0 x 2");
    CHECK_FAILS(c, airy_detector_bin(&d, 2, 65), AIRY_ERR_PARAM, "expected 1 to 64");
    d.binning1 = d.binning2 = 64;
    CHECK_FAILS(c, airy_detector_bin(&d, 1 << 30, 1 << 30), AIRY_ERR_PARAM, "expected 1 to 64");
    d.binning1 = d.binning2 = 0;
    d.height = 3;
    CHECK_FAILS(c, airy_detector_bin(&d, 4, 1), AIRY_ERR_PARAM, "leaves no pixel of 3");
}

/* Where pixel i along an axis begins, by adding up pixels. */
static double begin_of(size_t i, size_t length, size_t chip, double pixel, double border)
{
    double at = 0;
    for (size_t k = 0; k < i; k++) {
        const bool first = k % chip == 0 && k > 0, last = k % chip == chip - 1 && k + 1 < length;
        at += first || last ? border * pixel : pixel;
    }
    return at;
}

/* Chips whose border pixels are larger: sums of sizes, to the 2^-24 of floats. */
static void check_chips(struct check *c)
{
    if (!check_case(c, "detector_chips"))
        return;
    static const struct {
        const char *name;
        size_t chip[2];
        double border[2], gap;
    } rows[] = {{"Imxpad S70", {120, 80}, {2.5, 2.5}, 0},
                {"Imxpad S70 V", {80, 120}, {2.5, 2.5}, 0},
                {"Jungfrau 500k", {256, 256}, {2, 2}, 0},
                {"Xpad S540 flat", {120, 80}, {1, 2.5}, 3.57e-3}};
    for (size_t r = 0; r < 8; r++) {
        airy_detector d;
        airy_detector_arrays *arrays = NULL;
        const size_t k = r / 2, fold = 1 + r % 2;
        if (!CHECK_OK(c, airy_detector_find(&d, rows[k].name)))
            continue;
        const size_t h = d.height, w = d.width;
        const double p1 = d.pixel1, p2 = d.pixel2;
        CHECK_OK(c, airy_detector_bin(&d, (int)fold, (int)fold));
        if (!CHECK_OK(c, airy_detector_open(&arrays, &d)))
            continue;
        size_t wrong = 0;
        for (size_t i = 0; i < d.height; i++)
            for (size_t j = 0; j < d.width; j += 7) {
                const float *v = d.corners + (i * d.width + j) * 12;
                const double y0 = begin_of(i * fold, h, rows[k].chip[0], p1, rows[k].border[0]) +
                                  rows[k].gap * (double)(i * fold / rows[k].chip[0]);
                const double y1 =
                    begin_of((i + 1) * fold, h, rows[k].chip[0], p1, rows[k].border[0]) +
                    rows[k].gap * (double)(((i + 1) * fold - 1) / rows[k].chip[0]);
                const double x0 = begin_of(j * fold, w, rows[k].chip[1], p2, rows[k].border[1]),
                             x1 = begin_of((j + 1) * fold, w, rows[k].chip[1], p2,
                                           rows[k].border[1]);
                const double want[12] = {0, y0, x0, 0, y1, x0, 0, y1, x1, 0, y0, x1};
                for (int n = 0; n < 12; n++)
                    wrong += fabs((double)v[n] - want[n]) > 1e-7 * want[n];
            }
        if (wrong)
            check_failed(c, __FILE__, __LINE__, "%s: %zu numbers", d.name, wrong);
        airy_detector_arrays_destroy(&arrays);
        d.corners = NULL;
        d.height++;
        CHECK_FAILS(c, airy_detector_open(&arrays, &d), AIRY_ERR_SHAPE, "make no image of");
    }
}

/* A file's arrays are folded when pixels are: corners of the block, and its worst pixel. */
static void check_binned_file(struct check *c)
{
    if (!check_case(c, "detector_file_binned"))
        return;
    float *corners = check_alloc(c, PIXELS * 12 * sizeof *corners);
    uint8_t *mask = check_alloc(c, PIXELS);
    scene_corners(corners, pixel1, pixel2);
    mask[5 * WIDTH + 9] = 1;
    struct content f = good_content();
    f.corners = corners;
    f.mask = mask;
    const char *path = file_path(c, "fine.h5");
    make_file(path, &f);
    airy_detector d;
    airy_detector_arrays *arrays = NULL;
    if (!CHECK_OK(c, airy_detector_read(&d, path)) || !CHECK_OK(c, airy_detector_bin(&d, 3, 2)) ||
        !CHECK_OK(c, airy_detector_open(&arrays, &d)))
        return;
    CHECK(c, d.height == HEIGHT / 3 && d.width == WIDTH / 2);
    for (size_t i = 0; i < d.height; i++)
        for (size_t j = 0; j < d.width; j++) {
            const size_t at[4] = {3 * i * WIDTH + 2 * j, (3 * i + 2) * WIDTH + 2 * j,
                                  (3 * i + 2) * WIDTH + 2 * j + 1, 3 * i * WIDTH + 2 * j + 1};
            for (size_t k = 0; k < 4; k++)
                CHECK(c, memcmp(d.corners + ((i * d.width + j) * 4 + k) * 3,
                                corners + (at[k] * 4 + k) * 3, 3 * sizeof *corners) == 0);
            CHECK(c, d.bad[i * d.width + j] == (i == 1 && j == 4));
        }
    airy_detector_arrays_destroy(&arrays);
    /* And the same by a PONI with larger pixels. */
    airy_geometry g = {.detector = d, .dist = 0.1, .poni1 = 0.01, .wavelength = 1e-10}, back;
    char poni[4300];
    snprintf(poni, sizeof poni, "%s", file_path(c, "binned.poni"));
    if (CHECK_OK(c, airy_geometry_write(&g, poni)) && CHECK_OK(c, airy_geometry_read(&back, poni)))
        CHECK(c, back.detector.height == d.height && back.detector.width == d.width &&
                     back.detector.pixel1 == d.pixel1 && back.detector.binning1 == 3 &&
                     strcmp(back.detector.file, d.file) == 0 &&
                     strcmp(back.detector.sensor.material, "CdTe") == 0 &&
                     back.detector.sensor.thickness == 450e-6 && !back.parallax);
}

/* Numbers of the table, and between two of them (their geometric mean) the line of logarithms. */
static void check_attenuation(struct check *c)
{
    if (!check_case(c, "sensor_attenuation"))
        return;
    static const struct {
        const char *name;
        double energy, want; /* keV, 1/m */
    } rows[] = {{"Si", 10, 33.89 * 232.9},
                {"Si", 1.8389, 3192 * 232.9},
                {"Ge", 20, 42.22 * 532.7},
                {"GaAs", 100, 0.5598 * 531.76},
                {"CdTe", 31.8138, 34.92 * 585},
                {"CdTe", 1000, 0.05742 * 585},
                {"Si", 12.24744871391589, 18.7195779867 * 232.9}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double got = 0;
        /* A wavelength just above an edge in energy; 1e-9 moves nothing by more than 4e-9. */
        CHECK_OK(c, airy_sensor_attenuation(&got, rows[k].name,
                                            1.2398419843320026e-9 / rows[k].energy *
                                                (rows[k].energy < 1000 ? 1 - 1e-9 : 1 + 1e-9)));
        if (fabs(got - rows[k].want) > 1e-8 * rows[k].want)
            check_failed(c, __FILE__, __LINE__, "%s at %g keV: %.9g 1/m, expected %.9g",
                         rows[k].name, rows[k].energy, got, rows[k].want);
    }
    double mu;
    CHECK_FAILS(c, airy_sensor_attenuation(&mu, "Xe", 1e-10), AIRY_ERR_NOT_FOUND,
                "table of Si, Ge, GaAs, CdTe");
    CHECK_FAILS(c, airy_sensor_attenuation(&mu, "Si", 0), AIRY_ERR_PARAM, "wavelength");
    CHECK_FAILS(c, airy_sensor_attenuation(&mu, "Si", 1e-8), AIRY_ERR_PARAM, "energy = 0.123984");
}

void check_detector_file(struct check *c)
{
    for (int orientation = 1; orientation <= 4; orientation++) {
        check_read(c, orientation);
        check_centers(c, orientation, false, 1e-3);
        check_centers(c, orientation, true, 1e-3);
    }
    check_centers(c, 3, true, 0);
    check_hostile(c);
    check_binned_file(c);
    check_binned_masks(c);
    check_chips(c);
    check_attenuation(c);
}
