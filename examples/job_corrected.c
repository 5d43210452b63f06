/*
 * Integrate a stack with a mask and a dark image that are arrays. They are not copied, and must
 * stay until the job is destroyed.
 *
 * Build: cc job_corrected.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_corrected STACK.h5 FILE.poni HEIGHT WIDTH
 */
#include <airy/airy.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t height = argc > 4 ? strtoul(argv[3], NULL, 10) : 1,
                 width = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
    unsigned char *mask = calloc(height, width);
    float *dark = calloc(height * width, sizeof(*dark));
    const airy_host_view
        bad = {.data = mask, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {height, width}},
        counts = {.data = dark, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {height, width}};
    airy_job *job = NULL;
    double frames = 0;
    mask[0] = 1;    /* this pixel is bad */
    dark[1] = 0.5f; /* counts that this one has without light */
    const int failed = airy_job_create(&job, "integrate", NULL, NULL) ||
                       airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
                       airy_job_set_array(job, "mask", &bad) ||
                       airy_job_set_array(job, "dark", &counts) || airy_job_run(job) < AIRY_OK ||
                       airy_job_get_number(job, "frames", &frames);
    printf(failed ? "%s\n" : "%s%g frames\n", failed ? airy_last_error() : "", frames);
    airy_job_destroy(&job);
    airy_context_release();
    free(mask);
    free(dark);
    return failed;
}
