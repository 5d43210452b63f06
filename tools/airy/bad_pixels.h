/* Pixels that are no measurements, by a mask or by value: rows that commands on images share. */
#ifndef AIRY_TOOLS_BAD_PIXELS_H
#define AIRY_TOOLS_BAD_PIXELS_H

#include "tool.h"

struct bad_pixels {
    const char *mask; /* of the image's shape or of one frame for all, not 0 = bad; NULL: none */
    double dummy, delta_dummy;
    bool has_dummy, has_delta_dummy;
};

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
/* --dummy and --delta-dummy name this value, as they do for integrate. */
bool bad_pixels_have(const struct bad_pixels *bad, double value);

#endif
