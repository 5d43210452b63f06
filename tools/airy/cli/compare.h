/* --compare A,B: a command on two devices, and how far its results lie apart. */
#ifndef AIRY_TOOLS_CLI_COMPARE_H
#define AIRY_TOOLS_CLI_COMPARE_H

#include "cli/comparison.h"

/* What --compare says by itself, before any file is looked at. Exit code. */
int compare_check(const struct common *common);
/* Runs the command on each of the two devices, in a child process, and prints. Exit code. */
int compare_devices(const struct command *command, void *params);

#endif
