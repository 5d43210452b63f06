/* Manual pages and the completion of words in bash, from the tables that parse the options. */
#ifndef AIRY_TOOLS_CLI_MANUAL_H
#define AIRY_TOOLS_CLI_MANUAL_H

#include "cli/opt.h"

/* Write airy.1 and an airy-COMMAND.1 for each into the folder, which is made. Exit code. */
int manual_pages(const char *folder, const struct command *const *commands, size_t count);
/* Print a file for bash-completion. Exit code. */
int manual_completion(const struct command *const *commands, size_t count);

#endif
