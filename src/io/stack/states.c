/* What an output of a stack's frames can state of their geometry. */
#include <stdio.h>
#include <stdlib.h>

#include "airy/image.h"
#include "io/file/format.h"
#include "io/stack/internal.h"

struct report {
    const char *path;
    airy_log_fn message;
    void *user;
};

static void warn(const struct report *report, const char *what, const char *reason)
{
    char text[1024];
    if (!report->message)
        return;
    snprintf(text, sizeof(text), "%s: %s, since %s", report->path, what, reason);
    report->message(report->user, AIRY_LOG_WARN, text);
}

/* Formats that have a place for a geometry, of a file that may state one. */
static bool has_place(const airy_stack *stack, const char *path)
{
    const enum airy_image_format format = airy_image_format_of_name(path);
    return format != AIRY_FORMAT_NPY && format != AIRY_FORMAT_PNG && format != AIRY_FORMAT_FITS &&
           (airy_stack_is_memory(stack) || !airy_image_is_fits(stack->first_path));
}

static bool holds_geometry(airy_stack *stack, const airy_stack_meta *meta,
                           const struct report *report)
{
    static const unsigned all = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE |
                                AIRY_GEOMETRY_CENTER | AIRY_GEOMETRY_WAVELENGTH |
                                AIRY_GEOMETRY_TILT;
    if (airy_stack_hold_geometry(stack, all, NULL) != AIRY_OK) {
        warn(report, "no geometry is written", airy_last_error());
        return false;
    }
    if (meta->contradicted)
        warn(report, "a part of the geometry is not written", meta->unusable);
    return true;
}

static uint8_t *read_mask(const airy_stack *stack, const struct report *report)
{
    uint8_t *mask = malloc(stack->height * stack->width);
    if (mask && airy_stack_mask(stack, mask) != AIRY_OK) {
        warn(report, "no pixel mask is written", airy_last_error());
        free(mask);
        mask = NULL;
    }
    return mask;
}

bool airy_stack_states(uint8_t **mask, airy_stack *stack, const airy_stack_meta *meta,
                       const char *path, airy_log_fn message, void *user)
{
    const struct report report = {path, message, user};
    *mask = NULL;
    if (!stack || !meta || !path || !has_place(stack, path) ||
        !holds_geometry(stack, meta, &report))
        return false;
    *mask = meta->has_mask ? read_mask(stack, &report) : NULL;
    return true;
}
