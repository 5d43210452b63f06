/* Plots for other commands. */
#ifndef AIRY_TOOLS_CMD_PLOT_H
#define AIRY_TOOLS_CMD_PLOT_H

#include "tool.h"

/* Draw a result as `airy plot RESULT -o OUTPUT` does. Exit code. */
int plot_result(const struct common *common, const char *result, const char *output);

#endif
