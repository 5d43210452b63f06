/* Manual pages and the completion of words in bash, from the tables that parse the options. */
#ifndef AIRY_TOOLS_CLI_MANUAL_H
#define AIRY_TOOLS_CLI_MANUAL_H

#include "cli/program.h"

/*
 * Write airy.1 and an airy-COMMAND.1 for each into the folder, which is made; of a part the latter
 * alone. Other programs write the pages of their commands. Exit code.
 */
int manual_pages(const char *folder, const struct program *program);
/* Print a file for bash-completion; of a part what belongs into it. Exit code. */
int manual_completion(const struct program *program);

#endif
