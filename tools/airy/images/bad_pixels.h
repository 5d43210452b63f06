/* Pixels that are no measurements, by a mask or by value: rows that commands on images share. */
#ifndef AIRY_TOOLS_IMAGES_BAD_PIXELS_H
#define AIRY_TOOLS_IMAGES_BAD_PIXELS_H

#include <math.h>

#include "cli/tool.h"

struct bad_pixels {
    const char *mask; /* of the image's shape or of one frame for all, not 0 = bad; NULL: none */
    double dummy, delta_dummy;
    bool has_dummy, has_delta_dummy;
};

/*
 * Rows of an option table about `at`, a struct bad_pixels in the params struct. mask_help: what
 * --mask names there; default_dummy: what holds without --dummy, or NULL; dummy_help: what happens
 * to pixels of that value, or to none where it is nan.
 */
#define BAD_PIXELS_MASK_OPTION(params, at, mask_help)                                              \
    {                                                                                              \
        .name = "mask", .type = OPT_STRING, .offset = offsetof(params, at.mask), .use = OPT_READ,  \
        .argument = "FILE", .help = mask_help                                                      \
    }
#define BAD_PIXELS_DUMMY_OPTIONS(params, at, default_dummy, dummy_help)                            \
    {.name = "dummy",                                                                              \
     .type = OPT_PARSED,                                                                           \
     .offset = offsetof(params, at.dummy),                                                         \
     .seen = offsetof(params, at.has_dummy),                                                       \
     .parse = opt_any_number,                                                                      \
     .argument = "V",                                                                              \
     .fallback = default_dummy,                                                                    \
     .help = dummy_help},                                                                          \
    {                                                                                              \
        .name = "delta-dummy", .type = OPT_FLOAT, .offset = offsetof(params, at.delta_dummy),      \
        .seen = offsetof(params, at.has_delta_dummy), .lo = 0, .hi = 1e300, .argument = "D",       \
        .fallback = "0", .help = "also leaves out values from V - D to V + D"                      \
    }

/* How the params struct of a command begins that takes bad_pixels_options. */
struct bad_pixels_head {
    struct common common;
    struct bad_pixels bad;
};
#define BAD_PIXELS_FIT(type)                                                                       \
    _Static_assert(offsetof(type, common) == offsetof(struct bad_pixels_head, common) &&           \
                       offsetof(type, bad) == offsetof(struct bad_pixels_head, bad),               \
                   #type " does not begin as bad_pixels_options expects")

extern const struct opt bad_pixels_options[];

/* AIRY_EXIT_USAGE after a line on stderr where the options make no sense together. */
int bad_pixels_check(const struct common *common, const struct bad_pixels *bad);
/*
 * --dummy and --delta-dummy name this value of an image of dtype, as they do for integrate: --dummy
 * -999.9 is the float32 nearest to it where pixels are of that.
 */
static inline bool bad_pixels_have(const struct bad_pixels *bad, airy_dtype dtype, double value)
{
    const double dummy = airy_dtype_nearest(dtype, bad->dummy);
    return bad->has_dummy && (value == dummy || (isnan(value) && isnan(dummy)) ||
                              fabs(value - dummy) <= bad->delta_dummy);
}
/* False: dtype is a type of integers that has no such value. */
bool bad_pixels_can_be(const struct bad_pixels *bad, airy_dtype dtype);
/* Where --dummy is given and left out `count` pixels of an image of dtype, and these are none. */
void bad_pixels_say_none(const struct common *common, const struct bad_pixels *bad,
                         airy_dtype dtype, size_t count);
#endif
