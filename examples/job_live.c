/*
 * Take a series of a detector's stream: each pattern as soon as it is there.
 *
 * Build: cc job_live.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_live tcp://HOST:PORT FILE.poni [DEVICE]
 */
#include <airy/airy.h>
#include <stdio.h>

/* The text of an event also counts the rows that were dropped, where this program is too slow. */
static void show(const airy_job_event *event)
{
    const char *kinds[] = {"begins", "row", "lost", "ends"};
    printf("%s: series %llu, frame %zu %s", kinds[event->kind], (unsigned long long)event->series,
           event->frame, event->text);
    if (event->intensity)
        printf(" %g at %g", event->intensity[50], event->radial[50]);
    puts("");
}

int main(int argc, char **argv)
{
    airy_job *job = NULL;
    const airy_job_event *event = NULL;
    int failed = argc < 3 || airy_job_create(&job, "integrate", NULL, NULL) ||
                 airy_job_set_json(job, "{\"bins\": \"200\", \"series\": 1}") ||
                 airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
                 airy_job_set(job, "device", argc > 3 ? argv[3] : "cpu") || airy_job_start(job);
    for (airy_status s = AIRY_ERR_TIMED_OUT; !failed && (s == AIRY_ERR_TIMED_OUT || event);) {
        s = airy_job_next(job, &event, 1.0);
        if (event)
            show(event);
    }
    failed = failed || airy_job_finish(job) < AIRY_OK;
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
