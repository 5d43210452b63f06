/*
 * NXazint1d and NXazint2d beside the usual groups of an integrated file: the same datasets under
 * the names of these application definitions, so that rows are written once and every program of
 * either kind reads them.
 * Source: NeXus application definitions NXazint1d and NXazint2d (manual.nexusformat.org).
 */
#ifndef AIRY_IO_RESULT_NXAZINT_H
#define AIRY_IO_RESULT_NXAZINT_H

#include "io/hdf5/util.h"
#include "io/result/file.h"

/* AIRY_ERR_UNSUPPORTED: the unit is neither q nor 2 theta, or that of the second axis not chi. */
airy_status airy_nxazint_check(airy_unit unit, airy_unit azimuth_unit);
/*
 * Into both trees of the file (io/pattern_layout.h), when all shared datasets are there. Lock
 * held; negative on failure.
 */
herr_t airy_put_nxazint(const hid_t roots[2], const struct airy_pattern_spec *spec);
/* The class of groups that viewers plot beside the default one. */
const char *airy_pattern_data_class(const struct airy_pattern_spec *spec);

#endif
