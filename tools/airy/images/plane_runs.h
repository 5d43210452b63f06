/*
 * The planes of a cube or stack for statistics, some at a time: of a stack no more are in memory. Or
 * an image as a whole.
 */
#ifndef AIRY_TOOLS_IMAGES_PLANE_RUNS_H
#define AIRY_TOOLS_IMAGES_PLANE_RUNS_H

#include "images/device_image.h"

struct plane_runs {
    const struct common *common;
    const struct bad_pixels *bad;
    bool each, whole;            /* whole: all of an image of any shape, in one run */
    struct device_image d;       /* of a run */
    struct device_planes planes; /* of a run; none behind the last one */
    size_t total, at;            /* images in all: planes, or one; those of the runs before */

    airy_stack *stack;          /* where planes come from; NULL: all of them are in `all` */
    airy_image all;             /* its shape is planes, height, width */
    size_t there;               /* planes of the source */
    size_t first, step, chosen; /* those that are taken */
    size_t run, next;           /* planes of a run; the first of the next one, of the chosen */
    uint8_t *mask, *is_bad;     /* of mask_planes planes, the same ones again and again; of a run */
    size_t mask_planes, dummies; /* pixels that --dummy left out so far */
};

/* A row of an option table, about a size_t[3] and whether it was given. */
#define PLANE_FRAMES_OPTION(params, member, seen_member)                                           \
    {                                                                                              \
        .name = "frames", .type = OPT_PARSED, .offset = offsetof(params, member),                  \
        .seen = offsetof(params, seen_member), .parse = opt_frames, .argument = "N|A:B[:S]",       \
        .fallback = "all", .help = "these frames of a stack, or planes of an image"                \
    }

/*
 * Open what the command names, with the device of --device. frames: NULL: all; each: planes are
 * images by themselves; keep: the shape and the header of all planes are wanted, for which they are
 * read as a whole. Exit code; close it in any case.
 */
int plane_runs_open(struct plane_runs *r, const struct common *common, const struct bad_pixels *bad,
                    const size_t *frames, bool each, bool keep);
/* The next run, from plane `at` on, to the device. Exit code. */
int plane_runs_next(struct plane_runs *r);
void plane_runs_close(struct plane_runs *r);

#endif
