/*
 * A stack that is an array in memory: the largest value of each pixel over its frames.
 *
 * Build: cc job_array.c $(pkg-config --cflags --libs airy)
 */
#include <airy/airy.h>
#include <stdio.h>

int main(void)
{
    static unsigned short frames[3][4][5];
    const airy_host_view stack = {
        .data = frames, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {3, 4, 5}};
    airy_host_view image;
    airy_job *job = NULL;
    frames[1][2][3] = 7;
    const int failed = airy_job_create(&job, "reduce", NULL, NULL) ||
                       airy_job_set_array(job, "stack", &stack) || airy_job_set(job, "by", "max") ||
                       airy_job_set(job, "device", "cpu") || airy_job_run(job) ||
                       airy_job_get_array(job, "image", &image);
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    else
        printf("%s: pixel 2, 3 has %d\n", airy_job_summary(job),
               ((const unsigned short *)image.data)[2 * 5 + 3]);
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
