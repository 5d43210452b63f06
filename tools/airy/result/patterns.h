/* Radial patterns read back from files, for plots and comparisons. */
#ifndef AIRY_TOOLS_RESULT_PATTERNS_H
#define AIRY_TOOLS_RESULT_PATTERNS_H

#include "airy/result.h"
#include "cli/tool.h"

/* The axis of a .chi file in degrees of 2 theta, as Fit2D names it. */
#define CHI_TWO_THETA "2-Theta Angle (Degrees)"

struct patterns {
    size_t frames, bins; /* in two dimensions bins of the radius */
    size_t azimuth_bins; /* 1 in one dimension */
    size_t pending;      /* frames that are not done yet */
    bool unfinished;     /* its run has not ended: more rows may come */
    double *radial;      /* [bins] */
    double *azimuth;     /* [azimuth_bins], or NULL: one dimension */
    float *values;       /* [frames][azimuth_bins][bins] */
    float *errors;       /* the same: standard error of the mean, or NULL */
    double *along;       /* [frames] ascending, or NULL: of --axis, see patterns_sort */
    char along_label[160];
    char label[128]; /* of the radial axis, such as "q (1/nm)" */
    char azimuth_label[128];
};

/*
 * A result of 'airy integrate' (.h5) or columns of text. Exit code; free with patterns_free in any
 * case.
 */
int patterns_load(struct patterns *patterns, const struct common *common, const char *path);
/* Open a result, finished or not, that has patterns. */
airy_status patterns_open(airy_result **result, const char *path);
/* A text of a result: "configuration", "files" ...; released with free(). */
airy_status patterns_read_text(char **text, const char *path, const char *name);
/* Read all rows of a plane as doubles into an image whose shape and type are set. */
airy_status patterns_read_plane(airy_image *image, airy_result *result,
                                const airy_result_plane *plane);
/* Copy an axis, and its label where it has one; memory is short where *values stays NULL. */
void patterns_copy_axis(double **values, size_t *count, char label[128],
                        const airy_result_axis *axis);
/* Read what a result, or an unfinished one, has of each row: "status", "index", "max" ... */
airy_status patterns_read_column(airy_image *column, const char *path, const char *name);
/*
 * Frames in the order of frame/NAME of the result, which becomes `along`. One dimension, at least
 * two frames, whose values differ. Exit code.
 */
int patterns_sort(struct patterns *patterns, const struct common *common, const char *path,
                  const char *name);
/*
 * The message of --axis or --map NAME that a result lacks or that cannot be read, right after the failure:
 * which there are. Exit code.
 */
int patterns_lacks(const struct common *common, const char *path, const char *option,
                   const char *name);
void patterns_free(struct patterns *patterns);

#endif
