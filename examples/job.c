/*
 * A job by its name: the median of all frames of a stack, as an array in memory.
 *
 * Build: cc job.c $(pkg-config --cflags --libs airy)
 * Run:   ./job STACK.h5 [DEVICE]
 */
#include <airy/airy.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    airy_host_view image;
    airy_status s = airy_job_create(&job, "reduce", NULL, NULL);
    if (s == AIRY_OK)
        s = airy_job_set(job, "stack", argc > 1 ? argv[1] : "dark_master.h5");
    if (s == AIRY_OK)
        s = airy_job_set(job, "by", "median");
    if (s == AIRY_OK)
        s = airy_job_set(job, "device", argc > 2 ? argv[2] : "cpu");
    if (s == AIRY_OK)
        s = airy_job_run(job);
    if (s == AIRY_OK)
        s = airy_job_get_array(job, "image", &image);
    if (s == AIRY_OK)
        printf("%s: the first pixel is %g\n", airy_job_summary(job), *(const double *)image.data);
    else
        fprintf(stderr, "%s\n", airy_last_error());
    airy_job_destroy(&job);
    airy_context_release();
    return s == AIRY_OK ? 0 : 1;
}
