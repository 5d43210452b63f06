#include "integrate/positions.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

static int fold_or_one(int binning)
{
    return binning > 1 ? binning : 1;
}

/* Where pixel `index` of `length` along an axis begins, or ends, in m. */
static double edge_of(size_t index, bool end, size_t length, const struct airy_chip_axis *chips,
                      double pixel)
{
    const size_t edge = index + end;
    double at = (double)edge;
    for (size_t seam = chips->length; seam < length; seam += chips->length)
        at += (chips->border - 1) * ((edge >= seam) + (edge > seam));
    return pixel * at + chips->gap * (double)(index / chips->length);
}

airy_status airy_positions_of_chips(struct airy_detector_arrays *arrays, const airy_detector *d,
                                    const struct airy_detector_entry *entry)
{
    const struct airy_chips *chips = airy_detector_chips(entry);
    const size_t fold[2] = {(size_t)fold_or_one(d->binning1), (size_t)fold_or_one(d->binning2)};
    AIRY_FAIL_ON_IF(d->height != entry->height / fold[0] || d->width != entry->width / fold[1],
                    AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has %u x %u pixels of several sizes, which make no image of %zu x "
                    "%zu",
                    "detector", d->name, (unsigned)entry->height, (unsigned)entry->width, d->height,
                    d->width);
    AIRY_TRY(airy_memory_calloc((void **)&arrays->corners, d->height * d->width,
                                AIRY_CORNER_VALUES * sizeof(float), "the corners of pixels"));
    float *out = arrays->corners;
    for (size_t i = 0; i < d->height; i++)
        for (size_t j = 0; j < d->width; j++)
            for (size_t k = 0; k < 4; k++, out += 3) {
                const bool end1 = k == 1 || k == 2, end2 = k >= 2;
                out[1] = (float)edge_of(fold[0] * (i + end1) - end1, end1, entry->height,
                                        &chips->rows, entry->pixel1);
                out[2] = (float)edge_of(fold[1] * (j + end2) - end2, end2, entry->width,
                                        &chips->columns, entry->pixel2);
            }
    return AIRY_OK;
}

bool airy_detector_needs_arrays(const airy_detector *detector)
{
    if (!detector || detector->corners)
        return false;
    if (detector->file[0] != '\0')
        return !detector->bad;
    const struct airy_detector_entry *entry = airy_detector_entry_find(detector->name);
    return entry && airy_detector_chips(entry);
}

void airy_detector_arrays_destroy(airy_detector_arrays **arrays)
{
    if (!arrays || !*arrays)
        return;
    free((*arrays)->corners);
    free((*arrays)->bad);
    free(*arrays);
    *arrays = NULL;
}

airy_status airy_detector_bin(airy_detector *detector, int binning1, int binning2)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_bin: detector is NULL");
    const int was1 = fold_or_one(detector->binning1), was2 = fold_or_one(detector->binning2);
    AIRY_FAIL_ON_IF(binning1 < 1 || binning2 < 1 || binning1 > 64 / was1 || binning2 > 64 / was2,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d x %d, expected 1 to 64 along each axis", "binning", binning1,
                    binning2);
    AIRY_FAIL_ON_IF(detector->corners || detector->bad, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has its arrays already: bin it before airy_detector_open", "detector",
                    detector->name);
    const size_t h = detector->height / (size_t)binning1, w = detector->width / (size_t)binning2;
    AIRY_FAIL_ON_IF(detector->height && (h == 0 || w == 0), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d x %d leaves no pixel of %zu x %zu", "binning", binning1, binning2,
                    detector->height, detector->width);
    detector->binning1 = was1 * binning1;
    detector->binning2 = was2 * binning2;
    detector->height = h;
    detector->width = w;
    detector->pixel1 *= binning1;
    detector->pixel2 *= binning2;
    return AIRY_OK;
}
