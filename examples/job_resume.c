/*
 * A run that was cancelled is resumed with the same values alone: here its mask is another one.
 *
 * Build: cc job_resume.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_resume STACK.h5 FILE.poni OUT.h5
 */
#include <airy/airy.h>
#include <stdio.h>

static bool stop(void *user, size_t done, size_t total)
{
    return (void)user, (void)total, done == 0;
}

static airy_status run(char **argv, const airy_host_view *mask, const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    const airy_status s = airy_job_create(&job, "integrate", NULL, hooks) ||
                                  airy_job_set(job, "stack", argv[1]) ||
                                  airy_job_set(job, "poni", argv[2]) ||
                                  airy_job_set_array(job, "mask", mask) ||
                                  airy_job_set_json(job, "{\"batch\": 1, \"force\": true}") ||
                                  airy_job_set_flag(job, "resume", hooks == NULL) ||
                                  airy_job_set(job, "output", argv[3])
                              ? AIRY_ERR_PARAM
                              : airy_job_run(job);
    printf("%s: %s\n", airy_status_name(s), airy_last_error());
    airy_job_destroy(&job);
    return s;
}

int main(int argc, char **argv)
{
    static unsigned char pixels[37][44]; /* of the stack's frames */
    const airy_host_view mask = {
        .data = pixels, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {37, 44}};
    if (argc < 4)
        return 2;
    const airy_status first = run(argv, &mask, &(airy_job_hooks){.progress = stop});
    pixels[0][7] = 1;
    const airy_status second = run(argv, &mask, NULL);
    return first == AIRY_ERR_CANCELLED && second == AIRY_ERR_FORMAT ? 0 : 1;
}
