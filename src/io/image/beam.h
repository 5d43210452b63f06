/* The restoring beam that a FITS header tells of. */
#ifndef AIRY_IO_IMAGE_BEAM_H
#define AIRY_IO_IMAGE_BEAM_H

#include "airy/sky.h"

/* Fills the beam of info where there is one, beam_px from its pixel_deg2. */
void airy_header_beam(airy_sky_info *info, const airy_header *header);

#endif
