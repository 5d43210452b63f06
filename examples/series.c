/*
 * The whole job: a stack of frames to a file of patterns, with progress.
 *
 * Build: cc series.c $(pkg-config --cflags --libs airy)
 * Run:   ./series STACK.h5 GEOMETRY.poni OUT.h5 [DEVICE]
 */
#include <airy/airy.h>
#include <stdio.h>
#include <stdlib.h>

static bool show_progress(void *user, size_t done, size_t total)
{
    (void)user;
    fprintf(stderr, "\r%zu of %zu frames", done, total);
    return true; /* false would stop: the frames in flight are written, and resume goes on later */
}

static airy_status run(airy_device *device, const char *stack_path, const char *poni,
                       const char *out)
{
    airy_geometry geometry;
    airy_stack *stack = NULL;
    airy_integrator *integrator = NULL;
    airy_run_info info;
    uint8_t *mask = NULL;
    airy_status s = airy_geometry_read(&geometry, poni);
    if (s == AIRY_OK)
        s = airy_stack_create(&stack, &stack_path, 1);
    if (s == AIRY_OK) {
        /* The detector's gaps; a mask of the file's own would be added by airy_stack_mask. */
        mask = malloc(geometry.detector.height * geometry.detector.width);
        s = mask ? airy_detector_mask(&geometry.detector, mask) : AIRY_ERR_MEMORY;
    }
    if (s == AIRY_OK) {
        const airy_integrator_params params = {
            .bins = 500, .mask = mask, .error_model = AIRY_ERROR_MODEL_POISSON};
        s = airy_integrator_create(&integrator, device, &geometry, &params);
    }
    if (s == AIRY_OK) {
        const airy_run_params params = {.skip_bad = true, .force = true, .progress = show_progress};
        s = airy_integrate_stack(out, stack, &integrator, 1, &params, &info);
        fprintf(stderr, "\n");
    }
    if (s == AIRY_OK) {
        printf("%zu frames in %.3f s on %s, %zu bad%s%s\n", info.frames, info.seconds,
               airy_device_spec(device), info.bad, info.bad ? ", the first: " : "",
               info.bad ? info.first_error : "");
        printf("%zu frames a batch, %zu batches in flight, %zu readers\n", info.batch, info.slots,
               info.readers);
    }
    airy_integrator_destroy(&integrator);
    airy_stack_destroy(&stack);
    free(mask);
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: series STACK.h5 GEOMETRY.poni OUT.h5 [DEVICE]\n");
        return 2;
    }
    airy_device *device = NULL;
    airy_status s = airy_device_create(&device, argc > 4 ? argv[4] : NULL, NULL);
    if (s == AIRY_OK)
        s = run(device, argv[1], argv[2], argv[3]);
    if (s != AIRY_OK)
        fprintf(stderr, "series: %s: %s\n", airy_status_name(s), airy_last_error());
    airy_device_destroy(&device);
    return s == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
