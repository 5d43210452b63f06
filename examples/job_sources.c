/*
 * Find the sources of an image that is an array: a table in memory.
 *
 * Build: cc job_sources.c $(pkg-config --cflags --libs airy)
 */
#include <airy/airy.h>
#include <stdio.h>

int main(void)
{
    static float image[64][64];
    const airy_host_view view = {
        .data = image, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {64, 64}};
    const airy_table *table = NULL;
    airy_job *job = NULL;
    unsigned noise = 1;
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            noise = noise * 1664525u + 1013904223u;
            const int square = (x - 20) * (x - 20) + (y - 40) * (y - 40);
            image[y][x] = 100 / (float)(1 + square) + (float)(noise >> 16) / 65536;
        }
    const int failed = airy_job_create(&job, "sources", NULL, NULL) ||
                       airy_job_set_array(job, "image", &view) ||
                       airy_job_set(job, "device", "cpu") || airy_job_run(job) ||
                       airy_job_get_table(job, "catalog", &table);
    if (failed)
        fprintf(stderr, "%s\n", airy_last_error());
    else
        printf("%zu source%s, %zu columns, the first is %s\n", table->rows,
               table->rows == 1 ? "" : "s", table->columns, table->column[0].name);
    airy_job_destroy(&job);
    airy_context_release();
    return failed;
}
