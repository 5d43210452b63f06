/*
 * A stack of frames to patterns, row by row: they come in order while the stack is integrated, and
 * the loop may end when it has seen enough.
 *
 * Build: cc rows.c $(pkg-config --cflags --libs airy)
 * Run:   ./rows STACK PONI [DEVICE]
 */
#include <airy/pipeline.h>
#include <stdio.h>
#include <stdlib.h>

/* The bin with the highest intensity; bins without pixels are NaN. */
static size_t find_peak(const airy_run_row *row)
{
    size_t peak = 0;
    for (size_t i = 1; i < row->bins; i++)
        if (!(row->intensity[i] <= row->intensity[peak]))
            peak = i;
    return peak;
}

static airy_status print_rows(const airy_stack *stack, airy_integrator *integrator)
{
    const airy_run_params params = {.skip_bad = true}; /* a row of NaN for a damaged frame */
    const double *radial = airy_integrator_radial(integrator);
    const airy_run_row *row = NULL;
    airy_rows *rows = NULL;
    airy_run_info info;
    airy_status s = airy_rows_open(&rows, stack, &integrator, 1, &params);
    while (s == AIRY_OK && (s = airy_rows_next(rows, &row, UINT64_MAX)) == AIRY_OK && row) {
        const size_t peak = find_peak(row);
        if (row->status == AIRY_OK)
            printf("frame %zu: %g at q = %.4f 1/nm\n", row->frame, row->intensity[peak],
                   radial[peak]);
        else
            printf("frame %zu is bad: %s\n", row->frame, row->message);
    }
    airy_rows_close(&rows, &info);
    if (s == AIRY_OK)
        printf("%zu frames, %zu of them bad\n", info.frames, info.bad);
    return s;
}

static airy_status run(const char *path, const char *poni, const char *spec)
{
    const airy_integrator_params params = {.bins = 200};
    airy_stack *stack = NULL;
    airy_device *device = NULL;
    airy_integrator *integrator = NULL;
    airy_geometry geometry;
    airy_status s = airy_stack_create(&stack, &path, 1);
    if (s == AIRY_OK)
        s = airy_geometry_read(&geometry, poni);
    if (s == AIRY_OK)
        s = airy_device_create(&device, spec, NULL);
    if (s == AIRY_OK)
        s = airy_integrator_create(&integrator, device, &geometry, &params);
    if (s == AIRY_OK)
        s = print_rows(stack, integrator);
    airy_integrator_destroy(&integrator);
    airy_device_destroy(&device);
    airy_stack_destroy(&stack);
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: rows STACK PONI [DEVICE]\n");
        return 2;
    }
    const airy_status s = run(argv[1], argv[2], argc > 3 ? argv[3] : "cpu");
    if (s != AIRY_OK)
        fprintf(stderr, "rows: %s\n", airy_last_error());
    return s == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
