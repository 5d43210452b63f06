/* Frames that several results have rows of. */
#ifndef AIRY_TOOLS_INTEGRATE_OVERLAP_H
#define AIRY_TOOLS_INTEGRATE_OVERLAP_H

#include "cli/tool.h"

/*
 * Warn where two inputs of the command have good rows of the same frame of the same input file, by what
 * their configurations say of files that were hashed, or are the same file. Where memory is
 * too short to tell, that is printed: the result of the command is complete.
 */
void overlap_say(const struct common *common);

#endif
