/* Lines of text files, one after another; what is no text, or too long, ends the reading. */
#ifndef AIRY_TOOLS_CLI_TEXT_LINES_H
#define AIRY_TOOLS_CLI_TEXT_LINES_H

#include "cli/tool.h"

struct text_lines {
    const struct common *common;
    const char *option; /* "--curve ", or "" */
    const char *path;
    FILE *file;
    size_t number; /* of the line that was read last, from 1 */
    char line[4096];
};

/*
 * The next line without its end, or NULL at the end, where *code stays, or after a failure, which is
 * printed and becomes *code: a byte 0, a carriage return without a line feed, a line that does not
 * fit, a read that fails. A comment, whose first mark is '#', may be longer; it is cut.
 */
char *text_next(struct text_lines *lines, int *code);

#endif
