#include "bad_pixels.h"

#include <math.h>

#define FIELD(member) .offset = offsetof(struct bad_pixels_head, bad.member)
#define SEEN(member)  .seen = offsetof(struct bad_pixels_head, bad.member)

const struct opt bad_pixels_options[] = {
    {.heading = "Bad pixels"},
    {.name = "mask",
     .type = OPT_STRING,
     FIELD(mask),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "image of the same shape, or of one frame for all of a stack; pixels where it is not "
             "0 are left out"},
    {.name = "dummy",
     .type = OPT_FLOAT,
     FIELD(dummy),
     SEEN(has_dummy),
     .lo = -1e300,
     .hi = 1e300,
     .argument = "V",
     .help = "pixels of this value are left out, such as those in the gaps of a detector"},
    {.name = "delta-dummy",
     .type = OPT_FLOAT,
     FIELD(delta_dummy),
     SEEN(has_delta_dummy),
     .lo = 0,
     .hi = 1e300,
     .argument = "D",
     .fallback = "0",
     .help = "and those from V - D to V + D"},
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
    return bad->has_dummy && fabs(value - bad->dummy) <= bad->delta_dummy;
}
