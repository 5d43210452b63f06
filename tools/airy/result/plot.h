/* Plots for other commands. */
#ifndef AIRY_TOOLS_RESULT_PLOT_H
#define AIRY_TOOLS_RESULT_PLOT_H

#include "result/patterns.h"

/* Draw a result as `airy plot RESULT -o OUTPUT` does. Exit code. */
int plot_result(const struct common *common, const char *result, const char *output);
/* The last of these patterns as a line above a map of all; over what is there. Exit code. */
int plot_newest(const struct common *common, const struct patterns *patterns, bool log,
                const char *output);

#endif
