/* An image as a picture needs it: one frame of numbers. */
#ifndef AIRY_TOOLS_CMD_VIEW_IMAGE_H
#define AIRY_TOOLS_CMD_VIEW_IMAGE_H

#include "cli/tool.h"

/* What the options of `stats` say that view takes. */
struct view_input {
    const char *channel, *mask; /* NULL: not given */
    double dummy, delta_dummy;
    bool has_dummy;
};
bool view_borrows(const char *section, const char *name);
/* Exit code. */
int view_take_input(struct view_input *input, const struct common *common);

/* One frame of whatever a file is: what the file marks as bad, dummies and gaps are NaN. */
struct image_frame {
    size_t height, width, frames; /* of these it is one */
    double *values;               /* malloc'ed; NULL after a failure */
    char unit[AIRY_CARD_VALUE];   /* of them: BUNIT, or the dataset's attribute; "": not known */
    airy_dtype dtype;             /* as they are in the file */
    size_t dummies;               /* those that --dummy left out */
};
/*
 * Frame `number` of a stack, or plane of an image; --mask does not count here. output: must be none of
 * the stack's files. Exit code.
 */
int view_load(const struct common *common, const struct view_input *input, size_t number,
              const char *output, struct image_frame *frame);
/* Where --dummy is given, and has left out none of the frame's pixels. */
void view_say_no_dummy(const struct common *common, const struct view_input *input,
                       const struct image_frame *frame);
/*
 * Percentiles 1 and 99.5 of at most a million evenly spread finite values, of positive ones only; *good of
 * them, where there is none 0 and 1. Exit code.
 */
int image_percentiles(const struct common *common, const double *values, size_t count,
                      bool positive, double limits[2], size_t *good);

/* --mask FILE, of all planes or of one for all, of this plane: 1 = bad (not 0). Exit code. */
int view_mask(const struct common *common, const char *path, const airy_image_plane *plane,
              uint8_t *bad);

#endif
