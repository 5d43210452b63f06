/*
 * A catalogue of sources: background and noise of an image, detection, a table.
 *
 * Build: cc catalog.c $(pkg-config --cflags --libs airy)
 * Run:   ./catalog [DEVICE [TABLE]]     such as cpu sources.vot
 */
#include <airy/airy.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 128 };

/* Noise on a slope, around two spots of 3 x 3 pixels. */
static void draw(float *image)
{
    uint32_t words[SIDE * SIDE];
    airy_random_words(words, SIDE * SIDE, 1, 0, 0);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        image[i] = 100 + 0.5f * (float)(i % SIDE) + (float)(words[i] >> 28);
    for (size_t k = 0; k < 9; k++) {
        image[(20 + k / 3) * SIDE + 12 + k % 3] += 200;
        image[(81 + k / 3) * SIDE + 100 + k % 3] += 300;
    }
}

/* The columns are members of the structs that the sources are in. */
static airy_status write_table(const char *path, const airy_source *s, size_t count)
{
    const size_t step = sizeof(*s);
    const airy_column columns[] = {
        {.name = "x", .unit = "pix", .dtype = AIRY_DTYPE_F64, .data = &s->x, .step = step},
        {.name = "y", .unit = "pix", .dtype = AIRY_DTYPE_F64, .data = &s->y, .step = step},
        {.name = "npix", .unit = "pix", .dtype = AIRY_DTYPE_U64, .data = &s->npix, .step = step},
        {.name = "flux", .dtype = AIRY_DTYPE_F64, .data = &s->flux, .step = step},
        {.name = "flux_err", .dtype = AIRY_DTYPE_F64, .data = &s->flux_err, .step = step},
    };
    const airy_table table = {.name = "SOURCES", .rows = count, .columns = 5, .column = columns};
    return airy_table_write(&table, path, true);
}

static airy_status find(airy_queue *queue, airy_array *image, airy_array *noise, const char *path)
{
    airy_background *background = NULL;
    airy_source *sources = NULL;
    size_t count = 0;
    airy_status status = airy_background_create(&background, queue, image, NULL, NULL, NULL);
    if (status == AIRY_OK) /* in place */
        status = airy_background_subtract(queue, background, image, image, noise);
    if (status == AIRY_OK)
        status = airy_sources_find(queue, &sources, &count, NULL, image,
                                   &(airy_sources_params){.noise_map = noise});
    if (status == AIRY_OK && count > 0)
        status = write_table(path, sources, count);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        printf("at x = %.2f, y = %.2f: flux %.0f +- %.0f\n", sources[i].x, sources[i].y,
               sources[i].flux, sources[i].flux_err);
    airy_sources_free(sources);
    airy_background_destroy(&background);
    return status;
}

int main(int argc, char **argv)
{
    const size_t shape[2] = {SIDE, SIDE};
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *image = NULL, *noise = NULL;
    static float pixels[SIDE * SIDE];
    draw(pixels);
    airy_status status = airy_device_create(&device, argc > 1 ? argv[1] : NULL, NULL);
    if (status == AIRY_OK)
        status = airy_queue_create(&queue, device);
    if (status == AIRY_OK)
        status = airy_array_create_from(&image, queue, AIRY_DTYPE_F32, 2, shape, pixels);
    if (status == AIRY_OK)
        status = airy_array_create(&noise, device, AIRY_DTYPE_F32, 2, shape);
    if (status == AIRY_OK)
        status = find(queue, image, noise, argc > 2 ? argv[2] : "sources.csv");
    if (status != AIRY_OK)
        fprintf(stderr, "%s\n", airy_last_error());
    airy_array_destroy(&noise);
    airy_array_destroy(&image);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    return status == AIRY_OK ? 0 : 1;
}
