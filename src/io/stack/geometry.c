/* All files of a stack must state the geometry of the first. */
#include <string.h>

#include "base/error.h"
#include "io/stack/internal.h"

static airy_status hold_hdf5(airy_stack *stack, const char *path, unsigned *differs)
{
    struct airy_header header;
    AIRY_TRY(airy_stack_header(&header, path));
    if (header.parts && !stack->like.parts) {
        stack->like = header;
        stack->like_path = path;
    }
    *differs = header.parts && stack->like.parts
                   ? airy_header_differ(&stack->like, &header, stack->held)
                   : 0;
    return *differs ? airy_header_refuse(*differs, &stack->like, stack->like_path, &header, path)
                    : AIRY_OK;
}

/* Files that are looked into, which takes milliseconds each: of more, so many between them. */
enum { MOST_SOURCES = 256 };

/*
 * Sources of virtual datasets state what they were taken with. They must agree with each other; what
 * the file of the virtual dataset states is for all of them.
 */
static airy_status hold_sources(const airy_stack *stack, unsigned *differs)
{
    struct airy_header like = {0};
    const char *like_path = NULL, *last = NULL;
    size_t count = 0, next = 0, seen = 0;
    for (size_t i = 0; i < stack->segment_count; i++)
        count += stack->segments[i].is_source;
    for (size_t i = 0; i < stack->segment_count && stack->held; i++) {
        const struct stack_segment *segment = &stack->segments[i];
        struct airy_header header;
        if (!segment->is_source || segment->broken || !segment->path ||
            (last && strcmp(last, segment->path) == 0))
            continue;
        if (seen++ < next && seen < count)
            continue;
        next = seen + (count > MOST_SOURCES ? count / MOST_SOURCES : 0);
        last = segment->path;
        AIRY_TRY(airy_stack_header(&header, last));
        *differs = header.parts && like.parts ? airy_header_differ(&like, &header, stack->held) : 0;
        if (*differs)
            return airy_header_refuse(*differs, &like, like_path, &header, last);
        if (header.parts && !like.parts) {
            like = header;
            like_path = last;
        }
    }
    return AIRY_OK;
}

/* single: an input alone is looked into, too. */
static airy_status hold(airy_stack *stack, bool single, unsigned *differs)
{
    airy_status status = AIRY_OK;
    *differs = 0;
    for (size_t i = 0; i < stack->part_count && stack->held && status == AIRY_OK; i++) {
        const struct stack_part *part = &stack->parts[i];
        const bool again = i > 0 && strcmp(part->path, stack->parts[i - 1].path) == 0;
        if (!part->plain && !again && (single || stack->part_count > 1))
            status = hold_hdf5(stack, part->path, differs);
    }
    for (size_t i = 0; i < stack->segment_count && stack->held && status == AIRY_OK; i++)
        if (stack->segments[i].plain)
            status = airy_plain_hold(&stack->segments[i], stack, &stack->like, &stack->like_path,
                                     differs);
    return status == AIRY_OK ? hold_sources(stack, differs) : status;
}

airy_status airy_stack_hold_geometry(airy_stack *stack, unsigned parts, unsigned *differs)
{
    unsigned other;
    AIRY_FAIL_IF(!stack, AIRY_ERR_PARAM, "airy_stack_hold_geometry: stack is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_hold_geometry"));
    stack->held = parts;
    stack->like = (struct airy_header){0};
    return hold(stack, false, differs ? differs : &other);
}

airy_status airy_stack_hold_like(airy_stack *stack, const airy_stack *first, unsigned parts,
                                 unsigned *differs)
{
    unsigned other;
    AIRY_FAIL_IF(!stack || !first, AIRY_ERR_PARAM, "airy_stack_hold_like: a stack is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_hold_like"));
    AIRY_TRY(airy_stack_refuse_pipe(first, "airy_stack_hold_like"));
    stack->held = parts;
    stack->like = first->like;
    stack->like_path = first->like_path;
    if (parts && !stack->like.parts && first->part_count == 1 && !first->first_is_plain) {
        stack->like_path = first->parts[0].path;
        AIRY_TRY(airy_stack_header(&stack->like, stack->like_path));
    }
    return hold(stack, true, differs ? differs : &other);
}
