/* Parts of `airy oct` that have files of their own. */
#ifndef AIRY_TOOLS_OCT_OCT_H
#define AIRY_TOOLS_OCT_OCT_H

#include "cli/job_command.h"

struct oct_params {
    struct job_params job;
    const char *plot;
};

/* --plot: the picture among the results, with its axes. Exit code. */
int oct_plot(const struct oct_params *params, const json_t *results);

#endif
