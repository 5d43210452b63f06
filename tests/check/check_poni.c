/* PONI files: the reference ones, round trips, and everything that can be wrong with them. */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double field(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || a == b;
}

static void compare_geometry(struct check *c, const char *name, const airy_geometry *g,
                             const json_t *want)
{
    const struct {
        const char *key;
        double got;
    } fields[] = {{"dist", g->dist},
                  {"poni1", g->poni1},
                  {"poni2", g->poni2},
                  {"rot1", g->rot1},
                  {"rot2", g->rot2},
                  {"rot3", g->rot3},
                  {"wavelength", g->wavelength},
                  {"pixel1", g->detector.pixel1},
                  {"pixel2", g->detector.pixel2}};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (!same_number(fields[k].got, field(want, fields[k].key)))
            check_failed(c, __FILE__, __LINE__, "%s: %s = %.17g, expected %.17g", name,
                         fields[k].key, fields[k].got, field(want, fields[k].key));
    const json_t *shape = json_object_get(want, "shape");
    const size_t h = (size_t)json_integer_value(json_array_get(shape, 0)),
                 w = (size_t)json_integer_value(json_array_get(shape, 1));
    if (g->detector.height != h || g->detector.width != w ||
        strcmp(g->detector.name, json_string_value(json_object_get(want, "detector"))) != 0 ||
        g->detector.orientation != (int)field(want, "orientation"))
        check_failed(c, __FILE__, __LINE__, "%s: detector '%s' %zu x %zu orientation %d", name,
                     g->detector.name, g->detector.height, g->detector.width,
                     g->detector.orientation);
}

static void check_expected(struct check *c)
{
    if (!check_case(c, "poni_expected"))
        return;
    const char *path = check_golden(c, "diffraction/poni/expected.json");
    if (!path)
        return;
    char folder[4096], file[4200];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    json_t *expected = json_load_file(path, 0, NULL);
    const char *name;
    json_t *want;
    const char *tmp = check_tmp(c);
    json_object_foreach(expected, name, want)
    {
        airy_geometry g, again;
        snprintf(file, sizeof file, "%s/%s.poni", folder, name);
        if (!CHECK_OK(c, airy_geometry_read(&g, file)))
            continue;
        compare_geometry(c, name, &g, want);
        snprintf(file, sizeof file, "%s/again.poni", tmp);
        if (CHECK_OK(c, airy_geometry_write(&g, file)) &&
            CHECK_OK(c, airy_geometry_read(&again, file)))
            compare_geometry(c, "written and read again", &again, want);
    }
    json_decref(expected);
}

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(text, 1, size, file);
        fclose(file);
    }
}

/*
 * A registered detector with another shape, or other pixels, comes back as it was: nothing is
 * taken for binning.
 */
static void check_shapes(struct check *c)
{
    if (!check_case(c, "poni_shapes"))
        return;
    char path[4200];
    snprintf(path, sizeof path, "%s/shapes.poni", check_tmp(c));
    static const double factors[] = {1, 2, 3, 0.5, 1.25};
    for (size_t k = 0; k < 10; k++) {
        airy_geometry g = {.dist = 0.1}, h = {0};
        CHECK_OK(c, airy_detector_find(&g.detector, "Pilatus 1M"));
        g.detector.orientation = 3;
        g.detector.pixel1 *= factors[k % 5];
        g.detector.pixel2 *= factors[(k + k / 5) % 5];
        g.detector.height /= k % 3 + 1;
        if (CHECK_OK(c, airy_geometry_write(&g, path)) && CHECK_OK(c, airy_geometry_read(&h, path)))
            CHECK(c, g.detector.height == h.detector.height &&
                         g.detector.width == h.detector.width &&
                         g.detector.pixel1 == h.detector.pixel1 &&
                         g.detector.pixel2 == h.detector.pixel2);
    }
}

/*
 * Sensors and the pixel sizes of their images binned by so many, as files have them: rounded.
 * Source: J. Kieffer et al., pyFAI 2026.9, shapes and pixel sizes that its detectors declare.
 */
struct mode {
    int bin;
    double pixel;
};
static const struct {
    const char *name;
    size_t height, width;
    struct mode modes[9]; /* up to a bin of 0 */
} sensors[] = {
    {"Rayonix133", 4096, 4096, {{1, 32e-6}, {2, 64e-6}, {4, 128e-6}, {8, 256e-6}}},
    {"RayonixSx165",
     4096,
     4096,
     {{1, 39.5e-6}, {2, 79e-6}, {3, 118.616e-6}, {4, 158e-6}, {8, 316e-6}}},
    {"RayonixMx225",
     6144,
     6144,
     {{1, 36.621e-6}, {2, 73.242e-6}, {3, 109.971e-6}, {4, 146.484e-6}, {8, 292.969e-6}}},
    {"RayonixMx300",
     8192,
     8192,
     {{1, 36.621e-6}, {2, 73.242e-6}, {3, 109.971e-6}, {4, 146.484e-6}, {8, 292.969e-6}}},
    {"RayonixMx325",
     8192,
     8192,
     {{1, 39.673e-6}, {2, 79.346e-6}, {3, 119.135e-6}, {4, 158.691e-6}, {8, 317.383e-6}}},
    {"RayonixLx170",
     1920,
     3840,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixLx255",
     1920,
     5760,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixMx170",
     3840,
     3840,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixMx340hs",
     7680,
     7680,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixMx425hs",
     9600,
     9600,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixSx85hs",
     1920,
     1920,
     {{1, 44.2708e-6},
      {2, 88.5417e-6},
      {3, 132.8125e-6},
      {4, 177.0833e-6},
      {5, 221.3542e-6},
      {6, 265.625e-6},
      {8, 354.1667e-6},
      {10, 442.7083e-6}}},
    {"RayonixMx225hs",
     5760,
     5760,
     {{1, 39.0625e-6},
      {2, 78.125e-6},
      {3, 117.1875e-6},
      {4, 156.25e-6},
      {5, 195.3125e-6},
      {6, 234.375e-6},
      {8, 312.5e-6},
      {10, 390.625e-6}}},
    {"RayonixMx300hs",
     7680,
     7680,
     {{1, 39.0625e-6},
      {2, 78.125e-6},
      {3, 117.1875e-6},
      {4, 156.25e-6},
      {5, 195.3125e-6},
      {6, 234.375e-6},
      {8, 312.5e-6},
      {10, 390.625e-6}}},
    {"RayonixSx200", 4096, 4096, {{1, 48e-6}, {2, 96e-6}, {3, 144e-6}, {4, 192e-6}, {8, 384e-6}}},
    {"RayonixSx30hs",
     1920,
     1920,
     {{1, 15.625e-6},
      {2, 31.25e-6},
      {3, 46.875e-6},
      {4, 62.5e-6},
      {5, 78.125e-6},
      {6, 93.75e-6},
      {8, 125e-6},
      {10, 156.25e-6}}},
    {"Perkin", 4096, 4096, {{1, 100e-6}, {2, 200e-6}, {3, 300e-6}, {4, 400e-6}}},
    {"Pixium", 1910, 2480, {{1, 154e-6}, {2, 308e-6}, {4, 616e-6}}},
    {"ADSC_Q315", 6144, 6144, {{1, 51e-6}, {1, 51.294e-6}, {2, 102.588e-6}, {4, 204e-6}}},
    {"Apex2", 1024, 1024, {{1, 120e-6}, {2, 240e-6}}},
    {"Fairchild", 4096, 4096, {{1, 15e-6}, {2, 30e-6}, {8, 120e-6}}},
    {"Dexela2923", 3888, 3072, {{1, 75e-6}, {2, 150e-6}, {4, 300e-6}}},
    {"Titan", 2048, 2048, {{1, 60e-6}, {2, 120e-6}}},
    {"Eiger4M", 2167, 2070, {{1, 75e-6}, {2, 150e-6}}},
};

/* The file, read and written again, is that of h x w pixels, and of no others. */
static void check_mode(struct check *c, const char *name, double pixel, size_t h, size_t w)
{
    char path[4200], again[4200], text[400];
    airy_geometry g = {0}, back = {0};
    snprintf(path, sizeof path, "%s/mode.poni", check_tmp(c));
    snprintf(again, sizeof again, "%s/mode_again.poni", check_tmp(c));
    const int n = snprintf(text, sizeof text,
                           "Detector: %s\nDetector_config: {\"pixel1\": %.9g, \"pixel2\": %.9g}\n"
                           "Distance: 0.2\n",
                           name, pixel, pixel);
    write_text(path, text, (size_t)n);
    if (!CHECK_OK(c, airy_geometry_read(&g, path)) ||
        !CHECK_OK(c, airy_geometry_write(&g, again)) ||
        !CHECK_OK(c, airy_geometry_read(&back, again)))
        return;
    const airy_detector *d = &g.detector;
    if (d->height != h || d->width != w || d->pixel1 != pixel)
        check_failed(c, __FILE__, __LINE__,
                     "%s with pixels of %g m is %zu x %zu, expected %zu x %zu", name, pixel,
                     d->height, d->width, h, w);
    CHECK(c, back.detector.height == d->height && back.detector.width == d->width &&
                 back.detector.pixel1 == pixel && back.detector.binning1 == d->binning1);
    CHECK_OK(c, airy_detector_fit(&g.detector, h, w));
    CHECK_FAILS(c, airy_detector_fit(&g.detector, h, w + 7), AIRY_ERR_SHAPE,
                name[0] == 'M' ? "MAR" : "do not fit");
}

/* A sensor's full shape as max_shape beside pixels of the binned image: frames say which it is. */
static void check_full_shape(struct check *c)
{
    static const char text[] =
        "Detector: RayonixMx225\nDetector_config: {\"pixel1\": 7.3242e-05, \"pixel2\": 7.3242e-05, "
        "\"max_shape\": [6144, 6144]}\nDistance: 0.2\n";
    char path[4200];
    airy_geometry g = {0};
    snprintf(path, sizeof path, "%s/full.poni", check_tmp(c));
    write_text(path, text, sizeof text - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path)) &&
        CHECK_OK(c, airy_detector_fit(&g.detector, 3072, 3072)))
        CHECK(c, g.detector.height == 3072 && g.detector.width == 3072);
}

/* Plates are round at every size; other scans of a plate have its pixels. */
static void check_plate(struct check *c)
{
    static const struct {
        double pixel;
        size_t size;
    } scans[] = {{1e-4, 3450},  {1e-4, 3000},  {1e-4, 2400},  {1e-4, 1800},
                 {15e-5, 2300}, {15e-5, 2000}, {15e-5, 1600}, {15e-5, 1200}};
    for (size_t k = 0; k < sizeof scans / sizeof *scans; k++) {
        const size_t n = scans[k].size;
        airy_detector d;
        CHECK_OK(c, airy_detector_find(&d, "Mar345"));
        d.pixel1 = d.pixel2 = scans[k].pixel;
        uint8_t *mask = check_alloc(c, n * n);
        if (!CHECK_OK(c, airy_detector_fit(&d, n, n)) || !CHECK_OK(c, airy_detector_mask(&d, mask)))
            continue;
        size_t wrong = 0;
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < n; x++) {
                const double dy = (double)y + 0.5 - (double)n / 2,
                             dx = (double)x + 0.5 - (double)n / 2;
                wrong += (mask[y * n + x] != 0) != (dy * dy + dx * dx > (double)n * (double)n / 4);
            }
        CHECK(c, wrong == 0);
        d.pixel1 = d.pixel2 = scans[(k + 4) % 8].pixel; /* no scan of the other size */
        CHECK_FAILS(c, airy_detector_fit(&d, n + 1, n + 1), AIRY_ERR_SHAPE, "do not fit");
    }
}

static void check_modes(struct check *c)
{
    if (!check_case(c, "poni_modes"))
        return;
    for (size_t k = 0; k < sizeof sensors / sizeof *sensors; k++)
        for (size_t i = 0; i < 9 && sensors[k].modes[i].bin; i++) {
            const size_t bin = (size_t)sensors[k].modes[i].bin;
            check_mode(c, sensors[k].name, sensors[k].modes[i].pixel, sensors[k].height / bin,
                       sensors[k].width / bin);
        }
    check_mode(c, "Mar345", 1e-4, 3450, 3450);
    check_mode(c, "Mar345", 1.5e-4, 2300, 2300);
    check_full_shape(c);
    check_plate(c);
}

static void check_round_trip(struct check *c)
{
    if (!check_case(c, "poni_round_trip"))
        return;
    char path[4200];
    snprintf(path, sizeof path, "%s/round.poni", check_tmp(c));
    for (int k = 0; k < 200; k++) {
        double v[8];
        for (int i = 0; i < 8; i++)
            v[i] = (double)(check_rand_u64(c) >> 11) * 0x1p-53;
        airy_geometry g = {.dist = v[0] + 1e-9,
                           .poni1 = v[1] - 0.5,
                           .poni2 = v[2] - 0.5,
                           .rot1 = v[3],
                           .rot2 = -v[4],
                           .rot3 = v[5] * 1e-8,
                           .wavelength = v[6] * 1e-9 + 1e-15,
                           .parallax = k % 5 == 0};
        CHECK_OK(c, airy_detector_find(&g.detector, k % 2 ? "Detector" : "Pilatus CdTe 300kw"));
        if (k % 2) {
            g.detector.pixel1 = v[7] * 1e-3 + 1e-9;
            g.detector.pixel2 = v[0] * 1e-3 + 1e-9;
            g.detector.height = (size_t)k;
            g.detector.width = (size_t)(2 * k);
        }
        g.detector.orientation = 1 + k % 4;
        airy_geometry h = {0};
        if (!CHECK_OK(c, airy_geometry_write(&g, path)) ||
            !CHECK_OK(c, airy_geometry_read(&h, path)))
            return;
        const double *a = &g.dist, *b = &h.dist;
        for (int i = 0; i < 7; i++)
            CHECK(c, a[i] == b[i]);
        CHECK(c, g.detector.pixel1 == h.detector.pixel1 && g.detector.pixel2 == h.detector.pixel2);
        CHECK(c, g.detector.height == h.detector.height && g.detector.width == h.detector.width);
        CHECK(c, g.detector.orientation == h.detector.orientation &&
                     strcmp(g.detector.name, h.detector.name) == 0);
        CHECK(c, g.detector.dectris_dummy == h.detector.dectris_dummy && g.parallax == h.parallax);
    }
}

/* Notes are comments, whatever is in them. */
static void check_notes(struct check *c)
{
    if (!check_case(c, "poni_notes"))
        return;
    char path[4200], text[256] = "";
    snprintf(path, sizeof path, "%s/notes.poni", check_tmp(c));
    airy_geometry g = {.dist = 0.1}, h = {0};
    CHECK_OK(c, airy_detector_find(&g.detector, "Pilatus 1M"));
    CHECK_OK(c, airy_geometry_write_noted(&g, "image a\nDistance: 7\r\nlast", path));
    if (CHECK_OK(c, airy_geometry_read(&h, path)))
        CHECK(c, h.dist == 0.1);
    FILE *file = fopen(path, "rb");
    if (file) {
        CHECK(c, fread(text, 1, sizeof text - 1, file) > 40);
        fclose(file);
    }
    static const char head[] = "# image a\n# Distance: 7?\n# last\n# Nota";
    CHECK(c, strncmp(text, head, strlen(head)) == 0);
    CHECK_FAILS(c, airy_geometry_write_noted(&g, "x", NULL), AIRY_ERR_PARAM, "path is NULL");
}

#define GOOD                                                                                       \
    "PixelSize1: 1e-4\nPixelSize2: 1e-4\nDistance: 0.1\nPoni1: 0\nPoni2: 0\nRot1: 0\nRot2: "       \
    "0\nRot3: 0\n"
#define V2 "poni_version: 2\nDetector: Detector\nDistance: 0.1\n"

static void check_bad_text(struct check *c)
{
    if (!check_case(c, "poni_bad_text"))
        return;
    static const struct {
        const char *text;
        airy_status status;
        const char *part;
    } cases[] = {
        {"", AIRY_ERR_FORMAT, "Distance is missing"},
        {"PixelSize1: 1e-4\nPixelSize2: 1e-4\n", AIRY_ERR_FORMAT, "Distance is missing"},
        {"Distance: 0.1\n", AIRY_ERR_FORMAT, "pixel size is missing"},
        {GOOD "poni_version: 4\n", AIRY_ERR_UNSUPPORTED, "version 4 is newer than 3"},
        {GOOD "poni_version: 3.5\n", AIRY_ERR_UNSUPPORTED, "version 3.5 is newer"},
        {GOOD "poni_version: 0\n", AIRY_ERR_FORMAT, "poni_version = 0"},
        {GOOD "poni_version: x\n", AIRY_ERR_FORMAT, "line 9: poni_version = 'x'"},
        {GOOD "Distance: nan\n", AIRY_ERR_FORMAT, "line 9: Distance = 'nan'"},
        {GOOD "Distance: inf\n", AIRY_ERR_FORMAT, "not a finite number"},
        {GOOD "Distance: 1e999\n", AIRY_ERR_FORMAT, "not a finite number"},
        {GOOD "Distance: -0.1\n", AIRY_ERR_FORMAT, "distance = -0.1 m"},
        {GOOD "Distance: 0\n", AIRY_ERR_FORMAT, "distance = 0 m"},
        {GOOD "Distance: 0.1 m\n", AIRY_ERR_FORMAT, "'0.1 m'"},
        {GOOD "Distance: 0x10\n", AIRY_ERR_FORMAT, "'0x10'"},
        {GOOD "Poni1: 1e30\n", AIRY_ERR_FORMAT, "poni1"},
        {GOOD "Rot1: 1e30\n", AIRY_ERR_FORMAT, "rot1"},
        {GOOD "Rot1: 30\n", AIRY_ERR_FORMAT,
         "bad.poni: rot1 = 30 rad, expected between -7 and 7 rad"},
        {GOOD "Rot2: -7.5\n", AIRY_ERR_FORMAT, "rot2 = -7.5 rad"},
        {GOOD "Rot3: 90\n", AIRY_ERR_FORMAT, "rot3 = 90 rad"},
        {GOOD "PixelSize1: 0\n", AIRY_ERR_FORMAT, "pixel size is missing"},
        {GOOD "PixelSize1: -1e-4\n", AIRY_ERR_FORMAT, "pixel1"},
        {GOOD "PixelSize2: 50\n", AIRY_ERR_FORMAT, "pixel2"},
        {GOOD "PixelSize2: 0.1\n", AIRY_ERR_FORMAT, "pixel2 = 0.1 m, expected > 0 and <= 0.03 m"},
        {GOOD "Wavelength: 1\n", AIRY_ERR_FORMAT, "wavelength"},
        {GOOD "Wavelength: 0\n", AIRY_ERR_FORMAT, "Wavelength = 0"},
        {GOOD "Wavelength: 1e-10\nWavelength: 2e-10\n", AIRY_ERR_FORMAT,
         "line 10: Wavelength = '2e-10', but line 9 has '1e-10'"},
        {GOOD "Distance: 0.2\nDistance: 0.1\nDistance: 0.3\n", AIRY_ERR_FORMAT,
         "line 11: Distance = '0.3', but line 3 has '0.1'"},
        {GOOD GOOD "Rot2: 0.1\n", AIRY_ERR_FORMAT, "line 17: Rot2 = '0.1', but line 15 has '0'"},
        {GOOD "SplineFile: distortion.spline\n", AIRY_ERR_UNSUPPORTED, "SplineFile"},
        {GOOD "Parallax: maybe\n", AIRY_ERR_FORMAT, "Parallax = 'maybe'"},
        {GOOD "Detector: Eigr4M\n", AIRY_ERR_NOT_FOUND, "line 9"},
        {GOOD "Detector: Pixirad1\n", AIRY_ERR_UNSUPPORTED, "hexagonal"},
        {V2 "Detector_config: {\n", AIRY_ERR_FORMAT, "line 4: Detector_config: no JSON: "},
        {V2 "Detector_config: [1, 2]\n", AIRY_ERR_FORMAT, "not a JSON object"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel1\": 2e-4}\n", AIRY_ERR_FORMAT,
         "Detector_config: the key 'pixel1' occurs twice"},
        {V2 "Detector_config: {\"pixel1\": \"1e-4\"}\n", AIRY_ERR_FORMAT, "pixel1"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"max_shape\": [1]}\n",
         AIRY_ERR_FORMAT, "max_shape"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"max_shape\": [-1, 5]}\n",
         AIRY_ERR_FORMAT, "max_shape"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"max_shape\": [99999999, 5]}\n",
         AIRY_ERR_FORMAT, "max_shape"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"orientation\": 2.5}\n",
         AIRY_ERR_FORMAT, "orientation"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"orientation\": 6}\n",
         AIRY_ERR_UNSUPPORTED, "orientation"},
        {V2 "Detector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"splineFile\": \"a\"}\n",
         AIRY_ERR_UNSUPPORTED, "splineFile"},
        {V2 "Detector_config: {\"filename\": \"a.h5\"}\n", AIRY_ERR_UNSUPPORTED, "filename"},
    };
    char path[4200];
    snprintf(path, sizeof path, "%s/bad.poni", check_tmp(c));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        airy_geometry g;
        write_text(path, cases[k].text, strlen(cases[k].text));
        CHECK_FAILS(c, airy_geometry_read(&g, path), cases[k].status, cases[k].part);
    }
}

static void check_good_text(struct check *c)
{
    if (!check_case(c, "poni_good_text"))
        return;
    char path[4200];
    airy_geometry g;
    snprintf(path, sizeof path, "%s/good.poni", check_tmp(c));
    /*
     * Windows line ends and byte order mark, unknown keys, a key without value, comments, the last entry without line
     * end.
     */
    static const char odd[] = "\xef\xbb\xbfPixelSize1:1e-4\r\n# x\r\nWhat: ever\r\nPixelSize2: "
                              "2E-4\r\nno colon\r\nWavelength: None\r\n"
                              "  distance  :  .5\r\nRot1: \r\nPoni1: -3";
    write_text(path, odd, sizeof odd - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path)))
        CHECK(c, g.dist == 0.5 && g.detector.pixel1 == 1e-4 && g.detector.pixel2 == 2e-4 &&
                     g.poni1 == -3 && g.rot1 == 0 && g.wavelength == 0);
    /* A registered detector with pixels twice as large is its image binned by two. */
    static const char binned[] =
        "Detector: Pilatus1M\nPixelSize1: 0.000344\nPixelSize2: 0.000344\nDistance: 1\n";
    write_text(path, binned, sizeof binned - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path)))
        CHECK(c, g.detector.height == 521 && g.detector.width == 490);
    /* A refinement that is appended replaces what is in front of it; one value may stand twice. */
    static const char appended[] = GOOD "Wavelength: 1e-10\nWavelength: 2e-10\nponi_version: 2\n"
                                        "Detector: Detector\nDistance: 0.2\nWavelength: 3e-10\n"
                                        "Wavelength: 0.30001e-9\nPixelSize1: 2e-4\nDistance: 3\n";
    write_text(path, appended, sizeof appended - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path)))
        CHECK(c, g.dist == 3 && g.wavelength == 0.30001e-9 && g.detector.pixel1 == 2e-4 &&
                     g.detector.pixel2 == 1e-4);
    static const char three[] = V2
        "poni_version: 3\nDetector_config: {\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"sensor\": "
        "{\"material\": \"Si\"}}\nParallax: True\n";
    write_text(path, three, sizeof three - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path)))
        CHECK(c, g.parallax);
}

/* Random bytes and damaged files: any answer, no crash. */
static void check_bytes(struct check *c)
{
    if (!check_case(c, "poni_bytes"))
        return;
    static const char good[] = GOOD "poni_version: 2.1\nDetector: Eiger4M\nDetector_config: "
                                    "{\"orientation\": 3, \"max_shape\": [3, 4]}\n";
    char path[4200], text[sizeof good];
    airy_geometry g;
    snprintf(path, sizeof path, "%s/bytes.poni", check_tmp(c));
    for (int k = 0; k < 300; k++) {
        memcpy(text, good, sizeof good);
        for (int flips = 0; flips < 1 + k % 4; flips++)
            text[check_rand_u64(c) % (sizeof good - 1)] = (char)(check_rand_u64(c) & 255);
        write_text(path, text, sizeof good - 1);
        if (airy_geometry_read(&g, path) == AIRY_OK)
            CHECK_OK(c, airy_geometry_check(&g));
    }
    write_text(path, "Distance: 1\0\n", 13);
    CHECK_FAILS(c, airy_geometry_read(&g, path), AIRY_ERR_FORMAT, "zero bytes");
    const size_t big = ((size_t)4 << 20) + 10;
    char *block = check_alloc(c, big);
    memset(block, '\n', big);
    write_text(path, block, big);
    CHECK_FAILS(c, airy_geometry_read(&g, path), AIRY_ERR_FORMAT, "more than");
    static const char head[] = V2 "Detector_config: ";
    memset(block, '[', 70000);
    memcpy(block, head, sizeof head - 1);
    write_text(path, block, 70000);
    CHECK_FAILS(c, airy_geometry_read(&g, path), AIRY_ERR_FORMAT, "at most 65536");
    write_text(path, block, 60000);
    CHECK_FAILS(c, airy_geometry_read(&g, path), AIRY_ERR_FORMAT, "no JSON");
    CHECK_FAILS(c, airy_geometry_read(&g, check_tmp(c)), AIRY_ERR_IO, "");
    CHECK_FAILS(c, airy_geometry_read(&g, "/no/such/file.poni"), AIRY_ERR_NOT_FOUND,
                "/no/such/file.poni");
    write_text(path, GOOD, sizeof GOOD - 1);
    if (CHECK_OK(c, airy_geometry_read(&g, path))) {
        CHECK_FAILS(c, airy_geometry_write(&g, "/no/such/folder/file.poni"), AIRY_ERR_IO,
                    "cannot create '/no/such/folder/file.poni'");
        strcpy(g.detector.sensor.material, "S\xef"); /* JSON is UTF-8 */
        CHECK_FAILS(c, airy_geometry_write(&g, path), AIRY_ERR_UNSUPPORTED, "not UTF-8");
        g.detector.sensor.material[0] = 0;
        g.dist = -1;
        CHECK_FAILS(c, airy_geometry_write(&g, path), AIRY_ERR_PARAM, "distance");
    }
}

void check_poni(struct check *c)
{
    check_expected(c);
    check_round_trip(c);
    check_notes(c);
    check_shapes(c);
    check_modes(c);
    check_bad_text(c);
    check_good_text(c);
    check_bytes(c);
}
