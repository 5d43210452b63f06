/*
 * Stacks of frames: write one as detectors do, compressed, one chunk a frame; open it, look at it,
 * read a frame.
 *
 * Build: cc frames.c $(pkg-config --cflags --libs airy)
 * Run:   ./frames FILE.h5         is written, and removed at the end
 */
#include <airy/stack.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 5, HEIGHT = 60, WIDTH = 80, PIXELS = HEIGHT * WIDTH };

static uint16_t pixels[PIXELS];

static airy_status write_frames(airy_stack_writer *writer, const airy_codec_params *codec,
                                void *chunk, size_t capacity)
{
    airy_status status = AIRY_OK;
    for (size_t frame = 0; status == AIRY_OK && frame < FRAMES; frame++) {
        for (size_t i = 0; i < PIXELS; i++)
            pixels[i] = (uint16_t)(10 * frame + i % 7);
        size_t size = capacity;
        status = airy_encode(chunk, &size, pixels, sizeof(pixels), codec);
        if (status == AIRY_OK)
            status = airy_stack_writer_add(writer, frame, chunk, size);
    }
    /* Until here the file was FILE.h5.partial. */
    return status == AIRY_OK ? airy_stack_writer_finish(writer) : status;
}

static airy_status write_stack(const char *path)
{
    const airy_stack_writer_params params = {
        .dtype = AIRY_DTYPE_U16,
        .frames = FRAMES,
        .height = HEIGHT,
        .width = WIDTH,
        .codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = sizeof(uint16_t)},
        .force = true};
    const size_t capacity = airy_encode_bound(sizeof(pixels), &params.codec);
    airy_stack_writer *writer = NULL;
    void *chunk = malloc(capacity);
    airy_status status = chunk ? airy_stack_writer_create(&writer, path, &params) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = write_frames(writer, &params.codec, chunk, capacity);
    airy_stack_writer_destroy(&writer);
    free(chunk);
    return status;
}

static airy_status read_stack(const char *path)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_status status = airy_stack_create(&stack, &path, 1);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK) {
        printf("%s: %zu frames of %zu x %zu %s, %s, %llu bytes\n", info.dataset, info.frames,
               info.height, info.width, airy_dtype_name(info.dtype), info.filters,
               (unsigned long long)info.stored_bytes);
        status = airy_stack_read(stack, 3, pixels, sizeof(pixels));
    }
    if (status == AIRY_OK)
        printf("frame 3 begins with %u %u %u\n", pixels[0], pixels[1], pixels[2]);
    airy_stack_destroy(&stack);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "frames.h5";
    airy_status status = write_stack(path);
    if (status == AIRY_OK)
        status = read_stack(path);
    if (status != AIRY_OK)
        fprintf(stderr, "frames: %s: %s\n", airy_status_name(status), airy_last_error());
    remove(path);
    return status == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
