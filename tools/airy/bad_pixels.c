#include "bad_pixels.h"

#include <math.h>

const struct opt bad_pixels_options[] = {
    {.heading = "Bad pixels"},
    BAD_PIXELS_MASK_OPTION(struct bad_pixels_head, bad,
                           "image of the same shape, or of one frame for all of a stack; pixels "
                           "where it is not 0 are left out"),
    BAD_PIXELS_DUMMY_OPTIONS(struct bad_pixels_head, bad, NULL,
                             "pixels of this value are left out, such as those in the gaps of a "
                             "detector"),
    {0},
};

int bad_pixels_check(const struct common *common, const struct bad_pixels *bad)
{
    if (bad->has_delta_dummy && !bad->has_dummy)
        return tool_usage(common, "--delta-dummy needs --dummy");
    return AIRY_EXIT_OK;
}

bool bad_pixels_have(const struct bad_pixels *bad, double value)
{
    return bad->has_dummy && (value == bad->dummy || (isnan(value) && isnan(bad->dummy)) ||
                              fabs(value - bad->dummy) <= bad->delta_dummy);
}
