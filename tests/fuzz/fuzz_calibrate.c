/*
 * Images, guesses and masks from a fuzzer, calibrated: every call ends, and what comes out of one that
 * succeeds is a geometry of finite numbers.
 *
 * Input: 12 bytes of parameters, then pixels and changes of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/airy.h"
#include "fuzz.h"

enum { MOST = 48 };

/* Rings of the calibrant around a centre, less sharp or sharper, and what the input changes. */
static void draw(float *image, uint8_t *mask, const airy_geometry *g, const airy_calibrant *rings,
                 const uint8_t *data, size_t size)
{
    const size_t height = g->detector.height, width = g->detector.width;
    double *tth = malloc(height * width * sizeof(*tth));
    require(tth != NULL);
    const bool known = airy_geometry_centers(g, AIRY_UNIT_TTH_RAD, tth) == AIRY_OK;
    const double sharp = 1e3 * (1 + data[0] % 16);
    for (size_t i = 0; i < height * width; i++) {
        double value = data[1] / 16.0;
        for (size_t k = 0; known && k < rings->count && k < 8; k++) {
            const double s = g->wavelength / (2 * rings->rings[k].spacing);
            const double off = s < 1 ? (tth[i] - 2 * asin(s)) * sharp : 10;
            value += 100 * exp(-off * off);
        }
        image[i] = (float)value;
    }
    free(tth);
    static const float odd[4] = {NAN, INFINITY, -1e38f, 3e38f};
    for (size_t at = 2; at + 3 <= size; at += 3) {
        const size_t i = (data[at] | (size_t)data[at + 1] << 8) % (height * width);
        const unsigned v = data[at + 2];
        image[i] = v < 4 ? odd[v] : (float)v;
        mask[i] = v >= 250;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"LaB6", "Si", "AgBh", "CeO2"};
    if (size < 14)
        return 0;
    const size_t height = 1 + data[0] % MOST, width = 1 + data[1] % MOST;
    airy_geometry truth = {
        .detector = {.height = height, .width = width, .pixel1 = 1e-3, .pixel2 = 1e-3},
        .dist = 0.005 + data[2] * 1e-3,
        .poni1 = ((double)data[3] - 64) * 4e-4,
        .poni2 = ((double)data[4] - 64) * 4e-4,
        .rot1 = ((double)data[5] - 128) / 256,
        .rot2 = ((double)data[6] - 128) / 256,
        .wavelength = 1e-11 * (1 + data[7] % 64)};
    airy_calibrant rings = {0};
    require(airy_calibrant_find(&rings, names[data[8] % 4], truth.wavelength / 2) == AIRY_OK ||
            rings.count == 0);
    float *image = malloc(height * width * sizeof(*image));
    uint8_t *mask = calloc(height * width, 1);
    require(image && mask);
    draw(image, mask, &truth, &rings, data + 12, size - 12);
    airy_geometry guess = truth;
    guess.poni1 += ((double)data[9] - 128) * 2e-5;
    guess.dist *= 1 + ((double)data[10] - 128) * 1e-3;
    const airy_calibrate_params params = {.image = image,
                                          .mask = data[11] & 1 ? mask : NULL,
                                          .guess = guess,
                                          .calibrant = &rings,
                                          .refine = data[11] >> 2,
                                          .no_search = data[11] & 2,
                                          .search_px = 4,
                                          .max_residual_px = 1e6,
                                          .threads = 1};
    airy_calibration out = {0};
    if (airy_calibrate(&out, &params) == AIRY_OK) {
        const airy_geometry *g = &out.geometry;
        require(isfinite(g->dist) && isfinite(g->poni1) && isfinite(g->poni2) &&
                isfinite(g->rot1) && isfinite(g->rot2) && isfinite(g->wavelength) && g->dist > 0);
        require(out.used <= out.point_count && isfinite(out.rms_px));
        for (size_t i = 0; i < out.point_count; i++)
            require(out.points[i].ring < rings.count && isfinite(out.points[i].y) &&
                    isfinite(out.points[i].x));
    }
    airy_calibration_free(&out);
    airy_calibrant_free(&rings);
    free(image);
    free(mask);
    return 0;
}
