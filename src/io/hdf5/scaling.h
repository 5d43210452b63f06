#ifndef AIRY_IO_HDF5_SCALING_H
#define AIRY_IO_HDF5_SCALING_H

#include <hdf5.h>

/* Warn where attributes of an open dataset scale its values (netCDF). what names it. Lock held. */
void airy_hdf5_say_scaling(hid_t dataset, const char *what);

#endif
