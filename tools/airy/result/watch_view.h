/* What `airy watch` shows of a result, and its picture. */
#ifndef AIRY_TOOLS_RESULT_WATCH_VIEW_H
#define AIRY_TOOLS_RESULT_WATCH_VIEW_H

#include <sys/types.h>

#include "airy/result.h"
#include "result/patterns.h"

enum watch_state {
    WATCH_WAITING,
    WATCH_RUNNING,
    WATCH_STOPPED, /* not finished, and no process writes it */
    WATCH_FINISHED,
    WATCH_GONE,
    WATCH_UNREADABLE
};

/* One moment of a result. */
struct watch_look {
    enum watch_state state;
    const char *path;         /* that was looked at */
    char why[512];            /* of UNREADABLE */
    bool never;               /* unreadable, and no result that is still to come */
    airy_result_info info;    /* its texts are gone */
    size_t bins;              /* of the radius */
    size_t azimuth_bins;      /* 0: one dimension */
    double *radial, *azimuth; /* [bins]; [azimuth_bins] or NULL */
    char label[128], azimuth_label[128];
    float *newest; /* [azimuth_bins or 1][bins], or NULL: no row is good yet */
    double index, total, max, saturated; /* of it; NaN: not known */
    double rate, mean, left; /* rows/s now and since the first look; s left, NaN: not known */
    double seconds;          /* since the first look */
};

/* Numbers of a pattern. */
size_t watch_cells(const struct watch_look *look);
/* Whether it has what a look at rows tells. */
bool watch_has_rows(const struct watch_look *look);
/* At most `height` lines of text on stdout; *lines: how many. Exit code. */
int watch_print(size_t *lines, const struct common *common, const struct watch_look *look,
                size_t width, size_t height, bool log);
/* One line of JSON. Exit code. */
int watch_print_json(const struct common *common, const struct watch_look *look);

/*
 * The picture of the newest pattern and the waterfall, drawn by a process of its own: one at a time,
 * killed when it takes too long.
 */
struct watch_picture {
    const struct common *common;
    const char *output;
    bool log;
    pid_t process; /* 0: none is being drawn */
    double since;
    bool failed; /* said so */
};
/* Is it time for another one? Collects one that is done. */
bool watch_picture_idle(struct watch_picture *picture);
/* Start to draw. */
void watch_picture_draw(struct watch_picture *picture, const struct patterns *patterns);
/* Wait for the last one, but not for ever. Exit code: of it. */
int watch_picture_end(struct watch_picture *picture);

#endif
