/*
 * Fetch the rows of a run while it goes on: the total of each pattern.
 *
 * Build: cc job_rows.c $(pkg-config --cflags --libs airy) -lm
 * Run:   ./job_rows STACK.h5 FILE.poni [DEVICE]
 */
#include <airy/airy.h>
#include <math.h>
#include <stdio.h>

static void show(const airy_job_event *event)
{
    double total = 0;
    for (size_t i = 0; i < event->radial_bins; i++)
        if (!isnan(event->intensity[i])) /* a bin without pixels */
            total += event->intensity[i];
    printf("frame %zu: %g %s\n", event->frame, total, event->text);
}

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    const airy_job_event *event = NULL;
    int failed = argc < 3 || airy_job_create(&job, "integrate", NULL, NULL) ||
                 airy_job_set_json(job, "{\"unit\": \"2th_deg\", \"on-error\": \"skip\"}") ||
                 airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
                 airy_job_set(job, "device", argc > 3 ? argv[3] : "cpu") || airy_job_start(job);
    if (!failed) {
        while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
            if (event->kind == AIRY_JOB_EVENT_ROW)
                show(event);
        failed = airy_job_finish(job) < AIRY_OK;
    }
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
