/* Results and times that a run of a command keeps for a comparison of two devices (compare.h). */
#ifndef AIRY_TOOLS_CLI_COMPARISON_H
#define AIRY_TOOLS_CLI_COMPARISON_H

#include "cli/tool.h"

/* What a run of a command leaves behind for a comparison; common->comparison while one is made. */
struct comparison {
    json_t *answer;         /* what would have been printed */
    double begun, ended;    /* s: the image is there, and the result on the host; 0: not yet */
    double kernels, copies; /* s, of the device's profile */
};

/* Called where a command has its image, and its result. Without a comparison nothing happens. */
void compare_begin(const struct common *common, airy_queue *queue);
void compare_end(const struct common *common);
/* Keeps an answer (not released) or a profile. */
void compare_answer(const struct common *common, json_t *json);
airy_status compare_profile(const struct common *common, const airy_device *device);

#endif
