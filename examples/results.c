/*
 * Results: rows 10 to 20 of a file of patterns, finished or not.
 *
 * Build: cc results.c $(pkg-config --cflags --libs airy)
 * Run:   ./results PATTERNS.h5     PATTERNS.h5.partial is found where the run is not finished
 */
#include <airy/result.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 10, LAST = 20, COUNT = LAST - FIRST + 1 };

static const char *const words[] = {"pending", "good", "bad"};

/* Everything in two calls: the frames' numbers, and the patterns. */
static airy_status print_rows(airy_result *result, const airy_result_plane *plane, float *values)
{
    uint64_t index[COUNT];
    char message[200];
    airy_result_axis axis;
    airy_status s =
        airy_result_read(result, "frame/index", FIRST, COUNT, AIRY_DTYPE_U64, index, sizeof(index));
    if (s == AIRY_OK)
        s = airy_result_read(result, plane->name, FIRST, COUNT, AIRY_DTYPE_F32, values,
                             COUNT * plane->cells * sizeof(float));
    if (s == AIRY_OK)
        s = airy_result_get_axis(result, 0, &axis);
    for (size_t i = 0; s == AIRY_OK && i < COUNT; i++) {
        const airy_row row = airy_result_get_row(result, FIRST + i);
        s = airy_result_get_message(result, FIRST + i, message, sizeof(message));
        printf("row %zu, frame %llu, %s: intensity %g at %s = %g%s%s\n", FIRST + i,
               (unsigned long long)index[i], words[row + 1],
               (double)values[i * plane->cells + axis.count / 2], axis.label,
               axis.values[axis.count / 2], *message ? ": " : "", message);
    }
    return s;
}

static airy_status run(airy_result *result)
{
    airy_result_info info;
    airy_result_plane plane;
    airy_status s = airy_result_get_info(result, &info);
    if (s == AIRY_OK)
        s = airy_result_find_plane(result, "intensity", &plane);
    if (s != AIRY_OK)
        return s;
    printf("%s: %zu rows, %zu good, %zu bad%s\n", info.path, info.rows, info.good, info.bad,
           info.complete ? "" : ", not complete");
    float *values = malloc(COUNT * plane.cells * sizeof(float));
    s = values ? print_rows(result, &plane, values) : AIRY_ERR_MEMORY;
    free(values);
    return s;
}

int main(int argc, char **argv)
{
    airy_result *result = NULL;
    airy_status s = airy_result_open(&result, argc > 1 ? argv[1] : "patterns.h5");
    if (s == AIRY_OK)
        s = run(result);
    if (s != AIRY_OK)
        fprintf(stderr, "results: %s: %s\n", airy_status_name(s), airy_last_error());
    airy_result_close(&result);
    return s == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
