/* A stack whose frames are an array in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/stack/internal.h"

static const char name[] = "array";

/* As a file of frames that follow each other; segment.c reads them from there. */
static airy_status add_frames(airy_stack *stack, const void *pixels, airy_dtype dtype,
                              const size_t shape[3], uint64_t bytes)
{
    size_t segment;
    AIRY_TRY(airy_stack_add_blank(stack, &segment, name, ""));
    AIRY_TRY(airy_stack_settle_frame(stack, shape[1], shape[2], dtype, name, name));
    struct stack_segment *s = &stack->segments[segment];
    s->name[strlen(name)] = 0; /* there is no dataset behind it */
    s->frames = shape[0];
    s->dtype = dtype;
    s->direct = true;
    s->file = stack->file_count;
    s->end = s->stored_bytes = bytes;
    s->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(dtype)};
    const struct stack_file file = {
        .path = strdup(name), .size = bytes, .fd = -1, .memory = pixels};
    AIRY_FAIL_IF(!file.path, AIRY_ERR_MEMORY, "out of memory for a name");
    const airy_status status = airy_stack_append_file(stack, &file);
    if (status != AIRY_OK)
        free(file.path);
    AIRY_TRY(status);
    return airy_stack_add_run(stack, (struct stack_run){0, shape[0], segment, 0});
}

airy_status airy_stack_open_memory(airy_stack *stack, const void *pixels, airy_dtype dtype,
                                   const size_t shape[3])
{
    size_t bytes = airy_dtype_size(dtype);
    bool good = pixels && bytes > 0;
    for (int i = 0; i < 3 && good; i++)
        good = shape[i] > 0 && !airy_mul_size(&bytes, bytes, shape[i]);
    AIRY_FAIL_IF(
        !good || bytes > PTRDIFF_MAX, AIRY_ERR_PARAM,
        "an array of %zu frames of %zu x %zu %s, expected pixels, their dtype, and lengths "
        "of 1 and more",
        shape[0], shape[1], shape[2], airy_dtype_name(dtype));
    stack->first_path = strdup(name);
    AIRY_FAIL_IF(!stack->first_path, AIRY_ERR_MEMORY, "out of memory for a name");
    stack->first_is_plain = true;
    AIRY_TRY(add_frames(stack, pixels, dtype, shape, bytes));
    stack->frames = shape[0];
    return AIRY_OK;
}

const void *airy_stack_pixels(const airy_stack *stack, size_t frame)
{
    if (!airy_stack_is_memory(stack))
        return NULL;
    const struct stack_segment *s = &stack->segments[0];
    return (const uint8_t *)stack->files[0].memory + frame * (s->end / s->frames);
}

bool airy_stack_is_memory(const airy_stack *stack)
{
    return stack->file_count == 1 && stack->files[0].memory;
}
