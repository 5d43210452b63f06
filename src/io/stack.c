#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/stack_internal.h"

/* One codec for the pipeline: the first that compresses; frames of segments with another one come decoded. */
static void settle_codec(airy_stack *stack)
{
    stack->path = AIRY_STACK_LIBRARY;
    stack->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(stack->dtype)};
    for (size_t i = 0; i < stack->segment_count; i++) {
        const struct stack_segment *segment = &stack->segments[i];
        stack->stored_bytes += segment->stored_bytes;
        if (!segment->direct)
            continue;
        stack->path = AIRY_STACK_DIRECT;
        if (stack->codec.codec == AIRY_CODEC_NONE && segment->codec.codec != AIRY_CODEC_NONE)
            stack->codec = segment->codec;
    }
}

static void settle_sizes(airy_stack *stack)
{
    for (size_t i = 0; i < stack->segment_count; i++) {
        const struct stack_segment *segment = &stack->segments[i];
        if (!segment->places && !segment->fill_only)
            stack->max_chunk = airy_max_size(stack->max_chunk, stack->frame_bytes);
        for (size_t frame = 0; segment->places && frame < segment->frames; frame++) {
            const struct airy_place *place = &segment->places[frame];
            if (place->kind == AIRY_PLACE_CHUNK || place->kind == AIRY_PLACE_STORED)
                stack->max_chunk = airy_max_size(stack->max_chunk, place->size);
        }
    }
}

static airy_status add_paths(airy_stack *stack, const char *const *paths, size_t count)
{
    struct stack_choice *choices = NULL;
    size_t chosen = 0;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        status = airy_stack_find(&choices, &chosen, paths[i], 2);
    for (size_t i = 0; i < chosen && status == AIRY_OK; i++)
        status = airy_stack_add(stack, choices[i].path, choices[i].dataset);
    if (status == AIRY_OK) {
        stack->first_path = choices[0].path;
        choices[0].path = NULL;
    }
    for (size_t i = 0; i < chosen; i++) {
        free(choices[i].path);
        free(choices[i].dataset);
    }
    free(choices);
    return status;
}

airy_status airy_stack_create(airy_stack **stack, const char *const *paths, size_t count)
{
    AIRY_FAIL_IF(!stack || !paths || count == 0, AIRY_ERR_PARAM, "a stack of %zu paths, expected at least one", count);
    airy_stack *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a stack"));
    airy_status status = airy_stack_library_open(made);
    if (status == AIRY_OK)
        status = airy_hdf5_lock();
    if (status == AIRY_OK) {
        status = add_paths(made, paths, count);
        airy_hdf5_unlock();
    }
    if (status != AIRY_OK) {
        airy_stack_destroy(&made);
        return status;
    }
    settle_codec(made);
    settle_sizes(made);
    *stack = made;
    return AIRY_OK;
}

void airy_stack_destroy(airy_stack **stack)
{
    if (!stack || !*stack)
        return;
    airy_stack *dead = *stack;
    *stack = NULL;
    airy_stack_library_close(dead);
    airy_stack_drop_segments(dead, 0);
    for (size_t i = 0; i < dead->file_count; i++) {
        if (dead->files[i].fd >= 0)
            close(dead->files[i].fd);
        free(dead->files[i].path);
    }
    free(dead->files);
    free(dead->segments);
    free(dead->runs);
    free(dead->first_path);
    free(dead);
}

airy_status airy_stack_get_info(const airy_stack *stack, airy_stack_info *info)
{
    AIRY_FAIL_IF(!stack || !info, AIRY_ERR_PARAM, "airy_stack_get_info: an argument is NULL");
    const struct stack_segment *first = &stack->segments[0];
    *info = (airy_stack_info){.frames = stack->frames,
                              .height = stack->height,
                              .width = stack->width,
                              .dtype = stack->dtype,
                              .codec = stack->codec,
                              .path = stack->path,
                              .stored_bytes = stack->stored_bytes,
                              .max_chunk = stack->max_chunk,
                              .files = airy_max_size(stack->file_count, 1),
                              .dataset = first->name,
                              .filters = first->filters ? first->filters : "none"};
    return AIRY_OK;
}
