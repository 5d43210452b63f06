/*
 * Azimuthal integration: an image made from a curve goes back to that curve.
 *
 * Build: cc pattern.c $(pkg-config --cflags --libs airy)
 * Run:   ./pattern [DEVICE]
 */
#include <airy/integrate.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 100, POINTS = 600, HEIGHT = 195, WIDTH = 487 };

static float frame[HEIGHT * WIDTH];
static double sums[AIRY_SUM_PLANES * BINS];

/* 1000 / (1 + q^2) as a detector would see it, under its solid angle. */
static airy_status make_frame(const airy_geometry *g, const airy_integrator_params *params)
{
    static double image[HEIGHT * WIDTH], q[POINTS], curve[POINTS];
    for (int i = 0; i < POINTS; i++) {
        q[i] = 0.1 * i;
        curve[i] = 1000 / (1 + q[i] * q[i]);
    }
    const airy_status status = airy_image_from_pattern(image, g, params, q, curve, POINTS);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        frame[i] = (float)image[i];
    return status;
}

static airy_status run(airy_device *device, airy_queue *queue, const airy_geometry *g)
{
    const airy_integrator_params params = {.bins = BINS}; /* all else zero: q in 1/nm, full
                                                             splitting, solid angle */
    const size_t frames_shape[3] = {1, HEIGHT, WIDTH}, sums_shape[3] = {1, AIRY_SUM_PLANES, BINS},
                 stats_shape[2] = {1, sizeof(airy_frame_stats)};
    airy_integrator *integrator = NULL;
    airy_array *frames = NULL, *out = NULL, *stats = NULL;
    float intensity[BINS];
    airy_status s = make_frame(g, &params);
    if (s == AIRY_OK)
        s = airy_integrator_create(&integrator, device, g, &params);
    if (s == AIRY_OK)
        s = airy_array_create_from(&frames, queue, AIRY_DTYPE_F32, 3, frames_shape, frame);
    if (s == AIRY_OK)
        s = airy_array_create(&out, device, AIRY_DTYPE_F64, 3, sums_shape);
    if (s == AIRY_OK)
        s = airy_array_create(&stats, device, AIRY_DTYPE_U8, 2, stats_shape);
    if (s == AIRY_OK)
        s = airy_integrate(queue, out, stats, integrator, frames);
    if (s == AIRY_OK)
        s = airy_array_pull(queue, sums, sizeof(sums), out);
    if (s == AIRY_OK)
        s = airy_integrator_finish(integrator, sums, 1.0, intensity, NULL, NULL);
    for (int i = 0; s == AIRY_OK && i < BINS; i += 10) {
        const double q = airy_integrator_radial(integrator)[i];
        printf("q = %6.3f 1/nm  intensity = %9.4f  curve = %9.4f\n", q, intensity[i],
               1000 / (1 + q * q));
    }
    airy_array_destroy(&stats);
    airy_array_destroy(&out);
    airy_array_destroy(&frames);
    airy_integrator_destroy(&integrator);
    return s;
}

int main(int argc, char **argv)
{
    airy_geometry g = {.dist = 0.1, .poni1 = 0.017, .poni2 = 0.042, .wavelength = 1e-10};
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_status s = airy_detector_find(&g.detector, "Pilatus100k");
    if (s == AIRY_OK)
        s = airy_device_create(&device, argc > 1 ? argv[1] : "cpu", NULL);
    if (s == AIRY_OK)
        s = airy_queue_create(&queue, device);
    if (s == AIRY_OK)
        s = run(device, queue, &g);
    if (s != AIRY_OK)
        fprintf(stderr, "pattern: %s\n", airy_last_error());
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    return s == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
