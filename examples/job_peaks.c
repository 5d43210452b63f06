/*
 * Find the Bragg peaks of all frames of a stack: a table of peaks in memory.
 *
 * Build: cc job_peaks.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_peaks STACK.h5 FILE.poni [DEVICE]
 */
#include <airy/airy.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    const airy_table *peaks = NULL;
    const int failed = argc < 3 || airy_job_create(&job, "peaks", NULL, NULL) ||
                       airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
                       airy_job_set(job, "bins", "50") ||
                       airy_job_set(job, "device", argc > 3 ? argv[3] : "cpu") ||
                       airy_job_run(job) < AIRY_OK || airy_job_get_table(job, "peak_list", &peaks);
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    else
        printf("%s: %zu peaks with %zu columns\n", airy_job_summary(job), peaks->rows,
               peaks->columns);
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
