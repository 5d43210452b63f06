/*
 * Device arrays: create, push, view, fill, copy, pull, format.
 *
 * Build: cc arrays.c $(pkg-config --cflags --libs airy)
 * Run:   ./arrays [DEVICE]        such as cpu, gpu:0, opencl:0:0
 */
#include <airy/array.h>
#include <stdio.h>
#include <stdlib.h>

static airy_status run(const char *spec)
{
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *image = NULL, *corner = NULL, *copy = NULL;
    uint16_t pixels[6][8], back[2][3];
    const size_t shape[2] = {6, 8}, start[2] = {1, 2}, box[2] = {2, 3};
    airy_memory_info memory;
    airy_status status;
    char *text = NULL;

    for (unsigned y = 0; y < 6; y++)
        for (unsigned x = 0; x < 8; x++)
            pixels[y][x] = (uint16_t)(100 * y + x);

    /* Every call says whether it worked; the sentence is kept for airy_last_error. */
    if ((status = airy_device_create(&device, spec, NULL)) != AIRY_OK)
        goto out;
    if ((status = airy_queue_create(&queue, device)) != AIRY_OK)
        goto out;
    if ((status = airy_array_create_from(&image, queue, AIRY_DTYPE_U16, 2, shape, pixels)) !=
        AIRY_OK)
        goto out;

    /* A view shares the image's memory and keeps its pitch. */
    if ((status = airy_array_view(&corner, image, start, box)) != AIRY_OK)
        goto out;
    if ((status = airy_array_create(&copy, device, AIRY_DTYPE_U16, 2, box)) != AIRY_OK)
        goto out;
    if ((status = airy_array_copy(queue, copy, corner)) != AIRY_OK)
        goto out;
    if ((status = airy_array_fill(queue, corner, 0)) != AIRY_OK)
        goto out;

    /* Work is done in order on the queue; pull has finished when it returns. */
    if ((status = airy_array_pull(queue, back, sizeof(back), copy)) != AIRY_OK)
        goto out;
    printf("the view began with %u and ended with %u\n", back[0][0], back[1][2]);
    if ((status = airy_array_format(queue, &text, image)) != AIRY_OK)
        goto out;
    fputs(text, stdout);
    if ((status = airy_queue_finish(queue)) != AIRY_OK)
        goto out;
    if ((status = airy_device_memory(device, &memory)) == AIRY_OK)
        printf("%llu bytes in %llu pieces on %s\n", (unsigned long long)memory.in_use,
               (unsigned long long)memory.count, airy_device_spec(device));
out:
    free(text);
    /* Children go before the device; NULL is fine. */
    airy_array_destroy(&copy);
    airy_array_destroy(&corner);
    airy_array_destroy(&image);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    return status;
}

int main(int argc, char **argv)
{
    if (run(argc > 1 ? argv[1] : "cpu") == AIRY_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "arrays: %s\n", airy_last_error());
    return EXIT_FAILURE;
}
