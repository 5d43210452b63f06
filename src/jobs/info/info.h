/* Parts of airy_file_info. Objects are NULL where memory is short. */
#ifndef AIRY_JOBS_INFO_H
#define AIRY_JOBS_INFO_H

#include <jansson.h>

#include "airy/geometry.h"
#include "airy/image.h"
#include "airy/info.h"
#include "base/log.h"
#include "jobs/image_group.h"

/* What is described. */
struct info {
    const char *const *paths;
    size_t count;
    airy_file_info_params params;
};

enum { INFO_WHY = 512 };

/* Report a warning about the file. */
void airy_info_warn(const struct info *info, const char *format, ...) AIRY_PRINTF(2, 3);
/* [2, 100, 100] */
json_t *airy_info_shape(const uint64_t *shape, int ndim);
json_t *airy_info_geometry(const airy_geometry *geometry);
/* How many frames of so many bytes fit where; row: bytes of a row of the slowest axis, or 0. */
json_t *airy_info_fits(double frame, double row);
/* The stack that the files make; NULL: there is none, which the thread's last error and `why` say. */
json_t *airy_info_stack(const struct info *info, char why[INFO_WHY]);
/* {file, datasets, ...} of an HDF5 file. */
airy_status airy_info_hdf5(json_t **json, const struct info *info);
/* Add {hdus, wcs, beam} of a FITS file to `json`, wcs and beam null where there are none. */
airy_status airy_info_add_fits(json_t *json, const struct info *info, const airy_image *image);

#endif
