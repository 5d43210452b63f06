/*
 * OCT of a file: the depth profiles of all lines as an array. Another job simulates the file.
 *
 * Build: cc job_oct.c $(pkg-config --cflags --libs airy)
 * Run:   ./job_oct RAW.npy PLAN.json
 */
#include <airy/airy.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    airy_job *make = NULL, *job = NULL;
    airy_host_view profiles;
    const int failed =
        argc < 3 || airy_job_create(&make, "simulate-oct", NULL, NULL) ||
        airy_job_set_json(make,
                          "{\"samples\": 256, \"lines\": 32, \"frames\": 3, \"force\": true}") ||
        airy_job_set(make, "output", argv[1]) || airy_job_set(make, "write-plan", argv[2]) ||
        airy_job_run(make) || airy_job_create(&job, "oct", NULL, NULL) ||
        airy_job_set(job, "raw", argv[1]) || airy_job_set(job, "plan", argv[2]) ||
        airy_job_set(job, "device", "cpu") || airy_job_run(job) ||
        airy_job_get_array(job, "profiles", &profiles);
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    else
        printf("%zu frames of %zu lines, %zu depths each\n", profiles.shape[0], profiles.shape[1],
               profiles.shape[2]);
    airy_job_destroy(&make);
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
