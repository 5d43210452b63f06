/*
 * Make a result again from what it says it was made of.
 *
 * Build: cc job_replay.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_replay STACK.h5 FILE.poni FIRST.h5 AGAIN.h5
 */
#include <airy/airy.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    airy_job *job = NULL, *again = NULL;
    airy_result *result = NULL;
    char *configuration = NULL;
    const int failed =
        argc < 5 || airy_job_create(&job, "integrate", NULL, NULL) ||
        airy_job_set_json(job, "{\"bins\": \"100\", \"polarization\": [0.95], \"force\": true}") ||
        airy_job_set(job, "stack", argv[1]) || airy_job_set(job, "poni", argv[2]) ||
        airy_job_set(job, "output", argv[3]) || airy_job_run(job) ||
        airy_result_open(&result, argv[3]) ||
        airy_result_get_text(result, "configuration", &configuration) ||
        airy_job_create(&again, "integrate", NULL, NULL) ||
        airy_job_set_configuration(again, configuration) || airy_job_set(again, "stack", argv[1]) ||
        airy_job_set(again, "output", argv[4]) || airy_job_set_flag(again, "force", true) ||
        airy_job_run(again);
    printf("%s\n", failed ? airy_last_error() : airy_job_summary(again));
    free(configuration);
    airy_result_close(&result);
    airy_job_destroy(&job);
    airy_job_destroy(&again);
    airy_context_release();
    return failed;
}
