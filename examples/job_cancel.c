/*
 * Cancel a job from another thread. airy_job_cancel may also be called by a signal handler.
 *
 * Build: cc job_cancel.c $(pkg-config --cflags --libs airy) -pthread
 * Run:   ./job_cancel OUT.h5
 */
#include <airy/airy.h>
#include <pthread.h>
#include <stdio.h>

static void *cancel(void *user)
{
    size_t done = 0, total = 0;
    while (done < 2) /* frames */
        airy_job_progress(user, &done, &total);
    airy_job_cancel(user);
    return NULL;
}

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    pthread_t thread;
    if (argc < 2 || airy_job_create(&job, "simulate-diffraction", NULL, NULL) ||
        airy_job_set_json(job, "{\"frames\": 100000, \"detector\": \"Pilatus100k\"}") ||
        airy_job_set(job, "output", argv[1]) || pthread_create(&thread, NULL, cancel, job)) {
        fprintf(stderr, "%s\n", airy_last_error());
        return 1;
    }
    const airy_status s = airy_job_run(job);
    pthread_join(thread, NULL);
    printf("%s: %s\n", airy_status_name(s), airy_last_error());
    airy_job_destroy(&job);
    return s != AIRY_ERR_CANCELLED;
}
