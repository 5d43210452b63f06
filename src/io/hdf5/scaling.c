/* Scales that writers of other programs put beside values, which are taken as they are stored. */
#include "io/hdf5/scaling.h"

#include "base/error.h"

/* A number of an open object; `usual` where it is not there or is no single number. */
static double read_number(hid_t object, const char *name, double usual)
{
    double value = usual;
    if (H5Aexists(object, name) <= 0)
        return usual;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute),
                space = attribute < 0 ? -1 : H5Aget_space(attribute);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || space < 0 ||
        H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
        value = usual;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return value;
}

void airy_hdf5_say_scaling(hid_t dataset, const char *what)
{
    const double scale = read_number(dataset, "scale_factor", 1),
                 offset = read_number(dataset, "add_offset", 0);
    if (scale != 1 || offset != 0)
        airy_log(AIRY_LOG_WARN,
                 "%s: its attributes scale_factor = %g and add_offset = %g are ignored: values are "
                 "taken as they are stored",
                 what, scale, offset);
}
