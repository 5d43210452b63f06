/* The numbers of a geometry as files and streams of this program have them, exactly. */
#ifndef AIRY_BASE_GEOMETRY_FIELDS_H
#define AIRY_BASE_GEOMETRY_FIELDS_H

#include "airy/geometry.h"

enum { AIRY_GEOMETRY_FIELDS = 9 };

struct airy_geometry_field {
    const char *name, *units;
    size_t offset; /* of the double in airy_geometry */
};

extern const struct airy_geometry_field airy_geometry_fields[AIRY_GEOMETRY_FIELDS];

double airy_geometry_get(const airy_geometry *geometry, const struct airy_geometry_field *field);
void airy_geometry_set(airy_geometry *geometry, const struct airy_geometry_field *field,
                       double value);
/* Pixels and a distance that there can be. */
bool airy_geometry_is_there(const airy_geometry *geometry);

#endif
