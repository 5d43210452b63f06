/*
 * Integrate a stack: the patterns of all frames as an array in memory.
 *
 * Build: cc job_integrate.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_integrate STACK.h5 FILE.poni [DEVICE]
 */
#include <airy/airy.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    airy_host_view rows, radial;
    const int failed =
        argc < 3 || airy_job_create(&job, "integrate", NULL, NULL) ||
        airy_job_set_json(job,
                          "{\"bins\": \"200\", \"unit\": \"2th_deg\", \"on-error\": \"skip\"}") ||
        airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
        airy_job_set(job, "device", argc > 3 ? argv[3] : "cpu") || airy_job_run(job) < AIRY_OK ||
        airy_job_get_array(job, "intensity", &rows) || airy_job_get_array(job, "radial", &radial);
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    for (size_t i = 0; !failed && i < rows.shape[0]; i++) {
        const float *row = (const float *)rows.data + i * rows.shape[1];
        printf("pattern %zu: %g at %g degrees\n", i, row[50], ((const double *)radial.data)[50]);
    }
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
