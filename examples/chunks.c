/*
 * Compressed chunks: encode frames as HDF5's filter 32008 stores them, decode a batch of them on a
 * device.
 *
 * Build: cc chunks.c $(pkg-config --cflags --libs airy)
 * Run:   ./chunks [DEVICE]
 */
#include <airy/codec.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 4, HEIGHT = 100, WIDTH = 120, PIXELS = HEIGHT * WIDTH };

/* Frame i holds i in every tenth pixel. Its chunk becomes the next frame of the batch. */
static airy_status add_frame(airy_batch *batch, uint32_t value)
{
    static uint32_t pixels[PIXELS];
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = sizeof(uint32_t)};
    size_t size = airy_encode_bound(sizeof(pixels), &codec);
    void *chunk = malloc(size);
    if (!chunk)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < PIXELS; i += 10)
        pixels[i] = value;
    airy_status status = airy_encode(chunk, &size, pixels, sizeof(pixels), &codec);
    if (status == AIRY_OK)
        status = airy_batch_add(batch, chunk, size);
    if (status == AIRY_OK)
        printf("frame %u: %zu bytes become %zu\n", (unsigned)value, sizeof(pixels), size);
    free(chunk);
    return status;
}

static airy_status run(airy_device *device, airy_queue *queue)
{
    static uint32_t decoded[FRAMES][PIXELS];
    const airy_batch_params params = {.dtype = AIRY_DTYPE_U32,
                                      .height = HEIGHT,
                                      .width = WIDTH,
                                      .codec.codec = AIRY_CODEC_BSLZ4,
                                      .frames = FRAMES};
    const size_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    uint32_t state[FRAMES];
    airy_batch *batch = NULL;
    airy_array *frames = NULL, *status = NULL;
    airy_status s = airy_batch_create(&batch, device, &params);
    for (uint32_t i = 0; s == AIRY_OK && i < FRAMES; i++)
        s = add_frame(batch, i);
    if (s == AIRY_OK)
        s = airy_array_create(&frames, device, AIRY_DTYPE_U32, 3, shape);
    if (s == AIRY_OK)
        s = airy_array_create(&status, device, AIRY_DTYPE_U32, 1, shape);
    if (s == AIRY_OK)
        s = airy_decode_batch(queue, frames, status, batch);
    if (s == AIRY_OK)
        s = airy_array_pull(queue, state, sizeof(state), status);
    if (s == AIRY_OK)
        s = airy_array_pull(queue, decoded, sizeof(decoded), frames);
    if (s == AIRY_OK)
        s = airy_queue_finish(queue);
    for (int i = 0; s == AIRY_OK && i < FRAMES; i++)
        printf("frame %d: %s, pixel 10 = %u\n", i, airy_frame_error(state[i]),
               (unsigned)decoded[i][10]);
    airy_array_destroy(&status);
    airy_array_destroy(&frames);
    airy_batch_destroy(&batch);
    return s;
}

int main(int argc, char **argv)
{
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_status s = airy_device_create(&device, argc > 1 ? argv[1] : "cpu", NULL);
    if (s == AIRY_OK)
        s = airy_queue_create(&queue, device);
    if (s == AIRY_OK)
        s = run(device, queue);
    if (s != AIRY_OK)
        fprintf(stderr, "chunks: %s\n", airy_last_error());
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    return s == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
