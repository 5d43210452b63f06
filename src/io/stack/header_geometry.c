#include "io/stack/header_geometry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void airy_unusable_add(struct airy_unusable *unusable, const char *format, ...)
{
    char *text = unusable->text;
    const size_t used = strlen(text), room = sizeof(unusable->text) - used;
    va_list arguments;
    va_start(arguments, format);
    const int before = used ? snprintf(text + used, room, ", ") : 0;
    if ((size_t)before + 1 < room)
        vsnprintf(text + used + before, room - (size_t)before, format, arguments);
    va_end(arguments);
}

void airy_header_set_center(struct airy_header *header, struct airy_unusable *unusable,
                            const char *name, double row, double column)
{
    if (row == 0 && column == 0) {
        airy_unusable_add(unusable, "%s is 0, 0, which means that it was not set", name);
        return;
    }
    header->parts |= AIRY_GEOMETRY_CENTER;
    header->center[0] = row;
    header->center[1] = column;
}

void airy_stated_add(struct airy_stated *stated, struct airy_unusable *unusable, const char *name,
                     double value)
{
    if (!stated->found) {
        stated->found = true;
        stated->value = value;
        snprintf(stated->name, sizeof(stated->name), "%s", name);
        return;
    }
    const double within = stated->within > 0 ? stated->within : 1e-3 * fabs(stated->value);
    if (stated->contradicted || fabs(value - stated->value) <= within)
        return;
    stated->contradicted = true;
    if (strcmp(stated->name, name) == 0)
        airy_unusable_add(unusable, "%s gives %.6g %s and %.6g %s", name, stated->value,
                          stated->unit, value, stated->unit);
    else
        airy_unusable_add(unusable, "%s gives %.6g %s, but %s gives %.6g %s", stated->name,
                          stated->value, stated->unit, name, value, stated->unit);
}

bool airy_stated_get(double *value, struct airy_header *header, unsigned part,
                     const struct airy_stated *stated)
{
    header->contradicted |= stated->contradicted ? part : 0;
    if (stated->found && !stated->contradicted)
        *value = stated->value;
    return stated->found && !stated->contradicted;
}

static bool are_far(const double *a, const double *b, size_t count, double relative,
                    double absolute)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= relative * fabs(a[i]) + absolute))
            return true;
    return false;
}

/*
 * Motors and monochromators are read back with noise. What moves a ring by less than a pixel in
 * 10,000 is none of the geometry's differences: 1e-4 of a length, 0.1 pixel, 1e-4 rad.
 */
unsigned airy_header_differ(const struct airy_header *a, const struct airy_header *b,
                            unsigned parts)
{
    const unsigned both = a->parts & b->parts & parts, torn = a->parts & b->contradicted & parts;
    if (torn)
        return torn & -torn;
    if ((both & AIRY_GEOMETRY_PIXELS) && are_far(a->pixel, b->pixel, 2, 1e-4, 0))
        return AIRY_GEOMETRY_PIXELS;
    if ((both & AIRY_GEOMETRY_DISTANCE) && are_far(&a->dist, &b->dist, 1, 1e-4, 0))
        return AIRY_GEOMETRY_DISTANCE;
    if ((both & AIRY_GEOMETRY_CENTER) && are_far(a->center, b->center, 2, 0, 0.1))
        return AIRY_GEOMETRY_CENTER;
    if ((both & AIRY_GEOMETRY_WAVELENGTH) && are_far(&a->wavelength, &b->wavelength, 1, 1e-4, 0))
        return AIRY_GEOMETRY_WAVELENGTH;
    if ((parts & AIRY_GEOMETRY_TILT) && are_far(a->tilt, b->tilt, 3, 0, 1e-4))
        return AIRY_GEOMETRY_TILT;
    return 0;
}

static void say_values(char text[96], unsigned part, const struct airy_header *h)
{
    const double degree = 57.29577951308232;
    if (part & h->contradicted)
        snprintf(text, 96, "of two values");
    else if (part == AIRY_GEOMETRY_PIXELS)
        snprintf(text, 96, "%.6g x %.6g m", h->pixel[0], h->pixel[1]);
    else if (part == AIRY_GEOMETRY_DISTANCE)
        snprintf(text, 96, "%.9g m", h->dist);
    else if (part == AIRY_GEOMETRY_CENTER)
        snprintf(text, 96, "row %.8g, column %.8g", h->center[0], h->center[1]);
    else if (part == AIRY_GEOMETRY_WAVELENGTH)
        snprintf(text, 96, "%.9g m", h->wavelength);
    else if (h->tilt[1] == 0 && h->tilt[2] == 0)
        snprintf(text, 96, "%.6g deg", h->tilt[0] * degree);
    else
        snprintf(text, 96, "%.6g, %.6g, %.6g deg", h->tilt[0] * degree, h->tilt[1] * degree,
                 h->tilt[2] * degree);
}

airy_status airy_header_refuse(unsigned part, const struct airy_header *a, const char *path_a,
                               const struct airy_header *b, const char *path_b)
{
    char first[96], second[96];
    say_values(first, part, a);
    say_values(second, part, b);
    const char *name = part == AIRY_GEOMETRY_PIXELS       ? "the pixel size"
                       : part == AIRY_GEOMETRY_DISTANCE   ? "the distance"
                       : part == AIRY_GEOMETRY_CENTER     ? "the beam centre"
                       : part == AIRY_GEOMETRY_WAVELENGTH ? "the wavelength"
                                                          : "the detector's angle";
    return airy_fail(AIRY_ERR_FORMAT, "%s is %s in %s, but %s in %s", name, first, path_a, second,
                     path_b);
}

void airy_header_describe(airy_stack_meta *meta, const struct airy_header *header,
                          const struct airy_unusable *unusable)
{
    const unsigned all = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER;
    airy_geometry *g = &meta->geometry;
    meta->has_geometry = (header->parts & all) == all;
    meta->geometry_parts = header->parts;
    meta->contradicted = header->contradicted;
    meta->center[0] = header->center[0];
    meta->center[1] = header->center[1];
    snprintf(meta->unusable, sizeof(meta->unusable), "%s", unusable->text);
    g->detector.pixel1 = header->pixel[0];
    g->detector.pixel2 = header->pixel[1];
    g->dist = header->dist;
    g->wavelength = header->wavelength;
    g->poni1 = header->center[0] * header->pixel[0];
    g->poni2 = header->center[1] * header->pixel[1];
}
