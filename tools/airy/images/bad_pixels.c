#include "airy/gaps.h"
#include "images/bad_pixels.h"

#include <math.h>

#include "images/image_util.h"
#include "cli/stack_opt.h"

const struct opt bad_pixels_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct bad_pixels_head, common),
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

bool bad_pixels_can_be(const struct bad_pixels *bad, airy_dtype dtype)
{
    if (airy_dtype_is_float(dtype))
        return true;
    const double limit = airy_dtype_largest(dtype),
                 least = airy_dtype_is_signed(dtype) ? -limit - 1 : 0,
                 from = fmax(ceil(bad->dummy - bad->delta_dummy), least),
                 to = fmin(floor(bad->dummy + bad->delta_dummy), limit);
    return isfinite(bad->dummy) && from <= to;
}

void bad_pixels_say_none(const struct common *common, const struct bad_pixels *bad,
                         airy_dtype dtype, size_t count)
{
    if (!bad->has_dummy || count)
        return;
    char within[48] = "", why[48] = "none has such a value";
    if (bad->delta_dummy > 0)
        snprintf(within, sizeof(within), " --delta-dummy %.15g", bad->delta_dummy);
    if (!bad_pixels_can_be(bad, dtype))
        snprintf(why, sizeof(why), "%s has no such value", airy_dtype_name(dtype));
    tool_say(common, "--dummy=%.15g%s leaves out no pixel: %s", bad->dummy, within, why);
}
