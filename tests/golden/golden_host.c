#include "airy/integrate.h"
#include "golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const json_t *find_group(const json_t *index, const char *name)
{
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(index, "groups"), i, group)
    {
        if (strcmp(json_string_value(json_object_get(group, "name")), name) == 0)
            return group;
    }
    return NULL;
}

/* Every sy-th row and sx-th column, as the reference files keep them. */
static double *subsample(const double *image, size_t height, size_t width, size_t sy, size_t sx)
{
    const size_t h = (height + sy - 1) / sy, w = (width + sx - 1) / sx;
    double *out = malloc(h * w * sizeof *out);
    for (size_t y = 0; out && y < h; y++)
        for (size_t x = 0; x < w; x++)
            out[y * w + x] = image[y * sy * width + x * sx];
    return out;
}

static void compare_image(struct golden *g, hid_t file, const char *path, double *image,
                          const airy_geometry *geometry, const double stride[2],
                          struct golden_tol tol, bool angle)
{
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    const size_t sy = (size_t)stride[0], sx = (size_t)stride[1];
    size_t shape[2] = {0, 0};
    double *got = subsample(image, h, w, sy, sx);
    double *want = golden_doubles(g, file, path, shape);
    if (got && want && (shape[0] != (h + sy - 1) / sy || shape[1] != (w + sx - 1) / sx)) {
        golden_complain(g, "%s is %zu x %zu", path, shape[0], shape[1]);
    } else if (got && want) {
        for (size_t i = 0; angle && i < shape[0] * shape[1]; i++)
            got[i] -= 2 * PI * round((got[i] - want[i]) / (2 * PI));
        golden_compare(g, path, got, want, shape[0] * shape[1], tol, NULL);
    }
    free(got);
    free(want);
}

/* Centres are doubles in pyFAI: 1e-12. Two units go through its float corners: 1e-6. Polarization
 * is kept as float, solid angle comes from float positions: 2^-24 and a few times that. */
static void positions_of(struct golden *g, hid_t file, const airy_geometry *geometry)
{
    static const struct {
        const char *path;
        airy_unit unit;
        double tol;
    } centers[] = {
        {"geometry/center_2th_rad", AIRY_UNIT_TTH_RAD, 1e-12},
        {"geometry/center_q_nm-1", AIRY_UNIT_Q_NM, 1e-12},
        {"geometry/center_r_m", AIRY_UNIT_R_M, 1e-12},
        {"geometry/center_ds2_nm-2", AIRY_UNIT_D2_NM, 1e-6},
        {"geometry/center_qx_nm-1", AIRY_UNIT_QX_NM, 1e-6},
    };
    static const struct {
        const char *path;
        double factor;
    } polarizations[] = {{"geometry/polarization_-0.3", -0.3},
                         {"geometry/polarization_0.0", 0},
                         {"geometry/polarization_0.95", 0.95}};
    double stride[2] = {1, 1};
    double *image = calloc(geometry->detector.height * geometry->detector.width, sizeof *image);
    if (!image || !golden_attribute_numbers(file, "geometry", "stride", stride, 2)) {
        golden_complain(g, "cannot read the stride");
        free(image);
        return;
    }
    for (size_t k = 0; k < sizeof centers / sizeof *centers; k++)
        if (H5Lexists(file, centers[k].path, H5P_DEFAULT) > 0 &&
            golden_ok(g, "airy_geometry_centers",
                      airy_geometry_centers(geometry, centers[k].unit, image)))
            compare_image(g, file, centers[k].path, image, geometry, stride,
                          (struct golden_tol){.of_max = centers[k].tol}, false);
    if (golden_ok(g, "airy_geometry_chi", airy_geometry_chi(geometry, image)))
        compare_image(g, file, "geometry/center_chi_rad", image, geometry, stride,
                      (struct golden_tol){.of_max = 1e-12}, true);
    if (golden_ok(g, "airy_geometry_solid_angle", airy_geometry_solid_angle(geometry, image)))
        compare_image(g, file, "geometry/solidangle", image, geometry, stride,
                      (struct golden_tol){.rel = 1e-7}, false);
    for (size_t k = 0; k < 3; k++)
        if (golden_ok(g, "airy_geometry_polarization",
                      airy_geometry_polarization(geometry, polarizations[k].factor, 0, image)))
            compare_image(g, file, polarizations[k].path, image, geometry, stride,
                          (struct golden_tol){.rel = 3e-7}, false);
    free(image);
}

void golden_positions(struct golden *g, const json_t *index)
{
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(index, "groups"), i, group)
    {
        char name[64];
        snprintf(name, sizeof name, "%s/positions",
                 json_string_value(json_object_get(group, "name")));
        if (!golden_begin(g, name))
            continue;
        airy_geometry geometry;
        const hid_t file = golden_open(g, json_string_value(json_object_get(group, "file")));
        if (file >= 0 && golden_geometry(g, &geometry, group))
            positions_of(g, file, &geometry);
        if (file >= 0)
            H5Fclose(file);
        golden_end(g);
    }
}

/* The one case that belongs to no group: an Eiger 4M a metre away, the beam on its first corner. */
static bool pattern_geometry(struct golden *g, airy_geometry *geometry, const json_t *index,
                             const char *group)
{
    if (group)
        return golden_geometry(g, geometry, find_group(index, group));
    *geometry = (airy_geometry){.dist = 1};
    return golden_ok(g, "airy_detector_find", airy_detector_find(&geometry->detector, "Eiger4M"));
}

static void run_pattern(struct golden *g, const json_t *index, hid_t file, const char *name)
{
    char path[128];
    json_t *group = H5Aexists_by_name(file, name, "geometry_group", H5P_DEFAULT) > 0
                        ? golden_attribute_json(g, file, name, "geometry_group")
                        : NULL;
    json_t *args = golden_attribute_json(g, file, name, "args");
    airy_geometry geometry;
    airy_integrator_params p = {
        .no_solid_angle = json_is_false(json_object_get(args, "correctSolidAngle"))};
    double stride[2], sum = 0;
    size_t shape[2] = {0, 0};
    snprintf(path, sizeof path, "%s/x", name);
    double *x = golden_doubles(g, file, path, shape);
    snprintf(path, sizeof path, "%s/I", name);
    double *curve = golden_doubles(g, file, path, shape);
    const json_t *polarization = json_object_get(args, "polarization_factor");
    p.has_polarization = polarization != NULL;
    p.polarization = json_number_value(polarization);
    p.dummy = json_number_value(json_object_get(args, "dummy"));
    float *flat = NULL, *dark = NULL;
    uint8_t *mask = NULL;
    double *image = NULL;
    bool good =
        x && curve && golden_attribute_numbers(file, name, "stride", stride, 2) &&
        golden_attribute_numbers(file, name, "sum", &sum, 1) &&
        pattern_geometry(g, &geometry, index, json_string_value(group)) &&
        golden_ok(g, "airy_unit_parse",
                  airy_unit_parse(&p.unit, json_string_value(json_object_get(args, "dim1_unit"))));
    if (good && json_object_get(args, "flat")) {
        const hid_t inputs = golden_open(
            g, json_string_value(
                   json_object_get(find_group(index, json_string_value(group)), "file")));
        airy_dtype dtype;
        flat = golden_floats(g, inputs, "inputs/flat");
        dark = golden_floats(g, inputs, "inputs/dark");
        mask = golden_pixels(g, inputs, "inputs/mask", &dtype, NULL);
        H5Fclose(inputs);
        good = flat && dark && mask;
        p.flat = flat;
        p.dark = dark;
        p.mask = mask;
    }
    if (good) {
        const size_t n = geometry.detector.height * geometry.detector.width;
        image = malloc(n * sizeof *image);
        if (image && golden_ok(g, "airy_image_from_pattern",
                               airy_image_from_pattern(image, &geometry, &p, x, curve, shape[1]))) {
            /*
             * The reference has float polarization and flat, and a solid angle from float
             * positions (2^-24 of it).
             */
            const double rel = polarization ? 1e-6 : p.no_solid_angle ? 1e-12 : 1e-7;
            snprintf(path, sizeof path, "%s/image_sub", name);
            compare_image(g, file, path, image, &geometry, stride,
                          (struct golden_tol){.rel = rel, .of_max = 1e-12}, false);
            double total = 0;
            for (size_t i = 0; i < n; i++)
                total += image[i];
            golden_compare(g, "sum", &total, &sum, 1, (struct golden_tol){.rel = fmax(rel, 1e-11)},
                           NULL);
        }
    }
    free(image);
    free(flat);
    free(dark);
    free(mask);
    free(x);
    free(curve);
    json_decref(group);
    json_decref(args);
}

void golden_patterns(struct golden *g, const json_t *index)
{
    static const char *const names[] = {"q_sa", "q_nosa", "q_pol_flat_dark_mask", "seed_eiger4M"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[64];
        snprintf(name, sizeof name, "calcfrom1d/%s", names[k]);
        if (!golden_begin(g, name))
            continue;
        const hid_t file = golden_open(g, "calcfrom1d.h5");
        if (file >= 0)
            run_pattern(g, index, file, names[k]);
        if (file >= 0)
            H5Fclose(file);
        golden_end(g);
    }
}
