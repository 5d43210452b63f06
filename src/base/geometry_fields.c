#include "base/geometry_fields.h"

#include <string.h>

#define AT(member) offsetof(airy_geometry, member)

const struct airy_geometry_field airy_geometry_fields[AIRY_GEOMETRY_FIELDS] = {
    {"pixel1", "m", AT(detector.pixel1)},
    {"pixel2", "m", AT(detector.pixel2)},
    {"dist", "m", AT(dist)},
    {"poni1", "m", AT(poni1)},
    {"poni2", "m", AT(poni2)},
    {"rot1", "rad", AT(rot1)},
    {"rot2", "rad", AT(rot2)},
    {"rot3", "rad", AT(rot3)},
    {"wavelength", "m", AT(wavelength)},
};

double airy_geometry_get(const airy_geometry *geometry, const struct airy_geometry_field *field)
{
    double value;
    memcpy(&value, (const char *)geometry + field->offset, sizeof(value));
    return value;
}

void airy_geometry_set(airy_geometry *geometry, const struct airy_geometry_field *field,
                       double value)
{
    memcpy((char *)geometry + field->offset, &value, sizeof(value));
}

bool airy_geometry_is_there(const airy_geometry *geometry)
{
    const airy_detector *d = &geometry->detector;
    return d->pixel1 > 0 && d->pixel2 > 0 && geometry->dist > 0;
}
